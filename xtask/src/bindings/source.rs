//! The headers that `gen-bindings` reads, with the reason: those of its argument, else of the toolkit that is found, else the
//! newest from PyPI.
//!
//! The search is that of [`cuda_sys::toolkit`], like in cuda-sys' build script.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use cuda_sys::toolkit::Environment;

/// The argument that selects the newest headers from PyPI.
const NEWEST: &str = "newest";

/// Headers of one version of CUDA.
#[derive(Debug)]
pub(super) struct Source {
    /// The folder of `cuda.h`.
    pub(super) include: PathBuf,
    pub(super) version: u32,
    /// True if the committed bindings are made from these headers.
    pub(super) is_newest: bool,
    /// A line for each place that was searched, or the argument.
    why: Vec<String>,
}

impl Source {
    /// The headers of `toolkit`; if it is `None`, those of `environment`, else those that `newest` downloads.
    pub(super) fn choose(
        toolkit: Option<&Path>,
        environment: &Environment,
        newest: impl FnOnce() -> Result<PathBuf>,
    ) -> Result<Source> {
        match toolkit {
            Some(name) if name == NEWEST => Source::new(newest()?, true, vec!["--toolkit newest".to_owned()]),
            Some(folder) => {
                let include = match folder.join("cuda.h").is_file() {
                    true => folder.to_owned(),
                    false => Environment::only(folder).headers().with_context(|| {
                        format!(
                            "--toolkit {}: name a toolkit's folder, the folder of a `cuda.h`, or `{NEWEST}`",
                            folder.display()
                        )
                    })?,
                };
                Source::new(include, false, vec![format!("--toolkit {}", folder.display())])
            }
            None => {
                let mut why: Vec<_> = environment.tried_headers().iter().map(ToString::to_string).collect();
                match environment.headers() {
                    Ok(include) => Source::new(include, false, why),
                    Err(_) => {
                        why.push("no toolkit was found, so the newest headers from PyPI are read".to_owned());
                        Source::new(newest()?, true, why)
                    }
                }
            }
        }
    }

    fn new(include: PathBuf, is_newest: bool, why: Vec<String>) -> Result<Source> {
        Ok(Source { version: cuda_sys_gen::toolkit_version(&include)?, include, is_newest, why })
    }

    /// The version, formatted as `13.5`.
    pub(super) fn written(&self) -> String {
        cuda_sys_gen::written(self.version)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "headers of CUDA {}: {}", self.written(), self.include.display())?;
        self.why.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::scratch;
    use anyhow::bail;
    use std::fs;

    /// A folder with a `cuda.h` of this version below `root/include`.
    fn toolkit(root: &Path, version: &str) {
        fs::create_dir_all(root.join("include")).unwrap();
        fs::write(root.join("include/cuda.h"), format!("#define CUDA_VERSION {version}\n")).unwrap();
    }

    fn unneeded() -> Result<PathBuf> {
        bail!("the newest headers are not needed")
    }

    #[test]
    fn the_found_toolkit_is_reported_with_the_places_before_it() {
        let machine = scratch("source").unwrap();
        let (conda, home) = (machine.path().join("conda"), machine.path().join("cuda home"));
        toolkit(&home, "12040");
        let environment =
            Environment { conda_prefix: Some(conda.clone()), cuda_home: Some(home.clone()), ..Environment::default() };
        let source = Source::choose(None, &environment, unneeded).unwrap();
        assert!(!source.is_newest);
        let text = source.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], format!("headers of CUDA 12.4: {}", home.join("include").display()));
        assert!(lines[1].starts_with(&format!("  CONDA_PREFIX={}: no ", conda.display())), "{text}");
        let found = home.join("include/cuda.h");
        assert_eq!(lines[2], format!("  CUDA_HOME={}: found {}", home.display(), found.display()));
    }

    #[test]
    fn without_a_toolkit_the_newest_headers_are_read_and_reported() {
        let machine = scratch("newest").unwrap();
        toolkit(machine.path(), "13050");
        let newest = || Ok(machine.path().join("include"));
        let source = Source::choose(None, &Environment::default(), newest).unwrap();
        assert!(source.is_newest);
        let text = source.to_string();
        assert!(text.ends_with("\n  no toolkit was found, so the newest headers from PyPI are read"), "{text}");
        assert!(text.contains("CUDA_HOME is not set"), "{text}");
    }

    #[test]
    fn the_argument_comes_before_the_search() {
        let machine = scratch("argument").unwrap();
        let (here, other) = (machine.path().join("here"), machine.path().join("other"));
        toolkit(&here, "13000");
        toolkit(&other, "12000");
        let environment = Environment::only(&here);
        for folder in [&other, &other.join("include")] {
            assert_eq!(Source::choose(Some(folder), &environment, unneeded).unwrap().version, 12000);
        }
        let newest = || Ok(here.join("include"));
        assert!(Source::choose(Some(Path::new("newest")), &environment, newest).unwrap().is_newest);
        let error = Source::choose(Some(machine.path()), &environment, unneeded).unwrap_err();
        assert!(format!("{error:#}").contains("name a toolkit's folder"), "{error:#}");
    }
}
