//! A test of the driver functions that real clients call: `cuGetProcAddress` finds each in the variants that the table
//! has, from its first version on, and none is unsupported.
//!
//! # Safety
//!
//! The lookups are called as CUDA's documentation asks, with pointers to live locals.

use super::{FNS, driver_api, unsupported};
use cuda_sys::{CUdriverProcAddressQueryResult as Query, CUresult, DefaultStream, SYMBOLS, Symbol};
use std::collections::HashSet;
use std::ffi::{CString, c_void};

/// The functions that both cudarc's tests and numba's call.
const BOTH: &str = "cuInit cuDeviceGetAttribute cuDevicePrimaryCtxRetain cuDevicePrimaryCtxRelease cuCtxGetCurrent \
    cuCtxSetCurrent cuCtxSynchronize cuMemFree cuMemcpyHtoDAsync cuMemcpyDtoHAsync cuStreamCreate cuStreamDestroy \
    cuStreamSynchronize cuMemHostAlloc cuMemFreeHost cuMemAllocManaged cuMemFreeAsync cuGetExportTable";

/// The functions that one of them calls.
const ONE: &str = "cuGetProcAddress cuDriverGetVersion cuDeviceGet cuDeviceGetCount cuDeviceGetName cuDeviceGetUuid \
    cuDeviceGetMemPool cuCtxPushCurrent cuCtxPopCurrent cuCtxGetDevice cuMemAlloc cuMemAllocAsync \
    cuMemAllocFromPoolAsync cuMemGetInfo cuMemGetAddressRange cuMemHostGetDevicePointer cuMemPoolGetAttribute \
    cuMemPoolSetAttribute cuMemcpyHtoD cuMemcpyDtoH cuMemsetD8 cuMemsetD8Async cuModuleLoadData cuModuleLoadDataEx \
    cuModuleUnload cuModuleGetFunction cuLibraryLoadData cuLibraryUnload cuLibraryGetKernel cuLibraryGetGlobal \
    cuKernelGetAttribute cuKernelSetAttribute cuFuncGetAttribute cuLinkCreate cuLinkAddData cuLinkComplete \
    cuLinkDestroy cuLaunchKernel cuLaunchKernelEx cuEventCreate cuEventDestroy cuEventRecord cuEventSynchronize \
    cuEventElapsedTime cuStreamWaitEvent cuStreamIsCapturing cuStreamGetCtx cuStreamAttachMemAsync \
    cuOccupancyMaxActiveBlocksPerMultiprocessor";

/// The functions that they reference but do not call in their tests; without graphs.
const REFERENCED: &str = "cuGetErrorName cuGetErrorString cuDeviceTotalMem cuModuleGetGlobal cuModuleLoad cuMemcpyDtoD \
    cuFuncSetAttribute cuFuncSetCacheConfig cuCtxSetLimit cuCtxGetLimit cuCtxGetFlags cuCtxSetFlags \
    cuCtxGetCacheConfig cuCtxSetCacheConfig cuEventQuery cuStreamAddCallback cuLaunchHostFunc \
    cuLaunchCooperativeKernel cuMemHostRegister cuMemHostUnregister cuMemHostGetFlags cuPointerGetAttribute \
    cuPointerSetAttribute cuPointerGetAttributes cuMemPrefetchAsync cuMemAdvise cuMemRangeGetAttribute \
    cuMemRangeGetAttributes cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxPotentialBlockSize \
    cuOccupancyMaxPotentialBlockSizeWithFlags cuOccupancyAvailableDynamicSMemPerBlock \
    cuOccupancyMaxPotentialClusterSize cuOccupancyMaxActiveClusters cuIpcGetMemHandle cuIpcOpenMemHandle \
    cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcOpenEventHandle cuProfilerStart cuProfilerStop \
    cuDeviceCanAccessPeer cuDeviceGetP2PAttribute cuCtxEnablePeerAccess cuCtxDisablePeerAccess cuMemcpyPeer \
    cuMemcpyPeerAsync cuMemcpy3DPeer cuMemcpy3DPeerAsync cuMemPoolSetAccess cuMemPoolGetAccess \
    cuImportExternalMemory cuExternalMemoryGetMappedBuffer cuDestroyExternalMemory";

/// The graph functions that they reference.
const GRAPHS: &str = "cuGraphCreate cuGraphDestroy cuGraphClone cuGraphAddKernelNode cuGraphAddMemcpyNode \
    cuGraphAddMemsetNode cuGraphAddHostNode cuGraphAddChildGraphNode cuGraphAddEmptyNode cuGraphAddEventRecordNode \
    cuGraphAddEventWaitNode cuGraphAddMemAllocNode cuGraphAddMemFreeNode cuGraphAddNode cuGraphAddDependencies \
    cuGraphRemoveDependencies cuGraphGetNodes cuGraphGetRootNodes cuGraphGetEdges cuGraphNodeGetType \
    cuGraphNodeGetDependencies cuGraphNodeGetDependentNodes cuGraphDestroyNode cuGraphKernelNodeGetParams \
    cuGraphKernelNodeSetParams cuGraphInstantiate cuGraphInstantiateWithFlags cuGraphInstantiateWithParams \
    cuGraphUpload cuGraphLaunch cuGraphExecDestroy cuGraphExecUpdate cuGraphExecKernelNodeSetParams \
    cuGraphDebugDotPrint cuUserObjectCreate cuUserObjectRetain cuUserObjectRelease cuGraphRetainUserObject \
    cuGraphReleaseUserObject cuStreamBeginCapture cuStreamBeginCaptureToGraph cuStreamEndCapture \
    cuStreamGetCaptureInfo cuStreamUpdateCaptureDependencies";

/// Further functions that applications call and that have a real implementation.
const APPLICATIONS: &str = "cuCtxCreate cuCtxDestroy cuCtxGetId cuCtxGetApiVersion cuCtxGetStreamPriorityRange \
    cuCtxResetPersistingL2Cache cuStreamQuery cuStreamCreateWithPriority cuStreamGetPriority cuStreamGetFlags \
    cuStreamGetId cuStreamGetDevice cuStreamGetAttribute cuStreamSetAttribute cuStreamCopyAttributes \
    cuStreamWaitValue32 cuStreamWaitValue64 cuStreamWriteValue32 cuStreamWriteValue64 cuEventRecordWithFlags \
    cuMemcpy cuMemcpyAsync cuMemcpyDtoDAsync cuMemcpy2D cuMemcpy2DUnaligned cuMemcpy2DAsync cuMemcpy3D \
    cuMemcpy3DAsync cuMemsetD16 cuMemsetD32 cuMemsetD2D8 cuMemsetD2D16 cuMemsetD2D32 cuMemsetD16Async \
    cuMemsetD32Async cuMemAllocPitch cuMemAllocHost cuMemPoolCreate cuMemPoolDestroy cuMemPoolTrimTo \
    cuDeviceSetMemPool cuDeviceGetDefaultMemPool cuDeviceGetPCIBusId cuDeviceGetByPCIBusId \
    cuDeviceGetExecAffinitySupport cuDeviceComputeCapability cuDeviceGetProperties cuDevicePrimaryCtxReset \
    cuDevicePrimaryCtxGetState cuDevicePrimaryCtxSetFlags cuModuleGetLoadingMode cuModuleGetFunctionCount \
    cuModuleEnumerateFunctions cuFuncGetModule cuFuncGetName cuFuncGetParamInfo cuFuncIsLoaded cuFuncLoad \
    cuLibraryLoadFromFile cuLibraryGetModule cuLibraryGetManaged cuLibraryGetKernelCount \
    cuLibraryEnumerateKernels cuKernelGetFunction cuKernelGetLibrary cuKernelGetName cuKernelGetParamInfo \
    cuKernelSetCacheConfig cuThreadExchangeStreamCaptureMode cuMemAddressReserve \
    cuMemAddressFree cuMemCreate cuMemRelease cuMemMap cuMemUnmap cuMemSetAccess cuMemGetAccess \
    cuMemExportToShareableHandle cuMemImportFromShareableHandle cuMemGetAllocationGranularity \
    cuMemGetAllocationPropertiesFromHandle cuMemRetainAllocationHandle cuStreamBatchMemOp \
    cuLibraryGetUnifiedFunction cuFlushGPUDirectRDMAWrites cuDeviceGetTexture1DLinearMaxWidth";

fn listed() -> impl Iterator<Item = &'static str> {
    [BOTH, ONE, REFERENCED, APPLICATIONS, GRAPHS].into_iter().flat_map(str::split_whitespace)
}

/// Returns the functions of the CUDA version that the driver implements, and of older ones.
fn symbols() -> impl Iterator<Item = (&'static Symbol, usize)> {
    SYMBOLS.iter().zip(0..).filter(|(symbol, _)| symbol.version <= super::init::VERSION)
}

fn variants(base: &str) -> Vec<&'static Symbol> {
    symbols().map(|(symbol, _)| symbol).filter(|symbol| symbol.base == base).collect()
}

fn address(symbol: &Symbol) -> *mut c_void {
    let at = SYMBOLS.iter().position(|s| s.name == symbol.name).unwrap();
    FNS.addresses()[at]
}

fn query(name: &str, version: i32, flags: u64) -> (CUresult, *mut c_void, Query) {
    let api = driver_api();
    let name = CString::new(name).unwrap();
    let (mut found, mut status) = (std::ptr::null_mut(), Query(9));
    // SAFETY: all pointers are to live locals and a NUL-terminated name, as CUDA's documentation asks.
    let code = unsafe { (api.cuGetProcAddress_v2().unwrap())(name.as_ptr(), &mut found, version, flags, &mut status) };
    (code, found, status)
}

#[test]
fn the_lists_have_not_shrunk() {
    let names: HashSet<&str> = listed().collect();
    assert_eq!(listed().count(), names.len(), "a name is listed twice");
    let counts = [BOTH, ONE, REFERENCED, APPLICATIONS, GRAPHS].map(|list| list.split_whitespace().count());
    assert_eq!(counts, [18, 49, 54, 86, 44]);
}

#[test]
fn every_listed_function_is_found_in_the_variant_of_the_clients_version() {
    for base in listed() {
        let variants = variants(base);
        assert!(!variants.is_empty(), "{base} is no function of the table");
        for own in [false, true] {
            let stream = if own { DefaultStream::PerThread } else { DefaultStream::Legacy };
            let flags = if own { 2 } else { 1 };
            for symbol in variants.iter().filter(|symbol| symbol.stream == stream) {
                let newest = variants.iter().filter(|v| v.stream == stream && v.version <= symbol.version);
                let expected = newest.max_by_key(|v| v.version).unwrap();
                let (code, found, status) = query(base, symbol.version, flags);
                assert_eq!((code, status.0), (CUresult::CUDA_SUCCESS, 0), "{base} for {}", symbol.version);
                assert_eq!(found, address(expected), "{base} for {} is {}", symbol.version, expected.name);
            }
        }
        let first = variants.iter().map(|symbol| symbol.version).min().unwrap();
        let (code, found, status) = query(base, first - 10, 0);
        let early = (CUresult::CUDA_ERROR_NOT_FOUND, Query::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
        assert_eq!((code, status), early, "{base} before {first}");
        assert!(found.is_null());
    }
}

#[test]
fn no_listed_function_is_a_refusal() {
    for base in listed() {
        let newest = variants(base).into_iter().filter(|v| v.stream == DefaultStream::Legacy);
        let newest = newest.max_by_key(|v| v.version).unwrap();
        assert!(!unsupported::NAMES.contains(&newest.name), "{} is unsupported", newest.name);
    }
}

#[test]
fn the_table_is_whole_and_no_function_is_defined_and_refused() {
    let addresses = FNS.addresses();
    let absent = symbols().filter(|(_, at)| addresses[*at].is_null());
    assert_eq!(absent.map(|(s, _)| s.name).collect::<Vec<_>>(), Vec::<&str>::new());
    let newer = SYMBOLS.iter().zip(addresses).filter(|(symbol, _)| symbol.version > super::init::VERSION);
    newer.for_each(|(s, address)| assert!(address.is_null(), "{} is newer than the device", s.name));
    let unsupported: HashSet<&str> = unsupported::NAMES.iter().copied().collect();
    assert_eq!(unsupported.len(), unsupported::NAMES.len());
    let defined = SYMBOLS.iter().zip(super::implemented().addresses()).filter(|(_, address)| !address.is_null());
    defined.for_each(|(s, _)| assert!(!unsupported.contains(s.name), "{} exists and is unsupported", s.name));
}

#[test]
fn what_is_refused_is_found_and_says_so_by_code() {
    let api = driver_api();
    for base in
        ["cuTexObjectCreate", "cuArrayCreate", "cuMulticastCreate", "cuGreenCtxCreate", "cuCoredumpGetAttribute"]
    {
        let (code, found, _) = query(base, 13000, 0);
        assert!(code == CUresult::CUDA_SUCCESS && !found.is_null(), "{base}");
    }
    // SAFETY: 0 is the only valid value of the flags.
    assert_eq!(unsafe { (api.cuInit().unwrap())(0) }, CUresult::CUDA_SUCCESS);
    let mut array = std::ptr::null_mut();
    // SAFETY: the function returns its error without accessing its arguments.
    let code = unsafe { (api.cuArrayCreate_v2().unwrap())(&mut array, std::ptr::null()) };
    assert_eq!(code, CUresult::CUDA_ERROR_NOT_SUPPORTED);
}
