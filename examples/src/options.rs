//! Options of every example.

use std::path::{Path, PathBuf};

/// Options of an example.
///
/// # Examples
///
/// ```
/// use clap::Parser;
/// use cuda_examples::Options;
///
/// let options = Options::parse_from(["mandelbrot", "--small", "--out", "pictures"]);
/// assert_eq!(options.pick(640, 64), 64);
/// assert_eq!(options.file("mandelbrot.png"), std::path::Path::new("pictures/mandelbrot.png"));
/// ```
#[derive(clap::Parser, Clone, Debug)]
pub struct Options {
    /// Use small sizes, as the tests do
    #[arg(long)]
    pub small: bool,
    /// Folder for pictures
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub out: PathBuf,
}

impl Options {
    /// The first value, or the second one for small sizes.
    pub fn pick<T>(&self, full: T, small: T) -> T {
        if self.small { small } else { full }
    }

    /// A file in the folder for pictures.
    pub fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        self.out.join(name)
    }
}
