//! Values that alternate between two from one iteration of a loop to the next: the buffer of `cur = 1 - cur`, `cur ^= 1`
//! or `(cur, next) = (next, cur)`.
//!
//! The phis of a header are a state that an iteration maps to the next one. If two iterations map the state at the loop's
//! start to itself, a phi has its first value after an even number of iterations, and its second one after an odd number.

use std::collections::BTreeMap;

use super::graph::{Kind, NodeId};
use super::poly::Poly;
use super::symbols::{Meaning, Symbols};

/// The values of the phis of a loop's header, or the pointers that they are.
pub(super) type State = BTreeMap<NodeId, u128>;

impl Symbols<'_> {
    /// The value of an integer that is a function of constants and of a phi that alternates.
    pub(super) fn alternating(&mut self, node: NodeId) -> Option<Poly> {
        let scalar = self.graph.scalar(node)?;
        let leaves = self.graph.leaves(node);
        let mut phis = leaves.into_iter().filter(|leaf| !matches!(self.graph.nodes[*leaf].kind, Kind::Const(_)));
        let (Some(phi), None) = (phis.next(), phis.next()) else { return None };
        let (index, states) = self.alternation(phi)?;
        let value = |state: &State| {
            let bits = self.graph.folded(node, &|leaf| state.get(&leaf).copied())?;
            super::symbols::number(bits, scalar)
        };
        let [even, odd] = [value(&states[0])?, value(&states[1])?];
        Poly::constant(even).plus(&self.var(Meaning::Parity(index)), odd.checked_sub(even)?)
    }

    /// The loop of a header's phi, and the values of the phis that it depends on after even and odd numbers of iterations.
    fn alternation(&self, phi: NodeId) -> Option<(usize, [State; 2])> {
        let graph = self.graph;
        let Kind::Phi(block, _) = graph.nodes[phi].kind else { return None };
        let index = graph.loops.iter().position(|of| of.header == block)?;
        let mut phis = vec![phi];
        let mut seen = 0;
        while let Some(&next) = phis.get(seen) {
            seen += 1;
            for leaf in graph.phis[&next].iter().flat_map(|operand| graph.leaves(*operand)) {
                match graph.nodes[leaf].kind {
                    Kind::Const(_) => {}
                    Kind::Phi(of, _) if of == block => {
                        if !phis.contains(&leaf) {
                            phis.push(leaf);
                        }
                    }
                    _ => return None,
                }
            }
        }
        let even = self.state_after(index, &phis, None)?;
        let odd = self.state_after(index, &phis, Some(&even))?;
        (self.state_after(index, &phis, Some(&odd))? == even).then_some((index, [even, odd]))
    }

    /// The state after an iteration that begins with a state, or at the loop's start, if all edges agree.
    fn state_after(&self, index: usize, phis: &[NodeId], before: Option<&State>) -> Option<State> {
        let of = &self.graph.loops[index];
        let given = |leaf: NodeId| before.and_then(|state| state.get(&leaf)).copied();
        let mut state = State::new();
        for phi in phis {
            for (source, operand) in self.graph.blocks[of.header].before.iter().zip(&self.graph.phis[phi]) {
                if of.body.contains(source) == before.is_some() {
                    let value = self.graph.folded(*operand, &given)?;
                    if state.insert(*phi, value).is_some_and(|known| known != value) {
                        return None;
                    }
                }
            }
        }
        Some(state)
    }
}
