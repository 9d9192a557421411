//! Lowers functions: signatures, slots, blocks, memory, calls. Arithmetic is in `ops`, panics are in `panic`.
//!
//! A slot becomes an `alloca`, which LLVM promotes to a register. It is initialised to zero, which is a valid
//! unspecified value and, unlike LLVM's `undef`, the same for every use.

use cuda_llvm::inkwell;
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module as LlvmModule};
use inkwell::types::{ArrayType, BasicMetadataTypeEnum, BasicType, BasicTypeEnum};
use inkwell::values::{BasicMetadataValueEnum, BasicValue, BasicValueEnum, FunctionValue, IntValue, PointerValue};

use super::debug::{self, DebugInfo, Described};
use super::panic::{PanicBlocks, Publication};
use super::stack::Stack;
use super::{EmitError, Options, PANIC_RECORD_ALIGN, float_rem, libdevice, raw, reduce};
use crate::kir::{
    Access, ArrayDecl, Block, BlockId, Const, FuncId, Function, Inst, Location, Module, Op, Param, Pointee, Role,
    Scalar, SourceScopeId, Space, SpilledShared, Terminator, Type, Value,
};
use crate::target::{ComputeCapability, Target};
use crate::valid::Accesses;

pub(super) type Result<T> = std::result::Result<T, EmitError>;

/// LLVM's calling convention of PTX kernels.
const KERNEL_CONVENTION: u32 = 71;
/// LLVM's address space of global memory.
pub(super) const GLOBAL: u16 = 1;
/// LLVM's address space of constant memory.
pub(super) const CONSTANT: u16 = 4;
/// LLVM's address space of shared memory.
pub(super) const SHARED: u16 = 3;

/// Lowers a verified module to an empty LLVM module; returns true if it has line tables.
pub(super) fn lower_module<'ctx>(
    context: &'ctx Context,
    module: &LlvmModule<'ctx>,
    kir: &Module,
    target: &Target,
    options: &Options,
) -> Result<bool> {
    let kir = &*reduce::expand(float_rem::expand(kir), target);
    let mut lowering = Lowering {
        context,
        module,
        kir,
        builder: context.create_builder(),
        contract: kir.contract,
        exported: kir.exported,
        capability: target.capability(),
        publication: Publication::of(kir, target.capability()),
        synchronises: kir.synchronises(),
        shared: Vec::new(),
        spilled: kir.spilled_shared(),
        counters: None,
        constants: Vec::new(),
        debug: DebugInfo::of(context, module, kir, options.opt_level > 0)?,
        options,
    };
    lowering.constants =
        kir.constants.iter().enumerate().map(|(index, constant)| lowering.declare_constant(index, constant)).collect();
    if lowering.spilled.is_none() {
        lowering.shared =
            kir.shared.iter().enumerate().map(|(index, array)| lowering.declare_shared(index, array)).collect();
    }
    // an exported function relies on the counters of the kernel that calls it
    lowering.counters = (kir.maps_shared() && !kir.exported).then(|| lowering.declare_counters());
    let declare = |(index, function)| match index {
        0 if kir.exported => lowering.declare_exported(function),
        _ => lowering.declare(function, index == 0),
    };
    let functions: Vec<FunctionValue<'ctx>> = kir.functions.iter().enumerate().map(declare).collect();
    for (function, &declared) in kir.functions.iter().zip(&functions) {
        Body::new(&lowering, &functions, function, declared)?.lower()?;
    }
    lowering.debug.iter().for_each(DebugInfo::finish);
    libdevice::link(&lowering, options)?;
    Ok(lowering.debug.is_some())
}

/// The state shared by the functions of one module.
pub(super) struct Lowering<'ctx, 'a> {
    pub(super) context: &'ctx Context,
    pub(super) module: &'a LlvmModule<'ctx>,
    pub(super) kir: &'a Module,
    pub(super) builder: Builder<'ctx>,
    pub(super) contract: bool,
    /// True if the first function is called by code of other compilers, so that there are no launch parameters.
    pub(super) exported: bool,
    /// The target's compute capability.
    pub(super) capability: ComputeCapability,
    pub(super) publication: Publication,
    /// True if the module has convergent operations, which keep calls in place.
    synchronises: bool,
    /// The arrays in shared memory, unless they are spilled.
    shared: Vec<PointerValue<'ctx>>,
    /// The constants in memory.
    constants: Vec<PointerValue<'ctx>>,
    /// The layout of the arrays in dynamic shared memory, if they are spilled.
    pub(super) spilled: Option<SpilledShared>,
    /// The counters of a kernel that maps the shared memory of other blocks.
    pub(super) counters: Option<PointerValue<'ctx>>,
    debug: Option<DebugInfo<'ctx>>,
    pub(super) options: &'a Options,
}

impl<'ctx> Lowering<'ctx, '_> {
    /// A scalar's type in registers, where `bool` is one bit.
    pub(super) fn scalar(&self, scalar: Scalar) -> BasicTypeEnum<'ctx> {
        match scalar {
            Scalar::F32 => self.context.f32_type().into(),
            Scalar::F64 => self.context.f64_type().into(),
            Scalar::F16 => self.context.f16_type().into(),
            Scalar::Bf16 => self.context.bf16_type().into(),
            Scalar::F16x2 => self.context.f16_type().vec_type(2).into(),
            Scalar::Bf16x2 => self.context.bf16_type().vec_type(2).into(),
            Scalar::Bool => self.context.bool_type().into(),
            Scalar::I8 | Scalar::U8 => self.context.i8_type().into(),
            Scalar::I16 | Scalar::U16 => self.context.i16_type().into(),
            Scalar::I32 | Scalar::U32 => self.context.i32_type().into(),
            Scalar::I64 | Scalar::U64 => self.context.i64_type().into(),
            Scalar::I128 | Scalar::U128 => self.context.i128_type().into(),
        }
    }

    pub(super) fn register_type(&self, ty: Type) -> BasicTypeEnum<'ctx> {
        match ty {
            Type::Scalar(scalar) => self.scalar(scalar),
            Type::Ptr(Space::Global, _) => self.context.ptr_type(AddressSpace::from(GLOBAL)).into(),
            Type::Ptr(Space::Shared, _) => self.context.ptr_type(AddressSpace::from(SHARED)).into(),
            Type::Ptr(Space::Constant, _) => self.context.ptr_type(AddressSpace::from(CONSTANT)).into(),
            // the shared memory of other blocks is accessed through generic addresses, as nvcc does
            Type::Ptr(Space::Local | Space::Cluster | Space::Generic, _) => {
                self.context.ptr_type(AddressSpace::default()).into()
            }
        }
    }

    /// A type in memory and in signatures, where `bool` is one byte.
    pub(super) fn memory_type(&self, ty: Type) -> BasicTypeEnum<'ctx> {
        match ty {
            Type::Scalar(Scalar::Bool) => self.context.i8_type().into(),
            _ => self.register_type(ty),
        }
    }

    fn pointee_type(&self, pointee: Pointee) -> BasicTypeEnum<'ctx> {
        match pointee {
            Pointee::Scalar(scalar) => self.memory_type(scalar.into()),
            Pointee::Record(record) => self.context.i8_type().array_type(record.size).into(),
        }
    }

    /// An array's type; the verifier limits it to less than 2^31 bytes.
    pub(super) fn array_type(&self, array: &ArrayDecl) -> ArrayType<'ctx> {
        self.pointee_type(array.element).array_type(array.len as u32)
    }

    fn to_memory(&self, value: BasicValueEnum<'ctx>, ty: Type) -> Result<BasicValueEnum<'ctx>> {
        if ty != Scalar::Bool.into() {
            return Ok(value);
        }
        Ok(self.builder.build_int_z_extend(value.into_int_value(), self.context.i8_type(), "")?.into())
    }

    fn to_register(&self, value: BasicValueEnum<'ctx>, ty: Type) -> Result<BasicValueEnum<'ctx>> {
        if ty != Scalar::Bool.into() {
            return Ok(value);
        }
        Ok(self.builder.build_int_truncate(value.into_int_value(), self.context.bool_type(), "")?.into())
    }

    fn declare(&self, function: &Function, is_kernel: bool) -> FunctionValue<'ctx> {
        let mut params: Vec<BasicMetadataTypeEnum<'ctx>> =
            function.params.iter().map(|param| self.memory_type(param.ty).into()).collect();
        params.push(self.context.ptr_type(AddressSpace::from(GLOBAL)).into());
        params.push(self.context.i64_type().into());
        let ty = match function.result {
            Some(result) => self.memory_type(result).fn_type(&params, false),
            None => self.context.void_type().fn_type(&params, false),
        };
        let linkage = if is_kernel { Linkage::External } else { Linkage::Internal };
        let declared = self.module.add_function(&function.name, ty, Some(linkage));
        if is_kernel {
            declared.set_call_conventions(KERNEL_CONVENTION);
            self.add_bounds(declared);
        }
        self.add_attributes(declared, &function.params);
        declared
    }

    /// Adds the attributes of every function.
    pub(super) fn add_function_attributes(&self, function: FunctionValue<'ctx>) {
        let add = |attribute| function.add_attribute(AttributeLoc::Function, attribute);
        add(self.flag("nounwind"));
        if self.synchronises {
            add(self.flag("convergent"));
        }
        // a function that has the name of a C library function is still the user's own
        add(self.context.create_string_attribute("no-builtins", ""));
        if self.options.fast_math {
            add(self.flushing());
        }
    }

    fn add_attributes(&self, function: FunctionValue<'ctx>, params: &[Param]) {
        self.add_function_attributes(function);
        for (index, param) in params.iter().enumerate() {
            let add = |attribute| function.add_attribute(AttributeLoc::Param(index as u32), attribute);
            if param.role == Role::Extent {
                add(raw::range(self.context, 0, 1 << 63));
            }
            let Type::Ptr(_, pointee) = param.ty else { continue };
            add(self.alignment(pointee.align()));
            if param.access == Access::Read {
                add(self.flag("noalias"));
                add(self.flag("readonly"));
            }
        }
        let record = AttributeLoc::Param(params.len() as u32);
        function.add_attribute(record, self.alignment(PANIC_RECORD_ALIGN as u32));
        function.add_attribute(record, self.flag("noalias"));
    }

    fn add_bounds(&self, kernel: FunctionValue<'ctx>) {
        let add = |key: &str, value: Option<u32>| {
            if let Some(value) = value {
                let attribute = self.context.create_string_attribute(key, &value.to_string());
                kernel.add_attribute(AttributeLoc::Function, attribute);
            }
        };
        add("nvvm.maxnreg", self.options.max_registers);
        let bounds = self.options.launch_bounds;
        add("nvvm.maxntid", bounds.map(|bounds| bounds.max_threads));
        add("nvvm.minctasm", bounds.and_then(|bounds| bounds.min_blocks));
        add("nvvm.maxclusterrank", bounds.and_then(|bounds| bounds.max_cluster));
        if let Some([x, y, z]) = self.options.cluster {
            let attribute = self.context.create_string_attribute("nvvm.cluster_dim", &format!("{x},{y},{z}"));
            kernel.add_attribute(AttributeLoc::Function, attribute);
        }
    }

    /// The attribute that flushes subnormal `f32` to zero.
    pub(super) fn flushing(&self) -> Attribute {
        cuda_llvm::flushing_attribute(self.context)
    }

    pub(super) fn flag(&self, name: &str) -> Attribute {
        self.context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0)
    }

    pub(super) fn alignment(&self, bytes: u32) -> Attribute {
        self.context.create_enum_attribute(Attribute::get_named_enum_kind_id("align"), bytes.into())
    }
}

/// The alignment of a pointer type's pointee; 1 for numbers.
fn alignment(ty: Type) -> u32 {
    match ty {
        Type::Ptr(_, pointee) => pointee.align(),
        Type::Scalar(_) => 1,
    }
}

/// The state of lowering one function.
pub(super) struct Body<'ctx, 'a> {
    pub(super) lowering: &'a Lowering<'ctx, 'a>,
    pub(super) function: FunctionValue<'ctx>,
    functions: &'a [FunctionValue<'ctx>],
    kir: &'a Function,
    accesses: Accesses,
    blocks: Vec<BasicBlock<'ctx>>,
    stack: Stack<'ctx>,
    /// The values so far, with their types.
    values: Vec<(BasicValueEnum<'ctx>, Type)>,
    /// The alignment in bytes of each pointer value: its pointee's, or the one that its offset in a record implies.
    aligns: Vec<u32>,
    /// The argument buffer of the function's prints.
    pub(super) printed: Option<PointerValue<'ctx>>,
    panics: PanicBlocks<'ctx>,
    /// The function's debug metadata.
    described: Option<Described<'ctx>>,
}

impl<'ctx, 'a> Body<'ctx, 'a> {
    fn new(
        lowering: &'a Lowering<'ctx, 'a>,
        functions: &'a [FunctionValue<'ctx>],
        kir: &'a Function,
        function: FunctionValue<'ctx>,
    ) -> Result<Self> {
        let block = |_: &Block| lowering.context.append_basic_block(function, "");
        let blocks: Vec<BasicBlock<'ctx>> = kir.blocks.iter().map(block).collect();
        let builder = &lowering.builder;
        // in this order: LLVM 24 aborts if a builder without a position gets a debug location
        builder.position_at_end(blocks[0]);
        builder.unset_current_debug_location();
        let stack = lowering.stack(kir)?;
        let described = lowering.debug.as_ref().and_then(|debug| debug.describe(kir, function));
        if let (true, Some(debug), Some(described)) = (lowering.options.debug, &lowering.debug, &described) {
            for (variable, &home) in kir.variables.iter().zip(&stack.variables) {
                debug.declare(variable, described, (home, blocks[0]));
            }
        }
        let printed = lowering.print_buffer(kir)?;
        let (mut values, mut passed) = (Vec::new(), function.get_param_iter());
        for param in &kir.params {
            let value = match param.role {
                Role::Returned => Some(lowering.returned(param)?.into()),
                _ => passed.next(),
            };
            let value = value.ok_or_else(|| EmitError::Llvm("`declare` gives every parameter".to_owned()))?;
            values.push((lowering.to_register(value, param.ty)?, param.ty));
        }
        let aligns = kir.params.iter().map(|param| alignment(param.ty)).collect();
        let (accesses, panics) = (Accesses::of(kir), PanicBlocks::default());
        Ok(Self {
            lowering,
            function,
            functions,
            kir,
            accesses,
            blocks,
            stack,
            values,
            aligns,
            printed,
            panics,
            described,
        })
    }

    fn lower(mut self) -> Result<()> {
        // LLVM requires a location for each call in a function with debug information
        if let Some(location) = debug::first_location(self.kir) {
            self.line(location, None);
        }
        for (index, (block, &lowered)) in self.kir.blocks.iter().zip(&self.blocks.clone()).enumerate() {
            self.builder().position_at_end(lowered);
            if index == 0 && self.is_kernel() {
                self.lowering.enter()?;
            }
            for inst in &block.insts {
                self.inst(inst)?;
            }
            self.end(&block.end)?;
        }
        std::mem::take(&mut self.panics).finish(self.lowering, self.hidden_params())
    }

    /// Returns true for the module's kernel, whose return ends the thread.
    fn is_kernel(&self) -> bool {
        self.functions.first() == Some(&self.function)
    }

    pub(super) fn builder(&self) -> &'a Builder<'ctx> {
        &self.lowering.builder
    }

    fn inst(&mut self, inst: &Inst) -> Result<()> {
        let yielded = match &inst.op {
            Op::Const(constant) => Some(self.constant(*constant)?),
            Op::Get(slot) => {
                let ty = self.lowering.register_type(self.kir.slots[slot.index()].ty);
                Some(self.builder().build_load(ty, self.stack.slots[slot.index()], "")?)
            }
            Op::Set(slot, value) => {
                self.builder().build_store(self.stack.slots[slot.index()], self.value(*value))?;
                None
            }
            Op::Offset(pointer, count) => Some(self.offset(*pointer, *count)?),
            Op::Field(pointer, offset, _) => Some(self.field(*pointer, *offset)),
            Op::Address(pointer) => {
                let pointer = self.value(*pointer).into_pointer_value();
                Some(self.builder().build_ptr_to_int(pointer, self.lowering.context.i64_type(), "")?.into())
            }
            Op::Retype(pointer, _) => Some(self.value(*pointer)),
            Op::Generic(pointer, _) => {
                let generic = self.lowering.context.ptr_type(AddressSpace::default());
                let pointer = self.value(*pointer).into_pointer_value();
                Some(self.builder().build_address_space_cast(pointer, generic, "")?.into())
            }
            Op::Load(pointer) => Some(self.load(*pointer)?),
            Op::Store(pointer, value) => {
                self.store(*pointer, *value)?;
                None
            }
            Op::LoadCached(hint, pointer) => self.load_cached(*hint, *pointer, 1)?.pop(),
            Op::StoreCached(hint, pointer, value) => {
                self.store_cached(*hint, *pointer, &[*value])?;
                None
            }
            Op::LoadCachedAll(hint, pointer, slots) => {
                for (slot, value) in slots.iter().zip(self.load_cached(*hint, *pointer, slots.len())?) {
                    self.builder().build_store(self.stack.slots[slot.index()], value)?;
                }
                None
            }
            Op::StoreCachedAll(hint, pointer, values) => {
                self.store_cached(*hint, *pointer, values)?;
                None
            }
            Op::Call(callee, arguments) => match (self.call(*callee, arguments)?, inst.result) {
                (Some(value), Some((_, ty))) => Some(self.lowering.to_register(value, ty)?),
                _ => None,
            },
            Op::Math(function, arguments) => self.math(*function, arguments)?,
            Op::Unary(op, a) => Some(self.unary(*op, *a)?),
            Op::Binary(op, a, b) => Some(self.binary(*op, *a, *b)?),
            Op::Fma(a, b, c) => Some(self.fma(*a, *b, *c)?),
            Op::Ternary(op, a, b, c) => Some(self.ternary(*op, [*a, *b, *c])?),
            Op::Overflows(op, a, b) => Some(self.overflows(*op, *a, *b)?),
            Op::Compare(op, a, b) => Some(self.compare(*op, *a, *b)?),
            Op::Select(condition, a, b) => Some(self.builder().build_select(
                self.value(*condition).into_int_value(),
                self.value(*a),
                self.value(*b),
                "",
            )?),
            Op::Cast(a, to) => Some(self.cast(*a, *to)?),
            Op::Bitcast(a, to) => Some(self.builder().build_bit_cast(self.value(*a), self.lowering.scalar(*to), "")?),
            Op::Pair(a, b) => Some(self.pair(self.value(*a), self.value(*b))?),
            Op::Lane(a, lane) => Some(self.lane(*a, *lane)?),
            Op::Narrow(float, a, b) => Some(self.narrow8(*float, *a, *b)?),
            Op::Widen(float, a) => Some(self.widen8(*float, *a)?),
            Op::Special(special) => Some(self.lowering.special(*special)?),
            Op::Shared(array) => Some(match &self.lowering.spilled {
                Some(spilled) => self.dynamic_shared(spilled.align, spilled.offsets[array.index()].into()),
                None => self.lowering.shared[array.index()].into(),
            }),
            Op::DynamicShared(offset, pointee) => {
                let start = self.lowering.spilled.as_ref().map_or(0, |spilled| spilled.bytes);
                let base = self.dynamic_shared(pointee.align(), start.into()).into_pointer_value();
                let byte = self.lowering.context.i8_type().into();
                Some(raw::element(self.builder(), byte, base, self.value(*offset).into_int_value()).into())
            }
            Op::Local(array) => Some(self.stack.arrays[array.index()].into()),
            Op::Constant(constant) => Some(self.lowering.constants[constant.index()].into()),
            Op::Line(place, scope) => {
                self.line(place, *scope);
                None
            }
            Op::Print(format, values) => {
                self.print(format, values)?;
                None
            }
            Op::Fence(_) | Op::AtomicLoad(..) | Op::AtomicStore(..) | Op::Atomic(..) | Op::CompareExchange(..) => {
                self.atomic_operation(&inst.op)?
            }
            Op::Barrier
            | Op::BarrierReduce(..)
            | Op::Shuffle(..)
            | Op::Vote(..)
            | Op::MatchAny(..)
            | Op::MatchAll(..)
            | Op::Reduce(..)
            | Op::SyncWarp(_)
            | Op::ActiveMask
            | Op::ClusterBarrier
            | Op::MapShared(..)
            | Op::GridBarrier
            | Op::Panicked
            | Op::Clock(_)
            | Op::Sleep(_)
            | Op::Breakpoint
            | Op::SetConditional(..) => self.synchronisation(&inst.op)?,
        };
        if let (Some(value), Some((_, ty))) = (yielded, inst.result) {
            self.values.push((value, ty));
            self.aligns.push(match inst.op {
                Op::Field(pointer, offset, _) => Pointee::align_at(self.aligns[pointer.index()], offset),
                _ => alignment(ty),
            });
        }
        Ok(())
    }

    /// The address `offset` bytes after the start of dynamic shared memory.
    fn dynamic_shared(&self, align: u32, offset: u64) -> BasicValueEnum<'ctx> {
        let (base, context) = (self.lowering.dynamic_shared(align), self.lowering.context);
        let offset = context.i64_type().const_int(offset, false);
        raw::element(self.builder(), context.i8_type().into(), base, offset).into()
    }

    /// Sets the debug location and scope of the following instructions.
    fn line(&self, location: &Location, scope: Option<SourceScopeId>) {
        if let (Some(debug), Some(described)) = (&self.lowering.debug, &self.described) {
            self.builder().set_current_debug_location(debug.location(location, scope, described));
        }
    }

    fn constant(&self, constant: Const) -> Result<BasicValueEnum<'ctx>> {
        let integer = match constant.ty.bits() {
            1 => self.lowering.context.bool_type(),
            8 => self.lowering.context.i8_type(),
            16 => self.lowering.context.i16_type(),
            32 => self.lowering.context.i32_type(),
            64 => self.lowering.context.i64_type(),
            _ => self.lowering.context.i128_type(),
        };
        let bits = integer.const_int_arbitrary_precision(&[constant.bits as u64, (constant.bits >> 64) as u64]);
        // built from its bits, because a C `double` would quiet a signalling NaN
        Ok(self.builder().build_bit_cast(bits, self.lowering.scalar(constant.ty), "")?)
    }

    fn offset(&self, pointer: Value, count: Value) -> Result<BasicValueEnum<'ctx>> {
        let Type::Ptr(_, pointee) = self.ty(pointer) else { return Err(self.unverified("offset")) };
        let element = self.lowering.pointee_type(pointee);
        let (pointer, count) = (self.value(pointer).into_pointer_value(), self.value(count).into_int_value());
        Ok(raw::element(self.builder(), element, pointer, count).into())
    }

    fn field(&self, pointer: Value, offset: u32) -> BasicValueEnum<'ctx> {
        let context = self.lowering.context;
        let offset = context.i64_type().const_int(offset.into(), false);
        let pointer = self.value(pointer).into_pointer_value();
        raw::element(self.builder(), context.i8_type().into(), pointer, offset).into()
    }

    fn load(&self, pointer: Value) -> Result<BasicValueEnum<'ctx>> {
        let scalar = self.pointee_scalar(pointer).ok_or_else(|| self.unverified("load"))?;
        let context = self.lowering.context;
        let memory = self.lowering.memory_type(scalar.into());
        let loaded = self.builder().build_load(memory, self.value(pointer).into_pointer_value(), "")?;
        let Some(inst) = loaded.as_instruction_value() else { return Err(self.unverified("load")) };
        inst.set_alignment(self.aligns[pointer.index()]).map_err(|error| EmitError::Llvm(error.to_string()))?;
        let loaded = match self.accesses.of_value(pointer) {
            Access::Read => {
                let kind = context.get_kind_id("invariant.load");
                inst.set_metadata(context.metadata_node(&[]), kind)
                    .map_err(|error| EmitError::Llvm(error.to_string()))?;
                loaded
            }
            // another thread may write it concurrently, which makes the value `undef` in LLVM
            Access::ReadWrite => raw::freeze(self.builder(), loaded),
        };
        self.lowering.to_register(loaded, scalar.into())
    }

    /// The number that a pointer points to.
    pub(super) fn pointee_scalar(&self, pointer: Value) -> Option<Scalar> {
        match self.ty(pointer) {
            Type::Ptr(_, pointee) => pointee.scalar(),
            Type::Scalar(_) => None,
        }
    }

    fn store(&self, pointer: Value, value: Value) -> Result<()> {
        let (stored, ty) = self.values[value.index()];
        let stored = self.lowering.to_memory(stored, ty)?;
        let inst = self.builder().build_store(self.value(pointer).into_pointer_value(), stored)?;
        inst.set_alignment(self.aligns[pointer.index()]).map_err(|error| EmitError::Llvm(error.to_string()))
    }

    fn call(&self, callee: FuncId, arguments: &[Value]) -> Result<Option<BasicValueEnum<'ctx>>> {
        let mut passed: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
        for argument in arguments {
            let (value, ty) = self.values[argument.index()];
            passed.push(self.lowering.to_memory(value, ty)?.into());
        }
        let (record, launch) = self.hidden_params();
        passed.extend([BasicMetadataValueEnum::from(record), launch.into()]);
        let callee = self.functions[callee.index()];
        let call = self.builder().build_call(callee, &passed, "")?;
        call.set_call_convention(callee.get_call_conventions());
        Ok(call.try_as_basic_value().basic())
    }

    fn end(&mut self, end: &Terminator) -> Result<()> {
        match end {
            Terminator::Jump(to) => {
                self.builder().build_unconditional_branch(self.blocks[to.index()])?;
            }
            Terminator::Branch(condition, then, other) => self.branch(*condition, *then, *other)?,
            Terminator::Return(None) => match self.kir.params.first() {
                Some(param) if param.role == Role::Returned => self.return_from_memory(param)?,
                _ => {
                    if self.is_kernel() {
                        self.lowering.leave()?;
                    }
                    self.builder().build_return(None)?;
                }
            },
            Terminator::Return(Some(value)) => {
                let (value, ty) = self.values[value.index()];
                let value = self.lowering.to_memory(value, ty)?;
                self.builder().build_return(Some(&value))?;
            }
            Terminator::Panic(site, arguments) => {
                let arguments = arguments.iter().map(|&value| self.value(value).into_int_value()).collect();
                let from = self.block()?;
                let target = self.panics.enter(self.lowering, self.function, from, *site, arguments);
                self.builder().build_unconditional_branch(target)?;
            }
        }
        Ok(())
    }

    fn branch(&self, condition: Value, then: BlockId, other: BlockId) -> Result<()> {
        let condition = self.value(condition).into_int_value();
        let (to_then, to_other) = (self.blocks[then.index()], self.blocks[other.index()]);
        let branch = self.builder().build_conditional_branch(condition, to_then, to_other)?;
        let panics = |block: BlockId| matches!(self.kir.blocks[block.index()].end, Terminator::Panic(..));
        let weights = match (panics(then), panics(other)) {
            (true, false) => [1, 1 << 20],
            (false, true) => [1 << 20, 1],
            _ => return Ok(()),
        };
        let context = self.lowering.context;
        let name = context.metadata_string("branch_weights").into();
        let weights = weights.map(|weight| context.i32_type().const_int(weight, false).into());
        let node = context.metadata_node(&[name, weights[0], weights[1]]);
        branch.set_metadata(node, context.get_kind_id("prof")).map_err(|error| EmitError::Llvm(error.to_string()))
    }

    /// The two parameters that every function has beyond KIR's: the panic record and the launch's tag. An exported
    /// module does not use them.
    pub(super) fn hidden_params(&self) -> (PointerValue<'ctx>, IntValue<'ctx>) {
        if self.lowering.exported {
            let context = self.lowering.context;
            return (context.ptr_type(AddressSpace::from(GLOBAL)).const_null(), context.i64_type().const_zero());
        }
        let count = self.kir.params.len() as u32;
        let param =
            |index| self.function.get_nth_param(index).expect("`declare` gives every function these parameters");
        (param(count).into_pointer_value(), param(count + 1).into_int_value())
    }

    /// The current block, which may differ from KIR's because some instructions are lowered to several blocks.
    pub(super) fn block(&self) -> Result<BasicBlock<'ctx>> {
        self.builder().get_insert_block().ok_or_else(|| self.unverified("block"))
    }

    pub(super) fn value(&self, value: Value) -> BasicValueEnum<'ctx> {
        self.values[value.index()].0
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.values[value.index()].1
    }

    /// An error that a verified module cannot cause.
    pub(super) fn unverified(&self, what: &str) -> EmitError {
        EmitError::Llvm(format!("`{}` holds an unverified {what}", self.kir.name))
    }
}
