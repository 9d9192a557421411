//! Attributes within a body. Those that mean nothing to the device are removed, all others are refused, as are names that
//! are reserved for the macros.
//!
//! `#[cfg(..)]` is evaluated before ([`configured`](crate::configured)), where the macro is an attribute. An item in a
//! block keeps its attributes, since it is copied to the typing probe as written.

use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, ExprClosure, Item, PatIdent, UseTree};

/// Attributes about lints, documentation and inlining on the host.
const MEANINGLESS: &[&str] = &["allow", "cold", "deny", "doc", "expect", "forbid", "inline", "must_use", "warn"];

/// Tools, whose attributes no compiler reads.
const TOOLS: &[&str] = &["clippy", "diagnostic", "rustfmt"];

/// Removes the attributes, and collects an error for each that the device language does not have.
struct Remover {
    errors: Option<syn::Error>,
    /// True if rustc has evaluated the conditions: the ones that are left are true.
    configured: bool,
    /// True if a block has a glob import.
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
                "names that begin with `__cuda_jit_` are reserved for the macros; choose another name".to_owned(),
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

/// The error text for a condition within `device_fn!`.
const CONDITION: &str = "`device_fn!` is expanded before rustc evaluates `#[cfg]`: write `if NAME { .. }` with `const NAME: bool = cfg!(..);` \
                         outside of the closure, or pass a `#[device]` function";

/// The error text for an attribute; `None` if the attribute is removed.
fn refused(attribute: &Attribute, configured: bool) -> Option<String> {
    let names: Vec<_> = attribute.path().segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
    match &names[..] {
        [name] if MEANINGLESS.contains(&name.as_str()) => None,
        [name] if name == "cfg" || name == "cfg_attr" => (!configured).then(|| CONDITION.to_owned()),
        [tool, _, ..] if TOOLS.contains(&tool.as_str()) => None,
        _ => Some(format!("kernels have no attribute `{}` here; remove it", attribute.path().to_token_stream())),
    }
}

/// Returns true for a glob import.
fn has_glob(tree: &UseTree) -> bool {
    match tree {
        UseTree::Path(path) => has_glob(&path.tree),
        UseTree::Name(_) | UseTree::Rename(_) => false,
        UseTree::Glob(_) => true,
        UseTree::Group(group) => group.items.iter().any(has_glob),
    }
}

/// Removes the attributes in a body. Returns true if a block in it has a glob import.
pub(super) fn remove(body: &mut Block) -> syn::Result<bool> {
    let mut remover = Remover { errors: None, configured: true, globs: false };
    remover.visit_block_mut(body);
    remover.errors.map_or(Ok(remover.globs), Err)
}

/// Removes the attributes in a closure on the host. Returns true if a block in it has a glob import.
pub(super) fn remove_in_closure(closure: &mut ExprClosure) -> syn::Result<bool> {
    let mut remover = Remover { errors: None, configured: false, globs: false };
    remover.visit_expr_closure_mut(closure);
    remover.errors.map_or(Ok(remover.globs), Err)
}
