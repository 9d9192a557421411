//! Structs and enums with closures: those with a type parameter bound by `Fn`, `FnMut` or `FnOnce`.
//!
//! Such a type is a value of a kernel and never in memory that Rust sees, so that the compiler chooses its layout. It is
//! neither plain data nor a launch argument. A closure's type has no `'static` identity, so that the key is composed of the
//! keys of the fields.
//!
//! # Safety
//!
//! Nothing here runs `unsafe` code. The emitted code implements an `unsafe` trait, and lists the fields as written.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{DataEnum, DeriveInput, Field, Fields, GenericParam, Generics, Type, WherePredicate};

use super::fields::{constructor, field_name};
use super::sum::{constructors, representative_items, values};
use crate::signature::{closure_placeholder, replaced, without_lifetimes};

/// A type parameter that is a closure, with its function pointer.
type ClosureParam = (Ident, Type);

/// Expands the derive of a struct with closures.
pub(super) fn closure_struct(
    root: &TokenStream,
    input: &DeriveInput,
    fields: &Fields,
    closures: &[ClosureParam],
) -> syn::Result<TokenStream> {
    let keys = keys(root, input, &mut fields.iter(), closures)?;
    let names = fields.members().map(|member| field_name(&member));
    let names = quote! {
        impl #root::Names for __Names {
            fn name() -> &'static str {
                Self::__name()
            }

            const FIELDS: &'static [&'static str] = &[#(#names),*];
        }
    };
    let items = device_type(root, input, closures, &names, &quote!(type K = #root::StructKey<__Names, (#(#keys,)*)>;));
    let constructor = constructor(root, input, fields);
    Ok(quote!(#items #constructor))
}

/// Expands the derive of an enum with closures.
pub(super) fn closure_enum(
    root: &TokenStream,
    input: &DeriveInput,
    data: &DataEnum,
    closures: &[ClosureParam],
) -> syn::Result<TokenStream> {
    let keys = keys(root, input, &mut data.variants.iter().flat_map(|variant| &variant.fields), closures)?;
    let variants = data.variants.iter().map(|variant| {
        let (name, fields) = (variant.ident.unraw().to_string(), variant.fields.members());
        let fields = fields.map(|member| field_name(&member));
        quote!((#name, &[#(#fields),*]))
    });
    let names = quote! {
        impl #root::VariantNames for __Names {
            fn name() -> &'static str {
                Self::__name()
            }

            const VARIANTS: &'static [(&'static str, &'static [&'static str])] = &[#(#variants),*];
        }
    };
    let has_closure = |ty: &Type| replaced(ty, &placeholders(closures)) != *ty;
    let known = values(data, &|ty| match has_closure(ty) {
        true => quote!(::core::option::Option::None),
        false => quote_spanned!(ty.span() => #root::field_type::<#ty>().value()),
    });
    let units = (0_u128..).zip(&data.variants).filter(|(_, variant)| variant.fields.is_empty());
    let units: Vec<_> = units
        .map(|(number, variant)| {
            let name = &variant.ident;
            quote!(Self::#name { .. } => __push(#number),)
        })
        .collect();
    // a value with fields is no constant
    let cells = (!units.is_empty()).then(|| {
        quote! {
            fn __cells(&self, __push: &mut dyn ::core::ops::FnMut(u128)) {
                match self { #(#units)* _ => return }
                (1..#root::ty_of::<Self>().cells()).for_each(|_| __push(0));
            }
        }
    });
    let items = quote! {
        type K = #root::SumKey<__Names, (#(#keys,)*)>;

        #cells

        fn __variants() -> ::std::vec::Vec<::core::option::Option<Self>> {
            #known
        }
    };
    let items = device_type(root, input, closures, &names, &items);
    let (representative, constructors) = (representative(root, input, data, closures), constructors(root, input, data));
    Ok(quote!(#items #representative #constructors))
}

/// The keys of the fields; refuses what a type with closures cannot have.
fn keys(
    root: &TokenStream,
    input: &DeriveInput,
    fields: &mut dyn Iterator<Item = &Field>,
    closures: &[ClosureParam],
) -> syn::Result<Vec<TokenStream>> {
    let refused = ["operators", "derived"];
    let is_refused = |attribute: &&syn::Attribute| refused.iter().any(|name| attribute.path().is_ident(name));
    if let Some(attribute) = input.attrs.iter().find(is_refused) {
        return Err(syn::Error::new(attribute.span(), "a type with closures cannot have operators; write methods"));
    }
    let key = |field: &Field| {
        let ty = without_lifetimes(&replaced(&field.ty, &placeholders(closures)));
        quote!(<#ty as #root::DeviceType>::K)
    };
    let keys: Vec<_> = fields.map(key).collect();
    if keys.len() > MOST_FIELDS {
        let hint = format!("a type with closures has at most {MOST_FIELDS} fields, those of all variants together");
        return Err(syn::Error::new(input.ident.span(), hint));
    }
    Ok(keys)
}

/// The types that replace closures' types.
fn placeholders(closures: &[ClosureParam]) -> impl Fn(&Ident) -> Option<Type> + '_ {
    |name| closures.iter().find(|(known, _)| known == name).map(|(_, pointer)| closure_placeholder(pointer, true))
}

/// Implements `DeviceType` with these items, by the names of the fields.
fn device_type(
    root: &TokenStream,
    input: &DeriveInput,
    closures: &[ClosureParam],
    names: &TokenStream,
    items: &TokenStream,
) -> TokenStream {
    let (name, generics) = (&input.ident, bounded(root, &input.generics, closures));
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        const _: () = {
            enum __Names {}

            impl __Names {
                fn __name() -> &'static str {
                    struct #name;
                    ::core::any::type_name::<#name>()
                }
            }

            #names

            // SAFETY: these are the type's fields, in order.
            #[diagnostic::do_not_recommend]
            unsafe impl #impl_generics #root::DeviceType for #name #ty_generics #where_clause { #items }
        };
    }
}

/// The generics without defaults, with a value bound on each type parameter that is no closure.
fn bounded(root: &TokenStream, generics: &Generics, closures: &[ClosureParam]) -> Generics {
    let mut generics = generics.clone();
    for param in &mut generics.params {
        match param {
            GenericParam::Type(param) => param.default = None,
            GenericParam::Const(param) => param.default = None,
            GenericParam::Lifetime(_) => {}
        }
    }
    let is_closure = |name: &Ident| closures.iter().any(|(known, _)| known == name);
    let names = generics.type_params().map(|param| param.ident.clone()).filter(|name| !is_closure(name));
    let names: Vec<Ident> = names.collect();
    let bounds = names.iter().map(|name| -> WherePredicate { syn::parse_quote!(#name: #root::ValueType) });
    generics.make_where_clause().predicates.extend(bounds);
    generics
}

/// The instance of an enum with closures that represents all others in patterns: with function pointers, of which the host
/// can make values, and `()` for other types. There is none if the enum has lifetimes, or other types with bounds.
fn representative(
    root: &TokenStream,
    input: &DeriveInput,
    data: &DataEnum,
    closures: &[ClosureParam],
) -> Option<TokenStream> {
    let closure = |name: &Ident| closures.iter().find(|(closure, _)| closure == name);
    let unit = |name: &Ident| {
        let is_open = closure(name).is_none() && input.generics.type_params().any(|param| param.ident == *name);
        is_open.then(|| syn::parse_quote!(()))
    };
    let is_of_closure = |predicate: &WherePredicate| match predicate {
        WherePredicate::Type(predicate) => closures.iter().any(|(name, _)| is_named(&predicate.bounded_ty, name)),
        _ => false,
    };
    if !input.generics.where_clause.iter().flat_map(|clause| &clause.predicates).all(is_of_closure) {
        return None;
    }
    let argument = |param: &GenericParam| match param {
        GenericParam::Type(param) => match closure(&param.ident) {
            Some((_, pointer)) => Some(replaced(pointer, &unit)),
            None => unit(&param.ident).filter(|_| param.bounds.is_empty()),
        },
        _ => None,
    };
    let arguments = input.generics.params.iter().map(argument).collect::<Option<Vec<Type>>>()?;
    let value = |ty: &Type| {
        let found = closures.iter().find(|(name, _)| is_named(ty, name));
        if let Some((_, pointer)) = found {
            return never_called(&replaced(pointer, &unit));
        }
        match replaced(ty, &placeholders(closures)) == *ty {
            true => {
                let ty = replaced(ty, &unit);
                quote_spanned!(ty.span() => #root::field_type::<#ty>().value())
            }
            false => quote!(::core::option::Option::None),
        }
    };
    let (name, items) = (&input.ident, representative_items(data, &values(data, &value)));
    Some(quote! {
        #[diagnostic::do_not_recommend]
        impl #root::pattern::Representative for #name<#(#arguments),*> { #items }
    })
}

/// Returns true for a type that is a name.
fn is_named(ty: &Type, name: &Ident) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

/// A function pointer of this type, as an `Option`.
fn never_called(pointer: &Type) -> TokenStream {
    let count = if let Type::BareFn(pointer) = pointer { pointer.inputs.len() } else { 0 };
    let params = std::iter::repeat_n(quote!(_), count);
    quote!(::core::option::Option::Some((|#(#params),*| loop {}) as #pointer))
}

/// The maximum number of keys in the key of a struct or enum.
const MOST_FIELDS: usize = 12;
