//! Operators of structs: how a `#[device] impl Add for Type` is found by the struct that lists it.
//!
//! # Safety
//!
//! The compiler believes what [`DeviceOperator`] says, so that is an `unsafe` trait. There is no other unsafe code.

use std::marker::PhantomData;
use std::ops::Deref;

use super::{Body, Instance, ProbeResult, owner_arg};
use crate::syntax::Definition;

/// An operator's `#[device] impl`: `Op` is its trait in [`operators`], `Right` the right operand.
///
/// # Safety
///
/// The definition and the type information are those of the method that the operator calls on the host. `#[device]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `{Op}` for `{Right}` on the device",
    label = "listed here",
    note = "write `#[device]` before the `impl` of the operator's trait"
)]
pub unsafe trait DeviceOperator<Op, Right> {
    /// The method as written.
    fn definition() -> &'static Definition;

    /// What rustc knows of it.
    fn probe() -> ProbeResult;

    /// The method.
    fn instance() -> Instance {
        let mut generics = vec![owner_arg::<Self>(), owner_arg::<Right>()];
        generics.dedup();
        Instance { body: Body::Captured(Self::definition(), Self::probe), generics }
    }
}

/// An operator of the left operand that a struct or enum lists, which is how kernels find it. Nothing unsafe relies on an
/// implementation.
#[diagnostic::on_unimplemented(
    message = "kernels do not find this operator, which no struct or enum lists",
    label = "not listed",
    note = "write `#[operators(..)]` with the operator's trait before the struct or enum, such as `#[operators(Add, Mul<f32>, Mul<Self> for f32)]`"
)]
pub trait ListedOperator<Op, Right> {}

/// Compiles for an operator that is listed.
pub fn listed<Left: ListedOperator<Op, Right>, Op, Right>() {}

/// A type of the device language that does not implement `Deref`.
///
/// Whatever implements `Deref` has this too, so that an implementation for such a type is one too many. Nothing unsafe relies on an
/// implementation.
pub trait KernelsFollowNoDeref {}

impl<T: Deref + ?Sized> KernelsFollowNoDeref for T {}

/// Holds between a type and itself.
///
/// Nothing unsafe relies on an implementation: there is one, for all types.
#[diagnostic::on_unimplemented(
    message = "this `impl` is of another trait than the standard library's of the same name",
    label = "not the standard library's",
    note = "`#[device]` takes an `impl` of a trait named so for that of the operator, the conversion, the default or the iterator: give a trait of your own another name"
)]
pub trait Same<T> {}

impl<T> Same<T> for T {}

/// Takes two functions that are one.
pub fn standard<A, B: Same<A>>(_: A, _: B) {}

/// The operators' traits by names that nothing else has: rustc writes such without their paths.
pub mod operators {
    macro_rules! operators {
        ($($name:ident)*) => { $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[derive(Debug)]
            pub enum $name {}
        )* };
    }

    operators! {
        AddOperator SubOperator MulOperator DivOperator RemOperator BitAndOperator BitOrOperator BitXorOperator
        ShlOperator ShrOperator AddAssignOperator SubAssignOperator MulAssignOperator DivAssignOperator
        RemAssignOperator BitAndAssignOperator BitOrAssignOperator BitXorAssignOperator ShlAssignOperator
        ShrAssignOperator NegOperator NotOperator PartialEqOperator PartialOrdOperator OrdOperator
    }
}

/// The answer to the question if a type implements `Deref`: its own constant where it does, else that of [`NoDeref`].
#[derive(Debug)]
pub struct Derefs<T>(PhantomData<T>);

impl<T: Deref> Derefs<T> {
    /// It does.
    pub const HOLDS: bool = true;
}

/// The answer where the type does not. Nothing unsafe relies on an implementation.
pub trait NoDeref {
    /// It does not.
    const HOLDS: bool = false;
}

impl<T> NoDeref for Derefs<T> {}

/// Whether something about a struct's layout holds.
#[derive(Debug)]
pub struct Layout<const HOLDS: bool>;

/// The layout is pinned. Nothing unsafe relies on another implementation: there can be none of [`Layout`].
#[diagnostic::on_unimplemented(
    message = "this struct cannot lie in device memory without `#[repr(C)]`",
    note = "device memory holds types whose layout is defined: write `#[repr(C)]` or `#[repr(transparent)]` before the struct, and not `packed`"
)]
pub trait PinnedLayout {}

impl PinnedLayout for Layout<true> {}

/// No byte of the struct lies between its fields. Nothing unsafe relies on another implementation: there can be none of [`Layout`].
#[diagnostic::on_unimplemented(
    message = "this struct cannot lie in device memory, since it may have padding",
    note = "every byte of plain data belongs to a field: reorder the fields, or add one that fills the gap; the fields of a generic struct must have one type, and it no `align`"
)]
pub trait NoPadding {}

impl NoPadding for Layout<true> {}
