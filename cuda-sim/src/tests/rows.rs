//! Threads that access several consecutive elements each, loads of bytes from anywhere, and code behind many checks.

use super::HEADER;
use super::sync::check;
use crate::codegen::CodeCounts;
use crate::cpu::has_long_vectors;
use crate::module::code_counts;

/// The start of a kernel: addresses of the buffers in `%rd1` and `%rd2`, the thread's index in the grid in `%rd3`.
const START: &str = ".visible .entry k(.param .u64 a, .param .u64 b) { .reg .pred %p<40>; .reg .b16 %h<4>;
    .reg .b32 %r<40>; .reg .b64 %rd<40>;
    ld.param.u64 %rd1,[a]; ld.param.u64 %rd2,[b]; mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ntid.x;
    mad.lo.u32 %r4,%r2,%r3,%r1; cvt.u64.u32 %rd3,%r4;";

/// The shapes of grids: whole vectors and parts of them.
const SHAPES: [(u32, [u32; 3]); 4] = [(2, [64, 1, 1]), (3, [48, 1, 1]), (1, [33, 1, 1]), (2, [7, 1, 1])];

fn counts(text: &str) -> CodeCounts {
    code_counts(&format!("{HEADER}{text}"), "k").unwrap_or_else(|why| panic!("{why}"))
}

/// The arithmetic on each word, which makes vectors pay.
fn mixed(x: u32) -> u32 {
    (0..MIXES).fold(x, |x, _| x.wrapping_mul(x).wrapping_add(0x9e37))
}

/// The steps of [`mixed`].
const MIXES: usize = 12;

/// The 32-bit words of a buffer.
fn words(buffer: &[u64]) -> Vec<u32> {
    buffer.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]).collect()
}

/// A buffer of words.
fn buffer(words: &[u32]) -> Vec<u64> {
    words.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32).collect()
}

/// The partial sums of each row of `each` words, of those below `len`, after [`mixed`].
fn sums(each: usize, len: usize) -> String {
    let mut text =
        format!("{START} mul.lo.u64 %rd4,%rd3,{each}; shl.b64 %rd5,%rd4,2; add.u64 %rd6,%rd1,%rd5; mov.u32 %r8,0;");
    for k in 0..each {
        text += &format!(
            "add.u64 %rd7,%rd4,{k}; setp.ge.u64 %p{k},%rd7,{len}; mov.u32 %r9,0; @%p{k} bra A{k};
            ld.global.u32 %r9,[%rd6+{at}]; {mix} A{k}: add.u32 %r8,%r8,%r9; mov.u32 %r{to},%r8;",
            at = 4 * k,
            to = 10 + k,
            mix = "mad.lo.u32 %r9,%r9,%r9,0x9e37;".repeat(MIXES),
        );
    }
    text += "add.u64 %rd8,%rd2,%rd5;";
    for k in 0..each {
        text += &format!("@%p{k} bra B{k}; st.global.u32 [%rd8+{at}],%r{from}; B{k}:", at = 4 * k, from = 10 + k);
    }
    text + "ret; }"
}

#[test]
fn rows_of_any_length() {
    for (each, grouped) in [(16, 32), (8, 16), (4, 8), (13, 24), (2, 0)] {
        let found = counts(&sums(each, 1000));
        assert!(
            !has_long_vectors() || found.grouped >= grouped && found.gathers <= 2 * (each % 4),
            "{each}: {found:?}"
        );
        for (blocks, shape) in SHAPES {
            let threads = (blocks * shape[0]) as usize;
            for len in [each * threads, each * threads - each / 2 - 1, 3 * each] {
                let input: Vec<u32> = (0..each * threads).map(|i| (i * i + 3) as u32).collect();
                let input = buffer(&input);
                let x = words(&input);
                check(&sums(each, len), blocks, shape, &[input.clone(), vec![u64::MAX; input.len()]], |after| {
                    for (i, got) in words(&after[1]).into_iter().enumerate() {
                        let row = i / each * each;
                        let want = if i < len {
                            x[row..=i].iter().fold(0, |sum: u32, x| sum.wrapping_add(mixed(*x)))
                        } else {
                            u32::MAX
                        };
                        assert_eq!(got, want, "{each} words, {len} of them, word {i}, {blocks} blocks of {shape:?}");
                    }
                });
            }
        }
    }
}

/// Rows of 64-bit words, which a second array's rows reverse.
#[test]
fn rows_of_long_words() {
    let mut text = format!("{START} shl.b64 %rd4,%rd3,6; add.u64 %rd5,%rd1,%rd4; add.u64 %rd6,%rd2,%rd4;");
    (0..8).for_each(|k| text += &format!("ld.global.u64 %rd{},[%rd5+{}];", 10 + k, 8 * k));
    (0..8).for_each(|k| text += &format!("st.global.u64 [%rd6+{}],%rd{};", 8 * k, 17 - k));
    text += "ret; }";
    let input: Vec<u64> = (0..1024).map(|i| i * 0x1_0000_0003).collect();
    check(&text, 2, [64, 1, 1], &[input.clone(), vec![0; 1024]], |after| {
        let want: Vec<u64> = input.chunks(8).flat_map(|row| row.iter().rev()).copied().collect();
        assert_eq!(after[1], want);
    });
}

/// Each load of a row comes after a store to the same place: no load may move to the first one's, no store to the last
/// one's.
#[test]
fn rows_that_depend_on_themselves() {
    let mut text = format!("{START} mul.lo.u64 %rd4,%rd3,36; add.u64 %rd5,%rd1,%rd4; mov.u32 %r8,1;");
    for k in 0..8 {
        text += &format!(
            "ld.global.u32 %r9,[%rd5+{}]; mad.lo.u32 %r8,%r8,3,%r9; st.global.u32 [%rd5+{}],%r8;",
            4 * k,
            4 * k + 4
        );
    }
    text += "add.u64 %rd6,%rd5,12; ld.global.u32 %r10,[%rd6]; st.global.u32 [%rd5],%r10; ret; }";
    let x: Vec<u32> = (0..9 * 128).map(|i| i * 7 + 1).collect();
    check(&text, 2, [64, 1, 1], &[buffer(&x), vec![0]], |after| {
        let got = words(&after[0]);
        for (row, got) in x.chunks(9).zip(got.chunks(9)) {
            let (mut want, mut sum) = (row.to_vec(), 1u32);
            for k in 0..8 {
                sum = sum.wrapping_mul(3).wrapping_add(want[k]);
                want[k + 1] = sum;
            }
            want[0] = want[3];
            assert_eq!(got, want);
        }
    });
}

/// Bytes and halves from a table, where a condition holds. The last one ends with the allocation.
#[test]
fn narrow_loads_from_anywhere() {
    for (ty, bytes) in [("u8", 1), ("s8", 1), ("u16", 2)] {
        let text = format!(
            "{START} shl.b64 %rd4,%rd3,3; add.u64 %rd5,%rd2,%rd4; ld.global.u64 %rd6,[%rd5]; setp.ge.u64 %p1,%rd6,{n};
            mov.u32 %r8,77; @%p1 bra D; mul.lo.u64 %rd7,%rd6,{bytes}; add.u64 %rd8,%rd1,%rd7; ld.global.{ty} %r8,[%rd8];
            D: cvt.s64.s32 %rd9,%r8; st.global.u64 [%rd5],%rd9; ret; }}",
            n = 64 / bytes,
        );
        assert!(!has_long_vectors() || counts(&text).vectorised >= 1, "{ty}: {:?}", counts(&text));
        let table: Vec<u8> = (0..64u8).map(|i| i.wrapping_mul(37).wrapping_add(130)).collect();
        let packed: Vec<u64> = table.chunks(8).map(|part| u64::from_le_bytes(part.try_into().unwrap())).collect();
        let indices: Vec<u64> = (0..128).map(|i| (i * 29 + 63) % (64 / bytes + 3)).collect();
        check(&text, 2, [64, 1, 1], &[packed, indices.clone()], |after| {
            for (index, got) in indices.iter().map(|i| *i as usize).zip(&after[1]) {
                let want = match (ty, index < 64 / bytes as usize) {
                    (_, false) => 77,
                    ("u8", _) => i64::from(table[index]),
                    ("s8", _) => i64::from(table[index] as i8),
                    _ => i64::from(u16::from_le_bytes([table[2 * index], table[2 * index + 1]])),
                };
                assert_eq!(*got as i64, want, "{ty} {index}");
            }
        });
    }
}

/// Arithmetic behind as many bounds checks as it has arrays, each of which ends the kernel if it fails.
#[test]
fn code_behind_many_checks_is_vectorised() {
    let mut text = format!(
        "{START} shl.b64 %rd4,%rd3,2; add.u64 %rd5,%rd1,%rd4; add.u64 %rd6,%rd2,%rd4; st.global.u32 [%rd6],%r4;"
    );
    (0..10).for_each(|k| text += &format!("setp.ge.u64 %p{k},%rd3,{}; @%p{k} bra FAIL;", 200 - k));
    text += "ld.global.f32 %r8,[%rd5];";
    (0..6).for_each(|_| text += "cvt.f64.f32 %rd7,%r8; fma.rn.f64 %rd7,%rd7,%rd7,0d3FF0000000000000; cvt.rn.f32.f64 %r8,%rd7; div.rn.f32 %r8,%r8,0f41200000;");
    text += "st.global.f32 [%rd6],%r8; ret; FAIL: trap; }";
    assert!(!has_long_vectors() || counts(&text).vectorised >= 1, "{:?}", counts(&text));
    let x: Vec<u32> = (0..128).map(|i| (i as f32 * 0.01).to_bits()).collect();
    check(&text, 2, [64, 1, 1], &[buffer(&x), vec![0; 64]], |after| {
        for (x, got) in x.iter().zip(words(&after[1])) {
            let step = |x: f32| (f64::from(x).mul_add(f64::from(x), 1.0) as f32) / 10.0;
            assert_eq!(got, (0..6).fold(f32::from_bits(*x), |x, _| step(x)).to_bits());
        }
    });
}
