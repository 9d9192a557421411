//! The files of every API for one build or one command: generated where the headers can be read, else the committed ones.
//!
//! Invariant: headers never fail a build. Headers that are absent, unreadable or of an unsupported version give a warning
//! that names them and the packages that provide them, and the committed files are used instead. A libclang that cannot be
//! used is an error.
//! A library that is released independently of CUDA has the committed files unless its headers are newer: the crates above
//! cuda-sys use its functions, and a library that lacks one gives an error of the call.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::api::{APIS, Api, provider};
use crate::complete::{self, Texts};
use crate::headers::Libclang;
use crate::history::History;

/// The oldest CUDA whose headers are read.
const OLDEST: u32 = 12000;

/// The two files of an API.
#[derive(Debug)]
pub struct Files {
    /// The folder's name.
    pub module: &'static str,
    /// The types and constants; generated ones are not formatted.
    pub types: String,
    /// The functions.
    pub table: String,
    /// True if they are generated, false if they are the committed ones.
    pub generated: bool,
}

/// The files of every API, and the warnings about the headers.
#[derive(Debug)]
pub struct Bindings {
    /// In the order of [`APIS`].
    pub files: Vec<Files>,
    /// A sentence each, for the user.
    pub warnings: Vec<String>,
}

/// Declarations that the committed files have and the headers lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// They are absent: the files hold what the headers declare.
    Absent,
    /// They are added to the files of the driver, the runtime and NVTX (see `complete.rs`), so that the crates above cuda-sys
    /// compile.
    Added,
}

/// Generates the files of each API that is `wanted` from the headers in `include`, and reads the files of the other APIs
/// in `committed`.
///
/// # Errors
///
/// A libclang that is absent or too old, or committed files that cannot be read.
pub fn bindings(include: &Path, committed: &Path, lacking: Lacking, wanted: impl Fn(&Api) -> bool) -> Result<Bindings> {
    let history = History::committed();
    let mut warnings = Vec::new();
    let version = usable_version(include, &mut warnings);
    let mut files: Vec<Files> = Vec::new();
    for api in APIS {
        let readable = version.filter(|version| api.major.is_none_or(|major| version / 1000 == major));
        let mut made = None;
        let older = lacking == Lacking::Added && is_older(api, include, committed)?;
        if let Some(version) = readable.filter(|_| wanted(api) && !older) {
            made = generated(api, include, &history, &mut warnings)?;
            if lacking == Lacking::Added && api.has_versions() {
                made = completed(api, made, version, committed, &mut warnings)?;
            }
        }
        let is_generated = made.is_some();
        let [mut types, table] = made.map_or_else(|| read(api, committed), Ok)?;
        if let Some(driver) = files.first() {
            types = crate::beside_driver(&types, &driver.types);
        }
        files.push(Files { module: api.module, types, table, generated: is_generated });
    }
    Ok(Bindings { files, warnings })
}

/// Returns true if the headers are those of an older version of a library with versions of its own than the committed files.
fn is_older(api: &Api, include: &Path, committed: &Path) -> Result<bool> {
    let Some((_, name)) = api.own_version else { return Ok(false) };
    let Ok(version) = api.version(include) else { return Ok(false) };
    let [types, _] = read(api, committed)?;
    let value =
        |line: &str| line.strip_prefix(&format!("pub const {name}: u32 = "))?.trim_end_matches(';').parse().ok();
    Ok(types.lines().find_map(value).is_some_and(|known: u32| version < known))
}

/// The version of the headers, if the generator reads it.
fn usable_version(include: &Path, warnings: &mut Vec<String>) -> Option<u32> {
    match crate::toolkit_version(include) {
        Ok(version) if version >= OLDEST => return Some(version),
        Ok(version) => warnings.push(format!(
            "{} has the headers of CUDA {}; the oldest that are read are those of {}, and the committed bindings are used; \
             CUDA_HOME names another toolkit",
            include.display(),
            written(version),
            written(OLDEST)
        )),
        Err(error) => warnings.push(format!("the committed bindings are used: {error:#}")),
    }
    None
}

/// Formats a version as `12.4`.
#[must_use]
pub fn written(version: u32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// The generated files, or none and a warning about the headers.
fn generated(api: &Api, include: &Path, history: &History, warnings: &mut Vec<String>) -> Result<Option<Texts>> {
    let why = if let Some(header) = api.missing(include) {
        format!("{} has no {header}, which {} provides", include.display(), provider(header))
    } else {
        match crate::generate(api, include, history) {
            Ok(generated) => {
                warnings.extend(generated.warnings);
                return Ok(Some([generated.types, generated.table]));
            }
            Err(error) if error.is::<Libclang>() => return Err(error),
            Err(error) => with_provider(&format!("{error:#}")),
        }
    };
    warnings.push(format!("the committed bindings of `{}` are used: {why}", api.module));
    Ok(None)
}

/// The generated files with the committed declarations that they lack; none and a warning where that is not possible.
fn completed(
    api: &Api,
    made: Option<Texts>,
    version: u32,
    committed: &Path,
    warnings: &mut Vec<String>,
) -> Result<Option<Texts>> {
    let Some(made) = made else { return Ok(None) };
    let own = read(api, committed)?;
    // NVTX' files declare no version: they have the driver's.
    let known = match complete::version(&own[0]) {
        Some(known) => known,
        None => complete::version(&read(&APIS[0], committed)?[0]).context("the committed bindings have no version")?,
    };
    Ok(complete::completed(made, version, &own, known)
        .map_err(|error| warnings.push(format!("the committed bindings of `{}` are used: {error:#}", api.module)))
        .ok())
}

/// Adds to a compiler's message the packages that provide the header which it did not find.
fn with_provider(message: &str) -> String {
    match absent_in(message) {
        Some(header) => format!("{message}; {} provides {header}", provider(header)),
        None => message.to_owned(),
    }
}

/// The header that the compiler did not find, according to its message.
fn absent_in(message: &str) -> Option<&str> {
    message.split_once("' file not found")?.0.rsplit('\'').next()
}

fn read(api: &Api, committed: &Path) -> Result<Texts> {
    let read = |name| {
        let path = committed.join(api.module).join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    Ok([read("types.rs")?, read("table.rs")?])
}

/// The declarations of `old` that `new` lacks: in tables the names of functions, in types every name including those of fields.
#[must_use]
pub fn lost(old: &Files, new: &Files) -> Vec<String> {
    let functions = lacking(functions(&old.table), &functions(&new.table));
    let types = lacking(names(&old.types), &names(&new.types));
    [functions, types].concat()
}

fn lacking(old: BTreeSet<&str>, new: &BTreeSet<&str>) -> Vec<String> {
    old.into_iter().filter(|name| !new.contains(name)).map(str::to_owned).collect()
}

fn functions(table: &str) -> BTreeSet<&str> {
    table.lines().filter_map(|line| Some(line.trim().strip_prefix("fn ")?.split_once('(')?.0)).collect()
}

fn names(types: &str) -> BTreeSet<&str> {
    let code =
        types.lines().filter(|line| !line.trim_start().starts_with("//") && !line.trim_start().starts_with("#["));
    let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| word.starts_with(|c: char| c.is_alphabetic())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(types: &str, table: &str) -> Files {
        Files { module: "driver", types: types.to_owned(), table: table.to_owned(), generated: true }
    }

    #[test]
    fn names_that_only_the_old_files_declare_are_lost() {
        let old = files(
            "// of old\n#[derive(Eq)]\npub struct CUx { pub a: c_int, pub b: c_int }\nCU_ONE = 1,",
            "    fn cuX(y: c_int);\n",
        );
        let new = files("pub struct CUx { pub a: c_int }", "    fn cuY(x: c_int);\n    fn cuZ();\n");
        assert_eq!(lost(&old, &new), ["cuX", "CU_ONE", "b"]);
        assert_eq!(lost(&old, &old), [""; 0]);
    }

    #[test]
    fn the_absent_header_of_a_compilers_message_is_named() {
        assert_eq!(absent_in("x.h:7:10: fatal error: 'crt/host_defines.h' file not found"), Some("crt/host_defines.h"));
        assert_eq!(absent_in("unknown type name 'x'"), None);
    }

    #[test]
    fn a_version_is_written_as_its_two_numbers() {
        assert_eq!((written(12040), written(13000)), ("12.4".to_owned(), "13.0".to_owned()));
    }
}
