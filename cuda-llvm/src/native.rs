//! The four initialisers that inkwell expects from llvm-sys' C shim, which is not built with `no-llvm-linking`.
//!
//! # Safety
//!
//! The functions only register targets in LLVM's tables, which LLVM synchronises itself; they take no pointers.

#[cfg(target_arch = "aarch64")]
use inkwell::llvm_sys::target::{
    LLVMInitializeAArch64AsmParser as asm_parser, LLVMInitializeAArch64AsmPrinter as asm_printer,
    LLVMInitializeAArch64Disassembler as disassembler, LLVMInitializeAArch64Target as target,
    LLVMInitializeAArch64TargetInfo as target_info, LLVMInitializeAArch64TargetMC as target_mc,
};
#[cfg(target_arch = "x86_64")]
use inkwell::llvm_sys::target::{
    LLVMInitializeX86AsmParser as asm_parser, LLVMInitializeX86AsmPrinter as asm_printer,
    LLVMInitializeX86Disassembler as disassembler, LLVMInitializeX86Target as target,
    LLVMInitializeX86TargetInfo as target_info, LLVMInitializeX86TargetMC as target_mc,
};

macro_rules! initializer {
    ($name:ident => $($call:ident),+) => {
        // SAFETY: the symbol is llvm-sys' own, which is left undefined when `no-llvm-linking` is on, so nothing
        // else in the program defines it.
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> i32 {
            $(
                // SAFETY: takes no arguments and registers the host's target in LLVM's own tables; calling it
                // again is a no-op.
                unsafe { $call() };
            )+
            0
        }
    };
}

initializer!(LLVM_InitializeNativeTarget => target, target_info, target_mc);
initializer!(LLVM_InitializeNativeAsmPrinter => asm_printer);
initializer!(LLVM_InitializeNativeAsmParser => asm_parser);
initializer!(LLVM_InitializeNativeDisassembler => disassembler);
