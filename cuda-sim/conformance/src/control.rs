//! Data movement, control flow and special registers.

use crate::device::{HEADER, Memory, launch, load, unload};
use cuda_sim::ptx::Opcode;
use cuda_sys::CUresult;

/// The instructions that are tested here.
pub(crate) const COVERED: &[Opcode] = &[
    Opcode::Mov,
    Opcode::Bra,
    Opcode::BrxIdx,
    Opcode::Call,
    Opcode::Ret,
    Opcode::Exit,
    Opcode::Trap,
    Opcode::Brkpt,
    Opcode::Nanosleep,
    Opcode::Pmevent,
    Opcode::Griddepcontrol,
    Opcode::Setmaxnreg,
    Opcode::Device,
];

/// Runs a body for threads `0..threads`: `%r0` is the thread, `%out` points to its word.
#[track_caller]
pub(crate) fn words(extra: &str, body: &str, threads: u32) -> Result<Vec<u64>, CUresult> {
    let text = format!(
        "{HEADER}{extra}\n.visible .entry k(.param .u64 out) {{
        .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>, %out; .reg .b128 %q<4>;
        mov.u32 %r0, %tid.x; ld.param.u64 %out, [out]; mad.wide.u32 %out, %r0, 8, %out;\n{body}\nret; }}"
    );
    let module = load(&text).unwrap_or_else(|log| panic!("{log}\n{body}"));
    let out = Memory::new(&vec![0; threads as usize]);
    let code = launch(module, 1, threads, &[out.address()]);
    if code != CUresult::CUDA_SUCCESS {
        return Err(code);
    }
    unload(module);
    Ok(out.read(threads as usize))
}

#[track_caller]
fn gives(extra: &str, body: &str, expected: &[u64]) {
    assert_eq!(words(extra, body, expected.len() as u32), Ok(expected.to_vec()), "{body}");
}

#[test]
fn moves() {
    for (ty, bits) in [("b16", 16), ("u16", 16), ("s16", 16)] {
        gives("", &format!("mov.{ty} %h1, 0x{:x}; cvt.u64.u16 %rd1, %h1; st.b64 [%out], %rd1;", 0xfedcu32), &[0xfedc]);
        assert_eq!(bits, 16);
    }
    for ty in ["b32", "u32", "s32", "f32"] {
        gives("", &format!("mov.{ty} %r1, 0f40490FDB; mov.b32 %r2, %r1; st.b32 [%out], %r2;"), &[0x4049_0fdb]);
    }
    for ty in ["b64", "u64", "s64", "f64"] {
        gives("", &format!("mov.{ty} %rd1, 0d400921FB54442D18; st.b64 [%out], %rd1;"), &[0x4009_21fb_5444_2d18]);
    }
    for (ty, bits) in [("b16", 16), ("u32", 32), ("s64", 64)] {
        let body = format!(
            ".reg .v2 .b{bits} %v, %w; mov.v2.{ty} %v, {{1, 2}}; mov.v2.{ty} %w, {{%v.y, %v.x}}; mov.v2.{ty} %v, %w;
            st.b{bits} [%out], %v.x;"
        );
        gives("", &body, &[2]);
    }
    gives("", "mov.pred %p1, 1; mov.pred %p2, %p1; selp.b64 %rd1, 3, 4, %p2; st.b64 [%out], %rd1;", &[3]);
    gives("", "mov.b64 %rd1, {%r0, %r0}; mov.b64 {_, %r1}, %rd1; st.b32 [%out+4], %r1;", &[0, 1 << 32]);
    let quarters = "mov.u64 %rd1, 0x0004000300020001; mov.b64 {%h1, %h2, %h3, %h4}, %rd1;
        mov.b64 %rd2, {%h4, %h3, %h2, %h1}; st.b64 [%out], %rd2;";
    gives("", quarters, &[0x0001_0002_0003_0004]);
    let wide = "mov.u64 %rd1, 5; mov.u64 %rd2, 7; mov.b128 %q0, {%rd1, %rd2}; mov.b128 %q1, %q0;
        mov.b128 {%rd3, %rd4}, %q1; mad.lo.u64 %rd3, %rd4, 10, %rd3; st.b64 [%out], %rd3;";
    gives("", wide, &[75]);
}

#[test]
fn branches_and_ends() {
    gives(
        "",
        "setp.eq.u32 %p1, %r0, 1; @%p1 bra.uni SKIP; st.b64 [%out], 9; SKIP: st.b32 [%out+4], 1;",
        &[9 | 1 << 32, 1 << 32],
    );
    gives("", "setp.eq.u32 %p1, %r0, 1; @%p1 exit; @!%p1 st.b64 [%out], 4;", &[4, 0]);
    gives("", "setp.eq.u32 %p1, %r0, 1; @%p1 ret; st.b64 [%out], 4;", &[4, 0]);
    let table = "T: .branchtargets A, B, C; brx.idx.uni %r0, T;
        A: st.b64 [%out], 10; bra END; B: st.b64 [%out], 20; bra END; C: st.b64 [%out], 30; END:";
    gives("", table, &[10, 20, 30]);
    gives("", "nanosleep.u32 10; nanosleep.u32 %r0; pmevent 3; pmevent.mask 3; st.b64 [%out], 1;", &[1]);
    gives("", "griddepcontrol.wait; griddepcontrol.launch_dependents; st.b64 [%out], 1;", &[1]);
    let function = ".func (.param .b64 r) f(.param .b64 x) { .reg .b64 %a; ld.param.b64 %a, [x]; add.u64 %a, %a, 1;
        st.param.b64 [r], %a; ret.uni; }";
    gives(
        function,
        "{ .param .b64 p; .param .b64 q; st.param.b64 [p], 41; call.uni (q), f, (p); ld.param.b64 %rd1, [q]; }
        st.b64 [%out], %rd1;",
        &[42],
    );
}

#[test]
fn special_registers() {
    for (register, expected) in [
        ("%tid.x", [0, 1, 2]),
        ("%ntid.x", [3, 3, 3]),
        ("%ctaid.y", [0, 0, 0]),
        ("%nctaid.z", [1, 1, 1]),
        ("%laneid", [0, 1, 2]),
        ("%warpid", [0, 0, 0]),
        ("%nwarpid", [1, 1, 1]),
        ("%lanemask_eq", [1, 2, 4]),
        ("%lanemask_lt", [0, 1, 3]),
        ("%lanemask_le", [1, 3, 7]),
        ("%lanemask_gt", [0xffff_fffe, 0xffff_fffc, 0xffff_fff8]),
        ("%lanemask_ge", [0xffff_ffff, 0xffff_fffe, 0xffff_fffc]),
        ("%dynamic_smem_size", [0, 0, 0]),
        ("%total_smem_size", [0, 0, 0]),
        ("%clusterid.x", [0, 0, 0]),
        ("%cluster_nctaid.x", [1, 1, 1]),
        ("%cluster_ctarank", [0, 0, 0]),
        ("%cluster_nctarank", [1, 1, 1]),
        ("%envreg7", [0, 0, 0]),
        ("%pm2", [0, 0, 0]),
        ("WARP_SZ", [32, 32, 32]),
    ] {
        gives("", &format!("mov.u32 %r1, {register}; st.b32 [%out], %r1;"), &expected);
    }
    let times = "mov.u64 %rd1, %clock64; mov.u64 %rd2, %globaltimer; mov.u32 %r1, %clock; mov.u32 %r2, %globaltimer_hi;
        mov.u32 %r3, %clock_hi; mov.u64 %rd3, %clock64; mov.u64 %rd4, %globaltimer; setp.le.u64 %p1, %rd1, %rd3;
        setp.le.and.u64 %p1, %rd2, %rd4, %p1; shr.u64 %rd2, %rd2, 32; cvt.u32.u64 %r4, %rd2;
        setp.eq.and.u32 %p1, %r2, %r4, %p1; selp.b64 %rd1, 1, 0, %p1; st.b64 [%out], %rd1;";
    gives("", times, &[1]);
}
