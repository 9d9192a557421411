//! Random programs whose threads cooperate: barriers, shared memory, warp operations and atomics.
//!
//! Each thread has three numbers, `a`, `b` and `c`. A program is a sequence of steps. In some, each thread computes by itself in a
//! device function; in the others the threads exchange numbers. On the host there are no such threads, so a program is written
//! twice: as a kernel, and as a function over the numbers of all threads of a block, in which a model from `model.rs.in` replaces
//! each exchange. No result depends on the order of threads, and nothing panics: other tests cover panics.

use std::fmt::Write as _;

use super::expression::{Inputs, Ty, Writer, bits};
use super::program::kernels;
use super::random::Random;

/// The types of shuffles.
const SHUFFLE_TYPES: [Ty; 6] = ["i32", "u32", "i64", "u64", "f32", "f64"];
const INTEGERS: [Ty; 4] = ["i32", "u32", "i64", "u64"];
const NAMES: [&str; 3] = ["a", "b", "c"];

/// Contiguous lanes of a warp.
#[derive(Clone, Copy)]
struct Lanes {
    mask: &'static str,
    count: usize,
}

const ALL: Lanes = Lanes { mask: "0xffff_ffffu32", count: 32 };

/// A program that is being generated, for the device and for the host.
struct Block {
    writer: Writer,
    number: u64,
    /// The types of `a`, `b` and `c`; the first is an integer, the second a `u32`.
    types: [Ty; 3],
    /// The number of threads in a block.
    threads: usize,
    functions: String,
    steps: usize,
    device: String,
    host: String,
}

/// The text of a program.
pub(super) fn text(mut random: Random, number: u64) -> String {
    let types = [random.of(&INTEGERS), "u32", random.of(&SHUFFLE_TYPES)];
    let threads = random.of(&[32, 64, 128]);
    let mut writer = Writer::new(random, false, Inputs::Words);
    writer.panic_free = true;
    let (functions, device, host) = Default::default();
    let mut block = Block { writer, number, types, threads, functions, steps: 0, device, host };
    block.independent(1);
    for _ in 0..3 + block.writer.random.below(5) {
        block.step(1, 2);
    }
    block.finish()
}

impl Block {
    fn state(&self) -> String {
        let [a, b, c] = self.types;
        format!("({a}, {b}, {c})")
    }

    /// Writes a line to both texts.
    fn both(&mut self, indent: usize, text: &str) {
        self.lines(indent, text, text);
    }

    fn lines(&mut self, indent: usize, device: &str, host: &str) {
        let pad = "    ".repeat(indent);
        let _ = writeln!(self.device, "{pad}{device}");
        let _ = writeln!(self.host, "{pad}    {host}");
    }

    fn step(&mut self, indent: usize, depth: usize) {
        match self.writer.random.below(if depth == 0 { 8 } else { 11 }) {
            0 => self.independent(indent),
            1 => self.tile(indent),
            2 => self.counting_barrier(indent),
            3 => self.atomic(indent),
            4 => self.divergent(indent),
            5 => self.grid_atomic(indent),
            6..=7 => self.warp(indent, ALL),
            8 => {
                let count = 1 + self.writer.random.below(3);
                self.both(indent, &format!("for _k in 0..{count}u32 {{"));
                self.inside(indent, depth);
            }
            9 => {
                // The condition is the same for all threads of a block.
                let bit = self.writer.random.below(4);
                self.both(indent, &format!("if (x[{bit}] >> (block as u32)) & 1 == 0 {{"));
                self.inside(indent, depth);
            }
            _ => self.one_warp(indent),
        }
    }

    fn inside(&mut self, indent: usize, depth: usize) {
        for _ in 0..1 + self.writer.random.below(3) {
            self.step(indent + 1, depth - 1);
        }
        self.both(indent, "}");
    }

    /// A step in which each thread computes by itself.
    fn independent(&mut self, indent: usize) {
        let (number, step) = (self.number, self.steps);
        self.steps += 1;
        self.writer.variables.clear();
        for (name, ty) in NAMES.into_iter().zip(self.types) {
            self.writer.declare(name.to_owned(), ty, false);
        }
        let [a, b, c] = self.types.map(|ty| self.writer.expression(ty, 3));
        let [first, second, third] = self.types;
        let state = self.state();
        let _ = write!(
            self.functions,
            "#[device]\nfn s{number}_{step}(x: &[u64], i: usize, a: {first}, b: {second}, c: {third}) -> {state} {{\n    \
             ({a}, {b}, {c})\n}}\n\n"
        );
        self.lines(
            indent,
            &format!("(a, b, c) = s{number}_{step}(x, i % 32usize, a, b, c);"),
            &format!(
                "for t in 0..{} {{ (a[t], b[t], c[t]) = s{number}_{step}(x, (block * {} + t) % 32usize, a[t], b[t], c[t]); }}",
                self.threads, self.threads
            ),
        );
    }

    /// `a` or `c`, and its type.
    fn number(&mut self) -> (&'static str, Ty) {
        let place = self.writer.random.of(&[0, 2]);
        (NAMES[place], self.types[place])
    }

    /// A step that exchanges numbers through shared memory.
    fn tile(&mut self, indent: usize) {
        let ((name, ty), threads) = (self.number(), self.threads);
        let (factor, shift) = (1 + 2 * self.writer.random.below(20), self.writer.random.below(threads));
        let tile = format!("tile{}", self.steps);
        self.steps += 1;
        self.lines(
            indent,
            &format!(
                "let {tile} = shared!([{ty}; {threads}]); {tile}[t] = {name}; sync_threads(); {name} = {tile}[(t * {factor} + {shift}) % \
                 {threads}]; sync_threads();"
            ),
            &format!("model::moved(&mut {name}, |t| (t * {factor} + {shift}) % {threads});"),
        );
    }

    /// A barrier with a reduction, such as a count.
    fn counting_barrier(&mut self, indent: usize) {
        let (threads, bit) = (self.threads, self.writer.random.below(12));
        let asked = format!("(b >> {bit}u32) & 1u32 == 1u32");
        let model = format!("(b[t] >> {bit}u32) & 1u32 == 1u32");
        let (function, host) = match self.writer.random.below(3) {
            0 => ("sync_threads_count", "filter(asked).count()"),
            1 => ("sync_threads_and", "all(|t| asked(&t))"),
            _ => ("sync_threads_or", "any(|t| asked(&t))"),
        };
        self.lines(
            indent,
            &format!("b = b.rotate_left(3u32) ^ ({function}({asked}) as u32);"),
            &format!(
                "let asked = |&t: &usize| {model}; let found = (0..{threads}).{host} as u32; for t in 0..{threads} {{ b[t] = \
                 b[t].rotate_left(3u32) ^ found; }}"
            ),
        );
    }

    /// Atomics of all threads on a few numbers in shared memory, which the threads then read.
    fn atomic(&mut self, indent: usize) {
        let ty = self.types[0];
        let op = self.writer.random.of(&["add", "sub", "min", "max", "and", "or", "xor"]);
        let start = self.writer.random.of(&["MIN", "MAX"]);
        let (bins, threads) = (format!("bins{}", self.steps), self.threads);
        self.steps += 1;
        self.lines(
            indent,
            &format!(
                "let {bins} = shared!([{ty}; 8]); if t < 8usize {{ {bins}[t] = {ty}::{start} / 2 }} sync_threads(); \
                 atomic_{op}(&mut {bins}[(b % 8u32) as usize], a); sync_threads(); a = {bins}[t % 8usize]; sync_threads();"
            ),
            &format!(
                "let mut bins = [{ty}::{start} / 2; 8]; for t in 0..{threads} {{ model::{op}(&mut bins[(b[t] % 8u32) as usize], a[t]); }} \
                 for t in 0..{threads} {{ a[t] = bins[t % 8usize]; }}"
            ),
        );
    }

    /// An atomic of all threads of the grid on a number in global memory, which no thread reads.
    fn grid_atomic(&mut self, indent: usize) {
        // The operation on one number is always the same: a mix would depend on the order of the threads.
        let (place, op) =
            self.writer.random.of(&[(0, "add"), (1, "xor"), (2, "max"), (3, "min"), (4, "or"), (5, "and")]);
        self.lines(
            indent,
            &format!("atomic_{op}(&mut total[{place}], b as u64 ^ 5u64);"),
            &format!("for t in 0..{} {{ model::{op}(&mut total[{place}], b[t] as u64 ^ 5u64); }}", self.threads),
        );
    }

    /// A branch in which two parts of each warp diverge.
    fn divergent(&mut self, indent: usize) {
        self.lines(indent, "if t % 32 < 16 {", "{");
        self.warp(indent + 1, Lanes { mask: "0x0000_ffffu32", count: 16 });
        self.lines(indent, "} else {", "}\n    {");
        self.warp(indent + 1, Lanes { mask: "0xffff_0000u32", count: 16 });
        self.both(indent, "}");
    }

    /// A branch that only one warp of the block takes.
    fn one_warp(&mut self, indent: usize) {
        let (threads, warp) = (self.threads, self.writer.random.below(self.threads / 32));
        // The model computes whole blocks, so the other warps' numbers are restored.
        self.lines(indent, &format!("if t / 32 == {warp} {{"), "let before = (a.clone(), b.clone(), c.clone());");
        self.warp(indent + 1, ALL);
        self.lines(
            indent,
            "}",
            &format!(
                "for t in 0..{threads} {{ if t / 32 != {warp} {{ (a[t], b[t], c[t]) = (before.0[t], before.1[t], before.2[t]); }} }}"
            ),
        );
    }

    /// A warp operation of some lanes.
    fn warp(&mut self, indent: usize, lanes: Lanes) {
        let (of, bit, mask) = (self.types[0], self.writer.random.below(8), lanes.mask);
        let (asked, model) = (format!("(b >> {bit}u32) & 1u32 == 0u32"), format!("(b[t] >> {bit}u32) & 1u32 == 0u32"));
        match self.writer.random.below(8) {
            0..=2 => self.shuffle(indent, lanes),
            3 => {
                let function = self.writer.random.of(&["all", "any", "eq"]);
                let device = format!("({function}_sync({mask}, {asked}) as u32)");
                self.vote(indent, lanes, &device, "vote", &format!("model::{function}, |t| {model}"));
            }
            4 => self.vote(indent, lanes, &format!("ballot_sync({mask}, {asked})"), "ballot", &format!("|t| {model}")),
            5 => {
                let device = format!("match_any_sync({mask}, a & 3{of})");
                self.vote(indent, lanes, &device, "match_any", &format!("|t| a[t] & 3{of}"));
            }
            6 => {
                let device = format!("match_all_sync({mask}, a | ({of}::MAX << 1u32)).0");
                self.vote(indent, lanes, &device, "match_all", &format!("|t| a[t] | ({of}::MAX << 1u32)"));
            }
            _ => {
                let op = self.writer.random.of(&["add", "min", "max", "and", "or", "xor"]);
                let device = format!("reduce_{op}_sync({mask}, b)");
                self.vote(indent, lanes, &device, "reduce", &format!("model::{op}::<u32>, |t| b[t]"));
            }
        }
    }

    /// A shuffle within the lanes. `xor` stays within them, since their number is a power of two.
    fn shuffle(&mut self, indent: usize, Lanes { mask, count }: Lanes) {
        let ((name, _), delta) = (self.number(), self.writer.random.below(count));
        let (function, by, from) = match self.writer.random.below(if count == 32 { 4 } else { 1 }) {
            0 => ("shfl_xor_sync", format!("{delta}u32"), format!("|lane, _| lane ^ {delta}")),
            1 => ("shfl_down_sync", format!("{delta}u32"), format!("|lane, _| model::down(lane, {delta})")),
            2 => ("shfl_up_sync", format!("{delta}u32"), format!("|lane, _| model::up(lane, {delta})")),
            _ => ("shfl_sync", "b".to_owned(), "|_, t| b[t] as usize % 32".to_owned()),
        };
        self.lines(
            indent,
            &format!("{name} = {function}({mask}, {name}, {by});"),
            &format!("model::shuffle({mask}, &mut {name}, {from});"),
        );
    }

    /// A vote or reduction of the lanes, whose result is combined with `b`.
    fn vote(&mut self, indent: usize, Lanes { mask, .. }: Lanes, device: &str, function: &str, of: &str) {
        self.lines(
            indent,
            &format!("b = b.wrapping_mul(5u32) ^ {device};"),
            &format!(
                "let found = model::{function}({mask}, {}, {of}); model::each(&mut b, &found, |b, v| b.wrapping_mul(5u32) ^ v);",
                self.threads
            ),
        );
    }

    fn finish(self) -> String {
        let Self { number, types: [a, b, c], threads, mut functions, device, host, .. } = self;
        let zero = |ty: Ty| format!("0 as {ty}");
        let parts = NAMES.into_iter().zip([a, b, c]);
        let hash: Vec<String> = parts.clone().map(|(name, ty)| bits(name, ty)).collect();
        let hash = format!("({}).rotate_left(21) ^ ({}).rotate_left(42) ^ ({})", hash[0], hash[1], hash[2]);
        for (name, attribute) in kernels(false) {
            let _ = write!(
                functions,
                "{attribute}\npub fn {name}{number}(x: &[u64], total: &mut [u64], out: &mut [u64]) {{\n    \
                 let (t, block) = (thread_idx().x, block_idx().x);\n    let i = block * {threads} + t;\n    \
                 let (mut a, mut b, mut c) = ({}, {}, {});\n{device}    out[i] = {hash};\n}}\n\n",
                zero(a),
                zero(b),
                zero(c)
            );
        }
        let vector = |ty: Ty| format!("vec![0 as {ty}; {threads}]");
        let launch = |name| format!("&|x, total, out| {name}{number}::launch((BLOCKS, {threads}), x, total, out)");
        let _ = write!(
            functions,
            "fn model{number}(x: &[u64], total: &mut [u64], block: usize) -> Vec<u64> {{\n    \
             let (mut a, mut b, mut c) = ({}, {}, {});\n{host}    (0..{threads}).map(|t| {{ let (a, b, c) = (a[t], b[t], c[t]); {hash} \
             }}).collect()\n}}\n\npub fn run{number}(session: &mut Session) {{\n    session.compare_blocks({number}, \
             {threads}, model{number}, [{}, {}]);\n}}\n\n",
            vector(a),
            vector(b),
            vector(c),
            launch('o'),
            launch('q')
        );
        functions
    }
}
