//! The instruction table: state spaces, loads, stores, atomics, memory order, caches.

use super::Shape::{Address, Dest, DestAs, DestPred, DestVector, Immediate, Source, SourceAs, SourceVector};
use super::Type::{B8, B16, B32, B64, B128, Bf16, Bf16x2, F16, F16x2, F32, F64, S8, S16, S32, S64, U8, U16, U32, U64};
use super::{B32_64, Form, Group, INT32, Modifier as M, NOTHING, Opcode, Shape, Type, U32_64, form, one, opt};

const CLUSTER: &[M] = &[M::SharedCluster];
const SPACE: &[M] =
    &[M::Global, M::Shared, M::SharedCta, M::SharedCluster, M::Local, M::Const, M::Param, M::ParamEntry, M::ParamFunc];
const LOAD_SEM: &[M] = &[M::Weak, M::Volatile, M::Relaxed, M::Acquire];
const STORE_SEM: &[M] = &[M::Weak, M::Volatile, M::Relaxed, M::Release];
const SEM: &[M] = &[M::Relaxed, M::Acquire, M::Release, M::AcqRel];
const RED_SEM: &[M] = &[M::Relaxed, M::Release];
const SCOPE: &[M] = &[M::Cta, M::Cluster, M::Gpu, M::Sys];
const VECTOR: &[M] = &[M::V2, M::V4, M::V8];
const CACHE: &[M] = &[M::Ca, M::Cg, M::Cs, M::Lu, M::Cv, M::Wb, M::Wt];
const EVICT: &[M] = &[M::L1EvictNormal, M::L1EvictUnchanged, M::L1EvictFirst, M::L1EvictLast, M::L1NoAllocate];
const EVICT_L2: &[M] = &[M::L2EvictNormal, M::L2EvictLast];
const PREFETCH: &[M] = &[M::L2P64, M::L2P128, M::L2P256];
const MMIO: &[M] = &[M::Mmio];
const HINT: Group = one(&[M::L2CacheHint]);
const LOAD_HINT_SEM: &[M] = &[M::Weak, M::Relaxed, M::Acquire];
const STORE_HINT_SEM: &[M] = &[M::Weak, M::Relaxed, M::Release];
const PRIORITY: &[M] = &[M::L2EvictLast, M::L2EvictNormal, M::L2EvictFirst, M::L2EvictUnchanged];
const SECOND_PRIORITY: &[M] = &[M::L2EvictFirst, M::L2EvictUnchanged];
const FRACTION: &[Group] = &[one(&[M::Fractional]), one(PRIORITY), opt(SECOND_PRIORITY)];
const HINTED_UPDATE: &[Shape] = &[Dest(0), Address, Source(0), SourceAs(B64)];
const HINTED_REDUCE: &[Shape] = &[Address, Source(0), SourceAs(B64)];
const HINTED_UPDATE_VECTOR: &[Shape] = &[DestVector(0), Address, SourceVector(0), SourceAs(B64)];
const HINTED_REDUCE_VECTOR: &[Shape] = &[Address, SourceVector(0), SourceAs(B64)];
const MEMORY: &[Type] = &[B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64];
const SWAP: &[Shape] = &[Dest(0), Address, Source(0), Source(0)];
const UPDATE: &[Shape] = &[Dest(0), Address, Source(0)];
const REDUCE: &[Shape] = &[Address, Source(0)];
const UPDATE_VECTOR: &[Shape] = &[DestVector(0), Address, SourceVector(0)];
const REDUCE_VECTOR: &[Shape] = &[Address, SourceVector(0)];
const GLOBAL: &[M] = &[M::Global];
const PAIR_OR_FOUR: &[M] = &[M::V2, M::V4];
const ADDRESS: &[Shape] = &[Address];
const ADD: Group = one(&[M::Add]);
const ADD_MIN_MAX: Group = one(&[M::Add, M::Min, M::Max]);
const LOGIC: Group = one(&[M::And, M::Or, M::Xor]);
const INC_DEC: Group = one(&[M::Inc, M::Dec]);
const NOFTZ: Group = one(&[M::Noftz]);
const HALVES: &[Type] = &[F16, F16x2, Bf16, Bf16x2];
const FLOATS: &[Type] = &[F32, F64];

pub(super) static FORMS: &[Form] = &[
    form(Opcode::IsSpaceP, &[one(SPACE)], &[], &[DestPred, SourceAs(U64)]),
    form(
        Opcode::Ld,
        &[
            opt(MMIO),
            opt(LOAD_SEM),
            opt(SCOPE),
            opt(SPACE),
            opt(CACHE),
            opt(&[M::Nc]),
            opt(EVICT),
            opt(EVICT_L2),
            opt(PREFETCH),
            opt(VECTOR),
        ],
        &[MEMORY],
        &[DestVector(0), Address],
    ),
    form(
        Opcode::Ld,
        &[
            opt(MMIO),
            opt(LOAD_HINT_SEM),
            opt(SCOPE),
            opt(GLOBAL),
            opt(CACHE),
            opt(&[M::Nc]),
            opt(EVICT),
            opt(EVICT_L2),
            HINT,
            opt(PREFETCH),
            opt(VECTOR),
        ],
        &[MEMORY],
        &[DestVector(0), Address, SourceAs(B64)],
    ),
    form(Opcode::Ldu, &[opt(SPACE), opt(VECTOR)], &[MEMORY], &[DestVector(0), Address]),
    form(
        Opcode::St,
        &[opt(MMIO), opt(STORE_SEM), opt(SCOPE), opt(SPACE), opt(CACHE), opt(EVICT), opt(EVICT_L2), opt(VECTOR)],
        &[MEMORY],
        &[Address, SourceVector(0)],
    ),
    form(
        Opcode::St,
        &[
            opt(MMIO),
            opt(STORE_HINT_SEM),
            opt(SCOPE),
            opt(GLOBAL),
            opt(CACHE),
            opt(EVICT),
            opt(EVICT_L2),
            HINT,
            opt(VECTOR),
        ],
        &[MEMORY],
        &[Address, SourceVector(0), SourceAs(B64)],
    ),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(SPACE), one(&[M::Cas])], &[&[B16, B32, B64, B128]], SWAP),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(SPACE), one(&[M::Exch])], &[&[B32, B64, B128]], UPDATE),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(SPACE), LOGIC], &[B32_64], UPDATE),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(SPACE), ADD_MIN_MAX], &[INT32], UPDATE),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(SPACE), ADD], &[FLOATS], UPDATE),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(GLOBAL), ADD, one(PAIR_OR_FOUR)], &[&[F32]], UPDATE_VECTOR),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(SPACE), ADD, NOFTZ], &[HALVES], UPDATE),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(SPACE), INC_DEC], &[&[U32]], UPDATE),
    form(
        Opcode::Atom,
        &[opt(SEM), opt(SCOPE), opt(GLOBAL), one(&[M::Exch]), HINT],
        &[&[B32, B64, B128]],
        HINTED_UPDATE,
    ),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(GLOBAL), LOGIC, HINT], &[B32_64], HINTED_UPDATE),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(GLOBAL), ADD_MIN_MAX, HINT], &[INT32], HINTED_UPDATE),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(GLOBAL), ADD, HINT], &[FLOATS], HINTED_UPDATE),
    form(
        Opcode::Atom,
        &[opt(SEM), opt(SCOPE), opt(GLOBAL), ADD, HINT, one(PAIR_OR_FOUR)],
        &[&[F32]],
        HINTED_UPDATE_VECTOR,
    ),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(GLOBAL), ADD, NOFTZ, HINT], &[HALVES], HINTED_UPDATE),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(GLOBAL), INC_DEC, HINT], &[&[U32]], HINTED_UPDATE),
    form(Opcode::Red, &[opt(RED_SEM), opt(SCOPE), opt(SPACE), LOGIC], &[B32_64], REDUCE),
    form(Opcode::Red, &[opt(RED_SEM), opt(SCOPE), opt(SPACE), ADD_MIN_MAX], &[INT32], REDUCE),
    form(Opcode::Red, &[opt(RED_SEM), opt(SCOPE), opt(SPACE), ADD], &[FLOATS], REDUCE),
    form(Opcode::Red, &[opt(RED_SEM), opt(SCOPE), opt(GLOBAL), ADD, one(PAIR_OR_FOUR)], &[&[F32]], REDUCE_VECTOR),
    form(Opcode::Red, &[opt(RED_SEM), opt(SCOPE), opt(SPACE), ADD, NOFTZ], &[HALVES], REDUCE),
    form(Opcode::Red, &[opt(RED_SEM), opt(SCOPE), opt(SPACE), INC_DEC], &[&[U32]], REDUCE),
    form(Opcode::Red, &[opt(RED_SEM), opt(SCOPE), opt(GLOBAL), LOGIC, HINT], &[B32_64], HINTED_REDUCE),
    form(Opcode::Red, &[opt(RED_SEM), opt(SCOPE), opt(GLOBAL), ADD_MIN_MAX, HINT], &[INT32], HINTED_REDUCE),
    form(Opcode::Red, &[opt(RED_SEM), opt(SCOPE), opt(GLOBAL), ADD, HINT], &[FLOATS], HINTED_REDUCE),
    form(
        Opcode::Red,
        &[opt(RED_SEM), opt(SCOPE), opt(GLOBAL), ADD, HINT, one(PAIR_OR_FOUR)],
        &[&[F32]],
        HINTED_REDUCE_VECTOR,
    ),
    form(Opcode::Red, &[opt(RED_SEM), opt(SCOPE), opt(GLOBAL), ADD, NOFTZ, HINT], &[HALVES], HINTED_REDUCE),
    form(Opcode::Red, &[opt(RED_SEM), opt(SCOPE), opt(GLOBAL), INC_DEC, HINT], &[&[U32]], HINTED_REDUCE),
    form(Opcode::Fence, &[opt(&[M::Sc, M::AcqRel, M::Acquire, M::Release]), one(SCOPE)], &[], NOTHING),
    form(
        Opcode::Fence,
        &[one(&[M::Proxy]), one(&[M::Alias, M::Async]), opt(&[M::Global, M::Shared, M::SharedCta, M::SharedCluster])],
        &[],
        NOTHING,
    ),
    form(Opcode::Membar, &[one(&[M::Cta, M::Gl, M::Sys])], &[], NOTHING),
    form(Opcode::Membar, &[one(&[M::Proxy]), one(&[M::Alias])], &[], NOTHING),
    // Cache operations change no value.
    form(Opcode::Createpolicy, FRACTION, &[&[B64]], &[Dest(0)]),
    form(Opcode::Createpolicy, FRACTION, &[&[B64]], &[Dest(0), SourceAs(F32)]),
    form(
        Opcode::Createpolicy,
        &[one(&[M::Range]), opt(GLOBAL), one(PRIORITY), opt(SECOND_PRIORITY)],
        &[&[B64]],
        &[Dest(0), Address, SourceAs(U32), SourceAs(U32)],
    ),
    form(Opcode::Createpolicy, &[one(&[M::Cvt]), one(&[M::L2])], &[&[B64]], &[Dest(0), Source(0)]),
    form(Opcode::Prefetch, &[opt(&[M::Global, M::Local]), one(&[M::L1, M::L2])], &[], ADDRESS),
    form(Opcode::Prefetch, &[one(&[M::Global]), one(EVICT_L2)], &[], ADDRESS),
    form(Opcode::Prefetchu, &[one(&[M::L1])], &[], ADDRESS),
    form(Opcode::Applypriority, &[opt(&[M::Global]), one(&[M::L2EvictNormal])], &[], &[Address, Immediate]),
    form(Opcode::Discard, &[opt(&[M::Global]), one(&[M::L2])], &[], &[Address, Immediate]),
    form(Opcode::Cvta, &[opt(&[M::To]), opt(SPACE)], &[U32_64], &[Dest(0), Shape::Move]),
    // Distributed shared memory.
    form(Opcode::Mapa, &[one(CLUSTER)], &[U32_64], &[Dest(0), Shape::Move, SourceAs(U32)]),
    form(Opcode::Mapa, &[], &[&[U64]], &[Dest(0), Shape::Move, SourceAs(U32)]),
    form(Opcode::GetCtaRank, &[one(CLUSTER)], &[U32_64], &[DestAs(U32), Shape::Move]),
    form(Opcode::GetCtaRank, &[], &[&[U64]], &[DestAs(U32), Shape::Move]),
];
