//! Refuses `#[cfg(..)]` within a function that is captured: rustc alone knows whether it holds, and takes parts of the function
//! out that this macro has captured.

use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Block, Expr, Signature};

const HINT: &str = "`#[cfg]` stands before functions and constants: write `if NAME { .. }` with `const NAME: bool = cfg!(..);` \
                    outside of the function, or two functions";

/// Returns true for an attribute by which rustc may remove the item behind it.
pub(crate) fn is_condition(attribute: &Attribute) -> bool {
    let name = attribute.path().get_ident().map(|name| name.unraw().to_string());
    matches!(name.as_deref(), Some("cfg" | "cfg_attr"))
}

/// The first such attribute within something.
#[derive(Default)]
struct Found(Option<proc_macro2::Span>);

impl<'a> Visit<'a> for Found {
    fn visit_attribute(&mut self, attribute: &'a Attribute) {
        if is_condition(attribute) && self.0.is_none() {
            self.0 = Some(attribute.path().span());
        }
    }
}

impl Found {
    fn refuse(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), |span| Err(syn::Error::new(span, HINT)))
    }
}

/// Refuses conditions in a function's body.
pub(super) fn in_body(body: &Block) -> syn::Result<()> {
    let mut found = Found::default();
    found.visit_block(body);
    found.refuse()
}

/// Refuses conditions in an expression.
pub(super) fn in_expr(expr: &Expr) -> syn::Result<()> {
    let mut found = Found::default();
    found.visit_expr(expr);
    found.refuse()
}

/// Refuses conditions among a function's parameters.
pub(crate) fn in_signature(sig: &Signature) -> syn::Result<()> {
    let mut found = Found::default();
    found.visit_signature(sig);
    found.refuse()
}
