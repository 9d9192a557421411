//! The stack of an expansion, and the limit on its nesting depth.
//!
//! syn's parser, its trees and the walks over them recurse as deeply as the user's code nests, and allocate stack as
//! needed. rustc's parser recurses over the expansion, and does not grow its stack for brackets, so that the expansion's
//! depth is limited.

use cuda_jit_syntax::{ensure_sufficient_stack, with_stack};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::quote;

/// The maximum number of stack bytes per level of nesting, also in builds without optimisation. Each level has at least one
/// token.
const PER_TOKEN: usize = 48 << 10;

/// The maximum stack size of an expansion.
const MOST: usize = 1 << 30;

/// The maximum bracket depth of an expansion. rustc's stack of 8 MiB overflows at about 650 levels if they are blocks and
/// bodies of closures, the most expensive of them.
const DEEPEST: usize = 500;

/// The bracket depth of the user's code below which the expansion's depth is not measured: one level becomes fewer than
/// ten.
const SHALLOW: usize = DEEPEST / 10;

/// Expands tokens on a stack that is large enough for their nesting.
pub(crate) fn expand(
    tokens: proc_macro::TokenStream,
    expand: impl Fn(TokenStream) -> TokenStream,
) -> proc_macro::TokenStream {
    let tokens = without_groups(tokens.into());
    let written = Nesting::of(tokens.clone());
    let bytes = written.tokens.saturating_mul(PER_TOKEN).min(MOST);
    with_stack(bytes, || {
        let expanded = expand(tokens.clone());
        match written.depth > SHALLOW && Nesting::of(expanded.clone()).depth > DEEPEST {
            true => refused(tokens, &written, expand),
            false => expanded,
        }
    })
    .into()
}

/// Flattens the groups without delimiters in which rustc passes lifetimes, statements and items that a macro was given: syn
/// parses such a group as an expression.
fn without_groups(tokens: TokenStream) -> TokenStream {
    if !has_group(&tokens) {
        return tokens;
    }
    let bare = |token| {
        let TokenTree::Group(group) = token else { return TokenStream::from(token) };
        let content = without_groups(group.stream());
        if is_no_expression(&group) {
            return content;
        }
        let mut bare = Group::new(group.delimiter(), content);
        bare.set_span(group.span());
        TokenTree::from(bare).into()
    };
    tokens.into_iter().map(bare).collect()
}

/// Returns true if there is such a group.
fn has_group(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => is_no_expression(&group) || has_group(&group.stream()),
        _ => false,
    })
}

/// Returns true for a group without delimiters that begins as no expression does.
fn is_no_expression(group: &Group) -> bool {
    let mut tokens = group.stream().into_iter();
    let begins = match tokens.next() {
        Some(TokenTree::Punct(punct)) => punct.as_char() == '\'',
        Some(TokenTree::Ident(first)) => match first.to_string().as_str() {
            "let" | "use" | "type" | "static" | "struct" | "enum" | "fn" | "impl" | "trait" => true,
            "const" => matches!(tokens.next(), Some(TokenTree::Ident(name)) if name != "move"),
            _ => false,
        },
        _ => false,
    };
    begins && group.delimiter() == Delimiter::None
}

/// An expansion without the function's body, so that nothing but the refusal is reported.
fn refused(tokens: TokenStream, written: &Nesting, expand: impl Fn(TokenStream) -> TokenStream) -> TokenStream {
    let text = format!(
        "brackets nest {} deep here: rustc's parser overflows its stack where more than {DEEPEST} nest in what the macro \
         makes of them; name an inner part with `let`, or move it into a function of its own",
        written.depth
    );
    let error = syn::Error::new(written.deepest, text).to_compile_error();
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    match tokens.last_mut() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => {
            *body = Group::new(Delimiter::Brace, quote!(loop {}));
            let rest = expand(tokens.into_iter().collect());
            quote!(#rest #error)
        }
        _ => error,
    }
}

/// The number of tokens and their nesting depth.
struct Nesting {
    /// The tokens, including those in groups.
    tokens: usize,
    /// The bracket depth.
    depth: usize,
    /// The source location of the deepest level.
    deepest: Span,
}

impl Nesting {
    fn of(tokens: TokenStream) -> Self {
        let mut all = Nesting { tokens: 0, depth: 0, deepest: Span::call_site() };
        for token in tokens {
            all.tokens += 1;
            let TokenTree::Group(group) = token else { continue };
            let inside = ensure_sufficient_stack(|| Nesting::of(group.stream()));
            all.tokens += inside.tokens;
            if inside.depth >= all.depth {
                all.deepest = if inside.depth == 0 { group.span_open() } else { inside.deepest };
                all.depth = inside.depth + 1;
            }
        }
        all
    }
}
