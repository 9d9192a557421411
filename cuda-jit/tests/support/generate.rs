//! Valid modules at random, from a seed: every operation, slots of pointers, loops, recursion, panics.
//!
//! They compile but are not meant to be run: loops need not end, and pointers may point anywhere.

use cuda_jit::kir::build::FunctionBuilder;
use cuda_jit::kir::{
    Access, Axis, BinaryOp, BlockId, CacheLoad, CacheStore, CompareOp, Const, FuncId, Function, Lane, Module, Op,
    Param, Pointee, Record, Role, Scalar, Site, SiteId, SlotId, Space, Special, Terminator, Type, UnaryOp, Value,
};

pub(crate) const UNARY: [UnaryOp; 13] = [
    UnaryOp::Neg,
    UnaryOp::Not,
    UnaryOp::Abs,
    UnaryOp::Sqrt,
    UnaryOp::Floor,
    UnaryOp::Ceil,
    UnaryOp::Trunc,
    UnaryOp::RoundTiesEven,
    UnaryOp::CountOnes,
    UnaryOp::LeadingZeros,
    UnaryOp::TrailingZeros,
    UnaryOp::ReverseBits,
    UnaryOp::SwapBytes,
];
pub(crate) const BINARY: [BinaryOp; 13] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::Min,
    BinaryOp::Max,
    BinaryOp::CopySign,
];
pub(crate) const COMPARE: [CompareOp; 6] =
    [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge];
pub(crate) const AXES: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

/// A small generator of random numbers (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    fn scalar(&mut self, suits: impl Fn(Scalar) -> bool) -> Scalar {
        let suiting: Vec<Scalar> = Scalar::ALL.into_iter().filter(|&scalar| suits(scalar)).collect();
        self.one_of(&suiting)
    }
}

/// The module of a seed.
pub(crate) fn module(seed: u64) -> Module {
    let mut random = Random(seed);
    let site = |index: usize| Site {
        message: format!("message \"{index}\"\n\u{7} {{0i}} of {{1}} \\ é"),
        file: "src/main.rs".to_owned(),
        line: index as u32 + 1,
        column: 9,
    };
    let count = 1 + random.below(4);
    let heads: Vec<Function> = (0..count).map(|index| head(&mut random, index)).collect();
    let functions = heads.iter().map(|head| body(&mut random, head, &heads)).collect();
    Module {
        contract: random.below(2) == 0,
        exported: false,
        functions,
        sites: (0..3).map(site).collect(),
        shared: Vec::new(),
        constants: Vec::new(),
    }
}

/// A function without a body.
fn head(random: &mut Random, index: usize) -> Function {
    let params = (0..random.below(7)).map(|place| param(random, place, index == 0)).collect();
    let result = (index > 0 && random.below(3) > 0).then(|| random.scalar(|_| true).into());
    Function { name: format!("f_{index}"), params, result, slots: Vec::new(), arrays: Vec::new(), blocks: Vec::new() }
}

fn param(random: &mut Random, index: usize, of_kernel: bool) -> Param {
    let pointee = random.scalar(|_| true);
    let (ty, access) = match random.below(4) {
        0 => (Type::Ptr(Space::Global, element(random, pointee)), Access::Read),
        1 => (Type::Ptr(Space::Global, element(random, pointee)), Access::ReadWrite),
        _ => (pointee.into(), Access::Read),
    };
    let extent = of_kernel && ty == Scalar::U64.into() && random.below(2) == 0;
    let role = if extent { Role::Extent } else { Role::Plain };
    Param { name: format!("p.{index}"), ty, access, role }
}

/// A number, or a record that holds some.
fn element(random: &mut Random, scalar: Scalar) -> Pointee {
    match random.below(3) {
        0 => Pointee::Record(Record { size: 32, align: 1 << (3 + random.below(3)) }),
        _ => scalar.into(),
    }
}

fn body(random: &mut Random, head: &Function, heads: &[Function]) -> Function {
    let mut b = FunctionBuilder::new(head.name.clone(), head.params.clone(), head.result);
    let mut slots: Vec<(SlotId, Type, Access)> = Vec::new();
    for index in 0..random.below(5) {
        let name = format!("slot.{index}");
        let ty = random.scalar(|_| true).into();
        slots.push((b.slot(name, ty), ty, Access::Read));
    }
    // A slot for each pointer parameter, set at once: one that no pointer reaches counts as read-only.
    for (index, param) in head.params.iter().enumerate().filter(|(_, param)| param.ty.scalar().is_none()) {
        let slot = b.slot(param.name.clone(), param.ty);
        b.effect(Op::Set(slot, Value(index as u32)));
        slots.push((slot, param.ty, param.access));
    }
    let mut blocks = vec![BlockId(0)];
    blocks.extend((0..random.below(6)).map(|_| b.block()));
    let mut body = Body { random, b, head, heads, slots, visible: Vec::new() };
    for &block in &blocks {
        body.b.select_block(block);
        let params = head.params.iter().enumerate();
        body.visible = params.map(|(index, param)| (Value(index as u32), param.ty, param.access)).collect();
        for _ in 0..body.random.below(12) {
            body.inst();
        }
        body.end(&blocks);
    }
    body.b.finish()
}

struct Body<'a> {
    random: &'a mut Random,
    b: FunctionBuilder,
    head: &'a Function,
    heads: &'a [Function],
    slots: Vec<(SlotId, Type, Access)>,
    visible: Vec<(Value, Type, Access)>,
}

impl Body<'_> {
    fn yields(&mut self, op: Op, ty: impl Into<Type>, access: Access) -> Value {
        let ty = ty.into();
        let value = self.b.value(op, ty);
        self.visible.push((value, ty, access));
        value
    }

    fn scalar(&mut self, op: Op, ty: Scalar) {
        self.yields(op, ty, Access::Read);
    }

    /// A value of that type, newly made if there is none.
    fn value(&mut self, ty: Scalar) -> Value {
        self.pointer(ty.into(), None).unwrap_or_else(|| self.constant(ty))
    }

    fn constant(&mut self, ty: Scalar) -> Value {
        let bits = match self.random.below(4) {
            0 => self.random.next(),
            1 => u64::MAX,
            2 => f32::NAN.to_bits().into(),
            _ => self.random.next() % 64,
        };
        let bits = bits & (u64::MAX >> (64 - ty.bits()));
        self.scalar(Op::Const(Const { ty, bits }), ty);
        self.visible[self.visible.len() - 1].0
    }

    /// A value of that type and access, if there is one.
    fn pointer(&mut self, ty: Type, access: Option<Access>) -> Option<Value> {
        let suits =
            |&&(_, other, has): &&(Value, Type, Access)| other == ty && access.is_none_or(|access| access == has);
        let suiting: Vec<Value> = self.visible.iter().filter(suits).map(|visible| visible.0).collect();
        if suiting.is_empty() { None } else { Some(self.random.one_of(&suiting)) }
    }

    /// A pointer with its pointee and access, if there is one.
    fn any_pointer(&mut self, writable: bool) -> Option<(Value, Pointee, Access)> {
        let pointers: Vec<(Value, Pointee, Access)> = self
            .visible
            .iter()
            .filter_map(|&(value, ty, access)| match ty {
                Type::Ptr(_, pointee) if !writable || access == Access::ReadWrite => Some((value, pointee, access)),
                _ => None,
            })
            .collect();
        if pointers.is_empty() { None } else { Some(self.random.one_of(&pointers)) }
    }

    fn inst(&mut self) {
        match self.random.below(16) {
            0 => self.get_or_set(),
            1 => self.unary(),
            2..=4 => self.binary(),
            5 => {
                let ty = self.random.scalar(|ty| ty.is_float() || ty.is_pair());
                let op = Op::Fma(self.value(ty), self.value(ty), self.value(ty));
                self.scalar(op, ty);
            }
            6 => {
                let ty = self.random.scalar(Scalar::is_integer);
                let op = self.random.one_of(&BINARY[..3]);
                let op = Op::Overflows(op, self.value(ty), self.value(ty));
                self.scalar(op, Scalar::Bool);
            }
            7 | 8 => {
                let ty = self.random.scalar(|ty| !ty.is_pair());
                let op = self.random.one_of(&COMPARE);
                let op = Op::Compare(op, self.value(ty), self.value(ty));
                self.scalar(op, Scalar::Bool);
            }
            9 => self.select(),
            10 | 11 => self.cast(),
            12 | 13 => self.memory(),
            14 => self.special(),
            _ => self.call(),
        }
    }

    fn get_or_set(&mut self) {
        if self.slots.is_empty() {
            return;
        }
        let slots = self.slots.clone();
        let (slot, ty, access) = self.random.one_of(&slots);
        if self.random.below(2) == 0 {
            self.yields(Op::Get(slot), ty, access);
        } else if let Some(scalar) = ty.scalar() {
            let op = Op::Set(slot, self.value(scalar));
            self.b.effect(op);
        } else if let Some(pointer) = self.pointer(ty, Some(access)) {
            self.b.effect(Op::Set(slot, pointer));
        }
    }

    fn unary(&mut self) {
        let op = self.random.one_of(&UNARY);
        let ty = self.random.scalar(|scalar| match op {
            UnaryOp::Neg | UnaryOp::Abs => scalar.is_signed() || scalar.is_float() || scalar.is_pair(),
            UnaryOp::Not => scalar.is_integer() || scalar == Scalar::Bool,
            UnaryOp::Sqrt | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::RoundTiesEven => {
                scalar.is_float()
            }
            _ => scalar.is_integer(),
        });
        let op = Op::Unary(op, self.value(ty));
        self.scalar(op, ty);
    }

    fn binary(&mut self) {
        let op = self.random.one_of(&BINARY);
        let ty = self.random.scalar(|scalar| match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => scalar.is_integer() || scalar == Scalar::Bool,
            BinaryOp::Shl | BinaryOp::Shr => scalar.is_integer(),
            BinaryOp::CopySign => scalar.is_float(),
            BinaryOp::Div | BinaryOp::Rem => scalar.is_integer() || scalar.is_float(),
            _ => scalar != Scalar::Bool,
        });
        let op = Op::Binary(op, self.value(ty), self.value(ty));
        self.scalar(op, ty);
    }

    fn select(&mut self) {
        let condition = self.value(Scalar::Bool);
        match self.any_pointer(false) {
            Some((a, pointee, access)) if self.random.below(2) == 0 => {
                let ty = Type::Ptr(Space::Global, pointee);
                let b = self.pointer(ty, Some(access)).unwrap_or(a);
                self.yields(Op::Select(condition, a, b), ty, access);
            }
            _ => {
                let ty = self.random.scalar(|_| true);
                let op = Op::Select(condition, self.value(ty), self.value(ty));
                self.scalar(op, ty);
            }
        }
    }

    fn cast(&mut self) {
        let from = self.random.scalar(|_| true);
        let value = self.value(from);
        let kind = self.random.below(3);
        if let (Some(pair), 1) = (from.pair(), kind) {
            let op = Op::Pair(value, self.value(from));
            self.scalar(op, pair);
        } else if let (Some(half), 1 | 2) = (from.lane(), kind) {
            let lane = self.random.one_of(&[Lane::Low, Lane::High]);
            self.scalar(Op::Lane(value, lane), half);
        } else if kind == 0 {
            let to = self.random.scalar(|to| to.bits() == from.bits());
            self.scalar(Op::Bitcast(value, to), to);
        } else {
            let to = self.random.scalar(|to| match to {
                Scalar::Bool => from == Scalar::Bool,
                to if from.is_half() => to.is_float(),
                to if to.is_half() => from.is_float(),
                to => !to.is_pair(),
            });
            self.scalar(Op::Cast(value, to), to);
        }
    }

    /// A pointer to a number, which may be in a record.
    fn number_behind(&mut self, pointer: Value, pointee: Pointee, access: Access) -> (Value, Scalar) {
        if let Some(scalar) = pointee.scalar() {
            return (pointer, scalar);
        }
        let scalar = self.random.scalar(|_| true);
        let offset = 8 * self.random.below(4) as u32;
        let ty = Type::Ptr(Space::Global, scalar.into());
        (self.yields(Op::Field(pointer, offset, scalar.into()), ty, access), scalar)
    }

    fn memory(&mut self) {
        let kind = self.random.below(7);
        let Some((pointer, pointee, access)) = self.any_pointer(kind == 2 || kind == 6) else { return };
        match kind {
            3 => self.scalar(Op::Address(pointer), Scalar::U64),
            5 | 6 => self.cached(kind == 6, pointer, pointee, access),
            4 => {
                let other = self.random.scalar(|_| true);
                let other = element(self.random, other);
                self.yields(Op::Retype(pointer, other), Type::Ptr(Space::Global, other), access);
            }
            0 => {
                let op = Op::Offset(pointer, self.value(Scalar::U64));
                self.yields(op, Type::Ptr(Space::Global, pointee), access);
            }
            1 => {
                let (pointer, scalar) = self.number_behind(pointer, pointee, access);
                self.scalar(Op::Load(pointer), scalar);
            }
            _ => {
                let (pointer, scalar) = self.number_behind(pointer, pointee, access);
                let op = Op::Store(pointer, self.value(scalar));
                self.b.effect(op);
            }
        }
    }

    /// A load or store with a hint for the caches.
    fn cached(&mut self, stores: bool, pointer: Value, pointee: Pointee, access: Access) {
        let (pointer, scalar) = self.number_behind(pointer, pointee, access);
        if scalar == Scalar::Bool {
            return;
        }
        if stores {
            let hint = self.random.one_of(&[CacheStore::WriteBack, CacheStore::Streaming, CacheStore::WriteThrough]);
            let op = Op::StoreCached(hint, pointer, self.value(scalar));
            return self.b.effect(op);
        }
        let other = if access == Access::Read { CacheLoad::ReadOnly } else { CacheLoad::Volatile };
        let hint = self.random.one_of(&[CacheLoad::All, CacheLoad::Global, CacheLoad::LastUse, other]);
        self.scalar(Op::LoadCached(hint, pointer), scalar);
    }

    fn special(&mut self) {
        let axis = self.random.one_of(&AXES);
        let special = match self.random.below(6) {
            0 => Special::ThreadIdx(axis),
            1 => Special::BlockIdx(axis),
            2 => Special::BlockDim(axis),
            3 => Special::GridDim(axis),
            4 => Special::LaneId,
            _ => Special::WarpSize,
        };
        self.scalar(Op::Special(special), Scalar::U32);
    }

    fn call(&mut self) {
        if self.heads.len() == 1 {
            return;
        }
        let index = 1 + self.random.below(self.heads.len() - 1);
        let callee = &self.heads[index];
        let mut arguments = Vec::new();
        for param in &callee.params {
            match param.ty {
                Type::Scalar(scalar) => arguments.push(self.value(scalar)),
                Type::Ptr(..) => match self.pointer(param.ty, Some(param.access)) {
                    Some(pointer) => arguments.push(pointer),
                    None => return,
                },
            }
        }
        let op = Op::Call(FuncId(index as u32), arguments);
        match callee.result {
            Some(ty) => {
                self.yields(op, ty, Access::Read);
            }
            None => self.b.effect(op),
        }
    }

    fn end(&mut self, blocks: &[BlockId]) {
        let targets = &blocks[1..];
        let kind = self.random.below(6);
        let end = match kind {
            0 | 1 if !targets.is_empty() => {
                let condition = self.value(Scalar::Bool);
                Terminator::Branch(condition, self.random.one_of(targets), self.random.one_of(targets))
            }
            2 if !targets.is_empty() => Terminator::Jump(self.random.one_of(targets)),
            3 => {
                let site = SiteId(self.random.below(3) as u32);
                let count = self.random.below(3);
                Terminator::Panic(site, (0..count).map(|_| self.value(Scalar::U64)).collect())
            }
            _ => match self.head.result.and_then(Type::scalar) {
                Some(scalar) => Terminator::Return(Some(self.value(scalar))),
                None => Terminator::Return(None),
            },
        };
        self.b.end(end);
    }
}
