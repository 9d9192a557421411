//! Lowers the syntax tree to the control-flow graph: resolves names, checks operands against the shapes of the
//! instruction's form, and turns guards into branches. Lowered functions have the invariant of [`super`]; everything
//! else is an error with a position.

mod calls;
mod copies;
mod elements;
mod formals;
mod lop3;
mod matrix;
mod operands;
mod policies;
mod synthetic;
mod vectors;
mod video;
mod wmma;

use super::inline::inline;
use super::layout::{Layout, align_up, own_name, place};
use super::loops::{MAX_LOOP_BLOCKS, loop_blocks};
use super::prune::prune;
use super::sync::is_sync;
use super::{BasicBlock, BlockId, Clusters, Function, Inst, Reg, Signature, Slot, Symbol, Terminator, Value};
use crate::parallel::{in_parallel, threads_for};
use crate::ptx::{self, Error, FunctionKind, Init, Item, Module, Opcode, Operand, Position, Prototype, Result};
use crate::ptx::{RegisterDecl, Space, Statement, Type};
use std::collections::{BTreeMap, HashMap, HashSet};

/// CUDA's limit on the size of a kernel's parameters.
const MAX_PARAM_BYTES: u64 = 32764;

/// CUDA's limit on a thread's local memory.
const MAX_LOCAL_BYTES: u64 = 512 << 10;

/// The limit on the instructions of a function, including what is inlined into it.
const MAX_INSTRUCTIONS: usize = 1 << 20;

/// A module in the form from which code is generated.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) layout: Layout,
    pub(crate) functions: Vec<Function>,
}

impl Program {
    /// Returns true if a kernel may obtain an address other than by a parameter: by loading 64 bits, or by computing it
    /// from narrower parts.
    pub(crate) fn loads_addresses(&self) -> bool {
        let gives = |inst: &Inst| match inst.opcode {
            Opcode::Ld | Opcode::Ldu | Opcode::Atom => {
                inst.ty(0).bits() >= 64 && inst.ty(0) != Type::F64 && inst.space() != Some(Space::Param)
            }
            Opcode::Shl => {
                inst.ty(0).bits() >= 64 && matches!(inst.operands.get(2), Some(Value::Int(32..)) | Some(Value::Reg(_)))
            }
            Opcode::Bfi => inst.ty(0).bits() >= 64,
            Opcode::Mov => {
                inst.ty(0).bits() >= 64 && inst.operands.iter().skip(1).any(|v| matches!(v, Value::Vector(_)))
            }
            _ => false,
        };
        self.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts).any(gives)
    }
}

/// A function's address is a number that cannot be loaded from; an indirect call selects by it.
pub(crate) fn function_address(index: usize) -> u64 {
    0x00fc_0000_0000_0000 + 16 * index as u64
}

/// Resolves and checks a module.
pub(crate) fn lower(module: &Module) -> Result<Program> {
    let (indices, defined) = functions(module)?;
    let addresses = indices.iter().map(|(name, index)| (*name, function_address(*index))).collect();
    let layout = Layout::new(module, &addresses)?;
    let taken = addresses_taken(module, &indices);
    let undefined: HashSet<&str> = module
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Variable(v) if !layout.symbols.contains_key(&v.name) => Some(v.name.as_str()),
            Item::Function(f) if !indices.contains_key(f.name.as_str()) => Some(f.name.as_str()),
            _ => None,
        })
        .collect();
    let names =
        ModuleNames { layout: &layout, indices: &indices, defined: &defined, taken: &taken, undefined: &undefined };
    let lowered = |function: &ptx::Function, shared| {
        let mut lowering = Lowering::new(&names, function)?;
        lowering.function.signature.shared_bytes = shared;
        let lowered = lowering.run(function)?;
        check_size(&lowered, function.position)?;
        Ok(lowered)
    };
    // Shared variables of functions come first, each at its own offset, and are part of every kernel.
    let mut shared = layout.shared_bytes;
    let mut functions = Vec::with_capacity(defined.len());
    for function in &defined {
        let func = (function.kind == FunctionKind::Func).then(|| lowered(function, shared)).transpose()?;
        shared = func.as_ref().map_or(shared, |func| func.signature.shared_bytes);
        functions.push(func);
    }
    let kernels: Vec<&ptx::Function> = defined.iter().copied().filter(|f| f.kind == FunctionKind::Entry).collect();
    let statements = kernels.iter().filter_map(|kernel| kernel.body.as_ref()).map(Vec::len).sum();
    let mut kernels = in_parallel(&kernels, threads_for(statements), |kernel| lowered(kernel, shared)).into_iter();
    let functions = functions.into_iter().map(|function| function.map(Ok).or_else(|| kernels.next()));
    let mut functions: Vec<Function> = functions.flatten().collect::<Result<_>>()?;
    inline(&mut functions);
    functions.iter_mut().for_each(prune);
    functions.iter().zip(&defined).try_for_each(|(function, ast)| check_size(function, ast.position))?;
    Ok(Program { layout, functions })
}

/// Checks a function against the size limits that bound compile time.
fn check_size(function: &Function, position: Position) -> Result<()> {
    let (instructions, looped) = (function.instructions(), loop_blocks(function));
    let what = if instructions > MAX_INSTRUCTIONS {
        format!("{instructions} instructions, more than {MAX_INSTRUCTIONS}")
    } else if looped > MAX_LOOP_BLOCKS {
        format!("too many loops: their blocks sum to {}, and the limit is {MAX_LOOP_BLOCKS}", looped)
    } else {
        return Ok(());
    };
    Err(Error::unsupported(position, format!("'{}' has {what}", function.signature.name)))
}

/// Returns the functions that have bodies, in order, and their indices by name and alias.
fn functions(module: &Module) -> Result<(HashMap<&str, usize>, Vec<&ptx::Function>)> {
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
    for item in &module.items {
        let Item::Alias(alias) = item else { continue };
        let Some(&index) = indices.get(alias.function.as_str()) else {
            return Err(Error::new(alias.position, format!("'{}' is not a defined function", alias.function)));
        };
        if indices.insert(&alias.name, index).is_some_and(|old| old != index) {
            return Err(Error::new(alias.position, format!("'{}' is defined twice", alias.name)));
        }
    }
    Ok((indices, defined))
}

/// Returns the functions whose addresses are used as values: the candidates of indirect calls.
fn addresses_taken(module: &Module, indices: &HashMap<&str, usize>) -> HashSet<usize> {
    fn of_init(init: &Init, found: &mut dyn FnMut(&str)) {
        match init {
            Init::List(items) => items.iter().for_each(|item| of_init(item, found)),
            Init::Symbol(name, ..) => found(name),
            Init::Byte(_, address) => of_init(address, found),
            _ => {}
        }
    }
    let mut taken = HashSet::new();
    let mut found = |name: &str| {
        taken.extend(indices.get(name));
    };
    for item in &module.items {
        match item {
            Item::Variable(variable) => variable.init.iter().for_each(|init| of_init(init, &mut found)),
            Item::Function(function) => {
                for statement in function.body.iter().flatten() {
                    if let Statement::Variable(variable) = statement {
                        variable.init.iter().for_each(|init| of_init(init, &mut found));
                    }
                    let Statement::Instruction(instruction) = statement else { continue };
                    for operand in &instruction.operands {
                        if let Operand::Name(name) = operand {
                            found(name);
                        }
                    }
                }
            }
            _ => {}
        }
    }
    taken
}

/// The module-level names that functions may use.
struct ModuleNames<'a> {
    layout: &'a Layout,
    indices: &'a HashMap<&'a str, usize>,
    defined: &'a [&'a ptx::Function],
    taken: &'a HashSet<usize>,
    /// ModuleNames that are declared and defined nowhere.
    undefined: &'a HashSet<&'a str>,
}

#[derive(Clone, Copy)]
enum Name {
    Reg(Reg),
    /// Consecutive registers, the elements of a vector: the first one and their number.
    Vector(Reg, u8),
    /// A variable, with the size of its elements if it is an array.
    Symbol(Symbol, Option<u64>),
}

/// Registers, or vectors of them, that are named by a prefix and a number.
struct Range {
    prefix: String,
    first: Reg,
    count: u32,
    /// Registers for each name: 1, or the elements of a vector.
    elements: u8,
}

impl Range {
    fn find(&self, name: &str) -> Option<Name> {
        let digits = name.strip_prefix(self.prefix.as_str())?;
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let index: u32 = plain.then(|| digits.parse().ok())??;
        (index < self.count).then(|| registers_at(self.first + index * Reg::from(self.elements), self.elements))
    }
}

/// Returns the meaning of a name that declares this many registers from `first` on.
fn registers_at(first: Reg, elements: u8) -> Name {
    if elements == 1 { Name::Reg(first) } else { Name::Vector(first, elements) }
}

#[derive(Default)]
struct Scope {
    parent: usize,
    names: HashMap<String, Name>,
    /// `%r<5>` declares `%r0` to `%r4`.
    ranges: Vec<Range>,
    labels: HashMap<String, BlockId>,
    tables: HashMap<String, Vec<String>>,
    prototypes: HashMap<String, Prototype>,
}

/// Returns the arguments of a directive between a function's head and its body.
fn directive<'f>(ast: &'f ptx::Function, name: &str) -> Option<&'f [u64]> {
    ast.directives.iter().find(|d| d.name == name).map(|d| d.args.as_slice())
}

/// Returns three extents; omitted ones are 1.
fn size(args: &[u64]) -> [u32; 3] {
    std::array::from_fn(|i| args.get(i).map_or(1, |&n| n.min(u64::from(u32::MAX)) as u32))
}

/// Reads a kernel's cluster directives.
fn clusters(ast: &ptx::Function) -> Result<Clusters> {
    let found = Clusters {
        required: directive(ast, "reqnctapercluster").map(size),
        explicit: directive(ast, "explicitcluster").is_some(),
        most: directive(ast, "maxclusterrank").map(|args| size(args)[0]),
    };
    if directive(ast, "blocksareclusters").is_some() {
        let what = "a grid that is counted in clusters, .blocksareclusters, is not supported";
        return Err(Error::unsupported(ast.position, what));
    }
    let wrong = |why: &str| Err(Error::new(ast.position, format!("'{}': {why}", ast.name)));
    match found {
        Clusters { required: Some(_), most: Some(_), .. } => {
            wrong(".maxclusterrank and .reqnctapercluster exclude each other")
        }
        Clusters { required: Some(extents), .. } if extents.contains(&0) => {
            wrong("the extents of .reqnctapercluster begin at 1")
        }
        Clusters { most: Some(0), .. } => wrong(".maxclusterrank begins at 1"),
        found => Ok(found),
    }
}

struct Lowering<'a> {
    layout: &'a Layout,
    indices: &'a HashMap<&'a str, usize>,
    defined: &'a [&'a ptx::Function],
    taken: &'a HashSet<usize>,
    undefined: &'a HashSet<&'a str>,
    /// The carry flag's register, once an instruction needs it.
    carry: Option<Reg>,
    /// The number of the function's variables in global and constant memory that are lowered so far.
    own_variables: usize,
    /// The block in which a function with results in registers stores them and returns.
    epilogue: Option<BlockId>,
    /// Results that are registers, with their slots.
    results: Vec<(usize, ptx::Variable)>,
    function: Function,
    scopes: Vec<Scope>,
    scope: usize,
    blocks: Vec<(Vec<Inst>, Option<Terminator>)>,
    current: BlockId,
}

fn slot(variable: &ptx::Variable, offset: u64) -> Slot {
    Slot { offset, bytes: variable.bytes(), align: variable.alignment() }
}

impl<'a> Lowering<'a> {
    fn new(names: &ModuleNames<'a>, ast: &ptx::Function) -> Result<Self> {
        let directive = |name| directive(ast, name);
        let function = Function {
            signature: Signature {
                name: ast.name.clone(),
                params: Vec::new(),
                shared_bytes: names.layout.shared_bytes,
                constants: names.layout.constants,
                constant_bytes: names.layout.constant_bytes,
                only_fibers: false,
                max_threads: directive("maxntid").map(|args| args.iter().fold(1u64, |a, b| a.saturating_mul(*b))),
                required_threads: directive("reqntid").map(size),
                clusters: clusters(ast)?,
            },
            kind: ast.kind,
            slots: Vec::new(),
            local_slots: BTreeMap::new(),
            returns: ast.returns.len(),
            formals: ast.params.len(),
            registers: Vec::new(),
            blocks: Vec::new(),
            local_bytes: 0,
        };
        let mut this = Lowering {
            layout: names.layout,
            indices: names.indices,
            defined: names.defined,
            taken: names.taken,
            undefined: names.undefined,
            carry: None,
            own_variables: 0,
            epilogue: None,
            results: Vec::new(),
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
            if formal.space == Space::Reg {
                self.formal_in_register(ast, formal)?;
                continue;
            }
            let symbol = if ast.kind == FunctionKind::Entry {
                offset = align_up(offset, formal.alignment());
                self.function.signature.params.push(slot(formal, offset));
                let symbol = Symbol::KernelParam(offset);
                offset = offset.saturating_add(formal.bytes());
                symbol
            } else {
                self.function.slots.push(slot(formal, 0));
                Symbol::Slot(self.function.slots.len() - 1)
            };
            self.define(&formal.name, Name::Symbol(symbol, formal.element_bytes()), formal.position)?;
        }
        self.load_formals(ast)?;
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
                    self.terminate(Terminator::Jump(target));
                    self.current = target;
                }
                Statement::Instruction(instruction) => self.instruction(instruction)?,
                Statement::BranchTargets(..)
                | Statement::CallTargets(..)
                | Statement::Prototype(_)
                | Statement::Note(_) => {}
            }
        }
        let end = self.returned();
        self.terminate(end);
        self.store_results()?;
        let blocks = std::mem::take(&mut self.blocks);
        // A block without a terminator is at the end of the text, where PTX returns.
        let finish = |(insts, term): (Vec<Inst>, Option<Terminator>)| BasicBlock {
            insts,
            term: term.unwrap_or(Terminator::Return),
        };
        self.function.blocks = blocks.into_iter().map(finish).collect();
        super::rename::rename_registers(&mut self.function);
        prune(&mut self.function);
        Ok(self.function)
    }

    /// First pass: collects scopes, labels and branch tables, which may be used before they are defined.
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
                Statement::Prototype(prototype) => {
                    self.scopes[self.scope].prototypes.insert(prototype.name.clone(), prototype.clone());
                }
                Statement::BranchTargets(name, targets) | Statement::CallTargets(name, targets) => {
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

    /// Ends the current block, unless it has a terminator already.
    fn terminate(&mut self, term: Terminator) {
        self.blocks[self.current].1.get_or_insert(term);
    }

    /// Ends the current block and continues in a new one.
    fn split(&mut self, term: Terminator) -> BlockId {
        self.terminate(term);
        self.current = self.new_block();
        self.current
    }

    fn registers(&mut self, decl: &RegisterDecl) -> Result<()> {
        for (name, count) in &decl.names {
            let first = self.function.registers.len() as Reg;
            let elements = decl.vector.unwrap_or(1);
            let end = self.function.registers.len() + count.unwrap_or(1) as usize * usize::from(elements);
            if end > 1 << 20 {
                return Err(Error::unsupported(Position::default(), "more than 1048576 registers"));
            }
            self.function.registers.resize(end, decl.ty.bits());
            match *count {
                Some(count) => {
                    let prefix = name.clone();
                    self.scopes[self.scope].ranges.push(Range { prefix, first, count, elements });
                }
                None => self.define(name, registers_at(first, elements), Position::default())?,
            }
        }
        Ok(())
    }

    fn variable(&mut self, variable: &ptx::Variable) -> Result<()> {
        let symbol = match variable.space {
            Space::Local => {
                let symbol = Symbol::Local(place(&mut self.function.local_bytes, variable)?);
                if self.function.local_bytes > MAX_LOCAL_BYTES {
                    let message = format!("'{}' exceeds the {MAX_LOCAL_BYTES} bytes of local memory", variable.name);
                    return Err(Error::unsupported(variable.position, message));
                }
                symbol
            }
            Space::Shared => Symbol::Shared(place(&mut self.function.signature.shared_bytes, variable)?),
            Space::Param => {
                if variable.bytes() > 1 << 20 {
                    return Err(Error::unsupported(variable.position, "a .param variable of more than 1 MiB"));
                }
                self.function.slots.push(slot(variable, 0));
                Symbol::Slot(self.function.slots.len() - 1)
            }
            Space::Global | Space::Const => {
                let name = own_name(&self.function.signature.name, self.own_variables);
                self.own_variables += 1;
                self.layout.symbols.get(&name).copied().ok_or_else(|| self.undeclared(&name, variable.position))?
            }
            space => {
                let message = format!("a .{} variable inside a function is not supported", space.name());
                return Err(Error::unsupported(variable.position, message));
            }
        };
        self.define(&variable.name, Name::Symbol(symbol, variable.element_bytes()), variable.position)
    }

    /// Returns a new register of this width that has no name in the text.
    fn temporary(&mut self, bits: u32) -> Reg {
        self.function.registers.push(bits);
        self.function.registers.len() as Reg - 1
    }

    /// Returns the carry flag's register, of which a function has one.
    fn carry_flag(&mut self) -> Reg {
        match self.carry {
            Some(reg) => reg,
            None => {
                let reg = self.temporary(1);
                *self.carry.insert(reg)
            }
        }
    }

    /// Looks up a name from the innermost scope outwards.
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
        let in_scope = |scope: &Scope| {
            let declared = scope.names.get(name).copied();
            declared.or_else(|| scope.ranges.iter().find_map(|range| range.find(name)))
        };
        self.in_scopes(in_scope).or_else(|| self.vector_element(name).map(Name::Reg)).or_else(|| {
            let symbol = self.layout.symbols.get(name)?;
            Some(Name::Symbol(*symbol, self.layout.elements.get(name).copied()))
        })
    }

    fn register(&self, name: &str, position: Position) -> Result<Reg> {
        match self.resolve(name) {
            Some(Name::Reg(reg)) => Ok(reg),
            Some(Name::Symbol(..)) => Err(Error::new(position, format!("'{name}' is a variable, not a register"))),
            Some(Name::Vector(_, count)) => {
                let message = format!("'{name}' is a vector of {count} registers, where one is needed");
                Err(Error::new(position, message))
            }
            None => Err(self.undeclared(name, position)),
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
                (Some((reg, negated)), Terminator::Jump(target)) => {
                    let next = self.new_block();
                    self.terminate(Terminator::Branch(reg, negated, target, next));
                    self.current = next;
                }
                (Some((reg, negated)), term) => {
                    let (taken, next) = (self.new_block(), self.new_block());
                    self.terminate(Terminator::Branch(reg, negated, taken, next));
                    self.current = taken;
                    self.terminate(term);
                    self.current = next;
                }
            }
            return Ok(());
        }
        let Some((reg, negated)) = guard else {
            return self.emit(ast);
        };
        let (taken, next) = (self.new_block(), self.new_block());
        self.terminate(Terminator::Branch(reg, negated, taken, next));
        self.current = taken;
        self.emit(ast)?;
        self.terminate(Terminator::Jump(next));
        self.current = next;
        Ok(())
    }

    /// Appends to the current block. Text after a terminator is unreachable and gets a block of its own.
    fn push(&mut self, inst: Inst) {
        if is_sync(&inst) {
            let next = self.new_block();
            self.terminate(Terminator::Sync(Box::new(inst), next));
            self.current = next;
            return;
        }
        self.blocks[self.current].0.push(inst);
    }

    /// Returns the terminator for a control-flow instruction.
    fn control(&mut self, ast: &ptx::Instruction) -> Result<Option<Terminator>> {
        let position = ast.position;
        Ok(Some(match (ast.opcode, ast.operands.as_slice()) {
            (Opcode::Bra, [Operand::Name(label)]) => Terminator::Jump(self.label(label, position)?),
            (Opcode::BrxIdx, [Operand::Name(index), Operand::Name(table)]) => {
                let reg = self.register(index, position)?;
                let targets = self
                    .in_scopes(|scope| scope.tables.get(table).cloned())
                    .ok_or_else(|| Error::new(position, format!("the branch table '{table}' is not defined")))?;
                let blocks = targets.iter().map(|t| self.label(t, position)).collect::<Result<Vec<_>>>()?;
                if self.function.registers[reg as usize] != 32 {
                    return Err(Error::new(position, format!("the index '{index}' is not a 32-bit register")));
                }
                Terminator::Switch(reg, blocks)
            }
            (Opcode::Ret, _) => self.returned(),
            (Opcode::Exit, _) => Terminator::Exit,
            (Opcode::Trap, _) => Terminator::Trap(position),
            _ => return Ok(None),
        }))
    }
}
