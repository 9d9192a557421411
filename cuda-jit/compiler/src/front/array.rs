//! Array expressions: `[a, b]` and `[e; N]`.
//!
//! The value of an array is the address of its storage in local memory ([`super::copies`]); LLVM's SROA promotes arrays
//! that are only indexed by constants to registers. An array whose elements hold references has no storage: its value
//! is the list of its elements.

use super::function::{Lowering, Result};
use super::generic::join_memories;
use super::pattern::{Names, Parts};
use super::place::{Access, Place};
use super::types::Val;
use std::array::TryFromSliceError;

use crate::kir::{CompareOp, Op, Scalar, Space, Type, Value};
use crate::syntax::{Expr, ExprKind, Pattern, Pos};
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{Ty, ty_of};

impl Lowering<'_> {
    /// Lowers an array expression, of the expected type or else of its own.
    pub(super) fn array(&mut self, at: Pos, expr: &'static Expr, expected: Option<&Ty>) -> Result<Val> {
        let ty = match expected {
            Some(ty @ Ty::Array(..)) => Some(ty.clone()),
            _ => self.ty_of(expr),
        };
        let Some(ty @ Ty::Array(..)) = ty else {
            return Err(self.error(at, "bind this array with `let`, so that its type is known"));
        };
        if !ty.is_plain() {
            return self.references(at, expr, &ty);
        }
        let array = self.build.new_array("array", &ty);
        self.fill(expr, &ty, array.only())?;
        Ok(self.build.fresh(array))
    }

    /// Lowers an array expression whose elements hold references.
    fn references(&mut self, at: Pos, expr: &'static Expr, ty: &Ty) -> Result<Val> {
        let Ty::Array(element, count) = ty else { return Err(self.error(at, "this is no array")) };
        let elements: Vec<&'static Expr> = match &expr.1 {
            ExprKind::Array(elements) => elements.iter().collect(),
            ExprKind::Repeat(value) => {
                let value = self.expr(value, Some(element))?;
                let value = self.coerce(at, value, element)?;
                let leaves = (0..*count).flat_map(|_| value.leaves.clone()).collect();
                return Ok(Val { ty: Ty::Array(Box::new(value.ty), *count), leaves });
            }
            _ => Vec::new(),
        };
        let mut values = Vec::new();
        for expr in &elements {
            let value = self.expr(expr, Some(element))?;
            values.push((expr.0, self.coerce(expr.0, value, element)?));
        }
        self.array_of_references(values, element)
    }

    /// The array of these values, which hold references; an empty one has elements of the given type.
    pub(super) fn array_of_references(&mut self, values: Vec<(Pos, Val)>, element: &Ty) -> Result<Val> {
        let joined = |actual: Ty, ty: &Ty| actual.in_memories(&join_memories(&actual, ty));
        let mut types = values.iter().map(|(_, value)| &value.ty);
        let element = types.next().map_or_else(|| element.clone(), |first| types.fold(first.clone(), joined));
        let count = values.len() as u64;
        let mut leaves = Vec::new();
        for (at, value) in values {
            leaves.extend(self.conform(at, value, &element)?.leaves);
        }
        Ok(Val { ty: Ty::Array(Box::new(element), count), leaves })
    }

    /// Returns an uninitialised array, which is written before it is read. The memories of its references are those of
    /// the first value written.
    pub(super) fn uninit_array(&mut self, ty: &Ty) -> Val {
        if !ty.is_plain() {
            return self.build.uninit(&ty.pointing_nowhere());
        }
        let array = self.build.new_array("array", ty);
        self.build.fresh(array)
    }

    /// Converts a slice to an array, or to a reference to one: `Ok` if the lengths are equal.
    pub(super) fn array_of_slice(&mut self, ty: &Ty, slice: &Val) -> Val {
        let (array, memory) = (super::types::strip_refs(ty.clone()), slice.ty.memories()[0]);
        let (Ty::Array(_, count), [ptr, len, ..]) = (&array, &slice.leaves[..]) else {
            return self.build.placeholder(ty);
        };
        let count = self.build.constant(Scalar::U64, *count);
        let fits = self.build.compare(CompareOp::Eq, *len, count);
        let value = match ty {
            Ty::Ref(..) => Val { ty: Ty::Ref(Box::new(array), memory), leaves: vec![*ptr] },
            _ => {
                let made = self.build.new_array("array", &array);
                let (copied, done) = self.build.fork(fits);
                self.build.select_block(copied);
                self.build.copy((*ptr, memory.space()), made.only(), Space::Local, &array);
                self.build.jump_into(done);
                self.build.fresh(made)
            }
        };
        self.build.result_of_one_error(fits, value, ty_of::<TryFromSliceError>())
    }

    /// Lowers `array[index] = value` for an array whose elements hold references: selects the old or the new value for
    /// each element.
    pub(super) fn replace_element(&mut self, base: &'static Expr, index: &'static Expr, value: Val) -> Result<()> {
        let at = index.0;
        let place = self.place_for(base, Access::Mutable)?;
        let place = self.deref_all(place);
        let index = self.scalar(index, Scalar::U64)?;
        let Place::Slots(Ty::Array(element, count), slots, root) = place else {
            return Err(self.error(
                at,
                "elements of an array of references can be replaced only in a variable; bind it with `let mut`",
            ));
        };
        if self.scopes.checks_bounds() {
            self.check_index(at, index, count);
        }
        let leaves = element.leaves().len();
        for number in 0..count {
            let one = Place::Slots((*element).clone(), slots[number as usize * leaves..][..leaves].to_vec(), root);
            // the first element decides the memories of all references
            let value = self.convert_for_place(at, &one, value.clone())?;
            if self.build.ended() {
                return Ok(());
            }
            let number = self.build.constant(Scalar::U64, number);
            let is_it = self.build.compare(CompareOp::Eq, index, number);
            let mut chosen = self.build.read(&one);
            for ((old, new), ty) in chosen.leaves.iter_mut().zip(&value.leaves).zip(element.leaves()) {
                *old = self.build.value(Op::Select(is_it, *new, *old), ty);
            }
            self.write(at, &one, chosen)?;
        }
        Ok(())
    }

    /// Adds the elements that a slice pattern names, where the array's elements hold references, to the work list.
    pub(super) fn test_values(
        &mut self,
        patterns: &'static [Pattern],
        rest: Option<usize>,
        place: &Place,
        parts: &mut Parts,
        names: &mut Names,
    ) {
        let Ty::Array(element, count) = place.ty() else { return };
        let count = *count as usize;
        let some = |from: usize, ty: Ty| {
            let leaves = from * element.leaves().len();
            let leaves = leaves..leaves + ty.leaves().len();
            match place {
                Place::Slots(_, slots, root) => Place::Slots(ty, slots[leaves].to_vec(), *root),
                Place::Fixed(value) => Place::Fixed(Val { ty, leaves: value.leaves[leaves].to_vec() }),
                Place::Memory(..) => place.clone(),
            }
        };
        for (index, pattern) in patterns.iter().enumerate().rev() {
            if Some(index) == rest {
                let Pattern::At(number, _) = pattern else { continue };
                let taken = Ty::Array(element.clone(), (count + 1 - patterns.len()) as u64);
                names.push((*number, some(index, taken)));
                continue;
            }
            let number = if rest.is_some_and(|rest| index > rest) { count + index - patterns.len() } else { index };
            parts.push((pattern, some(number, (**element).clone())));
        }
    }

    /// Stores an expression's value at an address; nested array expressions are written in place.
    fn fill(&mut self, expr: &'static Expr, ty: &Ty, to: Value) -> Result<()> {
        let (ExprKind::Array(_) | ExprKind::Repeat(_), Ty::Array(element, count)) = (&expr.1, ty) else {
            let value = self.expr_in_place(expr, Some(ty))?;
            let value = self.coerce(expr.0, value, ty)?;
            if !self.build.ended() {
                self.build.store(to, Space::Local, &value);
            }
            return Ok(());
        };
        let stride = element.count();
        match &expr.1 {
            ExprKind::Array(elements) => {
                for (index, expr) in (0..).zip(*elements) {
                    let place = self.build.element_at(to, element, Space::Local, index * stride);
                    self.fill(expr, element, place)?;
                }
            }
            ExprKind::Repeat(expr) => {
                let value = self.expr_in_place(expr, Some(element))?;
                let value = self.coerce(expr.0, value, element)?;
                if self.build.ended() {
                    return Ok(());
                }
                let stride = self.build.constant(crate::kir::Scalar::U64, stride);
                self.build.each(*count, |build, index| {
                    let index = build.scaled(index, element.count(), stride);
                    let place = build.value(Op::Offset(to, index), Type::Ptr(Space::Local, element.pointee()));
                    build.store(place, Space::Local, &value);
                });
            }
            _ => {}
        }
        Ok(())
    }

    /// Selects the element at an index of an array whose elements hold references.
    pub(super) fn choose(&mut self, at: Pos, array: &Val, index: Value, known: Option<u64>) -> Result<Place> {
        let Ty::Array(element, count) = &array.ty else {
            return Err(self.error(at, format!("a value of type `{}` cannot be indexed", ty_name(&array.ty))));
        };
        let leaves = element.leaves();
        let of = |index: u64| &array.leaves[index as usize * leaves.len()..][..leaves.len()];
        if let Some(index) = known.filter(|index| index < count) {
            return Ok(Place::Fixed(Val { ty: (**element).clone(), leaves: of(index).to_vec() }));
        }
        let mut chosen = of(0).to_vec();
        for candidate in 1..*count {
            let number = self.build.constant(crate::kir::Scalar::U64, candidate);
            let is_it = self.build.compare(crate::kir::CompareOp::Eq, index, number);
            for ((chosen, other), ty) in chosen.iter_mut().zip(of(candidate)).zip(&leaves) {
                *chosen = self.build.value(Op::Select(is_it, *other, *chosen), *ty);
            }
        }
        Ok(Place::Fixed(Val { ty: (**element).clone(), leaves: chosen }))
    }
}
