//! Enums with fields: constructors, patterns, comparisons, and the places that can hold them.

use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, kernel};

use super::differ;

#[derive(Clone, Copy, Debug, DeviceType)]
#[derived(PartialEq, PartialOrd)]
pub(super) enum Shape {
    Empty,
    Circle(f32),
    Rect { width: f32, height: f32 },
    Marked(Option<u8>, (i32, bool)),
}

#[derive(Clone, Copy, DeviceType)]
#[derived(PartialEq, Eq, PartialOrd, Ord)]
enum Either<L, R> {
    Left(L),
    Right(R),
    Neither,
}

#[derive(Clone, Copy, DeviceType)]
enum Wrapped {
    Only([u32; 3]),
}

#[derive(Clone, Copy, DeviceType)]
enum Borrowed<'a> {
    Values(&'a [u32]),
    One(&'a u32),
    Nothing,
}

#[device]
impl Default for Shape {
    fn default() -> Self {
        Self::Rect { width: 2.0, height: 4.0 }
    }
}

#[device]
impl Shape {
    pub(super) fn area(&self) -> f32 {
        match self {
            Self::Empty => 0.0,
            Self::Circle(r) => 3.0 * r * r,
            Self::Rect { width, .. } if *width > 100.0 => -1.0,
            &Self::Rect { width, height: h } => width * h,
            Self::Marked(None, ..) => 0.5,
            Self::Marked(Some(n), (k, true)) => *n as f32 + *k as f32,
            Self::Marked(..) => 0.25,
        }
    }

    fn grow(&mut self, by: f32) {
        match self {
            Shape::Circle(r) => *r += by,
            Shape::Rect { width, height } => {
                *width += by;
                *height *= by;
            }
            Shape::Marked(n, (k, _)) => {
                *n = n.map(|n| n + 1);
                *k -= 1;
            }
            Shape::Empty => *self = Shape::Circle(by),
        }
    }
}

#[device]
impl<L: cuda_jit::typeinfo::ValueType, R: cuda_jit::typeinfo::ValueType> Either<L, R> {
    fn left(self) -> Option<L> {
        match self {
            Self::Left(left) => Some(left),
            Self::Right(_) | Self::Neither => None,
        }
    }

    fn swapped(self) -> Either<R, L> {
        match self {
            Either::Left(left) => Either::Right(left),
            Either::Right(right) => Either::Left(right),
            Either::Neither => Either::Neither,
        }
    }
}

#[derive(Clone, Copy, PartialEq, DeviceType)]
enum Coded {
    Number(u32),
    Pair(u8, i8),
    Nothing,
}

const PAIR: Coded = Coded::Pair(2, -5);
const UNIT: Shape = Shape::Circle(1.0);
const SHAPES: [Shape; 3] = [Shape::Empty, UNIT, Shape::Rect { width: 3.0, height: 5.0 }];

#[device]
pub(super) fn shape(kind: u32, x: f32) -> Shape {
    match kind % 6 {
        0 => Shape::Empty,
        1 => Shape::Circle(x),
        2 => Shape::Rect { height: x, width: x + 1.0 },
        3 => Shape::Marked(None, (kind as i32, x > 3.0)),
        4 => Shape::Marked(Some(kind as u8), (-3, kind > 8)),
        _ => Shape::default(),
    }
}

#[kernel]
fn shapes(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < x.len() {
        let mut of = shape(i as u32, x[i]);
        let mut sum = of.area();
        of.grow(x[i]);
        sum += 10.0 * of.area();
        if let Shape::Circle(r) | Shape::Rect { width: r, .. } = of {
            sum += 100.0 * r;
        }
        let all = [of, shape(i as u32 + 1, x[i]), SHAPES[i % 3]];
        for shape in all {
            sum += 1000.0 * shape.area();
        }
        let pair = (of, Some(all[1]));
        sum += match pair {
            (Shape::Empty, _) => 1.0,
            (Shape::Rect { width: 2.0, .. }, Some(Shape::Rect { .. })) => 2.0,
            (_, Some(Shape::Marked(Some(4 | 10), _))) => 3.0,
            (Shape::Circle(1.0..=3.0), None | Some(_)) => 4.0,
            _ => 5.0,
        };
        let coded = [Coded::Number(3), Coded::Pair(2, -(i as i8)), Coded::Pair(2, -3), Coded::Nothing][i % 4];
        sum += match coded {
            PAIR => 10_000.0,
            Coded::Nothing | Coded::Number(7) => 20_000.0,
            _ => 0.0,
        };
        let Shape::Rect { width, height } = of else {
            out[i] = sum;
            return;
        };
        out[i] = sum + width / height;
    }
}

#[test]
fn enums_with_fields_are_those_of_the_host() {
    let x: Vec<f32> = (0..40).map(|i| i as f32 * 0.5).collect();
    differ!(shapes, (2, 32), [&x[..]], vec![0.0_f32; 40]);
}

mod imported {
    use super::Either::{self, Left as Links, Neither, Right};
    use cuda_jit::device::grid;
    use cuda_jit::kernel;

    #[kernel]
    pub(super) fn generic(x: &[u32], out: &mut [u32]) {
        let i = grid::<1>();
        if i < x.len() {
            let made: Either<u32, i8> = match x[i] % 3 {
                0 => Links(x[i]),
                1 => Right(-3),
                _ => Neither,
            };
            let mut sum = match made.swapped() {
                Links(right) => right as u8 as u32,
                Right(left) => 1000 + left,
                Neither => 7,
            };
            sum += made.left().map_or(5, |left| 10 * left);
            let wrapped = Some(x[i]).map(Either::<u32, bool>::Left).and_then(Either::left);
            sum += wrapped.map(Links::<u32, u8>).map_or(0, |of| matches!(of, Links(4..=9)) as u32);
            sum += Some(Neither)
                .unwrap_or(Right::<u16, u8>(2))
                .swapped()
                .left()
                .map_or(1, |v: u8| v as u32 + (made == Neither) as u32);
            out[i] = sum;
        }
    }
}

use imported::generic;

#[test]
fn generic_enums_and_constructors_as_functions() {
    let x: Vec<u32> = (0..12).collect();
    differ!(generic, (1, 32), [&x[..]], vec![0_u32; 12]);
}

#[kernel]
fn compared(x: &[f32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let mut bits = 0_u32;
        for k in 0..7 {
            let (a, b) = (shape(i as u32, x[i]), shape(k, x[i] + (k % 2) as f32));
            bits = bits.wrapping_mul(2) + (a == b) as u32 + (a < b) as u32 + (a >= b) as u32;
            bits = bits.wrapping_mul(3) + a.partial_cmp(&b).map_or(0, |order| order.is_lt() as u32 + 1);
            let left = if k > 3 { Either::Left(i as u32 % 3) } else { Either::Right(k as u8) };
            let right = if i % 2 == 0 { Either::Left(k) } else { Either::Neither };
            bits = bits.wrapping_mul(5) + (left != right) as u32 + left.cmp(&right).is_gt() as u32 * 2;
            bits += (left.max(right) == left) as u32;
            let results: [Result<u32, f32>; 2] =
                [if k > 2 { Ok(k) } else { Err(x[i]) }, if i > 9 { Ok(4) } else { Err(1.5) }];
            bits = bits.wrapping_mul(7) + (results[0] == results[1]) as u32 + (results[0] < results[1]) as u32;
        }
        out[i] = bits;
    }
}

#[test]
fn variants_are_ordered_before_their_fields() {
    let mut x: Vec<f32> = (0..20).map(|i| i as f32 * 0.5).collect();
    x[7] = f32::NAN;
    differ!(compared, (1, 32), [&x[..]], vec![0_u32; 20]);
}

#[device]
fn total(of: Borrowed<'_>) -> u32 {
    match of {
        Borrowed::Values(values) => values.iter().sum(),
        Borrowed::One(value) => *value,
        Borrowed::Nothing => 0,
    }
}

#[kernel]
fn holding(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let one = i as u32 + 3;
        let of = match i % 3 {
            0 => Borrowed::Values(&x[i..]),
            1 => Borrowed::One(&one),
            _ => Borrowed::Nothing,
        };
        let Wrapped::Only(mut array) = Wrapped::Only([x[i], 2, 3]);
        let kept = Wrapped::Only(array);
        array[1] += 10;
        let Wrapped::Only([first, second, _]) = kept;
        out[i] = total(of) + 1000 * array[1] + 100_000 * (first + second);
    }
}

#[test]
fn fields_are_references_and_arrays() {
    let x: Vec<u32> = (0..12).collect();
    differ!(holding, (1, 32), [&x[..]], vec![0_u32; 12]);
}

#[kernel]
fn passed(of: Shape, other: Either<u32, [u8; 2]>, result: Result<f32, i16>, out: &mut [f32]) {
    out[0] = of.area();
    out[1] = match other {
        Either::Left(n) => n as f32,
        Either::Right([a, b]) => a as f32 + 100.0 * b as f32,
        Either::Neither => -1.0,
    };
    out[2] = result.unwrap_or_else(|e| e as f32);
}

#[test]
fn kernels_take_them_by_value() {
    let shapes =
        [Shape::Empty, Shape::Circle(2.0), Shape::Rect { width: 3.0, height: 4.0 }, Shape::Marked(Some(3), (2, true))];
    let others = [Either::Left(7), Either::Right([5, 6]), Either::Neither, Either::Left(1)];
    for (k, (shape, other)) in shapes.into_iter().zip(others).enumerate() {
        let result = if k % 2 == 0 { Ok(2.5) } else { Err(-(k as i16)) };
        let mut host = [0.0; 3];
        cuda_jit::host::for_each_thread((1, 1), || passed(shape, other, result, &mut host));
        let mut out = super::on_device(&[0.0_f32; 3]);
        passed::launch((1, 1), shape, other, result, &mut out).expect("it launches");
        assert_eq!(super::on_host(&out), host);
    }
}
