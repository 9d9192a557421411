//! Counterpart processes: the same test on the other engine, and with unoptimised code. Each runs in a process of its
//! own, because these are chosen once per process.

use std::process::{Child, Command, Stdio};
use std::{env, thread};

/// The variables of the other processes.
pub(crate) const COUNTERPARTS: &[(&str, &str)] = &[FIBERS, ("CUDA_SIM_TIER", "quick")];
/// The variable of the other engine.
pub(crate) const FIBERS: (&str, &str) = ("CUDA_SIM_ENGINE", "fibers");
/// Set in those processes.
const CHILD: &str = "CONFORMANCE_COUNTERPART";
/// The text before the digest in a process's output.
const MARK: &str = "digest of all results: ";

/// A hash of all results of a test (FNV-1a).
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
    let mut counterpart = Command::new(this);
    counterpart.args(arguments).args(["--nocapture", "--test-threads=1"]).env(CHILD, "1").env(variable, value);
    counterpart.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the test's executable runs")
}

#[track_caller]
fn finish(counterpart: Child, (variable, value): (&str, &str)) -> String {
    let output = counterpart.wait_with_output().expect("the counterpart ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "with {variable}={value}:\n{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Runs the current test here and in the counterpart processes, and compares the results.
#[track_caller]
pub(crate) fn agree(counterparts: &[(&str, &str)], run: impl FnOnce(&mut Digest)) {
    let mut digest = Digest(0xcbf2_9ce4_8422_2325);
    if is_one() {
        run(&mut digest);
        println!("{MARK}{:016x}", digest.0);
        return;
    }
    let current = thread::current();
    let arguments = [current.name().expect("tests have names"), "--exact"];
    let started: Vec<_> = counterparts.iter().map(|how| start(&arguments, *how)).collect();
    run(&mut digest);
    for (counterpart, (variable, value)) in started.into_iter().zip(counterparts) {
        let text = finish(counterpart, (variable, value));
        let theirs = text.lines().find_map(|line| line.split(MARK).nth(1)).expect("the counterpart's digest");
        assert_eq!(format!("{:016x}", digest.0), theirs, "{variable}={value} differs in a bit");
    }
}

/// The tests with explicit expected results hold there as well.
#[test]
fn own_cases_hold_on_counterparts() {
    if !is_one() {
        let all = ["bulk::", "control::", "copies::", "matrix::", "mbarrier::", "memory::", "signals::", "sync::"]
            .into_iter()
            .flat_map(|module| COUNTERPARTS.iter().map(move |how| (module, *how)));
        let started: Vec<_> = all.map(|(module, how)| (module, how, start(&[module], how))).collect();
        for (module, how, counterpart) in started {
            let text = finish(counterpart, how);
            assert!(text.contains("test result: ok") && !text.contains(" 0 passed"), "{module} has no tests:\n{text}");
        }
    }
}
