//! The environment variables of the software device, with their allowed values.
//!
//! | variable | allowed | unset or empty |
//! |---|---|---|
//! | `CUDA_SIM_PROFILE` | `sm_75`, `sm_80`, `sm_90`, `sm_120`: the card whose limits the devices have | `sm_90` |
//! | `CUDA_SIM_DEVICES` | 1 to 16: the number of devices | 1 |
//! | `CUDA_SIM_MEMORY` | bytes of memory of each device, at least 1 | as the profile's card, or its share of the machine's |
//! | `CUDA_SIM_THREADS` | 1 to 256 workers | one per core |
//! | `CUDA_SIM_ENGINE` | `regions`, or `fibers`: the slow, exact engine | `regions` |
//! | `CUDA_SIM_SEED` | a number, the seed of a random order of blocks, and of fibers | in order |
//! | `CUDA_SIM_LOG` | `off`, `error`, `warn`, `info`, `debug`: the messages that `libcuda_sim.so` writes to standard error | `error` |
//! | `CUDA_SIM_TIER` | `both`, or `good`: every launch runs optimised code; or `quick`: every launch runs unoptimised code | `both` |
//! | `CUDA_SIM_CPU` | `native`, or a level of x86-64 that the CPU has, such as `x86-64-v3`: the instructions of compiled code | `native` |
//! | `CUDA_SIM_TRACE` | a file that can be written: the timeline, for Perfetto | none |
//! | `CUDA_SIM_CHECK` | names of checkers between commas: `memory`, `race`, `init`, `sync`, `leak`, or `all` | none |
//! | `CUDA_SIM_CHECK_RESULT` | `report`; `error`: a launch with a report fails; or 1 to 255: the exit code of a process with a report | `report` |
//! | `CUDA_SIM_REPORT` | a file that can be written: the checkers' reports in JSON; `%p` is the number of the process | none |
//! | `CUDA_SIM_SUPPRESSIONS` | a file that can be read: the reports that are not wanted | none |
//! | `CUDA_SIM_PRINT_LLVM` | any value: the optimised LLVM IR of every kernel is written to standard error | not printed |
//!
//! They are read once, on first use. A value that is not allowed is an error of `cuInit` (`CUDA_ERROR_INVALID_VALUE`)
//! with a line on standard error that names the variable, its value and the allowed values: a misspelt profile must not
//! silently be another card. The defaults are used until then.

use crate::device::{PROFILES, Profile};
use once_cell::sync::Lazy;
use std::ffi::OsString;
use std::path::PathBuf;
use tracing::level_filters::LevelFilter;

/// The optimisation tiers of kernels' code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tier {
    /// Large kernels are compiled quickly for their first launches, and with optimisation in the background.
    #[default]
    Both,
    /// Optimised code for all launches.
    Good,
    /// Unoptimised code for all launches.
    Quick,
}

/// A set of checkers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checks(u32);

impl Checks {
    pub(crate) const MEMORY: Checks = Checks(1);
    pub(crate) const RACE: Checks = Checks(2);
    pub(crate) const INIT: Checks = Checks(4);
    pub(crate) const SYNC: Checks = Checks(8);
    pub(crate) const LEAK: Checks = Checks(16);

    pub(crate) const NAMES: &[(&str, Checks)] = &[
        ("memory", Checks::MEMORY),
        ("race", Checks::RACE),
        ("init", Checks::INIT),
        ("sync", Checks::SYNC),
        ("leak", Checks::LEAK),
    ];

    /// Returns the checker with a name; none if there is no such checker.
    pub(crate) fn named(name: &str) -> Checks {
        Checks::NAMES.iter().find(|(known, _)| *known == name).map_or(Checks::default(), |(_, check)| *check)
    }

    /// Returns true if any checker is in the set.
    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    /// Returns true if any of these checkers is in the set.
    #[inline]
    pub(crate) fn has(self, others: Checks) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns true if a checker that needs checked code is in the set.
    pub(crate) fn of_kernels(self) -> bool {
        self.0 & !Checks::LEAK.0 != 0
    }

    /// Returns the union of two sets.
    pub(crate) fn and(self, others: Checks) -> Checks {
        Checks(self.0 | others.0)
    }

    fn parse(text: &str) -> Option<Checks> {
        if text == "all" {
            return Some(Checks::NAMES.iter().fold(Checks::default(), |all, (_, check)| all.and(*check)));
        }
        text.split(',').map(str::trim).filter(|name| !name.is_empty()).try_fold(Checks::default(), |all, name| {
            Checks::NAMES.iter().find(|(known, _)| *known == name).map(|(_, check)| all.and(*check))
        })
    }
}

/// The consequence of a checker's report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CheckResult {
    /// None.
    #[default]
    Report,
    /// The launch fails.
    Error,
    /// The process ends with this code.
    Exit(u8),
}

/// The variables' values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Environment {
    pub(crate) profile: Profile,
    pub(crate) devices: usize,
    pub(crate) memory: Option<u64>,
    pub(crate) threads: Option<usize>,
    pub(crate) fibers: bool,
    pub(crate) seed: Option<u64>,
    pub(crate) log: LevelFilter,
    pub(crate) tier: Tier,
    /// The level of x86-64 of compiled code; `None` for all that this CPU has.
    pub(crate) cpu: Option<&'static str>,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) check: Checks,
    pub(crate) check_result: CheckResult,
    pub(crate) report: Option<PathBuf>,
    pub(crate) suppressions: Option<PathBuf>,
    pub(crate) print_llvm: bool,
}

/// The default profile.
const DEFAULT: usize = 2;

impl Default for Environment {
    fn default() -> Self {
        Environment {
            profile: PROFILES[DEFAULT],
            devices: 1,
            memory: None,
            threads: None,
            fibers: false,
            seed: None,
            log: LevelFilter::ERROR,
            tier: Tier::default(),
            cpu: None,
            trace: None,
            check: Checks::default(),
            check_result: CheckResult::default(),
            report: None,
            suppressions: None,
            print_llvm: false,
        }
    }
}

/// A function that returns a variable's value, if it is set.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Returns the value for a text, among the allowed ones.
fn value<T>(
    lookup: Lookup<'_>,
    variable: &str,
    allowed: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some(text) = lookup(variable).filter(|text| !text.is_empty()) else { return Ok(None) };
    match text.to_str().map(str::trim).and_then(parse) {
        Some(value) => Ok(Some(value)),
        None => Err(format!("{variable}={} is not allowed; allowed are {allowed}", text.display())),
    }
}

/// Parses a number in a range.
fn number(lookup: Lookup<'_>, variable: &str, allowed: &str, most: u64) -> Result<Option<u64>, String> {
    value(lookup, variable, allowed, |text| text.parse().ok().filter(|n| (1..=most).contains(n)))
}

impl Environment {
    fn read(lookup: Lookup<'_>) -> Result<Environment, String> {
        let names = PROFILES.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
        let profile = value(lookup, "CUDA_SIM_PROFILE", &names, |text| PROFILES.iter().find(|p| p.name == text))?;
        let engine = value(lookup, "CUDA_SIM_ENGINE", "regions, fibers", |text| match text {
            "regions" => Some(false),
            "fibers" => Some(true),
            _ => None,
        })?;
        let log = value(lookup, "CUDA_SIM_LOG", "off, error, warn, info, debug", |text| match text {
            "off" => Some(LevelFilter::OFF),
            "error" => Some(LevelFilter::ERROR),
            "warn" => Some(LevelFilter::WARN),
            "info" => Some(LevelFilter::INFO),
            "debug" => Some(LevelFilter::DEBUG),
            _ => None,
        })?;
        let tier = value(lookup, "CUDA_SIM_TIER", "both, good, quick", |text| match text {
            "both" => Some(Tier::Both),
            "good" => Some(Tier::Good),
            "quick" => Some(Tier::Quick),
            _ => None,
        })?;
        let levels = crate::cpu::levels();
        let names = [&["native"], levels.as_slice()].concat().join(", ");
        let cpu = value(lookup, "CUDA_SIM_CPU", &names, |text| match text {
            "native" => Some(None),
            name => levels.iter().find(|level| **level == name).copied().map(Some),
        })?;
        let names = "memory, race, init, sync, leak, with commas between them, or all";
        let check = value(lookup, "CUDA_SIM_CHECK", names, Checks::parse)?;
        let results = "report, error, or an exit code from 1 to 255";
        let check_result = value(lookup, "CUDA_SIM_CHECK_RESULT", results, |text| match text {
            "report" => Some(CheckResult::Report),
            "error" => Some(CheckResult::Error),
            code => code.parse().ok().filter(|code| *code != 0).map(CheckResult::Exit),
        })?;
        let path = |name: &str| lookup(name).filter(|text| !text.is_empty()).map(PathBuf::from);
        Ok(Environment {
            profile: profile.copied().unwrap_or(PROFILES[DEFAULT]),
            devices: number(lookup, "CUDA_SIM_DEVICES", "the numbers from 1 to 16", 16)?.unwrap_or(1) as usize,
            memory: number(lookup, "CUDA_SIM_MEMORY", "numbers of bytes, from 1 on", u64::MAX)?,
            threads: number(lookup, "CUDA_SIM_THREADS", "the numbers from 1 to 256", 256)?.map(|n| n as usize),
            fibers: engine.unwrap_or(false),
            seed: value(lookup, "CUDA_SIM_SEED", "numbers of 64 bits", |text| text.parse().ok())?,
            log: log.unwrap_or(LevelFilter::ERROR),
            tier: tier.unwrap_or_default(),
            cpu: cpu.flatten(),
            trace: path("CUDA_SIM_TRACE"),
            check: check.unwrap_or_default(),
            check_result: check_result.unwrap_or_default(),
            report: path("CUDA_SIM_REPORT"),
            suppressions: path("CUDA_SIM_SUPPRESSIONS"),
            print_llvm: lookup("CUDA_SIM_PRINT_LLVM").is_some_and(|text| !text.is_empty()),
        })
    }
}

static READ: Lazy<Result<Environment, String>> = Lazy::new(|| Environment::read(&|name| std::env::var_os(name)));

/// The variables' values; the defaults if one of them is not allowed.
pub(crate) static ENVIRONMENT: Lazy<Environment> = Lazy::new(|| READ.clone().unwrap_or_default());

/// Returns the error in the variables, in one line.
pub(crate) fn fault() -> Option<&'static str> {
    READ.as_ref().err().map(String::as_str)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Environment, String> {
        Environment::read(&|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn values_are_read_and_defaults_hold_where_none_are_set() {
        assert_eq!(read(&[]), Ok(Environment::default()));
        assert_eq!(read(&[("CUDA_SIM_PROFILE", ""), ("CUDA_SIM_SEED", "")]), Ok(Environment::default()));
        let all = [
            ("CUDA_SIM_PROFILE", "sm_120"),
            ("CUDA_SIM_DEVICES", "16"),
            ("CUDA_SIM_MEMORY", " 4096 "),
            ("CUDA_SIM_THREADS", "256"),
            ("CUDA_SIM_ENGINE", "fibers"),
            ("CUDA_SIM_SEED", "0"),
            ("CUDA_SIM_TIER", "good"),
            ("CUDA_SIM_CPU", "native"),
            ("CUDA_SIM_TRACE", "a b.json"),
            ("CUDA_SIM_PRINT_LLVM", "1"),
            ("CUDA_SIM_CHECK", "race, init"),
            ("CUDA_SIM_CHECK_RESULT", "99"),
            ("CUDA_SIM_REPORT", "r.json"),
        ];
        let found = read(&all).unwrap();
        assert_eq!((found.profile.name, found.devices, found.memory), ("sm_120", 16, Some(4096)));
        assert_eq!((found.threads, found.fibers, found.seed), (Some(256), true, Some(0)));
        assert_eq!(found.tier, Tier::Good);
        assert_eq!((found.check, found.check_result), (Checks::RACE.and(Checks::INIT), CheckResult::Exit(99)));
        assert_eq!(found.report, Some("r.json".into()));
        assert_eq!((found.trace, found.print_llvm), (Some("a b.json".into()), true));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn code_may_be_for_a_level_that_the_cpu_has() {
        for level in ["x86-64-v2", "x86-64-v3", "x86-64-v4"] {
            let found = read(&[("CUDA_SIM_CPU", level)]).map(|found| found.cpu);
            assert_eq!(found.is_ok(), crate::cpu::levels().contains(&level));
            assert!(found.is_err() || found == Ok(Some(level)));
        }
    }

    #[test]
    fn what_is_not_allowed_is_named_with_what_is() {
        for (variable, text, allowed) in [
            ("CUDA_SIM_PROFILE", "sm_99", "sm_75, sm_80, sm_90, sm_120"),
            ("CUDA_SIM_PROFILE", "SM_90", "sm_90"),
            ("CUDA_SIM_DEVICES", "0", "1 to 16"),
            ("CUDA_SIM_DEVICES", "17", "1 to 16"),
            ("CUDA_SIM_MEMORY", "4G", "bytes"),
            ("CUDA_SIM_MEMORY", "0", "bytes"),
            ("CUDA_SIM_THREADS", "0", "1 to 256"),
            ("CUDA_SIM_ENGINE", "fiber", "regions, fibers"),
            ("CUDA_SIM_SEED", "-1", "64 bits"),
            ("CUDA_SIM_TIER", "0", "both, good, quick"),
            ("CUDA_SIM_CPU", "x86-64-v9", "native"),
            ("CUDA_SIM_CHECK", "races", "memory, race, init, sync, leak"),
            ("CUDA_SIM_CHECK_RESULT", "0", "1 to 255"),
        ] {
            let line = read(&[(variable, text)]).unwrap_err();
            assert!(line.starts_with(&format!("{variable}={text} ")) && line.contains(allowed), "{line}");
        }
    }
}
