//! Images, the linker, globals, parameters, and the unloading of modules.

use cuda_driver::{Context, Error, Graph, Image, JitOptions, LaunchConfig, Linker, Module};
use cuda_sys::CUresult;

use crate::support::Session;

fn load(context: &Context) -> Module {
    // SAFETY: the traced driver runs no code.
    unsafe { Module::load_ptx(context, ".version 7.8") }.unwrap()
}

#[test]
fn images_are_linked_into_one_and_the_linker_is_destroyed() {
    let session = Session::new();
    let context = session.context();
    let image = Image::ptx(".version 7.8").unwrap();
    context.synchronize().unwrap();
    session.forget();
    let mut linker = Linker::new(&context, &JitOptions::new().opt_level(2)).unwrap();
    linker.add(&image, "one").unwrap();
    linker.add(&image, "two").unwrap();
    assert_eq!(linker.finish().unwrap(), image);
    assert_eq!(
        session.names(),
        ["cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkAddData_v2", "cuLinkComplete", "cuLinkDestroy"]
    );
    let mut linker = Linker::new(&context, &JitOptions::new()).unwrap();
    session.fail("cuLinkAddData_v2", 1, CUresult::CUDA_ERROR_INVALID_PTX);
    let error = linker.add(&image, "bad").unwrap_err();
    assert!(matches!(error, Error::Jit(_)), "{error}");
    assert_eq!(linker.add(&image, "a\0").unwrap_err().to_string(), "\"a\\0\" has a NUL byte");
    session.fail("cuLinkComplete", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    assert!(linker.finish().unwrap_err().is_out_of_memory());
    assert_eq!(session.live().links, 0);
}

#[test]
fn a_load_that_runs_out_of_memory_is_not_an_error_of_the_image() {
    let session = Session::new();
    let context = session.context();
    session.fail("cuModuleLoadDataEx", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    // SAFETY: the traced driver runs no code.
    let error = unsafe { Module::load_ptx(&context, ".version 7.8") }.unwrap_err();
    assert!(error.is_out_of_memory(), "{error}");
    assert!(error.to_string().starts_with("cuModuleLoadDataEx: CUDA_ERROR_OUT_OF_MEMORY (2)"), "{error}");
}

#[test]
fn a_launch_has_as_many_parameters_as_the_function_and_of_their_sizes() {
    let session = Session::new();
    let context = session.context();
    let function = load(&context).function("k_rw").unwrap();
    let (config, stream) = (LaunchConfig::new(1, 1), context.default_stream());
    assert_eq!(function.parameters().map(|parameters| parameters.len()), Some(2));
    session.forget();
    // SAFETY: nothing is launched.
    let none = unsafe { function.launch(&config, &stream, &mut []) };
    // SAFETY: nothing is launched.
    let too_few = unsafe { function.launch_with(&config, &stream, (1_u64,)) };
    // SAFETY: nothing is launched.
    let too_small = unsafe { function.launch_with(&config, &stream, (1_u64, 2_u32)) };
    assert_eq!(
        [none, too_few, too_small].map(|refused| refused.unwrap_err().to_string()),
        [
            "function `k_rw` has 2 parameters, and 0 were given; nothing was launched",
            "function `k_rw` has 2 parameters, and 1 were given; nothing was launched",
            "parameter 1 of function `k_rw` has 8 bytes, and a value of 4 was given; nothing was launched",
        ]
    );
    assert_eq!(session.names(), [""; 0]);
}

#[test]
fn an_older_driver_reports_no_parameters_and_nothing_is_checked() {
    let session = Session::new();
    let context = session.context();
    let module = load(&context);
    session.fail("cuFuncGetParamInfo", 1, CUresult::CUDA_ERROR_NOT_SUPPORTED);
    let function = module.function("k_").unwrap();
    assert_eq!(function.parameters(), None);
    session.fail("cuFuncGetParamInfo", 1, CUresult::CUDA_ERROR_INVALID_HANDLE);
    let error = module.function("k_").unwrap_err().to_string();
    assert!(error.starts_with("cuFuncGetParamInfo: CUDA_ERROR_INVALID_HANDLE (400)"), "{error}");
}

#[test]
fn a_module_is_unloaded_after_its_kernels_and_after_a_capture() {
    let session = Session::new();
    let context = session.context();
    let module = load(&context);
    session.forget();
    drop(module);
    assert_eq!(session.names(), ["cuCtxSynchronize", "cuModuleUnload"]);
    let module = load(&context);
    let graph = Graph::capture(&context, |_| {
        drop(module);
        assert_eq!(session.live().modules, 1);
        Ok(())
    });
    graph.unwrap();
    assert_eq!(session.live().modules, 0);
}

#[test]
fn a_success_without_a_result_is_an_error() {
    let session = Session::new();
    let context = session.context();
    let linker = Linker::new(&context, &JitOptions::new()).unwrap();
    session.fail("cuLinkComplete", 1, CUresult::CUDA_SUCCESS);
    let error = linker.finish().unwrap_err();
    assert_eq!(error.to_string(), "cuLinkComplete reports success, but gives no image");
    session.fail("cuMemHostAlloc", 1, CUresult::CUDA_SUCCESS);
    session.fail("cuMemHostGetDevicePointer_v2", 1, CUresult::CUDA_SUCCESS);
    let error = context.default_stream().panic_record().unwrap_err();
    assert_eq!(error.to_string(), "the driver reports success for mapped host memory, but gives no address");
}

#[test]
fn a_name_that_no_symbol_has_is_refused_before_the_driver_is_asked() {
    let session = Session::new();
    let context = session.context();
    let module = load(&context);
    session.forget();
    let text = "\"a\\0b\" has a NUL byte, which no symbol has";
    assert_eq!(module.function("a\0b").unwrap_err().to_string(), text);
    assert_eq!(module.global("a\0b").unwrap_err().to_string(), text);
    assert_eq!(session.names(), [""; 0]);
    session.fail("cuModuleGetFunction", 1, CUresult::CUDA_ERROR_NOT_FOUND);
    let error = module.function("k").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the module has no function `k`; cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500): text of the traced driver; the \
         driver knows no object of this name"
    );
    assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_NOT_FOUND));
}
