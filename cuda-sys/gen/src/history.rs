//! The versions of CUDA that have each function, as read from the headers of each version and kept in `history.txt`.
//!
//! The headers of one version do not tell which version introduced a function, nor whether other versions declare the same
//! name with other parameters: between 12.9 and 13.0 the runtime gave the plain names of several functions to variants with
//! other parameters. So each version's headers are read once (`cargo xtask gen-bindings --record`), and a line is kept per
//! function *and signature*, with the first and the last version that declare it so. The sizes of structures are part of the
//! signature.
//!
//! A library that is released independently of CUDA, such as NCCL, has versions of its own here: a line `read nccl ..`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context as _, Result};

use crate::api::Api;
use crate::types::Function;

/// The name of CUDA's versions, which all libraries of the toolkit share.
pub(crate) const CUDA: &str = "";

/// The versions whose headers were read, and the functions that they declare.
#[derive(Debug, Default, PartialEq)]
pub struct History {
    /// By module; those of CUDA by [`CUDA`].
    versions: BTreeMap<String, BTreeSet<u32>>,
    /// By name and signature, the first and the last version.
    entries: BTreeMap<(String, String), (u32, u32)>,
}

impl History {
    /// The committed history.
    ///
    /// # Panics
    ///
    /// Never: a test reads the same text.
    #[must_use]
    pub fn committed() -> History {
        History::parse(include_str!("../history.txt")).expect("a test reads it")
    }

    /// Reads the text form.
    ///
    /// # Errors
    ///
    /// A line that does not have this form.
    pub fn parse(text: &str) -> Result<History> {
        let mut history = History::default();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            if let Some(versions) = line.strip_prefix("read ") {
                let named = versions.split_once(' ').filter(|(word, _)| word.parse::<u32>().is_err());
                let (module, versions) = named.unwrap_or((CUDA, versions));
                let versions = versions.split(' ').map(str::parse).collect::<Result<_, _>>()?;
                history.versions.insert(module.to_owned(), versions);
                continue;
            }
            let mut words = line.splitn(3, ' ');
            let mut word = || words.next().with_context(|| format!("`{line}` is no line of the history"));
            let (first, last, signature) = (word()?.parse()?, word()?.parse()?, word()?);
            let (name, _) = signature.split_once('(').with_context(|| format!("`{signature}` is no signature"))?;
            history.entries.insert((name.to_owned(), signature[name.len()..].to_owned()), (first, last));
        }
        Ok(history)
    }

    /// The text form.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text =
            "# First and last CUDA version whose headers declare a function so; `Type=N` is a structure's size.\n\
                        # Written by `cargo xtask gen-bindings --record`; do not edit.\n"
                .to_owned();
        for (module, versions) in &self.versions {
            let versions = versions.iter().map(u32::to_string);
            let words: Vec<_> = [module.clone()].into_iter().filter(|word| word != CUDA).chain(versions).collect();
            text += &format!("read {}\n", words.join(" "));
        }
        for ((name, signature), (first, last)) in &self.entries {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{first} {last} {name}{signature}");
        }
        text
    }

    /// Records that the headers of `version` were read: of [`CUDA`], or of a module with versions of its own.
    pub(crate) fn read(&mut self, module: &str, version: u32) {
        self.versions.entry(module.to_owned()).or_default().insert(version);
    }

    /// Records that `version` declares `function`.
    pub(crate) fn add(&mut self, version: u32, function: &Function, sizes: &BTreeMap<String, String>) {
        let key = (function.name.clone(), signature(function, sizes));
        let entry = self.entries.entry(key).or_insert((version, version));
        *entry = (entry.0.min(version), entry.1.max(version));
    }

    /// The first version that has `function`, and the version that removed it.
    ///
    /// For a library whose functions change with its major version, only versions with the same signature count.
    pub(crate) fn versions_of(
        &self,
        api: &Api,
        function: &Function,
        sizes: &BTreeMap<String, String>,
    ) -> Option<(u32, Option<u32>)> {
        let exact = api.major.is_some().then(|| signature(function, sizes));
        let (first, last) = self.named(&function.name, exact.as_deref())?;
        Some((first, self.after(api, last)))
    }

    /// The first version that declares a function of this name.
    pub(crate) fn first(&self, name: &str) -> Option<u32> {
        self.named(name, None).map(|(first, _)| first)
    }

    /// The functions of `api` that were removed before or in `version`, each with the version that introduced it and the
    /// version that removed it.
    ///
    /// Empty for the API of one major version, within which no function is removed.
    pub(crate) fn removed(&self, api: &Api, version: u32) -> Vec<(Function, u32, u32)> {
        let names: BTreeSet<_> = self.entries.keys().map(|(name, _)| name).collect();
        let of_api = names.into_iter().filter(|name| name.starts_with(api.prefix()) && api.major.is_none());
        let gone = of_api.filter_map(|name| {
            let (first, last) = self.named(name, None)?;
            let until = self.after(api, last).filter(|until| *until <= version)?;
            let (_, signature) = self.entries.keys().find(|(other, _)| other == name)?;
            Some((function(name, signature)?, first, until))
        });
        gone.collect()
    }

    /// The first and the last version that declare a name, with this signature if one is given.
    fn named(&self, name: &str, signature: Option<&str>) -> Option<(u32, u32)> {
        let entries = self.entries.iter().filter(|((other, _), _)| other == name);
        let entries = entries.filter(|((_, other), _)| signature.is_none_or(|signature| signature == other));
        entries.map(|(_, versions)| *versions).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The version of the API that was read after `last`.
    fn after(&self, api: &Api, last: u32) -> Option<u32> {
        let module = if api.own_version.is_some() { api.module } else { CUDA };
        self.versions.get(module)?.range(last + 1..).next().copied()
    }
}

/// Parses a function from its signature, whose parameters have no names.
fn function(name: &str, signature: &str) -> Option<Function> {
    let (parameters, result) = signature.strip_prefix('(')?.split_once(") -> ")?;
    let parameters = parameters.split(", ").filter(|ty| !ty.is_empty()).enumerate();
    let parameters = parameters.map(|(at, ty)| format!("_{at}: {ty}")).collect();
    let result = result.split(' ').next()?.to_owned();
    Some(Function { name: name.to_owned(), parameters, result })
}

/// Formats the types of the parameters and the result, and the sizes of the structures among them.
fn signature(function: &Function, sizes: &BTreeMap<String, String>) -> String {
    let types = function.parameters.iter().map(|parameter| parameter.split_once(": ").map_or("", |(_, ty)| ty));
    let types: Vec<_> = types.collect();
    let words =
        types.iter().copied().chain([function.result.as_str()]).flat_map(|ty| ty.split(['*', ' ', '<', '>', ',']));
    let named: BTreeSet<_> = words.filter_map(|word| sizes.get_key_value(word)).collect();
    let named: Vec<_> = named.iter().map(|(name, size)| format!(" {name}={size}")).collect();
    format!("({}) -> {}{}", types.join(", "), function.result, named.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(parameter: &str) -> Function {
        let parameters = vec![format!("x: {parameter}")];
        Function { name: "cudaX".to_owned(), parameters, result: "cudaError_t".to_owned() }
    }

    fn sizes(size: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("cudaProp".to_owned(), size.to_owned())])
    }

    /// 12.0 to 13.0, in which the parameter of `cudaX` changed.
    fn history() -> History {
        let mut history = History::default();
        for (version, parameter) in [(12000, "c_int"), (12090, "c_int"), (13000, "usize")] {
            history.add(version, &function(parameter), &sizes("8"));
            history.read(CUDA, version);
        }
        history
    }

    #[test]
    fn the_committed_history_is_what_it_would_be_written_as() {
        let committed = History::committed();
        assert_eq!(committed.render(), include_str!("../history.txt"));
        assert!(committed.versions[CUDA].contains(&12000) && committed.versions[CUDA].contains(&13050));
        assert!(committed.versions["nccl"].contains(&21801));
    }

    #[test]
    fn a_signature_has_versions_of_its_own_where_the_major_version_changes_it() {
        let runtime = Api::of_module("runtime").unwrap();
        let history = history();
        assert_eq!(history.versions_of(runtime, &function("c_int"), &sizes("8")), Some((12000, Some(13000))));
        assert_eq!(history.versions_of(runtime, &function("usize"), &sizes("8")), Some((13000, None)));
        assert_eq!(history.versions_of(runtime, &function("f32"), &sizes("8")), None);
        let nvml = Api::of_module("nvml").unwrap();
        assert_eq!(history.versions_of(nvml, &function("c_int"), &sizes("8")), Some((12000, None)));
    }

    #[test]
    fn a_structure_of_another_size_is_another_signature() {
        let of = |size| signature(&function("*mut cudaProp"), &sizes(size));
        assert_eq!(of("8"), "(*mut cudaProp) -> cudaError_t cudaProp=8");
        assert_ne!(of("8"), of("16"));
    }

    #[test]
    fn functions_that_went_are_known_with_their_parameters() {
        let mut history = History::default();
        let parameters = vec!["device: *mut c_int".to_owned()];
        let gone = Function { name: "nvmlX".to_owned(), parameters, result: "nvmlReturn_t".to_owned() };
        history.add(12000, &gone, &BTreeMap::new());
        history.read(CUDA, 12000);
        history.read(CUDA, 12010);
        let nvml = Api::of_module("nvml").unwrap();
        let unnamed = Function { parameters: vec!["_0: *mut c_int".to_owned()], ..gone };
        assert_eq!(history.removed(nvml, 12010), [(unnamed, 12000, 12010)]);
        assert_eq!(history.removed(nvml, 12000), []);
    }

    /// A function that NCCL 2.18 has is not missing in CUDA 13, whose versions have smaller numbers.
    #[test]
    fn a_library_with_versions_of_its_own_is_compared_with_those_only() {
        let mut history = history();
        let function = Function { name: "ncclX".to_owned(), ..function("c_int") };
        history.add(21801, &function, &BTreeMap::new());
        history.read("nccl", 21801);
        let nccl = Api::of_module("nccl").unwrap();
        assert_eq!(history.versions_of(nccl, &function, &BTreeMap::new()), Some((21801, None)));
        history.read("nccl", 23003);
        assert_eq!(history.versions_of(nccl, &function, &BTreeMap::new()), Some((21801, Some(23003))));
        assert_eq!(history.removed(nccl, 23003).len(), 1);
        let text = history.render();
        assert!(text.contains("\nread 12000 12090 13000\nread nccl 21801 23003\n"), "{text}");
        assert_eq!(History::parse(&text).unwrap(), history);
    }

    #[test]
    fn a_line_of_no_form_is_an_error() {
        for line in ["12000", "12000 12010", "x 12010 f() -> ()", "12000 12010 f"] {
            assert!(History::parse(line).is_err(), "{line}");
        }
    }
}
