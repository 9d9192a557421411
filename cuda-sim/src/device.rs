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
    /// Sizes that the shared memory of a multiprocessor can have, in KiB; the rest is first-level cache.
    pub(crate) carveouts: &'static [u32],
    /// What shared memory is given out in.
    pub(crate) shared_unit: u32,
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
        carveouts: &[32, 64],
        shared_unit: 256,
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
        carveouts: &[0, 8, 16, 32, 64, 100, 132, 164],
        shared_unit: 128,
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
        carveouts: &[0, 8, 16, 32, 64, 100, 132, 164, 196, 228],
        shared_unit: 128,
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
        carveouts: &[0, 8, 16, 32, 64, 100],
        shared_unit: 128,
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

    /// Shared memory of a multiprocessor where a function prefers `percent` of the most, and each block takes `shared`.
    ///
    /// Without a preference (-1) the driver chooses what lets most blocks run.
    pub(crate) fn shared_room(&self, percent: i32, shared: u64) -> u32 {
        let Ok(percent) = u32::try_from(percent) else { return self.shared_per_sm };
        let wanted = u64::from(self.shared_per_sm) * u64::from(percent) / 100;
        let needed = wanted.max(shared + u64::from(self.shared_reserved));
        let fitting = self.carveouts.iter().map(|kib| kib << 10).find(|bytes| u64::from(*bytes) >= needed);
        fitting.unwrap_or(self.shared_per_sm)
    }

    /// Blocks of a kernel that fit a multiprocessor at once, by the rules of CUDA's occupancy calculator.
    pub(crate) fn resident_blocks(&self, threads: u32, registers: u32, shared: u64, room: u32) -> u32 {
        if threads == 0 || threads > MAX_THREADS {
            return 0;
        }
        // Resources are given to whole warps: registers in units of 256, to warps in fours.
        let warps = threads.div_ceil(32);
        let per_warp = (registers * 32).next_multiple_of(256).max(256);
        let by_registers = REGISTERS / per_warp / 4 * 4 / warps;
        let by_threads = (self.threads_per_sm / 32 / warps).min(by_registers).min(self.blocks_per_sm);
        let taken = (shared + u64::from(self.shared_reserved)).next_multiple_of(u64::from(self.shared_unit));
        let by_shared = match taken {
            0 => u64::MAX,
            _ if shared > u64::from(self.shared_per_block_optin) => 0,
            _ => u64::from(room) / taken,
        };
        u64::from(by_threads).min(by_shared) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers of CUDA's occupancy calculator: profile, threads, registers, shared bytes, blocks.
    const KNOWN: &[(&str, u32, u32, u64, u32)] = &[
        // Threads, blocks and warps.
        ("sm_75", 1024, 32, 0, 1),
        ("sm_75", 256, 32, 0, 4),
        ("sm_75", 32, 32, 0, 16),
        ("sm_80", 1024, 32, 0, 2),
        ("sm_80", 32, 32, 0, 32),
        ("sm_80", 33, 32, 0, 32),
        ("sm_90", 768, 32, 0, 2),
        ("sm_90", 1025, 32, 0, 0),
        ("sm_120", 1024, 32, 0, 1),
        ("sm_120", 768, 32, 0, 2),
        ("sm_120", 32, 32, 0, 24),
        // Registers: 1280 of a warp let 51 warps in, of which 48 count; 8192 let in 8.
        ("sm_80", 256, 40, 0, 6),
        ("sm_80", 256, 255, 0, 1),
        ("sm_80", 128, 64, 0, 8),
        ("sm_90", 1024, 64, 0, 1),
        ("sm_90", 1024, 65, 0, 0),
        ("sm_75", 256, 64, 0, 4),
        ("sm_75", 512, 128, 0, 1),
        ("sm_120", 256, 168, 0, 1),
        // Shared memory, of which 1 KiB for each block is the system's from 8.0 on.
        ("sm_75", 128, 32, 32 << 10, 2),
        ("sm_75", 128, 32, (32 << 10) + 1, 1),
        ("sm_75", 64, 32, 4096, 16),
        ("sm_75", 64, 32, 4097, 15),
        ("sm_80", 128, 32, 40 << 10, 4),
        ("sm_80", 128, 32, 41 << 10, 3),
        ("sm_80", 128, 32, 163 << 10, 1),
        ("sm_80", 128, 32, (163 << 10) + 1, 0),
        ("sm_90", 128, 32, 48 << 10, 4),
        ("sm_90", 128, 32, 56 << 10, 4),
        ("sm_90", 128, 32, (56 << 10) + 1, 3),
        ("sm_90", 32, 32, 227 << 10, 1),
        ("sm_120", 128, 32, 49 << 10, 2),
        ("sm_120", 128, 32, 50 << 10, 1),
        ("sm_120", 128, 32, 99 << 10, 1),
        ("sm_120", 128, 32, 100 << 10, 0),
    ];

    fn profile(name: &str) -> &'static Profile {
        PROFILES.iter().find(|p| p.name == name).unwrap()
    }

    #[test]
    fn occupancy_is_that_of_the_calculator() {
        for (name, threads, registers, shared, blocks) in KNOWN {
            let profile = profile(name);
            let found = profile.resident_blocks(*threads, *registers, *shared, profile.shared_per_sm);
            assert_eq!(found, *blocks, "{name}: {threads} threads, {registers} registers, {shared} bytes");
        }
    }

    #[test]
    fn a_carveout_is_the_next_size_that_the_card_has() {
        for (name, percent, shared, kib) in [
            ("sm_75", 0, 0, 32),
            ("sm_75", 51, 0, 64),
            ("sm_80", 0, 0, 8),
            ("sm_80", 0, 7 << 10, 8),
            ("sm_80", 0, (7 << 10) + 1, 16),
            ("sm_80", 50, 0, 100),
            ("sm_90", 50, 0, 132),
            ("sm_90", 100, 0, 228),
            ("sm_90", -1, 0, 228),
            ("sm_120", 33, 0, 64),
        ] {
            assert_eq!(profile(name).shared_room(percent, shared), kib << 10, "{name} at {percent} %");
        }
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
