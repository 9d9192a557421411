//! Functions of the standard library's traits by the trait's path: `Ord::max(a, b)`, `<T as Default>::default()`.
//!
//! Such a path names the standard library's trait, which has no hidden functions. The typing probe names the trait of the
//! device library that has them instead, and makes rustc check that the path means the standard library's trait.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{ExprPath, Ident, PathArguments};

/// The traits, the module of each, the number of arguments that it needs, and its functions.
const TRAITS: &[(&str, &str, usize, &[&str])] = &[
    ("Default", "default", 0, &["default"]),
    ("From", "convert", 1, &["from"]),
    ("PartialEq", "cmp", 0, &["eq", "ne"]),
    ("PartialOrd", "cmp", 0, &["partial_cmp", "lt", "le", "gt", "ge"]),
    ("Ord", "cmp", 0, &["cmp", "max", "min", "clamp"]),
];

/// Replaces the trait in the path of a function. Returns a statement that compiles if the trait is the standard library's.
pub(super) fn replaced(path: &mut ExprPath) -> Option<TokenStream> {
    let last = path.path.segments.len().checked_sub(1)?;
    let (of, function) = (path.path.segments.get(last.checked_sub(1)?)?, path.path.segments.get(last)?);
    let (name, module, count, _) = *TRAITS
        .iter()
        .find(|(name, _, _, functions)| of.ident == name && functions.iter().any(|known| function.ident == known))?;
    // the type of `<Ord>::max` is no trait
    if path.qself.as_ref().is_some_and(|of| of.position != last) {
        return None;
    }
    let span = of.ident.span();
    let mut own = path.path.clone();
    own.segments.pop();
    own.segments.pop_punct();
    if let Some(of) = own.segments.last_mut() {
        of.arguments = PathArguments::None;
    }
    let arguments = (count == 1).then(|| quote!(<A>)).into_iter();
    let (own_arguments, params) = (arguments.clone(), (count == 1).then(|| quote!(A,)).into_iter());
    let own_params = params.clone();
    let called = if count == 1 { quote!(<A, T>) } else { quote!(<T>) };
    let (module, name_in_core) = (Ident::new(module, Span::mixed_site()), Ident::new(name, Span::mixed_site()));
    let check = quote_spanned!(span => {
        fn standard<#(#params)* T: ::core::#module::#name_in_core #(#arguments)*>() {
            fn named<#(#own_params)* T: #own #(#own_arguments)*>() {}
            named::#called();
        }
    });
    let mut segment = path.path.segments[last - 1].clone();
    segment.ident = format_ident!("__cuda_jit_{}", name, span = span);
    let function = path.path.segments[last].clone();
    path.path.leading_colon = None;
    path.path.segments = [segment, function].into_iter().collect();
    if let Some(of) = &mut path.qself {
        of.position = 1;
    }
    Some(check)
}
