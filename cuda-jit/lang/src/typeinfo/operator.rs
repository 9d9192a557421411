//! Operators of structs: a `#[device] impl Add for Type` is found through the struct, which lists it.
//!
//! # Safety
//!
//! The compiler relies on implementations of [`DeviceOperator`], so it is an `unsafe` trait. There is no other unsafe code.

use std::marker::PhantomData;
use std::ops::Deref;

use super::{Body, Instance, ProbeResult, owner_arg};
use crate::syntax::Definition;

/// An operator's `#[device] impl`: `Op` is its trait in [`operators`], `Right` the right operand.
///
/// # Safety
///
/// The definition and the type information are those of the method that the operator calls on the host. `#[device]`
/// implements it.
#[diagnostic::on_unimplemented(
    message = "this operator of `{Self}` has no code for the device",
    label = "listed here, with `{Right}` as the right operand",
    note = "write `#[device]` before the `impl` of the operator's trait; comparisons are derived by `#[derived(PartialEq)]` in place of `#[derive(PartialEq)]`"
)]
pub unsafe trait DeviceOperator<Op, Right> {
    /// The method as written.
    fn definition() -> &'static Definition;

    /// The method's type information.
    fn probe() -> ProbeResult;

    /// The method.
    fn instance() -> Instance {
        let mut generics = vec![owner_arg::<Self>(), owner_arg::<Right>()];
        generics.dedup();
        Instance { body: Body::Captured(Self::definition(), Self::probe), generics }
    }
}

/// An operator of the left operand that a struct or enum lists, through which kernels find it. Nothing unsafe relies on an
/// implementation.
#[diagnostic::on_unimplemented(
    message = "kernels cannot find this operator, since no struct or enum lists it",
    label = "not listed",
    note = "write `#[operators(..)]` with the operator's trait before the struct or enum, such as `#[operators(Add, Mul<f32>, Mul<Self> for f32)]`"
)]
pub trait ListedOperator<Op, Right> {
    /// Nothing: a check names this type, so that rustc reports a missing operator without a note about our functions.
    type Listed;
}

/// A type of the device language that does not implement `Deref`.
///
/// A blanket implementation covers all types that implement `Deref`, so that an implementation for such a type is a
/// conflict. Nothing unsafe relies on an implementation.
pub trait KernelsFollowNoDeref {}

impl<T: Deref + ?Sized> KernelsFollowNoDeref for T {}

/// Type equality.
///
/// Nothing unsafe relies on an implementation: there is only the blanket one.
#[diagnostic::on_unimplemented(
    message = "this `impl` is not of the standard library's trait of this name",
    label = "not the standard library's",
    note = "`#[device]` treats a trait of this name as the standard library's: give your own trait another name"
)]
pub trait SameFunction<T> {}

impl<T> SameFunction<T> for T {}

/// Compiles only for two functions of one type.
pub fn standard_function<A, B: SameFunction<A>>(_: A, _: B) {}

/// A function of a trait that a path names, and that of the standard library's trait with this name.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "kernels take a trait of this name for the standard library's",
    label = "not the standard library's",
    note = "give your own trait another name, or call the function as a method"
)]
pub trait SameTrait<T> {}

#[diagnostic::do_not_recommend]
impl<T> SameTrait<T> for T {}

/// Compiles only for two functions of one trait.
pub fn standard_trait<A, B: SameTrait<A>>(_: A, _: B) {}

/// The operators' traits, under names that are unique in the program: rustc prints these without their paths.
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
        ShrAssignOperator NegOperator NotOperator IndexOperator IndexMutOperator PartialEqOperator PartialOrdOperator OrdOperator
    }
}

/// Tests if a type implements `Deref`: by its own constant if it does, else by that of [`NoDeref`].
#[derive(Debug)]
pub struct Derefs<T>(PhantomData<T>);

impl<T: Deref> Derefs<T> {
    /// It does.
    pub const HOLDS: bool = true;
}

/// The constant of a type that does not implement `Deref`. Nothing unsafe relies on an implementation.
pub trait NoDeref {
    /// It does not.
    const HOLDS: bool = false;
}

impl<T> NoDeref for Derefs<T> {}

/// The result of a test of a struct's layout.
#[derive(Debug)]
pub struct MemoryLayout<const HOLDS: bool>;

/// The layout is pinned. Nothing unsafe relies on another implementation: [`MemoryLayout`] belongs to this crate.
#[diagnostic::on_unimplemented(
    message = "this struct cannot lie in device memory without `#[repr(C)]`",
    label = "its layout is rustc's choice",
    note = "device memory holds types whose layout is defined: write `#[repr(C)]` or `#[repr(transparent)]` before the struct, and not `packed`"
)]
pub trait PinnedLayout {}

#[diagnostic::do_not_recommend]
impl PinnedLayout for MemoryLayout<true> {}

/// The struct has no padding. Nothing unsafe relies on another implementation: [`MemoryLayout`] belongs to this crate.
#[diagnostic::on_unimplemented(
    message = "this struct cannot lie in device memory, since it may have padding",
    label = "its layout may have bytes that belong to no field",
    note = "every byte of plain data belongs to a field: reorder the fields, or add one that fills the gap; the fields of a generic struct must have one type, and it no `align`"
)]
pub trait NoPadding {}

#[diagnostic::do_not_recommend]
impl NoPadding for MemoryLayout<true> {}
