//! Runs the examples with small sizes. Each one checks its own results; here the checksums of their pictures are compared with those
//! of inspected pictures.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io::BufReader;
use std::path::Path;

use anyhow::Result;
use cuda_examples::Options;
use image::AnimationDecoder as _;
use image::codecs::gif::GifDecoder;

use crate::support::in_own_process;

/// Declares each example as a module of this executable, so that it is linked once, and as a test with the checksums of its pictures.
macro_rules! examples {
    ($($name:ident $path:literal { $($file:literal: $checksum:expr),* })*) => { $(
        #[path = $path]
        #[allow(dead_code, clippy::allow_attributes, reason = "its `main` reads the command line")]
        mod $name;

        #[test]
        fn $name() {
            // Two devices, for `peers`.
            in_own_process(concat!("examples::", stringify!($name)), &[("CUDA_SIM_DEVICES", Some("2"))], || {
                draws($name::run, &[$(($file, $checksum)),*]).expect("the example runs");
            });
        }
    )* };
}

/// In place of the checksum of a picture that shows times.
const TIMES: u64 = 0;

examples! {
    digits "../../examples/src/bin/digits.rs" { "digits.png": 0x9ce9_95d0_8453_a5da, "digits.svg": 0x9b95_6f56_9ca6_5f03 }
    filters "../../examples/src/bin/filters.rs" { "filters.png": 0x2bc9_c8f5_3e61_4e86 }
    first_steps "../../examples/src/bin/first_steps.rs" {}
    graph "../../examples/src/bin/graph.rs" { "graph.png": 0x3a1e_1c22_39ca_6005 }
    heat "../../examples/src/bin/heat.rs" { "heat.png": 0xbc04_5d1e_72e6_592f }
    k_means "../../examples/src/bin/k_means.rs" { "k_means.png": 0xc77c_dafc_c0a7_812e }
    library "../../examples/src/bin/library.rs" { "library.png": 0xb1e7_3e48_da68_ee58 }
    life "../../examples/src/bin/life.rs" { "life.gif": 0x75b5_dee6_78c8_eb47 }
    mandelbrot "../../examples/src/bin/mandelbrot.rs" { "mandelbrot.png": 0xe644_2ef1_4ffb_11c6 }
    matmul "../../examples/src/bin/matmul.rs" { "matmul.png": 0x65f8_0cf3_de4f_3903 }
    n_body "../../examples/src/bin/n_body.rs" { "n_body.gif": 0xace2_7df5_74c6_fdf5 }
    option "../../examples/src/bin/option.rs" { "option.svg": 0xf35c_59fb_9458_7aeb }
    overlap "../../examples/src/bin/overlap.rs" { "overlap.svg": TIMES }
    path_tracer "../../examples/src/bin/path_tracer.rs" { "path_tracer.png": 0xd728_8fba_479a_3a0a }
    peers "../../examples/src/bin/peers.rs" { "peers.png": 0x116c_bc74_a526_e99f }
    saxpy "../../examples/src/bin/saxpy.rs" { "saxpy.svg": 0x1a77_3f9e_9d76_6dba }
    sort "../../examples/src/bin/sort.rs" { "sort.png": 0xa13e_a74c_166d_595d }
    uploads "../../examples/src/bin/uploads.rs" {}
    vector_add "../../examples/src/bin/vector_add.rs" { "vector_add.svg": 0x26bb_dd3f_1412_fa2e }
}

/// Runs an example with small sizes, and compares the pixels of its pictures, or the text of its plots, with checksums. On a GPU, which
/// rounds some functions differently, only the results are checked.
fn draws(run: fn(&Options) -> Result<()>, pictures: &[(&str, u64)]) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let options = Options { small: true, out: folder.path().to_owned() };
    run(&options)?;
    for &(file, checksum) in pictures {
        let found = pixels(&options.file(file))?;
        let is_same = found == checksum || checksum == TIMES || !cuda_prelude::is_simulated()?;
        assert!(is_same, "{file} has another checksum: {found:#x}; look at it");
    }
    Ok(())
}

fn pixels(file: &Path) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("gif") => {
            for frame in GifDecoder::new(BufReader::new(File::open(file)?))?.into_frames() {
                frame?.buffer().hash(&mut hasher);
            }
        }
        Some("svg") => std::fs::read_to_string(file)?.hash(&mut hasher),
        _ => image::open(file)?.to_rgb8().hash(&mut hasher),
    }
    Ok(hasher.finish())
}
