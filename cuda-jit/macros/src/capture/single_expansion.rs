//! Detects functions whose tokens all come from one macro expansion, so that each spelling has one meaning.
//!
//! The tokens of a group have one origin if they read as the source text that the group's span covers. Tokens of
//! `macro_rules!` have the location at which they are written, in the macro or in its input. In a group that is written in
//! a macro, a substituted `$name` appears in the source text but not in the tokens, closing delimiters included; a group of
//! the input is substituted as a whole. So all tokens of a matching group come from one expansion. A procedural macro that
//! changes a group also changes its tokens, unless it gives new tokens exactly the locations and spelling of the old.
//!
//! Signature and body are two groups, and a macro may substitute the body alone (`$body:block`). They have one origin if
//! all tokens from `fn` on follow each other on a line with at most one character between two of them: the end of the macro
//! lies between its own tokens and its input.

use proc_macro2::{Group, LineColumn, TokenStream, TokenTree};

/// Returns true if no macro can have assembled a function, or the functions of an `impl` or trait, from several sources.
pub(crate) fn is_single_expansion(item: &TokenStream) -> bool {
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
