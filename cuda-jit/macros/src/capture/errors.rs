//! The errors of a capture. All are collected before it fails.

use std::fmt::Display;

use proc_macro2::Span;
use syn::Ident;

/// The errors so far.
#[derive(Default)]
pub(super) struct Errors {
    found: Vec<syn::Error>,
    /// The items of the body that are refused at their declaration.
    items: Vec<String>,
}

impl Errors {
    pub(super) fn push(&mut self, error: syn::Error) {
        self.found.push(error);
    }

    pub(super) fn refuse(&mut self, span: Span, message: impl Display) {
        self.push(syn::Error::new(span, message));
    }

    /// Refuses an item of the body at its declaration.
    pub(super) fn refuse_declared(&mut self, name: &Ident, span: Span, message: impl Display) {
        self.items.push(name.to_string());
        self.refuse(span, message);
    }

    /// Refuses the use of an item, unless its declaration is refused already.
    pub(super) fn refuse_item(&mut self, name: &Ident, message: impl Display) {
        if !self.items.iter().any(|known| name == known) {
            self.refuse(name.span(), message);
        }
    }

    /// Combines all errors into one; `Ok` if there are none.
    pub(super) fn finish(self) -> syn::Result<()> {
        let all = self.found.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        });
        all.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_that_is_refused_where_it_is_declared_is_no_error_where_it_is_used() {
        let (mut errors, span) = (Errors::default(), Span::call_site());
        let [declared, used] = ["A", "B"].map(|name| Ident::new(name, span));
        errors.refuse_declared(&declared, span, "declared");
        errors.refuse_item(&declared, "used");
        errors.refuse_item(&used, "used");
        let texts: Vec<_> = errors.finish().unwrap_err().into_iter().map(|error| error.to_string()).collect();
        assert_eq!(texts, ["declared", "used"]);
        Errors::default().finish().unwrap();
    }
}
