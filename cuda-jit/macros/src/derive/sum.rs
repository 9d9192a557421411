//! `#[derive(DeviceType)]` of enums with fields: a tag, and the fields of every variant.
//!
//! # Safety
//!
//! Nothing here runs `unsafe` code. The emitted code implements an `unsafe` trait, justified by bounds that rustc checks.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{DataEnum, DeriveInput, Field, Fields, Generics, Member, Type, Variant};

use super::compare::{Compared, comparisons, derived};
use super::operators::Operators;
use super::{bounded, representative, static_key, without_lifetime_generics};
use crate::signature::{has_lifetime, without_lifetimes};

/// Expands the derive.
pub(super) fn expand(root: &TokenStream, input: &DeriveInput, data: &DataEnum) -> syn::Result<TokenStream> {
    let name = &input.ident;
    if let Some(attribute) = input.attrs.iter().find(|attribute| attribute.path().is_ident("from_repr")) {
        let hint = "`#[from_repr]` stands before enums whose variants are numbers";
        return Err(syn::Error::new(attribute.span(), hint));
    }
    let closures = crate::signature::closures(&input.generics);
    if !closures.is_empty() {
        return super::closures::closure_enum(root, input, data, &closures);
    }
    let (listed, derived) = (Operators::of(input), derived(input)?);
    let key = static_key(name, &input.generics);
    let generics = listed.bounded(root, bounded(root, &input.generics), &key);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let without = without_lifetime_generics(&generics);
    let (key_generics, _, key_clause) = without.split_for_impl();
    let types: Vec<&Type> =
        data.variants.iter().flat_map(|variant| variant.fields.iter().map(|field| &field.ty)).collect();
    let borrows = input.generics.lifetimes().next().is_some() || types.iter().any(|ty| has_lifetime(ty));
    let described = data.variants.iter().map(|variant| described(root, variant));
    let (operators, arithmetic) = listed.described(root, derived);
    let cells = cells(root, data);
    let values = values(data, &|ty| quote_spanned!(ty.span() => #root::field_type::<#ty>().value()));
    let open_values = self::values(data, &|_| quote!(#root::any_value()));
    let open = representative_items(data, &open_values);
    let compared =
        derived.map(|derived| comparisons(name, &bounded(root, &input.generics), &types, derived, &compared(data)));
    let lists = listed.lists(root, name, &input.generics);
    let (representative, constructors) =
        (representative(root, name, &input.generics, &open), constructors(root, input, data));
    let passed = (!borrows).then(|| passed(root, name, &generics, &types));
    Ok(quote! {
        // SAFETY: the variants and their fields are those of the enum's declaration, in the same order.
        unsafe impl #key_generics #root::Key for #key #key_clause {
            fn ty() -> #root::Ty {
                #root::Ty::Sum(::std::sync::Arc::new(#root::SumTy {
                    identity: #root::SumIdentity::Own(::core::any::type_name::<Self>()),
                    variants: ::std::vec![#(#described),*],
                    operators: #operators,
                    arithmetic: #arithmetic,
                }))
            }
        }

        // SAFETY: the key is the type's own.
        #[diagnostic::do_not_recommend]
        unsafe impl #impl_generics #root::DeviceType for #name #ty_generics #where_clause {
            type K = #key;

            fn __cells(&self, __push: &mut dyn ::core::ops::FnMut(u128)) {
                #cells
            }

            fn __variants() -> ::std::vec::Vec<::core::option::Option<Self>> {
                #values
            }
        }

        #representative
        #constructors
        #compared
        #lists
        #passed
    })
}

/// A variant as the compiler knows it.
fn described(root: &TokenStream, variant: &Variant) -> TokenStream {
    let name = variant.ident.unraw().to_string();
    let names = variant.fields.members().map(|member| match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    });
    let types = variant.fields.iter().map(|field| {
        let ty = without_lifetimes(&field.ty);
        let part = quote_spanned!(field.ty.span() => #root::field_type::<#ty>());
        quote!(#part.ty())
    });
    quote!(#root::VariantTy::new(#name, &[#(#names),*], ::std::vec![#(#types),*]))
}

/// Names for the fields of a variant.
fn names(prefix: &str, variant: &Variant) -> Vec<Ident> {
    (0..variant.fields.len()).map(|index| format_ident!("__{}{}", prefix, index)).collect()
}

/// Pushes the tag, then the numbers of each variant's fields: zeros for the fields of other variants.
fn cells(root: &TokenStream, data: &DataEnum) -> TokenStream {
    let part = |field: &Field| {
        let ty = &field.ty;
        quote_spanned!(ty.span() => #root::field_type::<#ty>())
    };
    let arms = (0_u128..).zip(&data.variants).map(|(number, own)| {
        let (name, members, values) = (&own.ident, own.fields.members(), names("f", own));
        let pushed = data.variants.iter().map(|variant| {
            if variant.ident == own.ident {
                let fields = variant.fields.iter().zip(&values).map(|(field, value)| {
                    let part = part(field);
                    quote!(#part.cells(#value, __push);)
                });
                return quote!(#(#fields)*);
            }
            let parts = variant.fields.iter().map(part);
            quote!(#(#parts.zeros(__push);)*)
        });
        quote!(Self::#name { #(#members: #values),* } => { __push(#number); #(#pushed)* })
    });
    quote!(match self { #(#arms)* })
}

/// The items of the instance that represents all others in patterns, with these values.
pub(super) fn representative_items(data: &DataEnum, values: &TokenStream) -> TokenStream {
    let units = (0_usize..).zip(&data.variants).filter(|(_, variant)| variant.fields.is_empty());
    let units = units
        .map(|(number, Variant { ident, .. })| quote!(Self::#ident { .. } => ::core::option::Option::Some(#number),));
    quote! {
        fn __values() -> ::std::vec::Vec<::core::option::Option<Self>> {
            #values
        }

        fn __unit(&self) -> ::core::option::Option<usize> {
            match self { #(#units)* _ => ::core::option::Option::None }
        }
    }
}

/// A value of each variant, built from values of its fields.
pub(super) fn values(data: &DataEnum, value: &dyn Fn(&Type) -> TokenStream) -> TokenStream {
    let values = data.variants.iter().map(|variant| {
        let (name, members) = (&variant.ident, variant.fields.members());
        let fields = variant.fields.iter().map(|field| value(&field.ty));
        quote!({
            let __value = || ::core::option::Option::Some(Self::#name { #(#members: #fields?),* });
            __value()
        })
    });
    quote!(::std::vec![#(#values),*])
}

/// The comparison of the variants, and of the fields of two values of one variant.
fn compared(data: &DataEnum) -> Compared {
    let each = |equal: TokenStream, part: &dyn Fn(&Ident, &Ident, &Field) -> TokenStream| {
        let arms = data.variants.iter().map(|variant| {
            let (name, members) = (&variant.ident, variant.fields.members().collect::<Vec<_>>());
            let (left, right) = (names("a", variant), names("b", variant));
            let parts = left.iter().zip(&right).zip(&variant.fields).map(|((a, b), field)| part(a, b, field));
            quote! {
                (Self::#name { #(#members: #left),* }, Self::#name { #(#members: #right),* }) => { #(#parts)* #equal }
            }
        });
        quote!(#(#arms)*)
    };
    let number = |of: TokenStream| {
        let arms = (0_u32..).zip(&data.variants).map(|(number, variant)| {
            let name = &variant.ident;
            quote!(Self::#name { .. } => #number,)
        });
        quote!((match #of { #(#arms)* }))
    };
    let (own, other) = (number(quote!(self)), number(quote!(__other)));
    let differ = (data.variants.len() > 1).then(|| quote!(_ => false));
    let equal = each(quote!(true), &|a, b, field| quote_spanned!(field.ty.span() => if !(#a == #b) { return false; }));
    let by = |path: TokenStream, equal: TokenStream| {
        let arms = each(equal.clone(), &|a, b, field| {
            quote_spanned!(field.ty.span() => match #path(#a, #b) {
                #equal => {}
                __decided => return __decided,
            })
        });
        let others = differ.as_ref().map(|_| quote!(_ => #path(&#own, &#other)));
        quote!(match (self, __other) { #arms #others })
    };
    let equal_order = quote!(::core::cmp::Ordering::Equal);
    Compared {
        eq: quote!(match (self, __other) { #equal #differ }),
        partial_cmp: by(
            quote!(::core::cmp::PartialOrd::partial_cmp),
            quote!(::core::option::Option::Some(#equal_order)),
        ),
        cmp: by(quote!(::core::cmp::Ord::cmp), equal_order),
    }
}

/// The hidden functions beside the tuple variants, by which kernels name them.
pub(super) fn constructors(root: &TokenStream, input: &DeriveInput, data: &DataEnum) -> TokenStream {
    let (name, (impl_generics, ty_generics, where_clause)) = (&input.ident, input.generics.split_for_impl());
    let tuples = (0_usize..).zip(&data.variants).filter(|(_, variant)| matches!(variant.fields, Fields::Unnamed(_)));
    let hidden = tuples.map(|(number, variant)| {
        let types = variant.fields.iter().map(|field| &field.ty);
        let [call, path] = ["call", "fn"].map(|kind| format_ident!("__{}_{}", kind, variant.ident.unraw()));
        quote! {
            #[doc(hidden)]
            pub fn #call(#(_: #types),*) -> #root::Construction<Self, #number> {
                #root::Construction::new()
            }

            #[doc(hidden)]
            pub fn #path() -> #root::Constructs<Self, #number> {
                #root::Constructs::new()
            }
        }
    });
    quote! {
        #[allow(dead_code, non_snake_case, private_interfaces)]
        impl #impl_generics #name #ty_generics #where_clause { #(#hidden)* }
    }
}

/// Implements the traits of enums without references: values, and launch arguments.
fn passed(root: &TokenStream, name: &Ident, generics: &Generics, types: &[&Type]) -> TokenStream {
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let predicates = where_clause.map(|clause| clause.predicates.iter().collect::<Vec<_>>()).unwrap_or_default();
    let each = types.iter().map(|ty| quote_spanned!(ty.span() => for<'__d> #ty: #root::ValueType));
    let bounds = quote!(where #(#predicates,)* for<'__d> Self: ::core::marker::Copy, #(#each),*);
    quote! {
        // SAFETY: the cells are its tag and its variants' fields, in order.
        unsafe impl #impl_generics #root::ValueType for #name #ty_generics #bounds {
            const CELLS: usize = 1 #(+ <#types as #root::ValueType>::CELLS)*;
        }

        #[diagnostic::do_not_recommend]
        impl #impl_generics #root::KernelParam for #name #ty_generics #bounds {}

        #root::argument!([#impl_generics] [#name #ty_generics] [#bounds]);
    }
}
