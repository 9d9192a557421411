//! Comparison of tuples, arrays, slices, `Option`, structs and enums, against the host.

use super::differ;
use cuda_jit::device::{grid, shared, sync_threads, thread_idx};
use cuda_jit::{DeviceType, device, kernel};

/// A kernel that sets a bit for each comparison of each pair that holds, six bits to a byte.
macro_rules! comparing {
    (fn $name:ident($x:ident, $i:ident) { $($stmts:tt)* } $(($a:expr, $b:expr)),+ $(,)?) => {
        #[kernel]
        fn $name($x: &[f32], out: &mut [u64]) {
            let $i = grid::<1>();
            $($stmts)*
            $(
                out[$i] = out[$i] << 8
                    | u64::from($a == $b)
                    | u64::from($a != $b) << 1
                    | u64::from($a < $b) << 2
                    | u64::from($a <= $b) << 3
                    | u64::from($a > $b) << 4
                    | u64::from($a >= $b) << 5;
            )+
        }
    };
}

const NAN: f32 = f32::NAN;
const NUMBERS: [f32; 12] = [1.0, 2.0, 1.0, 3.0, NAN, 2.0, 1.0, NAN, 0.0, -0.0, 1.0, 2.0];

comparing! {
    fn arrays(x, i) {
        let (p, q) = (i % 5, i / 5);
        let (a, b) = ([x[2 * p], x[2 * p + 1]], [x[2 * q], x[2 * q + 1]]);
        let mut long = [a[0]; 20];
        long[17] = b[1];
        let wide = [[a, b], [a, b], [a, b], [a, b], [b, a]];
    }
    (a, b),
    ([a, b], [b, a]),
    ([a[0]; 20], long),
    (a, [1.0, 2.0]),
    (&a, &[x[2 * p]; 2]),
    (wide, [[a, b]; 5]),
    ([a[0]], [b[1]]),
}

#[test]
fn arrays_are_compared_in_order() {
    let out = differ!(arrays, (1, 25), [&NUMBERS[..]], vec![0u64; 25]);
    assert_eq!(out[0] >> 48, 0b101001);
    assert_eq!(out[2] >> 48, 0b000010, "NaN decides, and is not ordered");
}

comparing! {
    fn tuples(x, i) {
        let (p, q) = (i % 5, i / 5);
        let a = (p as u8, x[2 * p], [x[2 * p + 1], 1.0]);
        let b = (q as u8 / 2, x[2 * q], [x[2 * q + 1], 1.0]);
    }
    (a, b),
    ((a.1, (a.0, ())), (b.1, (b.0, ()))),
    ((i < 7, i), (i < 9, 7)),
    ((a.1,), (b.1,)),
}

#[test]
fn tuples_are_compared_in_order() {
    differ!(tuples, (1, 25), [&NUMBERS[..]], vec![0u64; 25]);
}

comparing! {
    fn slices(x, i) {
        let (a, b) = (&x[i % 4..6], &x[6 + i / 4..6 + i / 4 + 2]);
    }
    (a, b),
    (a[..2], b[..]),
    ((b, i), (a, 3)),
    ([b, a], [b, b]),
    (x[..0], x[..i % 2]),
}

#[kernel]
fn slices_with_arrays(x: &[f32], out: &mut [u64]) {
    let i = grid::<1>();
    let (b, two) = (&x[i..i + 2], [x[0]; 2]);
    out[i] = u64::from(b == [1.0, 2.0]) | u64::from([3.0, x[4]] != *b) << 1 | u64::from(*b == two) << 2;
    out[i] |= u64::from(x == [1.0, 2.0]) << 3 | u64::from(x == x) << 4 | u64::from(two == b[..]) << 5;
}

#[test]
fn slices_are_equal_to_arrays() {
    let out = differ!(slices_with_arrays, (1, 4), [&[1.0f32, 2.0, 1.0, 1.0, 3.0][..]], vec![0u64; 4]);
    assert_eq!(out, [0b010011, 0b010010, 0b110110, 0b010010]);
}

#[test]
fn slices_are_compared_in_order_and_then_by_their_lengths() {
    let x = [1.0f32, 2.0, 1.0, 2.0, 3.0, 3.0, 1.0, 2.0, 1.0, 2.0, NAN];
    differ!(slices, (1, 16), [&x[..]], vec![0u64; 16]);
}

comparing! {
    fn options(x, i) {
        let some = |at: usize| if x[at] > 0.0 { Some([x[at], x[at + 1]]) } else { None };
        let (a, b) = (some(i % 5), some(i / 5 + 3));
    }
    (a, b),
    ((a, 1), (b, 1)),
    (Some(a), Some(b)),
    (x.get(i), x.first()),
}

#[test]
fn none_is_less_than_some() {
    differ!(options, (1, 25), [&NUMBERS[..]], vec![0u64; 25]);
}

#[derive(Clone, Copy, DeviceType)]
#[operators(PartialEq)]
#[repr(C)]
struct Near {
    at: f32,
}

#[device]
impl PartialEq for Near {
    fn eq(&self, other: &Near) -> bool {
        assert!(self.at < 100.0, "this pair is not looked at");
        (self.at - other.at).abs() < 0.5
    }
}

#[kernel]
fn structs(x: &[f32], out: &mut [u32]) {
    let i = grid::<1>();
    let near = |at: f32| Near { at };
    let a = [near(x[0]), near(x[i]), near(1e9)];
    let b = [near(x[1]), near(2.0), near(1e9)];
    out[i] = u32::from(a == b) | u32::from((a[0], a[1]) != (b[0], b[1])) << 1 | u32::from(a[..2] == b[..2]) << 2;
}

#[test]
fn the_operators_of_structs_are_called_until_one_decides() {
    let out = differ!(structs, (1, 4), [&[0.0f32, 0.25, 7.0, 8.0][..]], vec![0u32; 4]);
    assert_eq!(out, [2, 2, 2, 2]);
}

#[kernel]
fn in_shared_memory(x: &[u32], out: &mut [u32]) {
    let (tile, i) = (shared!([[u32; 4]; 2]), thread_idx().x);
    tile[i / 4][i % 4] = x[i];
    sync_threads();
    out[i] = u32::from(tile[0] == tile[1]) | u32::from(*tile == [[1, 2, 3, 4], [1, 2, 3, 5]]) << 1;
    out[i] |= u32::from(tile[0] < tile[1]) << 2 | u32::from(tile[1][..2] == x[..2]) << 3;
    if (tile[0][i % 4], [i as u32, 2]) == (3, [2, 2]) {
        assert_eq!(tile[0], [1, 2, 3, 4]);
        assert_ne!(tile[1], tile[0], "they differ in their last");
        out[i] |= 16;
    }
}

#[test]
fn arrays_are_compared_in_place() {
    let mut out = super::on_device(&[0u32; 8]);
    in_shared_memory::launch((1, 8), &[1, 2, 3, 4, 1, 2, 3, 5], &mut out).unwrap();
    assert_eq!(super::on_host(&out), [14, 14, 30, 14, 14, 14, 14, 14]);
}

#[derive(Clone, Copy, PartialEq, PartialOrd, DeviceType)]
#[repr(i8)]
enum Level {
    Low = -3,
    Middle = 0,
    High = 7,
}

#[derive(Clone, Copy, DeviceType)]
#[derived(PartialEq, PartialOrd)]
#[repr(C)]
struct Place<T> {
    x: T,
    y: T,
}

#[derive(Clone, Copy, DeviceType)]
#[derived(PartialEq, PartialOrd)]
struct Event {
    level: Level,
    at: Place<f32>,
    counts: [i32; 2],
    last: Option<(bool, u8)>,
}

/// Equality compares only the key: Rust uses the `impl`, and so does the kernel.
#[derive(Clone, Copy, DeviceType)]
#[operators(PartialEq)]
#[repr(C)]
struct Keyed {
    key: u32,
    rest: f32,
}

#[device]
impl PartialEq for Keyed {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

#[derive(Clone, Copy, DeviceType)]
#[derived(PartialEq)]
struct Holder {
    keyed: Keyed,
    unit: (),
}

comparing! {
    fn derived(x, i) {
        let (p, q) = (i % 5, i / 5);
        let level = |v: f32| if v < 1.0 { Level::Low } else if v < 2.0 { Level::Middle } else { Level::High };
        let place = |k: usize| Place { x: x[2 * k], y: x[2 * k + 1] };
        let (c, d) = (place(p), place(q));
        let event = |at: Place<f32>, k: usize| Event {
            level: level(x[k]),
            at,
            counts: [k as i32, 3],
            last: if k % 2 == 0 { None } else { Some((k % 3 == 0, k as u8)) },
        };
        let (a, b) = (event(c, p), event(d, q));
    }
    (a, b),
    (c, d),
    (level(x[p]), level(x[q])),
    ((p, a), (p, b)),
    ([c, d], [d, c]),
    (&a, &Event { at: c, ..b }),
    (Some(c), Some(d)),
    (Place { x: p as i64, y: -5 }, Place { x: q as i64, y: -5 }),
}

#[test]
fn structs_and_enums_are_compared_as_their_derives_compare_them() {
    differ!(derived, (1, 25), [&NUMBERS[..]], vec![0u64; 25]);
}

#[kernel]
fn own_equality(x: &[f32], out: &mut [u64]) {
    let i = grid::<1>();
    let holder = |key: u32, rest: f32| Holder { keyed: Keyed { key, rest }, unit: () };
    let (a, b) = (holder(i as u32 / 2, x[i]), holder(1, x[i + 1]));
    out[i] = (a == b) as u64 + (a != b) as u64 * 2 + (a.keyed == b.keyed) as u64 * 4;
}

#[test]
fn a_field_with_an_own_equality_is_compared_by_it() {
    let out = differ!(own_equality, (1, 6), [&NUMBERS[..]], vec![0u64; 6]);
    assert_eq!(out, [2, 2, 5, 5, 2, 2]);
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, DeviceType)]
#[repr(i8)]
enum Rank {
    Last = -5,
    Middle,
    First = 7,
}

#[derive(Clone, Copy, DeviceType)]
#[derived(PartialEq, Eq, PartialOrd, Ord)]
struct Entry<T> {
    rank: Rank,
    key: (u8, T),
    marks: [i16; 2],
}

/// A number that identifies an entry.
#[device]
fn shown(entry: Entry<i32>) -> i64 {
    entry.rank as i64 * 100 + entry.key.0 as i64 * 10 + entry.key.1 as i64 + entry.marks[1] as i64 * 1000
}

#[kernel]
fn ordered(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let (p, q) = (i % 6, i / 6);
    let rank = |v: i32| {
        if v < 2 {
            Rank::Last
        } else if v < 4 {
            Rank::Middle
        } else {
            Rank::First
        }
    };
    let entry = |k: usize| Entry { rank: rank(x[k]), key: (x[k + 1] as u8, x[k + 2]), marks: [1, x[k] as i16] };
    let (a, b) = (entry(p), entry(q));
    out[i] = a.cmp(&b) as i64 + a.partial_cmp(&b).unwrap() as i64 * 10 + a.rank.cmp(&b.rank) as i64 * 100;
    out[i] = out[i] * 31 + shown(a.max(b)) * 5 + shown(a.min(b)) * 3 + shown(b.max(a));
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    out[i] = out[i] * 31 + shown(entry(2).clamp(low, high)) + a.rank.max(b.rank) as i64;
    out[i] = out[i] * 31 + (a.key.max(b.key)).1 as i64 + (x[p] > 1).max(x[q] > 2) as i64;
    let most = [a, b, entry(1)].into_iter().max().unwrap();
    let by = [a, b].into_iter().min_by_key(|entry| (entry.rank, entry.marks)).unwrap();
    out[i] = out[i] * 31 + shown(most) + shown(by) + Some(x[p]).max(None).unwrap_or(5) as i64;
    let order = x[p].cmp(&x[q]).then(p.cmp(&q)).then_with(|| a.cmp(&b)).reverse();
    out[i] = out[i] * 31 + order as i64;
    let mut entries = [a, b, entry(0), entry(3)];
    entries.sort_unstable();
    out[i] = out[i] * 31 + shown(entries[0]) + shown(entries[3]) * 7;
    let half = (x[p] % 2 == 0).then(|| x[p] / 2).unwrap_or(-1) + (p > 2).then_some(5).unwrap_or_default();
    out[i] = out[i] * 31 + half as i64;
}

#[test]
fn ordered_types_have_the_methods_of_ord() {
    differ!(ordered, (1, 36), [&[3, 1, 4, 1, 5, 9, 2, 6, 3][..]], vec![0i64; 36]);
}
