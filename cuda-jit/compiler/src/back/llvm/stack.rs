//! The stack frame of a function: slots and arrays.
//!
//! The slots of a debug variable lie in one block of memory, as DWARF describes it.

use cuda_llvm::inkwell;
use inkwell::AddressSpace;
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{BasicValue, BasicValueEnum, PointerValue};

use super::function::{Lowering, Result};
use super::{EmitError, raw};
use crate::kir::{Function, SlotId, Storage};

/// LLVM's address space of local memory.
pub(super) const LOCAL: u16 = 5;

/// The addresses of a function's slots, arrays and debug variables.
pub(super) struct Stack<'ctx> {
    pub(super) slots: Vec<PointerValue<'ctx>>,
    pub(super) arrays: Vec<PointerValue<'ctx>>,
    /// The start of each debug variable.
    pub(super) variables: Vec<PointerValue<'ctx>>,
}

impl<'ctx> Lowering<'ctx, '_> {
    /// Allocates a function's stack frame at the start of the entry block. Slots are initialised to zero.
    pub(super) fn stack(&self, function: &Function) -> Result<Stack<'ctx>> {
        let arrays = function.arrays.iter().map(|array| self.allocate(self.array_type(array), array.element.align()));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let mut within = vec![None; function.slots.len()];
        let mut variables = Vec::with_capacity(function.variables.len());
        for variable in &function.variables {
            variables.push(match &variable.storage {
                Storage::Array(array) => arrays[array.index()],
                Storage::Slots(slots) => {
                    let bytes = self.context.i8_type().array_type(self.kir.source_size(variable.ty) as u32);
                    let align = slots.iter().map(|(slot, _)| function.slots[slot.index()].ty.bytes()).max();
                    let block = self.allocate(bytes, align.unwrap_or(1))?;
                    for (SlotId(slot), offset) in slots {
                        let offset = self.context.i64_type().const_int((*offset).into(), false);
                        let byte = self.context.i8_type().into();
                        within[*slot as usize] = Some(raw::element(&self.builder, byte, block, offset));
                    }
                    block
                }
            });
        }
        let mut slots = Vec::with_capacity(function.slots.len());
        for (slot, place) in function.slots.iter().zip(within) {
            let ty = self.register_type(slot.ty);
            let slot = place.map_or_else(|| Ok(self.builder.build_alloca(ty, "")?), Result::Ok)?;
            self.builder.build_store(slot, self.initial_value(ty))?;
            slots.push(slot);
        }
        Ok(Stack { slots, arrays, variables })
    }

    /// A slot's initial value. A pointer to local memory is cast from LLVM's local address space, since LLVM's
    /// `infer-address-spaces` crashes on a loop whose only pointer value is `null`.
    fn initial_value(&self, ty: BasicTypeEnum<'ctx>) -> BasicValueEnum<'ctx> {
        match ty {
            BasicTypeEnum::PointerType(generic) if generic.get_address_space() == AddressSpace::default() => {
                let local = self.context.ptr_type(AddressSpace::from(LOCAL));
                local.const_null().const_address_space_cast(generic).into()
            }
            ty => ty.const_zero(),
        }
    }

    fn allocate(&self, ty: impl BasicType<'ctx>, align: u32) -> Result<PointerValue<'ctx>> {
        let variable = self.builder.build_alloca::<BasicTypeEnum<'ctx>>(ty.as_basic_type_enum(), "")?;
        let Some(inst) = variable.as_instruction_value() else { return Err(EmitError::Llvm("alloca".to_owned())) };
        inst.set_alignment(align).map_err(|error| EmitError::Llvm(error.to_string()))?;
        Ok(variable)
    }
}
