//! Environment variables and versions that the book and the READMEs name, held against the code and the manifests.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};

use super::documents;
use crate::error_texts::split_tests;
use crate::tidy::code;

/// The page that lists every variable.
const LIST: &str = "docs/book/src/environment.md";

/// The prefixes of the crates' own variables.
const OWN: &[&str] =
    &["CUDA_DRIVER_", "CUDA_JIT_", "CUDA_LLVM_", "CUDA_MEM_", "CUDA_PRELUDE_", "CUDA_SIM_", "CUDA_SYS_"];

/// A mention of a version: the text before it, the version, and the texts that may follow it.
type Mention = (&'static str, fn(&Versions) -> &str, &'static [&'static str]);

/// The mentions of versions in the book that are checked.
const VERSIONS: &[Mention] = &[
    ("LLVM ", |versions| &versions.llvm, &[" or 23"]),
    ("Debian's packages `libllvm", |versions| &versions.llvm, &["`"]),
    ("LLVM 22 or ", |versions| &versions.next_llvm, &[""]),
    ("Rust ", |versions| &versions.rust, &[" has", " of rustup", " carries"]),
    ("rustup default ", |versions| &versions.rust, &[""]),
    ("--default-toolchain ", |versions| &versions.toolchain, &[""]),
    ("`LLVM_SYS_", |versions| &versions.llvm_sys, &["_PREFIX"]),
    ("newest headers (", |versions| &versions.cuda, &[")"]),
    ("any headers from ", |versions| &versions.oldest_cuda, &[" to"]),
    ("any headers from 12.0 to ", |versions| &versions.cuda, &[""]),
    ("all fields of ", |versions| &versions.cuda, &[","]),
    ("CUDA ", |versions| &versions.oldest_cuda, &[" and newer", " or newer"]),
    ("(driver ", |versions| &versions.oldest_cuda, &[" or newer"]),
];

/// The versions in the manifests and the sources.
struct Versions {
    rust: String,
    toolchain: String,
    llvm: String,
    next_llvm: String,
    llvm_sys: String,
    cuda: String,
    oldest_cuda: String,
}

/// The places of all variables and versions that are not the code's.
pub(super) fn faults(files: &[(String, String)]) -> Result<Vec<String>> {
    let mut faults = variables(files);
    faults.extend(versions(files, &Versions::read(files)?));
    Ok(faults)
}

/// Variables that are named and not read, or read and not listed.
fn variables(files: &[(String, String)]) -> Vec<String> {
    let mut read = BTreeSet::new();
    let is_code = |name: &str| name.starts_with("cuda-") && name.contains("/src/") && !name.contains("/tests/");
    for (_, text) in files.iter().filter(|(name, _)| name.ends_with(".rs") && is_code(name)) {
        for (_, line) in code(split_tests(text).0).filter(|(_, line)| !line.contains("env!(")) {
            // The whole literal is the name.
            read.extend(line.split('"').skip(1).step_by(2).filter(|word| own(word) == Some(word)));
        }
    }
    let mut faults = Vec::new();
    let mut listed = BTreeSet::new();
    for (name, text) in documents(files) {
        for (at, line) in text.lines().enumerate() {
            for word in line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter_map(own) {
                if name == LIST && line.starts_with('|') {
                    listed.insert(word);
                }
                if !read.contains(word) {
                    faults.push(format!("{name}:{}: nothing reads the variable `{word}`", at + 1));
                }
            }
        }
    }
    faults.extend(read.difference(&listed).map(|word| format!("{LIST}: lacks the variable `{word}`")));
    faults
}

/// A word that is the name of a variable of the crates' own.
fn own(word: &str) -> Option<&str> {
    let named = word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    (named && OWN.iter().any(|prefix| word.len() > prefix.len() && word.starts_with(prefix))).then_some(word)
}

/// Versions that are other ones, and kinds of versions that nothing names any more.
fn versions(files: &[(String, String)], versions: &Versions) -> Vec<String> {
    let mut faults = Vec::new();
    for (before, version, behind) in VERSIONS {
        let (right, mut found) = (version(versions), false);
        for (name, text) in documents(files) {
            for (at, line) in text.lines().enumerate() {
                for (place, _) in line.match_indices(before) {
                    let rest = &line[place + before.len()..];
                    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
                    let (named, rest) = rest.split_at(end);
                    let named = named.trim_end_matches('.');
                    if !named.is_empty() && behind.iter().any(|behind| rest.starts_with(behind)) {
                        found = true;
                        if named != right {
                            faults.push(format!("{name}:{}: `{before}{named}`, and it is {right}", at + 1));
                        }
                    }
                }
            }
        }
        if !found {
            faults.push(format!(
                "{}: no page names `{before}{right}` any more, which xtask/src/book/truth.rs looks for",
                super::PAGES
            ));
        }
    }
    faults
}

impl Versions {
    fn read(files: &[(String, String)]) -> Result<Versions> {
        let mut llvm = between(files, "cuda-llvm/src/search.rs", "SUPPORTED: &[u32] = &[", "]")?.split(", ");
        let mut next = || llvm.next().map(str::to_owned).context("cuda-llvm tries two versions of LLVM");
        Ok(Versions {
            rust: between(files, "Cargo.toml", "rust-version = \"", "\"")?.to_owned(),
            toolchain: between(files, "rust-toolchain.toml", "channel = \"", "\"")?.to_owned(),
            llvm: next()?,
            next_llvm: next()?,
            llvm_sys: between(files, "Cargo.toml", "llvm-sys = { version = \"", "\"")?.to_owned(),
            cuda: cuda(between(files, "cuda-sys/src/generated/driver/types.rs", "CUDA_VERSION: u32 = ", ";")?)?,
            oldest_cuda: cuda(between(files, "cuda-sys/gen/src/files.rs", "OLDEST: u32 = ", ";")?)?,
        })
    }
}

/// The text of a file between two others.
fn between<'a>(files: &'a [(String, String)], name: &str, before: &str, behind: &str) -> Result<&'a str> {
    let text = files.iter().find(|(file, _)| file == name).map(|(_, text)| text);
    let found = text.and_then(|text| text.split_once(before)?.1.split_once(behind));
    found
        .map(|(found, _)| found)
        .with_context(|| format!("{name} has no `{before}`, which the versions in the book are compared with"))
}

/// A number of CUDA's, 12040, as it is written, 12.4.
fn cuda(number: &str) -> Result<String> {
    let number: u32 = number.parse().with_context(|| format!("`{number}` is no version of CUDA"))?;
    Ok(format!("{}.{}", number / 1000, number % 1000 / 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn variables_are_those_that_are_read() {
        let code = "const A: &str = \"CUDA_SIM_SEED\";\nenv!(\"CUDA_SIM_SOURCES\");\n// \"CUDA_SIM_NONE\"\n";
        let page = "| `CUDA_SIM_SEED` | x |\nCUDA_ERROR_UNKNOWN, CUDA_HOME\n";
        let files = [file("cuda-sim/src/a.rs", code), file(LIST, page)];
        assert_eq!(variables(&files), [""; 0]);
        let files =
            [file("cuda-sim/src/a.rs", code), file(LIST, "`CUDA_SIM_SEED`\n"), file("README.md", "CUDA_SIM_SPEED=1\n")];
        let not_listed = "docs/book/src/environment.md: lacks the variable `CUDA_SIM_SEED`";
        assert_eq!(variables(&files), ["README.md:1: nothing reads the variable `CUDA_SIM_SPEED`", not_listed]);
    }

    #[test]
    fn versions_are_those_of_the_manifests() {
        let right = Versions {
            rust: "1.95".into(),
            toolchain: "1.95.0".into(),
            llvm: "22".into(),
            next_llvm: "23".into(),
            llvm_sys: "221".into(),
            cuda: "13.5".into(),
            oldest_cuda: "12.0".into(),
        };
        let page = "LLVM 22 or 23, LLVM 24 too. Rust 1.95 has one, Rust 1.99 will; Debian's packages `libllvm22`. rustup default 1.95, --default-toolchain 1.95.0.\n\
                    `LLVM_SYS_221_PREFIX`; the newest headers (13.5), any headers from 12.0 to 13.5, all fields of 13.5, CUDA 12.0 or newer,\n\
                    CUDA 12.4 has; (driver 12.0 or newer)\n";
        assert_eq!(versions(&[file("README.md", page)], &right), [""; 0]);
        let stale = page.replace("Rust 1.95 has", "Rust 1.94 has").replace("(driver 12.0", "(toolkit 12.0");
        assert_eq!(
            versions(&[file("README.md", &stale)], &right),
            [
                "README.md:1: `Rust 1.94`, and it is 1.95",
                "docs/book/src/: no page names `(driver 12.0` any more, which xtask/src/book/truth.rs looks for"
            ]
        );
    }

    #[test]
    fn a_source_without_its_version_is_an_error() {
        let error = Versions::read(&[file("Cargo.toml", "")]).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.contains("cuda-llvm/src/search.rs has no `SUPPORTED")));
        assert!(cuda("twelve").is_err());
    }
}
