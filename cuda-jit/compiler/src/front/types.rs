//! The types of expressions, derived from rustc's answers.
//!
//! [`Scopes::ty_of`] derives an expression's type bottom-up; it returns `None` for an expression whose type depends on
//! the context, such as a literal without a suffix. The caller that lowers an expression passes the expected type down;
//! if neither is known, Rust's fallback applies: `i32` and `f64`. The memories of references are not known here: in
//! these types they are hints, and the lowered value has the real ones.

use super::Callee;
use super::index::IndexBy;
use super::scopes::Scopes;
use crate::kir::{BarrierOp, Clock, Scalar, Space, UnaryOp as KirUnary, Value, VoteOp};
use crate::libcalls::shape_error;
use crate::syntax::{BinaryOp, Block, Expr, ExprKind, Lit, UnaryOp, ensure_sufficient_stack};
use crate::typeinfo::ty_of;
use crate::typeinfo::{CONTROL_FLOW_BREAK, CONTROL_FLOW_CONTINUE, OPTION_NONE, OPTION_SOME, RESULT_ERR, RESULT_OK};
use crate::typeinfo::{Exchange, GroupOp, Intrinsic, Key, Memory, SumIdentity, Ty};
use cuda_jit_lang::device::Dim3;

/// A value of the language: its type, and its leaves, the KIR values of its scalar components in order.
#[derive(Clone, Debug)]
pub(super) struct Val {
    pub(super) ty: Ty,
    pub(super) leaves: Vec<Value>,
}

impl Val {
    /// `()`
    pub(super) fn unit() -> Val {
        Val { ty: Ty::Unit, leaves: Vec::new() }
    }

    /// A number or `bool`.
    pub(super) fn scalar(scalar: Scalar, value: Value) -> Val {
        Val { ty: Ty::Scalar(scalar), leaves: vec![value] }
    }

    /// The only leaf, of a scalar.
    pub(super) fn only(&self) -> Value {
        self.leaves[0]
    }

    /// A part of a tuple, a struct or a variant.
    pub(super) fn part(&self, index: usize) -> Val {
        let leaves = self.leaves[self.ty.field_leaves(index)].to_vec();
        Val { ty: self.ty.fields()[index].0.clone(), leaves }
    }
}

/// The result type of an intrinsic; `scalar` is its generic argument, if it has one.
pub(super) fn intrinsic_type(intrinsic: Intrinsic, scalar: Option<Scalar>) -> Ty {
    match intrinsic {
        Intrinsic::Barrier
        | Intrinsic::Fence(_)
        | Intrinsic::SyncWarp
        | Intrinsic::AtomicStore(_)
        | Intrinsic::Sleep
        | Intrinsic::Breakpoint
        | Intrinsic::SetConditional => Ty::Unit,
        // the callee or the argument determines the type
        Intrinsic::AsVectors
        | Intrinsic::Vector
        | Intrinsic::View(_)
        | Intrinsic::LoadCached(_)
        | Intrinsic::StoreCached(_)
        | Intrinsic::Same
        | Intrinsic::Identity
        | Intrinsic::Duplicate
        | Intrinsic::ViewOp(_)
        | Intrinsic::VectorOfArray
        | Intrinsic::ArrayOfSlice
        | Intrinsic::Exchange(_)
        | Intrinsic::MapShared => Ty::Unit,
        Intrinsic::Narrow(_) => Ty::Scalar(Scalar::U16),
        Intrinsic::Widen(_) => Ty::Tuple(vec![Ty::Scalar(Scalar::F16); 2]),
        Intrinsic::ComputeCapability
        | Intrinsic::BarrierReduce(BarrierOp::Count)
        | Intrinsic::Vote(VoteOp::Ballot)
        | Intrinsic::MatchAny
        | Intrinsic::ActiveMask
        | Intrinsic::LaneMask(_)
        | Intrinsic::Clock(Clock::CyclesLow)
        | Intrinsic::FindFirstSet
        | Intrinsic::Bits(KirUnary::CountOnes | KirUnary::LeadingZeros) => Ty::Scalar(Scalar::U32),
        Intrinsic::BarrierReduce(_) | Intrinsic::Vote(_) => Ty::Scalar(Scalar::Bool),
        Intrinsic::ClusterBarrier => Ty::Unit,
        Intrinsic::ClusterBlockIdx | Intrinsic::ClusterDim => Dim3::ty(),
        Intrinsic::GridBarrier => Ty::Ref(Box::new(Ty::Scalar(Scalar::U32)), Memory::Write(Space::Global)),
        Intrinsic::KernelPanicked | Intrinsic::ComesAfter => Ty::Scalar(Scalar::Bool),
        Intrinsic::Tile(op, _) | Intrinsic::Coalesced(op) => group_type(op, Ty::Scalar(scalar.unwrap_or(Scalar::U32))),
        Intrinsic::Clock(_) => Ty::Scalar(Scalar::U64),
        Intrinsic::Library(function) => super::math::library_type(function),
        Intrinsic::MatchAll => Ty::Tuple(vec![Ty::Scalar(Scalar::U32), Ty::Scalar(Scalar::Bool)]),
        Intrinsic::AtomicLoad(_)
        | Intrinsic::Atomic(..)
        | Intrinsic::AtomicNotNan(..)
        | Intrinsic::CompareExchange(_)
        | Intrinsic::Shuffle(..)
        | Intrinsic::Reduce(_)
        | Intrinsic::Bits(_)
        | Intrinsic::Number(_)
        | Intrinsic::TryNumber(_)
        | Intrinsic::Ternary(_) => Ty::Scalar(scalar.unwrap_or(Scalar::U32)),
        Intrinsic::Grid(1)
        | Intrinsic::GridSize(1)
        | Intrinsic::LaneId
        | Intrinsic::WarpSize
        | Intrinsic::ClusterRank
        | Intrinsic::ClusterRanks => Ty::INDEX,
        Intrinsic::Grid(dims) | Intrinsic::GridSize(dims) => Ty::Tuple(vec![Ty::INDEX; dims]),
        Intrinsic::ThreadIdx | Intrinsic::BlockIdx | Intrinsic::BlockDim | Intrinsic::GridDim => Dim3::ty(),
    }
}

/// The result type of a group's method on a value of a type.
pub(super) fn group_type(op: GroupOp, value: Ty) -> Ty {
    match op {
        GroupOp::Shuffle(_) | GroupOp::Reduce(_) => value,
        GroupOp::MatchAny => Ty::Scalar(Scalar::U32),
        GroupOp::MatchAll => Ty::Tuple(vec![Ty::Scalar(Scalar::U32), Ty::Scalar(Scalar::Bool)]),
    }
}

/// The type that a literal's suffix names.
pub(super) fn suffix_type(suffix: &str) -> Option<Scalar> {
    match suffix {
        "usize" => Some(Scalar::U64),
        "isize" => Some(Scalar::I64),
        name => Scalar::ALL.into_iter().find(|scalar| scalar.name() == name),
    }
}

/// The variants of an `Option`, `Result` or `ControlFlow` with which `?` continues and returns.
pub(super) fn tried_variants(ty: &Ty) -> Option<(usize, usize)> {
    match ty.as_sum()?.identity {
        SumIdentity::Option => Some((OPTION_SOME, OPTION_NONE)),
        SumIdentity::Result => Some((RESULT_OK, RESULT_ERR)),
        SumIdentity::ControlFlow => Some((CONTROL_FLOW_CONTINUE, CONTROL_FLOW_BREAK)),
        SumIdentity::Own(_) => None,
    }
}

/// The type with all references removed.
pub(super) fn strip_refs(mut ty: Ty) -> Ty {
    while let Ty::Ref(to, _) = ty {
        ty = *to;
    }
    ty
}

/// The element type of an indexable type.
pub(super) fn element_type(ty: Ty) -> Option<Ty> {
    match strip_refs(ty) {
        Ty::Slice(element, _) | Ty::View(element, ..) | Ty::Array(element, _) => Some(*element),
        _ => None,
    }
}

impl Scopes {
    /// An expression's type, if it is known without its context.
    pub(super) fn ty_of(&self, expr: &Expr) -> Option<Ty> {
        if matches!(expr.1, ExprKind::Lit(_) | ExprKind::Binding(_) | ExprKind::Const(_) | ExprKind::Cast(..)) {
            return self.ty_of_expr(expr);
        }
        // caches the result, since each level of an expression queries those below it
        let key = std::ptr::from_ref(expr);
        if let Some(known) = self.frame().types.borrow().get(&key) {
            return Some(known.clone());
        }
        let ty = ensure_sufficient_stack(|| self.ty_of_expr(expr))?;
        self.frame().types.borrow_mut().insert(key, ty.clone());
        Some(ty)
    }

    fn ty_of_expr(&self, expr: &Expr) -> Option<Ty> {
        match &expr.1 {
            ExprKind::Lit(Lit::Bool(_)) | ExprKind::And(..) | ExprKind::Or(..) => Some(Ty::Scalar(Scalar::Bool)),
            ExprKind::Lit(Lit::Int(_, suffix) | Lit::Float(_, _, suffix)) => suffix_type(suffix).map(Ty::Scalar),
            ExprKind::Binding(number) => self.frame().binding_type(*number),
            ExprKind::Const(number) => Some(self.frame().info.consts[*number as usize].ty.clone()),
            ExprKind::Cast(_, number) => Some(Ty::Scalar(self.frame().info.types[*number as usize])),
            ExprKind::Unary(op, value) => unary_type(*op, self.ty_of(value)?),
            ExprKind::Reborrow(value, mutable) => match &value.1 {
                ExprKind::Deref(reference) => self.ty_of(reference),
                _ if self.is_subslice(value) => self.ty_of(value),
                _ => Some(Ty::Ref(Box::new(self.ty_of(value)?), Memory::unknown(*mutable))),
            },
            ExprKind::Deref(value) => match self.ty_of(value)? {
                Ty::Ref(to, _) => Some(*to),
                slice @ Ty::Slice(..) => Some(slice),
                _ => None,
            },
            ExprKind::Array(elements) => {
                let element = elements.iter().find_map(|element| self.ty_of(element))?;
                Some(Ty::Array(Box::new(element), elements.len() as u64))
            }
            ExprKind::Shared(number) => {
                let array = self.frame().info.named[*number as usize].clone();
                Some(Ty::Ref(Box::new(array), Memory::Write(Space::Shared)))
            }
            ExprKind::DynamicShared(parts) => {
                let slice = |(number, _): &(u32, _)| {
                    let element = self.frame().info.named[*number as usize].clone();
                    Ty::Slice(Box::new(element), Memory::Write(Space::Shared))
                };
                let mut slices: Vec<Ty> = parts.iter().map(slice).collect();
                Some(if slices.len() == 1 { slices.remove(0) } else { Ty::Tuple(slices) })
            }
            ExprKind::Try(value, _) => {
                let of = self.ty_of(value)?;
                let (good, _) = tried_variants(&of)?;
                Some(of.as_sum()?.variants[good].fields[0].1.clone())
            }
            ExprKind::Struct(number, ..) => Some(self.frame().info.named[*number as usize].clone()),
            ExprKind::Binary(op, left, right) => match op {
                op if super::operator::compares(*op) => Some(Ty::Scalar(Scalar::Bool)),
                op => {
                    let left = self.ty_of(left);
                    let right = listed_type(*op, left.as_ref(), right).or_else(|| self.ty_of(right));
                    binary_type(*op, left, right)
                }
            },
            ExprKind::Index(base, index) if self.has_own_index(base) => {
                self.type_by_own_index(base, IndexBy::Value(index))
            }
            ExprKind::Subslice(base, start, end, inclusive) if self.has_own_index(base) => {
                self.type_by_own_index(base, IndexBy::Range((*start, *end, *inclusive)))
            }
            ExprKind::Index(base, _) | ExprKind::Subslice(base, ..) => {
                let element = element_type(self.ty_of(base)?)?;
                let slice = |element| Ty::Slice(Box::new(element), Memory::unknown(false));
                Some(if self.is_subslice(expr) { slice(element) } else { element })
            }
            ExprKind::Field(base, name) => {
                let base = strip_refs(self.ty_of(base)?);
                let index = base.field(name)?;
                Some(base.fields()[index].0.clone())
            }
            ExprKind::Tuple([]) => Some(Ty::Unit),
            ExprKind::Tuple(elements) => {
                let types: Option<Vec<Ty>> = elements.iter().map(|element| self.ty_of(element)).collect();
                Some(Ty::Tuple(types?))
            }
            ExprKind::Call(number, args) if matches!(self.frame().callees[*number as usize], Callee::Identity) => {
                self.ty_of(args.first()?)
            }
            ExprKind::Call(number, args) if matches!(self.frame().callees[*number as usize], Callee::Duplicate) => {
                match self.ty_of(args.first()?)? {
                    Ty::Ref(to, _) => Some(*to),
                    _ => None,
                }
            }
            ExprKind::Call(number, _) | ExprKind::Function(number) => self.result_of(*number),
            ExprKind::CallClosure(Expr(_, ExprKind::Binding(number)), _) => self.ty_of_closure(*number),
            ExprKind::Closure(_) => Some(Ty::CLOSURE),
            ExprKind::Range(_, _, _, Some(number)) | ExprKind::Typed(_, number) => {
                Some(self.frame().info.named[*number as usize].clone())
            }
            ExprKind::Method(_, args, number) => match self.frame().callees[*number as usize] {
                Callee::Intrinsic(Intrinsic::Tile(op, _) | Intrinsic::Coalesced(op), _) => {
                    Some(group_type(op, strip_refs(self.ty_of(args.first()?)?)))
                }
                Callee::Intrinsic(Intrinsic::MapShared, _) => self.ty_of(args.first()?),
                _ => self.result_of(*number),
            },
            _ => self.ty_of_control(expr),
        }
    }

    /// The result type of a call.
    pub(super) fn result_of(&self, number: u32) -> Option<Ty> {
        match &self.frame().callees[number as usize] {
            Callee::Function(_, info) => Some(info.result.clone()),
            Callee::Operation(_, typing) => Some(typing.result.clone()),
            Callee::Intrinsic(Intrinsic::TryNumber(_), to) => {
                Some(Ty::result(Ty::Scalar((*to)?), ty_of::<std::num::TryFromIntError>()))
            }
            Callee::Intrinsic(intrinsic, scalar) => Some(intrinsic_type(*intrinsic, *scalar)),
            Callee::ArrayOfSlice(array) => Some(Ty::result(array.clone(), ty_of::<std::array::TryFromSliceError>())),
            Callee::Vectors(vector) => {
                let number = Ty::Scalar(vector.lanes()?);
                let slice = |element| Ty::Slice(Box::new(element), Memory::unknown(false));
                Some(Ty::Tuple(vec![slice(vector.clone()), slice(number)]))
            }
            Callee::Exchange(Exchange::Swap, _) => Some(Ty::Unit),
            Callee::Vector(ty)
            | Callee::VectorOfArray(ty)
            | Callee::Same(ty)
            | Callee::Exchange(_, ty)
            | Callee::ViewOp(_, ty) => Some(ty.clone()),
            Callee::View(view, false) => Some(view.clone()),
            Callee::View(view, true) => Some(Ty::result(view.clone(), shape_error())),
            Callee::Cached(Intrinsic::LoadCached(_), of) => Some(of.clone()),
            Callee::Cached(..) => Some(Ty::Unit),
            Callee::Constructor(ty, _) => Some(ty.clone()),
            Callee::Constant(constant) => Some(constant.ty.clone()),
            Callee::HostFunction(_) | Callee::None | Callee::Identity | Callee::Duplicate => None,
        }
    }

    fn ty_of_control(&self, expr: &Expr) -> Option<Ty> {
        match &expr.1 {
            ExprKind::Block(None, block) => self.ty_of_block(block),
            // a block without a tail may diverge
            ExprKind::Block(Some(label), block) => {
                let tail = block.tail.and_then(|tail| self.ty_of(tail));
                tail.or_else(|| self.ty_of_break(*label, block))
            }
            ExprKind::Loop(label, body) => self.ty_of_break(*label, body),
            ExprKind::If(_, _, None) => Some(Ty::Unit),
            ExprKind::If(_, block, Some(otherwise)) => self.ty_of_block(block).or_else(|| self.ty_of(otherwise)),
            ExprKind::Match(_, arms) => arms.iter().find_map(|arm| self.ty_of(&arm.body)),
            ExprKind::Assign(..)
            | ExprKind::AssignOp(..)
            | ExprKind::While(..)
            | ExprKind::For(..)
            | ExprKind::Assert(..)
            | ExprKind::AssertCompare(..)
            | ExprKind::Debug(_)
            | ExprKind::Print(..) => Some(Ty::Unit),
            _ => None,
        }
    }

    pub(super) fn ty_of_block(&self, block: &Block) -> Option<Ty> {
        match block.tail {
            Some(tail) => self.ty_of(tail),
            // a block that ends in a diverging statement takes the type of another branch
            None if block.stmts.last().is_some_and(super::control::diverges) => None,
            None => Some(Ty::Unit),
        }
    }
}

/// The result type of a unary operator.
fn unary_type(op: UnaryOp, operand: Ty) -> Option<Ty> {
    let name = super::overload::unary_name(op);
    if matches!(operand, Ty::Ref(..))
        && let Some(found) = super::overload::exact(name, [&operand, &operand])
    {
        return super::overload::result_of(Some(found));
    }
    match strip_refs(operand) {
        of if of.lanes().is_some() => Some(of),
        of if of.lists_operators() => super::overload::result(&of, name, Some(&of)),
        other => Some(other),
    }
}

/// The type of a literal tuple or array that is the right operand of a type that lists the operator.
fn listed_type(op: BinaryOp, left: Option<&Ty>, right: &Expr) -> Option<Ty> {
    let of = strip_refs(left?.clone());
    let is_literal = matches!(right.1, ExprKind::Tuple(_) | ExprKind::Array(_));
    let listed = || super::overload::right_type(&of, super::overload::trait_name(op), right);
    (is_literal && of.lists_operators()).then(listed).flatten()
}

/// The result type of a binary operator, if the operand types that are known determine it.
fn binary_type(op: BinaryOp, left: Option<Ty>, right: Option<Ty>) -> Option<Ty> {
    if let (Some(left), Some(right)) = (&left, &right)
        && (matches!(left, Ty::Ref(..)) || matches!(right, Ty::Ref(..)))
        && let Some(found) = super::overload::exact(super::overload::trait_name(op), [left, right])
    {
        return super::overload::result_of(Some(found));
    }
    match (left.map(strip_refs), right.map(strip_refs)) {
        (Some(vector), _) | (_, Some(vector)) if vector.lanes().is_some() => Some(vector),
        (Some(number), _) | (_, Some(number)) if number.complex().is_some() => Some(number),
        (Some(of), right) if of.lists_operators() => {
            super::overload::result(&of, super::overload::trait_name(op), right.as_ref())
        }
        (left, Some(of)) if of.lists_operators() => {
            super::overload::result_right(left.as_ref(), super::overload::trait_name(op), &of)
        }
        (left, _) if matches!(op, BinaryOp::Shl | BinaryOp::Shr) => left,
        (left, right) => left.or(right),
    }
}
