//! Who compiles the ten kernels: this crate, Numba and NVRTC, each in a process that is asked for times.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::{ALL, Kernel, nvrtc::Nvrtc};
use crate::serve::{Run, Server, serve};

/// Where the wheels have NVIDIA's libraries.
const LIBRARIES: &str = "nvidia/cu13/lib";
/// Where the packages are, the kernels in Python, and the loop that answers questions.
const PYTHON: &str = concat!(
    include_str!("../../python/packages.py"),
    include_str!("../../python/kernels.py"),
    include_str!("../../python/compile.py"),
);

/// The kernel of that name.
pub(crate) fn find(name: &str) -> Result<&'static Kernel> {
    ALL.iter().find(|kernel| kernel.name == name).with_context(|| format!("there is no kernel `{name}`"))
}

/// The process that compiles with this crate.
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

/// The process that compiles with NVRTC, from the folder of Numba's wheels.
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
    // Nothing is to be written into the folder of the wheels.
    python.env("PYTHONDONTWRITEBYTECODE", "1").args(["-c", PYTHON]).arg(wheels);
    Server::of(&mut python).context("install Python 3.10 to 3.13")
}
