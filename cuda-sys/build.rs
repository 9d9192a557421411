//! Passes the folder of the bindings to the crate, and the paths of the toolkit to dependants.
//!
//! The manifest's `links = "cuda"` passes the paths of this machine's toolkit to the build scripts of dependants:
//! `DEP_CUDA_ROOT`, `DEP_CUDA_INCLUDE`, `DEP_CUDA_VERSION` (`13000`) and `DEP_CUDA_LIBDEVICE`, each set if it was found.
//! A missing toolkit fails no build: the committed bindings replace those that the feature `generate` would make. With a
//! toolkit that feature needs libclang.

#[expect(dead_code, reason = "the crate's own module, of which a build uses a part")]
#[path = "src/system.rs"]
mod system;
#[expect(dead_code, unreachable_pub, reason = "the crate's own module, of which a build uses a part")]
#[path = "src/toolkit.rs"]
mod toolkit;

use std::path::{Path, PathBuf};

use toolkit::Environment;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for variable in ["CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let environment = Environment::from_process();
    export(&environment);
    match bindings(&environment) {
        Ok(folder) => println!("cargo::rustc-env=CUDA_SYS_GENERATED={}", folder.display()),
        Err(error) => println!("cargo::error={}", error.replace('\n', "; ")),
    }
}

/// Prints the metadata that dependants' build scripts receive.
fn export(environment: &Environment) {
    if let Ok(include) = environment.headers() {
        let header = include.join("cuda.h");
        println!("cargo::rerun-if-changed={}", header.display());
        println!("cargo::metadata=include={}", include.display());
        if let Some(root) = root(&include) {
            println!("cargo::metadata=root={}", root.display());
        }
        if let Some(version) = version(&header) {
            println!("cargo::metadata=version={version}");
        }
    }
    if let Ok(libdevice) = environment.libdevice() {
        println!("cargo::metadata=libdevice={}", libdevice.display());
    }
}

/// The toolkit's root, given its folder `include` or `targets/NAME/include`.
fn root(include: &Path) -> Option<PathBuf> {
    let parent = include.parent()?;
    let targets = parent.parent().filter(|folder| folder.ends_with("targets"));
    Some(targets.and_then(Path::parent).unwrap_or(parent).to_owned())
}

/// Reads `13000` from `#define CUDA_VERSION 13000`.
fn version(header: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(header).ok()?;
    text.lines().find_map(|line| line.strip_prefix("#define CUDA_VERSION ")?.trim().parse().ok())
}

/// The folder of the bindings: the committed ones.
#[cfg(not(feature = "generate"))]
fn bindings(_: &Environment) -> Result<PathBuf, String> {
    let manifest = std::env::var("CARGO_MANIFEST_DIR").map_err(|error| error.to_string())?;
    Ok(Path::new(&manifest).join("src/generated"))
}

/// The folder of the bindings: generated from the toolkit's headers, and completed with the committed declarations that
/// these lack. If the headers of an API are missing or cannot be used, its committed bindings are copied, with a warning.
#[cfg(feature = "generate")]
fn bindings(environment: &Environment) -> Result<PathBuf, String> {
    println!("cargo::rerun-if-env-changed=LIBCLANG_PATH");
    let variable = |name| std::env::var_os(name).map(PathBuf::from).ok_or(format!("cargo sets no {name}"));
    let out = variable("OUT_DIR")?;
    let committed = variable("CARGO_MANIFEST_DIR")?.join("src/generated");
    println!("cargo::rerun-if-changed={}", committed.display());
    let include = match environment.headers() {
        Ok(include) => include,
        Err(error) => {
            warning(&format!("the committed bindings are used, because this machine has no headers: {error}"));
            return Ok(committed);
        }
    };
    for header in cuda_sys_gen::APIS.iter().flat_map(cuda_sys_gen::Api::headers) {
        // A missing file would rerun this script at every build.
        let header = include.join(header);
        if header.is_file() {
            println!("cargo::rerun-if-changed={}", header.display());
        }
    }
    let bindings = cuda_sys_gen::bindings(&include, &committed, cuda_sys_gen::Lacking::Added, is_wanted)
        .map_err(|error| format!("{error:#}"))?;
    bindings.warnings.iter().for_each(|text| warning(text));
    for files in bindings.files {
        let folder = out.join(files.module);
        std::fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        for (name, text) in [("types.rs", files.types), ("table.rs", files.table)] {
            std::fs::write(folder.join(name), text).map_err(|error| format!("cannot write {name}: {error}"))?;
        }
    }
    Ok(out)
}

/// Returns true if the crate is built with this API.
#[cfg(feature = "generate")]
fn is_wanted(api: &cuda_sys_gen::Api) -> bool {
    let feature = api.module.trim_end_matches(|c: char| c.is_ascii_digit()).to_uppercase();
    api.module == "driver" || std::env::var_os(format!("CARGO_FEATURE_{feature}")).is_some()
}

#[cfg(feature = "generate")]
fn warning(text: &str) {
    println!("cargo::warning=generate: {}", text.replace('\n', "; "));
}
