//! Address guards: replaces `sim.address` and `sim.shared` by arithmetic that keeps accesses inside the devices' range.
//!
//! An address is decomposed into an affine sum. Terms that are known to be small stay as they are. The rest is compared
//! once with the range; if it is outside, or misaligned, it is replaced by an address in a guard area, around which
//! nothing is ever accessible ([`Guards`]). Kernels mostly add a small index to a uniform pointer. The comparison is
//! then loop-invariant and hoisted out of the thread loop, which stays affine and is still vectorised. There is no
//! branch, so an address that is never used may be invalid. Illegal accesses raise a processor fault; see
//! `exec::fault`.
//!
//! If there are several devices, the slot of an address is also looked up in the set of slots that the launch can
//! access.
//!
//! Registered host memory is outside the range, and its surroundings are not guarded: launches that may access it run
//! code that passes each complete address to `sim.mapped`.
//!
//! Invariant: an access at the result, or up to a mebibyte from it, is to the reserved range or to registered memory.
//!
//! # Safety
//!
//! The one foreign function returns a successor of a live branch, which is a basic block of the live module.

use super::abi;
use crate::memory::Guards;
use cuda_llvm::inkwell::IntPredicate;
use cuda_llvm::inkwell::attributes::AttributeLoc;
use cuda_llvm::inkwell::basic_block::BasicBlock;
use cuda_llvm::inkwell::builder::{Builder, BuilderError};
use cuda_llvm::inkwell::context::Context;
use cuda_llvm::inkwell::llvm_sys::core::LLVMGetSuccessor;
use cuda_llvm::inkwell::module::Module;
use cuda_llvm::inkwell::types::IntType;
use cuda_llvm::inkwell::values::{
    AnyValue, AnyValueEnum, AsValueRef, BasicMetadataValueEnum, BasicValue, BasicValueEnum, CallSiteValue,
    FunctionValue, InstructionOpcode, InstructionValue, IntValue, PhiValue,
};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// The largest offset that is added after a check.
const NEAR: u64 = 2 << 20;
/// The limit on the number of values that one query visits.
const FUEL: u32 = 64;

/// An affine sum: a constant plus multiples of values, modulo 2^64.
#[derive(Default)]
struct AffineSum<'ctx> {
    constant: i64,
    terms: Vec<(IntValue<'ctx>, i64)>,
}

/// The bounds of the checked part of an address, and the base that is added to it.
struct Limits<'ctx> {
    first: u64,
    bytes: u64,
    base: Option<IntValue<'ctx>>,
    /// The bound on the unchecked part.
    reach: u64,
    /// The shift that turns a checked offset into a slot number, and the bit set of the slots that the launch can
    /// access.
    slots: Option<(u32, IntValue<'ctx>)>,
}

struct Rewriter<'ctx> {
    builder: Builder<'ctx>,
    i64: IntType<'ctx>,
    range_kind: u32,
    guards: Guards,
    mapped: Option<FunctionValue<'ctx>>,
    /// The bit set of accessible slots, loaded in the entry block of each function.
    slots: RefCell<HashMap<FunctionValue<'ctx>, IntValue<'ctx>>>,
}

/// Replaces the calls in a module. With `registered`, every address is passed to the runtime.
///
/// # Errors
///
/// LLVM's message if an instruction cannot be built, which is a defect of this file.
pub(super) fn rewrite<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    guards: Guards,
    registered: bool,
) -> Result<(), String> {
    let i64 = context.i64_type();
    let mapped = registered.then(|| {
        let function = module.add_function("sim.mapped", i64.fn_type(&[i64.into(); 3], false), None);
        // The attributes of the calls that it replaces: during a launch the result depends on the arguments only.
        for name in ["nounwind", "willreturn", "speculatable", "memory"] {
            let kind = cuda_llvm::inkwell::attributes::Attribute::get_named_enum_kind_id(name);
            function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
        }
        function
    });
    let range_kind = context.get_kind_id("range");
    let this =
        Rewriter { builder: context.create_builder(), i64, range_kind, guards, mapped, slots: RefCell::default() };
    for (name, replace) in [("sim.address", Rewriter::address as fn(&_, _) -> _), ("sim.shared", Rewriter::shared)] {
        let Some(function) = module.get_function(name) else { continue };
        while let Some(used) = function.as_global_value().as_pointer_value().get_first_use() {
            let AnyValueEnum::IntValue(call) = used.get_user() else {
                return Err(format!("`{name}` is used other than by a call"));
            };
            let call = call.as_instruction().ok_or("a call is not an instruction")?;
            this.builder.position_before(&call);
            let result = replace(&this, call).map_err(|e: BuilderError| e.to_string())?;
            let old = IntValue::try_from(call).map_err(|()| "a call without a value")?;
            old.replace_all_uses_with(result);
            call.erase_from_basic_block();
        }
    }
    Ok(())
}

fn operand(inst: InstructionValue<'_>, index: u32) -> Option<IntValue<'_>> {
    match inst.get_operand(index)?.value()? {
        BasicValueEnum::IntValue(value) => Some(value),
        _ => None,
    }
}

fn operands(inst: InstructionValue<'_>) -> Option<(IntValue<'_>, IntValue<'_>)> {
    Some((operand(inst, 0)?, operand(inst, 1)?))
}

/// Returns a value's defining instruction and its opcode.
fn instruction(value: IntValue<'_>) -> Option<(InstructionOpcode, InstructionValue<'_>)> {
    value.as_instruction().map(|inst| (inst.get_opcode(), inst))
}

fn phi(inst: InstructionValue<'_>) -> Option<PhiValue<'_>> {
    PhiValue::try_from(inst).ok()
}

fn width(value: IntValue<'_>) -> u32 {
    value.get_type().get_bit_width()
}

/// Returns a constant shift amount for a 64-bit value.
fn distance(value: IntValue<'_>) -> Option<u32> {
    value.get_zero_extended_constant().and_then(|n| u32::try_from(n).ok()).filter(|n| *n < 64)
}

impl<'ctx> AffineSum<'ctx> {
    /// Adds `scale` times a value that is not taken apart.
    fn add_term(&mut self, value: IntValue<'ctx>, scale: i64) {
        match self.terms.iter_mut().find(|(known, _)| *known == value) {
            Some((_, known)) => *known = known.wrapping_add(scale),
            None => self.terms.push((value, scale)),
        }
        self.terms.retain(|(_, scale)| *scale != 0);
    }
}

/// Returns the number of trailing zero bits that a value is known to have; 64 for 0.
fn known_trailing_zeros(value: IntValue<'_>, fuel: &mut u32, seen: &mut HashSet<usize>) -> u32 {
    if let Some(constant) = value.get_sign_extended_constant() {
        return constant.trailing_zeros();
    }
    let Some((opcode, inst)) = instruction(value).filter(|_| *fuel > 0) else { return 0 };
    *fuel -= 1;
    let mut of = |index| operand(inst, index).map_or(0, |v| known_trailing_zeros(v, fuel, seen));
    match opcode {
        InstructionOpcode::Add | InstructionOpcode::Sub | InstructionOpcode::Or | InstructionOpcode::Xor => {
            of(0).min(of(1))
        }
        InstructionOpcode::And => of(0).max(of(1)),
        InstructionOpcode::Mul => (of(0) + of(1)).min(64),
        InstructionOpcode::Shl => (of(0) + operand(inst, 1).and_then(distance).unwrap_or(0)).min(64),
        InstructionOpcode::ZExt | InstructionOpcode::SExt | InstructionOpcode::Trunc => of(0),
        InstructionOpcode::Select => of(1).min(of(2)),
        // A cycle through the phi adds no information: its incoming values decide. If it is met on another path it
        // counts as usual.
        InstructionOpcode::Phi => {
            let id = inst.as_value_ref() as usize;
            if !seen.insert(id) {
                return 64;
            }
            let each = phi(inst).into_iter().flat_map(PhiValue::get_incomings).map(|(value, _)| match value {
                BasicValueEnum::IntValue(value) => known_trailing_zeros(value, fuel, seen),
                _ => 0,
            });
            let least = each.min().unwrap_or(0);
            seen.remove(&id);
            least
        }
        _ => 0,
    }
}

/// A phi that is counted up by a constant from one iteration of its loop to the next.
struct Induction<'ctx> {
    start: IntValue<'ctx>,
    /// The value of the next iteration.
    next: IntValue<'ctx>,
    step: i64,
    /// The block that jumps back to the phi's.
    latch: BasicBlock<'ctx>,
}

/// Returns the constant that is added to a phi to give a value.
fn counted_by(phi: InstructionValue<'_>, next: IntValue<'_>) -> Option<i64> {
    let (InstructionOpcode::Add, add) = instruction(next)? else { return None };
    let counted = operand(add, 0)?.as_instruction()? == phi;
    operand(add, 1)?.get_sign_extended_constant().filter(|_| counted)
}

/// Returns the parts of an induction variable.
fn induction(inst: InstructionValue<'_>) -> Option<Induction<'_>> {
    let phi = phi(inst).filter(|phi| phi.count_incoming() == 2)?;
    let incoming = |index| match phi.get_incoming(index)? {
        (BasicValueEnum::IntValue(value), block) => Some((value, block)),
        _ => None,
    };
    let (first, second) = (incoming(0)?, incoming(1)?);
    let ((start, _), (next, latch), step) = match counted_by(inst, second.0) {
        Some(step) => (first, second, step),
        None => (second, first, counted_by(inst, first.0)?),
    };
    Some(Induction { start, next, step, latch })
}

/// Returns the successor of a conditional branch for a true condition. Its operand index depends on LLVM's release.
fn true_successor(branch: InstructionValue<'_>) -> Option<BasicBlock<'_>> {
    let conditional = branch.get_opcode() == InstructionOpcode::Br && branch.get_num_operands() == 3;
    // SAFETY: the instruction is a live conditional branch, and the index of its first successor is valid for it.
    conditional.then(|| unsafe { LLVMGetSuccessor(branch.as_value_ref(), 0) }).and_then(|block| {
        // SAFETY: the pointer is a successor of a live branch, so it is a basic block of a live function.
        unsafe { BasicBlock::new(block) }
    })
}

impl<'ctx> Rewriter<'ctx> {
    /// Adds `scale` times a value to a sum.
    fn add(&self, sum: &mut AffineSum<'ctx>, value: IntValue<'ctx>, scale: i64, depth: u32) {
        if let Some(constant) = value.get_sign_extended_constant() {
            sum.constant = sum.constant.wrapping_add(constant.wrapping_mul(scale));
            return;
        }
        match self.parts(value, scale).filter(|_| depth < 12) {
            Some(parts) => parts.into_iter().for_each(|(part, scale)| self.add(sum, part, scale, depth + 1)),
            None => sum.add_term(value, scale),
        }
    }

    /// Returns values and their multiples that add up to `scale` times a value.
    fn parts(&self, value: IntValue<'ctx>, scale: i64) -> Option<Vec<(IntValue<'ctx>, i64)>> {
        let (opcode, inst) = instruction(value)?;
        if opcode == InstructionOpcode::Phi {
            return self.parts_of_induction(inst, scale);
        }
        let (a, b) = operands(inst)?;
        let constant = b.get_sign_extended_constant();
        Some(match opcode {
            InstructionOpcode::Add => vec![(a, scale), (b, scale)],
            InstructionOpcode::Or if inst.get_disjoint_flag() == Ok(true) => vec![(a, scale), (b, scale)],
            InstructionOpcode::Sub => vec![(a, scale), (b, scale.wrapping_neg())],
            InstructionOpcode::Mul => vec![(a, scale.wrapping_mul(constant?))],
            InstructionOpcode::Shl => vec![(a, scale.wrapping_shl(distance(b)?))],
            _ => return None,
        })
    }

    /// Returns the parts of an induction variable, mostly a pointer to an element, if another one of the loop counts by one to a
    /// known bound: its start, and the iterations that the other one has counted.
    fn parts_of_induction(&self, inst: InstructionValue<'ctx>, scale: i64) -> Option<Vec<(IntValue<'ctx>, i64)>> {
        let moved = induction(inst)?;
        let scale_of_counter = scale.wrapping_mul(moved.step);
        let phis = inst.get_parent()?.get_instructions().take_while(|inst| inst.get_opcode() == InstructionOpcode::Phi);
        for other in phis.filter(|other| *other != inst) {
            let Some(counted) = induction(other).filter(|other| other.step == 1 && other.latch == moved.latch) else {
                continue;
            };
            if width(counted.start) == 64 && self.induction_bound(other, &mut FUEL.clone()).is_some() {
                let counter = IntValue::try_from(other).ok()?;
                let back = scale_of_counter.wrapping_neg();
                return Some(vec![(moved.start, scale), (counter, scale_of_counter), (counted.start, back)]);
            }
        }
        None
    }

    /// Returns the largest value of an induction variable that starts below a known bound and is counted up to another one.
    fn induction_bound(&self, inst: InstructionValue<'ctx>, fuel: &mut u32) -> Option<u64> {
        let Induction { start, next, step, latch } = induction(inst)?;
        let by = u64::try_from(step).ok().filter(|by| (1..=1 << 20).contains(by))?;
        // The comparison bounds the counter only if it decides about the back edge.
        let end = latch.get_terminator()?;
        let condition = operand(end, 0)?.as_instruction()?;
        let back = true_successor(end)?;
        let compared = condition.get_icmp_predicate() == Some(IntPredicate::ULT)
            && [Some(next), inst.try_into().ok()].contains(&operand(condition, 0))
            && inst.get_parent() == Some(back);
        let limit = operand(condition, 1).filter(|_| compared)?;
        let most = self.upper_bound(start, fuel).max(self.upper_bound(limit, fuel));
        (most < 1 << 40).then(|| most + by)
    }

    /// Returns an upper bound of an unsigned value.
    fn upper_bound(&self, value: IntValue<'ctx>, fuel: &mut u32) -> u64 {
        let whole = if width(value) >= 64 { u64::MAX } else { (1 << width(value)) - 1 };
        if let Some(constant) = value.get_zero_extended_constant() {
            return constant;
        }
        let Some((opcode, inst)) = instruction(value).filter(|_| *fuel > 0) else { return whole };
        *fuel -= 1;
        let mut of = |index| operand(inst, index).map_or(u64::MAX, |v| self.upper_bound(v, fuel));
        let constant = |index| operand(inst, index).and_then(IntValue::get_zero_extended_constant);
        let found = match opcode {
            InstructionOpcode::And => Some(of(0).min(of(1))),
            InstructionOpcode::Or | InstructionOpcode::Xor => of(0).max(of(1)).checked_next_power_of_two(),
            InstructionOpcode::LShr => constant(1).filter(|n| *n < 64).map(|n| of(0) >> n),
            InstructionOpcode::URem => constant(1),
            InstructionOpcode::UDiv => constant(1).filter(|n| *n > 0).map(|n| of(0) / n),
            InstructionOpcode::ZExt | InstructionOpcode::Trunc => Some(of(0)),
            InstructionOpcode::Select => Some(of(1).max(of(2))),
            InstructionOpcode::Add => of(0).checked_add(of(1)),
            InstructionOpcode::Mul => of(0).checked_mul(of(1)),
            InstructionOpcode::Shl => constant(1).filter(|n| *n < 64).and_then(|n| of(0).checked_mul(1 << n)),
            InstructionOpcode::Phi => self.induction_bound(inst, fuel),
            InstructionOpcode::Call => self.extreme_bound(inst, fuel),
            InstructionOpcode::Load => self.range(inst),
            _ => None,
        };
        // A value that may exceed the width wraps.
        found.filter(|most| *most <= whole).unwrap_or(whole)
    }

    /// Returns an upper bound of the smaller or the larger of two values.
    fn extreme_bound(&self, call: InstructionValue<'ctx>, fuel: &mut u32) -> Option<u64> {
        let callee = CallSiteValue::try_from(call).ok()?.get_called_fn_value()?;
        let (a, b) = (self.upper_bound(operand(call, 0)?, fuel), self.upper_bound(operand(call, 1)?, fuel));
        match callee.get_name().to_bytes() {
            name if name.starts_with(b"llvm.umin.") => Some(a.min(b)),
            name if name.starts_with(b"llvm.umax.") => Some(a.max(b)),
            _ => None,
        }
    }

    /// Returns the largest value according to a load's `range` metadata.
    fn range(&self, inst: InstructionValue<'ctx>) -> Option<u64> {
        let values = inst.get_metadata(self.range_kind)?.get_node_values()?;
        let [_, BasicMetadataValueEnum::IntValue(end)] = values.as_slice() else { return None };
        end.get_zero_extended_constant()?.checked_sub(1)
    }

    /// Returns an upper bound of the magnitude of a signed 64-bit value.
    fn magnitude_bound(&self, value: IntValue<'ctx>) -> Option<u64> {
        let fuel = &mut FUEL.clone();
        if let Some((InstructionOpcode::SExt, inst)) = instruction(value) {
            let inner = operand(inst, 0)?;
            let half = 1 << (width(inner) - 1);
            return Some(self.upper_bound(inner, fuel)).map(|most| if most < half { most } else { half });
        }
        Some(self.upper_bound(value, fuel)).filter(|most| *most < 1 << 62)
    }

    /// Divides a sum into a part that has to be checked and a part that is known to be small and aligned.
    fn split_checked(&self, sum: AffineSum<'ctx>, aligned: u32, reach: u64) -> (AffineSum<'ctx>, AffineSum<'ctx>) {
        let (mut checked, mut free) = (AffineSum::default(), AffineSum::default());
        let mut left = reach.saturating_sub(NEAR);
        let constant = sum.constant.unsigned_abs();
        if constant <= left / 2 && sum.constant.trailing_zeros() >= aligned {
            free.constant = sum.constant;
            left -= constant;
        } else {
            checked.constant = sum.constant;
        }
        let amount =
            |(value, scale): &(IntValue<'ctx>, i64)| self.magnitude_bound(*value)?.checked_mul(scale.unsigned_abs());
        let mut terms: Vec<_> = sum.terms.into_iter().map(|term| (amount(&term).unwrap_or(u64::MAX), term)).collect();
        terms.sort_by_key(|(amount, _)| *amount);
        for (amount, (value, scale)) in terms {
            let small = amount <= left && known_alignment(value, scale) >= aligned;
            if small {
                left -= amount;
            }
            if small { &mut free } else { &mut checked }.terms.push((value, scale));
        }
        (checked, free)
    }

    fn constant(&self, value: i64) -> IntValue<'ctx> {
        self.i64.const_int(value.cast_unsigned(), true)
    }

    /// Builds a sum, added to `start` if there is one.
    fn build(&self, start: Option<IntValue<'ctx>>, sum: &AffineSum<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let mut total = start;
        for (value, scale) in &sum.terms {
            let term = match scale {
                1 => *value,
                scale if scale.count_ones() == 1 => {
                    let by = self.constant(i64::from(scale.trailing_zeros()));
                    self.builder.build_left_shift(*value, by, "")?
                }
                scale => self.builder.build_int_mul(*value, self.constant(*scale), "")?,
            };
            total = Some(match total {
                Some(total) => self.builder.build_int_add(total, term, "")?,
                None => term,
            });
        }
        match total {
            Some(total) if sum.constant == 0 => Ok(total),
            Some(total) => self.builder.build_int_add(total, self.constant(sum.constant), ""),
            None => Ok(self.constant(sum.constant)),
        }
    }

    fn select(&self, condition: IntValue<'ctx>, yes: IntValue<'ctx>, no: u64) -> Result<IntValue<'ctx>, BuilderError> {
        let no = self.constant(no.cast_signed());
        self.builder.build_select(condition, yes, no, "").map(BasicValueEnum::into_int_value)
    }

    /// Builds the sum, or an address in a guard area if it is out of bounds or misaligned.
    fn check(&self, sum: AffineSum<'ctx>, limits: &Limits<'ctx>, bytes: u64) -> Result<IntValue<'ctx>, BuilderError> {
        let aligned = bytes.trailing_zeros();
        let (checked, free) = self.split_checked(sum, aligned, limits.reach);
        if checked.terms.is_empty() && checked.constant == 0 && limits.base.is_some() {
            return self.build(limits.base, &free);
        }
        let value = self.build(None, &checked)?;
        let from = self.builder.build_int_sub(value, self.constant(limits.first.cast_signed()), "")?;
        let size = self.constant(limits.bytes.cast_signed());
        let mut inside = self.builder.build_int_compare(IntPredicate::ULT, from, size, "")?;
        if let Some((shift, slots)) = limits.slots {
            let slot = self.builder.build_right_shift(from, self.constant(shift.into()), false, "")?;
            // There are no more slots than bits; a number that is truncated here has failed the comparison.
            let slot = self.builder.build_and(slot, self.constant(63), "")?;
            let reached = self.builder.build_right_shift(slots, slot, false, "")?;
            let reached = self.builder.build_int_truncate(reached, self.i64.get_context().bool_type(), "")?;
            inside = self.builder.build_and(inside, reached, "")?;
        }
        let address = match limits.base {
            Some(base) => self.builder.build_int_add(base, value, "")?,
            None => value,
        };
        let mut address = self.select(inside, address, self.guards.outside)?;
        let known = checked.terms.iter().all(|(value, scale)| known_alignment(*value, *scale) >= aligned);
        if !known || checked.constant.trailing_zeros() < aligned {
            let rest = self.builder.build_and(value, self.constant(bytes as i64 - 1), "")?;
            let even = self.builder.build_int_compare(IntPredicate::EQ, rest, self.constant(0), "")?;
            address = self.select(even, address, self.guards.misaligned)?;
        }
        self.build(Some(address), &free)
    }

    fn affine_operand(&self, call: InstructionValue<'ctx>, at: u32) -> (AffineSum<'ctx>, u64) {
        let mut sum = AffineSum::default();
        if let Some(address) = operand(call, at) {
            self.add(&mut sum, address, 1, 0);
        }
        (sum, operand(call, at + 1).and_then(IntValue::get_zero_extended_constant).unwrap_or(1))
    }

    /// Returns the bit set of accessible slots in the function of an instruction, whose first parameter is the context.
    fn slots(&self, at: InstructionValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let function = at.get_parent().and_then(BasicBlock::get_parent).ok_or(BuilderError::UnsetPosition)?;
        if let Some(known) = self.slots.borrow().get(&function) {
            return Ok(*known);
        }
        let start = function.get_first_basic_block().and_then(BasicBlock::get_first_instruction);
        let start = start.ok_or(BuilderError::UnsetPosition)?;
        let context = function.get_first_param().ok_or(BuilderError::UnsetPosition)?.into_pointer_value();
        self.builder.position_before(&start);
        let offset = self.i64.const_int(abi::SLOTS as u64, false);
        let address = self.builder.build_ptr_to_int(context, self.i64, "")?;
        let address = self.builder.build_int_add(address, offset, "")?;
        let pointer = self.builder.build_int_to_ptr(address, context.get_type(), "")?;
        let slots = self.builder.build_load(self.i64, pointer, "")?.into_int_value();
        self.builder.position_before(&at);
        self.slots.borrow_mut().insert(function, slots);
        Ok(slots)
    }

    /// `sim.address(address, bytes)`
    fn address(&self, call: InstructionValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let Guards { first, bytes: size, reach, slot, .. } = self.guards;
        let slots = slot.map(|shift| self.slots(call).map(|slots| (shift, slots))).transpose()?;
        if let (Some(mapped), Some((address, bytes))) = (self.mapped, operands(call)) {
            let slots = slots.map_or_else(|| self.constant(-1), |(_, slots)| slots);
            let result = self.builder.build_call(mapped, &[address.into(), bytes.into(), slots.into()], "")?;
            return Ok(result.as_any_value_enum().into_int_value());
        }
        let (sum, bytes) = self.affine_operand(call, 0);
        self.check(sum, &Limits { first, bytes: size, base: None, reach, slots }, bytes)
    }

    /// `sim.shared(window, offset, bytes)`
    fn shared(&self, call: InstructionValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let (sum, bytes) = self.affine_operand(call, 1);
        let reach = self.guards.shared;
        let limits =
            Limits { first: reach.wrapping_neg(), bytes: 2 * reach, base: operand(call, 0), reach, slots: None };
        self.check(sum, &limits, bytes)
    }
}

/// Returns the number of trailing zero bits that a multiple of a value is known to have.
fn known_alignment(value: IntValue<'_>, scale: i64) -> u32 {
    scale.trailing_zeros() + known_trailing_zeros(value, &mut FUEL.clone(), &mut HashSet::new())
}
