//! Panic checks that the compiler hoists out of loops, or at which it splits loops: a thread's side effects before the
//! panic, and the message, stay the same.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use cuda_jit::device::{shared, sync_threads, thread_idx};
use cuda_jit::kernel;

use super::{context, on_device, on_host};

/// The panic message of the previous launch.
fn take_message() -> Option<String> {
    match context().synchronize() {
        Ok(()) => None,
        Err(cuda_driver::Error::KernelPanic(panic)) => Some(panic.message),
        Err(error) => panic!("{error}"),
    }
}

#[kernel]
fn upward(n: usize, x: &[u32], out: &mut [u32]) {
    for k in 0..n {
        out[k] = x[k] + 1;
    }
}

#[kernel]
fn downward(n: usize, x: &[u32], out: &mut [u32]) {
    for k in (0..n).rev() {
        out[k] = x[k] + 1;
    }
}

#[kernel]
fn strided(n: usize, x: &[u32], out: &mut [u32]) {
    for k in (1..n).step_by(3) {
        out[k] += x[k];
    }
}

#[kernel]
fn shifted(n: usize, x: &[u32], out: &mut [u32]) {
    for k in 0..n {
        out[0] += x[k + 2];
        out[1] += x[k];
    }
}

#[kernel]
fn behind(n: usize, x: &[u32], out: &mut [u32]) {
    for k in 0..n {
        out[0] += 1;
        out[k % 4] += x[k.wrapping_sub(1)];
    }
}

#[kernel]
fn narrow(n: usize, x: &[u32], out: &mut [u32]) {
    for k in -2..n as i32 {
        out[0] += 1;
        out[1] += x[(k + 2) as usize];
    }
}

#[kernel]
fn nested(n: usize, x: &[u32], out: &mut [u32]) {
    for i in 0..n {
        for k in i..n {
            out[i] += x[i + k];
        }
    }
}

#[kernel]
fn searched(n: usize, x: &[u32], out: &mut [u32]) {
    let mut k = 0;
    while k < n {
        out[0] = k as u32;
        if x[k] == 7 {
            break;
        }
        k += 1;
    }
}

/// The output and the panic message of a function on the host.
fn by_host(function: impl FnOnce(&mut [u32]), out: &[u32]) -> (Vec<u32>, Option<String>) {
    let mut out = out.to_vec();
    let said = catch_unwind(AssertUnwindSafe(|| function(&mut out))).err();
    let message = said.map(|payload| {
        let text = payload.downcast_ref::<String>().expect("an index is out of bounds").clone();
        let numbers: Vec<&str> = text.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty()).collect();
        let [len, index] = numbers[..] else { panic!("{text}") };
        format!("index out of bounds: the len is {len} but the index is {index}")
    });
    (out, message)
}

#[test]
fn a_split_loop_has_the_same_effects_before_its_panic() {
    if !super::in_child_process("language::hoisted_checks::a_split_loop_has_the_same_effects_before_its_panic") {
        return;
    }
    set_hook(Box::new(|_| {}));
    let mut panics = 0;
    macro_rules! check {
        ($($kernel:ident)*) => { $(
            for (n, len, room) in [(0, 0, 4), (1, 0, 4), (5, 5, 9), (40, 30, 45), (40, 60, 45), (40, 60, 30), (33, 32, 33)] {
                let x: Vec<u32> = (0..len).map(|k| k * k % 13 + 1).collect();
                let out: Vec<u32> = (0..room).collect();
                let host = by_host(|out| $kernel(n, &x, out), &out);
                let device = on_device(&out);
                let mut device = device;
                $kernel::launch((1, 1), n, &on_device(&x), &mut device).unwrap();
                let message = take_message();
                panics += usize::from(message.is_some());
                assert_eq!((on_host(&device), message), host, "{} of {n}, {len} and {room}", stringify!($kernel));
            }
        )* };
    }
    check!(upward downward strided shifted behind narrow nested searched);
    assert!((20..40).contains(&panics), "{panics} panics");
}

const TILE: usize = 8;

/// The store's check follows a conditional load and is loop-invariant.
#[kernel]
fn tiled(n: usize, x: &[u32], out: &mut [u32]) {
    let tile = shared!([u32; TILE]);
    let t = thread_idx().x;
    let mut sum = 0;
    for k in 0..n {
        tile[t] = if k * TILE + t < x.len() { x[k * TILE + t] } else { 0 };
        sync_threads();
        for j in 0..TILE {
            sum += tile[j];
        }
        sync_threads();
    }
    out[t] = sum + 1;
}

/// The same after a store that other threads can observe.
#[kernel]
fn tiled_and_told(n: usize, x: &[u32], out: &mut [u32]) {
    let tile = shared!([u32; TILE]);
    let t = thread_idx().x;
    for k in 0..n {
        out[t] = k as u32 + 50;
        tile[t] = if k * TILE + t < x.len() { x[k * TILE + t] } else { 0 };
        sync_threads();
    }
}

/// The same after another panic, which must be the one reported.
#[kernel]
fn tiled_behind(n: usize, x: &[u32], out: &mut [u32]) {
    let tile = shared!([u32; TILE]);
    let t = thread_idx().x;
    for k in 0..n {
        let value = x[k];
        tile[t] = value;
        sync_threads();
        out[t] += tile[(t + 1) % TILE];
    }
}

/// The same where some iterations do not reach the check.
#[kernel]
fn tiled_sometimes(n: usize, x: &[u32], out: &mut [u32]) {
    let tile = shared!([u32; TILE]);
    let t = thread_idx().x;
    for k in 0..n {
        if k < x.len() && x[k] == 3 {
            tile[t] = k as u32 + 1;
        }
        sync_threads();
        out[t] += 1;
    }
}

/// The same in a nested loop that has no iterations in the first outer one.
#[kernel]
fn tiled_inside(n: usize, x: &[u32], out: &mut [u32]) {
    let tile = shared!([u32; TILE]);
    let t = thread_idx().x;
    for i in 0..n {
        for k in 0..i {
            tile[t] = if k * TILE + t < x.len() { x[k * TILE + t] } else { 0 };
            sync_threads();
        }
        out[t] += 1;
    }
}

#[test]
fn a_hoisted_check_reports_the_same_panic() {
    if !super::in_child_process("language::hoisted_checks::a_hoisted_check_reports_the_same_panic") {
        return;
    }
    let x: Vec<u32> = (0..20).collect();
    macro_rules! run {
        ($kernel:ident, $n:expr, $threads:expr) => {{
            let mut out = on_device(&[9_u32; TILE + 2]);
            $kernel::launch((1, $threads), $n, &on_device(&x), &mut out).unwrap();
            let message = take_message();
            (on_host(&out), message)
        }};
    }
    let beyond = |t: usize| Some(format!("index out of bounds: the len is {TILE} but the index is {t}"));
    let all = x.iter().sum::<u32>() + 1;
    // no panic; no iteration and so no panic; a panic of one thread, whose store after the loop does not happen
    assert_eq!(run!(tiled, 3, 8), ([vec![all; 8], vec![9; 2]].concat(), None));
    assert_eq!(run!(tiled, 0, 10), (vec![1; 10], None));
    assert_eq!(run!(tiled, 3, 9), ([vec![all; 8], vec![9; 2]].concat(), beyond(8)));
    assert_eq!(run!(tiled_and_told, 3, 9), ([vec![52; 8], vec![50, 9]].concat(), beyond(8)));
    assert_eq!(run!(tiled_and_told, 0, 9), (vec![9; 10], None));
    let (out, message) = run!(tiled_behind, 1, 9);
    assert_eq!((out, message), (vec![9; 10], beyond(8)));
    let mut out = on_device(&[9_u32; TILE + 2]);
    tiled_behind::launch((1, 9), 1, &on_device::<u32>(&[]), &mut out).unwrap();
    assert_eq!(take_message().as_deref(), Some("index out of bounds: the len is 0 but the index is 0"));
    assert_eq!(run!(tiled_sometimes, 3, 9), ([vec![12; 9], vec![9]].concat(), None));
    assert_eq!(run!(tiled_sometimes, 6, 9), ([vec![15; 8], vec![12, 9]].concat(), beyond(8)));
    assert_eq!(run!(tiled_inside, 3, 9), ([vec![12; 8], vec![10, 9]].concat(), beyond(8)));
}

/// The lines of a kernel's loop with the barriers: from the label that the last backward branch targets.
fn loop_of(ptx: &str) -> Vec<&str> {
    let lines: Vec<&str> = ptx.lines().map(str::trim).collect();
    let back = |end: usize| {
        let target = lines[end].split_once("bra")?.1.trim_end_matches(';').split_whitespace().last()?;
        lines[..end].iter().position(|line| line.strip_suffix(':') == Some(target))
    };
    let barrier = lines.iter().rposition(|line| line.starts_with("bar.sync")).expect("it has a barrier");
    let around = (barrier..lines.len()).find_map(|end| Some((back(end)?, end)).filter(|(start, _)| *start < barrier));
    let (start, end) = around.unwrap_or_else(|| panic!("the barrier is in no loop\n{ptx}"));
    lines[start..=end].to_vec()
}

#[test]
fn a_tiled_loop_has_no_checks_left() {
    let ptx = tiled::compile_ptx((9, 0)).unwrap();
    let inside = loop_of(&ptx);
    let leaves = |line: &&&str| line.contains("exit") || line.contains("atom.global.cas");
    assert_eq!(inside.iter().filter(leaves).count(), 0, "{inside:#?}");
    // the panicking threads reconverge with the others before they end, and the check after the loop has its own report
    let (before, _) = ptx.split_once(inside[0]).expect("the loop is in it");
    assert!(before.lines().any(|line| line.trim().starts_with('@') && line.ends_with("exit;")), "{ptx}");
    assert_eq!(ptx.matches("atom.global.cas").count(), 2, "{ptx}");
}

#[kernel]
fn dot(n: usize, x: &[f32], y: &[f32], out: &mut [f32]) {
    let mut sum = 0.0;
    for k in 0..n {
        sum += x[k] * y[k];
    }
    out[0] = sum;
}

#[test]
fn a_split_loop_is_unrolled() {
    let ptx = dot::compile_ptx((9, 0)).unwrap();
    assert!(ptx.matches("fma.rn.f32").count() >= 5, "{ptx}");
}
