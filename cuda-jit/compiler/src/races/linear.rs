//! Infeasibility of linear inequalities by Fourier-Motzkin elimination, with monomials as unknowns.
//!
//! "Infeasible" is a proof; "feasible" may only mean that the limits were reached.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::poly::{Monomial, Poly, Var, gcd};

/// The largest number of inequalities at a time.
const LIMIT: usize = 400;

/// The largest number of inequalities that an elimination may combine in total.
const COMBINED: usize = 3000;

/// The number of inequalities that the analysis of one kernel may combine, so that it ends in reasonable time.
const BUDGET: usize = 500_000;

thread_local! {
    /// The rest of the budget of the analysis that this thread runs.
    static LEFT: Cell<usize> = const { Cell::new(BUDGET) };
}

/// Begins the analysis of a kernel.
pub(super) fn reset_budget() {
    LEFT.set(BUDGET);
}

/// Returns true if nothing more is proved, since the kernel is too large.
pub(super) fn is_exhausted() -> bool {
    LEFT.get() == 0
}

/// Facts over the integers.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Polynomials that are zero.
    pub(super) zero: Vec<Poly>,
    /// Polynomials that are not negative.
    pub(super) positive: Vec<Poly>,
}

/// A polynomial without its constant term.
type Row = BTreeMap<Monomial, i128>;

impl Facts {
    pub(super) fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.zero.iter().chain(&self.positive).flat_map(Poly::vars)
    }

    /// Returns true if the facts contradict each other.
    pub(super) fn infeasible(&self) -> bool {
        let mut zero: Vec<Poly> = self.zero.clone();
        let mut positive: Vec<Poly> = self.positive.clone();
        while let Some(equation) = zero.pop() {
            let constant = equation.0.get(&Monomial::new()).copied().unwrap_or(0);
            let divisor = equation.0.iter().filter(|(m, _)| !m.is_empty()).fold(0, |all, (_, c)| gcd(all, *c));
            if divisor == 0 {
                if constant != 0 {
                    return true;
                }
                continue;
            }
            if constant % divisor != 0 {
                return true;
            }
            let equation = equation.divided(divisor);
            let unit =
                equation.0.iter().filter(|(m, _)| !m.is_empty()).min_by_key(|(m, c)| (c.unsigned_abs(), m.len()));
            let Some((pivot, coefficient)) = unit.map(|(m, c)| (m.clone(), *c)) else { continue };
            let eliminate = |poly: &Poly| poly.eliminated(&pivot, coefficient, &equation);
            zero = zero.iter().filter_map(eliminate).collect();
            positive = positive.iter().filter_map(eliminate).collect();
        }
        eliminate_all(&positive)
    }

    /// Returns true if the polynomial is proved to be zero.
    pub(super) fn implies_zero(&self, poly: &Poly) -> bool {
        let negated = Poly::default().plus(poly, -1);
        self.implies(poly) && negated.is_some_and(|negated| self.implies(&negated))
    }

    /// Returns true if the polynomial is proved not to be negative.
    pub(super) fn implies(&self, poly: &Poly) -> bool {
        let Some(negated) = Poly::constant(-1).plus(poly, -1) else { return false };
        if poly.as_constant().is_some_and(|constant| constant >= 0) {
            return true;
        }
        let mut facts = self.clone();
        facts.positive.push(negated);
        facts.infeasible()
    }
}

/// Fourier-Motzkin elimination.
fn eliminate_all(positive: &[Poly]) -> bool {
    let mut rows: BTreeMap<Row, i128> = BTreeMap::new();
    for poly in positive {
        if insert(&mut rows, poly) {
            return true;
        }
    }
    let mut combined = 0;
    loop {
        // The unknown whose elimination gives the fewest inequalities.
        let mut counts: BTreeMap<&Monomial, (usize, usize)> = BTreeMap::new();
        for row in rows.keys() {
            for (monomial, coefficient) in row {
                let count = counts.entry(monomial).or_default();
                if *coefficient > 0 { count.0 += 1 } else { count.1 += 1 }
            }
        }
        let Some(unknown) = counts.iter().min_by_key(|(_, (plus, minus))| plus * minus).map(|(m, _)| (*m).clone())
        else {
            return false;
        };
        let (mut plus, mut minus, mut rest) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (row, constant) in rows {
            match row.get(&unknown).copied() {
                Some(coefficient) if coefficient > 0 => plus.push((whole(&row, constant), coefficient)),
                Some(coefficient) => minus.push((whole(&row, constant), -coefficient)),
                None => drop(rest.insert(row, constant)),
            }
        }
        combined += plus.len() * minus.len();
        LEFT.set(LEFT.get().saturating_sub(plus.len() * minus.len() + 1));
        if rest.len() + plus.len() * minus.len() > LIMIT || combined > COMBINED || is_exhausted() {
            return false;
        }
        for (lower, a) in &plus {
            for (upper, b) in &minus {
                let divisor = gcd(*a, *b);
                let sum = Poly::default().plus(lower, b / divisor).and_then(|scaled| scaled.plus(upper, a / divisor));
                // An inequality that does not fit is left out.
                if sum.is_some_and(|sum| insert(&mut rest, &sum)) {
                    return true;
                }
            }
        }
        rows = rest;
    }
}

fn whole(row: &Row, constant: i128) -> Poly {
    let mut poly = Poly(row.clone());
    if constant != 0 {
        poly.0.insert(Monomial::new(), constant);
    }
    poly
}

/// Adds an inequality with its constant tightened to integers; returns true if it is a contradiction.
fn insert(rows: &mut BTreeMap<Row, i128>, poly: &Poly) -> bool {
    let mut row = poly.0.clone();
    let constant = row.remove(&Monomial::new()).unwrap_or(0);
    let divisor = row.values().fold(0, |all, coefficient| gcd(all, *coefficient));
    if divisor == 0 {
        return constant < 0;
    }
    row.values_mut().for_each(|coefficient| *coefficient /= divisor);
    let constant = constant.div_euclid(divisor);
    let opposite: Row = row.iter().map(|(monomial, coefficient)| (monomial.clone(), -coefficient)).collect();
    if rows.get(&opposite).is_some_and(|other| other.checked_add(constant).is_some_and(|sum| sum < 0)) {
        return true;
    }
    let entry = rows.entry(row).or_insert(constant);
    *entry = constant.min(*entry);
    false
}
