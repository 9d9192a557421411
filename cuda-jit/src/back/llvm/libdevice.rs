//! Calls of libdevice's functions, and libdevice itself: those of its functions that a module needs come into it.
//!
//! libdevice is bitcode of an old LLVM, which this one upgrades as it reads, and to open it takes a millisecond. So each
//! function that a process needs is cut out of it once, with what it calls, and kept as bitcode of its own: a few thousand
//! bytes for each of some 350 functions at most. Contexts share none of it. The functions become the module's own, so that
//! what is not inlined is no symbol of the PTX's. Which variant of a function is compiled (subnormals flushed or not)
//! libdevice asks `__nvvm_reflect`, which LLVM answers from the module's flags.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cuda_llvm::inkwell;
use inkwell::attributes::AttributeLoc;
use inkwell::context::Context;
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
    let called: Vec<String> =
        module.get_functions().map(|f| name(&f)).filter(|name| name.starts_with(PREFIX)).collect();
    if called.is_empty() {
        return Ok(());
    }
    let flush = lowering.context.i32_type().const_int(options.fast_math.into(), false);
    module.add_basic_value_flag("nvvm-reflect-ftz", FlagBehavior::Override, flush);
    for symbol in called {
        let library = raw::open(lowering.context, &cut_out(&symbol)?).map_err(EmitError::Llvm)?;
        raw::link_needed(module, library).map_err(EmitError::Llvm)?;
    }
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

/// A function of libdevice as bitcode, with what it calls.
fn cut_out(symbol: &str) -> Result<Arc<[u8]>> {
    static KNOWN: Mutex<BTreeMap<String, Arc<[u8]>>> = Mutex::new(BTreeMap::new());
    // A thread that panicked had nothing half done in the map.
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(function) = known().get(symbol) {
        return Ok(function.clone());
    }
    let bitcode = libdevice::bitcode().map_err(EmitError::NoLibdevice)?;
    let context = Context::create();
    let mut diagnostics = raw::Diagnostics::collect(&context);
    let function = cut_out_of(&context, bitcode, symbol);
    let errors = diagnostics.take();
    if !errors.is_empty() {
        return Err(EmitError::Llvm(errors.join("; ")));
    }
    let function: Arc<[u8]> = function?.into();
    known().insert(symbol.to_owned(), function.clone());
    Ok(function)
}

fn cut_out_of(context: &Context, bitcode: &[u8], symbol: &str) -> Result<Vec<u8>> {
    let library = raw::open(context, bitcode).map_err(EmitError::Llvm)?;
    let function = library.get_function(symbol);
    let function = function.ok_or_else(|| EmitError::NoLibdevice(format!("this libdevice has no `{symbol}`")))?;
    let module = context.create_module("libdevice");
    module.set_triple(&library.get_triple());
    module.set_data_layout(&library.get_data_layout());
    module.add_function(symbol, function.get_type(), None);
    raw::link_needed(&module, library).map_err(EmitError::Llvm)?;
    Ok(module.write_bitcode_to_memory().as_slice().to_vec())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_cut_out_once() {
        if !libdevice::is_there() {
            return;
        }
        for function in MathFn::ALL {
            let symbol = function.symbol(Scalar::F64);
            let cut = cut_out(&symbol).unwrap();
            assert!(cut.len() < 50_000, "{symbol} takes {} bytes", cut.len());
            assert!(Arc::ptr_eq(&cut, &cut_out(&symbol).unwrap()));
        }
        let error = cut_out("__nv_nothing").unwrap_err();
        assert_eq!(error, EmitError::NoLibdevice("this libdevice has no `__nv_nothing`".to_owned()));
    }
}
