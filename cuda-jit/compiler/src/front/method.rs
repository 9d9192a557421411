//! Method calls.

use super::Callee;
use super::function::{Lowering, Result};
use super::place::{Access, Place};
use super::types::Val;
use crate::syntax::{Expr, Pos};
use crate::typeinfo::{Intrinsic, Ty};

impl Lowering<'_> {
    /// Lowers `receiver.name(args)`.
    pub(super) fn method(
        &mut self,
        at: Pos,
        receiver: &'static Expr,
        args: &'static [Expr],
        number: u32,
        expected: Option<&Ty>,
    ) -> Result<Val> {
        let callees = self.frame().callees.clone();
        if let Callee::Function(instance, info) = &callees[number as usize] {
            let Some(first) = info.params.first() else {
                return Err(self.error(at, "a method has a receiver"));
            };
            let value = self.receiver_as(at, receiver, first)?;
            let mut passed = vec![self.argument_value(value, receiver, args.iter(), &info.params)];
            passed.extend(self.arguments(Some(receiver), args, &info.params)?);
            return self.call_function(at, instance, info, passed);
        }
        if let Callee::Operation(operation, typing) = &callees[number as usize] {
            return self.operate(at, *operation, typing, (Some(receiver), args));
        }
        if let Callee::Same(_)
        | Callee::VectorOfArray(_)
        | Callee::ArrayOfSlice(_)
        | Callee::Intrinsic(Intrinsic::Number(_) | Intrinsic::TryNumber(_), _) = &callees[number as usize]
        {
            return self.call(at, number, std::slice::from_ref(receiver));
        }
        if let Callee::ViewOp(op, _) = &callees[number as usize] {
            return self.view_op(at, *op, receiver, args);
        }
        if let &Callee::Intrinsic(intrinsic, _) = &callees[number as usize] {
            return self.group_method(at, intrinsic, receiver, args, expected);
        }
        Err(self.error(at, "the front end does not know this method; please report this"))
    }

    /// Lowers a receiver to the method's receiver type, dereferencing and borrowing as rustc did.
    pub(super) fn receiver_as(&mut self, at: Pos, receiver: &'static Expr, wanted: &Ty) -> Result<Val> {
        match wanted {
            Ty::Scalar(_) => self.operand(receiver, Some(wanted)),
            _ => {
                let mutable = matches!(wanted, Ty::Ref(_, memory) | Ty::Slice(_, memory) if memory.writable());
                let place = self.place_for(receiver, Access::of(mutable))?;
                if matches!(wanted, Ty::Ref(to, memory) if memory.writable() && place.ty().fits(to)) {
                    self.check_mutable(receiver, &place)?;
                }
                self.receiver(at, place, wanted)
            }
        }
    }

    fn receiver(&mut self, at: Pos, mut place: Place, wanted: &Ty) -> Result<Val> {
        loop {
            match wanted {
                Ty::Ref(to, memory) if place.ty().fits(to) => return Ok(self.reference(place, memory.writable())),
                wanted if place.ty().fits(wanted) => return Ok(self.build.read(&place)),
                Ty::Slice(..) if matches!(place.ty(), Ty::Array(..)) => {
                    let reference = self.reference(place, false);
                    return self.coerce(at, reference, wanted);
                }
                _ if matches!(place.ty(), Ty::Ref(..)) => {
                    let reference = self.build.read(&place);
                    place = self.pointee_place(reference);
                }
                _ => {
                    let value = self.build.read(&place);
                    return self.conform(at, value, wanted);
                }
            }
        }
    }
}
