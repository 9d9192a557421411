//! Debug information: the scopes, variables and types of the source.
//!
//! It never changes what a kernel does: a binding that has no slots gets write-only ones. A variable's type is the one
//! that rustc [spelled](TypeInfo::spelled), in which `usize` is not yet `u64`.

use std::collections::HashMap;

use super::Program;
use super::function::{Local, Lowering};
use super::scopes::Scopes;
use super::types::Val;
use crate::kir::{
    self, Scalar, SlotId, SourceField, SourceKind, SourceScope, SourceScopeId, SourceType, SourceTypeId, Space,
    Storage, Variable,
};
use crate::syntax::{Pattern, Pos};
#[cfg(doc)]
use crate::typeinfo::TypeInfo;
use crate::typeinfo::layout::{TAG, ty_name};
use crate::typeinfo::{EnumTy, Memory, SumIdentity, SumTy, Ty, VariantTy};

/// The interned source types of a module's variables.
#[derive(Default)]
pub(super) struct SourceTypes {
    pub(super) types: Vec<SourceType>,
    known: HashMap<SourceType, SourceTypeId>,
}

/// The name of an `Option`'s discriminant.
const IS_SOME: &str = "is_some";

/// The layout of a binding's value in its slots.
struct DebugLayout {
    ty: SourceTypeId,
    size: u32,
    align: u32,
    /// The byte offset of each leaf.
    leaves: Vec<u32>,
}

impl Lowering<'_> {
    /// Opens a lexical scope and returns it, if the kernel has debug information.
    pub(super) fn enter(&mut self, at: Pos) -> Option<SourceScopeId> {
        if !self.program.variables {
            return None;
        }
        let outer = self.build.scope();
        let scope = SourceScope { outer, location: self.scopes.source_location(at), inlined: None };
        let scope = Some(self.build.new_scope(scope));
        self.build.set_scope(scope);
        scope
    }

    /// Opens the scope of an inlined function, if the kernel has line tables; returns the previous scope.
    pub(super) fn enter_inlined(&mut self) -> Option<SourceScopeId> {
        let outer = self.build.scope();
        if let Some(call) = self.build.location().cloned() {
            let definition = self.frame().definition;
            let (name, location) = (definition.name.to_owned(), self.scopes.source_location(Pos(definition.line, 1)));
            let scope = SourceScope { outer, location, inlined: Some((name, call)) };
            let scope = self.build.new_scope(scope);
            self.build.set_scope(Some(scope));
        }
        outer
    }

    /// Opens a scope in the file of a launch's closure, if the kernel has line tables; returns the previous scope.
    pub(super) fn enter_launch_closure(&mut self) -> Option<SourceScopeId> {
        let outer = self.build.scope();
        if self.program.lines {
            let line = self.frame().definition.line;
            let scope = SourceScope { outer, location: self.scopes.source_location(Pos(line, 1)), inlined: None };
            let scope = self.build.new_scope(scope);
            self.build.set_scope(Some(scope));
        }
        outer
    }

    /// Declares a debug variable for a binding, from here on or from where it was declared without a value.
    pub(super) fn declare_variable(&mut self, number: u32, local: &Local, declared: Option<SourceScopeId>) {
        if !self.program.variables {
            return;
        }
        let parameter = self.scopes.parameter(number);
        let reported = self.scopes.reported(number);
        let (ty, storage) = match local {
            Local::Memory(cell, ty) => (
                self.program.in_memory(spelled(ty, reported.as_ref())),
                self.build.arrays.at.get(cell).copied().map(Storage::Array),
            ),
            Local::Fixed(Val { ty: ty @ Ty::Array(..), leaves }) if ty.is_plain() => (
                self.program.in_memory(spelled(ty, reported.as_ref())),
                self.build.arrays.at.get(&leaves[0]).copied().map(Storage::Array),
            ),
            Local::Fixed(value) if let Some(value) = holds_arrays(value) => {
                let copy = self.build.new_array("debug", &value.ty).only();
                self.build.store(copy, Space::Local, &value);
                let ty = self.program.in_memory(spelled(&value.ty, reported.as_ref()));
                (ty, self.build.arrays.at.get(&copy).copied().map(Storage::Array))
            }
            Local::Fixed(value) => {
                let slots = self.build.slots(self.frame().definition.bindings[number as usize].name, &value.ty);
                self.build.set(&slots, value);
                self.in_slots(number, &value.ty, &slots)
            }
            Local::Slots(ty, slots, _) => self.in_slots(number, ty, slots),
            Local::Late(_) => return,
        };
        let Some(storage) = storage else { return };
        let binding = &self.frame().definition.bindings[number as usize];
        let (name, at) = (source_name(binding.name), binding.at);
        let scope = match (declared, parameter) {
            (Some(scope), _) => Some(scope),
            (None, Some(_)) => self.build.scope(),
            (None, None) => self.enter(at),
        };
        let location = self.scopes.source_location(at);
        self.build.variable(Variable { name: name.to_owned(), ty, scope, location, parameter, storage });
    }

    fn in_slots(&mut self, number: u32, ty: &Ty, slots: &[SlotId]) -> (SourceTypeId, Option<Storage>) {
        // mutability is rustc's: memory that this reference may not write may be writable through others
        let fits = self.frame().binding_type(number).is_some_and(|reported| reported.fits(ty));
        let reported = self.scopes.reported(number).filter(|_| fits).unwrap_or_else(|| ty.clone());
        let DebugLayout { ty, leaves, .. } = self.program.layout_of(ty, &reported);
        let mut places: Vec<(SlotId, u32)> = slots.iter().copied().zip(leaves).collect();
        // rustc reorders fields
        places.sort_unstable_by_key(|(_, offset)| *offset);
        (ty, Some(Storage::Slots(places)).filter(|_| !slots.is_empty()))
    }
}

impl Scopes {
    /// The position of a binding among the parameters, from 1; those of a launch's closure are its captures.
    fn parameter(&self, number: u32) -> Option<u32> {
        let (frame, is_outermost) = (self.frame(), self.current == 0);
        let is = |pattern: &Pattern| matches!(pattern, Pattern::Bind(bound) if *bound == number);
        let found = (1..).zip(frame.definition.params).find(|(_, pattern)| is(pattern));
        found.filter(|_| is_outermost || frame.call_site.is_some()).map(|(parameter, _)| parameter)
    }

    /// The source location of a position in the current frame.
    fn source_location(&self, Pos(line, column): Pos) -> kir::Location {
        kir::Location { file: self.frame().file.clone(), line, column }
    }

    /// A binding's type as reported by rustc, in the source's spelling.
    fn reported(&self, number: u32) -> Option<Ty> {
        let reported = self.frame().definition.bindings[number as usize].reported?;
        self.frame().info.spelled.get(reported as usize).cloned().flatten()
    }
}

impl Program {
    /// The debug type of a value in memory.
    fn in_memory(&mut self, ty: &Ty) -> SourceTypeId {
        let kind = match ty {
            Ty::Unit => SourceKind::Struct(0, Vec::new()),
            Ty::Enum(EnumTy { variants: [], .. }, scalar) => SourceKind::Scalar(*scalar),
            Ty::Scalar(scalar) => SourceKind::Scalar(*scalar),
            Ty::Enum(of, scalar) => {
                let names = of.variants.iter().map(|(name, bits)| ((*name).to_owned(), *bits & scalar.mask() as u64));
                SourceKind::Enum(*scalar, names.collect())
            }
            Ty::Array(element, count) if ty.is_plain() => SourceKind::Array(self.in_memory(element), *count),
            Ty::Tuple(_) | Ty::Struct(_) | Ty::Sum(_) if ty.is_plain() => {
                let mut fields = Vec::new();
                if let Ty::Sum(of) = ty {
                    let (name, tag) = self.tag_type(of);
                    fields.push(SourceField { name: name.to_owned(), offset: TAG, ty: tag });
                }
                for (index, (part, offset)) in ty.fields().into_iter().enumerate() {
                    fields.push(SourceField { name: part_name(ty, index), offset, ty: self.in_memory(part) });
                }
                SourceKind::Struct(ty.record().size, fields)
            }
            _ => return self.layout_of(ty, ty).ty,
        };
        self.source_type(ty_name(ty), kind)
    }

    /// The layout of a value in a binding's slots; an array within another type is represented by its address.
    fn layout_of(&mut self, ty: &Ty, reported: &Ty) -> DebugLayout {
        match (ty, reported) {
            (Ty::Ref(to, Memory::Value), Ty::Ref(reported, _)) => self.layout_of(to, reported),
            (Ty::Ref(_, memory), _) if memory.is_no_address() => self.composed(ty_name(reported), Vec::new()),
            (Ty::Closure(_) | Ty::Passed(_), _) => {
                let parts = (0..).zip(ty.fields());
                let parts =
                    parts.map(|(index, (part, _))| (part_name(ty, index), self.layout_of(part, part))).collect();
                self.composed(ty_name(ty), parts)
            }
            (Ty::Ref(to, memory), _) => {
                let inner = if let Ty::Ref(inner, _) = reported { Some(&**inner) } else { None };
                let to = self.in_memory(spelled(to, inner));
                DebugLayout::word(self.pointer(ty_name(reported), *memory, to))
            }
            (Ty::Array(..), _) if ty.is_plain() => {
                let ty = spelled(ty, Some(reported));
                let array = self.in_memory(ty);
                DebugLayout::word(self.pointer(format!("&mut {}", ty_name(ty)), Memory::Write(Space::Local), array))
            }
            (Ty::Array(element, count), Ty::Array(source_element, _)) => {
                let element = self.layout_of(element, source_element);
                let step = element.size.next_multiple_of(element.align);
                let places =
                    (0..*count as u32).flat_map(|index| element.leaves.iter().map(move |leaf| index * step + leaf));
                let leaves = places.collect();
                let of = self.source_type(ty_name(reported), SourceKind::Array(element.ty, *count));
                DebugLayout { ty: of, size: step * *count as u32, align: element.align, leaves }
            }
            (Ty::Slice(element, memory), Ty::Slice(source_element, source_memory)) => {
                let data = self.elements(spelled(element, Some(source_element)), *memory, *source_memory);
                let length = DebugLayout::word(self.number("usize", Scalar::U64));
                self.composed(ty_name(reported), vec![("data_ptr".to_owned(), data), ("length".to_owned(), length)])
            }
            (Ty::View(element, dims, memory), Ty::View(source_element, _, source_memory)) => {
                let element = spelled(element, Some(source_element));
                let data = self.elements(element, *memory, *source_memory);
                let numbers = |program: &mut Self, name: &str, scalar| {
                    let number = program.number(name, scalar);
                    let of = program.source_type(format!("[{name}; {dims}]"), SourceKind::Array(number, *dims as u64));
                    let leaves = (0..*dims as u32).map(|axis| 8 * axis).collect();
                    DebugLayout { ty: of, size: 8 * *dims as u32, align: 8, leaves }
                };
                let (dim, strides) = (numbers(self, "usize", Scalar::U64), numbers(self, "isize", Scalar::I64));
                let kind = if source_memory.writable() { "ArrayViewMut" } else { "ArrayView" };
                let parts = [("ptr", data), ("dim", dim), ("strides", strides)];
                let parts = parts.map(|(name, part)| (name.to_owned(), part)).into();
                self.composed(format!("{kind}{dims}<{}>", ty_name(element)), parts)
            }
            (Ty::Tuple(_) | Ty::Struct(_) | Ty::Sum(_), _) if !ty.is_plain() || ty.holds_arrays() => {
                let mut parts = Vec::new();
                if let Ty::Sum(of) = ty {
                    let size = of.tag().bytes();
                    let (name, ty) = self.tag_type(of);
                    parts.push((name.to_owned(), DebugLayout { ty, size, align: size, leaves: vec![TAG] }));
                }
                for (index, ((part, _), (reported, _))) in ty.fields().into_iter().zip(reported.fields()).enumerate() {
                    parts.push((part_name(ty, index), self.layout_of(part, reported)));
                }
                self.composed(ty_name(reported), parts)
            }
            _ => {
                let (record, mut leaves) = (ty.record(), Vec::new());
                leaf_places(ty, 0, &mut leaves);
                DebugLayout {
                    ty: self.in_memory(spelled(ty, Some(reported))),
                    size: record.size,
                    align: record.align,
                    leaves,
                }
            }
        }
    }

    /// The name and debug type of an enum's discriminant: an enumeration of the variants, a `bool` for `Option`.
    fn tag_type(&mut self, of: &SumTy) -> (&'static str, SourceTypeId) {
        if of.identity == SumIdentity::Option {
            return (IS_SOME, self.number("bool", Scalar::Bool));
        }
        let scalar = if of.tag() == Scalar::Bool { Scalar::U8 } else { of.tag() };
        let names = of.variants.iter().zip(0..).map(|(variant, number)| (variant.name.to_owned(), number));
        let name = format!("variant of {}", ty_name(&Ty::Sum(of.clone().into())));
        ("variant", self.source_type(name, SourceKind::Enum(scalar, names.collect())))
    }

    /// The pointer to the elements of a slice or view.
    fn elements(&mut self, element: &Ty, memory: Memory, reported: Memory) -> DebugLayout {
        let (name, element) = (ty_name(element), self.in_memory(element));
        let name = format!("*{} {name}", if reported.writable() { "mut" } else { "const" });
        DebugLayout::word(self.pointer(name, memory, element))
    }

    /// Lays out named parts one after the other.
    fn composed(&mut self, name: String, parts: Vec<(String, DebugLayout)>) -> DebugLayout {
        let (mut end, mut most, mut leaves, mut fields) = (0_u32, 1, Vec::new(), Vec::new());
        for (name, DebugLayout { ty, size, align, leaves: of_part }) in parts {
            let offset = end.next_multiple_of(align);
            leaves.extend(of_part.into_iter().map(|leaf| offset + leaf));
            fields.push(SourceField { name, offset, ty });
            (end, most) = (offset + size, most.max(align));
        }
        let size = end.next_multiple_of(most);
        DebugLayout { ty: self.source_type(name, SourceKind::Struct(size, fields)), size, align: most, leaves }
    }

    fn pointer(&mut self, name: String, memory: Memory, to: SourceTypeId) -> SourceTypeId {
        self.source_type(name, SourceKind::Pointer(memory.space(), to))
    }

    fn number(&mut self, name: &str, scalar: Scalar) -> SourceTypeId {
        self.source_type(name.to_owned(), SourceKind::Scalar(scalar))
    }

    fn source_type(&mut self, name: String, kind: SourceKind) -> SourceTypeId {
        let SourceTypes { types, known } = &mut self.types;
        let ty = SourceType { name, kind };
        *known.entry(ty.clone()).or_insert_with(|| {
            types.push(ty);
            SourceTypeId(types.len() as u32 - 1)
        })
    }
}

impl DebugLayout {
    /// A layout of 8 bytes.
    fn word(ty: SourceTypeId) -> Self {
        DebugLayout { ty, size: 8, align: 8, leaves: vec![0] }
    }
}

/// A type in the source's spelling: rustc's, unless it holds references, whose memories rustc does not know.
fn spelled<'t>(ty: &'t Ty, reported: Option<&'t Ty>) -> &'t Ty {
    let mut reported = reported;
    while let Some(Ty::Ref(to, _)) = reported
        && !matches!(ty, Ty::Ref(..))
    {
        reported = Some(to);
    }
    reported.filter(|reported| reported.is_plain()).unwrap_or(ty)
}

/// A binding's name in the source: the macros rename `self`, which only methods may bind.
fn source_name(name: &str) -> &str {
    if name == "__cuda_jit_self" { "self" } else { name.trim_start_matches("r#") }
}

/// Returns an immutable value that holds arrays, without the references that stand for values.
fn holds_arrays(value: &Val) -> Option<Val> {
    let mut ty = &value.ty;
    while let Ty::Ref(to, Memory::Value) = ty {
        ty = to;
    }
    let holds = ty.is_plain() && ty.holds_arrays() && !matches!(ty, Ty::Array(..));
    holds.then(|| Val { ty: ty.clone(), leaves: value.leaves.clone() })
}

/// The byte offsets of the leaves of a plain type that starts at `start`.
fn leaf_places(ty: &Ty, start: u32, leaves: &mut Vec<u32>) {
    match ty {
        Ty::Scalar(_) | Ty::Enum(..) => leaves.push(start),
        Ty::Sum(_) => leaves.push(start + TAG),
        _ => {}
    }
    for (part, offset) in ty.fields() {
        leaf_places(part, start + offset, leaves);
    }
}

/// The name of a type's part, as rustc names numbered ones.
fn part_name(ty: &Ty, index: usize) -> String {
    match ty {
        Ty::Sum(of) if of.identity == SumIdentity::Option => "value".to_owned(),
        Ty::Sum(of) => {
            let named = |variant: &VariantTy| {
                let name = variant.name;
                variant.fields.iter().map(|(field, _)| format!("{name}.{field}")).collect::<Vec<_>>()
            };
            of.variants.iter().flat_map(named).nth(index).unwrap_or_default()
        }
        Ty::Struct(of) if !of.fields[index].name.starts_with(|c: char| c.is_ascii_digit()) => {
            of.fields[index].name.to_owned()
        }
        _ => format!("__{index}"),
    }
}
