//! Programs that are built and run, or refused, as those of users: in packages outside of the workspace.
//!
//! They are built in the workspace's target folder, so that the dependencies are those of the tests, which cargo has built.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The programs in `tests/refused` that rustc refuses only when it evaluates their constants, which a check does not do.
pub(crate) const EVALUATED: [&str; 2] = ["hygiene_types", "variables"];

/// A program.
pub(crate) struct Program {
    name: String,
    text: String,
}

impl Program {
    pub(crate) fn new(name: &str, text: String) -> Program {
        Program { name: name.to_owned(), text }
    }

    /// The program of a file in `tests`.
    fn of(folder: &str, name: &str) -> Program {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder).join(name).with_extension("rs");
        Program::new(name, fs::read_to_string(file).expect("the program can be read"))
    }

    /// Builds and runs it, which must succeed.
    pub(crate) fn succeeds(&self) {
        let output = self.cargo("run");
        assert!(output.status.success(), "{}:\n{}", self.name, String::from_utf8_lossy(&output.stderr));
    }

    /// Builds it, which must fail with the errors of a text.
    fn is_refused(&self, with: &str) {
        let output = self.cargo("build");
        let shown = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "`{}` was built", self.name);
        let errors = |text: &str| {
            let lines = text.lines().filter(|line| line.starts_with("error[")).map(str::to_owned);
            lines.collect::<Vec<_>>()
        };
        assert_eq!(errors(&shown), errors(with), "{shown}");
    }

    /// Runs a command of cargo for it.
    fn cargo(&self, command: &str) -> Output {
        let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (package, target) = (Path::new(env!("CARGO_MANIFEST_DIR")), temporary.parent().expect("it is in `target`"));
        let workspace = package.parent().expect("the package is in a workspace");
        let folder = temporary.join("programs").join(&self.name);
        write(&folder.join("src/main.rs"), &self.text);
        write(&folder.join("Cargo.toml"), &manifest(&self.name, workspace));
        // The versions of the dependencies are the workspace's.
        fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the folder can be written");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args([command, "--quiet", "--offline"]).current_dir(&folder).env("CARGO_TARGET_DIR", target);
        cargo.output().expect("cargo starts")
    }
}

fn write(file: &PathBuf, text: &str) {
    fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("the target folder can be written");
    fs::write(file, text).expect("the target folder can be written");
}

/// The manifest of a package, whose profile is the workspace's.
fn manifest(name: &str, workspace: &Path) -> String {
    let packages = ["cuda-driver", "cuda-jit", "cuda-mem", "cuda-sim"]
        .map(|name| format!("{name} = {{ path = {:?} }}\n", workspace.join(name)));
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{}\n\
         [profile.dev]\ndebug = \"line-tables-only\"\n\n[profile.dev.package.blake3]\nopt-level = 3\n\n[workspace]\n",
        packages.concat(),
    )
}

#[test]
fn a_crate_that_forbids_unsafe_code() {
    Program::of("accepted", "forbid_unsafe_code").succeeds();
}

#[test]
fn a_kernel_of_many_lines() {
    Program::new("large_kernel", large_kernel(500)).succeeds();
}

#[test]
fn errors_of_evaluated_constants() {
    for name in EVALUATED {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused").join(name).with_extension("stderr");
        Program::of("refused", name).is_refused(&fs::read_to_string(file).expect("the errors can be read"));
    }
}

/// A program with a kernel of this many lines.
fn large_kernel(lines: usize) -> String {
    let mut text = String::from("#[cuda_jit::kernel]\nfn large(x: &[f32], out: &mut [f32]) {\n    let mut v = 0.0;\n");
    for line in 0..lines - 3 {
        match line % 5 {
            0 => writeln!(text, "    let a{line} = x[{line}] * 2.0 + v;"),
            1 => writeln!(text, "    let b{line} = if a{} > 1.0 {{ a{} }} else {{ v }};", line - 1, line - 1),
            2 => writeln!(text, "    for k in 0..{line}u32 {{ v += (k as f32).sqrt() * b{}; }}", line - 1),
            3 => writeln!(text, "    let (c{line}, d{line}) = (v as u32 & {line}, out.len() + {line});"),
            _ => writeln!(text, "    if (c{} as usize) < d{} {{ out[d{} - 1] = v; }}", line - 1, line - 1, line - 1),
        }
        .expect("writing to a string");
    }
    text.push_str("}\nfn main() { assert!(large::compile_ptx((9, 0)).unwrap().contains(\".entry large\")); }\n");
    text
}
