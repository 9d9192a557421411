//! Copies between devices: ordered on the devices in both directions, without a wait of the host.

use cuda_driver::{Context, Stream};
use cuda_mem::{DeviceArray, device_array, to_device, zeros};
use cuda_sys::CUresult;
use ndarray::{Array2, Axis, Ix2, s};

use crate::support::Session;

fn contexts(session: &Session) -> (Context, Context) {
    (session.context(), session.driver().device(1).unwrap().primary_context().unwrap())
}

/// The number of waits of the host since the last `forget`.
fn host_waits(session: &Session) -> usize {
    ["cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize"].iter().map(|name| session.count(name)).sum()
}

#[test]
fn an_array_of_another_device_is_copied_from_device_to_device() {
    let session = Session::new();
    let (context, other) = contexts(&session);
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&other).unwrap());
    let mut source = to_device(&context, &Array2::from_shape_fn((8, 16), |(i, j)| (100 * i + j) as u64)).unwrap();
    source.slice_mut(s![0, ..]).fill_on(0, &a).unwrap();
    let mut target = zeros::<u64, _>(&other, (8, 16)).unwrap();
    target.prepare_write(&b).unwrap();
    session.forget();
    target.assign(&source).unwrap();
    assert_eq!((session.count("cuMemcpyPeerAsync"), host_waits(&session)), (1, 0));
    let expected = source.copy_to_host().unwrap();
    assert_eq!(target.copy_to_host().unwrap(), expected);
    session.forget();
    target.slice_mut(s![.., 8..]).assign(&source.slice(s![.., ..8])).unwrap();
    assert_eq!(
        (session.count("cuMemcpyPeerAsync"), host_waits(&session)),
        (1, 0),
        "what has gaps is packed, at both ends"
    );
    assert_eq!(target.slice(s![.., 8..]).copy_to_host().unwrap(), expected.slice(s![.., ..8]));
    session.fail("cuMemcpyPeerAsync", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(target.assign(&source).is_err());
    assert!(target.assign(&source).is_ok(), "the next call works");
    drop((source, target, a, b, context, other));
    session.finish();
}

#[test]
fn later_work_waits_for_a_copy_between_devices_on_both() {
    let session = Session::new();
    let (context, other) = contexts(&session);
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&other).unwrap());
    let mut source = zeros::<u8, _>(&context, (4, 16)).unwrap();
    let mut target: DeviceArray<u8, Ix2> = device_array(&other, (4, 16)).unwrap();
    session.forget();
    target.assign_on(&source, &b).unwrap();
    source.fill_on(1, &a).unwrap(); // after the copy has read
    target.fill_on(2, &other.default_stream()).unwrap(); // after the copy has written
    target.assign_on(&source, &b).unwrap();
    drop(source); // after the copy has read
    drop(target);
    assert_eq!(host_waits(&session), 0);
    drop((a, b, context, other));
    // The tracing driver has seen each of them come after the copy.
    session.finish();
}

#[test]
fn a_copy_between_devices_whose_end_cannot_be_recorded_is_waited_for() {
    // An event of the source's device is recorded and waited for, then one of the target's; with each of the four calls failing.
    for (call, nth) in [("cuEventRecord", 1), ("cuStreamWaitEvent", 1), ("cuEventRecord", 2), ("cuStreamWaitEvent", 2)]
    {
        let session = Session::new();
        let (context, other) = contexts(&session);
        let mut source = zeros::<u8, _>(&context, 64).unwrap();
        let mut target = zeros::<u8, _>(&other, 64).unwrap();
        // Fills the pools with streams and events, so that the only waits are those of the copy.
        target.assign(&source).unwrap();
        context.synchronize().unwrap();
        other.synchronize().unwrap();
        let before = session.count(call);
        target.assign(&source).unwrap();
        let all = session.count(call) - before;
        session.forget();
        session.fail(call, all + nth - 2, CUresult::CUDA_ERROR_INVALID_VALUE);
        let copied = target.assign(&source);
        assert_eq!(copied.is_ok(), nth == 2, "{call} {nth}");
        assert_eq!(session.count("cuMemcpyPeerAsync"), usize::from(nth == 2), "{call} {nth}");
        assert_eq!(session.count("cuStreamSynchronize"), usize::from(nth == 2), "{call} {nth}: nobody else would wait");
        source.fill(3).unwrap();
        target.assign(&source).unwrap();
        assert_eq!(target.copy_to_host().unwrap().to_vec(), [3; 64], "the next call works");
        drop((source, target, context, other));
        session.finish();
    }
}

#[test]
fn a_copy_to_another_device_leaves_the_records_of_other_parts() {
    let session = Session::new();
    let (context, other) = contexts(&session);
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut source = zeros::<u8, _>(&context, 64).unwrap();
    let mut target = zeros::<u8, _>(&other, 32).unwrap();
    let (left, mut right) = source.view_mut().split_at(Axis(0), 32);
    // Prepared, but enqueued only after the copy: the copy's wait does not cover it.
    right.prepare_write(&a).unwrap();
    target.assign(&left).unwrap();
    session.forget();
    source.prepare_read(&b).unwrap();
    assert_eq!(session.count("cuStreamWaitEvent"), 2, "for the zeros and for the right half");
    drop((source, target, a, b, context, other));
    session.finish();
}
