use cuda_jit::{DeviceType, device, kernel};

#[derive(Clone, Copy, DeviceType)]
enum Shape {
    Circle(f32),
    Empty,
}

#[derive(Clone, Copy, DeviceType)]
enum Borrowed<'a> {
    Values(&'a [f32]),
    Nothing,
}

#[kernel]
fn elements(shapes: &[Shape], results: &mut [Result<f32, u8>], out: &mut [f32]) {
    out[0] = 1.0;
}

#[kernel]
fn borrowed(of: Borrowed<'_>, out: &mut [f32]) {
    out[0] = 1.0;
}

#[derive(Clone, Copy, DeviceType)]
struct Failure(u8);

impl From<u8> for Failure {
    fn from(code: u8) -> Self {
        Failure(code)
    }
}

#[device]
fn failing(x: f32) -> Result<f32, u8> {
    if x > 0.0 { Ok(x) } else { Err(3) }
}

#[device]
fn converted(x: f32) -> Result<f32, Failure> {
    Ok(failing(x)? + 1.0)
}

#[device]
fn mixed(x: f32) -> Option<f32> {
    Some(failing(x)? + 1.0)
}

enum Unknown {
    One(f32),
    Two,
}

#[kernel]
fn without_derive(out: &mut [f32]) {
    let of = Unknown::One(out[0]);
    if let Unknown::One(x) = of {
        out[0] = x;
    }
}

#[kernel]
fn narrowed(x: u8, out: &mut [f32]) {
    out[0] = u32::try_from(x).map_or(0.0, |x| x as f32);
}

mod own {
    macro_rules! matches {
        ($($any:tt)*) => {
            true
        };
    }

    #[cuda_jit::kernel]
    fn own_macro(x: f32, out: &mut [f32]) {
        out[0] = matches!(x, 1.0) as u32 as f32;
    }
}

fn main() {}
