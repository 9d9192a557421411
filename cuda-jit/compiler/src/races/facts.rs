//! Facts about the values at an access: what its conditions say, the bounds of positions, and the laws of counters,
//! quotients and remainders.

use std::collections::BTreeSet;

use super::graph::{Kind, NodeId};
use super::linear::Facts;
use super::poly::{Monomial, Poly, Side, Var, without};
use super::symbols::{Context, Meaning, Symbols};
use crate::kir::{Axis, BinaryOp, CompareOp, Scalar, Special, UnaryOp};

/// The number of steps from a proof's goal to the facts that it uses.
const ROUNDS: usize = 3;

/// The nesting of conditions that are looked into.
const CONDITIONS: usize = 8;

/// The nesting of proofs.
const NESTING: usize = 4;

/// A loop's counter: the value at the start, and what each iteration adds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    /// The loop, by index.
    pub(super) index: usize,
    pub(super) start: NodeId,
    pub(super) step: NodeId,
}

impl Symbols<'_> {
    /// The context of an access in a block: the conditions that hold there.
    pub(super) fn context_at(&mut self, block: usize) -> Context {
        let mut context = Context::under(self.graph.conditions(block));
        // Once more, since a condition may say something about values in those before it.
        for _ in 0..2 {
            for (condition, truth) in context.conditions.clone() {
                self.assume(&mut context, condition, truth, CONDITIONS);
            }
            context.simplify();
        }
        context
    }

    /// Adds what a condition says.
    pub(super) fn assume(&mut self, context: &mut Context, condition: NodeId, truth: bool, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match self.graph.nodes[condition].kind.clone() {
            Kind::Unary(UnaryOp::Not, a) => self.assume(context, a, !truth, depth),
            Kind::Binary(BinaryOp::And, a, b) if truth => {
                self.assume(context, a, true, depth);
                self.assume(context, b, true, depth);
            }
            Kind::Binary(BinaryOp::Or, a, b) if !truth => {
                self.assume(context, a, false, depth);
                self.assume(context, b, false, depth);
            }
            Kind::Compare(op, a, b) => {
                let op = if truth { op } else { opposite(op) };
                self.compared(context, op, a, b);
                self.compare_merged(context, (op, a, b), depth);
            }
            Kind::Pure(name, of) if !truth && name.starts_with("overflows") => {
                let op = match name {
                    "overflows add" => BinaryOp::Add,
                    "overflows sub" => BinaryOp::Sub,
                    _ => BinaryOp::Mul,
                };
                context.exact.insert((op, of[0], of[1]));
            }
            Kind::Phi(..) => self.assume_merged(context, condition, truth, depth),
            _ => {}
        }
    }

    fn compared(&mut self, context: &mut Context, op: CompareOp, a: NodeId, b: NodeId) {
        if !self.graph.scalar(a).is_some_and(Scalar::is_integer) {
            return;
        }
        let (x, y) = (self.value(context, a), self.value(context, b));
        if self.has_stride(&x) || self.has_stride(&y) {
            return;
        }
        let Some(difference) = y.plus(&x, -1) else { return };
        let more = |poly: &Poly, by: i128| poly.plus(&Poly::constant(by), 1);
        let negated = Poly::default().plus(&difference, -1);
        match op {
            CompareOp::Eq => context.facts.zero.push(difference),
            CompareOp::Lt => context.facts.positive.extend(more(&difference, -1)),
            CompareOp::Le => context.facts.positive.push(difference),
            CompareOp::Gt => context.facts.positive.extend(negated.and_then(|negated| more(&negated, -1))),
            CompareOp::Ge => context.facts.positive.extend(negated),
            CompareOp::Ne => {
                // Of `a <= b` and `a >= b`, one may be known.
                if self.proves(context, &difference) {
                    context.facts.positive.extend(more(&difference, -1));
                } else if let Some(negated) = negated
                    && self.proves(context, &negated)
                {
                    context.facts.positive.extend(more(&negated, -1));
                }
            }
        }
    }

    /// Returns true if a polynomial is proved not to be negative at the access.
    pub(super) fn proves(&mut self, context: &mut Context, goal: &Poly) -> bool {
        if self.nesting >= NESTING {
            return false;
        }
        self.nesting += 1;
        let facts = self.relevant(context, std::slice::from_ref(goal));
        self.nesting -= 1;
        facts.implies(goal)
    }

    /// The facts that concern the symbols of some polynomials, and the laws of these symbols.
    pub(super) fn relevant(&mut self, context: &mut Context, goals: &[Poly]) -> Facts {
        let mut facts = Facts::default();
        let mut vars: BTreeSet<Var> = goals.iter().flat_map(Poly::vars).collect();
        let mut monomials: BTreeSet<Monomial> = goals.iter().flat_map(|goal| goal.0.keys().cloned()).collect();
        let mut explained: BTreeSet<Var> = BTreeSet::new();
        // What all threads have in common may follow from what one thread knows.
        let common = vars.iter().all(|var| var.side == Side::Both);
        let (mut zero, mut positive) = (context.facts.zero.clone(), context.facts.positive.clone());
        for _ in 0..ROUNDS {
            for (from, to) in [(&mut zero, &mut facts.zero), (&mut positive, &mut facts.positive)] {
                from.retain(|fact| {
                    let own = |var: &Var| var.side != Side::Both;
                    let varies = fact.vars().any(|var| own(&var));
                    let concerns = fact.vars().any(|var| vars.contains(&var) && (!varies || common || own(&var)));
                    if concerns {
                        to.push(fact.clone());
                    }
                    !concerns
                });
            }
            vars.extend(facts.zero.iter().chain(&facts.positive).flat_map(Poly::vars));
            monomials.extend(facts.zero.iter().chain(&facts.positive).flat_map(|fact| fact.0.keys().cloned()));
            for var in vars.clone() {
                if explained.insert(var) {
                    self.laws(context, var, &mut facts);
                }
            }
            vars.extend(facts.zero.iter().chain(&facts.positive).flat_map(Poly::vars));
        }
        for var in vars {
            if explained.insert(var) {
                self.bounds_of(var, &mut facts);
            }
        }
        self.product_laws(context, &monomials, &mut facts);
        facts
    }

    /// The constant bounds of a symbol.
    fn bounds_of(&self, var: Var, facts: &mut Facts) {
        let value = Poly::var(var);
        facts.positive.extend(value.plus(&Poly::constant(self.lowest(var)), -1));
        // Larger bounds decide nothing here; `fits` evaluates them.
        if let Some(largest) = self.largest(var).filter(|largest| *largest < 1 << 17) {
            facts.positive.extend(Poly::constant(largest as i128).plus(&value, -1));
        }
    }

    /// The laws of a symbol of the first thread, or of both.
    fn laws(&mut self, context: &mut Context, var: Var, facts: &mut Facts) {
        self.bounds_of(var, facts);
        let value = Poly::var(var);
        match self.meaning(var).clone() {
            Meaning::Thread(axis) => {
                facts.positive.extend(self.below(Special::BlockDim(axis), &value));
                facts.zero.extend(self.lane_law(axis, &value));
            }
            Meaning::Block(axis) => facts.positive.extend(self.below(Special::GridDim(axis), &value)),
            Meaning::Parity(index) => facts.zero.extend(self.parity_law(index, &value)),
            Meaning::Iterations(_) | Meaning::Pairs(_) | Meaning::Quotient(_) => {}
            Meaning::Named(poly) => facts.zero.extend(value.plus(&poly, -1)),
            Meaning::Node(node) => {
                if self.nesting <= NESTING {
                    self.nesting += 1;
                    self.laws_of_node(context, node, &value, facts);
                    self.nesting -= 1;
                }
            }
        }
    }

    /// `thread - 32 * warp - lane`: a warp is 32 consecutive threads along x, if the block extends only along x.
    fn lane_law(&mut self, axis: Axis, thread: &Poly) -> Option<Poly> {
        let lane = self.graph.nodes.iter().position(|node| node.kind == Kind::Special(Special::LaneId))?;
        if axis != Axis::X || !self.single[4] || !self.single[5] {
            return None;
        }
        let (warp, lane) = (self.var(Meaning::Quotient(lane)), self.var(Meaning::Node(lane)));
        thread.plus(&warp, -32)?.plus(&lane, -1)
    }

    /// `iterations - 2 * pairs - parity`
    fn parity_law(&mut self, index: usize, parity: &Poly) -> Option<Poly> {
        let pairs = self.var(Meaning::Pairs(index));
        self.var(Meaning::Iterations(index)).plus(&pairs, -2)?.plus(parity, -1)
    }

    /// `dimension - 1 - index`
    fn below(&mut self, dimension: Special, index: &Poly) -> Option<Poly> {
        let node = self.graph.nodes.iter().position(|node| node.kind == Kind::Special(dimension))?;
        self.var(Meaning::Node(node)).plus(index, -1)?.plus(&Poly::constant(1), -1)
    }

    fn laws_of_node(&mut self, context: &mut Context, node: NodeId, value: &Poly, facts: &mut Facts) {
        let Some(scalar) = self.graph.scalar(node) else { return };
        let unsigned = scalar.is_integer() && !scalar.is_signed();
        match self.graph.nodes[node].kind.clone() {
            Kind::Binary(BinaryOp::Div, a, b) if self.is_euclidean(context, a, b, scalar) => {
                self.quotient_laws(context, (a, b), value, facts);
            }
            Kind::Binary(BinaryOp::Rem, a, b) if self.is_euclidean(context, a, b, scalar) => {
                self.remainder_laws(context, (node, a, b), value, facts);
            }
            Kind::Binary(BinaryOp::And, a, b) if unsigned => {
                for operand in [a, b] {
                    let operand = self.value(context, operand);
                    facts.positive.extend(operand.plus(value, -1));
                }
            }
            Kind::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b) if scalar.is_integer() => {
                let factor = if op == BinaryOp::Min { 1 } else { -1 };
                for (operand, other) in [(a, b), (b, a)] {
                    let room = self.value(context, operand).plus(value, -1);
                    let room = room.and_then(|room| Poly::default().plus(&room, factor));
                    // It is the other one if it is not this one.
                    let is_other = room.as_ref().and_then(|room| room.plus(&Poly::constant(1), -1));
                    if self.nesting <= 2 && is_other.is_some_and(|is_other| self.proves(context, &is_other)) {
                        let other = self.value(context, other);
                        facts.zero.extend(value.plus(&other, -1));
                    }
                    facts.positive.extend(room);
                }
            }
            Kind::Phi(..) if scalar.is_integer() => {
                if let Some((limit, inclusive)) = self.invariant_limit(node) {
                    let limit = self.value(context, limit);
                    let room = limit.plus(value, -1);
                    facts.positive.extend(room.and_then(|room| room.plus(&Poly::constant(i128::from(!inclusive)), -1)));
                }
                if let Some(start) = self.decreasing(node) {
                    let start = self.value(context, start);
                    facts.positive.extend(start.plus(value, -1));
                }
                if let Some(counted) = self.counted(context, node) {
                    facts.zero.extend(value.plus(&counted, -1));
                }
            }
            _ => {}
        }
    }

    /// Returns true if a quotient is rounded down, and its remainder not negative.
    fn is_euclidean(&mut self, context: &mut Context, a: NodeId, b: NodeId, scalar: Scalar) -> bool {
        if !scalar.is_integer() || !scalar.is_signed() {
            return scalar.is_integer();
        }
        let (dividend, divisor) = (self.value(context, a), self.value(context, b));
        let positive = divisor.plus(&Poly::constant(1), -1);
        self.proves(context, &dividend) && positive.is_some_and(|positive| self.proves(context, &positive))
    }

    /// `dividend = divisor * quotient + remainder`, `remainder < divisor` and `remainder <= dividend`
    fn remainder_laws(
        &mut self,
        context: &mut Context,
        (node, a, b): (NodeId, NodeId, NodeId),
        value: &Poly,
        facts: &mut Facts,
    ) {
        let (dividend, divisor) = (self.value(context, a), self.value(context, b));
        facts.positive.extend(divisor.plus(value, -1).and_then(|room| room.plus(&Poly::constant(1), -1)));
        facts.positive.extend(dividend.plus(value, -1));
        // The remainder of a signed number has a type with negative values.
        facts.positive.push(value.clone());
        let quotient = Kind::Binary(BinaryOp::Div, a, b);
        let quotient = match self.graph.nodes.iter().position(|node| node.kind == quotient) {
            Some(quotient) => self.value(context, quotient),
            None => self.var(Meaning::Quotient(node)),
        };
        let whole = self.product(divisor, quotient).and_then(|product| product.plus(value, 1));
        facts.zero.extend(whole.and_then(|whole| dividend.plus(&whole, -1)));
    }

    /// `divisor * quotient <= dividend < divisor * quotient + divisor`, and what is left is the remainder.
    fn quotient_laws(&mut self, context: &mut Context, (a, b): (NodeId, NodeId), value: &Poly, facts: &mut Facts) {
        let (dividend, divisor) = (self.value(context, a), self.value(context, b));
        let Some(product) = self.product(divisor.clone(), value.clone()) else { return };
        let Some(rest) = dividend.plus(&product, -1) else { return };
        let below = divisor.plus(&rest, -1).and_then(|below| below.plus(&Poly::constant(1), -1));
        facts.positive.push(rest.clone());
        facts.positive.extend(below);
        facts.positive.extend(self.quotient_limits(context, (&dividend, &divisor), value));
        let remainder = Kind::Binary(BinaryOp::Rem, a, b);
        if let Some(remainder) = self.graph.nodes.iter().position(|node| node.kind == remainder) {
            let remainder = self.value(context, remainder);
            facts.zero.extend(rest.plus(&remainder, -1));
        }
    }

    /// A quotient is less than `m` if a condition says that the dividend is less than `divisor * m`.
    fn quotient_limits(&self, context: &Context, (dividend, divisor): (&Poly, &Poly), value: &Poly) -> Vec<Poly> {
        let Some((monomial, factor)) = divisor.0.iter().next().filter(|term| divisor.0.len() == 1 && *term.1 > 0)
        else {
            return Vec::new();
        };
        let limit = |fact: &Poly| {
            let (limit, rest) = fact.plus(dividend, 1)?.split(*factor, monomial);
            let is_less = rest.as_constant()? < 0;
            if is_less { limit.plus(value, -1)?.plus(&Poly::constant(1), -1) } else { None }
        };
        context.facts.positive.iter().filter_map(limit).collect()
    }

    /// Laws of products: a bound of a position or counter, times the other factors.
    fn product_laws(&mut self, context: &mut Context, monomials: &BTreeSet<Monomial>, facts: &mut Facts) {
        for monomial in monomials.iter().filter(|monomial| monomial.len() > 1) {
            for var in monomial.iter().copied().collect::<BTreeSet<_>>() {
                let Some(rest) = without(monomial, &vec![var]) else { continue };
                if !rest.iter().all(|other| self.is_not_negative(context, *other)) {
                    continue;
                }
                let rest = Poly([(rest, 1)].into());
                let value = Poly::var(var);
                let mut known = Vec::new();
                known.extend(value.plus(&Poly::constant(self.lowest(var)), -1));
                match self.meaning(var).clone() {
                    Meaning::Thread(axis) => known.extend(self.below(Special::BlockDim(axis), &value)),
                    Meaning::Block(axis) => known.extend(self.below(Special::GridDim(axis), &value)),
                    _ => {}
                }
                facts.positive.extend(known.iter().filter_map(|fact| fact.times(&rest)));
            }
        }
    }

    /// A counter's value by the number of completed iterations, if it never wraps.
    pub(super) fn counted(&mut self, context: &mut Context, phi: NodeId) -> Option<Poly> {
        let scalar = self.graph.scalar(phi).filter(|scalar| scalar.is_integer())?;
        let counter = self.counter(phi)?;
        let limit = match self.invariant_limit(phi) {
            Some((limit, _)) => limit,
            None => self.latch_limit(phi, counter.index)?,
        };
        let (start, step) = (self.value(context, counter.start), self.value(context, counter.step));
        let next = self.value(context, limit).plus(&step, 1)?;
        if self.has_stride(&start) || self.has_stride(&next) || !self.fits(context, &next, scalar) {
            return None;
        }
        // The step must not be negative, or else the counter could wrap downwards.
        if step.as_constant().is_none_or(|step| step <= 0) && !self.proves(context, &step) {
            return None;
        }
        let iterations = self.var(Meaning::Iterations(counter.index));
        start.plus(&self.product(step, iterations)?, 1)
    }

    /// The start of a phi that no iteration of its loop increases, as `n /= 2` does.
    pub(super) fn decreasing(&self, phi: NodeId) -> Option<NodeId> {
        let Kind::Phi(block, _) = self.graph.nodes[phi].kind else { return None };
        let of = self.graph.loops.iter().find(|l| l.header == block)?;
        if self.graph.scalar(phi).is_none_or(|scalar| !scalar.is_integer() || scalar.is_signed()) {
            return None;
        }
        let mut start = None;
        for (before, &operand) in self.graph.blocks[block].before.iter().zip(&self.graph.phis[&phi]) {
            if !of.body.contains(before) {
                if start.replace(operand).is_some_and(|known| known != operand) {
                    return None;
                }
                continue;
            }
            match self.graph.nodes[operand].kind {
                Kind::Binary(BinaryOp::Div | BinaryOp::Shr | BinaryOp::Rem | BinaryOp::And | BinaryOp::Min, a, _)
                    if a == phi => {}
                _ if operand == phi => {}
                _ => return None,
            }
        }
        start
    }

    /// The start and step of a phi that each iteration of its loop increases by the same number.
    pub(super) fn counter(&self, phi: NodeId) -> Option<Counter> {
        let Kind::Phi(block, _) = self.graph.nodes[phi].kind else { return None };
        let index = self.graph.loops.iter().position(|l| l.header == block)?;
        let (mut start, mut step) = (None, None);
        for (before, &operand) in self.graph.blocks[block].before.iter().zip(&self.graph.phis[&phi]) {
            let (known, value) = if self.graph.loops[index].body.contains(before) {
                let Kind::Binary(BinaryOp::Add, a, b) = self.graph.nodes[operand].kind else { return None };
                let by = if a == phi {
                    b
                } else if b == phi {
                    a
                } else {
                    return None;
                };
                if !self.is_invariant(by, index) {
                    return None;
                }
                (&mut step, by)
            } else {
                (&mut start, operand)
            };
            if known.replace(value).is_some_and(|known| known != value) {
                return None;
            }
        }
        Some(Counter { index, start: start?, step: step? })
    }

    /// Returns true if a node's value does not change while the loop runs.
    pub(super) fn is_invariant(&self, node: NodeId, index: usize) -> bool {
        let body = &self.graph.loops[index].body;
        self.graph.leaves(node).into_iter().all(|leaf| match self.graph.nodes[leaf].kind {
            Kind::Phi(block, _) | Kind::Opaque(_, block, _) => !body.contains(&block),
            _ => true,
        })
    }

    /// A limit below which a phi is on every edge to its loop's header; true if the phi may equal it.
    pub(super) fn invariant_limit(&self, phi: NodeId) -> Option<(NodeId, bool)> {
        let Kind::Phi(block, _) = self.graph.nodes[phi].kind else { return None };
        let index = self.graph.loops.iter().position(|l| l.header == block)?;
        let (before, operands) = (&self.graph.blocks[block].before, &self.graph.phis[&phi]);
        let edges: Vec<_> = before
            .iter()
            .zip(operands)
            .map(|(&before, &operand)| (before, operand, self.graph.edge_conditions(before, block)))
            .collect();
        let candidates: Vec<NodeId> = edges
            .iter()
            .flat_map(|(_, operand, conditions)| conditions.iter().map(move |condition| (*operand, *condition)))
            .filter_map(|(operand, condition)| self.limit_of(operand, condition).map(|(limit, _)| limit))
            .chain(edges.iter().flat_map(|(_, _, conditions)| conditions.iter().filter_map(|c| self.last_of(phi, *c))))
            .filter(|limit| self.is_invariant(*limit, index))
            .collect();
        candidates.into_iter().find_map(|limit| {
            let mut inclusive = false;
            let holds = edges.iter().all(|(_, operand, conditions)| {
                let bound = conditions.iter().filter_map(|condition| self.limit_of(*operand, *condition));
                let strict = |own: &(NodeId, bool)| own.0 == limit && !own.1;
                if bound.clone().any(|own| strict(&own)) || self.is_less(*operand, limit) {
                    return true;
                }
                inclusive = true;
                bound.clone().any(|own| own.0 == limit)
                    || self.is_next(*operand, phi)
                        && conditions.iter().any(|condition| self.last_of(phi, *condition) == Some(limit))
            });
            holds.then_some((limit, inclusive))
        })
    }

    /// The limit, if a condition says that a node is less than it; true if it may be equal.
    fn limit_of(&self, node: NodeId, (condition, truth): (NodeId, bool)) -> Option<(NodeId, bool)> {
        let Kind::Compare(op, a, b) = self.graph.nodes[condition].kind else { return None };
        let op = if truth { op } else { opposite(op) };
        let [is_left, is_right] = [a, b].map(|operand| operand == node || self.widened(operand) == Some(node));
        match op {
            CompareOp::Lt if is_left => Some((b, false)),
            CompareOp::Le if is_left => Some((b, true)),
            CompareOp::Gt if is_right => Some((a, false)),
            CompareOp::Ge if is_right => Some((a, true)),
            _ => None,
        }
    }

    /// The operand of a cast of unsigned numbers that keeps each value.
    fn widened(&self, node: NodeId) -> Option<NodeId> {
        let Kind::Cast(from) = self.graph.nodes[node].kind else { return None };
        let (narrow, wide) = (self.graph.scalar(from)?, self.graph.scalar(node)?);
        let unsigned = |scalar: Scalar| scalar.is_integer() && !scalar.is_signed();
        (unsigned(narrow) && unsigned(wide) && narrow.bits() <= wide.bits()).then_some(from)
    }

    /// The other operand, if a condition says that a node does not equal it.
    fn last_of(&self, node: NodeId, (condition, truth): (NodeId, bool)) -> Option<NodeId> {
        let Kind::Compare(op, a, b) = self.graph.nodes[condition].kind else { return None };
        let op = if truth { op } else { opposite(op) };
        match op {
            CompareOp::Ne if a == node => Some(b),
            CompareOp::Ne if b == node => Some(a),
            _ => None,
        }
    }

    /// Returns true for `node + 1`.
    fn is_next(&self, next: NodeId, node: NodeId) -> bool {
        let Kind::Binary(BinaryOp::Add, a, b) = self.graph.nodes[next].kind else { return false };
        let one = |node: NodeId| matches!(self.graph.nodes[node].kind, Kind::Const(1));
        a == node && one(b) || b == node && one(a)
    }

    /// Returns true for constants of which the first is less.
    fn is_less(&self, a: NodeId, b: NodeId) -> bool {
        let signed = self.graph.scalar(a).is_some_and(Scalar::is_signed);
        match (&self.graph.nodes[a].kind, &self.graph.nodes[b].kind) {
            (Kind::Const(a), Kind::Const(b)) => !signed && a < b,
            _ => false,
        }
    }

    /// A limit below which a phi is wherever an iteration ends.
    pub(super) fn latch_limit(&self, phi: NodeId, index: usize) -> Option<NodeId> {
        let of = &self.graph.loops[index];
        let mut limit = None;
        for &latch in self.graph.blocks[of.header].before.iter().filter(|before| of.body.contains(before)) {
            let conditions = self.graph.edge_conditions(latch, of.header);
            let own = conditions.into_iter().filter_map(|condition| self.limit_of(phi, condition));
            let mut own = own.map(|(limit, _)| limit).filter(|limit| self.is_invariant(*limit, index));
            let own = match limit {
                None => own.next()?,
                Some(limit) => own.find(|own| *own == limit)?,
            };
            limit = Some(own);
        }
        limit
    }
}

/// The comparison that holds if another does not.
fn opposite(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
    }
}
