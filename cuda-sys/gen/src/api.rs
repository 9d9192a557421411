//! The APIs that are bound: their headers, and the names that are taken from these.

use std::path::Path;

/// A library of CUDA's, as its headers declare it.
#[derive(Debug)]
pub struct Api {
    /// Name of its module in cuda-sys, its feature and its folder below `generated/`; the driver's is always there.
    pub module: &'static str,
    /// The API's name in the opening comments of its files.
    pub title: &'static str,
    /// C directives that include its headers. The first header is required, the others are optional.
    pub(crate) include: &'static [&'static str],
    /// Further required headers: those that its own headers do not include, or that another package of the toolkit provides.
    pub(crate) required: &'static [&'static str],
    /// The major version of CUDA that it belongs to, if its functions change with the major version.
    pub major: Option<u32>,
    /// Names of functions, types and constants, as regular expressions.
    pub(crate) functions: &'static str,
    pub(crate) types: &'static str,
    pub(crate) constants: &'static str,
    /// Arguments for the compiler: macros.
    pub(crate) macros: &'static [&'static str],
    /// The header that declares memory locations (`CUmemLocation`), see `flatten.rs`.
    pub(crate) locations: Option<&'static str>,
    /// Directives for the headers that the ABI probe also includes: they declare the versions of the driver's functions.
    pub(crate) typedefs: &'static [&'static str],
    /// The header and the macro of the version, for a library that is released independently of CUDA.
    pub(crate) own_version: Option<(&'static str, &'static str)>,
}

const RUNTIME: Api = Api {
    module: "runtime",
    title: "the runtime API",
    major: Some(13),
    include: &["#include <cuda_runtime_api.h>"],
    // It comes with the compiler's package.
    required: &["crt/host_defines.h"],
    functions: "cuda[A-Z].*",
    types: "cuda.*",
    constants: "cuda[A-Z].*|CUDART_VERSION|CUDA_(IPC|EGL).*",
    macros: &[],
    locations: Some("driver_types.h"),
    typedefs: &[],
    own_version: None,
};

/// Every API, the driver's first: others name its types.
pub const APIS: &[Api] = &[
    Api {
        module: "driver",
        title: "the driver API",
        major: None,
        include: &["#include <cuda.h>", "#include <cudaProfiler.h>"],
        // It declares the versions of the functions.
        required: &["cudaTypedefs.h"],
        functions: "cu.*",
        types: "(CU|cu).*",
        constants: "CU.*",
        // Show every variant of every function under its exported name instead of the newest under a macro. The second
        // leaves out the `_MAX` enumerators that the first brings, whose values change with each toolkit.
        macros: &["-D__CUDA_API_VERSION_INTERNAL", "-D__CUDA_API_VERSION_INTERNAL_ODR"],
        locations: Some("cuda.h"),
        typedefs: &["#include <cudaTypedefs.h>", "#include <cudaProfilerTypedefs.h>"],
        own_version: None,
    },
    RUNTIME,
    // A library's name carries its major version, and with it structures and parameters change.
    Api { module: "runtime12", title: "the runtime API of CUDA 12", major: Some(12), ..RUNTIME },
    Api {
        module: "nvrtc",
        title: "NVRTC",
        major: None,
        include: &["#include <nvrtc.h>"],
        required: &[],
        functions: "nvrtc.*",
        types: "nvrtc.*",
        constants: "NVRTC.*",
        macros: &[],
        locations: None,
        typedefs: &[],
        own_version: None,
    },
    Api {
        module: "nvjitlink",
        title: "nvJitLink",
        major: None,
        include: &["#include <stddef.h>", "#include <nvJitLink.h>"],
        required: &[],
        functions: "nvJitLink.*",
        types: "nvJitLink.*",
        constants: "NVJITLINK.*",
        // The library exports the plain names; the header has static inline functions of those names that call this header's
        // version. Here they are ordinary functions. `NVJITLINK_NO_INLINE` would declare them, but not before CUDA 13.1.
        macros: &["-Dstatic=", "-Dinline="],
        locations: None,
        typedefs: &[],
        own_version: None,
    },
    Api {
        module: "nvml",
        title: "NVML",
        major: None,
        include: &["#include <nvml.h>"],
        required: &[],
        functions: "nvml.*",
        types: "nvml.*",
        constants: "NVML.*",
        // Declares each version of each function under its own name.
        macros: &["-DNVML_NO_UNVERSIONED_FUNC_DEFS"],
        locations: None,
        typedefs: &[],
        own_version: None,
    },
    Api {
        module: "nvtx",
        title: "NVTX",
        major: None,
        include: &[
            "#include <nvtx3/nvToolsExt.h>",
            "#include <nvtx3/nvToolsExtSync.h>",
            "#include <nvtx3/nvToolsExtCuda.h>",
        ],
        required: &[],
        functions: "nvtx.*",
        types: "(nvtx|Nvtx)[A-Z].*",
        constants: "NVTX.*",
        // NVTX is implemented in its headers; the macro leaves only the declarations.
        macros: &["-DNVTX_NO_IMPL"],
        locations: None,
        typedefs: &[],
        own_version: None,
    },
    Api {
        module: "nccl",
        title: "NCCL",
        major: None,
        include: &["#include <nccl.h>"],
        // It includes the runtime's headers.
        required: &["cuda_runtime.h", "cuda_fp16.h", "cuda_bf16.h", "crt/host_defines.h"],
        // Each function has a second name for profilers, with a `p` before it.
        functions: "nccl[A-Z].*",
        types: "nccl.*",
        constants: "NCCL_.*",
        // It includes the headers of small floats and names none of these; they need CCCL's headers.
        macros: &["-D__CUDA_FP16_H__", "-D__CUDA_BF16_H__", "-D__CUDA_FP8_H__"],
        locations: None,
        typedefs: &[],
        own_version: Some(("nccl.h", "NCCL_VERSION_CODE")),
    },
];

/// The packages of conda and PyPI that provide a header. For CUDA 12 the names on PyPI end in `-cu12`.
pub(crate) fn provider(header: &str) -> &'static str {
    match header {
        "cudaProfiler.h" => "`cuda-profiler-api` (conda) or `nvidia-cuda-profiler-api` (PyPI)",
        "nvrtc.h" => "`cuda-nvrtc-dev` (conda) or `nvidia-cuda-nvrtc` (PyPI)",
        "nvJitLink.h" => "`libnvjitlink-dev` (conda) or `nvidia-nvjitlink` (PyPI)",
        "nvml.h" => "`cuda-nvml-dev` (conda) or `nvidia-nvml-dev` (PyPI)",
        "nccl.h" => "`nccl` (conda), `libnccl-dev` (NVIDIA's repository for Debian) or `nvidia-nccl-cu13` (PyPI)",
        _ if header.starts_with("crt/") => {
            "`cuda-crt-dev_linux-64` (conda), `nvidia-cuda-crt` (PyPI) or for CUDA 12 `nvidia-cuda-nvcc-cu12` (PyPI)"
        }
        _ if header.starts_with("nvtx3/") => "`cuda-nvtx-dev` (conda) or `nvidia-nvtx` (PyPI)",
        "stddef.h" | "stdint.h" | "stdlib.h" | "string.h" | "limits.h" => {
            "a C compiler with its library's headers (Debian: `gcc` and `libc6-dev`)"
        }
        _ => "`cuda-cudart-dev` (conda) or `nvidia-cuda-runtime` (PyPI)",
    }
}

impl Api {
    /// The API of a module.
    #[must_use]
    pub fn of_module(module: &str) -> Option<&'static Api> {
        APIS.iter().find(|api| api.module == module)
    }

    pub(crate) fn is_driver(&self) -> bool {
        self.module == "driver"
    }

    /// Returns true if the symbols of the functions, or the name of the library, carry the version of the structures that the
    /// functions take. The declarations of two versions of CUDA can then be combined.
    pub(crate) fn has_versions(&self) -> bool {
        self.is_driver() || self.major.is_some() || self.module == "nvtx"
    }

    /// Its headers, as C includes them.
    pub fn headers(&self) -> impl Iterator<Item = &'static str> {
        let named = self.include.iter().filter_map(|line| Some(line.split_once('<')?.1.trim_end_matches('>')));
        // The C compiler's own.
        named.filter(|header| *header != "stddef.h")
    }

    /// Returns true for a library that is released independently of CUDA, so that a toolkit may lack its headers.
    #[must_use]
    pub fn is_independent(&self) -> bool {
        self.own_version.is_some()
    }

    /// The word for the versions of its functions: CUDA's, unless the library has versions of its own.
    pub(crate) fn versioning(&self) -> &'static str {
        if self.own_version.is_some() { self.title } else { "CUDA" }
    }

    /// The version of its headers in `include`: that of the toolkit as `1000 * major + 10 * minor`, or the library's own in
    /// its own code.
    pub(crate) fn version(&self, include: &Path) -> anyhow::Result<u32> {
        let (header, name) = self.own_version.unwrap_or(("cuda.h", "CUDA_VERSION"));
        crate::version_in(&include.join(header), name)
    }

    /// The first required header that `include` lacks.
    #[must_use]
    pub fn missing(&self, include: &Path) -> Option<&'static str> {
        let required = self.headers().take(1).chain(self.required.iter().copied()).chain(self.locations);
        required.into_iter().find(|header| !include.join(header).is_file())
    }

    /// The directives for the headers that `include` has, and the headers that it lacks.
    pub(crate) fn included(&self, include: &Path) -> (Vec<&'static str>, Vec<&'static str>) {
        let absent: Vec<_> = self.headers().filter(|header| !include.join(header).is_file()).collect();
        let is_there = |line: &&str| !absent.iter().any(|header| line.contains(&format!("<{header}>")));
        (self.include.iter().copied().filter(is_there).collect(), absent)
    }

    /// The prefix of its functions' names.
    pub(crate) fn prefix(&self) -> &'static str {
        self.functions.split(['.', '[']).next().unwrap_or_default()
    }

    /// C source that includes every header that the bindings are compared with.
    #[must_use]
    pub fn probe_source(&self) -> String {
        [self.include, self.typedefs].concat().join("\n") + "\n"
    }

    /// The C compiler's arguments: macros.
    #[must_use]
    pub fn macros(&self) -> &'static [&'static str] {
        self.macros
    }
}
