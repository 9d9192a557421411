//! The driver's list of functions: one line per exported symbol, with the base name and version by which a driver finds it.
//!
//! The versions stand in `cudaTypedefs.h` as types `PFN_cuMemAlloc_v3020`, the symbols in `cuda.h` as `cuMemAlloc_v2`.
//! Per base name and default stream both lists ascend in time, so the n-th symbol has the n-th version; where their
//! lengths differ that would be a guess, and generation fails.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

use crate::api::Api;
use crate::types::Function;

/// Base name and stream suffix (`""`, `"_ptds"`, `"_ptsz"`).
type Key = (String, &'static str);

/// The ABI versions of each function, ascending.
pub(crate) type Versions = BTreeMap<Key, Vec<u32>>;

/// Reads the versions from `cudaTypedefs.h` and `cudaProfilerTypedefs.h`.
pub(crate) fn abi_versions(include: &Path) -> Result<Versions> {
    let mut versions = Versions::new();
    for name in ["cudaTypedefs.h", "cudaProfilerTypedefs.h"] {
        let path = include.join(name);
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        for declared in text.split("*PFN_").skip(1) {
            let Some((declared, _)) = declared.split_once(')') else { continue };
            let (base, number, suffix) = split_symbol(declared);
            let Some(number) = number else { bail!("`PFN_{declared}` of {name} ends in no version") };
            versions.entry((base.to_owned(), suffix)).or_default().push(number);
        }
    }
    for list in versions.values_mut() {
        list.sort_unstable();
    }
    Ok(versions)
}

/// `cuMemcpyHtoD_v2_ptds` into `cuMemcpyHtoD`, 2 and `_ptds`.
fn split_symbol(name: &str) -> (&str, Option<u32>, &'static str) {
    let suffix = ["_ptds", "_ptsz"].into_iter().find(|suffix| name.ends_with(suffix)).unwrap_or("");
    let name = &name[..name.len() - suffix.len()];
    match name.rsplit_once("_v").and_then(|(base, number)| Some((base, number.parse().ok()?))) {
        Some((base, number)) => (base, Some(number), suffix),
        None => (name, None, suffix),
    }
}

/// The generated file, `table! { .. }` with a line per function in the order of the headers, and as conditions in C
/// that each symbol has the type which `cudaTypedefs.h` gives its version.
pub(crate) fn render(api: &Api, functions: &[Function], versions: &Versions) -> Result<(String, Vec<String>)> {
    let mut variants: BTreeMap<Key, Vec<(u32, &str)>> = BTreeMap::new();
    for function in functions {
        let (base, number, suffix) = split_symbol(&function.name);
        variants.entry((base.to_owned(), suffix)).or_default().push((number.unwrap_or(1), &function.name));
    }
    let mut found = BTreeMap::new();
    for (key, list) in &mut variants {
        list.sort_unstable();
        let versions = versions.get(key).map_or(&[][..], Vec::as_slice);
        ensure!(
            list.len() == versions.len(),
            "cuda.h has {list:?} and cudaTypedefs.h has versions {versions:?} of `{}`: which is which is not known",
            key.0
        );
        found.extend(list.iter().zip(versions).map(|((_, name), version)| (*name, *version)));
    }
    let mut text = crate::head(api, "functions: symbol, signature, base name, ABI version, default stream");
    text.push_str("table! {\n");
    let mut facts = Vec::new();
    for Function { name, parameters, result } in functions {
        ensure!(result == "CUresult", "`{name}` returns `{result}`");
        let (base, _, suffix) = split_symbol(name);
        let version = found[name.as_str()];
        facts.push(format!("__builtin_types_compatible_p(__typeof__(&{name}), PFN_{base}_v{version}{suffix})"));
        let stream = if suffix.is_empty() { "Legacy" } else { "PerThread" };
        let parameters = parameters.join(", ");
        writeln!(text, "    fn {name}({parameters}) -> CUresult = \"{base}\", {version}.., {stream};")?;
    }
    text.push_str("}\n");
    Ok((text, facts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str) -> Function {
        Function { name: name.into(), parameters: vec!["x: c_int".into()], result: "CUresult".into() }
    }

    #[test]
    fn symbols_split_into_base_version_and_stream() {
        assert_eq!(split_symbol("cuMemcpyHtoD_v2_ptds"), ("cuMemcpyHtoD", Some(2), "_ptds"));
        assert_eq!(split_symbol("cuInit"), ("cuInit", None, ""));
        assert_eq!(split_symbol("cuLaunchKernel_ptsz"), ("cuLaunchKernel", None, "_ptsz"));
    }

    #[test]
    fn versions_go_to_symbols_in_order_of_time() {
        let versions = Versions::from([(("cuX".to_owned(), ""), vec![2000, 3020])]);
        let (text, facts) = render(&crate::APIS[0], &[function("cuX_v2"), function("cuX")], &versions).unwrap();
        assert!(text.contains("fn cuX_v2(x: c_int) -> CUresult = \"cuX\", 3020.., Legacy;"), "{text}");
        assert!(text.contains("fn cuX(x: c_int) -> CUresult = \"cuX\", 2000.., Legacy;"), "{text}");
        assert!(
            facts.contains(&"__builtin_types_compatible_p(__typeof__(&cuX_v2), PFN_cuX_v3020)".to_owned()),
            "{facts:?}"
        );
    }

    #[test]
    fn a_version_too_few_is_an_error_and_not_a_guess() {
        let versions = Versions::from([(("cuX".to_owned(), ""), vec![2000])]);
        let error = render(&crate::APIS[0], &[function("cuX_v2"), function("cuX")], &versions).unwrap_err().to_string();
        assert!(error.contains("cuX_v2") && error.contains("2000"), "{error}");
    }
}
