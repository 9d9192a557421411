//! Methods of floats that no instruction has: a call of libdevice, or of what [`crate::math`] has in its place.

use super::function::{Lowering, Result};
use super::types::Val;
use crate::called;
use crate::harvest::{Instance, Memory, Ty};
use crate::kir::{BinaryOp, LibArg, LibFn, Op, Pointee, Scalar, Space, Type, Value};
use crate::syntax::{Expr, Pos};

/// The functions that `fastmath` has instructions for, on `f32`.
const APPROXIMATE: [&str; 9] = ["sin", "cos", "tan", "exp", "exp2", "log", "log2", "log10", "pow"];

/// Rust's name of a method as C has it.
fn c_name(method: &str) -> &str {
    match method {
        "ln" => "log",
        "ln_1p" => "log1p",
        "exp_m1" => "expm1",
        "powf" => "pow",
        other => other,
    }
}

/// What a function of libdevice yields: what it returns and what it writes, as a tuple if that is more than one.
pub(super) fn library_type(function: LibFn) -> Ty {
    let all = function.result.iter().chain(function.outs).map(|&scalar| Ty::Scalar(scalar));
    let mut all: Vec<Ty> = all.collect();
    if all.len() == 1 { all.remove(0) } else { Ty::Tuple(all) }
}

impl Lowering<'_> {
    /// The method, if it is one of these.
    pub(super) fn math_method(&mut self, at: Pos, method: &str, ty: Scalar, args: &[Value]) -> Result<Option<Val>> {
        let one = |value| Val::scalar(ty, value);
        if ty.is_half() {
            return self.half_method(at, method, ty, args);
        }
        match (method, args) {
            ("sin_cos", _) => {
                let leaves = vec![self.function(at, "sin", ty, args)?, self.function(at, "cos", ty, args)?];
                return Ok(Some(Val { ty: Ty::Tuple(vec![Ty::Scalar(ty), Ty::Scalar(ty)]), leaves }));
            }
            ("log", &[x, base]) => {
                let (x, base) = (self.function(at, "ln", ty, &[x])?, self.function(at, "ln", ty, &[base])?);
                return Ok(Some(one(self.binary_value(BinaryOp::Div, x, base, ty))));
            }
            _ => {}
        }
        if let Some(instance) = called::plain_function(method, ty) {
            return self.call_math(at, method, &instance, ty, args).map(one).map(Some);
        }
        match called::math_function(method, ty) {
            Some(_) => self.function(at, method, ty, args).map(one).map(Some),
            None => Ok(None),
        }
    }

    /// A method of a 16-bit float: that of `f32`, rounded.
    fn half_method(&mut self, at: Pos, method: &str, ty: Scalar, args: &[Value]) -> Result<Option<Val>> {
        if called::plain_function(method, Scalar::F32).is_none()
            && called::math_function(method, Scalar::F32).is_none()
            && method != "sin_cos"
        {
            return Ok(None);
        }
        let (first, rest) = args.split_at(1);
        let mut wide = vec![self.cast_value(first[0], ty, Scalar::F32)];
        let power = method == "powi";
        wide.extend(rest.iter().map(|&arg| if power { arg } else { self.cast_value(arg, ty, Scalar::F32) }));
        let Some(mut value) = self.math_method(at, method, Scalar::F32, &wide)? else { return Ok(None) };
        for leaf in &mut value.leaves {
            *leaf = self.cast_value(*leaf, Scalar::F32, ty);
        }
        value.ty = match value.ty {
            Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|_| Ty::Scalar(ty)).collect()),
            _ => Ty::Scalar(ty),
        };
        Ok(Some(value))
    }

    fn function(&mut self, at: Pos, method: &str, ty: Scalar, args: &[Value]) -> Result<Value> {
        let name = c_name(method);
        let approximate = self.program.fast_math && ty == Scalar::F32 && APPROXIMATE.contains(&name);
        match (LibFn::of_float(name, ty), called::math_function(method, ty)) {
            (Some(function), _) if self.program.libdevice || approximate => {
                Ok(self.build.value(Op::Math(function, args.to_vec()), ty))
            }
            (_, Some(instance)) => self.call_math(at, method, &instance, ty, args),
            _ => Err(self.error(at, format!("kernels have no method `{method}` on {ty}"))),
        }
    }

    /// A function of libdevice by its name. What it writes goes into the thread's own memory, and is read from there.
    pub(super) fn library(&mut self, function: LibFn, args: &'static [Expr]) -> Result<Val> {
        let mut operands = Vec::new();
        for (arg, expr) in function.args.iter().zip(args) {
            match *arg {
                LibArg::Number(scalar) => operands.push(self.scalar(expr, scalar)?),
                LibArg::Slice(scalar) => {
                    let wanted = Ty::Slice(Box::new(Ty::Scalar(scalar)), Memory::unknown(false));
                    let slice = self.expr_as(expr, &wanted)?;
                    let len = self.build.value(Op::Cast(slice.leaves[1], Scalar::I32), Scalar::I32);
                    operands.extend([len, slice.leaves[0]]);
                }
            }
        }
        let mut written = Vec::new();
        for &scalar in function.outs {
            let array = self.build.array("written", scalar, 1);
            let ty = Type::Ptr(Space::Local, Pointee::Scalar(scalar));
            written.push((scalar, self.build.value(Op::Local(array), ty)));
        }
        operands.extend(written.iter().map(|&(_, pointer)| pointer));
        let mut leaves = Vec::new();
        match function.result {
            Some(result) => leaves.push(self.build.value(Op::Math(function, operands), result)),
            None => self.build.effect(Op::Math(function, operands)),
        }
        for (scalar, pointer) in written {
            leaves.push(self.build.value(Op::Load(pointer), scalar));
        }
        Ok(Val { ty: library_type(function), leaves })
    }

    fn call_math(&mut self, at: Pos, method: &str, instance: &Instance, ty: Scalar, args: &[Value]) -> Result<Value> {
        let mut types = [ty, if method == "powi" { Scalar::I32 } else { ty }].into_iter();
        let args = args.iter().map(|&value| Val::scalar(types.next().unwrap_or(ty), value)).collect();
        Ok(self.call_instance(at, instance, args)?.only())
    }
}
