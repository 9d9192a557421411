//! Expressions: the allow-list of the kernel language.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprBinary, ExprForLoop, ExprIf, ExprMatch, ExprPath, Label as SynLabel, Lit, Member};
use syn::{RangeLimits, UnOp};

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
            Expr::Index(index) => {
                if let Expr::Range(range) = &*index.index {
                    return self.refuse(range.span(), "slices cannot be cut in a kernel; pass offsets instead");
                }
                if let Expr::Tuple(tuple) = &*index.index {
                    return self.refuse(tuple.span(), "index a view with brackets: `a[[i, j]]`");
                }
                let base = self.expr(&mut index.expr);
                if let Expr::Array(indices) = &mut *index.index {
                    let indices: Vec<_> = indices.elems.iter_mut().map(|index| self.expr(index)).collect();
                    return node(span, quote!(IndexAll(&#base, &[#(#indices),*])));
                }
                let place = self.expr(&mut index.index);
                node(span, quote!(Index(&#base, &#place)))
            }
            Expr::Field(field) => {
                let base = self.expr(&mut field.base);
                let name = match &field.member {
                    Member::Named(name) => name.to_string(),
                    Member::Unnamed(index) => index.index.to_string(),
                };
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
        if expr.qself.is_some() {
            return self.refuse(span, "`<T as Trait>::NAME` is not supported; bind it with `const` or write `T::NAME`");
        }
        let number = self.constant(&expr.path);
        node(span, quote!(Const(#number)))
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
    fn observe_late(&self, expr: &mut Expr) {
        let Expr::Assign(assign) = &*expr else { return };
        let Expr::Path(path) = &*assign.left else { return };
        let Some(ident) = path.path.get_ident() else { return };
        let Some(number) = self.lookup(ident).filter(|number| self.late.contains(number)) else { return };
        let see = see(number, ident);
        *expr = syn::parse_quote!({ #expr; #see });
    }

    fn reference(&mut self, reference: &mut syn::ExprReference) -> TokenStream {
        let span = reference.span();
        let inner = match &mut *reference.expr {
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => &mut *unary.expr,
            inner => inner,
        };
        let borrowed = match inner {
            Expr::Path(_) | Expr::Field(_) => true,
            Expr::Index(index) => !matches!(*index.index, Expr::Range(_)),
            _ => false,
        };
        if !borrowed {
            return self.refuse(span, "only slices, arrays and their elements can be borrowed in a kernel");
        }
        if let Some(number) = root(inner).and_then(|ident| self.lookup(ident)) {
            self.bindings[number as usize].borrowed = true;
        }
        let value = self.expr(inner);
        node(span, quote!(Reborrow(&#value)))
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
            let condition = match condition {
                Expr::Let(binding) => {
                    let value = walk.expr(&mut binding.expr);
                    let pattern = walk.pattern(&binding.pat, &mut observers);
                    quote!(s::Condition::Let(#pattern, #value))
                }
                other => {
                    let value = walk.expr(other);
                    quote!(s::Condition::Bool(#value))
                }
            };
            let body = walk.scoped(|walk| walk.block_after(body, observers));
            (condition, body)
        })
    }

    fn match_on(&mut self, expr: &mut ExprMatch) -> TokenStream {
        let span = expr.span();
        let value = self.expr(&mut expr.expr);
        let mut arms = Vec::new();
        for arm in &mut expr.arms {
            arms.push(self.scoped(|walk| {
                let mut observers = Vec::new();
                let pattern = walk.pattern(&arm.pat, &mut observers);
                let guard = option(arm.guard.as_mut().map(|(_, guard)| walk.expr(guard)));
                let body = walk.expr(&mut arm.body);
                *arm.body = after(observers, &arm.body);
                arm.comma.get_or_insert_default();
                quote!(s::Arm { pattern: #pattern, guard: #guard, body: #body })
            }));
        }
        node(span, quote!(Match(&#value, &[#(#arms),*])))
    }

    fn for_loop(&mut self, looped: &mut ExprForLoop) -> TokenStream {
        let span = looped.span();
        let Some(range) = self.range(&mut looped.expr) else {
            let hint = "`for` runs over a range here: `a..b` or `a..=b`, with `.rev()` and `.step_by(n)`";
            return self.refuse(looped.expr.span(), hint);
        };
        let number = self.enter(looped.label.as_ref(), true);
        let (pattern, body) = self.scoped(|walk| {
            let mut observers = Vec::new();
            let pattern = walk.pattern(&looped.pat, &mut observers);
            (pattern, walk.block_after(&mut looped.body, observers))
        });
        self.labels.pop();
        node(span, quote!(For(#number, #pattern, &#range, #body)))
    }

    /// A range with its adaptors as a `syntax::Range`.
    fn range(&mut self, expr: &mut Expr) -> Option<TokenStream> {
        let mut reversed = false;
        let mut step = None;
        let mut inner = expr;
        loop {
            match inner {
                Expr::Paren(paren) => inner = &mut paren.expr,
                Expr::Group(group) => inner = &mut group.expr,
                Expr::MethodCall(call) => {
                    // outermost first: `(a..b).rev().step_by(n)` steps through the reversed range
                    match (call.method.to_string().as_str(), call.args.len()) {
                        ("rev", 0) if !reversed => reversed = true,
                        ("step_by", 1) if step.is_none() && !reversed => step = Some(self.expr(&mut call.args[0])),
                        _ => return None,
                    }
                    inner = &mut call.receiver;
                }
                Expr::Range(range) => {
                    let inclusive = matches!(range.limits, RangeLimits::Closed(_));
                    let start = self.expr(range.start.as_mut()?);
                    let end = self.expr(range.end.as_mut()?);
                    let step = option(step);
                    return Some(quote!(s::Range {
                        start: #start, end: #end, inclusive: #inclusive, reversed: #reversed, step: #step,
                    }));
                }
                _ => return None,
            }
        }
    }

    fn enter(&mut self, label: Option<&SynLabel>, is_loop: bool) -> u32 {
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

/// The name that a path, or a field of one, begins with.
fn root(expr: &Expr) -> Option<&syn::Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Field(field) => root(&field.base),
        _ => None,
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
        Expr::Struct(_) => "struct expressions are not supported in kernels yet; use a tuple",
        Expr::Closure(_) => "bind a closure with `let name = |..| ..` and call it; it cannot be passed on",
        Expr::Range(_) => "a range stands only in `for`",
        Expr::Let(_) => "`if let` and `while let` take one pattern, not a chain",
        Expr::Async(_) | Expr::Await(_) => "kernels cannot be asynchronous; streams make launches so",
        Expr::Try(_) => "`?` needs a `Result`, which kernels do not return; use `match` or `panic!`",
        _ => "this expression is not supported in a kernel",
    }
}
