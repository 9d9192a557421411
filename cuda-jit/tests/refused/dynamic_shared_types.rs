use cuda_jit::device::dynamic_shared;

#[cuda_jit::kernel]
fn types(n: u32) {
    let options = dynamic_shared!([Option<u32>]);
    let length = dynamic_shared!([u32; n]);
}

fn main() {}
