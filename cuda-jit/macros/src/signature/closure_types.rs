//! The types that replace those of closures: function pointers in the typing probe, type parameters where a call fixes
//! them.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::visit_mut::VisitMut;
use syn::{Generics, Ident, Type, TypeParam, TypeParamBound};

use super::{Forget, Role, Signature};

impl Signature {
    /// A parameter's type with function pointers instead of closures' types. If it contains closures, they are boxed as the
    /// values of a typing probe are.
    pub(crate) fn with_placeholders(&self, ty: &Type) -> Type {
        let is_held = self.boxes_closures() && !self.is_closure(ty);
        replaced(ty, &|name| Some(closure_placeholder(self.closure(name)?, is_held)))
    }

    /// A result's type with function pointers instead of closures' types; all closures in it are values.
    pub(crate) fn result_with_placeholders(&self, ty: &Type) -> Type {
        replaced(ty, &|name| Some(closure_placeholder(self.closure(name)?, self.boxes_closures())))
    }

    /// Returns true if closures that are values are boxed in the probe. The device library's structs contain closures
    /// unboxed.
    pub(crate) fn boxes_closures(&self) -> bool {
        self.role != Role::Library
    }

    /// A type in which the closures' types are replaced by type parameters that the call fixes.
    pub(crate) fn with_open_closures(&self, ty: &Type, open: &dyn Fn(&Ident) -> Ident) -> Type {
        replaced(ty, &|name| {
            let open = self.closure(name).map(|_| open(name))?;
            Some(syn::parse_quote!(#open))
        })
    }

    /// The type parameters that are closures.
    pub(crate) fn closure_names(&self) -> impl Iterator<Item = &Ident> {
        self.closures.iter().map(|(name, _)| name)
    }

    /// The bounds of closures' types under other names, for types that contain closures and require them.
    pub(crate) fn value_bounds(&self, open: &dyn Fn(&Ident) -> Ident) -> Vec<syn::WherePredicate> {
        if !self.holds_closures() {
            return Vec::new();
        }
        let mut predicates: Vec<syn::WherePredicate> = Vec::new();
        for param in self.generics.type_params().filter(|param| self.closure(&param.ident).is_some()) {
            let (name, bounds) = (&param.ident, &param.bounds);
            predicates.push(syn::parse_quote!(#name: 'static + #bounds));
        }
        let about = |predicate: &&syn::WherePredicate| match predicate {
            syn::WherePredicate::Type(predicate) => self.is_closure(&predicate.bounded_ty),
            _ => false,
        };
        let clause = self.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
        predicates.extend(clause.filter(about).cloned());
        let open = |name: &Ident| {
            let open = self.closure(name).map(|_| open(name))?;
            Some(syn::parse_quote!(#open))
        };
        for predicate in &mut predicates {
            Replace(&open).visit_where_predicate_mut(predicate);
            Forget(&self.lifetimes, "'static").visit_where_predicate_mut(predicate);
        }
        predicates
    }

    /// Returns true if the signature of a closure names an associated type of a type parameter or of `Self`.
    pub(crate) fn closures_name_associated_types(&self) -> bool {
        struct Finder<'a>(&'a Signature, bool);
        impl VisitMut for Finder<'_> {
            fn visit_type_path_mut(&mut self, path: &mut syn::TypePath) {
                let of = path.path.segments.first().filter(|_| path.path.segments.len() > 1).map(|first| &first.ident);
                let is_open =
                    |name: &Ident| name == "Self" || self.0.generics.type_params().any(|param| param.ident == *name);
                self.1 |= path.qself.is_some() || of.is_some_and(is_open);
                syn::visit_mut::visit_type_path_mut(self, path);
            }
        }
        let mut finder = Finder(self, false);
        self.closures.iter().for_each(|(_, pointer)| finder.visit_type_mut(&mut pointer.clone()));
        finder.1
    }

    /// Returns true if the types of values fix every type and const parameter that is no closure; otherwise the closures' bounds do.
    pub(crate) fn is_fixed_by_types(&self) -> bool {
        let open = self.generics.type_params().map(|param| &param.ident).filter(|name| self.closure(name).is_none());
        let mut open = open.chain(self.generics.const_params().map(|param| &param.ident));
        let types = || self.static_types.iter().chain([&self.result]);
        open.all(|name| types().any(|ty| names(ty.to_token_stream(), name)))
    }

    /// The bounds of a parameter that is a closure itself, for a type of another name.
    pub(crate) fn closure_bound(&self, ty: &Type, open: &Ident) -> Option<syn::WherePredicate> {
        let Type::Path(path) = ty else { return None };
        let name = path.path.get_ident()?;
        let param = self.generics.type_params().find(|param| param.ident == *name)?;
        let clause = self.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
        let of_clause = clause.filter_map(|predicate| match predicate {
            syn::WherePredicate::Type(predicate) if predicate.bounded_ty == *ty => Some(&predicate.bounds),
            _ => None,
        });
        let bounds = param.bounds.iter().chain(of_clause.flatten());
        let mut predicate: syn::WherePredicate = syn::parse_quote!(#open: #(#bounds)+*);
        let written = predicate.clone();
        Replace(&|name| self.closure(name).cloned()).visit_where_predicate_mut(&mut predicate);
        if predicate != written {
            return None; // the type of another closure has no name here
        }
        Forget(&self.lifetimes, "'static").visit_where_predicate_mut(&mut predicate);
        Some(predicate)
    }

    /// Returns true if the type of a parameter, or of the result, contains closures.
    pub(crate) fn holds_closures(&self) -> bool {
        let mentions = |ty: &Type| replaced(ty, &|name| self.closure(name).cloned()) != *ty;
        mentions(&self.result) || self.static_types.iter().any(|ty| !self.is_closure(ty) && mentions(ty))
    }
}

/// The type parameters that are closures, each with its function pointer.
pub(crate) fn closures(generics: &Generics) -> Vec<(Ident, Type)> {
    let pointer = |param: &TypeParam| Some((param.ident.clone(), fn_pointer(param, generics)?));
    generics.type_params().filter_map(pointer).collect()
}

/// The function pointer of the same signature, if a type parameter is bound by `Fn`, `FnMut` or `FnOnce`, under any name.
fn fn_pointer(param: &TypeParam, generics: &Generics) -> Option<Type> {
    let signature = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => {
            let last = bound.path.segments.last()?;
            match &last.arguments {
                // stable Rust allows this notation for the bounds of closures only
                syn::PathArguments::Parenthesized(arguments) => {
                    let (inputs, output, lifetimes) = (&arguments.inputs, &arguments.output, &bound.lifetimes);
                    Some(syn::parse_quote!(#lifetimes fn(#inputs) #output))
                }
                _ => None,
            }
        }
        _ => None,
    };
    let clauses = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let mut bounds = clauses.filter_map(|predicate| match predicate {
        syn::WherePredicate::Type(predicate) => match &predicate.bounded_ty {
            Type::Path(path) if path.path.is_ident(&param.ident) => Some(&predicate.bounds),
            _ => None,
        },
        _ => None,
    });
    param.bounds.iter().find_map(signature).or_else(|| bounds.find_map(|bounds| bounds.iter().find_map(signature)))
}

/// Returns true if tokens contain a name.
fn names(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => names(group.stream(), name),
        _ => false,
    })
}

/// The type that replaces a closure's: a function pointer, boxed if the closure is a value.
pub(crate) fn closure_placeholder(pointer: &Type, is_value: bool) -> Type {
    if is_value { syn::parse_quote!(::std::boxed::Box<#pointer>) } else { pointer.clone() }
}

/// Replaces names by types.
struct Replace<'a>(&'a dyn Fn(&Ident) -> Option<Type>);
impl VisitMut for Replace<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(path) = ty
            && let Some(other) = path.path.get_ident().and_then(self.0)
        {
            *ty = other;
        } else {
            syn::visit_mut::visit_type_mut(self, ty);
        }
    }
}

/// A type in which names are replaced by types.
pub(crate) fn replaced(ty: &Type, by: &dyn Fn(&Ident) -> Option<Type>) -> Type {
    let mut ty = ty.clone();
    Replace(by).visit_type_mut(&mut ty);
    ty
}
