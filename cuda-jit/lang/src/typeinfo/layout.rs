//! The representation of values in KIR: as *leaves* in values and slots, and by their layout in memory.
//!
//! A value is its leaves in order: a number is one leaf, a slice is an address and a length, a struct has those of its
//! fields, a closure those of its captures, an enum with fields its tag and the fields of every variant. An array is the
//! address of its elements in the thread's memory, unless they contain references: then it has the leaves of all its
//! elements. Structs lie in memory as rustc laid them out. Tuples, `Option` and structs that contain them only ever lie in
//! the thread's own memory, with the layout defined here.

use std::ops::Range;

use super::{Memory, SumIdentity, SumTy, Ty};
use crate::kir::{Access, Pointee, Record, Scalar, Space, Type};

/// The offset of the tag of an enum with fields.
pub const TAG: u32 = 0;

impl Ty {
    /// Returns true if it can lie in memory: it contains no references.
    pub fn is_plain(&self) -> bool {
        match self {
            Ty::Unit | Ty::Scalar(_) | Ty::Enum(..) => true,
            Ty::Tuple(types) => types.iter().all(Ty::is_plain),
            Ty::Struct(of) => of.fields.iter().all(|field| field.ty.is_plain()),
            Ty::Sum(of) => of.fields().all(Ty::is_plain),
            Ty::Array(inner, _) => inner.is_plain(),
            Ty::Slice(..) | Ty::Ref(..) | Ty::View(..) | Ty::Str | Ty::Closure(_) | Ty::Passed(_) => false,
        }
    }

    /// Returns true if it is or contains an array: it is then no register value, and is copied where Rust copies it.
    pub fn holds_arrays(&self) -> bool {
        match self {
            Ty::Array(..) => true,
            Ty::Closure(_) => self.captured().iter().any(Ty::holds_arrays),
            Ty::Sum(of) => of.fields().any(Ty::holds_arrays),
            Ty::Tuple(types) => types.iter().any(Ty::holds_arrays),
            Ty::Struct(of) => of.fields.iter().any(|field| field.ty.holds_arrays()),
            _ => false,
        }
    }

    /// The arrays in memory that a value of this type has, with the indices of their leaves.
    pub fn arrays(&self) -> Vec<(usize, Ty)> {
        let mut arrays = Vec::new();
        self.each_array(0, &mut arrays);
        arrays
    }

    fn each_array(&self, first: usize, arrays: &mut Vec<(usize, Ty)>) {
        match self {
            _ if !self.holds_arrays() => {}
            Ty::Array(..) if self.is_plain() => arrays.push((first, self.clone())),
            Ty::Array(element, count) => {
                let leaves = element.leaves().len();
                (0..*count as usize).for_each(|index| element.each_array(first + index * leaves, arrays));
            }
            _ => {
                for (index, (part, _)) in self.fields().into_iter().enumerate() {
                    part.each_array(first + self.field_leaves(index).start, arrays);
                }
            }
        }
    }

    /// Visits the KIR types that a value of this type consists of, with the accesses that are allowed through pointers.
    pub fn each_leaf(&self, visit: &mut impl FnMut(Type, Access)) {
        let mut pointer = |memory: &Memory, to: &Ty| {
            let access = if memory.writable() { Access::ReadWrite } else { Access::Read };
            visit(Type::Ptr(memory.space(), to.pointee()), access);
        };
        match self {
            Ty::Unit | Ty::Str | Ty::Passed(_) => {}
            Ty::Closure(_) => self.captured().iter().for_each(|ty| ty.each_leaf(visit)),
            Ty::Slice(_, memory) | Ty::Ref(_, memory) | Ty::View(_, _, memory) if memory.is_no_address() => {}
            Ty::Scalar(scalar) | Ty::Enum(_, scalar) => visit(Type::Scalar(*scalar), Access::Read),
            Ty::Slice(element, memory) => {
                pointer(memory, element);
                visit(Type::Scalar(Scalar::U64), Access::Read);
            }
            Ty::Ref(to, Memory::Value) => to.each_leaf(visit),
            Ty::Ref(to, memory) => pointer(memory, to),
            Ty::View(element, dims, memory) => {
                // the address, the extents, and the strides in elements, which wrap
                pointer(memory, element);
                (0..2 * dims).for_each(|_| visit(Type::Scalar(Scalar::U64), Access::Read));
            }
            Ty::Array(element, _) if self.is_plain() => pointer(&Memory::Write(Space::Local), element),
            Ty::Array(element, count) => (0..*count).for_each(|_| element.each_leaf(visit)),
            Ty::Tuple(types) => types.iter().for_each(|ty| ty.each_leaf(visit)),
            Ty::Struct(of) => of.fields.iter().for_each(|field| field.ty.each_leaf(visit)),
            Ty::Sum(of) => {
                visit(Type::Scalar(of.tag()), Access::Read);
                of.fields().for_each(|ty| ty.each_leaf(visit));
            }
        }
    }

    /// The KIR types that a value of this type consists of.
    pub fn leaves(&self) -> Vec<Type> {
        let mut leaves = Vec::new();
        self.each_leaf(&mut |ty, _| leaves.push(ty));
        leaves
    }

    /// The pointee of a pointer to it; for an array, its first number or record.
    pub fn pointee(&self) -> Pointee {
        match self {
            Ty::Scalar(scalar) | Ty::Enum(_, scalar) => Pointee::Scalar(*scalar),
            Ty::Array(element, _) => element.pointee(),
            other => Pointee::Record(other.record()),
        }
    }

    /// The number of pointees in it: the elements of an array, nested or not, else one.
    pub fn count(&self) -> u64 {
        match self {
            Ty::Array(element, count) => count * element.count(),
            _ => 1,
        }
    }

    /// Size and alignment in memory.
    pub fn record(&self) -> Record {
        let mut record = Record { size: 0, align: 1 };
        match self {
            Ty::Scalar(scalar) | Ty::Enum(_, scalar) => record = Record { size: scalar.bytes(), align: scalar.bytes() },
            Ty::Struct(of) if !self.is_of_one_thread() => {
                record = Record { size: of.size as u32, align: of.align as u32 };
            }
            Ty::Struct(of) => record = record_of(&Ty::Unit, of.fields.iter().map(|field| &field.ty)),
            Ty::Array(element, count) => {
                let Record { size, align } = element.record();
                record = Record { size: size.saturating_mul(*count as u32), align };
            }
            Ty::Sum(of) => record = record_of(&Ty::Scalar(of.tag()), of.fields()),
            Ty::Tuple(types) => record = record_of(&Ty::Unit, types),
            Ty::Unit | Ty::Slice(..) | Ty::Ref(..) | Ty::View(..) | Ty::Str | Ty::Closure(_) | Ty::Passed(_) => {}
        }
        record
    }

    /// The fields of a tuple, struct or closure, or of all variants of an enum, each with its offset in memory.
    pub fn fields(&self) -> Vec<(&Ty, u32)> {
        match self {
            Ty::Struct(of) if !self.is_of_one_thread() => {
                of.fields.iter().map(|field| (&field.ty, field.offset as u32)).collect()
            }
            Ty::Struct(of) => placed(&Ty::Unit, of.fields.iter().map(|field| &field.ty)),
            Ty::Tuple(types) => placed(&Ty::Unit, types),
            Ty::Closure(_) => placed(&Ty::Unit, self.captured()),
            Ty::Sum(of) => placed(&Ty::Scalar(of.tag()), of.fields()),
            _ => Vec::new(),
        }
    }

    /// The types of the values that a closure has captured.
    fn captured(&self) -> &'static [Ty] {
        match self {
            Ty::Closure(Memory::Closure(Some(closure))) => closure.state,
            _ => &[],
        }
    }

    /// Returns true if it only ever lies in a thread's own memory: it contains tuples or enums with fields, whose rustc
    /// layout is not available, so that the layout is defined here.
    fn is_of_one_thread(&self) -> bool {
        match self {
            Ty::Tuple(_) | Ty::Sum(_) => true,
            Ty::Array(element, _) => element.is_of_one_thread(),
            Ty::Struct(of) => of.align == 0 || of.fields.iter().any(|field| field.ty.is_of_one_thread()),
            _ => false,
        }
    }

    /// The index of a field.
    pub fn field(&self, name: &str) -> Option<usize> {
        self.field_of(0, name)
    }

    /// The index of a variant's field among those of all variants; a type that is no enum has one variant.
    pub fn field_of(&self, variant: usize, name: &str) -> Option<usize> {
        match self {
            Ty::Tuple(types) => name.parse().ok().filter(|&index| index < types.len()),
            Ty::Struct(of) => of.fields.iter().position(|field| field.name == name),
            Ty::Sum(of) => {
                let index = of.variants[variant].fields.iter().position(|(known, _)| *known == name)?;
                Some(of.fields_of(variant).start + index)
            }
            _ => None,
        }
    }

    /// The indices of a variant's fields among those of all variants; a type that is no enum has one variant.
    pub fn fields_of(&self, variant: usize) -> Range<usize> {
        self.as_sum().map_or_else(|| 0..self.fields().len(), |of| of.fields_of(variant))
    }

    /// The type of the tag that precedes the fields, if there is one.
    pub fn tag(&self) -> Option<Scalar> {
        self.as_sum().map(SumTy::tag)
    }

    /// The leaves of a field.
    pub fn field_leaves(&self, index: usize) -> Range<usize> {
        let mut start = usize::from(self.tag().is_some());
        let parts = self.fields();
        for (ty, _) in &parts[..index] {
            start += ty.leaves().len();
        }
        start..start + parts[index].0.leaves().len()
    }

    /// The memories that its references point to, in order.
    pub fn memories(&self) -> Vec<Memory> {
        let mut memories = Vec::new();
        self.clone().each_memory(&mut |memory| memories.push(*memory));
        memories
    }

    /// The type with its references pointing to the given memories.
    pub fn in_memories(&self, memories: &[Memory]) -> Ty {
        let (mut ty, mut memories) = (self.clone(), memories.iter());
        ty.each_memory(&mut |memory| *memory = memories.next().copied().unwrap_or(*memory));
        ty
    }

    fn each_memory(&mut self, visit: &mut impl FnMut(&mut Memory)) {
        match self {
            Ty::Closure(memory) => visit(memory),
            Ty::Slice(inner, memory) | Ty::Ref(inner, memory) | Ty::View(inner, _, memory) => {
                visit(memory);
                inner.each_memory(visit);
            }
            Ty::Sum(of) if !of.fields().all(Ty::is_plain) => {
                std::sync::Arc::make_mut(of).fields_mut().for_each(|ty| ty.each_memory(visit));
            }
            Ty::Array(inner, _) => inner.each_memory(visit),
            Ty::Tuple(types) => types.iter_mut().for_each(|ty| ty.each_memory(visit)),
            Ty::Struct(of) if !of.fields.iter().all(|field| field.ty.is_plain()) => {
                let fields = &mut std::sync::Arc::make_mut(of).fields;
                fields.iter_mut().for_each(|field| field.ty.each_memory(visit));
            }
            Ty::Unit | Ty::Scalar(_) | Ty::Enum(..) | Ty::Struct(_) | Ty::Sum(_) => {}
            Ty::Str | Ty::Passed(_) => {}
        }
    }

    /// Returns true if the types are equal except for where references point.
    pub fn fits(&self, other: &Ty) -> bool {
        if self == other {
            return true;
        }
        let memories = other.memories();
        self.memories().len() == memories.len() && self.in_memories(&memories) == *other
    }

    /// The number type, if it is one.
    pub fn as_scalar(&self) -> Option<Scalar> {
        match self {
            Ty::Scalar(scalar) => Some(*scalar),
            _ => None,
        }
    }
}

/// The record of a first field and further ones in order, padded to its alignment.
fn record_of<'a>(first: &Ty, types: impl IntoIterator<Item = &'a Ty>) -> Record {
    let mut record = first.record();
    for Record { size, align } in types.into_iter().map(Ty::record) {
        record.append(size, align);
    }
    record.size = record.size.next_multiple_of(record.align);
    record
}

/// Consecutive fields after a first one, each with its offset.
fn placed<'a>(first: &Ty, types: impl IntoIterator<Item = &'a Ty>) -> Vec<(&'a Ty, u32)> {
    let mut record = first.record();
    let place = |ty| {
        let Record { size, align } = Ty::record(ty);
        (ty, record.append(size, align))
    };
    types.into_iter().map(place).collect()
}

/// A type's name in an error.
pub fn ty_name(ty: &Ty) -> String {
    let list = |types: &[Ty]| types.iter().map(ty_name).collect::<Vec<_>>().join(", ");
    let reference = |memory: &Memory| if memory.writable() { "&mut " } else { "&" };
    match ty {
        Ty::Unit => "()".to_owned(),
        Ty::Scalar(scalar) => scalar.to_string(),
        Ty::Enum(of, _) => short(of.name),
        Ty::Struct(of) => short(of.name),
        Ty::Tuple(types) => format!("({})", list(types)),
        Ty::Sum(of) => {
            let fields = || of.fields().map(ty_name).collect::<Vec<_>>().join(", ");
            match of.identity {
                SumIdentity::Option => format!("Option<{}>", fields()),
                SumIdentity::Result => format!("Result<{}>", fields()),
                SumIdentity::ControlFlow => {
                    let fields: Vec<String> = of.fields().map(ty_name).collect();
                    format!("ControlFlow<{}, {}>", fields[1], fields[0])
                }
                SumIdentity::Own(name) => short(name),
            }
        }
        Ty::Array(element, count) => format!("[{}; {count}]", ty_name(element)),
        Ty::Slice(element, memory) => format!("{}[{}]", reference(memory), ty_name(element)),
        Ty::Ref(to, memory) => format!("{}{}", reference(memory), ty_name(to)),
        Ty::View(element, dims, _) => format!("view of {dims} dimensions of {}", ty_name(element)),
        Ty::Str => "str".to_owned(),
        Ty::Closure(_) | Ty::Passed(_) => "closure".to_owned(),
    }
}

/// A type's name without the paths in it.
pub fn short(name: &str) -> String {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut out = String::new();
    let mut rest = name;
    while !rest.is_empty() {
        let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
        out.push_str(rest[..end].rsplit(':').next().unwrap_or_default());
        let skip = rest[end..].find(word).map_or(rest.len(), |next| end + next);
        out.push_str(&rest[end..skip]);
        rest = &rest[skip..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typeinfo::ty_of;

    #[test]
    fn tuples_and_options_are_laid_out_without_overlap() {
        let ty = ty_of::<(u8, f64, Option<u16>, [u8; 3])>();
        assert_eq!(ty.record(), Record { size: 24, align: 8 });
        assert_eq!(ty.fields().iter().map(|part| part.1).collect::<Vec<_>>(), [0, 8, 16, 20]);
        assert_eq!(ty_of::<Option<u16>>().fields()[0].1, 2);
    }

    #[test]
    fn leaves_of_what_holds_references() {
        assert_eq!(ty_of::<[f32; 4]>().leaves().len(), 1);
        assert_eq!(ty_of::<[&[f32]; 3]>().leaves().len(), 6);
        assert_eq!(ty_of::<(u8, Option<(i16, bool)>)>().field_leaves(1), 1..4);
    }

    #[test]
    fn names_lose_their_paths() {
        assert_eq!(short("a::b::Complex<core::option::Option<f32>, [u8; 3]>"), "Complex<Option<f32>, [u8; 3]>");
    }
}
