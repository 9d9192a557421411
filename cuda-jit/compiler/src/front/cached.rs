//! Loads and stores with a cache hint, of numbers and vectors in global memory; accesses to other memory are plain.

use super::builder::Builder;
use super::function::{Lowering, Result};
use super::place::Place;
use super::types::Val;
use crate::kir::{BinaryOp, CacheLoad, CacheStore, Op, Pointee, Scalar, Space, Type, Value};
use crate::syntax::{Expr, Pos};
use crate::typeinfo::{Intrinsic, Memory, Ty};

/// The largest number of bytes that one instruction transfers.
const MOST: usize = 16;

impl Lowering<'_> {
    /// The place that a reference points to.
    fn referent(&mut self, at: Pos, reference: &'static Expr) -> Result<Place> {
        let reference = self.expr(reference, None)?;
        match reference.ty {
            Ty::Ref(..) => {
                let place = self.pointee_place(reference);
                Ok(self.deref_all(place))
            }
            _ => Err(self.error(at, "this is no reference to a number")),
        }
    }

    /// Lowers `ldcs(&place)`, `stcs(&mut place, value)` and the like.
    pub(super) fn cached(&mut self, at: Pos, intrinsic: Intrinsic, of: &Ty, args: &'static [Expr]) -> Result<Val> {
        let place = self.referent(at, &args[0])?;
        if !place.ty().fits(of) {
            return Err(self.error(at, "the reference is to another type than the one that this function accesses"));
        }
        match intrinsic {
            Intrinsic::LoadCached(hint) => Ok(self.build.load_cached(hint, of, &place)),
            Intrinsic::StoreCached(hint) => {
                let value = self.expr_as(&args[1], of)?;
                self.store_cached(at, hint, &place, value)?;
                Ok(Val::unit())
            }
            _ => Err(self.error(at, "this is no load or store; please report this")),
        }
    }

    fn store_cached(&mut self, at: Pos, hint: CacheStore, place: &Place, value: Val) -> Result<()> {
        let ptr = match *place {
            Place::Memory(ptr, _, ref memory) if memory.space() == Space::Global => ptr,
            _ => return self.write(at, place, value),
        };
        let leaves = match value.ty.packed() {
            Some(pair) => vec![self.build.pack(&value, pair)],
            None => value.leaves,
        };
        let mut rest = &leaves[..];
        for Part { offset, scalar, count } in parts(&value.ty) {
            let ptr = self.build.number_at(ptr, &value.ty, offset, scalar);
            let (these, others) = rest.split_at(count);
            rest = others;
            if scalar.bits() > 64 {
                self.build.store_halves(hint, ptr, these[0], scalar);
                continue;
            }
            self.build.effect(match these {
                [one] => Op::StoreCached(hint, ptr, *one),
                _ => Op::StoreCachedAll(hint, ptr, these.to_vec()),
            });
        }
        Ok(())
    }
}

impl Builder {
    fn load_cached(&mut self, hint: CacheLoad, of: &Ty, place: &Place) -> Val {
        let ptr = match *place {
            Place::Memory(_, _, Memory::Write(_)) if hint == CacheLoad::ReadOnly => return self.read(place),
            Place::Memory(ptr, _, ref memory) if memory.space() == Space::Global => ptr,
            _ => return self.read(place),
        };
        let mut leaves = Vec::new();
        for Part { offset, scalar, count } in parts(of) {
            let ptr = self.number_at(ptr, of, offset, scalar);
            match count {
                1 if scalar.bits() > 64 => leaves.push(self.load_halves(hint, ptr, scalar)),
                1 => leaves.push(self.value(Op::LoadCached(hint, ptr), scalar)),
                _ => {
                    let slots: Vec<_> = (0..count).map(|_| self.slot("lane", scalar)).collect();
                    self.effect(Op::LoadCachedAll(hint, ptr, slots.clone()));
                    leaves.extend(slots.into_iter().map(|slot| self.value(Op::Get(slot), scalar)));
                }
            }
        }
        if let Some(pair) = of.packed() {
            leaves = self.unpack(leaves[0], pair);
        }
        Val { ty: of.clone(), leaves }
    }

    /// Casts a pointer to a 128-bit number to one to its halves, which one instruction transfers together.
    fn halves_pointer(&mut self, ptr: Value) -> Value {
        let half = Pointee::Scalar(Scalar::U64);
        self.value(Op::Retype(ptr, half), Type::Ptr(Space::Global, half))
    }

    fn load_halves(&mut self, hint: CacheLoad, ptr: Value, scalar: Scalar) -> Value {
        let (ptr, wide) = (self.halves_pointer(ptr), Scalar::U128);
        let slots = ["low", "high"].map(|name| self.slot(name, Scalar::U64));
        self.effect(Op::LoadCachedAll(hint, ptr, slots.to_vec()));
        let [low, high] = slots.map(|slot| {
            let half = self.value(Op::Get(slot), Scalar::U64);
            self.cast_value(half, Scalar::U64, wide)
        });
        let width = self.constant(wide, 64);
        let high = self.binary_value(BinaryOp::Shl, high, width, wide);
        let number = self.binary_value(BinaryOp::Or, high, low, wide);
        self.cast_value(number, wide, scalar)
    }

    fn store_halves(&mut self, hint: CacheStore, ptr: Value, value: Value, scalar: Scalar) {
        let (ptr, wide) = (self.halves_pointer(ptr), Scalar::U128);
        let (number, width) = (self.cast_value(value, scalar, wide), self.constant(wide, 64));
        let high = self.binary_value(BinaryOp::Shr, number, width, wide);
        let halves = [number, high].map(|half| self.cast_value(half, wide, Scalar::U64));
        self.effect(Op::StoreCachedAll(hint, ptr, halves.to_vec()));
    }

    /// Returns the address of a number in the number or vector behind a pointer.
    fn number_at(&mut self, ptr: Value, of: &Ty, offset: u32, scalar: Scalar) -> Value {
        match of {
            Ty::Scalar(_) => ptr,
            _ => self.part_at(ptr, Space::Global, offset, &Ty::Scalar(scalar)),
        }
    }
}

/// The part of a number or vector that one instruction transfers: its byte offset, its element type and count.
struct Part {
    offset: u32,
    scalar: Scalar,
    count: usize,
}

/// Splits a type into transfers. A vector of three has the alignment of its elements, so that each is transferred by
/// itself.
fn parts(of: &Ty) -> Vec<Part> {
    let (scalar, count) = match (of, of.packed(), of.lanes()) {
        (&Ty::Scalar(number), ..) | (_, Some(number), _) => (number, 1),
        (_, None, number) => (number.unwrap_or(Scalar::U32), of.fields().len()),
    };
    let bytes = scalar.bytes() as usize;
    let each = if count == 3 { 1 } else { count.min(MOST / bytes) };
    (0..count).step_by(each).map(|first| Part { offset: (first * bytes) as u32, scalar, count: each }).collect()
}
