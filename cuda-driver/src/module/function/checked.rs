//! [`CheckedLaunch`]: a launch whose configuration has been checked, and the driver's launch call.
//!
//! # Safety
//!
//! The blocks call C functions whose obligations are a live function and stream of one context, which are held, and
//! parameters that live through the call; the caller answers for what the kernel does with them.

use std::ffi::c_void;

use cuda_sys::CUstream;

use super::{Function, FunctionInner};
use crate::driver_call;
use crate::error::Result;
use crate::graph::GraphError;
use crate::launch::cluster;
use crate::launch::config::Geometry;
use crate::launch::extended::{self, Extras};
use crate::module::params;
use crate::stream::Stream;
use crate::sync::Ordering;

/// A launch whose configuration has passed [`Function::check_config`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, LaunchConfig, Module};
///
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
/// // SAFETY: the kernel touches no memory.
/// let nothing = unsafe { Module::load_ptx(&context, ptx) }?.function("nothing")?;
/// let config = LaunchConfig::new((2, 3), 32);
/// let checked = nothing.check_config(&config)?;
/// assert_eq!((checked.grid(), checked.block(), checked.cluster()), ([2, 3, 1], [32, 1, 1], None));
/// // SAFETY: the kernel has no parameters.
/// unsafe { checked.launch(&context.default_stream(), &mut []) }?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing has been launched yet"]
pub struct CheckedLaunch<'a> {
    pub(super) function: &'a Function,
    pub(super) geometry: Geometry,
    pub(super) cooperative: bool,
    pub(super) programmatic: bool,
}

impl<'a> CheckedLaunch<'a> {
    /// The function.
    pub(crate) fn function(&self) -> &'a Function {
        self.function
    }

    /// Bytes of dynamic shared memory for each block.
    pub(crate) fn dynamic_shared_bytes(&self) -> u32 {
        self.geometry.shared_bytes
    }

    pub(crate) fn is_cooperative(&self) -> bool {
        self.cooperative
    }

    /// Prepares a launch for a graph; refuses launches that only streams support.
    pub(crate) fn prepare_for_graph(&self, params: &[*mut c_void]) -> Result<()> {
        if self.programmatic {
            return Err(GraphError::NotCapturable("a programmatic launch".into()).into());
        }
        self.prepare(params)
    }

    /// Checks the number of parameters, and raises the function's limits for dynamic shared memory and cluster size if
    /// needed.
    #[inline]
    fn prepare(&self, params: &[*mut c_void]) -> Result<()> {
        let FunctionInner { dynamic_limit, parameters, name, non_portable, .. } = &*self.function.0;
        if let Some(parameters) = parameters
            && parameters.len() != params.len()
        {
            return Err(params::wrong_number(name, params.len(), parameters.len()));
        }
        if self.geometry.shared_bytes > dynamic_limit.load(Ordering::Relaxed) {
            self.function.raise_dynamic_limit(self.geometry.shared_bytes)?;
        }
        match self.geometry.cluster {
            Some(extents) if cluster::is_non_portable(extents) && !non_portable.load(Ordering::Relaxed) => {
                self.function.allow_non_portable()
            }
            _ => Ok(()),
        }
    }

    /// Blocks in the grid along x, y and z.
    #[must_use]
    #[inline]
    pub fn grid(&self) -> [u32; 3] {
        self.geometry.grid
    }

    /// Threads in a block along x, y and z.
    #[must_use]
    #[inline]
    pub fn block(&self) -> [u32; 3] {
        self.geometry.block
    }

    /// Blocks in a cluster along x, y and z, if the launch has clusters.
    #[must_use]
    #[inline]
    pub fn cluster(&self) -> Option<[u32; 3]> {
        self.geometry.cluster
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Launches the function in `stream`.
    ///
    /// It makes one driver call, and one more whenever the function needs more dynamic shared memory or larger clusters
    /// than any launch before.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) for a stream of another context;
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    ///
    /// # Safety
    ///
    /// As for [`Function::launch`].
    #[inline]
    pub unsafe fn launch(self, stream: &Stream, params: &mut [*mut c_void]) -> Result<()> {
        self.function.context().expect_same(stream.context(), stream)?;
        let (kernel, grid, block) = (&self.function.0.name, self.geometry.grid, self.geometry.block);
        let _span = tracing::trace_span!("launch", %kernel, ?grid, ?block, %stream).entered();
        self.prepare(params)?;
        // SAFETY: the stream is live and of the function's context; the caller answers for the parameters.
        unsafe { self.enqueue(stream.as_raw(), params) }
    }

    /// Makes the launch call.
    ///
    /// # Safety
    ///
    /// As for [`Function::launch`]; `queue` is a live stream of the function's context, and the launch is prepared.
    #[inline]
    pub(crate) unsafe fn enqueue(self, queue: CUstream, params: &mut [*mut c_void]) -> Result<()> {
        let FunctionInner { module, raw, .. } = &*self.function.0;
        let context = module.context();
        let Geometry { grid: [gx, gy, gz], block: [bx, by, bz], shared_bytes, .. } = self.geometry;
        let (raw, values) = (*raw, params.as_mut_ptr());
        let Self { cooperative, programmatic, geometry: Geometry { cluster, .. }, .. } = self;
        if programmatic || cluster.is_some() {
            let extras = Extras { cluster, cooperative, programmatic };
            // SAFETY: function and stream are live and of one context; the caller answers for the parameters.
            return unsafe { extended::launch(context, raw, (&self.geometry, extras), queue, values) };
        }
        if self.cooperative {
            // SAFETY: function and stream are live and of one context; the caller answers for the parameters.
            return unsafe {
                driver_call!(
                    context,
                    cuLaunchCooperativeKernel(raw, gx, gy, gz, bx, by, bz, shared_bytes, queue, values)
                )
            };
        }
        let no_extra = std::ptr::null_mut();
        // SAFETY: function and stream are live and of one context; the caller answers for the parameters.
        unsafe {
            driver_call!(context, cuLaunchKernel(raw, gx, gy, gz, bx, by, bz, shared_bytes, queue, values, no_extra))
        }
    }
}
