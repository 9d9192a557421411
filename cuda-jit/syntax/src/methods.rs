//! The methods that the device language has of its own: the types that have them, and their receivers.
//!
//! A receiver is that of the standard library's, `half`'s, num-complex's or ndarray's method, since rustc looks for methods by it.

/// Types that have the same methods.
#[derive(Debug)]
pub struct Class {
    /// Their name here.
    pub name: &'static str,
    /// The methods that take `self`.
    pub by_value: &'static [&'static str],
    /// The methods that take `&self`.
    pub by_ref: &'static [&'static str],
    /// The methods that take `&mut self`.
    pub by_mut: &'static [&'static str],
}

/// Returns true if the language has a method of this name.
#[must_use]
pub fn is_method(name: &str) -> bool {
    CLASSES.iter().any(|class| [class.by_value, class.by_ref, class.by_mut].iter().any(|names| names.contains(&name)))
}

macro_rules! classes {
    ($($(#[doc = $doc:literal])* $name:ident: self { $($value:ident)* } &self { $($shared:ident)* } &mut self { $($unique:ident)* })*) => {
        /// All classes:
        $($(#[doc = concat!("- ", $doc)])*)*
        pub const CLASSES: &[Class] = &[$(
            Class {
                name: stringify!($name),
                by_value: &[$(stringify!($value)),*],
                by_ref: &[$(stringify!($shared)),*],
                by_mut: &[$(stringify!($unique)),*],
            },
        )*];
    };
}

classes! {
    /// Slices.
    Slice: self {} &self { cmp partial_cmp } &mut self {}
}
