//! Writes cuda-sys' bindings from the headers of a CUDA toolkit: real headers in, two Rust files per API out.
//!
//! bindgen reads the headers (`headers.rs`); what it says is put into the form that cuda-sys keeps: types as calls of
//! hand-written macros (`types.rs`), functions as one line each with the versions of CUDA that have them
//! (`driver_table.rs`, `table.rs`, `tool_table.rs`). Nothing of the machine goes into the output, so that it is the same wherever the same headers
//! are.
//!
//! `cargo xtask gen-bindings` writes the committed files with it, and cuda-sys' feature `generate` those of a build.

mod api;
mod driver_table;
mod flatten;
mod headers;
mod history;
mod table;
mod tool_table;
mod types;

use std::path::Path;

use anyhow::{Context as _, Result};

pub use api::{APIS, Api};
pub use history::History;

/// What one run of the generator says of an API.
#[derive(Debug)]
pub struct Generated {
    /// The types and constants, not formatted.
    pub types: String,
    /// The functions, formatted.
    pub table: String,
    /// What the files claim of the headers, as conditions in C that a compiler can check. A type's name stands in braces:
    /// it may need `struct` before it.
    pub facts: Vec<String>,
}

/// Generates the files of `api` from the headers in `include`.
///
/// # Errors
///
/// Headers that are not there, that bindgen cannot read, or that declare what the generator has no place for.
pub fn generate(api: &Api, include: &Path, history: &History) -> Result<Generated> {
    let split = types::split(api, headers::parse(api, include)?)?;
    let (table, pairs) = if api.is_driver() {
        driver_table::render(api, &split.functions, &driver_table::abi_versions(include)?)?
    } else if api.module == "nvtx" {
        (tool_table::render(api, &split)?, Vec::new())
    } else {
        let functions = table::with_own_streams(api, split.functions.clone(), include)?;
        (table::render(api, &functions, &split.sizes, history, toolkit_version(include)?)?, Vec::new())
    };
    Ok(Generated { types: split.text, table, facts: [split.facts, pairs].concat() })
}

/// Adds to `history` what the headers in `include` declare of every API but those whose headers tell it themselves.
///
/// # Errors
///
/// As [`generate`].
pub fn record(include: &Path, history: &mut History) -> Result<()> {
    let version = toolkit_version(include)?;
    let kept = |api: &&Api| !api.is_driver() && api.module != "nvtx";
    for api in APIS.iter().filter(kept).filter(|api| api.major.is_none_or(|major| version / 1000 == major)) {
        let split = types::split(api, headers::parse(api, include)?)?;
        for function in table::with_own_streams(api, split.functions, include)? {
            history.add(version, &function, &split.sizes);
        }
    }
    history.read(version);
    Ok(())
}

/// The version of the toolkit whose `cuda.h` is in `include`, as `1000 * major + 10 * minor`.
///
/// # Errors
///
/// Where there is no `cuda.h`, or it does not tell.
pub fn toolkit_version(include: &Path) -> Result<u32> {
    let path = include.join("cuda.h");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let version = text.lines().find_map(|line| line.strip_prefix("#define CUDA_VERSION "));
    version
        .and_then(|version| version.trim().parse().ok())
        .with_context(|| format!("{} has no version", path.display()))
}

/// The head of a generated file.
fn head(api: &Api, what: &str) -> String {
    let headers = api.headers().collect::<Vec<_>>().join(", ");
    format!("// {}: {what}.\n// Written by `cargo xtask gen-bindings` from {headers}; do not edit.\n\n", api.title)
}
