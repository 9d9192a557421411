//! Generates hidden methods: of methods that the device language defines, and of methods that only the host has.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{FnArg, ReturnType, Token};

/// A method's signature, and the type that represents it as a callee.
struct DeviceMethod {
    sig: syn::Signature,
    function: syn::Type,
}

impl Parse for DeviceMethod {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let sig = input.parse()?;
        input.parse::<Token![=]>()?;
        let function = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(DeviceMethod { sig, function })
    }
}

impl DeviceMethod {
    /// `__call_` and the name, for a call; `__fn_` and the name, for the method's path.
    fn hidden(&self) -> TokenStream {
        let DeviceMethod { sig, function } = self;
        let [call, path] = ["call", "fn"].map(|kind| format_ident!("__{}_{}", kind, sig.ident));
        let (generics, _, clause) = sig.generics.split_for_impl();
        let receiver = sig.receiver().into_iter();
        let params = sig.inputs.iter().filter_map(|param| match param {
            FnArg::Typed(param) => Some(&param.ty),
            FnArg::Receiver(_) => None,
        });
        let result = match &sig.output {
            ReturnType::Default => quote!(()),
            ReturnType::Type(_, ty) => quote!(#ty),
        };
        let called = quote!((#(#receiver,)* #(_: #params),*));
        quote! {
            #[doc(hidden)]
            fn #call #generics #called -> Returned<#function, #result> #clause {
                Returned::new()
            }

            #[doc(hidden)]
            fn #path #generics() -> Callee<#function> #clause {
                Callee::new()
            }
        }
    }
}

/// Expands the hidden methods of a trait, `fn name(self, arg: T) -> R = F;`, where `F` is the callee.
pub(crate) fn device_methods(tokens: TokenStream) -> TokenStream {
    let all = |input: ParseStream<'_>| {
        let mut methods = Vec::new();
        while !input.is_empty() {
            methods.push(input.parse::<DeviceMethod>()?);
        }
        Ok(methods)
    };
    match all.parse2(tokens) {
        Ok(methods) => methods.iter().map(DeviceMethod::hidden).collect(),
        Err(error) => error.to_compile_error(),
    }
}

/// Expands hidden methods that only the host has, `Why: name count name (types) ..;`, which return `HostMethod<Self, Why>`.
/// They take `count` arguments, or arguments of the given types, which may name `R`, or, for `name [A, B]`, no arguments but
/// these generic ones.
pub(crate) fn host_methods(tokens: TokenStream) -> TokenStream {
    let (mut why, mut name, mut methods) = (None, None, TokenStream::new());
    for token in tokens {
        let takes = match token {
            TokenTree::Ident(ident) if why.is_none() => {
                why = Some(ident);
                continue;
            }
            TokenTree::Ident(ident) => {
                name = Some(format_ident!("__call_{}", ident));
                continue;
            }
            TokenTree::Punct(punct) => {
                why = why.filter(|_| punct.as_char() != ';');
                continue;
            }
            TokenTree::Literal(count) => {
                let args = (0..count.to_string().parse().unwrap_or(0usize)).map(|index| format_ident!("A{}", index));
                let args: Vec<_> = args.collect();
                quote!(<#(#args),*>(&self, #(_: #args),*))
            }
            TokenTree::Group(params) if params.delimiter() == Delimiter::Bracket => {
                let params = params.stream();
                quote!(<#params>(&self))
            }
            TokenTree::Group(types) => {
                let types = types.stream();
                quote!(<R>(&self, #types))
            }
        };
        methods.extend(quote! {
            #[doc(hidden)]
            fn #name #takes -> HostMethod<Self, #why> {
                HostMethod::new()
            }
        });
    }
    methods
}
