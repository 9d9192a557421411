//! Functions of the standard library's traits, by the trait's path, that kernels do not have.

use std::ops::{Add, AddAssign, Neg};

use cuda_jit::kernel;

#[kernel]
fn called(x: &[u32], out: &mut [u32]) {
    out[0] = *std::ops::Index::index(x, 1);
    let text = ToString::to_string(&x[0]);
    let all: Vec<u32> = Iterator::collect(x.iter().copied());
    let made: Vec<u32> = FromIterator::from_iter(x.iter().copied());
    let own = ToOwned::to_owned(&x[1]);
    AddAssign::add_assign(&mut out[0], 1);
    out[1] = std::iter::Sum::sum(x.iter());
}

#[kernel]
fn passed(x: &mut [i32], out: &mut [i32]) {
    out[0] = x.iter().copied().fold(0, Add::add);
    out[1] = x.first().copied().map_or(0, Neg::neg);
    x.sort_unstable_by(Ord::cmp);
    out[2] = x.first().map_or_else(Default::default, Clone::clone);
    out[3] = x.chunks(2).map(<[i32]>::iter).map(Iterator::count).sum::<usize>() as i32;
}

#[kernel]
fn timed(out: &mut [f32]) {
    let start = std::time::Instant::now();
    out[0] = 1.0;
}

fn main() {}
