//! The body as written in a function with an opaque return type: if it does not compile, rustc reports no errors of the
//! typing probe.
//!
//! A kernel returns nothing, so that its body itself stands in such a function, which the kernel calls. Another function has
//! a copy of its body, which rustc type-checks a second time. The copy is unreachable, so that there are no borrows to check.
//! This takes 1 to 1.5 ms for ten lines: a function of 40 lines with its copy costs as much as one of 60 without. Longer
//! bodies are not copied, and some mistakes in them are reported for the probe too.
//!
//! A constant tells the probe about errors in the body, and a constant cannot name generic parameters. The body of a
//! generic function is therefore instantiated with representatives, `u32` and `f32`, and iterators over them. If neither satisfies the bounds, the
//! probe does not learn of errors.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt as _;
use syn::visit::Visit;
use syn::{
    Attribute, ConstParam, FnArg, GenericParam, Generics, ItemFn, Lifetime, Type, TypeParamBound, WherePredicate,
};

mod tries;

use crate::methods::{declared, with_own, with_self};
use crate::signature::{Signature, has_lifetime};
use tries::with_fitted_tries;

/// The maximum number of lines of a copied body.
const MOST_LINES: usize = 40;

/// The types that type parameters are instantiated with.
const REPRESENTATIVES: [&str; 2] = ["u32", "f32"];

/// A body that stands in a function with an opaque return type.
pub(crate) struct BodyCopy {
    body: Group,
    of: Of,
}

/// The function that has a body.
enum Of {
    /// A copy within the typing probe.
    Copy,
    /// A copy in the `impl` of a method.
    Method(Box<OfMethod>),
    /// The function of this name beside a kernel, which calls it.
    Kernel(Ident),
}

/// The copy of a method's body.
struct OfMethod {
    /// The type of the `impl`.
    this: Type,
    /// The name of the copy in the `impl`.
    name: Ident,
    /// The generic parameters of the `impl`, without those of the method.
    outer: Generics,
}

/// The copy of a body, which is the last token of a function; `None` if the function has attributes within the body, a `?`
/// without an `Option`, `Result` or `ControlFlow` to return, a `return` with a value where it returns nothing, or generic
/// constants that are no numbers. Closures' bounds that name lifetimes prevent it too, since representatives have none.
pub(crate) fn copy_of(signature: &Signature, written: TokenTree) -> Option<BodyCopy> {
    let lines = |body: &Group| body.span_close().start().line.saturating_sub(body.span_open().start().line);
    body_of(signature, written).filter(|of| lines(&of.body) <= MOST_LINES)
}

/// The body of a kernel, to be moved into a function beside it. `None` as for [`copy_of`].
pub(crate) fn kernel_body(signature: &Signature, name: &Ident, written: TokenTree) -> Option<BodyCopy> {
    let beside = format_ident!("__written_{}", name.unraw().to_string().to_lowercase(), span = Span::call_site());
    let of = body_of(signature, written)?;
    Some(BodyCopy { of: Of::Kernel(beside), ..of })
}

fn body_of(signature: &Signature, written: TokenTree) -> Option<BodyCopy> {
    let TokenTree::Group(body) = written else { return None };
    let has_values = have_values(&signature.generics);
    let text = body.to_string();
    let has_attributes = text.trim_start_matches(['{', ' ', '\n']).starts_with("#!");
    let can_copy = body.delimiter() == Delimiter::Brace && has_values;
    // rustc words the error of a `?` in a function with another result otherwise for the closure that the copy is
    let has_wrong_try = text.contains('?') && !is_try(&signature.result);
    // and likewise that of a value returned from a function without a result
    let has_wrong_return = signature.returns_nothing() && returns_value(body.stream());
    let is_worded_otherwise = has_wrong_try || has_wrong_return;
    let can_copy = can_copy && !has_attributes && !is_worded_otherwise && !bounds_name_lifetimes(signature);
    can_copy.then_some(BodyCopy { body, of: Of::Copy })
}

/// Returns true for a body whose last statement ends with `;`.
fn ends_without_value(body: TokenStream) -> bool {
    let last = body.into_iter().last();
    last.is_none_or(|last| matches!(last, TokenTree::Punct(end) if end.as_char() == ';'))
}

/// Returns true if a `return` of the tokens has a value. That of a closure counts too.
fn returns_value(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let found = match token {
            TokenTree::Group(group) => returns_value(group.stream()),
            TokenTree::Ident(word) if word == "return" => tokens
                .peek()
                .is_some_and(|next| !matches!(next, TokenTree::Punct(end) if matches!(end.as_char(), ';' | ','))),
            _ => false,
        };
        if found {
            return true;
        }
    }
    false
}

/// Returns true for types named `Option`, `Result` or `ControlFlow`. If a name means another type, only the text of an error
/// differs.
fn is_try(ty: &Type) -> bool {
    let names = ["Option", "Result", "ControlFlow"];
    matches!(ty, Type::Path(ty) if ty.path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name)))
}

/// Returns true if a bound names a lifetime of the function.
fn bounds_name_lifetimes(signature: &Signature) -> bool {
    struct Finder<'a> {
        lifetimes: &'a [Lifetime],
        found: bool,
    }
    impl<'ast> Visit<'ast> for Finder<'_> {
        fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
            self.found |= self.lifetimes.contains(lifetime);
        }
    }
    let mut finder = Finder { lifetimes: &signature.lifetimes, found: false };
    finder.visit_generics(&signature.generics);
    finder.found
}

/// Returns true if each generic constant is a number, `bool` or `char`.
fn have_values(generics: &Generics) -> bool {
    generics.const_params().all(|param| value(&param.ty).is_some())
}

/// The copy of a method's body, for an `impl` of a type without lifetimes.
pub(crate) fn of_method(
    signature: &Signature,
    name: &Ident,
    body: TokenTree,
    (this, outer): (&Type, &Generics),
) -> Option<BodyCopy> {
    let name = format_ident!("__written_{}", name, span = Span::call_site());
    let copy = copy_of(signature, body).filter(|_| have_values(outer) && outer.lifetimes().next().is_none())?;
    let method = OfMethod { this: this.clone(), name, outer: outer.clone() };
    Some(BodyCopy { of: Of::Method(Box::new(method)), ..copy })
}

/// The traits that a representative satisfies. It may not satisfy others. If a name means another trait, only the text of
/// an error differs.
const SATISFIED: &[&str] = &[
    "Num",
    "Integer",
    "Float",
    "Copy",
    "Clone",
    "PartialEq",
    "PartialOrd",
    "Default",
    "DeviceType",
    "ValueType",
    "Element",
    "ElementType",
    "Shuffled",
    "AtomicNumber",
    "Fn",
    "FnMut",
    "FnOnce",
];

/// Returns true if the probe learns of errors in the copy, judged by the bounds of a generic function.
pub(crate) fn sees_copy_errors(signature: &Signature) -> bool {
    let Some(copy) = &signature.body_copy else { return false };
    let outer = if let Of::Method(method) = &copy.of { Some(&method.outer) } else { None };
    outer.into_iter().chain([&signature.generics]).all(are_satisfied)
}

/// The type parameters of a function with a copy, and `Self` in a method.
pub(crate) fn type_params(signature: &Signature) -> Vec<Ident> {
    let outer = match signature.body_copy.as_ref().map(|copy| &copy.of) {
        Some(Of::Method(method)) => Some(&method.outer),
        _ => None,
    };
    let this = outer.map(|_| Ident::new("Self", Span::call_site()));
    let generics = outer.into_iter().chain([&signature.generics]);
    generics.flat_map(Generics::type_params).map(|param| param.ident.clone()).chain(this).collect()
}

/// Returns true if the representatives satisfy all bounds.
fn are_satisfied(generics: &Generics) -> bool {
    let is_satisfied = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|last| SATISFIED.iter().any(|name| last.ident == name))
        }
        _ => true,
    };
    let of_clause =
        generics.where_clause.iter().flat_map(|clause| &clause.predicates).all(|predicate| match predicate {
            WherePredicate::Type(ty) => ty.bounds.iter().all(is_satisfied),
            _ => true,
        });
    of_clause && generics.type_params().all(|param| param.bounds.iter().all(is_satisfied))
}

/// A value of the type of a generic constant.
fn value(ty: &Type) -> Option<TokenStream> {
    let Type::Path(path) = ty else { return None };
    match path.path.get_ident()?.to_string().as_str() {
        "bool" => Some(quote!(true)),
        "char" => Some(quote!('a')),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => {
            Some(quote!(1))
        }
        _ => None,
    }
}

/// The copy, as a function with an opaque return type.
pub(crate) fn written(root: &TokenStream, sig: &syn::Signature, signature: &Signature) -> Option<TokenStream> {
    let BodyCopy { body: group, of } = signature.body_copy.as_ref()?;
    let (body, imports) = match is_try(&signature.result) {
        true => with_fitted_tries(root, group, &signature.result),
        false => (group.to_token_stream(), None),
    };
    let receiver = sig.receiver().into_iter();
    let params = sig.inputs.iter().filter_map(|param| match param {
        FnArg::Typed(param) => {
            let (pattern, ty) = (&param.pat, &param.ty);
            Some(quote!(let #pattern: #ty = loop {};))
        }
        FnArg::Receiver(_) => None,
    });
    let (generics, clause) = (&sig.generics.params, &sig.generics.where_clause);
    let result = &signature.result;
    let name = match of {
        Of::Method(method) => method.name.clone(),
        _ => Ident::new("__cuda_jit_written", Span::call_site()),
    };
    let silent = crate::emit::silent();
    // a closure that can be called again may not return a reference of a captured `&mut self`: this one moves a captured value
    let (once, called_once) = match sig.receiver() {
        Some(receiver) if receiver.mutability.is_some() && receiver.reference.is_some() => {
            let value = Ident::new("__cuda_jit_once", Span::mixed_site());
            (Some(quote!(let #value = ::core::iter::empty::<()>();)), Some(quote!(let #value = #value;)))
        }
        _ => (None, None),
    };
    let kind = once.as_ref().map(|_| quote!(move));
    // rustc words the error of a function without its value otherwise for the closure
    let tail = (!signature.returns_nothing() && ends_without_value(group.stream())).then(|| quote!(loop {}));
    // the first statement makes the rest unreachable, also of a method that takes its receiver alone: no borrow is checked twice
    Some(quote! {
        #[doc(hidden)]
        #silent
        fn #name<#generics>(#(#receiver),*) -> impl ::core::marker::Sized #clause {
            #once
            #kind || -> #result {
                #called_once
                #imports
                loop {}
                #(#params)*
                #body
                #tail
            };
        }
    })
}

/// A kernel that calls the function which has its body, and that function: it has an opaque return type, and no other
/// difference. `None` for a kernel that stays as written.
pub(crate) fn kernel(function: &ItemFn, signature: &Signature) -> Option<TokenStream> {
    let Some(BodyCopy { body, of: Of::Kernel(beside) }) = &signature.body_copy else { return None };
    let ItemFn { attrs, vis, sig, .. } = function;
    // lints are about the body, which is unknown to the kernel itself
    let is_lint = |attribute: &&Attribute| LINTS.iter().any(|lint| attribute.path().is_ident(lint));
    let (lints, attrs): (Vec<_>, Vec<_>) = attrs.iter().partition(is_lint);
    let allowed = lints.iter().filter(|attribute| !attribute.path().is_ident("expect"));
    let mut outer = sig.clone();
    for (param, name) in outer.inputs.iter_mut().zip(&signature.names) {
        if let FnArg::Typed(param) = param {
            param.attrs.clear();
            *param.pat = syn::parse_quote!(#name);
        }
    }
    let (generics, clause, inputs) = (&sig.generics.params, &sig.generics.where_clause, &sig.inputs);
    let (_, own_generics, _) = signature.generics.split_for_impl();
    let (turbofish, names) = (own_generics.as_turbofish(), &signature.names);
    let captured = signature.generics.params.iter().map(|param| match param {
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
    });
    Some(quote! {
        #(#attrs)*
        #(#allowed)*
        #vis #outer {
            let _ = #beside #turbofish(#(#names),*);
        }

        #[allow(
            dead_code,
            clippy::manual_is_multiple_of,
            clippy::needless_range_loop,
            clippy::too_many_arguments,
        )]
        #(#lints)*
        #[doc(hidden)]
        fn #beside<#generics>(#inputs) -> impl ::core::marker::Sized + use<#(#captured),*> #clause {
            #body
            // the type of the body is `()`, as that of a kernel
            #[allow(unreachable_code)]
            let () = ();
        }
    })
}

/// The attributes that set lints.
const LINTS: [&str; 5] = ["allow", "expect", "warn", "deny", "forbid"];

/// The constant that depends on the body, and the copy itself unless it is a method's.
pub(crate) fn error_constant(root: &TokenStream, sig: &syn::Signature, signature: &Signature) -> Option<TokenStream> {
    let BodyCopy { of, .. } = signature.body_copy.as_ref()?;
    let errors = match sig.receiver() {
        Some(_) => quote!(#root::checked::errors_of_method),
        None => quote!(#root::checked::errors),
    };
    let (copy, path, errors) = match of {
        Of::Method(method) => {
            let OfMethod { this, name, .. } = &**method;
            (None, quote!(<#this>::#name), errors)
        }
        Of::Copy => (written(root, sig, signature), quote!(__cuda_jit_written), errors),
        Of::Kernel(beside) => {
            let params: Vec<_> = (0..sig.inputs.len()).map(|index| format_ident!("A{}", index)).collect();
            let size = quote! {
                const fn __cuda_jit_size<#(#params,)* R>(_: fn(#(#params),*) -> R) -> usize {
                    ::core::mem::size_of::<R>()
                }
            };
            (Some(size), quote!(#beside), quote!(__cuda_jit_size))
        }
    };
    let generics = all_generics(of, signature);
    let errors = match generics.params.is_empty() {
        true => quote!(#errors(#path)),
        // what another type's associated type is depends on the type: its errors are those of the probe
        false if signature.closures_name_associated_types() => quote!(0),
        false => of_representatives(root, signature, &generics, (of, &errors, &path)),
    };
    Some(quote! {
        #copy
        const __CUDA_JIT_ERRORS: usize = #errors;
        type __cuda_jit_Same<T> = <T as #root::checked::Checked<__CUDA_JIT_ERRORS>>::Same;
        fn __cuda_jit_same<T>(value: T) -> <T as #root::checked::Checked<__CUDA_JIT_ERRORS>>::Same {
            #root::checked::same(value)
        }
    })
}

/// The generic parameters that the copy may name: those of the `impl`, followed by the function's own.
fn all_generics(of: &Of, signature: &Signature) -> Generics {
    let Of::Method(method) = of else { return signature.generics.clone() };
    let OfMethod { this, outer, .. } = &**method;
    // a bound that cannot be read without `Self` leaves the probe without the constant's errors
    with_own(outer, &signature.generics, &this.to_token_stream()).unwrap_or_else(|_| outer.clone())
}

/// The constant of a generic function: an associated constant of each representative, which exists if the representative
/// satisfies the bounds; otherwise the trait's constant is found.
fn of_representatives(
    root: &TokenStream,
    signature: &Signature,
    generics: &Generics,
    (of, errors, path): (&Of, &TokenStream, &TokenStream),
) -> TokenStream {
    let (impl_generics, ty_generics, clause) = generics.split_for_impl();
    let (_, own_generics, _) = signature.generics.split_for_impl();
    let turbofish = own_generics.as_turbofish();
    let declared = generics.params.iter().map(declared);
    let types = generics.type_params().map(|param| &param.ident);
    let phantom = quote!(::core::marker::PhantomData<fn() -> (#(#types,)*)>);
    // closures are function pointers, whose types may name the other parameters
    let open =
        generics.type_params().filter(|param| signature.closure(&param.ident).is_none()).map(|param| &param.ident);
    let open: Vec<_> = open.collect();
    let args = generics.params.iter().map(|param| match param {
        GenericParam::Type(param) => match signature.closure(&param.ident) {
            Some(pointer) => match of {
                Of::Method(method) => with_self(pointer, &method.this.to_token_stream()),
                _ => quote!(#pointer),
            },
            None => {
                let name = &param.ident;
                quote!(#name)
            }
        },
        GenericParam::Const(param) => param.ident.to_token_stream(),
        GenericParam::Lifetime(param) => quote!(#param),
    });
    let consts: Vec<_> = generics.const_params().collect();
    let values: Vec<_> = consts.iter().map(|param| value(&param.ty).unwrap_or_default()).collect();
    let consts = consts.into_iter().map(|ConstParam { ident, ty, .. }| quote!(const #ident: #ty));
    let representatives = match open.is_empty() {
        true => &REPRESENTATIVES[..1],
        false => &REPRESENTATIVES[..],
    };
    let all = representatives.iter().map(|name| {
        let name = Ident::new(name, Span::call_site());
        let types = open.iter().map(|param| match signature.is_iterator(param) {
            true => quote!(::core::iter::Empty<::core::primitive::#name>),
            false => quote!(::core::primitive::#name),
        });
        quote!(<__CudaJitRepresentative<#(#types,)* #(#values),*>>::ERRORS)
    });
    quote! {{
        use #root::checked::NoErrors as _;
        struct __CudaJitOf<#(#declared),*>(#phantom);
        impl #impl_generics __CudaJitOf #ty_generics #clause {
            const ERRORS: usize = #errors(#path #turbofish);
        }
        type __CudaJitRepresentative<#(#open,)* #(#consts),*> = __CudaJitOf<#(#args),*>;
        #(#all)+*
    }}
}

/// The type of a parameter in the probe, which depends on the constant if the body is copied.
pub(crate) fn checked(root: &TokenStream, signature: &Signature, ty: Type) -> Type {
    match signature.body_copy {
        Some(_) => syn::parse_quote!(<#ty as #root::checked::Checked<__CUDA_JIT_ERRORS>>::Same),
        None => ty,
    }
}

/// The same for a type that may name lifetimes, which must not be within the associated type alone: of a reference, the
/// type that it refers to depends on the constant.
pub(crate) fn checked_within(root: &TokenStream, signature: &Signature, mut ty: Type) -> Type {
    match &mut ty {
        Type::Reference(reference) if !has_lifetime(&reference.elem) => {
            let of = std::mem::replace(&mut *reference.elem, Type::Verbatim(TokenStream::new()));
            *reference.elem = checked(root, signature, of);
            ty
        }
        ty if has_lifetime(ty) => ty.clone(),
        _ => checked(root, signature, ty),
    }
}
