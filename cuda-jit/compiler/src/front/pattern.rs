//! Patterns: tests a place, then binds names.
//!
//! A pattern is matched with a work list of the parts that remain to be tested, each with its place, in Rust's order.
//! An or-pattern whose alternatives bind names, or whose arm has a guard, splits the list: the continuation is lowered
//! once for each alternative. A name is bound as rustc decided, by value or by reference. A name that rustc resolved to
//! a constant binds nothing and is compared with it.

use super::LowerError;
use super::builder::Builder;
use super::function::{Lowering, Result};
use super::place::Place;
use super::scopes::Scopes;
use super::types::Val;
use crate::kir::{BinaryOp, BlockId, CompareOp, Op, Scalar, Space, Terminator, Value};
use crate::syntax::{Lit, Pattern, Pos, ensure_sufficient_stack};
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{ConstValue, Memory, Resolved, Ty};

/// The work list: the parts of a pattern that remain to be tested, the next one last.
pub(super) type Parts = Vec<(&'static Pattern, Place)>;

/// The names that a pattern binds, each with its place.
pub(super) type Names = Vec<(u32, Place)>;

/// The continuation of a match; the block is the target of a failing guard.
pub(super) type Then<'a, 'p> = dyn FnMut(&mut Lowering<'p>, &Names, Option<BlockId>) -> Result<()> + 'a;

impl<'p> Lowering<'p> {
    /// Binds the names of an irrefutable pattern.
    pub(super) fn bind(&mut self, pattern: &'static Pattern, place: &Place) -> Result<()> {
        self.bind_or_fail(pattern, place, None)
    }

    /// Continues with the names bound if the place matches the pattern, else jumps to `fail`; without `fail` it always
    /// matches.
    pub(super) fn bind_or_fail(
        &mut self,
        pattern: &'static Pattern,
        place: &Place,
        fail: Option<BlockId>,
    ) -> Result<()> {
        if !self.scopes.splits(pattern, false) {
            return self.matched(pattern, place, fail, false, &mut |lowering, names, _| lowering.bind_names(names));
        }
        let mut merges = Vec::new();
        for number in self.scopes.names(pattern) {
            let ty = self.frame().binding_type(number).unwrap_or(Ty::Unit);
            merges.push((number, self.merge("or", ty)));
        }
        let (at, found) = (self.scopes.function_position(), self.build.block());
        self.matched(pattern, place, fail, false, &mut |lowering, names, _| {
            for (number, place) in names {
                let value = lowering.bound_value(*number, place)?;
                let merge = merges.iter().find(|(known, _)| known == number);
                merge.map_or(Ok(()), |(_, merge)| lowering.store_to_merge(at, value, *merge))?;
            }
            lowering.build.end(Terminator::Jump(found));
            Ok(())
        })?;
        self.build.select_block(found);
        for (number, merge) in merges {
            let value = self.merge_result(merge);
            self.bind_local(number, value);
        }
        Ok(())
    }

    /// Binds names to their places.
    pub(super) fn bind_names(&mut self, names: &Names) -> Result<()> {
        for (number, place) in names {
            let value = self.bound_value(*number, place)?;
            self.bind_local(*number, value);
        }
        Ok(())
    }

    /// The value of a name bound to a place: a reference if rustc says so and the place does not hold one already.
    fn bound_value(&mut self, number: u32, place: &Place) -> Result<Val> {
        match self.frame().binding_type(number) {
            Some(ref wanted @ Ty::Ref(ref to, memory)) if !place.ty().fits(wanted) && place.ty().fits(to) => {
                Ok(self.reference(place.clone(), memory.writable()))
            }
            Some(wanted) => {
                let value = self.build.read(place);
                self.coerce(self.scopes.function_position(), value, &wanted)
            }
            None => Ok(self.build.read(place)),
        }
    }

    /// Lowers `then` where the place matches, once for each alternative of the or-patterns that split it; otherwise
    /// jumps to `fail`. If the pattern is not split, lowering continues after the match.
    pub(super) fn matched(
        &mut self,
        pattern: &'static Pattern,
        place: &Place,
        fail: Option<BlockId>,
        guarded: bool,
        then: &mut Then<'_, 'p>,
    ) -> Result<()> {
        self.test(vec![(pattern, place.clone())], Vec::new(), fail, guarded, then)
    }

    fn test(
        &mut self,
        mut parts: Parts,
        mut names: Names,
        fail: Option<BlockId>,
        guarded: bool,
        then: &mut Then<'_, 'p>,
    ) -> Result<()> {
        while let Some((pattern, place)) = parts.pop() {
            match pattern {
                Pattern::Or(cases) if self.scopes.splits(pattern, guarded) => {
                    let Some((last, cases)) = cases.split_last() else { continue };
                    let with = |case: &'static Pattern| {
                        let mut parts = parts.clone();
                        parts.push((case, place.clone()));
                        parts
                    };
                    for case in cases {
                        let next = self.build.block();
                        ensure_sufficient_stack(|| self.test(with(case), names.clone(), Some(next), guarded, then))?;
                        self.build.select_block(next);
                    }
                    return ensure_sufficient_stack(|| self.test(with(last), names, fail, guarded, then));
                }
                Pattern::Or(cases) => self.test_any(cases, &place, fail)?,
                _ => self.test_one(pattern, place, fail, &mut parts, &mut names)?,
            }
        }
        then(self, &names, fail)
    }

    /// Tests a place as a whole, and adds the pattern's parts and names to the lists.
    fn test_one(
        &mut self,
        pattern: &'static Pattern,
        place: Place,
        fail: Option<BlockId>,
        parts: &mut Parts,
        names: &mut Names,
    ) -> Result<()> {
        match pattern {
            Pattern::Wild | Pattern::Rest | Pattern::Or(_) => {}
            Pattern::Bind(number) => match self.frame().named_constant(*number).cloned() {
                Some(constant) => self.test_constant(&place, &constant, fail)?,
                None => names.push((*number, place)),
            },
            Pattern::At(number, inner) => {
                names.push((*number, place.clone()));
                parts.push((inner, place));
            }
            Pattern::Path(number) => match self.frame().resolved_constant(*number).cloned() {
                Some(constant) => self.test_constant(&place, &constant, fail)?,
                None => {
                    let variant = self.scopes.asked_variant(self.scopes.function_position(), *number)?;
                    self.variant(&place, variant, fail);
                }
            },
            Pattern::Variant(number, fields) => {
                let variant = self.scopes.asked_variant(self.scopes.function_position(), *number)?;
                let place = self.variant(&place, variant, fail);
                self.note_fields(fields, &place, variant, parts)?;
            }
            Pattern::Ref(inner) => {
                let reference = self.build.read(&place);
                parts.push((inner, self.pointee_place(reference)));
            }
            Pattern::Tuple(_) | Pattern::Struct(_) => {
                let place = self.deref_all(place);
                self.note_fields(pattern, &place, 0, parts)?;
            }
            Pattern::Slice(patterns) => self.test_slice(patterns, place, fail, parts, names)?,
            Pattern::Lit(..) | Pattern::Const(_) | Pattern::Range(..) => {
                let Some(fail) = fail else { return Ok(()) };
                let place = self.deref_all(place);
                let value = self.build.read(&place);
                let (Ty::Scalar(scalar) | Ty::Enum(_, scalar)) = value.ty else {
                    return Err(self.scopes.misfit(&value.ty));
                };
                if let Some(matches) = self.matches(pattern, value.leaves[0], scalar) {
                    self.build.test_value(matches, fail);
                }
            }
        }
        Ok(())
    }

    /// Adds the fields that a tuple or struct pattern names to the work list; a type that is no enum has one variant.
    fn note_fields(
        &mut self,
        pattern: &'static Pattern,
        place: &Place,
        variant: usize,
        parts: &mut Parts,
    ) -> Result<()> {
        match pattern {
            Pattern::Tuple(patterns) => {
                if !matches!(place.ty(), Ty::Unit | Ty::Tuple(_) | Ty::Struct(_) | Ty::Sum(_)) {
                    return Err(self.scopes.misfit(place.ty()));
                }
                let own = place.ty().fields_of(variant);
                for (index, pattern) in spread(patterns, own.len()).into_iter().rev() {
                    parts.push((pattern, self.build.part(place, own.start + index)));
                }
            }
            Pattern::Struct(fields) => {
                for (name, pattern) in fields.iter().rev() {
                    let Some(index) = place.ty().field_of(variant, name) else {
                        let text = format!("a value of type `{}` has no field `{name}`", ty_name(place.ty()));
                        return Err(self.error(self.scopes.function_position(), text));
                    };
                    parts.push((pattern, self.build.part(place, index)));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Dereferences a place, and continues if it holds a variant.
    fn variant(&mut self, place: &Place, variant: usize, fail: Option<BlockId>) -> Place {
        let place = self.deref_all(place.clone());
        let Some(fail) = fail else { return place };
        match place.ty().clone() {
            Ty::Sum(_) => self.build.test_tag(&place, variant, fail),
            Ty::Enum(of, scalar) => {
                let value = self.build.read(&place).only();
                let number = self.build.constant_bits(scalar, u128::from(of.variants[variant].1) & scalar.mask());
                let same = self.build.compare(CompareOp::Eq, value, number);
                self.build.test_value(same, fail);
            }
            _ => {}
        }
        place
    }

    /// Continues if the place equals a constant, compared scalar by scalar.
    fn test_constant(&mut self, place: &Place, constant: &ConstValue, fail: Option<BlockId>) -> Result<()> {
        let Some(fail) = fail else { return Ok(()) };
        self.test_cells(place, &mut constant.cells.iter().copied(), fail)
    }

    fn test_cells(&mut self, place: &Place, cells: &mut dyn Iterator<Item = u128>, fail: BlockId) -> Result<()> {
        let place = self.deref_all(place.clone());
        match place.ty().clone() {
            Ty::Scalar(scalar) | Ty::Enum(_, scalar) => {
                let value = self.build.read(&place).only();
                let constant = self.build.constant_bits(scalar, cells.next().unwrap_or_default());
                let same = self.build.compare(CompareOp::Eq, value, constant);
                self.build.test_value(same, fail);
            }
            Ty::Sum(of) => {
                let variant = cells.next().unwrap_or_default() as usize;
                self.build.test_tag(&place, variant, fail);
                let own = of.fields_of(variant);
                for (index, field) in of.fields().enumerate() {
                    if own.contains(&index) {
                        let part = self.build.part(&place, index);
                        self.test_cells(&part, cells, fail)?;
                    } else {
                        cells.take(field.cells()).for_each(drop);
                    }
                }
            }
            Ty::Unit | Ty::Tuple(_) | Ty::Struct(_) => {
                for index in 0..place.ty().fields().len() {
                    let part = self.build.part(&place, index);
                    self.test_cells(&part, cells, fail)?;
                }
            }
            Ty::Array(_, count) => self.test_elements(&place, count, cells, fail)?,
            Ty::Slice(..) => {
                let (count, (.., len)) = (cells.next().unwrap_or_default() as u64, self.slice_of(&place)?);
                let wanted = self.build.constant(Scalar::U64, count);
                let same = self.build.compare(CompareOp::Eq, len, wanted);
                self.build.test_value(same, fail);
                self.test_elements(&place, count, cells, fail)?;
            }
            ty => return Err(self.scopes.misfit(&ty)),
        }
        Ok(())
    }

    fn test_elements(
        &mut self,
        place: &Place,
        count: u64,
        cells: &mut dyn Iterator<Item = u128>,
        fail: BlockId,
    ) -> Result<()> {
        let (ptr, element, memory, _) = self.slice_of(place)?;
        for index in 0..count {
            let offset = self.build.constant(Scalar::U64, index * element.count());
            let place = self.build.place_at(ptr, offset, element.clone(), memory);
            self.test_cells(&place, cells, fail)?;
        }
        Ok(())
    }

    /// Tests the length of a slice, and adds the elements that a slice pattern names, and the binding of `name @ ..`.
    fn test_slice(
        &mut self,
        patterns: &'static [Pattern],
        place: Place,
        fail: Option<BlockId>,
        parts: &mut Parts,
        names: &mut Names,
    ) -> Result<()> {
        let place = self.deref_all(place);
        let rest = patterns.iter().position(is_rest);
        if matches!(place.ty(), Ty::Array(..)) && !place.ty().is_plain() {
            self.test_values(patterns, rest, &place, parts, names);
            return Ok(());
        }
        let (ptr, element, memory, len) = self.slice_of(&place)?;
        if let (Ty::Slice(..), Some(fail)) = (place.ty(), fail) {
            let named = self.build.constant(Scalar::U64, (patterns.len() - usize::from(rest.is_some())) as u64);
            let op = if rest.is_some() { CompareOp::Ge } else { CompareOp::Eq };
            let fits = self.build.compare(op, len, named);
            self.build.test_value(fits, fail);
        }

        for (index, pattern) in patterns.iter().enumerate().rev() {
            let after = (patterns.len() - index) as u64;
            if Some(index) == rest {
                let Pattern::At(number, _) = pattern else { continue };
                let start = self.build.constant(Scalar::U64, index as u64);
                let taken = self.build.constant(Scalar::U64, patterns.len() as u64 - 1);
                let len = self.build.value(Op::Binary(BinaryOp::Sub, len, taken), Scalar::U64);
                let slice = self.slice_at(ptr, &element, memory, start, len);
                names.push((*number, Place::Fixed(self.rest_of(*number, slice))));
                continue;
            }
            let number = if rest.is_some_and(|rest| index > rest) {
                let back = self.build.constant(Scalar::U64, after);
                self.build.value(Op::Binary(BinaryOp::Sub, len, back), Scalar::U64)
            } else {
                self.build.constant(Scalar::U64, index as u64)
            };
            let offset = self.build.scaled_by(number, element.count());
            parts.push((pattern, self.build.place_at(ptr, offset, element.clone(), memory)));
        }
        Ok(())
    }

    /// The value of `name @ ..`: a slice, or an array if rustc says so.
    fn rest_of(&mut self, number: u32, slice: Val) -> Val {
        match self.frame().binding_type(number) {
            Some(ty @ Ty::Array(..)) => {
                let space = slice.ty.memories()[0].space();
                self.build.load(slice.leaves[0], space, &ty)
            }
            Some(Ty::Ref(to, _)) => {
                let memory = slice.ty.memories()[0];
                Val { ty: Ty::Ref(to, memory), leaves: vec![slice.leaves[0]] }
            }
            _ => slice,
        }
    }

    /// Continues if one of the patterns, none of which binds a name, matches.
    fn test_any(&mut self, cases: &'static [Pattern], place: &Place, fail: Option<BlockId>) -> Result<()> {
        let Some(fail) = fail else { return Ok(()) };
        let found = self.build.block();
        for case in cases {
            let next = self.build.block();
            let then: &mut Then<'_, 'p> = &mut |lowering, _, _| {
                lowering.build.end(Terminator::Jump(found));
                Ok(())
            };
            ensure_sufficient_stack(|| self.matched(case, place, Some(next), false, then))?;
            self.build.select_block(next);
        }
        self.build.end(Terminator::Jump(fail));
        self.build.select_block(found);
        Ok(())
    }

    /// Tests a number against a literal, constant or range; `None` if it always matches.
    fn matches(&mut self, pattern: &'static Pattern, value: Value, scalar: Scalar) -> Option<Value> {
        match pattern {
            Pattern::Range(start, end, inclusive) => {
                let low = self.bound(*start, CompareOp::Ge, value, scalar);
                let compare = if *inclusive { CompareOp::Le } else { CompareOp::Lt };
                let high = self.bound(*end, compare, value, scalar);
                match (low, high) {
                    (Some(a), Some(b)) => Some(self.build.value(Op::Binary(BinaryOp::And, a, b), Scalar::Bool)),
                    (a, b) => a.or(b),
                }
            }
            literal => self.bound(Some(literal), CompareOp::Eq, value, scalar),
        }
    }

    /// Compares a value with a literal or constant.
    fn bound(
        &mut self,
        bound: Option<&'static Pattern>,
        compare: CompareOp,
        value: Value,
        scalar: Scalar,
    ) -> Option<Value> {
        let bits = match bound? {
            Pattern::Const(number) => *self.frame().info.consts[*number as usize].cells.first()?,
            Pattern::Lit(lit, negated) => lit_bits(*lit, *negated, scalar),
            _ => return None,
        };
        let constant = self.build.constant_bits(scalar, bits);
        Some(self.build.compare(compare, value, constant))
    }

    /// The elements of a slice or array: address, element type, memory, length.
    pub(super) fn slice_of(&mut self, place: &Place) -> Result<(Value, Ty, Memory, Value)> {
        let place = self.deref_all(place.clone());
        if let Place::Memory(ptr, Ty::Array(element, len), memory) = &place {
            let len = self.build.constant(Scalar::U64, *len);
            return Ok((*ptr, (**element).clone(), *memory, len));
        }
        let value = self.build.read(&place);
        match value.ty {
            Ty::Slice(element, memory) => Ok((value.leaves[0], *element, memory, value.leaves[1])),
            Ty::Array(element, len) if element.is_plain() => {
                let len = self.build.constant(Scalar::U64, len);
                Ok((value.leaves[0], *element, Memory::Write(Space::Local), len))
            }
            other => Err(self
                .error(self.scopes.function_position(), format!("a value of type `{}` is no slice", ty_name(&other)))),
        }
    }
}

impl Scopes {
    /// The number of the variant that rustc reported.
    pub(super) fn asked_variant(&self, at: Pos, asked: u32) -> Result<usize> {
        let variant = match &self.frame().info.patterns[asked as usize] {
            Some(Resolved::Variant(variant)) => Some(*variant),
            _ => None,
        };
        self.known_variant(at, variant)
    }

    /// Returns the number of a variant; refuses an enum with values that the host cannot make, whose variants are
    /// unknown.
    pub(super) fn known_variant(&self, at: Pos, variant: Option<usize>) -> Result<usize> {
        let text = "kernels cannot use this variant: its enum has fields of a type that only the device can make";
        variant.ok_or_else(|| self.error(at, text))
    }

    fn misfit(&self, ty: &Ty) -> LowerError {
        self.error(self.function_position(), format!("a pattern does not fit a value of type `{}`", ty_name(ty)))
    }

    /// Returns true if the continuation of a pattern is lowered once per alternative of an or-pattern in it.
    pub(super) fn splits(&self, pattern: &Pattern, guarded: bool) -> bool {
        match pattern {
            Pattern::Or(cases) => guarded && !self.are_distinct(cases) || cases.iter().any(|case| self.binds(case)),
            pattern => {
                let mut parts = parts_of(pattern).into_iter();
                ensure_sufficient_stack(|| parts.any(|part| self.splits(part, guarded)))
            }
        }
    }

    /// Returns true if patterns are literals or constants, no two of which match the same value.
    fn are_distinct(&self, cases: &[Pattern]) -> bool {
        let is_exact = |ty: &Ty| matches!(ty, Ty::Scalar(scalar) if !scalar.is_float()) || matches!(ty, Ty::Enum(..));
        let value = |case: &Pattern| {
            let constant = match case {
                Pattern::Lit(Lit::Int(value, _), negated) => return Some((true, *value, *negated)),
                Pattern::Bind(number) => self.frame().named_constant(*number)?,
                Pattern::Path(number) => self.frame().resolved_constant(*number)?,
                _ => return None,
            };
            is_exact(&constant.ty).then(|| (false, constant.cells[0], false))
        };
        let Some(values) = cases.iter().map(value).collect::<Option<Vec<_>>>() else { return false };
        let distinct =
            |(index, value): (usize, &(bool, u128, bool))| value.0 == values[0].0 && !values[..index].contains(value);
        values.iter().enumerate().all(distinct)
    }

    /// Returns true if a pattern binds a name.
    pub(super) fn binds(&self, pattern: &Pattern) -> bool {
        !self.names(pattern).is_empty()
    }

    /// The names that a pattern binds, without duplicates.
    pub(super) fn names(&self, pattern: &Pattern) -> Vec<u32> {
        let mut names = Vec::new();
        self.names_of(pattern, &mut names);
        names
    }

    fn names_of(&self, pattern: &Pattern, names: &mut Vec<u32>) {
        if let Pattern::Bind(number) | Pattern::At(number, _) = pattern
            && self.frame().named_constant(*number).is_none()
            && !names.contains(number)
        {
            names.push(*number);
        }
        ensure_sufficient_stack(|| parts_of(pattern).iter().for_each(|part| self.names_of(part, names)));
    }
}

impl Builder {
    /// Continues if an enum with fields holds a variant.
    pub(super) fn test_tag(&mut self, place: &Place, variant: usize, fail: BlockId) {
        let tag = self.tag(place);
        let next = self.block();
        let end = match (place.ty().tag(), variant) {
            (Some(Scalar::Bool), 0) => Terminator::Branch(tag, fail, next),
            (Some(Scalar::Bool) | None, _) => Terminator::Branch(tag, next, fail),
            (Some(scalar), variant) => {
                let number = self.constant(scalar, variant as u64);
                Terminator::Branch(self.compare(CompareOp::Eq, tag, number), next, fail)
            }
        };
        self.end(end);
        self.select_block(next);
    }

    fn test_value(&mut self, holds: Value, fail: BlockId) {
        let next = self.block();
        self.end(Terminator::Branch(holds, next, fail));
        self.select_block(next);
    }

    /// Reads the discriminant of an enum with fields; that of an `Option` is true for `Some`.
    pub(super) fn tag(&mut self, place: &Place) -> Value {
        let tag = place.ty().tag().unwrap_or(Scalar::Bool);
        match place {
            Place::Fixed(value) => value.leaves[0],
            Place::Slots(_, slots, _) => self.value(Op::Get(slots[0]), tag),
            Place::Memory(ptr, _, memory) => {
                let at = self.part_at(*ptr, memory.space(), crate::typeinfo::layout::TAG, &Ty::Scalar(tag));
                self.value(Op::Load(at), tag)
            }
        }
    }
}

/// The direct subpatterns of a pattern.
fn parts_of(pattern: &Pattern) -> Vec<&Pattern> {
    match pattern {
        Pattern::Tuple(parts) | Pattern::Slice(parts) | Pattern::Or(parts) => parts.iter().collect(),
        Pattern::Struct(fields) => fields.iter().map(|(_, part)| part).collect(),
        Pattern::At(_, inner) | Pattern::Ref(inner) | Pattern::Variant(_, inner) => vec![inner],
        Pattern::Wild | Pattern::Bind(_) | Pattern::Rest | Pattern::Path(_) => Vec::new(),
        Pattern::Lit(..) | Pattern::Const(_) | Pattern::Range(..) => Vec::new(),
    }
}

/// Returns true for the rest pattern of a tuple or slice.
fn is_rest(pattern: &Pattern) -> bool {
    matches!(pattern, Pattern::Rest | Pattern::At(_, Pattern::Rest))
}

/// Pairs each pattern with the index of its part; those after a `..` are counted from the end.
fn spread(patterns: &'static [Pattern], count: usize) -> Vec<(usize, &'static Pattern)> {
    let rest = patterns.iter().position(is_rest).unwrap_or(patterns.len());
    let before = patterns[..rest].iter().enumerate();
    let after = patterns.get(rest + 1..).unwrap_or_default();
    let skipped = count - after.len();
    before.chain(after.iter().enumerate().map(|(index, pattern)| (skipped + index, pattern))).collect()
}

/// The bits of a literal in a type.
fn lit_bits(lit: Lit, negated: bool, scalar: Scalar) -> u128 {
    match lit {
        Lit::Bool(value) => u128::from(value),
        Lit::Text(_) => 0,
        Lit::Int(value, _) => (if negated { value.wrapping_neg() } else { value }) & scalar.mask(),
        Lit::Float(single, double, _) => {
            let (bits, sign) = match scalar {
                Scalar::F32 => (u128::from(single), 1 << 31),
                _ => (u128::from(double), 1 << 63),
            };
            if negated { bits ^ sign } else { bits }
        }
    }
}
