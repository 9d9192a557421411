//! The book's tables of what goes wrong with memory, and of what Numba has messages for: each situation is brought about, and
//! its text is the book's. Where a text names what differs from run to run, the book has `…`.
//!
//! # Safety
//!
//! What is imported or opened is refused; one structure that was exported is changed while nobody else has it.

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

/// A kernel of the JIT's own macro, which does not choose a device.
#[cuda_jit::kernel]
fn nothing() {}

/// Names the variable of a second device, which the software device then has.
const TWO_DEVICES: [(&str, Option<&str>); 2] = [("CUDA_DRIVER_PATH", Some("sim")), ("CUDA_SIM_DEVICES", Some("2"))];

/// What brings a situation about and gives its text, which may have more around it.
type Situation = fn() -> Result<String>;

/// The rows of a chapter's table: situation and text.
fn rows(heading: &str) -> Vec<(&'static str, &'static str)> {
    let (_, section) = CHAPTER.split_once(&format!("## {heading}\n")).expect("the chapter has the section");
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    rows.skip(1).collect()
}

/// Whether a text has the parts between the book's `…`, one after the other.
fn says(text: &str, expected: &str) -> bool {
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

/// Holds a section against what happens: every row has its situation, every situation its row, and each text is said.
fn hold(heading: &str, situations: &[(&str, Situation)]) {
    let context = current_context().expect("there is a device");
    let mut known: BTreeMap<&str, Situation> = situations.iter().copied().collect();
    for (name, expected) in rows(heading) {
        let bring_about = known.remove(name).unwrap_or_else(|| panic!("nothing brings about `{name}`"));
        let text = bring_about().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(says(&text, expected), "{name}: the book has\n{expected}\nand it is\n{text}");
        synchronize().expect("nothing is left to be reported");
        assert_eq!(memory_statistics(&context).live_bytes, 0, "{name}: something is left");
        assert_eq!(from_slice(&[1_u8, 2]).and_then(|x| Ok(x.copy_to_host()?)).expect("the next call works").len(), 2);
    }
    assert!(known.is_empty(), "the book lacks {:?}", known.keys());
}

/// The text of an error, and a panic where there is none.
fn refused<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<String> {
    Ok(result.err().expect("it is refused").to_string())
}

/// What the compiler says of the macro's refusals, as the tests of the macros have it.
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

/// An array interface that has been changed, as it is imported.
fn imported(change: fn(&mut CudaArrayInterface)) -> Result<String> {
    let array = from_slice(&[1.0_f64, 2.0])?;
    let mut interface = array.cuda_array_interface(&default_stream()?)?;
    interface.data.1 = false;
    change(&mut interface);
    // SAFETY: it is refused.
    refused(unsafe { DeviceArray::<f64, Ix1>::from_cuda_array_interface(&current_context()?, &interface, ()) })
}

fn elsewhere() -> Result<String> {
    Ok(in_own_process("situations::between_two_devices", &TWO_DEVICES, || two_devices().expect("there are two")))
}

/// In a process with two devices: prints what is refused between them.
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
fn what_the_book_says_of_memory_happens() {
    in_own_process("situations::what_the_book_says_of_memory_happens", &[], || hold("Of memory", &of_memory()));
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
            // SAFETY: it is refused.
            refused(unsafe { handle.open(&current_context()?) })
        }),
        // That they are what opening reports, cuda-mem's tests with a driver that plays both processes see.
        ("an IPC handle that is open", || Ok(ExchangeError::OpenTwice.to_string())),
        ("an IPC handle whose array is gone", || Ok(ExchangeError::Gone("the driver's words".into()).to_string())),
        ("an IPC handle of a pool's memory", || refused(numbers(4)?.ipc_handle())),
        ("bytes that are no IPC handle", || {
            // SAFETY: it is refused.
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
            // SAFETY: the structure is live, and nobody else has it.
            unsafe { (*raw).dl_tensor.device.device_type = 1 };
            // SAFETY: it came from `into_raw`.
            let shared = unsafe { Dlpack::from_raw(raw) };
            // SAFETY: it is refused.
            refused(unsafe { DeviceArray::<u8, Ix1>::from_dlpack(&current_context()?, shared) })
        }),
        ("DLPack's other elements", || {
            let shared: Dlpack<DLManagedTensorVersioned> = numbers(4)?.into_dlpack(&default_stream()?)?;
            // SAFETY: it is refused.
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

/// What a launch with host arrays and few blocks warns of.
/// The warnings of a small launch of host arrays on the software device, with `CUDA_JIT_WARNINGS` as given.
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

/// The software device shows the multiprocessors of a card that it is not.
#[test]
fn the_software_device_says_nothing_of_occupancy_unless_it_is_asked() {
    let said = warned_with("situations::the_software_device_says_nothing_of_occupancy_unless_it_is_asked", None);
    assert!(said.is_empty() || (said.contains("implicit-copy") && !said.contains("low-occupancy")), "{said}");
}

#[test]
fn a_warning_that_there_is_not_is_an_error() {
    let said = warned_with("situations::a_warning_that_there_is_not_is_an_error", Some("low-occupancy,typo"));
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
    // The prelude's launches have the current device's; this one has none.
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
fn what_the_book_says_of_numbas_messages_happens() {
    let name = "situations::what_the_book_says_of_numbas_messages_happens";
    in_own_process(name, &[], || hold("Where Numba has a message", &of_numba()));
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

/// The comparison itself: parts in order, and none missing.
#[test]
fn a_text_that_lacks_a_part_is_seen() {
    assert!(says("memory of device 0 in stream 7, of device 1", "`memory of device 0 in …, of device 1`"));
    assert!(!says("memory of device 0 in stream 7", "`memory of device 0 in …, of device 1`"));
    assert!(!says("of device 1, memory of device 0", "`memory of device 0 …, of device 1`"));
}
