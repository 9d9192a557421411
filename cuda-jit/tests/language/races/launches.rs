//! `#[kernel(race_free)]`: kernels that are proved run, others are errors of the launch, and so are launches that a proof
//! does not cover.

use cuda_jit::device::grid;
use cuda_jit::launch::{HostMemory, HostMemoryMut, InOut};
use cuda_jit::{Error, Kernel, kernel};
use ndarray::{ArrayView1, ArrayViewMut1, Ix1};

use crate::device::context;

#[kernel(race_free)]
fn proved(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = 2.0 * x[i];
    }
}

#[kernel(race_free)]
fn neighbours(x: &mut [f32]) {
    let i = grid::<1>();
    if i + 1 < x.len() {
        x[i] = x[i + 1];
    }
}

#[kernel(race_free, checked, cache = false)]
fn rows(out: &mut [u32], width: usize) {
    let (x, y) = grid::<2>();
    if x < width {
        out[y * width + x] += 1;
    }
}

#[kernel(race_free)]
fn wide(out: &mut [u32], width: usize) {
    let (x, y) = grid::<2>();
    if x < width && y * width + x < out.len() {
        out[y * width + x] += 1;
    }
}

#[test]
fn a_proved_kernel_runs() {
    let context = context();
    let _selected = context.select();
    let mut out = vec![0.0; 3];
    for _ in 0..2 {
        proved::launch((1, 32), &[1.0, 2.0, 3.0], &mut out).unwrap();
    }
    assert_eq!(out, [2.0, 4.0, 6.0]);
    proved::forall(3, &[1.0, 2.0, 3.0], &mut out).unwrap();
    let mut counts = vec![0; 6];
    rows::launch((1, (4, 2)), &mut counts, 3_usize).unwrap();
    assert_eq!(counts, [1; 6]);
}

#[test]
fn a_kernel_that_is_not_proved_is_an_error_of_the_launch() {
    let context = context();
    let _selected = context.select();
    let mut x = vec![0.0; 3];
    let error = neighbours::launch((1, 32), &mut x).unwrap_err();
    let text = error.to_string();
    let Error::Races { kernel, races, .. } = error else { panic!("{text}") };
    assert_eq!((kernel, races.places().len()), ("neighbours", 1));
    let place = &races.places()[0];
    let line = neighbours::definition().line;
    assert_eq!((place.access(), place.line()), ("write of `x`", line + 3));
    assert!(
        place.column() > 0 && text.contains(&format!("launches.rs:{line}: kernel `neighbours` is `race_free`")),
        "{text}"
    );
    assert!(text.contains("write of `x`: another thread that reads it at "), "{text}");
}

#[test]
fn a_launch_in_more_dimensions_is_refused() {
    let context = context();
    let _selected = context.select();
    let mut out = vec![0; 64];
    let error = wide::launch(((1, 1, 2), (4, 2)), &mut out, 4_usize).unwrap_err();
    assert!(error.to_string().contains('z') || error.to_string().contains("dimension"), "{error}");
    assert_eq!(out, [0; 64]);
}

#[test]
fn a_launch_whose_indices_could_wrap_is_refused() {
    let context = context();
    let _selected = context.select();
    let mut out = vec![0; 64];
    wide::launch((1, (4, 2)), &mut out, 4_usize).unwrap();
    assert_eq!(out.iter().sum::<u32>(), 8);
    let error = wide::launch((1, (4, 2)), &mut out, usize::MAX / 2).unwrap_err();
    assert!(matches!(error, Error::NotRaceFree { .. }), "{error}");
    assert!(error.to_string().contains("an index could wrap around"), "{error}");
}

/// Host memory that counts how often a launch binds it.
struct Counted(Vec<u32>, u32);

impl HostMemory for Counted {
    type Elem = u32;
    type Dim = Ix1;

    fn elements(&self) -> cuda_jit::Result<ArrayView1<'_, u32>> {
        self.0.elements()
    }
}

impl HostMemoryMut for Counted {
    fn elements_mut(&mut self) -> cuda_jit::Result<ArrayViewMut1<'_, u32>> {
        self.1 += 1;
        self.0.elements_mut()
    }
}

#[test]
fn a_refused_launch_copies_no_host_memory() {
    let context = context();
    let _selected = context.select();
    let mut out = Counted(vec![0; 64], 0);
    wide::launch((1, (4, 2)), InOut(&mut out), 4_usize).unwrap();
    assert_eq!((out.0.iter().sum::<u32>(), out.1), (8, 1));
    let error = wide::launch((1, (4, 2)), InOut(&mut out), usize::MAX / 2).unwrap_err();
    assert!(matches!(error, Error::NotRaceFree { .. }), "{error}");
    assert_eq!(out.1, 1);
}
