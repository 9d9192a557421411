//! Merges of control flow: the edge by which a block was reached, as far as the conditions at an access tell.
//!
//! `if let Some(p) = out.get_mut(i)` merges a flag and a pointer. The flag is true only if the block was reached by the
//! edge on which `i < out.len()` holds, so the pointer is that edge's operand.
//!
//! This is sound for blocks that are no loop headers. Let `B` be such a block, which dominates the access, and `e` the
//! edge by which it was last reached. The operands of `e`, and the conditions that hold on it, are evaluated before `B`.
//! If one was evaluated again between `B` and the access, without `B`, then `B` would dominate its block, which
//! dominates the source of `e`: `e` would be a back edge, and `B` a header. So at the access they have the values that
//! they had on `e`.

use super::graph::{Kind, NodeId};
use super::symbols::{Context, Meaning, Symbols};
use crate::kir::{CompareOp, Scalar};

impl Symbols<'_> {
    /// The block of a phi that is no loop header's.
    fn merging_block(&self, node: NodeId) -> Option<usize> {
        let Kind::Phi(block, _) = self.graph.nodes[node].kind else { return None };
        (!self.graph.loops.iter().any(|of| of.header == block)).then_some(block)
    }

    /// The operand that a phi has at the access, if the edge is known by which its block was reached.
    pub(super) fn chosen_operand(&self, context: &Context, phi: NodeId) -> Option<NodeId> {
        let block = self.merging_block(phi)?;
        Some(self.graph.phis[&phi][*context.edges.get(&block)?])
    }

    /// Adds what a merged `bool` says: as for `a && b`.
    pub(super) fn assume_merged(&mut self, context: &mut Context, phi: NodeId, truth: bool, depth: usize) {
        let Some(block) = self.merging_block(phi) else { return };
        let graph = self.graph;
        if !context.edges.contains_key(&block) {
            let mut possible = (0..graph.phis[&phi].len()).filter(|&edge| {
                let operand = graph.phis[&phi][edge];
                match graph.nodes[operand].kind {
                    Kind::Const(bits) => (bits != 0) == truth,
                    _ => !graph.edge_conditions(graph.blocks[block].before[edge], block).contains(&(operand, !truth)),
                }
            });
            let (Some(edge), None) = (possible.next(), possible.next()) else { return };
            self.take_edge(context, block, edge, depth);
        }
        if let Some(operand) = self.chosen_operand(context, phi) {
            self.assume(context, operand, truth, depth);
        }
    }

    /// Adds what a comparison says of the edges by which the blocks of merged operands were reached: those on which it
    /// would be false are excluded.
    pub(super) fn compare_merged(
        &mut self,
        context: &mut Context,
        compared: (CompareOp, NodeId, NodeId),
        depth: usize,
    ) {
        let leaves = [compared.1, compared.2].into_iter().flat_map(|node| self.graph.leaves(node));
        let mut blocks: Vec<usize> = leaves.filter_map(|leaf| self.merging_block(leaf)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        for block in blocks {
            if context.edges.contains_key(&block) {
                continue;
            }
            let mut possible = Vec::new();
            for edge in 0..self.graph.blocks[block].before.len() {
                if !self.is_false_on(context, block, edge, compared) {
                    possible.push(edge);
                }
            }
            if let [edge] = possible[..] {
                self.take_edge(context, block, edge, depth);
            }
        }
    }

    /// Returns true if a comparison is false when a block is reached by an edge.
    fn is_false_on(
        &mut self,
        context: &mut Context,
        block: usize,
        edge: usize,
        (op, a, b): (CompareOp, NodeId, NodeId),
    ) -> bool {
        let mut trial = context.clone();
        trial.reach(block, edge);
        let (x, y) = (self.value(&mut trial, a), self.value(&mut trial, b));
        if self.has_stride(&x) || self.has_stride(&y) {
            return false;
        }
        let is_false = match x.plus(&y, -1).and_then(|difference| difference.as_constant()) {
            Some(difference) => !holds(op, difference),
            None => false,
        };
        if is_false {
            context.bounds.append(&mut trial.bounds);
        }
        is_false
    }

    /// Adds that a block was reached by an edge: the conditions that hold on the edge, and the values of phis.
    fn take_edge(&mut self, context: &mut Context, block: usize, edge: usize, depth: usize) {
        context.reach(block, edge);
        let graph = self.graph;
        for (condition, truth) in graph.edge_conditions(graph.blocks[block].before[edge], block) {
            self.assume(context, condition, truth, depth);
        }
        let of_block = |node: &NodeId| matches!(graph.nodes[*node].kind, Kind::Phi(of, _) if of == block);
        let mut phis: Vec<NodeId> = graph.phis.keys().copied().filter(of_block).collect();
        phis.sort_unstable();
        // Facts that name a phi are about its operand.
        for phi in phis.into_iter().filter(|phi| graph.scalar(*phi).is_some_and(Scalar::is_integer)) {
            let operand = self.value(context, graph.phis[&phi][edge]);
            context.facts.zero.extend(self.var(Meaning::Node(phi)).plus(&operand, -1));
        }
    }
}

/// Returns true if a comparison of two numbers holds, given their difference.
fn holds(op: CompareOp, difference: i128) -> bool {
    match op {
        CompareOp::Eq => difference == 0,
        CompareOp::Ne => difference != 0,
        CompareOp::Lt => difference < 0,
        CompareOp::Le => difference <= 0,
        CompareOp::Gt => difference > 0,
        CompareOp::Ge => difference >= 0,
    }
}
