//! Keeps the shared memory of a cluster's blocks until all of them are through.
//!
//! Shared memory ends with its block, and a thread that returns or panics ends at once. So in a kernel that maps the memory
//! of other blocks, no block ends before the others may no longer look at it:
//!
//! - At its beginning the kernel waits for its cluster: from there on all blocks have begun, as CUDA requires of memory that
//!   is mapped, and their two counters are zero.
//! - A thread that returns or panics counts itself as ended in its block. If others of its block are left it ends: barriers
//!   of the block, the warp and the cluster wait for threads that have not ended only.
//! - The last thread of a block keeps it. It counts its block in the memory of every block of the cluster, and comes to the
//!   cluster's barrier, as often as the others do, until its own block has counted them all. Nobody of its own block is left
//!   who could wait for it elsewhere. A block's memory is touched for the last time when it is counted there, for which its
//!   own keeper waits.
//!
//! Each count releases what the threads before it wrote, and the keeper acquires it, so that writes to another block's memory
//! come before that block's end. All other modules are as they are without this.

use cuda_llvm::inkwell;
use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::values::PointerValue;

use super::function::{Lowering, Result, SHARED};

/// The counters of a block: its threads that have ended, and the cluster's blocks that have.
const COUNTERS: u32 = 2;

/// What a kernel begins with. `$0` are the counters, as every address here a generic one.
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

/// What stands before a thread's end.
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
    /// The counters of a kernel that maps the memory of other blocks.
    pub(super) fn declare_counters(&self) -> PointerValue<'ctx> {
        let ty = self.context.i32_type().array_type(COUNTERS);
        let variable = self.module.add_global(ty, Some(AddressSpace::from(SHARED)), "cluster_counters");
        variable.set_linkage(Linkage::Internal);
        variable.set_initializer(&ty.get_undef());
        variable.set_alignment(8);
        variable.as_pointer_value()
    }

    /// What a kernel begins with, if it maps the memory of other blocks.
    pub(super) fn enter(&self) -> Result<()> {
        self.with_counters(ENTER)
    }

    /// What stands before a thread's end, in kernels and device functions, if the kernel maps the memory of other blocks.
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
