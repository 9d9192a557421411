//! What says in a call how an atomic operation orders others ([`order`]) and among whom ([`scope`]).
//!
//! Each is a type of its own, so that rustc refuses what makes no sense: a load that releases, a store that acquires.
//!
//! # Safety
//!
//! There is no unsafe code but the promises that the compiler is told the truth about the types here.

use crate::kir::{Order, Ordering, Scope};
use crate::typeinfo::{DeviceType, ValueType};

/// Among whom an atomic operation is one and keeps its order; CUDA's `thread_scope`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scope",
    note = "scopes are `scope::Block`, `scope::Cluster`, `scope::Device` and `scope::System`"
)]
pub trait AtomicScope: ValueType + sealed::Sealed {
    #[doc(hidden)]
    const SCOPE: Scope;
}

/// An order that operations can have which read and write, and fences. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an order",
    note = "orders are `order::Relaxed`, `order::Acquire`, `order::Release`, `order::AcqRel` and `order::SeqCst`"
)]
pub trait AtomicOrder: ValueType + sealed::Sealed {
    #[doc(hidden)]
    const ORDERING: Ordering;
}

/// An order that loads can have. Sealed.
#[diagnostic::on_unimplemented(
    message = "a load cannot have the order `{Self}`",
    note = "loads are `order::Relaxed`, `order::Acquire` or `order::SeqCst`"
)]
pub trait LoadOrder: AtomicOrder {}

/// An order that stores can have. Sealed.
#[diagnostic::on_unimplemented(
    message = "a store cannot have the order `{Self}`",
    note = "stores are `order::Relaxed`, `order::Release` or `order::SeqCst`"
)]
pub trait StoreOrder: AtomicOrder {}

mod sealed {
    /// Keeps scopes and orders to those below.
    #[diagnostic::on_unimplemented(message = "`{Self}` cannot implement this trait of `cuda_jit`, which is sealed")]
    pub trait Sealed {}
}

/// The order that the two types say.
pub(super) const fn order_of<S: AtomicScope, O: AtomicOrder>() -> Order {
    Order { ordering: O::ORDERING, scope: S::SCOPE }
}

macro_rules! words {
    ($of:ident::$constant:ident: $kind:ident; $($(#[$doc:meta])+ $name:ident,)+) => { $(
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name;

        // A kernel holds nothing of it: what it says is in the call's own type.
        impl super::sealed::Sealed for $name {}

        // SAFETY: a kernel holds nothing of it, as of `()`.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceType for $name {
            type K = ();
        }

        // SAFETY: nothing consists of no numbers.
        unsafe impl ValueType for $name {
            const CELLS: usize = 0;
        }

        impl $of for $name {
            const $constant: $kind = $kind::$name;
        }
    )+ };
}

/// Among whom atomic operations are one and keep their order.
pub mod scope {
    use super::{AtomicScope, DeviceType, Scope, ValueType};

    words! {
        AtomicScope::SCOPE: Scope;
        /// The threads of the block.
        Block,
        /// The threads of the cluster. Devices have clusters from compute capability 9.0 on.
        Cluster,
        /// The threads of the device.
        Device,
        /// The threads of all devices, and the host.
        System,
    }
}

/// How atomic operations order what stands around them, as [`std::sync::atomic::Ordering`] does.
pub mod order {
    use super::{AtomicOrder, DeviceType, LoadOrder, Ordering, StoreOrder, ValueType};

    words! {
        AtomicOrder::ORDERING: Ordering;
        /// No order; only the operation itself is one.
        Relaxed,
        /// What stands behind stays behind, and sees what the thread wrote that released what this reads.
        Acquire,
        /// What stands before stays before, for threads that acquire what this writes.
        Release,
        /// Both.
        AcqRel,
        /// Both, and all operations of this order have one order that all threads agree on.
        SeqCst,
    }

    impl LoadOrder for Relaxed {}
    impl LoadOrder for Acquire {}
    impl LoadOrder for SeqCst {}
    impl StoreOrder for Relaxed {}
    impl StoreOrder for Release {}
    impl StoreOrder for SeqCst {}
}
