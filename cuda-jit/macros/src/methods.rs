//! `#[device]` before an `impl` or a trait: each method gets hidden ones beside it, by which kernels name it.
//!
//! `__dev_f(&self)` lets rustc's own method resolution pick the method, `__fn_f()` names it by path. In a trait both
//! are provided, and an `impl` fills in `__definition_f` and `__harvest_f`, the captured body and its twin.

use cuda_jit_syntax::owned::Options;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{FnArg, ImplItem, ImplItemFn, ItemImpl, ItemTrait, TraitItem, TraitItemFn, Type};

use crate::capture;
use crate::emit;
use crate::options;
use crate::signature::{Role, Signature, without_lifetimes};

/// The operators' traits, whose methods kernels call by the operators.
const OPERATORS: &[&str] = &[
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Rem",
    "BitAnd",
    "BitOr",
    "BitXor",
    "Shl",
    "Shr",
    "AddAssign",
    "SubAssign",
    "MulAssign",
    "DivAssign",
    "RemAssign",
    "BitAndAssign",
    "BitOrAssign",
    "BitXorAssign",
    "ShlAssign",
    "ShrAssign",
    "Neg",
    "Not",
    "PartialEq",
];

/// `#[device] impl ..`
pub(crate) fn of_impl(root: &TokenStream, options: TokenStream, mut item: ItemImpl) -> TokenStream {
    let expanded = options::of_device(options).and_then(|options| match &item.trait_ {
        None => inherent(root, &options, &item),
        Some((_, path, _)) => match operator(path) {
            Some(name) => overloaded(root, &options, &item, &name),
            None => {
                let items = trait_items(root, &options, &item)?;
                item.items.extend(items);
                Ok(TokenStream::new())
            }
        },
    });
    let expanded = expanded.unwrap_or_else(|error| error.to_compile_error());
    quote! {
        #[allow(dead_code, clippy::manual_is_multiple_of, clippy::too_many_arguments)]
        #item
        #expanded
    }
}

/// `#[device] trait ..`
pub(crate) fn of_trait(root: &TokenStream, options: TokenStream, mut item: ItemTrait) -> TokenStream {
    let expanded = options::of_device(options).and_then(|options| {
        let mut tokens = TokenStream::new();
        let mut hidden = Vec::new();
        let methods = item.items.iter().filter_map(|item| match item {
            TraitItem::Fn(method) => Some(method.clone()),
            _ => None,
        });
        for method in methods.collect::<Vec<_>>() {
            let (items, beside) = trait_method(root, &options, &item, &method)?;
            hidden.extend(items);
            tokens.extend(beside);
        }
        item.items.extend(hidden);
        Ok(tokens)
    });
    let expanded = expanded.unwrap_or_else(|error| error.to_compile_error());
    quote! {
        #[allow(dead_code, clippy::manual_is_multiple_of, clippy::too_many_arguments)]
        #item
        #expanded
    }
}

/// The operator's trait that a path names.
fn operator(path: &syn::Path) -> Option<String> {
    let name = path.segments.last()?.ident.to_string();
    OPERATORS.contains(&name.as_str()).then_some(name)
}

/// A method's captured body and its twin, as two functions.
struct Body {
    definition: TokenStream,
    harvest: TokenStream,
}

fn body(
    root: &TokenStream,
    options: &Options,
    sig: &syn::Signature,
    block: &syn::Block,
    signature: &Signature,
    names: [Ident; 2],
) -> syn::Result<Body> {
    let block: syn::Block = syn::parse2(renamed(signature.body(block.clone()).to_token_stream()))?;
    let mut captured = capture::capture(signature, block)?;
    let encoded = emit::encoded(root, &sig.ident, &mut captured, options);
    Ok(Body {
        definition: emit::definition(root, &names[0], &encoded),
        harvest: emit::twin(root, &names[1], sig, signature, &captured),
    })
}

/// The names of a method's captured body and its twin.
fn both(method: &Ident) -> [Ident; 2] {
    [named("definition", method), named("harvest", method)]
}

fn named(kind: &str, method: &Ident) -> Ident {
    format_ident!("__{}_{}", kind, method, span = Span::call_site())
}

/// The tokens with `__self` for `self`: the twin is a closure, which has no receiver.
fn renamed(tokens: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_path = |next: Option<&TokenTree>| matches!(next, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    let renamed = tokens.iter().enumerate().map(|(index, token)| match token {
        TokenTree::Ident(ident) if ident == "self" && !is_path(tokens.get(index + 1)) => {
            TokenTree::Ident(Ident::new("__self", ident.span()))
        }
        TokenTree::Group(group) => {
            let mut inner = proc_macro2::Group::new(group.delimiter(), renamed(group.stream()));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        other => other.clone(),
    });
    renamed.collect()
}

/// A type with `Self` replaced.
fn with_self(ty: &Type, this: &TokenStream) -> TokenStream {
    fn replace(tokens: TokenStream, this: &TokenStream) -> TokenStream {
        tokens
            .into_iter()
            .flat_map(|token| match token {
                TokenTree::Ident(ident) if ident == "Self" => this.clone(),
                TokenTree::Group(group) => {
                    TokenTree::Group(proc_macro2::Group::new(group.delimiter(), replace(group.stream(), this))).into()
                }
                other => other.into(),
            })
            .collect()
    }
    replace(without_lifetimes(ty).to_token_stream(), this)
}

/// The types of a `DeviceFn` for a method of `this`.
fn types(signature: &Signature, this: &TokenStream) -> (Vec<TokenStream>, TokenStream) {
    let args = signature.static_types.iter().map(|ty| with_self(ty, this)).collect();
    (args, with_self(&signature.result, this))
}

/// `#[device] impl Type { .. }`: a second `impl` with the hidden functions.
fn inherent(root: &TokenStream, options: &Options, item: &ItemImpl) -> syn::Result<TokenStream> {
    let (impl_generics, _, where_clause) = item.generics.split_for_impl();
    let this = &item.self_ty;
    let of = without_lifetimes(this);
    let mut hidden = TokenStream::new();
    let mut names = TokenStream::new();
    for method in methods(item) {
        let signature = Signature::new(&method.sig, Role::Method)?;
        let Body { definition, harvest } =
            body(root, options, &method.sig, &method.block, &signature, both(&method.sig.ident))?;
        let (name, vis) = (&method.sig.ident, &method.vis);
        let (ask, path) = (format_ident!("__dev_{}", name), format_ident!("__fn_{}", name));
        let marker = format_ident!("__of_{}", name, span = Span::call_site());
        let ask = has_receiver(&method.sig).then(|| {
            quote! {
                #[doc(hidden)]
                #vis fn #ask(&self) -> #root::Callee<#marker<Self>> { #root::Callee::new() }
            }
        });
        hidden.extend(quote! {
            #definition
            #harvest
            #ask
            #[doc(hidden)]
            #vis fn #path() -> #root::Callee<#marker<Self>> { #root::Callee::new() }
        });
        let (args, output) = types(&signature, &quote!(#of));
        let (definition, harvest) = (named("definition", name), named("harvest", name));
        names.extend(quote! {
            pub struct #marker<S: ?Sized>(::core::marker::PhantomData<S>);
            impl #impl_generics #root::DeviceFn for #marker<#this> #where_clause {
                type Args = (#(#args,)*);
                type Output = #output;
                fn instance() -> #root::Instance {
                    #root::Instance {
                        body: #root::Body::Captured(<#this>::#definition(), <#this>::#harvest),
                        generics: ::std::vec![#root::GenericArg::Of(::core::any::type_name::<#this>())],
                    }
                }
            }
        });
    }
    Ok(quote! {
        #[allow(non_camel_case_types, dead_code, clippy::all)]
        const _: () = {
            #names
            impl #impl_generics #this #where_clause { #hidden }
        };
    })
}

fn methods(item: &ItemImpl) -> impl Iterator<Item = &ImplItemFn> {
    item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    })
}

fn has_receiver(sig: &syn::Signature) -> bool {
    matches!(sig.inputs.first(), Some(FnArg::Receiver(_)))
}

/// `#[device] impl Trait for Type { .. }`: what the trait asks for beside each method.
fn trait_items(root: &TokenStream, options: &Options, item: &ItemImpl) -> syn::Result<Vec<ImplItem>> {
    let mut items = Vec::new();
    for method in methods(item) {
        let signature = Signature::new(&method.sig, Role::Method)?;
        let Body { definition, harvest } =
            body(root, options, &method.sig, &method.block, &signature, both(&method.sig.ident))?;
        items.push(syn::parse2(definition)?);
        items.push(syn::parse2(harvest)?);
    }
    Ok(items)
}

/// The hidden items of a trait's method, and the type beside the trait that names it.
fn trait_method(
    root: &TokenStream,
    options: &Options,
    item: &ItemTrait,
    method: &TraitItemFn,
) -> syn::Result<(Vec<TraitItem>, TokenStream)> {
    let signature = Signature::new(&method.sig, Role::Method)?;
    let (name, trait_name, vis) = (&method.sig.ident, &item.ident, &item.vis);
    let marker = format_ident!("__{}_{}", trait_name, name);
    let (_, trait_generics, _) = item.generics.split_for_impl();
    let arguments: Vec<TokenStream> = item.generics.params.iter().map(argument).collect();
    let (definition, harvest) = (named("definition", name), named("harvest", name));
    let (ask, path) = (format_ident!("__dev_{}", name), format_ident!("__fn_{}", name));
    let bound = quote!(where Self: Sized + #root::DeviceType);
    let mut hidden: Vec<TokenStream> = Vec::new();
    match &method.default {
        Some(block) => {
            let Body { definition, harvest } = body(root, options, &method.sig, block, &signature, both(name))?;
            hidden.push(quote!(#definition));
            hidden.push(bounded(harvest, &bound)?);
        }
        None => {
            let why = format!("`{name}` of a `#[device]` trait: write `#[device]` before the `impl` of the trait.");
            hidden.push(quote!(#[doc = #why] #[doc(hidden)] fn #definition() -> &'static #root::syntax::Definition;));
            hidden.push(quote!(#[doc = #why] #[doc(hidden)] fn #harvest() -> #root::Harvest #bound;));
        }
    }
    if has_receiver(&method.sig) {
        hidden.push(quote! {
            #[doc(hidden)]
            fn #ask(&self) -> #root::Callee<#marker<Self #(, #arguments)*>> where Self: Sized { #root::Callee::new() }
        });
    }
    hidden.push(quote! {
        #[doc(hidden)]
        fn #path() -> #root::Callee<#marker<Self #(, #arguments)*>> where Self: Sized { #root::Callee::new() }
    });
    let hidden = hidden.into_iter().map(syn::parse2).collect::<syn::Result<Vec<TraitItem>>>()?;
    let mut generics = item.generics.clone();
    generics.params.push(syn::parse_quote!(__S: #trait_name #trait_generics + #root::DeviceType));
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let params = item.generics.params.iter().map(|param| match param {
        syn::GenericParam::Const(param) => {
            let (name, ty) = (&param.ident, &param.ty);
            quote!(const #name: #ty)
        }
        other => argument(other),
    });
    let used = item.generics.type_params().map(|param| &param.ident);
    let beside = quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #marker<__S #(, #params)*>(::core::marker::PhantomData<fn() -> (__S, #(#used,)*)>);

        impl #impl_generics #root::DeviceFn for #marker<__S #(, #arguments)*> #where_clause {
            type Args = #root::Untied;
            type Output = #root::Untied;
            fn instance() -> #root::Instance {
                #root::Instance {
                    body: #root::Body::Captured(
                        <__S as #trait_name #trait_generics>::#definition(),
                        <__S as #trait_name #trait_generics>::#harvest,
                    ),
                    generics: ::std::vec![#root::GenericArg::Of(::core::any::type_name::<Self>())],
                }
            }
        }
    };
    Ok((hidden, beside))
}

/// A generic parameter as an argument.
fn argument(param: &syn::GenericParam) -> TokenStream {
    match param {
        syn::GenericParam::Type(param) => param.ident.to_token_stream(),
        syn::GenericParam::Const(param) => param.ident.to_token_stream(),
        syn::GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
    }
}

/// A function with a `where` clause.
fn bounded(function: TokenStream, bound: &TokenStream) -> syn::Result<TokenStream> {
    let mut function: ImplItemFn = syn::parse2(function)?;
    function.sig.generics.where_clause = Some(syn::parse2(bound.clone())?);
    Ok(function.to_token_stream())
}

/// `#[device] impl Add for Type`: an operator that the struct lists.
fn overloaded(root: &TokenStream, options: &Options, item: &ItemImpl, name: &str) -> syn::Result<TokenStream> {
    let Some(method) = methods(item).next() else {
        return Err(syn::Error::new(item.self_ty.span(), "an operator's `impl` has its method"));
    };
    let this = &item.self_ty;
    let right = right_operand(item);
    let mut signature = Signature::new(&method.sig, Role::Method)?;
    // `Self::Output` is the `impl`'s own
    let output = item.items.iter().find_map(|item| match item {
        ImplItem::Type(ty) if ty.ident == "Output" => Some(ty.ty.clone()),
        _ => None,
    });
    let mut sig = method.sig.clone();
    if let (Some(output), syn::ReturnType::Type(arrow, _)) = (&output, &method.sig.output) {
        signature.result = output.clone();
        sig.output = syn::ReturnType::Type(*arrow, Box::new(output.clone()));
    }
    let names = ["definition", "harvest"].map(|name| Ident::new(name, Span::call_site()));
    let Body { definition, harvest } = body(root, options, &sig, &method.block, &signature, names)?;
    let (impl_generics, _, where_clause) = item.generics.split_for_impl();
    let tag = Ident::new(name, Span::call_site());
    Ok(quote! {
        impl #impl_generics #root::DeviceOperator<#root::operators::#tag, #right> for #this #where_clause {
            #definition
            #harvest
        }
    })
}

/// The right operand's type of an operator's `impl`; the type itself where none is written.
fn right_operand(item: &ItemImpl) -> TokenStream {
    let arguments = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last()).map(|last| &last.arguments);
    match arguments {
        Some(syn::PathArguments::AngleBracketed(arguments)) if !arguments.args.is_empty() => {
            arguments.args[0].to_token_stream()
        }
        _ => item.self_ty.to_token_stream(),
    }
}
