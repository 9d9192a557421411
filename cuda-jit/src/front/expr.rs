//! Expressions: evaluation in Rust's order, each to a [`Val`].

use super::function::{Lowering, Result};
use super::place::Place;
use super::types::{Val, suffix_type};
use crate::harvest::Ty;
use crate::kir::{Op, Scalar, Type, UnaryOp as KirUnary};
use crate::syntax::{Expr, ExprKind, Lit, Pos, UnaryOp};

impl Lowering<'_> {
    /// Lowers an expression; `expected` is the type that the surroundings ask for, if they do.
    pub(super) fn expr(&mut self, expr: &'static Expr, expected: Option<&Ty>) -> Result<Val> {
        let outer = self.go_to(expr.0);
        let value = self.expr_here(expr, expected);
        self.build.set_place(outer);
        value
    }

    fn expr_here(&mut self, expr: &'static Expr, expected: Option<&Ty>) -> Result<Val> {
        let Expr(at, kind) = expr;
        let at = *at;
        match kind {
            ExprKind::Lit(lit) => self.lit(at, *lit, expected),
            ExprKind::Const(number) => {
                let (scalar, bits) = self.harvest.consts[*number as usize];
                Ok(Val::scalar(scalar, self.constant(scalar, bits)))
            }
            ExprKind::Unary(op, value) => self.unary(at, *op, value, expected),
            ExprKind::Binary(op, left, right) => self.binary(at, *op, left, right, expected),
            ExprKind::And(left, right) => self.short_circuit(left, right, false),
            ExprKind::Or(left, right) => self.short_circuit(left, right, true),
            ExprKind::Assign(place, value) => self.assign(place, value),
            ExprKind::AssignOp(op, place, value) => self.assign_op(at, *op, place, value),
            ExprKind::Cast(value, number) => self.cast(value, self.harvest.types[*number as usize]),
            ExprKind::Binding(_)
            | ExprKind::Index(..)
            | ExprKind::IndexUnchecked(..)
            | ExprKind::IndexAll(..)
            | ExprKind::Deref(_) => {
                let place = self.place(expr)?;
                Ok(self.read(&place))
            }
            ExprKind::Field(base, name) => self.field(at, base, name),
            ExprKind::Reborrow(value) => self.reborrow(value),
            ExprKind::Array(_) | ExprKind::Repeat(_) => self.array(at, expr, expected),
            ExprKind::Shared(number) => Ok(self.shared(*number)),
            ExprKind::Tuple(elements) => self.tuple(elements, expected),
            ExprKind::Option(value) => self.option(at, value.as_ref().copied(), expected),
            ExprKind::Call(number, args) => self.call(at, *number, args),
            ExprKind::CallClosure(number, args) => self.call_closure(at, *number, args, expected),
            ExprKind::Method(name, receiver, args) => self.method(at, name, receiver, args, expected),
            ExprKind::Panic(message) => {
                self.panic(at, message, &[]);
                Ok(self.never(expected.unwrap_or(&Ty::Unit)))
            }
            ExprKind::Assert(condition, message) => {
                let condition = self.expr(condition, Some(&Ty::Scalar(Scalar::Bool)))?;
                self.check(at, condition.only(), message, &[]);
                Ok(Val::unit())
            }
            _ => self.control(expr, expected),
        }
    }

    /// Lowers an expression whose value is one number of a known type.
    pub(super) fn scalar(&mut self, expr: &'static Expr, scalar: Scalar) -> Result<crate::kir::Value> {
        let ty = Ty::Scalar(scalar);
        let value = self.expr(expr, Some(&ty))?;
        Ok(self.expect(expr.0, value, &ty)?.only())
    }

    fn lit(&mut self, at: Pos, lit: Lit, expected: Option<&Ty>) -> Result<Val> {
        let wanted = expected.and_then(Ty::as_scalar);
        match lit {
            Lit::Bool(value) => Ok(Val::scalar(Scalar::Bool, self.constant(Scalar::Bool, u64::from(value)))),
            Lit::Int(value, suffix) => {
                let scalar = suffix_type(suffix).or(wanted.filter(|wanted| wanted.is_integer()));
                let scalar = scalar.unwrap_or(Scalar::I32);
                let bits = value & mask(scalar);
                if bits != value {
                    return Err(self.error(at, format!("the literal {value} does not fit {scalar}")));
                }
                Ok(Val::scalar(scalar, self.constant(scalar, bits)))
            }
            Lit::Float(single, double, suffix) => {
                let scalar = suffix_type(suffix).or(wanted.filter(|wanted| wanted.is_float()));
                let scalar = scalar.unwrap_or(Scalar::F64);
                let bits = if scalar == Scalar::F32 { u64::from(single) } else { double };
                Ok(Val::scalar(scalar, self.constant(scalar, bits)))
            }
        }
    }

    fn unary(&mut self, at: Pos, op: UnaryOp, value: &'static Expr, expected: Option<&Ty>) -> Result<Val> {
        let ty = self.ty_of(value).or_else(|| expected.cloned());
        let value = self.expr(value, ty.as_ref())?;
        let scalar = self.number(at, &value)?;
        match op {
            UnaryOp::Neg => {
                if self.definition.options.checked && scalar.is_signed() {
                    self.check_not_minimum(at, scalar, value.only(), "negation overflows");
                }
                Ok(Val::scalar(scalar, self.build.value(Op::Unary(KirUnary::Neg, value.only()), scalar)))
            }
            UnaryOp::Not => Ok(Val::scalar(scalar, self.build.value(Op::Unary(KirUnary::Not, value.only()), scalar))),
        }
    }

    /// The scalar type of a value that must have one.
    pub(super) fn number(&self, at: Pos, value: &Val) -> Result<Scalar> {
        value.ty.as_scalar().ok_or_else(|| self.error(at, "kernels have operators for numbers and `bool` only"))
    }

    /// `&&` and `||`: the right side runs only if the left does not decide.
    fn short_circuit(&mut self, left: &'static Expr, right: &'static Expr, decided: bool) -> Result<Val> {
        let slot = self.build.slot(if decided { "or" } else { "and" }, Scalar::Bool);
        let left = self.scalar(left, Scalar::Bool)?;
        self.build.effect(Op::Set(slot, left));
        let (yes, no) = self.fork(left);
        let (rest, done) = if decided { (no, yes) } else { (yes, no) };
        self.build.select_block(rest);
        let right = self.scalar(right, Scalar::Bool)?;
        self.build.effect(Op::Set(slot, right));
        self.jump_into(done);
        Ok(Val::scalar(Scalar::Bool, self.build.value(Op::Get(slot), Scalar::Bool)))
    }

    fn assign(&mut self, place: &'static Expr, value: &'static Expr) -> Result<Val> {
        let ty = self.place_type(place);
        let value = self.expr(value, ty.as_ref())?;
        let place = self.place(place)?;
        self.write(&place, &value);
        Ok(Val::unit())
    }

    /// The type of what an assignment writes. A name declared without a value has it from rustc as well.
    fn place_type(&self, place: &Expr) -> Option<Ty> {
        self.ty_of(place)
    }

    fn cast(&mut self, value: &'static Expr, to: Scalar) -> Result<Val> {
        let own = self.ty_of(value);
        // a bare literal takes the type that it is cast to, where it can have it
        let ty = own.or(is_literal(value).then_some(Ty::Scalar(to)));
        let value = self.expr(value, ty.as_ref())?;
        let from = self.number(Pos(0, 0), &value)?;
        let value = if from == to { value.only() } else { self.build.value(Op::Cast(value.only(), to), to) };
        Ok(Val::scalar(to, value))
    }

    fn field(&mut self, at: Pos, base: &'static Expr, name: &str) -> Result<Val> {
        let base = self.expr(base, None)?;
        match base.ty.field(name) {
            Some((ty, leaves)) => Ok(Val { ty, leaves: base.leaves[leaves].to_vec() }),
            None => Err(self.error(at, format!("a value of type {:?} has no field `{name}`", base.ty))),
        }
    }

    fn tuple(&mut self, elements: &'static [Expr], expected: Option<&Ty>) -> Result<Val> {
        let wanted = match expected {
            Some(Ty::Tuple(types)) if types.len() == elements.len() => types.iter().map(Some).collect(),
            _ => vec![None; elements.len()],
        };
        let mut value = Val::unit();
        let mut types = Vec::with_capacity(elements.len());
        for (element, wanted) in elements.iter().zip(wanted) {
            let ty = self.ty_of(element).or_else(|| wanted.cloned());
            let element = self.expr(element, ty.as_ref())?;
            types.push(element.ty);
            value.leaves.extend(element.leaves);
        }
        if !types.is_empty() {
            value.ty = Ty::Tuple(types);
        }
        Ok(value)
    }

    fn option(&mut self, at: Pos, value: Option<&'static Expr>, expected: Option<&Ty>) -> Result<Val> {
        let wanted = match expected {
            Some(Ty::Option(inner)) => Some((**inner).clone()),
            _ => None,
        };
        let tag = self.constant(Scalar::Bool, u64::from(value.is_some()));
        let mut leaves = vec![tag];
        let inner = match value {
            Some(value) => {
                let ty = self.ty_of(value).or(wanted);
                let value = self.expr(value, ty.as_ref())?;
                leaves.extend(value.leaves);
                value.ty
            }
            None => {
                let Some(inner) = wanted else {
                    return Err(self.error(at, "bind this `None` with `let`, so that its type is known"));
                };
                // what a `None` holds is never looked at: a slot that is never written
                let slots = self.slots("none", &inner);
                leaves.extend(self.get(&inner, &slots).leaves);
                inner
            }
        };
        Ok(Val { ty: Ty::Option(Box::new(inner)), leaves })
    }

    /// What a place holds now.
    pub(super) fn read(&mut self, place: &Place) -> Val {
        match place {
            Place::Fixed(value) => value.clone(),
            Place::Slots(ty, slots) => self.get(ty, slots),
            Place::Element(ptr, scalar, _) => {
                Val::scalar(*scalar, self.build.value(Op::Load(*ptr), Type::Scalar(*scalar)))
            }
        }
    }
}

/// Whether this is a literal, perhaps with a sign.
fn is_literal(expr: &Expr) -> bool {
    match expr.1 {
        ExprKind::Lit(_) => true,
        ExprKind::Unary(_, inner) => is_literal(inner),
        _ => false,
    }
}

/// The bits of a scalar's width.
pub(super) fn mask(scalar: Scalar) -> u64 {
    u64::MAX >> (64 - scalar.bits())
}
