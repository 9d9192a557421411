//! The build of the crate and of the shared library (`cdylib/`), which have the same sources.
//!
//! Hashes the sources, so that cached records of another version of the compiler are not used. Sets the shared library's
//! soname to that of NVIDIA's driver, so that the loader uses it in its place.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

fn main() {
    let is_library = std::env::var("CARGO_PKG_NAME").is_ok_and(|name| name == "cuda-sim-cdylib");
    let sources = Path::new(if is_library { "../src" } else { "src" });
    println!("cargo::rerun-if-changed={}", sources.display());
    let mut hasher = DefaultHasher::new();
    hash(sources, sources, &mut hasher);
    println!("cargo::rustc-env=CUDA_SIM_SOURCES={:016x}", hasher.finish());
    if is_library {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    }
}

/// Adds the names and contents of all files below a folder, in the order of their names.
fn hash(root: &Path, folder: &Path, hasher: &mut DefaultHasher) {
    let entries = std::fs::read_dir(folder).expect("the folder is the crate's own");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it was listed").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hash(root, &path, hasher);
        } else {
            path.strip_prefix(root).expect("it lies below").hash(hasher);
            std::fs::read(&path).expect("it was listed").hash(hasher);
        }
    }
}
