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
    let single_expansion = capture::is_run(tokens.clone());
    let expanded = match syn::parse2::<Expr>(tokens) {
        Ok(Expr::Closure(written)) => closure(root, &written, single_expansion),
        Ok(Expr::Path(path)) => function(root, &path),
        Ok(other) => Err(syn::Error::new(other.span(), HINT)),
        Err(error) if error.to_string().starts_with("unexpected end") => Err(syn::Error::new(Span::call_site(), HINT)),
        Err(error) => Err(error),
    };
    expanded.unwrap_or_else(|error| error.to_compile_error())
}

const HINT: &str = "`device_fn!` takes a closure, such as `|x: f32| x * k`, or the name of a `#[device]` function";

/// A closure and its captures.
fn closure(root: &TokenStream, written: &ExprClosure, single_expansion: bool) -> syn::Result<TokenStream> {
    for param in &written.inputs {
        if !matches!(param, Pat::Type(_)) {
            let hint = "write the parameter's type, as in `|x: f32|`: it cannot be inferred from a kernel";
            return Err(syn::Error::new(param.span(), hint));
        }
    }
    let (mut captured, names) = capture::capture_closure(written.clone(), single_expansion)?;
    let site = site(root, written, &mut captured);
    let host = ExprClosure { capture: Some(Default::default()), ..written.clone() };
    let capture = |number: &u32| format_ident!("__capture{}", number, span = Span::mixed_site());
    // all are copied before one is shadowed: two of one spelling may be one name
    let copies = names.iter().map(|(name, number)| {
        let (witness, capture) = (capture::witness(*number, name.span()), capture(number));
        quote_spanned!(name.span() => let #capture = #witness.capture(&#name);)
    });
    let shadowed = names.iter().map(|(name, number)| {
        let capture = capture(number);
        quote_spanned!(name.span() => #[allow(unused_variables)] let (#capture, #name) = #capture;)
    });
    let carriers = names.iter().map(|(name, number)| {
        let witness = capture::witness(*number, name.span());
        quote!(let #witness = #root::CaptureWitness::new();)
    });
    let captures = list(names.iter().map(|(_, number)| capture(number).into_token_stream()));
    let (witnesses, types) = (emit::witnesses(&captured), witness_types(root, &captured));
    let probe = &captured.probe;
    let [function, reported] = ["__host", "__reported"].map(|name| Ident::new(name, Span::mixed_site()));
    let (probe_imports, imports) = (emit::probe_imports(root, false), captured.imports.declared(root));
    let silent = emit::silent();
    Ok(quote! {{
        #site
        #(#carriers)*
        #(#witnesses)*
        #(#copies)*
        #(#shadowed)*
        let #function = #host;
        #silent
        let #reported = {
            use #root::{witness_callee as __cuda_jit_witness_callee, witness_type as __cuda_jit_witness_type};
            #probe_imports
            #imports
            let _ = #probe;
            #types
        };
        #root::DeviceClosure::new(__Site, #captures, #function, #reported)
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
fn witness_types(root: &TokenStream, captured: &Captured) -> TokenStream {
    let bindings = (0u32..).zip(&captured.bindings).map(|(number, info)| {
        let witness = capture::witness(number, info.ident.span());
        match info.kind {
            BindingKind::Closure => quote!(#root::witness_closure()),
            BindingKind::HostCapture => quote!(#witness.witness_type()),
            _ => quote_spanned!(info.ident.span() => __cuda_jit_witness_type(#witness)),
        }
    });
    let queries = &captured.queries;
    let others =
        queries.type_witnesses().map(|witness| quote_spanned!(witness.span() => __cuda_jit_witness_type(#witness)));
    // SAFETY, of the emitted code: the witness has the type of a closure that this macro has written, which captures
    // nothing.
    let consts = queries.consts().map(|witness| quote!(unsafe { #root::witness_constant(#witness) }));
    let types = queries.types().map(|witness| quote!(#root::witness_cast(#witness)));
    // SAFETY, of the emitted code: the witness has the type of a closure that this macro has written, which captures
    // nothing but by reference.
    let patterns = queries.patterns().map(|(witness, is_path)| match is_path {
        true => quote!(unsafe { #root::witness_path(#witness) }),
        false => quote!(unsafe { #root::witness_answer(#witness) }),
    });
    let callees =
        queries.callees().map(|witness| quote_spanned!(witness.span() => __cuda_jit_witness_callee(#witness)));
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
