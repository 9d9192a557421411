//! The types that a twin tells of its bindings.

use super::Ty;

/// The types that these functions tell.
pub fn tell(types: &[fn() -> Ty]) -> Vec<Ty> {
    types.iter().map(|ty| ty()).collect()
}
