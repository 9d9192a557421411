//! `#[device]` before the `impl` of an operator, of `From`, `TryFrom` or of `Default`.
//!
//! # Safety
//!
//! Nothing here runs `unsafe` code. The emitted code has some, without tokens of the user's; this macro guarantees that the
//! captured syntax is the code that rustc checks beside it.

use cuda_jit_syntax::owned::Options;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Generics, ImplItem, ItemImpl};

use crate::methods::{Body, Names, body, methods, with_self};
use crate::options;
use crate::signature::{Role, Signature, add_value_bounds, name_lifetimes};
use crate::standard;

/// Returns true for the trait of an operator.
pub(crate) fn is_operator(name: &Ident) -> bool {
    standard::is_operator(&name.to_string()) && ["Default", "From", "TryFrom"].iter().all(|other| name != other)
}

/// The type that represents an operator's trait in the types of its `#[device] impl`.
pub(crate) fn operator_tag(name: &Ident) -> Ident {
    format_ident!("{}Operator", name)
}

/// The operator's trait that a path names.
pub(crate) fn operator(path: &syn::Path) -> Option<String> {
    let name = path.segments.last()?.ident.to_string();
    standard::is_operator(&name).then_some(name)
}

/// `#[device] impl Add for Type`, an operator that the struct lists; `#[device] impl From<T> for Type`, `TryFrom<T>` or
/// `Default`.
pub(crate) fn overloaded(
    root: &TokenStream,
    options: &Options,
    item: &ItemImpl,
    name: &str,
    single_expansion: bool,
) -> syn::Result<TokenStream> {
    let item = &mut item.clone();
    if name.ends_with("From") {
        name_lifetimes(item);
    }
    let right = right_operand(item);
    AssociatedTypes::of(item, name, &right).visit_item_impl_mut(item);
    let mut written = methods(item);
    let Some(method) = written.next() else {
        return Err(syn::Error::new(item.self_ty.span(), "an operator's `impl` has its method"));
    };
    let other = written.next().map(|other| {
        let hint =
            format!("a `#[device] impl {name}` has one method; in kernels the trait's other methods follow from it");
        syn::Error::new(other.sig.ident.span(), hint).to_compile_error()
    });
    let this = &item.self_ty;
    let signature = Signature::new(&method.sig, Role::of_method(options), single_expansion)?;
    let options = &options::with_caller(options, &method.attrs);
    let [definition, info] = ["definition", "probe"].map(|name| Ident::new(name, Span::call_site()));
    let generics = Generics::default();
    let tag = operator_tag(&Ident::new(name, Span::call_site()));
    let reported = match name {
        "Default" => quote!(#root::CapturedDefault),
        "From" => quote!(#root::DeviceFrom<#right>),
        "TryFrom" => quote!(#root::DeviceTryFrom<#right, <Self as ::core::convert::TryFrom<#right>>::Error>),
        _ => quote!(#root::DeviceOperator<#root::operators::#tag, #right>),
    };
    let defined = quote!(<Self as #reported>::definition());
    let names = Names { definition, info, defined };
    let Body { definition, info, error } =
        body(root, options, &method.sig, &method.block, &signature, &generics, &names);
    let mut bounded = item.generics.clone();
    add_value_bounds(root, &mut bounded);
    if name.ends_with("From") {
        let convert = Ident::new(name, Span::call_site());
        bounded.make_where_clause().predicates.push(syn::parse_quote!(#this: ::core::convert::#convert<#right>));
    }
    let (impl_generics, _, bounds) = bounded.split_for_impl();
    let standard = standard::check(root, item, name);
    let is_listed = is_operator(&Ident::new(name, Span::call_site())) && !options.library;
    let listed = is_listed.then(|| listed(root, item, &tag, &right));
    Ok(quote! {
        #other
        #error
        #standard
        #listed

        // SAFETY: the instance is the method of this `impl`, which rustc has type-checked.
        #[diagnostic::do_not_recommend]
        unsafe impl #impl_generics #reported for #this #bounds {
            #definition
            #info
        }
    })
}

/// A function that compiles if a struct or enum lists the operator of an `impl`. Its parameter implies what the `impl`'s type
/// does about lifetimes.
fn listed(root: &TokenStream, item: &ItemImpl, tag: &Ident, right: &TokenStream) -> TokenStream {
    let (impl_generics, _, bounds) = item.generics.split_for_impl();
    let this = item.self_ty.to_token_stream();
    let (right, bounds) = (with_self(right, &this), bounds.map(|bounds| with_self(bounds, &this)));
    let span = item.trait_.as_ref().map_or_else(Span::call_site, |(_, path, _)| path.span());
    // where a type is named, rustc reports the bound without a note about a function of ours
    let listed = quote_spanned!(span => <#this as #root::ListedOperator<#root::operators::#tag, #right>>::Listed);
    quote! {
        const _: () = {
            #[allow(dead_code, clippy::extra_unused_lifetimes)]
            fn listed #impl_generics (_: &#this) #bounds {
                let _: #listed;
            }
        };
    }
}

/// Replaces the associated types of an `impl`, `Self::Output`, by what they are: the hidden trait has none.
struct AssociatedTypes(Vec<(Ident, syn::Type)>);

impl AssociatedTypes {
    fn of(item: &ItemImpl, name: &str, right: &TokenStream) -> Self {
        let own = item.items.iter().filter_map(|item| match item {
            ImplItem::Type(own) => Some((own.ident.clone(), own.ty.clone())),
            _ => None,
        });
        let inherited = (name == "IndexMut").then(|| {
            let output = syn::parse_quote!(<Self as ::core::ops::Index<#right>>::Output);
            (Ident::new("Output", Span::call_site()), output)
        });
        AssociatedTypes(own.chain(inherited).collect())
    }

    /// The type that `Self::Name` stands for.
    fn named(&self, path: &syn::Path) -> Option<&syn::Type> {
        let mut segments = path.segments.iter();
        let (first, second) = (segments.next()?, segments.next()?);
        let (_, ty) = self.0.iter().find(|(name, _)| first.ident == "Self" && second.ident == *name)?;
        Some(ty)
    }
}

impl VisitMut for AssociatedTypes {
    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        if let syn::Type::Path(path) = ty
            && path.qself.is_none()
            && path.path.segments.len() == 2
            && let Some(named) = self.named(&path.path)
        {
            *ty = named.clone();
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_expr_struct_mut(&mut self, expr: &mut syn::ExprStruct) {
        if expr.qself.is_none()
            && let Some(syn::Type::Path(named)) = self.named(&expr.path)
        {
            (expr.qself, expr.path) = (named.qself.clone(), named.path.clone());
        }
        visit_mut::visit_expr_struct_mut(self, expr);
    }

    fn visit_expr_path_mut(&mut self, path: &mut syn::ExprPath) {
        if path.qself.is_none()
            && let Some(named) = self.named(&path.path)
        {
            let rest = path.path.segments.iter().skip(2);
            *path = syn::parse_quote!(<#named>::#(#rest)::*);
        }
        visit_mut::visit_expr_path_mut(self, path);
    }
}

/// The right operand's type of an operator's `impl`; the type itself if none is written.
fn right_operand(item: &ItemImpl) -> TokenStream {
    let arguments = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last()).map(|last| &last.arguments);
    match arguments {
        Some(syn::PathArguments::AngleBracketed(arguments)) if !arguments.args.is_empty() => {
            arguments.args[0].to_token_stream()
        }
        _ => item.self_ty.to_token_stream(),
    }
}
