//! Arbitrary bytes as PTX: the parser returns a module or an error, a parsed module survives printing and parsing, and an
//! accepted one is compiled to machine code for both engines.
//!
//! `cargo +nightly fuzz run ptx -- -dict=fuzz/ptx.dict`, on the inputs that `seeds` wrote to `fuzz/corpus/ptx`.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(module) = cuda_sim::ptx::parse(text) else { return };
    let printed = module.to_string();
    let again = cuda_sim::ptx::parse(&printed).expect("a printed module can be parsed");
    assert!(again == module, "printing changed the module");
    // An error is fine; a panic is a finding.
    let _ = cuda_sim::compile(text);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| { fuzz::mutate(data, size, max_size, seed) });
