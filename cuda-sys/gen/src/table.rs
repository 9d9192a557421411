//! The list of functions of a library other than the driver: one line per function, with the versions of CUDA that have it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::api::Api;
use crate::history::History;
use crate::types::Function;

/// The functions, each followed by its variant for the calling thread's default stream if it has one.
///
/// The runtime's headers name those variants by a macro, `__CUDART_API_PTSZ(cudaMemcpyAsync)`, in a line for each.
pub(crate) fn with_own_streams(api: &Api, mut functions: Vec<Function>, include: &Path) -> Result<Vec<Function>> {
    if api.major.is_none() {
        return Ok(functions);
    }
    let path = include.join("cuda_runtime_api.h");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    for (macro_name, suffix) in [("__CUDART_API_PTDS(", "_ptds"), ("__CUDART_API_PTSZ(", "_ptsz")] {
        let named = text.lines().filter_map(|line| {
            let name = line.trim_start().strip_prefix("#define ")?.split_once(macro_name)?.1.split(')').next()?;
            // The macro's own definition has its parameter in this place.
            (name != "api").then(|| name.to_owned())
        });
        let named: Vec<String> = named.collect();
        let variants = functions.iter().filter(|function| named.contains(&function.name));
        let variants: Vec<_> = variants
            .map(|function| Function { name: format!("{}{suffix}", function.name), ..function.clone() })
            .collect();
        functions.extend(variants);
    }
    Ok(functions)
}

/// The generated file, `table! { .. }`: a line per function in the order of the headers, then the functions that only earlier
/// versions have.
pub(crate) fn render(
    api: &Api,
    functions: &[Function],
    sizes: &BTreeMap<String, String>,
    history: &History,
    version: u32,
) -> Result<String> {
    let mut text = crate::head(
        api,
        &format!("functions: name, signature, symbol, {} versions that have it, default stream", api.versioning()),
    );
    text.push_str("table! {\n");
    for function in functions {
        let (since, until) = history.versions_of(api, function, sizes).unwrap_or((version, None));
        line(&mut text, function, since, until)?;
    }
    for (function, since, until) in history.removed(api, version) {
        line(&mut text, &function, since, Some(until))?;
    }
    text.push_str("}\n");
    Ok(text)
}

fn line(text: &mut String, function: &Function, since: u32, until: Option<u32>) -> Result<()> {
    let Function { name, parameters, result } = function;
    let parameters = parameters.join(", ");
    let until = until.map_or_else(String::new, |until| until.to_string());
    let stream = if name.ends_with("_ptds") || name.ends_with("_ptsz") { "PerThread" } else { "Legacy" };
    writeln!(text, "    fn {name}({parameters}) -> {result} = \"{name}\", {since}..{until}, {stream};")?;
    Ok(())
}
