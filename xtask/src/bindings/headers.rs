//! What bindgen makes of the headers, as a syntax tree. The only file that names bindgen.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, anyhow, ensure};

/// Shows every variant of every function under its exported name instead of the newest under a macro. The second leaves
/// out the `_MAX` enumerators that the first brings, whose values change with each toolkit.
pub(super) const MACROS: [&str; 2] = ["-D__CUDA_API_VERSION_INTERNAL", "-D__CUDA_API_VERSION_INTERNAL_ODR"];

/// Everything that `cuda.h` and `cudaProfiler.h` in `include` declare.
pub(super) fn parse(include: &Path) -> Result<syn::File> {
    let builder = bindgen::Builder::default()
        .header_contents("headers.h", "#include <cuda.h>\n#include <cudaProfiler.h>\n")
        .clang_arg(format!("-I{}", include.display()))
        .clang_args(compiler_headers()?)
        .clang_args(MACROS)
        .allowlist_function("cu.*")
        .allowlist_type("(CU|cu).*")
        .allowlist_var("CU.*")
        .default_enum_style(bindgen::EnumVariation::NewType { is_bitfield: false, is_global: false })
        .prepend_enum_name(false)
        // The headers' prose is NVIDIA's; the documentation is linked, not copied.
        .generate_comments(false)
        .derive_default(true)
        .derive_eq(true)
        .derive_hash(true)
        // These hold a function pointer, and comparing those says nothing.
        .no_partialeq("CUDA_HOST_NODE_PARAMS.*")
        .no_hash("CUDA_HOST_NODE_PARAMS.*")
        .use_core()
        .formatter(bindgen::Formatter::None);
    // bindgen panics where it finds no libclang, with the reason in its message.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let bindings = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| builder.generate()));
    std::panic::set_hook(hook);
    let bindings = bindings.map_err(|panic| {
        let reason = panic.downcast::<String>().map_or_else(|_| "bindgen panicked".to_owned(), |reason| *reason);
        anyhow!("{reason}\n`cargo xtask setup` downloads a libclang, or LIBCLANG_PATH names the folder of one")
    })?;
    let bindings = bindings.with_context(|| format!("bindgen cannot read the headers in {}", include.display()))?;
    syn::parse_file(&bindings.to_string()).context("bindgen's output is not Rust")
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
