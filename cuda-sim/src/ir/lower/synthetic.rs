//! Builders for instructions that other instructions are lowered to and that are not in the text.

use super::Lowering;
use crate::ir::{Inst, Value};
use crate::ptx::{self, Error, Opcode, Position, Result, Suffix};

impl Lowering<'_> {
    /// Builds an instruction of a form of the table.
    pub(super) fn synthetic(
        &self,
        opcode: Opcode,
        suffixes: Vec<Suffix>,
        operands: Vec<Value>,
        position: Position,
    ) -> Result<Inst> {
        let form = ptx::find_form(opcode, &suffixes).map_err(|why| Error::new(position, why))?;
        Ok(Inst { position, opcode, suffixes, form, operands, call: None })
    }

    /// Appends such an instruction to the current block.
    pub(super) fn compute(
        &mut self,
        opcode: Opcode,
        suffixes: Vec<Suffix>,
        operands: Vec<Value>,
        position: Position,
    ) -> Result<()> {
        let inst = self.synthetic(opcode, suffixes, operands, position)?;
        self.push(inst);
        Ok(())
    }
}
