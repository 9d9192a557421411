//! [`CopyPlan`]: two layouts of one shape, merged into as few axes as a copy between them needs.

use ndarray::Dimension;

use super::Layout;

/// An axis of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlanAxis {
    pub(crate) extent: usize,
    /// The stride in the target, in elements; not negative.
    pub(crate) to: isize,
    /// The stride in the source, in elements.
    pub(crate) from: isize,
}

/// A plan for a copy between two layouts. Axes of extent 1 are dropped; the target is iterated in ascending order; axes
/// that are contiguous in both are merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyPlan {
    /// The offset of the first copied element in the target, in elements from the target's first one.
    pub(crate) to: isize,
    /// The offset of the first copied element in the source, in elements from the source's first one.
    pub(crate) from: isize,
    /// The axes from the slowest in the target to the fastest.
    pub(crate) runs: Vec<PlanAxis>,
}

impl CopyPlan {
    /// A plan for a shape without zeros, and strides in elements. It is compiled once, and not for each type of element.
    pub(crate) fn new(shape: &[usize], to: &dyn Fn(usize) -> isize, from: &dyn Fn(usize) -> isize) -> Self {
        let mut plan = CopyPlan { to: 0, from: 0, runs: Vec::new() };
        let axes = shape.iter().enumerate().filter(|(_, extent)| **extent != 1);
        let mut runs: Vec<PlanAxis> =
            axes.map(|(axis, extent)| PlanAxis { extent: *extent, to: to(axis), from: from(axis) }).collect();
        for run in runs.iter_mut().filter(|run| run.to < 0) {
            let last = run.extent as isize - 1;
            plan.to += last * run.to;
            plan.from += last * run.from;
            (run.to, run.from) = (-run.to, -run.from);
        }
        runs.sort_by_key(|run| (std::cmp::Reverse(run.to), std::cmp::Reverse(run.from.unsigned_abs())));
        for run in runs {
            match plan.runs.last_mut() {
                Some(outer)
                    if run.to.checked_mul(run.extent as isize) == Some(outer.to)
                        && run.from.checked_mul(run.extent as isize) == Some(outer.from) =>
                {
                    *outer = PlanAxis { extent: outer.extent * run.extent, ..run };
                }
                _ => plan.runs.push(run),
            }
        }
        plan
    }

    /// A plan between two layouts of one shape without zeros.
    pub(crate) fn between<D: Dimension, E: Dimension>(to: &Layout<D>, from: &Layout<E>) -> Self {
        debug_assert_eq!(to.shape(), from.shape());
        CopyPlan::new(to.shape(), &|axis| to.stride(axis), &|axis| from.stride(axis))
    }

    /// The number of elements in a run that is contiguous in both: 1 or more.
    pub(crate) fn contiguous(&self) -> usize {
        match self.runs.last() {
            Some(PlanAxis { extent, to: 1, from: 1 }) => *extent,
            _ => 1,
        }
    }

    /// The axes outside of the contiguous run that [`contiguous`](CopyPlan::contiguous) counts.
    pub(crate) fn outer(&self) -> &[PlanAxis] {
        match self.runs.split_last() {
            Some((PlanAxis { to: 1, from: 1, .. }, outer)) => outer,
            _ => &self.runs,
        }
    }
}
