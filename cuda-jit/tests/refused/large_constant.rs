use cuda_jit::Constant;

static LARGE: Constant<[f32; 20_000]> = Constant::new([0.0; 20_000]);

fn main() {
    LARGE.get();
}
