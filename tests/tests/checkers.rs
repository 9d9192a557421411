//! The software device's checkers under programs of the prelude: reports name the lines of the kernels' source, and a launch
//! with a report fails where that is asked for; checks of closures.
//!
//! # Safety
//!
//! An unchecked kernel is launched with arrays that have what it accesses, or in a check that ends it before.

use cuda_prelude::*;

use crate::support::in_own_process;

/// Every thread writes the first element.
#[kernel]
fn racy(out: &mut [u32]) {
    out[0] = thread_idx().x as u32;
}

/// Every thread writes its own element.
#[kernel]
fn apart(out: &mut [u32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = i as u32;
    }
}

static SCALE: Constant<u32> = Constant::new(2);

/// Reads a constant, which keeps device memory to the end of the process.
#[kernel]
fn scaled(out: &mut [u32]) {
    out[thread_idx().x] = SCALE.get();
}

/// Reads the element behind its own.
#[kernel(unchecked)]
fn beyond(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    out[i] = x[i + 1];
}

/// Three rounds of writes and reads by all threads of the grid, with barriers between them. `x` may be too short for the last
/// round of some threads, and with `RACE` all threads write one element in the second round.
#[kernel]
fn rounds_that_panic<const RACE: bool>(x: &[u32], out: &mut [u32]) {
    let (i, everyone) = (grid::<1>(), this_grid());
    for round in 0..3 {
        let at = if RACE && round == 1 { 0 } else { i };
        out[at] = x[i + 32 * round];
        everyone.sync();
        let opposite = out[out.len() - 1 - i];
        everyone.sync();
        out[i] = opposite;
        everyone.sync();
    }
}

/// Checks do not need a variable.
const SIM: [(&str, Option<&str>); 2] = [("CUDA_DRIVER_PATH", Some("sim")), ("CUDA_SIM_CHECK", None)];

#[test]
fn a_closure_is_checked_with_kernels_that_were_loaded_before() {
    let text = in_own_process("checkers::a_closure_is_checked_with_kernels_that_were_loaded_before", &SIM, || {
        let mut out = zeros::<u32, _>(64).unwrap();
        // Without checkers nobody sees it.
        racy::launch((1, 64), &mut out).unwrap();
        synchronize().unwrap();
        let error = check(|| racy::launch((1, 64), &mut out)).unwrap_err();
        let [report] = error.reports() else { panic!("{error}") };
        assert_eq!((report.checker, report.kernel.as_str(), report.accesses.len()), (Checker::Race, "racy", 2));
        assert!(error.to_string().contains("race of two writes in `racy`"), "{error}");
        // Its code had no lines then.
        let is_named =
            |access: &CheckedAccess| access.source.as_ref().is_some_and(|at| at.ends_with("tests/checkers.rs:15"));
        assert!(report.accesses.iter().all(is_named), "{error}");
        assert_eq!(racy::overloads().len(), 1, "the code with lines and that without are one kernel");
        // Another checker has nothing to say, and a correct kernel's closure has its value.
        check_with(&[Checker::Init], || racy::launch((1, 64), &mut out)).unwrap().unwrap();
        let last = check(|| {
            apart::launch((1, 64), &mut out).unwrap();
            out.copy_to_host().unwrap()[63]
        });
        assert_eq!(last.unwrap(), 63);
        // After the closure nothing is checked.
        racy::launch((1, 64), &mut out).unwrap();
        synchronize().unwrap();
    });
    assert!(!text.contains("cuda-sim:"), "{text}");
}

#[test]
fn an_illegal_access_in_a_closure_is_a_report_and_loses_no_context() {
    in_own_process("checkers::an_illegal_access_in_a_closure_is_a_report_and_loses_no_context", &SIM, || {
        let (x, mut out) = (zeros::<u32, _>(64).unwrap(), zeros::<u32, _>(64).unwrap());
        // SAFETY: the checkers end the launch before anything is accessed that is not the array's.
        let error = check(|| unsafe { beyond::launch((1, 64), &x, &mut out) }).unwrap_err();
        let [report] = error.reports() else { panic!("{error}") };
        assert_eq!((report.checker, report.kind.as_str()), (Checker::Memory, "out of bounds"));
        assert_eq!(report.accesses[0].thread, Some([63, 0, 0]), "{error}");
        assert!(report.accesses[0].source.as_ref().is_some_and(|at| at.contains("tests/checkers.rs:")), "{error}");
        apart::launch((1, 64), &mut out).unwrap();
        assert_eq!(out.copy_to_host().unwrap()[63], 63);
    });
}

#[test]
fn threads_check_at_the_same_time() {
    in_own_process("checkers::threads_check_at_the_same_time", &SIM, || {
        std::thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || {
                    for _ in 0..20 {
                        let mut out = zeros::<u32, _>(64).unwrap();
                        match thread % 4 {
                            0 => {
                                let error = check(|| racy::launch((1, 64), &mut out)).unwrap_err();
                                assert!(error.reports().iter().all(|r| r.checker == Checker::Race), "{error}");
                            }
                            1 => check(|| apart::launch((1, 64), &mut out)).unwrap().unwrap(),
                            2 => {
                                let error = check(|| {
                                    // Nobody has written it.
                                    let fresh = device_array::<u32, _>(65).unwrap();
                                    // SAFETY: it has an element for each thread, and one more.
                                    unsafe { beyond::launch((1, 64), &fresh, &mut out) }
                                });
                                let error = error.unwrap_err();
                                assert!(error.reports().iter().all(|r| r.checker == Checker::Init), "{error}");
                            }
                            _ => {
                                // Not checked, and its writes are known to the others.
                                racy::launch((1, 64), &mut out).unwrap();
                                apart::launch((1, 64), &mut out).unwrap();
                                assert_eq!(out.copy_to_host().unwrap()[63], 63);
                            }
                        }
                    }
                });
            }
        });
    });
}

const RACES: [(&str, Option<&str>); 3] =
    [("CUDA_DRIVER_PATH", Some("sim")), ("CUDA_SIM_CHECK", Some("race")), ("CUDA_SIM_CHECK_RESULT", Some("error"))];

#[test]
fn a_report_names_the_line_and_the_launch_fails() {
    let text = in_own_process("checkers::a_report_names_the_line_and_the_launch_fails", &RACES, || {
        let mut out = zeros::<u32, _>(64).unwrap();
        assert!(racy::launch((1, 64), &mut out).and_then(|()| synchronize()).is_err());
    });
    if text.is_empty() {
        return;
    }
    assert_eq!(text.matches("cuda-sim: race: race of two writes in `racy`").count(), 1, "{text}");
    assert!(text.contains("tests/checkers.rs:15"), "{text}");
}

#[test]
fn a_kernel_without_a_race_has_no_report() {
    let text = in_own_process("checkers::a_kernel_without_a_race_has_no_report", &RACES, || {
        let mut out = zeros::<u32, _>(64).unwrap();
        apart::launch((1, 64), &mut out).unwrap();
        assert_eq!(out.copy_to_host().unwrap()[63], 63);
    });
    assert!(!text.contains("cuda-sim: race"), "{text}");
}

/// The last block panics in the last round. The other blocks wait for it at the grid's barrier, which none of their threads
/// passes, so that nothing races but what does before.
#[test]
fn no_thread_passes_a_barrier_of_the_grid_after_a_panic() {
    let name = "checkers::no_thread_passes_a_barrier_of_the_grid_after_a_panic";
    for (race, engine) in [(None, "regions"), (None, "fibers"), (Some("1"), "regions"), (Some("1"), "fibers")] {
        let [driver, check, _] = RACES;
        let variables = [driver, check, ("CUDA_SIM_ENGINE", Some(engine)), ("TESTS_RACE", race)];
        let text = in_own_process(name, &variables, || {
            let x = to_device(&ndarray::Array1::from_iter(0..192u32)).unwrap();
            let mut out = zeros::<u32, _>(160).unwrap();
            let launched = match std::env::var_os("TESTS_RACE") {
                None => rounds_that_panic::<false>::launch((5, 32), &x, &mut out),
                Some(_) => rounds_that_panic::<true>::launch((5, 32), &x, &mut out),
            };
            let error = launched.and_then(|()| synchronize()).unwrap_err().to_string();
            assert!(error.contains("index out of bounds: the len is 192"), "{error}");
        });
        if text.is_empty() {
            return;
        }
        let reports = text.matches("cuda-sim: race").count();
        let two_writes = text.matches("race of two writes in `rounds_that_panic").count();
        let expected = usize::from(race.is_some());
        assert_eq!((reports, two_writes), (expected, expected), "{engine}: {text}");
    }
}

/// The kernels can panic, so the runtime has records of panics, which live as long as the context: until the process ends. So
/// does the memory of a constant in a static, and an array of which the program says so.
#[test]
fn what_the_context_keeps_is_no_leak_and_what_the_program_forgets_is() {
    let name = "checkers::what_the_context_keeps_is_no_leak_and_what_the_program_forgets_is";
    for forgotten in [None, Some("1")] {
        let variables =
            [("CUDA_DRIVER_PATH", Some("sim")), ("CUDA_SIM_CHECK", Some("leak")), ("TESTS_FORGET", forgotten)];
        let text = in_own_process(name, &variables, || {
            let mut out = zeros::<u32, _>(64).unwrap();
            racy::launch((1, 64), &mut out).unwrap();
            SCALE.set(out.context(), &3).unwrap();
            scaled::launch((1, 64), &mut out).unwrap();
            assert_eq!(out.copy_to_host().unwrap()[63], 3);
            let kept = zeros::<u32, _>(64).unwrap();
            kept.context().ignore_leak(kept.device_ptr());
            std::mem::forget(kept);
            if std::env::var_os("TESTS_FORGET").is_some() {
                std::mem::forget(out);
            }
        });
        if text.is_empty() {
            return;
        }
        let leaks = text.matches("cuda-sim: leak: leaked memory").count();
        assert_eq!(leaks, usize::from(forgotten.is_some()), "{text}");
    }
}
