//! Syntax tree to control-flow graph: resolves names, checks operands against their shapes, and turns guards into
//! branches. What passes here has the invariant of [`super`]; what does not is an error with its place.

use super::inline::inline;
use super::layout::{Layout, align_up, place};
use super::sync::is_sync;
use super::{Block, BlockId, Call, Function, Inst, LaneMask, Reg, Slot, Special, Symbol, Term, Value};
use crate::ptx::isa::Shape;
use crate::ptx::{self, AddressBase, Error, FunctionKind, Item, Module, Opcode, Operand, Position, Result};
use crate::ptx::{RegisterDecl, Space, Statement, Type};
use std::collections::{BTreeMap, HashMap};

/// Largest size of a kernel's parameters, CUDA's.
const MAX_PARAM_BYTES: u64 = 32764;

/// A module in the form that code is generated from.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) layout: Layout,
    pub(crate) functions: Vec<Function>,
}

/// Resolves and checks a module.
pub(crate) fn lower(module: &Module) -> Result<Program> {
    let layout = Layout::new(module)?;
    let mut indices: HashMap<&str, usize> = HashMap::new();
    let mut defined: Vec<&ptx::Function> = Vec::new();
    for item in &module.items {
        let Item::Function(function) = item else { continue };
        if function.body.is_none() {
            continue;
        }
        if indices.insert(&function.name, defined.len()).is_some() {
            return Err(Error::new(function.position, format!("'{}' is defined twice", function.name)));
        }
        defined.push(function);
    }
    // Shared variables of functions come first, each in a place of its own, and are part of every kernel.
    let mut shared = layout.shared_bytes;
    let mut functions: Vec<Option<Function>> = vec![None; defined.len()];
    for kind in [FunctionKind::Func, FunctionKind::Entry] {
        for (index, function) in defined.iter().enumerate().filter(|(_, f)| f.kind == kind) {
            let mut lowering = Lowering::new(&layout, &indices, &defined, function)?;
            lowering.function.shared_bytes = shared;
            let lowered = lowering.run(function)?;
            if kind == FunctionKind::Func {
                shared = lowered.shared_bytes;
            }
            functions[index] = Some(lowered);
        }
    }
    let mut functions: Vec<Function> = functions.into_iter().flatten().collect();
    inline(&mut functions);
    Ok(Program { layout, functions })
}

#[derive(Clone, Copy)]
enum Name {
    Reg(Reg),
    Symbol(Symbol),
}

#[derive(Default)]
struct Scope {
    parent: usize,
    names: HashMap<String, Name>,
    /// `%r<5>` declares `%r0` to `%r4`: prefix, first register, count.
    ranges: Vec<(String, Reg, u32)>,
    labels: HashMap<String, BlockId>,
    tables: HashMap<String, Vec<String>>,
}

struct Lowering<'a> {
    layout: &'a Layout,
    indices: &'a HashMap<&'a str, usize>,
    defined: &'a [&'a ptx::Function],
    function: Function,
    scopes: Vec<Scope>,
    scope: usize,
    blocks: Vec<(Vec<Inst>, Option<Term>)>,
    current: BlockId,
}

fn slot(variable: &ptx::Variable, offset: u64) -> Slot {
    Slot { offset, bytes: variable.bytes(), align: variable.alignment() }
}

impl<'a> Lowering<'a> {
    fn new(
        layout: &'a Layout,
        indices: &'a HashMap<&'a str, usize>,
        defined: &'a [&'a ptx::Function],
        ast: &ptx::Function,
    ) -> Result<Self> {
        let directive = |name: &str| ast.directives.iter().find(|d| d.name == name).map(|d| d.args.as_slice());
        let size =
            |args: &[u64]| std::array::from_fn(|i| args.get(i).map_or(1, |&n| n.min(u64::from(u32::MAX)) as u32));
        let function = Function {
            name: ast.name.clone(),
            kind: ast.kind,
            params: Vec::new(),
            slots: Vec::new(),
            kept_slots: BTreeMap::new(),
            returns: ast.returns.len(),
            formals: ast.params.len(),
            registers: Vec::new(),
            blocks: Vec::new(),
            local_bytes: 0,
            shared_bytes: layout.shared_bytes,
            max_threads: directive("maxntid").map(|args| args.iter().fold(1u64, |a, b| a.saturating_mul(*b))),
            required_threads: directive("reqntid").map(size),
        };
        let mut this = Lowering {
            layout,
            indices,
            defined,
            function,
            scopes: vec![Scope::default()],
            scope: 0,
            blocks: vec![(Vec::new(), None)],
            current: 0,
        };
        this.formals(ast)?;
        Ok(this)
    }

    fn formals(&mut self, ast: &ptx::Function) -> Result<()> {
        let mut offset = 0;
        for formal in ast.returns.iter().chain(&ast.params) {
            if formal.space != Space::Param {
                return Err(Error::unsupported(formal.position, "a formal in .reg space is not supported"));
            }
            let symbol = if ast.kind == FunctionKind::Entry {
                offset = align_up(offset, formal.alignment());
                self.function.params.push(slot(formal, offset));
                let symbol = Symbol::KernelParam(offset);
                offset = offset.saturating_add(formal.bytes());
                symbol
            } else {
                self.function.slots.push(slot(formal, 0));
                Symbol::Slot(self.function.slots.len() - 1)
            };
            self.define(&formal.name, Name::Symbol(symbol), formal.position)?;
        }
        if offset > MAX_PARAM_BYTES {
            let message = format!("the parameters of '{}' take {offset} bytes, more than {MAX_PARAM_BYTES}", ast.name);
            return Err(Error::new(ast.position, message));
        }
        Ok(())
    }

    fn define(&mut self, name: &str, value: Name, position: Position) -> Result<()> {
        match self.scopes[self.scope].names.insert(name.to_owned(), value) {
            None => Ok(()),
            Some(_) => Err(Error::new(position, format!("'{name}' is declared twice in this scope"))),
        }
    }

    fn run(mut self, ast: &ptx::Function) -> Result<Function> {
        let body = ast.body.as_deref().unwrap_or(&[]);
        self.collect_labels(body)?;
        self.scope = 0;
        let mut opened = 0;
        for statement in body {
            match statement {
                Statement::Open => {
                    opened += 1;
                    self.scope = opened;
                }
                Statement::Close => self.scope = self.scopes[self.scope].parent,
                Statement::Registers(decl) => self.registers(decl)?,
                Statement::Variable(variable) => self.variable(variable)?,
                Statement::Label(name, _) => {
                    let target = self.scopes[self.scope].labels[name];
                    self.terminate(Term::Jump(target));
                    self.current = target;
                }
                Statement::Instruction(instruction) => self.instruction(instruction)?,
                Statement::BranchTargets(..) | Statement::Note(_) => {}
            }
        }
        self.terminate(Term::Return);
        let blocks = std::mem::take(&mut self.blocks);
        // A block without a terminator ends the text, where PTX returns.
        let finish = |(insts, term): (Vec<Inst>, Option<Term>)| Block { insts, term: term.unwrap_or(Term::Return) };
        self.function.blocks = blocks.into_iter().map(finish).collect();
        super::rename::separate(&mut self.function);
        Ok(self.function)
    }

    /// First pass: scopes, labels and branch tables, which may be used before they are written.
    fn collect_labels(&mut self, body: &[Statement]) -> Result<()> {
        for statement in body {
            match statement {
                Statement::Open => {
                    self.scopes.push(Scope { parent: self.scope, ..Scope::default() });
                    self.scope = self.scopes.len() - 1;
                }
                Statement::Close => self.scope = self.scopes[self.scope].parent,
                Statement::Label(name, position) => {
                    let block = self.new_block();
                    if self.scopes[self.scope].labels.insert(name.clone(), block).is_some() {
                        return Err(Error::new(*position, format!("the label '{name}' is defined twice")));
                    }
                }
                Statement::BranchTargets(name, targets) => {
                    self.scopes[self.scope].tables.insert(name.clone(), targets.clone());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn new_block(&mut self) -> BlockId {
        self.blocks.push((Vec::new(), None));
        self.blocks.len() - 1
    }

    /// Ends the current block, unless it has ended already.
    fn terminate(&mut self, term: Term) {
        self.blocks[self.current].1.get_or_insert(term);
    }

    /// Ends the current block and goes on in a new one.
    fn split(&mut self, term: Term) -> BlockId {
        self.terminate(term);
        self.current = self.new_block();
        self.current
    }

    fn registers(&mut self, decl: &RegisterDecl) -> Result<()> {
        for (name, count) in &decl.names {
            let first = self.function.registers.len() as Reg;
            let n = count.unwrap_or(1);
            if self.function.registers.len() + n as usize > 1 << 20 {
                return Err(Error::unsupported(Position::default(), "more than 1048576 registers"));
            }
            self.function.registers.resize(first as usize + n as usize, decl.ty.bits());
            match count {
                Some(n) => self.scopes[self.scope].ranges.push((name.clone(), first, *n)),
                None => self.define(name, Name::Reg(first), Position::default())?,
            }
        }
        Ok(())
    }

    fn variable(&mut self, variable: &ptx::Variable) -> Result<()> {
        let symbol = match variable.space {
            Space::Local => Symbol::Local(place(&mut self.function.local_bytes, variable)?),
            Space::Shared => Symbol::Shared(place(&mut self.function.shared_bytes, variable)?),
            Space::Param => {
                if variable.bytes() > 1 << 20 {
                    return Err(Error::unsupported(variable.position, "a .param variable of more than 1 MiB"));
                }
                self.function.slots.push(slot(variable, 0));
                Symbol::Slot(self.function.slots.len() - 1)
            }
            space => {
                let message = format!("a .{} variable inside a function is not supported", space.name());
                return Err(Error::unsupported(variable.position, message));
            }
        };
        self.define(&variable.name, Name::Symbol(symbol), variable.position)
    }

    /// Looks a name up from the innermost scope outwards.
    fn in_scopes<T>(&self, find: impl Fn(&Scope) -> Option<T>) -> Option<T> {
        let mut at = self.scope;
        loop {
            if let Some(found) = find(&self.scopes[at]) {
                return Some(found);
            }
            if at == 0 {
                return None;
            }
            at = self.scopes[at].parent;
        }
    }

    fn resolve(&self, name: &str) -> Option<Name> {
        let local = self.in_scopes(|scope| {
            scope.names.get(name).copied().or_else(|| {
                scope.ranges.iter().find_map(|(prefix, first, count)| {
                    let digits = name.strip_prefix(prefix.as_str())?;
                    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
                    let index: u32 = plain.then(|| digits.parse().ok())??;
                    (index < *count).then_some(Name::Reg(first + index))
                })
            })
        });
        local.or_else(|| self.layout.symbols.get(name).map(|s| Name::Symbol(*s)))
    }

    fn register(&self, name: &str, position: Position) -> Result<Reg> {
        match self.resolve(name) {
            Some(Name::Reg(reg)) => Ok(reg),
            Some(Name::Symbol(_)) => Err(Error::new(position, format!("'{name}' is a variable, not a register"))),
            None => Err(Error::new(position, format!("'{name}' is not declared"))),
        }
    }

    fn predicate(&self, name: &str, position: Position) -> Result<Reg> {
        let reg = self.register(name, position)?;
        match self.function.registers[reg as usize] {
            1 => Ok(reg),
            _ => Err(Error::new(position, format!("'{name}' is not a predicate"))),
        }
    }

    fn label(&self, name: &str, position: Position) -> Result<BlockId> {
        self.in_scopes(|scope| scope.labels.get(name).copied())
            .ok_or_else(|| Error::new(position, format!("the label '{name}' is not defined")))
    }

    fn instruction(&mut self, ast: &ptx::Instruction) -> Result<()> {
        let guard = match &ast.guard {
            Some(guard) => Some((self.predicate(&guard.register, ast.position)?, guard.negated)),
            None => None,
        };
        if let Some(term) = self.control(ast)? {
            match (guard, term) {
                (None, term) => {
                    self.split(term);
                }
                (Some((reg, negated)), Term::Jump(target)) => {
                    let next = self.new_block();
                    self.terminate(Term::Branch(reg, negated, target, next));
                    self.current = next;
                }
                (Some((reg, negated)), term) => {
                    let (taken, next) = (self.new_block(), self.new_block());
                    self.terminate(Term::Branch(reg, negated, taken, next));
                    self.current = taken;
                    self.terminate(term);
                    self.current = next;
                }
            }
            return Ok(());
        }
        let inst = self.resolved(ast)?;
        let Some((reg, negated)) = guard else {
            self.push(inst);
            return Ok(());
        };
        let (taken, next) = (self.new_block(), self.new_block());
        self.terminate(Term::Branch(reg, negated, taken, next));
        self.current = taken;
        self.push(inst);
        self.terminate(Term::Jump(next));
        self.current = next;
        Ok(())
    }

    /// Adds to the current block; text after a terminator is unreachable and has a block of its own.
    fn push(&mut self, inst: Inst) {
        if is_sync(inst.opcode) {
            let next = self.new_block();
            self.terminate(Term::Sync(Box::new(inst), next));
            self.current = next;
            return;
        }
        self.blocks[self.current].0.push(inst);
    }

    /// The terminator that a control instruction is.
    fn control(&mut self, ast: &ptx::Instruction) -> Result<Option<Term>> {
        let position = ast.position;
        Ok(Some(match (ast.opcode, ast.operands.as_slice()) {
            (Opcode::Bra, [Operand::Name(label)]) => Term::Jump(self.label(label, position)?),
            (Opcode::BrxIdx, [Operand::Name(index), Operand::Name(table)]) => {
                let reg = self.register(index, position)?;
                let targets = self
                    .in_scopes(|scope| scope.tables.get(table).cloned())
                    .ok_or_else(|| Error::new(position, format!("the branch table '{table}' is not defined")))?;
                let blocks = targets.iter().map(|t| self.label(t, position)).collect::<Result<Vec<_>>>()?;
                if self.function.registers[reg as usize] != 32 {
                    return Err(Error::new(position, format!("the index '{index}' is not a 32-bit register")));
                }
                Term::Switch(reg, blocks)
            }
            (Opcode::Ret, _) if self.function.kind == FunctionKind::Entry => Term::Exit,
            (Opcode::Ret, _) => Term::Return,
            (Opcode::Exit, _) => Term::Exit,
            (Opcode::Trap, _) => Term::Trap,
            _ => return Ok(None),
        }))
    }

    fn resolved(&self, ast: &ptx::Instruction) -> Result<Inst> {
        let form = ptx::find_form(ast.opcode, &ast.suffixes)
            .map_err(|why| Error::unsupported(ast.position, format!("'{}': {why}", ast.full_name())))?;
        let mut same_name = ptx::forms(ast.opcode, &ast.suffixes);
        let form = same_name.find(|f| f.operands.len() == ast.operands.len()).unwrap_or(form);
        let mut inst = Inst {
            position: ast.position,
            opcode: ast.opcode,
            suffixes: ast.suffixes.clone(),
            form,
            operands: Vec::new(),
            call: None,
        };
        if let Some(call) = &ast.call {
            inst.call = Some(self.call(call, ast.position)?);
        }
        for (shape, operand) in form.operands.iter().zip(&ast.operands) {
            let value = self.operand(*shape, operand, &inst, ast.position)?;
            inst.operands.push(value);
        }
        self.check_vectors(&inst)?;
        Ok(inst)
    }

    fn call(&self, ast: &ptx::CallOperands, position: Position) -> Result<Call> {
        if ast.prototype.is_some() {
            return Err(Error::unsupported(position, "an indirect call is not supported by the software device"));
        }
        let Some(&callee) = self.indices.get(ast.callee.as_str()) else {
            let message = format!("the function '{}' is called but not defined in this module", ast.callee);
            return Err(Error::unsupported(position, message));
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
                Some(Name::Symbol(Symbol::Slot(slot))) if self.function.slots[slot].bytes >= formal.bytes() => Ok(slot),
                Some(Name::Symbol(Symbol::Slot(_))) => {
                    Err(Error::new(position, format!("'{name}' is smaller than the parameter '{}'", formal.name)))
                }
                _ => Err(Error::new(position, format!("'{name}' is not a .param variable"))),
            };
            names.iter().zip(formals).map(one).collect()
        };
        Ok(Call { callee, returns: slots(&ast.returns, &target.returns)?, args: slots(&ast.args, &target.params)? })
    }

    /// Vector loads and stores must have as many operands as `.v2` and the like say.
    fn check_vectors(&self, inst: &Inst) -> Result<()> {
        if !matches!(inst.opcode, Opcode::Ld | Opcode::Ldu | Opcode::St) {
            return Ok(());
        }
        let wanted = inst.modifiers().find_map(|m| match m.name() {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        });
        let found = inst.operands.iter().find_map(|v| match v {
            Value::Vector(items) => Some(items.len()),
            _ => None,
        });
        if wanted == found {
            return Ok(());
        }
        let message = format!("the access names {} element(s), {} given", wanted.unwrap_or(1), found.unwrap_or(1));
        Err(Error::new(inst.position, message))
    }

    fn operand(&self, shape: Shape, operand: &Operand, inst: &Inst, position: Position) -> Result<Value> {
        match (shape, operand) {
            (Shape::Dest(i), _) => self.dest(operand, inst.ty(i), wide_allowed(inst), position),
            (Shape::DestWide(i), _) => self.dest_bits(operand, inst.ty(i).bits() * 2, false, position),
            (Shape::DestAs(ty), _) => self.dest(operand, ty, false, position),
            (Shape::DestPred, Operand::Pair(p, q)) => {
                Ok(Value::Pair(self.predicate(p, position)?, self.predicate(q, position)?))
            }
            (Shape::DestPred, _) => self.dest(operand, Type::Pred, false, position),
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
            (Shape::Source(i), _) => self.source(operand, inst.ty(i).bits(), wide_allowed(inst), position),
            (Shape::SourceWide(i), _) => self.source(operand, inst.ty(i).bits() * 2, false, position),
            (Shape::SourceAs(ty), _) => self.source(operand, ty.bits(), false, position),
            (Shape::SourcePred, _) => self.source(operand, 1, false, position),
            (Shape::SourceVector(i), Operand::Vector(items)) => {
                let one = |item| self.source(item, inst.ty(i).bits(), true, position);
                Ok(Value::Vector(items.iter().map(one).collect::<Result<_>>()?))
            }
            (Shape::SourceVector(i), _) => self.source(operand, inst.ty(i).bits(), true, position),
            (Shape::Address, Operand::Address(base, offset)) => self.address(base, *offset, inst, position),
            (Shape::Move, Operand::Vector(items)) => {
                let bits = split_bits(inst.ty(0), items.len(), position)?;
                let one = |item| self.source(item, bits, false, position);
                Ok(Value::Vector(items.iter().map(one).collect::<Result<_>>()?))
            }
            (Shape::Move, _) => self.source(operand, inst.ty(0).bits(), false, position),
            _ => Err(Error::new(position, format!("'{operand}' cannot stand here"))),
        }
    }

    fn dest(&self, operand: &Operand, ty: Type, wide: bool, position: Position) -> Result<Value> {
        self.dest_bits(operand, ty.bits(), wide, position)
    }

    fn dest_bits(&self, operand: &Operand, bits: u32, wide: bool, position: Position) -> Result<Value> {
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

    fn source(&self, operand: &Operand, bits: u32, wide: bool, position: Position) -> Result<Value> {
        match operand {
            Operand::Int(value) => Ok(Value::Int(*value)),
            Operand::F32(value) if bits >= 32 => Ok(Value::F32(*value)),
            Operand::F64(value) if bits >= 32 => Ok(Value::F64(*value)),
            Operand::Not(name) if bits == 1 => Ok(Value::Not(self.predicate(name, position)?)),
            Operand::Name(name) if name == "WARP_SZ" => Ok(Value::Int(32)),
            Operand::Name(name) => match self.resolve(name) {
                Some(Name::Reg(_)) => self.sized_register(name, bits, wide, position).map(Value::Reg),
                Some(Name::Symbol(symbol)) if bits >= 32 => Ok(Value::Symbol(symbol, 0)),
                Some(Name::Symbol(_)) => Err(Error::new(position, format!("an address does not fit {bits} bits"))),
                None => self.special(name, position).map(Value::Special),
            },
            Operand::SymbolOffset(name, offset) => match self.resolve(name) {
                Some(Name::Symbol(symbol)) => Ok(Value::Symbol(symbol, *offset)),
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
            return Err(Error::unsupported(position, format!("the address of the function '{name}' is not supported")));
        }
        match name.starts_with('%') && !name.as_bytes().last().is_some_and(u8::is_ascii_digit) {
            true => Err(Error::unsupported(position, format!("'{name}' is not a register that is declared or known"))),
            false => Err(Error::new(position, format!("'{name}' is not declared"))),
        }
    }

    fn address(&self, base: &AddressBase, offset: i64, inst: &Inst, position: Position) -> Result<Value> {
        let AddressBase::Name(name) = base else { return Ok(Value::Absolute(offset)) };
        match self.resolve(name) {
            Some(Name::Reg(reg)) => match self.function.registers[reg as usize] {
                32 | 64 => Ok(Value::RegAddress(reg, offset)),
                _ => Err(Error::new(position, format!("'{name}' is too narrow for an address"))),
            },
            Some(Name::Symbol(symbol)) => {
                let space = inst.space();
                let fits = match symbol {
                    Symbol::Data(_) => matches!(space, None | Some(Space::Global | Space::Const)),
                    Symbol::Shared(_) | Symbol::DynamicShared => space == Some(Space::Shared),
                    Symbol::Local(_) => matches!(space, None | Some(Space::Local)),
                    Symbol::KernelParam(_) => space == Some(Space::Param) && inst.opcode == Opcode::Ld,
                    Symbol::Slot(_) => space == Some(Space::Param),
                };
                if fits {
                    return Ok(Value::SymbolAddress(symbol, offset));
                }
                Err(Error::new(position, format!("'{name}' is not in the state space of this access")))
            }
            None => Err(Error::new(position, format!("'{name}' is not declared"))),
        }
    }
}

/// Bits of each part when `mov` packs or unpacks a vector.
fn split_bits(ty: Type, parts: usize, position: Position) -> Result<u32> {
    match (ty.bits(), parts) {
        (bits @ (16 | 32 | 64 | 128), 2 | 4) => Ok(bits / parts as u32),
        (bits, _) => Err(Error::new(position, format!("{bits} bits do not split into {parts} parts"))),
    }
}

/// Loads, stores and conversions take registers wider than their type.
fn wide_allowed(inst: &Inst) -> bool {
    matches!(inst.opcode, Opcode::Ld | Opcode::Ldu | Opcode::St | Opcode::Cvt)
}

fn special(name: &str) -> Option<Special> {
    let name = name.strip_prefix('%')?;
    if let Some((base, component)) = name.split_once('.') {
        let axis = match component {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            _ => return None,
        };
        return Some(match base {
            "tid" => Special::Tid(axis),
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
        "clock64" => Special::Clock64,
        "globaltimer" => Special::GlobalTimer,
        "dynamic_smem_size" => Special::DynamicShared,
        "total_smem_size" => Special::TotalShared,
        // Not documented: where the headers of cooperative groups look for the workspace.
        "envreg1" => Special::Workspace(true),
        "envreg2" => Special::Workspace(false),
        "envreg0" => Special::Zero,
        "warpsize" => Special::WarpSize,
        _ => return None,
    })
}
