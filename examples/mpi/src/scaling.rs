//! A model of the programs on many GPUs: the bytes that ranks send each other, and the time of a step under weak scaling, where each
//! GPU keeps its share of the work.
//!
//! The bytes are counted when the programs run. The times are those of data sheets, and of latencies that are assumed.

use std::fmt::Write as _;

use cuda_example_kernels::digits::{DIGITS, HIDDEN, PIXELS};

/// A way from one GPU to another.
///
/// # Examples
///
/// ```
/// use cuda_example_mpi::scaling::H200;
/// assert!(H200.nvlink.time(65_536.0) < H200.network.time(65_536.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Seconds until the first byte of a message is there, the start of NCCL's kernel included. Assumed.
    pub latency: f64,
    /// Bytes per second in one direction.
    pub bandwidth: f64,
}

impl Link {
    /// The seconds of a message.
    pub fn time(&self, bytes: f64) -> f64 {
        self.latency + bytes / self.bandwidth
    }
}

/// A machine with several GPUs, many of which are joined by a network.
///
/// # Examples
///
/// ```
/// use cuda_example_mpi::scaling::H200;
/// assert_eq!(H200.gpus, 8);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// The GPUs of a machine.
    pub gpus: usize,
    /// Bytes per second of a GPU's memory.
    pub memory: f64,
    /// Seconds from one small launch to the next in a stream. Assumed.
    pub launch: f64,
    /// Between the GPUs of a machine.
    pub nvlink: Link,
    /// Between machines, for each GPU.
    pub network: Link,
}

/// Eight H200 with 4.8 TB/s of memory, NVLink with 450 GB/s in each direction, and an adapter with 400 Gb/s for each.
pub const H200: Machine = Machine {
    gpus: 8,
    memory: 4.8e12,
    launch: 3e-6,
    nvlink: Link { latency: 5e-6, bandwidth: 450e9 },
    network: Link { latency: 10e-6, bandwidth: 50e9 },
};

/// The bytes that all ranks of `heat_mpi` send in a step: each inner border is a row in each direction.
///
/// # Examples
///
/// ```
/// assert_eq!(cuda_example_mpi::scaling::halo_bytes(4, 384), 2 * 3 * 384 * 4);
/// ```
pub fn halo_bytes(ranks: usize, columns: usize) -> usize {
    2 * (ranks - 1) * columns * size_of::<f32>()
}

/// The bytes that all ranks send to reduce so many bytes on all of them, each part by one rank: every rank's part goes to
/// the one that reduces it, and the result back.
///
/// # Examples
///
/// ```
/// assert_eq!(cuda_example_mpi::scaling::all_reduce_bytes(4, 1000), 6000);
/// ```
pub fn all_reduce_bytes(ranks: usize, bytes: usize) -> usize {
    2 * (ranks - 1) * bytes
}

/// The bytes that all ranks send to give so many bytes of each to all others.
///
/// # Examples
///
/// ```
/// assert_eq!(cuda_example_mpi::scaling::all_gather_bytes(4, 100), 1200);
/// ```
pub fn all_gather_bytes(ranks: usize, bytes: usize) -> usize {
    ranks * (ranks - 1) * bytes
}

/// The bytes of the gradients of `training_mpi`: a number for each weight of its two layers.
///
/// # Examples
///
/// ```
/// assert_eq!(cuda_example_mpi::scaling::gradient_bytes(), 19_280);
/// ```
pub fn gradient_bytes() -> usize {
    (HIDDEN * (PIXELS + 1) + DIGITS * (HIDDEN + 1)) * size_of::<i64>()
}

impl Machine {
    /// The seconds of a step of `heat_mpi` where each rank has a square band of this side.
    ///
    /// The interior's kernel reads and writes each number once, while the halo rows travel; then two launches compute the
    /// outermost rows.
    pub fn heat_step(&self, ranks: usize, side: usize) -> f64 {
        let interior = self.launch + (2 * side * side * size_of::<f32>()) as f64 / self.memory;
        // A rank sends a row to each of its neighbours, while it receives theirs.
        let rows = (ranks.min(3) - 1) * side * size_of::<f32>();
        let halo = match ranks {
            1 => 0.0,
            ranks if ranks <= self.gpus => self.nvlink.time(rows as f64),
            _ => self.network.time(rows as f64),
        };
        interior.max(halo) + 2.0 * self.launch
    }

    /// The seconds of an all-reduce of so many bytes: within machines each GPU reduces a part, the machines reduce these parts
    /// over the network, and both go on at once, piece by piece.
    pub fn all_reduce(&self, ranks: usize, bytes: usize) -> f64 {
        let passes = |ranks: usize| 2.0 * (ranks - 1) as f64 / ranks as f64;
        let rounds = |ranks: usize| 2.0 * (ranks as f64).log2().ceil();
        let (within, machines) = (ranks.min(self.gpus), ranks.div_ceil(self.gpus));
        let inner = passes(within) * bytes as f64 / self.nvlink.bandwidth;
        let outer = passes(machines) * (bytes / within) as f64 / self.network.bandwidth;
        rounds(within) * self.nvlink.latency + rounds(machines) * self.network.latency + inner.max(outer)
    }

    /// The seconds in which each rank of `sample_sort_mpi` gives so many bytes of keys, in equal parts, to all ranks. The messages
    /// to different ranks are on their way together.
    pub fn all_to_all(&self, ranks: usize, bytes: usize) -> f64 {
        let part = bytes as f64 / ranks as f64;
        let to = |link: Link, peers: usize| if peers == 0 { 0.0 } else { link.time(peers as f64 * part) };
        let within = ranks.min(self.gpus);
        to(self.nvlink, within - 1).max(to(self.network, ranks - within))
    }
}

/// The numbers of GPUs in the tables.
const RANKS: [usize; 5] = [1, 2, 8, 64, 1024];

fn row<T>(table: &mut String, name: &str, columns: impl IntoIterator<Item = T>, text: impl Fn(T) -> String) {
    let columns: Vec<String> = columns.into_iter().map(text).collect();
    writeln!(table, "| {name} | {} |", columns.join(" | ")).expect("a string grows");
}

/// A table with a column for each number of GPUs.
fn table<T>(head: &str, ranks: &[usize], rows: &[(String, T)], text: impl Fn(&T, usize) -> String) -> String {
    let mut table = String::new();
    row(&mut table, head, ranks, |ranks| ranks.to_string());
    writeln!(table, "|---|{}", "---|".repeat(ranks.len())).expect("a string grows");
    for (name, of) in rows {
        row(&mut table, name, ranks, |ranks| text(of, *ranks));
    }
    table
}

/// The bytes that all ranks of the programs send in a step.
pub fn bytes_table() -> String {
    let heat = |ranks| halo_bytes(ranks, 384);
    let training = |ranks| all_reduce_bytes(ranks, gradient_bytes());
    let rows: [(String, &dyn Fn(usize) -> usize); 2] =
        [("`heat_mpi`, 384 columns".to_owned(), &heat), ("`training_mpi`".to_owned(), &training)];
    table("bytes of a step", &[1, 2, 4], &rows, |bytes, ranks| bytes(ranks).to_string())
}

/// The microseconds of a step of `heat_mpi`, and the part of a single GPU's speed that each one keeps.
pub fn heat_table() -> String {
    let rows = [1024, 4096, 16_384].map(|side| (format!("{side} x {side}"), side));
    table("numbers of each GPU", &RANKS, &rows, |side, ranks| {
        let (one, many) = (H200.heat_step(1, *side), H200.heat_step(ranks, *side));
        format!("{:.1} us, {:.0} %", many * 1e6, 100.0 * one / many)
    })
}

/// The milliseconds of an all-reduce.
pub fn all_reduce_table() -> String {
    let sizes = [("1 MiB", 1 << 20), ("64 MiB", 64 << 20), ("2 GiB", 2 << 30)];
    let rows = sizes.map(|(name, bytes)| (name.to_owned(), bytes));
    table("gradients", &RANKS[1..], &rows, |bytes, ranks| format!("{:.3} ms", H200.all_reduce(ranks, *bytes) * 1e3))
}

/// The milliseconds of the exchange of keys.
pub fn all_to_all_table() -> String {
    let sizes = [("64 MiB", 64 << 20), ("4 GiB", 4 << 30)];
    let rows = sizes.map(|(name, bytes)| (name.to_owned(), bytes));
    table("keys of each GPU", &RANKS[1..], &rows, |bytes, ranks| {
        format!("{:.2} ms", H200.all_to_all(ranks, *bytes) * 1e3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_tables() {
        let page = include_str!("../../../docs/book/src/scaling.md");
        for table in [bytes_table(), heat_table(), all_reduce_table(), all_to_all_table()] {
            assert!(page.contains(&table), "docs/book/src/scaling.md lacks this table:\n{table}");
        }
    }

    #[test]
    fn more_ranks_never_make_a_step_shorter() {
        for side in [1, 1024, 16_384] {
            let steps = RANKS.map(|ranks| H200.heat_step(ranks, side));
            assert!(steps.is_sorted(), "{side}: {steps:?}");
        }
        let reductions = RANKS.map(|ranks| H200.all_reduce(ranks, 1 << 26));
        assert!(reductions.is_sorted() && reductions[0] == 0.0, "{reductions:?}");
    }

    #[test]
    fn large_bands_hide_the_halo_and_small_ones_do_not() {
        let kept = |side| H200.heat_step(1, side) / H200.heat_step(1024, side);
        assert!(kept(16_384) == 1.0 && kept(1024) < 0.8, "{} {}", kept(16_384), kept(1024));
    }
}
