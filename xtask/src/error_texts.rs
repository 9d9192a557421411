//! Texts of errors and quotations of them. A rule of `tidy`: a test contains each error text, in the crates that are listed here. A rule of
//! `book`: the tests or the code contain each text that the book quotes.
//!
//! A text is a literal of several words outside of tests. Its fixed parts must occur in a test, in an example that is run, or in
//! a file that a test compares with. So every new error has a test that fails if its text changes. A quotation of the book is a
//! line in a block that is marked as `text`.

use crate::examples;
use crate::tidy::code;

/// The folders in which every text must occur in a test.
const CHECKED: &[&str] = &["cuda-sys/src/", "cuda-driver/src/", "cuda-prelude/src/"];

/// The beginnings of literals that are not errors: lints, documentation, logs, and panics that cannot happen.
const EXEMPT: &[&str] = &["reason = ", "must_use = ", "doc = ", "expect(", "_table! ", "tracing::"];

/// The lowest number of spaces in a text of several words.
const MIN_SPACES: usize = 3;

/// The length up to which a fixed part of a quotation is not looked for.
const SHORT: usize = 5;

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

/// The places of all texts that the book quotes and that neither a test nor the code has, in files that are given with their names.
pub(crate) fn quoted(files: &[(String, String)]) -> Vec<String> {
    let mut texts: Vec<String> = files.iter().flat_map(|(name, text)| test_code(name, text)).collect();
    // The book's own programs are run.
    texts.extend(files.iter().filter(|(name, _)| name.ends_with(".md")).map(|(_, text)| blocks(text, "rust").1));
    let sources = files
        .iter()
        .filter(|(name, _)| name.starts_with("cuda-") && name.ends_with(".rs") && !name.contains("/generated/"));
    texts.extend(sources.map(|(_, text)| normalized(&code(text).map(|(_, line)| line).collect::<Vec<_>>().join("\n"))));
    let is_there = |part: &str| texts.iter().any(|text| text.contains(part));
    let mut faults = Vec::new();
    for (name, text) in files.iter().filter(|(name, _)| name.starts_with("docs/book/src/") && name.ends_with(".md")) {
        for (at, line) in blocks(text, "text").0 {
            let missing = fragments(line).into_iter().find(|part| part.len() > SHORT && !is_there(part));
            faults
                .extend(missing.map(|part| format!("{name}:{at}: neither a test nor the code has this text: {part}")));
        }
    }
    faults
}

/// The lines of the blocks of a kind, with their numbers, and all of them together.
fn blocks<'a>(text: &'a str, kind: &str) -> (Vec<(usize, &'a str)>, String) {
    let (mut open, mut lines) = (None, Vec::new());
    for (at, line) in text.lines().enumerate() {
        open = match (open, line.strip_prefix("```")) {
            (None, Some(of)) => Some(of.split(',').next() == Some(kind)),
            (Some(_), Some(_)) => None,
            (Some(true), None) => {
                lines.push((at + 1, line));
                open
            }
            _ => open,
        };
    }
    let joined = lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
    (lines, normalized(&joined))
}

/// The parts of a line that are the same in every run: what stands between punctuation, without names in backticks, paths, numbers and marks
/// below a line. Lines of another program's output, `readelf`'s, have none.
fn fragments(line: &str) -> Vec<String> {
    if line.trim_start().starts_with('<') || line.contains("DW_AT_") {
        return Vec::new();
    }
    let is_hole = |word: &str| {
        let word = word.trim_start_matches(['(', '\'', '"']);
        ["/", "cu", "^"].iter().any(|begin| word.starts_with(begin))
            || [".rs:", "::", "CUDA_"].iter().any(|part| word.contains(part))
            || word.contains(|c: char| c.is_ascii_digit())
    };
    let mut fragments = Vec::new();
    for part in line.split('`').step_by(2).flat_map(|part| part.split_inclusive(['(', ')', ';', ':', ',', '\'', '|'])) {
        fragments.push(String::new());
        for word in part.split_inclusive(' ') {
            match fragments.last_mut() {
                Some(last) if !is_hole(word) => last.push_str(word),
                _ => fragments.push(String::new()),
            }
        }
    }
    let trimmed = |part: String| part.trim_matches([' ', '(', ')', ';', ':', ',', '\'', '|', '.']).to_owned();
    fragments.into_iter().map(trimmed).collect()
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
    parts.filter(|part| part.len() > SHORT).collect::<Vec<_>>().into_iter()
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
    fn the_book_quotes_what_tests_name() {
        let page = "```text\nkernel `k` panicked at src/main.rs:8:18: no such index (block 1, 0)\n```\n```rust\n// a run text\n```\n";
        let quoted_beside = |test: &str| {
            let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
            quoted(&[file("docs/book/src/a.md", page), file("cuda-sim/tests/b.rs", test)])
        };
        assert_eq!(quoted_beside("\"kernel {} panicked at x: no such index\""), [""; 0]);
        let missing = "docs/book/src/a.md:2: neither a test nor the code has this text: no such index";
        assert_eq!(quoted_beside("\"kernel {} panicked at x\""), [missing]);
        assert_eq!(blocks(page, "rust").1, "// a run text");
    }

    #[test]
    fn literals_that_are_not_errors_are_exempt() {
        let aside =
            "#[expect(x, reason = \"one two three four\")]\nfn f() {\n    a.expect(\"one two three four\");\n}\n";
        assert_eq!(untested_in(aside, ""), [""; 0]);
        assert_eq!(untested_in("// \"one two three four\"\nconst A: &str = \"one two three\";\n", ""), [""; 0]);
    }
}
