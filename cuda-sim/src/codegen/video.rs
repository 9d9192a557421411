//! Video instructions: subwords of registers, and lanes of bytes and halves, computed with more bits than they have.

use super::emit::Emitter;
use crate::ir::video::{Subword, Video, video};
use crate::ir::{Inst, Value};
use crate::ptx::{Modifier as M, Result};

/// Returns the range of an integer type of this many bits.
fn range(bits: u32, signed: bool) -> (i64, i64) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

impl Emitter<'_> {
    /// Emits a video instruction.
    pub(crate) fn video(&mut self, inst: &Inst, ops: &[Value]) -> Result<()> {
        let Some((operation, lanes)) = video(inst.opcode) else {
            return self.unsupported("this is not a video instruction");
        };
        match (operation, ops) {
            (Video::Mad, [dest, a, b, c, Value::Int(x), Value::Int(y), Value::Int(negated)]) => {
                let factors = [(a, Subword::of_code(*x)), (b, Subword::of_code(*y))];
                self.video_mad(inst, dest, factors, c, *negated)
            }
            (_, [dest, a, b, Value::Int(d), Value::Int(x), Value::Int(y)]) => {
                self.video_subword(inst, operation, dest, [a, b, &Value::Int(0)], [*d, *x, *y].map(Subword::of_code))
            }
            (_, [dest, a, b, c, Value::Int(d), Value::Int(x), Value::Int(y)]) if lanes == 1 => {
                self.video_subword(inst, operation, dest, [a, b, c], [*d, *x, *y].map(Subword::of_code))
            }
            (_, [dest, a, b, c, Value::Int(mask), Value::Int(x), Value::Int(y)]) => {
                self.video_lanes(inst, (operation, lanes), dest, [a, b, c], [*mask, *x, *y].map(|code| code as u32))
            }
            _ => self.unsupported("these are not the operands of a video instruction"),
        }
    }

    /// Returns the signedness of the result and of each source; the result of a comparison is unsigned.
    fn video_signs(&self, inst: &Inst, operation: Video) -> [bool; 3] {
        match operation {
            Video::Set => [false, inst.ty(0).is_signed(), inst.ty(1).is_signed()],
            _ => [inst.ty(0).is_signed(), inst.ty(1).is_signed(), inst.ty(2).is_signed()],
        }
    }

    /// Returns a subword of a register, extended to `bits` bits.
    fn extended(&mut self, value: &Value, part: Subword, signed: bool, bits: u32) -> Result<String> {
        let word = self.int(value, 32)?;
        let moved = self.def(format_args!("lshr i32 {word}, {}", part.offset));
        let cut = self.resize(&moved, 32, part.bits, false);
        Ok(self.resize(&cut, part.bits, bits, signed))
    }

    /// Emits an operation on integers that are wide enough for its result.
    fn video_operation(&mut self, inst: &Inst, operation: Video, bits: u32, a: &str, b: &str) -> String {
        let ty = format!("i{bits}");
        match operation {
            Video::Add => self.def(format_args!("add {ty} {a}, {b}")),
            Video::Sub => self.def(format_args!("sub {ty} {a}, {b}")),
            Video::AbsDiff => {
                let difference = self.def(format_args!("sub {ty} {a}, {b}"));
                self.call(&ty, &format!("llvm.abs.{ty}"), &[(&ty, &difference), ("i1", "false")])
            }
            Video::Min | Video::Max => {
                let name = if operation == Video::Min { "smin" } else { "smax" };
                self.call(&ty, &format!("llvm.{name}.{ty}"), &[(&ty, a), (&ty, b)])
            }
            Video::Average => {
                let sum = self.def(format_args!("add {ty} {a}, {b}"));
                let positive = self.def(format_args!("icmp sge {ty} {sum}, 0"));
                let one = self.def(format_args!("zext i1 {positive} to {ty}"));
                let sum = self.def(format_args!("add {ty} {sum}, {one}"));
                self.def(format_args!("ashr {ty} {sum}, 1"))
            }
            Video::Shl | Video::Shr => self.video_shift(inst, operation, a, b),
            Video::Set | Video::Mad => {
                let names = [(M::Eq, "eq"), (M::Ne, "ne"), (M::Lt, "slt"), (M::Le, "sle"), (M::Gt, "sgt")];
                let name = names.iter().find(|(m, _)| inst.has(*m)).map_or("sge", |(_, name)| name);
                let truth = self.def(format_args!("icmp {name} {ty} {a}, {b}"));
                self.def(format_args!("zext i1 {truth} to {ty}"))
            }
        }
    }

    /// Shifts a 64-bit value; a left-shifted one keeps 34 bits.
    fn video_shift(&mut self, inst: &Inst, operation: Video, a: &str, b: &str) -> String {
        let amount = match inst.has(M::Wrap) {
            true => self.def(format_args!("and i64 {b}, 31")),
            false => self.call("i64", "llvm.umin.i64", &[("i64", b), ("i64", "32")]),
        };
        if operation == Video::Shr {
            return self.def(format_args!("ashr i64 {a}, {amount}"));
        }
        let shifted = self.def(format_args!("shl i64 {a}, {amount}"));
        let high = self.def(format_args!("shl i64 {shifted}, 30"));
        self.def(format_args!("ashr i64 {high}, 30"))
    }

    /// Clamps a value to the range of a type of `bits` bits, in a register of `width` bits.
    fn clamped(&mut self, value: &str, width: u32, bits: u32, signed: bool) -> String {
        let ty = format!("i{width}");
        let (low, high) = range(bits, signed);
        let above = self.call(&ty, &format!("llvm.smax.{ty}"), &[(&ty, value), (&ty, &low.to_string())]);
        self.call(&ty, &format!("llvm.smin.{ty}"), &[(&ty, &above), (&ty, &high.to_string())])
    }

    fn video_subword(
        &mut self,
        inst: &Inst,
        operation: Video,
        dest: &Value,
        [a, b, c]: [&Value; 3],
        [result, x, y]: [Subword; 3],
    ) -> Result<()> {
        let [signed, of_a, of_b] = self.video_signs(inst, operation);
        let (a, b) = (self.extended(a, x, of_a, 64)?, self.extended(b, y, of_b, 64)?);
        let mut value = self.video_operation(inst, operation, 64, &a, &b);
        if inst.has(M::Sat) {
            value = self.clamped(&value, 64, result.bits, signed);
        }
        let value = self.resize(&value, 64, 32, false);
        let c = self.int(c, 32)?;
        let second = [(M::Min, ["umin", "smin"]), (M::Max, ["umax", "smax"])];
        let named = second.iter().find(|(m, _)| inst.has(*m)).map(|(_, names)| names[usize::from(signed)]);
        let value = match named {
            Some(name) => self.call("i32", &format!("llvm.{name}.i32"), &[("i32", &value), ("i32", &c)]),
            None if inst.has(M::Add) => self.def(format_args!("add i32 {value}, {c}")),
            None if result == Subword::WHOLE => value,
            None => self.merged(&value, result, &c),
        };
        self.write(dest, 32, &value, false)
    }

    /// Replaces one subword of a word.
    fn merged(&mut self, value: &str, part: Subword, word: &str) -> String {
        let mask = ((1i64 << part.bits) - 1) << part.offset;
        let moved = self.def(format_args!("shl i32 {value}, {}", part.offset));
        let new = self.def(format_args!("and i32 {moved}, {}", mask as i32));
        let old = self.def(format_args!("and i32 {word}, {}", !mask as i32));
        self.def(format_args!("or i32 {new}, {old}"))
    }

    fn video_lanes(
        &mut self,
        inst: &Inst,
        (operation, lanes): (Video, u32),
        dest: &Value,
        [a, b, c]: [&Value; 3],
        [mask, x, y]: [u32; 3],
    ) -> Result<()> {
        let [signed, of_a, of_b] = self.video_signs(inst, operation);
        let bits = 32 / lanes;
        let sources = [a, b];
        let mut value = self.int(c, 32)?;
        for lane in (0..lanes).filter(|lane| mask >> lane & 1 != 0) {
            let mut source = |code: u32, signed: bool| {
                let chosen = code >> (4 * lane) & 15;
                let part = Subword { offset: chosen % lanes * bits, bits };
                self.extended(sources[(chosen / lanes) as usize], part, signed, 32)
            };
            let (a, b) = (source(x, of_a)?, source(y, of_b)?);
            let mut result = self.video_operation(inst, operation, 32, &a, &b);
            if inst.has(M::Sat) {
                result = self.clamped(&result, 32, bits, signed);
            }
            value = match inst.has(M::Add) {
                true => self.def(format_args!("add i32 {value}, {result}")),
                false => self.merged(&result, Subword { offset: lane * bits, bits }, &value),
            };
        }
        self.write(dest, 32, &value, false)
    }

    /// Computes a product and a sum in 128 bits; `negated` is 1 for the product, 2 for the addend.
    fn video_mad(
        &mut self,
        inst: &Inst,
        dest: &Value,
        [(a, x), (b, y)]: [(&Value, Subword); 2],
        c: &Value,
        negated: i128,
    ) -> Result<()> {
        let [_, of_a, of_b] = self.video_signs(inst, Video::Mad);
        let signed = of_a || of_b || negated != 0;
        let (a, b) = (self.extended(a, x, of_a, 128)?, self.extended(b, y, of_b, 128)?);
        let c = self.extended(c, Subword::WHOLE, signed, 128)?;
        let product = self.def(format_args!("mul i128 {a}, {b}"));
        let mut value = match negated {
            1 => self.def(format_args!("sub i128 {c}, {product}")),
            2 => self.def(format_args!("sub i128 {product}, {c}")),
            _ => self.def(format_args!("add i128 {product}, {c}")),
        };
        if inst.has(M::Po) {
            value = self.def(format_args!("add i128 {value}, 1"));
        }
        if let Some((_, shift)) = [(M::Shr7, 7), (M::Shr15, 15)].iter().find(|(m, _)| inst.has(*m)) {
            value = self.def(format_args!("ashr i128 {value}, {shift}"));
        }
        if inst.has(M::Sat) {
            value = self.clamped(&value, 128, 32, signed);
        }
        let value = self.resize(&value, 128, 32, false);
        self.write(dest, 32, &value, false)
    }
}
