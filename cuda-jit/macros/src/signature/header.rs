//! The lifetimes that the header of an `impl` leaves out, as in `impl From<&A> for B`: each is a parameter of the `impl` without
//! a name, which the macro gives it.

use proc_macro2::Span;
use syn::visit_mut::{self, VisitMut};
use syn::{
    GenericArgument, ItemImpl, Lifetime, LifetimeParam, ParenthesizedGenericArguments, TypeBareFn, TypeReference,
};

/// Names the lifetimes that the header leaves out, so that bounds can repeat its types.
pub(crate) fn name_lifetimes(item: &mut ItemImpl) {
    let mut namer = Namer(Vec::new());
    if let Some((_, path, _)) = &mut item.trait_ {
        namer.visit_path_mut(path);
    }
    namer.visit_type_mut(&mut item.self_ty);
    let params = namer.0.into_iter().map(|lifetime| LifetimeParam::new(lifetime).into());
    item.generics.params = params.chain(std::mem::take(&mut item.generics.params)).collect();
}

struct Namer(Vec<Lifetime>);

impl Namer {
    fn named(&mut self, span: Span) -> Lifetime {
        let lifetime = Lifetime::new(&format!("'__{}", self.0.len()), span);
        self.0.push(lifetime.clone());
        lifetime
    }
}

impl VisitMut for Namer {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            reference.lifetime = Some(self.named(reference.and_token.span));
        }
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.named(lifetime.span());
        }
    }

    /// A function's type has lifetimes of its own.
    fn visit_type_bare_fn_mut(&mut self, _: &mut TypeBareFn) {}
    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {}

    /// A constant has none.
    fn visit_generic_argument_mut(&mut self, argument: &mut GenericArgument) {
        if !matches!(argument, GenericArgument::Const(_)) {
            visit_mut::visit_generic_argument_mut(self, argument);
        }
    }
}
