//! The instruction table: `mbarrier`, barriers in shared memory that count arrivals and bytes.

use super::Shape::{Address, Dest, DestAs, DestOnePred, SourceAs};
use super::Type::{B64, U32};
use super::{Form, Group, Modifier as M, NOTHING, Opcode, Shape, Type, form, one, opt};

const OWN: Group = opt(&[M::Shared, M::SharedCta]);
const ANY: Group = opt(&[M::Shared, M::SharedCta, M::SharedCluster]);
const SCOPE: Group = one(&[M::Cta, M::Cluster]);
const RELEASE: Group = one(&[M::Release, M::Relaxed]);
const ACQUIRE: Group = one(&[M::Acquire, M::Relaxed]);
const RELAXED: Group = one(&[M::Relaxed]);
const PLAIN: Group = one(&[M::Release]);
const CTA: Group = one(&[M::Cta]);
const ARRIVE: Group = one(&[M::Arrive, M::ArriveDrop]);
const EXPECT: Group = one(&[M::ExpectTx]);
const COMPLETE: Group = one(&[M::CompleteTx]);
const HELD: Group = one(&[M::NoComplete]);
const TEST: Group = one(&[M::TestWait]);
const TRY: Group = one(&[M::TryWait]);
const PARITY: Group = one(&[M::Parity]);
const WORD: &[&[Type]] = &[&[B64]];

const COUNTED: &[Shape] = &[Address, SourceAs(U32)];
const STATE: &[Shape] = &[Dest(0), Address];
const STATE_COUNTED: &[Shape] = &[Dest(0), Address, SourceAs(U32)];
const BY_STATE: &[Shape] = &[DestOnePred, Address, SourceAs(B64)];
const BY_STATE_TIMED: &[Shape] = &[DestOnePred, Address, SourceAs(B64), SourceAs(U32)];
const BY_PARITY: &[Shape] = &[DestOnePred, Address, SourceAs(U32)];
const BY_PARITY_TIMED: &[Shape] = &[DestOnePred, Address, SourceAs(U32), SourceAs(U32)];

const fn barrier(groups: &'static [Group], operands: &'static [Shape]) -> Form {
    form(Opcode::Mbarrier, groups, WORD, operands)
}

pub(super) static FORMS: &[Form] = &[
    barrier(&[one(&[M::Init]), OWN], COUNTED),
    barrier(&[one(&[M::Inval]), OWN], &[Address]),
    // With both a memory order and a scope, or with neither.
    barrier(&[EXPECT, ANY], COUNTED),
    barrier(&[EXPECT, RELAXED, SCOPE, ANY], COUNTED),
    barrier(&[COMPLETE, ANY], COUNTED),
    barrier(&[COMPLETE, RELAXED, SCOPE, ANY], COUNTED),
    barrier(&[ARRIVE, ANY], STATE),
    barrier(&[ARRIVE, RELEASE, SCOPE, ANY], STATE),
    barrier(&[ARRIVE, ANY], STATE_COUNTED),
    barrier(&[ARRIVE, RELEASE, SCOPE, ANY], STATE_COUNTED),
    barrier(&[ARRIVE, EXPECT, ANY], STATE_COUNTED),
    barrier(&[ARRIVE, EXPECT, RELEASE, SCOPE, ANY], STATE_COUNTED),
    barrier(&[ARRIVE, HELD, OWN], STATE_COUNTED),
    barrier(&[ARRIVE, HELD, PLAIN, CTA, OWN], STATE_COUNTED),
    barrier(&[TEST, OWN], BY_STATE),
    barrier(&[TEST, ACQUIRE, SCOPE, OWN], BY_STATE),
    barrier(&[TEST, PARITY, OWN], BY_PARITY),
    barrier(&[TEST, PARITY, ACQUIRE, SCOPE, OWN], BY_PARITY),
    barrier(&[TRY, OWN], BY_STATE),
    barrier(&[TRY, ACQUIRE, SCOPE, OWN], BY_STATE),
    barrier(&[TRY, PARITY, OWN], BY_PARITY),
    barrier(&[TRY, PARITY, ACQUIRE, SCOPE, OWN], BY_PARITY),
    barrier(&[TRY, OWN], BY_STATE_TIMED),
    barrier(&[TRY, ACQUIRE, SCOPE, OWN], BY_STATE_TIMED),
    barrier(&[TRY, PARITY, OWN], BY_PARITY_TIMED),
    barrier(&[TRY, PARITY, ACQUIRE, SCOPE, OWN], BY_PARITY_TIMED),
    barrier(&[one(&[M::PendingCount])], &[DestAs(U32), SourceAs(B64)]),
    form(Opcode::Fence, &[one(&[M::MbarrierInit]), PLAIN, one(&[M::Cluster])], &[], NOTHING),
];
