//! The pointees of pointers: one number, or a record of bytes with a size and an alignment.
//!
//! KIR has no structs. A struct in memory is a [`Record`]; [`Op::Field`](super::Op::Field) moves a pointer from a
//! record to a number or a smaller record inside it. Names and nesting are the front end's.

use super::Scalar;

/// A record: bytes whose layout the front end determines.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::Record;
///
/// // A byte and a number of eight bytes.
/// let mut record = Record { size: 0, align: 1 };
/// assert_eq!([record.append(1, 1), record.append(8, 8)], [0, 8]);
/// assert_eq!(record, Record { size: 16, align: 8 });
/// assert!(record.is_sound() && record.align <= Record::MAX_ALIGN);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The size in bytes, a multiple of the alignment: the distance from one element to the next.
    pub size: u32,
    /// The alignment in bytes, a power of two.
    pub align: u32,
}

impl Record {
    /// The largest alignment that a record can have.
    pub const MAX_ALIGN: u32 = 256;

    /// Returns true if the size is a multiple of a valid alignment.
    pub fn is_sound(self) -> bool {
        let Record { size, align } = self;
        align.is_power_of_two() && align <= Self::MAX_ALIGN && size % align == 0 && size < 1 << 31
    }

    /// Appends a field of `size` bytes with an alignment, and returns its offset. The record's size is then the field's
    /// end, not padded to the alignment.
    pub fn append(&mut self, size: u32, align: u32) -> u32 {
        let offset = self.size.next_multiple_of(align);
        *self = Record { size: offset + size, align: self.align.max(align) };
        offset
    }
}

/// The pointee of a pointer.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Pointee, Record, Scalar};
///
/// let (number, record) = (Pointee::Scalar(Scalar::F32), Pointee::Record(Record { size: 24, align: 8 }));
/// assert_eq!((number.size(), number.align(), number.scalar()), (4, 4, Some(Scalar::F32)));
/// assert_eq!((record.size(), record.align(), record.scalar()), (24, 8, None));
/// assert!(record.holds(20, number) && !record.holds(22, number));
/// assert_eq!(Pointee::align_at(8, 20), 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pointee {
    /// A number or `bool`, which can be loaded and stored.
    Scalar(Scalar),
    /// A record, to whose fields pointers are made.
    Record(Record),
}

impl Pointee {
    /// The size in bytes: the distance from one element to the next.
    pub fn size(self) -> u32 {
        match self {
            Pointee::Scalar(scalar) => scalar.bytes(),
            Pointee::Record(record) => record.size,
        }
    }

    /// The alignment in bytes.
    pub fn align(self) -> u32 {
        match self {
            Pointee::Scalar(scalar) => scalar.bytes(),
            Pointee::Record(record) => record.align,
        }
    }

    /// The number's type, if it is a number.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Pointee::Scalar(scalar) => Some(scalar),
            Pointee::Record(_) => None,
        }
    }

    /// Returns true if something of type `part` may lie at this offset in bytes.
    pub fn holds(self, offset: u32, part: Pointee) -> bool {
        let end = u64::from(offset) + u64::from(part.size());
        end <= u64::from(self.size()) && part.align() <= self.align() && offset.is_multiple_of(part.align())
    }

    /// The alignment of the byte at an offset of something with alignment `align`.
    pub fn align_at(align: u32, offset: u32) -> u32 {
        if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) }
    }
}

impl From<Scalar> for Pointee {
    fn from(scalar: Scalar) -> Self {
        Pointee::Scalar(scalar)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTOR: Pointee = Pointee::Record(Record { size: 16, align: 16 });

    #[test]
    fn a_record_holds_what_fits_and_is_aligned() {
        assert!(VECTOR.holds(12, Scalar::F32.into()));
        assert!(!VECTOR.holds(13, Scalar::F32.into()));
        assert!(!VECTOR.holds(16, Scalar::U8.into()));
        assert!(VECTOR.holds(8, Pointee::Record(Record { size: 8, align: 4 })));
        assert!(!VECTOR.holds(0, Pointee::Record(Record { size: 32, align: 32 })));
        assert!(!VECTOR.holds(u32::MAX - 3, Scalar::F32.into()));
    }

    #[test]
    fn alignment_inside_a_record() {
        assert_eq!([0, 4, 8, 12].map(|offset| Pointee::align_at(16, offset)), [16, 4, 8, 4]);
    }

    #[test]
    fn sound_records() {
        assert!(Record { size: 0, align: 1 }.is_sound() && Record { size: 12, align: 4 }.is_sound());
        for (size, align) in [(4, 0), (4, 3), (6, 4), (512, 512), (1 << 31, 1)] {
            assert!(!Record { size, align }.is_sound(), "{size} {align}");
        }
    }
}
