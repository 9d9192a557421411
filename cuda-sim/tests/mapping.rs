//! Virtual memory management, and external memory.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{CHILD, child, function, in_child, primary};
use cuda_sys::*;
use std::ffi::{c_int, c_void};
use std::os::fd::AsRawFd;
use std::ptr::null_mut;

const GRANULE: usize = 2 << 20;
const POSIX: CUmemAllocationHandleType = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
const DEVICE: CUmemLocation = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };

fn props() -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: POSIX,
        location: DEVICE,
        win32HandleMetaData: null_mut(),
        allocFlags: Default::default(),
    }
}

fn physical(bytes: usize) -> CUmemGenericAllocationHandle {
    let mut handle = 0;
    ok!(cuMemCreate(&mut handle, bytes, &props(), 0));
    handle
}

fn access(at: CUdeviceptr, bytes: usize, flags: u32) -> CUresult {
    let wanted = CUmemAccessDesc { location: DEVICE, flags: CUmemAccess_flags(flags) };
    call!(cuMemSetAccess(at, bytes, &wanted, 1))
}

fn word(at: CUdeviceptr) -> u32 {
    let mut host = 0u32;
    ok!(cuMemcpyDtoH_v2((&raw mut host).cast(), at, 4));
    host
}

#[test]
fn a_range_grows_by_mappings_and_copies_cross_them() {
    primary(0);
    let (mut granule, mut at) = (0, 0);
    let minimum = CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
    ok!(cuMemGetAllocationGranularity(&mut granule, &props(), minimum));
    assert_eq!(granule, GRANULE);
    ok!(cuMemAddressReserve(&mut at, 4 * GRANULE, 0, 0, 0));
    assert!(at.is_multiple_of(GRANULE as u64));
    let (first, second) = (physical(GRANULE), physical(2 * GRANULE));
    ok!(cuMemMap(at, GRANULE, 0, first, 0));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemMap(at, GRANULE, 0, second, 0));
    ok!(cuMemMap(at + GRANULE as u64, 2 * GRANULE, 0, second, 0));
    // Mapped, but without access rights yet.
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(at, 1, 1));
    assert_eq!(access(at, 3 * GRANULE, 3), CUresult::CUDA_SUCCESS);
    let mut flags = 9;
    ok!(cuMemGetAccess(&mut flags, &DEVICE, at + 5));
    assert_eq!(flags, 3);
    ok!(cuMemsetD32_v2(at, 11, 3 * GRANULE / 4));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(at, 11, 3 * GRANULE / 4 + 1));
    assert_eq!((word(at), word(at + 3 * GRANULE as u64 - 4)), (11, 11));
    // The same memory twice.
    ok!(cuMemMap(at + 3 * GRANULE as u64, GRANULE, GRANULE, second, 0));
    assert_eq!(access(at + 3 * GRANULE as u64, GRANULE, 1), CUresult::CUDA_SUCCESS);
    ok!(cuMemsetD32_v2(at + 2 * GRANULE as u64, 12, 1));
    assert_eq!(word(at + 3 * GRANULE as u64), 12);
    let (mut again, mut found) = (0, props());
    ok!(cuMemRetainAllocationHandle(&mut again, std::ptr::with_exposed_provenance_mut(at as usize + 7)));
    assert_eq!(again, first);
    ok!(cuMemGetAllocationPropertiesFromHandle(&mut found, first));
    assert_eq!(found.requestedHandleTypes, POSIX);
    ok!(cuMemRelease(again));
    ok!(cuMemRelease(first));
    ok!(cuMemRelease(second));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemRelease(first));
    assert_eq!(word(at), 11, "mappings outlive handles");
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(at, 4 * GRANULE));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(at, 2 * GRANULE));
    ok!(cuMemUnmap(at, 4 * GRANULE));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2((&raw mut flags).cast(), at, 4));
    ok!(cuMemAddressFree(at, 4 * GRANULE));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(at, 4 * GRANULE));
}

#[test]
fn what_cannot_be_mapped_is_refused() {
    primary(0);
    let (mut handle, mut at) = (0, 0);
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&mut handle, GRANULE - 1, &props(), 0));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&mut handle, 0, &props(), 0));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&mut handle, GRANULE, &props(), 1));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&mut handle, GRANULE, std::ptr::null(), 0));
    gives!(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&mut handle, 1 << 50, &props(), 0));
    let nowhere = CUmemAllocationProp { location: CUmemLocation { id: 7, ..DEVICE }, ..props() };
    gives!(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&mut handle, GRANULE, &nowhere, 0));
    let fabric = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC;
    let fabric = CUmemAllocationProp { requestedHandleTypes: fabric, ..props() };
    gives!(CUDA_ERROR_NOT_SUPPORTED, cuMemCreate(&mut handle, GRANULE, &fabric, 0));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&mut at, 100, 0, 0, 0));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&mut at, GRANULE, 3 << 20, 0, 0));
    ok!(cuMemAddressReserve(&mut at, GRANULE, 0, 0, 0));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemMap(at, GRANULE, 0, 999, 0));
    let good = physical(GRANULE);
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemMap(at, 2 * GRANULE, 0, good, 0));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemMap(at, GRANULE, GRANULE, good, 0));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(at, GRANULE));
    assert_eq!(access(at, GRANULE, 3), CUresult::CUDA_ERROR_INVALID_VALUE);
    ok!(cuMemMap(at, GRANULE, 0, good, 0));
    assert_eq!(access(at, GRANULE, 2), CUresult::CUDA_ERROR_INVALID_VALUE);
    ok!(cuMemUnmap(at, GRANULE));
    ok!(cuMemAddressFree(at, GRANULE));
    ok!(cuMemRelease(good));
}

#[test]
fn physical_memory_counts_until_handle_and_mapping_are_gone() {
    let test = "physical_memory_counts_until_handle_and_mapping_are_gone";
    if !in_child(test, &[("CUDA_SIM_MEMORY", "4194304")]) {
        return;
    }
    primary(0);
    let (mut at, mut plain) = (0, 0);
    let handle = physical(GRANULE);
    ok!(cuMemAddressReserve(&mut at, GRANULE, 0, 0, 0));
    ok!(cuMemMap(at, GRANULE, 0, handle, 0));
    ok!(cuMemRelease(handle));
    gives!(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&mut plain, 2 * GRANULE));
    ok!(cuMemUnmap(at, GRANULE));
    ok!(cuMemAlloc_v2(&mut plain, 2 * GRANULE));
}

#[test]
fn a_descriptor_carries_memory_to_another_process() {
    let test = "a_descriptor_carries_memory_to_another_process";
    primary(0);
    let mut at = 0;
    ok!(cuMemAddressReserve(&mut at, GRANULE, 0, 0, 0));
    if std::env::var_os(CHILD).is_some() {
        let descriptor: usize = std::env::var("DESCRIPTOR").unwrap().parse().unwrap();
        let mut handle = 0;
        let bad = std::ptr::without_provenance_mut(9999);
        gives!(CUDA_ERROR_INVALID_VALUE, cuMemImportFromShareableHandle(&mut handle, bad, POSIX));
        let pointer = std::ptr::without_provenance_mut(descriptor);
        ok!(cuMemImportFromShareableHandle(&mut handle, pointer, POSIX));
        ok!(cuMemMap(at, GRANULE, 0, handle, 0));
        assert_eq!(access(at, GRANULE, 3), CUresult::CUDA_SUCCESS);
        assert_eq!(word(at + 100), 5);
        ok!(cuMemsetD32_v2(at + 100, 6, 1));
        return;
    }
    let (handle, mut descriptor) = (physical(GRANULE), -1 as c_int);
    ok!(cuMemMap(at, GRANULE, 0, handle, 0));
    assert_eq!(access(at, GRANULE, 3), CUresult::CUDA_SUCCESS);
    ok!(cuMemsetD32_v2(at + 100, 5, 1));
    // the other process does not wait for what this one has begun
    ok!(cuCtxSynchronize());
    ok!(cuMemExportToShareableHandle((&raw mut descriptor).cast(), handle, POSIX, 0));
    assert!(descriptor >= 0);
    // A child inherits descriptors that are not close-on-exec.
    assert_eq!(unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) }, 0);
    let status = child(test).env("DESCRIPTOR", descriptor.to_string()).status().unwrap();
    assert!(status.success());
    assert_eq!(word(at + 100), 6);
    // The same descriptor as external memory, whose buffer need not begin at a page.
    let memory = import(descriptor, GRANULE).unwrap();
    let mut buffer = 0;
    let wanted = CUDA_EXTERNAL_MEMORY_BUFFER_DESC { offset: 100, size: 8, flags: 0, reserved: [0; 16] };
    ok!(cuExternalMemoryGetMappedBuffer(&mut buffer, memory, &wanted));
    ok!(cuDestroyExternalMemory(memory));
    gives!(CUDA_ERROR_INVALID_HANDLE, cuDestroyExternalMemory(memory));
    assert_eq!(word(buffer), 6);
    ok!(cuMemFree_v2(buffer));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(buffer));
}

fn import(descriptor: c_int, bytes: usize) -> Result<CUexternalMemory, CUresult> {
    let description = CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
        type_: CUexternalMemoryHandleType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
        handle: CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1_handle { fd: descriptor },
        size: bytes as u64,
        flags: 0,
        reserved: [0; 16],
    };
    let mut memory = null_mut();
    match call!(cuImportExternalMemory(&mut memory, &description)) {
        CUresult::CUDA_SUCCESS => Ok(memory),
        code => Err(code),
    }
}

#[test]
fn memory_of_others_is_imported_by_descriptor() {
    primary(0);
    let kernel = function(
        c".version 7.8\n.target sm_75\n.address_size 64
.visible .entry more(.param .u64 p) { .reg .b64 %rd1; ld.param.u64 %rd1, [p]; red.global.add.u32 [%rd1], 1; ret; }",
        c"more",
    );
    let file = unsafe { libc::memfd_create(c"other".as_ptr(), 0) };
    assert_eq!(unsafe { libc::ftruncate(file, 8192) }, 0);
    let own = unsafe { libc::mmap(null_mut(), 8192, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file, 0) };
    assert_eq!(import(file, 8193).unwrap_err(), CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(import(-1, 4).unwrap_err(), CUresult::CUDA_ERROR_INVALID_VALUE);
    let (pipe, _other_end) = std::io::pipe().unwrap();
    assert_eq!(import(pipe.as_raw_fd(), 4).unwrap_err(), CUresult::CUDA_ERROR_INVALID_VALUE);
    let memory = import(file, 8192).unwrap();
    assert!(unsafe { libc::fcntl(file, libc::F_GETFD) } < 0, "the descriptor is the driver's");
    let mut buffer = 0;
    let mut wanted = CUDA_EXTERNAL_MEMORY_BUFFER_DESC { offset: 4096, size: 4097, flags: 0, reserved: [0; 16] };
    gives!(CUDA_ERROR_INVALID_VALUE, cuExternalMemoryGetMappedBuffer(&mut buffer, memory, &wanted));
    wanted.size = 4096;
    ok!(cuExternalMemoryGetMappedBuffer(&mut buffer, memory, &wanted));
    let mut params: [*mut c_void; 1] = [(&raw mut buffer).cast()];
    ok!(cuLaunchKernel(kernel, 3, 1, 1, 1, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()));
    ok!(cuCtxSynchronize());
    let seen = unsafe { std::slice::from_raw_parts(own.cast::<u32>(), 2048) };
    assert_eq!(seen[1024], 3);
    ok!(cuMemFree_v2(buffer));
    ok!(cuDestroyExternalMemory(memory));
}
