//! The kernels on pocl, in OpenCL C. [`VARIABLES`] limit its process to one worker, like ours.

use anyhow::{Result, bail};

use super::opencl::{Argument, Buffer, OpenCl, Program};
use super::work::{A, N, SIDE, check, product, ramp, sums};
use crate::kernels::{BLOCK, TILE};
use crate::serve::{Run, serve};

/// The names of our kernels that pocl has too.
pub(super) const KERNELS: &[&str] = &["saxpy", "matmul_naive", "reduction", "shuffles", "matmul_tiled"];
/// The variables that limit pocl to one worker thread, for its different versions.
pub(super) const VARIABLES: &[(&str, &str)] = &[("POCL_MAX_PTHREAD_COUNT", "1"), ("POCL_CPU_MAX_CU_COUNT", "1")];
/// The command that installs pocl.
pub(super) const PACKAGES: &str = "apt install pocl-opencl-icd ocl-icd-libopencl1";

const SOURCE: &str = include_str!("kernels.cl");

/// Runs the process that measures on pocl; without pocl it returns the reason for every request.
pub(crate) fn run() -> Result<()> {
    let built = build();
    serve(|name| match &built {
        Ok((opencl, program)) => prepare(opencl, program, name),
        Err(error) => bail!("{error:#}"),
    })
}

fn build() -> Result<(&'static OpenCl, Program<'static>)> {
    let opencl: &'static OpenCl = Box::leak(Box::new(OpenCl::open("Portable Computing Language")?));
    Ok((opencl, opencl.build(SOURCE, &format!("-cl-std=CL1.2 -DBLOCK={BLOCK} -DTILE={TILE}"))?))
}

fn prepare(opencl: &'static OpenCl, program: &Program<'static>, name: &str) -> Result<Run> {
    let length = Argument::Long(N as u64);
    match name {
        "saxpy" => {
            let (x, y) = (ramp(N, 1009), ramp(N, 499));
            let (dx, dy) = (opencl.buffer(&x)?, opencl.buffer(&y)?);
            let arguments = [Argument::Float(A), Argument::Memory(&dx), Argument::Memory(&dy), length];
            let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| A * x + y).collect();
            ready(opencl, program, name, (&arguments, &[N], &[BLOCK]), &dy, &expected)
        }
        "reduction" | "shuffles" => {
            let x = ramp(N, 17);
            let expected = if name == "reduction" { sums(&x, BLOCK) } else { sums(&x, 32) };
            let (dx, out) = (opencl.buffer(&x)?, opencl.buffer(&vec![-1.0; expected.len()])?);
            let arguments = [Argument::Memory(&dx), Argument::Memory(&out), length];
            ready(opencl, program, name, (&arguments, &[N], &[BLOCK]), &out, &expected)
        }
        "matmul_naive" | "matmul_tiled" => {
            let (a, b) = (ramp(SIDE * SIDE, 7), ramp(SIDE * SIDE, 5));
            let (da, db, dc) = (opencl.buffer(&a)?, opencl.buffer(&b)?, opencl.buffer(&vec![0.0; SIDE * SIDE])?);
            let side = Argument::Long(SIDE as u64);
            let arguments = [Argument::Memory(&da), Argument::Memory(&db), Argument::Memory(&dc), side];
            ready(opencl, program, name, (&arguments, &[SIDE; 2], &[TILE; 2]), &dc, &product(&a, &b, SIDE))
        }
        other => bail!("there is no kernel `{other}`"),
    }
}

/// Runs a kernel once, checks the result, and returns its run.
fn ready(
    opencl: &'static OpenCl,
    program: &Program<'static>,
    name: &str,
    (arguments, threads, block): (&[Argument<'_>], &[usize], &[usize]),
    out: &Buffer,
    expected: &[f32],
) -> Result<Run> {
    let kernel = program.kernel(name, arguments, threads, block)?;
    kernel.run()?;
    check(name, &opencl.read(out)?, expected)?;
    Ok(Box::new(move || kernel.run()))
}
