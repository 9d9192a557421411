//! The captured syntax of a `#[kernel]` or `#[device]` function: the source as the macro parsed it, without types.
//!
//! The macro captures a body as [`owned`] nodes, and writes their [encoding](encode) into the program as one literal per
//! function, which all its specialisations share; a tree of constants would cost rustc more than the function itself.
//! [`Encoded`] decodes it when the function is first compiled. Bindings, constants, callees and named types are numbers,
//! for which `cuda_jit::typeinfo` has rustc's answers. Nothing here is resolved, checked or evaluated: that is the front
//! end's work.
//!
//! # Examples
//!
//! ```
//! use cuda_jit_syntax::{ExprKind, Options, Encoded, owned};
//!
//! let (line, column) = (1, 20);
//! let one = owned::Expr(owned::Pos(line, column), owned::ExprKind::Lit(owned::Lit::Int(1, String::new())));
//! let written = owned::Definition {
//!     name: "one".to_owned(),
//!     line,
//!     body: owned::Block { stmts: Vec::new(), tail: Some(Box::new(one)) },
//!     ..owned::Definition::new(owned::Options::DEFAULT)
//! };
//! let code = cuda_jit_syntax::encode(&written).leak();
//! let source: &'static Encoded = Box::leak(Box::new(Encoded::new("module", "file.rs", true, code)));
//! let definition = source.definition();
//! assert_eq!((definition.name, definition.file), ("one", "file.rs"));
//! assert!(matches!(definition.body.tail.unwrap().1, ExprKind::Lit(_)));
//! assert_eq!(definition.options, Options::DEFAULT);
//! ```
#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod code;
mod nodes;
mod stack;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use code::{Code, Decode, Encode};
pub use stack::{ensure_sufficient_stack, with_stack};

/// The version of the encoding and of the table of nodes, which is the first byte of each encoding.
pub const VERSION: u8 = 13;

/// References of the front end, to values that are decoded once and never freed.
type Ref<T> = &'static T;
/// Lists of the front end, which are decoded once and never freed.
type List<T> = &'static [T];
/// Texts, borrowed from the encoding.
type Text = &'static str;
/// The number of a binding or loop at its use.
type Name = u32;

nodes::nodes!();

impl Copy for Lit {}

pub mod owned {
    //! The nodes as the macros build them: each owns its children.

    pub use crate::code::Name;
    use crate::code::{Code, Decode, Encode};

    type Ref<T> = Box<T>;
    type List<T> = Vec<T>;
    type Text = String;

    crate::nodes::nodes!();

    impl Definition {
        /// An empty, unnamed function with these options.
        pub fn new(options: Options) -> Self {
            Self {
                name: String::new(),
                module: String::new(),
                file: String::new(),
                line: 0,
                params: Vec::new(),
                bindings: Vec::new(),
                body: Block { stmts: Vec::new(), tail: None },
                options,
                debug_assertions: false,
            }
        }
    }
}

/// The encoding of a function. Module, file and `debug_assertions` are supplied by [`Encoded`], since a macro cannot know
/// them.
pub fn encode(definition: &owned::Definition) -> Vec<u8> {
    let mut code = vec![VERSION];
    definition.encode(&mut code);
    code
}

/// A captured function, as embedded in the program.
#[derive(Debug)]
pub struct Encoded {
    module: &'static str,
    file: &'static str,
    debug_assertions: bool,
    code: &'static [u8],
    names: &'static [u32],
    decoded: OnceLock<Definition>,
}

impl Encoded {
    /// Combines the output of [`encode`] with the properties that only rustc knows.
    ///
    /// # Panics
    ///
    /// If the versions of the macros and this library differ. In a constant, this is a compile error.
    pub const fn new(module: &'static str, file: &'static str, debug_assertions: bool, code: &'static [u8]) -> Self {
        assert!(
            matches!(code, [VERSION, ..]),
            "cuda-jit and cuda-jit-macros are of different versions: make them one in Cargo.lock"
        );
        Self { module, file, debug_assertions, code, names: &[], decoded: OnceLock::new() }
    }

    /// Sets the numbers that [`owned::Name::answer`] refers to.
    #[must_use]
    pub const fn with_names(mut self, names: &'static [u32]) -> Self {
        self.names = names;
        self
    }

    /// The function, which is decoded at the first call.
    ///
    /// # Panics
    ///
    /// If the bytes are no output of [`encode`].
    pub fn definition(&'static self) -> &'static Definition {
        self.decoded.get_or_init(|| {
            let Self { module, file, debug_assertions, code, names, .. } = *self;
            let mut code = Code { bytes: &code[1..], names };
            let decoded = Definition::decode(&mut code).filter(|_| code.bytes.is_empty());
            let decoded = decoded.unwrap_or_else(|| panic!("the captured syntax in {file} is damaged"));
            Definition { module, file, debug_assertions, ..decoded }
        })
    }
}
