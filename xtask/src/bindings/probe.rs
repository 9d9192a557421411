//! The ABI probe: checks the assertions of the bindings about the headers with the machine's C compiler.
//!
//! bindgen's view is libclang's, of one version of CUDA. `cc` checks sizes, alignments, offsets, the values of constants and
//! enumerators, and the version of each symbol as static assertions over real headers, also those of other versions; nothing
//! is run. An assertion about a name that the headers lack is skipped; every other one holds or is a difference.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use cuda_sys_gen::Api;

use crate::workspace::{output, scratch};

/// The outcome of a probe.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answer {
    /// The number of assertions that hold.
    pub(super) held: usize,
    /// The assertions about names that these headers lack.
    pub(super) absent: Vec<String>,
    /// The assertions that fail.
    pub(super) differing: Vec<String>,
}

/// Checks the assertions against the headers in `include`.
pub(super) fn probe(api: &Api, include: &Path, assertions: &[String]) -> Result<Answer> {
    ask(&format!("#include <stddef.h>\n{}", api.probe_source()), api.macros(), include, assertions)
}

fn ask(source: &str, macros: &[&str], include: &Path, assertions: &[String]) -> Result<Answer> {
    let scratch = scratch("probe")?;
    let file = scratch.path().join("probe.c");
    let cc = || {
        let mut cc = Command::new("cc");
        cc.args(["-std=c11", "-x", "c", "-I"]).arg(include).args(macros).arg(&file);
        cc
    };
    std::fs::write(&file, source)?;
    let preprocessed = output(cc().args(["-E", "-P"])).context("the C compiler does not read the headers")?;
    let tags = tags(&preprocessed);
    let statements: Vec<_> =
        assertions.iter().map(|assertion| format!("_Static_assert({}, \"\");\n", in_c(assertion, &tags))).collect();
    std::fs::write(&file, format!("{source}#line 1 \"assertions\"\n{}", statements.concat()))?;
    let compiled = cc()
        .args(["-fsyntax-only", "-fno-diagnostics-show-caret", "-fmax-errors=0", "-ftrack-macro-expansion=0"])
        .env("LC_ALL", "C")
        .output();
    let compiled = compiled.context("cannot run the C compiler `cc`")?;
    let answer = read(&String::from_utf8_lossy(&compiled.stderr), assertions)?;
    if compiled.status.success() != (answer.absent.is_empty() && answer.differing.is_empty()) {
        bail!("the output of the C compiler is not understood:\n{}", String::from_utf8_lossy(&compiled.stderr));
    }
    Ok(answer)
}

/// The tags of the headers, each with its keyword `struct`, `union` or `enum`.
fn tags(preprocessed: &str) -> BTreeSet<(&str, &str)> {
    let words = ["struct", "union", "enum"].into_iter().flat_map(|word| {
        let places = preprocessed.match_indices(word);
        let whole = places.filter(|(at, _)| !preprocessed[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
        whole.map(move |(at, _)| (word, &preprocessed[at + word.len()..]))
    });
    let named = words.filter_map(|(word, after)| {
        let name = after.strip_prefix(char::is_whitespace)?.trim_start();
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
        (end > 0).then(|| (&name[..end], word))
    });
    named.collect()
}

/// The assertion with C's name of the type for each `{Name}`.
fn in_c(assertion: &str, tags: &BTreeSet<(&str, &str)>) -> String {
    let mut parts = assertion.split(['{', '}']);
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let (Some(name), Some(rest)) = (parts.next(), parts.next()) {
        text += &tagged(name, tags).unwrap_or_else(|| name.to_owned());
        text += rest;
    }
    text
}

/// `struct pair` for the tag `pair`. Also `union inner` for `outer_inner`, bindgen's name of a type that is declared in another.
fn tagged(name: &str, tags: &BTreeSet<(&str, &str)>) -> Option<String> {
    let word = |tag: &str| tags.range((tag, "")..).next().filter(|(name, _)| *name == tag).map(|(_, word)| *word);
    if let Some(word) = word(name) {
        return Some(format!("{word} {name}"));
    }
    name.match_indices('_').find_map(|(at, _)| {
        let (outer, inner) = (&name[..at], &name[at + 1..]);
        word(outer).and(word(inner)).map(|word| format!("{word} {inner}"))
    })
}

/// Sorts the assertions by the compiler's errors, whose line numbers are those of the assertions.
fn read(errors: &str, assertions: &[String]) -> Result<Answer> {
    let mut absent = BTreeSet::new();
    let mut differing = BTreeSet::new();
    let mut unknown = Vec::new();
    for line in errors.lines() {
        let Some((place, message)) = line.split_once(": error: ") else { continue };
        let number = place.strip_prefix("assertions:").and_then(|place| place.split(':').next());
        let at: usize =
            number.and_then(|number| number.parse().ok()).with_context(|| format!("in the headers: {line}"))?;
        unknown.extend(message.strip_prefix('\'').and_then(|name| Some(name.split_once("' undeclared")?.0)));
        // Any error but a failed assertion means that a name in it is unknown. An assertion that is not valid C would also be
        // absent for the headers that it comes from, where absent ones are an error.
        if message.contains("static assertion failed") {
            differing.insert(at)
        } else {
            absent.insert(at)
        };
    }
    // The compiler reports an unknown name only once, and fails the other assertions about it.
    let of_unknown = |assertion: &String| unknown.iter().any(|name| assertion.contains(&format!("{{{name}}}")));
    absent.extend((1..).zip(assertions).filter(|(_, assertion)| of_unknown(assertion)).map(|(at, _)| at));
    differing.retain(|at| !absent.contains(at));
    let named = |set: &BTreeSet<usize>| -> Vec<String> {
        set.iter().filter_map(|at| Some(assertions.get(at - 1)?.replace(['{', '}'], ""))).collect()
    };
    Ok(Answer {
        held: assertions.len() - absent.union(&differing).count(),
        absent: named(&absent),
        differing: named(&differing),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assertions(list: &[&str]) -> Vec<String> {
        list.iter().map(|assertion| (*assertion).to_owned()).collect()
    }

    fn asked(source: &str, list: &[&str]) -> Result<Answer> {
        let include = scratch("probe-headers").unwrap();
        std::fs::write(include.path().join("some.h"), source).unwrap();
        ask("#include <stddef.h>\n#include <some.h>\n", &["-DSOME"], include.path(), &assertions(list))
    }

    const HEADER: &str = "#ifdef SOME\nstruct pair { char a; int b; };\nstruct outer { union inner { int i; } u; };\ntypedef struct pair *pair_t;\nenum { FEW = 3 };\n#endif\n";

    #[test]
    fn assertions_are_sorted_into_true_false_and_absent() {
        let list = [
            "sizeof({pair}) == 8",
            "offsetof({pair}, b) == 8",
            "offsetof({pair}, c) == 8",
            "FEW == 3",
            "FEW == 4",
            "MANY == 4",
            "sizeof({trio}) == 12",
            "_Alignof({trio}) == 4",
            "sizeof({pair_t}) == sizeof(void *)",
            "sizeof({outer_inner}) == 4",
        ];
        let answer = asked(HEADER, &list).unwrap();
        assert_eq!(answer.held, 4);
        assert_eq!(answer.differing, ["offsetof(pair, b) == 8", "FEW == 4"]);
        assert_eq!(answer.absent, ["offsetof(pair, c) == 8", "MANY == 4", "sizeof(trio) == 12", "_Alignof(trio) == 4"]);
    }

    #[test]
    fn no_assertion_is_reported_if_all_hold() {
        let answer = asked(HEADER, &["sizeof({pair}) == 8"]).unwrap();
        assert_eq!(answer, Answer { held: 1, ..Answer::default() });
    }

    #[test]
    fn headers_that_do_not_compile_are_an_error() {
        let error = format!("{:#}", asked("#error broken\n", &["1 == 1"]).unwrap_err());
        assert!(error.contains("broken"), "{error}");
    }
}
