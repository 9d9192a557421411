//! Constants of the source: scalars and aggregates of them become values, arrays become memory.
//!
//! An array that is a `const` or `static` item is not copied per thread: one copy lies in constant memory. Arrays
//! beyond constant memory's 64 KiB lie in global memory. A [`Constant`](crate::Constant), which must be in constant
//! memory, has priority over such tables. What a constant refers to is a constant of its own.

use std::sync::Arc;

use super::builder::Builder;
use super::function::{Lowering, Result};
use super::place::Place;
use super::scopes::Scopes;
use super::types::Val;
use super::{Callee, LowerError, Program};
use crate::kir::{ArrayDecl, CONSTANT_MEMORY, ConstantDecl, ConstantId, Op, Space, Type, taken};
use crate::syntax::{Expr, ExprKind, Pos};
use crate::typeinfo::layout::{TAG, ty_name};
use crate::typeinfo::{ConstValue, HostConstant, Memory, Operation, Ty};

/// The constants of a module while it is lowered.
#[derive(Default)]
pub(super) struct Constants {
    /// True if all tables are placed in global memory.
    pub(super) global_tables: bool,
    pub(super) declared: Vec<ConstantDecl>,
    /// The constants that the host updates.
    pub(super) host_constants: Vec<(ConstantId, HostConstant)>,
    /// The error of the first host-updated constant that does not fit.
    pub(super) overflow: Option<LowerError>,
}

impl Constants {
    fn used(&self) -> u64 {
        self.declared.iter().map(ConstantDecl::constant_memory).sum()
    }

    /// Returns true if tables are in constant memory, so that moving them to global memory makes room.
    pub(super) fn has_movable_tables(&self) -> bool {
        self.declared.iter().any(|constant| !constant.host && constant.space == Space::Constant)
    }
}

impl Program {
    /// Adds a constant with these bytes, or returns the identical one that exists.
    fn constant(&mut self, ty: &Ty, bytes: Vec<u8>, host: Option<&HostConstant>) -> ConstantId {
        let constants = &mut self.constants;
        let known = match host {
            Some(host) => {
                constants.host_constants.iter().find(|known| Arc::ptr_eq(&known.1, host)).map(|known| known.0)
            }
            None => {
                let same =
                    |known: &ConstantDecl| !known.host && *known.bytes == *bytes && known.array.element == ty.pointee();
                constants.declared.iter().position(same).map(|index| ConstantId(index as u32))
            }
        };
        if let Some(known) = known {
            return known;
        }
        let fits = !constants.global_tables && constants.used() + taken(bytes.len()) <= CONSTANT_MEMORY;
        let space = if host.is_some() || fits { Space::Constant } else { Space::Global };
        let name = if host.is_some() { "host" } else { "table" }.to_owned();
        let array = ArrayDecl { name, element: ty.pointee(), len: ty.count() };
        let id = ConstantId(constants.declared.len() as u32);
        constants.declared.push(ConstantDecl { array, space, host: host.is_some(), bytes: bytes.into() });
        constants.host_constants.extend(host.map(|host| (id, host.clone())));
        id
    }
}

impl Lowering<'_> {
    /// The place of the constant with a number.
    pub(super) fn constant_by_number(&mut self, at: Pos, number: u32) -> Result<Place> {
        let info = self.frame().info.clone();
        self.constant_place(at, &info.consts[number as usize])
    }

    /// The place of a constant.
    pub(super) fn constant_place(&mut self, at: Pos, constant: &ConstValue) -> Result<Place> {
        let ConstValue { ty, cells, host_constant } = constant;
        if let Ty::Sum(of) = ty
            && let Some(variant) = cells.first().map(|tag| *tag as usize)
            && of.variants[variant].fields.is_empty()
        {
            return Ok(Place::Fixed(self.build.constructed(ty, variant, Vec::new())));
        }
        let cells = &mut cells.iter().copied();
        if !ty.memories().is_empty() {
            return Ok(Place::Fixed(self.referring(at, ty, cells)?));
        }
        self.table(at, ty, cells, host_constant.as_ref())
    }

    /// The value of a constant that is a reference or an array of references.
    fn referring(&mut self, at: Pos, ty: &Ty, cells: &mut impl Iterator<Item = u128>) -> Result<Val> {
        match ty {
            Ty::Slice(element, _) => {
                let len = cells.next().unwrap_or_default() as u64;
                let elements = self.table(at, &Ty::Array(element.clone(), len), cells, None)?;
                self.as_slice_value(&elements)
            }
            Ty::Ref(to, _) => {
                let target = self.table(at, to, cells, None)?;
                Ok(self.reference(target, false))
            }
            Ty::Array(element, count) => {
                let values: Result<_> = (0..*count).map(|_| Ok((at, self.referring(at, element, cells)?))).collect();
                self.array_of_references(values?, element)
            }
            other => {
                let text = format!(
                    "`{}` holds references, and kernels have no such constants; match it, `Some(x)`, or write a constant for \
                     each reference",
                    ty_name(other)
                );
                Err(self.error(at, text))
            }
        }
    }

    /// The place of a constant without references.
    fn table(
        &mut self,
        at: Pos,
        ty: &Ty,
        cells: &mut impl Iterator<Item = u128>,
        host_constant: Option<&HostConstant>,
    ) -> Result<Place> {
        let size = ty.record().size as usize;
        if size == 0 || host_constant.is_none() && !ty.holds_arrays() {
            return Ok(Place::Fixed(self.build.constant_value(ty, cells)));
        }
        let mut bytes = vec![0; size];
        image(ty, cells, &mut bytes);
        let id = self.program.constant(ty, bytes, host_constant);
        let constants = &self.program.constants;
        let used = constants.used();
        if host_constant.is_some() && used > CONSTANT_MEMORY && constants.overflow.is_none() {
            let text = format!(
                "with this one the kernel's constants take {used} bytes, and there are {CONSTANT_MEMORY} of constant \
                 memory; pass it as a `&[T]` parameter"
            );
            self.program.constants.overflow = Some(self.error(at, text));
        }
        let space = self.program.constants.declared[id.index()].space;
        let ptr = self.build.value(Op::Constant(id), Type::Ptr(space, ty.pointee()));
        Ok(Place::Memory(ptr, ty.clone(), Memory::Read(space)))
    }
}

impl Scopes {
    /// The number of the `Constant` whose value a method call reads, if its receiver is one.
    pub(super) fn host_constant(&self, receiver: &Expr, number: u32) -> Option<u32> {
        match (&self.frame().callees[number as usize], &receiver.1) {
            (Callee::Operation(Operation::HostConstantValue, _), ExprKind::Const(constant)) => Some(*constant),
            _ => None,
        }
    }
}

impl Builder {
    /// Builds a value of any type from the bits of its scalars.
    pub(super) fn constant_value(&mut self, ty: &Ty, cells: &mut impl Iterator<Item = u128>) -> Val {
        let mut value = Val { ty: ty.clone(), leaves: Vec::new() };
        match ty {
            Ty::Scalar(scalar) | Ty::Enum(_, scalar) => {
                value.leaves.push(self.constant_bits(*scalar, cells.next().unwrap_or_default()));
            }
            Ty::Array(element, count) => {
                let array = self.new_array("constant", ty);
                for index in 0..*count {
                    let one = self.constant_value(element, cells);
                    let place = self.element_at(array.only(), element, Space::Local, index * element.count());
                    self.store(place, Space::Local, &one);
                }
                return self.fresh(array);
            }
            _ => {
                if let Some(tag) = ty.tag() {
                    value.leaves.push(self.constant_bits(tag, cells.next().unwrap_or_default()));
                }
                for (part, _) in ty.fields() {
                    value.leaves.extend(self.constant_value(part, cells).leaves);
                }
            }
        }
        value
    }
}

/// Writes the memory image of a value to the start of `bytes`, from the bits of its scalars.
fn image(ty: &Ty, cells: &mut impl Iterator<Item = u128>, bytes: &mut [u8]) {
    match ty {
        Ty::Scalar(scalar) | Ty::Enum(_, scalar) => {
            let width = scalar.bytes() as usize;
            bytes[..width].copy_from_slice(&cells.next().unwrap_or_default().to_le_bytes()[..width]);
        }
        Ty::Array(element, count) => {
            let stride = (element.record().size as usize).max(1);
            bytes.chunks_mut(stride).take(*count as usize).for_each(|bytes| image(element, cells, bytes));
        }
        _ => {
            if let Some(tag) = ty.tag() {
                image(&Ty::Scalar(tag), cells, &mut bytes[TAG as usize..]);
            }
            for (part, offset) in ty.fields() {
                image(part, cells, &mut bytes[offset as usize..]);
            }
        }
    }
}
