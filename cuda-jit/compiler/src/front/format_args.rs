//! The format arguments of `printf!` and panics: a number is one argument; tuples, arrays, structs, `Option`s and enums
//! are formatted by their parts.
//!
//! A part that depends on a variant is a choice. Each combination of choices is a branch that writes the whole text.

use std::collections::VecDeque;

use super::function::{Lowering, Result};
use super::place::Place;
use super::types::Val;
use crate::kir::{BlockId, CompareOp, Scalar, Terminator, Value};
use crate::libcalls::widening;
use crate::syntax::{Conversion, Pos};
use crate::typeinfo::{Memory, Ty};

/// The limit of branches that the choices of one text may make.
const MOST_CASES: usize = 64;

/// A part of a text.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Text(String),
    Value(Value, Scalar, Conversion),
    /// The discriminant, the parts for each of its values, and those for any other value.
    Choice(Value, Scalar, Vec<(u64, Vec<Part>)>, Vec<Part>),
}

impl Part {
    fn text(text: impl Into<String>) -> Part {
        Part::Text(text.into())
    }

    /// The number of texts that the choices in `parts` lead to.
    fn cases(parts: &[Part]) -> usize {
        let each = |part: &Part| match part {
            Part::Choice(_, _, cases, otherwise) => {
                cases.iter().map(|(_, parts)| Part::cases(parts)).fold(Part::cases(otherwise), usize::saturating_add)
            }
            _ => 1,
        };
        parts.iter().map(each).fold(1, usize::saturating_mul)
    }

    /// The largest number of values in one of the texts.
    pub(super) fn values(parts: &[Part]) -> usize {
        let each = |part: &Part| match part {
            Part::Text(_) => 0,
            Part::Value(..) => 1,
            Part::Choice(_, _, cases, otherwise) => {
                cases.iter().map(|(_, parts)| Part::values(parts)).fold(Part::values(otherwise), usize::max)
            }
        };
        parts.iter().map(each).sum()
    }
}

impl Lowering<'_> {
    /// The parts of a value in Rust's `{:?}` format.
    pub(super) fn debug_parts(&mut self, at: Pos, value: Val, conversion: Conversion) -> Result<Vec<Part>> {
        let place = self.deref_all(Place::Fixed(value));
        let value = self.build.read(&place);
        let ty = value.ty.clone();
        if let Ty::Ref(_, Memory::Text(text)) = ty {
            return Ok(vec![Part::text(text)]);
        }
        Ok(match &ty {
            Ty::Unit => vec![Part::text("()")],
            Ty::Scalar(scalar) => vec![Part::Value(value.only(), *scalar, conversion)],
            Ty::Struct(of) if let Some(widening) = widening(of.name) => {
                let wide = self.call_instance(at, &widening, vec![value])?;
                self.debug_parts(at, wide, conversion)?
            }
            Ty::Tuple(types) => {
                let end = if types.len() == 1 { ",)" } else { ")" };
                let parts = (0..types.len()).map(|index| value.part(index)).collect();
                self.delimited_parts(at, "(", parts, end, conversion)?
            }
            Ty::Array(..) => {
                let elements = self.array_elements(&value)?;
                self.delimited_parts(at, "[", elements, "]", conversion)?
            }
            Ty::Sum(of) => {
                let mut cases = Vec::with_capacity(of.variants.len());
                for (number, variant) in of.variants.iter().enumerate() {
                    let fields = of.fields_of(number).map(|index| value.part(index)).collect();
                    let names: Vec<_> = variant.fields.iter().map(|(name, _)| *name).collect();
                    cases.push((number as u64, self.debug_fields(at, variant.name, &names, fields, conversion)?));
                }
                // the cases are exhaustive
                let (_, last) = cases.pop().unwrap_or_default();
                vec![Part::Choice(value.leaves[0], of.tag(), cases, last)]
            }
            Ty::Enum(of, scalar) => {
                let named = |&(name, bits): &(&str, u64)| (bits, vec![Part::text(name)]);
                let mut cases: Vec<_> = of.variants.iter().map(named).collect();
                // the cases are exhaustive
                let (_, last) = cases.pop().unwrap_or_default();
                vec![Part::Choice(value.only(), *scalar, cases, last)]
            }
            Ty::Struct(of) => {
                let names: Vec<_> = of.fields.iter().map(|field| field.name).collect();
                let fields = (0..names.len()).map(|index| value.part(index)).collect();
                self.debug_fields(at, &crate::typeinfo::layout::ty_name(&ty), &names, fields, conversion)?
            }
            other => {
                let text =
                    format!("kernels do not print a value of type `{}`", crate::typeinfo::layout::ty_name(other));
                return Err(self.error(at, text));
            }
        })
    }

    /// The parts of a struct or variant; a field without a name has its number.
    fn debug_fields(
        &mut self,
        at: Pos,
        of: &str,
        names: &[&str],
        values: Vec<Val>,
        conversion: Conversion,
    ) -> Result<Vec<Part>> {
        let mut shown = vec![Part::text(of)];
        let named = names.first().is_some_and(|name| !name.starts_with(char::is_numeric));
        for (index, (name, value)) in names.iter().zip(values).enumerate() {
            let before = match (index, named) {
                (0, true) => format!(" {{ {name}: "),
                (0, false) => "(".to_owned(),
                (_, true) => format!(", {name}: "),
                (_, false) => ", ".to_owned(),
            };
            shown.push(Part::Text(before));
            shown.extend(self.debug_parts(at, value, conversion)?);
        }
        shown.extend((!names.is_empty()).then(|| Part::text(if named { " }" } else { ")" })));
        Ok(shown)
    }

    /// Values with separating commas between two delimiters.
    fn delimited_parts(
        &mut self,
        at: Pos,
        begin: &str,
        values: Vec<Val>,
        end: &str,
        conversion: Conversion,
    ) -> Result<Vec<Part>> {
        let mut parts = vec![Part::text(begin)];
        for (index, value) in values.into_iter().enumerate() {
            parts.extend((index > 0).then(|| Part::text(", ")));
            parts.extend(self.debug_parts(at, value, conversion)?);
        }
        parts.push(Part::text(end));
        Ok(parts)
    }

    /// The elements of an array.
    fn array_elements(&mut self, array: &Val) -> Result<Vec<Val>> {
        let Ty::Array(_, len) = array.ty else { return Ok(Vec::new()) };
        if !array.ty.is_plain() {
            let element = |index| self.choose(Pos(1, 1), array, array.leaves[0], Some(index));
            return (0..len)
                .map(element)
                .map(|place| {
                    place.map(|place| match place {
                        Place::Fixed(value) => value,
                        _ => Val::unit(),
                    })
                })
                .collect();
        }
        let (ptr, element, memory, len) = self.slice_of(&Place::Fixed(array.clone()))?;
        let of = super::slice::Elements { ptr, element, memory, len };
        let count = if let Ty::Array(_, count) = array.ty { count } else { 0 };
        let element = |index| {
            let index = self.build.constant(Scalar::U64, index);
            let place = self.nth(&of, index);
            self.build.read(&place)
        };
        Ok((0..count).map(element).collect())
    }

    /// Calls `finish` with the parts of each combination of choices, in a branch of its own. The branches join after
    /// `finish`.
    pub(super) fn each_case(
        &mut self,
        at: Pos,
        parts: Vec<Part>,
        finish: &mut dyn FnMut(&mut Self, &[Part]) -> Result<()>,
    ) -> Result<()> {
        if Part::cases(&parts) > MOST_CASES {
            let text = "this many `Option`s and enums in one text have too many combinations; write several texts";
            return Err(self.error(at, text));
        }
        let exit = self.build.block();
        self.case(parts.into(), Vec::new(), exit, finish)?;
        self.build.select_block(exit);
        Ok(())
    }

    fn case(
        &mut self,
        mut rest: VecDeque<Part>,
        mut done: Vec<Part>,
        exit: BlockId,
        finish: &mut dyn FnMut(&mut Self, &[Part]) -> Result<()>,
    ) -> Result<()> {
        while let Some(part) = rest.pop_front() {
            let Part::Choice(value, scalar, cases, otherwise) = part else {
                done.push(part);
                continue;
            };
            let following = |parts: Vec<Part>| parts.into_iter().chain(rest.iter().cloned()).collect();
            for (bits, parts) in cases {
                let chosen = self.build.constant(scalar, bits & scalar.mask() as u64);
                let is_it = self.build.compare(CompareOp::Eq, value, chosen);
                let (yes, no) = self.build.fork(is_it);
                self.build.select_block(yes);
                self.case(following(parts), done.clone(), exit, finish)?;
                self.build.select_block(no);
            }
            return self.case(following(otherwise), done, exit, finish);
        }
        finish(self, &done)?;
        self.build.end(Terminator::Jump(exit));
        Ok(())
    }
}
