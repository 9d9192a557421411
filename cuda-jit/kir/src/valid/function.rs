//! The rules of one function: its signature, the numbering and definition of values, terminators and calls. Operand
//! types are in `types`, the access of pointers in `access`.

use super::access::{Accesses, Holder};
use super::dominators::Dominators;
use super::{Kind, Rule, VerifyError, broken, source, types};
use crate::{
    Access, Block, BlockId, CacheLoad, Function, Inst, Module, Op, Role, Scalar, SiteId, Space, Terminator, Type,
    Value, text,
};

/// Checks one function of a module.
pub(super) fn check(module: &Module, function: &Function, kind: Kind) -> Result<(), VerifyError> {
    check_head(function, kind)?;
    super::check_arrays(&function.arrays)?;
    source::check(module, function)?;
    let mut checker = Checker {
        module,
        function,
        types: function.params.iter().map(|param| param.ty).collect(),
        defining_blocks: Vec::new(),
        dominators: Dominators::of(function),
        current: BlockId(0),
    };
    for (index, block) in function.blocks.iter().enumerate() {
        checker.current = BlockId(index as u32);
        checker.block(block).map_err(|error| VerifyError { block: Some(BlockId(index as u32)), ..error })?;
    }
    checker.check_accesses()
}

fn check_head(function: &Function, kind: Kind) -> Result<(), VerifyError> {
    let is_kernel = kind == Kind::Kernel;
    let name = &function.name;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    // names that PTX reserves, and that the driver or the device runtime defines
    let taken = ["_", "WARP_SZ", "vprintf", "cudaGraphSetConditional"];
    if !name.starts_with(begins) || !name.chars().all(plain) || taken.contains(&name.as_str()) {
        return Err(broken(Rule::FunctionName, format!("the function is named {name:?}")));
    }
    match function.result {
        Some(result) if is_kernel => {
            return Err(broken(Rule::KernelResult, format!("the kernel's result is {result}")));
        }
        Some(result @ Type::Ptr(..)) => {
            return Err(broken(Rule::PointerResult, format!("the function's result is {result}")));
        }
        _ => {}
    }
    let names = function.params.iter().map(|param| &param.name).chain(function.slots.iter().map(|slot| &slot.name));
    for name in names {
        if !name.chars().all(|c| plain(c) || c == '.') {
            return Err(broken(Rule::VariableName, format!("a parameter or slot is named {name:?}")));
        }
    }
    let types = function.params.iter().map(|param| param.ty).chain(function.slots.iter().map(|slot| slot.ty));
    types.into_iter().try_for_each(super::check_type)?;
    for (index, param) in function.params.iter().enumerate() {
        if is_kernel && matches!(param.ty, Type::Ptr(space, _) if space != Space::Global) {
            return Err(broken(Rule::KernelPointer, format!("parameter `{}` is {}", param.name, param.ty)));
        }
        if matches!(param.ty, Type::Scalar(_)) && param.access != Access::Read {
            return Err(broken(Rule::ScalarAccess, format!("parameter `{}` is a writable {}", param.name, param.ty)));
        }
        if matches!(param.role, Role::Extent | Role::Stride) && (!is_kernel || param.ty != Scalar::U64.into()) {
            return Err(broken(Rule::Extent, format!("parameter `{}` is {}", param.name, param.ty)));
        }
        let own = matches!(param.ty, Type::Ptr(Space::Local, _)) && param.access == Access::ReadWrite;
        let first = param.role == Role::ByValue || index == 0 && function.result.is_none();
        let passed = matches!(param.role, Role::ByValue | Role::Returned);
        if passed && !(kind == Kind::Exported && own && first) {
            return Err(broken(Rule::Exported, format!("parameter `{}` is {}", param.name, param.ty)));
        }
    }
    if function.blocks.is_empty() {
        return Err(broken(Rule::Entry, "the function has no block"));
    }
    Ok(())
}

/// The state of checking a function, whose blocks are visited in order.
pub(super) struct Checker<'m> {
    pub(super) module: &'m Module,
    pub(super) function: &'m Function,
    /// The types of all values so far.
    types: Vec<Type>,
    /// The defining block of each value after the parameters.
    defining_blocks: Vec<BlockId>,
    dominators: Dominators,
    current: BlockId,
}

impl Checker<'_> {
    fn block(&mut self, block: &Block) -> Result<(), VerifyError> {
        for (index, inst) in block.insts.iter().enumerate() {
            self.inst(inst).map_err(|error| placed(error, index, text::print_inst(inst)))?;
        }
        let end = block.insts.len();
        self.end(&block.end).map_err(|error| placed(error, end, text::print_terminator(&block.end)))
    }

    fn inst(&mut self, inst: &Inst) -> Result<(), VerifyError> {
        let yields = types::result(self, &inst.op)?;
        let declared = inst.result.map(|(_, ty)| ty);
        if yields != declared {
            let shown = |ty: Option<Type>| ty.map_or("nothing".to_owned(), |ty| ty.to_string());
            let detail = format!("it yields {}, but its result is {}", shown(yields), shown(declared));
            return Err(broken(Rule::Result, detail));
        }
        if let Some((value, ty)) = inst.result {
            if value.index() != self.types.len() {
                return Err(broken(Rule::Numbering, format!("the next value is v{}", self.types.len())));
            }
            self.types.push(ty);
            self.defining_blocks.push(self.current);
        }
        Ok(())
    }

    fn end(&self, end: &Terminator) -> Result<(), VerifyError> {
        match end {
            Terminator::Jump(to) => self.target(*to),
            Terminator::Branch(condition, then, other) => {
                self.expect(*condition, Scalar::Bool.into(), Rule::Condition)?;
                self.target(*then)?;
                self.target(*other)
            }
            Terminator::Return(value) => self.returns(*value),
            Terminator::Panic(site, arguments) => self.panics(*site, arguments),
        }
    }

    fn returns(&self, value: Option<Value>) -> Result<(), VerifyError> {
        match (self.function.result, value) {
            (None, None) => Ok(()),
            (Some(ty), Some(value)) => self.expect(value, ty, Rule::Return),
            (Some(ty), None) => Err(broken(Rule::Return, format!("nothing is returned, but the result is {ty}"))),
            (None, Some(value)) => Err(broken(Rule::Return, format!("{value} is returned, but there is no result"))),
        }
    }

    fn panics(&self, site: SiteId, arguments: &[Value]) -> Result<(), VerifyError> {
        if site.index() >= self.module.sites.len() {
            return Err(out_of_range("site", site.0, self.module.sites.len()));
        }
        if arguments.len() > crate::PANIC_ARGUMENTS {
            return Err(broken(Rule::PanicArguments, format!("it has {} arguments", arguments.len())));
        }
        arguments.iter().try_for_each(|&value| self.expect(value, Scalar::U64.into(), Rule::PanicArguments))
    }

    fn target(&self, block: BlockId) -> Result<(), VerifyError> {
        if block.index() >= self.function.blocks.len() {
            return Err(out_of_range("block", block.0, self.function.blocks.len()));
        }
        if block.0 == 0 {
            return Err(broken(Rule::JumpToEntry, "it jumps to b0"));
        }
        Ok(())
    }

    fn expect(&self, value: Value, expected: Type, rule: Rule) -> Result<(), VerifyError> {
        let ty = self.ty(value)?;
        if ty == expected { Ok(()) } else { Err(broken(rule, format!("{value} is {ty}, not {expected}"))) }
    }

    /// The type of a value, which must be usable here.
    pub(super) fn ty(&self, value: Value) -> Result<Type, VerifyError> {
        let Some(ty) = self.types.get(value.index()) else {
            return Err(broken(Rule::Definition, format!("{value} is not defined yet")));
        };
        let home = value.index().checked_sub(self.function.params.len()).map(|index| self.defining_blocks[index]);
        match home {
            Some(home) if !self.dominators.dominates(home, self.current) => {
                let detail = format!("control may get here without passing {home}, which defines {value}");
                Err(broken(Rule::Definition, detail))
            }
            _ => Ok(*ty),
        }
    }

    fn check_accesses(&self) -> Result<(), VerifyError> {
        let accesses = Accesses::of(self.function);
        for (block_index, block) in self.function.blocks.iter().enumerate() {
            for (index, inst) in block.insts.iter().enumerate() {
                self.check_access(&accesses, &inst.op).map_err(|error| VerifyError {
                    block: Some(BlockId(block_index as u32)),
                    ..placed(error, index, text::print_inst(inst))
                })?;
            }
        }
        Ok(())
    }

    fn check_access(&self, accesses: &Accesses, op: &Op) -> Result<(), VerifyError> {
        let same = |a: Holder, b: Holder| match (accesses.at(a), accesses.at(b)) {
            (Some(a), Some(b)) if a != b => {
                Err(broken(Rule::MixedAccess, format!("it mixes a {} pointer with a {} one", name(a), name(b))))
            }
            _ => Ok(()),
        };
        match op {
            Op::Set(slot, value) => same(Holder::Value(*value), Holder::Slot(*slot)),
            Op::Select(_, a, b) => same(Holder::Value(*a), Holder::Value(*b)),
            Op::Generic(pointer, Access::Read) if accesses.of_value(*pointer) == Access::ReadWrite => {
                Err(broken(Rule::GenericAccess, format!("{pointer} has access readwrite")))
            }
            Op::Store(pointer, _)
            | Op::StoreCached(_, pointer, _)
            | Op::StoreCachedAll(_, pointer, _)
            | Op::AtomicLoad(_, pointer)
            | Op::AtomicStore(_, pointer, _)
            | Op::Atomic(_, _, pointer, _)
            | Op::CompareExchange(_, pointer, ..)
                if accesses.of_value(*pointer) == Access::Read =>
            {
                Err(broken(Rule::StoreAccess, format!("{pointer} has access read")))
            }
            Op::LoadCached(CacheLoad::ReadOnly, pointer) | Op::LoadCachedAll(CacheLoad::ReadOnly, pointer, _)
                if accesses.of_value(*pointer) == Access::ReadWrite =>
            {
                Err(broken(Rule::LoadAccess, format!("{pointer} has access readwrite")))
            }
            Op::Call(callee, arguments) => {
                let params = &self.module.functions[callee.index()].params;
                for (param, &value) in params.iter().zip(arguments) {
                    let given = accesses.of_value(value);
                    if matches!(param.ty, Type::Ptr(..)) && param.access != given {
                        let wanted = name(param.access);
                        let detail = format!("{value} has access {}, but `{}` is {wanted}", name(given), param.name);
                        return Err(broken(Rule::Arguments, detail));
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn name(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::ReadWrite => "readwrite",
    }
}

/// The error of an index that is out of range.
pub(super) fn out_of_range(what: &str, index: u32, count: usize) -> VerifyError {
    broken(Rule::InRange, format!("there is no {what} {index}, only {count}"))
}

fn placed(error: VerifyError, inst: usize, text: String) -> VerifyError {
    let detail = format!("`{text}`: {}", error.detail);
    VerifyError { inst: Some(inst), detail, ..error }
}
