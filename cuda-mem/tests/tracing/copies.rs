//! Shapes, layouts and copies; the tracing driver's memory is real, so copies return the data that was sent.

use cuda_mem::{Buffer, DeviceArray, Error, device_array, device_array_like, from_slice, to_device, zeros};
use ndarray::{Array, Array2, Array3, ArrayD, Ix1, Ix2, IxDyn, ShapeBuilder, arr0, s};

use crate::support::Session;

#[test]
fn a_contiguous_array_takes_one_allocation_and_one_copy() {
    let session = Session::new();
    let context = session.context();
    let host = Array2::from_shape_fn((3, 5), |(i, j)| (10 * i + j) as f32);
    context.synchronize().unwrap();
    session.forget();
    let x = to_device(&context, &host).unwrap();
    assert_eq!(session.names(), ["cuMemAllocAsync", "cuMemcpyHtoD_v2"]);
    session.forget();
    assert_eq!(x.copy_to_host().unwrap(), host);
    assert_eq!(session.names(), ["cuMemcpyDtoH_v2"]);
    session.forget();
    drop(x);
    assert_eq!(session.names(), ["cuMemFreeAsync"]);
    drop(context);
    session.finish();
}

#[test]
fn every_layout_arrives() {
    let session = Session::new();
    let context = session.context();
    let base = Array3::from_shape_fn((4, 6, 5), |(i, j, k)| (100 * i + 10 * j + k) as i64);
    let fortran = Array3::from_shape_fn((4, 6, 5).f(), |(i, j, k)| (100 * i + 10 * j + k) as i64);
    let columns = to_device(&context, &fortran).unwrap();
    assert_eq!(columns.strides(), fortran.strides());
    assert_eq!(columns.copy_to_host().unwrap(), base);
    drop(columns);
    let views = [
        base.view(),
        base.slice(s![1..3, ..;2, ..;-1]),
        base.view().permuted_axes([2, 0, 1]),
        base.slice(s![..;-1, .., ..]),
        base.slice(s![2..2, .., ..]),
    ];
    for view in views {
        let device = to_device(&context, &view).unwrap();
        assert_eq!(device.copy_to_host().unwrap(), view);
        let (x, y, z) = view.dim();
        let mut target = Array3::zeros((x, y, 2 * z));
        let mut window = target.slice_mut(s![.., .., ..;2]);
        device.copy_to_host_into(&mut window).unwrap();
        assert_eq!(window, view);
    }
    drop(context);
    session.finish();
}

#[test]
fn a_strided_target_is_filled_through_its_strides() {
    let session = Session::new();
    let context = session.context();
    let x = to_device(&context, &Array2::from_shape_fn((2, 3), |(i, j)| 3 * i + j)).unwrap();
    let mut target = Array2::from_elem((4, 3), usize::MAX);
    x.copy_to_host_into(&mut target.slice_mut(s![..;2, ..;-1])).unwrap();
    let rest = [usize::MAX; 3];
    assert_eq!(target, Array2::from(vec![[2, 1, 0], rest, [5, 4, 3], rest]));
}

#[test]
fn arrays_without_elements_make_no_call() {
    let session = Session::new();
    let context = session.context();
    context.synchronize().unwrap();
    session.forget();
    let mut x = to_device(&context, &Array2::<f32>::zeros((0, 4))).unwrap();
    assert_eq!((x.len(), x.is_empty(), x.shape(), x.strides()), (0, true, &[0, 4][..], &[0, 0][..]));
    assert!(x.device_ptr() != 0 && x.device_ptr().is_multiple_of(256));
    x.prepare_read(&context.default_stream()).unwrap();
    x.prepare_write(&context.default_stream()).unwrap();
    x.copy_from_host(&Array2::zeros((0, 4))).unwrap();
    assert_eq!(x.copy_to_host().unwrap().dim(), (0, 4));
    assert_eq!(x.to_string(), "device array [0, 4] of f32 on device 0: (no elements)");
    let empty = zeros::<[u8; 0], _>(&context, 5).unwrap();
    assert_eq!((empty.len(), empty.copy_to_host().unwrap().len()), (5, 5));
    drop((empty, device_array_like(&x).unwrap(), x));
    assert_eq!(session.names(), [""; 0]);
}

#[test]
fn zero_dimensions_and_dynamic_ones_keep_their_shape() {
    let session = Session::new();
    let context = session.context();
    let scalar = to_device(&context, &arr0(7_u16)).unwrap();
    assert_eq!((scalar.len(), scalar.ndim()), (1, 0));
    assert_eq!(scalar.copy_to_host().unwrap(), arr0(7));
    let dynamic: ArrayD<u8> = Array::from_shape_fn(IxDyn(&[2, 1, 3]), |index| (index[0] + index[2]) as u8);
    let device = to_device(&context, &dynamic).unwrap();
    assert_eq!((device.shape(), device.strides()), (&[2, 1, 3][..], &[3, 3, 1][..]));
    assert_eq!(device.copy_to_host().unwrap(), dynamic);
}

#[test]
fn zeroed_and_uninitialised_arrays_have_their_bytes() {
    let session = Session::new();
    let context = session.context();
    assert_eq!(zeros::<f64, _>(&context, (2, 2)).unwrap().copy_to_host().unwrap(), Array2::<f64>::zeros((2, 2)));
    let x: DeviceArray<u64, Ix1> = device_array(&context, 3).unwrap();
    assert_eq!(x.copy_to_host().unwrap().to_vec(), [0xA5A5_A5A5_A5A5_A5A5; 3], "what the tracing driver leaves");
    assert_eq!(device_array_like(&x).unwrap().dim(), 3);
}

#[test]
fn differing_shapes_are_both_named_and_nothing_is_copied() {
    let session = Session::new();
    let context = session.context();
    let mut x = zeros::<i32, _>(&context, (2, 3)).unwrap();
    session.forget();
    let into = x.copy_to_host_into(&mut Array2::zeros((3, 2))).unwrap_err();
    assert_eq!(into.to_string(), "shapes differ: the device array has [2, 3], the host array has [3, 2]");
    assert!(matches!(x.copy_from_host(&Array2::zeros((2, 4))), Err(Error::Shape { .. })));
    assert_eq!(session.names(), [""; 0]);
}

#[test]
fn an_array_beyond_the_address_space_is_an_error() {
    let session = Session::new();
    let context = session.context();
    let error = device_array::<f32, _>(&context, (1_usize << 40, 1_usize << 40)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an array of shape [1099511627776, 1099511627776] with elements of 4 bytes is larger than the address space"
    );
}

#[test]
fn arrays_print_shape_device_and_first_elements() {
    let session = Session::new();
    let context = session.context();
    let x = from_slice(&context, &[1, 2, 3, 4, 5, 6, 7]).unwrap();
    assert_eq!(x.to_string(), "device array [7] of i32 on device 0: 1, 2, 3, 4, 5, 6, ..");
    session.forget();
    let debug = format!("{x:?}");
    assert!(debug.starts_with("DeviceArray { element: \"i32\", shape: [7], strides: [1], device: 0, address: 0x"));
    assert_eq!(session.names(), [""; 0], "Debug copies nothing");
}

#[test]
#[should_panic(expected = "8 bytes at offset 4 are outside a buffer of 8 bytes")]
fn a_write_past_the_end_is_a_bug_of_the_caller() {
    let session = Session::new();
    let context = session.context();
    let _ = Buffer::new(&context.default_stream(), 8).unwrap().write(4, &[1_u32, 2]);
}

#[test]
fn arrays_can_be_sent_between_threads() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<DeviceArray<f32, Ix2>>();
    is_send_and_sync::<Error>();
}
