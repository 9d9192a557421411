//! Launches that say more than the plain call can: clusters, all blocks at once, no wait for what the stream does before.
//!
//! # Safety
//!
//! The one block makes the driver's call; its obligations are passed on to the caller.

use std::ffi::c_void;

use cuda_sys::{
    CUfunction, CUlaunchAttribute, CUlaunchAttributeID as Id, CUlaunchAttributeValue,
    CUlaunchAttributeValue_clusterDim, CUlaunchConfig, CUstream,
};

use crate::context::Context;
use crate::driver_call;
use crate::error::Result;
use crate::launch::config::Geometry;

/// What a launch says beside its extents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extras {
    /// The extents of its clusters in blocks.
    pub(crate) cluster: Option<[u32; 3]>,
    /// Whether all blocks run at once.
    pub(crate) cooperative: bool,
    /// Whether it may begin before the work ahead of it in the stream has ended.
    pub(crate) programmatic: bool,
}

impl Extras {
    /// The attributes that say so.
    pub(crate) fn attributes(self) -> Vec<CUlaunchAttribute> {
        let cluster = self.cluster.map(cluster_dimension);
        let cooperative = self.cooperative.then(cooperative);
        let programmatic = self.programmatic.then(|| {
            let mut value = CUlaunchAttributeValue { pad: [0; 64] };
            value.programmaticStreamSerializationAllowed = 1;
            (Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, value)
        });
        let attribute = |(id, value)| CUlaunchAttribute { id, pad: Default::default(), value };
        [cluster, cooperative, programmatic].into_iter().flatten().map(attribute).collect()
    }
}

/// The attribute of a launch in clusters of these extents.
pub(crate) fn cluster_dimension([x, y, z]: [u32; 3]) -> (Id, CUlaunchAttributeValue) {
    let mut value = CUlaunchAttributeValue { pad: [0; 64] };
    value.clusterDim = CUlaunchAttributeValue_clusterDim { x, y, z };
    (Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value)
}

/// The attribute of a launch whose blocks all run at once.
pub(crate) fn cooperative() -> (Id, CUlaunchAttributeValue) {
    let mut value = CUlaunchAttributeValue { pad: [0; 64] };
    value.cooperative = 1;
    (Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value)
}

/// A launch as the driver takes it; the attributes have to live as long.
pub(crate) fn raw_config(
    geometry: &Geometry,
    stream: CUstream,
    attributes: &mut [CUlaunchAttribute],
) -> CUlaunchConfig {
    let Geometry { grid: [gx, gy, gz], block: [bx, by, bz], shared_bytes, .. } = *geometry;
    CUlaunchConfig {
        gridDimX: gx,
        gridDimY: gy,
        gridDimZ: gz,
        blockDimX: bx,
        blockDimY: by,
        blockDimZ: bz,
        sharedMemBytes: shared_bytes,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
    }
}

/// Launches a function.
///
/// # Safety
///
/// Function and stream are live and of this context; the parameters are as for
/// [`Function::launch`](crate::Function::launch).
#[cold]
pub(crate) unsafe fn launch(
    context: &Context,
    raw: CUfunction,
    (geometry, extras): (&Geometry, Extras),
    stream: CUstream,
    params: *mut *mut c_void,
) -> Result<()> {
    let mut attributes = extras.attributes();
    let config = raw_config(geometry, stream, &mut attributes);
    // SAFETY: the caller's promise; configuration and attributes live through the call.
    unsafe { driver_call!(context, cuLaunchKernelEx(&config, raw, params, std::ptr::null_mut())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_extra_is_an_attribute_of_its_value() {
        let none = Extras { cluster: None, cooperative: false, programmatic: false };
        assert!(none.attributes().is_empty());
        let [cooperative] = Extras { cooperative: true, ..none }.attributes()[..] else { panic!() };
        assert_eq!(cooperative.id, Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
        // SAFETY: the attribute's value is this part of the union.
        assert_eq!(unsafe { cooperative.value.cooperative }, 1);
        let [programmatic] = Extras { programmatic: true, ..none }.attributes()[..] else { panic!() };
        assert_eq!(programmatic.id, Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
        // SAFETY: as above.
        assert_eq!(unsafe { programmatic.value.programmaticStreamSerializationAllowed }, 1);
        let [cluster, _, _] =
            Extras { cluster: Some([4, 2, 1]), cooperative: true, programmatic: true }.attributes()[..]
        else {
            panic!()
        };
        assert_eq!(cluster.id, Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
        // SAFETY: as above.
        let extents = unsafe { cluster.value.clusterDim };
        assert_eq!([extents.x, extents.y, extents.z], [4, 2, 1]);
    }
}
