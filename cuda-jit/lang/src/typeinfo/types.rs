//! The types of the device language, as the front end sees them.
//!
//! A [`Ty`] is what rustc says, without lifetimes. Where a reference points ([`Memory`]) is not Rust's to say: in a
//! reported type it is a placeholder, and the front end fills in what flows there.

use std::any::TypeId;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::Instance;
use super::compare::Comparisons;
use crate::kir::{Scalar, Space};

/// A type as the front end sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// `()`, and the type of expressions that do not return.
    Unit,
    /// A number or `bool`; `usize` is `u64`, `isize` is `i64`.
    Scalar(Scalar),
    /// A C-like enum, and the integer that it is; without variants, the name of `usize` or `isize`.
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
    /// An ndarray view of so many dimensions.
    View(Box<Ty>, usize, Memory),
    /// `str`, behind a reference.
    Str,
    /// A closure, which is inlined where it is called; which one, by what flows there.
    Closure(Memory),
    /// A closure or device function that a launch passes; a kernel's parameter only.
    Passed(Arc<Passed>),
}

impl Ty {
    /// `std::cmp::Ordering`.
    pub const ORDERING: Ty = Ty::Enum(
        EnumTy {
            name: "core::cmp::Ordering",
            variants: &[("Less", -1_i8 as u8 as u64), ("Equal", 0), ("Greater", 1)],
            comparisons: super::compare::of_ordering,
        },
        Scalar::I8,
    );

    /// A closure, before the front end knows which.
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

    /// The opaque type of an error that has one value, by its name and its `Debug` text.
    pub fn opaque_error(name: &'static str, text: &'static [(&'static str, u64)]) -> Ty {
        Ty::Enum(EnumTy { name, variants: text, comparisons: super::compare::of_one_value }, Scalar::U8)
    }

    /// The enum with fields, if it is one.
    pub fn as_sum(&self) -> Option<&SumTy> {
        if let Ty::Sum(of) = self { Some(of) } else { None }
    }

    /// The count of numbers in a constant of the type.
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

    /// The type of a binding's value; closures are no values.
    pub fn of_binding(self) -> Option<Ty> {
        Some(self).filter(|ty| !matches!(ty, Ty::Closure(_) | Ty::Passed(_)))
    }
}

/// A C-like enum.
#[derive(Clone, Copy, Debug)]
pub struct EnumTy {
    /// Its path, which tells it from every other.
    pub name: &'static str,
    /// The name and the bits of each variant, those above its width being unspecified.
    pub variants: &'static [(&'static str, u64)],
    /// Their comparisons.
    pub comparisons: fn() -> &'static Comparisons,
}

/// An enum is its name and variants: functions have no identity.
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

/// An enum with fields: a tag, which is the number of the variant, and the fields of every variant.
#[derive(Clone, Debug)]
pub struct SumTy {
    /// The enum that it is.
    pub identity: SumIdentity,
    /// Its variants in the order of the source.
    pub variants: Vec<VariantTy>,
    /// The operators that it lists.
    pub operators: fn() -> Vec<Operator>,
    /// Its operators.
    pub arithmetic: Arithmetic,
}

/// The enum that a type with variants is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SumIdentity {
    /// `Option`
    Option,
    /// `Result`
    Result,
    /// One that derives `DeviceType`, by its path with its generic arguments.
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

    /// The same to change them.
    pub fn fields_mut(&mut self) -> impl Iterator<Item = &mut Ty> {
        self.variants.iter_mut().flat_map(|variant| variant.fields.iter_mut().map(|(_, ty)| ty))
    }

    /// The numbers that a variant's fields have among those of all variants.
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

/// An enum is its identity and fields: operators are functions, which have no identity.
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

/// What a reference points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Nothing in memory: the value itself stands for a shared reference to it.
    Value,
    /// Memory that nobody writes during the launch.
    Read(Space),
    /// Memory that this thread, and others, may write.
    Write(Space),
    /// Memory that no other thread writes: this thread's own, or what nobody writes during the launch.
    Unshared,
    /// Nothing in memory: a place of the function that is being lowered, by its number, which a mutable reference names.
    Place(u32),
    /// Nothing, since it is part of what is not there, as in `None`; of a mutable reference if true.
    Unknown(bool),
    /// Nothing, as [`Memory::Unknown`]; but the reference has an address, which nobody follows, so that code can be made of it.
    Absent(bool),
    /// Nothing in memory: a text that the compiler knows.
    Text(&'static str),
    /// Nothing in memory: a closure of the function that is being lowered, if it is known which.
    Closure(Option<ClosureId>),
}

/// A closure of the function that is being lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClosureId {
    /// Its number, which tells its body.
    pub number: u32,
    /// The types of the values that it has captured: its parts, as those of a tuple.
    pub state: &'static [Ty],
}

impl ClosureId {
    /// A closure of a number that has captured values of these types. Each list of types is kept once, for good.
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
    /// What a reported `&T` or `&mut T` says before the front end knows where it points.
    pub const fn unknown(mutable: bool) -> Self {
        if mutable { Memory::Write(Space::Global) } else { Memory::Read(Space::Global) }
    }

    /// Where it is.
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

    /// Returns true if a reference there is no value: the compiler follows it, or it never exists.
    pub fn is_no_address(self) -> bool {
        matches!(self, Memory::Place(_) | Memory::Unknown(_) | Memory::Text(_) | Memory::Closure(_))
    }

    /// Returns true if nothing says where it is.
    pub fn is_unknown(self) -> bool {
        matches!(self, Memory::Unknown(_) | Memory::Absent(_) | Memory::Closure(None))
    }

    /// Returns true if it is a place of the function that is being lowered, or a closure that has captured one.
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
    /// Its path with its generic arguments, which tells it from every other.
    pub name: &'static str,
    /// Its fields in the order of the source; those of a tuple struct are named by their numbers.
    pub fields: Vec<Field>,
    /// Its size in bytes.
    pub size: usize,
    /// Its alignment in bytes; 0 where its layout is the front end's.
    pub align: usize,
    /// The operators that it lists.
    pub operators: fn() -> Vec<Operator>,
    /// What its operators are.
    pub arithmetic: Arithmetic,
}

/// What a struct's operators are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Those that it lists, and no others.
    Listed,
    /// Those that it lists, and it is compared field by field: whether they are the same and, if true, how they are ordered.
    Compared(bool),
    /// Those of its fields, which are all numbers of this type, one by one.
    Lanes(Scalar),
    /// Those of complex numbers of such parts: it lists them, and what they are with `=` follows.
    Complex(Scalar),
}

/// A struct is its name and fields: operators are functions, which have no identity.
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
    /// Where it begins, in bytes.
    pub offset: usize,
}

/// An operator that a struct has through a `#[device] impl`.
#[derive(Clone, Debug)]
pub struct Operator {
    /// The operator's trait, such as `Add`.
    pub name: &'static str,
    /// The type of the left operand, where it is not the struct.
    pub left: Option<Ty>,
    /// The type of the right operand; the struct itself for operators of one operand.
    pub right: Ty,
    /// The method.
    pub instance: Instance,
}

/// A closure or device function that a launch passes to a kernel.
#[derive(Clone, Debug)]
pub struct Passed {
    /// What tells it from every other.
    pub id: TypeId,
    /// The device function, or a function of what is captured that yields the closure.
    pub instance: Instance,
    /// The types of what the closure captures; `None` for a device function.
    pub captures: Option<Vec<Ty>>,
}

/// Its identity says it all.
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
