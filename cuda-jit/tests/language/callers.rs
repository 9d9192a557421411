//! `#[track_caller]`: panics have the same location as on the host.

use std::panic::{catch_unwind, set_hook, take_hook};
use std::sync::Mutex;

use cuda_jit::{device, kernel};

use super::{context, on_device};

#[device]
#[track_caller]
fn positive(v: i32) -> i32 {
    assert!(v > 0, "not positive");
    v
}

#[device]
#[track_caller]
fn through(v: i32) -> i32 {
    positive(v) + 1
}

#[device]
fn within(v: i32) -> i32 {
    let half = v / 2;
    positive(half)
}

#[device]
#[track_caller]
fn called<F: Fn(i32) -> i32>(v: i32, f: F) -> i32 {
    let checked = |v: i32| 10 / v;
    f(v) + checked(v - 7) + 100 / (v - 8)
}

#[device]
#[track_caller]
fn countdown(v: i32) -> i32 {
    if v == 0 { panic!("at zero") } else { countdown(v - 1) }
}

struct Limit;

#[device]
trait Checked {
    fn checked(self, least: i32) -> i32;
}

#[device]
impl Checked for i32 {
    #[track_caller]
    fn checked(self, least: i32) -> i32 {
        if self < least {
            panic!("{} is less than {least}", self);
        }
        self
    }
}

#[device]
impl Limit {
    #[track_caller]
    fn at(x: &[i32], i: usize) -> i32 {
        x[i]
    }
}

#[device]
#[track_caller]
fn unwrapped(v: Option<i32>) -> i32 {
    v.unwrap()
}

#[rustfmt::skip]
#[kernel]
fn panics(x: &[i32], mode: u32, v: i32, out: &mut [i32]) {
    out[0] = match mode {
        0 => positive(v),
        1 => 1 + through(
            v),
        2 => within(v),
        3 => called(v, |v| positive(v - 5)),
        4 => countdown(v),
        5 => v
            .checked(3),
        6 => Limit::at(x, v as usize),
        7 => *x.get(v as usize).unwrap(),
        8 => x
            .first()
            .filter(|first| **first > v)
            .copied()
            .expect("the first is {large}"),
        9 => Some(v).map(|v| v.checked_add(1).unwrap() + x.get(v as usize).copied().expect("{")).unwrap_or(3),
        10 => unwrapped(x.get(v as usize).copied()),
        _ => v,
    };
}

/// The message, file, line and column of the panic on the host.
fn on_host(run: impl FnOnce() + std::panic::UnwindSafe) -> (String, String, u32, u32) {
    static PLACE: Mutex<Option<(String, String, u32, u32)>> = Mutex::new(None);
    let hook = take_hook();
    set_hook(Box::new(|info| {
        let (at, text) = (info.location().unwrap(), info.payload_as_str().unwrap_or_default());
        *PLACE.lock().unwrap() = Some((text.to_owned(), at.file().to_owned(), at.line(), at.column()));
    }));
    catch_unwind(run).unwrap_err();
    set_hook(hook);
    PLACE.lock().unwrap().take().unwrap()
}

#[test]
fn panics_are_where_the_caller_is() {
    if !super::in_child_process("language::callers::panics_are_where_the_caller_is") {
        return;
    }
    let cases =
        [(0, -1), (1, 0), (2, 1), (3, 5), (3, 7), (3, 8), (4, 2), (5, 2), (6, 9), (7, 4), (8, 2), (9, 2), (10, 3)];
    for (mode, v) in cases {
        let host = on_host(move || panics(&[1, 2], mode, v, &mut [0]));
        panics::launch((1, 1), &on_device(&[1, 2]), mode, v, &mut on_device(&[0])).unwrap();
        let Err(cuda_driver::Error::KernelPanic(panic)) = context().synchronize() else { panic!("{host:?}") };
        let device = (panic.message, panic.file, panic.line, panic.column);
        let words = |text: &str| text.replace("attempt to divide by zero", "division by zero");
        assert_eq!((words(&host.0), &host.1, host.2), (device.0, &device.1, device.2), "{mode}, {v}");
        assert_eq!(host.3, device.3, "{mode}, {v}: {host:?}");
    }
}
