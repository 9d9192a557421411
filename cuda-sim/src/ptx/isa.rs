//! The instruction table: the only description of every instruction that this device supports.
//!
//! A [`Form`] lists the modifiers, types and operand shapes of an opcode. The parser matches instructions against the
//! forms, lowering checks operands by their shapes, and the code generator relies on both. An opcode may have several
//! forms. Modifiers are matched as sets, because LLVM and nvcc write them in different orders
//! (`atom.acq_rel.sys.global.cas` and `atom.global.sys.cas`). The semantics of instructions are not here.

mod convert;
mod copies;
mod float;
mod half;
mod integer;
mod matrix;
mod mbarrier;
mod memory;
mod names;
mod targets;
mod video;
mod wmma;

use super::ast::{Suffix, Type};
use Modifier as M;
use Shape::{
    Dest, DestAs, DestPair, DestPred, DestVector, DestWide, Immediate, Label, Move, Source, SourceAs, SourcePred,
    SourceWide,
};
use Type::{B16, B32, B64, B128, F32, F64, Pred, S16, S32, S64, U16, U32, U64};
pub(crate) use matrix::{FROM_ROWS, TO_ROWS};
pub use names::{Modifier, Opcode};
use once_cell::sync::Lazy;
pub(crate) use targets::{needs_letter, oldest_target};

/// The shape of an operand. A number is the index of its type among the instruction's types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A destination register.
    Dest(usize),
    /// A destination register of twice the width.
    DestWide(usize),
    /// A destination register of a fixed type.
    DestAs(Type),
    /// A destination predicate, or a pair `p|q`.
    DestPred,
    /// A 32-bit destination register, or a pair `d|p` of one and a predicate.
    DestPair,
    /// A destination predicate, never a pair.
    DestOnePred,
    /// A destination pair of predicates `p|q`.
    DestTwoPreds,
    /// A destination register, or a vector of them.
    DestVector(usize),
    /// The destination registers of a lane's fragment. The number is the index of the matrix.
    DestMatrix(usize),
    /// A register or constant.
    Source(usize),
    /// A register or constant of twice the width.
    SourceWide(usize),
    /// A register or constant of a fixed type.
    SourceAs(Type),
    /// A predicate, possibly negated.
    SourcePred,
    /// A register, constant, or vector of them.
    SourceVector(usize),
    /// The registers or constants of a lane's fragment. The number is the index of the matrix.
    SourceMatrix(usize),
    /// An integer literal.
    Immediate,
    /// The thread's carry flag as an implicit input.
    CarryIn,
    /// The thread's carry flag as an implicit output.
    CarryOut,
    /// The mask of the active lanes, an implicit operand of votes and shuffles on older targets.
    ActiveLanes,
    /// The subword or lanes of an operand, as a number. In the text it follows the operand's name.
    Selector,
    /// `[base+offset]`
    Address,
    /// A label.
    Label,
    /// The source of a `mov`: a value, the address of a variable, or a vector to pack.
    Move,
}

impl Shape {
    /// Returns true if the operand is implicit: the instruction has it, but the text does not.
    pub fn is_implicit(self) -> bool {
        matches!(self, Shape::CarryIn | Shape::CarryOut | Shape::ActiveLanes | Shape::Selector)
    }

    /// Returns true if the operand is a destination.
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

/// A group of modifiers of which an instruction takes at most one.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// True if one is required.
    pub required: bool,
    /// The alternatives.
    pub choices: &'static [Modifier],
}

/// One form of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The opcode.
    pub opcode: Opcode,
    /// Its groups of modifiers.
    pub groups: &'static [Group],
    /// The types that may be written, in order.
    pub types: &'static [&'static [Type]],
    /// Its operands, in order.
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

/// Every form of every instruction, in tables by subject.
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

/// Integers, bits, data movement and control flow.
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
    // Comparison and selection.
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
    // Data movement and conversion.
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
    // Control flow.
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
    // A grid begins when those on which it depends have ended.
    form(Opcode::Griddepcontrol, &[one(&[M::Wait, M::LaunchDependents])], &[], NOTHING),
];

/// PTX instructions that this device does not support; they are refused by name, never skipped.
pub static UNSUPPORTED: &[&str] = &[
    "alloca",
    "clusterlaunchcontrol",
    "istypep",
    "multimem",
    "set.pred",
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

/// Returns the forms of an opcode.
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
    /// Returns the shapes of the operands that are written in the text.
    pub(crate) fn written(&self) -> impl Iterator<Item = Shape> {
        self.operands.iter().copied().filter(|shape| !shape.is_implicit())
    }

    /// Returns the number of written modifiers that this form knows.
    pub(crate) fn known(&self, suffixes: &[Suffix]) -> usize {
        let knows = |m: &M| self.groups.iter().any(|group| group.choices.contains(m));
        suffixes.iter().filter(|suffix| matches!(suffix, Suffix::Modifier(m) if knows(m))).count()
    }

    /// Returns `Ok` if these suffixes match the form.
    ///
    /// # Errors
    ///
    /// A message that names the suffix that does not match, or the missing one.
    pub fn matches(&self, suffixes: &[Suffix]) -> Result<(), String> {
        let mut used = 0u32;
        let mut types = 0;
        for suffix in suffixes {
            match *suffix {
                Suffix::Type(ty) => {
                    let allowed = self.types.get(types).ok_or_else(|| format!("one type too many, .{}", ty.name()))?;
                    if !allowed.contains(&ty) {
                        return Err(format!("the type .{} is not allowed here", ty.name()));
                    }
                    types += 1;
                }
                Suffix::Modifier(modifier) => {
                    let free = |(i, group): (usize, &Group)| {
                        (used & (1 << i) == 0 && group.choices.contains(&modifier)).then_some(i)
                    };
                    let group = self.groups.iter().enumerate().find_map(free);
                    let index =
                        group.ok_or_else(|| format!("the modifier .{} is not allowed here", modifier.name()))?;
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
