//! Expressions: the allow-list of the kernel language.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprBinary, ExprIf, ExprMatch, ExprPath, Label as SynLabel, Lit, Member};
use syn::{RangeLimits, Stmt, UnOp};

use super::stmt::after;
use super::{BindingKind, Capture, Label, node, see};

impl Capture {
    /// Captures an expression as a `syntax::Expr` and puts observers into it.
    pub(super) fn expr(&mut self, expr: &mut Expr) -> TokenStream {
        let span = expr.span();
        match expr {
            Expr::Paren(inner) => self.expr(&mut inner.expr),
            Expr::Group(inner) => self.expr(&mut inner.expr),
            Expr::Lit(literal) => match self.lit(&literal.lit) {
                Some(lit) if is_negative(&literal.lit) => {
                    let magnitude = node(span, quote!(Lit(#lit)));
                    node(span, quote!(Unary(s::UnaryOp::Neg, &#magnitude)))
                }
                Some(lit) => node(span, quote!(Lit(#lit))),
                None => quote!(s::Expr(s::Pos(0, 0), s::ExprKind::Tuple(&[]))),
            },
            Expr::Path(path) => self.path(path),
            Expr::Unary(unary) => self.unary(unary),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Assign(assign) => {
                let value = self.expr(&mut assign.right);
                let place = self.place(&mut assign.left);
                self.observe_late(expr);
                node(span, quote!(Assign(&#place, &#value)))
            }
            Expr::Cast(cast) => {
                let value = self.expr(&mut cast.expr);
                self.types.push((*cast.ty).clone());
                let number = self.types.len() as u32 - 1;
                node(span, quote!(Cast(&#value, #number)))
            }
            Expr::Index(index) => self.index(index),
            Expr::Field(field) => {
                let base = self.expr(&mut field.base);
                let name = member(&field.member);
                node(span, quote!(Field(&#base, #name)))
            }
            Expr::Reference(reference) => self.reference(reference),
            Expr::Tuple(tuple) => {
                let elements: Vec<_> = tuple.elems.iter_mut().map(|element| self.expr(element)).collect();
                node(span, quote!(Tuple(&[#(#elements),*])))
            }
            Expr::Array(array) => {
                let elements: Vec<_> = array.elems.iter_mut().map(|element| self.expr(element)).collect();
                node(span, quote!(Array(&[#(#elements),*])))
            }
            Expr::Repeat(array) => {
                let element = self.expr(&mut array.expr);
                node(span, quote!(Repeat(&#element)))
            }
            Expr::Struct(_) => self.struct_expr(expr),
            Expr::Const(block) => {
                // what a kernel can do gives the same whenever it is done
                let body = self.block(&mut block.block);
                node(span, quote!(Block(::core::option::Option::None, #body)))
            }
            Expr::Call(_) => self.call(expr),
            Expr::MethodCall(call) => self.method_call(call),
            Expr::Macro(call) => self.macro_call(&mut call.mac),
            _ => self.control(expr),
        }
    }

    /// Blocks, branches and loops.
    fn control(&mut self, expr: &mut Expr) -> TokenStream {
        let span = expr.span();
        match expr {
            Expr::Block(block) => {
                let label = block.label.as_ref().map(|label| self.enter(Some(label), false));
                let body = self.block(&mut block.block);
                if label.is_some() {
                    self.labels.pop();
                }
                let label = option(label.map(|number| quote!(#number)));
                node(span, quote!(Block(#label, #body)))
            }
            Expr::Unsafe(block) => {
                let body = self.block(&mut block.block);
                node(span, quote!(Block(::core::option::Option::None, #body)))
            }
            Expr::If(branch) => self.branch(branch),
            Expr::Match(expr) => self.match_on(expr),
            Expr::While(looped) => {
                let number = self.enter(looped.label.as_ref(), true);
                let (condition, body) = self.conditional(&mut looped.cond, &mut looped.body);
                self.labels.pop();
                node(span, quote!(While(#number, &#condition, #body)))
            }
            Expr::Loop(looped) => {
                let number = self.enter(looped.label.as_ref(), true);
                let body = self.block(&mut looped.body);
                self.labels.pop();
                node(span, quote!(Loop(#number, #body)))
            }
            Expr::ForLoop(looped) => self.for_loop(looped),
            Expr::Break(jump) => {
                let value = jump.expr.as_mut().map(|value| self.expr(value));
                let value = option(value.map(|value| quote!(&#value)));
                match self.target(jump.label.as_ref(), false) {
                    Some(number) => node(span, quote!(Break(#number, #value))),
                    None => self.refuse(span, "there is nothing here to break out of"),
                }
            }
            Expr::Continue(jump) => match self.target(jump.label.as_ref(), true) {
                Some(number) => node(span, quote!(Continue(#number))),
                None => self.refuse(span, "there is no loop here to continue"),
            },
            Expr::Return(jump) => {
                let value = jump.expr.as_mut().map(|value| self.expr(value));
                let value = option(value.map(|value| quote!(&#value)));
                node(span, quote!(Return(#value)))
            }
            other => self.refuse(span, unsupported(other)),
        }
    }

    /// A literal without its sign as a `syntax::Lit`; an unsupported one is refused.
    pub(super) fn lit(&mut self, lit: &Lit) -> Option<TokenStream> {
        match lit {
            Lit::Bool(lit) => {
                let value = lit.value;
                Some(quote!(s::Lit::Bool(#value)))
            }
            Lit::Int(lit) if matches!(lit.suffix(), "f32" | "f64") => {
                Some(float(unsigned(lit.base10_digits()), lit.suffix()))
            }
            Lit::Float(lit) => Some(float(unsigned(lit.base10_digits()), lit.suffix())),
            Lit::Int(lit) => match unsigned(lit.base10_digits()).parse::<u64>() {
                Ok(value) => {
                    let suffix = lit.suffix();
                    Some(quote!(s::Lit::Int(#value, #suffix)))
                }
                Err(_) => {
                    self.refuse(lit.span(), "kernels have integers of up to 64 bits");
                    None
                }
            },
            other => {
                self.refuse(other.span(), "kernels have number and `bool` literals only");
                None
            }
        }
    }

    fn path(&mut self, expr: &ExprPath) -> TokenStream {
        let span = expr.span();
        if expr.path.is_ident("None") {
            return node(span, quote!(Option(::core::option::Option::None)));
        }
        if let Some(number) = expr.path.get_ident().and_then(|ident| self.lookup(ident)) {
            if self.bindings[number as usize].kind == BindingKind::Closure {
                return self.refuse(span, "a closure can only be called in a kernel, not passed on");
            }
            return node(span, quote!(Binding(#number)));
        }
        let number = self.constant(expr.clone());
        node(span, quote!(Const(#number)))
    }

    /// `base[index]`, `base[[i, j]]` or `base[start..end]`
    fn index(&mut self, index: &mut syn::ExprIndex) -> TokenStream {
        let span = index.span();
        if let Expr::Tuple(tuple) = &*index.index {
            return self.refuse(tuple.span(), "index a view with brackets: `a[[i, j]]`");
        }
        let base = self.expr(&mut index.expr);
        match &mut *index.index {
            Expr::Range(range) => {
                let mut bound = |bound: &mut Option<Box<Expr>>| {
                    let bound = bound.as_mut().map(|bound| self.expr(bound));
                    option(bound.map(|bound| quote!(&#bound)))
                };
                let (start, end) = (bound(&mut range.start), bound(&mut range.end));
                let inclusive = matches!(range.limits, RangeLimits::Closed(_));
                node(span, quote!(Cut(&#base, #start, #end, #inclusive)))
            }
            Expr::Array(indices) => {
                let indices: Vec<_> = indices.elems.iter_mut().map(|index| self.expr(index)).collect();
                node(span, quote!(IndexAll(&#base, &[#(#indices),*])))
            }
            place => {
                let place = self.expr(place);
                node(span, quote!(Index(&#base, &#place)))
            }
        }
    }

    /// `Name { field: e, ..rest }`
    fn struct_expr(&mut self, expr: &mut Expr) -> TokenStream {
        let span = expr.span();
        let Expr::Struct(written) = expr else { return self.refuse(span, "this is no struct expression") };
        let mut fields = Vec::new();
        for field in &mut written.fields {
            let name = member(&field.member);
            let value = self.expr(&mut field.expr);
            // `S { x }` is written out, since what stands in the place of `x` may be more than a name
            field.colon_token.get_or_insert_default();
            fields.push(quote!((#name, #value)));
        }
        let rest = written.rest.as_mut().map(|rest| self.expr(rest));
        let rest = option(rest.map(|rest| quote!(&#rest)));
        let number = self.observe(expr);
        node(span, quote!(Struct(#number, &[#(#fields),*], #rest)))
    }

    fn unary(&mut self, unary: &mut syn::ExprUnary) -> TokenStream {
        let span = unary.span();
        let op = match unary.op {
            UnOp::Neg(_) => quote!(Neg),
            UnOp::Not(_) => quote!(Not),
            _ => return self.dereference(unary),
        };
        let value = self.expr(&mut unary.expr);
        node(span, quote!(Unary(s::UnaryOp::#op, &#value)))
    }

    fn binary(&mut self, binary: &mut ExprBinary) -> TokenStream {
        let span = binary.span();
        let (name, assigns) = operator(&binary.op);
        if assigns {
            let place = self.place(&mut binary.left);
            let value = self.expr(&mut binary.right);
            return node(span, quote!(AssignOp(s::BinaryOp::#name, &#place, &#value)));
        }
        let (left, right) = (self.expr(&mut binary.left), self.expr(&mut binary.right));
        match binary.op {
            BinOp::And(_) => node(span, quote!(And(&#left, &#right))),
            BinOp::Or(_) => node(span, quote!(Or(&#left, &#right))),
            _ => node(span, quote!(Binary(s::BinaryOp::#name, &#left, &#right))),
        }
    }

    /// What an assignment may write: a binding, a field of one, an element of a slice.
    fn place(&mut self, place: &mut Expr) -> TokenStream {
        match place {
            Expr::Tuple(tuple) => {
                self.refuse(tuple.span(), "assign to one place at a time; a `let` can take a tuple apart")
            }
            Expr::Infer(token) => self.refuse(token.span(), "use `let _ = ..` to drop a value"),
            _ => self.expr(place),
        }
    }

    /// An assignment to a name declared without a value gives its observer something to look at.
    fn observe_late(&mut self, expr: &mut Expr) {
        let Expr::Assign(assign) = &*expr else { return };
        let Expr::Path(path) = &*assign.left else { return };
        let Some(ident) = path.path.get_ident() else { return };
        let Some(number) = self.lookup(ident).filter(|number| self.late.contains(number)) else { return };
        let see = see(number, ident);
        *expr = syn::parse_quote!({ #expr; #see });
    }

    fn reference(&mut self, reference: &mut syn::ExprReference) -> TokenStream {
        let span = reference.span();
        let mutable = reference.mutability.is_some();
        let value = self.expr(&mut reference.expr);
        if let Expr::Index(index) = &*reference.expr
            && matches!(*index.index, Expr::Range(_))
        {
            return value;
        }
        node(span, quote!(Reborrow(&#value, #mutable)))
    }

    fn branch(&mut self, branch: &mut ExprIf) -> TokenStream {
        let span = branch.span();
        let (condition, body) = self.conditional(&mut branch.cond, &mut branch.then_branch);
        let otherwise = branch.else_branch.as_mut().map(|(_, otherwise)| self.expr(otherwise));
        let otherwise = option(otherwise.map(|value| quote!(&#value)));
        node(span, quote!(If(&#condition, #body, #otherwise)))
    }

    /// A condition and the block that runs when it holds; names that the condition binds are seen in the block.
    fn conditional(&mut self, condition: &mut Expr, body: &mut Block) -> (TokenStream, TokenStream) {
        self.scoped(|walk| {
            let mut observers = Vec::new();
            let condition = walk.condition(condition, &mut observers);
            let body = walk.scoped(|walk| walk.block_after(body, observers));
            (condition, body)
        })
    }

    /// A condition: a `bool`, a `let`, or several of them.
    fn condition(&mut self, condition: &mut Expr, observers: &mut Vec<Stmt>) -> TokenStream {
        match condition {
            Expr::Let(binding) => {
                let value = self.after_bindings(&mut binding.expr, observers);
                let pattern = self.pattern(&binding.pat, observers);
                quote!(s::Condition::Let(#pattern, #value))
            }
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) && binds(&binary.left, &binary.right) => {
                let left = self.condition(&mut binary.left, observers);
                let right = self.condition(&mut binary.right, observers);
                quote!(s::Condition::All(&[#left, #right]))
            }
            other => {
                let value = self.after_bindings(other, observers);
                quote!(s::Condition::Bool(#value))
            }
        }
    }

    /// An expression in a condition: behind a `let` of the same condition, what the twin does before it must stand
    /// where the names are.
    fn after_bindings(&mut self, expr: &mut Expr, observers: &[Stmt]) -> TokenStream {
        if observers.is_empty() {
            return self.expr(expr);
        }
        let (value, before) = self.apart(|walk| walk.expr(expr));
        *expr = after(before, expr);
        value
    }

    fn match_on(&mut self, expr: &mut ExprMatch) -> TokenStream {
        let span = expr.span();
        let value = self.expr(&mut expr.expr);
        let mut arms = Vec::new();
        for arm in &mut expr.arms {
            arms.push(self.scoped(|walk| {
                let mut observers = Vec::new();
                walk.whole_arm = true;
                let pattern = walk.pattern(&arm.pat, &mut observers);
                walk.whole_arm = false;
                let guard = option(arm.guard.as_mut().map(|(_, guard)| {
                    let (captured, before) = walk.apart(|walk| walk.expr(guard));
                    **guard = after(before, guard);
                    captured
                }));
                let (body, before) = walk.apart(|walk| walk.expr(&mut arm.body));
                observers.extend(before);
                *arm.body = after(observers, &arm.body);
                arm.comma.get_or_insert_default();
                quote!(s::Arm { pattern: #pattern, guard: #guard, body: #body })
            }));
        }
        node(span, quote!(Match(&#value, &[#(#arms),*])))
    }

    pub(super) fn enter(&mut self, label: Option<&SynLabel>, is_loop: bool) -> u32 {
        let number = self.loops;
        self.loops += 1;
        self.labels.push(Label { name: label.map(|label| label.name.clone()), number, is_loop });
        number
    }

    fn target(&self, label: Option<&syn::Lifetime>, only_loops: bool) -> Option<u32> {
        let found = self.labels.iter().rev().find(|target| match label {
            Some(label) => target.name.as_ref() == Some(label),
            None => target.is_loop,
        });
        found.filter(|target| target.is_loop || !only_loops).map(|target| target.number)
    }
}

/// Whether a condition of two parts has a `let` in it.
fn binds(left: &Expr, right: &Expr) -> bool {
    let has = |expr: &Expr| match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => binds(&binary.left, &binary.right),
        _ => false,
    };
    has(left) || has(right)
}

/// A field's name, or a tuple field's number.
pub(super) fn member(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// An `Option` of tokens as tokens of an `Option`.
pub(super) fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// Whether a literal token carries a sign, as those in patterns and those that macros make do.
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

fn float(digits: &str, suffix: &str) -> TokenStream {
    let single = digits.parse::<f32>().unwrap_or(f32::NAN).to_bits();
    let double = digits.parse::<f64>().unwrap_or(f64::NAN).to_bits();
    quote!(s::Lit::Float(#single, #double, #suffix))
}

/// The operator's trait name and whether it assigns. `&&` and `||` are told apart by the caller.
fn operator(op: &BinOp) -> (TokenStream, bool) {
    match op {
        BinOp::Add(_) => (quote!(Add), false),
        BinOp::Sub(_) => (quote!(Sub), false),
        BinOp::Mul(_) => (quote!(Mul), false),
        BinOp::Div(_) => (quote!(Div), false),
        BinOp::Rem(_) => (quote!(Rem), false),
        BinOp::BitAnd(_) => (quote!(BitAnd), false),
        BinOp::BitOr(_) => (quote!(BitOr), false),
        BinOp::BitXor(_) => (quote!(BitXor), false),
        BinOp::Shl(_) => (quote!(Shl), false),
        BinOp::Shr(_) => (quote!(Shr), false),
        BinOp::Eq(_) => (quote!(Eq), false),
        BinOp::Ne(_) => (quote!(Ne), false),
        BinOp::Lt(_) => (quote!(Lt), false),
        BinOp::Le(_) => (quote!(Le), false),
        BinOp::Gt(_) => (quote!(Gt), false),
        BinOp::Ge(_) => (quote!(Ge), false),
        BinOp::AddAssign(_) => (quote!(Add), true),
        BinOp::SubAssign(_) => (quote!(Sub), true),
        BinOp::MulAssign(_) => (quote!(Mul), true),
        BinOp::DivAssign(_) => (quote!(Div), true),
        BinOp::RemAssign(_) => (quote!(Rem), true),
        BinOp::BitAndAssign(_) => (quote!(BitAnd), true),
        BinOp::BitOrAssign(_) => (quote!(BitOr), true),
        BinOp::BitXorAssign(_) => (quote!(BitXor), true),
        BinOp::ShlAssign(_) => (quote!(Shl), true),
        BinOp::ShrAssign(_) => (quote!(Shr), true),
        _ => (quote!(And), false),
    }
}

/// Why an expression is outside the language, with a way out.
fn unsupported(expr: &Expr) -> &'static str {
    match expr {
        Expr::Closure(_) => "bind a closure with `let name = |..| ..` and call it, or pass it to a device function",
        Expr::Range(_) => "a range stands only in `for` and in brackets",
        Expr::Async(_) | Expr::Await(_) => "kernels cannot be asynchronous; streams make launches so",
        Expr::Try(_) => "`?` needs a `Result`, which kernels do not return; use `match` or `panic!`",
        _ => "this expression is not supported in a kernel",
    }
}
