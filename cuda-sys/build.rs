//! Tells the crate where its bindings are, and dependants where the toolkit is.
//!
//! Dependants with a build script get, as the manifest says `links = "cuda"`, what the machine has of a toolkit:
//! `DEP_CUDA_ROOT`, `DEP_CUDA_INCLUDE`, `DEP_CUDA_VERSION` (`13000`) and `DEP_CUDA_LIBDEVICE`, each set where it was found.
//! A toolkit that is not there fails no build: the committed bindings need none. The feature `generate` does, and libclang.

#[expect(dead_code, unreachable_pub, reason = "the search of the crate itself, of which a build uses a part")]
#[path = "src/toolkit.rs"]
mod toolkit;

use std::path::{Path, PathBuf};

use toolkit::Environment;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for variable in ["CONDA_PREFIX", "CUDA_HOME"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let environment = Environment::from_process();
    export(&environment);
    match bindings(&environment) {
        Ok(folder) => println!("cargo::rustc-env=CUDA_SYS_GENERATED={}", folder.display()),
        Err(error) => println!("cargo::error={}", error.replace('\n', "; ")),
    }
}

/// What dependants may want to know.
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

/// The toolkit's folder, of which `include` or `targets/NAME/include` is this one.
fn root(include: &Path) -> Option<PathBuf> {
    let parent = include.parent()?;
    let targets = parent.parent().filter(|folder| folder.ends_with("targets"));
    Some(targets.and_then(Path::parent).unwrap_or(parent).to_owned())
}

/// `13000` from `#define CUDA_VERSION 13000`.
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

/// The folder of the bindings: generated from the toolkit's headers. Of an API whose headers this machine has not, or has of
/// another major version, the committed ones are copied, with a warning.
#[cfg(feature = "generate")]
fn bindings(environment: &Environment) -> Result<PathBuf, String> {
    use cuda_sys_gen::{APIS, History};

    println!("cargo::rerun-if-env-changed=LIBCLANG_PATH");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo sets no OUT_DIR")?);
    let committed =
        Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets no folder")?).join("src/generated");
    let include = environment.headers();
    if let Err(error) = &include {
        warning(&format!("generate: the committed bindings are used, because this machine has no headers: {error}"));
    }
    for api in APIS {
        let folder = out.join(api.module);
        std::fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        let include = include.as_deref().ok().filter(|include| declares(api, include));
        let generated = match include {
            Some(include) => {
                let generated = cuda_sys_gen::generate(api, include, &History::committed());
                let generated = generated.map_err(|error| format!("{error:#}"))?;
                generated.warnings.iter().for_each(|text| warning(&format!("generate: {text}")));
                [generated.types, generated.table]
            }
            None => [
                read(&committed.join(api.module).join("types.rs"))?,
                read(&committed.join(api.module).join("table.rs"))?,
            ],
        };
        let [types, table] = generated;
        let types = match api.module {
            "driver" => types,
            _ => cuda_sys_gen::beside_driver(&types, &read(&out.join("driver/types.rs"))?),
        };
        let generated = [types, table];
        for (name, text) in ["types.rs", "table.rs"].iter().zip(generated) {
            std::fs::write(folder.join(name), text).map_err(|error| format!("cannot write {name}: {error}"))?;
        }
    }
    Ok(out)
}

/// Whether the crate is built with this API, and `include` has all its headers, of the right version.
#[cfg(feature = "generate")]
fn declares(api: &cuda_sys_gen::Api, include: &Path) -> bool {
    let feature = api.module.trim_end_matches(|c: char| c.is_ascii_digit()).to_uppercase();
    if api.module != "driver" && std::env::var_os(format!("CARGO_FEATURE_{feature}")).is_none() {
        return false;
    }
    if let Some(header) = api.missing(include) {
        let module = api.module;
        warning(&format!(
            "generate: the committed bindings of `{module}` are used, {} has no {header}",
            include.display()
        ));
        return false;
    }
    let version = version(&include.join("cuda.h")).unwrap_or(0);
    api.major.is_none_or(|major| major == version / 1000)
}

#[cfg(feature = "generate")]
fn warning(text: &str) {
    println!("cargo::warning={}", text.replace('\n', "; "));
}

#[cfg(feature = "generate")]
fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
