//! Atomic operations: instructions, or compare-and-exchange loops.

use super::builder::Builder;
use super::function::{Lowering, Result};
use super::types::Val;
use crate::kir::{AtomicOp, Op, Order, Ordering, Scalar, UnaryOp, Value};
use crate::libcalls;
use crate::syntax::{Expr, Pos};
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{Intrinsic, Ty};

impl Lowering<'_> {
    /// Lowers an atomic operation on a number of a type. The intrinsic carries scope and ordering; their arguments are
    /// zero-sized.
    pub(super) fn atomic(
        &mut self,
        at: Pos,
        intrinsic: Intrinsic,
        scalar: Scalar,
        args: &'static [Expr],
    ) -> Result<Val> {
        let place = self.expr(&args[0], None)?;
        let Ty::Ref(..) = place.ty else {
            let text = format!("a value of type `{}` is no reference to a number", ty_name(&place.ty));
            return Err(self.error(at, text));
        };
        if let Some((instance, order)) = libcalls::emulated(intrinsic, scalar) {
            let value = self.scalar(&args[1], scalar)?;
            self.build.fence(order, order.ordering.releases());
            let old = self.call_instance(at, &instance, vec![place, Val::scalar(scalar, value)])?;
            self.build.fence(order, order.ordering.acquires());
            return Ok(old);
        }
        let pointer = self.address(at, place)?;
        let op = match intrinsic {
            Intrinsic::AtomicLoad(order) => Op::AtomicLoad(order, pointer),
            Intrinsic::AtomicStore(order) => {
                let value = self.scalar(&args[1], scalar)?;
                self.build.effect(Op::AtomicStore(order, pointer, value));
                return Ok(Val::unit());
            }
            Intrinsic::CompareExchange(order) => {
                let old = self.scalar(&args[1], scalar)?;
                Op::CompareExchange(order, pointer, old, self.scalar(&args[2], scalar)?)
            }
            Intrinsic::Atomic(op, order) | Intrinsic::AtomicNotNan(op, order) => {
                let value = self.scalar(&args[1], scalar)?;
                self.build.change(op, order, pointer, value, scalar)
            }
            _ => return Err(self.error(at, "the front end does not know this function; please report this")),
        };
        Ok(Val::scalar(scalar, self.build.value(op, scalar)))
    }
}

impl Builder {
    /// Returns the read-modify-write operation. A float is subtracted by adding its negation.
    fn change(&mut self, op: AtomicOp, order: Order, pointer: Value, value: Value, scalar: Scalar) -> Op {
        if op == AtomicOp::Sub && scalar.is_float() {
            let negative = self.unary_value(UnaryOp::Neg, value, scalar);
            return Op::Atomic(AtomicOp::Add, order, pointer, negative);
        }
        Op::Atomic(op, order, pointer, value)
    }

    /// Emits the fence that gives a relaxed library function its memory ordering.
    fn fence(&mut self, Order { ordering, scope }: Order, needed: bool) {
        if needed {
            let ordering = if ordering == Ordering::SeqCst { ordering } else { Ordering::AcqRel };
            self.effect(Op::Fence(Order { ordering, scope }));
        }
    }
}
