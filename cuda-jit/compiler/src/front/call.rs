//! Calls of device functions, of closures, and of what the hardware knows.
//!
//! A device function becomes a function of the module. Where a closure goes in, or a reference comes out, it is
//! inlined instead: KIR passes neither.

use std::collections::HashMap;
use std::rc::Rc;

use super::builder::Builder;
use super::compare::By;
use super::copies::{is_place, only_reads};
use super::function::{Captured, Frame, Local, Lowering, Result, Return};
use super::place::Place;
use super::scopes::Scopes;
use super::types::{Val, intrinsic_type};
use super::{Callee, Spot};
use crate::harvest::{Body, Instance, Intrinsic, Memory, Passed, Told, Ty};
use crate::kir::{Axis, CompareOp, FuncId, Op, Scalar, SourceScopeId, Space, Special, Type, Value};
use crate::syntax::{Closure, Expr, ExprKind, Pattern, Pos};

const AXES: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

/// So deep may inlined functions nest; deeper ones call themselves.
const MAX_INLINED: usize = 64;

/// Where a closure was written: the frame, what it copied, and the scope.
#[derive(Clone, Copy)]
struct Written {
    frame: usize,
    copies: Option<usize>,
    scope: Option<SourceScopeId>,
}

impl Lowering<'_> {
    /// `callee(args)`
    pub(super) fn call(&mut self, at: Pos, number: u32, args: &'static [Expr]) -> Result<Val> {
        let callees = self.frame().callees.clone();
        match &callees[number as usize] {
            Callee::Intrinsic(intrinsic, scalar) => self.intrinsic(at, *intrinsic, *scalar, args),
            Callee::Function(instance, harvest) => {
                let passed = self.arguments(None, args, &harvest.params)?;
                self.call_function(at, instance, harvest, passed)
            }
            Callee::Operation(operation, typing) => self.operate(at, *operation, typing, (None, args)),
            Callee::Vectors(vector) => self.as_vectors(at, vector, args),
            Callee::Vector(vector) => self.vector(vector, args),
            Callee::Exchange(exchange, ty) => self.exchange(at, *exchange, ty, args),
            Callee::VectorOfArray(vector) => self.vector_of_array(vector, &args[0]),
            Callee::Same(ty) => self.expr_as(&args[0], ty),
            Callee::View(view, false) => self.view_of_slice(at, view, &args[0]),
            Callee::View(view, true) => self.view_of_shape(at, view, args),
            Callee::ViewOp(op, _) => self.view_op(at, *op, &args[0], &args[1..]),
            Callee::Identity => self.expr_in_place(&args[0], None),
            Callee::Duplicate => {
                let reference = self.expr(&args[0], None)?;
                let place = self.behind(reference);
                if self.scopes.has_closure_with_state(place.ty()) {
                    let hint = "a closure in this iterator changes what it has moved, and each round would need that as it \
                                was; count the rounds in a loop";
                    return Err(self.error(at, hint));
                }
                Ok(self.read_settled(&place))
            }
            Callee::Cached(intrinsic, of) => self.cached(at, *intrinsic, of, args),
            Callee::Constructor(ty, variant) => {
                let variant = self.scopes.known_variant(at, *variant)?;
                let parts = ty.parts();
                let mut values = Vec::with_capacity(args.len());
                for (index, (arg, (part, _))) in args.iter().zip(&parts[ty.parts_of(variant)]).enumerate() {
                    values.push(self.part_in_place(arg, Some(part), args[index + 1..].iter())?);
                }
                Ok(self.build.constructed(ty, variant, values))
            }
            Callee::Builtin => Err(self.error(at, "the front end does not know this function; please report this")),
        }
    }

    /// The value of a conversion of a value.
    pub(super) fn converted(&mut self, at: Pos, conversion: &Callee, value: Val) -> Result<Val> {
        match conversion {
            Callee::Same(ty) => self.coerce(at, value, ty),
            Callee::Intrinsic(Intrinsic::Number(from), to) => {
                let to = to.unwrap_or(*from);
                Ok(Val::scalar(to, self.build.cast_value(value.only(), *from, to)))
            }
            Callee::Intrinsic(Intrinsic::TryNumber(from), to) => {
                Ok(self.fallible(value.only(), *from, to.unwrap_or(*from)))
            }
            Callee::Function(instance, _) => self.call_instance(at, instance, vec![value]),
            _ => Err(self.error(at, "write this conversion of an error out, with `map_err`")),
        }
    }

    /// Arguments for parameters of such types, the first of which is the receiver's if there is one.
    pub(super) fn arguments(
        &mut self,
        receiver: Option<&Expr>,
        args: &'static [Expr],
        params: &[Ty],
    ) -> Result<Vec<Val>> {
        let mut passed = Vec::with_capacity(args.len());
        for (index, (arg, ty)) in args.iter().zip(&params[usize::from(receiver.is_some())..]).enumerate() {
            if *ty == Ty::CLOSURE {
                let function = self.callable(arg)?;
                passed.push(self.scopes.closure_value(function));
                continue;
            }
            let value = self.expr_in_place(arg, Some(ty))?;
            let value = self.coerce(arg.0, value, ty)?;
            let others = args[index + 1..].iter().chain(receiver);
            passed.push(self.passed_value(value, arg, others, params));
        }
        Ok(passed)
    }

    /// The value of an argument: it lies where it was read if nothing that is evaluated later, and not the callee, can write
    /// there. A receiver that is borrowed mutably is so only when all arguments are evaluated.
    pub(super) fn passed_value<'e>(
        &mut self,
        value: Val,
        arg: &Expr,
        others: impl Iterator<Item = &'e Expr> + Clone,
        params: &[Ty],
    ) -> Val {
        let stays = value.ty.holds_arrays()
            && is_place(arg)
            && (self.scopes.is_unmentioned(arg, others.clone())
                || only_reads(params) && self.scopes.is_undisturbed(arg, others));
        if stays { value } else { self.settled(value) }
    }

    /// A function that is called somewhere else.
    pub(super) fn callable(&mut self, arg: &'static Expr) -> Result<Captured> {
        let captured = match &arg.1 {
            ExprKind::Closure(closure) => Some(self.capture(closure)),
            ExprKind::Reborrow(inner, _) if !is_place(inner) => return self.callable(inner),
            ExprKind::Function(number) => match &self.frame().callees[*number as usize] {
                Callee::Function(instance, harvest) => Some(Captured::Function(instance.clone(), harvest.clone())),
                Callee::Operation(operation, typing) => Some(Captured::Operation(*operation, typing.clone())),
                conversion @ (Callee::Same(_)
                | Callee::Intrinsic(Intrinsic::Number(_) | Intrinsic::TryNumber(_), _)) => {
                    Some(Captured::Conversion(conversion.clone()))
                }
                Callee::Constructor(ty, variant) => {
                    Some(Captured::Constructor(ty.clone(), self.scopes.known_variant(arg.0, *variant)?))
                }
                _ => return Err(self.error(arg.0, "write a closure that calls this function")),
            },
            kind => {
                let (place, borrowed) = match kind {
                    ExprKind::Reborrow(inner, _) => (self.place(inner)?, true),
                    _ => (self.place(arg)?, false),
                };
                let borrowed = borrowed || matches!(place.ty(), Ty::Ref(..));
                match self.named_closure(place) {
                    Some(Some(number)) if borrowed => Some(self.scopes.borrowed_closure(number)),
                    Some(Some(number)) => {
                        let own = self.closure_apart(number);
                        Some(self.scopes.closures[own as usize].clone())
                    }
                    Some(None) => Some(Captured::Nowhere),
                    None => None,
                }
            }
        };
        let text = "this parameter takes a closure, written here or bound with `let`";
        captured.ok_or_else(|| self.error(arg.0, text))
    }

    /// Calls a function with values.
    pub(super) fn invoke(&mut self, at: Pos, function: &Captured, args: Vec<Val>) -> Result<Val> {
        self.invoke_for(at, function, args, None)
    }

    /// The same where a value of a type is expected, which a closure that never returns does not tell.
    pub(super) fn invoke_for(
        &mut self,
        at: Pos,
        function: &Captured,
        mut args: Vec<Val>,
        expected: Option<&Ty>,
    ) -> Result<Val> {
        match function {
            Captured::Written { closure, frame, copies, scope, .. } => {
                let written = Written { frame: *frame, copies: *copies, scope: *scope };
                self.call_written(closure, written, args, expected)
            }
            Captured::Nowhere => Ok(self.unreached(at, expected)),
            Captured::Function(instance, harvest) => {
                let mut passed = Vec::with_capacity(args.len());
                for (arg, ty) in args.into_iter().zip(&harvest.params) {
                    passed.push(self.coerce(at, arg, ty)?);
                }
                self.call_function(at, instance, harvest, passed)
            }
            Captured::Constructor(ty, variant) => {
                let parts = ty.parts();
                let own = parts[ty.parts_of(*variant)].iter();
                let args = own.zip(args).map(|((part, _), arg)| self.coerce(at, arg, part)).collect::<Result<_>>()?;
                Ok(self.build.constructed(ty, *variant, args))
            }
            Captured::Operation(operation, typing) => {
                let mut operands = Vec::with_capacity(args.len());
                for (arg, ty) in args.into_iter().zip(&typing.params) {
                    operands.push(self.coerce(at, arg, ty)?);
                }
                self.operation(at, *operation, typing, &operands)
            }
            Captured::Conversion(conversion) => self.converted(at, conversion, args.remove(0)),
        }
    }

    /// Calls a specialisation with values.
    pub(super) fn call_instance(&mut self, at: Pos, instance: &Instance, args: Vec<Val>) -> Result<Val> {
        let Body::Captured(_, harvest) = instance.body else {
            return Err(self.error(at, "the front end does not know this function; please report this"));
        };
        let harvest = Rc::new(harvest().told());
        let mut passed = Vec::with_capacity(args.len());
        for (arg, ty) in args.into_iter().zip(&harvest.params) {
            passed.push(self.coerce(at, arg, ty)?);
        }
        self.call_function(at, instance, &harvest, passed)
    }

    /// Calls captured Rust.
    pub(super) fn call_function(
        &mut self,
        at: Pos,
        instance: &Instance,
        harvest: &Rc<Told>,
        args: Vec<Val>,
    ) -> Result<Val> {
        let inlined = |arg: &Val| match &arg.ty {
            Ty::Ref(to, Memory::Place(_)) => !to.is_plain(),
            ty => ty.holds_places(),
        };
        let library = instance.definition().options.library;
        if library || args.iter().any(inlined) || !harvest.result.is_plain() {
            return self.inline(at, instance, harvest, args);
        }
        let mut leaves = Vec::new();
        let mut memories = Vec::new();
        let mut lent = Vec::new();
        for value in args {
            let value = self.build.pointing(value);
            let (value, place) = self.lent(value);
            lent.extend(place);
            memories.extend(value.ty.memories());
            leaves.extend(value.leaves);
        }
        if self.build.ended() {
            return Ok(self.build.never(&harvest.result));
        }
        let caller = self.scopes.caller(at, instance);
        let id = self.program.function(instance, harvest, memories, caller);
        let result = self.build.call_by_number(id, leaves, &harvest.result);
        for (place, cell) in lent {
            let value = self.build.load_in_place(cell, place.ty());
            self.write(at, &place, value)?;
        }
        Ok(result)
    }

    /// Lowers a device function's body in the place of its call.
    fn inline(&mut self, at: Pos, instance: &Instance, harvest: &Rc<Told>, args: Vec<Val>) -> Result<Val> {
        let Body::Captured(definition, told) = instance.body else {
            return Err(self.error(at, "the front end does not know this function; please report this"));
        };
        if self.scopes.frames.len() >= MAX_INLINED {
            let text = format!(
                "`{}` takes closures or returns references, so it is inlined and cannot call itself",
                definition.name
            );
            return Err(self.error(at, text));
        }
        let exit = self.build.block();
        let merge = self.merge("inlined", harvest.result.clone());
        let returns = Return::Inlined(exit, merge);
        let harvest = self.program.spelled(harvest.clone(), told);
        let mut frame = Frame::new(definition, instance.generics.clone(), harvest.clone(), returns);
        frame.caller = self.scopes.caller(at, instance);
        // the device library's sums and counts overflow as the caller's own would, and its indices are checked as those
        if definition.options.library {
            frame.checked = self.scopes.checks_overflow();
            frame.unchecked |= !self.scopes.checks_bounds();
        }
        frame.called = Some((self.scopes.current, at));
        self.scopes.frames.push(frame);
        let caller = std::mem::replace(&mut self.scopes.current, self.scopes.frames.len() - 1);
        let scope = self.enter_inlined();
        let place = self.go_to(Pos(definition.line, 1));
        for (pattern, value) in definition.params.iter().zip(args) {
            self.bind(pattern, &Place::Fixed(value))?;
        }
        let value = self.block(&definition.body, Some(&harvest.result))?;
        let end = definition.body.tail.map_or(Pos(1, 1), |tail| tail.0);
        self.return_from(end, value)?;
        self.scopes.frames.pop();
        self.scopes.current = caller;
        self.build.set_scope(scope);
        self.build.set_place(place);
        self.build.select_block(exit);
        Ok(self.arrived(merge))
    }

    /// Ends the body of the innermost function or closure with its value.
    pub(super) fn return_from(&mut self, at: Pos, value: Val) -> Result<()> {
        if self.build.ended() {
            return Ok(());
        }
        match self.frame().returns.last().cloned() {
            Some(Return::Inlined(exit, merge)) => {
                let ty = self.merged(merge);
                let value = self.coerce(at, value, &ty)?;
                self.arrive(at, value, merge, exit)
            }
            Some(Return::Memory(result)) => {
                let ty = self.frame().harvest.result.clone();
                let value = self.coerce(at, value, &ty)?;
                self.build.store(result, Space::Local, &value);
                self.build.end(crate::kir::Terminator::Return(None));
                Ok(())
            }
            _ => {
                let value = self.coerce(at, value, &self.frame().harvest.result.clone())?;
                self.build.end(crate::kir::Terminator::Return(value.leaves.first().copied()));
                Ok(())
            }
        }
    }

    /// A closure, with its own copies of what it moves.
    pub(super) fn capture(&mut self, closure: &'static Closure) -> Captured {
        let mut copies = HashMap::new();
        for number in closure.moved {
            let Some(local) = self.frame().locals.get(number).cloned() else { continue };
            let mutable = self.frame().definition.bindings[*number as usize].mutable;
            let copy = self.moved_local(local, mutable);
            copies.insert(*number, copy);
        }
        let mut number = None;
        if !copies.is_empty() {
            self.scopes.copies.push(copies);
            number = Some(self.scopes.copies.len() - 1);
        }
        let (result, scope) = (self.scopes.returned_by(closure), self.build.scope());
        Captured::Written { closure, frame: self.scopes.current, copies: number, borrowed: false, result, scope }
    }

    /// What a launch passes for a closure: what it captures comes in the kernel's parameters from `next` on.
    pub(super) fn passed(&mut self, passed: &Passed, next: &mut usize) -> Result<Captured> {
        let Body::Captured(definition, told) = passed.instance.body else {
            return Err(
                self.error(self.scopes.beginning(), "the front end does not know this function; please report this")
            );
        };
        let harvest = self.program.spelled(Rc::new(told().told()), told);
        let tail = definition.body.tail.map(|tail| &tail.1);
        let (Some(_), Some(ExprKind::Closure(closure))) = (&passed.captures, tail) else {
            return Ok(Captured::Function(passed.instance.clone(), harvest));
        };
        let generics = passed.instance.generics.clone();
        let checked = self.scopes.checks_overflow();
        let mut frame = Frame::new(definition, generics, harvest.clone(), Return::Caller);
        frame.checked = checked;
        self.scopes.frames.push(frame);
        let kernel = std::mem::replace(&mut self.scopes.current, self.scopes.frames.len() - 1);
        let scope = self.enter_passed();
        let place = self.go_to(Pos(definition.line, 1));
        for (pattern, ty) in definition.params.iter().zip(&harvest.params) {
            let value = self.build.kernel_parameter(ty, next);
            self.bind(pattern, &Place::Fixed(value))?;
        }
        let captured = self.capture(closure);
        self.build.set_scope(scope);
        self.build.set_place(place);
        self.scopes.current = kernel;
        Ok(captured)
    }

    /// Puts a closure's body in the place of its call. What it captures by reference has the names of now, in the
    /// function that wrote it.
    pub(super) fn call_closure(
        &mut self,
        at: Pos,
        callee: &'static Expr,
        args: &'static [Expr],
        expected: Option<&Ty>,
    ) -> Result<Val> {
        let place = self.place(callee)?;
        let number = self.named_closure(place).flatten();
        let (closure, written) = match number.map(|number| self.scopes.closures[number as usize].clone()) {
            Some(Captured::Written { closure, frame, copies, scope, .. }) => {
                (closure, Written { frame, copies, scope })
            }
            Some(Captured::Function(instance, harvest)) => {
                let passed = self.arguments(None, args, &harvest.params)?;
                return self.call_function(at, &instance, &harvest, passed);
            }
            Some(function @ (Captured::Operation(..) | Captured::Constructor(..) | Captured::Conversion(_))) => {
                let values = args.iter().map(|arg| self.expr(arg, None)).collect::<Result<_>>()?;
                return self.invoke(at, &function, values);
            }
            Some(Captured::Nowhere) | None => return Ok(self.unreached(at, expected)),
        };
        let mut values = Vec::with_capacity(args.len());
        for (pattern, arg) in closure.params.iter().zip(args) {
            let ty = match pattern {
                Pattern::Bind(number) => self.scopes.frames[written.frame].binding_type(*number),
                _ => self.ty_of(arg),
            };
            values.push(match &ty {
                Some(ty) => self.expr_as(arg, ty)?,
                None => self.expr(arg, None)?,
            });
        }
        self.call_written(closure, written, values, expected)
    }

    /// The body of a closure that the function of a frame has written.
    fn call_written(
        &mut self,
        closure: &'static Closure,
        Written { frame, copies, scope: written_in }: Written,
        args: Vec<Val>,
        expected: Option<&Ty>,
    ) -> Result<Val> {
        let caller = std::mem::replace(&mut self.scopes.current, frame);
        let scope = self.build.set_scope(written_in);
        let place = self.go_to(closure.body.0);
        self.scopes.exchange_copies(copies);
        for (pattern, value) in closure.params.iter().zip(args) {
            self.bind(pattern, &Place::Fixed(value))?;
        }
        let ty = expected.cloned().or_else(|| self.scopes.returned_by(closure)).unwrap_or(Ty::Unit);
        let exit = self.build.block();
        let merge = self.merge("closure", ty.clone());
        self.frame_mut().returns.push(Return::Inlined(exit, merge));
        let value = self.expr_in_place(closure.body, Some(&ty))?;
        self.return_from(closure.body.0, value)?;
        self.frame_mut().returns.pop();
        self.scopes.exchange_copies(copies);
        self.scopes.current = caller;
        self.build.set_scope(scope);
        self.build.set_place(place);
        self.build.select_block(exit);
        Ok(self.arrived(merge))
    }

    fn intrinsic(
        &mut self,
        at: Pos,
        intrinsic: Intrinsic,
        scalar: Option<Scalar>,
        args: &'static [Expr],
    ) -> Result<Val> {
        let special = |walk: &mut Self, of: fn(Axis) -> Special| AXES.map(|axis| walk.build.special(of(axis))).to_vec();
        let leaves = match intrinsic {
            Intrinsic::Grid(dims) => AXES[..dims].iter().map(|&axis| self.build.position(axis)).collect(),
            Intrinsic::GridSize(dims) => AXES[..dims].iter().map(|&axis| self.build.extent(axis)).collect(),
            Intrinsic::ThreadIdx => special(self, Special::ThreadIdx),
            Intrinsic::BlockIdx => special(self, Special::BlockIdx),
            Intrinsic::BlockDim => special(self, Special::BlockDim),
            Intrinsic::GridDim => special(self, Special::GridDim),
            Intrinsic::ClusterBlockIdx => special(self, Special::ClusterBlockIdx),
            Intrinsic::ClusterDim => special(self, Special::ClusterDim),
            Intrinsic::ClusterRank => vec![self.build.special(Special::ClusterRank)],
            Intrinsic::ClusterRanks => vec![self.build.special(Special::ClusterRanks)],
            Intrinsic::LaneId => vec![self.build.special(Special::LaneId)],
            Intrinsic::WarpSize => vec![self.build.special(Special::WarpSize)],
            Intrinsic::Number(from) => {
                let to = scalar.unwrap_or(from);
                let value = self.scalar(&args[0], from)?;
                return Ok(Val::scalar(to, self.build.cast_value(value, from, to)));
            }
            Intrinsic::TryNumber(from) => {
                let value = self.scalar(&args[0], from)?;
                return Ok(self.fallible(value, from, scalar.unwrap_or(from)));
            }
            Intrinsic::FromBits => {
                let to = scalar.unwrap_or(Scalar::F32);
                let bits = self.scalar(&args[0], to.unsigned())?;
                return Ok(Val::scalar(to, self.build.value(Op::Bitcast(bits, to), to)));
            }
            Intrinsic::ComesAfter => {
                let (a, b) = (self.place(&args[0])?, self.place(&args[1])?);
                vec![self.compared_by(at, (CompareOp::Gt, By::Total), &a, &b)?]
            }
            _ => return self.together(at, intrinsic, scalar, args),
        };
        if let Intrinsic::Grid(dims) | Intrinsic::GridSize(dims) = intrinsic {
            self.program.grid_dims = self.program.grid_dims.max(dims);
        }
        Ok(Val { ty: intrinsic_type(intrinsic, scalar), leaves })
    }

    /// The address that a reference holds; what lies in no memory is given a place in the thread's.
    pub(super) fn address(&mut self, at: Pos, reference: Val) -> Result<Value> {
        Ok(match reference.ty {
            Ty::Ref(_, Memory::Place(number)) => self.address_of_place(at, number)?,
            Ty::Ref(to, Memory::Value) => {
                let value = Val { ty: *to, leaves: reference.leaves };
                let cell = self.build.new_array("borrowed", &value.ty).only();
                self.build.store(cell, Space::Local, &value);
                cell
            }
            _ => reference.only(),
        })
    }
}

impl Scopes {
    /// Returns true if a value holds a closure that owns variables.
    fn has_closure_with_state(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Closure(Memory::Closure(Some(number))) => match &self.closures[*number as usize] {
                Captured::Written { frame, copies: Some(copies), .. } => {
                    let bindings = &self.frames[*frame].definition.bindings;
                    self.copies[*copies].keys().any(|number| bindings[*number as usize].mutable)
                }
                _ => false,
            },
            ty => ty.parts().iter().any(|(part, _)| self.has_closure_with_state(part)),
        }
    }

    /// The source location that a callee with `#[track_caller]` reports its panics at.
    fn caller(&self, at: Pos, instance: &Instance) -> Option<Spot> {
        instance.definition().options.track_caller.then(|| self.spot(at))
    }

    /// Puts a `move` closure's copies in the place of the bindings, or back.
    fn exchange_copies(&mut self, copies: Option<usize>) {
        let Some(copies) = copies else { return };
        let mut own = std::mem::take(&mut self.copies[copies]);
        for (number, local) in &mut own {
            if let Some(other) = self.frame_mut().locals.get_mut(number) {
                std::mem::swap(local, other);
            }
        }
        self.copies[copies] = own;
    }

    /// The result type of a closure of this frame: as rustc says, if it was asked, else as far as its body tells.
    fn returned_by(&self, closure: &Closure) -> Option<Ty> {
        let asked = closure.result.map(|number| self.frame().harvest.named[number as usize].clone());
        asked.or_else(|| self.ty_of(closure.body))
    }

    /// The type of the result of a closure's call.
    pub(super) fn ty_of_closure(&self, number: u32) -> Option<Ty> {
        let ty = match self.frame().locals.get(&number)? {
            Local::Fixed(Val { ty, .. }) | Local::Slots(ty, _) => ty,
            Local::Cell(..) | Local::Late(_) => return None,
        };
        let Ty::Closure(Memory::Closure(Some(number))) = ty else { return None };
        match &self.closures[*number as usize] {
            Captured::Written { result, .. } => result.clone(),
            Captured::Function(_, harvest) => Some(harvest.result.clone()),
            Captured::Operation(_, typing) => Some(typing.result.clone()),
            Captured::Constructor(ty, _) => Some(ty.clone()),
            Captured::Conversion(_) | Captured::Nowhere => None,
        }
    }
}

impl Builder {
    /// Calls a function of the module.
    fn call_by_number(&mut self, id: FuncId, mut leaves: Vec<Value>, ty: &Ty) -> Val {
        match ty {
            Ty::Scalar(scalar) | Ty::Enum(_, scalar) => {
                let value = self.value(Op::Call(id, leaves), Type::Scalar(*scalar));
                Val { ty: ty.clone(), leaves: vec![value] }
            }
            Ty::Unit => {
                self.effect(Op::Call(id, leaves));
                Val::unit()
            }
            ty => {
                let result = self.new_array("result", ty);
                leaves.insert(0, result.only());
                self.effect(Op::Call(id, leaves));
                let value = self.load_in_place(result.only(), ty);
                self.fresh(value)
            }
        }
    }
}
