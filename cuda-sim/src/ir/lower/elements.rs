//! `array[index]`, the address of an element: a constant offset, or instructions that compute it.
//!
//! An index in a register is its low 32 bits as an unsigned number, and so is the resulting offset, as in ptxas.

use super::{Lowering, Name};
use crate::ir::{Inst, Reg, Symbol, Value};
use crate::ptx::Type::{U16, U32, U64};
use crate::ptx::{AddressBase, Error, Index, Modifier, Opcode, Position, Result, Suffix};

impl Lowering<'_> {
    /// Returns the address of an element as a value of this many bits.
    pub(super) fn element(&mut self, name: &str, index: &Index, bits: u32, position: Position) -> Result<Value> {
        let (symbol, size) = self.array(name, position)?;
        if !matches!(bits, 32 | 64) {
            let message =
                format!("the address of '{name}[{index}]' has 32 or 64 bits, and the instruction needs {bits}");
            return Err(Error::new(position, message));
        }
        match &index.register {
            Some(register) => self.computed(symbol, size, register, index.offset, bits, position).map(Value::Reg),
            None => Ok(Value::Symbol(symbol, index.offset.wrapping_mul(size))),
        }
    }

    /// Returns an element as the address operand of a load or store.
    pub(super) fn element_access(&mut self, name: &str, index: &Index, inst: &Inst) -> Result<Value> {
        let position = inst.position;
        if !matches!(inst.opcode, Opcode::Ld | Opcode::Ldu | Opcode::St) {
            let message = format!("'{}' takes no '{name}[{index}]': its address is in brackets", inst.opcode.name());
            return Err(Error::new(position, message));
        }
        let (symbol, size) = self.array(name, position)?;
        let base = AddressBase::Name(name.to_owned());
        let Some(register) = &index.register else {
            return self.address(&base, index.offset.wrapping_mul(size), inst, position);
        };
        self.address(&base, 0, inst, position)?;
        let address = self.computed(symbol, size, register, index.offset, 64, position)?;
        Ok(Value::RegAddress(address, 0))
    }

    /// Returns an array and the size of its elements.
    fn array(&self, name: &str, position: Position) -> Result<(Symbol, i64)> {
        match self.resolve(name) {
            Some(Name::Symbol(symbol, Some(size))) => Ok((symbol, size as i64)),
            Some(_) => Err(Error::new(position, format!("'{name}' is not an array, so it has no element to name"))),
            None => Err(self.undeclared(name, position)),
        }
    }

    /// Computes `symbol + (register + offset) * size` into a register.
    fn computed(
        &mut self,
        symbol: Symbol,
        size: i64,
        register: &str,
        offset: i64,
        bits: u32,
        position: Position,
    ) -> Result<Reg> {
        let source = self.register(register, position)?;
        let from = match self.function.registers[source as usize] {
            16 => U16,
            32 => U32,
            64 => U64,
            other => {
                return Err(Error::new(
                    position,
                    format!("'{register}' has {other} bit(s); an index has 16, 32 or 64"),
                ));
            }
        };
        let [index, low] = [(); 2].map(|()| self.temporary(32));
        let cut = vec![Suffix::Type(U32), Suffix::Type(from)];
        self.compute(Opcode::Cvt, cut, vec![Value::Reg(index), Value::Reg(source)], position)?;
        let scaled = [Value::Reg(index), Value::Int(size.into()), Value::Int(offset.wrapping_mul(size).into())];
        let operands = [Value::Reg(low)].into_iter().chain(scaled).collect();
        self.compute(Opcode::Mad, vec![Suffix::Modifier(Modifier::Lo), Suffix::Type(U32)], operands, position)?;
        let [wide, sum] = [(); 2].map(|()| self.temporary(bits));
        let ty = if bits == 32 { U32 } else { U64 };
        let widen = vec![Suffix::Type(ty), Suffix::Type(U32)];
        self.compute(Opcode::Cvt, widen, vec![Value::Reg(wide), Value::Reg(low)], position)?;
        let add = vec![Value::Reg(sum), Value::Reg(wide), Value::Symbol(symbol, 0)];
        self.compute(Opcode::Add, vec![Suffix::Type(ty)], add, position)?;
        Ok(sum)
    }
}
