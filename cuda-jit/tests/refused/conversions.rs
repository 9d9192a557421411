//! Conversions and comparisons without device code.

use cuda_jit::{DeviceType, device, kernel};

#[derive(Clone, Copy, DeviceType)]
#[repr(u8)]
enum Mode {
    Slow,
    Fast,
}

impl From<Mode> for f64 {
    fn from(mode: Mode) -> f64 {
        mode as u8 as f64 * 10.0
    }
}

#[kernel]
fn from(out: &mut [f64]) {
    out[0] = f64::from(Mode::Slow);
}

#[kernel]
fn into(out: &mut [f64]) {
    out[0] = Mode::Fast.into();
}

impl TryFrom<i64> for Mode {
    type Error = ();

    fn try_from(number: i64) -> Result<Mode, ()> {
        if number == 0 { Ok(Mode::Slow) } else { Err(()) }
    }
}

#[kernel]
fn from_by_the_path_of_the_trait(out: &mut [f64]) {
    out[0] = From::from(Mode::Slow);
}

#[kernel]
fn into_by_the_path_of_the_trait(out: &mut [f64]) {
    out[0] = Into::into(Mode::Slow);
}

#[kernel]
fn try_from_by_the_path_of_the_trait(out: &mut [u32]) {
    let mode: Result<Mode, ()> = TryFrom::try_from(3i64);
    out[0] = mode.is_ok() as u32;
}

#[kernel]
fn narrowing(out: &mut [u32]) {
    out[0] = u32::strict_add_signed(1, 2);
}

#[derive(Clone, Copy, DeviceType)]
#[operators(PartialOrd)]
#[derived(PartialEq)]
#[repr(C)]
struct Level(u32);

#[device]
impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        other.0.partial_cmp(&self.0)
    }

    fn lt(&self, other: &Self) -> bool {
        self.0 < other.0
    }
}

fn main() {}
