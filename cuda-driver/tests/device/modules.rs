//! Images that a driver checks, linking, globals, launches with values, and many threads at once.

use cuda_driver::{Error, Image, JitOptions, LaunchConfig, Linker, Module, Stream};

use crate::support::{Numbers, context, function};

const HEAD: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";

/// The header of an ELF file for a device, without any section.
fn cubin() -> Vec<u8> {
    let mut bytes = vec![0; 64];
    bytes[..4].copy_from_slice(b"\x7fELF");
    bytes[18] = 190;
    bytes
}

#[test]
fn machine_code_that_the_device_cannot_run_is_refused_by_the_driver() {
    let context = context();
    let fatbin = [&0xba55_ed50_u32.to_le_bytes()[..], &[1, 0, 16, 0], &0_u64.to_le_bytes()].concat();
    for bytes in [cubin(), fatbin] {
        let image = Image::from_bytes(bytes).unwrap();
        // SAFETY: it is refused.
        let error = unsafe { Module::load_image(&context, &image, &JitOptions::new()) }.unwrap_err();
        assert!(matches!(error, Error::Jit(_)), "{error}");
        assert!(error.to_string().starts_with("the driver refuses the module: CUDA_ERROR_"), "{error}");
    }
}

#[test]
fn an_undefined_function_is_named_by_the_linker() {
    let context = context();
    let caller = format!("{HEAD}.extern .func helper();\n.visible .entry k() {{ call.uni helper; ret; }}\n");
    let mut linker = Linker::new(&context, &JitOptions::new()).unwrap();
    linker.add(&Image::ptx(&caller).unwrap(), "caller").unwrap();
    let error = linker.finish().unwrap_err().to_string();
    assert!(error.contains("helper"), "{error}");
    let mut linker = Linker::new(&context, &JitOptions::new()).unwrap();
    let error = linker.add(&Image::ptx("nonsense").unwrap(), "the bad one").unwrap_err().to_string();
    assert!(error.contains("the bad one"), "{error}");
}

#[test]
fn a_linked_image_runs_and_its_globals_can_be_written() {
    let context = context();
    let callee = format!(
        "{HEAD}.visible .global .align 4 .u32 step = 3;\n.visible .func (.param .b32 r) next(.param .b32 v) {{\n.reg .b32 \
         %r<3>; ld.param.u32 %r0, [v]; ld.global.u32 %r1, [step]; add.u32 %r2, %r0, %r1; st.param.b32 [r], %r2; ret; }}\n"
    );
    let caller = format!(
        "{HEAD}.extern .func (.param .b32 r) next(.param .b32 v);\n.visible .entry advance(.param .u64 x) {{\n.reg .b32 \
         %r<4>; .reg .b64 %d<3>; ld.param.u64 %d0, [x]; mov.u32 %r3, %tid.x; mul.wide.u32 %d1, %r3, 4; add.u64 %d0, %d0, \
         %d1; ld.global.u32 %r0, [%d0]; {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call.uni (b), next, (a); \
         ld.param.b32 %r1, [b]; }} st.global.u32 [%d0], %r1; ret; }}\n"
    );
    let mut linker = Linker::new(&context, &JitOptions::new()).unwrap();
    linker.add(&Image::ptx(&caller).unwrap(), "caller").unwrap();
    linker.add(&Image::ptx(&callee).unwrap(), "callee").unwrap();
    let linked = linker.finish().unwrap();
    // SAFETY: the kernel accesses only the memory behind its parameter.
    let module = unsafe { Module::load_image(&context, &linked, &JitOptions::new()) }.unwrap();
    let (advance, numbers, stream) =
        (module.function("advance").unwrap(), Numbers::new(&context), Stream::new(&context).unwrap());
    let launch = || {
        // SAFETY: the parameter is the function's, and leads to 32 numbers.
        unsafe { advance.launch_with(&LaunchConfig::new(1, 32), &stream, (numbers.address,)) }.unwrap();
        stream.synchronize().unwrap();
    };
    launch();
    // SAFETY: any bytes are a `u32`, and no kernel runs.
    assert_eq!(unsafe { module.read_global::<u32>("step") }.unwrap(), 3);
    // SAFETY: any bytes are a `u32`, and no kernel runs.
    unsafe { module.write_global("step", &100_u32) }.unwrap();
    launch();
    assert_eq!(numbers.value(), 103);
    // SAFETY: nothing is read.
    let error = unsafe { module.read_global::<[u8; 3]>("step") }.unwrap_err();
    assert_eq!(error.to_string(), "global variable `step` has 4 bytes, but `[u8; 3]` has 3");
    let error = module.global_of::<u32>("stop").unwrap_err().to_string();
    assert!(error.starts_with("the module has no global variable `stop`; cuModuleGetGlobal_v2: CUDA_ERROR_NOT_FOUND"));
}

#[test]
fn a_programmatic_launch_runs() {
    let context = context();
    let (add, numbers, stream) = (function(&context, "add"), Numbers::new(&context), Stream::new(&context).unwrap());
    let config = LaunchConfig::new(1, 32).programmatic();
    // SAFETY: the parameters are the function's; nothing comes before in the stream.
    unsafe { add.launch_with(&config, &stream, (numbers.address, 5_u32)) }.unwrap();
    stream.synchronize().unwrap();
    assert_eq!(numbers.value(), 5);
}

#[test]
fn one_context_serves_many_threads() {
    let context = context();
    let add = function(&context, "add");
    std::thread::scope(|scope| {
        for value in 1..=8_u32 {
            let (context, add) = (&*context, &add);
            scope.spawn(move || {
                let numbers = Numbers::new(context);
                for _ in 0..50 {
                    let stream = Stream::new(context).unwrap();
                    // SAFETY: the parameters are the function's, and the numbers are waited for.
                    unsafe { add.launch_with(&LaunchConfig::new(1, 32), &stream, (numbers.address, value)) }.unwrap();
                    stream.synchronize().unwrap();
                }
                assert_eq!(numbers.value(), 50 * value);
            });
        }
    });
}
