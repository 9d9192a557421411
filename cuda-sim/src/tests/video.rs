//! Subwords and lanes of video instructions; the conformance suite covers operations on whole registers.

use super::variables::refused;
use super::{check32, tuples};

const WORDS: &[u64] = &[0, 1, 0x80, 0xff, 0x7fff, 0x8000_0000, 0xffff_ffff, 0x0180_ff7f, 0x8001_7f80, 0x1234_5678];

/// Returns a byte of a word, and below, the byte sign-extended.
fn byte(word: u32, k: u32) -> u32 {
    word >> (8 * k) & 255
}

fn signed_byte(word: u32, k: u32) -> i32 {
    i32::from(byte(word, k) as u8 as i8)
}

#[test]
fn parts_of_registers() {
    let inputs = tuples::<3>(WORDS);
    check32("vadd.u32.u32.u32 %r10, %r1.b2, %r2.h1;", &inputs, |a, b, _| byte(a, 2) + (b >> 16));
    check32("vsub.s32.s32.s32 %r10, %r1.b3, %r2.h0;", &inputs, |a, b, _| {
        (signed_byte(a, 3) - i32::from(b as u16 as i16)) as u32
    });
    check32("vadd.u32.u32.u32 %r10.b1, %r1, %r2, %r3;", &inputs, |a, b, c| {
        c & !0xff00 | (a.wrapping_add(b) & 255) << 8
    });
    // The value nearest to a negative sum is 0.
    check32("vadd.u32.s32.s32.sat %r10.b3, %r1.b0, %r2.b1, %r3;", &inputs, |a, b, c| {
        let sum = (signed_byte(a, 0) + signed_byte(b, 1)).clamp(0, 255) as u32;
        c & 0xff_ffff | sum << 24
    });
    check32("vmax.s32.s32.u32.sat %r10.h1, %r1, %r2.b0, %r3;", &inputs, |a, b, c| {
        let most = (a as i32).max(byte(b, 0) as i32).clamp(-0x8000, 0x7fff);
        c & 0xffff | (most as u32) << 16
    });
    check32("vset.s32.u32.lt %r10.h0, %r1.b1, %r2.b1, %r3;", &inputs, |a, b, c| {
        c & 0xffff_0000 | u32::from(signed_byte(a, 1) < byte(b, 1) as i32)
    });
    check32("vshr.s32.s32.u32.wrap.add %r10, %r1.h1, %r2.b0, %r3;", &inputs, |a, b, c| {
        (i32::from((a >> 16) as u16 as i16) >> (b & 31)).wrapping_add(c as i32) as u32
    });
    // The third source counts only if a subword of the result or a second operation is specified.
    check32("vadd.u32.u32.u32 %r10, %r1, %r2, %r3;", &inputs, |a, b, _| a.wrapping_add(b));
    check32(".reg .v2 .u32 %v; mov.v2.u32 %v, {%r1, %r2}; vsub.u32.u32.u32 %r10, %v.y, %v.x;", &inputs, |a, b, _| {
        b.wrapping_sub(a)
    });
}

#[test]
fn lanes_are_chosen_and_masked() {
    let inputs = tuples::<3>(WORDS);
    // The upper lane is the sum of both halves of the second source.
    check32("vadd2.u32.u32.u32 %r10.h1, %r1.h20, %r2.h31, %r3;", &inputs, |_, b, c| {
        c & 0xffff | (b & 0xffff).wrapping_add(b >> 16) << 16
    });
    check32("vabsdiff4.u32.u32.u32.add %r10.b20, %r1, %r2.b4444, %r3;", &inputs, |a, b, c| {
        [0, 2].iter().fold(c, |sum, k| sum.wrapping_add(byte(a, *k).abs_diff(byte(b, 0))))
    });
    check32("vsub4.s32.s32.s32.sat %r10.b3210, %r1.b0123, %r2, %r3;", &inputs, |a, b, _| {
        let lane = |k: u32| (signed_byte(a, 3 - k) - signed_byte(b, k)).clamp(-128, 127) as u8;
        u32::from_le_bytes([lane(0), lane(1), lane(2), lane(3)])
    });
    check32("vset4.u32.u32.ge.add %r10, %r1, %r2, %r3;", &inputs, |a, b, c| {
        (0..4).fold(c, |sum, k| sum.wrapping_add(u32::from(byte(a, k) >= byte(b, k))))
    });
    check32("vset2.u32.u32.ne %r10.h0, %r1, %r2, %r3;", &inputs, |a, b, c| {
        c & 0xffff_0000 | u32::from(a & 0xffff != b & 0xffff)
    });
}

#[test]
fn products_are_negated() {
    let inputs = tuples::<3>(WORDS);
    let product = |a: u32, b: u32| i64::from(a) * i64::from(b);
    check32("vmad.s32.u32.u32 %r10, -%r1.h0, %r2.b1, %r3;", &inputs, |a, b, c| {
        (i64::from(c as i32) - product(a & 0xffff, byte(b, 1))) as u32
    });
    check32("vmad.s32.u32.u32.sat %r10, %r1.h0, %r2.h1, -%r3;", &inputs, |a, b, c| {
        (product(a & 0xffff, b >> 16) - i64::from(c as i32)).clamp(i32::MIN.into(), i32::MAX.into()) as u32
    });
    check32("vmad.u32.u32.u32.shr7 %r10, -%r1.h0, -%r2.h1, %r3;", &inputs, |a, b, c| {
        ((product(a & 0xffff, b >> 16) + i64::from(c)) >> 7) as u32
    });
}

#[test]
fn what_names_no_part_is_refused() {
    for (body, words) in [
        ("vadd.u32.u32.u32 %r1, %r2.b4, %r3;", "'.b4' is no part: .b0 to .b3, .h0 and .h1 are"),
        ("vadd.u32.u32.u32 %r1, %r2.h10, %r3;", "'.h10' is no part"),
        ("vadd.u32.u32.u32 %r1.b0, %r2, %r3;", "a subword result needs a third source, for the other bits"),
        ("vadd.u32.u32.u32.add %r1.b0, %r2, %r3, %r4;", "a subword result and a second operation exclude each other"),
        ("vadd.u32.u32.u32.add %r1, %r2, %r3;", "',' and 4 operand(s)"),
        ("vadd.u32.u32.u32.add %r1, %r2, %r3, %r4.b0;", "the last operand has no part '.b0'"),
        ("vadd.u32.u32.u32 %r1, -%r2, %r3;", "no operand may be negated"),
        ("vadd.u32.u32.u32 %rd1, %r2, %r3;", "'%rd1' has 64 bit(s) where the instruction needs 32"),
        ("vadd2.u32.u32.u32 %r1, %r2, %r3;", "',' and 4 operand(s)"),
        ("vadd2.u32.u32.u32 %r1.h01, %r2, %r3, %r4;", "'.h01' selects no lanes of the operand"),
        ("vadd2.u32.u32.u32 %r1, %r2.h3, %r3, %r4;", "'.h3' selects no lanes of the operand"),
        ("vadd2.u32.u32.u32 %r1, %r2.h14, %r3, %r4;", "'.h14' selects no lanes of the operand"),
        ("vadd4.u32.u32.u32 %r1.h0, %r2, %r3, %r4;", "'.h0' selects no lanes of the operand"),
        ("vadd4.u32.u32.u32 %r1, %r2.b, %r3, %r4;", "'.b' selects no lanes of the operand"),
        ("vadd4.u32.u32.u32.sat.add %r1, %r2, %r3, %r4;", "is not supported"),
        ("vmad.u32.u32.u32 %r1.b0, %r2, %r3, %r4;", "the result has no parts"),
        ("vmad.u32.u32.u32.po %r1, -%r2, %r3, %r4;", ".po takes no negated operand"),
        ("vmad.u32.u32.u32 %r1, -%r2, %r3, -%r4;", "only the product or the addend may be negated"),
        ("vshr.s32.s32.s32.clamp %r1, %r2, %r3;", "the type .s32 is not allowed here"),
        ("add.u32 %r1, %r2.b0, %r3;", "'%r2' is not a vector, so it has no element '.b0'"),
        ("add.u32 %r1, -%r2, %r3;", "'-%r2' cannot be a source here"),
    ] {
        let error = refused("", body);
        assert!(error.contains(words), "{body}: {error}");
    }
}
