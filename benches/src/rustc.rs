//! The compile time that `#[kernel]` adds: a crate of kernels compared with the same functions without the attribute.
//!
//! Each crate is a package with the default profile, so that the macros are not optimised, as for users. `cargo check` checks both
//! repeatedly and in turn. The measured time is the CPU time in user mode of cargo and its child processes, which depends least on
//! other work on the machine. A figure is the median of the differences between the two crates, divided by the number of kernels.
//!
//! - `compile.rustc.statement60_ms`: the time of a kernel of 60 statements in a crate of 20 kernels.
//! - `compile.rustc.alone_ms`: the time of the only kernel of a crate, which includes loading the macros' library.
//! - `compile.rustc.of60_ms`: the time of each kernel in a crate of 60, which shows that the cost is linear.
//! - `compile.rustc.again_ms`: the time of each of 20 kernels when `cargo check` checks the crate again after an edit elsewhere
//!   with incremental compilation, which expands everything again and does little else. The other figures are without it.
//!
//! Each figure has a `_spread_ms`, the interquartile range of the differences.
//!
//! This is the only group that needs the sources, since it runs `cargo`.
//!
//! # Safety
//!
//! One call to the C library, which fills in a variable.

use std::fmt::Write as _;
use std::fs;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::figures::{median, print_measured, quartiles};

const STATEMENTS: usize = 60;

/// The figures: the name, the number of kernels in the crate, the number of checks, and true for incremental compilation.
const MEASURED: [(&str, usize, usize, bool); 4] =
    [("statement60", 20, 15, false), ("alone", 1, 15, false), ("of60", 60, 5, false), ("again", 20, 15, true)];

/// The lines of the bodies, in which `#` is replaced by a number, each with one text per statement.
const LINES: [&[&str]; 9] = [
    &["let v# = x[i] * a + s;", "s += v#;"],
    &["let w# = y[i + #] - 1.5;", "s = s.max(w#);"],
    &["if c > # && s < 3.0 { c -= 1; } else { s *= 0.5; }"],
    &["for t in 0..n as usize { s += x[t] * y[t]; }"],
    &["let m# = (c as f32).mul_add(a, s);", "s -= m#;"],
    &["while c > # { c /= 2; s += 1.0; }"],
    &["let (p#, q#) = (x[i] + s, c & #);", "c ^= q#;", "s += p#;"],
    &["c = match c { 0 => 1, 1..=4 => c + 2, _ => c.wrapping_mul(3) };"],
    &["out[i + #] = s / (a + #.25);"],
];

pub(crate) fn run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for (name, count, runs, incremental) in MEASURED {
        let [with, without] = ["#[cuda_jit::kernel]\n", ""].map(|attribute| {
            let kind = if attribute.is_empty() { "plain" } else { "kernels" };
            Package::new(folder.path(), &format!("{name}_{kind}"), attribute, count, incremental)
        });
        let (mut with, mut without) = (with?, without?);
        let mut differences = Vec::new();
        for _ in 0..runs {
            let added = with.check()? - without.check()?;
            differences.push(added * 1e3 / count as f64);
        }
        let [low, high] = quartiles(differences.clone());
        print_measured(&format!("compile.rustc.{name}_ms"), median(differences), "ms");
        print_measured(&format!("compile.rustc.{name}_spread_ms"), high - low, "ms");
    }
    Ok(())
}

/// A package of functions.
struct Package {
    folder: PathBuf,
    target: PathBuf,
    text: String,
    incremental: bool,
    checks: u32,
}

impl Package {
    /// Creates a package, and checks it once with its dependencies.
    fn new(folder: &Path, name: &str, attribute: &str, count: usize, incremental: bool) -> Result<Self> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the benches stand in a workspace")?;
        let (package, target) = (folder.join(name), folder.join("target"));
        fs::create_dir_all(package.join("src"))?;
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\ncuda-jit = {{ \
             path = {:?} }}\n\n[workspace]\n",
            workspace.join("cuda-jit")
        );
        fs::write(package.join("Cargo.toml"), manifest)?;
        fs::copy(workspace.join("Cargo.lock"), package.join("Cargo.lock"))?;
        let mut text = String::from("#![allow(dead_code)]\nuse cuda_jit::device::grid;\n");
        for number in 0..count {
            text += attribute;
            function(&mut text, number);
        }
        let mut package = Self { folder: package, target, text, incremental, checks: 0 };
        package.check()?;
        Ok(package)
    }

    /// The CPU time of `cargo check` after an edit at the end of the file, in seconds.
    fn check(&mut self) -> Result<f64> {
        self.checks += 1;
        let edited = format!("{}pub const CHECK: u32 = {};\n", self.text, self.checks);
        fs::write(self.folder.join("src/lib.rs"), edited)?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["check", "--quiet"]).current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target);
        command.env("CARGO_INCREMENTAL", if self.incremental { "1" } else { "0" });
        let before = user_time_of_children()?;
        let output = command.output().context("cargo does not run")?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(user_time_of_children()? - before)
    }
}

/// Writes a function of [`STATEMENTS`] statements that all differ.
fn function(text: &mut String, number: usize) {
    let _ = writeln!(text, "pub fn kernel{number}(x: &[f32], y: &[f32], out: &mut [f32], n: i32, a: f32) {{");
    let mut body = vec!["let i = grid::<1>();".to_owned(), "let mut s = a;".to_owned(), "let mut c = n;".to_owned()];
    for part in 0.. {
        let lines = LINES[(part * 7 + number) % LINES.len()];
        if body.len() + lines.len() >= STATEMENTS {
            break;
        }
        body.extend(lines.iter().map(|line| line.replace('#', &part.to_string())));
    }
    body.resize(STATEMENTS - 1, "s += 1.0;".to_owned());
    body.push("if i < out.len() { out[i] = s + c as f32; }".to_owned());
    for line in body {
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("}\n\n");
}

/// The CPU time in user mode, in seconds, of all child processes that have been waited for, and of their children.
fn user_time_of_children() -> Result<f64> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is to memory of the type's size, which the call writes.
    let status = unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) };
    ensure!(status == 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the call succeeded, so it has filled in the whole struct.
    let time = unsafe { usage.assume_init() }.ru_utime;
    Ok(time.tv_sec as f64 + time.tv_usec as f64 * 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_grows() {
        let before = user_time_of_children().unwrap();
        // A counting loop in a shell.
        let count = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        assert!(Command::new("sh").args(["-c", count]).status().unwrap().success());
        assert!(user_time_of_children().unwrap() > before);
    }

    #[test]
    fn a_function_has_the_number_of_statements_in_the_figure() {
        for number in 0..20 {
            let mut text = String::new();
            function(&mut text, number);
            assert_eq!(text.lines().filter(|line| line.starts_with("    ")).count(), STATEMENTS, "{text}");
        }
    }
}
