//! The typing probe's queries to rustc, by number. The captured syntax has the numbers, the type information the answers.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Path, Type};

use super::scopes::spelling;
use super::span::begin;
use super::witnesses::{callee, cast, constant, named, query};

/// A query that is shared within one block with items; in another block the same name may mean another item.
struct InBlock<T> {
    of: T,
    block: u32,
}

/// The queries so far.
#[derive(Default)]
pub(crate) struct Queries {
    /// The source location of each callee; its witness resolves it.
    callees: Vec<Span>,
    /// The constants.
    consts: Vec<InBlock<Expr>>,
    /// The types of casts.
    types: Vec<InBlock<Type>>,
    /// The source location of each value, and of each array in shared memory, whose type a witness has.
    named: Vec<Span>,
    /// The source location of each name and path in a pattern; true for a path.
    patterns: Vec<(Span, bool)>,
    /// Each path of a struct or variant in a pattern, with its number.
    variants: Vec<(InBlock<Path>, u32)>,
}

impl Queries {
    /// Adds a callee at this location, and returns its number.
    pub(super) fn callee(&mut self, place: Span) -> u32 {
        numbered(&mut self.callees, place)
    }

    /// Adds a type witness at this location, and returns its number.
    pub(super) fn named(&mut self, place: Span) -> u32 {
        numbered(&mut self.named, place)
    }

    /// Reports the type of a witness at the binding of its value, where rustc prints the same error once.
    pub(super) fn report_at(&mut self, number: u32, binding: Span) {
        if let Some(place) = self.named.get_mut(number as usize) {
            *place = place.located_at(binding);
        }
    }

    /// Adds a query about a name, or a path if `is_path`, in a pattern, and returns its number.
    pub(super) fn pattern(&mut self, place: Span, is_path: bool) -> u32 {
        numbered(&mut self.patterns, (place, is_path))
    }

    /// Adds a constant, and returns its number.
    pub(super) fn constant(&mut self, of: Expr, block: u32) -> u32 {
        numbered(&mut self.consts, InBlock { of, block })
    }

    /// The number of a constant that is queried already.
    pub(super) fn known_constant(&self, path: &Expr, block: u32) -> Option<u32> {
        position(&self.consts, |known| known.block == block && known.of == *path)
    }

    /// Adds the type of a cast, and returns its number.
    pub(super) fn cast(&mut self, of: Type, block: u32) -> u32 {
        numbered(&mut self.types, InBlock { of, block })
    }

    /// The number of a cast's type that is queried already, by a single name.
    pub(super) fn known_cast(&self, ty: &Type, block: u32) -> Option<u32> {
        let name = |ty: &Type| match ty {
            Type::Path(path) => path.path.get_ident().map(spelling),
            _ => None,
        };
        let this = name(ty)?;
        position(&self.types, |known| known.block == block && name(&known.of).as_ref() == Some(&this))
    }

    /// Records the number of the query for a struct's or variant's path.
    pub(super) fn note_variant(&mut self, of: Path, block: u32, query: u32) {
        self.variants.push((InBlock { of, block }, query));
    }

    /// The number of a struct's or variant's path that is queried already.
    pub(super) fn known_variant(&self, path: &Path, block: u32) -> Option<u32> {
        let found = self.variants.iter().find(|(known, _)| known.block == block && known.of == *path);
        found.map(|(_, query)| *query)
    }

    /// The witnesses of callees.
    pub(crate) fn callees(&self) -> impl Iterator<Item = Ident> {
        (0..).zip(&self.callees).map(|(number, span)| callee(number, *span))
    }

    /// The witnesses of constants.
    pub(crate) fn consts(&self) -> impl Iterator<Item = Ident> {
        (0..).zip(&self.consts).map(|(number, known)| constant(number, begin(&known.of)))
    }

    /// The witnesses of the types of casts.
    pub(crate) fn types(&self) -> impl Iterator<Item = Ident> {
        (0..).zip(&self.types).map(|(number, known)| cast(number, known.of.span()))
    }

    /// The witnesses of values and of arrays in shared memory.
    pub(crate) fn type_witnesses(&self) -> impl Iterator<Item = Ident> {
        (0..).zip(&self.named).map(|(number, span)| named(number, *span))
    }

    /// The witnesses of queries about patterns; true for a path.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = (Ident, bool)> {
        (0..).zip(&self.patterns).map(|(number, (span, is_path))| (query(number, *span), *is_path))
    }
}

/// Adds an element, and returns its number.
fn numbered<T>(all: &mut Vec<T>, one: T) -> u32 {
    all.push(one);
    all.len() as u32 - 1
}

fn position<T>(all: &[T], is: impl Fn(&T) -> bool) -> Option<u32> {
    all.iter().position(is).map(|number| number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn the_same_name_is_queried_once_for_each_block() {
        let (mut queries, path): (_, Expr) = (Queries::default(), parse_quote!(a::B));
        let number = queries.constant(path.clone(), 0);
        assert_eq!(queries.known_constant(&path, 0), Some(number));
        assert_eq!(queries.known_constant(&path, 1), None);
        let [single, raw, long]: [Type; 3] = [parse_quote!(T), parse_quote!(r#T), parse_quote!(a::T)];
        let number = queries.cast(single, 0);
        assert_eq!(queries.known_cast(&raw, 0), Some(number));
        queries.cast(long.clone(), 0);
        assert_eq!(queries.known_cast(&long, 0), None);
        let variant: Path = parse_quote!(Some);
        queries.note_variant(variant.clone(), 2, 7);
        assert_eq!((queries.known_variant(&variant, 2), queries.known_variant(&variant, 0)), (Some(7), None));
    }

    #[test]
    fn witnesses_have_the_numbers_of_their_queries() {
        let mut queries = Queries::default();
        let place = Span::call_site();
        assert_eq!([queries.callee(place), queries.callee(place), queries.named(place)], [0, 1, 0]);
        let names: Vec<_> = queries.callees().map(|name| name.to_string()).collect();
        assert_eq!(names, ["__cuda_jit_c0", "__cuda_jit_c1"]);
        assert_eq!((queries.pattern(place, true), queries.patterns().count()), (0, 1));
    }
}
