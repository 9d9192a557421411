//! Refusals, and faults in the middle of an exchange.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cudarc::driver::DriverError;
use cudarc::driver::sys::cudaError_enum::CUDA_ERROR_NOT_READY;

use super::*;

/// The text of an error.
fn text<T>(result: Result<T, Error>) -> String {
    result.err().expect("it is refused").to_string()
}

#[test]
fn another_driver_is_refused() {
    let ours = cuda_driver::Driver::new(cuda_sim::driver_api()).unwrap().device(0).unwrap().primary_context().unwrap();
    let theirs = bridge().cudarc_context().clone();
    let refused = Bridge::new(&ours, &theirs);
    assert!(matches!(refused, Err(Error::OtherDriver { device: 0, .. })), "{refused:?}");
    let text = text(refused);
    assert!(
        text.starts_with("cudarc has opened another driver than ") && text.contains("`CUDA_DRIVER_PATH`"),
        "{text}"
    );
}

#[test]
fn another_context_of_cudarcs_is_refused() {
    let (first, second) = (bridge(), bridge());
    let theirs = second.cudarc_context().new_stream().unwrap();
    let mut slice = theirs.clone_htod(&[1, 2]).unwrap();
    let said =
        |what| format!("{what} belongs to another `CudaContext` than the bridge; make a bridge of its own context");
    assert_eq!(text(first.with_view(&slice.as_view(), |_| ())), said("the slice"));
    assert_eq!(text(first.with_view_mut(&mut slice.as_view_mut(), |_| ())), said("the slice"));
    assert_eq!(text(first.import_slice(slice)), said("the slice"));
    assert_eq!(text(first.import_stream(&theirs)), said("the stream"));
    let x = cuda_mem::from_slice(first.context(), &[1, 2]).unwrap();
    assert_eq!(text(first.with_array(&x, &theirs, |_| ())), said("the stream"));
    assert_eq!(text(first.export_array(x, &theirs).map(drop)), said("the stream"));
}

#[test]
fn the_per_thread_stream_is_refused() {
    let bridge = bridge();
    let theirs = bridge.cudarc_context().per_thread_stream();
    let said = "cudarc's per-thread stream means another queue on each thread, so that nothing can be ordered after it; use \
                one of `CudaContext::new_stream` or the default stream";
    assert_eq!(text(bridge.import_stream(&theirs)), said);
    assert_eq!(text(bridge.import_slice(theirs.clone_htod(&[1]).unwrap())), said);
}

#[test]
fn what_is_no_slice_is_refused() {
    let bridge = bridge();
    let theirs = bridge.cudarc_context().new_stream().unwrap();
    let mut x = cuda_mem::to_device(bridge.context(), &array![[1, 2], [3, 4]]).unwrap();
    let said = "an array of shape [2, 2] with strides [1, 2] is no slice; make a contiguous copy first (`to_c_order`)";
    assert_eq!(text(bridge.with_array(&x.t(), &theirs, |_| ())), said);
    assert_eq!(text(bridge.with_array_mut(&mut x.view_mut().reversed_axes(), &theirs, |_| ())), said);
    let said = "the array's memory is not a `CudaSlice<i32>` of cudarc's; `export_array` lends any array to cudarc";
    assert_eq!(text(bridge.into_slice(x)), said);
    let words = bridge.import_slice(theirs.clone_htod(&[1_u32, 2]).unwrap()).unwrap();
    assert_eq!(text(bridge.into_slice(words.view_as_owned())), said);
}

/// An array as one of another element type.
trait ViewAsOwned {
    fn view_as_owned(self) -> DeviceArray<i32, Ix1>;
}

impl ViewAsOwned for DeviceArray<u32, Ix1> {
    fn view_as_owned(self) -> DeviceArray<i32, Ix1> {
        let (context, address, len) = (self.context().clone(), self.device_ptr(), self.len());
        // SAFETY: the owner has so many elements of that size.
        unsafe { DeviceArray::from_raw_parts(&context, address, len, &[1], self) }.unwrap()
    }
}

#[test]
fn a_panic_in_a_borrow_leaves_both_sides_in_order() {
    let bridge = bridge();
    let (theirs, ours) = (bridge.cudarc_context().new_stream().unwrap(), Stream::new(bridge.context()).unwrap());
    let mut slice = theirs.clone_htod(&[1.0, 2.0]).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        bridge.with_view_mut(&mut slice.as_view_mut(), |mut x| {
            delay(&ours);
            add_one::launch((1, 32, &ours), &mut x).unwrap();
            panic!("in the borrow")
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(theirs.clone_dtoh(&slice).unwrap(), [2.0, 3.0]);

    let mut x = cuda_mem::from_slice(bridge.context(), &[1.0, 2.0]).unwrap();
    let mut over = None;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        bridge.with_array_mut(&mut x, &theirs, |mut view| {
            over = Some(delay(&bridge.import_stream(&theirs).unwrap()));
            theirs.memcpy_htod(&[7.0, 8.0], &mut view).unwrap();
            panic!("in the borrow")
        })
    }));
    assert!(panicked.is_err());
    assert!(over.is_some_and(|over| over.load(Ordering::SeqCst)), "the borrow ended before cudarc's work");
    assert_eq!(x.copy_to_host().unwrap(), array![7.0, 8.0]);
}

#[test]
fn uses_are_ordered_where_cudarc_tracks_none() {
    let bridge = bridge();
    // SAFETY: every use below is on one stream, or ordered by the bridge.
    unsafe { bridge.cudarc_context().disable_event_tracking() };
    let theirs = bridge.cudarc_context().new_stream().unwrap();
    let ours = Stream::new(bridge.context()).unwrap();
    let slice = theirs.clone_htod(&[1.0, 2.0]).unwrap();
    let mut x = bridge.import_slice(slice).unwrap();
    delay(&ours);
    add_one::launch((1, 32, &ours), &mut x).unwrap();
    let slice = bridge.into_slice(x).unwrap();
    assert_eq!(theirs.clone_dtoh(&slice).unwrap(), [2.0, 3.0]);
}

/// An owner that tells whether a stream's work was over when it was dropped.
struct Watched {
    over: Arc<AtomicBool>,
    was_over: Arc<AtomicBool>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.was_over.store(self.over.load(Ordering::SeqCst), Ordering::SeqCst);
    }
}

#[test]
fn memory_of_others_is_kept_until_its_work_has_ended() {
    let bridge = bridge();
    let ours = Stream::new(bridge.context()).unwrap();
    let memory = cuda_mem::from_slice(bridge.context(), &[1.0, 2.0]).unwrap();
    let (over, was_over) = (delay(&ours), Arc::new(AtomicBool::new(false)));
    let (first, owner) = (memory.device_ptr(), Watched { over, was_over: was_over.clone() });
    // SAFETY: `memory` outlives the array, and is used afterwards alone.
    let x = unsafe { DeviceArray::<f64, Ix1>::from_raw_parts(bridge.context(), first, 2, &[1], owner) };
    let mut x = x.unwrap();
    add_one::launch((1, 32, &ours), &mut x).unwrap();
    assert!(matches!(bridge.into_slice(x), Err(Error::NotASlice { .. })));
    assert!(was_over.load(Ordering::SeqCst), "the owner was dropped behind the kernel");
    assert_eq!(memory.copy_to_host().unwrap(), array![2.0, 3.0]);
}

#[test]
fn captures_lend_nothing() {
    let bridge = bridge();
    let theirs = bridge.cudarc_context().new_stream().unwrap();
    let mut x = cuda_mem::from_slice(bridge.context(), &[1, 2]).unwrap();
    let y = cuda_mem::from_slice(bridge.context(), &[3]).unwrap();
    let said = "the context cannot be synchronised inside `Graph::capture`";
    let captured = cuda_driver::Graph::capture(bridge.context(), |_| {
        assert!(text(bridge.with_array(&x, &theirs, |_| ())).starts_with(said));
        assert!(text(bridge.with_array_mut(&mut x, &theirs, |_| ())).starts_with(said));
        assert!(text(bridge.export_array(y, &theirs).map(drop)).starts_with(said));
        cuda_driver::Result::Ok(())
    });
    captured.unwrap();
    assert_eq!(bridge.with_array(&x, &theirs, |slice| theirs.clone_dtoh(slice)).unwrap().unwrap(), [1, 2]);
}

#[test]
fn an_exported_slice_ends_in_a_host_function() {
    let bridge = bridge();
    let (theirs, ours) = (bridge.cudarc_context().new_stream().unwrap(), Stream::new(bridge.context()).unwrap());
    let x = cuda_mem::from_slice(bridge.context(), &[1, 2]).unwrap();
    let slice = bridge.export_array(x, &theirs).unwrap();
    ours.launch_host_fn(move || drop(slice)).unwrap();
    ours.synchronize().unwrap();
    bridge.context().synchronize().unwrap();
    assert!(bridge.cudarc_context().check_err().is_ok(), "cudarc made no call in the host function");
}

#[test]
fn an_earlier_error_of_cudarcs_ends_no_exchange_and_stays_recorded() {
    let bridge = bridge();
    let theirs = bridge.cudarc_context().new_stream().unwrap();
    let slice = theirs.clone_htod(&[1, 2, 3]).unwrap();
    let earlier = DriverError(CUDA_ERROR_NOT_READY);
    bridge.cudarc_context().record_err(Err::<(), _>(earlier));
    let x = bridge.import_slice(slice).unwrap();
    let mut slice = bridge.into_slice(x).unwrap();
    bridge.with_view_mut(&mut slice.as_view_mut(), |mut x| x.fill(7)).unwrap().unwrap();
    let read = bridge.with_view(&slice.as_view(), |x| x.copy_to_host()).unwrap().unwrap();
    assert_eq!(read.to_vec(), [7, 7, 7]);
    let x = cuda_mem::from_slice(bridge.context(), &[4, 5]).unwrap();
    assert_eq!(bridge.with_array(&x, &theirs, |slice| slice.len()).unwrap(), 2);
    let x = bridge.export_array(x, &theirs).unwrap().into_array().unwrap();
    assert_eq!(x.copy_to_host().unwrap().to_vec(), [4, 5]);
    assert_eq!(bridge.cudarc_context().check_err(), Err(earlier));
}
