//! The macros that panic: their conditions and messages.

use cuda_jit_syntax::owned as s;
use proc_macro2::Span;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Expr, Macro, Token};

use super::{Capture, node, nothing};
use crate::format::Format;

/// The maximum number of values in a panic's record.
const MAX_VALUES: usize = 8;

impl Capture {
    /// A macro that panics, whose first `values` arguments are values and not the message.
    pub(super) fn panicking(&mut self, call: &mut Macro, span: Span, values: usize) -> s::Expr {
        let parse = |input: ParseStream<'_>| arguments(input, span, values);
        let (mut values, mut format) = match parse.parse2(call.tokens.clone()) {
            Ok(parts) => parts,
            Err(error) => {
                self.errors.push(error);
                return nothing();
            }
        };
        let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let plain = name.trim_start_matches("debug_");
        let default = match plain {
            "assert" => format!("assertion failed: {}", values[0].to_token_stream()),
            "panic" => "explicit panic".to_owned(),
            "unreachable" => "entered unreachable code".to_owned(),
            "todo" => "not yet implemented".to_owned(),
            "unimplemented" => "not implemented".to_owned(),
            _ => String::new(),
        };
        let prefix = match plain {
            "unreachable" | "todo" | "unimplemented" => format!("{default}: "),
            _ => String::new(),
        };
        let mut tested: Vec<_> = values.iter_mut().map(|value| self.typed(value)).collect();
        let message = match &mut format {
            Some(format) => self.message(format, prefix, tested.len().saturating_sub(1) * 2),
            None => s::Message { pieces: texts([default]), args: Vec::new() },
        };
        call.tokens = match &format {
            Some(format) => {
                let format = format.tokens();
                quote!(#(#values,)* #format)
            }
            None => quote!(#(#values),*),
        };
        let captured = match (plain, tested.pop(), tested.pop()) {
            (compares, Some(right), Some(left)) => {
                let op = if compares == "assert_eq" { s::BinaryOp::Eq } else { s::BinaryOp::Ne };
                s::ExprKind::AssertCompare(op, Box::new(left), Box::new(right), message)
            }
            (_, Some(condition), _) => s::ExprKind::Assert(Box::new(condition), message),
            _ => s::ExprKind::Panic(message),
        };
        let captured = node(span, captured);
        if name.starts_with("debug_") {
            return node(span, s::ExprKind::Debug(Box::new(captured)));
        }
        captured
    }

    /// A message, with the values that it prints; the typing probe checks that they are printable.
    fn message(&mut self, format: &mut Format, prefix: String, taken: usize) -> s::Message {
        if format.args.len() + taken > MAX_VALUES {
            let most = MAX_VALUES - taken;
            self.refuse(format.span(), format!("the message of a panic has at most {most} values here"));
        }
        let mut args = Vec::with_capacity(format.args.len());
        for (_, value) in &mut format.args {
            args.push(self.typed(value));
            let span = value.span();
            *value = Expr::Verbatim(quote_spanned!(span => *__cuda_jit_printable(&(#value))));
        }
        let mut message = format.message(args);
        message.pieces.splice(0..0, texts([prefix]));
        message
    }
}

/// Texts as pieces, without empty ones.
fn texts(texts: [String; 1]) -> Vec<s::Piece> {
    texts.into_iter().filter(|text| !text.is_empty()).map(s::Piece::Text).collect()
}

/// Parses `values` values, and the message after them, if there is one.
fn arguments(input: ParseStream<'_>, span: Span, values: usize) -> syn::Result<(Vec<Expr>, Option<Format>)> {
    let mut found = Vec::with_capacity(values);
    for _ in 0..values {
        if input.is_empty() {
            let hint = if values == 1 { "what is asserted?" } else { "two values are compared" };
            return Err(syn::Error::new(span, hint));
        }
        found.push(input.parse()?);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    let format = if input.is_empty() { None } else { Some(input.parse()?) };
    Ok((found, format))
}
