//! Functions of the standard library that make iterators and arrays, under any name.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, kernel};
use std::iter::{self, once as only, repeat_n, successors};

/// Appends a closure's argument to the log of its earlier ones.
#[device]
fn note(log: &mut u32, v: u32) {
    *log = log.wrapping_mul(31).wrapping_add(v.wrapping_add(1));
}

/// A test for each program: its result for each of six numbers, and its log.
macro_rules! sources {
    ($($name:ident($i:ident, $a:ident) $body:block)*) => { $(
        #[test]
        fn $name() {
            #[kernel]
            fn program(out: &mut [u32]) {
                let $i = grid::<1>() as u32;
                let mut $a = 0u32;
                let yielded: u32 = $body;
                let at = grid::<1>();
                out[2 * at] = yielded;
                out[2 * at + 1] = $a;
            }
            differ!(program, (1, 6), [], vec![0u32; 12]);
        }
    )* };
}

sources! {
    an_element_once(i, a) {
        let mut all = iter::once(i + 3).chain(only(7)).chain(std::iter::once::<u32>(i));
        let last = all.next_back().unwrap();
        last * 100 + all.map(|v| { note(&mut a, v); v }).sum::<u32>()
    }
    a_reference_once(i, a) {
        let held = [i, 5];
        let all = iter::once(&held[0]).chain(&held);
        all.inspect(|v| note(&mut a, **v)).sum::<u32>()
    }
    no_element(i, a) {
        let none = iter::empty::<u32>();
        let mut also: u32 = iter::empty().chain(0..i).map(|v: u32| { note(&mut a, v); v }).sum();
        for v in iter::empty::<u32>() {
            also += v;
        }
        also + none.count() as u32 + iter::empty::<f32>().next().is_none() as u32
    }
    repeated(i, a) {
        let mut all = iter::repeat((i, 2u8));
        note(&mut a, all.nth(1000).unwrap().0);
        let sum = all.take(5).rev().enumerate().map(|(k, (v, two))| k as u32 * v + u32::from(two)).sum::<u32>();
        sum + (0..4).zip(iter::repeat(i)).map(|(v, w)| v * w).sum::<u32>()
    }
    repeated_so_often(i, a) {
        let mut all = repeat_n(i + 1, i as usize);
        note(&mut a, all.len() as u32);
        let ends = all.next().unwrap_or(50) + all.next_back().unwrap_or(60) * 3;
        note(&mut a, iter::repeat_n(2.5f32, 3).skip(1).product::<f32>() as u32);
        ends + all.map(|v| v * v).sum::<u32>()
    }
    made_by_a_closure(i, a) {
        let (mut at, mut ends) = (i, 0);
        let mut all = iter::from_fn(|| {
            note(&mut a, at);
            at += 1;
            if at % 4 == 0 { ends += 1; None } else { Some(at) }
        });
        let before = all.by_ref().take(2).fold(0, |all, v| all * 7 + v);
        let rest = all.map(|v| v + 1).sum::<u32>();
        before * 100 + rest * 10 + ends
    }
    successors_of_a_number(i, a) {
        let powers = successors(Some(i + 1), |v| { note(&mut a, *v); v.checked_mul(97) });
        let none = successors(None, |v: &u32| Some(v + 1)).count() as u32;
        powers.skip(1).fold(0u32, |all, v| all.wrapping_mul(3) ^ v) + none
    }
    an_array_of_a_closure(i, a) {
        let squares: [u32; 5] = std::array::from_fn(|k| { note(&mut a, k as u32); k as u32 * i });
        let pairs: [(usize, u32); 3] = std::array::from_fn(|k| (k, squares[k + 1]));
        let none: [u8; 0] = std::array::from_fn(|k| { note(&mut a, 100 + k as u32); k as u8 });
        squares.iter().fold(0, |all, v| all * 7 + v) + pairs[2].1 * pairs[1].0 as u32 + none.len() as u32
    }
    zipped(i, a) {
        let (x, y) = ([i, 5, i * 2], [4u8, 3]);
        let pairs = iter::zip(&x, y).rev().map(|(v, w)| { note(&mut a, *v); v * u32::from(w) }).sum::<u32>();
        pairs + iter::zip(x.iter().skip(1), 0..i).map(|(v, w)| v + w).sum::<u32>()
    }
    replaced_meanwhile(i, a) {
        // known functions of one and two arguments
        let (mut v, mut w) = (i, 9);
        std::mem::swap(&mut v, &mut w);
        note(&mut a, std::mem::replace(&mut v, 3));
        note(&mut a, std::mem::take(&mut w));
        iter::once(v).chain(iter::once(w)).sum()
    }
}

pub(super) mod own {
    use cuda_jit::device;

    /// A function that is not the standard library's.
    #[device]
    pub(in super::super) fn once(v: u32) -> u32 {
        v * 3
    }

    #[device]
    pub(in super::super) fn from_fn<F: FnMut() -> u32>(mut f: F) -> u32 {
        f() + f()
    }

    #[device]
    pub(in super::super) fn successors<F: Fn(u32) -> u32>(v: Option<u32>, f: F) -> u32 {
        v.map_or(8, f)
    }
}

#[test]
fn functions_of_ones_own_with_the_same_names() {
    #[kernel]
    fn program(out: &mut [u32]) {
        use own::{from_fn, once, successors};
        let i = grid::<1>();
        let mut n = i as u32;
        let twice = from_fn(|| {
            n += 1;
            n
        });
        out[i] = once(twice) + successors(n.checked_sub(3), |v| v + 1);
    }
    differ!(program, (1, 4), [], vec![0u32; 4]);
}

#[derive(Clone, Copy, DeviceType)]
struct Held {
    v: u32,
}

#[device]
fn first_of<T: Copy + DeviceType + cuda_jit::ValueType>(v: T, n: usize) -> Option<T> {
    iter::once(v).chain(iter::repeat_n(v, n)).last()
}

#[test]
fn elements_of_types_of_ones_own() {
    #[kernel]
    fn program(out: &mut [u32]) {
        let i = grid::<1>();
        let all: [Held; 3] = std::array::from_fn(|k| Held { v: k as u32 + i as u32 });
        let one = iter::once(Held { v: 5 }).chain(all).map(|held| held.v).sum::<u32>();
        let last = first_of(Held { v: 9 }, i).map_or(0, |held| held.v);
        out[i] = one * 10
            + last
            + iter::successors(
                first_of(all[1], 0),
                |held| if held.v < 40 { Some(Held { v: held.v * 2 + 1 }) } else { None },
            )
            .count() as u32;
    }
    differ!(program, (1, 4), [], vec![0u32; 4]);
}

/// Device functions with these names, each of which multiplies by its number.
#[device]
fn widths<T: Copy, U>(values: &[T]) -> usize {
    values.len() * size_of::<T>() + align_of::<U>() * 100 + size_of::<[U; 3]>() * 1000
}

#[device]
fn size_of_all<T>() -> usize {
    7
}

mod measures {
    use super::*;

    #[device]
    pub(super) fn align_of<T>() -> u32 {
        9
    }
}

#[test]
fn types_are_measured() {
    #[derive(Clone, Copy, DeviceType)]
    struct Pixel {
        _depth: f64,
        _colour: [u8; 3],
    }

    #[kernel]
    fn program(out: &mut [usize]) {
        const N: usize = 5;
        use measures::align_of;
        let i = grid::<1>();
        let own = align_of::<u64>() as usize + size_of_all::<u32>();
        out[i] = match i {
            0 => widths::<_, Pixel>(&[1u16; N]),
            1 => widths::<u8, f32>(&[i as u8; 3]),
            2 => size_of::<Pixel>() + 100 * std::mem::align_of::<Pixel>() + size_of::<&[f32]>() * 10_000,
            _ => own + size_of::<[[u8; N]; 2]>() * 100,
        };
    }
    differ!(program, (1, 4), [], vec![0usize; 4]);
}

macro_rules! numbered {
    ($($name:ident = $number:literal)*) => { $(
        #[device]
        fn $name(v: u32) -> u32 {
            v.wrapping_mul($number)
        }
    )* };
}

numbered! { f1 = 3 f2 = 5 f3 = 7 f4 = 11 f5 = 13 f6 = 17 f7 = 19 f8 = 23 f9 = 29 f10 = 31 f11 = 37 f12 = 41 f13 = 43 }

#[test]
fn many_functions_in_one_kernel() {
    #[kernel]
    fn program(out: &mut [u32]) {
        let i = grid::<1>();
        let v = f1(i as u32) ^ f2(3) ^ f3(4) ^ f4(5) ^ f5(6) ^ f6(7) ^ f7(8) ^ f8(9) ^ f9(1) ^ f10(2) ^ f11(3) ^ f12(4);
        let w = f13(v) ^ iter::once(v).chain(repeat_n(f12(v), 2)).sum::<u32>() ^ f1(v);
        let all: [u32; 3] = std::array::from_fn(|k| f13(k as u32 + w));
        out[i] = {
            // as does a block with its own items
            use super::sources::own::once;
            use std::iter::empty;
            once(all[2]) ^ f2(all[1]) ^ empty::<u32>().chain([all[0]]).sum::<u32>()
        };
    }
    differ!(program, (1, 4), [], vec![0u32; 4]);
}
