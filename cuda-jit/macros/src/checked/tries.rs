//! The `?` of a copied body.
//!
//! rustc words the error of a `?` on an `Option` in a function that returns a `Result`, and the reverse, otherwise for the
//! closure that the copy is than for the function. In the copy each operand is therefore converted to what the function
//! returns, so that only the function itself has the error. The probe has a method for such a `?` too.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprAsync, ExprClosure, Item, Type};

/// The body with each `?` of the function itself on a converted operand, and the traits that it needs; the body as written
/// if it has none.
pub(super) fn with_fitted_tries(root: &TokenStream, body: &Group, result: &Type) -> (TokenStream, Option<TokenStream>) {
    let as_written = body.to_token_stream();
    if !body.to_string().contains('?') {
        return (as_written, None);
    }
    let Ok(mut block) = syn::parse2::<Block>(as_written.clone()) else { return (as_written, None) };
    Fitter { root, result }.visit_block_mut(&mut block);
    (block.to_token_stream(), Some(quote!(use #root::{FittedTry as _, UntypedFittedTry as _};)))
}

struct Fitter<'a> {
    root: &'a TokenStream,
    result: &'a Type,
}

impl VisitMut for Fitter<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::Try(tried) = expr {
            *tried.expr = self.fitted(&tried.expr);
        }
    }

    // a `?` in these is not the function's
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut Item) {}
}

impl Fitter<'_> {
    /// The converted operand, with the operand's span.
    fn fitted(&self, operand: &Expr) -> Expr {
        let tokens = operand.to_token_stream();
        let (first, last) = (tokens.clone().into_iter().next(), tokens.clone().into_iter().last());
        let begin = first.map_or_else(Span::call_site, |token| match token {
            TokenTree::Group(group) => group.span_open(),
            token => token.span(),
        });
        let end = last.map_or(begin, |token| match token {
            TokenTree::Group(group) => group.span_close(),
            token => token.span(),
        });
        let (root, result) = (self.root, self.result);
        let spanned = |tokens: TokenStream, span: Span| -> TokenStream {
            let token = |mut token: TokenTree| {
                token.set_span(span);
                token
            };
            tokens.into_iter().map(token).collect()
        };
        let of = spanned(quote!(#root::TryOperand), begin);
        let wrapped = spanned(quote!((#tokens, ::core::ptr::null::<#result>())), end);
        let fitted = spanned(quote!(.__cuda_jit_fitted()), end);
        Expr::Verbatim(quote!(#of #wrapped #fitted))
    }
}
