//! Shared helpers of the KIR tests: a generator of valid modules, a reader of debug sections, and the emission of PTX.
//!
//! With `PTX_OUT_DIR` set, every PTX text that a test emits is also written there, so that NVIDIA's assembler can
//! check it.

pub(crate) mod dwarf;
pub(crate) mod generate;

use std::path::PathBuf;

use cuda_jit::back::llvm::{Options, emit};
use cuda_jit::kir::Module;
use cuda_jit::target::{ComputeCapability, Target};

/// The target of that name.
pub(crate) fn target(name: &str) -> Target {
    Target::new(name.parse::<ComputeCapability>().expect(name)).expect(name)
}

/// Emits a valid module; `test` names the file in `PTX_OUT_DIR`.
pub(crate) fn ptx(test: &str, module: &Module, target: &Target, options: &Options) -> String {
    let ptx = emit(module, target, options).unwrap_or_else(|error| panic!("{test}: {error}\n{module}")).ptx;
    keep(test, target, &ptx);
    ptx
}

/// Writes PTX into `PTX_OUT_DIR`.
pub(crate) fn keep(test: &str, target: &Target, ptx: &str) {
    if let Some(folder) = std::env::var_os("PTX_OUT_DIR") {
        let file = PathBuf::from(folder).join(format!("{test}.{target}.ptx"));
        std::fs::write(&file, ptx).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}

/// Panics if the PTX refers to external symbols other than the driver's `vprintf` and the device runtime's
/// `cudaGraphSetConditional`; dynamic shared memory is allowed. libdevice, the C library and `malloc` are not.
pub(crate) fn assert_self_contained(test: &str, ptx: &str) {
    let brought = [" vprintf", " cudaGraphSetConditional", ".shared"];
    let own = |line: &&str| line.contains(".extern") && !brought.iter().any(|name| line.contains(name));
    let outside: Vec<&str> = ptx.lines().filter(own).collect();
    assert!(outside.is_empty(), "{test} needs something from outside:\n{ptx}");
}
