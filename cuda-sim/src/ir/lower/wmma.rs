//! Loads and stores of `wmma`: each lane accesses the elements of its own fragment.
//!
//! PTX leaves the assignment of elements to lanes open; here it is that of `mma`, in any memory order. An element's
//! position is the sum of a part that depends on the register and element, which is constant, and a part that depends
//! on the lane, which instructions compute. Lanes access memory when they reach the instruction, so earlier writes of
//! other lanes need a synchronisation.

use super::Lowering;
use crate::ir::matrix::{self, Fragment};
use crate::ir::{Inst, Special, Value};
use crate::ptx::{self, Error, Modifier, Opcode, Position, Result, Suffix, Type};
use std::collections::HashMap;

/// The memory order of a matrix's elements: row-major or column-major.
#[derive(Clone, Copy)]
struct Order {
    by_columns: bool,
}

impl Order {
    /// Returns the number of the row (or column), and the position in it.
    fn place(self, (row, column): (usize, usize)) -> (i128, i128) {
        let (row, column) = (row as i128, column as i128);
        if self.by_columns { (column, row) } else { (row, column) }
    }
}

/// The values that all accesses of one instruction share.
struct Access {
    fragment: Fragment,
    order: Order,
    position: Position,
    /// The address of the lane's part of the matrix in each row or column for which it was computed.
    starts: HashMap<i128, Value>,
    base: Value,
    /// The start of the lane's part: the number of its row or column, and the position in it. `stride` is their
    /// distance.
    lane: (Value, Value),
    stride: Value,
    space: Vec<Suffix>,
}

impl Lowering<'_> {
    /// Lowers `wmma`.
    pub(super) fn wmma(&mut self, ast: &ptx::Instruction) -> Result<()> {
        if ast.has(Modifier::Mma) {
            return self.product(ast);
        }
        let inst = self.resolved(ast)?;
        let (stores, operands) = (ast.has(Modifier::Store), inst.operands.as_slice());
        let (address, registers, matrix, stride) = match operands {
            [address, Value::Vector(registers), rest @ ..] if stores => (address, registers, 0, rest.first()),
            [Value::Vector(registers), address, rest @ ..] => (address, registers, matrix::loaded(&inst), rest.first()),
            _ => return Err(Error::new(ast.position, format!("'{}' lacks a fragment", ast.full_name()))),
        };
        let Some(fragment) = matrix::fragment(&inst, matrix) else { return Ok(()) };
        let mut access = self.access(&inst, fragment, address, stride)?;
        for (at, register) in registers.iter().enumerate() {
            // PTX may demand more registers than a fragment fills; the others hold copies.
            let which = at % fragment.registers();
            match stores {
                true => self.store_register(&mut access, which, register)?,
                false => self.load_register(&mut access, which, register)?,
            }
        }
        Ok(())
    }

    /// Emits the instructions that compute the address of a lane's part of a matrix.
    fn access(&mut self, inst: &Inst, fragment: Fragment, address: &Value, stride: Option<&Value>) -> Result<Access> {
        let (order, position) = (Order { by_columns: inst.has(Modifier::Col) }, inst.position);
        let [first, next, group] = [0, 1, 4].map(|lane| order.place(fragment.position(lane, 0, 0)));
        let base = match address {
            Value::RegAddress(reg, at) => {
                let narrow = self.function.registers[*reg as usize] == 32;
                let from = if narrow { Type::U32 } else { Type::U64 };
                let wide =
                    self.computed_as(Opcode::Cvt, vec![Type::U64, from], vec![Value::Reg(*reg)], 64, position)?;
                self.add(wide, Value::Int((*at).into()), position)?
            }
            Value::SymbolAddress(symbol, at) => Value::Symbol(*symbol, *at),
            Value::Absolute(at) => Value::Int((*at).into()),
            _ => return Err(Error::new(position, "this operand is not an address")),
        };
        let lane = self.computed_as(
            Opcode::Cvt,
            vec![Type::U64, Type::U32],
            vec![Value::Special(Special::LaneId)],
            64,
            position,
        )?;
        let number = self.computed_as(Opcode::Shr, vec![Type::U64], vec![lane.clone(), Value::Int(2)], 64, position)?;
        let member = self.computed_as(Opcode::And, vec![Type::B64], vec![lane, Value::Int(3)], 64, position)?;
        let of = |by_group: i128, by_member: i128| (by_group, by_member);
        let (line, place) = (of(group.0 - first.0, next.0 - first.0), of(group.1 - first.1, next.1 - first.1));
        let line = self.scaled([(&number, line.0), (&member, line.1)], position)?;
        let place = self.scaled([(&number, place.0), (&member, place.1)], position)?;
        let length = order.place((fragment.rows, fragment.columns)).1;
        let stride = match stride {
            None => Value::Int(length),
            Some(Value::Int(stride)) => Value::Int(*stride),
            Some(stride) => {
                self.computed_as(Opcode::Cvt, vec![Type::U64, Type::U32], vec![stride.clone()], 64, position)?
            }
        };
        let space = inst.modifiers().filter(|m| matches!(m, Modifier::Global | Modifier::Shared | Modifier::SharedCta));
        let space = space.map(Suffix::Modifier).collect();
        Ok(Access { fragment, order, position, starts: HashMap::new(), base, lane: (line, place), stride, space })
    }

    /// Emits an instruction without modifiers other than `.lo`, and returns the register of its result.
    fn computed_as(
        &mut self,
        opcode: Opcode,
        types: Vec<Type>,
        sources: Vec<Value>,
        bits: u32,
        position: Position,
    ) -> Result<Value> {
        let result = Value::Reg(self.temporary(bits));
        let low = matches!(opcode, Opcode::Mul | Opcode::Mad).then_some(Suffix::Modifier(Modifier::Lo));
        let suffixes = low.into_iter().chain(types.into_iter().map(Suffix::Type)).collect();
        let operands = [result.clone()].into_iter().chain(sources).collect();
        self.compute(opcode, suffixes, operands, position)?;
        Ok(result)
    }

    fn add(&mut self, a: Value, b: Value, position: Position) -> Result<Value> {
        self.computed_as(Opcode::Add, vec![Type::U64], vec![a, b], 64, position)
    }

    /// Emits the sum of multiples of two values, omitting those with a factor of 0.
    fn scaled(&mut self, parts: [(&Value, i128); 2], position: Position) -> Result<Value> {
        let mut sum = Value::Int(0);
        for (value, factor) in parts.into_iter().filter(|(_, factor)| *factor != 0) {
            let sources = vec![value.clone(), Value::Int(factor), sum];
            sum = self.computed_as(Opcode::Mad, vec![Type::U64], sources, 64, position)?;
        }
        Ok(sum)
    }

    /// Returns the address of a lane's element: a register and a constant offset.
    fn place(&mut self, access: &mut Access, register: usize, element: usize) -> Result<Value> {
        let bits = i128::from(access.fragment.number.bits());
        let (line, at) = access.order.place(access.fragment.position(0, register, element));
        let start = match access.starts.get(&line) {
            Some(start) => start.clone(),
            None => {
                let position = access.position;
                let (lane_line, lane_place) = access.lane.clone();
                let line_of_lane = self.add(lane_line, Value::Int(line), position)?;
                let sources = vec![line_of_lane, access.stride.clone(), lane_place];
                let index = self.computed_as(Opcode::Mad, vec![Type::U64], sources, 64, position)?;
                let sources = vec![index, Value::Int(bits)];
                let bit = self.computed_as(Opcode::Mul, vec![Type::U64], sources, 64, position)?;
                let byte = self.computed_as(Opcode::Shr, vec![Type::U64], vec![bit, Value::Int(3)], 64, position)?;
                let start = self.add(byte, access.base.clone(), position)?;
                access.starts.insert(line, start.clone());
                start
            }
        };
        let Value::Reg(start) = start else { return Err(Error::new(access.position, "an address in no register")) };
        Ok(Value::RegAddress(start, (at * bits / 8) as i64))
    }

    /// Returns true if the elements of a register are contiguous in memory.
    fn is_whole(access: &Access, register: usize) -> bool {
        let line = |element| access.order.place(access.fragment.position(0, register, element)).0;
        line(0) == line(access.fragment.number.in_register() - 1)
    }

    fn load_register(&mut self, access: &mut Access, register: usize, dest: &Value) -> Result<()> {
        let (number, position) = (access.fragment.number, access.position);
        let load = |this: &mut Self, dest: Value, address: Value, ty: Type, space: &[Suffix]| {
            let suffixes = space.iter().copied().chain([Suffix::Type(ty)]).collect();
            this.compute(Opcode::Ld, suffixes, vec![dest, address], position)
        };
        if Self::is_whole(access, register) {
            let address = self.place(access, register, 0)?;
            let ty = if number.register_bits() == 64 { Type::B64 } else { Type::B32 };
            return load(self, dest.clone(), address, ty, &access.space);
        }
        let ty = if number.bits() == 16 { Type::U16 } else { Type::U8 };
        let mut word = Value::Int(0);
        for element in 0..number.in_register() {
            let address = self.place(access, register, element)?;
            let part = Value::Reg(self.temporary(32));
            load(self, part.clone(), address, ty, &access.space)?;
            let by = Value::Int((number.bits() as usize * element) as i128);
            let moved = self.computed_as(Opcode::Shl, vec![Type::B32], vec![part, by], 32, position)?;
            word = self.computed_as(Opcode::Or, vec![Type::B32], vec![word, moved], 32, position)?;
        }
        self.compute(Opcode::Mov, vec![Suffix::Type(Type::B32)], vec![dest.clone(), word], position)
    }

    fn store_register(&mut self, access: &mut Access, register: usize, source: &Value) -> Result<()> {
        let (number, position) = (access.fragment.number, access.position);
        let store = |this: &mut Self, address: Value, source: Value, ty: Type, space: &[Suffix]| {
            let suffixes = space.iter().copied().chain([Suffix::Type(ty)]).collect();
            this.compute(Opcode::St, suffixes, vec![address, source], position)
        };
        if Self::is_whole(access, register) {
            let address = self.place(access, register, 0)?;
            let ty = if number.register_bits() == 64 { Type::B64 } else { Type::B32 };
            return store(self, address, source.clone(), ty, &access.space);
        }
        for element in 0..number.in_register() {
            let address = self.place(access, register, element)?;
            let by = Value::Int((number.bits() as usize * element) as i128);
            let part = self.computed_as(Opcode::Shr, vec![Type::B32], vec![source.clone(), by], 32, position)?;
            store(self, address, part, Type::B16, &access.space)?;
        }
        Ok(())
    }
}
