//! Vector registers: `%v` of `.reg .v4 .f32 %v` stands for `{%v.x, %v.y, %v.z, %v.w}`, with one register for each
//! element.
//!
//! Later stages see no vector registers, and no `mov.v2` or `mov.v4`, which become moves of the elements.

use super::{Lowering, Name, Reg};
use crate::ir::Value;
use crate::ptx::{self, Error, Opcode, Operand, Position, Result, Suffix};
use std::borrow::Cow;

/// The names of a vector's elements.
const ELEMENTS: [&str; 4] = ["x", "y", "z", "w"];

/// Special registers that are vectors.
const SPECIAL: &[&str] =
    &["tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"];

/// Returns true if a special register, named without its `%`, is a vector; its fourth element is 0.
pub(super) fn is_vector(special: &str) -> bool {
    SPECIAL.contains(&special)
}

/// Returns the index of the element that a selector names: `.x` and `.r` name the first.
pub(super) fn element_index(selector: &str) -> Option<u8> {
    let at = ["r", "g", "b", "a"].iter().position(|name| *name == selector);
    at.or_else(|| ELEMENTS.iter().position(|name| *name == selector)).map(|at| at as u8)
}

/// Returns the elements of a vector by name.
fn named(vector: &str, count: usize) -> Vec<Operand> {
    ELEMENTS[..count].iter().map(|selector| Operand::Name(format!("{vector}.{selector}"))).collect()
}

impl Lowering<'_> {
    /// Returns the register that `%v.x` names.
    pub(super) fn vector_element(&self, name: &str) -> Option<Reg> {
        let (base, selector) = name.rsplit_once('.')?;
        match (self.resolve(base)?, element_index(selector)?) {
            (Name::Vector(first, count), at) if at < count => Some(first + Reg::from(at)),
            _ => None,
        }
    }

    /// Returns the error for a name that ends in a selector of no element.
    pub(super) fn no_element(&self, name: &str, position: Position) -> Option<Error> {
        let (base, selector) = name.rsplit_once('.')?;
        let message = match self.resolve(base)? {
            Name::Vector(_, count) => format!("'{base}' has {count} elements, none of which is '.{selector}'"),
            _ => format!("'{base}' is not a vector, so it has no element '.{selector}'"),
        };
        Some(Error::new(position, message))
    }

    /// Replaces a vector's name by its elements in braces, and leaves any other operand as it is.
    pub(super) fn spread<'o>(&self, operand: &'o Operand) -> Cow<'o, Operand> {
        let Operand::Name(name) = operand else { return Cow::Borrowed(operand) };
        match self.resolve(name) {
            Some(Name::Vector(_, count)) => Cow::Owned(Operand::Vector(named(name, count.into()))),
            _ => Cow::Borrowed(operand),
        }
    }

    /// Lowers `mov.v2` or `mov.v4`: all sources are read before anything is written. A single source is copied to all
    /// elements.
    pub(super) fn move_vector(&mut self, ast: &ptx::Instruction, count: usize) -> Result<()> {
        let [dest, source] = ast.operands.as_slice() else { return Err(self.wrong_count(ast, count, 0)) };
        let dests = match self.spread(dest).into_owned() {
            Operand::Vector(items) => items,
            one => vec![one],
        };
        let sources = match self.spread(source).into_owned() {
            Operand::Vector(items) => items,
            Operand::Name(name) if name.strip_prefix('%').is_some_and(is_vector) => named(&name, ELEMENTS.len()),
            one => vec![one; count],
        };
        if let Some(wrong) = [&dests, &sources].into_iter().find(|items| items.len() != count) {
            return Err(self.wrong_count(ast, count, wrong.len()));
        }
        let suffix = ast.suffixes.iter().copied().find(|suffix| matches!(suffix, Suffix::Type(_)));
        let bits = match suffix {
            Some(Suffix::Type(ty)) => ty.bits(),
            _ => return Err(self.wrong_count(ast, count, 0)),
        };
        let position = ast.position;
        let mut read = Vec::new();
        for source in &sources {
            let value = self.source(source, bits, false, position)?;
            let kept = self.temporary(bits);
            self.compute(Opcode::Mov, suffix.into_iter().collect(), vec![Value::Reg(kept), value], position)?;
            read.push(kept);
        }
        for (dest, kept) in dests.iter().zip(read) {
            let dest = self.dest_bits(dest, bits, false, position)?;
            self.compute(Opcode::Mov, suffix.into_iter().collect(), vec![dest, Value::Reg(kept)], position)?;
        }
        Ok(())
    }

    fn wrong_count(&self, ast: &ptx::Instruction, wanted: usize, found: usize) -> Error {
        let message = format!("'{}' has {wanted} element(s), but {found} are given", ast.full_name());
        Error::new(ast.position, message)
    }
}
