#[cuda_jit::kernel]
fn expressions(x: &[f32], out: &mut [f32]) {
    let text = "text";
    let range = 0..3;
    for v in x.iter().map(|v| v * 2.0) {
        out[0] += v;
    }
    for (v, w) in x.iter().zip(out.iter_mut()) {
        *w = *v;
    }
    for (i, v) in x.iter().enumerate().rev() {
        out[i] += v;
    }
    let all = |f: f32| f;
    let alias = all;
    println!("{}", out[0]);
    assert!(out[0] > 0.0, "it is {}", out[0]);
    out[0] = x[0].sin() + x[0].powi(2);
    let big = 1u128;
    let tuple = (|v: f32| v)(1.0);
    out[(0, 1)] = 1.0;
    let first = x.iter();
    struct Inner;
    fn inner() {}
}

fn main() {}
