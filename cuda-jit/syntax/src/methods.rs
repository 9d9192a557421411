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
    /// Numbers, `bool`, short vectors, tuples and `Ordering`.
    Value: self {
        abs abs_diff acos acosh asin asinh atan atan2 atanh cbrt ceil checked_add checked_div checked_mul checked_neg
        checked_rem checked_shl checked_shr checked_sub clamp copysign cos cosh count_ones count_zeros div_ceil
        div_euclid dot exp exp2 exp_m1 floor fract hypot ilog2 is_finite is_infinite         is_nan is_negative is_positive is_power_of_two is_sign_negative is_sign_positive leading_ones
        leading_zeros ln ln_1p log log10 log2 max min mul_add next_power_of_two overflowing_add overflowing_mul
        overflowing_neg overflowing_sub pow powf powi recip rem_euclid reverse_bits rotate_left rotate_right
        round round_ties_even saturating_add saturating_mul saturating_sub signum sin sin_cos sinh sqrt swap_bytes tan
        tanh to_array to_bits to_degrees to_f32 to_f32_const to_f64 to_f64_const to_radians
        trailing_ones trailing_zeros trunc unsigned_abs wrapping_abs wrapping_add wrapping_div wrapping_mul
        wrapping_neg wrapping_pow wrapping_rem wrapping_shl wrapping_shr wrapping_sub
    } &self {
        cmp partial_cmp total_cmp
    } &mut self {}

    /// `Complex`
    Complex: self {
        acos acosh arg asin asinh atan atanh cos cosh exp exp2 expf is_finite is_infinite is_nan ln log log10 log2 norm
        powc powf sin sinh sqrt tan tanh to_polar
    } &self {
        conj inv l1_norm norm_sqr powi powu scale unscale
    } &mut self {}

    /// Slices.
    Slice: self {} &self {
        cmp contains ends_with first get is_empty is_sorted last len partial_cmp split_at split_first split_last
        starts_with
    } &mut self {
        copy_from_slice fill first_mut get_mut last_mut reverse rotate_left rotate_right sort_unstable split_at_mut
        split_first_mut split_last_mut swap
    }

    /// Arrays, beside the methods of slices.
    Array: self { clamp max min } &self { cmp partial_cmp } &mut self {}

    /// `Constant`
    Constant: self {} &self { get } &mut self {}

    /// Structs and enums that are compared.
    Ordered: self { clamp max min } &self { cmp partial_cmp } &mut self {}
}
