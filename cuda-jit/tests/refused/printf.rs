use cuda_jit::device::printf;

#[cuda_jit::kernel]
fn texts(x: &[f32], n: i32) {
    printf!("{:b}", n);
    printf!("{:^8}", n);
    printf!("{:*<8}", n);
    printf!("{:+}", n);
    printf!("{:w$}", n, w = 3);
    printf!("{:.*}", 3, x[0]);
    printf!("{:p}", n);
    printf!("{:#?}", n);
    printf!("{");
    printf!("{} {}", n);
    printf!("{}", n, x[0]);
    printf!("%d", n);
    printf!("{:5000}", n);
    printf!(n);
    println!("{}", n);
}

fn main() {}
