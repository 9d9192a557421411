//! Allocation targets: every constructor with every target, on the software device, checked by the pools' statistics.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cuda_driver::{Context, Driver, Stream};
use cuda_mem::{
    AllocTarget, DeviceArray, MemoryPool, PoolReuse, device_array, from_slice, memory_statistics, to_device, zeros,
};
use ndarray::{Array1, Ix1, array};

#[path = "../examples/counting_manager.rs"]
#[expect(dead_code, reason = "the example's own main function is not called")]
mod counting_manager;

/// Serialises the tests: they check the statistics of the context, which is shared in the process.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn context() -> Context {
    Driver::new(cuda_tests_support::driver_api()).and_then(|driver| driver.device(0)?.primary_context()).unwrap()
}

/// Makes an array of 1000 numbers by each constructor in the target. Returns the value of `used` with all of them live.
fn each_constructor(target: &impl AllocTarget, used: impl Fn() -> u64) -> u64 {
    let host = Array1::from_iter(0..1000_u32);
    let mut made: Vec<DeviceArray<u32, Ix1>> = vec![
        device_array(target, 1000).unwrap(),
        zeros(target, 1000).unwrap(),
        to_device(target, &host).unwrap(),
        from_slice(target, &host.to_vec()).unwrap(),
    ];
    let used = used();
    let [unwritten, zeroed, copied, sliced] = &mut made[..] else { unreachable!() };
    unwritten.assign(copied).unwrap();
    for array in [&*unwritten, copied, sliced] {
        assert_eq!(array.copy_to_host().unwrap(), host);
    }
    assert_eq!(zeroed.copy_to_host().unwrap().sum(), 0);
    used
}

#[test]
fn arrays_come_from_the_pool_of_their_target() {
    let (_turn, context) = (turn(), context());
    let (stream, own) = (Stream::new(&context).unwrap(), MemoryPool::new(&context).unwrap());
    let device = MemoryPool::of_device(&context).unwrap();
    let of = |pool: &MemoryPool| pool.statistics().unwrap().used;
    assert_eq!((of(&own), of(&device)), (0, 0));
    assert!(each_constructor(&context, || of(&device)) >= 16_000);
    assert!(each_constructor(&stream, || of(&device)) >= 16_000);
    assert!(each_constructor(&device, || of(&device)) >= 16_000);
    assert_eq!(each_constructor(&context, || of(&own)), 0);
    context.synchronize().unwrap();
    assert_eq!(each_constructor(&own, || of(&device)), 0);
    assert!(each_constructor(&own, || of(&own)) >= 16_000);
    assert!(each_constructor(&(&own, &stream), || of(&own)) >= 16_000);
    context.synchronize().unwrap();
    assert_eq!((of(&own), of(&device)), (0, 0), "all is freed");
    assert_eq!(memory_statistics(&context).live_bytes, 0);
}

#[test]
fn a_pool_has_its_limit_threshold_and_peaks() {
    let (_turn, context) = (turn(), context());
    let pool = MemoryPool::with_limit(&context, 4 << 20).unwrap();
    let held = zeros::<u8, _>(&pool, 1 << 20).unwrap();
    let error = zeros::<u8, _>(&pool, 8 << 20).unwrap_err();
    assert!(error.is_out_of_memory(), "{error}");
    assert!(error.to_string().starts_with("device 0 has no room for 8388608 bytes"), "{error}");
    assert_eq!(held.copy_to_host().unwrap().len(), 1 << 20, "what there was stays");
    assert!(zeros::<u8, _>(&context, 8 << 20).is_ok(), "the limit is this pool's");
    pool.set_release_threshold(u64::MAX).unwrap();
    assert_eq!(pool.release_threshold().unwrap(), u64::MAX);
    drop(held);
    context.synchronize().unwrap();
    let kept = pool.statistics().unwrap();
    assert!(kept.used == 0 && kept.used_peak >= 1 << 20 && kept.reserved >= 1 << 20, "{kept:?}");
    pool.trim_to(0).unwrap();
    pool.reset_peaks().unwrap();
    let trimmed = pool.statistics().unwrap();
    assert_eq!((trimmed.reserved, trimmed.used_peak, trimmed.reserved_peak), (0, 0, 0));
    let reuse = PoolReuse { follow_events: true, opportunistic: false, internal_dependencies: true };
    pool.set_reuse(reuse).unwrap();
    assert_eq!(pool.reuse().unwrap(), reuse);
}

#[test]
fn a_custom_pool_lives_as_long_as_its_arrays() {
    let (_turn, context) = (turn(), context());
    let pool = MemoryPool::new(&context).unwrap();
    let x = from_slice(&pool, &[1, 2, 3]).unwrap();
    drop(pool);
    assert_eq!(x.copy_to_host().unwrap(), array![1, 2, 3]);
    let y = x.try_clone().unwrap();
    drop((x, context));
    assert_eq!(y.copy_to_host().unwrap(), array![1, 2, 3]);
}

/// Runs the example and checks the counts that it prints.
#[test]
fn the_example_of_a_manager_counts() {
    let _turn = turn();
    assert_eq!(counting_manager::counted().unwrap(), (6, 5, 0));
}

/// `s.launch_host_fn(move || drop(x))` is the usual way to keep memory until work is done; no call can be made there.
#[test]
fn objects_dropped_in_a_host_function_are_released_later() {
    let (_turn, context) = (turn(), context());
    let stream = Stream::new(&context).unwrap();
    let free = || context.memory_info().unwrap().free;
    let before = free();
    for _ in 0..20 {
        let x = cuda_mem::device_array::<u8, _>(&stream, 64 << 20).unwrap();
        stream.launch_host_fn(move || drop(x)).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(cuda_mem::memory_statistics(&context).live_bytes, 0);
    assert_eq!(free(), before);
    // Arrays of every kind, and other objects that may be dropped there.
    let pinned = cuda_mem::pinned_array::<u8, _>(&context, 1000).unwrap();
    let pool = MemoryPool::new(&context).unwrap();
    let own = cuda_mem::Buffer::new_in(&pool, &stream, 1000).unwrap();
    let (other, event) = (Stream::new(&context).unwrap(), cuda_driver::Event::new(&context).unwrap());
    let raw = event.as_raw();
    event.record(&other).unwrap();
    let graph = cuda_driver::Graph::capture(&context, |c| c.launch_host_fn(|| ())).unwrap();
    let exec = graph.instantiate().unwrap();
    exec.launch(&stream, ()).unwrap();
    let all = (pinned, own, pool, other, event, graph, exec);
    stream.launch_host_fn(move || drop(all)).unwrap();
    context.synchronize().unwrap();
    // The event is destroyed, so the driver no longer has it.
    // SAFETY: the software device looks handles up before it uses them.
    let gone = unsafe { (context.api().cuEventQuery().unwrap())(raw) };
    assert_ne!(gone, cuda_sys::CUresult::CUDA_SUCCESS);
}

/// A host function may have the last handle of a context.
#[test]
fn a_context_that_ends_in_a_host_function_is_released() {
    let _turn = turn();
    let driver = Driver::new(cuda_tests_support::driver_api()).unwrap();
    let (told, ended) = std::sync::mpsc::channel();
    {
        let context = driver.device(0).unwrap().primary_context().unwrap();
        let stream = Stream::new(&context).unwrap();
        let x = cuda_mem::device_array::<u8, _>(&stream, 1000).unwrap();
        let (last, queue) = (context.clone(), stream.clone());
        let raw = stream.clone();
        raw.launch_host_fn(move || {
            drop((x, last, queue));
            told.send(()).unwrap();
        })
        .unwrap();
    }
    ended.recv().unwrap();
    let context = driver.device(0).unwrap().primary_context().unwrap();
    context.synchronize().unwrap();
    assert_eq!(cuda_mem::memory_statistics(&context).live_bytes, 0);
}
