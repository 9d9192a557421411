//! Methods of bytes and characters that look at ASCII, and the conversions of characters from and to digits.

use crate::device;
use crate::typeinfo::operation::operations;
use crate::typeinfo::{Callee, DeviceType, Operation, Returned};

/// A byte or a character.
///
/// Nothing unsafe relies on an implementation: the compiler converts numbers, and a character is one.
pub trait Text: Copy + DeviceType {}

impl Text for u8 {}
impl Text for char {}

operations! {
    /// The byte or the code point as a number.
    code[T: Text](T) -> u32 => Operation::Cast;
    /// The byte or the character with a code, which must be valid.
    of_code[T: Text](u32) -> T => Operation::Cast;
}

/// Defines functions that test a code.
macro_rules! tests {
    ($($(#[$doc:meta])* $name:ident: |$code:ident| $test:expr;)*) => { $(
        $(#[$doc])*
        #[device(library)]
        pub fn $name<T: Text>(x: &T) -> bool {
            let $code = code(*x);
            $test
        }
    )* };
}

tests! {
    /// Returns true for ASCII.
    is_ascii: |code| code < 0x80;
    /// Returns true for a letter.
    is_ascii_alphabetic: |code| (code | 0x20).wrapping_sub(0x61) < 26;
    /// Returns true for a letter or a decimal digit.
    is_ascii_alphanumeric: |code| ((code | 0x20).wrapping_sub(0x61) < 26) | (code.wrapping_sub(0x30) < 10);
    /// Returns true for a control character.
    is_ascii_control: |code| (code < 0x20) | (code == 0x7F);
    /// Returns true for a decimal digit.
    is_ascii_digit: |code| code.wrapping_sub(0x30) < 10;
    /// Returns true for what is visible.
    is_ascii_graphic: |code| code.wrapping_sub(0x21) < 94;
    /// Returns true for a hexadecimal digit.
    is_ascii_hexdigit: |code| (code.wrapping_sub(0x30) < 10) | ((code | 0x20).wrapping_sub(0x61) < 6);
    /// Returns true for a lower-case letter.
    is_ascii_lowercase: |code| code.wrapping_sub(0x61) < 26;
    /// Returns true for what is visible and neither letter nor digit.
    is_ascii_punctuation: |code| (code.wrapping_sub(0x21) < 94)
        & !(((code | 0x20).wrapping_sub(0x61) < 26) | (code.wrapping_sub(0x30) < 10));
    /// Returns true for an upper-case letter.
    is_ascii_uppercase: |code| code.wrapping_sub(0x41) < 26;
    /// Returns true for a space, tab, line feed, form feed or carriage return.
    is_ascii_whitespace: |code| (code == 0x20) | (code == 0x09) | (code == 0x0A) | (code == 0x0C) | (code == 0x0D);
}

/// The upper-case letter of a lower-case one; others as they are.
#[device(library)]
pub fn to_ascii_uppercase<T: Text>(x: &T) -> T {
    of_code::<T>(code(*x) ^ ((is_ascii_lowercase(x) as u32) << 5))
}

/// The lower-case letter of an upper-case one; others as they are.
#[device(library)]
pub fn to_ascii_lowercase<T: Text>(x: &T) -> T {
    of_code::<T>(code(*x) ^ ((is_ascii_uppercase(x) as u32) << 5))
}

/// Makes a lower-case letter upper-case.
#[device(library)]
pub fn make_ascii_uppercase<T: Text>(x: &mut T) {
    *x = of_code::<T>(code(*x) ^ ((code(*x).wrapping_sub(0x61) < 26) as u32) << 5);
}

/// Makes an upper-case letter lower-case.
#[device(library)]
pub fn make_ascii_lowercase<T: Text>(x: &mut T) {
    *x = of_code::<T>(code(*x) ^ ((code(*x).wrapping_sub(0x41) < 26) as u32) << 5);
}

/// Returns true for the same letter in either case, and for equal codes.
#[device(library)]
pub fn eq_ignore_ascii_case<T: Text>(x: &T, other: &T) -> bool {
    code(to_ascii_lowercase(x)) == code(to_ascii_lowercase(other))
}

/// The value of a digit in radix 36, letters in either case; 36 if the character is no digit.
#[device(library)]
fn digit_value(x: char) -> u32 {
    let decimal = (x as u32).wrapping_sub(0x30);
    let letter = (x as u32 | 0x20).wrapping_sub(0x61);
    if decimal < 10 {
        decimal
    } else if letter < 26 {
        letter + 10
    } else {
        36
    }
}

/// The value of a digit.
#[device(library)]
#[track_caller]
pub fn to_digit(x: char, radix: u32) -> Option<u32> {
    if radix.wrapping_sub(2) > 34 {
        panic!("to_digit: invalid radix -- radix must be in the range 2 to 36 inclusive");
    }
    let value = digit_value(x);
    if value < radix { Some(value) } else { None }
}

/// Returns true for a digit.
#[device(library)]
#[track_caller]
pub fn is_digit(x: char, radix: u32) -> bool {
    to_digit(x, radix).is_some()
}

/// The digit with a value.
#[device(library)]
#[track_caller]
pub fn from_digit(value: u32, radix: u32) -> Option<char> {
    if radix > 36 {
        panic!("from_digit: radix is too high (maximum 36)");
    }
    if value >= radix {
        return None;
    }
    Some(of_code::<char>(value + if value < 10 { 0x30 } else { 0x57 }))
}

/// The character with a code point, if it has one.
#[device(library)]
pub fn from_u32(code: u32) -> Option<char> {
    if (code > 0x10_FFFF) | (code.wrapping_sub(0xD800) < 0x800) { None } else { Some(of_code::<char>(code)) }
}

/// The number of bytes in UTF-8.
#[device(library)]
pub fn len_utf8(x: char) -> usize {
    let code = x as u32;
    1 + (code >= 0x80) as usize + (code >= 0x800) as usize + (code >= 0x1_0000) as usize
}

/// The number of 16-bit units in UTF-16.
#[device(library)]
pub fn len_utf16(x: char) -> usize {
    1 + (x as u32 >= 0x1_0000) as usize
}

/// The hidden methods of bytes and characters.
///
/// Nothing unsafe relies on an implementation.
pub trait TextCodes: Text {
    cuda_jit_macros::device_methods! {
        fn eq_ignore_ascii_case(&self, other: &Self) -> bool = eq_ignore_ascii_case<Self>;
        fn is_ascii(&self) -> bool = is_ascii<Self>;
        fn is_ascii_alphabetic(&self) -> bool = is_ascii_alphabetic<Self>;
        fn is_ascii_alphanumeric(&self) -> bool = is_ascii_alphanumeric<Self>;
        fn is_ascii_control(&self) -> bool = is_ascii_control<Self>;
        fn is_ascii_digit(&self) -> bool = is_ascii_digit<Self>;
        fn is_ascii_graphic(&self) -> bool = is_ascii_graphic<Self>;
        fn is_ascii_hexdigit(&self) -> bool = is_ascii_hexdigit<Self>;
        fn is_ascii_lowercase(&self) -> bool = is_ascii_lowercase<Self>;
        fn is_ascii_punctuation(&self) -> bool = is_ascii_punctuation<Self>;
        fn is_ascii_uppercase(&self) -> bool = is_ascii_uppercase<Self>;
        fn is_ascii_whitespace(&self) -> bool = is_ascii_whitespace<Self>;
        fn make_ascii_lowercase(&mut self) = make_ascii_lowercase<Self>;
        fn make_ascii_uppercase(&mut self) = make_ascii_uppercase<Self>;
        fn to_ascii_lowercase(&self) -> Self = to_ascii_lowercase<Self>;
        fn to_ascii_uppercase(&self) -> Self = to_ascii_uppercase<Self>;
    }
}

impl TextCodes for u8 {}
impl TextCodes for char {}

/// The hidden methods of characters.
///
/// Nothing unsafe relies on an implementation.
pub trait CharMethods: Sized {
    cuda_jit_macros::device_methods! {
        fn from_digit(value: u32, radix: u32) -> Option<char> = from_digit;
        fn from_u32(code: u32) -> Option<char> = from_u32;
        fn is_digit(self, radix: u32) -> bool = is_digit;
        fn len_utf16(self) -> usize = len_utf16;
        fn len_utf8(self) -> usize = len_utf8;
        fn to_digit(self, radix: u32) -> Option<u32> = to_digit;
    }
}

impl CharMethods for char {}
