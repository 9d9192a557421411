//! Methods that iterators in kernels lack, and methods that no iterator has.
trait Sorted: Iterator {
    fn sorted(self) -> f32;
}

impl<I: Iterator> Sorted for I {
    fn sorted(self) -> f32 {
        0.5
    }
}

#[cuda_jit::kernel]
fn unknown(x: &[f32], out: &mut [f32]) {
    let rest = x.iter();
    out[0] = rest.as_slice()[0] + x.iter().sorted();
}

#[cuda_jit::kernel]
fn misspelled(x: &[f32], out: &mut [f32]) {
    out[0] = x.iter().summ();
}

#[cuda_jit::device]
fn of_array<const N: usize>(x: &[f32; N]) -> f32 {
    x.iter().summ()
}

fn main() {}
