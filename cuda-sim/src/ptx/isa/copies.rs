//! The instruction table: asynchronous copies between global and shared memory.

use super::Shape::{Address, Immediate, Source, SourceAs, SourcePred, SourceVector};
use super::Type::{B16, B32, B64, F32, F64, S32, S64, U32, U64};
use super::{Form, Group, Modifier as M, NOTHING, Opcode, Shape, Type, form, one, opt};

const ASYNC: Group = one(&[M::Async]);
const TO: Group = one(&[M::Shared, M::SharedCta]);
const FROM: Group = one(&[M::Global]);
const CACHE: Group = one(&[M::Ca, M::Cg]);
const HINT: Group = one(&[M::L2CacheHint]);
const PREFETCH: Group = opt(&[M::L2P64, M::L2P128, M::L2P256]);
const COPY: &[Group] = &[ASYNC, CACHE, TO, FROM, PREFETCH];
const HINTED: &[Group] = &[ASYNC, CACHE, TO, FROM, HINT, PREFETCH];
const WHOLE: &[Shape] = &[Address, Address, Immediate];
const PARTLY: &[Shape] = &[Address, Address, Immediate, SourceAs(U32)];
const UNLESS: &[Shape] = &[Address, Address, Immediate, SourcePred];

// Bulk copies.
const BULK: Group = one(&[M::Bulk]);
const TELLS: Group = one(&[M::CompleteBytes]);
const WIDE: Group = one(&[M::SharedCluster, M::SharedCta]);
const CLUSTER: Group = one(&[M::SharedCluster]);
const OWN: Group = one(&[M::SharedCta]);
const MANY: Group = one(&[M::MulticastCluster]);
const OF_GROUP: Group = one(&[M::BulkGroup]);
const BYTES: &[Shape] = &[Address, Address, SourceAs(U32), Address];

// Stores and reductions that signal their bytes.
const ANY_SHARED: Group = opt(&[M::SharedCluster, M::SharedCta]);
const WEAK: Group = opt(&[M::Weak]);
const RELAXED: Group = one(&[M::Relaxed]);
const IN_CLUSTER: Group = one(&[M::Cluster]);
const SIGNALLED: &[Shape] = &[Address, SourceVector(0), Address];
const REDUCED: &[Shape] = &[Address, Source(0), Address];

const fn reduction(operation: &'static [Group], types: &'static [&'static [Type]]) -> Form {
    form(Opcode::Red, operation, types, REDUCED)
}

pub(super) static FORMS: &[Form] = &[
    form(Opcode::Cp, COPY, &[], WHOLE),
    form(Opcode::Cp, COPY, &[], PARTLY),
    form(Opcode::Cp, COPY, &[], UNLESS),
    form(Opcode::Cp, HINTED, &[], &[Address, Address, Immediate, SourceAs(B64)]),
    form(Opcode::Cp, HINTED, &[], &[Address, Address, Immediate, SourceAs(U32), SourceAs(B64)]),
    form(Opcode::Cp, HINTED, &[], &[Address, Address, Immediate, SourcePred, SourceAs(B64)]),
    form(Opcode::Cp, &[ASYNC, one(&[M::CommitGroup])], &[], NOTHING),
    form(Opcode::Cp, &[ASYNC, one(&[M::WaitGroup])], &[], &[Immediate]),
    form(Opcode::Cp, &[ASYNC, one(&[M::WaitAll])], &[], NOTHING),
    form(
        Opcode::Cp,
        &[ASYNC, one(&[M::Mbarrier]), one(&[M::Arrive]), opt(&[M::Noinc]), opt(&[M::Shared, M::SharedCta])],
        &[&[B64]],
        &[Address],
    ),
    form(Opcode::Cp, &[ASYNC, BULK, WIDE, FROM, TELLS], &[], BYTES),
    form(
        Opcode::Cp,
        &[ASYNC, BULK, WIDE, FROM, TELLS, HINT],
        &[],
        &[Address, Address, SourceAs(U32), Address, SourceAs(B64)],
    ),
    form(
        Opcode::Cp,
        &[ASYNC, BULK, CLUSTER, FROM, TELLS, MANY],
        &[],
        &[Address, Address, SourceAs(U32), Address, SourceAs(B16)],
    ),
    form(
        Opcode::Cp,
        &[ASYNC, BULK, CLUSTER, FROM, TELLS, MANY, HINT],
        &[],
        &[Address, Address, SourceAs(U32), Address, SourceAs(B16), SourceAs(B64)],
    ),
    form(Opcode::Cp, &[ASYNC, BULK, CLUSTER, OWN, TELLS], &[], BYTES),
    form(Opcode::Cp, &[ASYNC, BULK, FROM, OWN, OF_GROUP], &[], &[Address, Address, SourceAs(U32)]),
    form(Opcode::Cp, &[ASYNC, BULK, FROM, OWN, OF_GROUP, HINT], &[], &[Address, Address, SourceAs(U32), SourceAs(B64)]),
    form(Opcode::Cp, &[ASYNC, BULK, one(&[M::CommitGroup])], &[], NOTHING),
    form(Opcode::Cp, &[ASYNC, BULK, one(&[M::WaitGroup]), opt(&[M::Read])], &[], &[Immediate]),
    form(Opcode::Cp, &[ASYNC, BULK, one(&[M::Prefetched]), one(&[M::L2]), FROM], &[], &[Address, SourceAs(U32)]),
    form(
        Opcode::Cp,
        &[ASYNC, BULK, one(&[M::Prefetched]), one(&[M::L2]), FROM, HINT],
        &[],
        &[Address, SourceAs(U32), SourceAs(B64)],
    ),
    form(Opcode::St, &[ASYNC, WEAK, ANY_SHARED, TELLS], &[&[B32, B64, U32, U64, S32, S64, F32, F64]], SIGNALLED),
    form(
        Opcode::St,
        &[ASYNC, WEAK, ANY_SHARED, TELLS, one(&[M::V2])],
        &[&[B32, B64, U32, U64, S32, S64, F32, F64]],
        SIGNALLED,
    ),
    form(Opcode::St, &[ASYNC, WEAK, ANY_SHARED, TELLS, one(&[M::V4])], &[&[B32, U32, S32, F32]], SIGNALLED),
    reduction(&[ASYNC, RELAXED, IN_CLUSTER, ANY_SHARED, TELLS, one(&[M::Inc, M::Dec])], &[&[U32]]),
    reduction(&[ASYNC, RELAXED, IN_CLUSTER, ANY_SHARED, TELLS, one(&[M::Min, M::Max])], &[&[U32, S32]]),
    reduction(&[ASYNC, RELAXED, IN_CLUSTER, ANY_SHARED, TELLS, one(&[M::Add])], &[&[U32, S32, U64]]),
    reduction(&[ASYNC, RELAXED, IN_CLUSTER, ANY_SHARED, TELLS, one(&[M::And, M::Or, M::Xor])], &[&[B32]]),
];
