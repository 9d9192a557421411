//! Lowers exported functions: a wrapper with the calling convention that nvcc gives a C device function.
//!
//! A number is passed as itself, extended to 32 bits if it is narrower. An aggregate passed by value is a byte array
//! with the type's size and alignment, of which the function gets a copy (`byval`); one returned by value is such an
//! array as LLVM's return type.

use cuda_llvm::inkwell;
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Linkage;
use inkwell::types::{AnyType, ArrayType, BasicMetadataTypeEnum, BasicType};
use inkwell::values::{BasicValue, FunctionValue, PointerValue};

use super::EmitError;
use super::function::{Body, Lowering, Result};
use crate::kir::{Function, Param, Pointee, Role, Scalar, Type, Value};

impl<'ctx> Lowering<'ctx, '_> {
    /// Declares a function with C's calling convention.
    pub(super) fn declare_exported(&self, function: &Function) -> FunctionValue<'ctx> {
        let returned = function.params.iter().find(|param| param.role == Role::Returned);
        let passed: Vec<&Param> = function.params.iter().filter(|param| param.role != Role::Returned).collect();
        let generic = self.context.ptr_type(AddressSpace::default());
        let params: Vec<BasicMetadataTypeEnum<'ctx>> = passed
            .iter()
            .map(|param| if param.role == Role::ByValue { generic.into() } else { self.memory_type(param.ty).into() })
            .collect();
        let ty = match (function.result, returned) {
            (Some(result), _) => self.memory_type(result).fn_type(&params, false),
            (None, Some(param)) => self.block_type(pointee(param)).fn_type(&params, false),
            (None, None) => self.context.void_type().fn_type(&params, false),
        };
        let declared = self.module.add_function(&function.name, ty, Some(Linkage::External));
        self.add_function_attributes(declared);
        if let Some(extended) = function.result.and_then(|result| self.extension(result)) {
            declared.add_attribute(AttributeLoc::Return, extended);
        }
        for (index, param) in passed.into_iter().enumerate() {
            let place = AttributeLoc::Param(index as u32);
            if let Type::Ptr(_, pointee) = param.ty {
                declared.add_attribute(place, self.alignment(pointee.align()));
            }
            if param.role == Role::ByValue {
                let kind = Attribute::get_named_enum_kind_id("byval");
                let block = self.block_type(pointee(param)).as_any_type_enum();
                declared.add_attribute(place, self.context.create_type_attribute(kind, block));
            }
            if let Some(extended) = self.extension(param.ty) {
                declared.add_attribute(place, extended);
            }
        }
        declared
    }

    /// Allocates the memory of a result that is returned by value, in the entry block.
    pub(super) fn returned(&self, param: &Param) -> Result<PointerValue<'ctx>> {
        let variable = self.builder.build_alloca(self.block_type(pointee(param)), "returned")?;
        let Some(inst) = variable.as_instruction_value() else { return Err(EmitError::Llvm("alloca".to_owned())) };
        inst.set_alignment(pointee(param).align()).map_err(|error| EmitError::Llvm(error.to_string()))?;
        Ok(variable)
    }

    /// A byte array of the pointee's size and alignment.
    fn block_type(&self, pointee: Pointee) -> ArrayType<'ctx> {
        let (size, align) = (pointee.size(), pointee.align());
        let unit = match align {
            1 => self.context.i8_type(),
            2 => self.context.i16_type(),
            4 => self.context.i32_type(),
            8 => self.context.i64_type(),
            _ => self.context.i128_type(),
        };
        unit.array_type(size / align.min(16))
    }

    /// The extension attribute of a number that is narrower than a register.
    fn extension(&self, ty: Type) -> Option<Attribute> {
        let scalar = ty.scalar().filter(|scalar| scalar.bits() < 32 && !scalar.is_float() && !scalar.is_pair())?;
        Some(self.flag(if scalar.is_signed() && scalar != Scalar::Bool { "signext" } else { "zeroext" }))
    }
}

impl<'ctx> Body<'ctx, '_> {
    /// Returns the value in the result's memory.
    pub(super) fn return_from_memory(&self, param: &Param) -> Result<()> {
        let place = self.value(Value(0)).into_pointer_value();
        let loaded = self.builder().build_load(self.lowering.block_type(pointee(param)), place, "")?;
        if let Some(inst) = loaded.as_instruction_value() {
            inst.set_alignment(pointee(param).align()).map_err(|error| EmitError::Llvm(error.to_string()))?;
        }
        self.builder().build_return(Some(&loaded))?;
        Ok(())
    }
}

/// A parameter's pointee; a number's own type.
fn pointee(param: &Param) -> Pointee {
    match param.ty {
        Type::Ptr(_, pointee) => pointee,
        Type::Scalar(scalar) => scalar.into(),
    }
}
