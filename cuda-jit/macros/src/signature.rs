//! The parts of a function's signature that the generated items need: generics, parameter types without lifetimes, checks.

use cuda_jit_syntax::owned::Options;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{
    Block, FnArg, GenericArgument, GenericParam, Generics, Ident, Lifetime, Pat, PatType, ReturnType, Stmt, Type,
    TypeParamBound,
};

mod closure_types;
mod device_bounds;
mod header;
mod impl_arguments;
mod iterators;

use crate::capture;
pub(crate) use closure_types::{closure_placeholder, closures, replaced};
pub(crate) use device_bounds::{add_device_bounds, add_value_bounds};
pub(crate) use header::name_lifetimes;
pub(crate) use impl_arguments::{has_impl_arguments, name_impl_arguments};
use iterators::Iterators;
pub(crate) use iterators::refuse_iterators;

/// The name of a receiver in the typing probe.
pub(crate) const RECEIVER: &str = "__cuda_jit_self";

/// The maximum number of arguments of `KernelArgs`.
const MAX_PARAMS: usize = 32;

/// The kind of item that a signature belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A kernel.
    Kernel,
    /// A device function.
    Function,
    /// A method, or another function of an `impl` or trait.
    Method,
    /// A method of the device library, whose type parameters may be references too.
    Library,
}

impl Role {
    /// The role of a method with these options.
    pub(crate) fn of_method(options: &Options) -> Role {
        if options.library { Role::Library } else { Role::Method }
    }
}

/// A checked signature.
pub(crate) struct Signature {
    /// The function's generics without lifetimes.
    pub(crate) generics: Generics,
    /// The parameters, each a plain name; a receiver is [`RECEIVER`].
    pub(crate) params: Vec<PatType>,
    /// The statements that destructure parameters with patterns.
    unpacked: Vec<Stmt>,
    /// The parameters' types, with every lifetime `'static`.
    pub(crate) static_types: Vec<Type>,
    /// The parameters' names, for a launch.
    pub(crate) names: Vec<Ident>,
    /// The lifetimes that it names.
    pub(crate) lifetimes: Vec<Lifetime>,
    /// The result's type; `()` if none is written.
    pub(crate) result: Type,
    /// The type parameters that are closures, each with the function pointer type that replaces it in the typing probe.
    closures: Vec<(Ident, Type)>,
    role: Role,
    /// The copy of the body as written, if the typing probe has one.
    pub(crate) body_copy: Option<crate::checked::BodyCopy>,
    /// True if no macro can have assembled the function.
    pub(crate) single_expansion: bool,
    /// The type parameters that are iterators.
    iterators: Iterators,
}

impl Signature {
    /// Returns true if the result is `()`.
    pub(crate) fn returns_nothing(&self) -> bool {
        matches!(&self.result, Type::Tuple(result) if result.elems.is_empty())
    }

    /// Reads and checks a signature.
    pub(crate) fn new(sig: &syn::Signature, role: Role, single_expansion: bool) -> syn::Result<Self> {
        refuse_qualifiers(sig, role)?;
        let iterators = Iterators::of(&sig.generics);
        let sig = &iterators.with_whole_items(sig);
        if role == Role::Kernel {
            let hint = "a kernel takes no iterator, which is no value of the device's memory: take a slice";
            refuse_iterators(&sig.generics, hint)?;
        }
        if role == Role::Kernel && sig.inputs.len() > MAX_PARAMS {
            let hint = format!("a kernel has at most {MAX_PARAMS} parameters");
            return Err(syn::Error::new(sig.inputs[MAX_PARAMS].span(), hint));
        }
        let mut params = Vec::new();
        let mut names = Vec::new();
        let mut unpacked = Vec::new();
        for input in &sig.inputs {
            let param = match input {
                FnArg::Typed(param) => param.clone(),
                FnArg::Receiver(receiver) if matches!(role, Role::Method | Role::Library) => receiver_param(receiver),
                FnArg::Receiver(receiver) => {
                    let hint =
                        "write `#[device]` before the `impl`, not before its methods; a kernel is a free function";
                    return Err(syn::Error::new(receiver.span(), hint));
                }
            };
            let mut param = param;
            param.attrs.clear();
            let name = name(&mut param, names.len(), &mut unpacked);
            names.push(name);
            refuse_impl(&param.ty, "write a named type parameter, `<T: Trait>`, instead of `impl Trait`")?;
            if let Type::Slice(slice) = &*param.ty {
                let hint = format!("write `&{0}`, or `&mut {0}`: a slice is passed by reference", written(slice));
                return Err(syn::Error::new(slice.span(), hint));
            }
            if let (Role::Kernel, Some(hint)) = (role, refused_reference(&param.ty)) {
                return Err(syn::Error::new(param.ty.span(), hint));
            }
            params.push(param);
        }
        if let ReturnType::Type(_, ty) = &sig.output {
            refuse_impl(
                ty,
                "a result has a type with a name, which no closure or iterator has that the function makes: make it where it is \
                 used, or take a closure, `f: F`, and call it",
            )?;
        }
        let result = match &sig.output {
            ReturnType::Default => syn::parse_quote!(()),
            ReturnType::Type(_, ty) => (**ty).clone(),
        };
        if let (Role::Kernel, ReturnType::Type(_, ty)) = (role, &sig.output) {
            let hint = "a kernel returns nothing; write its results to a `&mut [T]` parameter";
            return Err(syn::Error::new(ty.span(), hint));
        }
        let static_types = params.iter().map(|param| without_lifetimes(&param.ty)).collect();
        let mut generics = without_lifetime_params(&sig.generics);
        let lifetimes: Vec<_> = sig.generics.lifetimes().map(|param| param.lifetime.clone()).collect();
        let mut closures = closures(&generics);
        if !matches!(role, Role::Kernel | Role::Library) {
            // repeated for closures that take or return others
            for _ in 1..closures.len() {
                let known = closures.clone();
                let held = |name: &Ident| {
                    known.iter().find(|(known, _)| known == name).map(|(_, ty)| closure_placeholder(ty, true))
                };
                closures.iter_mut().for_each(|(_, ty)| *ty = replaced(ty, &held));
            }
        }
        let is_closure = |ident: &Ident| closures.iter().any(|(closure, _)| closure == ident);
        forget_bounds_lifetimes(&mut generics, &lifetimes, &is_closure);
        let signature = Self {
            params,
            unpacked,
            static_types,
            names,
            lifetimes,
            result,
            closures,
            role,
            generics,
            body_copy: None,
            single_expansion,
            iterators,
        };
        let by_reference =
            |ty: &&Type| matches!(ty, Type::Reference(reference) if signature.is_closure(&reference.elem));
        if let (Role::Kernel, Some(ty)) = (role, signature.static_types.iter().find(by_reference)) {
            return Err(syn::Error::new(
                ty.span(),
                "a kernel takes the closure itself, without `&`: it is a copy anyway",
            ));
        }
        Ok(signature)
    }

    /// The function's body, preceded by the statements that destructure its parameters.
    pub(crate) fn body(&self, mut block: Block) -> Block {
        block.stmts.splice(0..0, self.unpacked.iter().cloned());
        self.iterators.write_whole_items(&mut block);
        block
    }

    /// Returns true if a parameter of this type is a closure.
    pub(crate) fn is_closure(&self, ty: &Type) -> bool {
        match ty {
            Type::Path(path) => path.path.get_ident().is_some_and(|ident| self.closure(ident).is_some()),
            Type::Reference(reference) => self.is_closure(&reference.elem),
            _ => false,
        }
    }

    pub(crate) fn closure(&self, name: &Ident) -> Option<&Type> {
        self.closures.iter().find(|(closure, _)| closure == name).map(|(_, fn_pointer)| fn_pointer)
    }

    /// Returns true if a type parameter is an iterator.
    pub(crate) fn is_iterator(&self, name: &Ident) -> bool {
        self.iterators.contain(name)
    }

    /// Returns true if only a call fixes a type parameter, which is a closure's; a kernel's is fixed by the launch.
    fn is_open(&self, name: &Ident) -> bool {
        self.role != Role::Kernel && self.closure(name).is_some()
    }

    /// Returns true if its parameters include closures.
    pub(crate) fn takes_closures(&self) -> bool {
        !self.closures.is_empty()
    }

    /// The generic arguments of the type beside the function; those of closures are placeholders.
    pub(crate) fn marker_args(&self, root: &TokenStream) -> Vec<TokenStream> {
        let args = self.generics.params.iter().map(|param| match param {
            GenericParam::Type(param) if self.is_open(&param.ident) => quote!(#root::Closure),
            GenericParam::Type(param) => {
                let name = &param.ident;
                quote!(#name)
            }
            GenericParam::Const(param) => {
                let name = &param.ident;
                quote!(#name)
            }
            GenericParam::Lifetime(param) => quote!(#param),
        });
        args.collect()
    }

    /// The generics for an `impl`, with the device's bounds on type parameters.
    pub(crate) fn impl_generics(&self, root: &TokenStream) -> Generics {
        let mut generics = self.generics.clone();
        if self.role == Role::Kernel {
            self.bound_hosts(&mut generics, root);
        } else if self.takes_closures() {
            self.drop_closures(&mut generics);
        }
        let types: Vec<Ident> = generics.type_params().map(|param| param.ident.clone()).collect();
        let clause = generics.make_where_clause();
        for ty in &types {
            clause.predicates.push(match self.role {
                Role::Kernel if self.closure(ty).is_some() => syn::parse_quote!(#ty: #root::KernelClosure),
                Role::Kernel => syn::parse_quote!(#ty: #root::ElementType + #root::Element),
                Role::Library => syn::parse_quote!(#ty: #root::DeviceType),
                // the device library's iterators contain closures, and references, of any lifetime: rustc does not check
                // those of a typing probe
                _ if self.is_iterator(ty) => syn::parse_quote!(#ty: #root::DeviceType + 'static),
                _ => syn::parse_quote!(#ty: #root::ValueType),
            });
        }
        add_device_bounds(root, &mut generics);
        generics
    }

    /// Adds a kernel's bounds on a closure to the host's counterpart of the closure, with `'static` for the lifetimes of the
    /// kernel, which the type beside it does not declare: what a closure returns for references that live long is no
    /// different on the device.
    fn bound_hosts(&self, generics: &mut Generics, root: &TokenStream) {
        let mut predicates: Vec<syn::WherePredicate> = Vec::new();
        for param in generics.type_params_mut().filter(|param| self.closure(&param.ident).is_some()) {
            let (name, mut bounds) = (&param.ident, std::mem::take(&mut param.bounds));
            param.colon_token = None;
            bounds.iter_mut().for_each(|bound| Forget(&self.lifetimes, "'static").visit_type_param_bound_mut(bound));
            predicates.push(syn::parse_quote!(<#name as #root::KernelClosure>::Host: #bounds));
        }
        let clause = generics.make_where_clause();
        for predicate in &mut clause.predicates {
            if let syn::WherePredicate::Type(predicate) = predicate
                && self.is_closure(&predicate.bounded_ty)
            {
                let name = &predicate.bounded_ty;
                predicate.bounded_ty = syn::parse_quote!(<#name as #root::KernelClosure>::Host);
                Forget(&self.lifetimes, "'static").visit_predicate_type_mut(predicate);
            }
        }
        clause.predicates.extend(predicates);
    }

    fn drop_closures(&self, generics: &mut Generics) {
        let is_it =
            |param: &GenericParam| matches!(param, GenericParam::Type(param) if self.closure(&param.ident).is_some());
        generics.params = std::mem::take(&mut generics.params).into_iter().filter(|param| !is_it(param)).collect();
        if let Some(clause) = &mut generics.where_clause {
            let about = |predicate: &syn::WherePredicate| match predicate {
                syn::WherePredicate::Type(predicate) => self.is_closure(&predicate.bounded_ty),
                _ => false,
            };
            let predicates = std::mem::take(&mut clause.predicates);
            clause.predicates = predicates.into_iter().filter(|predicate| !about(predicate)).collect();
        }
    }

    /// The generic arguments as expressions of type `GenericArg`.
    pub(crate) fn generic_args(&self, root: &TokenStream) -> Vec<TokenStream> {
        let args = self.generics.params.iter().filter_map(|param| match param {
            GenericParam::Type(param) if self.is_open(&param.ident) => None,
            GenericParam::Type(param) if self.closure(&param.ident).is_some() => {
                let name = &param.ident;
                Some(quote!(#root::closure_arg::<#name>()))
            }
            GenericParam::Type(param) => {
                let name = &param.ident;
                Some(quote!(#root::type_arg::<#name>()))
            }
            GenericParam::Const(param) => {
                let name = &param.ident;
                Some(quote!(#root::GenericArg::Const(#root::bits_of(#name))))
            }
            GenericParam::Lifetime(_) => None,
        });
        args.collect()
    }

    /// The type of each parameter as a function that returns it.
    pub(crate) fn param_types(&self, root: &TokenStream) -> Vec<TokenStream> {
        let check = if self.role == Role::Kernel { "param_of" } else { "ty_of" };
        let types = self.params.iter().map(|param| match (self.is_closure(&param.ty), &param.ty) {
            (true, ty) if self.role == Role::Kernel => quote!(<#ty as #root::KernelClosure>::ty),
            (true, _) => quote!(#root::closure_ty),
            (false, ty) if self.role == Role::Kernel => type_check(root, check, &elided(ty)),
            (false, ty) => type_check(root, check, &elided(&self.with_placeholders(ty))),
        });
        types.collect()
    }

    /// A type that uses every generic parameter, so that none is unused.
    pub(crate) fn phantom(&self) -> TokenStream {
        let types = self.generics.type_params().map(|param| &param.ident);
        quote!(::core::marker::PhantomData<fn() -> (#(#types,)*)>)
    }
}

fn is_lifetime(param: &GenericParam) -> bool {
    matches!(param, GenericParam::Lifetime(_))
}

/// `self` as a parameter of a closure, as the typing probe has it.
fn receiver_param(receiver: &syn::Receiver) -> PatType {
    let name = Ident::new(RECEIVER, receiver.self_token.span);
    let mutability = receiver.mutability.filter(|_| receiver.reference.is_none());
    let ty = &receiver.ty;
    let pat: Pat = Pat::Ident(syn::PatIdent { attrs: Vec::new(), by_ref: None, mutability, ident: name, subpat: None });
    PatType { attrs: Vec::new(), pat: Box::new(pat), colon_token: syn::Token![:](receiver.span()), ty: ty.clone() }
}

/// The parameter's name, for a launch. A pattern gets a name that no body has, and a statement that destructures it.
fn name(param: &mut PatType, index: usize, unpacked: &mut Vec<Stmt>) -> Ident {
    if let Pat::Ident(pat) = &*param.pat
        && pat.by_ref.is_none()
        && pat.subpat.is_none()
    {
        return pat.ident.clone();
    }
    let bound = quote::format_ident!("__cuda_jit_arg{index}", span = Span::mixed_site());
    let pattern = std::mem::replace(&mut *param.pat, syn::parse_quote!(#bound));
    let span = pattern.span();
    unpacked.push(syn::parse_quote_spanned!(span => let #pattern = #bound;));
    quote::format_ident!("arg{index}", span = Span::mixed_site())
}

/// A slice's type as text.
fn written(slice: &syn::TypeSlice) -> String {
    slice.to_token_stream().to_string().replace("[ ", "[").replace(" ]", "]")
}

fn refuse_qualifiers(sig: &syn::Signature, role: Role) -> syn::Result<()> {
    let hints = match role {
        Role::Kernel => [
            "a kernel cannot be `async`; streams make launches asynchronous",
            "a kernel has no ABI of its own",
            "write `#[kernel(unchecked)]` for a kernel that is unsafe to launch",
            "a kernel has a fixed number of parameters",
        ],
        Role::Function | Role::Method | Role::Library => [
            "a device function cannot be `async`: a thread of the device waits for nothing but barriers",
            "a device function has no ABI of its own",
            "a device function is safe to call: write `unsafe { .. }` in its body, around what needs it",
            "a device function has a fixed number of parameters",
        ],
    };
    let spans = [
        sig.asyncness.map(|token| token.span()),
        sig.abi.as_ref().map(Spanned::span),
        sig.unsafety.map(|token| token.span()),
        sig.variadic.as_ref().map(Spanned::span),
    ];
    for (span, hint) in spans.into_iter().zip(hints) {
        if let Some(span) = span {
            return Err(syn::Error::new(span, hint));
        }
    }
    Ok(())
}

/// Refuses `impl Trait`, which has no name that the generated type could have, with the given text; `dyn Trait`, whose code is
/// unknown; raw pointers, whose memory is unknown; and `!`, which rustc does not let a macro name.
fn refuse_impl(ty: &Type, unnamed: &'static str) -> syn::Result<()> {
    struct Finder {
        unnamed: &'static str,
        found: Option<(Span, &'static str)>,
    }
    impl VisitMut for Finder {
        fn visit_type_impl_trait_mut(&mut self, node: &mut syn::TypeImplTrait) {
            self.found.get_or_insert((node.span(), self.unnamed));
        }
        fn visit_type_ptr_mut(&mut self, node: &mut syn::TypePtr) {
            let hint = "kernels have no raw pointers; take a slice, `&[T]` or `&mut [T]`";
            self.found.get_or_insert((node.span(), hint));
        }
        fn visit_type_never_mut(&mut self, node: &mut syn::TypeNever) {
            let hint = "kernels have no functions that never return: write the `panic!` where this one is called";
            self.found.get_or_insert((node.span(), hint));
        }
        fn visit_type_trait_object_mut(&mut self, node: &mut syn::TypeTraitObject) {
            let hint = "kernels have no trait objects; write a type parameter, `<T: Trait>`, instead of `dyn Trait`";
            self.found.get_or_insert((node.span(), hint));
        }
    }
    let mut finder = Finder { unnamed, found: None };
    finder.visit_type_mut(&mut ty.clone());
    match finder.found {
        Some((span, hint)) => Err(syn::Error::new(span, hint)),
        None => Ok(()),
    }
}

/// The error text for a parameter type that is easily confused with a supported one.
fn refused_reference(ty: &Type) -> Option<String> {
    let Type::Reference(reference) = ty else { return None };
    let by = if reference.mutability.is_some() { "&mut " } else { "&" };
    let Type::Path(path) = &*reference.elem else { return None };
    let last = path.path.segments.last()?;
    let name = last.ident.to_string();
    match (name.as_str(), &last.arguments) {
        ("Vec" | "Array1", syn::PathArguments::AngleBracketed(arguments)) => {
            let element = arguments.args.first()?;
            Some(format!("write `{by}[{}]`: a launch passes a `{name}` as a slice", element.to_token_stream()))
        }
        ("str" | "String", _) => Some("kernels have no strings; pass bytes, `&[u8]`".to_owned()),
        (number, _) if capture::PRIMITIVES.contains(&number) => Some(match reference.mutability {
            Some(_) => format!("write `&mut [{number}]`: a kernel writes to slices, of one element if need be"),
            None => format!("write `{number}`: a kernel takes a number itself"),
        }),
        _ => None,
    }
}

/// The type with every lifetime `'static`, written or elided.
pub(crate) fn without_lifetimes(ty: &Type) -> Type {
    with_lifetime(ty, "'static")
}

/// The type with every lifetime left to inference.
pub(crate) fn elided(ty: &Type) -> Type {
    with_lifetime(ty, "'_")
}

fn with_lifetime(ty: &Type, name: &'static str) -> Type {
    struct Static(&'static str);
    impl VisitMut for Static {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            *lifetime = Lifetime::new(self.0, lifetime.span());
        }
        fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
            reference.lifetime = Some(Lifetime::new(self.0, reference.and_token.span()));
            syn::visit_mut::visit_type_reference_mut(self, reference);
        }
        /// ndarray's views are the only types whose lifetime is usually elided, and their names are known.
        fn visit_path_segment_mut(&mut self, segment: &mut syn::PathSegment) {
            syn::visit_mut::visit_path_segment_mut(self, segment);
            let syn::PathArguments::AngleBracketed(arguments) = &mut segment.arguments else { return };
            let is_lifetime = |argument: &GenericArgument| matches!(argument, GenericArgument::Lifetime(_));
            if is_view(&segment.ident) && !arguments.args.iter().any(is_lifetime) {
                let lifetime = Lifetime::new(self.0, segment.ident.span());
                arguments.args.insert(0, GenericArgument::Lifetime(lifetime));
            }
        }
    }
    let mut ty = ty.clone();
    Static(name).visit_type_mut(&mut ty);
    ty
}

/// The bounds of a type parameter.
type Bounds = syn::punctuated::Punctuated<TypeParamBound, syn::Token![+]>;

/// Replaces some lifetimes by another one.
struct Forget<'a>(&'a [Lifetime], &'static str);
impl VisitMut for Forget<'_> {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if self.0.iter().any(|known| known.ident == lifetime.ident) {
            *lifetime = Lifetime::new(self.1, lifetime.span());
        }
    }
    /// A label only looks like a lifetime.
    fn visit_label_mut(&mut self, _: &mut syn::Label) {}
    fn visit_expr_break_mut(&mut self, jump: &mut syn::ExprBreak) {
        if let Some(value) = &mut jump.expr {
            self.visit_expr_mut(value);
        }
    }
    fn visit_expr_continue_mut(&mut self, _: &mut syn::ExprContinue) {}
}

/// Makes rustc infer the signature's lifetimes in a body: the typing probe does not declare them.
pub(crate) fn forget_lifetimes(body: &mut syn::Block, lifetimes: &[Lifetime]) {
    if !lifetimes.is_empty() {
        Forget(lifetimes, "'_").visit_block_mut(body);
    }
}

/// Removes the signature's lifetimes from the bounds of type parameters that are no closures, since the generated items do
/// not declare them.
fn forget_bounds_lifetimes(generics: &mut Generics, lifetimes: &[Lifetime], is_closure: &dyn Fn(&Ident) -> bool) {
    if lifetimes.is_empty() {
        return;
    }
    let forget = |bounds: &mut Bounds| {
        let is_named = |bound: &TypeParamBound| match bound {
            TypeParamBound::Lifetime(bound) => lifetimes.contains(bound),
            _ => false,
        };
        *bounds = std::mem::take(bounds).into_iter().filter(|bound| !is_named(bound)).collect();
        bounds.iter_mut().for_each(|bound| Forget(lifetimes, "'static").visit_type_param_bound_mut(bound));
    };
    generics.type_params_mut().filter(|param| !is_closure(&param.ident)).for_each(|param| forget(&mut param.bounds));
    for predicate in generics.where_clause.iter_mut().flat_map(|clause| &mut clause.predicates) {
        if let syn::WherePredicate::Type(predicate) = predicate
            && !matches!(&predicate.bounded_ty, Type::Path(path) if path.path.get_ident().is_some_and(is_closure))
        {
            Forget(lifetimes, "'static").visit_type_mut(&mut predicate.bounded_ty);
            forget(&mut predicate.bounds);
        }
    }
}

/// Returns true for the name of one of ndarray's views.
fn is_view(name: &Ident) -> bool {
    let name = name.to_string();
    let dimensions = name.strip_prefix("ArrayView").map(|rest| rest.strip_prefix("Mut").unwrap_or(rest));
    dimensions.is_some_and(|dimensions| ["", "0", "1", "2", "3", "4", "5", "6", "D"].contains(&dimensions))
}

/// Returns true if a type names a lifetime, or elides one.
pub(crate) fn has_lifetime(ty: &Type) -> bool {
    struct Finder(bool);
    impl VisitMut for Finder {
        fn visit_lifetime_mut(&mut self, _: &mut Lifetime) {
            self.0 = true;
        }
        fn visit_type_reference_mut(&mut self, _: &mut syn::TypeReference) {
            self.0 = true;
        }
        fn visit_path_segment_mut(&mut self, segment: &mut syn::PathSegment) {
            self.0 |= is_view(&segment.ident);
            syn::visit_mut::visit_path_segment_mut(self, segment);
        }
    }
    let mut finder = Finder(false);
    finder.visit_type_mut(&mut ty.clone());
    finder.0
}

/// The parameters' types, the result's type and the lifetimes of a signature, with a name for the receiver's lifetime,
/// which elided lifetimes of the result refer to.
pub(crate) fn with_named_lifetimes(sig: &syn::Signature, signature: &Signature) -> (Vec<Type>, Type, Vec<Lifetime>) {
    struct Named(Lifetime);
    impl VisitMut for Named {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            if lifetime.ident == "_" {
                *lifetime = self.0.clone();
            }
        }
        fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
            reference.lifetime.get_or_insert_with(|| self.0.clone());
            syn::visit_mut::visit_type_reference_mut(self, reference);
        }
        fn visit_path_segment_mut(&mut self, segment: &mut syn::PathSegment) {
            syn::visit_mut::visit_path_segment_mut(self, segment);
            let syn::PathArguments::AngleBracketed(arguments) = &mut segment.arguments else { return };
            let is_lifetime = |argument: &GenericArgument| matches!(argument, GenericArgument::Lifetime(_));
            if is_view(&segment.ident) && !arguments.args.iter().any(is_lifetime) {
                arguments.args.insert(0, GenericArgument::Lifetime(self.0.clone()));
            }
        }
    }
    let mut lifetimes: Vec<Lifetime> = sig.generics.lifetimes().map(|param| param.lifetime.clone()).collect();
    let mut types: Vec<Type> = signature.params.iter().map(|param| (*param.ty).clone()).collect();
    let mut result = signature.result.clone();
    // the receiver's reference, or else the only parameter with a lifetime
    let source = match sig.inputs.first() {
        Some(FnArg::Receiver(receiver)) if receiver.reference.is_some() => Some(0),
        _ => types.iter().position(has_lifetime),
    };
    if let Some(source) = source {
        let mut named = Named(Lifetime::new("'__tied", Span::call_site()));
        if let Type::Reference(reference) = &types[source]
            && let Some(lifetime) = &reference.lifetime
            && lifetime.ident != "_"
        {
            named = Named(lifetime.clone());
        } else {
            lifetimes.push(named.0.clone());
        }
        named.visit_type_mut(&mut types[source]);
        named.visit_type_mut(&mut result);
    }
    (types, result, lifetimes)
}

fn without_lifetime_params(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    generics.params = generics.params.into_iter().filter(|param| !is_lifetime(param)).collect();
    if let Some(clause) = &mut generics.where_clause {
        let predicates = std::mem::take(&mut clause.predicates);
        let kept = |predicate: &syn::WherePredicate| !matches!(predicate, syn::WherePredicate::Lifetime(_));
        clause.predicates = predicates.into_iter().filter(kept).collect();
    }
    generics
}

/// A function that fails to compile, at the type's own location, unless the type can be a parameter or result.
pub(crate) fn type_check(root: &TokenStream, function: &str, ty: &Type) -> TokenStream {
    let function = Ident::new(function, Span::call_site());
    quote_spanned!(ty.span() => #root::#function::<#ty>)
}
