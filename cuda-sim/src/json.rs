//! Text in JSON: the timeline (`driver/trace.rs`) and the checkers' reports (`check/report.rs`) are written by hand.

/// Escapes text for a JSON string.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

#[cfg(all(test, not(loom)))]
mod tests {
    #[test]
    fn any_text_is_a_json_string() {
        for text in ["plain", "a\"b\\c", "line\nfeed\ttab\u{1}", "$_Z3fooILi3EEvPf", "ünïcode \u{7f}"] {
            let json = format!("\"{}\"", super::escaped(text));
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
