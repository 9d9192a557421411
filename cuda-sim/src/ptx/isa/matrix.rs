//! The instruction table: matrices that are distributed over the lanes of a warp.

use super::Shape::{Address, DestMatrix, SourceMatrix};
use super::Type::{B1, B16, Bf16, E4m3, E5m2, F16, F32, F64, S4, S8, S32, Tf32, U4, U8};
use super::{ALIGNED, Form, Group, Modifier as M, Opcode, SYNC, Shape, Type, form, one, opt};

pub(super) const EACH: Group = one(SYNC);
pub(super) const TOGETHER: Group = one(ALIGNED);
pub(super) const ROW: Group = one(&[M::Row]);
pub(super) const COL: Group = one(&[M::Col]);
pub(super) const EITHER: Group = one(&[M::Row, M::Col]);
pub(super) const ROUND: Group = opt(&[M::Rn, M::Rz, M::Rm, M::Rp]);
pub(super) const SATURATED: Group = opt(&[M::Satfinite]);
pub(super) const COUNTED: Group = one(&[M::Popc]);
pub(super) const BITS: Group = one(&[M::Xor, M::And]);
pub(super) const MATRICES: &[Shape] = &[DestMatrix(0), SourceMatrix(1), SourceMatrix(2), SourceMatrix(3)];
const SPACE: Group = opt(&[M::Shared, M::SharedCta]);
const COUNT: Group = one(&[M::X1, M::X2, M::X4]);
const TRANSPOSED: Group = opt(&[M::Trans]);
const EIGHTS: Group = one(&[M::M8N8]);
const BYTES: &[Type] = &[S8, U8];
const NIBBLES: &[Type] = &[S4, U4];
const SMALL: &[Type] = &[E4m3, E5m2];

/// Returns the form of products of one shape group, with the types of `D`, `A`, `B` and `C`.
const fn product(groups: &'static [Group], types: &'static [&'static [Type]]) -> Form {
    form(Opcode::Mma, groups, types, MATRICES)
}

pub(super) static FORMS: &[Form] = &[
    // Floating point.
    product(&[EACH, TOGETHER, one(&[M::M8N8K4]), EITHER, EITHER], &[&[F32], &[F16], &[F16], &[F16, F32]]),
    product(&[EACH, TOGETHER, one(&[M::M8N8K4]), EITHER, EITHER], &[&[F16], &[F16], &[F16], &[F16]]),
    product(&[EACH, TOGETHER, one(&[M::M16N8K8, M::M16N8K16]), ROW, COL], &[&[F32], &[F16], &[F16], &[F32]]),
    product(&[EACH, TOGETHER, one(&[M::M16N8K8, M::M16N8K16]), ROW, COL], &[&[F16], &[F16], &[F16], &[F16]]),
    product(&[EACH, TOGETHER, one(&[M::M16N8K8, M::M16N8K16]), ROW, COL], &[&[F32], &[Bf16], &[Bf16], &[F32]]),
    product(&[EACH, TOGETHER, one(&[M::M16N8K4, M::M16N8K8]), ROW, COL], &[&[F32], &[Tf32], &[Tf32], &[F32]]),
    product(&[EACH, TOGETHER, one(&[M::M16N8K16, M::M16N8K32]), ROW, COL], &[&[F32], SMALL, SMALL, &[F32]]),
    product(&[EACH, TOGETHER, one(&[M::M16N8K16, M::M16N8K32]), ROW, COL], &[&[F16], SMALL, SMALL, &[F16]]),
    product(
        &[EACH, TOGETHER, one(&[M::M8N8K4, M::M16N8K4, M::M16N8K8, M::M16N8K16]), ROW, COL, ROUND],
        &[&[F64], &[F64], &[F64], &[F64]],
    ),
    // Integers and bits.
    product(
        &[EACH, TOGETHER, one(&[M::M8N8K16, M::M16N8K16, M::M16N8K32]), ROW, COL, SATURATED],
        &[&[S32], BYTES, BYTES, &[S32]],
    ),
    product(
        &[EACH, TOGETHER, one(&[M::M8N8K32, M::M16N8K32, M::M16N8K64]), ROW, COL, SATURATED],
        &[&[S32], NIBBLES, NIBBLES, &[S32]],
    ),
    product(
        &[EACH, TOGETHER, one(&[M::M8N8K128, M::M16N8K128, M::M16N8K256]), ROW, COL, BITS, COUNTED],
        &[&[S32], &[B1], &[B1], &[S32]],
    ),
    // Rows in shared memory to fragments, and the inverse.
    form(Opcode::Ldmatrix, &[EACH, TOGETHER, EIGHTS, COUNT, TRANSPOSED, SPACE], &[&[B16]], &[DestMatrix(0), Address]),
    form(Opcode::Stmatrix, &[EACH, TOGETHER, EIGHTS, COUNT, TRANSPOSED, SPACE], &[&[B16]], &[Address, SourceMatrix(0)]),
    form(
        Opcode::Movmatrix,
        &[EACH, TOGETHER, EIGHTS, one(&[M::Trans])],
        &[&[B16]],
        &[Shape::DestAs(Type::B32), Shape::SourceAs(Type::B32)],
    ),
];

/// The exchange of `ldmatrix`, after its rows were loaded. It is created by lowering only.
pub(crate) static FROM_ROWS: Form = form(Opcode::Ldmatrix, &[], &[], &[DestMatrix(0), Shape::SourceVector(0)]);
/// The exchange of `stmatrix`, before its rows are stored. It is created by lowering only.
pub(crate) static TO_ROWS: Form = form(Opcode::Stmatrix, &[], &[], &[Shape::DestVector(0), SourceMatrix(0)]);
