//! The lowering of one function, and the helpers that all parts of the front end use.

use std::rc::Rc;

use super::builder::Builder;
use super::merge::Merge;
use super::parameters::signature;
use super::place::{Place, Root};
pub(super) use super::scopes::{Callable, Frame, JumpTarget, Local, Return};
use super::scopes::{Facts, Scopes};
use super::types::Val;
use super::{LowerError, Program, SourceLocation};
use crate::kir::build::FunctionBuilder;
use crate::kir::{self, FuncId, Function, Space, Terminator, Value};
use crate::syntax::{Definition, Expr, Pattern, Pos};
use crate::typeinfo::{GenericArg, Ty, TypeInfo};

/// The result of lowering something.
pub(super) type Result<T> = std::result::Result<T, LowerError>;

/// The state of lowering one KIR function. What needs only the function under construction is in [`Builder`], what
/// needs only the bindings in [`Scopes`].
pub(super) struct Lowering<'p> {
    pub(super) program: &'p mut Program,
    pub(super) build: Builder,
    pub(super) scopes: Scopes,
    pub(super) merges: Vec<Merge>,
}

impl<'p> Lowering<'p> {
    /// Starts a function.
    pub(super) fn new(program: &'p mut Program, build: FunctionBuilder, scopes: Scopes) -> Self {
        Lowering { program, build: Builder::new(build), scopes, merges: Vec::new() }
    }

    /// Lowers one specialisation, whose parameters have types `params`.
    ///
    /// A binding that is mutably borrowed must be in memory from its declaration on, and one that is later assigned a
    /// reference needs slots for it. When lowering finds such a binding, the function is lowered once more with these
    /// facts.
    pub(super) fn run(
        program: &'p mut Program,
        (definition, generics): (&'static Definition, &[GenericArg]),
        info: Rc<TypeInfo>,
        id: FuncId,
        caller: Option<SourceLocation>,
    ) -> Result<Function> {
        let (mut facts, is_kernel) = (Facts::default(), id == FuncId(0));
        loop {
            let known = (facts.in_memory.len(), facts.memories.clone());
            let name = program.names[id.index()].clone();
            let (params, result) = signature(definition, &info, is_kernel);
            let stored = result.is_none() && info.result != Ty::Unit;
            let build = FunctionBuilder::new(name, params, result);
            let returns = if stored { Return::Memory(build.param(0)) } else { Return::Caller };
            let mut frame = Frame::new(definition, generics.to_vec(), info.clone(), returns);
            frame.caller = caller;
            let mut lowering = Lowering::new(&mut *program, build, Scopes::new(frame, facts));
            let lowered = lowering.body(is_kernel, usize::from(stored));
            let Lowering { build, scopes, .. } = lowering;
            facts = scopes.facts;
            if (facts.in_memory.len(), &facts.memories) == (known.0, &known.1) {
                return lowered.map(|()| build.finish());
            }
        }
    }

    fn body(&mut self, is_kernel: bool, mut next: usize) -> Result<()> {
        let frame = self.frame();
        let (definition, info) = (frame.definition, frame.info.clone());
        self.set_location_at(Pos(definition.line, 1));
        for (pattern, ty) in definition.params.iter().zip(&info.params) {
            if let (Pattern::Bind(number), Ty::Passed(passed)) = (pattern, ty) {
                let closure = self.launch_closure(passed, &mut next)?;
                self.bind_local(*number, closure);
                continue;
            }
            let value = match is_kernel {
                true => self.build.kernel_parameter(ty, &mut next),
                false => self.build.parameter(ty, &mut next),
            };
            self.bind(pattern, &Place::Fixed(value))?;
        }
        let value = self.block(&definition.body, Some(&info.result))?;
        let end = definition.body.tail.map_or(Pos(1, 1), |tail| tail.0);
        self.return_from(end, value)
    }

    /// The frame whose syntax is being lowered.
    pub(super) fn frame(&self) -> &Frame {
        self.scopes.frame()
    }

    /// The frame whose syntax is being lowered, mutably.
    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        self.scopes.frame_mut()
    }

    /// An error at a position in the current frame.
    pub(super) fn error(&self, at: Pos, message: impl Into<String>) -> LowerError {
        self.scopes.error(at, message)
    }

    /// An expression's type, if it is known without its context.
    pub(super) fn ty_of(&self, expr: &Expr) -> Option<Ty> {
        self.scopes.ty_of(expr)
    }

    /// Sets the source location of the following instructions, if the kernel has line tables; returns the previous one.
    pub(super) fn set_location_at(&mut self, Pos(line, column): Pos) -> Option<kir::Location> {
        let known = self.program.lines.then(|| self.frame().file.clone()).filter(|_| line != 0);
        let location = known.map(|file| kir::Location { file, line, column });
        let outer = self.build.set_location(location.clone());
        if location.is_none() {
            self.build.set_location(outer.clone());
        }
        outer
    }

    /// Binds a name to a value.
    pub(super) fn bind_local(&mut self, number: u32, value: Val) {
        let declared = match self.frame().locals.get(&number) {
            Some(Local::Late(scope)) => *scope,
            _ => None,
        };
        let local = self.local(number, value);
        self.declare_variable(number, &local, declared);
        self.frame_mut().locals.insert(number, local);
    }

    /// Returns the storage of a binding, initialised with a value.
    pub(super) fn local(&mut self, number: u32, value: Val) -> Local {
        let definition = self.frame().definition;
        let binding = &definition.bindings[number as usize];
        let is_array = super::functions::is_array(&value.ty);
        let id = (std::ptr::from_ref(definition), number);
        if self.scopes.facts.in_memory.contains(&id) && !is_array {
            let cell = self.build.new_array(binding.name, &value.ty).only();
            self.build.store(cell, Space::Local, &value);
            Local::Memory(cell, value.ty)
        } else if binding.mutable && !is_array {
            let (ty, slots, root) = self.variable(binding.name, value);
            let root = if ty.is_plain() { Root::Binding(id.0, id.1) } else { root };
            Local::Slots(ty, slots, root)
        } else {
            let value = self.build.with_addresses(value);
            Local::Fixed(self.take_ownership(value, binding.mutable))
        }
    }

    /// Continues if `condition` holds, else panics with a message with up to two `u64` arguments.
    pub(super) fn check(&mut self, at: Pos, condition: Value, message: &str, args: &[Value]) {
        let (good, bad) = self.build.fork(condition);
        self.build.select_block(bad);
        self.panic(at, message, args);
        self.build.select_block(good);
    }

    /// Emits a panic, which ends the thread.
    pub(super) fn panic(&mut self, at: Pos, message: &str, args: &[Value]) {
        let location = self.scopes.panic_location(at);
        let site = self.program.site(location, message);
        self.build.end(Terminator::Panic(site, args.to_vec()));
    }

    /// A value of a type in unreachable code.
    pub(super) fn unreachable(&mut self, at: Pos, ty: Option<&Ty>) -> Val {
        if !self.build.ended() {
            self.panic(at, "entered unreachable code", &[]);
        }
        self.build.placeholder(ty.unwrap_or(&Ty::Unit))
    }
}
