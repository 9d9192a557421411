//! Plans of iterators: the source and the adaptors of an iterator expression, before any of it runs.
//!
//! Only the arguments that the expression names are evaluated. [`super::iterator`] gives a plan its state.

use std::rc::Rc;

use super::function::{Captured, Lowering, Result};
use super::items::{Counted, Items};
use super::iterator::Iter;
use super::numbers::Range;
use super::place::Place;
use super::slice::Elements;
use super::types::{Val, behind};
use crate::harvest::{Memory, Ty};
use crate::kir::{CompareOp, Scalar, Space, Value};
use crate::syntax::{Expr, ExprKind, Pattern, Pos, ensure_sufficient_stack};

/// An iterator expression.
#[derive(Clone, Debug)]
pub(super) enum Plan {
    /// Items that are told by their numbers.
    Items(Counted),
    /// Numbers.
    Range(Range),
    /// The elements of a view of several dimensions; with their places, if true.
    Grid(Val, bool),
    /// One that was begun under a name.
    Begun(Rc<Iter>),
    /// An adaptor of one iterator.
    Staged(Stage, Box<Plan>),
    /// `a.chain(b)`
    Chain(Box<Plan>, Box<Plan>),
    /// `a.zip(b)`
    Zip(Box<Plan>, Box<Plan>),
}

/// An adaptor of one iterator.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    Copied,
    Enumerate,
    Filter(Captured),
    FilterMap(Captured),
    Inspect(Captured),
    Map(Captured),
    MapWhile(Captured),
    /// The function, and the value of its state at first.
    Scan(Captured, Val),
    Skip(Value),
    SkipWhile(Captured),
    StepBy(Value),
    Take(Value),
    TakeWhile(Captured),
}

impl Lowering<'_> {
    /// Plans an expression as an iterator. `wanted` is the type of a range's numbers, where the surroundings say it.
    pub(super) fn plan(&mut self, expr: &'static Expr, wanted: Option<Scalar>) -> Result<Plan> {
        let outer = self.go_to(expr.0);
        let plan = ensure_sufficient_stack(|| match &expr.1 {
            ExprKind::Range(start, end, inclusive, ty) => self.range(start, *end, *inclusive, *ty, wanted),
            ExprKind::Iterate(name, of, args) => self.adapted(expr.0, name, of, args, wanted),
            ExprKind::Binding(number) if let Some(iter) = self.frame().iterators.get(number) => {
                Ok(Plan::Begun(iter.clone()))
            }
            _ => self.plan_of(expr, false),
        });
        self.build.set_place(outer);
        plan
    }

    /// The elements of an array, slice or view; of an array by value, which may be written while they are taken unless it
    /// `stays` as it is.
    pub(super) fn plan_of(&mut self, expr: &'static Expr, stays: bool) -> Result<Plan> {
        let outer = self.go_to(expr.0);
        let mut place = self.place(expr)?;
        let by_value = matches!(place.ty(), Ty::Array(..));
        if let Place::Memory(_, Ty::Array(..), memory) = &place
            && memory.writable()
            && !stays
        {
            let array = self.read_settled(&place);
            let array = self.stable(array);
            place = Place::Memory(array.only(), array.ty, Memory::Write(Space::Local));
        }
        let plan = self.elements_of(expr.0, place, by_value);
        self.build.set_place(outer);
        plan
    }

    /// The elements of a slice, array or view, or references to them.
    pub(super) fn elements_of(&mut self, at: Pos, place: Place, by_value: bool) -> Result<Plan> {
        let place = self.through(place);
        match place {
            Place::Fixed(array @ Val { ty: Ty::Array(_, len), .. }) if !array.ty.is_plain() => {
                let count = self.constant(Scalar::U64, len);
                Ok(Plan::Items(Counted { items: Items::Values(array), count }))
            }
            place if matches!(place.ty(), Ty::View(..)) => {
                let view = self.read(&place);
                Ok(match &view.ty {
                    Ty::View(element, 1, memory) => {
                        let (ptr, element, memory) = (view.leaves[0], (**element).clone(), *memory);
                        let (count, stride) = (view.leaves[1], Some(view.leaves[2]));
                        Plan::Items(Counted {
                            items: Items::Elements { ptr, element, memory, stride, by_value },
                            count,
                        })
                    }
                    _ => Plan::Grid(view, false),
                })
            }
            place if matches!(place.ty(), Ty::Array(..) | Ty::Slice(..)) => {
                let (ptr, element, memory, count) = self.slice_of(&place)?;
                Ok(Plan::Items(Counted {
                    items: Items::Elements { ptr, element, memory, stride: None, by_value },
                    count,
                }))
            }
            place => {
                let text =
                    format!("kernels do not iterate over a value of type `{}`", super::layout::shown(place.ty()));
                Err(self.error(at, text))
            }
        }
    }

    /// What a method that makes an iterator yields.
    fn adapted(
        &mut self,
        at: Pos,
        name: &'static str,
        of: &'static Expr,
        args: &'static [Expr],
        wanted: Option<Scalar>,
    ) -> Result<Plan> {
        match name {
            "iter" | "iter_mut" => {
                let place = self.place(of)?;
                self.elements_of(at, place, false)
            }
            "chunks" | "chunks_mut" | "chunks_exact" | "chunks_exact_mut" | "windows" => {
                let place = self.place(of)?;
                let (ptr, element, memory, len) = self.slice_of(&place)?;
                let size = self.scalar(&args[0], Scalar::U64)?;
                Ok(Plan::Items(self.parts_of_slice(at, name, Elements { ptr, element, memory, len }, size)))
            }
            "rows" | "rows_mut" | "columns" | "columns_mut" | "outer_iter" | "outer_iter_mut" | "axis_iter"
            | "axis_iter_mut" => {
                let axis = match args {
                    [axis] => self.axis(axis)?,
                    _ => usize::from(name.starts_with("columns")),
                };
                let place = self.place(of)?;
                self.lanes_of_view(at, name, &place, axis)
            }
            "indexed_iter" => {
                let place = self.place(of)?;
                match self.elements_of(at, place, false)? {
                    Plan::Grid(view, _) => Ok(Plan::Grid(view, true)),
                    one => Ok(Plan::Staged(Stage::Enumerate, Box::new(one))),
                }
            }
            _ => {
                let plan = self.plan(of, wanted)?;
                self.stage(at, name, plan, args)
            }
        }
    }

    /// What an adaptor makes of an iterator.
    fn stage(&mut self, at: Pos, name: &'static str, plan: Plan, args: &'static [Expr]) -> Result<Plan> {
        let stage = match (name, args) {
            ("by_ref" | "fuse" | "into_iter", _) => return Ok(plan),
            ("rev", _) => return self.reversed(at, plan),
            ("zip" | "chain", [other]) => {
                let (first, second) = (Box::new(plan), Box::new(self.plan(other, None)?));
                return Ok(if name == "zip" { Plan::Zip(first, second) } else { Plan::Chain(first, second) });
            }
            ("copied" | "cloned", _) => Stage::Copied,
            ("enumerate", _) => Stage::Enumerate,
            ("step_by", [step]) => {
                let step = self.step(step)?;
                match plan {
                    Plan::Range(Range { step: None, .. }) => {}
                    plan => return Ok(Plan::Staged(Stage::StepBy(step), Box::new(plan))),
                }
                let Plan::Range(range) = plan else { return Err(self.error(at, "this is no range")) };
                return Ok(Plan::Range(Range { step: Some(step), ..range }));
            }
            ("take", [count]) => Stage::Take(self.scalar(count, Scalar::U64)?),
            ("skip", [count]) => Stage::Skip(self.scalar(count, Scalar::U64)?),
            ("map", [function]) => Stage::Map(self.callable(function)?),
            ("filter", [function]) => Stage::Filter(self.callable(function)?),
            ("filter_map", [function]) => Stage::FilterMap(self.callable(function)?),
            ("inspect", [function]) => Stage::Inspect(self.callable(function)?),
            ("map_while", [function]) => Stage::MapWhile(self.callable(function)?),
            ("skip_while", [function]) => Stage::SkipWhile(self.callable(function)?),
            ("take_while", [function]) => Stage::TakeWhile(self.callable(function)?),
            ("scan", [state, function]) => {
                let ty = self.state_type(function).or_else(|| self.ty_of(state));
                let state = self.expr(state, ty.as_ref())?;
                let function = self.callable(function)?;
                Stage::Scan(function, state)
            }
            _ => {
                return Err(
                    self.error(at, format!("the front end has no iterator method `{name}`; please report this"))
                );
            }
        };
        Ok(Plan::Staged(stage, Box::new(plan)))
    }

    /// The referent of the first parameter of a closure.
    fn state_type(&self, function: &Expr) -> Option<Ty> {
        let ExprKind::Closure(closure) = &function.1 else { return None };
        let Some(Pattern::Bind(number)) = closure.params.first() else { return None };
        self.frame().binding_type(*number).map(behind)
    }

    /// A step, which must not be zero.
    fn step(&mut self, step: &'static Expr) -> Result<Value> {
        let value = self.scalar(step, Scalar::U64)?;
        let zero = self.constant(Scalar::U64, 0);
        let positive = self.compare(CompareOp::Ne, value, zero);
        self.check(step.0, positive, "assertion failed: step != 0", &[]);
        Ok(value)
    }

    /// The same items from the last to the first.
    fn reversed(&mut self, at: Pos, plan: Plan) -> Result<Plan> {
        Ok(match plan {
            Plan::Range(range @ Range { step: None, .. }) => Plan::Range(Range { reversed: !range.reversed, ..range }),
            Plan::Staged(
                stage @ (Stage::Copied | Stage::Filter(_) | Stage::FilterMap(_) | Stage::Inspect(_) | Stage::Map(_)),
                inner,
            ) => Plan::Staged(stage, Box::new(self.reversed(at, *inner)?)),
            Plan::Chain(first, second) => {
                Plan::Chain(Box::new(self.reversed(at, *second)?), Box::new(self.reversed(at, *first)?))
            }
            plan if plan.is_counted() => {
                let Counted { items, count } = self.counted(at, plan)?;
                Plan::Items(Counted { items: Items::Reversed(Box::new(items), count), count })
            }
            _ => {
                let text = "kernels do not reverse this iterator; reverse it before it is bound, or a view by its axes";
                return Err(self.error(at, text));
            }
        })
    }
}

impl Plan {
    /// Returns true if items are computed from their numbers.
    pub(super) fn is_counted(&self) -> bool {
        match self {
            Plan::Items(_) | Plan::Range(_) => true,
            Plan::Staged(
                Stage::Copied | Stage::Enumerate | Stage::Map(_) | Stage::Skip(_) | Stage::StepBy(_) | Stage::Take(_),
                inner,
            ) => inner.is_counted(),
            Plan::Zip(a, b) => a.is_counted() && b.is_counted(),
            _ => false,
        }
    }

    /// Returns true if functions make items that the plan skips: they are called for those too.
    pub(super) fn skips_calls(&self) -> bool {
        match self {
            Plan::Staged(Stage::Skip(_) | Stage::StepBy(_), inner) => inner.calls(),
            Plan::Staged(_, inner) => inner.skips_calls(),
            Plan::Zip(a, b) => a.skips_calls() || b.skips_calls(),
            _ => false,
        }
    }

    fn calls(&self) -> bool {
        match self {
            Plan::Staged(Stage::Map(_), _) => true,
            Plan::Staged(_, inner) => inner.calls(),
            Plan::Zip(a, b) => a.calls() || b.calls(),
            _ => false,
        }
    }
}
