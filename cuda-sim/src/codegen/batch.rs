//! Batched checks: code that records the addresses of its accesses, for all threads that a call runs, instead of asking
//! the checkers before each one. The checkers then have a whole row of addresses at once, and the thread loop is
//! vectorised as without them.
//!
//! A function records if a thread makes each access of its code at most once in a call, and if nothing in it orders
//! accesses of different threads: it has no loop with an access, no strong access, no fence and no call
//! ([`Regions::is_batchable`]). The accesses stay within the devices' range by their guards, as without
//! checkers.
//!
//! [`Regions::is_batchable`]: crate::ir::regions::Regions::is_batchable

use super::abi::{self, BATCH_ROW, BATCH_ROWS, access};
use super::emit::Emitter;
use std::fmt::Write;

/// The accesses that a thread loop records.
pub(super) struct Batch {
    number: u32,
    /// The properties and places of the accesses.
    sites: Vec<(u32, u64)>,
    rows: usize,
}

impl Emitter<'_> {
    /// Begins a thread loop of code that records its accesses, here or, if `early`, at the start of the function.
    pub(super) fn begin_batch(&mut self, early: bool) {
        if !self.batches {
            return;
        }
        let number = self.fresh();
        let pointer = self.uniform(format_args!("getelementptr i8, ptr %ctx, i64 {}", abi::BATCHED));
        // If an access faults, the runtime reads which one it was.
        let text = if early { &mut self.prologue } else { &mut self.text };
        let _ = writeln!(text, "  store volatile ptr @accesses{number}, ptr {pointer}");
        self.batch = Some(Batch { number, sites: Vec::new(), rows: 0 });
    }

    /// Ends a thread loop, and returns the text of the call that checks its accesses.
    pub(super) fn end_batch(&mut self, first: &str, count: &str) -> String {
        let Some(Batch { number, sites, .. }) = self.batch.take() else { return String::new() };
        let list: Vec<String> =
            sites.iter().map(|(kind, position)| format!("[2 x i64] [i64 {kind}, i64 {position}]")).collect();
        let (ty, list) = (format!("[{} x [2 x i64]]", sites.len()), list.join(", "));
        self.declares.insert(format!(
            "@accesses{number} = internal constant {{ i64, {ty} }} {{ i64 {}, {ty} [{list}] }}",
            sites.len()
        ));
        if sites.is_empty() {
            return String::new();
        }
        self.declares.insert("declare void @sim.check.batch(ptr, ptr, i64, i64) #3".to_owned());
        format!("  call void @sim.check.batch(ptr %ctx, ptr @accesses{number}, i64 {first}, i64 {count})\n")
    }

    /// Records an access of the current thread. An access that is not a plain load or store makes the function one that
    /// cannot record.
    pub(super) fn record(&mut self, kind: Option<u32>, address: &str, bytes: u64) {
        let value = self.stored.take();
        if self.without_effects {
            return;
        }
        let plain = |kind: &u32| kind & 3 != abi::Access::Atomic as u32 && kind & access::STRONG == 0;
        let (Some(kind), Some(batch)) = (kind.filter(plain), &mut self.batch) else {
            self.refused = true;
            return;
        };
        let row = batch.rows;
        batch.rows += 1 + usize::from(value.is_some());
        let known = if value.is_some() { access::VALUE } else { 0 };
        batch.sites.push((kind | known | (bytes as u32) << access::BYTES, abi::encode_position(self.position)));
        self.refused |= batch.rows > BATCH_ROWS;
        self.record_in(row, address);
        if let Some(value) = value {
            self.record_in(row + 1, &value);
        }
    }

    fn record_in(&mut self, row: usize, word: &str) {
        let all = self.field(abi::BATCH, "ptr");
        let row = self.uniform(format_args!("getelementptr i64, ptr {all}, i64 {}", row * BATCH_ROW));
        let at = self.def(format_args!("getelementptr i64, ptr {row}, i64 %thread"));
        let parallel = self.parallel;
        self.line(format_args!("store i64 {word}, ptr {at}, align 8{parallel}"));
    }
}
