// NVRTC: functions: name, signature, symbol, CUDA versions that have it, default stream.
// Written by `cargo xtask gen-bindings` from nvrtc.h; do not edit.

table! {
    fn nvrtcGetErrorString(result: nvrtcResult) -> *const c_char = "nvrtcGetErrorString", 12000.., Legacy;
    fn nvrtcVersion(major: *mut c_int, minor: *mut c_int) -> nvrtcResult = "nvrtcVersion", 12000.., Legacy;
    fn nvrtcGetNumSupportedArchs(numArchs: *mut c_int) -> nvrtcResult = "nvrtcGetNumSupportedArchs", 12000.., Legacy;
    fn nvrtcGetSupportedArchs(supportedArchs: *mut c_int) -> nvrtcResult = "nvrtcGetSupportedArchs", 12000.., Legacy;
    fn nvrtcCreateProgram(prog: *mut nvrtcProgram, src: *const c_char, name: *const c_char, numHeaders: c_int, headers: *const *const c_char, includeNames: *const *const c_char) -> nvrtcResult = "nvrtcCreateProgram", 12000.., Legacy;
    fn nvrtcDestroyProgram(prog: *mut nvrtcProgram) -> nvrtcResult = "nvrtcDestroyProgram", 12000.., Legacy;
    fn nvrtcCompileProgram(prog: nvrtcProgram, numOptions: c_int, options: *const *const c_char) -> nvrtcResult = "nvrtcCompileProgram", 12000.., Legacy;
    fn nvrtcGetPTXSize(prog: nvrtcProgram, ptxSizeRet: *mut usize) -> nvrtcResult = "nvrtcGetPTXSize", 12000.., Legacy;
    fn nvrtcGetPTX(prog: nvrtcProgram, ptx: *mut c_char) -> nvrtcResult = "nvrtcGetPTX", 12000.., Legacy;
    fn nvrtcGetCUBINSize(prog: nvrtcProgram, cubinSizeRet: *mut usize) -> nvrtcResult = "nvrtcGetCUBINSize", 12000.., Legacy;
    fn nvrtcGetCUBIN(prog: nvrtcProgram, cubin: *mut c_char) -> nvrtcResult = "nvrtcGetCUBIN", 12000.., Legacy;
    fn nvrtcGetLTOIRSize(prog: nvrtcProgram, LTOIRSizeRet: *mut usize) -> nvrtcResult = "nvrtcGetLTOIRSize", 12000.., Legacy;
    fn nvrtcGetLTOIR(prog: nvrtcProgram, LTOIR: *mut c_char) -> nvrtcResult = "nvrtcGetLTOIR", 12000.., Legacy;
    fn nvrtcGetOptiXIRSize(prog: nvrtcProgram, optixirSizeRet: *mut usize) -> nvrtcResult = "nvrtcGetOptiXIRSize", 12000.., Legacy;
    fn nvrtcGetOptiXIR(prog: nvrtcProgram, optixir: *mut c_char) -> nvrtcResult = "nvrtcGetOptiXIR", 12000.., Legacy;
    fn nvrtcGetProgramLogSize(prog: nvrtcProgram, logSizeRet: *mut usize) -> nvrtcResult = "nvrtcGetProgramLogSize", 12000.., Legacy;
    fn nvrtcGetProgramLog(prog: nvrtcProgram, log: *mut c_char) -> nvrtcResult = "nvrtcGetProgramLog", 12000.., Legacy;
    fn nvrtcAddNameExpression(prog: nvrtcProgram, name_expression: *const c_char) -> nvrtcResult = "nvrtcAddNameExpression", 12000.., Legacy;
    fn nvrtcGetLoweredName(prog: nvrtcProgram, name_expression: *const c_char, lowered_name: *mut *const c_char) -> nvrtcResult = "nvrtcGetLoweredName", 12000.., Legacy;
    fn nvrtcGetPCHHeapSize(ret: *mut usize) -> nvrtcResult = "nvrtcGetPCHHeapSize", 12080.., Legacy;
    fn nvrtcSetPCHHeapSize(size: usize) -> nvrtcResult = "nvrtcSetPCHHeapSize", 12080.., Legacy;
    fn nvrtcGetPCHCreateStatus(prog: nvrtcProgram) -> nvrtcResult = "nvrtcGetPCHCreateStatus", 12080.., Legacy;
    fn nvrtcGetPCHHeapSizeRequired(prog: nvrtcProgram, size: *mut usize) -> nvrtcResult = "nvrtcGetPCHHeapSizeRequired", 12080.., Legacy;
    fn nvrtcSetFlowCallback(prog: nvrtcProgram, callback: Option<unsafe extern "C" fn (arg1 : *mut c_void , arg2 : *mut c_void) -> c_int>, payload: *mut c_void) -> nvrtcResult = "nvrtcSetFlowCallback", 12080.., Legacy;
    fn nvrtcGetTileIRSize(prog: nvrtcProgram, TileIRSizeRet: *mut usize) -> nvrtcResult = "nvrtcGetTileIRSize", 13020.., Legacy;
    fn nvrtcGetTileIR(prog: nvrtcProgram, TileIR: *mut c_char) -> nvrtcResult = "nvrtcGetTileIR", 13020.., Legacy;
    fn nvrtcInstallBundledHeaders(installPath: *const c_char, flags: c_uint, errorLog: *mut *const c_char) -> nvrtcResult = "nvrtcInstallBundledHeaders", 13030.., Legacy;
    fn nvrtcGetBundledHeadersInfo(info: *mut nvrtcBundledHeadersInfo, errorLog: *mut *const c_char) -> nvrtcResult = "nvrtcGetBundledHeadersInfo", 13030.., Legacy;
    fn nvrtcRemoveBundledHeaders(installPath: *const c_char, errorLog: *mut *const c_char) -> nvrtcResult = "nvrtcRemoveBundledHeaders", 13030.., Legacy;
    fn nvrtcGetNVVM(_0: nvrtcProgram, _1: *mut c_char) -> nvrtcResult = "nvrtcGetNVVM", 12000..13000, Legacy;
    fn nvrtcGetNVVMSize(_0: nvrtcProgram, _1: *mut usize) -> nvrtcResult = "nvrtcGetNVVMSize", 12000..13000, Legacy;
}
