//! Minimal Debian systems: how they are created and entered.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::next_llvm;
use crate::workspace::{self, output};

/// A system: its name, its suite in Debian's archive, and its packages in addition to debootstrap's minimal set.
pub(super) struct System {
    pub(super) name: &'static str,
    pub(super) suite: &'static str,
    /// The architecture beside this machine's of which it has packages too, by Debian's name.
    pub(super) foreign: Option<&'static str>,
    pub(super) packages: &'static [&'static str],
}

/// The path at which this process' toolchain is mounted in a system.
const TOOLCHAIN: &str = "/rust";
/// The path at which the workspace is mounted in a system.
pub(super) const WORKSPACE: &str = "/workspace";

/// The requirement that this machine lacks; `None` if it can create systems.
pub(super) fn missing_requirement() -> Option<String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some("the systems need x86-64 Linux".to_owned());
    }
    let fails = |program: &str, arguments: &[&str]| output(Command::new(program).args(arguments)).is_err();
    if fails("debootstrap", &["--version"]) {
        return Some("there is no debootstrap; `apt install debootstrap` installs it".to_owned());
    }
    fails("unshare", &["--mount", "true"]).then(|| "mounting and chroot need root".to_owned())
}

/// The Rust toolchain that built this program.
pub(super) struct Toolchain {
    sysroot: PathBuf,
    /// The folder of cargo's downloads.
    registry: PathBuf,
}

impl Toolchain {
    pub(super) fn of_this() -> Result<Toolchain> {
        let sysroot = output(Command::new("rustc").current_dir(workspace::root()).args(["--print", "sysroot"]))?;
        let home =
            std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")));
        Ok(Toolchain { sysroot: sysroot.trim().into(), registry: home.context("there is no folder of cargo's")? })
    }
}

/// A system that has been created.
pub(super) struct CreatedSystem {
    pub(super) root: PathBuf,
}

impl System {
    /// Creates the system unless it exists; a file marks a complete one.
    pub(super) fn create(&self) -> Result<CreatedSystem> {
        let root = workspace::root().join("target/containers").join(self.name);
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
        if let Some(foreign) = self.foreign {
            output(&mut made.enter(None, &["dpkg", "--add-architecture", foreign]))?;
            // A mirror's lists may be older than the week for which they are valid.
            output(&mut made.enter(None, &["apt-get", "--option", "Acquire::Check-Valid-Until=false", "update"]))?;
        }
        let install = ["apt-get", "install", "--quiet", "--yes", "--no-install-recommends"];
        let mut install = made.enter(None, &[&install, self.packages].concat());
        output(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
        fs::write(&complete, packages)?;
        Ok(made)
    }
}

impl CreatedSystem {
    /// A command in the system, in which the workspace is mounted, and the toolchain if one is given.
    pub(super) fn enter(&self, toolchain: Option<&Toolchain>, command: &[&str]) -> Command {
        let mut mounts: Vec<(&Path, &str)> = vec![(workspace::root(), WORKSPACE), (Path::new("/proc"), "/proc")];
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

    /// A command of cargo's in a folder of the system, with this machine's downloads.
    pub(super) fn cargo(&self, toolchain: Option<&Toolchain>, folder: &str, arguments: &[&str]) -> Result<Command> {
        let downloads = Toolchain::of_this()?.registry.join("registry");
        let cargo_home = self.inside("/cargo");
        fs::create_dir_all(&cargo_home)?;
        output(Command::new("cp").args(["--archive", "--update"]).arg(&downloads).arg(&cargo_home))?;
        let script = ["sh", "-c", "cd \"$1\" && shift && exec cargo \"$@\"", "sh", folder];
        let mut cargo = self.enter(toolchain, &[&script, arguments].concat());
        cargo.env("CARGO_HOME", "/cargo").env("CARGO_NET_OFFLINE", "true");
        Ok(cargo)
    }

    /// The path on this machine of a path in the system.
    pub(super) fn inside(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}
