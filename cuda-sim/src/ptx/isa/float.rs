//! The instruction table: arithmetic, approximations and comparisons of `f32` and `f64`.

use super::Shape::{Dest, DestPred, Source, SourcePred};
use super::Type::{F32, F32x2, F64};
use super::{BOOL, DS, DSS, DSSS, FTZ, Form, Group, Modifier as M, Opcode, SAT, SET_TO, Shape, Type, form, one, opt};

pub(super) const RND: &[M] = &[M::Rn, M::Rz, M::Rm, M::Rp];
pub(super) const APPROX: &[M] = &[M::Approx];
pub(super) const COMPARE: &[M] =
    &[M::Eq, M::Ne, M::Lt, M::Le, M::Gt, M::Ge, M::Equ, M::Neu, M::Ltu, M::Leu, M::Gtu, M::Geu, M::Num, M::Nan];

const S: &[&[Type]] = &[&[F32]];
const D: &[&[Type]] = &[&[F64]];
const PAIR: &[&[Type]] = &[&[F32x2]];
const BOTH: &[&[Type]] = &[&[F32, F64]];
const ROUNDED: &[Group] = &[opt(RND), opt(FTZ), opt(SAT)];
const FUSED: &[Group] = &[one(RND), opt(FTZ), opt(SAT)];
const MIN_MAX: &[Group] = &[opt(FTZ), opt(&[M::NaN])];
const XORSIGN: &[Group] = &[opt(FTZ), opt(&[M::NaN]), one(&[M::Xorsign]), one(&[M::Abs])];
const APPROXIMATE: &[Group] = &[one(APPROX), opt(FTZ)];
pub(super) const TEST: &[Shape] = &[DestPred, Source(0), Source(0)];
pub(super) const TEST_BOOL: &[Shape] = &[DestPred, Source(0), Source(0), SourcePred];
pub(super) const SET: &[Shape] = &[Dest(0), Source(1), Source(1)];
pub(super) const SET_BOOL: &[Shape] = &[Dest(0), Source(1), Source(1), SourcePred];

pub(super) static FORMS: &[Form] = &[
    form(Opcode::Add, ROUNDED, S, DSS),
    form(Opcode::Add, &[opt(RND)], D, DSS),
    form(Opcode::Add, &[opt(RND), opt(FTZ)], PAIR, DSS),
    form(Opcode::Sub, ROUNDED, S, DSS),
    form(Opcode::Sub, &[opt(RND)], D, DSS),
    form(Opcode::Sub, &[opt(RND), opt(FTZ)], PAIR, DSS),
    form(Opcode::Mul, ROUNDED, S, DSS),
    form(Opcode::Mul, &[opt(RND)], D, DSS),
    form(Opcode::Mul, &[opt(RND), opt(FTZ)], PAIR, DSS),
    form(Opcode::Fma, FUSED, S, DSSS),
    form(Opcode::Fma, &[one(RND)], D, DSSS),
    form(Opcode::Fma, &[one(RND), opt(FTZ)], PAIR, DSSS),
    form(Opcode::Mad, FUSED, S, DSSS),
    form(Opcode::Mad, &[one(RND)], D, DSSS),
    form(Opcode::Div, &[one(RND), opt(FTZ)], S, DSS),
    form(Opcode::Div, &[one(RND)], D, DSS),
    form(Opcode::Div, &[one(&[M::Approx, M::Full]), opt(FTZ)], S, DSS),
    form(Opcode::Rcp, &[one(RND), opt(FTZ)], S, DS),
    form(Opcode::Rcp, &[one(RND)], D, DS),
    form(Opcode::Rcp, APPROXIMATE, S, DS),
    form(Opcode::Rcp, &[one(APPROX), one(FTZ)], D, DS),
    form(Opcode::Sqrt, &[one(RND), opt(FTZ)], S, DS),
    form(Opcode::Sqrt, &[one(RND)], D, DS),
    form(Opcode::Sqrt, APPROXIMATE, S, DS),
    form(Opcode::Rsqrt, APPROXIMATE, BOTH, DS),
    form(Opcode::Sin, APPROXIMATE, S, DS),
    form(Opcode::Cos, APPROXIMATE, S, DS),
    form(Opcode::Lg2, APPROXIMATE, S, DS),
    form(Opcode::Ex2, APPROXIMATE, S, DS),
    form(Opcode::Tanh, &[one(APPROX)], S, DS),
    form(Opcode::Abs, &[opt(FTZ)], S, DS),
    form(Opcode::Abs, &[], D, DS),
    form(Opcode::Neg, &[opt(FTZ)], S, DS),
    form(Opcode::Neg, &[], D, DS),
    form(Opcode::Min, MIN_MAX, S, DSS),
    form(Opcode::Min, XORSIGN, S, DSS),
    form(Opcode::Min, &[], D, DSS),
    form(Opcode::Max, MIN_MAX, S, DSS),
    form(Opcode::Max, XORSIGN, S, DSS),
    form(Opcode::Max, &[], D, DSS),
    form(Opcode::Copysign, &[], BOTH, DSS),
    form(
        Opcode::Testp,
        &[one(&[M::Finite, M::Infinite, M::Number, M::Notanumber, M::Normal, M::Subnormal])],
        BOTH,
        &[DestPred, Source(0)],
    ),
    form(Opcode::Setp, &[one(COMPARE), opt(FTZ)], S, TEST),
    form(Opcode::Setp, &[one(COMPARE), one(BOOL), opt(FTZ)], S, TEST_BOOL),
    form(Opcode::Setp, &[one(COMPARE)], D, TEST),
    form(Opcode::Setp, &[one(COMPARE), one(BOOL)], D, TEST_BOOL),
    form(Opcode::Set, &[one(COMPARE), opt(FTZ)], &[SET_TO, &[F32]], SET),
    form(Opcode::Set, &[one(COMPARE), one(BOOL), opt(FTZ)], &[SET_TO, &[F32]], SET_BOOL),
    form(Opcode::Set, &[one(COMPARE)], &[SET_TO, &[F64]], SET),
    form(Opcode::Set, &[one(COMPARE), one(BOOL)], &[SET_TO, &[F64]], SET_BOOL),
];
