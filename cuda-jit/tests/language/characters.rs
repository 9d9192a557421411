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
