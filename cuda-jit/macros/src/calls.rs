//! Extracts the hidden methods of a device library trait, which typing probes call, into a trait of their own.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{ItemImpl, ItemTrait, TraitItem};

/// Returns true for a hidden method that a typing probe calls on a value.
pub(crate) fn is_call(item: &mut TraitItem) -> bool {
    let name = match item {
        TraitItem::Fn(method) => method.sig.ident.to_string(),
        _ => return false,
    };
    name.starts_with("__call_")
}

/// Splits the hidden methods of a device library trait off into a trait of their own. Typing probes import only that trait,
/// since the other methods' names may be those of the standard library's traits.
pub(crate) fn calls_trait(item: &mut ItemTrait, mut calls: Vec<TraitItem>) -> TokenStream {
    let (vis, name, generics) = (&item.vis, &item.ident, &item.generics);
    let hidden = calls_name(name);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    for call in &mut calls {
        if let TraitItem::Fn(method) = call {
            let clause = method.sig.generics.make_where_clause();
            clause.predicates.push(syn::parse_quote!(Self: #name #ty_generics));
        }
    }
    let declared = quote! {
        #[doc(hidden)]
        #[allow(dead_code)]
        #vis trait #hidden #impl_generics #where_clause { #(#calls)* }
    };
    item.supertraits.push(syn::parse_quote!(#hidden #ty_generics));
    declared
}

/// The name of the trait that has the hidden methods of another.
pub(crate) fn calls_name(name: &Ident) -> Ident {
    format_ident!("__{}Calls", name, span = Span::call_site())
}

/// The implementation of the hidden methods for a type, beside the device library's implementation of the trait.
pub(crate) fn calls_impl(item: &ItemImpl, path: &syn::Path) -> TokenStream {
    let Some(last) = path.segments.last() else { return TokenStream::new() };
    let (name, arguments, this) = (calls_name(&last.ident), &last.arguments, &item.self_ty);
    let (impl_generics, _, where_clause) = item.generics.split_for_impl();
    quote!(impl #impl_generics crate::library::iterator::#name #arguments for #this #where_clause {})
}
