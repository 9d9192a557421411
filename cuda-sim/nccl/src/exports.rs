//! The C functions of `nccl.h`, each also under its profiling name with `p` in front.
//!
//! A function body returns a [`Result`]; its failure is stored for `ncclGetLastError`, noted in the group, and returned as a
//! code. Functions that need what software devices have not, such as windows that peers write into, are there and return
//! `ncclInvalidUsage`.
//!
//! # Safety
//!
//! Pointers come from C: each is null, which is checked, or valid for the call as the header says.

use crate::abi::{
    CallConfig, Code, Config, EncryptionConfig, RawCommunicator, RawStream, SIM_INFO_MAGIC, SimInfo, UniqueId, VERSION,
    text,
};
use crate::call::{Call, Function};
use crate::check;
use crate::communicator::{Communicator, locked, of_handle};
use crate::create::{Out, by_id, by_shrink, by_split, for_devices};
use crate::driver::{self, Context, call};
use crate::element::{LARGEST, Operator, Scale};
use crate::failure::{self, Failure, Level, Result, message, record};
use crate::group;
use crate::segment::new_id;
use cuda_sys::nccl::NCCL_UNDEF_FLOAT;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Defines C functions that return a code, under both names.
macro_rules! api {
    ($(fn $name:ident / $profiled:ident ($($arg:ident: $ty:ty),* $(,)?) $body:block)+) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $ty),*) -> Code {
            guarded(stringify!($name), move || -> Result<()> { $body })
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $profiled($($arg: $ty),*) -> Code {
            // SAFETY: both functions have the same contract, which the caller keeps.
            unsafe { $name($($arg),*) }
        }
    )+ };
}

/// Defines C functions that software devices have no use for.
macro_rules! unsupported {
    ($(fn $name:ident / $profiled:ident ($($arg:ident: $ty:ty),* $(,)?);)+) => { api! { $(
        fn $name / $profiled ($($arg: $ty),*) {
            let _ = ($($arg,)*);
            Err(Failure::usage(concat!(stringify!($name), " is not there in the software NCCL")))
        }
    )+ } };
}

/// Runs the body of a C function.
fn guarded(name: &str, body: impl FnOnce() -> Result<()>) -> Code {
    let ended = catch_unwind(AssertUnwindSafe(body));
    let ended = ended.unwrap_or_else(|_| {
        Err(Failure::new(Code::ncclInternalError, format!("{name} panicked: a defect of the software NCCL")))
    });
    match ended {
        Ok(()) => Code::ncclSuccess,
        Err(failure) => {
            if failure.code != Code::ncclInProgress {
                record(&failure, None);
                group::note(&failure);
            }
            failure.code
        }
    }
}

/// Writes a result.
fn put<T>(function: &str, name: &str, to: *mut T, value: T) -> Result<()> {
    check::pointer(function, name, to)?;
    // SAFETY: the pointer is not null, and by the header's contract valid for a write.
    unsafe { to.write(value) };
    Ok(())
}

/// Reads an argument.
fn get<T: Copy>(function: &str, name: &str, from: *const T) -> Result<T> {
    check::pointer(function, name, from)?;
    // SAFETY: the pointer is not null, and by the header's contract valid for a read.
    Ok(unsafe { from.read() })
}

/// Reads an array of arguments.
fn list<T: Copy>(function: &str, name: &str, from: *const T, count: usize) -> Result<Vec<T>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    check::pointer(function, name, from)?;
    // SAFETY: the pointer is not null, and by the header's contract valid for as many reads.
    Ok(unsafe { std::slice::from_raw_parts(from, count) }.to_vec())
}

/// Returns true if the client's configuration asks for a blocking communicator.
fn is_blocking(config: *const Config, inherited: bool) -> Result<bool> {
    // SAFETY: the header requires a configuration that lives through the call, or null.
    unsafe { check::blocks(config, inherited) }
}

/// The arguments of a communication function, as C passes them.
struct Arguments {
    function: Function,
    send: *const c_void,
    receive: *mut c_void,
    count: usize,
    kind: c_int,
    operator: c_int,
    root: c_int,
    communicator: RawCommunicator,
    stream: RawStream,
}

/// Checks a call and enqueues it.
fn communicate(arguments: Arguments) -> Result<()> {
    let Arguments { function, send, receive, count, kind, operator, root, communicator, stream } = arguments;
    let communicator = of_handle(communicator)?;
    communicator.ready()?;
    let name = function.name();
    let kind = check::data_type(name, kind)?;
    let operator = if function.reduces() { communicator.operator(operator, kind)? } else { Operator::Sum };
    let root = match function.has_root() {
        true => check::rank(&communicator, name, "root", root)?,
        false if function.is_collective() => 0,
        false => check::rank(&communicator, name, "peer", root)?,
    };
    let (send, receive) = (send.expose_provenance(), receive.expose_provenance());
    let call = Call { function, send, receive, count, kind, operator, root };
    check::buffers(&communicator, &call)?;
    group::call(communicator, stream, call)
}

/// Defines the collectives, each also with a configuration.
macro_rules! collectives {
    ($($function:ident: $name:ident / $profiled:ident, $with:ident / $with_profiled:ident
        ($($arg:ident: $ty:ty),*) { $operator:expr, $root:expr };)+) => { api! { $(
        fn $name / $profiled (
            sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: c_int, $($arg: $ty,)*
            comm: RawCommunicator, stream: RawStream,
        ) {
            communicate(Arguments {
                function: Function::$function, send: sendbuff, receive: recvbuff, count, kind: datatype,
                operator: $operator, root: $root, communicator: comm, stream,
            })
        }
        fn $with / $with_profiled (
            sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: c_int, $($arg: $ty,)*
            comm: RawCommunicator, stream: RawStream, config: *const CallConfig,
        ) {
            // SAFETY: the header requires a configuration that lives through the call, or null.
            unsafe { check::call_config(stringify!($with), config) }?;
            communicate(Arguments {
                function: Function::$function, send: sendbuff, receive: recvbuff, count, kind: datatype,
                operator: $operator, root: $root, communicator: comm, stream,
            })
        }
    )+ } };
}

collectives! {
    AllReduce: ncclAllReduce / pncclAllReduce, ncclAllReduceConfig / pncclAllReduceConfig (op: c_int) { op, 0 };
    Broadcast: ncclBroadcast / pncclBroadcast, ncclBroadcastConfig / pncclBroadcastConfig (root: c_int) { 0, root };
    Reduce: ncclReduce / pncclReduce, ncclReduceConfig / pncclReduceConfig (op: c_int, root: c_int) { op, root };
    AllGather: ncclAllGather / pncclAllGather, ncclAllGatherConfig / pncclAllGatherConfig () { 0, 0 };
    ReduceScatter: ncclReduceScatter / pncclReduceScatter, ncclReduceScatterConfig / pncclReduceScatterConfig
        (op: c_int) { op, 0 };
    AllToAll: ncclAlltoAll / pncclAlltoAll, ncclAlltoAllConfig / pncclAlltoAllConfig () { 0, 0 };
    Gather: ncclGather / pncclGather, ncclGatherConfig / pncclGatherConfig (root: c_int) { 0, root };
    Scatter: ncclScatter / pncclScatter, ncclScatterConfig / pncclScatterConfig (root: c_int) { 0, root };
}

/// The number of the last handle of a registration.
static REGISTRATIONS: AtomicUsize = AtomicUsize::new(0x7200);

/// Registers memory with a communicator, and returns the handle.
fn register(function: &str, comm: RawCommunicator, buff: *mut c_void) -> Result<*mut c_void> {
    let communicator = of_handle(comm)?;
    check::pointer(function, "buff", buff)?;
    let handle = REGISTRATIONS.fetch_add(16, Ordering::Relaxed);
    locked(&communicator.registered).insert(handle, buff.expose_provenance());
    Ok(std::ptr::without_provenance_mut(handle))
}

/// Removes a registration.
fn deregister(function: &str, comm: RawCommunicator, handle: *mut c_void) -> Result<()> {
    let known = locked(&of_handle(comm)?.registered).remove(&handle.addr());
    known
        .map(drop)
        .ok_or_else(|| Failure::argument(format!("{function} : {handle:p} is no handle of this communicator")))
}

/// Runs `body` in the thread's context, or in that of device 0 if there is none.
fn in_context<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    Context::retain(driver::current_device()?)?.within(body)
}

/// Returns the communicator of an operation that NULL ends without an error.
fn unless_null(comm: RawCommunicator) -> Result<Option<Arc<Communicator>>> {
    if comm.is_null() { Ok(None) } else { of_handle(comm).map(Some) }
}

api! {
    fn ncclGetVersion / pncclGetVersion (version: *mut c_int) { put("GetVersion", "version", version, VERSION) }
    fn ncclGetUniqueId / pncclGetUniqueId (id: *mut UniqueId) {
        check::pointer("GetUniqueId", "out", id)?;
        put("GetUniqueId", "out", id, new_id()?)
    }
    fn ncclMemAlloc / pncclMemAlloc (ptr: *mut *mut c_void, size: usize) {
        check::pointer("ncclMemAlloc", "ptr", ptr)?;
        let mut address = 0u64;
        if size > 0 {
            in_context(|| call!(cuMemAlloc_v2(&raw mut address, size)))?;
        }
        put("ncclMemAlloc", "ptr", ptr, std::ptr::with_exposed_provenance_mut(address as usize))
    }
    fn ncclMemFree / pncclMemFree (ptr: *mut c_void) {
        if ptr.is_null() {
            return Ok(());
        }
        in_context(|| call!(cuMemFree_v2(ptr.addr() as u64)))
    }
    fn ncclCommInitRank / pncclCommInitRank (comm: *mut RawCommunicator, nranks: c_int, id: UniqueId, rank: c_int) {
        check::pointer("CommInitRank", "newcomm", comm)?;
        by_id(Out(comm), nranks, id, rank, is_blocking(std::ptr::null(), true)?)
    }
    fn ncclCommInitRankConfig / pncclCommInitRankConfig (
        comm: *mut RawCommunicator, nranks: c_int, id: UniqueId, rank: c_int, config: *mut Config,
    ) {
        check::pointer("CommInitRankConfig", "newcomm", comm)?;
        by_id(Out(comm), nranks, id, rank, is_blocking(config, true)?)
    }
    fn ncclCommInitRankScalable / pncclCommInitRankScalable (
        comm: *mut RawCommunicator, nranks: c_int, rank: c_int, ids: c_int, id: *mut UniqueId, config: *mut Config,
    ) {
        check::pointer("CommInitRankScalable", "newcomm", comm)?;
        if ids < 1 || ids > nranks {
            return Err(Failure::argument(format!("improper usage of ncclCommInitRankScalable: nId = {ids}, nranks={nranks}")));
        }
        // The ids only spread the work of the start in NCCL; one is enough to meet.
        by_id(Out(comm), nranks, get("CommInitRankScalable", "commIds", id)?, rank, is_blocking(config, true)?)
    }
    fn ncclCommInitAll / pncclCommInitAll (comms: *mut RawCommunicator, ndev: c_int, devlist: *const c_int) {
        check::pointer("CommInitAll", "comms", comms)?;
        let count = usize::try_from(ndev).map_err(|_| Failure::argument(format!("Invalid device count requested : {ndev}")))?;
        let devices = if devlist.is_null() { None } else { Some(list("CommInitAll", "devlist", devlist, count)?) };
        let outs: Vec<Out> = (0..count).map(|at| Out(comms.wrapping_add(at))).collect();
        for_devices(&outs, devices.as_deref())
    }
    fn ncclCommFinalize / pncclCommFinalize (comm: RawCommunicator) {
        unless_null(comm)?.map_or(Ok(()), |communicator| communicator.finalize())
    }
    fn ncclCommDestroy / pncclCommDestroy (comm: RawCommunicator) {
        if let Some(communicator) = unless_null(comm)? {
            communicator.destroy();
        }
        Ok(())
    }
    fn ncclCommAbort / pncclCommAbort (comm: RawCommunicator) {
        if let Some(communicator) = unless_null(comm)? {
            communicator.abort();
        }
        Ok(())
    }
    fn ncclCommRevoke / pncclCommRevoke (comm: RawCommunicator, flags: c_int) {
        if flags != 0 {
            return Err(Failure::argument(format!("ncclCommRevoke : revokeFlags must be NCCL_REVOKE_DEFAULT, not {flags}")));
        }
        of_handle(comm)?.revoke();
        Ok(())
    }
    fn ncclCommSplit / pncclCommSplit (
        comm: RawCommunicator, color: c_int, key: c_int, newcomm: *mut RawCommunicator, config: *mut Config,
    ) {
        let parent = of_handle(comm)?;
        check::pointer("CommSplit", "newcomm", newcomm)?;
        let blocking = is_blocking(config, parent.blocking)?;
        by_split(parent, color, key, Out(newcomm), blocking)
    }
    fn ncclCommShrink / pncclCommShrink (
        comm: RawCommunicator, exclude: *mut c_int, count: c_int, newcomm: *mut RawCommunicator, config: *mut Config,
        flags: c_int,
    ) {
        let parent = of_handle(comm)?;
        check::pointer("CommShrink", "newcomm", newcomm)?;
        let blocking = is_blocking(config, parent.blocking)?;
        let count = usize::try_from(count).ok().filter(|count| *count > 0 && *count < parent.ranks);
        let count = count.ok_or_else(|| Failure::argument("ncclCommShrink : the number of excluded ranks is out of range"))?;
        let excluded = list("CommShrink", "excludeRanksList", exclude.cast_const(), count)?;
        by_shrink(parent, &excluded, Out(newcomm), blocking, flags)
    }
    fn ncclCommGetAsyncError / pncclCommGetAsyncError (comm: RawCommunicator, error: *mut Code) {
        let communicator = of_handle(comm)?;
        let state = communicator.asynchronous().map_or(Code::ncclSuccess, |failure| failure.code);
        put("ncclGetAsyncError", "asyncError", error, state)
    }
    fn ncclCommCount / pncclCommCount (comm: RawCommunicator, count: *mut c_int) {
        put("CommCount", "count", count, of_handle(comm)?.ranks as c_int)
    }
    fn ncclCommCuDevice / pncclCommCuDevice (comm: RawCommunicator, device: *mut c_int) {
        put("CommCuDevice", "devid", device, of_handle(comm)?.device)
    }
    fn ncclCommUserRank / pncclCommUserRank (comm: RawCommunicator, rank: *mut c_int) {
        put("CommUserRank", "rank", rank, of_handle(comm)?.rank as c_int)
    }
    fn ncclCommRegister / pncclCommRegister (
        comm: RawCommunicator, buff: *mut c_void, size: usize, handle: *mut *mut c_void,
    ) {
        check::pointer("CommRegister", "handle", handle)?;
        let _ = size;
        put("CommRegister", "handle", handle, register("CommRegister", comm, buff)?)
    }
    fn ncclCommDeregister / pncclCommDeregister (comm: RawCommunicator, handle: *mut c_void) {
        deregister("CommDeregister", comm, handle)
    }
    fn ncclCommWindowRegister / pncclCommWindowRegister (
        comm: RawCommunicator, buff: *mut c_void, size: usize, win: *mut *mut c_void, flags: c_int,
    ) {
        check::pointer("ncclCommWindowRegister", "win", win)?;
        let _ = (size, flags);
        put("ncclCommWindowRegister", "win", win, register("ncclCommWindowRegister", comm, buff)?)
    }
    fn ncclCommWindowDeregister / pncclCommWindowDeregister (comm: RawCommunicator, win: *mut c_void) {
        deregister("ncclCommWindowDeregister", comm, win)
    }
    fn ncclWinGetUserPtr / pncclWinGetUserPtr (comm: RawCommunicator, win: *mut c_void, out: *mut *mut c_void) {
        let communicator = of_handle(comm)?;
        let known = locked(&communicator.registered).get(&win.addr()).copied();
        let known = known.ok_or_else(|| Failure::argument("ncclWinGetUserPtr : the window is none of this communicator"))?;
        put("ncclWinGetUserPtr", "outUserPtr", out, std::ptr::with_exposed_provenance_mut(known))
    }
    fn ncclCommSuspend / pncclCommSuspend (comm: RawCommunicator, flags: c_int) {
        // There is no memory of devices to release.
        let _ = flags;
        of_handle(comm)?.ready()
    }
    fn ncclCommResume / pncclCommResume (comm: RawCommunicator) { of_handle(comm)?.ready() }
    fn ncclCommMemStats / pncclCommMemStats (comm: RawCommunicator, stat: c_int, value: *mut u64) {
        of_handle(comm)?;
        if !(0..=3).contains(&stat) {
            return Err(Failure::argument(format!("ncclCommMemStats : invalid stat {stat}")));
        }
        // The library takes no memory of the devices.
        put("ncclCommMemStats", "value", value, 0)
    }
    fn ncclRedOpCreatePreMulSum / pncclRedOpCreatePreMulSum (
        op: *mut c_int, scalar: *mut c_void, datatype: c_int, residence: c_int, comm: RawCommunicator,
    ) {
        let communicator = of_handle(comm)?;
        communicator.ready()?;
        let kind = check::data_type("ncclRedOpCreatePreMulSum", datatype)?;
        check::pointer("ncclRedOpCreatePreMulSum", "op", op)?;
        check::pointer("ncclRedOpCreatePreMulSum", "scalar", scalar)?;
        let factor = match residence {
            0 => Scale::Device(scalar.expose_provenance() as u64),
            1 => {
                let mut bytes = [0u8; LARGEST];
                // SAFETY: by the header's contract the scalar is readable, and an element has at most so many bytes.
                unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(scalar.cast(), kind.size()) };
                Scale::Immediate(bytes)
            }
            other => return Err(Failure::argument(format!("ncclRedOpCreatePreMulSum : invalid residence {other}"))),
        };
        put("ncclRedOpCreatePreMulSum", "op", op, communicator.add_operator(kind, Operator::Scaled(factor)))
    }
    fn ncclRedOpDestroy / pncclRedOpDestroy (op: c_int, comm: RawCommunicator) { of_handle(comm)?.remove_operator(op) }
    fn ncclBcast / pncclBcast (
        buff: *mut c_void, count: usize, datatype: c_int, root: c_int, comm: RawCommunicator, stream: RawStream,
    ) {
        communicate(Arguments {
            function: Function::Broadcast, send: buff, receive: buff, count, kind: datatype, operator: 0, root,
            communicator: comm, stream,
        })
    }
    fn ncclSend / pncclSend (
        buff: *const c_void, count: usize, datatype: c_int, peer: c_int, comm: RawCommunicator, stream: RawStream,
    ) {
        communicate(Arguments {
            function: Function::Send, send: buff, receive: std::ptr::null_mut(), count, kind: datatype, operator: 0,
            root: peer, communicator: comm, stream,
        })
    }
    fn ncclRecv / pncclRecv (
        buff: *mut c_void, count: usize, datatype: c_int, peer: c_int, comm: RawCommunicator, stream: RawStream,
    ) {
        communicate(Arguments {
            function: Function::Receive, send: std::ptr::null(), receive: buff, count, kind: datatype, operator: 0,
            root: peer, communicator: comm, stream,
        })
    }
    fn ncclGroupStart / pncclGroupStart () {
        group::start();
        Ok(())
    }
    fn ncclGroupEnd / pncclGroupEnd () { group::end() }
    fn ncclGroupSimulateEnd / pncclGroupSimulateEnd (info: *mut SimInfo) {
        // SAFETY: the header requires a structure that lives through the call, or null.
        if let Some(info) = unsafe { info.as_mut() } {
            if info.magic != SIM_INFO_MAGIC {
                let text = "ncclSimInfo_t argument not initialized via NCCL_SIM_INFO_INITIALIZER";
                return Err(Failure::argument(text));
            }
            // There is no model of the time that software devices take.
            info.estimatedTime = NCCL_UNDEF_FLOAT as f32;
        }
        group::forget()
    }
    fn ncclSetEncryption / pncclSetEncryption (config: *const EncryptionConfig) {
        check::pointer("ncclSetEncryption", "config", config)?;
        // SAFETY: the pointer is not null, and by the header's contract valid for a read.
        match unsafe { (*config).mode } {
            0 => Ok(()),
            _ => Err(Failure::usage("ncclSetEncryption : the software NCCL has no sockets to encrypt")),
        }
    }
}

unsupported! {
    fn ncclCommGetUniqueId / pncclCommGetUniqueId (comm: RawCommunicator, id: *mut UniqueId);
    fn ncclCommGrow / pncclCommGrow (
        comm: RawCommunicator, ranks: c_int, id: *const UniqueId, rank: c_int, newcomm: *mut RawCommunicator,
        config: *mut Config,
    );
    fn ncclPutSignal / pncclPutSignal (
        buff: *const c_void, count: usize, datatype: c_int, peer: c_int, win: *mut c_void, offset: usize, signal: c_int,
        ctx: c_int, flags: c_uint, comm: RawCommunicator, stream: RawStream,
    );
    fn ncclSignal / pncclSignal (
        peer: c_int, signal: c_int, ctx: c_int, flags: c_uint, comm: RawCommunicator, stream: RawStream,
    );
    fn ncclWaitSignal / pncclWaitSignal (count: c_int, signals: *mut c_void, comm: RawCommunicator, stream: RawStream);
    fn ncclParamBind / pncclParamBind (out: *mut *mut c_void, key: *const c_char);
    fn ncclParamGetI8 / pncclParamGetI8 (handle: *mut c_void, out: *mut i8);
    fn ncclParamGetI16 / pncclParamGetI16 (handle: *mut c_void, out: *mut i16);
    fn ncclParamGetI32 / pncclParamGetI32 (handle: *mut c_void, out: *mut i32);
    fn ncclParamGetI64 / pncclParamGetI64 (handle: *mut c_void, out: *mut i64);
    fn ncclParamGetU8 / pncclParamGetU8 (handle: *mut c_void, out: *mut u8);
    fn ncclParamGetU16 / pncclParamGetU16 (handle: *mut c_void, out: *mut u16);
    fn ncclParamGetU32 / pncclParamGetU32 (handle: *mut c_void, out: *mut u32);
    fn ncclParamGetU64 / pncclParamGetU64 (handle: *mut c_void, out: *mut u64);
    fn ncclParamGetStr / pncclParamGetStr (handle: *mut c_void, out: *mut *const c_char);
    fn ncclParamGet / pncclParamGet (handle: *mut c_void, out: *mut c_void, most: c_int, bytes: *mut c_int);
    fn ncclParamGetParameter / pncclParamGetParameter (key: *const c_char, value: *mut *const c_char, bytes: *mut c_int);
    fn ncclParamGetAllParameterKeys / pncclParamGetAllParameterKeys (table: *mut *mut *const c_char, count: *mut c_int);
}

/// Makes the software device that a program contains the driver of this library. It is no function of NCCL: a program that is
/// linked with the device, which exports no symbols, calls it before all others with its `cuGetProcAddress_v2`.
///
/// # Safety
///
/// The function is that of a CUDA driver.
#[unsafe(no_mangle)]
unsafe extern "C" fn ncclSimSetDriver(lookup: Option<driver::ProcAddress>) -> Code {
    guarded("ncclSimSetDriver", || {
        let lookup = lookup.ok_or_else(|| Failure::argument("ncclSimSetDriver : lookup argument is NULL"))?;
        // SAFETY: the caller promises that it is a driver's function.
        unsafe { driver::adopt(lookup) }
    })
}

/// Returns the text of a code.
#[unsafe(no_mangle)]
extern "C" fn ncclGetErrorString(code: Code) -> *const c_char {
    text(code).as_ptr()
}

/// As `ncclGetErrorString`.
#[unsafe(no_mangle)]
extern "C" fn pncclGetErrorString(code: Code) -> *const c_char {
    ncclGetErrorString(code)
}

/// Returns the text of a communicator's error, or of the process's last one.
#[unsafe(no_mangle)]
extern "C" fn ncclGetLastError(comm: RawCommunicator) -> *const c_char {
    let of_communicator = of_handle(comm).ok().and_then(|communicator| communicator.asynchronous());
    let text = of_communicator.map_or_else(failure::last, |failure| failure.text);
    failure::returned(&text)
}

/// As `ncclGetLastError`.
#[unsafe(no_mangle)]
extern "C" fn pncclGetLastError(comm: RawCommunicator) -> *const c_char {
    ncclGetLastError(comm)
}

/// Reads `NCCL_DEBUG` again.
#[unsafe(no_mangle)]
extern "C" fn ncclResetDebugInit() {
    failure::reset();
}

/// As `ncclResetDebugInit`.
#[unsafe(no_mangle)]
extern "C" fn pncclResetDebugInit() {
    failure::reset();
}

/// Says that there are no parameters.
#[unsafe(no_mangle)]
extern "C" fn ncclParamDumpAll() {
    message(Level::Info, None, || "the software NCCL has no parameters".to_owned());
}

/// As `ncclParamDumpAll`.
#[unsafe(no_mangle)]
extern "C" fn pncclParamDumpAll() {
    ncclParamDumpAll();
}
