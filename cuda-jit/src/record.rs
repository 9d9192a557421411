//! Recording: adds compiled kernels to a bundle's file.

use std::path::PathBuf;

use cuda_jit_cache::Recorder;
use once_cell::sync::OnceCell;

use crate::assemble::Assembled;
use crate::bundle::{encode, key, source_key};
use crate::cache::Lookup;
use crate::compile::compile;
use crate::compiled::Compiled;
use crate::error::{Error, Result};
use crate::target::{ComputeCapability, Target};
use crate::typeinfo::Fingerprint;

const FILE_VARIABLE: &str = "CUDA_JIT_RECORD";
const TARGETS_VARIABLE: &str = "CUDA_JIT_RECORD_TARGETS";

/// A bundle's file to which kernels are added.
#[derive(Debug)]
pub(crate) struct Recording {
    recorder: Recorder,
    /// The targets that kernels are compiled for; if empty, that of the device that they are loaded on.
    targets: Vec<Target>,
}

/// The recording that the environment configures, which is read once.
pub(crate) fn active() -> Result<Option<&'static Recording>> {
    static ACTIVE: OnceCell<Option<Recording>> = OnceCell::new();
    let active = ACTIVE.get_or_try_init(|| {
        let file = std::env::var_os(FILE_VARIABLE).filter(|file| !file.is_empty());
        let targets = std::env::var(TARGETS_VARIABLE).unwrap_or_default();
        file.map(|file| Recording::new(file.into(), &listed(&targets)?)).transpose()
    })?;
    Ok(active.as_ref())
}

/// The compute capabilities of a list such as `7.5,9.0a`.
fn listed(text: &str) -> Result<Vec<ComputeCapability>> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    items.map(|item| item.parse().map_err(Error::Target)).collect()
}

impl Recording {
    pub(crate) fn new(file: PathBuf, targets: &[ComputeCapability]) -> Result<Self> {
        let targets = targets.iter().map(|target| Ok(Target::new(*target)?)).collect::<Result<_>>()?;
        Ok(Recording { recorder: Recorder::new(file), targets })
    }

    /// Adds a specialisation for all targets; `compiled` is its code for one of them, or for the device.
    pub(crate) fn add(&self, compiled: &Compiled, signature: &str) -> Result<()> {
        let instance = &compiled.source.instance;
        let fingerprint = Fingerprint::of(instance);
        let source = source_key(&fingerprint);
        let own = [compiled.target];
        let targets = if self.targets.is_empty() { &own[..] } else { &self.targets };
        for &target in targets {
            let made;
            let compiled = if target == compiled.target {
                compiled
            } else {
                made = compile(instance.clone(), target, Lookup::None)?;
                &made
            };
            let contents = encode(compiled, &machine_code(compiled), &fingerprint);
            let put = self.recorder.put(&key(&source, target), &format!("{signature} {target}"), &contents);
            put.map_err(|source| Error::Record { file: self.recorder.path().to_owned(), source })?;
        }
        Ok(())
    }
}

/// A kernel's machine code if NVIDIA's assembler is found and accepts the kernel, else empty.
///
/// Kernels with debug information have none: the driver handles it when it translates their PTX.
fn machine_code(compiled: &Compiled) -> Vec<u8> {
    let options = compiled.source.instance.definition().options;
    if options.debug || options.lineinfo {
        return Vec::new();
    }
    match Assembled::new(&compiled.ptx, compiled.target) {
        Ok(assembled) => assembled.cubin,
        Err(error) => {
            tracing::debug!(%error, kernel = %compiled.entry, "recorded without machine code");
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_targets_is_read() {
        assert_eq!(listed("").unwrap(), []);
        assert_eq!(listed("7.5, sm_90a,").unwrap(), [(7, 5).into(), "9.0a".parse().unwrap()]);
        let error = listed("7.5,ten").unwrap_err().to_string();
        assert!(error.starts_with("`ten` is no compute capability"), "{error}");
    }
}
