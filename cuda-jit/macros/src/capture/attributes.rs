//! Attributes within a body: those that mean nothing to the device are taken away, all others are refused.
//!
//! `#[cfg(..)]` is evaluated before ([`configured`](crate::configured)), where the macro is an attribute. An item in a block keeps its
//! attributes: it stands in the typing probe as it is written.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Block, ExprClosure, Item};

/// Attributes that say something of lints, documentation and inlining on the host.
const MEANINGLESS: &[&str] = &["allow", "cold", "deny", "doc", "expect", "forbid", "inline", "must_use", "warn"];

/// Tools, whose attributes no compiler reads.
const TOOLS: &[&str] = &["clippy", "diagnostic", "rustfmt"];

/// Takes the attributes away, and collects errors of those that mean something.
struct Remover {
    errors: Option<syn::Error>,
    /// Whether rustc has evaluated the conditions: those that are left hold.
    configured: bool,
}

impl VisitMut for Remover {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        for attribute in attributes.drain(..) {
            if let Some(hint) = refused(&attribute, self.configured) {
                let error = syn::Error::new(attribute.path().span(), hint);
                match &mut self.errors {
                    Some(errors) => errors.combine(error),
                    None => self.errors = Some(error),
                }
            }
        }
    }

    fn visit_item_mut(&mut self, _: &mut Item) {}
}

/// Why a condition within `device_fn!` is refused.
const CONDITION: &str = "`device_fn!` is expanded before rustc evaluates `#[cfg]`: write `if NAME { .. }` with `const NAME: bool = cfg!(..);` \
                         outside of the closure, or pass a `#[device]` function";

/// Why an attribute is refused.
fn refused(attribute: &Attribute, configured: bool) -> Option<String> {
    let names: Vec<_> = attribute.path().segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
    match &names[..] {
        [name] if MEANINGLESS.contains(&name.as_str()) => None,
        [name] if name == "cfg" || name == "cfg_attr" => (!configured).then(|| CONDITION.to_owned()),
        [tool, _, ..] if TOOLS.contains(&tool.as_str()) => None,
        _ => Some(format!("kernels have no attribute `{}` here; remove it", attribute.path().to_token_stream())),
    }
}

/// Takes the attributes in a body away.
pub(super) fn remove(body: &mut Block) -> syn::Result<()> {
    let mut remover = Remover { errors: None, configured: true };
    remover.visit_block_mut(body);
    remover.errors.map_or(Ok(()), Err)
}

/// Takes the attributes in a closure on the host away.
pub(super) fn remove_in_closure(closure: &mut ExprClosure) -> syn::Result<()> {
    let mut remover = Remover { errors: None, configured: false };
    remover.visit_expr_closure_mut(closure);
    remover.errors.map_or(Ok(()), Err)
}
