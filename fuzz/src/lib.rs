//! The mutator of the targets: mutates PTX by tokens and statements, so that most mutated texts still parse.
//!
//! Half of the mutations are libFuzzer's own. The others replace a part of the text (a token, a suffix of an instruction's
//! name, a statement) by another of the same kind, from the same text or from [`WORDS`].

use libfuzzer_sys::fuzzer_mutate;
use std::ops::Range;

/// Suffixes and numbers that are inserted anywhere.
const WORDS: &[&str] = &[
    ".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".f16",
    ".f16x2", ".bf16", ".bf16x2", ".f32", ".f64", ".pred", ".rn", ".rz", ".rm", ".rp", ".ftz", ".sat", ".lo", ".hi",
    ".wide", ".approx", ".global", ".shared", ".local", ".const", ".param", ".v2", ".v4", ".v8", ".volatile", ".relaxed",
    ".acquire", ".release", ".gpu", ".sys", ".cta", ".cas", ".exch", ".add", ".inc", ".min", ".max", ".and", ".or",
    ".xor", ".sync", ".aligned", ".uni", ".idx", ".cc", ".to", "0", "1", "-1", "31", "32", "33", "255", "4096", "65536",
    "0x7fffffff", "0x80000000", "0xffffffff", "4294967296", "0x7fffffffffffffff", "0xffffffffffffffff", "0f00000000",
    "0f7F800000", "0f7FC00000", "0d0000000000000000", "0d7FF0000000000000", "bar.sync 0;", "ret;", "exit;", "trap;",
    "{", "}", "@%p1 ", "@!%p1 ", "_", "WARP_SZ", "%tid.x", "%laneid", "%clock64", "%r1", "%rd1", "%p1",
];

/// A sequence of pseudo-random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n.max(1) as u64) as usize
    }
}

/// The kind of a token, by its first byte; a token is replaced only by one of the same kind.
fn kind(token: &str) -> u8 {
    match token.as_bytes()[0] {
        b'0'..=b'9' => b'0',
        b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => b'a',
        other => other,
    }
}

/// The ranges of words, names, suffixes and punctuation.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b':');
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        at += 1;
        if bytes[start].is_ascii_whitespace() || !bytes[start].is_ascii() {
            continue;
        }
        if word(bytes[start]) || matches!(bytes[start], b'.' | b'%') {
            while at < bytes.len() && word(bytes[at]) {
                at += 1;
            }
        }
        found.push(start..at);
    }
    found
}

/// The ranges of statements, including their `;`.
fn statements(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let ends = text.bytes().enumerate().filter(|(_, b)| matches!(b, b';' | b'{' | b'}' | b':')).map(|(at, _)| at + 1);
    ends.map(|end| std::mem::replace(&mut start, end)..end).collect()
}

fn change(text: &mut String, random: &mut Random) {
    let all = if random.below(3) == 0 { statements(text) } else { tokens(text) };
    if all.is_empty() {
        return;
    }
    let at = all[random.below(all.len())].clone();
    let other = text[all[random.below(all.len())].clone()].to_owned();
    match random.below(8) {
        0 => text.replace_range(at, ""),
        1 => text.insert_str(at.start, &other),
        2 => text.insert_str(at.end, WORDS[random.below(WORDS.len())]),
        3 => text.replace_range(at, WORDS[random.below(WORDS.len())]),
        4 => text.replace_range(at, &other),
        _ => {
            let wanted = kind(&text[at.clone()]);
            let own = all.iter().map(|range| &text[range.clone()]);
            let alike: Vec<&str> = own.chain(WORDS.iter().copied()).filter(|word| kind(word) == wanted).collect();
            let new = alike[random.below(alike.len())].to_owned();
            text.replace_range(at, &new);
        }
    }
}

/// Mutates `data[..size]` and returns the new size.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Random(u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let Ok(text) = std::str::from_utf8(&data[..size]) else { return fuzzer_mutate(data, size, max_size) };
    if random.below(2) == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut text = text.to_owned();
    for _ in 0..=random.below(4) {
        change(&mut text, &mut random);
    }
    let size = text.len().min(max_size);
    data[..size].copy_from_slice(&text.as_bytes()[..size]);
    size
}
