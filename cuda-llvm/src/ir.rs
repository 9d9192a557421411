//! Modules from their text.
//!
//! # Safety
//!
//! The calls take live objects of one context, and results that live through the call.

use std::ffi::CStr;

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::core::LLVMDisposeMessage;
use inkwell::llvm_sys::ir_reader::LLVMParseIRInContext2;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// The module that a text in LLVM's language is, or what LLVM says of it.
///
/// inkwell's own function forgets the text, as LLVM before 22 took it over; it would be leaked with each module.
///
/// # Examples
///
/// ```
/// use cuda_llvm::inkwell::context::Context;
///
/// let context = Context::create();
/// let module = cuda_llvm::parse_ir(&context, "define i32 @one() {\n  ret i32 1\n}\n")?;
/// assert!(module.get_function("one").is_some());
/// let error = cuda_llvm::parse_ir(&context, "define i32 @one() {\n  return 1\n}\n").unwrap_err();
/// assert!(error.contains("expected instruction opcode"), "{error}");
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// LLVM's message, with line and column.
pub fn parse_ir<'ctx>(context: &'ctx Context, text: &str) -> Result<Module<'ctx>, String> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "kernel");
    let (mut module, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
    let raw = context.as_ctx_ref();
    // SAFETY: the context is live, the results are live locals, and LLVM leaves the buffer to us.
    let failed = unsafe { LLVMParseIRInContext2(raw, buffer.as_mut_ptr(), &mut module, &mut message) };
    if failed == 0 {
        // SAFETY: LLVM has just made the module in this context, and nobody else has it.
        return Ok(unsafe { Module::new(module) });
    }
    // SAFETY: where it fails, LLVM makes a message that ends with a zero.
    let error = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    // SAFETY: the message is ours, and is not used any more.
    unsafe { LLVMDisposeMessage(message) };
    Err(error)
}
