//! The settings of core dumps (`cuCoredump*`).
//!
//! The device writes no core dumps: a fault is explained on standard error, with the kernel, the line, the block and the
//! thread. The settings are checked, stored and returned. A context has the process's value of each setting that was
//! not set for it.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module). Values
//! are read and written within the size that the client gives.

use super::state::{current, initialised};
use super::{Status, api, get, put};
use cuda_sys::{CUcoredumpSettings, CUresult};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::c_void;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// The limit on bytes of a file name, including its NUL.
const MAX_NAME: usize = 1024;
/// All flags of [`CUcoredumpSettings::CU_COREDUMP_GENERATION_FLAGS`].
const FLAGS: u32 = 0xc000_01ff;

/// A setting's value.
#[derive(Clone, Debug, PartialEq)]
enum Setting {
    Truth(bool),
    Flags(u32),
    /// Without its NUL.
    Name(Vec<u8>),
}

/// The values that were set, by context and setting; those of context 0 are the process's.
static SETTINGS: Lazy<Mutex<HashMap<(u32, u32), Setting>>> = Lazy::new(Mutex::default);

/// The key of the process's values.
const PROCESS: u32 = 0;

/// Forgets the values of a context, at its end.
pub(super) fn forget(context: u32) {
    SETTINGS.lock().retain(|(of, _), _| *of != context);
}

/// Returns the initial value of a setting.
fn initial(which: CUcoredumpSettings) -> Result<Setting, CUresult> {
    use CUcoredumpSettings as S;
    let named = |prefix: &str| Setting::Name(format!("{prefix}.cuda.{}", std::process::id()).into_bytes());
    Ok(match which {
        S::CU_COREDUMP_ENABLE_ON_EXCEPTION | S::CU_COREDUMP_LIGHTWEIGHT | S::CU_COREDUMP_ENABLE_USER_TRIGGER => {
            Setting::Truth(false)
        }
        S::CU_COREDUMP_TRIGGER_HOST => Setting::Truth(true),
        S::CU_COREDUMP_FILE => named("core"),
        S::CU_COREDUMP_PIPE => named("corepipe"),
        S::CU_COREDUMP_GENERATION_FLAGS => Setting::Flags(0),
        _ => return Err(INVALID),
    })
}

impl Setting {
    /// Reads a value of the same type as this one.
    fn read(&self, value: *const c_void, bytes: usize) -> Result<Setting, CUresult> {
        match self {
            Setting::Truth(_) if bytes == size_of::<bool>() => Ok(Setting::Truth(get(value.cast::<u8>())? != 0)),
            Setting::Flags(_) if bytes == size_of::<u32>() => {
                Some(get(value.cast())?).filter(|flags| flags & !FLAGS == 0).map(Setting::Flags).ok_or(INVALID)
            }
            Setting::Name(_) => {
                let mut name = Vec::new();
                for at in 0..bytes {
                    match get(value.cast::<u8>().wrapping_add(at))? {
                        0 => break,
                        byte => name.push(byte),
                    }
                    if name.len() == MAX_NAME {
                        return Err(INVALID);
                    }
                }
                Ok(Setting::Name(name))
            }
            _ => Err(INVALID),
        }
    }

    /// Returns the bytes that a client reads.
    fn bytes(&self) -> Vec<u8> {
        match self {
            Setting::Truth(truth) => vec![u8::from(*truth)],
            Setting::Flags(flags) => flags.to_ne_bytes().to_vec(),
            Setting::Name(name) => name.iter().copied().chain([0]).collect(),
        }
    }
}

/// Stores a value for a context or the process.
fn set(of: u32, which: CUcoredumpSettings, value: *const c_void, size: *const usize) -> Status {
    let new = initial(which)?.read(value, get(size)?)?;
    if new == Setting::Truth(true) && which == CUcoredumpSettings::CU_COREDUMP_ENABLE_ON_EXCEPTION {
        tracing::warn!("core dumps are enabled, but the software device writes none: it explains faults here");
    }
    SETTINGS.lock().insert((of, which.0), new);
    Ok(())
}

/// Returns the value for a context or the process; with a null value only its size.
fn read(of: u32, which: CUcoredumpSettings, value: *mut c_void, size: *mut usize) -> Status {
    let initial = initial(which)?;
    let settings = SETTINGS.lock();
    let found = settings.get(&(of, which.0)).or_else(|| settings.get(&(PROCESS, which.0))).cloned();
    drop(settings);
    let bytes = found.unwrap_or(initial).bytes();
    let room = get(size)?;
    put(size, bytes.len())?;
    if value.is_null() {
        return Ok(());
    }
    if room < bytes.len() {
        return Err(INVALID);
    }
    bytes.iter().enumerate().try_for_each(|(at, byte)| put(value.cast::<u8>().wrapping_add(at), *byte))
}

api! {
    fn cuCoredumpGetAttribute(which: CUcoredumpSettings, value: *mut c_void, size: *mut usize) {
        read(current()?.id, which, value, size)
    }
    fn cuCoredumpGetAttributeGlobal(which: CUcoredumpSettings, value: *mut c_void, size: *mut usize) {
        initialised()?;
        read(PROCESS, which, value, size)
    }
    fn cuCoredumpSetAttribute(which: CUcoredumpSettings, value: *mut c_void, size: *mut usize) {
        let context = current()?;
        // A process has one pipe, on which a core dump is requested.
        if matches!(
            which,
            CUcoredumpSettings::CU_COREDUMP_ENABLE_USER_TRIGGER | CUcoredumpSettings::CU_COREDUMP_PIPE
        ) {
            return Err(CUresult::CUDA_ERROR_NOT_PERMITTED);
        }
        set(context.id, which, value, size)
    }
    fn cuCoredumpSetAttributeGlobal(which: CUcoredumpSettings, value: *mut c_void, size: *mut usize) {
        initialised()?;
        set(PROCESS, which, value, size)
    }
}
