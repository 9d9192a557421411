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
    Slice: self {} &self {
        cmp contains ends_with first get is_empty is_sorted last len partial_cmp split_at split_first split_last
        starts_with
    } &mut self {
        copy_from_slice fill first_mut get_mut last_mut reverse rotate_left rotate_right sort_unstable split_at_mut
        split_first_mut split_last_mut swap
    }

    /// ndarray's views.
    View: self {
        index_axis_move insert_axis into_slice permuted_axes reversed_axes slice_move split_at
    } &self {
        as_slice column diag dim dot first get index_axis is_empty is_square is_standard_layout last len len_of mean
        ncols ndim nrows product reborrow row shape slice std stride_of strides sum t to_slice var view
    } &mut self {
        as_slice_mut assign column_mut diag_mut fill first_mut get_mut index_axis_mut last_mut row_mut slice_mut swap
        view_mut
    }

    /// `Constant`
    Constant: self {} &self { get } &mut self {}
}
