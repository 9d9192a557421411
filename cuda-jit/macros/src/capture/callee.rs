//! What a call names, and under which name the twin asks for it.
//!
//! A free function may be none of the device's, or a kernel, and a type may lack the function on the device. The twin asks
//! so that rustc then finds something that says so, instead of nothing:
//!
//! - a free function is asked for under an alias, which a `use` of its path declares. Where the path is that of a function
//!   alone, and no type stands beside it, the alias names one that the glob import beside it brings.
//! - a type's hidden function is there for each reference, by a trait. rustc looks for it there last, and then finds that
//!   the type itself lacks the trait, whose text is the error's.
//!
//! # Safety
//!
//! Nothing here runs `unsafe` code; what is emitted has some around names of this macro's own, and nothing that the user wrote.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprPath, GenericArgument, Ident, PathArguments};

use cuda_jit_syntax::owned as s;

use super::call::PRIMITIVES;
use super::observers::{callee, callee_value};
use super::pattern::applied;
use super::span::{begin, begin_path};
use super::{Capture, node, nothing};

/// The types that are named in lower case and are no primitives of Rust's.
const LOWER_TYPES: &[&str] = &["f16", "bf16", "e4m3", "e5m2", "e8m0"];

/// What CUDA calls the numbers of its vectors, as in `float4`.
const CUDA_NUMBERS: &[&str] =
    &["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double"];

impl Capture {
    /// In the twin: `let f = path; observer.see(&f);` before the statement, and `f` in it, so that the callee's generic
    /// arguments are seen. With closures among the arguments `see(path, &observer)`: rustc finds the types of a
    /// closure's parameters in the bounds of the function only where its path stands in the call. Of a call it is known how
    /// many arguments it has, and whether closures are among them. The functions of the standard library that kernels know
    /// and that have as many go along, so that rustc finds out whether it is one of them, and what stands for it then; where
    /// closures are among the arguments, what tells the type of the call's result comes back beside the path.
    pub(super) fn tied(&mut self, number: u32, path: &ExprPath, call: Option<(usize, bool)>) -> (Expr, Option<Ident>) {
        let span = begin_path(path);
        let free = call.filter(|_| !of_type(path) && !is_constructor(path));
        let (path, import) = &self.imports.alias(path, &self.scopes);
        let (observer, hidden) = (callee(number, span), hidden(path));
        let same = self.imports.is_repeated().then(|| quote_spanned!(span => __cuda_jit_same));
        let same: Vec<_> = same.into_iter().collect();
        let known = free.and_then(|(count, closures)| known_functions(count, closures));
        let value = callee_value(number, span);
        let imported = |expr: TokenStream| match import {
            Some(import) => quote_spanned!(span => { #import #expr }),
            None => expr,
        };
        let named = imported(path.to_token_stream());
        // an import stands by itself before each path, since rustc forgets the bounds of a function that a block yields as its callee
        let seen = |named: TokenStream, found: TokenStream| {
            let seer = imported(seer(path).to_token_stream());
            Expr::Verbatim(quote_spanned!(span => ((#seer)(#named, #found))))
        };
        if let (Some((_, true)), None) = (call, &known) {
            let found = imported(quote_spanned!(span => #hidden().of(#observer)));
            return (seen(quote_spanned!(span => #(#same)*(#named)), found), None);
        }
        self.say(quote_spanned!(span => let #value = #(#same)*(#named);));
        if is_constructor(path) {
            let (applied, asked) = (applied(path), Ident::new("__asked", Span::mixed_site()));
            self.say(quote_spanned!(span => let #asked = || #applied.__cuda_jit_valued();));
            // SAFETY, in what is emitted: the closure is one that this macro has written, and captures nothing.
            let made = quote!(unsafe { __cuda_jit_made(&#value, #asked) });
            let callee = Ident::new("__callee", Span::mixed_site().located_at(span));
            self.say(quote!(let #callee = #made;));
            self.say(quote_spanned!(span => #callee.of(#observer);));
            return (Expr::Verbatim(value.to_token_stream()), None);
        }
        let Some((mut see, known)) = known else {
            let seen = imported(quote_spanned!(span => #hidden().see(&#value).of(#observer);));
            self.say(quote_spanned!(span => #seen;));
            return (Expr::Verbatim(value.to_token_stream()), None);
        };
        see.set_span(span);
        let found = imported(quote_spanned!(span => #hidden().#see(&#value, #known).of(#observer)));
        if let Some((_, true)) = call {
            let callee = format_ident!("__cuda_jit_known{}", number, span = span);
            self.say(quote_spanned!(span => let #callee = #(#same)*(#found);));
            let tied = quote_spanned!(span => #callee.tie(&#value, #(#same)*(#named)));
            return (seen(tied, callee.to_token_stream()), Some(callee));
        }
        self.say(quote_spanned!(span => let #value = #found.stand_in(&#value, #value);));
        (Expr::Verbatim(value.to_token_stream()), None)
    }

    /// A path in the case of types as an argument: a constructor, or a value without fields.
    pub(super) fn constructor(&mut self, arg: &mut Expr) -> s::Expr {
        let span = begin(arg);
        let Expr::Path(path) = &*arg else { return nothing() };
        let (applied, asked) = (applied(path), Ident::new("__asked", Span::mixed_site()));
        let number = self.callee(span);
        let (observer, value) = (callee(number, span), callee_value(number, span));
        self.say(quote_spanned!(span => let #value = #path; let #asked = || #applied.__cuda_jit_valued();));
        // SAFETY, in what is emitted: the closure is one that this macro has written, and captures nothing.
        let named = quote!(unsafe { __cuda_jit_named(&#value, #asked) });
        let name = Ident::new("__callee", Span::mixed_site().located_at(span));
        self.say(quote!(let #name = #named;));
        self.say(quote_spanned!(span => #name.of(#observer);));
        *arg = Expr::Verbatim(value.to_token_stream());
        node(span, s::ExprKind::Function(number))
    }
}

/// The functions of the standard library that kernels know and call with so many arguments, and the hidden method that compares a
/// callee with them; none if there are none.
fn known_functions(count: usize, closures: bool) -> Option<(Ident, TokenStream)> {
    let (name, known) = match count {
        0 => ("none", quote!((::core::iter::empty,))),
        1 => (
            "one",
            quote!((
                ::core::mem::take,
                ::core::iter::once,
                ::core::iter::repeat,
                ::core::iter::from_fn,
                ::core::array::from_fn
            )),
        ),
        2 => (
            "two",
            quote!((
                ::core::mem::swap,
                ::core::mem::replace,
                ::core::iter::repeat_n,
                ::core::iter::successors,
                ::core::iter::zip
            )),
        ),
        _ => return None,
    };
    let see = if closures { "beside" } else { "see" };
    Some((format_ident!("{}_{}", see, name, span = Span::mixed_site()), known))
}

/// What the alias of a function begins with, by how many generic arguments its path has and whether a name that nothing has is
/// an error elsewhere; none if there is to be no alias.
pub(super) fn alias_prefix(path: &ExprPath, silent: bool) -> Option<&'static str> {
    let (last, before) =
        path.path.segments.iter().collect::<Vec<_>>().split_last().map(|(last, before)| (*last, before.to_vec()))?;
    let name = last.ident.to_string();
    // what begins with a capital may be a variant, of which rustc is to say that under its own name
    let is_hidden = name.starts_with(char::is_uppercase) || before.is_empty() && PRELUDE.contains(&&*name);
    if of_type(path) || is_hidden || before.iter().any(|segment| !segment.arguments.is_none()) {
        return None;
    }
    match &last.arguments {
        PathArguments::None => Some(if silent { "__cuda_jit_s" } else { "__cuda_jit_p" }),
        PathArguments::AngleBracketed(arguments) => {
            let is_type = |argument: &GenericArgument| matches!(argument, GenericArgument::Type(_));
            let are_types = arguments.args.iter().all(is_type);
            match arguments.args.len() {
                1 if are_types => Some(if silent { "__cuda_jit_u" } else { "__cuda_jit_q" }),
                2 if are_types => Some(if silent { "__cuda_jit_v" } else { "__cuda_jit_r" }),
                _ => None,
            }
        }
        PathArguments::Parenthesized(_) => None,
    }
}

/// What the prelude exports in lower case. Its names come by a glob import: a function of the user's hides them, but not for an
/// import, where what a macro writes, as the type beside the function, and a glob's name are ambiguous.
#[rustfmt::skip]
const PRELUDE: &[&str] = &[
    "active_mask", "all_sync", "any_sync", "as_vectors", "as_vectors_mut", "atomic_add", "atomic_add_with",
    "atomic_and", "atomic_and_with", "atomic_dec", "atomic_dec_with", "atomic_exch", "atomic_exch_with",
    "atomic_fence", "atomic_inc", "atomic_inc_with", "atomic_load", "atomic_load_with", "atomic_max",
    "atomic_max_with", "atomic_min", "atomic_min_with", "atomic_nanmax", "atomic_nanmax_with", "atomic_nanmin",
    "atomic_nanmin_with", "atomic_or", "atomic_or_with", "atomic_store", "atomic_store_with", "atomic_sub",
    "atomic_sub_with", "atomic_xor", "atomic_xor_with", "ballot_sync", "bf16", "bf16x2", "block_dim", "block_idx",
    "breakpoint", "brev", "byte_perm", "cache", "capture", "cas", "cas_with", "clock", "clock64", "close",
    "cluster_block_idx", "cluster_blocks", "cluster_dim", "cluster_idx", "cluster_rank", "clz", "coalesced_threads",
    "compile_ptx", "compile_ptx_for_current_device", "compute_capability", "cuda_vectors", "current_context",
    "current_device", "default_stream", "defer_cleanup", "detect", "device", "device_array", "device_array_like",
    "device_fn", "dp4a", "driver", "dynamic_shared", "e4m3", "e4m3x2", "e5m2", "e5m2x2", "e8m0", "e8m0x2", "eq_sync",
    "event", "event_elapsed_time", "event_without_timing", "external_stream", "f16", "f16x2", "f32x2", "f32x3",
    "f32x4", "f64x2", "f64x3", "f64x4", "ffs", "for_each_thread", "free_pending", "from_slice", "funnelshift_l",
    "funnelshift_r", "globaltimer", "gpus", "grid", "grid_dim", "grid_size", "i16x2", "i16x3", "i16x4", "i32x2",
    "i32x3", "i32x4", "i64x2", "i64x3", "i64x4", "i8x2", "i8x3", "i8x4", "inspect", "is_available",
    "is_bfloat16_supported", "is_float16_supported", "is_float8_supported", "is_simulated", "kernel", "kir_of",
    "lane_id", "lanemask_eq", "lanemask_ge", "lanemask_gt", "lanemask_le", "lanemask_lt", "ldca", "ldcg", "ldcs",
    "ldcv", "ldg", "ldlu", "legacy_default_stream", "libdevice", "list_devices", "managed_array",
    "managed_array_like", "mapped", "mapped_array", "mapped_array_like", "match_all_sync", "match_any_sync",
    "memory_info", "memory_statistics", "nanosleep", "nvtx", "open_ipc_array", "order", "per_thread_default_stream",
    "pinned", "pinned_array", "pinned_array_like", "popc", "printf", "profile_start", "profile_stop", "profiling",
    "recompile", "reduce_add_sync", "reduce_and_sync", "reduce_max_sync", "reduce_min_sync", "reduce_or_sync",
    "reduce_xor_sync", "reset_peak", "runtime", "scope", "select_device", "set_conditional", "set_memory_manager",
    "set_pending_limits", "shareable_array", "shared", "shfl_down_sync", "shfl_sync", "shfl_up_sync", "shfl_xor_sync",
    "stcg", "stcs", "stream", "stwb", "stwt", "sync_threads", "sync_threads_and", "sync_threads_count",
    "sync_threads_or", "sync_warp", "synchronize", "this_block", "this_cluster", "this_grid", "thread_idx",
    "threadfence", "threadfence_block", "threadfence_system", "tiled_partition", "to_device", "u16x2", "u16x3",
    "u16x4", "u32x2", "u32x3", "u32x4", "u64x2", "u64x3", "u64x4", "u8x2", "u8x3", "u8x4", "warm", "warnings",
    "warp_size", "zeros",
];

/// The path of the hidden function that names a device function: `f::__callee` of a free one, for which a type stands,
/// `Type::__fn_f` of a type's or trait's.
pub(crate) fn hidden(path: &ExprPath) -> ExprPath {
    let of_type = of_type(path);
    let mut path = path.clone();
    match path.path.segments.last_mut() {
        Some(last) if of_type => last.ident = format_ident!("__fn_{}", last.ident, span = last.ident.span()),
        _ => {
            let span = path.span();
            path.path.segments.push(Ident::new("__callee", span).into());
        }
    }
    path
}

/// Returns true if a path may name a constructor that has no hidden function beside it: that of a struct, or of an imported variant.
fn is_constructor(path: &ExprPath) -> bool {
    let capital = path.path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase));
    capital && !of_type(path)
}

/// The name of the function of a type or trait that a path names.
pub(crate) fn function_of_type(path: &ExprPath) -> Option<Ident> {
    path.path.segments.last().filter(|_| of_type(path)).map(|last| last.ident.clone())
}

/// Whether a path names a function of a type or trait, by Rust's naming.
pub(super) fn of_type(path: &ExprPath) -> bool {
    let before = path.path.segments.iter().rev().nth(1);
    let is_type = |name: String| name.starts_with(char::is_uppercase) || is_lower_type(&name);
    path.qself.is_some() || before.is_some_and(|segment| is_type(segment.ident.to_string()))
}

/// The path of the function that ties a callee which takes closures.
fn seer(path: &ExprPath) -> ExprPath {
    let mut path = path.clone();
    let span = path.span();
    path.path.segments.push(Ident::new("__see", span).into());
    path
}

/// Returns true for a type's name in lower case: a primitive, `f16`, `bf16`, or a short vector such as `f32x4` or `float4`.
pub(super) fn is_lower_type(name: &str) -> bool {
    PRIMITIVES.contains(&name) || LOWER_TYPES.contains(&name) || is_vector(name)
}

/// Whether a name is a short vector's.
fn is_vector(name: &str) -> bool {
    let numbers = name.strip_suffix(['2', '3', '4']);
    numbers.is_some_and(|numbers| match numbers.strip_suffix('x') {
        Some(number) => PRIMITIVES.contains(&number) || LOWER_TYPES.contains(&number),
        None => CUDA_NUMBERS.contains(&numbers),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preludes_names_are_all_known() {
        let source = include_str!("../../../../cuda-prelude/src/lib.rs");
        let file: syn::File = syn::parse_str(source).unwrap();
        let mut exported = Vec::new();
        for item in &file.items {
            if let syn::Item::Use(item) = item {
                names_of(&item.tree, &mut exported);
            }
        }
        exported.retain(|name| name.starts_with(char::is_lowercase));
        exported.sort();
        assert_eq!(exported, PRELUDE);
    }

    fn names_of(tree: &syn::UseTree, names: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(path) => names_of(&path.tree, names),
            syn::UseTree::Name(name) => names.push(name.ident.to_string()),
            syn::UseTree::Rename(renamed) => names.push(renamed.rename.to_string()),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| names_of(tree, names)),
            syn::UseTree::Glob(_) => panic!("the prelude names what it exports"),
        }
    }
}
