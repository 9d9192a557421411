//! Complex numbers: their operators and methods are calls of [`crate::types::complex`].

use super::function::{Lowering, Result};
use super::place::Place;
use super::types::Val;
use crate::called::complex_method;
use crate::harvest::{Body, Ty};
use crate::kir::Scalar;
use crate::syntax::{Expr, Pos};

/// What a method of a complex number yields.
pub(super) fn result_type(name: &str, part: Scalar) -> Option<Ty> {
    match complex_method(name, part)?.body {
        Body::Captured(_, harvest) => Some(harvest().told().result),
        _ => None,
    }
}

impl Lowering<'_> {
    /// A method of a complex number.
    pub(super) fn complex_method(&mut self, at: Pos, name: &str, of: &Place, args: &'static [Expr]) -> Result<Val> {
        let number = self.read(of);
        let instance = number.ty.complex().and_then(|part| complex_method(name, part));
        let Some((instance, Body::Captured(_, harvest))) = instance.map(|instance| (instance.clone(), instance.body))
        else {
            return Err(self.error(at, format!("kernels have no method `{name}` on complex numbers")));
        };
        let mut passed = vec![number];
        for (arg, ty) in args.iter().zip(&harvest().told().params[1..]) {
            passed.push(self.expr_as(arg, ty)?);
        }
        self.call_instance(at, &instance, passed)
    }
}
