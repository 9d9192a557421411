//! The last step of a proof: what follows if two accesses are to one element.

use std::collections::BTreeSet;

use super::linear::Facts;
use super::poly::{Monomial, Poly, Side, Var};

/// The number of equations that a proof looks into.
const STEPS: usize = 64;

/// The number of times that further equations are derived.
const ROUNDS: usize = 4;

/// Two accesses that are assumed to be to one element, and what is known of their threads.
#[derive(Debug)]
pub(super) struct Collision {
    facts: Facts,
    /// Polynomials that are zero, since the accesses are to one element.
    equations: Vec<Poly>,
    /// The differences of the threads' positions.
    apart: Vec<Poly>,
    /// The equations that were looked into.
    seen: BTreeSet<Poly>,
    /// Pairs of polynomials of which the second is zero if the first is.
    laws: Vec<(Poly, Poly)>,
}

impl Collision {
    pub(super) fn new(facts: Facts, equations: Vec<Poly>, apart: Vec<Poly>, laws: Vec<(Poly, Poly)>) -> Self {
        Collision { facts, equations, apart, seen: BTreeSet::new(), laws }
    }

    /// Returns true if the equations contradict the facts, or imply that all positions are the same.
    pub(super) fn has_no_solution(mut self) -> bool {
        self.facts.zero.extend(self.equations.iter().cloned());
        if self.facts.infeasible() {
            return true;
        }
        for _ in 0..ROUNDS {
            while let Some(equation) = self.equations.pop() {
                if self.seen.len() < STEPS && self.seen.insert(equation.clone()) {
                    self.split(&equation);
                    self.substitute(&equation);
                }
            }
            if self.facts.infeasible() || self.apart.iter().all(|difference| self.facts.implies_zero(difference)) {
                return true;
            }
            let seen = &self.seen;
            self.equations = self.of_positions().into_iter().filter(|equation| !seen.contains(equation)).collect();
            self.apply_laws();
            if self.equations.is_empty() {
                return false;
            }
        }
        false
    }

    /// Adds the conclusions of laws whose premises are known.
    fn apply_laws(&mut self) {
        let laws = std::mem::take(&mut self.laws).into_iter();
        let (applied, left): (Vec<_>, Vec<_>) = laws.partition(|law| self.facts.implies_zero(&law.0));
        self.laws = left;
        for (_, conclusion) in applied {
            self.facts.zero.push(conclusion.clone());
            self.equations.push(conclusion);
        }
    }

    /// From `m * q + r = 0` with `|r| < m` follow `q = 0` and `r = 0`.
    fn split(&mut self, equation: &Poly) {
        for (factor, monomial) in factors(equation) {
            let (quotient, rest) = equation.split(factor, &monomial);
            let modulus = Poly([(monomial.clone(), factor)].into());
            let trivial = factor == 1 && monomial.is_empty();
            if quotient.0.is_empty() || trivial {
                continue;
            }
            // A multiple of the modulus may belong to the rest, as in `width - 1 - col`.
            let whole = quotient.0.get(&Monomial::new()).copied().unwrap_or(0);
            for moved in if whole == 0 { vec![0] } else { vec![0, whole] } {
                let quotient = quotient.plus(&Poly::constant(moved), -1);
                let (Some(quotient), Some(rest)) = (quotient, rest.plus(&modulus, moved)) else { continue };
                if !quotient.0.is_empty() && self.is_less(&rest, &modulus) {
                    for equation in [quotient, rest].into_iter().filter(|equation| !equation.0.is_empty()) {
                        self.facts.zero.push(equation.clone());
                        self.equations.push(equation);
                    }
                    return;
                }
            }
        }
    }

    /// Returns true if the absolute value of a polynomial is less than another one.
    fn is_less(&self, poly: &Poly, than: &Poly) -> bool {
        let room = |sign: i128| than.plus(poly, sign).and_then(|room| room.plus(&Poly::constant(1), -1));
        [room(-1), room(1)].into_iter().all(|room| room.is_some_and(|room| self.facts.implies(&room)))
    }

    /// With `x - y = 0`, replaces `x` by `y` in products too.
    fn substitute(&mut self, equation: &Poly) {
        let terms: Vec<(&[Var], i128)> = equation.0.iter().map(|(monomial, factor)| (&monomial[..], *factor)).collect();
        let ([([x], 1), ([y], -1)] | [([x], -1), ([y], 1)]) = terms[..] else { return };
        let Some((from, to)) = [(*x, *y), (*y, *x)].into_iter().find(|(from, _)| from.side != Side::Both) else {
            return;
        };
        let renamed = |poly: &Poly| poly.renamed(|var| if var == from { to } else { var });
        for polys in [&mut self.facts.zero, &mut self.facts.positive, &mut self.equations, &mut self.apart] {
            polys.iter_mut().for_each(|poly| *poly = renamed(poly));
        }
        for (premise, conclusion) in &mut self.laws {
            (*premise, *conclusion) = (renamed(premise), renamed(conclusion));
        }
    }

    /// Equations between the positions of the two threads: those that are left of the facts when other symbols are
    /// eliminated, such as quotients, remainders, and then what the threads have in common.
    fn of_positions(&self) -> Vec<Poly> {
        let positions: BTreeSet<Var> = self.apart.iter().flat_map(Poly::vars).collect();
        let is_common = |var: &Var| var.side == Side::Both;
        let is_inner = |monomial: &Monomial| monomial.iter().any(|var| !is_common(var) && !positions.contains(var));
        // First only symbols by themselves: what is a multiple of something may be split off.
        let mut equations = eliminated(self.facts.zero.clone(), |monomial, factor| {
            factor.abs() == 1 && monomial.len() == 1 && is_inner(monomial)
        });
        let of_positions = eliminated(equations.clone(), |monomial, _| is_inner(monomial));
        equations.extend(eliminated(of_positions.clone(), |monomial, _| monomial.iter().all(is_common)));
        equations.extend(of_positions);
        equations
    }
}

/// The equations that are left when monomials are eliminated.
fn eliminated(mut equations: Vec<Poly>, is_unwanted: impl Fn(&Monomial, i128) -> bool) -> Vec<Poly> {
    let mut left = Vec::new();
    while let Some(equation) = equations.pop() {
        let equation = match equation.content() {
            0 => continue,
            content => equation.divided(content),
        };
        let unwanted = equation.0.iter().filter(|(monomial, factor)| is_unwanted(monomial, **factor));
        match unwanted.min_by_key(|(monomial, factor)| (factor.unsigned_abs(), monomial.len())) {
            Some((pivot, factor)) => {
                equations = equations.iter().filter_map(|other| other.eliminated(pivot, *factor, &equation)).collect();
            }
            None => left.push(equation),
        }
    }
    left
}

/// The factors by which an equation may split, small ones first.
fn factors(equation: &Poly) -> Vec<(i128, Monomial)> {
    let mut factors = BTreeSet::new();
    for (monomial, coefficient) in &equation.0 {
        let common: Monomial = monomial.iter().copied().filter(|var| var.side == Side::Both).collect();
        if common.len() > 4 {
            continue;
        }
        for subset in 0..1_u32 << common.len() {
            let part: Monomial =
                common.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1).map(|(_, var)| *var).collect();
            factors.insert((part.len(), 1, part.clone()));
            factors.insert((part.len(), coefficient.abs(), part));
        }
    }
    factors.into_iter().map(|(_, factor, monomial)| (factor, monomial)).collect()
}
