//! The generated part of the page of what is not there yet: what the macros refuse, in the words of their refusals.
//!
//! The methods of Rust's types are those that the language lists as the host's alone, `host_methods!` with the `reasons!` for each; the rest
//! is what tests show of the macros' refusals, `cuda-jit/tests/refused/*.stderr`. What stands above the mark is written by hand.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail, ensure};

/// The page.
pub(super) const PAGE: &str = "docs/book/src/not-there-yet.md";

/// The first line of the generated part.
const MARK: &str = "<!-- The rest is written by `cargo xtask book`. -->\n";

/// The folder in which the language lists the methods that its types lack.
const LANGUAGE: &str = "cuda-jit/lang/src/";

/// The folder of the tests that show refusals.
const REFUSED: &str = "cuda-jit/tests/refused/";

/// The beginnings of refusals of something that kernels lack; the other refusals are of mistakes.
const LACKS: &[&str] = &[
    "kernels have no ",
    "kernels support structs",
    "kernels cannot be ",
    "kernels do not ",
    "kernels call ",
    "kernels can only call ",
    "closures in kernels cannot ",
];

/// The beginnings of refusals of limits.
const LIMITS: &[&str] = &[
    "a kernel has at most ",
    "a device prints at most ",
    "the message of a panic has at most ",
    "a type with closures has at most ",
    "kernels have integers of up to ",
];

/// A fault if the page differs from the generated one.
pub(super) fn faults(files: &[(String, String)]) -> Vec<String> {
    let page = files.iter().find(|(name, _)| name == PAGE).map_or("", |(_, text)| text);
    match written(page, files) {
        Ok(written) if written == page => Vec::new(),
        Ok(_) => vec![format!("{PAGE}: the refusals have changed; `cargo xtask book` writes the page")],
        Err(error) => vec![format!("{PAGE}: {error:#}")],
    }
}

/// The beginnings that no shown refusal has any more.
pub(super) fn stale_prefixes(files: &[(String, String)]) -> Vec<String> {
    let shown = |begin: &&&str| {
        let mut refused = files.iter().filter(|(name, _)| name.starts_with(REFUSED) && name.ends_with(".stderr"));
        refused.any(|(_, text)| text.contains(&format!(": {begin}")))
    };
    let stale = LACKS.iter().chain(LIMITS).filter(|begin| !shown(begin));
    stale.map(|begin| format!("xtask/src/book/missing.rs: no refusal in {REFUSED} begins with \"{begin}\"")).collect()
}

/// The page with a new generated part.
pub(super) fn written(page: &str, files: &[(String, String)]) -> Result<String> {
    let (by_hand, _) = page.split_once(MARK).with_context(|| format!("the line `{}` is not there", MARK.trim()))?;
    let mut text = format!("{by_hand}{MARK}\n");
    text += "## Methods of Rust's types\n\nThe compiler refuses these methods, with the text above each table and what to write instead.\n";
    let methods = methods(files)?;
    for (reason, rows) in &methods {
        write!(text, "\n{}. {}.\n\n| of | methods |\n|---|---|\n", sentence(&reason.text), sentence(&reason.instead))?;
        for (of, names) in rows {
            writeln!(
                text,
                "| {of} | {} |",
                names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" ")
            )?;
        }
    }
    let told: Vec<String> = methods.iter().map(|(reason, _)| kind(&reason.text)).collect();
    for (title, begins) in [("What kernels have no form for", LACKS), ("Limits", LIMITS)] {
        write!(text, "\n## {title}\n\n| the compiler says | instead |\n|---|---|\n")?;
        for (says, instead) in refusals(files, begins, &told)? {
            writeln!(text, "| {} | {} |", cell(&says), cell(&instead))?;
        }
    }
    Ok(text)
}

/// Why kernels lack methods.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reason {
    text: String,
    instead: String,
}

/// The types and their methods.
type Rows = Vec<(String, Vec<String>)>;

/// The methods that kernels lack, by reasons, in the order of the reasons' names in the source.
fn methods(files: &[(String, String)]) -> Result<Vec<(Reason, Rows)>> {
    let sources: Vec<&str> =
        files.iter().filter(|(name, _)| name.starts_with(LANGUAGE)).map(|(_, text)| text.as_str()).collect();
    let reasons: Vec<(String, Reason)> = sources.iter().flat_map(|text| reasons(text)).collect();
    let tables: Vec<(String, String, Vec<String>)> = sources.iter().flat_map(|text| tables(text)).collect();
    ensure!(!reasons.is_empty() && !tables.is_empty(), "{LANGUAGE} has no `reasons!` or no `host_methods!`");
    let undocumented = tables.iter().find(|(of, ..)| of.is_empty());
    if let Some((_, _, names)) = undocumented {
        bail!(
            "the `host_methods!` with `{}` is in no trait whose summary begins with `Methods of`",
            names.join("`, `")
        );
    }
    let rows = |why: &str| -> Rows {
        let of_this = tables.iter().filter(|(_, of_why, _)| of_why == why);
        of_this.map(|(of, _, names)| (of.clone(), names.clone())).collect()
    };
    Ok(reasons.into_iter().map(|(why, reason)| (reason, rows(&why))).filter(|(_, rows)| !rows.is_empty()).collect())
}

/// The reasons of a file, `Heap NeedsNoHeap: "text", "what to do";`, by their names.
fn reasons(text: &str) -> Vec<(String, Reason)> {
    let Some(list) = text.split_once("\nreasons! {\n").and_then(|(_, rest)| rest.split_once("\n}\n")) else {
        return Vec::new();
    };
    let entries = list.0.split(";\n").filter_map(|entry| {
        let (names, texts) = entry.split_once(':')?;
        let texts = texts.replace("\\\"", "\u{1}");
        let mut literals = texts.split('"').skip(1).step_by(2).map(unescaped);
        Some((
            names.split_whitespace().next()?.to_owned(),
            Reason { text: literals.next()?, instead: literals.next()? },
        ))
    });
    entries.collect()
}

/// A literal as it is shown, in which `{Self}` is `T`.
fn unescaped(literal: &str) -> String {
    let shown = literal.replace("{Self}", "T").replace("{{", "{").replace("}}", "}");
    shown.replace('\u{1}', "\"").replace("\\\\", "\\")
}

/// The tables of a file: what has the methods, the reason's name, and the methods.
fn tables(text: &str) -> Vec<(String, String, Vec<String>)> {
    let mut tables = Vec::new();
    let mut documented = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.is_empty() {
            documented = "";
        }
        if let Some(of) = line.strip_prefix("/// Methods of ").or_else(|| line.strip_prefix("/// The method of ")) {
            documented = of.trim_end_matches('.');
        }
        if line.trim_start().starts_with("cuda_jit_macros::host_methods!") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "}").collect();
            for entry in body.join(" ").split(';').filter(|entry| !entry.trim().is_empty()) {
                if let Some((why, names)) = entry.split_once(':') {
                    tables.push((documented.to_owned(), why.trim().to_owned(), methods_of(names)));
                }
            }
        }
    }
    tables
}

/// The names in `sort 0 unzip [A, B] sort_by (_: impl FnMut(&T, &T) -> Ordering)`.
fn methods_of(list: &str) -> Vec<String> {
    let mut depth = 0;
    let outside = list.chars().map(|c| {
        let ends = matches!(c, ')' | ']');
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(ends);
        if depth > 0 || ends { ' ' } else { c }
    });
    let words: String = outside.collect();
    let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_alphabetic());
    words.split_whitespace().filter(is_name).map(str::to_owned).collect()
}

/// The refusals that begin so and are not of these kinds, each once, with what they say to write instead.
fn refusals(files: &[(String, String)], begins: &[&str], but: &[String]) -> Result<BTreeMap<String, String>> {
    let (mut found, mut seen) = (BTreeMap::new(), but.to_vec());
    for (_, text) in files.iter().filter(|(name, _)| name.starts_with(REFUSED) && name.ends_with(".stderr")) {
        for error in text.split("\nerror").map(|error| error.strip_prefix("error").unwrap_or(error)) {
            let Some((_, says)) = error.lines().next().and_then(|line| line.split_once(": ")) else { continue };
            let kind = kind(says);
            if !begins.iter().any(|begin| says.starts_with(begin)) || seen.contains(&kind) {
                continue;
            }
            // rustc's own notes are of lints.
            let notes = error.lines().filter_map(|line| line.split_once("= note: "));
            let note = notes.map(|(_, note)| note).find(|note| !note.starts_with("`#["));
            let (says, instead) = says.split_once("; ").unwrap_or((says, note.unwrap_or_default()));
            found.insert(says.to_owned(), instead.to_owned());
            seen.push(kind);
        }
    }
    ensure!(!found.is_empty(), "no test in {REFUSED} shows a refusal that begins with `{}`", begins.join("`, `"));
    Ok(found)
}

/// A text without the names in it: refusals of one kind that name different things are one entry, the first.
fn kind(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// A text that begins a sentence.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// A text in a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTS: &str = "reasons! {\n    Heap NeedsNoHeap: \"kernels cannot call this method of `{Self}`\",\n        \"use `[0.0; 16]`, `printf!(\\\"{{}}\\\\n\\\")`\";\n    \
         Other X: \"a\", \"b\";\n}\n\n/// Methods of slices.\n///\n/// Nothing.\npub trait HostSlice<T> {\n    cuda_jit_macros::host_methods! {\n        \
         Heap: to_vec 0 sort_by (_: impl FnMut(&T, &T) -> Ordering)\n            unzip [A, B] join 1;\n        Missing: split 1;\n    }\n}\n";

    const STDERR: &str = "error: kernels have no raw pointers; index the slice, `x[i]`\n --> a.rs:1:1\n\nerror[E0277]: kernels have no conversion of `A` to `B`\n  \
         |\n  = note: write `From`\n\nerror[E0277]: kernels have no conversion of `C` to `D`\n\nerror: a kernel has at most 32 parameters\n\nerror: cannot find `x`\n";

    fn files(page: &str) -> Vec<(String, String)> {
        let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let refused = file("cuda-jit/tests/refused/a.stderr", STDERR);
        vec![file(PAGE, page), file("cuda-jit/lang/src/typeinfo/any.rs", &format!("\n{HOSTS}")), refused]
    }

    #[test]
    fn the_page_is_what_is_refused() {
        let page = written(&format!("# By hand\n\n{MARK}old"), &files("")).unwrap();
        assert!(page.starts_with(&format!("# By hand\n\n{MARK}\n## Methods of Rust's types")), "{page}");
        let reason = "Kernels cannot call this method of `T`. Use `[0.0; 16]`, `printf!(\"{}\\n\")`.\n\n| of | methods |\n|---|---|\n| slices | `to_vec` `sort_by` `unzip` `join` |\n";
        assert!(page.contains(reason), "{page}");
        assert!(page.contains("| kernels have no raw pointers | index the slice, `x[i]` |\n"), "{page}");
        assert!(
            page.contains("| kernels have no conversion of `A` to `B` | write `From` |\n") && !page.contains("`C`"),
            "{page}"
        );
        assert!(page.ends_with("| a kernel has at most 32 parameters |  |\n"), "{page}");
        assert_eq!(faults(&files(&page)), [""; 0]);
    }

    #[test]
    fn a_page_that_is_stale_or_has_no_mark_is_a_fault() {
        let stale = faults(&files(&format!("# By hand\n{MARK}")));
        assert_eq!(stale, [format!("{PAGE}: the refusals have changed; `cargo xtask book` writes the page")]);
        assert!(faults(&files("# By hand\n"))[0].contains("is not there"));
    }

    #[test]
    fn without_refusals_there_is_an_error() {
        let none = written(MARK, &[]).unwrap_err().to_string();
        assert_eq!(none, "cuda-jit/lang/src/ has no `reasons!` or no `host_methods!`");
        assert!(refusals(&[], LIMITS, &[]).is_err());
    }

    #[test]
    fn methods_of_something_without_a_name_are_an_error() {
        let text = format!("\n{}", HOSTS.replace("/// Methods of slices.", "/// Those of slices."));
        let files = [("cuda-jit/lang/src/typeinfo/any.rs".to_owned(), text)];
        let error = written(MARK, &files).unwrap_err().to_string();
        assert!(
            error.starts_with("the `host_methods!` with `to_vec`, `sort_by`, `unzip`, `join` is in no trait"),
            "{error}"
        );
    }
}
