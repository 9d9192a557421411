//! The module's global variables: shared arrays, static or dynamic, and constants.

use cuda_llvm::inkwell;
use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::values::PointerValue;

use super::function::{CONSTANT, GLOBAL, Lowering, SHARED};
use crate::kir::{ArrayDecl, ConstantDecl, SHARED_ALIGN, Space};

impl<'ctx> Lowering<'ctx, '_> {
    /// Declares a shared array as a global variable, without an initial value as PTX requires.
    pub(super) fn declare_shared(&self, index: usize, array: &ArrayDecl) -> PointerValue<'ctx> {
        let ty = self.array_type(array);
        let plain: String = array.name.chars().map(|c| if c == '.' { '_' } else { c }).collect();
        let variable = self.module.add_global(ty, Some(AddressSpace::from(SHARED)), &format!("shared{index}_{plain}"));
        variable.set_linkage(Linkage::Internal);
        variable.set_initializer(&ty.get_undef());
        variable.set_alignment(array.shared_align());
        variable.as_pointer_value()
    }

    /// Declares a constant as a global variable. One that the host updates has no constant initial value.
    pub(super) fn declare_constant(&self, index: usize, constant: &ConstantDecl) -> PointerValue<'ctx> {
        let bytes = self.context.const_string(&constant.bytes, false);
        let space = if constant.space == Space::Constant { CONSTANT } else { GLOBAL };
        let name = constant.symbol(index);
        let variable = self.module.add_global(bytes.get_type(), Some(AddressSpace::from(space)), &name);
        variable.set_initializer(&bytes);
        variable.set_alignment(constant.align());
        if constant.host {
            variable.set_externally_initialized(true);
        } else {
            variable.set_constant(true);
            variable.set_linkage(Linkage::Internal);
        }
        variable.as_pointer_value()
    }

    /// The start of dynamic shared memory: one array whose size the launch gives, with the largest alignment requested.
    pub(super) fn dynamic_shared(&self, align: u32) -> PointerValue<'ctx> {
        const NAME: &str = "dynamic_shared";
        let variable = self.module.get_global(NAME).unwrap_or_else(|| {
            let ty = self.context.i8_type().array_type(0);
            let variable = self.module.add_global(ty, Some(AddressSpace::from(SHARED)), NAME);
            variable.set_alignment(SHARED_ALIGN);
            variable
        });
        variable.set_alignment(variable.get_alignment().max(align));
        variable.as_pointer_value()
    }
}
