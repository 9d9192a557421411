//! `device_fn!`: a closure, or a device function, as a value that a launch passes to a kernel.
//!
//! The closure is captured at its source location, as the body of a function that takes the captured host variables. Its
//! typing probe cannot be an item, since only the host's function has the types of those variables. So the witnesses stand
//! beside the closure, and their types become part of the value's type.
//!
//! # Safety
//!
//! Nothing here runs `unsafe` code. The emitted code has some, without tokens of the user's; this macro guarantees that the
//! captured syntax is the code that rustc checks beside it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, ExprPath, Pat};

use crate::capture::{self, BindingKind, Captured};
use crate::emit;
use cuda_jit_syntax::owned::Options;

/// Expands the macro.
pub(crate) fn expand(root: &TokenStream, tokens: TokenStream) -> TokenStream {
    let in_one_place = capture::is_run(tokens.clone());
    let expanded = match syn::parse2::<Expr>(tokens) {
        Ok(Expr::Closure(written)) => closure(root, &written, in_one_place),
        Ok(Expr::Path(path)) => function(root, &path),
        Ok(other) => Err(syn::Error::new(other.span(), HINT)),
        Err(error) if error.to_string().starts_with("unexpected end") => Err(syn::Error::new(Span::call_site(), HINT)),
        Err(error) => Err(error),
    };
    expanded.unwrap_or_else(|error| error.to_compile_error())
}

const HINT: &str = "`device_fn!` takes a closure, such as `|x: f32| x * k`, or the name of a `#[device]` function";

/// A closure and its captures.
fn closure(root: &TokenStream, written: &ExprClosure, in_one_place: bool) -> syn::Result<TokenStream> {
    for param in &written.inputs {
        if !matches!(param, Pat::Type(_)) {
            let hint =
                "write the parameter's type, as in `|x: f32|`: the kernel that takes the closure is not known here";
            return Err(syn::Error::new(param.span(), hint));
        }
    }
    let (mut captured, names) = capture::capture_closure(written.clone(), in_one_place)?;
    let site = site(root, written, &mut captured);
    let host = ExprClosure { capture: Some(Default::default()), ..written.clone() };
    let held = |number: &u32| format_ident!("__held{}", number, span = Span::mixed_site());
    // all are copied before one is shadowed: two of one spelling may be one name
    let copies = names.iter().map(|(name, number)| {
        let (witness, held) = (capture::witness(*number, name.span()), held(number));
        quote_spanned!(name.span() => let #held = #witness.carry(&#name);)
    });
    let shown = names.iter().map(|(name, number)| {
        let held = held(number);
        quote_spanned!(name.span() => #[allow(unused_variables)] let (#held, #name) = #held;)
    });
    let carriers = names.iter().map(|(name, number)| {
        let witness = capture::witness(*number, name.span());
        quote!(let #witness = #root::Carrier::new();)
    });
    let carried = list(names.iter().map(|(_, number)| held(number).into_token_stream()));
    let (witnesses, saw) = (emit::witnesses(&captured), saw(root, &captured));
    let probe = &captured.probe;
    let [function, seen] = ["__host", "__told"].map(|name| Ident::new(name, Span::mixed_site()));
    let (asked, imports) = (emit::asked(root, false), captured.imports.declared(root));
    Ok(quote! {{
        #site
        #(#carriers)*
        #(#witnesses)*
        #(#copies)*
        #(#shown)*
        let #function = #host;
        #[allow(warnings, clippy::all, overflowing_literals, arithmetic_overflow, static_mut_refs, unconditional_panic)]
        let #seen = {
            use #root::hidden::*;
            use #root::{saw as __cuda_jit_saw, saw_callee as __cuda_jit_saw_callee};
            #asked
            #imports
            let _ = #probe;
            #saw
        };
        #root::DeviceClosure::new(__Site, #carried, #function, #seen)
    }})
}

/// The data that does not depend on the closure's types: an item, so that it can be named by its type alone.
fn site(root: &TokenStream, written: &ExprClosure, captured: &mut Captured) -> TokenStream {
    let (function, name) =
        (Ident::new("definition", Span::call_site()), Ident::new("closure", written.or1_token.span()));
    let definition = emit::definition(root, &function, &emit::encoded(root, &name, captured, &Options::DEFAULT));
    quote! {
        #[doc(hidden)]
        struct __Site;

        // SAFETY: `definition` returns the syntax that this macro captured, and the closure beside it has been
        // type-checked.
        unsafe impl #root::Site for __Site {
            #definition
        }
    }
}

/// The lists of the witnesses' types.
fn saw(root: &TokenStream, captured: &Captured) -> TokenStream {
    let bindings = (0u32..).zip(&captured.bindings).map(|(number, info)| {
        let witness = capture::witness(number, info.ident.span());
        match info.kind {
            BindingKind::Closure => quote!(#root::saw_closure()),
            BindingKind::Carried => quote!(#witness.saw()),
            _ => quote_spanned!(info.ident.span() => __cuda_jit_saw(#witness)),
        }
    });
    let questions = &captured.questions;
    let others = questions.seen().map(|witness| quote_spanned!(witness.span() => __cuda_jit_saw(#witness)));
    // SAFETY, of the emitted code: the witness has the type of a closure that this macro has written, which captures
    // nothing.
    let consts = questions.consts().map(|witness| quote!(unsafe { #root::saw_constant(#witness) }));
    let types = questions.types().map(|witness| quote!(#root::saw_cast(#witness)));
    // SAFETY, of the emitted code: the witness has the type of a closure that this macro has written, which captures
    // nothing but by reference.
    let patterns = questions.patterns().map(|(witness, is_path)| match is_path {
        true => quote!(unsafe { #root::saw_path(#witness) }),
        false => quote!(unsafe { #root::saw_answer(#witness) }),
    });
    let callees = questions.callees().map(|witness| quote_spanned!(witness.span() => __cuda_jit_saw_callee(#witness)));
    let [bindings, others, callees] = [list(bindings), list(others), list(callees)];
    let [consts, types, patterns] = [list(consts), list(types), list(patterns)];
    quote!((#bindings, #others, #callees, #consts, #types, #patterns))
}

/// Nested pairs, which end with `()`.
fn list(elements: impl Iterator<Item = TokenStream>) -> TokenStream {
    elements.collect::<Vec<_>>().into_iter().rev().fold(quote!(()), |rest, element| quote!((#element, #rest)))
}

/// A device function by its path.
fn function(root: &TokenStream, path: &ExprPath) -> syn::Result<TokenStream> {
    if let Some(first) = path.path.segments.first()
        && path.path.segments.len() == 2
        && capture::PRIMITIVES.iter().any(|name| first.ident == name)
    {
        let hint = format!("write a closure that calls the method, such as `|x: {}| x.abs()`", first.ident);
        return Err(syn::Error::new(path.span(), hint));
    }
    let value = format_ident!("__f", span = Span::mixed_site());
    let (alias, imports) = capture::named_alone(root, path);
    let hidden = capture::hidden(&alias);
    let called = quote_spanned!(path.span() => #hidden());
    Ok(quote! {{
        let #value = #path;
        {
            #imports
            #[allow(unused_imports)]
            use #root::{PassedCallee as _, PassedNonDevice as _};
            #called.passed(#value)
        }
    }})
}
