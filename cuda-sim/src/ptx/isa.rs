//! The instruction table: the one description of every instruction that this device knows.
//!
//! A [`Form`] lists the modifiers, types and operand shapes that an opcode takes; the parser matches what was written
//! against the forms, the checker resolves operands by their shapes, and the code generator relies on both. An opcode
//! may have several forms. Modifiers are matched as sets, because LLVM and nvcc write them in different orders
//! (`atom.acq_rel.sys.global.cas` and `atom.global.sys.cas`). Not here: what an instruction computes.

use super::ast::{Suffix, Type, names};
use Modifier as M;
use Shape::{
    Address, Dest, DestAs, DestPair, DestPred, DestVector, DestWide, Label, Source, SourceAs, SourcePred, SourceVector,
};
use Shape::{Move, SourceWide};
use Type::{B8, B16, B32, B64, B128, F32, F64, Pred, S8, S16, S32, S64, U8, U16, U32, U64};

names! {
    /// The stem of an instruction's name.
    Opcode {
        Abs = "abs", Add = "add", And = "and", Atom = "atom", Bfe = "bfe", Bfi = "bfi", Bfind = "bfind", Bra = "bra",
        Brev = "brev", BrxIdx = "brx", Call = "call", Clz = "clz", CNot = "cnot", Copysign = "copysign", Cos = "cos",
        Cvt = "cvt", Cvta = "cvta", Div = "div", Ex2 = "ex2", Exit = "exit", Fence = "fence", Fma = "fma",
        IsSpaceP = "isspacep", Ld = "ld", Ldu = "ldu", Lg2 = "lg2", Lop3 = "lop3", Mad = "mad", Max = "max",
        Membar = "membar", Min = "min", Mov = "mov", Mul = "mul", Neg = "neg", Not = "not", Or = "or", Popc = "popc",
        Prmt = "prmt", Rcp = "rcp", Red = "red", Rem = "rem", Ret = "ret", Rsqrt = "rsqrt", Sad = "sad",
        Selp = "selp", Setp = "setp", Set = "set", Shf = "shf", Shl = "shl", Shr = "shr", Sin = "sin", Slct = "slct",
        Sqrt = "sqrt", St = "st", Sub = "sub", Tanh = "tanh", Testp = "testp", Trap = "trap", Xor = "xor",
        // Synchronisation.
        ActiveMask = "activemask", Bar = "bar", Barrier = "barrier", Elect = "elect", Match = "match",
        Redux = "redux", Shfl = "shfl", Vote = "vote",
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
        Wrap = "wrap", Clamp = "clamp", L = "l", R = "r", Uni = "uni", To = "to", Idx = "idx",
        Shiftamt = "shiftamt", F4e = "f4e", B4e = "b4e", Rc8 = "rc8", Ecl = "ecl", Ecr = "ecr", Rc16 = "rc16",
        Finite = "finite", Infinite = "infinite", Number = "number", Notanumber = "notanumber", Normal = "normal",
        Subnormal = "subnormal",
        // Synchronisation.
        Sync = "sync", Arrive = "arrive", Aligned = "aligned", Warp = "warp", Red = "red", Popc = "popc", Up = "up",
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
    /// A register, or a vector of them, that is written.
    DestVector(usize),
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
    /// `[base+offset]`
    Address,
    /// A label.
    Label,
    /// The source of a `mov`: anything with a value, the address of a variable, or a vector to pack.
    Move,
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

const RND: &[M] = &[M::Rn, M::Rz, M::Rm, M::Rp];
const FTZ: &[M] = &[M::Ftz];
const SAT: &[M] = &[M::Sat];
const APPROX: &[M] = &[M::Approx];
const CVT_RND: &[M] = &[M::Rn, M::Rz, M::Rm, M::Rp, M::Rni, M::Rzi, M::Rmi, M::Rpi];
const SPACE: &[M] = &[M::Global, M::Shared, M::SharedCta, M::Local, M::Const, M::Param, M::ParamEntry, M::ParamFunc];
const SEM: &[M] = &[M::Weak, M::Volatile, M::Relaxed, M::Acquire, M::Release, M::AcqRel, M::Sc];
const SCOPE: &[M] = &[M::Cta, M::Cluster, M::Gpu, M::Sys];
const VECTOR: &[M] = &[M::V2, M::V4, M::V8];
const CACHE: &[M] = &[M::Ca, M::Cg, M::Cs, M::Lu, M::Cv, M::Wb, M::Wt];
const EVICT: &[M] = &[M::L1EvictNormal, M::L1EvictUnchanged, M::L1EvictFirst, M::L1EvictLast, M::L1NoAllocate];
const PREFETCH: &[M] = &[M::L2P64, M::L2P128, M::L2P256];
const COMPARE_INT: &[M] = &[M::Eq, M::Ne, M::Lt, M::Le, M::Gt, M::Ge, M::Lo, M::Ls, M::Hi, M::Hs];
const COMPARE_FLOAT: &[M] =
    &[M::Eq, M::Ne, M::Lt, M::Le, M::Gt, M::Ge, M::Equ, M::Neu, M::Ltu, M::Leu, M::Gtu, M::Geu, M::Num, M::Nan];
const BOOL: &[M] = &[M::And, M::Or, M::Xor];
const UNI: &[M] = &[M::Uni];

const CTA: &[M] = &[M::Cta];
const SYNC: &[M] = &[M::Sync];
const ALIGNED: &[M] = &[M::Aligned];
const BAR_POPC: &[Group] = &[opt(CTA), one(&[M::Red]), one(&[M::Popc]), opt(ALIGNED)];
const BAR_LOGIC: &[Group] = &[opt(CTA), one(&[M::Red]), one(&[M::And, M::Or]), opt(ALIGNED)];
const BAR_RED: &[Shape] = &[Dest(0), SourceAs(U32), SourcePred];
const BAR_RED_COUNT: &[Shape] = &[Dest(0), SourceAs(U32), SourceAs(U32), SourcePred];

const INT16: &[Type] = &[S16, S32, S64, U16, U32, U64];
const INT32: &[Type] = &[S32, S64, U32, U64];
const WORDS: &[Type] = &[B16, B32, B64];
const LOGIC: &[Type] = &[B16, B32, B64, Pred];
const SIGNED: &[Type] = &[S16, S32, S64];
const FLOATS: &[Type] = &[F32, F64];
const ONLY_F32: &[Type] = &[F32];
const MEMORY: &[Type] = &[B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64];
const MOVABLE: &[Type] = &[B16, B32, B64, B128, U16, U32, U64, S16, S32, S64, F32, F64, Pred];
const VALUES: &[Type] = &[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64];
const CVT: &[Type] = &[U8, U16, U32, U64, S8, S16, S32, S64, Type::F16, F32, F64];
const COMPARABLE_INT: &[Type] = &[B16, B32, B64, U16, U32, U64, S16, S32, S64];
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

/// Every form of every instruction.
pub static FORMS: &[Form] = &[
    // Integer and floating-point arithmetic.
    form(Opcode::Add, &[opt(SAT)], &[INT16], DSS),
    form(Opcode::Add, &[opt(RND), opt(FTZ), opt(SAT)], &[FLOATS], DSS),
    form(Opcode::Sub, &[opt(SAT)], &[INT16], DSS),
    form(Opcode::Sub, &[opt(RND), opt(FTZ), opt(SAT)], &[FLOATS], DSS),
    form(Opcode::Mul, &[one(&[M::Lo, M::Hi])], &[INT16], DSS),
    form(Opcode::Mul, &[one(&[M::Wide])], &[&[S16, S32, U16, U32]], &[DestWide(0), Source(0), Source(0)]),
    form(Opcode::Mul, &[opt(RND), opt(FTZ), opt(SAT)], &[FLOATS], DSS),
    form(Opcode::Mad, &[one(&[M::Lo, M::Hi]), opt(SAT)], &[INT16], DSSS),
    form(
        Opcode::Mad,
        &[one(&[M::Wide])],
        &[&[S16, S32, U16, U32]],
        &[DestWide(0), Source(0), Source(0), SourceWide(0)],
    ),
    form(Opcode::Mad, &[one(RND), opt(FTZ), opt(SAT)], &[FLOATS], DSSS),
    form(Opcode::Fma, &[one(RND), opt(FTZ), opt(SAT)], &[FLOATS], DSSS),
    form(Opcode::Sad, &[], &[INT16], DSSS),
    form(Opcode::Div, &[], &[INT16], DSS),
    form(Opcode::Div, &[one(RND), opt(FTZ)], &[FLOATS], DSS),
    form(Opcode::Div, &[one(&[M::Approx, M::Full]), opt(FTZ)], &[ONLY_F32], DSS),
    form(Opcode::Rem, &[], &[INT16], DSS),
    form(Opcode::Abs, &[], &[SIGNED], DS),
    form(Opcode::Abs, &[opt(FTZ)], &[FLOATS], DS),
    form(Opcode::Neg, &[], &[SIGNED], DS),
    form(Opcode::Neg, &[opt(FTZ)], &[FLOATS], DS),
    form(Opcode::Min, &[], &[INT16], DSS),
    form(Opcode::Min, &[opt(FTZ), opt(&[M::NaN])], &[FLOATS], DSS),
    form(Opcode::Max, &[], &[INT16], DSS),
    form(Opcode::Max, &[opt(FTZ), opt(&[M::NaN])], &[FLOATS], DSS),
    form(Opcode::Copysign, &[], &[FLOATS], DSS),
    form(
        Opcode::Testp,
        &[one(&[M::Finite, M::Infinite, M::Number, M::Notanumber, M::Normal, M::Subnormal])],
        &[FLOATS],
        &[DestPred, Source(0)],
    ),
    form(Opcode::Rcp, &[one(RND), opt(FTZ)], &[FLOATS], DS),
    form(Opcode::Rcp, &[one(APPROX), opt(FTZ)], &[FLOATS], DS),
    form(Opcode::Sqrt, &[one(RND), opt(FTZ)], &[FLOATS], DS),
    form(Opcode::Sqrt, &[one(APPROX), opt(FTZ)], &[ONLY_F32], DS),
    form(Opcode::Rsqrt, &[one(APPROX), opt(FTZ)], &[FLOATS], DS),
    form(Opcode::Sin, &[one(APPROX), opt(FTZ)], &[ONLY_F32], DS),
    form(Opcode::Cos, &[one(APPROX), opt(FTZ)], &[ONLY_F32], DS),
    form(Opcode::Lg2, &[one(APPROX), opt(FTZ)], &[ONLY_F32], DS),
    form(Opcode::Ex2, &[one(APPROX), opt(FTZ)], &[ONLY_F32], DS),
    form(Opcode::Tanh, &[one(APPROX)], &[ONLY_F32], DS),
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
    form(Opcode::Lop3, &[], &[&[B32]], &[Dest(0), Source(0), Source(0), Source(0), SourceAs(U32)]),
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
    form(Opcode::Setp, &[one(COMPARE_INT)], &[COMPARABLE_INT], &[DestPred, Source(0), Source(0)]),
    form(
        Opcode::Setp,
        &[one(COMPARE_INT), one(BOOL)],
        &[COMPARABLE_INT],
        &[DestPred, Source(0), Source(0), SourcePred],
    ),
    form(Opcode::Setp, &[one(COMPARE_FLOAT), opt(FTZ)], &[FLOATS], &[DestPred, Source(0), Source(0)]),
    form(
        Opcode::Setp,
        &[one(COMPARE_FLOAT), one(BOOL), opt(FTZ)],
        &[FLOATS],
        &[DestPred, Source(0), Source(0), SourcePred],
    ),
    form(Opcode::Set, &[one(COMPARE_INT)], &[SET_TO, COMPARABLE_INT], &[Dest(0), Source(1), Source(1)]),
    form(Opcode::Set, &[one(COMPARE_FLOAT), opt(FTZ)], &[SET_TO, FLOATS], &[Dest(0), Source(1), Source(1)]),
    form(Opcode::Selp, &[], &[VALUES], &[Dest(0), Source(0), Source(0), SourcePred]),
    form(Opcode::Slct, &[opt(FTZ)], &[VALUES, &[S32, F32]], &[Dest(0), Source(0), Source(0), Source(1)]),
    // Movement and conversion.
    form(Opcode::Mov, &[], &[MOVABLE], &[DestVector(0), Move]),
    form(Opcode::Cvt, &[opt(CVT_RND), opt(FTZ), opt(SAT)], &[CVT, CVT], &[Dest(0), Source(1)]),
    form(Opcode::Cvta, &[opt(&[M::To]), opt(SPACE)], &[U32_64], &[Dest(0), Move]),
    form(Opcode::IsSpaceP, &[one(SPACE)], &[], &[DestPred, SourceAs(U64)]),
    form(
        Opcode::Ld,
        &[opt(SEM), opt(SCOPE), opt(SPACE), opt(&[M::Nc]), opt(CACHE), opt(EVICT), opt(PREFETCH), opt(VECTOR)],
        &[MEMORY],
        &[DestVector(0), Address],
    ),
    form(Opcode::Ldu, &[opt(SPACE), opt(VECTOR)], &[MEMORY], &[DestVector(0), Address]),
    form(
        Opcode::St,
        &[opt(SEM), opt(SCOPE), opt(SPACE), opt(CACHE), opt(EVICT), opt(VECTOR)],
        &[MEMORY],
        &[Address, SourceVector(0)],
    ),
    // Atomics and order.
    form(
        Opcode::Atom,
        &[opt(SEM), opt(SCOPE), opt(SPACE), one(&[M::Cas])],
        &[&[B16, B32, B64]],
        &[Dest(0), Address, Source(0), Source(0)],
    ),
    form(
        Opcode::Atom,
        &[opt(SEM), opt(SCOPE), opt(SPACE), one(&[M::Exch, M::And, M::Or, M::Xor])],
        &[B32_64],
        &[Dest(0), Address, Source(0)],
    ),
    form(
        Opcode::Atom,
        &[opt(SEM), opt(SCOPE), opt(SPACE), one(&[M::Add, M::Min, M::Max])],
        &[INT32],
        &[Dest(0), Address, Source(0)],
    ),
    form(Opcode::Atom, &[opt(SEM), opt(SCOPE), opt(SPACE), one(&[M::Add])], &[FLOATS], &[Dest(0), Address, Source(0)]),
    form(
        Opcode::Atom,
        &[opt(SEM), opt(SCOPE), opt(SPACE), one(&[M::Inc, M::Dec])],
        &[&[U32]],
        &[Dest(0), Address, Source(0)],
    ),
    form(
        Opcode::Red,
        &[opt(SEM), opt(SCOPE), opt(SPACE), one(&[M::And, M::Or, M::Xor])],
        &[B32_64],
        &[Address, Source(0)],
    ),
    form(
        Opcode::Red,
        &[opt(SEM), opt(SCOPE), opt(SPACE), one(&[M::Add, M::Min, M::Max])],
        &[INT32],
        &[Address, Source(0)],
    ),
    form(Opcode::Red, &[opt(SEM), opt(SCOPE), opt(SPACE), one(&[M::Add])], &[FLOATS], &[Address, Source(0)]),
    form(Opcode::Red, &[opt(SEM), opt(SCOPE), opt(SPACE), one(&[M::Inc, M::Dec])], &[&[U32]], &[Address, Source(0)]),
    form(Opcode::Fence, &[one(&[M::Sc, M::AcqRel, M::Acquire, M::Release]), opt(SCOPE)], &[], NOTHING),
    form(Opcode::Membar, &[one(&[M::Cta, M::Gl, M::Sys])], &[], NOTHING),
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
    // Control.
    form(Opcode::Bra, &[opt(UNI)], &[], &[Label]),
    form(Opcode::BrxIdx, &[one(&[M::Idx]), opt(UNI)], &[], &[SourceAs(U32), Label]),
    form(Opcode::Call, &[opt(UNI)], &[], NOTHING),
    form(Opcode::Ret, &[opt(UNI)], &[], NOTHING),
    form(Opcode::Exit, &[], &[], NOTHING),
    form(Opcode::Trap, &[], &[], NOTHING),
];

/// Stems that PTX has and this device does not run yet; they are refused by name, never skipped.
pub static UNSUPPORTED: &[&str] = &[
    "addc",
    "alloca",
    "applypriority",
    "bmsk",
    "brkpt",
    "clusterlaunchcontrol",
    "cp",
    "createpolicy",
    "discard",
    "dp2a",
    "dp4a",
    "fns",
    "getctarank",
    "griddepcontrol",
    "istypep",
    "ldmatrix",
    "mad24",
    "madc",
    "mapa",
    "mbarrier",
    "mma",
    "movmatrix",
    "mul24",
    "multimem",
    "nanosleep",
    "pmevent",
    "prefetch",
    "prefetchu",
    "set.pred",
    "setmaxnreg",
    "st.async",
    "stackrestore",
    "stacksave",
    "stmatrix",
    "subc",
    "suld",
    "suq",
    "sured",
    "sust",
    "szext",
    "tcgen05",
    "tensormap",
    "tex",
    "tld4",
    "txq",
    "vabsdiff",
    "vabsdiff2",
    "vabsdiff4",
    "vadd",
    "vadd2",
    "vadd4",
    "vavrg2",
    "vavrg4",
    "vmad",
    "vmax",
    "vmax2",
    "vmax4",
    "vmin",
    "vmin2",
    "vmin4",
    "vset",
    "vset2",
    "vset4",
    "vshl",
    "vshr",
    "vsub",
    "vsub2",
    "vsub4",
    "wgmma",
    "wmma",
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
    FORMS.iter().filter(move |form| form.opcode == opcode)
}

impl Form {
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
