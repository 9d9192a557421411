//! Value semantics of arrays: later writes do not affect an array that was read, passed or stored.

use super::differ;
use cuda_jit::device::{grid, shared, sync_threads};
use cuda_jit::{DeviceType, device, kernel};

/// A test for each program: its result for a thread's number is the same on the device, optimised and with debug
/// information, and on the host.
macro_rules! programs {
    ($($(#[$doc:meta])* $name:ident($x:ident) { $($body:tt)* })*) => { $(
        $(#[$doc])*
        #[test]
        fn $name() {
            #[kernel]
            fn program(out: &mut [u32]) {
                let $x = grid::<1>() as u32;
                out[$x as usize] = { $($body)* };
            }
            #[kernel(debug)]
            fn unoptimised(out: &mut [u32]) {
                let $x = grid::<1>() as u32;
                out[$x as usize] = { $($body)* };
            }
            differ!(program, (1, 4), [], vec![0u32; 4]);
            differ!(unoptimised, (1, 4), [], vec![0u32; 4]);
        }
    )* };
}
pub(super) use programs;

#[derive(Clone, Copy, DeviceType)]
#[operators(Add, AddAssign)]
struct Pair {
    a: [u32; 2],
    b: [u32; 2],
    n: u32,
}

#[device]
impl Pair {
    fn new(n: u32) -> Pair {
        Pair { a: [n, n + 1], b: [n + 2, n + 3], n }
    }

    fn digits(self, last: u32) -> u32 {
        self.a[0] + 10 * self.a[1] + 100 * self.b[0] + 1000 * self.b[1] + 10_000 * self.n + 100_000 * last
    }

    fn swapped(mut self) -> Pair {
        let a = self.a;
        self.a = self.b;
        self.b = a;
        self
    }

    fn take(&mut self, b: [u32; 2]) -> u32 {
        self.a[0] = 7;
        b[0] * 10 + self.a[0]
    }

    fn asks<F: FnMut() -> u32>(self, mut f: F) -> u32 {
        f() * 10 + self.a[0]
    }

    fn bump(&mut self) -> u32 {
        self.a[0] += 1;
        self.a[0]
    }
}

#[device]
fn first(a: [u32; 2], more: u32) -> u32 {
    a[0] * 100 + a[1] * 10 + more
}

#[device]
fn raised(mut a: [u32; 2], by: u32) -> [u32; 2] {
    a[0] += by;
    a
}

#[device]
fn put(a: &mut [u32; 2], value: u32) -> u32 {
    a[0] = value;
    a[1]
}

#[device]
fn both(a: [u32; 2], b: &mut [u32; 2]) -> u32 {
    b[0] = 77;
    a[0] * 100 + b[0]
}

#[device]
fn called<F: Fn([u32; 2]) -> u32>(a: [u32; 2], f: F) -> u32 {
    f(a) * 100 + a[0]
}

#[device]
fn sum_down(mut a: [u32; 2], n: u32) -> u32 {
    if n == 0 {
        return a[0];
    }
    a[0] += n;
    let rest = sum_down(a, n - 1);
    a[0] * 100 + rest
}

#[device]
impl std::ops::Add for Pair {
    type Output = Pair;
    fn add(mut self, other: Pair) -> Pair {
        self.a[0] += other.a[0];
        self.b = other.a;
        self
    }
}

#[device]
impl std::ops::AddAssign for Pair {
    fn add_assign(&mut self, other: Pair) {
        self.a[1] += other.b[0];
        self.b = other.a;
    }
}

const TABLE: [u32; 2] = [3, 4];

#[device]
fn two(mut a: [u32; 2], mut b: [u32; 2]) -> u32 {
    a[0] += 1;
    b[0] += 5;
    a[0] * 10 + b[0]
}

#[device]
fn picked<T: Copy>(a: T, b: T, first: bool) -> T {
    if first { a } else { b }
}

#[device]
fn turned(a: [u32; 2], b: [u32; 2]) -> ([u32; 2], [u32; 2]) {
    (b, [a[1], a[0]])
}

mod kept;
mod read;
