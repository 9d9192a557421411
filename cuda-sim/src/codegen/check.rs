//! Checks whether code can be emitted. A module is checked completely when it is loaded, by emitting each instruction
//! once; a kernel is emitted when it is first launched.

use super::emit::Emitter;
use super::{Flavour, region};
use crate::ir::lower::Program;
use crate::ir::{Function, Terminator};
use crate::parallel::{in_parallel, threads_for};
use crate::ptx::Result;

/// Checks that code can be emitted for all functions.
pub(crate) fn check(program: &Program) -> Result<()> {
    let instructions = program.functions.iter().map(Function::instructions).sum();
    in_parallel(&program.functions, threads_for(instructions), function).into_iter().collect()
}

fn function(function: &Function) -> Result<()> {
    let mut emitter = Emitter::new(function, Flavour::default());
    for block in &function.blocks {
        block.insts.iter().try_for_each(|inst| emitter.inst(inst))?;
        if let Terminator::Sync(inst, _) = &block.term {
            region::check(&mut emitter, inst)?;
        }
        emitter.text.clear();
    }
    Ok(())
}
