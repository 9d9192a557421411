//! Vector registers, which stand for their elements in braces.

use super::sync::check;
use super::variables::refused;

/// Loads, stores and moves of whole vectors, packing and unpacking, elements by both of their names, and ranges of
/// vectors; elements that are live across a barrier and after a loop.
#[test]
fn vectors_stand_for_their_elements() {
    let text = ".visible .entry k(.param .u64 in, .param .u64 out) {
        .reg .v4 .f32 %v, %w; .reg .v2 .u32 %u<3>; .reg .v2 .b64 %d; .reg .v4 .b16 %h; .reg .v4 .b8 %q; .reg .pred %p;
        .reg .b32 %r<4>; .reg .b64 %rd<4>;
        ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 96, %rd2;
        ld.global.v4.f32 %v, [%rd1]; mov.v4.f32 %w, 0f3F800000; mov.u32 %r2, 0;
        LOOP: add.f32 %w.x, %v.w, %w.r; bar.sync 0; add.f32 %w.a, %v.b, %w.w; add.u32 %r2, %r2, 1;
        setp.lt.u32 %p, %r2, 3; @%p bra LOOP;
        st.global.v4.f32 [%rd2], %w;
        mov.v4.f32 %v, {%v.y, %v.x, %v.w, %v.z}; st.global.v4.f32 [%rd2+16], %v;
        mov.v2.u32 %u1, {%r1, 7}; mov.v2.u32 {%r3, _}, %u1; mov.v2.u32 %u2, %u1; add.u32 %u2.g, %u2.y, %r3;
        mov.b64 %rd3, %u2; st.global.u64 [%rd2+32], %rd3; mov.b64 %u0, %rd3;
        mov.v2.b32 {%u0.x, %u0.y}, {%u0.y, %u0.x}; st.global.v2.u32 [%rd2+40], %u0;
        mov.v2.b64 %d, %rd3; add.u64 %d.y, %d.y, 1; st.global.v2.b64 [%rd2+48], %d;
        mov.b64 %h, %rd3; cvt.u32.u16 %r3, %h.z; mov.b32 %q, %r3; mov.b32 %r2, %q; ld.global.v4.u8 %q, [%rd1+4];
        st.global.v4.u8 [%rd2+68], %q; st.global.u32 [%rd2+64], %r2;
        mov.v4.u32 {%r1, %r2, %r3, %u0.x}, %ntid; mad.lo.u32 %r1, %r2, 100, %r1; mad.lo.u32 %r1, %u0.x, 1000, %r1;
        st.global.u32 [%rd2+72], %r1; mov.v2.u32 %u0, %tid.r; st.global.v2.u32 [%rd2+80], %u0; ret; }";
    let floats = |values: [f32; 4]| {
        let [a, b, c, d] = values.map(|v| u64::from(v.to_bits()));
        [a | b << 32, c | d << 32]
    };
    let input = [1.5f32, 2.5, 3.5, 4.5];
    check(text, 1, [3, 1, 1], &[floats(input).to_vec(), vec![0; 36]], |after| {
        for (t, got) in after[1].chunks(12).enumerate() {
            let t = t as u64;
            assert_eq!(got[..2], floats([1.0 + 3.0 * 4.5, 1.0, 1.0, 1.0 + 3.0 * 3.5]), "thread {t}");
            assert_eq!(got[2..4], floats([2.5, 1.5, 4.5, 3.5]), "thread {t}");
            let pair = t | (7 + t) << 32;
            assert_eq!(got[4..8], [pair, pair.rotate_left(32), pair, pair + 1], "thread {t}");
            let bytes: Vec<u8> = input.iter().flat_map(|v| v.to_le_bytes()).collect();
            let read = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
            assert_eq!(got[8], (7 + t) | u64::from(read) << 32, "thread {t}");
            assert_eq!((got[9], got[10]), (100 + 3, t | t << 32), "thread {t}");
        }
    });
}

#[test]
fn what_is_no_vector_is_refused() {
    let vectors = ".reg .v4 .f32 %v; .reg .v2 .u32 %u, %w;";
    for (body, words) in [
        (".reg .v2 .pred %q;", "predicates make no vector register"),
        (".reg .v4 .b64 %q;", "a vector register has 128 bits at most, and .v4 .b64 has 256"),
        (".reg .v3 .b32 %q;", "a type expected, '.v3' found"),
        ("mov.u32 %u.z, 1;", "'%u' has 2 elements, none of which is '.z'"),
        ("mov.u32 %r1, %u.z;", "'%u' has 2 elements, none of which is '.z'"),
        ("mov.u32 %r1, %r2.x;", "'%r2' is not a vector, so it has no element '.x'"),
        ("mov.u32 %r1, %tid.q;", "'%tid.q' is neither a declared register nor a supported special register"),
        ("mov.u32 %r1, %nope.x;", "'%nope.x' is neither a declared register nor a supported special register"),
        ("add.f32 %v, %v, %v;", "'%v' is a vector of 4 registers, where one is needed"),
        ("ld.global.u32 %r1, [%u];", "'%u' is a vector of 2 registers, where one is needed"),
        ("ld.global.v2.f32 %v, [%rd1];", "the access needs 2 element(s), but 4 are given"),
        ("ld.global.f32 %v, [%rd1];", "the access needs 1 element(s), but 4 are given"),
        ("mov.v2.f32 %v, %v;", "'mov.v2.f32' has 2 element(s), but 4 are given"),
        ("mov.v2.b32 %u, %tid;", "'mov.v2.b32' has 2 element(s), but 4 are given"),
        ("mov.v2.b32 %r1, %u;", "'mov.v2.b32' has 2 element(s), but 1 are given"),
        ("mov.v2.b64 %u, {%rd1, %rd2};", "'%u.x' has 32 bit(s) where the instruction needs 64"),
        ("mov.b64 %u, %w;", "'mov' packs a vector or unpacks one: 'mov.v2' and 'mov.v4' move from vector to vector"),
    ] {
        let error = refused("", &format!("{vectors} {body}"));
        assert!(error.contains(words), "{body}: {error}");
    }
}
