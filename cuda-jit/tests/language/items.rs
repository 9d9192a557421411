//! Items in blocks: a name has the meaning of its block, for the host and for the device.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, kernel};

const SCALE: u32 = 3;

#[kernel]
fn constants(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut sum = x[i] * SCALE;
    {
        sum += x[i] * SCALE;
        const SCALE: u32 = 100;
        {
            const SCALE: u32 = 1000;
            sum += x[i] * SCALE;
        }
        sum += x[i] * SCALE;
    }
    {
        const SCALE: u32 = 10_000;
        static TABLE: [u32; 3] = [SCALE, 2 * SCALE, 3 * SCALE];
        sum += TABLE[i];
    }
    {
        static TABLE: [u32; 2] = [7, 9];
        sum += TABLE[i % 2];
    }
    out[i] = sum + SCALE;
}

#[kernel]
fn consts_hide_bindings(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let n = x[i];
    let mut sum = n;
    {
        #[expect(non_upper_case_globals, reason = "it hides a binding of that name")]
        const n: u32 = 50;
        sum += n;
    }
    {
        let n = n + 1;
        sum += n * 1000;
    }
    out[i] = sum + n;
}

mod far {
    pub(super) const STEP: u32 = 11;
    pub(super) const OTHER: u32 = 12;

    #[cuda_jit::device]
    pub(super) fn twice(x: u32) -> u32 {
        2 * x
    }

    #[cuda_jit::device]
    pub(super) fn thrice(x: u32) -> u32 {
        3 * x
    }

    #[cuda_jit::device]
    pub(super) fn apply<F: Fn(u32) -> u32>(f: F, x: u32) -> u32 {
        f(x) + 1
    }

    #[cuda_jit::device]
    pub(super) fn apply_twice<F: Fn(u32) -> u32>(f: F, x: u32) -> u32 {
        f(f(x))
    }
}

#[kernel]
fn imports(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut sum = 0;
    {
        use far::{STEP, twice as times};
        sum += times(x[i]) + STEP;
    }
    {
        use far::{OTHER as STEP, thrice as times};
        sum += times(x[i]) * 100 + STEP;
    }
    {
        use far::apply as run;
        sum += run(|v| v + sum, x[i]);
    }
    {
        use far::apply_twice as run;
        sum += run(|v| v * 2, x[i]);
    }
    out[i] = sum;
}

#[kernel]
fn globs(x: &[u32], out: &mut [u32]) {
    use far::*;
    let i = grid::<1>();
    let mut sum = twice(x[i]) + STEP;
    {
        use far::STEP as OTHER;
        sum += OTHER * 1000;
    }
    out[i] = sum + OTHER;
}

#[kernel]
fn types(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut sum = 0;
    {
        type Narrow = u8;
        sum += (x[i] * 1_000_003) as Narrow as u32;
    }
    {
        type Narrow = i16;
        sum += (x[i] * 1_000_003) as Narrow as u32;
    }
    out[i] = sum;
}

#[kernel]
fn functions(x: &[u32], out: &mut [u32]) {
    #[device]
    fn helped(x: u32) -> u32 {
        x * 5 + 1
    }
    #[derive(Clone, Copy, DeviceType)]
    #[repr(C)]
    struct Pair {
        a: u32,
        b: u32,
    }
    #[device]
    impl Pair {
        fn sum(self) -> u32 {
            self.a + self.b * 10
        }
    }
    let i = grid::<1>();
    let pair = Pair { a: helped(x[i]), b: i as u32 };
    let mut sum = pair.sum();
    {
        #[device]
        fn helped(x: u32) -> u32 {
            x * 7 + 2
        }
        sum += helped(x[i]);
    }
    out[i] = sum + helped(1);
}

#[device]
fn scaled(x: u32) -> u32 {
    let y = x * SCALE;
    let z = {
        const SCALE: u32 = 20;
        y * SCALE
    };
    z + SCALE
}

#[kernel]
fn in_device_functions_and_closures(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let f = |v: u32| {
        const SCALE: u32 = 30;
        v * SCALE
    };
    out[i] = scaled(x[i]) + f(x[i]) + SCALE;
}

mod many {
    use cuda_jit::{DeviceType, device};

    macro_rules! functions {
        ($($name:ident = $number:literal),*) => { $(
            #[device]
            pub(super) fn $name(x: u32) -> u32 {
                x ^ $number
            }
        )* };
    }

    functions! { a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12 }

    #[device]
    pub(super) fn map<T: DeviceType + Copy, F: Fn(T) -> T>(x: T, f: F) -> T {
        f(f(x))
    }
}

#[kernel]
fn closures_of_inferred_types(x: &[u32], out: &mut [u32]) {
    use many::{a, b, c, d, e, f, g, h, i, j, k, l, map};
    let n = grid::<1>();
    let v = l(k(j(i(h(g(f(e(d(c(b(a(x[n]))))))))))));
    let rest = {
        const SCALE: u32 = 40;
        let parts: [u32; 2] = std::array::from_fn(|i| map(i, |i| i.rotate_left(3)) as u32);
        map(v, |v| v.rotate_left(2)) * SCALE + parts[n % 2]
    };
    out[n] = map(v, |v| v.count_ones()) + rest;
}

#[test]
fn names_mean_what_their_block_says() {
    const X: [u32; 3] = [1, 22, 300];
    differ!(constants, (1, 3), [&X[..]], vec![0u32; 3]);
    differ!(consts_hide_bindings, (1, 3), [&X[..]], vec![0u32; 3]);
    differ!(imports, (1, 3), [&X[..]], vec![0u32; 3]);
    differ!(globs, (1, 3), [&X[..]], vec![0u32; 3]);
    differ!(types, (1, 3), [&X[..]], vec![0u32; 3]);
    differ!(functions, (1, 3), [&X[..]], vec![0u32; 3]);
    differ!(in_device_functions_and_closures, (1, 3), [&X[..]], vec![0u32; 3]);
    differ!(closures_of_inferred_types, (1, 3), [&X[..]], vec![0u32; 3]);
}
