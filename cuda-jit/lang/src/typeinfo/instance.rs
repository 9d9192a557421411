//! Specialisations of device functions: a body and generic arguments.

use std::any::TypeId;

use super::{ConstValue, Intrinsic, Operation, ProbeResult, Ty, Typing};
use crate::syntax::Definition;

/// One specialisation of a device function or kernel.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Its body.
    pub body: Body,
    /// Its generic arguments, which identify the specialisation together with the definition's address.
    pub generics: Vec<GenericArg>,
}

impl Instance {
    /// The captured function that this is a specialisation of.
    ///
    /// # Panics
    ///
    /// If it is no captured function.
    pub fn definition(&self) -> &'static Definition {
        match self.body {
            Body::Captured(definition, _) => definition,
            Body::Intrinsic(_)
            | Body::Operation(..)
            | Body::Constructor(..)
            | Body::Constant(_)
            | Body::Mismatch(_)
            | Body::None => {
                panic!("it is captured Rust")
            }
        }
    }
}

/// A generic argument of a specialisation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GenericArg {
    /// A type, and its identity among types of the same name.
    Type(Ty, TypeId),
    /// The bits of a constant.
    Const(u128),
    /// The name of the type that the function is a method of, with its generic arguments, and its identity among types of
    /// the same name.
    Of(&'static str, TypeId),
}

/// The captured body of a device function, and its typing probe.
pub type CapturedBody = (&'static Definition, fn() -> ProbeResult);

/// Refuses a method that a `#[device]` trait requires and an `impl` has no body of.
///
/// # Panics
///
/// Always: only an `impl` that is not made by `#[device]` has none.
pub fn no_body(method: &str) -> ! {
    panic!("an `impl` without `#[device]` returns no body of its method `{method}`")
}

/// The body of a device function.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Captured Rust.
    Captured(&'static Definition, fn() -> ProbeResult),
    /// An intrinsic that the front end lowers itself.
    Intrinsic(Intrinsic),
    /// A function or method that the front end lowers itself, and its signature.
    Operation(Operation, fn() -> Typing),
    /// The constructor of a tuple struct, or of the variant with this number; `None` if it is unknown.
    Constructor(fn() -> Ty, fn() -> Option<usize>),
    /// No function: a constant, whose path is an argument where a function could stand.
    Constant(fn() -> ConstValue),
    /// No body: the path resolves to this function as a value, and to another device function as a type.
    Mismatch(&'static str),
    /// No body: the call is refused already, or nothing calls it.
    None,
}
