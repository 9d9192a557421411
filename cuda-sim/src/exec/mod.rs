//! Execution: launches on a pool of workers, blocks with their regions, and recovery from faults.

pub(crate) mod active;
pub(crate) mod block;
pub(crate) mod bulk;
mod cluster;
pub(crate) mod copies;
pub(crate) mod deadlock;
pub(crate) mod fault;
pub(crate) mod fiber;
mod grid;
pub(crate) mod launch;
mod matrix;
pub(crate) mod mbarrier;
mod order;
pub(crate) mod pool;
mod product;
pub(crate) mod report;
pub(crate) mod resident;
pub(crate) mod search;
pub(crate) mod warp;
mod windows;
