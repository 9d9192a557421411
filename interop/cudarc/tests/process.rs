//! Processes of their own: what the environment says, and two devices.

use std::process::Command;

use super::*;

/// Names the test that this process was started for.
const ONLY: &str = "CUDA_CUDARC_ONLY";

/// Runs the body in a process in which `libcuda.so.1` is the software device for both sides.
fn in_own_process(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if std::env::var(ONLY).is_ok_and(|only| only == test) {
        return body();
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = folder.path().join("libcuda.so.1");
    std::os::unix::fs::symlink(software_library(), &library).expect("the folder is new");
    let mut child = Command::new(std::env::current_exe().expect("a test knows its executable"));
    child.args([test, "--exact", "--nocapture"]).env(ONLY, test).envs(variables.iter().copied());
    child.env("LD_LIBRARY_PATH", folder.path()).env("CUDA_DRIVER_PATH", &library);
    let output = child.output().expect("a test can start its executable again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "`{test}` fails in a process of its own:\n{text}");
}

#[test]
fn the_preludes_device_is_cudarcs() {
    in_own_process("process::the_preludes_device_is_cudarcs", &[], || {
        let theirs = CudaContext::new(0).unwrap();
        let bridge = Bridge::new(&current_context().unwrap(), &theirs).unwrap();
        let mut x = to_device(&array![1.0, 2.0, 3.0]).unwrap();
        add_one::launch((1, 32), &mut x).unwrap();
        let stream = theirs.default_stream();
        let slice = bridge.export_array(x, &stream).unwrap();
        assert_eq!(stream.clone_dtoh(&*slice).unwrap(), [2.0, 3.0, 4.0]);
    });
}

#[test]
fn another_device_is_refused() {
    in_own_process("process::another_device_is_refused", &[("CUDA_SIM_DEVICES", "2")], || {
        let (first, second) = (CudaContext::new(0).unwrap(), CudaContext::new(1).unwrap());
        let devices = driver().unwrap().devices().unwrap();
        let context = devices[1].primary_context().unwrap();
        let refused = Bridge::new(&context, &first).unwrap_err();
        let said =
            "cudarc's context is of device 0, and the other one of device 1; make both of the same device's number";
        assert_eq!(refused.to_string(), said);
        let bridge = Bridge::new(&context, &second).unwrap();
        let of_first = Stream::new(&devices[0].primary_context().unwrap()).unwrap();
        let said = "the stream belongs to device 0, and the bridge to device 1; make a bridge of its own context";
        assert_eq!(bridge.export_stream(&of_first).unwrap_err().to_string(), said);
        let x = cuda_mem::zeros::<f64, _>(&of_first, 3).unwrap();
        let refused = bridge.with_array(&x, &second.default_stream(), |_| ()).unwrap_err();
        assert_eq!(refused.to_string(), said.replace("the stream", "the array"));
    });
}
