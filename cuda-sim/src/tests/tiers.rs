//! Quick code, and the optimised code that replaces it.

use super::{Buffer, HEADER, launch_of, run};
use crate::codegen::jit::{self, Compiled};
use crate::module::{Image, image};
use cuda_tests_support::this_executable;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;

const THREADS: u32 = 64;
const BLOCKS: u32 = 4;

/// Returns a kernel of several hundred instructions, with barriers in a loop, a directed rounding mode, shuffles and an
/// atomic operation. `salt` makes texts differ.
fn text(salt: u32) -> String {
    let mut rounds = String::new();
    for round in 0..60 {
        let (mode, step) = (["rn", "rz", "rm", "rp"][round % 4], round + 1);
        write!(
            rounds,
            "mul.{mode}.f32 %f2, %f1, 0f3F8CCCCD; fma.rn.f32 %f1, %f2, 0f3F000000, %f3; add.{mode}.f32 %f1, %f1, %f2;
             st.shared.f32 [%r5], %f1; bar.sync 0;
             add.u32 %r6, %r1, {step}; and.b32 %r6, %r6, 63; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r4;
             ld.shared.f32 %f3, [%r6]; bar.sync 0;
             shfl.sync.bfly.b32 %r7, %r1, {}, 31, -1; cvt.rn.f32.u32 %f4, %r7; fma.rn.f32 %f1, %f4, 0f3A83126F, %f1;
             min.f32 %f1, %f1, 0f49742400;\n",
            1 << (round % 5)
        )
        .unwrap();
    }
    format!(
        "{HEADER}.shared .align 4 .b8 tile[256];
        .visible .entry k(.param .u64 out, .param .u64 sum, .param .u32 turns) {{
        .reg .pred %p<2>; .reg .b32 %r<12>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
        mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, {THREADS}, %r1;
        mov.u32 %r4, tile; shl.b32 %r5, %r1, 2; add.u32 %r5, %r5, %r4;
        cvt.rn.f32.u32 %f1, %r3; add.f32 %f1, %f1, 0f{:08X}; mov.f32 %f3, %f1;
        ld.param.u32 %r8, [turns];
        LOOP: {rounds} sub.u32 %r8, %r8, 1; setp.ne.u32 %p1, %r8, 0; @%p1 bra LOOP;
        ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r3, 8; add.u64 %rd1, %rd1, %rd2;
        mov.b32 %r9, %f1; cvt.u64.u32 %rd3, %r9; st.global.u64 [%rd1], %rd3;
        ld.param.u64 %rd4, [sum]; atom.global.add.u64 %rd5, [%rd4], %rd3;
        ret; }}",
        (salt as f32).to_bits()
    )
}

fn compiled(image: &Image) -> &Arc<Compiled> {
    image.kernels["k"].compiled(&[], [THREADS, 1, 1], false).unwrap()
}

/// Returns the memory after a launch of the kernel.
fn launch(image: &Arc<Image>, turns: u64) -> Vec<u64> {
    let (out, sum) = (Buffer::new(&vec![0; (BLOCKS * THREADS) as usize]), Buffer::new(&[0]));
    run(image, "k", [BLOCKS, 1, 1], [THREADS, 1, 1], &[out.0, sum.0, turns]).unwrap();
    [out.read((BLOCKS * THREADS) as usize), sum.read(1)].concat()
}

/// The first launch runs quick code, and later ones optimised code.
fn swaps() {
    let image = image(&text(1)).unwrap();
    assert_eq!(compiled(&image).tiers()[0], 1, "a kernel is begun with its first region");
    let first = launch(&image, 3);
    let [quick, _] = compiled(&image).tiers();
    assert!(quick > 20, "{quick} regions");
    jit::wait_idle();
    assert_eq!(compiled(&image).tiers(), [quick, quick], "everything that ran is optimised");
    assert_eq!(launch(&image, 3), first);
    // Fibers share only the text with these engines.
    let fibers = image.kernels["k"].fibers(&[], false).unwrap();
    let (out, sum) = (Buffer::new(&vec![0; (BLOCKS * THREADS) as usize]), Buffer::new(&[0]));
    let (_module, launch) = launch_of(&image, fibers, [BLOCKS, 1, 1], [THREADS, 1, 1], &[out.0, sum.0, 3]);
    Arc::new(launch).run().unwrap();
    assert_eq!([out.read((BLOCKS * THREADS) as usize), sum.read(1)].concat(), first);
}

/// A launch that is long enough, on most machines, for its code to be replaced while it runs; the result is the same on
/// all.
fn swaps_meanwhile() {
    let image = image(&text(2)).unwrap();
    let first = launch(&image, 1000);
    jit::wait_idle();
    assert_eq!(launch(&image, 1000), first);
}

#[test]
fn small_kernels_are_optimised_at_once() {
    let text = format!("{HEADER}.visible .entry k() {{ ret; }}");
    let image = image(&text).unwrap();
    assert_eq!(compiled(&image).tiers(), [0, 1]);
}

/// The variable that names the role of a child process.
const PART: &str = "CUDA_SIM_TEST_TIERS";

/// Runs a child process in a role, which caches code in a folder or not at all.
fn child(part: &str, folder: Option<&Path>) -> Output {
    let mut command = this_executable();
    command.args(["--exact", "tests::tiers::children", "--nocapture"]).env(PART, part);
    match folder {
        Some(folder) => command.env("CUDA_JIT_CACHE_DIR", folder).env_remove("CUDA_JIT_CACHE"),
        None => command.env("CUDA_JIT_CACHE", "off"),
    };
    command.output().unwrap()
}

/// Returns while a kernel is compiled in the background.
fn begins() {
    let image = image(&text(3)).unwrap();
    launch(&image, 1);
    let [quick, good] = compiled(&image).tiers();
    assert!(good < quick, "nothing is left to compile");
}

/// As [`begins`], but another process has compiled quick code, so the second launch loads LLVM.
fn ends_later() {
    // It requests the kernel's code twice.
    begins();
    assert!(cuda_llvm::is_initialized());
    // The process ends at different times.
    let wait = std::process::id() % 64;
    std::thread::sleep(std::time::Duration::from_millis(wait.into()));
}

fn forks() {
    begins();
    // SAFETY: the child calls nothing but `exit`, which is what is tested.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        // SAFETY: the child has called nothing else, and `exit` is what is tested.
        unsafe { libc::exit(3) };
    }
    let mut status = 0;
    // SAFETY: the status is a live local.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert_eq!(libc::WEXITSTATUS(status), 3, "{status:#x}");
}

/// A launch whose process ends when everything is compiled and cached.
fn keeps() {
    let image = image(&text(4)).unwrap();
    let result = launch(&image, 2);
    jit::wait_idle();
    println!("result {result:?}");
    clustered(&image);
}

fn clustered(image: &Image) {
    drop(Arc::clone(image.kernels["k"].compiled(&[], [THREADS, 1, 1], true).unwrap()));
}

/// As [`keeps`], but another process has done all that.
fn finds() {
    let image = image(&text(4)).unwrap();
    println!("result {:?}", launch(&image, 2));
    let [quick, good] = compiled(&image).tiers();
    assert!(quick == 0 && good > 20, "{quick} are not good, {good} are");
    clustered(&image);
    assert!(!image.kernels["k"].is_parsed() && !cuda_llvm::is_initialized());
    // Code that was not cached is compiled from the text.
    assert!(image.kernels["k"].fibers(&[], false).is_ok() && image.kernels["k"].is_parsed());
}

/// The roles of the tests below, each in a process of its own.
#[test]
fn children() {
    let Ok(part) = std::env::var(PART) else { return };
    match part.as_str() {
        "swaps" => swaps(),
        "swaps meanwhile" => swaps_meanwhile(),
        "ends" => begins(),
        "ends later" => ends_later(),
        "forks" => forks(),
        "keeps" => keeps(),
        "finds" => finds(),
        other => panic!("there is no part {other}"),
    }
    std::process::exit(7);
}

#[track_caller]
fn check(part: &str, folder: Option<&Path>) -> String {
    let output = child(part, folder);
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find(|line| line.starts_with("result")).unwrap_or_default().to_owned()
}

#[test]
fn the_first_launch_runs_quick_code_and_later_ones_good_code_with_the_same_results() {
    check("swaps", None);
}

#[test]
fn a_launch_goes_on_with_good_code_once_there_is_some() {
    check("swaps meanwhile", None);
}

#[test]
fn a_process_may_end_while_a_kernel_is_compiled() {
    (0..3).for_each(|_| drop(check("ends", None)));
}

#[test]
fn a_process_may_end_soon_after_the_launch_that_loads_llvm() {
    let folder = std::env::temp_dir().join(format!("cuda-sim-tiers-ends-{}", std::process::id()));
    check("ends", Some(&folder));
    (0..8).for_each(|_| drop(check("ends later", Some(&folder))));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_forked_child_may_end_while_its_parent_compiles() {
    check("forks", None);
}

#[test]
fn a_kernel_that_another_process_launched_is_neither_parsed_nor_compiled() {
    let folder = std::env::temp_dir().join(format!("cuda-sim-tiers-{}", std::process::id()));
    let kept = check("keeps", Some(&folder));
    assert_eq!(check("finds", Some(&folder)), kept);
    // Whatever happens to the files, the result is the same.
    for (at, file) in std::fs::read_dir(&folder).unwrap().enumerate() {
        let path = file.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        match at % 3 {
            0 => bytes.truncate(bytes.len() / 2),
            1 => bytes[100] ^= 1,
            _ => bytes.clear(),
        }
        std::fs::write(path, bytes).unwrap();
    }
    assert_eq!(check("keeps", Some(&folder)), kept);
    assert_eq!(check("finds", Some(&folder)), kept);
    std::fs::remove_dir_all(folder).unwrap();
}
