//! A rule of `tidy`: a test contains each error text, in the crates that are listed here.
//!
//! A text is a literal of several words outside of tests. Its fixed parts must occur in a test, in an example that is run, or in
//! a file that a test compares with. So every new error has a test that fails if its text changes.

use crate::examples;
use crate::tidy::code;

/// The folders in which every text must occur in a test.
const CHECKED: &[&str] = &["cuda-sys/src/", "cuda-driver/src/", "cuda-prelude/src/"];

/// The beginnings of literals that are not errors: lints, documentation, logs, and panics that cannot happen.
const EXEMPT: &[&str] = &["reason = ", "must_use = ", "doc = ", "expect(", "_table! ", "tracing::"];

/// The lowest number of spaces in a text of several words.
const MIN_SPACES: usize = 3;

/// The positions of the texts that no test contains, in files that are given with their names.
pub(crate) fn untested(files: &[(String, String)]) -> Vec<String> {
    let tests: Vec<String> = files.iter().flat_map(|(name, text)| test_code(name, text)).collect();
    let is_shown = |part: &str| tests.iter().any(|test| test.contains(part));
    let crates = files.iter().filter(|(name, _)| CHECKED.iter().any(|folder| name.starts_with(folder)));
    let mut faults = Vec::new();
    // Loom models are tests.
    let aside = ["/generated/", "/loom_models.rs"];
    for (name, text) in crates.filter(|(name, _)| !aside.iter().any(|part| name.contains(part))) {
        for (place, literal) in literals(split_tests(text).0) {
            let is_text =
                literal.matches(' ').count() >= MIN_SPACES && !EXEMPT.iter().any(|aside| place.contains(aside));
            if is_text && !fixed_parts(&literal).all(|part| is_shown(&part)) {
                faults.push(format!("{name}: no test contains this text: {literal}"));
            }
        }
    }
    faults
}

/// The parts of a file that are tests or examples, with continued literals joined.
fn test_code(name: &str, text: &str) -> Vec<String> {
    let code = match (name.contains("/tests/") || name.starts_with("tests/"), name.ends_with(".rs")) {
        (true, _) => vec![text.to_owned()],
        (false, true) => vec![examples::run(text), split_tests(text).1.to_owned()],
        (false, false) => Vec::new(),
    };
    code.iter().map(|code| normalized(code)).collect()
}

/// Splits a file into its code and its tests.
pub(crate) fn split_tests(text: &str) -> (&str, &str) {
    let is_tests = |at: &usize| text[*at..].lines().nth(1).is_some_and(|line| line.starts_with("mod "));
    let tests = text.match_indices("#[cfg(").map(|(at, _)| at).find(|at| {
        let condition = text[*at..].lines().next().unwrap_or_default();
        condition.contains("test") && is_tests(at)
    });
    text.split_at(tests.unwrap_or(text.len()))
}

/// The string literals of a text, each with the part of its line before it.
fn literals(text: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = code(text).map(|(_, line)| line).collect();
    let (code, mut from, mut found) = (normalized(&lines.join("\n")), 0, Vec::new());
    while let Some(begin) = code[from..].find('"').map(|at| from + at) {
        let end = code[begin + 1..].find('"').map_or(code.len(), |at| begin + 1 + at);
        let line = code[..begin].rfind('\n').map_or(0, |at| at + 1);
        found.push((code[line..begin].to_owned(), code[begin + 1..end].to_owned()));
        from = (end + 1).min(code.len());
    }
    found
}

/// The code with each literal on one line and without escaped quotation marks.
fn normalized(code: &str) -> String {
    let mut pieces = code.split("\\\n");
    let first = pieces.next().unwrap_or_default().to_owned();
    let joined = pieces.fold(first, |text, piece| text + piece.trim_start_matches(' '));
    joined.replace("'\"'", "' '").replace("\\\"", "''").replace("\\n", "\n")
}

/// The parts of a format string outside of its placeholders, without short ones.
fn fixed_parts(literal: &str) -> impl Iterator<Item = String> {
    let marked = literal.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let outside = marked.split('{').enumerate().map(|(at, piece)| match at {
        0 => piece.to_owned(),
        _ => piece.split_once('}').map_or(String::new(), |(_, rest)| rest.to_owned()),
    });
    let parts = outside.map(|part| part.replace('\u{1}', "{").replace('\u{2}', "}").trim().to_owned());
    parts.filter(|part| part.len() > 5).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn untested_in(source: &str, test: &str) -> Vec<String> {
        let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        untested(&[file("cuda-sys/src/a.rs", source), file("cuda-sys/tests/b.rs", test)])
    }

    #[test]
    fn a_text_that_no_test_contains_is_reported() {
        let source = "fn f() -> String {\n    format!(\n        \"{x} is no {{device}} \\\n         of this \\\"machine\\\"\"\n    )\n}\n";
        let faults = untested_in(source, "");
        assert_eq!(faults, ["cuda-sys/src/a.rs: no test contains this text: {x} is no {{device}} of this ''machine''"]);
        assert_eq!(untested_in(source, "\"7 is no {device} of this \\\n        \\\"machine\\\"\""), [""; 0]);
        assert_eq!(untested_in(source, "\"7 is no {device} of this\"").len(), 1);
    }

    #[test]
    fn examples_and_unit_tests_count() {
        let text = "const A: &str = \"one two three four\";\n";
        assert_eq!(untested_in(text, "").len(), 1);
        let example = format!("/// ```\n/// assert_eq!(a(), \"one two three four\");\n/// ```\n{text}");
        assert_eq!(untested_in(&example, ""), [""; 0]);
        assert_eq!(untested_in(&format!("/// one two three four\n{text}"), "").len(), 1);
        let unit = format!("{text}#[cfg(all(test, loom))]\nmod tests {{\n    // \"one two three four\"\n}}\n");
        assert_eq!(untested_in(&unit, ""), [""; 0]);
    }

    #[test]
    fn literals_that_are_not_errors_are_exempt() {
        let aside =
            "#[expect(x, reason = \"one two three four\")]\nfn f() {\n    a.expect(\"one two three four\");\n}\n";
        assert_eq!(untested_in(aside, ""), [""; 0]);
        assert_eq!(untested_in("// \"one two three four\"\nconst A: &str = \"one two three\";\n", ""), [""; 0]);
    }
}
