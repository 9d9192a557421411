//! Stream memory operations: waits for and writes of values in memory, one by one and in batches.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract. The union that is read consists
//! of plain data.

use super::target;
use crate::driver::operations::{Op, Value};
use crate::driver::{Status, api, get};
use crate::queue::Start;
use cuda_sys::{
    CUdeviceptr, CUresult, CUstream, CUstreamBatchMemOpParams, CUstreamBatchMemOpType, cuuint32_t, cuuint64_t,
};
use std::ffi::c_uint;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
/// The limit on the operations of a batch.
const MOST: c_uint = 256;
/// Also waits for remote writes to the device; here all memory has one order.
const FLUSH: c_uint = 1 << 30;
/// The write need not be ordered after earlier work of the stream; here it always is.
const NO_BARRIER: c_uint = 1;

/// Returns a wait for a value, compared as the flags say.
fn waited(at: u64, value: u64, wide: bool, flags: c_uint) -> Result<Value, CUresult> {
    if flags & !FLUSH > 3 {
        return Err(INVALID);
    }
    checked(Value { at, value, wide, wait: Some(flags & 3) })
}

fn written(at: u64, value: u64, wide: bool, flags: c_uint) -> Result<Value, CUresult> {
    if flags & !NO_BARRIER != 0 {
        return Err(INVALID);
    }
    checked(Value { at, value, wide, wait: None })
}

fn checked(value: Value) -> Result<Value, CUresult> {
    let bytes = if value.wide { 8 } else { 4 };
    if !value.at.is_multiple_of(bytes) {
        return Err(INVALID);
    }
    crate::driver::memory::copy::device_range(value.at, bytes as usize)?;
    Ok(value)
}

fn one(on: CUstream, value: impl FnOnce() -> Result<Value, CUresult>) -> Status {
    let (context, stream) = target(on)?;
    stream.submit(&context, Op::Value(value()?), Start::Driver)
}

/// Returns one operation of a batch; `None` for barriers, which have no effect here.
fn operation(params: &CUstreamBatchMemOpParams) -> Result<Option<Value>, CUresult> {
    use CUstreamBatchMemOpType as T;
    // SAFETY: all members are plain data within these 48 bytes, which the client wrote.
    let [kind, at, value, flags, ..] = unsafe { params.pad };
    let (narrow, flags) = (value & u64::from(u32::MAX), flags as c_uint);
    match CUstreamBatchMemOpType(kind as c_uint) {
        T::CU_STREAM_MEM_OP_WAIT_VALUE_32 => waited(at, narrow, false, flags).map(Some),
        T::CU_STREAM_MEM_OP_WAIT_VALUE_64 => waited(at, value, true, flags).map(Some),
        T::CU_STREAM_MEM_OP_WRITE_VALUE_32 => written(at, narrow, false, flags).map(Some),
        T::CU_STREAM_MEM_OP_WRITE_VALUE_64 => written(at, value, true, flags).map(Some),
        T::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES | T::CU_STREAM_MEM_OP_BARRIER => Ok(None),
        _ => Err(INVALID),
    }
}

fn batch(on: CUstream, count: c_uint, params: *const CUstreamBatchMemOpParams, flags: c_uint) -> Status {
    let (context, stream) = target(on)?;
    if flags != 0 || count == 0 || count > MOST {
        return Err(INVALID);
    }
    // All are checked before the first one is enqueued.
    let all = (0..count as usize).map(|i| operation(&get(params.wrapping_add(i))?));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    for value in all.into_iter().flatten() {
        stream.submit(&context, Op::Value(value), Start::Driver)?;
    }
    Ok(())
}

api! {
    fn cuStreamWaitValue32 / cuStreamWaitValue32_ptsz(on: CUstream, at: CUdeviceptr, value: cuuint32_t, flags: c_uint) {
        one(on, || waited(at, u64::from(value), false, flags))
    }
    fn cuStreamWaitValue64 / cuStreamWaitValue64_ptsz(on: CUstream, at: CUdeviceptr, value: cuuint64_t, flags: c_uint) {
        one(on, || waited(at, value, true, flags))
    }
    fn cuStreamWriteValue32 / cuStreamWriteValue32_ptsz(on: CUstream, at: CUdeviceptr, new: cuuint32_t, flags: c_uint) {
        one(on, || written(at, u64::from(new), false, flags))
    }
    fn cuStreamWriteValue64 / cuStreamWriteValue64_ptsz(on: CUstream, at: CUdeviceptr, new: cuuint64_t, flags: c_uint) {
        one(on, || written(at, new, true, flags))
    }
    fn cuStreamWaitValue32_v2 / cuStreamWaitValue32_v2_ptsz(
        on: CUstream,
        at: CUdeviceptr,
        value: cuuint32_t,
        flags: c_uint,
    ) {
        one(on, || waited(at, u64::from(value), false, flags))
    }
    fn cuStreamWaitValue64_v2 / cuStreamWaitValue64_v2_ptsz(
        on: CUstream,
        at: CUdeviceptr,
        value: cuuint64_t,
        flags: c_uint,
    ) {
        one(on, || waited(at, value, true, flags))
    }
    fn cuStreamWriteValue32_v2 / cuStreamWriteValue32_v2_ptsz(
        on: CUstream,
        at: CUdeviceptr,
        new: cuuint32_t,
        flags: c_uint,
    ) {
        one(on, || written(at, u64::from(new), false, flags))
    }
    fn cuStreamWriteValue64_v2 / cuStreamWriteValue64_v2_ptsz(
        on: CUstream,
        at: CUdeviceptr,
        new: cuuint64_t,
        flags: c_uint,
    ) {
        one(on, || written(at, new, true, flags))
    }
    fn cuStreamBatchMemOp / cuStreamBatchMemOp_ptsz(
        on: CUstream,
        count: c_uint,
        params: *mut CUstreamBatchMemOpParams,
        flags: c_uint,
    ) {
        batch(on, count, params, flags)
    }
    fn cuStreamBatchMemOp_v2 / cuStreamBatchMemOp_v2_ptsz(
        on: CUstream,
        count: c_uint,
        params: *mut CUstreamBatchMemOpParams,
        flags: c_uint,
    ) {
        batch(on, count, params, flags)
    }
}
