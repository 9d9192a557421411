//! The methods of the device language's own that take functions: how the twin calls them, so that rustc types the closures.
//!
//! Each stands for a method of the same name without `__call_`, and takes and yields what that does.

use ndarray::{ArrayRef, ArrayView, ArrayViewMut, Axis, Dimension, NdIndex};

use super::{Builtin, Returned};

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident[$($generics:tt)*]($($this:tt)*)($($arg:ty),*) -> $result:ty;)*) => { $(
        $(#[$doc])*
        fn $name<$($generics)*>($($this)* $(, _: $arg)*) -> Returned<Builtin, $result> {
            Returned::new()
        }
    )* };
}

/// The hidden methods of views.
///
/// Nothing unsafe relies on an implementation: the front end knows the methods of the types that it knows, and refuses
/// others.
pub trait ViewMethods<T, D: Dimension>: Sized {
    methods! {
        /// `fold`
        __call_fold[B, F: FnMut(B, &T) -> B](&self)(B, F) -> B;
        /// `len`
        __call_len[](&self)() -> usize;
        /// `is_empty`
        __call_is_empty[](&self)() -> bool;
        /// `first`
        __call_first[](&self)() -> Option<&T>;
        /// `first_mut`
        __call_first_mut[](&mut self)() -> Option<&mut T>;
        /// `last`
        __call_last[](&self)() -> Option<&T>;
        /// `last_mut`
        __call_last_mut[](&mut self)() -> Option<&mut T>;
        /// `get`
        __call_get[I: NdIndex<D>](&self)(I) -> Option<&T>;
        /// `get_mut`
        __call_get_mut[I: NdIndex<D>](&mut self)(I) -> Option<&mut T>;
        /// `swap`
        __call_swap[I: NdIndex<D>](&mut self)(I, I) -> ();
        /// `fill`
        __call_fill[](&mut self)(T) -> ();
        /// `split_at`
        __call_split_at[](self)(Axis, usize) -> (Self, Self);
        /// `sum`
        __call_sum[](&self)() -> T;
        /// `product`
        __call_product[](&self)() -> T;
        /// `for_each`
        __call_for_each[F: FnMut(&T)](&self)(F) -> ();
        /// `map_inplace`
        __call_map_inplace[F: FnMut(&mut T)](&mut self)(F) -> ();
        /// `mapv_inplace`
        __call_mapv_inplace[F: FnMut(T) -> T](&mut self)(F) -> ();
        /// `zip_mut_with`
        __call_zip_mut_with[B, E: Dimension, F: FnMut(&mut T, &B)](&mut self)(&ArrayRef<B, E>, F) -> ();
    }
}

impl<T, D: Dimension> ViewMethods<T, D> for ArrayView<'_, T, D> {}
impl<T, D: Dimension> ViewMethods<T, D> for ArrayViewMut<'_, T, D> {}
