//! `bool`.

use crate::device;

/// The methods of `bool`.
#[device(extension)]
impl BoolMethods for bool {
    /// `then`
    fn then<T, F: FnOnce() -> T>(self, f: F) -> Option<T> {
        if self { Some(f()) } else { None }
    }

    /// `then_some`
    fn then_some<T>(self, value: T) -> Option<T> {
        if self { Some(value) } else { None }
    }
}
