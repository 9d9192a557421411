//! `#[device] impl Sum` and `Product`: sums and products of user-defined types.

use cuda_jit_syntax::owned::Options;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{GenericArgument, ImplItem, ItemImpl, PathArguments, Token, TypeParamBound, WherePredicate};

use crate::calls::calls_name;
use crate::methods::{Owner, methods, trait_items};
use crate::signature::{add_value_bounds, name_lifetimes};
use crate::standard;

/// A trait by which the standard library's iterators add or multiply, and its counterpart in the device library, which has a
/// method of the same name.
#[derive(Clone, Copy)]
pub(crate) struct Summation {
    name: &'static str,
    device: &'static str,
    method: &'static str,
}

impl Summation {
    /// The trait that a path names.
    pub(crate) fn of(path: &syn::Path) -> Option<Self> {
        let name = path.segments.last()?.ident.to_string();
        let all = [
            Summation { name: "Sum", device: "DeviceSum", method: "sum" },
            Summation { name: "Product", device: "DeviceProduct", method: "product" },
        ];
        all.into_iter().find(|of| of.name == name)
    }
}

/// The type of the elements of a path's trait, `Self` if it names none.
pub(crate) fn element(path: &syn::Path) -> TokenStream {
    let arguments = path.segments.last().map(|last| &last.arguments);
    let Some(PathArguments::AngleBracketed(arguments)) = arguments else { return quote!(Self) };
    let types = arguments.args.iter().filter(|argument| matches!(argument, GenericArgument::Type(_)));
    types.map(ToTokens::to_token_stream).next().unwrap_or_else(|| quote!(Self))
}

/// Expands `#[device] impl Sum for Type` and the like: an implementation of the device library's trait, with the method's
/// captured body.
pub(crate) fn summed(
    root: &TokenStream,
    options: &Options,
    item: &ItemImpl,
    Summation { name, device, method }: Summation,
    single_expansion: bool,
) -> syn::Result<TokenStream> {
    let mut captured = item.clone();
    name_lifetimes(&mut captured);
    let item = &captured.clone();
    let (device, this) = (Ident::new(device, Span::call_site()), &item.self_ty);
    let element = item.trait_.as_ref().map_or_else(TokenStream::new, |(_, path, _)| element(path));
    let path: syn::Path = syn::parse_quote!(#root::#device<#element>);
    captured.items.iter_mut().for_each(|item| over_device_iterators(root, item));
    let (hidden, errors) = trait_items(root, options, &captured, (&path, Owner::Library), single_expansion)?;
    // rustc reports a method that is missing
    if methods(&captured).next().is_none() {
        return Ok(TokenStream::new());
    }
    let mut bounded = item.generics.clone();
    add_value_bounds(root, &mut bounded);
    let (impl_generics, _, where_clause) = bounded.split_for_impl();
    let (calls, standard) = (calls_name(&device), standard::check(root, item, name));
    let [std, method] = [name, method].map(|name| Ident::new(name, Span::call_site()));
    Ok(quote! {
        #errors
        #standard
        impl #impl_generics #root::#calls<#element> for #this #where_clause {}

        #[allow(dead_code)]
        impl #impl_generics #path for #this #where_clause {
            fn #method<__I: #root::DeviceIterator<Item = #element>>(mut iter: __I) -> Self {
                <Self as ::core::iter::#std<#element>>::#method(
                    ::core::iter::from_fn(move || #root::DeviceIterator::next(&mut iter)),
                )
            }
            #(#hidden)*
        }
    })
}

/// Writes the device library's trait in place of `Iterator` in a method's bounds: in kernels the elements come from one of its
/// iterators.
fn over_device_iterators(root: &TokenStream, item: &mut ImplItem) {
    let ImplItem::Fn(method) = item else { return };
    let generics = &mut method.sig.generics;
    generics.type_params_mut().for_each(|param| of_device(root, &mut param.bounds));
    for predicate in generics.where_clause.iter_mut().flat_map(|clause| &mut clause.predicates) {
        if let WherePredicate::Type(predicate) = predicate {
            of_device(root, &mut predicate.bounds);
        }
    }
}

fn of_device(root: &TokenStream, bounds: &mut Punctuated<TypeParamBound, Token![+]>) {
    for bound in bounds {
        if let TypeParamBound::Trait(bound) = bound
            && let Some(last) = bound.path.segments.last().filter(|last| last.ident == "Iterator")
        {
            let arguments = last.arguments.clone();
            bound.path = syn::parse_quote!(#root::DeviceIterator #arguments);
        }
    }
}
