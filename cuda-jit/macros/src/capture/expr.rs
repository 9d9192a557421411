//! Expressions: the allow-list of the kernel language.

use cuda_jit_syntax::owned as s;
use proc_macro2::Span;
use quote::quote_spanned;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprBinary, ExprBlock, ExprIf, ExprLit, ExprMatch, ExprPath, Ident, Lit, LitByteStr};
use syn::{Member, RangeLimits, Stmt, Type, UnOp};

use super::callee::is_variant;
use super::pattern::{applied, is_type_case};
use super::span::{begin, begin_path};
use super::witnesses::{after, callee};
use super::{BindingKind, Capture, habits, node, nothing};

impl Capture {
    /// Captures an expression as a `syntax::Expr` and adds witnesses to it.
    pub(super) fn expr(&mut self, expr: &mut Expr) -> s::Expr {
        let span = begin(expr);
        match expr {
            Expr::Paren(inner) => self.expr(&mut inner.expr),
            Expr::Group(inner) => self.expr(&mut inner.expr),
            Expr::Lit(ExprLit { lit: Lit::ByteStr(bytes), .. }) => {
                let bytes = node(
                    span,
                    s::ExprKind::Array(byte_literals(bytes).map(|byte| node(span, s::ExprKind::Lit(byte))).collect()),
                );
                node(span, s::ExprKind::Reborrow(Box::new(bytes), false))
            }
            Expr::Lit(literal) => match self.lit(&literal.lit) {
                Some(lit) if is_negative(&literal.lit) => {
                    let magnitude = node(span, s::ExprKind::Lit(lit));
                    node(span, s::ExprKind::Unary(s::UnaryOp::Neg, Box::new(magnitude)))
                }
                Some(lit) => node(span, s::ExprKind::Lit(lit)),
                None => nothing(),
            },
            Expr::Path(_) => self.path(expr),
            Expr::Unary(unary) => self.unary(unary),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Assign(assign) => {
                if let Some(block) = self.destructured(assign) {
                    *expr = block;
                    return self.expr(expr);
                }
                self.refuse_assigned(&assign.left);
                let value = self.expr(&mut assign.right);
                let place = self.expr(&mut assign.left);
                node(span, s::ExprKind::Assign(Box::new(place), Box::new(value)))
            }
            Expr::Cast(cast) if matches!(&*cast.ty, Type::Ptr(_)) => self.refuse(cast.ty.span(), POINTERS),
            Expr::Cast(cast) => {
                let value = self.expr(&mut cast.expr);
                let number = match &*cast.ty {
                    Type::Infer(_) => self.inferred_cast(expr),
                    ty => self.cast_type(ty),
                };
                node(span, s::ExprKind::Cast(Box::new(value), number))
            }
            Expr::Index(index) => self.index(index),
            Expr::Field(field) => {
                if let Some(hint) = habits::position(field, |name| self.lookup(name).is_none()) {
                    return self.refuse(field.span(), hint);
                }
                let base = self.typed(&mut field.base);
                let name = member(&field.member);
                node(span, s::ExprKind::Field(Box::new(base), name))
            }
            Expr::Reference(reference) => self.reference(reference),
            Expr::Tuple(tuple) => {
                let elements: Vec<_> = tuple.elems.iter_mut().map(|element| self.expr(element)).collect();
                node(span, s::ExprKind::Tuple(elements))
            }
            Expr::Array(array) => {
                let elements: Vec<_> = array.elems.iter_mut().map(|element| self.expr(element)).collect();
                node(span, s::ExprKind::Array(elements))
            }
            Expr::Repeat(array) => {
                let element = self.expr(&mut array.expr);
                node(span, s::ExprKind::Repeat(Box::new(element)))
            }
            Expr::Struct(_) => self.struct_expr(expr),
            Expr::Const(_) => node(span, s::ExprKind::Const(self.const_block(expr))),
            Expr::Call(_) => self.call(expr),
            Expr::MethodCall(_) => self.method_call(expr),
            Expr::Macro(call) if is_matches(&call.mac) => self.matches(expr),
            Expr::Range(_) => self.range(expr),
            Expr::Closure(_) => self.closure_value(expr),
            Expr::Macro(call) => self.macro_call(&mut call.mac),
            _ => self.control(expr),
        }
    }

    /// Blocks, branches and loops.
    fn control(&mut self, expr: &mut Expr) -> s::Expr {
        let span = begin(expr);
        match expr {
            Expr::Block(block) => {
                let Some(label) = &block.label else {
                    let body = self.block(&mut block.block);
                    return node(span, s::ExprKind::Block(None, body));
                };
                let (number, body) = self.labelled(Some(&label.name), false, |walk| walk.block(&mut block.block));
                node(span, s::ExprKind::Block(Some(number), body))
            }
            Expr::Unsafe(unsafe_block) => {
                self.refuse_static(&unsafe_block.block);
                let body = self.block(&mut unsafe_block.block);
                // `unsafe` blocks are safe in the probe, so that rustc refuses a `static mut` there
                let (attrs, block) = (Vec::new(), unsafe_block.block.clone());
                *expr = Expr::Block(ExprBlock { attrs, label: None, block });
                node(span, s::ExprKind::Block(None, body))
            }
            Expr::If(branch) => self.branch(branch),
            Expr::Match(expr) => self.match_on(expr),
            Expr::While(looped) => {
                let (number, (condition, body)) =
                    self.labelled(looped.label.as_ref().map(|label| &label.name), true, |walk| {
                        walk.scopes.note_valueless();
                        walk.conditional(&mut looped.cond, &mut looped.body)
                    });
                node(span, s::ExprKind::While(number, Box::new(condition), body))
            }
            Expr::Loop(looped) => {
                let (number, body) = self.labelled(looped.label.as_ref().map(|label| &label.name), true, |walk| {
                    walk.block(&mut looped.body)
                });
                node(span, s::ExprKind::Loop(number, body))
            }
            Expr::ForLoop(looped) => self.for_loop(looped),
            Expr::Break(jump) => {
                if self.scopes.is_valueless(jump.label.as_ref()) {
                    jump.expr = None; // rustc refuses it in the function, and would do so again in the probe
                }
                let value = jump.expr.as_mut().map(|value| self.expr(value));
                let value = value.map(Box::new);
                match self.target(jump.label.as_ref(), false) {
                    Some(number) => node(span, s::ExprKind::Break(number, value)),
                    None => self.refuse(span, "there is nothing here to break out of"),
                }
            }
            Expr::Continue(jump) => match self.target(jump.label.as_ref(), true) {
                Some(number) => node(span, s::ExprKind::Continue(number)),
                None => self.refuse(span, "there is no loop here to continue"),
            },
            Expr::Try(_) => self.question_mark(expr),
            Expr::Return(jump) => {
                let value = jump.expr.as_mut().map(|value| self.expr(value));
                let value = value.map(Box::new);
                self.scopes.note_return();
                if let Some(written) =
                    jump.expr.as_mut().filter(|_| self.returns_nothing && !self.scopes.is_in_closure())
                {
                    // rustc refuses a value in the function as written, and would word it otherwise for the probe
                    **written = Expr::Verbatim(quote_spanned!(span => { let _ = #written; }));
                }
                node(span, s::ExprKind::Return(value))
            }
            other => self.refuse(span, unsupported(other)),
        }
    }

    /// A literal without its sign as a `syntax::Lit`; an unsupported one is refused.
    pub(super) fn lit(&mut self, lit: &Lit) -> Option<s::Lit> {
        match lit {
            Lit::Bool(lit) => {
                let value = lit.value;
                Some(s::Lit::Bool(value))
            }
            Lit::Byte(lit) => Some(byte_literal(lit.value())),
            Lit::Int(lit) if matches!(lit.suffix(), "f32" | "f64") => {
                Some(float(unsigned(lit.base10_digits()), lit.suffix()))
            }
            Lit::Float(lit) => Some(float(unsigned(lit.base10_digits()), lit.suffix())),
            Lit::Int(lit) => match unsigned(lit.base10_digits()).parse::<u128>() {
                Ok(value) => Some(s::Lit::Int(value, lit.suffix().to_owned())),
                Err(_) => {
                    self.refuse(lit.span(), "kernels have integers of up to 128 bits");
                    None
                }
            },
            Lit::Char(lit) => Some(s::Lit::Int(u32::from(lit.value()).into(), "u32".to_owned())),
            other => {
                let hint = "kernels have no strings; a message stands in `printf!`, `assert!` or `panic!`, bytes in a \
                            byte string such as `b\"ab\"`";
                self.refuse(other.span(), hint);
                None
            }
        }
    }

    fn path(&mut self, written: &mut Expr) -> s::Expr {
        let Expr::Path(expr) = &*written else { return nothing() };
        let (expr, span) = (&expr.clone(), begin_path(expr));
        if let Some(number) = expr.path.get_ident().and_then(|ident| self.lookup(ident)) {
            let captured = self.binding(span, expr, number);
            if self.scopes.binding(number).kind == BindingKind::Closure {
                self.boxed(written);
            }
            return captured;
        }
        if let Some(number) = expr.path.get_ident().and_then(|ident| self.capture_host_variable(ident)) {
            return node(span, s::ExprKind::Binding(number.into()));
        }
        if let Some(hint) = habits::numba(expr) {
            return self.refuse(expr.span(), hint);
        }
        let number = match expr.path.segments.last() {
            Some(last) if is_type_case(&last.ident) || self.infers_type(&expr.path) => {
                self.typed_constant(written, expr)
            }
            _ => self.constant(expr.clone()),
        };
        node(span, s::ExprKind::Const(number))
    }

    /// Returns true for a constant of a type whose generic arguments rustc may infer from the constant's use, `Point::ZERO`. Those
    /// of modules, primitive types and type parameters have one type; to ask rustc for it at each use takes 0.3 ms. A generic type in
    /// lower case is taken for a module: without its arguments rustc reports that they are missing.
    fn infers_type(&self, path: &syn::Path) -> bool {
        path.segments.iter().nth_back(1).is_some_and(|of| {
            let is_upper = of.ident.unraw().to_string().starts_with(char::is_uppercase);
            is_upper && of.arguments.is_none() && of.ident != "Self" && !self.imports.is_type_param(&of.ident)
        })
    }

    /// A binding, by its name.
    pub(super) fn binding(&mut self, span: Span, path: &ExprPath, found: u32) -> s::Expr {
        let name = path.path.get_ident().map_or(found.into(), |ident| self.used(ident, found));
        node(span, s::ExprKind::Binding(name))
    }

    /// `e?`: the typing probe finds the conversion of the error to the result's error type.
    fn question_mark(&mut self, expr: &mut Expr) -> s::Expr {
        let Expr::Try(tried) = expr else { return nothing() };
        let span = tried.question_token.span();
        let value = self.typed(&mut tried.expr);
        let number = self.callee(span);
        self.scopes.note_return();
        let [of, returned] = ["__v", "__r"].map(|name| Ident::new(name, Span::mixed_site().located_at(span)));
        let (witness, inner) = (callee(number, span), &tried.expr);
        *expr = Expr::Verbatim(quote_spanned!(span => ({
            let (#of, #returned) = (#inner, 0 as *const _);
            if false {
                return __cuda_jit_closure_result(#returned);
            }
            __cuda_jit_TryOperand(#of, #returned).__cuda_jit_try(#witness)
        })));
        node(span, s::ExprKind::Try(Box::new(value), number))
    }

    /// `base[index]`, `base[[i, j]]` or `base[start..end]`
    fn index(&mut self, index: &mut syn::ExprIndex) -> s::Expr {
        let span = begin(&index.expr);
        let base = self.typed(&mut index.expr);
        match &mut *index.index {
            Expr::Range(range) => {
                let mut bound = |bound: &mut Option<Box<Expr>>| {
                    let bound = bound.as_mut().map(|bound| self.expr(bound));
                    bound.map(Box::new)
                };
                let (start, end) = (bound(&mut range.start), bound(&mut range.end));
                let inclusive = matches!(range.limits, RangeLimits::Closed(_));
                node(span, s::ExprKind::Subslice(Box::new(base), start, end, inclusive))
            }
            place => {
                let place = self.expr(place);
                node(span, s::ExprKind::Index(Box::new(base), Box::new(place)))
            }
        }
    }

    /// `Name { field: e, ..rest }`
    fn struct_expr(&mut self, expr: &mut Expr) -> s::Expr {
        let span = begin(expr);
        let Expr::Struct(written) = expr else { return self.refuse(span, "this is no struct expression") };
        let mut fields = Vec::new();
        let path = ExprPath { attrs: Vec::new(), qself: written.qself.clone(), path: written.path.clone() };
        let is_variant = is_variant(&path);
        for field in &mut written.fields {
            let name = member(&field.member);
            let value = match is_variant {
                true => self.expr(&mut field.expr),
                false => self.field_value(&mut field.expr),
            };
            // `S { x }` is written in full, since `x` may be replaced by an expression
            field.colon_token.get_or_insert_default();
            fields.push((name, value));
        }
        let rest = written.rest.as_mut().map(|rest| self.expr(rest));
        let rest = rest.map(Box::new);
        let (query, query_witness) = self.query(span, true);
        let applied = applied(&path);
        let number = self.observe_with(
            expr,
            None,
            |value| quote_spanned!(span => __cuda_jit_like(&#value, #query_witness, || #applied.__cuda_jit_variant());),
        );
        node(span, s::ExprKind::Struct(number, query, fields, rest))
    }

    fn unary(&mut self, unary: &mut syn::ExprUnary) -> s::Expr {
        let span = unary.op.span();
        let value = Box::new(self.expr(&mut unary.expr));
        node(
            span,
            match unary.op {
                UnOp::Neg(_) => s::ExprKind::Unary(s::UnaryOp::Neg, value),
                UnOp::Not(_) => s::ExprKind::Unary(s::UnaryOp::Not, value),
                _ => s::ExprKind::Deref(value),
            },
        )
    }

    fn binary(&mut self, binary: &mut ExprBinary) -> s::Expr {
        let span = begin(&binary.left);
        let operator = operator(&binary.op);
        if let Some((op, true)) = operator {
            self.refuse_assigned(&binary.left);
            let place = self.expr(&mut binary.left);
            let value = self.expr(&mut binary.right);
            return node(span, s::ExprKind::AssignOp(op, Box::new(place), Box::new(value)));
        }
        let (left, right) = (Box::new(self.operand(&mut binary.left)), Box::new(self.operand(&mut binary.right)));
        if has_type(&binary.right) {
            // with a left operand of an error's type, rustc takes that for the `T` of a bound `T: Add<T>`, and the literal for no `T`
            self.depend_on_copy(&mut binary.right);
        }
        node(
            span,
            match (operator, binary.op) {
                (Some((op, _)), _) => s::ExprKind::Binary(op, left, right),
                (None, BinOp::And(_)) => s::ExprKind::And(left, right),
                (None, _) => s::ExprKind::Or(left, right),
            },
        )
    }

    /// An operand. The type of a branch or block is queried, since the other operand may be a literal.
    fn operand(&mut self, operand: &mut Expr) -> s::Expr {
        if is_block(operand) { self.typed(operand) } else { self.expr(operand) }
    }

    /// Lets the type of a value depend on the copy of the body, as types of parameters do: if the copy has errors, rustc reports
    /// none of what is done with the value.
    pub(super) fn depend_on_copy(&self, value: &mut Expr) {
        if self.imports.has_body_copy() {
            *value = Expr::Verbatim(quote_spanned!(value.span() => __cuda_jit_same(#value)));
        }
    }

    fn reference(&mut self, reference: &mut syn::ExprReference) -> s::Expr {
        let span = reference.and_token.span();
        let mutable = reference.mutability.is_some();
        if mutable {
            self.refuse_captured(&reference.expr);
        }
        let value = match repeats(&reference.expr) {
            // nothing else tells the number of elements
            true => self.typed(&mut reference.expr),
            false => self.expr(&mut reference.expr),
        };
        node(span, s::ExprKind::Reborrow(Box::new(value), mutable))
    }

    fn branch(&mut self, branch: &mut ExprIf) -> s::Expr {
        let span = branch.if_token.span();
        let (condition, body) = self.conditional(&mut branch.cond, &mut branch.then_branch);
        let otherwise = branch.else_branch.as_mut().map(|(_, otherwise)| self.expr(otherwise));
        let otherwise = otherwise.map(Box::new);
        node(span, s::ExprKind::If(Box::new(condition), body, otherwise))
    }

    /// A condition and the block that runs if it is true; the condition's names are in scope in the block.
    fn conditional(&mut self, condition: &mut Expr, body: &mut Block) -> (s::Condition, s::Block) {
        self.scoped(|walk| {
            let mut witnesses = Vec::new();
            let condition = walk.condition(condition, &mut witnesses);
            let body = walk.scoped(|walk| walk.block_after(body, witnesses));
            (condition, body)
        })
    }

    /// A condition: a `bool`, a `let`, or a chain of them.
    fn condition(&mut self, condition: &mut Expr, witnesses: &mut Vec<Stmt>) -> s::Condition {
        match condition {
            Expr::Let(binding) => {
                let value = self.after_bindings(&mut binding.expr, witnesses);
                let pattern = self.refutable(&binding.pat, witnesses);
                s::Condition::Let(pattern, value)
            }
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) && binds(&binary.left, &binary.right) => {
                let left = self.condition(&mut binary.left, witnesses);
                let right = self.condition(&mut binary.right, witnesses);
                s::Condition::All(vec![left, right])
            }
            other => {
                let value = self.after_bindings(other, witnesses);
                s::Condition::Bool(value)
            }
        }
    }

    /// An expression in a condition. After a `let` of the same condition, the probe's preceding statements must stand where
    /// the names are in scope.
    fn after_bindings(&mut self, expr: &mut Expr, witnesses: &[Stmt]) -> s::Expr {
        if witnesses.is_empty() {
            return self.typed(expr);
        }
        let (value, before) = self.with_preceding(|walk| walk.typed(expr));
        *expr = after(before, expr);
        value
    }

    fn match_on(&mut self, expr: &mut ExprMatch) -> s::Expr {
        let span = expr.match_token.span();
        let value = self.typed(&mut expr.expr);
        let mut arms = Vec::new();
        for arm in &mut expr.arms {
            arms.push(self.scoped(|walk| {
                let mut witnesses = Vec::new();
                let pattern = walk.refutable(&arm.pat, &mut witnesses);
                let guard = arm.guard.as_mut().map(|(_, guard)| walk.guard(guard, &mut witnesses));
                let (body, before) = walk.with_preceding(|walk| walk.expr(&mut arm.body));
                witnesses.extend(before);
                *arm.body = after(witnesses, &arm.body);
                arm.comma.get_or_insert_default();
                s::Arm { pattern, guard, body }
            }));
        }
        node(span, s::ExprKind::Match(Box::new(value), arms))
    }

    /// The guard of an arm, whose pattern's names are in scope where its first value is.
    fn guard(&mut self, guard: &mut Expr, witnesses: &mut Vec<Stmt>) -> s::Condition {
        let (captured, before) = self.with_preceding(|walk| walk.condition(guard, witnesses));
        begin_after(before, guard);
        captured
    }

    /// The number of the loop or block that `break` or `continue` targets.
    fn target(&mut self, label: Option<&syn::Lifetime>, only_loops: bool) -> Option<s::Name> {
        let number = self.scopes.target(label, only_loops)?;
        Some(self.names.used_label(label, number))
    }
}

/// Puts the probe's preceding statements before the value that a condition evaluates first.
fn begin_after(before: Vec<Stmt>, condition: &mut Expr) {
    match condition {
        Expr::Let(binding) => *binding.expr = after(before, &binding.expr),
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) && binds(&binary.left, &binary.right) => {
            begin_after(before, &mut binary.left);
        }
        other => *other = after(before, other),
    }
}

/// Returns true for `matches!`, judged by its name.
pub(super) fn is_matches(call: &syn::Macro) -> bool {
    call.path.segments.last().is_some_and(|last| last.ident == "matches")
}

/// Returns true for `1u32` and `S { .. }`, whose types depend on no parameter's.
pub(super) fn has_type(value: &Expr) -> bool {
    match value {
        Expr::Struct(_) => true,
        Expr::Lit(literal) => matches!(&literal.lit, Lit::Int(_) | Lit::Float(_)) && !literal.lit.suffix().is_empty(),
        _ => false,
    }
}

/// Returns true if a condition of two operands contains a `let`.
fn binds(left: &Expr, right: &Expr) -> bool {
    let has = |expr: &Expr| match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => binds(&binary.left, &binary.right),
        _ => false,
    };
    has(left) || has(right)
}

/// Returns true for blocks and branches, in parentheses or not.
fn is_block(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => is_block(&inner.expr),
        Expr::Group(inner) => is_block(&inner.expr),
        expr => matches!(expr, Expr::Block(_) | Expr::Unsafe(_) | Expr::If(_) | Expr::Match(_) | Expr::Loop(_)),
    }
}

/// Returns true for an expression whose value may be that of a `[e; N]`, or has one as a part.
pub(super) fn repeats(expr: &Expr) -> bool {
    let ends = |block: &Block| matches!(block.stmts.last(), Some(Stmt::Expr(tail, None)) if repeats(tail));
    match expr {
        Expr::Repeat(_) => true,
        Expr::Paren(inner) => repeats(&inner.expr),
        Expr::Group(inner) => repeats(&inner.expr),
        Expr::Tuple(tuple) => tuple.elems.iter().any(repeats),
        Expr::Array(array) => array.elems.iter().any(repeats),
        Expr::Block(block) => ends(&block.block),
        Expr::Unsafe(block) => ends(&block.block),
        Expr::If(branch) => ends(&branch.then_branch) || branch.else_branch.iter().any(|(_, other)| repeats(other)),
        Expr::Match(matched) => matched.arms.iter().any(|arm| repeats(&arm.body)),
        _ => false,
    }
}

/// A byte as a literal.
fn byte_literal(byte: u8) -> s::Lit {
    s::Lit::Int(byte.into(), "u8".to_owned())
}

/// The bytes of a byte string as literals.
pub(super) fn byte_literals(bytes: &LitByteStr) -> impl Iterator<Item = s::Lit> {
    bytes.value().into_iter().map(byte_literal)
}

/// A field's name, or a tuple field's number.
pub(super) fn member(member: &Member) -> String {
    match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// Returns true for a negative literal token, as occurs in patterns and in the output of macros.
pub(super) fn is_negative(lit: &Lit) -> bool {
    match lit {
        Lit::Int(lit) => lit.base10_digits().starts_with('-'),
        Lit::Float(lit) => lit.base10_digits().starts_with('-'),
        _ => false,
    }
}

fn unsigned(digits: &str) -> &str {
    digits.trim_start_matches('-')
}

fn float(digits: &str, suffix: &str) -> s::Lit {
    let single = digits.parse::<f32>().unwrap_or(f32::NAN).to_bits();
    let double = digits.parse::<f64>().unwrap_or(f64::NAN).to_bits();
    s::Lit::Float(single, double, suffix.to_owned())
}

/// The operator, and true if it assigns; `None` for `&&` and `||`.
fn operator(op: &BinOp) -> Option<(s::BinaryOp, bool)> {
    Some(match op {
        BinOp::Add(_) => (s::BinaryOp::Add, false),
        BinOp::Sub(_) => (s::BinaryOp::Sub, false),
        BinOp::Mul(_) => (s::BinaryOp::Mul, false),
        BinOp::Div(_) => (s::BinaryOp::Div, false),
        BinOp::Rem(_) => (s::BinaryOp::Rem, false),
        BinOp::BitAnd(_) => (s::BinaryOp::BitAnd, false),
        BinOp::BitOr(_) => (s::BinaryOp::BitOr, false),
        BinOp::BitXor(_) => (s::BinaryOp::BitXor, false),
        BinOp::Shl(_) => (s::BinaryOp::Shl, false),
        BinOp::Shr(_) => (s::BinaryOp::Shr, false),
        BinOp::Eq(_) => (s::BinaryOp::Eq, false),
        BinOp::Ne(_) => (s::BinaryOp::Ne, false),
        BinOp::Lt(_) => (s::BinaryOp::Lt, false),
        BinOp::Le(_) => (s::BinaryOp::Le, false),
        BinOp::Gt(_) => (s::BinaryOp::Gt, false),
        BinOp::Ge(_) => (s::BinaryOp::Ge, false),
        BinOp::AddAssign(_) => (s::BinaryOp::Add, true),
        BinOp::SubAssign(_) => (s::BinaryOp::Sub, true),
        BinOp::MulAssign(_) => (s::BinaryOp::Mul, true),
        BinOp::DivAssign(_) => (s::BinaryOp::Div, true),
        BinOp::RemAssign(_) => (s::BinaryOp::Rem, true),
        BinOp::BitAndAssign(_) => (s::BinaryOp::BitAnd, true),
        BinOp::BitOrAssign(_) => (s::BinaryOp::BitOr, true),
        BinOp::BitXorAssign(_) => (s::BinaryOp::BitXor, true),
        BinOp::ShlAssign(_) => (s::BinaryOp::Shl, true),
        BinOp::ShrAssign(_) => (s::BinaryOp::Shr, true),
        _ => return None,
    })
}

/// The error text for raw pointers.
pub(super) const POINTERS: &str =
    "kernels have no raw pointers; index the slice, `x[i]`, or write `unsafe { *x.get_unchecked(i) }`";

/// The error text for an expression outside the language, with a way out.
fn unsupported(expr: &Expr) -> &'static str {
    match expr {
        Expr::RawAddr(_) => POINTERS,
        Expr::Async(_) | Expr::Await(_) => "kernels cannot be asynchronous; streams make launches asynchronous",
        _ => "this expression is not supported in a kernel",
    }
}
