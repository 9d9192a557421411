//! A small kernel whose compilation makes LLVM create its static tables.
//!
//! LLVM creates many tables on first use and registers their destructors then. Exit handlers that are registered
//! afterwards run before these destructors ([`super::jit`]).

use super::object::{Mode, object};
use super::{Effort, Flavour, emit};
use crate::ir::lower::lower;
use crate::ptx;

/// A loop over vectors, checked accesses, products, a division, a root, conversions and a variable in memory, in one
/// part that takes about as long as a part of a large kernel.
const KERNEL: &str = ".version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n) {
  .local .align 8 .b8 kept[32];
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .f64 %d<2>; .reg .b64 %rd<10>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1;
  ld.param.u32 %r5, [n]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  setp.ge.u32 %p1, %r4, %r5; @%p1 bra END;
  mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3; mov.u64 %rd6, kept;
  mov.u32 %r6, 0; mov.f32 %f1, 0f00000000;
LOOP:
  ld.global.f32 %f2, [%rd4]; fma.rn.f32 %f1, %f2, %f2, %f1; and.b32 %r7, %r6, 7; mul.wide.u32 %rd7, %r7, 4;
  add.u64 %rd8, %rd6, %rd7; st.local.f32 [%rd8], %f1; add.s64 %rd4, %rd4, 4; add.u32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, %r5; @%p2 bra LOOP;
  ld.local.f32 %f3, [%rd6]; cvt.rn.f32.u32 %f4, %r6; div.rn.f32 %f5, %f3, %f4; sqrt.rn.f32 %f5, %f5;
  cvt.f64.f32 %d1, %f5; mul.rn.f64 %d1, %d1, %d1; cvt.rn.f32.f64 %f6, %d1; add.f32 %f6, %f6, %f1;
  st.global.f32 [%rd5], %f6;
END:
  ret;
}
";

/// Compiles the kernel and drops its code. An error is ignored: nothing depends on the tables.
pub(super) fn run() {
    if let Err(why) = compiled() {
        tracing::debug!("the kernel that warms up LLVM was not compiled: {why}");
    }
}

fn compiled() -> Result<Vec<u8>, String> {
    let program = ptx::parse(KERNEL).and_then(|module| lower(&module)).map_err(|error| error.to_string())?;
    let kernel = emit(&program, 0, Flavour::default()).map_err(|error| error.to_string())?;
    object(kernel.texts.get(0)?, Mode { effort: Effort::Full, registered: false, repeats: true, whole: false })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_compiles() {
        assert!(compiled().unwrap().starts_with(b"\x7fELF"));
    }
}
