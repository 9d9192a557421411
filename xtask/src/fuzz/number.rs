//! Random arithmetic: the operations of integers and floats of every width whose result is exact.
//!
//! The sign and the bits of a NaN are unspecified, and so is the minimum of two zeros: expressions are written so that their
//! result does not depend on them.

use super::expression::{FLOATS, HALVES, Ty, Writer, is_float, is_half, is_signed};

impl Writer {
    pub(super) fn float(&mut self, ty: Ty, depth: usize) -> String {
        let a = self.expression(ty, depth);
        match self.random.below(13) {
            0..=4 => {
                let op = self.random.of(&["+", "-", "*", "/", "%"]);
                format!("({a} {op} {})", self.expression(ty, depth))
            }
            5 => {
                let methods = ["sqrt", "abs", "floor", "ceil", "trunc", "round", "round_ties_even", "fract", "recip"];
                format!("{a}.{}()", self.random.of(&methods))
            }
            6 => format!("{a}.mul_add({}, {})", self.expression(ty, depth), self.expression(ty, depth)),
            7 => format!("(-{a})"),
            8 => self.smaller_or_larger(ty, &a, depth),
            9 => self.sign(ty, &a, depth),
            10 => format!("{a}.clamp(-{}.5{ty}, {}.0{ty})", self.random.below(50), self.random.below(50)),
            11 => {
                let (bits, shift) = (if ty == "f32" { "u32" } else { "u64" }, self.random.below(20));
                format!(
                    "({{ let w = {a}; {ty}::from_bits(if w.is_nan() {{ 7{bits} }} else {{ w.to_bits() >> {shift}u32 }}) }})"
                )
            }
            _ => self.cast(ty, depth),
        }
    }

    /// The operations of `half`'s types and, where `Float` is in scope, its methods.
    pub(super) fn half(&mut self, ty: Ty, depth: usize) -> String {
        let a = self.expression(ty, depth);
        match self.random.below(11) {
            0..=3 => {
                let op = self.random.of(&["+", "-", "*", "/", "%"]);
                format!("({a} {op} {})", self.expression(ty, depth))
            }
            4 => format!("{a}.{}()", self.random.of(&["sqrt", "abs", "floor", "ceil", "trunc"])),
            5 => format!("{a}.mul_add({}, {})", self.expression(ty, depth), self.expression(ty, depth)),
            6 => format!("(-{a})"),
            7 => self.smaller_or_larger(ty, &a, depth),
            8 => self.sign(ty, &a, depth),
            9 => format!("{a}.clamp({ty}::from_f32(-2.5f32), {ty}::from_f32({}.0f32))", self.random.below(50)),
            _ => self.cast(ty, depth),
        }
    }

    /// A minimum or maximum. Either of two zeros may be the result: adding a zero makes them equal.
    fn smaller_or_larger(&mut self, ty: Ty, a: &str, depth: usize) -> String {
        let zero = if is_half(ty) { format!("{ty}::ZERO") } else { format!("0.0{ty}") };
        let method = self.random.of(&["min", "max"]);
        format!("({a}.{method}({}) + {zero})", self.expression(ty, depth))
    }

    /// The sign of a float that is not NaN.
    fn sign(&mut self, ty: Ty, a: &str, depth: usize) -> String {
        let one = if is_half(ty) { format!("{ty}::ONE") } else { format!("1.0{ty}") };
        let of = self.expression(ty, depth);
        let sign = format!("({{ let s = {of}; if s.is_nan() {{ {one} }} else {{ s }} }})");
        match self.random.below(3) {
            0 => format!("{sign}.signum()"),
            1 => format!(
                "(if {sign}.is_sign_{}() {{ {a} }} else {{ {one} }})",
                self.random.of(&["negative", "positive"])
            ),
            _ => format!("{a}.copysign({sign})"),
        }
    }

    /// `e as T`, or the conversion of half-precision types.
    fn cast(&mut self, ty: Ty, depth: usize) -> String {
        let from = match self.random.below(8) {
            0 if !is_float(ty) && !is_half(ty) => "bool",
            1 => self.random.of(&HALVES),
            2..=3 => self.random.of(&FLOATS),
            _ => self.integer(),
        };
        let value = self.expression(from, depth);
        match (is_half(from), is_half(ty)) {
            (false, false) => format!("({value} as {ty})"),
            // Directly from `f64`, `half` rounds twice.
            (false, true) => format!("{ty}::from_f32({value} as f32)"),
            (true, true) => format!("{ty}::from_f32({value}.to_f32())"),
            (true, false) if ty == "f64" => format!("{value}.to_f64()"),
            (true, false) => format!("({value}.to_f32() as {ty})"),
        }
    }

    pub(super) fn whole(&mut self, ty: Ty, depth: usize) -> String {
        let a = self.expression(ty, depth);
        match self.random.below(20) {
            0..=3 => self.plain(ty, &a, depth),
            4 => self.division(ty, &a, depth),
            5 => {
                let by = self.expression("u32", depth);
                match (self.panic_free, self.random.one_in(8)) {
                    (true, _) => format!("{a}.{}({by})", self.random.of(&["wrapping_shl", "wrapping_shr"])),
                    (_, true) => format!("({a} {} {by})", self.random.of(&["<<", ">>"])),
                    (_, false) => format!("({a} {} ({by} & 7u32))", self.random.of(&["<<", ">>"])),
                }
            }
            6 => {
                let names = [
                    "wrapping_add",
                    "wrapping_sub",
                    "wrapping_mul",
                    "saturating_add",
                    "saturating_sub",
                    "saturating_mul",
                    "min",
                    "max",
                ];
                let name = self.random.of(&names);
                format!("{a}.{name}({})", self.expression(ty, depth))
            }
            7 => {
                let name = self.random.of(&["checked_add", "checked_sub", "checked_mul", "checked_div", "checked_rem"]);
                format!("{a}.{name}({}).unwrap_or({})", self.expression(ty, depth), self.expression(ty, depth))
            }
            8 => {
                let name = self.random.of(&["overflowing_add", "overflowing_sub", "overflowing_mul"]);
                let b = self.expression(ty, depth);
                match self.random.below(3) {
                    0 => format!("({{ let (w, f) = {a}.{name}({b}); if f {{ w }} else {{ !w }} }})"),
                    1 => format!("{a}.overflowing_neg().0"),
                    _ => format!("{a}.{name}({b}).0"),
                }
            }
            9 => {
                let name = self.random.of(&["rotate_left", "rotate_right", "wrapping_shl", "wrapping_shr"]);
                format!("{a}.{name}({})", self.expression("u32", depth))
            }
            10 => {
                let names =
                    ["count_ones", "count_zeros", "leading_zeros", "trailing_zeros", "leading_ones", "trailing_ones"];
                format!("({a}.{}() as {ty})", self.random.of(&names))
            }
            11 => match self.random.below(4) {
                0 => format!("{ty}::from_be_bytes({a}.to_le_bytes())"),
                1 => format!("(({{ let w = {a}.to_be_bytes(); w[w.len() - 1] ^ w[0] }}) as {ty})"),
                _ => format!("{a}.{}()", self.random.of(&["swap_bytes", "reverse_bits", "wrapping_neg", "to_be"])),
            },
            12 => format!("(!{a})"),
            13..=14 if is_signed(ty) => self.of_signed(ty, &a, depth),
            13..=14 => self.of_unsigned(ty, &a, depth),
            15 => {
                let power = self.random.below(4);
                format!(
                    "{a}.{}({power}u32)",
                    if self.panic_free { "wrapping_pow" } else { self.random.of(&["pow", "wrapping_pow"]) }
                )
            }
            16 => {
                let name = self.random.of(&["checked_shl", "checked_shr"]);
                format!("{a}.{name}({}).unwrap_or({})", self.expression("u32", depth), self.expression(ty, 0))
            }
            17 => match self.random.below(3) {
                0 => format!("({a}.abs_diff({}) as {ty})", self.expression(ty, depth)),
                1 => format!("{a}.clamp(3{ty}, {}{ty})", 3 + self.random.below(100)),
                _ => format!("{a}.checked_neg().unwrap_or_default()"),
            },
            18 if ty == "u64" || ty == "i64" => {
                let from = if ty == "u64" { ["u8", "u16", "u32"] } else { ["i8", "u16", "i32"] };
                let from = self.random.of(&from);
                format!("{ty}::from({})", self.expression(from, depth))
            }
            _ => self.cast(ty, depth),
        }
    }

    fn plain(&mut self, ty: Ty, a: &str, depth: usize) -> String {
        let op = self.random.of(&["+", "-", "*", "&", "|", "^"]);
        let b = self.expression(ty, depth);
        match op {
            "+" if self.panic_free => format!("{a}.wrapping_add({b})"),
            "-" if self.panic_free => format!("{a}.wrapping_sub({b})"),
            "*" if self.panic_free => format!("{a}.wrapping_mul({b})"),
            _ => format!("({a} {op} {b})"),
        }
    }

    /// A division, mostly by a nonzero number.
    fn division(&mut self, ty: Ty, a: &str, depth: usize) -> String {
        let by = self.expression(ty, depth);
        let by = if self.random.one_in(8) && !self.panic_free { by } else { format!("({by} | 1{ty})") };
        match self.random.below(6) {
            0..=1 => format!("{a}.{}({by})", self.random.of(&["wrapping_div", "wrapping_rem"])),
            _ if self.panic_free => format!("{a}.wrapping_rem({by})"),
            2 => format!("{a}.rem_euclid({by})"),
            3 => format!("{a}.div_euclid({by})"),
            _ => format!("({a} {} {by})", self.random.of(&["/", "%"])),
        }
    }

    fn of_signed(&mut self, ty: Ty, a: &str, depth: usize) -> String {
        match self.random.below(7) {
            6 => self.mixed(ty, a, "unsigned", depth),
            0 => format!("({a}.unsigned_abs() as {ty})"),
            1 => format!("({a}.{}() as {ty})", self.random.of(&["is_positive", "is_negative"])),
            2 if !self.panic_free => format!("{a}.abs()"),
            3 if !self.panic_free => format!("(-{a})"),
            _ => format!("{a}.{}()", self.random.of(&["wrapping_abs", "signum"])),
        }
    }

    /// A sum or difference with a number of the other signedness.
    fn mixed(&mut self, ty: Ty, a: &str, other: &str, depth: usize) -> String {
        let b = format!("{}.cast_{other}()", self.expression(ty, depth));
        let op = self.random.of(&["add", "sub"]);
        match self.random.below(3) {
            0 => format!("{a}.checked_{op}_{other}({b}).unwrap_or({a})"),
            1 => format!("{a}.saturating_{op}_{other}({b})"),
            _ => format!("{a}.overflowing_{op}_{other}({b}).0"),
        }
    }

    fn of_unsigned(&mut self, ty: Ty, a: &str, depth: usize) -> String {
        match self.random.below(6) {
            4 => self.mixed(ty, a, "signed", depth),
            5 => {
                let method = self.random.of(&["carrying_add", "borrowing_sub"]);
                let (b, carry) = (self.expression(ty, depth), self.expression("bool", depth));
                format!("({{ let (w, f) = {a}.{method}({b}, {carry}); if f {{ w }} else {{ !w }} }})")
            }
            0 => format!("({a}.is_power_of_two() as {ty})"),
            1 => format!("({a} >> 1u32).next_power_of_two()"),
            2 => format!("(({a} | 1{ty}).ilog2() as {ty})"),
            _ => format!("{a}.div_ceil({} | 1{ty})", self.expression(ty, depth)),
        }
    }
}
