//! Copies that threads start and wait for, and barriers in shared memory: what is wrong with their operands.

use super::Lowering;
use crate::ir::Value;
use crate::ptx::{self, Error, Modifier, Result};

impl Lowering<'_> {
    /// `cp.async` and what waits for it.
    pub(super) fn copy(&mut self, ast: &ptx::Instruction) -> Result<()> {
        let inst = self.resolved(ast)?;
        let wrong = |message: String| Err(Error::new(ast.position, format!("'{}' {message}", ast.full_name())));
        match inst.operands.as_slice() {
            [_, _, Value::Int(bytes), ..] if ast.has(Modifier::Cg) && *bytes != 16 => {
                return wrong(format!("copies 16 bytes, not {bytes}: '.ca' copies fewer"));
            }
            [_, _, Value::Int(bytes), ..] if ![4, 8, 16].contains(bytes) => {
                return wrong(format!("copies 4, 8 or 16 bytes, not {bytes}"));
            }
            _ => {}
        }
        let inst = if ast.has(Modifier::L2CacheHint) { self.without_policy(inst)? } else { inst };
        self.push(inst);
        Ok(())
    }

    /// `mbarrier`: an arrival at another block's tells no state.
    pub(super) fn barrier(&mut self, ast: &ptx::Instruction) -> Result<()> {
        let inst = self.resolved(ast)?;
        let arrives = ast.has(Modifier::Arrive) || ast.has(Modifier::ArriveDrop);
        if arrives && ast.has(Modifier::SharedCluster) && inst.operands.first() != Some(&Value::Sink) {
            let message = format!("'{}' gives no state: '_' stands in its place", ast.full_name());
            return Err(Error::new(ast.position, message));
        }
        self.push(inst);
        Ok(())
    }
}
