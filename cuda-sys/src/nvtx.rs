//! NVTX, by which a program tells profilers its ranges, marks and names: the contents of `nvToolsExt.h`,
//! `nvToolsExtSync.h` and `nvToolsExtCuda.h`.
//!
//! NVTX is no library: in C it is code in headers, which looks for a tool when it is first used. This is the same in Rust.
//! At the first call of a process the library that `NVTX_INJECTION64_PATH` names is opened (profilers such as Nsight Systems
//! set it for the programs that they start), and its `InitializeInjectionNvtx2` sets the functions that it wants to hear.
//! Where there is no tool each function does nothing and returns what the header's would: after the first, such a call
//! costs two loads and a comparison.
//!
//! The header's two other ways, a tool that is linked into the program and one that the driver brings, are not here.
//!
//! What each function does is said by the [NVTX manual](https://nvidia.github.io/NVTX/doxygen/index.html).
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
//! `unsafe` stands where a tool's library is opened, by the variable that is made for that; where its first function is
//! called; and where a tool's function is called by the type that the headers give the place which the tool has put it in.

use core::ffi::*;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::driver::*;
use crate::library::Library;

generated_types! { "nvtx" }

/// What pushing and popping ranges return where no tool tracks them.
pub const NVTX_NO_PUSH_POP_TRACKING: c_int = -2;

/// The functions of a module that a tool may set, at the numbers that the headers give them; number 0 is none.
type Slots = [AtomicPtr<c_void>; 16];

static CORE: Slots = [const { AtomicPtr::new(core::ptr::null_mut()) }; 16];
static CORE2: Slots = [const { AtomicPtr::new(core::ptr::null_mut()) }; 16];
static CUDA: Slots = [const { AtomicPtr::new(core::ptr::null_mut()) }; 16];
static SYNC: Slots = [const { AtomicPtr::new(core::ptr::null_mut()) }; 16];

/// The tool of this process, after its first function has run.
static TOOL: OnceLock<Option<Tool>> = OnceLock::new();

/// A tool that listens.
struct Tool {
    path: PathBuf,
    /// Open for ever: the slots point into it.
    _library: Library,
}

/// The library that listens to this process, if there is one.
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

/// Opens the tool and lets it set its functions. Where it fails, what it has set is unset: it must not be called.
fn attach() -> Option<Tool> {
    let variable = if cfg!(target_pointer_width = "64") { "NVTX_INJECTION64_PATH" } else { "NVTX_INJECTION32_PATH" };
    let path = PathBuf::from(std::env::var_os(variable)?);
    // SAFETY: whoever sets the variable promises that the library is a tool; safe Rust cannot set it.
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

/// The table of a number, for the tool; null for one that is not known.
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

/// For the tool: where a module's function pointers are, and how many. 0 for a module that is not bound.
unsafe extern "C" fn module_functions(
    module: NvtxCallbackModule,
    table: *mut NvtxFunctionTable,
    size: *mut c_uint,
) -> c_int {
    type Places = OnceLock<Box<[Place; 17]>>;
    static PLACES: [Places; 4] = [const { OnceLock::new() }; 4];
    let (at, slots, functions) = match module {
        NvtxCallbackModule::NVTX_CB_MODULE_CORE => (0, &CORE, NvtxCallbackIdCore::NVTX_CBID_CORE_SIZE.0),
        NvtxCallbackModule::NVTX_CB_MODULE_CORE2 => (1, &CORE2, NvtxCallbackIdCore2::NVTX_CBID_CORE2_SIZE.0),
        NvtxCallbackModule::NVTX_CB_MODULE_CUDA => (2, &CUDA, NvtxCallbackIdCuda::NVTX_CBID_CUDA_SIZE.0),
        NvtxCallbackModule::NVTX_CB_MODULE_SYNC => (3, &SYNC, NvtxCallbackIdSync::NVTX_CBID_SYNC_SIZE.0),
        _ => return 0,
    };
    // The first place is of no function, and a null follows the last.
    let places = PLACES[at].get_or_init(|| {
        let bound = 1..functions as usize;
        Box::new(core::array::from_fn(|at| {
            Place(if bound.contains(&at) { slots[at].as_ptr() } else { core::ptr::null_mut() })
        }))
    });
    if !table.is_null() {
        // SAFETY: the tool passes null or a variable of this type; it reads the array as pointers to its functions.
        unsafe { table.write(places.as_ptr().cast_mut().cast()) };
    }
    if !size.is_null() {
        // SAFETY: the tool passes null or a variable of this type.
        unsafe { size.write(functions) };
    }
    1
}

/// Where a tool writes the address of a function: a slot's own memory.
#[repr(transparent)]
struct Place(*mut *mut c_void);

// SAFETY: it points to an atomic of this file, or nowhere; a tool writes there while nothing else does, see `attach`.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

/// What a function returns where no tool listens.
trait NoTool {
    const NOTHING: Self;
}

impl NoTool for () {
    const NOTHING: () = ();
}

impl NoTool for c_int {
    const NOTHING: c_int = NVTX_NO_PUSH_POP_TRACKING;
}

impl NoTool for nvtxRangeId_t {
    const NOTHING: nvtxRangeId_t = 0;
}

impl<T> NoTool for *mut T {
    const NOTHING: *mut T = core::ptr::null_mut();
}

macro_rules! table {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty = $module:ident, $number:literal;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`, which does nothing where no tool listens to it.")]
            ///
            /// # Safety
            ///
            /// Pointers are to C strings and structures as the header says, and handles are those that NVTX gave.
            #[inline]
            pub unsafe fn $name($($arg: $ty),*) -> $ret {
                if attached().is_none() {
                    return <$ret as NoTool>::NOTHING;
                }
                let function = $module[$number].load(Ordering::Acquire);
                if function.is_null() {
                    return <$ret as NoTool>::NOTHING;
                }
                // SAFETY: a tool puts the function of this type in this place.
                let function = unsafe {
                    core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> $ret>(function)
                };
                // SAFETY: the caller passes what the header asks for.
                unsafe { function($($arg),*) }
            }
        )*
    };
}
generated_table! { "nvtx" }
