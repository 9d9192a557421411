//! Mistakes that rustc finds in the function as written are said of it alone, not of the typing probe too.

use cuda_jit::{DeviceType, device, kernel};

#[derive(Clone, Copy, DeviceType)]
struct Line {
    slope: u32,
    ends: [u32; 2],
}

#[device]
fn without_its_value(a: u32) -> u32 {
    let b = a + 1;
    b * 2;
}

#[device]
impl Line {
    fn of_itself(&mut self) -> u32 {
        std::mem::replace(&mut self.ends[0], self.ends[1])
    }

    fn without_its_value(&self) -> u32 {
        self.slope + 1;
    }
}

#[kernel]
fn methods(out: &mut [u32]) {
    let line = Line { slope: 1, ends: [2, 3] };
    out[0] = line.length();
    let one = 1u32;
    out[1] = one.map(|one| one + 1);
}

fn main() {}
