//! The devices that are shown: limits and attributes of a real card for each profile.
//!
//! Numbers only; nothing here runs anything. Occupancy follows these limits, and so do the checks of a launch. All
//! devices of a process have the same profile.

use crate::environment::ENVIRONMENT;
use cuda_sys::CUdevice_attribute;
use once_cell::sync::Lazy;

/// Limits of a compute capability, and a card that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) name: &'static str,
    pub(crate) capability: (u32, u32),
    pub(crate) multiprocessors: u32,
    pub(crate) threads_per_sm: u32,
    pub(crate) blocks_per_sm: u32,
    pub(crate) shared_per_sm: u32,
    pub(crate) shared_per_block_optin: u32,
    /// Shared memory that the system takes from every block.
    pub(crate) shared_reserved: u32,
    pub(crate) memory_bytes: u64,
    pub(crate) l2_bytes: u32,
    pub(crate) persisting_l2_bytes: u32,
    pub(crate) access_window_bytes: u32,
    pub(crate) clock_khz: u32,
    pub(crate) memory_clock_khz: u32,
    pub(crate) bus_bits: u32,
    pub(crate) async_engines: u32,
    /// Single to double precision throughput.
    pub(crate) double_ratio: u32,
    pub(crate) ecc: bool,
}

pub(crate) const MAX_THREADS: u32 = 1024;
pub(crate) const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
pub(crate) const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
pub(crate) const SHARED_PER_BLOCK: u32 = 48 << 10;
pub(crate) const REGISTERS: u32 = 65536;
/// What `NUM_REGS` reports, and occupancy counts with: registers do not exist here.
pub(crate) const REGISTERS_PER_THREAD: u32 = 32;

const GIB: u64 = 1 << 30;

pub(crate) const PROFILES: &[Profile] = &[
    // As a T4.
    Profile {
        name: "sm_75",
        capability: (7, 5),
        multiprocessors: 40,
        threads_per_sm: 1024,
        blocks_per_sm: 16,
        shared_per_sm: 64 << 10,
        shared_per_block_optin: 64 << 10,
        shared_reserved: 0,
        memory_bytes: 15 * GIB,
        l2_bytes: 4 << 20,
        persisting_l2_bytes: 0,
        access_window_bytes: 0,
        clock_khz: 1_590_000,
        memory_clock_khz: 5_001_000,
        bus_bits: 256,
        async_engines: 3,
        double_ratio: 32,
        ecc: true,
    },
    // As an A100 of 40 GB.
    Profile {
        name: "sm_80",
        capability: (8, 0),
        multiprocessors: 108,
        threads_per_sm: 2048,
        blocks_per_sm: 32,
        shared_per_sm: 164 << 10,
        shared_per_block_optin: 163 << 10,
        shared_reserved: 1 << 10,
        memory_bytes: 40 * GIB,
        l2_bytes: 40 << 20,
        persisting_l2_bytes: 30 << 20,
        access_window_bytes: 128 << 20,
        clock_khz: 1_410_000,
        memory_clock_khz: 1_215_000,
        bus_bits: 5120,
        async_engines: 3,
        double_ratio: 2,
        ecc: true,
    },
    // As an H100.
    Profile {
        name: "sm_90",
        capability: (9, 0),
        multiprocessors: 132,
        threads_per_sm: 2048,
        blocks_per_sm: 32,
        shared_per_sm: 228 << 10,
        shared_per_block_optin: 227 << 10,
        shared_reserved: 1 << 10,
        memory_bytes: 80 * GIB,
        l2_bytes: 50 << 20,
        persisting_l2_bytes: 32 << 20,
        access_window_bytes: 128 << 20,
        clock_khz: 1_980_000,
        memory_clock_khz: 2_619_000,
        bus_bits: 5120,
        async_engines: 3,
        double_ratio: 2,
        ecc: true,
    },
    // As a 5090.
    Profile {
        name: "sm_120",
        capability: (12, 0),
        multiprocessors: 170,
        threads_per_sm: 1536,
        blocks_per_sm: 24,
        shared_per_sm: 100 << 10,
        shared_per_block_optin: 99 << 10,
        shared_reserved: 1 << 10,
        memory_bytes: 32 * GIB,
        l2_bytes: 96 << 20,
        persisting_l2_bytes: 60 << 20,
        access_window_bytes: 128 << 20,
        clock_khz: 2_407_000,
        memory_clock_khz: 14_001_000,
        bus_bits: 512,
        async_engines: 2,
        double_ratio: 64,
        ecc: false,
    },
];

/// The profile of all devices.
pub(crate) static PROFILE: Lazy<Profile> = Lazy::new(|| ENVIRONMENT.profile);

/// How many devices there are.
pub(crate) static DEVICES: Lazy<usize> = Lazy::new(|| ENVIRONMENT.devices);

/// Memory of each device in bytes.
pub(crate) static TOTAL_MEMORY: Lazy<u64> = Lazy::new(|| ENVIRONMENT.memory.unwrap_or(PROFILE.memory_bytes));

impl Profile {
    /// What `cuDeviceGetName` says.
    pub(crate) fn device_name(&self) -> String {
        format!("Software device ({} profile)", self.name)
    }

    /// The value of an attribute of a device; 0 for what it does not have.
    pub(crate) fn attribute(&self, attribute: CUdevice_attribute, device: usize) -> i32 {
        use CUdevice_attribute as A;
        let value = match attribute {
            A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK => MAX_THREADS,
            A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X => MAX_BLOCK[0],
            A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y => MAX_BLOCK[1],
            A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z => MAX_BLOCK[2],
            A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X => MAX_GRID[0],
            A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y => MAX_GRID[1],
            A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z => MAX_GRID[2],
            A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK => SHARED_PER_BLOCK,
            A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => self.shared_per_block_optin,
            A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR => self.shared_per_sm,
            A::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK => self.shared_reserved,
            A::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY => 65536,
            A::CU_DEVICE_ATTRIBUTE_WARP_SIZE => 32,
            A::CU_DEVICE_ATTRIBUTE_MAX_PITCH => i32::MAX as u32,
            A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK => REGISTERS,
            A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR => REGISTERS,
            A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE => self.clock_khz,
            A::CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT | A::CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT => 512,
            A::CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT => 32,
            A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => self.multiprocessors,
            A::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID => device as u32 + 1,
            A::CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID => device as u32,
            A::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE => self.memory_clock_khz,
            A::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH => self.bus_bits,
            A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE => self.l2_bytes,
            A::CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE => self.persisting_l2_bytes,
            A::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE => self.access_window_bytes,
            A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR => self.threads_per_sm,
            A::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR => self.blocks_per_sm,
            A::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT => self.async_engines,
            A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => self.capability.0,
            A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => self.capability.1,
            A::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO => self.double_ratio,
            A::CU_DEVICE_ATTRIBUTE_ECC_ENABLED => u32::from(self.ecc),
            A::CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT => 1,
            // No node of the host's memory is nearest: -1.
            A::CU_DEVICE_ATTRIBUTE_NUMA_ID | A::CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID => u32::MAX,
            A::CU_DEVICE_ATTRIBUTE_GPU_OVERLAP
            | A::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY
            | A::CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS
            | A::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH
            | A::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING
            | A::CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY
            | A::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS
            | A::CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST
            | A::CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
            | A::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS
            | A::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR
            | A::CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES
            | A::CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS
            | A::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES
            | A::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED => 1,
            // Integration, textures, arrays, clusters, multicast: nothing of it exists here.
            _ => 0,
        };
        value as i32
    }

    /// Blocks of a kernel that fit a multiprocessor at once.
    pub(crate) fn resident_blocks(&self, threads: u32, shared: u64) -> u32 {
        if threads == 0 || threads > MAX_THREADS {
            return 0;
        }
        // Resources are given to whole warps.
        let threads = threads.next_multiple_of(32);
        let by_registers = REGISTERS / (REGISTERS_PER_THREAD * threads);
        let by_threads = (self.threads_per_sm / threads).min(by_registers).min(self.blocks_per_sm);
        // Shared memory in units of 128 bytes, as devices from 7.0 on give it out.
        let taken = shared.next_multiple_of(128) + u64::from(self.shared_reserved);
        let by_shared = u64::from(self.shared_per_sm).checked_div(taken).unwrap_or(u64::MAX);
        u64::from(by_threads).min(by_shared) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupancy_follows_the_tightest_limit() {
        let sm_90 = PROFILES[2];
        assert_eq!(sm_90.resident_blocks(1024, 0), 2);
        assert_eq!(sm_90.resident_blocks(32, 0), 32);
        assert_eq!(sm_90.resident_blocks(128, 48 << 10), 4);
        assert_eq!(sm_90.resident_blocks(33, 0), 32);
        assert_eq!(sm_90.resident_blocks(32, 227 << 10), 1);
        assert_eq!(sm_90.resident_blocks(32, 228 << 10), 0);
        assert_eq!(PROFILES[0].resident_blocks(1024, 0), 1);
        assert_eq!(PROFILES[3].resident_blocks(1024, 0), 1);
        assert_eq!(PROFILES[3].resident_blocks(32, 0), 24);
        assert_eq!(sm_90.resident_blocks(1025, 0), 0);
    }

    #[test]
    fn every_attribute_that_clients_compute_with_is_there() {
        use CUdevice_attribute as A;
        for profile in PROFILES {
            for attribute in [
                A::CU_DEVICE_ATTRIBUTE_WARP_SIZE,
                A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
                A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
                A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
                A::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
            ] {
                assert!(profile.attribute(attribute, 0) > 0, "{attribute:?} of {}", profile.name);
            }
            assert!(profile.shared_per_block_optin + profile.shared_reserved <= profile.shared_per_sm);
        }
    }
}
