//! Reads a function as syn does, but its body in a fraction of the time.
//!
//! Macros run unoptimised, and syn asks at every place for each token that may stand there, one after the other: it alone
//! would take more than half of the time of an expansion. Here one look at a token tells what begins with it. The tree is
//! syn's own, and so is all that is not plain: types and paths of several parts, most patterns, closures and macros are read
//! by syn where they stand, what is unknown here together with its statement. Nothing is refused: where reading fails, syn
//! reads the whole function, and its error is the one that is reported.

mod block;
mod expr;
mod pat;

use proc_macro2::{Delimiter, Ident, Punct, Spacing, Span, TokenStream};
use syn::buffer::Cursor;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Attribute, ItemFn, Result, Token, Type, TypePath};

/// Reads a function.
pub(crate) fn function(item: TokenStream) -> Result<ItemFn> {
    let plain = |input: ParseStream<'_>| {
        let (attrs, vis, sig) = (input.call(Attribute::parse_outer)?, input.parse()?, input.parse()?);
        Ok(ItemFn { attrs, vis, sig, block: Box::new(block::block(input)?) })
    };
    plain.parse2(item.clone()).or_else(|_| syn::parse2(item))
}

/// What stands for whatever is not plain; nobody reads it.
fn beyond(input: ParseStream<'_>) -> syn::Error {
    input.error("beyond")
}

/// Takes what `read` finds at the front, if anything.
fn take<T>(input: ParseStream<'_>, read: impl for<'a> FnOnce(Cursor<'a>) -> Option<(T, Cursor<'a>)>) -> Option<T> {
    let found = input.step(|cursor| {
        Ok(match read(*cursor) {
            Some((found, rest)) => (Some(found), rest),
            None => (None, *cursor),
        })
    });
    found.ok().flatten()
}

/// Takes a character of punctuation.
fn punct(input: ParseStream<'_>, character: char) -> Option<Span> {
    take(input, |cursor| {
        let (punct, rest) = cursor.punct()?;
        (punct.as_char() == character).then(|| (punct.span(), rest))
    })
}

/// Takes a keyword.
fn keyword(input: ParseStream<'_>, text: &str) -> Option<Span> {
    take(input, |cursor| {
        let (ident, rest) = cursor.ident()?;
        (ident == text).then(|| (ident.span(), rest))
    })
}

/// Takes a name.
fn name(input: ParseStream<'_>) -> Result<Ident> {
    take(input, |cursor| cursor.ident()).ok_or_else(|| beyond(input))
}

/// The word that stands here, or none.
fn word(input: ParseStream<'_>) -> String {
    input.cursor().ident().map(|(ident, _)| ident.to_string()).unwrap_or_default()
}

/// The character of punctuation that stands directly behind another.
fn joined<'a>(punct: &Punct, rest: Cursor<'a>) -> Option<(Punct, Cursor<'a>)> {
    rest.punct().filter(|_| punct.spacing() == Spacing::Joint)
}

/// The character of punctuation at a place.
fn character(cursor: Cursor<'_>) -> Option<char> {
    cursor.punct().map(|(punct, _)| punct.as_char())
}

/// Whether what a `macro_rules!` captured stands here, which is a whole whatever stands beside it.
fn is_captured(cursor: Cursor<'_>) -> bool {
    cursor.group(Delimiter::None).is_some()
}

/// What stands between commas, up to the end.
fn commas<T>(input: ParseStream<'_>, read: fn(ParseStream<'_>) -> Result<T>) -> Result<Punctuated<T, Token![,]>> {
    let mut list = Punctuated::new();
    while !input.is_empty() {
        list.push_value(read(input)?);
        match punct(input, ',') {
            Some(span) => list.push_punct(Token![,](span)),
            None if input.is_empty() => {}
            None => return Err(beyond(input)),
        }
    }
    Ok(list)
}

/// A type, in a cast or behind a colon.
fn ty(input: ParseStream<'_>) -> Result<Type> {
    let single = |cursor: Cursor<'_>| {
        let (ident, rest) = cursor.ident()?;
        let more = matches!(character(rest), Some(':' | '<' | '!')) || rest.group(Delimiter::Parenthesis).is_some();
        let keyword = ["_", "dyn", "extern", "fn", "for", "impl", "unsafe"].iter().any(|keyword| ident == keyword);
        (!more && !keyword).then_some(ident)
    };
    if is_captured(input.cursor()) || single(input.cursor()).is_none() {
        return input.call(Type::without_plus);
    }
    Ok(Type::Path(TypePath { qself: None, path: name(input)?.into() }))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use quote::ToTokens as _;
    use syn::visit::Visit;

    use super::*;

    /// The functions in all Rust files of a folder, bodies and all.
    struct Functions(Vec<TokenStream>);

    impl<'a> Visit<'a> for Functions {
        fn visit_item_fn(&mut self, function: &'a ItemFn) {
            self.0.push(function.to_token_stream());
            syn::visit::visit_item_fn(self, function);
        }
    }

    fn functions(folder: &Path, found: &mut Functions) {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                functions(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.visit_file(&syn::parse_file(&text).unwrap());
            }
        }
    }

    /// Tree, tokens and places are the same, of all the kernels and all else in these packages.
    #[test]
    fn reads_what_syn_reads() {
        let mut found = Functions(Vec::new());
        for folder in ["../tests", "../src", "src", "../../examples"] {
            functions(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
        }
        assert!(found.0.len() > 1000, "{} functions", found.0.len());
        for tokens in found.0 {
            let (read, expected) = (function(tokens.clone()).unwrap(), syn::parse2::<ItemFn>(tokens).unwrap());
            assert_eq!(read, expected, "{}", expected.to_token_stream());
            let [read, expected] = [read, expected].map(|function| format!("{:?}", function.into_token_stream()));
            assert_eq!(read, expected);
        }
    }

    /// What only braces, brackets, precedence or a keyword tell apart.
    #[test]
    fn reads_every_kind_of_expression() {
        let bodies = [
            "a = b += c | d ^ e & f == g << h + i * j as u32; -a.b(c)[d] as u8 as u16 > e && !f || g >= *h;",
            "for i in 0.. { break; } for i in a..=b { continue 'x } while let Some(x) = a && b {} if a {} else if b {} else {}",
            "let x = if a == (S { b: 1 }) { c } else { d }; match a { 0 | 1 => b, x if x > 1 => { c } _ => return }",
            "'a: loop { break 'a 1 + 2; } 'b: { break 'b } unsafe { *a.b(1) } - 1; { a }.b(); if a { b } else { c } * d",
            "let (mut a, (_, b), 1): (u32, _, f32) = (c, d.0.1, [0; 4], [e, f], (), (g,)); let Some(a) = b else { return };",
            "a::<1>(); a.b::<T>(); <T as U>::f(|x| x + 1, move |&(y, _)| y); s!([f32; 4]); printf!(\"\"); f(&mut a, &&b, &raw const c)",
            "const N: u32 = 1; #[a] let x = 1u8; let y = x?.z; let z = S { a, ..b }; ; a..b; ..; &x[..n]; &x[1..]; async { a }.await",
            "let c: [f32; 4] = true as _; a -= -1; a <<= 1; a = b..=c; f(..); return a + b; x != y; !m!(a) && m! {} + 1",
        ];
        for body in bodies {
            let text = format!("#[a] pub fn f<T>(x: &[T]) -> u32 {{ #![b] {body} }}");
            let tokens: TokenStream = text.parse().unwrap();
            match syn::parse2::<ItemFn>(tokens.clone()) {
                Ok(expected) => assert_eq!(function(tokens).unwrap(), expected, "{text}"),
                Err(error) => panic!("{text}: {error}"),
            }
        }
    }

    #[test]
    fn an_error_is_syns() {
        for body in ["let x = ;", "a b", "if { a }", "f(a b)", "x[a; b]", "match a { b c }"] {
            let tokens: TokenStream = format!("fn f() {{ let y = 1; {body} }}").parse().unwrap();
            let [read, expected] =
                [function(tokens.clone()), syn::parse2(tokens)].map(|read| read.unwrap_err().to_string());
            assert_eq!(read, expected);
        }
    }
}
