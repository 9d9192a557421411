//! Kernels without a compiler: bundles of compiled kernels that a program embeds.
//!
//! A build with the feature `compiler` records: `CUDA_JIT_RECORD=FILE program` writes every specialisation that a run
//! compiles, [`record`](crate::record) those of a list. [`embed_kernels!`](crate::embed_kernels) embeds the file in the
//! executable. A build without that feature then launches them without LLVM.
//!
//! | variable | |
//! |---|---|
//! | `CUDA_JIT_RECORD` | the file that compiled kernels are added to |
//! | `CUDA_JIT_RECORD_TARGETS` | the compute capabilities to compile for, such as `7.5,9.0`; unset, that of the device |
//!
//! A kernel is found by a [fingerprint](crate::typeinfo::Fingerprint) of its source, its types and its constants, and of
//! those of all functions that it calls, so that a kernel that has changed since is never confused with the recorded one.
//! Code for an older device runs on a newer one, whose driver translates the PTX.
//!
//! # Safety
//!
//! A launch is safe because the code is the compiler's output for the kernel that rustc has checked. For an embedded
//! bundle, this is guaranteed by the caller of `embed`: the bundle's hashes detect damage, not forgery.

mod format;

use std::collections::BTreeSet;

use cuda_jit_cache::{Bundle, Damaged, Key};
use parking_lot::RwLock;

use crate::compiled::Compiled;
use crate::error::{Error, NotBundled, Result};
use crate::target::{ComputeCapability, Target};
use crate::typeinfo::{Fingerprint, Instance};

pub use cuda_jit_cache::is_bundle;
#[cfg(feature = "compiler")]
pub(crate) use format::encode;

static EMBEDDED: RwLock<Vec<Bundle<'static>>> = RwLock::new(Vec::new());

/// Adds the kernels of a bundle to those that launches find, as [`embed_kernels!`](crate::embed_kernels) does.
///
/// # Examples
///
/// ```
/// // SAFETY: there is no kernel in these bytes.
/// let error = unsafe { cuda_jit::bundle::embed(b"no bundle") }.unwrap_err();
/// assert_eq!(error.to_string(), "the bundle is damaged at byte 0");
/// // SAFETY: there is no kernel in these bytes either.
/// unsafe { cuda_jit::bundle::embed(b"") }?;
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Errors
///
/// If the bytes are no bundle.
///
/// # Safety
///
/// This crate has recorded the kernels in it: launches rely on each being compiled from its source.
pub unsafe fn embed(bytes: &'static [u8]) -> Result<()> {
    let bundle = Bundle::new(bytes).map_err(|Damaged { at }| Error::Bundle { at })?;
    EMBEDDED.write().push(bundle);
    Ok(())
}

/// The labels of all kernels in the embedded bundles: each kernel's path with its generic arguments, its parameters' types and the
/// target.
#[must_use]
pub fn kernels() -> Vec<String> {
    EMBEDDED.read().iter().flat_map(Bundle::labels).map(str::to_owned).collect()
}

/// A specialisation's code for a device, from the embedded bundles.
pub(crate) fn find(
    instance: &Instance,
    signature: &dyn Fn() -> String,
    device: ComputeCapability,
) -> Result<Compiled, NotBundled> {
    let embedded = EMBEDDED.read();
    if embedded.is_empty() {
        return Err(NotBundled::NothingEmbedded);
    }
    let fingerprint = Fingerprint::of(instance);
    let source = source_key(&fingerprint);
    for target in candidates(device) {
        let key = key(&source, target);
        for bundle in &*embedded {
            if let Some(contents) = bundle.get_static(&key).map_err(|Damaged { at }| NotBundled::Damaged(at))? {
                return format::decode(contents, target, instance, &fingerprint);
            }
        }
    }
    Err(absent(&embedded, &source, &signature()))
}

/// The reason why no bundle has code for a device.
fn absent(embedded: &[Bundle<'static>], source: &Key, signature: &str) -> NotBundled {
    let labels = embedded.iter().flat_map(Bundle::labels);
    let recorded = labels.filter_map(|label| label.strip_prefix(signature)?.strip_prefix(' '));
    let recorded: BTreeSet<ComputeCapability> = recorded.filter_map(|target| target.parse().ok()).collect();
    let has = |target: Target| embedded.iter().any(|bundle| bundle.get(&key(source, target)) != Ok(None));
    if recorded.is_empty() {
        NotBundled::Absent
    } else if recorded.iter().any(|target| Target::new(*target).is_ok_and(has)) {
        NotBundled::OtherTargets(recorded.into_iter().collect())
    } else {
        NotBundled::Changed
    }
}

/// The targets whose code runs on a device, the best first.
fn candidates(device: ComputeCapability) -> Vec<Target> {
    let version = |capability: ComputeCapability| (capability.major, capability.minor);
    let runs = |target: &Target| {
        let of = target.capability();
        if of.suffix.is_some() { version(of) == version(device) } else { version(of) <= version(device) }
    };
    let mut targets: Vec<_> = Target::all().filter(runs).collect();
    targets.sort_by_key(|target| {
        let of = target.capability();
        (std::cmp::Reverse(version(of)), of.suffix)
    });
    targets
}

/// The hash of a specialisation's source.
pub(crate) fn source_key(fingerprint: &Fingerprint) -> Key {
    Key::new(&[&fingerprint.bytes])
}

/// The key of a source compiled for a target.
pub(crate) fn key(source: &Key, target: Target) -> Key {
    Key::new(&[source.to_string().as_bytes(), target.to_string().as_bytes()])
}

/// Embeds a bundle of compiled kernels in the executable, and adds them to those that launches find: call it before the
/// first launch. The file's path is relative to the folder of the package's `Cargo.toml`.
///
/// A build with the compiler compiles the kernels that are missing in the bundle, and treats a missing file as an empty
/// bundle, since such a build records it. A build without the compiler fails if the file is missing, and any build fails if
/// it is damaged.
///
/// # Examples
///
/// ```
/// cuda_jit::embed_kernels!("kernels.bundle")?;
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[doc(inline)]
pub use cuda_jit_macros::embed_kernels;

/// Expands [`embed_kernels!`] for an existing file.
#[doc(hidden)]
#[macro_export]
macro_rules! embedded_bundle {
    ($path:literal) => {{
        const BYTES: &[u8] = ::core::include_bytes!($path);
        const _: () = ::core::assert!(
            $crate::bundle::is_bundle(BYTES),
            "the file is no bundle of kernels, or a damaged one: remove it and record it again with CUDA_JIT_RECORD"
        );
        // SAFETY: the file is part of the program's source, whose author guarantees that it was recorded by this crate.
        unsafe { $crate::bundle::embed(BYTES) }
    }};
}

/// Expands [`embed_kernels!`] for a missing file.
#[cfg(feature = "compiler")]
#[doc(hidden)]
#[macro_export]
macro_rules! missing_bundle {
    ($path:literal) => {
        $crate::__private::Result::<()>::Ok(())
    };
}

/// Expands [`embed_kernels!`] for a missing file.
#[cfg(not(feature = "compiler"))]
#[doc(hidden)]
#[macro_export]
macro_rules! missing_bundle {
    ($path:literal) => {
        ::core::compile_error!(::core::concat!(
            "there is no bundle of kernels at `",
            $path,
            "`: record one by running the program, built with the feature \
             `compiler`, with CUDA_JIT_RECORD set to that path"
        ))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_runs_its_own_code_and_that_of_older_ones() {
        let names = |device: (u32, u32)| {
            let targets = candidates(device.into());
            targets.iter().take(4).map(Target::to_string).collect::<Vec<_>>()
        };
        assert_eq!(names((9, 0)), ["sm_90", "sm_90a", "sm_89", "sm_88"]);
        assert_eq!(names((7, 5)), ["sm_75", "sm_72", "sm_70", "sm_62"]);
        assert_eq!(names((13, 0))[..2], ["sm_121", "sm_120"], "newer than any that is known");
        assert!(names((3, 5)).is_empty());
    }
}
