//! The front end: lowers captured syntax and rustc's types to KIR.
//!
//! The type of each expression follows from the types that rustc gave for bindings, callees and constants; nothing is
//! unified. Every reachable function is lowered once per specialisation. The resulting module passes [`crate::valid`];
//! unsupported code is an error with file, line and column.

mod array;
mod arrays;
mod atomic;
mod axes;
mod break_type;
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
mod index;
mod indexed;
mod lanes;
mod loops;
mod math;
mod memory;
mod merge;
mod method;
mod operation;
mod operator;
mod ordering;
mod overload;
mod panics;
mod parameters;
mod pattern;
mod place;
mod print;
mod range;
mod reference;
mod scopes;
mod sections;
mod slice;
mod sync;
mod types;
mod uses;
mod variants;
mod view;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// The error of a captured function that cannot be lowered.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device, front, typeinfo::DeviceFn};
///
/// #[device]
/// fn first(x: &[f32]) -> f32 {
///     x[0]
/// }
///
/// let error = front::lower_exported(&first::instance(), "first").unwrap_err();
/// assert_eq!(error.function, "first");
/// assert!(error.message.starts_with("it cannot be called from C: "), "{error}");
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[error("{file}:{line}:{column}: in `{function}`: {message}")]
pub struct LowerError {
    /// The function's name.
    pub function: &'static str,
    /// The description of the error.
    pub message: String,
    /// The source file.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// A kernel, lowered.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Kernel, device::grid, front, kernel};
///
/// #[kernel]
/// fn fill(out: &mut [u32]) {
///     out[grid::<1>()] = 7;
/// }
///
/// let front::Lowered { module, grid_dims, host_constants } = front::lower(&fill::instance())?;
/// assert_eq!((module.functions[0].name.as_str(), grid_dims), ("fill", 1));
/// assert!(host_constants.is_empty());
/// # Ok::<(), front::LowerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The KIR module of the kernel and all its callees.
    pub module: Module,
    /// The largest number of dimensions for which the kernel calls `grid` or `grid_size`; 0 if it calls neither.
    pub grid_dims: usize,
    /// The constants that the host updates between launches.
    pub host_constants: Vec<(ConstantId, HostConstant)>,
}

/// Lowers a kernel and all its callees.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Kernel, front, kernel, valid};
///
/// #[kernel]
/// fn empty() {}
///
/// let lowered = front::lower(&empty::instance())?;
/// assert_eq!(valid::verify(&lowered.module), Ok(()));
/// # Ok::<(), front::LowerError>(())
/// ```
///
/// # Errors
///
/// If the kernel uses something that the language does not have for its types.
///
/// # Panics
///
/// If `kernel` is an intrinsic.
pub fn lower(kernel: &Instance) -> Result<Lowered, LowerError> {
    lower_with(kernel, false)
}

/// True if kernels get source lines without the option `lineinfo`.
static LINES: AtomicBool = AtomicBool::new(false);

/// Gives the kernels that are lowered from now on source lines, as the option `lineinfo` does, or only those with the option.
/// Lines are part of the KIR, and so of every key of a cache.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Kernel, front, kernel};
///
/// #[kernel]
/// fn first(out: &mut [u32]) {
///     out[0] = 7;
/// }
///
/// front::set_source_lines(true);
/// assert!(front::lower(&first::instance())?.module.has_lines());
/// # front::set_source_lines(false);
/// # Ok::<(), front::LowerError>(())
/// ```
pub fn set_source_lines(enabled: bool) {
    LINES.store(enabled, Ordering::Relaxed);
}

/// Returns true if kernels get source lines without the option `lineinfo`.
///
/// # Examples
///
/// ```
/// use cuda_jit::front;
///
/// front::set_source_lines(true);
/// assert!(front::has_source_lines());
/// # front::set_source_lines(false);
/// ```
#[must_use]
pub fn has_source_lines() -> bool {
    LINES.load(Ordering::Relaxed)
}

/// Lowers a kernel as [`lower`] does, with the source location of every instruction, for analyses that report them.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Kernel, front, kernel};
///
/// #[kernel]
/// fn first(out: &mut [u32]) {
///     out[0] = 7;
/// }
///
/// let located = front::lower_with_locations(&first::instance())?;
/// assert!(located.module.has_lines() && !front::lower(&first::instance())?.module.has_lines());
/// # Ok::<(), front::LowerError>(())
/// ```
///
/// # Errors
///
/// As for [`lower`].
///
/// # Panics
///
/// As for [`lower`].
pub fn lower_with_locations(kernel: &Instance) -> Result<Lowered, LowerError> {
    lower_with(kernel, true)
}

fn lower_with(kernel: &Instance, locations: bool) -> Result<Lowered, LowerError> {
    let purpose = Purpose { exported: None, locations };
    let mut lowered = attempt(kernel, purpose, false)?;
    if lowered.1.overflow.is_some() && lowered.1.has_movable_tables() {
        lowered = attempt(kernel, purpose, true)?;
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

/// Lowers a device function for callers of other compilers, under a C name. Refuses parameters and results without a C
/// type, and functions that depend on a launch.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device, front, typeinfo::DeviceFn};
///
/// #[device]
/// fn half(x: f32) -> f32 {
///     0.5 * x
/// }
///
/// let module = front::lower_exported(&half::instance(), "c_half")?;
/// assert!(module.exported);
/// assert_eq!(module.functions[0].name, "c_half");
/// # Ok::<(), front::LowerError>(())
/// ```
///
/// # Errors
///
/// If a parameter or the result has no C type, or the function uses something that the language does not have for its
/// types.
pub fn lower_exported(function: &Instance, name: &str) -> Result<Module, LowerError> {
    let purpose = Purpose { exported: Some(name), locations: false };
    let (Lowered { mut module, .. }, constants) = attempt(function, purpose, false)?;
    if let Some(error) = constants.overflow {
        return Err(error);
    }
    if !constants.host_constants.is_empty() {
        return Err(export::refused(function, "it reads a `Constant`, which only a launch fills"));
    }
    module.constants = constants.declared;
    if module.spilled_shared().is_some() {
        return Err(export::refused(function, "its shared memory exceeds 48 KiB, and only a launch provides more"));
    }
    Ok(module)
}

/// The purpose of a lowering.
#[derive(Clone, Copy)]
struct Purpose<'a> {
    /// The name under which the function is exported, unless it is a kernel.
    exported: Option<&'a str>,
    /// True if instructions get source locations, whatever the options are.
    locations: bool,
}

/// Lowers a kernel, or a function to be exported under a name. The constants are returned separately; `global_tables`
/// moves all tables to global memory.
fn attempt(
    kernel: &Instance,
    Purpose { exported, locations }: Purpose<'_>,
    global_tables: bool,
) -> Result<(Lowered, Constants), LowerError> {
    let Body::Captured(definition, probe) = kernel.body else { panic!("a kernel is captured Rust") };
    let syntax::Options { fma, fastmath, debug, lineinfo, libdevice, .. } = definition.options;
    let mut program = Program {
        contract: fma,
        fast_math: fastmath,
        libdevice: libdevice && libdevice::is_there(),
        lines: debug || lineinfo || locations || LINES.load(Ordering::Relaxed),
        analysed: locations,
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

/// The key of a module's function: the definition's address, the generic arguments, the memories of the parameters'
/// references, and the call site of a `#[track_caller]` function.
type FunctionKey = (*const Definition, Vec<GenericArg>, Vec<Memory>, Option<SourceLocation>);

/// A source location: a file, a line and a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SourceLocation(&'static str, Pos);

/// A function that remains to be lowered.
struct Pending {
    id: FuncId,
    instance: Instance,
    info: Rc<TypeInfo>,
    /// The memories of the parameters' references, in order.
    memories: Vec<Memory>,
    /// The location that its panics report instead of their own.
    caller: Option<SourceLocation>,
}

/// The state that the functions of one module share.
#[derive(Default)]
struct Program {
    contract: bool,
    /// True if functions on `f32` may become approximate instructions.
    fast_math: bool,
    /// True if mathematical functions are calls of libdevice.
    libdevice: bool,
    /// True if instructions get source locations.
    lines: bool,
    /// True if the module is for an analysis, and no code is generated from it.
    analysed: bool,
    /// True if debug variables are emitted.
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
    /// The shared array of each `shared!` in each specialisation.
    shared_ids: HashMap<(*const Definition, Vec<GenericArg>, u32), SharedId>,
}

/// The callee of a call, resolved.
#[derive(Clone, Debug)]
enum Callee {
    /// A captured function, and its type information.
    Function(Instance, Rc<TypeInfo>),
    /// An operation on values of these types, lowered in place.
    Operation(Operation, Rc<Typing>),
    /// An intrinsic, with its generic argument if that is a number type.
    Intrinsic(Intrinsic, Option<Scalar>),
    /// `as_vectors`, with the vector type.
    Vectors(Ty),
    /// A constructor of this vector type, from all its numbers or from one.
    Vector(Ty),
    /// A constructor of this view type, from a slice; if true, from a shape and a slice.
    View(Ty, bool),
    /// The conversion of an array to this vector type.
    VectorOfArray(Ty),
    /// The conversion of a slice to this array type, or to a reference to it.
    ArrayOfSlice(Ty),
    /// The conversion of a type to itself.
    Same(Ty),
    /// A function of `std::mem`, with the type that it moves.
    Exchange(Exchange, Ty),
    /// A load or store with a cache hint, with the type that it accesses.
    Cached(Intrinsic, Ty),
    /// An intrinsic on ndarray views, with its result type.
    ViewOp(ViewOp, Ty),
    /// A function that returns its argument.
    Identity,
    /// A function that copies the value behind its argument.
    Duplicate,
    /// The constructor of a tuple struct, or of a variant by number; `None` if the variant is unknown.
    Constructor(Ty, Option<usize>),
    /// A constant, where a pattern or path could also have named a function.
    Constant(Rc<ConstValue>),
    /// A host function, by name, that cannot be called.
    HostFunction(&'static str),
    /// No callee: the error is reported elsewhere, or nothing calls it.
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
            Body::Mismatch(name) => Callee::HostFunction(name),
            Body::None => Callee::None,
        }
    }
}

impl Program {
    /// Adds the source's spelling of types to a function's type information, if debug variables are emitted.
    fn spelled(&self, info: Rc<TypeInfo>, probe: fn() -> ProbeResult) -> Rc<TypeInfo> {
        if !self.variables {
            return info;
        }
        Rc::new(TypeInfo { spelled: crate::typeinfo::spelled(|| probe().into_info().bindings), ..(*info).clone() })
    }

    /// Returns the module's function for a specialisation, and queues it if it is new.
    ///
    /// A device function is lowered once for each combination of memories of its parameters' references: a `&[T]`
    /// argument may be a reborrowed `&mut [T]` of the kernel or an array in shared memory. A `#[track_caller]` function
    /// is lowered once for each location that its panics report.
    fn function(
        &mut self,
        instance: &Instance,
        info: &Rc<TypeInfo>,
        memories: Vec<Memory>,
        caller: Option<SourceLocation>,
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

    /// Returns a unique symbol for a specialisation: the function's name and its generic arguments.
    fn name(&self, definition: &Definition, generics: &[GenericArg]) -> String {
        let mut name: String = definition.name.trim_start_matches("r#").chars().map(symbol_char).collect();
        // names with this prefix are libdevice's
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
        // the driver defines a function of that name
        let taken = |name: &str| name == "vprintf" || self.names.iter().any(|known| known == name);
        let unique = (1..).map(|n| format!("{name}_{n}")).find(|candidate| !taken(candidate));
        if taken(&name) { unique.unwrap_or(name) } else { name }
    }

    /// Returns the number of a panic site; equal sites share one.
    fn site(&mut self, SourceLocation(file, Pos(line, column)): SourceLocation, message: &str) -> SiteId {
        let site = Site { message: message.to_string(), file: file.to_string(), line, column };
        let found = self.sites.iter().position(|known| *known == site);
        let index = found.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        });
        SiteId(index as u32)
    }
}

/// A type's name as a symbol: its words, each after an underscore.
fn symbol(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.flat_map(|word| ["_", word]).collect()
}

/// A source name as a name for KIR's parameters, slots and arrays.
fn variable_name(name: &str) -> String {
    name.trim_start_matches("r#").chars().map(symbol_char).collect()
}

/// Replaces a character that PTX symbols cannot hold; those are ASCII.
fn symbol_char(c: char) -> char {
    if c.is_ascii_alphanumeric() { c } else { '_' }
}
