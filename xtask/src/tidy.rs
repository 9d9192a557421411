//! Rules about the text of the sources that no compiler checks. Each but one is a function of one file.
//!
//! What the rules are for is said in the style guide; here stands only what is checked:
//!
//! - a Rust file opens with `//!`, is at most [`MAX_LINES`] long, and has a `# Safety` header if it has unsafe code;
//! - unsafe code is forbidden by the crates of [`FORBID_UNSAFE`] and absent from the folders of [`NO_UNSAFE`];
//! - inkwell is named only where code is generated, the driver only in the JIT's launching half;
//! - a public trait says whether unsafe code trusts it: it is `unsafe`, or its text says that it is sealed or that nothing
//!   unsafe relies on an implementation;
//! - nothing is left undone or unrun: no placeholder of the standard library, no ignored test, no example not run;
//! - no public item is without an example (in the crates of `examples.rs`), and no error's text without a test that names
//!   it (in those of `texts.rs`);
//! - no path of a developer's machine.
//!
//! Generated files are exempt from the rules on form, and so are the programs that compilation must refuse.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{examples, texts, workspace};

/// Hand-written files are about 600 lines at most; this is where "about" ends.
const MAX_LINES: usize = 750;

/// Roots of crates that forbid unsafe code.
const FORBID_UNSAFE: &[&str] = &["cuda-prelude/src/lib.rs", "cuda-jit/macros/src/lib.rs", "xtask/src/main.rs"];

/// Parts of crates that have no unsafe code.
const NO_UNSAFE: &[&str] =
    &["cuda-jit/syntax/src", "cuda-jit/compiler/src/front", "cuda-jit/kir/src", "cuda-sim/src/ptx"];

/// Where the LLVM bindings may be named.
const LLVM: &[&str] = &["cuda-llvm/", "cuda-jit/compiler/src/back/llvm/", "cuda-sim/src/codegen/", "xtask/"];

/// Where the JIT may name the driver: what launches, loads and reports, and what a graph hands to kernels.
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

/// The places of all faults in the workspace's files.
pub(crate) fn faults() -> Result<Vec<String>> {
    let files = files()?;
    let mut faults: Vec<String> = files.iter().flat_map(|(name, text)| of_file(name, text)).collect();
    faults.extend(texts::unnamed(&files));
    Ok(faults)
}

/// The workspace's text files with their names, those that are not committed yet included.
pub(crate) fn files() -> Result<Vec<(String, String)>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(workspace::root());
    let mut files = Vec::new();
    for name in workspace::output(&mut git)?.lines() {
        let path = workspace::root().join(name);
        // Deleted and not yet committed, or a link to a folder.
        if !path.is_file() {
            continue;
        }
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        // What is not UTF-8 is not text.
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
            faults.extend(examples::lacking(name, text));
            faults.extend(unsafety(name, text));
            faults.extend(trusted(name, text));
        }
    }
    faults
}

/// The lines of a text that contain `word`, as places with a message.
fn lines<'a>(name: &'a str, text: &'a str, word: &'a str, message: &'a str) -> impl Iterator<Item = String> + 'a {
    let found = text.lines().enumerate().filter(move |(_, line)| line.contains(word));
    found.map(move |(at, _)| format!("{name}:{}: `{}` {message}", at + 1, word.trim()))
}

/// Lines that are code and not only a comment.
pub(crate) fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn paths(name: &str, text: &str) -> Vec<String> {
    // Put together here, so that this file passes.
    let folders = ["root", "home", "Users", "work"].map(|folder| format!("/{folder}/"));
    let starts_path = |line: &str, folder: &str| {
        let before = line.find(folder).and_then(|at| line[..at].chars().next_back());
        line.contains(folder) && before.is_none_or(|before| !before.is_alphanumeric() && !"./-_}>".contains(before))
    };
    let mut faults = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for folder in folders.iter().filter(|folder| starts_path(line, folder)) {
            faults.push(format!("{name}:{}: `{folder}`: a path of one machine", at + 1));
        }
    }
    faults
}

fn unfinished(name: &str, text: &str) -> Vec<String> {
    // Put together here, so that this file passes.
    let mut words = vec![["d", "bg!("].concat(), ["#[ign", "ore"].concat()];
    if !in_tests(name) {
        // In a test these can be what a kernel is tested with.
        words.extend([["to", "do!("].concat(), ["unimpl", "emented!("].concat()]);
    }
    let fences = ["no_run", "ignore"].map(|word| ["```", word].concat());
    let mut faults: Vec<String> =
        words.iter().flat_map(|word| lines(name, text, word, "is left undone or unrun")).collect();
    faults.extend(fences.iter().flat_map(|fence| lines(name, text, fence, "is an example that is not run")));
    faults
}

fn seams(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !LLVM.iter().any(|place| name.starts_with(place)) {
        let named = code(text).filter(|(_, line)| line.contains("inkwell") || line.contains("llvm_sys"));
        faults.extend(named.map(|(at, _)| format!("{name}:{}: LLVM's bindings have their place elsewhere", at + 1)));
    }
    if let Some(file) = name.strip_prefix("cuda-jit/src/")
        && !JIT_DRIVER.iter().any(|place| file.starts_with(place))
    {
        let named = code(text).filter(|(_, line)| line.contains("cuda_driver"));
        faults.extend(named.map(|(at, _)| format!("{name}:{}: only the launching half knows the driver", at + 1)));
    }
    faults
}

fn form(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !text.starts_with("//!") {
        faults.push(format!("{name}:1: opens without `//!`: what the file is, what it is not, its invariant"));
    }
    let count = text.lines().count();
    if count > MAX_LINES {
        faults.push(format!("{name}:{count}: longer than {MAX_LINES} lines"));
    }
    faults
}

/// Whether a file lies in a folder of integration tests.
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
        faults.push(format!("{name}:{}: unsafe code has no place here", at + 1));
    }
    // Tests use unsafe calls of what they test; the argument stands at the block.
    if !in_tests(name) && !text.contains("//! # Safety") {
        faults.push(format!("{name}:{}: unsafe code in a file without `//! # Safety`", at + 1));
    }
    faults
}

/// Public traits that do not say whether unsafe code trusts an implementation.
fn trusted(name: &str, text: &str) -> Vec<String> {
    // Tools and programs of this repository implement their traits themselves.
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
                    "{name}:{}: a trait that does not say whether unsafe code trusts it: make it `unsafe`, or write \
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
    fn a_tidy_file_passes() {
        let text = "//! What it is.\n//!\n//! # Safety\n//!\n//! Why.\n\nuse cuda_driver::Context;\n";
        assert_eq!(of_file("cuda-jit/src/launch/mod.rs", text), Vec::<String>::new());
        assert_eq!(of_file("cuda-llvm/src/lib.rs", "//! It.\npub use inkwell;\n"), Vec::<String>::new());
        for folder in ["root", "home", "work"] {
            let text = format!("see target/{folder}/x, https://x/{folder}/y and ../{folder}/z\n");
            assert_eq!(of_file("a.md", &text), Vec::<String>::new());
        }
    }

    #[test]
    fn every_rule_can_fail() {
        finds("a/src/b.rs", "fn main() {}\n", "a/src/b.rs:1: opens without");
        finds("a/src/b.rs", &("//! It.\n".to_owned() + &"\n".repeat(MAX_LINES)), "longer than");
        finds("a/src/b.rs", "//! It.\nfn f() { unsafe { g() } }\n", "a/src/b.rs:2: unsafe code in a file without");
        finds("cuda-jit/compiler/src/front/b.rs", "//! It.\nunsafe fn f() {}\n", "has no place here");
        finds("xtask/src/main.rs", "//! It.\n", "lacks `#![forbid");
        finds("cuda-jit/compiler/src/front/b.rs", "//! It.\nuse inkwell::X;\n", "LLVM's bindings");
        finds("cuda-jit/src/cache.rs", "//! It.\nuse cuda_driver::X;\n", "only the launching half");
        finds("a/src/b.rs", &["//! It.\nfn f() { to", "do!() }\n"].concat(), "left undone");
        finds("a/tests/b.rs", &["//! It.\n#[ign", "ore]\nfn f() {}\n"].concat(), "left undone");
        finds("a/src/b.rs", &["//! It.\n//! ```", "no_run\n"].concat(), "not run");
        finds(
            "cuda-x/src/b.rs",
            "//! It.\n/// A trait.\npub trait B {}\n",
            "cuda-x/src/b.rs:3: a trait that does not say",
        );
        finds("a.md", &["see /", "root/x\n"].concat(), "a path of one machine");
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
