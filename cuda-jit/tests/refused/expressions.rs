#[cuda_jit::kernel]
fn expressions(x: &[f32], out: &mut [f32]) {
    let array = [1.0, 2.0];
    let part = &x[1..];
    let moved = move |v: f32| v;
    let text = "text";
    let range = 0..3;
    for v in x.iter() {
        out[0] += v;
    }
    for v in x {
        out[0] += *v;
    }
    let Some(v) = Some(1) else { return };
    let all = |f: f32| f;
    let alias = all;
    println!("{}", out[0]);
    assert!(out[0] > 0.0, "it is {}", out[0]);
    out[0] = x[0].sin() + x[0].powi(2) + x.get(0).copied().unwrap();
    let big = 1u128;
    let tuple = (|v: f32| v)(1.0);
    if let Some(a) = Some(1) && a > 0 {}
    let reference = &out[0];
    (out[0], out[1]) = (1.0, 2.0);
    out[(0, 1)] = 1.0;
    struct Inner;
}

fn main() {}
