//! `#[derived(Default)]`: the default of a struct, field by field, or the variant of an enum before which `#[default]` stands.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Fields, Ident};

use super::compare::lists;

/// The `#[device] impl Default`, if `#[derived(..)]` lists it, as Rust's own derive implements it.
pub(super) fn implementation(root: &TokenStream, input: &DeriveInput) -> syn::Result<TokenStream> {
    if !input.attrs.iter().any(|attribute| lists(attribute, "Default")) {
        return Ok(TokenStream::new());
    }
    let value = match &input.data {
        Data::Struct(data) => {
            let values = data.fields.members().zip(&data.fields).map(|(member, field)| {
                let ty = &field.ty;
                quote_spanned!(ty.span() => #member: <#ty as ::core::default::Default>::default())
            });
            quote!(Self { #(#values),* })
        }
        _ => {
            let variant = marked(input)?;
            quote!(Self::#variant)
        }
    };
    let (name, mut generics) = (&input.ident, super::bounded(root, &input.generics));
    let types: Vec<Ident> = generics.type_params().map(|param| param.ident.clone()).collect();
    let clause = generics.make_where_clause();
    clause
        .predicates
        .extend(types.iter().map(|ty| -> syn::WherePredicate { syn::parse_quote!(#ty: ::core::default::Default) }));
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let item = quote! {
        impl #impl_generics ::core::default::Default for #name #ty_generics #where_clause {
            fn default() -> Self {
                #value
            }
        }
    };
    Ok(crate::emit::expand(crate::emit::Kind::Device, root.clone(), TokenStream::new(), item))
}

/// The one variant before which `#[default]` stands; it has no fields.
fn marked(input: &DeriveInput) -> syn::Result<&Ident> {
    let hint = "write `#[default]` before one variant without fields, which is the default of the enum";
    let refused = || syn::Error::new(input.ident.span(), hint);
    let Data::Enum(data) = &input.data else { return Err(refused()) };
    let mut marked =
        data.variants.iter().filter(|variant| variant.attrs.iter().any(|of| of.path().is_ident("default")));
    match (marked.next(), marked.next()) {
        (Some(variant), None) if matches!(variant.fields, Fields::Unit) => Ok(&variant.ident),
        _ => Err(refused()),
    }
}
