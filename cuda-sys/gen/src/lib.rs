//! Writes cuda-sys' bindings from the headers of a CUDA toolkit: real headers in, two Rust files per API out.
//!
//! bindgen reads the headers (`headers.rs`). Its output is rewritten to the form that cuda-sys keeps: types as calls of
//! hand-written macros (`types.rs`), functions as one line each with the versions of CUDA that have them
//! (`driver_table.rs`, `table.rs`, `tool_table.rs`). The output depends on the headers alone and not on the machine.
//!
//! `cargo xtask gen-bindings` writes the committed files with it. cuda-sys' feature `generate` writes the files of one build,
//! and adds the committed declarations that older headers lack (`complete.rs`).

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod api;
mod complete;
mod driver_table;
mod files;
mod flatten;
mod headers;
mod history;
mod table;
mod tool_table;
mod types;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};

pub use api::{APIS, Api};
pub use files::{Bindings, Files, Lacking, bindings, lost, written};
pub use headers::Libclang;
pub use history::History;

/// The output of one run of the generator for one API.
#[derive(Debug)]
pub struct Generated {
    /// The types and constants, not formatted.
    pub types: String,
    /// The functions, formatted.
    pub table: String,
    /// The assertions that the files make about the headers, as conditions in C that a compiler can check. Each name of a type
    /// stands in braces, since it may need `struct` before it.
    pub assertions: Vec<String>,
    /// The unexpected declarations of the headers, and what was left out because of them.
    pub warnings: Vec<String>,
}

/// Generates the files of `api` from the headers in `include`.
///
/// # Errors
///
/// Headers that are absent, that bindgen cannot read, or that hold a declaration which the generator does not support.
pub fn generate(api: &Api, include: &Path, history: &History) -> Result<Generated> {
    let split = types::split(api, headers::parse(api, include)?)?;
    let (_, absent) = api.included(include);
    let lacks = |header: &&str| {
        let provider = api::provider(header);
        format!("{} has no {header}, which {provider} provides; what that declares is not read", include.display())
    };
    let mut warnings: Vec<String> = absent.iter().map(lacks).chain(split.warnings.iter().cloned()).collect();
    let (table, pairs) = if api.is_driver() {
        let versions = driver_table::abi_versions(&driver_table::typedefs(include)?, history);
        driver_table::render(api, &split.functions, &versions, &mut warnings)?
    } else if api.module == "nvtx" {
        (tool_table::render(api, &split, &mut warnings)?, Vec::new())
    } else {
        let functions = table::with_own_streams(api, split.functions.clone(), include)?;
        (table::render(api, &functions, &split.sizes, history, api.version(include)?)?, Vec::new())
    };
    Ok(Generated { types: split.text, table, assertions: [split.assertions, pairs].concat(), warnings })
}

/// Adds to `history` the functions of every API that the headers in `include` declare, except those of the driver whose
/// version the headers give.
///
/// # Errors
///
/// The errors of [`generate`].
pub fn record(include: &Path, history: &mut History) -> Result<()> {
    let version = toolkit_version(include)?;
    let kept = |api: &&Api| api.module != "nvtx" && api.missing(include).is_none();
    for api in APIS.iter().filter(kept).filter(|api| api.major.is_none_or(|major| version / 1000 == major)) {
        let mut split = types::split(api, headers::parse(api, include)?)?;
        if api.is_driver() {
            let mut unversioned = driver_table::typedefs(include)?;
            unversioned.retain(|typedef| driver_table::is_unversioned(typedef));
            split.functions.retain(|function| unversioned.contains(&function.name));
        }
        for function in table::with_own_streams(api, split.functions, include)? {
            history.add(api.version(include)?, &function, &split.sizes);
        }
        if api.own_version.is_some() {
            history.read(api.module, api.version(include)?);
        }
    }
    history.read(history::CUDA, version);
    Ok(())
}

/// Adds to the types of a library the driver's opaque types that they name and that the headers of an older driver lack.
fn beside_driver(types: &str, driver: &str) -> String {
    let opaque = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| word.starts_with("CU") && word.ends_with("_st")).map(str::to_owned).collect()
    };
    let declared = |name: &&String| types.contains(&format!("= {name},"));
    let handle = |name: &String| format!("    {} = {name},\n", name.trim_end_matches("_st"));
    let named = opaque(types);
    let lacking: Vec<_> = named.difference(&opaque(driver)).filter(|name| !declared(name)).map(handle).collect();
    if lacking.is_empty() { types.to_owned() } else { format!("{types}\nhandles! {{\n{}}}\n", lacking.concat()) }
}

/// The version of the toolkit whose `cuda.h` is in `include`, as `1000 * major + 10 * minor`.
///
/// # Errors
///
/// A `cuda.h` that is absent, or that has no version.
pub fn toolkit_version(include: &Path) -> Result<u32> {
    version_in(&include.join("cuda.h"), "CUDA_VERSION")
}

/// The value of the macro `name`, a version, in the header at `path`.
fn version_in(path: &Path, name: &str) -> Result<u32> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let version = text.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name)?.strip_prefix(' '));
    version
        .and_then(|version| version.trim().parse().ok())
        .with_context(|| format!("{} has no version", path.display()))
}

/// The opening comment of a generated file.
fn head(api: &Api, what: &str) -> String {
    let headers = api.headers().collect::<Vec<_>>().join(", ");
    format!("// {}: {what}.\n// Written by `cargo xtask gen-bindings` from {headers}; do not edit.\n\n", api.title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_type_that_older_headers_lack_is_added_as_opaque() {
        let types =
            "handles! {\n    cudaC = CUc_st,\n}\npub type cudaA = *mut CUa_st;\npub type cudaB = *mut CUb_st;\n";
        let all = beside_driver(types, "handles! {\n    CUa = CUa_st,\n}\n");
        assert_eq!(all, format!("{types}\nhandles! {{\n    CUb = CUb_st,\n}}\n"));
        assert_eq!(beside_driver(types, "CUa_st CUb_st"), types);
    }
}
