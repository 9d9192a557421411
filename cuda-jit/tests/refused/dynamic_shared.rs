use cuda_jit::device::dynamic_shared;

#[cuda_jit::kernel]
fn forms(n: usize) {
    let none = dynamic_shared!();
    let number = dynamic_shared!(f32);
    let (open, closed) = dynamic_shared!([f32], [u32; n]);
}

fn main() {}
