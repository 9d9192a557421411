//! Links LLVM 22: the shared library that the Rust toolchain ships, or an installed one.
//!
//! The toolchain's library has no development files, so this script makes what a linker needs: a stub that
//! defines the C API's symbols and whose soname is the absolute path of the real library. Executables then
//! name that path themselves and need neither a library path nor an rpath. The stub's symbols have the versions of the
//! library's own, so that the loader binds them to that library alone, whatever other LLVM a process has. With `CUDA_LLVM_SONAME=relocatable` the
//! soname is the library's plain name, for executables that are moved together with it.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol};

/// The LLVM release that the bindings describe.
const LLVM_MAJOR: &str = "22";
/// Names an installed LLVM's prefix, as for llvm-sys.
const PREFIX_VARIABLE: &str = "LLVM_SYS_221_PREFIX";
/// Set to `relocatable`, makes executables name the toolchain's library without its folder.
const SONAME_VARIABLE: &str = "CUDA_LLVM_SONAME";
/// Tells the crate which build of LLVM it is linked with: the toolchain's library, or an installed version.
const BUILD_VARIABLE: &str = "CUDA_LLVM_BUILD";
/// What of an installed LLVM the stack uses.
const COMPONENTS: &[&str] = &[
    "nvptxcodegen",
    "nvptxdesc",
    "nvptxinfo",
    "x86codegen",
    "x86asmparser",
    "x86disassembler",
    "x86desc",
    "x86info",
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

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={PREFIX_VARIABLE}");
    println!("cargo:rerun-if-env-changed={SONAME_VARIABLE}");
    if env::var_os("DOCS_RS").is_some() {
        return; // documentation needs no LLVM
    }
    let linked = if env::var_os("CARGO_FEATURE_STATIC").is_some() || env::var_os(PREFIX_VARIABLE).is_some() {
        link_installed()
    } else {
        link_toolchain()
    };
    if let Err(error) = linked {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

/// Links the shared LLVM that lies beside rustc.
fn link_toolchain() -> Result<()> {
    let rustc = env::var("RUSTC")?;
    let version = output(Command::new(&rustc).arg("-vV"))?;
    let llvm = version.lines().find_map(|line| line.strip_prefix("LLVM version: ")).unwrap_or("unknown");
    if llvm.split('.').next() != Some(LLVM_MAJOR) {
        return Err(format!("this Rust toolchain carries LLVM {llvm}; {}", ways_out()).into());
    }
    let sysroot = output(Command::new(&rustc).args(["--print", "sysroot"]))?;
    let folder = Path::new(sysroot.trim()).join("lib");
    let library =
        find_shared(&folder).ok_or_else(|| format!("no shared LLVM in {}; {}", folder.display(), ways_out()))?;
    println!("cargo:rerun-if-changed={}", library.display());
    let out = PathBuf::from(env::var("OUT_DIR")?);
    make_stub(&library, &soname(&library)?, &out)?;
    let name = library.file_name().unwrap_or_default().to_string_lossy();
    println!("cargo:rustc-env={BUILD_VARIABLE}={name}");
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=dylib=LLVM-{LLVM_MAJOR}");
    Ok(())
}

fn ways_out() -> String {
    format!(
        "LLVM {LLVM_MAJOR} is needed. Either use a Rust toolchain that carries it (1.95 from rustup does), or \
         install LLVM {LLVM_MAJOR} and set {PREFIX_VARIABLE} to its prefix (feature `static` finds it as \
         `llvm-config-{LLVM_MAJOR}` too)"
    )
}

/// The newest file in `folder` that is the toolchain's LLVM; its suffix differs between toolchains.
fn find_shared(folder: &Path) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&format!("libLLVM.so.{LLVM_MAJOR}."))
        })
        .collect();
    found.sort();
    found.pop()
}

/// Under which name executables will ask the loader for the library.
fn soname(library: &Path) -> Result<PathBuf> {
    match env::var(SONAME_VARIABLE).unwrap_or_default().as_str() {
        "" => Ok(library.to_owned()),
        "relocatable" => Ok(library.file_name().map(PathBuf::from).unwrap_or_default()),
        other => Err(format!("{SONAME_VARIABLE}={other}: the one value that it can have is `relocatable`").into()),
    }
}

/// Writes a shared library into `out` that defines every `LLVM*` symbol of `library`, with its version, and calls itself
/// `soname`.
fn make_stub(library: &Path, soname: &Path, out: &Path) -> Result<()> {
    let data = fs::read(library)?;
    let mut assembly = String::from(".text\n");
    let mut versions = BTreeMap::<String, String>::new();
    for (name, version) in defined(&data)? {
        if name.starts_with("LLVM") && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            assembly.push_str(&format!(".globl {name}\n.type {name},@function\n{name}:\n"));
            if let Some(version) = version {
                versions.entry(version).or_default().push_str(&format!("{name};\n"));
            }
        }
    }
    assembly.push_str(".byte 0\n.section .note.GNU-stack,\"\",@progbits\n");
    let (source, script) = (out.join("stub.s"), out.join("stub.map"));
    fs::write(&source, assembly)?;
    let nodes = versions.iter().map(|(version, names)| format!("{version} {{\nglobal:\n{names}}};\n"));
    fs::write(&script, nodes.collect::<String>())?;
    let mut linker = cc::Build::new().get_compiler().to_command();
    linker
        .args(["-shared", "-nostdlib", "-o"])
        .arg(out.join(format!("libLLVM-{LLVM_MAJOR}.so")))
        .arg(&source)
        .arg(format!("-Wl,-soname,{}", soname.display()));
    if !versions.is_empty() {
        linker.arg(format!("-Wl,--version-script={}", script.display()));
    }
    output(&mut linker).map(drop)
}

/// The symbols that a library defines, each with its version if it has one.
fn defined(data: &[u8]) -> Result<Vec<(String, Option<String>)>> {
    let file = ElfFile64::<Endianness>::parse(data)?;
    let versions = file.elf_section_table().versions(file.endian(), data)?;
    let mut found = Vec::new();
    for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_definition()) {
        let version = match &versions {
            Some(versions) => versions.version(versions.version_index(file.endian(), symbol.index()))?,
            None => None,
        };
        let version = version.map(|version| String::from_utf8_lossy(version.name()).into_owned());
        found.push((symbol.name()?.to_owned(), version));
    }
    Ok(found)
}

/// Links an installed LLVM: statically with the feature `static`, else as its `llvm-config` prefers.
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
    arguments.extend(COMPONENTS);
    for library in libraries(&run(&arguments)?) {
        println!("cargo:rustc-link-lib=static={library}");
    }
    let system = run(&["--link-static", "--system-libs"])?;
    for library in libraries(&system).into_iter().chain(["stdc++"]) {
        link_system(library)?;
    }
    Ok(())
}

/// Links a system library statically where the compiler has an archive of it, so that the executable travels.
fn link_system(library: &str) -> Result<()> {
    const ALWAYS_SHARED: &[&str] = &["c", "m", "dl", "rt", "pthread"];
    let archive = format!("lib{library}.a");
    let compiler = cc::Build::new().get_compiler();
    let found = output(compiler.to_command().arg(format!("-print-file-name={archive}")))?;
    let path = Path::new(found.trim());
    if ALWAYS_SHARED.contains(&library) || !path.is_absolute() {
        println!("cargo:rustc-link-lib=dylib={library}");
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
    println!("cargo:rustc-link-lib=static={library}");
    Ok(())
}

/// The names after `-l` in what `llvm-config` prints.
fn libraries(flags: &str) -> Vec<&str> {
    flags.split_whitespace().filter_map(|flag| flag.strip_prefix("-l")).collect()
}

fn output(command: &mut Command) -> Result<String> {
    let out = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !out.status.success() {
        return Err(format!("{command:?}: {}\n{}", out.status, String::from_utf8_lossy(&out.stderr)).into());
    }
    Ok(String::from_utf8(out.stdout)?)
}
