//! Device functions that a call names by a path.
//!
//! The path names a function as a value, and the type beside it. A function of one's own hides one that a glob brings, but not the
//! type beside that: then the two are of different functions.
//!
//! # Safety
//!
//! There is no unsafe code but the promise that the compiler is told the truth about the function here.

use std::any::type_name;
use std::marker::PhantomData;

use super::{Body, DeviceFn, Instance};

/// The device function `F`, by a path that names the function value `V`.
#[derive(Debug)]
pub struct ByPath<F, V>(PhantomData<(F, V)>);

// SAFETY: the instance is `F`'s, or none at all.
#[diagnostic::do_not_recommend]
unsafe impl<F: DeviceFn, V> DeviceFn for ByPath<F, V> {
    type Args = F::Args;
    type Output = F::Output;

    fn instance() -> Instance {
        let (function, value) = (item(type_name::<F>()), item(type_name::<V>()));
        if function == value {
            return F::instance();
        }
        Instance { body: Body::Another(value), generics: Vec::new() }
    }
}

/// An item's path without its generic arguments. A function and the type beside it have the same: rustc writes where an item stands,
/// whatever path named it.
fn item(name: &str) -> &str {
    let mut depth = 0;
    if !name.ends_with('>') {
        return name;
    }
    for (at, char) in name.char_indices().rev() {
        match char {
            '>' if !name[..at].ends_with('-') => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &name[..at];
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The path of an item, of a value's type.
    fn of<V>(_: V) -> &'static str {
        item(type_name::<V>())
    }

    #[derive(Debug)]
    struct Beside<T>(T);

    fn function<F: Fn(u8) -> Beside<u8>, const N: usize>(_: F) {}

    #[test]
    fn generic_arguments_are_no_part_of_a_path() {
        let here = module_path!();
        assert_eq!(of(function::<fn(u8) -> Beside<u8>, 3>), format!("{here}::function"));
        assert_eq!(of(Beside(Beside(|_: u8| 1))), format!("{here}::Beside"));
        assert_eq!(of(of::<Beside<fn() -> u8>>), format!("{here}::of"));
        assert_eq!(item("<a::B<u8> as c::D>::e::f<g::H<i>>"), "<a::B<u8> as c::D>::e::f");
    }
}
