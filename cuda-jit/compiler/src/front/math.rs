//! Mathematical functions of floats: calls of libdevice or, without it, of the library's [`crate::math`].

use super::function::{Lowering, Result};
use super::types::Val;
use crate::kir::{LibArg, LibFn, Op, Pointee, Scalar, Space, Type, Value};
use crate::libcalls::{math_function, of_libdevice};
use crate::syntax::{Expr, Pos};
use crate::typeinfo::{Math, Memory, Ty};

/// Returns true for functions that have an approximate instruction for `f32` under `fastmath`.
fn is_approximate(function: Math) -> bool {
    use Math::{Cos, Exp, Exp2, Ln, Log2, Log10, Powf, Sin, Tan};
    matches!(function, Sin | Cos | Tan | Exp | Exp2 | Ln | Log2 | Log10 | Powf)
}

/// The result type of a libdevice function: its result and its output parameters, as a tuple if there are several.
pub(super) fn library_type(function: LibFn) -> Ty {
    let all = function.result.iter().chain(function.outs).map(|&scalar| Ty::Scalar(scalar));
    let mut all: Vec<Ty> = all.collect();
    if all.len() == 1 { all.remove(0) } else { Ty::Tuple(all) }
}

impl Lowering<'_> {
    /// Calls a function of a float; on 16-bit floats it is computed in `f32` and rounded.
    pub(super) fn math(&mut self, at: Pos, function: Math, ty: Scalar, args: &[Value]) -> Result<Value> {
        // the exponent is an `i32` for every float type
        let types = [ty, if function == Math::Powi { Scalar::I32 } else { ty }];
        let args = args.iter().copied().zip(types);
        if ty.is_half() {
            let wide = |lowering: &mut Self, (arg, of): (Value, Scalar)| match of == ty {
                true => lowering.build.cast_value(arg, ty, Scalar::F32),
                false => arg,
            };
            let args: Vec<Value> = args.map(|arg| wide(self, arg)).collect();
            let value = self.math(at, function, Scalar::F32, &args)?;
            return Ok(self.build.cast_value(value, Scalar::F32, ty));
        }
        let approximate = self.program.fast_math && ty == Scalar::F32 && is_approximate(function);
        match of_libdevice(function, ty).filter(|_| self.program.libdevice || approximate) {
            Some(function) => {
                let args = args.map(|(arg, _)| arg).collect();
                Ok(self.build.value(Op::Math(function, args), ty))
            }
            None => {
                let args = args.map(|(arg, of)| Val::scalar(of, arg)).collect();
                Ok(self.call_instance(at, &math_function(function, ty), args)?.only())
            }
        }
    }

    /// Calls a libdevice function by name. Its output parameters point to local arrays, which are then loaded.
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
}
