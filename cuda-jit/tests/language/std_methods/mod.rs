//! Each method of the standard library that kernels have, against the real one on the host: a test of the method's name, whose
//! kernel calls it on numbers that proptest generates for each thread. A log takes the arguments of closures in the order of
//! their calls, what the method returns, and what it leaves in its operands.

#![expect(unused_mut, unused_variables, reason = "the methods of a type have the same operands")]

mod book;
mod boolean;
mod comparison;
mod consumer;
mod control_flow;
mod float;
mod integer;
mod option;
mod ordering;
mod panicking;
mod range;
mod result;
mod slice;
mod source;
mod text;
mod view;
mod wrapping;

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::typeinfo::DeviceType;
use cuda_jit::{Integer, Num, device, kernel};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cmp::Ordering;

/// The numbers of a thread.
const WIDTH: usize = 6;
/// The most threads of a launch.
const THREADS: usize = 96;

/// Appends a word to a log.
#[device]
fn append(log: &mut u64, word: u64) {
    *log = (*log ^ word).wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9).rotate_left(23);
}

/// A value that is made of a random number, from few that are often equal.
#[device]
trait Made {
    fn made(v: u64) -> Self;
}

macro_rules! made {
    ($(($ty:ty) |$v:ident| $value:expr;)*) => { $(
        #[device]
        impl Made for $ty {
            fn made($v: u64) -> $ty {
                $value
            }
        }
    )* };
}
use made;

made! {
    (u8) |v| drawn::<u8>(v, v >> 9);
    (i32) |v| drawn::<i32>(v, v >> 9);
    (u64) |v| drawn::<u64>(v, v >> 9);
    (i128) |v| drawn::<i128>(v, v >> 9);
    (usize) |v| drawn::<usize>(v, v >> 9);
    (bool) |v| v % 2 == 0;
    (char) |v| match v % 4 { 0 => '\u{D7FF}', 1 => '\u{E000}', _ => (97 + (v >> 9) as u8 % 3) as char };
    ((u16, i8)) |v| ((v % 2) as u16, (v % 5) as i8 - 2);
    ([u32; 2]) |v| [(v % 2) as u32, (v % 3) as u32];
    (Option<i32>) |v| if v % 3 == 0 { None } else { Some((v % 5) as i32 - 2) };
    (Option<(bool, u8)>) |v| if v % 3 == 0 { None } else { Some((v % 2 == 0, (v % 5) as u8)) };
    (Result<u32, i32>) |v| if v % 3 == 0 { Err((v % 5) as i32 - 2) } else { Ok((v % 4) as u32) };
    (Ordering) |v| match v % 3 { 0 => Ordering::Less, 1 => Ordering::Equal, _ => Ordering::Greater };
    (f32) |v| match v % 6 {
        0 => [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, 1e-40, f32::MAX][(v >> 9) as usize % 8],
        1 | 2 => ((v >> 9) % 41) as f32 * 0.5 - 10.0,
        3 => ((v >> 9) % 4001) as f32 / 137.0,
        _ => f32::from_bits((v >> 9) as u32),
    };
    (f64) |v| match v % 6 {
        0 => [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, 1e-310, f64::MAX][(v >> 9) as usize % 8],
        1 | 2 => ((v >> 9) % 41) as f64 * 0.5 - 10.0,
        3 => ((v >> 9) % 4001) as f64 / 137.0,
        _ => f64::from_bits(v.rotate_left(20)),
    };
}

/// A value that a log takes.
#[device]
trait Noted: DeviceType {
    fn noted(&self, log: &mut u64);
}

/// Appends a value to a log.
#[device]
fn note<T: Noted>(log: &mut u64, value: T) {
    value.noted(log);
}

macro_rules! noted {
    ($($($parameter:ident)? ($ty:ty) |$value:ident, $log:ident| $append:expr;)*) => { $(
        #[device]
        impl$(<$parameter: Noted>)? Noted for $ty {
            fn noted(&self, $log: &mut u64) {
                let $value = *self;
                $append
            }
        }
    )* };
}

use noted;

noted! {
    (()) |v, log| append(log, 1);
    (bool) |v, log| append(log, v as u64);
    (u8) |v, log| append(log, v as u64);
    (u16) |v, log| append(log, v as u64);
    (u32) |v, log| append(log, v as u64);
    (u64) |v, log| append(log, v);
    (usize) |v, log| append(log, v as u64);
    (i8) |v, log| append(log, v as u64);
    (i16) |v, log| append(log, v as u64);
    (i32) |v, log| append(log, v as u64);
    (i64) |v, log| append(log, v as u64);
    (isize) |v, log| append(log, v as u64);
    (char) |v, log| append(log, v as u64);
    (u128) |v, log| { append(log, v as u64); append(log, (v >> 64) as u64) };
    (i128) |v, log| { append(log, v as u64); append(log, (v >> 64) as u64) };
    (f32) |v, log| append(log, if v.is_nan() { 1 } else { v.to_bits() as u64 });
    (f64) |v, log| append(log, if v.is_nan() { 1 } else { v.to_bits() });
    (Ordering) |v, log| append(log, v as u64);
}

#[device]
impl<T: Noted, const N: usize> Noted for [T; N] {
    fn noted(&self, log: &mut u64) {
        for value in self.iter() {
            value.noted(log);
        }
    }
}

#[device]
impl<T: Noted> Noted for Option<T> {
    fn noted(&self, log: &mut u64) {
        match self {
            Some(value) => value.noted(log),
            None => append(log, 99),
        }
    }
}

#[device]
impl<T: Noted, E: Noted> Noted for Result<T, E> {
    fn noted(&self, log: &mut u64) {
        match self {
            Ok(value) => value.noted(log),
            Err(error) => {
                append(log, 98);
                error.noted(log);
            }
        }
    }
}

#[device]
impl<A: Noted, B: Noted> Noted for (A, B) {
    fn noted(&self, log: &mut u64) {
        self.0.noted(log);
        self.1.noted(log);
    }
}

#[device]
impl<A: Noted, B: Noted, C: Noted> Noted for (A, B, C) {
    fn noted(&self, log: &mut u64) {
        self.0.noted(log);
        self.1.noted(log);
        self.2.noted(log);
    }
}

/// An integer, often one of those at the ends of a range.
#[device]
fn drawn<T: Integer>(word: u64, more: u64) -> T {
    let small = (word >> 8 & 1) as u128;
    match word % 7 {
        0 => T::MIN + small.cast::<T>(),
        1 => T::MAX - small.cast::<T>(),
        2 => small.cast::<T>(),
        3 => 0u128.wrapping_sub(small).cast::<T>(),
        4 => (1u128 << (word >> 16 & 127)).wrapping_sub(small).cast::<T>(),
        5 => (word >> 16 & 127).cast::<T>(),
        _ => ((word as u128) << 60 ^ more as u128).cast::<T>(),
    }
}

/// Small numbers, of which some are equal.
#[device]
fn elements<const N: usize>(x: &[u64]) -> [u32; N] {
    let mut all = [0u32; N];
    for k in 0..N {
        all[k] = (x[k / 5] >> (6 * (k % 5)) & 7) as u32;
    }
    all
}

/// The value behind a reference.
#[device]
fn read(found: Option<&u32>) -> Option<u32> {
    match found {
        Some(value) => Some(*value),
        None => None,
    }
}

/// A log of a slice's elements, of which every one counts.
#[device]
fn hash<T: Noted>(part: &[T]) -> u64 {
    let mut log = part.len() as u64;
    for value in part {
        value.noted(&mut log);
    }
    log
}

/// A log of a slice's elements, if there is a slice.
#[device]
fn hash_of(part: Option<&[u32]>) -> u64 {
    match part {
        Some(part) => hash(part),
        None => 7,
    }
}

/// Runs a test with generated numbers.
fn each(test: &dyn Fn(&[u64])) {
    let config = ProptestConfig { cases: 3, failure_persistence: None, max_shrink_iters: 400, ..Default::default() };
    let threads = vec(prop::array::uniform6(any::<u64>()), 1..=THREADS);
    let checked = TestRunner::new(config).run(&threads, |threads| {
        test(threads.as_flattened());
        Ok(())
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
}

/// A test for each method, and a kernel for all of them. Given are the types that `T` stands for, the thread's numbers, two
/// logs for closures, the operands, and for each method the expressions whose values go to the log. Where there are many methods,
/// the operands end with a use of all: an unused variable costs rustc a walk over the whole crate, although it warns of none.
macro_rules! methods {
    (@type [] $name:ident $x:ident $log:ident $also:ident $operands:tt $values:tt { $($body:tt)* }) => {
        #[device]
        pub(super) fn $name($x: &[u64]) -> u64 {
            let (mut $log, mut $also) = (0u64, 0u64);
            $($body)*
            note(&mut $log, $also);
            $log
        }
    };
    (@type [$ty:ty $(, $more:ty)*] $name:ident $x:ident $log:ident $also:ident { $($operands:tt)* } [$($value:expr),+] {
        $($body:tt)*
    }) => {
        methods! { @type [$($more),*] $name $x $log $also { $($operands)* } [$($value),+] {
            $($body)*
            {
                type T = $ty;
                $($operands)*
                $(let value = $value;
                note(&mut $log, value);)+
            }
        } }
    };
    (for $types:tt |$x:ident, $log:ident, $also:ident| $operands:tt $(mod $group:ident { $($methods:tt)* })+) => { $(
        pub(super) mod $group {
            use super::*;
            methods! { for $types |$x, $log, $also| $operands $($methods)* }
        }
    )+ };
    ($(for $types:tt)? |$x:ident, $log:ident, $also:ident| $operands:tt $($name:ident: $($value:expr),+;)*) => {
        methods! { @kernel [$($types)? [u32]] |$x, $log, $also| $operands $($name [$($value),+])* }
    };
    (@kernel [$types:tt $($_:tt)?] |$x:ident, $log:ident, $also:ident| $operands:tt $($name:ident $values:tt)*) => {
        mod called {
            use super::*;
            $(methods! { @type $types $name $x $log $also $operands $values {} })*
        }
        #[kernel]
        fn program(which: u32, numbers: &[u64], out: &mut [u64]) {
            let i = grid::<1>();
            if i * WIDTH < numbers.len() {
                let x = &numbers[i * WIDTH..(i + 1) * WIDTH];
                let mut at = 0u32;
                $(
                    if which == at {
                        out[i] = called::$name(x);
                    }
                    at += 1;
                )*
            }
        }
        pub(in crate::language::std_methods) const NAMES: &[&str] = &[$(stringify!($name)),*];
        fn compare(name: &str) {
            let which = NAMES.iter().position(|known| *known == name).expect("it is in the list") as u32;
            each(&|numbers| {
                differ!(program, (1, THREADS as u32), [which, numbers], vec![0u64; THREADS]);
            });
        }
        $(
            #[test]
            fn $name() {
                compare(stringify!($name));
            }
        )*
    };
}
use methods;
