//! What a debugger is told of the source: types, scopes and variables, beside the places of instructions.
//!
//! It says how to show what is there and changes nothing of what a module does. Only kernels that ask for it have any,
//! but for the scopes of what was written in place of its call, which line tables need too.

use super::{ArrayId, Module, Place, Scalar, SlotId, SourceScopeId, SourceTypeId, Space};

/// A type as the source has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceType {
    /// Its name there.
    pub name: String,
    /// What it is.
    pub kind: SourceKind,
}

/// What a type of the source is. It consists of types before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// A number, `bool`, or a pair.
    Scalar(Scalar),
    /// A number of which some values have names: those, with their bits.
    Enum(Scalar, Vec<(String, u64)>),
    /// An address of 8 bytes.
    Pointer(Space, SourceTypeId),
    /// So many, one after the other.
    Array(SourceTypeId, u64),
    /// Parts within so many bytes.
    Struct(u32, Vec<SourceField>),
}

/// A part of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceField {
    /// Its name.
    pub name: String,
    /// Where it begins, in bytes.
    pub offset: u32,
    /// Its type.
    pub ty: SourceTypeId,
}

/// A part of a function's source, which has instructions and variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceScope {
    /// The scope around it, one before it; where there is none, the function.
    pub outer: Option<SourceScopeId>,
    /// Where it begins.
    pub place: Place,
    /// If it is another function, written in place of a call: that function's name, and the place of the call in the
    /// scope around it.
    pub inlined: Option<(String, Place)>,
}

/// A variable of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name there.
    pub name: String,
    /// Its type there.
    pub ty: SourceTypeId,
    /// The scope in which the name means it; where there is none, the whole function.
    pub scope: Option<SourceScopeId>,
    /// Where it is declared.
    pub place: Place,
    /// Which parameter of the function or of what was written in place of a call it is, from 1.
    pub parameter: Option<u32>,
    /// Where its value is.
    pub home: Home,
}

/// Where a variable's value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    /// In an array.
    Array(ArrayId),
    /// In slots, each so many bytes behind the variable's beginning.
    Slots(Vec<(SlotId, u32)>),
}

impl Home {
    /// The slots.
    pub fn slots(&self) -> &[(SlotId, u32)] {
        match self {
            Home::Array(_) => &[],
            Home::Slots(slots) => slots,
        }
    }
}

impl Module {
    /// A source type's size in bytes, as long as those that it consists of come before it.
    pub fn source_size(&self, ty: SourceTypeId) -> u64 {
        match &self.types[ty.index()].kind {
            SourceKind::Scalar(scalar) | SourceKind::Enum(scalar, _) => scalar.bytes().into(),
            SourceKind::Pointer(..) => 8,
            SourceKind::Array(element, count) => self.source_size(*element).saturating_mul(*count),
            SourceKind::Struct(size, _) => (*size).into(),
        }
    }
}
