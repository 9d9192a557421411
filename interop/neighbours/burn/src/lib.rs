//! A custom operation of burn: SiLU, computed by a kernel in Rust, with its gradient by a second one.
//!
//! It is one of the ndarray back end, whose tensors are host memory. The CUDA back end (CubeCL) keeps its device memory to itself and
//! compiles with NVRTC, so that it cannot share a software device's array.
#![forbid(unsafe_code)]

use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn_autodiff::{Autodiff, NodeId};
use burn_ndarray::{NdArray, NdArrayTensor, SharedArray};
use burn_tensor::backend::Backend;
use burn_tensor::ops::FloatTensor;
use burn_tensor::{Tensor, TensorMetadata as _, TensorPrimitive};
use cuda_prelude::Float;

/// A back end that has the operation.
pub trait SiluBackend: Backend {
    /// The operation.
    fn silu(x: FloatTensor<Self>) -> FloatTensor<Self>;
}

/// A back end that has its gradient, so that [`Autodiff`] of it has the operation.
pub trait SiluGradient: SiluBackend {
    /// The gradient with respect to `x`, where `dy` is that with respect to the result.
    fn silu_gradient(x: FloatTensor<Self>, dy: FloatTensor<Self>) -> FloatTensor<Self>;
}

/// Applies the operation.
///
/// # Examples
///
/// ```
/// use burn_ndarray::NdArray;
/// use burn_tensor::Tensor;
///
/// let x = Tensor::<NdArray, 2>::from_data([[-1.0, 0.0], [1.0, 2.0]], &Default::default());
/// assert_eq!(cuda_example_burn::silu(x).dims(), [2, 2]);
/// ```
pub fn silu<B: SiluBackend, const D: usize>(x: Tensor<B, D>) -> Tensor<B, D> {
    Tensor::from_primitive(TensorPrimitive::Float(B::silu(x.into_primitive().tensor())))
}

impl SiluBackend for NdArray {
    fn silu(x: NdArrayTensor) -> NdArrayTensor {
        match x {
            NdArrayTensor::F32(x) => forward(&x.into_shared()).into(),
            NdArrayTensor::F64(x) => forward(&x.into_shared()).into(),
            other => panic!("`silu` is defined for f32 and f64, and the tensor is of {:?}", other.dtype()),
        }
    }
}

impl SiluGradient for NdArray {
    fn silu_gradient(x: NdArrayTensor, dy: NdArrayTensor) -> NdArrayTensor {
        match (x, dy) {
            (NdArrayTensor::F32(x), NdArrayTensor::F32(dy)) => gradient(&x.into_shared(), &dy.into_shared()).into(),
            (NdArrayTensor::F64(x), NdArrayTensor::F64(dy)) => gradient(&x.into_shared(), &dy.into_shared()).into(),
            (x, dy) => panic!("the tensor is of {:?}, and its gradient of {:?}", x.dtype(), dy.dtype()),
        }
    }
}

fn forward<T: Float>(x: &SharedArray<T>) -> SharedArray<T> {
    let x = x.as_standard_layout();
    shaped(x.shape(), silu::silu(x.as_slice().expect("it is contiguous")))
}

fn gradient<T: Float>(x: &SharedArray<T>, dy: &SharedArray<T>) -> SharedArray<T> {
    let (x, dy) = (x.as_standard_layout(), dy.as_standard_layout());
    let contiguous = "it is contiguous";
    shaped(x.shape(), silu::gradient(x.as_slice().expect(contiguous), dy.as_slice().expect(contiguous)))
}

/// An array of these elements. burn's operations return no errors, so that those of the device are panics.
fn shaped<T>(shape: &[usize], elements: cuda_prelude::Result<Vec<T>>) -> SharedArray<T> {
    let elements = elements.unwrap_or_else(|error| panic!("{error}"));
    SharedArray::from_shape_vec(shape, elements).expect("there are as many as in the argument")
}

impl<B: SiluGradient, C: CheckpointStrategy> SiluBackend for Autodiff<B, C> {
    fn silu(x: FloatTensor<Self>) -> FloatTensor<Self> {
        match Silu.prepare::<C>([x.node.clone()]).compute_bound().stateful() {
            OpsKind::Tracked(mut prepared) => {
                let state = prepared.checkpoint(&x);
                prepared.finish(state, B::silu(x.primitive))
            }
            OpsKind::UnTracked(prepared) => prepared.finish(B::silu(x.primitive)),
        }
    }
}

/// The operation in the graph of gradients, whose state is its argument.
#[derive(Debug)]
struct Silu;

impl<B: SiluGradient> Backward<B, 1> for Silu {
    type State = NodeId;

    fn backward(self, ops: Ops<NodeId, 1>, gradients: &mut Gradients, checkpointer: &mut Checkpointer) {
        let x = checkpointer.retrieve_node_output(ops.state);
        unary::<B, _>(ops.parents, ops.node, gradients, |dy| B::silu_gradient(x, dy));
    }
}
