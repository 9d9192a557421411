//! Formal parameters in registers, as in `.func (.reg .u32 %r) f (.reg .u32 %a)`, and registers and constants as
//! arguments.
//!
//! Arguments are passed in slots nevertheless, so any argument fits any parameter of its size: a function loads its
//! parameters on entry and stores its results before it returns; a caller stores its arguments before the call and
//! loads the results after it.

use super::{Lowering, Name, registers_at, slot};
use crate::ir::{Reg, Symbol, Terminator, Value};
use crate::ptx::{self, Error, FunctionKind, Modifier, Opcode, Operand, Position, Result, Suffix, Type, Variable};

/// Returns the untyped (`.b`) type of this many bits.
fn untyped(bits: u32) -> Type {
    match bits {
        8 => Type::B8,
        16 => Type::B16,
        64 => Type::B64,
        128 => Type::B128,
        _ => Type::B32,
    }
}

/// Returns suffixes such as `.param.v2.b32` for a whole parameter.
fn suffixes(formal: &Variable) -> Vec<Suffix> {
    let vector = match formal.vector {
        Some(2) => Some(Modifier::V2),
        Some(_) => Some(Modifier::V4),
        None => None,
    };
    let modifiers = [Some(Modifier::Param), vector].into_iter().flatten().map(Suffix::Modifier);
    modifiers.chain([Suffix::Type(untyped(formal.ty.bits()))]).collect()
}

impl Lowering<'_> {
    /// Declares a parameter or result that is a register in the function: a slot and the register.
    pub(super) fn formal_in_register(&mut self, ast: &ptx::Function, formal: &Variable) -> Result<()> {
        let wrong = |what: &str| Err(Error::new(formal.position, format!("'{}' {what}", formal.name)));
        if ast.kind == FunctionKind::Entry {
            return wrong("is a parameter of a kernel, which has to be in .param space");
        }
        if formal.ty == Type::Pred {
            return wrong("is a predicate, which cannot be passed to a function");
        }
        if !formal.dimensions.is_empty() {
            return wrong("is an array, which has to be in .param space");
        }
        self.function.slots.push(slot(formal, 0));
        let (first, elements) = (self.function.registers.len(), formal.vector.unwrap_or(1));
        self.function.registers.resize(first + usize::from(elements), formal.ty.bits());
        self.define(&formal.name, registers_at(first as Reg, elements), formal.position)
    }

    /// Loads the parameters that are registers, and records the results that are.
    pub(super) fn load_formals(&mut self, ast: &ptx::Function) -> Result<()> {
        let is_register = |formal: &&Variable| formal.space == ptx::Space::Reg;
        for (at, formal) in ast.params.iter().enumerate().filter(|(_, formal)| is_register(formal)) {
            let register = Operand::Name(formal.name.clone());
            self.load_parameter(&register, ast.returns.len() + at, formal, formal.position)?;
        }
        let results = ast.returns.iter().enumerate().filter(|(_, formal)| is_register(formal));
        self.results = results.map(|(at, formal)| (at, formal.clone())).collect();
        if !self.results.is_empty() {
            self.epilogue = Some(self.new_block());
        }
        Ok(())
    }

    /// Returns the terminator that stands for a return.
    pub(super) fn returned(&self) -> Terminator {
        self.epilogue.map_or(Terminator::Return, Terminator::Jump)
    }

    /// Fills the block in which a function stores its results.
    pub(super) fn store_results(&mut self) -> Result<()> {
        let Some(epilogue) = self.epilogue else { return Ok(()) };
        (self.current, self.scope) = (epilogue, 0);
        for (at, formal) in std::mem::take(&mut self.results) {
            self.store_parameter(&Operand::Name(formal.name.clone()), at, &formal, formal.position)?;
        }
        self.terminate(Terminator::Return);
        Ok(())
    }

    /// Returns the slot of an argument: that of the `.param` variable, or a new one that holds the value.
    pub(super) fn argument(&mut self, operand: &Operand, formal: &Variable, position: Position) -> Result<usize> {
        if let Operand::Name(name) = operand
            && let Some(found) = self.parameter(name, formal, position)?
        {
            return Ok(found);
        }
        let is_float = match operand {
            Operand::Int(_) => Some(false),
            Operand::F32(_) | Operand::F64(_) => Some(true),
            _ => None,
        };
        let fits = |is_float| is_float == formal.ty.is_float() || formal.ty == untyped(formal.ty.bits());
        if !is_float.is_none_or(fits) {
            let message = format!("'{operand}' does not fit a parameter of type .{}", formal.ty.name());
            return Err(Error::new(position, message));
        }
        let at = self.new_slot(formal);
        self.store_parameter(operand, at, formal, position)?;
        Ok(at)
    }

    /// Returns the slot of a result, and whether the result has to be loaded from it.
    pub(super) fn result(&mut self, name: &str, formal: &Variable, position: Position) -> Result<(usize, bool)> {
        if name == "_" {
            return Ok((self.new_slot(formal), false));
        }
        match self.parameter(name, formal, position)? {
            Some(found) => Ok((found, false)),
            None => Ok((self.new_slot(formal), true)),
        }
    }

    /// Returns the slot of a `.param` variable that is passed as a parameter; `None` for a register.
    fn parameter(&self, name: &str, formal: &Variable, position: Position) -> Result<Option<usize>> {
        let message = match self.resolve(name) {
            Some(Name::Symbol(Symbol::Slot(slot), _)) if self.function.slots[slot].bytes >= formal.bytes() => {
                return Ok(Some(slot));
            }
            Some(Name::Symbol(Symbol::Slot(_), _)) => {
                format!("'{name}' is smaller than the parameter '{}'", formal.name)
            }
            Some(Name::Symbol(..)) => format!("'{name}' is not a .param variable"),
            Some(_) if !formal.dimensions.is_empty() => {
                format!("'{name}' is a register, and the parameter '{}' is an array", formal.name)
            }
            Some(_) => return Ok(None),
            None => return Err(self.undeclared(name, position)),
        };
        Err(Error::new(position, message))
    }

    fn new_slot(&mut self, formal: &Variable) -> usize {
        self.function.slots.push(slot(formal, 0));
        self.function.slots.len() - 1
    }

    fn store_parameter(&mut self, from: &Operand, at: usize, formal: &Variable, position: Position) -> Result<()> {
        let bits = formal.ty.bits();
        let value = match (&*self.spread(from), formal.vector) {
            (Operand::Vector(items), Some(count)) if items.len() == usize::from(count) => {
                let one = |item| self.source(item, bits, false, position);
                Value::Vector(items.iter().map(one).collect::<Result<_>>()?)
            }
            (_, Some(count)) => return Err(self.no_vector(from, count, position)),
            (_, None) => self.source(from, bits, false, position)?,
        };
        let operands = vec![Value::SymbolAddress(Symbol::Slot(at), 0), value];
        self.compute(Opcode::St, suffixes(formal), operands, position)
    }

    pub(super) fn load_parameter(
        &mut self,
        to: &Operand,
        at: usize,
        formal: &Variable,
        position: Position,
    ) -> Result<()> {
        let bits = formal.ty.bits();
        let dest = match (&*self.spread(to), formal.vector) {
            (Operand::Vector(items), Some(count)) if items.len() == usize::from(count) => {
                let one = |item| self.dest_bits(item, bits, false, position);
                Value::Vector(items.iter().map(one).collect::<Result<_>>()?)
            }
            (_, Some(count)) => return Err(self.no_vector(to, count, position)),
            (_, None) => self.dest_bits(to, bits, false, position)?,
        };
        let operands = vec![dest, Value::SymbolAddress(Symbol::Slot(at), 0)];
        self.compute(Opcode::Ld, suffixes(formal), operands, position)
    }

    fn no_vector(&self, operand: &Operand, count: u8, position: Position) -> Error {
        Error::new(position, format!("'{operand}' must be a vector of {count} registers, like the parameter"))
    }
}
