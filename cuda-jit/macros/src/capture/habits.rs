//! Spellings of positions, barriers and memory that people bring from Numba and CUDA C++, and how kernels spell them.
//!
//! Only paths and literals that cannot mean anything else in a program by Rust's conventions are refused.

use syn::{Expr, ExprField, ExprPath, GenericArgument, Lit, Member, Path, PathArguments};

/// The functions of a thread's position, whose fields are `x`, `y` and `z`.
const POSITIONS: &[&str] = &["thread_idx", "block_idx", "block_dim", "grid_dim"];

/// Names of Numba's module `cuda`, and what kernels write.
const NUMBA: &[(&str, &str)] = &[
    ("grid", "grid::<1>()"),
    ("gridsize", "grid_size::<1>()"),
    ("threadIdx", "thread_idx()"),
    ("blockIdx", "block_idx()"),
    ("blockDim", "block_dim()"),
    ("gridDim", "grid_dim()"),
    ("laneid", "lane_id()"),
    ("syncthreads", "sync_threads()"),
    ("syncwarp", "sync_warp(FULL_MASK)"),
];

/// The error text for a name of Numba's, such as `cuda::grid`.
pub(super) fn numba(path: &ExprPath) -> Option<String> {
    let [module, name] = &path.path.segments.iter().collect::<Vec<_>>()[..] else { return None };
    let (_, here) = NUMBA.iter().find(|(known, _)| module.ident == "cuda" && name.ident == known)?;
    Some(format!("`cuda::{}` is spelled as in Numba: kernels write `{here}`", name.ident))
}

/// Functions of Python's module `math` that are methods in Rust.
const METHODS: &[&str] = &["sqrt", "exp", "log", "pow", "sin", "cos", "tan", "floor", "ceil", "fabs", "atan2", "fma"];

/// Returns true for a path such as `math::sqrt`, which usually names no function: the typing probe then names it as the
/// function does, so that rustc reports the missing module once.
pub(super) fn is_method_of_math(path: &Path) -> bool {
    let [module, name] = &path.segments.iter().collect::<Vec<_>>()[..] else { return false };
    module.ident == "math" && METHODS.iter().any(|known| name.ident == known)
}

/// The error text for a position's field without a call, such as `thread_idx.x`, if its function is `is_item`.
pub(super) fn position(field: &ExprField, is_item: impl FnOnce(&syn::Ident) -> bool) -> Option<String> {
    let Expr::Path(path) = &*field.base else { return None };
    let name = path.path.get_ident().filter(|name| POSITIONS.iter().any(|known| *name == known))?;
    let Member::Named(axis) = &field.member else { return None };
    let is_axis = ["x", "y", "z"].iter().any(|known| axis == known);
    (is_axis && is_item(name)).then(|| format!("`{name}` is a function: write `{name}().{axis}`"))
}

/// The error text for `grid` or `grid_size` without a number of dimensions, which rustc could not infer, or with one that
/// no grid has.
pub(super) fn dimensions(path: &Path) -> Option<String> {
    let last = path.segments.last()?;
    let name = last.ident.to_string();
    if !matches!(name.as_str(), "grid" | "grid_size") {
        return None;
    }
    match &last.arguments {
        PathArguments::None => {
            Some(format!("the number of dimensions is missing: write `{name}::<1>()`, `<2>` or `<3>`"))
        }
        PathArguments::AngleBracketed(given) => match given.args.first()? {
            GenericArgument::Const(Expr::Lit(literal)) => match &literal.lit {
                Lit::Int(count) if !matches!(count.base10_parse::<u64>(), Ok(1..=3)) => {
                    Some(format!("a grid has 1, 2 or 3 dimensions: write `{name}::<1>()`, `<2>` or `<3>`"))
                }
                _ => None,
            },
            _ => None,
        },
        PathArguments::Parenthesized(_) => None,
    }
}
