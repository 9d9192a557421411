//! The function SiLU, `x * sigmoid(x)`, and its gradient as kernels, for slices of the host: the work of the custom operations for
//! candle and burn beside this crate.
#![forbid(unsafe_code)]

use cuda_prelude::*;

#[device]
fn sigmoid<T: Float>(x: T) -> T {
    T::ONE / (T::ONE + (-x).exp())
}

#[kernel]
fn forward<T: Float>(x: &[T], y: &mut [T]) {
    let i = grid::<1>();
    if i < y.len() {
        y[i] = x[i] * sigmoid(x[i]);
    }
}

#[kernel]
fn backward<T: Float>(x: &[T], dy: &[T], dx: &mut [T]) {
    let i = grid::<1>();
    if i < dx.len() {
        let s = sigmoid(x[i]);
        dx[i] = dy[i] * s * (T::ONE + x[i] * (T::ONE - s));
    }
}

/// The function of each element. The elements are copied to the device, and the results back.
///
/// # Errors
///
/// The driver reports an error, or the kernel cannot be compiled.
///
/// # Examples
///
/// ```
/// let y = silu::silu(&[-1.0_f64, 0.0, 1.0])?;
/// assert!((y[0] + 0.268_941).abs() < 1e-6 && y[1] == 0.0 && (y[2] - 0.731_059).abs() < 1e-6);
/// # Ok::<_, cuda_prelude::Error>(())
/// ```
pub fn silu<T: Float>(x: &[T]) -> Result<Vec<T>> {
    let mut y = device_array(x.len())?;
    forward::forall(x.len(), &from_slice(x)?, &mut y)?;
    Ok(y.copy_to_host()?.to_vec())
}

/// The gradient with respect to each element, where `dy` is that with respect to the results.
///
/// # Errors
///
/// As [`silu`].
///
/// # Panics
///
/// `dy` is shorter than `x`, as an error of the kernel.
///
/// # Examples
///
/// ```
/// assert_eq!(silu::gradient(&[0.0_f32], &[3.0])?, [1.5]);
/// # Ok::<_, cuda_prelude::Error>(())
/// ```
pub fn gradient<T: Float>(x: &[T], dy: &[T]) -> Result<Vec<T>> {
    let mut dx = device_array(x.len())?;
    backward::forall(x.len(), &from_slice(x)?, &from_slice(dy)?, &mut dx)?;
    Ok(dx.copy_to_host()?.to_vec())
}
