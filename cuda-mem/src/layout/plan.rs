//! [`CopyPlan`]: two layouts of one shape laid side by side, with as few axes as a copy between them needs.

use ndarray::Dimension;

use super::Layout;

/// An axis of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlanAxis {
    pub(crate) extent: usize,
    /// Between neighbours in the target, in elements; not negative.
    pub(crate) to: isize,
    /// Between neighbours in the source, in elements.
    pub(crate) from: isize,
}

/// How the elements of one layout go to those of another. Axes of extent 1 are left out; the target is walked forwards;
/// axes that follow each other without gaps in both are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyPlan {
    /// Where the first element goes, in elements from the target's first one.
    pub(crate) to: isize,
    /// Where it comes from, in elements from the source's first one.
    pub(crate) from: isize,
    /// From the slowest in the target to the fastest.
    pub(crate) runs: Vec<PlanAxis>,
}

impl CopyPlan {
    /// For a shape without zeros, and strides in elements.
    pub(crate) fn new(shape: &[usize], to: impl Fn(usize) -> isize, from: impl Fn(usize) -> isize) -> Self {
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

    /// Between two layouts of one shape without zeros.
    pub(crate) fn between<D: Dimension, E: Dimension>(to: &Layout<D>, from: &Layout<E>) -> Self {
        debug_assert_eq!(to.shape(), from.shape());
        CopyPlan::new(to.shape(), |axis| to.stride(axis), |axis| from.stride(axis))
    }

    /// How many elements one after the other go to as many one after the other: 1 or more.
    pub(crate) fn contiguous(&self) -> usize {
        match self.runs.last() {
            Some(PlanAxis { extent, to: 1, from: 1 }) => *extent,
            _ => 1,
        }
    }

    /// The axes that are left when what [`contiguous`](CopyPlan::contiguous) counts is one thing.
    pub(crate) fn outer(&self) -> &[PlanAxis] {
        match self.runs.split_last() {
            Some((PlanAxis { to: 1, from: 1, .. }, outer)) => outer,
            _ => &self.runs,
        }
    }
}
