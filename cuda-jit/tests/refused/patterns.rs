#[cuda_jit::kernel]
fn patterns(x: &[f32], n: u32, out: &mut [f32]) {
    let ref r = n;
    let m @ 1.. = n else { return };
    match n {
        k @ 1..=3 => out[0] = k as f32,
        _ => {}
    }
    match (n, n) {
        (1, a) | (a, 1) => out[0] = a as f32,
        (0, ..) => {}
        _ => {}
    }
    match x {
        [first, ..] => out[0] = *first,
        _ => {}
    }
}

fn main() {}
