//! `fuzz`: generates random kernels, and compares rustc's code on the host with the software device, at two levels of optimisation
//! and on both of its engines, bit for bit and including panics.
//!
//! The programs of a seed are a package below the target folder, which rustc compiles. Odd seeds generate `checked` kernels and
//! compile the host's code with overflow checks; with even seeds arithmetic wraps. Not compared are the bits of NaNs, which Rust
//! leaves unspecified, and the messages of panics. An error at the launch of a program that rustc accepts is a finding too.

mod block;
mod expression;
mod features;
mod gate;
mod items;
mod number;
mod program;
mod random;
mod snippets;
mod statement;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Args;

use self::snippets::Chosen;
use crate::workspace;

#[derive(Args)]
pub(crate) struct Options {
    /// The seed of the programs; the current time if none is given
    #[arg(long)]
    seed: Option<u64>,
    /// The number of programs
    #[arg(long, default_value_t = 60)]
    count: u64,
    /// The number of the first program, to go on with a run that was stopped
    #[arg(long, default_value_t = 0, conflicts_with = "only")]
    first: u64,
    /// Generate only the program with this number
    #[arg(long)]
    only: Option<u64>,
    /// Also generate these features, which are known failures; `all` for every one
    #[arg(long, value_delimiter = ',')]
    features: Vec<String>,
    /// Generate only these features
    #[arg(long, value_delimiter = ',')]
    only_features: Vec<String>,
}

/// The package of the programs, its folder and its executable.
const PACKAGE: &str = "kernel-fuzz";

/// The number of programs in one file.
const PROGRAMS_PER_FILE: usize = 20;

/// The number of programs in one package; a larger one takes rustc too much memory.
const PROGRAMS_PER_PACKAGE: usize = 100;

/// Runs the programs of the gate.
pub(crate) fn gate() -> Result<()> {
    let dependencies = Dependencies::OfTests(workspace::libraries()?);
    let mut all = gate::programs().into_iter();
    all.try_for_each(|(seed, numbers)| programs(seed, &numbers, &Chosen::supported(), &dependencies))
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).context("the clock is before 1970")?;
    let seed = options.seed.unwrap_or(now.as_secs());
    println!("fuzz: {} programs of seed {seed}; `--seed {seed} --only N` repeats number N", options.count);
    let chosen = Chosen::new(&options.features, &options.only_features)?;
    if let Some(only) = options.only {
        return programs(seed, &[only], &chosen, &Dependencies::Quick);
    }
    let dependencies =
        if options.count > PROGRAMS_PER_PACKAGE as u64 { Dependencies::Optimized } else { Dependencies::Quick };
    let end = options.first.checked_add(options.count).context("`--first` plus `--count` is beyond 2^64")?;
    (options.first..end).step_by(PROGRAMS_PER_PACKAGE).try_for_each(|first| {
        let numbers: Vec<u64> = (first..end.min(first.saturating_add(PROGRAMS_PER_PACKAGE as u64))).collect();
        programs(seed, &numbers, &chosen, &dependencies)
    })
}

/// The build of the compiler and of the software device, on which the programs depend.
enum Dependencies {
    /// By cargo, without optimisation.
    Quick,
    /// By cargo, optimized with assertions, which halves the time of long runs.
    Optimized,
    /// They are built already, for the tests: rustc's arguments that name them.
    OfTests(Vec<String>),
}

/// Generates, compiles and runs the programs with these numbers.
fn programs(seed: u64, numbers: &[u64], chosen: &Chosen, dependencies: &Dependencies) -> Result<()> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from);
    let folder = target.join(PACKAGE);
    let source = folder.join("src");
    fs::create_dir_all(&source).with_context(|| format!("cannot create {}", source.display()))?;
    let checked = seed % 2 == 1;
    fs::write(source.join("support.rs"), include_str!("support.rs.in"))?;
    fs::write(source.join("model.rs"), include_str!("model.rs.in"))?;
    let mut main =
        String::from("#![allow(warnings, arithmetic_overflow, unconditional_panic)]\nmod model;\nmod support;\n");
    let mut calls = String::new();
    for (file, numbers) in numbers.chunks(PROGRAMS_PER_FILE).enumerate() {
        let text: String = numbers.iter().map(|&number| program::text(seed, number, checked, chosen)).collect();
        fs::write(
            source.join(format!("part{file}.rs")),
            format!("use crate::model;\nuse crate::support::*;\n\n{text}"),
        )?;
        main += &format!("mod part{file};\n");
        for number in numbers {
            calls += &format!("    part{file}::run{number}(&mut session);\n");
        }
    }
    main += &format!(
        "\nfn main() {{\n    let mut session = support::Session::new({seed});\n{calls}    session.end();\n}}\n"
    );
    fs::write(source.join("main.rs"), main)?;
    let program = match dependencies {
        Dependencies::OfTests(arguments) => {
            let (mut rustc, program) = (Command::new("rustc"), folder.join(PACKAGE));
            rustc.args(["--edition=2024", &format!("-Coverflow-checks={checked}")]).args(arguments);
            workspace::run(rustc.arg(source.join("main.rs")).arg("-o").arg(&program))?;
            program
        }
        Dependencies::Quick | Dependencies::Optimized => {
            let optimized = matches!(dependencies, Dependencies::Optimized);
            fs::write(folder.join("Cargo.toml"), manifest(checked, optimized))?;
            fs::copy(workspace::root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
            let mut cargo = workspace::cargo();
            cargo.args(["build", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml"));
            workspace::run(cargo.env("CARGO_TARGET_DIR", &target))?;
            target.join("debug").join(PACKAGE)
        }
    };
    // Both engines of the device run at the same time.
    std::thread::scope(|scope| {
        let runs = ["regions", "fibers"].map(|engine| {
            let mut run = Command::new(&program);
            // A random kernel is never needed again.
            run.env("CUDA_JIT_CACHE", "off");
            run.env("CUDA_JIT_WARNINGS", "none").env("CUDA_SIM_ENGINE", engine);
            scope.spawn(move || workspace::output(&mut run))
        });
        runs.into_iter().try_for_each(|run| {
            print!("{}", run.join().expect("the thread does not panic")?);
            Ok(())
        })
    })
}

/// The manifest of the package. The overflow checks are set for its own code only.
fn manifest(checked: bool, optimized: bool) -> String {
    let optimized = if optimized { "[profile.dev.package.\"*\"]\nopt-level = 2\n\n" } else { "" };
    let path = |name: &str| workspace::root().join(name);
    format!(
        "[package]\nname = \"{PACKAGE}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         cuda-driver = {{ path = {:?} }}\ncuda-jit = {{ path = {:?} }}\ncuda-mem = {{ path = {:?} }}\n\
         cuda-sim = {{ path = {:?} }}\nndarray = {{ version = \"0.17\", default-features = false }}\n\n\
         [profile.dev]\ndebug = \"line-tables-only\"\n\n[profile.dev.package.blake3]\nopt-level = 3\n\n\
         [profile.dev.package.{PACKAGE}]\noverflow-checks = {checked}\n\n{optimized}[workspace]\n",
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
    fn a_seed_always_gives_the_same_programs() {
        assert_eq!(program::text(7, 3, true, &Chosen::supported()), program::text(7, 3, true, &Chosen::supported()));
        assert_ne!(program::text(7, 3, true, &Chosen::supported()), program::text(8, 3, true, &Chosen::supported()));
    }

    #[test]
    fn programs_cover_the_whole_grammar() {
        let text: String = (0..400).map(|number| program::text(1, number, false, &Chosen::supported())).collect();
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
            "f16::from_f32",
            "bf16::from_bits",
            ".to_f32() as",
            ".copysign(",
            ".checked_shl",
            ".abs_diff",
            ".next_power_of_two",
            ".div_ceil",
            "u64::from(",
            "impl S",
            "&mut self",
            "impl T",
            "S::K",
            "::from_repr(",
            "const N: usize",
            "<T: Float>",
            " @ ",
            "let Some(",
            "while let Some",
            "if let Some(v",
            "std::mem::swap",
            ".split_at(",
            ".chunks_exact(",
            "rest @ ..",
            "move |",
            "device_fn!",
            "a.column(",
            "a.row(",
            "ArrayViewMut1",
            "let mut m = ",
            "shared!",
            "sync_threads_count",
            "atomic_min",
            "shfl_down_sync",
            "ballot_sync",
            "match_any_sync",
            "reduce_add_sync",
            "0xffff_0000u32",
        ];
        let absent: Vec<&str> = forms.into_iter().filter(|form| !text.contains(form)).collect();
        assert_eq!(absent, ["let mut m = "], "bound views are no part of the grammar");
    }
}
