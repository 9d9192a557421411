//! The report of a deadlock: where each thread of a block waits, how many threads are missing, and which have finished.
//!
//! Only the text is here; the block determines the waiting threads.

/// Threads that wait at the same point.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    /// The instruction and its line in the PTX.
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) threads: Vec<usize>,
    pub(crate) event: WaitEvent,
}

/// The event that they wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WaitEvent {
    /// A barrier: its number, the number of threads that it needs, and the number that have arrived at any instruction.
    Barrier { id: u32, needed: u32, arrived: u32 },
    /// The other lanes of a mask.
    Lanes(u32),
    /// The barrier of the block's cluster: the number of threads that it needs, and the number that have arrived.
    Cluster { needed: u32, arrived: u32 },
    /// A write to shared memory.
    Shared,
    /// The barrier of the grid.
    Grid,
}

/// Formats numbers as ranges: `0-3, 7`.
fn ranges(numbers: &[usize]) -> String {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for n in numbers {
        match out.last_mut() {
            Some((_, end)) if *end + 1 == *n => *end = *n,
            _ => out.push((*n, *n)),
        }
    }
    let text = |(from, to): (usize, usize)| if from == to { from.to_string() } else { format!("{from}-{to}") };
    out.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Returns one line for each waiting point, and one for the threads that have finished.
pub(crate) fn lines(block: u64, waits: &[Wait], finished: &[usize]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for Wait { name, line, threads, event } in waits {
        let who = ranges(threads);
        let at = if *line == 0 { String::new() } else { format!(" in the loop at line {line}") };
        lines.push(match event {
            WaitEvent::Barrier { id, needed, arrived } => format!(
                "deadlock in block {block}: thread(s) {who} wait at barrier {id} ('{name}', line {line}), which {needed} \
                 thread(s) must reach and {arrived} have"
            ),
            WaitEvent::Cluster { needed, arrived } => format!(
                "deadlock in block {block}: thread(s) {who} wait for their cluster ('{name}', line {line}), of whose \
                 {needed} thread(s) {arrived} have arrived"
            ),
            WaitEvent::Shared => {
                format!("deadlock in block {block}: thread(s) {who} poll shared memory{at}, which no thread is left to write")
            }
            WaitEvent::Grid => format!(
                "deadlock in block {block}: thread(s) {who} wait{at} for the barrier of the grid, which all blocks must reach"
            ),
            WaitEvent::Lanes(mask) => format!(
                "deadlock in block {block}: thread(s) {who} wait at '{name}', line {line}, for the other lanes of mask \
                 {mask:#010x}"
            ),
        });
    }
    if !finished.is_empty() {
        lines.push(format!("deadlock in block {block}: thread(s) {} have exited", ranges(finished)));
    }
    lines
}

/// Returns the line for a cooperative launch none of whose blocks can continue.
pub(crate) fn of_grid(waiting: u64, blocks: u64) -> String {
    format!(
        "deadlock in the grid: {waiting} of {blocks} block(s) wait for its barrier, and {} have exited without it",
        blocks - waiting
    )
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn who_waits_where_and_who_exited_is_told() {
        let wait =
            |threads: &[usize], event| Wait { name: "bar.sync".into(), line: 9, threads: threads.to_vec(), event };
        let waits = [
            wait(&[0, 1, 2, 5], WaitEvent::Barrier { id: 1, needed: 7, arrived: 4 }),
            wait(&[6], WaitEvent::Lanes(0xff)),
        ];
        let cluster = wait(&[8], WaitEvent::Cluster { needed: 64, arrived: 33 });
        assert_eq!(
            lines(2, &[cluster], &[]),
            ["deadlock in block 2: thread(s) 8 wait for their cluster ('bar.sync', line 9), of whose 64 thread(s) 33 \
              have arrived"]
        );
        assert_eq!(
            lines(3, &waits, &[3, 4]),
            [
                "deadlock in block 3: thread(s) 0-2, 5 wait at barrier 1 ('bar.sync', line 9), which 7 thread(s) must reach \
             and 4 have",
                "deadlock in block 3: thread(s) 6 wait at 'bar.sync', line 9, for the other lanes of mask 0x000000ff",
                "deadlock in block 3: thread(s) 3-4 have exited",
            ]
        );
        let polls = |line, event| Wait { name: String::new(), line, threads: vec![0, 1], event };
        assert_eq!(
            lines(4, &[polls(12, WaitEvent::Shared), polls(0, WaitEvent::Grid)], &[]),
            [
                "deadlock in block 4: thread(s) 0-1 poll shared memory in the loop at line 12, which no thread is left to write",
                "deadlock in block 4: thread(s) 0-1 wait for the barrier of the grid, which all blocks must reach",
            ]
        );
        assert_eq!(
            of_grid(3, 4),
            "deadlock in the grid: 3 of 4 block(s) wait for its barrier, and 1 have exited without it"
        );
        assert_eq!(lines(0, &[], &[]), Vec::<String>::new());
    }
}
