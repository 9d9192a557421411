//! Unresolved names, in each position in which rustc is queried for them.
use cuda_jit::{device, kernel};

#[device]
fn scale(v: f32) -> f32 {
    v * 2.0
}

#[kernel]
fn in_a_block(out: &mut [f32]) {
    {
        const AT: usize = 0;
        out[AT] = scal(out[AT]);
    }
    out[0] = apply(|v| v + 1.0);
    out[1] = convert::<f32>(out[1]);
}

#[device]
fn in_a_function(v: f32) -> f32 {
    if v > LIMIT { undefined } else { scael(v, 1, 2) }
}

fn main() {}
