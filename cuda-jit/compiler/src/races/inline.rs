//! Inlines the callees of a module's kernel, so that the analysis sees one function.
//!
//! Values and slots are renumbered; a block ends after each barrier. A recursive call stays as it is.

use crate::kir::{ArrayId, BlockId, FuncId, Location, Module, Op, SlotId, Terminator, Type, Value};

/// A kernel with its callees inlined.
#[derive(Debug, Default)]
pub(super) struct Flat {
    pub(super) blocks: Vec<FlatBlock>,
    /// The type of each value; the kernel's parameters are the first.
    pub(super) types: Vec<Type>,
    /// The type of each slot.
    pub(super) slots: Vec<Type>,
    /// The number of local arrays.
    pub(super) arrays: u32,
    /// The source locations of instructions.
    pub(super) locations: Vec<Location>,
}

/// A basic block, whose barrier, if it has one, is its last instruction.
#[derive(Debug)]
pub(super) struct FlatBlock {
    pub(super) insts: Vec<FlatInst>,
    pub(super) end: Terminator,
    pub(super) barrier: bool,
}

/// An instruction with operands and result in the numbering of the whole.
#[derive(Debug)]
pub(super) struct FlatInst {
    pub(super) op: Op,
    pub(super) result: Option<Value>,
    /// The index of its source location.
    pub(super) at: Option<usize>,
}

/// A function that is being inlined.
struct Frame<'a> {
    module: &'a Module,
    function: FuncId,
    /// The functions that are being inlined around it.
    stack: Vec<FuncId>,
    values: Vec<Value>,
    first_slot: u32,
    first_array: u32,
    blocks: Vec<usize>,
    /// The slot of the result, and the block after the call.
    returns: Option<(Option<SlotId>, usize)>,
    /// The location of the call.
    call: Option<usize>,
}

impl Flat {
    /// Inlines everything that the first function of a module calls.
    pub(super) fn of(module: &Module) -> Self {
        let mut flat = Flat::default();
        let kernel = &module.functions[0];
        let values = kernel.params.iter().map(|param| flat.value(param.ty)).collect();
        flat.function(module, FuncId(0), Vec::new(), values, None, None);
        flat
    }

    fn value(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    fn block(&mut self) -> usize {
        self.blocks.push(FlatBlock { insts: Vec::new(), end: Terminator::Return(None), barrier: false });
        self.blocks.len() - 1
    }

    /// Appends a function's blocks and returns the index of its entry.
    fn function(
        &mut self,
        module: &Module,
        function: FuncId,
        stack: Vec<FuncId>,
        mut values: Vec<Value>,
        returns: Option<(Option<SlotId>, usize)>,
        call: Option<usize>,
    ) -> usize {
        let body = &module.functions[function.index()];
        let (first_slot, first_array) = (self.slots.len() as u32, self.arrays);
        self.slots.extend(body.slots.iter().map(|slot| slot.ty));
        self.arrays += body.arrays.len() as u32;
        for inst in body.blocks.iter().flat_map(|block| &block.insts) {
            if let Some((_, ty)) = inst.result {
                let value = self.value(ty);
                values.push(value);
            }
        }
        let blocks = body.blocks.iter().map(|_| self.block()).collect();
        let frame = Frame { module, function, stack, values, first_slot, first_array, blocks, returns, call };
        for block in 0..body.blocks.len() {
            self.fill(&frame, block);
        }
        frame.blocks[0]
    }

    fn fill(&mut self, frame: &Frame<'_>, index: usize) {
        let function = &frame.module.functions[frame.function.index()];
        let (block, mut here, mut at) = (&function.blocks[index], frame.blocks[index], frame.call);
        for inst in &block.insts {
            let mut op = inst.op.clone();
            op.each_value_mut(|value| *value = frame.values[value.index()]);
            let result = inst.result.map(|(value, _)| frame.values[value.index()]);
            match &mut op {
                Op::Line(location, scope) => {
                    at = self.location(frame, location, *scope);
                    continue;
                }
                Op::Get(slot) | Op::Set(slot, _) => slot.0 += frame.first_slot,
                Op::LoadCachedAll(_, _, slots) => slots.iter_mut().for_each(|slot| slot.0 += frame.first_slot),
                Op::Local(ArrayId(array)) => *array += frame.first_array,
                Op::Call(callee, arguments) if *callee != frame.function && !frame.stack.contains(callee) => {
                    let slot = result.map(|result| {
                        self.slots.push(self.types[result.index()]);
                        SlotId(self.slots.len() as u32 - 1)
                    });
                    let next = self.block();
                    let mut stack = frame.stack.clone();
                    stack.push(frame.function);
                    let entry = self.function(frame.module, *callee, stack, arguments.clone(), Some((slot, next)), at);
                    self.blocks[here].end = Terminator::Jump(BlockId(entry as u32));
                    here = next;
                    if let (Some(slot), Some(_)) = (slot, result) {
                        self.blocks[here].insts.push(FlatInst { op: Op::Get(slot), result, at });
                    }
                    continue;
                }
                _ => {}
            }
            let barrier = matches!(op, Op::Barrier | Op::BarrierReduce(..) | Op::ClusterBarrier);
            self.blocks[here].insts.push(FlatInst { op, result, at });
            if barrier {
                let next = self.block();
                self.blocks[here].barrier = true;
                self.blocks[here].end = Terminator::Jump(BlockId(next as u32));
                here = next;
            }
        }
        let mut end = block.end.clone();
        end.each_value_mut(|value| *value = frame.values[value.index()]);
        end.each_target_mut(|target| target.0 = frame.blocks[target.index()] as u32);
        if let (Terminator::Return(value), Some((slot, next))) = (&end, frame.returns) {
            if let (Some(slot), Some(value)) = (slot, value) {
                self.blocks[here].insts.push(FlatInst { op: Op::Set(slot, *value), result: None, at });
            }
            end = Terminator::Jump(BlockId(next as u32));
        }
        self.blocks[here].end = end;
    }

    /// The location to report for an instruction: its own, or that of the call of the device library's function around
    /// it.
    fn location(
        &mut self,
        frame: &Frame<'_>,
        location: &Location,
        mut scope: Option<crate::kir::SourceScopeId>,
    ) -> Option<usize> {
        let scopes = &frame.module.functions[frame.function.index()].scopes;
        let mut location = location.clone();
        while let (true, Some(inner)) = (is_library(&location), scope) {
            let inner = &scopes[inner.index()];
            if let Some((_, call)) = &inner.inlined {
                location = call.clone();
            }
            scope = inner.outer;
        }
        if is_library(&location) && frame.call.is_some() {
            return frame.call;
        }
        self.locations.push(location);
        Some(self.locations.len() - 1)
    }
}

/// Returns true for a location in the device library.
fn is_library(location: &Location) -> bool {
    cuda_jit_lang::is_source(&location.file)
}
