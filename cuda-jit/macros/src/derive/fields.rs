//! The names of a struct's fields, and its constructor.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{DeriveInput, Fields, Member};

/// A field's name, as the compiler knows it.
pub(super) fn field_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// The hidden items of a tuple struct, the same as those of a device function's type.
pub(super) fn constructor(root: &TokenStream, input: &DeriveInput, fields: &Fields) -> Option<TokenStream> {
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let name = &input.ident;
    matches!(fields, Fields::Unnamed(_)).then(|| {
        quote! {
            #[allow(dead_code)]
            impl #impl_generics #name #ty_generics #where_clause {
                #[doc(hidden)]
                pub fn __callee() -> #root::Constructs<Self> {
                    #root::Constructs::new()
                }
            }
        }
    })
}
