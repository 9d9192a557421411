//! A panic belongs to the launch that had it: threads, streams, graphs and tests side by side, in safe code.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cuda_driver::{Graph, Stream};
use cuda_prelude::*;

use crate::support::in_own_process;

/// Panics with its own number where `x` is shorter than that.
#[kernel]
fn at_least(x: &mut [u32], number: usize) {
    if grid::<1>() == 0 {
        x[number] = number as u32;
    }
}

#[kernel]
fn healthy(x: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] += 1;
    }
}

#[kernel]
fn other(x: &mut [u32], number: usize) {
    assert!(number < x.len(), "the other, {number}");
}

const LENGTH: usize = 8;

fn said(number: usize) -> String {
    format!("index out of bounds: the len is {LENGTH} but the index is {number}")
}

/// The message of the panic, and nothing else.
#[track_caller]
fn message<R>(result: std::result::Result<R, impl Into<Error>>) -> String {
    let result: Result<R> = result.map_err(Into::into);
    let Err(error) = result else { panic!("it panics") };
    let panic = error.kernel_panic().unwrap_or_else(|| panic!("{error}"));
    assert_eq!(panic.others, [], "{error}");
    panic.message.clone()
}

/// 500 launches with host arrays that panic beside 500 that do not, all in the default stream.
#[test]
fn launches_with_host_arrays_report_their_own_panics_and_no_others() {
    std::thread::scope(|scope| {
        for first in [1000, 2000] {
            scope.spawn(move || {
                for number in first..first + 250 {
                    assert_eq!(message(at_least::launch((1, 32), &mut [0; LENGTH], number)), said(number));
                }
            });
        }
        scope.spawn(|| {
            for number in 0..250 {
                let error = message(other::launch((1, 32), &mut [0; LENGTH], 100 + number));
                assert_eq!(error, format!("the other, {}", 100 + number));
            }
        });
        scope.spawn(|| {
            let mut x = [0; LENGTH];
            (0..500).for_each(|_| healthy::launch((1, 32), &mut x).unwrap());
            assert_eq!(x, [500; LENGTH]);
        });
    });
}

/// An earlier launch of the same thread that nobody has waited for is not this one's affair.
#[test]
fn a_launch_with_host_arrays_leaves_an_earlier_panic_to_who_waits_for_that() -> Result<()> {
    let s = stream()?;
    let mut x = zeros::<u32, _>(LENGTH)?;
    at_least::launch((1, 1, &s), &mut x, 50)?;
    let mut y = [0; LENGTH];
    healthy::launch((1, 32, &s), &mut y)?;
    assert_eq!(y, [1; LENGTH]);
    assert_eq!(message(s.synchronize()), said(50));
    Ok(())
}

/// Tests that `cargo test` runs side by side share the default stream and expect panics.
#[test]
fn threads_that_share_the_default_stream_are_told_of_their_own_panics() {
    std::thread::scope(|scope| {
        for thread in 1..=4 {
            scope.spawn(move || {
                let mut x = zeros::<u32, _>(LENGTH).unwrap();
                for round in 0..100 {
                    let number = 1000 * thread + round;
                    at_least::launch((1, 32), &mut x, number).unwrap();
                    match round % 4 {
                        0 => assert_eq!(message(x.copy_to_host()), said(number)),
                        1 => told(synchronize(), number),
                        2 => told(x.context().default_stream().synchronize(), number),
                        _ => {
                            let done = event().unwrap();
                            done.record(&x.context().default_stream()).unwrap();
                            told(done.synchronize(), number);
                        }
                    }
                    // Told once.
                    x.copy_to_host().unwrap();
                }
            });
        }
        scope.spawn(|| {
            let mut x = zeros::<u32, _>(LENGTH).unwrap();
            for round in 1..=200 {
                healthy::launch((1, 32), &mut x).unwrap();
                assert_eq!(x.copy_to_host().unwrap()[0], round);
            }
        });
    });
}

/// A wait by name is told of the thread's own panic, and of others' too.
#[track_caller]
fn told(result: std::result::Result<(), impl Into<Error>>, number: usize) {
    let result: Result<()> = result.map_err(Into::into);
    let Err(error) = result else { panic!("launch {number} has panicked") };
    assert!(error.messages().contains(&said(number)), "{error} does not tell of {number}");
}

trait KernelPanics {
    fn messages(&self) -> Vec<String>;
}

impl KernelPanics for Error {
    fn messages(&self) -> Vec<String> {
        let panic = self.kernel_panic().unwrap_or_else(|| panic!("{self}"));
        [panic].into_iter().chain(&panic.others).map(|panic| panic.message.clone()).collect()
    }
}

#[test]
fn what_one_thread_writes_and_another_copies_tells_of_the_panic() {
    let mut x = zeros::<u32, _>(LENGTH).unwrap();
    let s = stream().unwrap();
    let stays = AtomicBool::new(true);
    std::thread::scope(|scope| {
        let (launched, is_launched) = std::sync::mpsc::channel();
        let (x, s, stays) = (&mut x, &s, &stays);
        let writer = scope.spawn(move || {
            at_least::launch((1, 32, s), &mut *x, 77).unwrap();
            launched.send(&*x).unwrap();
            while stays.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            assert_eq!(message(s.synchronize()), said(77), "its own thread is told too");
        });
        let x = is_launched.recv().unwrap();
        let copies = [x.copy_to_host().map(drop), x.copy_to_host().map(drop)];
        stays.store(false, Ordering::Release);
        writer.join().unwrap();
        let [first, second] = copies;
        assert_eq!(message(first), said(77));
        second.unwrap();
    });
}

/// A kernel reads on one stream what a kernel that panicked wrote on another.
#[test]
fn a_panic_is_told_to_copies_of_what_was_computed_from_its_result() -> Result<()> {
    let (a, b) = (stream()?, stream()?);
    let (mut x, mut y) = (zeros::<u32, _>(LENGTH)?, zeros::<u32, _>(LENGTH)?);
    at_least::launch((1, 32, &a), &mut x, 9)?;
    crate::support::add_arrays::launch((1, 32, &b), &x, &x, &mut y)?;
    assert_eq!(message(y.copy_to_host()), said(9));
    Ok(())
}

#[test]
fn a_closure_that_panics_with_page_locked_memory_leaves_the_kernels_panic_to_the_next_wait() -> Result<()> {
    let (s, mut host) = (stream()?, ndarray::Array1::<u32>::zeros(LENGTH));
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        mapped(&mut host, |host| {
            at_least::launch((1, 1, &s), &mut *host, 90).unwrap();
            std::panic::resume_unwind(Box::new("with the memory"))
        })
    }));
    assert!(unwound.is_err() && s.query()?);
    assert_eq!(message(s.synchronize()), said(90));
    Ok(())
}

#[test]
fn a_panic_in_a_graph_is_told_to_the_stream_of_its_launch() -> Result<()> {
    let mut x = zeros::<u32, _>(LENGTH)?;
    let mut y = zeros::<u32, _>(LENGTH)?;
    let graph = Graph::capture(&current_context()?, |c| {
        at_least::launch((1, 32, c), &mut x, 30)?;
        healthy::launch((1, 32, c), &mut y)?;
        Ok(())
    })?;
    let (exec, a, b) = (graph.instantiate()?, stream()?, stream()?);
    for _ in 0..3 {
        exec.launch(&a, (&mut x, &mut y))?;
        b.synchronize()?;
        assert_eq!(message(a.synchronize()), said(30));
        exec.launch(&b, (&mut x, &mut y))?;
        a.synchronize()?;
        assert_eq!(message(x.copy_to_host()), said(30));
        b.synchronize()?;
    }
    assert_eq!(y.copy_to_host()?[0], 6);
    Ok(())
}

#[test]
fn a_wait_for_the_context_tells_of_all_streams_in_their_order() {
    let test = "panics::a_wait_for_the_context_tells_of_all_streams_in_their_order";
    in_own_process(test, &[], || {
        let streams = [stream().unwrap(), stream().unwrap(), stream().unwrap()];
        let mut arrays = [(); 3].map(|()| zeros::<u32, _>(LENGTH).unwrap());
        for at in [2, 0, 1] {
            at_least::launch((1, 1, &streams[at]), &mut arrays[at], 10 + at).unwrap();
        }
        let error = synchronize().unwrap_err();
        assert_eq!(error.messages(), [said(10), said(11), said(12)]);
        let text = error.to_string();
        assert!(text.contains(&said(10)) && text.contains("; also kernel `at_least` panicked at "), "{text}");
        assert!(text.contains(&said(12)), "{text}");
        synchronize().unwrap();
    });
}

#[test]
fn each_threads_default_stream_has_its_own_panics() {
    let test = "panics::each_threads_default_stream_has_its_own_panics";
    in_own_process(test, &[("CUDA_DRIVER_PER_THREAD_DEFAULT_STREAM", Some("1"))], || {
        std::thread::scope(|scope| {
            for thread in 1..=3 {
                scope.spawn(move || {
                    let mut x = zeros::<u32, _>(LENGTH).unwrap();
                    for round in 0..50 {
                        let number = 1000 * thread + round;
                        at_least::launch((1, 32), &mut x, number).unwrap();
                        let own: Stream = default_stream().unwrap();
                        assert_eq!(message(own.synchronize()), said(number));
                    }
                });
            }
        });
        synchronize().unwrap();
    });
}

#[test]
fn what_nobody_waits_for_is_told_when_the_process_ends() {
    let test = "panics::what_nobody_waits_for_is_told_when_the_process_ends";
    let text = in_own_process(test, &[], || {
        let (s, waited) = (stream().unwrap(), stream().unwrap());
        let (mut x, mut y) = (zeros::<u32, _>(LENGTH).unwrap(), zeros::<u32, _>(LENGTH).unwrap());
        at_least::launch((1, 1, &s), &mut x, 40).unwrap();
        at_least::launch((1, 1, &waited), &mut y, 41).unwrap();
        waited.synchronize().unwrap_err();
        let start = Instant::now();
        while !s.query().unwrap() {
            assert!(start.elapsed() < Duration::from_secs(60), "the kernel is short");
            std::thread::yield_now();
        }
    });
    if text.is_empty() {
        return;
    }
    let told: Vec<&str> =
        text.lines().filter(|line| line.contains("; its context ended before anything waited for it")).collect();
    let [told] = told[..] else { panic!("{text}") };
    assert!(
        told.contains(&said(40)) && told.contains("kernel `at_least` panicked at tests/tests/panics.rs:"),
        "{told}"
    );
}

/// The end of a borrow waits for two streams, each of which has a panic.
#[test]
fn a_wait_for_several_streams_tells_of_the_panics_in_all_of_them() -> Result<()> {
    let (a, b) = (stream()?, stream()?);
    let mut host = ndarray::Array1::<u32>::zeros(LENGTH);
    let worked = mapped(&mut host, |x| -> Result<()> {
        let (mut first, mut second) = x.device_mut().split_at(ndarray::Axis(0), 4);
        at_least::launch((1, 1, &a), &mut first, 20)?;
        at_least::launch((1, 1, &b), &mut second, 21)
    });
    let said = [20, 21].map(|number| format!("index out of bounds: the len is 4 but the index is {number}"));
    assert_eq!(worked.unwrap_err().messages(), said);
    a.synchronize()?;
    b.synchronize()?;
    Ok(())
}

/// The stream of a launch ends, and another one goes on with the array.
#[test]
fn a_copy_tells_of_a_panic_in_a_stream_that_has_ended() -> Result<()> {
    let mut x = zeros::<u32, _>(LENGTH)?;
    let (first, next) = (stream()?, stream()?);
    at_least::launch((1, 1, &first), &mut x, 60)?;
    x.fill_on(1, &next)?;
    while !next.query()? {
        std::thread::yield_now();
    }
    drop(first);
    // One of them is the driver's stream of the one that has ended.
    let others = (0..100).map(|_| stream()).collect::<Result<Vec<_>>>()?;
    assert_eq!(message(x.copy_to_host()), said(60));
    drop(others);
    x.copy_to_host()?;
    Ok(())
}

/// Another thread has waited for the launch by name before the array goes to the next stream.
#[test]
fn a_copy_tells_of_a_panic_that_another_thread_was_told_of() -> Result<()> {
    let mut x = zeros::<u32, _>(LENGTH)?;
    let (first, next) = (stream()?, stream()?);
    at_least::launch((1, 1, &first), &mut x, 61)?;
    let waited = std::thread::scope(|scope| scope.spawn(|| first.synchronize()).join().unwrap());
    assert_eq!(message(waited), said(61));
    x.fill_on(1, &next)?;
    assert_eq!(message(x.copy_to_host()), said(61));
    x.copy_to_host()?;
    Ok(())
}

/// A thread's default stream goes to another thread when its own has ended, but not while an array is in its order.
#[test]
fn a_copy_tells_of_a_panic_before_what_an_ended_thread_has_launched() {
    let test = "panics::a_copy_tells_of_a_panic_before_what_an_ended_thread_has_launched";
    in_own_process(test, &[], || {
        let mut x = zeros::<u32, _>(LENGTH).unwrap();
        let context = x.context().clone();
        at_least::launch((1, 1, &stream().unwrap()), &mut x, 62).unwrap();
        let filled = event().unwrap();
        let fill = || {
            x.fill_on(1, &Stream::per_thread(&context)).unwrap();
            filled.record(&Stream::per_thread(&context)).unwrap();
        };
        std::thread::scope(|scope| scope.spawn(fill).join().unwrap());
        // Then the stream of the thread that has ended is idle, so that another thread might get it.
        while !filled.query().unwrap() {
            std::thread::yield_now();
        }
        drop(filled);
        let other = || Stream::per_thread(&context).query().unwrap();
        std::thread::scope(|scope| scope.spawn(other).join().unwrap());
        assert_eq!(message(x.copy_to_host()), said(62));
    });
}
