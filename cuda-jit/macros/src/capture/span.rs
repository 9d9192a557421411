//! The first span of an expression. `Spanned` writes the expression as tokens to find it, which takes time quadratic in the
//! depth of the tree if it is done at every node.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, ExprPath};

/// The span of the first token, which on stable Rust is the result of `expr.span()`.
pub(super) fn begin(expr: &Expr) -> Span {
    match expr {
        Expr::Array(array) => array.bracket_token.span.join(),
        Expr::Assign(assign) => begin(&assign.left),
        Expr::Binary(binary) => begin(&binary.left),
        Expr::Block(block) if block.label.is_none() => block.block.brace_token.span.join(),
        Expr::Break(jump) => jump.break_token.span,
        Expr::Call(call) => begin(&call.func),
        Expr::Cast(cast) => begin(&cast.expr),
        Expr::Continue(jump) => jump.continue_token.span,
        Expr::Field(field) => begin(&field.base),
        Expr::ForLoop(looped) if looped.label.is_none() => looped.for_token.span,
        Expr::If(branch) => branch.if_token.span,
        Expr::Index(index) => begin(&index.expr),
        Expr::Lit(literal) => literal.lit.span(),
        Expr::Loop(looped) if looped.label.is_none() => looped.loop_token.span,
        Expr::Match(branch) => branch.match_token.span,
        Expr::MethodCall(call) => begin(&call.receiver),
        Expr::Paren(paren) => paren.paren_token.span.join(),
        Expr::Path(path) => begin_path(path),
        Expr::Reference(reference) => reference.and_token.span,
        Expr::Repeat(array) => array.bracket_token.span.join(),
        Expr::Return(jump) => jump.return_token.span,
        Expr::Tuple(tuple) => tuple.paren_token.span.join(),
        Expr::Unary(unary) => unary.op.span(),
        Expr::Unsafe(block) => block.unsafe_token.span,
        Expr::While(looped) if looped.label.is_none() => looped.while_token.span,
        other => other.span(),
    }
}

/// The span of a path's first token.
pub(super) fn begin_path(path: &ExprPath) -> Span {
    match (&path.qself, path.path.leading_colon, path.path.segments.first()) {
        (None, None, Some(first)) => first.ident.span(),
        _ => path.span(),
    }
}
