//! Property tests over random interleavings of threads, streams, drops, faults and scopes, on two software devices.
//!
//! A program is two to four threads with a list of operations each. They use device arrays of their own and shared ones, in
//! streams of their own and shared ones, lend host memory, leave work in flight where they drop things, and launch kernels that
//! panic. A model computes beside it what the arrays contain; each panic has a number, so that who is told of it can be counted.
//! Memory that was lent is dropped as soon as its borrow has ended, and vectors that take its place must never change.
//!
//! `PROPTEST_CASES` runs more cases than the few of the usual run.

mod panics;
mod program;
mod worker;
mod world;

use std::num::NonZeroU32;

use cuda_prelude::*;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, TestRunner};

use crate::support::in_own_process;

/// Two devices, each with more than one worker whatever the machine has.
const TWO_DEVICES: [(&str, Option<&str>); 4] = [
    ("CUDA_DRIVER_PATH", Some("sim")),
    ("CUDA_SIM_DEVICES", Some("2")),
    ("CUDA_SIM_THREADS", Some("4")),
    ("CUDA_JIT_WARNINGS", Some("none")),
];

/// A step of a number that depends on the order of steps; `rounds` of them.
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

/// Runs programs of such operations in this process.
fn hold(usual: u32, kinds: &'static [(u32, program::Kind)]) {
    // A failure depends on the order in which threads run, so that shrinking has to be short.
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
fn programs_compute_what_their_model_does_and_are_told_of_their_panics() {
    let test = "interleavings::programs_compute_what_their_model_does_and_are_told_of_their_panics";
    in_own_process(test, &TWO_DEVICES, || hold(300, program::USUAL));
}

#[test]
fn guards_that_are_forgotten_harm_nobody() {
    let test = "interleavings::guards_that_are_forgotten_harm_nobody";
    in_own_process(test, &TWO_DEVICES, || hold(100, program::FORGETTING));
}

/// The seed of the one case of a process whose device faults.
const SEED: &str = "CUDA_TESTS_INTERLEAVINGS_SEED";

#[test]
fn a_device_that_faults_leaves_lent_memory_and_the_other_device_alone() {
    let test = "interleavings::a_device_that_faults_leaves_lent_memory_and_the_other_device_alone";
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
