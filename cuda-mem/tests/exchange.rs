//! External memory, and arrays that are exported to other libraries and processes, on the software device.
//!
//! # Safety
//!
//! Every imported array was exported by the same test, or lies in an array that is its owner.

use std::ffi::c_void;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cuda_driver::{Context, Driver, Stream};
use cuda_mem::ffi::{
    DL_CUDA, DL_CUDA_HOST, DL_FLAG_READ_ONLY, DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLTensor,
};
use cuda_mem::{
    CudaArrayInterface, DeviceArray, Dlpack, Exchanged, IpcHandle, ReadOnly, from_slice, managed_array,
    shareable_array, to_device,
};
use half::{bf16, f16};
use ndarray::{Array2, Ix1, Ix2, IxDyn, array, s};
use num_complex::Complex;

fn context() -> Context {
    Driver::new(cuda_tests_support::driver_api()).and_then(|driver| driver.device(0)?.primary_context()).unwrap()
}

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn external_memory_of_any_strides_is_an_array_and_its_owner_is_dropped_once() {
    let context = context();
    let drops = Arc::new(AtomicUsize::new(0));
    let whole = to_device(&context, &Array2::from_shape_fn((4, 6), |(i, j)| (10 * i + j) as i32)).unwrap();
    let (first, owner) = (whole.device_ptr() + 4 * 23, (whole, Counted(drops.clone())));
    // SAFETY: the elements lie in the owner's array.
    let mut x = unsafe { DeviceArray::<i32, Ix2>::from_raw_parts(&context, first, (2, 3), &[-12, -2], owner) }.unwrap();
    assert_eq!(x.copy_to_host().unwrap(), array![[35, 33, 31], [15, 13, 11]]);
    x.slice_mut(s![.., 0]).fill(0).unwrap();
    assert_eq!(x.copy_to_host().unwrap().sum(), 33 + 31 + 13 + 11);
    assert_eq!(drops.load(Ordering::Relaxed), 0);
    drop(x);
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

#[test]
fn external_memory_that_cannot_be_an_array_is_refused_and_its_owner_dropped() {
    let context = context();
    let drops = Arc::new(AtomicUsize::new(0));
    let whole = from_slice(&context, &[1_u32; 64]).unwrap();
    let first = whole.device_ptr();
    let make = |address, shape: (usize, usize), strides: &[isize]| {
        // SAFETY: the elements of an accepted array lie in `whole`, which is not used meanwhile.
        unsafe { DeviceArray::<u32, Ix2>::from_raw_parts(&context, address, shape, strides, Counted(drops.clone())) }
    };
    let refused = |address, shape, strides: &[isize]| make(address, shape, strides).unwrap_err().to_string();
    let begin = format!("memory at {:#x} cannot be an array of shape [2, 3] with strides [3, 1] of `u32`: ", first + 1);
    assert_eq!(refused(first + 1, (2, 3), &[3, 1]), begin + "the address is 0 or not aligned for the elements");
    assert!(refused(0, (2, 3), &[3, 1]).contains("the address is 0"));
    assert!(refused(first, (2, 3), &[3]).ends_with("there is not one stride for each axis"));
    assert!(refused(first, (2, 3), &[1, 1]).contains("several indices share an element"));
    assert!(refused(first, (2, 3), &[0, 1]).contains("several indices share an element"));
    assert!(refused(first, (2, 3), &[-isize::MAX, 1]).ends_with("its elements exceed the address space"));
    assert!(refused(first, (2, 3), &[isize::MAX, isize::MAX]).ends_with("exceed the address space"));
    assert!(refused(16, (2, 3), &[-8, 1]).ends_with("exceed the address space"), "below the address 0");
    assert!(refused(first, (usize::MAX, 3), &[3, 1]).contains("is larger than the address space"));
    assert!(make(0, (0, 3), &[3, 1]).unwrap().is_empty(), "no elements need no address");
    assert_eq!(drops.load(Ordering::Relaxed), 10);
    // SAFETY: the elements lie in `whole`, which is not used meanwhile, and are only read.
    let repeated =
        unsafe { DeviceArray::<u32, Ix2, _>::from_raw_parts_read_only(&context, first, (2, 3), &[0, 1], whole) };
    assert_eq!(repeated.unwrap().copy_to_host().unwrap(), Array2::<u32>::ones((2, 3)));
}

#[test]
fn the_array_interface_round_trips() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let mut x = to_device(&context, &array![[1.0_f64, 2.0, 3.0], [4.0, 5.0, 6.0]]).unwrap();
    let whole = x.cuda_array_interface_mut(&context.default_stream()).unwrap();
    let expected = CudaArrayInterface {
        shape: vec![2, 3],
        typestr: "<f8".into(),
        data: (x.device_ptr(), false),
        strides: None,
        version: 3,
        stream: Some(1),
        masked: false,
    };
    assert_eq!(whole, expected);
    let part = x.slice(s![.., ..;-2]).cuda_array_interface(&stream).unwrap();
    assert_eq!((part.strides.clone(), part.data.1), (Some(vec![24, -16]), true));
    assert_eq!(part.stream, Some(stream.as_raw().addr() as u64));
    // SAFETY: the elements are `x`'s, which lives longer.
    let read = unsafe { DeviceArray::<f64, Ix2, _>::from_cuda_array_interface_read_only(&context, &part, ()) }.unwrap();
    assert_eq!(read.copy_to_host().unwrap(), array![[3.0, 1.0], [6.0, 4.0]]);
    let bf = cuda_mem::zeros::<bf16, _>(&context, 2).unwrap().cuda_array_interface(&stream).unwrap_err();
    let text = "NumPy has no type string for `half::bfloat::bf16`; share the array by `into_dlpack`, or view it as another type by \
                `view_as`";
    assert_eq!(bf.to_string(), text);
    let empty = cuda_mem::zeros::<u8, _>(&context, 0).unwrap().cuda_array_interface(&stream).unwrap();
    assert_eq!((empty.data.0, empty.typestr.as_str()), (0, "|u1"));
    let empty = CudaArrayInterface { data: (0, false), ..empty };
    // SAFETY: no elements.
    assert!(unsafe { DeviceArray::<u8, Ix1>::from_cuda_array_interface(&context, &empty, ()) }.is_ok());

    let refused = |change: &dyn Fn(&mut CudaArrayInterface)| {
        let mut changed = whole.clone();
        change(&mut changed);
        // SAFETY: it is refused.
        unsafe { DeviceArray::<f64, Ix2>::from_cuda_array_interface(&context, &changed, ()) }.unwrap_err().to_string()
    };
    assert_eq!(refused(&|x| x.masked = true), "masked arrays are not supported; fill in the masked elements first");
    for version in [1, 4] {
        let text = format!("version {version} of the protocol is not supported");
        assert_eq!(refused(&|x| x.version = version), text);
    }
    assert!(refused(&|x| x.stream = Some(0)).starts_with("stream 0 is ambiguous and not allowed"));
    assert_eq!(refused(&|x| x.typestr = ">f8".into()), "the array's elements are `>f8`, not `<f8`");
    assert_eq!(refused(&|x| x.shape = vec![6]), "the array has 1 axes, not 2");
    assert!(refused(&|x| x.strides = Some(vec![12, 8])).contains("[12, 8] in bytes are no multiples"));
    assert!(refused(&|x| x.data.1 = true).starts_with("the array is read-only"));
    assert!(refused(&|x| x.data.0 = 0).contains("the address is 0"));
}

/// CuPy names a stream where its user asks for version 3, and PyTorch never does.
#[test]
fn an_array_interface_without_a_stream_is_used_after_all_work_of_the_context() {
    let (context, drops) = (context(), Arc::new(AtomicUsize::new(0)));
    let writes = Stream::new(&context).unwrap();
    let theirs = to_device(&context, &array![1.0_f32, 2.0]).unwrap();
    let data = (theirs.device_ptr(), false);
    let over = Arc::new(AtomicUsize::new(0));
    let done = over.clone();
    let work = move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        done.store(1, Ordering::Release);
    };
    writes.launch_host_fn(work).unwrap();
    let described = CudaArrayInterface {
        shape: vec![2],
        typestr: "<f4".into(),
        data,
        strides: None,
        version: 2,
        stream: None,
        masked: false,
    };
    let owner = (theirs, Counted(drops.clone()));
    // SAFETY: the elements are the owner's, which is used in no other way.
    let x = unsafe { DeviceArray::<f32, Ix1>::from_cuda_array_interface(&context, &described, owner) }.unwrap();
    assert_eq!(over.load(Ordering::Acquire), 1, "nothing says that the memory is not written on that stream");
    assert_eq!(x.copy_to_host().unwrap(), array![1.0, 2.0]);
    drop(x);
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

#[test]
fn a_read_only_array_is_shared_as_such_and_taken_for_reading_alone() {
    let (context, drops) = (context(), Arc::new(AtomicUsize::new(0)));
    let stream = Stream::new(&context).unwrap();
    let theirs = to_device(&context, &array![[1, 2], [3, 4]]).unwrap();
    let (first, owner) = (theirs.device_ptr(), (theirs, Counted(drops.clone())));
    // SAFETY: the elements are the owner's, which is used in no other way.
    let x =
        unsafe { DeviceArray::<i32, Ix2, ReadOnly>::from_raw_parts_read_only(&context, first, (2, 2), &[1, 2], owner) };
    let shared = x.unwrap().into_dlpack_read_only(&stream).unwrap();
    assert_eq!(shared.get().flags, DL_FLAG_READ_ONLY);
    // SAFETY: the structure is that of the array above.
    let x = unsafe { DeviceArray::<i32, Ix2, ReadOnly>::from_dlpack_read_only(&context, shared) }.unwrap();
    assert_eq!(x.copy_to_host().unwrap(), array![[1, 3], [2, 4]]);
    let shared = x.into_dlpack_read_only(&stream).unwrap();
    assert_eq!(drops.load(Ordering::Relaxed), 0);
    // SAFETY: it is refused.
    let refused = unsafe { DeviceArray::<i32, Ix2>::from_dlpack(&context, shared) }.unwrap_err();
    assert_eq!(refused.to_string(), "the array is read-only; import it as a read-only array");
    assert_eq!(drops.load(Ordering::Relaxed), 1, "the refusal ends the structure, and with it every owner");
}

fn goes_around<T: Exchanged + PartialEq + std::fmt::Debug>(context: &Context, values: [T; 4], code: u8) {
    let x = from_slice(context, &values).unwrap();
    let shared: Dlpack<DLManagedTensor> = x.into_dlpack(&context.default_stream()).unwrap();
    let bits = 8 * size_of::<T>() as u8;
    assert_eq!(shared.get().dl_tensor.dtype, DLDataType { code, bits, lanes: 1 });
    // SAFETY: it was exported whole.
    let back = unsafe { DeviceArray::<T, IxDyn>::from_dlpack(context, shared) }.unwrap();
    assert_eq!(back.copy_to_host().unwrap().into_raw_vec_and_offset().0, values);
}

#[test]
fn every_number_has_its_dlpack_type() {
    let context = context();
    goes_around(&context, [1_i8, -2, 3, 4], 0);
    goes_around(&context, [1_i64, -2, 3, 4], 0);
    goes_around(&context, [1_i128, i128::MIN, 3, 4], 0);
    goes_around(&context, [1_isize, -2, 3, 4], 0);
    goes_around(&context, [1_u16, 2, 3, 4], 1);
    goes_around(&context, [u128::MAX, 2, 3, 4], 1);
    goes_around(&context, [1_usize, 2, 3, 4], 1);
    goes_around(&context, [f16::ONE; 4], 2);
    goes_around(&context, [1.5_f32, 2.0, 3.0, 4.0], 2);
    goes_around(&context, [bf16::ONE; 4], 4);
    goes_around(&context, [Complex::new(1.0_f64, 2.0); 4], 5);
}

static DELETED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn deleted(_: *mut DLManagedTensorVersioned) {
    DELETED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn mismatches_are_refused_by_name_and_deleted_once() {
    let context = context();
    let x = from_slice(&context, &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let (mut shape, address) = ([2_i64, 3], x.device_ptr());
    let mut make = |change: &dyn Fn(&mut DLManagedTensorVersioned)| {
        let data: *mut c_void = std::ptr::with_exposed_provenance_mut(address as usize - 16);
        let dl_tensor = DLTensor {
            data,
            device: DLDevice { device_type: DL_CUDA, device_id: 0 },
            ndim: 2,
            dtype: DLDataType { code: 2, bits: 32, lanes: 1 },
            shape: shape.as_mut_ptr(),
            strides: std::ptr::null_mut(),
            byte_offset: 16,
        };
        let version = cuda_mem::ffi::DLPackVersion { major: 1, minor: 1 };
        let (manager_ctx, deleter) = (std::ptr::null_mut(), Some(deleted as unsafe extern "C" fn(_)));
        let mut shared = DLManagedTensorVersioned { version, manager_ctx, deleter, flags: 0, dl_tensor };
        change(&mut shared);
        DELETED.store(0, Ordering::Relaxed);
        // SAFETY: the structure lives longer than the array, which is dropped below.
        let shared = unsafe { Dlpack::from_raw(&raw mut shared) };
        // SAFETY: the elements are those of `x`, which is not used meanwhile.
        let outcome = unsafe { DeviceArray::<f32, Ix2>::from_dlpack(&context, shared) };
        let outcome = outcome.map(|array| {
            assert_eq!(DELETED.load(Ordering::Relaxed), 0);
            array.copy_to_host().unwrap()
        });
        assert_eq!(DELETED.load(Ordering::Relaxed), 1, "once, after the last use or with the error");
        outcome.map_err(|error| error.to_string())
    };
    assert_eq!(make(&|_| ()).unwrap(), array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert!(make(&|x| x.dl_tensor.device.device_type = DL_CUDA_HOST).is_ok());
    let mut refused = |change: &dyn Fn(&mut DLManagedTensorVersioned)| make(change).unwrap_err();
    assert_eq!(
        refused(&|x| x.dl_tensor.device.device_id = 1),
        "the array is on DLPack device (2, 1) (type, number), which device 0 cannot use"
    );
    assert!(refused(&|x| x.dl_tensor.device.device_type = 1).contains("device (1, 0)"));
    assert_eq!(
        refused(&|x| x.dl_tensor.dtype.lanes = 4),
        "the array's elements are vectors of 4 numbers, not of 1; import it as an array of such vectors"
    );
    assert_eq!(
        refused(&|x| x.dl_tensor.dtype.bits = 64),
        "the array's elements are `DLPack code 2 of 64 bits`, not `DLPack code 2 of 32 bits`"
    );
    assert_eq!(refused(&|x| x.dl_tensor.ndim = 1), "the array has 1 axes, not 2");
    assert!(refused(&|x| x.dl_tensor.byte_offset = 17).contains("not aligned"));
    assert!(refused(&|x| x.flags = DL_FLAG_READ_ONLY).starts_with("the array is read-only"));
    assert_eq!(refused(&|x| x.version.major = 2), "version 2 of the protocol is not supported");
}

#[test]
fn another_process_opens_an_array_once() {
    const HANDLE: &str = "CUDA_MEM_TEST_IPC";
    let context = context();
    if let Ok(text) = std::env::var(HANDLE) {
        let bytes: Vec<u8> = text.split(',').map(|byte| byte.parse().unwrap()).collect();
        let handle = IpcHandle::<i32, Ix2>::from_bytes(&bytes).unwrap();
        // SAFETY: the parent waits meanwhile.
        let mut x = unsafe { handle.open(&context) }.unwrap();
        assert_eq!(x.copy_to_host().unwrap(), array![[3, 1], [13, 11]]);
        // SAFETY: it is refused.
        let twice = unsafe { handle.open(&context) }.unwrap_err();
        assert!(twice.to_string().starts_with("the IPC handle is open already in this process"), "{twice}");
        x.fill(7).unwrap();
        drop(x);
        // SAFETY: it is refused.
        assert_eq!(unsafe { handle.open(&context) }.unwrap().copy_to_host().unwrap().sum(), 28, "again after its end");
        return;
    }
    let mut x = shareable_array::<i32, _>(&context, (2, 4)).unwrap();
    x.copy_from_host(&array![[0, 1, 2, 3], [10, 11, 12, 13]]).unwrap();
    let handle = x.slice(s![.., 1..;2]).slice(s![.., ..;-1]).ipc_handle().unwrap();
    // SAFETY: it is refused.
    let own = unsafe { handle.open(&context) }.unwrap_err();
    assert!(own.to_string().starts_with("an IPC handle is for other processes"), "{own}");
    let text: Vec<String> = handle.to_bytes().iter().map(u8::to_string).collect();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "another_process_opens_an_array_once"]).env(HANDLE, text.join(","));
    let output = child.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(x.copy_to_host().unwrap(), array![[0, 7, 2, 7], [10, 7, 12, 7]], "what the other process wrote");
    assert!(IpcHandle::<f64, Ix2>::from_bytes(&handle.to_bytes()).is_err(), "of another type");
    assert_eq!(
        IpcHandle::<i32, Ix1>::from_bytes(&[0; 70]).unwrap_err().to_string(),
        "these 70 bytes are no IPC handle of an array of this type and number of axes"
    );
}

#[test]
fn memory_of_a_pool_or_managed_is_not_shared_with_processes() {
    let context = context();
    let pool = from_slice(&context, &[1, 2]).unwrap().ipc_handle().unwrap_err();
    assert!(pool.to_string().contains("cannot be shared with other processes; allocate it by `shareable_array`"));
    assert!(managed_array::<u8, _>(&context, 4).unwrap().device().ipc_handle().is_err());
}
