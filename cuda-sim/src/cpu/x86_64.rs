//! x86-64, System V.
//!
//! # Safety
//!
//! Stack pointers are saved and restored by the pairs of functions that say so, each of which keeps the callee-saved
//! registers. The rounding mode is changed inside single blocks of assembly that restore it before they end, so
//! compiled Rust code never runs under another one.

use std::arch::{asm, naked_asm};

use super::{EntryRecord, Fiber};
use crate::codegen::abi::{self, Context};

/// `enter(function, a, b, c, record, result)`: returns 0 after a return, 1 after a fault.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn enter(_: usize, _: usize, _: u64, _: u64, _: *mut EntryRecord, _: *mut u64) -> u32 {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push r9",
        "mov r12, r8",
        "mov [r8], rsp",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "call rax",
        "mov qword ptr [r12], 0",
        "pop r9",
        "mov [r9], rax",
        "xor eax, eax",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// The address to which the signal handler redirects a thread that faulted, with the stack pointer of [`enter`].
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn exit_sequence() {
    naked_asm!("cld", "pop r9", "mov eax, 1", "pop r15", "pop r14", "pop r13", "pop r12", "pop rbx", "pop rbp", "ret",)
}

/// Reads the byte at an address.
///
/// # Safety
///
/// If the address is not accessible, the signal handler leaves compiled code, so the caller may have nothing to drop.
pub(crate) unsafe fn read_byte(address: u64) {
    // SAFETY: if the address is not accessible the handler leaves compiled code, which the caller allows; the byte is
    // ignored.
    unsafe { asm!("mov {value}, byte ptr [{at}]", at = in(reg) address, value = out(reg_byte) _) };
}

/// The registers of a thread that a signal interrupted.
pub(crate) struct Registers<'a>(&'a mut libc::mcontext_t);

impl<'a> Registers<'a> {
    pub(crate) fn of(context: &'a mut libc::ucontext_t) -> Registers<'a> {
        Registers(&mut context.uc_mcontext)
    }

    /// Returns the address of the next instruction.
    pub(crate) fn instruction(&self) -> u64 {
        self.0.gregs[libc::REG_RIP as usize] as u64
    }

    /// Makes the thread continue at an instruction, with this stack pointer.
    pub(crate) fn redirect_to(&mut self, instruction: usize, stack: u64) {
        self.0.gregs[libc::REG_RSP as usize] = stack as i64;
        self.0.gregs[libc::REG_RIP as usize] = instruction as i64;
    }
}

// The switches end in a jump rather than a return: the processor predicts that a return goes to the last call, which is
// never the case here, whereas fibers that wait at one place continue there again and again.

/// Enters a fiber: returns 0 when it switches back, 1 when it has finished.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn resume(_: *mut Fiber) -> u64 {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi + 8], rsp",
        "mov rsp, [rdi]",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "pop rcx",
        "jmp rcx",
    )
}

/// Called by compiled code to switch to the scheduler.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn switch(_: *mut Context) {
    naked_asm!(
        "mov rdi, [rdi + {fiber}]",
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, [rdi + 8]",
        "xor eax, eax",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "pop rcx",
        "jmp rcx",
        fiber = const abi::FIBER,
    )
}

/// The outermost frame of every fiber: calls `r12(r13, r14, 0)` and leaves for good.
#[unsafe(naked)]
unsafe extern "C" fn bottom() {
    naked_asm!(
        "mov rdi, r13",
        "mov rsi, r14",
        "xor edx, edx",
        "call r12",
        "mov rdi, [r13 + {fiber}]",
        "mov rsp, [rdi + 8]",
        "mov eax, 1",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "pop rcx",
        "jmp rcx",
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
    let frame: [usize; 7] = [0, thread, context, function, 0, 0, bottom as *const () as usize];
    let inside = top - size_of_val(&frame);
    // SAFETY: the caller promises that the words are writable and not used by anyone else.
    unsafe { std::ptr::copy_nonoverlapping(frame.as_ptr(), inside as *mut usize, frame.len()) };
    inside
}

/// Operations whose last argument is the rounding mode: 0 to nearest, 1 down, 2 up, 3 towards zero.
pub(crate) mod directed {
    use super::asm;

    /// Returns the MXCSR for a rounding mode, with all exceptions masked.
    fn mxcsr(mode: u32) -> u32 {
        0x1f80 | (mode & 3) << 13
    }

    const NEAREST: u32 = 0x1f80;

    macro_rules! binary {
        ($name:ident, $float:ty, $instruction:literal) => {
            pub(crate) extern "C" fn $name(a: $float, b: $float, mode: u32) -> $float {
                let (csr, nearest) = (mxcsr(mode), NEAREST);
                let mut result = a;
                // SAFETY: loads a valid MXCSR, does one arithmetic instruction on two registers, and restores the
                // default MXCSR that Rust code runs under; both memory operands are live locals.
                unsafe {
                    asm!("ldmxcsr [{csr}]", concat!($instruction, " {a}, {b}"), "ldmxcsr [{nearest}]",
                        csr = in(reg) &csr, nearest = in(reg) &nearest, a = inout(xmm_reg) result, b = in(xmm_reg) b,
                        options(nostack));
                }
                result
            }
        };
    }

    binary!(add_f32, f32, "addss");
    binary!(sub_f32, f32, "subss");
    binary!(mul_f32, f32, "mulss");
    binary!(div_f32, f32, "divss");
    binary!(add_f64, f64, "addsd");
    binary!(sub_f64, f64, "subsd");
    binary!(mul_f64, f64, "mulsd");
    binary!(div_f64, f64, "divsd");

    macro_rules! unary {
        ($name:ident, $from:ty, $to:ty, $class:ident, $instruction:literal) => {
            pub(crate) extern "C" fn $name(a: $from, mode: u32) -> $to {
                let (csr, nearest) = (mxcsr(mode), NEAREST);
                let mut result: $to = 0.0;
                // SAFETY: loads a valid MXCSR, does one conversion or root between registers, and restores the default
                // MXCSR that Rust code runs under; both memory operands are live locals.
                unsafe {
                    asm!("ldmxcsr [{csr}]", concat!($instruction, " {r}, {a}"), "ldmxcsr [{nearest}]",
                        csr = in(reg) &csr, nearest = in(reg) &nearest, r = inout(xmm_reg) result, a = in($class) a,
                        options(nostack));
                }
                result
            }
        };
    }

    unary!(sqrt_f32, f32, f32, xmm_reg, "sqrtss");
    unary!(sqrt_f64, f64, f64, xmm_reg, "sqrtsd");
    unary!(f64_f32, f64, f32, xmm_reg, "cvtsd2ss");
    unary!(s64_f32, i64, f32, reg, "cvtsi2ss");
    unary!(s64_f64, i64, f64, reg, "cvtsi2sd");

    macro_rules! fused {
        ($name:ident, $float:ty, $instruction:literal) => {
            pub(crate) extern "C" fn $name(a: $float, b: $float, c: $float, mode: u32) -> $float {
                if !std::arch::is_x86_feature_detected!("fma") {
                    // Only processors from before 2013 reach this: rounding to nearest is the best available.
                    return a.mul_add(b, c);
                }
                let (csr, nearest) = (mxcsr(mode), NEAREST);
                let mut result = a;
                // SAFETY: FMA was just detected; loads a valid MXCSR, does one fused multiplication and addition on
                // registers, and restores the default MXCSR; both memory operands are live locals.
                unsafe {
                    asm!("ldmxcsr [{csr}]", concat!($instruction, " {a}, {b}, {c}"), "ldmxcsr [{nearest}]",
                        csr = in(reg) &csr, nearest = in(reg) &nearest, a = inout(xmm_reg) result, b = in(xmm_reg) b,
                        c = in(xmm_reg) c, options(nostack));
                }
                result
            }
        };
    }

    fused!(fma_f32, f32, "vfmadd213ss");
    fused!(fma_f64, f64, "vfmadd213sd");
}
