//! Writes the committed bindings, compares them with the headers, and checks them with the C compiler. cuda-sys-gen generates
//! them.
//!
//! The bindings are those of the newest headers; the runtime of CUDA 12, whose functions differ, has those of 12.9. The C
//! compiler checks each assertion of the bindings with the headers that they come from, where all must hold, and with those of
//! 12.9 and 13.0: `differences.txt` lists the assertions that fail there, and one that it does not list is an error.

mod difference;
mod probe;
mod source;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use cuda_sys::toolkit::Environment;
use cuda_sys_gen::{APIS, Api, Bindings, Files, Generated, History, Lacking};
use source::Source;

use crate::{setup, workspace};

/// The headers of a version of CUDA.
struct Headers {
    version: &'static str,
    major: u32,
    include: PathBuf,
}

/// The headers of all versions that are compared, the newest first.
fn headers() -> Result<[Headers; 3]> {
    let older = setup::compilers()?;
    let [twelve, thirteen] = ["cuda12", "cuda13"].map(|toolkit| older.join(toolkit).join("include"));
    Ok([
        Headers { version: "newest", major: 13, include: setup::newest_headers()? },
        Headers { version: "13.0", major: 13, include: thirteen },
        Headers { version: "12.9", major: 12, include: twelve },
    ])
}

/// Returns true if an API belongs to these headers' version.
fn of_version(api: &Api, headers: &Headers) -> bool {
    api.major.is_none_or(|major| major == headers.major)
}

/// The file of the history.
fn history_file() -> PathBuf {
    workspace::root().join("cuda-sys/gen/history.txt")
}

/// The file of the differences.
fn differences_file() -> PathBuf {
    workspace::root().join("xtask/src/bindings/differences.txt")
}

/// Adds the declarations of the headers in these folders to the history.
pub(crate) fn record(folders: &[PathBuf]) -> Result<()> {
    let file = history_file();
    let mut history = History::parse(&std::fs::read_to_string(&file)?)?;
    for include in folders {
        cuda_sys_gen::record(include, &mut history)?;
        println!("read {}", include.display());
    }
    std::fs::write(&file, history.render()).with_context(|| format!("cannot write {}", file.display()))
}

/// The options of writing the bindings: the headers and the destination.
pub(crate) struct Request<'a> {
    /// The toolkit; `None` searches for one.
    pub(crate) toolkit: Option<&'a Path>,
    /// A folder for the bindings of the feature `generate`; `None` writes the committed bindings.
    pub(crate) out: Option<&'a Path>,
    /// True if the committed bindings may lose declarations.
    pub(crate) shrink: bool,
}

/// Writes every generated file.
pub(crate) fn write(request: &Request<'_>) -> Result<()> {
    let source = Source::choose(request.toolkit, &Environment::from_process(), setup::newest_headers)?;
    println!("{source}");
    let committed = committed();
    let lacking = if request.out.is_some() { Lacking::Added } else { Lacking::Absent };
    let new = from_headers(&source.include, &committed, lacking)?;
    new.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    if let Some(out) = request.out {
        return write_files(of_folder(&new.files, out));
    }
    if !request.shrink {
        // With a filter that wants no API these are the committed files.
        let old = cuda_sys_gen::bindings(&committed, &committed, Lacking::Absent, |_| false)?;
        refuse_loss(&source.written(), &old.files, &new.files)?;
    }
    if source.is_newest {
        return write_files(files()?.0);
    }
    write_files(of_folder(&new.files, &committed))?;
    println!(
        "the gate compares the committed bindings with those of the newest headers of PyPI, and the crates above cuda-sys \
         use declarations of these; `git checkout cuda-sys/src/generated` restores what was committed"
    );
    Ok(())
}

/// The folder of the committed bindings.
fn committed() -> PathBuf {
    workspace::root().join("cuda-sys/src/generated")
}

/// The formatted files of every API, from the headers in `include` if they have the API, else the committed ones.
fn from_headers(include: &Path, committed: &Path, lacking: Lacking) -> Result<Bindings> {
    let mut bindings = cuda_sys_gen::bindings(include, committed, lacking, |_| true)?;
    for files in &mut bindings.files {
        files.types = difference::rustfmt(&files.types)?;
    }
    Ok(bindings)
}

/// The files with their paths below `folder`.
fn of_folder(files: &[Files], folder: &Path) -> Vec<GeneratedFile> {
    let both = |files: &Files| {
        let folder = folder.join(files.module);
        [(folder.join("types.rs"), files.types.clone()), (folder.join("table.rs"), files.table.clone())]
    };
    files.iter().flat_map(both).collect()
}

fn write_files(files: Vec<GeneratedFile>) -> Result<()> {
    for (path, text) in files {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

/// Fails if the old files have declarations that the new ones lack.
fn refuse_loss(version: &str, old: &[Files], new: &[Files]) -> Result<()> {
    let lost = old.iter().zip(new).map(|(old, new)| (old.module, cuda_sys_gen::lost(old, new)));
    let lost: Vec<_> = lost.filter(|(_, names)| !names.is_empty()).collect();
    let count: usize = lost.iter().map(|(_, names)| names.len()).sum();
    let lines: Vec<_> = lost.iter().map(|(module, names)| format!("{module}: {}", names.join(", "))).collect();
    ensure!(
        lost.is_empty(),
        "the committed bindings have {count} names that the headers of CUDA {version} do not declare:\n{}\nnothing is \
         written; `--toolkit newest` writes the bindings of the newest headers, `--out DIR` writes the bindings that the \
         feature `generate` makes from these headers to another folder, `--shrink` replaces the committed bindings by those \
         of these headers",
        lines.join("\n")
    );
    Ok(())
}

/// Fails if a committed file differs from the generated one.
pub(crate) fn check() -> Result<()> {
    let (files, held) = files()?;
    let mut differences = String::new();
    for (path, text) in files {
        differences += &difference::difference(&path, &text)?;
    }
    if !differences.is_empty() {
        bail!(
            "{differences}\nthe committed bindings are not those of the headers; `cargo xtask gen-bindings` writes them"
        );
    }
    println!("bindings agree with the headers: the C compiler confirms {}", held.join(", "));
    Ok(())
}

/// The path and the text of a generated file.
type GeneratedFile = (PathBuf, String);

/// Every generated file, and for each version a text with the number of assertions that the C compiler confirmed.
fn files() -> Result<(Vec<GeneratedFile>, Vec<String>)> {
    let headers = headers()?;
    let history = History::committed();
    let folder = committed();
    let mut files = Vec::new();
    let mut differences = DIFFERENCES.to_owned();
    let mut held = [0; 3];
    for api in APIS {
        let own = headers.iter().find(|headers| of_version(api, headers)).context("an API has headers")?;
        let generated = cuda_sys_gen::generate(api, &own.include, &history)?;
        // The committed bindings are complete: a new kind of declaration is first added to the generator.
        ensure!(generated.warnings.is_empty(), "{}:\n{}", api.title, generated.warnings.join("\n"));
        // NCCL is released independently of CUDA: its header is beside those of the newest CUDA alone.
        let comparable = |headers: &Headers| {
            of_version(api, headers) && (!api.is_independent() || api.missing(&headers.include).is_none())
        };
        for (at, headers) in headers.iter().enumerate().filter(|(_, headers)| comparable(headers)) {
            let (count, lines) = compare(api, &generated, headers, headers.version == own.version)?;
            held[at] += count;
            differences += &lines;
        }
        files.push((folder.join(api.module).join("types.rs"), difference::rustfmt(&generated.types)?));
        files.push((folder.join(api.module).join("table.rs"), generated.table));
    }
    files.push((differences_file(), differences));
    let held = headers.iter().zip(held);
    let held = held.map(|(headers, count)| format!("{count} assertions for CUDA {}", headers.version));
    Ok((files, held.collect()))
}

/// The opening comment of the list of differences.
const DIFFERENCES: &str = "\
# Assertions of the bindings, which are those of the newest headers, that fail for older headers: structures that grew, counts
# (`_MAX`), and values that changed. Names that older headers lack are not differences.
# Written by `cargo xtask gen-bindings`; do not edit.
";

/// The number of assertions that hold for these headers, and a line for each that fails.
fn compare(api: &Api, generated: &Generated, headers: &Headers, own: bool) -> Result<(usize, String)> {
    let answer = probe::probe(api, &headers.include, &generated.assertions)
        .with_context(|| format!("{} of CUDA {}", api.title, headers.version))?;
    if own {
        let other = [answer.differing, answer.absent].concat();
        ensure!(
            other.is_empty(),
            "the C compiler rejects these assertions of the bindings of {}:\n{}",
            api.title,
            other.join("\n")
        );
        return Ok((answer.held, String::new()));
    }
    let lines = answer.differing.iter().map(|assertion| format!("{} {}: {assertion}\n", headers.version, api.module));
    Ok((answer.held, lines.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(table: &str) -> Files {
        Files { module: "driver", types: String::new(), table: table.to_owned(), generated: true }
    }

    #[test]
    fn a_loss_is_refused_with_its_names_and_the_ways_out() {
        let old = [files("    fn cuX();\n    fn cuY();\n")];
        assert!(refuse_loss("13.5", &old, &old).is_ok());
        let error = refuse_loss("12.0", &old, &[files("    fn cuX();\n")]).unwrap_err().to_string();
        assert!(
            error.contains("1 names that the headers of CUDA 12.0") && error.contains("\ndriver: cuY\n"),
            "{error}"
        );
        for way in ["--toolkit newest", "--out DIR", "--shrink"] {
            assert!(error.contains(way), "{error}");
        }
    }
}
