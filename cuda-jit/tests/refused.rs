//! Tests of the diagnostics of refused code, with rustc's whole output.
//!
//! `TRYBUILD=overwrite` blesses the `.stderr` files. They show that a type error in a kernel is printed once, although
//! the typing probe has it too.

use std::path::{Path, PathBuf};

use crate::programs::EVALUATED;

#[test]
fn diagnostics() {
    // No program that is run is among them, so that trybuild checks them all with one command, and builds no dependency.
    let cases = trybuild::TestCases::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let entries = std::fs::read_dir(&root).expect("the folder is there").map(|entry| entry.expect("it was listed"));
    let programs = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let is_checked = |path: &PathBuf| !EVALUATED.iter().any(|name| path.file_stem().is_some_and(|stem| stem == *name));
    let mut programs: Vec<PathBuf> = programs.filter(is_checked).collect();
    programs.sort();
    for program in programs {
        let name = program.file_name().expect("it was listed");
        cases.compile_fail(Path::new("tests/refused").join(name));
    }
}

/// Texts of several words in the macros' sources that are not errors: messages of kernels' panics, documentation of
/// generated items, placeholders for rustc, and texts for cases that rustc's parser, or syn, refuses first.
const NO_REFUSALS: &[&str] = &[
    "entered unreachable code: ",
    "not yet implemented: ",
    "The arguments of a launch for a parameter of type",
    "The kernel [`",
    "The device function [`",
    "Launches the kernel",
    "Compiles the kernel to PTX",
    "Compiles and loads the kernel",
    "# Errors",
    "Takes the closures that a launch would pass",
    "Indices are not checked",
    "The variant of that number, if",
    "kernels cannot call `{{Self}}::{name}`, which is no",
    "this expression is not supported in a kernel",
    "this is not a call",
    "this is no struct expression",
    "`else` takes a block",
    "a pattern's bound is a literal or a constant",
];

#[test]
fn every_refusal_of_the_macros_is_shown_by_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shown = texts(&root.join("tests/refused"), "stderr").concat();
    let mut refusals = 0;
    for source in texts(&root.join("macros/src"), "rs") {
        let source = source.split("#[cfg(test)]").next().unwrap_or_default();
        for text in literals(source).filter(|text| text.matches(' ').count() > 2) {
            if NO_REFUSALS.iter().any(|known| text.contains(known)) {
                continue;
            }
            refusals += 1;
            // literally, or as the fixed parts of a format string
            let is_shown = shown.contains(&text) || fixed_parts(&text).all(|part| shown.contains(part.as_str()));
            assert!(is_shown, "no `.stderr` in tests/refused shows this refusal: {text}");
        }
    }
    assert!(refusals > 60, "only {refusals} refusals were found");
}

/// Items of this crate that no program names, besides those that start with two underscores, those that represent an operator,
/// and those of `typeinfo`.
const HIDDEN: &[&str] = &[
    "NoCallee",
    "Callee",
    "CallableFromKernels",
    "DeviceFn",
    "ExistsOnDevice",
    "HostMethod",
    "MarkedWithDevice",
    "NoMethods",
    "OptionMethods",
    "NonDeviceFunction",
    "Returned",
    "Sealed",
];

/// The number of lines of notes, help and excerpts that name hidden items, by program. They may only fall.
const HIDDEN_IN_NOTES: &[(&str, usize)] = &[
    ("consequences", 12),
    ("constants", 3),
    ("constructors", 1),
    ("conversions", 15),
    ("defaults", 6),
    ("derive", 4),
    ("device_fn_types", 1),
    ("forged", 30),
    ("habits_types", 10),
    ("host_functions", 12),
    ("host_methods", 24),
    ("host_types", 2),
    ("hygiene", 1),
    ("hygiene_kinds", 1),
    ("hygiene_types", 1),
    ("iterators", 1),
    ("iterators_unknown", 4),
    ("methods", 17),
    ("newcomers", 5),
    ("newcomers_iterators", 3),
    ("operators", 5),
    ("operators_listed", 2),
    ("plain_functions", 4),
    ("std_bounds", 7),
    ("std_paths", 1),
    ("sums", 5),
    ("variables", 1),
    ("views", 11),
];

#[test]
fn no_error_names_a_hidden_item() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let entries = std::fs::read_dir(&root).expect("the folder is there").map(|entry| entry.expect("it was listed"));
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "stderr")) {
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let [shown, program] = ["stderr", "rs"].map(|end| std::fs::read_to_string(path.with_extension(end)));
        let (shown, program) = (shown.expect("it can be read"), program.expect("it can be read"));
        let mut notes = 0;
        for line in shown.lines().filter(|line| hidden(line, &program).next().is_some()) {
            let is_first = line.starts_with("error");
            assert!(!is_first, "an error of `{name}.rs` names a hidden item: {line}");
            notes += 1;
        }
        let known = HIDDEN_IN_NOTES.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
        if notes != known {
            found.push(format!("(\"{name}\", {notes}), which was {known}"));
        }
    }
    found.sort();
    assert!(found.is_empty(), "the notes that name hidden items are others:\n{}", found.join("\n"));
}

/// The hidden items that a line of a diagnostic names although the program does not.
fn hidden<'a>(line: &'a str, program: &'a str) -> impl Iterator<Item = &'a str> {
    let words = line.split(|char: char| !char.is_alphanumeric() && char != '_' && char != ':');
    words.flat_map(|path| path.split("::").map(move |word| (path, word))).filter_map(move |(path, word)| {
        let in_type_info = path.split("::").any(|segment| segment == "typeinfo") && path.contains("::");
        let is_hidden = word.starts_with("__") && word.contains(char::is_alphanumeric)
            || word.starts_with("DeviceMethods_")
            || word.starts_with("DeviceFunction_")
            || word.len() > "Operator".len() && word.ends_with("Operator")
            || HIDDEN.contains(&word)
            || in_type_info;
        (is_hidden && !program.contains(word)).then_some(word)
    })
}

/// The texts of the files below a folder with an extension.
fn texts(folder: &Path, extension: &str) -> Vec<String> {
    let paths =
        std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("it was listed").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => texts(&path, extension),
            false if path.extension().is_some_and(|found| found == extension) => {
                vec![std::fs::read_to_string(&path).expect("it can be read")]
            }
            false => Vec::new(),
        })
        .collect()
}

/// The string literals of a source, unescaped, without comments.
fn literals(source: &str) -> impl Iterator<Item = String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let code = code.replace("'\"'", "").replace("\\\"", "\u{1}");
    let inside: Vec<String> = code.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    inside.into_iter().map(|text| {
        let lines: Vec<&str> = text.split("\\\n").collect();
        let joined = lines.iter().enumerate().map(|(at, line)| if at == 0 { line } else { line.trim_start() });
        joined.collect::<String>().replace('\u{1}', "\"").replace("\\n", "\n").replace("\\\\", "\\")
    })
}

/// The fixed parts of a format string; short parts are left out.
fn fixed_parts(format: &str) -> impl Iterator<Item = String> {
    let marked = format.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let mut parts = Vec::new();
    for (at, part) in marked.split('{').enumerate() {
        let fixed = if at == 0 { part } else { part.split_once('}').map_or("", |(_, rest)| rest) };
        parts.push(fixed.replace('\u{1}', "{").replace('\u{2}', "}").trim().to_owned());
    }
    parts.into_iter().filter(|part| part.len() > 5)
}
