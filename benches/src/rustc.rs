//! What `#[kernel]` costs rustc: a crate of kernels beside the same functions without the attribute.
//!
//! - `compile.rustc.statement60_ms`: what a kernel of 60 statements adds to `cargo check` of its crate, which is a package
//!   of its own with the default profile, so that the macros are not optimised, as users have them.
//!
//! `cargo` does the checks: it is the one figure that needs the sources.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::figures::print_measured;

const KERNELS: usize = 20;
const STATEMENTS: usize = 60;
const RUNS: usize = 9;

/// What the bodies are made of, `#` being a number: each line counts for as many statements as it has outermost ones.
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
    let [kernels, plain] = [("kernels", "#[cuda_jit::kernel]\n"), ("plain", "")]
        .map(|(name, attribute)| package(folder.path(), name, attribute));
    let (kernels, plain) = (kernels?, plain?);
    let (mut with, mut without) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..RUNS {
        // The fastest of runs in turn: others share the machine.
        with = with.min(check(&kernels, folder.path())?);
        without = without.min(check(&plain, folder.path())?);
    }
    print_measured("compile.rustc.statement60_ms", (with - without) * 1e3 / KERNELS as f64, "ms");
    Ok(())
}

/// Makes a package, checks it once with all it depends on, and yields its folder.
fn package(folder: &Path, name: &str, attribute: &str) -> Result<std::path::PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the benches stand in a workspace")?;
    let package = folder.join(name);
    fs::create_dir_all(package.join("src"))?;
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\ncuda-jit = {{ path = {:?} \
         }}\n\n[workspace]\n",
        workspace.join("cuda-jit")
    );
    fs::write(package.join("Cargo.toml"), manifest)?;
    fs::copy(workspace.join("Cargo.lock"), package.join("Cargo.lock"))?;
    let mut text = String::from("#![allow(dead_code)]\nuse cuda_jit::device::grid;\n");
    for number in 0..KERNELS {
        text += attribute;
        function(&mut text, number);
    }
    fs::write(package.join("src/lib.rs"), text)?;
    check(&package, folder)?;
    Ok(package)
}

/// Writes a function of so many statements, no two alike.
fn function(text: &mut String, number: usize) {
    let _ = writeln!(text, "pub fn f{number}(x: &[f32], y: &[f32], out: &mut [f32], n: i32, a: f32) {{");
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

/// The time of `cargo check` of a package in seconds, which nothing but itself needs.
fn check(package: &Path, target: &Path) -> Result<f64> {
    let source = fs::File::options().append(true).open(package.join("src/lib.rs"))?;
    source.set_modified(std::time::SystemTime::now())?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["check", "--quiet"]).current_dir(package).env("CARGO_TARGET_DIR", target.join("target"));
    let start = Instant::now();
    let output = command.output().context("cargo does not run")?;
    let time = start.elapsed();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_as_many_statements_as_the_figure_says() {
        for number in 0..KERNELS {
            let mut text = String::new();
            function(&mut text, number);
            assert_eq!(text.lines().filter(|line| line.starts_with("    ")).count(), STATEMENTS, "{text}");
        }
    }
}
