//! One function being lowered: its state, its parameters, and the helpers that every part uses.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::types::Val;
use super::{Callee, LowerError, Program};
use crate::harvest::{Harvest, Ty};
use crate::kir::build::FunctionBuilder;
use crate::kir::{
    Access, BlockId, Const, FuncId, Function, Op, Param, Place, Scalar, SlotId, Space, Terminator, Type, Value,
};
use crate::syntax::{Closure, Definition, Pattern, Pos};

/// The result of lowering something.
pub(super) type Result<T> = std::result::Result<T, LowerError>;

/// Where a binding's value is.
#[derive(Clone, Debug)]
pub(super) enum Local {
    /// It never changes.
    Fixed(Val),
    /// It is in slots.
    Slots(Ty, Vec<SlotId>),
    /// It is a number in the thread's memory, since references to it are taken.
    Cell(Value, Scalar),
}

/// A loop or labelled block that is being lowered.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) number: u32,
    pub(super) exit: BlockId,
    pub(super) again: Option<BlockId>,
    /// Where `break` leaves its value.
    pub(super) result: Option<(Ty, Vec<SlotId>)>,
}

/// Where `return` leads inside a closure that is being inlined.
#[derive(Clone, Debug)]
pub(super) struct Inlined {
    pub(super) exit: BlockId,
    pub(super) result: (Ty, Vec<SlotId>),
}

/// The state of lowering one function.
pub(super) struct Lowering<'p> {
    pub(super) program: &'p mut Program,
    pub(super) id: FuncId,
    pub(super) definition: &'static Definition,
    pub(super) harvest: &'p Harvest,
    pub(super) callees: Vec<Callee>,
    pub(super) build: FunctionBuilder,
    file: Arc<str>,
    pub(super) locals: HashMap<u32, Local>,
    pub(super) closures: HashMap<u32, &'static Closure>,
    pub(super) targets: Vec<Target>,
    pub(super) inlined: Vec<Inlined>,
    /// Arrays that an expression made and nothing has bound yet.
    pub(super) fresh: HashSet<Value>,
}

impl<'p> Lowering<'p> {
    /// Lowers one specialisation.
    pub(super) fn run(
        program: &'p mut Program,
        definition: &'static Definition,
        harvest: &'p Harvest,
        id: FuncId,
    ) -> Result<Function> {
        let callees = harvest.callees.iter().map(Callee::of).collect();
        let params = params(definition, harvest);
        let result = harvest.result.as_scalar().map(Type::Scalar);
        let build = FunctionBuilder::new(program.names[id.index()].clone(), params, result);
        let file = definition.file.into();
        let (locals, closures) = (HashMap::new(), HashMap::new());
        let (targets, inlined, fresh) = (Vec::new(), Vec::new(), HashSet::new());
        let mut lowering = Lowering {
            program,
            id,
            definition,
            harvest,
            callees,
            build,
            file,
            locals,
            closures,
            targets,
            inlined,
            fresh,
        };
        lowering.body()?;
        Ok(lowering.build.finish())
    }

    fn body(&mut self) -> Result<()> {
        self.go_to(Pos(self.definition.line, 1));
        let mut next = 0;
        let refused = |ty: &Ty| matches!(ty, Ty::Owned(..) | Ty::Array(..) | Ty::Ref(..));
        if self.id == FuncId(0) && self.harvest.params.iter().any(refused) {
            let text = "a kernel's parameters are numbers, slices and views; pass an array as a slice";
            return Err(self.error(Pos(1, 1), text));
        }
        for (pattern, ty) in self.definition.params.iter().zip(&self.harvest.params) {
            let count = ty.leaves().len();
            let leaves = (next..next + count).map(|index| self.build.param(index)).collect();
            next += count;
            self.bind(pattern, Val { ty: ty.clone(), leaves })?;
        }
        let result = self.harvest.result.clone();
        let value = self.block(&self.definition.body, Some(&result))?;
        self.build.end(Terminator::Return(value.leaves.first().copied()));
        Ok(())
    }

    /// Says that what follows was written at `at`, if the kernel has line tables; returns the place before.
    pub(super) fn go_to(&mut self, Pos(line, column): Pos) -> Option<Place> {
        let known = self.program.lines.then(|| self.file.clone()).filter(|_| line != 0);
        let place = known.map(|file| Place { file, line, column });
        let outer = self.build.set_place(place.clone());
        if place.is_none() {
            self.build.set_place(outer.clone());
        }
        outer
    }

    /// An error at a place in this function.
    pub(super) fn error(&self, Pos(line, column): Pos, message: impl Into<String>) -> LowerError {
        let Definition { name, file, .. } = *self.definition;
        LowerError { function: name, message: message.into(), file, line, column }
    }

    /// Checks that the front end's type of a value is what rustc says it is.
    pub(super) fn expect(&self, at: Pos, value: Val, ty: &Ty) -> Result<Val> {
        if value.ty.fits(ty) || self.build.ended() {
            return Ok(value);
        }
        let text = format!("this has type {:?} in the front end but {ty:?} in rustc; please report this", value.ty);
        Err(self.error(at, text))
    }

    /// Brings a binding into being with a value.
    pub(super) fn bind_local(&mut self, number: u32, value: Val) {
        let binding = &self.definition.bindings[number as usize];
        let value = match self.harvest.bindings[number as usize].clone() {
            Some(ty) => self.own(value, &ty),
            None => value,
        };
        let local = if let (true, Ty::Scalar(scalar)) = (binding.borrowed, &value.ty) {
            let cell = self.new_array(binding.name, *scalar, vec![1]).only();
            self.build.effect(Op::Store(cell, value.only()));
            Local::Cell(cell, *scalar)
        } else if binding.mutable && !matches!(value.ty, Ty::Array(_, _, _, Space::Local)) {
            let slots = self.slots(binding.name, &value.ty);
            self.set(&slots, &value.leaves);
            Local::Slots(value.ty, slots)
        } else {
            Local::Fixed(value)
        };
        self.locals.insert(number, local);
    }

    /// Slots for a value of a type.
    pub(super) fn slots(&mut self, name: &str, ty: &Ty) -> Vec<SlotId> {
        ty.leaves().into_iter().map(|leaf| self.build.slot(name, leaf)).collect()
    }

    /// Writes slots; a value that never comes to be has no leaves.
    pub(super) fn set(&mut self, slots: &[SlotId], leaves: &[Value]) {
        for (slot, leaf) in slots.iter().zip(leaves) {
            self.build.effect(Op::Set(*slot, *leaf));
        }
    }

    /// The value in slots.
    pub(super) fn get(&mut self, ty: &Ty, slots: &[SlotId]) -> Val {
        let types = ty.leaves();
        let leaves = slots.iter().zip(types).map(|(slot, leaf)| self.build.value(Op::Get(*slot), leaf)).collect();
        Val { ty: ty.clone(), leaves }
    }

    /// A constant.
    pub(super) fn constant(&mut self, ty: Scalar, bits: u64) -> Value {
        self.build.constant(ty, bits)
    }

    /// Ends the block with a branch to two new blocks and yields them.
    pub(super) fn fork(&mut self, condition: Value) -> (BlockId, BlockId) {
        let (yes, no) = (self.build.block(), self.build.block());
        self.build.end(Terminator::Branch(condition, yes, no));
        (yes, no)
    }

    /// Goes on where `condition` holds; elsewhere the thread panics with a message about up to two `u64` values.
    pub(super) fn check(&mut self, at: Pos, condition: Value, message: &str, args: &[Value]) {
        let (good, bad) = self.fork(condition);
        self.build.select_block(bad);
        self.panic(at, message, args);
        self.build.select_block(good);
    }

    /// Ends the thread with a panic.
    pub(super) fn panic(&mut self, at: Pos, message: &str, args: &[Value]) {
        let site = self.program.site(self.definition, at, message);
        self.build.end(Terminator::Panic(site, args.to_vec()));
    }

    /// Jumps to a block and goes on there.
    pub(super) fn jump_into(&mut self, block: BlockId) {
        self.build.end(Terminator::Jump(block));
        self.build.select_block(block);
    }

    /// A value that stands for one that never comes to be, so that what follows has something to name.
    pub(super) fn never(&mut self, ty: &Ty) -> Val {
        let leaves = ty.leaves().into_iter().map(|leaf| self.build.value(Op::Const(zero(leaf)), leaf)).collect();
        Val { ty: ty.clone(), leaves }
    }
}

fn zero(leaf: Type) -> Const {
    Const { ty: leaf.scalar().unwrap_or(Scalar::U64), bits: 0 }
}

/// The KIR parameters: a slice is an address and a length, a view an address, its extents and its strides.
fn params(definition: &Definition, harvest: &Harvest) -> Vec<Param> {
    let mut params = Vec::new();
    for (pattern, ty) in definition.params.iter().zip(&harvest.params) {
        let name = match pattern {
            Pattern::Bind(number) => definition.bindings[*number as usize].name,
            _ => "_",
        };
        let name: String = name.trim_start_matches("r#").chars().map(super::symbol_char).collect();
        let part = |index: usize| match ty {
            Ty::Slice(..) | Ty::View(..) if index == 0 => format!("{name}.ptr"),
            Ty::Slice(..) => format!("{name}.len"),
            Ty::Array(..) | Ty::Owned(..) | Ty::Ref(..) => name.clone(),
            Ty::View(_, dims, _) if index <= *dims => format!("{name}.extent{}", index - 1),
            Ty::View(_, dims, _) => format!("{name}.stride{}", index - 1 - dims),
            Ty::Scalar(_) => name.clone(),
            _ => format!("{name}.{index}"),
        };
        for (index, leaf) in ty.leaves().into_iter().enumerate() {
            let pointer = matches!(leaf, Type::Ptr(..));
            let writable = pointer && ty.memory().is_some_and(|memory| memory.writable);
            let access = if writable { Access::ReadWrite } else { Access::Read };
            params.push(Param { name: part(index), ty: leaf, access });
        }
    }
    params
}
