//! What bindgen makes of the headers, as a syntax tree. The only file that names bindgen.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};

use crate::api::Api;
use crate::flatten;

/// Everything of `api` that the headers in `include` declare.
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
        // The headers' prose is NVIDIA's; the documentation is linked, not copied.
        .generate_comments(false)
        .derive_default(true)
        .derive_eq(true)
        .derive_hash(true)
        // These hold a function pointer, and comparing those says nothing.
        .no_partialeq(HOLD_FUNCTIONS)
        .no_hash(HOLD_FUNCTIONS)
        .use_core()
        .formatter(bindgen::Formatter::None);
    if !api.is_driver() {
        // They are the driver's, whichever header declares them again.
        builder = builder.blocklist_type(DRIVER_TYPES).parse_callbacks(Box::new(DriverTypes));
    }
    if let Some((path, text)) = flattened(api, include)? {
        builder = builder.header_contents(&path.to_string_lossy(), &text);
    }
    let (lines, _) = api.included(include);
    builder = builder.header_contents("headers.h", &(lines.join("\n") + "\n"));
    let bindings = caught(|| builder.generate()).map_err(|panic| {
        if panic.contains("libclang") { anyhow::Error::new(Libclang(panic)) } else { anyhow::Error::msg(panic) }
    })?;
    let bindings = bindings.with_context(|| format!("bindgen cannot read {} in {}", api.title, include.display()))?;
    syn::parse_file(&bindings.to_string()).context("bindgen's output is not Rust")
}

/// The libclang of this machine cannot be used, and why: an error of the machine and not of the headers.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}\n`pip install libclang` has one, which `cargo xtask setup` downloads; LIBCLANG_PATH names the folder of `libclang.so`"
)]
pub struct Libclang(String);

/// The oldest libclang that bindgen is made for.
const OLDEST_LIBCLANG: (u32, u32) = (9, 0);

/// Refuses a libclang that is too old; an older one crashes, or reads the headers wrongly.
fn check_libclang() -> Result<(), Libclang> {
    let version = caught(bindgen::clang_version).map_err(Libclang)?;
    match version.parsed {
        Some(found) if found < OLDEST_LIBCLANG => Err(Libclang(format!(
            "libclang is too old: it is `{}`, and {}.{} or newer is needed",
            version.full, OLDEST_LIBCLANG.0, OLDEST_LIBCLANG.1
        ))),
        _ => Ok(()),
    }
}

/// bindgen panics where it finds no libclang, or one without a function that it calls, with the reason in its message.
fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    // The hook is the process', and threads may generate at the same time.
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

const HOLD_FUNCTIONS: &str =
    "(CUDA_HOST_NODE_PARAMS|cudaHostNodeParams|CUgraphRecapture|cudaGraphRecapture|NvtxExportTable).*";

/// Types of the driver that other headers name.
const DRIVER_TYPES: &str = "CU(stream|event|context|device|device_v1|uuid)|CU(uuid|stream|event|graph|graphNode|graphExec|userObject|func|kern\
                            |lib|memPoolHandle|graphDeviceUpdatableNode|devResourceDesc|logsCallbackEntry)_st";

/// What the driver's types can do, so that structures which hold them can too.
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

/// The header that bindgen sees otherwise than it is, with what it sees.
fn flattened(api: &Api, include: &Path) -> Result<Option<(PathBuf, String)>> {
    let Some(path) = api.locations.map(|name| include.join(name)) else { return Ok(None) };
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(flatten::locations(&text)?.map(|text| (path, text)))
}

/// libclang from PyPI comes without `stddef.h`: the C compiler's own will do.
fn compiler_headers() -> Result<Option<String>> {
    let output = Command::new("cc").arg("-print-file-name=include").output();
    let output = output.context("cannot run the C compiler `cc`, whose headers bindgen needs")?;
    ensure!(output.status.success(), "`cc -print-file-name=include` fails: {}", output.status);
    let path = String::from_utf8(output.stdout)?;
    let path = path.trim();
    // A compiler that has none prints the name back.
    Ok(Path::new(path).is_dir().then(|| format!("-isystem{path}")))
}
