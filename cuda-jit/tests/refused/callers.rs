use cuda_jit::{device, kernel};

#[kernel]
#[track_caller]
fn tracked(out: &mut [f32]) {
    out[0] = 1.0;
}

#[device]
trait Tracked {
    #[track_caller]
    fn tracked(self) -> f32;
}

fn main() {}
