//! Type parameters that are iterators: those with a bound by one of the standard library's traits of iterators.
//!
//! In a typing probe such a parameter also has the device library's trait. Of two traits with an `Item`, rustc does not know
//! which one `I::Item` means, so the standard library's is written in whole: `<I as Iterator>::Item`.

use std::borrow::Cow;

use proc_macro2::Ident;
use quote::format_ident;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Generics, Path, QSelf, Signature, Type, TypeParamBound, WherePredicate};

/// The standard library's traits of iterators, each with the trait that has its items.
const TRAITS: [(&str, &str); 4] = [
    ("Iterator", "Iterator"),
    ("DoubleEndedIterator", "Iterator"),
    ("ExactSizeIterator", "Iterator"),
    ("IntoIterator", "IntoIterator"),
];

/// The name of the trait of iterators by which a bound is, and that of the trait that has its items.
fn iterator_trait(bound: &TypeParamBound) -> Option<(&Ident, &'static str)> {
    let TypeParamBound::Trait(bound) = bound else { return None };
    let last = &bound.path.segments.last()?.ident;
    let (_, of) = TRAITS.iter().find(|(name, _)| last == name)?;
    Some((last, of))
}

/// The type parameters that are iterators, each with the trait that has its items.
pub(super) struct Iterators(Vec<(Ident, &'static str)>);

impl Iterators {
    pub(super) fn of(generics: &Generics) -> Iterators {
        let named = |name: &Ident, bounds: &Punctuated<TypeParamBound, syn::Token![+]>| {
            let (_, of) = bounds.iter().find_map(iterator_trait)?;
            Some((name.clone(), of))
        };
        let of_params = generics.type_params().filter_map(|param| named(&param.ident, &param.bounds));
        let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
        let of_clause = predicates.filter_map(|predicate| match predicate {
            WherePredicate::Type(predicate) => match &predicate.bounded_ty {
                Type::Path(path) => named(path.path.get_ident()?, &predicate.bounds),
                _ => None,
            },
            _ => None,
        });
        Iterators(of_params.chain(of_clause).collect())
    }

    pub(super) fn contain(&self, name: &Ident) -> bool {
        self.0.iter().any(|(iterator, _)| iterator == name)
    }

    /// A signature with whole names of items.
    pub(super) fn with_whole_items<'a>(&self, sig: &'a Signature) -> Cow<'a, Signature> {
        if self.0.is_empty() {
            return Cow::Borrowed(sig);
        }
        let mut sig = sig.clone();
        WholeItems(self).visit_signature_mut(&mut sig);
        Cow::Owned(sig)
    }

    /// Writes the names of items in whole.
    pub(super) fn write_whole_items(&self, block: &mut Block) {
        if !self.0.is_empty() {
            WholeItems(self).visit_block_mut(block);
        }
    }
}

/// Replaces `I::Item` by `<I as Iterator>::Item`, also within a longer path.
struct WholeItems<'a>(&'a Iterators);

impl WholeItems<'_> {
    /// The type that the first two segments of a path are, if they are an item.
    fn item(&self, qself: Option<&QSelf>, path: &Path) -> Option<Type> {
        if qself.is_some() || path.leading_colon.is_some() || path.segments.get(1)?.ident != "Item" {
            return None;
        }
        let (name, of) = self.0.0.iter().find(|(name, _)| path.segments[0].ident == *name)?;
        let of = format_ident!("{}", of);
        Some(syn::parse_quote!(<#name as ::core::iter::#of>::Item))
    }
}

/// The rest of a path, of a type that was its first two segments.
fn rest_of(path: &Path, of: Type) -> (Option<QSelf>, Path) {
    let qself = QSelf {
        lt_token: Default::default(),
        ty: Box::new(of),
        position: 0,
        as_token: None,
        gt_token: Default::default(),
    };
    let segments = path.segments.iter().skip(2).cloned().collect();
    (Some(qself), Path { leading_colon: Some(Default::default()), segments })
}

impl VisitMut for WholeItems<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        visit_mut::visit_type_mut(self, ty);
        let Type::Path(path) = ty else { return };
        let Some(item) = self.item(path.qself.as_ref(), &path.path) else { return };
        if path.path.segments.len() == 2 {
            *ty = item;
        } else {
            (path.qself, path.path) = rest_of(&path.path, item);
        }
    }

    fn visit_expr_path_mut(&mut self, path: &mut syn::ExprPath) {
        visit_mut::visit_expr_path_mut(self, path);
        if let Some(item) = self.item(path.qself.as_ref(), &path.path).filter(|_| path.path.segments.len() > 2) {
            (path.qself, path.path) = rest_of(&path.path, item);
        }
    }
}

/// Refuses a type parameter that is an iterator.
pub(crate) fn refuse_iterators(generics: &Generics, hint: &str) -> syn::Result<()> {
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let bounded = predicates.filter_map(|predicate| match predicate {
        WherePredicate::Type(predicate) => Some(&predicate.bounds),
        _ => None,
    });
    let mut bounds = generics.type_params().map(|param| &param.bounds).chain(bounded).flatten();
    match bounds.find_map(iterator_trait) {
        Some((name, _)) => Err(syn::Error::new(name.span(), hint)),
        None => Ok(()),
    }
}
