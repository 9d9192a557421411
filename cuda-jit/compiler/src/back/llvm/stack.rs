//! What a function keeps on its stack: slots and arrays.
//!
//! The slots of a variable of the source lie in one block of memory, as a debugger is told.

use cuda_llvm::inkwell;
use inkwell::AddressSpace;
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{BasicValue, BasicValueEnum, PointerValue};

use super::function::{Lowering, Result};
use super::{EmitError, raw};
use crate::kir::{Function, Home, SlotId};

/// LLVM's number of the space of a thread's own memory.
pub(super) const LOCAL: u16 = 5;

/// Where a function's slots, arrays and variables are.
pub(super) struct Stack<'ctx> {
    pub(super) slots: Vec<PointerValue<'ctx>>,
    pub(super) arrays: Vec<PointerValue<'ctx>>,
    /// The beginning of each variable of the source.
    pub(super) variables: Vec<PointerValue<'ctx>>,
}

impl<'ctx> Lowering<'ctx, '_> {
    /// Makes room for what a function keeps, where its entry begins. Slots are zero at first.
    pub(super) fn stack(&self, function: &Function) -> Result<Stack<'ctx>> {
        let arrays = function.arrays.iter().map(|array| self.room(self.array_type(array), array.element.align()));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let mut homes = vec![None; function.slots.len()];
        let mut variables = Vec::with_capacity(function.variables.len());
        for variable in &function.variables {
            variables.push(match &variable.home {
                Home::Array(array) => arrays[array.index()],
                Home::Slots(slots) => {
                    let bytes = self.context.i8_type().array_type(self.kir.source_size(variable.ty) as u32);
                    let align = slots.iter().map(|(slot, _)| function.slots[slot.index()].ty.bytes()).max();
                    let room = self.room(bytes, align.unwrap_or(1))?;
                    for (SlotId(slot), offset) in slots {
                        let offset = self.context.i64_type().const_int((*offset).into(), false);
                        let byte = self.context.i8_type().into();
                        homes[*slot as usize] = Some(raw::element(&self.builder, byte, room, offset));
                    }
                    room
                }
            });
        }
        let mut slots = Vec::with_capacity(function.slots.len());
        for (slot, home) in function.slots.iter().zip(homes) {
            let ty = self.register_type(slot.ty);
            let slot = home.map_or_else(|| Ok(self.builder.build_alloca(ty, "")?), Result::Ok)?;
            self.builder.build_store(slot, self.begin(ty))?;
            slots.push(slot);
        }
        Ok(Stack { slots, arrays, variables })
    }

    /// The value of a slot before it is set. That of a pointer to what the thread owns is one of LLVM's local space, since its
    /// search for the spaces of pointers (`infer-address-spaces`) crashes where a loop hands round nothing but `null`.
    fn begin(&self, ty: BasicTypeEnum<'ctx>) -> BasicValueEnum<'ctx> {
        match ty {
            BasicTypeEnum::PointerType(generic) if generic.get_address_space() == AddressSpace::default() => {
                let local = self.context.ptr_type(AddressSpace::from(LOCAL));
                local.const_null().const_address_space_cast(generic).into()
            }
            ty => ty.const_zero(),
        }
    }

    fn room(&self, ty: impl BasicType<'ctx>, align: u32) -> Result<PointerValue<'ctx>> {
        let variable = self.builder.build_alloca::<BasicTypeEnum<'ctx>>(ty.as_basic_type_enum(), "")?;
        let Some(inst) = variable.as_instruction_value() else { return Err(EmitError::Llvm("alloca".to_owned())) };
        inst.set_alignment(align).map_err(|error| EmitError::Llvm(error.to_string()))?;
        Ok(variable)
    }
}
