//! Memory pools by their places, host, managed and device memory, and pools that processes share.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{CHILD, child, primary};
use cuda_sys::*;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;

const PINNED: CUmemAllocationType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
const MANAGED: CUmemAllocationType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED;
const DESCRIPTOR: CUmemAllocationHandleType = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
const NONE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
const READWRITE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

fn device(id: c_int) -> CUmemLocation {
    CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id }
}

fn host() -> CUmemLocation {
    CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, id: 0 }
}

fn nowhere() -> CUmemLocation {
    CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_NONE, id: 0 }
}

fn props(location: CUmemLocation, kind: CUmemAllocationType) -> CUmemPoolProps {
    CUmemPoolProps { allocType: kind, location, ..CUmemPoolProps::default() }
}

fn create(props: &CUmemPoolProps) -> CUmemoryPool {
    let mut pool = null_mut();
    ok!(cuMemPoolCreate(&mut pool, props));
    pool
}

fn attribute<T: Copy>(which: CUpointer_attribute, address: CUdeviceptr, empty: T) -> T {
    let mut value = empty;
    ok!(cuPointerGetAttribute((&raw mut value).cast(), which, address));
    value
}

fn pool_attribute<T: Copy>(pool: CUmemoryPool, which: CUmemPool_attribute, empty: T) -> T {
    let mut value = empty;
    ok!(cuMemPoolGetAttribute(pool, which, (&raw mut value).cast()));
    value
}

fn access(pool: CUmemoryPool, mut location: CUmemLocation) -> CUmemAccess_flags {
    let mut flags = CUmemAccess_flags(9);
    ok!(cuMemPoolGetAccess(&mut flags, pool, &mut location));
    flags
}

fn set_access(pool: CUmemoryPool, location: CUmemLocation, flags: CUmemAccess_flags) -> CUresult {
    call!(cuMemPoolSetAccess(pool, &CUmemAccessDesc { location, flags }, 1))
}

fn words(address: CUdeviceptr) -> [u32; 25] {
    let mut host = [0u32; 25];
    ok!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), address, 100));
    host
}

#[test]
fn pools_have_memory_of_their_place() {
    use CUmemPool_attribute as P;
    use CUpointer_attribute as A;
    primary(0);
    for (location, kind, memory, managed, own) in [
        (device(0), PINNED, 2u32, 0u32, [READWRITE, NONE]),
        (host(), PINNED, 1, 0, [NONE, READWRITE]),
        (device(0), MANAGED, 2, 1, [READWRITE, READWRITE]),
        (nowhere(), MANAGED, 2, 1, [READWRITE, READWRITE]),
    ] {
        let pool = create(&CUmemPoolProps { maxSize: 1 << 20, ..props(location, kind) });
        assert_eq!(pool_attribute(pool, P::CU_MEMPOOL_ATTR_ALLOCATION_TYPE, PINNED), kind);
        assert_eq!(pool_attribute(pool, P::CU_MEMPOOL_ATTR_LOCATION_TYPE, location.type_), location.type_);
        assert_eq!(pool_attribute(pool, P::CU_MEMPOOL_ATTR_LOCATION_ID, 9), 0);
        assert_eq!(pool_attribute(pool, P::CU_MEMPOOL_ATTR_MAX_POOL_SIZE, 0u64), 1 << 20);
        assert_eq!([device(0), host()].map(|location| access(pool, location)), own);
        let mut at = 0;
        ok!(cuMemAllocFromPoolAsync(&mut at, 100, pool, null_mut()));
        ok!(cuMemsetD32Async(at, 5, 25, null_mut()));
        assert_eq!(words(at), [5; 25]);
        assert_eq!(attribute(A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at, 0u32), memory);
        assert_eq!(attribute(A::CU_POINTER_ATTRIBUTE_IS_MANAGED, at, 9u32), managed);
        assert_eq!(attribute(A::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at, null_mut::<c_void>()), pool.cast());
        if memory == 1 || managed == 1 {
            assert_eq!(attribute(A::CU_POINTER_ATTRIBUTE_HOST_POINTER, at, 0u64), at);
            assert_eq!(unsafe { *(at as *const u32) }, 5);
        }
        let advice = call!(cuMemAdvise_v2(at, 100, CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY, device(0)));
        assert_eq!(advice == CUresult::CUDA_SUCCESS, managed == 1);
        ok!(cuMemFreeAsync(at, null_mut()));
        gives!(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(at, null_mut()));
        ok!(cuCtxSynchronize());
        assert_eq!(pool_attribute(pool, P::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 9u64), 0);
        ok!(cuMemPoolDestroy(pool));
    }
    // Who has access by itself keeps it, and the host has none to a device's memory.
    let (of_host, of_device) = (create(&props(host(), PINNED)), create(&props(device(0), PINNED)));
    assert_eq!(set_access(of_host, device(0), READWRITE), CUresult::CUDA_SUCCESS);
    assert_eq!(access(of_host, device(0)), READWRITE);
    for (pool, location, flags) in [
        (of_host, host(), NONE),
        (of_device, device(0), NONE),
        (of_device, host(), READWRITE),
        (of_host, nowhere(), NONE),
    ] {
        assert_eq!(set_access(pool, location, flags), CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let far = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA, id: 7 };
    for wrong in [props(nowhere(), PINNED), props(far, PINNED), props(device(0), CUmemAllocationType(0))] {
        gives!(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&mut null_mut(), &wrong));
    }
}

#[test]
fn each_place_has_a_default_pool() {
    primary(0);
    let default = |mut location: CUmemLocation, kind| {
        let mut pool = null_mut();
        ok!(cuMemGetDefaultMemPool(&mut pool, &mut location, kind));
        pool
    };
    let places = [(device(0), PINNED), (host(), PINNED), (device(0), MANAGED), (nowhere(), MANAGED)];
    let all: Vec<CUmemoryPool> = places.iter().map(|(location, kind)| default(*location, *kind)).collect();
    assert!((0..4).all(|a| (0..a).all(|b| all[a] != all[b])), "{all:?}");
    let mut of_device = null_mut();
    ok!(cuDeviceGetDefaultMemPool(&mut of_device, 0));
    assert_eq!(of_device, all[0]);
    for (pool, (mut location, kind)) in all.into_iter().zip(places) {
        let (mut at, mut current, other) = (0, null_mut(), create(&props(location, kind)));
        ok!(cuMemAllocFromPoolAsync(&mut at, 4, pool, null_mut()));
        ok!(cuMemFreeAsync(at, null_mut()));
        gives!(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
        ok!(cuMemGetMemPool(&mut current, &mut location, kind));
        assert_eq!(current, pool);
        ok!(cuMemSetMemPool(&mut location, kind, other));
        ok!(cuMemGetMemPool(&mut current, &mut location, kind));
        assert_eq!(current, other);
        ok!(cuMemPoolDestroy(other));
        ok!(cuMemGetMemPool(&mut current, &mut location, kind));
        assert_eq!(current, pool);
        let mut wrong = if kind == MANAGED { host() } else { nowhere() };
        gives!(CUDA_ERROR_INVALID_VALUE, cuMemSetMemPool(&mut wrong, PINNED, pool));
    }
}

fn shared(location: CUmemLocation) -> CUmemoryPool {
    create(&CUmemPoolProps { handleTypes: DESCRIPTOR, ..props(location, PINNED) })
}

fn export(pool: CUmemoryPool) -> OwnedFd {
    let mut descriptor: c_int = -1;
    ok!(cuMemPoolExportToShareableHandle((&raw mut descriptor).cast(), pool, DESCRIPTOR, 0));
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

fn import(descriptor: &impl AsRawFd, flags: u64) -> Result<CUmemoryPool, CUresult> {
    let (mut pool, argument) = (null_mut(), std::ptr::without_provenance_mut(descriptor.as_raw_fd() as usize));
    match call!(cuMemPoolImportFromShareableHandle(&mut pool, argument, DESCRIPTOR, flags)) {
        CUresult::CUDA_SUCCESS => Ok(pool),
        code => Err(code),
    }
}

#[test]
fn a_child_process_imports_a_pool_and_its_memory() {
    if std::env::var_os(CHILD).is_some() {
        return child_side();
    }
    primary(0);
    for location in [device(0), host()] {
        let (pool, mut at, mut data) = (shared(location), 0, CUmemPoolPtrExportData::default());
        ok!(cuMemAllocFromPoolAsync(&mut at, 100, pool, null_mut()));
        ok!(cuMemsetD32_v2(at, 3, 25));
        ok!(cuMemPoolExportPointer(&mut data, at));
        assert_eq!(words(at), [3; 25], "what was there is still there");
        let descriptor = export(pool);
        let text: String = data.reserved.iter().map(|byte| format!("{byte:02x}")).collect();
        let file = format!("/proc/{}/fd/{}", std::process::id(), descriptor.as_raw_fd());
        let mut command = child("a_child_process_imports_a_pool_and_its_memory");
        let output = command.env("POOL", file).env("DATA", text).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(words(at), [9; 25], "what the child wrote");
        ok!(cuMemFreeAsync(at, null_mut()));
        ok!(cuMemPoolDestroy(pool));
    }
}

fn child_side() {
    primary(0);
    let file = File::options().read(true).write(true).open(std::env::var("POOL").unwrap()).unwrap();
    let text = std::env::var("DATA").unwrap();
    let reserved = std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap());
    let mut data = CUmemPoolPtrExportData { reserved };
    let (mut at, mut again, pool) = (0, 0, import(&file, 0).unwrap());
    drop(file);
    ok!(cuMemPoolImportPointer(&mut at, pool, &mut data));
    ok!(cuMemPoolImportPointer(&mut again, pool, &mut data));
    assert_eq!(words(at), [3; 25]);
    ok!(cuMemsetD32_v2(again, 9, 25));
    assert_eq!(words(at), [9; 25]);
    let handle = attribute(CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at, null_mut::<c_void>());
    assert_eq!(handle, pool.cast());
    // The pool allocates nothing, and exports nothing.
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&mut 0, 4, pool, null_mut()));
    gives!(CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool(0, pool));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&mut data, at));
    ok!(cuMemFreeAsync(at, null_mut()));
    ok!(cuMemFree_v2(again));
    ok!(cuCtxSynchronize());
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(at, 0, 1));
    let reserved = CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
    assert_eq!(pool_attribute(pool, reserved, 9u64), 0);
    ok!(cuMemPoolDestroy(pool));
}

#[test]
fn what_pools_do_not_share_is_refused() {
    primary(0);
    let (plain, pool) = (create(&props(device(0), PINNED)), shared(device(0)));
    let mut descriptor: c_int = -1;
    let to = (&raw mut descriptor).cast::<c_void>();
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportToShareableHandle(to, plain, DESCRIPTOR, 0));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportToShareableHandle(to, pool, DESCRIPTOR, 1));
    let fabric = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC;
    gives!(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolExportToShareableHandle(to, pool, fabric, 0));
    for (location, kind, handles) in [(device(0), PINNED, fabric), (device(0), MANAGED, DESCRIPTOR)] {
        let wanted = CUmemPoolProps { handleTypes: handles, ..props(location, kind) };
        gives!(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolCreate(&mut null_mut(), &wanted));
    }
    let (mut at, mut own, mut data) = (0, 0, CUmemPoolPtrExportData::default());
    ok!(cuMemAllocFromPoolAsync(&mut at, 4, plain, null_mut()));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&mut data, at));
    ok!(cuMemAlloc_v2(&mut own, 4));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&mut data, own));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&mut data, 8));
    // A descriptor of something else, and memory of another pool.
    let memory = File::open("/proc/self/exe").unwrap();
    assert_eq!(import(&memory, 0), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    let (first, second) = (export(pool), export(shared(device(0))));
    assert_eq!(import(&first, 1), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    let (here, there) = (import(&first, 0).unwrap(), import(&second, 0).unwrap());
    ok!(cuMemAllocFromPoolAsync(&mut at, 100, pool, null_mut()));
    ok!(cuMemPoolExportPointer(&mut data, at));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemPoolImportPointer(&mut own, there, &mut data));
    gives!(CUDA_ERROR_INVALID_VALUE, cuMemPoolImportPointer(&mut own, pool, &mut data));
    gives!(
        CUDA_ERROR_INVALID_VALUE,
        cuMemPoolImportPointer(&mut own, here, &mut CUmemPoolPtrExportData { reserved: [1; 64] })
    );
    // The same process may import it.
    ok!(cuMemPoolImportPointer(&mut own, here, &mut data));
    ok!(cuMemsetD32_v2(own, 6, 25));
    assert_eq!(words(at), [6; 25]);
    ok!(cuMemFreeAsync(own, null_mut()));
    ok!(cuMemFreeAsync(at, null_mut()));
}
