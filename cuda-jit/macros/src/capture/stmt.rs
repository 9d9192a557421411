//! Blocks and statements: where observers go into the twin.

use cuda_jit_syntax::owned as s;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Block, Expr, Item, Local, Pat, Stmt};

use super::{BindingKind, Capture, Purpose, Said};

impl Capture {
    /// Captures a block as a `syntax::Block`, in a scope of its own.
    pub(super) fn block(&mut self, block: &mut Block) -> s::Block {
        self.scoped(|walk| walk.block_after(block, Vec::new()))
    }

    /// The same in the current scope, with `observers` at the block's beginning.
    pub(super) fn block_after(&mut self, block: &mut Block, observers: Vec<Stmt>) -> s::Block {
        let (outermost, purpose) = (std::mem::take(&mut self.outermost), std::mem::take(&mut self.purpose));
        let (tells, used) = (std::mem::take(&mut self.tells), std::mem::take(&mut self.used));
        let mut captured = s::Block { stmts: Vec::new(), tail: None };
        let mut twin: Vec<Said> = observers.into_iter().map(|stmt| Said::telling(stmt, Vec::new())).collect();
        let written = std::mem::take(&mut block.stmts);
        let last = written.len().saturating_sub(1);
        for (index, stmt) in written.into_iter().enumerate() {
            let purpose = match purpose {
                Purpose::Result if index == last => Purpose::Value,
                Purpose::Result => Purpose::Effect,
                purpose => purpose,
            };
            let tail = index == last && matches!(stmt, Stmt::Expr(_, None));
            let Some(stmt) = self.statement(stmt, purpose, tail, outermost, &mut twin) else { continue };
            match stmt {
                s::Stmt::Expr(value) if tail => captured.tail = Some(value),
                stmt => captured.stmts.push(stmt),
            }
        }
        (self.tells, self.used) = (tells, used);
        if let (Purpose::Result, Some(last)) = (purpose, twin.last_mut()) {
            last.tells = true;
        }
        block.stmts = self.kept(twin, purpose);
        captured
    }

    /// Captures a statement, and adds to the twin what is there for it.
    fn statement(
        &mut self,
        mut stmt: Stmt,
        purpose: Purpose,
        tail: bool,
        outermost: bool,
        twin: &mut Vec<Said>,
    ) -> Option<s::Stmt> {
        let (first, depth) = (self.bindings.len() as u32, self.scope.len());
        let mut observers = Vec::new();
        let (captured, before) = self.apart(|walk| {
            Some(match &mut stmt {
                Stmt::Expr(expr, semicolon) => {
                    let has_no_value = if tail { purpose == Purpose::Effect } else { semicolon.is_none() };
                    walk.purpose = if has_no_value { Purpose::Effect } else { Purpose::Value };
                    s::Stmt::Expr(Box::new(walk.expr(expr)))
                }
                Stmt::Local(local) => walk.local(local, &mut observers),
                Stmt::Macro(call) => s::Stmt::Expr(Box::new(walk.macro_call(&mut call.mac))),
                Stmt::Item(item) => {
                    walk.item(item);
                    return None;
                }
            })
        });
        let captured = captured?;
        if outermost && matches!(stmt, Stmt::Local(_)) {
            twin.extend(self.stay(depth));
            observers.clear();
        }
        twin.extend(before);
        let (tells, names) = (std::mem::take(&mut self.tells), std::mem::take(&mut self.used));
        twin.push(Said { stmt, tells, binds: first..self.bindings.len() as u32, names });
        twin.extend(observers.into_iter().map(|stmt| Said::telling(stmt, Vec::new())));
        Some(captured)
    }

    /// What stays of the twin's statements: those that tell something, and those that bind what others name.
    fn kept(&mut self, mut said: Vec<Said>, purpose: Purpose) -> Vec<Stmt> {
        if purpose != Purpose::Value {
            let mut named = Vec::new();
            for index in (0..said.len()).rev() {
                let Said { tells, binds, names, .. } = &said[index];
                if *tells || binds.clone().any(|binding| named.contains(&binding)) {
                    named.extend_from_slice(names);
                } else {
                    said.remove(index);
                }
            }
        }
        self.within(said)
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
        let names = self.settle_names(&local.pat, &init.expr);
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
        let pattern = self.pattern_of(&local.pat, names, observers);
        s::Stmt::Let(pattern, Some(Box::new(value)), otherwise)
    }

    /// `let name;`: its observer comes after its assignments, since it cannot be looked at before.
    fn late(&mut self, pattern: &Pat) -> s::Stmt {
        let inner = if let Pat::Type(typed) = pattern { &*typed.pat } else { pattern };
        let Pat::Ident(pat) = inner else {
            self.refuse(pattern.span(), "a `let` without a value binds one name");
            return s::Stmt::Let(s::Pattern::Wild, None, None);
        };
        self.tells = true;
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
