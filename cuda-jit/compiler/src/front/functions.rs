//! Functions as values, and their calls: those of closures are inlined.
//!
//! The type of such a value says which function it is, so that nothing is left to be known when the kernel runs. What a
//! closure has captured are its parts, as those of a tuple: they are copied, stored and merged as any value is.

use std::collections::HashSet;
use std::rc::Rc;

use super::builder::Builder;
use super::copies::is_place;
use super::function::{Captured, Frame, Local, Lowering, Result, Return};
use super::mentions;
use super::place::Place;
use super::scopes::{Home, Scopes, Written};
use super::types::Val;
use super::{Body, Callee};
use crate::kir::{Scalar, Space, UnaryOp, Value};
use crate::syntax::{Closure, Expr, ExprKind, Pattern, Pos};
use crate::typeinfo::{ClosureId, Intrinsic, Memory, Passed, Ty};

impl Lowering<'_> {
    /// A function as a value, which is called somewhere else.
    pub(super) fn callable(&mut self, arg: &'static Expr) -> Result<Val> {
        let function = match &arg.1 {
            ExprKind::Closure(closure) => return Ok(self.capture(closure)),
            ExprKind::Reborrow(inner, _) if !is_place(inner) => return self.callable(inner),
            ExprKind::Function(number) => match &self.frame().callees[*number as usize] {
                Callee::Function(instance, info) => Captured::Function(instance.clone(), info.clone()),
                Callee::Operation(operation, typing) => Captured::Operation(*operation, typing.clone()),
                conversion @ (Callee::Same(_)
                | Callee::ArrayOfSlice(_)
                | Callee::Intrinsic(Intrinsic::Number(_) | Intrinsic::TryNumber(_), _)) => {
                    Captured::Conversion(conversion.clone())
                }
                Callee::Constructor(ty, variant) => {
                    Captured::Constructor(ty.clone(), self.scopes.known_variant(arg.0, *variant)?)
                }
                Callee::Constant(constant) => {
                    let constant = constant.clone();
                    let place = self.constant_place(arg.0, &constant)?;
                    return Ok(self.read_copied(&place));
                }
                Callee::Another(name) => return Err(self.another(arg.0, name)),
                _ => return Err(self.error(arg.0, "write a closure that calls this function")),
            },
            _ => {
                let value = self.expr(arg, None)?;
                let mut ty = &value.ty;
                while let Ty::Ref(to, _) = ty {
                    ty = to;
                }
                return match (ty, &value.ty) {
                    (Ty::Closure(_), Ty::Ref(..)) => Ok(self.scopes.closure_value(Captured::Borrowed, vec![value])),
                    (Ty::Closure(_), _) => Ok(value),
                    _ => Err(self.error(arg.0, "this parameter takes a closure, written here or bound with `let`")),
                };
            }
        };
        Ok(self.scopes.closure_value(function, Vec::new()))
    }

    /// A closure, with the values that it captures. One that is no `move` closure can outlive a binding only if it captures
    /// the reference which that holds; so a binding that changes, or holds arrays, is captured by its name.
    pub(super) fn capture(&mut self, closure: &'static Closure) -> Val {
        let frame = self.frame();
        let (bindings, mut named) = (frame.definition.bindings, false);
        let mut captures = closure.moved.to_vec();
        if captures.is_empty() {
            captures.extend(frame.locals.keys().filter(|number| mentions::closure(closure, **number)));
            let before = captures.len();
            captures.retain(|number| match &frame.locals[number] {
                Local::Fixed(Val { ty, .. }) | Local::Slots(ty, ..) => {
                    !bindings[*number as usize].mutable && !ty.holds_arrays()
                }
                Local::Cell(..) | Local::Late(_) => false,
            });
            named = captures.len() < before;
        }
        captures.retain(|number| matches!(frame.locals.get(number), Some(local) if !matches!(local, Local::Late(_))));
        // of names that rustc resolves, several may be one binding
        captures.sort_unstable();
        captures.dedup();
        let home = if named { Home::Frame(self.scopes.current) } else { Home::Apart(Rc::new(frame.unbound())) };
        let (result, scope) = (self.scopes.returned_by(closure), self.build.scope());
        let captured = |number: &u32| (self.frame().locals[number].clone(), bindings[*number as usize].mutable);
        let locals: Vec<_> = captures.iter().map(captured).collect();
        let values = locals.into_iter().map(|(local, mutable)| self.captured_value(local, mutable)).collect();
        let written = Written { closure, home, captures: captures.into(), result, scope };
        self.scopes.closure_value(Captured::Written(written), values)
    }

    /// The value of a binding, for a closure to have.
    fn captured_value(&mut self, local: Local, mutable: bool) -> Val {
        match local {
            Local::Fixed(value) => self.own(value, mutable),
            Local::Slots(ty, slots, _) => {
                let value = self.build.get(&ty, &slots);
                self.copied_value(value)
            }
            Local::Cell(ptr, ty) => self.build.load(ptr, Space::Local, &ty),
            Local::Late(_) => Val::unit(),
        }
    }

    /// What a launch passes for a closure: what it captures comes in the kernel's parameters from `next` on.
    pub(super) fn passed(&mut self, passed: &Passed, next: &mut usize) -> Result<Val> {
        let Body::Captured(definition, probe) = passed.instance.body else {
            return Err(
                self.error(self.scopes.beginning(), "the front end does not know this function; please report this")
            );
        };
        let info = self.program.spelled(Rc::new(probe().into_info()), probe);
        let tail = definition.body.tail.map(|tail| &tail.1);
        let (Some(_), Some(ExprKind::Closure(closure))) = (&passed.captures, tail) else {
            let function = Captured::Function(passed.instance.clone(), info);
            return Ok(self.scopes.closure_value(function, Vec::new()));
        };
        let generics = passed.instance.generics.clone();
        let checked = self.scopes.checks_overflow();
        let mut frame = Frame::new(definition, generics, info.clone(), Return::Caller);
        frame.checked = checked;
        self.scopes.frames.push(frame);
        let kernel = std::mem::replace(&mut self.scopes.current, self.scopes.frames.len() - 1);
        let scope = self.enter_passed();
        let place = self.go_to(Pos(definition.line, 1));
        for (pattern, ty) in definition.params.iter().zip(&info.params) {
            let value = self.build.kernel_parameter(ty, next);
            self.bind(pattern, &Place::Fixed(value))?;
        }
        let captured = self.capture(closure);
        self.build.set_scope(scope);
        self.build.set_place(place);
        self.scopes.current = kernel;
        Ok(captured)
    }

    /// The closure that a place holds, or refers to, and where that is; none of what a `None` holds.
    fn closure_in(&mut self, place: Place) -> Option<(Place, Captured)> {
        let place = self.through(place);
        let Ty::Closure(Memory::Closure(Some(closure))) = place.ty() else { return None };
        match self.scopes.learned.closures[closure.number as usize].clone() {
            Captured::Borrowed => {
                let reference = self.build.part(&place, 0);
                self.closure_in(reference)
            }
            function => Some((place, function)),
        }
    }

    /// `callee(args)` of a closure.
    pub(super) fn call_closure(
        &mut self,
        at: Pos,
        callee: &'static Expr,
        args: &'static [Expr],
        expected: Option<&Ty>,
    ) -> Result<Val> {
        let place = self.place(callee)?;
        match self.closure_in(place) {
            Some((place, Captured::Written(written))) => {
                let mut values = Vec::with_capacity(args.len());
                for (pattern, arg) in written.closure.params.iter().zip(args) {
                    let ty = match pattern {
                        Pattern::Bind(number) => self.scopes.home(&written).binding_type(*number),
                        _ => self.ty_of(arg),
                    };
                    values.push(match &ty {
                        Some(ty) => self.expr_as(arg, ty)?,
                        None => self.expr(arg, None)?,
                    });
                }
                self.call_written(at, &place, &written, values, expected)
            }
            Some((_, Captured::Function(instance, info))) => {
                let passed = self.arguments(None, args, &info.params)?;
                self.call_function(at, &instance, &info, passed)
            }
            Some((_, Captured::Constructor(ty, variant))) => {
                let parts = ty.fields();
                let own: Vec<Ty> = parts[ty.fields_of(variant)].iter().map(|(part, _)| (*part).clone()).collect();
                let values = self.values(at, args, &own)?;
                Ok(self.build.constructed(&ty, variant, values))
            }
            Some((_, Captured::Operation(operation, typing))) => {
                let values = self.values(at, args, &typing.params)?;
                self.operation(at, operation, &typing, &values)
            }
            Some((_, Captured::Conversion(conversion))) => {
                let value = self.expr(&args[0], None)?;
                self.converted(at, &conversion, value)
            }
            Some((_, Captured::Borrowed)) | None => Ok(self.unreached(at, expected)),
        }
    }

    /// Values of these types.
    fn values(&mut self, at: Pos, args: &'static [Expr], types: &[Ty]) -> Result<Vec<Val>> {
        let values: Vec<Val> = args.iter().map(|arg| self.expr(arg, None)).collect::<Result<_>>()?;
        values.into_iter().zip(types).map(|(value, ty)| self.coerce(at, value, ty)).collect()
    }

    /// Puts a closure's body in the place of its call. What it captures by its name is what has that name now, in the function
    /// that wrote it.
    fn call_written(
        &mut self,
        at: Pos,
        held: &Place,
        written: &Written,
        args: Vec<Val>,
        expected: Option<&Ty>,
    ) -> Result<Val> {
        let closure = written.closure;
        let caller = self.scopes.enter(at, &written.home);
        let scope = self.build.set_scope(written.scope);
        let place = self.go_to(closure.body.0);
        let around: HashSet<u32> = self.frame().locals.keys().copied().collect();
        let hidden = self.bring(held, &written.captures);
        for (pattern, value) in closure.params.iter().zip(args) {
            self.bind(pattern, &Place::Fixed(value))?;
        }
        let own = self.scopes.returned_by(closure);
        // an operator asks for a number where a reference to one will do
        let ty = match (expected, own) {
            (Some(expected), Some(own @ Ty::Ref(..))) if !matches!(expected, Ty::Ref(..) | Ty::Slice(..)) => own,
            (expected, own) => expected.cloned().or(own).unwrap_or(Ty::Unit),
        };
        let exit = self.build.block();
        let merge = self.merge("closure", ty.clone());
        self.frame_mut().returns.push(Return::Inlined(exit, merge));
        let value = self.expr_in_place(closure.body, Some(&ty))?;
        self.return_from(closure.body.0, value)?;
        self.frame_mut().returns.pop();
        self.build.select_block(exit);
        self.put_back(at, held, &written.captures, hidden)?;
        // another evaluation of the closure captures nothing of this call's
        self.frame_mut().locals.retain(|number, _| around.contains(number));
        self.scopes.leave(caller, &written.home);
        self.build.set_scope(scope);
        self.build.set_place(place);
        Ok(self.arrived(merge))
    }

    /// Binds what a closure has captured, and returns the bindings of the same names.
    fn bring(&mut self, held: &Place, captures: &[u32]) -> Vec<Option<Local>> {
        let state = self.build.read(held);
        let bindings = self.frame().definition.bindings;
        let mut hidden = Vec::with_capacity(captures.len());
        for (index, &number) in captures.iter().enumerate() {
            let part = state.part(index);
            let local = match held {
                _ if !bindings[number as usize].mutable => Local::Fixed(self.build.stable(part)),
                // an array is changed where it lies
                Place::Slots(..) if is_array(&part.ty) => Local::Fixed(part),
                _ => self.local(number, part),
            };
            hidden.push(self.frame_mut().locals.insert(number, local));
        }
        hidden
    }

    /// Gives a closure back what its body may have changed, and the bindings that those of it have hidden.
    fn put_back(&mut self, at: Pos, held: &Place, captures: &[u32], hidden: Vec<Option<Local>>) -> Result<()> {
        let bindings = self.frame().definition.bindings;
        for (index, (number, hidden)) in captures.iter().zip(hidden).enumerate() {
            let local = self.frame_mut().locals.remove(number);
            self.frame_mut().locals.extend(hidden.map(|hidden| (*number, hidden)));
            let value = match local {
                _ if !bindings[*number as usize].mutable || !matches!(held, Place::Slots(..)) => continue,
                Some(Local::Slots(ty, slots, _)) => self.build.get(&ty, &slots),
                Some(Local::Cell(ptr, ty)) => self.build.load_in_place(ptr, &ty),
                _ => continue,
            };
            let part = self.build.part(held, index);
            self.write(at, &part, value)?;
        }
        Ok(())
    }
}

/// Returns true for an array that lies in memory.
pub(super) fn is_array(ty: &Ty) -> bool {
    matches!(ty, Ty::Array(..)) && ty.is_plain()
}

impl Scopes {
    /// The value of a closure that has captured values.
    pub(super) fn closure_value(&mut self, function: Captured, captured: Vec<Val>) -> Val {
        let same = |known: &Captured| match (known, &function) {
            (Captured::Written(a), Captured::Written(b)) => a == b,
            (Captured::Borrowed, Captured::Borrowed) => true,
            (Captured::Function(a, _), Captured::Function(b, _)) => {
                std::ptr::eq(a.definition(), b.definition()) && a.generics == b.generics
            }
            (Captured::Operation(a, typing), Captured::Operation(b, other)) => (a, typing) == (b, other),
            (Captured::Constructor(a, variant), Captured::Constructor(b, other)) => (a, variant) == (b, other),
            (Captured::Conversion(Callee::Same(a)), Captured::Conversion(Callee::Same(b)))
            | (Captured::Conversion(Callee::ArrayOfSlice(a)), Captured::Conversion(Callee::ArrayOfSlice(b))) => a == b,
            (Captured::Conversion(Callee::Intrinsic(a, to)), Captured::Conversion(Callee::Intrinsic(b, other))) => {
                (a, to) == (b, other)
            }
            _ => false,
        };
        let known = self.learned.closures.iter().position(same);
        let number = known.unwrap_or(self.learned.closures.len());
        match self.learned.closures.get_mut(number) {
            // its scope is that of this time
            Some(known) => *known = function,
            None => self.learned.closures.push(function),
        }
        let (types, leaves): (Vec<_>, Vec<_>) = captured.into_iter().map(|Val { ty, leaves }| (ty, leaves)).unzip();
        let closure = ClosureId::new(number as u32, types);
        Val { ty: Ty::Closure(Memory::Closure(Some(closure))), leaves: leaves.concat() }
    }

    /// The reference that a reference to a closure is.
    pub(super) fn borrowed_closure(&self, value: &Val) -> Option<Val> {
        let Ty::Closure(Memory::Closure(Some(closure))) = value.ty else { return None };
        matches!(self.learned.closures[closure.number as usize], Captured::Borrowed).then(|| value.part(0))
    }

    /// The frame that a closure names bindings of, or one like it.
    fn home<'s>(&'s self, written: &'s Written) -> &'s Frame {
        match &written.home {
            Home::Frame(number) => &self.frames[*number],
            Home::Apart(frame) => frame,
        }
    }

    /// Makes the frame of a closure's body the current one, and returns the one that was.
    fn enter(&mut self, at: Pos, home: &Home) -> usize {
        let caller = self.current;
        self.current = match home {
            Home::Frame(number) => *number,
            Home::Apart(frame) => {
                self.frames.push(Frame { called: Some((caller, at)), ..frame.unbound() });
                self.frames.len() - 1
            }
        };
        caller
    }

    /// Goes back to the caller of a closure.
    fn leave(&mut self, caller: usize, home: &Home) {
        if let Home::Apart(_) = home {
            self.frames.pop();
        }
        self.current = caller;
    }

    /// The result type of a closure of this frame: as rustc says, if it was asked, else as far as its body tells.
    fn returned_by(&self, closure: &Closure) -> Option<Ty> {
        let asked = closure.result.map(|number| self.frame().info.named[number as usize].clone());
        asked.or_else(|| self.ty_of(closure.body))
    }

    /// The type of the result of a closure's call.
    pub(super) fn ty_of_closure(&self, number: u32) -> Option<Ty> {
        let mut ty = match self.frame().locals.get(&number)? {
            Local::Fixed(Val { ty, .. }) | Local::Slots(ty, ..) => ty,
            Local::Cell(..) | Local::Late(_) => return None,
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
            return match &self.learned.closures[closure.number as usize] {
                Captured::Borrowed => {
                    ty = &closure.state[0];
                    continue;
                }
                Captured::Written(written) => written.result.clone(),
                Captured::Function(_, info) => Some(info.result.clone()),
                Captured::Operation(_, typing) => Some(typing.result.clone()),
                Captured::Constructor(ty, _) => Some(ty.clone()),
                Captured::Conversion(_) => None,
            };
        }
    }
}

impl Builder {
    /// `Ok` of a value where a condition holds, else the only error of a type.
    pub(super) fn result_of_one_error(&mut self, holds: Value, value: Val, error: Ty) -> Val {
        let tag = self.unary_value(UnaryOp::Not, holds, Scalar::Bool);
        let only = self.constant_value(&error, &mut [0].into_iter());
        let leaves = [tag].into_iter().chain(value.leaves).chain(only.leaves).collect();
        Val { ty: Ty::result(value.ty, error), leaves }
    }
}

/// `Some` of a value where a condition holds.
pub(super) fn optional(tag: Value, held: Val) -> Val {
    let leaves = std::iter::once(tag).chain(held.leaves).collect();
    Val { ty: Ty::option(held.ty), leaves }
}
