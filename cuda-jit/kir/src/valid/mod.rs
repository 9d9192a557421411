//! The verifier: checks that a [`Module`] obeys KIR's rules. A verified module never makes a back end panic, nor a code
//! generator behind it abort.
//!
//! It checks every [`Rule`]; each variant's documentation is the rule. It does not check
//!
//! - that a divisor is not zero and a pointer is valid: the front end guarantees these;
//! - that a slot is written before it is read, or that a block is reachable: neither is required;
//! - that nobody writes the memory behind an [`Access::Read`](crate::Access) parameter: the launch guarantees it;
//! - that read-only memory is not written through a generic pointer: rustc has checked that;
//! - that recursion ends, nor how much stack it takes;
//! - that a message uses its arguments, nor that a site's file exists;
//! - limits of a device, such as the size of all parameters: the driver reports those.

mod access;
mod dominators;
mod function;
mod source;
mod types;

use std::collections::HashSet;
use std::fmt;

use crate::{ArrayDecl, BlockId, CONSTANT_MEMORY, ConstantDecl, Module, Pointee, Space, Type};

pub use access::Accesses;

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// A rule of KIR.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Rule {
            /// Every rule.
            #[cfg(test)]
            const ALL: &'static [Rule] = &[$(Rule::$name),+];
        }

        impl fmt::Display for Rule {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let text = match self {
                    $(Rule::$name => concat!($($doc),+),)+
                };
                f.write_str(text.trim())
            }
        }
    };
}

rules! {
    /// The module's first function is the kernel, or the exported function, so there is at least one.
    Kernel,
    /// A kernel has no result.
    KernelResult,
    /// A function's name is made of letters, digits and `_`, does not begin with a digit, and is neither `_` nor `WARP_SZ`, which PTX reserves, nor `vprintf` or `cudaGraphSetConditional`, which the driver or the device runtime defines.
    FunctionName,
    /// Function names are unique in the module.
    UniqueName,
    /// Names of parameters and slots are made of letters, digits, `_` and `.`.
    VariableName,
    /// A scalar parameter has access `Read`.
    ScalarAccess,
    /// Only a kernel's parameter is an extent or a stride, and it is a `u64`: the launch keeps an extent below 2^63.
    Extent,
    /// A function returns no pointer.
    PointerResult,
    /// A function has an entry block.
    Entry,
    /// No block jumps to the entry.
    JumpToEntry,
    /// Every index refers to an existing slot, block, function or site.
    InRange,
    /// Results are numbered after the parameters, one by one, in the order of blocks and instructions.
    Numbering,
    /// A value is used after its definition, in the same block or in a later one that the definition's block dominates.
    Definition,
    /// The operands have types that the operation takes.
    Operand,
    /// The result has the operation's result type, or there is none if the operation has no result.
    Result,
    /// Bits of a constant above its type's width are zero.
    ConstantBits,
    /// The condition of a branch is a `bool`.
    Condition,
    /// A returned value has the function's result type.
    Return,
    /// A call's arguments match the callee's parameters: as many values, of the same types, pointers with the same access.
    Arguments,
    /// The kernel or exported function is not called.
    CallsKernel,
    /// Only an exported function has by-value parameters and a result parameter, which is its first; they are `ptr local`, `readwrite`.
    Exported,
    /// An exported function has no launch: its module has no constant that the host updates, and no more shared memory than the static limit.
    ExportedLaunch,
    /// A panic has at most eight arguments, each a `u64`.
    PanicArguments,
    /// A store or atomic operation, a load included, goes through a pointer with access `ReadWrite`.
    StoreAccess,
    /// A load through the read-only cache goes through a pointer with access `Read`.
    LoadAccess,
    /// A generic pointer has access `Read` only if its operand has.
    GenericAccess,
    /// A vector access has two or four elements, of up to 16 bytes in total.
    VectorWidth,
    /// A `field` lies within its record and is aligned in it.
    Field,
    /// A record's alignment is a power of two up to 256, and its size a multiple of that and less than 2^31.
    Record,
    /// A kernel's pointer parameters point to global memory.
    KernelPointer,
    /// An array has at least one element, its name is made of letters, digits, `_` and `.`, and all fit 2^31 bytes.
    Array,
    /// A constant has the bytes of its elements, and lies in constant memory or, unless the host updates it, in global memory.
    Constant,
    /// The constants in constant memory fit its 64 KiB.
    ConstantMemory,
    /// A format has only KIR's conversions, and a print has a value of each one's type.
    Format,
    /// An atomic load does not release, and an atomic store does not acquire.
    Order,
    /// The segments of a shuffle have a power of two of lanes, up to 32.
    ShuffleSegment,
    /// A source type refers to earlier types only, its fields lie within it, and it is less than 2^31 bytes.
    SourceType,
    /// A source scope is within an earlier one.
    SourceScope,
    /// A debug variable has storage of its own: an array of its size, or slots that lie in it, in order and aligned.
    Variable,
    /// All pointers that a slot holds or a `select` chooses from have the same access.
    MixedAccess,
}

/// A broken rule, and its position.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Module, valid::{Rule, VerifyError, verify}};
///
/// let module: Module = "kir 1 kernel f(v0 x: u32) { b0: v1: u32 = neg v0 return }".parse()?;
/// let VerifyError { function, inst, rule, .. } = verify(&module).unwrap_err();
/// assert_eq!((function.as_deref(), inst, rule), (Some("f"), Some(0), Rule::Operand));
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The function's name, if the rule concerns one.
    pub function: Option<String>,
    /// The block, if the rule concerns one.
    pub block: Option<BlockId>,
    /// The instruction's index in its block; the number of instructions stands for the terminator.
    pub inst: Option<usize>,
    /// The rule.
    pub rule: Rule,
    /// The violation, with the instruction's text if there is one.
    pub detail: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid KIR")?;
        if let Some(function) = &self.function {
            write!(f, " in `{function}`")?;
        }
        if let Some(block) = self.block {
            write!(f, ", block {block}")?;
        }
        if let Some(inst) = self.inst {
            write!(f, ", instruction {inst}")?;
        }
        write!(f, ": {}. {}", self.detail, self.rule)
    }
}

impl std::error::Error for VerifyError {}

/// Checks every [`Rule`].
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{text, valid::{self, Rule}};
///
/// let module = text::parse("kir 1 kernel f(v0 x: u32) { b0: v1: u32 = neg v0 return }")?;
/// let error = valid::verify(&module).unwrap_err();
/// assert_eq!(error.rule, Rule::Operand);
/// assert_eq!(
///     error.to_string(),
///     "invalid KIR in `f`, block b0, instruction 0: `v1: u32 = neg v0`: v0 is u32, not a signed integer, float or pair. \
///      The operands have types that the operation takes.",
/// );
/// # Ok::<(), text::ParseError>(())
/// ```
///
/// # Errors
///
/// The first violation, in the order of functions, blocks and instructions.
pub fn verify(module: &Module) -> Result<(), VerifyError> {
    if module.functions.is_empty() {
        return Err(broken(Rule::Kernel, "the module has no function"));
    }
    check_arrays(&module.shared)?;
    check_constants(module)?;
    source::check_types(module)?;
    if module.exported && (module.spilled_shared().is_some() || module.constants.iter().any(|constant| constant.host)) {
        return Err(broken(Rule::ExportedLaunch, "the module has one of them"));
    }
    let mut names = HashSet::new();
    for (index, function) in module.functions.iter().enumerate() {
        let checked = if names.insert(&function.name) {
            function::check(module, function, Kind::of(module, index))
        } else {
            Err(broken(Rule::UniqueName, format!("a second function is named `{}`", function.name)))
        };
        checked.map_err(|error| VerifyError { function: Some(function.name.clone()), ..error })?;
    }
    Ok(())
}

/// The kind of a function in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Kernel,
    Exported,
    Device,
}

impl Kind {
    fn of(module: &Module, index: usize) -> Self {
        match index {
            0 if module.exported => Kind::Exported,
            0 => Kind::Kernel,
            _ => Kind::Device,
        }
    }
}

/// Checks the arrays of a module or function.
fn check_arrays(arrays: &[ArrayDecl]) -> Result<(), VerifyError> {
    let mut bytes = 0u64;
    for array in arrays {
        check_pointee(array.element)?;
        let plain = array.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let size = array.len.checked_mul(array.element.size().into());
        bytes = bytes.saturating_add(size.unwrap_or(u64::MAX));
        if !plain || array.len == 0 || bytes >= 1 << 31 {
            let detail = format!("`{}` has {} elements of type {}", array.name, array.len, array.element);
            return Err(broken(Rule::Array, detail));
        }
    }
    Ok(())
}

/// Checks the constants of a module.
fn check_constants(module: &Module) -> Result<(), VerifyError> {
    for ConstantDecl { array, space, host, bytes } in &module.constants {
        check_arrays(std::slice::from_ref(array))?;
        let size = array.len * u64::from(array.element.size());
        if bytes.len() as u64 != size {
            let detail = format!("`{}` takes {size} bytes and has {}", array.name, bytes.len());
            return Err(broken(Rule::Constant, detail));
        }
        if !(*space == Space::Constant || *space == Space::Global && !host) {
            return Err(broken(Rule::Constant, format!("`{}` lies in {space:?} memory", array.name)));
        }
    }
    match module.constant_memory() {
        taken if taken > CONSTANT_MEMORY => {
            Err(broken(Rule::ConstantMemory, format!("the constants take {taken} bytes")))
        }
        _ => Ok(()),
    }
}

/// Checks the pointee of a pointer or array.
fn check_pointee(pointee: Pointee) -> Result<(), VerifyError> {
    match pointee {
        Pointee::Record(record) if !record.is_sound() => Err(broken(Rule::Record, format!("there is a `{pointee}`"))),
        _ => Ok(()),
    }
}

/// Checks the type of a parameter or slot.
fn check_type(ty: Type) -> Result<(), VerifyError> {
    match ty {
        Type::Ptr(_, pointee) => check_pointee(pointee),
        Type::Scalar(_) => Ok(()),
    }
}

/// An error without a position.
fn broken(rule: Rule, detail: impl Into<String>) -> VerifyError {
    VerifyError { function: None, block: None, inst: None, rule, detail: detail.into() }
}

#[cfg(test)]
mod tests;
