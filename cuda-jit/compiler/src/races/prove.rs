//! Proofs that two accesses of different threads never touch the same element.
//!
//! The two addresses are assumed to be equal. From an equation `m * q + r = 0` with `|r| < m` follow `q = 0` and
//! `r = 0`; the accesses are proved apart if the conditions then contradict each other, or the threads have the same
//! position.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::graph::{Graph, Kind, MemoryAccess, NodeId, UNWRITTEN, Use};
use super::intervals::{Intervals, Turn};
use super::linear::Facts;
use super::poly::{Monomial, Poly, Side, Var};
use super::solve::Collision;
use super::symbols::{Context, Meaning, Symbols};
use crate::kir::{Access, Axis, Special, Type};

/// The memory that an access is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Base {
    /// Memory behind a kernel's parameter.
    Param(usize),
    /// An array in shared memory.
    Shared(usize),
    /// The block's dynamic shared memory.
    Dynamic,
    /// The thread's own memory, or memory that nobody writes.
    Unshared,
    /// Unknown memory.
    Unknown,
}

impl Base {
    fn is_shared(self) -> bool {
        matches!(self, Base::Shared(_) | Base::Dynamic)
    }
}

/// An access with its address.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub(super) access: MemoryAccess,
    pub(super) base: Base,
    /// The offset in bytes.
    bytes: Poly,
    context: Context,
}

/// The relation of two threads whose accesses could meet.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Relation {
    /// True for threads of one block.
    same_block: bool,
    /// The loops in whose same iteration both threads are.
    equal: BTreeSet<usize>,
    /// The difference of the numbers of iterations of loops.
    apart: BTreeMap<usize, i128>,
    /// The numbers of iterations of both threads, where they are known.
    exact: BTreeMap<usize, [Option<i128>; 2]>,
}

/// The proofs of one kernel.
pub(super) struct Prover<'g> {
    pub(super) graph: &'g Graph,
    pub(super) symbols: Symbols<'g>,
    intervals: Intervals,
    single: [bool; 6],
    contexts: HashMap<usize, Context>,
    /// The bounds that the proofs rely on.
    pub(super) bounds: BTreeSet<(Poly, u128)>,
}

impl<'g> Prover<'g> {
    pub(super) fn new(graph: &'g Graph, single: [bool; 6]) -> Self {
        let (symbols, intervals) = (Symbols::new(graph, single), Intervals::of(graph));
        Prover { graph, symbols, intervals, single, contexts: HashMap::new(), bounds: BTreeSet::new() }
    }

    /// True if barriers order accesses.
    pub(super) fn aligned(&self) -> bool {
        self.intervals.aligned
    }

    /// The address of an access.
    pub(super) fn locate(&mut self, access: &MemoryAccess) -> Located {
        let mut context = match self.contexts.get(&access.block) {
            Some(context) => context.clone(),
            None => {
                let context = self.symbols.context_at(access.block);
                self.contexts.insert(access.block, context.clone());
                context
            }
        };
        let found = self.address(&mut context, access.pointer);
        let (base, bytes) = found.unwrap_or((Base::Unknown, Poly::default()));
        Located { access: access.clone(), base, bytes, context }
    }

    fn address(&mut self, context: &mut Context, pointer: NodeId) -> Option<(Base, Poly)> {
        let (mut node, mut bytes) = (pointer, Poly::default());
        loop {
            match self.graph.nodes[node].kind.clone() {
                Kind::Offset(base, by) => {
                    let Type::Ptr(_, pointee) = self.graph.nodes[base].ty else { return None };
                    let by = self.symbols.value(context, by);
                    bytes = bytes.plus(&by, pointee.size().into())?;
                    node = base;
                }
                Kind::Field(base, by) => {
                    bytes = bytes.plus(&Poly::constant(by.into()), 1)?;
                    node = base;
                }
                Kind::Alias(base) => node = base,
                Kind::Param(index) => return Some((Base::Param(index), bytes)),
                Kind::Shared(index) => return Some((Base::Shared(index), bytes)),
                Kind::Dynamic(start) => {
                    let start = self.symbols.value(context, start);
                    return Some((Base::Dynamic, bytes.plus(&start, 1)?));
                }
                Kind::Unshared => return Some((Base::Unshared, bytes)),
                Kind::Phi(..) if let Some(operand) = self.symbols.chosen_operand(context, node) => node = operand,
                _ => {
                    // Anywhere in the memory.
                    let start = self.symbols.var(Meaning::Node(node));
                    return Some((self.merged(node)?, bytes.plus(&start, 1)?));
                }
            }
        }
    }

    /// The memory that a merged pointer points to, if that is one, by whichever way it comes.
    fn merged(&self, pointer: NodeId) -> Option<Base> {
        let (mut stack, mut seen, mut found) = (vec![pointer], BTreeSet::new(), Base::Unshared);
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            let base = match &self.graph.nodes[node].kind {
                Kind::Offset(base, _) | Kind::Field(base, _) | Kind::Alias(base) => {
                    stack.push(*base);
                    continue;
                }
                Kind::Select(_, a, b) => {
                    stack.extend([*a, *b]);
                    continue;
                }
                Kind::Phi(..) => {
                    stack.extend(&self.graph.phis[&node]);
                    continue;
                }
                Kind::Param(index) if self.graph.params[*index].2 == Access::Read => continue,
                Kind::Unshared => continue,
                // a value that is never read, such as that of `None`
                Kind::Opaque(UNWRITTEN, ..) => continue,
                Kind::Param(index) => Base::Param(*index),
                Kind::Shared(index) => Base::Shared(*index),
                Kind::Dynamic(_) => Base::Dynamic,
                _ => return None,
            };
            if found != Base::Unshared && found != base {
                return None;
            }
            found = base;
        }
        Some(found)
    }

    /// Returns true if two accesses to the same memory by different threads are proved apart, or ordered by a barrier.
    pub(super) fn apart(&mut self, a: &Located, b: &Located) -> bool {
        if !a.base.is_shared() {
            let all = Relation::default();
            if self.refuted(a, b, &all, true) {
                return true;
            }
            if !self.refuted(a, b, &all, false) {
                return false;
            }
        }
        self.relations(a, b).into_iter().all(|relation| self.refuted(a, b, &relation, true))
    }

    /// Returns true if two accesses to the same memory by threads of different blocks are proved apart.
    pub(super) fn apart_in_blocks(&mut self, a: &Located, b: &Located) -> bool {
        self.refuted(a, b, &Relation::default(), false)
    }

    /// The relations in which two threads of a block can be at two accesses at the same time.
    fn relations(&self, a: &Located, b: &Located) -> BTreeSet<Relation> {
        let own = Relation { same_block: true, ..Relation::default() };
        if !self.intervals.aligned {
            return BTreeSet::from([own]);
        }
        let blocks = [a, b].map(|of| of.access.block);
        if self.intervals.ends_before(self.graph, blocks)
            || self.intervals.ends_before(self.graph, [blocks[1], blocks[0]])
        {
            return BTreeSet::new();
        }
        let none = BTreeSet::new();
        let own = Relation { equal: self.intervals.common_iterations(self.graph, blocks), ..own };
        let mut relations = BTreeSet::new();
        for interval in &self.intervals.all {
            for first in interval.get(&a.access.block).unwrap_or(&none) {
                let others = interval.get(&b.access.block).unwrap_or(&none).iter();
                for second in others.filter(|second| first.is_compatible(second)) {
                    relations.extend(self.relation(&own, [&first.turns, &second.turns]));
                }
            }
        }
        relations
    }

    /// The relation of threads that have completed iterations; `None` if there is none.
    fn relation(&self, own: &Relation, turns: [&[Turn]; 2]) -> Option<Relation> {
        let mut relation = own.clone();
        // Outer loops come first, since their headers do.
        for (index, of) in self.graph.loops.iter().enumerate() {
            let [first, second] = turns.map(|turns| turns[index]);
            let exact = |turn: Turn| (turn.entered && turn.completed < Turn::MANY).then_some(turn.completed.into());
            if exact(first).is_some() || exact(second).is_some() {
                relation.exact.insert(index, [exact(first), exact(second)]);
            }
            let outer_equal = (0..self.graph.loops.len()).all(|outer| {
                outer == index || !self.graph.loops[outer].body.contains(&of.header) || relation.equal.contains(&outer)
            });
            let known = first.completed < Turn::MANY && second.completed < Turn::MANY;
            if self.intervals.is_uniform_loop(self.graph, index)
                && outer_equal
                && known
                && first.entered == second.entered
            {
                match i128::from(first.completed) - i128::from(second.completed) {
                    0 => drop(relation.equal.insert(index)),
                    _ if own.equal.contains(&index) => return None,
                    apart => drop(relation.apart.insert(index, apart)),
                }
            }
        }
        Some(relation)
    }

    /// Returns true if a symbol has the same value in both threads.
    fn is_common(&self, var: Var, relation: &Relation) -> bool {
        if var.side == Side::Both {
            return true;
        }
        if !relation.same_block {
            return false;
        }
        match self.symbols.meaning(var) {
            Meaning::Block(_) => true,
            Meaning::Iterations(index) | Meaning::Parity(index) | Meaning::Pairs(index) => {
                relation.equal.contains(index)
            }
            Meaning::Node(node) | Meaning::Quotient(node) => {
                let in_loops = |block: usize| {
                    let loops = self.graph.loops.iter().enumerate().filter(move |(_, of)| of.body.contains(&block));
                    loops.map(|(index, of)| (index, of.header))
                };
                self.intervals.is_uniform(*node)
                    && self.graph.leaves(*node).into_iter().all(|leaf| match self.graph.nodes[leaf].kind {
                        // A phi of a header is the same in the same iteration of its loop; any other may be of another one.
                        Kind::Phi(block, _) => {
                            let is_header = self.graph.loops.iter().any(|of| of.header == block);
                            let mut around = in_loops(block);
                            if is_header {
                                around.all(|(index, _)| relation.equal.contains(&index))
                            } else {
                                around.next().is_none()
                            }
                        }
                        Kind::Opaque(_, block, _) => in_loops(block).next().is_none(),
                        _ => true,
                    })
            }
            _ => false,
        }
    }

    /// Returns true if the accesses cannot meet in a relation of the threads, or if the threads then have the same
    /// position in the grid; only in which block, unless `whole`.
    fn refuted(&mut self, a: &Located, b: &Located, relation: &Relation, whole: bool) -> bool {
        self.exclude_each_other(&a.context, &b.context, relation)
            || [false, true].into_iter().any(|wide| self.has_no_solution(a, b, relation, (whole, wide)))
    }

    /// Returns true if a condition on which both threads agree is true in one of them and false in the other one.
    fn exclude_each_other(&mut self, a: &Context, b: &Context, relation: &Relation) -> bool {
        a.conditions.iter().any(|&(condition, truth)| {
            b.conditions.contains(&(condition, !truth)) && {
                let condition = self.symbols.var(Meaning::Node(condition));
                condition.vars().all(|var| self.is_common(var, relation))
            }
        })
    }

    /// As [`refuted`](Self::refuted), by the facts about the addresses, or all facts if `wide`.
    fn has_no_solution(&mut self, a: &Located, b: &Located, relation: &Relation, (whole, wide): (bool, bool)) -> bool {
        let (mut first, mut second) = (a.context.clone(), b.context.clone());
        let [x, y] = [self.expanded(&mut first, &a.bytes), self.expanded(&mut second, &b.bytes)];
        let mut positions = Vec::new();
        for (index, axis) in [Axis::X, Axis::Y, Axis::Z].into_iter().enumerate() {
            if !relation.same_block && !self.single[index] {
                positions.push(self.symbols.var(Meaning::Block(axis)));
            }
            if whole && !self.single[3 + index] {
                positions.push(self.symbols.var(Meaning::Thread(axis)));
            }
        }
        let goals = |own: [&Poly; 2]| positions.iter().chain(own).cloned().collect::<Vec<_>>();
        let mut sides = [
            self.symbols.relevant(&mut first, &goals([&x, &a.bytes])),
            self.symbols.relevant(&mut second, &goals([&y, &b.bytes])),
        ];
        // What one thread knows of a value that both have concerns the other one, too.
        let known = sides.iter().flat_map(Facts::vars).filter(|var| var.side != Side::Both);
        let mut common: BTreeSet<Var> = known.filter(|var| self.is_common(*var, relation)).collect();
        if wide {
            common.extend(first.facts.vars().chain(second.facts.vars()));
        }
        if !common.is_empty() {
            let with = |own: [&Poly; 2]| {
                goals(own).into_iter().chain(common.iter().map(|var| Poly::var(*var))).collect::<Vec<_>>()
            };
            sides = [
                self.symbols.relevant(&mut first, &with([&x, &a.bytes])),
                self.symbols.relevant(&mut second, &with([&y, &b.bytes])),
            ];
        }
        let mut facts = Facts::default();
        for (side, own) in [Side::First, Side::Second].into_iter().zip(sides) {
            facts.zero.extend(own.zero.iter().map(|fact| self.on(side, relation, fact)));
            facts.positive.extend(own.positive.iter().map(|fact| self.on(side, relation, fact)));
        }
        facts.zero.extend(self.iteration_facts(relation));
        let of = [self.on(Side::First, relation, &x), self.on(Side::Second, relation, &y)];
        let Some(alternatives) = self.conflicts((a, &of[0]), (b, &of[1]), &facts) else { return false };
        let equal: Vec<Poly> = positions
            .iter()
            .filter_map(|p| self.on(Side::First, relation, p).plus(&self.on(Side::Second, relation, p), -1))
            .collect();
        let mut known = facts.clone();
        known.zero.extend(alternatives.iter().flatten().cloned());
        let laws = self.exchange_laws([&mut first, &mut second], relation, &known);
        let mut collisions = alternatives
            .into_iter()
            .map(|equations| Collision::new(facts.clone(), equations, equal.clone(), laws.clone()));
        let proved = collisions.all(Collision::has_no_solution);
        if proved {
            self.bounds.extend(first.bounds.into_iter().chain(second.bounds));
        }
        proved
    }

    /// A polynomial of one thread, with the symbols that both threads have the same value of in common.
    pub(super) fn on(&self, side: Side, relation: &Relation, poly: &Poly) -> Poly {
        poly.renamed(|var| Var { side: if self.is_common(var, relation) { Side::Both } else { side }, ..var })
    }

    fn iteration_facts(&mut self, relation: &Relation) -> Vec<Poly> {
        let mut facts = Vec::new();
        let of = |symbols: &mut Symbols<'_>, index: usize, side: Side| {
            symbols.var(Meaning::Iterations(index)).renamed(|var| Var { side, ..var })
        };
        for (index, apart) in &relation.apart {
            let [first, second] = [Side::First, Side::Second].map(|side| of(&mut self.symbols, *index, side));
            facts.extend(first.plus(&second, -1).and_then(|d| d.plus(&Poly::constant(*apart), -1)));
        }
        for (index, known) in &relation.exact {
            for (side, known) in [Side::First, Side::Second].into_iter().zip(known) {
                let side = if relation.equal.contains(index) { Side::Both } else { side };
                let Some(known) = known else { continue };
                facts.extend(of(&mut self.symbols, *index, side).plus(&Poly::constant(*known), -1));
            }
        }
        facts
    }

    /// A polynomial with counters replaced by the numbers of iterations.
    fn expanded(&mut self, context: &mut Context, poly: &Poly) -> Poly {
        let mut poly = poly.clone();
        for _ in 0..4 {
            let phis: Vec<(Var, NodeId)> = poly
                .vars()
                .filter_map(|var| match self.symbols.meaning(var) {
                    Meaning::Node(node) if matches!(self.graph.nodes[*node].kind, Kind::Phi(..)) => Some((var, *node)),
                    _ => None,
                })
                .collect();
            let before = poly.clone();
            for (var, phi) in phis {
                if let Some(counted) = self.symbols.counted(context, phi)
                    && let Some(replaced) = substituted(&poly, var, &counted)
                {
                    poly = replaced;
                }
            }
            if poly == before {
                break;
            }
        }
        poly
    }

    /// The equations of which one list holds if two accesses overlap; `None` if there are too many.
    fn conflicts(&mut self, a: (&Located, &Poly), b: (&Located, &Poly), facts: &Facts) -> Option<Vec<Vec<Poly>>> {
        let (a, x, b, y) = (a.0, a.1, b.0, b.1);
        if self.symbols.has_stride(x) || self.symbols.has_stride(y) {
            return self.view_conflicts((a, x), (b, y), facts).map(|equations| vec![equations]);
        }
        let difference = x.plus(y, -1)?;
        let unit = difference.content();
        // They overlap if -width(a) < x - y < width(b).
        let (low, high) = (1 - i128::from(a.access.width), i128::from(b.access.width) - 1);
        if unit == 0 {
            return Some(vec![Vec::new()]);
        }
        let variable = Poly(difference.0.iter().filter(|(m, _)| !m.is_empty()).map(|(m, c)| (m.clone(), *c)).collect());
        let unit = variable.content();
        if unit == 0 {
            let constant = difference.as_constant()?;
            return Some(if (low..=high).contains(&constant) { vec![Vec::new()] } else { Vec::new() });
        }
        let constant = difference.0.get(&Monomial::new()).copied().unwrap_or(0);
        let mut alternatives = Vec::new();
        for overlap in (low..=high).filter(|overlap| (constant - overlap) % unit == 0) {
            if alternatives.len() == 8 {
                return None;
            }
            alternatives.push(vec![difference.plus(&Poly::constant(overlap), -1)?.divided(unit)]);
        }
        Some(alternatives)
    }

    /// Elements of a view that may be written differ if an index on any axis does: the equations say that no index does.
    fn view_conflicts(&mut self, a: (&Located, &Poly), b: (&Located, &Poly), facts: &Facts) -> Option<Vec<Poly>> {
        let Base::Param(param) = a.0.base else { return None };
        let Type::Ptr(_, pointee) = self.graph.params[param].1 else { return None };
        let size = i128::from(pointee.size());
        let mut equations = Vec::new();
        let (mut rest_a, mut rest_b) = (a.1.clone(), b.1.clone());
        for (extent, stride) in self.axes_of(param) {
            let stride = self.graph.nodes.iter().position(|node| node.kind == Kind::Param(stride))?;
            let stride = self.symbols.var(Meaning::Node(stride));
            let monomial = stride.0.keys().next()?.clone();
            let (index_a, left_a) = rest_a.split(size, &monomial);
            let (index_b, left_b) = rest_b.split(size, &monomial);
            (rest_a, rest_b) = (left_a, left_b);
            let extent = self.graph.nodes.iter().position(|node| node.kind == Kind::Param(extent))?;
            let extent = self.symbols.var(Meaning::Node(extent));
            for index in [&index_a, &index_b] {
                let below = extent.plus(index, -1)?.plus(&Poly::constant(1), -1)?;
                if self.symbols.has_stride(index) || !facts.implies(index) || !facts.implies(&below) {
                    return None;
                }
            }
            equations.push(index_a.plus(&index_b, -1)?);
        }
        for (rest, width) in [(rest_a, a.0.access.width), (rest_b, b.0.access.width)] {
            let offset = rest.as_constant()?;
            if offset < 0 || offset + i128::from(width) > size {
                return None;
            }
        }
        equations.retain(|equation| !equation.0.is_empty());
        Some(equations)
    }

    /// The parameters with the extent and the stride of each axis of a view.
    fn axes_of(&self, param: usize) -> Vec<(usize, usize)> {
        use crate::kir::Role;
        let roles =
            |role: Role, from: usize| self.graph.params[from..].iter().take_while(|param| param.3 == role).count();
        let extents = roles(Role::Extent, param + 1);
        let strides = roles(Role::Stride, param + 1 + extents);
        if strides == extents {
            (0..extents).map(|axis| (param + 1 + axis, param + 1 + extents + axis)).collect()
        } else {
            Vec::new()
        }
    }

    /// Returns true if an address depends on the thread at all.
    pub(super) fn varies(&self, located: &Located) -> bool {
        located.bytes.vars().any(|var| var.side != Side::Both)
    }

    /// Returns true if an address depends on a value that is known at run time only.
    pub(super) fn depends_on_data(&self, located: &Located) -> bool {
        located.bytes.vars().any(|var| match self.symbols.meaning(var) {
            Meaning::Node(node) => {
                self.graph.leaves(*node).into_iter().any(|leaf| matches!(self.graph.nodes[leaf].kind, Kind::Opaque(..)))
            }
            _ => false,
        })
    }

    /// The special registers that addresses and branches depend on.
    pub(super) fn used_positions(graph: &Graph) -> BTreeSet<NodeId> {
        let (mut stack, mut seen) = (Vec::new(), BTreeSet::new());
        stack.extend(graph.accesses.iter().map(|access| access.pointer));
        stack.extend(graph.blocks.iter().filter_map(|block| block.condition));
        while let Some(node) = stack.pop() {
            if seen.insert(node) {
                stack.extend(super::symbols::operands(&graph.nodes[node].kind));
                stack.extend(graph.phis.get(&node).into_iter().flatten());
            }
        }
        seen.retain(|node| {
            matches!(graph.nodes[*node].kind, Kind::Special(Special::ThreadIdx(_) | Special::BlockIdx(_)))
        });
        seen
    }
}

/// A polynomial with a symbol replaced.
fn substituted(poly: &Poly, var: Var, by: &Poly) -> Option<Poly> {
    let mut result = Poly::default();
    for (monomial, coefficient) in &poly.0 {
        let mut term = Poly::constant(*coefficient);
        for own in monomial {
            let own = if *own == var { by.clone() } else { Poly::var(*own) };
            term = term.times(&own)?;
        }
        result = result.plus(&term, 1)?;
    }
    Some(result)
}

/// Returns true if two kinds of accesses can race.
pub(super) fn can_race(a: Use, b: Use) -> bool {
    !matches!((a, b), (Use::Read, Use::Read) | (Use::Atomic, Use::Atomic))
}

/// Returns true if two accesses to the same memory, which are atomic, race if threads of different blocks make them.
pub(super) fn is_too_narrow(a: &Located, b: &Located) -> bool {
    let atomic = a.access.kind == Use::Atomic && b.access.kind == Use::Atomic;
    atomic && !a.base.is_shared() && (a.access.narrow || b.access.narrow)
}
