//! Arithmetic with the carry flag: sums and differences wider than a register.
//!
//! The flag is one bit per thread, read and written through an implicit operand. It is the carry of an addition, also
//! after a subtraction, which is an addition of the complement plus one: it is set if there was no borrow.

use super::emit::Emitter;
use crate::ir::{Inst, Value};
use crate::ptx::isa::Shape;
use crate::ptx::{Modifier as M, Opcode, Result};

impl Emitter<'_> {
    pub(crate) fn carry_op(&mut self, inst: &Inst, ops: &[Value]) -> Result<()> {
        let bits = inst.ty(0).bits();
        let (mut values, mut carry_in, mut carry_out) = (Vec::new(), None, None);
        for (shape, value) in inst.form.operands.iter().zip(ops).skip(1) {
            match shape {
                Shape::CarryIn => carry_in = Some(self.int(value, 1)?),
                Shape::CarryOut => carry_out = Some(value),
                _ => values.push(self.int(value, bits)?),
            }
        }
        let (left, right) = match (inst.opcode, values.as_slice()) {
            (Opcode::Mad | Opcode::Madc, [a, b, c]) => (self.product(inst, a, b), c.clone()),
            (_, [a, b]) => (a.clone(), b.clone()),
            _ => return self.unsupported("these operands are not supported"),
        };
        let wide = bits * 2;
        let subtracts = matches!(inst.opcode, Opcode::Sub | Opcode::Subc);
        let operation = if subtracts { "sub" } else { "add" };
        let (x, y) = (self.resize(&left, bits, wide, false), self.resize(&right, bits, wide, false));
        let mut sum = self.def(format_args!("{operation} i{wide} {x}, {y}"));
        if let Some(mut carry) = carry_in {
            if subtracts {
                carry = self.def(format_args!("xor i1 {carry}, true"));
            }
            let carry = self.resize(&carry, 1, wide, false);
            sum = self.def(format_args!("{operation} i{wide} {sum}, {carry}"));
        }
        let low = self.resize(&sum, wide, bits, false);
        self.write(&ops[0], bits, &low, false)?;
        if let Some(flag) = carry_out {
            debug_assert!(inst.has(M::Cc));
            let high = self.def(format_args!("lshr i{wide} {sum}, {bits}"));
            let mut carry = self.def(format_args!("trunc i{wide} {high} to i1"));
            if subtracts {
                carry = self.def(format_args!("xor i1 {carry}, true"));
            }
            self.write(flag, 1, &carry, false)?;
        }
        Ok(())
    }
}
