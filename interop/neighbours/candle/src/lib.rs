//! A custom operation of candle: SiLU, computed by a kernel in Rust, with its gradient by a second one.
//!
//! It is one of candle's CPU back end. The CUDA back end links cuBLAS, cuRAND and NVRTC and opens them with the device, and so runs on no
//! software device.
#![forbid(unsafe_code)]

use candle_core::backend::BackendStorage as _;
use candle_core::{CpuStorage, CustomOp1, CustomOp2, DType, Error, Layout, Result, Shape, Tensor, WithDType, bail};

/// The operation, for contiguous tensors of `f32` and `f64`.
///
/// # Examples
///
/// ```
/// use candle_core::{Device, Tensor};
///
/// let x = Tensor::new(&[[-1.0_f32, 0.0], [1.0, 2.0]], &Device::Cpu)?;
/// let y = x.apply_op1(cuda_example_candle::Silu)?;
/// assert_eq!(y.dims(), [2, 2]);
/// # Ok::<_, candle_core::Error>(())
/// ```
pub struct Silu;

impl CustomOp1 for Silu {
    fn name(&self) -> &'static str {
        "silu"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let y = match x.dtype() {
            DType::F32 => stored(silu::silu(elements::<f32>(x, layout)?)),
            DType::F64 => stored(silu::silu(elements::<f64>(x, layout)?)),
            other => bail!("`silu` is defined for f32 and f64, and the tensor is of {}", other.as_str()),
        }?;
        Ok((y, layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _y: &Tensor, dy: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(x.apply_op2_no_bwd(&dy.contiguous()?, &Gradient)?))
    }
}

/// The gradient with respect to the argument, of the argument and the gradient with respect to the result.
struct Gradient;

impl CustomOp2 for Gradient {
    fn name(&self) -> &'static str {
        "silu's gradient"
    }

    fn cpu_fwd(&self, x: &CpuStorage, of_x: &Layout, dy: &CpuStorage, of_dy: &Layout) -> Result<(CpuStorage, Shape)> {
        let dx = match x.dtype() {
            DType::F64 => stored(silu::gradient(elements::<f64>(x, of_x)?, elements(dy, of_dy)?)),
            _ => stored(silu::gradient(elements::<f32>(x, of_x)?, elements(dy, of_dy)?)),
        }?;
        Ok((dx, of_x.shape().clone()))
    }
}

/// The elements of a contiguous tensor.
fn elements<'a, T: WithDType>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [T]> {
    let Some((first, end)) = layout.contiguous_offsets() else {
        bail!("`silu` needs a contiguous tensor; call `contiguous` on it first");
    };
    Ok(&storage.as_slice::<T>()?[first..end])
}

fn stored<T: WithDType>(result: cuda_prelude::Result<Vec<T>>) -> Result<CpuStorage> {
    result.map(T::to_cpu_storage_owned).map_err(Error::wrap)
}
