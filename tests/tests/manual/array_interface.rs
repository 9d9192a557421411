//! The CUDA Array Interface: another library's arrays as kernel arguments, and our arrays for that library, without a copy.
//!
//! # Safety
//!
//! The memory that is imported belongs to an array that its owner keeps alive and that nothing else uses in the meantime.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cuda_mem::CudaArrayInterface;
use cuda_prelude::*;
use ndarray::{Array1, ArrayViewMut2, Ix1, Ix2, array};

#[kernel]
fn transposed_sum(mut x: ArrayViewMut2<'_, f32>, by: f32) {
    let (j, i) = grid::<2>();
    if i < x.nrows() && j < x.ncols() {
        x[[i, j]] += by * (10 * i + j) as f32;
    }
}

/// An array of another library, which records its drop.
struct Foreign {
    memory: DeviceArray<f32, Ix2>,
    gone: Arc<AtomicBool>,
}

impl Drop for Foreign {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::SeqCst);
    }
}

#[test]
fn an_array_of_another_library_is_an_argument() -> Result<()> {
    let gone = Arc::new(AtomicBool::new(false));
    let mut theirs = Foreign { memory: zeros((2, 3))?, gone: gone.clone() };
    let interface = theirs.memory.cuda_array_interface_mut(&default_stream()?)?;
    assert_eq!(
        (interface.typestr.as_str(), &interface.shape[..], interface.strides.as_ref()),
        ("<f4", &[2, 3][..], None)
    );
    // The other library exports it transposed.
    let turned = CudaArrayInterface { shape: vec![3, 2], strides: Some(vec![4, 12]), ..interface };
    // SAFETY: the owner keeps the elements' memory alive, and nothing else uses it.
    let mut ours = unsafe { DeviceArray::<f32, Ix2>::from_cuda_array_interface(&current_context()?, &turned, theirs) }?;
    transposed_sum::launch(((1, 1), (8, 8)), &mut ours, 0.5)?;
    assert_eq!(ours.copy_to_host()?, array![[0.0, 0.5], [5.0, 5.5], [10.0, 10.5]]);
    assert!(!gone.load(Ordering::SeqCst), "the owner lives as long as the array");
    drop(ours);
    assert!(gone.load(Ordering::SeqCst));
    Ok(())
}

#[test]
fn our_array_is_exported_field_by_field() -> Result<()> {
    let x = to_device(&Array1::from_iter((0..6).map(f64::from)))?;
    let stream = stream()?;
    let whole = x.cuda_array_interface(&stream)?;
    assert_eq!((whole.version, whole.data, whole.stream), (3, (x.device_ptr(), true), Some(stream.as_raw() as u64)));
    let part = x.slice(ndarray::s![1..;2]).cuda_array_interface(&default_stream()?)?;
    assert_eq!((part.shape, part.strides, part.stream), (vec![3], Some(vec![16]), Some(1)));
    assert_eq!(part.data.0, x.device_ptr() + 8);
    assert_eq!(zeros::<f32, _>((0, 4))?.cuda_array_interface(&stream)?.data.0, 0, "no elements, no address");
    Ok(())
}

#[test]
fn an_invalid_interface_is_refused() -> Result<()> {
    let x = zeros::<f32, _>(4)?;
    let good = x.cuda_array_interface(&default_stream()?)?;
    let refused = |change: fn(&mut CudaArrayInterface)| {
        let mut interface = good.clone();
        interface.data.1 = false;
        change(&mut interface);
        // SAFETY: the import is refused, so no memory is accessed.
        let made =
            unsafe { DeviceArray::<f32, Ix1>::from_cuda_array_interface(&current_context().unwrap(), &interface, ()) };
        made.unwrap_err().to_string()
    };
    assert!(refused(|it| it.masked = true).contains("mask"));
    assert!(refused(|it| it.stream = Some(0)).contains("stream 0"));
    assert!(refused(|it| it.typestr = "<f8".into()).contains("<f8"));
    assert!(refused(|it| it.data.1 = true).contains("read-only"));
    assert!(refused(|it| it.version = 4).contains("version 4"));
    Ok(())
}
