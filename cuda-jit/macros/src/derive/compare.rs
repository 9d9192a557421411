//! `#[derived(..)]`: the comparisons of structs and of enums with fields.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, DeriveInput, Fields, Generics, Member, Token, Type};

/// The comparisons that `#[derived(..)]` lists.
#[derive(Clone, Copy)]
pub(super) struct Derived {
    eq: bool,
    pub(super) partial_ord: bool,
    ord: bool,
}

/// Returns true of a `#[derived(..)]` that lists this trait.
pub(super) fn lists(attribute: &Attribute, name: &str) -> bool {
    let names = || attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated);
    attribute.path().is_ident("derived") && names().is_ok_and(|names| names.iter().any(|given| given == name))
}

/// Reads `#[derived(PartialEq)]` before the type, which may also list `Eq`, `PartialOrd` and `Ord`. `Default` is no comparison.
pub(super) fn derived(input: &DeriveInput) -> syn::Result<Option<Derived>> {
    let mut found = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("derived")) {
        let names = attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated)?;
        let names: Vec<Ident> = names.into_iter().filter(|name| name != "Default").collect();
        if names.is_empty() && lists(attribute, "Default") {
            continue;
        }
        let has = |name: &str| names.iter().any(|given| given == name);
        let known = names.iter().all(|name| ["PartialEq", "Eq", "PartialOrd", "Ord"].iter().any(|known| name == known));
        let ordered = has("Eq") && has("PartialOrd") || !has("Ord");
        if !known || !has("PartialEq") || !ordered || found.is_some() {
            let hint = "write `#[derived(PartialEq)]` or `#[derived(PartialEq, PartialOrd)]`, once, or all four with `Eq` and `Ord`; \
                        `Default` may stand with them or alone";
            return Err(syn::Error::new(attribute.span(), hint));
        }
        found = Some(Derived { eq: has("Eq"), partial_ord: has("PartialOrd"), ord: has("Ord") });
    }
    Ok(found)
}

/// The bodies of a comparison's methods.
pub(super) struct Compared {
    pub(super) eq: TokenStream,
    pub(super) partial_cmp: TokenStream,
    pub(super) cmp: TokenStream,
}

impl Compared {
    /// The comparison of a struct, field by field.
    pub(super) fn of_struct(fields: &Fields) -> Self {
        let members: Vec<(Member, Span)> = fields.members().zip(fields.iter().map(|field| field.ty.span())).collect();
        let equal = members.iter().map(|(member, span)| quote_spanned!(*span => && self.#member == __other.#member));
        let of = |path: TokenStream, equal: TokenStream| {
            let decided = members.iter().map(|(member, span)| {
                quote_spanned!(*span => match #path(&self.#member, &__other.#member) {
                    #equal => {}
                    __decided => return __decided,
                })
            });
            quote!(#(#decided)* #equal)
        };
        let equal_order = quote!(::core::cmp::Ordering::Equal);
        Compared {
            eq: quote!(true #(#equal)*),
            partial_cmp: of(
                quote!(::core::cmp::PartialOrd::partial_cmp),
                quote!(::core::option::Option::Some(#equal_order)),
            ),
            cmp: of(quote!(::core::cmp::Ord::cmp), equal_order),
        }
    }
}

/// The comparison of a type, field by field, as Rust's own derives implement it. This macro emits it, so the compiler knows
/// its meaning.
pub(super) fn comparisons(
    name: &Ident,
    generics: &Generics,
    types: &[&Type],
    Derived { eq, partial_ord, ord }: Derived,
    compared: &Compared,
) -> TokenStream {
    let implemented = |of: TokenStream, body: TokenStream| {
        let mut generics = generics.clone();
        let types: Vec<Ident> = generics.type_params().map(|param| param.ident.clone()).collect();
        let clause = generics.make_where_clause();
        clause.predicates.extend(types.iter().map(|ty| -> syn::WherePredicate { syn::parse_quote!(#ty: #of) }));
        let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
        quote!(impl #impl_generics #of for #name #ty_generics #where_clause { #body })
    };
    let total = eq.then(|| {
        let mut generics = generics.clone();
        let params = generics
            .type_params()
            .map(|param| param.ident.clone())
            .map(|name| syn::parse_quote!(#name))
            .collect::<Vec<Type>>();
        let fields = params.iter().chain(types.iter().copied());
        let clause = generics.make_where_clause();
        clause.predicates.extend(
            fields.map(|ty| -> syn::WherePredicate { syn::parse_quote_spanned!(ty.span() => #ty: ::core::cmp::Eq) }),
        );
        let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
        quote!(impl #impl_generics ::core::cmp::Eq for #name #ty_generics #where_clause {})
    });
    let Compared { eq: same, partial_cmp, cmp } = compared;
    let equal = implemented(quote!(::core::cmp::PartialEq), quote!(fn eq(&self, __other: &Self) -> bool { #same }));
    if !partial_ord {
        return quote!(#equal #total);
    }
    let whole = ord.then(|| {
        let body = quote!(fn cmp(&self, __other: &Self) -> ::core::cmp::Ordering { #cmp });
        implemented(quote!(::core::cmp::Ord), body)
    });
    let body = quote! {
        fn partial_cmp(&self, __other: &Self) -> ::core::option::Option<::core::cmp::Ordering> { #partial_cmp }
    };
    let order = implemented(quote!(::core::cmp::PartialOrd), body);
    quote!(#equal #total #order #whole)
}
