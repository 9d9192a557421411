//! The types of values: scalars and pointers, and the access of pointers. [`super`] states their meaning.

use std::fmt;

use super::Pointee;

/// A number type, `bool`, or two 16-bit floats in one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each variant is the type of its name: Rust's, `half`'s, or this crate's pair")]
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
    F32,
    F64,
    F16,
    Bf16,
    F16x2,
    Bf16x2,
}

impl Scalar {
    /// Every scalar type, in declaration order.
    pub const ALL: [Scalar; 17] = [
        Scalar::Bool,
        Scalar::I8,
        Scalar::I16,
        Scalar::I32,
        Scalar::I64,
        Scalar::I128,
        Scalar::U8,
        Scalar::U16,
        Scalar::U32,
        Scalar::U64,
        Scalar::U128,
        Scalar::F32,
        Scalar::F64,
        Scalar::F16,
        Scalar::Bf16,
        Scalar::F16x2,
        Scalar::Bf16x2,
    ];

    /// The type's name in Rust and in KIR text.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::I128 => "i128",
            Scalar::U8 => "u8",
            Scalar::U16 => "u16",
            Scalar::U32 => "u32",
            Scalar::U64 => "u64",
            Scalar::U128 => "u128",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
            Scalar::F16 => "f16",
            Scalar::Bf16 => "bf16",
            Scalar::F16x2 => "f16x2",
            Scalar::Bf16x2 => "bf16x2",
        }
    }

    /// The type's width in bits; 1 for `bool`.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::I8 | Scalar::U8 => 8,
            Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::Bf16 => 16,
            Scalar::I32 | Scalar::U32 | Scalar::F32 | Scalar::F16x2 | Scalar::Bf16x2 => 32,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 64,
            Scalar::I128 | Scalar::U128 => 128,
        }
    }

    /// The type's size and alignment in memory, in bytes.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Returns true for integer types; `bool` is not one.
    pub fn is_integer(self) -> bool {
        !matches!(self, Scalar::Bool) && !self.is_float() && !self.is_pair()
    }

    /// Returns true for signed integer types.
    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 | Scalar::I128)
    }

    /// Returns true for floating-point types; pairs are not.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64) || self.is_half()
    }

    /// Returns true for 16-bit floating-point types.
    pub fn is_half(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::Bf16)
    }

    /// Returns true for pairs of floats in one register.
    pub fn is_pair(self) -> bool {
        self.lane().is_some()
    }

    /// The element type of a pair.
    pub fn lane(self) -> Option<Scalar> {
        match self {
            Scalar::F16x2 => Some(Scalar::F16),
            Scalar::Bf16x2 => Some(Scalar::Bf16),
            _ => None,
        }
    }

    /// The pair type of a float type.
    pub fn pair(self) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|pair| pair.lane() == Some(self))
    }

    /// The unsigned integer type of the same width, which can hold the type's bits.
    pub fn unsigned(self) -> Scalar {
        match self.bits() {
            16 => Scalar::U16,
            32 => Scalar::U32,
            64 => Scalar::U64,
            128 => Scalar::U128,
            _ => Scalar::U8,
        }
    }

    /// The number of fraction bits of a float type.
    pub fn fraction_bits(self) -> u32 {
        match self {
            Scalar::F16 => 10,
            Scalar::Bf16 => 7,
            Scalar::F32 => 23,
            _ => 52,
        }
    }

    /// The bits of a float type's infinity.
    pub fn infinity(self) -> u128 {
        self.top() - (1 << self.fraction_bits())
    }

    /// The mask of the type's bits.
    pub fn mask(self) -> u128 {
        u128::MAX >> (128 - self.bits())
    }

    /// The most significant bit: the minimum of a signed integer type.
    pub fn top(self) -> u128 {
        1 << (self.bits() - 1)
    }

    /// The bits of 1.
    pub fn one(self) -> u128 {
        match self.is_float() {
            true => (self.infinity() >> 1) & self.infinity(),
            false => 1,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The memory space of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// The device's memory, which every thread of every launch can access.
    Global,
    /// The block's memory, which all its threads can access.
    Shared,
    /// The memory of a block of the cluster, which all threads of the cluster can access while that block runs.
    Cluster,
    /// The thread's private memory.
    Local,
    /// Device memory that the kernel does not write, fast if the threads of a warp read the same address.
    Constant,
    /// Any of the others, known only at run time.
    Generic,
}

impl Space {
    /// Every memory space, in declaration order.
    pub const ALL: [Space; 6] =
        [Space::Global, Space::Shared, Space::Cluster, Space::Local, Space::Constant, Space::Generic];
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A number or `bool`.
    Scalar(Scalar),
    /// A pointer to elements of one type.
    Ptr(Space, Pointee),
}

impl Type {
    /// The size in a slot, in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Type::Scalar(scalar) => scalar.bytes(),
            Type::Ptr(..) => 8,
        }
    }

    /// The scalar type, if it is one.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Type::Scalar(scalar) => Some(scalar),
            Type::Ptr(..) => None,
        }
    }
}

impl From<Scalar> for Type {
    fn from(scalar: Scalar) -> Self {
        Type::Scalar(scalar)
    }
}

/// The access of a kernel to the pointee of a pointer parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read only; nobody writes it during the launch.
    Read,
    /// Read and write; other threads may access it concurrently.
    ReadWrite,
}

/// A constant, as the bits of its type: integers zero-extended, floats as their IEEE encoding, `bool` as 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Const {
    /// The constant's type.
    pub ty: Scalar,
    /// Its bits; those above the type's width are zero.
    pub bits: u128,
}
