//! Methods of views and arrays that call a function for each element.

use super::function::{Lowering, Result};
use super::place::Place;
use super::slice::Elements;
use super::types::Val;
use super::view::View;
use crate::harvest::layout::shown;
use crate::harvest::{Memory, Ty};
use crate::kir::Space;
use crate::syntax::{Expr, Pos};

impl Lowering<'_> {
    /// A method of a view.
    pub(super) fn visit(&mut self, at: Pos, name: &str, view: View, args: &'static [Expr]) -> Result<Val> {
        let value = view.clone().whole();
        let items = self.elements_of(at, Place::Fixed(value.clone()), false)?;
        match (name, args) {
            ("fold", [first, function]) => {
                let ty = self.scopes.type_of_function(function);
                let first = self.expr(first, ty.as_ref())?;
                let function = self.callable(function)?;
                self.fold(at, items, first, |walk, all, item| walk.invoke(at, &function, vec![all, item]))
            }
            ("for_each" | "map_inplace", [function]) => {
                let function = self.callable(function)?;
                self.each_item(at, items, |walk, item, _, _| walk.invoke(at, &function, vec![item]).map(drop))?;
                Ok(Val::unit())
            }
            ("mapv_inplace", [function]) => {
                let function = self.callable(function)?;
                self.each_item(at, items, |walk, item, _, _| {
                    let place = walk.behind(item);
                    let value = walk.build.read(&place);
                    let value = walk.invoke(at, &function, vec![value])?;
                    walk.write(at, &place, value)
                })?;
                Ok(Val::unit())
            }
            ("zip_mut_with", [other, function]) => {
                let other = self.broadcast_to(at, other, &view.axes)?;
                let function = self.callable(function)?;
                let items = items.zip(other);
                self.each_item(at, items, |walk, item, _, _| {
                    walk.invoke(at, &function, vec![item.part(0), item.part(1)]).map(drop)
                })?;
                Ok(Val::unit())
            }
            _ => Err(self.error(at, format!("kernels have no method `{name}` on `{}`", shown(&value.ty)))),
        }
    }

    /// `array.map(function)`
    pub(super) fn map_array(&mut self, at: Pos, array: &Ty, of: &Elements, function: &'static Expr) -> Result<Val> {
        let Ty::Array(_, len) = array else { return Err(self.error(at, "this is no array")) };
        let element = self.scopes.type_of_function(function).filter(Ty::is_plain);
        let Some(element) = element else {
            return Err(self.error(at, "kernels map arrays to numbers, structs and tuples of such, not to references"));
        };
        let function = self.callable(function)?;
        let made = self.build.new_array("mapped", &Ty::Array(Box::new(element.clone()), *len));
        let to = Elements { ptr: made.only(), element, memory: Memory::Write(Space::Local), len: of.len };
        self.for_each(of.len, |walk, index| {
            let place = walk.nth(of, index);
            let value = walk.read_settled(&place);
            let value = walk.invoke(at, &function, vec![value])?;
            let place = walk.nth(&to, index);
            walk.write(at, &place, value)
        })?;
        Ok(self.build.fresh(made))
    }
}
