// nvJitLink: functions: name, signature, symbol, CUDA versions that have it, default stream.
// Written by `cargo xtask gen-bindings` from nvJitLink.h; do not edit.

table! {
    fn nvJitLinkCreate(handle: *mut nvJitLinkHandle, numOptions: u32, options: *mut *const c_char) -> nvJitLinkResult = "nvJitLinkCreate", 12000.., Legacy;
    fn nvJitLinkDestroy(handle: *mut nvJitLinkHandle) -> nvJitLinkResult = "nvJitLinkDestroy", 12000.., Legacy;
    fn nvJitLinkAddData(handle: nvJitLinkHandle, inputType: nvJitLinkInputType, data: *const c_void, size: usize, name: *const c_char) -> nvJitLinkResult = "nvJitLinkAddData", 12000.., Legacy;
    fn nvJitLinkAddFile(handle: nvJitLinkHandle, inputType: nvJitLinkInputType, fileName: *const c_char) -> nvJitLinkResult = "nvJitLinkAddFile", 12000.., Legacy;
    fn nvJitLinkComplete(handle: nvJitLinkHandle) -> nvJitLinkResult = "nvJitLinkComplete", 12000.., Legacy;
    fn nvJitLinkGetLinkedCubinSize(handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult = "nvJitLinkGetLinkedCubinSize", 12000.., Legacy;
    fn nvJitLinkGetLinkedCubin(handle: nvJitLinkHandle, cubin: *mut c_void) -> nvJitLinkResult = "nvJitLinkGetLinkedCubin", 12000.., Legacy;
    fn nvJitLinkGetLinkedPtxSize(handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult = "nvJitLinkGetLinkedPtxSize", 12000.., Legacy;
    fn nvJitLinkGetLinkedPtx(handle: nvJitLinkHandle, ptx: *mut c_char) -> nvJitLinkResult = "nvJitLinkGetLinkedPtx", 12000.., Legacy;
    fn nvJitLinkGetLinkedLTOIRSize(handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult = "nvJitLinkGetLinkedLTOIRSize", 13030.., Legacy;
    fn nvJitLinkGetLinkedLTOIR(handle: nvJitLinkHandle, ltoir: *mut c_void) -> nvJitLinkResult = "nvJitLinkGetLinkedLTOIR", 13030.., Legacy;
    fn nvJitLinkGetErrorLogSize(handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult = "nvJitLinkGetErrorLogSize", 12000.., Legacy;
    fn nvJitLinkGetErrorLog(handle: nvJitLinkHandle, log: *mut c_char) -> nvJitLinkResult = "nvJitLinkGetErrorLog", 12000.., Legacy;
    fn nvJitLinkGetInfoLogSize(handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult = "nvJitLinkGetInfoLogSize", 12000.., Legacy;
    fn nvJitLinkGetInfoLog(handle: nvJitLinkHandle, log: *mut c_char) -> nvJitLinkResult = "nvJitLinkGetInfoLog", 12000.., Legacy;
    fn nvJitLinkVersion(major: *mut c_uint, minor: *mut c_uint) -> nvJitLinkResult = "nvJitLinkVersion", 12030.., Legacy;
}
