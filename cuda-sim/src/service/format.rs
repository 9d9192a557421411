//! `printf` formats: each conversion takes its argument from packed memory and is formatted by the C library.
//!
//! # Safety
//!
//! Every call of `snprintf` passes one conversion whose form was checked, and one argument of the type that it
//! specifies.

use super::{bytes, text};
use std::ffi::{CString, c_char, c_int};

/// The limit on field width and precision.
const MAX_WIDTH: i32 = 4096;

/// Packed arguments, each aligned to its size.
struct Arguments {
    at: u64,
    count: i32,
}

impl Arguments {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.at = self.at.next_multiple_of(N as u64);
        let value = bytes::<N>(self.at)?;
        self.at += N as u64;
        self.count += 1;
        Some(value)
    }

    fn int(&mut self) -> Option<i32> {
        self.take().map(i32::from_le_bytes)
    }
}

/// One conversion of a format.
#[derive(Default)]
struct Conversion {
    /// Flags, width and precision as C writes them.
    spec: String,
    /// The numbers of `h` and `l` before the conversion letter.
    short: u8,
    long: u8,
}

/// Parses a conversion after its `%`; returns it and its letter.
fn conversion(rest: &mut std::slice::Iter<'_, u8>, arguments: &mut Arguments) -> Option<(Conversion, u8)> {
    let mut c = Conversion::default();
    loop {
        match *rest.next()? {
            flag @ (b'-' | b'+' | b' ' | b'#' | b'0'..=b'9' | b'.') => c.spec.push(char::from(flag)),
            b'*' => {
                let width = arguments.int()?.clamp(-MAX_WIDTH, MAX_WIDTH);
                // A negative precision counts as none.
                if c.spec.ends_with('.') && width < 0 {
                    c.spec.pop();
                } else {
                    c.spec.push_str(&width.to_string());
                }
            }
            b'h' => c.short += 1,
            b'l' => c.long += 1,
            b'j' | b'z' | b't' => c.long = 2,
            letter => return Some((c, letter)),
        }
    }
}

/// Returns false for a width or precision that is too large and is dropped: the C library would fill memory with
/// blanks.
fn is_modest(spec: &str) -> bool {
    spec.split(|c: char| !c.is_ascii_digit()).all(|n| n.is_empty() || n.parse::<i32>().is_ok_and(|n| n <= MAX_WIDTH))
}

macro_rules! written {
    ($spec:expr, $argument:expr) => {{
        let spec = CString::new($spec).ok()?;
        let mut buffer = vec![0u8; 1 << 14];
        let (to, room) = (buffer.as_mut_ptr().cast::<c_char>(), buffer.len());
        let length;
        // SAFETY: the buffer has `room` bytes; the format is one conversion for the type of the argument.
        unsafe { length = libc::snprintf(to, room, spec.as_ptr(), $argument) };
        buffer.truncate(usize::try_from(length).unwrap_or(0).min((1 << 14) - 1));
        buffer
    }};
}

fn convert(c: &Conversion, letter: u8, arguments: &mut Arguments) -> Option<Vec<u8>> {
    let (spec, name) = (if is_modest(&c.spec) { c.spec.as_str() } else { "" }, char::from(letter));
    Some(match letter {
        b'%' => b"%".to_vec(),
        b'd' | b'i' if c.long > 0 => written!(format!("%{spec}ll{name}"), i64::from_le_bytes(arguments.take()?)),
        b'd' | b'i' => {
            let value = arguments.int()?;
            let value = match c.short {
                0 => value,
                1 => i32::from(value as i16),
                _ => i32::from(value as i8),
            };
            written!(format!("%{spec}{name}"), value as c_int)
        }
        b'u' | b'o' | b'x' | b'X' if c.long > 0 => {
            written!(format!("%{spec}ll{name}"), u64::from_le_bytes(arguments.take()?))
        }
        b'u' | b'o' | b'x' | b'X' => {
            let value = arguments.int()? as u32;
            let value = match c.short {
                0 => value,
                1 => u32::from(value as u16),
                _ => u32::from(value as u8),
            };
            written!(format!("%{spec}{name}"), value)
        }
        b'c' => written!(format!("%{spec}c"), arguments.int()? as c_int),
        b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
            written!(format!("%{spec}{name}"), f64::from_le_bytes(arguments.take()?))
        }
        b'p' => {
            let address = u64::from_le_bytes(arguments.take()?);
            written!(format!("%{spec}p"), std::ptr::without_provenance::<u8>(address as usize))
        }
        b's' => {
            let address = u64::from_le_bytes(arguments.take()?);
            let value = if address == 0 { b"(null)".to_vec() } else { text(address)? };
            let value = CString::new(value).ok()?;
            if spec.is_empty() { value.into_bytes() } else { written!(format!("%{spec}s"), value.as_ptr()) }
        }
        // Not a conversion: printed as it is.
        other => [b"%", spec.as_bytes(), &[other]].concat(),
    })
}

/// Formats a text and returns it with the number of arguments; `None` if memory that it refers to cannot be read.
pub(super) fn format(format: &[u8], arguments: u64) -> Option<(Vec<u8>, i32)> {
    let mut arguments = Arguments { at: arguments, count: 0 };
    let mut out = Vec::with_capacity(format.len() + 32);
    let mut rest = format.iter();
    while let Some(&byte) = rest.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        if rest.as_slice().is_empty() {
            out.push(b'%');
            break;
        }
        let Some((c, letter)) = conversion(&mut rest, &mut arguments) else { break };
        out.extend(convert(&c, letter, &mut arguments)?);
    }
    Some((out, arguments.count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{AllocationKind, MEMORY};

    fn formatted(pattern: &str, packed: &[u8]) -> Option<(String, i32)> {
        let base = MEMORY.alloc(packed.len() as u64, AllocationKind::Device).unwrap();
        // SAFETY: the allocation is new and as long as the bytes.
        unsafe { std::ptr::copy_nonoverlapping(packed.as_ptr(), base as *mut u8, packed.len()) };
        let result = format(pattern.as_bytes(), base);
        MEMORY.free(base, |_| true).unwrap();
        result.map(|(text, count)| (String::from_utf8(text).unwrap(), count))
    }

    #[test]
    fn conversions_take_aligned_arguments() {
        let mut packed = Vec::new();
        packed.extend((-7i32).to_le_bytes());
        packed.extend([0; 4]);
        packed.extend(2.5f64.to_le_bytes());
        packed.extend(65u32.to_le_bytes());
        packed.extend([0; 4]);
        packed.extend((1u64 << 40).to_le_bytes());
        let (text, count) = formatted("%5d|%-8.3f|%c|%llx|%%|%q", &packed).unwrap();
        assert_eq!(text, "   -7|2.500   |A|10000000000|%|%q");
        assert_eq!(count, 4);
    }

    #[test]
    fn widths_from_arguments_and_huge_ones() {
        let packed: Vec<u8> = [6i32, 42, 3, 9].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(formatted("%*d,%-*d.", &packed).unwrap().0, "    42,9  .");
        assert_eq!(formatted("%99999999d", &packed).unwrap().0, "6");
    }

    #[test]
    fn arguments_that_are_not_there() {
        assert_eq!(format(b"%d", 16), None);
        assert_eq!(format(b"no arguments", 0), Some((b"no arguments".to_vec(), 0)));
    }
}
