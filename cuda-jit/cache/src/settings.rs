//! [`Settings`]: the cache settings from the environment.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::folder::Cache;

/// The folder; unset, `cuda-jit` in the user's cache folder, which on Windows is `LOCALAPPDATA`.
pub const FOLDER_VARIABLE: &str = "CUDA_JIT_CACHE_DIR";
/// The maximum number of bytes in it, such as `100M`; unset, [`DEFAULT_LIMIT`].
pub const LIMIT_VARIABLE: &str = "CUDA_JIT_CACHE_SIZE";
/// `0` or `off` disables the cache.
pub const SWITCH_VARIABLE: &str = "CUDA_JIT_CACHE";
/// 512 MiB: about fifty thousand kernels.
pub const DEFAULT_LIMIT: u64 = 512 << 20;

/// The location and the size limit of the cache.
///
/// # Examples
///
/// ```
/// use cuda_jit_cache::{DEFAULT_LIMIT, FOLDER_VARIABLE, LIMIT_VARIABLE, SWITCH_VARIABLE, Settings};
///
/// let settings = Settings::from_environment(|name| (name == FOLDER_VARIABLE).then(|| "kernels".into()));
/// let settings = settings.expect("the cache is on");
/// assert_eq!((settings.folder.to_str(), settings.limit), (Some("kernels"), DEFAULT_LIMIT));
/// assert_eq!(settings.open().limit(), DEFAULT_LIMIT);
/// assert_eq!(Settings::from_environment(|name| (name == SWITCH_VARIABLE).then(|| "off".into())), None);
///
/// let value = |name: &str| match name {
///     FOLDER_VARIABLE => Some("kernels".into()),
///     LIMIT_VARIABLE => Some("100M".into()),
///     _ => None,
/// };
/// assert_eq!(Settings::from_environment(value).expect("the cache is on").limit, 100 << 20);
/// // As this process is set up.
/// println!("{:?}", Settings::from_process());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The folder.
    pub folder: PathBuf,
    /// The maximum number of bytes in it.
    pub limit: u64,
}

impl Settings {
    /// The settings from this process's environment; `None` if it disables the cache, or there is no folder for one.
    #[must_use]
    pub fn from_process() -> Option<Self> {
        Self::from_environment(|name| std::env::var_os(name))
    }

    /// The settings from an environment. An invalid limit is reported and ignored.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_cache::Settings;
    ///
    /// # if cfg!(unix) {
    /// let settings = Settings::from_environment(|name| (name == "HOME").then(|| "/users/ada".into())).unwrap();
    /// assert_eq!(settings.folder.to_str(), Some("/users/ada/.cache/cuda-jit"));
    /// # }
    /// ```
    pub fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        if given(SWITCH_VARIABLE).is_some_and(|value| value == "0" || value == "off") {
            return None;
        }
        // The rule of the XDG base directories: relative paths are ignored.
        let absolute = |name: &str| given(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = || match cfg!(windows) {
            true => absolute("LOCALAPPDATA"),
            false => absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache"))),
        };
        let folder = match given(FOLDER_VARIABLE) {
            Some(folder) => folder.into(),
            None => caches()?.join("cuda-jit"),
        };
        let limit = given(LIMIT_VARIABLE).map_or(Some(DEFAULT_LIMIT), |text| bytes(text.to_str()?));
        let limit = limit.unwrap_or_else(|| {
            tracing::warn!("{LIMIT_VARIABLE} is not a number of bytes, such as 100000000, 100M or 2G; it is ignored");
            DEFAULT_LIMIT
        });
        Some(Settings { folder, limit })
    }

    /// Opens the cache that they describe.
    #[must_use]
    pub fn open(self) -> Cache {
        Cache::new(self.folder, self.limit)
    }
}

/// A number of bytes, with K, M or G for powers of 1024.
fn bytes(text: &str) -> Option<u64> {
    let shift = match text.as_bytes().last()? {
        b'k' | b'K' => 10,
        b'm' | b'M' => 20,
        b'g' | b'G' => 30,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { &text[..text.len() - 1] };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Option<(String, u64)> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        let settings = Settings::from_environment(find)?;
        Some((settings.folder.display().to_string(), settings.limit))
    }

    #[cfg(windows)]
    const HOME: (&str, &str) = ("LOCALAPPDATA", "C:\\h");
    #[cfg(unix)]
    const HOME: (&str, &str) = ("HOME", "/h");

    #[cfg(windows)]
    #[test]
    fn the_folder_is_the_one_named_else_among_the_users_local_data() {
        assert_eq!(settings(&[HOME, ("CUDA_JIT_CACHE_DIR", "here")]), Some(("here".into(), DEFAULT_LIMIT)));
        assert_eq!(settings(&[HOME]), Some(("C:\\h\\cuda-jit".into(), DEFAULT_LIMIT)));
        assert_eq!(settings(&[("LOCALAPPDATA", "h")]), None);
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_is_the_one_named_else_the_users() {
        assert_eq!(settings(&[HOME, ("CUDA_JIT_CACHE_DIR", "here")]), Some(("here".into(), DEFAULT_LIMIT)));
        assert_eq!(settings(&[HOME, ("XDG_CACHE_HOME", "/c")]), Some(("/c/cuda-jit".into(), DEFAULT_LIMIT)));
        assert_eq!(settings(&[HOME, ("XDG_CACHE_HOME", "c")]), Some(("/h/.cache/cuda-jit".into(), DEFAULT_LIMIT)));
        assert_eq!(settings(&[("HOME", "")]), None);
    }

    #[test]
    fn it_can_be_switched_off() {
        let folder = ("CUDA_JIT_CACHE_DIR", "/c");
        assert_eq!(settings(&[folder, ("CUDA_JIT_CACHE", "0")]), None);
        assert_eq!(settings(&[folder, ("CUDA_JIT_CACHE", "off")]), None);
        assert_eq!(settings(&[folder, ("CUDA_JIT_CACHE", "1")]), Some(("/c".into(), DEFAULT_LIMIT)));
    }

    #[test]
    fn limits_are_numbers_with_or_without_a_letter() {
        for (text, expected) in [
            ("100", 100),
            ("3k", 3 << 10),
            ("7M", 7 << 20),
            ("2G", 2 << 30),
            ("0", 0),
            ("many", DEFAULT_LIMIT),
            ("M", DEFAULT_LIMIT),
            ("-1", DEFAULT_LIMIT),
            ("99999999999G", DEFAULT_LIMIT),
        ] {
            let found = settings(&[HOME, ("CUDA_JIT_CACHE_SIZE", text)]);
            assert_eq!(found.map(|(_, limit)| limit), Some(expected), "{text}");
        }
    }
}
