use cuda_jit::DeviceType;

#[cuda_jit::kernel]
fn strings(out: &mut [f32]) {
    let text = String::new();
    out[0] = text.len() as f32;
}

#[cuda_jit::kernel]
fn vectors(x: Vec<f32>) {
    let v = x;
}

#[cuda_jit::kernel]
fn flags(x: &[bool]) {}

#[cuda_jit::kernel]
fn maybe(x: &[Option<f32>]) {}

#[derive(Clone, Copy, DeviceType)]
#[repr(u8)]
enum Colour {
    Red,
    Green,
}

#[cuda_jit::kernel]
fn colours(x: &[Colour]) {}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Padded {
    a: u8,
    b: u32,
}

#[cuda_jit::kernel]
fn padded(x: &[Padded]) {}

#[derive(Clone, Copy, DeviceType)]
struct Unpinned {
    a: u32,
}

#[cuda_jit::kernel]
fn unpinned(x: &[Unpinned]) {}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Flagged {
    a: bool,
}

#[cuda_jit::kernel]
fn flagged(x: &[Flagged]) {}

#[cuda_jit::device]
fn text(v: f32) -> String {
    String::new()
}

#[derive(Clone, Copy)]
struct Plain {
    a: u32,
}

#[cuda_jit::kernel]
fn plain(x: &mut [f32]) {
    let p = Plain { a: 1 };
    x[p.a as usize] = 1.0;
}

fn main() {}
