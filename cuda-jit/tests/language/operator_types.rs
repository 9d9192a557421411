//! Operators by the types of both operands, also behind references, and operands that are literals.

use std::cmp::Ordering;
use std::num::Wrapping;
use std::ops::{Add, AddAssign, Mul, Shl, Sub};

use super::differ;
use cuda_jit::{DeviceType, device, kernel};

#[derive(Clone, Copy, DeviceType)]
#[operators(Add, Add<&Length> for &Length, Add<f32>, Add<&f32>, AddAssign<f32>, AddAssign<&f32>, Sub<Length> for &Length)]
struct Length(f32);

#[device]
impl Add for Length {
    type Output = Length;
    fn add(self, other: Length) -> Length {
        Length(self.0 + other.0)
    }
}

#[device]
impl Add<&Length> for &Length {
    type Output = Length;
    fn add(self, other: &Length) -> Length {
        Length(self.0 + other.0 + 100.0)
    }
}

#[device]
impl Add<f32> for Length {
    type Output = Length;
    fn add(self, other: f32) -> Length {
        Length(self.0 + other)
    }
}

#[device]
impl Add<&f32> for Length {
    type Output = Length;
    fn add(self, other: &f32) -> Length {
        Length(self.0 + other + 100.0)
    }
}

#[device]
impl AddAssign<f32> for Length {
    fn add_assign(&mut self, other: f32) {
        self.0 += other;
    }
}

#[device]
impl AddAssign<&f32> for Length {
    fn add_assign(&mut self, other: &f32) {
        self.0 += other + 1000.0;
    }
}

#[device]
impl Sub<Length> for &Length {
    type Output = Length;
    fn sub(self, other: Length) -> Length {
        Length(self.0 - other.0 * 3.0)
    }
}

#[kernel]
fn references(x: f32, out: &mut [f32]) {
    let mut a = Length(x);
    let r = &a;
    out[0] = (a + a).0;
    out[1] = (&a + &a).0;
    out[2] = (a + x).0;
    out[3] = (a + &x).0;
    out[4] = (r + r).0;
    out[5] = (r - a).0;
    out[6] = (a + 2.0).0;
    out[9] = (&(r + r) + r).0;
    a += 2.0;
    a += &x;
    out[7] = a.0;
    a += x;
    out[8] = a.0;
}

#[test]
fn operators_of_references_are_others_than_those_of_values() {
    differ!(references, (1, 1), [3.0_f32], [0.0_f32; 10]);
}

#[derive(Clone, Copy, DeviceType)]
#[operators(
    PartialEq<u32>, PartialOrd<u32>, PartialEq<Code> for u32, PartialOrd<Code> for u32, Shl<u32>, Mul<[f32; 2]>, Sub<(u8, f32)>
)]
struct Code(u32);

#[device]
impl PartialEq<u32> for Code {
    fn eq(&self, other: &u32) -> bool {
        self.0 == *other
    }
}

#[device]
impl PartialOrd<u32> for Code {
    fn partial_cmp(&self, other: &u32) -> Option<Ordering> {
        other.partial_cmp(&self.0)
    }
}

#[device]
impl PartialEq<Code> for u32 {
    fn eq(&self, other: &Code) -> bool {
        *self == other.0
    }
}

#[device]
impl PartialOrd<Code> for u32 {
    fn partial_cmp(&self, other: &Code) -> Option<Ordering> {
        self.partial_cmp(&other.0)
    }
}

#[device]
impl Shl<u32> for Code {
    type Output = Code;
    fn shl(self, by: u32) -> Code {
        Code(self.0 << by)
    }
}

#[device]
impl Mul<[f32; 2]> for Code {
    type Output = f32;
    fn mul(self, by: [f32; 2]) -> f32 {
        self.0 as f32 * by[0] - by[1]
    }
}

#[device]
impl Sub<(u8, f32)> for Code {
    type Output = f32;
    fn sub(self, (whole, part): (u8, f32)) -> f32 {
        self.0 as f32 * part - whole as f32
    }
}

#[kernel]
fn literals(x: u32, out: &mut [f32]) {
    let code = Code(x);
    out[0] = (code << 3).0 as f32;
    out[1] = (code << (1 + 2)).0 as f32;
    out[2] = code * [1.5, 2.];
    out[3] = code - (1, 2.5);
    let wrapping = Wrapping(x);
    out[4] = (wrapping << 3).0 as f32;
    out[5] = (wrapping >> 1).0 as f32;
    out[6] = (&wrapping + &wrapping).0 as f32;
}

#[test]
fn literals_have_the_type_that_the_operator_takes() {
    differ!(literals, (1, 1), [3_u32], [0.0_f32; 7]);
}

#[kernel]
fn orders(x: u32, out: &mut [u32]) {
    let code = Code(x);
    out[0] = (code < x + 1) as u32;
    out[1] = (code <= 3) as u32;
    out[2] = (code > x + 1) as u32;
    out[3] = (2 < code) as u32;
    out[4] = (x >= code) as u32;
    out[5] = (code == 3) as u32;
    out[6] = (4 != code) as u32;
}

#[test]
fn values_of_two_types_are_ordered_by_the_types_own_function() {
    differ!(orders, (1, 1), [3_u32], [0_u32; 7]);
}

#[derive(Clone, Copy, DeviceType)]
#[operators(PartialEq<u32>, PartialEq<[u32; 2]>, PartialEq<(u8, f32)>, Add<(u8, u8)>, Add<[f32; 3]>, Add<u32>)]
struct Mark(u32);

#[device]
impl PartialEq<u32> for Mark {
    fn eq(&self, other: &u32) -> bool {
        self.0 == *other
    }
}

#[device]
impl PartialEq<[u32; 2]> for Mark {
    fn eq(&self, other: &[u32; 2]) -> bool {
        self.0 == other[0]
    }
}

#[device]
impl PartialEq<(u8, f32)> for Mark {
    fn eq(&self, other: &(u8, f32)) -> bool {
        self.0 == other.0 as u32 && other.1 == 0.5
    }
}

#[device]
impl Add<(u8, u8)> for Mark {
    type Output = u32;
    fn add(self, other: (u8, u8)) -> u32 {
        self.0 + other.0 as u32 * 10 + other.1 as u32
    }
}

#[device]
impl Add<[f32; 3]> for Mark {
    type Output = f32;
    fn add(self, other: [f32; 3]) -> f32 {
        self.0 as f32 + other[0] * other[1] + other[2]
    }
}

#[device]
impl Add<u32> for Mark {
    type Output = Mark;
    fn add(self, other: u32) -> Mark {
        Mark(self.0 + other)
    }
}

#[kernel]
fn marks(x: u32, out: &mut [f32]) {
    let mark = Mark(x);
    out[0] = (mark == 3) as u32 as f32 + (mark == [3, 4]) as u32 as f32 * 2.0 + (mark != (3, 0.5)) as u32 as f32 * 4.0;
    let (sum, more): (u32, f32) = (mark + (1, 2), mark + [1.5, 2.0, 0.25]);
    out[1] = sum as f32 + more * 100.0 + (mark + 4).0 as f32 * 10_000.0;
}

#[test]
fn a_literal_chooses_the_operator_by_its_shape() {
    for x in [3_u32, 4] {
        differ!(marks, (1, 1), [x], vec![0_f32; 2]);
    }
}
