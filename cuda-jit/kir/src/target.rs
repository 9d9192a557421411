//! Compilation targets: compute capabilities, and those that LLVM can generate code for.
//!
//! It does not choose the device that a program runs on. Invariant: a [`Target`] names a processor that LLVM knows; for
//! an unknown name LLVM would choose another processor or abort the process.

use std::fmt;
use std::str::FromStr;

/// The set of features beyond those that later devices keep.
///
/// See [NVIDIA's page](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#feature-set-compiler-targets).
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::target::{ComputeCapability, Suffix};
///
/// let cc: ComputeCapability = "9.0a".parse()?;
/// assert_eq!(cc.suffix, Some(Suffix::A));
/// # Ok::<(), cuda_jit_kir::target::TargetError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Suffix {
    /// The features of exactly this architecture (`sm_90a`).
    A,
    /// The features of this architecture's family (`sm_100f`).
    F,
}

/// A compute capability such as 9.0, or 9.0a.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::target::ComputeCapability;
///
/// let cc: ComputeCapability = "9.0a".parse()?;
/// assert_eq!(cc.to_string(), "sm_90a");
/// assert_eq!("sm_120".parse::<ComputeCapability>()?, (12, 0).into());
/// # Ok::<(), cuda_jit_kir::target::TargetError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ComputeCapability {
    /// The part before the dot.
    pub major: u32,
    /// The part after the dot.
    pub minor: u32,
    /// The features beyond the portable ones that may be used.
    pub suffix: Option<Suffix>,
}

impl ComputeCapability {
    /// The default target.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::target::ComputeCapability;
    ///
    /// assert_eq!(ComputeCapability::DEFAULT, (7, 5).into());
    /// ```
    pub const DEFAULT: ComputeCapability = plain(7, 5);
}

impl Default for ComputeCapability {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl From<(u32, u32)> for ComputeCapability {
    fn from((major, minor): (u32, u32)) -> Self {
        plain(major, minor)
    }
}

/// The name that LLVM, PTX and NVIDIA's tools use, such as `sm_90a`.
impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.suffix {
            None => "",
            Some(Suffix::A) => "a",
            Some(Suffix::F) => "f",
        };
        write!(f, "sm_{}{}{suffix}", self.major, self.minor)
    }
}

/// Reads `9.0`, `9.0a`, `sm_90` or `sm_90a`.
impl FromStr for ComputeCapability {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || TargetError::Malformed(text.to_owned());
        let (number, suffix) = match text.strip_suffix(['a', 'f']) {
            None => (text, None),
            Some(number) if text.ends_with('a') => (number, Some(Suffix::A)),
            Some(number) => (number, Some(Suffix::F)),
        };
        let (major, minor) = match number.strip_prefix("sm_") {
            Some(digits) => digits.split_at_checked(digits.len().saturating_sub(1)),
            None => number.split_once('.'),
        }
        .ok_or_else(malformed)?;
        let part = |digits: &str| {
            let plain = digits.bytes().all(|b| b.is_ascii_digit());
            if plain { digits.parse().map_err(|_| malformed()) } else { Err(malformed()) }
        };
        Ok(Self { major: part(major)?, minor: part(minor)?, suffix })
    }
}

impl TryFrom<&str> for ComputeCapability {
    type Error = TargetError;

    fn try_from(text: &str) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// A compute capability that code can be generated for.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::target::Target;
///
/// assert_eq!(Target::new((9, 0))?.to_string(), "sm_90");
/// assert!(Target::new((9, 9)).is_err());
/// assert_eq!(Target::default().to_string(), "sm_75");
/// # Ok::<(), cuda_jit_kir::target::TargetError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Target {
    capability: ComputeCapability,
}

impl Target {
    /// The target of that compute capability.
    ///
    /// # Errors
    ///
    /// The linked LLVM does not generate code for it; the error lists those that it does.
    pub fn new(capability: impl Into<ComputeCapability>) -> Result<Self, TargetError> {
        let capability = capability.into();
        if SUPPORTED.contains(&capability) {
            Ok(Self { capability })
        } else {
            Err(TargetError::Unsupported(capability))
        }
    }

    /// Its compute capability.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::target::Target;
    ///
    /// assert_eq!(Target::new((8, 6))?.capability(), (8, 6).into());
    /// # Ok::<(), cuda_jit_kir::target::TargetError>(())
    /// ```
    pub fn capability(&self) -> ComputeCapability {
        self.capability
    }

    /// Every target, from the oldest to the newest.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::target::Target;
    ///
    /// assert!(Target::all().any(|target| target == Target::default()));
    /// ```
    pub fn all() -> impl Iterator<Item = Target> {
        SUPPORTED.into_iter().map(|capability| Target { capability })
    }
}

/// The name that LLVM, PTX and NVIDIA's tools use, such as `sm_90a`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.capability.fmt(f)
    }
}

/// The error of a target that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// The text is no compute capability.
    Malformed(String),
    /// LLVM does not generate code for it.
    Unsupported(ComputeCapability),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::Malformed(text) => {
                write!(f, "`{text}` is no compute capability; write it as `9.0`, `9.0a`, `sm_90` or `sm_90a`")
            }
            TargetError::Unsupported(capability) => {
                let supported: Vec<String> = SUPPORTED.iter().map(ComputeCapability::to_string).collect();
                write!(f, "no code can be generated for {capability}; supported are {}", supported.join(", "))
            }
        }
    }
}

impl std::error::Error for TargetError {}

/// The compute capabilities of each major and minor number: without a suffix, then with each suffix.
macro_rules! capabilities {
    ($($major:literal $minor:literal $($suffix:ident)*;)*) => {
        [$(
            plain($major, $minor),
            $(ComputeCapability { suffix: Some(Suffix::$suffix), ..plain($major, $minor) },)*
        )*]
    };
}

/// LLVM 22's processors from Maxwell on, which a test compares with LLVM's list. Drivers of CUDA 12 support no older
/// devices.
const SUPPORTED: [ComputeCapability; 34] = capabilities! {
    5 0; 5 2; 5 3; 6 0; 6 1; 6 2; 7 0; 7 2; 7 5; 8 0; 8 6; 8 7; 8 8; 8 9; 9 0 A;
    10 0 A F; 10 1 A F; 10 3 A F; 11 0 A F; 12 0 A F; 12 1 A F;
};

const fn plain(major: u32, minor: u32) -> ComputeCapability {
    ComputeCapability { major, minor, suffix: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_reads_back() {
        for capability in SUPPORTED {
            let name = capability.to_string();
            assert_eq!(name.parse(), Ok(capability));
            let dotted = name.strip_prefix("sm_").unwrap();
            let digits = capability.major.to_string().len();
            assert_eq!(format!("{}.{}", &dotted[..digits], &dotted[digits..]).parse(), Ok(capability));
        }
    }

    #[test]
    fn malformed_texts_are_named() {
        for text in
            ["", "9", "9.", ".0", "sm_", "sm_9", "90", "9.0b", "sm_+90", "9.0.1", "sm_９0", "a", "9.99999999999"]
        {
            let error = text.parse::<ComputeCapability>().unwrap_err();
            assert!(error.to_string().starts_with(&format!("`{text}` is no")), "{text}: {error}");
        }
    }

    #[test]
    fn an_unsupported_capability_lists_the_supported_ones() {
        let error = Target::new((9, 9)).unwrap_err().to_string();
        assert!(error.starts_with("no code can be generated for sm_99; supported are sm_50, "), "{error}");
        assert!(error.ends_with(", sm_121f"), "{error}");
    }
}
