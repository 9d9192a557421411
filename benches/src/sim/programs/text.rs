//! Programs on text and short sequences: loops that each thread leaves at another time.

use anyhow::Result;
use cuda_prelude::*;

use super::{Program, Random, in_blocks, program};

/// Threads of a block.
const BLOCK: usize = 256;

/// The number of characters that agree with a pattern, from each position of a text.
#[kernel]
fn matches(text: &[u8], pattern: &[u8], lengths: &mut [u32]) {
    let i = grid::<1>();
    if i < lengths.len() {
        let mut k = 0;
        while k < pattern.len() && text[i + k] == pattern[k] {
            k += 1;
        }
        lengths[i] = k as u32;
    }
}

pub(super) fn string_search() -> Result<Program> {
    const N: usize = 1 << 19;
    let mut random = Random(1);
    let text: Vec<u8> = (0..N + 16).map(|_| b"acgt"[random.below(4)]).collect();
    let pattern = text[1000..1012].to_vec();
    let (on_device, pattern_on_device) = (from_slice(&text)?, from_slice(&pattern)?);
    program(
        vec![0; N],
        move |out| matches::launch(in_blocks(N, BLOCK), &on_device, &pattern_on_device, out),
        move |out| {
            for (i, length) in out.iter_mut().enumerate() {
                let mut k = 0;
                while k < pattern.len() && text[i + k] == pattern[k] {
                    k += 1;
                }
                *length = k as u32;
            }
        },
    )
}

/// The number in each field of a text, in which any other character ends a field.
#[kernel]
fn parse(text: &[u8], starts: &[u32], numbers: &mut [i32]) {
    let i = grid::<1>();
    if i < starts.len() {
        let mut at = starts[i] as usize;
        let negative = text[at] == b'-';
        if negative {
            at += 1;
        }
        let mut number = 0;
        while at < text.len() && text[at] >= b'0' && text[at] <= b'9' {
            number = number * 10 + (text[at] - b'0') as i32;
            at += 1;
        }
        numbers[i] = if negative { -number } else { number };
    }
}

pub(super) fn number_parsing() -> Result<Program> {
    const N: usize = 1 << 17;
    let mut random = Random(2);
    let (mut text, mut starts) = (String::new(), Vec::new());
    for _ in 0..N {
        starts.push(text.len() as u32);
        let digits = 1 + random.below(9) as u32;
        let number = random.below(10_usize.pow(digits)) as i64 - i64::from(random.below(2) as u32) * 500;
        text.push_str(&format!("{number},"));
    }
    let text = text.into_bytes();
    let (on_device, starts_on_device) = (from_slice(&text)?, from_slice(&starts)?);
    program(
        vec![0; N],
        move |out| parse::launch(in_blocks(N, BLOCK), &on_device, &starts_on_device, out),
        move |out| {
            for (number, start) in out.iter_mut().zip(&starts) {
                let mut at = *start as usize;
                let negative = text[at] == b'-';
                at += usize::from(negative);
                let mut value = 0;
                while at < text.len() && text[at].is_ascii_digit() {
                    value = value * 10 + i32::from(text[at] - b'0');
                    at += 1;
                }
                *number = if negative { -value } else { value };
            }
        },
    )
}

/// Symbols of a permutation.
const SYMBOLS: usize = 8;

/// The permutation that is `steps` after each given one in lexicographic order.
#[kernel]
fn advance(steps: u32, before: &[u8], after: &mut [u8]) {
    let start = grid::<1>() * SYMBOLS;
    if start < before.len() {
        let mut p = [0; SYMBOLS];
        p.copy_from_slice(&before[start..start + SYMBOLS]);
        for _ in 0..steps {
            let mut i = SYMBOLS - 1;
            while i > 0 && p[i - 1] >= p[i] {
                i -= 1;
            }
            if i > 0 {
                let mut j = SYMBOLS - 1;
                while p[j] <= p[i - 1] {
                    j -= 1;
                }
                p.swap(i - 1, j);
            }
            let (mut low, mut high) = (i, SYMBOLS - 1);
            while low < high {
                p.swap(low, high);
                low += 1;
                high -= 1;
            }
        }
        after[start..start + SYMBOLS].copy_from_slice(&p);
    }
}

pub(super) fn permutations() -> Result<Program> {
    const N: usize = 1 << 14;
    const STEPS: u32 = 8;
    let mut random = Random(3);
    let mut before: Vec<u8> = (0..N * SYMBOLS).map(|i| (i % SYMBOLS) as u8).collect();
    for p in before.chunks_mut(SYMBOLS) {
        (1..SYMBOLS).for_each(|i| p.swap(i, random.below(i + 1)));
    }
    let on_device = from_slice(&before)?;
    program(
        vec![0; N * SYMBOLS],
        move |out| advance::launch(in_blocks(N, BLOCK), STEPS, &on_device, out),
        move |out| {
            out.copy_from_slice(&before);
            for p in out.chunks_mut(SYMBOLS) {
                for _ in 0..STEPS {
                    let mut i = SYMBOLS - 1;
                    while i > 0 && p[i - 1] >= p[i] {
                        i -= 1;
                    }
                    if i > 0 {
                        let mut j = SYMBOLS - 1;
                        while p[j] <= p[i - 1] {
                            j -= 1;
                        }
                        p.swap(i - 1, j);
                    }
                    p[i..].reverse();
                }
            }
        },
    )
}

/// Characters of a sequence that is aligned; threads of its block.
const LENGTH: usize = 64;

/// The cost of replacing a character by another.
const REPLACED: i32 = 2;

/// The score of the best global alignment of each pair of sequences, by Needleman and Wunsch: a block for each pair, a thread for each
/// column, and a barrier for each antidiagonal.
#[kernel]
fn align(first: &[u8], second: &[u8], scores: &mut [i32]) {
    let last = shared!([i32; LENGTH + 1]);
    let before = shared!([i32; LENGTH + 1]);
    let (pair, t) = (block_idx().x, thread_idx().x);
    let own = second[pair * LENGTH + t];
    last[t] = 0;
    before[t] = 0;
    let mut here = 0;
    for d in 0..2 * LENGTH - 1 {
        sync_threads();
        let (mut left, mut above_left) = (0, 0);
        let row = d as i32 - t as i32;
        let inside = row >= 0 && row < LENGTH as i32;
        if inside {
            left = if t == 0 { -(row + 1) } else { last[t - 1] };
            above_left = if t == 0 {
                -row
            } else if row == 0 {
                -(t as i32)
            } else {
                before[t - 1]
            };
        }
        let above = if row == 0 { -(t as i32 + 1) } else { here };
        sync_threads();
        if inside {
            before[t] = above;
            let same = first[pair * LENGTH + row as usize] == own;
            let diagonal = above_left + if same { 1 } else { -REPLACED };
            here = diagonal.max(left - 1).max(above - 1);
            last[t] = here;
        }
    }
    if t == LENGTH - 1 {
        scores[pair] = here;
    }
}

pub(super) fn needleman_wunsch() -> Result<Program> {
    const PAIRS: usize = 256;
    let mut random = Random(4);
    let mut sequence = || (0..PAIRS * LENGTH).map(|_| b"acgt"[random.below(4)]).collect::<Vec<u8>>();
    let (first, second) = (sequence(), sequence());
    let (a, b) = (from_slice(&first)?, from_slice(&second)?);
    program(
        vec![0; PAIRS],
        move |out| align::launch((PAIRS, LENGTH), &a, &b, out),
        move |out| {
            for ((score, first), second) in out.iter_mut().zip(first.chunks(LENGTH)).zip(second.chunks(LENGTH)) {
                let mut row: Vec<i32> = (0..=LENGTH as i32).map(|i| -i).collect();
                for (i, a) in first.iter().enumerate() {
                    let mut above_left = row[0];
                    row[0] = -(i as i32 + 1);
                    for (j, b) in second.iter().enumerate() {
                        let diagonal = above_left + if a == b { 1 } else { -REPLACED };
                        above_left = row[j + 1];
                        row[j + 1] = diagonal.max(row[j] - 1).max(row[j + 1] - 1);
                    }
                }
                *score = row[LENGTH];
            }
        },
    )
}

/// The checksum of each record, by Adler.
#[kernel]
fn checksums(data: &[u8], length: usize, sums: &mut [u32]) {
    let i = grid::<1>();
    if i < sums.len() {
        let (mut a, mut b) = (1, 0);
        for k in 0..length {
            a = (a + data[i * length + k] as u32) % 65521;
            b = (b + a) % 65521;
        }
        sums[i] = b << 16 | a;
    }
}

pub(super) fn checksum() -> Result<Program> {
    const N: usize = 1 << 13;
    const RECORD: usize = 64;
    let mut random = Random(5);
    let data: Vec<u8> = (0..N * RECORD).map(|_| random.below(256) as u8).collect();
    let on_device = from_slice(&data)?;
    program(
        vec![0; N],
        move |out| checksums::launch(in_blocks(N, BLOCK), &on_device, RECORD, out),
        move |out| {
            for (sum, record) in out.iter_mut().zip(data.chunks(RECORD)) {
                let (mut a, mut b) = (1, 0);
                for byte in record {
                    a = (a + u32::from(*byte)) % 65521;
                    b = (b + a) % 65521;
                }
                *sum = b << 16 | a;
            }
        },
    )
}
