//! `cuda-prelude` and `cuda-jit` under other names, given by `crate = path` or by a glob import.

use cp::*;

mod of_prelude {
    use cp::*;

    #[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
    #[device_type(crate = cp)]
    #[repr(C)]
    pub(crate) struct Pair {
        pub(crate) a: f32,
        pub(crate) b: f32,
    }

    #[device(crate = cp)]
    impl Pair {
        fn sum(&self) -> f32 {
            self.a + self.b
        }
    }

    #[device(crate = cp)]
    pub(crate) trait Scale {
        fn scaled(&self, by: f32) -> Self;
    }

    #[device(crate = cp)]
    impl Scale for Pair {
        fn scaled(&self, by: f32) -> Pair {
            Pair { a: self.a * by, b: self.b * by }
        }
    }

    #[device(crate = cp, checked)]
    pub(crate) fn twice(x: f32) -> f32 {
        x * 2.0
    }

    #[kernel(crate = cp, fma = false)]
    pub(crate) fn apply<F: Fn(f32) -> f32>(f: F, x: &[Pair], out: &mut [f32]) {
        let i = grid::<1>();
        let tile = shared!([f32; 32]);
        tile[i] = twice(x[i].scaled(3.0).sum());
        #[cfg(any())]
        return;
        out[i] = f(tile[i]);
        printf!(crate = cp, "{i}\n");
    }
}

mod of_jit {
    use cj::{DeviceType, device::grid};

    #[derive(Clone, Copy, DeviceType)]
    #[device_type(crate = cj)]
    #[repr(transparent)]
    pub(crate) struct One(pub(crate) u32);

    #[cj::kernel(crate = ::cj)]
    pub(crate) fn copy(x: &[One], out: &mut [u32]) {
        let i = grid::<1>();
        out[i] = x[i].0;
    }
}

/// Another crate's macro refers to it by a path.
macro_rules! made {
    ($name:ident) => {
        #[cj::kernel(crate = $crate::reexported::jit)]
        fn $name(out: &mut [u32]) {
            out[0] = 5;
        }
    };
}

mod reexported {
    pub(crate) use cj as jit;
}

made!(by_macro);

/// A user of the facade, which does not name the stack.
mod of_facade {
    use cuda_tests_renamed::prelude::*;

    #[derive(Clone, Copy, DeviceType)]
    #[repr(transparent)]
    pub(crate) struct Meter(pub(crate) f32);

    #[device]
    pub(crate) trait Scale {
        fn scaled(&self, by: f32) -> f32;
    }

    #[device]
    impl Scale for Pair {
        fn scaled(&self, by: f32) -> f32 {
            self.sum() * by
        }
    }

    #[device]
    pub(crate) fn twice(x: f32) -> f32 {
        x * 2.0
    }

    #[kernel(fma = false)]
    pub(crate) fn apply<F: Fn(f32) -> f32>(f: F, x: &[Pair], by: &[Meter], out: &mut [f32]) {
        let i = grid::<1>();
        let tile = shared!([f32; 32]);
        #[cfg(any())]
        return;
        tile[i] = twice(x[i].scaled(by[i].0));
        out[i] = f(tile[i]);
        printf!("{i}\n");
    }

    pub(crate) fn launch(x: &[Pair], by: &[Meter], out: &mut [f32]) -> Result<()> {
        let k = 100.0;
        apply::launch((1, 2), device_fn!(|v: f32| v + k), In(x), In(by), out)
    }
}

/// A user of the facade, through its name for the prelude.
mod of_gpu {
    use cuda_tests_renamed::gpu::*;

    pub(crate) fn launch(out: &mut [u32]) -> Result<()> {
        #[kernel]
        fn count(out: &mut [u32]) {
            let i = grid::<1>();
            out[i] = i as u32;
        }
        count::launch((1, 2), out)
    }
}

#[test]
fn users_of_a_facade_need_not_name_the_stack() -> Result<()> {
    use cuda_tests_renamed::{Pair, double};
    let pairs = [Pair { a: 1.0, b: 2.0 }, Pair { a: 0.5, b: 0.25 }];
    let mut out = vec![0.0; 2];
    of_facade::launch(&pairs, &[of_facade::Meter(3.0), of_facade::Meter(4.0)], &mut out)?;
    assert_eq!(out, [118.0, 106.0]);
    double::launch((1, 2), &mut out)?;
    assert_eq!(out, [236.0, 212.0]);
    let mut out = vec![7; 2];
    of_gpu::launch(&mut out)?;
    assert_eq!(out, [0, 1]);
    Ok(())
}

#[test]
fn kernels_run_under_other_names() -> Result<()> {
    let pairs = [of_prelude::Pair { a: 1.0, b: 2.0 }, of_prelude::Pair { a: 0.5, b: 0.25 }];
    let (k, mut out) = (100.0, vec![0.0; 2]);
    of_prelude::apply::launch((1, 2), device_fn!(crate = cp, |v: f32| v + k), In(&pairs[..]), &mut out)?;
    assert_eq!(out, [118.0, 104.5]);
    of_prelude::apply::launch((1, 2), device_fn!(crate = cp, of_prelude::twice), In(&pairs[..]), &mut out)?;
    assert_eq!(out, [36.0, 9.0]);
    let mut out = vec![0; 2];
    of_jit::copy::launch((1, 2), In(&[of_jit::One(3), of_jit::One(4)][..]), &mut out)?;
    assert_eq!(out, [3, 4]);
    by_macro::launch((1, 1), &mut out)?;
    assert_eq!(out, [5, 4]);
    Ok(())
}
