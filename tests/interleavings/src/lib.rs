//! Property tests over random interleavings of threads, streams, drops, faults and scopes, on two software devices.
//!
//! A program is a list of operations for each of two to four threads. They use their own and shared device arrays, in their own
//! and shared streams, borrow host memory, drop objects with work in flight, and launch kernels that panic. A model computes the
//! contents of the arrays; each panic has a number, so that its reports can be counted. Borrowed memory is freed as soon as the
//! borrow has ended, and vectors that reuse the memory must never change.
//!
//! `PROPTEST_CASES` sets the number of cases, which is small by default.

#![cfg(test)]

mod panics;
mod program;
mod worker;
mod world;

use std::num::NonZeroU32;

use cuda_prelude::*;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, TestRunner};

use cuda_tests_support::in_own_process;

/// Two devices, each with more than one worker regardless of the machine's cores.
const TWO_DEVICES: [(&str, Option<&str>); 4] = [
    ("CUDA_DRIVER_PATH", Some("sim")),
    ("CUDA_SIM_DEVICES", Some("2")),
    ("CUDA_SIM_THREADS", Some("4")),
    ("CUDA_JIT_WARNINGS", Some("none")),
];

/// Applies `rounds` steps to each number, whose result depends on the order of the steps.
#[kernel]
fn step(x: &mut [u32], by: u32, rounds: u32) {
    let i = grid::<1>();
    if i < x.len() {
        for _ in 0..rounds {
            x[i] = x[i].wrapping_mul(1_664_525).wrapping_add(by);
        }
    }
}

/// Writes to the array, and panics in one of its threads.
#[kernel]
fn fail(x: &mut [u32], number: u32) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] = number;
        assert!(i != 7, "number {number}");
    }
}

/// The number of cases of a property, unless `PROPTEST_CASES` is set.
fn cases(usual: u32) -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.map_or(usual, |text| text.parse::<NonZeroU32>().expect("`PROPTEST_CASES` is a number from 1 on").get())
}

/// Runs programs with these kinds of operations in this process.
fn check_programs(usual: u32, kinds: &'static [(u32, program::Kind)]) {
    // A failure depends on the order in which threads run, so shrinking is limited.
    let config = Config { cases: cases(usual), failure_persistence: None, max_shrink_iters: 40, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let result = runner.run(&program::programs(kinds), |program| {
        world::run(&program, None);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn programs_match_their_model_and_report_their_panics() {
    let test = "programs_match_their_model_and_report_their_panics";
    in_own_process(test, &TWO_DEVICES, || check_programs(300, program::USUAL));
}

#[test]
fn forgotten_guards_cause_no_errors() {
    let test = "forgotten_guards_cause_no_errors";
    in_own_process(test, &TWO_DEVICES, || check_programs(100, program::FORGETTING));
}

/// The variable with the seed of a process whose device faults.
const SEED: &str = "CUDA_TESTS_INTERLEAVINGS_SEED";

#[test]
fn a_fault_affects_neither_borrowed_memory_nor_the_other_device() {
    let test = "a_fault_affects_neither_borrowed_memory_nor_the_other_device";
    let seeds = match std::env::var(SEED) {
        Ok(_) => 0..1,
        Err(_) => 0..cases(20),
    };
    for seed in seeds {
        let seed = seed.to_string();
        let variables: Vec<_> = TWO_DEVICES.into_iter().chain([(SEED, Some(&*seed))]).collect();
        in_own_process(test, &variables, fault_once);
    }
}

fn fault_once() {
    let seed: u64 = std::env::var(SEED).expect("the parent has set it").parse().expect("it is a number");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = proptest::test_runner::TestRng::from_seed(proptest::test_runner::RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng);
    let faulting = (program::programs(program::FAULTING), 0..24_usize);
    let (program, at) = faulting.new_tree(&mut runner).expect("there are programs").current();
    println!("seed {seed}, the fault before operation {at} of thread 0: {program:#?}");
    world::run(&program, Some(at));
}
