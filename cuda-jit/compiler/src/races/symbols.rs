//! Integer values as polynomials over symbols, with facts about them.
//!
//! A polynomial stands for the mathematical value of a node, so an operation whose result may not fit its type is a
//! symbol of its own. Whether it fits follows from the types and launch limits, from the conditions at the access, or
//! from a [`Bound`] that the launch checks.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::graph::{Graph, Kind, NodeId};
use super::linear::Facts;
use super::poly::{Poly, Side, Var};
use crate::kir::{Axis, BinaryOp, Role, Scalar, Special};

/// The meaning of a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Meaning {
    /// The thread's index in its block.
    Thread(Axis),
    /// The block's index.
    Block(Axis),
    /// The value of a node.
    Node(NodeId),
    /// The quotient of the operands of a remainder.
    Quotient(NodeId),
    /// The number of completed iterations of a loop, by its index.
    Iterations(usize),
    /// The remainder of that number by two.
    Parity(usize),
    /// The quotient of that number by two.
    Pairs(usize),
    /// The value of a polynomial over values that all threads have.
    Named(Poly),
}

/// The symbols of a kernel.
pub(super) struct Symbols<'g> {
    pub(super) graph: &'g Graph,
    pub(super) meanings: Vec<Meaning>,
    numbers: HashMap<Meaning, u32>,
    /// The axes of the grid and of the block along which every launch has extent 1.
    pub(super) single: [bool; 6],
    uniform: HashMap<NodeId, bool>,
    /// The nesting of proofs that values of other proofs need.
    pub(super) nesting: usize,
}

/// The values at one access: what its conditions say, and what the launch has to check.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    pub(super) facts: Facts,
    /// The conditions of branches, and whether they are true.
    pub(super) conditions: Vec<(NodeId, bool)>,
    values: HashMap<NodeId, Poly>,
    /// The operations that a check has shown not to overflow.
    pub(super) exact: HashSet<(BinaryOp, NodeId, NodeId)>,
    /// Upper bounds of values that must fit, over what all threads have, and the largest number that fits.
    pub(super) bounds: BTreeSet<(Poly, u128)>,
    /// The edge by which a block was reached, by the index of the predecessor, where the conditions tell it.
    pub(super) edges: HashMap<usize, usize>,
}

impl Context {
    pub(super) fn under(conditions: Vec<(NodeId, bool)>) -> Self {
        Context { conditions, ..Context::default() }
    }

    /// Adds the edge by which a block was reached, of which values may be functions.
    pub(super) fn reach(&mut self, block: usize, edge: usize) {
        self.edges.insert(block, edge);
        self.values.clear();
    }

    /// Removes facts that are there twice, and forgets values, of which the facts may say more now.
    pub(super) fn simplify(&mut self) {
        for facts in [&mut self.facts.zero, &mut self.facts.positive] {
            let mut seen = HashSet::new();
            facts.retain(|fact| seen.insert(fact.clone()));
        }
        self.values.clear();
    }
}

/// The nesting of operands that is looked into.
const DEPTH: usize = 64;

impl<'g> Symbols<'g> {
    pub(super) fn new(graph: &'g Graph, single: [bool; 6]) -> Self {
        Symbols { graph, meanings: Vec::new(), numbers: HashMap::new(), single, uniform: HashMap::new(), nesting: 0 }
    }

    fn symbol(&mut self, meaning: Meaning) -> u32 {
        let meanings = &mut self.meanings;
        *self.numbers.entry(meaning.clone()).or_insert_with(|| {
            meanings.push(meaning);
            meanings.len() as u32 - 1
        })
    }

    /// The symbol as a polynomial; one that all threads have the same value of belongs to both sides.
    pub(super) fn var(&mut self, meaning: Meaning) -> Poly {
        let side = if self.is_uniform(&meaning) { Side::Both } else { Side::First };
        Poly::var(Var { symbol: self.symbol(meaning), side })
    }

    pub(super) fn meaning(&self, var: Var) -> &Meaning {
        &self.meanings[var.symbol as usize]
    }

    fn is_uniform(&mut self, meaning: &Meaning) -> bool {
        match meaning {
            Meaning::Thread(_) | Meaning::Block(_) => false,
            Meaning::Iterations(_) | Meaning::Parity(_) | Meaning::Pairs(_) => false,
            Meaning::Named(_) => true,
            Meaning::Node(node) | Meaning::Quotient(node) => self.is_uniform_node(*node),
        }
    }

    /// Returns true if the node has the same value in all threads of the grid, and always.
    pub(super) fn is_uniform_node(&mut self, node: NodeId) -> bool {
        if let Some(known) = self.uniform.get(&node) {
            return *known;
        }
        let uniform = match self.graph.nodes[node].kind.clone() {
            Kind::Const(_) | Kind::Param(_) | Kind::Shared(_) => true,
            Kind::Special(special) => match special {
                Special::ThreadIdx(axis) => self.single[3 + axis as usize],
                Special::BlockIdx(axis) => self.single[axis as usize],
                Special::BlockDim(_)
                | Special::GridDim(_)
                | Special::WarpSize
                | Special::DynamicSharedBytes
                | Special::ClusterDim(_)
                | Special::ClusterRanks
                | Special::ComputeCapability => true,
                _ => false,
            },
            Kind::Phi(..) | Kind::Opaque(..) | Kind::Unshared => false,
            other => operands(&other).into_iter().all(|operand| self.is_uniform_node(operand)),
        };
        self.uniform.insert(node, uniform);
        uniform
    }

    /// Returns true for a view's stride, whose products wrap as addresses do.
    pub(super) fn is_stride(&self, var: Var) -> bool {
        matches!(self.meaning(var), Meaning::Node(node) if self.stride_of(*node).is_some())
    }

    /// The parameter, if the node is a view's stride.
    pub(super) fn stride_of(&self, node: NodeId) -> Option<usize> {
        match self.graph.nodes[node].kind {
            Kind::Param(index) if self.graph.params[index].3 == Role::Stride => Some(index),
            _ => None,
        }
    }

    pub(super) fn has_stride(&self, poly: &Poly) -> bool {
        poly.vars().any(|var| self.is_stride(var))
    }

    /// The value of an integer node.
    pub(super) fn value(&mut self, context: &mut Context, node: NodeId) -> Poly {
        self.value_within(context, node, DEPTH)
    }

    fn value_within(&mut self, context: &mut Context, node: NodeId, depth: usize) -> Poly {
        if let Some(known) = context.values.get(&node) {
            return known.clone();
        }
        let value = match depth {
            0 => None,
            _ => self.structured(context, node, depth - 1),
        };
        let value = value.or_else(|| self.alternating(node));
        let value = value.unwrap_or_else(|| self.var(Meaning::Node(node)));
        context.values.insert(node, value.clone());
        value
    }

    /// The value by the node's operands, if that is exact.
    fn structured(&mut self, context: &mut Context, node: NodeId, depth: usize) -> Option<Poly> {
        let scalar = self.graph.scalar(node)?;
        let kind = self.graph.nodes[node].kind.clone();
        match kind {
            Kind::Const(bits) if scalar.is_integer() => Some(Poly::constant(number(bits, scalar)?)),
            Kind::Special(special) => self.special(special),
            Kind::Phi(..) => {
                let operand = self.chosen_operand(context, node)?;
                Some(self.value_within(context, operand, depth))
            }
            Kind::Cast(from) => {
                let source = self.graph.scalar(from)?;
                if !source.is_integer() || !scalar.is_integer() {
                    return None;
                }
                let value = self.value_within(context, from, depth);
                if self.has_stride(&value) {
                    return None;
                }
                let wider = range(source)?.1 <= range(scalar)?.1;
                let kept = if wider {
                    self.is_low_enough(context, &value, scalar)
                } else {
                    self.fits(context, &value, scalar)
                };
                kept.then_some(value)
            }
            Kind::Binary(op, a, b) if scalar.is_integer() => {
                let (x, y) = (self.value_within(context, a, depth), self.value_within(context, b, depth));
                let exact = context.exact.contains(&(op, a, b));
                self.binary(context, (op, exact), (x, y), scalar)
            }
            _ => None,
        }
    }

    fn special(&mut self, special: Special) -> Option<Poly> {
        let of = |axis: Axis, block: bool| self.single[if block { 3 } else { 0 } + axis as usize];
        Some(match special {
            Special::ThreadIdx(axis) if of(axis, true) => Poly::constant(0),
            Special::BlockIdx(axis) if of(axis, false) => Poly::constant(0),
            Special::BlockDim(axis) if of(axis, true) => Poly::constant(1),
            Special::GridDim(axis) if of(axis, false) => Poly::constant(1),
            Special::ThreadIdx(axis) => self.var(Meaning::Thread(axis)),
            Special::BlockIdx(axis) => self.var(Meaning::Block(axis)),
            _ => return None,
        })
    }

    fn binary(
        &mut self,
        context: &mut Context,
        (op, exact): (BinaryOp, bool),
        (x, y): (Poly, Poly),
        scalar: Scalar,
    ) -> Option<Poly> {
        let strided = self.has_stride(&x) || self.has_stride(&y);
        let value = match op {
            BinaryOp::Add => x.plus(&y, 1)?,
            BinaryOp::Sub => x.plus(&y, -1)?,
            BinaryOp::Mul => self.product(x, y)?,
            BinaryOp::Shl => {
                let by = u32::try_from(y.as_constant()?).ok().filter(|by| *by < scalar.bits().min(64))?;
                Poly::default().plus(&x, 1 << by)?
            }
            BinaryOp::Or | BinaryOp::Xor if !strided && !scalar.is_signed() => self.joined(context, x, y)?,
            _ => return None,
        };
        let wraps = strided && matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) && scalar == Scalar::U64;
        (wraps || !strided && (exact || self.fits(context, &value, scalar))).then_some(value)
    }

    /// The sum of two numbers of which one is a multiple of a power of two, and the other one less than that.
    fn joined(&mut self, context: &mut Context, x: Poly, y: Poly) -> Option<Poly> {
        for (multiple, rest) in [(&x, &y), (&y, &x)] {
            let power = 1 << multiple.content().trailing_zeros().min(64);
            let room = Poly::constant(power - 1).plus(rest, -1)?;
            if power > 1 && self.proves(context, rest) && self.proves(context, &room) {
                return x.plus(&y, 1);
            }
        }
        None
    }

    /// The product; a sum that all threads have the same value of is named, so that it stays a factor.
    pub(super) fn product(&mut self, x: Poly, y: Poly) -> Option<Poly> {
        let uniform = |poly: &Poly| poly.vars().all(|var| var.side == Side::Both);
        let name = |symbols: &mut Self, poly: Poly| match poly.0.len() {
            0 | 1 => poly,
            _ => symbols.var(Meaning::Named(poly)),
        };
        match (uniform(&x), uniform(&y)) {
            (true, false) => name(self, x).times(&y),
            (false, true) => x.times(&name(self, y)),
            _ => x.times(&y),
        }
    }

    /// Returns true if a value fits a type; it may become a check of the launch.
    pub(super) fn fits(&mut self, context: &mut Context, value: &Poly, scalar: Scalar) -> bool {
        if !self.is_low_enough(context, value, scalar) {
            return false;
        }
        let Some((_, high)) = range(scalar) else { return false };
        let bound = self.upper(value, 8);
        if let Some(bound) = &bound
            && self.evaluated(bound, &|var| self.largest(var)).is_some_and(|most| most <= high.unsigned_abs())
        {
            return true;
        }
        let below = Poly::constant(high).plus(value, -1);
        if below.is_some_and(|below| self.proves(context, &below)) {
            return true;
        }
        self.checked_by_launch(context, bound, high)
            || !self.has_stride(value) && {
                let guarded = self.guarded(context, value);
                self.checked_by_launch(context, guarded, high)
            }
    }

    /// Returns true if a value is not less than a type's smallest.
    fn is_low_enough(&mut self, context: &mut Context, value: &Poly, scalar: Scalar) -> bool {
        let Some((low, _)) = range(scalar) else { return false };
        self.is_positive(value)
            || value.plus(&Poly::constant(low), -1).is_some_and(|above| self.proves(context, &above))
    }

    /// Makes a bound a check of the launch, if usual sizes pass it.
    fn checked_by_launch(&self, context: &mut Context, bound: Option<Poly>, high: i128) -> bool {
        let Some(bound) = bound else { return false };
        let passes = self.evaluated(&bound, &|var| self.usual(var)).is_some_and(|most| most <= high.unsigned_abs());
        if passes {
            context.bounds.insert((bound, high.unsigned_abs()));
        }
        passes
    }

    /// Returns true if no coefficient and no symbol of a polynomial is negative.
    fn is_positive(&self, poly: &Poly) -> bool {
        poly.0.values().all(|coefficient| *coefficient >= 0) && poly.vars().all(|var| self.lowest(var) >= 0)
    }

    /// A symbol's smallest value.
    pub(super) fn lowest(&self, var: Var) -> i128 {
        match self.meaning(var) {
            Meaning::Node(node) => match self.graph.nodes[*node].kind {
                Kind::Special(Special::BlockDim(_) | Special::GridDim(_) | Special::WarpSize) => 1,
                _ => self.graph.scalar(*node).and_then(range).map_or(i128::MIN, |(low, _)| low),
            },
            Meaning::Named(poly) => {
                if self.is_positive(poly) {
                    0
                } else {
                    i128::MIN
                }
            }
            _ => 0,
        }
    }

    /// A symbol's largest value in any launch.
    pub(super) fn largest(&self, var: Var) -> Option<u128> {
        Some(match self.meaning(var) {
            Meaning::Thread(axis) => u128::from(BLOCK[*axis as usize]),
            Meaning::Block(axis) => u128::from(GRID[*axis as usize]),
            Meaning::Parity(_) => 1,
            Meaning::Iterations(_) | Meaning::Pairs(_) | Meaning::Quotient(_) | Meaning::Named(_) => return None,
            Meaning::Node(node) => match self.graph.nodes[*node].kind {
                Kind::Special(Special::BlockDim(axis)) => u128::from(BLOCK[axis as usize]),
                Kind::Special(Special::GridDim(axis)) => u128::from(GRID[axis as usize]),
                Kind::Special(Special::LaneId) => 31,
                Kind::Special(Special::WarpSize) => 32,
                Kind::Param(index) if self.graph.params[index].3 == Role::Extent => (1 << 63) - 1,
                _ => range(self.graph.scalar(*node)?)?.1.unsigned_abs(),
            },
        })
    }

    /// A usual size, to tell checks that launches pass from those that none would.
    fn usual(&self, var: Var) -> Option<u128> {
        let largest = self.largest(var)?;
        Some(match self.meaning(var) {
            Meaning::Node(node) => match self.graph.nodes[*node].kind {
                Kind::Param(_) | Kind::Special(Special::GridDim(_)) => largest.min(1 << 12),
                _ => largest,
            },
            _ => largest,
        })
    }

    /// The value of a bound, given the largest value of each symbol.
    pub(super) fn evaluated(&self, bound: &Poly, largest: &dyn Fn(Var) -> Option<u128>) -> Option<u128> {
        let mut sum = 0_u128;
        for (monomial, coefficient) in &bound.0 {
            let mut term = u128::try_from(*coefficient).ok()?;
            for var in monomial {
                term = term.saturating_mul(largest(*var)?);
            }
            sum = sum.saturating_add(term);
        }
        Some(sum)
    }

    /// An upper bound over parameters and dimensions, all of whose coefficients are positive.
    pub(super) fn upper(&mut self, poly: &Poly, depth: usize) -> Option<Poly> {
        let depth = depth.checked_sub(1)?;
        let mut bound = Poly::default();
        for (monomial, coefficient) in &poly.0 {
            if *coefficient < 0 {
                // The term is at most zero if none of its symbols is negative.
                if monomial.iter().any(|var| self.lowest(*var) < 0) {
                    return None;
                }
                continue;
            }
            let mut term = Poly::constant(*coefficient);
            for var in monomial {
                if self.lowest(*var) < 0 {
                    return None;
                }
                term = term.times(&self.upper_of(*var, depth)?)?;
            }
            bound = bound.plus(&term, 1)?;
        }
        Some(bound)
    }

    fn upper_of(&mut self, var: Var, depth: usize) -> Option<Poly> {
        let meaning = self.meaning(var).clone();
        let node = match meaning {
            Meaning::Thread(axis) => return self.dimension(Special::BlockDim(axis)),
            Meaning::Block(axis) => return self.dimension(Special::GridDim(axis)),
            Meaning::Parity(_) => return Some(Poly::constant(1)),
            Meaning::Iterations(_) | Meaning::Pairs(_) | Meaning::Quotient(_) => return None,
            Meaning::Named(poly) => return self.upper(&poly, depth),
            Meaning::Node(node) => node,
        };
        let by_type = Poly::constant(i128::try_from(self.largest(var)?).ok()?);
        let mut plain = Context::default();
        let found = match self.graph.nodes[node].kind.clone() {
            Kind::Param(_) | Kind::Special(Special::BlockDim(_) | Special::GridDim(_)) => Some(Poly::var(var)),
            Kind::Binary(BinaryOp::And | BinaryOp::Min, a, b) => {
                let values = [a, b].map(|operand| self.value_within(&mut plain, operand, 8));
                let bounds = values.iter().filter(|value| value.vars().all(|other| other != var));
                let bounds: Vec<Poly> = bounds.filter_map(|value| self.upper(value, depth)).collect();
                bounds.into_iter().min_by_key(|bound| self.evaluated(bound, &|var| self.usual(var)))
            }
            Kind::Binary(BinaryOp::Max, a, b) => {
                let [a, b] = [a, b].map(|operand| self.value_within(&mut plain, operand, 8));
                let sum = a
                    .plus(&b, 1)
                    .filter(|sum| sum.vars().all(|other| other != var) && self.is_positive(&a) && self.is_positive(&b));
                sum.and_then(|sum| self.upper(&sum, depth))
            }
            Kind::Binary(BinaryOp::Div | BinaryOp::Shr, a, _) => {
                let value = self.value_within(&mut plain, a, 8);
                if value.vars().any(|other| other == var) { None } else { self.upper(&value, depth) }
            }
            Kind::Binary(BinaryOp::Rem, a, b) => {
                let divisor = self.value_within(&mut plain, b, 8);
                let value = self.value_within(&mut plain, a, 8);
                self.upper(&divisor, depth).or_else(|| self.upper(&value, depth))
            }
            Kind::Phi(..) => self.phi_bound(node, depth),
            _ => None,
        };
        // Bounds that a value without wrapping would need are not followed.
        found.filter(|_| plain.bounds.is_empty()).or(Some(by_type))
    }

    fn dimension(&mut self, special: Special) -> Option<Poly> {
        let node = self.graph.nodes.iter().position(|node| node.kind == Kind::Special(special));
        match node {
            Some(node) => Some(self.var(Meaning::Node(node))),
            None => Some(Poly::constant(match special {
                Special::BlockDim(axis) => i128::from(BLOCK[axis as usize]),
                Special::GridDim(axis) => i128::from(GRID[axis as usize]),
                _ => return None,
            })),
        }
    }

    /// An upper bound of a loop's counter.
    fn phi_bound(&mut self, phi: NodeId, depth: usize) -> Option<Poly> {
        let mut plain = Context::default();
        if let Some((limit, _)) = self.invariant_limit(phi) {
            let limit = self.value_within(&mut plain, limit, 8);
            return if plain.bounds.is_empty() { self.upper(&limit, depth) } else { None };
        }
        if let Some(start) = self.decreasing(phi) {
            let start = self.value_within(&mut plain, start, 8);
            return if plain.bounds.is_empty() { self.upper(&start, depth) } else { None };
        }
        let counter = self.counter(phi)?;
        let latch_limit = self.latch_limit(phi, counter.index)?;
        let mut sum = Poly::default();
        for node in [Some(counter.start), Some(counter.step), Some(latch_limit)].into_iter().flatten() {
            let value = self.value_within(&mut plain, node, 8);
            sum = sum.plus(&self.upper(&value, depth)?, 1)?;
        }
        plain.bounds.is_empty().then_some(sum)
    }
}

/// The largest index along each axis of a grid, plus one.
const GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
/// The largest extents of a block.
const BLOCK: [u32; 3] = [1024, 1024, 64];

/// The operands of a node.
pub(super) fn operands(kind: &Kind) -> Vec<NodeId> {
    match kind {
        Kind::Const(_) | Kind::Param(_) | Kind::Special(_) | Kind::Shared(_) | Kind::Unshared => Vec::new(),
        Kind::Phi(..) | Kind::Opaque(..) => Vec::new(),
        Kind::Unary(_, a) | Kind::Cast(a) | Kind::Field(a, _) | Kind::Alias(a) | Kind::Dynamic(a) | Kind::Load(a) => {
            vec![*a]
        }
        Kind::Binary(_, a, b) | Kind::Compare(_, a, b) | Kind::Offset(a, b) => vec![*a, *b],
        Kind::Select(a, b, c) => vec![*a, *b, *c],
        Kind::Pure(_, all) => all.clone(),
    }
}

/// The range of an integer type.
pub(super) fn range(scalar: Scalar) -> Option<(i128, i128)> {
    match (scalar.is_integer(), scalar.is_signed(), scalar.bits()) {
        (false, ..) | (_, _, 128) => None,
        (_, true, bits) => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        (_, false, bits) => Some((0, (1 << bits) - 1)),
    }
}

/// A constant's value.
pub(super) fn number(bits: u128, scalar: Scalar) -> Option<i128> {
    let (_, high) = range(scalar)?;
    let bits = i128::try_from(bits).ok()?;
    Some(if bits > high { bits - (1 << scalar.bits()) } else { bits })
}
