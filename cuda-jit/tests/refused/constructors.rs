struct Plain(u32);

#[cuda_jit::device]
fn without_a_derive(n: u32) -> u32 {
    Plain(n).0
}

fn main() {}
