//! The attributes of an extended launch: their checks and effects.
//!
//! Most are hints for a device's scheduler and caches. They are checked and have no effect, since kernels of a stream
//! run one after the other anyway. An event to be recorded when blocks begin, or when all of them have triggered a
//! dependent launch, is recorded at the kernel's end, which is never too early. Clusters have the requested extents;
//! preferred extents are checked and not used.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract. The union that is read consists
//! of plain data.

use super::clusters::RequestedCluster;
use crate::driver::event::{event, record};
use crate::driver::state::belongs;
use crate::driver::{Status, get};
use cuda_sys::{CUevent, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchConfig, CUresult, CUstream};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// The requests of a launch's attributes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::driver) struct Attributes {
    pub(in crate::driver) cooperative: bool,
    /// The extents of a cluster, and the preferred ones.
    pub(in crate::driver) cluster: RequestedCluster,
    preferred: RequestedCluster,
    /// Events to be recorded.
    events: Vec<CUevent>,
}

/// Returns the value of an attribute as 32-bit words, of which all members of the union consist.
fn words(attribute: &CUlaunchAttribute) -> [u32; 16] {
    // SAFETY: all members are plain data, and the union was written by the client; the padding behind a shorter member
    // is whatever the client's 64 bytes hold, and only the member's own words are used.
    let bytes = unsafe { attribute.value.pad };
    std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|j| bytes[i * 4 + j] as u8)))
}

/// Checks that a number does not exceed a limit.
fn at_most(value: u32, most: u32) -> Status {
    if value <= most { Ok(()) } else { Err(INVALID) }
}

/// Returns the extents of a cluster.
fn cluster(value: [u32; 16]) -> Result<[u32; 3], CUresult> {
    let dimensions = [value[0], value[1], value[2]];
    if dimensions.contains(&0) { Err(CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE) } else { Ok(dimensions) }
}

impl Attributes {
    /// Reads and checks the attributes of a launch.
    pub(in crate::driver) fn read(config: &CUlaunchConfig) -> Result<Attributes, CUresult> {
        let mut found = Attributes::default();
        for i in 0..config.numAttrs as usize {
            found.add(&get(config.attrs.wrapping_add(i))?)?;
        }
        found.check_preferred().map(|()| found)
    }

    /// Checks that preferred clusters are multiples of the requested ones.
    fn check_preferred(&self) -> Status {
        match (self.preferred, self.cluster) {
            (None, _) => Ok(()),
            (Some(large), Some(small)) if large.iter().zip(small).all(|(n, by)| n.is_multiple_of(by)) => Ok(()),
            _ => Err(INVALID),
        }
    }

    fn add(&mut self, attribute: &CUlaunchAttribute) -> Status {
        use CUlaunchAttributeID as A;
        let value = words(attribute);
        let first = value[0];
        match attribute.id {
            A::CU_LAUNCH_ATTRIBUTE_IGNORE
            | A::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
            | A::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION => Ok(()),
            A::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => {
                self.cooperative = first != 0;
                Ok(())
            }
            A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
                self.cluster = Some(cluster(value)?);
                Ok(())
            }
            A::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION => {
                self.preferred = Some(cluster(value)?);
                Ok(())
            }
            A::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => at_most(first, 2),
            A::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT => at_most(value[3], 1).and_then(|()| self.event(value)),
            A::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT => self.event(value),
            A::CU_LAUNCH_ATTRIBUTE_PRIORITY => {
                let (least, greatest) = crate::driver::stream::PRIORITIES;
                if (greatest..=least).contains(&first.cast_signed()) { Ok(()) } else { Err(INVALID) }
            }
            // Two domain numbers of one byte each; the device has one domain.
            A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP => at_most(first & 0xffff, 0),
            A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => at_most(first, 1),
            A::CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE if first != 0 => {
                Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
            }
            A::CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE => Ok(()),
            A::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT if first == u32::MAX => Ok(()),
            A::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => at_most(first, 100),
            A::CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING => at_most(first, 1),
            // Attributes of streams only, or unknown ones.
            _ => Err(INVALID),
        }
    }

    /// Adds an event to be recorded, which must have timing disabled.
    fn event(&mut self, value: [u32; 16]) -> Status {
        let handle = u64::from(value[0]) | u64::from(value[1]) << 32;
        let handle: CUevent = std::ptr::without_provenance_mut(handle as usize);
        if event(handle)?.is_timed() || value[2] != 0 {
            return Err(INVALID);
        }
        self.events.push(handle);
        Ok(())
    }

    /// Checks the events against the context of the launch.
    pub(in crate::driver) fn check(&self, context: u32) -> Status {
        match self.events.iter().all(|event| belongs(event.addr(), context)) {
            true => Ok(()),
            false => Err(CUresult::CUDA_ERROR_INVALID_HANDLE),
        }
    }

    /// Records the events once the launch is enqueued.
    pub(in crate::driver) fn record(&self, on: CUstream) -> Status {
        self.events.iter().try_for_each(|event| record(*event, on, false))
    }
}
