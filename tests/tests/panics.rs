//! Panics are reported for the launches that caused them, with concurrent threads, streams, graphs and tests, in safe code.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cuda_driver::{Graph, Stream};
use cuda_prelude::*;

use crate::support::in_own_process;

/// Panics with `number` if `x` is not longer than that.
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

fn panic_message(number: usize) -> String {
    format!("index out of bounds: the len is {LENGTH} but the index is {number}")
}

/// The message of the only panic in an error.
#[track_caller]
fn message<R>(result: std::result::Result<R, impl Into<Error>>) -> String {
    let result: Result<R> = result.map_err(Into::into);
    let Err(error) = result else { panic!("it panics") };
    let panic = error.kernel_panic().unwrap_or_else(|| panic!("{error}"));
    assert_eq!(panic.others, [], "{error}");
    panic.message.clone()
}

/// 500 launches with host arrays panic concurrently with 500 that do not, all in the default stream.
#[test]
fn launches_with_host_arrays_report_their_own_panics_and_no_others() {
    std::thread::scope(|scope| {
        for first in [1000, 2000] {
            scope.spawn(move || {
                for number in first..first + 250 {
                    assert_eq!(message(at_least::launch((1, 32), &mut [0; LENGTH], number)), panic_message(number));
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

/// A launch does not report an earlier panic of the same thread that nothing has waited for.
#[test]
fn a_launch_with_host_arrays_does_not_report_an_earlier_panic() -> Result<()> {
    let s = stream()?;
    let mut x = zeros::<u32, _>(LENGTH)?;
    at_least::launch((1, 1, &s), &mut x, 50)?;
    let mut y = [0; LENGTH];
    healthy::launch((1, 32, &s), &mut y)?;
    assert_eq!(y, [1; LENGTH]);
    assert_eq!(message(s.synchronize()), panic_message(50));
    Ok(())
}

/// Tests that `cargo test` runs at the same time share the default stream and expect panics.
#[test]
fn threads_that_share_the_default_stream_get_their_own_panics() {
    std::thread::scope(|scope| {
        for thread in 1..=4 {
            scope.spawn(move || {
                let mut x = zeros::<u32, _>(LENGTH).unwrap();
                for round in 0..100 {
                    let number = 1000 * thread + round;
                    at_least::launch((1, 32), &mut x, number).unwrap();
                    match round % 4 {
                        0 => assert_eq!(message(x.copy_to_host()), panic_message(number)),
                        1 => expect_panic(synchronize(), number),
                        2 => expect_panic(x.context().default_stream().synchronize(), number),
                        _ => {
                            let done = event().unwrap();
                            done.record(&x.context().default_stream()).unwrap();
                            expect_panic(done.synchronize(), number);
                        }
                    }
                    // It is reported once.
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

/// Checks that a wait reports the panic of launch `number`, possibly among others.
#[track_caller]
fn expect_panic(result: std::result::Result<(), impl Into<Error>>, number: usize) {
    let result: Result<()> = result.map_err(Into::into);
    let Err(error) = result else { panic!("launch {number} has panicked") };
    assert!(error.messages().contains(&panic_message(number)), "{error} does not report {number}");
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
fn copying_the_output_of_another_threads_panicked_kernel_reports_the_panic() {
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
            assert_eq!(message(s.synchronize()), panic_message(77), "its own thread gets the report too");
        });
        let x = is_launched.recv().unwrap();
        let copies = [x.copy_to_host().map(drop), x.copy_to_host().map(drop)];
        stays.store(false, Ordering::Release);
        writer.join().unwrap();
        let [first, second] = copies;
        assert_eq!(message(first), panic_message(77));
        second.unwrap();
    });
}

/// A kernel on one stream reads the output of a kernel that panicked on another.
#[test]
fn copies_of_results_computed_from_a_panicked_kernels_output_report_the_panic() -> Result<()> {
    let (a, b) = (stream()?, stream()?);
    let (mut x, mut y) = (zeros::<u32, _>(LENGTH)?, zeros::<u32, _>(LENGTH)?);
    at_least::launch((1, 32, &a), &mut x, 9)?;
    crate::support::add_arrays::launch((1, 32, &b), &x, &x, &mut y)?;
    assert_eq!(message(y.copy_to_host()), panic_message(9));
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
    assert_eq!(message(s.synchronize()), panic_message(90));
    Ok(())
}

#[test]
fn a_panic_in_a_graph_is_reported_by_the_stream_of_its_launch() -> Result<()> {
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
        assert_eq!(message(a.synchronize()), panic_message(30));
        exec.launch(&b, (&mut x, &mut y))?;
        a.synchronize()?;
        assert_eq!(message(x.copy_to_host()), panic_message(30));
        b.synchronize()?;
    }
    assert_eq!(y.copy_to_host()?[0], 6);
    Ok(())
}

#[test]
fn a_wait_for_the_context_reports_the_panics_of_all_streams_in_order() {
    let test = "panics::a_wait_for_the_context_reports_the_panics_of_all_streams_in_order";
    in_own_process(test, &[], || {
        let streams = [stream().unwrap(), stream().unwrap(), stream().unwrap()];
        let mut arrays = [(); 3].map(|()| zeros::<u32, _>(LENGTH).unwrap());
        for at in [2, 0, 1] {
            at_least::launch((1, 1, &streams[at]), &mut arrays[at], 10 + at).unwrap();
        }
        let error = synchronize().unwrap_err();
        assert_eq!(error.messages(), [panic_message(10), panic_message(11), panic_message(12)]);
        let text = error.to_string();
        assert!(text.contains(&panic_message(10)) && text.contains("; also kernel `at_least` panicked at "), "{text}");
        assert!(text.contains(&panic_message(12)), "{text}");
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
                        assert_eq!(message(own.synchronize()), panic_message(number));
                    }
                });
            }
        });
        synchronize().unwrap();
    });
}

#[test]
fn a_panic_that_nothing_waits_for_is_reported_when_the_process_ends() {
    let test = "panics::a_panic_that_nothing_waits_for_is_reported_when_the_process_ends";
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
    let reported: Vec<&str> =
        text.lines().filter(|line| line.contains("; its context ended before anything waited for it")).collect();
    let [reported] = reported[..] else { panic!("{text}") };
    assert!(
        reported.contains(&panic_message(40))
            && reported.contains("kernel `at_least` panicked at tests/tests/panics.rs:"),
        "{reported}"
    );
}

/// The end of a borrow waits for two streams, in each of which a kernel has panicked.
#[test]
fn a_wait_for_several_streams_reports_the_panics_in_all_of_them() -> Result<()> {
    let (a, b) = (stream()?, stream()?);
    let mut host = ndarray::Array1::<u32>::zeros(LENGTH);
    let worked = mapped(&mut host, |x| -> Result<()> {
        let (mut first, mut second) = x.device_mut().split_at(ndarray::Axis(0), 4);
        at_least::launch((1, 1, &a), &mut first, 20)?;
        at_least::launch((1, 1, &b), &mut second, 21)
    });
    let expected = [20, 21].map(|number| format!("index out of bounds: the len is 4 but the index is {number}"));
    assert_eq!(worked.unwrap_err().messages(), expected);
    a.synchronize()?;
    b.synchronize()?;
    Ok(())
}

/// The stream of a launch is dropped, and another stream uses the array.
#[test]
fn a_copy_reports_a_panic_in_a_dropped_stream() -> Result<()> {
    let mut x = zeros::<u32, _>(LENGTH)?;
    let (first, next) = (stream()?, stream()?);
    at_least::launch((1, 1, &first), &mut x, 60)?;
    x.fill_on(1, &next)?;
    while !next.query()? {
        std::thread::yield_now();
    }
    drop(first);
    // One of them reuses the driver's stream of the dropped one.
    let others = (0..100).map(|_| stream()).collect::<Result<Vec<_>>>()?;
    assert_eq!(message(x.copy_to_host()), panic_message(60));
    drop(others);
    x.copy_to_host()?;
    Ok(())
}

/// Another thread has waited for the launch before the array is used in the next stream.
#[test]
fn a_copy_reports_a_panic_that_another_thread_has_received() -> Result<()> {
    let mut x = zeros::<u32, _>(LENGTH)?;
    let (first, next) = (stream()?, stream()?);
    at_least::launch((1, 1, &first), &mut x, 61)?;
    let waited = std::thread::scope(|scope| scope.spawn(|| first.synchronize()).join().unwrap());
    assert_eq!(message(waited), panic_message(61));
    x.fill_on(1, &next)?;
    assert_eq!(message(x.copy_to_host()), panic_message(61));
    x.copy_to_host()?;
    Ok(())
}

/// A thread's default stream is reused by another thread once the thread has ended, but not while an array's uses are ordered
/// in it.
#[test]
fn a_copy_reports_a_panic_before_the_launches_of_an_ended_thread() {
    let test = "panics::a_copy_reports_a_panic_before_the_launches_of_an_ended_thread";
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
        // The stream of the ended thread is then idle, so another thread could reuse it.
        while !filled.query().unwrap() {
            std::thread::yield_now();
        }
        drop(filled);
        let other = || Stream::per_thread(&context).query().unwrap();
        std::thread::scope(|scope| scope.spawn(other).join().unwrap());
        assert_eq!(message(x.copy_to_host()), panic_message(62));
    });
}
