//! The same test on the other engine, and of code that is not optimised: each in a process of its own, because these are chosen once
//! for a process.

use std::process::{Child, Command, Stdio};
use std::{env, thread};

/// The variables of the other processes.
pub(crate) const TWINS: &[(&str, &str)] = &[FIBERS, ("CUDA_SIM_TIER", "quick")];
/// That of the other engine.
pub(crate) const FIBERS: (&str, &str) = ("CUDA_SIM_ENGINE", "fibers");
/// Set in them.
const CHILD: &str = "CONFORMANCE_TWIN";
/// What stands before the digest in its output.
const MARK: &str = "digest of all results: ";

/// All results of a test in one number (FNV-1a).
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) fn add(&mut self, results: &[Vec<[u64; 2]>]) {
        for byte in results.iter().flatten().flatten().flat_map(|word| word.to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

/// Returns true in such a process.
pub(crate) fn is_one() -> bool {
    env::var_os(CHILD).is_some()
}

/// Runs tests of this executable with a variable.
fn start(arguments: &[&str], (variable, value): (&str, &str)) -> Child {
    let this = env::current_exe().expect("the test's executable");
    let mut twin = Command::new(this);
    twin.args(arguments).args(["--nocapture", "--test-threads=1"]).env(CHILD, "1").env(variable, value);
    twin.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the test's executable runs")
}

#[track_caller]
fn finish(twin: Child, (variable, value): (&str, &str)) -> String {
    let output = twin.wait_with_output().expect("the twin ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "with {variable}={value}:\n{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Runs the current test here and as twins, and compares what they give.
#[track_caller]
pub(crate) fn agree(twins: &[(&str, &str)], run: impl FnOnce(&mut Digest)) {
    let mut digest = Digest(0xcbf2_9ce4_8422_2325);
    if is_one() {
        run(&mut digest);
        println!("{MARK}{:016x}", digest.0);
        return;
    }
    let current = thread::current();
    let arguments = [current.name().expect("tests have names"), "--exact"];
    let started: Vec<_> = twins.iter().map(|how| start(&arguments, *how)).collect();
    run(&mut digest);
    for (twin, (variable, value)) in started.into_iter().zip(twins) {
        let text = finish(twin, (variable, value));
        let theirs = text.lines().find_map(|line| line.split(MARK).nth(1)).expect("the twin's digest");
        assert_eq!(format!("{:016x}", digest.0), theirs, "{variable}={value} differs in a bit");
    }
}

/// The tests that state their results themselves hold there as well.
#[test]
fn own_cases_hold_on_twins() {
    if !is_one() {
        let all = ["bulk::", "control::", "copies::", "matrix::", "mbarrier::", "memory::", "sync::"]
            .into_iter()
            .flat_map(|module| TWINS.iter().map(move |how| (module, *how)));
        let started: Vec<_> = all.map(|(module, how)| (module, how, start(&[module], how))).collect();
        for (module, how, twin) in started {
            let text = finish(twin, how);
            assert!(text.contains("test result: ok") && !text.contains(" 0 passed"), "{module} has no tests:\n{text}");
        }
    }
}
