//! `#[device] impl Iterator`, `DoubleEndedIterator`, `ExactSizeIterator` and `IntoIterator`: user-defined iterators.

use cuda_jit_syntax::owned::Options;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{ImplItem, ItemImpl};

use crate::calls::calls_name;
use crate::methods::{Owner, methods, trait_items};
use crate::signature::add_value_bounds;
use crate::standard;

/// A trait of the standard library's iterators, and its counterpart in the device library.
#[derive(Clone, Copy)]
pub(crate) struct Iteration {
    name: &'static str,
    device: &'static str,
    /// The method that kernels call, and its result.
    method: &'static str,
}

impl Iteration {
    /// The trait that a path names.
    pub(crate) fn of(path: &syn::Path) -> Option<Self> {
        let name = path.segments.last()?.ident.to_string();
        let all = [
            Iteration { name: "Iterator", device: "DeviceIterator", method: "next" },
            Iteration { name: "DoubleEndedIterator", device: "DeviceDoubleEnded", method: "next_back" },
            Iteration { name: "ExactSizeIterator", device: "DeviceExactSize", method: "len" },
            Iteration { name: "IntoIterator", device: "DeviceIntoIterator", method: "into_iter" },
        ];
        all.into_iter().find(|of| of.name == name)
    }
}

/// Expands `#[device] impl Iterator for Type` and the like: an implementation of the device library's trait, with the
/// method's captured body.
pub(crate) fn iterated(
    root: &TokenStream,
    options: &Options,
    item: &ItemImpl,
    Iteration { name, device, method }: Iteration,
    single_expansion: bool,
) -> syn::Result<TokenStream> {
    let device = Ident::new(device, Span::call_site());
    let path: syn::Path = syn::parse_quote!(#root::#device);
    let mut captured = item.clone();
    // only the host uses this method
    captured.items.retain(|item| !matches!(item, ImplItem::Fn(method) if method.sig.ident == "size_hint"));
    if let Some(other) = methods(&captured).find(|written| written.sig.ident != method) {
        let hint = format!(
            "a `#[device] impl {name}` has only `{method}`; in kernels the trait's other methods follow from it"
        );
        return Err(syn::Error::new(other.sig.ident.span(), hint));
    }
    if methods(&captured).next().is_none() {
        let hint = format!("a `#[device] impl {name}` has the method `{method}`");
        return Err(syn::Error::new(item.self_ty.span(), hint));
    }
    let (hidden, errors) = trait_items(root, options, &captured, (&path, Owner::Library), single_expansion)?;
    let (std, method) = (Ident::new(name, Span::call_site()), Ident::new(method, Span::call_site()));
    let std = quote!(::core::iter::#std);
    let (types, receiver, result) = match name {
        "Iterator" => {
            let types = quote!(
                type Item = <Self as ::core::iter::Iterator>::Item;
            );
            (types, quote!(&mut self), quote!(::core::option::Option<<Self as ::core::iter::Iterator>::Item>))
        }
        "DoubleEndedIterator" => {
            (quote!(), quote!(&mut self), quote!(::core::option::Option<<Self as ::core::iter::Iterator>::Item>))
        }
        "ExactSizeIterator" => (quote!(), quote!(&self), quote!(usize)),
        _ => {
            let types = quote!(
                type Item = <Self as ::core::iter::IntoIterator>::Item;
                type IntoIter = <Self as ::core::iter::IntoIterator>::IntoIter;
            );
            (types, quote!(self), quote!(<Self as ::core::iter::IntoIterator>::IntoIter))
        }
    };
    let (this, mut bounded) = (&item.self_ty, item.generics.clone());
    add_value_bounds(root, &mut bounded);
    let (impl_generics, _, where_clause) = bounded.split_for_impl();
    let calls = calls_name(&device);
    let standard = standard::check(root, item, name);
    let looped = (name == "IntoIterator").then(|| {
        quote! {
            impl #impl_generics #root::LoopItems for #this #where_clause {
                type Item = <Self as ::core::iter::IntoIterator>::Item;
                type Into = #root::__DeviceIntoIterator_into_iter<Self>;
                type Next = #root::__DeviceIterator_next<<Self as ::core::iter::IntoIterator>::IntoIter>;
            }
        }
    });
    Ok(quote! {
        #errors
        #standard
        #looped
        impl #impl_generics #root::#calls for #this #where_clause {}

        #[allow(dead_code)]
        impl #impl_generics #path for #this #where_clause {
            #types
            fn #method(#receiver) -> #result {
                #std::#method(self)
            }
            #(#hidden)*
        }
    })
}
