//! Calls of libdevice's functions, and libdevice itself: those of its functions that a module needs come into it.
//!
//! libdevice is bitcode of an old LLVM, which this one upgrades as it reads. Its functions are read only when they are
//! linked, and become the module's own, so that what is not inlined is no symbol of the PTX's. Which variant of a
//! function is compiled (subnormals flushed or not) libdevice asks `__nvvm_reflect`, which LLVM answers from the
//! module's flags.

use cuda_llvm::inkwell;
use inkwell::attributes::AttributeLoc;
use inkwell::module::{FlagBehavior, Linkage};
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, FunctionValue};

use super::function::{Body, Lowering, Result};
use super::{EmitError, Options, raw};
use crate::kir::{MathFn, Scalar, Value};
use crate::libdevice;

/// What the names of libdevice's functions begin with.
const PREFIX: &str = "__nv_";

/// Links what the lowered module calls of libdevice, if it calls any.
pub(super) fn link(lowering: &Lowering<'_, '_>, options: &Options) -> Result<()> {
    let module = lowering.module;
    let name = |function: &FunctionValue<'_>| function.get_name().to_string_lossy().into_owned();
    let own: Vec<String> = module.get_functions().filter(|f| f.count_basic_blocks() > 0).map(|f| name(&f)).collect();
    if !module.get_functions().any(|function| name(&function).starts_with(PREFIX)) {
        return Ok(());
    }
    let bitcode = libdevice::bitcode().map_err(EmitError::NoLibdevice)?;
    let flush = lowering.context.i32_type().const_int(options.fast_math.into(), false);
    module.add_basic_value_flag("nvvm-reflect-ftz", FlagBehavior::Override, flush);
    raw::link_needed(lowering.context, module, bitcode).map_err(EmitError::Llvm)?;
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        if own.contains(&name(&function)) {
            continue;
        }
        function.set_linkage(Linkage::Internal);
        if options.fast_math {
            function.add_attribute(AttributeLoc::Function, lowering.flushing());
        }
    }
    Ok(())
}

impl<'ctx> Body<'ctx, '_> {
    /// A call of libdevice, or the instructions that approximate it.
    pub(super) fn math(&self, function: MathFn, arguments: &[Value]) -> Result<BasicValueEnum<'ctx>> {
        let values: Vec<BasicValueEnum<'ctx>> = arguments.iter().map(|&value| self.value(value)).collect();
        let Some(ty) = arguments.first().and_then(|&value| self.ty(value).scalar()) else {
            return Err(self.unverified("call of libdevice"));
        };
        if self.lowering.options.fast_math
            && ty == Scalar::F32
            && let Some(approximate) = self.approximate(function.name, &values)?
        {
            return Ok(approximate);
        }
        let symbol = function.symbol(ty);
        let llvm = self.lowering.scalar(ty).into_float_type();
        let declared = self.lowering.module.get_function(&symbol).unwrap_or_else(|| {
            let params = vec![BasicMetadataTypeEnum::from(llvm); arguments.len()];
            self.lowering.module.add_function(&symbol, llvm.fn_type(&params, false), None)
        });
        let values: Vec<BasicMetadataValueEnum<'ctx>> = values.into_iter().map(Into::into).collect();
        let call = self.builder().build_call(declared, &values, "")?;
        call.try_as_basic_value().basic().ok_or_else(|| self.unverified("call of libdevice"))
    }

    /// The instructions that nvcc's `-use_fast_math` takes for a function on `f32`, where there are some.
    fn approximate(&self, name: &str, values: &[BasicValueEnum<'ctx>]) -> Result<Option<BasicValueEnum<'ctx>>> {
        let lowering = self.lowering;
        let float = lowering.context.f32_type();
        let times = |a: BasicValueEnum<'ctx>, b: BasicValueEnum<'ctx>| {
            self.builder().build_float_mul(a.into_float_value(), b.into_float_value(), "").map(BasicValueEnum::from)
        };
        let by = |a, factor: f32| times(a, float.const_float(factor.into()).into());
        let wave = |name: &str| lowering.intrinsic(&format!("llvm.nvvm.{name}.approx.ftz.f"), &[], &values[..1]);
        let exp2 = |x| lowering.intrinsic("llvm.nvvm.ex2.approx.ftz", &[float.into()], &[x]);
        let log2 = |x| lowering.intrinsic("llvm.nvvm.lg2.approx.ftz.f", &[], &[x]);
        let x = values[0];
        Ok(Some(match name {
            "sin" | "cos" => wave(name)?,
            "tan" => {
                let (sin, cos) = (wave("sin")?.into_float_value(), wave("cos")?.into_float_value());
                lowering.relax(self.builder().build_float_div(sin, cos, "")?.into())?
            }
            "exp2" => exp2(x)?,
            "exp" => exp2(by(x, std::f32::consts::LOG2_E)?)?,
            "log2" => log2(x)?,
            "log" => by(log2(x)?, std::f32::consts::LN_2)?,
            "log10" => by(log2(x)?, std::f32::consts::LOG10_2)?,
            "pow" => exp2(times(values[1], log2(x)?)?)?,
            _ => return Ok(None),
        }))
    }
}
