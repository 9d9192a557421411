//! The dominator tree of a function's control-flow graph.
//!
//! It is computed by the iterative algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm", 2001)
//! over the reachable blocks. An unreachable block dominates, and is dominated by, itself alone.

use crate::{BlockId, Function, Terminator};

/// The dominator tree of a function.
#[derive(Debug)]
pub(super) struct Dominators {
    /// The index of each block in reverse postorder; `None` if it is unreachable.
    order: Vec<Option<usize>>,
    /// The immediate dominator of each block, both by index in reverse postorder; the entry's is itself.
    parents: Vec<usize>,
}

impl Dominators {
    /// Computes the dominators of a function. Nonexistent targets are ignored.
    pub(super) fn of(function: &Function) -> Self {
        let successors: Vec<Vec<usize>> = function.blocks.iter().map(|block| targets(&block.end)).collect();
        let blocks = reverse_postorder(&successors);
        let mut order = vec![None; function.blocks.len()];
        for (place, &block) in blocks.iter().enumerate() {
            order[block] = Some(place);
        }
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (place, &block) in blocks.iter().enumerate() {
            for target in successors[block].iter().filter_map(|&target| *order.get(target)?) {
                predecessors[target].push(place);
            }
        }
        Self { parents: solve(&predecessors), order }
    }

    /// Returns true if every path from the entry to `b` passes `a`.
    pub(super) fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let (Some(a), Some(mut b)) = (self.order[a.index()], self.order[b.index()]) else { return a == b };
        while b > a {
            b = self.parents[b];
        }
        a == b
    }
}

fn targets(end: &Terminator) -> Vec<usize> {
    match end {
        Terminator::Jump(target) => vec![target.index()],
        Terminator::Branch(_, yes, no) => vec![yes.index(), no.index()],
        Terminator::Return(_) | Terminator::Panic(..) => Vec::new(),
    }
}

fn reverse_postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    let mut stack = Vec::new();
    if let Some(first) = seen.first_mut() {
        *first = true;
        stack.push((0, 0));
    }
    while let Some((block, next)) = stack.last_mut() {
        let block = *block;
        let Some(&target) = successors[block].get(*next) else {
            order.push(block);
            stack.pop();
            continue;
        };
        *next += 1;
        if seen.get(target) == Some(&false) {
            seen[target] = true;
            stack.push((target, 0));
        }
    }
    order.reverse();
    order
}

/// Computes the immediate dominators, given each block's predecessors in reverse postorder.
fn solve(predecessors: &[Vec<usize>]) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let mut parents = vec![UNKNOWN; predecessors.len()];
    if let Some(entry) = parents.first_mut() {
        *entry = 0;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for block in 1..predecessors.len() {
            let known = predecessors[block].iter().copied().filter(|&before| parents[before] != UNKNOWN);
            let parent = known.reduce(|a, b| meet(&parents, a, b)).unwrap_or(UNKNOWN);
            if parents[block] != parent {
                parents[block] = parent;
                changed = true;
            }
        }
    }
    parents
}

/// The nearest common dominator.
fn meet(parents: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        if a > b {
            a = parents[a];
        } else {
            b = parents[b];
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    #[test]
    fn a_diamond_in_a_loop() {
        let text = "kir 1 kernel f(v0 c: bool) { b0: jump b1 b1: branch v0, b2, b3 b2: jump b4 b3: jump b4
                    b4: branch v0, b1, b5 b5: return b6: jump b5 }";
        let module = text::parse(text).unwrap();
        let dominators = Dominators::of(&module.functions[0]);
        let dominates = |a, b| dominators.dominates(BlockId(a), BlockId(b));
        assert!(dominates(0, 5) && dominates(1, 4) && dominates(4, 5) && dominates(2, 2) && dominates(6, 6));
        assert!(!dominates(2, 4) && !dominates(3, 4) && !dominates(4, 1) && !dominates(6, 5) && !dominates(0, 6));
    }
}
