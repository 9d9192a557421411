//! Device-accessible host memory: asynchronous copies are ordered, waited for, and finished before the memory is freed.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cuda_driver::Stream;
use cuda_mem::{
    Error, MemoryLocation, defer_cleanup, device_array, managed_array, mapped, mapped_array, memory_statistics, pinned,
    pinned_array, zeros,
};
use cuda_sys::CUresult;
use ndarray::{Array1, Array2, Order, s};

use crate::support::{Session, Traits};

#[test]
fn a_transfer_that_is_dropped_is_waited_for_before_its_memory_is_freed() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    let mut x = device_array::<f32, _>(&context, 16).unwrap();
    x.prepare_write(&stream).unwrap();
    let staging = pinned_array::<f32, _>(&context, 16).unwrap();
    let transfer = x.copy_from_pinned(staging, &stream).unwrap();
    session.forget();
    drop(transfer);
    let calls = session.names();
    let at = |name| calls.iter().position(|call| *call == name).unwrap_or_else(|| panic!("{name} in {calls:?}"));
    assert!(at("cuStreamSynchronize") < at("cuMemFreeHost"));
    drop((x, stream, context));
    session.finish();
}

#[test]
fn a_transfer_returns_its_array_and_nothing_is_waited_for_twice() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    let mut x = device_array::<f32, _>(&context, 4).unwrap();
    let mut staging = pinned_array::<f32, _>(&context, 4).unwrap();
    staging.view_mut().unwrap().fill(3.0);
    let staging = x.copy_from_pinned(staging, &stream).unwrap().wait().unwrap();
    let transfer = x.copy_to_pinned(staging, &stream).unwrap();
    assert!(transfer.is_done().unwrap());
    let staging = pollster::block_on(transfer).unwrap();
    session.forget();
    assert_eq!(staging.view().unwrap().to_vec(), [3.0; 4]);
    drop(staging);
    assert_eq!(session.names(), ["cuMemFreeHost"]);
    drop((x, stream, context));
    session.finish();
}

#[test]
fn the_host_waits_once_for_conflicting_accesses() {
    let session = Session::new();
    let context = session.context();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = mapped_array::<u8, _>(&context, 8).unwrap();
    x.device_mut().fill_on(7, &a).unwrap();
    session.forget();
    assert_eq!(x.view().unwrap().to_vec(), [7; 8]);
    assert_eq!(x.view().unwrap().to_vec(), [7; 8]);
    assert_eq!(session.count("cuStreamSynchronize"), 1, "the write is over after the first");
    x.device().prepare_read(&b).unwrap();
    session.forget();
    x.view().unwrap();
    assert_eq!(session.count("cuStreamSynchronize"), 0, "reads do not conflict");
    x.view_mut().unwrap();
    assert_eq!(session.count("cuStreamSynchronize"), 2);
    session.forget();
    x.view_mut().unwrap();
    drop(x);
    assert_eq!(session.names(), ["cuMemFreeHost"]);
    drop((a, b, context));
    session.finish();
}

#[test]
fn copies_of_other_layouts_go_through_the_device() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    let mut x = zeros::<u64, _>(&context, (8, 16)).unwrap();
    let mut staging = pinned_array::<u64, _>(&context, (8, 8)).unwrap();
    staging.view_mut().unwrap().fill(5);
    x.slice_mut(s![.., 4..12]).copy_from_pinned_ref(&staging, &stream).unwrap();
    assert_eq!(session.count("cuMemcpy3DAsync_v2"), 1, "rows go straight");
    let mut back = pinned_array::<u64, _>(&context, (8, 16)).unwrap();
    x.copy_to_pinned_mut(&mut back, &stream).unwrap();
    let back = back.view().unwrap();
    assert!(back.indexed_iter().all(|((_, i), v)| *v == if (4..12).contains(&i) { 5 } else { 0 }));
    drop((x, staging, stream));
}

#[test]
fn a_refused_copy_returns_the_array() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    let mut x = device_array::<f32, _>(&context, 4).unwrap();
    let refused = x.copy_from_pinned(pinned_array(&context, 5).unwrap(), &stream).unwrap_err();
    assert_eq!(refused.error.to_string(), "shapes differ: the device array has [4], the host array has [5]");
    assert_eq!(refused.array.len(), 5);
    drop(refused);
    for call in ["cuMemcpyHtoDAsync_v2", "cuEventRecord"] {
        session.fail(call, 1, CUresult::CUDA_ERROR_INVALID_VALUE);
        let refused = x.copy_from_pinned(pinned_array(&context, 4).unwrap(), &stream).unwrap_err();
        assert!(matches!(refused.error, Error::Driver(_)), "{refused}");
        assert_eq!(refused.array.view().unwrap().len(), 4);
    }
    let other = session.driver().device(1).unwrap().primary_context().unwrap();
    let refused = x.copy_from_pinned(pinned_array(&other, 4).unwrap(), &stream).unwrap_err();
    assert!(matches!(refused.error, Error::OtherContext { .. }));
    drop((refused, other));
    let staging = pinned_array(&context, 4).unwrap();
    assert!(x.copy_from_pinned(staging, &stream).is_ok(), "the next call works");
    drop((x, stream, context));
    session.finish();
}

#[test]
fn no_room_on_the_host_names_the_requested_bytes() {
    let session = Session::new();
    let context = session.context();
    let out = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    session.fail("cuMemHostAlloc", 1, out);
    let error = pinned_array::<f32, _>(&context, 1000).unwrap_err();
    assert!(error.is_out_of_memory());
    assert!(error.to_string().starts_with("the host has no room for 4000 bytes of pinned memory ("), "{error}");
    session.fail("cuMemHostAlloc", 1, out);
    assert!(mapped_array::<f32, _>(&context, 1).unwrap_err().to_string().contains("4 bytes of mapped memory"));
    session.fail("cuMemHostGetDevicePointer_v2", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(mapped_array::<f32, _>(&context, 1).is_err());
    session.fail("cuMemAllocManaged", 1, out);
    assert!(managed_array::<f32, _>(&context, 1).unwrap_err().to_string().contains("4 bytes of managed memory"));
    drop(context);
    session.finish();
}

#[test]
fn a_device_without_shared_managed_memory_is_named() {
    let session = Session::with(Traits { memory_pools: false });
    let error = managed_array::<f32, _>(&session.context(), 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "device 0 has no managed memory that host and kernels can access concurrently; use `mapped_array`"
    );
}

#[test]
fn managed_memory_is_moved_and_attached_in_order() {
    let session = Session::new();
    let context = session.context();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = managed_array::<u32, _>(&context, (4, 4)).unwrap();
    x.view_mut().unwrap().fill(9);
    x.device_mut().fill_on(2, &a).unwrap();
    x.prefetch(MemoryLocation::Host, &b).unwrap();
    x.attach_host(&a).unwrap();
    x.attach_global(&b).unwrap();
    assert_eq!(x.view().unwrap().sum(), 32);
    drop((x, a, b, context));
    session.finish();
}

#[test]
fn temporarily_pinned_memory_is_unregistered_at_once_also_after_a_panic() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    let mut x = device_array::<f32, _>(&context, 8).unwrap();
    let mut host = Array1::<f32>::ones(8);
    for _ in 0..2 {
        pinned(&context, &mut host, |host| x.copy_from_pinned_ref(host, &stream)).unwrap().unwrap();
        session.forget();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            pinned(&context, &mut host, |host| {
                x.copy_to_pinned_mut(host, &stream).unwrap();
                panic!("on the way");
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(session.names().last(), Some(&"cuMemHostUnregister"));
        assert_eq!(session.count("cuStreamSynchronize"), 1, "the copy is over before");
    }
    mapped(&context, &mut host, |x| x.device_mut().fill_on(0.5, &stream)).unwrap().unwrap();
    assert_eq!(host.sum(), 4.0);
    session.fail("cuMemHostRegister_v2", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    assert!(pinned(&context, &mut host, |_| ()).unwrap_err().is_out_of_memory());
    drop((x, stream, context));
    session.finish();
}

#[test]
fn memory_is_pinned_once_at_a_time_and_whole() {
    let session = Session::new();
    let context = session.context();
    let mut host = Array2::<u8>::zeros((4, 4));
    let address = host.as_ptr().addr();
    let error = pinned(&context, &mut host, |outer| {
        let mut same = outer.view_mut().unwrap();
        pinned(&context, &mut same.slice_mut(s![1..3, ..]), |_| ()).unwrap_err()
    });
    assert_eq!(
        error.unwrap().to_string(),
        format!(
            "8 bytes of host memory at {:#x} cannot be page-locked, since some of them already are; end the earlier `pinned` \
             or `mapped` first, or use its array",
            address + 4
        )
    );
    let error = pinned(&context, &mut host.slice_mut(s![.., 1..]), |_| ()).unwrap_err();
    assert!(error.to_string().contains("does not allow page-locking, which takes a contiguous array"), "{error}");
    pinned(&context, &mut host.view_mut().reversed_axes(), |x| assert_eq!(x.strides(), [1, 4])).unwrap();
    pinned(&context, &mut Array1::<u8>::zeros(0), |x| assert!(x.is_empty())).unwrap();
    drop(context);
    session.finish();
}

#[test]
fn arrays_without_elements_have_no_memory() {
    let session = Session::new();
    let context = session.context();
    let stream = context.default_stream();
    session.forget();
    let mut x = device_array::<f32, _>(&context, (0, 3)).unwrap();
    let staging = pinned_array::<f32, _>(&context, ((0, 3), Order::F)).unwrap();
    x.copy_from_pinned_ref(&staging, &stream).unwrap();
    assert_eq!(staging.view().unwrap().shape(), [0, 3]);
    assert!(mapped_array::<f32, _>(&context, 0).unwrap().view_mut().unwrap().is_empty());
    assert_eq!(session.count("cuMemHostAlloc"), 0);
    assert!(matches!(pinned_array::<u64, _>(&context, usize::MAX), Err(Error::TooLarge { .. })));
}

#[test]
fn a_long_copy_reports_its_progress_and_can_be_stopped() {
    let session = Session::new();
    let context = session.context();
    let total = 20 << 20;
    let host = Array1::<u8>::ones(total);
    let mut x = zeros::<u8, _>(&context, total).unwrap();
    let mut heard = Vec::new();
    let error = x.copy_from_host_with(&host, |progress| {
        heard.push((progress.done, progress.total));
        if heard.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(heard, [(8 << 20, total), (16 << 20, total)]);
    let text =
        format!("the progress callback stopped the copy after {} of {total} bytes; the copied bytes stay", 16 << 20);
    assert_eq!(error.unwrap_err().to_string(), text);
    let mut back = Array1::<u8>::zeros(total);
    x.copy_to_host_with(&mut back, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(back.iter().map(|v| usize::from(*v)).sum::<usize>(), 16 << 20, "the array keeps what was copied");
    let panicked = catch_unwind(AssertUnwindSafe(|| x.copy_from_host_with(&host, |_| panic!("in the callback"))));
    assert!(panicked.is_err());
    x.copy_from_host_with(&host, |progress| {
        if progress.done == total { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!(x.copy_to_host().unwrap(), host, "the next call works; what breaks off at the end is done");
    let mut wrong = Array1::<u8>::zeros(3);
    assert!(matches!(x.copy_to_host_with(&mut wrong, |_| ControlFlow::Continue(())), Err(Error::Shape { .. })));
    drop((x, context));
    session.finish();
}

#[test]
fn memory_is_pinned_and_unregistered_at_once_while_frees_are_deferred() {
    for memory_pools in [true, false] {
        let session = Session::with(Traits { memory_pools });
        let context = session.context();
        let mut host = Array1::<f32>::ones(8);
        let guard = defer_cleanup(&context);
        for _ in 0..3 {
            session.forget();
            pinned(&context, &mut host, |host| assert_eq!(host.view().unwrap().len(), 8)).unwrap();
            mapped(&context, &mut host, |host| host.device_mut().fill(2.0)).unwrap().unwrap();
            assert_eq!((session.count("cuMemHostRegister_v2"), session.count("cuMemHostUnregister")), (2, 2));
        }
        drop(pinned_array::<u8, _>(&context, 16).unwrap());
        assert_eq!(session.count("cuMemFreeHost"), 1, "page-locked memory is scarce, and no device stops for it");
        drop(device_array::<u8, _>(&context, 16).unwrap());
        assert_eq!(memory_statistics(&context).pending_frees, 1, "device memory waits");
        assert_eq!(host.sum(), 16.0);
        drop((guard, context));
        session.finish();
    }
}

#[test]
fn a_scoped_copy_is_in_the_order_of_its_stream_and_finished_at_the_end() {
    let session = Session::new();
    let context = session.context();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = device_array::<f32, _>(&context, 16).unwrap();
    x.fill_on(1.0, &a).unwrap();
    let (input, mut output) = (Array1::<f32>::zeros(16), Array1::<f32>::zeros(16));
    session.forget();
    b.scope(|s| {
        x.copy_from_host_in(&input, s)?;
        Ok(x.copy_to_host_in(&mut output, s)?)
    })
    .unwrap();
    let expected =
        ["cuEventRecord", "cuStreamWaitEvent", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"];
    assert_eq!(session.names(), expected, "the fill is waited for on the device, and the scope's stream at the end");
    let violations = session.take_violations();
    let pageable = |text: &String| text.contains("bytes at") && text.ends_with("are not live");
    assert!(violations.len() == 2 && violations.iter().all(pageable), "host memory is no driver's: {violations:?}");
    let other = session.driver().device(1).unwrap().primary_context().unwrap();
    let refused = other.default_stream().scope(|s| Ok(x.copy_from_host_in(&input, s)?)).unwrap_err();
    assert!(refused.to_string().starts_with("memory of device 0 cannot be used in"), "{refused}");
    session.fail("cuMemcpyHtoDAsync_v2", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(b.scope(|s| Ok(x.copy_from_host_in(&input, s)?)).is_err());
    assert!(x.copy_from_host(&input).is_ok(), "the next call works");
    drop((x, a, b, context, other));
    session.finish();
}
