//! Suppressions: reports that are not wanted, by checker, kernel and place.
//!
//! A line of the file has the name of a checker or `*`, a pattern for the kernel's name, and if wanted a pattern for a
//! place: `file:line` as reports name it, or `PTX:line`. `*` in a pattern stands for any characters. A report of two
//! accesses matches if one of them does. A leak, which has no kernel, matches if the name of a function that called for the
//! memory does, as in LeakSanitizer. `#` begins a comment.

use super::report::Report;

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    check: String,
    kernel: String,
    place: Option<String>,
}

/// The rules of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Suppressions(Vec<Rule>);

impl Suppressions {
    /// Parses a file; a line that is no rule is an error, with its number.
    pub(super) fn parse(text: &str) -> Result<Suppressions, String> {
        let mut rules = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let mut words = line.split_whitespace().map(str::to_owned);
            let (check, kernel, place) = (words.next().unwrap_or_default(), words.next(), words.next());
            let known = check == "*" || super::NAMES.iter().any(|(name, _)| *name == check);
            match kernel.filter(|_| known && words.next().is_none()) {
                Some(kernel) => rules.push(Rule { check, kernel, place }),
                None => return Err(format!("line {}: `{line}` is not CHECKER KERNEL [PLACE]", number + 1)),
            }
        }
        Ok(Suppressions(rules))
    }

    /// Returns true if a rule matches the report.
    pub(super) fn cover(&self, report: &Report) -> bool {
        self.0.iter().any(|rule| {
            let of_check = rule.check == "*" || rule.check == report.check;
            let mut places = report.accesses.iter().flat_map(|access| access.places());
            let mut names = std::iter::once(&report.kernel).chain(&report.callers);
            of_check
                && names.any(|name| matches(&rule.kernel, name))
                && rule.place.as_ref().is_none_or(|pattern| places.any(|place| matches(pattern, &place)))
        })
    }
}

/// Returns true if a text matches a pattern in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == text };
    let Some(rest) = text.strip_prefix(before) else { return false };
    (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| matches(after, &rest[at..]))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("k*", "kernel", true),
            ("*nel", "kernel", true),
            ("k*n*l", "kernel", true),
            ("k", "kernel", false),
            ("*x*", "kernel", false),
            ("kernel", "kernel", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_line_that_is_no_rule_is_named() {
        assert_eq!(Suppressions::parse("# nothing\n\nrace k*  # a comment\n").map(|all| all.0.len()), Ok(1));
        for text in ["races *", "race", "race a b c"] {
            assert!(Suppressions::parse(text).is_err_and(|why| why.contains("line 1") && why.contains(text)));
        }
    }
}
