//! Methods of `Option`, with the functions that they call for what is there, or in its place.

use super::Callee;
use super::function::{Captured, Lowering, Result};
use super::layout::shown;
use super::place::Place;
use super::types::{Val, behind};
use crate::harvest::{Memory, Ty};
use crate::kir::{BinaryOp, Op, Scalar, UnaryOp, Value};
use crate::syntax::{Expr, ExprKind, Lit, Pos};

/// What such a method yields, but those that call a function; where references point is the value's to say.
pub(super) fn result_type(name: &str, inner: &Ty) -> Option<Ty> {
    let optional = |ty: Ty| Ty::Option(Box::new(ty));
    Some(match name {
        "is_some" | "is_none" | "is_ok" | "is_err" => Ty::Scalar(Scalar::Bool),
        "unwrap" | "expect" | "unwrap_or" | "unwrap_or_default" => inner.clone(),
        "copied" | "cloned" => optional(behind(inner.clone())),
        "or" | "xor" | "take" | "replace" | "ok" => optional(inner.clone()),
        "flatten" => inner.clone(),
        "as_ref" => optional(Ty::Ref(Box::new(inner.clone()), Memory::unknown(false))),
        "as_mut" => optional(Ty::Ref(Box::new(inner.clone()), Memory::unknown(true))),
        _ => return None,
    })
}

impl Lowering<'_> {
    /// What a method that calls a function, or depends on what it is given, yields.
    pub(super) fn type_with_function(&self, name: &str, receiver: &Ty, args: &[Expr]) -> Option<Ty> {
        let made = |index: usize| self.type_of_function(args.get(index)?, receiver);
        Some(match (name, receiver) {
            ("map", Ty::Option(_)) => Ty::Option(Box::new(made(0)?)),
            ("map", Ty::Array(_, len)) => Ty::Array(Box::new(made(0)?), *len),
            ("and_then", Ty::Option(_)) => made(0)?,
            ("and", Ty::Option(_)) => self.ty_of(args.first()?)?,
            ("zip", Ty::Option(inner)) => {
                let Ty::Option(other) = self.ty_of(args.first()?)? else { return None };
                Ty::Option(Box::new(Ty::Tuple(vec![(**inner).clone(), *other])))
            }
            ("map_or" | "map_or_else", Ty::Option(_)) => made(1)?,
            ("fold", Ty::View(..)) => made(1)?,
            ("unwrap_or_else", Ty::Option(inner)) => (**inner).clone(),
            ("filter" | "or_else" | "inspect", Ty::Option(_)) => receiver.clone(),
            ("is_some_and" | "is_none_or", Ty::Option(_)) => Ty::Scalar(Scalar::Bool),
            ("then", Ty::Scalar(_)) => Ty::Option(Box::new(made(0)?)),
            ("then_some", Ty::Scalar(_)) => Ty::Option(Box::new(self.ty_of(args.first()?)?)),
            ("partition_point", Ty::Slice(..) | Ty::Array(..)) => Ty::INDEX,
            ("for_each" | "map_inplace" | "mapv_inplace" | "zip_mut_with", Ty::View(..))
            | ("sort_unstable_by" | "sort_unstable_by_key" | "fill_with", Ty::Slice(..) | Ty::Array(..)) => Ty::Unit,
            _ => return None,
        })
    }

    /// What a function that is an argument yields; a method of numbers, of what the receiver holds.
    pub(super) fn type_of_function(&self, function: &Expr, receiver: &Ty) -> Option<Ty> {
        match &function.1 {
            ExprKind::Closure(closure) => Some(self.frame().harvest.named[closure.result? as usize].clone()),
            ExprKind::Binding(number) => self.ty_of_closure(*number),
            ExprKind::Function(number) | ExprKind::MethodOf(_, number)
                if let Callee::Function(_, harvest) = &self.frame().callees[*number as usize] =>
            {
                Some(harvest.result.clone())
            }
            ExprKind::MethodOf(name, _) => {
                let (Ty::Option(held) | Ty::Array(held, _) | Ty::View(held, ..)) = receiver else { return None };
                super::method::result_type(name, &behind((**held).clone()), &[])
            }
            _ => None,
        }
    }

    /// A method of an `Option`, or of a `Result`; `nothing` is what `unwrap` says where it holds none.
    pub(super) fn option_method(
        &mut self,
        at: Pos,
        name: &str,
        of: &Place,
        nothing: &str,
        args: &'static [Expr],
    ) -> Result<Val> {
        let Ty::Option(inner) = of.ty().clone() else { return Err(self.error(at, "this is no `Option`")) };
        match (name, args) {
            ("take", []) => {
                let none = self.none(&inner);
                self.replaced(at, of, none)
            }
            ("replace", [value]) => {
                let value = self.expr_as(value, &inner)?;
                let some = self.some(value);
                self.replaced(at, of, some)
            }
            ("as_mut", []) => {
                let tag = self.tag(of);
                let held = self.part(of, 0);
                let held = self.reference(at, held, true)?;
                Ok(optional(tag, held))
            }
            _ => {
                let value = self.read_settled(of);
                let held = self.part(&Place::Fixed(value.clone()), 0);
                let held = self.read(&held);
                let option = Held { tag: value.leaves[0], held, whole: value };
                match args.iter().any(is_function) {
                    true => self.option_function(at, name, option, args),
                    false => self.option_value(at, name, option, nothing, args),
                }
            }
        }
    }

    /// A method that calls no function, and leaves the `Option` as it is.
    fn option_value(
        &mut self,
        at: Pos,
        name: &str,
        Held { tag, held, whole }: Held,
        nothing: &str,
        args: &'static [Expr],
    ) -> Result<Val> {
        let inner = held.ty.clone();
        match (name, args) {
            ("ok", []) => Ok(whole),
            ("is_some" | "is_ok", []) => Ok(Val::scalar(Scalar::Bool, tag)),
            ("is_none" | "is_err", []) => {
                Ok(Val::scalar(Scalar::Bool, self.unary_value(UnaryOp::Not, tag, Scalar::Bool)))
            }
            ("unwrap", []) => {
                self.check(at, tag, nothing, &[]);
                Ok(held)
            }
            ("expect", [Expr(_, ExprKind::Lit(Lit::Text(message)))]) => {
                self.check(at, tag, message, &[]);
                Ok(held)
            }
            ("unwrap_or", [other]) => {
                let other = self.expr_as(other, &inner)?;
                self.either(at, tag, held, other)
            }
            ("unwrap_or_default", []) if inner.is_plain() => {
                let zero = self.constant_value(&inner, &mut std::iter::repeat(0));
                self.either(at, tag, held, zero)
            }
            ("copied" | "cloned", []) => self.branched(
                at,
                tag,
                |walk| {
                    let value = walk.value_of(held);
                    Ok(walk.some(value))
                },
                Self::nothing_else,
            ),
            ("as_ref", []) => {
                let held = self.reference(at, Place::Fixed(held), false)?;
                Ok(optional(tag, held))
            }
            ("flatten", []) => {
                let both = self.binary_value(BinaryOp::And, tag, held.leaves[0], Scalar::Bool);
                let leaves = std::iter::once(both).chain(held.leaves[1..].iter().copied()).collect();
                Ok(Val { ty: inner, leaves })
            }
            ("or", [other]) => {
                let other = self.expr_as(other, &whole.ty)?;
                self.either(at, tag, whole, other)
            }
            ("xor", [other]) => {
                let other = self.expr_as(other, &whole.ty)?;
                let one = self.binary_value(BinaryOp::Xor, tag, other.leaves[0], Scalar::Bool);
                let mut either = self.either(at, tag, whole, other)?;
                either.leaves[0] = one;
                Ok(either)
            }
            ("and", [other]) => {
                let ty = self.ty_of(other);
                let mut other = self.expr(other, ty.as_ref())?;
                other.leaves[0] = self.binary_value(BinaryOp::And, tag, other.leaves[0], Scalar::Bool);
                Ok(other)
            }
            ("zip", [other]) => {
                let ty = self.ty_of(other);
                let other = self.expr(other, ty.as_ref())?;
                let both = self.binary_value(BinaryOp::And, tag, other.leaves[0], Scalar::Bool);
                Ok(optional(both, super::iterator::paired(held, other.part(0))))
            }
            _ => Err(self.error(at, format!("kernels have no method `{name}` on `{}`", shown(&whole.ty)))),
        }
    }

    /// A method that calls a function: in one of two branches.
    fn option_function(
        &mut self,
        at: Pos,
        name: &str,
        Held { tag, held, whole }: Held,
        args: &'static [Expr],
    ) -> Result<Val> {
        // what stands before the function is evaluated before, whether it is needed or not
        let (first, function) = match args {
            [function] => (None, function),
            [first, function] => (Some(first), function),
            _ => return Err(self.error(at, format!("`{name}` takes other arguments"))),
        };
        let ty = self.type_of_function(function, &whole.ty);
        let first = match first {
            Some(first) if is_function(first) => Some(Default::Function(self.callable(first)?)),
            Some(first) => Some(Default::Value(self.expr(first, ty.as_ref())?)),
            None => None,
        };
        let function = self.callable(function)?;
        let call = |walk: &mut Self, args| walk.invoke(at, &function, args);
        match (name, first) {
            ("map", None) => self.branched(
                at,
                tag,
                |walk| {
                    let value = call(walk, vec![held])?;
                    Ok(walk.some(value))
                },
                Self::nothing_else,
            ),
            ("and_then", None) => self.branched(at, tag, |walk| call(walk, vec![held]), Self::nothing_else),
            ("map_or", Some(Default::Value(value))) => {
                self.branched(at, tag, |walk| call(walk, vec![held]), |_, _| Ok(value))
            }
            ("map_or_else", Some(Default::Function(otherwise))) => self.branched(
                at,
                tag,
                |walk| call(walk, vec![held]),
                |walk, ty| walk.invoke_for(at, &otherwise, Vec::new(), Some(ty)),
            ),
            ("or_else" | "unwrap_or_else", None) => {
                let kept = if name == "or_else" { whole } else { held };
                self.branched(at, tag, |_| Ok(kept), |walk, ty| walk.invoke_for(at, &function, Vec::new(), Some(ty)))
            }
            ("filter", None) => self.branched(
                at,
                tag,
                |walk| {
                    let keeps = walk.asked(at, &function, &held)?;
                    Ok(optional(keeps, held))
                },
                Self::nothing_else,
            ),
            ("is_some_and" | "is_none_or", None) => self.branched(
                at,
                tag,
                |walk| call(walk, vec![held]),
                |walk, _| {
                    let without = walk.constant(Scalar::Bool, u64::from(name == "is_none_or"));
                    Ok(Val::scalar(Scalar::Bool, without))
                },
            ),
            ("inspect", None) => {
                let seen = self.reference(at, Place::Fixed(held), false)?;
                self.branched(at, tag, |walk| call(walk, vec![seen]), |_, _| Ok(Val::unit()))?;
                Ok(whole)
            }
            _ => Err(self.error(at, format!("kernels have no method `{name}` on `{}`", shown(&whole.ty)))),
        }
    }

    /// `condition.then(function)` and `condition.then_some(value)`.
    pub(super) fn bool_method(&mut self, at: Pos, name: &str, condition: Value, arg: &'static Expr) -> Result<Val> {
        if name == "then_some" {
            let ty = self.ty_of(arg);
            let value = self.expr(arg, ty.as_ref())?;
            return Ok(optional(condition, value));
        }
        let function = self.callable(arg)?;
        self.branched(
            at,
            condition,
            |walk| {
                let value = walk.invoke(at, &function, Vec::new())?;
                Ok(walk.some(value))
            },
            Self::nothing_else,
        )
    }

    /// `None`, where another branch left an `Option` of such a type.
    fn nothing_else(&mut self, ty: &Ty) -> Result<Val> {
        match ty {
            Ty::Option(inner) => Ok(self.none(inner)),
            other => Ok(self.never(other)),
        }
    }

    /// Writes a place, and yields what it held.
    fn replaced(&mut self, at: Pos, place: &Place, value: Val) -> Result<Val> {
        let old = self.read_settled(place);
        self.write(at, place, value)?;
        Ok(old)
    }

    /// What one of two branches leaves: where a condition holds, and where not, which is told the other's type.
    pub(super) fn branched(
        &mut self,
        at: Pos,
        condition: Value,
        yes: impl FnOnce(&mut Self) -> Result<Val>,
        no: impl FnOnce(&mut Self, &Ty) -> Result<Val>,
    ) -> Result<Val> {
        let (enter, other) = self.fork(condition);
        let exit = self.build.block();
        self.build.select_block(enter);
        let value = yes(self)?;
        let ty = value.ty.clone();
        let merge = self.merge("branch", ty.clone());
        self.arrive(at, value, merge, exit)?;
        self.build.select_block(other);
        let value = no(self, &ty)?;
        self.arrive(at, value, merge, exit)?;
        self.build.select_block(exit);
        Ok(self.arrived(merge))
    }

    /// One of two values.
    pub(super) fn either(&mut self, at: Pos, first: Value, a: Val, b: Val) -> Result<Val> {
        let b = self.agree(at, b, &a.ty)?;
        let types = a.ty.leaves();
        let choose = |((a, b), ty): ((&Value, &Value), _)| self.build.value(Op::Select(first, *a, *b), ty);
        let leaves = a.leaves.iter().zip(&b.leaves).zip(types).map(choose).collect();
        Ok(Val { ty: a.ty, leaves })
    }
}

/// An `Option` that is read: whether it holds something, what, and itself.
struct Held {
    tag: Value,
    held: Val,
    whole: Val,
}

/// What stands before a method's function.
enum Default {
    Value(Val),
    Function(Captured),
}

/// `Some` of a value where a condition holds.
pub(super) fn optional(tag: Value, held: Val) -> Val {
    let leaves = std::iter::once(tag).chain(held.leaves).collect();
    Val { ty: Ty::Option(Box::new(held.ty)), leaves }
}

/// Whether an argument is a function. A name is one where the macro captured it as such.
fn is_function(arg: &Expr) -> bool {
    matches!(arg.1, ExprKind::Closure(_) | ExprKind::Function(_) | ExprKind::MethodOf(..))
}
