//! A static analysis that proves kernels free of data races, or lists the places where it cannot.
//!
//! Two accesses of different threads race if they overlap, at least one writes, not both are atomic with scopes that
//! include both threads, and no barrier of the block orders them. A kernel is proved if no pair of its accesses to memory that the launch may write, and to
//! shared memory, can race:
//!
//! - `inline` inlines device functions, `graph` builds SSA form with the control-flow graph.
//! - `symbols` writes indices as polynomials over positions, dimensions, parameters and loop counters. Values that it
//!   does not understand are symbols, of which only the type is known. `constants` folds constants.
//! - `facts` adds what conditions, bounds checks and loops say about symbols, `merges` the edges by which merged values
//!   came, `guards` upper bounds, `alternate` values that swap from one iteration to the next.
//! - `intervals` finds the accesses that no barrier orders.
//! - `prove` shows that equal addresses imply equal positions: `solve`, with `linear` arithmetic and the laws of
//!   `exchange`.
//!
//! The analysis is sound and not complete: a kernel that is proved has no race in any launch that fulfils the
//! [`Requirements`], and there are kernels without a race that are not proved.
//!
//! It relies on these guarantees of the launch: parameters that are written do not overlap other parameters; a view
//! that is written has different elements at different indices; a number of elements is less than 2^63; dimensions are
//! within CUDA's limits. Unchecked accesses are assumed to be within their slices, as their contract demands.

mod alternate;
mod constants;
mod exchange;
mod facts;
mod graph;
mod guards;
mod inline;
mod intervals;
mod linear;
mod merges;
mod poly;
mod prove;
mod solve;
mod symbols;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use graph::{Graph, Kind, Use};
use poly::Poly;
use prove::{Base, Located, Prover, can_race, is_too_narrow};
use symbols::{Meaning, Symbols};

use crate::kir::{Location, Module, Special};

/// The largest number of accesses that are compared with each other.
const MOST_ACCESSES: usize = 64;

/// The number of places after which the comparison of a memory's accesses ends.
const MOST_PLACES: usize = 8;

/// The result of the analysis of a kernel.
///
/// # Examples
///
/// ```
/// use cuda_jit_compiler::races;
///
/// let module = "kir 1 kernel f(v0 x: ptr global u32 readwrite, v1 n: u64 extent) { b0:
///     v2: u32 = special thread_idx.x
///     v3: u32 = const u32 0
///     v4: u64 = const u64 0
///     v5: ptr global u32 = offset v0, v4
///     store v5, v3
///     return }".parse()?;
/// let races = races::analyse(&module);
/// assert!(!races.is_proved());
/// assert_eq!(races.places()[0].access(), "write of `x`");
/// assert_eq!(races.places()[0].reason(), "every thread accesses the same element");
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Races {
    places: Vec<Place>,
    requirements: Requirements,
}

impl Races {
    /// Returns true if the kernel has no data race in a launch that fulfils the [`requirements`](Self::requirements).
    pub fn is_proved(&self) -> bool {
        self.places.is_empty()
    }

    /// The places where the proof fails, in the order of the source; none if the kernel is proved.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The properties of a launch that the proof relies on.
    pub fn requirements(&self) -> &Requirements {
        &self.requirements
    }
}

impl fmt::Display for Races {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_proved() {
            return f.write_str("no data race");
        }
        f.write_str("not proved to be free of data races")?;
        self.places.iter().try_for_each(|place| write!(f, "\n  {place}"))
    }
}

/// An access that is not proved to be free of data races.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    location: Option<(String, u32, u32)>,
    access: String,
    reason: String,
}

impl Place {
    /// Its source file, as the compiler names it; empty if the kernel was lowered without locations.
    pub fn file(&self) -> &str {
        self.location.as_ref().map_or("", |(file, ..)| file)
    }

    /// The line, from 1; 0 if it is not known.
    pub fn line(&self) -> u32 {
        self.location.as_ref().map_or(0, |(_, line, _)| *line)
    }

    /// The column, from 1; 0 if it is not known.
    pub fn column(&self) -> u32 {
        self.location.as_ref().map_or(0, |(.., column)| *column)
    }

    /// The access: "write of `out`".
    pub fn access(&self) -> &str {
        &self.access
    }

    /// The reason why it is not proved.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line, column)) = &self.location {
            write!(f, "{file}:{line}:{column}: ")?;
        }
        write!(f, "{}: {}", self.access, self.reason)
    }
}

/// The properties of a launch that a proof relies on, which the launch checks.
///
/// # Examples
///
/// ```
/// use cuda_jit_compiler::races;
///
/// let module = "kir 1 kernel f() { b0: return }".parse()?;
/// let races = races::analyse(&module);
/// // The kernel does not ask for its position along y and z.
/// assert_eq!(races.requirements().single, [false, true, true, false, true, true]);
/// assert!(races.requirements().bounds.is_empty());
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// The axes along which the grid (x, y, z) and the block (x, y, z) have extent 1, since the kernel's accesses do not
    /// depend on the position there.
    pub single: [bool; 6],
    /// Sizes from which indices are computed, which must not wrap around.
    pub bounds: Vec<Bound>,
}

/// A sum of products that must not exceed a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The products: a number and its factors.
    pub terms: Vec<(u64, Vec<Factor>)>,
    /// The largest value that it may have.
    pub limit: u64,
}

/// A factor of a [`Bound`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// The kernel's parameter, by its index among KIR's.
    Param(usize),
    /// The grid's extent along an axis, in blocks.
    GridDim(usize),
    /// The block's extent along an axis, in threads.
    BlockDim(usize),
}

/// Analyses the kernel of a module that verifies.
#[must_use]
pub fn analyse(module: &Module) -> Races {
    linear::reset_budget();
    let graph = Graph::of(module);
    let single = single_axes(&graph);
    let mut prover = Prover::new(&graph, single);
    let mut places = BTreeSet::new();
    for (at, reason) in &graph.unknown {
        places.insert(place(&graph, *at, "code", (*reason).to_owned()));
    }
    let mut memories: BTreeMap<Base, Vec<Located>> = BTreeMap::new();
    for access in &graph.accesses {
        let located = prover.locate(access);
        match located.base {
            Base::Unshared => {}
            Base::Unknown => {
                let reason = "the analysis does not know which memory the reference points to".to_owned();
                places.insert(place(&graph, access.at, &named(&graph, &located), reason));
            }
            base => memories.entry(base).or_default().push(located),
        }
    }
    for accesses in memories.values() {
        compare(&graph, &mut prover, accesses, &mut places);
    }
    let bounds = prover.bounds.iter().map(|(poly, limit)| bound(&prover.symbols, poly, *limit)).collect();
    Races { places: places.into_iter().collect(), requirements: Requirements { single, bounds } }
}

/// Compares the accesses to one memory with each other.
fn compare(graph: &Graph, prover: &mut Prover<'_>, accesses: &[Located], places: &mut BTreeSet<Place>) {
    let harmless = |access: &Located| access.access.kind != Use::Write && !is_too_narrow(access, access);
    if accesses.iter().all(|access| access.access.kind == accesses[0].access.kind && harmless(access)) {
        return;
    }
    if accesses.len() > MOST_ACCESSES {
        let reason = format!("the kernel accesses it at {} places, more than the analysis compares", accesses.len());
        places.insert(place(graph, accesses[0].access.at, &named(graph, &accesses[0]), reason));
        return;
    }
    let mut failed = 0;
    for (index, a) in accesses.iter().enumerate() {
        if failed >= MOST_PLACES {
            return;
        }
        for b in &accesses[index..] {
            let is_apart = match is_too_narrow(a, b) {
                true => prover.apart_in_blocks(a, b),
                false => !can_race(a.access.kind, b.access.kind) || prover.apart(a, b),
            };
            if is_apart {
                continue;
            }
            if linear::is_exhausted() {
                let reason = "the kernel is too large for the analysis".to_owned();
                places.insert(place(graph, a.access.at, &named(graph, a), reason));
                return;
            }
            failed += 1;
            // The write is reported, with the other access in the reason.
            let (write, other) = if a.access.kind == Use::Read { (b, a) } else { (a, b) };
            let reason = reason(graph, prover, write, other);
            places.insert(place(graph, write.access.at, &named(graph, write), reason));
        }
    }
}

fn reason(graph: &Graph, prover: &Prover<'_>, write: &Located, other: &Located) -> String {
    let same = std::ptr::eq(write, other);
    let at = match other.access.at.map(|at| &graph.locations[at]) {
        Some(Location { line, column, .. }) => format!(" at {line}:{column}"),
        None => String::new(),
    };
    let verb = match other.access.kind {
        Use::Read => "reads",
        Use::Write => "writes",
        Use::Atomic => "atomically accesses",
    };
    if is_too_narrow(write, other) {
        return format!(
            "a thread of another block that {verb} it{at} may have the same element, and the scope of an atomic access \
             does not include other blocks"
        );
    }
    let barrier = if prover.aligned() { "" } else { ", and a barrier in divergent code orders nothing" };
    let text = if !prover.varies(write) && !prover.varies(other) {
        if same {
            "every thread accesses the same element".to_owned()
        } else {
            format!("another thread may access the same element{at}, which it {verb}")
        }
    } else if [write, other].iter().any(|access| prover.depends_on_data(access)) {
        format!("the index depends on data, so another thread that {verb} it{at} may have the same element")
    } else if same {
        "the index is not proved to differ from thread to thread".to_owned()
    } else {
        format!("another thread that {verb} it{at} is not proved to have another element, and no barrier is in between")
    };
    text + barrier
}

/// The name of an access: "write of `out`".
fn named(graph: &Graph, located: &Located) -> String {
    let kind = match located.access.kind {
        Use::Read => "read",
        Use::Write => "write",
        Use::Atomic => "atomic access",
    };
    match located.base {
        Base::Param(index) => {
            let name = &graph.params[index].0;
            format!("{kind} of `{}`", name.strip_suffix(".ptr").unwrap_or(name))
        }
        Base::Shared(index) => format!("{kind} of the shared array `{}`", graph.shared[index]),
        Base::Dynamic => format!("{kind} of dynamic shared memory"),
        Base::Unshared | Base::Unknown => format!("{kind} of memory"),
    }
}

fn place(graph: &Graph, at: Option<usize>, access: &str, reason: String) -> Place {
    let location = at.map(|at| {
        let Location { file, line, column } = &graph.locations[at];
        (file.to_string(), *line, *column)
    });
    Place { location, access: access.to_owned(), reason }
}

/// The axes along which a launch must have extent 1: y and z, if no address and no branch depends on the position there.
fn single_axes(graph: &Graph) -> [bool; 6] {
    let mut single = [false, true, true, false, true, true];
    for node in Prover::used_positions(graph) {
        match graph.nodes[node].kind {
            Kind::Special(Special::BlockIdx(axis)) => single[axis as usize] = false,
            Kind::Special(Special::ThreadIdx(axis)) => single[3 + axis as usize] = false,
            _ => {}
        }
    }
    single
}

/// A bound in the form that a launch evaluates.
fn bound(symbols: &Symbols<'_>, poly: &Poly, limit: u128) -> Bound {
    // A bound over anything else is never fulfilled.
    terms_of(symbols, poly).map_or_else(
        || Bound { terms: vec![(u64::MAX, Vec::new())], limit: 0 },
        |terms| Bound { terms, limit: u64::try_from(limit).unwrap_or(u64::MAX) },
    )
}

fn terms_of(symbols: &Symbols<'_>, poly: &Poly) -> Option<Vec<(u64, Vec<Factor>)>> {
    let mut terms = Vec::new();
    for (monomial, coefficient) in &poly.0 {
        let mut factors = Vec::new();
        for var in monomial {
            let Meaning::Node(node) = symbols.meaning(*var) else { return None };
            factors.push(match symbols.graph.nodes[*node].kind {
                Kind::Param(index) => Factor::Param(index),
                Kind::Special(Special::GridDim(axis)) => Factor::GridDim(axis as usize),
                Kind::Special(Special::BlockDim(axis)) => Factor::BlockDim(axis as usize),
                _ => return None,
            });
        }
        terms.push((u64::try_from(*coefficient).unwrap_or(u64::MAX), factors));
    }
    Some(terms)
}
