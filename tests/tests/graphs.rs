//! Graphs of typed launches: each launch borrows the arrays that it uses, ordered with all other uses.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use cuda_prelude::*;
use ndarray::Array1;

use crate::support::{add_arrays, in_own_process};

#[kernel]
fn raise_by(x: &mut [u64], by: u64) {
    let mut i = grid::<1>();
    while i < x.len() {
        x[i] += by;
        i += grid_size::<1>();
    }
}

#[kernel]
fn at(x: &[u64], index: usize, out: &mut [u64]) {
    out[0] = x[index];
}

static OFFSET: Constant<u64> = Constant::new(1);

#[kernel]
fn raise_by_constant(x: &mut [u64]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] += OFFSET.get();
    }
}

fn ones() -> Result<DeviceArray<u64, ndarray::Ix1>> {
    to_device(&Array1::from_elem(1000, 1))
}

fn all(x: &DeviceArray<u64, ndarray::Ix1>, value: u64) -> Result<()> {
    assert_eq!(x.copy_to_host()?, Array1::from_elem(x.len(), value));
    Ok(())
}

#[test]
fn a_launch_of_a_graph_borrows_the_arrays_that_it_uses() -> Result<()> {
    let (x, y, mut sum) = (ones()?, ones()?, ones()?);
    let graph = capture(|c| {
        add_arrays::launch((8, 128, c), &x, &y, &mut sum)?;
        raise_by::launch((4, 64, c), &mut sum, 10)?;
        Ok(())
    })?;
    all(&sum, 1)?;
    let exec = graph.instantiate()?;
    let s = stream()?;
    exec.launch(&s, (&x, &y, &mut sum))?;
    all(&sum, 12)?;
    // The launches are ordered with other uses, on other streams and on the host.
    let mut x = x;
    let other = stream()?;
    raise_by::launch((4, 64, &other), &mut x, 100)?;
    exec.launch(&s, (&mut sum, &x, &y))?;
    raise_by::launch((4, 64, &other), &mut sum, 1000)?;
    all(&sum, 1112)
}

#[test]
fn a_launch_without_an_array_that_the_graph_uses_is_an_error() -> Result<()> {
    let (x, y, mut sum) = (ones()?, ones()?, ones()?);
    let graph = capture(|c| Ok(add_arrays::launch((8, 128, c), &x, &y, &mut sum)?))?;
    let exec = graph.instantiate()?;
    let s = stream()?;
    let refusals = [
        (
            exec.launch(&s, ()),
            "the graph uses argument 0 of kernel `add_arrays` (8000 bytes), which was not bound to this launch; pass `&it` to \
             `launch`",
        ),
        (
            exec.launch(&s, (&x, &y)),
            "the graph uses argument 2 of kernel `add_arrays` (8000 bytes), which was not bound to this launch; pass \
             `&mut it` to `launch`",
        ),
        (
            exec.launch(&s, (&x, &y, &sum)),
            "the graph writes argument 2 of kernel `add_arrays` (8000 bytes), which was bound to this launch by a shared reference; \
             pass it as `&mut`",
        ),
    ];
    for (refusal, text) in refusals {
        assert_eq!(refusal.unwrap_err().to_string(), text);
    }
    // A similar array does not match the captured one, not even in the same memory.
    drop(sum);
    let mut like = ones()?;
    assert!(exec.launch(&s, (&x, &y, &mut like)).is_err());
    all(&like, 1)
}

#[test]
fn branches_that_use_the_same_array_are_ordered() -> Result<()> {
    let (mut x, mut out) = (ones()?, zeros::<u64, _>(1)?);
    let graph = capture(|c| {
        let (left, right) = (c.fork()?, c.fork()?);
        raise_by::launch((4, 64, &left), &mut x, 5)?;
        at::launch((1, 1, &right), &x, 999, &mut out)?;
        raise_by::launch((4, 64, &left), &mut x, 7)?;
        Ok(())
    })?;
    // The three nodes form a chain: the reader of the second branch is between the writers of the first.
    assert_eq!((graph.nodes()?.len(), graph.edges()?.len()), (3, 3));
    let (exec, s) = (graph.instantiate()?, stream()?);
    for round in 0..50 {
        exec.launch(&s, (&mut x, &mut out))?;
        assert_eq!(out.copy_to_host()?[0], 1 + 12 * round + 5);
    }
    Ok(())
}

#[test]
fn a_panic_in_a_graph_is_reported_by_the_wait() {
    in_own_process("graphs::a_panic_in_a_graph_is_reported_by_the_wait", &[], || {
        panic_in_a_graph().expect("the rest works")
    });
}

fn panic_in_a_graph() -> Result<()> {
    let (x, mut out) = (ones()?, zeros::<u64, _>(1)?);
    let exec = capture(|c| Ok(at::launch((1, 1, c), &x, 1000, &mut out)?))?.instantiate()?;
    let s = stream()?;
    for _ in 0..2 {
        exec.launch(&s, (&x, &mut out))?;
        let text = s.synchronize().unwrap_err().to_string();
        assert!(text.contains("kernel `at` panicked") && text.contains("1000"), "{text}");
    }
    Ok(())
}

#[test]
fn copies_of_host_memory_cannot_be_captured() -> Result<()> {
    let (mut x, y) = (ones()?, vec![1_u64; 1000]);
    let mut sum = vec![0_u64; 1000];
    let refused = [
        (capture(|c| Ok(add_arrays::launch((8, 128, c), &y, &x, &mut x.copy_to_host().map_err(Error::from)?)?)), 0),
        (capture(|c| Ok(add_arrays::launch((8, 128, c), &x, In(&y), Out(&mut sum))?)), 1),
        (capture(|c| Ok(add_arrays::launch((8, 128, c), &x, &x, InOut(&mut sum))?)), 2),
    ];
    for (graph, index) in refused {
        let text = graph.unwrap_err().to_string();
        let expected =
            format!("argument {index} of kernel `add_arrays`, a copy of host memory, cannot be part of a graph");
        assert_eq!(text, expected);
    }
    raise_by::launch((4, 64), &mut x, 1)?;
    all(&x, 2)
}

#[test]
fn each_launch_reads_the_current_value_of_a_constant() -> Result<()> {
    let mut x = ones()?;
    let graph = capture(|c| {
        raise_by_constant::launch((8, 128, c), &mut x)?;
        raise_by_constant::launch((8, 128, c), &mut x)?;
        Ok(())
    })?;
    let (exec, s) = (graph.instantiate()?, stream()?);
    exec.launch(&s, &mut x)?;
    OFFSET.set(&current_context()?, &10)?;
    exec.launch(&s, &mut x)?;
    all(&x, 1 + 2 + 20)
}

#[test]
fn a_graph_is_updated_by_a_capture_with_other_arguments() -> Result<()> {
    let (mut x, mut y) = (ones()?, ones()?);
    let exec = capture(|c| Ok(raise_by::launch((4, 64, c), &mut x, 1)?))?.instantiate()?;
    let s = stream()?;
    exec.launch(&s, &mut x)?;
    exec.update(&capture(|c| Ok(raise_by::launch((4, 64, c), &mut y, 20)?))?)?;
    assert!(exec.launch(&s, &mut x).is_err(), "the memory that it accesses now has to be bound");
    exec.launch(&s, &mut y)?;
    all(&x, 2)?;
    all(&y, 21)
}

#[test]
fn child_graphs_that_use_the_same_array_are_ordered() -> Result<()> {
    let (mut x, mut out) = (ones()?, zeros::<u64, _>(1)?);
    let raising = capture(|c| Ok(raise_by::launch((4, 64, c), &mut x, 3)?))?;
    let reading = capture(|c| Ok(at::launch((1, 1, c), &x, 999, &mut out)?))?;
    let graph = Graph::new(&current_context()?)?;
    let first = graph.add_child(&[], &raising)?;
    let second = graph.add_child(&[], &reading)?;
    assert_eq!(graph.edges()?, [(first, second)]);
    let (exec, s) = (graph.instantiate()?, stream()?);
    exec.launch(&s, (&mut x, &mut out))?;
    assert_eq!(out.copy_to_host()?[0], 4);
    Ok(())
}

#[test]
fn graphs_are_launched_from_many_threads() -> Result<()> {
    let mut arrays = [ones()?, ones()?, ones()?, ones()?];
    let raise_often = |x: &mut DeviceArray<u64, _>| -> Result<()> {
        for round in 0..20 {
            let exec = capture(|c| Ok(raise_by::launch((4, 64, c), &mut *x, round)?))?.instantiate()?;
            let s = stream()?;
            exec.launch(&s, &mut *x)?;
            // It also waits for the captures of the other threads.
            synchronize()?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = arrays.iter_mut().map(|x| scope.spawn(move || raise_often(x))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("it does not panic"))
    })?;
    arrays.iter().try_for_each(|x| all(x, 1 + 190))
}

/// Adds to every number, and repeats the body while the first is below a limit.
#[kernel]
fn raise_until(x: &mut [u64], by: u64, limit: u64, again: Conditional) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] += by;
    }
    if i == 0 {
        set_conditional(again, (x[0] < limit) as u32);
    }
}

#[test]
fn a_kernel_controls_the_iterations_of_a_conditional_body() -> Result<()> {
    let (mut x, mut out) = (ones()?, zeros::<u64, _>(1)?);
    let graph = Graph::new(&current_context()?)?;
    let number = graph.conditional_handle(Some(1))?;
    let (_, body) = graph.add_while(&[], number)?;
    // SAFETY: the launch is captured into a body of the graph.
    let again = unsafe { Conditional::new(number) };
    graph.add_captured(&[], |c| Ok(at::launch((1, 1, c), &x, 999, &mut out)?))?;
    body.add_captured(&[], |c| Ok(raise_until::launch((8, 128, c), &mut x, 3, 100, again)?))?;
    let (exec, s) = (graph.instantiate()?, stream()?);
    let error = exec.launch(&s, &mut out).unwrap_err().to_string();
    assert!(error.starts_with("the graph uses argument 0 of kernel `raise_until` (8000 bytes)"), "{error}");
    // The reader was added before the loop's body, and runs before it.
    for (read, left) in [(1, 100), (100, 103)] {
        exec.launch(&s, (&mut x, &mut out))?;
        all(&x, left)?;
        assert_eq!(out.copy_to_host()?[0], read);
    }
    Ok(())
}

/// Drops an array, whose free is then pending.
fn leave_pending() -> Result<()> {
    let _deferred = defer_cleanup()?;
    drop(ones()?);
    Ok(())
}

#[test]
fn memory_that_is_freed_during_a_capture_does_not_invalidate_it() {
    in_own_process("graphs::memory_that_is_freed_during_a_capture_does_not_invalidate_it", &[], || {
        free_meanwhile().expect("all of it works")
    });
}

fn free_meanwhile() -> Result<()> {
    let (mut x, context) = (ones()?, current_context()?);
    let (capturing, captured) = (std::sync::Barrier::new(2), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // The frees wait for all work, which the driver refuses during a capture and which would invalidate it.
        let other = scope.spawn(|| -> Result<bool> {
            context.set_current();
            capturing.wait();
            free_pending(&context)?;
            Ok(captured.load(SeqCst))
        });
        let graph = capture(|c| {
            leave_pending().map_err(cuda_driver::Error::other)?;
            let error = free_pending(&context).unwrap_err().to_string();
            assert!(error.starts_with("the context cannot be synchronised inside `Graph::capture`"), "{error}");
            capturing.wait();
            // During the capture arrays are created, copied and read.
            all(&ones()?, 1).map_err(cuda_driver::Error::other)?;
            std::thread::sleep(std::time::Duration::from_millis(20));
            raise_by::launch((4, 64, c), &mut x, 1)?;
            captured.store(true, SeqCst);
            Ok(())
        })?;
        assert!(other.join().expect("it does not panic")?, "the other thread waited for the end of the capture");
        graph.instantiate()?.launch(&stream()?, &mut x)?;
        all(&x, 2)?;
        free_pending(&context)?;
        let statistics = memory_statistics(&context);
        assert_eq!((statistics.pending_frees, statistics.live_bytes), (0, 8000), "nothing is lost");
        Ok(())
    })
}
