//! The encoding of values as bytes, and the decoding.
//!
//! Numbers are encoded in groups of seven bits, the lowest first, where the eighth bit marks that more follow. Texts and
//! lists begin with their lengths, optional values with a 0 or 1. The encoding has no type tags: encoder and decoder agree
//! by the table of nodes and [`VERSION`](crate::VERSION). Invariant: whatever the bytes, decoding returns a value or
//! `None`. It neither panics nor takes more memory than a constant times the number of bytes.

use std::fmt;

use crate::stack::ensure_sufficient_stack;

/// A value that can be encoded as bytes.
///
/// Nothing unsafe relies on an implementation: this crate has no unsafe code, and a damaged encoding is a panic.
///
/// # Examples
///
/// ```
/// use cuda_jit_syntax::code::Encode;
///
/// let mut code = Vec::new();
/// 300_u32.encode(&mut code);
/// assert_eq!(code, [0b1010_1100, 0b10]); // seven bits each, the lowest first
/// ```
pub trait Encode {
    /// Appends the value.
    fn encode(&self, code: &mut Vec<u8>);
}

/// A value that can be decoded.
///
/// Nothing unsafe relies on an implementation: this crate has no unsafe code, and a damaged encoding is a panic.
///
/// # Examples
///
/// ```
/// use cuda_jit_syntax::code::{Code, Decode};
///
/// let mut code = Code { bytes: &[0b1010_1100, 0b10, 7], names: &[] };
/// assert_eq!(u32::decode(&mut code), Some(300));
/// assert_eq!(code.bytes, [7]);
/// ```
pub trait Decode: Sized {
    /// Decodes a value from the front; `None` if there is none.
    fn decode(code: &mut Code) -> Option<Self>;
}

/// The rest of an encoding.
///
/// # Examples
///
/// ```
/// use cuda_jit_syntax::code::{Code, Decode};
///
/// let mut code = Code { bytes: &[0x80], names: &[] };
/// assert_eq!(u32::decode(&mut code), None); // it says that more follow
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The bytes.
    pub bytes: &'static [u8],
    /// Numbers that rustc resolves and a macro cannot: the encoded value `2^32 + n` means the number at index `n`.
    pub names: &'static [u32],
}

macro_rules! numbers {
    ($($number:ident)*) => { $(
        impl Encode for $number {
            fn encode(&self, code: &mut Vec<u8>) {
                let mut rest = *self;
                while rest >= 0x80 {
                    code.push(rest as u8 | 0x80);
                    rest >>= 7;
                }
                code.push(rest as u8);
            }
        }

        impl Decode for $number {
            fn decode(code: &mut Code) -> Option<Self> {
                let mut value = 0;
                for shift in (0..$number::BITS).step_by(7) {
                    let byte = u8::decode(code)?;
                    let bits = $number::from(byte & 0x7f);
                    if bits << shift >> shift != bits {
                        return None;
                    }
                    value |= bits << shift;
                    if byte < 0x80 {
                        return Some(value);
                    }
                }
                None
            }
        }
    )* };
}

numbers! { u64 u128 }

impl Encode for u8 {
    fn encode(&self, code: &mut Vec<u8>) {
        code.push(*self);
    }
}

impl Decode for u8 {
    fn decode(code: &mut Code) -> Option<Self> {
        let (first, rest) = code.bytes.split_first()?;
        code.bytes = rest;
        Some(*first)
    }
}

impl Encode for u32 {
    fn encode(&self, code: &mut Vec<u8>) {
        u64::from(*self).encode(code);
    }
}

impl Decode for u32 {
    fn decode(code: &mut Code) -> Option<Self> {
        let number = u64::decode(code)?;
        u32::try_from(number).ok().or_else(|| code.names.get(usize::try_from(number - FIRST_ANSWER).ok()?).copied())
    }
}

/// The encoding of index 0 of [`Code::names`].
const FIRST_ANSWER: u64 = 1 << 32;

/// The number of a binding or loop at its use, as the macros know it: the number itself, or an index into [`Code::names`].
///
/// # Examples
///
/// ```
/// use cuda_jit_syntax::code::Name;
///
/// assert_ne!(Name::answer(3), Name::from(3));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name(u64);

impl Name {
    /// The number at this index of [`Code::names`].
    pub fn answer(index: u32) -> Self {
        Name(FIRST_ANSWER + u64::from(index))
    }
}

impl From<u32> for Name {
    fn from(number: u32) -> Self {
        Name(number.into())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Encode for Name {
    fn encode(&self, code: &mut Vec<u8>) {
        self.0.encode(code);
    }
}

impl Decode for Name {
    fn decode(code: &mut Code) -> Option<Self> {
        u32::decode(code).map(Name::from)
    }
}

impl Encode for bool {
    fn encode(&self, code: &mut Vec<u8>) {
        code.push(u8::from(*self));
    }
}

impl Decode for bool {
    fn decode(code: &mut Code) -> Option<Self> {
        match u8::decode(code)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Encode, const N: usize> Encode for [T; N] {
    fn encode(&self, code: &mut Vec<u8>) {
        self.iter().for_each(|element| element.encode(code));
    }
}

impl<const N: usize> Decode for [u32; N] {
    fn decode(code: &mut Code) -> Option<Self> {
        let mut elements = [0; N];
        for element in &mut elements {
            *element = u32::decode(code)?;
        }
        Some(elements)
    }
}

impl<A: Encode, B: Encode> Encode for (A, B) {
    fn encode(&self, code: &mut Vec<u8>) {
        self.0.encode(code);
        self.1.encode(code);
    }
}

impl<A: Decode, B: Decode> Decode for (A, B) {
    fn decode(code: &mut Code) -> Option<Self> {
        Some((A::decode(code)?, B::decode(code)?))
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, code: &mut Vec<u8>) {
        self.is_some().encode(code);
        if let Some(value) = self {
            value.encode(code);
        }
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(code: &mut Code) -> Option<Self> {
        Some(match bool::decode(code)? {
            true => Some(T::decode(code)?),
            false => None,
        })
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self, code: &mut Vec<u8>) {
        (**self).encode(code);
    }
}

/// Leaks the value, so that it lives as long as the process.
impl<T: Decode> Decode for &'static T {
    fn decode(code: &mut Code) -> Option<Self> {
        Some(Box::leak(Decode::decode(code)?))
    }
}

impl<T: Encode> Encode for Box<T> {
    fn encode(&self, code: &mut Vec<u8>) {
        (**self).encode(code);
    }
}

/// Nodes nest through boxes and lists.
impl<T: Decode> Decode for Box<T> {
    fn decode(code: &mut Code) -> Option<Self> {
        ensure_sufficient_stack(|| T::decode(code)).map(Box::new)
    }
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, code: &mut Vec<u8>) {
        (self.len() as u64).encode(code);
        self.iter().for_each(|element| element.encode(code));
    }
}

/// Leaks the list, so that it lives as long as the process.
impl<T: Decode> Decode for &'static [T] {
    fn decode(code: &mut Code) -> Option<Self> {
        Vec::decode(code).map(|elements| &*elements.leak())
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, code: &mut Vec<u8>) {
        self.as_slice().encode(code);
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(code: &mut Code) -> Option<Self> {
        let length = u64::decode(code)?;
        ensure_sufficient_stack(|| (0..length).map(|_| T::decode(code)).collect())
    }
}

impl Encode for str {
    fn encode(&self, code: &mut Vec<u8>) {
        (self.len() as u64).encode(code);
        code.extend_from_slice(self.as_bytes());
    }
}

/// Borrows the text from the encoding.
impl Decode for &'static str {
    fn decode(code: &mut Code) -> Option<Self> {
        let length = usize::try_from(u64::decode(code)?).ok()?;
        let (text, rest) = code.bytes.split_at_checked(length)?;
        code.bytes = rest;
        std::str::from_utf8(text).ok()
    }
}

impl Encode for String {
    fn encode(&self, code: &mut Vec<u8>) {
        self.as_str().encode(code);
    }
}

impl Decode for String {
    fn decode(code: &mut Code) -> Option<Self> {
        <&str>::decode(code).map(str::to_owned)
    }
}
