//! The compilers that are compared on the suite: this crate, Numba and NVRTC, each in a process that measures on request.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::{ALL, Kernel, nvrtc::Nvrtc};
use crate::serve::{Run, Server, serve};

/// The folder of NVIDIA's libraries in the wheels.
const LIBRARIES: &str = "nvidia/cu13/lib";
/// The Python program: the folder of packages, the kernels, and the loop that serves requests.
const PYTHON: &str = concat!(
    include_str!("../../python/packages.py"),
    include_str!("../../python/kernels.py"),
    include_str!("../../python/compile.py"),
);

/// Finds the kernel with this name.
pub(crate) fn find(name: &str) -> Result<&'static Kernel> {
    ALL.iter().find(|kernel| kernel.name == name).with_context(|| format!("there is no kernel `{name}`"))
}

/// Runs the process that compiles with this crate.
pub(crate) fn serve_ours() -> Result<()> {
    serve(|name| {
        let kernel = find(name)?;
        let run: Run = Box::new(|| {
            let ptx = (kernel.ptx)()?;
            ensure!(ptx.contains(".target sm_90"), "no PTX: {ptx}");
            Ok(())
        });
        Ok(run)
    })
}

/// Runs the process that compiles with NVRTC from the folder of Numba's wheels.
pub(crate) fn serve_nvrtc(wheels: &Path) -> Result<()> {
    let nvrtc = std::rc::Rc::new(Nvrtc::open(&wheels.join(LIBRARIES))?);
    serve(|name| {
        let (source, nvrtc) = (find(name)?.cuda(), nvrtc.clone());
        let run: Run = Box::new(move || {
            let ptx = nvrtc.ptx(&source)?;
            ensure!(ptx.contains(".target sm_90"), "no PTX: {ptx}");
            Ok(())
        });
        Ok(run)
    })
}

/// Starts the process that compiles with Numba.
pub(crate) fn numba(wheels: &Path) -> Result<Server> {
    let mut python = Command::new("python3");
    // Python must not write bytecode into the folder of the wheels.
    python.env("PYTHONDONTWRITEBYTECODE", "1").args(["-c", PYTHON]).arg(wheels);
    Server::of(&mut python).context("install Python 3.10 to 3.13")
}
