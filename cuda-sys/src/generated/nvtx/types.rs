// NVTX: types and constants.
// Written by `cargo xtask gen-bindings` from nvtx3/nvToolsExt.h, nvtx3/nvToolsExtSync.h, nvtx3/nvToolsExtCuda.h; do not edit.

use core::ffi::*;

handles! {
    nvtxDomainHandle_t = nvtxDomainRegistration,
    nvtxStringHandle_t = nvtxStringRegistration,
    nvtxResourceHandle_t = nvtxResourceHandle,
    nvtxSyncUser_t = nvtxSyncUser,
}

pub const NVTX_VERSION: u32 = 3;
pub const NVTX_SUCCESS: u32 = 0;
pub const NVTX_FAIL: u32 = 1;
pub const NVTX_ERR_INIT_LOAD_PROPERTY: u32 = 2;
pub const NVTX_ERR_INIT_ACCESS_LIBRARY: u32 = 3;
pub const NVTX_ERR_INIT_LOAD_LIBRARY: u32 = 4;
pub const NVTX_ERR_INIT_MISSING_LIBRARY_ENTRY_POINT: u32 = 5;
pub const NVTX_ERR_INIT_FAILED_LIBRARY_ENTRY_POINT: u32 = 6;
pub const NVTX_ERR_NO_INJECTION_LIBRARY_AVAILABLE: u32 = 7;
pub const NVTX_RESOURCE_CLASS_GENERIC: u32 = 1;
pub const NVTX_RESOURCE_CLASS_SYNC_OS: u32 = 2;
pub const NVTX_RESOURCE_CLASS_SYNC_PTHREAD: u32 = 3;
pub const NVTX_RESOURCE_CLASS_CUDA: u32 = 4;
pub type wchar_t = c_int;
pub type nvtxRangeId_t = u64;

c_enum! {
    nvtxColorType_t: c_uint {
        NVTX_COLOR_UNKNOWN = 0,
        NVTX_COLOR_ARGB = 1,
    }
}

c_enum! {
    nvtxMessageType_t: c_uint {
        NVTX_MESSAGE_UNKNOWN = 0,
        NVTX_MESSAGE_TYPE_ASCII = 1,
        NVTX_MESSAGE_TYPE_UNICODE = 2,
        NVTX_MESSAGE_TYPE_REGISTERED = 3,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union nvtxMessageValue_t {
    pub ascii: *const c_char,
    pub unicode: *const wchar_t,
    pub registered: nvtxStringHandle_t,
}

layout! { nvtxMessageValue_t: size 8, align 8, { ascii: 0, unicode: 0, registered: 0, } }

c_enum! {
    nvtxPayloadType_t: c_uint {
        NVTX_PAYLOAD_UNKNOWN = 0,
        NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
        NVTX_PAYLOAD_TYPE_INT64 = 2,
        NVTX_PAYLOAD_TYPE_DOUBLE = 3,
        NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
        NVTX_PAYLOAD_TYPE_INT32 = 5,
        NVTX_PAYLOAD_TYPE_FLOAT = 6,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct nvtxEventAttributes_v2 {
    pub version: u16,
    pub size: u16,
    pub category: u32,
    pub colorType: i32,
    pub color: u32,
    pub payloadType: i32,
    pub reserved0: i32,
    pub payload: nvtxEventAttributes_v2_payload_t,
    pub messageType: i32,
    pub message: nvtxMessageValue_t,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union nvtxEventAttributes_v2_payload_t {
    pub ullValue: u64,
    pub llValue: i64,
    pub dValue: f64,
    pub uiValue: u32,
    pub iValue: i32,
    pub fValue: f32,
}

layout! { nvtxEventAttributes_v2_payload_t: size 8, align 8, { ullValue: 0, llValue: 0, dValue: 0, uiValue: 0, iValue: 0, fValue: 0, } }

layout! { nvtxEventAttributes_v2: size 48, align 8, { version: 0, size: 2, category: 4, colorType: 8, color: 12, payloadType: 16, reserved0: 20, payload: 24, messageType: 32, message: 40, } }

pub type nvtxEventAttributes_t = nvtxEventAttributes_v2;

c_enum! {
    nvtxResourceGenericType_t: c_uint {
        NVTX_RESOURCE_TYPE_UNKNOWN = 0,
        NVTX_RESOURCE_TYPE_GENERIC_POINTER = 65537,
        NVTX_RESOURCE_TYPE_GENERIC_HANDLE = 65538,
        NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = 65539,
        NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = 65540,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct nvtxResourceAttributes_v0 {
    pub version: u16,
    pub size: u16,
    pub identifierType: i32,
    pub identifier: nvtxResourceAttributes_v0_identifier_t,
    pub messageType: i32,
    pub message: nvtxMessageValue_t,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union nvtxResourceAttributes_v0_identifier_t {
    pub pValue: *const c_void,
    pub ullValue: u64,
}

layout! { nvtxResourceAttributes_v0_identifier_t: size 8, align 8, { pValue: 0, ullValue: 0, } }

layout! { nvtxResourceAttributes_v0: size 32, align 8, { version: 0, size: 2, identifierType: 4, identifier: 8, messageType: 16, message: 24, } }

pub type nvtxResourceAttributes_t = nvtxResourceAttributes_v0;
pub type nvtx_CUdevice = c_int;
pub type nvtx_CUcontext = *mut c_void;
pub type nvtx_CUstream = *mut c_void;
pub type nvtx_CUevent = *mut c_void;
pub type nvtx_cudaStream_t = *mut c_void;
pub type nvtx_cudaEvent_t = *mut c_void;
pub type nvtx_cl_device_id = *mut c_void;
pub type nvtx_cl_context = *mut c_void;
pub type nvtx_cl_command_queue = *mut c_void;
pub type nvtx_cl_mem = *mut c_void;
pub type nvtx_cl_program = *mut c_void;
pub type nvtx_cl_event = *mut c_void;
pub type nvtx_cl_sampler = *mut c_void;
pub type nvtx_nvtxSyncUser_t = *mut c_void;
pub type nvtx_nvtxSyncUserAttributes_t = c_void;
pub type nvtxMarkEx_impl_fntype = Option<unsafe extern "C" fn(eventAttrib: *const nvtxEventAttributes_t)>;
pub type nvtxMarkA_impl_fntype = Option<unsafe extern "C" fn(message: *const c_char)>;
pub type nvtxMarkW_impl_fntype = Option<unsafe extern "C" fn(message: *const wchar_t)>;
pub type nvtxRangeStartEx_impl_fntype =
    Option<unsafe extern "C" fn(eventAttrib: *const nvtxEventAttributes_t) -> nvtxRangeId_t>;
pub type nvtxRangeStartA_impl_fntype = Option<unsafe extern "C" fn(message: *const c_char) -> nvtxRangeId_t>;
pub type nvtxRangeStartW_impl_fntype = Option<unsafe extern "C" fn(message: *const wchar_t) -> nvtxRangeId_t>;
pub type nvtxRangeEnd_impl_fntype = Option<unsafe extern "C" fn(id: nvtxRangeId_t)>;
pub type nvtxRangePushEx_impl_fntype = Option<unsafe extern "C" fn(eventAttrib: *const nvtxEventAttributes_t) -> c_int>;
pub type nvtxRangePushA_impl_fntype = Option<unsafe extern "C" fn(message: *const c_char) -> c_int>;
pub type nvtxRangePushW_impl_fntype = Option<unsafe extern "C" fn(message: *const wchar_t) -> c_int>;
pub type nvtxRangePop_impl_fntype = Option<unsafe extern "C" fn() -> c_int>;
pub type nvtxNameCategoryA_impl_fntype = Option<unsafe extern "C" fn(category: u32, name: *const c_char)>;
pub type nvtxNameCategoryW_impl_fntype = Option<unsafe extern "C" fn(category: u32, name: *const wchar_t)>;
pub type nvtxNameOsThreadA_impl_fntype = Option<unsafe extern "C" fn(threadId: u32, name: *const c_char)>;
pub type nvtxNameOsThreadW_impl_fntype = Option<unsafe extern "C" fn(threadId: u32, name: *const wchar_t)>;
pub type nvtxNameCuDeviceA_fakeimpl_fntype = Option<unsafe extern "C" fn(device: nvtx_CUdevice, name: *const c_char)>;
pub type nvtxNameCuDeviceW_fakeimpl_fntype = Option<unsafe extern "C" fn(device: nvtx_CUdevice, name: *const wchar_t)>;
pub type nvtxNameCuContextA_fakeimpl_fntype =
    Option<unsafe extern "C" fn(context: nvtx_CUcontext, name: *const c_char)>;
pub type nvtxNameCuContextW_fakeimpl_fntype =
    Option<unsafe extern "C" fn(context: nvtx_CUcontext, name: *const wchar_t)>;
pub type nvtxNameCuStreamA_fakeimpl_fntype = Option<unsafe extern "C" fn(stream: nvtx_CUstream, name: *const c_char)>;
pub type nvtxNameCuStreamW_fakeimpl_fntype = Option<unsafe extern "C" fn(stream: nvtx_CUstream, name: *const wchar_t)>;
pub type nvtxNameCuEventA_fakeimpl_fntype = Option<unsafe extern "C" fn(event: nvtx_CUevent, name: *const c_char)>;
pub type nvtxNameCuEventW_fakeimpl_fntype = Option<unsafe extern "C" fn(event: nvtx_CUevent, name: *const wchar_t)>;
pub type nvtxNameClDeviceA_fakeimpl_fntype =
    Option<unsafe extern "C" fn(device: nvtx_cl_device_id, name: *const c_char)>;
pub type nvtxNameClDeviceW_fakeimpl_fntype =
    Option<unsafe extern "C" fn(device: nvtx_cl_device_id, name: *const wchar_t)>;
pub type nvtxNameClContextA_fakeimpl_fntype =
    Option<unsafe extern "C" fn(context: nvtx_cl_context, name: *const c_char)>;
pub type nvtxNameClContextW_fakeimpl_fntype =
    Option<unsafe extern "C" fn(context: nvtx_cl_context, name: *const wchar_t)>;
pub type nvtxNameClCommandQueueA_fakeimpl_fntype =
    Option<unsafe extern "C" fn(command_queue: nvtx_cl_command_queue, name: *const c_char)>;
pub type nvtxNameClCommandQueueW_fakeimpl_fntype =
    Option<unsafe extern "C" fn(command_queue: nvtx_cl_command_queue, name: *const wchar_t)>;
pub type nvtxNameClMemObjectA_fakeimpl_fntype = Option<unsafe extern "C" fn(memobj: nvtx_cl_mem, name: *const c_char)>;
pub type nvtxNameClMemObjectW_fakeimpl_fntype = Option<unsafe extern "C" fn(memobj: nvtx_cl_mem, name: *const wchar_t)>;
pub type nvtxNameClSamplerA_fakeimpl_fntype =
    Option<unsafe extern "C" fn(sampler: nvtx_cl_sampler, name: *const c_char)>;
pub type nvtxNameClSamplerW_fakeimpl_fntype =
    Option<unsafe extern "C" fn(sampler: nvtx_cl_sampler, name: *const wchar_t)>;
pub type nvtxNameClProgramA_fakeimpl_fntype =
    Option<unsafe extern "C" fn(program: nvtx_cl_program, name: *const c_char)>;
pub type nvtxNameClProgramW_fakeimpl_fntype =
    Option<unsafe extern "C" fn(program: nvtx_cl_program, name: *const wchar_t)>;
pub type nvtxNameClEventA_fakeimpl_fntype = Option<unsafe extern "C" fn(evnt: nvtx_cl_event, name: *const c_char)>;
pub type nvtxNameClEventW_fakeimpl_fntype = Option<unsafe extern "C" fn(evnt: nvtx_cl_event, name: *const wchar_t)>;
pub type nvtxNameCudaDeviceA_fakeimpl_fntype = Option<unsafe extern "C" fn(device: c_int, name: *const c_char)>;
pub type nvtxNameCudaDeviceW_fakeimpl_fntype = Option<unsafe extern "C" fn(device: c_int, name: *const wchar_t)>;
pub type nvtxNameCudaStreamA_fakeimpl_fntype =
    Option<unsafe extern "C" fn(stream: nvtx_cudaStream_t, name: *const c_char)>;
pub type nvtxNameCudaStreamW_fakeimpl_fntype =
    Option<unsafe extern "C" fn(stream: nvtx_cudaStream_t, name: *const wchar_t)>;
pub type nvtxNameCudaEventA_fakeimpl_fntype =
    Option<unsafe extern "C" fn(event: nvtx_cudaEvent_t, name: *const c_char)>;
pub type nvtxNameCudaEventW_fakeimpl_fntype =
    Option<unsafe extern "C" fn(event: nvtx_cudaEvent_t, name: *const wchar_t)>;
pub type nvtxDomainMarkEx_impl_fntype =
    Option<unsafe extern "C" fn(domain: nvtxDomainHandle_t, eventAttrib: *const nvtxEventAttributes_t)>;
pub type nvtxDomainRangeStartEx_impl_fntype = Option<
    unsafe extern "C" fn(domain: nvtxDomainHandle_t, eventAttrib: *const nvtxEventAttributes_t) -> nvtxRangeId_t,
>;
pub type nvtxDomainRangeEnd_impl_fntype = Option<unsafe extern "C" fn(domain: nvtxDomainHandle_t, id: nvtxRangeId_t)>;
pub type nvtxDomainRangePushEx_impl_fntype =
    Option<unsafe extern "C" fn(domain: nvtxDomainHandle_t, eventAttrib: *const nvtxEventAttributes_t) -> c_int>;
pub type nvtxDomainRangePop_impl_fntype = Option<unsafe extern "C" fn(domain: nvtxDomainHandle_t) -> c_int>;
pub type nvtxDomainResourceCreate_impl_fntype = Option<
    unsafe extern "C" fn(domain: nvtxDomainHandle_t, attribs: *mut nvtxResourceAttributes_t) -> nvtxResourceHandle_t,
>;
pub type nvtxDomainResourceDestroy_impl_fntype = Option<unsafe extern "C" fn(resource: nvtxResourceHandle_t)>;
pub type nvtxDomainNameCategoryA_impl_fntype =
    Option<unsafe extern "C" fn(domain: nvtxDomainHandle_t, category: u32, name: *const c_char)>;
pub type nvtxDomainNameCategoryW_impl_fntype =
    Option<unsafe extern "C" fn(domain: nvtxDomainHandle_t, category: u32, name: *const wchar_t)>;
pub type nvtxDomainRegisterStringA_impl_fntype =
    Option<unsafe extern "C" fn(domain: nvtxDomainHandle_t, string: *const c_char) -> nvtxStringHandle_t>;
pub type nvtxDomainRegisterStringW_impl_fntype =
    Option<unsafe extern "C" fn(domain: nvtxDomainHandle_t, string: *const wchar_t) -> nvtxStringHandle_t>;
pub type nvtxDomainCreateA_impl_fntype = Option<unsafe extern "C" fn(message: *const c_char) -> nvtxDomainHandle_t>;
pub type nvtxDomainCreateW_impl_fntype = Option<unsafe extern "C" fn(message: *const wchar_t) -> nvtxDomainHandle_t>;
pub type nvtxDomainDestroy_impl_fntype = Option<unsafe extern "C" fn(domain: nvtxDomainHandle_t)>;
pub type nvtxInitialize_impl_fntype = Option<unsafe extern "C" fn(reserved: *const c_void)>;
pub type nvtxDomainSyncUserCreate_fakeimpl_fntype = Option<
    unsafe extern "C" fn(
        domain: nvtxDomainHandle_t,
        attribs: *const nvtx_nvtxSyncUserAttributes_t,
    ) -> nvtx_nvtxSyncUser_t,
>;
pub type nvtxDomainSyncUserDestroy_fakeimpl_fntype = Option<unsafe extern "C" fn(handle: nvtx_nvtxSyncUser_t)>;
pub type nvtxDomainSyncUserAcquireStart_fakeimpl_fntype = Option<unsafe extern "C" fn(handle: nvtx_nvtxSyncUser_t)>;
pub type nvtxDomainSyncUserAcquireFailed_fakeimpl_fntype = Option<unsafe extern "C" fn(handle: nvtx_nvtxSyncUser_t)>;
pub type nvtxDomainSyncUserAcquireSuccess_fakeimpl_fntype = Option<unsafe extern "C" fn(handle: nvtx_nvtxSyncUser_t)>;
pub type nvtxDomainSyncUserReleasing_fakeimpl_fntype = Option<unsafe extern "C" fn(handle: nvtx_nvtxSyncUser_t)>;
pub type NvtxInjectionGenericFunc_t = Option<unsafe extern "C" fn()>;

c_enum! {
    NvtxInjectionInitializerKind: c_uint {
        NVTX_INJECTION_INITIALIZER_INVALID = 0,
        NVTX_INJECTION_INITIALIZER_CORE = 1,
        NVTX_INJECTION_INITIALIZER_EXTENSION = 2,
        NVTX_INJECTION_INITIALIZER_SIZE = 3,
        NVTX_INJECTION_INITIALIZER_FORCE_INT = 2147483647,
    }
}

pub type NvtxGetInjectionInitializerFunc_t = Option<
    unsafe extern "C" fn(kind: NvtxInjectionInitializerKind, initializer: *mut NvtxInjectionGenericFunc_t) -> c_int,
>;
pub type NvtxGetExportTableFunc_t = Option<unsafe extern "C" fn(exportTableId: u32) -> *const c_void>;
pub type NvtxInitializeInjectionNvtxFunc_t =
    Option<unsafe extern "C" fn(exportTable: NvtxGetExportTableFunc_t) -> c_int>;

c_enum! {
    NvtxCallbackModule: c_uint {
        NVTX_CB_MODULE_INVALID = 0,
        NVTX_CB_MODULE_CORE = 1,
        NVTX_CB_MODULE_CUDA = 2,
        NVTX_CB_MODULE_OPENCL = 3,
        NVTX_CB_MODULE_CUDART = 4,
        NVTX_CB_MODULE_CORE2 = 5,
        NVTX_CB_MODULE_SYNC = 6,
        NVTX_CB_MODULE_SIZE = 7,
        NVTX_CB_MODULE_FORCE_INT = 2147483647,
    }
}

c_enum! {
    NvtxCallbackIdCore: c_uint {
        NVTX_CBID_CORE_INVALID = 0,
        NVTX_CBID_CORE_MarkEx = 1,
        NVTX_CBID_CORE_MarkA = 2,
        NVTX_CBID_CORE_MarkW = 3,
        NVTX_CBID_CORE_RangeStartEx = 4,
        NVTX_CBID_CORE_RangeStartA = 5,
        NVTX_CBID_CORE_RangeStartW = 6,
        NVTX_CBID_CORE_RangeEnd = 7,
        NVTX_CBID_CORE_RangePushEx = 8,
        NVTX_CBID_CORE_RangePushA = 9,
        NVTX_CBID_CORE_RangePushW = 10,
        NVTX_CBID_CORE_RangePop = 11,
        NVTX_CBID_CORE_NameCategoryA = 12,
        NVTX_CBID_CORE_NameCategoryW = 13,
        NVTX_CBID_CORE_NameOsThreadA = 14,
        NVTX_CBID_CORE_NameOsThreadW = 15,
        NVTX_CBID_CORE_SIZE = 16,
        NVTX_CBID_CORE_FORCE_INT = 2147483647,
    }
}

c_enum! {
    NvtxCallbackIdCore2: c_uint {
        NVTX_CBID_CORE2_INVALID = 0,
        NVTX_CBID_CORE2_DomainMarkEx = 1,
        NVTX_CBID_CORE2_DomainRangeStartEx = 2,
        NVTX_CBID_CORE2_DomainRangeEnd = 3,
        NVTX_CBID_CORE2_DomainRangePushEx = 4,
        NVTX_CBID_CORE2_DomainRangePop = 5,
        NVTX_CBID_CORE2_DomainResourceCreate = 6,
        NVTX_CBID_CORE2_DomainResourceDestroy = 7,
        NVTX_CBID_CORE2_DomainNameCategoryA = 8,
        NVTX_CBID_CORE2_DomainNameCategoryW = 9,
        NVTX_CBID_CORE2_DomainRegisterStringA = 10,
        NVTX_CBID_CORE2_DomainRegisterStringW = 11,
        NVTX_CBID_CORE2_DomainCreateA = 12,
        NVTX_CBID_CORE2_DomainCreateW = 13,
        NVTX_CBID_CORE2_DomainDestroy = 14,
        NVTX_CBID_CORE2_Initialize = 15,
        NVTX_CBID_CORE2_SIZE = 16,
        NVTX_CBID_CORE2_FORCE_INT = 2147483647,
    }
}

c_enum! {
    NvtxCallbackIdCuda: c_uint {
        NVTX_CBID_CUDA_INVALID = 0,
        NVTX_CBID_CUDA_NameCuDeviceA = 1,
        NVTX_CBID_CUDA_NameCuDeviceW = 2,
        NVTX_CBID_CUDA_NameCuContextA = 3,
        NVTX_CBID_CUDA_NameCuContextW = 4,
        NVTX_CBID_CUDA_NameCuStreamA = 5,
        NVTX_CBID_CUDA_NameCuStreamW = 6,
        NVTX_CBID_CUDA_NameCuEventA = 7,
        NVTX_CBID_CUDA_NameCuEventW = 8,
        NVTX_CBID_CUDA_SIZE = 9,
        NVTX_CBID_CUDA_FORCE_INT = 2147483647,
    }
}

c_enum! {
    NvtxCallbackIdCudaRt: c_uint {
        NVTX_CBID_CUDART_INVALID = 0,
        NVTX_CBID_CUDART_NameCudaDeviceA = 1,
        NVTX_CBID_CUDART_NameCudaDeviceW = 2,
        NVTX_CBID_CUDART_NameCudaStreamA = 3,
        NVTX_CBID_CUDART_NameCudaStreamW = 4,
        NVTX_CBID_CUDART_NameCudaEventA = 5,
        NVTX_CBID_CUDART_NameCudaEventW = 6,
        NVTX_CBID_CUDART_SIZE = 7,
        NVTX_CBID_CUDART_FORCE_INT = 2147483647,
    }
}

c_enum! {
    NvtxCallbackIdOpenCL: c_uint {
        NVTX_CBID_OPENCL_INVALID = 0,
        NVTX_CBID_OPENCL_NameClDeviceA = 1,
        NVTX_CBID_OPENCL_NameClDeviceW = 2,
        NVTX_CBID_OPENCL_NameClContextA = 3,
        NVTX_CBID_OPENCL_NameClContextW = 4,
        NVTX_CBID_OPENCL_NameClCommandQueueA = 5,
        NVTX_CBID_OPENCL_NameClCommandQueueW = 6,
        NVTX_CBID_OPENCL_NameClMemObjectA = 7,
        NVTX_CBID_OPENCL_NameClMemObjectW = 8,
        NVTX_CBID_OPENCL_NameClSamplerA = 9,
        NVTX_CBID_OPENCL_NameClSamplerW = 10,
        NVTX_CBID_OPENCL_NameClProgramA = 11,
        NVTX_CBID_OPENCL_NameClProgramW = 12,
        NVTX_CBID_OPENCL_NameClEventA = 13,
        NVTX_CBID_OPENCL_NameClEventW = 14,
        NVTX_CBID_OPENCL_SIZE = 15,
        NVTX_CBID_OPENCL_FORCE_INT = 2147483647,
    }
}

c_enum! {
    NvtxCallbackIdSync: c_uint {
        NVTX_CBID_SYNC_INVALID = 0,
        NVTX_CBID_SYNC_DomainSyncUserCreate = 1,
        NVTX_CBID_SYNC_DomainSyncUserDestroy = 2,
        NVTX_CBID_SYNC_DomainSyncUserAcquireStart = 3,
        NVTX_CBID_SYNC_DomainSyncUserAcquireFailed = 4,
        NVTX_CBID_SYNC_DomainSyncUserAcquireSuccess = 5,
        NVTX_CBID_SYNC_DomainSyncUserReleasing = 6,
        NVTX_CBID_SYNC_SIZE = 7,
        NVTX_CBID_SYNC_FORCE_INT = 2147483647,
    }
}

c_enum! {
    NvtxExportTableID: c_uint {
        NVTX_ETID_INVALID = 0,
        NVTX_ETID_CALLBACKS = 1,
        NVTX_ETID_RESERVED0 = 2,
        NVTX_ETID_VERSIONINFO = 3,
        NVTX_ETID_SIZE = 4,
        NVTX_ETID_FORCE_INT = 2147483647,
    }
}

pub type NvtxFunctionPointer = Option<unsafe extern "C" fn()>;
pub type NvtxFunctionTable = *mut *mut NvtxFunctionPointer;

#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct NvtxExportTableCallbacks {
    pub struct_size: usize,
    pub GetModuleFunctionTable: Option<
        unsafe extern "C" fn(
            callback_module: NvtxCallbackModule,
            out_table: *mut NvtxFunctionTable,
            out_size: *mut c_uint,
        ) -> c_int,
    >,
}

layout! { NvtxExportTableCallbacks: size 16, align 8, { struct_size: 0, GetModuleFunctionTable: 8, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct NvtxExportTableVersionInfo {
    pub struct_size: usize,
    pub version: u32,
    pub reserved0: u32,
    pub SetInjectionNvtxVersion: Option<unsafe extern "C" fn(version: u32)>,
}

layout! { NvtxExportTableVersionInfo: size 24, align 8, { struct_size: 0, version: 8, reserved0: 12, SetInjectionNvtxVersion: 16, } }

c_enum! {
    nvtxResourceSyncPosixThreadType_t: c_uint {
        NVTX_RESOURCE_TYPE_SYNC_PTHREAD_MUTEX = 196609,
        NVTX_RESOURCE_TYPE_SYNC_PTHREAD_CONDITION = 196610,
        NVTX_RESOURCE_TYPE_SYNC_PTHREAD_RWLOCK = 196611,
        NVTX_RESOURCE_TYPE_SYNC_PTHREAD_BARRIER = 196612,
        NVTX_RESOURCE_TYPE_SYNC_PTHREAD_SPINLOCK = 196613,
        NVTX_RESOURCE_TYPE_SYNC_PTHREAD_ONCE = 196614,
    }
}

c_enum! {
    nvtxResourceSyncWindowsType_t: c_uint {
        NVTX_RESOURCE_TYPE_SYNC_WINDOWS_MUTEX = 131073,
        NVTX_RESOURCE_TYPE_SYNC_WINDOWS_SEMAPHORE = 131074,
        NVTX_RESOURCE_TYPE_SYNC_WINDOWS_EVENT = 131075,
        NVTX_RESOURCE_TYPE_SYNC_WINDOWS_CRITICAL_SECTION = 131076,
        NVTX_RESOURCE_TYPE_SYNC_WINDOWS_SRWLOCK = 131077,
    }
}

c_enum! {
    nvtxResourceSyncLinuxType_t: c_uint {
        NVTX_RESOURCE_TYPE_SYNC_LINUX_MUTEX = 131073,
        NVTX_RESOURCE_TYPE_SYNC_LINUX_FUTEX = 131074,
        NVTX_RESOURCE_TYPE_SYNC_LINUX_SEMAPHORE = 131075,
        NVTX_RESOURCE_TYPE_SYNC_LINUX_COMPLETION = 131076,
        NVTX_RESOURCE_TYPE_SYNC_LINUX_SPINLOCK = 131077,
        NVTX_RESOURCE_TYPE_SYNC_LINUX_SEQLOCK = 131078,
        NVTX_RESOURCE_TYPE_SYNC_LINUX_RCU = 131079,
    }
}

pub type nvtxResourceSyncAndroidType_t = nvtxResourceSyncLinuxType_t;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct nvtxSyncUserAttributes_v0 {
    pub version: u16,
    pub size: u16,
    pub messageType: i32,
    pub message: nvtxMessageValue_t,
}

layout! { nvtxSyncUserAttributes_v0: size 16, align 8, { version: 0, size: 2, messageType: 4, message: 8, } }

pub type nvtxSyncUserAttributes_t = nvtxSyncUserAttributes_v0;

c_enum! {
    nvtxResourceCUDAType_t: c_uint {
        NVTX_RESOURCE_TYPE_CUDA_DEVICE = 262145,
        NVTX_RESOURCE_TYPE_CUDA_CONTEXT = 262146,
        NVTX_RESOURCE_TYPE_CUDA_STREAM = 262147,
        NVTX_RESOURCE_TYPE_CUDA_EVENT = 262148,
    }
}

zeroed_default! {
    nvtxMessageValue_t,
    nvtxEventAttributes_v2_payload_t,
    nvtxEventAttributes_v2,
    nvtxResourceAttributes_v0_identifier_t,
    nvtxResourceAttributes_v0,
    nvtxSyncUserAttributes_v0,
}
