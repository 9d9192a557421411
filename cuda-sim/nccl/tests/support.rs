//! The library's functions, devices, and ranks as threads or as processes.
//!
//! # Safety
//!
//! The functions are looked up under their names and called as the headers say, with memory that lives through the calls.

#![expect(clippy::too_many_arguments, reason = "some of NCCL's functions have eight")]

use cuda_sys::{CUcontext, CUresult, CUstream, DriverApi};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub(crate) const SUCCESS: c_int = 0;
pub(crate) const INVALID_ARGUMENT: c_int = 4;
pub(crate) const INVALID_USAGE: c_int = 5;
pub(crate) const REMOTE: c_int = 6;
pub(crate) const IN_PROGRESS: c_int = 7;
pub(crate) const SUM: c_int = 0;
pub(crate) const FLOAT: c_int = 7;
pub(crate) const INT: c_int = 2;
pub(crate) const BYTE: c_int = 1;

/// The number of devices of a test's process.
pub(crate) const DEVICES: usize = 4;

pub(crate) type Comm = usize;

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Id(pub(crate) [u8; 128]);

#[repr(C)]
pub(crate) struct Config {
    pub(crate) size: usize,
    pub(crate) magic: u32,
    pub(crate) version: u32,
    pub(crate) blocking: c_int,
    rest: [u8; 120],
}

impl Config {
    pub(crate) fn new(blocking: c_int) -> Config {
        Config { size: size_of::<Config>(), magic: 0xcafe_beef, version: 23203, blocking, rest: [0; 120] }
    }
}

macro_rules! functions {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) -> $out:ty;)*) => {
        /// The functions of the library that tests call.
        #[expect(non_snake_case, reason = "the names are NCCL's")]
        pub(crate) struct Nccl { $(pub(crate) $name: unsafe extern "C" fn($($ty),*) -> $out,)* }

        impl Nccl {
            #[expect(non_snake_case, reason = "the names are NCCL's")]
            fn load() -> Nccl {
                // SAFETY: each symbol is the function of this name, whose type is the header's.
                $(let $name = unsafe {
                    std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> $out>(symbol(stringify!($name)).expect(stringify!($name)))
                };)*
                Nccl { $($name,)* }
            }
        }

        $(
            #[expect(non_snake_case, reason = "the functions are NCCL's")]
            pub(crate) fn $name($($arg: $ty),*) -> $out {
                // SAFETY: tests pass what the header asks for, or faults that the library detects.
                unsafe { (nccl().$name)($($arg),*) }
            }
        )*
    };
}

functions! {
    fn ncclGetUniqueId(id: *mut Id) -> c_int;
    fn ncclGetVersion(version: *mut c_int) -> c_int;
    fn ncclGetErrorString(code: c_int) -> *const c_char;
    fn ncclGetLastError(comm: Comm) -> *const c_char;
    fn ncclCommInitRank(comm: *mut Comm, ranks: c_int, id: Id, rank: c_int) -> c_int;
    fn ncclCommInitRankConfig(comm: *mut Comm, ranks: c_int, id: Id, rank: c_int, config: *mut Config) -> c_int;
    fn ncclCommInitAll(comms: *mut Comm, count: c_int, devices: *const c_int) -> c_int;
    fn ncclCommSplit(comm: Comm, color: c_int, key: c_int, new: *mut Comm, config: *mut Config) -> c_int;
    fn ncclCommShrink(comm: Comm, excluded: *mut c_int, count: c_int, new: *mut Comm, config: *mut Config, flags: c_int) -> c_int;
    fn ncclCommFinalize(comm: Comm) -> c_int;
    fn ncclCommDestroy(comm: Comm) -> c_int;
    fn ncclCommAbort(comm: Comm) -> c_int;
    fn ncclCommRevoke(comm: Comm, flags: c_int) -> c_int;
    fn ncclCommGetAsyncError(comm: Comm, error: *mut c_int) -> c_int;
    fn ncclCommCount(comm: Comm, count: *mut c_int) -> c_int;
    fn ncclCommUserRank(comm: Comm, rank: *mut c_int) -> c_int;
    fn ncclCommCuDevice(comm: Comm, device: *mut c_int) -> c_int;
    fn ncclMemAlloc(out: *mut usize, bytes: usize) -> c_int;
    fn ncclMemFree(at: usize) -> c_int;
    fn ncclCommRegister(comm: Comm, at: usize, bytes: usize, handle: *mut usize) -> c_int;
    fn ncclCommDeregister(comm: Comm, handle: usize) -> c_int;
    fn ncclCommWindowRegister(comm: Comm, at: usize, bytes: usize, win: *mut usize, flags: c_int) -> c_int;
    fn ncclCommWindowDeregister(comm: Comm, win: usize) -> c_int;
    fn ncclWinGetUserPtr(comm: Comm, win: usize, out: *mut usize) -> c_int;
    fn ncclGroupStart() -> c_int;
    fn ncclGroupEnd() -> c_int;
    fn ncclGroupSimulateEnd(info: *mut c_void) -> c_int;
    fn ncclRedOpCreatePreMulSum(op: *mut c_int, scalar: *mut c_void, kind: c_int, residence: c_int, comm: Comm) -> c_int;
    fn ncclRedOpDestroy(op: c_int, comm: Comm) -> c_int;
    fn ncclAllReduce(send: usize, receive: usize, count: usize, kind: c_int, op: c_int, comm: Comm, stream: usize) -> c_int;
    fn ncclReduce(send: usize, receive: usize, count: usize, kind: c_int, op: c_int, root: c_int, comm: Comm, stream: usize) -> c_int;
    fn ncclReduceScatter(send: usize, receive: usize, count: usize, kind: c_int, op: c_int, comm: Comm, stream: usize) -> c_int;
    fn ncclBroadcast(send: usize, receive: usize, count: usize, kind: c_int, root: c_int, comm: Comm, stream: usize) -> c_int;
    fn ncclBcast(buffer: usize, count: usize, kind: c_int, root: c_int, comm: Comm, stream: usize) -> c_int;
    fn ncclAllGather(send: usize, receive: usize, count: usize, kind: c_int, comm: Comm, stream: usize) -> c_int;
    fn ncclAlltoAll(send: usize, receive: usize, count: usize, kind: c_int, comm: Comm, stream: usize) -> c_int;
    fn ncclGather(send: usize, receive: usize, count: usize, kind: c_int, root: c_int, comm: Comm, stream: usize) -> c_int;
    fn ncclScatter(send: usize, receive: usize, count: usize, kind: c_int, root: c_int, comm: Comm, stream: usize) -> c_int;
    fn ncclSend(send: usize, count: usize, kind: c_int, peer: c_int, comm: Comm, stream: usize) -> c_int;
    fn ncclRecv(receive: usize, count: usize, kind: c_int, peer: c_int, comm: Comm, stream: usize) -> c_int;
}

/// The library's file, which cargo builds beside the tests.
pub(crate) fn library() -> std::path::PathBuf {
    let executable = std::env::current_exe().expect("a test knows its executable");
    executable.with_file_name("libnccl_sim.so")
}

/// Returns a symbol of the library.
pub(crate) fn symbol(name: &str) -> Option<*mut c_void> {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    let library = *LIBRARY.get_or_init(|| {
        let path = CString::new(library().into_os_string().into_encoded_bytes()).expect("a path");
        // SAFETY: the library's initialisers do nothing.
        let opened = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        assert!(!opened.is_null(), "{path:?} cannot be opened");
        opened as usize
    });
    let name = CString::new(name).expect("a name");
    // SAFETY: the library is open and the name a C string.
    let found = unsafe { libc::dlsym(library as *mut c_void, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// The library, with this process's software device as its driver.
fn nccl() -> &'static Nccl {
    static NCCL: OnceLock<Nccl> = OnceLock::new();
    NCCL.get_or_init(|| {
        let nccl = Nccl::load();
        let lookup = driver().cuGetProcAddress_v2().expect("the software device has it");
        let adopt = symbol("ncclSimSetDriver").expect("the library's own function");
        // SAFETY: the symbol is the function of this name, which takes a function's address.
        let adopt = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> c_int>(adopt) };
        // SAFETY: the function is the software device's.
        assert_eq!(unsafe { adopt(lookup as *mut c_void) }, SUCCESS);
        nccl
    })
}

/// The software device, with several devices.
pub(crate) fn driver() -> &'static DriverApi {
    static DRIVER: OnceLock<Arc<DriverApi>> = OnceLock::new();
    DRIVER.get_or_init(|| {
        // SAFETY: nothing else in these tests reads or writes the environment before the driver is there.
        unsafe { std::env::set_var("CUDA_SIM_DEVICES", DEVICES.to_string()) };
        let api = cuda_sim::driver_api();
        // SAFETY: the function takes a number.
        assert_eq!(unsafe { (api.cuInit().expect("cuInit"))(0) }, CUresult::CUDA_SUCCESS);
        api
    })
}

/// Calls a function of the driver, which must succeed.
macro_rules! cuda {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let function = crate::support::driver().$name().expect(stringify!($name));
        // SAFETY: the arguments are what the manual asks for, and live through the call.
        let status = unsafe { function($($argument),*) };
        assert_eq!(status, cuda_sys::CUresult::CUDA_SUCCESS, stringify!($name));
    }};
}
pub(crate) use cuda;

/// Calls a function of NCCL, which must succeed.
macro_rules! ok {
    ($call:expr) => {{
        let code = $call;
        assert_eq!(code, crate::support::SUCCESS, "{}: {}", stringify!($call), crate::support::last_error(0));
    }};
}
pub(crate) use ok;

/// Makes a device's context the thread's current one.
pub(crate) fn set_device(device: usize) {
    let mut context: CUcontext = std::ptr::null_mut();
    cuda!(cuDevicePrimaryCtxRetain(&raw mut context, device as c_int));
    cuda!(cuCtxSetCurrent(context));
}

/// Device memory of the current device.
pub(crate) struct Memory {
    pub(crate) at: usize,
}

impl Memory {
    pub(crate) fn new(bytes: usize) -> Memory {
        let mut at = 0;
        cuda!(cuMemAlloc_v2(&raw mut at, bytes.max(1)));
        Memory { at: at as usize }
    }

    pub(crate) fn of<T: Copy>(values: &[T]) -> Memory {
        let memory = Memory::new(size_of_val(values));
        memory.write(values);
        memory
    }

    pub(crate) fn write<T: Copy>(&self, values: &[T]) {
        cuda!(cuMemcpyHtoD_v2(self.at as u64, values.as_ptr().cast(), size_of_val(values)));
    }

    pub(crate) fn read<T: Copy + Default>(&self, count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        cuda!(cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), self.at as u64, size_of_val(&values[..])));
        values
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        cuda!(cuMemFree_v2(self.at as u64));
    }
}

/// A stream of the current device.
pub(crate) struct Stream(pub(crate) usize);

impl Stream {
    pub(crate) fn new() -> Stream {
        let mut stream: CUstream = std::ptr::null_mut();
        cuda!(cuStreamCreate(&raw mut stream, 1));
        Stream(stream as usize)
    }

    pub(crate) fn raw(&self) -> CUstream {
        self.0 as CUstream
    }

    pub(crate) fn wait(&self) {
        cuda!(cuStreamSynchronize(self.raw()));
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        cuda!(cuStreamDestroy_v2(self.raw()));
    }
}

pub(crate) fn unique_id() -> Id {
    let mut id = Id([0; 128]);
    ok!(ncclGetUniqueId(&raw mut id));
    id
}

/// Returns the text of the last error.
pub(crate) fn last_error(comm: Comm) -> String {
    // SAFETY: the library returns a C string that lives until this thread's next call.
    unsafe { CStr::from_ptr(ncclGetLastError(comm)) }.to_string_lossy().into_owned()
}

/// Returns the asynchronous error of a communicator.
pub(crate) fn asynchronous(comm: Comm) -> c_int {
    let mut code = -1;
    ok!(ncclCommGetAsyncError(comm, &raw mut code));
    code
}

/// A rank of a communicator, with a stream of its device.
pub(crate) struct Rank {
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    pub(crate) comm: Comm,
    pub(crate) stream: Stream,
}

impl Rank {
    /// Initialises a rank on a device of this process.
    pub(crate) fn join(id: Id, ranks: usize, rank: usize) -> Rank {
        set_device(rank % DEVICES);
        let mut comm = 0;
        ok!(ncclCommInitRank(&raw mut comm, ranks as c_int, id, rank as c_int));
        Rank { rank, ranks, comm, stream: Stream::new() }
    }

    pub(crate) fn wait(&self) {
        self.stream.wait();
        assert_eq!(asynchronous(self.comm), SUCCESS, "{}", last_error(self.comm));
    }

    pub(crate) fn all_reduce(&self, values: &[f32]) -> Vec<f32> {
        let memory = Memory::of(values);
        ok!(ncclAllReduce(memory.at, memory.at, values.len(), FLOAT, SUM, self.comm, self.stream.0));
        self.wait();
        memory.read(values.len())
    }

    pub(crate) fn destroy(self) {
        ok!(ncclCommDestroy(self.comm));
    }
}

/// Runs `body` as each of the ranks, on threads.
///
/// One test at a time: freeing memory waits for the whole device, also for another test's operation that waits for its peers.
pub(crate) fn threads(ranks: usize, body: impl Fn(Rank) + Sync) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    nccl();
    let id = unique_id();
    std::thread::scope(|scope| {
        for rank in 0..ranks {
            let body = &body;
            scope.spawn(move || body(Rank::join(id, ranks, rank)));
        }
    });
}

/// The variable that tells a test's process which rank it is.
const ROLE: &str = "NCCL_SIM_TEST_ROLE";

/// Returns this process's rank, the number of ranks and the id, if it was started as a rank.
pub(crate) fn role() -> Option<(usize, usize, Id)> {
    let role = std::env::var(ROLE).ok()?;
    let mut parts = role.split(':');
    let mut number = || parts.next().and_then(|part| part.parse().ok()).expect("a number");
    let (rank, ranks) = (number(), number());
    let mut id = Id([0; 128]);
    let name = parts.next().expect("an id").as_bytes();
    id.0[..name.len()].copy_from_slice(name);
    nccl();
    Some((rank, ranks, id))
}

/// Starts this executable as a rank, which runs the test of this name.
pub(crate) fn start(test: &str, rank: usize, ranks: usize, id: &Id) -> Child {
    let name: String = id.0.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte)).collect();
    let mut command = Command::new(std::env::current_exe().expect("a test knows its executable"));
    command.args([test, "--exact", "--nocapture"]).env(ROLE, format!("{rank}:{ranks}:{name}"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Runs `body` as each of the ranks, on processes: the test of this name is started again for each.
pub(crate) fn processes(test: &str, ranks: usize, body: impl FnOnce(Rank)) {
    if let Some((rank, ranks, id)) = role() {
        return body(Rank::join(id, ranks, rank));
    }
    nccl();
    let id = unique_id();
    let children: Vec<_> = (0..ranks).map(|rank| start(test, rank, ranks, &id)).collect();
    for (rank, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "rank {rank}: {text}");
    }
}
