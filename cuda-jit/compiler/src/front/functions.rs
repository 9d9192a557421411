//! Functions as values, and calls of them; closures are inlined.
//!
//! The type of such a value identifies the function, so that every call is resolved at compile time. A closure's
//! captures are its parts, like those of a tuple: they are copied, stored and merged like any value.

use std::collections::HashSet;
use std::rc::Rc;

use super::builder::Builder;
use super::copies::is_place;
use super::function::{Callable, Frame, Local, Lowering, Result, Return};
use super::merge::MergeId;
use super::place::Place;
use super::scopes::{ClosureBody, Environment, Scopes};
use super::types::Val;
use super::uses;
use super::{Body, Callee};
use crate::kir::{Scalar, Space, UnaryOp, Value};
use crate::syntax::{Closure, Expr, ExprKind, Pattern, Pos};
use crate::typeinfo::{ClosureId, Intrinsic, Memory, Passed, Ty};

impl Lowering<'_> {
    /// Lowers a function used as a value.
    pub(super) fn callable(&mut self, arg: &'static Expr) -> Result<Val> {
        let function = match &arg.1 {
            ExprKind::Closure(closure) => return Ok(self.capture(closure)),
            ExprKind::Reborrow(inner, _) if !is_place(inner) => return self.callable(inner),
            ExprKind::Function(number) => match &self.frame().callees[*number as usize] {
                Callee::Function(instance, info) => Callable::Function(instance.clone(), info.clone()),
                Callee::Operation(operation, typing) => Callable::Operation(*operation, typing.clone()),
                conversion @ (Callee::Same(_)
                | Callee::ArrayOfSlice(_)
                | Callee::Intrinsic(Intrinsic::Number(_) | Intrinsic::TryNumber(_), _)) => {
                    Callable::Conversion(conversion.clone())
                }
                Callee::Constructor(ty, variant) => {
                    Callable::Constructor(ty.clone(), self.scopes.known_variant(arg.0, *variant)?)
                }
                Callee::Constant(constant) => {
                    let constant = constant.clone();
                    let place = self.constant_place(arg.0, &constant)?;
                    return Ok(self.read_copied(&place));
                }
                Callee::HostFunction(name) => return Err(self.host_function_error(arg.0, name)),
                _ => return Err(self.error(arg.0, "write a closure that calls this function")),
            },
            _ => {
                let value = self.expr(arg, None)?;
                let mut ty = &value.ty;
                while let Ty::Ref(to, _) = ty {
                    ty = to;
                }
                return match (ty, &value.ty) {
                    (Ty::Closure(_), Ty::Ref(..)) => Ok(self.scopes.closure_value(Callable::Borrowed, vec![value])),
                    (Ty::Closure(_), _) => Ok(value),
                    _ => Err(self.error(arg.0, "this parameter takes a closure, written here or bound with `let`")),
                };
            }
        };
        Ok(self.scopes.closure_value(function, Vec::new()))
    }

    /// Lowers a closure expression to its captures. A closure that is not `move` can outlive a binding only if it
    /// captures a reference that the binding holds, so bindings that are mutable, or hold arrays, are captured by name.
    pub(super) fn capture(&mut self, closure: &'static Closure) -> Val {
        let frame = self.frame();
        let (bindings, mut named) = (frame.definition.bindings, false);
        let mut captures = closure.moved.to_vec();
        if captures.is_empty() {
            captures.extend(frame.locals.keys().filter(|number| uses::closure(closure, **number)));
            let before = captures.len();
            captures.retain(|number| match &frame.locals[number] {
                Local::Fixed(Val { ty, .. }) | Local::Slots(ty, ..) => {
                    !bindings[*number as usize].mutable && !ty.holds_arrays()
                }
                Local::Memory(..) | Local::Late(_) => false,
            });
            named = captures.len() < before;
        }
        captures.retain(|number| matches!(frame.locals.get(number), Some(local) if !matches!(local, Local::Late(_))));
        // several names that rustc resolves may be one binding
        captures.sort_unstable();
        captures.dedup();
        let environment =
            if named { Environment::Frame(self.scopes.current) } else { Environment::Own(Rc::new(frame.unbound())) };
        let (result, scope) = (self.scopes.closure_result(closure), self.build.scope());
        let captured = |number: &u32| (self.frame().locals[number].clone(), bindings[*number as usize].mutable);
        let locals: Vec<_> = captures.iter().map(captured).collect();
        let values = locals.into_iter().map(|(local, mutable)| self.captured_value(local, mutable)).collect();
        let body = ClosureBody { closure, environment, captures: captures.into(), result, scope };
        self.scopes.closure_value(Callable::Closure(body), values)
    }

    /// The captured value of a binding.
    fn captured_value(&mut self, local: Local, mutable: bool) -> Val {
        match local {
            Local::Fixed(value) => self.take_ownership(value, mutable),
            Local::Slots(ty, slots, _) => {
                let value = self.build.get(&ty, &slots);
                self.copied_value(value)
            }
            Local::Memory(ptr, ty) => self.build.load(ptr, Space::Local, &ty),
            Local::Late(_) => Val::unit(),
        }
    }

    /// The closure that a launch passes, whose captures are the kernel's parameters from `next` on.
    pub(super) fn launch_closure(&mut self, passed: &Passed, next: &mut usize) -> Result<Val> {
        let Body::Captured(definition, probe) = passed.instance.body else {
            return Err(self.error(
                self.scopes.function_position(),
                "the front end does not know this function; please report this",
            ));
        };
        let info = self.program.spelled(Rc::new(probe().into_info()), probe);
        let tail = definition.body.tail.map(|tail| &tail.1);
        let (Some(_), Some(ExprKind::Closure(closure))) = (&passed.captures, tail) else {
            let function = Callable::Function(passed.instance.clone(), info);
            return Ok(self.scopes.closure_value(function, Vec::new()));
        };
        let generics = passed.instance.generics.clone();
        let checked = self.scopes.checks_overflow();
        let mut frame = Frame::new(definition, generics, info.clone(), Return::Caller);
        frame.checked = checked;
        self.scopes.frames.push(frame);
        let kernel = std::mem::replace(&mut self.scopes.current, self.scopes.frames.len() - 1);
        let scope = self.enter_launch_closure();
        let place = self.set_location_at(Pos(definition.line, 1));
        for (pattern, ty) in definition.params.iter().zip(&info.params) {
            let value = self.build.kernel_parameter(ty, next);
            self.bind(pattern, &Place::Fixed(value))?;
        }
        let captured = self.capture(closure);
        self.build.set_scope(scope);
        self.build.set_location(place);
        self.scopes.current = kernel;
        Ok(captured)
    }

    /// The closure that a place holds or refers to, and that place; `None` for the payload of a `None`.
    fn closure_in(&mut self, place: Place) -> Option<(Place, Callable)> {
        let place = self.deref_all(place);
        let Ty::Closure(Memory::Closure(Some(closure))) = place.ty() else { return None };
        match self.scopes.facts.closures[closure.number as usize].clone() {
            Callable::Borrowed => {
                let reference = self.build.part(&place, 0);
                self.closure_in(reference)
            }
            function => Some((place, function)),
        }
    }

    /// Lowers `callee(args)` for a closure.
    pub(super) fn call_closure(
        &mut self,
        at: Pos,
        callee: &'static Expr,
        args: &'static [Expr],
        expected: Option<&Ty>,
    ) -> Result<Val> {
        let place = self.place(callee)?;
        match self.closure_in(place) {
            Some((place, Callable::Closure(body))) => {
                let mut values = Vec::with_capacity(args.len());
                for (pattern, arg) in body.closure.params.iter().zip(args) {
                    let ty = match pattern {
                        Pattern::Bind(number) => self.scopes.environment(&body).binding_type(*number),
                        _ => self.ty_of(arg),
                    };
                    values.push(match &ty {
                        Some(ty) => self.expr_as(arg, ty)?,
                        None => self.expr(arg, None)?,
                    });
                }
                self.call_closure_body(at, &place, &body, values, expected)
            }
            Some((_, Callable::Function(instance, info))) => {
                let passed = self.arguments(None, args, &info.params)?;
                self.call_function(at, &instance, &info, passed)
            }
            Some((_, Callable::Constructor(ty, variant))) => {
                let parts = ty.fields();
                let own: Vec<Ty> = parts[ty.fields_of(variant)].iter().map(|(part, _)| (*part).clone()).collect();
                let values = self.values(at, args, &own)?;
                Ok(self.build.constructed(&ty, variant, values))
            }
            Some((_, Callable::Operation(operation, typing))) => {
                let values = self.values(at, args, &typing.params)?;
                self.operation(at, operation, &typing, &values)
            }
            Some((_, Callable::Conversion(conversion))) => {
                let value = self.expr(&args[0], None)?;
                self.converted(at, &conversion, value)
            }
            Some((_, Callable::Borrowed)) | None => Ok(self.unreachable(at, expected)),
        }
    }

    /// Lowers arguments of these types.
    fn values(&mut self, at: Pos, args: &'static [Expr], types: &[Ty]) -> Result<Vec<Val>> {
        let values: Vec<Val> = args.iter().map(|arg| self.expr(arg, None)).collect::<Result<_>>()?;
        values.into_iter().zip(types).map(|(value, ty)| self.coerce(at, value, ty)).collect()
    }

    /// Inlines a closure's body. A binding that it captures by name has its current value in the function that contains
    /// the closure.
    fn call_closure_body(
        &mut self,
        at: Pos,
        closure_place: &Place,
        body: &ClosureBody,
        args: Vec<Val>,
        expected: Option<&Ty>,
    ) -> Result<Val> {
        let closure = body.closure;
        let caller = self.scopes.enter_environment(at, &body.environment);
        let scope = self.build.set_scope(body.scope);
        let place = self.set_location_at(closure.body.0);
        let outer: HashSet<u32> = self.frame().locals.keys().copied().collect();
        let hidden = self.bind_captures(closure_place, &body.captures);
        for (pattern, value) in closure.params.iter().zip(args) {
            self.bind(pattern, &Place::Fixed(value))?;
        }
        let own = self.scopes.closure_result(closure);
        // an operator expects a number where a reference to one is allowed
        let ty = match (expected, own) {
            (Some(expected), Some(own @ Ty::Ref(..))) if !matches!(expected, Ty::Ref(..) | Ty::Slice(..)) => Some(own),
            (expected, own) => expected.cloned().or(own),
        };
        let result = match ty {
            Some(ty) => {
                let exit = self.build.block();
                let merge = self.merge("closure", ty.clone());
                self.frame_mut().returns.push(Return::Inlined(exit, merge));
                let value = self.expr_in_place(closure.body, Some(&ty))?;
                self.return_from(closure.body.0, value)?;
                self.frame_mut().returns.pop();
                self.build.select_block(exit);
                ClosureResult::Merged(merge)
            }
            // only the lowered body has a type, as where its tail calls a closure that it binds; it has no `return`
            None => ClosureResult::Value(self.expr(closure.body, None)?),
        };
        self.restore_captures(at, closure_place, &body.captures, hidden)?;
        // the next call of the closure must not see bindings of this one
        self.frame_mut().locals.retain(|number, _| outer.contains(number));
        self.scopes.leave_environment(caller, &body.environment);
        self.build.set_scope(scope);
        self.build.set_location(place);
        Ok(match result {
            ClosureResult::Merged(merge) => self.merge_result(merge),
            ClosureResult::Value(value) => value,
        })
    }

    /// Binds a closure's captures; returns the bindings that they shadow.
    fn bind_captures(&mut self, closure_place: &Place, captures: &[u32]) -> Vec<Option<Local>> {
        let state = self.build.read(closure_place);
        let bindings = self.frame().definition.bindings;
        let mut hidden = Vec::with_capacity(captures.len());
        for (index, &number) in captures.iter().enumerate() {
            let part = state.part(index);
            let local = match closure_place {
                _ if !bindings[number as usize].mutable => Local::Fixed(self.build.stable(part)),
                // an array is modified in place
                Place::Slots(..) if is_array(&part.ty) => Local::Fixed(part),
                _ => self.local(number, part),
            };
            hidden.push(self.frame_mut().locals.insert(number, local));
        }
        hidden
    }

    /// Writes modified captures back to the closure, and restores the bindings that they shadowed.
    fn restore_captures(
        &mut self,
        at: Pos,
        closure_place: &Place,
        captures: &[u32],
        hidden: Vec<Option<Local>>,
    ) -> Result<()> {
        let bindings = self.frame().definition.bindings;
        for (index, (number, hidden)) in captures.iter().zip(hidden).enumerate() {
            let local = self.frame_mut().locals.remove(number);
            self.frame_mut().locals.extend(hidden.map(|hidden| (*number, hidden)));
            let value = match local {
                _ if !bindings[*number as usize].mutable || !matches!(closure_place, Place::Slots(..)) => continue,
                Some(Local::Slots(ty, slots, _)) => self.build.get(&ty, &slots),
                Some(Local::Memory(ptr, ty)) => self.build.load_in_place(ptr, &ty),
                _ => continue,
            };
            let part = self.build.part(closure_place, index);
            self.write(at, &part, value)?;
        }
        Ok(())
    }
}

/// The result of an inlined closure.
enum ClosureResult {
    Merged(MergeId),
    Value(Val),
}

/// Returns true for an array with storage.
pub(super) fn is_array(ty: &Ty) -> bool {
    matches!(ty, Ty::Array(..)) && ty.is_plain()
}

impl Scopes {
    /// The value of a closure with these captures.
    pub(super) fn closure_value(&mut self, function: Callable, captured: Vec<Val>) -> Val {
        let same = |known: &Callable| match (known, &function) {
            (Callable::Closure(a), Callable::Closure(b)) => a == b,
            (Callable::Borrowed, Callable::Borrowed) => true,
            (Callable::Function(a, _), Callable::Function(b, _)) => {
                std::ptr::eq(a.definition(), b.definition()) && a.generics == b.generics
            }
            (Callable::Operation(a, typing), Callable::Operation(b, other)) => (a, typing) == (b, other),
            (Callable::Constructor(a, variant), Callable::Constructor(b, other)) => (a, variant) == (b, other),
            (Callable::Conversion(Callee::Same(a)), Callable::Conversion(Callee::Same(b)))
            | (Callable::Conversion(Callee::ArrayOfSlice(a)), Callable::Conversion(Callee::ArrayOfSlice(b))) => a == b,
            (Callable::Conversion(Callee::Intrinsic(a, to)), Callable::Conversion(Callee::Intrinsic(b, other))) => {
                (a, to) == (b, other)
            }
            _ => false,
        };
        let known = self.facts.closures.iter().position(same);
        let number = known.unwrap_or(self.facts.closures.len());
        match self.facts.closures.get_mut(number) {
            // the scope is of the current attempt
            Some(known) => *known = function,
            None => self.facts.closures.push(function),
        }
        let (types, leaves): (Vec<_>, Vec<_>) = captured.into_iter().map(|Val { ty, leaves }| (ty, leaves)).unzip();
        let closure = ClosureId::new(number as u32, types);
        Val { ty: Ty::Closure(Memory::Closure(Some(closure))), leaves: leaves.concat() }
    }

    /// The reference that a reference to a closure captures.
    pub(super) fn borrowed_closure(&self, value: &Val) -> Option<Val> {
        let Ty::Closure(Memory::Closure(Some(closure))) = value.ty else { return None };
        matches!(self.facts.closures[closure.number as usize], Callable::Borrowed).then(|| value.part(0))
    }

    /// The frame whose bindings a closure uses, or one like it.
    fn environment<'s>(&'s self, body: &'s ClosureBody) -> &'s Frame {
        match &body.environment {
            Environment::Frame(number) => &self.frames[*number],
            Environment::Own(frame) => frame,
        }
    }

    /// Makes the frame of a closure's body the current one; returns the previous one.
    fn enter_environment(&mut self, at: Pos, environment: &Environment) -> usize {
        let caller = self.current;
        self.current = match environment {
            Environment::Frame(number) => *number,
            Environment::Own(frame) => {
                self.frames.push(Frame { call_site: Some((caller, at)), ..frame.unbound() });
                self.frames.len() - 1
            }
        };
        caller
    }

    /// Returns to the frame of a closure's caller.
    fn leave_environment(&mut self, caller: usize, environment: &Environment) {
        if let Environment::Own(_) = environment {
            self.frames.pop();
        }
        self.current = caller;
    }

    /// The result type of a closure in this frame: rustc's if it was queried, else the type of its body if that is
    /// known.
    fn closure_result(&self, closure: &Closure) -> Option<Ty> {
        let asked = closure.result.map(|number| self.frame().info.named[number as usize].clone());
        asked.or_else(|| self.ty_of(closure.body))
    }

    /// The result type of a closure call.
    pub(super) fn ty_of_closure(&self, number: u32) -> Option<Ty> {
        let mut ty = match self.frame().locals.get(&number)? {
            Local::Fixed(Val { ty, .. }) | Local::Slots(ty, ..) => ty,
            Local::Memory(..) | Local::Late(_) => return None,
        };
        loop {
            let closure = match ty {
                Ty::Ref(to, _) => {
                    ty = to;
                    continue;
                }
                Ty::Closure(Memory::Closure(Some(closure))) => closure,
                _ => return None,
            };
            return match &self.facts.closures[closure.number as usize] {
                Callable::Borrowed => {
                    ty = &closure.state[0];
                    continue;
                }
                Callable::Closure(body) => body.result.clone(),
                Callable::Function(_, info) => Some(info.result.clone()),
                Callable::Operation(_, typing) => Some(typing.result.clone()),
                Callable::Constructor(ty, _) => Some(ty.clone()),
                Callable::Conversion(_) => None,
            };
        }
    }
}

impl Builder {
    /// Returns `Ok(value)` if a condition holds, else the only value of an error type.
    pub(super) fn result_of_one_error(&mut self, holds: Value, value: Val, error: Ty) -> Val {
        let tag = self.unary_value(UnaryOp::Not, holds, Scalar::Bool);
        let only = self.constant_value(&error, &mut [0].into_iter());
        let leaves = [tag].into_iter().chain(value.leaves).chain(only.leaves).collect();
        Val { ty: Ty::result(value.ty, error), leaves }
    }
}

/// Returns `Some` of a value if a condition holds.
pub(super) fn optional(tag: Value, closure_place: Val) -> Val {
    let leaves = std::iter::once(tag).chain(closure_place.leaves).collect();
    Val { ty: Ty::option(closure_place.ty), leaves }
}
