//! Passes the path of the Rust toolchain's LLVM to the crate, which loads it on first use, or links an installed LLVM 22.
//! Without either the build succeeds, since the program may find an LLVM when it runs.

#[path = "src/link_flags.rs"]
mod link_flags;

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use link_flags::{Library, directives, libraries};

/// The LLVM release that the bindings describe.
const LLVM_MAJOR: &str = "22";
/// The variable that names the prefix of an installed LLVM, the same as llvm-sys'.
const PREFIX_VARIABLE: &str = "LLVM_SYS_221_PREFIX";
/// The variable that passes the build of LLVM to the crate: the toolchain's library, or the version of the linked one.
const BUILD_VARIABLE: &str = "CUDA_LLVM_BUILD";
/// The components of an installed LLVM that the stack uses.
const COMPONENTS: &[&str] = &[
    "nvptxcodegen",
    "nvptxdesc",
    "nvptxinfo",
    "passes",
    "mcjit",
    "executionengine",
    "orcjit",
    "linker",
    "irreader",
    "bitreader",
    "bitwriter",
    "ipo",
    "analysis",
    "target",
    "core",
    "support",
];

/// The components that generate code for an x86-64 host.
const X86: &[&str] = &["x86codegen", "x86asmparser", "x86disassembler", "x86desc", "x86info"];
/// The components that generate code for an AArch64 host.
const AARCH64: &[&str] =
    &["aarch64codegen", "aarch64asmparser", "aarch64disassembler", "aarch64desc", "aarch64info", "aarch64utils"];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/link_flags.rs");
    println!("cargo:rerun-if-env-changed={PREFIX_VARIABLE}");
    println!("cargo:rustc-check-cfg=cfg(cuda_llvm_linked)");
    if env::var_os("DOCS_RS").is_none()
        && (env::var_os("CARGO_FEATURE_STATIC").is_some() || env::var_os(PREFIX_VARIABLE).is_some())
    {
        println!("cargo:rustc-cfg=cuda_llvm_linked");
        if let Err(error) = link_installed() {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
        return;
    }
    let library = toolchain_library();
    let name = library.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let size = library.as_deref().and_then(|library| library.metadata().ok()).map_or(0, |metadata| metadata.len());
    println!("cargo:rustc-env={BUILD_VARIABLE}={name}");
    println!("cargo:rustc-env={BUILD_VARIABLE}_SIZE={size}");
}

/// The shared LLVM of the Rust toolchain, if it has one; the path of its folder is passed to the crate in any case. `None` for
/// a cross build, whose program runs on a machine without this toolchain.
fn toolchain_library() -> Option<PathBuf> {
    if env::var("HOST").ok()? != env::var("TARGET").ok()? {
        return None;
    }
    let sysroot = output(Command::new(env::var("RUSTC").ok()?).args(["--print", "sysroot"])).ok()?;
    let folder = Path::new(sysroot.trim()).join("lib");
    println!("cargo:rustc-env=CUDA_LLVM_TOOLCHAIN={}", folder.display());
    println!("cargo:rerun-if-changed={}", folder.display());
    let is_llvm =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libLLVM.so."));
    folder.read_dir().ok()?.filter_map(|entry| Some(entry.ok()?.path())).filter(is_llvm).max()
}

fn ways_out() -> String {
    format!(
        "LLVM {LLVM_MAJOR} is needed. Install it and set {PREFIX_VARIABLE} to its prefix (feature `static` finds it as \
         `llvm-config-{LLVM_MAJOR}` too), or unset both, so that the program loads LLVM when it needs it"
    )
}

/// Links an installed LLVM: statically with the feature `static`, else as a shared library.
fn link_installed() -> Result<()> {
    let config = match env::var_os(PREFIX_VARIABLE) {
        Some(prefix) => PathBuf::from(prefix).join("bin/llvm-config"),
        None => PathBuf::from(format!("llvm-config-{LLVM_MAJOR}")),
    };
    let run = |arguments: &[&str]| {
        output(Command::new(&config).args(arguments))
            .map_err(|error| format!("{}: {error}; {}", config.display(), ways_out()))
    };
    let version = run(&["--version"])?;
    if version.split('.').next() != Some(LLVM_MAJOR) {
        return Err(format!("{} is LLVM {}; {}", config.display(), version.trim(), ways_out()).into());
    }
    println!("cargo:rustc-env={BUILD_VARIABLE}={}", version.trim());
    println!("cargo:rustc-link-search=native={}", run(&["--libdir"])?.trim());
    if env::var_os("CARGO_FEATURE_STATIC").is_none() {
        println!("cargo:rustc-link-lib=dylib=LLVM-{LLVM_MAJOR}");
        return Ok(());
    }
    let mut arguments = vec!["--link-static", "--libs"];
    arguments.extend(COMPONENTS.iter().chain(own_components()?));
    for library in libraries(&run(&arguments)?)? {
        match library {
            Library::Named(name) => println!("cargo:rustc-link-lib=static={name}"),
            Library::File(_) => link_system(library),
        }
    }
    let system = run(&["--link-static", "--system-libs"])?;
    for library in libraries(&system)?.into_iter().chain([Library::Named("stdc++")]) {
        link_system(library);
    }
    Ok(())
}

/// Tells cargo to link a library that is not LLVM's own.
fn link_system(library: Library<'_>) {
    for directive in directives(library, archive, Path::exists) {
        println!("cargo:{directive}");
    }
}

/// The components for the target of the build.
fn own_components() -> Result<&'static [&'static str]> {
    match env::var("CARGO_CFG_TARGET_ARCH")?.as_str() {
        "x86_64" => Ok(X86),
        "aarch64" => Ok(AARCH64),
        other => Err(format!("{other} is not supported; x86_64 and aarch64 are").into()),
    }
}

/// The path of an archive that the compiler's linker finds by this name.
fn archive(name: &str) -> Option<PathBuf> {
    let compiler = cc::Build::new().get_compiler();
    let found = output(compiler.to_command().arg(format!("-print-file-name={name}"))).ok()?;
    // The compiler prints a name that it does not find unchanged.
    Some(PathBuf::from(found.trim())).filter(|path| path.is_absolute())
}

fn output(command: &mut Command) -> Result<String> {
    let out = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !out.status.success() {
        return Err(format!("{command:?}: {}\n{}", out.status, String::from_utf8_lossy(&out.stderr)).into());
    }
    Ok(String::from_utf8(out.stdout)?)
}
