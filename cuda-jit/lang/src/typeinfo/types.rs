//! The types of the device language, as the front end represents them.
//!
//! A [`Ty`] is a type as rustc reports it, without lifetimes. The memory that a reference points to ([`Memory`]) is unknown
//! to Rust: in a reported type it is a placeholder, and the front end fills in the memory of the value that flows there.

use std::any::TypeId;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::Instance;
use super::compare::Comparisons;
use crate::kir::{Scalar, Space};

/// A type, as the front end represents it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// `()`, and the type of expressions that do not return.
    Unit,
    /// A number or `bool`; `usize` is `u64`, `isize` is `i64`.
    Scalar(Scalar),
    /// A C-like enum, and its integer type; without variants, the name of `usize` or `isize`.
    Enum(EnumTy, Scalar),
    /// A tuple.
    Tuple(Vec<Ty>),
    /// A struct.
    Struct(Arc<StructTy>),
    /// An enum with fields, such as `Option`.
    Sum(Arc<SumTy>),
    /// `[T; N]`.
    Array(Box<Ty>, u64),
    /// `&[T]` or `&mut [T]`.
    Slice(Box<Ty>, Memory),
    /// `&T` or `&mut T`.
    Ref(Box<Ty>, Memory),
    /// An ndarray view of this many dimensions.
    View(Box<Ty>, usize, Memory),
    /// `str`, behind a reference.
    Str,
    /// A closure, which is inlined where it is called; the value that flows there decides which one it is.
    Closure(Memory),
    /// A closure or device function that a launch passes; only a kernel's parameter has this type.
    Passed(Arc<Passed>),
}

impl Ty {
    /// `std::cmp::Ordering`.
    pub const ORDERING: Ty = Ty::Enum(
        EnumTy {
            name: "core::cmp::Ordering",
            variants: &[("Less", -1_i8 as u8 as u64), ("Equal", 0), ("Greater", 1)],
            comparisons: super::compare::of_ordering,
            operators: Vec::new,
        },
        Scalar::I8,
    );

    /// `std::num::FpCategory`.
    pub const FP_CATEGORY: Ty = Ty::Enum(
        EnumTy {
            name: "core::num::FpCategory",
            variants: &[("Nan", 0), ("Infinite", 1), ("Zero", 2), ("Subnormal", 3), ("Normal", 4)],
            comparisons: super::compare::of_fp_category,
            operators: Vec::new,
        },
        Scalar::I8,
    );

    /// A closure that the front end does not know yet.
    pub const CLOSURE: Ty = Ty::Closure(Memory::Closure(None));

    /// `usize`
    pub const INDEX: Ty = Ty::Scalar(Scalar::U64);

    /// `Option<held>`
    pub fn option(held: Ty) -> Ty {
        Ty::Sum(Arc::new(SumTy {
            identity: SumIdentity::Option,
            variants: vec![VariantTy::new("None", &[], vec![]), VariantTy::new("Some", &["0"], vec![held])],
            operators: Vec::new,
            arithmetic: Arithmetic::Compared(true),
        }))
    }

    /// `Result<ok, err>`
    pub fn result(ok: Ty, err: Ty) -> Ty {
        Ty::Sum(Arc::new(SumTy {
            identity: SumIdentity::Result,
            variants: vec![VariantTy::new("Ok", &["0"], vec![ok]), VariantTy::new("Err", &["0"], vec![err])],
            operators: Vec::new,
            arithmetic: Arithmetic::Compared(true),
        }))
    }

    /// `ControlFlow<breaking, continuing>`
    pub fn control_flow(breaking: Ty, continuing: Ty) -> Ty {
        Ty::Sum(Arc::new(SumTy {
            identity: SumIdentity::ControlFlow,
            variants: vec![
                VariantTy::new("Continue", &["0"], vec![continuing]),
                VariantTy::new("Break", &["0"], vec![breaking]),
            ],
            operators: Vec::new,
            arithmetic: Arithmetic::Compared(false),
        }))
    }

    /// The opaque type of an error with one value, by its name and its `Debug` text.
    pub fn opaque_error(name: &'static str, text: &'static [(&'static str, u64)]) -> Ty {
        let comparisons = super::compare::of_one_value;
        Ty::Enum(EnumTy { name, variants: text, comparisons, operators: Vec::new }, Scalar::U8)
    }

    /// The enum with fields, if it is one.
    pub fn as_sum(&self) -> Option<&SumTy> {
        if let Ty::Sum(of) = self { Some(of) } else { None }
    }

    /// The number of cells in a constant of the type.
    pub fn cells(&self) -> usize {
        match self {
            Ty::Scalar(_) | Ty::Enum(..) => 1,
            Ty::Array(element, count) => *count as usize * element.cells(),
            Ty::Sum(of) => 1 + of.fields().map(Ty::cells).sum::<usize>(),
            Ty::Ref(to, _) => to.cells(),
            Ty::Tuple(types) => types.iter().map(Ty::cells).sum(),
            Ty::Struct(of) => of.fields.iter().map(|field| field.ty.cells()).sum(),
            _ => 0,
        }
    }

    /// The type of a binding's value; `None` for closures, which are no values.
    pub fn of_binding(self) -> Option<Ty> {
        Some(self).filter(|ty| !matches!(ty, Ty::Closure(_) | Ty::Passed(_)))
    }
}

/// A C-like enum.
#[derive(Clone, Copy, Debug)]
pub struct EnumTy {
    /// Its path, which identifies it.
    pub name: &'static str,
    /// The name and the bits of each variant; bits above the type's width are unspecified.
    pub variants: &'static [(&'static str, u64)],
    /// Their comparisons.
    pub comparisons: fn() -> &'static Comparisons,
    /// The operators that it lists.
    pub operators: fn() -> Vec<Operator>,
}

/// Enums are equal by name and variants, since functions cannot be compared.
impl PartialEq for EnumTy {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.variants == other.variants
    }
}

impl Eq for EnumTy {}

impl Hash for EnumTy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// The number of `None` among the variants of `Option`.
pub const OPTION_NONE: usize = 0;
/// The number of `Some` among the variants of `Option`.
pub const OPTION_SOME: usize = 1;
/// The number of `Ok` among the variants of `Result`.
pub const RESULT_OK: usize = 0;
/// The number of `Err` among the variants of `Result`.
pub const RESULT_ERR: usize = 1;
/// The number of `Continue` among the variants of `ControlFlow`.
pub const CONTROL_FLOW_CONTINUE: usize = 0;
/// The number of `Break` among the variants of `ControlFlow`.
pub const CONTROL_FLOW_BREAK: usize = 1;

/// An enum with fields: a tag, which is the number of the variant, and the fields of every variant.
#[derive(Clone, Debug)]
pub struct SumTy {
    /// The enum's identity.
    pub identity: SumIdentity,
    /// Its variants in the order of the source.
    pub variants: Vec<VariantTy>,
    /// The operators that it lists.
    pub operators: fn() -> Vec<Operator>,
    /// The kind of its operators.
    pub arithmetic: Arithmetic,
}

/// The identity of an enum with fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SumIdentity {
    /// `Option`
    Option,
    /// `Result`
    Result,
    /// `ControlFlow`
    ControlFlow,
    /// A user's enum that derives `DeviceType`, by its path with its generic arguments.
    Own(&'static str),
}

/// A variant of an enum with fields.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VariantTy {
    /// Its name.
    pub name: &'static str,
    /// The names and types of its fields; those of a tuple variant are named by their numbers.
    pub fields: Vec<(&'static str, Ty)>,
}

impl VariantTy {
    /// A variant with fields of these names and types.
    #[must_use]
    pub fn new(name: &'static str, names: &[&'static str], types: Vec<Ty>) -> Self {
        VariantTy { name, fields: names.iter().copied().zip(types).collect() }
    }
}

impl SumTy {
    /// The types of the fields of all variants, in order.
    pub fn fields(&self) -> impl Iterator<Item = &Ty> {
        self.variants.iter().flat_map(|variant| variant.fields.iter().map(|(_, ty)| ty))
    }

    /// The types of the fields of all variants, in order, mutably.
    pub fn fields_mut(&mut self) -> impl Iterator<Item = &mut Ty> {
        self.variants.iter_mut().flat_map(|variant| variant.fields.iter_mut().map(|(_, ty)| ty))
    }

    /// The indices of a variant's fields among those of all variants.
    pub fn fields_of(&self, variant: usize) -> std::ops::Range<usize> {
        let start = self.variants[..variant].iter().map(|variant| variant.fields.len()).sum();
        start..start + self.variants[variant].fields.len()
    }

    /// The type of the tag.
    pub fn tag(&self) -> Scalar {
        match self.variants.len() {
            0..=2 => Scalar::Bool,
            3..=256 => Scalar::U8,
            _ => Scalar::U16,
        }
    }
}

/// Enums are equal by identity and fields, since operators are functions, which cannot be compared.
impl PartialEq for SumTy {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity && self.variants == other.variants
    }
}

impl Eq for SumTy {}

impl Hash for SumTy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity.hash(state);
    }
}

/// The memory that a reference points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// No memory: a shared reference is represented by the value itself.
    Value,
    /// Memory that is read-only during the launch.
    Read(Space),
    /// Memory that this thread, and others, may write.
    Write(Space),
    /// Memory that no other thread writes: this thread's own, or memory that is read-only during the launch.
    Unshared,
    /// No memory: a mutable reference to a place of the function that is being lowered, by the place's number.
    Place(u32),
    /// No memory: the reference does not exist, as in `None`; true for a mutable reference.
    Unknown(bool),
    /// No memory, as [`Memory::Unknown`]; the reference has an address that is never dereferenced, so that code can be
    /// generated for it.
    Absent(bool),
    /// No memory: a text that is known at compile time.
    Text(&'static str),
    /// No memory: a closure of the function that is being lowered, `None` if it is unknown.
    Closure(Option<ClosureId>),
}

/// A closure of the function that is being lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClosureId {
    /// Its number, which identifies its body.
    pub number: u32,
    /// The types of its captures, which are its fields, as those of a tuple.
    pub state: &'static [Ty],
}

impl ClosureId {
    /// The closure with a number and captures of these types. Lists of types are interned and never freed.
    pub fn new(number: u32, state: Vec<Ty>) -> Self {
        static STATES: LazyLock<Mutex<HashSet<&'static [Ty]>>> = LazyLock::new(Mutex::default);
        let mut states = STATES.lock().unwrap_or_else(PoisonError::into_inner);
        let known = states.get(&state[..]).copied();
        let state = known.unwrap_or_else(|| {
            let state: &'static [Ty] = state.leak();
            states.insert(state);
            state
        });
        Self { number, state }
    }
}

impl Memory {
    /// The memory of a reported `&T` or `&mut T`, before the front end knows where it points.
    pub const fn unknown(mutable: bool) -> Self {
        if mutable { Memory::Write(Space::Global) } else { Memory::Read(Space::Global) }
    }

    /// The memory space.
    pub fn space(self) -> Space {
        match self {
            Memory::Value | Memory::Place(_) | Memory::Unknown(_) | Memory::Text(_) | Memory::Closure(_) => {
                Space::Local
            }
            Memory::Absent(_) => Space::Global,
            Memory::Unshared => Space::Generic,
            Memory::Read(space) | Memory::Write(space) => space,
        }
    }

    /// Returns true if a reference to it has no address: the compiler resolves it, or it never exists.
    pub fn is_no_address(self) -> bool {
        matches!(self, Memory::Place(_) | Memory::Unknown(_) | Memory::Text(_) | Memory::Closure(_))
    }

    /// Returns true if the memory is unknown.
    pub fn is_unknown(self) -> bool {
        matches!(self, Memory::Unknown(_) | Memory::Absent(_) | Memory::Closure(None))
    }

    /// Returns true for a place of the function that is being lowered, or a closure that has captured one.
    pub fn names_places(self) -> bool {
        match self {
            Memory::Place(_) => true,
            Memory::Closure(Some(closure)) => {
                closure.state.iter().any(|ty| ty.memories().iter().any(|of| of.names_places()))
            }
            _ => false,
        }
    }

    /// Returns true if kernels may write it.
    pub fn writable(self) -> bool {
        matches!(
            self,
            Memory::Write(_) | Memory::Unshared | Memory::Place(_) | Memory::Unknown(true) | Memory::Absent(true)
        )
    }
}

/// A struct, with the layout that rustc gave it.
#[derive(Clone, Debug)]
pub struct StructTy {
    /// Its path with its generic arguments, which identifies it.
    pub name: &'static str,
    /// Its fields in the order of the source; those of a tuple struct are named by their numbers.
    pub fields: Vec<Field>,
    /// Its size in bytes.
    pub size: usize,
    /// Its alignment in bytes; 0 if the front end chooses its layout.
    pub align: usize,
    /// The operators that it lists.
    pub operators: fn() -> Vec<Operator>,
    /// The kind of its operators.
    pub arithmetic: Arithmetic,
}

/// The kind of a struct's or enum's operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Only the listed ones.
    Listed,
    /// The listed ones, and a derived comparison field by field: equality and, if true, order.
    Compared(bool),
    /// Those of its fields, which are all numbers of this type, elementwise.
    Lanes(Scalar),
    /// Those of complex numbers with components of this type: the listed ones, from which the assigning ones are derived.
    Complex(Scalar),
}

/// Structs are equal by name and fields, since operators are functions, which cannot be compared.
impl PartialEq for StructTy {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.fields == other.fields
    }
}

impl Eq for StructTy {}

impl Hash for StructTy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: Ty,
    /// Its offset in bytes.
    pub offset: usize,
}

/// An operator of a struct, defined by a `#[device] impl`.
#[derive(Clone, Debug)]
pub struct Operator {
    /// The operator's trait, such as `Add`.
    pub name: &'static str,
    /// The type of the left operand, if it is not the struct.
    pub left: Option<Ty>,
    /// The type of the right operand; the struct itself for unary operators.
    pub right: Ty,
    /// The method.
    pub instance: Instance,
}

/// A closure or device function that a launch passes to a kernel.
#[derive(Clone, Debug)]
pub struct Passed {
    /// Its identity.
    pub id: TypeId,
    /// The device function, or a function that takes the captures and returns the closure.
    pub instance: Instance,
    /// The types of the closure's captures; `None` for a device function.
    pub captures: Option<Vec<Ty>>,
}

/// Equal by identity.
impl PartialEq for Passed {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Passed {}

impl Hash for Passed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}
