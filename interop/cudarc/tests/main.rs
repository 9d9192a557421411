//! cudarc and this stack on the software device, in one process.
//!
//! Both open `libcuda_sim.so`: the first tests by its soname, the last one as a user does, by `LD_LIBRARY_PATH` and
//! `CUDA_DRIVER_PATH`. Delays are host functions in a stream, so that an order that is not kept shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use cuda_cudarc::{Bridge, Error};
use cuda_driver::{Context, Stream};
use cuda_mem::{DeviceArray, MemoryPool};
use cuda_prelude::*;
use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, LaunchConfig, PushKernelArg as _};
use ndarray::{Ix1, array, s};

include!("software_device.rs.in");

mod faults;
mod process;

/// Adds 1 to each element.
#[kernel]
fn add_one(x: &mut [f64]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] += 1.0;
    }
}

#[kernel]
fn twice(x: &[f64], out: &mut [f64]) {
    let i = grid::<1>();
    if i < x.len() {
        out[i] = 2.0 * x[i];
    }
}

fn context() -> Context {
    software_device().primary_context().expect("the device has a context")
}

fn bridge() -> Bridge {
    Bridge::open(&context()).expect("both have opened the same library")
}

/// Keeps a stream busy for a while, and tells afterwards that it did.
fn delay(stream: &Stream) -> Arc<AtomicBool> {
    let over = Arc::new(AtomicBool::new(false));
    let set = over.clone();
    let work = move || {
        std::thread::sleep(Duration::from_millis(60));
        set.store(true, Ordering::SeqCst);
    };
    stream.launch_host_fn(work).expect("the stream takes work");
    over
}

/// Holds up a stream until the returned sender is dropped, so that whoever waits for it on the host before that hangs until the test
/// gives up; the flag tells that it has gone on.
fn hold_up(stream: &Stream) -> (Sender<()>, Arc<AtomicBool>) {
    let (open, gate) = channel::<()>();
    let over = Arc::new(AtomicBool::new(false));
    let set = over.clone();
    let work = move || {
        let _ = gate.recv_timeout(Duration::from_secs(10));
        set.store(true, Ordering::SeqCst);
    };
    stream.launch_host_fn(work).expect("the stream takes work");
    (open, over)
}

/// `x[tid] *= by`, which cudarc loads.
const SCALE: &str = include_str!("../../../tests/cuda/scale.ptx");

fn scale(theirs: &Arc<CudaContext>) -> CudaFunction {
    theirs.load_module(SCALE.into()).and_then(|module| module.load_function("scale")).expect("the PTX is whole")
}

fn block(threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

#[test]
fn a_typed_kernel_runs_on_an_owned_slice_after_what_cudarc_does() {
    let bridge = bridge();
    let theirs = bridge.cudarc_context().new_stream().unwrap();
    let slice = theirs.clone_htod(&[1.0, 2.0, 3.0]).unwrap();
    let over = delay(&bridge.import_stream(&theirs).unwrap());
    let (other, mut more) = (bridge.cudarc_context().new_stream().unwrap(), slice);
    // On another of cudarc's streams, which waits for the slice's own by cudarc's event.
    theirs.memcpy_htod(&[10.0, 20.0, 30.0], &mut more).unwrap();
    other.memset_zeros(&mut more.slice_mut(..1)).unwrap();

    let ours = Stream::new(bridge.context()).unwrap();
    let mut x = bridge.import_slice(more).unwrap();
    add_one::launch((1, 32, &ours), &mut x).unwrap();
    assert_eq!(x.copy_to_host().unwrap(), array![1.0, 21.0, 31.0]);
    assert!(over.load(Ordering::SeqCst));
}

#[test]
fn cudarc_frees_an_owned_slice_after_every_use() {
    let bridge = bridge();
    let theirs = bridge.cudarc_context().new_stream().unwrap();
    let ours = Stream::new(bridge.context()).unwrap();
    let mut x = bridge.import_slice(theirs.clone_htod(&vec![1.0; 1 << 16]).unwrap()).unwrap();
    let over = delay(&ours);
    add_one::launch((1 << 9, 128, &ours), &mut x).unwrap();
    drop(x);
    assert!(over.load(Ordering::SeqCst), "the slice went before its last use");
    // Were it freed twice, the pool would say so.
    theirs.synchronize().unwrap();
    bridge.cudarc_context().check_err().unwrap();
}

#[test]
fn a_slice_comes_back_from_its_array_and_its_stream_waits() {
    let bridge = bridge();
    let theirs = bridge.cudarc_context().new_stream().unwrap();
    let ours = Stream::new(bridge.context()).unwrap();
    let mut x = bridge.import_slice(theirs.clone_htod(&[1.0, 2.0, 3.0, 4.0]).unwrap()).unwrap();
    let (held_up, over) = hold_up(&ours);
    add_one::launch((1, 32, &ours), &mut x).unwrap();
    let slice = bridge.into_slice(x.into_shape((2, 2)).unwrap()).unwrap();
    assert!(!over.load(Ordering::SeqCst), "giving a slice back waits on the device, not on the host");
    drop(held_up);
    // Another stream of cudarc's comes after by the event.
    let other = bridge.cudarc_context().new_stream().unwrap();
    assert_eq!(other.clone_dtoh(&slice).unwrap(), [2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn borrowed_views_are_read_and_written_in_order() {
    let bridge = bridge();
    let theirs = bridge.cudarc_context().new_stream().unwrap();
    let ours = Stream::new(bridge.context()).unwrap();
    let mut slice = theirs.clone_htod(&[1.0, 2.0, 3.0, 4.0]).unwrap();
    let mut out = cuda_mem::zeros::<f64, _>(&ours, 2).unwrap();
    delay(&bridge.import_stream(&theirs).unwrap());
    theirs.memcpy_htod(&[5.0, 6.0], &mut slice.slice_mut(2..)).unwrap();
    bridge.with_view(&slice.slice(2..), |x| twice::launch((1, 32, &ours), &x, &mut out)).unwrap().unwrap();
    assert_eq!(out.copy_to_host().unwrap(), array![10.0, 12.0]);

    let (held_up, over) = hold_up(&ours);
    let launch = |mut x: cuda_mem::DeviceArrayViewMut<'_, f64, Ix1>| add_one::launch((1, 32, &ours), &mut x);
    bridge.with_view_mut(&mut slice.slice_mut(1..3), launch).unwrap().unwrap();
    assert!(!over.load(Ordering::SeqCst), "a borrow ends on the device, not on the host");
    drop(held_up);
    let other = bridge.cudarc_context().new_stream().unwrap();
    assert_eq!(other.clone_dtoh(&slice).unwrap(), [1.0, 3.0, 6.0, 6.0]);
}

#[test]
fn a_kernel_that_cudarc_loads_runs_on_a_device_array() {
    let bridge = bridge();
    let (theirs, ours) = (bridge.cudarc_context().new_stream().unwrap(), Stream::new(bridge.context()).unwrap());
    let kernel = scale(bridge.cudarc_context());
    let mut x = cuda_mem::to_device(bridge.context(), &array![[1.0, 2.0], [3.0, 4.0]]).unwrap();
    delay(&ours);
    x.slice_mut(s![.., 0]).fill(7.0).unwrap();
    add_one::launch((1, 32, &ours), &mut x).unwrap();
    let mut slice = bridge.export_array(x, &theirs).unwrap();
    let mut view = slice.view_mut();
    let mut launch = theirs.launch_builder(&kernel);
    launch.arg(&mut view).arg(&10.0_f64);
    // SAFETY: the kernel takes an array with an element for each thread, and a number.
    unsafe { launch.launch(block(4)) }.unwrap();
    // A read on another stream of cudarc's, of which its one event of reads may not tell.
    let other = bridge.cudarc_context().new_stream().unwrap();
    assert_eq!(other.clone_dtoh(&*slice).unwrap(), [80.0, 30.0, 80.0, 50.0]);
    let over = delay(&bridge.import_stream(&other).unwrap());
    let mut x = slice.into_array().unwrap();
    assert!(over.load(Ordering::SeqCst), "an array comes back after all of cudarc's work");
    add_one::launch((1, 32), &mut x).unwrap();
    assert_eq!(x.copy_to_host().unwrap(), array![[81.0, 31.0], [81.0, 51.0]]);
}

#[test]
fn borrowed_arrays_are_cudarcs_for_a_call() {
    let bridge = bridge();
    let theirs = bridge.cudarc_context().new_stream().unwrap();
    let kernel = scale(bridge.cudarc_context());
    let mut x = cuda_mem::from_slice(bridge.context(), &[1.0, 2.0, 3.0, 4.0]).unwrap();
    let scaled = bridge.with_array_mut(&mut x.slice_mut(s![1..3]), &theirs, |mut view| {
        let mut launch = theirs.launch_builder(&kernel);
        launch.arg(&mut view).arg(&3.0_f64);
        // SAFETY: the kernel takes an array with an element for each thread, and a number.
        unsafe { launch.launch(block(2)) }
    });
    scaled.unwrap().unwrap();
    let copied: CudaSlice<f64> = bridge.with_array(&x, &theirs, |slice| slice.try_clone()).unwrap().unwrap();
    assert_eq!(theirs.clone_dtoh(&copied).unwrap(), [1.0, 6.0, 9.0, 4.0]);
}

#[test]
fn what_is_exported_is_freed_once() {
    let bridge = bridge();
    let pool = MemoryPool::new(bridge.context()).unwrap();
    let theirs = bridge.cudarc_context().new_stream().unwrap();
    let x = cuda_mem::zeros::<f64, _>(&pool, 1000).unwrap();
    let slice = bridge.export_array(x, &theirs).unwrap();
    let x = slice.into_array().unwrap();
    assert!(pool.statistics().unwrap().used >= 8000);
    drop(bridge.export_array(x, &theirs).unwrap());
    bridge.context().synchronize().unwrap();
    assert_eq!(pool.statistics().unwrap().used, 0);
    bridge.cudarc_context().check_err().unwrap();
}

#[test]
fn streams_outlive_what_stands_for_them() {
    let bridge = bridge();
    let theirs = bridge.cudarc_context().new_stream().unwrap();
    let imported = bridge.import_stream(&theirs).unwrap();
    assert_eq!(imported.id(), bridge.import_stream(&theirs).unwrap().id());
    drop(theirs);
    let over = delay(&imported);
    imported.synchronize().unwrap();
    assert!(over.load(Ordering::SeqCst));

    let ours = Stream::new(bridge.context()).unwrap();
    let exported = bridge.export_stream(&ours).unwrap();
    assert!(Arc::ptr_eq(&exported, &bridge.export_stream(&ours).unwrap()));
    assert_eq!(bridge.import_stream(&exported).unwrap().id(), ours.id());
    delay(&ours);
    drop(ours);
    // Another stream would get the handle, were it free.
    let next = Stream::new(bridge.context()).unwrap();
    assert_ne!(next.as_raw().addr(), exported.cu_stream().addr());
    let slice = exported.clone_htod(&[1, 2, 3]).unwrap();
    assert_eq!(exported.clone_dtoh(&slice).unwrap(), [1, 2, 3]);

    let default = bridge.export_stream(&bridge.context().default_stream()).unwrap();
    assert!(default.cu_stream().is_null());
    assert_eq!(bridge.import_stream(&default).unwrap().id(), bridge.context().default_stream().id());
}

#[test]
fn what_is_shared_outlives_the_bridge_and_the_context() {
    let (x, slice, stream) = {
        let bridge = bridge();
        let theirs = bridge.cudarc_context().new_stream().unwrap();
        let x = bridge.import_slice(theirs.clone_htod(&[1, 2]).unwrap()).unwrap();
        let ours = Stream::new(bridge.context()).unwrap();
        let y = cuda_mem::from_slice(bridge.context(), &[3, 4]).unwrap();
        (x, bridge.export_array(y, &theirs).unwrap(), bridge.export_stream(&ours).unwrap())
    };
    assert_eq!(x.copy_to_host().unwrap(), array![1, 2]);
    assert_eq!(stream.clone_dtoh(&*slice).unwrap(), [3, 4]);
    let y: DeviceArray<i32, Ix1> = slice.into_array().unwrap();
    assert_eq!(y.copy_to_host().unwrap(), array![3, 4]);
}

#[test]
fn nothing_is_shared_as_well_as_something() {
    let bridge = bridge();
    let theirs = bridge.cudarc_context().new_stream().unwrap();
    let mut slice = theirs.clone_htod(&[1.0, 2.0]).unwrap();
    let seen =
        bridge.with_view_mut(&mut slice.slice_mut(1..1), |mut x| add_one::launch((1, 1), &mut x).map(|()| x.len()));
    assert_eq!(seen.unwrap().unwrap(), 0);
    let nothing = cuda_mem::zeros::<f64, _>(bridge.context(), (0, 3)).unwrap();
    let slice = bridge.export_array(nothing, &theirs).unwrap();
    assert_eq!(theirs.clone_dtoh(&*slice).unwrap(), [0.0; 0]);
    assert_eq!(slice.into_array().unwrap().shape(), [0, 3]);
}
