//! Blocks and statements: where observers go into the twin.

use cuda_jit_syntax::owned as s;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Block, Expr, Ident, Item, Local, Pat, Stmt, UseTree};

use super::Capture;
use super::expr::is_matches;
use super::resolution::spelling;

impl Capture {
    /// Captures a block as a `syntax::Block`, in a scope of its own.
    pub(super) fn block(&mut self, block: &mut Block) -> s::Block {
        self.scoped(|walk| walk.block_after(block, Vec::new()))
    }

    /// The same in the current scope, with `observers` at the block's beginning.
    pub(super) fn block_after(&mut self, block: &mut Block, observers: Vec<Stmt>) -> s::Block {
        let mut captured = s::Block { stmts: Vec::new(), tail: None };
        let mut twin = observers;
        let outer = self.enter_items(block);
        let written = std::mem::take(&mut block.stmts);
        let last = written.len().saturating_sub(1);
        for (index, mut stmt) in written.into_iter().enumerate() {
            if let Stmt::Macro(call) = &stmt
                && is_matches(&call.mac)
            {
                let (mac, attrs) = (call.mac.clone(), call.attrs.clone());
                stmt = Stmt::Expr(Expr::Macro(syn::ExprMacro { attrs, mac }), call.semi_token);
            }
            let tail = index == last && matches!(stmt, Stmt::Expr(_, None));
            if let Stmt::Expr(Expr::Const(_), end @ None) = &mut stmt
                && !tail
            {
                *end = Some(Default::default()); // what stands for it ends no statement
            }
            match self.statement(stmt, &mut twin) {
                Some(s::Stmt::Expr(value)) if tail => captured.tail = Some(value),
                Some(stmt) => captured.stmts.push(stmt),
                None => {}
            }
        }
        block.stmts = twin;
        self.items = outer;
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
        twin.extend(before);
        twin.push(stmt);
        twin.extend(observers);
        captured
    }

    /// Brings the items of a block into scope, all of it; tells the block with items around it.
    fn enter_items(&mut self, block: &Block) -> u32 {
        let outer = self.items;
        let items = block.stmts.iter().filter_map(|stmt| if let Stmt::Item(item) = stmt { Some(item) } else { None });
        let (mut names, mut any) = (Vec::new(), false);
        for item in items {
            any = true;
            self.probe_item(item);
            match item {
                Item::Const(item) => names.push(item.ident.clone()),
                Item::Static(item) => names.push(item.ident.clone()),
                Item::Fn(item) => {
                    names.push(item.sig.ident.clone());
                    self.inner_functions.push(item.sig.ident.clone());
                }
                Item::Struct(item) => names.push(item.ident.clone()),
                Item::Use(item) => imported(&item.tree, &mut names),
                _ => {}
            }
        }
        if any {
            self.blocks_with_items += 1;
            self.items = self.blocks_with_items;
        }
        self.scope.extend(names.iter().map(|name| (spelling(name), None)));
        outer
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Static(item) if matches!(item.mutability, syn::StaticMutability::Mut(_)) => {
                self.refused_items.push(item.ident.to_string());
                self.refuse(item.span(), format!("kernels have no `static mut`; {}", super::closure::SHARED));
            }
            Item::Const(_) | Item::Static(_) | Item::Type(_) | Item::Use(_) => {}
            Item::Fn(_) | Item::Struct(_) | Item::Enum(_) | Item::Impl(_) | Item::Trait(_) => {}
            _ => {
                self.refuse(item.span(), "modules, macros and foreign items cannot stand in a kernel; move it outside");
            }
        }
    }

    /// Captures a `let`; appends the observers of its names.
    fn local(&mut self, local: &mut Local, observers: &mut Vec<Stmt>) -> s::Stmt {
        let Some(init) = &mut local.init else { return self.late(&local.pat, observers) };
        if let Expr::Closure(closure) = &mut *init.expr {
            return self.named_closure(&local.pat, closure);
        }
        let value = match &local.pat {
            Pat::Type(typed) if !matches!(*typed.pat, Pat::Ident(_)) => self.typed_as(&mut init.expr, &typed.ty),
            Pat::Ident(_) | Pat::Type(_) => self.expr(&mut init.expr),
            _ => self.typed(&mut init.expr),
        };
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
            Some(_) => self.refutable(&local.pat, observers),
            None => self.pattern(&local.pat, observers),
        };
        s::Stmt::Let(pattern, Some(Box::new(value)), otherwise)
    }

    /// `let (name, other);`
    fn late(&mut self, pattern: &Pat, observers: &mut Vec<Stmt>) -> s::Stmt {
        let first = self.bindings.len();
        let pattern = self.pattern(pattern, observers);
        self.bindings[first..].iter_mut().for_each(|binding| binding.mutable = true);
        s::Stmt::Let(pattern, None, None)
    }
}

/// In the twin: `expr` as the value of a block that begins with `observers`.
pub(super) fn after(observers: Vec<Stmt>, expr: &Expr) -> Expr {
    if observers.is_empty() {
        return expr.clone();
    }
    Expr::Verbatim(quote!({ #(#observers)* #expr }))
}

/// Notes the names that an import brings; those of a glob nobody knows.
fn imported(tree: &UseTree, names: &mut Vec<Ident>) {
    match tree {
        UseTree::Path(path) => imported(&path.tree, names),
        UseTree::Name(name) => names.push(name.ident.clone()),
        UseTree::Rename(rename) => names.push(rename.rename.clone()),
        UseTree::Glob(_) => {}
        UseTree::Group(group) => group.items.iter().for_each(|tree| imported(tree, names)),
    }
}
