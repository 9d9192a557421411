//! Libraries that are found in a toolkit and not by the loader. The process has none of them open: the loader would find an
//! open library by its bare name, in any version.
//!
//! The toolkit is that of `cargo xtask setup --all`; without it the test prints that it is skipped.
#![cfg(all(feature = "runtime", feature = "nvrtc", feature = "nvjitlink"))]

use std::path::Path;

use cuda_sys::nvjitlink::NvJitLinkApi;
use cuda_sys::nvrtc::NvrtcApi;
use cuda_sys::runtime;
use cuda_sys::toolkit::Environment;

#[test]
fn libraries_are_found_in_the_toolkit_and_report_their_versions() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/compilers/cuda13"));
    if !root.join("lib64/libnvJitLink.so.13").is_file() {
        return println!("skipped: CUDA 13's libraries (`cargo xtask setup --all` downloads them)");
    }
    if ["libnvrtc.so.13", "libnvrtc.so.12", "libcudart.so.13", "libcudart.so.12"]
        .iter()
        .any(|name| cuda_sys::loader_finds(name).is_ok())
    {
        return println!("skipped: the loader finds CUDA's libraries by itself here");
    }
    let environment = Environment::only(root);
    // SAFETY: the folder has NVIDIA's libraries.
    let nvrtc = unsafe { NvrtcApi::load_with(&environment) }.unwrap();
    // SAFETY: the folder has NVIDIA's libraries.
    let linker = unsafe { NvJitLinkApi::load_with(&environment) }.unwrap();
    assert_eq!((nvrtc.version(), linker.version()), (Some(13000), Some(13000)));
    assert!(nvrtc.origin().ends_with("lib64/libnvrtc.so.13"), "{}", nvrtc.origin());
    assert!(linker.origin().ends_with("lib64/libnvJitLink.so.13"), "{}", linker.origin());
    // SAFETY: the folder has NVIDIA's libraries.
    assert_eq!(unsafe { runtime::installed_version_in(&environment) }.unwrap(), 13000);
}
