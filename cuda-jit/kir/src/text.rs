//! The text form of KIR: [`Display`](std::fmt::Display) prints a [`Module`], and [`parse`] reads it.
//!
//! Every module round-trips exactly, including invalid ones: this is syntax only, and [`crate::valid`] checks the rest.
//! White space separates tokens and means nothing else; `;` begins a comment that ends with the line.
//!
//! ```text
//! module    = "kir" "1" ["contract"] ["exported"] {site} {shared} {constant} {source} {function}
//! site      = "site" NUMBER location STRING                              index, location, message
//! location  = STRING ":" NUMBER ":" NUMBER                               file, line, column
//! shared    = "shared" ARRAY NAME ":" pointee NUMBER                     index, name, element, length
//! constant  = "constant" CONSTANT NAME ":" pointee NUMBER SPACE ["host"] STRING   index, name, element, length, bytes in hexadecimal
//! function  = ("kernel" | "device") NAME "(" [param {"," param}] ")" ["->" type] "{" {slot} {array} {scope} {variable} {block} "}"
//! param     = VALUE NAME ":" type [access] ["extent" | "by_value" | "returned"]
//! access    = "read" | "readwrite"
//! slot      = "slot" SLOT NAME ":" type
//! array     = "array" ARRAY NAME ":" pointee NUMBER                       index, name, element, length
//! type      = SCALAR | "ptr" SPACE pointee                               SPACE: global, shared, cluster, local, constant or generic
//! pointee   = SCALAR | "record" NUMBER "align" NUMBER                     size and alignment in bytes
//! source    = "type" TYPE STRING ":" kind                                index and name in the source
//! kind      = SCALAR | "enum" SCALAR "{" [STRING NUMBER {"," STRING NUMBER}] "}"   names and their bits
//!           | "pointer" SPACE TYPE | "array" NUMBER TYPE                 length
//!           | "struct" NUMBER "{" [STRING NUMBER ":" TYPE {"," STRING NUMBER ":" TYPE}] "}"   size, names and offsets
//! scope     = "scope" PART location [in] ["inlined" STRING location]        index; the function's name, the call
//! in        = "in" PART
//! variable  = "variable" STRING ":" TYPE location [in] ["parameter" NUMBER] "at" (ARRAY | {SLOT NUMBER})   offsets in bytes
//! block     = BLOCK ":" {inst} end
//! inst      = [VALUE ":" type "="] op
//! op        = "const" SCALAR LITERAL | "get" SLOT | "set" SLOT "," VALUE
//!           | UNARY VALUE | BINARY VALUE "," VALUE | COMPARE VALUE "," VALUE | "overflows" BINARY VALUE "," VALUE
//!           | ("fma" | "select" | TERNARY) VALUE "," VALUE "," VALUE | ("cast" | "bitcast") VALUE "to" SCALAR
//!           | "pair" VALUE "," VALUE | ("low" | "high") VALUE
//!           | "offset" VALUE "," VALUE | "field" VALUE "," NUMBER "to" pointee | "load" VALUE | "store" VALUE "," VALUE
//!           | LOAD VALUE | STORE VALUE "," VALUE                          with the cache's hint: `load.cs`, `store.cs`
//!           | "address" VALUE | "generic" VALUE access | "retype" VALUE "to" pointee
//!           | "special" SPECIAL | "call" FUNCTION values | "math" NAME values | ("shared" | "local") ARRAY
//!           | "constant" CONSTANT
//!           | "dynamic_shared" VALUE "to" pointee                         offset in bytes
//!           | "map_shared" VALUE "," VALUE                                pointer, number of a block
//!           | "barrier" | ("barrier_count" | "barrier_and" | "barrier_or") VALUE | "fence" order
//!           | "atomic_load" [order] VALUE | "atomic_store" [order] VALUE "," VALUE
//!           | "atomic" ATOMIC [order] VALUE "," VALUE | "compare_exchange" [order] VALUE "," VALUE "," VALUE
//!           | "shuffle" SHUFFLE ["within" NUMBER] VALUE "," VALUE "," VALUE | "vote" VOTE VALUE "," VALUE
//!           | ("match_any" | "match_all") VALUE "," VALUE | "reduce" REDUCE VALUE "," VALUE
//!           | "cluster_barrier" | "grid_barrier" | "panicked"
//!           | "sync_warp" VALUE | "active_mask" | "clock" CLOCK | "sleep" VALUE | "breakpoint"
//!           | "print" STRING values                                       format
//!           | "line" location [in]
//! order     = ORDERING SCOPE                                            where it can be left out: relaxed device
//! end       = "jump" BLOCK | "branch" VALUE "," BLOCK "," BLOCK | "return" [VALUE] | "panic" NUMBER [values]
//! values    = "(" [VALUE {"," VALUE}] ")"
//! ```
//!
//! `v3`, `s0`, `b1`, `f2`, `m0`, `a0`, `c0`, `t0` and `x0` are the value, slot, block, function,
//! shared array, array, constant, source type (TYPE) and source scope (PART) of that index. A name is an identifier in which
//! `.` may stand, or else a string. A literal is a decimal number, `true`, `false`, or the bits in hexadecimal.
//!
//! # Examples
//!
//! ```
//! let text = "\
//! kir 1
//! kernel fill(v0 out: ptr global f32 readwrite) {
//! b0:
//!   v1: f32 = const f32 1.5
//!   store v0, v1
//!   return
//! }
//! ";
//! let module = cuda_jit_kir::text::parse(text)?;
//! assert_eq!(module.to_string(), text);
//! # Ok::<(), cuda_jit_kir::text::ParseError>(())
//! ```

mod lex;
mod names;
mod parse;
mod print;

use std::fmt;
use std::str::FromStr;

use super::Module;

pub use print::{inst as print_inst, terminator as print_terminator};

/// The error of a text that is not a module, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The expected and the actual token.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Parses a module's text form, without verifying it.
///
/// # Examples
///
/// ```
/// let error = cuda_jit_kir::text::parse("kir 1\nkernel f() { b0: returns }").unwrap_err();
/// assert_eq!(error.to_string(), "2:18: expected an operation or a block's end, found `returns`");
/// ```
///
/// # Errors
///
/// The text does not follow the grammar; the error names the first mismatch and the tokens allowed there.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    parse::module(text)
}

impl FromStr for Module {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text)
    }
}

#[cfg(test)]
mod tests;
