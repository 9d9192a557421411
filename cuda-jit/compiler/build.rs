//! Hashes this crate's sources, so that the cache of compiled kernels distinguishes compiler versions.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rustc-env=CUDA_JIT_SOURCES={}", sources(Path::new("src")));
}

/// The hash of the sources below a folder.
pub(crate) fn sources(folder: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    hash(folder, &mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Hashes the names and contents of all files below a folder, in the order of their names.
fn hash(folder: &Path, hasher: &mut DefaultHasher) {
    let entries = std::fs::read_dir(folder).expect("the folder is the crate's own");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it was listed").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hash(&path, hasher);
        } else {
            path.hash(hasher);
            std::fs::read(&path).expect("it was listed").hash(hasher);
        }
    }
}
