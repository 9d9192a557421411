//! Whole kernels: loops, calls, atomics, variables, regions, faults, workers.

use super::{Buffer, HEADER, run};
use crate::exec::launch::Fault;
use crate::memory::IllegalAccess;
use crate::module::image;

/// The vector addition that the JIT emits: bounds checks whose failing path claims a record and ends the thread.
pub(super) const CHECKED_ADD: &str = "
.visible .entry add(.param .u64 x, .param .u64 x_len, .param .u64 y, .param .u64 y_len, .param .u64 out,
    .param .u64 out_len, .param .u64 record) {
    .reg .pred %p<6>; .reg .b32 %r<12>; .reg .b64 %rd<24>;
    ld.param.b64 %rd1, [out_len];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mul.wide.u32 %rd2, %r1, %r2; cvt.u64.u32 %rd3, %r3; add.s64 %rd4, %rd2, %rd3;
    setp.ge.u64 %p1, %rd4, %rd1; @%p1 bra $L_END;
    ld.param.b64 %rd5, [x_len]; setp.ge.u64 %p2, %rd4, %rd5; @%p2 bra $L_COLD;
    ld.param.b64 %rd6, [y_len]; setp.ge.u64 %p3, %rd4, %rd6; @%p3 bra $L_COLD;
    ld.param.b64 %rd8, [x]; ld.param.b64 %rd10, [y]; ld.param.b64 %rd12, [out];
    shl.b64 %rd13, %rd4, 2; add.s64 %rd14, %rd8, %rd13; ld.global.nc.b32 %r4, [%rd14];
    add.s64 %rd15, %rd10, %rd13; ld.global.nc.b32 %r5, [%rd15]; add.rn.f32 %r6, %r4, %r5;
    add.s64 %rd16, %rd12, %rd13; st.global.b32 [%rd16], %r6;
$L_END: ret;
$L_COLD:
    ld.param.b64 %rd17, [record]; atom.acq_rel.sys.global.cas.b32 %r7, [%rd17], 0, 1;
    setp.ne.b32 %p4, %r7, 0; @%p4 bra $L_EXIT;
    st.global.b32 [%rd17+4], %r3; st.global.b32 [%rd17+8], %r1; st.global.b64 [%rd17+16], %rd4;
$L_EXIT: exit; }";

fn pack(values: impl Iterator<Item = f32>) -> Vec<u64> {
    let bits: Vec<u32> = values.map(f32::to_bits).collect();
    bits.chunks(2).map(|c| u64::from(c[0]) | u64::from(c.get(1).copied().unwrap_or(0)) << 32).collect()
}

#[test]
fn checked_add_on_many_blocks_and_its_cold_path() {
    let image = image(&format!("{HEADER}{CHECKED_ADD}")).unwrap();
    let n = 100_001usize;
    let words = n.div_ceil(2);
    let x = Buffer::new(&pack((0..n).map(|i| i as f32)));
    let y = Buffer::new(&pack((0..n).map(|i| 2.0 * i as f32)));
    let go = |y_len: usize| {
        let (out, record) = (Buffer::new(&vec![0; words]), Buffer::new(&[0; 4]));
        let params = [x.0, n as u64, y.0, y_len as u64, out.0, n as u64, record.0];
        run(&image, "add", [n.div_ceil(96) as u32, 1, 1], [96, 1, 1], &params).unwrap();
        (out.read(words), record.read(4))
    };
    let (out, record) = go(n);
    assert_eq!(out, pack((0..n).map(|i| 3.0 * i as f32)));
    assert_eq!(record[0], 0);
    let (out, record) = go(70_000);
    // Threads beyond the shorter length write nothing, one of them claims the record, the others are unaffected.
    assert_eq!(out, pack((0..n).map(|i| if i < 70_000 { 3.0 * i as f32 } else { 0.0 })));
    assert_eq!(record[0] as u32, 1);
    let (thread, block, index) = (record[0] >> 32, record[1] & 0xffff_ffff, record[2]);
    assert!(index >= 70_000 && block * 96 + thread == index, "{record:?}");
}

#[test]
fn three_dimensions_and_special_registers() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 out) {{ .reg .b32 %r<32>; .reg .b64 %rd<8>;
        mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
        mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mov.u32 %r6, %ntid.z;
        mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ctaid.y; mov.u32 %r9, %ctaid.z;
        mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y;
        mad.lo.u32 %r12, %r9, %r11, %r8; mad.lo.u32 %r12, %r12, %r10, %r7;
        mad.lo.u32 %r13, %r3, %r5, %r2; mad.lo.u32 %r13, %r13, %r4, %r1;
        mul.lo.u32 %r14, %r4, %r5; mul.lo.u32 %r14, %r14, %r6; mad.lo.u32 %r15, %r12, %r14, %r13;
        mov.u32 %r16, %laneid; mov.u32 %r17, %warpid; shl.b32 %r17, %r17, 5; or.b32 %r16, %r16, %r17;
        ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r15, 8; add.u64 %rd1, %rd1, %rd2;
        st.global.v2.u32 [%rd1], {{%r15, %r16}}; ret; }}"
    );
    let image = image(&text).unwrap();
    // Rows that are a vector, several, or not a multiple of one.
    for block in [[5, 3, 2], [16, 3, 2], [48, 1, 2], [40, 2, 1], [1, 1, 7]] {
        let threads = block.iter().product::<u32>() as usize;
        let out = Buffer::new(&vec![0; 24 * threads]);
        run(&image, "k", [3, 2, 4], block, &[out.0]).unwrap();
        for (i, value) in out.read(24 * threads).into_iter().enumerate() {
            assert_eq!((value as u32 as usize, (value >> 32) as usize), (i, i % threads), "{block:?}");
        }
    }
}

/// Threads that reach a cold path restart the kernel if that has no visible effect, and only then: here each adds 1 to
/// its word before or after every eighth one counts itself.
#[test]
fn what_a_thread_has_stored_it_does_not_store_again() {
    let add = "ld.global.u64 %rd5, [%rd3]; add.u64 %rd5, %rd5, 1; st.global.u64 [%rd3], %rd5;";
    let own = "st.local.u32 [own], %r1; ld.local.u32 %r4, [own];";
    for (before, after) in [(add, ""), (own, add)] {
        let text = format!(
            "{HEADER}.visible .entry k(.param .u64 out, .param .u64 count) {{
            .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .local .b32 own;
            mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 8; add.u64 %rd3, %rd1, %rd2;
            {before} and.b32 %r2, %r1, 7; setp.eq.u32 %p1, %r2, 3; @%p1 bra RARE; {after} ret;
            RARE: {after} ld.param.u64 %rd4, [count]; atom.global.add.u64 %rd4, [%rd4], 1; ret; }}"
        );
        let image = image(&text).unwrap();
        for threads in [96, 77] {
            let (out, count) = (Buffer::new(&vec![5; threads]), Buffer::new(&[0]));
            run(&image, "k", [1, 1, 1], [threads as u32, 1, 1], &[out.0, count.0]).unwrap();
            assert_eq!(out.read(threads), vec![6; threads], "{before}");
            assert_eq!(count.read(1), [threads as u64 / 8 + u64::from(threads % 8 > 3)]);
        }
    }
}

#[test]
fn loops_calls_recursion_and_local_memory() {
    let text = format!(
        "{HEADER}
        .func (.param .b64 r) fact(.param .b32 n) {{ .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<5>;
        ld.param.b32 %r1, [n]; setp.gt.u32 %p, %r1, 1; @%p bra MORE; mov.u64 %rd1, 1; bra OUT;
        MORE: add.s32 %r2, %r1, -1;
        {{ .param .b32 p; .param .b64 q; st.param.b32 [p], %r2; call.uni (q), fact, (p); ld.param.b64 %rd2, [q]; }}
        cvt.u64.u32 %rd3, %r1; mul.lo.u64 %rd1, %rd2, %rd3;
        OUT: st.param.b64 [r], %rd1; ret; }}
        .visible .entry k(.param .u64 out) {{ .local .align 8 .b8 depot[64]; .reg .pred %p; .reg .b32 %r<5>;
        .reg .b64 %rd<12>;
        mov.u32 %r1, %tid.x; mov.b64 %rd9, depot; cvta.local.u64 %rd9, %rd9; mov.u32 %r2, 0;
        FILL: mul.wide.u32 %rd2, %r2, 8; add.u64 %rd3, %rd9, %rd2; add.u32 %r3, %r2, %r1; cvt.u64.u32 %rd4, %r3;
        st.b64 [%rd3], %rd4; add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 8; @%p bra FILL;
        and.b32 %r4, %r1, 7; mov.b64 %rd5, depot; mul.wide.u32 %rd2, %r4, 8; add.u64 %rd5, %rd5, %rd2;
        ld.local.u64 %rd6, [%rd5];
        {{ .param .b32 p; .param .b64 q; st.param.b32 [p], %r4; call (q), fact, (p); ld.param.b64 %rd7, [q]; }}
        add.u64 %rd6, %rd6, %rd7; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 8; add.u64 %rd1, %rd1, %rd2;
        st.global.u64 [%rd1], %rd6; ret; }}"
    );
    let image = image(&text).unwrap();
    let out = Buffer::new(&[0; 100]);
    run(&image, "k", [1, 1, 1], [100, 1, 1], &[out.0]).unwrap();
    for (i, value) in out.read(100).into_iter().enumerate() {
        let k = i as u64 % 8;
        assert_eq!(value, (i as u64 + k) + (1..=k).product::<u64>(), "thread {i}");
    }
}

#[test]
fn atomics_from_many_blocks() {
    let text = format!(
        "{HEADER}.global .align 8 .u64 total; .global .align 4 .u32 start[2] = {{7, 9}};
        .visible .entry k(.param .u64 a) {{ .reg .b32 %r<8>; .reg .b64 %rd<4>;
        ld.param.u64 %rd1, [a]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
        mad.lo.u32 %r4, %r1, %r2, %r3;
        red.global.add.u32 [%rd1], 1; atom.global.max.s32 %r5, [%rd1+8], %r4; atom.global.inc.u32 %r6, [%rd1+16], 9;
        red.relaxed.gpu.global.add.f32 [%rd1+24], 0f3F800000; atom.global.min.u32 %r5, [%rd1+32], %r4;
        atom.global.dec.u32 %r6, [%rd1+40], 6; red.global.xor.b32 [%rd1+48], %r4;
        ld.global.u32 %r7, [start+4]; red.global.add.u32 [%rd1+56], %r7; ret; }}"
    );
    let image = image(&text).unwrap();
    let cells = Buffer::new(&[0, 0, 0, 0, u64::from(u32::MAX), 0, 0, 0]);
    run(&image, "k", [500, 1, 1], [64, 1, 1], &[cells.0]).unwrap();
    let n = 32_000u64;
    let xor = (0..n).fold(0, |a, b| a ^ b);
    // inc counts from 0 to 9, dec from 6 down to 0. Both are periodic, so the result is that of n steps from 0.
    let dec = (0..n).fold(0, |v, _| if v == 0 { 6 } else { v - 1 });
    let float = u64::from((n as f32).to_bits());
    let got = cells.read(8);
    assert_eq!(got, [n, n - 1, n % 10, float, 0, dec, xor, 9 * n]);
}

#[test]
fn shared_memory_is_a_window() {
    let text = format!(
        "{HEADER}.extern .shared .align 8 .b8 dyn[];
        .visible .entry k(.param .u64 out) {{ .shared .align 8 .b8 tile[512]; .reg .b32 %r<8>; .reg .b64 %rd<12>;
        .reg .pred %p<2>;
        mov.u32 %r1, %tid.x; mov.b32 %r2, tile; shl.b32 %r3, %r1, 3; add.u32 %r2, %r2, %r3;
        mul.wide.u32 %rd1, %r1, %r1; st.shared.b64 [%r2], %rd1;
        mov.b64 %rd2, tile; cvta.shared.u64 %rd3, %rd2; cvt.u64.u32 %rd4, %r3; add.u64 %rd3, %rd3, %rd4;
        ld.b64 %rd5, [%rd3]; mov.b64 %rd6, dyn; add.u64 %rd6, %rd6, %rd4; st.shared.b64 [%rd6], 5;
        ld.shared.b64 %rd7, [%rd6]; add.u64 %rd5, %rd5, %rd7; cvta.to.shared.u64 %rd8, %rd3;
        sub.u64 %rd8, %rd8, %rd4; sub.u64 %rd8, %rd8, %rd2; add.u64 %rd5, %rd5, %rd8;
        ld.param.u64 %rd9, [out]; add.u64 %rd9, %rd9, %rd4; st.global.u64 [%rd9], %rd5; ret; }}"
    );
    let image = image(&text).unwrap();
    let out = Buffer::new(&[0; 64]);
    run(&image, "k", [1, 1, 1], [64, 1, 1], &[out.0]).unwrap();
    assert_eq!(out.read(64), (0..64).map(|i| i * i + 5).collect::<Vec<u64>>());
}

#[test]
fn structs_by_value_and_branch_tables() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .align 8 .b8 s[24], .param .u64 out) {{ .reg .b32 %r<4>; .reg .b64 %rd<8>;
        mov.b64 %rd1, s; ld.param.b64 %rd2, [%rd1+16]; ld.param.b64 %rd3, [s+8];
        mov.u32 %r1, %tid.x;
        $L_T: .branchtargets $A, $B, $C;
        brx.idx %r1, $L_T;
        $A: mov.u64 %rd4, 1; bra $D;
        $B: mov.u64 %rd4, %rd2; bra $D;
        $C: mov.u64 %rd4, %rd3;
        $D: ld.param.u64 %rd5, [out]; mul.wide.u32 %rd6, %r1, 8; add.u64 %rd5, %rd5, %rd6;
        st.global.u64 [%rd5], %rd4; ret; }}"
    );
    let image = image(&text).unwrap();
    let out = Buffer::new(&[0; 3]);
    run(&image, "k", [1, 1, 1], [3, 1, 1], &[10, 20, 30, out.0]).unwrap();
    assert_eq!(out.read(3), [1, 30, 20]);
}

#[test]
fn faults_end_the_launch_and_nothing_else() {
    let text = format!(
        "{HEADER}.visible .entry wild(.param .u64 p) {{ .reg .b64 %rd<3>; .reg .b32 %r1; ld.param.u64 %rd1, [p];
        st.global.u32 [%rd1], 5; ret; }}
        .visible .entry fall(.param .u64 p) {{ .reg .pred %p1; .reg .b32 %r1; mov.u32 %r1, %ctaid.x;
        setp.eq.u32 %p1, %r1, 3; @%p1 trap; ret; }}
        .func deep() {{ .local .align 8 .b8 d[256]; .reg .b64 %rd1; mov.b64 %rd1, d; st.volatile.local.b64 [%rd1], 1;
        call.uni deep, (); ret; }}
        .func bare() {{ call.uni bare; st.volatile.global.u32 [0], 1; ret; }}
        .visible .entry bottomless() {{ call.uni deep; ret; }}
        .visible .entry endless() {{ call.uni bare; ret; }}"
    );
    let text = text.replace("deep, ()", "deep");
    let image = image(&text).unwrap();
    let good = Buffer::new(&[0]);
    for address in [0, 0x10, 1 << 40, good.0 + 8192, u64::MAX - 7, 0x8000_0000_0000_0000, good.0 + 1, 3] {
        let fault = run(&image, "wild", [64, 1, 1], [32, 1, 1], &[address]).unwrap_err();
        let expected = match address {
            a if a % 4 != 0 => IllegalAccess::Misaligned,
            a if a == good.0 + 8192 => IllegalAccess::At(a),
            _ => IllegalAccess::Outside,
        };
        assert!(matches!(fault, Fault::Memory { illegal, .. } if illegal == expected), "{fault:?} at {address:#x}");
        run(&image, "wild", [64, 1, 1], [32, 1, 1], &[good.0]).unwrap();
    }
    assert_eq!(good.read(1), [5]);
    assert!(matches!(run(&image, "fall", [8, 1, 1], [1, 1, 1], &[0]), Err(Fault::Trap(_))));
    run(&image, "fall", [3, 1, 1], [1, 1, 1], &[0]).unwrap();
    for name in ["bottomless", "endless"] {
        let deep = run(&image, name, [1, 1, 1], [1, 1, 1], &[]);
        assert!(matches!(deep, Err(Fault::StackOverflow(_))), "{name}: {deep:?}");
    }
}

#[test]
fn each_load_has_its_own_variables() {
    let text = format!(
        "{HEADER}.global .align 8 .u64 counter = 40; .global .align 8 .u64 pointer = counter;
        .visible .entry k(.param .u64 out) {{ .reg .b64 %rd<5>; ld.global.u64 %rd1, [pointer];
        ld.global.u64 %rd2, [%rd1]; add.u64 %rd2, %rd2, 1; st.global.u64 [counter], %rd2; ld.param.u64 %rd3, [out];
        st.global.u64 [%rd3], %rd2; ret; }}"
    );
    let image = image(&text).unwrap();
    let out = Buffer::new(&[0]);
    for _ in 0..3 {
        run(&image, "k", [1, 1, 1], [1, 1, 1], &[out.0]).unwrap();
        assert_eq!(out.read(1), [41]);
    }
}
