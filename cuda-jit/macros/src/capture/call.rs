//! Calls: device functions, closures, methods of numbers and slices, and the panicking macros.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, ExprPath, Ident, Lit, Macro, Path, Token};

use super::methods::{METHODS, refused_method};
use super::{BindingKind, Callee, Capture, Named, callee, callee_value, node};
use crate::format::Format;

/// The types whose methods can be called as `type::method(value)`.
const PRIMITIVES: &[&str] =
    &["bool", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f32", "f64"];

impl Capture {
    /// `callee(args)`
    pub(super) fn call(&mut self, expr: &mut Expr) -> TokenStream {
        let span = expr.span();
        let Expr::Call(call) = &mut *expr else { return self.refuse(span, "this is not a call") };
        let Expr::Path(callee) = &*call.func else {
            return self.refuse(call.func.span(), "a kernel calls functions by their names");
        };
        let callee = callee.clone();
        let closures = call.args.iter().any(|arg| self.is_closure(arg));
        let args: Vec<_> = call.args.iter_mut().map(|arg| self.argument(arg)).collect();
        if callee.path.is_ident("Some") && args.len() == 1 {
            return node(span, quote!(Option(::core::option::Option::Some(#(&#args)*))));
        }
        if let Some(number) = callee.path.get_ident().and_then(|ident| self.lookup(ident)) {
            return match self.bindings[number as usize].kind {
                BindingKind::Closure => node(span, quote!(CallClosure(#number, &[#(#args),*]))),
                _ => self.refuse(callee.span(), "this is a value, not a function or a closure"),
            };
        }
        if let Some(known) = self.known_call(&callee.path, &args, span) {
            return known;
        }
        if is_constructor(&callee.path) {
            let fields = args.iter().enumerate().map(|(index, value)| {
                let name = index.to_string();
                quote!((#name, #value))
            });
            let fields = quote!(&[#(#fields),*]);
            let number = self.observe(expr);
            return node(span, quote!(Struct(#number, #fields, ::core::option::Option::None)));
        }
        if let (true, Some(last)) = (of_type(&callee), callee.path.segments.last())
            && !self.functions.contains(&last.ident)
        {
            self.functions.push(last.ident.clone());
        }
        let number = self.callee(Callee::Path(hidden(&callee)));
        self.tie(call, number, closures.then(|| seer(&callee)));
        node(span, quote!(Call(#number, &[#(#args),*])))
    }

    /// Calls that the language knows by their paths.
    fn known_call(&mut self, path: &Path, args: &[TokenStream], span: Span) -> Option<TokenStream> {
        if let Some(name) = without_dimensions(path) {
            let hint = format!("in how many dimensions? Write `{name}::<1>()`, `<2>` or `<3>`");
            return Some(self.refuse(path.span(), hint));
        }
        let [.., ty, function] = &path.segments.iter().collect::<Vec<_>>()[..] else { return None };
        let (ty, name) = (ty.ident.to_string(), function.ident.to_string());
        match (ty.as_str(), name.as_str(), args) {
            ("mem", "swap" | "replace", [_, _]) | ("mem", "take", [_]) => {
                return Some(node(span, quote!(Exchange(#name, &[#(#args),*]))));
            }
            (primitive, "from_bits" | "from", [value]) if PRIMITIVES.contains(&primitive) => {
                let primitive = Ident::new(primitive, path.span());
                self.types.push(syn::parse_quote!(#primitive));
                let number = self.types.len() as u32 - 1;
                return Some(match name.as_str() {
                    "from" => node(span, quote!(Cast(&#value, #number))),
                    _ => node(span, quote!(FromBits(&#value, #number))),
                });
            }
            _ => {}
        }
        let primitive = PRIMITIVES.contains(&ty.as_str());
        let known = METHODS.contains(&name.as_str());
        let generic = known && self.type_params.contains(&ty);
        if !(primitive || generic) {
            return None;
        }
        let [receiver, args @ ..] = args else {
            let hint = format!("kernels cannot call `{ty}::{name}`; write a `#[device]` function");
            return Some(self.refuse(function.ident.span(), hint));
        };
        if !known {
            let hint = format!("kernels cannot call `{ty}::{name}`; write a `#[device]` function");
            return Some(self.refuse(function.ident.span(), hint));
        }
        let number = self.callee(Callee::Builtin(span));
        Some(node(span, quote!(Method(#name, &#receiver, &[#(#args),*], #number))))
    }

    /// In the twin: `let f = path; observer.see(&f);` before the statement, and `f(args)` in it, so that the callee's
    /// generic arguments are seen.
    fn tie(&mut self, call: &mut ExprCall, number: u32, seer: Option<ExprPath>) {
        let span = call.func.span();
        let (observer, value) = (callee(number, span), callee_value(number, span));
        let path = std::mem::replace(&mut *call.func, Expr::Verbatim(quote!(#value)));
        self.before.push(syn::parse_quote_spanned!(span => let #value = #path;));
        self.before.push(match seer {
            Some(seer) => syn::parse_quote_spanned!(span => #seer(#observer, &#value);),
            None => syn::parse_quote_spanned!(span => #observer.see(&#value);),
        });
    }

    /// `receiver.method(args)`. In the twin the receiver is asked for the method's hidden one, in a branch that never
    /// goes on, so that whatever it moves is still there.
    pub(super) fn method_call(&mut self, call: &mut ExprMethodCall) -> TokenStream {
        let span = call.span();
        let name = call.method.to_string();
        if let Some(hint) = refused_method(&name) {
            return self.refuse(call.method.span(), hint);
        }
        let written = (*call.receiver).clone();
        let receiver = self.expr(&mut call.receiver);
        let args: Vec<_> = match (name.as_str(), call.args.first()) {
            ("expect", Some(Expr::Lit(literal))) => self.message_of(literal).into_iter().collect(),
            _ => call.args.iter_mut().map(|arg| self.argument(arg)).collect(),
        };
        let method_span = call.method.span();
        let number = self.callee(Callee::Method(method_span));
        let (observer, root) = (callee(number, method_span), &self.root);
        let hidden = format_ident!("__dev_{}", name, span = method_span);
        let ask = quote_spanned!(method_span => #observer.of((#written).#hidden()););
        self.before.push(syn::parse_quote!(if #root::never() { #ask #root::unreached() }));
        if !METHODS.contains(&name.as_str()) && !self.methods.iter().any(|known| *known == name) {
            self.methods.push(call.method.clone());
        }
        node(span, quote!(Method(#name, &#receiver, &[#(#args),*], #number)))
    }

    /// The message of `expect`.
    fn message_of(&mut self, literal: &syn::ExprLit) -> Option<TokenStream> {
        let Lit::Str(text) = &literal.lit else { return None };
        let text = braces_doubled(&text.value());
        Some(node(literal.span(), quote!(Lit(s::Lit::Text(#text)))))
    }

    /// `*slice.get_unchecked(index)` and its mutable form, or `*reference`.
    pub(super) fn dereference(&mut self, unary: &mut syn::ExprUnary) -> TokenStream {
        let span = unary.span();
        match &mut *unary.expr {
            Expr::MethodCall(call)
                if (call.method == "get_unchecked" || call.method == "get_unchecked_mut") && call.args.len() == 1 =>
            {
                let (base, index) = (self.expr(&mut call.receiver), self.expr(&mut call.args[0]));
                node(span, quote!(IndexUnchecked(&#base, &#index)))
            }
            reference => {
                let reference = self.expr(reference);
                node(span, quote!(Deref(&#reference)))
            }
        }
    }

    /// A macro in a kernel's body.
    pub(super) fn macro_call(&mut self, call: &mut Macro) -> TokenStream {
        let span = call.path.span();
        let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if name == "shared" {
            return self.shared(call, span);
        }
        if name == "dynamic_shared" {
            return self.dynamic_shared(call, span);
        }
        if name == "printf" {
            return self.printf(call, span);
        }
        let args = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(call.tokens.clone());
        let Ok(mut args) = args else {
            return self.refuse(span, format!("kernels cannot use `{name}!` in this form"));
        };
        let captured = match name.as_str() {
            "assert" | "debug_assert" => self.assert(&mut args, span),
            "assert_eq" | "debug_assert_eq" => self.assert_compare(&mut args, quote!(Eq), "left == right", span),
            "assert_ne" | "debug_assert_ne" => self.assert_compare(&mut args, quote!(Ne), "left != right", span),
            "panic" => self.panic(&args, "explicit panic", "", span),
            "unreachable" => self.panic(&args, "entered unreachable code", "entered unreachable code: ", span),
            "todo" => self.panic(&args, "not yet implemented", "not yet implemented: ", span),
            "unimplemented" => self.panic(&args, "not implemented", "not implemented: ", span),
            _ => {
                let hint = match name.as_str() {
                    "print" | "println" | "eprint" | "eprintln" | "dbg" => "write `printf!(\"..\\n\", ..)`",
                    _ => "kernels can use `printf!`, `assert!`, `panic!`, `unreachable!` and their kin so far",
                };
                return self.refuse(span, format!("`{name}!` is not supported; {hint}"));
            }
        };
        call.tokens = args.into_token_stream();
        if name.starts_with("debug_") {
            return quote!(if ::core::cfg!(debug_assertions) { #captured } else {
                s::Expr(s::Pos(0, 0), s::ExprKind::Tuple(&[]))
            });
        }
        captured
    }

    /// `shared!(T)`
    fn shared(&mut self, call: &Macro, span: Span) -> TokenStream {
        match syn::parse2::<syn::Type>(call.tokens.clone()) {
            Ok(ty) => {
                self.named.push(Named::Shared(Box::new(ty)));
                let number = self.named.len() as u32 - 1;
                node(span, quote!(Shared(#number)))
            }
            Err(_) => self.refuse(span, "`shared!` takes the type of an array, such as `shared!([f32; 256])`"),
        }
    }

    /// `dynamic_shared!([T; n], ..)`; the last part may be without a length.
    fn dynamic_shared(&mut self, call: &mut Macro, span: Span) -> TokenStream {
        let hint = "`dynamic_shared!` takes what each part holds, such as `dynamic_shared!([f32; n], [u32; m])`; only the \
                    last may have no length, and takes what is left";
        let parts = Punctuated::<DynamicPart, Token![,]>::parse_terminated.parse2(call.tokens.clone());
        let Ok(mut parts) = parts else { return self.refuse(span, hint) };
        let open = parts.iter().position(|part| part.len.is_none()).unwrap_or(parts.len());
        if parts.is_empty() || open + 1 < parts.len() {
            return self.refuse(span, hint);
        }
        let mut captured = Vec::new();
        for part in &mut parts {
            self.named.push(Named::Shared(Box::new(part.element.clone())));
            let number = self.named.len() as u32 - 1;
            let len = super::expr::option(part.len.as_mut().map(|len| {
                let len = self.expr(len);
                quote!(&#len)
            }));
            captured.push(quote!((#number, #len)));
        }
        let parts = parts.iter().map(|DynamicPart { element, len }| match len {
            Some(len) => quote!([#element; #len]),
            None => quote!([#element]),
        });
        call.tokens = quote!(#(#parts),*);
        node(span, quote!(DynamicShared(&[#(#captured),*])))
    }

    /// `printf!("..", args)`
    fn printf(&mut self, call: &mut Macro, span: Span) -> TokenStream {
        // an error in the string is that of the macro itself, which the function and its twin call
        let Ok(mut format) = syn::parse2::<Format>(call.tokens.clone()) else {
            return node(span, quote!(Tuple(&[])));
        };
        let args: Vec<_> = format.args.iter_mut().map(|(_, value)| self.expr(value)).collect();
        call.tokens = format.tokens();
        let pieces = format.pieces(&quote!(s));
        node(span, quote!(Print(#pieces, &[#(#args),*])))
    }

    fn assert(&mut self, args: &mut Punctuated<Expr, Token![,]>, span: Span) -> TokenStream {
        let Some(condition) = args.first_mut() else { return self.refuse(span, "what is asserted?") };
        let default = format!("assertion failed: {}", condition.to_token_stream());
        let condition = self.expr(condition);
        let message = self.message(args, 1, &default, "");
        node(span, quote!(Assert(&#condition, #message)))
    }

    fn assert_compare(
        &mut self,
        args: &mut Punctuated<Expr, Token![,]>,
        op: TokenStream,
        text: &str,
        span: Span,
    ) -> TokenStream {
        if args.len() < 2 {
            return self.refuse(span, "two values are compared");
        }
        let (left, right) = (self.expr(&mut args[0]), self.expr(&mut args[1]));
        let compare = node(span, quote!(Binary(s::BinaryOp::#op, &#left, &#right)));
        let message = self.message(args, 2, &format!("assertion `{text}` failed"), "");
        node(span, quote!(Assert(&#compare, #message)))
    }

    fn panic(&mut self, args: &Punctuated<Expr, Token![,]>, default: &str, prefix: &str, span: Span) -> TokenStream {
        let message = self.message(args, 0, default, prefix);
        node(span, quote!(Panic(#message)))
    }

    /// The message that stands at `index` among a macro's arguments, or the default.
    fn message(&mut self, args: &Punctuated<Expr, Token![,]>, index: usize, default: &str, prefix: &str) -> String {
        match args.get(index) {
            None => braces_doubled(default),
            Some(Expr::Lit(literal)) if args.len() == index + 1 => match &literal.lit {
                Lit::Str(text) if !text.value().contains(['{', '}']) => format!("{prefix}{}", text.value()),
                _ => self.refuse_message(literal.span()),
            },
            Some(other) => self.refuse_message(other.span()),
        }
    }

    fn refuse_message(&mut self, span: Span) -> String {
        self.refuse(span, "a message in a kernel is one string literal without `{}`");
        String::new()
    }
}

/// `[T; n]` or `[T]`.
struct DynamicPart {
    element: syn::Type,
    len: Option<Expr>,
}

impl Parse for DynamicPart {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let inner;
        syn::bracketed!(inner in input);
        let element = inner.parse()?;
        let len = if inner.parse::<Option<Token![;]>>()?.is_some() { Some(inner.parse()?) } else { None };
        Ok(DynamicPart { element, len })
    }
}

/// Whether a path names a tuple struct, by Rust's naming.
fn is_constructor(path: &Path) -> bool {
    path.segments.last().is_some_and(|segment| segment.ident.to_string().starts_with(char::is_uppercase))
}

/// The path of the hidden function that names a device function: `f::__callee` of a free one, for which a type stands,
/// `Type::__fn_f` of a type's or trait's.
fn hidden(path: &ExprPath) -> ExprPath {
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

/// Whether a path names a function of a type or trait, by Rust's naming.
fn of_type(path: &ExprPath) -> bool {
    let before = path.path.segments.iter().rev().nth(1);
    path.qself.is_some() || before.is_some_and(|segment| segment.ident.to_string().starts_with(char::is_uppercase))
}

/// The path of the function that ties a callee which takes closures.
fn seer(path: &ExprPath) -> ExprPath {
    let mut path = path.clone();
    let span = path.span();
    path.path.segments.push(Ident::new("__see", span).into());
    path
}

/// `grid` or `grid_size` without their number of dimensions, which nothing could infer.
fn without_dimensions(path: &Path) -> Option<String> {
    let last = path.segments.last()?;
    let name = last.ident.to_string();
    (last.arguments.is_none() && matches!(name.as_str(), "grid" | "grid_size")).then_some(name)
}

/// In a message braces stand for arguments, so those of the source are doubled.
fn braces_doubled(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}
