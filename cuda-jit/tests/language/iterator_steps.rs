//! Each iterator source and adaptor against the standard library's, driven by proptest: elements are taken from both
//! ends in random order, some are skipped, and a random method takes the rest. Closures log their arguments.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{device, kernel};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// The number of threads of a launch, each with its own sequence.
const THREADS: usize = 64;

/// Appends a closure's argument to the log of its earlier ones.
#[device]
fn note(log: &mut u32, v: u32) {
    *log = log.wrapping_mul(31).wrapping_add(v.wrapping_add(1));
}

/// A random number below a limit (Marsaglia's xorshift).
#[device]
fn random(state: &mut u32, limit: u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state % limit
}

/// The generated inputs of a launch: elements, and a seed for each thread.
fn inputs() -> impl Strategy<Value = ([u32; 12], Vec<u32>)> {
    (prop::array::uniform12(0..9u32), vec(1u32.., THREADS))
}

/// Runs a test with generated inputs.
fn each(test: &dyn Fn(&[u32], &[u32])) {
    let config = ProptestConfig { cases: 6, failure_persistence: None, max_shrink_iters: 100, ..Default::default() };
    let checked = TestRunner::new(config).run(&inputs(), |(elements, seeds)| {
        test(&elements, &seeds);
        Ok(())
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
}

/// A test for each iterator: `|x, n, log|` its expression, a number for each item, and the methods that not all have.
macro_rules! steps {
    ($($name:ident |$x:ident, $n:ident, $log:ident| $items:expr, |$v:pat_param| $value:expr
        $(, [$next_back:ident $nth_back:ident $rfold:ident $rfind:ident $rev:ident])?
        $(, ($len:ident $rposition:ident))?;)*
    ) => { $(
        #[test]
        fn $name() {
            #[kernel]
            fn program(x: &[u32], seeds: &[u32], out: &mut [u32]) {
                let i = grid::<1>();
                let mut state = seeds[i];
                let $x = &x[..random(&mut state, 13) as usize];
                let $n = 1 + random(&mut state, 4) as usize;
                let (mut found, mut $log) = (0u32, 0u32);
                note(&mut $log, $n as u32);
                let turns = random(&mut state, 6);
                let mut items = $items;
                for _ in 0..turns {
                    let skipped = random(&mut state, 3) as usize;
                    let item = match random(&mut state, 4) {
                        0 => items.nth(skipped),
                        $(1 => items.$next_back(),
                        2 => items.$nth_back(skipped),)?
                        _ => items.next(),
                    };
                    note(&mut found, match item { Some($v) => $value, None => 99 });
                }
                match random(&mut state, 12) {
                    0 => found = items.fold(found, |all, $v| all.wrapping_mul(31) ^ $value),
                    1 => note(&mut found, items.count() as u32),
                    2 => note(&mut found, match items.last() { Some($v) => $value, None => 77 }),
                    3 => note(&mut found, items.position(|$v| $value % 3 == 1).unwrap_or(55) as u32),
                    4 => {
                        let all = items.try_fold(0u32, |all, $v| if all > 9 { None } else { Some(all + $value % 4) });
                        note(&mut found, all.unwrap_or(33));
                    }
                    $(5 => found = items.$rfold(found, |all, $v| all.wrapping_mul(31) ^ $value),
                    6 => note(&mut found, match items.$rfind(|_| true) { Some($v) => $value, None => 44 }),
                    7 => { for $v in items.$rev() { note(&mut found, $value) } })?
                    $(8 => note(&mut found, items.$len() as u32),
                    9 => note(&mut found, items.$rposition(|$v| $value % 3 == 1).unwrap_or(66) as u32),)?
                    _ => { for $v in items { note(&mut found, $value) } }
                }
                out[2 * i] = found;
                out[2 * i + 1] = $log;
            }
            each(&|x, seeds| {
                differ!(program, (1, THREADS as u32), [x, seeds], vec![0u32; 2 * THREADS]);
            });
        }
    )* };
}

/// Tests of forward iterators.
macro_rules! forward {
    ($($name:ident |$($given:ident),*| $items:expr, |$v:pat_param| $value:expr;)*) => {
        steps! { $($name |$($given),*| $items, |$v| $value;)* }
    };
}

/// Tests of double-ended iterators.
macro_rules! both {
    ($($name:ident |$($given:ident),*| $items:expr, |$v:pat_param| $value:expr;)*) => {
        steps! { $($name |$($given),*| $items, |$v| $value, [next_back nth_back rfold rfind rev];)* }
    };
}

/// Tests of double-ended iterators of known length.
macro_rules! exact {
    ($($name:ident |$($given:ident),*| $items:expr, |$v:pat_param| $value:expr;)*) => {
        steps! { $($name |$($given),*| $items, |$v| $value, [next_back nth_back rfold rfind rev], (len rposition);)* }
    };
}

forward! {
    take_while |x, n, log| x.iter().take_while(|v| { note(&mut log, **v); **v as usize != n }), |v| *v;
    skip_while |x, n, log| x.iter().skip_while(|v| { note(&mut log, **v); **v as usize > n }), |v| *v;
    map_while |x, n, log| x.iter().map_while(|v| { note(&mut log, *v); v.checked_sub(n as u32 - 1) }), |v| v;
    scan |x, n, log| x.iter().scan(n as u32, |all, v| { note(&mut log, *v); *all += v; if *all < 40 { Some(*all) } else { None } }), |v| v;
    fused_scan |x, n, log| x.iter().scan(0u32, |all, v| { note(&mut log, *v); *all += 1; if *all as usize == n { None } else { Some(*v) } }).fuse(), |v| v;
    cycle_of_so_many |x, n, log| x.iter().map(|v| v + n as u32).inspect(|v| note(&mut log, *v)).take(x.len()).chain(x.iter().cycle().take(n + 9).copied()), |v| v;
    flat_map_of_scans |x, n, log| x.iter().flat_map(|v| { note(&mut log, *v); (0..*v).scan(1u32, |all, w| { *all += w; Some(*all) }) }), |v| v + n as u32;
    successors |x, n, log| std::iter::successors(Some(n as u32), |v| { note(&mut log, *v); if *v < 60 { Some(*v * 2 + x.len() as u32) } else { None } }), |v| v;
    by_ref |x, n, log| { let mut all = x.iter().map(|v| { note(&mut log, *v); *v }); let first = all.by_ref().take(n).sum::<u32>(); all.map_while(move |v| v.checked_sub(first % 3)) }, |v| v;
}

both! {
    filter |x, n, log| x.iter().filter(|v| { note(&mut log, **v); **v as usize % (n + 1) != 0 }), |v| *v;
    filter_map |x, n, log| x.iter().filter_map(|v| { note(&mut log, *v); v.checked_sub(n as u32) }), |v| v;
    chain |x, n, log| x.iter().map(|v| v * 3).inspect(|v| note(&mut log, *v)).chain(x.iter().skip(n).copied()), |v| v;
    flat_map |x, n, log| x.iter().flat_map(|v| { note(&mut log, *v); n as u32..*v }), |v| v;
    flatten |x, n, log| x.chunks(n).inspect(|v| note(&mut log, v.len() as u32)).flatten(), |v| *v;
    flat_map_of_options |x, n, log| x.iter().flat_map(|v| { note(&mut log, *v); v.checked_sub(n as u32) }), |v| v;
    inclusive |x, n, log| n as u32..=x.len() as u32, |v| v;
    characters |x, n, log| ['\u{D7FC}', '\u{D7FD}', '\u{D7FE}', '\u{D7FF}'][n - 1]..['\u{E000}', '\u{E001}', '\u{E005}'][x.len() % 3], |v| v as u32;
    fuse_of_filter |x, n, log| x.iter().filter(|v| { note(&mut log, **v); **v as usize != n }).fuse(), |v| *v;
    peekable_of_filter |x, n, log| x.iter().filter(|v| { note(&mut log, **v); **v as usize != n }).peekable(), |v| *v;
    inspect_of_filter |x, n, log| x.iter().filter(|v| **v as usize != n).inspect(|v| note(&mut log, **v)), |v| *v;
    map_of_chain |x, n, log| x.iter().chain(&x[x.len() / 2..]).map(|v| { note(&mut log, *v); v + 1 }), |v| v;
    rev_of_flat_map |x, n, log| x.iter().flat_map(|v| { note(&mut log, *v); 0..(*v as usize % n) }).rev(), |v| v as u32;
}

exact! {
    elements |x, n, log| x.iter(), |v| *v + n as u32;
    copied |x, n, log| x.iter().copied(), |v| v + n as u32;
    cloned |x, n, log| x.iter().cloned(), |v| v + n as u32;
    map |x, n, log| x.iter().map(|v| { note(&mut log, *v); v + n as u32 }), |v| v;
    enumerate |x, n, log| x.iter().map(|v| { note(&mut log, *v); v + n as u32 }).enumerate(), |(k, v)| v * 16 + k as u32;
    rev |x, n, log| x.iter().map(|v| { note(&mut log, *v); v + n as u32 }).rev(), |v| v;
    zip |x, n, log| x.iter().skip(n).zip(x.iter().map(|v| { note(&mut log, *v); *v })), |(v, w)| v * 16 + w;
    zip_of_maps |x, n, log| x.iter().map(|v| *v + 1).take(n + 3).zip(x.iter().rev().map(|v| { note(&mut log, *v); *v })), |(v, w)| v * 16 + w;
    skip |x, n, log| x.iter().map(|v| { note(&mut log, *v); *v }).skip(n), |v| v;
    take |x, n, log| x.iter().map(|v| { note(&mut log, *v); *v }).take(n), |v| v;
    step_by |x, n, log| x.iter().map(|v| { note(&mut log, *v); *v }).step_by(n), |v| v;
    step_by_of_range |x, n, log| (0..x.len()).step_by(n), |v| v as u32;
    inspect |x, n, log| x.iter().inspect(|v| note(&mut log, **v)), |v| *v + n as u32;
    fuse |x, n, log| x.iter().map(|v| { note(&mut log, *v); v + n as u32 }).fuse(), |v| v;
    peekable |x, n, log| x.iter().map(|v| { note(&mut log, *v); v + n as u32 }).peekable(), |v| v;
    chunks |x, n, log| x.chunks(n), |v| v[0] * 16 + v.len() as u32;
    chunks_exact |x, n, log| x.chunks_exact(n), |v| v[0] * 16 + v[v.len() - 1];
    windows |x, n, log| x.windows(n), |v| v[0] * 16 + v[v.len() - 1];
    range |x, n, log| n as u32..x.len() as u32, |v| v;
    inclusive_of_bytes |x, n, log| 250 - n as u8..=250 + (x.len() as u8 % 6), |v| v as u32;
    signed_range |x, n, log| -(n as i32)..x.len() as i32 - 4, |v| v as u32 % 100;
    array |x, n, log| [x.len() as u32, n as u32, 3, 8].into_iter(), |v| v;
    array_elements |x, n, log| [1, 2, 3, 8][..n.min(x.len())].iter(), |v| *v;
    repeat_n |x, n, log| std::iter::repeat_n(x.len() as u32, n), |v| v;
    once |x, n, log| std::iter::once(x.len() + n), |v| v as u32;
    option |x, n, log| x.get(n).into_iter(), |v| *v;
    skip_of_chunks |x, n, log| x.chunks(n).inspect(|v| note(&mut log, v[0])).skip(1), |v| v[0] * 16 + v.len() as u32;
    rev_of_skip_of_take |x, n, log| x.iter().map(|v| { note(&mut log, *v); *v }).take(9).skip(n).rev(), |v| v;
    step_by_of_zip |x, n, log| x.iter().zip(x.iter().skip(1)).map(|(v, w)| { note(&mut log, *v); v * 16 + w }).step_by(n), |v| v;
    enumerate_of_rev |x, n, log| x.iter().rev().enumerate().map(|(k, v)| { note(&mut log, *v); v * 16 + k as u32 + n as u32 }), |v| v;
}
