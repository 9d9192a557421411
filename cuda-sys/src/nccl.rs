//! NCCL, which moves data between the memories of several devices: the contents of `nccl.h`, and a table of the functions
//! of `libnccl.so.2`.
//!
//! NCCL is released independently of CUDA: versions here are NCCL's own, as `10000 * major + 100 * minor + patch`. The
//! functions are documented in the [NCCL manual](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/index.html);
//! those with a `p` before their names, for profilers, are left out. For a safe interface see the crate `cuda-nccl`.
//!
//! # Examples
//!
//! ```
//! use cuda_sys::nccl::NcclApi;
//!
//! match NcclApi::load() {
//!     Ok(nccl) => {
//!         let mut version = 0;
//!         // SAFETY: the integer lives through the call.
//!         let status = unsafe { (nccl.ncclGetVersion()?)(&mut version) };
//!         println!("NCCL {version}: {status:?}");
//!     }
//!     Err(error) => assert!(error.to_string().contains("libnccl.so.2")),
//! }
//! # Ok::<(), cuda_sys::MissingSymbol>(())
//! ```
//!
//! # Safety
//!
//! `unsafe` code calls the library's function for the version, with the type that the header declares, and opens the
//! library that the environment names.

use core::ffi::*;

use crate::error::Versions;
use crate::functions::{Exported, Functions, Interface, exported, written_version};
use crate::system;
use crate::table::{DefaultStream, Symbol};
use crate::{LoadError, MissingSymbol};

generated_types! { "nccl" }

/// NCCL as a table of C functions.
///
/// # Examples
///
/// ```
/// use cuda_sys::nccl::NcclApi;
/// // SAFETY: the table holds no function.
/// let missing = unsafe { NcclApi::from_fns(&Default::default()) }.ncclAlltoAll().unwrap_err();
/// assert!(missing.to_string().contains("which came with NCCL 2.28.3"));
/// ```
pub struct NcclApi(Functions<{ SYMBOLS.len() }>);

library_methods! { NcclApi, NcclFns, INTERFACE, "nccl::NcclApi" }
toolkit_methods! { NcclApi, INTERFACE, "nccl::NcclApi", "libnccl.so.2" }

impl NcclApi {
    /// Opens the library that the environment variable `CUDA_NCCL_PATH` names; `None` where it is unset or empty.
    ///
    /// A name without a slash is searched for by the system's loader. Setting the variable promises that the library is
    /// NCCL, as setting `LD_LIBRARY_PATH` does for `libnccl.so.2`; a program can set it only by `std::env::set_var`, which is
    /// `unsafe`. The crate `cuda-nccl` handles the value `sim` itself before it calls this function; here it is an ordinary
    /// name of a library.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::nccl::NcclApi;
    ///
    /// match NcclApi::from_environment() {
    ///     Ok(Some(nccl)) => println!("NCCL is {}", nccl.origin()),
    ///     Ok(None) => assert!(std::env::var_os("CUDA_NCCL_PATH").is_none_or(|path| path.is_empty())),
    ///     Err(error) => println!("{error}"),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LoadError`], which names the path and the loader's reason.
    pub fn from_environment() -> Result<Option<NcclApi>, LoadError> {
        let path = std::env::var_os("CUDA_NCCL_PATH").filter(|path| !path.is_empty());
        // SAFETY: setting the variable, which safe Rust cannot do, promises that the library is NCCL.
        path.map(|path| unsafe { NcclApi::load_from(path) }).transpose()
    }
}

macro_rules! table {
    ($($functions:tt)*) => { function_table! { NcclApi, NcclFns, "NCCL"; $($functions)* } };
}
generated_table! { "nccl" }

/// The value of an integer in a configuration that leaves the choice to NCCL.
///
/// # Examples
///
/// ```
/// use cuda_sys::nccl::{NCCL_CONFIG_UNDEF_INT, ncclConfig_t};
/// assert_eq!(ncclConfig_t::INITIALIZER.maxCTAs, NCCL_CONFIG_UNDEF_INT);
/// ```
pub const NCCL_CONFIG_UNDEF_INT: c_int = c_int::MIN;

impl ncclConfig_t {
    /// A configuration that leaves every choice to NCCL: C's `NCCL_CONFIG_INITIALIZER`.
    ///
    /// An older library reads as much of it as it knows, and takes the version in it for that of the caller's header.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::nccl::ncclConfig_t;
    /// let config = ncclConfig_t { blocking: 0, ..ncclConfig_t::INITIALIZER };
    /// assert_eq!((config.size, config.magic, config.splitShare), (size_of_val(&config), 0xcafe_beef, i32::MIN));
    /// ```
    pub const INITIALIZER: ncclConfig_t = ncclConfig_t {
        size: size_of::<ncclConfig_t>(),
        magic: NCCL_API_MAGIC,
        version: NCCL_VERSION_CODE,
        blocking: NCCL_CONFIG_UNDEF_INT,
        cgaClusterSize: NCCL_CONFIG_UNDEF_INT,
        minCTAs: NCCL_CONFIG_UNDEF_INT,
        maxCTAs: NCCL_CONFIG_UNDEF_INT,
        netName: core::ptr::null(),
        splitShare: NCCL_CONFIG_UNDEF_INT,
        trafficClass: NCCL_CONFIG_UNDEF_INT,
        commName: core::ptr::null(),
        collnetEnable: NCCL_CONFIG_UNDEF_INT,
        CTAPolicy: NCCL_CONFIG_UNDEF_INT,
        shrinkShare: NCCL_CONFIG_UNDEF_INT,
        nvlsCTAs: NCCL_CONFIG_UNDEF_INT,
        nChannelsPerNetPeer: NCCL_CONFIG_UNDEF_INT,
        nvlinkCentricSched: NCCL_CONFIG_UNDEF_INT,
        graphUsageMode: NCCL_CONFIG_UNDEF_INT,
        numRmaCtx: NCCL_CONFIG_UNDEF_INT,
        maxP2pPeers: NCCL_CONFIG_UNDEF_INT,
        graphStreamOrdering: NCCL_CONFIG_UNDEF_INT,
        launchOrderImplicit: NCCL_CONFIG_UNDEF_INT,
        numRmaSig: NCCL_CONFIG_UNDEF_INT,
        rmaEagerInit: NCCL_CONFIG_UNDEF_INT,
        hostCftMode: NCCL_CONFIG_UNDEF_INT,
        nvlsHostMode: NCCL_CONFIG_UNDEF_INT,
    };
}

const INTERFACE: &Interface = &Interface {
    what: "NCCL",
    symbols: SYMBOLS,
    files: system::NCCL.here(),
    versions: Versions::Nccl,
    toolkit: true,
    before_open: |_| (),
    version,
    find: exported,
};

/// NCCL's own version, 0 if it reports none.
fn version(exported: Exported<'_>) -> c_int {
    // SAFETY: a library exports this name only for the header's function, which writes one integer.
    unsafe { written_version(exported, "ncclGetVersion") }
}
