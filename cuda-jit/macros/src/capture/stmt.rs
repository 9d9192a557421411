//! Blocks and statements: where observers go into the twin.

use cuda_jit_syntax::owned as s;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Block, Expr, Item, Local, Pat, Stmt};

use super::{BindingKind, Capture};

impl Capture {
    /// Captures a block as a `syntax::Block`, in a scope of its own.
    pub(super) fn block(&mut self, block: &mut Block) -> s::Block {
        self.scoped(|walk| walk.block_after(block, Vec::new()))
    }

    /// The same in the current scope, with `observers` at the block's beginning.
    pub(super) fn block_after(&mut self, block: &mut Block, observers: Vec<Stmt>) -> s::Block {
        let outermost = std::mem::take(&mut self.outermost);
        let mut stmts = Vec::new();
        let mut tail = None;
        let mut twin = observers;
        let written = std::mem::take(&mut block.stmts);
        let last = written.len().saturating_sub(1);
        for (index, mut stmt) in written.into_iter().enumerate() {
            match &mut stmt {
                Stmt::Expr(expr, None) if index == last => {
                    let (value, before) = self.apart(|walk| walk.expr(expr));
                    tail = Some(Box::new(value));
                    twin.extend(before);
                    twin.push(stmt);
                }
                Stmt::Expr(expr, _) => {
                    let (value, before) = self.apart(|walk| walk.expr(expr));
                    stmts.push(s::Stmt::Expr(Box::new(value)));
                    twin.extend(before);
                    twin.push(stmt);
                }
                Stmt::Local(local) => {
                    let depth = self.scope.len();
                    let ((captured, mut observers), before) = self.apart(|walk| walk.local(local));
                    stmts.push(captured);
                    if outermost {
                        twin.extend(self.stay(depth));
                        observers.clear();
                    }
                    twin.extend(before);
                    twin.push(stmt);
                    twin.extend(observers);
                }
                Stmt::Macro(call) => {
                    let (value, before) = self.apart(|walk| walk.macro_call(&mut call.mac));
                    stmts.push(s::Stmt::Expr(Box::new(value)));
                    twin.extend(before);
                    twin.push(stmt);
                }
                Stmt::Item(Item::Static(item)) if matches!(item.mutability, syn::StaticMutability::Mut(_)) => {
                    self.refused_items.push(item.ident.to_string());
                    self.refuse(item.span(), format!("kernels have no `static mut`; {}", super::closure::SHARED));
                }
                Stmt::Item(item @ (Item::Const(_) | Item::Static(_) | Item::Type(_) | Item::Use(_))) => {
                    self.items.push(item.clone())
                }
                Stmt::Item(item) => {
                    self.refuse(
                        item.span(),
                        "only `const`, `static`, `type` and `use` items can stand in a kernel; move it outside",
                    );
                }
            }
        }
        block.stmts = twin;
        s::Block { stmts, tail }
    }

    /// Captures a `let`; yields the observers of its names.
    fn local(&mut self, local: &mut Local) -> (s::Stmt, Vec<Stmt>) {
        let mut observers = Vec::new();
        let Some(init) = &mut local.init else { return (self.late(&local.pat), observers) };
        if let Expr::Closure(closure) = &mut *init.expr {
            return (self.named_closure(&local.pat, closure), observers);
        }
        if self.is_iterator(&init.expr) {
            return (self.named_iterator(&local.pat, &mut init.expr), observers);
        }
        let value = self.expr(&mut init.expr);
        let otherwise = init.diverge.as_mut().and_then(|(_, otherwise)| match &mut **otherwise {
            Expr::Block(otherwise) => {
                let block = self.block(&mut otherwise.block);
                Some(Box::new(block))
            }
            other => {
                self.refuse(other.span(), "`else` takes a block");
                None
            }
        });
        let pattern = self.pattern(&local.pat, &mut observers);
        (s::Stmt::Let(pattern, Some(Box::new(value)), otherwise), observers)
    }

    /// `let name;`: its observer comes after its assignments, since it cannot be looked at before.
    fn late(&mut self, pattern: &Pat) -> s::Stmt {
        let inner = if let Pat::Type(typed) = pattern { &*typed.pat } else { pattern };
        let Pat::Ident(pat) = inner else {
            self.refuse(pattern.span(), "a `let` without a value binds one name");
            return s::Stmt::Let(s::Pattern::Wild, None, None);
        };
        let number = self.declare(&pat.ident, true, BindingKind::Local);
        self.late.push(number);
        s::Stmt::Let(s::Pattern::Bind(number), None, None)
    }
}

/// In the twin: `expr` as the value of a block that begins with `observers`.
pub(super) fn after(observers: Vec<Stmt>, expr: &Expr) -> Expr {
    if observers.is_empty() {
        return expr.clone();
    }
    Expr::Verbatim(quote!({ #(#observers)* #expr }))
}
