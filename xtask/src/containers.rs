//! `containers`: what needs another system than this one, tried in minimal Debian systems.
//!
//! debootstrap creates the systems in `target/containers`, and `chroot` enters them. Mounts into a system are made in the mount
//! namespace of a single command (`unshare --mount`), so nothing stays mounted.

mod cross;
mod projects;
mod system;

use anyhow::Result;
use clap::{Args, ValueEnum};

#[derive(Args)]
pub(crate) struct Options {
    /// The cases to try; all of them if none is given
    cases: Vec<Case>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Case {
    /// A user's project, built and run with each LLVM that the systems have, and with none
    Projects,
    /// The workspace checked for AArch64, and tests of it run under QEMU
    Aarch64,
    /// The crates that programs with a bundle need, checked for Windows
    Windows,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(why) = system::missing_requirement() {
        println!("skipped: containers ({why})");
        return Ok(());
    }
    let cases = if options.cases.is_empty() { Case::value_variants() } else { &options.cases };
    for case in cases {
        match case {
            Case::Projects => projects::run()?,
            Case::Aarch64 => cross::aarch64()?,
            Case::Windows => cross::windows()?,
        }
    }
    Ok(())
}
