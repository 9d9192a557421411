//! Callees: the names under which the typing probe resolves the function that a call names.
//!
//! A free function may be no device function, or a kernel, and a type may lack the function on the device. The typing probe
//! is written so that rustc then finds an item whose error explains this, instead of no item:
//!
//! - A free function is named by an alias, which a `use` of its path declares. Where the path names only a function, and no
//!   type beside it, the alias resolves to the name of a placeholder type that a glob import brings in.
//! - A type's hidden function exists for every reference type, by a trait. rustc looks there last, and then finds that the
//!   type itself does not implement the trait, whose `on_unimplemented` text becomes the error.
//!
//! # Safety
//!
//! Nothing here runs `unsafe` code. The emitted code has some, but only around names of this macro's own, never around the
//! user's tokens.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprPath, GenericArgument, Ident, PathArguments};

use cuda_jit_syntax::owned as s;

use super::call::PRIMITIVES;
use super::habits::is_method_of_math;
use super::pattern::{applied, is_type_case};
use super::span::{begin, begin_path};
use super::std_traits;
use super::witnesses::{callee, callee_value};
use super::{Capture, node, nothing};

/// Types with lower-case names that are not Rust primitives.
const LOWER_TYPES: &[&str] = &["f16", "bf16", "e4m3", "e5m2", "e8m0"];

/// The element names of CUDA's vector types, as in `float4`.
const CUDA_NUMBERS: &[&str] =
    &["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double"];

impl Capture {
    /// Makes rustc check the first name of a path to a primitive's function.
    pub(super) fn check_primitive(&mut self, path: &ExprPath) {
        match primitive(path) {
            Some(name) if self.scopes.block() == 0 => self.imports.primitive(name),
            Some(name) => self.prepend(primitive_check(name)),
            None => {}
        }
    }

    /// In the typing probe: adds `let f = path;` and `callee.unify(&f).by(witness, &f);` before the statement, and uses `f` in
    /// it, so that the witness unifies with the callee's generic arguments.
    ///
    /// If the arguments contain closures, the call becomes `__unify(path, callee, witness)(..)`: rustc infers a closure's
    /// parameter types from the function's bounds only if the path stands in the call itself. `call` is the number of
    /// arguments and whether closures are among them. The standard-library functions with as many arguments that kernels
    /// support are passed along, so that rustc finds out whether the callee is one of them and which device function
    /// replaces it. If there are closures, the name of the variable that has the call's result type is returned beside the
    /// path.
    pub(super) fn unified_callee(
        &mut self,
        number: u32,
        written: &ExprPath,
        call: Option<(usize, bool)>,
    ) -> (Expr, Option<Ident>) {
        let (span, written) = (begin_path(written), &without_inferred(written));
        self.check_primitive(written);
        let free = call.filter(|_| !of_type(written) && !is_constructor(written));
        let (path, import) = &self.imports.alias(written, &self.scopes);
        let mut of_std = path.clone();
        if let Some(check) = std_traits::replaced(&mut of_std) {
            self.prepend(check);
        }
        let (witness, hidden) = (callee(number, span), hidden(&of_std));
        let same = self.imports.has_body_copy().then(|| quote_spanned!(span => __cuda_jit_same));
        let same: Vec<_> = same.into_iter().collect();
        let known = free.and_then(|(count, closures)| known_functions(path, count, closures));
        let value = callee_value(number, span);
        let imported = |expr: TokenStream| match import {
            Some(import) => quote_spanned!(span => { #import #expr }),
            None => expr,
        };
        let named = imported(path.to_token_stream());
        // an import stands before each path, since rustc forgets the bounds of a function that a block returns as its
        // callee
        let unified = |named: TokenStream, found: TokenStream, witness: TokenStream| {
            let unify = imported(unify_path(path).to_token_stream());
            Expr::Verbatim(quote_spanned!(span => ((#unify)(#named, #found, #witness))))
        };
        if let (Some((_, true)), None, false) = (call, &known, is_constructor(path)) {
            let found = imported(quote_spanned!(span => #hidden()));
            return (unified(quote_spanned!(span => #(#same)*(#named)), found, witness.to_token_stream()), None);
        }
        if is_constructor(path) {
            self.prepend(quote_spanned!(span => let #value = #(#same)*(#named);));
            // an error about the query is one about the path
            let (applied, query) = (applied(path), format_ident!("__cuda_jit_query{}", number, span = span));
            self.prepend(quote_spanned!(span => let #query = || #applied.__cuda_jit_variant();));
            // SAFETY, of the emitted code: this macro has written the closure, which captures nothing.
            let called = quote!(unsafe { __cuda_jit_called_path(&#value, #query) });
            // in a tuple, since rustc would report an error about the name at the value of a `let`
            let callee = format_ident!("__cuda_jit_callee{}", number, span = span);
            self.prepend(quote!(let (#callee,) = (#called,);));
            self.prepend(quote_spanned!(span => #callee.of(#witness);));
            return (Expr::Verbatim(value.to_token_stream()), None);
        }
        let hidden_callee = format_ident!("__cuda_jit_callee{}", number, span = span);
        if call.is_none() && !of_type(written) {
            // rustc tells a constant from a function
            let constant = format_ident!("__cuda_jit_constant{}", number, span = span);
            let all = imported(quote_spanned!(span => (#(#same)*(#path), #hidden(), || &#path)));
            self.prepend(quote_spanned!(span => let (#value, #hidden_callee, #constant) = #all;));
            self.prepend(quote_spanned!(span => #hidden_callee.argument(&#value, #constant).by(#witness, &#value);));
            return (Expr::Verbatim(value.to_token_stream()), None);
        }
        let both = imported(quote_spanned!(span => (#(#same)*(#path), #hidden())));
        self.prepend(quote_spanned!(span => let (#value, #hidden_callee) = #both;));
        let Some((mut unify, known)) = known else {
            // a path `Type::f` does not depend on imports
            let by_witness = if of_type(written) { quote!(of(#witness)) } else { quote!(by(#witness, &#value)) };
            self.prepend(quote_spanned!(span => #hidden_callee.unify(&#value).#by_witness;));
            return (Expr::Verbatim(value.to_token_stream()), None);
        };
        unify.set_span(span);
        let found = quote_spanned!(span => #hidden_callee.#unify(&#value, #known).by(#witness, &#value));
        if let Some((_, true)) = call {
            let callee = format_ident!("__cuda_jit_known{}", number, span = span);
            self.prepend(quote_spanned!(span => let #callee = #(#same)*(#found);));
            let tied_path = quote_spanned!(span => #callee.tie(&#value, #(#same)*(#named)));
            return (unified(tied_path, callee.to_token_stream(), quote!(0 as *const _)), Some(callee));
        }
        self.prepend(quote_spanned!(span => let #value = #found.replacement(&#value, #value);));
        (Expr::Verbatim(value.to_token_stream()), None)
    }

    /// An upper-case path as an argument: a constant, or a constructor.
    pub(super) fn upper_case_path(&mut self, arg: &mut Expr) -> s::Expr {
        let span = begin(arg);
        let number = self.callee(span);
        let (witness, value) = (callee(number, span), callee_value(number, span));
        self.prepend(quote_spanned!(span => let #value = #arg;));
        let reported = quote_spanned!(span => || __cuda_jit_UpperCasePath(&#arg).reported());
        self.prepend(quote_spanned!(span => __cuda_jit_upper_case_path(&#value, #reported, #witness);));
        *arg = Expr::Verbatim(value.to_token_stream());
        node(span, s::ExprKind::Function(number))
    }

    /// An upper-camel-case path as an argument: a constructor, or a value without fields.
    pub(super) fn constructor(&mut self, arg: &mut Expr) -> s::Expr {
        let span = begin(arg);
        let Expr::Path(path) = &*arg else { return nothing() };
        let number = self.callee(span);
        let (applied, query) = (applied(path), format_ident!("__cuda_jit_query{}", number, span = span));
        let (witness, value) = (callee(number, span), callee_value(number, span));
        self.prepend(quote_spanned!(span => let #value = #path; let #query = || #applied.__cuda_jit_variant();));
        // SAFETY, of the emitted code: this macro has written the closure, which captures nothing.
        let named = quote!(unsafe { __cuda_jit_value_path(&#value, #query) });
        let name = Ident::new("__callee", Span::mixed_site().located_at(span));
        self.prepend(quote!(let #name = #named;));
        self.prepend(quote_spanned!(span => #name.of(#witness);));
        *arg = Expr::Verbatim(value.to_token_stream());
        node(span, s::ExprKind::Function(number))
    }
}

/// The standard-library functions with this number of arguments that kernels support, and the hidden method that compares a
/// callee with them; `None` if there are none.
fn known_functions(path: &ExprPath, count: usize, closures: bool) -> Option<(Ident, TokenStream)> {
    let (name, known) = match count {
        0 => {
            // only the path shows the type argument of these
            let measured = type_argument(path).map_or_else(|| quote!(()), ToTokens::to_token_stream);
            let known = quote!((
                ::core::iter::empty,
                ::core::mem::size_of::<#measured>,
                ::core::mem::align_of::<#measured>,
                ::core::marker::PhantomData::<#measured>
            ));
            ("nullary", known)
        }
        1 => (
            "unary",
            quote!((
                ::core::mem::take,
                ::core::iter::once,
                ::core::iter::repeat,
                ::core::iter::from_fn,
                ::core::array::from_fn
            )),
        ),
        2 => (
            "binary",
            quote!((
                ::core::mem::swap,
                ::core::mem::replace,
                ::core::iter::repeat_n,
                ::core::iter::successors,
                ::core::iter::zip,
                ::core::cmp::max,
                ::core::cmp::min
            )),
        ),
        _ => return None,
    };
    let unify = if closures { "accept" } else { "unify" };
    Some((format_ident!("{}_{}", unify, name, span = Span::mixed_site()), known))
}

/// The generic argument of a path's last name, if it is a single type.
fn type_argument(path: &ExprPath) -> Option<&syn::Type> {
    match &path.path.segments.last()?.arguments {
        PathArguments::AngleBracketed(arguments) if arguments.args.len() == 1 => match &arguments.args[0] {
            GenericArgument::Type(argument) => Some(argument),
            _ => None,
        },
        _ => None,
    }
}

/// The prefix of a function's alias, which depends on the number of generic arguments of its path and on whether an
/// unresolved name is already an error elsewhere; `None` if the function gets no alias.
pub(super) fn alias_prefix(path: &ExprPath, silent: bool) -> Option<&'static str> {
    let (last, before) =
        path.path.segments.iter().collect::<Vec<_>>().split_last().map(|(last, before)| (*last, before.to_vec()))?;
    let name = last.ident.to_string();
    // a capitalised name may be a variant, which rustc reports better under its own name
    if of_type(path)
        || is_method_of_math(&path.path)
        || name.starts_with(char::is_uppercase)
        || before.iter().any(|segment| !segment.arguments.is_none())
    {
        return None;
    }
    match &last.arguments {
        PathArguments::None => Some(if silent { "__cuda_jit_s" } else { "__cuda_jit_p" }),
        PathArguments::AngleBracketed(arguments) => {
            let is_type = |argument: &GenericArgument| matches!(argument, GenericArgument::Type(_));
            let are_types = arguments.args.iter().all(is_type);
            match arguments.args.len() {
                1 if are_types => Some(if silent { "__cuda_jit_u" } else { "__cuda_jit_q" }),
                2 if are_types => Some(if silent { "__cuda_jit_v" } else { "__cuda_jit_r" }),
                // as in `array::from_fn`
                3 if is_length(&arguments.args[1]) => Some(if silent { "__cuda_jit_y" } else { "__cuda_jit_x" }),
                _ => None,
            }
        }
        PathArguments::Parenthesized(_) => None,
    }
}

/// The path of a free function; generic arguments that are all `_` are removed.
fn without_inferred(path: &ExprPath) -> ExprPath {
    let mut path = path.clone();
    let is_inferred = |argument: &GenericArgument| matches!(argument, GenericArgument::Type(syn::Type::Infer(_)));
    if let Some(last) = path.path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = &last.arguments
        && arguments.args.iter().all(is_inferred)
    {
        last.arguments = PathArguments::None;
    }
    path
}

/// Returns true for a generic argument that may be a number.
fn is_length(argument: &GenericArgument) -> bool {
    match argument {
        GenericArgument::Const(_) | GenericArgument::Type(syn::Type::Infer(_)) => true,
        GenericArgument::Type(syn::Type::Path(path)) => path.path.segments.last().is_some_and(|last| {
            last.arguments.is_none() && !is_type_case(&last.ident) && !is_lower_type(&last.ident.to_string())
        }),
        _ => false,
    }
}

/// The path of the hidden function that names a device function: `f::__callee` for a free function, beside which stands a
/// type, and `Type::__fn_f` for one of a type or trait.
pub(crate) fn hidden(path: &ExprPath) -> ExprPath {
    let of_type = of_type(path);
    let mut path = path.clone();
    match path.path.segments.last_mut() {
        Some(last) if of_type => last.ident = format_ident!("__fn_{}", last.ident, span = last.ident.span()),
        _ => {
            let span = path.span();
            path.path.segments.push(Ident::new("__callee", span).into());
        }
    }
    path
}

/// Returns true if a path may name a constructor without a hidden function: a struct's, or an imported variant's.
pub(super) fn is_constructor(path: &ExprPath) -> bool {
    let capital = path.path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase));
    capital && !of_type(path)
}

/// Returns true if a path names a variant by its enum, judged by Rust's naming conventions.
pub(super) fn is_variant(path: &ExprPath) -> bool {
    of_type(path) && path.path.segments.last().is_some_and(|last| is_type_case(&last.ident))
}

/// The name of the function of a type or trait that a path names.
pub(crate) fn function_of_type(path: &ExprPath) -> Option<Ident> {
    path.path.segments.last().filter(|_| of_type(path)).map(|last| last.ident.clone())
}

/// Returns true if a path names a function of a type or trait, judged by Rust's naming conventions. rustc reports a wrong
/// guess: a module has no hidden function, and nothing can be imported from a type.
pub(super) fn of_type(path: &ExprPath) -> bool {
    let mut before = path.path.segments.iter().rev().skip(1).map(|segment| segment.ident.to_string());
    let (name, outer) = (before.next().unwrap_or_default(), before.next());
    let is_lower = match outer.as_deref() {
        // `self::f32` is a module
        Some("self") => false,
        Some("primitive") | None => is_lower_type(&name),
        Some(_) => is_lower_type(&name) && !is_primitive(&name),
    };
    path.qself.is_some() || name.starts_with(char::is_uppercase) || is_lower
}

/// The name of the primitive type whose function a path names.
pub(super) fn primitive(path: &ExprPath) -> Option<&Ident> {
    let of = &path.path.segments.first()?.ident;
    (path.qself.is_none() && path.path.segments.len() == 2 && is_primitive(&of.to_string())).then_some(of)
}

/// Returns true for the name of a primitive type.
fn is_primitive(name: &str) -> bool {
    PRIMITIVES.contains(&name) && !LOWER_TYPES.contains(&name)
}

/// In the typing probe: makes rustc check that a name is the primitive type. If a module of that name lacks a function,
/// rustc would use the type silently.
pub(super) fn primitive_check(name: &Ident) -> TokenStream {
    quote_spanned!(name.span() => { use __cuda_jit_primitives::*; use #name as __cuda_jit_primitive; })
}

/// The path of the function that unifies a callee which takes closures with its witness.
fn unify_path(path: &ExprPath) -> ExprPath {
    let mut path = path.clone();
    let span = path.span();
    path.path.segments.push(Ident::new("__unify", span).into());
    path
}

/// Returns true for a lower-case type name, as far as the spelling tells: a primitive, `f16`, `bf16`, or a short vector
/// such as `f32x4` or `float4`.
fn is_lower_type(name: &str) -> bool {
    PRIMITIVES.contains(&name) || LOWER_TYPES.contains(&name) || is_vector(name)
}

/// Returns true for the name of a short vector.
fn is_vector(name: &str) -> bool {
    let numbers = name.strip_suffix(['2', '3', '4']);
    numbers.is_some_and(|numbers| match numbers.strip_suffix('x') {
        Some(number) => PRIMITIVES.contains(&number) || LOWER_TYPES.contains(&number),
        None => CUDA_NUMBERS.contains(&numbers),
    })
}
