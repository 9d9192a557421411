//! Stream attributes: stored and returned; only the priority has an effect.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract. The attribute's value is a
//! union of plain data.

use super::target;
use crate::driver::state::OBJECTS;
use crate::driver::{Status, api, get, put};
use cuda_sys::{CUlaunchAttributeID, CUresult, CUstream, CUstreamAttrID, CUstreamAttrValue};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;

/// A value that a client set.
#[derive(Clone, Copy)]
struct StoredValue(CUstreamAttrValue);
// SAFETY: plain data; pointers in it are never dereferenced.
unsafe impl Send for StoredValue {}

/// The values that were set, by stream id. Those of destroyed streams are removed when the next one is set.
static VALUES: Lazy<Mutex<HashMap<(u64, u32), StoredValue>>> = Lazy::new(Mutex::default);

/// Checks that streams have this attribute.
fn known(which: CUstreamAttrID) -> Status {
    match which {
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
        | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY
        | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY
        | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP
        | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => Ok(()),
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}

fn nothing() -> CUstreamAttrValue {
    CUstreamAttrValue { pad: [0; 64] }
}

api! {
    fn cuStreamGetAttribute / cuStreamGetAttribute_ptsz(
        of: CUstream,
        which: CUstreamAttrID,
        value: *mut CUstreamAttrValue,
    ) {
        let (_, stream) = target(of)?;
        known(which)?;
        let default = match which {
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY => {
                CUstreamAttrValue { priority: stream.priority }
            }
            _ => nothing(),
        };
        put(value, VALUES.lock().get(&(stream.id, which.0)).map_or(default, |kept| kept.0))
    }
    fn cuStreamSetAttribute / cuStreamSetAttribute_ptsz(
        of: CUstream,
        which: CUstreamAttrID,
        value: *const CUstreamAttrValue,
    ) {
        let (_, stream) = target(of)?;
        known(which)?;
        let value = get(value)?;
        let live: std::collections::HashSet<u64> = OBJECTS.lock().streams.values().map(|s| s.id).collect();
        let mut values = VALUES.lock();
        values.retain(|(id, _), _| live.contains(id));
        values.insert((stream.id, which.0), StoredValue(value));
        Ok(())
    }
    fn cuStreamCopyAttributes / cuStreamCopyAttributes_ptsz(to: CUstream, from: CUstream) {
        let (to, from) = (target(to)?.1, target(from)?.1);
        let mut values = VALUES.lock();
        let copied: Vec<_> =
            values.iter().filter(|((id, _), _)| *id == from.id).map(|((_, which), v)| ((to.id, *which), *v)).collect();
        values.extend(copied);
        Ok(())
    }
}
