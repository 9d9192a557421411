//! What launches say of their speed: once for each call, to [`tracing`] where the program listens, else to standard error.
//!
//! `CUDA_JIT_WARNINGS` says which: `none`, or a list of `low-occupancy` and `implicit-copy`; unset, both. A program decides
//! with [`set_enabled`], a launch with `LaunchConfig::quiet`; and `In`, `Out` and `InOut` around a host array say that the
//! copy is meant.

use std::collections::HashSet;
use std::panic::Location;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

/// Something about a launch that makes it slow.
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

static ENABLED: LazyLock<[AtomicBool; 2]> =
    LazyLock::new(|| listed(std::env::var(VARIABLE).ok().as_deref()).map(AtomicBool::new));

/// Which warnings a value of the variable leaves on.
fn listed(value: Option<&str>) -> [bool; 2] {
    NAMES.map(|(name, _)| match value {
        None | Some("") => true,
        Some(list) => list.split(',').any(|item| item.trim() == name),
    })
}

/// Switches a warning on or off for this process.
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
    ENABLED[warning as usize].store(enabled, Ordering::Relaxed);
}

/// Whether a warning is on.
#[must_use]
pub fn is_enabled(warning: Warning) -> bool {
    ENABLED[warning as usize].load(Ordering::Relaxed)
}

/// Says it, if it is on and the place has not said it yet.
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
        assert_eq!(listed(None), [true, true]);
        assert_eq!(listed(Some("")), [true, true]);
        assert_eq!(listed(Some("none")), [false, false]);
        assert_eq!(listed(Some("implicit-copy")), [false, true]);
        assert_eq!(listed(Some("implicit-copy, low-occupancy")), [true, true]);
        for (index, (_, warning)) in NAMES.iter().enumerate() {
            assert_eq!(index, *warning as usize);
        }
    }
}
