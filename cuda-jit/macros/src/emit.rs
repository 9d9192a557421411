//! Emits the items beside the function: its type, the captured definition, the typing probe, and `launch`.
//!
//! # Safety
//!
//! Nothing here runs `unsafe` code. The emitted code has some, without tokens of the user's; this macro guarantees that the
//! captured syntax is the code that rustc checks beside it.

use cuda_jit_syntax::owned;
use proc_macro2::{Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Block, Expr, Ident, ItemFn};

use crate::capture::{self, BindingInfo, BindingKind, Captured};
use crate::checked;
use crate::options;
use crate::signature::{Role, Signature, elided, name_impl_arguments, type_check, without_lifetimes};

/// The documentation of `launch`.
const LAUNCH: &str = "Launches the kernel: `(grid, block)`, `(grid, block, &stream)`, `(grid, block, &stream, shared bytes)` \
                      or a `LaunchConfig`, then the kernel's own parameters.\n\n# Errors\n\nIf the configuration is beyond the \
                      device's limits, the kernel does not compile, or the driver fails. Nothing is launched then.";
/// The documentation of `forall`.
const FORALL: &str = "Launches the kernel for at least so many threads in one dimension, given as `count`, `(count, &stream)` \
                      or `(count, &stream, shared bytes)`; the device's occupancy chooses the block. Does nothing for \
                      zero.\n\n# Errors\n\nAs for `launch`.";
/// The `# Safety` section of both for an unchecked kernel.
const SAFETY: &str =
    "\n\n# Safety\n\nIndices are not checked: every index that the kernel uses must be within its slice.";
/// The documentation of `compile_ptx`, and its errors.
const COMPILE_PTX: [&str; 2] = [
    "Compiles the kernel to PTX for a compute capability, such as `(9, 0)` or `\"9.0a\"`. Needs no device.",
    "\n\n# Errors\n\nIf the compute capability is unknown, or the kernel does not compile.",
];
/// The documentation of `compile`, and its errors.
const COMPILE: [&str; 2] = [
    "Compiles and loads the kernel for the current device, and tells what it uses.",
    "\n\n# Errors\n\nIf there is no current device, or the kernel does not compile or load.",
];

/// The attribute that is expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `#[kernel]`
    Kernel,
    /// `#[device]`
    Device,
}

/// Expands an attribute. The item stays as written, so that editors keep working, unless its body is refused.
pub(crate) fn expand(kind: Kind, root: TokenStream, options: TokenStream, item: TokenStream) -> TokenStream {
    let single_expansion = capture::is_single_expansion(&item);
    if kind == Kind::Device {
        match syn::parse2::<syn::Item>(item.clone()) {
            Ok(syn::Item::Impl(written)) => return crate::methods::of_impl(&root, options, written, single_expansion),
            Ok(syn::Item::Trait(written)) => {
                return crate::methods::of_trait(&root, options, written, single_expansion);
            }
            _ => {}
        }
    }
    let written = item.clone().into_iter().last();
    let mut function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let error = error.to_compile_error();
            return quote!(#item #error);
        }
    };
    // a launch names a kernel's type parameters
    if kind == Kind::Device {
        name_impl_arguments(&mut function.sig);
    }
    let (items, written) = match items_beside(kind, &root, options, &mut function, written, single_expansion) {
        Ok((items, Ok(written))) => (items, written.unwrap_or(item)),
        Ok((items, Err(error))) => (items, stub(function, &error.to_compile_error())),
        Err(error) => {
            let (error, unknown) = (error.to_compile_error(), refused_callee(kind, &root, &function));
            (quote!(#error #unknown), item)
        }
    };
    // Kernels are launched through the type, so that the host usually never calls the function. clippy's `is_multiple_of`
    // for `n % 2 == 0` is not in the device language; loops over indices are idiomatic there.
    quote! {
        #[allow(
            dead_code,
            clippy::manual_is_multiple_of,
            clippy::needless_range_loop,
            clippy::too_many_arguments,
        )]
        #written
        #items
    }
}

/// The type beside a device function whose signature is refused: its calls are accepted, so that they are no further errors.
fn refused_callee(kind: Kind, root: &TokenStream, function: &ItemFn) -> Option<TokenStream> {
    let (vis, name) = (&function.vis, &function.sig.ident);
    (kind == Kind::Device).then(|| {
        quote! {
            #[allow(non_camel_case_types, dead_code)]
            #vis struct #name { __never: ::core::convert::Infallible }

            #[allow(non_camel_case_types, dead_code)]
            impl #name {
                #[doc(hidden)]
                pub fn __callee() -> #root::non_device::NoFunction {
                    #root::non_device::NoFunction
                }

                #[doc(hidden)]
                pub fn __unify<F, C>(function: F, _: C, _: *const #root::NoCallee) -> F {
                    function
                }
            }
        }
    })
}

/// A function whose body is refused, without the body: rustc would only report consequential errors in it.
fn stub(mut function: ItemFn, error: &TokenStream) -> TokenStream {
    let silent = silent();
    function.attrs.push(syn::parse_quote!(#silent));
    *function.block = syn::parse_quote!({ loop {} });
    quote!(#function #error)
}

/// The items beside the function, and the function, if it is not as written, or the error if its body is refused. Takes the
/// body of `function`; `written` is the body as written.
fn items_beside(
    kind: Kind,
    root: &TokenStream,
    options: TokenStream,
    function: &mut ItemFn,
    written: Option<TokenTree>,
    single_expansion: bool,
) -> syn::Result<(TokenStream, syn::Result<Option<TokenStream>>)> {
    let (options, launch_bounds) = match kind {
        Kind::Kernel => {
            let hint = "a kernel's panics are reported at their own location, since nothing on the device calls it";
            options::refuse_caller(&function.attrs, hint)?;
            options::of_kernel(options)?
        }
        Kind::Device => (options::with_caller(&options::of_device(options)?, &function.attrs), Vec::new()),
    };
    let role = if kind == Kind::Kernel { Role::Kernel } else { Role::Function };
    let mut signature = Signature::new(&function.sig, role, single_expansion)?;
    signature.body_copy = written.filter(|_| !options.library).and_then(|written| match kind {
        Kind::Kernel => checked::kernel_body(&signature, &function.sig.ident, written),
        Kind::Device => checked::copy_of(&signature, written),
    });
    let none = Block { brace_token: function.block.brace_token, stmts: Vec::new() };
    let body = signature.body(std::mem::replace(&mut *function.block, none));
    let (vis, name) = (&function.vis, &function.sig.ident);
    let generics = &signature.generics;
    let args = signature.marker_args(root);
    let ty_generics = quote!(<#(#args),*>);
    let bounded = signature.impl_generics(root);
    let (impl_generics, _, where_clause) = bounded.split_for_impl();
    let hidden = |name: &str| Ident::new(name, Span::call_site());
    let (captured, written) = match capture::capture(&signature, body) {
        Ok(mut captured) => {
            let encoded = encoded(root, name, &mut captured, &options);
            let definition = match kind {
                Kind::Kernel => site(root, &encoded),
                Kind::Device => definition(root, &hidden("__definition"), &encoded),
            };
            let none = syn::Generics::default();
            let of = match kind {
                Kind::Kernel => quote!(Self::__site().definition()),
                Kind::Device => quote!(Self::__definition()),
            };
            let probe = probe(root, &hidden("__probe"), &of, &none, &function.sig, &signature, &captured);
            (quote!(#definition #probe), Ok(checked::kernel(function, &signature)))
        }
        // the function's name must still resolve, so that nothing but the refusal is reported
        Err(error) => (nothing(root), Err(error)),
    };
    let items = match kind {
        Kind::Kernel => kernel_items(root, name, &signature, (&options, &launch_bounds), vis),
        Kind::Device => device_items(root, name, &signature, vis),
    };
    let declared = generics.params.iter().map(crate::methods::declared);
    let phantom = signature.phantom();
    let doc = match kind {
        Kind::Kernel => format!("The kernel [`{name}`](fn@{name}): launches and compiles it."),
        Kind::Device => format!("The device function [`{name}`](fn@{name}), as kernels call it."),
    };
    let items = quote! {
        #[doc = #doc]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #name<#(#declared),*> { __never: ::core::convert::Infallible, __generics: #phantom }

        #[allow(non_camel_case_types, dead_code)]
        impl #impl_generics #name #ty_generics #where_clause {
            #captured
        }
        #items
    };
    Ok((items, written))
}

/// The placeholders for the captured syntax and the typing probe of a refused body.
fn nothing(root: &TokenStream) -> TokenStream {
    quote! {
        fn __definition() -> &'static #root::syntax::Definition {
            loop {}
        }

        fn __site() -> &'static #root::KernelSite {
            loop {}
        }

        fn __probe() -> #root::ProbeResult {
            loop {}
        }
    }
}

/// The attribute of code in which rustc shall report errors, and nothing else: the user's function beside it has the same
/// warnings. `warnings` alone leaves those that the crate denies by the name of a lint or of another group.
pub(crate) fn silent() -> TokenStream {
    quote! {
        #[allow(
            warnings, unused, nonstandard_style, rust_2018_idioms, let_underscore, trivial_casts, trivial_numeric_casts,
            unused_qualifications, unused_results, unused_lifetimes, single_use_lifetimes, overflowing_literals, arithmetic_overflow,
            static_mut_refs, unconditional_panic, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction,
        )]
    }
}

/// The function that returns the captured syntax.
pub(crate) fn definition(root: &TokenStream, function: &Ident, encoded: &TokenStream) -> TokenStream {
    quote! {
        #[doc(hidden)]
        fn #function() -> &'static #root::syntax::Definition {
            static ENCODED: #root::syntax::Encoded = #encoded;
            ENCODED.definition()
        }
    }
}

/// The function that returns a kernel's static data: one `static` item costs rustc less than two.
fn site(root: &TokenStream, encoded: &TokenStream) -> TokenStream {
    quote! {
        #[doc(hidden)]
        fn __site() -> &'static #root::KernelSite {
            static SITE: #root::KernelSite = #root::KernelSite::new(#encoded);
            &SITE
        }
    }
}

/// The captured syntax as a constant; takes it.
pub(crate) fn encoded(
    root: &TokenStream,
    name: &Ident,
    captured: &mut Captured,
    options: &owned::Options,
) -> TokenStream {
    let bindings = captured.bindings.iter().map(|binding| {
        let (mutable, by_ref) = (binding.mutable, binding.by_ref);
        let at = crate::capture::pos(binding.ident.span());
        owned::Binding {
            name: binding.ident.to_string(),
            at,
            mutable,
            by_ref,
            reported: binding.reported,
            query: binding.query,
        }
    });
    let definition = owned::Definition {
        name: name.to_string(),
        line: name.span().start().line as u32,
        params: std::mem::take(&mut captured.params),
        bindings: bindings.collect(),
        body: std::mem::replace(&mut captured.body, owned::Block { stmts: Vec::new(), tail: None }),
        ..owned::Definition::new(*options)
    };
    let code = Literal::byte_string(&cuda_jit_syntax::encode(&definition));
    let names = captured.answers.iter().map(|answers| answers.constant(root));
    // the options of the device library need a name that no other crate can use
    let library = options.library.then(|| quote!(let _ = #root::Library;));
    let encoded = quote! {
        #root::syntax::Encoded::new(
            ::core::module_path!(), ::core::file!(), ::core::cfg!(debug_assertions), #code,
        )#(.with_names(#names))*
    };
    match library {
        Some(library) => quote!({ #library #encoded }),
        None => encoded,
    }
}

/// The function with the body and its witnesses, which returns the witnesses' types for the given definition.
pub(crate) fn probe(
    root: &TokenStream,
    function: &Ident,
    definition: &TokenStream,
    generics: &syn::Generics,
    sig: &syn::Signature,
    signature: &Signature,
    captured: &Captured,
) -> TokenStream {
    let (own_generics, _, where_clause) = generics.split_for_impl();
    let (block, silent) = (probe_block(root, definition, sig, signature, captured), silent());
    quote! {
        #[doc(hidden)]
        #silent
        fn #function #own_generics() -> #root::ProbeResult #where_clause #block
    }
}

/// The block of that function.
pub(crate) fn probe_block(
    root: &TokenStream,
    definition: &TokenStream,
    sig: &syn::Signature,
    signature: &Signature,
    captured: &Captured,
) -> TokenStream {
    let witnesses = witnesses(captured);
    let queries = &captured.queries;
    let callees =
        queries.callees().map(|witness| quote_spanned!(witness.span() => __cuda_jit_resolved_callee(#witness)));
    let locals = locals(signature, captured).map(|(number, info)| {
        let witness = capture::witness(number, info.ident.span());
        quote_spanned!(info.ident.span() => __cuda_jit_type(#witness))
    });
    let params = signature.param_types(root);
    let result = type_check(root, "ty_of", &elided(&signature.result_with_placeholders(&signature.result)));
    let consts = queries.consts().map(|witness| quote_spanned!(witness.span() => __cuda_jit_evaluated(#witness)));
    let named = queries.type_witnesses().map(|witness| quote_spanned!(witness.span() => __cuda_jit_type(#witness)));
    let types = queries.types().map(|witness| quote_spanned!(witness.span() => __cuda_jit_cast_type(#witness)));
    let patterns = queries.patterns().map(|(witness, is_path)| match is_path {
        true => quote_spanned!(witness.span() => __cuda_jit_answer(#witness)),
        false => quote!(#root::pattern::answer(#witness)),
    });
    let (probe_imports, imports) = (probe_imports(root, captured.library), captured.imports.declared(root));
    let copy = checked::error_constant(root, sig, signature);
    let body = probe_closure(root, sig, signature, captured);
    let [of, answers, reported] = ["__of", "__answers", "__consts"].map(|name| Ident::new(name, Span::mixed_site()));
    // Functions, not their results: for values that are dropped, rustc would add a cleanup path to every call.
    quote! {{
            // Outside the body, none of its items can shadow this name.
            let #of = #definition;
            #copy
            {
            #probe_imports
            #imports
            #(#witnesses)*
            #body
            let #answers = #root::Answers {
                params: &[#(#params),*],
                result: #result,
                locals: #root::report(&[#(#locals),*]),
                callees: &[#(#callees),*],
                types: &[#(#types),*],
                named: &[#(#named),*],
                // SAFETY: these witnesses have the types of closures that this macro has written, which capture nothing but
                // by reference.
                patterns: &unsafe { [#(#patterns),*] },
            };
            // SAFETY: these witnesses have the types of closures that this macro has written, which capture nothing but by
            // reference.
            let #reported = unsafe { [#(#consts),*] };
            // SAFETY: this macro has captured the definition and written the probe, and no tokens of the user's are in the
            // block.
            unsafe { #root::Answers::into_result(#answers, #of, &#reported) }
            }
    }}
}

/// The names that a typing probe imports. Panics in the device library may print values that implement `Debug`.
pub(crate) fn probe_imports(root: &TokenStream, library: bool) -> TokenStream {
    let printable = library.then(|| quote!(use #root::debug_value as __cuda_jit_printable;));
    quote! {
        use #root::hidden::*;
        #printable
    }
}

/// The bindings after the parameters whose types the typing probe reports.
fn locals<'a>(signature: &Signature, captured: &'a Captured) -> impl Iterator<Item = (u32, &'a BindingInfo)> {
    (0u32..).zip(&captured.bindings).skip(signature.params.len()).filter(|(_, binding)| binding.is_reported())
}

/// The statements that declare the witnesses.
pub(crate) fn witnesses(captured: &Captured) -> impl Iterator<Item = TokenStream> {
    let has_witness = |info: &BindingInfo| info.kind == BindingKind::Local && info.is_reported();
    let locals = (0u32..).zip(&captured.bindings).filter(move |(_, info)| has_witness(info));
    let bindings = locals.map(|(number, info)| capture::witness(number, info.ident.span()));
    let queries = &captured.queries;
    let others = queries.type_witnesses().chain(queries.consts()).chain(queries.types());
    let patterns = queries.patterns().map(|(witness, _)| witness);
    bindings.chain(others).chain(patterns).chain(queries.callees()).map(|witness| capture::declared(&witness))
}

/// The parameters as the typing probe declares them.
fn probe_params(root: &TokenStream, signature: &Signature) -> impl Iterator<Item = syn::PatType> {
    signature.params.iter().map(|param| {
        let ty = checked::checked(root, signature, signature.with_placeholders(&param.ty));
        syn::PatType { ty: Box::new(ty), ..param.clone() }
    })
}

/// The body with witnesses, as a closure that is never called. If the signature names lifetimes, or the result has one, the
/// closure's type is written beside it, since a closure's own type does not relate lifetimes.
fn probe_closure(root: &TokenStream, sig: &syn::Signature, signature: &Signature, captured: &Captured) -> TokenStream {
    let mut body = capture::unreachable_block(&captured.probe);
    if captured.library {
        body = quote!({ unsafe #body });
    }
    let lifetimes: Vec<_> = sig.generics.lifetimes().collect();
    if lifetimes.is_empty() && !crate::signature::has_lifetime(&signature.result) {
        let params = probe_params(root, signature);
        let result = signature.result_with_placeholders(&signature.result);
        return quote!(let __probe = |#(#params),*| -> #result #body;);
    }
    let patterns = signature.params.iter().map(|param| &param.pat);
    let (types, result, lifetimes) = crate::signature::with_named_lifetimes(sig, signature);
    let types = types.iter().map(|ty| checked::checked_within(root, signature, signature.with_placeholders(ty)));
    let result = signature.result_with_placeholders(&result);
    quote!(let __probe: &dyn for<#(#lifetimes),*> Fn(#(#types),*) -> #result = &|#(#patterns),*| #body;)
}

/// The generic parameters without bounds: the items that name a callee exist for all arguments, so that errors are about
/// the function's own bounds.
fn without_bounds(generics: &syn::Generics) -> syn::Generics {
    let mut generics = generics.clone();
    for param in generics.type_params_mut() {
        param.bounds.clear();
    }
    generics.where_clause = None;
    generics
}

/// `DeviceFn` for the function's type, and the items by which calls name it.
fn device_items(root: &TokenStream, name: &Ident, signature: &Signature, vis: &syn::Visibility) -> TokenStream {
    let args = signature.marker_args(root);
    let ty_generics = quote!(<#(#args),*>);
    let bounded = signature.impl_generics(root);
    let (impl_generics, _, where_clause) = bounded.split_for_impl();
    let unbounded = without_bounds(&bounded);
    let types: Vec<_> =
        signature.static_types.iter().map(|ty| without_lifetimes(&signature.with_placeholders(ty))).collect();
    let unify = unify_closures(root, signature, vis);
    let output = without_lifetimes(&signature.result_with_placeholders(&signature.result));
    let args = signature.generic_args(root);
    // the call fixes the types of closures, so there are no others to unify
    let (types, output) = match signature.takes_closures() && args.is_empty() {
        true => (quote!(#root::Unconstrained), quote!(#root::Unconstrained)),
        false => (quote!((#(#types,)*)), output.to_token_stream()),
    };
    quote! {
        #[allow(non_camel_case_types, dead_code)]
        impl #unbounded #name #ty_generics {
            #[doc(hidden)]
            pub fn __callee() -> #root::Callee<Self> {
                #root::Callee::new()
            }
        }

        #[allow(non_camel_case_types, dead_code)]
        impl #impl_generics #name #ty_generics #where_clause {
            #unify

            #root::compiled_alone!(#vis,);
        }

        // SAFETY: the instance is the function beside the type, whose body rustc has type-checked.
        unsafe impl #impl_generics #root::DeviceFn for #name #ty_generics #where_clause {
            type Args = #types;
            type Output = #output;
            fn instance() -> #root::Instance {
                #root::Instance {
                    body: #root::Body::Captured(Self::__definition(), Self::__probe),
                    generics: ::std::vec![#(#args),*],
                }
            }
        }
    }
}

/// The function that unifies the generic arguments of a call whose arguments may be closures: only the call has their
/// types.
fn unify_closures(root: &TokenStream, signature: &Signature, vis: &syn::Visibility) -> TokenStream {
    if !signature.takes_closures() {
        return quote!(#root::unify! { #vis, });
    }
    let (mut names, mut closures, output) = (Vec::new(), Vec::new(), without_lifetimes(&signature.result));
    let open = |name: &Ident| format_ident!("__F_{}", name);
    let is_held = signature.holds_closures();
    let of_argument = |(index, ty): (usize, &syn::Type)| match signature.is_closure(ty) && !is_held {
        // its own type parameter, since a reference to a closure may have any lifetime
        true => {
            let name = format_ident!("__F{}", index);
            closures.extend(signature.closure_bound(ty, &name).filter(|_| !signature.is_fixed_by_types()));
            names.push(name.clone());
            quote!(#name)
        }
        false => signature.with_open_closures(ty, &open).to_token_stream(),
    };
    let args: Vec<TokenStream> = signature.static_types.iter().enumerate().map(of_argument).collect();
    if is_held {
        names.extend(signature.closure_names().map(open));
    }
    let output = signature.with_open_closures(&output, &open);
    let bounds = signature.value_bounds(&open);
    quote! {
        #[doc(hidden)]
        pub fn __unify<__V, #(#names),*>(callee: __V, _: #root::Callee<Self>, _: *const #root::ByPath<Self, __V>) -> __V
        where
            __V: #root::FnLike<(#(#args,)*), Output = #output>,
            #(#closures,)*
            #(#bounds,)*
        {
            callee
        }
    }
}

/// `Kernel`, `launch`, `forall` and the functions that compile.
fn kernel_items(
    root: &TokenStream,
    name: &Ident,
    signature: &Signature,
    (options, launch_bounds): (&owned::Options, &[Expr]),
    vis: &syn::Visibility,
) -> TokenStream {
    let (_, ty_generics, _) = signature.generics.split_for_impl();
    let bounded = signature.impl_generics(root);
    let (impl_generics, _, where_clause) = bounded.split_for_impl();
    let (types, unchecked) = (&signature.static_types, options.unchecked);
    let args = signature.generic_args(root);
    let launches = launches(root, signature, options, vis);
    let (bounds, probe) = match launch_bounds {
        [] => (None, quote!(Self::__probe)),
        written => {
            let unset = std::iter::repeat_n(quote!(0), 3 - written.len());
            let written = written
                .iter()
                .map(|bound| quote_spanned!(bound.span() => #root::launch_bound(((#bound) & !0) as i128)));
            let bounds = quote! {
                #[allow(clippy::all, trivial_numeric_casts)]
                const LAUNCH_BOUNDS: [u32; 3] = [#(#written,)* #(#unset),*];
            };
            let bounded = quote!(|| Self::__probe().with_launch_bounds(<Self as #root::Kernel>::LAUNCH_BOUNDS));
            (Some(bounds), bounded)
        }
    };
    // only a closure's value has its type
    let closures: Vec<_> = types.iter().filter(|ty| signature.is_closure(ty)).collect();
    let taken = match closures.is_empty() {
        true => "",
        false => "\n\nTakes the closures that a launch would pass, by reference: nothing else tells their types.",
    };
    let [compile_ptx, compile] = [COMPILE_PTX, COMPILE].map(|[what, errors]| format!("{what}{taken}{errors}"));
    quote! {
        // SAFETY: the site and the instance are those of the function beside the type, which rustc has type-checked with
        // these parameters.
        unsafe impl #impl_generics #root::Kernel for #name #ty_generics #where_clause {
            type Params = (#(#types,)*);
            const UNCHECKED: bool = #unchecked;
            #bounds
            fn site() -> &'static #root::KernelSite {
                Self::__site()
            }
            fn instance() -> #root::Instance {
                #root::Instance {
                    body: #root::Body::Captured(Self::__site().definition(), #probe),
                    generics: ::std::vec![#(#args),*],
                }
            }
        }

        #[allow(non_camel_case_types, dead_code, clippy::too_many_arguments)]
        impl #impl_generics #name #ty_generics #where_clause {
            #launches

            #[doc = #compile_ptx]
            #vis fn compile_ptx(
                cc: impl ::core::convert::TryInto<
                    #root::ComputeCapability, Error: ::core::convert::Into<#root::Error>,
                >,
                #(_: &impl #root::ClosureArg<Closure = #closures>),*
            ) -> #root::Result<::std::string::String> {
                #root::compile_ptx::<Self>(cc)
            }

            #[doc = #compile]
            #vis fn compile(#(_: &impl #root::ClosureArg<Closure = #closures>),*) -> #root::Result<#root::CompiledKernel> {
                #root::compile_for::<Self>(#root::current_context)
            }
        }
    }
}

/// `launch` and `forall`; both are `unsafe` for an unchecked kernel.
fn launches(root: &TokenStream, signature: &Signature, options: &owned::Options, vis: &syn::Visibility) -> TokenStream {
    let (names, types) = (&signature.names, &signature.static_types);
    let types = types.iter().map(|ty| match signature.is_closure(ty) {
        true => quote!(impl #root::ClosureArg<Closure = #ty>),
        false => quote!(impl #root::KernelArg<#ty>),
    });
    let args = quote!(#(#names: #types),*);
    let config = Ident::new("config", Span::mixed_site());
    let count = format_ident!("count", span = Span::mixed_site());
    let (unsafety, safety) = if options.unchecked { (quote!(unsafe), SAFETY) } else { (quote!(), "") };
    let packed = Ident::new("args", Span::mixed_site());
    let (launched, for_all) = if options.unchecked {
        // SAFETY, of the emitted code: the function is `unsafe`, and its caller keeps the contract that the called ones
        // state.
        (
            quote!(unsafe { #root::launch_unchecked::<Self, _>(#root::current_context, &#config, #packed) }),
            quote!(unsafe { #root::forall_unchecked::<Self, _>(#root::current_context, #count, #packed) }),
        )
    } else {
        (
            quote!(#root::launch::<Self, _>(#root::current_context, &#config, #packed)),
            quote!(#root::forall::<Self, _>(#root::current_context, #count, #packed)),
        )
    };
    let [launch, forall] = [LAUNCH, FORALL].map(|text| format!("{text}{safety}"));
    quote! {
        #[doc = #launch]
        #[track_caller]
        #vis #unsafety fn launch(
            #config: impl #root::Configuration, #args
        ) -> #root::Result<()> {
            let (#config, #packed) = (#root::Configuration::into_config(#config), (#(#names,)*));
            #launched
        }

        #[doc = #forall]
        #[track_caller]
        #vis #unsafety fn forall(#count: impl #root::Tasks, #args) -> #root::Result<()> {
            let #packed = (#(#names,)*);
            #for_all
        }
    }
}
