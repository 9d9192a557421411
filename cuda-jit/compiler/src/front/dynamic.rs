//! `dynamic_shared!`: divides the launch's dynamic shared memory into consecutive slices.

use super::function::{Lowering, Result};
use super::types::Val;
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, Space, Special, Type, Value};
use crate::syntax::{Expr, Pos};
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{Memory, Ty};

impl Lowering<'_> {
    /// Lowers `dynamic_shared!([T; n], ..)`: each slice starts at the first suitably aligned byte after the previous
    /// one; one without a length takes the rest.
    pub(super) fn dynamic_shared(&mut self, at: Pos, parts: &'static [(u32, Option<&'static Expr>)]) -> Result<Val> {
        let mut lens = Vec::with_capacity(parts.len());
        for (_, len) in parts {
            lens.push(match len {
                Some(len) => Some(self.scalar(len, Scalar::U64)?),
                None => None,
            });
        }
        let total = self.build.value(Op::Special(Special::DynamicSharedBytes), Scalar::U32);
        let total = self.build.value(Op::Cast(total, Scalar::U64), Scalar::U64);
        let mut end = self.build.constant(Scalar::U64, 0);
        let (mut types, mut leaves) = (Vec::new(), Vec::new());
        for (&(number, _), len) in parts.iter().zip(lens) {
            let element = self.frame().info.named[number as usize].clone();
            let (start, len, next) = self.lay_out(at, &element, end, total, len);
            let pointee = element.pointee();
            leaves.push(self.build.value(Op::DynamicShared(start, pointee), Type::Ptr(Space::Shared, pointee)));
            leaves.push(len);
            types.push(Ty::Slice(Box::new(element), Memory::Write(Space::Shared)));
            end = next;
        }
        let ty = if let [_] = types[..] { types.remove(0) } else { Ty::Tuple(types) };
        Ok(Val { ty, leaves })
    }

    /// Lays out one slice after `end`: returns its start, its length and its end; checks it against the total.
    fn lay_out(
        &mut self,
        at: Pos,
        element: &Ty,
        end: Value,
        total: Value,
        len: Option<Value>,
    ) -> (Value, Value, Value) {
        let op = |lowering: &mut Self, op, a, b| lowering.build.value(Op::Binary(op, a, b), Scalar::U64);
        let (size, align) = (element.pointee().size(), element.pointee().align());
        // an element of an array type counts as its numbers
        let size = self.build.constant(Scalar::U64, (u64::from(size) * element.count()).max(1));
        let below = self.build.constant(Scalar::U64, u64::from(align) - 1);
        let mask = self.build.constant(Scalar::U64, !(u64::from(align) - 1));
        let start = op(self, BinaryOp::Add, end, below);
        let start = op(self, BinaryOp::And, start, mask);
        // `end` is at most the total, or checks are off, so that the sum above does not overflow
        let start = op(self, BinaryOp::Min, start, total);
        let left = op(self, BinaryOp::Sub, total, start);
        let room = op(self, BinaryOp::Div, left, size);
        let len = match len {
            None => room,
            Some(len) => {
                if self.scopes.checks_bounds() {
                    let fits = self.build.compare(CompareOp::Le, len, room);
                    let text = format!(
                        "`[{}; {{0}}]` does not fit into the launch's dynamic shared memory, of which {{1}} bytes are left",
                        ty_name(element)
                    );
                    self.check(at, fits, &text, &[len, left]);
                }
                len
            }
        };
        let bytes = op(self, BinaryOp::Mul, len, size);
        let next = op(self, BinaryOp::Add, start, bytes);
        (start, len, next)
    }
}
