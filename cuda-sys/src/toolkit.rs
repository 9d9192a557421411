//! Finds the CUDA toolkit: headers, libraries, libdevice and command-line tools.
//!
//! All of them are searched for in the same order: the conda environment (`CONDA_PREFIX`, both of its layouts), `CUDA_HOME`,
//! and exactly `/usr/local/cuda` (on Windows the folder that `CUDA_PATH` names). Versioned folders beside that are ignored,
//! because the symbolic link is the machine's choice among them; so are [others](NOT_SEARCHED). For executables and shared
//! libraries, the `nvidia` wheels of the active Python follow. The driver is never searched for, since it belongs to the system
//! and not to a toolkit: see [`DriverApi::load`](crate::DriverApi::load).
//!
//! Invariant: a search reads the file system and its [`Environment`], nothing else, and its error lists every place that was
//! searched, with the reason why the place did not suffice.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::system::{Local, System, library_folders, local_toolkit};

/// The name of the folder below `targets/` that holds this machine's headers and libraries.
///
/// # Examples
///
/// ```
/// use std::path::Path;
/// use cuda_sys::toolkit::TARGET;
///
/// let headers = Path::new("/opt/conda/targets").join(TARGET).join("include");
/// assert!(headers.ends_with("include"));
/// ```
pub const TARGET: &str = if cfg!(target_arch = "aarch64") { "sbsa-linux" } else { "x86_64-linux" };

/// All such folders: on AArch64, toolkits for servers and for Jetson boards have different ones.
const TARGETS: &[&str] = if cfg!(target_arch = "aarch64") { &[TARGET, "aarch64-linux"] } else { &[TARGET] };

/// Debian's multiarch folder below `lib` for this machine's libraries, for `CUDA_HOME=/usr`.
const MULTIARCH: &str = if cfg!(target_arch = "aarch64") { "aarch64-linux-gnu" } else { "x86_64-linux-gnu" };

/// The paths of libdevice below a toolkit's root; the second is Debian's, below `/usr`.
const LIBDEVICE: [&str; 2] = ["nvvm/libdevice/libdevice.10.bc", "lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc"];

/// The folders of Arch's and Debian's toolkits, which are searched only if `CUDA_HOME` names them: nothing else says that they
/// are this machine's choice.
///
/// # Examples
///
/// ```
/// assert!(cuda_sys::toolkit::NOT_SEARCHED.contains(&"/opt/cuda"));
/// ```
pub const NOT_SEARCHED: &[&str] = &["/opt/cuda", "/usr"];

/// The inputs of a search, so that tests can search made-up machines.
///
/// # Examples
///
/// ```
/// use cuda_sys::toolkit::Environment;
/// let nothing = Environment::default();
/// let error = nothing.headers().unwrap_err().to_string();
/// assert!(error.contains("CONDA_PREFIX is not set") && error.contains("CUDA_HOME is not set"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `CONDA_PREFIX`: the active conda environment.
    pub conda_prefix: Option<PathBuf>,
    /// `CUDA_HOME`: a toolkit's root.
    pub cuda_home: Option<PathBuf>,
    /// The machine's toolkit: `/usr/local/cuda`, on Windows what `CUDA_PATH` names.
    pub local: Option<PathBuf>,
    /// `VIRTUAL_ENV`: the active virtual environment of Python.
    pub virtual_env: Option<PathBuf>,
    /// `PATH`, in which the active Python is found if neither environment is active.
    pub path: Option<OsString>,
}

/// A place that was searched.
///
/// # Examples
///
/// ```
/// use cuda_sys::toolkit::{Environment, Outcome, Tried};
///
/// let error = Environment::default().headers().unwrap_err();
/// let Tried { place, outcome } = &error.tried()[0];
/// assert_eq!((place.as_str(), outcome), ("CONDA_PREFIX", &Outcome::NotSet));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The place: `CUDA_HOME=/opt/cuda`, `/usr/local/cuda`, or `CUDA_HOME` if that is not set.
    pub place: String,
    /// The result.
    pub outcome: Outcome,
}

/// The result of searching a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The variable that would name the place is not set.
    NotSet,
    /// None of these files exist.
    Missing(Vec<PathBuf>),
    /// This file exists.
    Found(PathBuf),
}

/// A file of the toolkit that is in none of the places that were searched.
///
/// # Examples
///
/// ```
/// use cuda_sys::toolkit::Environment;
///
/// let error = Environment::only("/nowhere").headers().unwrap_err();
/// for tried in error.tried() {
///     println!("{}: {:?}", tried.place, tried.outcome);
/// }
/// assert!(error.to_string().contains("/nowhere/include/cuda.h"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    what: String,
    tried: Vec<Tried>,
}

impl Environment {
    /// The environment of this process.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::toolkit::Environment;
    /// let environment = Environment::from_process();
    /// assert_eq!(environment.local.as_deref(), Some(std::path::Path::new("/usr/local/cuda")));
    /// ```
    #[must_use]
    pub fn from_process() -> Environment {
        // An empty variable counts as unset, since that is how shells unset one for a single command.
        let var = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
        Environment {
            conda_prefix: var("CONDA_PREFIX").map(PathBuf::from),
            cuda_home: var("CUDA_HOME").map(PathBuf::from),
            local: match local_toolkit(System::HERE) {
                Local::At(root) => Some(PathBuf::from(root)),
                Local::Variable(name) => var(name).map(PathBuf::from),
            },
            virtual_env: var("VIRTUAL_ENV").map(PathBuf::from),
            path: var("PATH"),
        }
    }

    /// An environment in which `root` is the only toolkit.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::toolkit::Environment;
    /// let error = Environment::only("/nowhere").libdevice().unwrap_err().to_string();
    /// assert!(error.contains("/nowhere/nvvm/libdevice/libdevice.10.bc"));
    /// ```
    #[must_use]
    pub fn only(root: impl Into<PathBuf>) -> Environment {
        Environment { local: Some(root.into()), ..Environment::default() }
    }

    /// The folder that holds `cuda.h`.
    ///
    /// # Examples
    ///
    /// ```
    /// match cuda_sys::toolkit::Environment::from_process().headers() {
    ///     Ok(include) => assert!(include.join("cuda.h").is_file()),
    ///     Err(error) => eprintln!("{error}"),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`NotFound`], which lists every place that was searched.
    pub fn headers(&self) -> Result<PathBuf, NotFound> {
        let tried = self.tried_headers();
        let header = found("cuda.h", tried)?;
        Ok(header.parent().map_or_else(PathBuf::new, Path::to_path_buf))
    }

    /// The places that [`headers`](Self::headers) searches, up to the first that has the file.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::toolkit::{Environment, Outcome};
    /// let tried = Environment::default().tried_headers();
    /// assert!(tried.iter().all(|place| place.outcome == Outcome::NotSet));
    /// ```
    #[must_use]
    pub fn tried_headers(&self) -> Vec<Tried> {
        search(self.roots(), |root| {
            targets(root).map(|target| target.join("include/cuda.h")).chain([root.join("include/cuda.h")]).collect()
        })
    }

    /// libdevice, the bitcode library of mathematical functions.
    ///
    /// # Examples
    ///
    /// ```
    /// match cuda_sys::toolkit::Environment::from_process().libdevice() {
    ///     Ok(bitcode) => assert!(bitcode.ends_with("nvvm/libdevice/libdevice.10.bc")),
    ///     Err(error) => eprintln!("{error}"),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`NotFound`], which lists every place that was searched.
    pub fn libdevice(&self) -> Result<PathBuf, NotFound> {
        found("libdevice.10.bc", self.tried_libdevice())
    }

    /// The places that [`libdevice`](Self::libdevice) searches, up to the first that has the file.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(cuda_sys::toolkit::Environment::default().tried_libdevice().len(), 3);
    /// ```
    #[must_use]
    pub fn tried_libdevice(&self) -> Vec<Tried> {
        search(self.roots(), |root| LIBDEVICE.iter().map(|file| root.join(file)).collect())
    }

    /// An executable of the toolkit, such as `ptxas`, or of the `nvidia` wheels of the active Python.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::toolkit::Environment;
    /// let error = Environment::only("/nowhere").tool("ptxas").unwrap_err().to_string();
    /// assert!(error.contains("/nowhere/bin/ptxas"));
    /// ```
    ///
    /// # Errors
    ///
    /// [`NotFound`], which lists every place that was searched.
    pub fn tool(&self, name: &str) -> Result<PathBuf, NotFound> {
        found(name, self.tried_tool(name))
    }

    /// The places that [`tool`](Self::tool) searches, up to the first that has the file.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(cuda_sys::toolkit::Environment::default().tried_tool("ptxas").len(), 4);
    /// ```
    #[must_use]
    pub fn tried_tool(&self, name: &str) -> Vec<Tried> {
        search(self.roots_and_wheels(), |root| {
            let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
            vec![root.join("bin").join(&file), root.join("nvvm/bin").join(file)]
        })
    }

    /// A shared library of the toolkit, or of the `nvidia` wheels of the active Python, by its versioned name such as
    /// `libnvrtc.so.13`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::toolkit::Environment;
    /// let error = Environment::only("/nowhere").library("libnvrtc.so.13").unwrap_err().to_string();
    /// assert!(error.contains("/nowhere/lib64/libnvrtc.so.13"));
    /// ```
    ///
    /// # Errors
    ///
    /// [`NotFound`], which lists every place that was searched.
    pub fn library(&self, name: &str) -> Result<PathBuf, NotFound> {
        found(name, self.tried_library(name))
    }

    /// The places that [`library`](Self::library) searches, up to the first that has the file.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(cuda_sys::toolkit::Environment::default().tried_library("libcudart.so.13").len(), 4);
    /// ```
    #[must_use]
    pub fn tried_library(&self, name: &str) -> Vec<Tried> {
        search(self.roots_and_wheels(), |root| {
            let folders = library_folders(System::HERE, root, targets(root), MULTIARCH);
            folders.iter().map(|folder| folder.join(name)).collect()
        })
    }

    /// The places of a toolkit, then the wheels of the active Python.
    fn roots_and_wheels(&self) -> Vec<(String, Option<PathBuf>)> {
        let wheels = self.python_sites().into_iter().flat_map(|site| wheels(&site.join("nvidia")));
        let wheels: Vec<_> = wheels.collect();
        let mut places = self.roots();
        if wheels.is_empty() {
            places.push(("wheels of the active Python".to_owned(), None));
        }
        places.extend(wheels.into_iter().map(|root| (format!("wheel {}", root.display()), Some(root))));
        places
    }

    /// The three places of a toolkit, in order, each with its description.
    fn roots(&self) -> Vec<(String, Option<PathBuf>)> {
        let variable = |name: &str, root: &Option<PathBuf>| match root {
            Some(root) => (format!("{name}={}", root.display()), Some(root.clone())),
            None => (name.to_owned(), None),
        };
        let local = match &self.local {
            Some(root) => (root.display().to_string(), Some(root.clone())),
            None => match local_toolkit(System::HERE) {
                Local::At(name) | Local::Variable(name) => (name.to_owned(), None),
            },
        };
        vec![variable("CONDA_PREFIX", &self.conda_prefix), variable("CUDA_HOME", &self.cuda_home), local]
    }

    /// `site-packages` of the active Python: a virtual environment's, conda's, or those beside `python3` in `PATH`.
    fn python_sites(&self) -> Vec<PathBuf> {
        let python = || {
            let folders = std::env::split_paths(self.path.as_ref()?);
            let python = folders.map(|folder| folder.join("python3")).find(|python| python.is_file())?;
            Some(python.canonicalize().ok()?.parent()?.parent()?.to_owned())
        };
        let Some(prefix) = self.virtual_env.clone().or_else(|| self.conda_prefix.clone()).or_else(python) else {
            return Vec::new();
        };
        let versions = children(&prefix.join("lib"), "python3");
        let versions = if cfg!(windows) { vec![prefix.join("Lib")] } else { versions };
        versions.into_iter().flat_map(|lib| [lib.join("site-packages"), lib.join("dist-packages")]).collect()
    }
}

/// The folders of this machine's headers and libraries below a toolkit's root.
fn targets(root: &Path) -> impl Iterator<Item = PathBuf> {
    TARGETS.iter().map(|target| root.join("targets").join(target))
}

/// Wheels below `site-packages/nvidia`: a folder per CUDA version since 13 (`cu13`), newest first, then one per package.
fn wheels(nvidia: &Path) -> Vec<PathBuf> {
    let version = |root: &PathBuf| root.file_name()?.to_str()?.strip_prefix("cu")?.parse::<u32>().ok();
    let mut roots = children(nvidia, "");
    roots.sort_by_key(|root| std::cmp::Reverse(version(root)));
    roots
}

/// Folders in `folder` whose name begins with `prefix`, sorted; none where the folder cannot be read.
fn children(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    let mut folders: Vec<_> = named.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Searches the places in order until a file is found.
fn search(places: Vec<(String, Option<PathBuf>)>, files: impl Fn(&Path) -> Vec<PathBuf>) -> Vec<Tried> {
    let mut tried = Vec::new();
    for (place, root) in places {
        let outcome = match root {
            None => Outcome::NotSet,
            Some(root) => {
                let files = files(&root);
                let found = files.iter().find(|file| file.is_file()).cloned();
                found.map_or(Outcome::Missing(files), Outcome::Found)
            }
        };
        let done = matches!(outcome, Outcome::Found(_));
        tried.push(Tried { place, outcome });
        if done {
            break;
        }
    }
    tried
}

/// The file that a search ended with.
fn found(what: &str, tried: Vec<Tried>) -> Result<PathBuf, NotFound> {
    match tried.last() {
        Some(Tried { outcome: Outcome::Found(file), .. }) => Ok(file.clone()),
        _ => Err(NotFound { what: what.to_owned(), tried }),
    }
}

impl NotFound {
    /// The places that were searched, in order.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::toolkit::Environment;
    /// assert_eq!(Environment::default().libdevice().unwrap_err().tried().len(), 3);
    /// ```
    #[must_use]
    pub fn tried(&self) -> &[Tried] {
        &self.tried
    }
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::NotSet if self.place.starts_with(|c: char| c.is_ascii_uppercase()) => {
                write!(f, "{} is not set", self.place)
            }
            Outcome::NotSet => write!(f, "{}: none", self.place),
            Outcome::Found(file) => write!(f, "{}: found {}", self.place, file.display()),
            Outcome::Missing(files) => {
                let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
                write!(f, "{}: no {}", self.place, files.join(", no "))
            }
        }
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found no `{}` of a CUDA toolkit; looked at:", self.what)?;
        for tried in &self.tried {
            write!(f, "\n  {tried}")?;
        }
        write!(f, "\nactivate a conda environment with the toolkit, or set CUDA_HOME to the toolkit's folder")
    }
}

impl std::error::Error for NotFound {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A made-up machine's files, removed when the test ends.
    struct Machine(PathBuf);

    impl Machine {
        fn new(name: &str, files: &[&str]) -> Machine {
            let root = std::env::temp_dir().join(format!("cuda-sys-toolkit-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&root);
            for file in files {
                let file = root.join(file);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, "").unwrap();
            }
            Machine(root)
        }

        fn at(&self, path: &str) -> PathBuf {
            self.0.join(path)
        }

        /// An environment with all three places below this machine's root; none of them need exist.
        fn environment(&self) -> Environment {
            Environment {
                conda_prefix: Some(self.at("conda")),
                cuda_home: Some(self.at("home")),
                local: Some(self.at("local")),
                ..Environment::default()
            }
        }
    }

    impl Drop for Machine {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn conda_is_found_in_both_layouts() {
        let new = format!("conda/targets/{TARGET}/include/cuda.h");
        let machine = Machine::new("conda", &[&new, "home/include/cuda.h"]);
        assert_eq!(machine.environment().headers().unwrap(), machine.at(&format!("conda/targets/{TARGET}/include")));
        let machine = Machine::new("conda-old", &["conda/include/cuda.h", "home/include/cuda.h"]);
        assert_eq!(machine.environment().headers().unwrap(), machine.at("conda/include"));
    }

    #[test]
    fn a_toolkit_of_debians_packages_is_found_below_usr() {
        let library = format!("usr/lib/{MULTIARCH}/libnvrtc.so.12");
        let libdevice = "usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc";
        let machine = Machine::new("debian", &["usr/include/cuda.h", &library, libdevice, "usr/bin/ptxas"]);
        let environment = Environment { cuda_home: Some(machine.at("usr")), ..Environment::default() };
        assert_eq!(environment.headers().unwrap(), machine.at("usr/include"));
        assert_eq!(environment.library("libnvrtc.so.12").unwrap(), machine.at(&library));
        assert_eq!(environment.libdevice().unwrap(), machine.at(libdevice));
        assert_eq!(environment.tool("ptxas").unwrap(), machine.at("usr/bin/ptxas"));
    }

    #[test]
    fn cuda_home_comes_before_the_machines_toolkit_and_a_place_without_the_file_is_skipped() {
        let machine = Machine::new("home", &["conda/bin/python", "home/include/cuda.h", "local/include/cuda.h"]);
        assert_eq!(machine.environment().headers().unwrap(), machine.at("home/include"));
        let places = machine.environment().tried_headers();
        assert_eq!(places.len(), 2, "the machine's own toolkit is not looked at: {places:?}");
        let machine = Machine::new("local", &["local/include/cuda.h"]);
        assert_eq!(machine.environment().headers().unwrap(), machine.at("local/include"));
    }

    #[test]
    fn each_part_of_the_toolkit_is_found_in_the_first_place_that_has_it() {
        let machine =
            Machine::new("parts", &["conda/nvvm/libdevice/libdevice.10.bc", "home/bin/ptxas", "local/nvvm/bin/cicc"]);
        let environment = machine.environment();
        assert_eq!(environment.libdevice().unwrap(), machine.at("conda/nvvm/libdevice/libdevice.10.bc"));
        assert_eq!(environment.tool("ptxas").unwrap(), machine.at("home/bin/ptxas"));
        assert_eq!(environment.tool("cicc").unwrap(), machine.at("local/nvvm/bin/cicc"));
    }

    #[test]
    fn versioned_folders_are_ignored() {
        let machine = Machine::new("versioned", &["local-13.0/include/cuda.h"]);
        let error = machine.environment().headers().unwrap_err().to_string();
        let (first, places) = error.split_once('\n').unwrap();
        let (places, hint) = places.rsplit_once('\n').unwrap();
        assert_eq!(first, "found no `cuda.h` of a CUDA toolkit; looked at:");
        assert!(places.lines().any(|place| place.contains(&machine.at("local").display().to_string())), "{places}");
        assert_eq!(hint, "activate a conda environment with the toolkit, or set CUDA_HOME to the toolkit's folder");
    }

    #[test]
    fn executables_but_not_headers_are_found_in_wheels_of_the_newest_cuda_first() {
        let wheel = |version: &str| format!("venv/lib/python3.12/site-packages/nvidia/{version}");
        let files = [
            format!("{}/bin/ptxas", wheel("cu13")),
            format!("{}/include/cuda.h", wheel("cu13")),
            format!("{}/nvvm/libdevice/libdevice.10.bc", wheel("cu13")),
            format!("{}/bin/ptxas", wheel("cu14")),
            format!("{}/bin/ptxas", wheel("cu9")),
            format!("{}/bin/ptxas", wheel("cuda_nvcc")),
            format!("{}/bin/nvdisasm", wheel("cuda_nvdisasm")),
        ];
        let machine = Machine::new("wheels", &files.iter().map(String::as_str).collect::<Vec<_>>());
        let environment = Environment { virtual_env: Some(machine.at("venv")), ..machine.environment() };
        assert_eq!(environment.tool("ptxas").unwrap(), machine.at(&format!("{}/bin/ptxas", wheel("cu14"))));
        assert_eq!(environment.tool("nvdisasm").unwrap(), machine.at(&files[6]));
        assert!(environment.headers().is_err());
        assert!(environment.libdevice().is_err());
    }

    #[test]
    fn wheels_are_found_beside_the_python_in_path() {
        let machine =
            Machine::new("python", &["usr/bin/python3", "usr/lib/python3.11/dist-packages/nvidia/cu13/bin/ptxas"]);
        let path = std::env::join_paths([machine.at("empty"), machine.at("usr/bin")]).unwrap();
        let environment = Environment { path: Some(path), ..Environment::default() };
        let ptxas = machine.at("usr/lib/python3.11/dist-packages/nvidia/cu13/bin/ptxas").canonicalize().unwrap();
        assert_eq!(environment.tool("ptxas").unwrap(), ptxas);
        let nowhere = Environment::default().tool("nvcc").unwrap_err().to_string();
        assert!(nowhere.contains("\n  wheels of the active Python: none\n"), "{nowhere}");
    }

    #[test]
    fn libraries_are_found_in_both_layouts_of_conda_in_lib64_and_in_wheels() {
        let name = "libnvrtc.so.13";
        let found = |machine: &str, file: &str| {
            let machine = Machine::new(machine, &[file]);
            let environment = Environment { virtual_env: Some(machine.at("venv")), ..machine.environment() };
            assert_eq!(environment.library(name).unwrap(), machine.at(file));
        };
        found("library-new", &format!("conda/targets/{TARGET}/lib/{name}"));
        found("library-old", &format!("conda/lib/{name}"));
        found("library-home", &format!("home/lib64/{name}"));
        found("library-local", &format!("local/lib64/{name}"));
        found("library-13", &format!("venv/lib/python3.12/site-packages/nvidia/cu13/lib/{name}"));
        // Wheels of CUDA 12 have a folder each.
        found("library-12", &format!("venv/lib/python3.12/site-packages/nvidia/nvjitlink/lib/{name}"));
    }

    #[test]
    fn a_library_without_its_version_and_one_in_a_versioned_folder_are_not_found() {
        let machine = Machine::new("library-none", &["local/lib64/libnvrtc.so", "local-13.0/lib64/libnvrtc.so.13"]);
        let error = machine.environment().library("libnvrtc.so.13").unwrap_err().to_string();
        for place in ["conda", "home", "local"] {
            assert!(
                error.contains(&machine.at(&format!("{place}/lib64/libnvrtc.so.13")).display().to_string()),
                "{error}"
            );
        }
    }

    #[test]
    fn the_error_lists_every_place_and_a_way_out() {
        let machine = Machine::new("none", &[]);
        let error = machine.environment().headers().unwrap_err().to_string();
        for place in ["conda", "home", "local"] {
            for layout in [format!("{place}/targets/{TARGET}/include/cuda.h"), format!("{place}/include/cuda.h")] {
                let file = machine.at(&layout).display().to_string();
                assert!(error.contains(&file), "{file} is not in: {error}");
            }
        }
        assert!(error.contains("set CUDA_HOME"), "{error}");
        let unset = Environment { cuda_home: None, ..machine.environment() };
        let error = unset.headers().unwrap_err().to_string();
        assert!(error.contains("CUDA_HOME is not set"), "{error}");
    }
}
