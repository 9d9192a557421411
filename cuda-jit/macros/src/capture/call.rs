//! Calls: device functions, closures, methods of numbers and slices, and the panicking macros.

use cuda_jit_syntax::owned as s;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, ExprPath, Ident, Lit, LitStr, Macro, Token};

use super::callee::{function_of_type, is_constructor, is_variant, of_type};
use super::expr::has_type;
use super::pattern::is_type_case;
use super::slicing::is_slicing;
use super::witnesses::callee;
use super::{BindingKind, Capture, habits, node, nothing, span::begin, std_traits};
use crate::format::Format;
use crate::options::leading_crate;

/// The types whose methods can be called as `type::method(value)`.
pub(crate) const PRIMITIVES: &[&str] = &[
    "bool", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64",
    "f16", "bf16", "char",
];

impl Capture {
    /// `callee(args)`
    pub(super) fn call(&mut self, expr: &mut Expr) -> s::Expr {
        let span = begin(expr);
        let Expr::Call(call) = &mut *expr else { return self.refuse(span, "this is not a call") };
        let Expr::Path(callee) = &*call.func else { return self.call_of_value(expr) };
        let callee = callee.clone();
        if let Some(hint) = refused_function(&callee) {
            return self.refuse(callee.path.segments.last().map_or(span, |last| last.ident.span()), hint);
        }
        if let Some(hint) = habits::numba(&callee) {
            return self.refuse(callee.span(), hint);
        }
        if let Some(hint) = std_traits::refused(&callee) {
            return self.refuse(callee.span(), hint);
        }
        if let Some((operation, check)) = std_traits::operation(&callee, &call.args.iter().collect::<Vec<_>>()) {
            self.prepend(check);
            *expr = operation;
            return self.expr(expr);
        }
        if let Some(ident) = callee.path.get_ident()
            && let Some(number) = self.lookup(ident)
        {
            if self.scopes.binding(number).kind != BindingKind::Closure {
                return self.call_of_value(expr);
            }
            let args = self.closure_arguments(&mut call.args);
            let callee = node(span, s::ExprKind::Binding(self.used(ident, number)));
            return node(span, s::ExprKind::CallClosure(Box::new(callee), args));
        }
        // a path among a constructor's arguments is a constant
        let is_constructor = is_constructor(&callee);
        let takes = |arg| if is_constructor { self.is_closure(arg) } else { self.names_function(arg) };
        let closures = call.args.iter().any(takes) || self.holds_closures && call.args.iter().any(may_hold_closure);
        let is_variant = is_variant(&callee);
        let arg = |arg: &mut Expr| match is_variant && self.is_closure(arg) {
            true => self.expr(arg),
            false => self.argument_of(arg, is_constructor),
        };
        let args: Vec<_> = call.args.iter_mut().map(arg).collect();
        if let Some(hint) = habits::dimensions(&callee.path).filter(|_| call.args.is_empty()) {
            return self.refuse(callee.span(), hint);
        }
        let place = begin(&call.func);
        let number = self.callee(place);
        match function_of_type(&callee) {
            Some(name) => {
                self.check_primitive(&callee);
                let hidden = self.imports.function_of_type(&callee, &name, call.args.len());
                let mut path = callee;
                if let Some(check) = std_traits::replaced(&mut path) {
                    self.prepend(check);
                }
                if let Some(last) = path.path.segments.last_mut() {
                    last.ident = hidden;
                }
                self.imports.checked_param(&mut path);
                // rustc reports an unknown function by a longer path twice, for the path and for its beginning.
                let is_checked = self.imports.has_body_copy() && !closures && path.path.segments.len() <= 2;
                *call.func = match is_checked {
                    true => Expr::Verbatim(quote_spanned!(place => __cuda_jit_same(#path))),
                    false => Expr::Path(path),
                };
                *expr = with_witness(expr, number, place);
            }
            None => {
                let (path, found) = self.unified_callee(number, &callee, Some((args.len(), closures)));
                *call.func = path;
                if let Some(found) = found {
                    *expr = Expr::Verbatim(quote_spanned!(place => #found.result(#expr)));
                }
            }
        }
        node(span, s::ExprKind::Call(number, args))
    }

    /// `(value.field)(args)`: a call of a closure in a value. Only rustc knows its result type.
    fn call_of_value(&mut self, expr: &mut Expr) -> s::Expr {
        let span = begin(expr);
        let Expr::Call(call) = &mut *expr else { return self.refuse(span, "this is not a call") };
        let callee = self.expr(&mut call.func);
        let args = self.closure_arguments(&mut call.args);
        if self.holds_closures {
            let callee = &call.func;
            *call.func = Expr::Verbatim(quote_spanned!(span => ((&#callee).__cuda_jit_callee())));
        }
        let called = node(span, s::ExprKind::CallClosure(Box::new(callee), args));
        let number = self.observe(expr, None);
        node(span, s::ExprKind::Typed(Box::new(called), number))
    }

    /// The arguments of a closure's call, each with its type.
    fn closure_arguments(&mut self, args: &mut Punctuated<Expr, Token![,]>) -> Vec<s::Expr> {
        let mut captured = Vec::with_capacity(args.len());
        for arg in args {
            let value = self.typed_argument(arg);
            captured.push(value);
        }
        captured
    }

    /// `receiver.method(args)`. The typing probe calls the method's hidden counterpart instead.
    pub(super) fn method_call(&mut self, expr: &mut Expr) -> s::Expr {
        let Expr::MethodCall(call) = &mut *expr else { return self.refuse(expr.span(), "this is not a call") };
        let is_literal = has_type(&call.receiver);
        let receiver = self.typed(&mut call.receiver);
        if is_literal {
            self.depend_on_copy(&mut call.receiver);
        }
        let is_told = call.method == "expect" || call.method == "expect_err";
        let arg = |arg: &mut Expr| match arg {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if is_told => message_of(text),
            // the method may take a value of any type
            arg if self.names_closure(arg).is_some() => self.expr(arg),
            arg => self.argument_of(arg, false),
        };
        let args = call.args.iter_mut().map(arg).collect();
        let span = call.method.span();
        let number = self.callee(span);
        call.method = self.imports.method(&call.method);
        *expr = with_witness(expr, number, span);
        node(span, s::ExprKind::Method(Box::new(receiver), args, number))
    }

    /// An argument of a call, which may be a function or a constructor by its path; a path among a constructor's arguments
    /// is a constant.
    fn argument_of(&mut self, arg: &mut Expr, is_constructor: bool) -> s::Expr {
        match arg {
            Expr::Macro(call) if is_slicing(&call.mac) => self.sections(&mut call.mac),
            _ => match self.path_case(arg) {
                Some(PathCase::Upper) => self.upper_case_path(arg),
                Some(PathCase::UpperCamel) if !is_constructor => self.constructor(arg),
                None if is_constructor && self.is_closure(arg) => self.expr(arg),
                _ => self.argument_or_function(arg),
            },
        }
    }

    /// An argument, which may be a path to a function, or a reference to one.
    fn argument_or_function(&mut self, arg: &mut Expr) -> s::Expr {
        if self.is_closure(arg) || !self.names_function(arg) {
            return self.argument(arg);
        }
        match arg {
            Expr::Reference(reference) => {
                let function = self.function(&mut reference.expr);
                node(begin(arg), s::ExprKind::Reborrow(Box::new(function), false))
            }
            _ => self.function(arg),
        }
    }

    /// The letter case of a path that begins with a capital and does not name a binding.
    fn path_case(&self, arg: &Expr) -> Option<PathCase> {
        let Expr::Path(path) = arg else { return None };
        let is_local = path.path.get_ident().is_some_and(|ident| self.scopes.may_be_local(ident));
        let last = &path.path.segments.last().filter(|_| !is_local)?.ident;
        let is_capital = last.to_string().starts_with(char::is_uppercase);
        is_capital.then_some(if is_type_case(last) { PathCase::UpperCamel } else { PathCase::Upper })
    }

    /// `matches!(value, pattern)`, captured as the equivalent `match`.
    pub(super) fn matches(&mut self, expr: &mut Expr) -> s::Expr {
        let Expr::Macro(call) = &*expr else { return nothing() };
        let (span, path) = (call.mac.path.span(), call.mac.path.clone());
        self.known_macro(&call.mac);
        // the name stays in the probe, so that rustc reports it if it is another macro's
        self.prepend(quote_spanned!(span => let _ = || #path!(0, _);));
        let parse = |input: ParseStream<'_>| {
            let value: Expr = input.parse()?;
            input.parse::<Token![,]>()?;
            let pattern = syn::Pat::parse_multi_with_leading_vert(input)?;
            let guard =
                if input.parse::<Option<Token![if]>>()?.is_some() { Some(input.parse::<Expr>()?) } else { None };
            input.parse::<Option<Token![,]>>()?;
            Ok((value, pattern, guard))
        };
        match parse.parse2(call.mac.tokens.clone()) {
            Ok((value, pattern, guard)) => {
                let guard = guard.into_iter();
                // in parentheses, since a `match` at the beginning of a statement would end the statement
                let written = quote_spanned!(span => (match #value { #pattern #(if #guard)* => true, _ => false }));
                match syn::parse2(written) {
                    Ok(matched) => *expr = matched,
                    Err(error) => self.errors.push(error),
                }
                self.expr(expr)
            }
            Err(error) => {
                self.errors.push(error);
                nothing()
            }
        }
    }

    /// A macro in a kernel's body.
    pub(super) fn macro_call(&mut self, call: &mut Macro) -> s::Expr {
        let span = call.path.span();
        let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if is_known_macro(&name) {
            self.known_macro(call);
        }
        if name == "shared" {
            return self.shared(call, span);
        }
        if name == "dynamic_shared" {
            return self.dynamic_shared(call, span);
        }
        if name == "printf" {
            return self.printf(call, span);
        }
        match name.as_str() {
            "assert" | "debug_assert" => self.panicking(call, span, 1),
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => self.panicking(call, span, 2),
            "panic" | "unreachable" | "todo" | "unimplemented" => self.panicking(call, span, 0),
            _ => {
                let hint = match name.as_str() {
                    "print" | "println" | "eprint" | "eprintln" | "dbg" => "write `printf!(\"..\\n\", ..)`",
                    "format" => "kernels have no strings; `printf!` prints",
                    "vec" => "kernels have no heap; write an array, `[0.0; 16]`",
                    "s" => "write it where a view is sliced: `x.slice(s![1.., 0])`",
                    _ => {
                        "kernels have `printf!`, `assert!`, `panic!`, `unreachable!` and similar macros; one of your own writes a whole \
                         function, or is a `#[device]` function instead"
                    }
                };
                let path = call.path.to_token_stream().to_string().replace(' ', "");
                self.refuse(span, format!("`{path}!` is not supported; {hint}"))
            }
        }
    }

    /// Makes rustc check that a macro is the one that the language knows by this name. The typing probe imports that one by
    /// a glob, so that the name, or the last segment of a path, is ambiguous where it is another macro's.
    pub(super) fn known_macro(&mut self, call: &Macro) {
        let Some(name) = call.path.segments.last().map(|last| &last.ident) else { return };
        self.imports.known_macro(name);
        // an import in the body shadows those of the typing probe, so the check is emitted at the macro's call
        if call.path.segments.len() > 1 || self.scopes.block() > 0 {
            let (path, module) = (&call.path, Ident::new(&name.to_string(), Span::mixed_site()));
            let taken = match name.to_string().as_str() {
                "assert" | "debug_assert" => quote!(true),
                "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => quote!(0, 0),
                "printf" => quote!(""),
                "matches" => quote!(0, _),
                "shared" => quote!([u8; 1]),
                "dynamic_shared" => quote!([u8]),
                "s" => quote!(..),
                _ => TokenStream::new(),
            };
            let import = (call.path.segments.len() > 1).then(|| quote!(use #path;));
            self.prepend(quote_spanned!(name.span() => {
                #import
                { use __cuda_jit_macros::#module::*; let _ = || { #name!(#taken); }; }
            }));
        }
    }

    /// `shared!(T)`
    fn shared(&mut self, call: &Macro, span: Span) -> s::Expr {
        match syn::parse2::<syn::Type>(call.tokens.clone()) {
            Ok(ty) => {
                if let Some(place) = self.runtime_length(&ty) {
                    let hint = "the length of a `shared!` array is a constant; where the launch tells it, write \
                                `dynamic_shared!([f32; n])`";
                    return self.refuse(place, hint);
                }
                let number = self.shared_type(&ty);
                node(span, s::ExprKind::Shared(number))
            }
            Err(_) => self.refuse(span, "`shared!` takes the type of an array, such as `shared!([f32; 256])`"),
        }
    }

    /// The span of the binding if the length of an array, nested or not, is one.
    fn runtime_length(&mut self, ty: &syn::Type) -> Option<Span> {
        let syn::Type::Array(array) = ty else { return None };
        let is_binding = match &array.len {
            Expr::Path(path) => path.path.get_ident().and_then(|ident| self.lookup(ident)).is_some(),
            _ => false,
        };
        if is_binding { Some(array.len.span()) } else { self.runtime_length(&array.elem) }
    }

    /// `dynamic_shared!([T; n], ..)`; the last array may have no length.
    fn dynamic_shared(&mut self, call: &mut Macro, span: Span) -> s::Expr {
        let hint = "`dynamic_shared!` takes what each part holds, such as `dynamic_shared!([f32; n], [u32; m])`; only the \
                    last may have no length, and takes what is left";
        let parts = Punctuated::<DynamicArray, Token![,]>::parse_terminated.parse2(call.tokens.clone());
        let Ok(mut parts) = parts else { return self.refuse(span, hint) };
        let open = parts.iter().position(|part| part.len.is_none()).unwrap_or(parts.len());
        if parts.is_empty() || open + 1 < parts.len() {
            return self.refuse(span, hint);
        }
        let mut captured = Vec::new();
        for part in &mut parts {
            let number = self.shared_type(&part.element);
            captured.push((number, part.len.as_mut().map(|len| Box::new(self.expr(len)))));
        }
        let parts = parts.iter().map(|DynamicArray { element, len }| match len {
            Some(len) => quote!([#element; #len]),
            None => quote!([#element]),
        });
        call.tokens = quote!(#(#parts),*);
        node(span, s::ExprKind::DynamicShared(captured))
    }

    /// `printf!("..", args)`
    fn printf(&mut self, call: &mut Macro, span: Span) -> s::Expr {
        let parse = |(path, rest)| Ok((path, syn::parse2::<Format>(rest)?));
        let (path, mut format) = match leading_crate(call.tokens.clone()).and_then(parse) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.errors.push(error);
                return nothing();
            }
        };
        let args = format.args.iter_mut().map(|(_, value)| self.typed(value)).collect();
        let (path, tokens) = (path.into_iter(), format.tokens());
        call.tokens = quote!(#(crate = #path,)* #tokens);
        node(span, s::ExprKind::Print(format.pieces(), args))
    }
}

/// Returns true for an argument whose value may contain a closure.
fn may_hold_closure(arg: &Expr) -> bool {
    !matches!(arg, Expr::Lit(_) | Expr::Unary(_) | Expr::Binary(_) | Expr::Cast(_))
}

/// Returns true if the language has an expression macro of this name.
fn is_known_macro(name: &str) -> bool {
    matches!(
        name.trim_start_matches("debug_"),
        "assert" | "assert_eq" | "assert_ne" | "dynamic_shared" | "panic" | "printf" | "shared"
    ) || matches!(name, "todo" | "unimplemented" | "unreachable")
}

/// In the typing probe: the call of a hidden function, whose callee is unified with its witness.
fn with_witness(call: &Expr, number: u32, span: Span) -> Expr {
    let witness = callee(number, span);
    Expr::Verbatim(quote_spanned!(span => #call.of(#witness)))
}

/// The letter case of a path's last name.
enum PathCase {
    /// Upper camel case, as types and variants have.
    UpperCamel,
    /// Upper case throughout, as constants have.
    Upper,
}

/// `[T; n]` or `[T]`.
struct DynamicArray {
    element: syn::Type,
    len: Option<Expr>,
}

impl Parse for DynamicArray {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let inner;
        syn::bracketed!(inner in input);
        let element = inner.parse()?;
        let len = if inner.parse::<Option<Token![;]>>()?.is_some() { Some(inner.parse()?) } else { None };
        Ok(DynamicArray { element, len })
    }
}

/// The message of `expect`; rustc checks that the method takes a text.
fn message_of(text: &LitStr) -> s::Expr {
    node(text.span(), s::ExprKind::Lit(s::Lit::Text(text.value())))
}

/// The error text for a function that cannot be called. A macro cannot know whether a path names a kernel, so that case is
/// left to rustc.
fn refused_function(path: &ExprPath) -> Option<String> {
    let [.., of, function] = &path.path.segments.iter().collect::<Vec<_>>()[..] else { return None };
    let (of, name) = (&of.ident, &function.ident);
    (!of_type(path) && (name == "launch" || name == "forall")).then(|| {
        format!(
            "a kernel cannot launch another; launch `{of}` from the host, after this one, or share a `#[device]` function; if \
             `{of}` is a module with such a function, import that: `use {of}::{name};`"
        )
    })
}
