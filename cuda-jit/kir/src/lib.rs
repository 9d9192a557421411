//! KIR, the typed kernel IR between the front end and the back ends.
//!
//! A [`Module`] is one kernel, or one device function that code of other compilers calls, together with the device
//! functions that it calls. A function is a list of basic blocks over typed *slots* and *values*:
//!
//! - A **slot** is a mutable variable of the thread, without an address. [`Op::Get`] reads it, [`Op::Set`] writes it;
//!   reading a slot that was never written gives an unspecified value of its type.
//! - A **value** is the result of an instruction, in SSA form: defined once, and used only where its definition
//!   dominates the use. Parameters may be used anywhere.
//! - A block ends in exactly one [`Terminator`]. Block 0 is the entry, and no block jumps to it.
//!
//! # Meaning
//!
//! - **Integers** are two's complement and wrap: `add`, `sub`, `mul`, `neg` give the low bits of the exact result.
//!   `shl` and `shr` take the amount modulo the width; `shr` is arithmetic on signed types. `div` and `rem` truncate
//!   toward zero; a zero divisor, and the signed minimum divided by -1, are undefined: the front end branches around
//!   them. [`Op::Overflows`] tests whether the exact result of `add`, `sub` or `mul` does not fit.
//! - **Floats** are IEEE 754 binary16, binary32 and binary64, and bfloat16, rounded to nearest even. Where
//!   [`Module::contract`] is set, a `mul` may be fused with an `add` or `sub` of its result, which then rounds once.
//! - **Pairs** of 16-bit floats share one register, the first in the low half. Arithmetic is element-wise.
//! - **Comparisons** of floats are ordered, but for `ne`, which is true when either side is NaN.
//! - **Casts** are Rust's `as`: integers truncate or extend by the source's signedness, floats to integers saturate and
//!   take NaN to zero, integers to floats round to nearest even, `bool` becomes 0 or 1. Floats of 16 bits are cast from
//!   and to floats only. Pointers are not cast.
//! - **Pointers** are typed by their [`Pointee`]: a number, or a record with a size and an alignment. `offset` moves by
//!   whole elements, `field` by bytes, to a field of the record. A pointer is aligned as its pointee is; a field is
//!   aligned as its offset in the record implies, which may be more than its own type requires.
//! - **Loads and stores** go through pointers to numbers; the pointer must point into memory of the pointee's type. A
//!   load from memory that other threads may write gives some value of the type, the same for every use of that
//!   instruction. `bool` takes one byte, of which the lowest bit counts.
//! - A pointer parameter is aligned to its pointee's alignment, even if nothing is read through it.
//! - A pointer parameter with [`Access::Read`] points to memory that nobody writes during the launch. No other pointer
//!   in the kernel can write it, except that the result of [`Op::Generic`] may claim to, which is then not written
//!   through.
//! - **Panic** ends the thread. The first panicking thread of a context writes the site's index, the block and thread
//!   index and the arguments to the context's panic record; later ones only end. Other threads continue.
//!
//! The text form ([`text`]) prints every part of a module and reads it back; [`crate::valid`] states the rules that a
//! module obeys. A module that verifies never makes a back end panic.
#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

use std::sync::Arc;

pub mod build;
mod constant;
mod format;
mod library;
mod op;
mod operator;
mod pointee;
mod shared;
mod source;
mod stack;
pub mod target;
pub mod text;
mod types;
pub mod valid;

pub use constant::{CONSTANT_MEMORY, ConstantDecl, taken};
pub use format::{Printed, conversions};
pub use library::{LibArg, LibFn};
pub use op::{Inst, Op, Terminator};
pub use operator::{
    AtomicOp, Axis, BarrierOp, BinaryOp, CacheLoad, CacheStore, Clock, CompareOp, Float8, Lane, Order, Ordering,
    ReduceOp, Scope, ShuffleOp, Special, TernaryOp, UnaryOp, VoteOp,
};
pub use pointee::{Pointee, Record};
pub use shared::SHARED_ALIGN;
pub use shared::SpilledShared;
pub use source::{SourceField, SourceKind, SourceScope, SourceType, Storage, Variable};
pub use types::{Access, Const, Scalar, Space, Type};

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The index as `usize`.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index! {
    /// A value of a function: parameters are numbered first, then instruction results in the order of blocks and of the
    /// instructions in them.
    Value
}
index! {
    /// A slot of a function.
    SlotId
}
index! {
    /// A block of a function.
    BlockId
}
index! {
    /// A function of a module.
    FuncId
}
index! {
    /// A panic site of a module.
    SiteId
}
index! {
    /// An array in shared memory.
    SharedId
}
index! {
    /// A local array of a function.
    ArrayId
}
index! {
    /// A constant in memory.
    ConstantId
}
index! {
    /// A source type of a module.
    SourceTypeId
}
index! {
    /// A source scope of a function.
    SourceScopeId
}

/// The function of CUDA's device runtime that [`Op::SetConditional`] calls.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{SET_CONDITIONAL, text, valid::{Rule, verify}};
///
/// // No function of a module may have its name.
/// let module = text::parse(&format!("kir 1 kernel {SET_CONDITIONAL}() {{ b0: return }}"))?;
/// assert_eq!(verify(&module).unwrap_err().rule, Rule::FunctionName);
/// # Ok::<(), text::ParseError>(())
/// ```
pub const SET_CONDITIONAL: &str = "cudaGraphSetConditional";

/// A basic block.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Block, Module, Terminator};
///
/// let module: Module = "kir 1 kernel f() { b0: jump b1 b1: return }".parse()?;
/// assert_eq!(module.functions[0].blocks[1], Block { insts: Vec::new(), end: Terminator::Return(None) });
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its instructions, in order.
    pub insts: Vec<Inst>,
    /// Its terminator.
    pub end: Terminator,
}

/// A parameter of a function.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Access, Module, Param, Role, Space, Scalar, Type};
///
/// let module: Module = "kir 1 kernel f(v0 out: ptr global f32 readwrite) { b0: return }".parse()?;
/// let out = Param {
///     name: "out".to_owned(),
///     ty: Type::Ptr(Space::Global, Scalar::F32.into()),
///     access: Access::ReadWrite,
///     role: Role::Plain,
/// };
/// assert_eq!(module.functions[0].params, [out]);
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name: letters, digits, `_` and `.`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The access to its pointee; [`Access::Read`] for scalars.
    pub access: Access,
    /// Its role in the calling convention.
    pub role: Role,
}

/// The role of a parameter in the calling convention.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Module, Role};
///
/// let module: Module = "kir 1 kernel f(v0 len: u64 extent, v1 n: u64) { b0: return }".parse()?;
/// let roles: Vec<_> = module.functions[0].params.iter().map(|param| param.role).collect();
/// assert_eq!(roles, [Role::Extent, Role::Plain]);
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A plain value.
    #[default]
    Plain,
    /// Of a kernel: a number of elements in memory, which is therefore less than 2^63.
    Extent,
    /// Of a kernel: the distance of neighbours along an axis of a view, in elements. The strides of a view follow its
    /// pointer and its extents. If the view may be written, different indices within its extents are different elements.
    Stride,
    /// Of an exported function: a pointer to a copy of an argument passed by value.
    ByValue,
    /// Of an exported function, its first: a pointer to the result, which is returned by value.
    Returned,
}

/// A mutable variable of a thread.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Module, Scalar, Slot};
///
/// let module: Module = "kir 1 kernel f() { slot s0 sum: f64 b0: return }".parse()?;
/// assert_eq!(module.functions[0].slots, [Slot { name: "sum".to_owned(), ty: Scalar::F64.into() }]);
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// Its name: letters, digits, `_` and `.`; need not be unique.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A kernel or a device function.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Function, Module, Scalar};
///
/// let module: Module =
///     "kir 1 kernel f() { b0: return } device one() -> u32 { b0: v0: u32 = const u32 1 return v0 }".parse()?;
/// let one: &Function = &module.functions[1];
/// assert_eq!((one.name.as_str(), one.result), ("one", Some(Scalar::U32.into())));
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its symbol: letters, digits and `_`, not beginning with a digit; unique in the module.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its result type; kernels have none.
    pub result: Option<Type>,
    /// Its slots.
    pub slots: Vec<Slot>,
    /// Its local arrays.
    pub arrays: Vec<ArrayDecl>,
    /// The scopes of its source.
    pub scopes: Vec<SourceScope>,
    /// The debug variables of its source.
    pub variables: Vec<Variable>,
    /// Its blocks; the first is the entry.
    pub blocks: Vec<Block>,
}

/// A source location.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Inst, Location, Op, text::print_inst};
///
/// let location = Location { file: "a.rs".into(), line: 3, column: 5 };
/// assert_eq!(print_inst(&Inst { op: Op::Line(location, None), result: None }), "line \"a.rs\":3:5");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The source file, as the compiler names it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// The largest number of arguments of a panic.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{PANIC_ARGUMENTS, text, valid::{Rule, verify}};
///
/// let panic = |count: usize| {
///     let arguments = vec!["v0"; count].join(", ");
///     text::parse(&format!("kir 1 site 0 \"a.rs\":1:1 \"\" kernel f(v0 n: u64) {{ b0: panic 0 ({arguments}) }}"))
/// };
/// assert_eq!(verify(&panic(PANIC_ARGUMENTS)?), Ok(()));
/// assert_eq!(verify(&panic(PANIC_ARGUMENTS + 1)?).unwrap_err().rule, Rule::PanicArguments);
/// # Ok::<(), text::ParseError>(())
/// ```
pub const PANIC_ARGUMENTS: usize = 8;

/// A panic site: a message and its source location.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Module, Site};
///
/// let module: Module = "kir 1 site 0 \"a.rs\":3:5 \"reached {0}\" kernel f() { b0: return }".parse()?;
/// let site = Site { message: "reached {0}".to_owned(), file: "a.rs".to_owned(), line: 3, column: 5 };
/// assert_eq!(module.sites, [site]);
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The message. `{0}` stands for an argument, `{0i}` for a signed one, `{0:f32:08.3}` for an argument with the bits
    /// of that type, in Rust's format; other braces are doubled.
    pub message: String,
    /// The source file, as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// An array in shared memory, one per block of the launch, or in local memory, one per call of the function; it is not
/// initialised.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{ArrayDecl, Module, Scalar};
///
/// let module: Module = "kir 1 shared m0 tile: f32 256 kernel f() { b0: return }".parse()?;
/// assert_eq!(module.shared, [ArrayDecl { name: "tile".to_owned(), element: Scalar::F32.into(), len: 256 }]);
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayDecl {
    /// Its name: letters, digits, `_` and `.`; need not be unique.
    pub name: String,
    /// The type of its elements.
    pub element: Pointee,
    /// The number of elements; at least one.
    pub len: u64,
}

/// A kernel, or a device function that code of other compilers calls, with all its callees.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Module, Terminator, build::FunctionBuilder, valid};
///
/// let mut kernel = FunctionBuilder::new("empty", Vec::new(), None);
/// kernel.end(Terminator::Return(None));
/// let module = Module {
///     contract: false,
///     exported: false,
///     functions: vec![kernel.finish()],
///     sites: Vec::new(),
///     shared: Vec::new(),
///     constants: Vec::new(),
///     types: Vec::new(),
/// };
/// assert_eq!(valid::verify(&module), Ok(()));
/// assert_eq!(module.to_string(), "kir 1\nkernel empty() {\nb0:\n  return\n}\n");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// True if a multiplication and an addition may be fused.
    pub contract: bool,
    /// True if the first function is no kernel, but a device function that code of other compilers calls as a C
    /// function. It has no launch, so its panics are traps.
    pub exported: bool,
    /// The functions; the first is the kernel or the exported function, the others are device functions.
    pub functions: Vec<Function>,
    /// The panic sites.
    pub sites: Vec<Site>,
    /// The arrays in shared memory.
    pub shared: Vec<ArrayDecl>,
    /// The constants in memory.
    pub constants: Vec<ConstantDecl>,
    /// The source types.
    pub types: Vec<SourceType>,
}

impl Module {
    /// Returns true if it has an operation at which threads wait for each other or exchange registers.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::Module;
    ///
    /// let module: Module = "kir 1 kernel f() { b0: barrier return }".parse()?;
    /// assert!(module.synchronises());
    /// # Ok::<(), cuda_jit_kir::text::ParseError>(())
    /// ```
    pub fn synchronises(&self) -> bool {
        self.ops().any(Op::synchronises)
    }

    /// Returns true if it has a grid-wide barrier, which needs a cooperative launch.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::Module;
    ///
    /// let module: Module = "kir 1 kernel f() { b0: v0: ptr global u32 = grid_barrier return }".parse()?;
    /// assert!(module.is_cooperative());
    /// # Ok::<(), cuda_jit_kir::text::ParseError>(())
    /// ```
    pub fn is_cooperative(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::GridBarrier))
    }

    /// Returns true if threads look whether another one of the launch has panicked.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::Module;
    ///
    /// let module: Module = "kir 1 kernel f() { b0: v0: bool = panicked return }".parse()?;
    /// assert!(module.looks_for_panics());
    /// # Ok::<(), cuda_jit_kir::text::ParseError>(())
    /// ```
    pub fn looks_for_panics(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::Panicked))
    }

    /// Returns true if any instruction has a source location.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::Module;
    ///
    /// let module: Module = "kir 1 kernel f() { b0: line \"a.rs\":3:5 return }".parse()?;
    /// assert!(module.has_lines());
    /// # Ok::<(), cuda_jit_kir::text::ParseError>(())
    /// ```
    pub fn has_lines(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::Line(..)))
    }

    /// Returns true if it has native conversions of 8-bit floats.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::Module;
    ///
    /// let module: Module = "kir 1 kernel f(v0 x: f32) { b0: v1: u16 = narrow e4m3 v0, v0 return }".parse()?;
    /// assert!(module.has_float8());
    /// # Ok::<(), cuda_jit_kir::text::ParseError>(())
    /// ```
    pub fn has_float8(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::Narrow(..) | Op::Widen(..)))
    }

    /// Returns true if it calls a function of libdevice.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::Module;
    ///
    /// let module: Module = "kir 1 kernel f(v0 x: f64) { b0: v1: f64 = math sin(v0) return }".parse()?;
    /// assert!(module.calls_libdevice());
    /// # Ok::<(), cuda_jit_kir::text::ParseError>(())
    /// ```
    pub fn calls_libdevice(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::Math(..)))
    }

    fn ops(&self) -> impl Iterator<Item = &Op> {
        let blocks = self.functions.iter().flat_map(|function| &function.blocks);
        blocks.flat_map(|block| &block.insts).map(|inst| &inst.op)
    }
}
