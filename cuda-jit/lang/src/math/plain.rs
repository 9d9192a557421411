//! Methods of floats that Rust defines by other operations, implemented by their definitions.

macro_rules! plain {
    ($($ty:ident)*) => { $(
        pub(crate) mod $ty {
            use crate::device;

            const DEGREES: $ty = (180.0f64 / std::f64::consts::PI) as $ty;
            const RADIANS: $ty = std::$ty::consts::PI / 180.0;

            /// The nearest integer, ties away from zero.
            #[device]
            pub(crate) fn round(x: $ty) -> $ty {
                let whole = x.trunc();
                if (x - whole).abs() >= 0.5 { whole + (1.0 as $ty).copysign(x) } else { whole }
            }

            #[device]
            pub(crate) fn powi(x: $ty, n: i32) -> $ty {
                let mut left = n.unsigned_abs();
                let mut square = x;
                let mut power = 1.0 as $ty;
                loop {
                    if left & 1 == 1 {
                        power *= square;
                    }
                    left >>= 1;
                    if left == 0 {
                        break;
                    }
                    square *= square;
                }
                if n < 0 { 1.0 / power } else { power }
            }

            #[device]
            pub(crate) fn rem_euclid(x: $ty, y: $ty) -> $ty {
                let rest = x % y;
                if rest < 0.0 { rest + y.abs() } else { rest }
            }

            #[device]
            pub(crate) fn div_euclid(x: $ty, y: $ty) -> $ty {
                let quotient = (x / y).trunc();
                if x % y < 0.0 {
                    return if y > 0.0 { quotient - 1.0 } else { quotient + 1.0 };
                }
                quotient
            }

            #[device]
            pub(crate) fn to_degrees(x: $ty) -> $ty {
                x * DEGREES
            }

            #[device]
            pub(crate) fn to_radians(x: $ty) -> $ty {
                x * RADIANS
            }
        }
    )* };
}

plain! { f32 f64 }
