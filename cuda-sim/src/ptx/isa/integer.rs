//! The instruction table: carries, 24-bit products, dot products, packed halves, bit fields.

use super::Shape::{CarryIn, CarryOut, Dest, DestAs, Source, SourceAs};
use super::Type::{B32, S16x2, S32, S64, U16x2, U32, U64};
use super::{DSS, DSSS, Form, INT32, Modifier as M, Opcode, SAT, Shape, Type, form, one};

const CC: &[M] = &[M::Cc];
const WORDS32: &[Type] = &[U32, S32];
const PACKED: &[Type] = &[U16x2, S16x2];
const ADD_OUT: &[Shape] = &[Dest(0), Source(0), Source(0), CarryOut];
const ADD_IN: &[Shape] = &[Dest(0), Source(0), Source(0), CarryIn];
const ADD_BOTH: &[Shape] = &[Dest(0), Source(0), Source(0), CarryIn, CarryOut];
const MAD_OUT: &[Shape] = &[Dest(0), Source(0), Source(0), Source(0), CarryOut];
const MAD_IN: &[Shape] = &[Dest(0), Source(0), Source(0), Source(0), CarryIn];
const MAD_BOTH: &[Shape] = &[Dest(0), Source(0), Source(0), Source(0), CarryIn, CarryOut];
const DOT: &[Shape] = &[Dest(0), Source(0), Source(1), SourceAs(B32)];
const HALF: &[M] = &[M::Lo, M::Hi];
const WRAP: &[M] = &[M::Clamp, M::Wrap];

pub(super) static FORMS: &[Form] = &[
    form(Opcode::Add, &[one(CC)], &[INT32], ADD_OUT),
    form(Opcode::Addc, &[], &[INT32], ADD_IN),
    form(Opcode::Addc, &[one(CC)], &[INT32], ADD_BOTH),
    form(Opcode::Sub, &[one(CC)], &[INT32], ADD_OUT),
    form(Opcode::Subc, &[], &[INT32], ADD_IN),
    form(Opcode::Subc, &[one(CC)], &[INT32], ADD_BOTH),
    form(Opcode::Mad, &[one(HALF), one(CC)], &[INT32], MAD_OUT),
    form(Opcode::Madc, &[one(HALF)], &[INT32], MAD_IN),
    form(Opcode::Madc, &[one(HALF), one(CC)], &[INT32], MAD_BOTH),
    form(Opcode::Mul24, &[one(HALF)], &[WORDS32], DSS),
    form(Opcode::Mad24, &[one(HALF)], &[WORDS32], DSSS),
    form(Opcode::Mad24, &[one(&[M::Hi]), one(SAT)], &[&[S32]], DSSS),
    form(Opcode::Add, &[], &[PACKED], DSS),
    form(Opcode::Min, &[], &[PACKED], DSS),
    form(Opcode::Max, &[], &[PACKED], DSS),
    form(Opcode::Min, &[one(&[M::Relu])], &[&[S32, S16x2]], DSS),
    form(Opcode::Max, &[one(&[M::Relu])], &[&[S32, S16x2]], DSS),
    form(Opcode::Dp4a, &[], &[WORDS32, WORDS32], DOT),
    form(Opcode::Dp2a, &[one(HALF)], &[WORDS32, WORDS32], DOT),
    form(Opcode::Fns, &[], &[&[B32]], &[DestAs(U32), SourceAs(U32), SourceAs(U32), SourceAs(S32)]),
    form(Opcode::Bmsk, &[one(WRAP)], &[&[B32]], &[DestAs(B32), SourceAs(U32), SourceAs(U32)]),
    form(Opcode::Szext, &[one(WRAP)], &[WORDS32], &[Dest(0), Source(0), SourceAs(U32)]),
    // The operations that the device library is written in; programs may not use them.
    form(Opcode::Device, &[one(&[M::Printf])], &[], &[DestAs(S32), SourceAs(U64), SourceAs(U64)]),
    form(Opcode::Device, &[one(&[M::Assertfail])], &[], &[SourceAs(U64), SourceAs(U64), SourceAs(U32), SourceAs(U64)]),
    form(Opcode::Device, &[one(&[M::Malloc])], &[], &[DestAs(S64), SourceAs(U64)]),
    form(Opcode::Device, &[one(&[M::Free])], &[], &[SourceAs(U64)]),
];
