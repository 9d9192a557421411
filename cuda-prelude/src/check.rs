//! Checkers of kernels for tests: what a closure launches is checked, whatever the environment says.

use std::fmt;

use cuda_jit::Error;

use crate::choice::is_linked;
use crate::is_simulated;
#[cfg(feature = "sim")]
use crate::synchronize;

/// A checker of kernels. The book's chapter on checkers lists what each one finds.
///
/// # Examples
///
/// ```
/// use cuda_prelude::Checker;
///
/// assert_eq!(Checker::Race.to_string(), "race");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Checker {
    /// Accesses out of bounds, after a free, misaligned, or to memory of another space or thread.
    Memory,
    /// Accesses of different threads, one of them a write, that nothing orders.
    Race,
    /// Reads of bytes that nothing has written.
    Init,
    /// Barriers and masks of warp operations that threads do not follow.
    Sync,
}

impl Checker {
    /// All checkers.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(cuda_prelude::Checker::ALL.contains(&cuda_prelude::Checker::Race));
    /// ```
    pub const ALL: [Checker; 4] = [Checker::Memory, Checker::Race, Checker::Init, Checker::Sync];

    /// The name in `CUDA_SIM_CHECK`.
    fn name(self) -> &'static str {
        match self {
            Checker::Memory => "memory",
            Checker::Race => "race",
            Checker::Init => "init",
            Checker::Sync => "sync",
        }
    }
}

impl fmt::Display for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An access in a [`CheckReport`].
///
/// # Examples
///
/// ```
/// use cuda_prelude::CheckedAccess;
///
/// fn line(access: &CheckedAccess) -> String {
///     format!("{} at {}", access.what, access.source.as_deref().unwrap_or("an unknown line"))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckedAccess {
    /// The access in words, for example `store of 4 bytes`.
    pub what: String,
    /// `file:line` of the kernel's source, if it is known.
    pub source: Option<String>,
    /// The line of the PTX; 0 if it is not known.
    pub ptx_line: u32,
    /// The coordinates of its block.
    pub block: Option<[u64; 3]>,
    /// The coordinates of its thread in the block.
    pub thread: Option<[u64; 3]>,
    /// The value that it read or wrote, if it is known.
    pub value: Option<u64>,
}

/// A mistake that a checker found.
///
/// # Examples
///
/// ```
/// use cuda_prelude::{CheckReport, Checker};
///
/// fn is_race_of(report: &CheckReport, kernel: &str) -> bool {
///     report.checker == Checker::Race && report.kernel == kernel
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// The checker that found it.
    pub checker: Checker,
    /// The kind of mistake, for example `race of two writes`.
    pub kind: String,
    /// The kernel's name.
    pub kernel: String,
    /// The array and the offset in it.
    pub array: Option<String>,
    /// The access, and for a race the earlier one.
    pub accesses: Vec<CheckedAccess>,
    text: String,
}

impl fmt::Display for CheckReport {
    /// Writes the text that `CUDA_SIM_CHECK` prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The reason why a check fails.
///
/// # Examples
///
/// See [`check`].
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckError {
    /// The mistakes that the checkers found. There is one report for each cause.
    Reports(Vec<CheckReport>),
    /// The driver is that of a GPU, which has no checkers. The closure was not called.
    NeedsSoftwareDevice,
    /// The driver is a library with a software device of its own, which only `CUDA_SIM_CHECK` reaches. The closure was not called.
    OtherLibrary,
    /// There is no driver. The closure was not called.
    NoDriver(Error),
}

impl CheckError {
    /// Returns the reports; none if the check did not run.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(cuda_prelude::CheckError::NeedsSoftwareDevice.reports().is_empty());
    /// ```
    pub fn reports(&self) -> &[CheckReport] {
        match self {
            CheckError::Reports(reports) => reports,
            _ => &[],
        }
    }
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Reports(reports) => {
                write!(f, "the checkers found {} mistake{}", reports.len(), if reports.len() == 1 { "" } else { "s" })?;
                reports.iter().try_for_each(|report| write!(f, "\n{report}"))
            }
            CheckError::NeedsSoftwareDevice => f.write_str(
                "kernels are checked on the software device only, and the driver is that of a GPU: set \
                 CUDA_DRIVER_PATH=sim, and build cuda-prelude with its feature `sim`",
            ),
            CheckError::OtherLibrary => f.write_str(
                "`check` uses the software device that is linked into the program, and CUDA_DRIVER_PATH names a library \
                 instead: set CUDA_DRIVER_PATH=sim, or turn the library's checkers on with CUDA_SIM_CHECK",
            ),
            CheckError::NoDriver(error) => write!(f, "the check did not run: {error}"),
        }
    }
}

impl std::error::Error for CheckError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CheckError::NoDriver(error) => Some(error),
            _ => None,
        }
    }
}

/// Runs a closure with all [checkers](Checker) of kernels, whatever `CUDA_SIM_CHECK` says, and returns its value if they
/// found nothing.
///
/// The checks are of all that this thread launches, copies and frees meanwhile, with kernels that were compiled before. The call
/// waits for it before it returns. Other threads are not affected, and may have checks of their own. A launch ends at its
/// first illegal access, of which there is a report; it is no error of the context.
///
/// Arrays that exist before count as initialised, and reports of kernels that were compiled before the first check name
/// lines of the PTX only.
///
/// # Examples
///
/// ```
/// # // on a machine with a GPU the software device has to be asked for
/// # if !cuda_prelude::is_simulated()? { return Ok(()) }
/// use cuda_prelude::*;
///
/// /// All threads write the first element.
/// #[kernel]
/// fn racy(out: &mut [u32]) {
///     out[0] = thread_idx().x as u32;
/// }
///
/// let mut out = zeros::<u32, _>(64)?;
/// let error = check(|| racy::launch((1, 64), &mut out)).unwrap_err();
/// let report = &error.reports()[0];
/// assert_eq!((report.checker, report.kernel.as_str()), (Checker::Race, "racy"));
/// assert_eq!(report.accesses.len(), 2);
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// [`CheckError::Reports`] if a checker found something. On a GPU [`CheckError::NeedsSoftwareDevice`], with another library's
/// software device [`CheckError::OtherLibrary`], and without a driver
/// [`CheckError::NoDriver`]; the closure is not called then.
pub fn check<T>(run: impl FnOnce() -> T) -> Result<T, CheckError> {
    check_with(&Checker::ALL, run)
}

/// As [`check`], with some of the checkers.
///
/// # Examples
///
/// ```
/// # if !cuda_prelude::is_simulated()? { return Ok(()) }
/// use cuda_prelude::*;
///
/// #[kernel]
/// fn double(x: &mut [u32]) {
///     let i = grid::<1>();
///     if i < x.len() {
///         x[i] *= 2;
///     }
/// }
///
/// let mut x = zeros::<u32, _>(64)?;
/// check_with(&[Checker::Race, Checker::Memory], || double::launch((1, 64), &mut x)).unwrap()?;
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// As [`check`].
pub fn check_with<T>(checkers: &[Checker], run: impl FnOnce() -> T) -> Result<T, CheckError> {
    if !is_simulated().map_err(CheckError::NoDriver)? {
        return Err(CheckError::NeedsSoftwareDevice);
    }
    if !is_linked().map_err(CheckError::NoDriver)? {
        return Err(CheckError::OtherLibrary);
    }
    checked(checkers, run)
}

#[cfg(not(feature = "sim"))]
fn checked<T>(_: &[Checker], _: impl FnOnce() -> T) -> Result<T, CheckError> {
    Err(CheckError::NeedsSoftwareDevice)
}

#[cfg(feature = "sim")]
fn checked<T>(checkers: &[Checker], run: impl FnOnce() -> T) -> Result<T, CheckError> {
    #[cfg(feature = "compiler")]
    cuda_jit::front::set_source_lines(true);
    let names: Vec<&str> = checkers.iter().map(|checker| checker.name()).collect();
    // The closure's own calls have the errors of its launches.
    let (value, reports) = cuda_sim::check_with(&names, run, || drop(synchronize()));
    if reports.is_empty() { Ok(value) } else { Err(CheckError::Reports(reports.into_iter().map(converted).collect())) }
}

#[cfg(feature = "sim")]
fn converted(report: cuda_sim::Report) -> CheckReport {
    let checker = Checker::ALL.into_iter().find(|checker| checker.name() == report.check);
    let access = |access: cuda_sim::Accessed| CheckedAccess {
        what: access.what,
        source: access.source,
        ptx_line: access.line,
        block: access.block,
        thread: access.thread,
        value: access.value,
    };
    CheckReport {
        text: report.text(),
        checker: checker.unwrap_or(Checker::Memory),
        kind: report.kind.to_owned(),
        kernel: report.kernel,
        array: report.array,
        accesses: report.accesses.into_iter().map(access).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_to_do() {
        let report = CheckReport {
            checker: Checker::Race,
            kind: "race".to_owned(),
            kernel: "k".to_owned(),
            array: None,
            accesses: Vec::new(),
            text: "a race".to_owned(),
        };
        let one = CheckError::Reports(vec![report.clone()]).to_string();
        assert_eq!(one, "the checkers found 1 mistake\na race");
        let two = CheckError::Reports(vec![report.clone(), report]).to_string();
        assert_eq!(two, "the checkers found 2 mistakes\na race\na race");
        assert_eq!(
            CheckError::NeedsSoftwareDevice.to_string(),
            "kernels are checked on the software device only, and the driver is that of a GPU: set \
             CUDA_DRIVER_PATH=sim, and build cuda-prelude with its feature `sim`"
        );
        assert_eq!(
            CheckError::OtherLibrary.to_string(),
            "`check` uses the software device that is linked into the program, and CUDA_DRIVER_PATH names a library \
             instead: set CUDA_DRIVER_PATH=sim, or turn the library's checkers on with CUDA_SIM_CHECK"
        );
        let error = CheckError::NoDriver(Error::NoDevice("it is missing".into())).to_string();
        assert!(error.starts_with("the check did not run: "), "{error}");
    }
}
