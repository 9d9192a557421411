//! Calls of device functions, closures and intrinsics.
//!
//! A device function becomes a function of the module. It is inlined if it takes a closure or returns a reference,
//! since KIR can pass neither.

use std::rc::Rc;

use super::builder::Builder;
use super::compare::By;
use super::copies::{is_place, only_reads};
use super::function::{Frame, Lowering, Result, Return};
use super::place::Place;
use super::scopes::Scopes;
use super::types::{Val, intrinsic_type};
use super::{Callee, LowerError, SourceLocation};
use crate::kir::{Axis, CompareOp, FuncId, Op, Scalar, Space, Special, Type, Value};
use crate::syntax::{Expr, Pos};
use crate::typeinfo::{Body, Instance, Intrinsic, Memory, Ty, TypeInfo};

const AXES: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

/// The limit of nested inlining; functions nested deeper must be recursive.
const MAX_INLINED: usize = 128;

impl Lowering<'_> {
    /// `callee(args)`
    pub(super) fn call(&mut self, at: Pos, number: u32, args: &'static [Expr]) -> Result<Val> {
        let callees = self.frame().callees.clone();
        match &callees[number as usize] {
            Callee::Intrinsic(intrinsic, scalar) => self.intrinsic(at, *intrinsic, *scalar, args),
            Callee::Function(instance, info) => {
                let passed = self.arguments(None, args, &info.params)?;
                self.call_function(at, instance, info, passed)
            }
            Callee::Operation(operation, typing) => self.operate(at, *operation, typing, (None, args)),
            Callee::Vectors(vector) => self.as_vectors(at, vector, args),
            Callee::Vector(vector) => self.vector(vector, args),
            Callee::Exchange(exchange, ty) => self.exchange(at, *exchange, ty, args),
            Callee::VectorOfArray(vector) => self.vector_of_array(vector, &args[0]),
            Callee::Same(ty) => self.expr_as(&args[0], ty),
            Callee::ArrayOfSlice(array) => {
                let slice = self.slice_value(&args[0])?;
                Ok(self.array_of_slice(array, &slice))
            }
            Callee::View(view, false) => self.view_of_slice(at, view, &args[0]),
            Callee::View(view, true) => self.view_of_shape(at, view, args),
            Callee::ViewOp(op, _) => self.view_op(at, *op, &args[0], &args[1..]),
            Callee::Identity => self.expr_in_place(&args[0], None),
            Callee::Duplicate => {
                let reference = self.expr(&args[0], None)?;
                let place = self.pointee_place(reference);
                Ok(self.read_copied(&place))
            }
            Callee::Cached(intrinsic, of) => self.cached(at, *intrinsic, of, args),
            Callee::Constructor(ty, variant) => {
                let variant = self.scopes.known_variant(at, *variant)?;
                let parts = ty.fields();
                let mut values = Vec::with_capacity(args.len());
                for (index, (arg, (part, _))) in args.iter().zip(&parts[ty.fields_of(variant)]).enumerate() {
                    values.push(self.part_in_place(arg, Some(part), args[index + 1..].iter())?);
                }
                Ok(self.build.constructed(ty, variant, values))
            }
            Callee::Constant(_) => Err(self.error(at, "a constant is called here; please report this")),
            Callee::HostFunction(name) => Err(self.host_function_error(at, name)),
            Callee::None => Err(self.error(at, "the front end does not know this function; please report this")),
        }
    }

    /// The error of a path that resolves to a host function although its type is that of a device function.
    pub(super) fn host_function_error(&self, at: Pos, name: &str) -> LowerError {
        let text = format!(
            "the host calls `{name}`, which hides a device function of that name; write `#[device]` before it, or give it another name"
        );
        self.error(at, text)
    }

    /// Applies a conversion to a value.
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
            Callee::ArrayOfSlice(array) => Ok(self.array_of_slice(array, &value)),
            Callee::Function(instance, _) => self.call_instance(at, instance, vec![value]),
            _ => Err(self.error(at, "convert the error with `map_err`")),
        }
    }

    /// Lowers arguments for parameters of these types; the first parameter is the receiver's if there is a receiver.
    pub(super) fn arguments(
        &mut self,
        receiver: Option<&Expr>,
        args: &'static [Expr],
        params: &[Ty],
    ) -> Result<Vec<Val>> {
        let mut passed = Vec::with_capacity(args.len());
        for (index, (arg, ty)) in args.iter().zip(&params[usize::from(receiver.is_some())..]).enumerate() {
            if *ty == Ty::CLOSURE {
                passed.push(self.callable(arg)?);
                continue;
            }
            let value = self.expr_in_place(arg, Some(ty))?;
            let value = self.coerce(arg.0, value, ty)?;
            let others = args[index + 1..].iter().chain(receiver);
            passed.push(self.argument_value(value, arg, others, params));
        }
        Ok(passed)
    }

    /// Lowers an argument. Its arrays are not copied if neither the later arguments nor the callee can write them. A
    /// mutably borrowed receiver is borrowed only once all arguments are evaluated.
    pub(super) fn argument_value<'e>(
        &mut self,
        value: Val,
        arg: &Expr,
        others: impl Iterator<Item = &'e Expr> + Clone,
        params: &[Ty],
    ) -> Val {
        let stays = value.ty.holds_arrays()
            && is_place(arg)
            && (self.scopes.is_unused_in(arg, others.clone())
                || only_reads(params) && self.scopes.is_unchanged_by(arg, others));
        if stays { value } else { self.copied_value(value) }
    }

    /// Calls a specialisation with values.
    pub(super) fn call_instance(&mut self, at: Pos, instance: &Instance, args: Vec<Val>) -> Result<Val> {
        let Body::Captured(_, probe) = instance.body else {
            return Err(self.error(at, "the front end does not know this function; please report this"));
        };
        let info = Rc::new(probe().into_info());
        let mut passed = Vec::with_capacity(args.len());
        for (arg, ty) in args.into_iter().zip(&info.params) {
            passed.push(self.coerce(at, arg, ty)?);
        }
        self.call_function(at, instance, &info, passed)
    }

    /// Calls a captured Rust function.
    pub(super) fn call_function(
        &mut self,
        at: Pos,
        instance: &Instance,
        info: &Rc<TypeInfo>,
        args: Vec<Val>,
    ) -> Result<Val> {
        let inlined = |arg: &Val| match &arg.ty {
            Ty::Ref(to, Memory::Place(_)) => !to.is_plain(),
            ty => ty.holds_places(),
        };
        let library = instance.definition().options.library;
        if library || args.iter().any(inlined) || !info.result.is_plain() {
            return self.inline(at, instance, info, args);
        }
        let mut leaves = Vec::new();
        let mut memories = Vec::new();
        let mut pass_by_pointer = Vec::new();
        for value in args {
            let value = self.build.resolve_unknown(value);
            let (value, place) = self.pass_by_pointer(value);
            pass_by_pointer.extend(place);
            memories.extend(value.ty.memories());
            leaves.extend(value.leaves);
        }
        if self.build.ended() {
            return Ok(self.build.placeholder(&info.result));
        }
        let caller = self.scopes.caller(at, instance);
        let id = self.program.function(instance, info, memories, caller);
        let result = self.build.call_by_id(id, leaves, &info.result);
        for (place, cell) in pass_by_pointer {
            let value = self.build.load_in_place(cell, place.ty());
            self.write(at, &place, value)?;
        }
        Ok(result)
    }

    /// Inlines a device function.
    fn inline(&mut self, at: Pos, instance: &Instance, info: &Rc<TypeInfo>, args: Vec<Val>) -> Result<Val> {
        let Body::Captured(definition, probe) = instance.body else {
            return Err(self.error(at, "the front end does not know this function; please report this"));
        };
        if self.scopes.frames.len() >= MAX_INLINED {
            return Err(self.scopes.endless_inlining(at, definition));
        }
        let exit = self.build.block();
        let merge = self.merge("inlined", info.result.clone());
        let returns = Return::Inlined(exit, merge);
        let info = self.program.spelled(info.clone(), probe);
        let mut frame = Frame::new(definition, instance.generics.clone(), info.clone(), returns);
        frame.caller = self.scopes.caller(at, instance);
        // the device library inherits its caller's overflow and bounds checks
        if definition.options.library {
            frame.checked = self.scopes.checks_overflow();
            frame.unchecked |= !self.scopes.checks_bounds();
        }
        frame.call_site = Some((self.scopes.current, at));
        self.scopes.frames.push(frame);
        let caller = std::mem::replace(&mut self.scopes.current, self.scopes.frames.len() - 1);
        let scope = self.enter_inlined();
        let place = self.set_location_at(Pos(definition.line, 1));
        for (pattern, value) in definition.params.iter().zip(args) {
            self.bind(pattern, &Place::Fixed(value))?;
        }
        let value = self.block(&definition.body, Some(&info.result))?;
        let end = definition.body.tail.map_or(Pos(1, 1), |tail| tail.0);
        self.return_from(end, value)?;
        self.scopes.frames.pop();
        self.scopes.current = caller;
        self.build.set_scope(scope);
        self.build.set_location(place);
        self.build.select_block(exit);
        Ok(self.merge_result(merge))
    }

    /// Returns a value from the innermost function or closure.
    pub(super) fn return_from(&mut self, at: Pos, value: Val) -> Result<()> {
        if self.build.ended() {
            return Ok(());
        }
        match self.frame().returns.last().cloned() {
            Some(Return::Inlined(exit, merge)) => {
                let ty = self.merge_type(merge);
                let value = self.coerce(at, value, &ty)?;
                self.merge_and_jump(at, value, merge, exit)
            }
            Some(Return::Memory(result)) => {
                let ty = self.frame().info.result.clone();
                let value = self.coerce(at, value, &ty)?;
                self.build.store(result, Space::Local, &value);
                self.build.end(crate::kir::Terminator::Return(None));
                Ok(())
            }
            _ => {
                let value = self.coerce(at, value, &self.frame().info.result.clone())?;
                self.build.end(crate::kir::Terminator::Return(value.leaves.first().copied()));
                Ok(())
            }
        }
    }

    fn intrinsic(
        &mut self,
        at: Pos,
        intrinsic: Intrinsic,
        scalar: Option<Scalar>,
        args: &'static [Expr],
    ) -> Result<Val> {
        let special =
            |lowering: &mut Self, of: fn(Axis) -> Special| AXES.map(|axis| lowering.build.special(of(axis))).to_vec();
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
            Intrinsic::ComesAfter => {
                let (a, b) = (self.place(&args[0])?, self.place(&args[1])?);
                vec![self.compared_by(at, (CompareOp::Gt, By::Total), &a, &b)?]
            }
            _ => return self.synchronisation(at, intrinsic, scalar, args),
        };
        if let Intrinsic::Grid(dims) | Intrinsic::GridSize(dims) = intrinsic {
            self.program.grid_dims = self.program.grid_dims.max(dims);
        }
        Ok(Val { ty: intrinsic_type(intrinsic, scalar), leaves })
    }

    /// Returns the address that a reference holds; a value without an address is stored to local memory.
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
    /// The location at which a `#[track_caller]` callee reports its panics.
    fn caller(&self, at: Pos, instance: &Instance) -> Option<SourceLocation> {
        instance.definition().options.track_caller.then(|| self.panic_location(at))
    }
}

impl Builder {
    /// Calls a function of the module.
    fn call_by_id(&mut self, id: FuncId, mut leaves: Vec<Value>, ty: &Ty) -> Val {
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
