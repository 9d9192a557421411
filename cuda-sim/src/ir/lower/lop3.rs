//! `lop3.or` and `lop3.and`: a word, and a predicate: the word's comparison with 0, combined with another predicate.

use super::Lowering;
use crate::ir::Value;
use crate::ptx::{self, Error, Modifier, Opcode, Result, Suffix, Type};

impl Lowering<'_> {
    /// Lowers to `lop3`, a comparison of its result, and a move of the result to the destination.
    pub(super) fn lop3_with_predicate(&mut self, ast: &ptx::Instruction) -> Result<()> {
        let (inst, position) = (self.resolved(ast)?, ast.position);
        let [Value::Vector(dests), a, b, c, table, predicate] = inst.operands.as_slice() else {
            let message = format!("'{}' writes a register and a predicate: 'd|p'", ast.full_name());
            return Err(Error::new(position, message));
        };
        let word = Value::Reg(self.temporary(32));
        let logic = vec![word.clone(), a.clone(), b.clone(), c.clone(), table.clone()];
        self.compute(Opcode::Lop3, vec![Suffix::Type(Type::B32)], logic, position)?;
        let combine = if ast.has(Modifier::And) { Modifier::And } else { Modifier::Or };
        let compare = [Modifier::Ne, combine].map(Suffix::Modifier).into_iter().chain([Suffix::Type(Type::U32)]);
        let operands = vec![dests[1].clone(), word.clone(), Value::Int(0), predicate.clone()];
        self.compute(Opcode::Setp, compare.collect(), operands, position)?;
        self.compute(Opcode::Mov, vec![Suffix::Type(Type::B32)], vec![dests[0].clone(), word], position)
    }
}
