//! Infers the access of each pointer of a function. Parameters and generic pointers declare theirs, derived pointers
//! inherit it, and a slot has the access of the pointers that are stored in it. The analysis is flow-insensitive: a
//! slot has one access in the whole function.
//!
//! It is total on functions whose values and slots are in range. A slot that never gets a pointer of known access
//! counts as [`Access::Read`]; only then is it certain that nothing is stored through it.

use crate::{Access, Function, Op, SlotId, Type, Value};

/// A value or slot that may hold a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// A value.
    Value(Value),
    /// A slot.
    Slot(SlotId),
}

/// The access of every pointer in a function; meaningless for other values.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Access, Module, Value, valid::Accesses};
///
/// let module: Module = "kir 1 kernel f(v0 out: ptr global u32 readwrite, v1 i: u64) { b0:
///     v2: ptr global u32 = offset v0, v1
///     return }".parse()?;
/// let accesses = Accesses::of(&module.functions[0]);
/// assert_eq!(accesses.of_value(Value(2)), Access::ReadWrite);
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Debug)]
pub struct Accesses {
    values: Vec<Option<Access>>,
    slots: Vec<Option<Access>>,
}

impl Accesses {
    /// Infers the accesses, by iterating over the function to a fixed point.
    pub fn of(function: &Function) -> Self {
        let params = function.params.iter().map(|param| match param.ty {
            Type::Ptr(..) => Some(param.access),
            Type::Scalar(_) => None,
        });
        let results = function.blocks.iter().flat_map(|block| &block.insts).filter(|inst| inst.result.is_some());
        let mut accesses =
            Self { values: params.chain(results.map(|_| None)).collect(), slots: vec![None; function.slots.len()] };
        while accesses.iterate(function) {}
        accesses
    }

    /// The access of the pointers in a value or slot, if it holds any.
    pub(super) fn at(&self, place: Holder) -> Option<Access> {
        match place {
            Holder::Value(value) => self.values[value.index()],
            Holder::Slot(slot) => self.slots[slot.index()],
        }
    }

    /// The access of a pointer.
    pub fn of_value(&self, value: Value) -> Access {
        self.at(Holder::Value(value)).unwrap_or(Access::Read)
    }

    /// Iterates once; returns true if anything changed.
    fn iterate(&mut self, function: &Function) -> bool {
        let mut changed = false;
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            let result = inst.result.map(|(value, _)| Holder::Value(value));
            let (from, to) = match (&inst.op, result) {
                (
                    Op::Shared(_) | Op::DynamicShared(..) | Op::MapShared(..) | Op::Local(_) | Op::GridBarrier,
                    Some(result),
                ) => (Some(Access::ReadWrite), result),
                (Op::Constant(_), Some(result)) => (Some(Access::Read), result),
                (Op::Offset(pointer, _) | Op::Field(pointer, ..) | Op::Retype(pointer, _), Some(result)) => {
                    (self.values[pointer.index()], result)
                }
                (Op::Generic(_, access), Some(result)) => (Some(*access), result),
                (Op::Select(_, a, b), Some(result)) => (self.values[a.index()].or(self.values[b.index()]), result),
                (Op::Get(slot), Some(result)) => (self.slots[slot.index()], result),
                (Op::Set(slot, value), _) => (self.values[value.index()], Holder::Slot(*slot)),
                _ => continue,
            };
            let known = match to {
                Holder::Value(value) => &mut self.values[value.index()],
                Holder::Slot(slot) => &mut self.slots[slot.index()],
            };
            if known.is_none() && from.is_some() {
                *known = from;
                changed = true;
            }
        }
        changed
    }
}
