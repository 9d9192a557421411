//! The graph itself: nodes, the edges between them, and copies of graphs.
//!
//! Invariant: the dependencies of a node are nodes of the same graph, each named once. That there is no cycle is checked
//! when the graph is instantiated, as NVIDIA's driver has it.
//!
//! # Safety
//!
//! The one `unsafe` says that remembered attributes may go to another thread: they are plain values.

use super::conditional::Number;
use super::exec::Exec;
use super::object::Kept;
use super::{Graphs, INVALID, Status, Work};
use crate::driver::work::Op;
use cuda_sys::{CUgraphNodeType, CUlaunchAttributeValue, CUresult};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Weak};

pub(super) struct Node {
    pub(super) work: Work,
    /// Nodes that this one comes after.
    pub(super) after: Vec<usize>,
    /// Attributes of a kernel's launch that change nothing here, by number.
    pub(super) attributes: Attributes,
    /// Addresses of the parameters, which a client that asked for them reads while the node is as it is.
    pub(super) shown: Vec<usize>,
}

/// Launch attributes that are remembered.
#[derive(Clone, Default)]
pub(super) struct Attributes(pub(super) HashMap<u32, CUlaunchAttributeValue>);
// SAFETY: plain values; the pointers among them are the client's and never followed.
unsafe impl Send for Attributes {}

#[derive(Default)]
pub(super) struct Graph {
    /// By handle, and so in the order in which they were added.
    pub(super) nodes: BTreeMap<usize, Node>,
    /// It is a child node's own: the client may change it but not destroy it.
    pub(super) owned: bool,
    /// Streams are being captured into it.
    pub(super) capturing: bool,
    /// The nodes of a clone by the nodes that they were cloned from.
    cloned: HashMap<usize, usize>,
    /// What the client gave it to keep, as often as it was given.
    pub(super) kept: Kept,
    /// The executable graph that owns its memory now.
    pub(super) executable: Weak<Exec>,
    /// Numbers for its conditional nodes, and for those in its bodies.
    pub(super) numbers: Vec<Arc<Number>>,
    /// The graph that it is a body in.
    pub(super) around: Option<usize>,
}

impl Node {
    pub(super) fn new(work: Work, after: Vec<usize>) -> Node {
        Node { work, after, attributes: Attributes::default(), shown: Vec::new() }
    }
}

impl Graph {
    /// Returns true if it has nodes that allocate or free memory, which ties it to one executable graph.
    pub(super) fn has_memory(&self) -> bool {
        self.nodes.values().any(|node| matches!(&node.work, Work::Op(_, Op::Memory(..))))
    }

    /// Returns true if it has nodes of which no copies are made: those of memory, and conditional ones.
    fn is_unique(&self) -> bool {
        self.has_memory() || self.nodes.values().any(|node| matches!(&node.work, Work::Conditional(_)))
    }

    /// Edges: each node with those that it comes after, in the order of the nodes.
    pub(super) fn edges(&self) -> Vec<(usize, usize)> {
        self.nodes.iter().flat_map(|(to, node)| node.after.iter().map(move |from| (*from, *to))).collect()
    }

    /// The nodes themselves, and all that lead to them.
    pub(super) fn ancestors(&self, nodes: &[usize]) -> HashSet<usize> {
        let (mut found, mut open) = (HashSet::new(), nodes.to_vec());
        while let Some(node) = open.pop() {
            if found.insert(node) {
                open.extend(self.nodes.get(&node).into_iter().flat_map(|n| &n.after));
            }
        }
        found
    }

    /// The nodes in an order in which each comes after its dependencies: the first one added among those that may be
    /// next. A node of a cycle where there is one.
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

    /// Checks that handles name nodes of this graph, each once.
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

    /// The clone's node for a node of the original.
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

    /// Adds a node that runs a copy of a graph.
    pub(super) fn add_child(&mut self, graph: usize, after: &[usize], of: usize) -> Result<usize, CUresult> {
        self.graph(graph)?.check(after)?;
        let child = self.copy(of)?;
        self.graph(child)?.owned = true;
        self.add(graph, after, Work::Child(child))
    }

    /// A copy of a graph, with copies of the graphs of its nodes.
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
        // In the order of the handles, which the copies' handles keep; an edge may lead to a later node all the same.
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
            copies.insert(cloned[&old], Node { work, after, attributes, shown: Vec::new() });
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

    /// Destroys a graph that is the client's.
    pub(super) fn destroy(&mut self, graph: usize) -> Status {
        let found = self.graph(graph)?;
        if found.owned || found.capturing {
            return Err(INVALID);
        }
        self.forget(graph);
        Ok(())
    }

    /// Drops a graph and the graphs of its nodes.
    pub(super) fn forget(&mut self, graph: usize) {
        let Some(old) = self.graphs.remove(&graph) else { return };
        for (id, node) in &old.nodes {
            self.owner.remove(id);
            node.work.graphs().iter().for_each(|graph| self.forget(*graph));
        }
    }

    /// Replaces what a node does by something of the same kind.
    pub(super) fn change(&mut self, node: usize, kind: CUgraphNodeType, work: Work) -> Status {
        let node = self.node(node)?;
        if node.work.kind() != kind || work.kind() != kind {
            return Err(INVALID);
        }
        (node.work, node.shown) = (work, Vec::new());
        Ok(())
    }
}
