//! Device functions as values that a launch passes to kernels.

use std::marker::PhantomData;

use super::{Callee, DeviceFn, FnLike};

/// A device function as a value that kernels can be passed; `device_fn!` makes it.
#[derive(Debug)]
pub struct DeviceFunction<V, F> {
    host: V,
    callee: PhantomData<fn() -> F>,
}

impl<V: Copy, F> Copy for DeviceFunction<V, F> {}

impl<V: Copy, F> Clone for DeviceFunction<V, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: DeviceFn> Callee<F> {
    /// The function as one that is passed to a kernel.
    pub fn passed<V: FnLike<F::Args, Output = F::Output>>(self, host: V) -> DeviceFunction<V, F> {
        DeviceFunction::new(host, self)
    }
}

impl<V, F> DeviceFunction<V, F> {
    /// The function, and the callee that its hidden one names.
    pub(super) fn new(host: V, _: Callee<F>) -> Self {
        DeviceFunction { host, callee: PhantomData }
    }
}

impl<V, F> DeviceFunction<V, F> {
    /// The function as the host calls it.
    pub fn host(&self) -> &V {
        &self.host
    }
}
