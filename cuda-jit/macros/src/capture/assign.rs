//! Destructuring assignments, `(a, b) = (b, a)`. They are lowered as Rust defines them: a `let` that destructures the
//! value, then an assignment to each place.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::{Expr, ExprAssign, Ident};

use super::Capture;
use super::span::begin;

impl Capture {
    /// The block that a destructuring assignment stands for; `None` for an assignment to one place.
    pub(super) fn destructured(&mut self, assign: &ExprAssign) -> Option<Expr> {
        if !destructures(&assign.left) {
            return None;
        }
        let (mut names, right) = (Vec::new(), &assign.right);
        let pattern = self.destructuring_pattern(&assign.left, &mut names);
        let places = names.iter().map(|(name, place)| quote_spanned!(begin(place) => #place = #name;));
        let block = quote_spanned!(begin(&assign.left) => { let #pattern = #right; #(#places)* });
        syn::parse2(block).ok()
    }

    /// The pattern of the left side; each place in it becomes a new name.
    fn destructuring_pattern<'a>(&mut self, left: &'a Expr, names: &mut Vec<(Ident, &'a Expr)>) -> TokenStream {
        let span = begin(left);
        let mut each = |parts: &mut dyn Iterator<Item = &'a Expr>| -> Vec<TokenStream> {
            parts.map(|part| self.destructuring_pattern(part, names)).collect()
        };
        match left {
            Expr::Paren(inner) => self.destructuring_pattern(&inner.expr, names),
            Expr::Group(inner) => self.destructuring_pattern(&inner.expr, names),
            Expr::Infer(_) => quote_spanned!(span => _),
            Expr::Range(range) if range.start.is_none() && range.end.is_none() => quote_spanned!(span => ..),
            Expr::Tuple(tuple) => {
                let parts = each(&mut tuple.elems.iter());
                quote_spanned!(span => (#(#parts,)*))
            }
            Expr::Array(array) => {
                let parts = each(&mut array.elems.iter());
                quote_spanned!(span => [#(#parts),*])
            }
            Expr::Call(call) if destructures(left) => {
                let (path, parts) = (&call.func, each(&mut call.args.iter()));
                quote_spanned!(span => #path(#(#parts),*))
            }
            Expr::Struct(written) => {
                let parts = each(&mut written.fields.iter().map(|field| &field.expr));
                let (path, members) = (&written.path, written.fields.iter().map(|field| &field.member));
                let rest = &written.dot2_token;
                quote_spanned!(span => #path { #(#members: #parts,)* #rest })
            }
            place => {
                let name = format_ident!("__cuda_jit_part{}", names.len(), span = Span::mixed_site().located_at(span));
                names.push((name.clone(), place));
                name.into_token_stream()
            }
        }
    }
}

/// Returns true if the left side of an assignment destructures the value.
fn destructures(left: &Expr) -> bool {
    match left {
        Expr::Infer(_) | Expr::Tuple(_) | Expr::Array(_) | Expr::Struct(_) => true,
        Expr::Paren(inner) => destructures(&inner.expr),
        // a call is no place, so this one is a constructor
        Expr::Call(call) => matches!(&*call.func, Expr::Path(_)),
        _ => false,
    }
}
