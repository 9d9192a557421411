//! Video instructions: selectors, such as `.h1` in `%r1.h1`, and signs become integer operands.

use super::Lowering;
use crate::ir::Value;
use crate::ir::video::{Subword, Video, lane_code, lanes, video};
use crate::ptx::isa::Shape;
use crate::ptx::{self, Error, Modifier, Operand, Result};

/// The operands of a video instruction as plain registers, with their selectors and signs.
struct Operands {
    plain: Vec<Operand>,
    selectors: Vec<Option<String>>,
    negated: Vec<bool>,
}

impl Lowering<'_> {
    /// Lowers a video instruction.
    pub(super) fn video(&mut self, ast: &ptx::Instruction) -> Result<()> {
        let wrong = |what: String| Error::new(ast.position, format!("'{}': {what}", ast.full_name()));
        let Some((operation, count)) = video(ast.opcode) else { return Ok(()) };
        let operands = self.selected(ast);
        if operation != Video::Mad && operands.negated.contains(&true) {
            return Err(wrong("no operand may be negated".to_owned()));
        }
        if let Some(Some(selector)) = operands.selectors.get(3) {
            return Err(wrong(format!("the last operand has no part '.{selector}'")));
        }
        let codes = match (operation, count) {
            (Video::Mad, _) => mad_codes(ast, &operands),
            (_, 1) => part_codes(ast, &operands),
            (_, count) => lane_codes(&operands, count),
        };
        let codes = codes.map_err(wrong)?;
        let mut inst = self.resolved(&ptx::Instruction { operands: operands.plain, ..ast.clone() })?;
        let places = inst.form.operands.iter().zip(&mut inst.operands).filter(|(shape, _)| **shape == Shape::Selector);
        places.zip(codes).for_each(|((_, value), code)| *value = Value::Int(code));
        self.push(inst);
        Ok(())
    }

    /// Splits selectors and signs off the operands. Elements of vectors keep theirs.
    fn selected(&self, ast: &ptx::Instruction) -> Operands {
        let mut split = Operands { plain: Vec::new(), selectors: Vec::new(), negated: Vec::new() };
        for operand in &ast.operands {
            let (plain, selector) = match operand {
                Operand::Name(name) | Operand::Negative(name) => {
                    let parts = name.rsplit_once('.').filter(|_| self.resolve(name).is_none());
                    let (base, selector) = parts.map_or((name.as_str(), None), |(base, s)| (base, Some(s.to_owned())));
                    (Operand::Name(base.to_owned()), selector)
                }
                other => (other.clone(), None),
            };
            split.plain.push(plain);
            split.selectors.push(selector);
            split.negated.push(matches!(operand, Operand::Negative(_)));
        }
        split
    }
}

/// Encodes the subwords of both factors, and the negated operand: 1 for the product, 2 for the addend.
fn mad_codes(ast: &ptx::Instruction, operands: &Operands) -> Result<[i128; 3], String> {
    let (product, sum) = (operands.negated[1] != operands.negated[2], operands.negated[3]);
    if operands.selectors[0].is_some() {
        return Err("the result has no parts".to_owned());
    }
    if ast.has(Modifier::Po) && operands.negated.contains(&true) {
        return Err(".po takes no negated operand".to_owned());
    }
    if product && sum {
        return Err("only the product or the addend may be negated".to_owned());
    }
    let negated = if product { 1 } else { 2 * i128::from(sum) };
    Ok([part(&operands.selectors[1])?.code(), part(&operands.selectors[2])?.code(), negated])
}

fn part(selector: &Option<String>) -> Result<Subword, String> {
    let Some(selector) = selector else { return Ok(Subword::WHOLE) };
    Subword::named(selector).ok_or_else(|| format!("'.{selector}' is no part: .b0 to .b3, .h0 and .h1 are"))
}

/// Encodes the subwords of the result and of both sources.
fn part_codes(ast: &ptx::Instruction, operands: &Operands) -> Result<[i128; 3], String> {
    let dest = part(&operands.selectors[0])?;
    let seconds = [Modifier::Add, Modifier::Min, Modifier::Max];
    if dest != Subword::WHOLE && operands.plain.len() < 4 {
        return Err("a subword result needs a third source, for the other bits".to_owned());
    }
    if dest != Subword::WHOLE && seconds.iter().any(|second| ast.has(*second)) {
        return Err("a subword result and a second operation exclude each other".to_owned());
    }
    Ok([dest.code(), part(&operands.selectors[1])?.code(), part(&operands.selectors[2])?.code()])
}

/// Encodes the written lanes, as a mask, and the lanes from which each source is made.
fn lane_codes(operands: &Operands, count: u32) -> Result<[i128; 3], String> {
    let wrong = |selector: &str| format!("'.{selector}' selects no lanes of the operand");
    let mask = match &operands.selectors[0] {
        None => (1 << count) - 1,
        Some(selector) => {
            let named = lanes(selector, count, count).filter(|named| named.is_sorted_by(|a, b| a < b));
            named.ok_or_else(|| wrong(selector))?.iter().map(|lane| 1 << lane).sum()
        }
    };
    let source = |at: usize, first: u32| match &operands.selectors[at] {
        None => Ok(lane_code(&(first..first + count).collect::<Vec<_>>())),
        Some(selector) => {
            let named = lanes(selector, count, 2 * count).filter(|named| named.len() == count as usize);
            named.map(|named| lane_code(&named)).ok_or_else(|| wrong(selector))
        }
    };
    Ok([mask, source(1, 0)?, source(2, count)?])
}
