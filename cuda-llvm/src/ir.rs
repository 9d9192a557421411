//! Functions that inkwell lacks: parsing a module from text without a leak, and the flush-to-zero attribute.
//!
//! # Safety
//!
//! The calls of LLVM take live objects of one context, and pointers to locals that live through the call.

use std::ffi::CStr;

use inkwell::attributes::Attribute;
use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::core::LLVMDisposeMessage;
use inkwell::llvm_sys::ir_reader::LLVMParseIRInContext2;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// Parses a module from its text in LLVM's IR.
///
/// inkwell's own function forgets the buffer, since LLVM before 22 took ownership of it, and would leak it with each module.
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
    // SAFETY: the context is live, the results are live locals, and LLVM does not take ownership of the buffer.
    let failed = unsafe { LLVMParseIRInContext2(raw, buffer.as_mut_ptr(), &mut module, &mut message) };
    if failed == 0 {
        // SAFETY: LLVM has just created the module in this context, and this is its only owner.
        return Ok(unsafe { Module::new(module) });
    }
    // SAFETY: if parsing fails, LLVM returns a message that ends with a zero.
    let error = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    // SAFETY: this code owns the message, and does not use it any more.
    unsafe { LLVMDisposeMessage(message) };
    Err(error)
}

/// The attribute of a function that flushes subnormal `f32` to zero, in the form of the loaded LLVM: from 23 on it is not a
/// string attribute.
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
    if let Some(attribute) = unsafe { crate::adapt::flush_to_zero(context.as_ctx_ref()) } {
        // SAFETY: LLVM has just created the attribute, in a live context.
        return unsafe { Attribute::new(attribute) };
    }
    context.create_string_attribute("denormal-fp-math-f32", "preserve-sign,preserve-sign")
}
