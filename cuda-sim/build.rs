//! Hashes this crate's sources: what another state of the translator has kept on disk is not taken for ours.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=src");
    let mut hasher = DefaultHasher::new();
    hash(Path::new("src"), &mut hasher);
    println!("cargo::rustc-env=CUDA_SIM_SOURCES={:016x}", hasher.finish());
}

/// Adds the names and contents of all files below a folder, in the order of their names.
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
