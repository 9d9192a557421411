//! Clusters of blocks: the check of their dimensions, and their occupancy.
//!
//! # Safety
//!
//! The blocks call C functions whose obligations are a live function, and a configuration whose attributes live through
//! the call.

use cuda_sys::{CUfunction, CUfunction_attribute as Attribute, CUlaunchConfig};

use crate::context::Context;
use crate::device::limits::DeviceLimits;
use crate::driver_call;
use crate::error::Result;
use crate::launch::config::{LaunchConfig, fit};
use crate::launch::dims::Dim3;
use crate::launch::error::{LaunchConfigError, LaunchPart};
use crate::launch::extended::{Extras, raw_config};
use crate::module::function::Function;

/// The portable cluster size: the number of blocks that every device with clusters supports.
const PORTABLE: u32 = 8;

/// The number of blocks in a cluster of these dimensions.
pub(crate) fn size(extents: [u32; 3]) -> u32 {
    extents.iter().fold(1, |blocks, extent| blocks.saturating_mul(*extent))
}

/// The cluster dimensions in the driver's integers, if they are possible for a grid.
pub(crate) fn checked(
    given: Dim3,
    non_portable: bool,
    grid: (Dim3, [u32; 3]),
    limits: &DeviceLimits,
) -> Result<[u32; 3], LaunchConfigError> {
    if !limits.cluster_launch {
        return Err(LaunchConfigError::NoClusters);
    }
    let extents = fit(LaunchPart::Cluster, given, limits.max_grid)?;
    let blocks = size(extents);
    if blocks > PORTABLE && !non_portable {
        return Err(LaunchConfigError::ClusterSize { cluster: given, blocks, limit: PORTABLE });
    }
    divides(extents, grid.0, grid.1).map(|()| extents)
}

/// Returns an error unless the cluster dimensions divide those of the grid.
pub(crate) fn divides(cluster: [u32; 3], given: Dim3, grid: [u32; 3]) -> Result<(), LaunchConfigError> {
    match (0..3).find(|&axis| !grid[axis].is_multiple_of(cluster[axis])) {
        None => Ok(()),
        Some(axis) => Err(LaunchConfigError::ClusterDivides {
            grid: given,
            axis: ['x', 'y', 'z'][axis],
            value: grid[axis],
            cluster: cluster[axis],
        }),
    }
}

impl Function {
    /// The number of clusters of a launch in that configuration that can be active on the device; the hardware may find
    /// room for fewer.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::{Driver, LaunchConfig, Module};
    ///
    /// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let ptx = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// // SAFETY: the kernel touches no memory.
    /// let nothing = unsafe { Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// let config = LaunchConfig::new(8, 1024);
    /// assert_eq!(nothing.max_cluster_blocks(&config)?, 8);
    /// assert_eq!(nothing.max_active_clusters(&config.cluster(4))?, 66);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::LaunchConfig`](crate::Error::LaunchConfig) if the configuration is not possible;
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status, also where the configuration has no clusters.
    pub fn max_active_clusters(&self, config: &LaunchConfig) -> Result<u32> {
        // SAFETY: the function is live; result, configuration and attributes live through the call.
        self.query_clusters(config, |context, raw, raw_config, count| unsafe {
            driver_call!(context, cuOccupancyMaxActiveClusters(count, raw, raw_config))
        })
    }

    /// The number of blocks in the largest cluster that the function can be launched with, given the block and the
    /// shared memory of the configuration; the cluster of the configuration is ignored. It is at most the portable
    /// size, unless [`LaunchConfig::non_portable`] allows more.
    ///
    /// # Errors
    ///
    /// As for [`max_active_clusters`](Self::max_active_clusters).
    pub fn max_cluster_blocks(&self, config: &LaunchConfig) -> Result<u32> {
        // SAFETY: the function is live; result, configuration and attributes live through the call.
        self.query_clusters(config, |context, raw, raw_config, blocks| unsafe {
            driver_call!(context, cuOccupancyMaxPotentialClusterSize(blocks, raw, raw_config))
        })
    }

    fn query_clusters(
        &self,
        config: &LaunchConfig,
        ask: impl FnOnce(&Context, CUfunction, &CUlaunchConfig, &mut i32) -> Result<()>,
    ) -> Result<u32> {
        let geometry = self.check_config(config)?.geometry();
        self.allow_dynamic(config.dynamic_shared_bytes())?;
        if config.is_non_portable() {
            self.allow_non_portable()?;
        }
        let (cluster, cooperative) = (geometry.cluster, config.is_cooperative());
        let mut attributes = Extras { cluster, cooperative, programmatic: false }.attributes();
        let raw_config = raw_config(&geometry, std::ptr::null_mut(), &mut attributes);
        let mut answer = 0;
        ask(self.context(), self.as_raw(), &raw_config, &mut answer)?;
        Ok(answer.unsigned_abs())
    }

    /// Allows clusters beyond the portable size.
    #[cold]
    pub(crate) fn allow_non_portable(&self) -> Result<()> {
        self.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
    }
}

/// Returns true if clusters of these dimensions need [`Function::allow_non_portable`].
pub(crate) fn is_non_portable(extents: [u32; 3]) -> bool {
    size(extents) > PORTABLE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Driver, Module};

    /// Kernels that trap unless their cluster has as many blocks as their parameter says.
    const KERNELS: &str = ".version 7.8\n.target sm_90\n.address_size 64
.visible .entry any(.param .u32 n) { .reg .pred %p; .reg .b32 %r<3>; ld.param.u32 %r1, [n];
  mov.u32 %r2, %cluster_nctarank; setp.ne.u32 %p, %r1, %r2; @%p trap; ret; }
.visible .entry pairs(.param .u32 n) .reqnctapercluster 2, 1, 1 { .reg .pred %p; .reg .b32 %r<3>;
  ld.param.u32 %r1, [n]; mov.u32 %r2, %cluster_nctarank; setp.ne.u32 %p, %r1, %r2; @%p trap; ret; }";

    fn function(name: &str) -> Function {
        let driver = Driver::new(cuda_sim::driver_api()).unwrap();
        let context = driver.device(0).unwrap().primary_context().unwrap();
        // SAFETY: the kernels touch no memory.
        unsafe { Module::load_ptx(&context, KERNELS) }.unwrap().function(name).unwrap()
    }

    fn launch(f: &Function, config: LaunchConfig, mut blocks: u32) -> Result<()> {
        let stream = f.context().default_stream();
        // SAFETY: the kernels have one parameter, of this type.
        unsafe { f.launch(&config, &stream, &mut [(&raw mut blocks).cast()]) }?;
        f.context().synchronize()
    }

    #[test]
    fn a_launch_has_the_clusters_that_it_asks_for() {
        let any = function("any");
        let config = LaunchConfig::new((8, 4), 32);
        launch(&any, config.clone(), 1).unwrap();
        launch(&any, config.clone().cluster((4, 2)), 8).unwrap();
        launch(&any, config.clone().cluster((2, 1)).cooperative(), 2).unwrap();
        launch(&any, config.clone().cluster((4, 4)).non_portable(), 16).unwrap();
        assert_eq!(any.check_config(&config.clone().cluster(4)).unwrap().cluster(), Some([4, 1, 1]));
        assert_eq!(any.max_cluster_blocks(&config.clone()).unwrap(), 16, "as was allowed by the launch above");
        assert_eq!(any.max_active_clusters(&config.clone().cluster((4, 4)).non_portable()).unwrap(), 8 * 32 + 8);
        assert!(any.max_active_clusters(&config).is_err(), "of no clusters");
        assert_eq!(any.attributes().required_cluster, None);
    }

    #[test]
    fn a_kernel_can_require_cluster_dimensions() {
        let pairs = function("pairs");
        assert_eq!(pairs.attributes().required_cluster, Some([2, 1, 1]));
        launch(&pairs, LaunchConfig::new(4, 32), 2).unwrap();
        launch(&pairs, LaunchConfig::new(4, 32).cluster(2), 2).unwrap();
        let refused = |config: LaunchConfig| launch(&pairs, config, 2).unwrap_err().to_string();
        assert_eq!(
            refused(LaunchConfig::new(4, 32).cluster(4)),
            "cluster of 4 blocks: kernel `pairs` is made for clusters of (2, 1, 1); nothing was launched"
        );
        assert!(
            refused(LaunchConfig::new(3, 32)).starts_with("grid of 3 blocks: x is 3, which is no multiple of the 2")
        );
        // Of all that is wrong, what the device refuses comes first.
        assert!(refused(LaunchConfig::new(3, 2048).cluster(4)).starts_with("block of 2048 threads"));
    }
}
