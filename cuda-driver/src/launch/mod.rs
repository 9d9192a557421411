//! Launch configurations and the launches that need more than the driver's plain call.
//!
//! `config` holds and checks the grid, block and cluster dimensions, `error` reports what is wrong with them, `extended`
//! makes the calls with attributes. A launch itself is a method of [`Function`](crate::Function).

pub(crate) mod cluster;
pub(crate) mod config;
pub(crate) mod dims;
pub(crate) mod error;
pub(crate) mod extended;
