//! Checks the book's tables of errors of memory, and of counterparts of Numba's messages: each situation is triggered, and its
//! text must be the book's. In place of parts that differ from run to run, the book has `…`.
//!
//! # Safety
//!
//! Imports and opened handles are refused, so their memory is never accessed; an exported structure is changed only while nothing
//! else uses it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use cuda_driver::{Image, JitOptions, Linker};
use cuda_mem::ffi::{DLManagedTensor, DLManagedTensorVersioned};
use cuda_mem::{Buffer, ExchangeError, memory_statistics};
use cuda_prelude::*;
use ndarray::{Array1, Array2, Axis, Ix1, Ix2, array, s};

use crate::support::{add_arrays, in_own_process};

const CHAPTER: &str = include_str!("../../docs/book/src/faults.md");

/// A kernel of cuda-jit's own macro, which chooses no device.
#[cuda_jit::kernel]
fn nothing() {}

/// The variables that give the software device a second device.
const TWO_DEVICES: [(&str, Option<&str>); 2] = [("CUDA_DRIVER_PATH", Some("sim")), ("CUDA_SIM_DEVICES", Some("2"))];

/// Triggers a situation and returns its text, which may be part of a longer one.
type Situation = fn() -> Result<String>;

/// The rows of a section's table: situation and text.
fn rows(heading: &str) -> Vec<(&'static str, &'static str)> {
    let (_, section) = CHAPTER.split_once(&format!("## {heading}\n")).expect("the chapter has the section");
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    rows.skip(1).collect()
}

/// Returns true if a text contains, in order, the parts that the book separates by `…`.
fn matches_book(text: &str, expected: &str) -> bool {
    let expected = expected.trim_matches('`').trim();
    let mut rest = text;
    expected.split('…').all(|part| match rest.split_once(part.trim()) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// Checks a section of the book: every row has a situation, every situation a row, and the texts match.
fn check_section(heading: &str, situations: &[(&str, Situation)]) {
    let context = current_context().expect("there is a device");
    let mut known: BTreeMap<&str, Situation> = situations.iter().copied().collect();
    for (name, expected) in rows(heading) {
        let trigger = known.remove(name).unwrap_or_else(|| panic!("no test triggers `{name}`"));
        let text = trigger().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(matches_book(&text, expected), "{name}: the book has\n{expected}\nand it is\n{text}");
        synchronize().expect("nothing is left to be reported");
        assert_eq!(memory_statistics(&context).live_bytes, 0, "{name}: something is left");
        assert_eq!(from_slice(&[1_u8, 2]).and_then(|x| Ok(x.copy_to_host()?)).expect("the next call works").len(), 2);
    }
    assert!(known.is_empty(), "the book lacks {:?}", known.keys());
}

/// The text of an error; panics if there is none.
fn refused<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<String> {
    Ok(result.err().expect("it is refused").to_string())
}

/// The compiler's diagnostic for code that the macro refuses, from the tests of the macros.
fn of_build(name: &str) -> Result<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../cuda-jit/tests/refused/{name}.stderr"));
    Ok(std::fs::read_to_string(file).expect("the macros' tests have it"))
}

fn matrix() -> Result<DeviceArray<f32, Ix2>> {
    to_device(&Array2::from_shape_fn((3, 2), |(i, j)| (10 * i + j) as f32))
}

fn numbers(count: u8) -> Result<DeviceArray<u8, Ix1>> {
    from_slice(&(0..count).collect::<Vec<_>>())
}

fn shapes() -> Result<String> {
    refused(from_slice(&[1, 2, 3])?.copy_to_host_into(&mut Array1::zeros(4)))
}

fn broadcast() -> Result<String> {
    refused(matrix()?.assign(&from_slice(&[1.0, 2.0, 3.0])?))
}

fn reshaped() -> Result<String> {
    refused(matrix()?.t().reshape(6).map(|_| ()))
}

fn cast() -> Result<String> {
    refused(numbers(10)?.view_as::<u32>().map(|_| ()))
}

fn misaligned() -> Result<String> {
    refused(numbers(10)?.slice(s![1..9]).view_as::<u32>().map(|_| ()))
}

fn split() -> Result<String> {
    refused(numbers(10)?.split(Axis(0), 3).map(|_| ()))
}

fn page_locked() -> Result<String> {
    refused(pinned(&mut Array2::<u8>::zeros((4, 4)).slice_mut(s![.., 1..]), |_| ()))
}

/// The error for importing an array interface after `change`.
fn imported(change: fn(&mut CudaArrayInterface)) -> Result<String> {
    let array = from_slice(&[1.0_f64, 2.0])?;
    let mut interface = array.cuda_array_interface(&default_stream()?)?;
    interface.data.1 = false;
    change(&mut interface);
    // SAFETY: it is refused, so the memory that it names is never accessed.
    refused(unsafe { DeviceArray::<f64, Ix1>::from_cuda_array_interface(&current_context()?, &interface, ()) })
}

fn elsewhere() -> Result<String> {
    Ok(in_own_process("situations::between_two_devices", &TWO_DEVICES, || two_devices().expect("there are two")))
}

/// Prints, in a process with two devices, the errors for mixing their memory.
fn two_devices() -> Result<()> {
    let x = from_slice(&[1.0_f32; 8])?;
    let mut y = zeros::<f32, _>(8)?;
    let _selected = select_device(1)?;
    let mut z = zeros::<f32, _>(8)?;
    println!("{}", refused(z.fill_on(1.0, &Stream::new(x.context())?))?);
    println!("{}", refused(add_arrays::launch((1, 8), &x, &z, &mut y))?);
    z.assign(&x)?;
    assert_eq!(z.copy_to_host()?.sum(), 8.0, "but it can be copied");
    Ok(())
}

#[test]
fn between_two_devices() {
    elsewhere().expect("it is refused");
}

#[test]
fn the_books_memory_errors_are_correct() {
    in_own_process("situations::the_books_memory_errors_are_correct", &[], || check_section("Of memory", &of_memory()));
}

fn of_memory() -> Vec<(&'static str, Situation)> {
    vec![
        ("another shape", shapes),
        ("what does not repeat to the target's shape", broadcast),
        ("a reshape to another number of elements", || refused(matrix()?.reshape((4, 2)).map(|_| ()))),
        ("a reshape that would move elements", reshaped),
        ("other axes than the type's", || {
            refused(numbers(10)?.into_dimensionality::<Ix2>().map_err(|refused| refused.error))
        }),
        ("other elements that do not fit", cast),
        ("other elements that are not aligned", misaligned),
        ("unequal parts", split),
        ("no room", || refused(zeros::<f64, _>(1_usize << 45))),
        ("larger than the address space", || refused(device_array::<f32, _>((usize::MAX, 2)))),
        ("memory of another device in a stream, or in a launch", elsewhere),
        ("page-locking a part with gaps", page_locked),
        ("page-locking twice", || {
            let mut host = Array1::<u8>::zeros(16);
            refused(pinned(&mut host, |outer| pinned(&mut outer.view_mut()?, |_| ()))?)
        }),
        ("a copy that its callback broke off", || {
            let (host, mut x) = (Array1::<u8>::zeros(20 << 20), zeros::<u8, _>(20 << 20)?);
            refused(x.copy_from_host_with(&host, |_| ControlFlow::Break(())))
        }),
        ("a memory manager that comes too late", || {
            let _first = numbers(1)?;
            refused(set_memory_manager(&current_context()?, std::sync::Arc::new(CachingManager::new())))
        }),
        ("an IPC handle in its own process", || {
            let handle = shareable_array::<u8, _>(4)?.ipc_handle()?;
            // SAFETY: it is refused, so the memory that it names is never accessed.
            refused(unsafe { handle.open(&current_context()?) })
        }),
        // cuda-mem's tests check that opening reports these errors, with a driver that acts as both processes.
        ("an IPC handle that is open", || Ok(ExchangeError::OpenTwice.to_string())),
        ("an IPC handle whose array is gone", || Ok(ExchangeError::Gone("the driver's words".into()).to_string())),
        ("an IPC handle of a pool's memory", || refused(numbers(4)?.ipc_handle())),
        ("bytes that are no IPC handle", || {
            // SAFETY: it is refused, so the memory that it names is never accessed.
            refused(unsafe { open_ipc_array::<u8, Ix1>(&current_context()?, &[0; 70]) })
        }),
        ("another library's elements", || imported(|interface| interface.typestr = ">f8".into())),
        ("another library's strides", || imported(|interface| interface.strides = Some(vec![12]))),
        ("another library's stream 0", || imported(|interface| interface.stream = Some(0))),
        ("another library's masked array", || imported(|interface| interface.masked = true)),
        ("another library's read-only array", || imported(|interface| interface.data.1 = true)),
        ("another library's address", || imported(|interface| interface.data.0 += 1)),
        ("DLPack's other devices", || {
            let shared: Dlpack<DLManagedTensor> = numbers(4)?.into_dlpack(&default_stream()?)?;
            let raw = shared.into_raw();
            // SAFETY: the structure is live, and nothing else uses it.
            unsafe { (*raw).dl_tensor.device.device_type = 1 };
            // SAFETY: it came from `into_raw`.
            let shared = unsafe { Dlpack::from_raw(raw) };
            // SAFETY: it is refused, so the memory that it names is never accessed.
            refused(unsafe { DeviceArray::<u8, Ix1>::from_dlpack(&current_context()?, shared) })
        }),
        ("DLPack's other elements", || {
            let shared: Dlpack<DLManagedTensorVersioned> = numbers(4)?.into_dlpack(&default_stream()?)?;
            // SAFETY: it is refused, so the memory that it names is never accessed.
            refused(unsafe { DeviceArray::<i8, Ix1>::from_dlpack(&current_context()?, shared) })
        }),
        ("elements without a name of NumPy's", || {
            refused(zeros::<bf16, _>(2)?.cuda_array_interface(&default_stream()?))
        }),
        ("bytes beyond a buffer", || {
            let buffer = Buffer::new(&default_stream()?, 8)?;
            let beyond = std::panic::AssertUnwindSafe(|| {
                let mut target = [std::mem::MaybeUninit::<u64>::uninit(); 2];
                buffer.read(0, &mut target).map(|_| ())
            });
            let panic = std::panic::catch_unwind(beyond).expect_err("the caller's mistake");
            Ok(panic.downcast_ref::<String>().expect("it has a text").clone())
        }),
    ]
}

/// The warnings of a small launch of host arrays on the software device, with this value of `CUDA_JIT_WARNINGS`.
fn warned_with(test: &str, warnings: Option<&str>) -> String {
    in_own_process(test, &[("CUDA_DRIVER_PATH", Some("sim")), ("CUDA_JIT_WARNINGS", warnings)], || {
        let mut out = vec![0.0_f32; 8];
        let launched = add_arrays::launch((1, 8), &[1.0_f32; 8], &[2.0_f32; 8], &mut out);
        println!("{}", launched.map_or_else(|error| error.to_string(), |()| "launched".to_owned()));
    })
}

fn warned() -> Result<String> {
    Ok(warned_with("situations::launches_warn", Some("low-occupancy,implicit-copy")))
}

#[test]
fn launches_warn() {
    warned().expect("it runs");
}

/// The software device reports the multiprocessors of a card, which it does not have.
#[test]
fn the_software_device_warns_of_occupancy_only_on_request() {
    let said = warned_with("situations::the_software_device_warns_of_occupancy_only_on_request", None);
    assert!(said.is_empty() || (said.contains("implicit-copy") && !said.contains("low-occupancy")), "{said}");
}

#[test]
fn an_unknown_warning_is_an_error() {
    let said = warned_with("situations::an_unknown_warning_is_an_error", Some("low-occupancy,typo"));
    let error = "CUDA_JIT_WARNINGS: there is no warning `typo`; the names are `low-occupancy` and `implicit-copy`, and `none` for neither";
    assert!(said.is_empty() || (said.contains(error) && !said.contains("launched")), "{said}");
}

fn linked() -> Result<String> {
    let (context, options) = (current_context()?, JitOptions::new());
    let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.extern .func helper();\n.visible .entry k() { call.uni helper; ret; }\n";
    let mut linker = Linker::new(&context, &options)?;
    linker.add(&Image::ptx(ptx)?, "caller")?;
    refused(linker.finish().map(|_| ()))
}

fn without_context() -> Result<String> {
    // The prelude's launches select the current device; this one has no context.
    refused(std::thread::spawn(|| nothing::launch((1, 1))).join().expect("it does not panic"))
}

fn without_driver() -> Result<String> {
    let path = [("CUDA_DRIVER_PATH", Some("/nowhere/libcuda.so.1"))];
    Ok(in_own_process("situations::without_a_driver", &path, || {
        println!("{}", refused(numbers(1)).expect("there is no such driver"));
    }))
}

#[test]
fn without_a_driver() {
    without_driver().expect("it is refused");
}

#[test]
fn the_books_counterparts_of_numbas_messages_are_correct() {
    let name = "situations::the_books_counterparts_of_numbas_messages_are_correct";
    in_own_process(name, &[], || check_section("Where Numba has a message", &of_numba()));
}

fn of_numba() -> Vec<(&'static str, Situation)> {
    vec![
        ("non-contiguous transfer", || {
            let host = array![[1, 2, 3], [4, 5, 6]];
            assert_eq!(to_device(&host.slice(s![.., ..;2]))?.copy_to_host()?, host.slice(s![.., ..;2]));
            Ok("any layout is copied".to_owned())
        }),
        ("negative strides to the host", || {
            let x = from_slice(&[1, 2, 3])?;
            assert_eq!(x.slice(s![..;-1]).copy_to_host()?, array![3, 2, 1]);
            Ok("any strides are copied".to_owned())
        }),
        ("dtype mismatch", || of_build("arguments")),
        ("shape mismatch", shapes),
        ("strides mismatch", || imported(|interface| interface.strides = Some(vec![12]))),
        ("reshape that needs a copy", reshaped),
        ("split", split),
        ("setitem", broadcast),
        ("view with another item size", cast),
        ("transpose", || {
            assert_eq!(zeros::<u8, _>((2, 3, 4))?.t().shape(), [4, 3, 2]);
            Ok("any number of axes is transposed".to_owned())
        }),
        ("implicit copy", warned),
        ("occupancy", warned),
        ("launch configuration", || refused(add_arrays::launch((1, 0), &matrix()?, &matrix()?, &mut matrix()?))),
        ("launch without a configuration", || of_build("configuration")),
        ("dimensions", || refused(add_arrays::launch((vec![1, 1, 1, 1], 32), &matrix()?, &matrix()?, &mut matrix()?))),
        ("specialise", || of_build("arguments")),
        ("kernel that returns", || of_build("signatures")),
        ("ABI", || of_build("signatures")),
        ("link", linked),
        ("warp operations' types", || of_build("atomics")),
        ("alignment", misaligned),
        ("context", without_context),
        ("driver, or one that is disabled", without_driver),
        ("print limit", || of_build("printf_forms")),
    ]
}

/// The comparison requires all parts in order.
#[test]
fn a_text_that_lacks_a_part_does_not_match() {
    assert!(matches_book("memory of device 0 in stream 7, of device 1", "`memory of device 0 in …, of device 1`"));
    assert!(!matches_book("memory of device 0 in stream 7", "`memory of device 0 in …, of device 1`"));
    assert!(!matches_book("of device 1, memory of device 0", "`memory of device 0 …, of device 1`"));
}
