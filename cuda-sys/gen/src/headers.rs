//! Runs bindgen on the headers and parses its output as a syntax tree. No other file names bindgen.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};

use crate::api::Api;
use crate::flatten;

/// Parses every declaration of `api` in the headers of `include`.
pub(crate) fn parse(api: &Api, include: &Path) -> Result<syn::File> {
    check_libclang()?;
    let mut builder = bindgen::Builder::default()
        .clang_arg(format!("-I{}", include.display()))
        .clang_args(compiler_headers()?)
        .clang_args(api.macros)
        .allowlist_function(api.functions)
        .allowlist_type(api.types)
        .allowlist_var(api.constants)
        .default_enum_style(bindgen::EnumVariation::NewType { is_bitfield: false, is_global: false })
        .prepend_enum_name(false)
        // The headers' comments are NVIDIA's; the documentation is linked, not copied.
        .generate_comments(false)
        .derive_default(true)
        .derive_eq(true)
        .derive_hash(true)
        // Comparing function pointers is meaningless.
        .no_partialeq(WITH_FUNCTION_POINTERS)
        .no_hash(WITH_FUNCTION_POINTERS)
        .use_core()
        .formatter(bindgen::Formatter::None);
    if !api.is_driver() {
        // These types are the driver's, also where another header redeclares them.
        builder = builder.blocklist_type(DRIVER_TYPES).parse_callbacks(Box::new(DriverTypes));
    }
    if let Some((path, text)) = flattened(api, include)? {
        builder = builder.header_contents(&path.to_string_lossy(), &text);
    }
    let (lines, _) = api.included(include);
    builder = builder.header_contents("headers.h", &(lines.join("\n") + "\n"));
    let bindings = catch_panic(|| builder.generate()).map_err(|panic| {
        if panic.contains("libclang") { anyhow::Error::new(Libclang(panic)) } else { anyhow::Error::msg(panic) }
    })?;
    let bindings = bindings.with_context(|| format!("bindgen cannot read {} in {}", api.title, include.display()))?;
    syn::parse_file(&bindings.to_string()).context("bindgen's output is not Rust")
}

/// The reason why libclang cannot be used: an error of the machine and not of the headers.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}\n`pip install libclang` has one, which `cargo xtask setup` downloads; LIBCLANG_PATH names the folder of `libclang.so`"
)]
pub struct Libclang(String);

/// The oldest libclang that bindgen supports.
const OLDEST_LIBCLANG: (u32, u32) = (9, 0);

/// Refuses a libclang older than [`OLDEST_LIBCLANG`], which would crash or misread the headers.
fn check_libclang() -> Result<(), Libclang> {
    let version = catch_panic(bindgen::clang_version).map_err(Libclang)?;
    match version.parsed {
        Some(found) if found < OLDEST_LIBCLANG => Err(Libclang(format!(
            "libclang is too old: it is `{}`, and {}.{} or newer is needed",
            version.full, OLDEST_LIBCLANG.0, OLDEST_LIBCLANG.1
        ))),
        _ => Ok(()),
    }
}

/// Returns the message of a panic as the error: bindgen panics where it finds no libclang, or one that lacks a function.
fn catch_panic<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    // The hook belongs to the process, and several threads may generate at the same time.
    static HOOK: Mutex<()> = Mutex::new(());
    let _guard = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
    std::panic::set_hook(hook);
    done.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        text.unwrap_or_else(|| "bindgen panicked".to_owned())
    })
}

/// Structures that hold a function pointer.
const WITH_FUNCTION_POINTERS: &str =
    "(CUDA_HOST_NODE_PARAMS|cudaHostNodeParams|CUgraphRecapture|cudaGraphRecapture|NvtxExportTable).*";

/// Types of the driver that other headers name.
const DRIVER_TYPES: &str = "CU(stream|event|context|device|device_v1|uuid)|CU(uuid|stream|event|graph|graphNode|graphExec|userObject|func|kern\
                            |lib|memPoolHandle|graphDeviceUpdatableNode|devResourceDesc|logsCallbackEntry)_st";

/// Tells bindgen that the driver's types implement every derived trait, so that structures which hold them derive it too.
#[derive(Debug)]
struct DriverTypes;

impl bindgen::callbacks::ParseCallbacks for DriverTypes {
    fn blocklisted_type_implements_trait(
        &self,
        _name: &str,
        _derived: bindgen::callbacks::DeriveTrait,
    ) -> Option<bindgen::callbacks::ImplementsTrait> {
        Some(bindgen::callbacks::ImplementsTrait::Yes)
    }
}

/// The header that bindgen reads in a rewritten form, with the rewritten text.
fn flattened(api: &Api, include: &Path) -> Result<Option<(PathBuf, String)>> {
    let Some(path) = api.locations.map(|name| include.join(name)) else { return Ok(None) };
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(flatten::locations(&text)?.map(|text| (path, text)))
}

/// The flag for the folder of the C compiler's own headers: libclang from PyPI comes without `stddef.h`.
fn compiler_headers() -> Result<Option<String>> {
    let output = Command::new("cc").arg("-print-file-name=include").output();
    let output = output.context("cannot run the C compiler `cc`, whose headers bindgen needs")?;
    ensure!(output.status.success(), "`cc -print-file-name=include` fails: {}", output.status);
    let path = String::from_utf8(output.stdout)?;
    let path = path.trim();
    // A compiler without such a folder prints the name that it was given.
    Ok(Path::new(path).is_dir().then(|| format!("-isystem{path}")))
}
