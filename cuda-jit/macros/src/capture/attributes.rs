//! Attributes within a body: those that mean nothing to the device are taken away, all others are refused; and so are names that
//! are the macros' own.
//!
//! `#[cfg(..)]` is evaluated before ([`configured`](crate::configured)), where the macro is an attribute. An item in a block keeps its
//! attributes: it stands in the typing probe as it is written.

use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, ExprClosure, Item, PatIdent, UseTree};

/// Attributes that say something of lints, documentation and inlining on the host.
const MEANINGLESS: &[&str] = &["allow", "cold", "deny", "doc", "expect", "forbid", "inline", "must_use", "warn"];

/// Tools, whose attributes no compiler reads.
const TOOLS: &[&str] = &["clippy", "diagnostic", "rustfmt"];

/// Takes the attributes away, and collects errors of those that mean something.
struct Remover {
    errors: Option<syn::Error>,
    /// True if rustc has evaluated the conditions: those that are left hold.
    configured: bool,
    /// True if a block imports all names of a module.
    globs: bool,
}

impl Remover {
    fn refuse(&mut self, at: Span, hint: String) {
        let error = syn::Error::new(at, hint);
        match &mut self.errors {
            Some(errors) => errors.combine(error),
            None => self.errors = Some(error),
        }
    }
}

impl VisitMut for Remover {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        for attribute in attributes.drain(..) {
            if let Some(hint) = refused(&attribute, self.configured) {
                self.refuse(attribute.path().span(), hint);
            }
        }
    }

    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        if pat.ident.to_string().starts_with("__cuda_jit_") {
            self.refuse(
                pat.ident.span(),
                "names that begin with `__cuda_jit_` are the macros'; choose another one".to_owned(),
            );
        }
        visit_mut::visit_pat_ident_mut(self, pat);
    }

    fn visit_item_mut(&mut self, item: &mut Item) {
        if let Item::Use(import) = item {
            self.globs |= has_glob(&import.tree);
        }
    }
}

/// The refusal of a condition within `device_fn!`.
const CONDITION: &str = "`device_fn!` is expanded before rustc evaluates `#[cfg]`: write `if NAME { .. }` with `const NAME: bool = cfg!(..);` \
                         outside of the closure, or pass a `#[device]` function";

/// The refusal of an attribute.
fn refused(attribute: &Attribute, configured: bool) -> Option<String> {
    let names: Vec<_> = attribute.path().segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
    match &names[..] {
        [name] if MEANINGLESS.contains(&name.as_str()) => None,
        [name] if name == "cfg" || name == "cfg_attr" => (!configured).then(|| CONDITION.to_owned()),
        [tool, _, ..] if TOOLS.contains(&tool.as_str()) => None,
        _ => Some(format!("kernels have no attribute `{}` here; remove it", attribute.path().to_token_stream())),
    }
}

/// Returns true for an import of all names of a module.
fn has_glob(tree: &UseTree) -> bool {
    match tree {
        UseTree::Path(path) => has_glob(&path.tree),
        UseTree::Name(_) | UseTree::Rename(_) => false,
        UseTree::Glob(_) => true,
        UseTree::Group(group) => group.items.iter().any(has_glob),
    }
}

/// Takes the attributes in a body away. Yields whether a block in it imports all names of a module.
pub(super) fn remove(body: &mut Block) -> syn::Result<bool> {
    let mut remover = Remover { errors: None, configured: true, globs: false };
    remover.visit_block_mut(body);
    remover.errors.map_or(Ok(remover.globs), Err)
}

/// The same of a closure on the host.
pub(super) fn remove_in_closure(closure: &mut ExprClosure) -> syn::Result<bool> {
    let mut remover = Remover { errors: None, configured: false, globs: false };
    remover.visit_expr_closure_mut(closure);
    remover.errors.map_or(Ok(remover.globs), Err)
}
