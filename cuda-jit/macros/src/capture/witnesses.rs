//! Type witnesses: the variables of the typing probe whose inferred types are reported, and the placement of its statements
//! about them.
//!
//! A witness has the span of its subject, hygiene included, so that an error about it is located there. Its name is unique,
//! which keeps it apart from the body's names.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprPath, Ident, Path, Stmt, Type};

use super::Capture;
use super::span::{begin, begin_path};

macro_rules! witnesses {
    ($($(#[$doc:meta])* $vis:vis $name:ident => $prefix:literal;)*) => { $(
        $(#[$doc])*
        $vis fn $name(number: u32, span: Span) -> Ident {
            format_ident!("{}{}", concat!("__cuda_jit_", $prefix), number, span = span)
        }
    )* };
}

witnesses! {
    /// The witness of a binding.
    pub(crate) witness => "w";
    /// The witness of an expression that is no binding.
    pub(super) named => "n";
    /// The witness of a constant.
    pub(super) constant => "k";
    /// The witness of the type of a cast.
    pub(super) cast => "t";
    /// The witness of a query about a pattern.
    pub(super) query => "m";
    /// The witness of a callee.
    pub(super) callee => "c";
    /// The name of a callee's value inside the typing probe. It has the path's span, hygiene included, so that an error in
    /// the call reads as in the function.
    pub(super) callee_value => "f";
}

/// Declares a witness: a raw pointer to a type that is inferred later. Unlike a value of a generic type, it has no trait
/// obligations that rustc would check at every expression until the type is known.
pub(crate) fn declared(witness: &Ident) -> TokenStream {
    quote!(let #witness = 0 as *const _;)
}

/// Puts a block of the typing probe into unreachable code: rustc types it, but has no borrows to check in it.
pub(crate) fn unreachable_block(body: &impl ToTokens) -> TokenStream {
    quote!({ loop {} #body })
}

/// The statement that unifies a binding's type with its witness: elements of one array have one type. It is separate from
/// the binding's own statement, so that rustc reports an error in that one only once, for the probe and the function.
pub(super) fn unify_binding(number: u32, ident: &Ident) -> Stmt {
    let witness = witness(number, ident.span());
    written(quote_spanned!(ident.span() => [#witness, &#ident];))
}

/// Tokens as a statement of the typing probe.
pub(super) fn written(tokens: TokenStream) -> Stmt {
    Stmt::Expr(Expr::Verbatim(tokens), None)
}

/// In the typing probe: `expr` as the value of a block that begins with `statements`.
pub(super) fn after(statements: Vec<Stmt>, expr: &Expr) -> Expr {
    if statements.is_empty() {
        return expr.clone();
    }
    Expr::Verbatim(quote!({ #(#statements)* #expr }))
}

/// Returns true for a path that begins with `$crate`, which may be another crate in each macro.
pub(super) fn names_crate(path: &Path) -> bool {
    path.segments.first().is_some_and(|first| first.ident == "$crate")
}

/// A variable of the typing probe within an expression.
fn value(span: Span) -> Ident {
    Ident::new("__v", Span::mixed_site().located_at(span))
}

/// The statements of the typing probe before the current one, for each open statement, innermost last.
#[derive(Default)]
pub(super) struct Preceding(Vec<Vec<Stmt>>);

impl Capture {
    /// Runs `walk`, and also returns the statements that it adds before the current one.
    pub(super) fn with_preceding<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> (T, Vec<Stmt>) {
        self.preceding.0.push(Vec::new());
        let result = walk(self);
        (result, self.preceding.0.pop().unwrap_or_default())
    }

    /// In the typing probe: adds a statement before the current one.
    pub(super) fn prepend(&mut self, tokens: TokenStream) {
        if let Some(statements) = self.preceding.0.last_mut() {
            statements.push(written(tokens));
        }
    }

    /// The number of a callee at this location.
    pub(super) fn callee(&mut self, place: Span) -> u32 {
        self.queries.callee(place)
    }

    /// The number of a constant. The typing probe unifies its witness with the type of a closure that returns the constant.
    /// Each path is queried once per block.
    pub(super) fn constant(&mut self, path: ExprPath) -> u32 {
        let (block, named) = (self.scopes.block(), Expr::Path(path.clone()));
        let known = self.queries.known_constant(&named, block).filter(|_| !names_crate(&path.path));
        known.unwrap_or_else(|| {
            let number = self.queries.constant(named, block);
            let witness = constant(number, begin_path(&path));
            let reference = quote_spanned!(path.span() => &#path);
            self.prepend(quote!(__cuda_jit_constant(#witness, || __cuda_jit_const_of(#reference));));
            number
        })
    }

    /// The number of a `const` block, as a constant. rustc evaluates the block; its context in the typing probe fixes its
    /// type.
    pub(super) fn const_block(&mut self, expr: &mut Expr) -> u32 {
        let (number, span) = (self.queries.constant(expr.clone(), self.scopes.block()), begin(expr));
        let (witness, block) = (constant(number, span), value(span));
        *expr = Expr::Verbatim(quote_spanned!(span => ({
            let #block = || #expr;
            __cuda_jit_constant(#witness, move || __cuda_jit_const_of(&#block()));
            #block()
        })));
        number
    }

    /// The number of a path to a variant without fields, or another constant, with the type that rustc infers there.
    pub(super) fn typed_constant(&mut self, expr: &mut Expr, path: &ExprPath) -> u32 {
        let number = self.queries.constant(Expr::Path(path.clone()), self.scopes.block());
        let span = begin_path(path);
        let (witness, value) = (constant(number, span), value(span));
        *expr = Expr::Verbatim(quote_spanned!(span => ({
            let #value = #path;
            __cuda_jit_constant_like(&#value, #witness, || __cuda_jit_Typed(#path));
            #value
        })));
        number
    }

    /// The number of a type in a cast. Each type name is queried once per block.
    pub(super) fn cast_type(&mut self, ty: &Type) -> u32 {
        let block = self.scopes.block();
        self.queries.known_cast(ty, block).unwrap_or_else(|| {
            let number = self.queries.cast(ty.clone(), block);
            let witness = cast(number, ty.span());
            // if the copy of the body has errors, rustc reports none of a type to which it converts nothing
            let checked = match self.imports.has_body_copy() {
                true => quote_spanned!(ty.span() => __cuda_jit_Same<#ty>),
                false => ty.to_token_stream(),
            };
            self.prepend(quote_spanned!(ty.span() => __cuda_jit_cast::<#checked>(#witness);));
            number
        })
    }

    /// The number of the type of a cast to `_`, which rustc infers from what becomes of the value.
    pub(super) fn inferred_cast(&mut self, expr: &mut Expr) -> u32 {
        let number = self.queries.cast(syn::parse_quote!(_), self.scopes.block());
        let witness = cast(number, expr.span());
        *expr = Expr::Verbatim(quote_spanned!(expr.span() => __cuda_jit_inferred_cast(#witness, #expr)));
        number
    }

    /// The number of the type of an array in shared memory.
    pub(super) fn shared_type(&mut self, ty: &Type) -> u32 {
        let number = self.queries.named(ty.span());
        let witness = named(number, ty.span());
        self.prepend(quote_spanned!(ty.span() => __cuda_jit_shared::<#ty>(#witness);));
        number
    }

    /// The number and witness of a query about a pattern: a path, or a name that may be a variable's.
    pub(super) fn query(&mut self, span: Span, is_path: bool) -> (u32, Ident) {
        let number = self.queries.pattern(span, is_path);
        (number, query(number, span))
    }

    /// In the typing probe: unifies the value of an expression, coerced to a type if one is given, with a witness of its
    /// type; returns the witness's number.
    pub(super) fn observe(&mut self, expr: &mut Expr, ty: Option<&Type>) -> u32 {
        self.observe_with(expr, ty, |_| TokenStream::new())
    }

    /// As [`observe`](Self::observe), for an argument of a closure: rustc coerces parts of it to the parameter's, as in
    /// `f((&[1, 2], 3))`.
    pub(super) fn observe_argument(&mut self, expr: &mut Expr) -> u32 {
        let span = begin(expr);
        let number = self.queries.named(span);
        let witness = named(number, span);
        *expr = Expr::Verbatim(quote_spanned!(span => __cuda_jit_argument(#witness, #expr)));
        number
    }

    /// As [`observe`](Self::observe), with a further statement about the value, which `ask` returns.
    pub(super) fn observe_with(
        &mut self,
        expr: &mut Expr,
        ty: Option<&Type>,
        ask: impl FnOnce(&Ident) -> TokenStream,
    ) -> u32 {
        let (ty, span) = (ty.into_iter(), begin(expr));
        let number = self.queries.named(span);
        let (witness, value) = (named(number, span), value(span));
        // in parentheses, since a block at the beginning of a statement would end the statement
        let statement = ask(&value);
        *expr = Expr::Verbatim(quote_spanned!(span => ({
            let #value #(: #ty)* = #expr;
            [#witness, &raw const #value];
            #statement
            #value
        })));
        number
    }
}
