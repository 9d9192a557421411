//! Host-only methods of the standard library's types: the typing probe finds them here, and the error suggests an
//! alternative.
//!
//! They represent inherent methods, which rustc prefers to those of any trait. So the call of a `#[device]` trait's method
//! never resolves to one of these.
//!
//! # Safety
//!
//! The `unsafe impl` makes atomics constants that a body may name, so that their methods are found here and refused. It
//! satisfies the contract of `ConstItem`, since it describes a unit value without cells.

use std::marker::PhantomData;
use std::sync::atomic;

use half::{bf16, f16};
use ndarray::{ArrayRef, ArrayView1, Axis, Dimension, Ix2};

use super::{ConstItem, ConstValue, NoCallee, Ty};

/// The witness of a refused callee.
type Witness = *const NoCallee;

/// The result of a host-only method's call in a typing probe.
#[derive(Debug)]
pub struct HostMethod<T: ?Sized, Why>(PhantomData<Why>, PhantomData<fn(&T)>);

impl<T: ?Sized, Why> Default for HostMethod<T, Why> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized, Why> HostMethod<T, Why> {
    /// The result of a call in a typing probe.
    pub const fn new() -> Self {
        HostMethod(PhantomData, PhantomData)
    }
}

/// Defines the reasons why kernels lack methods: a type, a trait that no type implements, and its error text.
macro_rules! reasons {
    ($($why:ident $bound:ident: $message:literal, $note:literal;)*) => { $(
        /// A reason why kernels lack a method.
        #[derive(Debug)]
        pub enum $why {}

        /// Implemented for no type; rustc reports the missing implementation.
        ///
        /// Nothing unsafe relies on an implementation.
        #[diagnostic::on_unimplemented(message = $message, label = "only the host has this method", note = $note)]
        pub trait $bound {}
    )* };
}

/// Defines the refusal of a call for a reason.
macro_rules! refuses {
    ($why:ident: $bound:ident) => {
        impl<T: ?Sized> HostMethod<T, $why> {
            /// Refuses the method; its result type is unconstrained, so that the error causes no others.
            ///
            /// # Panics
            ///
            /// Always: the typing probe is never run.
            pub fn of<R>(self, _: Witness) -> R
            where
                T: $bound,
            {
                unreachable!("a typing probe is never run")
            }
        }
    };
}

refuses!(Heap: NeedsNoHeap);
refuses!(Atomic: SharesMemory);
refuses!(Collecting: CollectsOnDevice);
refuses!(Sorting: Sorts);
refuses!(Pointer: PointsOnDevice);
refuses!(Branch: BranchesOnDevice);
refuses!(Text: TextOnDevice);
refuses!(Conversion: ConvertsOnDevice);
refuses!(Missing: ExistsOnDevice);

reasons! {
    Heap NeedsNoHeap: "kernels cannot call this method of `{Self}`, which allocates",
        "a thread has no heap: use an array, `[0.0; 16]`, or write to a `&mut [T]` parameter";
    Atomic SharesMemory: "kernels have no atomics of the standard library",
        "write `atomic_add(&mut x[i], v)` on an element of a slice";
    Collecting CollectsOnDevice: "kernels cannot collect the items of an iterator: a thread has no heap",
        "write each item to an element of a slice or an array: `for (i, v) in items.enumerate() {{ out[i] = v }}`";
    Sorting Sorts: "kernels cannot sort `{Self}` by this method",
        "`sort_by_key` needs no heap, and kernels have it";
    Pointer PointsOnDevice: "kernels have no raw pointers, such as into `{Self}`",
        "index the slice, `x[i]`, or write `unsafe {{ *x.get_unchecked(i) }}`";
    Branch BranchesOnDevice: "kernels have no such method of `{Self}`",
        "write `match`, `if let` or `let .. else`; the book's chapter on the language lists the methods that kernels have";
    Text TextOnDevice: "kernels have no strings to write `{Self}` into",
        "`printf!(\"{{}}\\n\", v)` prints a value";
    Conversion ConvertsOnDevice: "kernels do not have this conversion of `{Self}`",
        "write `as`, or `u64::from(v)` and the like";
    Missing ExistsOnDevice: "kernels have no such method of `{Self}`",
        "the book's chapter on the language lists the methods that they have; write a `#[device]` function for others";
}

/// Methods of slices.
///
/// Nothing unsafe relies on an implementation.
pub trait HostSlice<T> {
    cuda_jit_macros::host_methods! {
        Heap: to_vec 0 to_owned 0 repeat 1 concat 0 join 1 to_ascii_uppercase 0 to_ascii_lowercase 0;
        Sorting: sort_by_cached_key (_: impl FnMut(&T) -> R);
        Pointer: as_ptr 0 as_mut_ptr 0 as_ptr_range 0 as_mut_ptr_range 0;
        Missing: get_disjoint_mut 1;
    }
}

impl<T> HostSlice<T> for [T] {}

/// Methods of arrays.
///
/// Nothing unsafe relies on an implementation.
pub trait HostArray<T> {
    cuda_jit_macros::host_methods! {
        Missing: to_owned 0;
    }
}

impl<T, const N: usize> HostArray<T> for [T; N] {}

/// Methods of `Option`.
///
/// Nothing unsafe relies on an implementation.
pub trait HostOption<T> {
    cuda_jit_macros::host_methods! {
        Branch: as_deref 0;
        Missing: to_owned 0;
    }
}

impl<T> HostOption<T> for Option<T> {}

/// Methods of iterators.
///
/// Nothing unsafe relies on an implementation.
pub trait HostIterator<T> {
    cuda_jit_macros::host_methods! {
        Collecting: collect [A] unzip [A, B, C, D] partition (_: impl FnMut(&T) -> bool);
        Missing: cmp_by 2 eq_by 2 size_hint 0 is_partitioned (_: impl FnMut(T) -> bool) map_windows 1 array_chunks 0
            intersperse 1;
    }
}

/// Methods of views.
///
/// Nothing unsafe relies on an implementation.
pub trait HostView<A> {
    cuda_jit_macros::host_methods! {
        Heap: to_owned 0 to_vec 0 into_owned 0 to_shared 0 to_shape 1 select 2 map (_: impl FnMut(&A) -> R)
            mapv (_: impl FnMut(A) -> R) mapv_into 1 sum_axis 1 product_axis 1 mean_axis 1 var_axis 2 std_axis 2
            fold_axis (_: Axis, _: R, _: impl FnMut(&R, &A) -> R) map_axis (_: Axis, _: impl FnMut(ArrayView1<'_, A>) -> R)
            cumsum 1 cumprod 1 diff 2;
        Missing: broadcast 1 into_shape 1 into_shape_with_order 1 raw_dim 0 swap_axes 2 invert_axis 1 merge_axes 2
            slice_axis 2 slice_collapse 1 slice_each_axis 1 remove_axis 1 shift_remove 1 uget 1 uget_mut 1 uswap 2
            exact_chunks 1 axis_chunks_iter 2 axis_windows 2 lanes 1 lanes_mut 1 windows 1 scaled_add 2 mean_weighted 1
            as_slice_memory_order 0 as_slice_memory_order_mut 0 split_complex 0 all_close 2 abs_diff_eq 2;
    }
}

impl<A, D: Dimension> HostView<A> for ArrayRef<A, D> {}

/// The method of views of two dimensions.
///
/// Nothing unsafe relies on an implementation.
pub trait HostPlane {
    cuda_jit_macros::host_methods! {
        Missing: dot 1;
    }
}

impl<A> HostPlane for ArrayRef<A, Ix2> {}

/// Methods of floats.
///
/// Nothing unsafe relies on an implementation.
pub trait HostFloat {
    cuda_jit_macros::host_methods! {
        Text: to_string 0;
        Conversion: try_into 0 to_int_unchecked 0;
        Missing: to_owned 0 abs_sub 1;
    }
}

/// Methods of integers.
///
/// Nothing unsafe relies on an implementation.
pub trait HostInteger {
    cuda_jit_macros::host_methods! {
        Text: to_string 0;
        Missing: to_owned 0;
    }
}

/// Methods of characters.
///
/// Nothing unsafe relies on an implementation.
pub trait HostChar {
    cuda_jit_macros::host_methods! {
        Text: to_string 0;
        Missing: to_owned 0 is_numeric 0 is_alphabetic 0 is_alphanumeric 0 is_control 0 is_whitespace 0 is_uppercase 0
            is_lowercase 0 to_uppercase 0 to_lowercase 0;
    }
}

impl HostChar for char {}

/// Methods of the standard library's atomics.
///
/// Nothing unsafe relies on an implementation.
pub trait HostAtomic {
    cuda_jit_macros::host_methods! {
        Atomic: load 1 store 2 swap 2 compare_exchange 4 compare_exchange_weak 4 fetch_add 2 fetch_sub 2 fetch_and 2
            fetch_nand 2 fetch_or 2 fetch_xor 2 fetch_max 2 fetch_min 2 fetch_not 1 fetch_update 3 into_inner 0 get_mut 0
            as_ptr 0;
    }
}

macro_rules! atomics {
    ($($atomic:ident)*) => { $(
        impl HostAtomic for atomic::$atomic {}

        #[diagnostic::do_not_recommend]
        // SAFETY: the value is `()` without cells. It is never read, since an atomic has no type on the device and its
        // methods are refused.
        unsafe impl ConstItem<'_> for atomic::$atomic {
            fn value(_: &Self) -> ConstValue {
                ConstValue { ty: Ty::Unit, cells: Vec::new(), host_constant: None }
            }
        }
    )* };
}

atomics! {
    AtomicBool AtomicI8 AtomicI16 AtomicI32 AtomicI64 AtomicIsize AtomicU8 AtomicU16 AtomicU32 AtomicU64 AtomicUsize
}

macro_rules! numbers {
    ($($of:ident: $($ty:ty)*;)*) => { $($( impl $of for $ty {} )*)* };
}

numbers! {
    HostFloat: f32 f64 f16 bf16;
    HostInteger: i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize;
}
