//! Exported device functions, which code of other compilers calls: a wrapper with C's parameters and result, and its C
//! declaration.
//!
//! | Rust | C |
//! |---|---|
//! | a number or `bool` | the number or `bool`, of the same width |
//! | an enum | its integer |
//! | a struct laid out as C does, `f16`, `bf16` | by value |
//! | `&T`, `&mut T` | `const T *`, `T *`, to any memory |
//! | `&[T; N]`, `&mut [T; N]` | the same, to the first element |

use std::rc::Rc;

use super::function::{Frame, Lowering, Return};
use super::scopes::{Facts, Scopes};
use super::types::Val;
use super::{LowerError, Program, symbol, symbol_char, variable_name};
use crate::kir::build::FunctionBuilder;
use crate::kir::{Access, FuncId, Param, Role, Scalar, Space, Terminator, Type};
use crate::syntax::{Definition, Pattern, Pos};
use crate::typeinfo::layout::{short, ty_name};
use crate::typeinfo::{Instance, Memory, StructTy, Ty, TypeInfo};

/// The largest alignment of a value that C passes by value.
const MOST_ALIGNED: u32 = 16;

/// Adds the wrapper that C calls to an empty module.
pub(super) fn function(
    program: &mut Program,
    (definition, instance): (&'static Definition, &Instance),
    info: Rc<TypeInfo>,
    name: &str,
) -> Result<(), LowerError> {
    if !is_name(name) {
        return Err(refused(instance, &format!("`{name}` is no name in C and PTX")));
    }
    let (params, result) = signature(instance, definition, &info)?;
    program.functions.push(None);
    program.names.push(name.to_owned());
    let at = Pos(definition.line, 1);
    let build = FunctionBuilder::new(name, params.clone(), result);
    let frame = Frame::new(definition, instance.generics.clone(), info.clone(), Return::Caller);
    let mut lowering = Lowering::new(program, build, Scopes::new(frame, Facts::default()));
    lowering.set_location_at(at);
    let first = params.iter().position(|param| param.role != Role::Returned).unwrap_or(params.len());
    let passed = info.params.iter().zip(&params[first..]).enumerate();
    let args: Vec<Val> = passed
        .map(|(index, (ty, param))| {
            let (value, ty) = (lowering.build.param(first + index), in_any_memory(ty));
            match param.role {
                Role::ByValue => lowering.build.load(value, Space::Local, &ty),
                _ => Val { ty, leaves: vec![value] },
            }
        })
        .collect();
    let value = lowering.call_instance(at, instance, args)?;
    if first == 1 {
        let place = lowering.build.param(0);
        lowering.build.store(place, Space::Local, &value);
        lowering.build.end(Terminator::Return(None));
    }
    lowering.build.end(Terminator::Return(value.leaves.first().copied()));
    let lowered = lowering.build.finish();
    program.functions[FuncId(0).index()] = Some(lowered);
    Ok(())
}

/// The default name of an exported function: its own, with its generic arguments.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Num, device, front::export, typeinfo::DeviceFn};
///
/// #[device]
/// fn twice<T: Num>(x: T) -> T {
///     x + x
/// }
///
/// assert_eq!(export::own_name(&twice::<f32>::instance()), "twice_f32");
/// ```
pub fn own_name(function: &Instance) -> String {
    Program::default().name(function.definition(), &function.generics)
}

/// An error about a function that cannot be exported.
pub(super) fn refused(function: &Instance, why: &str) -> LowerError {
    let Definition { name, file, line, .. } = *function.definition();
    LowerError { function: name, message: format!("it cannot be called from C: {why}"), file, line, column: 1 }
}

/// Returns true if a name is a valid function name in C and PTX.
fn is_name(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(first) && name.chars().all(|c| symbol_char(c) == c) && !matches!(name, "_" | "WARP_SZ" | "vprintf")
}

/// The wrapper's parameters and result.
fn signature(
    function: &Instance,
    definition: &Definition,
    info: &TypeInfo,
) -> Result<(Vec<Param>, Option<Type>), LowerError> {
    let hint = "C has numbers, `#[repr(C)]` structs, and pointers to these; write a reference for a pointer";
    let mut params = Vec::new();
    let result = match &info.result {
        Ty::Unit => None,
        ty => match form_of(ty) {
            Some(Form::Number(scalar)) => Some(Type::Scalar(scalar)),
            Some(Form::Block) => {
                params.push(block("result".to_owned(), ty, Role::Returned));
                None
            }
            _ => return Err(refused(function, &format!("its result is `{}`; {hint}", ty_name(ty)))),
        },
    };
    for (index, ty) in info.params.iter().enumerate() {
        let name = parameter(definition, index);
        params.push(match form_of(ty) {
            Some(Form::Number(scalar)) => Param { name, ty: scalar.into(), access: Access::Read, role: Role::Plain },
            Some(Form::Block) => block(name, ty, Role::ByValue),
            Some(Form::Pointer(to)) => block(name, to, Role::Plain),
            None => return Err(refused(function, &format!("`{name}` is `{}`; {hint}", ty_name(ty)))),
        });
    }
    Ok((params, result))
}

/// A parameter that points to a value.
fn block(name: String, ty: &Ty, role: Role) -> Param {
    Param { name, ty: Type::Ptr(Space::Local, ty.pointee()), access: Access::ReadWrite, role }
}

/// A parameter's name.
fn parameter(definition: &Definition, index: usize) -> String {
    match definition.params.get(index) {
        Some(Pattern::Bind(number)) => variable_name(definition.bindings[*number as usize].name),
        _ => format!("p{index}"),
    }
}

/// The way C passes a value.
enum Form<'t> {
    Number(Scalar),
    Block,
    Pointer(&'t Ty),
}

fn form_of(ty: &Ty) -> Option<Form<'_>> {
    match ty {
        Ty::Scalar(Scalar::F16 | Scalar::Bf16) => Some(Form::Block),
        Ty::Scalar(scalar) | Ty::Enum(_, scalar) => Some(Form::Number(*scalar)),
        Ty::Struct(of) if of.align as u32 <= MOST_ALIGNED && of.size > 0 && is_laid_out_as_in_c(ty) => {
            Some(Form::Block)
        }
        Ty::Ref(to, _) => {
            let inner = if let Ty::Array(element, _) = &**to { element } else { to };
            is_laid_out_as_in_c(inner).then_some(Form::Pointer(to))
        }
        _ => None,
    }
}

/// Returns true if C lays the type out in the same way.
fn is_laid_out_as_in_c(ty: &Ty) -> bool {
    match ty {
        Ty::Scalar(_) | Ty::Enum(..) => true,
        Ty::Array(element, count) => *count > 0 && is_laid_out_as_in_c(element),
        Ty::Struct(of) => {
            let mut end = 0;
            of.fields.iter().all(|field| {
                let record = field.ty.record();
                let place = field.offset as u32 == u32::next_multiple_of(end, record.align);
                end = field.offset as u32 + record.size;
                place && is_laid_out_as_in_c(&field.ty)
            }) && of.size as u32 == end.next_multiple_of(of.align as u32)
        }
        _ => false,
    }
}

/// The type with all its references to unknown memory.
fn in_any_memory(ty: &Ty) -> Ty {
    let memories = vec![Memory::Write(Space::Local); ty.memories().len()];
    ty.in_memories(&memories)
}

/// Appends the CUDA C++ declaration of a function to `structs`, after the structs that it needs and that are not there
/// yet.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device, front::export, typeinfo::{Body, DeviceFn}};
///
/// #[device]
/// fn half(x: f32) -> f32 {
///     0.5 * x
/// }
///
/// let instance = half::instance();
/// let mut declarations = Vec::new();
/// if let Body::Captured(_, probe) = instance.body {
///     export::declare(&instance, &probe().into_info(), "half", &mut declarations);
/// }
/// assert_eq!(declarations, ["extern \"C\" __device__ float half(float x);\n"]);
/// ```
pub fn declare(instance: &Instance, info: &TypeInfo, name: &str, structs: &mut Vec<String>) {
    let definition = instance.definition();
    let params = info.params.iter().enumerate().map(|(index, ty)| {
        let name = parameter(definition, index);
        match ty {
            Ty::Ref(to, memory) => {
                let constant = if memory.writable() { "" } else { "const " };
                let inner = if let Ty::Array(element, _) = &**to { element } else { to };
                format!("{constant}{} *{name}", c_type(inner, structs))
            }
            ty => format!("{} {name}", c_type(ty, structs)),
        }
    });
    let params = params.collect::<Vec<_>>().join(", ");
    let result = c_type(&info.result, structs);
    structs.push(format!("extern \"C\" __device__ {result} {name}({params});\n"));
}

/// A type's name in CUDA C++; appends its definition to `structs` once.
fn c_type(ty: &Ty, structs: &mut Vec<String>) -> String {
    match ty {
        Ty::Scalar(scalar) | Ty::Enum(_, scalar) => c_scalar(*scalar).to_owned(),
        Ty::Struct(of) => c_struct(of, structs),
        _ => "void".to_owned(),
    }
}

fn c_struct(of: &StructTy, structs: &mut Vec<String>) -> String {
    let name = symbol(&short(of.name)).trim_start_matches('_').to_owned();
    let fields = of.fields.iter().map(|field| {
        let (mut inner, mut lengths) = (&field.ty, String::new());
        while let Ty::Array(element, count) = inner {
            lengths += &format!("[{count}]");
            inner = element;
        }
        let prefix = if field.name.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
        format!("    {} {prefix}{}{lengths};\n", c_type(inner, structs), field.name)
    });
    let fields: String = fields.collect();
    let text = format!("struct alignas({}) {name} {{\n{fields}}};\n", of.align);
    if !structs.contains(&text) {
        structs.push(text);
    }
    name
}

fn c_scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::I8 => "signed char",
        Scalar::U8 => "unsigned char",
        Scalar::I16 => "short",
        Scalar::U16 => "unsigned short",
        Scalar::I32 => "int",
        Scalar::U32 => "unsigned int",
        Scalar::I64 => "long long",
        Scalar::U64 => "unsigned long long",
        Scalar::I128 => "__int128",
        Scalar::U128 => "unsigned __int128",
        Scalar::F16 => "__half",
        Scalar::Bf16 => "__nv_bfloat16",
        Scalar::F16x2 => "__half2",
        Scalar::Bf16x2 => "__nv_bfloat162",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}
