//! Debug information: source types, scopes and variables. Locations of instructions are [`Op::Line`](super::Op::Line).
//!
//! It has no effect on execution. Only kernels that ask for it have any, except that line tables also need the scopes
//! of inlined functions.

use super::{ArrayId, Location, Module, Scalar, SlotId, SourceScopeId, SourceTypeId, Space};

/// A type of the source.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Module, SourceField, SourceKind, SourceScope, SourceType, SourceTypeId, Storage, Variable};
///
/// let module: Module = "kir 1
///     type t0 \"f32\": f32
///     type t1 \"Point\": struct 8 {\"x\" 0: t0, \"y\" 4: t0}
///     kernel f() {
///         slot s0 p.x: f32
///         slot s1 p.y: f32
///         scope x0 \"a.rs\":2:9
///         variable \"p\": t1 \"a.rs\":2:9 in x0 at s0 0 s1 4
///         b0: return
///     }".parse()?;
/// let point: &SourceType = &module.types[1];
/// let y = SourceField { name: "y".to_owned(), offset: 4, ty: SourceTypeId(0) };
/// assert!(matches!(&point.kind, SourceKind::Struct(8, fields) if fields[1] == y));
/// assert_eq!(module.source_size(SourceTypeId(1)), 8);
/// let scope: &SourceScope = &module.functions[0].scopes[0];
/// assert_eq!((scope.outer, scope.location.line), (None, 2));
/// let p: &Variable = &module.functions[0].variables[0];
/// assert!(matches!(p.storage, Storage::Slots(_)));
/// assert_eq!(p.storage.slots().len(), 2);
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceType {
    /// Its name in the source.
    pub name: String,
    /// Its kind.
    pub kind: SourceKind,
}

/// The kind of a source type. It refers to earlier types only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// A number, `bool`, or a pair.
    Scalar(Scalar),
    /// A number with names for some values: the names and the values' bits.
    Enum(Scalar, Vec<(String, u64)>),
    /// An address of 8 bytes.
    Pointer(Space, SourceTypeId),
    /// An array of this many elements.
    Array(SourceTypeId, u64),
    /// Fields within this many bytes.
    Struct(u32, Vec<SourceField>),
}

/// A field of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceField {
    /// Its name.
    pub name: String,
    /// Its offset in bytes.
    pub offset: u32,
    /// Its type.
    pub ty: SourceTypeId,
}

/// A lexical scope or an inlined function, with instructions and variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceScope {
    /// The enclosing scope, an earlier one; `None` for the function itself.
    pub outer: Option<SourceScopeId>,
    /// The location of its start.
    pub location: Location,
    /// For an inlined function, its name, and the location of the call in the enclosing scope.
    pub inlined: Option<(String, Location)>,
}

/// A debug variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the source.
    pub name: String,
    /// Its type in the source.
    pub ty: SourceTypeId,
    /// The scope in which it is visible; `None` for the whole function.
    pub scope: Option<SourceScopeId>,
    /// The location of its declaration.
    pub location: Location,
    /// Its position, from 1, among the parameters of the function or of the inlined function that it belongs to.
    pub parameter: Option<u32>,
    /// The storage of its value.
    pub storage: Storage,
}

/// The storage of a variable's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// An array.
    Array(ArrayId),
    /// Slots, each at an offset in bytes within the variable.
    Slots(Vec<(SlotId, u32)>),
}

impl Storage {
    /// The slots.
    pub fn slots(&self) -> &[(SlotId, u32)] {
        match self {
            Storage::Array(_) => &[],
            Storage::Slots(slots) => slots,
        }
    }
}

impl Module {
    /// A source type's size in bytes, provided that the types that it refers to come before it.
    pub fn source_size(&self, ty: SourceTypeId) -> u64 {
        match &self.types[ty.index()].kind {
            SourceKind::Scalar(scalar) | SourceKind::Enum(scalar, _) => scalar.bytes().into(),
            SourceKind::Pointer(..) => 8,
            SourceKind::Array(element, count) => self.source_size(*element).saturating_mul(*count),
            SourceKind::Struct(size, _) => (*size).into(),
        }
    }
}
