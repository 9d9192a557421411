//! Keeps the shared memory of a cluster's blocks alive until all of them have finished.
//!
//! Shared memory is freed when its block ends, and a thread that returns or panics ends immediately. So a kernel that
//! maps the memory of other blocks follows a protocol:
//!
//! - The kernel starts with a barrier of the cluster: afterwards all blocks have started, as CUDA requires for mapped
//!   memory, and their two counters are zero.
//! - A thread that returns or panics increments its block's counter of ended threads. If other threads of the block
//!   remain, it ends: barriers of the block, the warp and the cluster only wait for threads that have not ended.
//! - The last thread of a block keeps the block alive. It increments a counter in every block of the cluster, and waits
//!   at the cluster's barrier, as often as the others do, until its own counter has reached the number of blocks. No
//!   thread of its block remains that could wait for it elsewhere. The last access to a block's memory is such an
//!   increment, for which the block's own last thread waits.
//!
//! Each increment is a release of the thread's earlier writes, and the last thread acquires it, so that writes to
//! another block's memory happen before that block ends. Other modules are not affected.

use cuda_llvm::inkwell;
use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::values::PointerValue;

use super::function::{Lowering, Result, SHARED};

/// The number of counters: the block's ended threads, and the cluster's ended blocks.
const COUNTERS: u32 = 2;

/// The prologue of a kernel. `$0` is the generic address of the counters.
const ENTER: &str = "\
{
\t.reg .pred first;
\t.reg .b32 a, b;
\tmov.u32 a, %tid.x;
\tmov.u32 b, %tid.y;
\tor.b32 a, a, b;
\tmov.u32 b, %tid.z;
\tor.b32 a, a, b;
\tsetp.eq.u32 first, a, 0;
\t@first st.u32 [$0], 0;
\t@first st.u32 [$0+4], 0;
\tbarrier.cluster.arrive;
\tbarrier.cluster.wait;
\t}";

/// The epilogue of a thread.
const LEAVE: &str = "\
{
\t.reg .pred others, more, open;
\t.reg .b32 threads, extent, ended, blocks, rank, counted;
\t.reg .b64 there;
\tmov.u32 threads, %ntid.x;
\tmov.u32 extent, %ntid.y;
\tmul.lo.u32 threads, threads, extent;
\tmov.u32 extent, %ntid.z;
\tmul.lo.u32 threads, threads, extent;
\tatom.acq_rel.cluster.add.u32 ended, [$0], 1;
\tadd.u32 ended, ended, 1;
\tsetp.ne.u32 others, ended, threads;
\t@others bra END_${:uid};
\tmov.u32 blocks, %cluster_nctarank;
\tmov.u32 rank, 0;
COUNT_${:uid}:
\tmapa.u64 there, $0, rank;
\tred.release.cluster.add.u32 [there+4], 1;
\tadd.u32 rank, rank, 1;
\tsetp.lt.u32 more, rank, blocks;
\t@more bra COUNT_${:uid};
KEEP_${:uid}:
\tld.acquire.cluster.u32 counted, [$0+4];
\tsetp.eq.u32 open, counted, blocks;
\t@open bra END_${:uid};
\tbarrier.cluster.arrive;
\tbarrier.cluster.wait;
\tbra KEEP_${:uid};
END_${:uid}:
\t}";

impl<'ctx> Lowering<'ctx, '_> {
    /// Declares the counters of a kernel that maps the memory of other blocks.
    pub(super) fn declare_counters(&self) -> PointerValue<'ctx> {
        let ty = self.context.i32_type().array_type(COUNTERS);
        let variable = self.module.add_global(ty, Some(AddressSpace::from(SHARED)), "cluster_counters");
        variable.set_linkage(Linkage::Internal);
        variable.set_initializer(&ty.get_undef());
        variable.set_alignment(8);
        variable.as_pointer_value()
    }

    /// Emits the prologue, if the kernel maps the memory of other blocks.
    pub(super) fn enter(&self) -> Result<()> {
        self.with_counters(ENTER)
    }

    /// Emits the epilogue of a thread, in kernels and device functions, if the kernel maps the memory of other blocks.
    pub(super) fn leave(&self) -> Result<()> {
        self.with_counters(LEAVE)
    }

    fn with_counters(&self, text: &str) -> Result<()> {
        let Some(counters) = self.counters else { return Ok(()) };
        let generic = self.context.ptr_type(AddressSpace::default());
        let counters = self.builder.build_address_space_cast(counters, generic, "")?;
        let ty = self.context.void_type().fn_type(&[generic.into()], false);
        let constraints = "l,~{memory}".to_owned();
        let asm = self.context.create_inline_asm(ty, text.to_owned(), constraints, true, false, None, false);
        let call = self.builder.build_indirect_call(ty, asm, &[counters.into()], "")?;
        call.add_attribute(inkwell::attributes::AttributeLoc::Function, self.flag("convergent"));
        Ok(())
    }
}
