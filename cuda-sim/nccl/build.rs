//! Sets the library's soname to that of NVIDIA's NCCL, so that the loader uses it in its place.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libnccl.so.2");
}
