//! The method of arrays that calls a function for each element.

use super::function::{Lowering, Result};
use super::slice::Elements;
use super::types::Val;
use crate::harvest::{Memory, Ty};
use crate::kir::Space;
use crate::syntax::{Expr, Pos};

impl Lowering<'_> {
    /// `array.map(function)`
    pub(super) fn map_array(&mut self, at: Pos, array: &Ty, of: &Elements, function: &'static Expr) -> Result<Val> {
        let Ty::Array(_, len) = array else { return Err(self.error(at, "this is no array")) };
        let element = self.type_of_function(function, array).filter(Ty::is_plain);
        let Some(element) = element else {
            return Err(self.error(at, "kernels map arrays to numbers, structs and tuples of such, not to references"));
        };
        let function = self.callable(function)?;
        let made = self.new_array("mapped", &Ty::Array(Box::new(element.clone()), *len));
        let to = Elements { ptr: made.only(), element, memory: Memory::Write(Space::Local), len: of.len };
        self.for_each(of.len, |walk, index| {
            let place = walk.nth(of, index);
            let value = walk.read_settled(&place);
            let value = walk.invoke(at, &function, vec![value])?;
            let place = walk.nth(&to, index);
            walk.write(at, &place, value)
        })?;
        Ok(self.fresh(made))
    }
}
