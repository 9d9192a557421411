//! The file tests of KIR: every file in `tests/kir` is a module whose comments say what to do with it and what comes
//! out.
//!
//! The first line is the command:
//!
//! - `; run: parse` and `; run: verify` expect an error, given by `; error:` (with `UPDATE_EXPECT=1`, written there);
//! - `; run: ptx TARGET [o0..o3] [fast] [debug]` compiles. `; check:` lines must be found in the PTX in their order,
//!   `; absent:` ones must not be found anywhere. If a line is `; expect:`, the lines after it, less their `; `, are
//!   the PTX (with `UPDATE_EXPECT=1`, written there).

use std::fs;
use std::path::{Path, PathBuf};

use cuda_jit::back::llvm::Options;
use cuda_jit::kir::text;
use cuda_jit::valid::verify;

use crate::support;

#[test]
fn files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kir");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the folder of tests")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "kir"))
        .collect();
    files.sort();
    assert!(files.len() >= 10, "only {} files in {}", files.len(), folder.display());
    let bless = std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1");
    let failures: Vec<String> = files
        .iter()
        .filter_map(|file| run(file, bless).err().map(|why| format!("{}: {why}", file.display())))
        .collect();
    assert!(failures.is_empty(), "{} of {} failed\n{}", failures.len(), files.len(), failures.join("\n"));
}

fn run(file: &Path, bless: bool) -> Result<(), String> {
    let source = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let command = source.lines().next().and_then(|line| line.strip_prefix("; run: ")).ok_or("no `; run:` line")?;
    let words: Vec<&str> = command.split(' ').collect();
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let expected = match words[0] {
        "parse" => {
            let error = text::parse(&source).err().ok_or("it parses")?;
            with_error(&source, &error.to_string())
        }
        "verify" => {
            let module = text::parse(&source).map_err(|error| error.to_string())?;
            let error = verify(&module).err().ok_or("it verifies")?;
            with_error(&source, &error.to_string())
        }
        "ptx" => check_ptx(&name, &source, &words[1..])?,
        other => return Err(format!("unknown command `{other}`")),
    };
    if expected == source {
        return Ok(());
    }
    if bless {
        return fs::write(file, expected).map_err(|error| error.to_string());
    }
    let differs = expected.lines().zip(source.lines()).position(|(a, b)| a != b);
    let line = differs.unwrap_or(expected.lines().count().min(source.lines().count()));
    let (wanted, got) = (source.lines().nth(line).unwrap_or(""), expected.lines().nth(line).unwrap_or(""));
    Err(format!("line {} differs (UPDATE_EXPECT=1 blesses)\n  expected {wanted}\n  got      {got}", line + 1))
}

/// The source with its `; error:` line saying `error`; one is added after the first line if there is none.
fn with_error(source: &str, error: &str) -> String {
    let mut lines: Vec<String> =
        source.lines().filter(|line| !line.starts_with("; error:")).map(str::to_owned).collect();
    lines.insert(1, format!("; error: {error}"));
    lines.join("\n") + "\n"
}

/// The source with the PTX as its expectation, if it has one; fails on what must or must not be found.
fn check_ptx(name: &str, source: &str, words: &[&str]) -> Result<String, String> {
    let module = text::parse(source).map_err(|error| error.to_string())?;
    verify(&module).map_err(|error| error.to_string())?;
    let [target, rest @ ..] = words else { return Err("no target".to_owned()) };
    let mut options = Options::default();
    for word in rest {
        match *word {
            "fast" => options.fast_math = true,
            "debug" => options.debug = true,
            level => {
                options.opt_level =
                    level.strip_prefix('o').and_then(|level| level.parse().ok()).ok_or(format!("option `{level}`"))?;
            }
        }
    }
    let ptx = support::ptx(name, &module, &support::target(target), &options);
    support::assert_self_contained(name, &ptx);
    let mut from = 0;
    for wanted in source.lines().filter_map(|line| line.strip_prefix("; check: ")) {
        let found = ptx[from..].find(wanted).ok_or_else(|| format!("`{wanted}` is not found in order in\n{ptx}"))?;
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
