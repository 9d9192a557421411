//! One walk over a body that yields two things: the captured syntax, and the twin whose observers see rustc's types.
//!
//! The walk numbers bindings, constants, callees and cast types as it meets them; the captured syntax holds the
//! numbers, the twin the observers of the same numbers. The twin is the body itself, mutated in place: tokens keep
//! their spans, so that rustc merges the twin's errors with the original's. Scopes are tracked only far enough to tell a local name from an item's; what is
//! outside the grammar becomes a spanned error with a hint.

mod assign;
mod attributes;
mod call;
mod callee;
mod closure;
mod expr;
mod iterate;
mod methods;
mod panics;
mod pattern;
mod resolution;
mod slicing;
mod span;
mod stmt;
mod typed;

use cuda_jit_syntax::owned as s;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprClosure, Ident, Lifetime, Pat, PatType, Path, Stmt, Type};

pub(crate) use call::PRIMITIVES;
pub(crate) use callee::{Alias, OfType, hidden, named_alone, unique};
pub(crate) use methods::{builtin_methods, device_methods, host_methods};
pub(crate) use resolution::{Answers, is_in_one_place, is_run};
use resolution::{Probe, spelling};

use crate::signature::Signature;
/// A body, captured.
pub(crate) struct Captured {
    /// The bindings in order.
    pub(crate) bindings: Vec<BindingInfo>,
    /// The parameters' patterns, as captured syntax.
    pub(crate) params: Vec<s::Pattern>,
    /// The body, as captured syntax.
    pub(crate) body: s::Block,
    /// The body with observers, for the twin.
    pub(crate) twin: Block,
    /// The meaning of names, where rustc is asked.
    pub(crate) answers: Option<Answers>,
    /// The source location of each callee; an observer tells which it is.
    pub(crate) callees: Vec<Span>,
    /// The source location of each constant.
    pub(crate) consts: Vec<Span>,
    /// The source location of the type of each cast.
    pub(crate) types: Vec<Span>,
    /// The source location of each array in shared memory and struct expression, whose type an observer tells.
    pub(crate) named: Vec<Span>,
    /// The source location of each name and path in a pattern that rustc is asked about.
    pub(crate) patterns: Vec<Span>,
    /// The methods that the twin calls by their hidden ones, each name once.
    pub(crate) methods: Vec<Ident>,
    /// The functions of types that it calls by theirs, each name once.
    pub(crate) functions: Vec<OfType>,
    /// The free functions that it calls under other names.
    pub(crate) aliases: Vec<Alias>,
    /// The macros that it calls, each name once.
    pub(crate) macros: Vec<Ident>,
    /// True for a method of the device library.
    pub(crate) library: bool,
    /// True if the twin repeats the body as it is written.
    pub(crate) is_repeated: bool,
}

/// A name that the body or signature binds.
pub(crate) struct BindingInfo {
    pub(crate) ident: Ident,
    pub(crate) mutable: bool,
    /// Whether the pattern says `ref`.
    pub(crate) by_ref: bool,
    /// What it names.
    pub(crate) kind: BindingKind,
    /// The number of its type in the harvest.
    pub(crate) told: Option<u32>,
    /// The number of the answer whether it is a constant's name.
    pub(crate) asked: Option<u32>,
}

impl BindingInfo {
    fn new(ident: &Ident, mutable: bool, kind: BindingKind) -> Self {
        Self { ident: ident.clone(), mutable, by_ref: false, kind, told: None, asked: None }
    }

    /// Whether the twin tells its type.
    pub(crate) fn tells(&self) -> bool {
        self.kind != BindingKind::Closure
    }
}

/// Where a binding's type comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BindingKind {
    /// From the signature: the parameter of that index.
    Param(usize),
    /// From its observer.
    Local,
    /// From the host's value that a closure carries to the device.
    Carried,
    /// It names a closure, which has no device type.
    Closure,
}

/// A loop or labelled block that `break` and `continue` can name.
struct Label {
    name: Option<Lifetime>,
    number: u32,
    is_loop: bool,
}

/// The walk's state.
#[derive(Default)]
pub(crate) struct Capture {
    bindings: Vec<BindingInfo>,
    /// Names in scope, innermost last: their spelling and number, or none for an item of the body.
    scope: Vec<(String, Option<u32>)>,
    /// The block with items that is being walked, by number; 0 outside of any.
    items: u32,
    /// The number of blocks with items so far.
    blocks_with_items: u32,
    /// The functions among the items of the body.
    inner_functions: Vec<Ident>,
    callees: Vec<Span>,
    /// Each constant, with the block with items that it is named in.
    consts: Vec<(Expr, u32)>,
    /// The same of the types of casts.
    types: Vec<(Type, u32)>,
    named: Vec<Span>,
    patterns: Vec<Span>,
    /// Each path of a struct or variant in a pattern, with the block with items that it is named in and the number of its answer.
    variants: Vec<(Path, u32, u32)>,
    methods: Vec<Ident>,
    functions: Vec<OfType>,
    aliases: Vec<Alias>,
    macros: Vec<Ident>,
    /// True if the twin repeats the body as it is written.
    is_repeated: bool,
    /// What the twin does before the statement that is being walked.
    before: Vec<Stmt>,
    /// The probe that has rustc resolve names, where their spelling does not.
    probe: Option<Probe>,
    /// True if the closure whose body is being walked returns before its end.
    returns: bool,
    /// The names that the first of several alternatives binds, for the others to bind again.
    alternatives: Option<Vec<(String, Option<u32>)>>,
    /// True within a refutable pattern: a name in it may be a constant's.
    refutable: bool,
    /// The names of the host's that a closure captures; only where one is captured on the host.
    carried: Option<Vec<(Ident, u32)>>,
    /// The bindings that a `move` closure takes from around it: those below the number.
    moved: Option<(u32, Vec<s::Name>)>,
    /// The names of items of the body that are refused already.
    refused_items: Vec<String>,
    labels: Vec<Label>,
    loops: u32,
    errors: Vec<syn::Error>,
}

/// Captures `body`; all errors are collected before it gives up.
pub(crate) fn capture(signature: &Signature, mut body: Block) -> syn::Result<Captured> {
    let globs = attributes::remove(&mut body)?;
    let probe = (globs || !signature.in_one_place).then(Probe::new);
    let mut walk = Capture { probe, is_repeated: signature.repeated.is_some(), ..Capture::default() };
    let params = (0..).zip(&signature.params).map(|(index, param)| walk.param(signature, index, param)).collect();
    crate::signature::forget_lifetimes(&mut body, &signature.lifetimes);
    let captured = walk.block(&mut body);
    walk.number_types(signature.params.len());
    let answers = walk.answers();
    walk.finish(params, captured, body, answers)
}

/// Captures a closure of the host's as a function of the names that it captures, which yields the closure; and tells
/// those names and their bindings.
pub(crate) fn capture_closure(
    mut closure: ExprClosure,
    in_one_place: bool,
) -> syn::Result<(Captured, Vec<(Ident, u32)>)> {
    let globs = attributes::remove_in_closure(&mut closure)?;
    let probe = (globs || !in_one_place).then(Probe::new);
    let mut walk = Capture { probe, carried: Some(Vec::new()), ..Capture::default() };
    let span = closure.or1_token.span();
    let captured = node(span, s::ExprKind::Closure(Box::new(walk.closure(&mut closure))));
    let answers = walk.answers();
    let carried = walk.carried.take().unwrap_or_default();
    let params = carried.iter().map(|(_, number)| s::Pattern::Bind(*number)).collect();
    let body = s::Block { stmts: Vec::new(), tail: Some(Box::new(captured)) };
    walk.number_types(walk.bindings.len());
    Ok((walk.finish(params, body, syn::parse_quote!({ #closure }), answers)?, carried))
}

impl Capture {
    /// Numbers the types of the bindings: of the first so many, and of each behind that has one.
    fn number_types(&mut self, all: usize) {
        let mut next = 0;
        for (index, binding) in self.bindings.iter_mut().enumerate() {
            if index < all || binding.tells() {
                binding.told = Some(next);
                next += 1;
            }
        }
    }

    /// What was captured, or all errors.
    fn finish(
        self,
        params: Vec<s::Pattern>,
        body: s::Block,
        twin: Block,
        answers: Option<Answers>,
    ) -> syn::Result<Captured> {
        let mut errors = self.errors.into_iter();
        if let Some(mut first) = errors.next() {
            errors.for_each(|error| first.combine(error));
            return Err(first);
        }
        let Self { bindings, callees, consts, types, named, patterns, methods, functions, aliases, .. } = self;
        let Self { macros, is_repeated, .. } = self;
        let consts = consts.iter().map(|(expr, _)| span::begin(expr)).collect();
        let types = types.iter().map(|(ty, _)| ty.span()).collect();
        Ok(Captured {
            bindings,
            params,
            body,
            twin,
            answers,
            callees,
            consts,
            types,
            named,
            patterns,
            methods,
            functions,
            aliases,
            macros,
            library: false,
            is_repeated,
        })
    }

    /// The binding of a name of the host's, where a closure captures such: constants are known by their capitals.
    fn carry(&mut self, ident: &Ident) -> Option<u32> {
        let name = ident.to_string();
        if self.carried.is_none() || name.trim_start_matches('_').starts_with(char::is_uppercase) {
            return None;
        }
        if name == "self" {
            self.refuse(ident.span(), "bind what the closure needs of `self` to a name of its own: `let k = self.k;`");
        }
        let number = self.bindings.len() as u32;
        self.bindings.push(BindingInfo::new(ident, false, BindingKind::Carried));
        self.carried.as_mut()?.push((ident.clone(), number));
        Some(number)
    }

    /// Records an error and yields a harmless expression, so that the walk can go on.
    fn refuse(&mut self, span: Span, message: impl std::fmt::Display) -> s::Expr {
        self.errors.push(syn::Error::new(span, message));
        nothing()
    }

    /// Adds a parameter's binding; its pattern is a plain name.
    fn param(&mut self, signature: &Signature, index: usize, param: &PatType) -> s::Pattern {
        let Pat::Ident(pat) = &*param.pat else { return s::Pattern::Wild };
        let kind = match signature.is_closure(&signature.static_types[index]) {
            true => BindingKind::Closure,
            false => BindingKind::Param(index),
        };
        let number = self.declare(&pat.ident, pat.mutability.is_some(), kind);
        s::Pattern::Bind(number)
    }

    /// Adds a binding, unless the case of an or-pattern before has it; tells its number and whether it is new.
    fn bind(&mut self, ident: &Ident, mutable: bool) -> (u32, bool) {
        if let Some(names) = &self.alternatives {
            let known = spelling(ident);
            if let Some((_, number)) = names.iter().find(|(name, _)| *name == known) {
                let number = number.unwrap_or_default();
                self.rebound(ident, number);
                return (number, false);
            }
        }
        (self.declare(ident, mutable, BindingKind::Local), true)
    }

    /// Adds a binding and brings it into scope.
    fn declare(&mut self, ident: &Ident, mutable: bool, kind: BindingKind) -> u32 {
        let number = self.bindings.len() as u32;
        self.bindings.push(BindingInfo::new(ident, mutable, kind));
        self.scope.push((spelling(ident), Some(number)));
        self.probe_binding(number, ident);
        number
    }

    /// The innermost binding of a name's spelling, unless an item stands before it. The one that the name means is
    /// [`used`](Self::used)'s to say; it is of the same kind.
    fn lookup(&self, ident: &Ident) -> Option<u32> {
        let spelled = spelling(ident);
        if let Some((_, number)) = self.scope.iter().rev().find(|(name, _)| *name == spelled) {
            return *number;
        }
        // where a macro may have put names together, each use of the host's is captured by itself
        let mut carried = self.carried.iter().flatten().filter(|_| self.probe.is_none());
        carried.find(|(name, _)| spelling(name) == spelled).map(|(_, number)| *number)
    }

    /// Runs `walk` and forgets the names that it brought into scope.
    fn scoped<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.scope.len();
        let result = self.probed(None, walk);
        self.scope.truncate(depth);
        result
    }

    /// The number of a constant, which the twin asks for where it is named: by the type of a closure that yields it. The
    /// same path of the same scope is asked for only once.
    fn constant(&mut self, path: syn::ExprPath) -> u32 {
        let (items, named, of_crate) = (self.items, Expr::Path(path.clone()), names_crate(&path.path));
        let same = |(known, of): &(Expr, u32)| *of == items && *known == named && !of_crate;
        if let Some(number) = self.consts.iter().position(same) {
            return number as u32;
        }
        let number = self.consts.len() as u32;
        let observer = constant(number, span::begin_path(&path));
        let reference = quote_spanned!(path.span() => &#path);
        self.say(quote!(__cuda_jit_constant(#observer, || __cuda_jit_const_of(#reference));));
        self.consts.push((named, items));
        number
    }

    /// The number of the constant that a `const` block is. rustc evaluates the block; in the twin its place tells its type.
    fn const_block(&mut self, expr: &mut Expr) -> u32 {
        let (number, span) = (self.consts.len() as u32, span::begin(expr));
        let (observer, block) = (constant(number, span), Ident::new("__v", Span::mixed_site().located_at(span)));
        self.consts.push((expr.clone(), self.items));
        *expr = Expr::Verbatim(quote_spanned!(span => ({
            let #block = || #expr;
            __cuda_jit_constant(#observer, move || __cuda_jit_const_of(&#block()));
            #block()
        })));
        number
    }

    /// The number of a path that may be a variant without fields, or another constant, of the type that rustc gives it there.
    fn typed_constant(&mut self, expr: &mut Expr, path: &syn::ExprPath) -> u32 {
        let (number, span) = (self.consts.len() as u32, span::begin_path(path));
        self.consts.push((Expr::Path(path.clone()), self.items));
        let (observer, value) = (constant(number, span), Ident::new("__v", Span::mixed_site().located_at(span)));
        *expr = Expr::Verbatim(quote_spanned!(span => ({
            let #value = #path;
            __cuda_jit_constant_like(&#value, #observer, || __cuda_jit_Typed(#path));
            #value
        })));
        number
    }

    /// The number of a type named in a cast, which the twin asks for there; a type of the same name and scope only once.
    fn number(&mut self, ty: &Type) -> u32 {
        let name = |ty: &Type| match ty {
            Type::Path(path) => path.path.get_ident().map(spelling),
            _ => None,
        };
        let this = name(ty);
        let same = |(known, of): &(Type, u32)| *of == self.items && this.is_some() && name(known) == this;
        if let Some(number) = self.types.iter().position(same) {
            return number as u32;
        }
        let number = self.types.len() as u32;
        let observer = cast(number, ty.span());
        self.say(quote_spanned!(ty.span() => __cuda_jit_cast::<#ty>(#observer);));
        self.types.push((ty.clone(), self.items));
        number
    }

    /// The number of the type of an array in shared memory, which the twin asks for there.
    fn shared_type(&mut self, ty: &Type) -> u32 {
        let number = self.named_at(ty.span());
        let observer = named(number, ty.span());
        self.say(quote_spanned!(ty.span() => __cuda_jit_shared::<#ty>(#observer);));
        number
    }

    /// The number of a callee at this place.
    fn callee(&mut self, place: Span) -> u32 {
        self.callees.push(place);
        self.callees.len() as u32 - 1
    }

    /// The number of a question of a pattern, and its observer.
    fn question(&mut self, span: Span) -> (u32, Ident) {
        self.patterns.push(span);
        let number = self.patterns.len() as u32 - 1;
        (number, question(number, span))
    }

    /// The number of what an observer at this place sees.
    fn named_at(&mut self, span: Span) -> u32 {
        self.named.push(span);
        self.named.len() as u32 - 1
    }

    /// In the twin: shows the value of an expression, coerced to a type if one is given, to an observer of its type;
    /// returns the observer's number.
    fn observe(&mut self, expr: &mut Expr, ty: Option<&Type>) -> u32 {
        self.observe_with(expr, ty, |_| TokenStream::new())
    }

    /// The same, with what is asked of the value.
    fn observe_with(&mut self, expr: &mut Expr, ty: Option<&Type>, ask: impl FnOnce(&Ident) -> TokenStream) -> u32 {
        let ty = ty.into_iter();
        let span = span::begin(expr);
        let number = self.named_at(span);
        let (observer, value) = (named(number, span), Ident::new("__v", Span::mixed_site().located_at(span)));
        // in parentheses, since at the beginning of a statement a block would be all of it
        let asked = ask(&value);
        *expr = Expr::Verbatim(quote_spanned!(span => ({
            let #value #(: #ty)* = #expr;
            [#observer, &raw const #value];
            #asked
            #value
        })));
        number
    }

    /// Runs `walk` with nothing before it, and yields what the twin then does before.
    fn apart<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> (T, Vec<Stmt>) {
        let outer = std::mem::take(&mut self.before);
        let result = walk(self);
        (result, std::mem::replace(&mut self.before, outer))
    }

    /// In the twin: does something before the statement.
    fn say(&mut self, tokens: TokenStream) {
        self.before.push(written(tokens));
    }
}

/// The statement that shows a binding to its observer: what stands in one array is of one type. It stands apart from
/// the binding's own statement, so that an error in that one reads the same in the twin and rustc prints it once.
fn see(number: u32, ident: &Ident) -> Stmt {
    let observer = observer(number, ident.span());
    written(quote_spanned!(ident.span() => [#observer, &#ident];))
}

/// Tokens as a statement of the twin.
fn written(tokens: TokenStream) -> Stmt {
    Stmt::Expr(Expr::Verbatim(tokens), None)
}

/// What stands for what is refused.
fn nothing() -> s::Expr {
    s::Expr(s::Pos(0, 0), s::ExprKind::Tuple(Vec::new()))
}

/// The observer of a binding. Observers have the spans of what they observe, hygiene included, so that an error about
/// them is one about that; names that nobody else has keep them apart from the body's.
pub(crate) fn observer(number: u32, span: Span) -> Ident {
    format_ident!("__cuda_jit_w{}", number, span = span)
}

/// The observer of what is not a binding.
pub(crate) fn named(number: u32, span: Span) -> Ident {
    format_ident!("__cuda_jit_n{}", number, span = span)
}

/// The observer of a constant.
pub(crate) fn constant(number: u32, span: Span) -> Ident {
    format_ident!("__cuda_jit_k{}", number, span = span)
}

/// The observer of the type of a cast.
pub(crate) fn cast(number: u32, span: Span) -> Ident {
    format_ident!("__cuda_jit_t{}", number, span = span)
}

/// The observer of a question of a pattern.
pub(crate) fn question(number: u32, span: Span) -> Ident {
    format_ident!("__cuda_jit_m{}", number, span = span)
}

/// The observer of a callee.
pub(crate) fn callee(number: u32, span: Span) -> Ident {
    format_ident!("__cuda_jit_c{}", number, span = span)
}

/// A block of the twin as code that is never reached: rustc types it, and has no borrows to check in it.
pub(crate) fn unreached(body: &impl ToTokens) -> TokenStream {
    quote!({ loop {} #body })
}

/// Declares an observer: a pointer to a type that is still open. rustc has nothing to prove of such, unlike of a generic
/// type's value, so that it does not ask again at every expression until the type is known.
pub(crate) fn declared(observer: &Ident) -> TokenStream {
    quote!(let #observer = 0 as *const _;)
}

/// Returns true for a path that begins with `$crate`, which is another crate in each macro.
fn names_crate(path: &Path) -> bool {
    path.segments.first().is_some_and(|first| first.ident == "$crate")
}

/// `Pos(line, column)` of a span.
pub(crate) fn pos(span: Span) -> s::Pos {
    let start = span.start();
    let (line, column) = (start.line as u32, start.column as u32 + 1);
    s::Pos(line, column)
}

/// An expression node at a span.
fn node(span: Span, kind: s::ExprKind) -> s::Expr {
    s::Expr(pos(span), kind)
}

/// The name of a callee's value inside the twin. It has the path's own span, hygiene included, so that an error in the
/// call reads the same as in the function.
fn callee_value(number: u32, span: Span) -> Ident {
    format_ident!("__cuda_jit_f{}", number, span = span)
}
