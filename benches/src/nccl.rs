//! The overhead of a collective operation over the bare call of NCCL's function, on the null driver and an NCCL that does nothing.
//!
//! - `nccl.all_reduce.wrapped_ns` and `.bare_ns`: the two times; `.overhead_ns`: their difference; `.allocations`: the
//!   allocations of one operation.
//!
//! # Safety
//!
//! NCCL's functions read none of their arguments, and write what NCCL's do.

use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::sync::Arc;

use anyhow::Result;
use cuda_driver::{Driver, Stream};
use cuda_mem::DeviceArray;
use cuda_nccl::{Communicator, Nccl, Options, Reduction};
use cuda_sys::nccl::{
    NcclApi, NcclFns, cudaStream_t, ncclComm_t, ncclConfig_t, ncclDataType_t, ncclRedOp_t, ncclResult_t, ncclUniqueId,
};
use ndarray::Ix1;

use crate::figures::{print, print_measured};
use crate::launch::each;
use crate::{allocations, null_driver};

const OK: ncclResult_t = ncclResult_t::ncclSuccess;

unsafe extern "C" fn unique_id(_: *mut ncclUniqueId) -> ncclResult_t {
    OK
}

unsafe extern "C" fn init(
    out: *mut ncclComm_t,
    _: c_int,
    _: ncclUniqueId,
    _: c_int,
    _: *mut ncclConfig_t,
) -> ncclResult_t {
    // SAFETY: the caller passes a handle; nobody follows this one.
    unsafe { out.write(std::ptr::dangling_mut()) };
    OK
}

unsafe extern "C" fn async_error(_: ncclComm_t, out: *mut ncclResult_t) -> ncclResult_t {
    // SAFETY: the caller passes a status.
    unsafe { out.write(OK) };
    OK
}

unsafe extern "C" fn nothing() -> ncclResult_t {
    OK
}

unsafe extern "C" fn destroy(_: ncclComm_t) -> ncclResult_t {
    OK
}

unsafe extern "C" fn all_reduce(
    _: *const c_void,
    _: *mut c_void,
    _: usize,
    _: ncclDataType_t,
    _: ncclRedOp_t,
    _: ncclComm_t,
    _: cudaStream_t,
) -> ncclResult_t {
    OK
}

/// An NCCL that does nothing.
fn api() -> Arc<NcclApi> {
    let fns = NcclFns {
        ncclGetUniqueId: Some(unique_id),
        ncclCommInitRankConfig: Some(init),
        ncclCommGetAsyncError: Some(async_error),
        ncclCommDestroy: Some(destroy),
        ncclGroupStart: Some(nothing),
        ncclGroupEnd: Some(nothing),
        ncclAllReduce: Some(all_reduce),
        ..NcclFns::default()
    };
    // SAFETY: the functions write what NCCL's do; the memory of operations stays as it is.
    Arc::new(unsafe { NcclApi::from_fns(&fns) })
}

/// A communicator of one rank, and what its operations take.
struct Rank {
    api: Arc<NcclApi>,
    communicator: Communicator,
    stream: Stream,
    x: DeviceArray<f32, Ix1>,
    y: DeviceArray<f32, Ix1>,
}

impl Rank {
    fn new() -> Result<Rank> {
        let context = Driver::new(null_driver::api())?.device(0)?.primary_context()?;
        let api = api();
        let nccl = Nccl::new(api.clone());
        let communicator = Communicator::from_id(&nccl, &context, nccl.unique_id()?, 0, 1, &Options::new())?;
        let stream = Stream::new(&context)?;
        let array = || cuda_mem::from_slice(&context, &[1.0_f32; 1024]);
        let (x, y) = (array()?, array()?);
        Ok(Rank { api, communicator, stream, x, y })
    }

    fn all_reduce(&mut self) {
        let Rank { communicator, stream, x, y, .. } = self;
        communicator.all_reduce(x, y, Reduction::Sum, black_box(&*stream)).expect("nothing can fail");
    }
}

pub(crate) fn run() -> Result<()> {
    let mut rank = Rank::new()?;
    let wrapped = each(|| rank.all_reduce());
    let Rank { api, stream, x, .. } = &rank;
    let (send, recv, raw) = (x.device_ptr() as *const c_void, 256_u64 as *mut c_void, stream.as_raw());
    let bare = each(|| {
        let function = api.ncclAllReduce().expect("the table has it");
        let (ty, op) = (ncclDataType_t::ncclFloat32, ncclRedOp_t::ncclSum);
        // SAFETY: the function reads none of its arguments.
        black_box(unsafe { function(send, recv, black_box(1024), ty, op, std::ptr::null_mut(), raw) });
    });
    print_measured("nccl.all_reduce.wrapped_ns", wrapped, "ns");
    print_measured("nccl.all_reduce.bare_ns", bare, "ns");
    print_measured("nccl.all_reduce.overhead_ns", wrapped - bare, "ns");
    print("nccl.all_reduce.allocations", allocations::count(|| rank.all_reduce()), "allocations");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_nccl::group;

    #[test]
    fn a_repeated_operation_allocates_nothing() {
        let mut rank = Rank::new().unwrap();
        rank.all_reduce();
        assert_eq!(allocations::count(|| rank.all_reduce()), 0);
        let Rank { communicator, stream, x, y, .. } = &mut rank;
        let mut grouped = || group(|g| g.all_reduce(communicator, &*x, &mut *y, Reduction::Sum, &*stream)).unwrap();
        grouped();
        assert_eq!(allocations::count(grouped), 0);
    }
}
