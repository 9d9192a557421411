//! Builds a [`Function`] block by block, numbering values as it goes.
//!
//! The builder keeps the numbering right by construction; it does not check types, which is [`crate::valid`]'s work.

use super::{Block, BlockId, Const, Function, Inst, Op, Param, Scalar, Slot, SlotId, Terminator, Type, Value};

/// A function under construction.
#[derive(Debug)]
pub struct FunctionBuilder {
    name: String,
    params: Vec<Param>,
    result: Option<Type>,
    slots: Vec<Slot>,
    blocks: Vec<(Vec<Inst>, Option<Terminator>)>,
    current: BlockId,
    values: u32,
}

impl FunctionBuilder {
    /// Begins a function in its entry block.
    pub fn new(name: impl Into<String>, params: Vec<Param>, result: Option<Type>) -> Self {
        let values = params.len() as u32;
        let blocks = vec![(Vec::new(), None)];
        Self { name: name.into(), params, result, slots: Vec::new(), blocks, current: BlockId(0), values }
    }

    /// The value of parameter `index`.
    pub fn param(&self, index: usize) -> Value {
        Value(index as u32)
    }

    /// Adds a slot.
    pub fn slot(&mut self, name: impl Into<String>, ty: impl Into<Type>) -> SlotId {
        self.slots.push(Slot { name: name.into(), ty: ty.into() });
        SlotId(self.slots.len() as u32 - 1)
    }

    /// Adds an empty block.
    pub fn block(&mut self) -> BlockId {
        self.blocks.push((Vec::new(), None));
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// Goes on in `block`.
    pub fn select_block(&mut self, block: BlockId) {
        self.current = block;
    }

    /// Whether the current block has its end.
    pub fn ended(&self) -> bool {
        self.blocks[self.current.index()].1.is_some()
    }

    /// Appends an instruction that yields a value of type `ty`.
    pub fn value(&mut self, op: Op, ty: impl Into<Type>) -> Value {
        let value = Value(self.values);
        self.values += 1;
        self.push(Inst { op, result: Some((value, ty.into())) });
        value
    }

    /// Appends an instruction that yields nothing.
    pub fn effect(&mut self, op: Op) {
        self.push(Inst { op, result: None });
    }

    /// Appends a constant.
    pub fn constant(&mut self, ty: Scalar, bits: u64) -> Value {
        self.value(Op::Const(Const { ty, bits }), ty)
    }

    /// Ends the current block; what follows in it is dropped until another block is selected.
    pub fn end(&mut self, end: Terminator) {
        let block = &mut self.blocks[self.current.index()];
        block.1.get_or_insert(end);
    }

    /// The finished function. Blocks without an end return nothing.
    pub fn finish(self) -> Function {
        let blocks = self.blocks.into_iter();
        let blocks = blocks.map(|(insts, end)| Block { insts, end: end.unwrap_or(Terminator::Return(None)) }).collect();
        Function { name: self.name, params: self.params, result: self.result, slots: self.slots, blocks }
    }

    fn push(&mut self, inst: Inst) {
        self.blocks[self.current.index()].0.push(inst);
    }
}
