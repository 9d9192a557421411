//! The instruction table: `wmma`, warp-level matrix loads, products and stores.

use super::Shape::{Address, DestMatrix, SourceAs, SourceMatrix};
use super::Type::{B1, Bf16, F16, F32, F64, S4, S8, S32, Tf32, U4, U8, U32};
use super::matrix::{BITS, COL, COUNTED, EACH, EITHER, MATRICES, ROUND, ROW, SATURATED, TOGETHER};
use super::{Form, Group, Modifier as M, Opcode, Shape, Type, form, one, opt};

const LOAD: Group = one(&[M::Load]);
const STORE: Group = one(&[M::Store]);
const MULTIPLY: Group = one(&[M::Mma]);
const OF_A: Group = one(&[M::A]);
const OF_B: Group = one(&[M::B]);
const OF_C: Group = one(&[M::C]);
const OF_D: Group = one(&[M::D]);
const SPACE: Group = opt(&[M::Global, M::Shared, M::SharedCta]);
const LARGE: Group = one(&[M::M16N16K16, M::M8N32K16, M::M32N8K16]);
const MEDIUM: Group = one(&[M::M16N16K8]);
const DOUBLE: Group = one(&[M::M8N8K4]);
const NIBBLES: Group = one(&[M::M8N8K32]);
const SINGLE: Group = one(&[M::M8N8K128]);
const SMALL: Group = one(&[M::M8N8K32, M::M8N8K128]);
const FACTORS: &[&[Type]] = &[&[F16, Bf16, S8, U8]];
const SUMS: &[&[Type]] = &[&[F16, F32, S32]];

const A: &[Shape] = &[DestMatrix(1), Address];
const A_STRIDE: &[Shape] = &[DestMatrix(1), Address, SourceAs(U32)];
const B: &[Shape] = &[DestMatrix(2), Address];
const B_STRIDE: &[Shape] = &[DestMatrix(2), Address, SourceAs(U32)];
const C: &[Shape] = &[DestMatrix(3), Address];
const C_STRIDE: &[Shape] = &[DestMatrix(3), Address, SourceAs(U32)];
const D: &[Shape] = &[Address, SourceMatrix(0)];
const D_STRIDE: &[Shape] = &[Address, SourceMatrix(0), SourceAs(U32)];

const fn wmma(groups: &'static [Group], types: &'static [&'static [Type]], operands: &'static [Shape]) -> Form {
    form(Opcode::Wmma, groups, types, operands)
}

macro_rules! moves {
    ($([$($groups:expr),+], $types:expr, $plain:expr, $stride:expr;)+) => {
        &[$(
            wmma(&[$($groups),+, EACH, TOGETHER, SPACE], $types, $plain),
            wmma(&[$($groups),+, EACH, TOGETHER, SPACE], $types, $stride),
        )+]
    };
}

/// Loads and stores, without and with the stride of rows or columns.
pub(super) static MOVES: &[Form] = moves! {
    [LOAD, OF_A, EITHER, LARGE], FACTORS, A, A_STRIDE;
    [LOAD, OF_B, EITHER, LARGE], FACTORS, B, B_STRIDE;
    [LOAD, OF_C, EITHER, LARGE], SUMS, C, C_STRIDE;
    [STORE, OF_D, EITHER, LARGE], SUMS, D, D_STRIDE;
    [LOAD, OF_A, EITHER, MEDIUM], &[&[Tf32]], A, A_STRIDE;
    [LOAD, OF_B, EITHER, MEDIUM], &[&[Tf32]], B, B_STRIDE;
    [LOAD, OF_C, EITHER, MEDIUM], &[&[F32]], C, C_STRIDE;
    [STORE, OF_D, EITHER, MEDIUM], &[&[F32]], D, D_STRIDE;
    [LOAD, OF_A, EITHER, DOUBLE], &[&[F64]], A, A_STRIDE;
    [LOAD, OF_B, EITHER, DOUBLE], &[&[F64]], B, B_STRIDE;
    [LOAD, OF_C, EITHER, DOUBLE], &[&[F64]], C, C_STRIDE;
    [STORE, OF_D, EITHER, DOUBLE], &[&[F64]], D, D_STRIDE;
    [LOAD, OF_A, ROW, NIBBLES], &[&[S4, U4]], A, A_STRIDE;
    [LOAD, OF_B, COL, NIBBLES], &[&[S4, U4]], B, B_STRIDE;
    [LOAD, OF_A, ROW, SINGLE], &[&[B1]], A, A_STRIDE;
    [LOAD, OF_B, COL, SINGLE], &[&[B1]], B, B_STRIDE;
    [LOAD, OF_C, EITHER, SMALL], &[&[S32]], C, C_STRIDE;
    [STORE, OF_D, EITHER, SMALL], &[&[S32]], D, D_STRIDE;
};

const fn product(groups: &'static [Group], types: &'static [&'static [Type]]) -> Form {
    wmma(groups, types, MATRICES)
}

pub(super) static PRODUCTS: &[Form] = &[
    // Products of `f16`, whose types are those of `D` and `C`.
    product(&[MULTIPLY, EACH, TOGETHER, EITHER, EITHER, LARGE], &[&[F16, F32], &[F16, F32]]),
    product(&[MULTIPLY, EACH, TOGETHER, EITHER, EITHER, LARGE], &[&[F32], &[Bf16], &[Bf16], &[F32]]),
    product(&[MULTIPLY, EACH, TOGETHER, EITHER, EITHER, MEDIUM], &[&[F32], &[Tf32], &[Tf32], &[F32]]),
    product(&[MULTIPLY, EACH, TOGETHER, EITHER, EITHER, DOUBLE, ROUND], &[&[F64], &[F64], &[F64], &[F64]]),
    product(&[MULTIPLY, EACH, TOGETHER, EITHER, EITHER, LARGE, SATURATED], &[&[S32], &[S8], &[S8], &[S32]]),
    product(&[MULTIPLY, EACH, TOGETHER, EITHER, EITHER, LARGE, SATURATED], &[&[S32], &[U8], &[U8], &[S32]]),
    product(&[MULTIPLY, EACH, TOGETHER, ROW, COL, NIBBLES, SATURATED], &[&[S32], &[S4], &[S4], &[S32]]),
    product(&[MULTIPLY, EACH, TOGETHER, ROW, COL, NIBBLES, SATURATED], &[&[S32], &[U4], &[U4], &[S32]]),
    product(&[MULTIPLY, BITS, COUNTED, EACH, TOGETHER, ROW, COL, SINGLE], &[&[S32], &[B1], &[B1], &[S32]]),
];
