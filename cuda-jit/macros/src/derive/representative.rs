//! The instance of a generic type that represents all others in patterns, where rustc knows no arguments.

use super::bounded;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{GenericParam, Generics, Type, TypeParam, TypeParamBound, WherePredicate};

/// Traits that `()` implements.
const OF_UNIT: &[&str] =
    &["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd", "Send", "Sized", "Sync"];

/// Implements the trait of such instances, for arguments that are chosen by the names of the bounds. If an argument does not satisfy
/// them, rustc does not find the instance, and asks for the arguments of a pattern.
pub(super) fn representative(
    root: &TokenStream,
    name: &Ident,
    generics: &Generics,
    items: &TokenStream,
) -> Option<TokenStream> {
    if generics.params.iter().all(|param| matches!(param, GenericParam::Lifetime(_))) {
        return None;
    }
    let mut chosen = bounded(root, generics);
    for param in &generics.params {
        let (argument, param) = match param {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(param) => {
                let name = &param.ident;
                (type_argument(param, generics), quote!(#name))
            }
            GenericParam::Const(param) if matches!(&param.ty, Type::Path(ty) if ty.path.is_ident("usize")) => {
                let name = &param.ident;
                (quote!([(); 0]), quote!([(); #name]))
            }
            GenericParam::Const(_) => return None,
        };
        let predicate: WherePredicate = syn::parse_quote!(#argument: #root::pattern::Represents<#param>);
        chosen.make_where_clause().predicates.push(predicate);
    }
    let (_, ty_generics, _) = generics.split_for_impl();
    let (impl_generics, _, clause) = chosen.split_for_impl();
    Some(quote! {
        #[diagnostic::do_not_recommend]
        impl #impl_generics #root::pattern::Representative for #name #ty_generics #clause { #items }
    })
}

/// A type that may satisfy the bounds of a parameter.
fn type_argument(param: &TypeParam, generics: &Generics) -> TokenStream {
    let mut names: Vec<&Ident> = param.bounds.iter().filter_map(trait_name).collect();
    for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
        if let WherePredicate::Type(of) = predicate
            && let Type::Path(path) = &of.bounded_ty
            && path.path.is_ident(&param.ident)
        {
            names.extend(of.bounds.iter().filter_map(trait_name));
        }
    }
    if names.iter().all(|name| OF_UNIT.iter().any(|known| name == known)) {
        quote!(())
    } else if names.iter().any(|name| *name == "Float") {
        quote!(::core::primitive::f32)
    } else {
        quote!(::core::primitive::u32)
    }
}

fn trait_name(bound: &TypeParamBound) -> Option<&Ident> {
    match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().map(|last| &last.ident),
        _ => None,
    }
}
