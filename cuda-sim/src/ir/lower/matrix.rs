//! Loads and stores of matrices: each lane loads or stores rows in shared memory, and the lanes of the warp exchange
//! elements.

use super::Lowering;
use crate::ir::matrix::{self, Product};
use crate::ir::{Inst, Special, Terminator, Value};
use crate::ptx::isa::{FROM_ROWS, TO_ROWS};
use crate::ptx::{self, Error, Modifier, Opcode, Operand, Position, Result, Suffix, Type};

/// The registers of a row: 8 elements of 16 bits.
const ROW: usize = 4;

impl Lowering<'_> {
    /// Checks `mma` and `wmma.mma`: only `m8n8k4` of `f16`, and `wmma` with elements of 8 bits or more, have a choice of layouts.
    pub(super) fn product(&mut self, ast: &ptx::Instruction) -> Result<()> {
        let small = ast.has(Modifier::M8N8K4) && ast.suffixes.contains(&Suffix::Type(Type::F16));
        let loaded = ast.opcode == Opcode::Wmma && !ast.has(Modifier::M8N8K32) && !ast.has(Modifier::M8N8K128);
        let has_choice = small || loaded;
        let is_layout = |s: &&Suffix| matches!(s, Suffix::Modifier(Modifier::Row | Modifier::Col));
        if !has_choice && ast.suffixes.iter().find(is_layout) == Some(&Suffix::Modifier(Modifier::Col)) {
            let message = format!("'{}': A must be row-major and B column-major: '.row.col'", ast.full_name());
            return Err(Error::unsupported(ast.position, message));
        }
        let inst = self.resolved(ast)?;
        self.push(inst);
        Ok(())
    }

    /// Lowers `ldmatrix`: lanes load rows, then exchange elements.
    pub(super) fn load_matrix(&mut self, ast: &ptx::Instruction) -> Result<()> {
        let inst = self.resolved(ast)?;
        let [dest, address] = inst.operands.as_slice() else { return Ok(()) };
        let row: Vec<Value> = (0..ROW).map(|_| Value::Reg(self.temporary(32))).collect();
        let (dest, address) = (dest.clone(), address.clone());
        for part in &row {
            let operands = vec![part.clone(), Value::Int(0)];
            self.compute(Opcode::Mov, vec![Suffix::Type(Type::B32)], operands, ast.position)?;
        }
        self.for_rows(&inst, Opcode::Ld, vec![Value::Vector(row.clone()), address])?;
        self.push(Inst { form: &FROM_ROWS, operands: vec![dest, Value::Vector(row)], ..inst });
        Ok(())
    }

    /// Lowers `stmatrix`: lanes exchange elements, then store rows.
    pub(super) fn store_matrix(&mut self, ast: &ptx::Instruction) -> Result<()> {
        let inst = self.resolved(ast)?;
        let [address, source] = inst.operands.as_slice() else { return Ok(()) };
        let row: Vec<Value> = (0..ROW).map(|_| Value::Reg(self.temporary(32))).collect();
        let operands = vec![Value::Vector(row.clone()), source.clone()];
        let address = address.clone();
        self.push(Inst { form: &TO_ROWS, operands, ..inst.clone() });
        self.for_rows(&inst, Opcode::St, vec![address, Value::Vector(row)])
    }

    /// Emits a 16-byte load or store for the lanes that have a row.
    fn for_rows(&mut self, inst: &Inst, opcode: Opcode, operands: Vec<Value>) -> Result<()> {
        let (matrices, position) = (matrix::registers(inst, 0).0 as i128, inst.position);
        let truth = self.temporary(1);
        let compare = vec![Suffix::Modifier(Modifier::Lt), Suffix::Type(Type::U32)];
        let lanes = vec![Value::Reg(truth), Value::Special(Special::LaneId), Value::Int(8 * matrices)];
        self.compute(Opcode::Setp, compare, lanes, position)?;
        let (has_row, next) = (self.new_block(), self.new_block());
        self.terminate(Terminator::Branch(truth, false, has_row, next));
        self.current = has_row;
        let space = inst.modifiers().filter(|m| matches!(m, Modifier::Shared | Modifier::SharedCta));
        let vector = [Suffix::Modifier(Modifier::V4), Suffix::Type(Type::B32)];
        self.compute(opcode, space.map(Suffix::Modifier).chain(vector).collect(), operands, position)?;
        self.terminate(Terminator::Jump(next));
        self.current = next;
        Ok(())
    }

    /// Returns the registers of a fragment, after checking that there are as many as the matrix operand needs.
    pub(super) fn fragment(
        &mut self,
        matrix: usize,
        written: bool,
        operand: &Operand,
        inst: &Inst,
        position: Position,
    ) -> Result<Value> {
        let (count, bits) = matrix::registers(inst, matrix);
        let operand = self.spread(operand);
        let items =
            if let Operand::Vector(items) = &*operand { items.as_slice() } else { std::slice::from_ref(&*operand) };
        if items.len() != count {
            let name = self.matrix_name(matrix, inst);
            let message = format!("{name} has {count} register(s) in each lane, but {} are given", items.len());
            return Err(Error::new(position, message));
        }
        let one = |item| match written {
            true => self.dest_bits(item, bits, false, position),
            false => self.source(item, bits, false, position),
        };
        Ok(Value::Vector(items.iter().map(one).collect::<Result<_>>()?))
    }

    fn matrix_name(&self, matrix: usize, inst: &Inst) -> String {
        match inst.opcode {
            Opcode::Mma | Opcode::Wmma if Product::of(inst).is_some() => {
                format!("the matrix {} of '{}'", ["D", "A", "B", "C"][matrix], inst.full_name())
            }
            _ => format!("the fragment of '{}'", inst.full_name()),
        }
    }
}
