//! The operation beside burn's own.

use burn_autodiff::Autodiff;
use burn_ndarray::NdArray;
use burn_tensor::backend::Backend;
use burn_tensor::{Tensor, activation};
use cuda_example_burn::silu;

fn numbers<B: Backend>() -> Tensor<B, 2> {
    let numbers: Vec<f32> = (-60..60).map(|i| 0.1 * i as f32).collect();
    Tensor::<B, 1>::from_floats(numbers.as_slice(), &Default::default()).reshape([10, 12])
}

#[track_caller]
fn agree<B: Backend>(x: Tensor<B, 2>, y: Tensor<B, 2>) {
    assert_eq!(x.dims(), y.dims());
    let difference = (x - y).abs().max().into_data().to_vec::<f32>().expect("tensors are of f32");
    assert!(difference[0] < 1e-5, "they differ by {}", difference[0]);
}

#[test]
fn it_computes_what_burn_does() {
    let x = numbers::<NdArray>();
    agree(silu(x.clone()), activation::silu(x.clone()));
    // Of any layout.
    agree(silu(x.clone().transpose()), activation::silu(x.transpose()));
}

#[test]
fn gradients_flow_through_it() {
    type Differentiated = Autodiff<NdArray>;
    let gradient = |operation: fn(Tensor<Differentiated, 2>) -> Tensor<Differentiated, 2>| {
        let x = numbers::<Differentiated>().require_grad();
        let y = operation(x.clone());
        x.grad(&(y.clone() * y).sum().backward()).expect("the sum depends on it")
    };
    agree(gradient(silu), gradient(activation::silu));
}
