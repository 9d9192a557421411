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
    /// Those that may be an argument: their parameters' types tell rustc the type whose function it is.
    values: &'static [&'static str],
    /// The number of generic arguments that the hidden trait has beyond its own: 0 or 1.
    inferred: usize,
    /// A function without generic parameters, if others have some.
    plain: Option<&'static str>,
}

const fn of(module: &'static str, name: &'static str, functions: &'static [&'static str]) -> StdTrait {
    StdTrait { name, module, takes_type: false, functions, values: &[], inferred: 0, plain: None }
}

/// A trait of one function, which may be an argument.
const fn value(module: &'static str, name: &'static str, function: &'static [&'static str]) -> StdTrait {
    StdTrait { values: function, ..of(module, name, function) }
}

const TRAITS: &[StdTrait] = &[
    value("default", "Default", &["default"]),
    StdTrait { takes_type: true, ..value("convert", "From", &["from"]) },
    StdTrait { takes_type: true, ..value("convert", "Into", &["into"]) },
    StdTrait { takes_type: true, ..value("convert", "TryFrom", &["try_from"]) },
    StdTrait { takes_type: true, ..value("convert", "TryInto", &["try_into"]) },
    of("cmp", "PartialEq", &["eq", "ne"]),
    of("cmp", "PartialOrd", &["partial_cmp", "lt", "le", "gt", "ge"]),
    StdTrait { values: &["max", "min", "clamp"], ..of("cmp", "Ord", &["cmp", "max", "min", "clamp"]) },
    StdTrait { inferred: 1, ..of("clone", "Clone", &["clone"]) },
    of("iter", "IntoIterator", &["into_iter"]),
    StdTrait { plain: Some("next"), ..of("iter", "Iterator", ITERATOR) },
    StdTrait { plain: Some("next_back"), ..of("iter", "DoubleEndedIterator", &["next_back", "nth_back", "rfold"]) },
    of("iter", "ExactSizeIterator", &["len"]),
];

/// The functions of `Iterator`.
#[rustfmt::skip]
const ITERATOR: &[&str] = &[
    "next", "nth", "fold", "count", "last", "by_ref", "chain", "cloned", "copied", "cycle", "enumerate", "filter",
    "filter_map", "flat_map", "flatten", "fuse", "inspect", "map", "map_while", "peekable", "rev", "scan", "skip",
    "skip_while", "step_by", "take", "take_while", "zip", "all", "any", "find", "find_map", "position", "rposition",
    "try_fold", "try_for_each", "for_each", "reduce", "sum", "product", "max", "max_by", "max_by_key", "min", "min_by",
    "min_by_key", "is_sorted", "is_sorted_by", "is_sorted_by_key", "eq", "ne", "partial_cmp", "cmp", "lt", "le", "gt",
    "ge",
];

/// Functions of other traits, and what a kernel has instead. A trait whose name a type of the user's may well have is
/// known by its module too.
const OTHERS: &[(&str, &str, &str)] = &[
    ("ops::Index", "index", "write `x[i]`"),
    ("ops::IndexMut", "index_mut", "write `x[i]`"),
    ("ops::Deref", "deref", "write `*x`"),
    ("ops::DerefMut", "deref_mut", "write `*x`"),
    ("ToString", "to_string", "a thread has no heap, and `printf!` prints a value"),
    ("ToOwned", "to_owned", "a thread has no heap, and `*x` copies a value"),
    ("FromIterator", "from_iter", "a thread has no heap: write each item to an element of a slice or an array"),
    ("iter::Sum", "sum", "write `items.sum()`"),
    ("iter::Product", "product", "write `items.product()`"),
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

/// The error text for a function that kernels do not call by the path of its trait, or, as for `<f32 as Add>::add`, not by
/// this path.
pub(super) fn refused(path: &ExprPath) -> Option<String> {
    if let Some((name, op, _, function)) = operator(path).filter(|_| path.qself.is_some()) {
        let (function, written) = (&function.ident, operation_of(name, op));
        return Some(format!("kernels have `{name}::{function}`, but not with the type before it; write `{written}`"));
    }
    let (of, function) = last_two(path)?;
    let (name, function) = (of.ident.to_string(), function.ident.to_string());
    let module = path.path.segments.iter().rev().nth(2).map(|module| format!("{}::{name}", module.ident));
    let is_named = |known: &str| known == name || module.as_ref().is_some_and(|module| known == module);
    if let Some(op) = assigned(&name, &function) {
        return Some(format!("kernels have no `{name}::{function}`: write `a {op}= b`"));
    }
    if let Some((_, _, hint)) = OTHERS.iter().find(|(of, known, _)| is_named(of) && *known == function) {
        return Some(format!("kernels have no `{name}::{function}`: {hint}"));
    }
    let known = TRAITS.iter().find(|known| known.name == name && known.plain.is_some())?;
    let is_listed = known.functions.contains(&function.as_str());
    (!is_listed).then(|| format!("kernels have no `{name}::{function}`; write `items.{function}(..)`"))
}

/// The error text for a trait's function as an argument, if nothing tells rustc the type whose function it is.
pub(super) fn refused_argument(path: &ExprPath) -> Option<String> {
    if let Some(hint) = refused(path) {
        return Some(hint);
    }
    let (of, function) = last_two(path).filter(|_| path.qself.is_none())?;
    let (name, function) = (&of.ident, &function.ident);
    let closure = match operator(path) {
        Some((name @ ("Neg" | "Not"), op, ..)) => format!("|a| {}", operation_of(name, op)),
        Some((name, op, ..)) => format!("|a, b| {}", operation_of(name, op)),
        None => {
            let known = known(path).filter(|known| !known.values.iter().any(|value| function == value))?;
            match known {
                StdTrait { module: "cmp", .. } => format!("|a, b| a.{function}(b)"),
                StdTrait { plain: Some(_), .. } => format!("|items| items.{function}()"),
                _ => format!("|v| v.{function}()"),
            }
        }
    };
    Some(format!("kernels call `{name}::{function}` only within a closure: write `{closure}`"))
}

/// The operator whose assignment a function is, as `AddAssign::add_assign` that of `+`.
fn assigned(name: &str, function: &str) -> Option<&'static str> {
    let (name, function) = (name.strip_suffix("Assign")?, function.strip_suffix("_assign")?);
    OPERATORS.iter().find(|(known, of, _)| *known == name && *of == function).map(|(.., op)| *op)
}

/// The expression of an operator.
fn operation_of(name: &str, op: &str) -> String {
    if matches!(name, "Neg" | "Not") { format!("{op}a") } else { format!("a {op} b") }
}

/// The last two segments of a path.
fn last_two(path: &ExprPath) -> Option<(&PathSegment, &PathSegment)> {
    let mut segments = path.path.segments.iter().rev();
    let function = segments.next()?;
    segments.next().map(|of| (of, function))
}

/// The trait in the path of a function.
fn known(path: &ExprPath) -> Option<&'static StdTrait> {
    let (of, function) = last_two(path)?;
    let has = |known: &&StdTrait| of.ident == known.name && known.functions.iter().any(|name| function.ident == name);
    TRAITS.iter().find(has)
}

/// The trait, the operator, and the last two segments of a path that names an operator's function.
fn operator(path: &ExprPath) -> Option<(&'static str, &'static str, &PathSegment, &PathSegment)> {
    let (of, function) = last_two(path)?;
    let known = OPERATORS.iter().find(|(name, known, _)| of.ident == name && function.ident == known);
    known.map(|&(name, _, op)| (name, op, of, function))
}

/// Replaces the trait in the path of a function. Returns a statement that compiles if the trait is the standard library's.
pub(super) fn replaced(path: &mut ExprPath) -> Option<TokenStream> {
    let (known, (of, function)) = (known(path)?, last_two(path)?);
    // the type of `<Ord>::max` is no trait
    if path.qself.as_ref().is_some_and(|of| of.position + 1 != path.path.segments.len()) {
        return None;
    }
    let (span, name) = (of.ident.span(), known.name);
    let plain = known.plain.map_or_else(|| function.ident.clone(), |plain| Ident::new(plain, function.ident.span()));
    let check = check(&own_trait(path), name, known.module, &plain, known.takes_type);
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
