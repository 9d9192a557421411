//! AArch64, AAPCS64.
//!
//! # Safety
//!
//! Stack pointers are saved and restored by the pairs of functions that say so, each of which keeps the callee-saved
//! registers. The rounding mode is changed inside single blocks of assembly that restore it before they end, so
//! compiled Rust code never runs under another one.

use std::arch::{asm, naked_asm};

use super::{EntryRecord, Fiber};
use crate::codegen::abi::{self, Context};

/// Saves the callee-saved registers below the stack pointer: the frame pointer and the link register first, then those
/// from `x19` on. [`begin`] writes the same layout.
macro_rules! save {
    () => {
        "sub sp, sp, #160
         stp x29, x30, [sp]
         stp x19, x20, [sp, #16]
         stp x21, x22, [sp, #32]
         stp x23, x24, [sp, #48]
         stp x25, x26, [sp, #64]
         stp x27, x28, [sp, #80]
         stp d8, d9, [sp, #96]
         stp d10, d11, [sp, #112]
         stp d12, d13, [sp, #128]
         stp d14, d15, [sp, #144]"
    };
}

/// Undoes `save!`.
macro_rules! restore {
    () => {
        "ldp x29, x30, [sp]
         ldp x19, x20, [sp, #16]
         ldp x21, x22, [sp, #32]
         ldp x23, x24, [sp, #48]
         ldp x25, x26, [sp, #64]
         ldp x27, x28, [sp, #80]
         ldp d8, d9, [sp, #96]
         ldp d10, d11, [sp, #112]
         ldp d12, d13, [sp, #128]
         ldp d14, d15, [sp, #144]
         add sp, sp, #160"
    };
}

/// `enter(function, a, b, c, record, result)`: returns 0 after a return, 1 after a fault.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn enter(_: usize, _: usize, _: u64, _: u64, _: *mut EntryRecord, _: *mut u64) -> u32 {
    naked_asm!(
        save!(),
        "mov x19, x4",
        "mov x20, x5",
        "mov x9, sp",
        "str x9, [x4]",
        "mov x9, x0",
        "mov x0, x1",
        "mov x1, x2",
        "mov x2, x3",
        "blr x9",
        "str xzr, [x19]",
        "str x0, [x20]",
        "mov w0, #0",
        restore!(),
        "ret",
    )
}

/// The address to which the signal handler redirects a thread that faulted, with the stack pointer of [`enter`].
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn exit_sequence() {
    naked_asm!("mov w0, #1", restore!(), "ret")
}

/// Reads the byte at an address.
///
/// # Safety
///
/// If the address is not accessible, the signal handler leaves compiled code, so the caller may have nothing to drop.
pub(crate) unsafe fn read_byte(address: u64) {
    // SAFETY: if the address is not accessible the handler leaves compiled code, which the caller allows; the byte is
    // ignored.
    unsafe { asm!("ldrb {value:w}, [{at}]", at = in(reg) address, value = out(reg) _, options(nostack)) };
}

/// The registers of a thread that a signal interrupted.
pub(crate) struct Registers<'a>(&'a mut libc::mcontext_t);

impl<'a> Registers<'a> {
    pub(crate) fn of(context: &'a mut libc::ucontext_t) -> Registers<'a> {
        Registers(&mut context.uc_mcontext)
    }

    /// Returns the address of the next instruction.
    pub(crate) fn instruction(&self) -> u64 {
        self.0.pc
    }

    /// Makes the thread continue at an instruction, with this stack pointer.
    pub(crate) fn redirect_to(&mut self, instruction: usize, stack: u64) {
        self.0.sp = stack;
        self.0.pc = instruction as u64;
    }
}

// The switches end in a jump rather than a return: the processor predicts that a return goes to the last call, which is
// never the case here, whereas fibers that wait at one place continue there again and again.

/// Enters a fiber: returns 0 when it switches back, 1 when it has finished.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn resume(_: *mut Fiber) -> u64 {
    naked_asm!(save!(), "mov x9, sp", "str x9, [x0, #8]", "ldr x9, [x0]", "mov sp, x9", restore!(), "br x30",)
}

/// Called by compiled code to switch to the scheduler.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn switch(_: *mut Context) {
    naked_asm!(
        "ldr x0, [x0, #{fiber}]",
        save!(),
        "mov x9, sp",
        "str x9, [x0]",
        "ldr x9, [x0, #8]",
        "mov sp, x9",
        "mov x0, #0",
        restore!(),
        "br x30",
        fiber = const abi::FIBER,
    )
}

/// The outermost frame of every fiber: calls `x19(x20, x21, 0)` and leaves for good.
#[unsafe(naked)]
unsafe extern "C" fn bottom() {
    naked_asm!(
        "mov x0, x20",
        "mov x1, x21",
        "mov x2, #0",
        "blr x19",
        "ldr x0, [x20, #{fiber}]",
        "ldr x9, [x0, #8]",
        "mov sp, x9",
        "mov x0, #1",
        restore!(),
        "br x30",
        fiber = const abi::FIBER,
    )
}

/// Writes the initial frame that [`resume`] expects to a stack, and returns the stack pointer: the fiber then calls
/// `function(context, thread, 0)`.
///
/// # Safety
///
/// The 256 bytes below `top`, a multiple of 16, are writable and not used by anyone else.
pub(crate) unsafe fn begin(top: usize, function: usize, context: usize, thread: usize) -> usize {
    let mut frame = [0_usize; 20];
    frame[1] = bottom as *const () as usize;
    frame[2..5].copy_from_slice(&[function, context, thread]);
    let inside = top - size_of_val(&frame);
    // SAFETY: the caller promises that the words are writable and not used by anyone else.
    unsafe { std::ptr::copy_nonoverlapping(frame.as_ptr(), inside as *mut usize, frame.len()) };
    inside
}

/// Operations whose last argument is the rounding mode: 0 to nearest, 1 down, 2 up, 3 towards zero.
pub(crate) mod directed {
    use super::asm;

    /// Returns the FPCR for a rounding mode, with all exceptions untrapped. Its encoding differs: 1 is up, 2 is down.
    fn fpcr(mode: u32) -> u64 {
        [0, 2, 1, 3][(mode & 3) as usize] << 22
    }

    macro_rules! binary {
        ($name:ident, $float:ty, $instruction:literal) => {
            pub(crate) extern "C" fn $name(a: $float, b: $float, mode: u32) -> $float {
                let result: $float;
                // SAFETY: sets a valid FPCR, does one arithmetic instruction on registers, and restores the default FPCR
                // that Rust code runs under.
                unsafe {
                    asm!("msr fpcr, {mode}", $instruction, "msr fpcr, xzr",
                        mode = in(reg) fpcr(mode), r = out(vreg) result, a = in(vreg) a, b = in(vreg) b,
                        options(nomem, nostack));
                }
                result
            }
        };
    }

    binary!(add_f32, f32, "fadd {r:s}, {a:s}, {b:s}");
    binary!(sub_f32, f32, "fsub {r:s}, {a:s}, {b:s}");
    binary!(mul_f32, f32, "fmul {r:s}, {a:s}, {b:s}");
    binary!(div_f32, f32, "fdiv {r:s}, {a:s}, {b:s}");
    binary!(add_f64, f64, "fadd {r:d}, {a:d}, {b:d}");
    binary!(sub_f64, f64, "fsub {r:d}, {a:d}, {b:d}");
    binary!(mul_f64, f64, "fmul {r:d}, {a:d}, {b:d}");
    binary!(div_f64, f64, "fdiv {r:d}, {a:d}, {b:d}");

    macro_rules! unary {
        ($name:ident, $from:ty, $to:ty, $class:ident, $instruction:literal) => {
            pub(crate) extern "C" fn $name(a: $from, mode: u32) -> $to {
                let result: $to;
                // SAFETY: sets a valid FPCR, does one conversion or root between registers, and restores the default FPCR
                // that Rust code runs under.
                unsafe {
                    asm!("msr fpcr, {mode}", $instruction, "msr fpcr, xzr",
                        mode = in(reg) fpcr(mode), r = out(vreg) result, a = in($class) a,
                        options(nomem, nostack));
                }
                result
            }
        };
    }

    unary!(sqrt_f32, f32, f32, vreg, "fsqrt {r:s}, {a:s}");
    unary!(sqrt_f64, f64, f64, vreg, "fsqrt {r:d}, {a:d}");
    unary!(f64_f32, f64, f32, vreg, "fcvt {r:s}, {a:d}");
    unary!(s64_f32, i64, f32, reg, "scvtf {r:s}, {a:x}");
    unary!(s64_f64, i64, f64, reg, "scvtf {r:d}, {a:x}");

    macro_rules! fused {
        ($name:ident, $float:ty, $instruction:literal) => {
            pub(crate) extern "C" fn $name(a: $float, b: $float, c: $float, mode: u32) -> $float {
                let result: $float;
                // SAFETY: sets a valid FPCR, does one fused multiplication and addition on registers, and restores the
                // default FPCR that Rust code runs under.
                unsafe {
                    asm!("msr fpcr, {mode}", $instruction, "msr fpcr, xzr",
                        mode = in(reg) fpcr(mode), r = out(vreg) result, a = in(vreg) a, b = in(vreg) b, c = in(vreg) c,
                        options(nomem, nostack));
                }
                result
            }
        };
    }

    fused!(fma_f32, f32, "fmadd {r:s}, {a:s}, {b:s}, {c:s}");
    fused!(fma_f64, f64, "fmadd {r:d}, {a:d}, {b:d}, {c:d}");
}
