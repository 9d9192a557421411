//! The instruction table: barriers, and what the threads of a warp do together.

use super::Shape::{Dest, DestAs, DestPair, Source, SourceAs, SourcePred};
use super::Type::{B32, Pred, S32, U32};
use super::{B32_64, BOOL, Form, Group, Modifier as M, Opcode, Shape, form, one, opt};

const CTA: &[M] = &[M::Cta];
const SYNC: &[M] = &[M::Sync];
const ALIGNED: &[M] = &[M::Aligned];
const BAR_POPC: &[Group] = &[opt(CTA), one(&[M::Red]), one(&[M::Popc]), opt(ALIGNED)];
const BAR_LOGIC: &[Group] = &[opt(CTA), one(&[M::Red]), one(&[M::And, M::Or]), opt(ALIGNED)];
const BAR_RED: &[Shape] = &[Dest(0), SourceAs(U32), SourcePred];
const BAR_RED_COUNT: &[Shape] = &[Dest(0), SourceAs(U32), SourceAs(U32), SourcePred];

pub(super) static FORMS: &[Form] = &[
    form(Opcode::Bar, &[opt(CTA), one(SYNC), opt(ALIGNED)], &[], &[SourceAs(U32)]),
    form(Opcode::Bar, &[opt(CTA), one(SYNC), opt(ALIGNED)], &[], &[SourceAs(U32), SourceAs(U32)]),
    form(Opcode::Bar, &[opt(CTA), one(&[M::Arrive]), opt(ALIGNED)], &[], &[SourceAs(U32), SourceAs(U32)]),
    form(Opcode::Bar, BAR_POPC, &[&[U32]], BAR_RED),
    form(Opcode::Bar, BAR_POPC, &[&[U32]], BAR_RED_COUNT),
    form(Opcode::Bar, BAR_LOGIC, &[&[Pred]], BAR_RED),
    form(Opcode::Bar, BAR_LOGIC, &[&[Pred]], BAR_RED_COUNT),
    form(Opcode::Bar, &[one(&[M::Warp]), one(SYNC)], &[], &[SourceAs(B32)]),
    form(Opcode::Barrier, &[opt(CTA), one(SYNC), opt(ALIGNED)], &[], &[SourceAs(U32)]),
    form(Opcode::Barrier, &[opt(CTA), one(SYNC), opt(ALIGNED)], &[], &[SourceAs(U32), SourceAs(U32)]),
    form(Opcode::Barrier, &[opt(CTA), one(&[M::Arrive]), opt(ALIGNED)], &[], &[SourceAs(U32), SourceAs(U32)]),
    form(Opcode::Barrier, BAR_POPC, &[&[U32]], BAR_RED),
    form(Opcode::Barrier, BAR_POPC, &[&[U32]], BAR_RED_COUNT),
    form(Opcode::Barrier, BAR_LOGIC, &[&[Pred]], BAR_RED),
    form(Opcode::Barrier, BAR_LOGIC, &[&[Pred]], BAR_RED_COUNT),
    form(
        Opcode::Shfl,
        &[one(SYNC), one(&[M::Up, M::Down, M::Bfly, M::Idx])],
        &[&[B32]],
        &[DestPair, Source(0), SourceAs(U32), SourceAs(U32), SourceAs(B32)],
    ),
    form(Opcode::Vote, &[one(SYNC), one(&[M::All, M::Any, M::Uni])], &[&[Pred]], &[Dest(0), SourcePred, SourceAs(B32)]),
    form(Opcode::Vote, &[one(SYNC), one(&[M::Ballot])], &[&[B32]], &[Dest(0), SourcePred, SourceAs(B32)]),
    form(Opcode::Match, &[one(SYNC), one(&[M::Any])], &[B32_64], &[DestAs(B32), Source(0), SourceAs(B32)]),
    form(Opcode::Match, &[one(SYNC), one(&[M::All])], &[B32_64], &[DestPair, Source(0), SourceAs(B32)]),
    form(
        Opcode::Redux,
        &[one(SYNC), one(&[M::Add, M::Min, M::Max])],
        &[&[U32, S32]],
        &[Dest(0), Source(0), SourceAs(B32)],
    ),
    form(Opcode::Redux, &[one(SYNC), one(BOOL)], &[&[B32]], &[Dest(0), Source(0), SourceAs(B32)]),
    form(Opcode::ActiveMask, &[], &[&[B32]], &[Dest(0)]),
    form(Opcode::Elect, &[one(SYNC)], &[], &[DestPair, SourceAs(B32)]),
];
