//! Execution: launches on a pool of workers, blocks with their regions, and the way out of faults.

pub(crate) mod fault;
pub(crate) mod launch;
pub(crate) mod pool;
