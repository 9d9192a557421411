//! The parts of a probe of names: rustc's own resolution gives each use the number of the declaration that it means.
//!
//! The probe is the body of a constant and is typed, but not run: `macros/src/capture/resolution.rs` writes it.

/// The declaration of a binding or label, by its number.
#[derive(Clone, Copy, Debug)]
pub struct Name<const NUMBER: u32>;

/// A declaration.
///
/// Nothing unsafe relies on an implementation: a wrong number is another binding of the same function.
#[diagnostic::on_unimplemented(
    message = "this name means an item here, and a variable of the same spelling is in scope",
    label = "an item",
    note = "a macro, or an import of all names of a module, has put both in one function: rename one of them"
)]
pub trait Declared {
    /// Its number.
    const NUMBER: u32;
}

#[diagnostic::do_not_recommend]
impl<const NUMBER: u32> Declared for Name<NUMBER> {
    const NUMBER: u32 = NUMBER;
}

/// Shows what a name means to the observer of its use.
pub const fn is<T>(_: *const T, _: &T) {}

/// The value of a loop or block with a label, for the observer of a use.
///
/// # Panics
///
/// Always: a probe is never run.
pub const fn of<T>(_: *const T) -> T {
    panic!("a probe is never run")
}

/// The number that an observer has seen.
pub const fn number<T: Declared>(_: *const T) -> u32 {
    T::NUMBER
}
