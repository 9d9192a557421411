//! `printf!`: a format string in Rust's syntax, checked against what C's `vprintf` can write, and its arguments.
//!
//! The format string is parsed once, both for the kernel, whose captured syntax has the pieces, and for the host, where
//! `printf!` prints the same text through the standard library. rustc checks the types of the arguments, by the traits that
//! the host's expansion names.

use cuda_jit_syntax::owned::{self as s, Conversion, Form};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Expr, Ident, LitStr, Token};

/// The maximum number of arguments of the device's `vprintf`.
const MAX_ARGUMENTS: usize = 32;
/// The maximum width of a field, and the maximum precision.
const MAX_WIDTH: u32 = 1024;

/// The parsed arguments of `printf!`.
pub(crate) struct Format {
    literal: LitStr,
    /// The pieces of the text, in order.
    pieces: Vec<Piece>,
    /// The arguments and their names; those that the string captures come last.
    pub(crate) args: Vec<(Option<Ident>, Expr)>,
}

enum Piece {
    Text(String),
    Value(usize, Conversion),
}

impl Parse for Format {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let literal: LitStr = input.parse()?;
        let mut args = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let named = input.peek(Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]);
            let name = if named { Some(input.parse()?) } else { None };
            if named {
                input.parse::<Token![=]>()?;
            }
            args.push((name, input.parse()?));
        }
        let mut format = Format { literal, pieces: Vec::new(), args };
        let given = format.args.len();
        format.read()?;
        format.check_used(given)?;
        Ok(format)
    }
}

impl Format {
    /// The pieces, as captured syntax.
    pub(crate) fn pieces(&self) -> Vec<s::Piece> {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => s::Piece::Text(text.clone()),
            Piece::Value(index, conversion) => s::Piece::Value(*index as u32, *conversion),
        });
        pieces.collect()
    }

    /// The macro's tokens, reassembled.
    pub(crate) fn tokens(&self) -> TokenStream {
        let literal = &self.literal;
        let args = self.args.iter().map(|(name, value)| match name {
            Some(name) => quote!(#name = #value),
            None => value.to_token_stream(),
        });
        quote!(#literal #(, #args)*)
    }

    /// The format as a panic's message; `args` are its captured arguments.
    pub(crate) fn message(&self, args: Vec<s::Expr>) -> s::Message {
        s::Message { pieces: self.pieces(), args }
    }

    /// Its source location.
    pub(crate) fn span(&self) -> Span {
        self.literal.span()
    }

    /// The expression that prints it on the host.
    pub(crate) fn on_host(&self, root: &TokenStream) -> TokenStream {
        let span = |value: &Expr| Span::mixed_site().located_at(value.span());
        let names: Vec<_> = (0..)
            .zip(&self.args)
            .map(|(index, (_, value)): (usize, _)| format_ident!("__p{}", index, span = span(value)))
            .collect();
        // in parentheses, which the user did not write and no lint reports
        let values = self.args.iter().map(|(_, value)| quote_spanned!(span(value)=> &(#value)));
        let texts = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.to_token_stream(),
            Piece::Value(index, conversion) => {
                let function = match conversion.form {
                    Form::Plain => quote!(plain),
                    Form::Debug => quote!(debug),
                    Form::LowerExp | Form::UpperExp => quote!(exponent),
                    _ => quote!(digits),
                };
                let name = &names[*index];
                let conversion = constant(*conversion, &quote!(#root::syntax));
                quote!(#root::print::#function(#name, #conversion))
            }
        });
        let holes = "{}".repeat(self.pieces.len());
        quote! {
            match (#(#values,)*) {
                (#(#names,)*) => ::std::print!(#holes #(, #texts)*),
            }
        }
    }

    fn error<T>(&self, message: impl std::fmt::Display) -> syn::Result<T> {
        Err(syn::Error::new(self.literal.span(), message))
    }

    /// Parses the string.
    fn read(&mut self) -> syn::Result<()> {
        let text = self.literal.value();
        if text.contains('\0') {
            return self.error("a zero byte would end the text that `printf!` writes");
        }
        let (mut plain, mut next) = (String::new(), 0);
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let tail = &rest[at..];
            if let Some(doubled) = ["{{", "}}"].into_iter().find(|doubled| tail.starts_with(doubled)) {
                plain.push_str(&doubled[..1]);
                rest = &tail[2..];
                continue;
            }
            let end = tail.find('}').filter(|_| tail.starts_with('{'));
            let Some(end) = end else {
                return self.error("this brace has no counterpart; write `{{` or `}}` for a literal brace");
            };
            if !plain.is_empty() {
                self.pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            let value = self.value(&tail[1..end], &mut next)?;
            self.pieces.push(value);
            rest = &tail[end + 1..];
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            self.pieces.push(Piece::Text(plain));
        }
        let values = self.pieces.iter().filter(|piece| matches!(piece, Piece::Value(..))).count();
        match values > MAX_ARGUMENTS {
            true => self.error(format!("a device prints at most {MAX_ARGUMENTS} values at once, not {values}")),
            false => Ok(()),
        }
    }

    /// Parses the text between two braces.
    fn value(&mut self, text: &str, next: &mut usize) -> syn::Result<Piece> {
        let (argument, spec) = text.split_once(':').unwrap_or((text, ""));
        let argument = argument.trim();
        let index = if argument.is_empty() {
            *next += 1;
            *next - 1
        } else if let Ok(index) = argument.parse() {
            index
        } else {
            self.named(argument)?
        };
        if index >= self.args.len() {
            let hint = "add a value for it after the string";
            return self.error(format!(
                "`{{{text}}}` refers to argument {index}, counted from 0, which does not exist; {hint}"
            ));
        }
        self.conversion(spec.trim_end()).map(|conversion| Piece::Value(index, conversion))
    }

    /// The index of the argument with this name; an unknown name captures the variable of that name.
    fn named(&mut self, name: &str) -> syn::Result<usize> {
        let known = |(given, _): &(Option<Ident>, Expr)| given.as_ref().is_some_and(|given| given == name);
        if let Some(index) = self.args.iter().position(known) {
            return Ok(index);
        }
        let Ok(mut ident) = syn::parse_str::<Ident>(name) else {
            return self.error(format!(
                "`{name}` is not an argument: write a name, a number, or nothing, and the value after the string"
            ));
        };
        ident.set_span(self.literal.span());
        self.args.push((Some(ident.clone()), syn::parse_quote!(#ident)));
        Ok(self.args.len() - 1)
    }

    /// `[[fill]align][sign]['#']['0'][width]['.' precision][type]`
    fn conversion(&self, spec: &str) -> syn::Result<Conversion> {
        let none = Conversion {
            form: Form::Plain,
            plus: false,
            prefix: false,
            left: None,
            zeros: false,
            width: 0,
            precision: None,
        };
        let mut found = none;
        let mut rest = spec;
        let mut chars = spec.chars();
        let (first, second) = (chars.next(), chars.next());
        let is_align = |c: Option<char>| matches!(c, Some('<' | '>' | '^'));
        let align = if is_align(second) { second } else { first.filter(|c| is_align(Some(*c))) };
        if let Some(align) = align {
            if is_align(second) && first != Some(' ') {
                return self.error("`vprintf` fills with spaces, or with `0` before numbers (`{:08}`)");
            }
            if align == '^' {
                return self.error("`vprintf` does not centre; write `<` or `>`");
            }
            found.left = Some(align == '<');
            rest = &rest[if is_align(second) { 2 } else { 1 }..];
        }
        (found.plus, rest) = strip(rest, '+');
        (found.prefix, rest) = strip(rest, '#');
        (found.zeros, rest) = if rest.starts_with("0$") { (false, rest) } else { strip(rest, '0') };
        if rest.contains(['$', '*']) {
            return self.error("a width or precision in `printf!` is a number, not an argument");
        }
        (found.width, rest) = self.number(rest)?.map_or((0, rest), |(width, rest)| (width, rest));
        if let Some(after) = rest.strip_prefix('.') {
            let Some((precision, after)) = self.number(after)? else {
                return self.error("the number of decimals is missing: write `{:.3}`");
            };
            (found.precision, rest) = (Some(precision), after);
        }
        found.form = match rest {
            "" => Form::Plain,
            "?" => Form::Debug,
            "x" => Form::LowerHex,
            "X" => Form::UpperHex,
            "o" => Form::Octal,
            "e" => Form::LowerExp,
            "E" => Form::UpperExp,
            "b" => Form::Binary,
            other => {
                let hint = "write `{}`, `{:?}`, `{:x}`, `{:X}`, `{:o}`, `{:b}`, `{:e}` or `{:E}`";
                return self.error(format!("`vprintf` cannot write `{{:{other}}}`; {hint}"));
            }
        };
        let digits = matches!(found.form, Form::LowerHex | Form::UpperHex | Form::Octal | Form::Binary);
        if found.plus && digits {
            return self.error("`+` stands before decimal numbers; write it into the text");
        }
        if found.prefix && (!digits || found.width > 0 && !found.zeros) {
            return self.error(
                "`#` stands only in `{:#x}`, `{:#X}`, `{:#o}`, `{:#b}`, and there with a width only as `{:#010x}`",
            );
        }
        Ok(found)
    }

    /// Parses a number at the beginning of a text; also returns the rest of the text.
    fn number<'t>(&self, text: &'t str) -> syn::Result<Option<(u32, &'t str)>> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        if digits == 0 {
            return Ok(None);
        }
        match text[..digits].parse() {
            Ok(number) if number <= MAX_WIDTH => Ok(Some((number, &text[digits..]))),
            _ => self.error(format!("{} is more than {MAX_WIDTH}, the maximum", &text[..digits])),
        }
    }

    /// Refuses arguments that are never printed.
    fn check_used(&self, given: usize) -> syn::Result<()> {
        let used = |index| self.pieces.iter().any(|piece| matches!(piece, Piece::Value(of, _) if *of == index));
        match (0..given).find(|&index| !used(index)) {
            Some(unused) => {
                let value = &self.args[unused].1;
                let of_c = self.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains('%')));
                let text = match of_c {
                    true => {
                        "this argument is never printed; `printf!` has the placeholders of Rust's `println!`, such as `{}` for `%d`"
                    }
                    false => "this argument is never printed; write a `{}` for it",
                };
                Err(syn::Error::new_spanned(value, text))
            }
            None => Ok(()),
        }
    }
}

/// A conversion as an expression, for the host.
fn constant(conversion: Conversion, syntax: &TokenStream) -> TokenStream {
    let option = |value: Option<TokenStream>| match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    };
    let Conversion { form, plus, prefix, left, zeros, width, precision } = conversion;
    let form = format_ident!("{form:?}");
    let left = option(left.map(|left| quote!(#left)));
    let precision = option(precision.map(|precision| quote!(#precision)));
    quote! {
        #syntax::Conversion {
            form: #syntax::Form::#form,
            plus: #plus,
            prefix: #prefix,
            left: #left,
            zeros: #zeros,
            width: #width,
            precision: #precision,
        }
    }
}

/// Strips a flag off the beginning of a text; true if the text begins with it.
fn strip(text: &str, flag: char) -> (bool, &str) {
    match text.strip_prefix(flag) {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}

/// `printf!` on the host, and outside kernels.
pub(crate) fn expand(root: &TokenStream, tokens: TokenStream) -> TokenStream {
    match syn::parse2::<Format>(tokens) {
        Ok(format) => format.on_host(root),
        Err(error) => error.to_compile_error(),
    }
}
