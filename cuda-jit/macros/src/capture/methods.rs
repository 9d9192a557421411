//! The hidden methods of those that the device language has of its own, and why others are refused.

use cuda_jit_syntax::methods::CLASSES;
use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};

/// The hidden methods of a class of types, with the receivers of those that they stand for: `__dev_` and the name is there to be
/// called on a value, `__fn_` and the name to be named by a path.
pub(crate) fn builtin_methods(class: &str) -> TokenStream {
    let classes = CLASSES.iter().filter(|of| class == "All" || of.name == class);
    let mut named = Vec::new();
    let methods = classes.flat_map(|of| {
        let receivers = [(of.by_value, quote!(self)), (of.by_ref, quote!(&self)), (of.by_mut, quote!(&mut self))];
        receivers.into_iter().flat_map(|(names, receiver)| names.iter().map(move |name| (*name, receiver.clone())))
    });
    let methods = methods.filter(|(name, _)| {
        !named.contains(name) && {
            named.push(name);
            true
        }
    });
    let methods = methods.map(|(name, receiver)| {
        let receiver = if class == "All" { quote!(&self) } else { receiver };
        let (hidden, path) = (format_ident!("__dev_{}", name), format_ident!("__fn_{}", name));
        let sized = receiver.to_string().eq("self").then(|| quote!(where Self: Sized));
        quote! {
            #[doc(hidden)]
            fn #hidden(#receiver) -> Callee<Builtin> #sized {
                Callee::new()
            }

            #[doc(hidden)]
            fn #path() -> Callee<Builtin> {
                Callee::new()
            }
        }
    });
    quote!(#(#methods)*)
}

/// Hidden methods of the host's, `Why: name count name (types) ..;`, which yield `HostMethod<Self, Why>`. They take so many
/// arguments, or arguments of these types, which may name `R`.
pub(crate) fn host_methods(tokens: TokenStream) -> TokenStream {
    let (mut why, mut name, mut methods) = (None, None, TokenStream::new());
    for token in tokens {
        let takes = match token {
            TokenTree::Ident(ident) if why.is_none() => {
                why = Some(ident);
                continue;
            }
            TokenTree::Ident(ident) => {
                name = Some(format_ident!("__call_{}", ident));
                continue;
            }
            TokenTree::Punct(punct) => {
                why = why.filter(|_| punct.as_char() != ';');
                continue;
            }
            TokenTree::Literal(count) => {
                let args = (0..count.to_string().parse().unwrap_or(0usize)).map(|index| format_ident!("A{}", index));
                let args: Vec<_> = args.collect();
                quote!(<#(#args),*>(&self, #(_: #args),*))
            }
            TokenTree::Group(types) => {
                let types = types.stream();
                quote!(<R>(&self, #types))
            }
        };
        methods.extend(quote! {
            #[doc(hidden)]
            fn #name #takes -> HostMethod<Self, #why> {
                HostMethod::new()
            }
        });
    }
    methods
}

/// Those that take functions, and how many values before the first.
const WITH_FUNCTIONS: &[(&str, usize)] = &[
    ("fill_with", 0),
    ("fold", 1),
    ("for_each", 0),
    ("map", 0),
    ("partition_point", 0),
    ("sort_unstable_by", 0),
    ("sort_unstable_by_key", 0),
];

/// The number of values that a method takes before functions, if the language has one of this name that takes such, or whose result
/// only its call tells: `max` of an iterator takes nothing, where that of a number takes another.
pub(super) fn values_before_functions(name: &str, args: usize) -> Option<usize> {
    let told = match name {
        "is_sorted" | "last" | "len" | "max" | "min" | "product" | "sum" => args == 0,
        _ => false,
    };
    let known = || WITH_FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, values)| *values);
    told.then_some(0).or_else(known)
}

/// Why a method cannot be called, if it cannot. Others may be a `#[device] impl`'s: rustc decides.
pub(super) fn refused_method(name: &str) -> Option<String> {
    Some(match name {
        "get_unchecked" | "get_unchecked_mut" => format!("write `*slice.{name}(i)` to read or write the element"),
        "clone" | "to_owned" => "values in kernels are copied; drop the call".to_string(),
        "fetch_add" | "fetch_sub" | "fetch_and" | "fetch_or" | "fetch_xor" | "fetch_max" | "fetch_min" => {
            let kin = name.trim_start_matches("fetch_");
            format!(
                "kernels have no atomics of the standard library; write `atomic_{kin}(&mut x[i], v)` on an element of a slice"
            )
        }
        _ => return None,
    })
}
