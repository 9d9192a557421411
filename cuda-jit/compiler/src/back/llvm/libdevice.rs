//! Calls of libdevice, and linking of the functions that a module needs.
//!
//! libdevice is bitcode of an old LLVM, which the linked LLVM upgrades on loading; opening it takes a millisecond. So
//! each function that a process needs is extracted once, with its callees, and cached as bitcode, less than 3 MB for
//! all of them. Contexts cannot share modules. The functions are linked with internal linkage, so that they are no
//! symbols of the PTX even if they are not inlined. libdevice selects variants (subnormals flushed or not) by
//! `__nvvm_reflect`, which LLVM evaluates from the module's flags.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cuda_llvm::inkwell;
use inkwell::AddressSpace;
use inkwell::attributes::AttributeLoc;
use inkwell::context::Context;
use inkwell::module::{FlagBehavior, Linkage};
use inkwell::types::{BasicMetadataTypeEnum, BasicType, FunctionType};
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, FunctionValue, PointerValue};

use super::function::{Body, Lowering, Result};
use super::{EmitError, Options, raw};
use crate::kir::{LibArg, LibFn, Value};
use crate::libdevice;

/// The prefix of libdevice's symbols.
const PREFIX: &str = "__nv_";

/// Links the libdevice functions that the lowered module calls.
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
        let library = raw::open(lowering.context, &extract(&symbol)?).map_err(EmitError::Llvm)?;
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

/// Extracts a libdevice function with its callees, as bitcode.
fn extract(symbol: &str) -> Result<Arc<[u8]>> {
    static KNOWN: Mutex<BTreeMap<String, Arc<[u8]>>> = Mutex::new(BTreeMap::new());
    // a panic cannot leave the map inconsistent
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(function) = known().get(symbol) {
        return Ok(function.clone());
    }
    let bitcode = libdevice::bitcode().map_err(EmitError::NoLibdevice)?;
    let context = Context::create();
    let mut diagnostics = raw::Diagnostics::collect(&context);
    let function = extract_from(&context, bitcode, symbol);
    let errors = diagnostics.take();
    if !errors.is_empty() {
        return Err(EmitError::Llvm(errors.join("; ")));
    }
    let function: Arc<[u8]> = function?.into();
    known().insert(symbol.to_owned(), function.clone());
    Ok(function)
}

fn extract_from(context: &Context, bitcode: &[u8], symbol: &str) -> Result<Vec<u8>> {
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

impl<'ctx> Lowering<'ctx, '_> {
    /// The LLVM type of a libdevice function.
    fn signature(&self, function: LibFn) -> FunctionType<'ctx> {
        let pointer = self.context.ptr_type(AddressSpace::default());
        let mut params: Vec<BasicMetadataTypeEnum<'ctx>> = Vec::new();
        for arg in function.args {
            match *arg {
                LibArg::Number(scalar) => params.push(self.scalar(scalar).into()),
                LibArg::Slice(_) => {
                    let count: BasicMetadataTypeEnum<'ctx> = self.context.i32_type().into();
                    params.extend([count, pointer.into()]);
                }
            }
        }
        params.extend(function.outs.iter().map(|_| BasicMetadataTypeEnum::from(pointer)));
        match function.result {
            Some(result) => self.scalar(result).fn_type(&params, false),
            None => self.context.void_type().fn_type(&params, false),
        }
    }
}

impl<'ctx> Body<'ctx, '_> {
    /// Emits a call of libdevice, or the instructions that approximate it.
    pub(super) fn math(&self, function: LibFn, arguments: &[Value]) -> Result<Option<BasicValueEnum<'ctx>>> {
        let mut values = Vec::with_capacity(arguments.len());
        for &argument in arguments {
            values.push(match self.value(argument) {
                // libdevice takes generic pointers
                BasicValueEnum::PointerValue(pointer) => self.generic(pointer)?,
                value => value,
            });
        }
        if self.lowering.options.fast_math
            && let Some(approximate) = self.approximate(function.name, &values)?
        {
            return Ok(Some(approximate));
        }
        let symbol = function.symbol();
        let declared = self.lowering.module.get_function(&symbol).unwrap_or_else(|| {
            let ty = self.lowering.signature(function);
            self.lowering.module.add_function(&symbol, ty, None)
        });
        let values: Vec<BasicMetadataValueEnum<'ctx>> = values.into_iter().map(Into::into).collect();
        let call = self.builder().build_call(declared, &values, "")?;
        Ok(call.try_as_basic_value().basic())
    }

    /// Casts a pointer to a generic one.
    fn generic(&self, pointer: PointerValue<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        let generic = self.lowering.context.ptr_type(AddressSpace::default());
        if pointer.get_type() == generic {
            return Ok(pointer.into());
        }
        Ok(self.builder().build_address_space_cast(pointer, generic, "")?.into())
    }

    /// Emits the instructions that nvcc's `-use_fast_math` uses for a function on `f32`, if there are any.
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
            "sinf" => wave("sin")?,
            "cosf" => wave("cos")?,
            "tanf" => {
                let (sin, cos) = (wave("sin")?.into_float_value(), wave("cos")?.into_float_value());
                lowering.relax(self.builder().build_float_div(sin, cos, "")?.into())?
            }
            "exp2f" => exp2(x)?,
            "expf" => exp2(by(x, std::f32::consts::LOG2_E)?)?,
            "log2f" => log2(x)?,
            "logf" => by(log2(x)?, std::f32::consts::LN_2)?,
            "log10f" => by(log2(x)?, std::f32::consts::LOG10_2)?,
            "powf" => exp2(times(values[1], log2(x)?)?)?,
            _ => return Ok(None),
        }))
    }
}

#[cfg(test)]
mod tests {
    use inkwell::memory_buffer::MemoryBuffer;
    use inkwell::module::Module;

    use super::*;
    use crate::kir::Scalar;

    /// The functions that take a C string, which are not supported.
    const EXCLUDED: [&str; 2] = ["nan", "nanf"];

    fn word(scalar: Scalar) -> &'static str {
        match scalar {
            Scalar::F32 => "float",
            Scalar::F64 => "double",
            Scalar::I64 | Scalar::U64 => "i64",
            Scalar::U16 => "i16",
            _ => "i32",
        }
    }

    /// A signature in LLVM's syntax.
    fn llvm_signature(function: &LibFn) -> String {
        let mut params = Vec::new();
        for arg in function.args {
            match *arg {
                LibArg::Number(scalar) => params.push(word(scalar)),
                LibArg::Slice(_) => params.extend(["i32", "ptr"]),
            }
        }
        params.extend(function.outs.iter().map(|_| "ptr"));
        format!("{} ({})", function.result.map_or("void", word), params.join(", "))
    }

    #[test]
    fn the_table_is_what_libdevice_has() {
        let Ok(bitcode) = libdevice::bitcode() else {
            assert!(!libdevice::is_there());
            return;
        };
        cuda_llvm::initialize().unwrap();
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "libdevice");
        let library = Module::parse_bitcode_from_buffer(&buffer, &context).expect("libdevice is bitcode");
        let defined = library.get_functions().filter_map(|function| {
            let name = function.get_name().to_string_lossy().strip_prefix(PREFIX)?.to_owned();
            Some((name, function.get_type().print_to_string().to_string()))
        });
        let mut real: BTreeMap<String, String> = defined.collect();
        for name in EXCLUDED {
            assert!(real.remove(name).is_some(), "{name}");
        }
        let table = LibFn::ALL.iter().map(|function| (function.name.to_owned(), llvm_signature(function)));
        assert_eq!(table.collect::<BTreeMap<_, _>>(), real);
    }

    #[test]
    fn functions_are_extracted_once() {
        if !libdevice::is_there() {
            return;
        }
        let mut bytes = 0;
        for function in LibFn::ALL {
            let symbol = format!("{PREFIX}{}", function.name);
            let cut = extract(&symbol).unwrap();
            assert!(Arc::ptr_eq(&cut, &extract(&symbol).unwrap()));
            bytes += cut.len();
        }
        assert!(bytes < 3 << 20, "all functions take {bytes} bytes");
        let error = extract("__nv_nothing").unwrap_err();
        assert_eq!(error, EmitError::NoLibdevice("this libdevice has no `__nv_nothing`".to_owned()));
    }
}
