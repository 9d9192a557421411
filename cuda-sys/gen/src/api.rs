//! The APIs that are bound: which headers, and which of their names.

use std::path::Path;

/// A library of CUDA's, as its headers declare it.
#[derive(Debug)]
pub struct Api {
    /// Name of its module in cuda-sys, its feature and its folder below `generated/`; the driver's is always there.
    pub module: &'static str,
    /// What it is called in the comments at the head of its files.
    pub title: &'static str,
    /// Lines of C that include its headers: of the first it cannot do without, of the others it can.
    pub(crate) include: &'static [&'static str],
    /// Headers that it cannot do without either, and that its own do not name or that come with another part of a toolkit.
    pub(crate) needs: &'static [&'static str],
    /// The one major version of CUDA that it is the API of, where its functions change with that.
    pub major: Option<u32>,
    /// Names of functions, types and constants, as regular expressions.
    pub(crate) functions: &'static str,
    pub(crate) types: &'static str,
    pub(crate) constants: &'static str,
    /// Arguments for the compiler: macros.
    pub(crate) macros: &'static [&'static str],
    /// The header in which locations are declared, see `flatten.rs`.
    pub(crate) locations: Option<&'static str>,
    /// More headers that the ABI probe includes, in which the driver's functions have their versions.
    pub(crate) typedefs: &'static [&'static str],
}

const RUNTIME: Api = Api {
    module: "runtime",
    title: "the runtime API",
    major: Some(13),
    include: &["#include <cuda_runtime_api.h>"],
    // with the compiler
    needs: &["crt/host_defines.h"],
    functions: "cuda[A-Z].*",
    types: "cuda.*",
    constants: "cuda[A-Z].*|CUDART_VERSION|CUDA_(IPC|EGL).*",
    macros: &[],
    locations: Some("driver_types.h"),
    typedefs: &[],
};

/// Every API, the driver's first: others name its types.
pub const APIS: &[Api] = &[
    Api {
        module: "driver",
        title: "the driver API",
        major: None,
        include: &["#include <cuda.h>", "#include <cudaProfiler.h>"],
        // which tells the versions
        needs: &["cudaTypedefs.h"],
        functions: "cu.*",
        types: "(CU|cu).*",
        constants: "CU.*",
        // Show every variant of every function under its exported name instead of the newest under a macro. The second
        // leaves out the `_MAX` enumerators that the first brings, whose values change with each toolkit.
        macros: &["-D__CUDA_API_VERSION_INTERNAL", "-D__CUDA_API_VERSION_INTERNAL_ODR"],
        locations: Some("cuda.h"),
        typedefs: &["#include <cudaTypedefs.h>", "#include <cudaProfilerTypedefs.h>"],
    },
    RUNTIME,
    // A library's name carries its major version, and with it structures and parameters change.
    Api { module: "runtime12", title: "the runtime API of CUDA 12", major: Some(12), ..RUNTIME },
    Api {
        module: "nvrtc",
        title: "NVRTC",
        major: None,
        include: &["#include <nvrtc.h>"],
        needs: &[],
        functions: "nvrtc.*",
        types: "nvrtc.*",
        constants: "NVRTC.*",
        macros: &[],
        locations: None,
        typedefs: &[],
    },
    Api {
        module: "nvjitlink",
        title: "nvJitLink",
        major: None,
        include: &["#include <stddef.h>", "#include <nvJitLink.h>"],
        needs: &[],
        functions: "nvJitLink.*",
        types: "nvJitLink.*",
        constants: "NVJITLINK.*",
        // The library exports the plain names; the header has static inline functions of those names that call this header's
        // version. Here they are ordinary functions. `NVJITLINK_NO_INLINE` would declare them, but not before CUDA 13.1.
        macros: &["-Dstatic=", "-Dinline="],
        locations: None,
        typedefs: &[],
    },
    Api {
        module: "nvml",
        title: "NVML",
        major: None,
        include: &["#include <nvml.h>"],
        needs: &[],
        functions: "nvml.*",
        types: "nvml.*",
        constants: "NVML.*",
        // Declares each version of each function under its own name.
        macros: &["-DNVML_NO_UNVERSIONED_FUNC_DEFS"],
        locations: None,
        typedefs: &[],
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
        needs: &[],
        functions: "nvtx.*",
        types: "(nvtx|Nvtx)[A-Z].*",
        constants: "NVTX.*",
        // The library is its headers; here are their declarations without it.
        macros: &["-DNVTX_NO_IMPL"],
        locations: None,
        typedefs: &[],
    },
];

/// What provides a header: the packages of conda and of PyPI, of which the latter have `-cu12` at the end for CUDA 12.
pub(crate) fn provider(header: &str) -> &'static str {
    match header {
        "cudaProfiler.h" => "`cuda-profiler-api` (conda) or `nvidia-cuda-profiler-api` (PyPI)",
        "nvrtc.h" => "`cuda-nvrtc-dev` (conda) or `nvidia-cuda-nvrtc` (PyPI)",
        "nvJitLink.h" => "`libnvjitlink-dev` (conda) or `nvidia-nvjitlink` (PyPI)",
        "nvml.h" => "`cuda-nvml-dev` (conda) or `nvidia-nvml-dev` (PyPI)",
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

    /// Returns true where functions' symbols, or the library's name, tell the version of the structures that they take: headers of
    /// two versions of CUDA can be put together.
    pub(crate) fn has_versions(&self) -> bool {
        self.is_driver() || self.major.is_some() || self.module == "nvtx"
    }

    /// Its headers, as C includes them.
    pub fn headers(&self) -> impl Iterator<Item = &'static str> {
        let named = self.include.iter().filter_map(|line| Some(line.split_once('<')?.1.trim_end_matches('>')));
        // The C compiler's own.
        named.filter(|header| *header != "stddef.h")
    }

    /// The header without which it cannot be read, if `include` lacks one.
    #[must_use]
    pub fn missing(&self, include: &Path) -> Option<&'static str> {
        let needed = self.headers().take(1).chain(self.needs.iter().copied()).chain(self.locations);
        needed.into_iter().find(|header| !include.join(header).is_file())
    }

    /// The lines of C that include those of its headers that `include` has, and the headers that it lacks.
    pub(crate) fn included(&self, include: &Path) -> (Vec<&'static str>, Vec<&'static str>) {
        let absent: Vec<_> = self.headers().filter(|header| !include.join(header).is_file()).collect();
        let is_there = |line: &&str| !absent.iter().any(|header| line.contains(&format!("<{header}>")));
        (self.include.iter().copied().filter(is_there).collect(), absent)
    }

    /// How its functions' names begin.
    pub(crate) fn prefix(&self) -> &'static str {
        self.functions.split(['.', '[']).next().unwrap_or_default()
    }

    /// C source that includes all that the bindings are compared with.
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
