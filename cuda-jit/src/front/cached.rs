//! Loads and stores with a hint for the caches, of numbers that lie in global memory; others are plain.

use super::function::{Lowering, Result};
use super::place::Place;
use super::types::Val;
use crate::harvest::{Memory, Ty};
use crate::kir::{CacheLoad, CacheStore, Op, Scalar, Space};
use crate::syntax::{Expr, Pos};

impl Lowering<'_> {
    /// Where a reference points.
    fn referred(&mut self, at: Pos, reference: &'static Expr) -> Result<Place> {
        let reference = self.expr(reference, None)?;
        match reference.ty {
            Ty::Ref(..) => {
                let place = self.behind(reference);
                Ok(self.through(place))
            }
            _ => Err(self.error(at, "this is no reference to a number")),
        }
    }

    /// `ldcs(&place)` and its kin.
    pub(super) fn load_cached(&mut self, at: Pos, hint: CacheLoad, of: Scalar, args: &'static [Expr]) -> Result<Val> {
        let place = self.referred(at, &args[0])?;
        match place {
            Place::Memory(_, _, Memory::Write(_)) if hint == CacheLoad::ReadOnly => Ok(self.read(&place)),
            Place::Memory(ptr, _, memory) if memory.space() == Space::Global => {
                Ok(Val::scalar(of, self.build.value(Op::LoadCached(hint, ptr), of)))
            }
            _ => Ok(self.read(&place)),
        }
    }

    /// `stcs(&mut place, value)` and its kin.
    pub(super) fn store_cached(&mut self, at: Pos, hint: CacheStore, of: Scalar, args: &'static [Expr]) -> Result<Val> {
        let place = self.referred(at, &args[0])?;
        let value = self.scalar(&args[1], of)?;
        match place {
            Place::Memory(ptr, _, memory) if memory.space() == Space::Global => {
                self.build.effect(Op::StoreCached(hint, ptr, value));
            }
            _ => self.write(at, &place, Val::scalar(of, value))?,
        }
        Ok(Val::unit())
    }
}
