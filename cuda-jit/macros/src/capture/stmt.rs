//! Blocks and statements, and the placement of witnesses in the typing probe.

use cuda_jit_syntax::owned as s;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Block, Expr, Item, Local, Pat, Stmt};

use super::Capture;
use super::expr::{has_type, is_matches};

impl Capture {
    /// Captures a block as a `syntax::Block`, in a scope of its own.
    pub(super) fn block(&mut self, block: &mut Block) -> s::Block {
        self.scoped(|walk| walk.block_after(block, Vec::new()))
    }

    /// Captures a block in the current scope, with `witnesses` at the block's beginning.
    pub(super) fn block_after(&mut self, block: &mut Block, witnesses: Vec<Stmt>) -> s::Block {
        let mut captured = s::Block { stmts: Vec::new(), tail: None };
        let mut probe = witnesses;
        self.declare_items(block);
        let written = std::mem::take(&mut block.stmts);
        let last = written.len().saturating_sub(1);
        for (index, mut stmt) in written.into_iter().enumerate() {
            if let Stmt::Macro(call) = &stmt
                && is_matches(&call.mac)
            {
                let (mac, attrs) = (call.mac.clone(), call.attrs.clone());
                stmt = Stmt::Expr(Expr::Macro(syn::ExprMacro { attrs, mac }), call.semi_token);
            }
            // a semicolon by itself
            if matches!(&stmt, Stmt::Expr(Expr::Verbatim(tokens), _) if tokens.is_empty()) {
                continue;
            }
            let tail = index == last && matches!(stmt, Stmt::Expr(_, None));
            if let Stmt::Expr(Expr::Const(_), end @ None) = &mut stmt
                && !tail
            {
                *end = Some(Default::default()); // its replacement ends no statement
            }
            match self.statement(stmt, &mut probe) {
                Some(s::Stmt::Expr(value)) if tail => captured.tail = Some(value),
                Some(stmt) => captured.stmts.push(stmt),
                None => {}
            }
        }
        block.stmts = probe;
        captured
    }

    /// Captures a statement, and adds it to the typing probe: after its preceding statements and before the witnesses of
    /// its names.
    fn statement(&mut self, mut stmt: Stmt, probe: &mut Vec<Stmt>) -> Option<s::Stmt> {
        let mut witnesses = Vec::new();
        let (captured, before) = self.with_preceding(|walk| {
            Some(match &mut stmt {
                Stmt::Expr(tried @ Expr::Try(_), Some(end)) => {
                    let (value, span) = (walk.expr(tried), end.span());
                    *tried = Expr::Verbatim(quote_spanned!(span => __cuda_jit_Dropped(#tried).__cuda_jit_dropped()));
                    s::Stmt::Expr(Box::new(value))
                }
                Stmt::Expr(expr, _) => s::Stmt::Expr(Box::new(walk.expr(expr))),
                Stmt::Local(local) => walk.local(local, &mut witnesses),
                Stmt::Macro(call) => s::Stmt::Expr(Box::new(walk.macro_call(&mut call.mac))),
                Stmt::Item(item) => {
                    walk.item(item);
                    return None;
                }
            })
        });
        probe.extend(before);
        probe.push(stmt);
        probe.extend(witnesses);
        captured
    }

    /// Brings the items of a block into scope, throughout the block.
    fn declare_items(&mut self, block: &Block) {
        let items =
            || block.stmts.iter().filter_map(|stmt| if let Stmt::Item(item) = stmt { Some(item) } else { None });
        items().for_each(|item| self.names.declare_item(item));
        self.scopes.declare_items(items());
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Static(item) if matches!(item.mutability, syn::StaticMutability::Mut(_)) => {
                let hint = format!("kernels have no `static mut`; {}", super::closure::SHARED);
                self.errors.refuse_declared(&item.ident, item.span(), hint);
            }
            Item::Fn(function) if is_of_the_host(function) => {
                let hint = "kernels can only call `#[device]` functions: write `#[device]` before this one";
                self.errors.refuse_declared(&function.sig.ident, function.sig.ident.span(), hint);
            }
            Item::Const(_) | Item::Static(_) | Item::Type(_) | Item::Use(_) => {}
            Item::Fn(_) | Item::Struct(_) | Item::Enum(_) | Item::Impl(_) | Item::Trait(_) => {}
            _ => {
                self.refuse(item.span(), "modules, macros and foreign items cannot stand in a kernel; move it outside");
            }
        }
    }

    /// Captures a `let`; appends the witnesses of its names.
    fn local(&mut self, local: &mut Local, witnesses: &mut Vec<Stmt>) -> s::Stmt {
        let Some(init) = &mut local.init else { return self.uninitialised_let(&local.pat, witnesses) };
        match (&local.pat, &mut *init.expr) {
            (Pat::Ident(pat), Expr::Closure(closure)) => return self.named_closure(pat, closure),
            (Pat::Type(typed), Expr::Closure(_)) => {
                let hint =
                    "a closure has no type that can be written; bind it without one: `let f = |v: f32| v * 2.0;`";
                self.refuse(typed.ty.span(), hint);
                return s::Stmt::Let(s::Pattern::Wild, None, None);
            }
            _ => {}
        }
        if let Some(closure) = self.renamed_closure(&local.pat, &mut init.expr) {
            return closure;
        }
        let is_literal = has_type(&init.expr) && !matches!(local.pat, Pat::Type(_));
        let value = match &local.pat {
            Pat::Type(typed) if !matches!(*typed.pat, Pat::Ident(_)) => self.typed_as(&mut init.expr, &typed.ty),
            Pat::Ident(_) | Pat::Type(_) => self.expr(&mut init.expr),
            _ => self.typed(&mut init.expr),
        };
        if is_literal {
            self.depend_on_copy(&mut init.expr);
        }
        let name = match &local.pat {
            Pat::Ident(pat) => Some(&pat.ident),
            Pat::Type(typed) => {
                if let Pat::Ident(pat) = &*typed.pat {
                    Some(&pat.ident)
                } else {
                    None
                }
            }
            _ => None,
        };
        if let (s::ExprKind::Struct(number, ..), Some(name)) = (&value.1, name) {
            self.queries.report_at(*number, name.span());
        }
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
        let pattern = match otherwise {
            Some(_) => self.refutable(&local.pat, witnesses),
            None => self.pattern(&local.pat, witnesses),
        };
        s::Stmt::Let(pattern, Some(Box::new(value)), otherwise)
    }

    /// `let (name, other);`. Nothing in the typing probe is ever reached, so its witnesses can use uninitialised names.
    fn uninitialised_let(&mut self, pattern: &Pat, witnesses: &mut Vec<Stmt>) -> s::Stmt {
        let first = self.scopes.count();
        let pattern = self.pattern(pattern, witnesses);
        (first..self.scopes.count()).for_each(|number| self.scopes.binding_mut(number).mutable = true);
        s::Stmt::Let(pattern, None, None)
    }
}

/// Attributes of functions that are none of ours under another name.
const BUILT_IN: [&str; 8] = ["allow", "cold", "deny", "doc", "expect", "inline", "must_use", "warn"];

/// Returns true for a function of a body that cannot be a device function, nor be called by a constant.
fn is_of_the_host(function: &syn::ItemFn) -> bool {
    let is_built_in = |attribute: &syn::Attribute| BUILT_IN.iter().any(|known| attribute.path().is_ident(known));
    function.sig.constness.is_none() && function.attrs.iter().all(is_built_in)
}
