//! Blocks and statements: where observers go into the twin.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Block, Expr, Item, Local, Pat, Stmt};

use super::expr::option;
use super::{BindingKind, Capture};

impl Capture {
    /// Captures a block as a `syntax::Block`, in a scope of its own.
    pub(super) fn block(&mut self, block: &mut Block) -> TokenStream {
        self.scoped(|walk| walk.block_after(block, Vec::new()))
    }

    /// The same in the current scope, with `observers` at the block's beginning.
    pub(super) fn block_after(&mut self, block: &mut Block, observers: Vec<Stmt>) -> TokenStream {
        let mut stmts = Vec::new();
        let mut tail = quote!(::core::option::Option::None);
        let mut twin = observers;
        let written = std::mem::take(&mut block.stmts);
        let last = written.len().saturating_sub(1);
        for (index, mut stmt) in written.into_iter().enumerate() {
            match &mut stmt {
                Stmt::Expr(expr, None) if index == last => {
                    let (value, before) = self.apart(|walk| walk.expr(expr));
                    tail = quote!(::core::option::Option::Some(&#value));
                    twin.extend(before);
                    twin.push(stmt);
                }
                Stmt::Expr(expr, _) => {
                    let (value, before) = self.apart(|walk| walk.expr(expr));
                    stmts.push(quote!(s::Stmt::Expr(&#value)));
                    twin.extend(before);
                    twin.push(stmt);
                }
                Stmt::Local(local) => {
                    let ((captured, observers), before) = self.apart(|walk| walk.local(local));
                    stmts.push(captured);
                    twin.extend(before);
                    twin.push(stmt);
                    twin.extend(observers);
                }
                Stmt::Macro(call) => {
                    let (value, before) = self.apart(|walk| walk.macro_call(&mut call.mac));
                    stmts.push(quote!(s::Stmt::Expr(&#value)));
                    twin.extend(before);
                    twin.push(stmt);
                }
                Stmt::Item(item @ (Item::Const(_) | Item::Static(_) | Item::Use(_))) => self.items.push(item.clone()),
                Stmt::Item(item) => {
                    self.refuse(
                        item.span(),
                        "only `const`, `static` and `use` items can stand in a kernel; move it outside",
                    );
                }
            }
        }
        block.stmts = twin;
        quote!(s::Block { stmts: &[#(#stmts),*], tail: #tail })
    }

    /// Captures a `let`; yields the observers of its names.
    fn local(&mut self, local: &mut Local) -> (TokenStream, Vec<Stmt>) {
        let mut observers = Vec::new();
        let Some(init) = &mut local.init else { return (self.late(&local.pat), observers) };
        if let Expr::Closure(closure) = &mut *init.expr {
            return (self.named_closure(&local.pat, closure), observers);
        }
        let value = self.expr(&mut init.expr);
        let otherwise = option(init.diverge.as_mut().map(|(_, otherwise)| match &mut **otherwise {
            Expr::Block(otherwise) => {
                let block = self.block(&mut otherwise.block);
                quote!(&#block)
            }
            other => self.refuse(other.span(), "`else` takes a block"),
        }));
        let pattern = self.pattern(&local.pat, &mut observers);
        (quote!(s::Stmt::Let(#pattern, ::core::option::Option::Some(&#value), #otherwise)), observers)
    }

    /// `let name;`: its observer comes after its assignments, since it cannot be looked at before.
    fn late(&mut self, pattern: &Pat) -> TokenStream {
        let inner = if let Pat::Type(typed) = pattern { &*typed.pat } else { pattern };
        let Pat::Ident(pat) = inner else {
            self.refuse(pattern.span(), "a `let` without a value binds one name");
            return quote!(s::Stmt::Let(s::Pattern::Wild, ::core::option::Option::None, ::core::option::Option::None));
        };
        let number = self.declare(&pat.ident, true, BindingKind::Local);
        self.late.push(number);
        quote!(s::Stmt::Let(s::Pattern::Bind(#number), ::core::option::Option::None, ::core::option::Option::None))
    }
}

/// In the twin: `expr` as the value of a block that begins with `observers`.
pub(super) fn after(observers: Vec<Stmt>, expr: &Expr) -> Expr {
    if observers.is_empty() {
        return expr.clone();
    }
    syn::parse_quote!({ #(#observers)* #expr })
}
