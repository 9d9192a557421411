//! `clients`: the tests of other people's packages, run on the software device as a driver's library, and the table of their results.
//! It is no step of the gate: the packages come from PyPI and from crates.io, and a suite takes minutes.
//!
//! A suite that exceeds its limit is interrupted, and the tests that were not reached are counted. A failing test is no failure of
//! the command: the table has the reasons.

mod report;
mod results;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use tempfile::TempDir;

use crate::workspace::{self, output, scratch};
use crate::{setup, wheels};
use results::Results;

#[derive(Args)]
pub(crate) struct Options {
    /// Only the suites whose names contain this, such as `numba`; prints their table and writes nothing
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Seconds that each suite may take
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    limit: u32,
}

/// The tests of a package.
struct Suite {
    name: &'static str,
    /// The tests that are run, and those that are left out, with the reason.
    scope: &'static str,
    run: fn(&Device, u32) -> Result<Results>,
}

const SUITES: &[Suite] = &[
    Suite {
        name: "numba-cuda 0.30.4",
        scope: "the tests of the wheel, for CUDA 13, without the benchmarks and one that starts processes for ever where its module \
                has pytest's name",
        run: numba_cuda,
    },
    Suite {
        name: "tinygrad 0.11.0, NVRTC",
        scope: "the test files that run on one device and import neither PyTorch nor what the source distribution lacks",
        run: |device, limit| tinygrad(device, limit, "0"),
    },
    Suite {
        name: "tinygrad 0.11.0, PTX",
        scope: "the same, by its own PTX",
        run: |device, limit| tinygrad(device, limit, "1"),
    },
    Suite { name: "cudarc 0.19.10", scope: "its unit tests of the driver and of NVRTC, for CUDA 13", run: cudarc },
];

/// The fixture that numba-cuda's tests name and that is not in its wheel.
const NUMBA_FIXTURE: &str = "\
import pytest

@pytest.fixture(scope='class')
def initialize_from_pytest_config(request):
    request.cls._dump_failed_filechecks = False
";

fn numba_cuda(device: &Device, limit: u32) -> Result<Results> {
    fs::write(device.folder.path().join("numba_fixture.py"), NUMBA_FIXTURE)?;
    let mut tests = device.python(&[])?;
    // With pytest's default the folder of `numba.cuda` comes first in the search path, and is taken for the package `cuda`.
    tests.args(["-p", "numba_fixture", "--import-mode=importlib", "--continue-on-collection-errors"]);
    tests.args(["-k", "not test_multiprocessing and not benchmark", "--pyargs", "numba.cuda.tests"]);
    device.pytest(tests, limit)
}

/// The files of tinygrad's tests that run on one device of CUDA, and that import nothing which its source distribution lacks.
const TINYGRAD: &[&str] = &[
    "test_assign",
    "test_define_reg",
    "test_fusion_op",
    "test_gc",
    "test_jit_cases",
    "test_linalg",
    "test_memory_planner",
    "test_sample",
    "test_setitem",
    "test_softmax_fusion",
    "test_specific_conv",
    "test_tensor_data",
    "test_tensor_uop",
    "test_tensor_variable",
    "test_tiny",
    "test_to_numpy",
    "test_uops",
    "test_winograd",
];

fn tinygrad(device: &Device, limit: u32, ptx: &str) -> Result<Results> {
    let folder = wheels::source(&workspace::root().join("target/clients"), "tinygrad==0.11.0")?;
    let mut tests = device.python(&[&folder])?;
    tests.env("CUDA", "1").env("PTX", ptx).env("CACHELEVEL", "0").current_dir(&folder);
    tests.args(TINYGRAD.iter().map(|file| format!("test/{file}.py")));
    device.pytest(tests, limit)
}

/// Tests the crate in a copy of its source, where cargo may write.
fn cudarc(device: &Device, limit: u32) -> Result<Results> {
    let metadata = output(workspace::cargo().args(["metadata", "--format-version=1"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).context("cargo metadata prints no JSON")?;
    let packages = metadata["packages"].as_array().context("cargo metadata prints no packages")?;
    let found = packages.iter().find(|package| package["name"] == "cudarc" && package["version"] == "0.19.10");
    let manifest =
        found.and_then(|package| package["manifest_path"].as_str()).context("the workspace has no cudarc 0.19.10")?;
    let source = Path::new(manifest).parent().context("a manifest is in a folder")?;
    let copy = workspace::root().join("target/clients/cudarc");
    fs::create_dir_all(&copy)?;
    output(Command::new("cp").arg("-r").arg(source.join(".")).arg(&copy))?;
    // The package is not one of this workspace.
    let manifest = fs::read_to_string(copy.join("Cargo.toml"))?;
    if !manifest.contains("[workspace]") {
        fs::write(copy.join("Cargo.toml"), format!("{manifest}\n[workspace]\n"))?;
    }
    let features = "std,driver,nvrtc,f16,dynamic-loading,cuda-13000";
    let cargo = |command: &mut Command| -> Command {
        let mut cargo = std::mem::replace(command, Command::new("true"));
        cargo.args(["test", "--lib", "--no-default-features", "--features", features]).current_dir(&copy);
        cargo
    };
    output(cargo(&mut workspace::cargo()).arg("--no-run"))?;
    let mut tests = cargo(&mut device.limited("cargo", limit));
    tests.args(["--", "--test-threads=1"]);
    let text = device.text(tests)?;
    Ok(results::of_rust(&text))
}

/// The software device, as a client finds it.
struct Device {
    /// A folder with links to the library under the names of NVIDIA's, and Python's search path.
    folder: TempDir,
    nvrtc: PathBuf,
}

impl Device {
    fn new() -> Result<Device> {
        let library = workspace::software_device()?;
        let (numba, testers) = (setup::numba_cuda()?, setup::testers()?);
        let folder = scratch("clients")?;
        for name in ["libcuda.so", "libcuda.so.1"] {
            std::os::unix::fs::symlink(&library, folder.path().join(name))?;
        }
        let nvrtc = numba.join("nvidia/cu13/lib");
        std::os::unix::fs::symlink(nvrtc.join("libnvrtc.so.13"), folder.path().join("libnvrtc.so"))?;
        wheels::customize(folder.path(), &[&numba, &testers])?;
        Ok(Device { folder, nvrtc })
    }

    /// A program that is interrupted after a number of seconds, and that finds this device as its driver.
    fn limited(&self, program: &str, limit: u32) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--signal=INT", "--kill-after=30", &limit.to_string(), program]);
        let folders = std::env::join_paths([self.folder.path(), &self.nvrtc]).unwrap_or_default();
        command.env("LD_LIBRARY_PATH", folders).env("CUDA_SIM_LOG", "off");
        command
    }

    /// Arguments of pytest, whose packages are those of the device's folder and of `more`.
    fn python(&self, more: &[&Path]) -> Result<Command> {
        let mut command = Command::new("pytest");
        let path = std::iter::once(self.folder.path()).chain(more.iter().copied());
        command.env("PYTHONPATH", std::env::join_paths(path).context("a folder's name has a colon")?);
        Ok(command)
    }

    /// Runs pytest with these arguments, environment and folder.
    fn pytest(&self, arguments: Command, limit: u32) -> Result<Results> {
        let report = self.folder.path().join("report.xml");
        let _ = fs::remove_file(&report);
        let mut python = self.limited("python3", limit);
        python.args(["-m", "pytest", "--tb=line", "-p", "no:cacheprovider"]).arg("--junit-xml").arg(&report);
        python.args(arguments.get_args());
        for (name, value) in arguments.get_envs() {
            python.env(name, value.unwrap_or_default());
        }
        let folder = arguments.get_current_dir().unwrap_or(self.folder.path());
        python.current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1");
        let text = self.text(python)?;
        let report =
            fs::read_to_string(&report).with_context(|| format!("pytest wrote no report:\n{}", results::end(&text)))?;
        Ok(results::of_pytest(&report, &text))
    }

    /// Runs tests, of which some may fail, and returns what they print.
    fn text(&self, mut tests: Command) -> Result<String> {
        let output = tests.output().with_context(|| format!("cannot run {:?}", tests.get_program()))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let chosen = |suite: &&Suite| options.only.as_ref().is_none_or(|name| suite.name.contains(name.as_str()));
    let suites: Vec<&Suite> = SUITES.iter().filter(chosen).collect();
    ensure!(
        !suites.is_empty(),
        "no suite has this name; there are {}",
        SUITES.iter().map(|suite| suite.name).collect::<Vec<_>>().join("; ")
    );
    let device = Device::new()?;
    let mut all = Vec::new();
    for suite in suites {
        println!("{}: {}", suite.name, suite.scope);
        let results = (suite.run)(&device, options.limit)
            .with_context(|| format!("the tests of {} cannot be run", suite.name))?;
        println!("{results}");
        all.push((suite.name, suite.scope, results));
    }
    let text = report::text(&all, options.limit);
    match options.only {
        Some(_) => println!("{text}"),
        None => fs::write(workspace::root().join("docs/clients.md"), text).context("cannot write docs/clients.md")?,
    }
    Ok(())
}
