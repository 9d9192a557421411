//! The device's heap: the blocks that kernels allocate by `malloc`, calls of `free` that are mistakes, and blocks that are left.

use super::access::global;
use super::report::{Accessed, Report};
use super::shadow::place;
use super::{Checker, events, report, session, with};
use crate::codegen::abi::Context;
use crate::environment::Checks;
use std::ops::Range;

/// A block of the device's heap.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) bytes: u64,
    /// The kernel and its call of `malloc`, and the call of `free`.
    kernel: String,
    made: Accessed,
    pub(super) freed: Option<Accessed>,
}

/// A call of `malloc` or `free` by a thread of a block.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) own: &'a Context,
    pub(crate) thread: u64,
    pub(crate) position: u64,
}

impl Call<'_> {
    /// Describes the call, and names its kernel if that runs with a checker of kernels.
    fn described(self, what: String) -> (Accessed, String) {
        let at = place(self.position);
        let known = |checker: &mut Checker| {
            (checker.accessed(what.clone(), global(self.own, self.thread), at, None), checker.kernel_name())
        };
        with(known).unwrap_or_else(|| {
            let (line, column) = ((self.position >> 32) as u32, self.position as u32);
            (Accessed { what, line, column, ..Accessed::default() }, String::new())
        })
    }
}

/// A kernel has allocated a block.
pub(crate) fn made(call: Call<'_>, address: u64, bytes: u64) {
    let (made, kernel) = call.described(format!("`malloc` of {bytes} bytes"));
    events::made(address, Block { bytes, kernel, made, freed: None });
    super::catch_up();
}

/// A kernel has freed a block.
pub(crate) fn freed(call: Call<'_>, address: u64) {
    events::unmade(address, call.described("`free`".to_owned()).0);
    super::catch_up();
}

/// A kernel frees what is no live block.
pub(crate) fn bad_free(call: Call<'_>, address: u64) {
    if !session::checks().has(Checks::MEMORY) && !with(|checker| checker.checks.has(Checks::MEMORY)).unwrap_or(false) {
        return;
    }
    let (free, kernel) = call.described("`free`".to_owned());
    let mut accesses = vec![free];
    let block = events::heap_block(address);
    let kind = match block.as_ref().map(|(at, block)| (*at == address, &block.freed)) {
        Some((true, Some(earlier))) => {
            accesses.push(earlier.clone());
            "double free"
        }
        Some(_) => "free of an address inside a block of `malloc`",
        None => "free of an address that `malloc` did not return",
    };
    let array = Some(super::memory::name(address));
    let new = Report { check: "memory", kind, kernel, array, address: Some(address), accesses, ..Report::default() };
    if with(|checker| checker.report(new.clone())).is_none() {
        report::add(new);
    }
}

/// Reports the blocks in a range that were not freed.
pub(crate) fn left(range: Range<u64>, when: &str) {
    let left = events::left_in_heap(range);
    if !super::checks().has(Checks::LEAK) {
        return;
    }
    for block in left {
        report::add(Report {
            check: "leak",
            kind: "leaked memory of the device's heap",
            kernel: block.kernel.clone(),
            array: Some(format!("{} bytes of `malloc`", block.bytes)),
            note: Some(format!("not freed when {when} ended")),
            accesses: vec![block.made.clone()],
            ..Report::default()
        });
    }
}
