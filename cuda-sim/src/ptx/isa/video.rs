//! The instruction table: video instructions, on subwords of registers and on lanes of bytes and halves.

use super::Shape::{Dest, DestAs, Selector, Source, SourceAs};
use super::Type::{S32, U32};
use super::{Form, Group, Modifier as M, Opcode, SAT, Shape, Type, form, one, opt};

const INT: &[Type] = &[U32, S32];
const THREE: &[&[Type]] = &[INT, INT, INT];
const SHIFT: &[&[Type]] = &[INT, INT, &[U32]];
const COMPARE: Group = one(&[M::Eq, M::Ne, M::Lt, M::Le, M::Gt, M::Ge]);
const SECOND: Group = opt(&[M::Add, M::Min, M::Max]);
const MODE: Group = one(&[M::Wrap, M::Clamp]);
const TWO: &[Shape] = &[Dest(0), Source(1), Source(2), Selector, Selector, Selector];
const MERGED: &[Shape] = &[Dest(0), Source(1), Source(2), Source(0), Selector, Selector, Selector];
const TRUTH: &[Shape] = &[DestAs(U32), Source(0), Source(1), Selector, Selector, Selector];
const MERGED_TRUTH: &[Shape] = &[DestAs(U32), Source(0), Source(1), SourceAs(U32), Selector, Selector, Selector];

pub(super) static FORMS: &[Form] = &[
    form(Opcode::Vadd, &[opt(SAT)], THREE, TWO),
    form(Opcode::Vadd, &[opt(SAT), SECOND], THREE, MERGED),
    form(Opcode::Vsub, &[opt(SAT)], THREE, TWO),
    form(Opcode::Vsub, &[opt(SAT), SECOND], THREE, MERGED),
    form(Opcode::Vabsdiff, &[opt(SAT)], THREE, TWO),
    form(Opcode::Vabsdiff, &[opt(SAT), SECOND], THREE, MERGED),
    form(Opcode::Vmin, &[opt(SAT)], THREE, TWO),
    form(Opcode::Vmin, &[opt(SAT), SECOND], THREE, MERGED),
    form(Opcode::Vmax, &[opt(SAT)], THREE, TWO),
    form(Opcode::Vmax, &[opt(SAT), SECOND], THREE, MERGED),
    form(Opcode::Vshl, &[opt(SAT), MODE], SHIFT, TWO),
    form(Opcode::Vshl, &[opt(SAT), MODE, SECOND], SHIFT, MERGED),
    form(Opcode::Vshr, &[opt(SAT), MODE], SHIFT, TWO),
    form(Opcode::Vshr, &[opt(SAT), MODE, SECOND], SHIFT, MERGED),
    form(Opcode::Vset, &[COMPARE], &[INT, INT], TRUTH),
    form(Opcode::Vset, &[COMPARE, SECOND], &[INT, INT], MERGED_TRUTH),
    form(Opcode::Vmad, &[opt(&[M::Po]), opt(SAT), opt(&[M::Shr7, M::Shr15])], THREE, MERGED),
    // Two halves, four bytes.
    form(Opcode::Vadd2, &[opt(SAT)], THREE, MERGED),
    form(Opcode::Vadd2, &[one(&[M::Add])], THREE, MERGED),
    form(Opcode::Vsub2, &[opt(SAT)], THREE, MERGED),
    form(Opcode::Vsub2, &[one(&[M::Add])], THREE, MERGED),
    form(Opcode::Vavrg2, &[opt(SAT)], THREE, MERGED),
    form(Opcode::Vavrg2, &[one(&[M::Add])], THREE, MERGED),
    form(Opcode::Vabsdiff2, &[opt(SAT)], THREE, MERGED),
    form(Opcode::Vabsdiff2, &[one(&[M::Add])], THREE, MERGED),
    form(Opcode::Vmin2, &[opt(SAT)], THREE, MERGED),
    form(Opcode::Vmin2, &[one(&[M::Add])], THREE, MERGED),
    form(Opcode::Vmax2, &[opt(SAT)], THREE, MERGED),
    form(Opcode::Vmax2, &[one(&[M::Add])], THREE, MERGED),
    form(Opcode::Vset2, &[COMPARE, opt(&[M::Add])], &[INT, INT], MERGED_TRUTH),
    form(Opcode::Vadd4, &[opt(SAT)], THREE, MERGED),
    form(Opcode::Vadd4, &[one(&[M::Add])], THREE, MERGED),
    form(Opcode::Vsub4, &[opt(SAT)], THREE, MERGED),
    form(Opcode::Vsub4, &[one(&[M::Add])], THREE, MERGED),
    form(Opcode::Vavrg4, &[opt(SAT)], THREE, MERGED),
    form(Opcode::Vavrg4, &[one(&[M::Add])], THREE, MERGED),
    form(Opcode::Vabsdiff4, &[opt(SAT)], THREE, MERGED),
    form(Opcode::Vabsdiff4, &[one(&[M::Add])], THREE, MERGED),
    form(Opcode::Vmin4, &[opt(SAT)], THREE, MERGED),
    form(Opcode::Vmin4, &[one(&[M::Add])], THREE, MERGED),
    form(Opcode::Vmax4, &[opt(SAT)], THREE, MERGED),
    form(Opcode::Vmax4, &[one(&[M::Add])], THREE, MERGED),
    form(Opcode::Vset4, &[COMPARE, opt(&[M::Add])], &[INT, INT], MERGED_TRUTH),
];
