//! Bulk copies: every form, memory before the barrier is tested, and copies to global memory.

use crate::assembler::{assemble, is_ptx};
use crate::device::{HEADER, Memory, launch, load, unload};
use crate::instance::{Instance, forms, instances};
use cuda_sim::ptx::{Modifier as M, Opcode};
use cuda_sys::CUresult;

/// Returns each instance once: an immediate, of which instances have several, has no effect here.
fn all() -> Vec<Instance> {
    let bulk = |i: &Instance| i.has(M::Bulk) && i.immediate == 0;
    forms().filter(|f| f.opcode == Opcode::Cp).flat_map(instances).filter(bulk).collect()
}

/// Words that are copied, all different.
fn source(words: usize) -> Vec<u64> {
    (0..words as u64).map(|i| (i + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

#[track_caller]
fn run(text: &str, from: &[u64], out: usize) -> Vec<u64> {
    is_ptx(text);
    let module = load(text).unwrap_or_else(|log| panic!("{log}\n{text}"));
    let (from, to) = (Memory::new(from), Memory::new(&vec![0; out]));
    assert_eq!(launch(module, 1, 1, &[from.address(), to.address()]), CUresult::CUDA_SUCCESS, "{text}");
    unload(module);
    to.read(out)
}

/// One thread: shared memory of 1024 bytes of `0x11` at `s`, and a barrier. The output gets the first words before the
/// barrier is tested, then 1 if the phase has ended, then 64 words.
fn kernel(body: &str) -> String {
    format!(
        "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .pred %p; .reg .b16 %mask; .reg .b32 %r, %size, %bar;
        .reg .b64 %from, %to, %x, %y, %at, %last; .shared .align 128 .b8 s[1024]; .shared .align 8 .b64 bar;
        ld.param.u64 %from, [in]; ld.param.u64 %to, [out]; mov.u64 %x, 0x1111111111111111; mov.u64 %at, s; add.u64 %last, %at, 1024;
        FILL: st.shared.b64 [%at], %x; add.u64 %at, %at, 8; setp.lt.u64 %p, %at, %last; @%p bra FILL;
        mov.u32 %bar, bar; mbarrier.init.shared.b64 [bar], 1; mov.b16 %mask, 1;
        {body}
        ret; }}"
    )
}

/// Copies words of shared memory to the output, from the third one on.
const SEE: &str =
    "mov.u64 %at, s; add.u64 %to, %to, 16; SEE: ld.shared.b64 %x, [%at]; st.global.b64 [%to], %x; add.u64 %at, %at, 8;
    add.u64 %to, %to, 8; setp.lt.u64 %p, %at, %last; @%p bra SEE;";
const OLD: u64 = 0x1111_1111_1111_1111;

#[test]
fn bytes_come_when_the_barrier_is_tested() {
    let to_shared: Vec<Instance> = all().into_iter().filter(|i| i.has(M::CompleteBytes)).collect();
    assert_eq!(to_shared.len(), 2 + 2 + 1 + 1 + 1);
    for i in &to_shared {
        for bytes in [16usize, 48, 512] {
            let hint = if i.has(M::L2CacheHint) { ", 7" } else { "" };
            let mask = if i.has(M::MulticastCluster) { ", %mask" } else { "" };
            // From global memory, or from the block's own shared memory to the cluster's.
            let inside = !i.has(M::Global);
            let from = if inside { "[s+512]" } else { "[%from]" };
            let fill = "mov.u64 %x, 0x2222222222222222; mov.u64 %at, s; add.u64 %at, %at, 512;
                MORE: st.shared.b64 [%at], %x; add.u64 %at, %at, 8; setp.lt.u64 %p, %at, %last; @%p bra MORE;";
            let text = kernel(&format!(
                "{} mov.u32 %size, {bytes}; mbarrier.arrive.expect_tx.shared.b64 _, [bar], %size;
                {} [s], {from}, %size, [%bar]{mask}{hint};
                ld.shared.b64 %x, [s]; st.global.b64 [%to], %x;
                mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; selp.u64 %x, 1, 0, %p; st.global.b64 [%to+8], %x; {SEE}",
                if inside { fill } else { "" },
                i.name()
            ));
            let words = source(64);
            let got = run(&text, &words, 130);
            // Multicast copies are made immediately.
            let early = i.has(M::MulticastCluster);
            let new = |k: usize| if inside { 0x2222_2222_2222_2222 } else { words[k] };
            let want: Vec<u64> = [if early { new(0) } else { OLD }, 1]
                .into_iter()
                .chain((0..128).map(|k| match k {
                    k if k < bytes / 8 => new(k),
                    k if inside && k >= 64 => 0x2222_2222_2222_2222,
                    _ => OLD,
                }))
                .collect();
            assert_eq!(got, want, "{} of {bytes}", i.name());
        }
    }
}

/// The barrier counts bytes: two copies end a phase together.
#[test]
fn a_phase_ends_with_its_last_byte() {
    let copy = |to: u32, from: u32, bytes: u32| {
        format!(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+{to}], [%from+{from}], {bytes}, [bar];"
        )
    };
    let test = |at: u32| {
        format!(
            "mbarrier.test_wait.parity.shared.b64 %p, [bar], 0; selp.u64 %x, 1, 0, %p; st.global.b64 [%to+{at}], %x;"
        )
    };
    let text = kernel(&format!(
        "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 96; {} {} {} {}",
        copy(0, 0, 64),
        test(0),
        copy(64, 64, 32),
        test(8)
    ));
    assert_eq!(run(&text, &source(64), 2), [0, 1]);
}

#[test]
fn shared_memory_goes_to_global_memory() {
    for i in all().iter().filter(|i| i.has(M::BulkGroup)) {
        let hint = if i.has(M::L2CacheHint) { ", 7" } else { "" };
        for wait in ["cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0;"] {
            let text = kernel(&format!(
                "ld.global.b64 %x, [%from]; st.shared.b64 [s+32], %x; fence.proxy.async.shared::cta;
                {} [%to], [s+16], 32{hint}; cp.async.bulk.commit_group; {wait}",
                i.name()
            ));
            assert_eq!(run(&text, &source(1), 8), [OLD, OLD, source(1)[0], OLD, 0, 0, 0, 0], "{}", i.name());
        }
    }
    // An empty copy, and a prefetch.
    for i in all().iter().filter(|i| i.has(M::Prefetched)) {
        let hint = if i.has(M::L2CacheHint) { ", 7" } else { "" };
        let text = kernel(&format!(
            "{} [%from], 64{hint}; mov.u32 %size, 0; cp.async.bulk.global.shared::cta.bulk_group [%to], [s], %size; st.global.b64 [%to], 5;",
            i.name()
        ));
        assert_eq!(run(&text, &source(8), 2), [5, 0]);
    }
    assert_eq!(all().len(), 7 + 2 + 1 + 2 + 2, "to shared memory, to global memory, groups, prefetches");
}

#[test]
fn registers_may_be_asked_for() {
    let text = "\
        .version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) .reqntid 128 {
        .reg .b64 %to; ld.param.u64 %to, [out]; setmaxnreg.dec.sync.aligned.u32 40; setmaxnreg.inc.sync.aligned.u32 232;
        st.global.b64 [%to], 9; ret; }";
    is_ptx(text);
    let module = load(text).unwrap();
    let to = Memory::new(&[0]);
    assert_eq!(launch(module, 1, 128, &[to.address(), to.address()]), CUresult::CUDA_SUCCESS);
    unload(module);
    assert_eq!(to.read(1), [9]);
}

#[test]
fn what_is_no_bulk_copy_is_refused() {
    for (target, body, what) in [
        ("sm_80", "cp.async.bulk.commit_group;", "'cp.async.bulk.commit_group' needs .target sm_90 or a newer one"),
        (
            "sm_90",
            "cp.async.bulk.shared.global.mbarrier::complete_tx::bytes [s], [%x], 64, [s];",
            "the modifier .shared is not allowed here",
        ),
        (
            "sm_90",
            "cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes [%x], [s], 64, [s];",
            "is not supported",
        ),
        (
            "sm_90",
            "setmaxnreg.inc.sync.aligned.u32 40;",
            "'setmaxnreg.inc.sync.aligned.u32' needs a .target with a letter, such as sm_90a",
        ),
        (
            "sm_90a",
            "setmaxnreg.inc.sync.aligned.u32 41;",
            "'setmaxnreg.inc.sync.aligned.u32' takes a multiple of 8 from 24 to 256, not 41",
        ),
        ("sm_90a", "setmaxnreg.dec.sync.aligned.u32 16;", "takes a multiple of 8 from 24 to 256, not 16"),
    ] {
        let text = format!(
            ".version 8.8\n.target {target}\n.address_size 64\n.visible .entry k() {{ .reg .b64 %x; .shared .align 128 .b8 s[256]; {body} ret; }}"
        );
        let log = load(&text).expect_err(body);
        assert!(log.contains(what), "{body}: {log}");
        assert!(assemble(&text).is_none_or(|told| told.is_err()), "{body}");
    }
}
