//! Finds out whether threads of a kernel may order their accesses by other means than barriers.
//!
//! A fence orders nothing unless a strong write may follow it, in its thread or, since barriers are fences too, in another
//! one after a barrier: only then is anything released. A panic has a fence before a plain write, so that the host sees
//! what it records; kernels that can panic have no other order for that.

use super::callees::reached;
use super::regions::reachable;
use super::{BlockId, Function, Inst, Terminator};
use crate::ptx::{Modifier, Opcode};

/// Returns true for an operation that synchronises with other threads by itself.
fn synchronises(inst: &Inst) -> bool {
    matches!(inst.opcode, Opcode::Mbarrier | Opcode::Cp) || (!inst.is_fence() && inst.is_acquire_or_release())
}

fn is_strong_write(inst: &Inst) -> bool {
    let strong = [Modifier::Volatile, Modifier::Relaxed].iter().any(|modifier| inst.has(*modifier));
    inst.is_atomic() || (inst.opcode == Opcode::St && strong)
}

fn insts(function: &Function) -> impl Iterator<Item = &Inst> {
    function.blocks.iter().flat_map(|block| &block.insts)
}

/// Returns true if something other than a barrier of threads may order accesses in a kernel.
pub(crate) fn order_accesses(functions: &[Function], kernel: usize) -> bool {
    let in_callee = |inst: &Inst| synchronises(inst) || inst.is_fence() || is_strong_write(inst);
    let function = &functions[kernel];
    if insts(function).any(synchronises)
        || reached(functions, kernel).iter().any(|f| insts(&functions[*f]).any(in_callee))
    {
        return true;
    }
    let writes = |block: BlockId| function.blocks[block].insts.iter().any(is_strong_write);
    let waits = |block: BlockId| matches!(function.blocks[block].term, Terminator::Sync(..));
    (0..function.blocks.len()).any(|block| {
        let insts = &function.blocks[block].insts;
        let Some(fence) = insts.iter().position(Inst::is_fence) else { return false };
        let next = function.blocks[block].term.successors();
        let after: Vec<BlockId> = next.into_iter().flat_map(|next| reachable(function, next, |_| true)).collect();
        let released = insts[fence..].iter().any(is_strong_write) || after.iter().any(|block| writes(*block));
        let meets = waits(block) || after.iter().any(|block| waits(*block));
        let elsewhere = || {
            let barriers = (0..function.blocks.len()).filter(|block| waits(*block));
            let mut behind = barriers.flat_map(|block| function.blocks[block].term.successors());
            behind.any(|next| reachable(function, next, |_| true).into_iter().any(writes))
        };
        released || (meets && elsewhere())
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::module::image;

    /// Code, and true if it orders accesses.
    const CODES: &[(&str, bool)] = &[
        ("st.global.u32 [%rd1], %r1; bar.sync 0; ld.global.u32 %r1, [%rd1];", false),
        (
            "atom.global.cas.b32 %r1, [%rd1], 0, 1; st.global.u32 [%rd1+8], %r1; membar.sys; st.global.u32 [%rd1+4], %r1;",
            false,
        ),
        ("membar.gl; st.volatile.global.u32 [%rd1], %r1;", true),
        ("L: atom.global.cas.b32 %r1, [%rd1], 0, 1; membar.gl; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;", true),
        ("membar.gl; bar.sync 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra D; red.global.add.u32 [%rd1], 1; D:", true),
        ("st.release.gpu.global.u32 [%rd1], %r1;", true),
        ("red.global.add.u32 [%rd1], 1; bar.sync 0; ld.volatile.global.u32 %r1, [%rd1];", false),
    ];

    #[test]
    fn a_fence_orders_what_a_strong_write_releases() {
        for (code, expected) in CODES {
            let text = format!(
                "{}.visible .entry k(.param .u64 p) {{ .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>;
                mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p]; {code} ret; }}",
                crate::tests::HEADER
            );
            let image = image(&text).unwrap_or_else(|error| panic!("{error} in {code}"));
            let program = image.kernels["k"].program().unwrap();
            assert_eq!(order_accesses(&program.functions, 0), *expected, "{code}");
        }
    }
}
