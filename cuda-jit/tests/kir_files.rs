//! The file tests of KIR: every file in `tests/kir` is a module whose comments state the test's command and its
//! expected results.
//!
//! The first line is the command:
//!
//! - `; run: parse` and `; run: verify` expect an error, given by `; error:` (with `UPDATE_EXPECT=1`, written there);
//! - `; run: ptx TARGET [o0..o3] [fast] [debug]` compiles. `; check:` lines must be found in the PTX in their order,
//!   `; absent:` ones must not be found anywhere. If a line is `; expect:`, the lines after it, less their `; `, are
//!   the PTX (with `UPDATE_EXPECT=1`, written there).
//!
//! Modules that compile are also executed, on both engines of the software device, at the command's optimisation level
//! and at level 0. The header has any number of launches, or states why there are none (`; not executed: REASON`):
//!
//! ```text
//! ; launch: grid 2x1 block 32 shared 128 cluster 2       each can be left out: 1 block, 1 thread, 0 bytes, no cluster
//! ; argument: v0 = [1.5, 30 of 0.0, 4 from 1.0 by 2.0]   a buffer's elements: 1.5, thirty zeros, then 1, 3, 5 and 7
//! ; argument: v1 = f32 [1.0, 2.0]                        a buffer of records, as elements of a type
//! ; argument: v2 = 0xff                                  a number; arguments come in the order of the parameters
//! ; result: v0 = [32 of 1.0, 3.0, 5.0, 7.0]              what a buffer holds afterwards
//! ; result: panic = site 0 [7, 4] in block (0, 0, 0), thread (7, 0, 0)
//! ; result: prints = "7\n"                               the text, quoted as Rust quotes it
//! ```
//!
//! Literals are KIR's; results are compared bit for bit. A buffer without a result is expected unchanged, and without
//! such lines no panic and no output is expected. With `UPDATE_EXPECT=1` a result line without a value
//! (`; result: v0`) gets one; an existing value is never changed.

mod execute;
mod faults;
mod header;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cuda_jit::back::llvm::Options;
use cuda_jit::kir::{Module, text};
use cuda_jit::target::Target;
use cuda_jit::valid::verify;

use self::execute::execute;
use self::header::{Launch, Outcome, PRINTS, launches};
use crate::around::{child, is_child};
use crate::support;

/// Defines a test for each file.
macro_rules! files {
    ($($name:ident)*) => {
        /// The files that have a test.
        const FILES: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                test(stringify!($name));
            }
        )*
    };
}

files! {
    access atomic_orders atomic_orders_old barriers bits bool cached cached_all casts clocks conditional constant
    contract device_call dynamic_shared endless fast_math float_rem floats fma generic grid_stride groups half_sm75
    half_sm90 integers lanes lanes_old line_late local_array no_contract no_panic null_loop overflow_check pair
    pair_sm80 panic_in_device panic_sites parse_block parse_type precise_math print record reduce reduce_old retype
    saturating_cast shift spilled_shared sync variables vector_add vector_add_o0 verify_access verify_address
    verify_block verify_cached_all verify_cached_shared verify_cached_store verify_cached_write verify_conditional
    verify_generic verify_half_cast verify_half_math verify_lane verify_pair verify_pair_compare
    verify_print_conversion verify_print_count verify_print_format verify_retype verify_retype_access verify_store
    verify_sync_warp wide_product wide_product_not
}

#[test]
fn every_file_has_a_test() {
    let entries = fs::read_dir(folder()).expect("the folder of the files");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<String> = paths.map(|path| path.file_name().unwrap_or_default().display().to_string()).collect();
    found.sort();
    let listed: Vec<String> = FILES.iter().map(|name| format!("{name}.kir")).collect();
    assert_eq!(listed, found, "`files!` names the files of {}, in alphabetical order", folder().display());
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kir")
}

/// Removes default orderings and scopes of atomics, which LLVM 23 prints always and LLVM 22 sometimes.
fn without_defaults(ptx: &str) -> String {
    ptx.replace("atom.relaxed.gpu.", "atom.").replace("atom.gpu.", "atom.")
}

/// Runs the test of a file; in a process started by [`child`], its launches.
fn test(name: &str) {
    let file = folder().join(format!("{name}.kir"));
    let source = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    if is_child() {
        return print_outcomes(&source).unwrap_or_else(|why| panic!("{why}"));
    }
    let expected = examine(name, &source).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    if expected == source {
        return;
    }
    if blesses() {
        return fs::write(&file, expected).expect("the file can be written");
    }
    let differs = expected.lines().zip(source.lines()).position(|(a, b)| a != b);
    let line = differs.unwrap_or(expected.lines().count().min(source.lines().count()));
    let (wanted, got) = (source.lines().nth(line).unwrap_or(""), expected.lines().nth(line).unwrap_or(""));
    let at = format!("{}: line {} differs (UPDATE_EXPECT=1 blesses)", file.display(), line + 1);
    panic!("{at}\n  expected {wanted}\n  got      {got}");
}

fn blesses() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1")
}

/// Returns the file as it should be; fails if it cannot be blessed.
fn examine(name: &str, source: &str) -> Result<String, String> {
    match command(source)?.split(' ').next() {
        Some("parse") => {
            let error = text::parse(source).err().ok_or("it parses")?;
            Ok(with_error(source, &error.to_string()))
        }
        Some("verify") => {
            let module = text::parse(source).map_err(|error| error.to_string())?;
            let error = verify(&module).err().ok_or("it verifies")?;
            Ok(with_error(source, &error.to_string()))
        }
        Some("ptx") => {
            let compiled = Compiled::read(source)?;
            let source = compiled.check_ptx(name, source)?;
            compiled.check_outcomes(&source, &compiled.outcomes(name))
        }
        _ => Err(format!("unknown command `{}`", command(source)?)),
    }
}

/// The command of the first line, after `; run: `.
fn command(source: &str) -> Result<&str, String> {
    let command = source.lines().next().and_then(|line| line.strip_prefix("; run: "));
    command.ok_or_else(|| "no `; run:` line".to_owned())
}

/// Replaces the source's `; error:` line, or adds one after the first line.
fn with_error(source: &str, error: &str) -> String {
    let mut lines: Vec<String> =
        source.lines().filter(|line| !line.starts_with("; error:")).map(str::to_owned).collect();
    lines.insert(1, format!("; error: {error}"));
    lines.join("\n") + "\n"
}

/// The software device's engines.
const ENGINES: [&str; 2] = ["regions", "fibers"];
/// The cards that the software device emulates.
const PROFILES: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_120"];

/// A file that is compiled and executed.
struct Compiled {
    module: Module,
    target: Target,
    options: Options,
    launches: Vec<Launch>,
}

impl Compiled {
    fn read(source: &str) -> Result<Self, String> {
        let module = text::parse(source).map_err(|error| error.to_string())?;
        verify(&module).map_err(|error| error.to_string())?;
        let words: Vec<&str> = command(source)?.split(' ').collect();
        let ["ptx", target, rest @ ..] = &words[..] else { return Err("no target".to_owned()) };
        let mut options = Options::default();
        for word in rest {
            match *word {
                "fast" => options.fast_math = true,
                "debug" => options.debug = true,
                level => {
                    let level = level.strip_prefix('o').and_then(|level| level.parse().ok());
                    options.opt_level = level.ok_or(format!("option `{word}`"))?;
                }
            }
        }
        let launches = launches(source, &module)?;
        Ok(Compiled { module, target: support::target(target), options, launches })
    }

    /// Returns the source with the PTX as its expectation, if it has one; fails if a `check` or `absent` line is
    /// violated.
    fn check_ptx(&self, name: &str, source: &str) -> Result<String, String> {
        let ptx = support::ptx(name, &self.module, &self.target, &self.options);
        support::assert_self_contained(name, &ptx);
        let (mut from, plain) = (0, without_defaults(&ptx));
        for wanted in source.lines().filter_map(|line| line.strip_prefix("; check: ")).map(without_defaults) {
            let found =
                plain[from..].find(&wanted).ok_or_else(|| format!("`{wanted}` is not found in order in\n{ptx}"))?;
            from += found + wanted.len();
        }
        for unwanted in source.lines().filter_map(|line| line.strip_prefix("; absent: ")) {
            if ptx.contains(unwanted) {
                return Err(format!("`{unwanted}` is found in\n{ptx}"));
            }
        }
        let Some(end) = source.find("\n; expect:\n") else { return Ok(source.to_owned()) };
        let lines = ptx.trim().lines().map(|line| format!("; {line}").trim_end().to_owned());
        Ok(source[..end].to_owned() + "\n; expect:\n" + &lines.collect::<Vec<_>>().join("\n") + "\n")
    }

    /// Every launch at every optimisation level.
    fn runs(&self) -> impl Iterator<Item = (&Launch, u8)> {
        let mut levels = vec![0, self.options.opt_level];
        levels.dedup();
        self.launches.iter().flat_map(move |launch| levels.clone().into_iter().map(move |level| (launch, level)))
    }

    fn execute(&self, launch: &Launch, opt_level: u8) -> Result<Outcome, String> {
        execute(&self.module, &self.target, &Options { opt_level, ..self.options.clone() }, launch)
    }

    /// The results of each run on each engine, in child processes, because a process has one engine and one card, and
    /// because the kernels print.
    fn outcomes(&self, name: &str) -> Vec<(&'static str, Vec<Outcome>)> {
        let engines = ENGINES.iter().filter(|_| !self.launches.is_empty());
        let card = |name: &&&str| support::target(name).capability() >= self.target.capability();
        let card = PROFILES.iter().find(card).expect("a card that runs the target's code");
        let run = |engine: &&'static str| {
            let variables = [("CUDA_SIM_ENGINE", engine.as_ref()), ("CUDA_SIM_PROFILE", card.as_ref())];
            (*engine, read_outcomes(&child(&format!("kir_files::{name}"), &variables)))
        };
        engines.map(run).collect()
    }

    /// Returns the source with missing results filled in; fails if a run's results differ from those stated.
    fn check_outcomes(&self, source: &str, engines: &[(&str, Vec<Outcome>)]) -> Result<String, String> {
        let mut blessed = BTreeMap::new();
        for (engine, outcomes) in engines {
            if outcomes.len() != self.runs().count() {
                return Err(format!("{} runs on {engine} have ended, of {}", outcomes.len(), self.runs().count()));
            }
            for ((launch, level), outcome) in self.runs().zip(outcomes) {
                for (line, text) in launch.compare(outcome).map_err(|why| format!("{engine}, o{level}: {why}"))? {
                    if *blessed.entry(line).or_insert_with(|| text.clone()) != text {
                        return Err(format!("line {}: the runs differ: {}, {text}", line + 1, blessed[&line]));
                    }
                }
            }
        }
        let line = |(index, line)| blessed.get(&index).map_or(line, String::as_str);
        let lines: Vec<&str> = source.lines().enumerate().map(line).collect();
        Ok(lines.join("\n") + "\n")
    }
}

/// The marks around the text that a kernel prints, and after the other results.
const MARKS: [&str; 3] = ["#begin\n", "#end\n", "#done\n"];

/// Executes every launch of a file and prints its results, for [`read_outcomes`].
fn print_outcomes(source: &str) -> Result<(), String> {
    let compiled = Compiled::read(source)?;
    let [begin, end, done] = MARKS;
    for (launch, level) in compiled.runs() {
        print!("{begin}");
        let outcome = compiled.execute(launch, level).map_err(|why| format!("o{level}: {why}"))?;
        let lines: String = outcome.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        print!("{end}{lines}{done}");
    }
    Ok(())
}

/// Parses the output of [`print_outcomes`]; incomplete runs are skipped.
fn read_outcomes(text: &str) -> Vec<Outcome> {
    let [begin, end, done] = MARKS;
    let outcome = |text: &str| {
        let (printed, rest) = text.split_once(end)?;
        let (lines, _) = rest.split_once(done)?;
        let pair = |line: &str| line.split_once(" = ").map(|(key, value)| (key.to_owned(), value.to_owned()));
        let printed = (PRINTS.to_owned(), format!("{printed:?}"));
        Some(lines.lines().filter_map(pair).chain([printed]).collect())
    };
    text.split(begin).skip(1).filter_map(outcome).collect()
}
