//! `setup`: downloads the parts of NVIDIA's toolkit that development uses from PyPI, into one folder in conda's layout.
//!
//! These are headers (for bindings), ptxas, nvcc and nvdisasm (for checks and comparisons), libdevice, and libclang for bindgen.
//! The library and its users need none of it. Other tasks call [`toolkit`]. The file also lists the compilers and clients that the
//! software device's tests run. [`crate::wheels`] unpacks wheels into a folder.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use cuda_sys::toolkit::Environment;

use crate::next_llvm;
use crate::wheels::{SITE, Wheels};
use crate::workspace::{output, scratch};

/// The toolkit for bindings, checks and comparisons. nvdisasm exists as a wheel from 13.2 on, and reads the output of 13.0.
const TOOLKIT: Wheels = Wheels {
    name: "toolkit",
    wheels: &[
        "nvidia-cuda-runtime==13.0.*",
        "nvidia-cuda-profiler-api==13.0.*",
        "nvidia-cuda-crt==13.0.*",
        "nvidia-cuda-nvcc==13.0.*",
        "nvidia-nvvm==13.0.*",
        "nvidia-cuda-nvdisasm==13.2.*",
        "libclang==18.1.1",
    ],
    megabytes: 300,
    places: &[
        ("nvidia/cu13/include", "targets/x86_64-linux/include"),
        ("nvidia/cu13/lib", "targets/x86_64-linux/lib"),
        ("nvidia/cu13/bin", "bin"),
        ("nvidia/cu13/nvvm", "nvvm"),
        ("clang/native", "libclang"),
    ],
};

/// The libraries of CUDA 12 and 13 that compile at run time, and the headers of both, in the layouts that their clients expect.
/// The software device's tests, the tests of cuda-sys' tables and the comparison of the bindings use them.
const COMPILERS: Wheels = Wheels {
    name: "compilers",
    wheels: &[
        "nvidia-cuda-nvrtc==13.0.88",
        "nvidia-cuda-runtime==13.0.96",
        "nvidia-cuda-cccl==13.0.85",
        "nvidia-cuda-crt==13.0.88",
        "nvidia-cuda-profiler-api==13.0.85",
        "nvidia-nvjitlink==13.0.88",
        "nvidia-nvml-dev==13.0.87",
        "nvidia-nvtx==13.0.85",
        "nvidia-cuda-nvrtc-cu12==12.9.86",
        "nvidia-cuda-runtime-cu12==12.9.79",
        "nvidia-cuda-cccl-cu12==12.9.27",
        "nvidia-cuda-nvcc-cu12==12.9.86",
        "nvidia-cuda-profiler-api-cu12==12.9.79",
        "nvidia-nvjitlink-cu12==12.9.86",
        "nvidia-nvml-dev-cu12==12.9.79",
        "nvidia-nvtx-cu12==12.9.79",
    ],
    megabytes: 315,
    places: &[
        ("nvidia/cu13/include", "cuda13/include"),
        ("nvidia/cu13/lib", "cuda13/lib64"),
        ("nvidia/cuda_runtime/include", "cuda12/include"),
        ("nvidia/cuda_cccl/include", "cuda12/include/cccl"),
        ("nvidia/cuda_nvcc/include/crt", "cuda12/include/crt"),
        ("nvidia/cuda_profiler_api/include/cudaProfiler.h", "cuda12/include/cudaProfiler.h"),
        ("nvidia/cuda_nvrtc/include/nvrtc.h", "cuda12/include/nvrtc.h"),
        ("nvidia/nvjitlink/include/nvJitLink.h", "cuda12/include/nvJitLink.h"),
        ("nvidia/nvml_dev/include/nvml.h", "cuda12/include/nvml.h"),
        ("nvidia/nvtx/include/nvtx3", "cuda12/include/nvtx3"),
        ("nvidia/cuda_runtime/lib", "cuda12/lib64"),
        ("nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "cuda12/lib64/libnvrtc.so.12"),
        ("nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9", "cuda12/lib64/libnvrtc-builtins.so.12.9"),
        ("nvidia/nvjitlink/lib/libnvJitLink.so.12", "cuda12/lib64/libnvJitLink.so.12"),
        ("nvidia/cuda_nvcc/nvvm/libdevice", "cuda12/nvvm/libdevice"),
        // Numba needs a version in the name.
        ("nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so", "cuda12/nvvm/lib64/libnvvm.so.4"),
    ],
};

/// The headers of the newest CUDA, from which cuda-sys' bindings are generated.
const HEADERS: Wheels = Wheels {
    name: "headers/13.5",
    wheels: &[
        "nvidia-cuda-runtime==13.5.37",
        "nvidia-cuda-crt==13.5.37",
        "nvidia-cuda-profiler-api==13.5.25",
        "nvidia-cuda-nvrtc==13.5.37",
        "nvidia-nvjitlink==13.5.37",
        "nvidia-nvml-dev==13.5.37",
        "nvidia-nvtx==13.5.25",
        "nvidia-nccl-cu13==2.32.3#nvidia/nccl/include/nccl.h",
    ],
    megabytes: 130,
    places: &[("nvidia/cu13/include", "include"), ("nvidia/nccl/include/nccl.h", "include/nccl.h")],
};

/// The headers of the driver and the runtime of each older CUDA, the oldest first.
const OLDER: [Wheels; 14] = [
    twelve("headers/12.0", &["nvidia-cuda-runtime-cu12==12.0.146", "nvidia-cuda-nvcc-cu12==12.0.*"], 21),
    twelve("headers/12.1", &["nvidia-cuda-runtime-cu12==12.1.105", "nvidia-cuda-nvcc-cu12==12.1.*"], 21),
    twelve("headers/12.2", &["nvidia-cuda-runtime-cu12==12.2.140", "nvidia-cuda-nvcc-cu12==12.2.*"], 22),
    twelve("headers/12.3", &["nvidia-cuda-runtime-cu12==12.3.101", "nvidia-cuda-nvcc-cu12==12.3.*"], 23),
    twelve("headers/12.4", &["nvidia-cuda-runtime-cu12==12.4.127", "nvidia-cuda-nvcc-cu12==12.4.*"], 23),
    twelve("headers/12.5", &["nvidia-cuda-runtime-cu12==12.5.82", "nvidia-cuda-nvcc-cu12==12.5.*"], 23),
    twelve("headers/12.6", &["nvidia-cuda-runtime-cu12==12.6.77", "nvidia-cuda-nvcc-cu12==12.6.*"], 22),
    twelve("headers/12.8", &["nvidia-cuda-runtime-cu12==12.8.90", "nvidia-cuda-nvcc-cu12==12.8.*"], 41),
    twelve("headers/12.9", &["nvidia-cuda-runtime-cu12==12.9.79", "nvidia-cuda-nvcc-cu12==12.9.*"], 44),
    thirteen("headers/13.0", &["nvidia-cuda-runtime==13.0.96", "nvidia-cuda-crt==13.0.*"]),
    thirteen("headers/13.1", &["nvidia-cuda-runtime==13.1.80", "nvidia-cuda-crt==13.1.*"]),
    thirteen("headers/13.2", &["nvidia-cuda-runtime==13.2.86", "nvidia-cuda-crt==13.2.*"]),
    thirteen("headers/13.3", &["nvidia-cuda-runtime==13.3.29", "nvidia-cuda-crt==13.3.*"]),
    thirteen("headers/13.4", &["nvidia-cuda-runtime==13.4.92", "nvidia-cuda-crt==13.4.*"]),
];

/// The compiler's wheel has `crt/host_defines.h`, which the runtime's headers include.
const fn twelve(name: &'static str, wheels: &'static [&'static str], megabytes: u32) -> Wheels {
    let places = &[("nvidia/cuda_runtime/include", "include"), ("nvidia/cuda_nvcc/include/crt", "include/crt")];
    Wheels { name, wheels, megabytes, places }
}

const fn thirteen(name: &'static str, wheels: &'static [&'static str]) -> Wheels {
    Wheels { name, wheels, megabytes: 3, places: &[("nvidia/cu13/include", "include")] }
}

/// Numba with its built-in CUDA target, for any driver that `NUMBA_CUDA_DRIVER` names, and its simulator.
const NUMBA: Wheels = Wheels {
    name: "numba",
    wheels: &["numba==0.61.2", "llvmlite==0.44.0", "numpy==2.2.6"],
    megabytes: 65,
    places: &[],
};

/// The program that builds the example package for Python.
const MATURIN: Wheels = Wheels { name: "maturin", wheels: &["maturin==1.16.0"], megabytes: 9, places: &[] };

/// The headers of CUDA 13.0 with cuRAND's, which the crate cuda-core reads.
const CURAND: Wheels = Wheels {
    name: "headers/curand",
    wheels: &["nvidia-cuda-runtime==13.0.96", "nvidia-cuda-crt==13.0.88", "nvidia-curand==10.4.0.35"],
    megabytes: 63,
    places: &[("nvidia/cu13/include", "include")],
};

/// The CUDA target for Numba that NVIDIA maintains, for CUDA 13, and NVRTC, which it needs. Compile times are compared with it; it
/// needs no driver for that.
const NUMBA_CUDA: Wheels = Wheels {
    name: "numba-cuda",
    wheels: &[
        "numba-cuda==0.30.4",
        "numba==0.61.2",
        "llvmlite==0.44.0",
        "numpy==2.2.6",
        "packaging==25.0",
        "cuda-bindings==13.0.3",
        "cuda-core==0.5.1",
        "cuda-pathfinder==1.4.4",
        "nvidia-nvvm==13.0.88",
        "nvidia-cuda-nvrtc==13.0.88",
        "nvidia-cuda-runtime==13.0.96",
    ],
    megabytes: 230,
    places: &[],
};

/// The programs that run the tests of other people's packages, and what those tests import.
const TESTERS: Wheels = Wheels {
    name: "testers",
    wheels: &[
        "pytest==9.2.0",
        "iniconfig==2.3.1",
        "pluggy==1.7.0",
        "filecheck==1.0.3",
        "psutil==7.1.3",
        "cffi==2.0.0",
        "pycparser==2.23",
        "ml-dtypes==0.5.4",
        // headers that kernels of numba-cuda include
        "nvidia-cuda-cccl==13.0.85",
    ],
    megabytes: 11,
    places: &[],
};

#[derive(Args)]
pub(crate) struct Options {
    /// Install to this folder instead of `target/toolkit`
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Also download the peers of bindings, tests and benchmarks: headers of the newest CUDA, headers and libraries of 12.9
    /// and 13.0, Numba and numba-cuda
    #[arg(long)]
    all: bool,
    /// Compile, assemble and disassemble a kernel with the toolkit
    #[arg(long)]
    verify: bool,
}

/// An installed toolkit.
pub(crate) struct Toolkit {
    root: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let toolkit = match &options.dir {
        Some(dir) => install(std::path::absolute(dir)?)?,
        None => toolkit()?,
    };
    println!("toolkit   {}", toolkit.root().display());
    println!("headers   {}", toolkit.include()?.display());
    println!("libdevice {}", toolkit.libdevice()?.display());
    println!("ptxas     {}", toolkit.tool("ptxas")?.display());
    println!("nvcc      {}", toolkit.tool("nvcc")?.display());
    println!("nvdisasm  {}", toolkit.tool("nvdisasm")?.display());
    println!("libclang  {}", toolkit.libclang().display());
    if let Some(line) = export(&toolkit, &Environment::from_process()) {
        println!("\nPrograms find it by\n  {line}");
    }
    if options.verify {
        verify(&toolkit)?;
    }
    if options.all {
        for wheels in [&HEADERS, &COMPILERS, &NUMBA, &NUMBA_CUDA] {
            let dir = wheels.default_dir();
            wheels.install(&dir)?;
            println!("{:<10} {}", wheels.name, dir.display());
        }
        for release in next_llvm::RELEASES {
            match release.download() {
                Ok(library) => println!("LLVM {}    {}", release.major, library.display()),
                Err(why) => println!("LLVM {}    is not available here: {why:#}", release.major),
            }
        }
    }
    Ok(())
}

/// The shell's line that makes programs find the toolkit; `None` if they find all that they use without it.
fn export(toolkit: &Toolkit, environment: &Environment) -> Option<String> {
    let tools = ["ptxas", "nvdisasm"].map(|tool| environment.tool(tool).is_ok());
    let finds_all = environment.libdevice().is_ok() && tools == [true; 2];
    (!finds_all).then(|| format!("export CUDA_HOME=\"{}\"", toolkit.root().display()))
}

/// The toolkit in `target/toolkit`, downloaded if it is missing.
pub(crate) fn toolkit() -> Result<Toolkit> {
    install(TOOLKIT.default_dir())
}

fn install(root: PathBuf) -> Result<Toolkit> {
    TOOLKIT.install(&root).context("a toolkit of CUDA 13 installed by other means does as well; CUDA_HOME names it")?;
    Ok(Toolkit { root })
}

/// The toolkit in `target/toolkit`, if it is already installed.
pub(crate) fn installed() -> Option<Toolkit> {
    let root = TOOLKIT.default_dir();
    TOOLKIT.complete(&root).then_some(Toolkit { root })
}

/// The folder of the newest CUDA's headers, from which the bindings are generated; downloaded if it is missing.
#[cfg(feature = "bindings")]
pub(crate) fn newest_headers() -> Result<PathBuf> {
    headers(&HEADERS)
}

fn headers(wheels: &Wheels) -> Result<PathBuf> {
    let dir = wheels.default_dir();
    wheels.install(&dir)?;
    Ok(dir.join("include"))
}

/// The folders of headers of several versions of CUDA, such as `12.4`, the oldest first, downloaded if they are missing: of every
/// version that PyPI has, or of the oldest, the newest, and one between whose typedefs have no version.
pub(crate) fn headers_of_versions(every: bool) -> Result<Vec<(&'static str, PathBuf)>> {
    let few = ["12.0", "12.4", "13.5"];
    let all = OLDER.iter().chain([&HEADERS]);
    let versions = all.filter_map(|wheels| Some((wheels.name.strip_prefix("headers/")?, wheels)));
    let chosen = versions.filter(|(version, _)| every || few.contains(version));
    chosen.map(|(version, wheels)| Ok((version, headers(wheels)?))).collect()
}

/// The folder of the toolkits of CUDA 12.9 and 13.0, `cuda12` and `cuda13`, downloaded if they are missing.
pub(crate) fn compilers() -> Result<PathBuf> {
    let dir = COMPILERS.default_dir();
    COMPILERS.install(&dir)?;
    Ok(dir)
}

/// A folder with the headers of CUDA 13.0 and cuRAND in `include`, downloaded if it is missing.
pub(crate) fn curand() -> Result<PathBuf> {
    let dir = CURAND.default_dir();
    CURAND.install(&dir)?;
    Ok(dir)
}

/// A folder for Python's search path that contains Numba, downloaded if it is missing.
pub(crate) fn numba() -> Result<PathBuf> {
    site(&NUMBA)
}

/// A folder for Python's search path that contains maturin, whose program is in the folder `bin`.
pub(crate) fn maturin() -> Result<PathBuf> {
    site(&MATURIN)
}

/// A folder for Python's search path that contains numba-cuda, and NVRTC under `nvidia/cu13`, downloaded if it is missing.
pub(crate) fn numba_cuda() -> Result<PathBuf> {
    site(&NUMBA_CUDA)
}

/// A folder for Python's search path that contains pytest and what tests of other packages import, downloaded if it is missing.
pub(crate) fn testers() -> Result<PathBuf> {
    site(&TESTERS)
}

fn site(wheels: &Wheels) -> Result<PathBuf> {
    let dir = wheels.default_dir();
    wheels.install(&dir)?;
    Ok(dir.join(SITE))
}

impl Toolkit {
    /// The root folder, which has the layout of a conda environment.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of `cuda.h`.
    pub(crate) fn include(&self) -> Result<PathBuf> {
        Ok(Environment::only(&self.root).headers()?)
    }

    /// The file `libdevice.10.bc`.
    pub(crate) fn libdevice(&self) -> Result<PathBuf> {
        Ok(Environment::only(&self.root).libdevice()?)
    }

    /// `ptxas`, `nvcc` (which needs g++ on the machine) or `nvdisasm`.
    pub(crate) fn tool(&self, name: &str) -> Result<PathBuf> {
        Ok(Environment::only(&self.root).tool(name)?)
    }

    /// The folder of `libclang.so`, for `LIBCLANG_PATH`.
    pub(crate) fn libclang(&self) -> PathBuf {
        self.root.join("libclang")
    }

    /// Makes a command find this libclang, unless the user has set another one.
    pub(crate) fn set_libclang(&self, command: &mut Command) {
        if std::env::var_os("LIBCLANG_PATH").is_none() {
            command.env("LIBCLANG_PATH", self.libclang());
        }
    }

    /// The environment variables by which bindgen, in the build of a dependency, finds libclang and the headers of the C compiler,
    /// such as `stddef.h`, which libclang from PyPI comes without. What the user has set stays.
    pub(crate) fn for_bindgen(&self) -> Result<Vec<(&'static str, OsString)>> {
        let headers = output(Command::new("cc").arg("-print-file-name=include"))?;
        let variables = [
            ("LIBCLANG_PATH", self.libclang().into_os_string()),
            ("BINDGEN_EXTRA_CLANG_ARGS", format!("-isystem{}", headers.trim()).into()),
        ];
        Ok(variables.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()).collect())
    }
}

/// Downloads the missing compilers and clients that tests use. A download that fails is reported in one line; the tests that
/// need it are then skipped.
pub(crate) fn for_tests() {
    for wheels in [&TOOLKIT, &COMPILERS, &NUMBA] {
        if let Err(error) = wheels.install(&wheels.default_dir()) {
            let why = format!("{error:#}");
            println!("skipped: download of {} ({})", wheels.name, why.lines().next_back().unwrap_or("it fails"));
        }
    }
}

/// The kernel that `--verify` compiles.
const KERNEL: &str = "extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }\n";

/// Compiles a kernel with nvcc to PTX, assembles it with ptxas and disassembles it with nvdisasm.
fn verify(toolkit: &Toolkit) -> Result<()> {
    let scratch = scratch("verify")?;
    let file = |name: &str| scratch.path().join(name);
    fs::write(file("twice.cu"), KERNEL)?;
    let mut nvcc = Command::new(toolkit.tool("nvcc")?);
    output(nvcc.args(["-ptx", "-arch=sm_90", "-o"]).arg(file("twice.ptx")).arg(file("twice.cu")))
        .context("nvcc needs the C++ compiler g++ (Debian: `apt install g++`)")?;
    let mut ptxas = Command::new(toolkit.tool("ptxas")?);
    output(ptxas.args(["-arch=sm_90", "-o"]).arg(file("twice.cubin")).arg(file("twice.ptx")))?;
    let text = output(Command::new(toolkit.tool("nvdisasm")?).arg(file("twice.cubin")))?;
    if !text.contains("twice") || !text.contains("EXIT") {
        bail!("nvdisasm shows no kernel `twice`:\n{text}");
    }
    println!("verified  nvcc, ptxas and nvdisasm on a kernel for sm_90");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_sys::toolkit::TARGET;

    #[test]
    fn wheels_are_unpacked_in_condas_layout() {
        let scratch = scratch("layout").unwrap();
        for file in [
            "nvidia/cu13/include/cuda.h",
            "nvidia/cu13/lib/libcudart.so.13",
            "nvidia/cu13/bin/ptxas",
            "nvidia/cu13/nvvm/libdevice/libdevice.10.bc",
            "clang/native/libclang.so",
        ] {
            let file = scratch.path().join("site").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        TOOLKIT.lay_out(scratch.path()).unwrap();
        let toolkit = Toolkit { root: scratch.path().to_owned() };
        assert_eq!(toolkit.include().unwrap(), scratch.path().join("targets").join(TARGET).join("include"));
        assert_eq!(toolkit.tool("ptxas").unwrap(), scratch.path().join("bin/ptxas"));
        assert!(toolkit.libdevice().is_ok() && toolkit.libclang().join("libclang.so").is_file());
        // It lacks nvdisasm, so that whoever finds this one does not find all.
        let line = format!("export CUDA_HOME=\"{}\"", scratch.path().display());
        assert_eq!(export(&toolkit, &Environment::default()), Some(line.clone()));
        assert_eq!(export(&toolkit, &Environment::only(scratch.path())), Some(line));
        fs::write(scratch.path().join("bin/nvdisasm"), "").unwrap();
        assert_eq!(export(&toolkit, &Environment::only(scratch.path())), None);
        assert!(!scratch.path().join("site").exists());
    }
}
