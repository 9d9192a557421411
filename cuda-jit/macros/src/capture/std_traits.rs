//! Functions of the standard library's traits by the trait's path: `Ord::max(a, b)`, `<T as Default>::default()`.
//!
//! Such a path names the standard library's trait, which has no hidden functions. The typing probe names the trait of the
//! device library that has them instead, and makes rustc check that the path means the standard library's trait.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::{Expr, ExprPath, Ident, Path, PathArguments, PathSegment};

/// A trait of the standard library.
struct StdTrait {
    name: &'static str,
    module: &'static str,
    /// True if its generic argument has no default.
    takes_type: bool,
    functions: &'static [&'static str],
    /// The number of generic arguments that the hidden trait has beyond its own: 0 or 1.
    inferred: usize,
}

const fn of(module: &'static str, name: &'static str, functions: &'static [&'static str]) -> StdTrait {
    StdTrait { name, module, takes_type: false, functions, inferred: 0 }
}

const TRAITS: &[StdTrait] = &[
    of("default", "Default", &["default"]),
    StdTrait { takes_type: true, ..of("convert", "From", &["from"]) },
    StdTrait { takes_type: true, ..of("convert", "Into", &["into"]) },
    StdTrait { takes_type: true, inferred: 1, ..of("convert", "TryFrom", &["try_from"]) },
    StdTrait { takes_type: true, inferred: 1, ..of("convert", "TryInto", &["try_into"]) },
    of("cmp", "PartialEq", &["eq", "ne"]),
    of("cmp", "PartialOrd", &["partial_cmp", "lt", "le", "gt", "ge"]),
    of("cmp", "Ord", &["cmp", "max", "min", "clamp"]),
    StdTrait { inferred: 1, ..of("clone", "Clone", &["clone"]) },
];

/// The traits of operators, with the function and the operator of each.
const OPERATORS: &[(&str, &str, &str)] = &[
    ("Add", "add", "+"),
    ("Sub", "sub", "-"),
    ("Mul", "mul", "*"),
    ("Div", "div", "/"),
    ("Rem", "rem", "%"),
    ("BitAnd", "bitand", "&"),
    ("BitOr", "bitor", "|"),
    ("BitXor", "bitxor", "^"),
    ("Shl", "shl", "<<"),
    ("Shr", "shr", ">>"),
    ("Neg", "neg", "-"),
    ("Not", "not", "!"),
];

/// The call of an operator's function by its trait, `Add::add(a, b)`, as the operator's expression, and a statement that
/// compiles if the trait is the standard library's.
pub(super) fn operation(path: &ExprPath, args: &[&Expr]) -> Option<(Expr, TokenStream)> {
    let (name, op, of, function) = operator(path)?;
    let is_bare = path.qself.is_none() && of.arguments.is_none() && function.arguments.is_none();
    let (is_unary, span) = (matches!(name, "Neg" | "Not"), of.ident.span());
    let op: TokenStream = op.parse::<TokenStream>().ok()?.into_iter().map(|token| spanned(token, span)).collect();
    let expr = match args {
        [operand] if is_bare && is_unary => quote_spanned!(span => (#op (#operand))),
        [left, right] if is_bare && !is_unary => quote_spanned!(span => ((#left) #op (#right))),
        _ => return None,
    };
    Some((syn::parse2(expr).ok()?, check(&own_trait(path), name, "ops", &function.ident, false)))
}

/// The hint for an operator's function by a path like `<f32 as Add>::add`.
pub(super) fn refused_operation(path: &ExprPath) -> Option<String> {
    let (name, op, _, function) = operator(path).filter(|_| path.qself.is_some())?;
    let function = &function.ident;
    let written = if matches!(name, "Neg" | "Not") { format!("{op}a") } else { format!("a {op} b") };
    Some(format!("kernels have `{name}::{function}`, but not with the type before it; write `{written}`"))
}

/// The trait, the operator, and the last two segments of a path that names an operator's function.
fn operator(path: &ExprPath) -> Option<(&'static str, &'static str, &PathSegment, &PathSegment)> {
    let [.., of, function] = &path.path.segments.iter().collect::<Vec<_>>()[..] else { return None };
    let known = OPERATORS.iter().find(|(name, known, _)| of.ident == name && function.ident == known);
    known.map(|&(name, _, op)| (name, op, *of, *function))
}

/// Replaces the trait in the path of a function. Returns a statement that compiles if the trait is the standard library's.
pub(super) fn replaced(path: &mut ExprPath) -> Option<TokenStream> {
    let last = path.path.segments.len().checked_sub(1)?;
    let (of, function) = (path.path.segments.get(last.checked_sub(1)?)?, path.path.segments.get(last)?);
    let known = TRAITS
        .iter()
        .find(|known| of.ident == known.name && known.functions.iter().any(|name| function.ident == name))?;
    // the type of `<Ord>::max` is no trait
    if path.qself.as_ref().is_some_and(|of| of.position != last) {
        return None;
    }
    let (span, name) = (of.ident.span(), known.name);
    let check = check(&own_trait(path), name, known.module, &function.ident, known.takes_type);
    let mut of = of.clone();
    if known.inferred > 0 {
        match &mut of.arguments {
            PathArguments::AngleBracketed(arguments) => arguments.args.push(syn::parse_quote!(_)),
            arguments if path.qself.is_some() => *arguments = PathArguments::AngleBracketed(syn::parse_quote!(<_>)),
            _ => {}
        }
    }
    let (module, function) = (Ident::new("__cuda_jit_std", span), function.clone());
    path.path.leading_colon = None;
    path.path.segments = [module.into(), of, function].into_iter().collect();
    if let Some(of) = &mut path.qself {
        of.position = 2;
    }
    Some(check)
}

/// The trait in the path of a function, without generic arguments.
fn own_trait(path: &ExprPath) -> Path {
    let mut own = path.path.clone();
    own.segments.pop();
    own.segments.pop_punct();
    if let Some(of) = own.segments.last_mut() {
        of.arguments = PathArguments::None;
    }
    own
}

/// A statement that compiles if a trait is the standard library's of this name: its function is then the same.
fn check(own: &Path, name: &str, module: &str, function: &Ident, takes_type: bool) -> TokenStream {
    let span = own.segments.last().map_or_else(Span::call_site, |of| of.ident.span());
    let (module, name) = (Ident::new(module, span), Ident::new(name, span));
    let theirs = quote_spanned!(span => ::core::#module::#name);
    let (arguments, params) = match takes_type {
        true => (quote!(<A>), quote!(A,)),
        false => (TokenStream::new(), TokenStream::new()),
    };
    let both = quote_spanned!(span => <T as #theirs #arguments>::#function, <T as #own #arguments>::#function);
    quote_spanned!(span => {
        #[allow(dead_code)]
        fn standard<#params T: #theirs #arguments + #own #arguments>() {
            __cuda_jit_standard(#both);
        }
    })
}

fn spanned(mut token: TokenTree, span: Span) -> TokenTree {
    token.set_span(span);
    token
}
