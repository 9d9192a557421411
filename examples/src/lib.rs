//! Options, pictures and progress bars of the examples.
//!
//! Each program of `src/bin` is one example: `cargo run --release -p cuda-examples --bin NAME` runs it, checks what it computed, and
//! writes its picture.

mod options;
mod picture;
mod plot;
mod progress;

pub use options::Options;
pub use picture::{Color, landscape, palette, save, save_animation};
pub use plot::plot;
pub use progress::steps;
