//! Every function of the table with degenerate arguments: null handles, null arrays with a count, counts and sizes that
//! overflow, handles of another kind, and null handles with pointers that must not be dereferenced. None crashes, none
//! panics, and all but the few that have nothing to refuse return an error.
//!
//! The functions and their parameters are those of the generated table, so a new one is tested without being named
//! here.
//!
//! # Safety
//!
//! Passing nulls is safe, since CUDA's functions refuse them with an error, which is what is tested.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{CHILD, child, function, launch_attribute, launch_config, primary};
use cuda_sys::*;
use std::collections::BTreeSet;
use std::ffi::*;
use std::io::Write as _;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// The largest parameter that is passed by value, in words.
const WORDS: usize = 16;

/// A function of the table: its name, its parameters' types, and a call with a word for each parameter.
struct Function {
    name: &'static str,
    types: &'static [&'static str],
    call: fn(&[u64]) -> CUresult,
}

/// A parameter's value: the first bytes are those of the word, and all others are 0.
fn value<T>(word: u64) -> T {
    const { assert!(size_of::<T>() <= 8 * WORDS) };
    let mut bytes = [0_u64; WORDS];
    bytes[0] = word;
    let mut value = MaybeUninit::<T>::uninit();
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr().cast::<u8>(), value.as_mut_ptr().cast(), size_of::<T>()) };
    // Parameters are integers, pointers, structures of those, and optional functions, of which only null is passed.
    unsafe { value.assume_init() }
}

macro_rules! functions {
    ($($name:ident($($argument:ident: $ty:ty),*);)*) => {
        [$(Function {
            name: stringify!($name),
            types: &[$(stringify!($ty)),*],
            call: |words| {
                let mut words = words.iter().copied();
                let Ok(function) = cuda_sim::driver_api().$name() else { return CUresult::CUDA_ERROR_NOT_FOUND };
                $(let $argument = value::<$ty>(words.next().expect("a word for each parameter"));)*
                let _ = &mut words;
                unsafe { function($($argument),*) }
            },
        }),*]
    };
}

/// The arguments of a call.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    /// The objects of handles: none, live ones, or one of another kind than the parameter's.
    handles: Handles,
    /// Pointers: null, or an address that must not be dereferenced.
    pointers: u64,
    /// Integers: counts, sizes, flags.
    numbers: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Handles {
    Null,
    Live,
    Foreign,
}

/// Never mapped: it is in the kernel's half of the address space, so an access faults.
const FAR: u64 = 0xffff_8000_0000_0000;

const NULLS: Way = Way { name: "nothing", handles: Handles::Null, pointers: 0, numbers: 0 };
const WAYS: [Way; 8] = [
    NULLS,
    Way { name: "null handles, counts of 1", numbers: 1, ..NULLS },
    Way { name: "null handles, huge counts", numbers: u64::MAX, ..NULLS },
    Way { name: "live handles, null pointers", handles: Handles::Live, ..NULLS },
    Way { name: "live handles, null pointers, counts of 1", handles: Handles::Live, numbers: 1, ..NULLS },
    Way { name: "live handles, null pointers, huge counts", handles: Handles::Live, numbers: u64::MAX, ..NULLS },
    Way {
        name: "live handles, null pointers, counts that overflow",
        handles: Handles::Live,
        numbers: 1 << 62,
        ..NULLS
    },
    Way { name: "handles of another kind", handles: Handles::Foreign, numbers: 1, ..NULLS },
];

const TEXT: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.visible .global .align 4 .u32 g;
.visible .entry still(.param .u32 n) { ret; }";

/// One object of each kind, in a context of its own which is the current one.
struct Objects {
    context: CUcontext,
    handles: Vec<(&'static str, u64)>,
    /// Belongs to the process, not to the context.
    library: CUlibrary,
    pool: CUmemoryPool,
}

impl Objects {
    fn new() -> Objects {
        ok!(cuInit(0));
        let (mut context, mut stream, mut event, mut module, mut function) =
            (null_mut(), null_mut(), null_mut(), null_mut(), null_mut());
        ok!(cuCtxCreate_v2(&mut context, 0, 0));
        ok!(cuStreamCreate(&mut stream, 0));
        ok!(cuEventCreate(&mut event, 0));
        ok!(cuModuleLoadData(&mut module, TEXT.as_ptr().cast()));
        ok!(cuModuleGetFunction(&mut function, module, c"still".as_ptr()));
        let (mut library, mut kernel) = (null_mut(), null_mut());
        let text = TEXT.as_ptr().cast();
        ok!(cuLibraryLoadData(&mut library, text, null_mut(), null_mut(), 0, null_mut(), null_mut(), 0));
        ok!(cuLibraryGetKernel(&mut kernel, library, c"still".as_ptr()));
        let (mut graph, mut node, mut exec, mut link) = (null_mut(), null_mut(), null_mut(), null_mut());
        ok!(cuGraphCreate(&mut graph, 0));
        ok!(cuGraphAddEmptyNode(&mut node, graph, null_mut(), 0));
        ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
        ok!(cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link));
        let (mut pool, mut address) = (null_mut(), 0);
        let mut props = CUmemPoolProps { allocType: CUmemAllocationType(1), ..CUmemPoolProps::default() };
        props.location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
        ok!(cuMemPoolCreate(&mut pool, &props));
        ok!(cuMemAlloc_v2(&mut address, 4096));
        // A wait for a value in memory finds it.
        ok!(cuMemcpyHtoD_v2(address, std::ptr::from_ref(&1_u64).cast(), 8));
        let handles = vec![
            ("CUcontext", context.addr() as u64),
            ("CUstream", stream.addr() as u64),
            ("CUevent", event.addr() as u64),
            ("CUmodule", module.addr() as u64),
            ("CUfunction", function.addr() as u64),
            ("CUlibrary", library.addr() as u64),
            ("CUkernel", kernel.addr() as u64),
            ("CUgraph", graph.addr() as u64),
            ("CUgraphNode", node.addr() as u64),
            ("CUgraphExec", exec.addr() as u64),
            ("CUlinkState", link.addr() as u64),
            ("CUmemoryPool", pool.addr() as u64),
            ("CUdeviceptr", address),
            ("CUdeviceptr_v2", address),
        ];
        Objects { context, handles, library, pool }
    }

    /// Returns the word for a parameter of a type.
    fn word(&self, ty: &str, way: Way) -> u64 {
        let live = |ty: &str| self.handles.iter().find(|(kind, _)| *kind == ty).map(|(_, handle)| *handle);
        match (live(ty), way.handles) {
            (Some(_), Handles::Null) => 0,
            (Some(handle), Handles::Live) => handle,
            (Some(_), Handles::Foreign) => {
                let other = if ty == "CUevent" { "CUstream" } else { "CUevent" };
                live(other).expect("it is listed")
            }
            // No function of the device creates such objects.
            (None, _) if opaque(ty) => 0,
            (None, _) if ty.starts_with('*') => way.pointers,
            (None, _) if ty == "CUdevice" => 0,
            (None, _) => way.numbers,
        }
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // Each may be gone already, or be captured from: the tested call may have done that.
        call!(cuCtxSetCurrent(self.context));
        call!(cuCtxDestroy_v2(self.context));
        call!(cuCtxSetCurrent(null_mut()));
        call!(cuLibraryUnload(self.library));
        call!(cuMemPoolDestroy(self.pool));
    }
}

/// Returns true for pointer types that are not written as such: other objects, and functions.
fn opaque(ty: &str) -> bool {
    const FUNCTIONS: [&str; 3] = ["CUhostFn", "CUstreamCallback", "CUoccupancyB2DSize"];
    const OBJECTS: [&str; 12] = [
        "CUarray",
        "CUmipmappedArray",
        "CUtexref",
        "CUsurfref",
        "CUgraphicsResource",
        "CUexternalMemory",
        "CUexternalSemaphore",
        "CUuserObject",
        "CUgreenCtx",
        "CUdevResourceDesc",
        "CUasyncCallbackHandle",
        "CUlogsCallbackHandle",
    ];
    FUNCTIONS.contains(&ty) || OBJECTS.contains(&ty) || ty.starts_with("Option") || ty.contains("Callback")
}

/// Calls all functions in one way. Returns the names of those that succeeded, and of those that panicked.
fn try_all(way: Way, skip: impl Fn(&Function) -> bool) -> (BTreeSet<&'static str>, Vec<&'static str>) {
    let (mut fine, mut panicked) = (BTreeSet::new(), Vec::new());
    for function in cuda_sys::driver_functions!(functions).iter().filter(|function| !skip(function)) {
        // Printed before, so that the parent knows where a child has crashed.
        let _ = writeln!(std::io::stderr(), "{} with {}", function.name, way.name);
        let objects = Objects::new();
        let words: Vec<u64> = function.types.iter().map(|ty| objects.word(ty, way)).collect();
        match (function.call)(&words) {
            CUresult::CUDA_SUCCESS => drop(fine.insert(function.name)),
            // The code of a panic.
            CUresult::CUDA_ERROR_UNKNOWN => panicked.push(function.name),
            _ => {}
        }
    }
    (fine, panicked)
}

/// Runs the test in a child process; returns true there. If the child crashes, the error names the call.
fn in_child(test: &str) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let output = child(test).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let last: Vec<&str> = err.lines().rev().take(12).collect();
    assert!(output.status.success() && out.contains("1 passed"), "{}: {last:#?}\n{out}", output.status);
    false
}

#[test]
fn no_function_follows_a_null_or_trusts_a_count() {
    if !in_child("no_function_follows_a_null_or_trusts_a_count") {
        return;
    }
    for way in WAYS {
        // A wait for a value that never appears would not return.
        let lasts = |function: &Function| way.numbers == 1 << 62 && function.name.starts_with("cuStreamWaitValue");
        let (_, panicked) = try_all(way, lasts);
        assert_eq!(panicked, [""; 0], "panics with {}", way.name);
    }
}

#[test]
fn what_has_nothing_to_refuse_is_listed() {
    if !in_child("what_has_nothing_to_refuse_is_listed") {
        return;
    }
    let (fine, _) = try_all(NULLS, |_| false);
    let plain: BTreeSet<&str> =
        fine.into_iter().map(|name| name.trim_end_matches("_ptsz").trim_end_matches("_ptds")).collect();
    let plain: Vec<&str> = plain.into_iter().collect();
    assert_eq!(plain, FINE);
}

/// Functions that are documented to succeed without arguments: those of the default stream and the current context, and
/// those without an effect.
#[rustfmt::skip]
const FINE: [&str; 46] = [
    "cuCtxGetStreamPriorityRange", "cuCtxPopCurrent", "cuCtxPopCurrent_v2", "cuCtxResetPersistingL2Cache",
    "cuCtxSetCacheConfig", "cuCtxSetCurrent", "cuCtxSetFlags", "cuCtxSetLimit",
    "cuCtxSetSharedMemConfig", "cuCtxSynchronize", "cuCtxSynchronize_v2", "cuDeviceGraphMemTrim",
    "cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxSetFlags", "cuDevicePrimaryCtxSetFlags_v2",
    "cuInit", "cuMemFreeAsync", "cuMemFree_v2", "cuMemcpy",
    "cuMemcpyAsync", "cuMemcpyDtoDAsync_v2", "cuMemcpyDtoD_v2", "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoH_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyHtoD_v2", "cuMemsetD16Async",
    "cuMemsetD16_v2", "cuMemsetD2D16Async", "cuMemsetD2D16_v2", "cuMemsetD2D32Async",
    "cuMemsetD2D32_v2", "cuMemsetD2D8Async", "cuMemsetD2D8_v2", "cuMemsetD32Async",
    "cuMemsetD32_v2", "cuMemsetD8Async", "cuMemsetD8_v2", "cuProfilerStart",
    "cuProfilerStop", "cuStreamBeginCapture", "cuStreamBeginCapture_v2", "cuStreamCopyAttributes",
    "cuStreamQuery", "cuStreamSynchronize",
];

#[test]
fn a_null_handle_is_refused_before_anything_is_read() {
    if !in_child("a_null_handle_is_refused_before_anything_is_read") {
        return;
    }
    // Objects for which null means none. A null stream is the default one, and a null context the current one.
    const KINDS: [&str; 11] = [
        "CUmodule",
        "CUfunction",
        "CUlibrary",
        "CUkernel",
        "CUgraph",
        "CUgraphNode",
        "CUgraphExec",
        "CUlinkState",
        "CUmemoryPool",
        "CUevent",
        "CUuserObject",
    ];
    for handles in [Handles::Null, Handles::Foreign] {
        let far = Way { name: "handles of nothing, pointers to nowhere", handles, pointers: FAR, numbers: 1 };
        let (fine, panicked) = try_all(far, |function| !function.types.iter().any(|ty| KINDS.contains(ty)));
        assert_eq!((fine, panicked), (BTreeSet::new(), Vec::new()));
    }
}

/// Sizes and pitches whose products and sums do not fit 64 bits, with live memory and result pointers.
#[test]
fn sizes_that_overflow_are_refused() {
    let objects = Objects::new();
    let (at, pool) = (objects.word("CUdeviceptr", Way { handles: Handles::Live, ..NULLS }), objects.pool);
    let host = std::ptr::from_ref(&[0_u8; 64]).cast_mut().cast::<c_void>();
    let device = CUmemorytype(2);
    let flat = CUDA_MEMCPY2D {
        srcMemoryType: device,
        dstMemoryType: device,
        srcDevice: at,
        dstDevice: at + 2048,
        ..Default::default()
    };
    let deep = CUDA_MEMCPY3D {
        srcMemoryType: device,
        dstMemoryType: device,
        srcDevice: at,
        dstDevice: at + 2048,
        ..Default::default()
    };
    for huge in [
        usize::MAX,
        usize::MAX - 0xfff,
        usize::MAX - 0x1fff,
        1 << 63,
        (1 << 63) - 1,
        1 << 62,
        (1 << 62) + 1,
        1 << 61,
        1 << 48,
    ] {
        let (mut out, mut place, mut size, mut handle) = (0_u64, null_mut(), 0_usize, 0_u64);
        let null = null_mut();
        let mut results = vec![
            ("cuMemAlloc", call!(cuMemAlloc_v2(&mut out, huge))),
            ("cuMemAllocManaged", call!(cuMemAllocManaged(&mut out, huge, 1))),
            ("cuMemAllocHost", call!(cuMemAllocHost_v2(&mut place, huge))),
            ("cuMemAllocPitch", call!(cuMemAllocPitch_v2(&mut out, &mut size, huge, 3, 4))),
            ("cuMemAllocPitch, rows", call!(cuMemAllocPitch_v2(&mut out, &mut size, 3, huge, 4))),
            ("cuMemAllocAsync", call!(cuMemAllocAsync(&mut out, huge, null))),
            ("cuMemAllocFromPoolAsync", call!(cuMemAllocFromPoolAsync(&mut out, huge, pool, null))),
            ("cuMemAddressReserve", call!(cuMemAddressReserve(&mut out, huge & !0x1f_ffff, 0, 0, 0))),
            ("cuMemAddressReserve, alignment", call!(cuMemAddressReserve(&mut out, 2 << 20, huge, 0, 0))),
            ("cuMemAddressFree", call!(cuMemAddressFree(at, huge & !0x1f_ffff))),
            ("cuMemMap", call!(cuMemMap(at & !0x1f_ffff, 2 << 20, huge & !0x1f_ffff, 1, 0))),
            ("cuMemUnmap", call!(cuMemUnmap(at & !0x1f_ffff, huge & !0x1f_ffff))),
            ("cuMemHostRegister", call!(cuMemHostRegister_v2(at as *mut c_void, huge, 0))),
            ("cuMemcpyDtoD", call!(cuMemcpyDtoD_v2(at, at, huge))),
            ("cuMemcpyHtoD", call!(cuMemcpyHtoD_v2(at, host, huge))),
            ("cuMemcpyDtoH", call!(cuMemcpyDtoH_v2(host, at, huge))),
            ("cuMemsetD8", call!(cuMemsetD8_v2(at, 1, huge))),
            ("cuMemsetD32", call!(cuMemsetD32_v2(at, 1, huge))),
            ("cuMemsetD2D32, width", call!(cuMemsetD2D32_v2(at, 64, 1, huge, 2))),
            ("cuMemsetD2D32, rows", call!(cuMemsetD2D32_v2(at, 64, 1, 4, huge))),
            ("cuMemsetD2D8, pitch", call!(cuMemsetD2D8_v2(at, huge, 1, 4, 3))),
            ("cuMemAdvise", call!(cuMemAdvise(at, huge, CUmem_advise(1), 0))),
            ("cuMemPrefetchAsync", call!(cuMemPrefetchAsync(at, huge, 0, null))),
            ("cuMemRangeGetAttribute", call!(cuMemRangeGetAttribute(host, 4, CUmem_range_attribute(1), at, huge))),
            ("cuMemCreate", {
                let mut props = CUmemAllocationProp { type_: CUmemAllocationType(1), ..Default::default() };
                props.location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
                call!(cuMemCreate(&mut handle, huge & !0x1f_ffff, &props, 0))
            }),
        ];
        for (name, copy) in [
            ("width", CUDA_MEMCPY2D { WidthInBytes: huge, Height: 2, ..flat }),
            ("height", CUDA_MEMCPY2D { WidthInBytes: 4, Height: huge, ..flat }),
            ("both", CUDA_MEMCPY2D { WidthInBytes: huge, Height: huge, ..flat }),
            ("pitch", CUDA_MEMCPY2D { WidthInBytes: 4, Height: 3, srcPitch: huge, ..flat }),
            ("x", CUDA_MEMCPY2D { WidthInBytes: 4, Height: 2, srcXInBytes: huge, ..flat }),
            ("y", CUDA_MEMCPY2D { WidthInBytes: 4, Height: 2, dstY: huge, ..flat }),
            ("x and y", CUDA_MEMCPY2D { WidthInBytes: 1, Height: 1, dstXInBytes: huge, dstY: huge, ..flat }),
        ] {
            results.push((name, call!(cuMemcpy2D_v2(&copy))));
            results.push((name, call!(cuMemcpy2DAsync_v2(&copy, null))));
        }
        for (name, copy) in [
            ("depth", CUDA_MEMCPY3D { WidthInBytes: 4, Height: 2, Depth: huge, ..deep }),
            ("product", CUDA_MEMCPY3D { WidthInBytes: 1 << 32, Height: 1 << 32, Depth: huge, ..deep }),
            ("z", CUDA_MEMCPY3D { WidthInBytes: 4, Height: 2, Depth: 2, srcZ: huge, ..deep }),
            ("planes", CUDA_MEMCPY3D { WidthInBytes: 4, Height: 2, Depth: 3, srcHeight: huge, srcPitch: 64, ..deep }),
        ] {
            results.push((name, call!(cuMemcpy3D_v2(&copy))));
        }
        for (name, result) in results {
            let wrong = [CUresult::CUDA_SUCCESS, CUresult::CUDA_ERROR_UNKNOWN].contains(&result);
            assert!(!wrong, "{name} with {huge:#x}: {result:?}");
        }
    }
}

/// Shared memory and clusters whose bytes and blocks overflow their types: nothing fits the device.
#[test]
fn occupancies_of_launches_that_overflow_are_none() {
    primary(0);
    let f = function(TEXT, c"still");
    for huge in [usize::MAX, usize::MAX - 64, 1 << 63, 1 << 32] {
        let (mut blocks, mut block, mut grid) = (9, 9, 9);
        ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, f, 32, huge));
        assert_eq!(blocks, 0, "{huge:#x}");
        ok!(cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, f, None, huge, 0));
        assert_eq!((grid, block), (0, 0), "{huge:#x}");
    }
    let mut clusters = 9;
    for extents in [[1 << 22, 1 << 21, 1 << 21], [u32::MAX; 3], [1 << 16, 1 << 16, 1]] {
        let attribute = launch_attribute(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &extents);
        let mut attributes = [attribute];
        let config = launch_config(1 << 22, &mut attributes, null_mut());
        let none = CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE;
        assert_eq!(call!(cuOccupancyMaxActiveClusters(&mut clusters, f, &config)), none, "{extents:?}");
        assert_eq!(call!(cuLaunchKernelEx(&config, f, null_mut(), null_mut())), none, "{extents:?}");
    }
    use CUfunction_attribute as A;
    for (axis, extent) in [
        (A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 1 << 22),
        (A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1 << 21),
        (A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1 << 21),
    ] {
        ok!(cuFuncSetAttribute(f, axis, extent));
    }
    let config = launch_config(1 << 22, &mut [], null_mut());
    let none = CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE;
    assert_eq!(call!(cuOccupancyMaxPotentialClusterSize(&mut clusters, f, &config)), none);
}
