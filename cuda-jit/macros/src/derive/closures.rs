//! Structs with closures: those with a type parameter bound by `Fn`, `FnMut` or `FnOnce`.
//!
//! Such a struct is a value of a kernel and never in memory that Rust sees, so that the compiler chooses its layout. It is
//! neither plain data nor a launch argument. A closure's type has no `'static` identity, so that the struct's key is
//! composed of the keys of its fields.
//!
//! # Safety
//!
//! Nothing here runs `unsafe` code. The emitted code implements an `unsafe` trait, and lists the fields as written.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{DeriveInput, Fields, GenericParam, Member, Type};

use super::fields::{constructor, field_name};
use crate::signature::{replaced, without_lifetimes};

/// Expands the derive of a struct with closures.
pub(super) fn closure_struct(
    root: &TokenStream,
    input: &DeriveInput,
    fields: &Fields,
    closures: &[(Ident, Type)],
) -> syn::Result<TokenStream> {
    let refused = ["operators", "derived"];
    if let Some(attribute) =
        input.attrs.iter().find(|attribute| refused.iter().any(|name| attribute.path().is_ident(name)))
    {
        return Err(syn::Error::new(attribute.span(), "a struct with closures cannot have operators; write methods"));
    }
    if fields.len() > MOST_FIELDS {
        let hint = format!("a struct with closures has at most {MOST_FIELDS} fields");
        return Err(syn::Error::new(input.ident.span(), hint));
    }
    let name = &input.ident;
    let mut generics = input.generics.clone();
    let is_closure = |name: &Ident| closures.iter().any(|(known, _)| known == name);
    let types: Vec<Ident> =
        generics.type_params().map(|param| param.ident.clone()).filter(|name| !is_closure(name)).collect();
    for param in &mut generics.params {
        match param {
            GenericParam::Type(param) => param.default = None,
            GenericParam::Const(param) => param.default = None,
            GenericParam::Lifetime(_) => {}
        }
    }
    let clause = generics.make_where_clause();
    clause
        .predicates
        .extend(types.iter().map(|ty| -> syn::WherePredicate { syn::parse_quote!(#ty: #root::ValueType) }));
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let by = |name: &Ident| closures.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let keys = fields.iter().map(|field| {
        let ty = without_lifetimes(&replaced(&field.ty, &by));
        quote!(<#ty as #root::DeviceType>::K)
    });
    let names = fields.members().map(|member: Member| field_name(&member));
    let constructor = constructor(root, input, fields);
    Ok(quote! {
        const _: () = {
            enum __Names {}

            impl #root::Names for __Names {
                fn name() -> &'static str {
                    struct #name;
                    ::core::any::type_name::<#name>()
                }

                const FIELDS: &'static [&'static str] = &[#(#names),*];
            }

            // SAFETY: these are the struct's fields, in order.
            #[diagnostic::do_not_recommend]
            unsafe impl #impl_generics #root::DeviceType for #name #ty_generics #where_clause {
                type K = #root::StructKey<__Names, (#(#keys,)*)>;
            }
        };

        #constructor
    })
}

/// The maximum number of keys in a struct's key.
const MOST_FIELDS: usize = 12;
