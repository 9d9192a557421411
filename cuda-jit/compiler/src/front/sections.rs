//! `view.slice(s![..])`: the bounds and step of each axis.

use super::axes::AxisNumber;
use super::builder::Builder;
use super::function::{Lowering, Result};
use super::types::Val;
use super::view::{Axis, View};
use crate::kir::{BinaryOp, CompareOp, Scalar, Value};
use crate::syntax::{Expr, ExprKind, Lit, Pos, Section, UnaryOp, ensure_sufficient_stack};
use crate::typeinfo::Ty;

/// A number in `s![..]`: an `isize`, where negative ones count from the end.
#[derive(Clone, Copy)]
enum SectionIndex {
    /// A literal.
    Known(i64),
    /// A value that is never negative.
    Unsigned(Value),
    Signed(Value),
}

/// The section of one axis.
enum AxisSection {
    Index(SectionIndex),
    Range { start: Option<SectionIndex>, end: Option<SectionIndex>, inclusive: bool, step: Option<SectionIndex> },
    New,
}

impl Lowering<'_> {
    /// Lowers `view.slice(sections)`.
    pub(super) fn sliced(&mut self, at: Pos, mut view: View, sections: &'static Expr) -> Result<Val> {
        let ExprKind::Sections(written) = &sections.1 else {
            return Err(self.error(at, "write the sections here, as in `s![1.., 0]`"));
        };
        let mut sections = Vec::with_capacity(written.len());
        for section in *written {
            sections.push(self.section_of(section)?);
        }
        let (mut axes, mut offset) = (std::mem::take(&mut view.axes).into_iter().enumerate(), None);
        let mut left = Vec::with_capacity(sections.len());
        for section in sections {
            let (moved, axis) = match (section, &mut axes) {
                (AxisSection::New, _) => (None, Some(self.new_axis())),
                (AxisSection::Index(number), axes) => match axes.next() {
                    Some((index, axis)) => (Some(self.offset_of(at, index, axis, number)), None),
                    None => return Err(self.error(at, "this `s![..]` has more entries than the view has axes")),
                },
                (AxisSection::Range { start, end, inclusive, step }, axes) => match axes.next() {
                    Some((index, axis)) => {
                        let (moved, axis) = self.range_offset(at, (index, axis), [start, end], inclusive, step);
                        (moved, Some(axis))
                    }
                    None => return Err(self.error(at, "this `s![..]` has more entries than the view has axes")),
                },
            };
            offset = match (offset, moved) {
                (Some(a), Some(b)) => Some(self.build.index_op(BinaryOp::Add, a, b)),
                (a, b) => a.or(b),
            };
            left.extend(axis);
        }
        view.axes = left;
        if let Some(offset) = offset {
            self.move_view(&mut view, offset);
        }
        Ok(view.into_val())
    }

    fn section_of(&mut self, section: &'static Section) -> Result<AxisSection> {
        Ok(match section {
            Section::Index(Expr(_, ExprKind::Cast(written, _))) if matches!(self.ty_of(written), Some(Ty::Unit)) => {
                self.expr(written, None)?;
                AxisSection::New
            }
            Section::Index(index) => AxisSection::Index(self.section_index(index)?),
            Section::Range(start, end, inclusive, step) => {
                let mut number = |of: &Option<&'static Expr>| of.map(|of| self.section_index(of)).transpose();
                AxisSection::Range {
                    start: number(start)?,
                    end: number(end)?,
                    inclusive: *inclusive,
                    step: number(step)?,
                }
            }
        })
    }

    fn section_index(&mut self, number: &'static Expr) -> Result<SectionIndex> {
        let ExprKind::Cast(written, _) = &number.1 else { return Err(self.error(number.0, "this is no number")) };
        if let Some(known) = literal(written) {
            return Ok(SectionIndex::Known(known));
        }
        let signed = !matches!(self.ty_of(written), Some(Ty::Scalar(scalar)) if !scalar.is_signed());
        let value = self.scalar(number, Scalar::I64)?;
        Ok(if signed { SectionIndex::Signed(value) } else { SectionIndex::Unsigned(self.build.unsigned_bits(value)) })
    }

    /// The offset, in elements, of an index on an axis.
    fn offset_of(&mut self, at: Pos, number: usize, axis: Axis, index: SectionIndex) -> Value {
        let index = self.build.absolute(index, axis.extent);
        self.check_place(at, AxisNumber::Known(number), index, axis.extent);
        self.build.index_op(BinaryOp::Mul, index, axis.stride)
    }

    /// The offset, in elements, of a range's first element, unless it is zero, and the resulting axis.
    fn range_offset(
        &mut self,
        at: Pos,
        (number, axis): (usize, Axis),
        [start, end]: [Option<SectionIndex>; 2],
        inclusive: bool,
        step: Option<SectionIndex>,
    ) -> (Option<Value>, Axis) {
        let Axis { extent, stride } = axis;
        let zero = self.build.constant(Scalar::U64, 0);
        let first = start.map(|start| self.build.absolute(start, extent));
        let mut last = end.map(|end| self.build.absolute(end, extent));
        if let (Some(end), true) = (&mut last, inclusive) {
            let one = self.build.constant(Scalar::U64, 1);
            *end = self.build.index_op(BinaryOp::Add, *end, one);
        }
        // a range whose end is before its start is empty
        let end = match (first, last) {
            (Some(first), Some(last)) => self.build.index_op(BinaryOp::Max, first, last),
            (Some(first), None) => self.build.index_op(BinaryOp::Max, first, extent),
            (None, last) => last.unwrap_or(extent),
        };
        let begin = first.unwrap_or(zero);
        if first.is_some() || last.is_some() {
            let inside = self.build.compare(CompareOp::Le, end, extent);
            let message = format!("range {{0}}..{{1}} is out of bounds of axis {number}, which has length {{2}}");
            self.check_subslice(at, inside, &message, &[begin, end, extent]);
        }
        let count = match first {
            Some(first) => self.build.index_op(BinaryOp::Sub, end, first),
            None => end,
        };
        let Some(step) = step else {
            let moved = first.map(|first| self.build.index_op(BinaryOp::Mul, first, stride));
            return (moved, Axis { extent: count, stride });
        };
        self.with_step(at, (first, end), Axis { extent: count, stride }, step)
    }

    /// Applies a step to a range from `first` to before `end`; a negative one runs backwards from the last element.
    fn with_step(
        &mut self,
        at: Pos,
        (first, end): (Option<Value>, Value),
        Axis { extent, stride }: Axis,
        step: SectionIndex,
    ) -> (Option<Value>, Axis) {
        let (zero, one) = (self.build.constant(Scalar::U64, 0), self.build.constant(Scalar::U64, 1));
        let (step, size, begin) = match step {
            SectionIndex::Known(known) => {
                if known == 0 {
                    let never = self.build.constant(Scalar::Bool, 0);
                    self.check(at, never, "the step of a slice must not be zero", &[]);
                }
                let begin = if known < 0 { Some(self.build.index_op(BinaryOp::Sub, end, one)) } else { first };
                let [step, size] = [known.cast_unsigned(), known.unsigned_abs().max(1)]
                    .map(|number| self.build.constant(Scalar::U64, number));
                (step, size, begin)
            }
            SectionIndex::Unsigned(value) | SectionIndex::Signed(value) => {
                let step = match step {
                    SectionIndex::Signed(_) => self.build.unsigned_bits(value),
                    _ => value,
                };
                let holds = self.build.compare(CompareOp::Ne, step, zero);
                self.check(at, holds, "the step of a slice must not be zero", &[]);
                let minimum = self.build.constant(Scalar::U64, 1 << 63);
                let backwards = self.build.compare(CompareOp::Ge, step, minimum);
                let negated = self.build.index_op(BinaryOp::Sub, zero, step);
                let size = self.build.select(backwards, negated, step, Scalar::U64);
                let last = self.build.index_op(BinaryOp::Sub, end, one);
                (step, size, Some(self.build.select(backwards, last, first.unwrap_or(zero), Scalar::U64)))
            }
        };
        let more = self.build.index_op(BinaryOp::Sub, size, one);
        let more = self.build.index_op(BinaryOp::Add, extent, more);
        let axis = Axis {
            extent: self.build.index_op(BinaryOp::Div, more, size),
            stride: self.build.index_op(BinaryOp::Mul, stride, step),
        };
        (begin.map(|begin| self.build.index_op(BinaryOp::Mul, begin, stride)), axis)
    }
}

impl Builder {
    fn unsigned_bits(&mut self, value: Value) -> Value {
        self.cast_value(value, Scalar::I64, Scalar::U64)
    }

    /// Resolves an index that may count from the end; one that is out of bounds becomes a number that is too large.
    fn absolute(&mut self, number: SectionIndex, extent: Value) -> Value {
        match number {
            SectionIndex::Known(known) if known >= 0 => self.constant(Scalar::U64, known.cast_unsigned()),
            SectionIndex::Known(known) => {
                let back = self.constant(Scalar::U64, known.cast_unsigned());
                self.index_op(BinaryOp::Add, extent, back)
            }
            SectionIndex::Unsigned(value) => value,
            SectionIndex::Signed(value) => {
                let zero = self.constant(Scalar::I64, 0);
                let negative = self.compare(CompareOp::Lt, value, zero);
                let bits = self.unsigned_bits(value);
                let back = self.index_op(BinaryOp::Add, extent, bits);
                self.select(negative, back, bits, Scalar::U64)
            }
        }
    }
}

/// The value of an integer literal, also a negated one.
fn literal(expr: &Expr) -> Option<i64> {
    match &expr.1 {
        ExprKind::Lit(Lit::Int(value, _)) => i64::try_from(*value).ok(),
        ExprKind::Unary(UnaryOp::Neg, inner) => ensure_sufficient_stack(|| literal(inner)).map(|value| -value),
        _ => None,
    }
}
