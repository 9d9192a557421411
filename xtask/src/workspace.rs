//! The workspace's root, and the commands that tasks start. No task is implemented here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

/// The workspace's root folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

/// A command of the cargo that started this process, in the workspace's root.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo.envs(COMMON.get().into_iter().flat_map(|common| common.variables.iter().cloned()));
    cargo
}

/// Additions to all cargo commands of a process.
pub(crate) struct Common {
    /// Environment variables.
    pub(crate) variables: Vec<(&'static str, OsString)>,
    /// Features for the commands for all members.
    pub(crate) features: Vec<&'static str>,
}

static COMMON: OnceLock<Common> = OnceLock::new();

/// Sets the additions, once. With features or variables that differ between commands, cargo would build many packages again.
pub(crate) fn set_common(common: Common) {
    COMMON.get_or_init(|| common);
}

/// The features with which members are built in addition to their defaults.
const FEATURES: &str = "xtask/bindings,cuda-mem/json,cuda-sys/runtime,cuda-sys/nvrtc,cuda-sys/nvjitlink,cuda-sys/nvml,cuda-sys/nvtx,cuda-sys/nccl";

/// Packages that are optimised in the commands for all members: the tests take half the time with optimised compilers of kernels
/// and of PTX. They take minutes longer to build, for which the programs of users do not wait.
const OPTIMISED: [&str; 3] = ["cuda-jit-compiler", "cuda-jit-kir", "cuda-sim"];

/// A cargo command for all members together. For a single member, or with other features, cargo would rebuild many dependencies,
/// whose features then differ.
pub(crate) fn whole(command: &str) -> Command {
    let mut cargo = cargo();
    let common = COMMON.get().into_iter().flat_map(|common| common.features.iter().copied());
    let features: Vec<&str> = [FEATURES].into_iter().chain(common).collect();
    for package in OPTIMISED {
        cargo.args(["--config", &format!("profile.dev.package.{package}.opt-level=1")]);
    }
    cargo.args([command, "--workspace", "--features", &features.join(",")]);
    if command == "build" {
        // Only with tests or examples has a build the features of the dependencies of tests: without them, every member would be
        // built once for such commands and once for the tests. There are few examples.
        cargo.arg("--examples");
    }
    cargo
}

/// Builds a program of the workspace, and returns its file.
pub(crate) fn program(name: &str) -> Result<PathBuf> {
    let made = build(whole("build").args(["--quiet", "--bin", name]))?;
    let program = made.into_iter().find(|made| made.kind == "bin" && made.target == name);
    program.map(|made| made.file).with_context(|| format!("cargo built no `{name}`"))
}

/// Builds the software device as a driver's library, and returns its file. The software NCCL is built beside it.
pub(crate) fn software_device() -> Result<PathBuf> {
    device_of(whole("build").args(["--quiet", "--lib"]))
}

/// As [`software_device`], without the other members, with arguments for cargo such as a profile.
pub(crate) fn software_device_alone(arguments: &[&str]) -> Result<PathBuf> {
    device_of(cargo().args(["build", "--quiet", "--package", "cuda-sim-cdylib"]).args(arguments))
}

fn device_of(command: &mut Command) -> Result<PathBuf> {
    let is_device = |made: &Artifact| made.kind == "cdylib" && made.target == "cuda_sim";
    let library = build(command)?.into_iter().find(is_device).context("cargo built no software device")?;
    Ok(library.file)
}

/// Builds all tests, and returns those of a package.
pub(crate) fn tests_of(package: &str) -> Result<Vec<Artifact>> {
    let made = build(whole("test").args(["--quiet", "--no-run"]))?;
    Ok(made.into_iter().filter(|made| made.test && made.package == package).collect())
}

/// The libraries with which programs outside of the workspace are compiled.
const LIBRARIES: [&str; 5] = ["cuda_driver", "cuda_jit", "cuda_mem", "cuda_sim", "ndarray"];

/// Builds all tests, and returns rustc's arguments that compile a program with the libraries of these tests. Cargo would build all
/// of them again for a program outside of the workspace, since the features of many dependencies differ there.
pub(crate) fn libraries() -> Result<Vec<String>> {
    let messages = messages(whole("test").args(["--quiet", "--no-run"]))?;
    let files: Vec<(String, PathBuf)> = messages.iter().filter_map(library).collect();
    let mut arguments = Vec::new();
    for name in LIBRARIES {
        let found: Vec<&PathBuf> = files.iter().filter(|(of, _)| of == name).map(|(_, file)| file).collect();
        let [file] = found[..] else { bail!("cargo built {} libraries `{name}` for the tests, not one", found.len()) };
        if arguments.is_empty() {
            let folder = file.parent().context("a library has a folder")?;
            arguments.push(format!("-Ldependency={}", folder.display()));
        }
        arguments.push(format!("--extern={name}={}", file.display()));
    }
    Ok(arguments)
}

/// The name and the file of a Rust library that cargo made.
fn library(message: &Value) -> Option<(String, PathBuf)> {
    let mut files = message["filenames"].as_array()?.iter().filter_map(Value::as_str);
    let file = files.find(|file| file.ends_with(".rlib"))?;
    Some((message["target"]["name"].as_str()?.to_owned(), file.into()))
}

/// Runs a command whose output the user sees; a failure is an error that shows the command.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {}", display(command)))?;
    ensure!(status.success(), "{status} from {}", display(command));
    Ok(())
}

/// Runs a command and returns what it prints; a failure is an error that shows the command and both outputs.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {}", display(command)))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} from {}\n{text}{errors}", output.status, display(command));
    Ok(text)
}

/// The text of a command, as a user would type it.
fn display(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    format!("`{}`", words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
}

/// The output of `cargo metadata` for the workspace's packages, without their dependencies.
pub(crate) fn metadata() -> Result<Value> {
    let text = output(cargo().args(["metadata", "--format-version=1", "--no-deps"]))?;
    serde_json::from_str(&text).context("cargo metadata prints no JSON")
}

/// An executable or a shared library that cargo made.
#[derive(Clone, Debug)]
pub(crate) struct Artifact {
    /// The package's name.
    pub(crate) package: String,
    /// The package's folder, in which cargo runs its tests.
    pub(crate) folder: PathBuf,
    /// The target's name in its package.
    pub(crate) target: String,
    /// `bin`, `lib`, `test`, `example` or another kind of target.
    pub(crate) kind: String,
    /// True if it runs the target's tests.
    pub(crate) test: bool,
    /// The file.
    pub(crate) file: PathBuf,
}

/// Runs a cargo command that builds, shows its progress, and returns the executables and C libraries that it made.
pub(crate) fn build(command: &mut Command) -> Result<Vec<Artifact>> {
    Ok(messages(command)?.iter().filter_map(artifact).collect())
}

/// Runs a cargo command that builds, shows its progress, and returns its messages.
fn messages(command: &mut Command) -> Result<Vec<Value>> {
    command.arg("--message-format=json-render-diagnostics").stderr(std::process::Stdio::inherit());
    let output = command.output().with_context(|| format!("cannot run {}", display(command)))?;
    ensure!(output.status.success(), "{} from {}", output.status, display(command));
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

fn artifact(message: &Value) -> Option<Artifact> {
    let target = message.get("target")?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let library = || message["filenames"].as_array()?.iter().filter_map(text).find(|file| file.ends_with(".so"));
    let kind = text(&target["kind"][0])?;
    let file = message["executable"].as_str().map(str::to_owned);
    let file = if kind == "cdylib" { file.or_else(library) } else { file }?;
    // `path+file:///folder/cuda-sys#0.1.0`, or `path+file:///folder/cdylib#name@0.1.0` where folder and name differ.
    let id = message["package_id"].as_str()?;
    let (source, rest) = id.split_once('#')?;
    let package = match rest.split_once('@') {
        Some((name, _)) => name,
        None => source.rsplit('/').next()?,
    };
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let (package, target) = (package.to_owned(), text(&target["name"])?);
    Some(Artifact { package, folder, target, kind, test: message["profile"]["test"] == true, file: file.into() })
}

/// A temporary folder that is removed when it is dropped; its name begins with `xtask-` and the name.
pub(crate) fn scratch(name: &str) -> Result<TempDir> {
    tempfile::Builder::new().prefix(&format!("xtask-{name}-")).tempdir().context("cannot create a temporary folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str, kind: &str, executable: Value) -> Value {
        let mut message = serde_json::json!({
            "reason": "compiler-artifact",
            "package_id": id,
            "manifest_path": "/folder/Cargo.toml",
            "target": { "name": "it", "kind": [kind] },
            "profile": { "test": kind == "test" },
            "filenames": ["/t/libit.rlib", "/t/libit.so"],
        });
        message["executable"] = executable;
        message
    }

    #[test]
    fn a_library_is_found_by_its_crates_name() {
        let (name, file) = library(&message("path+file:///w/cuda-sys#0.1.0", "lib", Value::Null)).unwrap();
        assert_eq!((name.as_str(), file.as_path()), ("it", Path::new("/t/libit.rlib")));
        assert!(library(&serde_json::json!({ "reason": "build-finished" })).is_none());
    }

    #[test]
    fn executables_are_found_with_their_package() {
        let made = artifact(&message("path+file:///w/cuda-sys#0.1.0", "test", "/t/it-1".into())).unwrap();
        assert_eq!((made.package.as_str(), made.target.as_str(), made.kind.as_str()), ("cuda-sys", "it", "test"));
        assert_eq!((made.test, made.file.as_path()), (true, Path::new("/t/it-1")));
        assert_eq!(made.folder, Path::new("/folder"));
        let made = artifact(&message("path+file:///w/sim/cdylib#it@0.1.0", "cdylib", Value::Null)).unwrap();
        assert_eq!((made.package.as_str(), made.file.as_path()), ("it", Path::new("/t/libit.so")));
        assert!(!made.test);
    }

    #[test]
    fn rust_libraries_and_other_messages_are_none() {
        assert!(artifact(&message("path+file:///w/cuda-sys#0.1.0", "proc-macro", Value::Null)).is_none());
        assert!(artifact(&message("path+file:///w/cuda-sys#0.1.0", "lib", Value::Null)).is_none());
        assert!(artifact(&serde_json::json!({"reason": "build-finished"})).is_none());
    }

    #[test]
    fn a_failing_command_is_shown() {
        let error = run(Command::new("false").arg("x")).unwrap_err().to_string();
        assert!(error.contains("`false x`"), "{error}");
    }

    #[test]
    fn the_workspace_knows_its_packages() {
        let metadata = metadata().unwrap();
        let names = metadata["packages"].as_array().unwrap().iter().filter_map(|package| package["name"].as_str());
        assert!(names.collect::<Vec<_>>().contains(&"cuda-sys"));
    }
}
