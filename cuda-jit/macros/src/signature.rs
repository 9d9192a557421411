//! What the generated items need of the function's signature: generics, parameter types without lifetimes, checks.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{FnArg, GenericArgument, GenericParam, Generics, Ident, ItemFn, Lifetime, Pat, PatType, ReturnType, Type};

/// So many arguments `KernelArgs` takes.
const MAX_PARAMS: usize = 12;

/// The signature, checked.
pub(crate) struct Signature {
    /// The function's generics without lifetimes.
    pub(crate) generics: Generics,
    /// The parameters as written.
    pub(crate) params: Vec<PatType>,
    /// The parameters' types, every lifetime `'static`.
    pub(crate) static_types: Vec<Type>,
    /// The parameters' names; each is a plain one.
    pub(crate) names: Vec<Ident>,
    /// The result's type; `()` if none is written.
    pub(crate) result: Type,
}

impl Signature {
    /// Reads and checks the signature of a kernel or device function.
    pub(crate) fn new(item: &ItemFn, kernel: bool) -> syn::Result<Self> {
        refuse_qualifiers(item)?;
        if kernel && item.sig.inputs.len() > MAX_PARAMS {
            let hint = format!("a kernel has at most {MAX_PARAMS} parameters");
            return Err(syn::Error::new(item.sig.inputs[MAX_PARAMS].span(), hint));
        }
        let mut params = Vec::new();
        let mut names = Vec::new();
        for input in &item.sig.inputs {
            let param = match input {
                FnArg::Typed(param) => param.clone(),
                FnArg::Receiver(receiver) => {
                    let hint = "methods cannot be kernels or device functions yet; write a free function";
                    return Err(syn::Error::new(receiver.span(), hint));
                }
            };
            names.push(name(&param)?);
            refuse_impl(&param.ty)?;
            params.push(param);
        }
        let result = match &item.sig.output {
            ReturnType::Default => syn::parse_quote!(()),
            ReturnType::Type(_, ty) => (**ty).clone(),
        };
        if let (true, ReturnType::Type(_, ty)) = (kernel, &item.sig.output) {
            let hint = "a kernel returns nothing; write its results to a `&mut [T]` parameter";
            return Err(syn::Error::new(ty.span(), hint));
        }
        let static_types = params.iter().map(|param| without_lifetimes(&param.ty)).collect();
        Ok(Self { generics: without_lifetime_params(&item.sig.generics), params, static_types, names, result })
    }

    /// The generics for an `impl`, with the bounds that the device asks of type parameters.
    pub(crate) fn impl_generics(&self, root: &TokenStream) -> Generics {
        let mut generics = self.generics.clone();
        let types: Vec<Ident> = generics.type_params().map(|param| param.ident.clone()).collect();
        let clause = generics.make_where_clause();
        for ty in types {
            clause.predicates.push(syn::parse_quote!(#ty: #root::ScalarType));
        }
        generics
    }

    /// The generic arguments as expressions of type `GenericArg`.
    pub(crate) fn generic_args(&self, root: &TokenStream) -> Vec<TokenStream> {
        let args = self.generics.params.iter().filter_map(|param| match param {
            GenericParam::Type(param) => {
                let name = &param.ident;
                Some(quote!(#root::GenericArg::Type(#root::ty_of::<#name>())))
            }
            GenericParam::Const(param) => {
                let name = &param.ident;
                Some(quote!(#root::GenericArg::Const(#root::const_of(#name).1)))
            }
            GenericParam::Lifetime(_) => None,
        });
        args.collect()
    }

    /// A type that uses every generic parameter, so that none is unused.
    pub(crate) fn phantom(&self) -> TokenStream {
        let types = self.generics.type_params().map(|param| &param.ident);
        quote!(::core::marker::PhantomData<fn() -> (#(#types,)*)>)
    }
}

fn name(param: &PatType) -> syn::Result<Ident> {
    match &*param.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Ok(pat.ident.clone()),
        other => Err(syn::Error::new(other.span(), "a parameter is a plain name here; take it apart in the body")),
    }
}

fn refuse_qualifiers(item: &ItemFn) -> syn::Result<()> {
    let sig = &item.sig;
    let refused = [
        (sig.asyncness.map(|token| token.span()), "a kernel cannot be `async`; streams make launches asynchronous"),
        (sig.abi.as_ref().map(Spanned::span), "a kernel has no ABI of its own"),
        (sig.unsafety.map(|token| token.span()), "write `#[kernel(unchecked)]` for a kernel that is unsafe to launch"),
        (sig.variadic.as_ref().map(Spanned::span), "a kernel has a fixed number of parameters"),
    ];
    for (span, hint) in refused {
        if let Some(span) = span {
            return Err(syn::Error::new(span, hint));
        }
    }
    Ok(())
}

/// `impl Trait` has no name that the generated type could carry.
fn refuse_impl(ty: &Type) -> syn::Result<()> {
    struct Finder(Option<Span>);
    impl VisitMut for Finder {
        fn visit_type_impl_trait_mut(&mut self, node: &mut syn::TypeImplTrait) {
            self.0.get_or_insert(node.span());
        }
    }
    let mut finder = Finder(None);
    finder.visit_type_mut(&mut ty.clone());
    match finder.0 {
        Some(span) => Err(syn::Error::new(span, "write a named type parameter, `<T: Trait>`, instead of `impl Trait`")),
        None => Ok(()),
    }
}

/// The type with every lifetime `'static`, written or elided.
fn without_lifetimes(ty: &Type) -> Type {
    struct Static;
    impl VisitMut for Static {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            *lifetime = Lifetime::new("'static", lifetime.span());
        }
        fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
            reference.lifetime = Some(Lifetime::new("'static", reference.and_token.span()));
            syn::visit_mut::visit_type_reference_mut(self, reference);
        }
        /// ndarray's views are the only types with a lifetime that people leave out, and their names are known.
        fn visit_path_segment_mut(&mut self, segment: &mut syn::PathSegment) {
            syn::visit_mut::visit_path_segment_mut(self, segment);
            let syn::PathArguments::AngleBracketed(arguments) = &mut segment.arguments else { return };
            let is_lifetime = |argument: &GenericArgument| matches!(argument, GenericArgument::Lifetime(_));
            if segment.ident.to_string().starts_with("ArrayView") && !arguments.args.iter().any(is_lifetime) {
                let lifetime = Lifetime::new("'static", segment.ident.span());
                arguments.args.insert(0, GenericArgument::Lifetime(lifetime));
            }
        }
    }
    let mut ty = ty.clone();
    Static.visit_type_mut(&mut ty);
    ty
}

fn without_lifetime_params(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    generics.params = generics.params.into_iter().filter(|param| !matches!(param, GenericParam::Lifetime(_))).collect();
    if let Some(clause) = &mut generics.where_clause {
        let predicates = std::mem::take(&mut clause.predicates);
        let kept = |predicate: &syn::WherePredicate| !matches!(predicate, syn::WherePredicate::Lifetime(_));
        clause.predicates = predicates.into_iter().filter(kept).collect();
    }
    generics
}

/// A statement that fails to compile, at the type's own place, unless the type can be a parameter or result.
pub(crate) fn type_check(root: &TokenStream, function: &str, ty: &Type) -> TokenStream {
    let function = Ident::new(function, Span::call_site());
    quote_spanned!(ty.span() => #root::#function::<#ty>())
}
