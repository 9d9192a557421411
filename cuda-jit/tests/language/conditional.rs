//! `#[cfg]` within kernels and device functions: evaluated by rustc, for the device as for the host.

use super::*;
use cuda_jit::{DeviceType, device, kernel};

const fn last(values: &[u32]) -> u32 {
    values[values.len() - 1]
}

#[kernel]
fn body(#[cfg(test)] factor: u32, #[cfg(not(test))] factor: f64, out: &mut [u32]) {
    #[cfg(any())]
    return;
    let mut sum = 0;
    #[cfg(test)]
    {
        sum += 1;
    }
    #[cfg(not(test))]
    let factor = missing(factor);
    #[cfg_attr(all(), cfg(any()))]
    let factor = 100;
    #[cfg_attr(any(), cfg(any()))]
    let factor = factor + 1;
    let array = [
        1,
        #[cfg(any())]
        2,
        #[cfg(test)]
        3,
    ];
    sum += array.len() as u32 * 10;
    out[0] = sum;
    out[1] = match factor {
        #[cfg(not(test))]
        8 => 1,
        #[cfg(test)]
        8 => 2,
        _ => 3,
    };
    let pair = Pair {
        a: 1,
        #[cfg(any())]
        b: missing(),
        #[cfg(test)]
        b: 2,
    };
    let Pair {
        #[cfg(test)]
        a,
        #[cfg(not(test))]
        c,
        b,
    } = pair;
    let add = |#[cfg(any())] z: f32, v: u32| v + a;
    #[cfg(test)]
    const TABLE: u32 = last(&[
        1,
        #[cfg(any())]
        9,
        5,
        #[cfg(any())]
        7,
    ]);
    #[cfg(not(test))]
    const TABLE: u32 = 0;
    out[2] = add(
        b,
        #[cfg(any())]
        2,
    ) + TABLE;
    out[3] = chosen(
        1,
        #[cfg(any())]
        2,
        #[cfg(test)]
        3,
    );
}

#[device]
fn chosen(#[cfg(any())] x: u32, y: u32, #[cfg(test)] z: u32) -> u32 {
    #[cfg(any())]
    return x;
    y * 10 + z
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair {
    a: u32,
    b: u32,
}

#[device]
trait Sums {
    fn sum(&self, #[cfg(any())] more: u32) -> u32;

    fn doubled(&self) -> u32 {
        #[cfg(any())]
        return missing();
        self.sum() * 2
    }

    #[cfg(any())]
    fn gone(&self) -> Missing;
}

#[device]
impl Sums for Pair {
    fn sum(&self, #[cfg(any())] more: u32) -> u32 {
        #[cfg(not(test))]
        let sum = missing();
        #[cfg(test)]
        let sum = self.a + self.b;
        sum
    }
}

#[device]
impl Pair {
    fn product(&self, #[cfg(test)] by: u32) -> u32 {
        #[cfg(any())]
        return 0;
        self.a * self.b * by
    }

    #[cfg(any())]
    fn gone(&self) -> Missing {
        missing()
    }
}

#[kernel]
fn calls(out: &mut [u32]) {
    let pair = Pair { a: 3, b: 4 };
    out[0] = pair.sum();
    out[1] = pair.doubled();
    out[2] = pair.product(2);
}

#[kernel]
#[cfg(any())]
fn gone(out: &mut [Missing]) {
    missing(out);
}

macro_rules! repeated {
    ($($name:ident $value:literal)*) => { $(
        #[kernel]
        fn $name(out: &mut [u32]) {
            #[cfg(any())]
            return;
            out[0] = $value;
        }
    )* };
}

repeated! { first 1 second 2 }

#[test]
fn conditions_in_bodies_hold_on_the_device() {
    let mut host = vec![9; 4];
    body(7, &mut host);
    assert_eq!(host, [21, 2, 8, 13]);
    let mut device = on_device(&[9; 4]);
    body::launch((1, 1), 7, &mut device).unwrap();
    assert_eq!(on_host(&device), host);
}

#[test]
fn conditions_in_methods_hold_on_the_device() {
    assert_eq!(differ!(calls, (1, 1), [], vec![0; 3]), [7, 14, 24]);
    assert_eq!(differ!(first, (1, 1), [], vec![0; 1]), [1]);
    assert_eq!(differ!(second, (1, 1), [], vec![0; 1]), [2]);
}
