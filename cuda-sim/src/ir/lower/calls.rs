//! Calls: direct ones, and indirect ones as a choice among the functions that the address may be of.

use super::{Lowering, Name, function_address};
use crate::ir::{Call, Inst, Reg, Symbol, Term, Value};
use crate::ptx::{self, Error, FunctionKind, Modifier, Opcode, Position, Result, Suffix, Type};

/// Size and alignment of formals, by which a function fits a prototype.
type Signature = (Vec<u64>, Vec<u64>);

fn signature(returns: &[ptx::Variable], params: &[ptx::Variable]) -> Signature {
    let bytes = |formals: &[ptx::Variable]| formals.iter().map(ptx::Variable::bytes).collect();
    (bytes(returns), bytes(params))
}

impl Lowering<'_> {
    /// Adds an instruction to the current block, an indirect call as a chain of comparisons and direct calls.
    pub(super) fn emit(&mut self, ast: &ptx::Instruction) -> Result<()> {
        match &ast.call {
            Some(call) if call.prototype.is_some() => self.indirect_call(ast, call),
            _ if ast.opcode == Opcode::Mov && ast.has(Modifier::V2) => self.move_vector(ast, 2),
            _ if ast.opcode == Opcode::Mov && ast.has(Modifier::V4) => self.move_vector(ast, 4),
            _ => {
                let inst = self.resolved(ast)?;
                self.push(inst);
                Ok(())
            }
        }
    }

    fn indirect_call(&mut self, ast: &ptx::Instruction, call: &ptx::CallOperands) -> Result<()> {
        let position = ast.position;
        let target = self.register(&call.callee, position)?;
        if self.function.registers[target as usize] != 64 {
            return Err(Error::new(position, format!("'{}' is not a 64-bit register", call.callee)));
        }
        let candidates = self.candidates(call, position)?;
        let (end, truth) = (self.new_block(), self.temporary(1));
        for index in candidates {
            let direct = ptx::CallOperands {
                callee: self.defined[index].name.clone(),
                prototype: None,
                returns: call.returns.clone(),
                args: call.args.clone(),
            };
            let mut inst = self.resolved(&ptx::Instruction { call: Some(direct), ..ast.clone() })?;
            inst.position = position;
            let compare = self.is_function(target, index, truth, position)?;
            self.push(compare);
            let (taken, next) = (self.new_block(), self.new_block());
            self.terminate(Term::Branch(truth, false, taken, next));
            self.current = taken;
            self.push(inst);
            self.terminate(Term::Jump(end));
            self.current = next;
        }
        // An address of no such function: undefined in PTX, a fault here.
        self.terminate(Term::Trap(position));
        self.current = end;
        Ok(())
    }

    /// `setp.eq.b64 truth, target, function`
    fn is_function(&self, target: Reg, index: usize, truth: Reg, position: Position) -> Result<Inst> {
        let suffixes = vec![Suffix::Modifier(Modifier::Eq), Suffix::Type(Type::B64)];
        let operands = vec![Value::Reg(truth), Value::Reg(target), Value::Int(i128::from(function_address(index)))];
        self.synthetic(Opcode::Setp, suffixes, operands, position)
    }

    /// The functions that an indirect call may reach: those listed, or those that fit and whose address is taken.
    fn candidates(&self, call: &ptx::CallOperands, position: Position) -> Result<Vec<usize>> {
        let name = call.prototype.as_deref().unwrap_or("");
        if let Some(targets) = self.in_scopes(|scope| scope.tables.get(name).cloned()) {
            let index = |target: &String| {
                let found = self.indices.get(target.as_str()).copied();
                found.ok_or_else(|| Error::new(position, format!("the call target '{target}' is not defined")))
            };
            return targets.iter().map(index).collect();
        }
        let wanted = self
            .in_scopes(|scope| scope.prototypes.get(name).map(|p| signature(&p.returns, &p.params)))
            .ok_or_else(|| Error::new(position, format!("the prototype '{name}' is not defined")))?;
        let fits = |index: &usize| {
            let function = self.defined[*index];
            function.kind == FunctionKind::Func
                && self.taken.contains(index)
                && signature(&function.returns, &function.params) == wanted
        };
        Ok((0..self.defined.len()).filter(fits).collect())
    }

    pub(super) fn call(&self, ast: &ptx::CallOperands, position: Position) -> Result<Call> {
        let Some(&callee) = self.indices.get(ast.callee.as_str()) else {
            let message = format!("the function '{}' is called but not defined in this module", ast.callee);
            return Err(Error::new(position, message));
        };
        let target = self.defined[callee];
        if target.kind == FunctionKind::Entry {
            return Err(Error::new(position, format!("'{}' is a kernel and cannot be called", ast.callee)));
        }
        let slots = |names: &[String], formals: &[ptx::Variable]| -> Result<Vec<usize>> {
            if names.len() != formals.len() {
                let message = format!("'{}' takes {} parameter(s), {} given", ast.callee, formals.len(), names.len());
                return Err(Error::new(position, message));
            }
            let one = |(name, formal): (&String, &ptx::Variable)| match self.resolve(name) {
                Some(Name::Symbol(Symbol::Slot(slot), _)) if self.function.slots[slot].bytes >= formal.bytes() => {
                    Ok(slot)
                }
                Some(Name::Symbol(Symbol::Slot(_), _)) => {
                    Err(Error::new(position, format!("'{name}' is smaller than the parameter '{}'", formal.name)))
                }
                _ => Err(Error::new(position, format!("'{name}' is not a .param variable"))),
            };
            names.iter().zip(formals).map(one).collect()
        };
        Ok(Call { callee, returns: slots(&ast.returns, &target.returns)?, args: slots(&ast.args, &target.params)? })
    }
}
