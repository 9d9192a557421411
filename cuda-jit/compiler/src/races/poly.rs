//! Polynomials with integer coefficients over symbols.

use std::collections::BTreeMap;

/// The bound of coefficients, far from overflow.
const LARGEST: u128 = 1 << 120;

/// A symbol: its number, and the thread whose value it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Var {
    pub(super) symbol: u32,
    pub(super) side: Side,
}

/// The thread whose value a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Side {
    /// The same value in both threads.
    Both,
    First,
    Second,
}

/// A product of symbols, sorted; empty for 1.
pub(super) type Monomial = Vec<Var>;

/// A polynomial. Its coefficients are exact: an operation that would overflow gives `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Poly(pub(super) BTreeMap<Monomial, i128>);

impl Poly {
    pub(super) fn constant(value: i128) -> Self {
        let mut poly = Poly::default();
        if value != 0 {
            poly.0.insert(Monomial::new(), value);
        }
        poly
    }

    pub(super) fn var(var: Var) -> Self {
        Poly(BTreeMap::from([(vec![var], 1)]))
    }

    /// The value, if it is a constant.
    pub(super) fn as_constant(&self) -> Option<i128> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Monomial::new()).copied(),
            _ => None,
        }
    }

    /// `self + factor * other`
    pub(super) fn plus(&self, other: &Poly, factor: i128) -> Option<Poly> {
        let mut sum = self.clone();
        for (monomial, coefficient) in &other.0 {
            let entry = sum.0.entry(monomial.clone()).or_insert(0);
            *entry = entry.checked_add(coefficient.checked_mul(factor)?).filter(|sum| sum.unsigned_abs() < LARGEST)?;
            if *entry == 0 {
                sum.0.remove(monomial);
            }
        }
        Some(sum)
    }

    pub(super) fn times(&self, other: &Poly) -> Option<Poly> {
        let mut product = Poly::default();
        for (a, x) in &self.0 {
            for (b, y) in &other.0 {
                let mut monomial: Monomial = a.iter().chain(b).copied().collect();
                monomial.sort_unstable();
                let term = Poly(BTreeMap::from([(monomial, x.checked_mul(*y)?)]));
                product = product.plus(&term, 1)?;
            }
        }
        Some(product)
    }

    /// The same polynomial with each symbol renamed.
    pub(super) fn renamed(&self, rename: impl Fn(Var) -> Var) -> Poly {
        let mut renamed = Poly::default();
        for (monomial, coefficient) in &self.0 {
            let mut monomial: Monomial = monomial.iter().map(|var| rename(*var)).collect();
            monomial.sort_unstable();
            *renamed.0.entry(monomial).or_insert(0) += coefficient;
        }
        renamed.0.retain(|_, coefficient| *coefficient != 0);
        renamed
    }

    pub(super) fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.0.keys().flatten().copied()
    }

    /// The greatest common divisor of all coefficients; 0 for 0.
    pub(super) fn content(&self) -> i128 {
        self.0.values().fold(0, |all, coefficient| gcd(all, *coefficient))
    }

    /// Divides each coefficient by a common divisor.
    pub(super) fn divided(&self, by: i128) -> Poly {
        Poly(self.0.iter().map(|(monomial, coefficient)| (monomial.clone(), coefficient / by)).collect())
    }

    /// A positive multiple of it without a monomial, which has a coefficient in an equation.
    pub(super) fn eliminated(&self, pivot: &Monomial, coefficient: i128, equation: &Poly) -> Option<Poly> {
        let Some(own) = self.0.get(pivot) else { return Some(self.clone()) };
        // |c| * self - sign(c) * own * equation
        let scaled = Poly::default().plus(self, coefficient.abs())?;
        scaled.plus(equation, own.checked_mul(-coefficient.signum())?)
    }

    /// Splits it into `factor * monomial * quotient + rest`, where no term of the rest is divisible.
    pub(super) fn split(&self, factor: i128, monomial: &Monomial) -> (Poly, Poly) {
        let (mut quotient, mut rest) = (Poly::default(), Poly::default());
        for (term, coefficient) in &self.0 {
            match without(term, monomial) {
                Some(left) if coefficient % factor == 0 => quotient.0.insert(left, coefficient / factor),
                _ => rest.0.insert(term.clone(), *coefficient),
            };
        }
        (quotient, rest)
    }
}

/// A monomial divided by another, if that divides it. Both are sorted.
pub(super) fn without(term: &Monomial, divisor: &Monomial) -> Option<Monomial> {
    let mut left = term.clone();
    for var in divisor {
        let at = left.iter().position(|other| other == var)?;
        left.remove(at);
    }
    Some(left)
}

pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}
