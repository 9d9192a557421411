//! LLVM's C functions, defined here: each jumps through a slot, which [`bind`] fills from a library.
//!
//! A program that uses inkwell names no library then. The symbols are hidden, so that nothing else is bound to them: not a library
//! that has LLVM of its own, nor the one that is loaded.
//!
//! # Safety
//!
//! A slot holds the address of a function that ends the process, or that of the function of its name in an LLVM library that
//! stays open.

use std::arch::global_asm;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::functions::functions;

/// What every slot holds at first, and where the library has no such function.
extern "C" fn absent() -> ! {
    eprintln!(
        "cuda-llvm: a function of LLVM's is called that the loaded LLVM lacks, or before `cuda_llvm::initialize()`"
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

/// The same: `x16` is what a linker's own stubs use, so that no argument lies in it.
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

        // All in one block, so that whoever needs the slots has the functions: linkers take what they need of an archive by
        // files. Each has a section of its own, so that a program has those alone that it uses.
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

/// Fills the slots with what `find` finds by the functions' names.
///
/// # Safety
///
/// What is found is LLVM's function of that name, in a library that stays open.
pub(crate) unsafe fn bind(find: impl Fn(&CStr) -> Option<*mut c_void>) {
    // SAFETY: the assembly defines as many slots as there are names, each a pointer in memory that can be written; pointers that
    // are atomic have the same layout.
    let slots = unsafe { &SLOTS };
    for (name, slot) in NAMES.iter().zip(slots) {
        if let Some(function) = find(name) {
            slot.store(function, Ordering::Relaxed);
        }
    }
}
