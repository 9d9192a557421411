//! One function being lowered: its state, its parameters, and the helpers that every part uses.
//!
//! A KIR function is lowered from one captured function and from those that are inlined into it, because closures or
//! references go in or come out. Each has a [`Frame`]; the innermost is the one whose body is being lowered, but for
//! the body of a closure, which belongs to the frame that wrote it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::copies::Arrays;
use super::merge::MergeId;
use super::place::Place;
use super::types::Val;
use super::{Callee, LowerError, Program, Spot};
use crate::harvest::{ConstValue, GenericArg, Instance, Memory, Operation, Resolved, Told, Ty, Typing};
use crate::kir::build::FunctionBuilder;
use crate::kir::{
    self, Access, BlockId, Const, FuncId, Function, Op, Param, Role, Scalar, SlotId, SourceScopeId, Space, Terminator,
    Type, Value,
};
use crate::syntax::{Closure, Definition, Expr, Pattern, Pos};

/// The result of lowering something.
pub(super) type Result<T> = std::result::Result<T, LowerError>;

/// Where a binding's value is.
#[derive(Clone, Debug)]
pub(super) enum Local {
    /// It never changes.
    Fixed(Val),
    /// It is in slots.
    Slots(Ty, Vec<SlotId>),
    /// It is in the thread's memory, since it is borrowed mutably.
    Cell(Value, Ty),
    /// Declared, and not yet given a value; with the scope that it began for a debugger.
    Late(Option<SourceScopeId>),
}

/// A loop or labelled block that is being lowered.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) number: u32,
    pub(super) exit: BlockId,
    pub(super) again: Option<BlockId>,
    /// Where `break` leaves its value.
    pub(super) result: Option<MergeId>,
}

/// Where `return` leads.
#[derive(Clone, Debug)]
pub(super) enum Return {
    /// To the KIR function's caller.
    Caller,
    /// To where the result was to be stored, and then to the caller.
    Memory(Value),
    /// To where an inlined body ends.
    Inlined(BlockId, MergeId),
}

/// What the name of a closure stands for.
#[derive(Clone, Debug)]
pub(super) enum Captured {
    /// A closure.
    Written {
        closure: &'static Closure,
        /// The frame that wrote it.
        frame: usize,
        /// What a `move` closure copied when it was made: the number of its copies.
        copies: Option<usize>,
        /// True of a reference to the closure: nobody copies it.
        borrowed: bool,
        /// The type of its result, as far as it tells by itself.
        result: Option<Ty>,
        /// The scope that it was written in.
        scope: Option<SourceScopeId>,
    },
    /// The content of a `None`: nobody calls it.
    Nowhere,
    /// A device function.
    Function(Instance, Rc<Told>),
    /// A function or method that is lowered in place, of these types.
    Operation(Operation, Rc<Typing>),
    /// A method of numbers.
    Method(&'static str),
    /// The constructor of a tuple struct, or of the variant of this number.
    Constructor(Ty, usize),
    /// A conversion of numbers, or of a type to itself.
    Conversion(Callee),
}

/// A captured function whose body is being lowered.
pub(super) struct Frame {
    pub(super) definition: &'static Definition,
    /// Whether overflow is a panic: as the function asks for or, in a closure that a launch passes, as the kernel does.
    pub(super) checked: bool,
    /// Whether indices are not checked: as the function asks for or, in the device library, as its caller does.
    pub(super) unchecked: bool,
    /// The source location that its panics report, if not their own.
    pub(super) caller: Option<Spot>,
    /// The frame that it was called from and where, if it is inlined.
    pub(super) called: Option<(usize, Pos)>,
    pub(super) file: Arc<str>,
    pub(super) generics: Vec<GenericArg>,
    pub(super) harvest: Rc<Told>,
    pub(super) callees: Rc<[Callee]>,
    pub(super) locals: HashMap<u32, Local>,
    pub(super) targets: Vec<Target>,
    pub(super) returns: Vec<Return>,
    /// The types of expressions that are known by now, so that each is found once.
    pub(super) types: RefCell<HashMap<*const Expr, Ty>>,
}

impl Frame {
    /// Of a function that is being lowered.
    ///
    /// # Panics
    ///
    /// If the harvest is another function's: someone wrote a hidden function of the macros' by hand.
    pub(super) fn new(
        definition: &'static Definition,
        generics: Vec<GenericArg>,
        harvest: Rc<Told>,
        returns: Return,
    ) -> Self {
        assert!(std::ptr::eq(harvest.of, definition), "what rustc told of `{}` is another function's", definition.name);
        let callees = harvest.callees.iter().map(Callee::of).collect();
        let (locals, targets) = (HashMap::new(), Vec::new());
        let (file, returns) = (definition.file.into(), vec![returns]);
        let crate::syntax::Options { checked, unchecked, .. } = definition.options;
        let (caller, called, types) = (None, None, RefCell::default());
        Self {
            definition,
            checked,
            unchecked,
            caller,
            called,
            file,
            generics,
            harvest,
            callees,
            locals,
            targets,
            returns,
            types,
        }
    }

    /// The type of a binding; a closure or iterator has none.
    pub(super) fn binding_type(&self, number: u32) -> Option<Ty> {
        let told = self.definition.bindings[number as usize].told?;
        self.harvest.bindings[told as usize].clone()
    }

    /// The constant that a name in a pattern turned out to be.
    pub(super) fn named_constant(&self, number: u32) -> Option<&ConstValue> {
        self.resolved_constant(self.definition.bindings[number as usize].asked?)
    }

    /// The constant that a question of a pattern was answered with.
    pub(super) fn resolved_constant(&self, asked: u32) -> Option<&ConstValue> {
        match &self.harvest.patterns[asked as usize] {
            Some(Resolved::Constant(constant)) => Some(constant),
            _ => None,
        }
    }
}

/// The state of lowering one KIR function.
pub(super) struct Lowering<'p> {
    pub(super) program: &'p mut Program,
    pub(super) build: FunctionBuilder,
    pub(super) frames: Vec<Frame>,
    /// The frame whose syntax is being lowered.
    pub(super) current: usize,
    pub(super) merges: Vec<super::merge::Merge>,
    /// The bindings that each `move` closure has for itself.
    pub(super) copies: Vec<HashMap<u32, Local>>,
    pub(super) arrays: Arrays,
    /// The number of the parameter that is bound next.
    pub(super) parameter: Option<u32>,
    /// The places that mutable references name.
    pub(super) places: Vec<Place>,
    /// The closures that values name.
    pub(super) closures: Vec<Captured>,
    /// Bindings that must lie in memory, which is found out while the function is lowered; see [`Lowering::run`].
    pub(super) cells: HashSet<(*const Definition, u32)>,
}

impl<'p> Lowering<'p> {
    /// Begins a function.
    pub(super) fn in_frame(program: &'p mut Program, build: FunctionBuilder, frame: Frame) -> Self {
        let (merges, copies, cells) = (Vec::new(), Vec::new(), HashSet::new());
        let (frames, arrays, parameter) = (vec![frame], Arrays::default(), None);
        let (places, closures) = (Vec::new(), Vec::new());
        Lowering { program, build, frames, current: 0, merges, copies, arrays, parameter, places, closures, cells }
    }

    /// Lowers one specialisation, whose parameters have types `params`.
    ///
    /// A binding that turns out to be borrowed mutably must lie in memory from its beginning, so the function is then
    /// lowered once more.
    pub(super) fn run(
        program: &'p mut Program,
        (definition, generics): (&'static Definition, &[GenericArg]),
        harvest: Rc<Told>,
        id: FuncId,
        caller: Option<Spot>,
    ) -> Result<Function> {
        let (mut cells, is_kernel) = (HashSet::new(), id == FuncId(0));
        loop {
            let known = cells.len();
            let name = program.names[id.index()].clone();
            let (params, result) = signature(definition, &harvest, is_kernel);
            let stored = result.is_none() && harvest.result != Ty::Unit;
            let build = FunctionBuilder::new(name, params, result);
            let returns = if stored { Return::Memory(build.param(0)) } else { Return::Caller };
            let mut frame = Frame::new(definition, generics.to_vec(), harvest.clone(), returns);
            frame.caller = caller;
            let mut lowering = Lowering { cells, ..Lowering::in_frame(&mut *program, build, frame) };
            let lowered = lowering.body(is_kernel, usize::from(stored));
            let Lowering { build, cells: found, .. } = lowering;
            cells = found;
            if cells.len() == known {
                return lowered.map(|()| build.finish());
            }
        }
    }

    fn body(&mut self, is_kernel: bool, mut next: usize) -> Result<()> {
        let frame = self.frame();
        let (definition, harvest) = (frame.definition, frame.harvest.clone());
        self.go_to(Pos(definition.line, 1));
        for ((pattern, ty), number) in definition.params.iter().zip(&harvest.params).zip(1..) {
            if let (Pattern::Bind(number), Ty::Passed(passed)) = (pattern, ty) {
                let captured = self.passed(passed, &mut next)?;
                let closure = self.closure_value(captured);
                let closure = self.own_closures(closure);
                self.frame_mut().locals.insert(*number, Local::Fixed(closure));
                continue;
            }
            let value = if is_kernel { self.kernel_param(ty, &mut next) } else { self.param(ty, &mut next) };
            self.bind_parameter(number, pattern, value)?;
        }
        let value = self.block(&definition.body, Some(&harvest.result))?;
        let end = definition.body.tail.map_or(Pos(1, 1), |tail| tail.0);
        self.return_from(end, value)
    }

    /// Binds a parameter of the function, or of the one that is inlined.
    pub(super) fn bind_parameter(&mut self, number: u32, pattern: &'static Pattern, value: Val) -> Result<()> {
        self.parameter = matches!(pattern, Pattern::Bind(_)).then_some(number);
        self.bind(pattern, &Place::Fixed(value))
    }

    fn param(&mut self, ty: &Ty, next: &mut usize) -> Val {
        let count = ty.leaves().len();
        let leaves = (*next..*next + count).map(|index| self.build.param(index)).collect();
        *next += count;
        self.stable(Val { ty: ty.clone(), leaves })
    }

    /// A kernel's parameter: an array comes as its numbers.
    pub(super) fn kernel_param(&mut self, ty: &Ty, next: &mut usize) -> Val {
        match ty {
            Ty::Array(element, count) if ty.is_plain() => {
                let array = self.new_array("param", ty);
                let stride = element.count();
                for index in 0..*count {
                    let value = self.kernel_param(element, next);
                    let place = self.element_at(array.only(), element, Space::Local, index * stride);
                    self.store(place, Space::Local, &value);
                }
                self.fresh(array)
            }
            Ty::Tuple(_) | Ty::Struct(_) | Ty::Array(..) | Ty::Sum(_) => {
                let mut value = Val { ty: ty.clone(), leaves: Vec::new() };
                if ty.tag().is_some() {
                    value.leaves.push(self.build.param(*next));
                    *next += 1;
                }
                let parts: Vec<Ty> = match ty {
                    Ty::Array(element, count) => (0..*count).map(|_| (**element).clone()).collect(),
                    _ => ty.parts().into_iter().map(|(part, _)| part.clone()).collect(),
                };
                for part in parts {
                    let part = self.kernel_param(&part, next);
                    value.leaves.extend(part.leaves);
                }
                value
            }
            _ => self.param(ty, next),
        }
    }

    /// The frame whose syntax is being lowered.
    pub(super) fn frame(&self) -> &Frame {
        &self.frames[self.current]
    }

    /// The same, to change it.
    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        &mut self.frames[self.current]
    }

    /// Whether the kernel's indices are checked.
    pub(super) fn checks_bounds(&self) -> bool {
        !self.frame().unchecked
    }

    /// Whether overflow is a panic.
    pub(super) fn checks_overflow(&self) -> bool {
        self.frame().checked
    }

    /// Says that what follows was written at `at`, if the kernel has line tables; returns the place before.
    pub(super) fn go_to(&mut self, Pos(line, column): Pos) -> Option<kir::Place> {
        let known = self.program.lines.then(|| self.frame().file.clone()).filter(|_| line != 0);
        let place = known.map(|file| kir::Place { file, line, column });
        let outer = self.build.set_place(place.clone());
        if place.is_none() {
            self.build.set_place(outer.clone());
        }
        outer
    }

    /// The line of the function's name, for errors of what has no place of its own.
    pub(super) fn beginning(&self) -> Pos {
        Pos(self.frame().definition.line, 1)
    }

    /// An error at a place in this function; one in the device library is where that was called.
    pub(super) fn error(&self, at: Pos, message: impl Into<String>) -> LowerError {
        let (mut frame, mut at) = (self.frame(), at);
        while frame.definition.options.library
            && let Some((caller, call)) = frame.called
        {
            (frame, at) = (&self.frames[caller], call);
        }
        let (Definition { name, file, .. }, Pos(line, column)) = (frame.definition, at);
        LowerError { function: name, message: message.into(), file, line, column }
    }

    /// Brings a binding into being with a value.
    pub(super) fn bind_local(&mut self, number: u32, value: Val) {
        let frame = self.frame();
        let definition = frame.definition;
        let declared = match frame.locals.get(&number) {
            Some(Local::Late(scope)) => *scope,
            _ => None,
        };
        let binding = &definition.bindings[number as usize];
        let value = self.pointing(value);
        let is_array = matches!(value.ty, Ty::Array(..)) && value.ty.is_plain();
        let local = if self.cells.contains(&(std::ptr::from_ref(definition), number)) && !is_array {
            let cell = self.new_array(binding.name, &value.ty).only();
            self.store(cell, Space::Local, &value);
            Local::Cell(cell, value.ty)
        } else if binding.mutable && !is_array {
            let value = self.own_closures(value);
            let slots = self.slots_of(binding.name, &value);
            Local::Slots(value.ty, slots)
        } else {
            Local::Fixed(self.own(value, binding.mutable))
        };
        self.tell(number, &local, declared);
        self.frame_mut().locals.insert(number, local);
    }

    /// The value in slots.
    pub(super) fn get(&mut self, ty: &Ty, slots: &[SlotId]) -> Val {
        let types = ty.leaves();
        let leaves = slots.iter().zip(types).map(|(slot, leaf)| self.build.value(Op::Get(*slot), leaf)).collect();
        Val { ty: ty.clone(), leaves }
    }

    /// A constant.
    pub(super) fn constant(&mut self, ty: Scalar, bits: u64) -> Value {
        self.build.constant(ty, bits.into())
    }

    /// A constant of any type from its bits.
    pub(super) fn constant_bits(&mut self, ty: Scalar, bits: u128) -> Value {
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

    /// The source location that a panic here reports, or one of a callee with `#[track_caller]`: that where the function was
    /// called if it has that attribute, which a closure in it does not have.
    pub(super) fn spot(&self, at: Pos) -> Spot {
        let frame = self.frame();
        let in_closure = frame.returns.len() > 1;
        frame.caller.filter(|_| !in_closure).unwrap_or(Spot(frame.definition.file, at))
    }

    /// Ends the thread with a panic.
    pub(super) fn panic(&mut self, at: Pos, message: &str, args: &[Value]) {
        let spot = self.spot(at);
        let site = self.program.site(spot, message);
        self.build.end(Terminator::Panic(site, args.to_vec()));
    }

    /// Jumps to a block and goes on there.
    pub(super) fn jump_into(&mut self, block: BlockId) {
        self.build.end(Terminator::Jump(block));
        self.build.select_block(block);
    }

    /// A value of a type where control never gets.
    pub(super) fn unreached(&mut self, at: Pos, ty: Option<&Ty>) -> Val {
        if !self.build.ended() {
            self.panic(at, "entered unreachable code", &[]);
        }
        self.never(ty.unwrap_or(&Ty::Unit))
    }

    /// A value that stands for one that never comes to be, so that what follows has something to name. It is only made
    /// where control does not come, so pointers, which have no constants, are never seen.
    pub(super) fn never(&mut self, ty: &Ty) -> Val {
        let leaves = ty.leaves().into_iter().map(|leaf| self.build.value(Op::Const(zero(leaf)), leaf)).collect();
        Val { ty: ty.clone(), leaves }
    }
}

fn zero(leaf: Type) -> Const {
    Const { ty: leaf.scalar().unwrap_or(Scalar::U64), bits: 0 }
}

/// The KIR parameters and result. A result that is no single number is stored where the first parameter says.
fn signature(definition: &Definition, harvest: &Told, is_kernel: bool) -> (Vec<Param>, Option<Type>) {
    let mut params = Vec::new();
    let result = match &harvest.result {
        Ty::Scalar(scalar) | Ty::Enum(_, scalar) => Some(Type::Scalar(*scalar)),
        Ty::Unit => None,
        other => {
            let ty = Type::Ptr(Space::Local, other.pointee());
            params.push(Param { name: "result".to_owned(), ty, access: Access::ReadWrite, role: Role::Plain });
            None
        }
    };
    for (pattern, ty) in definition.params.iter().zip(&harvest.params) {
        let name = match pattern {
            Pattern::Bind(number) => definition.bindings[*number as usize].name,
            _ => "_",
        };
        let name = super::variable_name(name);
        let ty = if is_kernel { flat(ty) } else { ty.clone() };
        let part = |index: usize| match &ty {
            Ty::Slice(..) | Ty::View(..) if index == 0 => format!("{name}.ptr"),
            Ty::Slice(..) => format!("{name}.len"),
            Ty::Scalar(_) | Ty::Enum(..) | Ty::Array(..) => name.clone(),
            Ty::Ref(_, memory) if *memory != Memory::Value => name.clone(),
            Ty::View(_, dims, _) if index <= *dims => format!("{name}.extent{}", index - 1),
            Ty::View(_, dims, _) => format!("{name}.stride{}", index - 1 - dims),
            _ => format!("{name}.{index}"),
        };
        let extents = match &ty {
            _ if !is_kernel => 0,
            Ty::Slice(..) => 1,
            Ty::View(_, dims, _) => *dims,
            _ => 0,
        };
        let first = params.len();
        ty.each_leaf(&mut |ty, access| {
            let index = params.len() - first;
            let role = if (1..=extents).contains(&index) { Role::Extent } else { Role::Plain };
            params.push(Param { name: part(index), ty, access, role });
        });
    }
    (params, result)
}

/// A kernel's parameter with each array in it as its elements.
fn flat(ty: &Ty) -> Ty {
    match ty {
        Ty::Array(element, count) => Ty::Tuple(vec![flat(element); *count as usize]),
        Ty::Tuple(types) => Ty::Tuple(types.iter().map(flat).collect()),
        Ty::Struct(of) => Ty::Tuple(of.fields.iter().map(|field| flat(&field.ty)).collect()),
        Ty::Sum(of) => {
            let mut of = of.clone();
            Arc::make_mut(&mut of).fields_mut().for_each(|ty| *ty = flat(ty));
            Ty::Sum(of)
        }
        Ty::Passed(passed) => Ty::Tuple(passed.captures.iter().flatten().map(flat).collect()),
        other => other.clone(),
    }
}
