//! Generates random valid modules from a seed: every operation, slots of pointers, loops, recursion, panics.
//!
//! They compile but must not be executed: loops may be endless, and pointers may be invalid.

use cuda_jit::kir::build::FunctionBuilder;
use cuda_jit::kir::{
    Access, ArrayDecl, ArrayId, Axis, BinaryOp, BlockId, CacheLoad, CacheStore, CompareOp, Const, ConstantDecl,
    ConstantId, Float8, FuncId, Function, Lane, Module, Op, Param, Pointee, Record, Role, Scalar, SharedId, Site,
    SiteId, SlotId, Space, Special, Terminator, Type, UnaryOp, Value,
};

mod source;
mod sync;

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

/// A small random number generator (splitmix64).
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

macro_rules! kinds {
    ($($kind:ident)*) => {
        /// The kinds of operations.
        pub(crate) const KINDS: &[&str] = &[$(stringify!($kind)),*];

        /// The kind of an operation.
        pub(crate) fn kind(op: &Op) -> &'static str {
            match op {
                $(Op::$kind { .. } => stringify!($kind),)*
            }
        }
    };
}

kinds! {
    Const Get Set Unary Binary Fma Ternary Overflows Compare Select Cast Bitcast Pair Lane Narrow Widen Offset Field Address Retype Generic
    Load Store LoadCached StoreCached LoadCachedAll StoreCachedAll Special Shared DynamicShared MapShared Local Constant Barrier BarrierReduce Fence AtomicLoad
    AtomicStore Atomic CompareExchange Shuffle Vote MatchAny MatchAll Reduce SyncWarp ActiveMask ClusterBarrier
    GridBarrier Panicked Clock Sleep Breakpoint SetConditional Math Call Print Line
}

/// Generates the module of a seed.
pub(crate) fn module(seed: u64) -> Module {
    let mut random = Random(seed);
    let site = |index: usize| Site {
        message: format!("message \"{index}\"\n\u{7} {{0i}} of {{1}} \\ é"),
        file: "src/main.rs".to_owned(),
        line: index as u32 + 1,
        column: 9,
    };
    let count = 1 + random.below(4);
    let shared = (0..random.below(3)).map(|index| array(&mut random, index)).collect();
    let constants = (0..random.below(3)).map(|index| constant(&mut random, index)).collect();
    let declarations = Declarations { shared, constants };
    let heads: Vec<Function> = (0..count).map(|index| head(&mut random, index)).collect();
    let functions = heads.iter().map(|head| body(&mut random, head, &heads, &declarations)).collect();
    let (types, Declarations { shared, constants }) = (source::types(&mut random), declarations);
    Module {
        contract: random.below(2) == 0,
        exported: false,
        functions,
        sites: (0..3).map(site).collect(),
        shared,
        constants,
        types,
    }
}

/// The declarations of a module that functions refer to.
struct Declarations {
    shared: Vec<ArrayDecl>,
    constants: Vec<ConstantDecl>,
}

fn array(random: &mut Random, index: usize) -> ArrayDecl {
    let scalar = random.scalar(|_| true);
    let (element, len) = (element(random, scalar), 1 + random.below(40) as u64);
    ArrayDecl { name: format!("array.{index}"), element, len }
}

fn constant(random: &mut Random, index: usize) -> ConstantDecl {
    let array = array(random, index);
    let bytes = (0..array.len * u64::from(array.element.size())).map(|_| random.next() as u8).collect();
    let (space, host) = random.one_of(&[(Space::Constant, false), (Space::Constant, true), (Space::Global, false)]);
    ConstantDecl { array, space, host, bytes }
}

/// A function without a body.
fn head(random: &mut Random, index: usize) -> Function {
    let params = (0..random.below(7)).map(|place| param(random, place, index == 0)).collect();
    let result = (index > 0 && random.below(3) > 0).then(|| random.scalar(|_| true).into());
    Function {
        name: format!("f_{index}"),
        params,
        result,
        slots: Vec::new(),
        arrays: Vec::new(),
        scopes: Vec::new(),
        variables: Vec::new(),
        blocks: Vec::new(),
    }
}

fn param(random: &mut Random, index: usize, of_kernel: bool) -> Param {
    let pointee = random.scalar(|_| true);
    let spaces = Space::ALL;
    let space = if of_kernel { Space::Global } else { random.one_of(&spaces) };
    let (ty, access) = match random.below(4) {
        0 => (Type::Ptr(space, element(random, pointee)), Access::Read),
        1 if space != Space::Constant => (Type::Ptr(space, element(random, pointee)), Access::ReadWrite),
        _ => (pointee.into(), Access::Read),
    };
    let extent = of_kernel && ty == Scalar::U64.into() && random.below(2) == 0;
    let role = if extent { Role::Extent } else { Role::Plain };
    Param { name: format!("p.{index}"), ty, access, role }
}

/// A number, or a record that contains some.
fn element(random: &mut Random, scalar: Scalar) -> Pointee {
    match random.below(3) {
        0 => Pointee::Record(Record { size: 32, align: 1 << (3 + random.below(3)) }),
        _ => scalar.into(),
    }
}

fn body(random: &mut Random, head: &Function, heads: &[Function], declarations: &Declarations) -> Function {
    let mut b = FunctionBuilder::new(head.name.clone(), head.params.clone(), head.result);
    let mut slots: Vec<(SlotId, Type, Access)> = Vec::new();
    for index in 0..random.below(5) {
        let name = format!("slot.{index}");
        let ty = random.scalar(|_| true).into();
        slots.push((b.slot(name, ty), ty, Access::Read));
    }
    // A slot for each pointer parameter, set at once: a slot that never gets a pointer counts as read-only.
    for (index, param) in head.params.iter().enumerate().filter(|(_, param)| param.ty.scalar().is_none()) {
        let slot = b.slot(param.name.clone(), param.ty);
        b.effect(Op::Set(slot, Value(index as u32)));
        slots.push((slot, param.ty, param.access));
    }
    let arrays: Vec<ArrayDecl> = (0..random.below(3)).map(|index| array(random, index)).collect();
    for ArrayDecl { name, element, len } in &arrays {
        b.array(name.clone(), *element, *len);
    }
    let kept: Vec<Type> = slots.iter().map(|(_, ty, _)| *ty).collect();
    let scopes = source::describe(random, &mut b, &kept, &arrays);
    let mut blocks = vec![BlockId(0)];
    blocks.extend((0..random.below(6)).map(|_| b.block()));
    let mut body = Body { random, b, head, heads, declarations, arrays, slots, scopes, visible: Vec::new() };
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

/// A pointer in scope.
#[derive(Clone, Copy)]
struct Pointer {
    value: Value,
    space: Space,
    pointee: Pointee,
    access: Access,
}

impl Pointer {
    fn ty(self) -> Type {
        Type::Ptr(self.space, self.pointee)
    }
}

struct Body<'a> {
    random: &'a mut Random,
    b: FunctionBuilder,
    head: &'a Function,
    heads: &'a [Function],
    declarations: &'a Declarations,
    arrays: Vec<ArrayDecl>,
    slots: Vec<(SlotId, Type, Access)>,
    scopes: usize,
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

    /// A value of a type, newly made if there is none.
    fn value(&mut self, ty: Scalar) -> Value {
        self.pointer(ty.into(), None).unwrap_or_else(|| self.constant(ty))
    }

    fn constant(&mut self, ty: Scalar) -> Value {
        let bits = match self.random.below(4) {
            0 => u128::from(self.random.next()) << 64 | u128::from(self.random.next()),
            1 => u128::MAX,
            2 => f32::NAN.to_bits().into(),
            _ => u128::from(self.random.next() % 64),
        };
        let bits = bits & ty.mask();
        self.scalar(Op::Const(Const { ty, bits }), ty);
        self.visible[self.visible.len() - 1].0
    }

    /// A value of a type and access, if there is one.
    fn pointer(&mut self, ty: Type, access: Option<Access>) -> Option<Value> {
        let suits =
            |&&(_, other, has): &&(Value, Type, Access)| other == ty && access.is_none_or(|access| access == has);
        let suiting: Vec<Value> = self.visible.iter().filter(suits).map(|visible| visible.0).collect();
        if suiting.is_empty() { None } else { Some(self.random.one_of(&suiting)) }
    }

    /// A pointer with its pointee and access, if there is one.
    fn any_pointer(&mut self, writable: bool) -> Option<Pointer> {
        let pointers: Vec<Pointer> = self
            .visible
            .iter()
            .filter_map(|&(value, ty, access)| match ty {
                Type::Ptr(space, pointee) if !writable || access == Access::ReadWrite => {
                    Some(Pointer { value, space, pointee, access })
                }
                _ => None,
            })
            .collect();
        if pointers.is_empty() { None } else { Some(self.random.one_of(&pointers)) }
    }

    fn inst(&mut self) {
        match self.random.below(22) {
            16 => self.declared(),
            17 => self.of_words(),
            18..=20 => self.synchronisation(),
            // rare, since a module that calls libdevice needs a toolkit to be compiled
            21 if self.random.below(12) == 0 => self.math(),
            21 => self.output(),
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
            Some(a) if self.random.below(2) == 0 => {
                let b = self.pointer(a.ty(), Some(a.access)).unwrap_or(a.value);
                self.yields(Op::Select(condition, a.value, b), a.ty(), a.access);
            }
            _ => {
                let ty = self.random.scalar(|_| true);
                let op = Op::Select(condition, self.value(ty), self.value(ty));
                self.scalar(op, ty);
            }
        }
    }

    fn cast(&mut self) {
        if self.random.below(8) == 0 {
            let float = self.random.one_of(&[Float8::E4m3, Float8::E5m2]);
            let op = Op::Narrow(float, self.value(Scalar::F32), self.value(Scalar::F32));
            self.scalar(op, Scalar::U16);
            let op = Op::Widen(float, self.value(Scalar::U16));
            return self.scalar(op, Scalar::F16x2);
        }
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
    fn pointee_number(&mut self, pointer: Pointer) -> (Value, Scalar) {
        if let Some(scalar) = pointer.pointee.scalar() {
            return (pointer.value, scalar);
        }
        let scalar = self.random.scalar(|scalar| scalar.bytes() <= pointer.pointee.align());
        let step = scalar.bytes().max(8);
        let offset = step * self.random.below((32 / step) as usize) as u32;
        let ty = Type::Ptr(pointer.space, scalar.into());
        (self.yields(Op::Field(pointer.value, offset, scalar.into()), ty, pointer.access), scalar)
    }

    fn memory(&mut self) {
        let kind = self.random.below(9);
        let Some(pointer) = self.any_pointer(matches!(kind, 2 | 6 | 7)) else { return };
        match kind {
            3 => self.scalar(Op::Address(pointer.value), Scalar::U64),
            5 | 6 => self.cached(kind == 6, pointer),
            7 => self.atomic(pointer),
            4 => {
                let other = self.random.scalar(|_| true);
                let other = element(self.random, other);
                self.yields(Op::Retype(pointer.value, other), Type::Ptr(pointer.space, other), pointer.access);
            }
            8 => {
                let access = if self.random.below(2) == 0 { Access::ReadWrite } else { pointer.access };
                let generic = Type::Ptr(Space::Generic, pointer.pointee);
                self.yields(Op::Generic(pointer.value, access), generic, access);
            }
            0 => {
                let op = Op::Offset(pointer.value, self.value(Scalar::U64));
                self.yields(op, pointer.ty(), pointer.access);
            }
            1 => {
                let (pointer, scalar) = self.pointee_number(pointer);
                self.scalar(Op::Load(pointer), scalar);
            }
            _ if pointer.access == Access::Read => {}
            _ => {
                let (pointer, scalar) = self.pointee_number(pointer);
                let op = Op::Store(pointer, self.value(scalar));
                self.b.effect(op);
            }
        }
    }

    /// A load or store with a cache hint.
    fn cached(&mut self, stores: bool, pointer: Pointer) {
        if pointer.space != Space::Global {
            return;
        }
        let access = pointer.access;
        let (pointer, scalar) = self.pointee_number(pointer);
        if scalar == Scalar::Bool || scalar.bits() > 64 {
            return;
        }
        // vector widths of one instruction, or one
        let counts: Vec<usize> = [1, 2, 4].into_iter().filter(|count| count * scalar.bytes() as usize <= 16).collect();
        let together = Some(self.random.one_of(&counts)).filter(|&count| count > 1);
        if stores {
            let hint = self.random.one_of(&[CacheStore::WriteBack, CacheStore::Streaming, CacheStore::WriteThrough]);
            let op = match together {
                Some(count) => Op::StoreCachedAll(hint, pointer, (0..count).map(|_| self.value(scalar)).collect()),
                None => Op::StoreCached(hint, pointer, self.value(scalar)),
            };
            return self.b.effect(op);
        }
        let other = if access == Access::Read { CacheLoad::ReadOnly } else { CacheLoad::Volatile };
        let hint = self.random.one_of(&[CacheLoad::All, CacheLoad::Global, CacheLoad::LastUse, other]);
        match together {
            Some(count) => {
                let slots: Vec<SlotId> = (0..count).map(|lane| self.b.slot(format!("lane.{lane}"), scalar)).collect();
                self.b.effect(Op::LoadCachedAll(hint, pointer, slots.clone()));
                self.slots.extend(slots.into_iter().map(|slot| (slot, scalar.into(), Access::Read)));
            }
            None => self.scalar(Op::LoadCached(hint, pointer), scalar),
        }
    }

    /// The address of an array: shared, local, constant or dynamic.
    fn declared(&mut self) {
        let (shared, constants) = (&self.declarations.shared, &self.declarations.constants);
        let (op, ty, access) = match self.random.below(4) {
            0 if !shared.is_empty() => {
                let index = self.random.below(shared.len());
                let ty = Type::Ptr(Space::Shared, shared[index].element);
                (Op::Shared(SharedId(index as u32)), ty, Access::ReadWrite)
            }
            1 if !constants.is_empty() => {
                let index = self.random.below(constants.len());
                let ty = Type::Ptr(constants[index].space, constants[index].array.element);
                (Op::Constant(ConstantId(index as u32)), ty, Access::Read)
            }
            2 if !self.arrays.is_empty() => {
                let index = self.random.below(self.arrays.len());
                let ty = Type::Ptr(Space::Local, self.arrays[index].element);
                (Op::Local(ArrayId(index as u32)), ty, Access::ReadWrite)
            }
            _ => {
                let scalar = self.random.scalar(|_| true);
                let (element, offset) = (element(self.random, scalar), self.value(Scalar::U64));
                (Op::DynamicShared(offset, element), Type::Ptr(Space::Shared, element), Access::ReadWrite)
            }
        };
        let value = self.yields(op, ty, access);
        if let Type::Ptr(Space::Shared, element) = ty
            && self.random.below(3) == 0
        {
            let rank = self.value(Scalar::U32);
            self.yields(Op::MapShared(value, rank), Type::Ptr(Space::Cluster, element), access);
        }
    }

    fn special(&mut self) {
        let axis = self.random.one_of(&AXES);
        let special = match self.random.below(13) {
            12 => Special::ComputeCapability,
            6 => Special::DynamicSharedBytes,
            7 => Special::ClusterBlockIdx(axis),
            8 => Special::ClusterDim(axis),
            9 => Special::LaneMask(self.random.one_of(&COMPARE)),
            10 => Special::ClusterRank,
            11 => Special::ClusterRanks,
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
