//! Generates random synchronisation, bit operations and output.

use cuda_jit::kir::{
    ArrayId, AtomicOp, BarrierOp, Clock, LibArg, LibFn, Op, Order, Ordering, ReduceOp, Scalar, Scope, ShuffleOp, Space,
    TernaryOp, Type, Value, VoteOp,
};

use super::{Access, Body, Pointer, source};

const INTEGERS: [Scalar; 4] = [Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64];

impl Body<'_> {
    fn order(&mut self) -> Order {
        let orderings = [Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst];
        let scope = self.random.one_of(&[Scope::Block, Scope::Cluster, Scope::Device, Scope::System]);
        Order { ordering: self.random.one_of(&orderings), scope }
    }

    /// An atomic operation on a number of a suitable type.
    pub(super) fn atomic(&mut self, pointer: Pointer) {
        let (order, kind) = (self.order(), self.random.below(4));
        let (Order { ordering, .. }, strong) = (order, order.ordering == Ordering::SeqCst);
        let op = self.random.one_of(&ATOMIC);
        let ty = match (kind, op) {
            (0 | 1, _) => self.random.scalar(|ty| ty != Scalar::Bool && !ty.is_pair() && ty.bits() <= 64),
            (2, _) => self.random.scalar(|ty| matches!(ty.bits(), 16..=64) && !ty.is_pair()),
            (_, AtomicOp::Inc | AtomicOp::Dec) => Scalar::U32,
            (_, AtomicOp::Add) => {
                self.random.scalar(|ty| matches!(ty.bits(), 32 | 64) && !ty.is_pair() || ty.is_half())
            }
            (_, AtomicOp::Exchange) => self.random.scalar(|ty| matches!(ty.bits(), 32 | 64) && !ty.is_pair()),
            _ => self.random.one_of(&INTEGERS),
        };
        let there = Type::Ptr(pointer.space, ty.into());
        let place = self.yields(Op::Retype(pointer.value, ty.into()), there, pointer.access);
        match kind {
            0 if !ordering.releases() || strong => self.scalar(Op::AtomicLoad(order, place), ty),
            1 if !ordering.acquires() || strong => {
                let op = Op::AtomicStore(order, place, self.value(ty));
                self.b.effect(op);
            }
            0 | 1 => {}
            2 => {
                let op = Op::CompareExchange(order, place, self.value(ty), self.value(ty));
                self.scalar(op, ty);
            }
            _ => {
                let op = Op::Atomic(op, order, place, self.value(ty));
                self.scalar(op, ty);
            }
        }
    }

    /// Barriers, warp operations, clocks.
    pub(super) fn synchronisation(&mut self) {
        let mask = self.value(Scalar::U32);
        match self.random.below(17) {
            0 => self.b.effect(Op::Barrier),
            1 => {
                let op = self.random.one_of(&[BarrierOp::Count, BarrierOp::And, BarrierOp::Or]);
                let ty = if op == BarrierOp::Count { Scalar::U32 } else { Scalar::Bool };
                let op = Op::BarrierReduce(op, self.value(Scalar::Bool));
                self.scalar(op, ty);
            }
            2 => {
                let order = self.order();
                self.b.effect(Op::Fence(order));
            }
            3 => self.shuffle(mask),
            4 => {
                let op = self.random.one_of(&[VoteOp::All, VoteOp::Any, VoteOp::Equal, VoteOp::Ballot]);
                let ty = if op == VoteOp::Ballot { Scalar::U32 } else { Scalar::Bool };
                let op = Op::Vote(op, mask, self.value(Scalar::Bool));
                self.scalar(op, ty);
            }
            5 => {
                let ty = self.random.one_of(&INTEGERS);
                let op = Op::MatchAny(mask, self.value(ty));
                self.scalar(op, Scalar::U32);
            }
            6 => {
                let ty = self.random.one_of(&INTEGERS);
                let op = Op::MatchAll(mask, self.value(ty));
                self.scalar(op, Scalar::U32);
            }
            7 => {
                let ty = self.random.one_of(&INTEGERS[..2]);
                let op = self.random.one_of(&REDUCE);
                let op = Op::Reduce(op, mask, self.value(ty));
                self.scalar(op, ty);
            }
            8 => self.b.effect(Op::SyncWarp(mask)),
            9 => self.scalar(Op::ActiveMask, Scalar::U32),
            10 => self.b.effect(Op::ClusterBarrier),
            11 => {
                let ty = Type::Ptr(Space::Global, Scalar::U32.into());
                self.yields(Op::GridBarrier, ty, Access::ReadWrite);
            }
            12 => self.scalar(Op::Panicked, Scalar::Bool),
            13 => {
                let clock = self.random.one_of(&[Clock::CyclesLow, Clock::Cycles, Clock::Nanoseconds]);
                let ty = if clock == Clock::CyclesLow { Scalar::U32 } else { Scalar::U64 };
                self.scalar(Op::Clock(clock), ty);
            }
            14 => self.b.effect(Op::Breakpoint),
            15 => self.b.effect(Op::Sleep(mask)),
            _ => {
                let number = self.value(Scalar::U64);
                self.b.effect(Op::SetConditional(number, mask));
            }
        }
    }

    fn shuffle(&mut self, mask: Value) {
        let ty = self.random.scalar(|ty| ty.bits() == 32);
        let op = self.random.one_of(&[ShuffleOp::Index, ShuffleOp::Up, ShuffleOp::Down, ShuffleOp::Xor]);
        let width = 1 << self.random.below(6);
        let op = Op::Shuffle(op, width, mask, self.value(ty), self.value(Scalar::U32));
        self.scalar(op, ty);
    }

    /// Operations on 32-bit words.
    pub(super) fn of_words(&mut self) {
        let op = self.random.one_of(&TERNARY);
        let ty = if op == TernaryOp::DotBytes { self.random.one_of(&INTEGERS[..2]) } else { Scalar::U32 };
        let op = Op::Ternary(op, self.value(ty), self.value(ty), self.value(ty));
        self.scalar(op, ty);
    }

    /// A call of a libdevice function, with a local array for its output parameters.
    pub(super) fn math(&mut self) {
        let function = self.random.one_of(LibFn::ALL);
        if self.arrays.is_empty() {
            return;
        }
        let array = Type::Ptr(Space::Local, self.arrays[0].element);
        let own = self.yields(Op::Local(ArrayId(0)), array, Access::ReadWrite);
        let place = |body: &mut Self, ty: Scalar| {
            let there = Type::Ptr(Space::Local, ty.into());
            body.yields(Op::Retype(own, ty.into()), there, Access::ReadWrite)
        };
        let mut arguments = Vec::new();
        for arg in function.args {
            match *arg {
                LibArg::Number(ty) => arguments.push(self.value(ty)),
                LibArg::Slice(ty) => arguments.extend([self.value(Scalar::I32), place(self, ty)]),
            }
        }
        for ty in function.outs {
            arguments.push(place(self, *ty));
        }
        let op = Op::Math(function, arguments);
        match function.result {
            Some(ty) => self.scalar(op, ty),
            None => self.b.effect(op),
        }
    }

    /// Output, or a source location.
    pub(super) fn output(&mut self) {
        if self.random.below(2) == 0 {
            let (location, scope) = (source::location(self.random), source::scope(self.random, self.scopes));
            return self.b.effect(Op::Line(location, scope));
        }
        let (mut format, mut values) = (String::from("100%% \"é\"\n"), Vec::new());
        for _ in 0..self.random.below(5) {
            let (conversion, ty) = self.random.one_of(&CONVERSIONS);
            format.push_str(conversion);
            values.push(self.value(ty));
        }
        self.b.effect(Op::Print(format.into(), values));
    }
}

const ATOMIC: [AtomicOp; 10] = [
    AtomicOp::Add,
    AtomicOp::Sub,
    AtomicOp::Min,
    AtomicOp::Max,
    AtomicOp::And,
    AtomicOp::Or,
    AtomicOp::Xor,
    AtomicOp::Exchange,
    AtomicOp::Inc,
    AtomicOp::Dec,
];
const REDUCE: [ReduceOp; 6] = [ReduceOp::Add, ReduceOp::Min, ReduceOp::Max, ReduceOp::And, ReduceOp::Or, ReduceOp::Xor];
const TERNARY: [TernaryOp; 4] =
    [TernaryOp::BytePerm, TernaryOp::FunnelLeft, TernaryOp::FunnelRight, TernaryOp::DotBytes];
const CONVERSIONS: [(&str, Scalar); 6] = [
    ("%d", Scalar::I32),
    ("%08x", Scalar::U32),
    ("%-20lld", Scalar::I64),
    ("%llu", Scalar::U64),
    ("%.9g", Scalar::F64),
    ("%s", Scalar::Bool),
];
