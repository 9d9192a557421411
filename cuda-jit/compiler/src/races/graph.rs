//! The kernel in SSA form: value-numbered nodes, the control-flow graph with dominators and natural loops, and the
//! memory accesses.
//!
//! A node without a block of its own is a pure function of its operands. At an access, each node stands for the value
//! of its most recent evaluation; since a definition dominates its uses, these values are consistent with each other.

use std::collections::{BTreeSet, HashMap};

use super::inline::Flat;
use crate::kir::{
    Access, Axis, BinaryOp, CompareOp, Location, Module, Op, Role, Scalar, Scope, SlotId, Space, Special, Terminator,
    Type, UnaryOp, Value,
};

/// The index of a node.
pub(super) type NodeId = usize;

/// The definition of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Const(u128),
    Param(usize),
    Special(Special),
    Unary(UnaryOp, NodeId),
    Binary(BinaryOp, NodeId, NodeId),
    Compare(CompareOp, NodeId, NodeId),
    Select(NodeId, NodeId, NodeId),
    Cast(NodeId),
    /// A pure function that the analysis does not look into.
    Pure(&'static str, Vec<NodeId>),
    Offset(NodeId, NodeId),
    Field(NodeId, u32),
    /// The same address as another pointer.
    Alias(NodeId),
    Shared(usize),
    Dynamic(NodeId),
    /// The thread's own memory, or memory that nobody writes.
    Unshared,
    /// A load from memory that nobody writes.
    Load(NodeId),
    /// A phi of a block, by number.
    Phi(usize, usize),
    /// A value known at run time only, by its position and block: one that all threads of the block have at a barrier, if true.
    Opaque(usize, usize, bool),
}

/// A node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) ty: Type,
}

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
    Atomic,
}

/// An access to memory that several threads may access.
#[derive(Clone, Debug)]
pub(super) struct MemoryAccess {
    pub(super) kind: Use,
    pub(super) pointer: NodeId,
    /// The number of bytes.
    pub(super) width: u32,
    pub(super) block: usize,
    pub(super) at: Option<usize>,
    /// True for an atomic access whose scope does not include the threads of all blocks.
    pub(super) narrow: bool,
}

/// A basic block of the graph.
#[derive(Clone, Debug, Default)]
pub(super) struct GraphBlock {
    pub(super) before: Vec<usize>,
    pub(super) after: Vec<usize>,
    /// The condition of its branch; the first successor is for true.
    pub(super) condition: Option<NodeId>,
    pub(super) barrier: bool,
    /// Its immediate dominator, itself for the entry.
    pub(super) parent: usize,
    pub(super) reachable: bool,
}

/// A natural loop.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) header: usize,
    pub(super) body: BTreeSet<usize>,
}

/// A kernel in SSA form.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    numbers: HashMap<(Kind, Type), NodeId>,
    /// The operands of each phi, in the order of its block's predecessors.
    pub(super) phis: HashMap<NodeId, Vec<NodeId>>,
    pub(super) blocks: Vec<GraphBlock>,
    pub(super) loops: Vec<Loop>,
    pub(super) accesses: Vec<MemoryAccess>,
    /// The locations of operations that the analysis does not follow, and what they are.
    pub(super) unknown: Vec<(Option<usize>, &'static str)>,
    pub(super) locations: Vec<Location>,
    /// The kernel's parameters.
    pub(super) params: Vec<(String, Type, Access, Role)>,
    pub(super) shared: Vec<String>,
}

/// The number of a slot's value that was never written.
pub(super) const UNWRITTEN: usize = usize::MAX;

/// The number of the first value that a load of several elements wrote.
const LOADED: usize = usize::MAX / 2;

/// The definition that reaches a use, before nodes are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Def {
    Value(Value),
    Phi(usize),
    Unwritten,
    /// The number of an element that a load of several wrote.
    Loaded(usize),
}

/// The construction of SSA form after Braun et al., "Simple and Efficient Construction of SSA Form" (2013).
#[derive(Default)]
struct Slots {
    current: HashMap<(usize, u32), Def>,
    phis: Vec<(usize, u32)>,
    gets: HashMap<u32, Def>,
    /// The block of each element that a load of several wrote.
    loaded: Vec<usize>,
    replaced: HashMap<usize, Def>,
    operands: Vec<Vec<Def>>,
}

impl Graph {
    /// The graph of a module's kernel.
    pub(super) fn of(module: &Module) -> Self {
        let flat = Flat::of(module);
        let mut graph = Graph { locations: flat.locations.clone(), ..Graph::default() };
        let kernel = &module.functions[0];
        graph.params = kernel.params.iter().map(|p| (p.name.clone(), p.ty, p.access, p.role)).collect();
        graph.shared = module.shared.iter().map(|array| array.name.clone()).collect();
        let order = graph.connect(&flat);
        graph.dominators(&order);
        graph.find_loops(&order);
        let slots = Slots::of(&flat, &graph.blocks, &order);
        graph.build(&flat, &order, &slots);
        graph
    }

    /// Builds the control-flow graph and returns the reachable blocks in reverse postorder.
    fn connect(&mut self, flat: &Flat) -> Vec<usize> {
        let after = |block: usize| match &flat.blocks[block].end {
            Terminator::Jump(target) => vec![target.index()],
            Terminator::Branch(_, yes, no) if yes == no => vec![yes.index()],
            Terminator::Branch(_, yes, no) => vec![yes.index(), no.index()],
            Terminator::Return(_) | Terminator::Panic(..) => Vec::new(),
        };
        self.blocks = (0..flat.blocks.len())
            .map(|block| GraphBlock {
                after: after(block),
                barrier: flat.blocks[block].barrier,
                ..GraphBlock::default()
            })
            .collect();
        let mut order = Vec::new();
        let mut stack = vec![(0, 0)];
        self.blocks[0].reachable = true;
        while let Some((block, next)) = stack.last_mut() {
            let block = *block;
            let Some(&target) = self.blocks[block].after.get(*next) else {
                order.push(block);
                stack.pop();
                continue;
            };
            *next += 1;
            if !self.blocks[target].reachable {
                self.blocks[target].reachable = true;
                stack.push((target, 0));
            }
        }
        order.reverse();
        for &block in &order {
            for target in self.blocks[block].after.clone() {
                self.blocks[target].before.push(block);
            }
        }
        order
    }

    /// Immediate dominators, by the algorithm of Cooper, Harvey and Kennedy.
    fn dominators(&mut self, order: &[usize]) {
        let mut rank = vec![usize::MAX; self.blocks.len()];
        order.iter().enumerate().for_each(|(index, block)| rank[*block] = index);
        let mut parents: Vec<Option<usize>> = vec![None; self.blocks.len()];
        parents[0] = Some(0);
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &order[1..] {
                let known = self.blocks[block].before.iter().copied().filter(|&before| parents[before].is_some());
                let meet = |mut a: usize, mut b: usize| {
                    while a != b {
                        if rank[a] > rank[b] { a = parents[a].unwrap_or(0) } else { b = parents[b].unwrap_or(0) }
                    }
                    a
                };
                let parent = known.reduce(meet);
                if parents[block] != parent {
                    (parents[block], changed) = (parent, true);
                }
            }
        }
        for (block, parent) in self.blocks.iter_mut().zip(parents) {
            block.parent = parent.unwrap_or(0);
        }
    }

    /// Returns true if every path from the entry to `b` passes `a`.
    pub(super) fn dominates(&self, a: usize, mut b: usize) -> bool {
        while a != b && b != 0 {
            b = self.blocks[b].parent;
        }
        a == b
    }

    fn find_loops(&mut self, order: &[usize]) {
        for &header in order {
            let latches: Vec<usize> =
                self.blocks[header].before.iter().copied().filter(|&latch| self.dominates(header, latch)).collect();
            if latches.is_empty() {
                continue;
            }
            let mut body = BTreeSet::from([header]);
            let mut stack = latches;
            while let Some(block) = stack.pop() {
                if body.insert(block) {
                    stack.extend(&self.blocks[block].before);
                }
            }
            self.loops.push(Loop { header, body });
        }
    }

    /// The conditions that hold at a block, outermost first: those of the edges that dominate it.
    pub(super) fn conditions(&self, mut block: usize) -> Vec<(NodeId, bool)> {
        let mut conditions = Vec::new();
        while block != 0 {
            if let [before] = self.blocks[block].before[..]
                && let (Some(condition), [yes, _]) = (self.blocks[before].condition, &self.blocks[before].after[..])
            {
                conditions.push((condition, *yes == block));
            }
            block = self.blocks[block].parent;
        }
        conditions.reverse();
        conditions
    }

    /// The conditions that hold on an edge.
    pub(super) fn edge_conditions(&self, from: usize, to: usize) -> Vec<(NodeId, bool)> {
        let mut conditions = self.conditions(from);
        if let (Some(condition), [yes, _]) = (self.blocks[from].condition, &self.blocks[from].after[..]) {
            conditions.push((condition, *yes == to));
        }
        conditions
    }

    pub(super) fn node(&mut self, kind: Kind, ty: Type) -> NodeId {
        let nodes = &mut self.nodes;
        *self.numbers.entry((kind.clone(), ty)).or_insert_with(|| {
            nodes.push(Node { kind, ty });
            nodes.len() - 1
        })
    }

    fn build(&mut self, flat: &Flat, order: &[usize], slots: &Slots) {
        let mut made: HashMap<Def, NodeId> = HashMap::new();
        for (index, &ty) in flat.types[..self.params.len()].iter().enumerate() {
            made.insert(Def::Value(Value(index as u32)), self.node(Kind::Param(index), ty));
        }
        // Bounds of positions are in terms of the dimensions, which the kernel need not read.
        for axis in [Axis::X, Axis::Y, Axis::Z] {
            for special in [Special::GridDim(axis), Special::BlockDim(axis)] {
                self.node(Kind::Special(special), Scalar::U32.into());
            }
        }
        for (number, (block, slot)) in slots.phis.iter().enumerate() {
            made.insert(Def::Phi(number), self.node(Kind::Phi(*block, number), flat.slots[*slot as usize]));
        }
        for &block in order {
            for (index, inst) in flat.blocks[block].insts.iter().enumerate() {
                let mut operands = Vec::new();
                inst.op
                    .each_value(|value| operands.push((slots.resolved(Def::Value(value)), flat.types[value.index()])));
                let operands: Vec<NodeId> =
                    operands.into_iter().map(|(def, ty)| self.found(&made, slots, def, ty)).collect();
                let kind = self.kind(&inst.op, &operands, (block, index), inst.at);
                if let (Some(value), Some(kind)) = (inst.result, kind) {
                    let node = match self.chosen(&kind) {
                        Some(operand) => operand,
                        None => self.node(kind, flat.types[value.index()]),
                    };
                    made.insert(Def::Value(value), node);
                }
            }
            if let Terminator::Branch(condition, yes, no) = &flat.blocks[block].end
                && yes != no
            {
                let def = slots.resolved(Def::Value(*condition));
                self.blocks[block].condition = Some(self.found(&made, slots, def, Scalar::Bool.into()));
            }
        }
        for (number, operands) in slots.operands.iter().enumerate() {
            let mut found = Vec::with_capacity(operands.len());
            for operand in operands {
                let def = slots.resolved(*operand);
                let ty = flat.slots[slots.phis[number].1 as usize];
                found.push(self.found(&made, slots, def, ty));
            }
            self.phis.insert(made[&Def::Phi(number)], found);
        }
    }

    /// The node of a definition.
    fn found(&mut self, made: &HashMap<Def, NodeId>, slots: &Slots, def: Def, ty: Type) -> NodeId {
        let kind = match (made.get(&def), def) {
            (Some(node), _) => return *node,
            (None, Def::Loaded(number)) => Kind::Opaque(LOADED + number, slots.loaded[number], false),
            (None, _) => Kind::Opaque(UNWRITTEN, 0, false),
        };
        self.node(kind, ty)
    }

    /// The operand that a select by a constant chooses.
    fn chosen(&self, kind: &Kind) -> Option<NodeId> {
        let Kind::Select(condition, yes, no) = *kind else { return None };
        match self.nodes[condition].kind {
            Kind::Const(truth) => Some(if truth == 0 { no } else { yes }),
            _ => None,
        }
    }

    /// The kind of an instruction's result; records its memory accesses.
    fn kind(&mut self, op: &Op, of: &[NodeId], (block, number): (usize, usize), at: Option<usize>) -> Option<Kind> {
        let opaque = Kind::Opaque(number, block, false);
        Some(match op {
            Op::Const(constant) => Kind::Const(constant.bits),
            Op::Special(special) => Kind::Special(*special),
            Op::Unary(op, _) => Kind::Unary(*op, of[0]),
            Op::Binary(op, ..) => self.arithmetic(*op, of[0], of[1]),
            Op::Compare(op, ..) => Kind::Compare(*op, of[0], of[1]),
            Op::Select(..) => Kind::Select(of[0], of[1], of[2]),
            Op::Cast(..) => Kind::Cast(of[0]),
            Op::Fma(..) => Kind::Pure("fma", of.to_vec()),
            Op::Ternary(..) | Op::Lane(..) | Op::Narrow(..) | Op::Widen(..) => opaque,
            Op::Overflows(op, ..) => {
                let name = match op {
                    BinaryOp::Add => "overflows add",
                    BinaryOp::Sub => "overflows sub",
                    BinaryOp::Mul => "overflows mul",
                    _ => return Some(opaque),
                };
                Kind::Pure(name, of.to_vec())
            }
            Op::Bitcast(..) => Kind::Pure("bitcast", of.to_vec()),
            Op::Pair(..) => Kind::Pure("pair", of.to_vec()),
            Op::Offset(..) => Kind::Offset(of[0], of[1]),
            Op::Field(_, offset, _) => Kind::Field(of[0], *offset),
            Op::Retype(..) | Op::Generic(..) => Kind::Alias(of[0]),
            Op::Shared(id) => Kind::Shared(id.index()),
            Op::DynamicShared(..) => Kind::Dynamic(of[0]),
            Op::Local(_) | Op::Constant(_) => Kind::Unshared,
            Op::Address(_) => Kind::Pure("address", of.to_vec()),
            Op::MapShared(..) => {
                self.unknown.push((at, "it accesses the shared memory of other blocks"));
                opaque
            }
            Op::Load(_) | Op::LoadCached(..) if self.is_constant(of[0]) => Kind::Load(of[0]),
            Op::Load(_) | Op::LoadCached(..) => {
                self.access(Use::Read, of[0], 1, block, at);
                opaque
            }
            Op::LoadCachedAll(_, _, slots) => {
                self.access(Use::Read, of[0], slots.len() as u32, block, at);
                return None;
            }
            Op::Store(..) | Op::StoreCached(..) => {
                self.access(Use::Write, of[0], 1, block, at);
                return None;
            }
            Op::StoreCachedAll(_, _, values) => {
                self.access(Use::Write, of[0], values.len() as u32, block, at);
                return None;
            }
            Op::AtomicLoad(order, _)
            | Op::AtomicStore(order, ..)
            | Op::Atomic(_, order, ..)
            | Op::CompareExchange(order, ..) => {
                let before = self.accesses.len();
                self.access(Use::Atomic, of[0], 1, block, at);
                let narrow = matches!(order.scope, Scope::Block | Scope::Cluster);
                self.accesses[before..].iter_mut().for_each(|access| access.narrow = narrow);
                opaque
            }
            Op::BarrierReduce(..) => Kind::Opaque(number, block, true),
            Op::Math(..) => {
                let is_pointer = |node: &NodeId| matches!(self.nodes[*node].ty, Type::Ptr(..));
                for pointer in of.iter().copied().filter(is_pointer).collect::<Vec<_>>() {
                    self.access(Use::Write, pointer, 1, block, at);
                }
                opaque
            }
            Op::Call(..) => {
                self.unknown.push((at, "it calls a function that calls itself, which the analysis does not follow"));
                opaque
            }
            _ => opaque,
        })
    }

    /// Returns true for a pointer to memory that nobody writes during the launch.
    fn is_constant(&self, pointer: NodeId) -> bool {
        let node = &self.nodes[pointer];
        match node.kind {
            Kind::Param(index) => self.params[index].2 == Access::Read,
            Kind::Offset(base, _) | Kind::Field(base, _) | Kind::Alias(base) => self.is_constant(base),
            _ => matches!(node.ty, Type::Ptr(Space::Constant, _)),
        }
    }

    fn access(&mut self, kind: Use, pointer: NodeId, count: u32, block: usize, at: Option<usize>) {
        if let Type::Ptr(space, pointee) = self.nodes[pointer].ty
            && !matches!(space, Space::Local | Space::Constant)
            && !self.is_constant(pointer)
        {
            self.accesses.push(MemoryAccess { kind, pointer, width: pointee.size() * count, block, at, narrow: false });
        }
    }

    /// The nodes without operands that a node is a function of: phis, values known at run time only, and constants.
    pub(super) fn leaves(&self, node: NodeId) -> Vec<NodeId> {
        let (mut stack, mut seen, mut leaves) = (vec![node], BTreeSet::new(), Vec::new());
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            let operands = super::symbols::operands(&self.nodes[node].kind);
            if operands.is_empty() {
                leaves.push(node);
            }
            stack.extend(operands);
        }
        leaves
    }

    /// The number type of a node.
    pub(super) fn scalar(&self, node: NodeId) -> Option<Scalar> {
        self.nodes[node].ty.scalar()
    }
}

impl Slots {
    fn of(flat: &Flat, blocks: &[GraphBlock], order: &[usize]) -> Self {
        let mut slots = Slots::default();
        for &block in order {
            for inst in &flat.blocks[block].insts {
                match &inst.op {
                    Op::Get(slot) => {
                        let def = slots.read(blocks, block, slot.0);
                        if let Some(result) = inst.result {
                            slots.gets.insert(result.0, def);
                        }
                    }
                    Op::Set(slot, value) => drop(slots.current.insert((block, slot.0), Def::Value(*value))),
                    Op::LoadCachedAll(_, _, all) => {
                        for SlotId(slot) in all {
                            slots.current.insert((block, *slot), Def::Loaded(slots.loaded.len()));
                            slots.loaded.push(block);
                        }
                    }
                    _ => {}
                }
            }
        }
        // Operands are read once all blocks are complete; this may make further phis.
        let mut number = 0;
        while number < slots.phis.len() {
            let (block, slot) = slots.phis[number];
            let operands = blocks[block].before.iter().map(|&before| slots.read(blocks, before, slot)).collect();
            slots.operands.push(operands);
            number += 1;
        }
        slots.remove_trivial();
        slots
    }

    /// The definition of a slot at the current end of a block.
    fn read(&mut self, blocks: &[GraphBlock], block: usize, slot: u32) -> Def {
        let (mut passed, mut here) = (Vec::new(), block);
        let def = loop {
            if let Some(def) = self.current.get(&(here, slot)) {
                break *def;
            }
            passed.push(here);
            match blocks[here].before[..] {
                [before] if before != here => here = before,
                [] => break Def::Unwritten,
                _ => {
                    self.phis.push((here, slot));
                    break Def::Phi(self.phis.len() - 1);
                }
            }
        };
        // What a block reads from before it, it also has at its end, unless it writes the slot later: only then is the
        // entry replaced.
        for block in passed {
            self.current.insert((block, slot), def);
        }
        def
    }

    /// Follows reads of slots and removed phis to the definition.
    fn resolved(&self, mut def: Def) -> Def {
        loop {
            let next = match def {
                Def::Value(value) => self.gets.get(&value.0),
                Def::Phi(number) => self.replaced.get(&number),
                _ => None,
            };
            match next {
                Some(next) => def = *next,
                None => return def,
            }
        }
    }

    /// Removes phis whose operands are all one definition or the phi itself.
    fn remove_trivial(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for number in 0..self.phis.len() {
                if self.replaced.contains_key(&number) {
                    continue;
                }
                let own = Def::Phi(number);
                let operands = self.operands[number].iter().map(|def| self.resolved(*def));
                let mut others = operands.filter(|def| *def != own);
                if let Some(first) = others.next()
                    && others.all(|other| other == first)
                {
                    self.replaced.insert(number, first);
                    changed = true;
                }
            }
        }
    }
}
