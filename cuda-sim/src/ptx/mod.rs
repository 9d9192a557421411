//! PTX text: lexer, syntax tree, instruction table, parser and printer.
//!
//! [`parse`] reads the assembly that LLVM, nvcc and libNVVM write and returns a [`Module`]. Printing the module gives
//! text that parses to the same tree. Every instruction is described once, in the table of [`isa`], which the parser,
//! the operand checks and the printer share. Nothing here knows how an instruction is executed; the code generator
//! does.
//!
//! Invariant: any text gives a module or an [`Error`] with line and column, never a panic.

mod ast;
pub mod isa;
mod lexer;
mod parser;
mod print;

pub(crate) use ast::full_name;
pub use ast::{
    AddressBase, Alias, CallOperands, Directive, Function, FunctionKind, Guard, Index, Init, Instruction, Item,
    Linkage, Module, Operand, Position, Prototype, RegisterDecl, Space, Statement, Suffix, Type, Variable,
};
pub use isa::{Modifier, Opcode};
pub use parser::parse;
pub(crate) use parser::{LAST_WITHOUT_MASKS, find_form, forms, parse_internal};

/// An error in a PTX text, with its position.
///
/// # Examples
///
/// ```
/// let error = cuda_sim::ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { frob; }")
///     .unwrap_err();
/// assert_eq!(error.position.line, 4);
/// assert!(error.to_string().contains("frob"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {message}", position.line, position.column)]
pub struct Error {
    /// The position of the error.
    pub position: Position,
    /// The message, which names the token or instruction.
    pub message: String,
    /// True if the text is valid PTX that this device does not support, false if it is malformed.
    pub unsupported: bool,
}

impl Error {
    pub(crate) fn new(position: Position, message: impl Into<String>) -> Self {
        Error { position, message: message.into(), unsupported: false }
    }

    pub(crate) fn unsupported(position: Position, message: impl Into<String>) -> Self {
        Error { position, message: message.into(), unsupported: true }
    }
}

/// The result of reading PTX.
pub type Result<T, E = Error> = std::result::Result<T, E>;
