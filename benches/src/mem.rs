//! The overhead of device memory over the bare calls, on the null driver, and packing compared with ndarray's copy.
//!
//! - `mem.copy.overhead_ns`: a contiguous copy to the device less the bare call;
//! - `mem.pool.overhead_ns`: an allocation from the device's pool less the bare call; `mem.pool.free_overhead_ns`: its free;
//!   `mem.pool.allocations`: the host allocations of the two;
//! - `mem.view.overhead_ns`: a slice of a device array; `mem.view.allocations`;
//! - `mem.strided.LAYOUT.vs_ndarray`: a copy of a strided array to the device divided by ndarray's copy of it to existing
//!   contiguous memory; `mem.strided.vs_ndarray`: the worst of these;
//! - `mem.to_device.extra_mib`: the peak growth of the process's memory during `to_device` of a strided array of 1 GiB.
//!
//! # Safety
//!
//! The bare calls pass pointers to live values to a driver that reads none of them.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context as _, Result};
use cuda_driver::{Context, Driver};
use cuda_mem::{Buffer, device_array, to_device};
use cuda_sys::DriverApi;
use ndarray::{Array, ArrayView, Dimension, Ix3, s};

use crate::figures::{median, print, print_measured, time};
use crate::launch::each;
use crate::{allocations, null_driver};

pub(crate) fn run() -> Result<()> {
    let api = null_driver::api();
    let context = Driver::new(api.clone())?.device(0)?.primary_context()?;
    // This comes first, while the process has no freed memory that it could reuse without growing.
    peak(&context)?;
    copies(&context, &api)?;
    pool(&context, &api)?;
    views(&context)?;
    strided(&context)
}

fn copies(context: &Context, api: &DriverApi) -> Result<()> {
    let host = Array::<f32, _>::zeros(1024);
    let mut array = device_array::<f32, _>(context, 1024)?;
    let ours = each(|| array.copy_from_host(black_box(&host)).expect("nothing can fail"));
    let bare = each(|| {
        let copy = black_box(api).cuMemcpyHtoD_v2().expect("the table has it");
        // SAFETY: the function reads none of its arguments.
        black_box(unsafe { copy(0x1000, black_box(host.as_ptr().cast()), 4096) });
    });
    print_measured("mem.copy.ns", ours, "ns");
    print_measured("mem.copy.overhead_ns", ours - bare, "ns");
    Ok(())
}

/// Allocations in a measured run.
const BUFFERS: usize = 10_000;

fn pool(context: &Context, api: &DriverApi) -> Result<()> {
    let stream = context.default_stream();
    let mut buffers = Vec::with_capacity(BUFFERS);
    let (mut made, mut freed) = (Vec::new(), Vec::new());
    for _ in 0..51 {
        let start = Instant::now();
        for _ in 0..BUFFERS {
            buffers.push(Buffer::new(black_box(&stream), 4096)?);
        }
        made.push(start.elapsed().as_secs_f64() * 1e9 / BUFFERS as f64);
        let start = Instant::now();
        buffers.clear();
        freed.push(start.elapsed().as_secs_f64() * 1e9 / BUFFERS as f64);
    }
    let (made, freed) = (median(made), median(freed));
    let allocate = each(|| {
        let (allocate, mut address) = (black_box(api).cuMemAllocAsync().expect("the table has it"), 0);
        // SAFETY: `address` lives through the call.
        black_box(unsafe { allocate(&mut address, 4096, stream.as_raw()) });
    });
    let free = each(|| {
        let free = black_box(api).cuMemFreeAsync().expect("the table has it");
        // SAFETY: the function reads none of its arguments.
        black_box(unsafe { free(0x1000, stream.as_raw()) });
    });
    print_measured("mem.pool.ns", made, "ns");
    print_measured("mem.pool.overhead_ns", made - allocate, "ns");
    print_measured("mem.pool.free_overhead_ns", freed - free, "ns");
    let both = || drop(black_box(Buffer::new(&stream, 4096)));
    print("mem.pool.allocations", allocations::count(both), "allocations");
    Ok(())
}

fn views(context: &Context) -> Result<()> {
    let array = device_array::<f32, _>(context, (64, 64))?;
    let slice = || {
        black_box(black_box(&array).slice(s![black_box(3)..60, ..;2]));
    };
    print_measured("mem.view.overhead_ns", each(slice), "ns");
    print("mem.view.allocations", allocations::count(slice), "allocations");
    Ok(())
}

fn strided(context: &Context) -> Result<()> {
    let square = Array::from_shape_fn((2048, 2048), |(i, j)| (i ^ j) as f32);
    let cube = Array::from_shape_fn((256, 128, 128), |(i, j, k)| (i ^ j ^ k) as f32);
    let worst = [
        against_ndarray(context, "rows", &square.slice(s![.., ..1024]))?,
        against_ndarray(context, "columns", &square.slice(s![.., ..;2]))?,
        against_ndarray(context, "reversed", &square.slice(s![..;-1, ..;-1]))?,
        against_ndarray(context, "permuted", &cube.view().permuted_axes([1, 0, 2]))?,
        against_ndarray(context, "transposed", &cube.view().permuted_axes([0, 2, 1]))?,
    ];
    print_measured("mem.strided.vs_ndarray", worst.into_iter().fold(0.0, f64::max), "x");
    Ok(())
}

fn against_ndarray<D: Dimension>(context: &Context, layout: &str, host: &ArrayView<'_, f32, D>) -> Result<f64> {
    let mut array = device_array::<f32, _>(context, host.raw_dim())?;
    let mut contiguous = Array::<f32, D>::zeros(host.raw_dim());
    let ours = time(3, 21, || array.copy_from_host(black_box(host)).expect("nothing can fail"));
    let theirs = time(3, 21, || black_box(&mut contiguous).assign(black_box(host)));
    print_measured(&format!("mem.strided.{layout}.vs_ndarray"), ours / theirs, "x");
    Ok(ours / theirs)
}

fn peak(context: &Context) -> Result<()> {
    let host = Array::<f32, Ix3>::ones((256, 1024, 1024));
    // Resets the high-water mark to the current size.
    std::fs::write("/proc/self/clear_refs", "5").context("the kernel keeps no high-water mark")?;
    let before = status("VmRSS:")?;
    drop(black_box(to_device(context, &host.view().permuted_axes([0, 2, 1]))?));
    print_measured("mem.to_device.extra_mib", (status("VmHWM:")? - before) / 1024.0, "MiB");
    Ok(())
}

/// A line of the process's status, in KiB.
fn status(name: &str) -> Result<f64> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no line {name}"))?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}
