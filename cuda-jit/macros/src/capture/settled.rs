//! Which types rustc need not be asked for, since something of the same type tells it.
//!
//! rustc alone knows types. But the type of an expression is often settled by those of its parts, whatever stands around
//! it: two indexings of the same slice are of one type, and which one makes no difference. A settled type is a number here:
//! equal numbers are equal types, and nothing else is known of them. Of the bindings of a number the twin tells one, and a
//! statement in which all is settled, and which has nothing to tell, is left out of it. What is open, such as a literal
//! without a suffix or the generic arguments of a call, may be settled by any statement that names it, so that all of those
//! stay.
//!
//! A name that begins as such a literal, `let mut sum = 0.0`, is settled by the first statement that must give it the type of
//! something settled: an assignment, or an operator beside a number of the language's own, of which no other type is one.

use proc_macro2::{Ident, Span};
use syn::{
    AngleBracketedGenericArguments, BinOp, Block, Expr, ExprBinary, ExprIndex, ExprMatch, ExprMethodCall,
    GenericArgument, Lit, Pat, Path, PathArguments, Stmt, Type, UnOp,
};

use super::call::PRIMITIVES;
use super::callee::function_of_type;
use super::expr::member;
use super::methods::METHODS;
use super::pattern::is_constant;
use super::{BindingKind, Capture};

/// Functions whose type their name settles, since they have no generic parameters.
const POSITIONS: &[&str] = &["block_dim", "block_idx", "grid_dim", "lane_id", "thread_idx", "warp_size"];

/// The types of numbers that Rust has itself: an operator has two of the same, or the second of a shift is any.
const NUMBERS: &[&str] =
    &["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64"];

/// The number of a settled type.
pub(super) type Settled = u32;

/// What settles a type: an operation, by what is written of it, and the types of its parts.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Origin(String, Vec<Operand>);

/// What an operation has for a part.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operand {
    Of(Settled),
    /// A literal without a suffix, of an integer or a float, which becomes what the other parts need.
    Integer,
    Float,
}

/// The types of the names that a pattern binds, in order.
pub(super) enum Names {
    /// Open, all of them.
    Open,
    /// One, of a literal without a suffix.
    Literal,
    /// Settled, each for itself.
    Own,
    /// As far as they are settled.
    Each(Vec<Option<Settled>>),
}

impl Capture {
    /// A settled type that is no other's.
    fn own(&mut self) -> Settled {
        self.settled += 1;
        self.settled
    }

    /// The type that an operation has.
    fn of(&mut self, what: impl Into<String>, parts: Vec<Operand>) -> Settled {
        let next = self.settled + 1;
        let number = *self.origins.entry(Origin(what.into(), parts)).or_insert(next);
        self.settled = self.settled.max(number);
        number
    }

    /// A type that is written, if nothing in it is left to rustc.
    pub(super) fn settle_type(&mut self, ty: &Type) -> Option<Settled> {
        if !is_whole(ty) {
            return None;
        }
        let settled = match ty {
            Type::Path(path) => match path.path.get_ident() {
                Some(ident) => self.of(format!("type {}", self.identity(ident)), Vec::new()),
                None => self.own(),
            },
            _ => self.own(),
        };
        self.note_depth(settled, depth(ty));
        Some(settled)
    }

    /// Notes how often a type must be indexed to come to a number.
    fn note_depth(&mut self, settled: Settled, depth: Option<u32>) {
        self.depths.extend(depth.map(|depth| (settled, depth)));
    }

    fn is_number(&self, operand: Operand) -> bool {
        match operand {
            Operand::Of(settled) => self.depths.get(&settled) == Some(&0),
            Operand::Integer | Operand::Float => true,
        }
    }

    /// The type that an expression which has not been walked yet gives a name that began as a literal.
    pub(super) fn settles(&mut self, place: &Expr, value: &Expr, assigns: bool) -> Option<(u32, Settled)> {
        let Expr::Path(path) = place else { return None };
        let number = self.lookup(path.path.get_ident()?)?;
        let binding = &self.bindings[number as usize];
        if !binding.literal || binding.settled.is_some() {
            return None;
        }
        let settled = self.settle(value)?;
        (assigns || self.is_number(Operand::Of(settled))).then_some((number, settled))
    }

    /// The same of what indexes a slice or an array, which is a `usize`.
    pub(super) fn settles_index(&mut self, index: &ExprIndex) -> Option<(u32, Settled)> {
        let Expr::Path(place) = &*index.index else { return None };
        let number = self.lookup(place.path.get_ident()?)?;
        let binding = &self.bindings[number as usize];
        if !binding.literal || binding.settled.is_some() {
            return None;
        }
        let base = self.settle(&index.expr)?;
        self.depths.get(&base).filter(|depth| **depth > 0)?;
        let name = Ident::new("usize", Span::call_site());
        let settled = self.of(format!("type {}", self.identity(&name)), Vec::new());
        Some((number, settled))
    }

    /// Gives a name that began as a literal its type, once the statement that settles it has been walked.
    pub(super) fn set_type(&mut self, found: Option<(u32, Settled)>) {
        if let Some((number, settled)) = found {
            self.bindings[number as usize].settled = Some(settled);
        }
    }

    /// The type of a parameter: the same for those that are written alike.
    pub(super) fn settle_param(&mut self, ty: &Type, others: &[syn::PatType]) -> Settled {
        let same = others.iter().position(|other| *other.ty == *ty);
        let settled = same.and_then(|index| self.bindings.get(index)?.settled).unwrap_or_else(|| self.own());
        self.note_depth(settled, depth(ty));
        settled
    }

    /// The types of what a `let` binds.
    pub(super) fn settle_names(&mut self, pattern: &Pat, init: &Expr) -> Names {
        match (pattern, init) {
            (Pat::Type(typed), _) => match (self.settle_type(&typed.ty), &*typed.pat) {
                (None, _) => Names::Open,
                (ty, Pat::Ident(pat)) if pat.subpat.is_none() && pat.by_ref.is_none() => Names::Each(vec![ty]),
                _ => Names::Own,
            },
            (Pat::Ident(pat), _) if pat.subpat.is_none() && pat.by_ref.is_none() => match open_literal(init) {
                Some(_) if self.carried.is_none() => Names::Literal,
                _ => Names::Each(vec![self.settle(init)]),
            },
            (Pat::Tuple(pats), Expr::Tuple(values))
                if pats.elems.len() == values.elems.len() && pats.elems.iter().all(binds_one) =>
            {
                let mut each = Vec::with_capacity(values.elems.len());
                for (pat, value) in pats.elems.iter().zip(&values.elems) {
                    match self.settle_names(pat, value) {
                        Names::Each(one) => each.extend(one),
                        _ => each.push(None),
                    }
                }
                Names::Each(each)
            }
            _ => self.settle_parts(init),
        }
    }

    /// The types of what a pattern binds of a value that it takes apart.
    pub(super) fn settle_parts(&mut self, value: &Expr) -> Names {
        if self.settle(value).is_some() { Names::Own } else { Names::Open }
    }

    /// The types of what a loop binds.
    pub(super) fn settle_items(&mut self, pattern: &Pat, items: &Expr) -> Names {
        match (self.items_of(items), pattern) {
            (Some(Some(number)), Pat::Ident(pat)) if pat.subpat.is_none() && pat.by_ref.is_none() => {
                Names::Each(vec![Some(number)])
            }
            (Some(_), _) => Names::Own,
            (None, _) => Names::Open,
        }
    }

    /// Gives the bindings from `first` on their types; of a literal, it is what settles them later.
    pub(super) fn set_types(&mut self, first: usize, names: Names) {
        if let (Names::Literal, Some(binding)) = (&names, self.bindings.get_mut(first)) {
            binding.literal = true;
        }
        for index in first..self.bindings.len() {
            let settled = match &names {
                Names::Open | Names::Literal => None,
                Names::Own => Some(self.own()),
                Names::Each(types) => types.get(index - first).copied().flatten(),
            };
            self.bindings[index].settled = settled;
        }
    }

    /// Whether a binding's type must be told; if another's tells it, notes which.
    pub(super) fn is_told(&mut self, number: u32) -> bool {
        let Some(settled) = self.bindings[number as usize].settled else { return true };
        let teller = *self.tellers.entry(settled).or_insert(number);
        if teller == number {
            return true;
        }
        self.bindings[number as usize].teller = Some(teller);
        false
    }

    /// The type of an expression that has not been walked yet, if it is settled.
    pub(super) fn settle(&mut self, expr: &Expr) -> Option<Settled> {
        if self.carried.is_some() {
            return None;
        }
        match expr {
            Expr::Paren(inner) => self.settle(&inner.expr),
            Expr::Group(inner) => self.settle(&inner.expr),
            Expr::Lit(literal) => self.settle_literal(&literal.lit),
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => self.settle_name(name),
                None => self.settle_constant(&path.path),
            },
            Expr::Unary(unary) => {
                let value = self.settle(&unary.expr)?;
                let what = match unary.op {
                    UnOp::Deref(_) => "*",
                    UnOp::Neg(_) => "-",
                    UnOp::Not(_) => "!",
                    _ => return None,
                };
                let settled = self.of(what, vec![Operand::Of(value)]);
                self.note_depth(settled, self.depths.get(&value).copied());
                Some(settled)
            }
            Expr::Binary(binary) => self.settle_binary(binary),
            Expr::Cast(cast) => self.settle_type(&cast.ty),
            Expr::Index(index) => self.settle_index(index),
            Expr::Field(field) => {
                let base = self.settle(&field.base)?;
                Some(self.of(format!(".{}", member(&field.member)), vec![Operand::Of(base)]))
            }
            Expr::Reference(reference) => {
                let to = self.settle(&reference.expr)?;
                let settled = self.of(if reference.mutability.is_some() { "&mut" } else { "&" }, vec![Operand::Of(to)]);
                // a reference to a number is none, but adds and compares as one only where Rust says so
                self.note_depth(settled, self.depths.get(&to).copied().filter(|depth| *depth > 0));
                Some(settled)
            }
            Expr::Tuple(tuple) => {
                let parts = tuple.elems.iter().map(|part| Some(Operand::Of(self.settle(part)?)));
                let parts = parts.collect::<Option<Vec<_>>>()?;
                Some(self.of("()", parts))
            }
            Expr::Array(array) => {
                let parts = self.operands(array.elems.iter())?;
                let settled = parts.iter().any(|part| matches!(part, Operand::Of(_)));
                settled.then(|| self.of(format!("[; {}]", parts.len()), parts))
            }
            Expr::Repeat(array) => self.settle(&array.expr).map(|_| self.own()),
            Expr::MethodCall(call) => self.settle_method(call),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => self.settle_call(&path.path, call.args.first()),
                _ => None,
            },
            Expr::Macro(call) if call.mac.path.is_ident("shared") => {
                let ty = call.mac.parse_body::<Type>().ok()?;
                self.settle_type(&ty)?;
                let settled = self.own();
                self.note_depth(settled, depth(&ty));
                Some(settled)
            }
            _ => self.settle_branches(expr),
        }
    }

    fn settle_literal(&mut self, literal: &Lit) -> Option<Settled> {
        let suffix = match literal {
            Lit::Bool(_) => "bool",
            Lit::Byte(_) => "u8",
            Lit::Int(literal) => literal.suffix(),
            Lit::Float(literal) => literal.suffix(),
            _ => "",
        };
        (!suffix.is_empty()).then(|| {
            let settled = self.of(suffix, Vec::new());
            self.note_depth(settled, NUMBERS.contains(&suffix).then_some(0));
            settled
        })
    }

    fn settle_name(&mut self, name: &Ident) -> Option<Settled> {
        match self.lookup(name) {
            Some(number) => self.bindings[number as usize].settled,
            None if is_constant(name) => Some(self.of(format!("const {}", self.identity(name)), Vec::new())),
            None => None,
        }
    }

    /// `f32::MAX` or `T::ZERO`
    fn settle_constant(&mut self, path: &Path) -> Option<Settled> {
        let [ty, name] = &path.segments.iter().map(|segment| &segment.ident).collect::<Vec<_>>()[..] else {
            return None;
        };
        let of = ty.to_string();
        let known = PRIMITIVES.contains(&&*of) || self.type_params.contains(&of);
        (known && is_constant(name)).then(|| self.of(format!("const {of}::{name}"), Vec::new()))
    }

    fn settle_binary(&mut self, binary: &ExprBinary) -> Option<Settled> {
        let what = match binary.op {
            BinOp::And(_) | BinOp::Or(_) => return Some(self.of("bool", Vec::new())),
            BinOp::Eq(_) | BinOp::Ne(_) => return Some(self.of("bool", Vec::new())),
            BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => return Some(self.of("bool", Vec::new())),
            BinOp::Add(_) => "+",
            BinOp::Sub(_) => "-",
            BinOp::Mul(_) => "*",
            BinOp::Div(_) => "/",
            BinOp::Rem(_) => "%",
            BinOp::BitAnd(_) => "&",
            BinOp::BitOr(_) => "|",
            BinOp::BitXor(_) => "^",
            BinOp::Shl(_) => "<<",
            BinOp::Shr(_) => ">>",
            _ => return None,
        };
        let (left, right) = (self.operand(&binary.left)?, self.operand(&binary.right)?);
        let shifts = matches!(binary.op, BinOp::Shl(_) | BinOp::Shr(_));
        let settled = matches!(left, Operand::Of(_)) || !shifts && matches!(right, Operand::Of(_));
        settled.then(|| {
            let settled = self.of(what, vec![left, right]);
            self.note_depth(settled, (self.is_number(left) && self.is_number(right)).then_some(0));
            settled
        })
    }

    fn settle_index(&mut self, index: &ExprIndex) -> Option<Settled> {
        let base = self.settle(&index.expr)?;
        let deep = self.depths.get(&base).copied();
        let (what, mut parts) = match &*index.index {
            Expr::Range(range) => {
                let bounds = range.start.iter().chain(&range.end).map(|bound| &**bound);
                let closed = matches!(range.limits, syn::RangeLimits::Closed(_));
                let what = format!("[{} {} {closed}]", range.start.is_some(), range.end.is_some());
                (what, self.operands(bounds)?)
            }
            Expr::Array(indices) => ("[[]]".to_owned(), self.operands(indices.elems.iter())?),
            place => ("[]".to_owned(), vec![self.operand(place)?]),
        };
        parts.push(Operand::Of(base));
        let settled = self.of(what, parts);
        let deeper =
            if matches!(*index.index, Expr::Range(_)) { deep } else { deep.and_then(|deep| deep.checked_sub(1)) };
        self.note_depth(settled, deeper);
        Some(settled)
    }

    /// A method of the language's own: what these yield depends on receiver and arguments alone.
    fn settle_method(&mut self, call: &ExprMethodCall) -> Option<Settled> {
        let name = call.method.to_string();
        let known = METHODS.contains(&&*name) || matches!(&*name, "get_unchecked" | "get_unchecked_mut");
        if call.turbofish.is_some() || !known {
            return None;
        }
        let receiver = Operand::Of(self.settle(&call.receiver)?);
        let args = call.args.iter().filter(|_| name != "expect");
        let mut parts = self.operands(args)?;
        parts.push(receiver);
        Some(self.of(format!(".{name}()"), parts))
    }

    fn settle_call(&mut self, path: &Path, first: Option<&Expr>) -> Option<Settled> {
        let last = path.segments.last()?;
        if path.get_ident().is_some_and(|name| self.lookup(name).is_some()) {
            return None;
        }
        if path.is_ident("Some") {
            let value = self.settle(first?)?;
            return Some(self.of("Some", vec![Operand::Of(value)]));
        }
        if says_generics(path) {
            return Some(self.own());
        }
        let name = last.ident.to_string();
        let of = path.segments.iter().rev().nth(1).map(|segment| segment.ident.to_string());
        match of {
            Some(ty) if PRIMITIVES.contains(&&*ty) && matches!(&*name, "from" | "from_bits") => Some(self.own()),
            _ if POSITIONS.contains(&&*name) => Some(self.of(format!("{name}()"), Vec::new())),
            _ => None,
        }
    }

    /// The value of a block, or of the branches of a decision that binds nothing.
    fn settle_branches(&mut self, expr: &Expr) -> Option<Settled> {
        match expr {
            Expr::Block(block) if block.label.is_none() => self.settle(value_of(&block.block)?),
            Expr::Unsafe(block) => self.settle(value_of(&block.block)?),
            Expr::If(branch)
                if !matches!(*branch.cond, Expr::Let(_) | Expr::Binary(ExprBinary { op: BinOp::And(_), .. })) =>
            {
                let (_, otherwise) = branch.else_branch.as_ref()?;
                let values = [value_of(&branch.then_branch)?, otherwise];
                let values = self.operands(values.into_iter())?;
                self.joined(&values)
            }
            Expr::Match(decision) => self.settle_match(decision),
            _ => None,
        }
    }

    fn settle_match(&mut self, decision: &ExprMatch) -> Option<Settled> {
        if !decision.arms.iter().all(|arm| binds_nothing(&arm.pat)) {
            return None;
        }
        let leaves = |body: &Expr| matches!(body, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_));
        let bodies = decision.arms.iter().map(|arm| &*arm.body).filter(|body| !leaves(body));
        let values = self.operands(bodies)?;
        self.joined(&values)
    }

    /// The type of what is one of several values.
    fn joined(&mut self, values: &[Operand]) -> Option<Settled> {
        let mut settled = values.iter().filter_map(|value| match value {
            Operand::Of(settled) => Some(*settled),
            Operand::Integer | Operand::Float => None,
        });
        let first = settled.next()?;
        if settled.all(|other| other == first) { Some(first) } else { Some(self.own()) }
    }

    fn operands<'a>(&mut self, exprs: impl Iterator<Item = &'a Expr>) -> Option<Vec<Operand>> {
        exprs.map(|expr| self.operand(expr)).collect()
    }

    fn operand(&mut self, expr: &Expr) -> Option<Operand> {
        open_literal(expr).or_else(|| self.settle(expr).map(Operand::Of))
    }

    /// Whether the items of an iterator are of a settled type: which, if they are a range's.
    fn items_of(&mut self, items: &Expr) -> Option<Option<Settled>> {
        if self.carried.is_some() {
            return None;
        }
        match items {
            Expr::Paren(inner) => self.items_of(&inner.expr),
            Expr::Group(inner) => self.items_of(&inner.expr),
            Expr::Range(range) => {
                let bounds = range.start.iter().chain(&range.end).map(|bound| &**bound);
                let bounds = self.operands(bounds)?;
                self.joined(&bounds).map(Some)
            }
            Expr::MethodCall(call) => match super::iterate::plain_method(&call.method) {
                Some(same) => {
                    let known = |arg| self.operand(arg).is_some() || self.items_of(arg).is_some();
                    let of = call.args.iter().all(known).then(|| self.items_of(&call.receiver))??;
                    Some(of.filter(|_| same))
                }
                None => self.settle(items).map(|_| None),
            },
            Expr::Path(path) => {
                let number = self.lookup(path.path.get_ident()?)?;
                let binding = &self.bindings[number as usize];
                (binding.kind != BindingKind::Iterator && binding.settled.is_some()).then_some(None)
            }
            _ => self.settle(items).map(|_| None),
        }
    }
}

/// How often a type is indexed to come to a number of Rust's own, if it is made of such.
fn depth(ty: &Type) -> Option<u32> {
    match ty {
        Type::Array(array) => Some(depth(&array.elem)? + 1),
        Type::Slice(slice) => Some(depth(&slice.elem)? + 1),
        Type::Reference(reference) => depth(&reference.elem).filter(|depth| *depth > 0),
        Type::Group(inner) => depth(&inner.elem),
        Type::Paren(inner) => depth(&inner.elem),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            match &last.arguments {
                PathArguments::None if path.path.get_ident().is_some() => {
                    NUMBERS.iter().any(|name| last.ident == name).then_some(0)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// The value of a block that is nothing else.
fn value_of(block: &Block) -> Option<&Expr> {
    match &block.stmts[..] {
        [Stmt::Expr(value, None)] => Some(value),
        _ => None,
    }
}

/// A number without a suffix.
fn open_literal(expr: &Expr) -> Option<Operand> {
    match expr {
        Expr::Paren(inner) => open_literal(&inner.expr),
        Expr::Group(inner) => open_literal(&inner.expr),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => open_literal(&unary.expr),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(literal) if literal.suffix().is_empty() => Some(Operand::Integer),
            Lit::Float(literal) if literal.suffix().is_empty() => Some(Operand::Float),
            _ => None,
        },
        _ => None,
    }
}

fn binds_one(pattern: &Pat) -> bool {
    matches!(pattern, Pat::Ident(pat) if !is_constant(&pat.ident) && pat.ident != "None")
}

fn binds_nothing(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(_) | Pat::Range(_) | Pat::Wild(_) => true,
        Pat::Ident(pat) => is_constant(&pat.ident),
        Pat::Or(or) => or.cases.iter().all(binds_nothing),
        _ => false,
    }
}

/// Whether a function's path says all of its generic arguments.
pub(super) fn says_generics(path: &Path) -> bool {
    let written = syn::ExprPath { attrs: Vec::new(), qself: None, path: path.clone() };
    match path.segments.last().map(|last| &last.arguments) {
        Some(PathArguments::AngleBracketed(args)) => function_of_type(&written).is_none() && are_whole(args),
        _ => false,
    }
}

fn are_whole(args: &AngleBracketedGenericArguments) -> bool {
    args.args.iter().all(|arg| match arg {
        GenericArgument::Lifetime(_) => true,
        GenericArgument::Type(ty) => is_whole(ty),
        GenericArgument::Const(value) => !matches!(value, Expr::Infer(_)),
        _ => false,
    })
}

/// Whether a type is written as a whole, without `_`.
fn is_whole(ty: &Type) -> bool {
    match ty {
        Type::Array(array) => is_whole(&array.elem) && !matches!(array.len, Expr::Infer(_)),
        Type::Group(inner) => is_whole(&inner.elem),
        Type::Paren(inner) => is_whole(&inner.elem),
        Type::Path(path) => path.path.segments.iter().all(|segment| match &segment.arguments {
            PathArguments::None => true,
            PathArguments::AngleBracketed(args) => are_whole(args),
            PathArguments::Parenthesized(_) => false,
        }),
        Type::Reference(reference) => is_whole(&reference.elem),
        Type::Slice(slice) => is_whole(&slice.elem),
        Type::Tuple(tuple) => tuple.elems.iter().all(is_whole),
        _ => false,
    }
}
