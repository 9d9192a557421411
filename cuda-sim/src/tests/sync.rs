//! Synchronisation, on regions and on fibers: barriers, warp-level operations, polling, blocks that wait for each
//! other.

use super::{Buffer, HEADER, launch_of};
use crate::codegen::jit::Compiled;
use crate::exec::launch::{Fault, Launch};
use crate::exec::resident::SEED;
use crate::link::link;
use crate::memory::IllegalAccess;
use crate::module::{Image, image};
use crate::ptx::parse;
use std::sync::Arc;

/// The number of seeds of random schedules with which each kernel is run.
const SEEDS: u64 = 100;

pub(super) fn launch(
    image: &Arc<Image>,
    code: &Arc<Compiled>,
    grid: u32,
    block: [u32; 3],
    params: &[u64],
) -> Result<(), Fault> {
    let (_module, launch) = launch_of(image, code, [grid, 1, 1], block, params);
    Arc::new(Launch { cooperative: true, ..launch }).run()
}

/// Reports the engine on which a test failed, and how to reproduce it.
pub(super) struct Engine {
    pub(super) name: &'static str,
    pub(super) seed: Option<u64>,
}

impl Drop for Engine {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let seed =
                self.seed.map_or(String::new(), |seed| format!("; CUDA_SIM_SEED={seed} runs this schedule alone"));
            eprintln!("failed by {}{seed}", self.name);
        }
    }
}

/// Returns the seeds of the schedules to try: 100, or the one in `CUDA_SIM_SEED`.
pub(super) fn seeds() -> std::ops::Range<u64> {
    SEED.map_or(0..SEEDS, |seed| seed..seed + 1)
}

/// Runs a kernel by regions, by fibers and by fibers under random schedules, each on buffers with these contents, and
/// checks the resulting contents.
#[track_caller]
pub(super) fn check(text: &str, grid: u32, block: [u32; 3], buffers: &[Vec<u64>], verify: impl Fn(&[Vec<u64>])) {
    check_under(seeds(), text, grid, block, buffers, verify);
}

#[track_caller]
pub(super) fn check_under(
    seeds: std::ops::Range<u64>,
    text: &str,
    grid: u32,
    block: [u32; 3],
    buffers: &[Vec<u64>],
    verify: impl Fn(&[Vec<u64>]),
) {
    let header = if text.starts_with(".version") { "" } else { HEADER };
    let image = image(&format!("{header}{text}")).unwrap_or_else(|error| panic!("{error}"));
    let kernel = &image.kernels["k"];
    let fibers = kernel.fibers(&[], false).unwrap_or_else(|why| panic!("{why}"));
    let regions = kernel.compiled(&[], block, false).unwrap_or_else(|why| panic!("{why}"));
    let plain = [("regions", None, Arc::clone(regions)), ("fibers", None, Arc::clone(fibers))];
    let random = seeds.map(|seed| ("fibers", Some(seed), Arc::new(fibers.seeded(Some(seed)))));
    for (name, seed, code) in plain.into_iter().chain(random) {
        let _engine = Engine { name, seed };
        let memory: Vec<Buffer> = buffers.iter().map(|b| Buffer::new(b)).collect();
        let params: Vec<u64> = memory.iter().map(|b| b.0).collect();
        launch(&image, &code, grid, block, &params).unwrap_or_else(|fault| panic!("{fault:?}"));
        let after: Vec<Vec<u64>> = memory.iter().zip(buffers).map(|(m, b)| m.read(b.len())).collect();
        verify(&after);
    }
}

/// Runs a kernel of one block of `threads` threads that writes `%r10` of each thread to an array.
#[track_caller]
pub(super) fn each(code: &str, threads: u32, want: impl Fn(u32) -> u32) {
    each_under(seeds(), code, threads, want);
}

#[track_caller]
fn each_under(seeds: std::ops::Range<u64>, code: &str, threads: u32, want: impl Fn(u32) -> u32) {
    let text = format!(
        ".visible .entry k(.param .u64 out) {{ .reg .pred %p<16>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
        .shared .align 8 .b8 area[4096];
        mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; mov.u32 %r10, 0;
        {code}
        DONE: ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 8; add.s64 %rd1, %rd1, %rd2; cvt.u64.u32 %rd3, %r10;
        st.global.u64 [%rd1], %rd3; ret; }}"
    );
    check_under(seeds, &text, 1, [threads, 1, 1], &[vec![0xdead; threads as usize]], |after| {
        for (t, got) in after[0].iter().enumerate() {
            let want = want(t as u32);
            assert_eq!(*got, u64::from(want), "{code}: thread {t} has {got:#x}, not {want:#x}");
        }
    });
}

/// The sums of blocks of 256 in shared memory: the usual reduction, with nine barriers.
const REDUCTION: &str = ".visible .entry k(.param .u64 in, .param .u64 out) {
    .reg .pred %p<4>; .reg .b32 %r<12>; .reg .f32 %f<4>; .reg .b64 %rd<8>; .shared .align 4 .b8 s[1024];
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
    cvta.to.global.u64 %rd3, %rd1; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd5, %rd3, %rd4; ld.global.f32 %f1, [%rd5];
    shl.b32 %r5, %r3, 2; mov.u32 %r6, s; add.s32 %r7, %r6, %r5; st.shared.f32 [%r7], %f1;
    bar.sync 0;
    shr.u32 %r8, %r2, 1; setp.eq.s32 %p1, %r8, 0; @%p1 bra $L_END;
$L_LOOP: setp.ge.u32 %p2, %r3, %r8; @%p2 bra $L_SKIP;
    shl.b32 %r9, %r8, 2; add.s32 %r10, %r7, %r9; ld.shared.f32 %f2, [%r10]; ld.shared.f32 %f3, [%r7];
    add.f32 %f3, %f2, %f3; st.shared.f32 [%r7], %f3;
$L_SKIP: bar.sync 0;
    shr.u32 %r8, %r8, 1; setp.ne.s32 %p3, %r8, 0; @%p3 bra $L_LOOP;
$L_END: setp.ne.s32 %p1, %r3, 0; @%p1 bra $L_RET;
    ld.shared.f32 %f1, [s]; cvta.to.global.u64 %rd6, %rd2; mul.wide.u32 %rd7, %r1, 4; add.s64 %rd6, %rd6, %rd7;
    st.global.f32 [%rd6], %f1;
$L_RET: ret; }";

pub(super) fn floats(values: &[f32]) -> Vec<u64> {
    values.chunks(2).map(|c| u64::from(c[0].to_bits()) | u64::from(c.get(1).map_or(0, |v| v.to_bits())) << 32).collect()
}

#[test]
fn reduction_with_nine_barriers() {
    let n = 256 * 6;
    let input: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
    let sums: Vec<f32> = input.chunks(256).map(|c| c.iter().sum()).collect();
    check(REDUCTION, 6, [256, 1, 1], &[floats(&input), vec![0; 3]], |after| assert_eq!(after[1], floats(&sums)));
}

#[test]
fn barriers_reduce_and_count() {
    let predicate = "and.b32 %r3, %r1, 3; setp.eq.u32 %p1, %r3, 0;";
    for (threads, quarter) in [(100, 25), (64, 16), (1, 1)] {
        each(&format!("{predicate} bar.red.popc.u32 %r10, 0, %p1;"), threads, |_| quarter);
        each(&format!("{predicate} barrier.cta.red.popc.aligned.u32 %r10, 2, !%p1;"), threads, |_| threads - quarter);
    }
    let select = "selp.u32 %r10, 1, 0, %p2;";
    each(&format!("{predicate} bar.red.or.pred %p2, 0, %p1; {select}"), 96, |_| 1);
    each(&format!("{predicate} bar.red.and.pred %p2, 0, %p1; {select}"), 96, |_| 0);
    each(&format!("setp.ge.u32 %p1, %r1, 0; bar.red.and.pred %p2, 15, 96, %p1; {select}"), 96, |_| 1);
}

#[test]
fn tiled_matrix_product() {
    let n = 48usize;
    let text = ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c) {
        .reg .pred %p<2>; .reg .b32 %r<32>; .reg .f32 %f<8>; .reg .b64 %rd<16>;
        .shared .align 4 .b8 ta[1024]; .shared .align 4 .b8 tb[1024];
        ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];
        mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.x; rem.u32 %r4, %r3, 3; div.u32 %r5, %r3, 3;
        shl.b32 %r4, %r4, 4; shl.b32 %r5, %r5, 4; add.u32 %r6, %r4, %r1; add.u32 %r7, %r5, %r2;
        mov.f32 %f1, 0f00000000; mov.u32 %r8, 0;
        shl.b32 %r9, %r2, 4; add.u32 %r9, %r9, %r1; shl.b32 %r9, %r9, 2;
        mov.u32 %r10, ta; add.u32 %r11, %r10, %r9; mov.u32 %r12, tb; add.u32 %r13, %r12, %r9;
        shl.b32 %r14, %r2, 6; add.u32 %r14, %r14, %r10; shl.b32 %r15, %r1, 2; add.u32 %r15, %r15, %r12;
    TILE: mad.lo.u32 %r16, %r7, 48, %r8; add.u32 %r16, %r16, %r1; mul.wide.u32 %rd4, %r16, 4; add.u64 %rd4, %rd4, %rd1;
        ld.global.f32 %f2, [%rd4]; st.shared.f32 [%r11], %f2;
        add.u32 %r17, %r8, %r2; mad.lo.u32 %r17, %r17, 48, %r6; mul.wide.u32 %rd5, %r17, 4; add.u64 %rd5, %rd5, %rd2;
        ld.global.f32 %f3, [%rd5]; st.shared.f32 [%r13], %f3;
        bar.sync 0;
        mov.u32 %r18, 0; mov.u32 %r19, %r14; mov.u32 %r20, %r15;
    K:  ld.shared.f32 %f4, [%r19]; ld.shared.f32 %f5, [%r20]; fma.rn.f32 %f1, %f4, %f5, %f1;
        add.u32 %r19, %r19, 4; add.u32 %r20, %r20, 64; add.u32 %r18, %r18, 1; setp.ne.u32 %p1, %r18, 16; @%p1 bra K;
        bar.sync 0;
        add.u32 %r8, %r8, 16; setp.lt.u32 %p1, %r8, 48; @%p1 bra TILE;
        mad.lo.u32 %r21, %r7, 48, %r6; mul.wide.u32 %rd6, %r21, 4; add.u64 %rd6, %rd6, %rd3; st.global.f32 [%rd6], %f1;
        ret; }";
    let a: Vec<f32> = (0..n * n).map(|i| (i % 5) as f32 - 2.0).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32 - 3.0).collect();
    let dot = |row: usize, col: usize| (0..n).map(|k| a[row * n + k] * b[k * n + col]).sum::<f32>();
    let want: Vec<f32> = (0..n * n).map(|i| dot(i / n, i % n)).collect();
    check(text, 9, [16, 16, 1], &[floats(&a), floats(&b), vec![0; n * n / 2]], |after| {
        assert_eq!(after[2], floats(&want));
    });
}

/// Barriers in a loop with a different number of iterations in each thread, as sm_70 allows: threads that have left are
/// at the barrier after the loop, or have exited, and both count.
#[test]
fn barriers_in_divergent_loops() {
    let lap = "mov.u32 %r3, 0; LOOP: setp.gt.u32 %p1, %r3, %r2; @%p1 bra OUT; add.u32 %r3, %r3, 1;";
    each(&format!("{lap} bar.sync 0; bra LOOP; OUT: bar.sync 0; mov.u32 %r10, %r3;"), 64, |t| t % 32 + 1);
    // Barriers with the same number in different branches are the same barrier.
    each(
        "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra EVEN; bar.sync 3; mov.u32 %r10, 7; bra DONE;
        EVEN: bar.sync 3; mov.u32 %r10, 8;",
        70,
        |t| 8 - t % 2,
    );
}

#[test]
fn threads_that_exit_are_not_waited_for() {
    // The last 40 of 104 threads exit, and one in the middle of a warp; the others reduce and shuffle.
    let code = "setp.ge.u32 %p1, %r1, 64; setp.eq.u32 %p2, %r1, 13; or.pred %p1, %p1, %p2; @%p1 bra DONE;
        mov.u32 %r10, 1; setp.ge.u32 %p3, %r1, 0; bar.red.popc.u32 %r10, 0, %p3;
        vote.sync.ballot.b32 %r11, %p3, 0xffffffff; popc.b32 %r12, %r11; mad.lo.u32 %r10, %r12, 1000, %r10;
        bar.warp.sync 0xffffffff; bar.sync 0;";
    each(code, 104, |t| match t {
        64.. | 13 => 0,
        _ => 63 + 1000 * (32 - u32::from(t < 32)),
    });
}

fn shuffle(mode: &str, t: u32, b: u32, c: u32) -> (u32, bool) {
    // The manual's pseudocode.
    let (lane, b, segmask) = (t as i32 & 31, (b & 31) as i32, (c >> 8 & 31) as i32);
    let max = (lane & segmask) | ((c & 31) as i32 & !segmask);
    let min = lane & segmask;
    let (j, p) = match mode {
        "up" => (lane - b, lane - b >= max),
        "down" => (lane + b, lane + b <= max),
        "bfly" => (lane ^ b, (lane ^ b) <= max),
        _ => (min | (b & !segmask), (min | (b & !segmask)) <= max),
    };
    (if p { j as u32 } else { lane as u32 }, p)
}

#[test]
fn shuffles_of_every_mode_distance_and_width() {
    for mode in ["up", "down", "bfly", "idx"] {
        for width in [32, 16, 8, 1] {
            let clamp = if mode == "up" { 0 } else { 31 };
            let c = (32 - width) << 8 | clamp;
            for b in [0, 1, 5, 31] {
                let code = format!(
                    "mad.lo.u32 %r3, %r1, 3, 7; shfl.sync.{mode}.b32 %r4|%p1, %r3, {b}, {c}, -1;
                    selp.u32 %r5, 1000, 0, %p1; add.u32 %r10, %r4, %r5;"
                );
                each_under(0..4, &code, 64, |t| {
                    let (from, inside) = shuffle(mode, t, b, c);
                    (from + t / 32 * 32) * 3 + 7 + if inside { 1000 } else { 0 }
                });
            }
        }
        // A different distance for each lane, in registers.
        let code = format!("and.b32 %r3, %r2, 3; shfl.sync.{mode}.b32 %r10|_, %r1, %r3, 0x1f, 0xffffffff;");
        each(&code, 32, |t| shuffle(mode, t, t % 4, 0x1f).0);
    }
}

/// Arguments that are compile-time constants are not in the frame.
#[test]
fn shuffles_of_constants() {
    for mode in ["up", "down", "bfly", "idx"] {
        let clamp = if mode == "up" { 0 } else { 31 };
        let code = format!(
            "mov.u32 %r3, 82; shfl.sync.{mode}.b32 %r4, %r3, 5, {clamp}, -1;
            add.u32 %r5, %r4, %r1; shfl.sync.{mode}.b32 %r10, %r5, 0, {clamp}, -1;"
        );
        each_under(0..4, &code, 64, |t| 82 + if mode == "idx" { t / 32 * 32 } else { t });
    }
}

#[test]
fn warp_operations_under_partial_masks() {
    // Even and odd lanes diverge and execute the same operation under their own masks, at two instructions.
    let halves = |op: &str| {
        format!(
            "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; setp.lt.u32 %p3, %r2, 9; @%p1 bra EVEN;
            mov.u32 %r4, 0xaaaaaaaa; {op} bra DONE; EVEN: mov.u32 %r4, 0x55555555; {op}"
        )
    };
    let parity = |t: u32| if t & 1 == 0 { 0x5555_5555u32 } else { 0xaaaa_aaaa };
    each(&halves("vote.sync.ballot.b32 %r10, %p3, %r4;"), 64, |t| parity(t) & 0x1ff);
    each(&halves("vote.ballot.sync.b32 %r10, !%p3, %r4;"), 32, |t| parity(t) & !0x1ff);
    each(&halves("redux.sync.add.u32 %r10, %r1, %r4;"), 32, |t| (0..32).filter(|i| i % 2 == t % 2).sum());
    each(&halves("shfl.sync.down.b32 %r10, %r1, 2, 31, %r4;"), 32, |t| if t < 30 { t + 2 } else { t });
    each(&halves("elect.sync %r10|%p4, %r4;"), 32, |t| t % 2);
    // Groups of eight lanes, each with its own mask, at one instruction.
    let tile = "and.b32 %r3, %r2, 24; shl.b32 %r4, 0xff, %r3; ";
    each(&format!("{tile} redux.sync.max.u32 %r10, %r1, %r4;"), 64, |t| t | 7);
    each(&format!("{tile} bar.warp.sync %r4; match.any.sync.b32 %r10, %r3, %r4;"), 64, |t| 0xff << (t & 24));
}

#[test]
fn votes_matches_and_reductions() {
    let small = "setp.lt.u32 %p1, %r2, 5; setp.ge.u32 %p2, %r1, 0;";
    for (op, pred, want) in [
        ("all", "%p1", 0),
        ("all", "%p2", 1),
        ("any", "%p1", 1),
        ("any", "!%p2", 0),
        ("uni", "%p1", 0),
        ("uni", "!%p2", 1),
    ] {
        each(&format!("{small} vote.sync.{op}.pred %p3, {pred}, -1; selp.u32 %r10, 1, 0, %p3;"), 40, |_| want);
        each(&format!("{small} vote.{op}.sync.pred %p3, {pred}, -1; selp.u32 %r10, 1, 0, %p3;"), 64, |_| want);
    }
    let thirds = "rem.u32 %r3, %r2, 3; cvt.u64.u32 %rd4, %r3; shl.b64 %rd4, %rd4, 40;";
    let equal = |t: u32| (0..32).filter(|i| i % 3 == t % 32 % 3).fold(0u32, |m, i| m | 1 << i);
    each(&format!("{thirds} match.any.sync.b32 %r10, %r3, -1;"), 64, equal);
    each(&format!("{thirds} match.any.sync.b64 %r10, %rd4, -1;"), 64, equal);
    each(&format!("{thirds} match.all.sync.b64 %r10|%p1, %rd4, -1;"), 32, |_| 0);
    each("mov.u32 %r3, 5; match.all.sync.b32 %r10|%p1, %r3, -1; selp.u32 %r10, %r10, 9, %p1;", 32, |_| u32::MAX);
    for (op, want) in
        [("add.s32", 32 * 31 / 2 - 32 * 16), ("min.s32", -16), ("max.s32", 15), ("xor.b32", 0), ("or.b32", -1)]
    {
        each(&format!("sub.s32 %r3, %r2, 16; redux.sync.{op} %r10, %r3, -1;"), 32, |_| want as u32);
    }
    each("sub.s32 %r3, %r2, 16; redux.sync.min.u32 %r10, %r3, -1;", 32, |_| 0);
    each("add.u32 %r3, %r2, 64; redux.sync.and.b32 %r10, %r3, -1;", 32, |_| 64);
}

/// `activemask` may return any set of lanes that run together, including the lane itself.
#[test]
fn active_masks_hold_the_lane_itself() {
    each(
        "activemask.b32 %r3; shl.b32 %r4, 1, %r2; and.b32 %r5, %r3, %r4; setp.ne.u32 %p1, %r5, 0;
        selp.u32 %r10, 1, 0, %p1;",
        48,
        |_| 1,
    );
}

#[test]
fn spin_lock_between_threads_and_blocks() {
    let text = ".global .align 4 .u32 lock;
        .visible .entry k(.param .u64 out) { .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
        ld.param.u64 %rd1, [out]; mov.u32 %r5, 0;
        SPIN: atom.global.cas.b32 %r1, [lock], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;
        membar.gl; ld.volatile.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd1], %r2;
        membar.gl; atom.global.exch.b32 %r3, [lock], 0;
        AGAIN: atom.global.cas.b32 %r1, [lock], 0, 1; setp.eq.u32 %p2, %r1, 0; @!%p2 bra NEXT;
        ld.volatile.global.u32 %r2, [%rd1+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd1+4], %r2;
        membar.gl; st.release.gpu.global.u32 [lock], 0; mov.u32 %r5, 1;
        NEXT: setp.eq.u32 %p3, %r5, 0; @%p3 bra AGAIN; ret; }";
    check(text, 5, [70, 1, 1], &[vec![0]], |after| assert_eq!(after[0], [350 << 32 | 350]));
}

/// Each thread appends its number to a list: the schedules must differ, or there are not a hundred of them.
#[test]
fn random_schedules_differ() {
    let text = ".global .align 4 .u32 count; .visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd<4>;
        ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; atom.global.add.u32 %r2, [count], 1; bar.warp.sync -1;
        mul.wide.u32 %rd2, %r2, 8; add.u64 %rd2, %rd1, %rd2; cvt.u64.u32 %rd3, %r1; st.global.u64 [%rd2], %rd3;
        bar.sync 0; atom.global.add.u32 %r2, [count], 1; mul.wide.u32 %rd2, %r2, 8; add.u64 %rd2, %rd1, %rd2;
        st.global.u64 [%rd2], %rd3; ret; }";
    let text = format!("{HEADER}{text}");
    let image = image(&text).unwrap();
    let fibers = image.kernels["k"].fibers(&[], false).unwrap();
    let order = |seed| {
        let out = Buffer::new(&[0; 192]);
        launch(&image, &Arc::new(fibers.seeded(seed)), 1, [96, 1, 1], &[out.0]).unwrap();
        out.read(192)
    };
    let orders: std::collections::HashSet<Vec<u64>> = (0..SEEDS).map(|seed| order(Some(seed))).collect();
    println!("{} orders under {SEEDS} seeds", orders.len());
    assert!(orders.len() as u64 >= SEEDS * 9 / 10, "{} orders", orders.len());
    assert_eq!(order(Some(7)), order(Some(7)));
    // Without a seed threads run in order.
    assert_eq!(order(None)[..96], (0..96).collect::<Vec<u64>>());
}

/// A lock that is held during some work: the others must poll meanwhile, and none may starve.
#[test]
fn lock_held_across_a_shuffle_of_one_lane() {
    let text = ".global .align 4 .u32 turn;
        .visible .entry k(.param .u64 out) { .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<4>;
        ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r5, %laneid; mov.u32 %r6, 1; shl.b32 %r6, %r6, %r5;
        WAIT: ld.acquire.gpu.global.u32 %r2, [turn]; setp.ne.u32 %p1, %r2, %r1; @%p1 bra WAIT;
        shfl.sync.idx.b32 %r7, %r1, %r5, 31, %r6;
        ld.global.u32 %r3, [%rd1]; mad.lo.u32 %r3, %r3, 3, %r7; st.global.u32 [%rd1], %r3;
        add.u32 %r4, %r1, 1; st.release.gpu.global.u32 [turn], %r4; ret; }";
    let want = (0..67u32).fold(0u32, |sum, t| sum.wrapping_mul(3).wrapping_add(t));
    check(text, 1, [67, 1, 1], &[vec![0]], |after| assert_eq!(after[0], [u64::from(want)]));
}

/// A prefix sum of blocks with look-back: a block polls the flag of its predecessor.
#[test]
fn decoupled_look_back() {
    let text = ".visible .entry k(.param .u64 state, .param .u64 out) { .reg .pred %p<4>; .reg .b32 %r<12>;
        .reg .b64 %rd<12>; .shared .align 8 .b64 before;
        ld.param.u64 %rd1, [state]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
        setp.ne.u32 %p1, %r2, 0; @%p1 bra ALL;
        mul.wide.u32 %rd3, %r1, 8; add.u64 %rd3, %rd3, %rd1; mov.u64 %rd4, 1; setp.eq.u32 %p2, %r1, 0; @%p2 bra FOUND;
        POLL: ld.relaxed.gpu.global.u64 %rd4, [%rd3+-8]; setp.eq.u64 %p3, %rd4, 0; @%p3 bra POLL;
        fence.acq_rel.gpu;
        FOUND: cvt.u64.u32 %rd5, %r1; add.u64 %rd6, %rd4, %rd5; add.u64 %rd6, %rd6, 1; fence.acq_rel.gpu;
        st.relaxed.gpu.global.u64 [%rd3], %rd6; st.shared.u64 [before], %rd4;
        ALL: barrier.sync 0; ld.shared.u64 %rd7, [before]; cvt.u64.u32 %rd8, %r2; add.u64 %rd7, %rd7, %rd8;
        mad.lo.u32 %r3, %r1, 40, %r2; mul.wide.u32 %rd9, %r3, 8; add.u64 %rd9, %rd9, %rd2; st.global.u64 [%rd9], %rd7;
        ret; }";
    let blocks = 20u64;
    check(text, blocks as u32, [40, 1, 1], &[vec![0; 20], vec![0; 800]], |after| {
        for (i, got) in after[1].iter().enumerate() {
            let (block, thread) = (i as u64 / 40, i as u64 % 40);
            // Block b publishes 1 + the sum of (i + 1) for all i up to b, and reads its predecessor's value.
            assert_eq!(*got, 1 + (1..=block).sum::<u64>() + thread, "block {block}");
        }
    });
}

/// One warp produces and one consumes, through a one-element buffer, with two named barriers of 64 threads.
#[test]
fn named_barriers_between_producer_and_consumer() {
    let text = ".visible .entry k(.param .u64 out) { .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<4>;
        .shared .align 4 .b8 slot[128];
        ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; shl.b32 %r3, %r2, 2; mov.u32 %r4, slot;
        add.u32 %r4, %r4, %r3; mov.u32 %r5, 0; mov.u32 %r8, 0; setp.ge.u32 %p1, %r1, 32; @%p1 bra CONSUME;
        PRODUCE: mad.lo.u32 %r6, %r5, 100, %r2; st.shared.u32 [%r4], %r6; bar.arrive 1, 64; bar.sync 2, 64;
        add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 10; @%p2 bra PRODUCE; ret;
        CONSUME: bar.sync 1, 64; ld.shared.u32 %r7, [%r4]; add.u32 %r8, %r8, %r7; bar.arrive 2, 64;
        add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 10; @%p3 bra CONSUME;
        cvt.u64.u32 %rd2, %r8; mul.wide.u32 %rd3, %r2, 8; add.u64 %rd1, %rd1, %rd3; st.global.u64 [%rd1], %rd2; ret; }";
    check(text, 2, [64, 1, 1], &[vec![0; 32]], |after| {
        for (lane, got) in after[0].iter().enumerate() {
            assert_eq!(*got, 45 * 100 + 10 * lane as u64);
        }
    });
}

/// A grid-wide barrier of atomics, in which every block waits for every other.
#[test]
fn all_blocks_wait_for_each_other() {
    let text = ".visible .entry k(.param .u64 count, .param .u64 out) { .reg .pred %p<4>; .reg .b32 %r<12>;
        .reg .b64 %rd<8>;
        ld.param.u64 %rd1, [count]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x;
        mov.u32 %r3, %tid.x; mov.u32 %r9, 0; mul.wide.u32 %rd3, %r1, 8; add.u64 %rd3, %rd3, %rd2;
        ROUND: add.u32 %r9, %r9, 1;
        setp.ne.u32 %p1, %r3, 0; @%p1 bra MEET;
        ld.global.u64 %rd4, [%rd3]; add.u64 %rd4, %rd4, 1; st.global.u64 [%rd3], %rd4;
        MEET: bar.sync 0; @%p1 bra GO;
        membar.gl; atom.global.add.u32 %r4, [%rd1], 1; mul.lo.u32 %r5, %r2, %r9;
        WAIT: ld.volatile.global.u32 %r6, [%rd1]; setp.lt.u32 %p2, %r6, %r5; @%p2 bra WAIT; membar.gl;
        GO: bar.sync 0; setp.lt.u32 %p3, %r9, 4; @%p3 bra ROUND;
        @%p1 bra END; sub.u32 %r7, %r2, 1; sub.u32 %r7, %r7, %r1; mul.wide.u32 %rd5, %r7, 8; add.u64 %rd5, %rd5, %rd2;
        ld.global.u64 %rd6, [%rd5]; st.global.u64 [%rd3+256], %rd6; END: ret; }";
    check(text, 30, [33, 1, 1], &[vec![0], vec![0; 64]], |after| {
        assert_eq!(after[1][..30], [4; 30]);
        assert_eq!(after[1][32..62], [4; 30]);
    });
}

fn deadlocks(code: &str) {
    let text = format!(
        "{HEADER}.visible .entry k() {{ .reg .pred %p<4>; .reg .b32 %r<4>; mov.u32 %r1, %tid.x;
        setp.lt.u32 %p1, %r1, 7; {code} ret; }}"
    );
    let image = image(&text).unwrap();
    let kernel = &image.kernels["k"];
    for code in [kernel.compiled(&[], [64, 1, 1], false).unwrap(), kernel.fibers(&[], false).unwrap()] {
        let fault = launch(&image, code, 3, [64, 1, 1], &[]).unwrap_err();
        assert!(matches!(fault, Fault::Deadlock { .. }), "{fault:?}");
    }
}

#[test]
fn threads_that_wait_for_each_other_for_ever_are_a_fault() {
    deadlocks("@%p1 bar.sync 1; bar.sync 2;");
    deadlocks("bar.sync 0, 96;");
    deadlocks("@%p1 bar.warp.sync -1; @!%p1 bar.sync 0;");
    deadlocks("@%p1 vote.sync.any.pred %p2, %p1, -1; @!%p1 vote.sync.all.pred %p2, %p1, -1;");
}

#[test]
fn a_fault_between_barriers_ends_the_launch() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{ .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; bar.sync 0; setp.eq.u32 %p1, %r1, 40;
        @%p1 st.global.u32 [%rd1], 1; bar.sync 0; ret; }}"
    );
    let image = image(&text).unwrap();
    let kernel = &image.kernels["k"];
    let good = Buffer::new(&[0]);
    for code in [kernel.compiled(&[], [64, 1, 1], false).unwrap(), kernel.fibers(&[], false).unwrap()] {
        let fault = launch(&image, code, 2, [64, 1, 1], &[16]).unwrap_err();
        assert!(matches!(fault, Fault::Memory { illegal: IllegalAccess::Outside, .. }), "{fault:?}");
        launch(&image, code, 2, [64, 1, 1], &[good.0]).unwrap();
    }
    assert_eq!(good.read(1), [1]);
}

/// A grid-wide barrier as in the headers of cooperative groups: the workspace's address is in `%envreg1` and
/// `%envreg2`, and block 0 adds the value that flips the sign once all blocks have arrived.
#[test]
fn grid_barriers_of_cooperative_groups() {
    let text =
        ".visible .entry k(.param .u64 a, .param .u64 b) { .reg .pred %p<6>; .reg .b32 %r<32>; .reg .b64 %rd<24>;
        ld.param.u64 %rd10, [a]; ld.param.u64 %rd11, [b];
        mov.u32 %r14, %envreg2; cvt.u64.u32 %rd17, %r14; mov.u32 %r15, %envreg1; cvt.u64.u32 %rd18, %r15;
        bfi.b64 %rd2, %rd18, %rd17, 32, 32; add.s64 %rd8, %rd2, 4;
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x;
        mad.lo.u32 %r5, %r1, %r2, %r3; mul.wide.u32 %rd3, %r5, 8; add.u64 %rd4, %rd10, %rd3;
        cvt.u64.u32 %rd5, %r5; st.global.u64 [%rd4], %rd5;
        setp.ne.s64 %p1, %rd2, 0; @%p1 bra HAVE; trap;
        HAVE: barrier.sync 0; setp.ne.u32 %p2, %r3, 0; @%p2 bra JOIN;
        setp.eq.s32 %p3, %r1, 0; mov.u32 %r31, -2147483647; sub.s32 %r30, %r31, %r4; selp.b32 %r25, %r30, 1, %p3;
        atom.add.release.gpu.u32 %r24, [%rd8], %r25;
        WAIT: ld.acquire.gpu.u32 %r29, [%rd8]; xor.b32 %r28, %r29, %r24; setp.gt.s32 %p4, %r28, -1; @%p4 bra WAIT;
        JOIN: barrier.sync 0;
        mul.lo.u32 %r6, %r2, %r4; sub.u32 %r6, %r6, %r5; sub.u32 %r6, %r6, 1; mul.wide.u32 %rd6, %r6, 8;
        add.u64 %rd6, %rd6, %rd10; ld.global.u64 %rd7, [%rd6]; add.u64 %rd9, %rd11, %rd3; st.global.u64 [%rd9], %rd7;
        ret; }";
    let n = 21 * 40;
    check(text, 21, [40, 1, 1], &[vec![0; n], vec![0; n]], |after| {
        assert!(after[1].iter().enumerate().all(|(i, v)| *v == (n - 1 - i) as u64));
    });
}

/// The same barrier through the functions of NVIDIA's device library, as called by numba, in blocks of three
/// dimensions.
#[test]
fn grid_barriers_of_the_device_library() {
    let text = ".extern .func (.param .b64 h) cudaCGGetIntrinsicHandle(.param .b32 scope);
        .extern .func (.param .b32 s) cudaCGSynchronize(.param .b64 h, .param .b32 flags);
        .visible .entry k(.param .u64 a, .param .u64 b) { .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<12>;
        ld.param.u64 %rd10, [a]; ld.param.u64 %rd11, [b];
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %tid.z;
        mad.lo.u32 %r3, %r4, %r2, %r3; shl.b32 %r2, %r2, 1; mov.u32 %r4, %nctaid.x;
        mad.lo.u32 %r5, %r1, %r2, %r3; mul.wide.u32 %rd3, %r5, 8; add.u64 %rd4, %rd10, %rd3;
        cvt.u64.u32 %rd5, %r5; st.global.u64 [%rd4], %rd5;
        { .param .b32 scope; .param .b64 h; st.param.b32 [scope], 1;
          call.uni (h), cudaCGGetIntrinsicHandle, (scope); ld.param.b64 %rd1, [h]; }
        { .param .b64 h; .param .b32 flags; .param .b32 s; st.param.b64 [h], %rd1; st.param.b32 [flags], 0;
          call.uni (s), cudaCGSynchronize, (h, flags); ld.param.b32 %r8, [s]; }
        mul.lo.u32 %r6, %r2, %r4; sub.u32 %r6, %r6, %r5; sub.u32 %r6, %r6, 1; mul.wide.u32 %rd6, %r6, 8;
        add.u64 %rd6, %rd6, %rd10; ld.global.u64 %rd7, [%rd6]; cvt.u64.u32 %rd8, %r8; add.u64 %rd7, %rd7, %rd8;
        add.u64 %rd9, %rd11, %rd3; st.global.u64 [%rd9], %rd7; ret; }";
    let n = 9 * 40;
    check(text, 9, [20, 1, 2], &[vec![0; n], vec![0; n]], |after| {
        assert!(after[1].iter().enumerate().all(|(i, v)| *v == (n - 1 - i) as u64));
    });
}

/// Lanes that query the active mask at different instructions are not active together.
#[test]
fn active_lanes_of_each_place() {
    each(
        "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra EVEN; activemask.b32 %r4; and.b32 %r10, %r4, 0x55555555;
        bra END; EVEN: activemask.b32 %r4; and.b32 %r10, %r4, 0xaaaaaaaa; END:",
        64,
        |_| 0,
    );
}

/// Votes and shuffles without masks, for older targets: the lanes that reach one instruction together participate, in
/// whatever order they arrive.
#[test]
fn warp_operations_without_masks() {
    let text = ".version 6.0 .target sm_60 .address_size 64
        .visible .entry k(.param .u64 out) { .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<4>;
        mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; mov.u32 %r3, %r1; mov.u32 %r4, 16;
        SUM: shfl.down.b32 %r5, %r3, %r4, 31; add.u32 %r3, %r3, %r5; shr.u32 %r4, %r4, 1;
        setp.ne.u32 %p1, %r4, 0; @%p1 bra SUM; shfl.idx.b32 %r3, %r3, 0, 31;
        and.b32 %r6, %r1, 3; setp.eq.u32 %p2, %r6, 0; vote.ballot.b32 %r7, %p2; @%p2 bra FOURTH;
        vote.all.pred %p3, !%p2; selp.u32 %r8, 1, 0, %p3; setp.eq.u32 %p1, %r6, 1; vote.ballot.b32 %r9, !%p1;
        bra END;
        FOURTH: vote.ballot.b32 %r9, %p2; vote.uni.pred %p3, %p2; selp.u32 %r8, 2, 0, %p3;
        END: vote.any.pred %p1, %p2; selp.u32 %r10, 4, 0, %p1; add.u32 %r8, %r8, %r10;
        ld.param.u64 %rd1, [out]; mad.wide.u32 %rd1, %r1, 16, %rd1; st.global.v4.u32 [%rd1], {%r3, %r7, %r8, %r9}; ret; }";
    check(text, 1, [64, 1, 1], &[vec![0; 128]], |after| {
        for (t, got) in after[0].chunks(2).enumerate() {
            let sum: u64 = (0..32).map(|lane| t as u64 / 32 * 32 + lane).sum();
            assert_eq!(got[0], sum | 0x1111_1111 << 32, "thread {t}");
            let (truth, lanes) = if t % 4 == 0 { (2, 0x1111_1111) } else { (1, 0xcccc_ccccu64) };
            assert_eq!((got[1] & 3, got[1] >> 32), (truth, lanes), "thread {t}");
        }
    });
}

/// Newer targets have no such operations, but older texts for them do; a link of old and new ones can be loaded.
#[test]
fn masks_are_needed_by_newer_versions() {
    let text = |version: &str, target: &str| {
        format!(
            ".version {version} .target {target} .address_size 64 .visible .entry k_{target}() {{ .reg .pred %p; .reg .b32 %r;
            setp.eq.u32 %p, 0, 0; vote.ballot.b32 %r, %p; shfl.up.b32 %r, %r, 1, 0; ret; }}"
        )
    };
    for (version, target) in [("8.0", "sm_60"), ("6.3", "sm_70"), ("6.4", "sm_60")] {
        assert!(image(&text(version, target)).is_ok(), "{version} {target}");
    }
    let error = image(&text("6.4", "sm_70")).map(|_| ()).unwrap_err();
    assert!(
        error.message.contains("'vote.ballot.b32' without .sync is for targets before sm_70 and for PTX before 6.4"),
        "{error}"
    );
    let new = format!("{HEADER}.visible .entry k() {{ ret; }}");
    let linked = link(vec![parse(&text("8.0", "sm_60")).unwrap(), parse(&new).unwrap()]).unwrap().to_string();
    assert_eq!(image(&linked).unwrap_or_else(|e| panic!("{e}")).names, ["k_sm_60", "k"]);
}

/// Three additions with carry across a barrier: the flag and the registers are per-thread.
#[test]
fn registers_and_flags_across_barriers() {
    each(
        "sub.u32 %r3, %r1, 20; not.b32 %r4, %r1; add.cc.u32 %r5, %r3, 20; addc.cc.u32 %r6, %r4, %r1; bar.sync 0;
        addc.u32 %r10, %r5, 7; add.cc.u32 %r5, %r4, %r1; addc.u32 %r10, %r10, %r6;",
        64,
        |t| {
            let carry = u32::from(t.wrapping_sub(20).overflowing_add(20).1);
            let (sum, first) = (!t).overflowing_add(t);
            let (sum, second) = sum.overflowing_add(carry);
            // The addition after the barrier adds the carry of the second one.
            (t + 7 + u32::from(first | second)).wrapping_add(sum)
        },
    );
}
