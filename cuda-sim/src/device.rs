//! The simulated devices: limits and attributes of a real card for each profile.
//!
//! There are only numbers here. Occupancy and the checks of launches use these limits. All devices of a process have
//! the same profile.

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
    /// The possible sizes of a multiprocessor's shared memory, in KiB; the rest is first-level cache.
    pub(crate) carveouts: &'static [u32],
    /// The allocation granularity of shared memory.
    pub(crate) shared_unit: u32,
    /// Shared memory that the system reserves in every block.
    pub(crate) shared_reserved: u32,
    pub(crate) memory_bytes: u64,
    pub(crate) l2_bytes: u32,
    pub(crate) persisting_l2_bytes: u32,
    pub(crate) access_window_bytes: u32,
    pub(crate) clock_khz: u32,
    pub(crate) memory_clock_khz: u32,
    pub(crate) bus_bits: u32,
    pub(crate) async_engines: u32,
    /// The ratio of single to double precision throughput.
    pub(crate) double_ratio: u32,
    pub(crate) ecc: bool,
}

pub(crate) const MAX_THREADS: u32 = 1024;
pub(crate) const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
pub(crate) const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
pub(crate) const SHARED_PER_BLOCK: u32 = 48 << 10;
pub(crate) const REGISTERS: u32 = 65536;
/// The value of `NUM_REGS`, which occupancy uses: there are no physical registers here.
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
        access_window_bytes: 134_213_632,
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
        access_window_bytes: 134_213_632,
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
        access_window_bytes: 134_213_632,
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

/// The number of devices.
pub(crate) static DEVICES: Lazy<usize> = Lazy::new(|| ENVIRONMENT.devices);

/// Bytes of memory of each device: by default the card's, but no more than the machine can provide.
///
/// Clients query the size and use a part of it. With a device that reports more than the machine has, they would get
/// killed.
pub(crate) static TOTAL_MEMORY: Lazy<u64> = Lazy::new(|| {
    let share = || machine_memory().map_or(u64::MAX, |bytes| bytes / *DEVICES as u64);
    ENVIRONMENT.memory.unwrap_or_else(|| PROFILE.memory_bytes.min(share()))
});

/// Returns the process's share of the machine's memory, in whole megabytes; `None` if the system does not report it.
fn machine_memory() -> Option<u64> {
    // The limit of a container, in either version of control groups; a value that is not a number means no limit.
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limits = limits.iter().filter_map(|path| std::fs::read_to_string(path).ok()?.trim().parse().ok());
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let installed = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB"));
    let installed = installed.and_then(|kib| kib.trim().parse::<u64>().ok()).map(|kib| kib << 10);
    installed.into_iter().chain(limits).min().map(|bytes| bytes >> 20 << 20)
}

/// Limits of textures and surfaces, the same on all these cards; 0 for any other attribute.
///
/// They are the hardware's limits, which programs print; the functions that create textures are not supported.
fn texture_limit(attribute: CUdevice_attribute) -> u32 {
    match attribute.0 {
        // One-dimensional; two-dimensional; three-dimensional; two-dimensional layered.
        21 | 22 => 131_072,
        23 => 65_536,
        24..=26 => 16_384,
        27 | 28 => 32_768,
        29 => 2048,
        // One-dimensional layered, two-dimensional gather, and alternate three-dimensional.
        42 => 32_768,
        43 => 2048,
        44 => 1,
        45 | 46 => 32_768,
        47 | 48 => 8192,
        49 => 32_768,
        // Cubemaps.
        52 | 53 => 32_768,
        54 => 2046,
        // Surfaces: of one, two and three dimensions, layered, and cubemaps.
        55 => 32_768,
        56 => 131_072,
        57 => 65_536,
        58..=60 => 16_384,
        61 | 63 | 64 => 32_768,
        62 | 65 => 2048,
        66 | 67 => 32_768,
        68 => 2046,
        // Linear memory, and mipmaps.
        69 => 1 << 28,
        70 => 131_072,
        71 => 65_000,
        72 => 2_097_120,
        73 | 74 | 77 => 32_768,
        _ => 0,
    }
}

impl Profile {
    /// Returns the name of the device.
    pub(crate) fn device_name(&self) -> String {
        format!("Software device ({} profile)", self.name)
    }

    /// Returns the value of a device attribute; 0 for unsupported features.
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
            // The device is no NUMA node: -1. The host is one.
            A::CU_DEVICE_ATTRIBUTE_NUMA_ID => u32::MAX,
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
            | A::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED
            // Pools are shared by file descriptors: 1.
            | A::CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES => 1,
            A::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH => u32::from(self.has_clusters()),
            // Integrated memory, compression, multicast, pageable memory access: unsupported.
            _ => texture_limit(attribute),
        };
        value as i32
    }

    /// Returns true if launches may have clusters of several blocks.
    pub(crate) fn has_clusters(&self) -> bool {
        self.capability.0 >= 9
    }

    /// Returns the shared memory of a multiprocessor if a function prefers `percent` of the maximum and each block
    /// takes `shared` bytes.
    ///
    /// Without a preference (-1) the driver chooses the size that allows most blocks.
    pub(crate) fn shared_room(&self, percent: i32, shared: u64) -> u32 {
        let Ok(percent) = u32::try_from(percent) else { return self.shared_per_sm };
        let wanted = u64::from(self.shared_per_sm) * u64::from(percent) / 100;
        let needed = wanted.max(shared + u64::from(self.shared_reserved));
        let fitting = self.carveouts.iter().map(|kib| kib << 10).find(|bytes| u64::from(*bytes) >= needed);
        fitting.unwrap_or(self.shared_per_sm)
    }

    /// Returns the number of blocks of a kernel that fit a multiprocessor, by the rules of CUDA's occupancy calculator.
    pub(crate) fn resident_blocks(&self, threads: u32, registers: u32, shared: u64, room: u32) -> u32 {
        if threads == 0 || threads > MAX_THREADS {
            return 0;
        }
        // Resources are allocated for whole warps: registers in units of 256, to warps in groups of four.
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

    /// Results of CUDA's occupancy calculator: profile, threads, registers, shared bytes, blocks.
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
        // Registers: 1280 per warp allow 51 warps, of which 48 count; 8192 allow 8.
        ("sm_80", 256, 40, 0, 6),
        ("sm_80", 256, 255, 0, 1),
        ("sm_80", 128, 64, 0, 8),
        ("sm_90", 1024, 64, 0, 1),
        ("sm_90", 1024, 65, 0, 0),
        ("sm_75", 256, 64, 0, 4),
        ("sm_75", 512, 128, 0, 1),
        ("sm_120", 256, 168, 0, 1),
        // Shared memory, of which the system reserves 1 KiB per block from 8.0 on.
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

    /// Attributes of real cards, as reported by their owners: T4, A100 of 40 GB, H100, RTX 5090.
    #[test]
    fn attributes_are_those_of_the_cards() {
        use CUdevice_attribute as A;
        let table: &[(A, [i32; 4])] = &[
            (A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, [40, 108, 132, 170]),
            (A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, [7, 8, 9, 12]),
            (A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, [5, 0, 0, 0]),
            (A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, [1024; 4]),
            (A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, [64; 4]),
            (A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, [i32::MAX; 4]),
            (A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, [65_535; 4]),
            (A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, [1024, 2048, 2048, 1536]),
            (A::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, [16, 32, 32, 24]),
            (A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, [49_152; 4]),
            (A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, [65_536, 166_912, 232_448, 101_376]),
            (A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, [65_536, 167_936, 233_472, 102_400]),
            (A::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, [0, 1024, 1024, 1024]),
            (A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, [65_536; 4]),
            (A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, [65_536; 4]),
            (A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, [4_194_304, 41_943_040, 52_428_800, 100_663_296]),
            (A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE, [1_590_000, 1_410_000, 1_980_000, 2_407_000]),
            (A::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, [5_001_000, 1_215_000, 2_619_000, 14_001_000]),
            (A::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, [256, 5120, 5120, 512]),
            (A::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, [32, 2, 2, 64]),
            (A::CU_DEVICE_ATTRIBUTE_ECC_ENABLED, [1, 1, 1, 0]),
            (A::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, [65_536; 4]),
            (A::CU_DEVICE_ATTRIBUTE_WARP_SIZE, [32; 4]),
            (A::CU_DEVICE_ATTRIBUTE_MAX_PITCH, [i32::MAX; 4]),
            (A::CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, [512; 4]),
            (A::CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, [32; 4]),
            (A::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, [0, 134_213_632, 134_213_632, 134_213_632]),
            (A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, [131_072; 4]),
            (A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, [65_536; 4]),
            (A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, [16_384; 4]),
            (A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, [2046; 4]),
            (A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS, [2048; 4]),
            (A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, [2_097_120; 4]),
            (A::CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, [1; 4]),
            (A::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, [1; 4]),
            (A::CU_DEVICE_ATTRIBUTE_INTEGRATED, [0; 4]),
            (A::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, [0; 4]),
            (A::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, [1; 4]),
        ];
        for (attribute, expected) in table {
            let found: Vec<i32> = PROFILES.iter().map(|p| p.attribute(*attribute, 0)).collect();
            assert_eq!(found, expected, "{attribute:?}");
        }
        for profile in PROFILES {
            assert!(profile.shared_per_block_optin + profile.shared_reserved <= profile.shared_per_sm);
            assert_eq!(profile.carveouts.last(), Some(&(profile.shared_per_sm >> 10)));
        }
    }
}
