//! Time from the captured Rust to PTX, for the vector add.
//!
//! - `compile.vector_add.first_ms`: the first compilation of a process, the loading of LLVM's pages included;
//! - `compile.vector_add.process_ms`: that process as a whole, from its start to its end;
//! - `compile.vector_add.warm_ms`: each further compilation;
//! - `compile.vector_add.cached_ms`: in a fresh process, from the call of a launch to the PTX from the disk cache in the
//!   driver's hands; `.cached_process_ms`: that process as a whole.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use cuda_driver::Driver;
use cuda_jit::Kernel as _;
use cuda_jit::cache::Stats;

use crate::figures::{median, print_measured, time};
use crate::kernels::vector_add;
use crate::nothing;

const PROCESSES: usize = 11;

pub(crate) fn run() -> Result<()> {
    let (first, whole) = processes(Command::new(std::env::current_exe()?).arg("compile-once"))?;
    print_measured("compile.vector_add.first_ms", first, "ms");
    print_measured("compile.vector_add.process_ms", whole, "ms");
    let folder = tempfile::tempdir()?;
    let mut cached = Command::new(std::env::current_exe()?);
    cached.arg("compile-cached").env("CUDA_JIT_CACHE_DIR", folder.path());
    ensure!(!cached.output()?.status.success(), "the first process cannot find what none has compiled");
    let (cached, whole) = processes(&mut cached)?;
    print_measured("compile.vector_add.cached_ms", cached, "ms");
    print_measured("compile.vector_add.cached_process_ms", whole, "ms");
    let warm = time(5, 41, || {
        black_box(vector_add::<f32>::compile_ptx((9, 0)).expect("it compiled before"));
    });
    print_measured("compile.vector_add.warm_ms", warm * 1e3, "ms");
    Ok(())
}

/// Runs processes that print a time in milliseconds; the medians of what they print and of what they took.
fn processes(command: &mut Command) -> Result<(f64, f64)> {
    let (mut printed, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..PROCESSES {
        let start = Instant::now();
        let output = command.output()?;
        whole.push(start.elapsed().as_secs_f64() * 1e3);
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout)?;
        printed.push(text.trim().parse().with_context(|| format!("`{text}` is no time"))?);
    }
    Ok((median(printed), median(whole)))
}

/// Launches a kernel that another process has compiled, and prints the time to its PTX in milliseconds. Fails if it was
/// compiled all the same, after which it is there for the next process.
pub(crate) fn cached() -> Result<()> {
    let context = Driver::new(nothing::api())?.device(0)?.primary_context()?;
    let mut arrays = [(); 3].map(|()| cuda_mem::from_slice(&context, &[1.0_f32; 32]));
    let [Ok(x), Ok(y), Ok(out)] = &mut arrays else { bail!("the driver that does nothing refuses memory") };
    let start = Instant::now();
    vector_add::launch((1, 32), &*x, &*y, out)?;
    let loaded = nothing::loaded().context("no module was loaded")?;
    let stats = vector_add::<f32>::stats();
    ensure!(stats == Stats { hits: 1, misses: 0 }, "the kernel was compiled: {stats:?}");
    ensure!(!cuda_llvm::is_initialized(), "LLVM was initialised for a kernel from the cache");
    println!("{}", (loaded - start).as_secs_f64() * 1e3);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Each process starts anew: what the first compiles the second finds, without LLVM, which [`cached`] checks.
    #[test]
    fn a_kernel_from_the_cache_needs_no_llvm() {
        const CHILD: &str = "CUDA_BENCH_TEST_CHILD";
        if std::env::var_os(CHILD).is_some() {
            return cached().unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "compile::tests::a_kernel_from_the_cache_needs_no_llvm"]);
        child.env(CHILD, "1").env("CUDA_JIT_CACHE_DIR", folder.path());
        let mut run = || child.output().unwrap();
        let first = run();
        let text = String::from_utf8_lossy(&first.stdout);
        assert!(!first.status.success() && text.contains("misses: 1"), "{text}");
        let second = run();
        assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stdout));
    }
}
