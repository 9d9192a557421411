use cuda_jit::device::printf;

fn main() {
    let v = 1;
    printf!("a\0b");
    printf!("{1}", v);
    printf!("{v.x}");
    printf!("{:.}", 1.5);
    printf!("{:+x}", v);
    printf!(
        "{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}",
        v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v
    );
}
