//! Slice arguments: ndarray's `s![..]`, as an argument of a view's method.
//!
//! ndarray converts each number in `s![..]` to `isize`, whatever integer it is; the captured syntax does the same with a
//! cast.

use cuda_jit_syntax::owned as s;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Macro, RangeLimits, Token};

use super::{Capture, node, nothing, span::begin};

/// `start..end;step` or an index.
struct Section {
    value: Expr,
    step: Option<Expr>,
}

impl Parse for Section {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let value = input.parse()?;
        let step = if input.parse::<Option<Token![;]>>()?.is_some() { Some(input.parse()?) } else { None };
        Ok(Section { value, step })
    }
}

impl Section {
    /// The section as written.
    fn tokens(&self) -> TokenStream {
        let Section { value, step } = self;
        match step {
            Some(step) => quote!(#value; #step),
            None => quote!(#value),
        }
    }
}

impl Capture {
    /// `s![..]`
    pub(super) fn sections(&mut self, call: &mut Macro) -> s::Expr {
        let span = call.path.span();
        self.known_macro(call);
        let parse = Punctuated::<Section, Token![,]>::parse_terminated;
        let mut sections = match parse.parse2(call.tokens.clone()) {
            Ok(sections) => sections,
            Err(error) => {
                self.errors.push(error);
                return nothing();
            }
        };
        let captured = sections.iter_mut().map(|section| self.section(section)).collect();
        let sections = sections.iter().map(Section::tokens);
        call.tokens = quote!(#(#sections),*);
        node(span, s::ExprKind::Sections(captured))
    }

    fn section(&mut self, Section { value, step }: &mut Section) -> s::Section {
        match value {
            Expr::Range(range) => {
                let inclusive = matches!(range.limits, RangeLimits::Closed(_));
                let mut bound = |bound: Option<&mut Expr>| bound.map(|bound| Box::new(self.position(bound)));
                let (start, end) = (bound(range.start.as_deref_mut()), bound(range.end.as_deref_mut()));
                s::Section::Range(start, end, inclusive, bound(step.as_mut()))
            }
            index => {
                let (span, captured) = (begin(index), self.position(index));
                *index = Expr::Verbatim(quote_spanned!(span => __cuda_jit_section(#index)));
                s::Section::Index(captured)
            }
        }
    }

    /// A number in `s![..]`, as `isize`.
    fn position(&mut self, value: &mut Expr) -> s::Expr {
        let span = begin(value);
        let value = Box::new(self.expr(value));
        let number = self.cast_type(&syn::parse_quote!(isize));
        node(span, s::ExprKind::Cast(value, number))
    }
}

/// Returns true for a macro named `s!`; the probe makes rustc check that it is ndarray's.
pub(super) fn is_slicing(call: &Macro) -> bool {
    call.path.segments.last().is_some_and(|last| last.ident == "s")
}
