//! Arrays, streams and a hand-written kernel on real devices: the software device, and a GPU where there is one.
//!
//! # Safety
//!
//! The launches pass what the kernel declares: an address, a count and a factor; the arrays were prepared for the stream.

use std::ffi::c_void;
use std::sync::Arc;

use cuda_driver::{Context, Driver, Event, Function, LaunchConfig, Module, Stream};
use cuda_mem::{DeviceArray, device_array_like, from_slice, to_device, zeros};
use cuda_sys::{CUresult, DriverApi};
use ndarray::{Array1, Array2, Ix1};

/// `x[i] *= factor` for `i < n`.
const SCALE: &str = r"
.version 6.4
.target sm_75
.address_size 64

.visible .entry scale(.param .u64 x, .param .u64 n, .param .f32 factor)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<6>;

    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [n];
    ld.param.f32 %f1, [factor];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %rd3, %r4;
    setp.ge.u64 %p, %rd3, %rd2;
    @%p bra DONE;
    cvta.to.global.u64 %rd1, %rd1;
    shl.b64 %rd4, %rd3, 2;
    add.s64 %rd5, %rd1, %rd4;
    ld.global.f32 %f2, [%rd5];
    mul.f32 %f2, %f2, %f1;
    st.global.f32 [%rd5], %f2;
DONE:
    ret;
}
";

/// A context on every device of this machine.
fn contexts() -> Vec<Context> {
    let gpu = DriverApi::load().ok().and_then(|api| Driver::new(Arc::new(api)).ok());
    let gpu = gpu.and_then(|driver| driver.device(0).ok());
    if gpu.is_none() {
        eprintln!("no GPU: on the software device alone");
    }
    let software = Driver::new(cuda_sim::driver_api()).and_then(|driver| driver.device(0)).unwrap();
    gpu.into_iter().chain([software]).map(|device| device.primary_context().unwrap()).collect()
}

fn scale_function(context: &Context) -> Function {
    // SAFETY: the kernel accesses only the elements below its count, which its launches keep within the array.
    unsafe { Module::load_ptx(context, SCALE) }.unwrap().function("scale").unwrap()
}

fn scale(function: &Function, stream: &Stream, x: &mut DeviceArray<f32, Ix1>, mut factor: f32) {
    x.prepare_write(stream).unwrap();
    let (mut address, mut count) = (x.device_ptr(), x.len() as u64);
    let mut params: [*mut c_void; 3] = [(&raw mut address).cast(), (&raw mut count).cast(), (&raw mut factor).cast()];
    let config = LaunchConfig::new(x.len().div_ceil(256), 256);
    // SAFETY: address, count and factor of a live array that was prepared for this stream.
    unsafe { function.launch(&config, stream, &mut params) }.unwrap();
}

#[test]
fn launches_on_many_streams_keep_their_order() {
    for context in contexts() {
        let function = scale_function(&context);
        let streams: Vec<Stream> = (0..3).map(|_| Stream::new(&context).unwrap()).collect();
        let host = Array1::from_iter((0..100_000).map(|i| i as f32));
        let mut x = to_device(&context, &host).unwrap();
        for round in 0..30 {
            // In the right order the factors cancel in pairs; a lost or doubled scaling leaves a factor.
            scale(&function, &streams[round % 3], &mut x, if round % 2 == 0 { 4.0 } else { 0.25 });
        }
        assert_eq!(x.copy_to_host().unwrap(), host, "{context}");
        scale(&function, &streams[1], &mut x, 2.0);
        x.copy_from_host(&Array1::ones(100_000)).unwrap();
        scale(&function, &streams[2], &mut x, 3.0);
        assert!(x.copy_to_host().unwrap().iter().all(|value| *value == 3.0), "{context}");
    }
}

#[test]
fn memory_dropped_while_it_is_used_is_not_reused_before() {
    for context in contexts() {
        let function = scale_function(&context);
        let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
        for _ in 0..20 {
            let mut x = from_slice(&context, &[1.0_f32; 50_000]).unwrap();
            scale(&function, &a, &mut x, 5.0);
            drop(x);
            let mut y = from_slice(&context, &[2.0_f32; 50_000]).unwrap();
            scale(&function, &b, &mut y, 3.0);
            assert!(y.copy_to_host().unwrap().iter().all(|value| *value == 6.0), "{context}");
        }
        context.synchronize().unwrap();
    }
}

#[test]
fn layouts_zeros_and_empty_arrays_are_right_on_a_device() {
    for context in contexts() {
        let host = Array2::from_shape_fn((37, 53), |(i, j)| (i * 100 + j) as i32);
        assert_eq!(to_device(&context, &host.t()).unwrap().copy_to_host().unwrap(), host.t());
        assert_eq!(zeros::<u8, _>(&context, 1000).unwrap().copy_to_host().unwrap().sum(), 0);
        let empty = to_device(&context, &Array2::<f32>::zeros((0, 7))).unwrap();
        assert_eq!(device_array_like(&empty).unwrap().copy_to_host().unwrap().dim(), (0, 7));
    }
}

#[test]
fn events_measure_a_launch() {
    for context in contexts() {
        let function = scale_function(&context);
        let stream = Stream::new(&context).unwrap();
        let (start, end) = (Event::new(&context).unwrap(), Event::new(&context).unwrap());
        let mut x = zeros::<f32, _>(&context, 1_000_000).unwrap();
        let scaled: cuda_driver::Result<()> = stream.scope(|s| {
            start.record(s)?;
            scale(&function, s, &mut x, 2.0);
            end.record(s)
        });
        scaled.unwrap();
        assert!(start.elapsed_ms(&end).unwrap() > 0.0, "{context}");
    }
}

#[test]
fn a_failed_allocation_leaves_the_device_usable() {
    for context in contexts() {
        let total = context.memory_info().unwrap().total;
        let error = zeros::<u8, _>(&context, total * 4).unwrap_err();
        assert!(error.is_out_of_memory(), "{error}");
        assert!(error.to_string().contains(&format!("no room for {} bytes", total * 4)), "{error}");
        assert_eq!(zeros::<u8, _>(&context, 3).unwrap().copy_to_host().unwrap().to_vec(), [0; 3]);
    }
}

#[test]
fn malformed_ptx_is_refused_with_a_line() {
    for context in contexts() {
        let broken = SCALE.replace("mul.f32", "mull.f32");
        // SAFETY: the module is refused.
        let Err(cuda_driver::Error::Jit(error)) = (unsafe { Module::load_ptx(&context, &broken) }) else { panic!() };
        assert_eq!(error.code, CUresult::CUDA_ERROR_INVALID_PTX);
        let line = SCALE.lines().position(|line| line.contains("mul.f32")).unwrap() as u32 + 1;
        assert_eq!(error.line, Some(line), "{error}");
    }
}
