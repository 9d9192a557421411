//! Loads and stores with cache hints: CUDA's and Numba's `ldcg` and its variants.
//!
//! They are hints to global memory's caches and change no result. Each takes a reference, so the index is checked where the
//! reference is created: `ldcs(&x[i])`. For shared and local memory, and on the host, they are plain loads and stores.
//! Vectors of two and four are accessed at once, up to 16 bytes per instruction; those of three number by number. [The
//! manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#cache-operators) has each operator's meaning.

use crate::kir::{CacheLoad, CacheStore};
use crate::num::Num;
use crate::typeinfo::{ElementType, Intrinsic};

/// A type that can be loaded and stored with a hint: a number, or a [vector](crate::Vector). Nothing unsafe relies on an
/// implementation: the front end refuses other types.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{Cached, ldcg, stcg};
///
/// fn copy<T: Cached>(from: &T, to: &mut T) {
///     stcg(to, ldcg(from));
/// }
/// let mut to = 0.0;
/// copy(&1.5, &mut to);
/// assert_eq!(to, 1.5);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number or vector",
    label = "cache hints apply to numbers and vectors, such as `f32` and `f32x4`"
)]
pub trait Cached: ElementType {}

impl<T: Num> Cached for T {}

macro_rules! loads {
    ($($(#[doc = $doc:literal])* $name:ident $hint:ident;)*) => {
        $(
            $(#[doc = $doc])*
            pub fn $name<T: Cached>(place: &T) -> T {
                *place
            }
        )*

        calls! {
            $(<T: Cached> $name(&'static T) -> T => Intrinsic::LoadCached(CacheLoad::$hint);)*
        }
    };
}

macro_rules! stores {
    ($($(#[doc = $doc:literal])* $name:ident $hint:ident;)*) => {
        $(
            $(#[doc = $doc])*
            pub fn $name<T: Cached>(place: &mut T, value: T) {
                *place = value;
            }
        )*

        calls! {
            $(<T: Cached> $name(&'static mut T, T) => Intrinsic::StoreCached(CacheStore::$hint);)*
        }
    };
}

loads! {
    /// Loads a number or vector and caches it at all levels, as a plain load does: `ld.ca`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::ldca;
    ///
    /// assert_eq!(ldca(&1.5_f32), 1.5); // in a kernel, an element of a slice
    /// ```
    ldca All;
    /// Loads a number and caches it in the device's L2, not in the multiprocessor's L1: `ld.cg`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::ldcg;
    ///
    /// assert_eq!(ldcg(&7_u32), 7);
    /// ```
    ldcg Global;
    /// Loads a number that is probably not used again: `ld.cs`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::{grid, ldcs, stcs}, kernel};
    ///
    /// #[kernel]
    /// fn scale(factor: f32, x: &[f32], out: &mut [f32]) {
    ///     let i = grid::<1>();
    ///     if i < out.len() {
    ///         stcs(&mut out[i], ldcs(&x[i]) * factor);
    ///     }
    /// }
    /// let ptx = scale::compile_ptx((9, 0))?;
    /// assert!(ptx.contains("ld.global.cs.b32") && ptx.contains("st.global.cs.b32"));
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    ldcs Streaming;
    /// Loads a number for the last time, so that its cache line need not be written back: `ld.lu`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::ldlu;
    ///
    /// assert_eq!(ldlu(&7_u32), 7);
    /// ```
    ldlu LastUse;
    /// Loads a number that others may have written, without using a cached copy: `ld.cv`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::ldcv;
    ///
    /// assert_eq!(ldcv(&7_u32), 7);
    /// ```
    ldcv Volatile;
    /// Loads a number that nobody writes during the launch, through the read-only cache: `ld.nc`. Kernels load from a
    /// `&[T]` parameter in this way anyway; if others may write the number, this is a plain load.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::ldg, f32x4};
    ///
    /// assert_eq!(ldg(&f32x4::splat(1.5)), f32x4::splat(1.5));
    /// ```
    ldg ReadOnly;
}

stores! {
    /// Stores a number and caches it at all levels that cache writes, as a plain store does: `st.wb`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::stwb;
    ///
    /// let mut place = 0;
    /// stwb(&mut place, 7);
    /// assert_eq!(place, 7);
    /// ```
    stwb WriteBack;
    /// Stores a number and caches it in the device's L2, not in the multiprocessor's L1: `st.cg`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::stcg;
    ///
    /// let mut place = 0;
    /// stcg(&mut place, 7);
    /// assert_eq!(place, 7);
    /// ```
    stcg Global;
    /// Stores a number that is probably not used again: `st.cs`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::stcs;
    ///
    /// let mut place = 0;
    /// stcs(&mut place, 7);
    /// assert_eq!(place, 7);
    /// ```
    stcs Streaming;
    /// Stores a number through the caches to memory: `st.wt`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::stwt;
    ///
    /// let mut place = 0;
    /// stwt(&mut place, 7);
    /// assert_eq!(place, 7);
    /// ```
    stwt WriteThrough;
}
