#[cuda_jit::kernel]
fn patterns(n: u32, maybe: Option<(u32, u32)>, out: &mut [f32]) {
    match n {
        box_ if out[0] > 0.0 => out[1] = box_ as f32,
        1.. => {}
        _ => {}
    }
    let "text" = "text" else { return };
}

#[cuda_jit::kernel]
fn names(n: u32, maybe: Option<(u32, u32)>, out: &mut [f32]) {
    if let RED | 1 = n {
        out[0] = 1.0;
    }
    match maybe {
        Some((1, a) | (b, 1)) => out[0] = a as f32,
        Some(Some(_)) => {}
        Missing::None => {}
        _ => {}
    }
    let (x, y);
    (x, y) = (1, n, 2);
    if let f32::MAX {} = out[0] {}
}

fn main() {}
