//! The device's counterparts of bounds by the standard library's traits of conversion, defaults and iterators.
//!
//! A bound `T: From<u8>` tells rustc that the host has the conversion. Beside it the typing probe has the bound that the
//! device has it too, so that rustc finds the device's function through it, and reports a type that has none where the
//! generic function is called. Comparisons need no other bound: each type that is ordered on the host is on the device.
//!
//! The counterpart of an iterator's bound has the item of the standard library's. It is about the type by another name,
//! `Itself<I>`: of two traits with an `Item`, rustc would not know which one `I::Item` means.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{GenericParam, Generics, Path, PathArguments, TypeParamBound, WherePredicate};

/// Adds to each bound by `Default`, `From`, `Into`, `TryFrom`, `TryInto` or a trait of iterators the device's counterpart. If a
/// name means another trait, rustc reports that the type lacks the standard library's.
pub(crate) fn add_device_bounds(root: &TokenStream, generics: &mut Generics) {
    let mut added = Vec::new();
    for param in &generics.params {
        if let GenericParam::Type(param) = param {
            let (name, bounds) = (param.ident.to_token_stream(), &param.bounds);
            added.extend(bounds.iter().flat_map(|bound| counterparts(root, &TokenStream::new(), &name, bound)));
        }
    }
    for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
        if let WherePredicate::Type(predicate) = predicate {
            let (lifetimes, ty) = (predicate.lifetimes.to_token_stream(), predicate.bounded_ty.to_token_stream());
            added.extend(predicate.bounds.iter().flat_map(|bound| counterparts(root, &lifetimes, &ty, bound)));
        }
    }
    if !added.is_empty() {
        generics.make_where_clause().predicates.extend(added);
    }
}

/// As [`add_device_bounds`]; and each type parameter of an `impl` that is no closure is a type of the device's values, as those of
/// functions are.
pub(crate) fn add_value_bounds(root: &TokenStream, generics: &mut Generics) {
    let closures = super::closures(generics);
    let values = generics.type_params().filter(|param| closures.iter().all(|(name, _)| *name != param.ident));
    let bounds: Vec<WherePredicate> = values
        .map(|param| {
            let name = &param.ident;
            syn::parse_quote!(#name: #root::ValueType)
        })
        .collect();
    add_device_bounds(root, generics);
    if !bounds.is_empty() {
        generics.make_where_clause().predicates.extend(bounds);
    }
}

/// The device's counterparts of one bound of a type.
fn counterparts(
    root: &TokenStream,
    lifetimes: &TokenStream,
    ty: &TokenStream,
    bound: &TypeParamBound,
) -> Vec<WherePredicate> {
    let TypeParamBound::Trait(bound) = bound else { return Vec::new() };
    let (path, own) = (&bound.path, &bound.lifetimes);
    let Some(last) = path.segments.last() else { return Vec::new() };
    let error = quote!(<#ty as #path>::Error);
    // of a trait as it is written, so that one of another kind is an error at its name
    let mut plain = path.clone();
    plain.segments.iter_mut().for_each(|segment| segment.arguments = PathArguments::None);
    let iterator = quote!(::core::iter::Iterator);
    let iterates = |device: &[&str], of: TokenStream| {
        let item = quote_spanned!(last.ident.span() => <#ty as #of>::Item);
        let iterates = device.iter().map(|device| {
            let device = format_ident!("{}", device);
            quote!(#lifetimes #root::Itself<#ty>: #own #root::#device<Item = #item>)
        });
        let yields = quote!(#lifetimes #item: #own #root::DeviceType);
        iterates.chain([yields]).filter_map(|predicate| syn::parse2(predicate).ok()).collect()
    };
    let (device, is_fallible) = match (last.ident.to_string().as_str(), argument(path)) {
        ("Default", _) => (quote!(#root::DeviceDefault), false),
        ("From", Some(source)) => (quote!(#root::DeviceFrom<#source>), false),
        ("Into", Some(target)) => (quote!(#root::IntoOnDevice<#target>), false),
        ("TryFrom", Some(source)) => (quote!(#root::DeviceTryFrom<#source, #error>), true),
        ("TryInto", Some(target)) => (quote!(#root::TryIntoOnDevice<#target, #error>), true),
        ("Iterator", _) => return iterates(&["DeviceIterator"], quote!(#plain)),
        ("DoubleEndedIterator", _) => return iterates(&["DeviceDoubleEnded"], iterator),
        ("ExactSizeIterator", _) => return iterates(&["DeviceExactSize"], iterator),
        ("IntoIterator", _) => return iterates(&["DeviceIntoIterator", "LoopItems"], quote!(#plain)),
        _ => return Vec::new(),
    };
    let converts = quote!(#lifetimes #ty: #own #device);
    let fails = is_fallible.then(|| quote!(#lifetimes #error: #root::DeviceType));
    std::iter::once(converts).chain(fails).filter_map(|predicate| syn::parse2(predicate).ok()).collect()
}

/// The first generic argument of a path.
fn argument(path: &Path) -> Option<TokenStream> {
    match &path.segments.last()?.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.first().map(ToTokens::to_token_stream),
        _ => None,
    }
}
