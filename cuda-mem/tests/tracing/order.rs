//! Order between streams: exactly the waits that are needed, and none on one stream.

use std::ffi::c_void;

use cuda_driver::{Context, Function, LaunchConfig, Module, Stream};
use cuda_mem::{Buffer, DeviceArray, device_array, from_slice};
use ndarray::Ix1;

use crate::support::{Session, Traits};

type Floats = DeviceArray<f32, Ix1>;

/// Kernels of the traced driver, which read and write one byte behind each of their pointers.
pub(crate) struct Kernels(Module);

impl Kernels {
    pub(crate) fn new(context: &Context) -> Self {
        // SAFETY: the traced driver runs no code.
        Kernels(unsafe { Module::load_ptx(context, ".version 7.8") }.unwrap())
    }

    pub(crate) fn function(&self, letters: &str) -> Function {
        self.0.function(&format!("k_{letters}")).unwrap()
    }
}

/// The steps of a typed launch: prepare each array, then make the call.
fn launch(function: &Function, stream: &Stream, read: &[&Floats], write: &mut [&mut Floats]) {
    for array in read {
        array.prepare_read(stream).unwrap();
    }
    for array in &mut *write {
        array.prepare_write(stream).unwrap();
    }
    let writes = write.iter().map(|array| array.device_ptr());
    let mut values: Vec<u64> = read.iter().map(|array| array.device_ptr()).chain(writes).collect();
    let mut params: Vec<*mut c_void> = values.iter_mut().map(|value| (&raw mut *value).cast()).collect();
    // SAFETY: one pointer for each letter of the function's name; the arrays were prepared and are borrowed.
    unsafe { function.launch(&LaunchConfig::new(1, 1), stream, &mut params) }.unwrap();
}

fn floats(context: &Context) -> Floats {
    device_array(context, 16).unwrap()
}

#[test]
fn a_launch_of_three_arrays_on_one_stream_is_one_call() {
    let session = Session::new();
    let context = session.context();
    let add = Kernels::new(&context).function("rrw");
    let stream = context.default_stream();
    let (x, y, mut out) = (floats(&context), floats(&context), floats(&context));
    for _ in 0..3 {
        session.forget();
        launch(&add, &stream, &[&x, &y], &mut [&mut out]);
        assert_eq!(session.names(), ["cuLaunchKernel"]);
    }
    drop((x, y, out, stream, add, context));
    session.finish();
}

#[test]
fn another_stream_waits_once_for_the_writer() {
    let session = Session::new();
    let context = session.context();
    let kernels = Kernels::new(&context);
    let (read, write) = (kernels.function("r"), kernels.function("w"));
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = floats(&context);
    launch(&write, &a, &[], &mut [&mut x]);
    b.wait_for(&a).unwrap(); // so that the pool has its event
    session.forget();
    launch(&read, &b, &[&x], &mut []);
    launch(&read, &b, &[&x], &mut []);
    assert_eq!(session.names(), ["cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel", "cuLaunchKernel"]);
    let streams: Vec<_> = session.calls().iter().map(|call| call.stream.unwrap()).collect();
    assert_eq!(streams, [a.as_raw().addr(), b.as_raw().addr(), b.as_raw().addr(), b.as_raw().addr()]);
    session.forget();
    launch(&read, &a, &[&x], &mut []);
    assert_eq!(session.names(), ["cuLaunchKernel"], "two readers do not wait for each other");
    drop((x, a, b, read, write, kernels, context));
    session.finish();
}

#[test]
fn a_writer_waits_for_every_reader_and_not_only_for_the_last() {
    let session = Session::new();
    let context = session.context();
    let kernels = Kernels::new(&context);
    let (read, write) = (kernels.function("r"), kernels.function("w"));
    let streams: Vec<Stream> = (0..4).map(|_| Stream::new(&context).unwrap()).collect();
    let mut x = floats(&context);
    launch(&write, &streams[0], &[], &mut [&mut x]);
    for reader in &streams[..3] {
        launch(&read, reader, &[&x], &mut []);
    }
    session.forget();
    launch(&write, &streams[3], &[], &mut [&mut x]);
    assert_eq!(session.count("cuStreamWaitEvent"), 3);
    session.forget();
    launch(&write, &streams[3], &[], &mut [&mut x]);
    assert_eq!(session.names(), ["cuLaunchKernel"]);
    drop((x, streams, read, write, kernels, context));
    session.finish();
}

#[test]
fn memory_is_freed_after_all_its_users_on_the_devices_time() {
    let session = Session::new();
    let context = session.context();
    let read = Kernels::new(&context).function("r");
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let x = floats(&context);
    launch(&read, &a, &[&x], &mut []);
    launch(&read, &b, &[&x], &mut []);
    session.forget();
    drop((a, b));
    assert_eq!(session.names(), [""; 0], "the array keeps the streams that use it");
    drop(x);
    assert_eq!(session.count("cuStreamWaitEvent"), 2);
    assert_eq!(session.count("cuMemFreeAsync"), 1);
    assert_eq!(session.count("cuStreamSynchronize") + session.count("cuCtxSynchronize"), 0);
    drop((read, context));
    session.finish();
}

#[test]
fn copies_wait_for_launches_and_launches_for_copies() {
    for memory_pools in [true, false] {
        let session = Session::with(Traits { memory_pools });
        let context = session.context();
        let kernels = Kernels::new(&context);
        let (read, write) = (kernels.function("r"), kernels.function("w"));
        let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
        let mut x = from_slice(&context, &[1.0_f32; 16]).unwrap();
        launch(&read, &a, &[&x], &mut []);
        launch(&read, &b, &[&x], &mut []);
        x.copy_from_host(&ndarray::Array1::zeros(16)).unwrap();
        launch(&write, &b, &[], &mut [&mut x]);
        assert_eq!(x.copy_to_host().unwrap().len(), 16);
        launch(&write, &a, &[], &mut [&mut x]);
        drop((x, a, b, read, write, kernels, context));
        session.finish();
    }
}

#[test]
fn a_finished_read_on_the_host_needs_no_wait() {
    let session = Session::new();
    let context = session.context();
    let write = Kernels::new(&context).function("w");
    let a = Stream::new(&context).unwrap();
    let mut x = floats(&context);
    launch(&write, &a, &[], &mut [&mut x]);
    x.copy_to_host().unwrap();
    session.forget();
    launch(&write, &a, &[], &mut [&mut x]);
    assert_eq!(session.names(), ["cuLaunchKernel"]);
}

#[test]
fn per_thread_streams_of_two_threads_are_ordered() {
    let session = Session::new();
    let context = session.context();
    let write = Kernels::new(&context).function("w");
    let per_thread = Stream::per_thread(&context);
    let mut x = floats(&context);
    std::thread::scope(|scope| {
        scope.spawn(|| launch(&write, &per_thread, &[], &mut [&mut x]));
    });
    session.forget();
    launch(&write, &per_thread, &[], &mut [&mut x]);
    assert_eq!(session.names(), ["cuLaunchKernel"], "the value means one queue on both threads");
    let theirs = std::thread::scope(|scope| {
        let launch = || {
            let theirs = Stream::per_thread(&context);
            launch(&write, &theirs, &[], &mut [&mut x]);
            theirs
        };
        scope.spawn(launch).join().unwrap()
    });
    assert_eq!(session.count("cuStreamWaitEvent"), 1);
    launch(&write, &per_thread, &[], &mut [&mut x]);
    assert_eq!(session.count("cuStreamWaitEvent"), 2);
    std::thread::scope(|scope| {
        scope.spawn(move || drop(x));
    });
    drop((theirs, write, per_thread, context));
    session.finish();
}

#[test]
fn the_tracing_driver_sees_a_launch_that_was_not_prepared() {
    let session = Session::new();
    let context = session.context();
    let write = Kernels::new(&context).function("w");
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = floats(&context);
    launch(&write, &a, &[], &mut [&mut x]);
    let mut address = x.device_ptr();
    // SAFETY: one pointer, as the function's name says; the traced driver only reports that the order is missing.
    unsafe { write.launch(&LaunchConfig::new(1, 1), &b, &mut [(&raw mut address).cast()]) }.unwrap();
    let violations = session.take_violations();
    assert!(violations.len() == 1 && violations[0].contains("is not ordered after"), "{violations:?}");
    drop(x);
    let violations = session.take_violations();
    assert!(violations.len() == 1 && violations[0].starts_with("cuMemFreeAsync"), "nor is the free: {violations:?}");
}

#[test]
fn a_stream_of_another_device_is_refused() {
    let session = Session::new();
    let (context, other) = (session.context(), session.driver().device(1).unwrap().primary_context().unwrap());
    let mut buffer = Buffer::new(&context.default_stream(), 8).unwrap();
    let error = buffer.prepare_write(&other.default_stream()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "memory of device 0 cannot be used in default stream, which belongs to device 1; copy it to that device first"
    );
    assert!(buffer.prepare_read(&other.default_stream()).is_err());
    assert!(buffer.fill(0, &other.default_stream()).is_err());
}

/// A small pseudo-random generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// One random step of a program over some arrays and streams.
fn step(numbers: &mut Numbers, context: &Context, kernels: &Kernels, streams: &[Stream], arrays: &mut Vec<Floats>) {
    let stream = &streams[numbers.below(streams.len())];
    let mut taken = arrays.swap_remove(numbers.below(arrays.len()));
    let other = &arrays[numbers.below(arrays.len())];
    match numbers.below(8) {
        0 | 1 => launch(&kernels.function("rw"), stream, &[other], &mut [&mut taken]),
        2 | 3 => launch(&kernels.function("rr"), stream, &[other, &taken], &mut []),
        4 => launch(&kernels.function("w"), stream, &[], &mut [&mut taken]),
        5 => drop(taken.copy_to_host().unwrap()),
        6 => taken.copy_from_host(&ndarray::Array1::zeros(16)).unwrap(),
        _ => taken = floats(context),
    }
    arrays.push(taken);
}

#[test]
fn random_programs_are_ordered_and_leak_nothing() {
    for seed in 0..100 {
        let session = Session::with(Traits { memory_pools: seed % 4 != 0 });
        let context = session.context();
        let kernels = Kernels::new(&context);
        let mut streams: Vec<Stream> = (0..3).map(|_| Stream::new(&context).unwrap()).collect();
        streams.push(context.default_stream());
        let mut arrays: Vec<Floats> = (0..3).map(|_| floats(&context)).collect();
        let mut numbers = Numbers(seed);
        for _ in 0..60 {
            step(&mut numbers, &context, &kernels, &streams, &mut arrays);
        }
        drop((arrays, streams, kernels, context));
        session.finish();
    }
}
