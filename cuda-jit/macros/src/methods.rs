//! `#[device]` before an `impl` or a trait: each method gets hidden counterparts, by which kernels name it.
//!
//! A kernel's probe calls `__call_f` instead of `f`: it takes the same arguments, so that rustc's own resolution and
//! inference select the method and its generic arguments. `__fn_f()` names the method by path. A trait provides all of
//! them. An `impl` of it defines one function more, which returns the captured bodies and typing probes of its methods, and
//! whose name tells the user to add the attribute where either lacks it. A method with generic parameters of its own has
//! `__definition_f` and `__probe_f` instead, as the methods of an `impl` without a trait have.
//!
//! # Safety
//!
//! Nothing here runs `unsafe` code. The emitted code has some, without tokens of the user's; this macro guarantees that the
//! captured syntax is the code that rustc checks beside it.

mod of_trait;

use std::borrow::Cow;

use cuda_jit_syntax::owned::Options;
use proc_macro2::{Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{ConstParam, FnArg, GenericParam, Generics, ImplItem, ImplItemFn, ItemImpl, ItemTrait, PatType};
use syn::{Receiver, ReturnType, WherePredicate};

use crate::calls::calls_impl;
use crate::capture;
use crate::checked;
use crate::emit;
use crate::iteration::{Iteration, iterated};
use crate::operators::{operator, overloaded};
use crate::options;
use crate::signature::{
    RECEIVER, Role, Signature, add_device_bounds, add_value_bounds, has_impl_arguments, has_lifetime,
    name_impl_arguments, refuse_iterators, without_lifetimes,
};
use crate::sums::{Summation, summed};
pub(crate) use of_trait::of_trait;

/// A function that a `#[device]` trait requires, and that each `#[device] impl` of it defines: by a method's name it returns
/// the captured body and typing probe of the `impl`. Its name is the text of the error if one of the attributes is missing.
const MARKER: &str = "write_device_before_trait_and_impl";

/// On the device, the standard library's iterators have types of the device library, which may contain references and closures.
const ITERATORS_ONLY_OF_FUNCTIONS: &str = "only functions and methods are generic over any iterator: name its type, or write the bound at a method; a trait of your own \
     has another name";

/// `#[device] impl ..`
pub(crate) fn of_impl(
    root: &TokenStream,
    written: TokenStream,
    mut item: ItemImpl,
    single_expansion: bool,
) -> TokenStream {
    let mut declared = TokenStream::new();
    let expanded = options::of_device(written.clone()).and_then(|options| {
        if !options.library {
            refuse_iterators(&item.generics, ITERATORS_ONLY_OF_FUNCTIONS)?;
        }
        let path = item.trait_.as_ref().map(|(_, path, _)| path);
        if path.is_some_and(|path| !is_standard(path)) && !options.library {
            add_value_bounds(root, &mut item.generics);
        }
        let named = with_named_impl_arguments(&item);
        let Some((_, path, _)) = &named.trait_ else { return inherent(root, &options, &named, single_expansion) };
        match (operator(path), Iteration::of(path), Summation::of(path)) {
            (Some(name), ..) => overloaded(root, &options, &named, &name, single_expansion),
            (None, Some(of), _) if !options.library => iterated(root, &options, &named, of, single_expansion),
            (None, _, Some(of)) if !options.library => summed(root, &options, &named, of, single_expansion),
            _ => {
                if is_extension(&written) {
                    declared = of_trait(root, quote!(extension), extension(&named, path), single_expansion);
                }
                let (items, errors) =
                    trait_items(root, &options, &named, (path, Owner::of(&options)), single_expansion)?;
                let is_library = options.library && !is_extension(&written);
                let calls = if is_library { calls_impl(&named, path) } else { TokenStream::new() };
                item.items.extend(items);
                Ok(quote!(#calls #errors))
            }
        }
    });
    let expanded = expanded.unwrap_or_else(|error| error.to_compile_error());
    quote! {
        #declared
        #[allow(dead_code, clippy::manual_is_multiple_of, clippy::multiple_bound_locations, clippy::too_many_arguments)]
        #item
        #expanded
    }
}

/// Returns true for a trait of the standard library, as its name tells.
fn is_standard(path: &syn::Path) -> bool {
    operator(path).is_some() || Iteration::of(path).is_some() || Summation::of(path).is_some()
}

/// The `impl`, with a type parameter for each `impl Trait` among the parameters' types of its methods.
fn with_named_impl_arguments(item: &ItemImpl) -> Cow<'_, ItemImpl> {
    if !methods(item).any(|method| has_impl_arguments(&method.sig)) {
        return Cow::Borrowed(item);
    }
    let mut named = item.clone();
    for item in &mut named.items {
        if let ImplItem::Fn(method) = item {
            name_impl_arguments(&mut method.sig);
        }
    }
    Cow::Owned(named)
}

/// Returns true for `#[device(extension)]`, an `impl` of the device library that declares its trait.
fn is_extension(options: &TokenStream) -> bool {
    options.clone().into_iter().any(|token| matches!(token, TokenTree::Ident(ident) if ident == "extension"))
}

/// A method's captured body and its typing probe, as two functions.
pub(crate) struct Body {
    pub(crate) definition: TokenStream,
    pub(crate) info: TokenStream,
    /// The error of a body that is refused. The functions are placeholders then, so that calls of the method are no further
    /// errors.
    pub(crate) error: TokenStream,
}

pub(crate) fn body(
    root: &TokenStream,
    options: &Options,
    sig: &syn::Signature,
    block: &syn::Block,
    signature: &Signature,
    generics: &Generics,
    Names { definition, info, defined }: &Names,
) -> Body {
    match captured(root, options, sig, block, signature) {
        Ok((encoded, captured)) => Body {
            definition: emit::definition(root, definition, &encoded),
            info: emit::probe(root, info, defined, generics, sig, signature, &captured),
            error: TokenStream::new(),
        },
        Err(error) => {
            let (impl_generics, _, clause) = generics.split_for_impl();
            Body {
                definition: quote!(fn #definition() -> &'static #root::syntax::Definition { loop {} }),
                info: quote!(fn #info #impl_generics() -> #root::ProbeResult #clause { loop {} }),
                error: error.to_compile_error(),
            }
        }
    }
}

/// A method's captured body, as a constant, and what its typing probe needs.
fn captured(
    root: &TokenStream,
    options: &Options,
    sig: &syn::Signature,
    block: &syn::Block,
    signature: &Signature,
) -> syn::Result<(TokenStream, capture::Captured)> {
    let mut block = signature.body(block.clone());
    Renamer.visit_block_mut(&mut block);
    let mut captured = capture::capture(signature, block)?;
    captured.library = options.library;
    Ok((emit::encoded(root, &sig.ident, &mut captured, options), captured))
}

/// The signature of the function [`MARKER`].
fn bodies_by_name(root: &TokenStream) -> TokenStream {
    let marker = Ident::new(MARKER, Span::call_site());
    quote!(fn #marker(method: &::core::primitive::str) -> ::core::option::Option<#root::CapturedBody>)
}

/// The crate that declares a trait.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Owner {
    /// The device library: its traits have no function [`MARKER`].
    Library,
    User,
}

impl Owner {
    /// The crate in which a trait with these options is declared.
    fn of(options: &Options) -> Self {
        if options.library { Owner::Library } else { Owner::User }
    }
}

/// Returns true if a method's body and probe are returned by name: it has no generic parameters and bounds of its own.
fn is_by_name(owner: Owner, own: &Generics) -> bool {
    owner == Owner::User
        && own.params.is_empty()
        && own.where_clause.as_ref().is_none_or(|clause| clause.predicates.is_empty())
}

/// The names of a method's captured body and its typing probe.
pub(crate) struct Names {
    pub(crate) definition: Ident,
    pub(crate) info: Ident,
    /// The expression that calls the first from within the second.
    pub(crate) defined: TokenStream,
}

/// The names of a method's two functions, as items of `of`.
fn both(method: &Ident, of: &TokenStream) -> Names {
    let (definition, info) = (named("definition", method), named("probe", method));
    let defined = quote!(#of::#definition());
    Names { definition, info, defined }
}

fn named(kind: &str, method: &Ident) -> Ident {
    format_ident!("__{}_{}", kind, method, span = Span::call_site())
}

/// Renames `self` in a body: the typing probe is a closure, which has no receiver. Items in the body have a `self` of their
/// own.
struct Renamer;

impl VisitMut for Renamer {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        if path.is_ident("self") {
            path.segments.iter_mut().for_each(|segment| rename(&mut segment.ident));
        }
        visit_mut::visit_path_mut(self, path);
    }

    fn visit_macro_mut(&mut self, call: &mut syn::Macro) {
        call.tokens = renamed(std::mem::take(&mut call.tokens));
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn rename(ident: &mut Ident) {
    if ident == "self" {
        *ident = Ident::new(RECEIVER, ident.span());
    }
}

/// Renames `self` in a macro's arguments. These are expressions, with items only in blocks. A `self` at the beginning of a
/// path is a module.
fn renamed(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut renamed = TokenStream::new();
    while let Some(mut token) = tokens.next() {
        match &mut token {
            TokenTree::Ident(ident) if !tokens.peek().is_some_and(is_path) => rename(ident),
            TokenTree::Group(group) => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), self::renamed(group.stream()));
                inner.set_span(group.span());
                *group = inner;
            }
            _ => {}
        }
        renamed.extend([token]);
    }
    renamed
}

/// Returns true for the first colon of `::`.
fn is_path(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':' && punct.spacing() == Spacing::Joint)
}

/// Types and bounds with `Self` replaced; the replacement is put in angle brackets if a path continues after it.
pub(crate) fn with_self(tokens: impl ToTokens, this: &TokenStream) -> TokenStream {
    let is_name = this.clone().into_iter().nth(1).is_none();
    let mut tokens = tokens.into_token_stream().into_iter().peekable();
    let mut replaced = TokenStream::new();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(ident) if ident == "Self" => {
                replaced.extend(if !is_name && tokens.peek().is_some_and(is_path) {
                    quote!(<#this>)
                } else {
                    this.clone()
                });
            }
            TokenTree::Group(group) => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), with_self(group.stream(), this));
                inner.set_span(group.span());
                replaced.extend([TokenTree::Group(inner)]);
            }
            other => replaced.extend([other]),
        }
    }
    replaced
}

/// The associated types of a `DeviceFn` for a method of `this`.
fn types(signature: &Signature, this: &TokenStream) -> (Vec<TokenStream>, TokenStream) {
    let args = signature
        .static_types
        .iter()
        .map(|ty| with_self(without_lifetimes(&signature.with_placeholders(ty)), this))
        .collect();
    (args, with_self(without_lifetimes(&signature.result_with_placeholders(&signature.result)), this))
}

/// The generic parameters of an `impl` or trait, followed by a method's own, which may name `Self`.
pub(crate) fn with_own(outer: &Generics, own: &Generics, this: &TokenStream) -> syn::Result<Generics> {
    let mut generics = outer.clone();
    for param in &own.params {
        generics.params.push(syn::parse2(with_self(param, this))?);
    }
    for predicate in own.where_clause.iter().flat_map(|clause| &clause.predicates) {
        generics.make_where_clause().predicates.push(syn::parse2(with_self(predicate, this))?);
    }
    Ok(generics)
}

/// The hidden method that a kernel's probe calls: it takes the same arguments, and its result has the callee as a type.
fn hidden_method(
    root: &TokenStream,
    sig: &syn::Signature,
    marker: &TokenStream,
    bound: Option<&WherePredicate>,
) -> TokenStream {
    let mut generics = sig.generics.clone();
    generics.make_where_clause().predicates.extend(bound.cloned());
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let params = sig.inputs.iter().map(|param| match param {
        FnArg::Receiver(receiver) => {
            Receiver { mutability: receiver.reference.as_ref().and(receiver.mutability), ..receiver.clone() }
                .into_token_stream()
        }
        FnArg::Typed(PatType { pat, ty, .. }) => quote_spanned!(pat.span() => _: #ty),
    });
    let name = format_ident!("__call_{}", sig.ident);
    let result = match &sig.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) => ty.to_token_stream(),
    };
    quote! {
        fn #name #impl_generics(#(#params),*) -> #root::Returned<#marker, #result> #where_clause {
            #root::Returned::new()
        }
    }
}

/// `#[device] impl Type { .. }`: a second `impl` with the hidden functions.
fn inherent(
    root: &TokenStream,
    options: &Options,
    item: &ItemImpl,
    single_expansion: bool,
) -> syn::Result<TokenStream> {
    let this = &item.self_ty;
    let of = without_lifetimes(this);
    let holds_closures = !crate::signature::closures(&item.generics).is_empty();
    let mut bounded = item.generics.clone();
    if options.library {
        add_device_bounds(root, &mut bounded);
    } else {
        add_value_bounds(root, &mut bounded);
    }
    let (mut hidden, mut bodies) = (TokenStream::new(), TokenStream::new());
    let mut names = TokenStream::new();
    for method in methods(item) {
        // a signature that is refused leaves the other methods as they are
        let mut signature = match Signature::new(&method.sig, Role::of_method(options), single_expansion) {
            Ok(signature) => signature,
            Err(error) => {
                names.extend(error.to_compile_error());
                continue;
            }
        };
        if !has_lifetime(this) && !options.library {
            let block = method.block.to_token_stream().into_iter().last();
            let of = (&**this, &item.generics);
            signature.body_copy = block.and_then(|block| checked::of_method(&signature, &method.sig.ident, block, of));
        }
        let copy = checked::written(root, &method.sig, &signature);
        let own = signature.impl_generics(root);
        let both = both(&method.sig.ident, &quote!(Self));
        let options = &options::with_caller(options, &method.attrs);
        let Body { definition, info, error } = body(root, options, &method.sig, &method.block, &signature, &own, &both);
        names.extend(error);
        let (name, vis) = (&method.sig.ident, &method.vis);
        let path = format_ident!("__fn_{}", name);
        let marker = format_ident!("__of_{}", name, span = Span::call_site());
        let marked = signature.marker_args(root);
        let (own_generics, _, own_clause) = own.split_for_impl();
        let call = hidden_method(root, &method.sig, &quote!(#marker<Self #(, #marked)*>), None);
        let path = quote! {
            #[doc(hidden)]
            #vis fn #path #own_generics() -> #root::Callee<#marker<Self #(, #marked)*>> #own_clause {
                #root::Callee::new()
            }
        };
        let call = quote!(#[doc(hidden)] #vis #call);
        hidden.extend([call, path]);
        hidden.extend(copy);
        bodies.extend([definition, info]);
        let of = quote!(#of);
        // types of the device library may contain references, and others closures, neither of which is `'static`
        let (args, output) = match options.library || holds_closures {
            true => (quote!(#root::Unconstrained), quote!(#root::Unconstrained)),
            false => {
                let (args, output) = types(&signature, &of);
                (quote!((#(#args,)*)), output)
            }
        };
        let (definition, info) = (named("definition", name), named("probe", name));
        let generics = with_own(&bounded, &own, &of)?;
        let (impl_generics, _, where_clause) = generics.split_for_impl();
        let (declared, phantom) = (signature.generics.params.iter().map(declared), signature.phantom());
        let (turbofish, arguments) = (own.params.iter().map(argument), signature.generic_args(root));
        names.extend(quote! {
            #vis struct #marker<__Of: ?Sized #(, #declared)*>(::core::marker::PhantomData<__Of>, #phantom);
            // SAFETY: the instance is the method that the type is named after, whose body rustc has type-checked.
            #[diagnostic::do_not_recommend]
            unsafe impl #impl_generics #root::DeviceFn for #marker<#this #(, #marked)*> #where_clause {
                type Args = #args;
                type Output = #output;
                fn instance() -> #root::Instance {
                    #root::Instance {
                        body: #root::Body::Captured(<#this>::#definition(), <#this>::#info::<#(#turbofish),*>),
                        generics: ::std::vec![
                            #root::owner_arg::<#this>() #(, #arguments)*
                        ],
                    }
                }
            }
        });
    }
    // the methods by which calls name a method exist for all arguments, so that errors are about its own bounds
    let (impl_generics, _, where_clause) = item.generics.split_for_impl();
    let (bounded_generics, _, bounds) = bounded.split_for_impl();
    Ok(quote! {
        #[allow(non_camel_case_types, dead_code, clippy::all)]
        const _: () = {
            #names
            impl #impl_generics #this #where_clause { #hidden }
            impl #bounded_generics #this #bounds { #bodies }
        };
    })
}

pub(crate) fn methods(item: &ItemImpl) -> impl Iterator<Item = &ImplItemFn> {
    item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    })
}

/// `#[device] impl Trait for Type { .. }`: the items that the trait requires beside each method, and the errors of bodies.
pub(crate) fn trait_items(
    root: &TokenStream,
    options: &Options,
    item: &ItemImpl,
    (path, owner): (&syn::Path, Owner),
    single_expansion: bool,
) -> syn::Result<(Vec<ImplItem>, TokenStream)> {
    let (mut items, mut by_name, mut errors) = (Vec::new(), Vec::new(), TokenStream::new());
    for method in methods(item) {
        let role = if owner == Owner::Library { Role::Library } else { Role::of_method(options) };
        let signature = Signature::new(&method.sig, role, single_expansion)?;
        let own = with_outer(root, options, signature.impl_generics(root), &item.generics);
        let options = &options::with_caller(options, &method.attrs);
        if is_by_name(owner, &own) {
            match named_body(root, options, method, &signature) {
                Ok(body) => by_name.push(body),
                Err(error) => errors.extend(error.to_compile_error()),
            }
            continue;
        }
        let names = both(&method.sig.ident, &quote!(<Self as #path>));
        let Body { definition, info, error } =
            body(root, options, &method.sig, &method.block, &signature, &own, &names);
        errors.extend(error);
        items.push(syn::parse2(definition)?);
        items.push(syn::parse2(info)?);
    }
    if owner == Owner::User {
        let (signature, silent) = (bodies_by_name(root), emit::silent());
        items.push(syn::parse_quote! {
            #[doc(hidden)]
            #silent
            #signature {
                match method {
                    #(#by_name)*
                    _ => ::core::option::Option::None,
                }
            }
        });
    }
    Ok((items, errors))
}

/// The arm of [`MARKER`]'s function for a method. The probe is a closure without captures, which may name the type of the
/// `impl` and its generic parameters, as a function within a function may not.
fn named_body(
    root: &TokenStream,
    options: &Options,
    method: &ImplItemFn,
    signature: &Signature,
) -> syn::Result<TokenStream> {
    let (encoded, captured) = captured(root, options, &method.sig, &method.block, signature)?;
    let [definition, probe] = ["__definition", "__probe"].map(|name| Ident::new(name, Span::mixed_site()));
    let defined = emit::definition(root, &definition, &encoded);
    let block = emit::probe_block(root, &quote!(#definition()), &method.sig, signature, &captured);
    let name = method.sig.ident.unraw().to_string();
    Ok(quote! {
        #name => {
            #defined
            let #probe: fn() -> #root::ProbeResult = || -> #root::ProbeResult #block;
            ::core::option::Option::Some((#definition(), #probe))
        }
    })
}

/// A library method's generics, with a device bound on the parameters of the surrounding `impl` or trait. The methods
/// themselves exist for all types, so that rustc finds them and reports the type that does not satisfy the bound.
fn with_outer(root: &TokenStream, options: &Options, mut own: Generics, outer: &Generics) -> Generics {
    if options.library {
        let clause = own.make_where_clause();
        let closures = crate::signature::closures(outer);
        let types = outer.type_params().filter(|param| closures.iter().all(|(closure, _)| *closure != param.ident));
        clause.predicates.extend(types.map(|param| -> WherePredicate {
            let name = &param.ident;
            syn::parse_quote!(#name: #root::DeviceType)
        }));
    }
    own
}

/// The trait of an extension `impl` in the device library: the signatures of its methods.
fn extension(item: &ItemImpl, path: &syn::Path) -> ItemTrait {
    let (name, generics) = (path.segments.last().map(|last| &last.ident), &item.generics);
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let (docs, signatures) = (
        docs(&item.attrs),
        methods(item).map(|method| {
            let (docs, mut sig) = (docs(&method.attrs), method.sig.clone());
            sig.inputs.iter_mut().for_each(immutable);
            quote!(#(#docs)* #sig;)
        }),
    );
    let sized = (!matches!(*item.self_ty, syn::Type::Slice(_))).then(|| quote!(: Sized));
    syn::parse_quote!(#(#docs)* pub trait #name #impl_generics #sized #where_clause { #(#signatures)* })
}

/// Removes `mut` from a parameter, since it belongs to the body.
fn immutable(param: &mut FnArg) {
    match param {
        FnArg::Receiver(receiver) if receiver.reference.is_none() => receiver.mutability = None,
        FnArg::Receiver(_) => {}
        FnArg::Typed(PatType { pat, .. }) => {
            if let syn::Pat::Ident(pat) = &mut **pat {
                pat.mutability = None;
            }
        }
    }
}

fn docs(attributes: &[syn::Attribute]) -> Vec<&syn::Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).collect()
}

/// A generic parameter as an argument.
fn argument(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
    }
}

/// A generic parameter as a struct declares it, without bounds.
pub(crate) fn declared(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Const(ConstParam { ident, ty, .. }) => quote!(const #ident: #ty),
        other => argument(other),
    }
}
