//! Any bytes as PTX: reading gives a module or an error, and a module that was read survives being printed and loaded.
//!
//! `cargo +nightly fuzz run ptx fuzz/corpus/ptx cuda-sim/tests/samples`
//!
//! # Safety
//!
//! Driver calls get pointers to live locals, as CUDA asks, and a text that ends with a NUL.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::ffi::CString;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(module) = cuda_sim::ptx::parse(text) else { return };
    let printed = module.to_string();
    let again = cuda_sim::ptx::parse(&printed).expect("what was printed is read");
    assert!(again == module, "printing changed the module");
    let Ok(image) = CString::new(text) else { return };
    let api = cuda_sim::driver_api();
    let (mut context, mut loaded) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: CUDA's contract: pointers to live locals, and a text that ends with a NUL.
    unsafe {
        (api.cuInit().expect("cuInit"))(0);
        (api.cuDevicePrimaryCtxRetain().expect("cuDevicePrimaryCtxRetain"))(&mut context, 0);
        (api.cuCtxSetCurrent().expect("cuCtxSetCurrent"))(context);
        let load = api.cuModuleLoadData().expect("cuModuleLoadData");
        let code = load(&mut loaded, image.as_ptr().cast());
        // A panic inside the driver is this code.
        assert!(code != cuda_sys::CUresult::CUDA_ERROR_UNKNOWN, "the driver panicked");
        if code == cuda_sys::CUresult::CUDA_SUCCESS {
            (api.cuModuleUnload().expect("cuModuleUnload"))(loaded);
        }
    }
});
