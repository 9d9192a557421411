//! The body as it is written, beside the typing probe: where it does not compile, rustc says no more of the probe.

use proc_macro2::TokenStream;
use quote::quote;

use crate::capture::Captured;
use crate::emit::probe_closure;
use crate::signature::Signature;

/// The repeated body and the constant, where the probe may be refused for what the body is refused for. A body within
/// a generic function or `impl` is not repeated: a constant cannot name its parameters.
pub(crate) fn repeated(
    root: &TokenStream,
    sig: &syn::Signature,
    signature: &Signature,
    captured: &Captured,
) -> TokenStream {
    let Some(written) = captured.asked_as_written() else {
        return quote!(use #root::checked::unchecked as __cuda_jit_same;);
    };
    let closure = probe_closure(sig, signature, written, |ty| ty);
    quote! {
        fn __cuda_jit_written() -> impl ::core::marker::Sized {
            #closure
        }
        const __CUDA_JIT_ERRORS: usize = #root::checked::errors(__cuda_jit_written);
        fn __cuda_jit_same<T>(value: T) -> <T as #root::checked::Checked<__CUDA_JIT_ERRORS>>::Same {
            #root::checked::same(value)
        }
    }
}
