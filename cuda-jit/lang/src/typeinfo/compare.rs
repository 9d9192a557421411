//! Comparison of C-like enums: the results of their impls of `PartialEq`, `PartialOrd` and `Ord` for each pair of variants.
//!
//! An enum has few values, so the host evaluates the impls for all pairs, and a kernel compares variants as the impls do,
//! whoever wrote them. An impl that panics, or whose methods contradict one another, is refused where a kernel compares.

use std::cmp::Ordering;
use std::mem::discriminant;
use std::num::FpCategory;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

/// The results of one trait for each pair of variants, in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pairs<T> {
    /// The enum does not implement the trait.
    Absent,
    /// The reason why kernels cannot compare by it.
    Refused(&'static str),
    /// The results of `eq`, `partial_cmp` or `cmp`.
    Known(Vec<T>),
}

/// The comparisons of an enum's variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparisons {
    /// `PartialEq`
    pub equality: Pairs<bool>,
    /// `PartialOrd`
    pub partial: Pairs<Option<Ordering>>,
    /// `Ord`
    pub total: Pairs<Option<Ordering>>,
}

/// The variants of an enum, whose comparisons are found by method calls: the traits below have methods for the comparisons
/// that the enum implements, [`NotCompared`] for those it does not.
#[derive(Debug)]
pub struct Variants<T: 'static>(pub &'static [T]);

impl<T> Variants<T> {
    /// Evaluates a comparison for each pair; `holds` checks that the trait's other methods agree with it.
    fn pairs<R>(&self, ask: impl Fn(&T, &T) -> R, holds: impl Fn(&T, &T) -> bool) -> Pairs<R> {
        let pairs = || self.0.iter().flat_map(|a| self.0.iter().map(move |b| (a, b)));
        let asked = || {
            let reported = pairs().map(|(a, b)| ask(a, b)).collect();
            (reported, pairs().all(|(a, b)| holds(a, b)))
        };
        match catch_unwind(AssertUnwindSafe(asked)) {
            Ok((reported, true)) => Pairs::Known(reported),
            Ok((_, false)) => Pairs::Refused("has methods of its own that contradict it"),
            Err(_) => Pairs::Refused("panics"),
        }
    }
}

/// Evaluates `PartialEq`. Nothing unsafe relies on an implementation.
pub trait Equality {
    /// `==` of each pair.
    fn equality(&self) -> Pairs<bool>;
}

impl<T: PartialEq> Equality for Variants<T> {
    fn equality(&self) -> Pairs<bool> {
        self.pairs(PartialEq::eq, |a, b| a.eq(b) != a.ne(b))
    }
}

/// Evaluates `PartialOrd`. Nothing unsafe relies on an implementation.
pub trait PartialOrder {
    /// `partial_cmp` of each pair.
    fn partial(&self) -> Pairs<Option<Ordering>>;
}

impl<T: PartialOrd> PartialOrder for Variants<T> {
    fn partial(&self) -> Pairs<Option<Ordering>> {
        self.pairs(PartialOrd::partial_cmp, |a, b| {
            let order = a.partial_cmp(b);
            let is = |test: fn(Ordering) -> bool| order.is_some_and(test);
            [a < b, a <= b, a > b, a >= b]
                == [is(Ordering::is_lt), is(Ordering::is_le), is(Ordering::is_gt), is(Ordering::is_ge)]
        })
    }
}

/// Evaluates `Ord`. Nothing unsafe relies on an implementation.
pub trait TotalOrder {
    /// `cmp` of each pair.
    fn total(&self) -> Pairs<Option<Ordering>>;
}

impl<T: Ord + Copy> TotalOrder for Variants<T> {
    fn total(&self) -> Pairs<Option<Ordering>> {
        let same = |a: T, b: T| discriminant(&a) == discriminant(&b);
        let clamped = |a: T, low: T, high: T| match (a < low, a > high) {
            (true, _) => low,
            (_, true) => high,
            _ => a,
        };
        self.pairs(
            |a, b| Some(a.cmp(b)),
            |&a, &b| {
                let (max, min) = if b < a { (a, b) } else { (b, a) };
                let bounded = |&v: &T| b < a || same(v.clamp(a, b), clamped(v, a, b));
                same(a.max(b), max) && same(a.min(b), min) && self.0.iter().all(bounded)
            },
        )
    }
}

/// The comparisons that an enum does not implement: method lookup finds these, on a reference to the variants, after those
/// on the variants themselves. Nothing unsafe relies on an implementation.
pub trait NotCompared {
    /// No `PartialEq`.
    fn equality(&self) -> Pairs<bool> {
        Pairs::Absent
    }

    /// No `PartialOrd`.
    fn partial(&self) -> Pairs<Option<Ordering>> {
        Pairs::Absent
    }

    /// No `Ord`.
    fn total(&self) -> Pairs<Option<Ordering>> {
        Pairs::Absent
    }
}

impl<T> NotCompared for &Variants<T> {}

/// The comparisons of an unordered type with one value.
pub(super) fn of_one_value() -> &'static Comparisons {
    static COMPARISONS: LazyLock<Comparisons> = LazyLock::new(|| Comparisons {
        equality: Pairs::Known(vec![true]),
        partial: Pairs::Absent,
        total: Pairs::Absent,
    });
    &COMPARISONS
}

/// The comparisons of `FpCategory`.
pub(super) fn of_fp_category() -> &'static Comparisons {
    static COMPARISONS: LazyLock<Comparisons> = LazyLock::new(|| {
        use FpCategory::{Infinite, Nan, Normal, Subnormal, Zero};
        let variants = &Variants(&[Nan, Infinite, Zero, Subnormal, Normal]);
        Comparisons { equality: variants.equality(), partial: variants.partial(), total: variants.total() }
    });
    &COMPARISONS
}

/// The comparisons of `Ordering`.
pub(super) fn of_ordering() -> &'static Comparisons {
    static COMPARISONS: LazyLock<Comparisons> = LazyLock::new(|| {
        let variants = &Variants(&[Ordering::Less, Ordering::Equal, Ordering::Greater]);
        Comparisons { equality: variants.equality(), partial: variants.partial(), total: variants.total() }
    });
    &COMPARISONS
}
