//! The ABI probe: asks the machine's C compiler whether what the bindings claim of the headers is so.
//!
//! bindgen's view is libclang's, of one version of CUDA. Sizes, alignments, offsets, the values of constants and
//! enumerators, and which version each symbol has are handed to `cc` as static assertions over real headers, also of other
//! versions; nothing is run. A claim of a name that these headers do not have says nothing of them; every other one holds
//! or is a difference.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use cuda_sys_gen::Api;

use crate::workspace::{Scratch, output};

/// What came of asking.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answer {
    /// How many claims hold.
    pub(super) held: usize,
    /// Claims of names that these headers do not have.
    pub(super) absent: Vec<String>,
    /// Claims that do not hold.
    pub(super) differing: Vec<String>,
}

/// Compiles the facts against the headers in `include`.
pub(super) fn probe(api: &Api, include: &Path, facts: &[String]) -> Result<Answer> {
    ask(&format!("#include <stddef.h>\n{}", api.probe_source()), api.macros(), include, facts)
}

fn ask(source: &str, macros: &[&str], include: &Path, facts: &[String]) -> Result<Answer> {
    let scratch = Scratch::new("probe")?;
    let file = scratch.path().join("probe.c");
    let cc = || {
        let mut cc = Command::new("cc");
        cc.args(["-std=c11", "-x", "c", "-I"]).arg(include).args(macros).arg(&file);
        cc
    };
    std::fs::write(&file, source)?;
    let preprocessed = output(cc().args(["-E", "-P"])).context("the C compiler does not read the headers")?;
    let tags = tags(&preprocessed);
    let assertions: Vec<_> =
        facts.iter().map(|fact| format!("_Static_assert({}, \"\");\n", in_c(fact, &tags))).collect();
    std::fs::write(&file, format!("{source}#line 1 \"facts\"\n{}", assertions.concat()))?;
    let compiled = cc()
        .args(["-fsyntax-only", "-fno-diagnostics-show-caret", "-fmax-errors=0", "-ftrack-macro-expansion=0"])
        .env("LC_ALL", "C")
        .output();
    let compiled = compiled.context("cannot run the C compiler `cc`")?;
    let answer = read(&String::from_utf8_lossy(&compiled.stderr), facts)?;
    if compiled.status.success() != (answer.absent.is_empty() && answer.differing.is_empty()) {
        bail!("the C compiler's answer is not understood:\n{}", String::from_utf8_lossy(&compiled.stderr));
    }
    Ok(answer)
}

/// Names that C wants `struct`, `union` or `enum` before, with that word.
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

/// The fact with each `{Name}` as C names that type.
fn in_c(fact: &str, tags: &BTreeSet<(&str, &str)>) -> String {
    let mut parts = fact.split(['{', '}']);
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let (Some(name), Some(rest)) = (parts.next(), parts.next()) {
        text += &tagged(name, tags).unwrap_or_else(|| name.to_owned());
        text += rest;
    }
    text
}

/// `struct pair` for a tag; `union inner` for `outer_inner` too, which bindgen calls a type that is declared in another.
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

/// What the compiler said of each line of `facts`.
fn read(errors: &str, facts: &[String]) -> Result<Answer> {
    let mut absent = BTreeSet::new();
    let mut differing = BTreeSet::new();
    let mut unknown = Vec::new();
    for line in errors.lines() {
        let Some((place, message)) = line.split_once(": error: ") else { continue };
        let number = place.strip_prefix("facts:").and_then(|place| place.split(':').next());
        let at: usize =
            number.and_then(|number| number.parse().ok()).with_context(|| format!("in the headers: {line}"))?;
        unknown.extend(message.strip_prefix('\'').and_then(|name| Some(name.split_once("' undeclared")?.0)));
        // Whatever else the compiler says of a claim, a name in it is unknown. A claim that is no C at all would be
        // absent from the headers that it comes from too, where none may be.
        if message.contains("static assertion failed") {
            differing.insert(at)
        } else {
            absent.insert(at)
        };
    }
    // The compiler says only once that a name is unknown, and takes what else is said of it for false.
    let of_unknown = |fact: &String| unknown.iter().any(|name| fact.contains(&format!("{{{name}}}")));
    absent.extend((1..).zip(facts).filter(|(_, fact)| of_unknown(fact)).map(|(at, _)| at));
    differing.retain(|at| !absent.contains(at));
    let named = |set: &BTreeSet<usize>| -> Vec<String> {
        set.iter().filter_map(|at| Some(facts.get(at - 1)?.replace(['{', '}'], ""))).collect()
    };
    Ok(Answer {
        held: facts.len() - absent.union(&differing).count(),
        absent: named(&absent),
        differing: named(&differing),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(list: &[&str]) -> Vec<String> {
        list.iter().map(|fact| (*fact).to_owned()).collect()
    }

    fn asked(source: &str, list: &[&str]) -> Result<Answer> {
        let include = Scratch::new("probe-headers").unwrap();
        std::fs::write(include.path().join("some.h"), source).unwrap();
        ask("#include <stddef.h>\n#include <some.h>\n", &["-DSOME"], include.path(), &facts(list))
    }

    const HEADER: &str = "#ifdef SOME\nstruct pair { char a; int b; };\nstruct outer { union inner { int i; } u; };\ntypedef struct pair *pair_t;\nenum { FEW = 3 };\n#endif\n";

    #[test]
    fn facts_are_told_apart_into_true_false_and_absent() {
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
    fn what_all_holds_leaves_nothing() {
        let answer = asked(HEADER, &["sizeof({pair}) == 8"]).unwrap();
        assert_eq!(answer, Answer { held: 1, ..Answer::default() });
    }

    #[test]
    fn headers_that_do_not_compile_are_an_error() {
        let error = format!("{:#}", asked("#error broken\n", &["1 == 1"]).unwrap_err());
        assert!(error.contains("broken"), "{error}");
    }
}
