//! Accesses of whole operations: races between kernels, copies, fills and frees that nothing in their streams orders
//! ([`super::order`]), whatever the schedule did.
//!
//! For each page there are the bytes that operations have accessed, those of each operation apart. An operation takes the
//! bytes that it accesses from the operations that it is ordered after: what races with theirs races with its own. A kernel is
//! compared with earlier operations at each access, so a report has the access's line, and once more when it ends.
//!
//! Launches whose threads may order accesses by more than barriers, operations that wait for values in memory, and kernels
//! that only wait while another one runs may learn of anything: everything before is taken as ordered before everything after.

use super::order::{self, Operation, Position};
use super::report::{self, Accessed, Report};
use super::shadow::{Bytes, PAGE, Page, first_present, insert, parts};
use super::{events, memory};
use crate::environment::Checks;
use crate::memory::MEMORY;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Accesses that conflict with the same accesses of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Read,
    Write,
    /// Atomic and volatile ones.
    StrongRead,
    StrongWrite,
}

impl Sort {
    const ALL: [Sort; 4] = [Sort::Read, Sort::Write, Sort::StrongRead, Sort::StrongWrite];

    pub(super) fn of(writes: bool, strong: bool) -> Sort {
        match (writes, strong) {
            (false, false) => Sort::Read,
            (true, false) => Sort::Write,
            (false, true) => Sort::StrongRead,
            (true, true) => Sort::StrongWrite,
        }
    }

    fn writes(self) -> bool {
        matches!(self, Sort::Write | Sort::StrongWrite)
    }

    fn is_strong(self) -> bool {
        matches!(self, Sort::StrongRead | Sort::StrongWrite)
    }

    fn conflicts(self, other: Sort) -> bool {
        (self.writes() || other.writes()) && !(self.is_strong() && other.is_strong())
    }
}

/// The bytes of a page that were accessed, by the sort of access.
#[derive(Clone, Debug, Default)]
struct Accesses([Option<Box<Bytes>>; 4]);

impl Accesses {
    fn insert(&mut self, sort: Sort, range: Range<usize>) {
        insert(self.0[sort as usize].get_or_insert_with(|| Box::new([0; PAGE as usize / 64])), range);
    }

    fn add(&mut self, sort: Sort, bytes: &Bytes) {
        let own = self.0[sort as usize].get_or_insert_with(|| Box::new([0; PAGE as usize / 64]));
        own.iter_mut().zip(bytes).for_each(|(own, other)| *own |= other);
    }

    /// Returns the first byte at which an access of this sort to a range conflicts with one of these.
    fn conflict(&self, sort: Sort, range: &Range<usize>) -> Option<(usize, Sort)> {
        let of = |other: Sort| {
            let set = self.0[other as usize].as_deref().filter(|_| sort.conflicts(other))?;
            first_present(set, range.clone()).map(|byte| (byte, other))
        };
        Sort::ALL.into_iter().filter_map(of).min_by_key(|(byte, _)| *byte)
    }

    /// As [`Accesses::conflict`], for all of another set of accesses.
    fn conflict_with(&self, others: &Accesses) -> Option<(usize, Sort, Sort)> {
        Sort::ALL.into_iter().find_map(|sort| {
            let set = others.0[sort as usize].as_deref()?;
            let found = |other: Sort| {
                let own = self.0[other as usize].as_deref().filter(|_| sort.conflicts(other))?;
                let meet = own.iter().zip(set).position(|(own, other)| own & other != 0)?;
                Some((64 * meet + (own[meet] & set[meet]).trailing_zeros() as usize, sort, other))
            };
            Sort::ALL.into_iter().find_map(found)
        })
    }

    /// Removes what later accesses stand for. Returns false if nothing is left.
    fn reduce(&mut self, later: &Accesses) -> bool {
        for sort in Sort::ALL {
            // Whatever conflicts with the access conflicts with a later one.
            let stands = |other: &Sort| match sort {
                Sort::Write => *other == Sort::Write,
                Sort::Read => matches!(other, Sort::Read | Sort::Write),
                Sort::StrongRead => true,
                Sort::StrongWrite => matches!(other, Sort::Write | Sort::StrongWrite),
            };
            let Some(own) = &mut self.0[sort as usize] else { continue };
            for other in Sort::ALL.into_iter().filter(stands) {
                if let Some(set) = &later.0[other as usize] {
                    own.iter_mut().zip(set.iter()).for_each(|(own, other)| *own &= !other);
                }
            }
            if own.iter().all(|word| *word == 0) {
                self.0[sort as usize] = None;
            }
        }
        self.0.iter().any(Option::is_some)
    }
}

/// The accesses of an operation to a page.
struct Past {
    at: Position,
    /// The number of all operations that had ended before.
    ended: u64,
    name: Arc<str>,
    stream: u64,
    accesses: Accesses,
    /// True if it has freed the memory.
    frees: bool,
}

#[derive(Default)]
struct History {
    pages: HashMap<u64, Vec<Past>>,
    ended: u64,
}

static HISTORY: Lazy<Mutex<History>> = Lazy::new(Mutex::default);

/// The accesses of the running launch to a page, and those of unordered operations before.
#[derive(Default)]
pub(super) struct Seen {
    /// The launch; that of an earlier one counts as none.
    launch: u64,
    ended: u64,
    own: Accesses,
    others: Option<Box<Accesses>>,
}

/// The launch that is compared with other operations.
pub(super) struct Tracked {
    operation: Arc<Operation>,
    launch: u64,
    name: Arc<str>,
    pages: Vec<u64>,
    /// True if it may have learned of anything.
    learns: bool,
}

/// Everything before is ordered before everything after.
pub(crate) fn forget() {
    if order::is_recorded() {
        HISTORY.lock().pages.clear();
    }
}

/// Memory is gone, or is another's.
pub(crate) fn forget_range(start: u64, bytes: u64) {
    if order::is_recorded() {
        let mut history = HISTORY.lock();
        let pages = start / PAGE..(start + bytes).div_ceil(PAGE);
        if pages.end - pages.start > history.pages.len() as u64 {
            history.pages.retain(|page, _| !pages.contains(page));
        } else {
            pages.for_each(|page| drop(history.pages.remove(&page)));
        }
    }
}

fn kind(now: Sort, earlier: Sort) -> &'static str {
    match (now.writes(), earlier.writes()) {
        (true, true) => "race of two writes of operations that nothing orders",
        (false, _) => "race of a read with a write of an operation that nothing orders before it",
        (true, false) => "race of a write with a read of an operation that nothing orders before it",
    }
}

fn what(sort: Sort) -> &'static str {
    if sort.writes() { "write" } else { "read" }
}

fn stream(id: u64) -> String {
    if id == 1 { "the default stream".to_owned() } else { format!("stream {id}") }
}

/// The operation that another one meets: its name, its stream, and true if it has freed the memory.
type Other = (Arc<str>, u64, bool);

impl Past {
    fn other(&self) -> Other {
        (Arc::clone(&self.name), self.stream, self.frees)
    }
}

/// Adds a report, and returns true as [`report::add`] does.
fn report_race(name: &str, own: Accessed, now: Sort, (other, on, frees): Other, earlier: Sort, address: u64) -> bool {
    if frees {
        return report::add(Report {
            check: "memory",
            kind: "use after free",
            kernel: name.to_owned(),
            array: Some(memory::name(address)),
            address: Some(address),
            note: Some(format!("the memory was freed in {}, and nothing orders the use before that", stream(on))),
            accesses: vec![own],
            ..Report::default()
        });
    }
    let before = Accessed { what: format!("{} by `{other}` in {}", what(earlier), stream(on)), ..Accessed::default() };
    report::add(Report {
        check: "race",
        kind: kind(now, earlier),
        kernel: name.to_owned(),
        array: Some(memory::name(address)),
        address: Some(address),
        note: Some("an event between their streams, or a synchronisation, is missing".to_owned()),
        accesses: vec![own, before],
        ..Report::default()
    })
}

impl Tracked {
    /// Begins to track a launch, which may order accesses by other means than barriers.
    pub(super) fn begin(launch: u64, name: &str, learns: bool) -> Option<Tracked> {
        let operation = order::current()?;
        Some(Tracked { operation, launch, name: name.into(), pages: Vec::new(), learns })
    }

    /// The launch only waits, and another one runs meanwhile.
    pub(super) fn gives_way(&mut self) {
        self.learns = true;
        forget();
    }

    /// Records an access to bytes of a page. Returns false, and records nothing, if it conflicts with an operation's.
    pub(super) fn access(&mut self, page: &mut Page, number: u64, range: Range<usize>, sort: Sort) -> bool {
        if self.learns {
            return true;
        }
        let seen = page.seen.get_or_insert_default();
        if seen.launch != self.launch {
            **seen = self.first(number);
        }
        if seen.others.as_ref().is_some_and(|others| others.conflict(sort, &range).is_some()) {
            return false;
        }
        seen.own.insert(sort, range);
        true
    }

    /// Returns what is known of a page that the launch accesses first.
    fn first(&mut self, number: u64) -> Seen {
        let start = number * PAGE;
        // The device's heap orders what its users do.
        let is_heap =
            events::variables_in(start..start + PAGE).iter().any(|(_, variable)| variable.name == events::HEAP);
        let history = HISTORY.lock();
        let mut others: Option<Box<Accesses>> = None;
        if !is_heap {
            self.pages.push(number);
            let pasts = history.pages.get(&number).into_iter().flatten();
            for past in pasts.filter(|past| !self.operation.is_after(past.at)) {
                let all = others.get_or_insert_default();
                for sort in Sort::ALL {
                    if let Some(set) = &past.accesses.0[sort as usize] {
                        all.add(sort, set);
                    }
                }
            }
        }
        Seen { launch: self.launch, ended: history.ended, own: Accesses::default(), others }
    }

    /// Reports an access that conflicts with an operation's. Returns true as [`report::add`] does.
    pub(super) fn conflict(&self, number: u64, range: Range<usize>, sort: Sort, own: Accessed) -> bool {
        let history = HISTORY.lock();
        let pasts = history.pages.get(&number).into_iter().flatten();
        let found = pasts.filter(|past| !self.operation.is_after(past.at)).find_map(|past| {
            let (byte, earlier) = past.accesses.conflict(sort, &range)?;
            Some((byte, earlier, past.other()))
        });
        drop(history);
        found.is_some_and(|(byte, earlier, other)| {
            report_race(&self.name, own, sort, other, earlier, number * PAGE + byte as u64)
        })
    }

    /// Ends the launch; `take` returns what it has accessed of a page. Returns true if there
    /// was a report, as [`report::add`] does.
    pub(super) fn end(self, mut take: impl FnMut(u64) -> Option<Box<Seen>>) -> bool {
        if self.learns {
            forget();
            return false;
        }
        let mut reported = false;
        for number in &self.pages {
            let Some(seen) = take(*number).filter(|seen| seen.launch == self.launch) else { continue };
            reported |= publish(&self.operation, &self.name, *number, seen.own, Some(seen.ended));
        }
        reported
    }
}

/// Adds the accesses of an operation to a page's. It was compared with those that had ended before `compared`.
/// Returns true if there was a report, as [`report::add`] does.
fn publish(operation: &Operation, name: &Arc<str>, number: u64, accesses: Accesses, compared: Option<u64>) -> bool {
    let mut history = HISTORY.lock();
    history.ended += 1;
    let ended = history.ended;
    let pasts = history.pages.entry(number).or_default();
    let mut found = None;
    pasts.retain_mut(|past| {
        if operation.is_after(past.at) {
            return past.accesses.reduce(&accesses);
        }
        if found.is_none() && compared.is_none_or(|compared| past.ended > compared) {
            found = past.accesses.conflict_with(&accesses).map(|at| (at, past.other()));
        }
        true
    });
    let (at, stream_of) = (operation.position(), operation.stream);
    pasts.push(Past { at, ended, name: Arc::clone(name), stream: stream_of, accesses, frees: false });
    drop(history);
    found.is_some_and(|((byte, now, earlier), other)| {
        let own = Accessed { what: format!("{} in {}", what(now), stream(stream_of)), ..Accessed::default() };
        report_race(name, own, now, other, earlier, number * PAGE + byte as u64)
    })
}

/// The running operation, which is no kernel, accesses memory.
pub(crate) fn accessed(name: &str, writes: bool, start: u64, bytes: u64) {
    let Some(operation) = order::current() else { return };
    if bytes == 0 || !super::session::checks().has(Checks::RACE) || !MEMORY.owns(start) {
        return;
    }
    let name: Arc<str> = name.into();
    for (page, range) in parts(start, bytes) {
        let mut accesses = Accesses::default();
        accesses.insert(Sort::of(writes, false), range);
        publish(&operation, &name, page / PAGE, accesses, None);
    }
}

/// The running operation frees memory: whatever accesses it has to be ordered before. Its address may be another array's then.
pub(super) fn freed(start: u64, bytes: u64) {
    let Some(operation) = order::current() else { return forget_range(start, bytes) };
    if !super::session::checks().has(Checks::MEMORY) {
        return forget_range(start, bytes);
    }
    let mut found = None;
    for (page, range) in parts(start, bytes) {
        let mut history = HISTORY.lock();
        history.ended += 1;
        let ended = history.ended;
        let pasts = history.pages.entry(page / PAGE).or_default();
        let unordered = pasts.iter().find(|past| !operation.is_after(past.at));
        if found.is_none() {
            found = unordered.map(|past| (page + range.start as u64, Arc::clone(&past.name), past.stream));
        }
        let mut accesses = Accesses::default();
        accesses.insert(Sort::Write, range);
        let (at, stream) = (operation.position(), operation.stream);
        *pasts = vec![Past { at, ended, name: "free".into(), stream, accesses, frees: true }];
    }
    if let Some((address, other, on)) = found {
        report::add(Report {
            check: "memory",
            kind: "free that is not ordered after a use",
            kernel: other.to_string(),
            array: Some(memory::name(address)),
            address: Some(address),
            note: Some(format!(
                "`{other}` in {} uses memory that is freed in {}, and nothing orders the free after it",
                stream(on),
                stream(operation.stream)
            )),
            ..Report::default()
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn later_accesses_stand_for_what_races_with_them_too() {
        let of = |sort: Sort| {
            let mut accesses = Accesses::default();
            accesses.insert(sort, 8..12);
            accesses
        };
        for earlier in Sort::ALL {
            for later in Sort::ALL {
                let left = of(earlier).reduce(&of(later));
                // What conflicts with the earlier one and not with the later one.
                let lost = Sort::ALL.into_iter().any(|third| earlier.conflicts(third) && !later.conflicts(third));
                assert!(left || !lost, "{earlier:?} {later:?}");
            }
        }
        assert!(of(Sort::Write).reduce(&of(Sort::Read)), "a read does not stand for a write");
        assert_eq!(of(Sort::Read).conflict(Sort::Write, &(0..9)), Some((8, Sort::Read)));
        assert_eq!(of(Sort::Read).conflict(Sort::Write, &(0..8)), None);
        assert_eq!(of(Sort::StrongWrite).conflict(Sort::StrongRead, &(0..16)), None);
        assert_eq!(of(Sort::Write).conflict_with(&of(Sort::Read)), Some((8, Sort::Read, Sort::Write)));
    }
}
