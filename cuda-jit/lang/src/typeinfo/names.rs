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

/// Shows what a name means to the witness of its use.
pub const fn is<T>(_: *const T, _: &T) {}

/// The value of a loop or block with a label, for the witness of a use.
///
/// # Panics
///
/// Always: a probe is never run.
pub const fn of<T>(_: *const T) -> T {
    panic!("a probe is never run")
}

/// The number that a witness has seen.
pub const fn number<T: Declared>(_: *const T) -> u32 {
    T::NUMBER
}

/// The slot of a name in a pattern, which has the type of the constant that the name is; else that of the declaration of
/// this number.
#[derive(Clone, Copy, Debug)]
pub struct Slot<T, const NUMBER: u32>(pub *const T);

impl<const NUMBER: u32> Slot<Name<NUMBER>, NUMBER> {
    /// Gives a slot whose type is open that of the declaration.
    pub fn __cuda_jit_declare(self) {}
}

/// Leaves a slot the type of a constant; rustc finds the function of that name above first.
///
/// Nothing unsafe relies on an implementation.
pub trait DeclareConstant: Sized {
    /// Does nothing.
    fn __cuda_jit_declare(self) {}
}

impl<T, const NUMBER: u32> DeclareConstant for Slot<T, NUMBER> {}

/// A use of a name, beside the slot of the pattern that may have it.
#[derive(Debug)]
pub struct Use<'a, T, S>(pub &'a T, pub S);

impl<S, const NUMBER: u32> Use<'_, Name<NUMBER>, S> {
    /// Shows the declaration to the witness of the use.
    pub fn __cuda_jit_means(self, _: *const Name<NUMBER>) {}
}

/// A use of the constant that a pattern has by its name; rustc finds the function of that name above first.
///
/// Nothing unsafe relies on an implementation.
pub trait UseOfConstant: Sized {
    /// The declaration that the pattern stands for.
    type Name;

    /// Shows that to the witness of the use.
    fn __cuda_jit_means(self, _: *const Self::Name)
    where
        Self: IsThePatterns,
    {
    }
}

impl<T, S, const NUMBER: u32> UseOfConstant for Use<'_, T, Slot<S, NUMBER>> {
    type Name = Name<NUMBER>;
}

/// A use that means what the pattern means by that name.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "this name means an item here, and a variable of the same spelling is in scope",
    label = "an item",
    note = "a macro, or an import of all names of a module, has put both in one function: rename one of them"
)]
pub trait IsThePatterns {}

#[diagnostic::do_not_recommend]
impl<T, const NUMBER: u32> IsThePatterns for Use<'_, T, Slot<T, NUMBER>> {}
