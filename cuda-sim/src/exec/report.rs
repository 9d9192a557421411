//! The text of a fault in the log.
//!
//! It contains only what is known: the thread and position of an illegal access come from a search, which may end
//! without a result.

use super::launch::{Fault, Launch};
use super::search::Found;
use crate::memory::{IllegalAccess, MEMORY};
use crate::service::Breakpoints;
use crate::source::Sources;
use std::fmt::Write;

/// Formats an index as coordinates `(x, y, z)` in a box of these extents.
fn coordinates(number: u64, counts: [u32; 3]) -> String {
    let (x, y) = (u64::from(counts[0]), u64::from(counts[1]));
    format!("({}, {}, {})", number % x, number / x % y, number / x / y)
}

/// Formats a source position; a position of 0 is unknown.
fn at(position: u64, sources: &Sources) -> String {
    let (line, column) = ((position >> 32) as u32, position as u32);
    match (line, sources.of(line)) {
        (0, _) => String::new(),
        (_, None) => format!(", at line {line}, column {column} of its PTX"),
        (_, Some(source)) => format!(", at line {line}, column {column} of its PTX ({source})"),
    }
}

/// Describes the address of an access. Shared memory is described by its offset, since its address differs between
/// runs.
fn described(found: &Found, launch: &Launch) -> String {
    let (window, bytes) = found.shared;
    let offset = found.address.wrapping_sub(window).cast_signed();
    let (at, what) = if let (Some((rank, offset)), false) = (found.distributed(), found.is_global) {
        (format!("offset {offset} of the shared memory of block {rank} of its cluster"), in_cluster(found, rank))
    } else if !found.is_global && offset.unsigned_abs() < 2 * MEMORY.guards().shared {
        (format!("offset {offset} of shared memory"), format!("the block has {bytes} bytes"))
    } else {
        let mut what = MEMORY.describe(found.address);
        if MEMORY.owns(found.address) && !MEMORY.reaches(launch.slots, found.address) {
            what.push_str(" of another device, which the kernel's context has no access to");
        }
        (format!("{:#x}", found.address), what)
    };
    if found.address.is_multiple_of(found.bytes) {
        format!("{at} ({what})")
    } else {
        format!("{at} (not aligned to {} bytes; {what})", found.bytes)
    }
}

/// Describes the shared memory of a cluster's block relative to the block that made the access.
fn in_cluster(found: &Found, rank: u64) -> String {
    let ranks = found.cluster.ranks;
    match (rank, found.cluster.open >> rank.min(31) & 1) {
        _ if rank >= u64::from(ranks) => format!("the cluster has {ranks} blocks"),
        (_, 0) => "that block has exited".to_owned(),
        _ => format!("each has {} bytes", found.shared.1),
    }
}

/// Returns the text for the breakpoints that a kernel's launch reached.
pub(crate) fn breakpoints(
    (kernel, sources): (&str, &Sources),
    launch: &Launch,
    Breakpoints { first, more }: &Breakpoints,
) -> String {
    let mut text = String::new();
    for stopped in first {
        let at = at(stopped.position, sources);
        let (block, thread) = (coordinates(stopped.block, launch.grid), coordinates(stopped.thread, launch.block));
        // Writing to a string does not fail.
        let _ = writeln!(text, "cuda-sim: kernel `{kernel}`{at}: breakpoint: block {block}, thread {thread}");
    }
    if *more > 0 {
        let _ = writeln!(text, "cuda-sim: kernel `{kernel}`: and {more} breakpoints more");
    }
    text
}

/// Returns the text for a fault of a kernel's launch.
pub(crate) fn text(
    (kernel, sources): (&str, &Sources),
    launch: &Launch,
    fault: &Fault,
    found: Option<Found>,
) -> String {
    let block = |number: u64| format!("block {}", coordinates(number, launch.grid));
    let thread = |number: u64| format!("thread {}", coordinates(number, launch.block));
    let mut text = format!("kernel `{kernel}`");
    // Writing to a string does not fail.
    let _ = match (fault, found) {
        (Fault::Memory { .. }, Some(found)) => write!(
            text,
            "{}: {} of {} bytes at {}: {}, {}",
            at(found.position, sources),
            found.access.name(),
            found.bytes,
            described(&found, launch),
            block(found.block),
            thread(found.thread),
        ),
        (Fault::Memory { illegal, block: number }, None) => {
            let what = match illegal {
                IllegalAccess::At(address) => format!("an access at {address:#x} ({})", MEMORY.describe(*address)),
                IllegalAccess::Outside => "an access outside of the device's memory".to_owned(),
                IllegalAccess::Misaligned => "an access that is not aligned".to_owned(),
            };
            write!(text, ": {what}: {}; run again alone, the block does not show which thread made it", block(*number))
        }
        (Fault::Trap(stopped), _) => {
            write!(
                text,
                "{}: trap: {}, {}",
                at(stopped.position, sources),
                block(stopped.block),
                thread(stopped.thread)
            )
        }
        (Fault::Mbarrier(misuse, stopped), _) => {
            write!(
                text,
                "{}: {}: {}, {}",
                at(stopped.position, sources),
                misuse.description(),
                block(stopped.block),
                thread(stopped.thread)
            )
        }
        (Fault::StackOverflow(stopped), _) => {
            write!(text, ": calls went deeper than the stack: {}, {}", block(stopped.block), thread(stopped.thread))
        }
        (Fault::Assert { block: number }, _) => write!(text, ": an assertion failed: {}", block(*number)),
        (Fault::Deadlock { block: number }, _) => {
            write!(text, ": threads wait for each other: {}", block(*number))
        }
        (Fault::OutOfMemory, _) => write!(text, ": no memory for the launch itself"),
        (Fault::Stopped, _) => write!(text, ": stopped, as another launch of its context has faulted"),
        (Fault::NoCode, _) => write!(text, ": the device's compiler failed"),
    };
    text
}
