#[cuda_jit::kernel]
fn patterns(n: u32, maybe: Option<(u32, u32)>, out: &mut [f32]) {
    if let Some((1, a) | (a, 1)) = maybe {
        out[0] = a as f32;
    }
    let ((0 | 1, a) | (a, _)) = (n, n);
    match n {
        box_ if out[0] > 0.0 => out[1] = box_ as f32,
        1.. => {}
        _ => {}
    }
    let "text" = "text" else { return };
}

fn main() {}
