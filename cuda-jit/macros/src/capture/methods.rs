//! The names of the methods that the device language has of its own, and why others are refused.

use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};

/// The methods that the front end knows, of numbers, `bool`, slices, arrays and ndarray views.
pub(crate) const METHODS: &[&str] = &[
    "abs",
    "abs_diff",
    "acos",
    "acosh",
    "arg",
    "as_slice",
    "as_slice_mut",
    "asin",
    "asinh",
    "assign",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "checked_add",
    "checked_div",
    "checked_mul",
    "checked_neg",
    "checked_rem",
    "checked_shl",
    "checked_shr",
    "checked_sub",
    "clamp",
    "cmp",
    "column",
    "column_mut",
    "conj",
    "contains",
    "copy_from_slice",
    "copysign",
    "cos",
    "cosh",
    "count_ones",
    "count_zeros",
    "diag",
    "diag_mut",
    "dim",
    "div_ceil",
    "div_euclid",
    "dot",
    "ends_with",
    "exp",
    "exp2",
    "exp_m1",
    "expf",
    "fill",
    "first",
    "first_mut",
    "floor",
    "fract",
    "get",
    "get_mut",
    "hypot",
    "ilog2",
    "index_axis",
    "index_axis_move",
    "index_axis_mut",
    "insert_axis",
    "into_slice",
    "inv",
    "is_empty",
    "is_finite",
    "is_infinite",
    "is_nan",
    "is_negative",
    "is_positive",
    "is_power_of_two",
    "is_sign_negative",
    "is_sign_positive",
    "is_sorted",
    "is_square",
    "is_standard_layout",
    "l1_norm",
    "last",
    "last_mut",
    "leading_ones",
    "leading_zeros",
    "len",
    "len_of",
    "ln",
    "ln_1p",
    "log",
    "log10",
    "log2",
    "max",
    "mean",
    "min",
    "mul_add",
    "ncols",
    "ndim",
    "next_power_of_two",
    "norm",
    "norm_sqr",
    "nrows",
    "overflowing_add",
    "overflowing_mul",
    "overflowing_neg",
    "overflowing_sub",
    "partial_cmp",
    "permuted_axes",
    "pow",
    "powc",
    "powf",
    "powi",
    "powu",
    "product",
    "reborrow",
    "recip",
    "rem_euclid",
    "reverse",
    "reverse_bits",
    "reversed_axes",
    "rotate_left",
    "rotate_right",
    "round",
    "round_ties_even",
    "row",
    "row_mut",
    "saturating_add",
    "saturating_mul",
    "saturating_sub",
    "scale",
    "shape",
    "signum",
    "sin",
    "sin_cos",
    "sinh",
    "slice",
    "slice_move",
    "slice_mut",
    "sort_unstable",
    "split_at",
    "split_at_mut",
    "split_first",
    "split_first_mut",
    "split_last",
    "split_last_mut",
    "sqrt",
    "starts_with",
    "std",
    "stride_of",
    "strides",
    "sum",
    "swap",
    "swap_bytes",
    "t",
    "tan",
    "tanh",
    "to_array",
    "to_bits",
    "to_degrees",
    "to_f32",
    "to_f32_const",
    "to_f64",
    "to_f64_const",
    "to_polar",
    "to_radians",
    "to_slice",
    "total_cmp",
    "trailing_ones",
    "trailing_zeros",
    "trunc",
    "unscale",
    "unsigned_abs",
    "var",
    "view",
    "view_mut",
    "wrapping_abs",
    "wrapping_add",
    "wrapping_div",
    "wrapping_mul",
    "wrapping_neg",
    "wrapping_pow",
    "wrapping_rem",
    "wrapping_shl",
    "wrapping_shr",
    "wrapping_sub",
];

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
    ("map_inplace", 0),
    ("mapv_inplace", 0),
    ("partition_point", 0),
    ("sort_unstable_by", 0),
    ("sort_unstable_by_key", 0),
    ("zip_mut_with", 1),
];

/// How many values a method takes before functions, if the language has one of this name that takes such.
pub(super) fn values_before_functions(name: &str) -> Option<usize> {
    WITH_FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, values)| *values)
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
