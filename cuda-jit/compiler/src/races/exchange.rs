//! Exchanges between the threads `i` and `i ^ j`, as in sorting networks.
//!
//! If both threads have the same `j`, then `a ^ j = b ^ j` says no more and no less than `a = b`, and `a ^ j = b` than
//! `a = b ^ j`. With `i ^ j > i` in both threads, neither is the other one's partner.

use super::graph::{Kind, NodeId};
use super::linear::Facts;
use super::poly::{Poly, Side};
use super::prove::{Prover, Relation};
use super::symbols::{Context, Meaning};
use crate::kir::BinaryOp;

/// The number of pairs of exclusive ors that are related.
const MOST_PAIRS: usize = 16;

/// An exclusive or in one of the threads: the symbol, the operand that varies, and the one that both threads have.
struct Partner {
    value: Poly,
    own: Poly,
    common: Poly,
}

impl Prover<'_> {
    /// Pairs of polynomials of which the second is zero if the first is.
    pub(super) fn exchange_laws(
        &mut self,
        contexts: [&mut Context; 2],
        relation: &Relation,
        facts: &Facts,
    ) -> Vec<(Poly, Poly)> {
        let [first, second] = contexts;
        let first = self.partners(first, Side::First, relation, facts);
        let second = self.partners(second, Side::Second, relation, facts);
        let pairs = first.iter().flat_map(|a| second.iter().map(move |b| (a, b)));
        let mut laws = Vec::new();
        for (a, b) in pairs.filter(|(a, b)| a.common == b.common).take(MOST_PAIRS) {
            for (premise, conclusion) in
                [[(&a.value, &b.value), (&a.own, &b.own)], [(&a.value, &b.own), (&a.own, &b.value)]]
                    .map(|[x, y]| (x.0.plus(x.1, -1), y.0.plus(y.1, -1)))
            {
                let (Some(premise), Some(conclusion)) = (premise, conclusion) else { continue };
                laws.push((conclusion.clone(), premise.clone()));
                laws.push((premise, conclusion));
            }
        }
        laws
    }

    /// The exclusive ors of a thread with what both threads have.
    fn partners(&mut self, context: &mut Context, side: Side, relation: &Relation, facts: &Facts) -> Vec<Partner> {
        let mut partners = Vec::new();
        for node in self.exclusive_ors(facts) {
            let Kind::Binary(_, a, b) = self.graph.nodes[node].kind else { continue };
            let value = self.symbols.value(context, node);
            let value = self.on(side, relation, &value);
            for (own, common) in [(a, b), (b, a)] {
                let [own, common] = [own, common].map(|operand| {
                    let operand = self.symbols.value(context, operand);
                    self.on(side, relation, &operand)
                });
                if common.vars().all(|var| var.side == Side::Both) {
                    partners.push(Partner { value: value.clone(), own, common });
                }
            }
        }
        partners
    }

    /// The exclusive ors that facts are about.
    fn exclusive_ors(&self, facts: &Facts) -> Vec<NodeId> {
        let node_of = |symbol: u32| match self.symbols.meanings[symbol as usize] {
            Meaning::Node(node) => Some(node),
            _ => None,
        };
        let mut nodes: Vec<NodeId> = facts.vars().filter_map(|var| node_of(var.symbol)).collect();
        nodes.retain(|node| matches!(self.graph.nodes[*node].kind, Kind::Binary(BinaryOp::Xor, ..)));
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}
