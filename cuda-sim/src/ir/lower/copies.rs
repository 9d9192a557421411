//! Asynchronous copies and stores, and barriers in shared memory (`mbarrier`): checks of their operands.

use super::Lowering;
use crate::ir::Value;
use crate::ptx::{self, Error, Modifier, Opcode, Result, Suffix, Type};

impl Lowering<'_> {
    /// Checks `cp.async` and the instructions that wait for it.
    pub(super) fn copy(&mut self, ast: &ptx::Instruction) -> Result<()> {
        let inst = self.resolved(ast)?;
        let wrong = |message: String| Err(Error::new(ast.position, format!("'{}' {message}", ast.full_name())));
        // The instruction table has sets of modifiers; here their order distinguishes destination and source.
        use Modifier::{Global, Shared, SharedCluster, SharedCta};
        let spaces = inst.modifiers().filter(|m| matches!(m, Global | Shared | SharedCta | SharedCluster));
        if !spaces.map(|m| inst.form.groups.iter().position(|group| group.choices.contains(&m))).is_sorted() {
            return wrong("is not supported: it copies the other way".to_owned());
        }
        match inst.operands.as_slice() {
            _ if ast.has(Modifier::Bulk) => {}
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

    /// Checks `mbarrier`: an arrival at another block's barrier returns no state.
    pub(super) fn barrier(&mut self, ast: &ptx::Instruction) -> Result<()> {
        let inst = self.resolved(ast)?;
        let arrives = ast.has(Modifier::Arrive) || ast.has(Modifier::ArriveDrop);
        if arrives && ast.has(Modifier::SharedCluster) && inst.operands.first() != Some(&Value::Sink) {
            let message = format!("'{}' returns no state: write '_' as its destination", ast.full_name());
            return Err(Error::new(ast.position, message));
        }
        self.push(inst);
        Ok(())
    }

    /// Lowers `st.async` and `red.async` to an access and the completion of its bytes at the barrier.
    ///
    /// PTX allows the access at any time before the phase of the barrier ends; here it is made immediately.
    pub(super) fn with_signal(&mut self, ast: &ptx::Instruction) -> Result<()> {
        use Modifier::{Async, Cluster, CompleteBytes, CompleteTx, Relaxed, SharedCluster, SharedCta};
        let mut inst = self.resolved(ast)?;
        let Some(barrier) = inst.operands.pop() else { return Ok(()) };
        let count = if let Some(Value::Vector(items)) = inst.operands.last() { items.len() } else { 1 };
        let bytes = Value::Int((count as u64 * inst.ty(0).bytes()).into());
        inst.suffixes.retain(|suffix| ![Async, CompleteBytes].map(Suffix::Modifier).contains(suffix));
        let shapes = &inst.form.operands[..inst.operands.len()];
        let form = ptx::forms(inst.opcode, &inst.suffixes).find(|form| form.operands == shapes);
        inst.form = form.ok_or_else(|| Error::new(inst.position, "no form without a barrier"))?;
        let space = inst.modifiers().find(|m| matches!(m, SharedCluster | SharedCta));
        let signal = [CompleteTx, Relaxed, Cluster].into_iter().chain(space).map(Suffix::Modifier);
        let suffixes = signal.chain([Suffix::Type(Type::B64)]).collect();
        self.push(inst);
        self.compute(Opcode::Mbarrier, suffixes, vec![barrier, bytes], ast.position)
    }

    /// Lowers `setmaxnreg` to nothing: this device's threads always have the registers that they need.
    pub(super) fn max_registers(&mut self, ast: &ptx::Instruction) -> Result<()> {
        let inst = self.resolved(ast)?;
        match inst.operands.as_slice() {
            [Value::Int(count)] if !(24..=256).contains(count) || count % 8 != 0 => {
                let message = format!("'{}' takes a multiple of 8 from 24 to 256, not {count}", ast.full_name());
                Err(Error::new(ast.position, message))
            }
            _ => Ok(()),
        }
    }
}
