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
        let mut captured = s::Block { stmts: Vec::new(), tail: None };
        let mut twin = observers;
        let written = std::mem::take(&mut block.stmts);
        let last = written.len().saturating_sub(1);
        for (index, stmt) in written.into_iter().enumerate() {
            let tail = index == last && matches!(stmt, Stmt::Expr(_, None));
            match self.statement(stmt, &mut twin) {
                Some(s::Stmt::Expr(value)) if tail => captured.tail = Some(value),
                Some(stmt) => captured.stmts.push(stmt),
                None => {}
            }
        }
        block.stmts = twin;
        captured
    }

    /// Captures a statement, and adds it to the twin: behind what is asked before it, before the observers of its names.
    fn statement(&mut self, mut stmt: Stmt, twin: &mut Vec<Stmt>) -> Option<s::Stmt> {
        let mut observers = Vec::new();
        let (captured, before) = self.apart(|walk| {
            Some(match &mut stmt {
                Stmt::Expr(expr, _) => s::Stmt::Expr(Box::new(walk.expr(expr))),
                Stmt::Local(local) => walk.local(local, &mut observers),
                Stmt::Macro(call) => s::Stmt::Expr(Box::new(walk.macro_call(&mut call.mac))),
                Stmt::Item(item) => {
                    walk.item(item);
                    return None;
                }
            })
        });
        let captured = captured?;
        twin.extend(before);
        twin.push(stmt);
        twin.extend(observers);
        Some(captured)
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Static(item) if matches!(item.mutability, syn::StaticMutability::Mut(_)) => {
                self.refused_items.push(item.ident.to_string());
                self.refuse(item.span(), format!("kernels have no `static mut`; {}", super::closure::SHARED));
            }
            Item::Const(_) | Item::Static(_) | Item::Type(_) | Item::Use(_) => self.items.push(item.clone()),
            _ => {
                self.refuse(
                    item.span(),
                    "only `const`, `static`, `type` and `use` items can stand in a kernel; move it outside",
                );
            }
        }
    }

    /// Captures a `let`; appends the observers of its names.
    fn local(&mut self, local: &mut Local, observers: &mut Vec<Stmt>) -> s::Stmt {
        let Some(init) = &mut local.init else { return self.late(&local.pat) };
        if let Expr::Closure(closure) = &mut *init.expr {
            return self.named_closure(&local.pat, closure);
        }
        if self.is_iterator(&init.expr) {
            return self.named_iterator(&local.pat, &mut init.expr);
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
        let pattern = self.pattern(&local.pat, observers);
        s::Stmt::Let(pattern, Some(Box::new(value)), otherwise)
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
