//! NVTX, which reports a program's ranges, marks and names to profilers: the contents of `nvToolsExt.h`, `nvToolsExtSync.h`
//! and `nvToolsExtCuda.h`.
//!
//! NVTX is not a library: in C it is code in headers, which looks for a tool on first use. This is the same in Rust. The first
//! call of a process opens the library that `NVTX_INJECTION64_PATH` names (profilers such as Nsight Systems set it for the
//! programs that they start), and its `InitializeInjectionNvtx2` sets the functions that it handles. Without a tool each
//! function does nothing and returns the value that the header's would; such a call costs two loads and a comparison.
//!
//! The header's two other kinds of tools, linked into the program or provided by the driver, are not supported.
//!
//! The functions are documented in the [NVTX manual](https://nvidia.github.io/NVTX/doxygen/index.html).
//!
//! # Examples
//!
//! ```
//! use cuda_sys::nvtx::{nvtxRangePop, nvtxRangePushA};
//!
//! // SAFETY: the name is a C string.
//! let depth = unsafe { nvtxRangePushA(c"load the matrix".as_ptr()) };
//! // .. what the profiler shows under that name ..
//! // SAFETY: it takes nothing.
//! unsafe { nvtxRangePop() };
//! assert!(depth == cuda_sys::nvtx::NVTX_NO_PUSH_POP_TRACKING || depth >= 0);
//! ```
//!
//! # Safety
//!
//! `unsafe` code opens a tool's library, which the variable names for that purpose; calls its initialising function; and calls
//! the tool's functions, each with the type that the headers give its slot.

use core::ffi::*;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::driver::*;
use crate::library::Library;

generated_types! { "nvtx" }

/// The result of pushing and popping ranges without a tool that tracks them.
pub const NVTX_NO_PUSH_POP_TRACKING: c_int = -2;

/// The functions of a module that a tool may set, at the indices that the headers give them; index 0 is unused.
type ModuleSlots = [AtomicPtr<c_void>; 16];

static CORE: ModuleSlots = [const { AtomicPtr::new(core::ptr::null_mut()) }; 16];
static CORE2: ModuleSlots = [const { AtomicPtr::new(core::ptr::null_mut()) }; 16];
static CUDA: ModuleSlots = [const { AtomicPtr::new(core::ptr::null_mut()) }; 16];
static SYNC: ModuleSlots = [const { AtomicPtr::new(core::ptr::null_mut()) }; 16];

/// The tool of this process, once it is initialised.
static TOOL: OnceLock<Option<Tool>> = OnceLock::new();

/// An attached tool.
struct Tool {
    path: PathBuf,
    /// It stays open, since the slots point into it.
    _library: Library,
}

/// The path of the tool's library, if a tool is attached to this process.
///
/// # Examples
///
/// ```
/// if std::env::var_os("NVTX_INJECTION64_PATH").is_none() {
///     assert_eq!(cuda_sys::nvtx::tool(), None);
/// }
/// ```
#[must_use]
pub fn tool() -> Option<&'static std::path::Path> {
    attached().map(|tool| tool.path.as_path())
}

fn attached() -> Option<&'static Tool> {
    TOOL.get_or_init(attach).as_ref()
}

type Initialize = unsafe extern "C" fn(NvtxGetExportTableFunc_t) -> c_int;

/// Opens the tool and lets it set its functions. If its initialisation fails, the functions that it has set are reset, since
/// they must not be called.
fn attach() -> Option<Tool> {
    let variable = if cfg!(target_pointer_width = "64") { "NVTX_INJECTION64_PATH" } else { "NVTX_INJECTION32_PATH" };
    let path = PathBuf::from(std::env::var_os(variable)?);
    // SAFETY: setting the variable, which safe Rust cannot do, promises that the library is a tool.
    let library = unsafe { Library::open(&path) }.ok()?;
    let initialize = library.exported("InitializeInjectionNvtx2")?;
    // SAFETY: a tool exports this name for the function that the headers describe.
    let initialize = unsafe { core::mem::transmute::<*mut c_void, Initialize>(initialize) };
    // SAFETY: it takes the function by which it asks for the tables below.
    if unsafe { initialize(Some(export_table)) } == 0 {
        for slot in [&CORE, &CORE2, &CUDA, &SYNC].into_iter().flatten() {
            slot.store(core::ptr::null_mut(), Ordering::Release);
        }
        return None;
    }
    Some(Tool { path, _library: library })
}

/// Returns the export table with this number to the tool, null for an unknown number.
unsafe extern "C" fn export_table(id: u32) -> *const c_void {
    static CALLBACKS: NvtxExportTableCallbacks = NvtxExportTableCallbacks {
        struct_size: size_of::<NvtxExportTableCallbacks>(),
        GetModuleFunctionTable: Some(module_functions),
    };
    static VERSION: NvtxExportTableVersionInfo = NvtxExportTableVersionInfo {
        struct_size: size_of::<NvtxExportTableVersionInfo>(),
        version: NVTX_VERSION,
        reserved0: 0,
        SetInjectionNvtxVersion: Some(ignore_version),
    };
    match NvtxExportTableID(id) {
        NvtxExportTableID::NVTX_ETID_CALLBACKS => (&raw const CALLBACKS).cast(),
        NvtxExportTableID::NVTX_ETID_VERSIONINFO => (&raw const VERSION).cast(),
        _ => core::ptr::null(),
    }
}

unsafe extern "C" fn ignore_version(_version: u32) {}

/// Passes the array of a module's slots and their number to the tool. Returns 0 for a module that is not bound.
unsafe extern "C" fn module_functions(
    module: NvtxCallbackModule,
    table: *mut NvtxFunctionTable,
    size: *mut c_uint,
) -> c_int {
    type Pointers = OnceLock<Box<[SlotPointer; 17]>>;
    static POINTERS: [Pointers; 4] = [const { OnceLock::new() }; 4];
    let (at, slots, functions) = match module {
        NvtxCallbackModule::NVTX_CB_MODULE_CORE => (0, &CORE, NvtxCallbackIdCore::NVTX_CBID_CORE_SIZE.0),
        NvtxCallbackModule::NVTX_CB_MODULE_CORE2 => (1, &CORE2, NvtxCallbackIdCore2::NVTX_CBID_CORE2_SIZE.0),
        NvtxCallbackModule::NVTX_CB_MODULE_CUDA => (2, &CUDA, NvtxCallbackIdCuda::NVTX_CBID_CUDA_SIZE.0),
        NvtxCallbackModule::NVTX_CB_MODULE_SYNC => (3, &SYNC, NvtxCallbackIdSync::NVTX_CBID_SYNC_SIZE.0),
        _ => return 0,
    };
    // The first entry is unused, and a null follows the last.
    let pointers = POINTERS[at].get_or_init(|| {
        let bound = 1..functions as usize;
        Box::new(core::array::from_fn(|at| {
            SlotPointer(if bound.contains(&at) { slots[at].as_ptr() } else { core::ptr::null_mut() })
        }))
    });
    if !table.is_null() {
        // SAFETY: the tool passes null or a variable of this type; it reads the array as pointers to its functions.
        unsafe { table.write(pointers.as_ptr().cast_mut().cast()) };
    }
    if !size.is_null() {
        // SAFETY: the tool passes null or a variable of this type.
        unsafe { size.write(functions) };
    }
    1
}

/// The memory of a slot, to which a tool writes the address of a function.
#[repr(transparent)]
struct SlotPointer(*mut *mut c_void);

// SAFETY: it is null or points to a static atomic. Only a tool writes there, while `attach` initialises it and no other thread
// reads the slots.
unsafe impl Send for SlotPointer {}
// SAFETY: a shared reference only copies the pointer, and the argument for `Send` covers the memory that it points to.
unsafe impl Sync for SlotPointer {}

/// The result of a function without a tool.
trait NoTool {
    const RESULT: Self;
}

impl NoTool for () {
    const RESULT: () = ();
}

impl NoTool for c_int {
    const RESULT: c_int = NVTX_NO_PUSH_POP_TRACKING;
}

impl NoTool for nvtxRangeId_t {
    const RESULT: nvtxRangeId_t = 0;
}

impl<T> NoTool for *mut T {
    const RESULT: *mut T = core::ptr::null_mut();
}

macro_rules! table {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty = $module:ident, $number:literal;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`, which does nothing without a tool that handles it.")]
            ///
            /// # Safety
            ///
            /// Pointers are to C strings and structures as the header says, and handles are those that NVTX returned.
            #[inline]
            pub unsafe fn $name($($arg: $ty),*) -> $ret {
                if attached().is_none() {
                    return <$ret as NoTool>::RESULT;
                }
                let function = $module[$number].load(Ordering::Acquire);
                if function.is_null() {
                    return <$ret as NoTool>::RESULT;
                }
                // SAFETY: a tool sets this slot to a function of this type.
                let function = unsafe {
                    core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> $ret>(function)
                };
                // SAFETY: the caller passes the arguments that the header requires.
                unsafe { function($($arg),*) }
            }
        )*
    };
}
generated_table! { "nvtx" }
