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

/// An example as a module of this executable, so that it is linked once.
macro_rules! example {
    ($name:ident, $path:literal) => {
        #[path = $path]
        #[allow(dead_code, clippy::allow_attributes, reason = "its `main` reads the command line")]
        mod $name;
    };
}

example!(digits, "../../examples/src/bin/digits.rs");
example!(filters, "../../examples/src/bin/filters.rs");
example!(first_steps, "../../examples/src/bin/first_steps.rs");
example!(graph, "../../examples/src/bin/graph.rs");
example!(heat, "../../examples/src/bin/heat.rs");
example!(k_means, "../../examples/src/bin/k_means.rs");
example!(library, "../../examples/src/bin/library.rs");
example!(life, "../../examples/src/bin/life.rs");
example!(mandelbrot, "../../examples/src/bin/mandelbrot.rs");
example!(matmul, "../../examples/src/bin/matmul.rs");
example!(n_body, "../../examples/src/bin/n_body.rs");
example!(option, "../../examples/src/bin/option.rs");
example!(overlap, "../../examples/src/bin/overlap.rs");
example!(path_tracer, "../../examples/src/bin/path_tracer.rs");
example!(peers, "../../examples/src/bin/peers.rs");
example!(sort, "../../examples/src/bin/sort.rs");
example!(uploads, "../../examples/src/bin/uploads.rs");

/// Runs an example, and compares the pixels of its picture, or the text of its plot, with a checksum. On a GPU, which rounds some
/// functions differently, only the results are checked.
fn draws(run: fn(&Options) -> Result<()>, file: &str, checksum: Option<u64>) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let options = Options { small: true, out: folder.path().to_owned() };
    run(&options)?;
    let found = pixels(&options.file(file))?;
    if let Some(checksum) = checksum
        && cuda_prelude::is_simulated()?
    {
        assert_eq!(found, checksum, "{file} has another checksum: {found:#x}; look at it");
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

#[test]
fn digits_are_learnt() -> Result<()> {
    draws(digits::run, "digits.png", Some(0x9ce9_95d0_8453_a5da))?;
    draws(digits::run, "digits.svg", Some(0x46a8_1d49_7733_8267))
}

#[test]
fn pictures_are_filtered() -> Result<()> {
    draws(filters::run, "filters.png", Some(0x2bc9_c8f5_3e61_4e86))
}

/// It prints a table.
#[test]
fn first_steps_are_taken() -> Result<()> {
    let folder = tempfile::tempdir()?;
    first_steps::run(&Options { small: true, out: folder.path().to_owned() })
}

#[test]
fn graphs_repeat_steps() -> Result<()> {
    draws(graph::run, "graph.png", Some(0x3a1e_1c22_39ca_6005))
}

#[test]
fn heat_spreads() -> Result<()> {
    draws(heat::run, "heat.png", Some(0xbc04_5d1e_72e6_592f))
}

#[test]
fn colors_have_means() -> Result<()> {
    draws(k_means::run, "k_means.png", Some(0xc77c_dafc_c0a7_812e))
}

#[test]
fn a_gun_fires_gliders() -> Result<()> {
    draws(life::run, "life.gif", Some(0x75b5_dee6_78c8_eb47))
}

#[test]
fn the_mandelbrot_set_is_drawn() -> Result<()> {
    draws(mandelbrot::run, "mandelbrot.png", Some(0xe644_2ef1_4ffb_11c6))
}

#[test]
fn matrices_are_multiplied() -> Result<()> {
    draws(matmul::run, "matmul.png", Some(0x65f8_0cf3_de4f_3903))
}

#[test]
fn stars_move() -> Result<()> {
    draws(n_body::run, "n_body.gif", Some(0xace2_7df5_74c6_fdf5))
}

#[test]
fn options_have_a_price() -> Result<()> {
    draws(option::run, "option.svg", Some(0xf35c_59fb_9458_7aeb))
}

/// The picture shows times, so it has no checksum.
#[test]
fn copies_overlap() -> Result<()> {
    draws(overlap::run, "overlap.svg", None)
}

#[test]
fn light_is_traced() -> Result<()> {
    draws(path_tracer::run, "path_tracer.png", Some(0xd728_8fba_479a_3a0a))
}

#[test]
fn devices_exchange_rows() {
    in_own_process("examples::devices_exchange_rows", &[("CUDA_SIM_DEVICES", Some("2"))], || {
        draws(peers::run, "peers.png", Some(0x116c_bc74_a526_e99f)).expect("the example runs");
    });
}

#[test]
fn columns_and_pictures_are_uploaded_as_they_lie() -> Result<()> {
    uploads::run(&Options { small: true, out: "unused".into() })
}

#[test]
fn kernels_come_from_a_library() -> Result<()> {
    draws(library::run, "library.png", Some(0xb1e7_3e48_da68_ee58))
}

#[test]
fn keys_are_sorted() -> Result<()> {
    draws(sort::run, "sort.png", Some(0xa13e_a74c_166d_595d))
}
