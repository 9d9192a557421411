//! The parameters of a function: their KIR declarations, and the values built from them.

use std::sync::Arc;

use super::builder::Builder;
use super::types::Val;
use crate::kir::{Access, Param, Role, Space, Type};
use crate::syntax::{Definition, Pattern};
use crate::typeinfo::{Memory, Ty, TypeInfo};

/// The KIR parameters and result. A result other than a single number is stored through the first parameter.
pub(super) fn signature(definition: &Definition, info: &TypeInfo, is_kernel: bool) -> (Vec<Param>, Option<Type>) {
    let mut params = Vec::new();
    let result = match &info.result {
        Ty::Scalar(scalar) | Ty::Enum(_, scalar) => Some(Type::Scalar(*scalar)),
        Ty::Unit => None,
        other => {
            let ty = Type::Ptr(Space::Local, other.pointee());
            params.push(Param { name: "result".to_owned(), ty, access: Access::ReadWrite, role: Role::Plain });
            None
        }
    };
    for (pattern, ty) in definition.params.iter().zip(&info.params) {
        let name = match pattern {
            Pattern::Bind(number) => definition.bindings[*number as usize].name,
            _ => "_",
        };
        let name = super::variable_name(name);
        let ty = if is_kernel { flat(ty) } else { ty.clone() };
        let part = |index: usize| match &ty {
            Ty::Slice(..) | Ty::View(..) if index == 0 => format!("{name}.ptr"),
            Ty::Slice(..) => format!("{name}.len"),
            Ty::Scalar(_) | Ty::Enum(..) | Ty::Array(..) => name.clone(),
            Ty::Ref(_, memory) if *memory != Memory::Value => name.clone(),
            Ty::View(_, dims, _) if index <= *dims => format!("{name}.extent{}", index - 1),
            Ty::View(_, dims, _) => format!("{name}.stride{}", index - 1 - dims),
            _ => format!("{name}.{index}"),
        };
        let extents = match &ty {
            _ if !is_kernel => 0,
            Ty::Slice(..) => 1,
            Ty::View(_, dims, _) => *dims,
            _ => 0,
        };
        let (first, flat_ty) = (params.len(), &ty);
        ty.each_leaf(&mut |ty, access| {
            let index = params.len() - first;
            let role = match index {
                0 => Role::Plain,
                _ if index <= extents => Role::Extent,
                _ if index <= 2 * extents && matches!(flat_ty, Ty::View(..)) => Role::Stride,
                _ => Role::Plain,
            };
            params.push(Param { name: part(index), ty, access, role });
        });
    }
    (params, result)
}

/// A kernel parameter's type, with arrays replaced by tuples of their elements.
fn flat(ty: &Ty) -> Ty {
    match ty {
        Ty::Array(element, count) => Ty::Tuple(vec![flat(element); *count as usize]),
        Ty::Tuple(types) => Ty::Tuple(types.iter().map(flat).collect()),
        Ty::Struct(of) => Ty::Tuple(of.fields.iter().map(|field| flat(&field.ty)).collect()),
        Ty::Sum(of) => {
            let mut of = of.clone();
            Arc::make_mut(&mut of).fields_mut().for_each(|ty| *ty = flat(ty));
            Ty::Sum(of)
        }
        Ty::Passed(passed) => Ty::Tuple(passed.captures.iter().flatten().map(flat).collect()),
        other => other.clone(),
    }
}

impl Builder {
    /// Builds a value from a device function's parameters.
    pub(super) fn parameter(&mut self, ty: &Ty, next: &mut usize) -> Val {
        let count = ty.leaves().len();
        let leaves = (*next..*next + count).map(|index| self.param(index)).collect();
        *next += count;
        self.stable(Val { ty: ty.clone(), leaves })
    }

    /// Builds a value from a kernel's parameters, which pass an array by its elements.
    pub(super) fn kernel_parameter(&mut self, ty: &Ty, next: &mut usize) -> Val {
        match ty {
            Ty::Array(element, count) if ty.is_plain() => {
                let array = self.new_array("param", ty);
                let stride = element.count();
                for index in 0..*count {
                    let value = self.kernel_parameter(element, next);
                    let place = self.element_at(array.only(), element, Space::Local, index * stride);
                    self.store(place, Space::Local, &value);
                }
                self.fresh(array)
            }
            Ty::Tuple(_) | Ty::Struct(_) | Ty::Array(..) | Ty::Sum(_) => {
                let mut value = Val { ty: ty.clone(), leaves: Vec::new() };
                if ty.tag().is_some() {
                    value.leaves.push(self.param(*next));
                    *next += 1;
                }
                let parts: Vec<Ty> = match ty {
                    Ty::Array(element, count) => (0..*count).map(|_| (**element).clone()).collect(),
                    _ => ty.fields().into_iter().map(|(part, _)| part.clone()).collect(),
                };
                for part in parts {
                    let part = self.kernel_parameter(&part, next);
                    value.leaves.extend(part.leaves);
                }
                value
            }
            _ => self.parameter(ty, next),
        }
    }
}
