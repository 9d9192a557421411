//! Views: no call and no allocation for one, and exactly the waits that their byte ranges need.

use cuda_driver::Stream;
use cuda_mem::{DeviceArray, Error, from_slice, to_device, zeros};
use ndarray::{Array2, Axis, Ix1, Ix2, Order, s};

use crate::support::Session;

#[test]
fn a_view_makes_no_call_and_stays_within_its_array() {
    let session = Session::new();
    let context = session.context();
    let host = Array2::from_shape_fn((4, 6), |(i, j)| (10 * i + j) as i32);
    let x = to_device(&context, &host).unwrap();
    session.forget();
    let window = x.slice(s![1.., ..;2]);
    assert_eq!((window.shape(), window.strides()), (&[3, 3][..], &[6, 2][..]));
    assert_eq!(window.device_ptr(), x.device_ptr() + 6 * 4);
    assert!(!window.is_c_contiguous() && x.row(2).is_c_contiguous() && x.t().is_f_contiguous());
    assert_eq!((x.row(2).shape(), x.column(5).strides()), (&[6][..], &[6][..]));
    assert_eq!(x.view().insert_axis(Axis(1)).squeeze().shape(), [4, 6]);
    assert_eq!(x.broadcast((2, 4, 6)).unwrap().strides(), [0, 6, 1]);
    assert!(x.broadcast((2, 6)).is_none());
    assert_eq!(session.names(), [""; 0]);
    drop((x, context));
    session.finish();
}

/// A broadcast array's elements lie in its array's bytes, however many they are: accesses to them are waited for. A
/// shape whose length wraps around, to 0 as here, would have had no bytes.
#[test]
fn a_write_waits_for_the_read_of_a_broadcast_array_of_any_size() {
    let session = Session::new();
    let context = session.context();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = zeros::<u64, _>(&context, 1).unwrap();
    x.fill_on(0, &a).unwrap();
    b.wait_for(&a).unwrap();
    x.fill_on(0, &b).unwrap();
    const MAX: usize = isize::MAX as usize;
    for shape in [[1 << 32, 1 << 32], [1 << 63, 2], [usize::MAX, 1], [MAX, 3], [0, usize::MAX]] {
        assert!(x.broadcast(shape).is_none(), "{shape:?}");
        assert!(matches!(x.reshape(shape), Err(Error::Reshape { .. })), "{shape:?}");
    }
    for shape in [[2, 2], [MAX, 1], [1 << 31, 1 << 31], [1, 1 << 62]] {
        let many = x.broadcast(shape).unwrap();
        assert_eq!(many.len(), shape[0] * shape[1]);
        assert!(many.len() < 1 << 61 || matches!(many.copy_to_host(), Err(Error::TooLarge { .. })));
        assert!(many.len() < 1 << 61 || matches!(many.view_as::<u8>(), Err(Error::Cast { .. })));
        assert_eq!(many.byte_len(), many.len().saturating_mul(8));
        session.forget();
        many.prepare_read(&a).unwrap();
        assert_eq!(session.count("cuStreamWaitEvent"), 1, "the read waits for the write: {shape:?}");
        session.forget();
        x.fill_on(0, &b).unwrap();
        assert_eq!(session.count("cuStreamWaitEvent"), 1, "the write waits for the read: {shape:?}");
    }
    drop((x, a, b, context));
    session.finish();
}

#[test]
fn disjoint_halves_on_two_streams_do_not_wait_for_each_other() {
    let session = Session::new();
    let context = session.context();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = zeros::<f32, _>(&context, 64).unwrap();
    x.fill_on(1.0, &a).unwrap();
    let (mut left, mut right) = x.view_mut().split_at(Axis(0), 32);
    right.fill_on(2.0, &b).unwrap();
    session.forget();
    left.fill_on(3.0, &a).unwrap();
    right.fill_on(4.0, &b).unwrap();
    left.fill_on(5.0, &a).unwrap();
    assert_eq!(session.names(), ["cuMemsetD32Async", "cuMemsetD32Async", "cuMemsetD32Async"]);
    session.forget();
    x.fill_on(6.0, &a).unwrap();
    assert_eq!(session.count("cuStreamWaitEvent"), 1, "all of it waits for the other half");
    drop((x, a, b, context));
    session.finish();
}

#[test]
fn overlapping_parts_wait_for_each_other() {
    let session = Session::new();
    let context = session.context();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = zeros::<u8, _>(&context, 64).unwrap();
    x.slice_mut(s![..40]).fill_on(1, &a).unwrap();
    session.forget();
    x.slice(s![40..]).prepare_read(&b).unwrap();
    assert_eq!(session.count("cuStreamWaitEvent"), 1, "for the zeros, on the default stream");
    session.forget();
    x.slice(s![39..]).prepare_read(&b).unwrap();
    assert_eq!(session.count("cuStreamWaitEvent"), 2, "for the ones too");
    session.forget();
    x.slice(s![50..]).prepare_read(&b).unwrap();
    assert_eq!(session.names(), [""; 0], "what was waited for is known");
    drop((x, a, b, context));
    session.finish();
}

#[test]
fn interleaved_accesses_never_cover_each_other() {
    let session = Session::new();
    let context = session.context();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = zeros::<u8, _>(&context, (8, 8)).unwrap();
    let (mut left, mut right) = x.view_mut().split_at(Axis(1), 4);
    left.prepare_write(&a).unwrap();
    // Prepared before the left half's work is enqueued, so that this wait does not cover it.
    right.prepare_write(&b).unwrap();
    session.forget();
    right.prepare_read(&b).unwrap();
    x.prepare_read(&b).unwrap();
    assert!(session.count("cuStreamWaitEvent") >= 1, "the left half is waited for once both borrows are over");
    session.forget();
    let other = Stream::new(&context).unwrap();
    x.prepare_write(&other).unwrap();
    assert_eq!(session.count("cuStreamWaitEvent"), 3, "for each half and the zeros");
    drop((x, a, b, other, context));
    session.finish();
}

#[test]
fn many_parts_of_a_stream_become_few_records() {
    let session = Session::new();
    let context = session.context();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = zeros::<u8, _>(&context, 1000).unwrap();
    for at in 0..200 {
        x.slice_mut(s![5 * at]).fill_on(1, if at % 2 == 0 { &a } else { &b }).unwrap();
    }
    session.forget();
    let default = context.default_stream();
    x.fill_on(0, &default).unwrap();
    assert_eq!(session.count("cuStreamWaitEvent"), 2);
    drop((x, a, b, default, context));
    session.finish();
}

#[test]
fn merged_records_do_not_hide_the_latest_write() {
    let session = Session::new();
    let context = session.context();
    let streams: Vec<Stream> = (0..3).map(|_| Stream::new(&context).unwrap()).collect();
    let [a, b, c] = &streams[..] else { unreachable!() };
    let mut x = zeros::<u8, _>(&context, 1000).unwrap();
    x.slice_mut(s![0]).prepare_write(a).unwrap();
    x.prepare_read(b).unwrap();
    // With the zeros, these two and the last read exceed the maximum number of records by one.
    for at in 1..14 {
        x.slice_mut(s![10 * at]).prepare_write(a).unwrap();
    }
    x.slice(s![5]).prepare_read(c).unwrap();
    session.forget();
    x.prepare_read(b).unwrap();
    assert_eq!(session.count("cuStreamWaitEvent"), 1, "for what was written since the stream read");
    drop((x, context));
    drop(streams);
    session.finish();
}

#[test]
fn rows_of_a_window_are_one_copy_of_the_drivers() {
    let session = Session::new();
    let context = session.context();
    let mut x = zeros::<f64, _>(&context, (6, 40)).unwrap();
    let host = Array2::from_shape_fn((4, 20), |(i, j)| (100 * i + j) as f64);
    session.forget();
    x.slice_mut(s![1..5, 10..30]).copy_from_host(&host).unwrap();
    assert_eq!(session.names(), ["cuMemcpy3D_v2"]);
    assert_eq!(x.slice(s![1..5, 10..30]).copy_to_host().unwrap(), host);
    session.forget();
    let copy = x.slice(s![1..5, 10..30]).try_clone().unwrap();
    assert_eq!(session.names(), ["cuMemAllocAsync", "cuMemcpy3DAsync_v2"]);
    assert_eq!(copy.copy_to_host().unwrap(), host);
    drop((x, copy, context));
    session.finish();
}

#[test]
fn impossible_views_are_errors_that_return_the_array() {
    let session = Session::new();
    let context = session.context();
    let x: DeviceArray<f32, Ix2> = zeros(&context, ((3, 4), Order::F)).unwrap();
    assert_eq!(x.strides(), [1, 3]);
    let text = |error: Error| error.to_string();
    assert_eq!(
        text(x.ravel().unwrap_err()),
        "an array of shape [3, 4] with strides [1, 3] does not allow a reshape without moving elements; make a contiguous \
         copy first (`to_c_order`)"
    );
    assert_eq!(x.reshape((12, Order::F)).unwrap().shape(), [12]);
    assert_eq!(
        text(x.reshape((5, 2)).unwrap_err()),
        "an array of shape [3, 4] has 12 elements, the shape [5, 2] has 10"
    );
    assert_eq!(
        text(x.reshape((usize::MAX, 2)).unwrap_err()),
        format!("an array of shape [3, 4] has 12 elements, the shape [{}, 2] has too many", usize::MAX)
    );
    let bytes = from_slice(&context, &[0_u8; 10]).unwrap();
    assert_eq!(
        text(bytes.view_as::<u32>().unwrap_err()),
        format!(
            "an array of shape [10] with strides [1] of `u8` (1 bytes) at {:#x} cannot be viewed as `u32` (4 bytes, aligned to \
             4): the last axis must be contiguous, hold a whole number of the new elements, and be aligned for them",
            bytes.device_ptr()
        )
    );
    assert!(bytes.slice(s![1..9]).view_as::<u32>().is_err(), "not aligned");
    assert_eq!(bytes.slice(s![..8]).view_as::<u32>().unwrap().shape(), [2]);
    assert_eq!(
        text(bytes.split(Axis(0), 3).err().unwrap()),
        "axis 0 of extent 10 cannot be split into 3 equal parts; `axis_chunks` allows a smaller last part"
    );
    assert_eq!(bytes.axis_chunks(Axis(0), 4).map(|part| part.len()).collect::<Vec<_>>(), [4, 4, 2]);
    let mut y = zeros::<u8, _>(&context, (2, 3)).unwrap();
    assert_eq!(text(y.assign(&bytes).unwrap_err()), "an array of shape [10] does not broadcast to [2, 3]");
    let refused = bytes.into_dimensionality::<Ix2>().unwrap_err();
    assert_eq!(text(refused.error), "an array of shape [10] has 1 axes, not 2");
    let bytes: DeviceArray<u8, Ix1> = refused.array;
    assert_eq!(bytes.into_shape((2, 5)).unwrap().shape(), [2, 5]);
    drop((x, y, context));
    session.finish();
}
