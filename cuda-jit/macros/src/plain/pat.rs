//! Patterns: names, literals and tuples of such; syn reads the others.

use proc_macro2::{Delimiter, Ident, Punct};
use syn::buffer::Cursor;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{ExprLit, Lit, Pat, PatIdent, PatParen, PatTuple, PatWild, Result, Token, token};

use super::{character, is_captured, joined, take};

/// A pattern, which is syn's to read if it is not plain.
pub(super) fn pattern(input: ParseStream<'_>, by_syn: fn(ParseStream<'_>) -> Result<Pat>) -> Result<Pat> {
    match take(input, plain) {
        Some(pat) => Ok(pat),
        None => by_syn(input),
    }
}

fn plain(cursor: Cursor<'_>) -> Option<(Pat, Cursor<'_>)> {
    if is_captured(cursor) {
        return None;
    }
    let (pat, rest) = if let Some((ident, rest)) = cursor.ident() {
        name(ident, rest)?
    } else if let Some((literal, rest)) = cursor.literal() {
        (Pat::Lit(ExprLit { attrs: Vec::new(), lit: Lit::new(literal) }), rest)
    } else {
        let (inner, span, rest) = cursor.group(Delimiter::Parenthesis)?;
        (tuple(inner, token::Paren { span })?, rest)
    };
    // alternatives, ranges, paths, `name @ pattern` and what has fields
    let goes_on = matches!(character(rest), Some('|' | '.' | '@' | '!')) || is_path(rest) || is_group(rest);
    (!goes_on).then_some((pat, rest))
}

fn name(ident: Ident, rest: Cursor<'_>) -> Option<(Pat, Cursor<'_>)> {
    let attrs = Vec::new();
    let bind =
        |ident, mutability| Pat::Ident(PatIdent { attrs: Vec::new(), by_ref: None, mutability, ident, subpat: None });
    match ident.to_string().as_str() {
        "_" => Some((Pat::Wild(PatWild { attrs, underscore_token: Token![_](ident.span()) }), rest)),
        "mut" => rest.ident().map(|(named, rest)| (bind(named, Some(Token![mut](ident.span()))), rest)),
        "box" | "const" | "crate" | "false" | "ref" | "self" | "Self" | "super" | "true" => None,
        _ => Some((bind(ident, None), rest)),
    }
}

/// A tuple's elements, or a pattern in parentheses.
fn tuple(mut inner: Cursor<'_>, paren_token: token::Paren) -> Option<Pat> {
    let attrs = Vec::new();
    let mut elems = Punctuated::new();
    while !inner.eof() {
        let (element, rest) = plain(inner)?;
        elems.push_value(element);
        inner = rest;
        if let Some((punct, rest)) = inner.punct() {
            elems.push_punct(Token![,](punct.span()));
            inner = rest;
        }
    }
    if elems.len() == 1 && !elems.trailing_punct() {
        let pat = Box::new(elems.pop()?.into_value());
        return Some(Pat::Paren(PatParen { attrs, paren_token, pat }));
    }
    Some(Pat::Tuple(PatTuple { attrs, paren_token, elems }))
}

fn is_path(rest: Cursor<'_>) -> bool {
    let colons = |(punct, _): &(Punct, Cursor<'_>)| punct.as_char() == ':';
    let first = rest.punct().filter(colons);
    first.and_then(|(punct, rest)| joined(&punct, rest)).is_some_and(|next| colons(&next))
}

fn is_group(rest: Cursor<'_>) -> bool {
    rest.any_group().is_some_and(|(_, delimiter, _, _)| delimiter != Delimiter::Bracket)
}
