//! Calls: direct ones, and indirect ones, which are lowered to a chain of comparisons with the possible callees.

use super::{Lowering, function_address};
use crate::ir::video::video;
use crate::ir::{Call, Inst, Reg, Terminator, Value};
use crate::ptx::{self, Error, FunctionKind, Modifier, Opcode, Position, Result, Suffix, Type};

/// Sizes and alignments of formals, which decide whether a function matches a prototype.
type Signature = (Vec<u64>, Vec<u64>);

fn signature(returns: &[ptx::Variable], params: &[ptx::Variable]) -> Signature {
    let bytes = |formals: &[ptx::Variable]| formals.iter().map(ptx::Variable::bytes).collect();
    (bytes(returns), bytes(params))
}

/// The parameters and results of a callee.
struct Formals {
    returns: Vec<ptx::Variable>,
    params: Vec<ptx::Variable>,
}

/// The slots of a call's arguments and results.
#[derive(Default)]
struct Passed {
    /// The slots of the results.
    returns: Vec<usize>,
    /// The slots of the arguments.
    args: Vec<usize>,
    /// Indices of results, and the registers into which they are loaded after the call.
    loads: Vec<(usize, String)>,
}

impl Formals {
    fn of(function: &ptx::Function) -> Formals {
        Formals { returns: function.returns.clone(), params: function.params.clone() }
    }
}

impl Lowering<'_> {
    /// Emits an instruction, or the instructions that it is lowered to, into the current block.
    pub(super) fn emit(&mut self, ast: &ptx::Instruction) -> Result<()> {
        match &ast.call {
            Some(call) => self.call(ast, call),
            None if ast.opcode == Opcode::Mov && ast.has(Modifier::V2) => self.move_vector(ast, 2),
            None if ast.opcode == Opcode::Mov && ast.has(Modifier::V4) => self.move_vector(ast, 4),
            None if ast.opcode == Opcode::Lop3 && ast.operands.len() == 6 => self.lop3_with_predicate(ast),
            None if video(ast.opcode).is_some() => self.video(ast),
            None if ast.opcode == Opcode::Cp => self.copy(ast),
            None if ast.has(Modifier::CompleteBytes) => self.with_signal(ast),
            None if ast.opcode == Opcode::Mbarrier => self.barrier(ast),
            None if ast.opcode == Opcode::Wmma => self.wmma(ast),
            None if ast.opcode == Opcode::Setmaxnreg => self.max_registers(ast),
            None if ast.opcode == Opcode::Mma => self.product(ast),
            None if ast.opcode == Opcode::Ldmatrix => self.load_matrix(ast),
            None if ast.opcode == Opcode::Stmatrix => self.store_matrix(ast),
            None => {
                let inst = self.resolved(ast)?;
                let inst = if ast.opcode == Opcode::Createpolicy || ast.has(Modifier::L2CacheHint) {
                    self.without_policy(inst)?
                } else {
                    inst
                };
                self.push(inst);
                Ok(())
            }
        }
    }

    /// Lowers a call, its arguments and its results. An indirect call becomes a chain of comparisons and direct calls.
    fn call(&mut self, ast: &ptx::Instruction, call: &ptx::CallOperands) -> Result<()> {
        let position = ast.position;
        let (callees, formals) = match &call.prototype {
            Some(prototype) => self.candidates(prototype, position)?,
            None => self.callee(&call.callee, position)?,
        };
        let passed = self.pass(call, &formals, position)?;
        match (&call.prototype, callees.as_slice()) {
            (None, [callee]) => {
                let direct = self.direct_call(ast, *callee, &passed)?;
                self.push(direct);
            }
            _ => self.indirect_call(ast, &call.callee, &callees, &passed)?,
        }
        for (at, name) in passed.loads {
            let register = ptx::Operand::Name(name);
            self.load_parameter(&register, passed.returns[at], &formals.returns[at], position)?;
        }
        Ok(())
    }

    /// Stores a call's arguments.
    fn pass(&mut self, call: &ptx::CallOperands, formals: &Formals, position: Position) -> Result<Passed> {
        let Formals { returns, params } = formals;
        let callee = &call.callee;
        if call.args.len() != params.len() {
            let message = format!("'{callee}' takes {} parameter(s), but {} are given", params.len(), call.args.len());
            return Err(Error::new(position, message));
        }
        if call.returns.len() != returns.len() {
            let (has, taken) = (returns.len(), call.returns.len());
            let message =
                format!("'{callee}' has {has} result(s), and the call takes {taken}: write '_' to discard a result");
            return Err(Error::new(position, message));
        }
        let mut passed = Passed::default();
        for (operand, formal) in call.args.iter().zip(params) {
            passed.args.push(self.argument(operand, formal, position)?);
        }
        for (at, (name, formal)) in call.returns.iter().zip(returns).enumerate() {
            let (slot, is_loaded) = self.result(name, formal, position)?;
            passed.returns.push(slot);
            passed.loads.extend(is_loaded.then(|| (at, name.clone())));
        }
        Ok(passed)
    }

    fn direct_call(&self, ast: &ptx::Instruction, callee: usize, passed: &Passed) -> Result<Inst> {
        let mut inst = self.synthetic(Opcode::Call, ast.suffixes.clone(), Vec::new(), ast.position)?;
        inst.call = Some(Call { callee, returns: passed.returns.clone(), args: passed.args.clone() });
        Ok(inst)
    }

    fn indirect_call(
        &mut self,
        ast: &ptx::Instruction,
        target: &str,
        callees: &[usize],
        passed: &Passed,
    ) -> Result<()> {
        let position = ast.position;
        let name = target;
        let target = self.register(name, position)?;
        if self.function.registers[target as usize] != 64 {
            return Err(Error::new(position, format!("'{name}' is not a 64-bit register")));
        }
        let (end, truth) = (self.new_block(), self.temporary(1));
        for &index in callees {
            let compare = self.is_function(target, index, truth, position)?;
            self.push(compare);
            let (taken, next) = (self.new_block(), self.new_block());
            self.terminate(Terminator::Branch(truth, false, taken, next));
            self.current = taken;
            let direct = self.direct_call(ast, index, passed)?;
            self.push(direct);
            self.terminate(Terminator::Jump(end));
            self.current = next;
        }
        // The address is that of no candidate: undefined in PTX, a fault here.
        self.terminate(Terminator::Trap(position));
        self.current = end;
        Ok(())
    }

    /// `setp.eq.b64 truth, target, function`
    fn is_function(&self, target: Reg, index: usize, truth: Reg, position: Position) -> Result<Inst> {
        let suffixes = vec![Suffix::Modifier(Modifier::Eq), Suffix::Type(Type::B64)];
        let operands = vec![Value::Reg(truth), Value::Reg(target), Value::Int(i128::from(function_address(index)))];
        self.synthetic(Opcode::Setp, suffixes, operands, position)
    }

    /// Returns the candidates of an indirect call: those listed, or those that match the prototype and whose address is
    /// taken.
    fn candidates(&self, name: &str, position: Position) -> Result<(Vec<usize>, Formals)> {
        if let Some(targets) = self.in_scopes(|scope| scope.tables.get(name).cloned()) {
            return self.targets(&targets, position);
        }
        let prototype = self.in_scopes(|scope| scope.prototypes.get(name).cloned());
        let prototype =
            prototype.ok_or_else(|| Error::new(position, format!("the prototype '{name}' is not defined")))?;
        let wanted = signature(&prototype.returns, &prototype.params);
        let fits = |index: &usize| {
            let function = self.defined[*index];
            function.kind == FunctionKind::Func
                && self.taken.contains(index)
                && signature(&function.returns, &function.params) == wanted
        };
        let found = (0..self.defined.len()).filter(fits).collect();
        Ok((found, Formals { returns: prototype.returns, params: prototype.params }))
    }

    /// Returns the functions of a `.calltargets` list.
    fn targets(&self, names: &[String], position: Position) -> Result<(Vec<usize>, Formals)> {
        let mut found = Vec::new();
        for name in names {
            let index = self.indices.get(name.as_str()).copied();
            let index =
                index.ok_or_else(|| Error::new(position, format!("the call target '{name}' is not defined")))?;
            found.push(index);
        }
        let of = |index: usize| signature(&self.defined[index].returns, &self.defined[index].params);
        match found.iter().zip(names).find(|(index, _)| of(**index) != of(found[0])) {
            Some((_, name)) => {
                let message = format!("the call target '{name}' has other parameters or results than '{}'", names[0]);
                Err(Error::new(position, message))
            }
            None => {
                let formals = Formals::of(self.defined[found[0]]);
                Ok((found, formals))
            }
        }
    }

    /// Returns the function that a direct call names.
    fn callee(&self, name: &str, position: Position) -> Result<(Vec<usize>, Formals)> {
        let Some(&callee) = self.indices.get(name) else {
            let message = format!("the function '{name}' is called but not defined in this module");
            return Err(Error::new(position, message));
        };
        let target = self.defined[callee];
        if target.kind == FunctionKind::Entry {
            return Err(Error::new(position, format!("'{name}' is a kernel and cannot be called")));
        }
        Ok((vec![callee], Formals::of(target)))
    }
}
