use cuda_jit::device::printf;

#[cuda_jit::kernel]
fn names(n: i32) {
    printf!("{n} {missing}");
}

fn main() {}
