//! [`Nccl`]: the library in use.
//!
//! `CUDA_NCCL_PATH` names it as `CUDA_DRIVER_PATH` names a driver. The library is opened when a program first asks for it.
//!
//! # Safety
//!
//! One block opens the library beside the software device that the environment's value `sim` names: setting the variable, which
//! safe Rust cannot do, promises that the library is NCCL. Another asks the library for an identifier through a pointer that
//! lives through the call. The others look up a function that only the software device's NCCL has, in a library that is open, and call
//! it with the driver's function that it asks for.

use std::ffi::{CStr, CString, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuda_sys::DriverApi;
use cuda_sys::nccl::{NcclApi, ncclResult_t, ncclUniqueId};

use crate::error::{Error, NcclError, Result};

/// The environment variable that names NCCL's library: a file, or `sim`.
///
/// # Examples
///
/// ```
/// match std::env::var_os(cuda_nccl::NCCL_VARIABLE) {
///     Some(library) => println!("NCCL is {library:?}"),
///     None => println!("NCCL is `libnccl.so.2`"),
/// }
/// ```
pub const NCCL_VARIABLE: &str = "CUDA_NCCL_PATH";

/// The value of the variable that selects the library of the software device.
const SIM: &str = "sim";

/// The file of the software device's NCCL, as it is installed and as cargo builds it.
const SIM_FILES: [&str; 2] = ["libnccl_sim.so.2", "libnccl_sim.so"];

/// NCCL, as a table of functions. Clones are cheap and mean the same library.
///
/// # Examples
///
/// ```
/// use cuda_nccl::Nccl;
///
/// match Nccl::load() {
///     Ok(nccl) => println!("{} {:?}", nccl.origin(), nccl.version()),
///     Err(error) => println!("{error}"), // with every place that was searched
/// }
/// ```
#[derive(Clone)]
pub struct Nccl(pub(crate) Arc<NcclApi>);

impl Nccl {
    /// Opens the library that `CUDA_NCCL_PATH` names, else `libnccl.so.2`.
    ///
    /// With the value `sim` it is the library that lies beside the software device: beside the driver that `CUDA_DRIVER_PATH`
    /// names, or beside the program.
    ///
    /// # Errors
    ///
    /// [`Error::Load`], which lists every place that was searched.
    pub fn load() -> Result<Nccl> {
        if std::env::var_os(NCCL_VARIABLE).is_some_and(|value| value == SIM) {
            return Self::beside(&folders(std::env::var_os("CUDA_DRIVER_PATH").as_deref().map(Path::new)));
        }
        let api = match NcclApi::from_environment() {
            Ok(Some(api)) => Ok(api),
            Ok(None) => NcclApi::load(),
            Err(error) => Err(error),
        };
        api.map(|api| Nccl::new(Arc::new(api))).map_err(|error| Error::Load(error.to_string().into()))
    }

    /// NCCL as any table of functions.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::nccl::NcclApi;
    /// // SAFETY: the table holds no function.
    /// let api = unsafe { NcclApi::from_fns(&Default::default()) };
    /// assert_eq!(cuda_nccl::Nccl::new(api.into()).version(), None);
    /// ```
    #[must_use]
    pub fn new(api: Arc<NcclApi>) -> Nccl {
        Nccl(api)
    }

    /// The library's path or name.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.0.origin()
    }

    /// The library's version: major, minor and patch.
    #[must_use]
    pub fn version(&self) -> Option<(u32, u32, u32)> {
        let code = u32::try_from(self.0.version()?).ok()?;
        Some((code / 10_000, code % 10_000 / 100, code % 100))
    }

    /// A new identifier, by which the ranks of a communicator find each other. One rank makes it and the others get a copy.
    ///
    /// # Examples
    ///
    /// ```
    /// fn first_bytes(nccl: &cuda_nccl::Nccl) -> cuda_nccl::Result<[u8; 128]> {
    ///     Ok(nccl.unique_id()?.to_bytes())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Nccl`] with NCCL's status, such as for a network without a usable interface.
    pub fn unique_id(&self) -> Result<UniqueId> {
        let mut id = ncclUniqueId::default();
        // SAFETY: the identifier lives through the call.
        let status = unsafe { (self.0.ncclGetUniqueId()?)(&mut id) };
        NcclError::check_global(&self.0, status, "ncclGetUniqueId")?;
        Ok(UniqueId(id))
    }

    /// Tells the software device's NCCL which driver is in use. It finds one that is a library by itself, but not a device that the
    /// program contains. Other libraries are not told anything.
    pub(crate) fn use_driver(&self, api: &DriverApi) -> Result<()> {
        let Some(set) = exported(self.origin(), c"ncclSimSetDriver") else { return Ok(()) };
        let lookup = api.cuGetProcAddress_v2()?;
        // SAFETY: the software device's NCCL alone has a function of this name, which takes the address of another one.
        let set = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> ncclResult_t>(set) };
        // SAFETY: it asks for the driver's `cuGetProcAddress_v2`, which this is.
        let status = unsafe { set(lookup as *mut c_void) };
        NcclError::check_global(&self.0, status, "ncclSimSetDriver")
    }

    /// The library of the software device in the first of these folders that has it.
    fn beside(folders: &[PathBuf]) -> Result<Nccl> {
        let mut files = folders.iter().flat_map(|folder| SIM_FILES.map(|name| folder.join(name)));
        let Some(file) = files.find(|file| file.is_file()) else {
            let folders: Vec<_> = folders.iter().map(|folder| format!("\n  {}", folder.display())).collect();
            let text = format!(
                "cannot load NCCL: {NCCL_VARIABLE} is `{SIM}`, and no `libnccl_sim.so.2` lies in{}\n`cargo build -p cuda-nccl-sim` \
                 builds it; {NCCL_VARIABLE} can also name the file",
                folders.concat()
            );
            return Err(Error::Load(text.into()));
        };
        // SAFETY: setting the variable, which safe Rust cannot do, promises that the library of this name is NCCL.
        let api = unsafe { NcclApi::load_from(file) };
        api.map(|api| Nccl::new(Arc::new(api))).map_err(|error| Error::Load(error.to_string().into()))
    }
}

impl fmt::Debug for Nccl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Nccl").field(&self.origin()).finish()
    }
}

/// The address of a function in a library that is open.
#[cfg(unix)]
fn exported(library: &str, name: &CStr) -> Option<*mut c_void> {
    let library = CString::new(library).ok()?;
    // SAFETY: with this flag nothing is loaded, and no code of the library runs.
    let open = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if open.is_null() {
        return None;
    }
    // SAFETY: the library is open, and the name ends in a null.
    let found = unsafe { libc::dlsym(open, name.as_ptr()) };
    // SAFETY: it was opened once more above; the table of functions keeps it open.
    unsafe { libc::dlclose(open) };
    (!found.is_null()).then_some(found)
}

/// There is no software device's NCCL elsewhere.
#[cfg(not(unix))]
fn exported(_: &str, _: &CStr) -> Option<*mut c_void> {
    None
}

/// The folders in which the software device's libraries lie: that of the driver's file, and those of the program. Cargo puts
/// tests and examples into folders below that of libraries.
fn folders(driver: Option<&Path>) -> Vec<PathBuf> {
    let beside_driver = driver.filter(|file| file.is_file()).and_then(Path::parent).map(Path::to_owned);
    let program = std::env::current_exe().ok();
    let beside_program = program.iter().flat_map(|program| program.ancestors().skip(1).take(2)).map(Path::to_owned);
    beside_driver.into_iter().chain(beside_program).collect()
}

/// An identifier of a communicator, from [`Nccl::unique_id`].
///
/// # Examples
///
/// ```
/// use cuda_nccl::UniqueId;
///
/// // A program sends the bytes to the other ranks in any way that it has.
/// let id = UniqueId::from_bytes([7; UniqueId::LEN]);
/// assert_eq!(UniqueId::from_bytes(id.to_bytes()), id);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UniqueId(pub(crate) ncclUniqueId);

impl UniqueId {
    /// The number of its bytes.
    pub const LEN: usize = size_of::<ncclUniqueId>();

    /// The bytes, to be sent to other processes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        self.0.internal.map(|byte| byte as u8)
    }

    /// The identifier of which these are the bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::LEN]) -> UniqueId {
        UniqueId(ncclUniqueId { internal: bytes.map(|byte| byte as _) })
    }
}

impl fmt::Debug for UniqueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UniqueId").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_software_devices_library_is_searched_for_beside_driver_and_program() {
        let folder = tempfile::tempdir().unwrap();
        let driver = folder.path().join("libcuda_sim.so");
        std::fs::write(&driver, "").unwrap();
        let found = folders(Some(&driver));
        assert_eq!((found.len(), &*found[0]), (3, folder.path()));
        assert_eq!(folders(Some(Path::new("libcuda_sim.so"))).len(), 2, "a bare name has no folder");
        let error = Nccl::beside(&found[..1]).unwrap_err().to_string();
        assert!(error.contains(&folder.path().display().to_string()) && error.contains("libnccl_sim.so.2"), "{error}");
        std::fs::write(folder.path().join(SIM_FILES[1]), "no library").unwrap();
        let error = Nccl::beside(&found).unwrap_err().to_string();
        assert!(error.starts_with("cannot load NCCL `"), "{error}");
    }
}
