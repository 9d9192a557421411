//! Builds a [`Function`] block by block and numbers its values.
//!
//! The numbering is correct by construction, in whatever order blocks are filled. The builder does not check types;
//! [`crate::valid`] does.

use super::{
    ArrayDecl, ArrayId, Block, BlockId, Const, Function, Inst, Location, Op, Param, Pointee, Scalar, Slot, SlotId,
    SourceScope, SourceScopeId, Terminator, Type, Value, Variable,
};

/// A function under construction.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Access, BinaryOp, Op, Param, Role, Scalar, Space, Terminator, Type, build::FunctionBuilder};
///
/// let param = |name: &str, ty, access| Param { name: name.to_owned(), ty, access, role: Role::Plain };
/// let out = param("out", Type::Ptr(Space::Global, Scalar::F32.into()), Access::ReadWrite);
/// let mut b = FunctionBuilder::new("twice", vec![out, param("x", Scalar::F32.into(), Access::Read)], None);
/// let sum = b.value(Op::Binary(BinaryOp::Add, b.param(1), b.param(1)), Scalar::F32);
/// b.effect(Op::Store(b.param(0), sum));
/// b.end(Terminator::Return(None));
/// let function = b.finish();
/// assert_eq!((function.blocks.len(), function.blocks[0].insts.len()), (1, 2));
/// ```
#[derive(Debug)]
pub struct FunctionBuilder {
    name: String,
    params: Vec<Param>,
    result: Option<Type>,
    slots: Vec<Slot>,
    arrays: Vec<ArrayDecl>,
    scopes: Vec<SourceScope>,
    variables: Vec<Variable>,
    blocks: Vec<(Vec<Inst>, Option<Terminator>)>,
    current: BlockId,
    values: u32,
    /// The source location of what is appended, if the function has locations.
    location: Option<Location>,
    /// The scope of what is appended.
    scope: Option<SourceScopeId>,
    /// The location and scope of each block's last instruction.
    locations: Vec<Option<(Location, Option<SourceScopeId>)>>,
}

impl FunctionBuilder {
    /// Starts a function in its entry block.
    pub fn new(name: impl Into<String>, params: Vec<Param>, result: Option<Type>) -> Self {
        let values = params.len() as u32;
        let blocks = vec![(Vec::new(), None)];
        Self {
            name: name.into(),
            params,
            result,
            slots: Vec::new(),
            arrays: Vec::new(),
            scopes: Vec::new(),
            variables: Vec::new(),
            blocks,
            current: BlockId(0),
            values,
            location: None,
            scope: None,
            locations: vec![None],
        }
    }

    /// The value of the parameter at `index`.
    pub fn param(&self, index: usize) -> Value {
        Value(index as u32)
    }

    /// Adds a slot.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::{Op, Scalar, build::FunctionBuilder};
    ///
    /// let mut b = FunctionBuilder::new("f", Vec::new(), None);
    /// let sum = b.slot("sum", Scalar::U32);
    /// let zero = b.constant(Scalar::U32, 0);
    /// b.effect(Op::Set(sum, zero));
    /// assert_eq!(b.finish().slots[sum.index()].name, "sum");
    /// ```
    pub fn slot(&mut self, name: impl Into<String>, ty: impl Into<Type>) -> SlotId {
        self.slots.push(Slot { name: name.into(), ty: ty.into() });
        SlotId(self.slots.len() as u32 - 1)
    }

    /// Adds an array.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::{Op, Scalar, Space, Type, build::FunctionBuilder};
    ///
    /// let mut b = FunctionBuilder::new("f", Vec::new(), None);
    /// let table = b.array("table", Scalar::F32, 16);
    /// let _first = b.value(Op::Local(table), Type::Ptr(Space::Local, Scalar::F32.into()));
    /// assert_eq!(b.finish().arrays[table.index()].len, 16);
    /// ```
    pub fn array(&mut self, name: impl Into<String>, element: impl Into<Pointee>, len: u64) -> ArrayId {
        self.arrays.push(ArrayDecl { name: name.into(), element: element.into(), len });
        ArrayId(self.arrays.len() as u32 - 1)
    }

    /// Adds an empty block.
    pub fn block(&mut self) -> BlockId {
        self.blocks.push((Vec::new(), None));
        self.locations.push(None);
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// Selects the block to append to.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::{Terminator, build::FunctionBuilder};
    ///
    /// let mut b = FunctionBuilder::new("f", Vec::new(), None);
    /// let last = b.block();
    /// b.end(Terminator::Jump(last));
    /// assert!(b.ended());
    /// b.select_block(last);
    /// assert!(!b.ended());
    /// b.end(Terminator::Return(None));
    /// assert_eq!(b.finish().blocks.len(), 2);
    /// ```
    pub fn select_block(&mut self, block: BlockId) {
        self.current = block;
    }

    /// Sets the source location of what is appended; returns the previous one.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::{Location, build::FunctionBuilder};
    ///
    /// let mut b = FunctionBuilder::new("f", Vec::new(), None);
    /// let location = Location { file: "a.rs".into(), line: 3, column: 5 };
    /// assert_eq!(b.set_location(Some(location.clone())), None);
    /// assert_eq!(b.location(), Some(&location));
    /// ```
    pub fn set_location(&mut self, location: Option<Location>) -> Option<Location> {
        std::mem::replace(&mut self.location, location)
    }

    /// The source location of what is appended, if known.
    pub fn location(&self) -> Option<&Location> {
        self.location.as_ref()
    }

    /// Sets the scope of what is appended; returns the previous one.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::{Location, SourceScope, build::FunctionBuilder};
    ///
    /// let mut b = FunctionBuilder::new("f", Vec::new(), None);
    /// let location = Location { file: "a.rs".into(), line: 3, column: 5 };
    /// let scope = b.new_scope(SourceScope { outer: None, location, inlined: None });
    /// assert_eq!(b.set_scope(Some(scope)), None);
    /// assert_eq!(b.scope(), Some(scope));
    /// ```
    pub fn set_scope(&mut self, scope: Option<SourceScopeId>) -> Option<SourceScopeId> {
        std::mem::replace(&mut self.scope, scope)
    }

    /// The scope of what is appended.
    pub fn scope(&self) -> Option<SourceScopeId> {
        self.scope
    }

    /// Adds a scope.
    pub fn new_scope(&mut self, scope: SourceScope) -> SourceScopeId {
        self.scopes.push(scope);
        SourceScopeId(self.scopes.len() as u32 - 1)
    }

    /// Adds a variable.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::{Location, Scalar, SourceTypeId, Storage, Variable, build::FunctionBuilder};
    ///
    /// let mut b = FunctionBuilder::new("f", Vec::new(), None);
    /// let sum = b.slot("sum", Scalar::U32);
    /// b.variable(Variable {
    ///     name: "sum".to_owned(),
    ///     // The module's first source type.
    ///     ty: SourceTypeId(0),
    ///     scope: None,
    ///     location: Location { file: "a.rs".into(), line: 3, column: 9 },
    ///     parameter: None,
    ///     storage: Storage::Slots(vec![(sum, 0)]),
    /// });
    /// assert_eq!(b.finish().variables[0].storage.slots(), [(sum, 0)]);
    /// ```
    pub fn variable(&mut self, variable: Variable) {
        self.variables.push(variable);
    }

    /// Returns true if the current block has a terminator.
    pub fn ended(&self) -> bool {
        self.blocks[self.current.index()].1.is_some()
    }

    /// Appends an instruction with a result of type `ty`. It is dropped if the block has ended.
    pub fn value(&mut self, op: Op, ty: impl Into<Type>) -> Value {
        let value = Value(self.values);
        self.values += 1;
        self.push(Inst { op, result: Some((value, ty.into())) });
        value
    }

    /// Appends an instruction without a result. It is dropped if the block has ended.
    pub fn effect(&mut self, op: Op) {
        self.push(Inst { op, result: None });
    }

    /// Appends a constant.
    pub fn constant(&mut self, ty: Scalar, bits: u128) -> Value {
        self.value(Op::Const(Const { ty, bits }), ty)
    }

    /// The bits of a value that is a constant.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::{Scalar, UnaryOp, Op, build::FunctionBuilder};
    ///
    /// let mut b = FunctionBuilder::new("f", Vec::new(), None);
    /// let three = b.constant(Scalar::I32, 3);
    /// let negated = b.value(Op::Unary(UnaryOp::Neg, three), Scalar::I32);
    /// assert_eq!((b.known(three), b.known(negated)), (Some(3), None));
    /// ```
    pub fn known(&self, value: Value) -> Option<u128> {
        let mut instructions = self.blocks.iter().flat_map(|block| &block.0);
        instructions.find_map(|inst| match (&inst.op, inst.result) {
            (Op::Const(constant), Some((of, _))) if of == value => Some(constant.bits),
            _ => None,
        })
    }

    /// Ends the current block; further instructions are dropped until another block is selected.
    pub fn end(&mut self, end: Terminator) {
        self.note_location();
        let block = &mut self.blocks[self.current.index()];
        block.1.get_or_insert(end);
    }

    /// Returns the finished function: the reachable blocks in reverse postorder, with values numbered in that order. A
    /// block without a terminator returns without a value.
    pub fn finish(self) -> Function {
        let order = reverse_postorder(&self.blocks);
        let mut block_numbers = vec![BlockId(u32::MAX); self.blocks.len()];
        for (new, old) in (0..).zip(&order) {
            block_numbers[*old] = BlockId(new);
        }
        let mut values: Vec<Value> = (0..self.values).map(Value).collect();
        let mut next = self.params.len() as u32;
        for (insts, _) in order.iter().map(|&old| &self.blocks[old]) {
            for (value, _) in insts.iter().filter_map(|inst| inst.result) {
                values[value.index()] = Value(next);
                next += 1;
            }
        }
        let mut old_blocks: Vec<_> = self.blocks.into_iter().map(Some).collect();
        let mut blocks = Vec::with_capacity(order.len());
        for (mut insts, end) in order.iter().filter_map(|&old| old_blocks[old].take()) {
            for inst in &mut insts {
                inst.op.each_value_mut(|value| *value = values[value.index()]);
                if let Some((value, _)) = &mut inst.result {
                    *value = values[value.index()];
                }
            }
            let mut end = end.unwrap_or(Terminator::Return(None));
            end.each_value_mut(|value| *value = values[value.index()]);
            end.each_target_mut(|target| *target = block_numbers[target.index()]);
            blocks.push(Block { insts, end });
        }
        let Self { name, params, result, slots, arrays, scopes, variables, .. } = self;
        Function { name, params, result, slots, arrays, scopes, variables, blocks }
    }

    /// Appends an instruction unless the block has ended.
    fn push(&mut self, inst: Inst) {
        self.note_location();
        let (insts, end) = &mut self.blocks[self.current.index()];
        if end.is_none() {
            insts.push(inst);
        }
    }

    /// Appends a line marker to the current block if location or scope have changed.
    fn note_location(&mut self) {
        let (insts, end) = &mut self.blocks[self.current.index()];
        let Some(location) = self.location.as_ref().filter(|_| end.is_none()) else { return };
        let noted = &mut self.locations[self.current.index()];
        if noted.as_ref().is_none_or(|(before, scope)| before != location || *scope != self.scope) {
            *noted = Some((location.clone(), self.scope));
            insts.push(Inst { op: Op::Line(location.clone(), self.scope), result: None });
        }
    }
}

/// The blocks reachable from the first, in reverse postorder.
fn reverse_postorder(blocks: &[(Vec<Inst>, Option<Terminator>)]) -> Vec<usize> {
    let successors = |block: usize| match &blocks[block].1 {
        Some(Terminator::Jump(target)) => vec![target.index()],
        Some(Terminator::Branch(_, yes, no)) => vec![no.index(), yes.index()],
        _ => Vec::new(),
    };
    let mut seen = vec![false; blocks.len()];
    seen[0] = true;
    let mut stack = vec![(0, successors(0))];
    let mut order = Vec::new();
    while let Some((block, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) if !seen[next] => {
                seen[next] = true;
                stack.push((next, successors(next)));
            }
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UnaryOp;

    #[test]
    fn values_are_numbered_by_position_in_any_order_of_filling() {
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
    fn each_block_has_its_location_once() {
        let location = |line| Some(Location { file: "a.rs".into(), line, column: 1 });
        let mut b = FunctionBuilder::new("f", Vec::new(), None);
        let next = b.block();
        assert_eq!(b.set_location(location(1)), None);
        b.constant(Scalar::I32, 1);
        b.constant(Scalar::I32, 2);
        assert_eq!(b.set_location(location(2)), location(1));
        b.end(Terminator::Jump(next));
        b.constant(Scalar::I32, 3);
        b.select_block(next);
        b.end(Terminator::Return(None));
        let function = b.finish();
        let lines = |block: &Block| {
            let line = |inst: &Inst| if let Op::Line(place, _) = &inst.op { place.line } else { 0 };
            block.insts.iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(function.blocks.iter().map(lines).collect::<Vec<_>>(), [vec![1, 0, 0, 2], vec![2]]);
    }

    #[test]
    fn instructions_after_a_terminator_are_dropped() {
        let mut b = FunctionBuilder::new("f", Vec::new(), None);
        b.end(Terminator::Return(None));
        b.constant(Scalar::I32, 2);
        b.end(Terminator::Jump(BlockId(0)));
        let function = b.finish();
        assert_eq!(function.blocks, [Block { insts: Vec::new(), end: Terminator::Return(None) }]);
    }
}
