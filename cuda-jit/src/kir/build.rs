//! Builds a [`Function`] block by block, numbering values as it goes.
//!
//! The builder keeps the numbering right: blocks may be filled in any order, and [`FunctionBuilder::finish`] renumbers
//! the values by their final place. It does not check types, which is [`crate::valid`]'s work.

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

    /// The finished function, its values numbered by place: those that this builder gave out are not valid in it.
    /// Blocks without an end return nothing.
    pub fn finish(mut self) -> Function {
        self.renumber();
        let blocks = self.blocks.into_iter();
        let blocks = blocks.map(|(insts, end)| Block { insts, end: end.unwrap_or(Terminator::Return(None)) }).collect();
        Function { name: self.name, params: self.params, result: self.result, slots: self.slots, blocks }
    }

    /// Appends an instruction unless the block has ended.
    fn push(&mut self, inst: Inst) {
        if !self.ended() {
            self.blocks[self.current.index()].0.push(inst);
        }
    }

    /// Numbers the values in the order of blocks and instructions.
    fn renumber(&mut self) {
        let mut places: Vec<u32> = (0..self.values).collect();
        let mut next = self.params.len() as u32;
        for (insts, end) in &mut self.blocks {
            for inst in insts {
                inst.op.each_value_mut(|value| value.0 = places[value.index()]);
                if let Some((value, _)) = &mut inst.result {
                    places[value.index()] = next;
                    value.0 = next;
                    next += 1;
                }
            }
            if let Some(end) = end {
                end.each_value_mut(|value| value.0 = places[value.index()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::UnaryOp;

    #[test]
    fn values_are_numbered_by_place_whatever_the_order_of_filling() {
        let mut b = FunctionBuilder::new("f", Vec::new(), None);
        let (first, second) = (b.block(), b.block());
        b.end(Terminator::Jump(first));
        b.select_block(second);
        let late = b.constant(Scalar::I32, 2);
        b.value(Op::Unary(UnaryOp::Neg, late), Scalar::I32);
        b.select_block(first);
        let early = b.constant(Scalar::Bool, 1);
        b.end(Terminator::Branch(early, second, second));
        let function = b.finish();
        let results = function.blocks.iter().flat_map(|block| &block.insts).map(|inst| inst.result.unwrap().0.0);
        assert_eq!(results.collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(function.blocks[2].insts[1].op, Op::Unary(UnaryOp::Neg, Value(1)));
        assert_eq!(function.blocks[1].end, Terminator::Branch(Value(0), second, second));
    }

    #[test]
    fn what_follows_an_end_is_dropped() {
        let mut b = FunctionBuilder::new("f", Vec::new(), None);
        b.end(Terminator::Return(None));
        b.constant(Scalar::I32, 2);
        b.end(Terminator::Jump(BlockId(0)));
        let function = b.finish();
        assert_eq!(function.blocks, [Block { insts: Vec::new(), end: Terminator::Return(None) }]);
    }
}
