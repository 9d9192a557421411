//! Short-circuiting folds: the results of `try_fold`'s closures, and sums and products of `Option` and `Result`.

use std::ops::ControlFlow;

use super::{DeviceIterator, DeviceProduct, DeviceSum};
use crate::device;
use crate::typeinfo::DeviceType;

/// An `Option`, `Result` or `ControlFlow`.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait Attempt: Sized + DeviceType {
    /// The type of the value on success.
    type Output: DeviceType;

    /// Wraps the value of a success.
    fn succeeded(output: Self::Output) -> Self;

    /// The value of a success.
    ///
    /// # Errors
    ///
    /// The value, or the same failure.
    fn outcome(self) -> Result<Self::Output, Self>;
}

#[device(library)]
impl<T: DeviceType> Attempt for Option<T> {
    type Output = T;

    fn succeeded(output: T) -> Option<T> {
        Some(output)
    }

    fn outcome(self) -> Result<T, Option<T>> {
        match self {
            Some(output) => Ok(output),
            None => Err(None),
        }
    }
}

#[device(library)]
impl<T: DeviceType, E: DeviceType> Attempt for Result<T, E> {
    type Output = T;

    fn succeeded(output: T) -> Result<T, E> {
        Ok(output)
    }

    fn outcome(self) -> Result<T, Result<T, E>> {
        match self {
            Ok(output) => Ok(output),
            Err(error) => Err(Err(error)),
        }
    }
}

#[device(library)]
impl<B: DeviceType, C: DeviceType> Attempt for ControlFlow<B, C> {
    type Output = C;

    fn succeeded(output: C) -> ControlFlow<B, C> {
        ControlFlow::Continue(output)
    }

    fn outcome(self) -> Result<C, ControlFlow<B, C>> {
        match self {
            ControlFlow::Continue(output) => Ok(output),
            ControlFlow::Break(value) => Err(ControlFlow::Break(value)),
        }
    }
}

/// Implements a trait of [`sums`](super::sums) for `Option` and `Result`: the sum or product of the values before the first
/// failure.
macro_rules! attempts {
    ($($trait:ident $method:ident;)*) => { $(
        #[device(library)]
        impl<T: DeviceType, U: DeviceType + $trait<T>> $trait<Option<T>> for Option<U> {
            fn $method<I: DeviceIterator<Item = Option<T>>>(iter: I) -> Option<U> {
                let mut has_failed = false;
                let whole: U = U::$method(iter.map_while(|item| {
                    has_failed = item.is_none();
                    item
                }));
                if has_failed { None } else { Some(whole) }
            }
        }

        #[device(library)]
        impl<T: DeviceType, E: DeviceType, U: DeviceType + $trait<T>> $trait<Result<T, E>> for Result<U, E> {
            fn $method<I: DeviceIterator<Item = Result<T, E>>>(iter: I) -> Result<U, E> {
                let mut failed: Option<E> = None;
                let whole: U = U::$method(iter.map_while(|item| match item {
                    Ok(value) => Some(value),
                    Err(error) => {
                        failed = Some(error);
                        None
                    }
                }));
                match failed {
                    Some(error) => Err(error),
                    None => Ok(whole),
                }
            }
        }
    )* };
}

attempts! {
    DeviceSum sum;
    DeviceProduct product;
}
