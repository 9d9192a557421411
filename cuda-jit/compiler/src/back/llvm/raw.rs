//! The calls of LLVM's C API that inkwell does not wrap.
//!
//! # Safety
//!
//! Every function takes inkwell's own wrappers, whose lifetimes tie them to a live context, and hands their pointers
//! to LLVM for the duration of one call. LLVM's types are checked by the callers: operands have the types that the
//! instruction needs, because the module was verified.

use std::ffi::{CStr, c_void};
use std::ptr;

use cuda_llvm::inkwell;
pub(super) use cuda_llvm::llvm_sys::LLVMAtomicRMWBinOp as Rmw;
use cuda_llvm::llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use cuda_llvm::llvm_sys::core::{
    LLVMBuildAtomicCmpXchgSyncScope, LLVMBuildAtomicRMWSyncScope, LLVMBuildFenceSyncScope, LLVMBuildFreeze,
    LLVMBuildGEP2, LLVMContextSetDiagnosticHandler, LLVMCreateConstantRangeAttribute, LLVMDisposeMessage,
    LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity, LLVMGetNumSuccessors, LLVMGetOrdering, LLVMGetSuccessor,
    LLVMGetSyncScopeID, LLVMSetAtomicSyncScopeID, LLVMSetOrdering, LLVMSetSuccessor,
};
use cuda_llvm::llvm_sys::debuginfo::LLVMDIBuilderInsertDeclareRecordAtEnd;
use cuda_llvm::llvm_sys::linker::LLVMLinkModules2;
use cuda_llvm::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use cuda_llvm::llvm_sys::{LLVMAtomicOrdering, LLVMDiagnosticSeverity};
use inkwell::attributes::Attribute;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::{AsContextRef, Context};
use inkwell::debug_info::{DILocalVariable, DILocation, DebugInfoBuilder};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::types::{AsTypeRef, BasicTypeEnum};
use inkwell::values::{
    AsValueRef, BasicValueEnum, FunctionValue, InstructionValue, IntValue, PointerValue, StructValue,
};

use crate::kir::{Order, Ordering, Scope};

/// Emits `freeze`: an unspecified value becomes one value, the same for every use.
pub(super) fn freeze<'ctx>(builder: &Builder<'ctx>, value: BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx> {
    // SAFETY: the builder is positioned in a block of the value's context, and any first-class value can be frozen.
    let frozen = unsafe { LLVMBuildFreeze(builder.as_mut_ptr(), value.as_value_ref(), c"".as_ptr()) };
    // SAFETY: LLVMBuildFreeze returns an instruction of its operand's type, which is a basic one.
    unsafe { BasicValueEnum::new(frozen) }
}

/// Computes the address of element `index` of the array at `pointer`; it wraps, and may be out of bounds.
pub(super) fn element<'ctx>(
    builder: &Builder<'ctx>,
    ty: BasicTypeEnum<'ctx>,
    pointer: PointerValue<'ctx>,
    index: IntValue<'ctx>,
) -> PointerValue<'ctx> {
    let mut index = index.as_value_ref();
    let (pointer, ty) = (pointer.as_value_ref(), ty.as_type_ref());
    // SAFETY: the builder is positioned; a `getelementptr` without flags takes any index, and
    // computes an address from a live pointer without touching memory.
    let element = unsafe { LLVMBuildGEP2(builder.as_mut_ptr(), ty, pointer, &mut index, 1, c"".as_ptr()) };
    // SAFETY: a `getelementptr` of a pointer yields a pointer.
    unsafe { PointerValue::new(element) }
}

/// Declares, at the end of a block, that a variable of the source is in memory at `home`.
pub(super) fn declare<'ctx>(
    debug: &DebugInfoBuilder<'ctx>,
    home: PointerValue<'ctx>,
    variable: DILocalVariable<'ctx>,
    place: DILocation<'ctx>,
    block: BasicBlock<'ctx>,
) {
    let whole = debug.create_expression(Vec::new()).as_mut_ptr();
    let (debug, home) = (debug.as_mut_ptr(), home.as_value_ref());
    let (variable, place, block) = (variable.as_mut_ptr(), place.as_mut_ptr(), block.as_mut_ptr());
    // SAFETY: all are alive and of one context, and the location is in the variable's function. LLVM inserts a debug
    // record and no instruction, so inkwell's own function, which returns an instruction, is not used.
    unsafe { LLVMDIBuilderInsertDeclareRecordAtEnd(debug, home, variable, whole, place, block) };
}

/// The attribute of a 64-bit parameter that is at least `low` and less than `high`.
pub(super) fn range(context: &Context, low: u64, high: u64) -> Attribute {
    let kind = Attribute::get_named_enum_kind_id("range");
    // SAFETY: the context is alive, LLVM knows the kind, and the bounds are two different numbers of one word each.
    let range = unsafe { LLVMCreateConstantRangeAttribute(context.as_ctx_ref(), kind, 64, &low, &high) };
    // SAFETY: LLVMCreateConstantRangeAttribute returns an attribute of that context.
    unsafe { Attribute::new(range) }
}

/// The successors of a terminator, in order.
pub(super) fn successors<'ctx>(terminator: InstructionValue<'ctx>) -> Vec<BasicBlock<'ctx>> {
    let terminator = terminator.as_value_ref();
    // SAFETY: the callers pass the last instruction of a block, which is a terminator.
    let count = unsafe { LLVMGetNumSuccessors(terminator) };
    // SAFETY: the callers pass a block's last instruction, which is a terminator, and the index is below its number of
    // successors.
    let block = |index| unsafe { LLVMGetSuccessor(terminator, index) };
    // SAFETY: a successor is a block of the same function.
    (0..count).filter_map(|index| unsafe { BasicBlock::new(block(index)) }).collect()
}

/// Replaces a terminator's successor at an index of [`successors`].
pub(super) fn set_successor<'ctx>(terminator: InstructionValue<'ctx>, index: usize, block: BasicBlock<'ctx>) {
    // SAFETY: the instruction is a terminator with that many successors, as the callers have found out, and the block is
    // one of the same function.
    unsafe { LLVMSetSuccessor(terminator.as_value_ref(), index as u32, block.as_mut_ptr()) };
}

/// Returns true if a load or store is not atomic.
pub(super) fn is_plain(access: InstructionValue<'_>) -> bool {
    // SAFETY: the instruction is a load or store.
    unsafe { LLVMGetOrdering(access.as_value_ref()) == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic }
}

fn scope_id(context: &Context, scope: Scope) -> u32 {
    let name = match scope {
        Scope::Block => c"block",
        Scope::Cluster => c"cluster",
        Scope::Device => c"device",
        Scope::System => c"",
    };
    // SAFETY: the context is alive, and the name is a string of the length that is passed with it.
    unsafe { LLVMGetSyncScopeID(context.as_ctx_ref(), name.as_ptr(), name.to_bytes().len()) }
}

fn ordering_of(ordering: Ordering) -> LLVMAtomicOrdering {
    match ordering {
        Ordering::Relaxed => LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic,
        Ordering::Acquire => LLVMAtomicOrdering::LLVMAtomicOrderingAcquire,
        Ordering::Release => LLVMAtomicOrdering::LLVMAtomicOrderingRelease,
        Ordering::AcqRel => LLVMAtomicOrdering::LLVMAtomicOrderingAcquireRelease,
        Ordering::SeqCst => LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent,
    }
}

/// Emits a relaxed atomic operation at device scope; returns the old value.
pub(super) fn atomic<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    op: Rmw,
    pointer: PointerValue<'ctx>,
    value: BasicValueEnum<'ctx>,
) -> BasicValueEnum<'ctx> {
    let (scope, relaxed) = (scope_id(context, Scope::Device), ordering_of(Ordering::Relaxed));
    let (builder, pointer, operand) = (builder.as_mut_ptr(), pointer.as_value_ref(), value.as_value_ref());
    // SAFETY: the builder is positioned; the pointer points to a value of the operand's type, on which the verifier
    // has checked that the operation works; the scope is one of this context.
    let old = unsafe { LLVMBuildAtomicRMWSyncScope(builder, op, pointer, operand, relaxed, scope) };
    // SAFETY: an atomic operation yields its operand's type, which is a basic one.
    unsafe { BasicValueEnum::new(old) }
}

/// Emits a compare-and-exchange whose failure ordering has no release; returns the old value and whether it succeeded.
pub(super) fn compare_exchange<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    order: Order,
    pointer: PointerValue<'ctx>,
    [old, new]: [IntValue<'ctx>; 2],
) -> StructValue<'ctx> {
    let failed = match order.ordering {
        Ordering::Relaxed | Ordering::Release => Ordering::Relaxed,
        Ordering::Acquire | Ordering::AcqRel => Ordering::Acquire,
        Ordering::SeqCst => Ordering::SeqCst,
    };
    let (scope, ordering, failed) = (scope_id(context, order.scope), ordering_of(order.ordering), ordering_of(failed));
    let (builder, pointer) = (builder.as_mut_ptr(), pointer.as_value_ref());
    let (old, new) = (old.as_value_ref(), new.as_value_ref());
    // SAFETY: the builder is positioned; the pointer points to an integer of the operands' type, as the verifier has
    // checked; the scope is one of this context, and the order of failure no release.
    let pair = unsafe { LLVMBuildAtomicCmpXchgSyncScope(builder, pointer, old, new, ordering, failed, scope) };
    // SAFETY: a compare-and-exchange yields a pair.
    unsafe { StructValue::new(pair) }
}

/// Makes a load or store atomic.
pub(super) fn set_order(context: &Context, access: InstructionValue<'_>, order: Order) {
    // SAFETY: the instruction is a load or store of a number, aligned to its size, and the ordering suits it, as the
    // verifier has checked.
    unsafe { LLVMSetOrdering(access.as_value_ref(), ordering_of(order.ordering)) };
    // SAFETY: the instruction is now atomic, and the scope is one of its context.
    unsafe { LLVMSetAtomicSyncScopeID(access.as_value_ref(), scope_id(context, order.scope)) };
}

/// Emits a fence that is not relaxed.
pub(super) fn fence<'ctx>(context: &'ctx Context, builder: &Builder<'ctx>, order: Order) {
    let (scope, ordering) = (scope_id(context, order.scope), ordering_of(order.ordering));
    // SAFETY: the builder is positioned, the ordering is one that fences have, and the scope is one of this context.
    unsafe { LLVMBuildFenceSyncScope(builder.as_mut_ptr(), ordering, scope, c"".as_ptr()) };
}

/// Opens bitcode in a context. Function bodies are loaded lazily, when they are linked.
pub(super) fn open<'ctx>(context: &'ctx Context, bitcode: &[u8]) -> Result<Module<'ctx>, String> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "libdevice");
    let mut library = ptr::null_mut();
    // SAFETY: the context is alive; the buffer holds its own copy of the bytes, and LLVM takes it over only if it
    // succeeds.
    let failed = unsafe { LLVMGetBitcodeModuleInContext2(context.as_ctx_ref(), buffer.as_mut_ptr(), &mut library) };
    if failed != 0 {
        return Err("libdevice is no bitcode that LLVM reads".to_owned());
    }
    std::mem::forget(buffer);
    // SAFETY: LLVM has just made the module in this context, and nobody else has it.
    Ok(unsafe { Module::new(library) })
}

/// Links the library's functions that a module declares, with their callees.
pub(super) fn link_needed<'ctx>(module: &Module<'ctx>, library: Module<'ctx>) -> Result<(), String> {
    library.set_triple(&module.get_triple());
    library.set_data_layout(&module.get_data_layout());
    // a definition of this linkage is only linked if it is used
    let defined = |function: &FunctionValue<'_>| !function.as_global_value().is_declaration();
    library.get_functions().filter(defined).for_each(|function| function.set_linkage(Linkage::LinkOnceODR));
    let library = std::mem::ManuallyDrop::new(library);
    // SAFETY: both modules are alive and of one context; the library, which LLVM takes over, is not dropped here.
    let failed = unsafe { LLVMLinkModules2(module.as_mut_ptr(), library.as_mut_ptr()) };
    if failed != 0 { Err("libdevice does not link".to_owned()) } else { Ok(()) }
}

/// Collects the errors that LLVM reports through a context, where LLVM's default handler would exit the process.
///
/// It must be dropped before the context, which the borrow ensures.
pub(super) struct Diagnostics<'ctx> {
    context: &'ctx Context,
    /// A raw box, since LLVM holds its address too.
    errors: *mut Vec<String>,
}

impl<'ctx> Diagnostics<'ctx> {
    /// Installs the handler.
    pub(super) fn collect(context: &'ctx Context) -> Self {
        let errors: *mut Vec<String> = Box::into_raw(Box::default());
        // SAFETY: the context is alive; the handler matches the type that LLVM calls, and its argument lives until
        // `drop`, which removes the handler first.
        unsafe { LLVMContextSetDiagnosticHandler(context.as_ctx_ref(), Some(handle), errors.cast()) };
        Self { context, errors }
    }

    /// Takes the errors reported so far.
    pub(super) fn take(&mut self) -> Vec<String> {
        // SAFETY: `errors` came from a box and is freed only in `drop`; LLVM writes it only while one of its calls
        // runs on this thread, and none does now, so this is the only reference.
        let errors = unsafe { &mut *self.errors };
        std::mem::take(errors)
    }
}

impl Drop for Diagnostics<'_> {
    fn drop(&mut self) {
        // SAFETY: the context is alive, by the borrow; no handler is a valid handler.
        unsafe { LLVMContextSetDiagnosticHandler(self.context.as_ctx_ref(), None, ptr::null_mut()) };
        // SAFETY: `errors` came from Box::into_raw, and LLVM has just forgotten it.
        drop(unsafe { Box::from_raw(self.errors) });
    }
}

/// LLVM's callback: keeps errors, drops warnings and remarks. Nothing in it can panic but a failed allocation, which
/// aborts in any case.
extern "C" fn handle(info: LLVMDiagnosticInfoRef, errors: *mut c_void) {
    // SAFETY: LLVM passes a diagnostic that lives during the call.
    let severity = unsafe { LLVMGetDiagInfoSeverity(info) };
    if severity != LLVMDiagnosticSeverity::LLVMDSError {
        return;
    }
    // SAFETY: LLVM passes a diagnostic that lives during the call.
    let message = unsafe { LLVMGetDiagInfoDescription(info) };
    // SAFETY: the description is a string with a terminating zero, ours until it is disposed of below.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    // SAFETY: the message came from LLVMGetDiagInfoDescription, which hands it over.
    unsafe { LLVMDisposeMessage(message) };
    // SAFETY: `errors` is the box of a live `Diagnostics`, and no other reference to it exists while LLVM runs.
    let errors = unsafe { &mut *errors.cast::<Vec<String>>() };
    errors.push(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LLVM's default handler would print the error and exit the process.
    #[test]
    fn errors_of_llvm_are_collected() {
        cuda_llvm::initialize().unwrap();
        let context = Context::create();
        let module = || {
            let module = context.create_module("twice");
            let function = module.add_function("f", context.void_type().fn_type(&[], false), None);
            let builder = context.create_builder();
            builder.position_at_end(context.append_basic_block(function, ""));
            builder.build_return(None).unwrap();
            module
        };
        let (destination, source) = (module(), module());
        let mut diagnostics = Diagnostics::collect(&context);
        let source = std::mem::ManuallyDrop::new(source);
        // SAFETY: both modules are alive and of one context; the source, which LLVM takes over, is not dropped here.
        let failed = unsafe { LLVMLinkModules2(destination.as_mut_ptr(), source.as_mut_ptr()) };
        assert_eq!(failed, 1);
        let errors = diagnostics.take();
        assert!(errors.len() == 1 && errors[0].contains("multiply defined"), "{errors:?}");
        assert!(diagnostics.take().is_empty());
    }
}
