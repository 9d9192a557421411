//! A tiled product as in libraries: asynchronous copies to shared memory, fragments from there, products.

use crate::assembler::is_ptx;
use crate::device::{HEADER, Memory, launch, load, unload};
use cuda_sys::CUresult;

const M: usize = 32;
const N: usize = 16;
const K: usize = 64;

/// Four warps compute a tile of 16 rows and 8 columns of `D` each, and iterate over `k` in steps of 16. A predicate
/// that is uniform in each warp guards the multiplication.
fn text() -> String {
    format!(
        "{HEADER}.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 d) {{
        .reg .pred %p, %always; .reg .b32 %t, %lane, %warp, %row, %col, %i, %u<4>, %x<4>, %y<2>, %sa, %sb; .reg .f32 %c<4>;
        .reg .b64 %a, %b, %d, %o; .shared .align 16 .b8 ta[4096]; .shared .align 16 .b8 tb[2048];
        mov.u32 %t, %tid.x; and.b32 %lane, %t, 31; shr.u32 %warp, %t, 5; setp.lt.u32 %always, %warp, 4;
        ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %d, [d];
        mov.u32 %sa, ta; mov.u32 %sb, tb; shl.b32 %u0, %t, 4; add.u32 %u1, %sa, %u0; add.u32 %u2, %sb, %u0;
        cvt.u64.u32 %o, %u0; add.u64 %a, %a, %o; add.u64 %b, %b, %o;
        cp.async.cg.shared.global [%u1], [%a], 16; cp.async.commit_group;
        cp.async.cg.shared.global [%u1+2048], [%a+2048], 16; cp.async.ca.shared.global [%u2], [%b], 16; cp.async.commit_group;
        cp.async.wait_group 0; bar.sync 0;
        shr.u32 %row, %warp, 1; shl.b32 %row, %row, 4; and.b32 %col, %warp, 1; shl.b32 %col, %col, 3;
        // Rows of A are 128 bytes long: a lane's address is of row `lane % 16` and column `8 * (lane / 16)`.
        and.b32 %u0, %lane, 15; add.u32 %u1, %row, %u0; shl.b32 %u1, %u1, 7; shr.u32 %u2, %lane, 4; shl.b32 %u2, %u2, 4;
        add.u32 %sa, %sa, %u1; add.u32 %sa, %sa, %u2;
        // Rows of B are 32 bytes long: a lane's address is of row `lane % 16`.
        shl.b32 %u1, %u0, 5; add.u32 %sb, %sb, %u1; shl.b32 %u1, %col, 1; add.u32 %sb, %sb, %u1;
        mov.f32 %c0, 0f00000000; mov.f32 %c1, %c0; mov.f32 %c2, %c0; mov.f32 %c3, %c0; mov.u32 %i, 0;
        LOOP: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%x0, %x1, %x2, %x3}}, [%sa];
        ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {{%y0, %y1}}, [%sb];
        @%always mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%c0, %c1, %c2, %c3}}, {{%x0, %x1, %x2, %x3}}, {{%y0, %y1}},
        {{%c0, %c1, %c2, %c3}};
        add.u32 %sa, %sa, 32; add.u32 %sb, %sb, 512; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 4; @%p bra LOOP;
        shr.u32 %u0, %lane, 2; add.u32 %u0, %u0, %row; and.b32 %u1, %lane, 3; shl.b32 %u1, %u1, 1; add.u32 %u1, %u1, %col;
        mad.lo.u32 %u0, %u0, 16, %u1; mad.wide.u32 %d, %u0, 4, %d;
        st.global.v2.f32 [%d], {{%c0, %c1}}; st.global.v2.f32 [%d+512], {{%c2, %c3}}; ret; }}"
    )
}

/// Matrix exchanges in a recursive function in which threads wait, and in a partial warp.
#[test]
fn functions_and_parts_of_warps() {
    let text = format!(
        "{HEADER}.func again(.param .b32 n, .param .b64 at) {{ .reg .pred %p; .reg .b32 %n, %x; .reg .b64 %at;
        ld.param.b32 %n, [n]; ld.param.b64 %at, [at]; ld.global.u32 %x, [%at]; movmatrix.sync.aligned.m8n8.trans.b16 %x, %x;
        add.u32 %x, %x, 0x00010001; st.global.u32 [%at], %x; setp.eq.u32 %p, %n, 0; @%p ret; sub.u32 %n, %n, 1;
        {{ .param .b32 m; .param .b64 b; st.param.b32 [m], %n; st.param.b64 [b], %at; call.uni again, (m, b); }} ret; }}
        .visible .entry k(.param .u64 a, .param .u64 n) {{ .reg .b32 %t, %n; .reg .b64 %at; mov.u32 %t, %tid.x;
        ld.param.u64 %at, [a]; mad.wide.u32 %at, %t, 4, %at; ld.param.u32 %n, [n];
        {{ .param .b32 m; .param .b64 b; st.param.b32 [m], %n; st.param.b64 [b], %at; call.uni again, (m, b); }} ret; }}"
    );
    is_ptx(&text);
    let module = load(&text).unwrap_or_else(|log| panic!("{log}\n{text}"));
    let start: Vec<u64> =
        (0..32).map(|k| (4 * k) | (4 * k + 1) << 16 | (4 * k + 2) << 32 | (4 * k + 3) << 48).collect();
    // An even number of transpositions, each of which adds 1.
    let cells = Memory::new(&start);
    assert_eq!(launch(module, 1, 64, &[cells.address(), 3]), CUresult::CUDA_SUCCESS);
    let want: Vec<u64> = start.iter().map(|word| word + 0x0004_0004_0004_0004).collect();
    assert_eq!(cells.read(32), want);
    // Eight lanes of the second warp: their results are undefined, those of the first warp are not.
    let cells = Memory::new(&start);
    assert_eq!(launch(module, 1, 40, &[cells.address(), 3]), CUresult::CUDA_SUCCESS);
    assert_eq!(cells.read(32)[..16], want[..16]);
    unload(module);
}

/// Small integers as halves: their products and sums are exact in any order.
fn half(x: i64) -> u64 {
    crate::exact::from_integer(cuda_sim::ptx::Type::F16, i128::from(x), rustc_apfloat::Round::NearestTiesToEven)
}

fn packed(numbers: &[i64]) -> Vec<u64> {
    numbers.chunks(4).map(|c| (0..4).fold(0, |word, k| word | half(c[k]) << (16 * k))).collect()
}

#[test]
fn a_tiled_product() {
    let a: Vec<i64> = (0..M * K).map(|i| (i * 7 % 23) as i64 - 11).collect();
    let b: Vec<i64> = (0..K * N).map(|i| (i * 5 % 19) as i64 - 9).collect();
    let text = text();
    is_ptx(&text);
    let module = load(&text).unwrap_or_else(|log| panic!("{log}\n{text}"));
    let (from_a, from_b, to) = (Memory::new(&packed(&a)), Memory::new(&packed(&b)), Memory::new(&vec![0; M * N / 2]));
    let code = launch(module, 1, 128, &[from_a.address(), from_b.address(), to.address()]);
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    unload(module);
    let got: Vec<f32> =
        to.read(M * N / 2).into_iter().flat_map(|w| [w as u32, (w >> 32) as u32]).map(f32::from_bits).collect();
    for (row, column) in (0..M).flat_map(|row| (0..N).map(move |column| (row, column))) {
        let want: i64 = (0..K).map(|k| a[row * K + k] * b[k * N + column]).sum();
        assert_eq!(got[row * N + column], want as f32, "row {row}, column {column}");
    }
}
