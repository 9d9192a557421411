//! Items that are told by their numbers, from 0 on: elements, numbers, chunks, windows and rows, and what adaptors make of
//! such.

use super::function::{Captured, Lowering, Result};
use super::iterator::paired;
use super::numbers::Range;
use super::place::Place;
use super::plan::{Plan, Stage};
use super::slice::Elements;
use super::types::Val;
use crate::harvest::{Memory, Ty};
use crate::kir::{BinaryOp, CompareOp, Scalar, Value};
use crate::syntax::{Expr, ExprKind, Lit, Pos};

/// What items there are.
#[derive(Clone, Debug)]
pub(super) enum Items {
    /// Elements in memory, or references to them; neighbours lie so far apart.
    Elements {
        ptr: Value,
        element: Ty,
        memory: Memory,
        stride: Option<Value>,
        by_value: bool,
    },
    /// The elements of an array of what holds references.
    Values(Val),
    /// `first`, `first + step`, ..; downwards if so.
    Numbers {
        scalar: Scalar,
        first: Value,
        step: Option<Value>,
        down: bool,
    },
    /// Slices of so many elements, the last perhaps of fewer unless they are exact.
    Chunks {
        of: Elements,
        size: Value,
        exact: bool,
    },
    /// Slices of so many elements that overlap.
    Windows {
        of: Elements,
        size: Value,
    },
    /// The parts of a view along an axis.
    Lanes {
        view: Val,
        axis: usize,
    },
    Copied(Box<Items>),
    /// With their numbers.
    Numbered(Box<Items>),
    Mapped(Captured, Box<Items>),
    Pairs(Box<Items>, Box<Items>),
    /// From the last, of so many, to the first.
    Reversed(Box<Items>, Value),
    /// From that one on.
    Shifted(Box<Items>, Value),
    /// Every so manyth.
    Stepped(Box<Items>, Value),
}

/// Items, and how many there are.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) items: Items,
    pub(super) count: Value,
}

impl Lowering<'_> {
    /// A plan as items that are told by their numbers, which it [can](Plan::is_counted).
    pub(super) fn counted(&mut self, at: Pos, plan: Plan) -> Result<Counted> {
        Ok(match plan {
            Plan::Items(counted) => counted,
            Plan::Range(range) => self.numbers_of(range),
            Plan::Zip(a, b) => {
                let (a, b) = (self.counted(at, *a)?, self.counted(at, *b)?);
                let count = self.index_op(BinaryOp::Min, a.count, b.count);
                Counted { items: Items::Pairs(Box::new(a.items), Box::new(b.items)), count }
            }
            Plan::Staged(stage, inner) => {
                let Counted { items, count } = self.counted(at, *inner)?;
                let items = Box::new(items);
                match stage {
                    Stage::Copied => Counted { items: Items::Copied(items), count },
                    Stage::Enumerate => Counted { items: Items::Numbered(items), count },
                    Stage::Map(function) => Counted { items: Items::Mapped(function, items), count },
                    Stage::Take(most) => Counted { items: *items, count: self.index_op(BinaryOp::Min, count, most) },
                    Stage::Skip(by) => {
                        let skipped = self.index_op(BinaryOp::Min, count, by);
                        let count = self.index_op(BinaryOp::Sub, count, skipped);
                        Counted { items: Items::Shifted(items, by), count }
                    }
                    Stage::StepBy(step) => {
                        let count = self.steps(count, step);
                        Counted { items: Items::Stepped(items, step), count }
                    }
                    _ => return Err(self.error(at, "these items have no numbers; please report this")),
                }
            }
            _ => return Err(self.error(at, "these items have no numbers; please report this")),
        })
    }

    /// How many of so many items come in steps of `step`, which is not zero.
    pub(super) fn steps(&mut self, count: Value, step: Value) -> Value {
        let (zero, one) = (self.constant(Scalar::U64, 0), self.constant(Scalar::U64, 1));
        let last = self.index_op(BinaryOp::Sub, count, one);
        let whole = self.index_op(BinaryOp::Div, last, step);
        let steps = self.index_op(BinaryOp::Add, whole, one);
        let any = self.compare(CompareOp::Ne, count, zero);
        self.select(any, steps, zero, Scalar::U64)
    }

    /// The numbers of a range by their numbers.
    fn numbers_of(&mut self, range: Range) -> Counted {
        let Range { scalar, reversed, step, .. } = range;
        let all = self.numbers_in(&range);
        let first = self.first_of(&range);
        let count = match step {
            Some(step) => self.steps(all, step),
            None => all,
        };
        Counted { items: Items::Numbers { scalar, first, step, down: reversed }, count }
    }

    /// The item of a number, which there is.
    pub(super) fn item(&mut self, at: Pos, items: &Items, number: Value) -> Result<Val> {
        match items {
            Items::Elements { ptr, element, memory, stride, by_value } => {
                let offset = match stride {
                    Some(stride) => self.index_op(BinaryOp::Mul, number, *stride),
                    None => number,
                };
                let offset = self.scaled_by(offset, element.count());
                let place = self.moved(*ptr, offset, element.clone(), *memory);
                if *by_value { Ok(self.read(&place)) } else { Ok(self.reference(place, false)) }
            }
            Items::Values(array) => {
                let place = self.choose(at, array, number, None)?;
                Ok(self.read(&place))
            }
            Items::Numbers { scalar, first, step, down } => {
                let distance = match step {
                    Some(step) => self.index_op(BinaryOp::Mul, number, *step),
                    None => number,
                };
                let distance = self.cast_value(distance, Scalar::U64, *scalar);
                let op = if *down { BinaryOp::Sub } else { BinaryOp::Add };
                Ok(Val::scalar(*scalar, self.binary_value(op, *first, distance, *scalar)))
            }
            Items::Chunks { of, size, exact } => {
                let start = self.index_op(BinaryOp::Mul, number, *size);
                let len = match exact {
                    true => *size,
                    false => {
                        let left = self.index_op(BinaryOp::Sub, of.len, start);
                        self.index_op(BinaryOp::Min, left, *size)
                    }
                };
                Ok(self.slice_at(of.ptr, &of.element, of.memory, start, len))
            }
            Items::Windows { of, size } => Ok(self.slice_at(of.ptr, &of.element, of.memory, number, *size)),
            Items::Lanes { view, axis } => self.lane(at, view, *axis, number),
            Items::Copied(inner) => {
                let item = self.item(at, inner, number)?;
                Ok(self.value_of(item))
            }
            Items::Numbered(inner) => {
                let item = self.item(at, inner, number)?;
                Ok(paired(Val::scalar(Scalar::U64, number), item))
            }
            Items::Mapped(function, inner) => {
                let item = self.item(at, inner, number)?;
                self.invoke(at, function, vec![item])
            }
            Items::Pairs(a, b) => {
                let (a, b) = (self.item(at, a, number)?, self.item(at, b, number)?);
                Ok(paired(a, b))
            }
            Items::Reversed(inner, count) => {
                let one = self.constant(Scalar::U64, 1);
                let last = self.index_op(BinaryOp::Sub, *count, one);
                let number = self.index_op(BinaryOp::Sub, last, number);
                self.item(at, inner, number)
            }
            Items::Shifted(inner, by) => {
                let number = self.index_op(BinaryOp::Add, number, *by);
                self.item(at, inner, number)
            }
            Items::Stepped(inner, step) => {
                let number = self.index_op(BinaryOp::Mul, number, *step);
                self.item(at, inner, number)
            }
        }
    }

    /// `chunks`, `chunks_exact` and `windows`.
    pub(super) fn parts_of_slice(&mut self, at: Pos, name: &str, of: Elements, size: Value) -> Counted {
        let zero = self.constant(Scalar::U64, 0);
        let positive = self.compare(CompareOp::Ne, size, zero);
        let message = if name == "windows" { "window size must be non-zero" } else { "chunk size must be non-zero" };
        self.check(at, positive, message, &[]);
        match name {
            "windows" => {
                let one = self.constant(Scalar::U64, 1);
                let before = self.index_op(BinaryOp::Sub, size, one);
                let short = self.index_op(BinaryOp::Min, of.len, before);
                let count = self.index_op(BinaryOp::Sub, of.len, short);
                Counted { items: Items::Windows { of, size }, count }
            }
            "chunks" | "chunks_mut" => {
                let count = self.steps(of.len, size);
                Counted { items: Items::Chunks { of, size, exact: false }, count }
            }
            _ => {
                let count = self.index_op(BinaryOp::Div, of.len, size);
                Counted { items: Items::Chunks { of, size, exact: true }, count }
            }
        }
    }

    /// `rows`, `columns`, `outer_iter` and `axis_iter`: views of one dimension less.
    pub(super) fn lanes_of_view(&mut self, at: Pos, name: &str, place: &Place, axis: usize) -> Result<Plan> {
        let place = self.through(place.clone());
        let view = self.read(&place);
        let Ty::View(_, dims, _) = view.ty else { return Err(self.error(at, format!("this has no `{name}`"))) };
        let of_rows = name.starts_with("rows") || name.starts_with("columns");
        if axis >= dims || dims < 2 || of_rows && dims != 2 {
            let text = format!("kernels have no `{name}` of axis {axis} of a view of {dims} dimensions");
            return Err(self.error(at, text));
        }
        let count = view.leaves[1 + axis];
        Ok(Plan::Items(Counted { items: Items::Lanes { view, axis }, count }))
    }

    /// Which axis an argument names.
    pub(super) fn axis(&mut self, axis: &'static Expr) -> Result<usize> {
        let known = match &axis.1 {
            ExprKind::Lit(Lit::Int(value, _)) => Some(*value),
            ExprKind::Const(number) => self.frame().harvest.consts[*number as usize].cells.first().copied(),
            _ => None,
        };
        known.map(|axis| axis as usize).ok_or_else(|| self.error(axis.0, "which axis must be a constant in kernels"))
    }
}
