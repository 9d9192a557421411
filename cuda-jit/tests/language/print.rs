//! `printf!`: the device prints the same text as the host, checked in child processes.

use std::io::Write;

use cuda_jit::device::{block_dim, grid, printf, thread_idx};
use cuda_jit::host::for_each_thread;
use cuda_jit::{DeviceType, device, kernel};

use super::{context, on_device};

/// The role of the process: `device` or `host`.
const ROLE: &str = "CUDA_JIT_TEST_PRINT";

#[device]
fn show(name: u32, value: &f32) -> f32 {
    printf!("{name}: {value}\n");
    *value * 2.0
}

#[kernel]
fn formats(x: &[f32], y: &[f64], n: &[i32]) {
    let (a, b, c, d) = (n[0] as i8, n[0] as i16, n[0], n[0] as i64);
    let (e, f, g, h) = (a as u8, b as u16, c as u32, d as u64);
    printf!("{} {} {} {} {} {} {} {} {}\n", a, b, c, d, e, f, g, h, n.len());
    printf!("{a:x} {b:X} {c:o} {d:x} {e:#x} {f:#X} {g:#o} {h:#010x} {:#08x}\n", 255u8);
    printf!("|{a:5}|{c:<5}|{d:>5}|{c:05}|{e:<6}|{:9}|{h:024}|\n", 1u64 << 30);
    printf!("{} {:?} {:7}|{:>7}|{:.2}|{0:05}|\n", c < 0, c > 0, true, false, true);
    for v in x.iter() {
        printf!("{v} {v:?} {:.3} {v:e} {v:.2E} |{v:08.3}|{v:<9.1}|{v:12}|\n", v);
    }
    for v in y {
        printf!("{v} {v:?} {v:.0} {v:e} {v:.1E} |{v:012.3}|{v:<9.1}|{v:>14e}|\n");
    }
    printf!("{{100 %}} %d %s é \"quoted\" \\ {0} {1} {0} {last}\n", 1, 2.5, last = -3i64);
    printf!("nothing\n");
    printf!("{} {}\n", show(1, &x[0]), show(2, &x[1]));
    printf!("{}", {
        let mut sum = 0;
        for k in 0..4 {
            sum += k;
        }
        sum
    });
    printf!("\n");
}

#[kernel]
fn wide_integers(x: &[i128], y: &[u128]) {
    for v in x {
        printf!("{v} {v:?} |{v:45}|{v:<45}|{v:045}| {v:x} {v:#X} {v:o} {v:#050x} {}\n", *v as i32);
    }
    for v in y {
        printf!("{v}, {:#034x} and {:010}\n", v, v);
    }
}

#[kernel]
fn plain_and_exact(x: &[f32], y: &[f64]) {
    for v in x {
        printf!("{v} {v:?}\n");
    }
    for v in y {
        printf!("{v} {v:?}\n");
    }
}

#[kernel]
fn threads(n: usize) {
    let i = grid::<1>();
    for k in 0..n {
        printf!("{i} {k}\n");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(i8)]
enum Level {
    Low = -3,
    High = 9,
}

#[kernel]
fn composed(x: &[f32], n: &[i32]) {
    let (a, none) = (x.first().copied(), x.get(99).copied());
    let level = |v: i32| if v < 0 { Level::Low } else { Level::High };
    printf!("{:?} {:?} {:?}\n", (n[0], 2.5f32, true), (n[0],), ((), (1u8, [n[0], n[1]])));
    printf!("{a:?} {none:?} {:?} {:?}\n", Some((n[1], none)), [a, none]);
    printf!("{:?} {:?} {:?}\n", level(n[0]), [level(n[1]); 2], n[0].cmp(&n[1]));
    printf!("{:?} {:?}\n", thread_idx(), block_dim().x);
    printf!("{:6.2?}|{:+?}|{:<5?}|\n", (x[0], n[0]), [n[1]; 2], Some(n[0]));
    printf!("{:+} {:+} {:+} {:+} {:+} {:+} {:+06} {:<+6}|\n", n[0], n[1], 7u8, 8u32, 9u64, x[1], n[1], 5i64);
    printf!("{:+} {:+.2} {:+e} {:+} {:+}\n", 10u128, x[2], x[3], n[1] as i128, true);
    printf!("{:b} {:#b} {:012b} {:#018b} |{:12b}|{:<12b}| {:b}\n", n[1], 5u8, n[1], 6u64, 3u16, 3u16, n[0] as i8);
    printf!("{:b} {:#b}\n", u128::MAX, 1i128 << 100);
}

const SINGLE: [f32; 14] = [
    0.0,
    -0.0,
    1.0,
    0.1,
    -2.5,
    1e20,
    123456.0,
    1234567.0,
    1e-4,
    1e-5,
    f32::MAX,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MIN_POSITIVE,
];

/// Prints between two marks, in the process of a role.
fn marked(body: impl FnOnce()) {
    let flush = || std::io::stdout().flush().expect("standard output is open");
    print!("<begin>");
    flush();
    body();
    print!("<end>");
    flush();
}

fn child(test: &str, role: &str) -> String {
    let mut command = cuda_tests_support::this_executable();
    command.args([&format!("language::print::{test}"), "--exact", "--nocapture"]).env(ROLE, role);
    let output = command.output().expect("the test starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let inner = text.split_once("<begin>").and_then(|(_, rest)| rest.split_once("<end>"));
    inner.unwrap_or_else(|| panic!("no marks in {text:?}")).0.to_owned()
}

#[test]
fn every_format_prints_as_on_the_host() {
    let y = SINGLE.map(|v| f64::from(v) * 1.000_000_1).to_vec();
    match std::env::var(ROLE).as_deref() {
        Ok("device") => {
            let (x, y, n) = (on_device(&SINGLE), on_device(&y), on_device(&[-7]));
            marked(|| {
                formats::launch((1, 1), &x, &y, &n).expect("it compiles");
                context().synchronize().expect("it runs");
            });
        }
        Ok("host") => marked(|| for_each_thread((1, 1), || formats(&SINGLE, &y, &[-7]))),
        _ => {
            let [device, host] = ["device", "host"].map(|role| child("every_format_prints_as_on_the_host", role));
            assert_eq!(device, host);
            let lines: Vec<&str> = device.lines().collect();
            assert_eq!(lines[0], "-7 -7 -7 -7 249 65529 4294967289 18446744073709551609 1");
            assert_eq!(
                lines[1],
                "f9 FFF9 37777777771 fffffffffffffff9 0xf9 0xFFF9 0o37777777771 0xfffffffffffffff9 0x0000ff"
            );
            assert_eq!(lines[2], "|   -7|-7   |   -7|-0007|249   |1073741824|000018446744073709551609|");
            assert_eq!(lines[3], "true false true   |  false|tr|true |");
            assert_eq!(lines[6], "1 1 1.000 1.000000e+00 1.00E+00 |0001.000|1.0      |           1|");
            let last = lines.len() - 5;
            assert_eq!(lines[last - 1], "{100 %} %d %s é \"quoted\" \\ 1 2.5 1 -3");
            assert_eq!(lines[last..], ["nothing", "1: 0", "2: -0", "0 -0", "6"]);
        }
    }
}

#[test]
fn integers_of_128_bits_print_as_on_the_host() {
    let x = [0, 1, -1, 10, i128::MAX, i128::MIN, -(1 << 100)];
    let y = [0, u128::MAX, 1 << 64, 99];
    match std::env::var(ROLE).as_deref() {
        Ok("device") => marked(|| {
            wide_integers::launch((1, 1), &on_device(&x), &on_device(&y)).expect("it compiles");
            context().synchronize().expect("it runs");
        }),
        Ok("host") => marked(|| for_each_thread((1, 1), || wide_integers(&x, &y))),
        _ => {
            let roles = ["device", "host"];
            let [device, host] = roles.map(|role| child("integers_of_128_bits_print_as_on_the_host", role));
            assert_eq!(device, host);
            let of =
                |v: i128| format!("{v} {v:?} |{v:45}|{v:<45}|{v:045}| {v:x} {v:#X} {v:o} {v:#050x} {}\n", v as i32);
            let signed: String = x.map(of).concat();
            let unsigned = y.map(|v| format!("{v}, {v:#034x} and {v:010}\n")).concat();
            assert_eq!(device, signed + &unsigned);
        }
    }
}

#[test]
fn composed_values_print_as_on_the_host() {
    match std::env::var(ROLE).as_deref() {
        Ok("device") => marked(|| {
            composed::launch((1, 1), &on_device(&SINGLE), &on_device(&[-7, 12])).expect("it compiles");
            context().synchronize().expect("it runs");
        }),
        Ok("host") => marked(|| for_each_thread((1, 1), || composed(&SINGLE, &[-7, 12]))),
        _ => {
            let roles = ["device", "host"];
            let [device, host] = roles.map(|role| child("composed_values_print_as_on_the_host", role));
            assert_eq!(device, host);
            let lines: Vec<&str> = device.lines().collect();
            let (five, none): (_, Option<f32>) = (format!("{:#b}", 5u8), None);
            assert_eq!(lines[0], "(-7, 2.5, true) (-7,) ((), (1, [-7, 12]))");
            assert_eq!(lines[1], format!("Some(0) {none:?} {:?} [Some(0), None]", Some((12, none))));
            assert_eq!(lines[2], format!("{:?} {:?} {:?}", Level::Low, [Level::High; 2], (-7).cmp(&12)));
            assert_eq!(lines[3], "Dim3 { x: 0, y: 0, z: 0 } 1");
            assert_eq!(lines[4], format!("(  0.00,     -7)|{:+?}|{:<5?}|", [12; 2], Some(-7)));
            assert_eq!(lines[5], "-7 +12 +7 +8 +9 -0 +00012 +5    |");
            assert_eq!(lines[6], "+10 +1.00 +1.000000e-01 +12 true");
            assert_eq!(
                lines[7],
                format!("{:b} {five} {:012b} {:#018b} |{:12b}|{:<12b}| {:b}", 12, 12, 6u64, 3u16, 3u16, -7i8)
            );
            assert_eq!(lines[8], format!("{:b} {:#b}", u128::MAX, 1i128 << 100));
        }
    }
}

/// Floats whose text differs from Rust's, and many others.
fn floats() -> (Vec<f32>, Vec<f64>) {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state
    };
    let (mut x, mut y) =
        (vec![f32::NAN, -0.0, 0.1, 1e21, f32::NEG_INFINITY], vec![f64::NAN, -0.0, 0.1, 1e21, 1.0 / 3.0]);
    x.extend((0..200).map(|_| f32::from_bits((next() >> 32) as u32)).filter(|v| !v.is_nan()));
    y.extend((0..200).map(|_| f64::from_bits(next())).filter(|v| !v.is_nan()));
    (x, y)
}

/// `{}` prints six digits, like C's `%g`; the output of `{:?}` parses to the same number.
#[test]
fn floats_are_short_or_exact() {
    let (x, y) = floats();
    if std::env::var(ROLE).is_ok() {
        return marked(|| {
            plain_and_exact::launch((1, 1), &on_device(&x), &on_device(&y)).expect("it compiles");
            context().synchronize().expect("it runs");
        });
    }
    let text = child("floats_are_short_or_exact", "device");
    let lines: Vec<(&str, &str)> = text.lines().map(|line| line.split_once(' ').expect("two texts")).collect();
    assert_eq!(
        lines[..5],
        [("nan", "nan"), ("-0", "-0"), ("0.1", "0.100000001"), ("1e+21", "1.00000002e+21"), ("-inf", "-inf")]
    );
    let double = &lines[x.len()..];
    let third = ("0.333333", "0.33333333333333331");
    assert_eq!(double[..5], [("nan", "nan"), ("-0", "-0"), ("0.1", "0.10000000000000001"), ("1e+21", "1e+21"), third]);
    assert_eq!(lines.len(), x.len() + y.len());
    for ((short, exact), v) in lines.iter().zip(&x).skip(1) {
        assert_eq!(exact.parse::<f32>().expect("a number").to_bits(), v.to_bits(), "{v:?}");
        assert!(
            (short.parse::<f32>().expect("a number") - v).abs() <= v.abs() * 5.1e-6
                || v.is_infinite()
                || !v.is_normal()
        );
    }
    for ((_, exact), v) in double.iter().zip(&y).skip(1) {
        assert_eq!(exact.parse::<f64>().expect("a number").to_bits(), v.to_bits(), "{v:?}");
    }
}

#[test]
fn each_thread_prints_in_its_order() {
    if std::env::var(ROLE).is_ok() {
        let context = context();
        let _selected = context.select();
        return marked(|| {
            threads::launch((3, 40), 5_usize).expect("it compiles");
            context.synchronize().expect("it runs");
        });
    }
    let text = child("each_thread_prints_in_its_order", "device");
    let mut seen = vec![0; 120];
    for line in text.lines() {
        let (thread, count) = line.split_once(' ').expect("two numbers");
        let (thread, count): (usize, usize) = (thread.parse().expect("a thread"), count.parse().expect("a count"));
        assert_eq!(seen[thread], count, "thread {thread}");
        seen[thread] += 1;
    }
    assert_eq!(seen, [5; 120]);
}

/// A device function with the name of the driver's stays the user's own.
#[device]
fn vprintf(value: u32) -> u32 {
    value + 1
}

#[kernel]
fn own_name(out: &mut [u32]) {
    out[0] = vprintf(out[0]);
    printf!("");
}

#[test]
fn a_function_named_as_the_drivers() {
    let mut out = on_device(&[1_u32]);
    own_name::launch((1, 1), &mut out).expect("it compiles");
    assert_eq!(super::on_host(&out), [2]);
    assert!(own_name::compile_ptx((9, 0)).expect("it compiles").contains("vprintf"));
}
