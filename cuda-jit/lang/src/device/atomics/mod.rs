//! Atomic operations on numbers in global or shared memory. Each returns the old value.
//!
//! Without arguments for order and scope they are relaxed, at device scope, as CUDA's own functions are: they order no
//! other memory accesses. Each has a variant whose name ends in `_with`, which takes a [`scope`] and an [`order`]; these
//! are the operations of `cuda::atomic_ref`, with the meaning of Rust's orderings.
//!
//! On the host they are plain operations, since the host runs a kernel's threads one after the other.

mod emulated;
mod words;

use half::{bf16, f16};

use crate::kir::{AtomicOp, Order};
use crate::typeinfo::{Intrinsic, ScalarType};
use emulated::Emulated;
use words::order_of;

pub use words::{AtomicOrder, AtomicScope, LoadOrder, StoreOrder, order, scope};

/// A number that can be loaded and stored atomically: the integers and the floats.
///
/// Sealed: it is for types with [`ScalarType`] alone.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{AtomicValue, atomic_load, atomic_store};
///
/// fn take<T: AtomicValue + Default>(place: &mut T) -> T {
///     let old = atomic_load(place);
///     atomic_store(place, T::default());
///     old
/// }
/// let mut x = 7_u8;
/// assert_eq!((take(&mut x), x), (7, 0));
/// ```
pub trait AtomicValue: ScalarType {}

/// A number that can be compared and exchanged atomically: 16, 32 or 64 bits.
///
/// Sealed: it is for types with [`ScalarType`] alone.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{AtomicWord, cas};
///
/// fn swapped<T: AtomicWord + PartialEq>(place: &mut T, old: T, new: T) -> bool {
///     cas(place, old, new) == old
/// }
/// let mut x = 7_u16;
/// assert!(swapped(&mut x, 7, 8) && !swapped(&mut x, 7, 9));
/// assert_eq!(x, 8);
/// ```
pub trait AtomicWord: AtomicValue {}

/// A number with atomic addition and exchange: the 32-bit and 64-bit integers, `f32` and `f64`, and `half`'s `f16` and
/// `bf16`.
///
/// Sealed: it is for types with [`ScalarType`] alone.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{AtomicNumber, atomic_add};
///
/// fn accumulate<T: AtomicNumber>(total: &mut T, values: &[T]) {
///     for value in values {
///         atomic_add(total, *value);
///     }
/// }
/// let mut total = 0.5_f64;
/// accumulate(&mut total, &[1.0, 2.0]);
/// assert_eq!(total, 3.5);
/// ```
pub trait AtomicNumber: AtomicWord {
    /// `[sum, difference]`, wrapping.
    #[doc(hidden)]
    fn summed(self, other: Self) -> [Self; 2];

    /// Returns true if this is less than `other`; -0.0 is less than 0.0, and NaN is not less than anything.
    #[doc(hidden)]
    fn below(self, other: Self) -> bool;

    /// Returns true for NaN.
    #[doc(hidden)]
    fn is_not_a_number(self) -> bool {
        false
    }
}

/// An integer with all atomic operations: 32 or 64 bits wide.
///
/// Sealed: it is for types with [`ScalarType`] alone.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{AtomicInteger, atomic_or};
///
/// fn set<T: AtomicInteger>(flags: &mut T, flag: T) -> T {
///     atomic_or(flags, flag)
/// }
/// let mut flags = 0b01_u32;
/// assert_eq!((set(&mut flags, 0b10), flags), (0b01, 0b11));
/// ```
pub trait AtomicInteger: AtomicNumber + Ord {
    /// `[and, or, exclusive or]`
    #[doc(hidden)]
    fn combined(self, other: Self) -> [Self; 3];
}

/// An integer with the wrapping counters of [`atomic_inc`] and [`atomic_dec`]: `u32`, `u64`, `usize`.
///
/// Sealed: it is for types with [`ScalarType`] alone.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{AtomicCounter, atomic_inc};
///
/// fn next<T: AtomicCounter>(counter: &mut T, last: T) -> T {
///     atomic_inc(counter, last)
/// }
/// let mut counter = 0_u32;
/// assert_eq!([0; 4].map(|_| next(&mut counter, 2)), [0, 1, 2, 0]);
/// ```
pub trait AtomicCounter: AtomicInteger {
    /// `[incremented, decremented]`, wrapping at `limit`.
    #[doc(hidden)]
    fn counted(self, limit: Self) -> [Self; 2];
}

macro_rules! values {
    ($of:ident: $($ty:ty)*) => { $( impl $of for $ty {} )* };
}

values! { AtomicValue: i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64 f16 bf16 }
values! { AtomicWord: i16 u16 i32 u32 i64 u64 isize usize f32 f64 f16 bf16 }

macro_rules! integers {
    ($($ty:ty)*) => { $(
        impl AtomicNumber for $ty {
            fn summed(self, other: Self) -> [Self; 2] { [self.wrapping_add(other), self.wrapping_sub(other)] }
            fn below(self, other: Self) -> bool { self < other }
        }
        impl AtomicInteger for $ty {
            fn combined(self, other: Self) -> [Self; 3] { [self & other, self | other, self ^ other] }
        }
    )* };
}

integers! { i32 u32 i64 u64 isize usize }

macro_rules! floats {
    ($($ty:ty)*) => { $(
        impl AtomicNumber for $ty {
            fn summed(self, other: Self) -> [Self; 2] { [self + other, self - other] }
            fn below(self, other: Self) -> bool {
                self < other || self == other && self.is_sign_negative() && !other.is_sign_negative()
            }
            fn is_not_a_number(self) -> bool { self.is_nan() }
        }
    )* };
}

floats! { f32 f64 f16 bf16 }

macro_rules! counters {
    ($($ty:ty)*) => { $(
        impl AtomicCounter for $ty {
            fn counted(self, limit: Self) -> [Self; 2] {
                [
                    if self >= limit { 0 } else { self + 1 },
                    if self == 0 || self > limit { limit } else { self - 1 },
                ]
            }
        }
    )* };
}

counters! { u32 u64 usize }

/// Defines functions and, beside each, its variant with a scope and an order.
macro_rules! operations {
    ($($(#[$doc:meta])+ fn $name:ident / $with:ident<T: $bound:ident>($place:ident $(, $value:ident)*) $body:expr => $intrinsic:expr;)+) => {
        $(
            $(#[$doc])+
            pub fn $name<T: $bound>($place: &mut T $(, $value: T)*) -> T {
                let new = $body;
                std::mem::replace($place, new)
            }

            #[doc = concat!("[`", stringify!($name), "`] with a memory order, at a thread scope.")]
            pub fn $with<T: $bound, S: AtomicScope, O: AtomicOrder>(
                $place: &mut T $(, $value: T)*, _scope: S, _order: O,
            ) -> T {
                $name($place $(, $value)*)
            }
        )+

        calls! { $(
            <T: ScalarType> $name(&'static mut T $(, operations!(@type $value T))*) -> T => {
                let intrinsic: fn(Order) -> Intrinsic = $intrinsic;
                intrinsic(Order::RELAXED)
            };
            <T: ScalarType, S: AtomicScope, O: AtomicOrder> $with(&'static mut T $(, operations!(@type $value T))*, S, O) -> T => {
                let intrinsic: fn(Order) -> Intrinsic = $intrinsic;
                intrinsic(order_of::<S, O>())
            };
        )+ }
    };
    (@type $value:ident $ty:ident) => { $ty };
}

operations! {
    /// Atomically adds `value`, wrapping, and returns the old number.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::{atomic_add, grid}, kernel};
    ///
    /// #[kernel]
    /// fn sum(x: &[u32], total: &mut [u32]) {
    ///     let i = grid::<1>();
    ///     if i < x.len() {
    ///         atomic_add(&mut total[0], x[i]);
    ///     }
    /// }
    ///
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let _selected = context.select();
    /// let mut total = [0];
    /// sum::launch((4, 64), &vec![1; 200], &mut total)?;
    /// assert_eq!(total, [200]);
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    fn atomic_add / atomic_add_with<T: AtomicNumber>(place, value) place.summed(value)[0]
        => |order| Intrinsic::Atomic(AtomicOp::Add, order);
    /// Atomically subtracts `value`, wrapping, and returns the old number.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::atomic_sub;
    ///
    /// let mut x = 5_u32; // in a kernel, an element of a slice
    /// assert_eq!((atomic_sub(&mut x, 2), x), (5, 3));
    /// ```
    fn atomic_sub / atomic_sub_with<T: AtomicNumber>(place, value) place.summed(value)[1]
        => |order| Intrinsic::Atomic(AtomicOp::Sub, order);
    /// Atomically stores the minimum, and returns the old number. If either is NaN, nothing changes; -0.0 is less than 0.0.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::{atomic_min, grid}, kernel};
    ///
    /// #[kernel]
    /// fn smallest(x: &[f32], least: &mut [f32]) {
    ///     let i = grid::<1>();
    ///     atomic_min(&mut least[0], x[i]);
    /// }
    ///
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let _selected = context.select();
    /// let mut least = [f32::INFINITY];
    /// smallest::launch((1, 3), &[2.5, f32::NAN, -1.0], &mut least)?;
    /// assert_eq!(least, [-1.0]);
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    fn atomic_min / atomic_min_with<T: AtomicNumber>(place, value) if value.below(*place) { value } else { *place }
        => |order| Intrinsic::Atomic(AtomicOp::Min, order);
    /// Atomically stores the maximum, and returns the old number. If either is NaN, nothing changes; 0.0 is greater than
    /// -0.0.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::atomic_max;
    ///
    /// let mut x = 5.0_f32;
    /// assert_eq!((atomic_max(&mut x, 7.0), x), (5.0, 7.0));
    /// atomic_max(&mut x, f32::NAN);
    /// assert_eq!(x, 7.0);
    /// ```
    fn atomic_max / atomic_max_with<T: AtomicNumber>(place, value) if place.below(value) { value } else { *place }
        => |order| Intrinsic::Atomic(AtomicOp::Max, order);
    /// Atomically stores the minimum, and returns the old number. NaN is treated as missing: the other number replaces it.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::atomic_nanmin;
    ///
    /// let mut x = f32::NAN;
    /// atomic_nanmin(&mut x, 3.0);
    /// assert_eq!(x, 3.0);
    /// ```
    fn atomic_nanmin / atomic_nanmin_with<T: AtomicNumber>(place, value)
        if value.below(*place) || place.is_not_a_number() { value } else { *place }
        => |order| Intrinsic::AtomicNotNan(AtomicOp::Min, order);
    /// Atomically stores the maximum, and returns the old number. NaN is treated as missing: the other number replaces it.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::atomic_nanmax;
    ///
    /// let mut x = f32::NAN;
    /// atomic_nanmax(&mut x, 3.0);
    /// assert_eq!(x, 3.0);
    /// ```
    fn atomic_nanmax / atomic_nanmax_with<T: AtomicNumber>(place, value)
        if place.below(value) || place.is_not_a_number() { value } else { *place }
        => |order| Intrinsic::AtomicNotNan(AtomicOp::Max, order);
    /// Atomically stores the bitwise AND, and returns the old number.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::atomic_and;
    ///
    /// let mut x = 0b0110_u32;
    /// assert_eq!((atomic_and(&mut x, 0b0011), x), (0b0110, 0b0010));
    /// ```
    fn atomic_and / atomic_and_with<T: AtomicInteger>(place, value) place.combined(value)[0]
        => |order| Intrinsic::Atomic(AtomicOp::And, order);
    /// Atomically stores the bitwise OR, and returns the old number.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::atomic_or;
    ///
    /// let mut x = 0b0110_u32;
    /// assert_eq!((atomic_or(&mut x, 0b0011), x), (0b0110, 0b0111));
    /// ```
    fn atomic_or / atomic_or_with<T: AtomicInteger>(place, value) place.combined(value)[1]
        => |order| Intrinsic::Atomic(AtomicOp::Or, order);
    /// Atomically stores the bitwise exclusive OR, and returns the old number.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::atomic_xor;
    ///
    /// let mut x = 0b0110_u32;
    /// assert_eq!((atomic_xor(&mut x, 0b0011), x), (0b0110, 0b0101));
    /// ```
    fn atomic_xor / atomic_xor_with<T: AtomicInteger>(place, value) place.combined(value)[2]
        => |order| Intrinsic::Atomic(AtomicOp::Xor, order);
    /// Atomically stores `value`, and returns the old number.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::atomic_exch;
    ///
    /// let mut x = 1.5_f32;
    /// assert_eq!((atomic_exch(&mut x, 2.5), x), (1.5, 2.5));
    /// ```
    fn atomic_exch / atomic_exch_with<T: AtomicNumber>(place, value) value
        => |order| Intrinsic::Atomic(AtomicOp::Exchange, order);
    /// Atomically increments the number, wrapping from `limit` to 0, and returns the old number.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::atomic_inc;
    ///
    /// let mut x = 6_u32;
    /// assert_eq!((atomic_inc(&mut x, 7), x), (6, 7));
    /// assert_eq!((atomic_inc(&mut x, 7), x), (7, 0));
    /// ```
    fn atomic_inc / atomic_inc_with<T: AtomicCounter>(place, limit) place.counted(limit)[0]
        => |order| Intrinsic::Atomic(AtomicOp::Inc, order);
    /// Atomically decrements the number, wrapping from 0 to `limit`, and returns the old number.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::atomic_dec;
    ///
    /// let mut x = 1_u32;
    /// assert_eq!((atomic_dec(&mut x, 7), x), (1, 0));
    /// assert_eq!((atomic_dec(&mut x, 7), x), (0, 7));
    /// ```
    fn atomic_dec / atomic_dec_with<T: AtomicCounter>(place, limit) place.counted(limit)[1]
        => |order| Intrinsic::Atomic(AtomicOp::Dec, order);
    /// Atomically stores `new` if the number is `old`, and returns the old number. Floats are compared by their bits: 0.0
    /// is not -0.0, and a NaN equals a NaN with the same bits.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::{cas, grid}, kernel};
    ///
    /// /// Multiplies all numbers: an atomic operation that the device lacks.
    /// #[kernel]
    /// fn product(x: &[f32], total: &mut [f32]) {
    ///     let i = grid::<1>();
    ///     let mut old = total[0];
    ///     loop {
    ///         let found = cas(&mut total[0], old, old * x[i]);
    ///         if found == old {
    ///             break;
    ///         }
    ///         old = found;
    ///     }
    /// }
    ///
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let _selected = context.select();
    /// let mut total = [1.0];
    /// product::launch((1, 4), &[2.0, 3.0, 0.5, 4.0], &mut total)?;
    /// assert_eq!(total, [12.0]);
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    fn cas / cas_with<T: AtomicWord>(place, old, new) if place.bits() == old.bits() { new } else { *place }
        => Intrinsic::CompareExchange;
}

/// Loads the number atomically; in a loop, each iteration loads it again. It takes a `&mut` as all of these do, since other
/// threads may write it.
///
/// # Examples
///
/// The second block waits for the value that the first one stores.
///
/// ```
/// use cuda_jit::{device::{atomic_load_with, atomic_store_with, block_idx, order, scope}, kernel};
///
/// #[kernel]
/// fn pass_on(message: &mut [u32], ready: &mut [u32], received: &mut [u32]) {
///     if block_idx().x == 0 {
///         message[0] = 42;
///         atomic_store_with(&mut ready[0], 1, scope::Device, order::Release);
///     } else {
///         while atomic_load_with(&mut ready[0], scope::Device, order::Acquire) == 0 {}
///         received[0] = message[0];
///     }
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let _selected = context.select();
/// let mut received = [0];
/// pass_on::launch((2, 1), &mut [0], &mut [0], &mut received)?;
/// assert_eq!(received, [42]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub fn atomic_load<T: AtomicValue>(place: &mut T) -> T {
    *place
}

/// [`atomic_load`] with a memory order, at a thread scope.
pub fn atomic_load_with<T: AtomicValue, S: AtomicScope, O: LoadOrder>(place: &mut T, _scope: S, _order: O) -> T {
    *place
}

/// Stores the number atomically.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{atomic_store, grid}, kernel};
///
/// /// Any thread that finds the value reports it.
/// #[kernel]
/// fn contains(x: &[u32], value: u32, found: &mut [u32]) {
///     let i = grid::<1>();
///     if i < x.len() && x[i] == value {
///         atomic_store(&mut found[0], 1);
///     }
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut found = [0];
/// contains::launch((1, 32), &[3, 1, 3], 3, &mut found)?;
/// assert_eq!(found, [1]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub fn atomic_store<T: AtomicValue>(place: &mut T, value: T) {
    *place = value;
}

/// [`atomic_store`] with a memory order, at a thread scope.
pub fn atomic_store_with<T: AtomicValue, S: AtomicScope, O: StoreOrder>(place: &mut T, value: T, _scope: S, _order: O) {
    *place = value;
}

/// Orders the thread's memory operations, as [`std::sync::atomic::fence`] does. [`threadfence`](super::threadfence) and its
/// variants are fences of the order [`order::SeqCst`].
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{atomic_fence, atomic_store, order, scope}, kernel};
///
/// #[kernel]
/// fn publish(message: &mut [u32], ready: &mut [u32]) {
///     message[0] = 42;
///     atomic_fence(scope::Device, order::Release);
///     atomic_store(&mut ready[0], 1);
/// }
/// assert!(publish::compile_ptx((9, 0))?.contains("fence"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub fn atomic_fence<S: AtomicScope, O: AtomicOrder>(_scope: S, _order: O) {}

calls! {
    <T: ScalarType> atomic_load(&'static mut T) -> T => Intrinsic::AtomicLoad(Order::RELAXED);
    <T: ScalarType, S: AtomicScope, O: AtomicOrder> atomic_load_with(&'static mut T, S, O) -> T
        => Intrinsic::AtomicLoad(order_of::<S, O>());
    <T: ScalarType> atomic_store(&'static mut T, T) => Intrinsic::AtomicStore(Order::RELAXED);
    <T: ScalarType, S: AtomicScope, O: AtomicOrder> atomic_store_with(&'static mut T, T, S, O)
        => Intrinsic::AtomicStore(order_of::<S, O>());
    <S: AtomicScope, O: AtomicOrder> atomic_fence(S, O) => Intrinsic::Fence(order_of::<S, O>());
}

/// The function that emulates an operation, with its memory order; `None` if the operation is an instruction.
#[doc(hidden)]
pub fn emulated(intrinsic: Intrinsic, ty: crate::kir::Scalar) -> Option<(crate::typeinfo::Instance, Order)> {
    let (operation, order) = match intrinsic {
        Intrinsic::Atomic(op, order) => (Emulated::Plain(op), order),
        Intrinsic::AtomicNotNan(op, order) => (Emulated::NotNan(op), order),
        _ => return None,
    };
    Some((emulated::instance(operation, ty, order.scope)?, order))
}
