//! The instruction table: `cvt`, whose modifiers depend on both of its types.

use super::Shape::{Dest, DestAs, Source, SourceAs};
use super::Type::{B32, S8, S16, S32, S64, U8, U16, U32, U64};
use super::Type::{Bf16, Bf16x2, E4m3x2, E5m2x2, F16, F16x2, F32, F64, Tf32, Ue8m0x2};
use super::float::RND;
use super::{FTZ, Form, Group, Modifier as M, Opcode, SAT, Shape, Type, form, one, opt};

const INTEGRAL: &[M] = &[M::Rni, M::Rzi, M::Rmi, M::Rpi];
const NEAR: &[M] = &[M::Rn, M::Rz];
const OUTWARD: &[M] = &[M::Rz, M::Rp];
const RELU: &[M] = &[M::Relu];
const FINITE: &[M] = &[M::Satfinite];
const INTEGERS: &[Type] = &[U8, U16, U32, U64, S8, S16, S32, S64];
const S: &[Type] = &[F32];
const D: &[Type] = &[F64];
const H: &[Type] = &[F16];
const B: &[Type] = &[Bf16];
const FROM: &[Shape] = &[Dest(0), Source(1)];
const FROM_TWO: &[Shape] = &[Dest(0), Source(1), Source(1)];
const SAT_ONLY: &[Group] = &[one(SAT)];
const SATURATED: &[Group] = &[opt(SAT)];
const TO_PACK: &[Group] = &[one(&[M::Pack]), one(SAT)];

const fn cvt(groups: &'static [Group], types: &'static [&'static [Type]]) -> Form {
    form(Opcode::Cvt, groups, types, FROM)
}

pub(super) static FORMS: &[Form] = &[
    cvt(&[], &[INTEGERS, INTEGERS]),
    // `.sat` if the destination cannot represent all values of the source.
    cvt(SAT_ONLY, &[&[U8], &[U16, U32, U64, S8, S16, S32, S64]]),
    cvt(SAT_ONLY, &[&[S8], &[U8, U16, U32, U64, S16, S32, S64]]),
    cvt(SAT_ONLY, &[&[U16], &[U32, U64, S8, S16, S32, S64]]),
    cvt(SAT_ONLY, &[&[S16], &[U16, U32, U64, S32, S64]]),
    cvt(SAT_ONLY, &[&[U32], &[U64, S8, S16, S32, S64]]),
    cvt(SAT_ONLY, &[&[S32], &[U32, U64, S64]]),
    cvt(SAT_ONLY, &[&[U64], &[S8, S16, S32, S64]]),
    cvt(SAT_ONLY, &[&[S64], &[U64]]),
    cvt(&[one(INTEGRAL), opt(FTZ), opt(SAT)], &[INTEGERS, S]),
    cvt(&[one(INTEGRAL), opt(SAT)], &[INTEGERS, &[F16, F64]]),
    cvt(&[one(INTEGRAL)], &[INTEGERS, B]),
    cvt(&[one(RND), opt(FTZ), opt(SAT)], &[S, INTEGERS]),
    cvt(&[one(RND), opt(SAT)], &[&[F16, F64], INTEGERS]),
    cvt(&[one(RND)], &[B, INTEGERS]),
    cvt(&[opt(INTEGRAL), opt(FTZ), opt(SAT)], &[S, S]),
    cvt(&[opt(INTEGRAL), opt(SAT)], &[D, D]),
    cvt(&[opt(INTEGRAL), opt(SAT)], &[H, H]),
    cvt(&[opt(INTEGRAL)], &[B, B]),
    cvt(&[one(RND), opt(FTZ), opt(SAT)], &[S, D]),
    cvt(&[opt(FTZ), opt(SAT)], &[D, S]),
    cvt(&[one(RND), opt(FTZ), opt(SAT)], &[H, S]),
    cvt(&[one(NEAR), one(RELU)], &[&[F16, Bf16], S]),
    cvt(&[opt(FTZ), opt(SAT)], &[S, H]),
    cvt(&[opt(FTZ)], &[S, B]),
    cvt(&[one(RND), opt(SAT)], &[H, D]),
    cvt(SATURATED, &[D, H]),
    cvt(&[], &[D, B]),
    cvt(&[one(RND)], &[B, &[F16, F32, F64]]),
    cvt(&[one(RND)], &[H, B]),
    // Conversions of two values, and formats for tensor cores.
    form(Opcode::Cvt, &[one(NEAR), opt(RELU)], &[&[F16x2, Bf16x2], S], FROM_TWO),
    form(Opcode::Cvt, &[one(&[M::Rn]), one(FINITE), opt(RELU)], &[&[E4m3x2, E5m2x2], S], FROM_TWO),
    cvt(&[one(&[M::Rn]), one(FINITE), opt(RELU)], &[&[E4m3x2, E5m2x2], &[F16x2]]),
    cvt(&[one(&[M::Rn]), opt(RELU)], &[&[F16x2], &[E4m3x2, E5m2x2]]),
    form(Opcode::Cvt, &[one(OUTWARD), opt(FINITE)], &[&[Ue8m0x2], S], FROM_TWO),
    cvt(&[one(OUTWARD), opt(FINITE)], &[&[Ue8m0x2], &[Bf16x2]]),
    cvt(&[one(&[M::Rn])], &[&[Bf16x2], &[Ue8m0x2]]),
    cvt(&[one(&[M::Rna])], &[&[Tf32], S]),
    cvt(&[one(NEAR), opt(RELU)], &[&[Tf32], S]),
    form(Opcode::Cvt, TO_PACK, &[&[U16, S16], &[S32]], &[DestAs(B32), Source(1), Source(1)]),
    form(Opcode::Cvt, TO_PACK, &[&[U8, S8], &[S32], &[B32]], &[DestAs(B32), Source(1), Source(1), SourceAs(B32)]),
];
