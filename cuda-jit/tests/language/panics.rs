//! Panics in kernels: their messages, and the effects that remain.

use cuda_driver::KernelPanic;
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, device_fn, f16, kernel};

use super::{context, on_device, on_host};

/// The panic of the previous launch.
fn take_panic() -> Option<KernelPanic> {
    match context().synchronize() {
        Ok(()) => None,
        Err(cuda_driver::Error::KernelPanic(panic)) => Some(*panic),
        Err(error) => panic!("{error}"),
    }
}

/// The line of the access in [`gather`].
const GATHER_LINE: u32 = line!() + 6;

#[kernel]
fn gather(x: &[f32], index: &[u32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[index[i] as usize];
    }
}

#[device]
fn halve(n: i32, by: i32) -> i32 {
    n / by
}

#[kernel]
fn divide(x: &[i32], y: &[i32], out: &mut [i32]) {
    let i = grid::<1>();
    out[i] = halve(x[i], y[i]) + x[i] % (y[i] + 1);
}

#[kernel]
fn assertions(mode: u32, out: &mut [u32]) {
    let i = grid::<1>();
    assert!(mode != 1 || i != 2, "thread two");
    assert_eq!(mode == 2 && i == 3, false);
    match mode {
        3 => panic!("mode three"),
        4 => unreachable!(),
        5 => unimplemented!("mode five"),
        6 => {
            let (low, high) = (4u32, mode - 3);
            out[i] = 5u32.clamp(low, high);
        }
        7 => for _ in (0..4u32).step_by(out.len() - 4) {},
        _ => out[i] = mode,
    }
}

#[kernel(checked)]
fn overflows(mode: u32, x: i32, out: &mut [i32]) {
    out[0] = match mode {
        0 => x + 1,
        1 => -x - 2,
        2 => x * 2,
        3 => 1 << (x - (i32::MAX - 32)),
        4 => -(-x - 1),
        5 => (-x - 1).abs(),
        _ => x,
    };
}

#[test]
fn panics_come_back_as_errors() {
    if super::in_child_process("language::panics::panics_come_back_as_errors") {
        panics();
    }
}

/// One test, since all panics share the context's record.
fn panics() {
    let x = on_device(&[10.0f32, 20.0, 30.0]);
    let index = on_device(&[2u32, 1, 7, 0]);
    let mut out = on_device(&[0.0f32; 4]);
    gather::launch((2, 2), &x, &index, &mut out).unwrap();
    let panic = take_panic().expect("7 is beyond x");
    assert_eq!(panic.kernel, "gather");
    assert_eq!(panic.message, "index out of bounds: the len is 3 but the index is 7");
    assert!(panic.file.ends_with("tests/language/panics.rs"), "{}", panic.file);
    assert_eq!((panic.line, panic.column), (GATHER_LINE, 18));
    assert_eq!((panic.block, panic.thread), ([1, 0, 0], [0, 0, 0]));
    // the panic is reported once, the other threads' results are there, and the next launch works
    assert!(take_panic().is_none());
    assert_eq!(on_host(&out), [30.0, 20.0, 0.0, 10.0]);
    let index = on_device(&[2u32, 1, 0, 0]);
    gather::launch((1, 4), &x, &index, &mut out).unwrap();
    assert_eq!(on_host(&out), [30.0, 20.0, 10.0, 10.0]);

    let message = |launch: &dyn Fn()| {
        launch();
        take_panic().map(|panic| panic.message)
    };
    let divide =
        |x: i32, y: i32| message(&|| divide::launch((1, 1), &vec![x], &vec![y], &mut on_device(&[0])).unwrap());
    assert_eq!(divide(1, 0).as_deref(), Some("division by zero"));
    assert_eq!(divide(i32::MIN, -1).as_deref(), Some("division overflows"));
    assert_eq!(divide(7, -1).as_deref(), Some("remainder by zero"));
    assert_eq!(divide(i32::MIN, -2).as_deref(), Some("remainder overflows"));
    assert_eq!(divide(7, 2), None);

    let assertions = |mode: u32| message(&|| assertions::launch((1, 4), mode, &mut on_device(&[0u32; 4])).unwrap());
    assert_eq!(assertions(0), None);
    assert_eq!(assertions(1).as_deref(), Some("thread two"));
    assert_eq!(assertions(2).as_deref(), Some("assertion `left == right` failed\n  left: true\n right: false"));
    assert_eq!(assertions(3).as_deref(), Some("mode three"));
    assert_eq!(assertions(4).as_deref(), Some("entered unreachable code"));
    assert_eq!(assertions(5).as_deref(), Some("not implemented: mode five"));
    assert_eq!(assertions(6).as_deref(), Some("the lower bound of `clamp` is greater than the upper bound"));
    assert_eq!(assertions(7).as_deref(), Some("assertion failed: step != 0"));

    let overflows = |mode: u32, x: i32| message(&|| overflows::launch((1, 1), mode, x, &mut on_device(&[0])).unwrap());
    assert_eq!(overflows(0, i32::MAX).as_deref(), Some("addition overflows"));
    assert_eq!(overflows(1, i32::MAX).as_deref(), Some("subtraction overflows"));
    assert_eq!(overflows(2, i32::MAX).as_deref(), Some("multiplication overflows"));
    assert_eq!(overflows(3, i32::MAX).as_deref(), Some("the shift's amount is not less than the width"));
    assert_eq!(overflows(4, i32::MAX).as_deref(), Some("negation overflows"));
    assert_eq!(overflows(5, i32::MAX).as_deref(), Some("absolute value overflows"));
    assert_eq!(overflows(0, 1), None);
}

#[kernel]
fn calls<F: Fn(u32) -> u32>(f: F, out: &mut [u32]) {
    out[0] = f(out[0]);
}

#[test]
fn a_closure_of_the_host_panics_where_it_is_written() {
    if !super::in_child_process("language::panics::a_closure_of_the_host_panics_where_it_is_written") {
        return;
    }
    let (k, line, mut out) = (0, line!() + 1, on_device(&[7u32]));
    let f = device_fn!(|v: u32| v / k);
    calls::launch((1, 1), f, &mut out).unwrap();
    let panic = take_panic().expect("it divides by zero");
    assert_eq!((panic.kernel.as_str(), panic.line), ("calls_closure", line));
    assert!(panic.file.ends_with("panics.rs") && panic.message == "division by zero", "{panic}");
}

#[kernel(checked)]
fn calls_checked<F: Fn(u32) -> u32>(f: F, out: &mut [u32]) {
    out[0] = f(out[0]);
}

#[test]
fn a_closure_that_a_checked_kernel_calls_is_checked() {
    if !super::in_child_process("language::panics::a_closure_that_a_checked_kernel_calls_is_checked") {
        return;
    }
    let (k, mut out) = (1, on_device(&[u32::MAX]));
    let f = device_fn!(|v: u32| v + k);
    calls_checked::launch((1, 1), f, &mut out).unwrap();
    assert_eq!(take_panic().expect("it overflows").message, "addition overflows");
    calls::launch((1, 1), f, &mut out).unwrap();
    assert_eq!((take_panic().is_none(), on_host(&out)), (true, vec![0]));
}

#[kernel]
fn says(mode: u32, x: &[f32], n: i64, out: &mut [f32]) {
    let i = grid::<1>();
    let (v, half) = (x[i], f16::from_f32(0.1));
    match mode {
        0 => assert!(v > 100.0, "x = {v} at {}: {:?}, {:08.3}|{half:<12}|{:e}", i, v, v, 1500.0),
        1 => panic!("{n:#x} {0:>5} {0:05} {1} {n} {{}} {{0}}", -7i16, n < 0),
        2 => assert_eq!(v, 2.0),
        3 => assert_ne!(n + 1, -2, "of {}", x.len()),
        4 => assert_eq!(&x[..1], [7.0], "n is {n}"),
        5 => unreachable!("mode {}", mode + 1),
        6 => todo!("{:X}", out.len()),
        7 => assert!(n > 0, "{} {} {} {} {} {} {} {}", 1u8, 2u16, 3u32, 4u64, 5i8, 6.5f64, v, true),
        8 => out[0] = x[n as usize],
        _ => {}
    }
    out[i] = v;
}

#[test]
fn messages_have_values() {
    if !super::in_child_process("language::panics::messages_have_values") {
        return;
    }
    let x = on_device(&[1.5f32]);
    let said = |mode: u32, n: i64| {
        says::launch((1, 1), mode, &x, n, &mut on_device(&[0.0])).unwrap();
        let error = cuda_jit::Error::from(context().synchronize().unwrap_err());
        error.kernel_panic().expect("it panics").message.clone()
    };
    let v = 1.5f32;
    assert_eq!(said(0, 0), format!("x = {v} at {}: {:?}, {:08.3}|{:<12}|{:e}", 0, v, v, f16::from_f32(0.1), 1500.0));
    let n = -3i64;
    assert_eq!(said(1, n), format!("{n:#x} {0:>5} {0:05} {1} {n} {{}} {{0}}", -7i16, n < 0));
    assert_eq!(said(2, 0), "assertion `left == right` failed\n  left: 1.5\n right: 2.0");
    assert_eq!(said(3, -3), "assertion `left != right` failed: of 1\n  left: -2\n right: -2");
    assert_eq!(said(4, 9), "assertion `left == right` failed: n is 9");
    assert_eq!(said(5, 0), "entered unreachable code: mode 6");
    assert_eq!(said(6, 0), "not yet implemented: 1");
    assert_eq!(said(7, 0), "1 2 3 4 5 6.5 1.5 true");
    assert_eq!(said(8, 5), "index out of bounds: the len is 1 but the index is 5");
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(u8)]
enum State {
    Idle,
    Busy,
}

#[kernel]
fn composed(mode: u32, x: &[f32], out: &mut [f32]) {
    let (a, none) = (x.first().copied(), x.get(99).copied());
    let state = if x[0] > 0.0 { State::Busy } else { State::Idle };
    match mode {
        0 => assert_eq!((x[0], mode), (2.5, 1)),
        1 => assert_eq!([x[0], x[1]], [x[1]; 2], "at {:?}", (mode, state)),
        2 => assert_eq!(a, none),
        3 => assert_ne!(state, State::Busy),
        4 => panic!("{:?} {none:?} {:?} {:+} {:#010b}", a, [mode; 2], mode, mode),
        5 => assert_eq!([x[0]; 9], [x[1]; 9]),
        _ => out[0] = a.map_or(0.0, |v| v + none.unwrap_or(1.0)),
    }
}

#[test]
fn panics_print_aggregates() {
    if !super::in_child_process("language::panics::panics_print_aggregates") {
        return;
    }
    let none: Option<f32> = None;
    let says = [
        "assertion `left == right` failed\n  left: (1.5, 0)\n right: (2.5, 1)".to_owned(),
        "assertion `left == right` failed: at (1, Busy)\n  left: [1.5, -4.0]\n right: [-4.0, -4.0]".to_owned(),
        "assertion `left == right` failed\n  left: Some(1.5)\n right: None".to_owned(),
        "assertion `left != right` failed\n  left: Busy\n right: Busy".to_owned(),
        format!("{:?} {none:?} {:?} {:+} {:#010b}", Some(1.5f32), [4; 2], 4, 4),
        "assertion `left == right` failed".to_owned(),
    ];
    for (mode, message) in (0..).zip(says) {
        composed::launch((1, 1), mode, &on_device(&[1.5, -4.0]), &mut on_device(&[0.0])).unwrap();
        assert_eq!(take_panic().expect("the kernel panicked").message, message);
    }
}
