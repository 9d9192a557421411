//! Calls of device functions, of closures, which are inlined, and of what the hardware knows.

use super::Callee;
use super::function::{Inlined, Lowering, Result};
use super::types::{Val, intrinsic_type};
use crate::harvest::{Intrinsic, Ty};
use crate::kir::{Axis, BinaryOp, Op, Scalar, Special, Type, Value};
use crate::syntax::{Expr, Pattern, Pos};

const AXES: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

impl Lowering<'_> {
    /// `callee(args)`
    pub(super) fn call(&mut self, at: Pos, number: u32, args: &'static [Expr]) -> Result<Val> {
        let (instance, params, result) = match self.callees[number as usize].clone() {
            Callee::Intrinsic(intrinsic, scalar) => return self.intrinsic(at, intrinsic, scalar, args),
            Callee::Function(instance, params, result) => (instance, params, result),
        };
        let mut leaves = Vec::new();
        let mut memory = Vec::with_capacity(args.len());
        for (arg, ty) in args.iter().zip(&params) {
            let value = self.expr(arg, Some(ty))?;
            let value = self.unsize(value, ty);
            let value = self.expect(at, value, ty)?;
            memory.push(value.ty.memory());
            leaves.extend(value.leaves);
        }
        let id = self.program.function(&instance, memory);
        match &result {
            Ty::Scalar(scalar) => {
                let value = self.build.value(Op::Call(id, leaves), Type::Scalar(*scalar));
                Ok(Val::scalar(*scalar, value))
            }
            _ => {
                self.build.effect(Op::Call(id, leaves));
                Ok(Val::unit())
            }
        }
    }

    /// Puts a closure's body in the place of its call. It captures by reference, so its names are those of now.
    pub(super) fn call_closure(
        &mut self,
        at: Pos,
        number: u32,
        args: &'static [Expr],
        expected: Option<&Ty>,
    ) -> Result<Val> {
        let Some(closure) = self.closures.get(&number).copied() else {
            return Err(self.error(at, "this closure has no body in the front end; please report this"));
        };
        for (pattern, arg) in closure.params.iter().zip(args) {
            let ty = match pattern {
                Pattern::Bind(number) => self.harvest.bindings[*number as usize].clone(),
                _ => self.ty_of(arg),
            };
            let value = self.expr(arg, ty.as_ref())?;
            self.bind(pattern, value)?;
        }
        let ty = self.ty_of(closure.body).or_else(|| expected.cloned()).unwrap_or(Ty::Unit);
        let slots = self.slots("closure", &ty);
        let exit = self.build.block();
        self.inlined.push(Inlined { exit, result: (ty.clone(), slots.clone()) });
        let value = self.expr(closure.body, Some(&ty))?;
        self.inlined.pop();
        if !self.build.ended() {
            self.set(&slots, &value.leaves);
        }
        self.jump_into(exit);
        Ok(self.get(&ty, &slots))
    }

    /// A one-dimensional array where a slice is wanted.
    fn unsize(&mut self, value: Val, wanted: &Ty) -> Val {
        match (&value.ty, wanted) {
            (Ty::Array(scalar, extents, writable, space), Ty::Slice(..)) if extents.len() == 1 => {
                let ty = Ty::Slice(*scalar, *writable, *space);
                let len = self.constant(Scalar::U64, extents[0]);
                Val { ty, leaves: vec![value.only(), len] }
            }
            _ => value,
        }
    }

    fn intrinsic(
        &mut self,
        at: Pos,
        intrinsic: Intrinsic,
        scalar: Option<Scalar>,
        args: &'static [Expr],
    ) -> Result<Val> {
        let special = |walk: &mut Self, of: fn(Axis) -> Special| AXES.map(|axis| walk.special(of(axis))).to_vec();
        let leaves = match intrinsic {
            Intrinsic::Grid(dims) => AXES[..dims].iter().map(|&axis| self.position(axis)).collect(),
            Intrinsic::GridSize(dims) => AXES[..dims].iter().map(|&axis| self.extent(axis)).collect(),
            Intrinsic::ThreadIdx => special(self, Special::ThreadIdx),
            Intrinsic::BlockIdx => special(self, Special::BlockIdx),
            Intrinsic::BlockDim => special(self, Special::BlockDim),
            Intrinsic::GridDim => special(self, Special::GridDim),
            Intrinsic::LaneId => vec![self.special(Special::LaneId)],
            Intrinsic::WarpSize => vec![self.special(Special::WarpSize)],
            _ => return self.together(at, intrinsic, scalar, args),
        };
        if let Intrinsic::Grid(dims) | Intrinsic::GridSize(dims) = intrinsic {
            self.program.grid_dims = self.program.grid_dims.max(dims);
        }
        Ok(Val { ty: intrinsic_type(intrinsic, scalar), leaves })
    }

    /// A hardware register as a `usize`.
    fn special(&mut self, special: Special) -> Value {
        let value = self.build.value(Op::Special(special), Scalar::U32);
        self.build.value(Op::Cast(value, Scalar::U64), Scalar::U64)
    }

    fn position(&mut self, axis: Axis) -> Value {
        let block = self.special(Special::BlockIdx(axis));
        let dim = self.special(Special::BlockDim(axis));
        let thread = self.special(Special::ThreadIdx(axis));
        let base = self.build.value(Op::Binary(BinaryOp::Mul, block, dim), Scalar::U64);
        self.build.value(Op::Binary(BinaryOp::Add, base, thread), Scalar::U64)
    }

    fn extent(&mut self, axis: Axis) -> Value {
        let blocks = self.special(Special::GridDim(axis));
        let dim = self.special(Special::BlockDim(axis));
        self.build.value(Op::Binary(BinaryOp::Mul, blocks, dim), Scalar::U64)
    }
}
