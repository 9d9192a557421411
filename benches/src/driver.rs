//! What cuda-driver adds to the driver's functions, on a driver that does nothing.
//!
//! - `driver.launch.overhead_ns`: an untyped launch of three buffers on one stream, with the records of their uses, beyond
//!   the bare call; `.ns` and `.bare_ns` are the two, `.calls` the driver's calls in one launch, `.allocations` how often it
//!   asks the allocator;
//! - `driver.event.ns`, `driver.stream.ns`: making and dropping one, from the context's pool;
//! - `driver.context.bind_ns`: what asking for the thread's current context adds to a call;
//! - `driver.context.restore_ns`: what making the context current and another one again adds to that;
//! - `driver.graph.ns`: a launch of a graph with three bound buffers; `.overhead_ns` beyond the bare call.
//!
//! # Safety
//!
//! The calls hand pointers to live values to a driver that reads none of them.

use std::ffi::c_void;
use std::hint::black_box;

use anyhow::Result;
use cuda_driver::{Context, Driver, Event, Graph, LaunchConfig, Module, Stream, driver_call};
use cuda_mem::Buffer;
use cuda_sys::DriverApi;

use crate::figures::{print, print_measured};
use crate::launch::{bare, calls_of, each};
use crate::{allocations, nothing};

pub(crate) fn run() -> Result<()> {
    let api = nothing::api();
    let context = Driver::new(api.clone())?.device(0)?.primary_context()?;
    launches(&context, &api)?;
    pools(&context);
    binding(&context, &api);
    graphs(&context, &api)
}

fn launches(context: &Context, api: &DriverApi) -> Result<()> {
    let stream = Stream::new(context)?;
    // SAFETY: the driver does nothing with it.
    let function = unsafe { Module::load_ptx(context, "") }?.function("f")?;
    let config = LaunchConfig::new(8, 128);
    let (x, y, mut out) = (Buffer::new(&stream, 64)?, Buffer::new(&stream, 64)?, Buffer::new(&stream, 64)?);
    let mut launch = || {
        x.prepare_read(&stream).expect("nothing can fail");
        y.prepare_read(&stream).expect("nothing can fail");
        out.prepare_write(&stream).expect("nothing can fail");
        let mut values = black_box([x.address(), y.address(), out.address()]);
        let mut params = values.each_mut().map(|value| std::ptr::from_mut(value).cast::<c_void>());
        // SAFETY: the function is one that reads none of its arguments.
        unsafe { function.launch(black_box(&config), &stream, &mut params) }.expect("nothing can fail");
    };
    let ours = each(&mut launch);
    let bare = each(|| bare::<3>(api));
    print_measured("driver.launch.ns", ours, "ns");
    print_measured("driver.launch.bare_ns", bare, "ns");
    print_measured("driver.launch.overhead_ns", ours - bare, "ns");
    print("driver.launch.calls", calls_of(&mut launch), "calls");
    print("driver.launch.allocations", allocations::count(&mut launch), "allocations");
    Ok(())
}

fn pools(context: &Context) {
    let event = || drop(black_box(Event::without_timing(context)));
    print_measured("driver.event.ns", each(event), "ns");
    let stream = || drop(black_box(Stream::new(context)));
    print_measured("driver.stream.ns", each(stream), "ns");
}

fn binding(context: &Context, api: &DriverApi) {
    // SAFETY: the call has no argument.
    let ours = each(|| unsafe { driver_call!(black_box(context), cuCtxSynchronize()) }.expect("nothing can fail"));
    let bare = each(|| {
        let synchronize = black_box(api).cuCtxSynchronize().expect("the table has it");
        // SAFETY: as above.
        black_box(unsafe { synchronize() });
    });
    print_measured("driver.context.call_ns", ours, "ns");
    print_measured("driver.context.bare_ns", bare, "ns");
    print_measured("driver.context.bind_ns", ours - bare, "ns");
    // Another library's context is current, as in a process with several devices.
    let set = api.cuCtxSetCurrent().expect("the table has it");
    // SAFETY: the driver only keeps the handle.
    unsafe { set(std::ptr::dangling_mut()) };
    // SAFETY: the call has no argument.
    let other = each(|| unsafe { driver_call!(black_box(context), cuCtxSynchronize()) }.expect("nothing can fail"));
    // SAFETY: as above.
    unsafe { set(context.as_raw()) };
    print_measured("driver.context.restore_ns", other - ours, "ns");
}

fn graphs(context: &Context, api: &DriverApi) -> Result<()> {
    let stream = Stream::new(context)?;
    let [mut x, mut y, mut out] = [Buffer::new(&stream, 64)?, Buffer::new(&stream, 64)?, Buffer::new(&stream, 64)?];
    let graph = Graph::capture(context, |c| {
        [&mut x, &mut y, &mut out]
            .into_iter()
            .try_for_each(|buffer| buffer.capture_fill(1, c))
            .map_err(cuda_driver::Error::other)
    })?;
    let exec = graph.instantiate()?;
    let mut launch = || exec.launch(&stream, (&mut x, &mut y, &mut out)).expect("nothing can fail");
    let ours = each(&mut launch);
    let bare = each(|| {
        let launch = black_box(api).cuGraphLaunch().expect("the table has it");
        // SAFETY: the function reads none of its arguments.
        black_box(unsafe { launch(std::ptr::null_mut(), std::ptr::null_mut()) });
    });
    print_measured("driver.graph.ns", ours, "ns");
    print_measured("driver.graph.overhead_ns", ours - bare, "ns");
    print("driver.graph.calls", calls_of(&mut launch), "calls");
    print("driver.graph.allocations", allocations::count(&mut launch), "allocations");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_and_a_stream_from_the_pool_need_no_call_that_makes_one() {
        let context = Driver::new(nothing::api()).unwrap().device(0).unwrap().primary_context().unwrap();
        let mut event = || drop(Event::new(&context).unwrap());
        event();
        assert_eq!(calls_of(&mut event), 0);
        // One call: whether the stream is idle.
        let mut stream = || drop(Stream::new(&context).unwrap());
        stream();
        assert_eq!(calls_of(&mut stream), 1);
    }
}
