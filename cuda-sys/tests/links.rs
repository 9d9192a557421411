//! The metadata that build scripts of dependants receive: builds a package that depends on cuda-sys with a made-up toolkit.

use std::path::{Path, PathBuf};
use std::process::Command;

const MANIFEST: &str =
    "[package]\nname = \"dependant\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n";
const BUILD: &str = "fn main() { for (name, value) in std::env::vars().filter(|(name, _)| name.starts_with(\"DEP_CUDA_\")) \
                     { println!(\"cargo::warning={name}={value}\"); } }\n";

/// A folder of this test with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    for (file, text) in files {
        let file = folder.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    folder
}

/// The lines that a dependant's build script prints with this toolkit.
fn build_script_output(variable: &str, toolkit: &Path) -> String {
    let sys = env!("CARGO_MANIFEST_DIR");
    let manifest = format!("{MANIFEST}cuda-sys = {{ path = {sys:?} }}\n");
    let lock = std::fs::read_to_string(Path::new(sys).join("../Cargo.lock")).unwrap();
    let files = [("Cargo.toml", &*manifest), ("Cargo.lock", &*lock), ("build.rs", BUILD), ("src/lib.rs", "")];
    let package = folder("dependant", &files);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["check", "--offline", "--target-dir"]).arg(package.join("target")).current_dir(&package);
    for name in ["CONDA_PREFIX", "CUDA_HOME", "RUSTFLAGS"] {
        cargo.env_remove(name);
    }
    let output = cargo.env(variable, toolkit).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

#[test]
fn dependants_receive_root_headers_version_and_libdevice() {
    let header = "#pragma once\n#define CUDA_VERSION 12040\n";
    let home = folder("home", &[("include/cuda.h", header), ("nvvm/libdevice/libdevice.10.bc", "")]);
    let text = build_script_output("CUDA_HOME", &home);
    for line in [
        format!("DEP_CUDA_ROOT={}", home.display()),
        format!("DEP_CUDA_INCLUDE={}", home.join("include").display()),
        "DEP_CUDA_VERSION=12040".to_owned(),
        format!("DEP_CUDA_LIBDEVICE={}", home.join("nvvm/libdevice/libdevice.10.bc").display()),
    ] {
        assert!(text.contains(&line), "no `{line}` in:\n{text}");
    }
    // conda's newer layout, and no libdevice.
    let target = format!("targets/{}/include/cuda.h", cuda_sys::toolkit::TARGET);
    let conda = folder("conda", &[(&target, header)]);
    let text = build_script_output("CONDA_PREFIX", &conda);
    assert!(text.contains(&format!("DEP_CUDA_ROOT={}\n", conda.display())), "{text}");
}
