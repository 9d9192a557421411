//! Methods of views that call a function for each element.

use super::function::{Lowering, Result};
use super::place::Place;
use super::types::Val;
use super::view::View;
use crate::harvest::layout::shown;
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
}
