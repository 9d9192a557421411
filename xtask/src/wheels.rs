//! Folders of wheels from PyPI, for the tasks that define their contents.
//!
//! Invariant: a folder either has all files of its wheels and a stamp that names them, or counts as absent. It is assembled in a
//! staging folder and then renamed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::workspace::{self, output};

/// The stamp's file, which holds the wheels' names.
const STAMP: &str = "wheels.txt";

/// The program that downloads single files of a wheel.
const PART: &str = include_str!("wheels/part.py");

/// The folder into which pip installs.
pub(crate) const SITE: &str = "site";

/// Wheels, and the layout of their files in a folder.
pub(crate) struct Wheels {
    /// The folder's name in `target`.
    pub(crate) name: &'static str,
    /// The requirements for pip. Of `requirement#file` only that file is downloaded.
    pub(crate) wheels: &'static [&'static str],
    /// The size of the download in megabytes.
    pub(crate) megabytes: u32,
    /// The files and folders of `site-packages` that are kept, with their destinations; if it is empty, everything is kept in place.
    pub(crate) places: &'static [(&'static str, &'static str)],
}

impl Wheels {
    /// The default folder. It does not depend on `CARGO_TARGET_DIR`, so that builds in different folders share a download.
    pub(crate) fn default_dir(&self) -> PathBuf {
        workspace::root().join("target").join(self.name)
    }

    /// Returns true if `dir` holds exactly these wheels.
    pub(crate) fn complete(&self, dir: &Path) -> bool {
        fs::read_to_string(dir.join(STAMP)).is_ok_and(|stamp| stamp == self.stamp())
    }

    fn stamp(&self) -> String {
        self.wheels.join("\n") + "\n"
    }

    /// Downloads the wheels to `dir` unless they are installed there.
    pub(crate) fn install(&self, dir: &Path) -> Result<()> {
        if self.complete(dir) {
            return Ok(());
        }
        let parent = dir.parent().with_context(|| format!("`{}` is no folder to install into", dir.display()))?;
        let name = dir.file_name().with_context(|| format!("`{}` is no folder to install into", dir.display()))?;
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        let beside = |suffix: &str| parent.join(format!("{}.{suffix}", name.to_string_lossy()));
        // Of two tasks that start at the same time one downloads. The system releases the lock when the process ends.
        let lock = File::create(beside("lock"))?;
        lock.lock()?;
        if self.complete(dir) {
            return Ok(());
        }
        ensure!(
            !dir.exists() || dir.join(STAMP).exists(),
            "`{}` exists and was not created by this command; name another folder with --dir",
            dir.display()
        );
        let staging = beside("new");
        remove(&staging)?;
        eprintln!("downloading {} wheels from PyPI to {} ({} MB)", self.wheels.len(), dir.display(), self.megabytes);
        self.download(&staging.join(SITE))?;
        self.lay_out(&staging)?;
        fs::write(staging.join(STAMP), self.stamp())?;
        remove(dir)?;
        fs::rename(&staging, dir).with_context(|| format!("cannot move the wheels to {}", dir.display()))
    }

    /// Installs the wheels into `site` with pip.
    fn download(&self, site: &Path) -> Result<()> {
        let pip = || {
            let mut pip = Command::new("python3");
            // A user's setting to install into the home folder conflicts with a target folder.
            pip.args(["-m", "pip"]).env("PIP_USER", "0").env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
            pip
        };
        output(pip().arg("--version")).context(
            "wheels are downloaded with `python3 -m pip`, which does not run here; install it (Debian: `apt install \
             python3-pip`)",
        )?;
        let (parts, whole): (Vec<_>, Vec<_>) = self.wheels.iter().copied().partition(|wheel| wheel.contains('#'));
        let mut install = pip();
        install.args(["install", "--quiet", "--no-deps", "--no-compile", "--only-binary=:all:", "--target"]);
        output(install.arg(site).args(whole)).context("pip cannot install the wheels")?;
        for (requirement, file) in parts.into_iter().filter_map(|part| part.split_once('#')) {
            let mut python = Command::new("python3");
            output(python.args(["-c", PART, requirement]).arg(site).arg(file))
                .with_context(|| format!("{file} of {requirement} cannot be downloaded"))?;
        }
        Ok(())
    }

    /// Moves the files of the wheels from `site-packages` to their destinations.
    pub(crate) fn lay_out(&self, staging: &Path) -> Result<()> {
        let site = staging.join(SITE);
        for (from, to) in self.places {
            let (from, to) = (site.join(from), staging.join(to));
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::rename(&from, &to).with_context(|| format!("the wheels brought no {}", from.display()))?;
        }
        if self.places.is_empty() { Ok(()) } else { remove(&site) }
    }
}

/// Makes `folder` one that gives Python packages of these folders, as if they were installed: with their `.pth` files, and for
/// packages that look for each other in Python's own folder. It is named by `PYTHONPATH`, which child processes inherit.
pub(crate) fn customize(folder: &Path, packages: &[&Path]) -> Result<()> {
    let packages = packages.iter().map(|site| site.to_str().context("a folder's name is not text"));
    let packages = serde_json::to_string(&packages.collect::<Result<Vec<_>>>()?)?;
    let program = format!(
        "import site\npackages = {packages}\nfor folder in packages:\n    site.addsitedir(folder)\n\
         site.getsitepackages = lambda prefixes=None: packages\n"
    );
    fs::write(folder.join("sitecustomize.py"), program).context("cannot write sitecustomize.py")
}

/// Downloads the source distribution of a requirement to `dir` unless it is there, and returns the folder of its files.
pub(crate) fn source(dir: &Path, requirement: &str) -> Result<PathBuf> {
    let folder = dir.join(requirement.replace("==", "-"));
    if folder.is_dir() {
        return Ok(folder);
    }
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let mut download = Command::new("python3");
    download.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--no-binary=:all:",
        "--disable-pip-version-check",
        "-d",
    ]);
    output(download.arg(dir).arg(requirement)).with_context(|| format!("pip cannot download {requirement}"))?;
    let archive = folder.with_file_name(format!("{}.tar.gz", requirement.replace("==", "-")));
    output(Command::new("python3").args(["-m", "tarfile", "--extract"]).arg(archive).arg(dir))?;
    ensure!(folder.is_dir(), "the archive of {requirement} has no folder {}", folder.display());
    Ok(folder)
}

fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", dir.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::scratch;

    const SOME: Wheels = Wheels { name: "some", wheels: &["some==1"], megabytes: 1, places: &[("a/b.so", "c/d.so.1")] };

    #[test]
    fn a_folder_with_another_stamp_counts_as_absent() {
        let scratch = scratch("stamp").unwrap();
        assert!(!SOME.complete(scratch.path()));
        fs::write(scratch.path().join(STAMP), "some==0.9\n").unwrap();
        assert!(!SOME.complete(scratch.path()));
        fs::write(scratch.path().join(STAMP), SOME.stamp()).unwrap();
        assert!(SOME.complete(scratch.path()));
    }

    #[test]
    fn a_folder_that_the_command_did_not_create_is_not_replaced() {
        let scratch = scratch("foreign").unwrap();
        let theirs = scratch.path().join("toolkit");
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("thesis.tex"), "").unwrap();
        let error = SOME.install(&theirs).err().unwrap().to_string();
        assert!(error.contains("--dir"), "{error}");
        assert!(theirs.join("thesis.tex").exists());
    }

    #[test]
    fn python_finds_packages_of_other_folders() {
        let scratch = scratch("customize").unwrap();
        let packages = scratch.path().join("a 'folder'");
        fs::create_dir(&packages).unwrap();
        fs::write(packages.join("found_here.py"), "where = 'there'\n").unwrap();
        customize(scratch.path(), &[&packages]).unwrap();
        let mut python = Command::new("python3");
        python.args(["-c", "import found_here, site; print(found_here.where, len(site.getsitepackages()))"]);
        // Without Python there is nothing to find.
        if let Ok(text) = output(python.env("PYTHONPATH", scratch.path())) {
            assert_eq!(text, "there 1\n");
        }
    }

    #[test]
    fn listed_files_are_moved_to_their_destinations_and_the_rest_is_removed() {
        let scratch = scratch("places").unwrap();
        let site = scratch.path().join("site");
        fs::create_dir_all(site.join("a")).unwrap();
        for file in ["a/b.so", "a/other.so"] {
            fs::write(site.join(file), "").unwrap();
        }
        SOME.lay_out(scratch.path()).unwrap();
        assert!(scratch.path().join("c/d.so.1").is_file() && !site.exists());
        assert!(SOME.lay_out(scratch.path()).unwrap_err().to_string().contains("a/b.so"));
    }
}
