use cuda_jit::{DeviceType, kernel};

#[derive(Clone, Copy, DeviceType)]
enum Unsized {
    A,
    B,
}

#[derive(Clone, Copy, DeviceType)]
#[from_repr]
enum Data {
    A(u32),
    B,
}

#[derive(Clone, Copy, DeviceType)]
#[operators(Add)]
enum Added {
    A(u32),
    B,
}

#[derive(Clone, DeviceType)]
enum Named {
    Text(String),
    None,
}

#[derive(Clone, Copy, DeviceType)]
union Either {
    a: u32,
    b: f32,
}

#[derive(Clone, DeviceType)]
struct Text {
    text: String,
}

#[derive(Clone, Copy, DeviceType)]
#[operators(Add, Mul<f32>)]
struct Unlisted {
    a: f32,
}

#[derive(Clone, Copy, DeviceType)]
#[operators(Mul for f32, Mul 2)]
struct Misspelt {
    a: f32,
}

#[derive(Clone, Copy, DeviceType)]
#[operators(Mul for f32)]
struct NotOnTheLeft {
    a: f32,
}

#[derive(Clone, Copy, DeviceType)]
#[from_repr]
struct NoEnum {
    a: f32,
}

#[derive(Clone, Copy, DeviceType)]
#[from_repr(u8)]
#[repr(u8)]
enum Twice {
    A,
}

#[derive(Clone, Copy, DeviceType)]
#[derived(PartialOrd)]
struct OnlyOrdered {
    a: f32,
}

#[derive(Clone, Copy, DeviceType)]
#[derived(Default)]
enum Undecided {
    #[default]
    A(u32),
    B,
}

#[derive(Clone, Copy, DeviceType)]
#[derived(PartialEq)]
#[repr(u8)]
enum Numbered {
    A,
}

#[derive(Clone, Copy, DeviceType)]
#[device_type(crate = cuda_jit, other)]
struct OtherOption {
    a: f32,
}

#[derive(Clone, Copy, DeviceType)]
#[operators(Multiply for f32)]
struct NoOperator {
    a: f32,
}

#[derive(DeviceType)]
#[operators(Add)]
struct Adds<F: Fn(f32) -> f32> {
    f: F,
}

#[derive(DeviceType)]
struct Wide<F: Fn(f32) -> f32>(F, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8);

/// Uses of types that are refused above, which are no further errors.
#[kernel]
fn uses(out: &mut [f32]) {
    let one = if out.len() > 1 { Unsized::A } else { Unsized::B };
    if let (Unsized::A, Data::A(n)) = (one, Data::A(3)) {
        out[n as usize] = Misspelt { a: 1.0 }.a;
    }
}

fn main() {}
