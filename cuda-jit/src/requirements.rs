//! The properties of a launch that the proof of a `race_free` kernel relies on.
//!
//! They are numbers, which the compiler determined and a bundle keeps; without the compiler, launches check them too.

use crate::error::{Error, Result};

/// The properties of a launch that a proof relies on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requirements {
    /// The axes along which the grid and then the block have extent 1.
    single: [bool; 6],
    /// Sums that must not exceed a limit.
    bounds: Vec<Bound>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Bound {
    limit: u64,
    /// The products: a number, and factors by their [`cell`](Factor).
    terms: Vec<(u64, Vec<Factor>)>,
}

/// A factor: an extent of the grid (0 to 2) or block (3 to 5), or from 6 on a parameter.
type Factor = u64;

const PARAMETERS: u64 = 6;

impl Requirements {
    /// The compiler's requirements.
    #[cfg(feature = "compiler")]
    pub(crate) fn of(requirements: &crate::races::Requirements) -> Self {
        use crate::races;
        let factor = |factor: &races::Factor| match *factor {
            races::Factor::GridDim(axis) => axis as u64,
            races::Factor::BlockDim(axis) => axis as u64 + 3,
            races::Factor::Param(index) => index as u64 + PARAMETERS,
        };
        let terms = |bound: &races::Bound| {
            bound.terms.iter().map(|(number, factors)| (*number, factors.iter().map(factor).collect())).collect()
        };
        let bounds =
            requirements.bounds.iter().map(|bound| Bound { limit: bound.limit, terms: terms(bound) }).collect();
        Requirements { single: requirements.single, bounds }
    }

    /// Refuses a launch with the wrong extents, before its arguments are bound.
    pub(crate) fn check_extents(&self, kernel: &str, grid: [u32; 3], block: [u32; 3]) -> Result<()> {
        refused(kernel, self.wrong_extent(dims(grid, block)))
    }

    /// Refuses a launch with sizes that are too large; `param` returns a parameter's value.
    pub(crate) fn check_sizes(
        &self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        param: &dyn Fn(usize) -> Option<u128>,
    ) -> Result<()> {
        refused(kernel, self.too_large(dims(grid, block), param))
    }

    /// As [`check_sizes`](Self::check_sizes), as far as the parameters' values are known.
    pub(crate) fn check_known_sizes(
        &self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        param: &dyn Fn(usize) -> Option<u128>,
    ) -> Result<()> {
        let is_known = |bound: &&Bound| {
            let mut factors = bound.terms.iter().flat_map(|(_, factors)| factors);
            factors.all(|factor| *factor < PARAMETERS || param((*factor - PARAMETERS) as usize).is_some())
        };
        let bounds = self.bounds.iter().filter(is_known).cloned().collect();
        let known = Requirements { single: self.single, bounds };
        refused(kernel, known.too_large(dims(grid, block), param))
    }

    /// The first extent that must be 1 and is not.
    fn wrong_extent(&self, dims: [u32; 6]) -> Option<String> {
        for (index, axis) in ["x", "y", "z", "x", "y", "z"].into_iter().enumerate() {
            if self.single[index] && dims[index] != 1 {
                let (what, position) = if index < 3 { ("grid", "block's index") } else { ("block", "thread's index") };
                return Some(format!(
                    "its accesses do not depend on the {position} along {axis}, so the {what}'s extent along {axis} must be 1 \
                     and not {}",
                    dims[index]
                ));
            }
        }
        None
    }

    /// The reason if a bound does not hold.
    fn too_large(&self, dims: [u32; 6], param: &dyn Fn(usize) -> Option<u128>) -> Option<String> {
        let value = |factor: &Factor| match usize::try_from(*factor).ok()? {
            index @ 0..=5 => Some(u128::from(dims[index])),
            index => param(index - PARAMETERS as usize),
        };
        for Bound { limit, terms } in &self.bounds {
            let sum = terms.iter().try_fold(0_u128, |sum, (number, factors)| {
                let product = factors
                    .iter()
                    .try_fold(u128::from(*number), |product, factor| Some(product.saturating_mul(value(factor)?)));
                Some(sum.saturating_add(product?))
            });
            if sum.is_none_or(|sum| sum > u128::from(*limit)) {
                return Some("its sizes are so large that an index could wrap around".to_owned());
            }
        }
        None
    }

    /// The requirements as numbers.
    #[cfg(all(feature = "bundle", feature = "compiler"))]
    pub(crate) fn cells(&self) -> Vec<u64> {
        let mut cells: Vec<u64> = self.single.map(u64::from).to_vec();
        for Bound { limit, terms } in &self.bounds {
            cells.extend([*limit, terms.len() as u64]);
            for (number, factors) in terms {
                cells.extend([*number, factors.len() as u64]);
                cells.extend(factors);
            }
        }
        cells
    }

    /// The requirements of [`cells`](Self::cells); `None` if the numbers are no requirements.
    #[cfg(feature = "bundle")]
    pub(crate) fn from_cells(cells: &[u64]) -> Option<Self> {
        let mut rest = cells.iter().copied();
        let mut single = [false; 6];
        for axis in &mut single {
            *axis = rest.next()? == 1;
        }
        let mut bounds = Vec::new();
        while let Some(limit) = rest.next() {
            let mut terms = Vec::new();
            for _ in 0..rest.next()? {
                let (number, count) = (rest.next()?, rest.next()?);
                let factors = (0..count).map(|_| rest.next()).collect::<Option<Vec<_>>>()?;
                terms.push((number, factors));
            }
            bounds.push(Bound { limit, terms });
        }
        Some(Requirements { single, bounds })
    }
}

fn dims(grid: [u32; 3], block: [u32; 3]) -> [u32; 6] {
    [grid[0], grid[1], grid[2], block[0], block[1], block[2]]
}

fn refused(kernel: &str, reason: Option<String>) -> Result<()> {
    match reason {
        Some(reason) => Err(Error::NotRaceFree { kernel: kernel.to_owned(), reason }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requirements() -> Requirements {
        let bounds = vec![Bound { limit: 1000, terms: vec![(2, vec![6, 0]), (1, vec![])] }];
        Requirements { single: [false, true, true, false, true, true], bounds }
    }

    #[test]
    fn extents_that_the_kernel_does_not_ask_for_must_be_one() {
        let violated = |dims| requirements().wrong_extent(dims);
        assert_eq!(violated([9, 1, 1, 32, 1, 1]), None);
        let reason = violated([9, 2, 1, 32, 1, 1]).unwrap();
        assert!(reason.ends_with("the grid's extent along y must be 1 and not 2"), "{reason}");
        let reason = violated([9, 1, 1, 32, 1, 4]).unwrap();
        assert!(reason.ends_with("the block's extent along z must be 1 and not 4"), "{reason}");
    }

    #[test]
    fn sizes_must_be_within_their_bounds() {
        let violated = |grid, param| requirements().too_large([grid, 1, 1, 1, 1, 1], &|_| param);
        assert_eq!(violated(10, Some(49)), None);
        assert!(violated(10, Some(50)).is_some());
        assert!(violated(10, Some(u128::MAX)).is_some());
        assert!(violated(10, None).is_some());
    }

    #[cfg(all(feature = "bundle", feature = "compiler"))]
    #[test]
    fn the_numbers_of_requirements_are_read_back() {
        let cells = requirements().cells();
        assert_eq!(Requirements::from_cells(&cells), Some(requirements()));
        assert_eq!(Requirements::from_cells(&cells[..cells.len() - 1]), None);
        assert_eq!(Requirements::from_cells(&[1; 5]), None);
    }
}
