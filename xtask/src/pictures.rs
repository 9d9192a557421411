//! `pictures`: runs every example, which draws its picture for the book.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

use crate::workspace;

/// The limit for the size of a picture in the repository, in bytes.
const LARGEST: u64 = 200_000;

pub(crate) fn run() -> Result<()> {
    let folder = folder();
    let mut build = workspace::cargo();
    workspace::run(build.args([
        "build",
        "--quiet",
        "--release",
        "--package",
        "cuda-examples",
        "--all-features",
        "--bins",
    ]))?;
    for name in examples()? {
        let mut example = workspace::cargo();
        example.args(["run", "--quiet", "--release", "--package", "cuda-examples", "--all-features", "--bin", &name]);
        workspace::run(
            example.args(["--", "--out"]).arg(&folder).env("CUDA_SIM_DEVICES", "2").env("CUDA_JIT_WARNINGS", "none"),
        )?;
    }
    for picture in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let (path, bytes) = picture.and_then(|picture| Ok((picture.path(), picture.metadata()?.len())))?;
        ensure!(bytes <= LARGEST, "{} has {bytes} bytes, more than {LARGEST}", path.display());
    }
    Ok(())
}

/// The folder of the book's pictures.
pub(crate) fn folder() -> PathBuf {
    workspace::root().join("docs/book/src/pictures")
}

/// The names of all examples.
fn examples() -> Result<Vec<String>> {
    let files = fs::read_dir(workspace::root().join("examples/src/bin"))?;
    let name = |file: std::io::Result<fs::DirEntry>| {
        Ok(file?.path().file_stem().map(|name| name.to_string_lossy().into_owned()))
    };
    let mut names: Vec<String> = files.filter_map(|file| name(file).transpose()).collect::<Result<_>>()?;
    names.sort();
    Ok(names)
}
