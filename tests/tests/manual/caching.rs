//! The disk cache: a process loads the kernels that an earlier process compiled.

use cuda_prelude::*;

use crate::support::in_own_process;

#[kernel]
fn doubled(x: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] *= 2;
    }
}

#[test]
fn the_second_process_compiles_nothing() {
    const TEST: &str = "manual::caching::the_second_process_compiles_nothing";
    let folder = tempfile::tempdir().unwrap();
    let variables = [("CUDA_JIT_CACHE_DIR", Some(folder.path().to_str().unwrap()))];
    let run = || {
        in_own_process(TEST, &variables, || {
            let mut x = vec![1, 2, 3];
            doubled::launch((1, 32), &mut x).unwrap();
            assert_eq!(x, [2, 4, 6]);
            let stats = doubled::stats();
            println!("hits {} misses {}", stats.hits, stats.misses);
        })
    };
    let first = run();
    if first.is_empty() {
        return;
    }
    assert!(first.contains("hits 0 misses 1"), "{first}");
    let second = run();
    assert!(second.contains("hits 1 misses 0"), "{second}");
}
