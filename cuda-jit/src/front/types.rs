//! The types of expressions, read off rustc's answers, and how values lie in KIR.
//!
//! [`Lowering::ty_of`] tells an expression's type from the inside out, or nothing if only its surroundings decide it
//! (a literal without a suffix). Whoever lowers an expression passes down what the surroundings say; where neither
//! says anything, Rust's fallback holds: `i32` and `f64`.

use super::Callee;
use super::function::Lowering;
use super::method;
use crate::harvest::{Intrinsic, Ty};
use crate::kir::{BarrierOp, Scalar, Space, Type, Value, VoteOp};
use crate::syntax::{BinaryOp, Block, Condition, Expr, ExprKind, Lit};

/// A value of the language: its type and the KIR values that it consists of.
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

    /// The value of a scalar.
    pub(super) fn only(&self) -> Value {
        self.leaves[0]
    }
}

impl Ty {
    /// The KIR types that a value of this type consists of.
    pub(super) fn leaves(&self) -> Vec<Type> {
        match self {
            Ty::Unit => Vec::new(),
            Ty::Scalar(scalar) => vec![Type::Scalar(*scalar)],
            Ty::Slice(scalar, _, space) => vec![Type::Ptr(*space, *scalar), Type::Scalar(Scalar::U64)],
            Ty::Array(scalar, _, _, space) | Ty::Ref(scalar, _, space) => vec![Type::Ptr(*space, *scalar)],
            // an array of the thread's own is where it lies; whoever binds it copies it
            Ty::Owned(scalar, _) => vec![Type::Ptr(Space::Local, *scalar)],
            Ty::View(scalar, dims, _) => {
                // the address, the extents, and the strides in elements, which wrap
                let mut leaves = vec![Type::Ptr(Space::Global, *scalar)];
                leaves.extend(std::iter::repeat_n(Type::Scalar(Scalar::U64), 2 * dims));
                leaves
            }
            Ty::Tuple(elements) => elements.iter().flat_map(Ty::leaves).collect(),
            Ty::Struct(_, fields) => fields.iter().flat_map(|(_, ty)| ty.leaves()).collect(),
            Ty::Option(inner) => {
                let mut leaves = vec![Type::Scalar(Scalar::Bool)];
                leaves.extend(inner.leaves());
                leaves
            }
        }
    }

    /// What this points to, if it is a pointer.
    pub(super) fn memory(&self) -> Option<Memory> {
        match self {
            Ty::Slice(_, writable, space) | Ty::Array(_, _, writable, space) | Ty::Ref(_, writable, space) => {
                Some(Memory { writable: *writable, space: *space })
            }
            Ty::View(_, _, writable) => Some(Memory { writable: *writable, space: Space::Global }),
            Ty::Owned(..) => Some(Memory { writable: true, space: Space::Local }),
            _ => None,
        }
    }

    /// The same pointer to such memory.
    pub(super) fn in_memory(self, memory: Option<Memory>) -> Ty {
        let Some(Memory { writable, space }) = memory else { return self };
        match self {
            Ty::Slice(scalar, ..) => Ty::Slice(scalar, writable, space),
            Ty::Array(scalar, extents, ..) => Ty::Array(scalar, extents, writable, space),
            Ty::Ref(scalar, ..) => Ty::Ref(scalar, writable, space),
            Ty::View(scalar, dims, _) => Ty::View(scalar, dims, writable),
            other => other,
        }
    }

    /// An array of the thread's own as what it is in memory; other types as they are.
    pub(super) fn into_place(self) -> Ty {
        match self {
            Ty::Owned(scalar, extents) => Ty::Array(scalar, extents, true, Space::Local),
            other => other,
        }
    }

    /// The scalar type, if it is one.
    pub(super) fn as_scalar(&self) -> Option<Scalar> {
        match self {
            Ty::Scalar(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// A field's type, and the range of the leaves that hold it.
    pub(super) fn field(&self, name: &str) -> Option<(Ty, std::ops::Range<usize>)> {
        let fields: Vec<(String, &Ty)> = match self {
            Ty::Tuple(elements) => (0..).zip(elements).map(|(i, ty): (usize, _)| (i.to_string(), ty)).collect(),
            Ty::Struct(_, fields) => fields.iter().map(|(name, ty)| (name.to_string(), ty)).collect(),
            _ => return None,
        };
        let mut start = 0;
        for (field, ty) in fields {
            let end = start + ty.leaves().len();
            if field == name {
                return Some((ty.clone(), start..end));
            }
            start = end;
        }
        None
    }

    /// Whether a value of this type can stand where one of `other` is wanted: the same, or a slice reborrowed.
    pub(super) fn fits(&self, other: &Ty) -> bool {
        match (self, other) {
            (Ty::Slice(a, ..), Ty::Slice(b, ..)) | (Ty::Ref(a, ..), Ty::Ref(b, ..)) => a == b,
            (Ty::Array(a, m, ..) | Ty::Owned(a, m), Ty::Array(b, n, ..) | Ty::Owned(b, n)) => a == b && m == n,
            (Ty::View(a, m, _), Ty::View(b, n, _)) => a == b && m == n,
            (Ty::Tuple(a), Ty::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.fits(b)),
            (Ty::Option(a), Ty::Option(b)) => a.fits(b),
            _ => self == other,
        }
    }
}

/// What a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Memory {
    /// Whether kernels may write it, so that other threads may at the same time.
    pub(super) writable: bool,
    /// Where it is.
    pub(super) space: Space,
}

/// What an intrinsic yields; `scalar` is its generic argument, if it has one.
pub(super) fn intrinsic_type(intrinsic: Intrinsic, scalar: Option<Scalar>) -> Ty {
    let index = Ty::Scalar(Scalar::U64);
    match intrinsic {
        Intrinsic::Barrier | Intrinsic::Fence(_) | Intrinsic::SyncWarp => Ty::Unit,
        Intrinsic::BarrierReduce(BarrierOp::Count) | Intrinsic::Vote(VoteOp::Ballot) => Ty::Scalar(Scalar::U32),
        Intrinsic::BarrierReduce(_) | Intrinsic::Vote(_) => Ty::Scalar(Scalar::Bool),
        Intrinsic::MatchAny | Intrinsic::ActiveMask => Ty::Scalar(Scalar::U32),
        Intrinsic::Atomic(_) | Intrinsic::CompareExchange | Intrinsic::Shuffle(_) => {
            Ty::Scalar(scalar.unwrap_or(Scalar::U32))
        }
        Intrinsic::Grid(1) | Intrinsic::GridSize(1) | Intrinsic::LaneId | Intrinsic::WarpSize => index,
        Intrinsic::Grid(dims) | Intrinsic::GridSize(dims) => Ty::Tuple(vec![index; dims]),
        Intrinsic::ThreadIdx | Intrinsic::BlockIdx | Intrinsic::BlockDim | Intrinsic::GridDim => dim3(),
    }
}

/// The type of `thread_idx()` and its kin.
pub(crate) fn dim3() -> Ty {
    let index = || Ty::Scalar(Scalar::U64);
    Ty::Struct("Dim3", vec![("x", index()), ("y", index()), ("z", index())])
}

/// The type that a literal's suffix names.
pub(super) fn suffix_type(suffix: &str) -> Option<Scalar> {
    match suffix {
        "usize" => Some(Scalar::U64),
        "isize" => Some(Scalar::I64),
        name => Scalar::ALL.into_iter().find(|scalar| scalar.name() == name),
    }
}

impl Lowering<'_> {
    /// An expression's type as far as it tells by itself.
    pub(super) fn ty_of(&self, expr: &Expr) -> Option<Ty> {
        match &expr.1 {
            ExprKind::Lit(Lit::Bool(_)) | ExprKind::And(..) | ExprKind::Or(..) => Some(Ty::Scalar(Scalar::Bool)),
            ExprKind::Lit(Lit::Int(_, suffix) | Lit::Float(_, _, suffix)) => suffix_type(suffix).map(Ty::Scalar),
            ExprKind::Binding(number) => self.harvest.bindings[*number as usize].clone().map(Ty::into_place),
            ExprKind::Const(number) => Some(Ty::Scalar(self.harvest.consts[*number as usize].0)),
            ExprKind::Cast(_, number) => Some(Ty::Scalar(self.harvest.types[*number as usize])),
            ExprKind::Unary(_, value) => self.ty_of(value),
            ExprKind::Reborrow(value) => match self.ty_of(value)? {
                Ty::Scalar(scalar) => Some(Ty::Ref(scalar, true, Space::Global)),
                other => Some(other),
            },
            ExprKind::Deref(value) => match self.ty_of(value)? {
                Ty::Ref(scalar, ..) => Some(Ty::Scalar(scalar)),
                _ => None,
            },
            ExprKind::Array(elements) => {
                let element = elements.iter().find_map(|element| self.ty_of(element));
                let (scalar, mut extents) = match element? {
                    Ty::Scalar(scalar) => (scalar, Vec::new()),
                    Ty::Owned(scalar, extents) | Ty::Array(scalar, extents, ..) => (scalar, extents),
                    _ => return None,
                };
                extents.insert(0, elements.len() as u64);
                Some(Ty::Owned(scalar, extents))
            }
            ExprKind::Shared(number) => {
                let (scalar, extents) = self.harvest.arrays[*number as usize].clone();
                Some(Ty::Array(scalar, extents, true, Space::Shared))
            }
            ExprKind::Binary(op, left, right) => match op {
                BinaryOp::Shl | BinaryOp::Shr => self.ty_of(left),
                op if op.compares() => Some(Ty::Scalar(Scalar::Bool)),
                _ => self.ty_of(left).or_else(|| self.ty_of(right)),
            },
            ExprKind::Index(base, _) | ExprKind::IndexUnchecked(base, _) | ExprKind::IndexAll(base, _) => {
                match self.ty_of(base)? {
                    Ty::Slice(scalar, ..) | Ty::View(scalar, ..) => Some(Ty::Scalar(scalar)),
                    Ty::Array(scalar, extents, writable, space) => Some(match &extents[..] {
                        [_] => Ty::Scalar(scalar),
                        [_, inner @ ..] => Ty::Array(scalar, inner.to_vec(), writable, space),
                        [] => return None,
                    }),
                    _ => None,
                }
            }
            ExprKind::Field(base, name) => Some(self.ty_of(base)?.field(name)?.0),
            ExprKind::Tuple([]) => Some(Ty::Unit),
            ExprKind::Tuple(elements) => {
                let types: Option<Vec<Ty>> = elements.iter().map(|element| self.ty_of(element)).collect();
                Some(Ty::Tuple(types?))
            }
            ExprKind::Option(value) => Some(Ty::Option(Box::new(self.ty_of(value.as_ref()?)?))),
            ExprKind::Call(number, _) => match &self.callees[*number as usize] {
                Callee::Function(_, _, result) => Some(result.clone()),
                Callee::Intrinsic(intrinsic, scalar) => Some(intrinsic_type(*intrinsic, *scalar)),
            },
            ExprKind::CallClosure(number, _) => self.ty_of(self.closures.get(number)?.body),
            ExprKind::Method(name, receiver, args) => {
                let receiver = self.ty_of(receiver).or_else(|| self.ty_of(args.first()?))?;
                method::result_type(name, &receiver)
            }
            _ => self.ty_of_control(expr),
        }
    }

    fn ty_of_control(&self, expr: &Expr) -> Option<Ty> {
        match &expr.1 {
            ExprKind::Block(None, block) => self.ty_of_block(block),
            ExprKind::If(_, _, None) => Some(Ty::Unit),
            ExprKind::If(Condition::Bool(_) | Condition::Let(..), block, Some(otherwise)) => {
                self.ty_of_block(block).or_else(|| self.ty_of(otherwise))
            }
            ExprKind::Match(_, arms) => arms.iter().find_map(|arm| self.ty_of(&arm.body)),
            ExprKind::Assign(..)
            | ExprKind::AssignOp(..)
            | ExprKind::While(..)
            | ExprKind::For(..)
            | ExprKind::Assert(..) => Some(Ty::Unit),
            _ => None,
        }
    }

    fn ty_of_block(&self, block: &Block) -> Option<Ty> {
        match block.tail {
            Some(tail) => self.ty_of(tail),
            // a block that ends in a statement may also never return, in which case another branch decides
            None if block.stmts.last().is_some_and(super::control::diverges) => None,
            None => Some(Ty::Unit),
        }
    }
}
