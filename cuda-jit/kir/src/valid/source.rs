//! The rules of debug information: types, scopes and variables refer to existing items and fit them.

use super::function::out_of_range;
use super::{Rule, VerifyError, broken};
use crate::{Function, Module, SourceField, SourceKind, SourceScopeId, SourceTypeId, Storage, Variable};

/// Checks a module's source types.
pub(super) fn check_types(module: &Module) -> Result<(), VerifyError> {
    for (index, ty) in module.types.iter().enumerate() {
        let before = |part: SourceTypeId| match part.index() < index {
            true => Ok(()),
            false => Err(broken(Rule::SourceType, format!("t{index} consists of {part}"))),
        };
        match &ty.kind {
            SourceKind::Scalar(_) | SourceKind::Enum(..) => {}
            SourceKind::Pointer(_, to) => before(*to)?,
            SourceKind::Array(element, _) => before(*element)?,
            SourceKind::Struct(size, fields) => {
                for SourceField { name, offset, ty } in fields {
                    before(*ty)?;
                    if u64::from(*offset) + module.source_size(*ty) > (*size).into() {
                        return Err(broken(Rule::SourceType, format!("`{name}` is outside of t{index}")));
                    }
                }
            }
        }
        if module.source_size(SourceTypeId(index as u32)) >= 1 << 31 {
            return Err(broken(Rule::SourceType, format!("t{index} is too large")));
        }
    }
    Ok(())
}

/// Checks a function's scopes and variables.
pub(super) fn check(module: &Module, function: &Function) -> Result<(), VerifyError> {
    for (index, scope) in function.scopes.iter().enumerate() {
        if let Some(outer) = scope.outer.filter(|outer| outer.index() >= index) {
            return Err(broken(Rule::SourceScope, format!("{outer}, which encloses x{index}, comes after it")));
        }
    }
    let (mut slots, mut arrays) = (vec![false; function.slots.len()], vec![false; function.arrays.len()]);
    for variable in &function.variables {
        check_scope(function, variable.scope)?;
        if variable.ty.index() >= module.types.len() {
            return Err(out_of_range("source type", variable.ty.0, module.types.len()));
        }
        let taken = match &variable.storage {
            Storage::Array(array) => take(&mut arrays, array.index(), "array")?,
            Storage::Slots(_) => check_slots(module, function, variable, &mut slots)?,
        };
        if taken {
            return Err(broken(Rule::Variable, format!("another variable has the storage of `{}`", variable.name)));
        }
        if let Storage::Array(array) = variable.storage {
            let array = &function.arrays[array.index()];
            if module.source_size(variable.ty) > array.len * u64::from(array.element.size()) {
                return Err(broken(Rule::Variable, format!("`{}` is larger than its array", variable.name)));
            }
        }
    }
    Ok(())
}

/// Checks that a scope exists, if one is given.
pub(super) fn check_scope(function: &Function, scope: Option<SourceScopeId>) -> Result<(), VerifyError> {
    match scope {
        Some(scope) if scope.index() >= function.scopes.len() => {
            Err(out_of_range("scope", scope.0, function.scopes.len()))
        }
        _ => Ok(()),
    }
}

/// Checks a variable's slots, which must lie in it, in order and aligned; returns true if one of them belongs to
/// another variable.
fn check_slots(
    module: &Module,
    function: &Function,
    variable: &Variable,
    slots: &mut [bool],
) -> Result<bool, VerifyError> {
    let (mut end, mut taken) = (0, false);
    for (slot, offset) in variable.storage.slots() {
        taken |= take(slots, slot.index(), "slot")?;
        let bytes = function.slots[slot.index()].ty.bytes();
        if *offset < end || offset % bytes != 0 {
            return Err(broken(Rule::Variable, format!("{slot} is at byte {offset} of `{}`", variable.name)));
        }
        end = offset + bytes;
    }
    if u64::from(end) > module.source_size(variable.ty) {
        return Err(broken(Rule::Variable, format!("the slots of `{}` extend beyond it", variable.name)));
    }
    Ok(taken)
}

/// Marks storage as taken; returns true if it was taken before.
fn take(taken: &mut [bool], index: usize, what: &str) -> Result<bool, VerifyError> {
    let count = taken.len();
    let entry = taken.get_mut(index).ok_or_else(|| out_of_range(what, index as u32, count))?;
    Ok(std::mem::replace(entry, true))
}
