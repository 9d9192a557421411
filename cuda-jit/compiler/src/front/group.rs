//! Groups of threads within a warp, tiles of a constant size and the active threads, and access to the shared memory of
//! other blocks of a cluster.
//!
//! The methods of groups take values of any type that can be shuffled; the type is the argument's.

use super::builder::Builder;
use super::function::{Lowering, Result};
use super::types::{Val, group_type};
use crate::kir::{BinaryOp, CompareOp, Op, ReduceOp, Scalar, ShuffleOp, Space, Special, Type, Value};
use crate::libcalls;
use crate::syntax::{Expr, Pos};
use crate::typeinfo::{DeviceFn, GroupOp, Instance, Intrinsic, Memory, Ty};

/// A group's lanes, as a bit mask.
#[derive(Clone, Copy)]
struct Group {
    mask: Value,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A tile of this many neighbouring lanes, and its first lane.
    Tile(u32, Value),
    /// Arbitrary lanes of the warp.
    Coalesced,
}

impl Lowering<'_> {
    /// Lowers `group.method(value, ..)`.
    pub(super) fn group_method(
        &mut self,
        at: Pos,
        intrinsic: Intrinsic,
        receiver: &'static Expr,
        args: &'static [Expr],
        expected: Option<&Ty>,
    ) -> Result<Val> {
        let place = self.place(receiver)?;
        if intrinsic == Intrinsic::MapShared {
            return self.map_shared(at, args);
        }
        let place = self.deref_all(place);
        let receiver = self.build.read(&place);
        let (op, group) = match intrinsic {
            Intrinsic::Tile(op, width) => (op, self.build.tile(width)),
            Intrinsic::Coalesced(op) => (op, Group { mask: receiver.only(), kind: Kind::Coalesced }),
            _ => return Err(self.error(at, "the front end does not know this method; please report this")),
        };
        // The context may determine the type of a literal.
        let same = matches!(op, GroupOp::Shuffle(_) | GroupOp::Reduce(_));
        let value = self.operand(&args[0], expected.filter(|_| same))?;
        let scalar = self.scopes.number(at, &value)?;
        let value = value.only();
        let leaves = match op {
            GroupOp::Shuffle(shuffle) => {
                let rank = self.scalar(&args[1], Scalar::U32)?;
                vec![self.shuffle_in(at, group, shuffle, (value, scalar), rank)?]
            }
            GroupOp::Reduce(reduce) => vec![self.build.reduce_in(group, reduce, value, scalar)],
            GroupOp::MatchAny => {
                let bits = self.build.integer_bits(value, scalar);
                let found = self.build.value(Op::MatchAny(group.mask, bits), Scalar::U32);
                vec![self.ranks(at, group, found)?]
            }
            GroupOp::MatchAll => {
                let bits = self.build.integer_bits(value, scalar);
                let found = self.build.value(Op::MatchAll(group.mask, bits), Scalar::U32);
                let none = self.build.constant(Scalar::U32, 0);
                let same = self.build.compare(CompareOp::Ne, found, none);
                vec![self.ranks(at, group, found)?, same]
            }
        };
        Ok(Val { ty: group_type(op, Ty::Scalar(scalar)), leaves })
    }

    /// Lowers `cluster.map_shared_rank(&array, rank)`: the same array in the shared memory of another block.
    fn map_shared(&mut self, at: Pos, args: &'static [Expr]) -> Result<Val> {
        let Val { mut ty, mut leaves } = self.expr(&args[0], None)?;
        let there = Memory::Write(Space::Cluster);
        let (Ty::Ref(to, memory @ Memory::Write(Space::Shared)) | Ty::Slice(to, memory @ Memory::Write(Space::Shared))) =
            &mut ty
        else {
            let text = "`map_shared_rank` takes a reference to this block's shared memory; this one points elsewhere";
            return Err(self.error(at, text));
        };
        let pointee = to.pointee();
        *memory = there;
        let rank = self.scalar(&args[1], Scalar::U64)?;
        if self.scopes.checks_bounds() {
            let blocks = self.build.special(Special::ClusterRanks);
            let inside = self.build.compare(CompareOp::Lt, rank, blocks);
            self.check(at, inside, "there is no block {0} in a cluster of {1}", &[rank, blocks]);
        }
        let rank = self.build.value(Op::Cast(rank, Scalar::U32), Scalar::U32);
        leaves[0] = self.build.value(Op::MapShared(leaves[0], rank), Type::Ptr(Space::Cluster, pointee));
        Ok(Val { ty, leaves })
    }

    /// Converts a mask of lanes to a mask of ranks in the group.
    fn ranks(&mut self, at: Pos, group: Group, found: Value) -> Result<Value> {
        match group.kind {
            Kind::Tile(32, _) => Ok(found),
            Kind::Tile(_, first) => Ok(self.build.binary_value(BinaryOp::Shr, found, first, Scalar::U32)),
            Kind::Coalesced => self.helper(at, &libcalls::packed::instance(), group, found),
        }
    }

    /// Calls a library function with a group's mask and a number.
    fn helper(&mut self, at: Pos, function: &Instance, group: Group, number: Value) -> Result<Value> {
        let args = [group.mask, number].map(|value| Val::scalar(Scalar::U32, value));
        Ok(self.call_instance(at, function, args.to_vec())?.only())
    }

    fn shuffle_in(
        &mut self,
        at: Pos,
        group: Group,
        op: ShuffleOp,
        (value, scalar): (Value, Scalar),
        rank: Value,
    ) -> Result<Value> {
        let (op, width, lane) = match (group.kind, op) {
            // The hardware would read lanes of the tiles below.
            (Kind::Tile(width, _), ShuffleOp::Xor) => {
                let within = self.build.constant(Scalar::U32, (width - 1).into());
                (op, width, self.build.binary_value(BinaryOp::And, rank, within, Scalar::U32))
            }
            (Kind::Tile(width, _), _) => (op, width, rank),
            (Kind::Coalesced, _) => {
                let function = match op {
                    ShuffleOp::Up => libcalls::lane_up::instance(),
                    ShuffleOp::Down => libcalls::lane_down::instance(),
                    ShuffleOp::Xor => libcalls::lane_xor::instance(),
                    ShuffleOp::Index => libcalls::lane_at::instance(),
                };
                (ShuffleOp::Index, 32, self.helper(at, &function, group, rank)?)
            }
        };
        Ok(self.build.shuffle((op, width), group.mask, value, lane, scalar))
    }
}

impl Builder {
    /// The tile of `width` lanes that contains the thread.
    fn tile(&mut self, width: u32) -> Group {
        let lane = self.value(Op::Special(Special::LaneId), Scalar::U32);
        let tile = self.constant(Scalar::U32, (!(width - 1)).into());
        let first = self.binary_value(BinaryOp::And, lane, tile, Scalar::U32);
        let all = self.constant(Scalar::U32, (u32::MAX >> (32 - width)).into());
        // a full warp's mask must be a constant, which the back end recognises
        let mask = match width {
            32 => all,
            _ => self.binary_value(BinaryOp::Shl, all, first, Scalar::U32),
        };
        Group { mask, kind: Kind::Tile(width, first) }
    }

    /// Reduces the values of a group: with one instruction if there is one, else by a butterfly of shuffles.
    fn reduce_in(&mut self, group: Group, op: BinaryOp, value: Value, scalar: Scalar) -> Value {
        let whole = match op {
            BinaryOp::Min => ReduceOp::Min,
            BinaryOp::Max => ReduceOp::Max,
            _ => ReduceOp::Add,
        };
        match group.kind {
            Kind::Tile(width, _) if width < 32 || scalar.bits() != 32 || !scalar.is_integer() => {
                let (mut sum, mut step) = (value, width / 2);
                while step > 0 {
                    let bits = self.constant(Scalar::U32, step.into());
                    let other = self.shuffle((ShuffleOp::Xor, width), group.mask, sum, bits, scalar);
                    sum = self.binary_value(op, sum, other, scalar);
                    step /= 2;
                }
                sum
            }
            _ => self.value(Op::Reduce(whole, group.mask, value), scalar),
        }
    }
}
