//! Gives the shared library the soname of NVIDIA's driver, so that the loader takes it for that.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
}
