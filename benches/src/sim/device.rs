//! The kernels on the software device, and the loops in Rust that they are compared with.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Result, bail};
use cuda_driver::{Context, Driver};
use cuda_mem::{DeviceArray, from_slice};
use ndarray::{Array2, Ix1, Ix2};

use super::work::{A, N, SIDE, check, product, ramp, sums};
use crate::kernels::{
    BLOCK, TILE, empty, matmul_naive, matmul_tiled, nested, reduction, roots, saxpy, shuffles, shuffles_loop,
    vector_add,
};
use crate::serve::{Run, serve};

/// The kernels that are compared with a loop in Rust.
pub(super) const IN_RUST: &[&str] = &["vector_add", "saxpy", "roots"];

/// Runs the process that measures on the software device.
pub(crate) fn run() -> Result<()> {
    let context = context()?;
    let _selected = context.select();
    serve(|name| prepare(&context, name))
}

/// The software device's context.
pub(super) fn context() -> Result<Context> {
    Ok(Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?)
}

fn prepare(context: &Context, name: &str) -> Result<Run> {
    match name {
        "empty_launch" => wait(context, || empty::launch((1, 1))),
        "vector_add" => add(context, N),
        "vector_add_100000" => add(context, 100_000),
        "vector_add_rust" => Ok(add_in_rust()),
        "saxpy" => axpy(context),
        "saxpy_rust" => Ok(axpy_in_rust()),
        "reduction" => grouped(context, name, BLOCK, |grid, x, out| reduction::launch(grid, x, out)),
        "shuffles" => grouped(context, name, 32, |grid, x, out| shuffles::launch(grid, x, out)),
        "shuffles_loop" => grouped(context, name, 32, |grid, x, out| shuffles_loop::launch(grid, 16, x, out)),
        "nested" => turned(context),
        "roots" => found(context),
        "roots_rust" => Ok(found_in_rust()),
        "matmul_naive" => multiply(context, SIDE, |grid, a, b, c| matmul_naive::launch((grid, (TILE, TILE)), a, b, c)),
        "matmul_tiled" => tiled(context, SIDE),
        "matmul_tiled_64" => tiled(context, 64),
        other => bail!("there is no kernel `{other}`"),
    }
}

/// Launches once, and returns a run that launches and waits.
fn wait(context: &Context, mut launch: impl FnMut() -> cuda_jit::Result<()> + 'static) -> Result<Run> {
    let context = context.clone();
    let mut run: Run = Box::new(move || {
        launch()?;
        Ok(context.synchronize()?)
    });
    run()?;
    Ok(run)
}

fn add(context: &Context, n: usize) -> Result<Run> {
    let (x, y) = (ramp(n, 1009), ramp(n, 499));
    let (dx, dy) = (from_slice(context, &x)?, from_slice(context, &y)?);
    let mut out = from_slice(context, &vec![-1.0_f32; n])?;
    let grid = (n.div_ceil(BLOCK), BLOCK);
    vector_add::launch(grid, &dx, &dy, &mut out)?;
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    check("vector_add", &out.copy_to_host()?.to_vec(), &expected)?;
    wait(context, move || vector_add::launch(grid, &dx, &dy, &mut out))
}

fn axpy(context: &Context) -> Result<Run> {
    let (x, y) = (ramp(N, 1009), ramp(N, 499));
    let (dx, mut dy) = (from_slice(context, &x)?, from_slice(context, &y)?);
    let grid = (N.div_ceil(BLOCK), BLOCK);
    saxpy::launch(grid, A, &dx, &mut dy)?;
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| A * x + y).collect();
    check("saxpy", &dy.copy_to_host()?.to_vec(), &expected)?;
    wait(context, move || saxpy::launch(grid, A, &dx, &mut dy))
}

/// A kernel that sums each `group` elements of its input.
fn grouped(
    context: &Context,
    name: &str,
    group: usize,
    mut launch: impl FnMut((usize, usize), &Vector, &mut Vector) -> cuda_jit::Result<()> + 'static,
) -> Result<Run> {
    let x = ramp(N, 17);
    let expected = sums(&x, group);
    let (dx, mut out) = (from_slice(context, &x)?, from_slice(context, &vec![-1.0_f32; expected.len()])?);
    let grid = (N / BLOCK, BLOCK);
    launch(grid, &dx, &mut out)?;
    check(name, &out.copy_to_host()?.to_vec(), &expected)?;
    wait(context, move || launch(grid, &dx, &mut out))
}

/// The iterations of the two loops of `nested`.
const TURNS: [u32; 2] = [3, 3];

fn turned(context: &Context) -> Result<Run> {
    let x = ramp(N, 1009);
    let by = TURNS.iter().product::<u32>() as usize;
    let expected: Vec<f32> =
        x.chunks(BLOCK).flat_map(|block| block.iter().cycle().skip(by).take(BLOCK)).copied().collect();
    let (dx, mut out) = (from_slice(context, &x)?, from_slice(context, &vec![-1.0_f32; N])?);
    let grid = (N / BLOCK, BLOCK);
    nested::launch(grid, TURNS, &dx, &mut out)?;
    check("nested", &out.copy_to_host()?.to_vec(), &expected)?;
    wait(context, move || nested::launch(grid, TURNS, &dx, &mut out))
}

/// The number of elements in a tree, in which each element is the parent of the next.
const TREE: usize = 16;

fn parents() -> Vec<u32> {
    (0..N).map(|i| if i.is_multiple_of(TREE) { i as u32 } else { i as u32 - 1 }).collect()
}

fn found(context: &Context) -> Result<Run> {
    let expected: Vec<f32> = (0..N).map(|i| (i / TREE * TREE) as f32).collect();
    let (mut parents, mut out) = (from_slice(context, &parents())?, from_slice(context, &vec![-1.0_f32; N])?);
    let grid = (N / BLOCK, BLOCK);
    roots::launch(grid, &mut parents, &mut out)?;
    check("roots", &out.copy_to_host()?.to_vec(), &expected)?;
    wait(context, move || roots::launch(grid, &mut parents, &mut out))
}

type Vector = DeviceArray<f32, Ix1>;
type Matrix = DeviceArray<f32, Ix2>;

fn multiply(
    context: &Context,
    side: usize,
    mut launch: impl FnMut((usize, usize), &Matrix, &Matrix, &mut Matrix) -> cuda_jit::Result<()> + 'static,
) -> Result<Run> {
    let (a, b) = (ramp(side * side, 7), ramp(side * side, 5));
    let square = |values: &[f32]| Array2::from_shape_vec((side, side), values.to_vec());
    let (da, db) = (cuda_mem::to_device(context, &square(&a)?)?, cuda_mem::to_device(context, &square(&b)?)?);
    let mut dc = cuda_mem::zeros::<f32, _>(context, (side, side))?;
    let grid = (side / TILE, side / TILE);
    launch(grid, &da, &db, &mut dc)?;
    check("the product", &dc.copy_to_host()?.into_raw_vec_and_offset().0, &product(&a, &b, side))?;
    wait(context, move || launch(grid, &da, &db, &mut dc))
}

fn tiled(context: &Context, side: usize) -> Result<Run> {
    multiply(context, side, |grid, a, b, c| matmul_tiled::<TILE>::launch((grid, (TILE, TILE)), a, b, c))
}

/// `out = x + y` in its fastest form in Rust: without bounds checks, so that it is vectorised.
fn add_in_rust() -> Run {
    let (x, y) = (ramp(N, 1009), ramp(N, 499));
    // The memory is written once, so that no run takes page faults.
    let mut out = vec![-1.0_f32; N];
    Box::new(move || {
        for ((out, x), y) in black_box(&mut out).iter_mut().zip(black_box(&x)).zip(black_box(&y)) {
            *out = x + y;
        }
        Ok(())
    })
}

/// `y += a * x` in its fastest form in Rust.
fn axpy_in_rust() -> Run {
    let (x, mut y) = (ramp(N, 1009), ramp(N, 499));
    Box::new(move || {
        let a = black_box(A);
        for (y, x) in black_box(&mut y).iter_mut().zip(black_box(&x)) {
            *y += a * x;
        }
        Ok(())
    })
}

/// The roots by atomic loads in Rust.
fn found_in_rust() -> Run {
    let parents: Vec<AtomicU32> = parents().into_iter().map(AtomicU32::new).collect();
    let mut out = vec![-1.0_f32; N];
    Box::new(move || {
        let parents = black_box(&parents);
        for (i, out) in black_box(&mut out).iter_mut().enumerate() {
            let mut at = i as u32;
            loop {
                let parent = parents[at as usize].load(Ordering::Relaxed);
                if parent == at {
                    break;
                }
                at = parent;
            }
            *out = at as f32;
        }
        Ok(())
    })
}
