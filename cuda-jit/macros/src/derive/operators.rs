//! `#[operators(..)]`: the operators that a struct or enum lists, by which kernels find them.
//!
//! A mistake in the list is one error: the type is then still one that kernels know, and has every operator listed.
//!
//! # Safety
//!
//! Nothing here runs `unsafe` code.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{DeriveInput, Generics, Token, Type};

use super::compare::Derived;
use crate::methods::with_self;
use crate::operators::{is_operator, operator_tag};

/// The comparisons, which the variants' numbers tell of an enum without fields.
const COMPARISONS: [&str; 3] = ["PartialEq", "PartialOrd", "Ord"];

/// Returns true for the trait of an operator with one operand.
fn is_unary(name: &Ident) -> bool {
    name == "Neg" || name == "Not"
}

/// An operator that a struct lists: `Mul`, `Mul<Right>` or `Mul for Left`.
struct Listed {
    name: Ident,
    /// The left operand if it is not the struct.
    left: Option<Type>,
    right: Type,
}

impl Parse for Listed {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let path: syn::Path = input.parse()?;
        let left = if input.parse::<Option<Token![for]>>()?.is_some() { Some(input.parse()?) } else { None };
        let Some(last) = path.segments.last() else { return Err(input.error("which operator?")) };
        let right = match &last.arguments {
            syn::PathArguments::AngleBracketed(arguments) => syn::parse2(arguments.args.to_token_stream())?,
            // what it has in place of a right operand
            _ if is_unary(&last.ident) => left.clone().unwrap_or_else(|| syn::parse_quote!(Self)),
            _ => syn::parse_quote!(Self),
        };
        if !is_operator(&last.ident) {
            let hint = format!(
                "`{}` is not an operator's trait: list traits, such as `Add`, `MulAssign` or `Neg`",
                last.ident
            );
            return Err(syn::Error::new(last.ident.span(), hint));
        }
        Ok(Listed { name: last.ident.clone(), left, right })
    }
}

impl Listed {
    /// Returns true for a comparison with values of the same type.
    fn compares_itself(&self) -> bool {
        let is_comparison = COMPARISONS.iter().any(|known| self.name == known);
        is_comparison && self.left.is_none() && self.right == syn::parse_quote!(Self)
    }

    /// The left operand, the operator and the right operand, as a bound.
    fn bound(&self, root: &TokenStream) -> (TokenStream, TokenStream) {
        let Listed { name, left, right } = self;
        let tag = operator_tag(name);
        let left = left.as_ref().map_or_else(|| quote_spanned!(name.span() => Self), ToTokens::to_token_stream);
        (left, quote_spanned!(name.span() => #root::DeviceOperator<#root::operators::#tag, #right>))
    }
}

/// The operators that a type lists.
pub(super) struct Operators {
    listed: Vec<Listed>,
    /// The error of the list, which is empty then.
    error: Option<syn::Error>,
}

impl Operators {
    /// The operators that a struct lists.
    pub(super) fn of(input: &DeriveInput) -> Self {
        let mut listed = Vec::new();
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("operators")) {
            match attribute.parse_args_with(Punctuated::<Listed, Token![,]>::parse_terminated) {
                Ok(operators) => listed.extend(operators),
                Err(error) => return Operators { listed: Vec::new(), error: Some(error) },
            }
        }
        Operators { listed, error: None }
    }

    /// The operators of an enum without fields, which lists comparisons without being told to.
    pub(super) fn of_plain_enum(input: &DeriveInput) -> Self {
        let mut operators = Self::of(input);
        if operators.error.is_none() {
            operators.listed.retain(|listed| !listed.compares_itself());
            operators.listed.extend(COMPARISONS.map(|name| {
                let name = Ident::new(name, Span::call_site());
                Listed { name, left: None, right: syn::parse_quote!(Self) }
            }));
        }
        operators
    }

    /// The generics, with the bounds that the operators of a generic type are implemented: those of its key, the type with every
    /// lifetime `'static`, which describes them. Those of another type are checked where the type describes them, so that it is
    /// known to kernels also if one is missing.
    pub(super) fn bounded(&self, root: &TokenStream, mut generics: Generics, key: &TokenStream) -> Generics {
        if generics.type_params().next().is_some() {
            for (left, bound) in self.listed.iter().map(|operator| operator.bound(root)) {
                let [left, bound] = [left, bound].map(|tokens| with_self(tokens, key));
                generics.make_where_clause().predicates.push(syn::parse_quote!(#left: #bound));
            }
        }
        generics
    }

    /// Implements the trait that lists a type's operators.
    pub(super) fn lists(&self, root: &TokenStream, name: &Ident, generics: &Generics) -> TokenStream {
        let (impl_generics, ty_generics, bounds) = generics.split_for_impl();
        let this = quote!(#name #ty_generics);
        if let Some(error) = &self.error {
            let mut open = generics.clone();
            open.params.push(syn::parse_quote!(__Operator));
            open.params.push(syn::parse_quote!(__Right));
            let ((impl_generics, ..), error) = (open.split_for_impl(), error.to_compile_error());
            return quote! {
                #error
                #[diagnostic::do_not_recommend]
                impl #impl_generics #root::ListedOperator<__Operator, __Right> for #this #bounds { type Listed = (); }
            };
        }
        let each = self.listed.iter().map(|Listed { name, left, right }| {
            let left = left.as_ref().map_or_else(|| this.clone(), |left| with_self(left, &this));
            let (tag, right) = (operator_tag(name), with_self(right, &this));
            quote! {
                #[diagnostic::do_not_recommend]
                impl #impl_generics #root::ListedOperator<#root::operators::#tag, #right> for #left #bounds { type Listed = (); }
            }
        });
        quote!(#(#each)*)
    }

    /// The function that lists the operators, and the kind of arithmetic.
    pub(super) fn described(&self, root: &TokenStream, derived: Option<Derived>) -> (TokenStream, TokenStream) {
        let arithmetic = match derived {
            Some(Derived { partial_ord, .. }) => quote!(#root::Arithmetic::Compared(#partial_ord)),
            None => quote!(#root::Arithmetic::Listed),
        };
        (described(root, self.listed.iter()), arithmetic)
    }

    /// The function that lists the operators of an enum without fields, except its own comparisons.
    pub(super) fn described_of_plain_enum(&self, root: &TokenStream) -> TokenStream {
        described(root, self.listed.iter().filter(|listed| !listed.compares_itself()))
    }
}

/// The function that lists operators.
fn described<'a>(root: &TokenStream, listed: impl Iterator<Item = &'a Listed>) -> TokenStream {
    let listed = listed.map(|operator| {
        let (of, bound) = operator.bound(root);
        let Listed { name, left, right } = operator;
        let text = name.to_string();
        let left = match left {
            Some(left) => quote!(::core::option::Option::Some(#root::ty_of::<#left>())),
            None => quote!(::core::option::Option::None),
        };
        let instance = quote_spanned!(name.span() => <#of as #bound>::instance());
        quote!(#root::Operator { name: #text, left: #left, right: #root::ty_of::<#right>(), instance: #instance })
    });
    quote!(|| ::std::vec![#(#listed),*])
}
