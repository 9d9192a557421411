//! Expressions: lowered to a [`Val`], in Rust's order of evaluation.

use super::Callee;
use super::builder::Builder;
use super::copies::is_place;
use super::function::{Callable, Local, Lowering, Result};
use super::overload;
use super::place::{Access, Place};
use super::scopes::Scopes;
use super::types::{Val, suffix_type};
use crate::kir::{Op, Scalar, Space, UnaryOp as KirUnary, Value};
use crate::syntax::{Expr, ExprKind, Lit, Pos, UnaryOp, ensure_sufficient_stack};
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{Memory, Ty};

impl Lowering<'_> {
    /// Lowers an expression to a value that no later code changes; `expected` is the type that the context asks for, if
    /// any.
    pub(super) fn expr(&mut self, expr: &'static Expr, expected: Option<&Ty>) -> Result<Val> {
        let value = self.expr_in_place(expr, expected)?;
        Ok(self.copied_value(value))
    }

    /// Lowers an expression whose value is used before other code of the program runs: the arrays of a place are not
    /// copied.
    pub(super) fn expr_in_place(&mut self, expr: &'static Expr, expected: Option<&Ty>) -> Result<Val> {
        let (outer, scope) = (self.set_location_at(expr.0), self.build.scope());
        let value = ensure_sufficient_stack(|| self.expr_here(expr, expected));
        self.build.set_location(outer);
        self.build.set_scope(scope);
        value
    }

    fn expr_here(&mut self, expr: &'static Expr, expected: Option<&Ty>) -> Result<Val> {
        let Expr(at, kind) = expr;
        let at = *at;
        match kind {
            ExprKind::Lit(lit) => self.lit(at, *lit, expected),
            ExprKind::Unary(op, value) => self.unary(at, *op, value, expected),
            ExprKind::Binary(op, left, right) => self.binary(at, *op, left, right, expected),
            ExprKind::And(left, right) => self.short_circuit(left, right, false),
            ExprKind::Or(left, right) => self.short_circuit(left, right, true),
            ExprKind::Assign(place, value) => self.assign(place, value),
            ExprKind::AssignOp(op, place, value) => self.assign_op(at, *op, place, value),
            ExprKind::Cast(value, number) => {
                let to = self.frame().info.types[*number as usize];
                self.cast(at, value, to)
            }
            ExprKind::Method(receiver, _, number) if self.scopes.host_constant(receiver, *number).is_some() => {
                let place = self.place(expr)?;
                Ok(self.build.read(&place))
            }
            ExprKind::Binding(_)
            | ExprKind::Const(_)
            | ExprKind::Index(..)
            | ExprKind::Subslice(..)
            | ExprKind::Field(..)
            | ExprKind::Deref(_) => {
                let place = self.place(expr)?;
                Ok(self.build.read(&place))
            }
            ExprKind::Reborrow(value, mutable) => self.reborrow(value, *mutable, expected),
            ExprKind::Array(_) | ExprKind::Repeat(_) => self.array(at, expr, expected),
            ExprKind::Struct(number, asked, fields, rest) => {
                self.construct(at, (*number, *asked), fields, rest.as_ref().copied())
            }
            ExprKind::Shared(number) => self.shared(at, *number),
            ExprKind::DynamicShared(parts) => self.dynamic_shared(at, parts),
            ExprKind::Tuple(elements) => self.tuple(elements, expected),
            ExprKind::Call(number, args) => self.call(at, *number, args),
            ExprKind::CallClosure(callee, args) => self.call_closure(at, callee, args, expected),
            ExprKind::Method(receiver, args, number) => self.method(at, receiver, args, *number, expected),
            ExprKind::Typed(value, number) => {
                let ty = self.frame().info.named[*number as usize].clone();
                self.expr_as(value, &ty)
            }
            ExprKind::Range(start, end, inclusive, Some(number)) => {
                let ty = self.frame().info.named[*number as usize].clone();
                self.range_value(std::iter::once(*start).chain(*end), *inclusive, &ty)
            }
            ExprKind::Function(number) if let Callee::Constructor(..) = self.frame().callees[*number as usize] => {
                self.call(at, *number, &[])
            }
            ExprKind::Closure(_) | ExprKind::Function(_) => self.callable(expr),
            ExprKind::Panic(message) => {
                self.panic_with(at, message)?;
                Ok(self.build.placeholder(expected.unwrap_or(&Ty::Unit)))
            }
            ExprKind::Assert(condition, message) => self.assert(at, condition, message),
            ExprKind::AssertCompare(op, left, right, message) => self.assert_compare(at, *op, [left, right], message),
            ExprKind::Debug(inner) if self.frame().definition.debug_assertions => self.expr(inner, expected),
            ExprKind::Debug(_) => Ok(Val::unit()),
            ExprKind::Print(pieces, args) => self.print(at, pieces, args),
            _ => self.control(expr, expected),
        }
    }

    /// Lowers an expression to a value of a known type, coercing references.
    pub(super) fn expr_as(&mut self, expr: &'static Expr, ty: &Ty) -> Result<Val> {
        let value = self.expr(expr, Some(ty))?;
        self.coerce(expr.0, value, ty)
    }

    /// Lowers one part of an aggregate, without a copy if the later parts cannot change it.
    pub(super) fn part_in_place<'e>(
        &mut self,
        expr: &'static Expr,
        ty: Option<&Ty>,
        later: impl Iterator<Item = &'e Expr>,
    ) -> Result<Val> {
        let mut value = self.expr_in_place(expr, ty)?;
        if let Some(ty) = ty {
            value = self.coerce(expr.0, value, ty)?;
        }
        let stays = !value.ty.holds_arrays() || is_place(expr) && self.scopes.is_unchanged_by(expr, later);
        Ok(if stays { value } else { self.copied_value(value) })
    }

    /// Lowers an expression whose value is one number of a known type.
    pub(super) fn scalar(&mut self, expr: &'static Expr, scalar: Scalar) -> Result<Value> {
        Ok(self.expr_as(expr, &Ty::Scalar(scalar))?.only())
    }

    /// Coerces a value to a type, as rustc does: a reference to an array becomes a slice, a reference to a reference
    /// the inner one.
    pub(super) fn coerce(&mut self, at: Pos, value: Val, ty: &Ty) -> Result<Val> {
        if value.ty.fits(ty) || self.build.ended() {
            return Ok(value);
        }
        match (&value.ty, ty) {
            (Ty::Ref(array, memory), Ty::Slice(..)) if *memory != Memory::Value => {
                if let Ty::Array(element, len) = &**array {
                    let ty = Ty::Slice(element.clone(), *memory);
                    let len = self.build.constant(Scalar::U64, *len);
                    return Ok(Val { ty, leaves: vec![value.only(), len] });
                }
                self.coerce_through(at, value, ty)
            }
            (Ty::Ref(array, _), Ty::Slice(..)) if matches!(**array, Ty::Array(..)) && !array.is_plain() => {
                let hint = "an array of references, or of what holds such, lies in no memory on the device, so that it is no \
                            slice and has no methods of slices; loop over the array itself, `for r in array`";
                Err(self.error(at, hint))
            }
            (Ty::Ref(array, Memory::Value), Ty::Slice(..)) if matches!(**array, Ty::Array(..)) => {
                let ty = Ty::Ref(array.clone(), Memory::Write(Space::Local));
                let array = Val { ty, leaves: value.leaves.clone() };
                self.coerce(at, array, &Ty::Slice(Box::new(element_of(&value.ty)), Memory::unknown(false)))
            }
            (Ty::Ref(..), Ty::Ref(..) | Ty::Slice(..)) => self.coerce_through(at, value, ty),
            // a reference to a closure is callable too
            (Ty::Ref(..), Ty::Closure(_)) if is_closure_reference(&value.ty) => {
                Ok(self.scopes.closure_value(Callable::Borrowed, vec![value]))
            }
            _ => self.conform(at, value, ty),
        }
    }

    fn coerce_through(&mut self, at: Pos, value: Val, ty: &Ty) -> Result<Val> {
        match self.pointee_place(value.clone()) {
            inner if matches!(inner.ty(), Ty::Ref(..) | Ty::Slice(..)) => {
                let inner = self.build.read(&inner);
                self.coerce(at, inner, ty)
            }
            _ => self.conform(at, value, ty),
        }
    }

    fn lit(&mut self, at: Pos, lit: Lit, expected: Option<&Ty>) -> Result<Val> {
        let wanted = expected.and_then(Ty::as_scalar);
        match lit {
            Lit::Text(text) => Ok(Val { ty: Ty::Ref(Box::new(Ty::Str), Memory::Text(text)), leaves: Vec::new() }),
            Lit::Bool(value) => Ok(Val::scalar(Scalar::Bool, self.build.constant(Scalar::Bool, u64::from(value)))),
            Lit::Int(value, suffix) => {
                let scalar = suffix_type(suffix).or(wanted.filter(|wanted| wanted.is_integer()));
                let scalar = scalar.unwrap_or(Scalar::I32);
                let bits = value & scalar.mask();
                if bits != value {
                    return Err(self.error(at, format!("the literal {value} does not fit {scalar}")));
                }
                Ok(Val::scalar(scalar, self.build.constant_bits(scalar, bits)))
            }
            Lit::Float(single, double, suffix) => {
                let scalar = suffix_type(suffix).or(wanted.filter(|wanted| wanted.is_float()));
                let scalar = scalar.unwrap_or(Scalar::F64);
                let bits = if scalar == Scalar::F32 { u64::from(single) } else { double };
                Ok(Val::scalar(scalar, self.build.constant(scalar, bits)))
            }
        }
    }

    fn unary(&mut self, at: Pos, op: UnaryOp, value: &'static Expr, expected: Option<&Ty>) -> Result<Val> {
        let ty = self.ty_of(value).or_else(|| expected.cloned());
        if let Some(operator) = self.operator_of_references(at, overload::unary_name(op), [ty.clone(), ty.clone()])? {
            let value = self.expr(value, None)?;
            return self.call_instance(at, &operator.instance, vec![value]);
        }
        let value = self.operand(value, ty.as_ref())?;
        if value.ty.lanes().is_some() {
            return self.lanes_unary(at, op, &value);
        }
        if value.ty.lists_operators() {
            return self.overloaded_unary(at, op, value);
        }
        let scalar = self.scopes.number(at, &value)?;
        match op {
            UnaryOp::Neg => Ok(Val::scalar(scalar, self.negated(at, scalar, value.only()))),
            UnaryOp::Not => Ok(Val::scalar(scalar, self.build.value(Op::Unary(KirUnary::Not, value.only()), scalar))),
        }
    }

    /// Negates a number, with an overflow check if those are on.
    pub(super) fn negated(&mut self, at: Pos, scalar: Scalar, value: Value) -> Value {
        if self.scopes.checks_overflow() && scalar.is_signed() {
            self.check_not_minimum(at, scalar, value, "negation overflows");
        }
        self.build.value(Op::Unary(KirUnary::Neg, value), scalar)
    }

    /// Lowers an operand; operators take numbers by reference too.
    pub(super) fn operand(&mut self, expr: &'static Expr, expected: Option<&Ty>) -> Result<Val> {
        let value = self.operand_in_place(expr, expected)?;
        Ok(self.copied_value(value))
    }

    /// As [`operand`](Self::operand), for a place that stays borrowed while it is used.
    pub(super) fn operand_in_place(&mut self, expr: &'static Expr, expected: Option<&Ty>) -> Result<Val> {
        let expected = expected.cloned().map(super::types::strip_refs);
        let value = self.expr_in_place(expr, expected.as_ref())?;
        let place = self.deref_all(Place::Fixed(value));
        Ok(self.build.read(&place))
    }

    /// Lowers `&&` and `||`: the right side is evaluated only if the left does not decide.
    fn short_circuit(&mut self, left: &'static Expr, right: &'static Expr, decided: bool) -> Result<Val> {
        let slot = self.build.slot(if decided { "or" } else { "and" }, Scalar::Bool);
        let left = self.scalar(left, Scalar::Bool)?;
        self.build.effect(Op::Set(slot, left));
        let (yes, no) = self.build.fork(left);
        let (rest, done) = if decided { (no, yes) } else { (yes, no) };
        self.build.select_block(rest);
        let right = self.scalar(right, Scalar::Bool)?;
        self.build.effect(Op::Set(slot, right));
        self.build.jump_into(done);
        Ok(Val::scalar(Scalar::Bool, self.build.value(Op::Get(slot), Scalar::Bool)))
    }

    fn assign(&mut self, place: &'static Expr, value: &'static Expr) -> Result<Val> {
        let ty = self.ty_of(place);
        let at = value.0;
        // the value is of the same place or of another
        let in_place = is_place(value) && self.scopes.is_speculatable(place);
        let mut value = if in_place { self.expr_in_place(value, ty.as_ref())? } else { self.expr(value, ty.as_ref())? };
        if let Some(ty) = &ty {
            value = self.coerce(at, value, ty)?;
        }
        if let ExprKind::Binding(number) = place.1
            && matches!(self.frame().locals.get(&number), Some(Local::Late(_)))
        {
            self.bind_local(number, value);
            return Ok(Val::unit());
        }
        if let ExprKind::Index(base, index) = place.1
            && let Some(Ty::Array(element, _)) = self.ty_of(base).map(super::types::strip_refs)
            && !element.is_plain()
            && !matches!(index.1, ExprKind::Lit(_))
        {
            self.replace_element(base, index, value)?;
            return Ok(Val::unit());
        }
        let place = self.place_for(place, Access::Mutable)?;
        self.write(at, &place, value)?;
        Ok(Val::unit())
    }

    fn cast(&mut self, at: Pos, value: &'static Expr, to: Scalar) -> Result<Val> {
        let own = self.ty_of(value);
        // an unsuffixed literal has the type that it is cast to, if that is possible
        let ty = own.or(is_literal(value).then_some(Ty::Scalar(to)));
        let value = self.operand(value, ty.as_ref())?;
        let from = match value.ty {
            Ty::Enum(_, scalar) => scalar,
            _ => self.scopes.number(at, &value)?,
        };
        Ok(Val::scalar(to, self.build.cast_value(value.only(), from, to)))
    }

    /// Lowers `Name { field: e, ..rest }`, also of a variant.
    fn construct(
        &mut self,
        at: Pos,
        (number, asked): (u32, u32),
        fields: &'static [(&'static str, Expr)],
        rest: Option<&'static Expr>,
    ) -> Result<Val> {
        let ty = self.frame().info.named[number as usize].clone();
        let variant = self.scopes.asked_variant(at, asked)?;
        let own = ty.fields_of(variant);
        let mut given: Vec<Option<Val>> = own.clone().map(|_| None).collect();
        for (number, (name, expr)) in fields.iter().enumerate() {
            let Some(index) = ty.field_of(variant, name) else {
                return Err(self.error(at, format!("a value of type `{}` has no field `{name}`", ty_name(&ty))));
            };
            let part = ty.fields()[index].0.clone();
            let later = fields[number + 1..].iter().map(|(_, expr)| expr).chain(rest);
            given[index - own.start] = Some(self.part_in_place(expr, Some(&part), later)?);
        }
        let rest = match rest {
            Some(rest) => {
                let place = self.place(rest)?;
                Some(self.deref_all(place))
            }
            None => None,
        };
        let mut parts = Vec::with_capacity(given.len());
        for (index, value) in given.into_iter().enumerate() {
            parts.push(match (value, &rest) {
                (Some(value), _) => value,
                (None, Some(rest)) => {
                    let place = self.build.part(rest, index);
                    self.build.read(&place)
                }
                (None, None) => return Err(self.error(at, "a field has no value")),
            });
        }
        Ok(self.build.constructed(&ty, variant, parts))
    }

    fn tuple(&mut self, elements: &'static [Expr], expected: Option<&Ty>) -> Result<Val> {
        let wanted = match expected {
            Some(Ty::Tuple(types)) if types.len() == elements.len() => types.iter().map(Some).collect(),
            _ => vec![None; elements.len()],
        };
        let mut value = Val::unit();
        let mut types = Vec::with_capacity(elements.len());
        for (index, (element, wanted)) in elements.iter().zip(wanted).enumerate() {
            let ty = wanted.cloned().or_else(|| self.ty_of(element));
            let element = self.part_in_place(element, ty.as_ref(), elements[index + 1..].iter())?;
            types.push(element.ty);
            value.leaves.extend(element.leaves);
        }
        if !types.is_empty() {
            value.ty = Ty::Tuple(types);
        }
        Ok(value)
    }
}

impl Scopes {
    /// The scalar type of a value that must be a number.
    pub(super) fn number(&self, at: Pos, value: &Val) -> Result<Scalar> {
        let text =
            || format!("kernels have this operator for numbers and `bool` only, not for `{}`", ty_name(&value.ty));
        value.ty.as_scalar().ok_or_else(|| self.error(at, text()))
    }
}

impl Builder {
    /// Builds a struct, or a variant, from its parts.
    pub(super) fn constructed(&mut self, ty: &Ty, variant: usize, parts: Vec<Val>) -> Val {
        let of = match ty {
            Ty::Sum(of) => of,
            Ty::Enum(of, scalar) => {
                let bits = u128::from(of.variants[variant].1) & scalar.mask();
                return Val { ty: ty.clone(), leaves: vec![self.constant_bits(*scalar, bits)] };
            }
            _ => return assembled(ty, parts),
        };
        let number = self.constant(of.tag(), variant as u64);
        let (own, mut parts) = (of.fields_of(variant), parts.into_iter());
        let mut fields = vec![Val { ty: Ty::Unit, leaves: vec![number] }];
        for (index, field) in of.fields().enumerate() {
            let given = if own.contains(&index) { parts.next() } else { None };
            fields.push(given.unwrap_or_else(|| self.uninit(&field.pointing_nowhere())));
        }
        assembled(ty, fields)
    }

    /// The value of a field of another variant than the active one. It is never used, so it is read from unset slots;
    /// arrays get storage because copies of the enum copy them.
    pub(super) fn uninit(&mut self, ty: &Ty) -> Val {
        let slots: Vec<_> = ty.leaves().into_iter().map(|leaf| self.slot("none", leaf)).collect();
        let mut value = self.get(ty, &slots);
        for (leaf, ty) in ty.arrays() {
            value.leaves[leaf] = self.new_array("none", &ty).only();
        }
        self.fresh(value)
    }
}

/// Builds a struct or tuple from its parts, whose references keep their memories.
pub(super) fn assembled(ty: &Ty, parts: Vec<Val>) -> Val {
    let memories: Vec<Memory> = parts.iter().flat_map(|part| part.ty.memories()).collect();
    let leaves = parts.into_iter().flat_map(|part| part.leaves).collect();
    Val { ty: ty.in_memories(&memories), leaves }
}

/// Returns true for the type of a reference to a closure, or to such a reference.
pub(super) fn is_closure_reference(mut ty: &Ty) -> bool {
    while let Ty::Ref(to, _) = ty {
        ty = to;
    }
    matches!(ty, Ty::Closure(_))
}

fn element_of(reference: &Ty) -> Ty {
    super::types::element_type(reference.clone()).unwrap_or(Ty::Unit)
}

/// Returns true for a literal, also a negated one.
fn is_literal(mut expr: &Expr) -> bool {
    while let ExprKind::Unary(_, inner) = expr.1 {
        expr = inner;
    }
    matches!(expr.1, ExprKind::Lit(_))
}
