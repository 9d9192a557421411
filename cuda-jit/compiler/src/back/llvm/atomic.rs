//! Lowers atomic operations and fences, with their orderings and scopes.
//!
//! LLVM's NVPTX back end prints the ordering and scope of loads, stores, compare-and-exchanges and fences, and ignores
//! those of `atomicrmw`, which it prints as relaxed at device scope. Any other `atomicrmw` is inline PTX, and so is the
//! exchange of 16 bits, for which LLVM exchanges 32. Devices before compute capability 7.0 have no orderings; there a
//! `membar` stands before and after a relaxed operation. A sequentially consistent operation follows a `fence.sc`.
//!
//! Local memory is private to the thread, so atomic operations on it are plain ones (`local_atomic.rs`). A generic
//! address is tested for local memory at run time, since the device's atomic instructions do not support it.

use cuda_llvm::inkwell;
use inkwell::AddressSpace;
use inkwell::types::{BasicMetadataTypeEnum, BasicType};
use inkwell::values::{BasicMetadataValueEnum, BasicValue, BasicValueEnum, PointerValue};

use super::EmitError;
use super::function::{Body, Result};
use super::raw::{self, Rmw};
use super::stack::LOCAL;
use crate::kir::{AtomicOp, Op, Order, Ordering, Scalar, Scope, Space, Type, Value};

/// The memory location of an atomic operation: a number and its address.
#[derive(Clone, Copy)]
pub(super) struct Number<'ctx> {
    pub(super) pointer: PointerValue<'ctx>,
    space: Space,
    pub(super) scalar: Scalar,
}

impl<'ctx> Body<'ctx, '_> {
    /// Lowers an atomic operation or fence; returns its result, if it has one.
    pub(super) fn atomic_operation(&self, op: &Op) -> Result<Option<BasicValueEnum<'ctx>>> {
        let pointer = match *op {
            Op::Fence(order) => return self.fence(order).map(|()| None),
            Op::AtomicLoad(_, pointer)
            | Op::AtomicStore(_, pointer, _)
            | Op::Atomic(_, _, pointer, _)
            | Op::CompareExchange(_, pointer, ..) => pointer,
            _ => return Err(self.unverified("atomic operation")),
        };
        let number = self.number_at(pointer)?;
        match number.space {
            Space::Generic => self.generic_operation(op, number),
            Space::Local => self.non_atomic(number, op),
            _ => self.device_operation(number, op),
        }
    }

    /// Lowers an operation through a generic pointer, which may point to local memory at run time.
    fn generic_operation(&self, op: &Op, number: Number<'ctx>) -> Result<Option<BasicValueEnum<'ctx>>> {
        let (context, builder) = (self.lowering.context, self.builder());
        let is_local = self.lowering.intrinsic("llvm.nvvm.isspacep.local", &[], &[number.pointer.into()])?;
        let [own, others, exit] = [(); 3].map(|()| context.append_basic_block(self.function, ""));
        builder.build_conditional_branch(is_local.into_int_value(), own, others)?;
        let mut yielded = Vec::new();
        let local = context.ptr_type(AddressSpace::from(LOCAL));
        for begin in [own, others] {
            builder.position_at_end(begin);
            let value = if begin == own {
                let pointer = builder.build_address_space_cast(number.pointer, local, "")?;
                self.non_atomic(Number { pointer, ..number }, op)?
            } else {
                self.device_operation(number, op)?
            };
            if let Some(value) = value {
                yielded.push((value, self.block()?));
            }
            builder.build_unconditional_branch(exit)?;
        }
        builder.position_at_end(exit);
        let [(own, own_end), (others, others_end)] = &yielded[..] else { return Ok(None) };
        let phi = builder.build_phi(own.get_type(), "")?;
        phi.add_incoming(&[(own, *own_end), (others, *others_end)]);
        Ok(Some(phi.as_basic_value()))
    }

    /// Lowers an operation on memory that other threads can access.
    fn device_operation(&self, number: Number<'ctx>, op: &Op) -> Result<Option<BasicValueEnum<'ctx>>> {
        match *op {
            Op::AtomicLoad(order, _) => self.fenced(order, |order| {
                let memory = self.lowering.scalar(bits(number.scalar));
                let loaded = self.builder().build_load(memory, number.pointer, "")?;
                self.make_atomic(loaded.as_instruction_value(), number, order)?;
                Ok(Some(self.builder().build_bit_cast(loaded, self.lowering.scalar(number.scalar), "")?))
            }),
            Op::AtomicStore(order, _, value) => self.fenced(order, |order| {
                let stored = self.lowering.scalar(bits(number.scalar));
                let stored = self.builder().build_bit_cast(self.value(value), stored, "")?;
                let inst = self.builder().build_store(number.pointer, stored)?;
                self.make_atomic(Some(inst), number, order)?;
                Ok(None)
            }),
            Op::Atomic(op, order, _, value) => {
                self.fenced(order, |order| self.change(op, order, number, value).map(Some))
            }
            Op::CompareExchange(order, _, old, new) => {
                self.fenced(order, |order| self.compare_exchange(order, number, [old, new]).map(Some))
            }
            _ => Err(self.unverified("atomic operation")),
        }
    }

    /// Returns true if the device's instructions have orderings.
    fn has_orderings(&self) -> bool {
        self.lowering.capability >= (7, 0).into()
    }

    /// Emits an operation with its ordering; on devices without orderings, a relaxed one between fences.
    fn fenced<T>(&self, order: Order, operation: impl FnOnce(Order) -> Result<T>) -> Result<T> {
        if self.has_orderings() {
            return operation(order);
        }
        if order.ordering.releases() {
            self.membar(order.scope)?;
        }
        let result = operation(Order { ordering: Ordering::Relaxed, ..order })?;
        if order.ordering.acquires() {
            self.membar(order.scope)?;
        }
        Ok(result)
    }

    fn fence(&self, order: Order) -> Result<()> {
        match order.ordering {
            Ordering::Relaxed => {}
            Ordering::SeqCst => self.membar(order.scope)?,
            _ if !self.has_orderings() => self.membar(order.scope)?,
            _ => raw::fence(self.lowering.context, self.builder(), order),
        }
        Ok(())
    }

    /// Emits a sequentially consistent fence.
    fn membar(&self, scope: Scope) -> Result<()> {
        let name = match scope {
            // `membar` has no cluster scope; devices with clusters have `fence.sc`
            Scope::Cluster => {
                raw::fence(self.lowering.context, self.builder(), Order { ordering: Ordering::SeqCst, scope });
                return Ok(());
            }
            Scope::Block => "cta",
            Scope::Device => "gl",
            Scope::System => "sys",
        };
        self.lowering.call_intrinsic(&format!("llvm.nvvm.membar.{name}"), &[], &[]).map(|_| ())
    }

    fn number_at(&self, pointer: Value) -> Result<Number<'ctx>> {
        match (self.ty(pointer), self.pointee_scalar(pointer)) {
            (Type::Ptr(space, _), Some(scalar)) => {
                Ok(Number { pointer: self.value(pointer).into_pointer_value(), space, scalar })
            }
            _ => Err(self.unverified("atomic operation")),
        }
    }

    fn make_atomic(
        &self,
        access: Option<inkwell::values::InstructionValue<'ctx>>,
        number: Number<'ctx>,
        order: Order,
    ) -> Result<()> {
        let access = access.ok_or_else(|| self.unverified("atomic operation"))?;
        access.set_alignment(number.scalar.bytes()).map_err(|error| EmitError::Llvm(error.to_string()))?;
        raw::set_order(self.lowering.context, access, order);
        Ok(())
    }

    fn compare_exchange(&self, order: Order, number: Number<'ctx>, values: [Value; 2]) -> Result<BasicValueEnum<'ctx>> {
        let scalar = number.scalar;
        let (own, integer) = (self.lowering.scalar(scalar), self.lowering.scalar(bits(scalar)));
        let [old, new] = values.map(|value| self.builder().build_bit_cast(self.value(value), integer, ""));
        let (old, new) = (old?, new?);
        // LLVM would exchange the word that contains it
        if scalar.bits() == 16 && self.has_orderings() {
            if order.ordering == Ordering::SeqCst {
                self.membar(order.scope)?;
            }
            let found = self.atom("cas.b16", order, number, Scalar::U16, &[old, new])?;
            return Ok(self.builder().build_bit_cast(found, own, "")?);
        }
        let operands = [old.into_int_value(), new.into_int_value()];
        let pair = raw::compare_exchange(self.lowering.context, self.builder(), order, number.pointer, operands);
        let found = self.builder().build_extract_value(pair, 0, "")?;
        Ok(self.builder().build_bit_cast(found, own, "")?)
    }

    /// Emits a read-modify-write operation.
    fn change(&self, op: AtomicOp, order: Order, number: Number<'ctx>, value: Value) -> Result<BasicValueEnum<'ctx>> {
        let scalar = number.scalar;
        if scalar.is_half() {
            return self.add_half(order, number, value);
        }
        // Before compute capability 6.0 there are no scopes: every operation has system scope.
        let scoped = order.scope != Scope::Device && self.lowering.capability >= (6, 0).into();
        if order.ordering == Ordering::Relaxed && !scoped {
            let (pointer, value) = (number.pointer, self.value(value));
            return Ok(raw::atomic(self.lowering.context, self.builder(), rmw(op, scalar), pointer, value));
        }
        if order.ordering == Ordering::SeqCst {
            self.membar(order.scope)?;
        }
        self.change_in_order(op, order, number, value)
    }

    /// Adds floats of 16 bits: with an instruction if there is one, else with LLVM's compare-and-exchange loop between
    /// fences.
    fn add_half(&self, order: Order, number: Number<'ctx>, value: Value) -> Result<BasicValueEnum<'ctx>> {
        let scalar = number.scalar;
        let (oldest, end) = if scalar == Scalar::F16 { ((7, 0), "add.noftz.f16") } else { ((9, 0), "add.noftz.bf16") };
        let known = self.lowering.capability >= oldest.into();
        let fenced = self.has_orderings();
        if fenced && (order.ordering == Ordering::SeqCst || !known && order.ordering.releases()) {
            self.membar(order.scope)?;
        }
        if known {
            let operand = self.builder().build_bit_cast(self.value(value), self.lowering.scalar(Scalar::U16), "")?;
            let old = self.atom(end, order, number, Scalar::U16, &[operand])?;
            return Ok(self.builder().build_bit_cast(old, self.lowering.scalar(scalar), "")?);
        }
        let (at, value) = (number.pointer, self.value(value));
        let old = raw::atomic(self.lowering.context, self.builder(), rmw(AtomicOp::Add, scalar), at, value);
        if fenced && order.ordering.acquires() {
            self.membar(order.scope)?;
        }
        Ok(old)
    }

    /// As [`change`](Self::change), by inline PTX with ordering and scope.
    fn change_in_order(
        &self,
        op: AtomicOp,
        order: Order,
        number: Number<'ctx>,
        value: Value,
    ) -> Result<BasicValueEnum<'ctx>> {
        let scalar = number.scalar;
        let (name, ty) = instruction(op, scalar);
        // operations that only move a float take its bits
        let in_asm = if ty.starts_with('b') { bits(scalar) } else { scalar };
        let mut operand = self.builder().build_bit_cast(self.value(value), self.lowering.scalar(in_asm), "")?;
        if op == AtomicOp::Sub {
            operand = self.builder().build_int_neg(operand.into_int_value(), "")?.into();
        }
        let old = self.atom(&format!("{name}.{ty}"), order, number, in_asm, &[operand])?;
        Ok(self.builder().build_bit_cast(old, self.lowering.scalar(scalar), "")?)
    }

    /// Emits PTX's `atom` with a suffix, on operands of one type.
    fn atom(
        &self,
        end: &str,
        order: Order,
        number: Number<'ctx>,
        ty: Scalar,
        operands: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>> {
        let ordering = match order.ordering {
            _ if !self.has_orderings() => "",
            Ordering::Relaxed => ".relaxed",
            Ordering::Acquire => ".acquire",
            Ordering::Release => ".release",
            Ordering::AcqRel | Ordering::SeqCst => ".acq_rel",
        };
        let scope = match order.scope {
            Scope::Block => ".cta",
            Scope::Cluster => ".cluster",
            Scope::Device => ".gpu",
            Scope::System => ".sys",
        };
        let space = match number.space {
            Space::Global => ".global",
            Space::Shared => ".shared",
            _ => "",
        };
        let letter = match ty {
            Scalar::F32 => 'f',
            Scalar::F64 => 'd',
            other if other.bits() == 64 => 'l',
            other if other.bits() == 16 => 'h',
            _ => 'r',
        };
        let mut text = format!("atom{ordering}{scope}{space}.{end} $0, [$1]");
        let mut constraints = format!("={letter},l");
        let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> = vec![number.pointer.into()];
        let mut params: Vec<BasicMetadataTypeEnum<'ctx>> = vec![number.pointer.get_type().into()];
        let ty = self.lowering.scalar(ty);
        for (index, &operand) in operands.iter().enumerate() {
            text.push_str(&format!(", ${}", index + 2));
            constraints.push_str(&format!(",{letter}"));
            arguments.push(operand.into());
            params.push(ty.into());
        }
        let ty = ty.fn_type(&params, false);
        let (text, constraints) = (format!("{text};"), format!("{constraints},~{{memory}}"));
        let inst = self.lowering.context.create_inline_asm(ty, text, constraints, true, false, None, false);
        let call = self.builder().build_indirect_call(ty, inst, &arguments, "")?;
        call.try_as_basic_value().basic().ok_or_else(|| self.unverified("atomic operation"))
    }
}

/// LLVM's `atomicrmw` operation.
fn rmw(op: AtomicOp, scalar: Scalar) -> Rmw {
    match op {
        AtomicOp::Add if scalar.is_float() => Rmw::LLVMAtomicRMWBinOpFAdd,
        AtomicOp::Add => Rmw::LLVMAtomicRMWBinOpAdd,
        AtomicOp::Sub => Rmw::LLVMAtomicRMWBinOpSub,
        AtomicOp::Min if scalar.is_signed() => Rmw::LLVMAtomicRMWBinOpMin,
        AtomicOp::Min => Rmw::LLVMAtomicRMWBinOpUMin,
        AtomicOp::Max if scalar.is_signed() => Rmw::LLVMAtomicRMWBinOpMax,
        AtomicOp::Max => Rmw::LLVMAtomicRMWBinOpUMax,
        AtomicOp::And => Rmw::LLVMAtomicRMWBinOpAnd,
        AtomicOp::Or => Rmw::LLVMAtomicRMWBinOpOr,
        AtomicOp::Xor => Rmw::LLVMAtomicRMWBinOpXor,
        AtomicOp::Exchange => Rmw::LLVMAtomicRMWBinOpXchg,
        AtomicOp::Inc => Rmw::LLVMAtomicRMWBinOpUIncWrap,
        AtomicOp::Dec => Rmw::LLVMAtomicRMWBinOpUDecWrap,
    }
}

/// PTX's operation and type suffix. PTX has no `sub`: the negated operand is added.
fn instruction(op: AtomicOp, scalar: Scalar) -> (&'static str, &'static str) {
    let wide = scalar.bits() == 64;
    let untyped = if wide { "b64" } else { "b32" };
    let unsigned = if wide { "u64" } else { "u32" };
    let ordered = match (scalar.is_signed(), wide) {
        (true, true) => "s64",
        (true, false) => "s32",
        (false, _) => unsigned,
    };
    match op {
        AtomicOp::Add if scalar == Scalar::F32 => ("add", "f32"),
        AtomicOp::Add if scalar == Scalar::F64 => ("add", "f64"),
        AtomicOp::Add | AtomicOp::Sub => ("add", unsigned),
        AtomicOp::Min => ("min", ordered),
        AtomicOp::Max => ("max", ordered),
        AtomicOp::And => ("and", untyped),
        AtomicOp::Or => ("or", untyped),
        AtomicOp::Xor => ("xor", untyped),
        AtomicOp::Exchange => ("exch", untyped),
        AtomicOp::Inc => ("inc", "u32"),
        AtomicOp::Dec => ("dec", "u32"),
    }
}

/// The unsigned integer of a number's width.
pub(super) fn bits(scalar: Scalar) -> Scalar {
    match scalar.bits() {
        64 => Scalar::U64,
        16 => Scalar::U16,
        8 => Scalar::U8,
        _ => Scalar::U32,
    }
}
