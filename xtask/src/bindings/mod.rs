//! The generator of cuda-sys' committed bindings: real headers in, two Rust files out.
//!
//! bindgen reads the headers (`headers.rs`); what it says is put into the form that cuda-sys keeps: types as calls of
//! hand-written macros (`types.rs`), functions as one line each with the version of their ABI (`table.rs`). Nothing of the
//! machine goes into the output, so that it is the same wherever the same headers are.

mod headers;
mod probe;
mod table;
mod types;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

pub(crate) use probe::probe;

use crate::workspace;

/// What one run of the generator says.
pub(crate) struct Generated {
    pub(crate) files: Vec<GeneratedFile>,
    /// What the files claim of the headers, as C declarations that a compiler can check.
    pub(crate) facts: Vec<String>,
}

/// A generated file: its name below `cuda-sys/src/generated` and its text.
pub(crate) struct GeneratedFile {
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

/// Generates all files from the headers in `include`.
pub(crate) fn generate(include: &Path) -> Result<Generated> {
    let split = types::split(headers::parse(include)?)?;
    let versions = table::abi_versions(include)?;
    let types = GeneratedFile { name: "types.rs", text: rustfmt(&split.text)? };
    let (table, pairs) = table::render(&split.functions, &versions)?;
    let table = GeneratedFile { name: "table.rs", text: table };
    Ok(Generated { files: vec![types, table], facts: [split.facts, pairs].concat() })
}

/// The head of a generated file.
fn head(what: &str) -> String {
    format!("// {what}\n// Written by `cargo xtask gen-bindings` from cuda.h and cudaProfiler.h; do not edit.\n\n")
}

/// Formats Rust as the workspace is formatted.
fn rustfmt(text: &str) -> Result<String> {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024", "--config-path"]).arg(workspace::root());
    let (success, output) = filter(&mut rustfmt, text)?;
    ensure!(success, "rustfmt refused the generated types; `rustup component add rustfmt` installs it");
    Ok(output)
}

/// How `text` differs from the file at `path`, as a patch; empty where it does not.
pub(crate) fn difference(path: &Path, text: &str) -> Result<String> {
    if std::fs::read_to_string(path).is_ok_and(|committed| committed == text) {
        return Ok(String::new());
    }
    ensure!(path.exists(), "{} is missing; `cargo xtask gen-bindings` writes it", path.display());
    let (folder, name) = (path.parent(), path.file_name());
    let mut git = Command::new("git");
    git.current_dir(folder.unwrap_or(Path::new("."))).args(["diff", "--no-index", "--no-color", "--no-ext-diff", "--"]);
    Ok(filter(git.args(name).arg("-"), text)?.1)
}

/// Gives `text` to a command; whether it succeeded and what it printed.
fn filter(command: &mut Command, text: &str) -> Result<(bool, String)> {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.with_context(|| format!("cannot run {name}"))?;
    let mut input = child.stdin.take().context("the command has no standard input")?;
    let text = text.to_owned();
    // Written from a thread of its own: a command may answer before it has read everything.
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output()?;
    writer
        .join()
        .expect("the writing thread does not panic")
        .with_context(|| format!("{name} did not read its input"))?;
    Ok((output.status.success(), String::from_utf8(output.stdout)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_shown_as_a_patch() {
        let scratch = workspace::Scratch::new("difference").unwrap();
        let file = scratch.path().join("types.rs");
        std::fs::write(&file, "one\ntwo\n").unwrap();
        assert_eq!(difference(&file, "one\ntwo\n").unwrap(), "");
        let patch = difference(&file, "one\nthree\n").unwrap();
        assert!(patch.contains("-two") && patch.contains("+three"), "{patch}");
        assert!(difference(&scratch.path().join("absent.rs"), "").is_err());
    }
}
