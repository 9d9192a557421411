//! The READMEs and the book as tests: each of their `rust` blocks is compiled and run. Nothing here is part of the crate.

macro_rules! pages {
    ($($name:ident $path:literal)*) => { $(
        #[doc = include_str!($path)]
        mod $name {}
    )* };
}

pages! {
    readme "../../README.md"
    readme_of_this_crate "../README.md"
    overview "../../docs/book/src/overview.md"
    setup "../../docs/book/src/setup.md"
    first_steps "../../docs/book/src/first-steps.md"
    kernels "../../docs/book/src/kernels.md"
    language "../../docs/book/src/language.md"
    device_functions "../../docs/book/src/device-functions.md"
    structs "../../docs/book/src/structs.md"
    numbers "../../docs/book/src/numbers.md"
    memory "../../docs/book/src/memory.md"
    shared "../../docs/book/src/shared.md"
    warps "../../docs/book/src/warps.md"
    groups "../../docs/book/src/groups.md"
    panics "../../docs/book/src/panics.md"
    race_freedom "../../docs/book/src/race-freedom.md"
    streams "../../docs/book/src/streams.md"
    devices "../../docs/book/src/devices.md"
    several_gpus "../../docs/book/src/several-gpus.md"
    compiling "../../docs/book/src/compiling.md"
    software_device "../../docs/book/src/software-device.md"
    low_level "../../docs/book/src/low-level.md"
    numba "../../docs/book/src/numba.md"
    from_cuda_cpp "../../docs/book/src/from-cuda-cpp.md"
    environment "../../docs/book/src/environment.md"
    faults "../../docs/book/src/faults.md"
    checkers "../../docs/book/src/checkers.md"
}
