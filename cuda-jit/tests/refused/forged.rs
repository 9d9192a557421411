//! Traits that unsafe code trusts cannot be implemented in a crate without unsafe code: they are `unsafe` or sealed.
#![forbid(unsafe_code)]

use cuda_driver::Context;
use cuda_jit::typeinfo::{CastType, ConstItem, ConstValue, DeviceFn, DeviceOperator};
use cuda_jit::typeinfo::{ElementType, Instance, Key, KernelParam, ScalarType, Ty};
use cuda_jit::kir::Scalar;
use cuda_jit::launch::{ArgType, CaptureDim, Captures, Capturable, ClosureArg, Captured, KernelArg, KernelArgs, KernelClosure, KernelParams, Launch, Site, Sizes};
use cuda_jit::syntax::Definition;
use cuda_jit::{DeviceType, Kernel, KernelSite, Result, ValueType, kernel};
use cuda_mem::{DeviceArray, Element};

#[kernel]
fn fill(out: &mut [u32], value: u32) {
    out[0] = value;
}

/// An invalid address.
#[derive(Clone, Copy)]
struct Mine(u64, u64);

impl<P> KernelArgs<P> for Mine {
    type Bound = ();
    fn context(&self) -> Option<&Context> {
        None
    }
    fn measure(&self, _: &mut Sizes) {}
    fn bind(self, launch: &mut Launch<'_>) -> Result<()> {
        launch.push(self.0);
        launch.push(self.1);
        Ok(())
    }
    fn finish(_: ()) -> Result<()> {
        Ok(())
    }
}

impl KernelArg<&'static mut [u32]> for Mine {
    type Bound = ();
    fn bind(self, launch: &mut Launch<'_>) -> Result<()> {
        launch.push(self.0);
        launch.push(self.1);
        Ok(())
    }
    fn finish(_: ()) -> Result<()> {
        Ok(())
    }
}

impl KernelParams for Mine {}

/// A kernel with other parameters.
struct Other;

impl Kernel for Other {
    type Params = (u64, u64, u32);
    fn site() -> &'static KernelSite {
        fill::site()
    }
    fn instance() -> Instance {
        fill::instance()
    }
}

impl Key for Mine {
    fn ty() -> Ty {
        <&mut [u32] as DeviceType>::K::ty()
    }
}

impl DeviceType for Mine {
    type K = Mine;
}

impl ValueType for Mine {
    const CELLS: usize = 2;
    fn cells(&self, push: &mut dyn FnMut(u128)) {
        push(self.0.into());
        push(self.1.into());
    }
}

impl KernelParam for Mine {}
impl ArgType for Mine {}
impl ElementType for Mine {}
impl Element for Mine {}

impl CastType for Mine {
    const TARGET: Scalar = Scalar::U64;
}

impl ScalarType for Mine {
    const SCALAR: Scalar = Scalar::U64;
    fn bits(self) -> u128 {
        0
    }
}

impl DeviceFn for Mine {
    type Args = ();
    type Output = ();
    fn instance() -> Instance {
        fill::instance()
    }
}

impl DeviceOperator<cuda_jit::typeinfo::operators::AddOperator, Mine> for Mine {
    fn definition() -> &'static Definition {
        fill::definition()
    }
    fn probe() -> cuda_jit::typeinfo::ProbeResult {
        loop {}
    }
}

impl Site for Mine {
    fn definition() -> &'static Definition {
        fill::definition()
    }
}

struct NotAValue;

impl<'a> ConstItem<'a> for NotAValue {
    fn value(_: &'a Self) -> ConstValue {
        cuda_jit::typeinfo::const_of(&8_u64)
    }
}

impl Capturable<'_, ()> for NotAValue {
    type Key = Mine;
    type Captured = u64;
    type InBody = &'static [u32];
    fn capture(&self) -> (u64, &'static [u32]) {
        (8, &[])
    }
}

impl CaptureDim<Mine> for ndarray::IxDyn {
    type InBody = &'static [u32];
    fn nothing() -> &'static [u32] {
        &[]
    }
    fn bind(_: &DeviceArray<Mine, Self>, launch: &mut Launch<'_>) -> Result<()> {
        launch.push(8_u64);
        Ok(())
    }
}

impl Captured for NotAValue {}
impl Captures for NotAValue {}

#[derive(Clone, Copy, DeviceType)]
struct Passed(u64);

impl ClosureArg for Passed {
    type Closure = Passed;
}

impl KernelClosure for Passed {
    type Host = ();
    fn ty() -> Ty {
        <&mut [u32] as DeviceType>::K::ty()
    }
    fn name() -> &'static str {
        "passed"
    }
}

fn main() {
    let _ = cuda_jit::launch::launch::<fill, _>(|| unreachable!(), &(1, 1).into(), Mine(8, 8));
}
