use cuda_jit::device::printf;

#[cuda_jit::kernel]
fn types(x: &[f32], n: i32) {
    printf!("{:x}", x[0]);
    printf!("{:e}", n);
    printf!("{}", x);
}

fn main() {}
