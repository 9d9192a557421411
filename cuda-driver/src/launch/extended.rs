//! Extended launches (`cuLaunchKernelEx`): with clusters, cooperative, or programmatic dependent.
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

/// The launch attributes beside grid and block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extras {
    /// The cluster dimensions in blocks.
    pub(crate) cluster: Option<[u32; 3]>,
    /// True if the launch is cooperative.
    pub(crate) cooperative: bool,
    /// True if it may begin before the earlier work of the stream has ended.
    pub(crate) programmatic: bool,
}

impl Extras {
    /// The attributes as the driver takes them.
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

/// The attribute of a launch with these cluster dimensions.
pub(crate) fn cluster_dimension([x, y, z]: [u32; 3]) -> (Id, CUlaunchAttributeValue) {
    let mut value = CUlaunchAttributeValue { pad: [0; 64] };
    value.clusterDim = CUlaunchAttributeValue_clusterDim { x, y, z };
    (Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value)
}

/// The attribute of a cooperative launch.
pub(crate) fn cooperative() -> (Id, CUlaunchAttributeValue) {
    let mut value = CUlaunchAttributeValue { pad: [0; 64] };
    value.cooperative = 1;
    (Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value)
}

/// The driver's form of a configuration, which points to the attributes.
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
    // SAFETY: the caller keeps this function's contract; configuration and attributes live through the call.
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
        // SAFETY: the value of this attribute is this field of the union.
        assert_eq!(unsafe { cooperative.value.cooperative }, 1);
        let [programmatic] = Extras { programmatic: true, ..none }.attributes()[..] else { panic!() };
        assert_eq!(programmatic.id, Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
        // SAFETY: the value of this attribute is this field of the union.
        assert_eq!(unsafe { programmatic.value.programmaticStreamSerializationAllowed }, 1);
        let [cluster, _, _] =
            Extras { cluster: Some([4, 2, 1]), cooperative: true, programmatic: true }.attributes()[..]
        else {
            panic!()
        };
        assert_eq!(cluster.id, Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
        // SAFETY: the value of this attribute is this field of the union.
        let extents = unsafe { cluster.value.clusterDim };
        assert_eq!([extents.x, extents.y, extents.z], [4, 2, 1]);
    }
}
