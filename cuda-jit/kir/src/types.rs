//! The types of values: scalars and pointers, and the access of pointers. [`super`] states their meaning.

use std::fmt;

use super::Pointee;

/// A number type, `bool`, or two 16-bit floats in one register.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::Scalar;
///
/// let floats: Vec<_> = Scalar::ALL.into_iter().filter(|scalar| scalar.is_float()).map(Scalar::name).collect();
/// assert_eq!(floats, ["f32", "f64", "f16", "bf16"]);
/// assert_eq!((Scalar::Bool.bits(), Scalar::Bool.bytes()), (1, 1));
/// assert!(Scalar::I8.is_signed() && Scalar::I8.is_integer() && !Scalar::Bool.is_integer());
/// assert_eq!(Scalar::F32.unsigned(), Scalar::U32);
/// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::Scalar;
    ///
    /// assert!(Scalar::Bf16.is_half() && !Scalar::Bf16x2.is_half());
    /// ```
    pub fn is_half(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::Bf16)
    }

    /// Returns true for pairs of floats in one register.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::Scalar;
    ///
    /// assert!(Scalar::F16x2.is_pair());
    /// assert_eq!((Scalar::F16x2.lane(), Scalar::F16.pair()), (Some(Scalar::F16), Some(Scalar::F16x2)));
    /// assert_eq!((Scalar::F32.lane(), Scalar::F32.pair()), (None, None));
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::Scalar;
    ///
    /// assert_eq!(Scalar::F32.fraction_bits(), 23);
    /// assert_eq!(Scalar::F32.infinity(), f32::INFINITY.to_bits().into());
    /// assert_eq!(Scalar::F32.one(), 1.0_f32.to_bits().into());
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::Scalar;
    ///
    /// assert_eq!((Scalar::I16.mask(), Scalar::I16.top()), (0xffff, 0x8000));
    /// ```
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
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Scalar, Space, Type};
///
/// let names: Vec<_> = Space::ALL.map(|space| Type::Ptr(space, Scalar::U8.into()).to_string()).into();
/// assert_eq!(names[..2], ["ptr global u8", "ptr shared u8"]);
/// ```
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
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Scalar, Space, Type};
///
/// let (number, pointer) = (Type::Scalar(Scalar::F16), Type::Ptr(Space::Global, Scalar::F16.into()));
/// assert_eq!((number.bytes(), number.scalar()), (2, Some(Scalar::F16)));
/// assert_eq!((pointer.bytes(), pointer.scalar()), (8, None));
/// ```
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
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Access, Module, valid::{Rule, verify}};
///
/// let module: Module = "kir 1 kernel f(v0 x: ptr global u32 read, v1 n: u32) { b0: store v0, v1 return }".parse()?;
/// assert_eq!(module.functions[0].params[0].access, Access::Read);
/// assert_eq!(verify(&module).unwrap_err().rule, Rule::StoreAccess);
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read only; nobody writes it during the launch.
    Read,
    /// Read and write; other threads may access it concurrently.
    ReadWrite,
}

/// A constant, as the bits of its type: integers zero-extended, floats as their IEEE encoding, `bool` as 0 or 1.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Const, Scalar};
///
/// assert_eq!(Const { ty: Scalar::I8, bits: 0xff }.to_string(), "i8 -1");
/// assert_eq!(Const { ty: Scalar::F32, bits: 1.5_f32.to_bits().into() }.to_string(), "f32 1.5");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Const {
    /// The constant's type.
    pub ty: Scalar,
    /// Its bits; those above the type's width are zero.
    pub bits: u128,
}
