//! Operands: resolves names to registers, variables, functions and special registers, and checks them against the
//! form's shapes.

use super::vectors::{element_index, is_vector};
use super::{Lowering, Name, function_address};
use crate::ir::{ClusterRegister, Inst, LaneMask, RESERVED_SHARED, Reg, Special, Symbol, Value};
use crate::ptx::isa::{Form, Shape};
use crate::ptx::{self, AddressBase, Error, Modifier, Opcode, Operand, Position, Result, Space, Suffix, Type};

impl Lowering<'_> {
    pub(super) fn resolved(&mut self, ast: &ptx::Instruction) -> Result<Inst> {
        let form = ptx::find_form(ast.opcode, &ast.suffixes)
            .map_err(|why| Error::unsupported(ast.position, format!("'{}': {why}", ast.full_name())))?;
        let same_count =
            || ptx::forms(ast.opcode, &ast.suffixes).filter(|form| form.written().count() == ast.operands.len());
        let form = same_count().find(|f| self.could_be(f, &ast.operands)).or(same_count().next()).unwrap_or(form);
        let mut inst = Inst {
            position: ast.position,
            opcode: ast.opcode,
            suffixes: ast.suffixes.clone(),
            form,
            operands: Vec::new(),
            call: None,
        };
        let mut written = ast.operands.iter();
        for shape in form.operands {
            let value = if *shape == Shape::Selector {
                Value::Int(0)
            } else if *shape == Shape::ActiveLanes {
                Value::Int(u32::MAX.into())
            } else if shape.is_implicit() {
                Value::Reg(self.carry_flag())
            } else if let Some(operand) = written.next() {
                self.operand(*shape, operand, &inst, ast.position)?
            } else {
                return Err(Error::new(ast.position, format!("'{}' lacks an operand", ast.full_name())));
            };
            inst.operands.push(value);
        }
        self.check_vectors(&inst)?;
        Ok(inst)
    }

    /// Returns true if a form with this number of operands has predicates in the positions where these operands are
    /// predicates.
    fn could_be(&self, form: &Form, operands: &[Operand]) -> bool {
        let is_predicate = |operand: &Operand| match operand {
            Operand::Name(name) => match self.resolve(name) {
                Some(Name::Reg(reg)) => self.function.registers[reg as usize] == 1,
                _ => false,
            },
            operand => matches!(operand, Operand::Not(_)),
        };
        form.written().zip(operands).all(|(shape, operand)| match shape {
            Shape::SourceAs(ty) => ty == Type::Pred || !is_predicate(operand),
            Shape::SourcePred => is_predicate(operand) || form.opcode != Opcode::Cp,
            _ => true,
        })
    }

    /// Checks that vector loads, stores and atomics have as many elements as `.v2` and the like demand.
    fn check_vectors(&self, inst: &Inst) -> Result<()> {
        if inst.opcode == Opcode::Mov && inst.operands.iter().all(|value| matches!(value, Value::Vector(_))) {
            let message = "'mov' packs a vector or unpacks one: 'mov.v2' and 'mov.v4' move from vector to vector";
            return Err(Error::new(inst.position, message));
        }
        if !matches!(inst.opcode, Opcode::Ld | Opcode::Ldu | Opcode::St | Opcode::Atom | Opcode::Red) {
            return Ok(());
        }
        let wanted = elements(inst);
        let given = |(shape, value): (&Shape, &Value)| match (shape, value) {
            (Shape::DestVector(_) | Shape::SourceVector(_), Value::Vector(items)) => Some(Some(items.len())),
            (Shape::DestVector(_) | Shape::SourceVector(_), _) => Some(None),
            _ => None,
        };
        let mut all = inst.form.operands.iter().zip(&inst.operands).filter_map(given);
        let Some(found) = all.find(|found| *found != wanted) else { return Ok(()) };
        let message =
            format!("the access needs {} element(s), but {} are given", wanted.unwrap_or(1), found.unwrap_or(1));
        Err(Error::new(inst.position, message))
    }

    fn operand(&mut self, shape: Shape, operand: &Operand, inst: &Inst, position: Position) -> Result<Value> {
        let operand = match shape {
            Shape::DestVector(_) | Shape::SourceVector(_) | Shape::Move => &*self.spread(operand),
            _ => operand,
        };
        if let Operand::SymbolOffset(name, offset) = operand
            && let Some(Name::Reg(_)) = self.resolve(name)
        {
            let register = self.operand(shape, &Operand::Name(name.clone()), inst, position)?;
            return self.sum(register, operand, *offset, inst.ty(0).is_float(), position);
        }
        match (shape, operand) {
            (Shape::Dest(i), _) => self.dest(operand, inst.ty(i), wide_allowed(inst), position),
            (Shape::DestWide(i), _) => self.dest_bits(operand, inst.ty(i).bits() * 2, false, position),
            (Shape::DestAs(ty), _) => self.dest(operand, ty, false, position),
            (Shape::DestPred | Shape::DestTwoPreds, Operand::Pair(p, q)) => {
                Ok(Value::Pair(self.predicate(p, position)?, self.predicate(q, position)?))
            }
            (Shape::DestPred | Shape::DestOnePred, _) => self.dest(operand, Type::Pred, false, position),
            (Shape::DestPair, Operand::Pair(d, p)) => {
                let d = if d == "_" { Value::Sink } else { Value::Reg(self.sized_register(d, 32, false, position)?) };
                let p = if p == "_" { Value::Sink } else { Value::Reg(self.predicate(p, position)?) };
                Ok(Value::Vector(vec![d, p]))
            }
            (Shape::DestPair, _) => self.dest(operand, Type::B32, false, position),
            (Shape::DestVector(i), Operand::Vector(items)) => {
                let bits = if inst.opcode == Opcode::Mov {
                    split_bits(inst.ty(i), items.len(), position)?
                } else {
                    inst.ty(i).bits()
                };
                let one = |item| self.dest_bits(item, bits, wide_allowed(inst), position);
                Ok(Value::Vector(items.iter().map(one).collect::<Result<_>>()?))
            }
            (Shape::DestVector(i), _) => self.dest(operand, inst.ty(i), wide_allowed(inst), position),
            (Shape::DestMatrix(i), _) => self.fragment(i, true, operand, inst, position),
            (Shape::SourceMatrix(i), _) => self.fragment(i, false, operand, inst, position),
            (Shape::Source(i), _) => self.source(operand, inst.ty(i).bits(), wide_allowed(inst), position),
            (Shape::SourceWide(i), _) => self.source(operand, inst.ty(i).bits() * 2, false, position),
            (Shape::SourceAs(ty), _) => self.source(operand, ty.bits(), false, position),
            (Shape::Immediate, Operand::Int(value)) => Ok(Value::Int(*value)),
            (Shape::SourcePred, _) => self.source(operand, 1, false, position),
            (Shape::SourceVector(i), Operand::Vector(items)) => {
                let one = |item| self.source(item, inst.ty(i).bits(), true, position);
                Ok(Value::Vector(items.iter().map(one).collect::<Result<_>>()?))
            }
            (Shape::SourceVector(i), _) => self.source(operand, inst.ty(i).bits(), true, position),
            (Shape::Address, Operand::Address(base, offset)) => self.address(base, *offset, inst, position),
            (Shape::Address, Operand::Element(name, index)) => self.element_access(name, index, inst),
            (Shape::Move, Operand::Vector(items)) => {
                let bits = split_bits(inst.ty(0), items.len(), position)?;
                let one = |item| self.source(item, bits, false, position);
                Ok(Value::Vector(items.iter().map(one).collect::<Result<_>>()?))
            }
            (Shape::Move, Operand::Element(name, index)) => self.element(name, index, inst.ty(0).bits(), position),
            (Shape::Move, _) => self.source(operand, inst.ty(0).bits(), false, position),
            _ => Err(Error::new(position, format!("'{operand}' is not allowed here"))),
        }
    }

    /// Lowers a register plus a constant that is used as a source, such as `%r1+4`.
    fn sum(&mut self, register: Value, text: &Operand, offset: i64, float: bool, position: Position) -> Result<Value> {
        let bits = match register {
            Value::Reg(reg) if !float => self.function.registers[reg as usize],
            _ => 0,
        };
        let ty = match bits {
            16 => Type::U16,
            32 => Type::U32,
            64 => Type::U64,
            _ => return Err(Error::new(position, format!("'{text}' is not a sum of integers"))),
        };
        let sum = Value::Reg(self.temporary(bits));
        let operands = vec![sum.clone(), register, Value::Int(offset.into())];
        self.compute(Opcode::Add, vec![Suffix::Type(ty)], operands, position)?;
        Ok(sum)
    }

    fn dest(&self, operand: &Operand, ty: Type, wide: bool, position: Position) -> Result<Value> {
        self.dest_bits(operand, ty.bits(), wide, position)
    }

    pub(super) fn dest_bits(&self, operand: &Operand, bits: u32, wide: bool, position: Position) -> Result<Value> {
        match operand {
            Operand::Sink => Ok(Value::Sink),
            Operand::Name(name) => self.sized_register(name, bits, wide, position).map(Value::Reg),
            _ => Err(Error::new(position, format!("'{operand}' is not a register"))),
        }
    }

    fn sized_register(&self, name: &str, bits: u32, wide: bool, position: Position) -> Result<Reg> {
        let reg = self.register(name, position)?;
        let has = self.function.registers[reg as usize];
        // 8-bit values live in registers of 16 bits and more.
        let fits = has == bits || (wide && has > bits && has != 1 && bits != 1);
        if fits {
            return Ok(reg);
        }
        Err(Error::new(position, format!("'{name}' has {has} bit(s) where the instruction needs {bits}")))
    }

    pub(super) fn source(&self, operand: &Operand, bits: u32, wide: bool, position: Position) -> Result<Value> {
        match operand {
            Operand::Int(value) => Ok(Value::Int(*value)),
            Operand::F32(value) if bits >= 32 => Ok(Value::F32(*value)),
            Operand::F64(value) if bits >= 32 => Ok(Value::F64(*value)),
            Operand::Not(name) if bits == 1 => Ok(Value::Not(self.predicate(name, position)?)),
            Operand::Name(name) if name == "WARP_SZ" => Ok(Value::Int(32)),
            Operand::Name(name) => match self.resolve(name) {
                Some(Name::Reg(_) | Name::Vector(..)) => {
                    self.sized_register(name, bits, wide, position).map(Value::Reg)
                }
                Some(Name::Symbol(symbol, _)) if bits >= 32 => Ok(Value::Symbol(symbol, 0)),
                Some(Name::Symbol(..)) => Err(Error::new(position, format!("an address does not fit {bits} bits"))),
                None if bits == 64 && self.indices.contains_key(name.as_str()) => {
                    Ok(Value::Int(i128::from(function_address(self.indices[name.as_str()]))))
                }
                None => self.special(name, position).map(Value::Special),
            },
            Operand::SymbolOffset(name, offset) => match self.resolve(name) {
                Some(Name::Symbol(symbol, _)) if bits >= 32 => Ok(Value::Symbol(symbol, *offset)),
                Some(Name::Symbol(..)) => Err(Error::new(position, format!("an address does not fit {bits} bits"))),
                _ => Err(Error::new(position, format!("'{name}' is not a variable"))),
            },
            _ => Err(Error::new(position, format!("'{operand}' cannot be a source here"))),
        }
    }

    fn special(&self, name: &str, position: Position) -> Result<Special> {
        if let Some(special) = special(name) {
            return Ok(special);
        }
        if self.indices.contains_key(name) {
            return Err(Error::new(position, format!("the address of the function '{name}' needs 64 bits")));
        }
        if let Some(error) = self.no_element(name, position) {
            return Err(error);
        }
        match name.starts_with('%') && !name.as_bytes().last().is_some_and(u8::is_ascii_digit) {
            true => Err(Error::unsupported(
                position,
                format!("'{name}' is neither a declared register nor a supported special register"),
            )),
            false => Err(self.undeclared(name, position)),
        }
    }

    /// Checks that an access to a parameter stays inside it: parameters are in the device's own memory.
    fn check_parameter(&self, name: &str, symbol: Symbol, offset: i64, inst: &Inst) -> Result<()> {
        let (start, room) = match symbol {
            Symbol::Slot(slot) => (0, self.function.slots[slot].bytes),
            // A kernel's parameters are contiguous, and compilers load several at once.
            Symbol::KernelParam(at) => (at, self.function.signature.param_bytes()),
            _ => return Ok(()),
        };
        let bytes = inst.ty(0).bytes() * elements(inst).unwrap_or(1) as u64;
        let end = start.checked_add_signed(offset).and_then(|at| at.checked_add(bytes));
        if end.is_some_and(|end| end <= room) {
            return Ok(());
        }
        let message = format!("{bytes} byte(s) at '{name}{offset:+}' are not in the parameters, which take {room}");
        Err(Error::new(inst.position, message))
    }

    pub(super) fn address(&self, base: &AddressBase, offset: i64, inst: &Inst, position: Position) -> Result<Value> {
        let AddressBase::Name(name) = base else { return Ok(Value::Absolute(offset)) };
        match self.resolve(name) {
            Some(Name::Vector(..)) => self.register(name, position).map(|reg| Value::RegAddress(reg, offset)),
            Some(Name::Reg(reg)) => match self.function.registers[reg as usize] {
                32 | 64 => Ok(Value::RegAddress(reg, offset)),
                _ => Err(Error::new(position, format!("'{name}' is too narrow for an address"))),
            },
            Some(Name::Symbol(symbol, _)) => {
                let space = inst.space_of(inst.operands.len());
                let fits = match symbol {
                    Symbol::Data(_) | Symbol::Managed(_) => matches!(space, None | Some(Space::Global | Space::Const)),
                    Symbol::Shared(_) | Symbol::DynamicShared => space == Some(Space::Shared),
                    Symbol::Local(_) => matches!(space, None | Some(Space::Local)),
                    Symbol::KernelParam(_) => space == Some(Space::Param) && inst.opcode == Opcode::Ld,
                    Symbol::Slot(_) => space == Some(Space::Param),
                };
                if fits {
                    self.check_parameter(name, symbol, offset, inst)?;
                    return Ok(Value::SymbolAddress(symbol, offset));
                }
                Err(Error::new(position, format!("'{name}' is not in the state space of this access")))
            }
            None => Err(self.undeclared(name, position)),
        }
    }

    /// Returns the error for a name that resolves to nothing.
    pub(super) fn undeclared(&self, name: &str, position: Position) -> Error {
        if let Some(error) = self.no_element(name, position) {
            return error;
        }
        let what = match self.undefined.contains(name) {
            true => "declared .extern and defined nowhere",
            false => "not declared",
        };
        Error::new(position, format!("'{name}' is {what}"))
    }
}

/// Returns the number of elements of a vector access.
fn elements(inst: &Inst) -> Option<usize> {
    inst.modifiers().find_map(|m| match m {
        Modifier::V2 => Some(2),
        Modifier::V4 => Some(4),
        Modifier::V8 => Some(8),
        _ => None,
    })
}

/// Returns the bits of each element when `mov` packs or unpacks a vector.
fn split_bits(ty: Type, parts: usize, position: Position) -> Result<u32> {
    match (ty.bits(), parts) {
        (bits @ (16 | 32 | 64 | 128), 2 | 4) => Ok(bits / parts as u32),
        (bits, _) => Err(Error::new(position, format!("{bits} bits do not split into {parts} parts"))),
    }
}

/// Returns true if the registers may be wider than the instruction's type, as for loads, stores and conversions.
fn wide_allowed(inst: &Inst) -> bool {
    matches!(inst.opcode, Opcode::Ld | Opcode::Ldu | Opcode::St | Opcode::Cvt)
}

fn special(name: &str) -> Option<Special> {
    let name = name.strip_prefix('%')?;
    if let Some((base, component)) = name.split_once('.') {
        let axis = element_index(component)?;
        return Some(match base {
            _ if axis == 3 && is_vector(base) => Special::Zero,
            "tid" => Special::Tid(axis),
            "cluster_ctaid" => Special::Cluster(ClusterRegister::Ctaid(axis)),
            "cluster_nctaid" => Special::Cluster(ClusterRegister::Nctaid(axis)),
            "clusterid" => Special::Cluster(ClusterRegister::Id(axis)),
            "nclusterid" => Special::Cluster(ClusterRegister::Count(axis)),
            "ntid" => Special::Ntid(axis),
            "ctaid" => Special::Ctaid(axis),
            "nctaid" => Special::Nctaid(axis),
            _ => return None,
        });
    }
    Some(match name {
        "laneid" => Special::LaneId,
        "warpid" => Special::WarpId,
        "nwarpid" => Special::NWarpId,
        "lanemask_eq" => Special::LaneMask(LaneMask::Eq),
        "lanemask_lt" => Special::LaneMask(LaneMask::Lt),
        "lanemask_le" => Special::LaneMask(LaneMask::Le),
        "lanemask_gt" => Special::LaneMask(LaneMask::Gt),
        "lanemask_ge" => Special::LaneMask(LaneMask::Ge),
        "smid" => Special::SmId,
        "nsmid" => Special::NSmId,
        "gridid" => Special::GridId,
        "clock" => Special::Clock32,
        "clock_hi" => Special::ClockHigh,
        "globaltimer_lo" => Special::GlobalTimerLow,
        "globaltimer_hi" => Special::GlobalTimerHigh,
        "cluster_ctarank" => Special::Cluster(ClusterRegister::Rank),
        "cluster_nctarank" => Special::Cluster(ClusterRegister::Ranks),
        "is_explicit_cluster" => Special::Cluster(ClusterRegister::Explicit),
        "aggr_smem_size" | "current_graph_exec" => Special::Zero,
        // Cooperative groups of more than a warp use the second part.
        "reserved_smem_offset_begin" | "reserved_smem_offset_0" => Special::ReservedShared(0),
        "reserved_smem_offset_1" => Special::ReservedShared(RESERVED_SHARED / 2),
        "reserved_smem_offset_end" | "reserved_smem_offset_cap" => Special::ReservedShared(RESERVED_SHARED),
        "clock64" => Special::Clock64,
        "globaltimer" => Special::GlobalTimer,
        "dynamic_smem_size" => Special::DynamicShared,
        "total_smem_size" => Special::TotalShared,
        "warpsize" => Special::WarpSize,
        // Undocumented: the registers in which the headers of cooperative groups expect the workspace's address.
        "envreg1" => Special::Workspace(true),
        "envreg2" => Special::Workspace(false),
        // Implementation-defined registers, and counters that are not implemented.
        _ => {
            let numbered = |prefix: &str, end: &str| {
                let digits = name.strip_prefix(prefix)?.strip_suffix(end)?;
                digits.parse::<u32>().ok().filter(|_| digits.len() <= 2 && !digits.starts_with('+'))
            };
            let known = numbered("envreg", "").is_some_and(|n| n < 32)
                || numbered("pm", "").or_else(|| numbered("pm", "_64")).is_some_and(|n| n < 8);
            return known.then_some(Special::Zero);
        }
    })
}
