//! The `#[kernel]` and `#[device]` attributes of cuda-jit, and `#[derive(DeviceType)]`.
//!
//! Each attribute leaves the item as written. For a function, it adds a type of the same name with the captured syntax, a
//! typing probe of the body that reports rustc's types, and, for kernels, `launch`, `forall` and the functions that
//! compile. For an `impl` or trait, it adds hidden functions beside the methods. Constructs outside the kernel language are
//! refused here, with a span and a hint; nothing is typed or evaluated here.
#![forbid(unsafe_code)]

mod bundle;
mod calls;
mod capture;
mod checked;
mod configured;
mod derive;
mod device_fn;
mod emit;
mod format;
mod iteration;
mod methods;
mod operators;
mod options;
mod signature;
mod stack;
mod standard;
mod sums;

use proc_macro::TokenStream;
use quote::quote;

/// Declares a function as a kernel; see `cuda_jit`'s documentation.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    stack::expand(item, |item| {
        configured::expand(emit::Kind::Kernel, quote!(cuda_jit::__private), options.clone().into(), item)
    })
}

/// Makes a function, the methods of an `impl`, or those of a trait callable from kernels; see `cuda_jit`'s documentation.
#[proc_macro_attribute]
pub fn device(options: TokenStream, item: TokenStream) -> TokenStream {
    stack::expand(item, |item| {
        configured::expand(emit::Kind::Device, quote!(cuda_jit::__private), options.clone().into(), item)
    })
}

/// Makes a struct or enum a type of the device language; see `cuda_jit`'s documentation.
#[proc_macro_derive(DeviceType, attributes(operators, derived, default, from_repr, device_type))]
pub fn device_type(input: TokenStream) -> TokenStream {
    stack::expand(input, |input| derive::expand(&quote!(cuda_jit::__private), input))
}

/// Creates the value by which a launch passes a closure or device function to a kernel; see `cuda_jit`'s documentation.
#[proc_macro]
pub fn device_fn(tokens: TokenStream) -> TokenStream {
    stack::expand(tokens, |tokens| options::in_crate(quote!(cuda_jit::__private), tokens, device_fn::expand))
}

/// Prints from kernels; see `cuda_jit`'s documentation.
#[proc_macro]
pub fn printf(tokens: TokenStream) -> TokenStream {
    stack::expand(tokens, |tokens| options::in_crate(quote!(cuda_jit::__private), tokens, format::expand))
}

/// Embeds a bundle of compiled kernels; see `cuda_jit`'s documentation.
#[proc_macro]
pub fn embed_kernels(tokens: TokenStream) -> TokenStream {
    stack::expand(tokens, |tokens| options::in_crate(quote!(cuda_jit::__private), tokens, bundle::expand))
}

/// [`macro@embed_kernels`] for programs that depend on `cuda_prelude` alone.
#[proc_macro]
pub fn prelude_embed_kernels(tokens: TokenStream) -> TokenStream {
    stack::expand(tokens, |tokens| options::in_crate(quote!(cuda_prelude::__private), tokens, bundle::expand))
}

/// [`macro@kernel`] for programs that depend on `cuda_prelude` alone.
#[proc_macro_attribute]
pub fn prelude_kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    stack::expand(item, |item| {
        configured::expand(emit::Kind::Kernel, quote!(cuda_prelude::__private), options.clone().into(), item)
    })
}

/// [`macro@device`] for programs that depend on `cuda_prelude` alone.
#[proc_macro_attribute]
pub fn prelude_device(options: TokenStream, item: TokenStream) -> TokenStream {
    stack::expand(item, |item| {
        configured::expand(emit::Kind::Device, quote!(cuda_prelude::__private), options.clone().into(), item)
    })
}

/// [`macro@DeviceType`] for programs that depend on `cuda_prelude` alone.
#[proc_macro_derive(PreludeDeviceType, attributes(operators, derived, default, from_repr, device_type))]
pub fn prelude_device_type(input: TokenStream) -> TokenStream {
    stack::expand(input, |input| derive::expand(&quote!(cuda_prelude::__private), input))
}

/// [`macro@device_fn`] for programs that depend on `cuda_prelude` alone.
#[proc_macro]
pub fn prelude_device_fn(tokens: TokenStream) -> TokenStream {
    stack::expand(tokens, |tokens| options::in_crate(quote!(cuda_prelude::__private), tokens, device_fn::expand))
}

/// [`macro@printf`] for programs that depend on `cuda_prelude` alone.
#[proc_macro]
pub fn prelude_printf(tokens: TokenStream) -> TokenStream {
    stack::expand(tokens, |tokens| options::in_crate(quote!(cuda_prelude::__private), tokens, format::expand))
}

/// Expands an item that rustc has configured; for the expansions of [`macro@kernel`] and [`macro@device`].
#[doc(hidden)]
#[proc_macro_derive(Configured)]
pub fn configured(input: TokenStream) -> TokenStream {
    stack::expand(input, configured::unwrapped)
}

/// Removes an item, which [`macro@Configured`] expands elsewhere.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn unconfigured(_: TokenStream, _: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Declares hidden methods for methods that only the host has: the reason why kernels lack them, then their names, each
/// with its number of arguments; for `cuda_jit` itself.
#[doc(hidden)]
#[proc_macro]
pub fn host_methods(tokens: TokenStream) -> TokenStream {
    capture::host_methods(tokens.into()).into()
}

/// Declares the hidden methods of a trait, which typing probes call: `fn floor(self) -> Self = Floor<Self>;`, a method's
/// signature and the type of its callee; for `cuda_jit` itself.
#[doc(hidden)]
#[proc_macro]
pub fn device_methods(tokens: TokenStream) -> TokenStream {
    capture::device_methods(tokens.into()).into()
}
