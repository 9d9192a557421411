//! The instruction table: `f16` and `bf16`, alone and in pairs.

use super::Shape::{DestOnePred, DestTwoPreds, Source, SourcePred};
use super::Type::{Bf16, Bf16x2, F16, F16x2, F32, F64, S16, S32, U16, U32};
use super::float::{APPROX, COMPARE, SET, SET_BOOL};
use super::{
    BOOL, COMPARE_BITS, COMPARE_SIGNED, COMPARE_UNSIGNED, DS, DSS, DSSS, FTZ, Form, Group, Modifier as M, Opcode, SAT,
    SIGNED, Type, UNSIGNED, WORDS,
};
use super::{form, one, opt};

const RN: &[M] = &[M::Rn];
const RELU: &[M] = &[M::Relu];
const HALF: &[&[Type]] = &[&[F16, F16x2]];
const BRAIN: &[&[Type]] = &[&[Bf16, Bf16x2]];
const SUM: &[Group] = &[opt(RN), opt(FTZ), opt(SAT)];
const MIN_MAX: &[Group] = &[opt(FTZ), opt(&[M::NaN])];
const XORSIGN: &[Group] = &[opt(FTZ), opt(&[M::NaN]), one(&[M::Xorsign]), one(&[M::Abs])];
const MIN_MAX_BRAIN: &[Group] = &[opt(&[M::NaN])];
const XORSIGN_BRAIN: &[Group] = &[opt(&[M::NaN]), one(&[M::Xorsign]), one(&[M::Abs])];

pub(super) static FORMS: &[Form] = &[
    form(Opcode::Add, SUM, HALF, DSS),
    form(Opcode::Sub, SUM, HALF, DSS),
    form(Opcode::Mul, SUM, HALF, DSS),
    form(Opcode::Add, &[opt(RN)], BRAIN, DSS),
    form(Opcode::Sub, &[opt(RN)], BRAIN, DSS),
    form(Opcode::Mul, &[opt(RN)], BRAIN, DSS),
    form(Opcode::Fma, &[one(RN), opt(FTZ), opt(SAT)], HALF, DSSS),
    form(Opcode::Fma, &[one(RN), opt(FTZ), one(RELU)], HALF, DSSS),
    form(Opcode::Fma, &[one(RN), opt(RELU)], BRAIN, DSSS),
    form(Opcode::Neg, &[opt(FTZ)], HALF, DS),
    form(Opcode::Neg, &[], BRAIN, DS),
    form(Opcode::Abs, &[opt(FTZ)], HALF, DS),
    form(Opcode::Abs, &[], BRAIN, DS),
    form(Opcode::Min, MIN_MAX, HALF, DSS),
    form(Opcode::Min, XORSIGN, HALF, DSS),
    form(Opcode::Max, MIN_MAX, HALF, DSS),
    form(Opcode::Max, XORSIGN, HALF, DSS),
    form(Opcode::Min, MIN_MAX_BRAIN, BRAIN, DSS),
    form(Opcode::Min, XORSIGN_BRAIN, BRAIN, DSS),
    form(Opcode::Max, MIN_MAX_BRAIN, BRAIN, DSS),
    form(Opcode::Max, XORSIGN_BRAIN, BRAIN, DSS),
    form(Opcode::Ex2, &[one(APPROX)], HALF, DS),
    form(Opcode::Ex2, &[one(APPROX), one(FTZ)], BRAIN, DS),
    form(Opcode::Tanh, &[one(APPROX)], HALF, DS),
    form(Opcode::Tanh, &[one(APPROX)], BRAIN, DS),
    form(Opcode::Setp, &[one(COMPARE), opt(FTZ)], &[&[F16]], &[DestOnePred, Source(0), Source(0)]),
    form(Opcode::Setp, &[one(COMPARE), opt(FTZ)], &[&[F16x2]], &[DestTwoPreds, Source(0), Source(0)]),
    form(
        Opcode::Setp,
        &[one(COMPARE), one(BOOL), opt(FTZ)],
        &[&[F16]],
        &[DestOnePred, Source(0), Source(0), SourcePred],
    ),
    form(
        Opcode::Setp,
        &[one(COMPARE), one(BOOL), opt(FTZ)],
        &[&[F16x2]],
        &[DestTwoPreds, Source(0), Source(0), SourcePred],
    ),
    form(Opcode::Setp, &[one(COMPARE)], &[&[Bf16]], &[DestOnePred, Source(0), Source(0)]),
    form(Opcode::Setp, &[one(COMPARE)], &[&[Bf16x2]], &[DestTwoPreds, Source(0), Source(0)]),
    form(Opcode::Setp, &[one(COMPARE), one(BOOL)], &[&[Bf16]], &[DestOnePred, Source(0), Source(0), SourcePred]),
    form(Opcode::Setp, &[one(COMPARE), one(BOOL)], &[&[Bf16x2]], &[DestTwoPreds, Source(0), Source(0), SourcePred]),
    form(Opcode::Set, &[one(COMPARE), opt(FTZ)], &[&[F16, U16, S16, U32, S32], &[F16]], SET),
    form(Opcode::Set, &[one(COMPARE), one(BOOL), opt(FTZ)], &[&[F16, U16, S16, U32, S32], &[F16]], SET_BOOL),
    form(Opcode::Set, &[one(COMPARE)], &[&[Bf16, U16, S16, U32, S32], &[Bf16]], SET),
    form(Opcode::Set, &[one(COMPARE), one(BOOL)], &[&[Bf16, U16, S16, U32, S32], &[Bf16]], SET_BOOL),
    form(Opcode::Set, &[one(COMPARE), opt(FTZ)], &[&[F16], &[F32]], SET),
    form(Opcode::Set, &[one(COMPARE), one(BOOL), opt(FTZ)], &[&[F16], &[F32]], SET_BOOL),
    form(Opcode::Set, &[one(COMPARE)], &[&[Bf16], &[F32]], SET),
    form(Opcode::Set, &[one(COMPARE), one(BOOL)], &[&[Bf16], &[F32]], SET_BOOL),
    form(Opcode::Set, &[one(COMPARE)], &[&[F16, Bf16], &[F64]], SET),
    form(Opcode::Set, &[one(COMPARE), one(BOOL)], &[&[F16, Bf16], &[F64]], SET_BOOL),
    form(Opcode::Set, &[one(COMPARE_BITS)], &[&[F16, Bf16], WORDS], SET),
    form(Opcode::Set, &[one(COMPARE_BITS), one(BOOL)], &[&[F16, Bf16], WORDS], SET_BOOL),
    form(Opcode::Set, &[one(COMPARE_SIGNED)], &[&[F16, Bf16], SIGNED], SET),
    form(Opcode::Set, &[one(COMPARE_SIGNED), one(BOOL)], &[&[F16, Bf16], SIGNED], SET_BOOL),
    form(Opcode::Set, &[one(COMPARE_UNSIGNED)], &[&[F16, Bf16], UNSIGNED], SET),
    form(Opcode::Set, &[one(COMPARE_UNSIGNED), one(BOOL)], &[&[F16, Bf16], UNSIGNED], SET_BOOL),
    form(Opcode::Set, &[one(COMPARE), opt(FTZ)], &[&[F16x2, U32, S32], &[F16x2]], SET),
    form(Opcode::Set, &[one(COMPARE), one(BOOL), opt(FTZ)], &[&[F16x2, U32, S32], &[F16x2]], SET_BOOL),
    form(Opcode::Set, &[one(COMPARE)], &[&[Bf16x2, U32, S32], &[Bf16x2]], SET),
    form(Opcode::Set, &[one(COMPARE), one(BOOL)], &[&[Bf16x2, U32, S32], &[Bf16x2]], SET_BOOL),
];
