//! The analysis on modules in KIR's text form: its rules one by one. Whole kernels are in cuda-jit's tests.

use super::linear::Facts;
use super::poly::{Poly, Side, Var};
use super::*;

const HEAD: &str = "kir 1 shared m0 tile: u32 64 kernel f(v0 x: ptr global u32 readwrite, v1 n: u64 extent) { ";

/// The analysis of a kernel with a pointer, a number of elements and a shared array.
fn analysed(body: &str) -> Races {
    analyse(&format!("{HEAD}{body} }}").parse().unwrap())
}

fn var(symbol: u32) -> Poly {
    Poly::var(Var { symbol, side: Side::Both })
}

fn sum(terms: &[(i128, &Poly)]) -> Poly {
    terms.iter().fold(Poly::default(), |sum, (factor, poly)| sum.plus(poly, *factor).unwrap())
}

#[test]
fn linear_contradictions_are_found() {
    let (x, y, one) = (var(0), var(1), Poly::constant(1));
    let facts = |zero: Vec<Poly>, positive: Vec<Poly>| Facts { zero, positive };
    // x < y and y < x
    assert!(
        facts(vec![], vec![sum(&[(1, &y), (-1, &x), (-1, &one)]), sum(&[(1, &x), (-1, &y), (-1, &one)])]).infeasible()
    );
    // x <= y and y <= x
    assert!(!facts(vec![], vec![sum(&[(1, &y), (-1, &x)]), sum(&[(1, &x), (-1, &y)])]).infeasible());
    // 2x = 2y + 1 over the integers
    assert!(facts(vec![sum(&[(2, &x), (-2, &y), (-1, &one)])], vec![]).infeasible());
    // 0 < 2x < 2
    assert!(facts(vec![], vec![sum(&[(2, &x), (-1, &one)]), sum(&[(-2, &x), (1, &one)])]).infeasible());
    // x = y + 3 and x >= 5 imply y >= 2, and not y >= 3
    let known = facts(vec![sum(&[(1, &x), (-1, &y), (-3, &one)])], vec![sum(&[(1, &x), (-5, &one)])]);
    assert!(known.implies(&sum(&[(1, &y), (-2, &one)])) && !known.implies(&sum(&[(1, &y), (-3, &one)])));
}

#[test]
fn polynomials_split_by_a_factor() {
    let (width, row, column) = (var(0), var(1), var(2));
    let index = sum(&[(1, &width.times(&row).unwrap()), (1, &column)]);
    let (quotient, rest) = index.split(1, &vec![Var { symbol: 0, side: Side::Both }]);
    assert_eq!((quotient, rest), (row, column));
    assert_eq!(Poly::constant(i128::MAX).plus(&Poly::constant(1), 1), None);
}

#[test]
fn a_thread_has_its_own_element() {
    let position = "b0: v2: u32 = special block_idx.x v3: u32 = special block_dim.x v4: u32 = special thread_idx.x
        v5: u64 = cast v2 to u64 v6: u64 = cast v3 to u64 v7: u64 = cast v4 to u64
        v8: u64 = mul v5, v6 v9: u64 = add v8, v7 v10: u32 = const u32 1";
    let races = analysed(&format!("{position} v11: ptr global u32 = offset v0, v9 store v11, v10 return"));
    assert!(races.is_proved(), "{races}");
    assert_eq!(races.to_string(), "no data race");
    // 32-bit arithmetic of the same form may wrap, which the launch then refuses.
    let narrow = "b0: v2: u32 = special block_idx.x v3: u32 = special block_dim.x v4: u32 = special thread_idx.x
        v5: u32 = mul v2, v3 v6: u32 = add v5, v4 v7: u64 = cast v6 to u64 v8: u32 = const u32 1
        v9: ptr global u32 = offset v0, v7 store v9, v8 return";
    let races = analysed(narrow);
    assert!(races.is_proved(), "{races}");
    assert!(races.requirements().bounds.iter().any(|bound| bound.limit == u64::from(u32::MAX)));
}

#[test]
fn a_barrier_orders_the_threads_of_a_block_only() {
    let shared = |between: &str| {
        format!(
            "b0: v2: u32 = special thread_idx.x v3: u64 = cast v2 to u64 v4: ptr shared u32 = shared m0
             v5: u64 = const u64 64 v6: bool = lt v3, v5 branch v6, b1, b2
             b1: v7: ptr shared u32 = offset v4, v3 store v7, v2 jump b3
             b2: return
             b3: {between} v8: u64 = const u64 63 v9: u64 = sub v8, v3 v10: ptr shared u32 = offset v4, v9
             v11: u32 = load v10 return"
        )
    };
    assert!(analysed(&shared("barrier")).is_proved());
    let races = analysed(&shared("fence seq_cst block"));
    assert_eq!(races.places()[0].access(), "write of the shared array `tile`");
    assert!(races.places()[0].reason().starts_with("another thread that reads it"), "{races}");
    let global = "b0: v2: u32 = special block_idx.x v3: u64 = cast v2 to u64 v4: u32 = special thread_idx.x
        v5: u32 = const u32 0 v6: bool = eq v4, v5 branch v6, b1, b2
        b1: v7: ptr global u32 = offset v0, v3 store v7, v5 jump b2
        b2: barrier v8: u64 = const u64 0 v9: ptr global u32 = offset v0, v8 v10: u32 = load v9 return";
    assert!(!analysed(global).is_proved());
}

#[test]
fn atomics_race_with_plain_accesses_only() {
    let body = |last: &str| {
        format!(
            "b0: v2: u32 = const u32 1 v3: u64 = const u64 0 v4: ptr global u32 = offset v0, v3
             v5: u32 = atomic add v4, v2 {last} return"
        )
    };
    assert!(analysed(&body("")).is_proved());
    assert!(!analysed(&body("v6: u32 = load v4")).is_proved());
    assert!(!analysed(&body("store v4, v2")).is_proved());
}

#[test]
fn atomics_of_a_narrow_scope_race_with_those_of_other_blocks() {
    let body = |index: &str, last: &str| {
        format!(
            "b0: v2: u32 = special {index} v3: u64 = cast v2 to u64 v4: ptr global u32 = offset v0, v3
             v5: u32 = const u32 1 {last} return"
        )
    };
    for narrow in [
        "v6: u32 = atomic add relaxed block v4, v5",
        "v6: u32 = atomic_load relaxed cluster v4 v7: u32 = atomic add v4, v5",
        "v6: u32 = compare_exchange seq_cst block v4, v5, v5",
        "atomic_store relaxed block v4, v5",
    ] {
        let races = analysed(&body("thread_idx.x", narrow));
        assert!(!races.is_proved(), "{narrow}");
        let reason = races.places()[0].reason();
        assert!(reason.starts_with("a thread of another block that atomically accesses it"), "{reason}");
        // Each block has an element of its own.
        let races = analysed(&body("block_idx.x", narrow));
        assert!(races.is_proved(), "{narrow}: {races}");
        let wide = narrow.replace("relaxed block", "relaxed device").replace("relaxed cluster", "relaxed system");
        let wide = wide.replace("seq_cst block", "seq_cst device");
        assert!(analysed(&body("thread_idx.x", &wide)).is_proved(), "{wide}");
    }
}

#[test]
fn functions_that_call_themselves_are_not_followed() {
    let module = "kir 1 kernel f() { b0: call f1() return } device g() { b0: call f1() return }".parse().unwrap();
    let races = analyse(&module);
    assert!(races.places()[0].reason().contains("a function that calls itself"), "{races}");
}

#[test]
fn dimensions_that_are_not_used_must_be_one() {
    let races = analysed(
        "b0: v2: u32 = special block_idx.y v3: u64 = cast v2 to u64 v4: u32 = const u32 0
         v5: u32 = special thread_idx.z v6: bool = eq v5, v4 branch v6, b1, b2
         b1: v7: ptr global u32 = offset v0, v3 store v7, v4 jump b2
         b2: return",
    );
    assert_eq!(races.requirements().single, [false, false, true, false, true, false]);
    // The grid may extend along x, of which nothing depends.
    assert!(!races.is_proved());
}
