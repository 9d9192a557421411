//! Two devices: their contexts, peer access, and copies between them. The software device shows as many devices as the
//! environment sets when it starts, so each case runs in its own process.
//!
//! # Safety
//!
//! Kernels and copies get memory that the test owns and waits for.

use cuda_driver::{Context, Device, Event, Function, LaunchConfig, Stream, driver_call};
use cuda_sys::CUresult;

use crate::support::{BYTES, Numbers, driver, function, with_variable};

fn with_devices(test: &str, count: &str) -> bool {
    with_variable(&format!("peers::{test}"), "CUDA_SIM_DEVICES", count)
}

/// The devices, and their contexts.
fn two() -> ([Device; 2], [Context; 2]) {
    let devices = [0, 1].map(|ordinal| driver().device(ordinal).unwrap());
    let contexts = [0, 1].map(|at: usize| devices[at].primary_context().unwrap());
    (devices, contexts)
}

fn add(kernel: &Function, stream: &Stream, numbers: &Numbers) {
    // SAFETY: the test owns the memory and waits for the copy.
    unsafe { kernel.launch_with(&LaunchConfig::new(1, 32), stream, (numbers.address, 1_u32)) }.unwrap();
}

#[test]
fn two_devices_are_distinct_and_selected() {
    if !with_devices("two_devices_are_distinct_and_selected", "2") {
        return;
    }
    let ([first, second], [one, other]) = two();
    assert_eq!(driver().device_count().unwrap(), 2);
    assert_ne!(first.uuid().unwrap(), second.uuid().unwrap());
    assert_ne!(first.pci_bus_id().unwrap(), second.pci_bus_id().unwrap());
    let error = driver().device(2).unwrap_err();
    assert_eq!(error.to_string(), "there is no device 2: the driver has 2, numbered from 0");
    one.set_current();
    {
        let _selected = second.select().unwrap();
        assert_eq!(Context::current(), Some(other.clone()));
        let _again = first.select().unwrap();
        assert_eq!(Context::current(), Some(one.clone()));
    }
    assert_eq!(Context::current(), Some(one.clone()), "what was current before is current again");
    // Calls go to the context of what they are about, whatever is current.
    let numbers = Numbers::new(&other);
    add(&function(&other, "add"), &Stream::new(&other).unwrap(), &numbers);
    other.synchronize().unwrap();
    assert_eq!(numbers.value(), 1);
    let (here, there) = (Stream::new(&one).unwrap(), Event::new(&other).unwrap());
    let error = there.record(&here).unwrap_err().to_string();
    assert!(error.contains("belongs to the context of device"), "{error}");
    Context::clear_current();
}

#[test]
fn a_kernel_accesses_peer_memory_if_it_is_enabled() {
    if !with_devices("a_kernel_accesses_peer_memory_if_it_is_enabled", "2") {
        return;
    }
    let ([first, second], [one, other]) = two();
    assert!(first.can_access_peer(&second).unwrap() && !first.can_access_peer(&first).unwrap());
    let (theirs, kernel) = (Numbers::new(&other), function(&one, "add"));
    one.enable_peer_access(&other).unwrap();
    one.enable_peer_access(&other).unwrap();
    let stream = Stream::new(&one).unwrap();
    add(&kernel, &stream, &theirs);
    stream.synchronize().unwrap();
    assert_eq!(theirs.value(), 1);
    let error = one.enable_peer_access(&one).unwrap_err();
    assert_eq!(error.to_string(), "device 0 is no peer of itself; it uses its own memory anyway");
    one.disable_peer_access(&other).unwrap();
    one.disable_peer_access(&other).unwrap();
    add(&kernel, &stream, &theirs);
    let error = stream.synchronize().unwrap_err();
    assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    assert!(error.is_sticky() && one.is_lost() && !other.is_lost());
    let error = one.synchronize().unwrap_err().to_string();
    assert!(
        error.starts_with("cuCtxSynchronize not called: the context of device 0 is lost since cuStreamSync"),
        "{error}"
    );
    // The other device's context is not affected.
    assert_eq!(theirs.value(), 1);
}

#[test]
fn memory_is_copied_between_devices() {
    if !with_devices("memory_is_copied_between_devices", "2") {
        return;
    }
    let (_, [one, other]) = two();
    let (here, there) = (Numbers::new(&one), Numbers::new(&other));
    add(&function(&one, "add"), &one.default_stream(), &here);
    one.synchronize().unwrap();
    let (to, from) = (other.as_raw(), one.as_raw());
    // SAFETY: both have that many bytes.
    unsafe { driver_call!(&one, cuMemcpyPeer(there.address, to, here.address, from, BYTES)) }.unwrap();
    assert_eq!(there.value(), 1);
    add(&function(&other, "add"), &other.default_stream(), &there);
    other.synchronize().unwrap();
    let stream = Stream::new(&one).unwrap();
    let raw = stream.as_raw();
    // SAFETY: both have that many bytes.
    unsafe { driver_call!(&one, cuMemcpyPeerAsync(here.address, from, there.address, to, BYTES, raw)) }.unwrap();
    stream.synchronize().unwrap();
    assert_eq!(here.value(), 2);
}
