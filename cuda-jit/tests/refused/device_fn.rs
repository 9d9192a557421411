use cuda_jit::{device_fn, kernel};

#[kernel]
fn map<F: Fn(f32) -> f32>(f: F, out: &mut [f32]) {
    out[0] = f(out[0]);
}

fn not_a_device_function(x: f32) -> f32 {
    x
}

struct Host {
    k: f32,
}

impl Host {
    fn of_self(&self) {
        let _ = device_fn!(|v: f32| v * self.k);
    }
}

fn syntax() {
    let _ = device_fn!();
    let _ = device_fn!(1.0);
    let _ = device_fn!(|v| v * 2.0);
    let _ = device_fn!(f32::sqrt);
    let _ = device_fn!(async |v: f32| v);
    let _ = device_fn!(|v: f32| println!("{v}"));
}

fn writes(mut table: Vec<f32>, mut k: f32) {
    let _ = device_fn!(|i: usize| table[i] = 1.0);
    let _ = device_fn!(|v: f32| k += v);
    let _ = device_fn!(|i: usize| twice(&mut table[i]));
}

fn main() {}
