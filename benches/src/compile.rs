//! Time from the captured Rust to PTX, for the vector add.
//!
//! - `compile.vector_add.first_ms`: the first compilation of a process, the loading of LLVM's pages included;
//! - `compile.vector_add.process_ms`: that process as a whole, from its start to its end;
//! - `compile.vector_add.warm_ms`: each further compilation.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::figures::{median, print_measured, time};
use crate::kernels::vector_add;

const PROCESSES: usize = 11;

pub(crate) fn run() -> Result<()> {
    let (mut first, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..PROCESSES {
        let start = Instant::now();
        let output = Command::new(std::env::current_exe()?).arg("compile-once").output()?;
        whole.push(start.elapsed().as_secs_f64() * 1e3);
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8(output.stdout)?;
        first.push(printed.trim().parse().with_context(|| format!("`{printed}` is no time"))?);
    }
    print_measured("compile.vector_add.first_ms", median(first), "ms");
    print_measured("compile.vector_add.process_ms", median(whole), "ms");
    let warm = time(5, 41, || {
        black_box(vector_add::<f32>::compile_ptx((9, 0)).expect("it compiled before"));
    });
    print_measured("compile.vector_add.warm_ms", warm * 1e3, "ms");
    Ok(())
}

/// Compiles once and prints the time in milliseconds.
pub(crate) fn once() -> Result<()> {
    let start = Instant::now();
    let ptx = vector_add::<f32>::compile_ptx((9, 0))?;
    let time = start.elapsed();
    ensure!(ptx.contains(".entry vector_add_f32"), "no kernel in\n{ptx}");
    println!("{}", time.as_secs_f64() * 1e3);
    Ok(())
}
