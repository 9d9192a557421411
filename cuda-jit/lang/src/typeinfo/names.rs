//! The building blocks of a name probe, in which rustc's name resolution gives each use the number of its declaration.
//!
//! The probe is the body of a constant and is type-checked, but not run: `macros/src/capture/resolution.rs` writes it.

/// The declaration of a binding or label, with its number.
#[derive(Clone, Copy, Debug)]
pub struct Name<const NUMBER: u32>;

/// A declaration.
///
/// Nothing unsafe relies on an implementation: a wrong number only selects another binding of the same function.
#[diagnostic::on_unimplemented(
    message = "this name refers to an item here, and a variable of the same name is in scope",
    label = "an item",
    note = "a macro or a glob import has put both in one function: rename one of them"
)]
pub trait Declared {
    /// Its number.
    const NUMBER: u32;
}

#[diagnostic::do_not_recommend]
impl<const NUMBER: u32> Declared for Name<NUMBER> {
    const NUMBER: u32 = NUMBER;
}

/// Unifies the declaration that a name resolves to with the witness of its use.
pub const fn is<T>(_: *const T, _: &T) {}

/// The value of a loop or labelled block, whose type the witness of a use has.
///
/// # Panics
///
/// Always: a name probe is never run.
pub const fn of<T>(_: *const T) -> T {
    panic!("a probe is never run")
}

/// The number of a witness's declaration.
pub const fn declared_number<T: Declared>(_: *const T) -> u32 {
    T::NUMBER
}

/// The slot of a name in a pattern. Its type is that of the constant that the name resolves to; otherwise it is the
/// declaration with this number.
#[derive(Clone, Copy, Debug)]
pub struct Slot<T, const NUMBER: u32>(pub *const T);

impl<const NUMBER: u32> Slot<Name<NUMBER>, NUMBER> {
    /// Unifies an open slot type with the declaration.
    pub fn __cuda_jit_declare(self) {}
}

/// Leaves a slot the type of a constant; rustc finds the inherent method of that name first.
///
/// Nothing unsafe relies on an implementation.
pub trait DeclareConstant: Sized {
    /// Does nothing.
    fn __cuda_jit_declare(self) {}
}

impl<T, const NUMBER: u32> DeclareConstant for Slot<T, NUMBER> {}

/// A use of a name, beside the slot of the pattern that may declare it.
#[derive(Debug)]
pub struct Use<'a, T, S>(pub &'a T, pub S);

impl<S, const NUMBER: u32> Use<'_, Name<NUMBER>, S> {
    /// Unifies the declaration with the witness of the use.
    pub fn __cuda_jit_means(self, _: *const Name<NUMBER>) {}
}

/// A use of the constant that a pattern names; rustc finds the inherent method of that name first.
///
/// Nothing unsafe relies on an implementation.
pub trait UseOfConstant: Sized {
    /// The declaration of the pattern's binding.
    type Name;

    /// Unifies that declaration with the witness of the use.
    fn __cuda_jit_means(self, _: *const Self::Name)
    where
        Self: IsThePatterns,
    {
    }
}

impl<T, S, const NUMBER: u32> UseOfConstant for Use<'_, T, Slot<S, NUMBER>> {
    type Name = Name<NUMBER>;
}

/// A use that resolves to the same constant as the pattern's name.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "this name refers to an item here, and a variable of the same name is in scope",
    label = "an item",
    note = "a macro or a glob import has put both in one function: rename one of them"
)]
pub trait IsThePatterns {}

#[diagnostic::do_not_recommend]
impl<T, const NUMBER: u32> IsThePatterns for Use<'_, T, Slot<T, NUMBER>> {}
