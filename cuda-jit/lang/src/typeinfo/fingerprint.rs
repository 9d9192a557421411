//! The structural fingerprint of a specialisation: its source and that of all functions that it calls, with every type and
//! constant in them.
//!
//! Two programs compute the same bytes for a kernel if its captured source, its types and its constants are equal, so that
//! the code that one of them compiled is valid for the other's kernel too. Data that differs between two builds of one
//! source is excluded: addresses, [`TypeId`](std::any::TypeId)s and paths of source files. A recurring item is written once
//! and then referred to by its number, which also ends the recursion.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use super::{
    Body, ConstValue, EnumTy, GenericArg, HostConstant, Instance, Operator, Passed, Resolved, StructTy, SumTy, Ty,
    TypeInfo, Typing,
};
use crate::kir::Scalar;
use crate::syntax::code::Encode;
use crate::syntax::{Definition, ensure_sufficient_stack};

/// The fingerprint of a specialisation.
#[derive(Debug, Default)]
pub struct Fingerprint {
    /// The canonical encoding.
    pub bytes: Vec<u8>,
    /// The host-updatable constants, in the order of their first occurrence.
    pub constants: Vec<HostConstant>,
    definitions: HashMap<*const Definition, u64>,
    instances: HashMap<(*const Definition, Vec<GenericArg>), u64>,
    types: HashMap<Ty, u64>,
}

impl Fingerprint {
    /// The fingerprint of a kernel's specialisation.
    #[must_use]
    pub fn of(instance: &Instance) -> Self {
        let mut fingerprint = Self::default();
        fingerprint.instance(instance);
        fingerprint
    }

    /// The number of a host-updatable constant; `None` if the specialisation does not read it.
    #[must_use]
    pub fn number_of(&self, constant: &HostConstant) -> Option<usize> {
        self.constants.iter().position(|known| std::ptr::addr_eq(Arc::as_ptr(known), Arc::as_ptr(constant)))
    }

    fn tag(&mut self, tag: u8) {
        self.bytes.push(tag);
    }

    fn number(&mut self, number: u64) {
        number.encode(&mut self.bytes);
    }

    fn text(&mut self, text: &str) {
        text.encode(&mut self.bytes);
    }

    /// One of the compiler's enums, by the text of its derived `Debug`.
    fn named(&mut self, value: &dyn Debug) {
        self.text(&format!("{value:?}"));
    }

    fn list<T>(&mut self, list: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number(list.len() as u64);
        list.iter().for_each(|item| each(self, item));
    }

    fn maybe<T>(&mut self, value: Option<&T>, each: impl FnOnce(&mut Self, &T)) {
        self.tag(u8::from(value.is_some()));
        if let Some(value) = value {
            each(self, value);
        }
    }

    fn instance(&mut self, instance: &Instance) {
        ensure_sufficient_stack(|| match instance.body {
            Body::Captured(definition, probe) => {
                self.tag(0);
                let key = (std::ptr::from_ref(definition), instance.generics.clone());
                let next = self.instances.len() as u64;
                let number = *self.instances.entry(key).or_insert(next);
                self.number(number);
                if number == next {
                    self.definition(definition);
                    self.list(&instance.generics, Self::generic);
                    self.reported(&probe().into_info());
                }
            }
            Body::Intrinsic(intrinsic) => {
                self.tag(1);
                self.named(&intrinsic);
                self.list(&instance.generics, Self::generic);
            }
            Body::Operation(operation, typing) => {
                self.tag(2);
                self.named(&operation);
                self.typing(&typing());
            }
            Body::Constructor(ty, variant) => {
                self.tag(3);
                self.ty(&ty());
                self.named(&variant());
            }
            Body::Constant(value) => {
                self.tag(4);
                self.constant(&value());
            }
            Body::Mismatch(name) => {
                self.tag(5);
                self.text(name);
            }
            Body::None => self.tag(6),
        });
    }

    /// A function as written, without the path of its file.
    fn definition(&mut self, definition: &'static Definition) {
        let next = self.definitions.len() as u64;
        let number = *self.definitions.entry(std::ptr::from_ref(definition)).or_insert(next);
        self.number(number);
        if number == next {
            Definition { file: "", ..definition.clone() }.encode(&mut self.bytes);
        }
    }

    fn generic(&mut self, generic: &GenericArg) {
        match generic {
            GenericArg::Type(ty, _) => {
                self.tag(0);
                self.ty(ty);
            }
            GenericArg::Const(bits) => {
                self.tag(1);
                bits.encode(&mut self.bytes);
            }
            GenericArg::Of(name, _) => {
                self.tag(2);
                self.text(name);
            }
        }
    }

    fn reported(&mut self, reported: &TypeInfo) {
        let TypeInfo {
            of: _,
            params,
            result,
            bindings,
            spelled,
            consts,
            patterns,
            callees,
            types,
            named,
            launch_bounds,
        } = reported;
        self.list(params, Self::ty);
        self.ty(result);
        self.list(bindings, |to, ty| to.maybe(ty.as_ref(), Self::ty));
        self.list(spelled, |to, ty| to.maybe(ty.as_ref(), Self::ty));
        self.list(consts, Self::constant);
        self.list(patterns, |to, resolved| to.maybe(resolved.as_ref(), Self::resolved));
        self.list(callees, Self::instance);
        self.list(types, |to, scalar: &Scalar| to.text(scalar.name()));
        self.list(named, Self::ty);
        self.list(launch_bounds, |to, bound| to.number((*bound).into()));
    }

    fn typing(&mut self, typing: &Typing) {
        self.list(&typing.params, Self::ty);
        self.ty(&typing.result);
    }

    fn resolved(&mut self, resolved: &Resolved) {
        match resolved {
            Resolved::Constant(value) => {
                self.tag(0);
                self.constant(value);
            }
            Resolved::Variant(number) => {
                self.tag(1);
                self.number(*number as u64);
            }
        }
    }

    fn constant(&mut self, ConstValue { ty, cells, host_constant }: &ConstValue) {
        self.ty(ty);
        self.list(cells, |to, cell: &u128| cell.encode(&mut to.bytes));
        self.maybe(host_constant.as_ref(), |to, host_constant| {
            let number = to.number_of(host_constant).unwrap_or_else(|| {
                to.constants.push(host_constant.clone());
                to.constants.len() - 1
            });
            to.number(number as u64);
        });
    }

    /// A type. Structs and enums are equal by their names and fields, and their operators follow from these.
    fn ty(&mut self, ty: &Ty) {
        ensure_sufficient_stack(|| match ty {
            Ty::Unit => self.tag(0),
            Ty::Scalar(scalar) => {
                self.tag(1);
                self.text(scalar.name());
            }
            Ty::Enum(of, scalar) => {
                self.tag(2);
                self.text(scalar.name());
                self.once(ty, |to| to.c_like(of));
            }
            Ty::Tuple(types) => {
                self.tag(3);
                self.list(types, Self::ty);
            }
            Ty::Struct(of) => {
                self.tag(4);
                self.once(ty, |to| to.structure(of));
            }
            Ty::Sum(of) => {
                self.tag(5);
                self.once(ty, |to| to.sum(of));
            }
            Ty::Array(element, length) => {
                self.tag(6);
                self.ty(element);
                self.number(*length);
            }
            Ty::Slice(element, memory) => {
                self.tag(7);
                self.ty(element);
                self.named(memory);
            }
            Ty::Ref(to, memory) => {
                self.tag(8);
                self.ty(to);
                self.named(memory);
            }
            Ty::View(element, dimensions, memory) => {
                self.tag(9);
                self.ty(element);
                self.number(*dimensions as u64);
                self.named(memory);
            }
            Ty::Str => self.tag(10),
            Ty::Closure(memory) => {
                self.tag(11);
                self.named(memory);
            }
            Ty::Passed(of) => {
                self.tag(12);
                self.once(ty, |to| to.passed(of));
            }
        });
    }

    /// Writes the description of a type at its first occurrence, and its number.
    fn once(&mut self, ty: &Ty, write: impl FnOnce(&mut Self)) {
        let next = self.types.len() as u64;
        let number = *self.types.entry(ty.clone()).or_insert(next);
        self.number(number);
        if number == next {
            write(self);
        }
    }

    fn c_like(&mut self, EnumTy { name, variants, comparisons, operators }: &EnumTy) {
        self.text(name);
        self.list(variants, |to, (name, bits)| {
            to.text(name);
            to.number(*bits);
        });
        self.named(comparisons());
        self.list(&operators(), Self::operator);
    }

    fn structure(&mut self, of: &StructTy) {
        let StructTy { name, fields, size, align, operators, arithmetic } = of;
        self.text(name);
        self.list(fields, |to, field| {
            to.text(field.name);
            to.ty(&field.ty);
            to.number(field.offset as u64);
        });
        self.number(*size as u64);
        self.number(*align as u64);
        self.named(arithmetic);
        self.list(&operators(), Self::operator);
    }

    fn sum(&mut self, SumTy { identity, variants, operators, arithmetic }: &SumTy) {
        self.named(identity);
        self.list(variants, |to, variant| {
            to.text(variant.name);
            to.list(&variant.fields, |to, (name, ty)| {
                to.text(name);
                to.ty(ty);
            });
        });
        self.named(arithmetic);
        self.list(&operators(), Self::operator);
    }

    fn operator(&mut self, Operator { name, left, right, instance }: &Operator) {
        self.text(name);
        self.maybe(left.as_ref(), Self::ty);
        self.ty(right);
        self.instance(instance);
    }

    fn passed(&mut self, Passed { id: _, instance, captures }: &Passed) {
        self.instance(instance);
        self.maybe(captures.as_ref(), |to, captures| to.list(captures, Self::ty));
    }
}
