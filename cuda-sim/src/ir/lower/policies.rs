//! Cache policies are hints that change no value. An access with a policy becomes the access without one; a policy,
//! whose bits mean nothing to a program, is 0.

use super::Lowering;
use crate::ir::{Inst, Value};
use crate::ptx::{self, Error, Modifier, Opcode, Result, Suffix};

impl Lowering<'_> {
    /// Removes the policy from an instruction that has one as its last operand, or lowers an instruction that creates
    /// one.
    pub(super) fn without_policy(&self, mut inst: Inst) -> Result<Inst> {
        if inst.opcode == Opcode::Createpolicy {
            let operands = inst.operands.drain(..1).chain([Value::Int(0)]).collect();
            let ty = inst.ty(0);
            return self.synthetic(Opcode::Mov, vec![Suffix::Type(ty)], operands, inst.position);
        }
        inst.suffixes.retain(|suffix| *suffix != Suffix::Modifier(Modifier::L2CacheHint));
        inst.operands.pop();
        let shapes = &inst.form.operands[..inst.operands.len()];
        let form = ptx::forms(inst.opcode, &inst.suffixes).find(|form| form.operands == shapes);
        inst.form = form.ok_or_else(|| Error::new(inst.position, "no form without a cache policy"))?;
        Ok(inst)
    }
}
