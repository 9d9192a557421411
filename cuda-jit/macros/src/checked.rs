//! The body as it is written, beside the typing probe: where it does not compile, rustc says no more of the probe.
//!
//! rustc checks a repeated body once more, which takes time in proportion to its length. Long ones are not repeated, and what
//! they are refused for may be said of the probe too.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::{FnArg, GenericParam, Type};

use crate::signature::Signature;

/// Bodies of so many lines are repeated: rustc takes one to two milliseconds for such.
const MOST_LINES: usize = 20;

/// The body to repeat, of a free function, whose last token it is. A constant cannot name generic parameters; attributes within a
/// body stand in functions alone; and of `?` rustc says whether it stands in a function or in a closure.
pub(crate) fn to_repeat(signature: &Signature, written: TokenTree) -> Option<Group> {
    let TokenTree::Group(body) = written else { return None };
    let lines = body.span_close().start().line.saturating_sub(body.span_open().start().line);
    if body.delimiter() != Delimiter::Brace || lines > MOST_LINES || !signature.generics.params.is_empty() {
        return None;
    }
    let text = body.to_string();
    let has_attributes = text.trim_start_matches(['{', ' ', '\n']).starts_with("#!");
    (!has_attributes && !text.contains('?')).then_some(body)
}

/// The repeated body, in a function of an opaque type, and the constant that depends on it.
pub(crate) fn repeated(root: &TokenStream, sig: &syn::Signature, signature: &Signature) -> Option<TokenStream> {
    let body = signature.repeated.as_ref()?;
    let params = sig.inputs.iter().filter_map(|param| match param {
        FnArg::Typed(param) => {
            let (pattern, ty) = (&param.pat, &param.ty);
            Some(quote!(let #pattern: #ty = loop {};))
        }
        FnArg::Receiver(_) => None,
    });
    let lifetimes = sig.generics.params.iter().filter(|param| matches!(param, GenericParam::Lifetime(_)));
    let (result, clause) = (&signature.result, &sig.generics.where_clause);
    Some(quote! {
        fn __cuda_jit_written<#(#lifetimes),*>() -> impl ::core::marker::Sized #clause {
            || -> #result {
                #(#params)*
                #body
            };
        }
        const __CUDA_JIT_ERRORS: usize = #root::checked::errors(__cuda_jit_written);
        fn __cuda_jit_same<T>(value: T) -> <T as #root::checked::Checked<__CUDA_JIT_ERRORS>>::Same {
            #root::checked::same(value)
        }
    })
}

/// The type of a parameter in the probe, which depends on the constant where the body is repeated.
pub(crate) fn checked(root: &TokenStream, signature: &Signature, ty: Type) -> Type {
    match signature.repeated {
        Some(_) => syn::parse_quote!(<#ty as #root::checked::Checked<__CUDA_JIT_ERRORS>>::Same),
        None => ty,
    }
}
