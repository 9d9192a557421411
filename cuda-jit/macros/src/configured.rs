//! Makes rustc evaluate `#[cfg(..)]` within an item before the item is captured.
//!
//! An attribute macro receives its item with all conditions as written, whereas rustc configures the input of a derive
//! macro, down to expressions. So an item with conditions goes through a derive macro: the attribute emits an enum whose
//! discriminant is a block with the item, and the derive macro expands the configured item. The enum itself remains, but
//! the item in it begins with an attribute that removes it. A condition that is true remains in place.

use std::hash::{DefaultHasher, Hash, Hasher};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::Item;

use crate::emit::{self, Kind};
use crate::options;

/// Expands an attribute, by way of the derive macro if the item has conditions.
pub(crate) fn expand(kind: Kind, root: TokenStream, options: TokenStream, item: TokenStream) -> TokenStream {
    let (root, options) = match options::root(root, options) {
        Ok(split) => split,
        Err(error) => {
            let error = error.to_compile_error();
            return quote!(#item #error);
        }
    };
    match is_conditional(&item) && is_free(&item) {
        true => wrapped(kind, &root, &options, &item),
        false => emit::expand(kind, root, options, item),
    }
}

/// Returns true if an attribute within the tokens is `#[cfg(..)]` or `#[cfg_attr(..)]`.
fn is_conditional(tokens: &TokenStream) -> bool {
    let mut after_pound = false;
    tokens.clone().into_iter().any(|token| {
        let is_attribute = std::mem::replace(&mut after_pound, is(&token, '#'));
        let TokenTree::Group(group) = token else { return false };
        let is_condition = is_attribute && group.delimiter() == Delimiter::Bracket && names_condition(&group);
        is_condition || is_conditional(&group.stream())
    })
}

/// Returns true if the brackets of an attribute begin with `cfg` or `cfg_attr`.
fn names_condition(brackets: &Group) -> bool {
    match brackets.stream().into_iter().next() {
        Some(TokenTree::Ident(name)) => matches!(name.to_string().trim_start_matches("r#"), "cfg" | "cfg_attr"),
        _ => false,
    }
}

/// Returns true for an item that can stand in a block. A method cannot; the error of the expanded method says that the
/// attribute belongs before its `impl`.
fn is_free(item: &TokenStream) -> bool {
    match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Fn(function)) => function.sig.receiver().is_none(),
        Ok(Item::Impl(_) | Item::Trait(_)) => true,
        _ => false,
    }
}

/// The enum. Its name is unique to the item, since two equal items cannot stand in one module.
fn wrapped(kind: Kind, root: &TokenStream, options: &TokenStream, item: &TokenStream) -> TokenStream {
    let mut hasher = DefaultHasher::new();
    item.to_string().hash(&mut hasher);
    let name = format_ident!("__cuda_jit_configured_{:016x}", hasher.finish());
    let (is_kernel, silent) = (kind == Kind::Kernel, crate::emit::silent());
    quote! {
        #[doc(hidden)]
        #silent
        #[derive(#root::Configured)]
        enum #name {
            Item = {
                #[#root::unconfigured(#is_kernel, [#root], [#options])]
                #item
                0
            },
        }
    }
}

/// Expands the configured item within the enum: nothing, or the attribute, the item and the block's value.
pub(crate) fn unwrapped(input: TokenStream) -> TokenStream {
    let tokens = |group: Option<TokenTree>| match group {
        Some(TokenTree::Group(group)) => group.stream().into_iter().collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let variant = tokens(input.into_iter().last());
    let block = tokens(variant.into_iter().nth(2));
    let [_, attribute, item @ .., _] = &block[..] else { return TokenStream::new() };
    let arguments = tokens(tokens(Some(attribute.clone())).pop());
    let [is_kernel, _, TokenTree::Group(root), _, TokenTree::Group(options)] = &arguments[..] else {
        return TokenStream::new();
    };
    let kind = if is_kernel.to_string() == "true" { Kind::Kernel } else { Kind::Device };
    emit::expand(kind, root.stream(), options.stream(), without_stray_commas(item.iter().cloned().collect()))
}

/// Removes the commas that rustc leaves behind removed function parameters: in parentheses, with nothing before them.
fn without_stray_commas(tokens: TokenStream) -> TokenStream {
    let mut is_macro = false;
    let mend = |token| {
        let is_macro = std::mem::replace(&mut is_macro, is(&token, '!'));
        let TokenTree::Group(group) = &token else { return token };
        if is_macro {
            return token;
        }
        let mut content: Vec<_> = without_stray_commas(group.stream()).into_iter().collect();
        if group.delimiter() == Delimiter::Parenthesis {
            let mut before = true; // true while nothing precedes
            content.retain(|token| {
                let is_stray = before && is(token, ',');
                before = is(token, ',');
                !is_stray
            });
        }
        let mut mended = Group::new(group.delimiter(), content.into_iter().collect());
        mended.set_span(group.span());
        TokenTree::Group(mended)
    };
    tokens.into_iter().map(mend).collect()
}

/// Returns true for a punctuation character.
fn is(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}
