//! Functions that are written in one place, whose names have one meaning for each spelling.
//!
//! A group of tokens is in one place if it reads as the text of the source that its span covers. Tokens of `macro_rules!`
//! have the place at which they are written, in the macro or in its input. A group that is written in a macro holds what the macro inserts as `$name`,
//! in the text and not in the tokens, closing delimiters included; one that is input is inserted as a whole. So all of its
//! tokens come from one expansion. A procedural macro that changes a group changes its tokens too, or else gives new ones the very
//! places and spelling of the old.
//!
//! Signature and body are two groups, and a macro may insert the second alone (`$body:block`). They are written together if
//! all tokens from `fn` on follow each other on a line with at most one character between: between what a macro writes and its
//! input there is at least the end of the macro.

use proc_macro2::{Group, LineColumn, TokenStream, TokenTree};

/// Returns true if no macro can have put a function, or the functions of an `impl` or trait, together.
pub(crate) fn is_in_one_place(item: &TokenStream) -> bool {
    let is_function = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "fn");
    if item.clone().into_iter().any(|token| is_function(&token)) {
        return is_run(item.clone().into_iter().skip_while(|token| !is_function(token)));
    }
    matches!(item.clone().into_iter().last(), Some(TokenTree::Group(group)) if is_as_written(&group))
}

/// Returns true if tokens follow each other on a line and their groups are as written.
pub(crate) fn is_run(tokens: impl IntoIterator<Item = TokenTree>) -> bool {
    let mut before: Option<(LineColumn, String)> = None;
    tokens.into_iter().all(|token| {
        let (first, last) = match &token {
            TokenTree::Group(group) if !is_as_written(group) => return false,
            TokenTree::Group(group) => (group.span_open(), group.span_close()),
            token => (token.span(), token.span()),
        };
        let (start, file) = (first.start(), first.file());
        let follows = before.as_ref().is_none_or(|(end, before)| {
            *before == file && end.line == start.line && (end.column..=end.column + 1).contains(&start.column)
        });
        before = Some((last.end(), file));
        follows
    })
}

/// Returns true if a group's tokens are those of the source text that its span covers.
fn is_as_written(group: &Group) -> bool {
    let text = group.span().source_text();
    let lexed = text.and_then(|text| text.parse::<TokenStream>().ok()).and_then(|lexed| lexed.into_iter().next());
    match lexed {
        Some(TokenTree::Group(lexed)) => {
            lexed.delimiter() == group.delimiter() && lexed.stream().to_string() == group.stream().to_string()
        }
        _ => false,
    }
}
