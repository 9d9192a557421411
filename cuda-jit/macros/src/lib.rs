//! The `#[kernel]` and `#[device]` attributes of cuda-jit.
//!
//! Each leaves the function as written and adds a type of the same name that carries the captured syntax, a twin of
//! the body for rustc's types, and, for kernels, `launch` and its kin. What a kernel cannot do is refused here, with a
//! span and a hint; nothing is typed or evaluated here.
#![forbid(unsafe_code)]

mod capture;
mod emit;
mod options;
mod signature;

use proc_macro::TokenStream;
use quote::quote;

/// Makes a function a kernel; see `cuda_jit`'s documentation.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    emit::expand(emit::Kind::Kernel, quote!(::cuda_jit::__private), options.into(), item.into()).into()
}

/// Makes a function callable from kernels; see `cuda_jit`'s documentation.
#[proc_macro_attribute]
pub fn device(options: TokenStream, item: TokenStream) -> TokenStream {
    emit::expand(emit::Kind::Device, quote!(::cuda_jit::__private), options.into(), item.into()).into()
}

/// [`macro@kernel`] for programs that depend on `cuda_prelude` alone.
#[proc_macro_attribute]
pub fn prelude_kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    emit::expand(emit::Kind::Kernel, quote!(::cuda_prelude::__private), options.into(), item.into()).into()
}

/// [`macro@device`] for programs that depend on `cuda_prelude` alone.
#[proc_macro_attribute]
pub fn prelude_device(options: TokenStream, item: TokenStream) -> TokenStream {
    emit::expand(emit::Kind::Device, quote!(::cuda_prelude::__private), options.into(), item.into()).into()
}
