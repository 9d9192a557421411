//! Makes rustc check that the trait of an `impl`, which is recognised by name, is the standard library's.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ItemImpl, PathArguments};

use crate::sums::{self, Summation};

/// The standard library's traits of operators, conversion, defaults and iterators: the module of each, and one of its
/// methods.
const TRAITS: &[(&str, &[&str])] = &[
    (
        "ops",
        &[
            "Add add",
            "Sub sub",
            "Mul mul",
            "Div div",
            "Rem rem",
            "BitAnd bitand",
            "BitOr bitor",
            "BitXor bitxor",
            "Shl shl",
            "Shr shr",
            "AddAssign add_assign",
            "SubAssign sub_assign",
            "MulAssign mul_assign",
            "DivAssign div_assign",
            "RemAssign rem_assign",
            "BitAndAssign bitand_assign",
            "BitOrAssign bitor_assign",
            "BitXorAssign bitxor_assign",
            "ShlAssign shl_assign",
            "ShrAssign shr_assign",
            "Neg neg",
            "Not not",
            "Index index",
            "IndexMut index_mut",
        ],
    ),
    ("cmp", &["PartialEq eq", "PartialOrd partial_cmp", "Ord cmp"]),
    ("convert", &["From from", "TryFrom try_from"]),
    ("default", &["Default default"]),
    (
        "iter",
        &[
            "Iterator next",
            "DoubleEndedIterator next_back",
            "ExactSizeIterator len",
            "IntoIterator into_iter",
            "Sum sum",
            "Product product",
        ],
    ),
];

/// The module of the trait with this name in the standard library, and one of its methods.
fn known(name: &str) -> Option<(&'static str, &'static str)> {
    TRAITS.iter().find_map(|(module, traits)| {
        let method = traits.iter().filter_map(|known| known.split_once(' ')).find(|(known, _)| *known == name)?.1;
        Some((*module, method))
    })
}

/// Returns true if a trait of operators, conversion or defaults has this name.
pub(crate) fn is_operator(name: &str) -> bool {
    known(name).is_some_and(|(module, _)| module != "iter")
}

/// A function that compiles if the trait of an `impl` is the standard library's of this name: a method of either trait is
/// then the same function. Its parameter implies what the `impl`'s type does about lifetimes.
pub(crate) fn check(root: &TokenStream, item: &ItemImpl, name: &str) -> TokenStream {
    let (Some((module, method)), Some((_, path, _))) = (known(name), &item.trait_) else { return TokenStream::new() };
    let Some(last) = path.segments.last() else { return TokenStream::new() };
    let arguments = match &last.arguments {
        PathArguments::None => TokenStream::new(),
        arguments => arguments.to_token_stream(),
    };
    let [module, name] = [module, name].map(|name| Ident::new(name, Span::mixed_site()));
    let (span, (generics, _, bounds)) = (path.span(), item.generics.split_for_impl());
    let (this, method) = (&item.self_ty, Ident::new(method, span));
    // of an iterator, which rustc cannot infer
    let of = Summation::of(path).map(|_| sums::element(path)).map(|element| quote!(::<::core::iter::Empty<#element>>));
    let [ours, theirs] = [quote!(::core::#module::#name #arguments), path.to_token_stream()]
        .map(|path| without_self(quote_spanned!(span => <#this as #path>::#method #of), &this.to_token_stream()));
    let same = quote_spanned!(span => #root::standard_function(#ours, #theirs));
    let bounds = bounds.map(|bounds| without_self(bounds.to_token_stream(), &this.to_token_stream()));
    quote! {
        const _: () = {
            #[allow(dead_code, clippy::extra_unused_lifetimes)]
            fn standard #generics (_: &#this) #bounds {
                #same;
            }
        };
    }
}

/// The tokens with a type in place of `Self`.
fn without_self(tokens: TokenStream, this: &TokenStream) -> TokenStream {
    let replaced = |token| match token {
        TokenTree::Ident(name) if name == "Self" => this.clone(),
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), without_self(group.stream(), this));
            inner.set_span(group.span());
            TokenTree::Group(inner).into()
        }
        token => token.into(),
    };
    tokens.into_iter().flat_map(replaced).collect()
}
