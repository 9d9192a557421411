//! `containers`: builds and runs a user's project in minimal Debian systems, with each LLVM that they have, and with none.
//!
//! debootstrap creates the systems in `target/containers`, and `chroot` enters them. Mounts into a system are made in the mount
//! namespace of a single command (`unshare --mount`), so nothing stays mounted. The project is outside of the workspace, which it names
//! by path: neither our `rust-toolchain.toml` nor our profiles apply to it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, Result, ensure};

use crate::next_llvm;
use crate::workspace::{self, output};

/// A system: its suite in Debian's archive, and its packages in addition to debootstrap's minimal set.
struct System {
    suite: &'static str,
    packages: &'static [&'static str],
}

/// The oldest system, with whose C library the program is built; it has no suitable LLVM.
const BOOKWORM: System = System { suite: "bookworm", packages: &["gcc", "libc6-dev"] };
/// A system with LLVM 22 alone.
const TRIXIE: System = System { suite: "trixie", packages: &["libllvm22"] };
/// A system with LLVM 22 and 23, and a Debian Rust that is new enough.
const SID: System = System { suite: "sid", packages: &["libllvm22", "libllvm23", "rustc", "cargo"] };

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
/// The path at which this process' toolchain is mounted in a system.
const TOOLCHAIN: &str = "/rust";

pub(crate) fn run() -> Result<()> {
    if let Some(why) = missing_requirement() {
        println!("skipped: containers ({why})");
        return Ok(());
    }
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

/// The requirement that this machine lacks; `None` if it can create systems.
fn missing_requirement() -> Option<String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some("the systems need x86-64 Linux".to_owned());
    }
    let fails = |program: &str, arguments: &[&str]| output(Command::new(program).args(arguments)).is_err();
    if fails("debootstrap", &["--version"]) {
        return Some("there is no debootstrap; `apt install debootstrap` installs it".to_owned());
    }
    fails("unshare", &["--mount", "true"]).then(|| "mounting and chroot need root".to_owned())
}

/// Checks the output of a case, and prints that it passed.
fn expect_output(case: &str, text: &str, expected: &str) -> Result<()> {
    ensure!(text.contains(expected), "{case}: no `{expected}` in\n{text}");
    let line = text.lines().find(|line| line.contains(expected)).unwrap_or_default();
    println!("containers  {case}: {}", line.trim());
    Ok(())
}

/// The Rust toolchain that built this program.
struct Toolchain {
    sysroot: PathBuf,
    /// The folder of cargo's downloads.
    registry: PathBuf,
}

impl Toolchain {
    fn of_this() -> Result<Toolchain> {
        let sysroot = output(Command::new("rustc").current_dir(workspace::root()).args(["--print", "sysroot"]))?;
        let home =
            std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")));
        Ok(Toolchain { sysroot: sysroot.trim().into(), registry: home.context("there is no folder of cargo's")? })
    }
}

/// A system that has been created.
struct CreatedSystem {
    root: PathBuf,
}

impl System {
    /// Creates the system unless it exists; a file marks a complete one.
    fn create(&self) -> Result<CreatedSystem> {
        let root = workspace::root().join("target/containers").join(self.suite);
        let complete = root.join("complete");
        let packages = self.packages.join(" ");
        if fs::read_to_string(&complete).is_ok_and(|made| made == packages) {
            return Ok(CreatedSystem { root });
        }
        eprintln!("making a system of Debian's suite {} in {}", self.suite, root.display());
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        fs::create_dir_all(&root)?;
        let mut debootstrap = Command::new("debootstrap");
        debootstrap.args(["--variant=minbase", self.suite]).arg(&root).arg(next_llvm::archive()?);
        output(&mut debootstrap)?;
        let made = CreatedSystem { root };
        let install = ["apt-get", "install", "--quiet", "--yes", "--no-install-recommends"];
        let mut install = made.enter(None, &[&install, self.packages].concat());
        output(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
        fs::write(&complete, packages)?;
        Ok(made)
    }
}

impl CreatedSystem {
    /// A command in the system, in which the workspace is mounted, and the toolchain if one is given.
    fn enter(&self, toolchain: Option<&Toolchain>, command: &[&str]) -> Command {
        let mut mounts: Vec<(&Path, &str)> = vec![(workspace::root(), "/workspace"), (Path::new("/proc"), "/proc")];
        if let Some(toolchain) = toolchain {
            mounts.push((&toolchain.sysroot, TOOLCHAIN));
        }
        // The arguments are the root, pairs of a source and a mount point, an empty argument, and the command.
        let script = "root=$1; shift; while [ -n \"$1\" ]; do mkdir -p \"$root$2\" && mount --rbind \"$1\" \"$root$2\" || exit 1; \
                      shift 2; done; shift; exec chroot \"$root\" \"$@\"";
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "sh", "-c", script, "sh"]).arg(&self.root);
        for (from, to) in mounts {
            unshare.arg(from).arg(to);
        }
        unshare.arg("").args(command);
        unshare.env_clear().env("PATH", format!("{TOOLCHAIN}/bin:/usr/sbin:/usr/bin:/sbin:/bin")).env("HOME", "/root");
        // chroot and unshare are those of this machine, whose `PATH` has the same folders.
        unshare
    }

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
        let downloads = Toolchain::of_this()?.registry.join("registry");
        let cargo_home = self.inside("/cargo");
        fs::create_dir_all(&cargo_home)?;
        output(Command::new("cp").args(["--archive", "--update"]).arg(&downloads).arg(&cargo_home))?;
        let mut cargo = self.enter(toolchain, &["sh", "-c", "cd /project && exec cargo build --offline"]);
        output(cargo.env("CARGO_HOME", "/cargo")).context("the project cannot be built in the system")?;
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

    /// The path on this machine of a path in the system.
    fn inside(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
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
    use crate::workspace::Scratch;

    #[test]
    fn a_case_with_another_output_fails() {
        assert!(expect_output("it", "right, with /x/libLLVM.so.22.1", "right, with /x/").is_ok());
        let error = expect_output("it", "right, with no LLVM", "right, with /x/").unwrap_err().to_string();
        assert!(error.starts_with("it: no `right, with /x/` in"), "{error}");
    }

    #[test]
    fn a_hidden_library_is_restored() {
        let scratch = Scratch::new("hidden").unwrap();
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
