//! Performance warnings of launches: once per call site, to [`tracing`] if the program has a subscriber, else to standard
//! error.
//!
//! `CUDA_JIT_WARNINGS` selects them: `none`, or a list of `low-occupancy` and `implicit-copy`; unset, both, or those that
//! [`set_default`] leaves enabled. A program decides with [`set_enabled`], a launch with `LaunchConfig::quiet`; `In`, `Out`
//! and `InOut` around a host array mark an intended copy.

use std::collections::HashSet;
use std::panic::Location;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

/// A reason why a launch is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warning {
    /// The grid has fewer blocks than the device has multiprocessors.
    LowOccupancy,
    /// A host array is copied to the device and back for one launch.
    ImplicitCopy,
}

const VARIABLE: &str = "CUDA_JIT_WARNINGS";
/// The names in the variable.
const NAMES: [(&str, Warning); 2] =
    [("low-occupancy", Warning::LowOccupancy), ("implicit-copy", Warning::ImplicitCopy)];

/// An unknown name in `CUDA_JIT_WARNINGS`.
///
/// # Examples
///
/// ```
/// use cuda_jit::Error;
/// use cuda_jit::warnings::UnknownWarning;
///
/// // As the first launch reports it for `CUDA_JIT_WARNINGS=typo`.
/// let error = Error::from(UnknownWarning { name: "typo".to_owned() });
/// assert!(error.to_string().starts_with("CUDA_JIT_WARNINGS: there is no warning `typo`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{VARIABLE}: there is no warning `{name}`; the names are `low-occupancy` and `implicit-copy`, and `none` for neither"
)]
pub struct UnknownWarning {
    /// The name.
    pub name: String,
}

/// The warnings that the variable enables; `None` if it is not set.
type Listed = Option<[bool; 2]>;

static LISTED: LazyLock<Result<Listed, UnknownWarning>> =
    LazyLock::new(|| listed(std::env::var(VARIABLE).ok().as_deref()));

static ENABLED: LazyLock<[AtomicBool; 2]> =
    LazyLock::new(|| LISTED.clone().ok().flatten().unwrap_or([true; 2]).map(AtomicBool::new));

/// The warnings that the program has enabled or disabled.
static DECIDED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

/// Parses a value of the variable.
fn listed(value: Option<&str>) -> Result<Listed, UnknownWarning> {
    let Some(list) = value.filter(|list| !list.trim().is_empty()) else { return Ok(None) };
    let names: Vec<&str> = list.split(',').map(str::trim).collect();
    let is_known = |name: &str| name == "none" || NAMES.iter().any(|(known, _)| *known == name);
    match names.iter().find(|name| !is_known(name)) {
        Some(name) => Err(UnknownWarning { name: (*name).to_owned() }),
        None => Ok(Some(NAMES.map(|(name, _)| names.contains(&name)))),
    }
}

/// Checks the variable, before a program's first launch.
pub(crate) fn check() -> Result<(), UnknownWarning> {
    LISTED.as_ref().map(drop).map_err(UnknownWarning::clone)
}

/// Enables or disables a warning for this process.
///
/// # Examples
///
/// ```
/// use cuda_jit::warnings::{self, Warning};
///
/// warnings::set_enabled(Warning::LowOccupancy, false);
/// assert!(!warnings::is_enabled(Warning::LowOccupancy));
/// ```
pub fn set_enabled(warning: Warning, enabled: bool) {
    DECIDED[warning as usize].store(true, Ordering::Relaxed);
    ENABLED[warning as usize].store(enabled, Ordering::Relaxed);
}

/// Enables or disables a warning for a library, with the lowest priority: it has no effect if `CUDA_JIT_WARNINGS` is set,
/// or the program has called [`set_enabled`].
///
/// # Examples
///
/// ```
/// use cuda_jit::warnings::{self, Warning};
///
/// warnings::set_default(Warning::ImplicitCopy, false);
/// assert_eq!(warnings::is_enabled(Warning::ImplicitCopy), std::env::var("CUDA_JIT_WARNINGS").is_ok_and(|list| list.contains("copy")));
/// ```
pub fn set_default(warning: Warning, enabled: bool) {
    let is_decided = DECIDED[warning as usize].load(Ordering::Relaxed);
    if !is_decided && matches!(*LISTED, Ok(None)) {
        ENABLED[warning as usize].store(enabled, Ordering::Relaxed);
    }
}

/// Returns true if a warning is enabled.
#[must_use]
pub fn is_enabled(warning: Warning) -> bool {
    ENABLED[warning as usize].load(Ordering::Relaxed)
}

/// Reports the warning, if it is enabled and the call site has not reported it yet.
pub(crate) fn warn(
    warning: Warning,
    kernel: &str,
    place: &'static Location<'static>,
    message: impl FnOnce() -> String,
) {
    static SAID: LazyLock<Mutex<HashSet<(Warning, &'static Location<'static>)>>> = LazyLock::new(Mutex::default);
    if !is_enabled(warning) || !SAID.lock().insert((warning, place)) {
        return;
    }
    let (message, name) = (message(), NAMES[warning as usize].0);
    if tracing::dispatcher::has_been_set() {
        tracing::warn!(kernel, %place, warning = name, "{message}");
    } else {
        eprintln!("cuda: {place}: kernel `{kernel}`: {message} ({name}; {VARIABLE}=none silences this)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_lists_what_is_on() {
        assert_eq!(listed(None), Ok(None));
        assert_eq!(listed(Some(" ")), Ok(None));
        assert_eq!(listed(Some("none")), Ok(Some([false, false])));
        assert_eq!(listed(Some("implicit-copy")), Ok(Some([false, true])));
        assert_eq!(listed(Some("implicit-copy, low-occupancy")), Ok(Some([true, true])));
        assert_eq!(listed(Some("implicit-copy,typo")), Err(UnknownWarning { name: "typo".to_owned() }));
        for (index, (_, warning)) in NAMES.iter().enumerate() {
            assert_eq!(index, *warning as usize);
        }
    }
}
