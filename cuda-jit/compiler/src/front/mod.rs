//! The front end: captured syntax and rustc's types in, KIR out.
//!
//! It computes the type of each expression from the types that rustc gave for bindings, callees and constants; it
//! never unifies anything. Every function that the kernel reaches is lowered once per specialisation. What it yields
//! passes [`crate::valid`]; what it cannot lower is an error with file, line and column.

mod array;
mod arrays;
mod atomic;
mod axes;
mod breaks;
mod builder;
mod cached;
mod call;
mod compare;
mod constant;
mod control;
mod copies;
mod debug_info;
mod dynamic;
pub mod export;
mod expr;
mod format_args;
mod function;
mod functions;
mod generic;
mod group;
mod indexed;
mod lanes;
mod loops;
mod math;
mod memory;
mod mentions;
mod merge;
mod method;
mod numbers;
mod operation;
mod operator;
mod ordering;
mod overload;
mod panics;
mod parameters;
mod pattern;
mod place;
mod print;
mod reference;
mod scopes;
mod sections;
mod slice;
mod sync;
mod types;
mod variants;
mod view;

use std::collections::HashMap;
use std::rc::Rc;

use crate::kir::{ArrayDecl, ConstantId, FuncId, Function, Module, Scalar, SharedId, Site, SiteId};
use crate::libdevice;
use crate::syntax::{self, Definition, Pos};
use crate::typeinfo::layout::{short, ty_name};
use crate::typeinfo::{
    Body, ConstValue, Exchange, GenericArg, HostConstant, Instance, Intrinsic, Memory, Operation, ProbeResult, Ty,
    TypeInfo, Typing, ViewOp,
};

use constant::Constants;
use debug_info::SourceTypes;
use function::Lowering;

/// Why a captured function cannot be lowered.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{file}:{line}:{column}: in `{function}`: {message}")]
pub struct LowerError {
    /// The function's name.
    pub function: &'static str,
    /// What is wrong.
    pub message: String,
    /// The source file.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// A kernel, lowered.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// Its KIR, with everything that it calls.
    pub module: Module,
    /// The most dimensions in which it asks for its place in the grid with `grid` or `grid_size`; 0 if it does not.
    pub grid_dims: usize,
    /// The constants that the host writes between launches.
    pub host_constants: Vec<(ConstantId, HostConstant)>,
}

/// Lowers a kernel and everything that it calls.
///
/// # Errors
///
/// If the kernel uses something that the front end does not know for its type.
///
/// # Panics
///
/// If `kernel` is an intrinsic.
pub fn lower(kernel: &Instance) -> Result<Lowered, LowerError> {
    let mut lowered = attempt(kernel, None, false)?;
    if lowered.1.overflow.is_some() && lowered.1.could_make_way() {
        lowered = attempt(kernel, None, true)?;
    }
    match lowered {
        (_, Constants { overflow: Some(error), .. }) => Err(error),
        (mut lowered, Constants { declared, host_constants, .. }) => {
            lowered.module.constants = declared;
            lowered.host_constants = host_constants;
            Ok(lowered)
        }
    }
}

/// Lowers a device function for callers of other compilers, under a name of C's; refuses one whose parameters or result
/// have no form there, or that needs what only a launch brings.
///
/// # Errors
///
/// If a parameter or the result has no form in C, or the function uses something that the language does not have for its types.
pub fn lower_exported(function: &Instance, name: &str) -> Result<Module, LowerError> {
    let (Lowered { mut module, .. }, constants) = attempt(function, Some(name), false)?;
    if let Some(error) = constants.overflow {
        return Err(error);
    }
    if !constants.host_constants.is_empty() {
        return Err(export::refused(function, "it reads a `Constant`, which is filled for a launch"));
    }
    module.constants = constants.declared;
    if module.spilled_shared().is_some() {
        return Err(export::refused(function, "it has more shared memory than is fixed, which a launch brings"));
    }
    Ok(module)
}

/// Lowers a kernel, or a function to be exported under a name, perhaps with all tables in global memory; the constants
/// are apart.
fn attempt(kernel: &Instance, exported: Option<&str>, global_tables: bool) -> Result<(Lowered, Constants), LowerError> {
    let Body::Captured(definition, probe) = kernel.body else { panic!("a kernel is captured Rust") };
    let syntax::Options { fma, fastmath, debug, lineinfo, libdevice, .. } = definition.options;
    let mut program = Program {
        contract: fma,
        fast_math: fastmath,
        libdevice: libdevice && libdevice::is_there(),
        lines: debug || lineinfo,
        variables: debug,
        constants: Constants { global_tables, ..Constants::default() },
        ..Program::default()
    };
    let info = Rc::new(probe().into_info());
    match exported {
        Some(name) => export::function(&mut program, (definition, kernel), info, name)?,
        None => {
            let memories = info.params.iter().flat_map(Ty::memories).collect();
            program.function(kernel, &info, memories, None);
        }
    }
    while let Some(Pending { id, instance, info, mut memories, caller }) = program.pending.pop() {
        let Body::Captured(definition, probe) = instance.body else { continue };
        let mut info = (*program.spelled(info, probe)).clone();
        for param in &mut info.params {
            let rest = memories.split_off(param.memories().len().min(memories.len()));
            *param = param.in_memories(&memories);
            memories = rest;
        }
        let lowered = Lowering::run(&mut program, (definition, &instance.generics), Rc::new(info), id, caller)?;
        program.functions[id.index()] = Some(lowered);
    }
    let functions = program.functions.into_iter().flatten().collect();
    let Program { contract, sites, shared, grid_dims, constants, types: SourceTypes { types, .. }, .. } = program;
    let (exported, no_constants) = (exported.is_some(), Vec::new());
    let module = Module { contract, exported, functions, sites, shared, constants: no_constants, types };
    Ok((Lowered { module, grid_dims, host_constants: Vec::new() }, constants))
}

/// The identity of a module's function: the definition's address, the generic arguments, what the parameters point to,
/// and where a function with `#[track_caller]` is called.
type FunctionKey = (*const Definition, Vec<GenericArg>, Vec<Memory>, Option<Spot>);

/// A source location: a file, a line and a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Spot(&'static str, Pos);

/// A function still to be lowered.
struct Pending {
    id: FuncId,
    instance: Instance,
    info: Rc<TypeInfo>,
    /// Where its parameters point, in order.
    memories: Vec<Memory>,
    /// The source location that its panics report, if not their own.
    caller: Option<Spot>,
}

/// What the functions of one module share.
#[derive(Default)]
struct Program {
    contract: bool,
    /// Whether functions on `f32` may be instructions that approximate them.
    fast_math: bool,
    /// Whether mathematical functions are libdevice's.
    libdevice: bool,
    /// Whether instructions are to know where they were written.
    lines: bool,
    /// Whether a debugger is to know the variables.
    variables: bool,
    types: SourceTypes,
    functions: Vec<Option<Function>>,
    names: Vec<String>,
    ids: HashMap<FunctionKey, FuncId>,
    pending: Vec<Pending>,
    sites: Vec<Site>,
    grid_dims: usize,
    shared: Vec<ArrayDecl>,
    constants: Constants,
    /// The shared array that each `shared!` of each specialisation is.
    shared_ids: HashMap<(*const Definition, Vec<GenericArg>, u32), SharedId>,
}

/// What a call needs to know of its callee.
#[derive(Clone, Debug)]
enum Callee {
    /// Captured Rust, and what rustc made of it.
    Function(Instance, Rc<TypeInfo>),
    /// A function or method that is lowered in place, of these types.
    Operation(Operation, Rc<Typing>),
    /// Something that is lowered in place, with its generic argument if that is a number type.
    Intrinsic(Intrinsic, Option<Scalar>),
    /// `as_vectors`, and the vector's type.
    Vectors(Ty),
    /// What makes a vector of this type of its numbers, or of one for all.
    Vector(Ty),
    /// What makes a view of this type of a slice; of one and a shape, if true.
    View(Ty, bool),
    /// The conversion of an array to a vector of this type.
    VectorOfArray(Ty),
    /// The conversion of a slice to this type, an array or a reference to one.
    ArrayOfSlice(Ty),
    /// A conversion of this type to itself.
    Same(Ty),
    /// A function of `std::mem`, and the type of what it moves.
    Exchange(Exchange, Ty),
    /// A load or store with a hint for the caches, and the type of what it moves.
    Cached(Intrinsic, Ty),
    /// An intrinsic on ndarray views, and the type of its result.
    ViewOp(ViewOp, Ty),
    /// A function that returns its argument as it is.
    Identity,
    /// A function that copies the value behind its argument.
    Duplicate,
    /// The constructor of a tuple struct of this type, or of the variant of this number; none if it is unknown.
    Constructor(Ty, Option<usize>),
    /// None: a constant, where a function may be.
    Constant(Rc<ConstValue>),
    /// None: the host calls this function.
    Another(&'static str),
    /// None: it is refused already, or nothing calls it.
    None,
}

impl Callee {
    fn of(instance: &Instance) -> Self {
        match instance.body {
            Body::Intrinsic(
                intrinsic @ (Intrinsic::AsVectors
                | Intrinsic::Vector
                | Intrinsic::Same
                | Intrinsic::VectorOfArray
                | Intrinsic::ArrayOfSlice
                | Intrinsic::Exchange(_)
                | Intrinsic::View(_)
                | Intrinsic::ViewOp(_)
                | Intrinsic::LoadCached(_)
                | Intrinsic::StoreCached(_)),
            ) => match instance.generics.first() {
                Some(GenericArg::Type(ty, _)) => match intrinsic {
                    Intrinsic::AsVectors => Callee::Vectors(ty.clone()),
                    Intrinsic::Vector => Callee::Vector(ty.clone()),
                    Intrinsic::Same => Callee::Same(ty.clone()),
                    Intrinsic::VectorOfArray => Callee::VectorOfArray(ty.clone()),
                    Intrinsic::ArrayOfSlice => Callee::ArrayOfSlice(ty.clone()),
                    Intrinsic::Exchange(exchange) => Callee::Exchange(exchange, ty.clone()),
                    Intrinsic::View(shaped) => Callee::View(ty.clone(), shaped),
                    Intrinsic::ViewOp(op) => Callee::ViewOp(op, ty.clone()),
                    _ => Callee::Cached(intrinsic, ty.clone()),
                },
                _ => Callee::None,
            },
            Body::Intrinsic(Intrinsic::Identity) => Callee::Identity,
            Body::Intrinsic(Intrinsic::Duplicate) => Callee::Duplicate,
            Body::Intrinsic(intrinsic) => Callee::Intrinsic(
                intrinsic,
                instance.generics.iter().find_map(|argument| match argument {
                    GenericArg::Type(Ty::Scalar(scalar), _) => Some(*scalar),
                    _ => None,
                }),
            ),
            Body::Captured(_, probe) => Callee::Function(instance.clone(), Rc::new(probe().into_info())),
            Body::Operation(operation, typing) => Callee::Operation(operation, Rc::new(typing())),
            Body::Constructor(ty, variant) => Callee::Constructor(ty(), variant()),
            Body::Constant(value) => Callee::Constant(Rc::new(value())),
            Body::Mismatch(name) => Callee::Another(name),
            Body::None => Callee::None,
        }
    }
}

impl Program {
    /// Adds to what rustc told of a function how the source spells its types, if a debugger is to know.
    fn spelled(&self, info: Rc<TypeInfo>, probe: fn() -> ProbeResult) -> Rc<TypeInfo> {
        if !self.variables {
            return info;
        }
        Rc::new(TypeInfo { spelled: crate::typeinfo::spelled(|| probe().into_info().bindings), ..(*info).clone() })
    }

    /// The function of the module that is this specialisation; one met for the first time is put on the list.
    ///
    /// A device function is lowered once for each kind of memory that its parameters point to: a `&[T]` parameter can
    /// be a kernel's `&mut [T]`, borrowed again, or an array in shared memory.
    /// A function with `#[track_caller]` is lowered once for each place that its panics are reported at.
    fn function(
        &mut self,
        instance: &Instance,
        info: &Rc<TypeInfo>,
        memories: Vec<Memory>,
        caller: Option<Spot>,
    ) -> FuncId {
        let Body::Captured(definition, _) = instance.body else { panic!("an intrinsic is no function of a module") };
        let key = (std::ptr::from_ref(definition), instance.generics.clone(), memories.clone(), caller);
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let id = FuncId(self.functions.len() as u32);
        self.functions.push(None);
        let name = self.name(definition, &instance.generics);
        self.names.push(name);
        self.ids.insert(key, id);
        self.pending.push(Pending { id, instance: instance.clone(), info: info.clone(), memories, caller });
        id
    }

    /// A symbol that tells the specialisation: the function's name, then its generic arguments.
    fn name(&self, definition: &Definition, generics: &[GenericArg]) -> String {
        let mut name: String = definition.name.trim_start_matches("r#").chars().map(symbol_char).collect();
        // These names are libdevice's.
        if name.starts_with("__nv_") {
            name.insert(0, '_');
        }
        for argument in generics {
            match argument {
                GenericArg::Type(Ty::Scalar(scalar), _) => name.push_str(&format!("_{scalar}")),
                GenericArg::Type(ty, _) => name.push_str(&symbol(&ty_name(ty))),
                GenericArg::Of(of, _) => name.push_str(&symbol(&short(of))),
                GenericArg::Const(bits) => name.push_str(&format!("_{bits}")),
            }
        }
        // the driver brings a function of that name
        let taken = |name: &str| name == "vprintf" || self.names.iter().any(|known| known == name);
        let unique = (1..).map(|n| format!("{name}_{n}")).find(|candidate| !taken(candidate));
        if taken(&name) { unique.unwrap_or(name) } else { name }
    }

    /// The number of a panic site; the same place with the same message is entered once.
    fn site(&mut self, Spot(file, Pos(line, column)): Spot, message: &str) -> SiteId {
        let site = Site { message: message.to_string(), file: file.to_string(), line, column };
        let found = self.sites.iter().position(|known| *known == site);
        let index = found.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        });
        SiteId(index as u32)
    }
}

/// The words of a type's name, each behind an underscore.
fn symbol(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.flat_map(|word| ["_", word]).collect()
}

/// A name of the source as names of KIR's parameters, slots and arrays are made.
fn variable_name(name: &str) -> String {
    name.trim_start_matches("r#").chars().map(symbol_char).collect()
}

/// PTX symbols are ASCII; Rust's names may hold other letters.
fn symbol_char(c: char) -> char {
    if c.is_ascii_alphanumeric() { c } else { '_' }
}
