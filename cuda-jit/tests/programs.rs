//! Programs that are built and run, or refused, as those of users: outside of the workspace.

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
        let (built, program) = self.build();
        assert!(built.status.success(), "{}:\n{}", self.name, String::from_utf8_lossy(&built.stderr));
        let output = Command::new(program).output().expect("the program starts");
        assert!(output.status.success(), "{}:\n{}", self.name, String::from_utf8_lossy(&output.stderr));
    }

    /// Builds it, which must fail with the errors of a text.
    fn is_refused(&self, with: &str) {
        let (output, _) = self.build();
        let shown = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "`{}` was built", self.name);
        let errors = |text: &str| {
            let lines = text.lines().filter(|line| line.starts_with("error[")).map(str::to_owned);
            lines.collect::<Vec<_>>()
        };
        assert_eq!(errors(&shown), errors(with), "{shown}");
    }

    /// Compiles it, by rustc with the libraries of the tests where `cargo xtask test` has named them, or by cargo, which builds them
    /// again; returns the compiler's output, and the file of the executable.
    fn build(&self) -> (Output, PathBuf) {
        let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = temporary.join("programs").join(&self.name);
        let source = folder.join("src/main.rs");
        write(&source, &self.text);
        let (mut compiler, program) = match std::env::var(RUSTC) {
            Ok(arguments) => {
                let (mut rustc, program) = (Command::new("rustc"), folder.join(&self.name));
                rustc.args(["--edition=2024", "--crate-name", &self.name]).args(arguments.lines());
                rustc.arg(&source).arg("-o").arg(&program);
                (rustc, program)
            }
            Err(_) => {
                let target = temporary.parent().expect("it is in `target`");
                (cargo(&self.name, &folder, target), target.join("debug").join(&self.name))
            }
        };
        (compiler.output().expect("the compiler starts"), program)
    }
}

/// The variable with the arguments of rustc that name the libraries of the tests, a line each.
const RUSTC: &str = "CUDA_TESTS_RUSTC";

/// The command of cargo that builds the package in a folder.
fn cargo(name: &str, folder: &Path, target: &Path) -> Command {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a workspace");
    write(&folder.join("Cargo.toml"), &manifest(name, workspace));
    // The versions of the dependencies are the workspace's.
    fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the folder can be written");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--offline"]).current_dir(folder).env("CARGO_TARGET_DIR", target);
    cargo
}

fn write(file: &Path, text: &str) {
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
