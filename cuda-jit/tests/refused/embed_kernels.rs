//! Arguments that are no path of a bundle file.

use cuda_jit::embed_kernels;

fn main() {
    let _ = embed_kernels!(kernels.bundle);
    let _ = embed_kernels!("Cargo.toml");
}
