//! Memory and events between processes: a child process opens what its parent exports.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{CHILD, child, primary};
use cuda_sys::*;
use std::ffi::{c_char, c_void};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::ptr::null_mut;
use std::sync::mpsc::{Receiver, channel};

const INTERPROCESS: u32 = 6;

fn hex(bytes: &[c_char; 64]) -> String {
    bytes.iter().map(|b| format!("{:02x}", *b as u8)).collect()
}

fn unhex(variable: &str) -> [c_char; 64] {
    let text = std::env::var(variable).unwrap();
    std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap() as c_char)
}

unsafe extern "C" fn wait_for_message(data: *mut c_void) {
    let receiver = unsafe { &*data.cast::<Receiver<()>>() };
    receiver.recv().unwrap();
}

fn words(address: CUdeviceptr) -> [u32; 25] {
    let mut host = [0u32; 25];
    ok!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), address, 100));
    host
}

#[test]
fn a_child_process_opens_memory_and_waits_for_an_event() {
    if std::env::var_os(CHILD).is_some() {
        return child_side();
    }
    primary(0);
    let (mut memory, mut freed, mut event, mut stream) = (0, 0, null_mut(), null_mut());
    ok!(cuMemAlloc_v2(&mut memory, 100));
    ok!(cuMemAlloc_v2(&mut freed, 100));
    ok!(cuMemsetD32_v2(memory, 3, 25));
    ok!(cuEventCreate(&mut event, INTERPROCESS));
    ok!(cuStreamCreate(&mut stream, 1));
    let mut handles = [CUipcMemHandle { reserved: [0; 64] }; 2];
    // An address inside the allocation means the whole of it.
    ok!(cuIpcGetMemHandle(&mut handles[0], memory + 8));
    ok!(cuIpcGetMemHandle(&mut handles[1], freed));
    assert_eq!(words(memory), [3; 25], "what was there is still there");
    ok!(cuMemFree_v2(freed));
    let mut mark = CUipcEventHandle { reserved: [0; 64] };
    ok!(cuIpcGetEventHandle(&mut mark, event));
    gives!(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle_v2(&mut freed, handles[0], 1));
    gives!(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenEventHandle(&mut null_mut(), mark));
    // The event is recorded after work that runs until the child waits.
    let (send, receive) = channel();
    ok!(cuLaunchHostFunc(stream, Some(wait_for_message), (&raw const receive).cast_mut().cast()));
    ok!(cuMemsetD32Async(memory, 7, 25, stream));
    ok!(cuEventRecord(event, stream));
    let mut command = child("a_child_process_opens_memory_and_waits_for_an_event");
    command.env("MEMORY", hex(&handles[0].reserved)).env("FREED", hex(&handles[1].reserved));
    let mut process = command.env("EVENT", hex(&mark.reserved)).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let waits = lines.any(|line| line.ends_with("the child waits"));
    gives!(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    send.send(()).unwrap();
    assert!(waits && process.wait().unwrap().success(), "{:?}", lines.collect::<Vec<_>>());
    ok!(cuEventSynchronize(event));
    assert_eq!(words(memory), [9; 25], "what the child wrote");
    ok!(cuMemFree_v2(memory));
}

fn child_side() {
    primary(0);
    let (mut memory, mut again, mut stream, mut event) = (0, 0, null_mut(), null_mut());
    let handle = CUipcMemHandle { reserved: unhex("MEMORY") };
    gives!(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle_v2(&mut memory, handle, 0));
    gives!(
        CUDA_ERROR_INVALID_HANDLE,
        cuIpcOpenMemHandle_v2(&mut memory, CUipcMemHandle { reserved: unhex("FREED") }, 1)
    );
    gives!(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle_v2(&mut memory, CUipcMemHandle { reserved: [1; 64] }, 1));
    ok!(cuIpcOpenMemHandle_v2(&mut memory, handle, 1));
    ok!(cuIpcOpenMemHandle_v2(&mut again, handle, 1));
    assert_eq!(memory, again, "opened twice, it is the same");
    ok!(cuIpcOpenEventHandle(&mut event, CUipcEventHandle { reserved: unhex("EVENT") }));
    gives!(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    let (mut base, mut bytes) = (0, 0);
    ok!(cuMemGetAddressRange_v2(&mut base, &mut bytes, memory + 99));
    assert_eq!((base, bytes), (memory, 100));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2([0u8; 101].as_mut_ptr().cast(), memory, 101));
    assert_eq!(words(memory), [3; 25]);
    // In the stream's order after the parent's record.
    ok!(cuStreamCreate(&mut stream, 1));
    ok!(cuStreamWaitEvent(stream, event, 0));
    let mut host = null_mut();
    ok!(cuMemHostAlloc(&mut host, 100, 0));
    ok!(cuMemcpyDtoHAsync_v2(host, memory, 100, stream));
    ok!(cuMemsetD32Async(memory, 9, 25, stream));
    gives!(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    println!("the child waits");
    ok!(cuStreamSynchronize(stream));
    assert_eq!(unsafe { *host.cast::<[u32; 25]>() }, [7; 25]);
    ok!(cuEventSynchronize(event));
    ok!(cuEventQuery(event));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(memory));
    ok!(cuIpcCloseMemHandle(memory));
    assert_eq!(words(memory), [9; 25], "opened twice, closed once");
    ok!(cuIpcCloseMemHandle(memory));
    gives!(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(memory));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(memory, 0, 1));
    ok!(cuEventDestroy_v2(event));
}

#[test]
fn what_cannot_be_exported_is_refused() {
    primary(0);
    let mut handle = CUipcMemHandle { reserved: [0; 64] };
    let (mut managed, mut pooled, mut host, mut event) = (0, 0, null_mut(), null_mut());
    ok!(cuMemAllocManaged(&mut managed, 4, 1));
    ok!(cuMemAllocAsync(&mut pooled, 4, null_mut()));
    ok!(cuMemHostAlloc(&mut host, 4, 0));
    for address in [0, managed, pooled, host.addr() as CUdeviceptr, (&raw const handle).addr() as CUdeviceptr] {
        gives!(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&mut handle, address));
    }
    ok!(cuEventCreate(&mut event, 2));
    let mut mark = CUipcEventHandle { reserved: [0; 64] };
    gives!(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&mut mark, event));
    gives!(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&mut mark, null_mut()));
    // Only without timing.
    gives!(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&mut event, 4));
    let mut capable = [9u32; 2];
    let which = CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;
    let mut plain = 0;
    ok!(cuMemAlloc_v2(&mut plain, 4));
    ok!(cuPointerGetAttribute((&raw mut capable[0]).cast(), which, managed));
    ok!(cuPointerGetAttribute((&raw mut capable[1]).cast(), which, plain));
    assert_eq!(capable, [0, 1]);
}
