//! Processes of their own: what the environment says, and two devices.

use cuda_tests_support::in_own_process;

use super::*;

/// Runs the body in a process in which `libcuda.so.1` is the software device for both sides.
fn with_the_software_device(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = folder.path().join("libcuda.so.1");
    std::os::unix::fs::symlink(software_library(), &library).expect("the folder is new");
    let (folder, library) = (folder.path().display().to_string(), library.display().to_string());
    let driver = [("LD_LIBRARY_PATH", &*folder), ("CUDA_DRIVER_PATH", &*library)];
    let variables: Vec<_> = variables.iter().copied().chain(driver).map(|(name, value)| (name, Some(value))).collect();
    in_own_process(test, &variables, body);
}

#[test]
fn the_preludes_device_is_cudarcs() {
    with_the_software_device("process::the_preludes_device_is_cudarcs", &[], || {
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
    with_the_software_device("process::another_device_is_refused", &[("CUDA_SIM_DEVICES", "2")], || {
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
