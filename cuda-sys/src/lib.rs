//! Raw CUDA driver types, one table of its C functions, and toolkit discovery.

mod api;
mod driver;
mod error;
#[expect(non_snake_case, non_camel_case_types, reason = "the names are those of the C headers")]
mod table;

pub use api::DriverApi;
pub use driver::*;
pub use error::{LoadError, MissingSymbol};
pub use table::{DefaultStream, DriverFns, SYMBOLS, Symbol};
