//! The memory orders ([`order`]) and thread scopes ([`scope`]) of atomic operations.
//!
//! Each is a type of its own, so that rustc refuses meaningless combinations: a load that releases, a store that acquires.
//!
//! # Safety
//!
//! The only unsafe code is the implementations that describe the types here to the compiler.

use crate::kir::{Order, Ordering, Scope};
use crate::typeinfo::{DeviceType, ValueType};

/// The set of threads that observe an atomic operation as atomic and in order; CUDA's `thread_scope`. Sealed.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{AtomicOrder, AtomicScope, atomic_add_with, order, scope};
///
/// /// Counts at the scope and in the order that the caller chooses.
/// fn count<S: AtomicScope, O: AtomicOrder>(counter: &mut u32, scope: S, order: O) -> u32 {
///     atomic_add_with(counter, 1, scope, order)
/// }
/// let mut counter = 5;
/// assert_eq!(count(&mut counter, scope::Block, order::AcqRel), 5);
/// assert_eq!(counter, 6);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scope",
    note = "scopes are `scope::Block`, `scope::Cluster`, `scope::Device` and `scope::System`"
)]
pub trait AtomicScope: ValueType + sealed::Sealed {
    #[doc(hidden)]
    const SCOPE: Scope;
}

/// A memory order for read-modify-write operations and fences. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an order",
    note = "orders are `order::Relaxed`, `order::Acquire`, `order::Release`, `order::AcqRel` and `order::SeqCst`"
)]
pub trait AtomicOrder: ValueType + sealed::Sealed {
    #[doc(hidden)]
    const ORDERING: Ordering;
}

/// A memory order for loads. Sealed.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{LoadOrder, atomic_load_with, order, scope};
///
/// fn load<O: LoadOrder>(place: &mut u32, order: O) -> u32 {
///     atomic_load_with(place, scope::System, order)
/// }
/// assert_eq!(load(&mut 3, order::Acquire), 3);
/// ```
#[diagnostic::on_unimplemented(
    message = "a load cannot have the order `{Self}`",
    note = "loads are `order::Relaxed`, `order::Acquire` or `order::SeqCst`"
)]
pub trait LoadOrder: AtomicOrder {}

/// A memory order for stores. Sealed.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{StoreOrder, atomic_store_with, order, scope};
///
/// fn store<O: StoreOrder>(place: &mut u32, value: u32, order: O) {
///     atomic_store_with(place, value, scope::System, order);
/// }
/// let mut place = 0;
/// store(&mut place, 4, order::Release);
/// assert_eq!(place, 4);
/// ```
#[diagnostic::on_unimplemented(
    message = "a store cannot have the order `{Self}`",
    note = "stores are `order::Relaxed`, `order::Release` or `order::SeqCst`"
)]
pub trait StoreOrder: AtomicOrder {}

mod sealed {
    /// Seals the traits of scopes and orders.
    #[diagnostic::on_unimplemented(message = "`{Self}` cannot implement this trait of `cuda_jit`, which is sealed")]
    pub trait Sealed {}
}

/// The order that the two types describe.
pub(super) const fn order_of<S: AtomicScope, O: AtomicOrder>() -> Order {
    Order { ordering: O::ORDERING, scope: S::SCOPE }
}

macro_rules! words {
    ($of:ident::$constant:ident: $kind:ident; $($(#[$doc:meta])+ $name:ident,)+) => { $(
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name;

        // It has no value on the device: the call's type has the scope or order.
        impl super::sealed::Sealed for $name {}

        // SAFETY: its key is that of `()`, and it has no size and no fields, as `()` has none.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceType for $name {
            type K = ();
        }

        // SAFETY: it consists of no numbers, and pushes no cells.
        unsafe impl ValueType for $name {
            const CELLS: usize = 0;
        }

        impl $of for $name {
            const $constant: $kind = $kind::$name;
        }
    )+ };
}

/// The thread scopes of atomic operations.
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

/// The memory orders of atomic operations, as in [`std::sync::atomic::Ordering`].
pub mod order {
    use super::{AtomicOrder, DeviceType, LoadOrder, Ordering, StoreOrder, ValueType};

    words! {
        AtomicOrder::ORDERING: Ordering;
        /// No ordering of other operations.
        Relaxed,
        /// Later operations stay after it, and observe the writes that precede the release operation whose value it reads.
        Acquire,
        /// Earlier operations stay before it, for threads that acquire the value it writes.
        Release,
        /// Both acquire and release.
        AcqRel,
        /// Both acquire and release, in one total order of all operations with this order.
        SeqCst,
    }

    impl LoadOrder for Relaxed {}
    impl LoadOrder for Acquire {}
    impl LoadOrder for SeqCst {}
    impl StoreOrder for Relaxed {}
    impl StoreOrder for Release {}
    impl StoreOrder for SeqCst {}
}
