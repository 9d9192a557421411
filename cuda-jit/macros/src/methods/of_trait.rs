//! `#[device]` before a trait: the hidden counterparts of its methods, and the types beside it that name them.
//!
//! # Safety
//!
//! As in [`super`]: nothing here runs `unsafe` code, and the emitted code has no tokens of the user's in its own.

use cuda_jit_syntax::owned::Options;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt as _;
use syn::{GenericParam, ItemTrait, ReturnType, TraitItem, TraitItemFn, WherePredicate};

use super::{
    Body, MARKER, Names, Owner, argument, bodies_by_name, body, declared, hidden_method, is_extension, is_path, named,
    with_outer, with_own,
};
use crate::calls::{calls_trait, is_call};
use crate::emit;
use crate::options;
use crate::signature::{Role, Signature, has_lifetime, name_impl_arguments};

/// `#[device] trait ..`
pub(crate) fn of_trait(
    root: &TokenStream,
    options: TokenStream,
    mut item: ItemTrait,
    single_expansion: bool,
) -> TokenStream {
    let is_apart = !is_extension(&options);
    bound_associated_types(root, &options, &mut item);
    // an extension of an unsized type, such as a slice
    let is_sized = is_apart || !item.supertraits.is_empty();
    let expanded = options::of_device(options).and_then(|options| {
        let mut tokens = TokenStream::new();
        let mut hidden = Vec::new();
        let methods = item.items.iter().filter_map(|item| match item {
            TraitItem::Fn(method) => Some(method.clone()),
            _ => None,
        });
        for mut method in methods.collect::<Vec<_>>() {
            name_impl_arguments(&mut method.sig);
            let is_sized = is_sized && (options.library || needs_sized(&method));
            let (items, beside) = trait_method(root, &options, (&item, is_sized), &method, single_expansion)?;
            hidden.extend(items);
            tokens.extend(beside);
        }
        if !options.library {
            let is_provided =
                item.items.iter().all(|item| !matches!(item, TraitItem::Fn(TraitItemFn { default: None, .. })));
            let end = if is_provided { quote!({ ::core::option::Option::None }) } else { quote!(;) };
            let (signature, silent) = (bodies_by_name(root), emit::silent());
            hidden.push(syn::parse_quote!(#[doc(hidden)] #silent #signature #end));
        }
        if options.library && is_apart {
            let calls = hidden.extract_if(.., is_call).collect();
            tokens.extend(calls_trait(&mut item, calls));
        }
        item.items.extend(hidden);
        Ok(tokens)
    });
    let expanded = expanded.unwrap_or_else(|error| error.to_compile_error());
    quote! {
        #[allow(dead_code, clippy::manual_is_multiple_of, clippy::multiple_bound_locations, clippy::too_many_arguments)]
        #item
        #expanded
    }
}

/// Returns true for a user's method whose hidden counterparts require a `Sized` implementor: it takes or returns values of that
/// type, or has a body for all implementors.
fn needs_sized(method: &TraitItemFn) -> bool {
    let borrows = method.sig.receiver().is_some_and(|receiver| receiver.reference.is_some());
    let mut others = method.sig.clone();
    others.inputs = others.inputs.into_iter().skip(1).collect();
    !borrows || method.default.is_some() || names_self(others.into_token_stream())
}

/// Adds the bound to the associated types of a user's trait that kernels know them, as values if the trait has constants of them:
/// then it holds wherever the trait does.
fn bound_associated_types(root: &TokenStream, options: &TokenStream, item: &mut ItemTrait) {
    if !options::of_device(options.clone()).is_ok_and(|options| !options.library) {
        return;
    }
    let constants = item.items.iter().filter_map(|item| match item {
        TraitItem::Const(constant) => Some(constant.ty.to_token_stream().to_string()),
        _ => None,
    });
    let constants: Vec<String> = constants.collect();
    for item in &mut item.items {
        if let TraitItem::Type(of) = item
            && of.generics.params.is_empty()
        {
            let name = &of.ident;
            let named = quote!(Self::#name).to_string();
            let is_constant = constants.iter().any(|ty| ty.split(&named).skip(1).any(is_end_of_name));
            let bound = if is_constant { quote!(#root::ValueType) } else { quote!(#root::DeviceType) };
            of.colon_token.get_or_insert_default();
            of.bounds.push(syn::parse_quote!(#bound));
        }
    }
}

/// Returns true if no name continues at the beginning of a text.
fn is_end_of_name(rest: &str) -> bool {
    !rest.starts_with(|char: char| char.is_alphanumeric() || char == '_')
}

/// Returns true if a trait has constants of the type that implements it.
fn has_own_constants(item: &ItemTrait) -> bool {
    item.items.iter().any(|item| match item {
        TraitItem::Const(constant) => names_self(constant.ty.to_token_stream()),
        _ => false,
    })
}

/// Returns true if tokens name the type `Self` itself.
fn names_self(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let found = match token {
            TokenTree::Ident(ident) => ident == "Self" && !tokens.peek().is_some_and(is_path),
            TokenTree::Group(group) => names_self(group.stream()),
            _ => false,
        };
        if found {
            return true;
        }
    }
    false
}

/// The hidden items of a trait's method, and the type beside the trait that names it.
fn trait_method(
    root: &TokenStream,
    options: &Options,
    (item, is_sized): (&ItemTrait, bool),
    method: &TraitItemFn,
    single_expansion: bool,
) -> syn::Result<(Vec<TraitItem>, TokenStream)> {
    let hint = "on the device this applies to one implementation: write it before the method in each `impl`";
    if !options.library {
        options::refuse_caller(&method.attrs, hint)?;
    }
    let options = &options::with_caller(options, &method.attrs);
    let signature = Signature::new(&method.sig, Role::of_method(options), single_expansion)?;
    let (name, trait_name, vis) = (&method.sig.ident, &item.ident, &item.vis);
    let marker = format_ident!("__{}_{}", trait_name, name);
    let (_, trait_generics, _) = item.generics.split_for_impl();
    let (lifetimes, outer): (Vec<_>, Vec<_>) =
        item.generics.params.iter().partition(|param| matches!(param, GenericParam::Lifetime(_)));
    let lifetimes: Vec<TokenStream> = lifetimes.into_iter().map(argument).collect();
    let arguments: Vec<TokenStream> = outer.iter().copied().map(argument).chain(signature.marker_args(root)).collect();
    let marked = quote!(#marker<#(#lifetimes,)* Self #(, #arguments)*>);
    let (definition, info) = (named("definition", name), named("probe", name));
    let path = format_ident!("__fn_{}", name);
    let own = with_outer(root, options, signature.impl_generics(root), &item.generics);
    let (mut typed, mut asking) = (own.clone(), own.clone());
    let sized: Option<WherePredicate> = is_sized.then(|| syn::parse_quote!(Self: Sized));
    // a body may name the trait's constants, which are values
    let of_device = match !options.library && method.default.is_some() && has_own_constants(item) {
        true => quote!(#root::ValueType),
        false => quote!(#root::DeviceType),
    };
    if is_sized {
        typed.make_where_clause().predicates.push(syn::parse_quote!(Self: Sized + #of_device));
    }
    asking.make_where_clause().predicates.extend(sized.clone());
    let (mut hidden, mut beside): (Vec<TokenStream>, _) = (Vec::new(), TokenStream::new());
    let written = name.unraw().to_string();
    match &method.default {
        Some(block) => {
            // An `impl` may have a function with the name of the provided method, which must not be called by the typing
            // probe.
            let provided = format_ident!("__{}_definition_{}", trait_name, name, span = Span::call_site());
            let defined = quote!(#provided());
            let names = Names { definition: provided.clone(), info: info.clone(), defined };
            let Body { definition: item, info, error } =
                body(root, options, &method.sig, block, &signature, &typed, &names);
            beside.extend([error, item]);
            hidden.push(quote! {
                #[doc(hidden)]
                fn #definition() -> &'static #root::syntax::Definition { #provided() }
            });
            hidden.push(info);
        }
        None => {
            let (own_generics, _, clause) = typed.split_for_impl();
            // a user's trait requires the marker instead
            let end = if options.library { quote!(;) } else { quote!({ #root::no_body(#written) }) };
            hidden.push(quote!(#[doc(hidden)] fn #definition() -> &'static #root::syntax::Definition #end));
            hidden.push(quote!(#[doc(hidden)] fn #info #own_generics() -> #root::ProbeResult #clause #end));
        }
    }
    let (asking_generics, _, clause) = asking.split_for_impl();
    let mut called = method.sig.clone();
    let is_unbound = options.library && leave_result_unbound(&mut called);
    let call = hidden_method(root, &called, &marked, sized.as_ref());
    let silent = emit::silent();
    hidden.push(quote!(#[doc(hidden)] #silent #call));
    hidden.push(quote! {
        #[doc(hidden)]
        fn #path #asking_generics() -> #root::Callee<#marked> #clause { #root::Callee::new() }
    });
    let hidden = hidden.into_iter().map(syn::parse2).collect::<syn::Result<Vec<TraitItem>>>()?;
    let mut generics = item.generics.clone();
    generics.params.push(match is_sized {
        true => syn::parse_quote!(__S: #trait_name #trait_generics + #of_device),
        false => syn::parse_quote!(__S: #trait_name #trait_generics + ?Sized),
    });
    let generics = with_own(&generics, &own, &quote!(__S))?;
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let params = || outer.iter().copied().chain(&signature.generics.params);
    let (params, used) = (
        params().map(declared),
        params().filter_map(|param| match param {
            GenericParam::Type(param) => Some(&param.ident),
            _ => None,
        }),
    );
    let turbofish = own.params.iter().map(argument);
    let of = quote!(<__S as #trait_name #trait_generics>);
    let captured = quote!((#of::#definition(), #of::#info::<#(#turbofish),*>));
    // an `impl` with bounds of its own on the method defines both items, however the trait declares it
    let captured = if Owner::of(options) == Owner::User && own.params.is_empty() {
        let marker = Ident::new(MARKER, Span::call_site());
        quote!(#of::#marker(#written).unwrap_or_else(|| #captured))
    } else {
        captured
    };
    let args = args_of_path(root, &method.sig);
    // the bounds that the call lacks are its error
    let recommended = (!is_unbound).then(|| quote!(#[diagnostic::do_not_recommend]));
    beside.extend(quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #marker<#(#lifetimes,)* __S: ?Sized #(, #params)*>(
            ::core::marker::PhantomData<fn(*const __S) -> (#(&#lifetimes (),)* #(#used,)*)>,
        );

        // SAFETY: the instance is the method that the type is named after, whose body rustc has type-checked: a probe
        // result names its own function.
        #recommended
        unsafe impl #impl_generics #root::DeviceFn for #marker<#(#lifetimes,)* __S #(, #arguments)*> #where_clause {
            type Args = #args;
            type Output = #root::Unconstrained;
            fn instance() -> #root::Instance {
                let (definition, probe) = #captured;
                #root::Instance {
                    body: #root::Body::Captured(definition, probe),
                    generics: ::std::vec![#root::owner_arg::<Self>()],
                }
            }
        }
    });
    Ok((hidden, beside))
}

/// Removes the bounds of a type parameter that is the whole result; returns true if there were some. A type for which they do not
/// hold is then an error of the type that names the method, and no second one of its call.
fn leave_result_unbound(sig: &mut syn::Signature) -> bool {
    let ReturnType::Type(_, result) = &sig.output else { return false };
    let is_result = |name: &Ident| **result == syn::parse_quote!(#name);
    let param = sig.generics.type_params_mut().find(|param| is_result(&param.ident));
    param.is_some_and(|param| !std::mem::take(&mut param.bounds).is_empty())
}

/// The arguments of a trait's method, for a path to it whose generic arguments rustc infers: known if there is only a receiver.
fn args_of_path(root: &TokenStream, sig: &syn::Signature) -> TokenStream {
    let returns_reference = matches!(&sig.output, ReturnType::Type(_, ty) if has_lifetime(ty));
    match sig.receiver() {
        Some(receiver) if sig.inputs.len() == 1 && receiver.colon_token.is_none() => match &receiver.reference {
            None => quote!(#root::OnlySelf<__S>),
            Some(_) if receiver.mutability.is_none() && !returns_reference => quote!(#root::OnlyRefSelf<__S>),
            Some(_) => quote!(#root::Unconstrained),
        },
        _ => quote!(#root::Unconstrained),
    }
}
