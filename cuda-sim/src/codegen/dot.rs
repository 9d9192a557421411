//! Integer instructions on more than plain words: packed halves, 24-bit products, dot products, bit masks.

use super::emit::Emitter;
use crate::ir::{Inst, Value};
use crate::ptx::{Modifier as M, Opcode, Result, Type};

impl Emitter<'_> {
    /// Applies an operation to both halves of `u16x2` or `s16x2`.
    pub(crate) fn packed_op(&mut self, inst: &Inst, dest: &Value, sources: &[Value]) -> Result<()> {
        let ty = inst.ty(0);
        let lane = ty.lane().0;
        let [a, b] = sources else { return self.unsupported("these operands of a packed operation are not supported") };
        let (a, b) = (self.lanes(a, ty)?, self.lanes(b, ty)?);
        let results: Vec<String> = a
            .iter()
            .zip(&b)
            .map(|(x, y)| match inst.opcode {
                Opcode::Add => self.def(format_args!("add i{} {x}, {y}", lane.bits())),
                _ => self.extremum(inst, lane, x, y),
            })
            .collect();
        let value = self.join(&results, lane.bits());
        self.write(dest, ty.bits(), &value, false)
    }

    /// Emits `min` or `max`; with `.relu` the result is at least 0.
    pub(crate) fn extremum(&mut self, inst: &Inst, ty: Type, a: &str, b: &str) -> String {
        let value = self.min_max(if inst.opcode == Opcode::Min { "min" } else { "max" }, ty, a, b);
        if inst.has(M::Relu) { self.min_max("max", ty, &value, "0") } else { value }
    }

    /// Multiplies the low 24 bits: returns the low 32 bits of the 48-bit product, or the high ones.
    pub(crate) fn product24(&mut self, inst: &Inst, v: &[String]) -> String {
        let signed = inst.ty(0).is_signed();
        let mut cut = |value: &String| {
            let narrow = self.def(format_args!("trunc i32 {value} to i24"));
            self.resize(&narrow, 24, 64, signed)
        };
        let (a, b) = (cut(&v[0]), cut(&v[1]));
        let product = self.def(format_args!("mul i64 {a}, {b}"));
        let product = if inst.has(M::Hi) { self.def(format_args!("lshr i64 {product}, 16")) } else { product };
        let product = self.resize(&product, 64, 32, false);
        match v.get(2) {
            None => product,
            Some(c) if inst.has(M::Sat) => self.call("i32", "llvm.sadd.sat.i32", &[("i32", &product), ("i32", c)]),
            Some(c) => self.def(format_args!("add i32 {product}, {c}")),
        }
    }

    /// Emits `dp4a` (four bytes by four bytes) or `dp2a` (two halves by two bytes, the lower or the upper ones).
    pub(crate) fn dot(&mut self, inst: &Inst, v: &[String]) -> String {
        let four = inst.opcode == Opcode::Dp4a;
        let start = if inst.has(M::Hi) { 16 } else { 0 };
        let mut sum = v[2].clone();
        for i in 0..if four { 4 } else { 2 } {
            let a = if four { (8 * i, 8) } else { (16 * i, 16) };
            let x = self.part(&v[0], a, inst.ty(0));
            let y = self.part(&v[1], (start + 8 * i, 8), inst.ty(1));
            let product = self.def(format_args!("mul i32 {x}, {y}"));
            sum = self.def(format_args!("add i32 {sum}, {product}"));
        }
        sum
    }

    /// Extracts bits of a word, extended as a number of this type.
    fn part(&mut self, word: &str, (at, bits): (u32, u32), ty: Type) -> String {
        let moved = self.def(format_args!("lshr i32 {word}, {at}"));
        let narrow = self.def(format_args!("trunc i32 {moved} to i{bits}"));
        self.resize(&narrow, bits, 32, ty.is_signed())
    }

    /// Reduces a bit count to below 32 for `.wrap`, and to at most 32 for `.clamp`.
    fn bit_count(&mut self, inst: &Inst, value: &str) -> String {
        if inst.has(M::Wrap) {
            return self.def(format_args!("and i32 {value}, 31"));
        }
        self.call("i32", "llvm.umin.i32", &[("i32", value), ("i32", "32")])
    }

    pub(crate) fn bmsk(&mut self, inst: &Inst, start: &str, count: &str) -> String {
        let (start, count) = (self.bit_count(inst, start), self.bit_count(inst, count));
        let end = self.def(format_args!("add i32 {start}, {count}"));
        let (from, past) = (self.shift("shl", 32, "-1", &start), self.shift("shl", 32, "-1", &end));
        let until = self.def(format_args!("xor i32 {past}, -1"));
        self.def(format_args!("and i32 {from}, {until}"))
    }

    pub(crate) fn szext(&mut self, inst: &Inst, a: &str, count: &str) -> String {
        let count = self.bit_count(inst, count);
        let unused = self.def(format_args!("sub i32 32, {count}"));
        let up = self.shift("shl", 32, a, &unused);
        let back = if inst.ty(0).is_signed() { "ashr" } else { "lshr" };
        self.shift(back, 32, &up, &unused)
    }
}
