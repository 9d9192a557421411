//! [cudarc](https://docs.rs/cudarc) and this stack in one program: contexts, streams and arrays of one for the other.
//!
//! A [`Bridge`] pairs a context with cudarc's. By it cudarc's slices become device arrays and device arrays its slices, owned or
//! borrowed for a call, and streams go both ways. No element is copied. The crate launches no kernels: typed kernels take the
//! arrays, cudarc's take the slices.
//!
//! The invariants:
//!
//! - Both sides hold one primary context of one driver library; anything else is an error that says so.
//! - Memory is freed once, by the side that allocated it.
//! - A use on one side comes after the uses on the other side that it conflicts with: by this stack's use records, by cudarc's
//!   events, and where these do not tell enough, as when cudarc gives a device array back, by a wait on the host.
//!
//! cudarc keeps one event for all reads of a slice, so that it knows the last one only. Where several streams read a slice of
//! cudarc's, join them before it is written, freed, imported or viewed here, as cudarc asks for by itself: an import and a view also
//! count as its last read.
//!
//! # Examples
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
//! use cuda_cudarc::Bridge;
//! use cuda_prelude::*;
//!
//! #[kernel]
//! fn double(x: &mut [f32]) {
//!     let i = grid::<1>();
//!     if i < x.len() {
//!         x[i] *= 2.0;
//!     }
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//! #   let context = software_device().primary_context()?;
//! #   let _selected = context.select();
//!     let bridge = Bridge::open(&current_context()?)?;
//!     let theirs = bridge.cudarc_context().new_stream()?;
//!     let mut slice = theirs.clone_htod(&[1.0_f32, 2.0, 3.0])?;
//!     bridge.with_view_mut(&mut slice.as_view_mut(), |mut x| double::launch((1, 32), &mut x))??;
//!     assert_eq!(theirs.clone_dtoh(&slice)?, [2.0, 4.0, 6.0]);
//!     Ok(())
//! }
//! ```

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/libraries.md")]
struct Book;

mod bridge;
mod error;
mod export;
mod import;
mod streams;

pub use bridge::Bridge;
pub use error::{Error, Result};
pub use export::ExportedSlice;
