//! Rewrites structures for bindgen to the form in which older headers declared them.
//!
//! `CUmemLocation` was a kind and an `id`. From CUDA 13.2 on the `id` is the first member of an anonymous union. C code reads
//! it by the same name, but in Rust the field would move below another field, and every structure that holds a location
//! would lose `Debug` and `Eq`. The other members are two bytes of the same four, so `id` holds them too. The same applies to
//! the runtime's `cudaMemLocation`. The C compiler confirms that size and offset are those of the real headers.

use anyhow::{Context as _, Result};

/// Structures that hold such a union, by their tags.
const TAGS: [&str; 2] = ["struct CUmemLocation_st", "struct __device_builtin__ cudaMemLocation"];

/// Replaces the union in each location by its first member; `None` if the text has no such union.
pub(crate) fn locations(text: &str) -> Result<Option<String>> {
    let mut changed = None;
    for tag in TAGS {
        let text = changed.as_deref().unwrap_or(text);
        if let Some(flat) = location(text, tag)? {
            changed = Some(flat);
        }
    }
    Ok(changed)
}

fn location(text: &str, tag: &str) -> Result<Option<String>> {
    let Some(start) = declared(text, tag) else { return Ok(None) };
    let body = block(&text[start..]).with_context(|| format!("`{tag}` does not end"))?;
    let Some(union) = body.find("union") else { return Ok(None) };
    let members = block(&body[union..]).with_context(|| format!("the union in `{tag}` does not end"))?;
    let first = members.split_inclusive(';').next().with_context(|| format!("the union in `{tag}` is empty"))?;
    let first = first.trim_start_matches(['{', ' ', '\n']);
    let from = start + text[start..].find('{').unwrap_or(0) + union;
    let to = from + text[from..].find('{').unwrap_or(0) + members.len();
    // The first member ends with its own semicolon: the union's is dropped, since C has no empty members.
    let to = to + text[to..].find(';').map_or(0, |at| at + 1);
    Ok(Some([&text[..from], first, &text[to..]].concat()))
}

/// The position of the first `tag` that is followed by a body.
fn declared(text: &str, tag: &str) -> Option<usize> {
    text.match_indices(tag).map(|(at, _)| at).find(|at| text[at + tag.len()..].trim_start().starts_with('{'))
}

/// The first `{ .. }` of a text.
fn block(text: &str) -> Option<&str> {
    let start = text.find('{')?;
    let mut depth = 0;
    for (at, letter) in text[start..].char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[start..start + at + 1]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "typedef struct CUmemLocation_st {\n    int type;\n    union {\n        int id;\n        struct { char a; \
                       char b; } localized;\n    };\n} CUmemLocation_v1;\nint after;\n";

    #[test]
    fn a_locations_union_becomes_its_first_member() {
        let flat = locations(NEW).unwrap().unwrap();
        let words: Vec<_> = flat.split_whitespace().collect();
        assert_eq!(
            words.join(" "),
            "typedef struct CUmemLocation_st { int type; int id; } CUmemLocation_v1; int after;"
        );
    }

    #[test]
    fn a_location_without_a_union_and_a_text_without_a_location_stay() {
        let old = "typedef struct CUmemLocation_st { int type; int id; } CUmemLocation_v1; union u { int a; };";
        assert_eq!(locations(old).unwrap(), None);
        assert_eq!(locations("union u { int a; }; struct CUmemLocation_st;").unwrap(), None);
    }

    #[test]
    fn a_body_that_does_not_end_is_an_error() {
        assert!(locations("struct CUmemLocation_st { union { int id;").is_err());
    }
}
