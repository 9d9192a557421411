//! `char`: a number on the device, compared, matched and converted as on the host.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{device, kernel};

const SHARP_S: char = 'ß';
const VOWELS: [char; 3] = ['a', 'e', '\u{1F600}'];

#[device]
fn kind(c: char) -> u32 {
    match c {
        'a'..='z' => 1,
        'A' | 'B' => 2,
        '0'..='9' => 3,
        '\n' => 4,
        SHARP_S => 5,
        _ => 0,
    }
}

#[kernel]
fn characters(text: &[u8], bound: char, last: Option<char>, out: &mut [u32]) {
    let i = grid::<1>();
    if i >= text.len() {
        return;
    }
    let c = text[i] as char;
    let pair = (char::from(text[i]), Some(SHARP_S));
    let mut found = 0;
    for vowel in VOWELS {
        if vowel == c {
            found = 1;
        }
    }
    let is_last = if let Some(last) = last { last == c } else { false };
    out[i] = kind(c) + 10 * (c < bound) as u32 + 100 * (pair.0 != c) as u32 + 1000 * found + 10_000 * is_last as u32;
    out[i] += u32::from(VOWELS[2]);
    if let Some(c) = pair.1 {
        out[i] += kind(c);
    }
    out[i] ^= (VOWELS[2] as u8 as u32) << 24;
}

#[test]
fn characters_are_numbers() {
    let text = b"aZ7\nB\xDFe~";
    for (bound, last) in [('b', None), ('\u{10FFFF}', Some('e'))] {
        differ!(characters, (1, 32), [&text[..], bound, last], vec![0u32; 8]);
    }
}

const GREETING: [u8; 5] = *b"hello";

#[device]
fn method(line: &[u8]) -> u32 {
    match line {
        b"GET" => 1,
        b"PUT" | b"POST" => 2,
        [b'D', ..] => 3,
        b"" => 4,
        _ => 5,
    }
}

/// The position of a needle in a text.
#[device]
fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}

#[kernel]
fn byte_strings(lines: &[[u8; 4]], out: &mut [u32]) {
    let i = grid::<1>();
    if i >= lines.len() {
        return;
    }
    let line = lines[i].trim_ascii();
    let mut sum = 0;
    for byte in b"abc\x00\xFF" {
        sum = sum * 31 + *byte as u32;
    }
    let word = b"pear";
    let hex = b"0123456789abcdef"[i % 16] as char;
    let (first, rest) = b"xy".split_first().unwrap();
    out[i] = method(line) + 10 * (line == b"PUT") as u32 + 100 * find(word, b"ar").unwrap_or(9) as u32;
    out[i] = out[i].wrapping_mul(31) ^ sum ^ hex.to_digit(16).unwrap_or(77) << 9;
    out[i] += word[i % 4] as u32 + (*first + rest[0]) as u32 + GREETING[i % 5] as u32 + b"".len() as u32;
    if let (b"GET", 0) = (line, i % 3) {
        out[i] ^= 1 << 30;
    }
    let Some(b"ET") = line.get(1..3) else { return };
    out[i] ^= 1 << 29;
}

#[test]
fn byte_strings_are_arrays() {
    let lines = [*b"GET ", *b"PUT\n", *b"POST", *b"DO  ", *b"    ", *b" GET", *b"SET ", *b"get "];
    differ!(byte_strings, (1, 32), [&lines[..]], vec![0u32; 8]);
}

#[kernel]
fn swapped(words: &[[u8; 4]], out: &mut [u64]) {
    let i = grid::<1>();
    if i < words.len() && i < out.len() {
        let bytes = (u32::from_be_bytes(words[i]) as u64 * 0x0101_0101).to_be_bytes();
        out[i] = u64::from_ne_bytes(bytes) ^ bytes[1] as u64;
    }
}

#[test]
fn bytes_of_numbers_stay_in_registers() {
    let words = [[1, 2, 3, 4], [0xFF, 0, 0x80, 7]];
    differ!(swapped, (1, 2), [&words[..]], vec![0u64; 2]);
    let ptx = swapped::compile_ptx((8, 0)).unwrap();
    assert!(!ptx.contains(".local"), "{ptx}");
}
