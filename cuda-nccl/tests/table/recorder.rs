//! An NCCL that moves nothing: it records its calls, and reports the states that a test sets.
//!
//! # Safety
//!
//! Handles are addresses of [`Comm`]s that are never freed. Outputs are written to where the callers' pointers point, as NCCL
//! does.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

use cuda_nccl::Nccl;
use cuda_sys::nccl::{
    NcclApi, NcclFns, cudaStream_t, ncclComm_t, ncclConfig_t, ncclDataType_t, ncclRedOp_t, ncclResult_t, ncclUniqueId,
};

const OK: ncclResult_t = ncclResult_t::ncclSuccess;

/// A communicator.
pub(crate) struct Comm {
    pub(crate) rank: c_int,
    pub(crate) size: c_int,
    /// The asynchronous status.
    pub(crate) state: AtomicU32,
    /// The number of queries after which a status "in progress" becomes success.
    pub(crate) progress: AtomicU32,
    /// The status of the next operation.
    pub(crate) next: AtomicU32,
    pub(crate) aborted: AtomicBool,
    pub(crate) destroyed: AtomicBool,
}

impl Comm {
    /// The handle of a new communicator.
    fn handle(rank: c_int, size: c_int) -> ncclComm_t {
        let (state, progress, next) = (AtomicU32::new(0), AtomicU32::new(2), AtomicU32::new(0));
        let (aborted, destroyed) = (AtomicBool::new(false), AtomicBool::new(false));
        let comm = Comm { rank, size, state, progress, next, aborted, destroyed };
        // It is leaked, since tests look at communicators that are gone.
        std::ptr::from_ref(Box::leak(Box::new(comm))).cast_mut().cast()
    }
}

/// The communicator of a handle.
pub(crate) fn of(handle: ncclComm_t) -> &'static Comm {
    // SAFETY: handles are addresses of leaked communicators.
    unsafe { &*handle.cast::<Comm>() }
}

thread_local! {
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// The status of the next creation of a communicator.
    pub(crate) static CREATION: RefCell<ncclResult_t> = const { RefCell::new(OK) };
}

/// The calls of this thread since the last look.
pub(crate) fn calls() -> Vec<String> {
    CALLS.take()
}

fn record(call: String) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

/// Records an operation, and returns the status that it shall have.
fn operation(call: String, comm: ncclComm_t) -> ncclResult_t {
    record(call);
    let next = ncclResult_t(of(comm).next.swap(0, SeqCst));
    if next == ncclResult_t::ncclInProgress {
        of(comm).state.store(next.0, SeqCst);
    }
    next
}

unsafe extern "C" fn version(out: *mut c_int) -> ncclResult_t {
    // SAFETY: the caller passes an integer.
    unsafe { out.write(23203) };
    OK
}

unsafe extern "C" fn unique_id(out: *mut ncclUniqueId) -> ncclResult_t {
    // SAFETY: the caller passes an identifier.
    unsafe { out.write(ncclUniqueId { internal: [1; 128] }) };
    OK
}

unsafe extern "C" fn init(
    out: *mut ncclComm_t,
    size: c_int,
    _: ncclUniqueId,
    rank: c_int,
    config: *mut ncclConfig_t,
) -> ncclResult_t {
    // SAFETY: the caller passes a configuration.
    let config = unsafe { &*config };
    assert_eq!((config.blocking, config.size), (0, size_of::<ncclConfig_t>()));
    let status = CREATION.replace(OK);
    if matches!(status, OK | ncclResult_t::ncclInProgress) {
        let comm = Comm::handle(rank, size);
        of(comm).state.store(status.0, SeqCst);
        // SAFETY: the caller passes a handle.
        unsafe { out.write(comm) };
    }
    status
}

unsafe extern "C" fn async_error(comm: ncclComm_t, out: *mut ncclResult_t) -> ncclResult_t {
    let comm = of(comm);
    assert!(!comm.aborted.load(SeqCst) && !comm.destroyed.load(SeqCst), "a handle was used after its end");
    let state = comm.state.load(SeqCst);
    if state == ncclResult_t::ncclInProgress.0 && comm.progress.fetch_sub(1, SeqCst) == 1 {
        comm.state.store(0, SeqCst);
    }
    // SAFETY: the caller passes a status.
    unsafe { out.write(ncclResult_t(state)) };
    OK
}

unsafe extern "C" fn group_start() -> ncclResult_t {
    record("start".into());
    OK
}

unsafe extern "C" fn group_end() -> ncclResult_t {
    record("end".into());
    OK
}

unsafe extern "C" fn abort(comm: ncclComm_t) -> ncclResult_t {
    assert!(!of(comm).aborted.swap(true, SeqCst));
    OK
}

unsafe extern "C" fn destroy(comm: ncclComm_t) -> ncclResult_t {
    assert!(!of(comm).destroyed.swap(true, SeqCst) && !of(comm).aborted.load(SeqCst));
    OK
}

unsafe extern "C" fn split(
    comm: ncclComm_t,
    color: c_int,
    key: c_int,
    out: *mut ncclComm_t,
    _: *mut ncclConfig_t,
) -> ncclResult_t {
    record(format!("split {color} {key}"));
    let new = if color < 0 { std::ptr::null_mut() } else { Comm::handle(0, of(comm).size - 1) };
    // SAFETY: the caller passes a handle.
    unsafe { out.write(new) };
    OK
}

unsafe extern "C" fn user_rank(comm: ncclComm_t, out: *mut c_int) -> ncclResult_t {
    // SAFETY: the caller passes an integer.
    unsafe { out.write(of(comm).rank) };
    OK
}

unsafe extern "C" fn count(comm: ncclComm_t, out: *mut c_int) -> ncclResult_t {
    // SAFETY: the caller passes an integer.
    unsafe { out.write(of(comm).size) };
    OK
}

unsafe extern "C" fn error_string(code: ncclResult_t) -> *const c_char {
    let text: &CStr = if code == ncclResult_t::ncclRemoteError { c"a peer is gone" } else { c"some text" };
    text.as_ptr()
}

unsafe extern "C" fn last_error(_: ncclComm_t) -> *const c_char {
    c"socket closed".as_ptr()
}

type In = *const c_void;
type Out = *mut c_void;

unsafe extern "C" fn all_reduce(
    send: In,
    recv: Out,
    n: usize,
    ty: ncclDataType_t,
    op: ncclRedOp_t,
    comm: ncclComm_t,
    _: cudaStream_t,
) -> ncclResult_t {
    operation(format!("all_reduce {send:p} {recv:p} {n} {ty:?} {op:?}"), comm)
}

unsafe extern "C" fn reduce(
    send: In,
    recv: Out,
    n: usize,
    ty: ncclDataType_t,
    op: ncclRedOp_t,
    root: c_int,
    comm: ncclComm_t,
    _: cudaStream_t,
) -> ncclResult_t {
    operation(format!("reduce {send:p} {recv:p} {n} {ty:?} {op:?} {root}"), comm)
}

unsafe extern "C" fn reduce_scatter(
    send: In,
    recv: Out,
    n: usize,
    ty: ncclDataType_t,
    op: ncclRedOp_t,
    comm: ncclComm_t,
    _: cudaStream_t,
) -> ncclResult_t {
    operation(format!("reduce_scatter {send:p} {recv:p} {n} {ty:?} {op:?}"), comm)
}

/// Defines operations that move elements, with a root and without one.
macro_rules! moves {
    ($($name:ident $text:literal $(, $root:ident)?;)*) => { $(
        unsafe extern "C" fn $name(
            send: In,
            recv: Out,
            n: usize,
            ty: ncclDataType_t,
            $($root: c_int,)?
            comm: ncclComm_t,
            _: cudaStream_t,
        ) -> ncclResult_t {
            #[allow(unused_mut, clippy::allow_attributes, reason = "only some have a root")]
            let mut call = format!(concat!($text, " {:p} {:p} {} {:?}"), send, recv, n, ty);
            $(call += &format!(" {}", $root);)?
            operation(call, comm)
        }
    )* };
}

moves! {
    broadcast "broadcast", root;
    all_gather "all_gather";
    all_to_all "all_to_all";
    gather "gather", root;
    scatter "scatter", root;
}

unsafe extern "C" fn send(
    from: In,
    n: usize,
    ty: ncclDataType_t,
    peer: c_int,
    comm: ncclComm_t,
    _: cudaStream_t,
) -> ncclResult_t {
    operation(format!("send {from:p} {n} {ty:?} {peer}"), comm)
}

unsafe extern "C" fn recv(
    to: Out,
    n: usize,
    ty: ncclDataType_t,
    peer: c_int,
    comm: ncclComm_t,
    _: cudaStream_t,
) -> ncclResult_t {
    operation(format!("recv {to:p} {n} {ty:?} {peer}"), comm)
}

/// The library, with or without the functions that came with NCCL 2.28.
pub(crate) fn nccl(newest: bool) -> Nccl {
    let fns = NcclFns {
        ncclGetVersion: Some(version),
        ncclGetUniqueId: Some(unique_id),
        ncclCommInitRankConfig: Some(init),
        ncclCommGetAsyncError: Some(async_error),
        ncclCommAbort: Some(abort),
        ncclCommDestroy: Some(destroy),
        ncclCommSplit: Some(split),
        ncclCommUserRank: Some(user_rank),
        ncclCommCount: Some(count),
        ncclGetErrorString: Some(error_string),
        ncclGetLastError: Some(last_error),
        ncclGroupStart: Some(group_start),
        ncclGroupEnd: Some(group_end),
        ncclAllReduce: Some(all_reduce),
        ncclReduce: Some(reduce),
        ncclBroadcast: Some(broadcast),
        ncclAllGather: Some(all_gather),
        ncclReduceScatter: Some(reduce_scatter),
        ncclAlltoAll: newest.then_some(all_to_all as _),
        ncclGather: newest.then_some(gather as _),
        ncclScatter: newest.then_some(scatter as _),
        ncclSend: Some(send),
        ncclRecv: Some(recv),
        ..NcclFns::default()
    };
    // SAFETY: the functions write what NCCL's do, to where their arguments point; the memory of operations stays as it is.
    Nccl::new(Arc::new(unsafe { NcclApi::from_fns(&fns) }.named("the recorder")))
}
