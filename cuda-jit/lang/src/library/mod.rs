//! The device library: methods of the standard library's types for kernels, written in Rust.
//!
//! Each file has the methods of a type as `#[device(extension)]` implementations of a trait of their own. The macro
//! declares the trait, with the hidden methods by which a typing probe names each one, so that rustc infers the types of a
//! call's result and of its closures. Kernels import the traits from `__private::hidden`.
//!
//! The methods themselves are ordinary Rust, with the same side effects in the same order as the standard library's.

pub(crate) mod boolean;
pub mod constant;
pub(crate) mod control_flow;
pub(crate) mod copy;
pub(crate) mod default;
#[expect(
    clippy::implicit_saturating_sub,
    clippy::len_without_is_empty,
    clippy::manual_map,
    clippy::manual_unwrap_or_default,
    clippy::needless_lifetimes,
    clippy::neg_cmp_op_on_partial_ord,
    clippy::question_mark,
    clippy::redundant_closure,
    clippy::wrong_self_convention,
    reason = "the language has no `?` here, and these are the methods that clippy would call"
)]
pub mod iterator;
pub(crate) mod loops;
pub(crate) mod option;
pub(crate) mod ordering;
pub(crate) mod result;
#[expect(
    clippy::len_zero,
    clippy::manual_memcpy,
    clippy::needless_range_loop,
    clippy::neg_cmp_op_on_partial_ord,
    reason = "these are the methods that clippy would call"
)]
pub(crate) mod slice;
pub(crate) mod slice_parts;
pub(crate) mod stable_sort;
pub(crate) mod std_functions;
pub(crate) mod structs;
#[expect(clippy::type_complexity, reason = "callees and results are written out, as rustc infers them")]
pub(crate) mod trait_paths;
pub(crate) mod views;
