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

fn captures(text: String, one: &f32, slice: &[f32], list: Vec<f32>, host: Host) {
    let _ = device_fn!(|v: f32| v * text.len() as f32);
    let _ = device_fn!(|v: f32| v * *one);
    let _ = device_fn!(|v: f32| v * slice[0]);
    let _ = device_fn!(|v: f32| v * list[0]);
    let _ = device_fn!(|v: f32| v * host.k);
}

fn arrays(context: &cuda_driver::Context, many: &cuda_mem::DeviceArray<f32, ndarray::IxDyn>) {
    let table: cuda_mem::DeviceArray<f32, ndarray::Ix1> = cuda_mem::zeros(context, 4).unwrap();
    let f = device_fn!(|i: usize| table[i]);
    f.host()(1);
    let _ = device_fn!(|i: usize| many[i]);
    let _ = device_fn!(|i: usize| table.fill(1.0));
}

fn passed(out: &mut [f32]) {
    let k = 2.0;
    let _ = map::launch((1, 1), |v: f32| v * k, out);
    let _ = map::launch((1, 1), not_a_device_function, out);
    let _ = map::launch((1, 1), device_fn!(not_a_device_function), out);
    let _ = map::launch((1, 1), device_fn!(|v: f64| v), out);
    let _ = map::launch((1, 1), device_fn!(|v: f32| v > k), out);
}

fn bodies() {
    let k = 2.0f32;
    let _ = device_fn!(|v: f32| v * k as u32);
    let _ = device_fn!(|v: f32| not_a_device_function(v));
}

fn main() {}
