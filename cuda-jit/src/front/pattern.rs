//! Patterns: testing a place against one, then binding its names.
//!
//! A name is bound as rustc says: by value, or as a reference to the part of the place that it names.

use super::function::{Lowering, Result};
use super::layout::shown;
use super::place::Place;
use super::types::Val;
use crate::harvest::{Memory, Ty};
use crate::kir::{BinaryOp, BlockId, CompareOp, Op, Scalar, Space, Terminator, UnaryOp, Value};
use crate::syntax::{Lit, Pattern, ensure_sufficient_stack};

impl Lowering<'_> {
    /// Binds the names of a pattern that matches.
    pub(super) fn bind(&mut self, pattern: &'static Pattern, place: &Place) -> Result<()> {
        match pattern {
            Pattern::Bind(number) => self.bind_name(*number, place),
            Pattern::At(number, inner) => {
                self.bind_name(*number, place)?;
                self.bind(inner, place)
            }
            _ => {
                for (pattern, part) in self.parts_of(pattern, place)? {
                    ensure_sufficient_stack(|| self.bind(pattern, &part))?;
                }
                Ok(())
            }
        }
    }

    /// Binds a name to a place: to a reference where rustc says that it is one and the place holds none.
    fn bind_name(&mut self, number: u32, place: &Place) -> Result<()> {
        let ty = self.frame().binding_type(number);
        let value = match ty {
            Some(ref wanted @ Ty::Ref(ref to, memory)) if !place.ty().fits(wanted) && place.ty().fits(to) => {
                self.reference(self.beginning(), place.clone(), memory.writable())?
            }
            Some(wanted) => {
                let value = self.read(place);
                self.coerce(self.beginning(), value, &wanted)?
            }
            None => self.read(place),
        };
        self.bind_local(number, value);
        Ok(())
    }

    /// The patterns in a pattern, each with the part of the place that it is about.
    fn parts_of(&mut self, pattern: &'static Pattern, place: &Place) -> Result<Vec<(&'static Pattern, Place)>> {
        if let Pattern::Ref(inner) = pattern {
            let reference = self.read(place);
            return Ok(vec![(inner, self.behind(reference))]);
        }
        if matches!(pattern, Pattern::Wild | Pattern::Lit(..) | Pattern::Const(_) | Pattern::Range(..)) {
            return Ok(Vec::new());
        }
        let place = self.through(place.clone());
        let mut parts = Vec::new();
        match (pattern, place.ty()) {
            (Pattern::Tuple(patterns), Ty::Tuple(_) | Ty::Struct(_)) => {
                let count = place.ty().parts().len();
                for (index, pattern) in spread(patterns, count) {
                    parts.push((pattern, self.part(&place, index)));
                }
            }
            (Pattern::Struct(fields), ty @ Ty::Struct(_)) => {
                let ty = ty.clone();
                for (name, pattern) in *fields {
                    let Some(index) = ty.field(name) else {
                        let text = format!("a value of type `{}` has no field `{name}`", shown(&ty));
                        return Err(self.error(self.beginning(), text));
                    };
                    parts.push((pattern, self.part(&place, index)));
                }
            }
            (Pattern::Some(inner), Ty::Option(_)) => parts.push((inner, self.part(&place, 0))),
            (Pattern::Slice(patterns), _) => return self.slice_parts(patterns, &place),
            _ => {}
        }
        Ok(parts)
    }

    /// The elements that a slice pattern names, and what `name @ ..` does.
    fn slice_parts(&mut self, patterns: &'static [Pattern], place: &Place) -> Result<Vec<(&'static Pattern, Place)>> {
        let (ptr, element, memory, len) = self.slice_of(place)?;
        let rest = patterns.iter().position(is_rest);
        let mut parts = Vec::new();
        for (index, pattern) in patterns.iter().enumerate() {
            let after = (patterns.len() - index) as u64;
            if Some(index) == rest {
                let Pattern::At(number, _) = pattern else { continue };
                let start = self.constant(Scalar::U64, index as u64);
                let taken = self.constant(Scalar::U64, patterns.len() as u64 - 1);
                let len = self.build.value(Op::Binary(BinaryOp::Sub, len, taken), Scalar::U64);
                let slice = self.slice_at(ptr, &element, memory, start, len);
                self.bind_rest(*number, slice)?;
                continue;
            }
            let number = if rest.is_some_and(|rest| index > rest) {
                let back = self.constant(Scalar::U64, after);
                self.build.value(Op::Binary(BinaryOp::Sub, len, back), Scalar::U64)
            } else {
                self.constant(Scalar::U64, index as u64)
            };
            let offset = self.scaled_by(number, element.count());
            parts.push((pattern, self.moved(ptr, offset, element.clone(), memory)));
        }
        Ok(parts)
    }

    /// `name @ ..`: a slice, or an array where rustc says that it is one.
    fn bind_rest(&mut self, number: u32, slice: Val) -> Result<()> {
        let value = match self.frame().binding_type(number) {
            Some(ty @ Ty::Array(..)) => {
                let space = slice.ty.memories()[0].space();
                self.load(slice.leaves[0], space, &ty)
            }
            Some(Ty::Ref(to, _)) => {
                let memory = slice.ty.memories()[0];
                Val { ty: Ty::Ref(to, memory), leaves: vec![slice.leaves[0]] }
            }
            _ => slice,
        };
        self.bind_local(number, value);
        Ok(())
    }

    /// Goes on where the place matches the pattern, elsewhere in `fail`. Names are not bound yet.
    pub(super) fn test(&mut self, pattern: &'static Pattern, place: &Place, fail: BlockId) -> Result<()> {
        match pattern {
            Pattern::Wild | Pattern::Bind(_) | Pattern::Rest => Ok(()),
            Pattern::At(_, inner) => self.test(inner, place, fail),
            Pattern::Some(_) => {
                let place = self.through(place.clone());
                let tag = self.tag(&place);
                self.test_value(tag, fail);
                self.test_parts(pattern, &place, fail)
            }
            Pattern::None => {
                let place = self.through(place.clone());
                let tag = self.tag(&place);
                let none = self.build.value(Op::Unary(UnaryOp::Not, tag), Scalar::Bool);
                self.test_value(none, fail);
                Ok(())
            }
            Pattern::Slice(patterns) => {
                let place = self.through(place.clone());
                if let Ty::Slice(..) = place.ty() {
                    let (.., len) = self.slice_of(&place)?;
                    let rest = patterns.iter().any(is_rest);
                    let named = self.constant(Scalar::U64, (patterns.len() - usize::from(rest)) as u64);
                    let op = if rest { CompareOp::Ge } else { CompareOp::Eq };
                    let fits = self.compare(op, len, named);
                    self.test_value(fits, fail);
                }
                self.test_parts(pattern, &place, fail)
            }
            Pattern::Or(patterns) => self.test_any(patterns, place, fail),
            Pattern::Tuple(_) | Pattern::Struct(_) | Pattern::Ref(_) => self.test_parts(pattern, place, fail),
            Pattern::Lit(..) | Pattern::Const(_) | Pattern::Range(..) => {
                let place = self.through(place.clone());
                let value = self.read(&place);
                let scalar = match value.ty {
                    Ty::Scalar(scalar) | Ty::Enum(_, scalar) => scalar,
                    ty => {
                        let text = format!("a pattern does not fit a value of type `{}`", shown(&ty));
                        return Err(self.error(self.beginning(), text));
                    }
                };
                if let Some(matches) = self.matches(pattern, value.leaves[0], scalar) {
                    self.test_value(matches, fail);
                }
                Ok(())
            }
        }
    }

    fn test_parts(&mut self, pattern: &'static Pattern, place: &Place, fail: BlockId) -> Result<()> {
        if let Pattern::Slice(patterns) = pattern
            && patterns.iter().all(|pattern| matches!(pattern, Pattern::Wild | Pattern::Bind(_)) || is_rest(pattern))
        {
            return Ok(());
        }
        for (pattern, part) in self.parts_of(pattern, place)? {
            ensure_sufficient_stack(|| self.test(pattern, &part, fail))?;
        }
        Ok(())
    }

    /// Goes on where any of the patterns matches.
    fn test_any(&mut self, patterns: &'static [Pattern], place: &Place, fail: BlockId) -> Result<()> {
        let found = self.build.block();
        for pattern in patterns {
            let next = self.build.block();
            ensure_sufficient_stack(|| self.test(pattern, place, next))?;
            self.build.end(Terminator::Jump(found));
            self.build.select_block(next);
        }
        self.build.end(Terminator::Jump(fail));
        self.build.select_block(found);
        Ok(())
    }

    fn test_value(&mut self, holds: Value, fail: BlockId) {
        let next = self.build.block();
        self.build.end(Terminator::Branch(holds, next, fail));
        self.build.select_block(next);
    }

    /// Whether an `Option` is `Some`.
    pub(super) fn tag(&mut self, place: &Place) -> Value {
        match place {
            Place::Fixed(value) => value.leaves[0],
            Place::Slots(_, slots, _) => self.build.value(Op::Get(slots[0]), Scalar::Bool),
            Place::Memory(ptr, _, memory) => {
                let at = self.part_at(*ptr, memory.space(), super::layout::TAG, &Ty::Scalar(Scalar::Bool));
                self.build.value(Op::Load(at), Scalar::Bool)
            }
        }
    }

    /// Whether a number matches a literal, a constant or a range; nothing if it always does.
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
            Pattern::Const(number) => *self.frame().harvest.consts[*number as usize].cells.first()?,
            Pattern::Lit(lit, negated) => lit_bits(*lit, *negated, scalar),
            _ => return None,
        };
        let constant = self.constant_bits(scalar, bits);
        Some(self.compare(compare, value, constant))
    }

    /// The elements behind a place that is a slice or an array: address, type, memory, length.
    pub(super) fn slice_of(&mut self, place: &Place) -> Result<(Value, Ty, Memory, Value)> {
        let place = self.through(place.clone());
        if let Place::Memory(ptr, Ty::Array(element, len), memory) = &place {
            let len = self.constant(Scalar::U64, *len);
            return Ok((*ptr, (**element).clone(), *memory, len));
        }
        let value = self.read(&place);
        match value.ty {
            Ty::Slice(element, memory) => Ok((value.leaves[0], *element, memory, value.leaves[1])),
            Ty::Array(element, len) if element.is_plain() => {
                let len = self.constant(Scalar::U64, len);
                Ok((value.leaves[0], *element, Memory::Write(Space::Local), len))
            }
            other => Err(self.error(self.beginning(), format!("a value of type `{}` is no slice", shown(&other)))),
        }
    }
}

/// Whether a pattern among those of a tuple or slice stands for the rest.
fn is_rest(pattern: &Pattern) -> bool {
    matches!(pattern, Pattern::Rest | Pattern::At(_, Pattern::Rest))
}

/// Which part of `count` each pattern is about; those after a `..` count from the end.
fn spread(patterns: &'static [Pattern], count: usize) -> Vec<(usize, &'static Pattern)> {
    let rest = patterns.iter().position(is_rest).unwrap_or(patterns.len());
    let before = patterns[..rest].iter().enumerate();
    let after = patterns.get(rest + 1..).unwrap_or_default();
    let skipped = count - after.len();
    before.chain(after.iter().enumerate().map(|(index, pattern)| (skipped + index, pattern))).collect()
}

/// A literal's bits in a type.
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
