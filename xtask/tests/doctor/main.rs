//! `xtask doctor` as a program: its report on a made-up driver, and its exit code.

use std::process::{Command, Output};

/// Compiles `driver.c` to a library.
fn driver(name: &str, define: Option<&str>) -> String {
    let library = format!("{}/lib{name}.so", env!("CARGO_TARGET_TMPDIR"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctor/driver.c");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-Wall", "-o", &library, source]).args(define);
    assert!(cc.status().expect("a C compiler").success());
    library
}

fn doctor(variables: &[(&str, &str)]) -> (Output, String) {
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_xtask"));
    doctor.arg("doctor").env_remove("CUDA_DRIVER_PATH").envs(variables.iter().copied());
    let output = doctor.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output, text)
}

#[test]
fn a_device_is_described_and_kernels_run_on_it() {
    let library = driver("one-device", None);
    let (output, text) = doctor(&[("CUDA_DRIVER_PATH", &library), ("CUDA_SIM_PROFILE", "sm_80")]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let expected = [
        &format!("  {library}: CUDA 12.8\n  devices: 1\n  device 0: Made-up card, compute capability 8.6\n"),
        "    memory 3072 MiB, multiprocessors 46, f32 to f64 speed 0\n",
        "    PCI 0000:65:00.0, UUID GPU-abababab-abab-abab-abab-abababababab\n",
        "    watchdog for long kernels yes, memory pools cuDeviceGetAttribute: CUDA_ERROR_INVALID_VALUE (1)",
        "  CUDA_SIM_PROFILE=sm_80\n",
        "kernels\n  run on the driver's device\n",
    ];
    expected.iter().for_each(|part| assert!(text.contains(*part), "no `{part}` in {text}"));
}

#[test]
fn doctor_fails_if_kernels_cannot_run() {
    let (old, none) = (driver("old-device", Some("-DOLD")), driver("no-device", Some("-DNONE")));
    let cases = [
        (old.as_str(), "kernels cannot run: they need compute capability 5.0, which no device here has"),
        (none.as_str(), "has no device; unset it, or set it to `sim` for the software device"),
        ("/nowhere/libcuda.so.1", "CUDA_DRIVER_PATH=/nowhere/libcuda.so.1 has no device; unset it"),
    ];
    for (path, why) in cases {
        let (output, text) = doctor(&[("CUDA_DRIVER_PATH", path)]);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(why), "no `{why}` in {text}");
    }
    let (output, text) = doctor(&[("CUDA_DRIVER_PATH", "sim")]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.ends_with("run on the software device, which was asked for\n"), "{text}");
    // Without a compiler kernels run on no device.
    let (output, text) = doctor(&[("CUDA_DRIVER_PATH", "sim"), ("RUSTUP_TOOLCHAIN", "no-such-toolchain")]);
    assert_eq!(output.status.code(), Some(1), "{text}");
}
