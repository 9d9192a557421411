//! What inkwell lacks: modules from their text, and an attribute.
//!
//! # Safety
//!
//! The calls take live objects of one context, and results that live through the call.

use std::ffi::CStr;

use inkwell::attributes::Attribute;
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
/// cuda_llvm::initialize().map_err(|error| error.to_string())?;
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

/// The attribute of a function in which subnormal `f32` become zero, as the loaded LLVM has it: from 23 on it is no text.
///
/// # Examples
///
/// ```
/// use cuda_llvm::inkwell::attributes::AttributeLoc;
/// use cuda_llvm::inkwell::context::Context;
///
/// cuda_llvm::initialize()?;
/// let context = Context::create();
/// let module = context.create_module("flushes");
/// let function = module.add_function("f", context.void_type().fn_type(&[], false), None);
/// function.add_attribute(AttributeLoc::Function, cuda_llvm::flushing_attribute(&context));
/// assert!(module.print_to_string().to_string().contains("denormal"));
/// # Ok::<(), cuda_llvm::Error>(())
/// ```
pub fn flushing_attribute(context: &Context) -> Attribute {
    #[cfg(not(cuda_llvm_linked))]
    // SAFETY: the context is live.
    if let Some(attribute) = unsafe { crate::adapt::flushing(context.as_ctx_ref()) } {
        // SAFETY: LLVM has just made it.
        return unsafe { Attribute::new(attribute) };
    }
    context.create_string_attribute("denormal-fp-math-f32", "preserve-sign,preserve-sign")
}
