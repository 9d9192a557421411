//! What stands beside the function in the expansion: its type, the captured definition, the twin, and `launch`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Ident, ItemFn};

use crate::capture::{self, BindingKind, Captured};
use crate::options::Options;
use crate::signature::{Signature, type_check};

/// Which attribute is expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `#[kernel]`
    Kernel,
    /// `#[device]`
    Device,
}

/// Expands an attribute. The function stays as written whatever happens, so that editors keep working.
pub(crate) fn expand(kind: Kind, root: TokenStream, options: TokenStream, item: TokenStream) -> TokenStream {
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let error = error.to_compile_error();
            return quote!(#item #error);
        }
    };
    let beside = beside(kind, &root, options, &function).unwrap_or_else(|error| error.to_compile_error());
    // Kernels are launched through the type: that the host never calls the function is the usual case. The method that
    // clippy would have for `n % 2 == 0` is not one of the device language.
    quote! {
        #[allow(dead_code, clippy::manual_is_multiple_of, clippy::too_many_arguments)]
        #function
        #beside
    }
}

fn beside(kind: Kind, root: &TokenStream, options: TokenStream, function: &ItemFn) -> syn::Result<TokenStream> {
    let options = match kind {
        Kind::Kernel => syn::parse2(options)?,
        Kind::Device => Options::parse_device(options)?,
    };
    let signature = Signature::new(function, kind == Kind::Kernel)?;
    let captured = capture::capture(&signature, (*function.block).clone())?;
    let (vis, name) = (&function.vis, &function.sig.ident);
    let generics = &signature.generics;
    let (_, ty_generics, _) = generics.split_for_impl();
    let bounded = signature.impl_generics(root);
    let (impl_generics, _, where_clause) = bounded.split_for_impl();
    let definition = definition(root, function, &captured, &options);
    let twin = twin(root, function, &signature, &captured);
    let items = match kind {
        Kind::Kernel => kernel_items(root, name, &signature, &options, vis),
        Kind::Device => device_items(root, name, &signature),
    };
    let struct_generics = plain_generics(generics);
    let phantom = signature.phantom();
    let doc = match kind {
        Kind::Kernel => format!("The kernel [`{name}`](fn@{name}): launches and compiles it."),
        Kind::Device => format!("The device function [`{name}`](fn@{name}), as kernels call it."),
    };
    Ok(quote! {
        #[doc = #doc]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #name #struct_generics { __never: ::core::convert::Infallible, __generics: #phantom }

        #[allow(non_camel_case_types, dead_code)]
        impl #impl_generics #name #ty_generics #where_clause {
            #definition
            #twin
        }
        #items
    })
}

/// The generics with neither bounds nor defaults, for the struct.
fn plain_generics(generics: &syn::Generics) -> TokenStream {
    let params = generics.params.iter().map(|param| match param {
        syn::GenericParam::Type(param) => {
            let name = &param.ident;
            quote!(#name)
        }
        syn::GenericParam::Const(param) => {
            let (name, ty) = (&param.ident, &param.ty);
            quote!(const #name: #ty)
        }
        syn::GenericParam::Lifetime(param) => quote!(#param),
    });
    quote!(<#(#params),*>)
}

/// The function that yields the captured syntax.
fn definition(root: &TokenStream, function: &ItemFn, captured: &Captured, options: &Options) -> TokenStream {
    let (name, line) = (function.sig.ident.to_string(), function.sig.ident.span().start().line as u32);
    let Captured { params, body, .. } = captured;
    let options = options.constant();
    let bindings = captured.bindings.iter().map(|binding| {
        let (name, mutable, borrowed) = (binding.ident.to_string(), binding.mutable, binding.borrowed);
        quote!(s::Binding { name: #name, mutable: #mutable, borrowed: #borrowed })
    });
    quote! {
        #[doc(hidden)]
        fn __definition() -> &'static #root::syntax::Definition {
            use #root::syntax as s;
            static DEFINITION: s::Definition = s::Definition {
                name: #name,
                module: ::core::module_path!(),
                file: ::core::file!(),
                line: #line,
                params: &[#(#params),*],
                bindings: &[#(#bindings),*],
                body: #body,
                options: #options,
            };
            &DEFINITION
        }
    }
}

/// The function that holds the body with observers, and reads out what they became.
fn twin(root: &TokenStream, function: &ItemFn, signature: &Signature, captured: &Captured) -> TokenStream {
    let (params, body) = (&signature.params, &captured.twin);
    let output = &function.sig.output;
    let observers = (0u32..).zip(&captured.bindings).filter(|(_, info)| info.kind == BindingKind::Local);
    let observers = observers.map(|(number, info)| {
        let observer = capture::observer(number, info.ident.span());
        quote!(let #observer = #root::Observer::new();)
    });
    let static_types: Vec<_> = signature.static_types.iter().map(|ty| type_check(root, "ty_of", ty)).collect();
    let callees: Vec<Ident> = numbered(&captured.callees, capture::callee);
    let paths = &captured.callees;
    let bindings = (0u32..).zip(&captured.bindings).map(|(number, info)| {
        let observer = capture::observer(number, info.ident.span());
        match info.kind {
            BindingKind::Param(index) => {
                let ty = &static_types[index];
                quote!(::core::option::Option::Some(#ty))
            }
            BindingKind::Local => quote!(::core::option::Option::Some(#observer.ty())),
            BindingKind::Closure => quote!(::core::option::Option::None),
        }
    });
    let result = type_check(root, "result_of", &signature.result);
    let Captured { consts, types, arrays, items, .. } = captured;
    let arrays = arrays.iter().map(|ty| type_check(root, "array_of", ty));
    let types = types.iter().map(|ty| type_check(root, "scalar_of", ty));
    quote! {
        #[doc(hidden)]
        #[allow(warnings, clippy::all, overflowing_literals, arithmetic_overflow, unconditional_panic)]
        fn __harvest() -> #root::Harvest {
            #(#items)*
            #(#observers)*
            #(let #callees = #paths::__callee();)*
            let __twin = |#(#params),*| #output #body;
            #root::Harvest {
                params: ::std::vec![#(#static_types),*],
                result: #result,
                bindings: ::std::vec![#(#bindings),*],
                consts: ::std::vec![#(#root::const_of(#consts)),*],
                callees: ::std::vec![#(#callees.instance()),*],
                types: ::std::vec![#(#types),*],
                arrays: ::std::vec![#(#arrays),*],
            }
        }
    }
}

fn numbered(paths: &[syn::Path], name: impl Fn(u32, Span) -> Ident) -> Vec<Ident> {
    use syn::spanned::Spanned;
    (0u32..).zip(paths).map(|(number, path)| name(number, path.span())).collect()
}

/// `DeviceFn`, and the means for a call to name it.
fn device_items(root: &TokenStream, name: &Ident, signature: &Signature) -> TokenStream {
    let (_, ty_generics, _) = signature.generics.split_for_impl();
    let bounded = signature.impl_generics(root);
    let (impl_generics, _, where_clause) = bounded.split_for_impl();
    let types = &signature.static_types;
    let args = signature.generic_args(root);
    quote! {
        #[allow(non_camel_case_types, dead_code)]
        impl #impl_generics #name #ty_generics #where_clause {
            #[doc(hidden)]
            pub fn __callee() -> #root::Callee<Self> {
                #root::Callee::new()
            }
        }

        impl #impl_generics #root::DeviceFn for #name #ty_generics #where_clause {
            type Args = (#(#types,)*);
            fn instance() -> #root::Instance {
                #root::Instance {
                    body: #root::Body::Captured(Self::__definition(), Self::__harvest),
                    generics: ::std::vec![#(#args),*],
                }
            }
        }
    }
}

/// `Kernel`, `launch` and its kin.
fn kernel_items(
    root: &TokenStream,
    name: &Ident,
    signature: &Signature,
    options: &Options,
    vis: &syn::Visibility,
) -> TokenStream {
    let (_, ty_generics, _) = signature.generics.split_for_impl();
    let bounded = signature.impl_generics(root);
    let (impl_generics, _, where_clause) = bounded.split_for_impl();
    let types = &signature.static_types;
    let args = signature.generic_args(root);
    let launches = launches(root, signature, options, vis);
    quote! {
        impl #impl_generics #root::Kernel for #name #ty_generics #where_clause {
            type Params = (#(#types,)*);
            fn definition() -> &'static #root::syntax::Definition {
                Self::__definition()
            }
            fn instance() -> #root::Instance {
                #root::Instance {
                    body: #root::Body::Captured(Self::__definition(), Self::__harvest),
                    generics: ::std::vec![#(#args),*],
                }
            }
            fn cache() -> &'static #root::KernelCache {
                static CACHE: #root::KernelCache = #root::KernelCache::new();
                &CACHE
            }
        }

        #[allow(non_camel_case_types, dead_code, clippy::too_many_arguments)]
        impl #impl_generics #name #ty_generics #where_clause {
            #launches

            /// Compiles the kernel to PTX for a compute capability, such as `(9, 0)` or `"9.0a"`. Needs no device.
            ///
            /// # Errors
            ///
            /// If the compute capability is unknown, or the kernel does not compile.
            #vis fn compile_ptx(
                cc: impl ::core::convert::TryInto<
                    #root::ComputeCapability, Error: ::core::convert::Into<#root::Error>,
                >,
            ) -> #root::Result<::std::string::String> {
                #root::compile_ptx::<Self>(cc)
            }

            /// Compiles and loads the kernel for the current device, and tells what it uses.
            ///
            /// # Errors
            ///
            /// If there is no current device, or the kernel does not compile or load.
            #vis fn compile() -> #root::Result<#root::CompiledKernel> {
                #root::compile_for::<Self>(#root::current_context)
            }
        }
    }
}

/// `launch` and `forall`; both are `unsafe` for an unchecked kernel.
fn launches(root: &TokenStream, signature: &Signature, options: &Options, vis: &syn::Visibility) -> TokenStream {
    let (names, types) = (&signature.names, &signature.static_types);
    let args = quote!(#(#names: impl #root::KernelArg<#types>),*);
    let config = Ident::new("config", Span::mixed_site());
    let count = format_ident!("count", span = Span::mixed_site());
    let (unsafety, safety) = if options.unchecked {
        let text = "\n# Safety\n\nIndices are not checked: every index that the kernel uses must be within its slice.";
        (quote!(unsafe), quote!(#[doc = #text]))
    } else {
        (quote!(), quote!())
    };
    quote! {
        /// Launches the kernel: `(grid, block)`, `(grid, block, &stream)`, `(grid, block, &stream, shared bytes)` or
        /// a `LaunchConfig`, then the kernel's own parameters.
        ///
        /// # Errors
        ///
        /// If the configuration is beyond the device's limits, the kernel does not compile, or the driver fails.
        /// Nothing is launched then.
        #safety
        #[track_caller]
        #vis #unsafety fn launch(
            #config: impl ::core::convert::Into<#root::LaunchConfig>, #args
        ) -> #root::Result<()> {
            #root::launch::<Self, _>(#root::current_context, &#config.into(), (#(#names,)*))
        }

        /// Launches the kernel for at least so many threads in one dimension; the device's occupancy chooses the
        /// block. Does nothing for zero.
        ///
        /// # Errors
        ///
        /// As for `launch`.
        #safety
        #[track_caller]
        #vis #unsafety fn forall(#count: usize, #args) -> #root::Result<()> {
            #root::forall::<Self, _>(#root::current_context, #count, (#(#names,)*))
        }
    }
}
