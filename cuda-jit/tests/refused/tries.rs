//! A `?` on an `Option` in a function that returns a `Result`, and the reverse: one error for each.

use cuda_jit::{DeviceType, device};

#[device]
fn result(n: u32) -> Result<u32, u8> {
    if n > 3 { Ok(n) } else { Err(1) }
}

#[device]
fn option(n: u32) -> Option<u32> {
    let v = result(n)?;
    Some(v + 1)
}

#[device]
fn reverse(n: u32) -> Result<u32, u8> {
    let v = option(n)?;
    Ok(v + 1)
}

#[device]
fn error_type(n: u32) -> Result<u32, (u8, u8)> {
    let v = result(n).map(|v| v + 1)?;
    Ok(v + 1)
}

#[device]
fn value_type(n: u32) -> Option<u8> {
    let v: u8 = option(n)?;
    Some(v)
}

#[device]
fn of_number(n: u32) -> Option<u32> {
    Some(n? + 1)
}

#[derive(Clone, Copy, DeviceType)]
struct Count(u32);

#[device]
impl Count {
    fn checked(self) -> Option<u32> {
        let v = result(self.0)?;
        Some(v)
    }
}

fn main() {}
