//! The direction of dependencies between the top-level modules of a package: the modules that each one may name.
//!
//! A path `crate::a` in a file of the module `b` is an arrow from `b` to `a`. The root of a crate, which re-exports, may name all
//! modules. Comments are not arrows, nor are names of other packages' modules that the root re-exports.
//!
//! The driver's objects refer to each other: a context has default streams, a stream its context, a graph both. So the modules of
//! `cuda-driver` and the arrays of `cuda-mem` have arrows both ways; the table names those that there are, and `sync`, `registry`,
//! `fork`, `thread`, `call` and `status` remain below all of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::workspace;

/// A package's sources, and each of its modules with those that it may name.
type Arrows = (&'static str, &'static [(&'static str, &'static [&'static str])]);

const ARROWS: &[Arrows] = &[
    (
        "cuda-driver/src",
        &[
            ("call", &[]),
            ("status", &[]),
            ("sync", &[]),
            ("registry", &["sync"]),
            ("fork", &["sync"]),
            ("thread", &["fork", "sync"]),
            ("error", &["graph", "launch", "module", "panic", "status"]),
            ("device", &["context", "driver", "error"]),
            ("driver", &["context", "device", "error", "fork", "registry", "sync"]),
            ("context", &["device", "driver", "error", "fork", "graph", "panic", "status", "stream", "sync"]),
            ("panic", &["context", "error", "fork", "stream", "sync", "thread"]),
            ("stream", &["call", "context", "error", "graph", "panic", "sync", "thread"]),
            ("module", &["context", "error", "graph", "launch", "stream", "sync"]),
            ("launch", &["context", "device", "error", "graph", "module", "stream"]),
            ("graph", &["context", "device", "error", "launch", "module", "panic", "stream", "sync"]),
            ("nvtx", &["context", "device", "error", "stream", "sync"]),
            ("profiler", &["context", "error"]),
            ("runtime", &["error"]),
            ("loom_models", &["context", "error", "graph", "panic", "registry", "stream", "sync"]),
        ],
    ),
    (
        "cuda-mem/src",
        &[
            ("spans", &[]),
            ("sync", &[]),
            ("error", &["array", "share"]),
            ("alloc", &["error", "sync"]),
            ("buffer", &["alloc", "error", "spans", "sync"]),
            ("layout", &["error"]),
            ("array", &["alloc", "buffer", "error", "host", "layout"]),
            ("host", &["alloc", "array", "buffer", "error", "layout"]),
            ("copy", &["array", "error", "host", "layout", "spans"]),
            ("graph", &["array", "buffer", "error"]),
            ("share", &["alloc", "array", "buffer", "error", "host", "layout"]),
            ("loom_models", &["alloc", "buffer", "error"]),
        ],
    ),
    (
        "cuda-nccl/src",
        &[
            ("pause", &[]),
            ("number", &[]),
            ("call", &[]),
            ("target", &[]),
            ("error", &["bootstrap"]),
            ("library", &["error"]),
            ("plan", &["call", "error", "number"]),
            ("bootstrap", &["communicator", "error", "library"]),
            (
                "communicator",
                &[
                    "bootstrap",
                    "call",
                    "error",
                    "group",
                    "library",
                    "number",
                    "pause",
                    "plan",
                    "target",
                    "transport",
                    "watchdog",
                ],
            ),
            ("transport", &["call", "error", "library", "pause"]),
            ("processes", &["bootstrap", "communicator", "error", "library", "transport"]),
            ("group", &["call", "communicator", "error", "target", "transport"]),
            ("watchdog", &["communicator"]),
        ],
    ),
    (
        "cuda-jit/lang/src",
        &[
            ("typeinfo", &[]),
            ("num", &["typeinfo"]),
            ("device", &["typeinfo", "num"]),
            ("types", &["typeinfo", "device", "num"]),
            ("math", &["typeinfo", "device"]),
            ("print", &["device"]),
            ("library", &["typeinfo", "device", "num"]),
            ("libcalls", &["typeinfo", "device", "types", "math", "print"]),
        ],
    ),
    (
        "cuda-jit/compiler/src",
        &[("libdevice", &[]), ("front", &["libdevice"]), ("races", &[]), ("back", &["libdevice"])],
    ),
    (
        "cuda-jit/src",
        &[
            ("error", &["warnings"]),
            ("tuples", &[]),
            ("message", &[]),
            ("warnings", &[]),
            ("cache", &[]),
            ("device_runtime", &[]),
            ("constant", &["error"]),
            ("requirements", &["error"]),
            ("compiled", &["compile", "requirements"]),
            ("compile", &["cache", "compiled", "error", "requirements"]),
            ("assemble", &["error"]),
            ("bundle", &["compile", "compiled", "error", "requirements"]),
            ("record", &["assemble", "bundle", "cache", "compile", "compiled", "error"]),
            ("export", &["compile", "error"]),
            (
                "kernel",
                &[
                    "bundle",
                    "cache",
                    "compile",
                    "compiled",
                    "constant",
                    "device_runtime",
                    "error",
                    "message",
                    "record",
                    "tuples",
                    "warnings",
                ],
            ),
            ("launch", &["compiled", "constant", "error", "kernel", "tuples", "warnings"]),
            ("host", &["launch"]),
            ("inspect", &["assemble", "cache", "compile", "error", "kernel", "launch"]),
            ("offline", &["cache", "compile", "error", "kernel"]),
            ("warm", &["error", "kernel", "record"]),
        ],
    ),
];

/// The arrows that are not allowed, one line each.
pub(crate) fn faults() -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for (folder, arrows) in ARROWS {
        for entry in fs::read_dir(workspace::root().join(folder))? {
            let path = entry?.path();
            let module = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if module != "lib" {
                let mut text = String::new();
                read(&path, &mut text)?;
                faults.extend(of_module(folder, arrows, &module, &text));
            }
        }
    }
    faults.sort();
    Ok(faults)
}

/// Appends the code below a path.
fn read(path: &Path, text: &mut String) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            read(&entry?.path(), text)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        text.push_str(&fs::read_to_string(path)?);
        text.push('\n');
    }
    Ok(())
}

fn of_module(folder: &str, arrows: &[(&str, &[&str])], module: &str, text: &str) -> Vec<String> {
    let Some((_, allowed)) = arrows.iter().find(|(known, _)| *known == module) else {
        return vec![format!("{folder}: module `{module}` is not listed in xtask/src/modules.rs; add it to the table")];
    };
    let wrong = |named: &&str| *named != module && !allowed.contains(named);
    let known = |named: &&str| arrows.iter().any(|(known, _)| known == named);
    let text = code(text);
    let named: BTreeSet<&str> = named(&text).into_iter().filter(known).filter(wrong).collect();
    named
        .into_iter()
        .map(|named| format!("{folder}: `{module}` names `crate::{named}`, against the direction of the modules"))
        .collect()
}

/// The text without comments.
fn code(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The names that follow `crate::`, also those in braces.
fn named(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, found) in text.match_indices("crate::") {
        let rest = &text[at + found.len()..];
        match rest.strip_prefix('{') {
            Some(list) => names.extend(in_braces(list)),
            // `use crate::device;` imports the attribute, which has a module's name.
            None => {
                names.extend(first(rest).filter(|_| !rest.starts_with("device;") && !rest.starts_with("device as")))
            }
        }
    }
    names
}

/// The first segment of each path in a list, up to its closing brace.
fn in_braces(list: &str) -> Vec<&str> {
    let (mut depth, mut names, mut begins) = (0, Vec::new(), true);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            c if begins && !c.is_whitespace() => {
                names.extend(first(&list[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

/// The name that a path begins with.
fn first(path: &str) -> Option<&str> {
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    Some(&path[..end]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[(&str, &[&str])] = &[("low", &[]), ("middle", &["low"]), ("high", &["low", "middle"])];

    fn found(module: &str, text: &str) -> Vec<String> {
        of_module("a/src", TABLE, module, text)
    }

    #[test]
    fn arrows_along_the_table_pass() {
        assert!(found("high", "use crate::{low, middle::{X, high}};\nuse crate::Thing;\n").is_empty());
        assert!(found("middle", "use crate::low::X; use crate::middle::Y; // crate::high\n").is_empty());
    }

    #[test]
    fn arrows_against_the_table_and_unknown_modules_are_reported() {
        let wrong = "a/src: `low` names `crate::high`, against the direction of the modules";
        for text in
            ["use crate::high::X;", "fn f() { crate::high::f() }", "use crate::{\n    low,\n    high::{A, B},\n};"]
        {
            assert_eq!(found("low", text), [wrong], "{text}");
        }
        assert_eq!(found("middle", "$crate::high::f()"), [wrong.replace("`low`", "`middle`")]);
        assert!(found("new", "")[0].contains("`new` is not listed"));
    }

    #[test]
    fn the_tables_name_only_known_modules() {
        for (folder, arrows) in ARROWS {
            for (module, allowed) in *arrows {
                assert!(allowed.iter().all(|to| arrows.iter().any(|(known, _)| known == to)), "{folder}: {module}");
            }
        }
    }
}
