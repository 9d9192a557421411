#[cuda_jit::kernel]
fn expressions(x: &[f32], out: &mut [f32]) {
    let text = "text";
    let all = |f: f32| f;
    let alias = (all, 1);
    println!("{}", out[0]);
    assert!(out[0] > 0.0, "{} {} {} {} {} {} {} {} {}", 1, 2, 3, 4, 5, 6, 7, 8, 9);
    panic!("it is {}");
    let message = "text";
    panic!(message);
    out[0] = x[0].sin() + x[0].powi(2);
    let big = 1u128;
    let tuple = (|v: f32| v)(1.0);
}

fn main() {}
