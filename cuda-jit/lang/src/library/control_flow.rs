//! `ControlFlow`.
//!
//! # Safety
//!
//! The only unsafe code is the implementations that describe the type to the compiler.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use crate::device;
use crate::typeinfo::{DeviceType, KernelParam, Key, Ty, ValueType, any_value};

/// The key of `ControlFlow`.
#[derive(Debug)]
pub struct ControlFlowKey<B, C>(PhantomData<(B, C)>);

// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl<B: Key, C: Key> Key for ControlFlowKey<B, C> {
    fn ty() -> Ty {
        Ty::control_flow(B::ty(), C::ty())
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl<B: DeviceType, C: DeviceType> DeviceType for ControlFlow<B, C> {
    type K = ControlFlowKey<B::K, C::K>;

    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        push(u128::from(self.is_break()));
        match self {
            ControlFlow::Continue(value) => {
                value.__cells(push);
                (0..B::K::ty().cells()).for_each(|_| push(0));
            }
            ControlFlow::Break(value) => {
                (0..C::K::ty().cells()).for_each(|_| push(0));
                value.__cells(push);
            }
        }
    }

    fn __variants() -> Vec<Option<Self>> {
        vec![any_value().map(ControlFlow::Continue), any_value().map(ControlFlow::Break)]
    }
}

// SAFETY: the cells are the tag and those of both variants, with zeros for the other one, as the key describes.
unsafe impl<B: ValueType, C: ValueType> ValueType for ControlFlow<B, C> {
    const CELLS: usize = 1 + B::CELLS + C::CELLS;
}

#[diagnostic::do_not_recommend]
impl<B: ValueType, C: ValueType> KernelParam for ControlFlow<B, C> {}

/// The methods of `ControlFlow`.
#[device(extension)]
impl<B, C> ControlFlowMethods<B, C> for ControlFlow<B, C> {
    /// `is_break`
    fn is_break(&self) -> bool {
        match self {
            ControlFlow::Continue(_) => false,
            ControlFlow::Break(_) => true,
        }
    }

    /// `is_continue`
    fn is_continue(&self) -> bool {
        match self {
            ControlFlow::Continue(_) => true,
            ControlFlow::Break(_) => false,
        }
    }

    /// `break_value`
    fn break_value(self) -> Option<B> {
        match self {
            ControlFlow::Continue(_) => None,
            ControlFlow::Break(value) => Some(value),
        }
    }

    /// `continue_value`
    fn continue_value(self) -> Option<C> {
        match self {
            ControlFlow::Continue(value) => Some(value),
            ControlFlow::Break(_) => None,
        }
    }

    /// `map_break`
    fn map_break<T, F: FnOnce(B) -> T>(self, f: F) -> ControlFlow<T, C> {
        match self {
            ControlFlow::Continue(value) => ControlFlow::Continue(value),
            ControlFlow::Break(value) => ControlFlow::Break(f(value)),
        }
    }

    /// `map_continue`
    fn map_continue<T, F: FnOnce(C) -> T>(self, f: F) -> ControlFlow<B, T> {
        match self {
            ControlFlow::Continue(value) => ControlFlow::Continue(f(value)),
            ControlFlow::Break(value) => ControlFlow::Break(value),
        }
    }
}
