//! Calls: device functions, closures, methods of numbers and slices, and the panicking macros.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, Lit, Macro, Path, Token};

use super::{BindingKind, Capture, callee, callee_value, node};

/// The methods that kernels can call on numbers, `bool` and slices.
const METHODS: &[&str] = &[
    "dim",
    "ncols",
    "ndim",
    "nrows",
    "abs",
    "abs_diff",
    "ceil",
    "clamp",
    "copysign",
    "count_ones",
    "count_zeros",
    "floor",
    "fract",
    "is_empty",
    "is_finite",
    "is_infinite",
    "is_nan",
    "is_negative",
    "is_positive",
    "is_power_of_two",
    "is_sign_negative",
    "is_sign_positive",
    "leading_ones",
    "leading_zeros",
    "len",
    "max",
    "min",
    "mul_add",
    "recip",
    "reverse_bits",
    "rotate_left",
    "rotate_right",
    "round_ties_even",
    "saturating_add",
    "saturating_sub",
    "signum",
    "sqrt",
    "swap_bytes",
    "to_bits",
    "trailing_ones",
    "trailing_zeros",
    "trunc",
    "unsigned_abs",
    "wrapping_add",
    "wrapping_mul",
    "wrapping_neg",
    "wrapping_shl",
    "wrapping_shr",
    "wrapping_sub",
    "div_ceil",
];

/// The types whose methods can be called as `type::method(value)`.
const PRIMITIVES: &[&str] =
    &["bool", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f32", "f64"];

impl Capture {
    /// `callee(args)`
    pub(super) fn call(&mut self, expr: &mut Expr) -> TokenStream {
        let span = expr.span();
        let Expr::Call(call) = expr else { return self.refuse(span, "this is not a call") };
        let Expr::Path(callee) = &*call.func else {
            return self.refuse(call.func.span(), "a kernel calls functions by their names");
        };
        let path = callee.path.clone();
        if callee.qself.is_some() {
            return self.refuse(span, "`<T as Trait>::function()` is not supported; call a `#[device]` function");
        }
        let args: Vec<_> = call.args.iter_mut().map(|arg| self.expr(arg)).collect();
        if path.is_ident("Some") && args.len() == 1 {
            return node(span, quote!(Option(::core::option::Option::Some(#(&#args)*))));
        }
        if let Some(number) = path.get_ident().and_then(|ident| self.lookup(ident)) {
            return match self.bindings[number as usize].kind {
                BindingKind::Closure => node(span, quote!(CallClosure(#number, &[#(#args),*]))),
                _ => self.refuse(path.span(), "this is a value, not a function or a closure"),
            };
        }
        if let Some((ty, method)) = self.associated(&path) {
            return self.associated_call(&ty, &method, &args, span);
        }
        if let Some(name) = without_dimensions(&path) {
            return self.refuse(path.span(), format!("in how many dimensions? Write `{name}::<1>()`, `<2>` or `<3>`"));
        }
        if let Some(ty) = type_prefix(&path) {
            let hint =
                format!("kernels cannot call functions of types, such as `{ty}`'s; write a `#[device]` function");
            return self.refuse(path.span(), hint);
        }
        self.callees.push(path);
        let number = self.callees.len() as u32 - 1;
        let call = tied(call, number);
        *expr = call;
        node(span, quote!(Call(#number, &[#(#args),*])))
    }

    /// `Type::function` where the type is a primitive or a type parameter.
    fn associated(&self, path: &Path) -> Option<(String, syn::Ident)> {
        let [ty, method] = path.segments.iter().collect::<Vec<_>>()[..] else { return None };
        let name = ty.ident.to_string();
        let known = PRIMITIVES.contains(&name.as_str()) || self.type_params.contains(&name);
        known.then(|| (name, method.ident.clone()))
    }

    fn associated_call(&mut self, ty: &str, method: &syn::Ident, args: &[TokenStream], span: Span) -> TokenStream {
        let name = method.to_string();
        if !METHODS.contains(&name.as_str()) || args.is_empty() {
            let hint = format!("kernels cannot call `{ty}::{name}`; write a `#[device]` function");
            return self.refuse(method.span(), hint);
        }
        let (receiver, args) = (&args[0], &args[1..]);
        node(span, quote!(Method(#name, &#receiver, &[#(#args),*])))
    }

    /// `receiver.method(args)`
    pub(super) fn method_call(&mut self, call: &mut ExprMethodCall) -> TokenStream {
        let span = call.span();
        let name = call.method.to_string();
        if let Some(hint) = refused_method(&name) {
            return self.refuse(call.method.span(), hint);
        }
        let receiver = self.expr(&mut call.receiver);
        let args: Vec<_> = call.args.iter_mut().map(|arg| self.expr(arg)).collect();
        node(span, quote!(Method(#name, &#receiver, &[#(#args),*])))
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
                let hint = "kernels can use `assert!`, `panic!`, `unreachable!` and their kin so far";
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
                self.arrays.push(ty);
                let number = self.arrays.len() as u32 - 1;
                node(span, quote!(Shared(#number)))
            }
            Err(_) => self.refuse(span, "`shared!` takes the type of an array, such as `shared!([f32; 256])`"),
        }
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

/// The type whose function a path names, by Rust's naming: `Type::function`.
fn type_prefix(path: &Path) -> Option<String> {
    let before = path.segments.iter().rev().nth(1)?.ident.to_string();
    let is_type = PRIMITIVES.contains(&before.as_str()) || before.starts_with(char::is_uppercase);
    is_type.then_some(before)
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

/// Why a method cannot be called, if it cannot.
fn refused_method(name: &str) -> Option<String> {
    if METHODS.contains(&name) {
        return None;
    }
    Some(match name {
        "iter" | "iter_mut" | "into_iter" | "chunks" | "windows" | "zip" | "map" | "enumerate" => {
            format!("`{name}` makes an iterator, which kernels do not have; write `for i in 0..slice.len()`")
        }
        "get" | "get_mut" => "test the index with `if i < slice.len()` and write `slice[i]`".to_string(),
        "get_unchecked" | "get_unchecked_mut" => format!("write `*slice.{name}(i)` to read or write the element"),
        "unwrap" | "expect" | "is_some" | "is_none" => "take the `Option` apart with `if let` or `match`".to_string(),
        "sin" | "cos" | "tan" | "exp" | "ln" | "powf" | "powi" | "log2" | "exp2" | "tanh" | "round" | "hypot" => {
            format!("`{name}` needs a math library, which kernels cannot link yet")
        }
        "shape" | "strides" | "len_of" => "write `.dim()`, `.nrows()`, `.ncols()` or `.len()`".to_string(),
        "clone" | "to_owned" => "values in kernels are copied; drop the call".to_string(),
        _ => format!("`{name}` is not a method that kernels can call; write a `#[device]` function"),
    })
}

/// In the twin: `{ let f = path; observer.see(&f); f(args) }`, so that the callee's generic arguments are seen.
fn tied(call: &ExprCall, number: u32) -> Expr {
    let span = call.func.span();
    let (observer, value) = (callee(number, span), callee_value(span));
    let mut call = call.clone();
    let path = std::mem::replace(&mut *call.func, Expr::Verbatim(quote!(#value)));
    let bind = quote_spanned!(span => let #value = #path; #observer.see(&#value););
    syn::parse_quote!({ #bind #call })
}
