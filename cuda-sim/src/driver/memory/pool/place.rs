//! The places of memory pools: the kind of their memory, and its location.
//!
//! All memory of the device is host memory, so places differ in who may access it, in whose total it counts against,
//! and in what attributes return.

use crate::driver::state::device;
use crate::memory::{MEMORY, PoolMemory, partitions};
use cuda_sys::{CUmemAllocationType, CUmemLocation, CUmemLocationType, CUresult};
use std::ffi::c_int;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// The memory of a pool and its device, if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PoolPlace {
    pub(super) memory: PoolMemory,
    pub(super) device: Option<usize>,
}

/// The number of a location that is the host, among those of devices.
pub(super) const HOST: c_int = -1;

/// The numbers of default pools are multiples of this apart.
const STEP: usize = 0x10;
/// The largest number of devices, which is that of `CUDA_SIM_DEVICES`.
const MAX_DEVICES: usize = 16;

impl PoolPlace {
    /// Returns the place of a device's default pool.
    pub(super) fn of_device(device: usize) -> PoolPlace {
        PoolPlace { memory: PoolMemory::Device, device: Some(device) }
    }

    /// Returns the place for an allocation type at a location.
    pub(super) fn new(location: CUmemLocation, kind: CUmemAllocationType) -> Result<PoolPlace, CUresult> {
        let at = located_or_none(location)?;
        let (memory, device) = match (kind, at) {
            (CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Some(HOST)) => (PoolMemory::Host, None),
            (CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Some(device)) => {
                (PoolMemory::Device, Some(device as usize))
            }
            (CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED, at) => {
                (PoolMemory::Managed, at.and_then(|at| usize::try_from(at).ok()))
            }
            _ => return Err(INVALID),
        };
        Ok(PoolPlace { memory, device })
    }

    /// All places that have a default pool.
    fn all() -> impl Iterator<Item = PoolPlace> {
        let devices = || (0..*crate::device::DEVICES).map(Some);
        let place = |memory| move |device| PoolPlace { memory, device };
        devices()
            .map(place(PoolMemory::Device))
            .chain([PoolPlace { memory: PoolMemory::Host, device: None }])
            .chain(devices().chain([None]).map(place(PoolMemory::Managed)))
    }

    /// Returns the distance of its default pool's handle from the first one.
    pub(super) fn offset(self) -> usize {
        let number = match (self.memory, self.device) {
            (PoolMemory::Device, Some(device)) => device,
            (PoolMemory::Managed, Some(device)) => MAX_DEVICES + 1 + device,
            (PoolMemory::Managed, None) => 2 * MAX_DEVICES + 1,
            _ => MAX_DEVICES,
        };
        number * STEP
    }

    /// Returns the place of the default pool at this distance from the first one.
    pub(super) fn of_offset(offset: usize) -> Option<PoolPlace> {
        PoolPlace::all().find(|place| place.offset() == offset)
    }

    /// Returns the partition of its default pool.
    pub(super) fn default_partition(self) -> usize {
        match (self.memory, self.device) {
            (PoolMemory::Device, Some(device)) => partitions::default_pool(device),
            _ => partitions::COMMON,
        }
    }

    /// Opens a partition for a pool. Host and managed memory is accessible to all devices.
    pub(super) fn open_partition(self) -> usize {
        match (self.memory, self.device) {
            (PoolMemory::Device, Some(device)) => MEMORY.open_partition(1 << device),
            _ => partitions::COMMON,
        }
    }

    /// Returns the location as attributes have it: its type, and its number.
    pub(super) fn location(self) -> CUmemLocation {
        let (type_, id) = match (self.memory, self.device) {
            (_, Some(device)) => (CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, device as c_int),
            (PoolMemory::Managed, None) => (CUmemLocationType::CU_MEM_LOCATION_TYPE_NONE, 0),
            _ => (CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, 0),
        };
        CUmemLocation { type_, id }
    }

    /// Returns the allocation type.
    pub(super) fn allocation_type(self) -> CUmemAllocationType {
        match self.memory {
            PoolMemory::Managed => CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED,
            _ => CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        }
    }
}

/// Returns the number of a location: a device's, or [`HOST`].
pub(super) fn located(location: CUmemLocation) -> Result<c_int, CUresult> {
    located_or_none(location)?.ok_or(INVALID)
}

/// As [`located`]; `None` for no location. The machine is one NUMA node.
fn located_or_none(location: CUmemLocation) -> Result<Option<c_int>, CUresult> {
    match location.type_ {
        CUmemLocationType::CU_MEM_LOCATION_TYPE_NONE => Ok(None),
        CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => {
            device(location.id).map(|device| Some(device as c_int)).map_err(|_| INVALID)
        }
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA if location.id != 0 => Err(INVALID),
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST
        | CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA
        | CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => Ok(Some(HOST)),
        _ => Err(INVALID),
    }
}
