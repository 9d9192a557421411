use cuda_jit::{DeviceType, kernel};

#[derive(Clone, Copy, Default, DeviceType)]
struct Derived {
    a: f32,
}

#[kernel]
fn derived(x: &[f32], out: &mut [f32]) {
    let made = x.first().map(|a| Derived { a: *a });
    out[0] = made.unwrap_or_default().a;
}

#[kernel]
fn by_the_path_of_the_trait(out: &mut [f32]) {
    let made: Derived = Default::default();
    out[0] = made.a;
}

fn main() {}
