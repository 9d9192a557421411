//! One function being lowered: the walk, its parameters, and the helpers that every part uses.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use super::builder::Builder;
use super::merge::Merge;
use super::place::Place;
use super::scopes::Scopes;
pub(super) use super::scopes::{Captured, Frame, Local, Return, Target};
use super::types::Val;
use super::{LowerError, Program, Spot};
use crate::harvest::{GenericArg, Memory, Told, Ty};
use crate::kir::build::FunctionBuilder;
use crate::kir::{self, Access, FuncId, Function, Param, Role, Space, Terminator, Type, Value};
use crate::syntax::{Definition, Expr, Pattern, Pos};

/// The result of lowering something.
pub(super) type Result<T> = std::result::Result<T, LowerError>;

/// The state of lowering one KIR function: the walk over its syntax. What needs no more than the function that is built is
/// [`Builder`]'s, what needs no more than the bindings [`Scopes`]'s.
pub(super) struct Lowering<'p> {
    pub(super) program: &'p mut Program,
    pub(super) build: Builder,
    pub(super) scopes: Scopes,
    pub(super) merges: Vec<Merge>,
    /// The number of the parameter that is bound next.
    pub(super) parameter: Option<u32>,
}

impl<'p> Lowering<'p> {
    /// Begins a function.
    pub(super) fn new(program: &'p mut Program, build: FunctionBuilder, scopes: Scopes) -> Self {
        Lowering { program, build: Builder::new(build), scopes, merges: Vec::new(), parameter: None }
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
            let mut lowering = Lowering::new(&mut *program, build, Scopes::new(frame, cells));
            let lowered = lowering.body(is_kernel, usize::from(stored));
            let Lowering { build, scopes, .. } = lowering;
            cells = scopes.cells;
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
                let closure = self.scopes.closure_value(captured);
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
        self.build.stable(Val { ty: ty.clone(), leaves })
    }

    /// A kernel's parameter: an array comes as its numbers.
    pub(super) fn kernel_param(&mut self, ty: &Ty, next: &mut usize) -> Val {
        match ty {
            Ty::Array(element, count) if ty.is_plain() => {
                let array = self.build.new_array("param", ty);
                let stride = element.count();
                for index in 0..*count {
                    let value = self.kernel_param(element, next);
                    let place = self.build.element_at(array.only(), element, Space::Local, index * stride);
                    self.build.store(place, Space::Local, &value);
                }
                self.build.fresh(array)
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
        self.scopes.frame()
    }

    /// The same, to change it.
    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        self.scopes.frame_mut()
    }

    /// An error at a place in the function whose syntax is being lowered.
    pub(super) fn error(&self, at: Pos, message: impl Into<String>) -> LowerError {
        self.scopes.error(at, message)
    }

    /// An expression's type as far as it tells by itself.
    pub(super) fn ty_of(&self, expr: &Expr) -> Option<Ty> {
        self.scopes.ty_of(expr)
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

    /// Brings a binding into being with a value.
    pub(super) fn bind_local(&mut self, number: u32, value: Val) {
        let frame = self.frame();
        let definition = frame.definition;
        let declared = match frame.locals.get(&number) {
            Some(Local::Late(scope)) => *scope,
            _ => None,
        };
        let binding = &definition.bindings[number as usize];
        let value = self.build.pointing(value);
        let is_array = matches!(value.ty, Ty::Array(..)) && value.ty.is_plain();
        let local = if self.scopes.cells.contains(&(std::ptr::from_ref(definition), number)) && !is_array {
            let cell = self.build.new_array(binding.name, &value.ty).only();
            self.build.store(cell, Space::Local, &value);
            Local::Cell(cell, value.ty)
        } else if binding.mutable && !is_array {
            let value = self.own_closures(value);
            let slots = self.build.slots_of(binding.name, &value);
            Local::Slots(value.ty, slots)
        } else {
            Local::Fixed(self.own(value, binding.mutable))
        };
        self.tell(number, &local, declared);
        self.frame_mut().locals.insert(number, local);
    }

    /// Goes on where `condition` holds; elsewhere the thread panics with a message about up to two `u64` values.
    pub(super) fn check(&mut self, at: Pos, condition: Value, message: &str, args: &[Value]) {
        let (good, bad) = self.build.fork(condition);
        self.build.select_block(bad);
        self.panic(at, message, args);
        self.build.select_block(good);
    }

    /// Ends the thread with a panic.
    pub(super) fn panic(&mut self, at: Pos, message: &str, args: &[Value]) {
        let spot = self.scopes.spot(at);
        let site = self.program.site(spot, message);
        self.build.end(Terminator::Panic(site, args.to_vec()));
    }

    /// A value of a type where control never gets.
    pub(super) fn unreached(&mut self, at: Pos, ty: Option<&Ty>) -> Val {
        if !self.build.ended() {
            self.panic(at, "entered unreachable code", &[]);
        }
        self.build.never(ty.unwrap_or(&Ty::Unit))
    }
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
