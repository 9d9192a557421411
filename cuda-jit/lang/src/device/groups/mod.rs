//! Cooperative groups as values, after CUDA's `cooperative_groups`.
//!
//! A group is the whole [`Grid`], a [`Block`], a [`Cluster`] of blocks, a [`Tile`] of a warp, or the converged threads of a
//! warp ([`Coalesced`]). Each returns a thread's rank and has a barrier; groups within a warp also exchange values. All
//! threads of a group call its collective operations together, as with [`sync_threads`].
//!
//! On the host, where threads run one after the other, ranks work, and collective operations panic.
//!
//! # Safety
//!
//! The only unsafe code is the implementations that describe the types here to the compiler.

/// Defines a group as a value of kernels, which cannot be stored in memory.
macro_rules! group {
    ($name:ident $([const $n:ident])? { $($field:ident: $ty:ty)? }) => {
        // SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
        unsafe impl$(<const $n: usize>)? crate::typeinfo::Key for $name$(<$n>)? {
            fn ty() -> crate::typeinfo::Ty {
                use crate::typeinfo::{Arithmetic, StructTy, Ty};
                let fields = vec![$(crate::typeinfo::Field {
                    name: stringify!($field),
                    ty: crate::typeinfo::ty_of::<$ty>(),
                    offset: std::mem::offset_of!(Self, $field),
                })?];
                let (size, align) = (size_of::<Self>(), align_of::<Self>());
                let name = std::any::type_name::<Self>();
                Ty::Struct(StructTy { name, fields, size, align, operators: Vec::new, arithmetic: Arithmetic::Listed }.into())
            }
        }

        // SAFETY: the key describes this very type.
        #[diagnostic::do_not_recommend]
        unsafe impl$(<const $n: usize>)? crate::typeinfo::DeviceType for $name$(<$n>)? {
            type K = Self;

            fn __cells(&self, push: &mut dyn FnMut(u128)) {
                let _ = push;
                $(self.$field.__cells(push);)?
            }
        }

        // SAFETY: the cells are the fields of the struct, in the order of its key.
        unsafe impl$(<const $n: usize>)? crate::typeinfo::ValueType for $name$(<$n>)? {
            const CELLS: usize = 0 $(+ <$ty as crate::typeinfo::ValueType>::CELLS)?;        }
    };
}
use group;

mod sealed {
    /// Seals [`WarpGroup`](super::marker::WarpGroup).
    #[diagnostic::on_unimplemented(message = "`{Self}` cannot implement this trait of `cuda_jit`, which is sealed")]
    pub trait Sealed {}

    impl<const N: usize> Sealed for super::Tile<N> {}
    impl Sealed for super::Coalesced {}
}

/// Defines a group's methods for values of any type: the front end reads the type off the first argument.
macro_rules! methods_of_values {
    (
        impl $group:ty [$($generics:tt)*];
        $($(#[$doc:meta])+ fn $name:ident / $call:ident / $marker:ident<T: $bound:ident>($value:ident $(, $rank:ident)?)
            -> $output:ty;)+
    ) => {
        impl<$($generics)*> $group { $(
            $(#[$doc])+
            ///
            /// # Panics
            ///
            /// On the host.
            #[must_use]
            pub fn $name<T: $bound>(self, $value: T $(, $rank: u32)?) -> $output {
                let _ = ($value $(, $rank)?);
                crate::device::needs_other_threads()
            }

            #[doc(hidden)]
            pub fn $call<T>(
                &self, _: T $(, $rank: u32)?
            ) -> crate::typeinfo::Returned<super::marker::$marker<Self>, $output> {
                $(let _ = $rank;)?
                crate::typeinfo::Returned::new()
            }
        )+ }
    };
}
use methods_of_values;

mod cluster;
pub(crate) mod coalesced;
mod grid;
mod tile;

use super::{block_dim, sync_threads, thread_idx};
use crate::device as device_fn;

pub use cluster::*;
pub use coalesced::{Coalesced, coalesced_threads};
pub use grid::*;
pub use tile::*;

/// The callee types of the methods of groups within a warp.
#[doc(hidden)]
pub mod marker {
    use std::marker::PhantomData;

    use crate::kir::{BinaryOp, ShuffleOp};
    use crate::typeinfo::{Body, DeviceFn, GroupOp, Instance, Intrinsic, Unconstrained};

    /// A group within a warp.
    ///
    /// Sealed.
    pub trait WarpGroup: super::sealed::Sealed {
        /// The intrinsic that an operation of the group is.
        fn intrinsic(op: GroupOp) -> Intrinsic;
    }

    macro_rules! markers {
        ($($name:ident => $op:expr;)*) => { $(
            #[derive(Debug)]
            pub struct $name<G>(PhantomData<G>);

            // SAFETY: the instance is the intrinsic for the method that the type is named after, with its arguments and
            // result.
            unsafe impl<G: WarpGroup> DeviceFn for $name<G> {
                type Args = Unconstrained;
                type Output = Unconstrained;
                fn instance() -> Instance {
                    Instance { body: Body::Intrinsic(G::intrinsic($op)), generics: Vec::new() }
                }
            }
        )* };
    }

    /// The callee of [`Cluster::map_shared_rank`](super::Cluster::map_shared_rank).
    #[derive(Debug)]
    pub struct MapShared;

    // SAFETY: the instance is the intrinsic for the method that the type is named after, with its arguments and result.
    unsafe impl DeviceFn for MapShared {
        type Args = Unconstrained;
        type Output = Unconstrained;
        fn instance() -> Instance {
            Instance { body: Body::Intrinsic(Intrinsic::MapShared), generics: Vec::new() }
        }
    }

    markers! {
        Index => GroupOp::Shuffle(ShuffleOp::Index);
        Up => GroupOp::Shuffle(ShuffleOp::Up);
        Down => GroupOp::Shuffle(ShuffleOp::Down);
        Xor => GroupOp::Shuffle(ShuffleOp::Xor);
        MatchAny => GroupOp::MatchAny;
        MatchAll => GroupOp::MatchAll;
        Add => GroupOp::Reduce(BinaryOp::Add);
        Min => GroupOp::Reduce(BinaryOp::Min);
        Max => GroupOp::Reduce(BinaryOp::Max);
    }
}

/// The threads of a block.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::this_block;
///
/// cuda_jit::host::for_each_thread((2, (4, 2)), || {
///     let block = this_block();
///     assert!(block.size() == 8 && block.thread_rank() < 8);
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block;

group! { Block {} }

/// The thread's block.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::this_block, kernel};
///
/// #[kernel]
/// fn ranks(out: &mut [usize]) {
///     let block = this_block();
///     let rank = block.thread_rank();
///     out[rank] = rank * 100 + block.size();
///     block.sync();
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut out = cuda_mem::zeros(&context, 6)?;
/// ranks::launch((1, (3, 2)), &mut out)?;
/// assert_eq!(out.copy_to_host()?.to_vec(), [6, 106, 206, 306, 406, 506]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[device_fn]
pub fn this_block() -> Block {
    Block
}

#[device_fn]
impl Block {
    /// Waits until all threads of the block that have not returned arrive; see [`sync_threads`].
    ///
    /// # Panics
    ///
    /// On the host.
    pub fn sync(self) {
        sync_threads();
    }

    /// The thread's rank in the block, `x` fastest.
    #[must_use]
    pub fn thread_rank(self) -> usize {
        let (at, extent) = (thread_idx(), block_dim());
        at.x + extent.x * (at.y + extent.y * at.z)
    }

    /// The number of threads in the block.
    #[must_use]
    pub fn size(self) -> usize {
        let extent = block_dim();
        extent.x * extent.y * extent.z
    }
}
