//! Rows of shared memory to the lanes of a warp and back: the register and half of each element.

use super::{LANES, all};
use crate::assembler::is_ptx;
use crate::device::{HEADER, Memory, launch, load, unload};
use crate::instance::Instance;
use cuda_sim::ptx::{Modifier as M, Opcode};
use cuda_sys::CUresult;

/// Returns the number of matrices that an instance moves.
fn count(i: &Instance) -> usize {
    if i.has(M::X1) {
        1
    } else if i.has(M::X2) {
        2
    } else {
        4
    }
}

/// Returns true if addresses are shared-memory ones rather than generic ones.
fn is_shared(i: &Instance) -> bool {
    i.has(M::Shared) || i.has(M::SharedCta)
}

/// Returns the position of a row of a matrix, in units of 16 bytes: a permutation.
fn place(row: usize) -> usize {
    (row * 13 + 5) % 32
}

/// Returns the kernel of a warp: lane `t` has the address of row `t` in `%s`, and 16 bytes at `%in`. Shared memory has
/// 512 bytes, like the grid's input. Lanes without a row have an invalid address.
fn kernel(i: &Instance, body: &str) -> String {
    let generic = if is_shared(i) { "" } else { "cvta.shared.u64 %s, %s;" };
    format!(
        "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .pred %p; .reg .b32 %t, %r<8>, %q<8>;
        .reg .b64 %s, %in, %to, %x, %y; .shared .align 16 .b8 memory[512];
        mov.u32 %t, %tid.x; mov.u64 %s, memory; mul.wide.u32 %x, %t, 16; add.u64 %y, %s, %x;
        ld.param.u64 %in, [in]; add.u64 %in, %in, %x; ld.param.u64 %to, [out]; add.u64 %to, %to, %x;
        ld.global.v4.b32 {{%r0, %r1, %r2, %r3}}, [%in]; st.shared.v4.b32 [%y], {{%r0, %r1, %r2, %r3}}; bar.sync 0;
        mul.lo.u32 %q0, %t, 13; add.u32 %q0, %q0, 5; and.b32 %q0, %q0, 31; mul.wide.u32 %x, %q0, 16; add.u64 %s, %s, %x;
        {generic} setp.ge.u32 %p, %t, {}; @%p mov.u64 %s, 0x7000000000000000;
        {body} ret; }}",
        8 * count(i)
    )
}

#[track_caller]
fn run(text: &str, input: &[u64]) -> Vec<u64> {
    is_ptx(text);
    let module = load(text).unwrap_or_else(|log| panic!("{log}\n{text}"));
    let (from, to) = (Memory::new(input), Memory::new(&vec![0; 64]));
    assert_eq!(launch(module, 1, LANES as u32, &[from.address(), to.address()]), CUresult::CUDA_SUCCESS, "{text}");
    unload(module);
    to.read(64)
}

/// Returns 256 different halves, as words.
fn halves() -> (Vec<u64>, Vec<u64>) {
    let halves: Vec<u64> = (0..256u64).map(|k| (k * 0x0101) ^ 0x5a3c).collect();
    (halves.chunks(4).map(|c| c[0] | c[1] << 16 | c[2] << 32 | c[3] << 48).collect(), halves)
}

/// Returns the halves of words.
fn unpacked(words: &[u64]) -> Vec<u64> {
    words.iter().flat_map(|w| (0..4).map(move |k| w >> (16 * k) & 0xffff)).collect()
}

#[test]
fn rows_are_loaded() {
    let all = all(Opcode::Ldmatrix);
    assert_eq!(all.len(), 3 * 2 * 3);
    for i in &all {
        let n = count(i);
        let registers: Vec<String> = (0..n).map(|k| format!("%q{k}")).collect();
        let body = format!(
            "mov.b32 %q0, 0; mov.b32 %q1, 0; mov.b32 %q2, 0; mov.b32 %q3, 0; {} {{{}}}, [%s];
            st.global.v4.b32 [%to], {{%q0, %q1, %q2, %q3}};",
            i.name(),
            registers.join(", ")
        );
        let (words, halves) = halves();
        let got = unpacked(&run(&kernel(i, &body), &words));
        for lane in 0..LANES {
            for matrix in 0..4 {
                for which in 0..2 {
                    let (row, column) = (lane / 4, 2 * (lane % 4) + which);
                    let (row, column) = if i.has(M::Trans) { (column, row) } else { (row, column) };
                    let want = if matrix < n { halves[8 * place(8 * matrix + row) + column] } else { 0 };
                    assert_eq!(got[8 * lane + 2 * matrix + which], want, "{} lane {lane} of {matrix}", i.name());
                }
            }
        }
    }
}

#[test]
fn rows_are_stored() {
    let all = all(Opcode::Stmatrix);
    assert_eq!(all.len(), 3 * 2 * 3);
    for i in &all {
        let n = count(i);
        let registers: Vec<String> = (0..n).map(|k| format!("%r{k}")).collect();
        let body = format!(
            "mov.b32 %q0, 0; st.shared.v4.b32 [%y], {{%q0, %q0, %q0, %q0}}; bar.sync 0; {} [%s], {{{}}}; bar.sync 0;
            ld.shared.v4.b32 {{%q0, %q1, %q2, %q3}}, [%y]; st.global.v4.b32 [%to], {{%q0, %q1, %q2, %q3}};",
            i.name(),
            registers.join(", ")
        );
        let (words, halves) = halves();
        let got = unpacked(&run(&kernel(i, &body), &words));
        let mut want = vec![0; 256];
        for lane in 0..LANES {
            for (matrix, which) in (0..n).flat_map(|matrix| [(matrix, 0), (matrix, 1)]) {
                let (row, column) = (lane / 4, 2 * (lane % 4) + which);
                let (row, column) = if i.has(M::Trans) { (column, row) } else { (row, column) };
                want[8 * place(8 * matrix + row) + column] = halves[8 * lane + 2 * matrix + which];
            }
        }
        assert_eq!(got, want, "{}", i.name());
    }
}

#[test]
fn fragments_are_transposed() {
    let [i] = all(Opcode::Movmatrix).try_into().unwrap();
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .b32 %t, %q; .reg .b64 %in, %to;
        mov.u32 %t, %tid.x; ld.param.u64 %in, [in]; mad.wide.u32 %in, %t, 16, %in; ld.param.u64 %to, [out];
        mad.wide.u32 %to, %t, 16, %to; ld.global.b32 %q, [%in]; {} %q, %q; st.global.b32 [%to], %q; ret; }}",
        i.name()
    );
    let (words, halves) = halves();
    let got = unpacked(&run(&text, &words));
    for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
        // An element is in the half `column % 2` of lane `4 * row + column / 2`.
        let at = |row: usize, column: usize| 8 * (4 * row + column / 2) + column % 2;
        assert_eq!(got[at(row, column)], halves[at(column, row)], "row {row}, column {column}");
    }
}
