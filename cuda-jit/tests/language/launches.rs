//! Launching: configurations, arguments, specialisations.

use std::sync::Barrier;

use cuda_jit::device::grid;
use cuda_jit::launch::{In, InOut, Out};
use cuda_jit::{Num, kernel};
use ndarray::{Array1, s};

use super::{context, on_device, on_host};

#[kernel]
fn add<T: Num>(x: &[T], y: &[T], out: &mut [T]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i] + y[i];
    }
}

#[kernel]
fn increment(x: &mut [u32], by: u32) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] += by;
    }
}

#[test]
fn host_arrays_are_copied_in_and_out() {
    let _selected = context().select();
    let x = Array1::from_iter((0..10).map(|i| i as f32));
    let y = vec![1.0f32; 10];
    let mut out = vec![0.0f32; 10];
    add::launch((1, 32), &x, &y, &mut out).unwrap();
    assert_eq!(out, (1..11).map(|i| i as f32).collect::<Vec<_>>());
    let mut counts = [1u32, 2, 3];
    increment::launch((1, 4), InOut(&mut counts[..]), 10).unwrap();
    assert_eq!(counts, [11, 12, 13]);
    increment::launch((1, 4), Out(&mut counts[..]), 5).unwrap();
    assert_eq!(counts, [5, 5, 5]);
    add::launch((1, 4), In(&[1u8, 2, 3][..]), In(&vec![1u8; 3]), Out(&mut vec![0u8; 3])).unwrap();
}

#[test]
fn host_arrays_of_any_layout_keep_their_order() {
    let _selected = context().select();
    let mut reversed = Array1::from_iter(0..6u32);
    reversed.invert_axis(ndarray::Axis(0));
    increment::launch((1, 8), &mut reversed, 100).unwrap();
    assert_eq!(reversed.to_vec(), [105, 104, 103, 102, 101, 100]);
    let strided = Array1::from_iter(0..12u32).slice_move(s![..;3]);
    let mut out = Array1::zeros(4);
    add::launch((1, 4), &strided, &strided, &mut out).unwrap();
    assert_eq!(out.to_vec(), [0, 6, 12, 18]);
}

#[test]
fn forall_covers_every_element() {
    for n in [0usize, 1, 31, 32, 33, 1000, 100_000] {
        let mut x = on_device(&vec![1u32; n]);
        increment::forall(n, &mut x, 2).unwrap();
        assert!(on_host(&x).iter().all(|&v| v == 3), "{n}");
    }
}

#[test]
fn empty_arrays_launch() {
    let mut x = on_device::<u32>(&[]);
    increment::launch((1, 32), &mut x, 1).unwrap();
    assert!(on_host(&x).is_empty());
}

#[test]
fn many_threads_specialise_once() {
    let barrier = Barrier::new(8);
    let names: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let _selected = context().select();
                    barrier.wait();
                    let kernel = add::<i16>::compile().unwrap();
                    // the same text at the same address: one compilation served all
                    format!("{:p}", kernel.ptx())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
}

#[test]
fn a_launch_without_a_context_says_so() {
    let thread = std::thread::spawn(|| increment::launch((1, 1), &mut vec![1u32], 1).unwrap_err().to_string());
    assert!(thread.join().unwrap().starts_with("no current context"));
}

#[test]
fn impossible_configurations_launch_nothing() {
    let mut x = on_device(&[1u32; 4]);
    let refused = |error: cuda_jit::Error, parts: &[&str]| {
        let text = error.to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    };
    refused(increment::launch((1, 0), &mut x, 1).unwrap_err(), &["block", "0"]);
    refused(increment::launch((1, 2000), &mut x, 1).unwrap_err(), &["2000", "1024"]);
    refused(increment::launch(((1, 70_000), 32), &mut x, 1).unwrap_err(), &["70000", "65535"]);
    refused(increment::launch((1usize << 33, 32), &mut x, 1).unwrap_err(), &["8589934592"]);
    assert_eq!(on_host(&x), [1; 4]);
}

#[kernel]
fn plane(out: &mut [usize]) {
    let (x, y) = grid::<2>();
    out[y * 4 + x] = x + y;
}

#[test]
fn the_launch_has_the_kernels_dimensions() {
    let mut out = on_device(&[0usize; 8]);
    plane::launch(((1, 1), (4, 2)), &mut out).unwrap();
    plane::launch(((2, 2, 1), (2, 1, 1)), &mut out).unwrap();
    assert_eq!(on_host(&out), [0, 1, 2, 3, 1, 2, 3, 4]);
    let error = plane::launch((1, 8), &mut out).unwrap_err().to_string();
    assert!(error.contains("in 1 dimension:") && error.contains("`plane` uses its position in 2"), "{error}");
    let error = plane::launch(((1, 1, 2), (4, 2, 1)), &mut out).unwrap_err().to_string();
    assert!(error.contains("in 3 dimensions"), "{error}");
    assert!(plane::forall(8, &mut out).is_err());
    let mut x = on_device(&[1u32; 4]);
    assert!(increment::launch(((1, 1), (2, 2)), &mut x, 1).is_err());
    assert_eq!(on_host(&x), [1; 4]);
}

#[test]
fn arrays_of_any_dimension_are_slices() {
    let context = context();
    let x = cuda_mem::to_device(&context, &ndarray::array![[1u32, 2], [3, 4]]).unwrap();
    let mut out = cuda_mem::zeros::<u32, _>(&context, (2, 2)).unwrap();
    add::launch((1, 4), &x, &x, &mut out).unwrap();
    assert_eq!(out.copy_to_host().unwrap(), ndarray::array![[2, 4], [6, 8]]);
    let mut three = [1u32, 2, 3];
    let _selected = context.select();
    add::launch((1, 4), &[1u32, 1, 1], &[5u32, 5, 5], &mut three).unwrap();
    assert_eq!(three, [6, 6, 6]);
}

#[test]
fn a_scope_takes_launches_and_events() {
    let context = context();
    let stream = cuda_driver::Stream::new(&context).unwrap();
    let (start, end) = (cuda_driver::Event::new(&context).unwrap(), cuda_driver::Event::new(&context).unwrap());
    let mut x = on_device(&[1u32; 100]);
    let mut run = || -> cuda_jit::Result<f32> {
        stream.scope(|s| {
            start.record(s)?;
            increment::launch((1, 128, s), &mut x, 1)?;
            end.record(s)
        })?;
        Ok(start.elapsed_ms(&end)?)
    };
    assert!(run().unwrap() >= 0.0);
    assert_eq!(on_host(&x), [2; 100]);
}

#[kernel(launch_bounds(64))]
fn bounded(x: &mut [u32]) {
    x[grid::<1>()] = 1;
}

#[test]
fn launch_bounds_bind() {
    let mut x = on_device(&[0u32; 128]);
    bounded::launch((1, 64), &mut x).unwrap();
    let error = bounded::launch((1, 128), &mut x).unwrap_err().to_string();
    assert!(error.contains("128") && error.contains("64"), "{error}");
    assert_eq!(on_host(&x)[63..66], [1, 0, 0]);
}

const THREADS: usize = 64;
const BLOCKS: u32 = 2;

#[kernel(launch_bounds(THREADS, BLOCKS + 1))]
fn bounded_by_constants(x: &mut [u32]) {
    x[grid::<1>()] = 1;
}

/// Its bounds depend on its generic argument.
#[kernel(launch_bounds(N / 2, 1, N as u32 / 32))]
fn bounded_by_a_parameter<const N: usize>(x: &mut [u32]) {
    x[grid::<1>()] = N as u32;
}

#[test]
fn launch_bounds_are_constant_expressions() {
    let ptx = bounded_by_constants::compile_ptx((9, 0)).unwrap();
    assert!(ptx.contains(".maxntid 64") && ptx.contains(".minnctapersm 3"), "{ptx}");
    for (ptx, threads, blocks) in [
        (bounded_by_a_parameter::<64>::compile_ptx((9, 0)), 32, 2),
        (bounded_by_a_parameter::<256>::compile_ptx((9, 0)), 128, 8),
    ] {
        let ptx = ptx.unwrap();
        assert!(ptx.contains(&format!(".maxntid {threads}\n")), "{ptx}");
        assert!(ptx.contains(&format!(".maxclusterrank {blocks}\n")), "{ptx}");
    }
    let mut x = on_device(&[0u32; 128]);
    bounded_by_a_parameter::<256>::launch((1, 128), &mut x).unwrap();
    assert_eq!(on_host(&x), [256; 128]);
    let error = bounded_by_a_parameter::<64>::launch((1, 64), &mut x).unwrap_err().to_string();
    assert!(error.contains("64") && error.contains("32"), "{error}");
    let error = bounded_by_a_parameter::<4096>::compile_ptx((9, 0)).unwrap_err().to_string();
    assert!(error.contains("`launch_bounds.max_threads` is 2048; it must be 1 to 1024"), "{error}");
}

#[test]
fn compiling_needs_no_device() {
    assert!(add::<f64>::compile_ptx((7, 5)).unwrap().contains(".target sm_75"));
    assert!(add::<f64>::compile_ptx("12.0").unwrap().contains(".target sm_120"));
    let error = add::<f64>::compile_ptx((42, 0)).unwrap_err().to_string();
    assert!(error.contains("42") && error.contains("sm_90"), "{error}");
    assert!(add::<f64>::compile_ptx("nine").unwrap_err().to_string().contains("nine"));
}

#[test]
fn a_compiled_kernel_reports_its_resources() {
    let _selected = context().select();
    let kernel = add::<f32>::compile().unwrap();
    assert_eq!(kernel.name(), "add_f32");
    assert!(kernel.llvm().unwrap().contains("define"));
    assert!(kernel.max_threads_per_block() >= 32);
    assert!(kernel.kir().unwrap().to_string().starts_with("kir 1"));
}
