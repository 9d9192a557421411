//! What a call names, and under which name the typing probe asks for it.
//!
//! A free function may be none of the device's, or a kernel, and a type may lack the function on the device. The typing probe asks
//! so that rustc then finds something that says so, instead of nothing:
//!
//! - a free function is asked for under an alias, which a `use` of its path declares. Where the path is that of a function
//!   alone, and no type stands beside it, the alias names one that the glob import beside it brings.
//! - a type's hidden function is there for each reference, by a trait. rustc looks for it there last, and then finds that
//!   the type itself lacks the trait, whose text is the error's.
//!
//! # Safety
//!
//! Nothing here runs `unsafe` code; what is emitted has some around names of this macro's own, and nothing that the user wrote.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprPath, GenericArgument, Ident, PathArguments};

use cuda_jit_syntax::owned as s;

use super::call::PRIMITIVES;
use super::pattern::{applied, is_type_case};
use super::span::{begin, begin_path};
use super::witnesses::{callee, callee_value};
use super::{Capture, node, nothing};

/// The types that are named in lower case and are no primitives of Rust's.
const LOWER_TYPES: &[&str] = &["f16", "bf16", "e4m3", "e5m2", "e8m0"];

/// What CUDA calls the numbers of its vectors, as in `float4`.
const CUDA_NUMBERS: &[&str] =
    &["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double"];

impl Capture {
    /// Has rustc check the first name of a path of a primitive's function.
    pub(super) fn check_primitive(&mut self, path: &ExprPath) {
        match primitive(path) {
            Some(name) if self.scopes.block() == 0 => self.imports.primitive(name),
            Some(name) => self.say(primitive_check(name)),
            None => {}
        }
    }

    /// In the typing probe: `let f = path; witness.see(&f);` before the statement, and `f` in it, so that the callee's generic
    /// arguments are seen. With closures among the arguments `see(path, &witness)`: rustc finds the types of a
    /// closure's parameters in the bounds of the function only where its path stands in the call. Of a call it is known how
    /// many arguments it has, and whether closures are among them. The functions of the standard library that kernels know
    /// and that have as many go along, so that rustc finds out whether it is one of them, and what stands for it then; where
    /// closures are among the arguments, what tells the type of the call's result comes back beside the path.
    pub(super) fn tied(
        &mut self,
        number: u32,
        written: &ExprPath,
        call: Option<(usize, bool)>,
    ) -> (Expr, Option<Ident>) {
        let (span, written) = (begin_path(written), &without_inferred(written));
        self.check_primitive(written);
        let free = call.filter(|_| !of_type(written) && !is_constructor(written));
        let (path, import) = &self.imports.alias(written, &self.scopes);
        let (witness, hidden) = (callee(number, span), hidden(path));
        let same = self.imports.is_repeated().then(|| quote_spanned!(span => __cuda_jit_same));
        let same: Vec<_> = same.into_iter().collect();
        let known = free.and_then(|(count, closures)| known_functions(count, closures));
        let value = callee_value(number, span);
        let imported = |expr: TokenStream| match import {
            Some(import) => quote_spanned!(span => { #import #expr }),
            None => expr,
        };
        let named = imported(path.to_token_stream());
        // an import stands by itself before each path, since rustc forgets the bounds of a function that a block yields as its callee
        let seen = |named: TokenStream, found: TokenStream, witness: TokenStream| {
            let seer = imported(seer(path).to_token_stream());
            Expr::Verbatim(quote_spanned!(span => ((#seer)(#named, #found, #witness))))
        };
        if let (Some((_, true)), None, false) = (call, &known, is_constructor(path)) {
            let found = imported(quote_spanned!(span => #hidden()));
            return (seen(quote_spanned!(span => #(#same)*(#named)), found, witness.to_token_stream()), None);
        }
        if is_constructor(path) {
            self.say(quote_spanned!(span => let #value = #(#same)*(#named);));
            let (applied, asked) = (applied(path), Ident::new("__asked", Span::mixed_site()));
            self.say(quote_spanned!(span => let #asked = || #applied.__cuda_jit_valued();));
            // SAFETY, in what is emitted: the closure is one that this macro has written, and captures nothing.
            let made = quote!(unsafe { __cuda_jit_made(&#value, #asked) });
            let callee = Ident::new("__callee", Span::mixed_site().located_at(span));
            self.say(quote!(let #callee = #made;));
            self.say(quote_spanned!(span => #callee.of(#witness);));
            return (Expr::Verbatim(value.to_token_stream()), None);
        }
        let asked = format_ident!("__cuda_jit_asked{}", number, span = span);
        if call.is_none() && !of_type(written) {
            // rustc tells a constant from a function
            let constant = format_ident!("__cuda_jit_constant{}", number, span = span);
            let all = imported(quote_spanned!(span => (#(#same)*(#path), #hidden(), || &#path)));
            self.say(quote_spanned!(span => let (#value, #asked, #constant) = #all;));
            self.say(quote_spanned!(span => #asked.argument(&#value, #constant).by(#witness, &#value);));
            return (Expr::Verbatim(value.to_token_stream()), None);
        }
        let both = imported(quote_spanned!(span => (#(#same)*(#path), #hidden())));
        self.say(quote_spanned!(span => let (#value, #asked) = #both;));
        let Some((mut see, known)) = known else {
            // a type's function is the type's, whatever is imported
            let shown = if of_type(written) { quote!(of(#witness)) } else { quote!(by(#witness, &#value)) };
            self.say(quote_spanned!(span => #asked.see(&#value).#shown;));
            return (Expr::Verbatim(value.to_token_stream()), None);
        };
        see.set_span(span);
        let found = quote_spanned!(span => #asked.#see(&#value, #known).by(#witness, &#value));
        if let Some((_, true)) = call {
            let callee = format_ident!("__cuda_jit_known{}", number, span = span);
            self.say(quote_spanned!(span => let #callee = #(#same)*(#found);));
            let tied = quote_spanned!(span => #callee.tie(&#value, #(#same)*(#named)));
            return (seen(tied, callee.to_token_stream(), quote!(0 as *const _)), Some(callee));
        }
        self.say(quote_spanned!(span => let #value = #found.stand_in(&#value, #value);));
        (Expr::Verbatim(value.to_token_stream()), None)
    }

    /// A path in capitals as an argument: a constant, or a constructor.
    pub(super) fn in_capitals(&mut self, arg: &mut Expr) -> s::Expr {
        let span = begin(arg);
        let number = self.callee(span);
        let (witness, value) = (callee(number, span), callee_value(number, span));
        self.say(quote_spanned!(span => let #value = #arg;));
        let reported = quote_spanned!(span => || __cuda_jit_Capitals(&#arg).reported());
        self.say(quote_spanned!(span => __cuda_jit_capitals(&#value, #reported, #witness);));
        *arg = Expr::Verbatim(value.to_token_stream());
        node(span, s::ExprKind::Function(number))
    }

    /// A path in the case of types as an argument: a constructor, or a value without fields.
    pub(super) fn constructor(&mut self, arg: &mut Expr) -> s::Expr {
        let span = begin(arg);
        let Expr::Path(path) = &*arg else { return nothing() };
        let (applied, asked) = (applied(path), Ident::new("__asked", Span::mixed_site()));
        let number = self.callee(span);
        let (witness, value) = (callee(number, span), callee_value(number, span));
        self.say(quote_spanned!(span => let #value = #path; let #asked = || #applied.__cuda_jit_valued();));
        // SAFETY, in what is emitted: the closure is one that this macro has written, and captures nothing.
        let named = quote!(unsafe { __cuda_jit_named(&#value, #asked) });
        let name = Ident::new("__callee", Span::mixed_site().located_at(span));
        self.say(quote!(let #name = #named;));
        self.say(quote_spanned!(span => #name.of(#witness);));
        *arg = Expr::Verbatim(value.to_token_stream());
        node(span, s::ExprKind::Function(number))
    }
}

/// The functions of the standard library that kernels know and call with so many arguments, and the hidden method that compares a
/// callee with them; none if there are none.
fn known_functions(count: usize, closures: bool) -> Option<(Ident, TokenStream)> {
    let (name, known) = match count {
        0 => ("none", quote!((::core::iter::empty,))),
        1 => (
            "one",
            quote!((
                ::core::mem::take,
                ::core::iter::once,
                ::core::iter::repeat,
                ::core::iter::from_fn,
                ::core::array::from_fn
            )),
        ),
        2 => (
            "two",
            quote!((
                ::core::mem::swap,
                ::core::mem::replace,
                ::core::iter::repeat_n,
                ::core::iter::successors,
                ::core::iter::zip
            )),
        ),
        _ => return None,
    };
    let see = if closures { "beside" } else { "see" };
    Some((format_ident!("{}_{}", see, name, span = Span::mixed_site()), known))
}

/// What the alias of a function begins with, by how many generic arguments its path has and whether a name that nothing has is
/// an error elsewhere; none if there is to be no alias.
pub(super) fn alias_prefix(path: &ExprPath, silent: bool) -> Option<&'static str> {
    let (last, before) =
        path.path.segments.iter().collect::<Vec<_>>().split_last().map(|(last, before)| (*last, before.to_vec()))?;
    let name = last.ident.to_string();
    // what begins with a capital may be a variant, of which rustc is to say that under its own name
    if of_type(path)
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
                // as those of `array::from_fn`
                3 if is_length(&arguments.args[1]) => Some(if silent { "__cuda_jit_y" } else { "__cuda_jit_x" }),
                _ => None,
            }
        }
        PathArguments::Parenthesized(_) => None,
    }
}

/// A path of a free function without generic arguments that are all inferred.
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

/// The path of the hidden function that names a device function: `f::__callee` of a free one, for which a type stands,
/// `Type::__fn_f` of a type's or trait's.
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

/// Returns true if a path may name a constructor that has no hidden function beside it: that of a struct, or of an imported variant.
pub(super) fn is_constructor(path: &ExprPath) -> bool {
    let capital = path.path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase));
    capital && !of_type(path)
}

/// The name of the function of a type or trait that a path names.
pub(crate) fn function_of_type(path: &ExprPath) -> Option<Ident> {
    path.path.segments.last().filter(|_| of_type(path)).map(|last| last.ident.clone())
}

/// Whether a path names a function of a type or trait, by Rust's naming. What is wrong of that rustc refuses: a module has no hidden
/// function, and nothing is imported from a type.
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

/// The name of the type of Rust's own that a path names a function of.
pub(super) fn primitive(path: &ExprPath) -> Option<&Ident> {
    let of = &path.path.segments.first()?.ident;
    (path.qself.is_none() && path.path.segments.len() == 2 && is_primitive(&of.to_string())).then_some(of)
}

/// Returns true for the name of a type of Rust's own.
fn is_primitive(name: &str) -> bool {
    PRIMITIVES.contains(&name) && !LOWER_TYPES.contains(&name)
}

/// In the typing probe: has rustc check that a name is the type of Rust's own. Of a module with that name, which lacks a hidden function,
/// rustc would take the type.
pub(super) fn primitive_check(name: &Ident) -> TokenStream {
    quote_spanned!(name.span() => { use __cuda_jit_primitives::*; use #name as __cuda_jit_primitive; })
}

/// The path of the function that ties a callee which takes closures.
fn seer(path: &ExprPath) -> ExprPath {
    let mut path = path.clone();
    let span = path.span();
    path.path.segments.push(Ident::new("__see", span).into());
    path
}

/// Returns true for a type's name in lower case, as far as it tells: a primitive, `f16`, `bf16`, or a short vector such as `f32x4` or `float4`.
fn is_lower_type(name: &str) -> bool {
    PRIMITIVES.contains(&name) || LOWER_TYPES.contains(&name) || is_vector(name)
}

/// Whether a name is a short vector's.
fn is_vector(name: &str) -> bool {
    let numbers = name.strip_suffix(['2', '3', '4']);
    numbers.is_some_and(|numbers| match numbers.strip_suffix('x') {
        Some(number) => PRIMITIVES.contains(&number) || LOWER_TYPES.contains(&number),
        None => CUDA_NUMBERS.contains(&numbers),
    })
}
