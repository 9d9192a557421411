//! The overhead of a typed launch over the bare call of `cuLaunchKernel`, on the null driver.
//!
//! - `launch.five_args.typed_ns` and `.bare_ns`: the two times, for three buffers and two numbers; `.overhead_ns`: their
//!   difference; `.allocations`: the allocations of one launch;
//! - `launch.five_args.stream_ns`: a typed launch on an explicit stream;
//! - `launch.three_buffers.typed_ns`, `.bare_ns` and `.overhead_ns`: the same times without the numbers;
//! - `launch.three_buffers.driver_calls`: calls of the driver in one launch;
//! - `launch.three_buffers.several_streams_ns` and `.several_streams_driver_calls`: typed launches that alternate between
//!   streams, so that each has to wait for the one before.
//!
//! # Safety
//!
//! The bare call passes pointers to live values to a driver that reads none of them.

use std::ffi::c_void;
use std::hint::black_box;

use anyhow::Result;
use cuda_driver::{Driver, Stream};
use cuda_sys::DriverApi;

use crate::allocations;
use crate::figures::{print, print_measured, time};
use crate::kernels::{blend, vector_add};
use crate::null_driver;

/// Launches in a measured run.
const LAUNCHES: usize = 10_000;
const RUNS: usize = 51;

pub(crate) fn run() -> Result<()> {
    let api = null_driver::api();
    let context = Driver::new(api.clone())?.device(0)?.primary_context()?;
    let x = cuda_mem::from_slice(&context, &[1.0_f32; 1024])?;
    let y = cuda_mem::from_slice(&context, &[2.0_f32; 1024])?;
    let mut out = cuda_mem::from_slice(&context, &[0.0_f32; 1024])?;
    let streams = [Stream::new(&context)?, Stream::new(&context)?];

    let mut five = || {
        let (a, b) = black_box((2.0, 3.0));
        blend::launch(black_box((8, 128)), &x, &y, &mut out, a, b).expect("nothing can fail");
    };
    let typed = each(&mut five);
    let bare_five = each(|| bare::<10>(&api));
    print_measured("launch.five_args.typed_ns", typed, "ns");
    print_measured("launch.five_args.bare_ns", bare_five, "ns");
    print_measured("launch.five_args.overhead_ns", typed - bare_five, "ns");
    print("launch.five_args.allocations", allocations::count(&mut five), "allocations");
    let mut in_stream = || {
        blend::launch(black_box((8, 128, &streams[0])), &x, &y, &mut out, 2.0, 3.0).expect("nothing can fail");
    };
    print_measured("launch.five_args.stream_ns", each(&mut in_stream), "ns");

    let mut one = || vector_add::launch(black_box((8, 128)), &x, &y, &mut out).expect("nothing can fail");
    let typed = each(&mut one);
    let calls = calls_of(&mut one);
    let bare = each(|| bare::<8>(&api));
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

/// The mean time of a launch in nanoseconds.
pub(crate) fn each(mut launch: impl FnMut()) -> f64 {
    let run = || (0..LAUNCHES).for_each(|_| launch());
    time(3, RUNS, run) * 1e9 / LAUNCHES as f64
}

/// The number of the driver's calls in a launch that repeats the one before it.
pub(crate) fn calls_of(mut launch: impl FnMut()) -> u64 {
    launch();
    let before = null_driver::calls();
    launch();
    null_driver::calls() - before
}

/// The call of the driver that a typed launch with this many parameters makes.
pub(crate) fn bare<const PARAMS: usize>(api: &DriverApi) {
    let mut values = black_box([0x1000_u64; PARAMS]);
    let mut params = values.each_mut().map(|value| std::ptr::from_mut(value).cast::<c_void>());
    let launch = api.cuLaunchKernel().expect("the table has it");
    let (function, stream) = (std::ptr::null_mut(), std::ptr::null_mut());
    let params = black_box(params.as_mut_ptr());
    // SAFETY: the null driver's function reads none of its arguments.
    let status = unsafe { launch(function, 8, 1, 1, 128, 1, 1, 0, stream, params, std::ptr::null_mut()) };
    black_box(status);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_launch_allocates_nothing_and_makes_one_call() {
        let context = Driver::new(null_driver::api()).unwrap().device(0).unwrap().primary_context().unwrap();
        let [x, y] = [1.0_f32, 2.0].map(|value| cuda_mem::from_slice(&context, &[value; 64]).unwrap());
        let mut out = cuda_mem::from_slice(&context, &[0.0_f32; 64]).unwrap();
        let stream = Stream::new(&context).unwrap();
        let mut default = || blend::launch((1, 64), &x, &y, &mut out, 2.0, 3.0).unwrap();
        default();
        assert_eq!((allocations::count(&mut default), calls_of(&mut default)), (0, 1));
        let mut named = || blend::launch((1, 64, &stream), &x, &y, &mut out, 2.0, 3.0).unwrap();
        named();
        assert_eq!((allocations::count(&mut named), calls_of(&mut named)), (0, 1));
    }
}
