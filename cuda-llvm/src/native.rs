//! The four initialisers that inkwell expects from llvm-sys' C shim, which is not built when LLVM is linked here.
//!
//! # Safety
//!
//! The functions only register targets in LLVM's tables, which LLVM guards itself; they take no pointers.

use inkwell::llvm_sys::target::{
    LLVMInitializeX86AsmParser, LLVMInitializeX86AsmPrinter, LLVMInitializeX86Disassembler, LLVMInitializeX86Target,
    LLVMInitializeX86TargetInfo, LLVMInitializeX86TargetMC,
};

macro_rules! initializer {
    ($name:ident => $($call:ident),+) => {
        // SAFETY: the symbol is llvm-sys' own, which is left undefined when `no-llvm-linking` is on, so nothing
        // else in the program defines it.
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> i32 {
            $(
                // SAFETY: takes no arguments and registers the X86 target in LLVM's own tables; calling it
                // again is a no-op.
                unsafe { $call() };
            )+
            0
        }
    };
}

initializer!(LLVM_InitializeNativeTarget => LLVMInitializeX86Target, LLVMInitializeX86TargetInfo, LLVMInitializeX86TargetMC);
initializer!(LLVM_InitializeNativeAsmPrinter => LLVMInitializeX86AsmPrinter);
initializer!(LLVM_InitializeNativeAsmParser => LLVMInitializeX86AsmParser);
initializer!(LLVM_InitializeNativeDisassembler => LLVMInitializeX86Disassembler);
