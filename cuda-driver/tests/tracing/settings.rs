//! Limits, peers, attributes by name, resets, and contexts that other libraries have bound.

use cuda_driver::{CacheConfig, Context, ContextLimit, Error};
use cuda_sys::CUresult;

use crate::support::Session;

#[test]
fn limits_are_the_drivers_and_so_are_its_refusals() {
    let session = Session::new();
    let context = session.context();
    assert_eq!(context.limit(ContextLimit::MallocHeap).unwrap(), 1024);
    context.set_limit(ContextLimit::PrintfBuffer, 1 << 20).unwrap();
    let error = context.set_limit(ContextLimit::StackSize, 1 << 40).unwrap_err().to_string();
    assert!(error.starts_with("cuCtxSetLimit: CUDA_ERROR_INVALID_VALUE (1)"), "{error}");
    session.fail("cuCtxGetLimit", 1, CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT);
    let error = context.limit(ContextLimit::PersistingL2).unwrap_err().to_string();
    assert_eq!(
        error,
        "cuCtxGetLimit: CUDA_ERROR_UNSUPPORTED_LIMIT (215): text of the traced driver; the device has no such limit"
    );
    assert_eq!(context.cache_config().unwrap(), CacheConfig::None, "a newer driver's preference is none that is known");
}

#[test]
fn peer_access_is_between_two_devices_and_can_be_enabled_twice() {
    let session = Session::new();
    let driver = session.driver();
    let (one, two) = (driver.device(0).unwrap(), driver.device(1).unwrap());
    assert!(one.can_access_peer(&two).unwrap() && !one.can_access_peer(&one).unwrap());
    let (a, b) = (one.primary_context().unwrap(), two.primary_context().unwrap());
    a.enable_peer_access(&b).unwrap();
    session.fail("cuCtxEnablePeerAccess", 1, CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    a.enable_peer_access(&b).unwrap();
    a.disable_peer_access(&b).unwrap();
    session.fail("cuCtxDisablePeerAccess", 1, CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    a.disable_peer_access(&b).unwrap();
    session.fail("cuCtxEnablePeerAccess", 1, CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    let error = a.enable_peer_access(&b).unwrap_err().to_string();
    assert_eq!(
        error,
        "cuCtxEnablePeerAccess: CUDA_ERROR_PEER_ACCESS_UNSUPPORTED (217): text of the traced driver; the two devices cannot \
         use each other's memory; copy it"
    );
    let error = a.enable_peer_access(&a).unwrap_err().to_string();
    assert_eq!(error, "device 0 is no peer of itself; it uses its own memory anyway");
    let elsewhere = cuda_driver::Driver::new(cuda_sim::driver_api()).unwrap().device(0).unwrap();
    let error = a.enable_peer_access(&elsewhere.primary_context().unwrap()).unwrap_err().to_string();
    assert_eq!(error, "device 0 has no peers behind another driver");
    assert!(!one.can_access_peer(&elsewhere).unwrap());
}

#[test]
fn attributes_have_names() {
    let session = Session::new();
    let device = session.driver().device(0).unwrap();
    assert_eq!(device.attribute_by_name("MULTIPROCESSOR_COUNT").unwrap(), 2);
    assert_eq!(device.attribute_by_name("cu_device_attribute_max_grid_dim_y").unwrap(), 65_535);
    let error = device.attribute_by_name("CLOCK_RATE").unwrap_err();
    assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_INVALID_VALUE), "the driver is older than the attribute");
    let error = device.attribute_by_name("MULTIPROCESSORS").unwrap_err().to_string();
    assert!(error.starts_with("no device attribute is named MULTIPROCESSORS; is it MULTIPROCESSOR_COUNT?"), "{error}");
    let error = device.attribute_by_name("?").unwrap_err().to_string();
    assert_eq!(error, "no device attribute is named ?; `Device::attributes` lists them");
    let all = device.attributes().unwrap();
    assert!(all.contains(&("WARP_SIZE", 32)) && all.iter().all(|(name, _)| *name != "CLOCK_RATE"));
}

#[test]
fn a_device_is_reset_when_no_object_of_it_is_held() {
    let session = Session::new();
    let device = session.driver().device(0).unwrap();
    let context = device.primary_context().unwrap();
    let stream = cuda_driver::Stream::new(&context).unwrap();
    drop(context);
    // SAFETY: nothing else uses the traced driver.
    let error = unsafe { device.reset() }.unwrap_err().to_string();
    assert_eq!(
        error,
        "device 0 is in use: contexts, arrays, streams or other objects of it are held; drop them before the reset"
    );
    assert_eq!(session.count("cuDevicePrimaryCtxReset_v2"), 0);
    drop(stream);
    // SAFETY: nothing else uses the traced driver.
    unsafe { device.reset() }.unwrap();
    device.primary_context().unwrap().synchronize().unwrap();
}

/// Binds a raw context as another library would.
fn bind(session: &Session, raw: usize) {
    let api = session.api();
    let set_current = api.cuCtxSetCurrent().unwrap();
    // SAFETY: the traced driver only reads the number.
    unsafe { set_current(std::ptr::without_provenance_mut(raw)) };
}

#[test]
fn a_primary_context_that_another_library_has_bound_is_adopted_and_no_other() {
    let session = Session::new();
    let driver = session.driver();
    assert_eq!(driver.bound_context().unwrap(), None);
    bind(&session, 0xC001);
    assert_eq!(driver.adopted_context().unwrap().unwrap().device().ordinal(), 1);
    let own = session.context();
    own.synchronize().unwrap();
    assert_eq!(driver.adopted_context().unwrap().unwrap().device().ordinal(), 1, "the call has left it current");
    bind(&session, 0);
    own.synchronize().unwrap();
    assert_eq!(driver.adopted_context().unwrap(), None, "what this crate has left current was nobody's choice");
    assert_eq!(driver.bound_context().unwrap(), Some(own));
    bind(&session, 0xC001);
    assert_eq!(driver.bound_context().unwrap().unwrap().device().ordinal(), 1);
    bind(&session, 0xBAD1);
    let error = driver.bound_context().unwrap_err();
    assert!(matches!(error, Error::ForeignContext { context: 0xBAD1, device: 1 }));
    assert_eq!(
        error.to_string(),
        "the thread's context 0xbad1 was made by another library and is not the primary context of device 1, which all \
         libraries share; select the device, or let that library use the primary context"
    );
    assert_eq!(session.live().contexts, 0, "what was retained to be compared is released");
}

#[test]
fn contexts_are_pushed_and_popped_and_a_guard_restores_the_previous_one() {
    let session = Session::new();
    let (a, b) = (session.context(), session.driver().device(1).unwrap().primary_context().unwrap());
    a.push();
    b.push();
    {
        let _guard = a.select();
        assert_eq!(Context::pop(), Some(a.clone()));
        assert_eq!(Context::pop(), None, "what was selected before the guard is not in reach");
    }
    assert_eq!(Context::pop(), Some(b.clone()));
    assert_eq!(Context::current(), Some(a.clone()));
    b.push();
    a.clone().close().unwrap();
    assert_eq!(Context::pop(), Some(b));
    assert_eq!(Context::pop(), None);
    session.fail("cuCtxSynchronize", 1, CUresult::CUDA_ERROR_UNKNOWN);
    assert_eq!(a.close().unwrap_err().code(), Some(CUresult::CUDA_ERROR_UNKNOWN));
}
