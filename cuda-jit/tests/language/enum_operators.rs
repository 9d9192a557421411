//! Operators of enums, and unary ones of references.

use std::ops::{Add, AddAssign, BitOr, Index, Mul, Neg, Not, Sub};

use super::differ;
use cuda_jit::{DeviceType, device, kernel};

#[derive(Clone, Copy, Debug, DeviceType, PartialEq, Eq, PartialOrd)]
#[operators(Not, Add<u8>, Add, AddAssign<i32>, Mul for u32, Neg for &Way, Index<usize>, PartialEq<u8>, BitOr)]
#[repr(u8)]
enum Way {
    North,
    East,
    South,
    West,
}

#[device]
fn way(number: u8) -> Way {
    match number % 4 {
        0 => Way::North,
        1 => Way::East,
        2 => Way::South,
        _ => Way::West,
    }
}

#[device]
impl Not for Way {
    type Output = Way;
    fn not(self) -> Way {
        way(self as u8 + 2)
    }
}

#[device]
impl Add<u8> for Way {
    type Output = Way;
    fn add(self, turns: u8) -> Way {
        way(self as u8 + turns)
    }
}

#[device]
impl Add for Way {
    type Output = u32;
    fn add(self, other: Way) -> u32 {
        self as u32 * 10 + other as u32
    }
}

#[device]
impl AddAssign<i32> for Way {
    fn add_assign(&mut self, turns: i32) {
        *self = way((*self as i32 + turns).rem_euclid(4) as u8);
    }
}

#[device]
impl Mul<Way> for u32 {
    type Output = u32;
    fn mul(self, way: Way) -> u32 {
        self * way as u32
    }
}

#[device]
impl Neg for &Way {
    type Output = Way;
    fn neg(self) -> Way {
        !*self + 1
    }
}

#[device]
impl Index<usize> for Way {
    type Output = u32;
    fn index(&self, at: usize) -> &u32 {
        if at == *self as usize { &7 } else { &9 }
    }
}

#[device]
impl PartialEq<u8> for Way {
    fn eq(&self, number: &u8) -> bool {
        *self as u8 == *number
    }
}

#[device]
impl BitOr for Way {
    type Output = Way;
    fn bitor(self, other: Way) -> Way {
        if self > other { self } else { other }
    }
}

#[kernel]
fn ways(number: u8, out: &mut [u32]) {
    let at = way(number);
    out[0] = !at as u32;
    out[1] = (at + 3) as u32;
    out[2] = at + Way::West;
    let mut turned = at;
    turned += -1;
    out[3] = turned as u32;
    out[4] = 5u32 * at;
    out[5] = -&at as u32;
    out[6] = at[1];
    out[7] = at[number as usize];
    out[8] = (at == 2) as u32 + (at == Way::East) as u32 * 2 + (at < Way::South) as u32 * 4 + (at != 3u8) as u32 * 8;
    out[9] = (at
        == match number {
            0 => Way::North,
            _ => Way::East,
        }) as u32;
    out[10] = (at | Way::East) as u32;
    out[11] = (!!at + 1) as u32 + [Way::North, Way::South].contains(&at) as u32 * 8;
}

#[test]
fn an_enum_without_fields_has_the_operators_that_it_lists() {
    for number in 0..5_u8 {
        differ!(ways, (1, 1), [number], vec![0_u32; 12]);
    }
}

#[derive(Clone, Copy, DeviceType)]
#[operators(Neg, Add, Mul<f32>, Sub<&Shape> for &Shape, Neg for &Shape)]
#[derived(PartialEq)]
enum Shape {
    Dot,
    Line(f32),
    Plane { width: f32, height: f32 },
}

#[device]
impl Neg for Shape {
    type Output = Shape;
    fn neg(self) -> Shape {
        match self {
            Shape::Dot => Shape::Dot,
            Shape::Line(length) => Shape::Line(-length),
            Shape::Plane { width, height } => Shape::Plane { width: -width, height: -height },
        }
    }
}

#[device]
impl Neg for &Shape {
    type Output = f32;
    fn neg(self) -> f32 {
        match self {
            Shape::Dot => 0.5,
            Shape::Line(length) => -length,
            Shape::Plane { width, height } => -width - height,
        }
    }
}

#[device]
impl Add for Shape {
    type Output = Shape;
    fn add(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Dot, other) | (other, Shape::Dot) => other,
            (Shape::Line(width), Shape::Line(height)) => Shape::Plane { width, height },
            (first, _) => first,
        }
    }
}

#[device]
impl Mul<f32> for Shape {
    type Output = Shape;
    fn mul(self, by: f32) -> Shape {
        match self {
            Shape::Line(length) => Shape::Line(length * by),
            other => other,
        }
    }
}

#[device]
impl Sub<&Shape> for &Shape {
    type Output = bool;
    fn sub(self, other: &Shape) -> bool {
        *self == *other
    }
}

#[kernel]
fn shapes(x: f32, out: &mut [f32]) {
    let line = Shape::Line(x);
    let negative = -line;
    out[0] = match line + negative {
        Shape::Plane { width, height } => width * 10.0 + height,
        Shape::Line(length) => length,
        Shape::Dot => -7.0,
    };
    out[1] = match line * 2.0 {
        Shape::Line(length) => length,
        _ => 0.0,
    };
    out[2] = (&line - &negative) as u32 as f32;
    out[3] = -&(line + negative);
    out[4] = -&Shape::Dot;
    out[5] = if Shape::Dot + line == line { 3.0 } else { 4.0 };
}

#[test]
fn an_enum_with_fields_has_the_operators_that_it_lists() {
    for x in [-4.0_f32, 0.0, 2.5] {
        differ!(shapes, (1, 1), [x], vec![0_f32; 6]);
    }
}
