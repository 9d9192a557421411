//! Operators of structs: how a `#[device] impl Add for Type` is found by the struct that lists it.

use super::{Body, GenericArg, Harvest, Instance};
use crate::syntax::Definition;

/// An operator's `#[device] impl`: `Op` is its trait's name in [`operators`], `Right` the right operand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no device operator `{Op}` for `{Right}`",
    label = "listed here",
    note = "write `#[device]` before the `impl` of the operator's trait"
)]
pub trait DeviceOperator<Op, Right> {
    /// The method as written.
    fn definition() -> &'static Definition;

    /// What rustc knows of it.
    fn harvest() -> Harvest;

    /// The method.
    fn instance() -> Instance {
        let names = [std::any::type_name::<Self>(), std::any::type_name::<Right>()];
        let different = if names[0] == names[1] { &names[..1] } else { &names };
        let generics = different.iter().map(|name| GenericArg::Of(name)).collect();
        Instance { body: Body::Captured(Self::definition(), Self::harvest), generics }
    }
}

/// The names of the operators' traits.
pub mod operators {
    macro_rules! operators {
        ($($name:ident)*) => { $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[derive(Debug)]
            pub enum $name {}
        )* };
    }

    operators! {
        Add Sub Mul Div Rem BitAnd BitOr BitXor Shl Shr AddAssign SubAssign MulAssign DivAssign RemAssign BitAndAssign
        BitOrAssign BitXorAssign ShlAssign ShrAssign Neg Not PartialEq
    }
}

/// Whether something about a struct's layout holds.
#[derive(Debug)]
pub struct Layout<const HOLDS: bool>;

/// The layout is pinned.
#[diagnostic::on_unimplemented(
    message = "this struct cannot lie in device memory without `#[repr(C)]`",
    note = "device memory holds types whose layout is defined: write `#[repr(C)]` or `#[repr(transparent)]` before the struct, and not `packed`"
)]
pub trait PinnedLayout {}

impl PinnedLayout for Layout<true> {}

/// No byte of the struct lies between its fields.
#[diagnostic::on_unimplemented(
    message = "this struct cannot lie in device memory, since it may have padding",
    note = "every byte of plain data belongs to a field: reorder the fields, or add one that fills the gap; the fields of a generic struct must have one type"
)]
pub trait NoPadding {}

impl NoPadding for Layout<true> {}
