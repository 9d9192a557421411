//! Bytes, characters and slices of bytes.

use super::*;

/// A byte, mostly one of ASCII.
#[device]
fn byte(v: u64) -> u8 {
    if v % 8 == 0 { (v >> 9) as u8 } else { (v >> 9) as u8 & 127 }
}

/// A character of any length in UTF-8, mostly one of ASCII.
#[device]
fn character(v: u64) -> char {
    let code = match v % 8 {
        0 => (v >> 9) % 0xD800,
        1 => 0xE000 + (v >> 9) % 0x10_2000,
        _ => v >> 9 & 127,
    };
    char::from_u32(code as u32).unwrap_or('?')
}

methods! {
    for [u32] |x, log, also| {
        let (b, mut also_b, c, mut also_c) = (byte(x[0]), byte(x[0] ^ (x[1] & 32) << 9), character(x[0]), character(x[2]));
    }
    mod codes {
        is_ascii: b.is_ascii(), c.is_ascii();
        is_ascii_alphabetic: b.is_ascii_alphabetic(), c.is_ascii_alphabetic();
        is_ascii_alphanumeric: b.is_ascii_alphanumeric(), c.is_ascii_alphanumeric();
        is_ascii_control: b.is_ascii_control(), c.is_ascii_control();
        is_ascii_digit: b.is_ascii_digit(), c.is_ascii_digit();
        is_ascii_graphic: b.is_ascii_graphic(), c.is_ascii_graphic();
        is_ascii_hexdigit: b.is_ascii_hexdigit(), c.is_ascii_hexdigit();
        is_ascii_lowercase: b.is_ascii_lowercase(), c.is_ascii_lowercase();
        is_ascii_punctuation: b.is_ascii_punctuation(), c.is_ascii_punctuation();
        is_ascii_uppercase: b.is_ascii_uppercase(), c.is_ascii_uppercase();
        is_ascii_whitespace: b.is_ascii_whitespace(), c.is_ascii_whitespace();
        to_ascii_lowercase: b.to_ascii_lowercase(), c.to_ascii_lowercase();
        to_ascii_uppercase: b.to_ascii_uppercase(), c.to_ascii_uppercase();
        make_ascii_lowercase: { also_b.make_ascii_lowercase(); also_c.make_ascii_lowercase(); (also_b, also_c) };
        make_ascii_uppercase: { also_b.make_ascii_uppercase(); also_c.make_ascii_uppercase(); (also_b, also_c) };
        eq_ignore_ascii_case: b.eq_ignore_ascii_case(&also_b), c.eq_ignore_ascii_case(&also_c);
    }
}

methods! {
    for [u32] |x, log, also| {
        let (c, radix) = (character(x[0]), 2 + (x[1] % 35) as u32);
        let codes = [(x[2] % 0x11_2000) as u32, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0x10_FFFF, 0x11_0000, x[2] as u32];
    }
    mod characters {
        to_digit: c.to_digit(radix), c.to_digit(10), c.to_digit(16);
        is_digit: c.is_digit(radix), c.is_digit(10);
        from_digit: char::from_digit((x[2] % 40) as u32, radix), char::from_digit(x[2] as u32, radix);
        from_u32: codes.map(char::from_u32);
        len_utf8: c.len_utf8();
        len_utf16: c.len_utf16();
    }
}

methods! {
    for [u32] |x, log, also| {
        let mut bytes = x[0].to_le_bytes().map(|v| if v < 160 { b" a\tB\n\xFF b"[v as usize % 8] } else { v & 127 });
        let other = [0, 1, 2, 3, 4, 5, 6, 7].map(|k| bytes[k] ^ (x[1] >> (8 * k)) as u8 & 32);
        let n = (x[1] >> 12) as usize % 9;
    }
    mod slices {
        is_ascii: bytes.is_ascii(), bytes[n..].is_ascii();
        eq_ignore_ascii_case: bytes.eq_ignore_ascii_case(&other), bytes[n..].eq_ignore_ascii_case(&other[n / 2..]);
        make_ascii_lowercase: { bytes[..n].make_ascii_lowercase(); bytes };
        make_ascii_uppercase: { bytes[..n].make_ascii_uppercase(); bytes };
        trim_ascii_start: hash(bytes.trim_ascii_start()), hash(bytes[..n].trim_ascii_start());
        trim_ascii_end: hash(bytes.trim_ascii_end()), hash(bytes[..n].trim_ascii_end());
        trim_ascii: hash(bytes.trim_ascii()), hash(bytes[..n].trim_ascii());
    }
}
