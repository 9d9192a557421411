//! A user's project in systems with each LLVM that Debian has, and with none. It is outside of the workspace, which it names by path:
//! neither our `rust-toolchain.toml` nor our profiles apply to it.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

use anyhow::{Context as _, Result, ensure};

use super::system::{CreatedSystem, System, Toolchain};
use crate::workspace::{self, output};

/// The oldest system, with whose C library the program is built; it has no suitable LLVM.
const BOOKWORM: System = System { name: "bookworm", suite: "bookworm", foreign: None, packages: &["gcc", "libc6-dev"] };
/// A system with LLVM 22 alone.
const TRIXIE: System = System { name: "trixie", suite: "trixie", foreign: None, packages: &["libllvm22"] };
/// A system with LLVM 22 and 23, and a Debian Rust that is new enough.
const SID: System =
    System { name: "sid", suite: "sid", foreign: None, packages: &["libllvm22", "libllvm23", "rustc", "cargo"] };

const MANIFEST: &str = r#"[package]
name = "traveller"
version = "0.1.0"
edition = "2024"

[dependencies]
cuda-prelude = { path = "/workspace/cuda-prelude" }

[workspace]
"#;

const MAIN: &str = r#"use cuda_prelude::*;

#[kernel]
fn double(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = 2 * x[i];
    }
}

fn main() -> Result<()> {
    let mut out = vec![0; 100];
    let x: Vec<u32> = (0..100).collect();
    double::launch((4, 32), &x, &mut out)?;
    assert!(out.iter().zip(&x).all(|(out, x)| *out == 2 * x));
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux provides a process' mappings");
    let llvm = maps.split_whitespace().find(|word| word.contains("libLLVM"));
    println!("right, with {}", llvm.unwrap_or("no LLVM"));
    Ok(())
}
"#;

/// The path of the project in a system; it contains the target folder and the caches.
const PROJECT: &str = "/project";
/// The executable, below the project.
const PROGRAM: &str = "target/debug/traveller";
pub(super) fn run() -> Result<()> {
    let (bookworm, trixie, sid) = (BOOKWORM.create()?, TRIXIE.create()?, SID.create()?);
    let toolchain = Toolchain::of_this()?;

    bookworm.project()?;
    bookworm.build(Some(&toolchain))?;
    let cold = "/project/cold";
    let text = bookworm.program(Some(&toolchain), "/project/warm")?;
    expect_output("bookworm, the toolchain's LLVM", &text, "right, with /rust/lib/libLLVM.so.")?;
    let text = bookworm.program(None, "/project/warm")?;
    expect_output("bookworm, the toolchain gone, a warm cache", &text, "right, with no LLVM")?;
    let text = bookworm.program(None, cold)?;
    for place in PLACES {
        ensure!(text.contains(place), "the error does not name {place}:\n{text}");
    }
    expect_output("bookworm, no LLVM, a cold cache", &text, "none was found")?;

    for (system, hidden, name, expected) in [
        (&trixie, None, "trixie, LLVM 22", "right, with /usr/lib/x86_64-linux-gnu/libLLVM.so.22.1"),
        (&sid, None, "sid, LLVM 22 and 23", "right, with /usr/lib/x86_64-linux-gnu/libLLVM.so.22.1"),
        (&sid, Some("libLLVM.so.22.1"), "sid, LLVM 23", "right, with /usr/lib/x86_64-linux-gnu/libLLVM.so.23.1"),
    ] {
        system.project()?;
        system.take(&bookworm)?;
        let hidden = Hidden::new(system, hidden)?;
        let text = system.program(None, cold);
        drop(hidden);
        expect_output(name, &text?, expected)?;
    }
    sid.project()?;
    sid.build(None)?;
    let text = sid.program(None, cold)?;
    expect_output("sid, built with Debian's Rust", &text, "right, with /usr/lib/x86_64-linux-gnu/libLLVM.so.22.1")
}

/// The places that the error of a program without LLVM lists.
const PLACES: &[&str] = &[
    "beside the program, /project/target/debug",
    "the toolchain of the build, /rust/lib",
    "`rustc --print sysroot`",
    "/usr/lib/x86_64-linux-gnu",
    "the system's loader",
    "CUDA_LLVM_PATH",
];

/// Checks the output of a case, and prints that it passed.
fn expect_output(case: &str, text: &str, expected: &str) -> Result<()> {
    ensure!(text.contains(expected), "{case}: no `{expected}` in\n{text}");
    let line = text.lines().find(|line| line.contains(expected)).unwrap_or_default();
    println!("containers  {case}: {}", line.trim());
    Ok(())
}

impl CreatedSystem {
    /// Writes the project, with no cache.
    fn project(&self) -> Result<()> {
        let project = self.inside(PROJECT);
        for folder in ["cold", "warm"] {
            fs::remove_dir_all(project.join(folder)).or_else(missing)?;
        }
        fs::create_dir_all(project.join("src"))?;
        fs::write(project.join("Cargo.toml"), MANIFEST)?;
        fs::write(project.join("src/main.rs"), MAIN)?;
        // The versions with which the workspace is tested.
        fs::copy(workspace::root().join("Cargo.lock"), project.join("Cargo.lock"))?;
        Ok(())
    }

    /// Builds the project with a toolchain; `None` uses the system's.
    fn build(&self, toolchain: Option<&Toolchain>) -> Result<()> {
        let mut cargo = self.cargo(toolchain, PROJECT, &["build"])?;
        output(&mut cargo).context("the project cannot be built in the system")?;
        Ok(())
    }

    /// Runs the program on the software device with that folder as its cache, and returns its standard output and error.
    fn program(&self, toolchain: Option<&Toolchain>, cache: &str) -> Result<String> {
        let program = format!("{PROJECT}/{PROGRAM}");
        let mut program = self.enter(toolchain, &[&program]);
        program.env("CUDA_DRIVER_PATH", "sim").env("CUDA_JIT_CACHE_DIR", cache);
        let Output { stdout, stderr, .. } = program.output()?;
        Ok(String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr))
    }

    /// Copies the program from another system.
    fn take(&self, from: &CreatedSystem) -> Result<()> {
        let to = self.inside(PROJECT).join(PROGRAM);
        fs::create_dir_all(to.parent().context("the program is in a folder")?)?;
        fs::copy(from.inside(PROJECT).join(PROGRAM), to)?;
        Ok(())
    }
}

/// A guard while which a library of a system has another name.
struct Hidden(Option<(PathBuf, PathBuf)>);

impl Hidden {
    fn new(system: &CreatedSystem, library: Option<&str>) -> Result<Hidden> {
        let Some(library) = library else { return Ok(Hidden(None)) };
        let place = system.inside("/usr/lib/x86_64-linux-gnu").join(library);
        let mut name = OsString::from("hidden-");
        name.push(library);
        let other = place.with_file_name(name);
        fs::rename(&place, &other).with_context(|| format!("cannot rename {}", place.display()))?;
        Ok(Hidden(Some((place, other))))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some((place, other)) = &self.0 {
            // If that fails, the next run of the program fails.
            let _ = fs::rename(other, place);
        }
    }
}

fn missing(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::scratch;

    #[test]
    fn a_case_with_another_output_fails() {
        assert!(expect_output("it", "right, with /x/libLLVM.so.22.1", "right, with /x/").is_ok());
        let error = expect_output("it", "right, with no LLVM", "right, with /x/").unwrap_err().to_string();
        assert!(error.starts_with("it: no `right, with /x/` in"), "{error}");
    }

    #[test]
    fn a_hidden_library_is_restored() {
        let scratch = scratch("hidden").unwrap();
        let system = CreatedSystem { root: scratch.path().to_owned() };
        let library = system.inside("/usr/lib/x86_64-linux-gnu/libLLVM.so.22.1");
        fs::create_dir_all(library.parent().unwrap()).unwrap();
        fs::write(&library, "").unwrap();
        let hidden = Hidden::new(&system, Some("libLLVM.so.22.1")).unwrap();
        assert!(!library.exists());
        drop(hidden);
        assert!(library.exists());
        assert!(Hidden::new(&system, Some("libLLVM.so.99")).is_err());
    }
}
