//! `impl Trait` as the type of a parameter: a type parameter without a name, which the macro gives it.

use quote::format_ident;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{FnArg, GenericParam, Signature, Type, TypeImplTrait};

/// Returns true if the type of a parameter has an `impl Trait`.
pub(crate) fn has_impl_arguments(sig: &Signature) -> bool {
    struct Finder(bool);
    impl<'ast> Visit<'ast> for Finder {
        fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
            self.0 = true;
            visit::visit_type_impl_trait(self, ty);
        }
    }
    let mut finder = Finder(false);
    sig.inputs.iter().for_each(|param| finder.visit_fn_arg(param));
    finder.0
}

/// Replaces each `impl Trait` in the types of parameters by a new type parameter with its bounds, which is what it means. rustc
/// shows the parameter as `Impl0` where a call's argument has another type.
pub(crate) fn name_impl_arguments(sig: &mut Signature) {
    struct Namer(Vec<GenericParam>);
    impl VisitMut for Namer {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            visit_mut::visit_type_mut(self, ty);
            if let Type::ImplTrait(TypeImplTrait { impl_token, bounds }) = ty {
                let name = format_ident!("Impl{}", self.0.len(), span = impl_token.span);
                self.0.push(syn::parse_quote!(#name: #bounds));
                *ty = syn::parse_quote!(#name);
            }
        }
    }
    let mut namer = Namer(Vec::new());
    for param in &mut sig.inputs {
        if let FnArg::Typed(param) = param {
            namer.visit_type_mut(&mut param.ty);
        }
    }
    sig.generics.params.extend(namer.0);
}
