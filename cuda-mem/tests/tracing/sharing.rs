//! Memory shared with other processes, of which this one plays both sides: refusals, failures, and the closing of all
//! memory.

use cuda_driver::Context;
use cuda_mem::{DeviceArray, Error, ExchangeError, IpcHandle, shareable_array};
use cuda_sys::CUresult;
use ndarray::Ix1;

use crate::support::Session;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// The positions of the exporter's process id and of the first element's offset in a handle's bytes.
const PROCESS: usize = 72;
const OFFSET: usize = 80;

fn shared(context: &Context) -> DeviceArray<u32, Ix1> {
    let mut array = shareable_array(context, 16).unwrap();
    array.fill(7).unwrap();
    array
}

/// The handle of an array as if another process had made it, with another number at a position of its bytes.
fn of_another_process(array: &DeviceArray<u32, Ix1>, change: Option<(usize, u8)>) -> IpcHandle<u32, Ix1> {
    let mut bytes = array.ipc_handle().unwrap().to_bytes();
    bytes[PROCESS] ^= 1;
    if let Some((at, value)) = change {
        bytes[at] = value;
    }
    IpcHandle::from_bytes(&bytes).unwrap()
}

fn open(handle: &IpcHandle<u32, Ix1>, context: &Context) -> Result<DeviceArray<u32, Ix1>, Error> {
    // SAFETY: the tests' arrays live longer, or the driver refuses; accesses are in the order of this thread.
    unsafe { handle.open(context) }
}

#[test]
fn memory_is_opened_once_and_closed_after_its_uses() {
    let session = Session::new();
    let context = session.context();
    let array = shared(&context);
    let handle = of_another_process(&array, None);
    let opened = open(&handle, &context).unwrap();
    session.forget();
    let twice = open(&handle, &context).unwrap_err();
    assert_eq!(
        twice.to_string(),
        "the IPC handle is open already in this process; use the array that it was opened as, or drop it first"
    );
    assert_eq!(session.names(), [""; 0], "the driver is not asked");
    assert_eq!(opened.copy_to_host().unwrap().to_vec(), [7; 16]);
    let stream = cuda_driver::Stream::new(&context).unwrap();
    opened.prepare_read(&stream).unwrap();
    session.forget();
    drop(opened);
    assert_eq!(session.names(), ["cuStreamSynchronize", "cuIpcCloseMemHandle"]);
    assert_eq!(open(&handle, &context).unwrap().len(), 16, "again after its end");
    let other = session.driver().device(1).unwrap().primary_context().unwrap();
    let (one, two) = (open(&handle, &context), open(&handle, &other));
    assert!(one.is_ok() && two.is_ok(), "once on each device");
    drop((one, two, stream, array, context, other));
    session.finish();
}

#[test]
fn a_handle_is_not_opened_in_its_own_process() {
    let session = Session::new();
    let context = session.context();
    let handle = shared(&context).ipc_handle().unwrap();
    session.forget();
    let error = open(&handle, &context).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an IPC handle is for other processes, and this one was made here; use the array itself"
    );
    assert_eq!(session.names(), [""; 0], "the driver is not asked");
    drop(context);
    session.finish();
}

#[test]
fn a_dropped_array_is_not_opened() {
    let session = Session::new();
    let context = session.context();
    let array = shared(&context);
    let handle = of_another_process(&array, None);
    drop(array);
    cuda_mem::free_pending(&context).unwrap();
    for _ in 0..2 {
        let error = open(&handle, &context).unwrap_err();
        assert!(matches!(error, Error::Exchange(ExchangeError::Gone(_))));
        let expected = "the IPC handle's memory cannot be opened: its array, or the process that made it, is gone \
                        (cuIpcOpenMemHandle_v2: CUDA_ERROR_INVALID_VALUE";
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    drop(context);
    session.finish();
}

#[test]
fn a_failing_open_leaves_nothing_open() {
    let session = Session::new();
    let context = session.context();
    let array = shared(&context);
    let handle = of_another_process(&array, None);
    session.fail("cuIpcOpenMemHandle_v2", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    assert!(open(&handle, &context).unwrap_err().is_out_of_memory());
    session.forget();
    let misplaced = of_another_process(&array, Some((OFFSET, 2)));
    let error = open(&misplaced, &context).unwrap_err();
    assert!(error.to_string().ends_with("the address is 0 or not aligned for the elements"), "{error}");
    assert_eq!((session.count("cuIpcOpenMemHandle_v2"), session.count("cuIpcCloseMemHandle")), (1, 1));
    session.fail("cuIpcCloseMemHandle", 1, INVALID);
    drop(open(&handle, &context).unwrap());
    assert!(open(&handle, &context).is_ok(), "the next call works");
    assert_eq!(session.live().opened, 1, "what could not be closed");
    for call in ["cuIpcGetMemHandle", "cuMemGetAddressRange_v2"] {
        session.fail(call, 1, CUresult::CUDA_ERROR_NOT_SUPPORTED);
        let error = array.ipc_handle().unwrap_err();
        assert!(error.to_string().starts_with(&format!("{call}: CUDA_ERROR_NOT_SUPPORTED")), "{error}");
    }
    session.fail("cuIpcGetMemHandle", 1, INVALID);
    assert!(array.ipc_handle().unwrap_err().to_string().contains("allocate it by `shareable_array`"));
    session.leaves();
    drop((array, context));
    session.finish();
}
