//! Iterators over ranges of integers and of `char`.
//!
//! # Safety
//!
//! The only unsafe code tells the compiler that the fields of a range with its end are those of [`Ends`].

use std::ops::{Range, RangeFrom, RangeInclusive};

use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIterator, RangeBound};
use crate::device;
use crate::device::library::{Ends, char_of, ends, ends_mut};
use crate::library::structs::device_struct;
use crate::typeinfo::DeviceType;

/// A type of consecutive values.
///
/// The steps wrap at the type's limits, except for [`checked_forward`](Step::checked_forward).
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait Step: Copy + PartialOrd + DeviceType {
    /// The next value.
    fn successor(self) -> Self;

    /// The previous value.
    fn predecessor(self) -> Self;

    /// The value `n` steps ahead.
    fn forward(self, n: usize) -> Self;

    /// The value `n` steps back.
    fn backward(self, n: usize) -> Self;

    /// The value `n` steps ahead. Overflow panics like that of `+`.
    fn checked_forward(self, n: usize) -> Self;

    /// Returns true if `end` is more than `n` steps ahead.
    fn is_beyond(self, end: Self, n: usize) -> bool;

    /// The number of steps to `end`, at most `usize::MAX`; 0 if `end` is not ahead.
    fn distance(self, end: Self) -> usize;

    /// The value `gap + 1` steps ahead, or `end` if that is beyond the type's limit.
    fn step_over(self, gap: usize, end: Self) -> Self;

    /// True if std accesses ranges of the type by index.
    const IS_RANDOM_ACCESS: bool;
}

/// Implements [`Step`] for integers: the type, its unsigned type, and the wider of that and `usize`.
macro_rules! integers {
    ($($ty:ident $unsigned:ident $wide:ident $random_access:literal;)*) => { $(
        #[device(library)]
        impl Step for $ty {
            const IS_RANDOM_ACCESS: bool = $random_access;

            fn successor(self) -> $ty {
                self.wrapping_add(1)
            }

            fn predecessor(self) -> $ty {
                self.wrapping_sub(1)
            }

            fn forward(self, n: usize) -> $ty {
                self.wrapping_add(n as $ty)
            }

            fn backward(self, n: usize) -> $ty {
                self.wrapping_sub(n as $ty)
            }

            fn checked_forward(self, n: usize) -> $ty {
                let limit = $ty::MAX.wrapping_sub(self) as $unsigned as $wide;
                if n as $wide > limit {
                    // Panics on overflow if overflow checks are on.
                    let _ = $ty::MAX + (n > 0) as $ty;
                }
                self.wrapping_add(n as $ty)
            }

            fn is_beyond(self, end: $ty, n: usize) -> bool {
                self < end && end.wrapping_sub(self) as $unsigned as $wide > n as $wide
            }

            fn distance(self, end: $ty) -> usize {
                if self < end {
                    let distance = end.wrapping_sub(self) as $unsigned as $wide;
                    if distance > usize::MAX as $wide { usize::MAX } else { distance as usize }
                } else {
                    0
                }
            }

            fn step_over(self, gap: usize, end: $ty) -> $ty {
                let next = self.wrapping_add(gap as $ty).wrapping_add(1);
                if next > self && (gap as $wide) < $unsigned::MAX as $wide { next } else { end }
            }
        }
    )* };
}

integers! {
    u8 u8 usize true;
    u16 u16 usize true;
    u32 u32 usize true;
    u64 u64 usize true;
    u128 u128 u128 false;
    usize usize usize true;
    i8 u8 usize true;
    i16 u16 usize true;
    i32 u32 usize true;
    i64 u64 usize true;
    i128 u128 u128 false;
    isize usize usize true;
}

/// The number of code points between those of `'\u{D7FF}'` and `'\u{E000}'`.
const SURROGATES: u32 = 0x800;

/// The position of a character among all characters.
#[device(library)]
fn position_of(character: char) -> u32 {
    let code = character as u32;
    if code < 0xE000 { code } else { code - SURROGATES }
}

/// The character at a position among all characters; `'\0'` beyond the last.
#[device(library)]
fn character_at(position: u32) -> char {
    let code = if position < 0xD800 { position } else { position.wrapping_add(SURROGATES) };
    if code <= char::MAX as u32 { char_of(code) } else { '\0' }
}

device_struct!(Range [T] [T: DeviceType] { start: T, end: T });

device_struct!(RangeFrom [T] [T: DeviceType] { start: T });

#[device(library)]
impl Step for char {
    fn successor(self) -> char {
        character_at(position_of(self).wrapping_add(1))
    }

    fn predecessor(self) -> char {
        character_at(position_of(self).wrapping_sub(1))
    }

    fn forward(self, n: usize) -> char {
        character_at(position_of(self).wrapping_add(n as u32))
    }

    fn backward(self, n: usize) -> char {
        character_at(position_of(self).wrapping_sub(n as u32))
    }

    fn checked_forward(self, n: usize) -> char {
        if n > (position_of(char::MAX) - position_of(self)) as usize {
            panic!("overflow in `Step::forward`");
        }
        self.forward(n)
    }

    fn is_beyond(self, end: char, n: usize) -> bool {
        self.distance(end) > n
    }

    fn distance(self, end: char) -> usize {
        position_of(end).saturating_sub(position_of(self)) as usize
    }

    fn step_over(self, gap: usize, end: char) -> char {
        if self.is_beyond(end, gap) { self.forward(gap).successor() } else { end }
    }

    const IS_RANDOM_ACCESS: bool = false;
}

#[device(library)]
impl<T: Step> DeviceIterator for Range<T> {
    type Item = T;
    const HAS_TRUSTED_LEN: bool = true;
    const IS_RANDOM_ACCESS: bool = T::IS_RANDOM_ACCESS;
    const IS_COUNTED: bool = true;
    const IS_FUSED: bool = true;
    const IS_PURE: bool = true;

    fn next(&mut self) -> Option<T> {
        if self.start < self.end {
            let value = self.start;
            self.start = value.successor();
            Some(value)
        } else {
            None
        }
    }

    fn next_known(&mut self) -> T {
        let value = self.start;
        self.start = value.successor();
        value
    }

    fn advance(&mut self, n: usize) -> usize {
        let len = self.start.distance(self.end);
        if n <= len {
            self.start = self.start.forward(n);
            0
        } else {
            self.start = self.start.forward(len);
            n - len
        }
    }

    fn nth(&mut self, n: usize) -> Option<T> {
        if self.start.is_beyond(self.end, n) {
            let value = self.start.forward(n);
            self.start = value.successor();
            Some(value)
        } else {
            self.start = self.end;
            None
        }
    }

    fn next_step(&mut self, gap: usize, is_first: &mut bool) -> Option<T> {
        if !*is_first {
            *is_first = true;
            self.advance(gap);
        }
        if self.start < self.end {
            let value = self.start;
            self.start = value.step_over(gap, self.end);
            Some(value)
        } else {
            None
        }
    }

    fn count(self) -> usize {
        if self.start.is_beyond(self.end, usize::MAX) {
            panic!("count overflowed usize");
        }
        self.start.distance(self.end)
    }

    fn last(mut self) -> Option<T> {
        self.next_back()
    }

    fn trusted_len(&self) -> usize {
        self.start.distance(self.end)
    }

    fn has_next(&self) -> bool {
        self.start < self.end
    }
}

#[device(library)]
impl<T: Step> DeviceDoubleEnded for Range<T> {
    fn next_back(&mut self) -> Option<T> {
        if self.start < self.end {
            let value = self.end.predecessor();
            self.end = value;
            Some(value)
        } else {
            None
        }
    }

    fn advance_back(&mut self, n: usize) -> usize {
        let len = self.start.distance(self.end);
        if n <= len {
            self.end = self.end.backward(n);
            0
        } else {
            self.end = self.end.backward(len);
            n - len
        }
    }

    fn nth_back(&mut self, n: usize) -> Option<T> {
        if self.start.is_beyond(self.end, n) {
            let value = self.end.backward(n).predecessor();
            self.end = value;
            Some(value)
        } else {
            self.end = self.start;
            None
        }
    }
}

#[device(library)]
impl<T: Step> DeviceIterator for RangeFrom<T> {
    type Item = T;
    const HAS_TRUSTED_LEN: bool = true;
    const IS_FUSED: bool = true;
    const IS_PURE: bool = true;

    fn next(&mut self) -> Option<T> {
        let value = self.start;
        self.start = value.checked_forward(1);
        Some(value)
    }

    fn advance(&mut self, n: usize) -> usize {
        self.start = self.start.checked_forward(n);
        0
    }

    fn nth(&mut self, n: usize) -> Option<T> {
        let value = self.start.checked_forward(n);
        self.start = value.checked_forward(1);
        Some(value)
    }

    fn trusted_len(&self) -> usize {
        usize::MAX
    }
}

device_struct!(RangeInclusive [T] [T: DeviceType] { start: T, end: T, exhausted: bool });

// SAFETY: the key describes `start`, `end` and `exhausted` of these types in this order, which are this struct's fields; the
// layout is the front end's.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType> DeviceType for Ends<T> {
    type K = <RangeInclusive<T> as DeviceType>::K;
}

/// `start..=end` in a typing probe.
pub fn inclusive<T: RangeBound>(start: T, end: T) -> RangeInclusive<T> {
    start..=end
}

#[device(library)]
impl<T: Step> DeviceIterator for RangeInclusive<T> {
    type Item = T;
    const HAS_TRUSTED_LEN: bool = true;
    const IS_FUSED: bool = true;
    const IS_PURE: bool = true;

    fn next(&mut self) -> Option<T> {
        let this = ends_mut(self);
        if this.exhausted {
            None
        } else {
            let value = this.start;
            this.exhausted = value == this.end;
            this.start = value.successor();
            Some(value)
        }
    }

    fn advance(&mut self, n: usize) -> usize {
        let this = ends_mut(self);
        let distance = this.start.distance(this.end);
        if this.exhausted {
            n
        } else if n <= distance {
            this.start = this.start.forward(n);
            0
        } else {
            this.exhausted = true;
            n - distance - 1
        }
    }

    fn nth(&mut self, n: usize) -> Option<T> {
        let this = ends_mut(self);
        if !this.exhausted && (n == 0 || this.start.is_beyond(this.end, n - 1)) {
            let value = this.start.forward(n);
            this.exhausted = value == this.end;
            this.start = value.successor();
            Some(value)
        } else {
            this.exhausted = true;
            None
        }
    }

    fn count(self) -> usize {
        let this = ends(&self);
        if this.exhausted {
            return 0;
        }
        match this.start.distance(this.end).checked_add(1) {
            Some(count) => count,
            None => panic!("count overflowed usize"),
        }
    }

    fn last(mut self) -> Option<T> {
        self.next_back()
    }

    fn trusted_len(&self) -> usize {
        let this = ends(self);
        if this.exhausted { 0 } else { this.start.distance(this.end).saturating_add(1) }
    }
}

#[device(library)]
impl<T: Step> DeviceDoubleEnded for RangeInclusive<T> {
    fn next_back(&mut self) -> Option<T> {
        let this = ends_mut(self);
        if this.exhausted {
            None
        } else {
            let value = this.end;
            this.exhausted = value == this.start;
            this.end = value.predecessor();
            Some(value)
        }
    }

    fn advance_back(&mut self, n: usize) -> usize {
        let this = ends_mut(self);
        let distance = this.start.distance(this.end);
        if this.exhausted {
            n
        } else if n <= distance {
            this.end = this.end.backward(n);
            0
        } else {
            this.exhausted = true;
            n - distance - 1
        }
    }

    fn nth_back(&mut self, n: usize) -> Option<T> {
        let this = ends_mut(self);
        if !this.exhausted && (n == 0 || this.start.is_beyond(this.end, n - 1)) {
            let value = this.end.backward(n);
            this.exhausted = value == this.start;
            this.end = value.predecessor();
            Some(value)
        } else {
            this.exhausted = true;
            None
        }
    }
}

/// Implements [`DeviceExactSize`] for ranges whose length always fits into `usize`.
macro_rules! exact_sizes {
    ($($range:ident of $($ty:ident)*;)*) => { $($(
        #[device(library)]
        impl DeviceExactSize for $range<$ty> {
            fn len(&self) -> usize {
                self.trusted_len()
            }
        }
    )*)* };
}

exact_sizes! {
    Range of u8 u16 u32 usize i8 i16 i32 isize;
    RangeInclusive of u8 u16 i8 i16;
}
