//! What a typed launch of three buffers costs beside the bare call of `cuLaunchKernel`, on a driver that does nothing.
//!
//! - `launch.three_buffers.typed_ns` and `.bare_ns`: the two; `.overhead_ns`: their difference;
//! - `launch.three_buffers.driver_calls`: calls of the driver in one launch;
//! - `launch.three_buffers.several_streams_ns` and `.several_streams_driver_calls`: the same where the stream changes with
//!   every launch, so that each has to wait for the one before.
//!
//! # Safety
//!
//! The bare call hands pointers to live values to a driver that reads none of them.

use std::ffi::c_void;
use std::hint::black_box;

use anyhow::Result;
use cuda_driver::{Driver, Stream};
use cuda_sys::DriverApi;

use crate::figures::{print, print_measured, time};
use crate::kernels::vector_add;
use crate::nothing;

/// Launches in a measured run.
const LAUNCHES: usize = 10_000;
const RUNS: usize = 51;

pub(crate) fn run() -> Result<()> {
    let api = nothing::api();
    let context = Driver::new(api.clone())?.device(0)?.primary_context()?;
    let x = cuda_mem::from_slice(&context, &[1.0_f32; 1024])?;
    let y = cuda_mem::from_slice(&context, &[2.0_f32; 1024])?;
    let mut out = cuda_mem::from_slice(&context, &[0.0_f32; 1024])?;
    let streams = [Stream::new(&context)?, Stream::new(&context)?];

    let mut one = || vector_add::launch(black_box((8, 128)), &x, &y, &mut out).expect("nothing can fail");
    let typed = each(&mut one);
    let calls = calls_of(&mut one);
    let bare = each(|| bare(&api));
    print_measured("launch.three_buffers.typed_ns", typed, "ns");
    print_measured("launch.three_buffers.bare_ns", bare, "ns");
    print_measured("launch.three_buffers.overhead_ns", typed - bare, "ns");
    print("launch.three_buffers.driver_calls", calls, "calls");

    let mut turn = 0;
    let mut several = || {
        turn = 1 - turn;
        vector_add::launch(black_box((8, 128, &streams[turn])), &x, &y, &mut out).expect("nothing can fail");
    };
    print_measured("launch.three_buffers.several_streams_ns", each(&mut several), "ns");
    print("launch.three_buffers.several_streams_driver_calls", calls_of(&mut several), "calls");
    Ok(())
}

/// Nanoseconds of one of many launches.
fn each(mut launch: impl FnMut()) -> f64 {
    let run = || (0..LAUNCHES).for_each(|_| launch());
    time(3, RUNS, run) * 1e9 / LAUNCHES as f64
}

/// Calls of the driver in a launch that is like the one before it.
fn calls_of(mut launch: impl FnMut()) -> u64 {
    launch();
    let before = nothing::calls();
    launch();
    nothing::calls() - before
}

/// The call that the typed launch comes to, written out.
fn bare(api: &DriverApi) {
    let (mut x, mut y, mut out, mut record) = (0x1000_u64, 0x2000_u64, 0x3000_u64, 0x4000_u64);
    let (mut length, mut kernel) = (1024_u64, 1_u32);
    let length = (&raw mut length).cast::<c_void>();
    let mut params = [
        (&raw mut x).cast::<c_void>(),
        length,
        (&raw mut y).cast(),
        length,
        (&raw mut out).cast(),
        length,
        (&raw mut record).cast(),
        (&raw mut kernel).cast(),
    ];
    let launch = api.cuLaunchKernel().expect("the table has it");
    let (function, stream) = (std::ptr::null_mut(), std::ptr::null_mut());
    let params = black_box(params.as_mut_ptr());
    // SAFETY: the function is one that reads none of its arguments.
    let status = unsafe { launch(function, 8, 1, 1, 128, 1, 1, 0, stream, params, std::ptr::null_mut()) };
    black_box(status);
}
