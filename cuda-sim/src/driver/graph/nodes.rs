//! Graphs: nodes, the edges between them, and clones.
//!
//! Invariant: the dependencies of a node are distinct nodes of the same graph. Cycles are detected at instantiation, as
//! in NVIDIA's driver.
//!
//! # Safety
//!
//! The one `unsafe impl` lets stored attributes move between threads: they are plain values.

use super::conditional::ConditionalValue;
use super::exec::Exec;
use super::object::Retained;
use super::{Graphs, INVALID, Status, Work};
use crate::driver::operations::Op;
use cuda_sys::{CUgraphNodeType, CUlaunchAttributeValue, CUresult};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Weak};

pub(super) struct Node {
    pub(super) work: Work,
    /// The nodes on which this one depends.
    pub(super) after: Vec<usize>,
    /// Kernel launch attributes without effect here, by number.
    pub(super) attributes: Attributes,
    /// Addresses of the parameters, which a client may read until the node changes.
    pub(super) exposed: Vec<usize>,
}

/// Stored launch attributes.
#[derive(Clone, Default)]
pub(super) struct Attributes(pub(super) HashMap<u32, CUlaunchAttributeValue>);
// SAFETY: plain values; pointers among them are the client's and never dereferenced.
unsafe impl Send for Attributes {}

#[derive(Default)]
pub(super) struct Graph {
    /// By handle, and so in the order of creation.
    pub(super) nodes: BTreeMap<usize, Node>,
    /// True for a child node's own graph, which the client may change but not destroy.
    pub(super) owned: bool,
    /// True while streams are being captured into it.
    pub(super) capturing: bool,
    /// For a clone: its nodes, by the nodes that they were cloned from.
    cloned: HashMap<usize, usize>,
    /// The user objects that it retains, with their counts.
    pub(super) kept: Retained,
    /// The executable graph that currently owns its memory.
    pub(super) executable: Weak<Exec>,
    /// The values of its conditional nodes, and of those in its bodies.
    pub(super) values: Vec<Arc<ConditionalValue>>,
    /// The graph that contains it as a body.
    pub(super) around: Option<usize>,
}

impl Node {
    pub(super) fn new(work: Work, after: Vec<usize>) -> Node {
        Node { work, after, attributes: Attributes::default(), exposed: Vec::new() }
    }
}

impl Graph {
    /// Returns true if it has allocation or free nodes, which allow only one executable graph at a time.
    pub(super) fn has_memory(&self) -> bool {
        self.nodes.values().any(|node| matches!(&node.work, Work::Op(_, Op::Memory(..))))
    }

    /// Returns true if it has nodes that cannot be cloned: memory nodes and conditional nodes.
    fn is_unique(&self) -> bool {
        self.has_memory() || self.nodes.values().any(|node| matches!(&node.work, Work::Conditional(_)))
    }

    /// Returns the edges: for each node its dependencies, in the order of the nodes.
    pub(super) fn edges(&self) -> Vec<(usize, usize)> {
        self.nodes.iter().flat_map(|(to, node)| node.after.iter().map(move |from| (*from, *to))).collect()
    }

    /// Returns the nodes and all their transitive dependencies.
    pub(super) fn ancestors(&self, nodes: &[usize]) -> HashSet<usize> {
        let (mut found, mut open) = (HashSet::new(), nodes.to_vec());
        while let Some(node) = open.pop() {
            if found.insert(node) {
                open.extend(self.nodes.get(&node).into_iter().flat_map(|n| &n.after));
            }
        }
        found
    }

    /// Returns the nodes in topological order, the oldest first among those that are ready. The error is a node of a
    /// cycle.
    pub(super) fn order(&self) -> Result<Vec<usize>, usize> {
        let mut missing: BTreeMap<usize, usize> = self.nodes.iter().map(|(id, node)| (*id, node.after.len())).collect();
        let mut next: HashMap<usize, Vec<usize>> = HashMap::new();
        for (from, to) in self.edges() {
            next.entry(from).or_default().push(to);
        }
        let mut ready: std::collections::BTreeSet<usize> =
            missing.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(node) = ready.pop_first() {
            missing.remove(&node);
            order.push(node);
            for to in next.get(&node).into_iter().flatten() {
                if let Some(count) = missing.get_mut(to) {
                    *count -= 1;
                    if *count == 0 {
                        ready.insert(*to);
                    }
                }
            }
        }
        match missing.keys().next() {
            Some(node) => Err(*node),
            None => Ok(order),
        }
    }

    /// Checks that handles are distinct nodes of this graph.
    pub(super) fn check(&self, nodes: &[usize]) -> Status {
        let distinct: HashSet<&usize> = nodes.iter().collect();
        let known = nodes.iter().all(|node| self.nodes.contains_key(node));
        if known && distinct.len() == nodes.len() { Ok(()) } else { Err(INVALID) }
    }

    /// Adds edges, all or none.
    pub(super) fn connect(&mut self, edges: &[(usize, usize)]) -> Status {
        let mut seen = HashSet::new();
        for edge @ (from, to) in edges {
            let known = self.nodes.contains_key(from) && from != to && seen.insert(edge);
            if !known || self.nodes.get(to).ok_or(INVALID)?.after.contains(from) {
                return Err(INVALID);
            }
        }
        for (from, to) in edges {
            if let Some(node) = self.nodes.get_mut(to) {
                node.after.push(*from);
            }
        }
        Ok(())
    }

    /// Removes edges, all or none.
    pub(super) fn disconnect(&mut self, edges: &[(usize, usize)]) -> Status {
        let mut seen = HashSet::new();
        let exists = |edge @ (from, to): &(usize, usize)| {
            self.nodes.get(to).is_some_and(|node| node.after.contains(from)) && seen.insert(*edge)
        };
        if self.has_memory() || self.capturing || !edges.iter().all(exists) {
            return Err(INVALID);
        }
        for (from, to) in edges {
            if let Some(node) = self.nodes.get_mut(to) {
                node.after.retain(|n| n != from);
            }
        }
        Ok(())
    }

    /// Returns the clone of a node.
    pub(super) fn cloned_from(&self, original: usize) -> Result<usize, CUresult> {
        self.cloned.get(&original).copied().filter(|node| self.nodes.contains_key(node)).ok_or(INVALID)
    }
}

impl Graphs {
    /// A new, empty graph.
    pub(super) fn create(&mut self) -> usize {
        let new = self.number();
        self.graphs.insert(new, Graph::default());
        new
    }

    /// Adds a node.
    pub(super) fn add(&mut self, graph: usize, after: &[usize], work: Work) -> Result<usize, CUresult> {
        self.graph(graph)?.check(after)?;
        let new = self.number();
        self.graph(graph)?.nodes.insert(new, Node::new(work, after.to_vec()));
        self.owner.insert(new, graph);
        Ok(new)
    }

    /// Adds a child node, with a copy of a graph.
    pub(super) fn add_child(&mut self, graph: usize, after: &[usize], of: usize) -> Result<usize, CUresult> {
        self.graph(graph)?.check(after)?;
        let child = self.copy(of)?;
        self.graph(child)?.owned = true;
        self.add(graph, after, Work::Child(child))
    }

    /// Copies a graph and the graphs that its nodes own.
    pub(super) fn copy(&mut self, of: usize) -> Result<usize, CUresult> {
        let original = self.graph(of)?;
        if original.is_unique() {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        let kept = original.kept.clone();
        let parts = |(id, n): (&usize, &Node)| (*id, n.work.clone(), n.after.clone(), n.attributes.clone());
        let nodes: Vec<_> = original.nodes.iter().map(parts).collect();
        let mut cloned = HashMap::new();
        let mut copies = BTreeMap::new();
        // In the order of the handles, which the copies' handles keep. An edge may come from a later node nevertheless.
        for (old, ..) in &nodes {
            cloned.insert(*old, self.number());
        }
        for (old, work, after, attributes) in nodes {
            let work = match work {
                Work::Child(graph) => {
                    let child = self.copy(graph)?;
                    self.graph(child)?.owned = true;
                    Work::Child(child)
                }
                other => other,
            };
            let after = after.iter().filter_map(|node| cloned.get(node).copied()).collect();
            copies.insert(cloned[&old], Node { work, after, attributes, exposed: Vec::new() });
        }
        let new = self.number();
        self.owner.extend(copies.keys().map(|node| (*node, new)));
        self.graphs.insert(new, Graph { nodes: copies, cloned, kept, ..Graph::default() });
        Ok(new)
    }

    /// Removes a node and its edges.
    pub(super) fn remove_node(&mut self, node: usize) -> Status {
        let graph = self.graph_of(node)?;
        if graph.capturing {
            return Err(INVALID);
        }
        if graph.has_memory() {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        let removed = graph.nodes.remove(&node);
        graph.nodes.values_mut().for_each(|other| other.after.retain(|n| *n != node));
        self.owner.remove(&node);
        if let Some(node) = removed {
            node.work.graphs().iter().for_each(|graph| self.forget(*graph));
        }
        Ok(())
    }

    /// Destroys a graph, which must be the client's.
    pub(super) fn destroy(&mut self, graph: usize) -> Status {
        let found = self.graph(graph)?;
        if found.owned || found.capturing {
            return Err(INVALID);
        }
        self.forget(graph);
        Ok(())
    }

    /// Drops a graph and the graphs that its nodes own.
    pub(super) fn forget(&mut self, graph: usize) {
        let Some(old) = self.graphs.remove(&graph) else { return };
        for (id, node) in &old.nodes {
            self.owner.remove(id);
            node.work.graphs().iter().for_each(|graph| self.forget(*graph));
        }
    }

    /// Replaces a node's work by other work of the same kind.
    pub(super) fn change(&mut self, node: usize, kind: CUgraphNodeType, work: Work) -> Status {
        let node = self.node(node)?;
        if node.work.kind() != kind || work.kind() != kind {
            return Err(INVALID);
        }
        (node.work, node.exposed) = (work, Vec::new());
        Ok(())
    }
}
