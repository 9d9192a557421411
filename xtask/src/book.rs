//! `book`: writes the generated page of the book and builds it; and the step of the gate, which checks what the book says.
//!
//! Its links lead somewhere and each term of the glossary names its source (`links.rs`), the variables and versions that it names are the code's
//! (`truth.rs`), its dependencies are the manifests' (`manifests.rs`), and its list of what kernels lack is the refusals' own (`missing.rs`). That the texts which it quotes are those of tests is a rule of `error_texts.rs`, and that its
//! programs run is a test of cuda-prelude.

mod links;
mod manifests;
mod missing;
mod truth;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::workspace::{self, cargo, output, root, run as run_command};
use crate::{error_texts, tidy};

/// The version of mdbook that builds the book.
const MDBOOK: &str = "0.5.4";

/// The files whose tests run the programs of the pages.
const TESTS: [&str; 2] = ["cuda-prelude/src/book.rs", "interop/cudarc/src/lib.rs"];

/// The folder of the pages in the workspace.
const PAGES: &str = "docs/book/src/";

/// Writes the generated page, and builds the book.
pub(crate) fn run() -> Result<()> {
    let page = root().join(missing::PAGE);
    let text = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
    fs::write(&page, missing::written(&text, &tidy::files()?)?)?;
    build()
}

/// Checks the book against the code, then builds it with mdbook.
pub(crate) fn check() -> Result<()> {
    let faults = faults(&tidy::files()?)?;
    if !faults.is_empty() {
        bail!("{} faults\n{}", faults.len(), faults.join("\n"));
    }
    build()
}

/// The places of all faults, of the workspace's files that are given with their names.
fn faults(files: &[(String, String)]) -> Result<Vec<String>> {
    let faults = [
        links::faults(files),
        links::sourceless(files),
        unrun(files),
        truth::faults(files)?,
        manifests::faults(files),
        error_texts::quoted(files),
        missing::stale_prefixes(files),
        missing::faults(files),
    ];
    Ok(faults.concat())
}

/// Pages with programs that no test runs.
fn unrun(files: &[(String, String)]) -> Vec<String> {
    let tests: Vec<&str> =
        files.iter().filter(|(name, _)| TESTS.contains(&name.as_str())).map(|(_, text)| text.as_str()).collect();
    let is_run = |page: &str| tests.iter().any(|tests| tests.contains(&format!("{PAGES}{page}\"")));
    let has_programs = |text: &str| text.lines().any(|line| line.starts_with("```rust"));
    let unrun = pages(files).filter(|(page, text)| has_programs(text) && !is_run(page));
    unrun.map(|(page, _)| format!("{PAGES}{page}: {} does not run its programs", TESTS[0])).collect()
}

/// Builds the book, and checks the anchors of the pages that come out.
fn build() -> Result<()> {
    let html = target().join("book");
    run_command(Command::new(mdbook()?).arg("build").arg("--dest-dir").arg(&html).arg(root().join("docs/book")))?;
    let faults = links::dead_anchors(&tidy::files()?, |page| fs::read_to_string(html.join(page)).ok());
    if !faults.is_empty() {
        bail!("{} faults in {}\n{}", faults.len(), html.display(), faults.join("\n"));
    }
    Ok(())
}

/// The program: below `target`, else the system's, else a new one below `target`, which takes a minute.
fn mdbook() -> Result<PathBuf> {
    let folder = target().join("mdbook");
    let here = folder.join("bin").join(format!("mdbook{}", std::env::consts::EXE_SUFFIX));
    for program in [here.clone(), PathBuf::from("mdbook")] {
        if output(Command::new(&program).arg("--version")).is_ok_and(|version| version.contains(&format!("v{MDBOOK}")))
        {
            return Ok(program);
        }
    }
    // Without its server and its search; not optimised, since it runs for a second.
    let mut installs = cargo();
    installs.args(["install", "mdbook", "--no-default-features", "--locked", "--debug", "--version", MDBOOK, "--root"]);
    // In a folder of its own, which cargo removes: the workspace's has other profiles.
    run_command(installs.arg(&folder).env_remove("CARGO_TARGET_DIR"))?;
    Ok(here)
}

/// Cargo's target folder.
fn target() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").filter(|folder: &OsString| !folder.is_empty());
    named.map_or_else(|| workspace::root().join("target"), |folder| workspace::root().join(folder))
}

/// The book's pages and the READMEs.
fn documents(files: &[(String, String)]) -> impl Iterator<Item = &(String, String)> {
    files.iter().filter(|(name, _)| name.starts_with(PAGES) && name.ends_with(".md") || name.ends_with("README.md"))
}

/// The pages of the book among files, by their names without the folder.
fn pages(files: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    files.iter().filter_map(|(name, text)| {
        let page = name.strip_prefix(PAGES)?;
        (Path::new(page).extension()? == "md").then_some((page, text.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_is_true() {
        assert_eq!(faults(&tidy::files().unwrap()).unwrap(), [""; 0]);
    }

    #[test]
    fn programs_that_nothing_runs_are_named() {
        let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let page = file("docs/book/src/a.md", "```rust\nfn main() {}\n```\n");
        let run = file(TESTS[0], "a \"../../docs/book/src/a.md\"\n");
        assert_eq!(unrun(&[page.clone(), run]), [""; 0]);
        assert_eq!(unrun(&[page]), ["docs/book/src/a.md: cuda-prelude/src/book.rs does not run its programs"]);
        assert_eq!(unrun(&[file("docs/book/src/a.md", "```text\n```\n")]), [""; 0]);
    }

    #[test]
    fn pages_are_named_without_their_folder() {
        let file = |name: &str| (name.to_owned(), "text".to_owned());
        let files = [file("README.md"), file("docs/book/src/a.md"), file("docs/book/src/pictures/a.png")];
        assert_eq!(pages(&files).collect::<Vec<_>>(), [("a.md", "text")]);
    }
}
