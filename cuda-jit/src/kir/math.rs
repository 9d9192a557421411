//! The mathematical functions that KIR calls by name: libdevice's, on `f32` and `f64`.
//!
//! What each computes, and how exactly, is in [libdevice's manual](https://docs.nvidia.com/cuda/libdevice-users-guide/).
//! Invariant: for every entry libdevice has both `__nv_NAMEf` and `__nv_NAME`.

use super::Scalar;

/// What a function takes and yields, where `T` is the float type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `fn(T) -> T`
    One,
    /// `fn(T, T) -> T`
    Two,
}

/// A function of libdevice, for both float types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MathFn {
    /// libdevice's name, without `__nv_` and without the type's letter.
    pub name: &'static str,
    /// Its signature.
    pub shape: Shape,
}

impl MathFn {
    /// Every function.
    pub const ALL: &'static [MathFn] = &[
        one("acos"),
        one("acosh"),
        one("asin"),
        one("asinh"),
        one("atan"),
        two("atan2"),
        one("atanh"),
        one("cbrt"),
        one("cos"),
        one("cosh"),
        one("exp"),
        one("exp2"),
        one("expm1"),
        two("hypot"),
        one("log"),
        one("log10"),
        one("log1p"),
        one("log2"),
        two("pow"),
        one("sin"),
        one("sinh"),
        one("tan"),
        one("tanh"),
    ];

    /// The function of that name.
    pub fn find(name: &str) -> Option<MathFn> {
        MathFn::ALL.iter().copied().find(|function| function.name == name)
    }

    /// How many values it takes.
    pub fn arity(self) -> usize {
        match self.shape {
            Shape::One => 1,
            Shape::Two => 2,
        }
    }

    /// Its symbol in libdevice.
    pub fn symbol(self, ty: Scalar) -> String {
        let letter = if ty == Scalar::F32 { "f" } else { "" };
        format!("__nv_{}{letter}", self.name)
    }
}

const fn one(name: &'static str) -> MathFn {
    MathFn { name, shape: Shape::One }
}

const fn two(name: &'static str) -> MathFn {
    MathFn { name, shape: Shape::Two }
}
