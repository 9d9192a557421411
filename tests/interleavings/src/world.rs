//! [`World`]: the shared state of a program's threads, and the run of a program.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cuda_driver::{Context, Module, Stream};
use cuda_mem::{free_pending, memory_statistics};
use cuda_prelude::*;
use ndarray::Ix1;

use super::panics::{Allowed, NO_THREAD, Panics};
use super::program::{Program, SHARED};
use super::worker::Worker;
use cuda_tests_support::POKE;

/// The length of every array.
pub(super) const LENGTH: usize = 256;

/// The device that may fault.
pub(super) const FAULTY: usize = 0;

/// A device array with its expected contents.
pub(super) struct Tracked {
    pub(super) device: usize,
    /// `None` once its device is lost.
    pub(super) array: Option<DeviceArray<u32, Ix1>>,
    /// `None` if the contents are unspecified.
    pub(super) model: Option<Vec<u32>>,
    /// The number of arrays that this one has replaced.
    pub(super) generation: u32,
}

pub(super) struct World {
    pub(super) contexts: [Context; 2],
    pub(super) streams: [[Stream; 2]; 2],
    pub(super) panics: Panics,
    /// True if a device may be lost.
    pub(super) faults: bool,
    /// True once a thread starts to make the device fault.
    pub(super) is_faulting: AtomicBool,
    /// The bytes of forgotten device arrays.
    pub(super) forgotten: [AtomicUsize; 2],
    /// Threads that drop objects.
    pub(super) helpers: Mutex<Vec<JoinHandle<()>>>,
    shared: [Mutex<Tracked>; SHARED],
}

impl World {
    pub(super) fn shared(&self, index: usize) -> MutexGuard<'_, Tracked> {
        // A thread that panics reports its own failure.
        self.shared[index].lock().unwrap_or_else(|failed| failed.into_inner())
    }
}

/// Creates the array with this index, which contains its indices, on its device.
pub(super) fn tracked(contexts: &[Context; 2], place: usize, generation: u32) -> Result<Tracked> {
    let device = place % 2;
    let model: Vec<u32> = (0..LENGTH as u32).collect();
    let array = Some(cuda_mem::from_slice(&contexts[device], &model)?);
    Ok(Tracked { device, array, model: Some(model), generation })
}

/// Runs a program, and checks its results, the reported panics, and that no memory leaks. If `fault` is an operation of the
/// first thread, a device faults before it.
pub(super) fn run(program: &Program, fault: Option<usize>) {
    let contexts = [0, 1].map(|ordinal| driver().unwrap().device(ordinal).unwrap().primary_context().unwrap());
    let before = contexts.each_ref().map(|context| memory_statistics(context).live_bytes);
    let world = World {
        streams: contexts.each_ref().map(|context| [(); 2].map(|()| Stream::new(context).unwrap())),
        shared: std::array::from_fn(|place| Mutex::new(tracked(&contexts, place, 0).unwrap())),
        panics: Panics::default(),
        faults: fault.is_some(),
        is_faulting: AtomicBool::new(false),
        forgotten: [AtomicUsize::new(0), AtomicUsize::new(0)],
        helpers: Mutex::default(),
        contexts,
    };
    let threads = std::thread::scope(|scope| {
        // All workers are created before one starts, since a worker may make a device fault.
        let make = |(thread, ops)| (Worker::new(&world, thread), ops, fault.filter(|_| thread == 0));
        let workers: Vec<_> = program.iter().enumerate().map(make).collect();
        let threads: Vec<_> =
            workers.into_iter().map(|(worker, ops, fault)| scope.spawn(move || worker.run(ops, fault))).collect();
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    let canaries: Vec<_> =
        threads.into_iter().flat_map(|canaries| canaries.unwrap_or_else(|e| std::panic::resume_unwind(e))).collect();
    world.helpers.lock().unwrap().drain(..).for_each(|helper| helper.join().unwrap());
    finish(&world);
    canaries.iter().for_each(super::worker::Canary::check);
    (0..SHARED).for_each(|place| world.shared(place).array = None);
    for (device, context) in world.contexts.iter().enumerate() {
        if fault.is_none() || device != FAULTY {
            let expected = before[device] + world.forgotten[device].load(Ordering::Relaxed);
            expect_live_bytes(context, expected);
        }
    }
}

/// Waits for the remaining work of the threads, and checks the contents of the shared arrays.
fn finish(world: &World) {
    for (device, context) in world.contexts.iter().enumerate() {
        match context.synchronize().map_err(Error::from) {
            Err(error) if world.faults && device == FAULTY => expect_lost(&error),
            result if world.faults && device == FAULTY => panic!("the device is lost: {result:?}"),
            Err(error) => {
                let panic = error.kernel_panic().unwrap_or_else(|| panic!("{error}"));
                world.panics.record(NO_THREAD, panic, Allowed::Any);
                context.synchronize().unwrap();
            }
            Ok(()) => {}
        }
    }
    if !world.faults {
        world.panics.expect_all_reported();
    }
    for tracked in (0..SHARED).map(|place| world.shared(place)) {
        if let (Some(array), Some(model), false) =
            (&tracked.array, &tracked.model, world.faults && tracked.device == FAULTY)
        {
            assert_eq!(&array.copy_to_host().unwrap().to_vec(), model);
        }
    }
}

/// Checks that the error is that of the fault.
pub(super) fn expect_lost(error: &Error) {
    assert!(error.to_string().contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{error}");
}

/// Checks the live bytes. Objects dropped in host functions are freed by a later call, so this polls.
fn expect_live_bytes(context: &Context, expected: usize) {
    let start = Instant::now();
    loop {
        context.synchronize().unwrap();
        free_pending(context).unwrap();
        let live = memory_statistics(context).live_bytes;
        if live == expected {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{live} bytes are live, which should be {expected}");
        std::thread::yield_now();
    }
}

/// Makes the device fault by a launch in `stream`, without waiting for it.
pub(super) fn fault(context: &Context, stream: &Stream) -> cuda_driver::Result<()> {
    let mut address = 64_u64;
    // SAFETY: loading runs nothing; the launch below passes the address that the kernel writes to.
    let function = unsafe { Module::load_ptx(context, POKE) }?.function("poke")?;
    let mut params = [(&raw mut address).cast::<c_void>()];
    // SAFETY: the one parameter is an address of eight bytes. The device has no memory at the address, so no memory of this
    // process is written.
    unsafe { function.launch(&LaunchConfig::new(1, 1), stream, &mut params) }
}

/// The steps of the kernel on the host; those of one launch are one affine map.
pub(super) fn stepped(model: &[u32], by: u32, rounds: u32) -> Vec<u32> {
    let one =
        |(factor, sum): (u32, u32), _| (factor.wrapping_mul(1_664_525), sum.wrapping_mul(1_664_525).wrapping_add(by));
    let (factor, sum) = (0..rounds).fold((1, 0), one);
    model.iter().map(|x| x.wrapping_mul(factor).wrapping_add(sum)).collect()
}
