//! Lowers `print`: a call of the device's `vprintf`, with the values packed as C's variadic arguments are.
//!
//! One local buffer serves all prints of a function. Texts are constants in global memory, which `vprintf` takes by
//! generic address.

use cuda_llvm::inkwell;
use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::values::{BasicValue, BasicValueEnum, PointerValue};

use super::EmitError;
use super::function::{Body, GLOBAL, Lowering, Result};
use super::raw;
use crate::kir::{Function, Op, Scalar, Type, Value};

/// The function that the driver provides: `(format, arguments)`, both generic addresses.
const VPRINTF: &str = "vprintf";
/// The size of the largest argument, which is the largest alignment.
const ALIGN: u32 = 8;

/// The size of a print's packed values, each naturally aligned.
fn packed(types: impl Iterator<Item = Type>) -> u32 {
    types.fold(0, |end, ty| {
        let size = size(ty);
        end.next_multiple_of(size) + size
    })
}

/// The size of a value; a `bool` is passed as the address of its text.
fn size(ty: Type) -> u32 {
    match ty {
        Type::Scalar(Scalar::Bool) | Type::Ptr(..) => 8,
        Type::Scalar(scalar) => scalar.bytes(),
    }
}

impl<'ctx> Lowering<'ctx, '_> {
    /// Allocates the buffer for a function's prints, if it has any, in the entry block.
    pub(super) fn print_buffer(&self, kir: &Function) -> Result<Option<PointerValue<'ctx>>> {
        let insts = kir.blocks.iter().flat_map(|block| &block.insts);
        let mut types: Vec<Type> = kir.params.iter().map(|param| param.ty).collect();
        types.extend(insts.clone().filter_map(|inst| inst.result).map(|(_, ty)| ty));
        let sizes = insts.filter_map(|inst| match &inst.op {
            Op::Print(_, values) => Some(packed(values.iter().map(|value| types[value.index()]))),
            _ => None,
        });
        let Some(bytes) = sizes.max() else { return Ok(None) };
        let cells = self.context.i64_type().array_type(bytes.div_ceil(ALIGN).max(1));
        let buffer = self.builder.build_alloca(cells, "printed")?;
        let Some(inst) = buffer.as_instruction_value() else { return Err(EmitError::Llvm("alloca".to_owned())) };
        inst.set_alignment(ALIGN).map_err(|error| EmitError::Llvm(error.to_string()))?;
        Ok(Some(buffer))
    }

    /// The generic address of a zero-terminated text.
    fn text(&self, text: &str) -> PointerValue<'ctx> {
        let bytes = self.context.const_string(text.as_bytes(), true);
        let variable = self.module.add_global(bytes.get_type(), Some(AddressSpace::from(GLOBAL)), "text");
        variable.set_linkage(Linkage::Private);
        variable.set_constant(true);
        variable.set_unnamed_addr(true);
        variable.set_initializer(&bytes);
        variable.as_pointer_value().const_address_space_cast(self.context.ptr_type(AddressSpace::default()))
    }
}

impl<'ctx> Body<'ctx, '_> {
    /// Lowers `print format (values)`.
    pub(super) fn print(&self, format: &str, values: &[Value]) -> Result<()> {
        let (lowering, builder) = (self.lowering, self.builder());
        let Some(buffer) = self.printed else { return Err(self.unverified("print")) };
        let (byte, long) = (lowering.context.i8_type(), lowering.context.i64_type());
        let mut end = 0_u32;
        for &value in values {
            let (passed, size) = (self.print_argument(value)?, size(self.ty(value)));
            let at = end.next_multiple_of(size);
            let place = raw::element(builder, byte.into(), buffer, long.const_int(at.into(), false));
            let store = builder.build_store(place, passed)?;
            store.set_alignment(size).map_err(|error| EmitError::Llvm(error.to_string()))?;
            end = at + size;
        }
        let generic = lowering.context.ptr_type(AddressSpace::default());
        let vprintf = lowering.module.get_function(VPRINTF).unwrap_or_else(|| {
            let ty = lowering.context.i32_type().fn_type(&[generic.into(), generic.into()], false);
            lowering.module.add_function(VPRINTF, ty, None)
        });
        let arguments = if values.is_empty() { generic.const_null() } else { buffer };
        builder.build_call(vprintf, &[lowering.text(format).into(), arguments.into()], "")?;
        Ok(())
    }

    fn print_argument(&self, value: Value) -> Result<BasicValueEnum<'ctx>> {
        let passed = self.value(value);
        if self.ty(value) != Scalar::Bool.into() {
            return Ok(passed);
        }
        let [yes, no] = ["true", "false"].map(|text| self.lowering.text(text));
        Ok(self.builder().build_select(passed.into_int_value(), yes, no, "")?)
    }
}
