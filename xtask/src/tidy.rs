//! Rules about the text of the sources that no compiler checks. Most look at one file at a time.
//!
//! The rules are:
//!
//! - a Rust file opens with `//!`, is at most [`MAX_LINES`] long, and has a `# Safety` header if it has unsafe code;
//! - unsafe code is forbidden by the crates of [`FORBID_UNSAFE`] and absent from the folders of [`NO_UNSAFE`];
//! - inkwell is named only in code generators, and in the JIT the driver only in the runtime that launches kernels;
//! - a public trait states whether unsafe code trusts it: it is `unsafe`, or its documentation says that it is sealed or that
//!   nothing unsafe relies on an implementation;
//! - nothing is unfinished: no placeholder of the standard library, no ignored test, no example that is not run;
//! - every public item has an example (in the crates of `examples.rs`), and every error text a test that contains it (in those
//!   of `error_texts.rs`);
//! - no summary of documentation opens with a question word such as "What" or "Whether" (in the folders of [`SUMMARIES`]);
//! - every file and folder that ARCHITECTURE.md names exists;
//! - no file contains a path of a developer's machine.
//!
//! Generated files are exempt from the rules on form, and so are the programs that must fail to compile.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{error_texts, examples, workspace};

/// The limit for the lines of a hand-written file; the aim is 600.
const MAX_LINES: usize = 750;

/// Roots of crates that forbid unsafe code.
const FORBID_UNSAFE: &[&str] = &["cuda-prelude/src/lib.rs", "cuda-jit/macros/src/lib.rs", "xtask/src/main.rs"];

/// Folders without unsafe code.
const NO_UNSAFE: &[&str] =
    &["cuda-jit/syntax/src", "cuda-jit/compiler/src/front", "cuda-jit/kir/src", "cuda-sim/src/ptx"];

/// The folders that may name the LLVM bindings.
const LLVM: &[&str] = &["cuda-llvm/", "cuda-jit/compiler/src/back/llvm/", "cuda-sim/src/codegen/", "xtask/"];

/// The files of the JIT that may name the driver: those that load and launch kernels, report errors, or pass values of a graph
/// to kernels.
const JIT_DRIVER: &[&str] = &[
    "launch/",
    "inspect.rs",
    "kernel.rs",
    "device_runtime.rs",
    "constant.rs",
    "warm.rs",
    "host.rs",
    "error.rs",
    "lib.rs",
];

/// The folders in which summaries are checked. A crate is added once its summaries follow the rule.
const SUMMARIES: &[&str] = &[
    "benches/",
    "cuda-driver/",
    "cuda-jit/",
    "cuda-llvm/",
    "cuda-mem/",
    "cuda-nccl/",
    "cuda-prelude/src/",
    "cuda-sim/",
    "cuda-sys/",
    "examples/",
    "fuzz/",
    "interop/",
    "tests/",
    "xtask/",
];

/// The words with which no summary may open: it is a noun phrase, or a verb in the third person.
const QUESTION_WORDS: &[&str] = &["What", "Whether", "How", "Where", "Which", "Who", "Whose", "When"];

/// All faults in the workspace's files, with their positions.
pub(crate) fn faults() -> Result<Vec<String>> {
    let files = files()?;
    let mut faults: Vec<String> = files.iter().flat_map(|(name, text)| of_file(name, text)).collect();
    faults.extend(error_texts::untested(&files));
    faults.extend(examples::lacking(&files));
    faults.extend(missing_files(&files));
    Ok(faults)
}

/// The map of the code, whose names of files and folders are checked.
const MAP: &str = "ARCHITECTURE.md";

/// The files and folders that the map names and the workspace lacks: names in backticks that end in `.rs` or in a slash.
fn missing_files(files: &[(String, String)]) -> Vec<String> {
    let map = files.iter().find(|(name, _)| name == MAP).map_or("", |(_, text)| text);
    let mut faults = Vec::new();
    for (at, line) in map.lines().enumerate() {
        let names = line.split('`').skip(1).step_by(2).filter(|name| name.ends_with(".rs") || name.ends_with('/'));
        for name in names {
            let is_named = |file: &str| match name.ends_with('/') {
                true => format!("/{file}").contains(&format!("/{name}")),
                false => format!("/{file}").ends_with(&format!("/{name}")),
            };
            if !files.iter().any(|(file, _)| is_named(file)) {
                faults.push(format!("{MAP}:{}: the workspace has no `{name}`", at + 1));
            }
        }
    }
    faults
}

/// The workspace's text files with their names, those that are not committed yet included.
pub(crate) fn files() -> Result<Vec<(String, String)>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(workspace::root());
    let mut files = Vec::new();
    for name in workspace::output(&mut git)?.lines() {
        let path = workspace::root().join(name);
        // A deleted file that is still in the index, or a link to a folder.
        if !path.is_file() {
            continue;
        }
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        // A file that is not UTF-8 is not text.
        if let Ok(text) = String::from_utf8(bytes) {
            files.push((name.to_owned(), text));
        }
    }
    Ok(files)
}

fn of_file(name: &str, text: &str) -> Vec<String> {
    let mut faults = paths(name, text);
    if name.ends_with(".rs") {
        faults.extend(unfinished(name, text));
        faults.extend(seams(name, text));
        if !name.contains("/src/generated/") && !name.contains("/tests/refused/") {
            faults.extend(form(name, text));
            faults.extend(summaries(name, text));
            faults.extend(unsafety(name, text));
            faults.extend(trusted(name, text));
        }
    }
    faults
}

/// The positions of the lines that contain `word`, with a message.
fn lines<'a>(name: &'a str, text: &'a str, word: &'a str, message: &'a str) -> impl Iterator<Item = String> + 'a {
    let found = text.lines().enumerate().filter(move |(_, line)| line.contains(word));
    found.map(move |(at, _)| format!("{name}:{}: `{}` {message}", at + 1, word.trim()))
}

/// The lines that are not comments.
pub(crate) fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn paths(name: &str, text: &str) -> Vec<String> {
    // The parts are joined here, so that this file passes.
    let folders = ["root", "home", "Users", "work"].map(|folder| format!("/{folder}/"));
    let starts_path = |line: &str, folder: &str| {
        let before = line.find(folder).and_then(|at| line[..at].chars().next_back());
        line.contains(folder) && before.is_none_or(|before| !before.is_alphanumeric() && !"./-_}>".contains(before))
    };
    let mut faults = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for folder in folders.iter().filter(|folder| starts_path(line, folder)) {
            faults.push(format!("{name}:{}: `{folder}` is a path of one machine", at + 1));
        }
    }
    faults
}

fn unfinished(name: &str, text: &str) -> Vec<String> {
    // The parts are joined here, so that this file passes.
    let mut words = vec![["d", "bg!("].concat(), ["#[ign", "ore"].concat()];
    if !in_tests(name) {
        // In a test these can be part of a tested kernel.
        words.extend([["to", "do!("].concat(), ["unimpl", "emented!("].concat()]);
    }
    let fences = ["no_run", "ignore"].map(|word| ["```", word].concat());
    let mut faults: Vec<String> = words
        .iter()
        .flat_map(|word| lines(name, text, word, "marks unfinished work or a test that is not run"))
        .collect();
    faults.extend(fences.iter().flat_map(|fence| lines(name, text, fence, "is an example that is not run")));
    faults
}

fn seams(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !LLVM.iter().any(|place| name.starts_with(place)) {
        let named = code(text).filter(|(_, line)| line.contains("inkwell") || line.contains("llvm_sys"));
        faults.extend(named.map(|(at, _)| format!("{name}:{}: this file may not name LLVM's bindings", at + 1)));
    }
    if let Some(file) = name.strip_prefix("cuda-jit/src/")
        && !JIT_DRIVER.iter().any(|place| file.starts_with(place))
    {
        let named = code(text).filter(|(_, line)| line.contains("cuda_driver"));
        faults.extend(
            named.map(|(at, _)| {
                format!("{name}:{}: only the runtime that launches kernels may name the driver", at + 1)
            }),
        );
    }
    faults
}

fn form(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !text.starts_with("//!") {
        faults.push(format!(
            "{name}:1: lacks an opening `//!`, which says what the file is, what it is not, and its invariant"
        ));
    }
    let count = text.lines().count();
    if count > MAX_LINES {
        faults.push(format!("{name}:{count}: longer than {MAX_LINES} lines"));
    }
    faults
}

/// The summaries that open with a question word. A summary is the first line of a block of documentation comments.
fn summaries(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !SUMMARIES.iter().any(|folder| name.starts_with(folder)) {
        return faults;
    }
    let documentation = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::to_owned)
    };
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        let line = documentation(line);
        let first = line.as_deref().filter(|_| !inside).and_then(|summary| summary.split_whitespace().next());
        if let Some(word) = first.filter(|word| QUESTION_WORDS.contains(word)) {
            faults.push(format!(
                "{name}:{}: the summary opens with `{word}`: name the item or say what it does, such as \"The number of\" or \
                 \"Returns true if\"",
                at + 1
            ));
        }
        inside = line.is_some();
    }
    faults
}

/// Returns true if a file is in a folder of integration tests.
fn in_tests(name: &str) -> bool {
    Path::new(name).components().any(|part| part.as_os_str() == "tests")
}

fn unsafety(name: &str, text: &str) -> Vec<String> {
    let forms = ["{", "fn", "impl", "extern", "trait"].map(|form| format!("unsafe {form}"));
    let has = |line: &str| forms.iter().any(|form| line.contains(form.as_str()));
    let first = code(text).find(|(_, line)| has(line) && !line.contains('"'));
    let mut faults = Vec::new();
    let forbids = text.lines().any(|line| line == "#![forbid(unsafe_code)]");
    if FORBID_UNSAFE.contains(&name) && !forbids {
        faults.push(format!("{name}:1: lacks `#![forbid(unsafe_code)]`"));
    }
    let Some((at, _)) = first else { return faults };
    if NO_UNSAFE.iter().any(|place| name.starts_with(place)) {
        faults.push(format!("{name}:{}: unsafe code is not allowed in this folder", at + 1));
    }
    // Tests call the unsafe functions that they test; the argument is at the block.
    if !in_tests(name) && !text.contains("//! # Safety") {
        faults.push(format!("{name}:{}: unsafe code in a file without `//! # Safety`", at + 1));
    }
    faults
}

/// The public traits that do not state whether unsafe code trusts an implementation.
fn trusted(name: &str, text: &str) -> Vec<String> {
    // The traits of this repository's tools and programs have no other implementers.
    if in_tests(name) || !name.starts_with("cuda-") || !name.contains("/src/") {
        return Vec::new();
    }
    let (mut faults, mut said) = (Vec::new(), false);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if line.starts_with("///") {
            said |= ["ealed", "Keeps [`", "othing unsafe relies on a"].iter().any(|word| line.contains(word));
        } else if line.starts_with("pub trait ") {
            if !said && !line.starts_with("pub trait Sealed") && !line.contains("sealed::") {
                faults.push(format!(
                    "{name}:{}: the trait does not state whether unsafe code trusts it: make it `unsafe`, or write \
                     \"Sealed\" or \"Nothing unsafe relies on an implementation\"",
                    at + 1
                ));
            }
            said = false;
        } else if line.is_empty() || line.ends_with(['}', ';']) {
            said = false;
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn finds(name: &str, text: &str, fault: &str) {
        let faults = of_file(name, text);
        assert!(faults.iter().any(|found| found.contains(fault)), "{fault} is not among {faults:?}");
    }

    #[test]
    fn files_that_the_map_names_exist() {
        let map = "`front/call.rs` calls; `ir/` and `cuda-sim/src/ir/` are folders; `back/gone.rs`, `irs/` and `call` are not.\n";
        let files = [(MAP, map), ("cuda-jit/src/front/call.rs", ""), ("cuda-sim/src/ir/lower.rs", "")];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let faults = ["back/gone.rs", "irs/"].map(|name| format!("{MAP}:1: the workspace has no `{name}`"));
        assert_eq!(missing_files(&files), faults);
    }

    #[test]
    fn a_tidy_file_passes() {
        let text = "//! It.\n//!\n//! # Safety\n//!\n//! Why.\n\nuse cuda_driver::Context;\n";
        assert_eq!(of_file("cuda-jit/src/launch/mod.rs", text), Vec::<String>::new());
        assert_eq!(of_file("cuda-llvm/src/lib.rs", "//! It.\npub use inkwell;\n"), Vec::<String>::new());
        for folder in ["root", "home", "work"] {
            let text = format!("see target/{folder}/x, https://x/{folder}/y and ../{folder}/z\n");
            assert_eq!(of_file("a.md", &text), Vec::<String>::new());
        }
    }

    #[test]
    fn every_rule_can_fail() {
        finds("a/src/b.rs", "fn main() {}\n", "a/src/b.rs:1: lacks an opening");
        finds("a/src/b.rs", &("//! It.\n".to_owned() + &"\n".repeat(MAX_LINES)), "longer than");
        finds("a/src/b.rs", "//! It.\nfn f() { unsafe { g() } }\n", "a/src/b.rs:2: unsafe code in a file without");
        finds("cuda-jit/compiler/src/front/b.rs", "//! It.\nunsafe fn f() {}\n", "is not allowed in this folder");
        finds("xtask/src/main.rs", "//! It.\n", "lacks `#![forbid");
        finds("cuda-jit/compiler/src/front/b.rs", "//! It.\nuse inkwell::X;\n", "may not name LLVM's bindings");
        finds("cuda-jit/src/cache.rs", "//! It.\nuse cuda_driver::X;\n", "only the runtime that launches");
        finds("a/src/b.rs", &["//! It.\nfn f() { to", "do!() }\n"].concat(), "unfinished work");
        finds("a/tests/b.rs", &["//! It.\n#[ign", "ore]\nfn f() {}\n"].concat(), "unfinished work");
        finds("a/src/b.rs", &["//! It.\n//! ```", "no_run\n"].concat(), "not run");
        finds(
            "cuda-x/src/b.rs",
            "//! It.\n/// A trait.\npub trait B {}\n",
            "cuda-x/src/b.rs:3: the trait does not state",
        );
        finds("a.md", &["see /", "root/x\n"].concat(), "a path of one machine");
    }

    #[test]
    fn a_summary_that_opens_with_a_question_word_is_reported() {
        for word in QUESTION_WORDS {
            let fault = format!("opens with `{word}`");
            finds("cuda-sys/src/b.rs", &format!("//! {word} is there.\n"), &format!("b.rs:1: the summary {fault}"));
            let text = format!("//! It.\n\nstruct S {{\n    /// {word} it is.\n    x: u8,\n}}\n");
            finds("xtask/src/b.rs", &text, &format!("b.rs:4: the summary {fault}"));
        }
        // Only the first line of a block counts, and only whole words.
        let text = "//! It.\n//! What follows is text.\n\n/// Whatever.\n///\n/// Whether it is one.\nfn f() {}\n// Why not.\n";
        assert_eq!(of_file("xtask/src/b.rs", text), Vec::<String>::new());
        assert_eq!(of_file("cuda-x/src/b.rs", "//! What it is.\n"), Vec::<String>::new());
    }

    #[test]
    fn comments_and_generated_files_may_name_things() {
        assert!(of_file("a/src/b.rs", "//! It needs no inkwell.\n// unsafe { x }\n").is_empty());
        assert!(of_file("cuda-sys/src/generated/t.rs", "// made\nunsafe fn f();\n").is_empty());
        for text in [
            "/// Sealed.\n#[x(\n  y\n)]\npub trait B {}\n",
            "/// It.\n/// Nothing unsafe relies on an implementation.\npub trait B {}\n",
        ] {
            assert!(of_file("cuda-x/src/b.rs", &["//! It.\n", text].concat()).is_empty());
        }
        assert!(of_file("a/tests/b.rs", &["//! It.\nfn f() { unimpl", "emented!() }\n"].concat()).is_empty());
    }
}
