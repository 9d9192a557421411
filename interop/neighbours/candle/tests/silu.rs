//! The operation beside candle's own.

use candle_core::{DType, Device, Result, Tensor, Var};
use cuda_example_candle::Silu;

/// The largest difference of two tensors' elements.
fn difference(x: &Tensor, y: &Tensor) -> Result<f64> {
    (x - y)?.abs()?.flatten_all()?.max(0)?.to_dtype(DType::F64)?.to_scalar()
}

#[test]
fn it_computes_what_candle_does() -> Result<()> {
    for (dtype, precision) in [(DType::F32, 1e-5), (DType::F64, 1e-14)] {
        let x = Tensor::arange(-60_f64, 60.0, &Device::Cpu)?.affine(0.1, 0.0)?.to_dtype(dtype)?.reshape((10, 12))?;
        assert!(difference(&x.apply_op1(Silu)?, &x.silu()?)? < precision);
        // A part of a tensor that does not begin where its memory does.
        let part = x.narrow(0, 3, 4)?;
        assert!(difference(&part.apply_op1(Silu)?, &part.silu()?)? < precision);
    }
    Ok(())
}

#[test]
fn gradients_flow_through_it() -> Result<()> {
    let x = Var::from_tensor(&Tensor::arange(-5_f64, 5.0, &Device::Cpu)?)?;
    let gradient = |y: Tensor| -> Result<Tensor> {
        let gradients = (&y * &y)?.sum_all()?.backward()?;
        Ok(gradients.get(&x).expect("the sum depends on it").clone())
    };
    assert!(difference(&gradient(x.apply_op1(Silu)?)?, &gradient(x.silu()?)?)? < 1e-12);
    Ok(())
}

#[test]
fn what_it_does_not_take_is_an_error() -> Result<()> {
    let x = Tensor::zeros((2, 3), DType::F32, &Device::Cpu)?;
    let error = x.t()?.apply_op1(Silu).unwrap_err().to_string();
    assert!(error.starts_with("`silu` needs a contiguous tensor; call `contiguous` on it first"), "{error}");
    let error = x.to_dtype(DType::U8)?.apply_op1(Silu).unwrap_err().to_string();
    assert!(error.starts_with("`silu` is defined for f32 and f64, and the tensor is of u8"), "{error}");
    Ok(())
}
