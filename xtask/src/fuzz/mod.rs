//! `fuzz`: kernels at random, run by rustc's code on the host and by the software device at two levels of optimisation,
//! compared bit for bit, panics included.
//!
//! The programs of a seed are a package of their own below the target folder: rustc compiles them, since they are Rust.
//! Half of the seeds ask for `checked` kernels and compile the host's code with overflow checks; the others wrap. What
//! is not compared: the bits of NaNs, which Rust leaves open, and the message of a panic.

mod expression;
mod program;
mod random;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::workspace;

#[derive(Args)]
pub(crate) struct Options {
    /// What the programs are made from; the clock's time if none is given
    #[arg(long)]
    seed: Option<u64>,
    /// How many programs
    #[arg(long, default_value_t = 60)]
    count: usize,
}

/// So many programs stand in one file.
const IN_FILE: usize = 20;

pub(crate) fn run(options: &Options) -> Result<()> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).context("the clock is before 1970")?;
    programs(options.seed.unwrap_or(now.as_secs()), options.count)
}

/// Writes, compiles and runs so many programs.
pub(crate) fn programs(seed: u64, count: usize) -> Result<()> {
    println!("fuzz: {count} programs of seed {seed}; `cargo xtask fuzz --seed {seed} --count {count}` repeats it");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from);
    let folder = target.join("kernel-fuzz");
    let source = folder.join("src");
    fs::create_dir_all(&source).with_context(|| format!("cannot create {}", source.display()))?;
    let checked = seed % 2 == 1;
    fs::write(folder.join("Cargo.toml"), manifest(checked))?;
    fs::copy(workspace::root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    fs::write(source.join("support.rs"), include_str!("support.rs.in"))?;
    let mut main = String::from("#![allow(warnings, arithmetic_overflow, unconditional_panic)]\nmod support;\n");
    let mut calls = String::new();
    let numbers: Vec<u64> = (0..count as u64).collect();
    for (file, numbers) in numbers.chunks(IN_FILE).enumerate() {
        let text: String = numbers.iter().map(|&number| program::text(seed, number, checked)).collect();
        fs::write(source.join(format!("part{file}.rs")), format!("use crate::support::*;\n\n{text}"))?;
        main += &format!("mod part{file};\n");
        for number in numbers {
            calls += &format!("    support::compare!(session, part{file}, p{number}, o{number}, q{number});\n");
        }
    }
    main += &format!(
        "\nfn main() {{\n    let mut session = support::Session::new({seed});\n{calls}    session.end();\n}}\n"
    );
    fs::write(source.join("main.rs"), main)?;
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    // one block is enough here
    workspace::run(cargo.env("CARGO_TARGET_DIR", &target).env("CUDA_JIT_WARNINGS", "none"))
}

/// The package, whose own code alone is compiled with other checks than usual.
fn manifest(checked: bool) -> String {
    let path = |name: &str| workspace::root().join(name);
    format!(
        "[package]\nname = \"kernel-fuzz\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         cuda-driver = {{ path = {:?} }}\ncuda-jit = {{ path = {:?} }}\ncuda-mem = {{ path = {:?} }}\n\
         cuda-sim = {{ path = {:?} }}\nndarray = {{ version = \"0.17\", default-features = false }}\n\n\
         [profile.dev]\ndebug = \"line-tables-only\"\n\n\
         [profile.dev.package.kernel-fuzz]\noverflow-checks = {checked}\n\n[workspace]\n",
        path("cuda-driver"),
        path("cuda-jit"),
        path("cuda-mem"),
        path("cuda-sim"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_always_the_same_programs() {
        assert_eq!(program::text(7, 3, true), program::text(7, 3, true));
        assert_ne!(program::text(7, 3, true), program::text(8, 3, true));
    }

    #[test]
    fn programs_reach_all_of_the_grammar() {
        let text: String = (0..200).map(|number| program::text(1, number, false)).collect();
        let forms = [
            "for ",
            "while ",
            "loop {",
            "match ",
            "if let Some",
            "'l",
            "continue",
            "break",
            "return ",
            "struct",
            "&mut ",
            ".checked_add",
            ".saturating_sub",
            ".rotate_left",
            "<<",
            ">>",
            "&&",
            "||",
            ".mul_add",
            ".sqrt()",
            " as i8",
            " as f64",
            " as u128",
            "|p: ",
            ".rev()",
            ".step_by",
            ".iter()",
            "Pair {",
            ".mix(",
            "MIN",
            "NAN",
        ];
        let absent: Vec<&str> = forms.into_iter().filter(|form| !text.contains(form)).collect();
        assert_eq!(absent, ["struct", " as u128"], "128 bits and items are no part of a kernel's body");
    }
}
