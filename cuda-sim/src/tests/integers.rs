//! Integer instructions.

use super::{check32, check64, eval32, tuples};

const WORDS: &[u64] = &[
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    255,
    256,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
    0x1234_5678,
    0xdead_beef,
];
const LONGS: &[u64] = &[
    0,
    1,
    5,
    63,
    64,
    65,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 32,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
    u64::MAX - 1,
    0x0123_4567_89ab_cdef,
];

#[test]
fn arithmetic_wraps() {
    let two = tuples::<2>(WORDS);
    check32("add.s32 %r10, %r1, %r2;", &two, |a, b, _| a.wrapping_add(b));
    check32("sub.u32 %r10, %r1, %r2;", &two, |a, b, _| a.wrapping_sub(b));
    check32("mul.lo.s32 %r10, %r1, %r2;", &two, |a, b, _| a.wrapping_mul(b));
    check32("mul.hi.u32 %r10, %r1, %r2;", &two, |a, b, _| ((u64::from(a) * u64::from(b)) >> 32) as u32);
    check32("mul.hi.s32 %r10, %r1, %r2;", &two, |a, b, _| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32);
    check32("neg.s32 %r10, %r1;", &two, |a, _, _| a.wrapping_neg());
    check32("abs.s32 %r10, %r1;", &two, |a, _, _| (a as i32).wrapping_abs() as u32);
    check64("mul.wide.s32 %rd10, %r1, %r2;", &two, |a, b, _| {
        (i64::from(a as u32 as i32) * i64::from(b as u32 as i32)) as u64
    });
    let long = tuples::<2>(LONGS);
    check64("mul.hi.u64 %rd10, %rd1, %rd2;", &long, |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64);
    check64("sub.s64 %rd10, %rd1, %rd2;", &long, |a, b, _| a.wrapping_sub(b));
}

#[test]
fn saturating_addition() {
    let two = tuples::<2>(WORDS);
    check32("add.sat.s32 %r10, %r1, %r2;", &two, |a, b, _| (a as i32).saturating_add(b as i32) as u32);
    check32("sub.sat.s32 %r10, %r1, %r2;", &two, |a, b, _| (a as i32).saturating_sub(b as i32) as u32);
}

#[test]
fn multiply_add_and_difference() {
    let three = tuples::<3>(&WORDS[..12]);
    check32("mad.lo.s32 %r10, %r1, %r2, %r3;", &three, |a, b, c| a.wrapping_mul(b).wrapping_add(c));
    check32("sad.u32 %r10, %r1, %r2, %r3;", &three, |a, b, c| a.abs_diff(b).wrapping_add(c));
    check32("sad.s32 %r10, %r1, %r2, %r3;", &three, |a, b, c| (a as i32).abs_diff(b as i32).wrapping_add(c));
    check64("mad.wide.u32 %rd10, %r1, %r2, %rd3;", &three, |a, b, c| {
        (u64::from(a as u32) * u64::from(b as u32)).wrapping_add(c)
    });
}

#[test]
fn division_by_zero_and_overflow() {
    let two = tuples::<2>(WORDS);
    check32("div.u32 %r10, %r1, %r2;", &two, |a, b, _| a.checked_div(b).unwrap_or(u32::MAX));
    check32("rem.u32 %r10, %r1, %r2;", &two, |a, b, _| a.checked_rem(b).unwrap_or(a));
    let signed = |a: u32, b: u32| (a as i32, b as i32);
    check32("div.s32 %r10, %r1, %r2;", &two, |a, b, _| match signed(a, b) {
        (_, 0) => u32::MAX,
        (a, b) => a.wrapping_div(b) as u32,
    });
    check32("rem.s32 %r10, %r1, %r2;", &two, |a, b, _| match signed(a, b) {
        (a, 0) => a as u32,
        (a, b) => a.wrapping_rem(b) as u32,
    });
    check64("div.s64 %rd10, %rd1, %rd2;", &tuples::<2>(LONGS), |a, b, _| match (a as i64, b as i64) {
        (_, 0) => u64::MAX,
        (a, b) => a.wrapping_div(b) as u64,
    });
}

#[test]
fn shifts_clamp() {
    let two = tuples::<2>(WORDS);
    check32("shl.b32 %r10, %r1, %r2;", &two, |a, n, _| a.checked_shl(n).unwrap_or(0));
    check32("shr.u32 %r10, %r1, %r2;", &two, |a, n, _| a.checked_shr(n).unwrap_or(0));
    check32("shr.s32 %r10, %r1, %r2;", &two, |a, n, _| ((a as i32) >> n.min(31)) as u32);
    let long = tuples::<2>(LONGS);
    check64("shl.b64 %rd10, %rd1, %r2;", &long, |a, n, _| a.checked_shl(n as u32).unwrap_or(0));
    check64("shr.s64 %rd10, %rd1, %r2;", &long, |a, n, _| ((a as i64) >> (n as u32).min(63)) as u64);
    check32("shr.s16 %h10, %h1, %r2; cvt.s32.s16 %r10, %h10;", &two, |a, n, _| {
        (i32::from(a as i16) >> n.min(15)) as u32
    });
    let three = tuples::<3>(&[0, 1, 31, 32, 33, 0xffff_ffff, 0x8000_0001, 0x1234_5678]);
    let wide = |a: u32, b: u32| u64::from(b) << 32 | u64::from(a);
    check32("shf.l.wrap.b32 %r10, %r1, %r2, %r3;", &three, |a, b, n| ((wide(a, b) << (n & 31)) >> 32) as u32);
    check32("shf.r.wrap.b32 %r10, %r1, %r2, %r3;", &three, |a, b, n| (wide(a, b) >> (n & 31)) as u32);
    check32("shf.l.clamp.b32 %r10, %r1, %r2, %r3;", &three, |a, b, n| ((wide(a, b) << n.min(32)) >> 32) as u32);
    check32("shf.r.clamp.b32 %r10, %r1, %r2, %r3;", &three, |a, b, n| (wide(a, b) >> n.min(32)) as u32);
}

#[test]
fn logic_and_counts() {
    let two = tuples::<2>(WORDS);
    check32("and.b32 %r10, %r1, %r2;", &two, |a, b, _| a & b);
    check32("xor.b32 %r10, %r1, %r2;", &two, |a, b, _| a ^ b);
    check32("not.b32 %r10, %r1;", &two, |a, _, _| !a);
    check32("cnot.b32 %r10, %r1;", &two, |a, _, _| u32::from(a == 0));
    check32("popc.b32 %r10, %r1;", &two, |a, _, _| a.count_ones());
    check32("clz.b32 %r10, %r1;", &two, |a, _, _| a.leading_zeros());
    check32("clz.b64 %r10, %rd1;", &two, |a, _, _| u64::from(a).leading_zeros());
    check32("brev.b32 %r10, %r1;", &two, |a, _, _| a.reverse_bits());
    check32("bfind.u32 %r10, %r1;", &two, |a, _, _| 31u32.wrapping_sub(a.leading_zeros()));
    let significant = |a: u32| if (a as i32) < 0 { !a } else { a };
    check32("bfind.s32 %r10, %r1;", &two, |a, _, _| 31u32.wrapping_sub(significant(a).leading_zeros()));
    check32("bfind.shiftamt.u32 %r10, %r1;", &two, |a, _, _| if a == 0 { u32::MAX } else { a.leading_zeros() });
    let three = tuples::<3>(&WORDS[10..]);
    check32("lop3.b32 %r10, %r1, %r2, %r3, 0xe8;", &three, |a, b, c| (a & b) | (a & c) | (b & c));
    check32("lop3.b32 %r10, %r1, %r2, %r3, 0x96;", &three, |a, b, c| a ^ b ^ c);
}

/// The manual's pseudo code, bit by bit.
fn bfe(a: u32, pos: u32, len: u32, signed: bool) -> u32 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    let bit = |i: u32| (a >> i) & 1;
    let sign = if !signed || len == 0 { 0 } else { bit((pos + len - 1).min(31)) };
    (0..32).map(|i| (if i < len && pos + i <= 31 { bit(pos + i) } else { sign }) << i).sum()
}

fn bfi(a: u32, b: u32, pos: u32, len: u32) -> u32 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    (0..len).filter(|i| pos + i <= 31).fold(b, |f, i| f & !(1 << (pos + i)) | ((a >> i) & 1) << (pos + i))
}

#[test]
fn bit_fields() {
    let three = tuples::<3>(&[0, 1, 4, 8, 31, 32, 33, 255, 256, 0xffff_ffff, 0x8765_4321]);
    check32("bfe.u32 %r10, %r1, %r2, %r3;", &three, |a, p, n| bfe(a, p, n, false));
    check32("bfe.s32 %r10, %r1, %r2, %r3;", &three, |a, p, n| bfe(a, p, n, true));
    check32("bfi.b32 %r10, %r1, 0x5a5a5a5a, %r2, %r3;", &three, |a, p, n| bfi(a, 0x5a5a_5a5a, p, n));
}

fn prmt(a: u32, b: u32, selectors: [u32; 4]) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let pick = |s: u32| {
        let byte = bytes[(s & 7) as usize];
        if s & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte }
    };
    u32::from_le_bytes(selectors.map(pick))
}

#[test]
fn byte_permutation() {
    let three = tuples::<3>(&[0, 1, 2, 3, 0x7654, 0xfedc, 0x0123, 0x8f80_7f01, 0x1234_5678]);
    check32("prmt.b32 %r10, %r1, %r2, %r3;", &three, |a, b, c| prmt(a, b, [0, 4, 8, 12].map(|s| c >> s & 15)));
    check32("prmt.b32.f4e %r10, %r1, %r2, %r3;", &three, |a, b, c| prmt(a, b, [0, 1, 2, 3].map(|i| (c & 3) + i)));
    check32("prmt.b32.b4e %r10, %r1, %r2, %r3;", &three, |a, b, c| {
        prmt(a, b, [0u32, 1, 2, 3].map(|i| (c & 3).wrapping_sub(i) & 7))
    });
    check32("prmt.b32.rc16 %r10, %r1, %r2, %r3;", &three, |a, b, c| prmt(a, b, [0, 1, 0, 1].map(|i| (c & 1) * 2 + i)));
    check32("prmt.b32.ecl %r10, %r1, %r2, %r3;", &three, |a, b, c| prmt(a, b, [0, 1, 2, 3].map(|i| i.max(c & 3))));
}

#[test]
fn comparison_and_choice() {
    let two = tuples::<2>(WORDS);
    for (name, signed, unsigned) in [
        ("lt", i32::lt as fn(&i32, &i32) -> bool, u32::lt as fn(&u32, &u32) -> bool),
        ("le", i32::le, u32::le),
        ("gt", i32::gt, u32::gt),
        ("ge", i32::ge, u32::ge),
        ("eq", i32::eq, u32::eq),
        ("ne", i32::ne, u32::ne),
    ] {
        check32(&format!("setp.{name}.s32 %p1, %r1, %r2; selp.b32 %r10, 5, 9, %p1;"), &two, |a, b, _| {
            if signed(&(a as i32), &(b as i32)) { 5 } else { 9 }
        });
        check32(&format!("setp.{name}.u32 %p1|%p2, %r1, %r2; selp.b32 %r10, 5, 9, %p2;"), &two, |a, b, _| {
            if unsigned(&a, &b) { 9 } else { 5 }
        });
    }
    check32(
        "setp.ne.b32 %p2, %r2, 0; setp.lt.and.u32 %p1, %r1, 100, %p2; selp.b32 %r10, 1, 0, %p1;",
        &two,
        |a, b, _| u32::from(a < 100 && b != 0),
    );
    check32("slct.b32.s32 %r10, %r1, %r2, %r1;", &two, |a, b, _| if a as i32 >= 0 { a } else { b });
    check32("set.gt.u32.s32 %r10, %r1, %r2;", &two, |a, b, _| if a as i32 > b as i32 { u32::MAX } else { 0 });
    check32("min.s32 %r10, %r1, %r2;", &two, |a, b, _| (a as i32).min(b as i32) as u32);
    check32("max.u32 %r10, %r1, %r2;", &two, |a, b, _| a.max(b));
}

#[test]
fn conversion_between_integers() {
    let one = tuples::<1>(LONGS);
    check64("cvt.s64.s32 %rd10, %r1;", &one, |a, _, _| a as i32 as i64 as u64);
    check64("cvt.u64.u16 %rd10, %h1;", &one, |a, _, _| u64::from(a as u16));
    check64("cvt.s64.s8 %rd10, %rd1;", &one, |a, _, _| a as i8 as i64 as u64);
    check32("cvt.u8.u32 %r10, %r1;", &one, |a, _, _| u32::from(a as u8));
    check32("cvt.s8.s32 %r10, %r1;", &one, |a, _, _| a as i8 as i32 as u32);
    check32("cvt.sat.u8.s32 %r10, %r1;", &one, |a, _, _| (a as i32).clamp(0, 255) as u32);
    check32("cvt.sat.s16.s64 %h10, %rd1; cvt.s32.s16 %r10, %h10;", &[[1 << 40, 0, 0, 0]], |_, _, _| 32767);
    let values = eval32("cvt.sat.s32.u64 %r10, %rd1;", &[[u64::MAX, 0, 0, 0], [5, 0, 0, 0]]);
    assert_eq!(values, [i32::MAX as u32, 5]);
}

#[test]
fn packing_and_guards() {
    let two = tuples::<2>(WORDS);
    check32("mov.b32 {%h10, %h11}, %r1; mov.b32 %r10, {%h11, %h10};", &two, |a, _, _| a.rotate_left(16));
    check64("mov.b64 %rd10, {%r1, %r2};", &two, |a, b, _| b << 32 | a & 0xffff_ffff);
    check32(
        "setp.gt.u32 %p1, %r1, %r2; mov.u32 %r10, 1; @%p1 mov.u32 %r10, 2; @!%p1 add.u32 %r10, %r10, 8;",
        &two,
        |a, b, _| if a > b { 2 } else { 9 },
    );
}

/// The word result is discarded, or both results are used; a predicate is part of the instruction.
#[test]
fn lop3_with_a_predicate() {
    let inputs = tuples::<3>(&[0, 1, 0xff00_ff00, 0xffff_ffff]);
    let body = "setp.eq.u32 %p1, %r1, 1; lop3.or.b32 _|%p2, %r1, %r2, %r3, 0x80, %p1;
        lop3.and.b32 %r1|%p3, %r1, %r2, %r3, 0x80, !%p1; selp.u32 %r5, 2, 0, %p2; selp.u32 %r6, 1, 0, %p3;
        xor.b32 %r10, %r1, %r5; xor.b32 %r10, %r10, %r6;";
    check32(body, &inputs, |a, b, c| {
        let word = a & b & c;
        word ^ u32::from(word != 0 || a == 1) << 1 ^ u32::from(word != 0 && a != 1)
    });
    for (body, words) in [
        ("lop3.or.b32 %r1, %r2, %r3, %r4, 0x80, %p1;", "'lop3.or.b32' writes a register and a predicate: 'd|p'"),
        ("lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80;", "',' and 6 operand(s) of 'lop3.or.b32' expected"),
        ("lop3.xor.b32 %r1|%p1, %r2, %r3, %r4, 0x80, %p1;", "the modifier .xor is not allowed here"),
        ("lop3.b32 %r1|%p1, %r2, %r3, %r4, 0x80;", "operand 1 of 'lop3.b32' cannot be '%r1|%p1'"),
    ] {
        let error = super::variables::refused("", body);
        assert!(error.contains(words), "{body}: {error}");
    }
}
