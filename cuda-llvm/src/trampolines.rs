//! Trampolines for LLVM's C functions: each jumps through a slot, which [`bind`] fills from a library.
//!
//! A program that uses inkwell therefore links no LLVM. The symbols are hidden, so that neither the loaded LLVM nor a library with
//! an LLVM of its own is bound to them.
//!
//! # Safety
//!
//! A slot holds the address of a function that ends the process, or of the function of its name in an LLVM library that stays
//! open.

use std::arch::global_asm;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::functions::functions;

/// The initial target of every slot, which remains if the library lacks the function.
extern "C" fn absent() -> ! {
    eprintln!(
        "cuda-llvm: the program called a function that the loaded LLVM lacks, or called LLVM before `cuda_llvm::initialize()`"
    );
    std::process::abort();
}

/// The instructions that jump through a slot.
#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    ($slot:expr) => {
        concat!("jmp qword ptr [rip + ", $slot, "]\n")
    };
}

/// The instructions that jump through a slot. `x16` is the scratch register of linkers' stubs, so it holds no argument.
#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    ($slot:expr) => {
        concat!("adrp x16, ", $slot, "\nldr x16, [x16, :lo12:", $slot, "]\nbr x16\n")
    };
}

/// The label of a function's slot.
macro_rules! slot {
    ($name:ident) => {
        concat!(".Lcuda_llvm_slot_", stringify!($name))
    };
}

macro_rules! trampolines {
    ($($name:ident)*) => {
        /// The functions' names, in the order of the slots.
        const NAMES: &[&CStr] = &[$(name(concat!(stringify!($name), "\0"))),*];

        // All are in one assembly block, so that linking the slots also links the functions: a linker takes whole object files
        // from an archive. Each function has a section of its own, so that the linker can drop the unused ones.
        global_asm!(
            ".section .data.cuda_llvm_slots, \"aw\", @progbits\n.p2align 3",
            ".globl cuda_llvm_slots\n.hidden cuda_llvm_slots\ncuda_llvm_slots:",
            $(concat!(slot!($name), ": .quad {absent}"),)*
            $(concat!(
                ".section .text.", stringify!($name), ", \"ax\", @progbits\n",
                ".globl ", stringify!($name), "\n.hidden ", stringify!($name), "\n",
                ".type ", stringify!($name), ", @function\n",
                stringify!($name), ": ", jump!(slot!($name)),
                ".size ", stringify!($name), ", . - ", stringify!($name)
            ),)*
            ".text",
            absent = sym absent,
        );
    };
}

functions!(trampolines);

const fn name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("an identifier has no zero in it"),
    }
}

unsafe extern "C" {
    #[link_name = "cuda_llvm_slots"]
    static SLOTS: [AtomicPtr<c_void>; NAMES.len()];
}

/// Fills the slots with the functions that `find` returns for their names.
///
/// # Safety
///
/// `find` returns LLVM's function of that name, or a shim of the same type, in a library that stays open.
pub(crate) unsafe fn bind(find: impl Fn(&CStr) -> Option<*mut c_void>) {
    // SAFETY: the assembly defines one slot per name, each a pointer in writable memory; atomic pointers have the same layout.
    let slots = unsafe { &SLOTS };
    for (name, slot) in NAMES.iter().zip(slots) {
        if let Some(function) = find(name) {
            slot.store(function, Ordering::Relaxed);
        }
    }
}
