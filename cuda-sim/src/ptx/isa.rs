//! The instruction table: the one description of every instruction that this device knows.
//!
//! A [`Form`] lists the modifiers, types and operand shapes that an opcode takes; the parser matches what was written
//! against the forms, the checker resolves operands by their shapes, and the code generator relies on both. An opcode
//! may have several forms. Modifiers are matched as sets, because LLVM and nvcc write them in different orders
//! (`atom.acq_rel.sys.global.cas` and `atom.global.sys.cas`). Not here: what an instruction computes.

mod convert;
mod copies;
mod float;
mod half;
mod integer;
mod matrix;
mod mbarrier;
mod memory;
mod targets;
mod video;
mod wmma;

use super::ast::{Suffix, Type, names};
use Modifier as M;
use Shape::{
    Dest, DestAs, DestPair, DestPred, DestVector, DestWide, Immediate, Label, Move, Source, SourceAs, SourcePred,
    SourceWide,
};
use Type::{B16, B32, B64, B128, F32, F64, Pred, S16, S32, S64, U16, U32, U64};
pub(crate) use matrix::{FROM_ROWS, TO_ROWS};
use once_cell::sync::Lazy;
pub(crate) use targets::{needs_letter, oldest_target};

names! {
    /// The stem of an instruction's name.
    Opcode {
        Addc = "addc", Applypriority = "applypriority", Bmsk = "bmsk", Brkpt = "brkpt", Device = "__device",
        Createpolicy = "createpolicy", Discard = "discard", Dp2a = "dp2a", Dp4a = "dp4a", Fns = "fns", Griddepcontrol = "griddepcontrol", Mad24 = "mad24", Madc = "madc",
        Mul24 = "mul24", Nanosleep = "nanosleep", Pmevent = "pmevent", Prefetch = "prefetch",
        Prefetchu = "prefetchu", Subc = "subc", Szext = "szext",
        Abs = "abs", Add = "add", And = "and", Atom = "atom", Bfe = "bfe", Bfi = "bfi", Bfind = "bfind", Bra = "bra",
        Brev = "brev", BrxIdx = "brx", Call = "call", Clz = "clz", CNot = "cnot", Copysign = "copysign", Cos = "cos",
        Cp = "cp", Cvt = "cvt", Cvta = "cvta", Div = "div", Ex2 = "ex2", Exit = "exit", Fence = "fence", Fma = "fma",
        IsSpaceP = "isspacep", Ld = "ld", Ldu = "ldu", Lg2 = "lg2", Lop3 = "lop3", Mad = "mad", Max = "max",
        Membar = "membar", Min = "min", Mov = "mov", Mul = "mul", Neg = "neg", Not = "not", Or = "or", Popc = "popc",
        Prmt = "prmt", Rcp = "rcp", Red = "red", Rem = "rem", Ret = "ret", Rsqrt = "rsqrt", Sad = "sad",
        Selp = "selp", Setmaxnreg = "setmaxnreg", Setp = "setp", Set = "set", Shf = "shf", Shl = "shl", Shr = "shr", Sin = "sin", Slct = "slct",
        Sqrt = "sqrt", St = "st", Sub = "sub", Tanh = "tanh", Testp = "testp", Trap = "trap", Xor = "xor",
        // Video.
        Vabsdiff = "vabsdiff", Vabsdiff2 = "vabsdiff2", Vabsdiff4 = "vabsdiff4", Vadd = "vadd", Vadd2 = "vadd2",
        Vadd4 = "vadd4", Vavrg2 = "vavrg2", Vavrg4 = "vavrg4", Vmad = "vmad", Vmax = "vmax", Vmax2 = "vmax2",
        Vmax4 = "vmax4", Vmin = "vmin", Vmin2 = "vmin2", Vmin4 = "vmin4", Vset = "vset", Vset2 = "vset2",
        Vset4 = "vset4", Vshl = "vshl", Vshr = "vshr", Vsub = "vsub", Vsub2 = "vsub2", Vsub4 = "vsub4",
        Mbarrier = "mbarrier",
        // Matrices.
        Ldmatrix = "ldmatrix", Mma = "mma", Movmatrix = "movmatrix", Stmatrix = "stmatrix", Wmma = "wmma",
        // Synchronisation.
        ActiveMask = "activemask", Bar = "bar", Barrier = "barrier", Elect = "elect", GetCtaRank = "getctarank",
        Mapa = "mapa", Match = "match", Redux = "redux", Shfl = "shfl", Vote = "vote",
    }
}

names! {
    /// A part of an instruction's name that is not a type.
    Modifier {
        Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", Rni = "rni", Rzi = "rzi", Rmi = "rmi", Rpi = "rpi",
        Ftz = "ftz", Sat = "sat", Lo = "lo", Hi = "hi", Wide = "wide", Approx = "approx", Full = "full", NaN = "NaN",
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge", Ls = "ls", Hs = "hs", Equ = "equ",
        Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu", Num = "num", Nan = "nan", And = "and",
        Or = "or", Xor = "xor", Global = "global", Shared = "shared", SharedCta = "shared::cta", Local = "local",
        Const = "const", Param = "param", ParamEntry = "param::entry", ParamFunc = "param::func",
        Weak = "weak", Volatile = "volatile", Relaxed = "relaxed", Acquire = "acquire", Release = "release",
        AcqRel = "acq_rel", Sc = "sc", Cta = "cta", Cluster = "cluster", Gpu = "gpu", Gl = "gl", Sys = "sys",
        V2 = "v2", V4 = "v4", V8 = "v8", Nc = "nc", Ca = "ca", Cg = "cg", Cs = "cs", Lu = "lu", Cv = "cv",
        Wb = "wb", Wt = "wt", L1EvictNormal = "L1::evict_normal", L1EvictUnchanged = "L1::evict_unchanged",
        L1EvictFirst = "L1::evict_first", L1EvictLast = "L1::evict_last", L1NoAllocate = "L1::no_allocate",
        L2P64 = "L2::64B", L2P128 = "L2::128B", L2P256 = "L2::256B",
        Cas = "cas", Exch = "exch", Add = "add", Inc = "inc", Dec = "dec", Min = "min", Max = "max",
        LaunchDependents = "launch_dependents", Mask = "mask", Fractional = "fractional", Range = "range", Cvt = "cvt", L2CacheHint = "L2::cache_hint",
        L2EvictFirst = "L2::evict_first", L2EvictUnchanged = "L2::evict_unchanged",
        Po = "po", Shr7 = "shr7", Shr15 = "shr15", Wrap = "wrap", Clamp = "clamp", L = "l", R = "r", Uni = "uni", To = "to", Idx = "idx",
        Shiftamt = "shiftamt", F4e = "f4e", B4e = "b4e", Rc8 = "rc8", Ecl = "ecl", Ecr = "ecr", Rc16 = "rc16",
        Abs = "abs", Alias = "alias", Assertfail = "assertfail", Async = "async", Cc = "cc", Free = "free",
        L1 = "L1", L2 = "L2", L2EvictLast = "L2::evict_last", L2EvictNormal = "L2::evict_normal", Malloc = "malloc",
        Mmio = "mmio", Noftz = "noftz", Pack = "pack", Printf = "printf", Proxy = "proxy", Relu = "relu", Rna = "rna",
        Satfinite = "satfinite", SharedCluster = "shared::cluster", Xorsign = "xorsign",
        Finite = "finite", Infinite = "infinite", Number = "number", Notanumber = "notanumber", Normal = "normal",
        Subnormal = "subnormal",
        // Copies.
        CommitGroup = "commit_group", WaitGroup = "wait_group", WaitAll = "wait_all",
        Mbarrier = "mbarrier", Noinc = "noinc", Bulk = "bulk", BulkGroup = "bulk_group", Read = "read",
        CompleteBytes = "mbarrier::complete_tx::bytes", MulticastCluster = "multicast::cluster", Prefetched = "prefetch",
        // Barriers in shared memory.
        Init = "init", Inval = "inval", ExpectTx = "expect_tx", CompleteTx = "complete_tx", ArriveDrop = "arrive_drop",
        NoComplete = "noComplete", TestWait = "test_wait", TryWait = "try_wait", Parity = "parity",
        PendingCount = "pending_count", MbarrierInit = "mbarrier_init",
        // Matrices.
        M8N8 = "m8n8", M8N8K4 = "m8n8k4", M8N8K16 = "m8n8k16", M8N8K32 = "m8n8k32", M8N8K128 = "m8n8k128",
        M16N8K4 = "m16n8k4", M16N8K8 = "m16n8k8", M16N8K16 = "m16n8k16", M16N8K32 = "m16n8k32", M16N8K64 = "m16n8k64",
        M16N16K8 = "m16n16k8", M16N16K16 = "m16n16k16", M8N32K16 = "m8n32k16", M32N8K16 = "m32n8k16", M16N8K128 = "m16n8k128", M16N8K256 = "m16n8k256", Row = "row", Col = "col", Trans = "trans", Load = "load", Store = "store", Mma = "mma", A = "a", B = "b", C = "c", D = "d", X1 = "x1",
        X2 = "x2", X4 = "x4",
        // Synchronisation.
        Sync = "sync", Arrive = "arrive", Wait = "wait", Aligned = "aligned", Warp = "warp", Red = "red", Popc = "popc", Up = "up",
        Down = "down", Bfly = "bfly", All = "all", Any = "any", Ballot = "ballot",
    }
}

/// What an operand may be. The number is the index of the type it has among the instruction's types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A register that is written.
    Dest(usize),
    /// A register of twice the width that is written.
    DestWide(usize),
    /// A register of this fixed type that is written.
    DestAs(Type),
    /// A predicate that is written, or a pair `p|q`.
    DestPred,
    /// A 32-bit register that is written, or a pair `d|p` of one and a predicate.
    DestPair,
    /// A predicate that is written, never a pair.
    DestOnePred,
    /// A pair of predicates `p|q` that is written.
    DestTwoPreds,
    /// A register, or a vector of them, that is written.
    DestVector(usize),
    /// A lane's registers of a matrix, which are written. The number tells which matrix of the instruction.
    DestMatrix(usize),
    /// A register or constant.
    Source(usize),
    /// A register or constant of twice the width.
    SourceWide(usize),
    /// A register or constant of this fixed type.
    SourceAs(Type),
    /// A predicate, possibly negated.
    SourcePred,
    /// A register, constant, or vector of them.
    SourceVector(usize),
    /// A lane's registers or constants of a matrix. The number tells which matrix of the instruction.
    SourceMatrix(usize),
    /// An integer written out.
    Immediate,
    /// The thread's carry flag, read without being written in the text.
    CarryIn,
    /// The thread's carry flag, set without being written in the text.
    CarryOut,
    /// The mask of the lanes that are active together, which no text has: votes and shuffles of older targets.
    ActiveLanes,
    /// The part or the lanes of an operand that are meant, as a number: the text has it behind the operand's name.
    Selector,
    /// `[base+offset]`
    Address,
    /// A label.
    Label,
    /// The source of a `mov`: anything with a value, the address of a variable, or a vector to pack.
    Move,
}

impl Shape {
    /// Whether the operand is part of what the instruction does and not of its text.
    pub fn is_implicit(self) -> bool {
        matches!(self, Shape::CarryIn | Shape::CarryOut | Shape::ActiveLanes | Shape::Selector)
    }

    /// Whether the operand is written.
    pub fn is_written(self) -> bool {
        matches!(
            self,
            Dest(_)
                | DestWide(_)
                | DestAs(_)
                | DestPred
                | DestPair
                | Shape::DestOnePred
                | Shape::DestTwoPreds
                | DestVector(_)
                | Shape::DestMatrix(_)
                | Shape::CarryOut
        )
    }
}

/// Modifiers of which an instruction takes at most one.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Whether one must be written.
    pub required: bool,
    /// The choices.
    pub choices: &'static [Modifier],
}

/// One form of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The opcode.
    pub opcode: Opcode,
    /// Groups of modifiers.
    pub groups: &'static [Group],
    /// The types that may be written, in order.
    pub types: &'static [&'static [Type]],
    /// Operands in order.
    pub operands: &'static [Shape],
}

const fn one(choices: &'static [Modifier]) -> Group {
    Group { required: true, choices }
}
const fn opt(choices: &'static [Modifier]) -> Group {
    Group { required: false, choices }
}

const FTZ: &[M] = &[M::Ftz];
const SAT: &[M] = &[M::Sat];
const COMPARE_BITS: &[M] = &[M::Eq, M::Ne];
const COMPARE_SIGNED: &[M] = &[M::Eq, M::Ne, M::Lt, M::Le, M::Gt, M::Ge];
const COMPARE_UNSIGNED: &[M] = &[M::Eq, M::Ne, M::Lt, M::Le, M::Gt, M::Ge, M::Lo, M::Ls, M::Hi, M::Hs];
const BOOL: &[M] = &[M::And, M::Or, M::Xor];
const UNI: &[M] = &[M::Uni];

const CTA: &[M] = &[M::Cta];
const SYNC: &[M] = &[M::Sync];
const ALIGNED: &[M] = &[M::Aligned];
const CLUSTER_ARRIVE: &[Group] = &[one(&[M::Cluster]), one(&[M::Arrive]), opt(&[M::Release, M::Relaxed]), opt(ALIGNED)];
const CLUSTER_WAIT: &[Group] = &[one(&[M::Cluster]), one(&[M::Wait]), opt(&[M::Acquire]), opt(ALIGNED)];
const BAR_POPC: &[Group] = &[opt(CTA), one(&[M::Red]), one(&[M::Popc]), opt(ALIGNED)];
const BAR_LOGIC: &[Group] = &[opt(CTA), one(&[M::Red]), one(&[M::And, M::Or]), opt(ALIGNED)];
const BAR_RED: &[Shape] = &[Dest(0), SourceAs(U32), SourcePred];
const BAR_RED_COUNT: &[Shape] = &[Dest(0), SourceAs(U32), SourceAs(U32), SourcePred];

const INT16: &[Type] = &[S16, S32, S64, U16, U32, U64];
const INT32: &[Type] = &[S32, S64, U32, U64];
const WORDS: &[Type] = &[B16, B32, B64];
const LOGIC: &[Type] = &[B16, B32, B64, Pred];
const SIGNED: &[Type] = &[S16, S32, S64];
const ONLY_F32: &[Type] = &[F32];
const MOVABLE: &[Type] = &[B16, B32, B64, B128, U16, U32, U64, S16, S32, S64, F32, F64, Pred];
const VALUES: &[Type] = &[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64];
const UNSIGNED: &[Type] = &[U16, U32, U64];
const B32_64: &[Type] = &[B32, B64];
const U32_64: &[Type] = &[U32, U64];
const SET_TO: &[Type] = &[U32, S32, F32];

const DSS: &[Shape] = &[Dest(0), Source(0), Source(0)];
const DSSS: &[Shape] = &[Dest(0), Source(0), Source(0), Source(0)];
const DS: &[Shape] = &[Dest(0), Source(0)];
const NOTHING: &[Shape] = &[];

const fn form(
    opcode: Opcode,
    groups: &'static [Group],
    types: &'static [&'static [Type]],
    operands: &'static [Shape],
) -> Form {
    Form { opcode, groups, types, operands }
}

/// Every form of every instruction, in tables by what the instructions work on.
pub static TABLES: &[&[Form]] = &[
    FORMS,
    integer::FORMS,
    float::FORMS,
    half::FORMS,
    convert::FORMS,
    memory::FORMS,
    copies::FORMS,
    mbarrier::FORMS,
    matrix::FORMS,
    wmma::MOVES,
    wmma::PRODUCTS,
    video::FORMS,
];

/// Integers, bits, movement and control.
static FORMS: &[Form] = &[
    // Integer and floating-point arithmetic.
    form(Opcode::Add, &[], &[INT16], DSS),
    form(Opcode::Add, &[one(SAT)], &[&[S32]], DSS),
    form(Opcode::Sub, &[], &[INT16], DSS),
    form(Opcode::Sub, &[one(SAT)], &[&[S32]], DSS),
    form(Opcode::Mul, &[one(&[M::Lo, M::Hi])], &[INT16], DSS),
    form(Opcode::Mul, &[one(&[M::Wide])], &[&[S16, S32, U16, U32]], &[DestWide(0), Source(0), Source(0)]),
    form(Opcode::Mad, &[one(&[M::Lo, M::Hi])], &[INT16], DSSS),
    form(Opcode::Mad, &[one(&[M::Hi]), one(SAT)], &[&[S32]], DSSS),
    form(
        Opcode::Mad,
        &[one(&[M::Wide])],
        &[&[S16, S32, U16, U32]],
        &[DestWide(0), Source(0), Source(0), SourceWide(0)],
    ),
    form(Opcode::Sad, &[], &[INT16], DSSS),
    form(Opcode::Div, &[], &[INT16], DSS),
    form(Opcode::Rem, &[], &[INT16], DSS),
    form(Opcode::Abs, &[], &[SIGNED], DS),
    form(Opcode::Neg, &[], &[SIGNED], DS),
    form(Opcode::Min, &[], &[INT16], DSS),
    form(Opcode::Max, &[], &[INT16], DSS),
    // Bits.
    form(Opcode::And, &[], &[LOGIC], DSS),
    form(Opcode::Or, &[], &[LOGIC], DSS),
    form(Opcode::Xor, &[], &[LOGIC], DSS),
    form(Opcode::Not, &[], &[LOGIC], DS),
    form(Opcode::CNot, &[], &[WORDS], DS),
    form(Opcode::Shl, &[], &[WORDS], &[Dest(0), Source(0), SourceAs(U32)]),
    form(Opcode::Shr, &[], &[&[B16, B32, B64, U16, U32, U64, S16, S32, S64]], &[Dest(0), Source(0), SourceAs(U32)]),
    form(
        Opcode::Shf,
        &[one(&[M::L, M::R]), one(&[M::Wrap, M::Clamp])],
        &[&[B32]],
        &[Dest(0), Source(0), Source(0), SourceAs(U32)],
    ),
    form(Opcode::Lop3, &[], &[&[B32]], &[Dest(0), Source(0), Source(0), Source(0), Immediate]),
    form(
        Opcode::Lop3,
        &[one(&[M::And, M::Or])],
        &[&[B32]],
        &[DestPair, Source(0), Source(0), Source(0), Immediate, SourcePred],
    ),
    form(
        Opcode::Prmt,
        &[opt(&[M::F4e, M::B4e, M::Rc8, M::Ecl, M::Ecr, M::Rc16])],
        &[&[B32]],
        &[Dest(0), Source(0), Source(0), SourceAs(U32)],
    ),
    form(Opcode::Popc, &[], &[B32_64], &[DestAs(U32), Source(0)]),
    form(Opcode::Clz, &[], &[B32_64], &[DestAs(U32), Source(0)]),
    form(Opcode::Brev, &[], &[B32_64], DS),
    form(Opcode::Bfind, &[opt(&[M::Shiftamt])], &[INT32], &[DestAs(U32), Source(0)]),
    form(Opcode::Bfe, &[], &[INT32], &[Dest(0), Source(0), SourceAs(U32), SourceAs(U32)]),
    form(Opcode::Bfi, &[], &[B32_64], &[Dest(0), Source(0), Source(0), SourceAs(U32), SourceAs(U32)]),
    // Comparison and choice.
    form(Opcode::Setp, &[one(COMPARE_BITS)], &[WORDS], float::TEST),
    form(Opcode::Setp, &[one(COMPARE_BITS), one(BOOL)], &[WORDS], float::TEST_BOOL),
    form(Opcode::Setp, &[one(COMPARE_SIGNED)], &[SIGNED], float::TEST),
    form(Opcode::Setp, &[one(COMPARE_SIGNED), one(BOOL)], &[SIGNED], float::TEST_BOOL),
    form(Opcode::Setp, &[one(COMPARE_UNSIGNED)], &[UNSIGNED], float::TEST),
    form(Opcode::Setp, &[one(COMPARE_UNSIGNED), one(BOOL)], &[UNSIGNED], float::TEST_BOOL),
    form(Opcode::Set, &[one(COMPARE_BITS)], &[SET_TO, WORDS], float::SET),
    form(Opcode::Set, &[one(COMPARE_BITS), one(BOOL)], &[SET_TO, WORDS], float::SET_BOOL),
    form(Opcode::Set, &[one(COMPARE_SIGNED)], &[SET_TO, SIGNED], float::SET),
    form(Opcode::Set, &[one(COMPARE_SIGNED), one(BOOL)], &[SET_TO, SIGNED], float::SET_BOOL),
    form(Opcode::Set, &[one(COMPARE_UNSIGNED)], &[SET_TO, UNSIGNED], float::SET),
    form(Opcode::Set, &[one(COMPARE_UNSIGNED), one(BOOL)], &[SET_TO, UNSIGNED], float::SET_BOOL),
    form(Opcode::Selp, &[], &[VALUES], &[Dest(0), Source(0), Source(0), SourcePred]),
    form(Opcode::Slct, &[], &[VALUES, &[S32]], &[Dest(0), Source(0), Source(0), Source(1)]),
    form(Opcode::Slct, &[opt(FTZ)], &[VALUES, ONLY_F32], &[Dest(0), Source(0), Source(0), Source(1)]),
    // Movement and conversion.
    form(Opcode::Mov, &[], &[MOVABLE], &[DestVector(0), Move]),
    form(Opcode::Mov, &[one(&[M::V2, M::V4])], &[VALUES], &[DestVector(0), Shape::SourceVector(0)]),
    // Synchronisation.
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
    form(Opcode::Barrier, CLUSTER_ARRIVE, &[], NOTHING),
    form(Opcode::Barrier, CLUSTER_WAIT, &[], NOTHING),
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
    form(
        Opcode::Shfl,
        &[one(&[M::Up, M::Down, M::Bfly, M::Idx])],
        &[&[B32]],
        &[DestPair, Source(0), SourceAs(U32), SourceAs(U32), Shape::ActiveLanes],
    ),
    form(Opcode::Vote, &[one(&[M::All, M::Any, M::Uni])], &[&[Pred]], &[Dest(0), SourcePred, Shape::ActiveLanes]),
    form(Opcode::Vote, &[one(&[M::Ballot])], &[&[B32]], &[Dest(0), SourcePred, Shape::ActiveLanes]),
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
    // Control.
    form(Opcode::Bra, &[opt(UNI)], &[], &[Label]),
    form(Opcode::BrxIdx, &[one(&[M::Idx]), opt(UNI)], &[], &[SourceAs(U32), Label]),
    form(Opcode::Call, &[opt(UNI)], &[], NOTHING),
    form(Opcode::Ret, &[opt(UNI)], &[], NOTHING),
    form(Opcode::Exit, &[], &[], NOTHING),
    form(Opcode::Trap, &[], &[], NOTHING),
    form(Opcode::Brkpt, &[], &[], NOTHING),
    form(Opcode::Nanosleep, &[], &[&[U32]], &[Source(0)]),
    form(Opcode::Setmaxnreg, &[one(&[M::Inc, M::Dec]), one(SYNC), one(ALIGNED)], &[&[U32]], &[Immediate]),
    form(Opcode::Pmevent, &[], &[], &[Immediate]),
    form(Opcode::Pmevent, &[one(&[M::Mask])], &[], &[Immediate]),
    // A grid begins when those that it depends on have ended.
    form(Opcode::Griddepcontrol, &[one(&[M::Wait, M::LaunchDependents])], &[], NOTHING),
];

/// Stems that PTX has and this device does not run yet; they are refused by name, never skipped.
pub static UNSUPPORTED: &[&str] = &[
    "alloca",
    "clusterlaunchcontrol",
    "istypep",
    "multimem",
    "set.pred",
    "st.async",
    "stackrestore",
    "stacksave",
    "suld",
    "suq",
    "sured",
    "sust",
    "tcgen05",
    "tensormap",
    "tex",
    "tld4",
    "txq",
    "wgmma",
];

/// The forms of an opcode.
///
/// # Examples
///
/// ```
/// use cuda_sim::ptx::{Opcode, isa};
/// assert!(isa::forms(Opcode::Add).count() >= 2);
/// ```
pub fn forms(opcode: Opcode) -> impl Iterator<Item = &'static Form> {
    static INDEX: Lazy<Vec<Vec<&'static Form>>> = Lazy::new(|| {
        let mut index = Vec::new();
        for form in TABLES.iter().copied().flatten() {
            let at = form.opcode as usize;
            index.resize_with(index.len().max(at + 1), Vec::new);
            index[at].push(form);
        }
        index
    });
    INDEX.get(opcode as usize).into_iter().flatten().copied()
}

impl Form {
    /// The shapes of the operands that the text gives.
    pub(crate) fn written(&self) -> impl Iterator<Item = Shape> {
        self.operands.iter().copied().filter(|shape| !shape.is_implicit())
    }

    /// Returns the number of written modifiers that this form knows.
    pub(crate) fn known(&self, suffixes: &[Suffix]) -> usize {
        let knows = |m: &M| self.groups.iter().any(|group| group.choices.contains(m));
        suffixes.iter().filter(|suffix| matches!(suffix, Suffix::Modifier(m) if knows(m))).count()
    }

    /// Whether the written suffixes fit this form.
    ///
    /// # Errors
    ///
    /// Says which suffix does not fit, or what is missing.
    pub fn matches(&self, suffixes: &[Suffix]) -> Result<(), String> {
        let mut used = 0u32;
        let mut types = 0;
        for suffix in suffixes {
            match *suffix {
                Suffix::Type(ty) => {
                    let allowed = self.types.get(types).ok_or_else(|| format!("one type too many, .{}", ty.name()))?;
                    if !allowed.contains(&ty) {
                        return Err(format!("the type .{} is not one that it takes", ty.name()));
                    }
                    types += 1;
                }
                Suffix::Modifier(modifier) => {
                    let free = |(i, group): (usize, &Group)| {
                        (used & (1 << i) == 0 && group.choices.contains(&modifier)).then_some(i)
                    };
                    let group = self.groups.iter().enumerate().find_map(free);
                    let index = group.ok_or_else(|| format!("the modifier .{} does not fit", modifier.name()))?;
                    used |= 1 << index;
                }
            }
        }
        if types != self.types.len() {
            return Err(format!("it needs {} type(s), {types} written", self.types.len()));
        }
        match self.groups.iter().enumerate().find(|(i, group)| group.required && used & (1 << i) == 0) {
            Some((_, group)) => {
                let names: Vec<_> = group.choices.iter().map(|m| format!(".{}", m.name())).collect();
                Err(format!("one of {} is missing", names.join(" ")))
            }
            None => Ok(()),
        }
    }
}
