// NVTX: functions: name, signature, module, number.
// Written by `cargo xtask gen-bindings` from nvtx3/nvToolsExt.h, nvtx3/nvToolsExtSync.h, nvtx3/nvToolsExtCuda.h; do not edit.

table! {
    fn nvtxInitialize(reserved: *const c_void) -> () = CORE2, 15;
    fn nvtxDomainMarkEx(domain: nvtxDomainHandle_t, eventAttrib: *const nvtxEventAttributes_t) -> () = CORE2, 1;
    fn nvtxMarkEx(eventAttrib: *const nvtxEventAttributes_t) -> () = CORE, 1;
    fn nvtxMarkA(message: *const c_char) -> () = CORE, 2;
    fn nvtxMarkW(message: *const wchar_t) -> () = CORE, 3;
    fn nvtxDomainRangeStartEx(domain: nvtxDomainHandle_t, eventAttrib: *const nvtxEventAttributes_t) -> nvtxRangeId_t = CORE2, 2;
    fn nvtxRangeStartEx(eventAttrib: *const nvtxEventAttributes_t) -> nvtxRangeId_t = CORE, 4;
    fn nvtxRangeStartA(message: *const c_char) -> nvtxRangeId_t = CORE, 5;
    fn nvtxRangeStartW(message: *const wchar_t) -> nvtxRangeId_t = CORE, 6;
    fn nvtxDomainRangeEnd(domain: nvtxDomainHandle_t, id: nvtxRangeId_t) -> () = CORE2, 3;
    fn nvtxRangeEnd(id: nvtxRangeId_t) -> () = CORE, 7;
    fn nvtxDomainRangePushEx(domain: nvtxDomainHandle_t, eventAttrib: *const nvtxEventAttributes_t) -> c_int = CORE2, 4;
    fn nvtxRangePushEx(eventAttrib: *const nvtxEventAttributes_t) -> c_int = CORE, 8;
    fn nvtxRangePushA(message: *const c_char) -> c_int = CORE, 9;
    fn nvtxRangePushW(message: *const wchar_t) -> c_int = CORE, 10;
    fn nvtxDomainRangePop(domain: nvtxDomainHandle_t) -> c_int = CORE2, 5;
    fn nvtxRangePop() -> c_int = CORE, 11;
    fn nvtxDomainResourceCreate(domain: nvtxDomainHandle_t, attribs: *mut nvtxResourceAttributes_t) -> nvtxResourceHandle_t = CORE2, 6;
    fn nvtxDomainResourceDestroy(resource: nvtxResourceHandle_t) -> () = CORE2, 7;
    fn nvtxDomainNameCategoryA(domain: nvtxDomainHandle_t, category: u32, name: *const c_char) -> () = CORE2, 8;
    fn nvtxDomainNameCategoryW(domain: nvtxDomainHandle_t, category: u32, name: *const wchar_t) -> () = CORE2, 9;
    fn nvtxNameCategoryA(category: u32, name: *const c_char) -> () = CORE, 12;
    fn nvtxNameCategoryW(category: u32, name: *const wchar_t) -> () = CORE, 13;
    fn nvtxNameOsThreadA(threadId: u32, name: *const c_char) -> () = CORE, 14;
    fn nvtxNameOsThreadW(threadId: u32, name: *const wchar_t) -> () = CORE, 15;
    fn nvtxDomainRegisterStringA(domain: nvtxDomainHandle_t, string: *const c_char) -> nvtxStringHandle_t = CORE2, 10;
    fn nvtxDomainRegisterStringW(domain: nvtxDomainHandle_t, string: *const wchar_t) -> nvtxStringHandle_t = CORE2, 11;
    fn nvtxDomainCreateA(name: *const c_char) -> nvtxDomainHandle_t = CORE2, 12;
    fn nvtxDomainCreateW(name: *const wchar_t) -> nvtxDomainHandle_t = CORE2, 13;
    fn nvtxDomainDestroy(domain: nvtxDomainHandle_t) -> () = CORE2, 14;
    fn nvtxDomainSyncUserCreate(domain: nvtxDomainHandle_t, attribs: *const nvtxSyncUserAttributes_t) -> nvtxSyncUser_t = SYNC, 1;
    fn nvtxDomainSyncUserDestroy(handle: nvtxSyncUser_t) -> () = SYNC, 2;
    fn nvtxDomainSyncUserAcquireStart(handle: nvtxSyncUser_t) -> () = SYNC, 3;
    fn nvtxDomainSyncUserAcquireFailed(handle: nvtxSyncUser_t) -> () = SYNC, 4;
    fn nvtxDomainSyncUserAcquireSuccess(handle: nvtxSyncUser_t) -> () = SYNC, 5;
    fn nvtxDomainSyncUserReleasing(handle: nvtxSyncUser_t) -> () = SYNC, 6;
    fn nvtxNameCuDeviceA(device: CUdevice, name: *const c_char) -> () = CUDA, 1;
    fn nvtxNameCuDeviceW(device: CUdevice, name: *const wchar_t) -> () = CUDA, 2;
    fn nvtxNameCuContextA(context: CUcontext, name: *const c_char) -> () = CUDA, 3;
    fn nvtxNameCuContextW(context: CUcontext, name: *const wchar_t) -> () = CUDA, 4;
    fn nvtxNameCuStreamA(stream: CUstream, name: *const c_char) -> () = CUDA, 5;
    fn nvtxNameCuStreamW(stream: CUstream, name: *const wchar_t) -> () = CUDA, 6;
    fn nvtxNameCuEventA(event: CUevent, name: *const c_char) -> () = CUDA, 7;
    fn nvtxNameCuEventW(event: CUevent, name: *const wchar_t) -> () = CUDA, 8;
}
