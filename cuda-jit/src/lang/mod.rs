//! The device library: methods of the standard library's types, as kernels call them, written in Rust.
//!
//! Each file has the methods of a type as `#[device(library)]` implementations of a trait of their own. The macro
//! declares the trait, with the hidden methods by which a typing probe names each one, so that rustc finds the type of
//! a call's result and of the closures that it takes. A kernel sees the traits by `__private::hidden`.
//!
//! The methods themselves are ordinary Rust, and do what those of the standard library do, in the same order.

pub(crate) mod boolean;
pub(crate) mod default;
pub(crate) mod option;
pub(crate) mod ordering;
pub(crate) mod result;
