//! CUDA C++ that NVIDIA's own compilers compile when the test runs, together with kernels in Rust.
//!
//! NVRTC of CUDA 12 and 13 and nvcc 13 compile `cuda/kernels.cu`, optimised and for debuggers, for old and new cards. This file
//! has the expected results. libNVVM compiles NVVM IR. `cargo xtask setup --all` downloads the compilers.
//!
//! # Safety
//!
//! Each launch passes the parameters that the kernel of that name in `cuda/` takes: values of their types, and arrays
//! that outlive the synchronisation after it. Raw calls pass pointers to live locals, as CUDA's documentation requires.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

use std::ffi::{CStr, OsString, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::null_mut;

use cuda_driver::cuda_sys::{CUjitInputType, CUmodule, CUresult};
use cuda_driver::{Context, Module};
use cuda_prelude::*;
use ndarray::{Array1, Ix1};

use crate::support::{add_arrays, combined_output, downloaded, in_own_process, skip};

/// A compiler with its files and arguments.
struct Compiler {
    name: &'static str,
    program: PathBuf,
    first: Vec<OsString>,
    /// True if it takes source and output as nvcc does.
    nvcc: bool,
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The C program that calls a compiler's library.
fn caller(folder: &Path) -> Option<PathBuf> {
    let program = folder.join("compile");
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-o"]).arg(&program);
    let output = cc.arg(source("c/compile.c")).arg("-ldl").output().ok()?;
    assert!(output.status.success(), "{}", combined_output(&output));
    Some(program)
}

fn include(folder: &Path) -> [OsString; 2] {
    ["include", "include/cccl"].map(|name| {
        let mut option = OsString::from("-I");
        option.push(folder.join(name));
        option
    })
}

fn compiler(name: &'static str, folder: &Path) -> Option<Compiler> {
    let compilers = downloaded("compilers")?;
    if name == "nvcc 13" {
        let program = downloaded("toolkit")?.join("bin/nvcc");
        Command::new("g++").arg("--version").output().ok()?;
        let mut first = vec!["-ptx".into(), "-w".into(), "-std=c++17".into()];
        first.extend(include(&compilers.join("cuda13")).into_iter().skip(1));
        return Some(Compiler { name, program, first, nvcc: true });
    }
    let (kind, toolkit, library) = match name {
        "NVRTC 12" => ("nvrtc", compilers.join("cuda12"), "lib64/libnvrtc.so.12"),
        "NVRTC 13" => ("nvrtc", compilers.join("cuda13"), "lib64/libnvrtc.so.13"),
        "libNVVM 12" => ("nvvm", compilers.join("cuda12"), "nvvm/lib64/libnvvm.so.4"),
        _ => ("nvvm", downloaded("toolkit")?, "targets/x86_64-linux/lib/libnvvm.so.4"),
    };
    let mut first = vec![kind.into(), toolkit.join(library).into()];
    if kind == "nvrtc" {
        first.extend(include(&toolkit));
        first.extend(["-w".into(), "-std=c++17".into()]);
    }
    Some(Compiler { name, program: caller(folder)?, first, nvcc: false })
}

impl Compiler {
    fn compile(&self, folder: &Path, file: &str, options: &[&str]) -> String {
        let output = folder.join("output.ptx");
        let mut command = Command::new(&self.program);
        if self.nvcc {
            command.args(&self.first).args(options).arg("-o").arg(&output).arg(source(file));
        } else {
            command.args(&self.first[..2]).arg(source(file)).arg(&output).args(&self.first[2..]).args(options);
            // The library loads its builtins from there.
            command.env("LD_LIBRARY_PATH", Path::new(&self.first[1]).parent().expect("a file in a folder"));
        }
        let result = command.output().expect("it starts");
        assert!(result.status.success(), "{} {options:?}: {}", self.name, combined_output(&result));
        std::fs::read_to_string(&output).expect("it has been written")
    }
}

/// A loaded module, and its name in failures.
struct Program<'a> {
    module: &'a Module,
    name: String,
}

impl Program<'_> {
    fn launch(&self, kernel: &str, config: &LaunchConfig, params: &mut [*mut c_void]) {
        let mut done = || {
            let function = self.module.function(kernel)?;
            let stream = self.module.context().default_stream();
            unsafe { function.launch(config, &stream, params) }?;
            self.module.context().synchronize()
        };
        done().unwrap_or_else(|error| panic!("{}: {kernel}: {error}", self.name));
    }

    /// Launches a kernel whose parameters are numbers and arrays, and returns the arrays.
    fn run<T: Element>(&self, kernel: &str, config: &LaunchConfig, numbers: &[u32], arrays: &[Vec<T>]) -> Vec<Vec<T>> {
        let device: Vec<_> = arrays.iter().map(|array| from_slice(array).expect("there is room")).collect();
        let mut words: Vec<u64> = numbers.iter().map(|n| u64::from(*n)).collect();
        words.extend(device.iter().map(|array| array.device_ptr()));
        let mut params: Vec<*mut c_void> = words.iter_mut().map(|word| std::ptr::from_mut(word).cast()).collect();
        self.launch(kernel, config, &mut params);
        device.iter().map(|array| array.copy_to_host().expect("it ran").into_raw_vec_and_offset().0).collect()
    }

    fn check<T: PartialEq + std::fmt::Debug>(&self, kernel: &str, got: &[T], want: impl Fn(usize) -> T) {
        for (i, got) in got.iter().enumerate() {
            assert_eq!(*got, want(i), "{}: {kernel}: element {i}", self.name);
        }
    }

    fn arithmetic(&self) {
        let n = 1000;
        let (x, y) = (numbers(n, |i| i as f32), numbers(n, |i| 0.5 * i as f32));
        let config = LaunchConfig::new(4, 256);
        let theirs = self.run("vector_add", &config, &[n as u32], &[x.clone(), y.clone(), vec![0.0; n]]).remove(2);
        let (dx, dy) = (from_slice(&x).expect("there is room"), from_slice(&y).expect("there is room"));
        let mut ours = device_array_like(&dx).expect("there is room");
        add_arrays::launch((4, 256), &dx, &dy, &mut ours).expect("it runs");
        assert_eq!(Array1::from(theirs), ours.copy_to_host().expect("it ran"), "{}: vector_add", self.name);
        let words = [n as u32, 3.0f32.to_bits()];
        self.check("saxpy", &self.run("saxpy", &LaunchConfig::new(2, 96), &words, &[x, y])[1], |i| 3.5 * i as f32);
        let sum = self.run("reduce", &LaunchConfig::new(3, 160), &[n as u32], &[numbers(n, |i| i as i32), vec![5]]);
        assert_eq!(sum[1][0], 5 + 999 * 500, "{}: reduce", self.name);
        let bytes = numbers(n, |i| (i * i % 251) as u8);
        let device = (from_slice(&bytes).expect("there is room"), zeros::<u32, _>(256).expect("there is room"));
        let (mut count, mut at, mut bins) = (n as u32, device.0.device_ptr(), device.1.device_ptr());
        let mut params = [(&raw mut count).cast(), (&raw mut at).cast(), (&raw mut bins).cast()];
        self.launch("histogram", &LaunchConfig::new(3, 64), &mut params);
        let bins = device.1.copy_to_host().expect("it ran").into_raw_vec_and_offset().0;
        self.check("histogram", &bins, |bin| bytes.iter().filter(|byte| usize::from(**byte) == bin).count() as u32);
    }

    fn matrices(&self) {
        let n = 37;
        let of = |row: usize, col: usize, by: usize| ((row * by + col * 3) % 11) as i64 - 5;
        let product = |at: usize| (0..n).map(|k| of(at / n, k, 7) * of(k, at % n, 5)).sum::<i64>();
        let both = [7, 5].map(|by| numbers(n * n, |at| of(at / n, at % n, by)));
        let floats = both.clone().map(|m| m.iter().map(|v| *v as f32).collect::<Vec<_>>());
        let config = LaunchConfig::new((3, 3), (16, 16));
        let [a, b] = floats;
        let c = self.run("matmul_float", &config, &[n as u32], &[a, b, vec![0.0; n * n]]).remove(2);
        self.check("matmul_float", &c, |at| product(at) as f32);
        let [a, b] = both;
        let config = LaunchConfig::new((5, 5), (8, 8));
        let c = self.run("matmul_long", &config, &[n as u32], &[a, b, vec![0; n * n]]).remove(2);
        self.check("matmul_long", &c, product);
    }

    fn cooperation(&self) {
        let n = 4 * 64;
        let cooperative = LaunchConfig::new(4, 64).cooperative();
        let x = self.run("grid_steps", &cooperative, &[5], &[numbers(n, |i| i as i32)]);
        self.check("grid_steps", &x[0], |i| ((i + 5) % n + 5) as i32);
        let v = |i: usize| (i * 7 % 97) as i32;
        let out = self.run("groups", &LaunchConfig::new(1, 64), &[], &[numbers(64, v), vec![0; 64]]);
        self.check("groups", &out[1], |i| {
            let warp = i / 32 * 32..i / 32 * 32 + 32;
            let odd: Vec<i32> = warp.clone().map(v).filter(|v| v % 2 == 1).collect();
            let eight: i32 = (i / 8 * 8..i / 8 * 8 + 8).map(v).sum();
            let own =
                if v(i) % 2 == 1 { odd.len() as i32 * 100_000 + i32::from(odd[0] == v(i)) * 10_000_000 } else { 0 };
            eight + (i % 32 / 8) as i32 * 1000 + i32::from(warp.clone().any(|i| v(i) > 90)) * 10_000 + own
        });
        let out = self.run("votes", &LaunchConfig::new(1, 32), &[], &[numbers(32, |i| i as u32), vec![0; 32]]);
        self.check("votes", &out[1], |i| 31_100_067 + if i % 3 == 2 { 10_000 } else { 11_000 });
        let config = LaunchConfig::new(1, 48).shared_bytes(48 * 8);
        let x = self.run("reversed", &config, &[48], &[numbers(48, |i| i as f64)]);
        self.check("reversed", &x[0], |i| 47.0 - i as f64);
    }

    fn clusters(&self) {
        let values = numbers(5000, |i| (i * i * 31 % 977) as u32);
        let four = LaunchConfig::new(4, 96).cluster(4);
        let bins = self.run("cluster_histogram", &four, &[5000], &[values.clone(), vec![0; 64]]).remove(1);
        self.check("cluster_histogram", &bins, |bin| values.iter().filter(|v| **v as usize % 64 == bin).count() as u32);
        // The kernel declares the size of its clusters.
        let places = self.run("cluster_places", &LaunchConfig::new((4, 2), 32).shared_bytes(128), &[], &[vec![0; 256]]);
        self.check("cluster_places", &places[0], |i| {
            let (block, thread) = (i / 32, i % 32);
            let (x, y) = (block % 4 % 2, block / 4);
            let next = (x + 2 * y + 1) % 4;
            (100 * next + thread + 1000 * (x + 10 * y + 12_200) + 100_000_000) as u32
        });
    }

    /// Conversions of 8-bit floats are bit for bit those of NVIDIA's header.
    fn float8(&self) {
        let turning = (0..=255).flat_map(|code| {
            let wide = [e4m3::from_bits(code).to_f32(), e5m2::from_bits(code).to_f32(), e8m0::from_bits(code).to_f32()];
            wide.map(|v| [v, v * 1.0625, v * 1.125, v * 1.25, v * 1.5])
        });
        let turning = turning.flatten().flat_map(|v| [v.next_down(), v, v.next_up(), -v]);
        let mut x: Vec<u32> = turning.map(f32::to_bits).collect();
        // The lower halves of the numbers are every `f16` and `bf16`.
        x.extend((0..=u16::MAX).map(|bits| u32::from(bits) | u32::from(bits.rotate_left(5)) << 16));
        let n = x.len();
        let config = LaunchConfig::new(n.div_ceil(256), 256);
        let out = self.run("narrow", &config, &[n as u32], &[x.clone(), vec![0; 6 * n]]).remove(1);
        for (bits, out) in x.into_iter().zip(out.chunks(6)) {
            let (v, low) = (f32::from_bits(bits), bits as u16);
            let (up, down) = (f64::from(v) * 1.000_000_000_1, f64::from(v) * 0.999_999_999_9);
            let (half, brain) = (f16::from_bits(low), bf16::from_bits(low));
            macro_rules! codes {
                ($v:expr, $saturating:ident, $nosat:ident) => {
                    u32::from_le_bytes([
                        e4m3::$saturating($v).to_bits(),
                        e4m3::$nosat($v).to_bits(),
                        e5m2::$saturating($v).to_bits(),
                        e5m2::$nosat($v).to_bits(),
                    ])
                };
            }
            let scales = |scales: [e8m0; 4]| u32::from_le_bytes(scales.map(e8m0::to_bits));
            let down = [e8m0::from_f64(down), e8m0::from_f64_nosat(down)];
            let ours = [
                codes!(v, from_f32, from_f32_nosat),
                codes!(up, from_f64, from_f64_nosat),
                codes!(half, from_f16, from_f16_nosat),
                codes!(brain, from_bf16, from_bf16_nosat),
                scales([e8m0::from_f32(v), e8m0::from_f32_nosat(v), e8m0::from_f32_rz(v), e8m0::from_f32_rz_nosat(v)]),
                scales([down[0], down[1], e8m0::from_bf16_rz(brain), e8m0::from_bf16_nosat(brain)]),
            ];
            assert_eq!(out, ours, "{}: {v:e} {bits:#x}: {out:x?}, not {ours:x?}", self.name);
        }
        let out = self.run("widen", &LaunchConfig::new(1, 256), &[], &[vec![0u32; 512]]).remove(0);
        for (code, out) in (0..=255).zip(out.chunks(2)) {
            let halves = [e4m3::from_bits(code).to_f16(), e5m2::from_bits(code).to_f16()].map(f16::to_bits);
            let ours =
                [u32::from(halves[0]) | u32::from(halves[1]) << 16, e8m0::from_bits(code).to_bf16().to_bits().into()];
            assert_eq!(out, ours, "{}: code {code:#x}: {out:x?}, not {ours:x?}", self.name);
        }
    }

    /// A loop in a graph, which a kernel ends.
    fn loop_in_a_graph(&self) {
        let context = self.module.context();
        let halve = self.module.function("halve").expect("it is there");
        let (steps, number) = (from_slice(&[0_u32]), from_slice(&[27_u32]));
        let (steps, number) = (steps.expect("there is room"), number.expect("there is room"));
        let run = || {
            let graph = Graph::new(context)?;
            let again = graph.conditional_handle(Some(1))?;
            let (_, body) = graph.add_while(&[], again)?;
            let mut words = [steps.device_ptr(), number.device_ptr(), again.as_raw()];
            let mut params = words.each_mut().map(|word| std::ptr::from_mut(word).cast());
            unsafe { body.add_kernel(&[], &halve, &LaunchConfig::new(1, 1), &mut params) }?;
            let stream = context.default_stream();
            graph.instantiate()?.launch(&stream, ())?;
            stream.synchronize()
        };
        run().unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let read = |array: DeviceArray<u32, Ix1>| array.copy_to_host().expect("it ran")[0];
        assert_eq!((read(steps), read(number)), (111, 1), "{}", self.name);
    }

    fn memory_and_calls(&self) {
        let line = LaunchConfig::new(1, 32);
        let out = self.run("constants", &line, &[], &[vec![0.0f32; 32]]);
        self.check("constants", &out[0], |i| 0.5 * i as f32 + (1 + i % 3) as f32);
        self.launch("count", &LaunchConfig::new(3, 32), &mut []);
        let (address, bytes) = self.module.global("counter").expect("it is managed");
        assert_eq!(bytes, 4);
        // The host reads its value directly, since it is managed memory.
        let counter = unsafe { std::ptr::with_exposed_provenance::<i32>(address as usize).read_volatile() };
        assert_eq!(counter, 40 + 96, "{}: count", self.name);
        let out = self.run("pointers", &line, &[], &[vec![0.0f32; 32]]);
        self.check("pointers", &out[0], |i| {
            let (x, area) = (i as f32, if i % 3 == 0 { 2 * i } else { i * i });
            if i % 2 == 0 { x + 3.0 + 1000.0 * area as f32 } else { x * 3.0 + 1000.0 * area as f32 }
        });
        let out = self.run("recursion", &LaunchConfig::new(1, 16), &[], &[vec![0; 16]]);
        let fibonacci = |n: usize| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
        self.check("recursion", &out[0], fibonacci);
        let x = numbers(32, |i| 0.25 * i as f32);
        let out = self.run("halves", &line, &[], &[x.clone(), vec![0.0; 32]]).remove(1);
        self.check("halves", &out, |i| {
            let below = if x[i] < 1.0 { 100.0 } else { 0.0 };
            x[i] * x[i] + 0.5 + 4.0 * x[i] * x[i] + 0.5 + below + 2.0 + x[i].round_ties_even()
        });
    }
}

fn numbers<T>(n: usize, of: impl Fn(usize) -> T) -> Vec<T> {
    (0..n).map(of).collect()
}

/// Compiles the kernels with each of the sets of options, and runs them all.
fn kernels(test: &str, name: &'static str, ways: &[&[&str]]) {
    compiled(test, name, "cuda/kernels.cu", ways, |program| {
        program.arithmetic();
        program.matrices();
        program.cooperation();
        program.memory_and_calls();
    });
}

/// Compiles a file with each of the sets of options, and runs its kernels.
fn compiled(test: &str, name: &'static str, file: &str, ways: &[&[&str]], run: impl Fn(&Program<'_>)) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(compiler) = compiler(name, folder.path()) else {
        return skip(&format!("cuda_cpp::{test}"), "no such compiler; `cargo xtask setup --all` downloads it");
    };
    let context = current_context().expect("there is a device");
    for options in ways {
        let ptx = compiler.compile(folder.path(), file, options);
        let module = unsafe { Module::load_ptx(&context, &ptx) };
        let name = format!("{name} {options:?}");
        run(&Program { module: &module.unwrap_or_else(|error| panic!("{name}: {error}")), name });
    }
}

#[test]
fn clusters() {
    for (name, ways) in [
        ("NVRTC 12", [&["-arch=compute_90"][..], &["-arch=compute_90", "-G"]]),
        ("NVRTC 13", [&["-arch=compute_90", "-lineinfo"], &["-arch=compute_90", "-G"]]),
        ("nvcc 13", [&["-arch=sm_90"], &["-arch=sm_90", "-Xcicc", "-O0"]]),
    ] {
        compiled("clusters", name, "cuda/clusters.cu", &ways, |program| program.clusters());
    }
}

#[test]
fn float8() {
    // The first converts by integer arithmetic, the second by instructions.
    for (name, ways) in [
        ("NVRTC 13", [&["-arch=compute_75"][..], &["-arch=compute_89"]]),
        ("nvcc 13", [&["-arch=sm_75"], &["-arch=sm_90"]]),
    ] {
        compiled("float8", name, "cuda/float8.cu", &ways, |program| program.float8());
    }
}

/// Newer cards also have instructions for scales.
#[test]
fn float8_of_newer_cards() {
    let test = "cuda_cpp::float8_of_newer_cards";
    in_own_process(test, &[("CUDA_SIM_PROFILE", Some("sm_120"))], || {
        compiled("float8_of_newer_cards", "NVRTC 13", "cuda/float8.cu", &[&["-arch=compute_120a"]], |program| {
            program.float8();
        });
    });
}

#[test]
fn conditional_nodes() {
    let ways = [&["-arch=sm_90", "-rdc=true"][..], &["-arch=sm_75", "-rdc=true", "-Xcicc", "-O0"]];
    compiled("conditional_nodes", "nvcc 13", "cuda/conditional.cu", &ways, |program| program.loop_in_a_graph());
}

#[test]
fn nvrtc_12() {
    kernels("nvrtc_12", "NVRTC 12", &[&["-arch=compute_75"], &["-arch=compute_90", "-G"]]);
}

#[test]
fn nvrtc_13() {
    kernels(
        "nvrtc_13",
        "NVRTC 13",
        &[&["-arch=compute_80", "-use_fast_math", "-lineinfo"], &["-arch=compute_75", "-G"]],
    );
}

#[test]
fn nvcc_13() {
    kernels("nvcc_13", "nvcc 13", &[&["-arch=sm_90", "-rdc=true"], &["-arch=sm_75", "-Xcicc", "-O0"]]);
}

#[test]
fn libnvvm() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["libNVVM 12", "libNVVM 13"] {
        let Some(compiler) = compiler(name, folder.path()) else {
            return skip("cuda_cpp::libnvvm", "no libNVVM; `cargo xtask setup --all` downloads it");
        };
        let context = current_context().expect("there is a device");
        for options in [["-arch=compute_75", "-opt=3"], ["-arch=compute_90", "-opt=0"]] {
            let ptx = compiler.compile(folder.path(), "cuda/kernels.ll", &options);
            let module = &unsafe { Module::load_ptx(&context, &ptx) }.expect("it loads");
            let program = Program { module, name: format!("{name} {options:?}") };
            let x = program.run("mirrored", &LaunchConfig::new(1, 50), &[50], &[numbers(50, |i| i as i32)]);
            program.check("mirrored", &x[0], |i| (i * (49 - i) + i) as i32);
        }
    }
}

/// Links texts to one module, and loads it.
fn linked(context: &Context, parts: &[String]) -> CUmodule {
    let (api, _current) = (context.api(), context.synchronize().expect("it is current now"));
    let (mut state, mut image, mut bytes, mut module) = (null_mut(), null_mut(), 0, null_mut());
    ok(unsafe { (api.cuLinkCreate_v2().expect("it exists"))(0, null_mut(), null_mut(), &mut state) });
    for part in parts {
        let text = format!("{part}\0");
        let (add, data) = (api.cuLinkAddData_v2().expect("it exists"), text.as_ptr().cast_mut().cast());
        let (kind, none) = (CUjitInputType::CU_JIT_INPUT_PTX, (null_mut(), null_mut()));
        ok(unsafe { add(state, kind, data, text.len(), c"part".as_ptr(), 0, none.0, none.1) });
    }
    ok(unsafe { (api.cuLinkComplete().expect("it exists"))(state, &mut image, &mut bytes) });
    ok(unsafe { (api.cuModuleLoadData().expect("it exists"))(&mut module, image) });
    ok(unsafe { (api.cuLinkDestroy().expect("it exists"))(state) });
    module
}

fn ok(code: CUresult) {
    assert_eq!(code, CUresult::CUDA_SUCCESS);
}

/// Launches a kernel of a linked module with one array, for eight threads.
fn launch_linked<T: Element>(context: &Context, module: CUmodule, kernel: &CStr, out: &DeviceArray<T, Ix1>) {
    let (api, mut function, mut at) = (context.api(), null_mut(), out.device_ptr());
    ok(unsafe { (api.cuModuleGetFunction().expect("it exists"))(&mut function, module, kernel.as_ptr()) });
    let (launch, mut params) = (api.cuLaunchKernel().expect("it exists"), [(&raw mut at).cast()]);
    ok(unsafe { launch(function, 1, 1, 1, 8, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()) });
}

/// Two separately compiled files, which each have a local function of the same name.
#[test]
fn files_are_linked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(compiler) = compiler("NVRTC 13", folder.path()) else {
        return skip("cuda_cpp::files_are_linked", "no NVRTC 13; `cargo xtask setup --all` downloads it");
    };
    let context = current_context().expect("there is a device");
    let parts = ["cuda/caller.cu", "cuda/callee.cu"]
        .map(|file| compiler.compile(folder.path(), file, &["-arch=compute_75", "-rdc=true"]));
    let module = linked(&context, &parts);
    let out = zeros::<i32, _>(8).expect("there is room");
    launch_linked(&context, module, c"linked", &out);
    context.synchronize().expect("it ran");
    assert_eq!(out.copy_to_host().expect("it ran").to_vec(), [2, 40, 600, 8000, 10, 120, 1400, 16000]);
    ok(unsafe { (context.api().cuModuleUnload().expect("it exists"))(module) });
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Body {
    at: [f32; 3],
    fixed: bool,
    charge: i8,
    mass: f64,
}

#[device]
fn axpy<T: Num>(a: T, x: T, y: T) -> T {
    a * x + y
}

#[device]
fn shifted(body: Body, by: f32) -> Body {
    if body.fixed {
        return body;
    }
    let [x, y, z] = body.at;
    Body { at: [x + by, y - by, z], fixed: true, charge: -body.charge, mass: 2.0 * body.mass }
}

#[device]
fn heavier(a: &Body, b: &Body) -> bool {
    a.mass > b.mass
}

#[device]
fn add_to(sums: &mut [f32; 4], at: usize, x: f32) {
    sums[at] += x;
}

#[device]
fn narrow(x: u8, y: i16) -> i8 {
    (y - x as i16) as i8
}

#[device]
fn fibonacci(n: u32) -> u32 {
    if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
}

#[device]
fn plus(a: Complex32, b: f32x4) -> Complex32 {
    a * Complex32::new(b.x + b.y, b.z + b.w)
}

/// The expected output of `cuda/rust_caller.cu` for a thread.
fn called(i: usize) -> Vec<f32> {
    let x = i as f32;
    let body = Body { at: [x, 2.0, 3.0], fixed: i % 2 == 1, charge: 5 - i as i8, mass: 0.5 * i as f64 };
    let moved = shifted(body, 10.0);
    let mut sums = [1.0, 2.0, 3.0, 4.0];
    add_to(&mut sums, i % 4, x);
    let z = plus(Complex32::new(x, 1.0), f32x4::new(1.0, 2.0, 3.0, 4.0));
    vec![
        axpy(2.0, x, 0.5),
        axpy(3, i as i32, 1) as f32,
        moved.at[0] + 100.0 * moved.at[1] + 1000.0 * moved.at[2],
        f32::from(moved.fixed) + 10.0 * f32::from(moved.charge) + 1000.0 * moved.mass as f32,
        f32::from(heavier(&moved, &body)),
        sums.iter().sum(),
        f32::from(narrow(i as u8, -3 * i as i16)) + fibonacci(i as u32) as f32 * 100.0,
        z.re + 100.0 * z.im,
    ]
}

/// The compiled device functions, and the compiled file that calls them, preceded by their declarations.
fn exported(compiler: &Compiler, folder: &Path) -> Vec<String> {
    let functions = [
        ExportedFunction::compile::<axpy<f32>>((7, 5)),
        ExportedFunction::compile_as::<axpy<i32>>("scaled", (7, 5)),
        ExportedFunction::compile::<shifted>((7, 5)),
        ExportedFunction::compile::<heavier>((7, 5)),
        ExportedFunction::compile::<add_to>((7, 5)),
        ExportedFunction::compile::<narrow>((7, 5)),
        ExportedFunction::compile::<fibonacci>((7, 5)),
        ExportedFunction::compile::<plus>((7, 5)),
    ]
    .map(|function| function.expect("it has a form in C"));
    let text = ExportedFunction::declarations(&functions) + include_str!("../cuda/rust_caller.cu");
    let file = folder.join("rust_caller.cu");
    std::fs::write(&file, text).expect("it is written");
    let mut parts: Vec<String> = functions.iter().map(|function| function.ptx().to_owned()).collect();
    parts.push(compiler.compile(folder, file.to_str().expect("a path in UTF-8"), &["-arch=compute_75", "-rdc=true"]));
    parts
}

/// Device functions in Rust, called from CUDA C++ with their generated declarations.
#[test]
fn functions_in_rust_are_called() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(compiler) = compiler("NVRTC 13", folder.path()) else {
        return skip("cuda_cpp::functions_in_rust_are_called", "no NVRTC 13; `cargo xtask setup --all` downloads it");
    };
    let context = current_context().expect("there is a device");
    let parts = exported(&compiler, folder.path());
    let module = linked(&context, &parts);
    let out = zeros::<f32, _>(64).expect("there is room");
    launch_linked(&context, module, c"calls", &out);
    context.synchronize().expect("it ran");
    let out = out.copy_to_host().expect("it ran").to_vec();
    for (i, found) in out.chunks(8).enumerate() {
        assert_eq!(found, called(i), "thread {i}");
    }
    if let Some(toolkit) = downloaded("toolkit") {
        for part in parts {
            let file = folder.path().join("part.ptx");
            std::fs::write(&file, &part).expect("it is written");
            let mut ptxas = Command::new(toolkit.join("bin/ptxas"));
            let result = ptxas.args(["-c", "-arch=sm_75", "-o", "/dev/null"]).arg(&file).output().expect("it starts");
            assert!(result.status.success(), "{}\n{part}", combined_output(&result));
        }
    }
}

/// A panic in a device function that CUDA C++ calls traps.
#[test]
fn a_panic_in_a_called_function_is_a_trap() {
    let test = "cuda_cpp::a_panic_in_a_called_function_is_a_trap";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(compiler) = compiler("NVRTC 13", folder.path()) else {
        return skip(test, "no NVRTC 13; `cargo xtask setup --all` downloads it");
    };
    in_own_process(test, &[], || {
        let context = current_context().expect("there is a device");
        let module = linked(&context, &exported(&compiler, folder.path()));
        launch_linked(&context, module, c"out_of_bounds", &zeros::<f32, _>(64).expect("there is room"));
        let error = context.synchronize().expect_err("index 4 of 4");
        assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_LAUNCH_FAILED), "{error}");
    });
}

/// A kernel's output is printed before its failed assertion, which loses the context.
#[test]
fn kernels_print_and_assert() {
    let test = "cuda_cpp::kernels_print_and_assert";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(compiler) = compiler("NVRTC 12", folder.path()) else {
        return skip(test, "no NVRTC 12; `cargo xtask setup --all` downloads it");
    };
    let ptx = compiler.compile(folder.path(), "cuda/kernels.cu", &["-arch=compute_75"]);
    let text = in_own_process(test, &[], || {
        let context = current_context().expect("there is a device");
        let module = unsafe { Module::load_ptx(&context, &ptx) }.expect("it loads");
        let speak = module.function("speak").expect("it is there");
        let say = |mut n: u32| {
            let mut params = [(&raw mut n).cast()];
            unsafe { speak.launch(&LaunchConfig::new(1, 2), &context.default_stream(), &mut params) }?;
            context.synchronize()
        };
        say(12).expect("12 is no unlucky number");
        let error = say(13).expect_err("it asserts that");
        assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_ASSERT), "{error}");
    });
    if !text.is_empty() {
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("words")).collect();
        let line = |n, eighth| format!("{n} words {eighth} x    77|-3  |10000000000 %");
        assert_eq!(lines[..2], [line(12, "1.500"), line(12, "1.500")], "{text}");
        // The threads run together or one after the other: the second one may end before it prints.
        assert!((3..=4).contains(&lines.len()), "{text}");
        assert!(text.contains("Assertion `n != 13` failed"), "{text}");
    }
}

/// The kernels of `cuda/verdicts.cu`, with the checkers whose reports they have.
const VERDICTS: [(&str, &[Checker]); 12] = [
    ("reversed", &[]),
    ("reversed_without_barrier", &[Checker::Race]),
    ("counts", &[]),
    ("counts_without_atomics", &[Checker::Race]),
    ("shifted", &[]),
    ("shifted_beyond", &[Checker::Memory]),
    ("misaligned", &[Checker::Memory]),
    ("local_memory", &[]),
    ("unwritten_local_memory", &[Checker::Init]),
    ("lanes_of_a_mask", &[]),
    ("lanes_not_of_their_mask", &[Checker::Sync]),
    // Whatever was reported before.
    ("reversed", &[]),
];

#[test]
fn checkers_tell_kernels_with_mistakes_from_those_without() {
    if !is_simulated().expect("there is a driver") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["NVRTC 12", "NVRTC 13"] {
        let Some(compiler) = compiler(name, folder.path()) else {
            return skip("cuda_cpp::checkers", "no NVRTC; `cargo xtask setup --all` downloads it");
        };
        let context = current_context().expect("there is a device");
        let options: &[&str] = &["-arch=compute_75"];
        let ptx = compiler.compile(folder.path(), "cuda/verdicts.cu", options);
        let module = unsafe { Module::load_ptx(&context, &ptx) }.expect("it loads");
        for (kernel, expected) in VERDICTS {
            let (x, out) = (from_slice(&numbers(64, |i| i as u32)), from_slice(&numbers(64, |_| 0_u32)));
            let (x, out) = (x.expect("there is room"), out.expect("there is room"));
            let function = module.function(kernel).expect("it exists");
            let stream = context.default_stream();
            let verdict = check(|| {
                let mut words = [x.device_ptr(), out.device_ptr()];
                let mut params = words.each_mut().map(|word| std::ptr::from_mut(word).cast());
                let launched = unsafe { function.launch(&LaunchConfig::new(1, 64), &stream, &mut params) };
                // A launch with an illegal access fails, and its report is what is compared.
                launched.and_then(|()| context.synchronize()).is_ok()
            });
            let all: Vec<_> = verdict.as_ref().err().map_or(&[][..], |error| error.reports()).iter().collect();
            let mut found: Vec<_> = all.iter().map(|report| report.checker).collect();
            found.dedup();
            assert_eq!(found, *expected, "{name} {options:?}: {kernel}: {verdict:?}");
        }
    }
}
