//! The driver's list of functions: one line per exported symbol, with the base name and version by which a driver finds it.
//!
//! The versions stand in `cudaTypedefs.h` as types `PFN_cuMemAlloc_v3020`, the symbols in `cuda.h` as `cuMemAlloc_v2`.
//! For a base name and default stream both lists ascend in time, so the n-th symbol has the n-th version. Where their
//! lengths differ the versions cannot be assigned, and the function is omitted with a warning.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::api::Api;
use crate::history::History;
use crate::types::Function;

/// Base name and stream suffix (`""`, `"_ptds"`, `"_ptsz"`).
type Key = (String, &'static str);

/// The ABI versions of each function, ascending.
pub(crate) type Versions = BTreeMap<Key, Vec<u32>>;

/// The headers that declare the versions.
const TYPEDEFS: [&str; 2] = ["cudaTypedefs.h", "cudaProfilerTypedefs.h"];

/// The ABI versions in the names of the headers' typedefs. A function whose typedef has none gets the first version of CUDA
/// for which `history` lists it.
pub(crate) fn abi_versions(typedefs: &[String], history: &History) -> Versions {
    let mut versions = Versions::new();
    for declared in typedefs {
        let (base, number, suffix) = split_symbol(declared);
        let number = number.or_else(|| history.first(&format!("{base}{suffix}")));
        versions.entry((base.to_owned(), suffix)).or_default().extend(number);
    }
    for list in versions.values_mut() {
        list.sort_unstable();
    }
    versions
}

/// Returns true for the name of a typedef without a version: CUDA 12.4 to 12.9 have some.
pub(crate) fn is_unversioned(typedef: &str) -> bool {
    split_symbol(typedef).1.is_none()
}

/// The typedefs' names, `cuInit_v2000` of `typedef CUresult (CUDAAPI *PFN_cuInit_v2000)(..)`.
pub(crate) fn typedefs(include: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    // The profiler's headers come with another package of the toolkit.
    for path in TYPEDEFS.map(|name| include.join(name)).iter().filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let declared = text.split("*PFN_").skip(1).filter_map(|declared| Some(declared.split_once(')')?.0.to_owned()));
        names.extend(declared);
    }
    Ok(names)
}

/// Splits `cuMemcpyHtoD_v2_ptds` into `cuMemcpyHtoD`, 2 and `_ptds`.
fn split_symbol(name: &str) -> (&str, Option<u32>, &'static str) {
    let suffix = ["_ptds", "_ptsz"].into_iter().find(|suffix| name.ends_with(suffix)).unwrap_or("");
    let name = &name[..name.len() - suffix.len()];
    match name.rsplit_once("_v").and_then(|(base, number)| Some((base, number.parse().ok()?))) {
        Some((base, number)) => (base, Some(number), suffix),
        None => (name, None, suffix),
    }
}

/// The generated file, `table! { .. }` with a line per function in the order of the headers; and conditions in C, which state
/// that each symbol has the type that `cudaTypedefs.h` gives its version.
pub(crate) fn render(
    api: &Api,
    functions: &[Function],
    versions: &Versions,
    warnings: &mut Vec<String>,
) -> Result<(String, Vec<String>)> {
    let mut variants: BTreeMap<Key, Vec<(u32, &str)>> = BTreeMap::new();
    for function in functions {
        let (base, number, suffix) = split_symbol(&function.name);
        variants.entry((base.to_owned(), suffix)).or_default().push((number.unwrap_or(1), &function.name));
    }
    let mut found = BTreeMap::new();
    for (key, list) in &mut variants {
        list.sort_unstable();
        let versions = versions.get(key).map_or(&[][..], Vec::as_slice);
        if list.len() != versions.len() {
            warnings.push(format!(
                "cuda.h has {list:?} and cudaTypedefs.h has versions {versions:?} of `{}`: these cannot be matched, and \
                 they are left out",
                key.0
            ));
            continue;
        }
        found.extend(list.iter().zip(versions).map(|((_, name), version)| (*name, *version)));
    }
    let mut text = crate::head(api, "functions: symbol, signature, base name, ABI version, default stream");
    text.push_str("table! {\n");
    let mut assertions = Vec::new();
    for Function { name, parameters, result } in functions {
        let Some(version) = found.get(name.as_str()) else { continue };
        if result != "CUresult" {
            warnings.push(format!("`{name}` returns `{result}`; it is left out"));
            continue;
        }
        let (base, _, suffix) = split_symbol(name);
        assertions.push(format!("__builtin_types_compatible_p(__typeof__(&{name}), PFN_{base}_v{version}{suffix})"));
        let stream = if suffix.is_empty() { "Legacy" } else { "PerThread" };
        let parameters = parameters.join(", ");
        writeln!(text, "    fn {name}({parameters}) -> CUresult = \"{base}\", {version}.., {stream};")?;
    }
    text.push_str("}\n");
    Ok((text, assertions))
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
        let (text, assertions) =
            render(&crate::APIS[0], &[function("cuX_v2"), function("cuX")], &versions, &mut Vec::new()).unwrap();
        assert!(text.contains("fn cuX_v2(x: c_int) -> CUresult = \"cuX\", 3020.., Legacy;"), "{text}");
        assert!(text.contains("fn cuX(x: c_int) -> CUresult = \"cuX\", 2000.., Legacy;"), "{text}");
        assert!(
            assertions.contains(&"__builtin_types_compatible_p(__typeof__(&cuX_v2), PFN_cuX_v3020)".to_owned()),
            "{assertions:?}"
        );
    }

    #[test]
    fn a_typedef_without_a_version_has_the_first_that_is_known() {
        let typedefs = ["cuX_v3020", "cuX_v2000", "cuModuleGetFunctionCount", "cuNew", "cuY_v7000_ptsz"];
        let versions = abi_versions(&typedefs.map(str::to_owned), &History::committed());
        let of = |base: &str, suffix| versions[&(base.to_owned(), suffix)].clone();
        assert_eq!((of("cuX", ""), of("cuY", "_ptsz")), (vec![2000, 3020], vec![7000]));
        assert_eq!((of("cuModuleGetFunctionCount", ""), of("cuNew", "")), (vec![12040], vec![]));
        assert!(is_unversioned("cuNew") && !is_unversioned("cuY_v7000_ptsz"));
    }

    #[test]
    fn a_version_too_few_is_a_warning_and_not_a_guess() {
        let versions = Versions::from([(("cuX".to_owned(), ""), vec![2000]), (("cuY".to_owned(), ""), vec![3000])]);
        let (functions, mut warnings) = ([function("cuX_v2"), function("cuX"), function("cuY")], Vec::new());
        let (text, _) = render(&crate::APIS[0], &functions, &versions, &mut warnings).unwrap();
        assert!(text.contains("fn cuY(") && !text.contains("cuX"), "{text}");
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.contains("cuX_v2") && warning.contains("2000"), "{warning}");
    }

    #[test]
    fn a_function_of_another_result_is_left_out() {
        let versions = Versions::from([(("cuX".to_owned(), ""), vec![2000])]);
        let mut warnings = Vec::new();
        let other = Function { result: "c_int".into(), ..function("cuX") };
        let (text, assertions) = render(&crate::APIS[0], &[other], &versions, &mut warnings).unwrap();
        assert!(!text.contains("cuX") && assertions.is_empty() && warnings.len() == 1, "{text}{warnings:?}");
    }
}
