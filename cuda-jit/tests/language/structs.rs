//! Structs: by value, in memory, in arrays and shared memory, borrowed, destructured.

use super::{context, differ, on_device, on_host};
use cuda_jit::device::{grid, shared, sync_threads, thread_idx};
use cuda_jit::{DeviceType, device, kernel};
use ndarray::{ArrayView2, ArrayViewMut2};

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Particle {
    pos: Vec3,
    mass: f32,
    history: [u32; 3],
    tag: Tag,
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Tag(u16, i16);

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Pair<T> {
    first: T,
    second: [T; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C, align(16))]
struct Quad {
    x: f32,
    y: f32,
    z: f32,
    w: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
struct Marker;

fn particles(count: usize) -> Vec<Particle> {
    let particle = |i: usize| Particle {
        pos: Vec3 { x: i as f32, y: i as f32 * 0.5, z: -(i as f32) },
        mass: 1.5 + i as f32,
        history: [i as u32, i as u32 + 1, 7],
        tag: Tag(i as u16, -(i as i16)),
    };
    (0..count).map(particle).collect()
}

/// Runs a kernel on the device and, thread by thread, on the host, over an array of structs.
macro_rules! both {
    ($kernel:ident, $config:expr, [$($input:expr),*], $output:expr) => {{
        let initial = $output;
        let mut host = initial.clone();
        cuda_jit::host::for_each_thread($config, || $kernel($($input,)* &mut host));
        let mut device = on_device(&initial);
        $kernel::launch($config, $($crate::language::Passed::passed($input),)* &mut device).expect("it launches");
        let device = on_host(&device);
        assert_eq!(device, host);
        device
    }};
}

#[kernel]
fn moves(particles: &mut [Particle]) {
    let i = grid::<1>();
    if i < particles.len() {
        let p = particles[i];
        particles[i].pos.x += 1.0;
        particles[i].pos = Vec3 { y: p.pos.x * p.mass, ..particles[i].pos };
        particles[i].history[i % 3] = p.history[(i + 1) % 3] + 100;
        let Particle { mass, tag: Tag(a, b), .. } = p;
        particles[i].mass = mass * 2.0;
        particles[i].tag = Tag(a + 1, b - 1);
        let mut local = p;
        local.pos.z = 9.0;
        local.history[0] += 5;
        particles[i].pos.z = local.pos.z + p.pos.z + (local.history[0] - p.history[0]) as f32;
    }
}

#[test]
fn fields_are_read_and_written() {
    let after = both!(moves, (2, 4), [], particles(7));
    assert_eq!(after[2].pos, Vec3 { x: 3.0, y: 7.0, z: 12.0 });
    assert_eq!(after[2].history, [2, 3, 102]);
}

#[kernel]
fn borrows(x: &[Particle], out: &mut [Vec3]) {
    let i = grid::<1>();
    if i < out.len() {
        let here = &x[i];
        let place = &mut out[i];
        place.x = here.pos.y;
        let y = &mut place.y;
        *y = here.mass;
        place.z += {
            let pos = &here.pos;
            pos.x
        } + here.history[1] as f32;
        let mut local = here.pos;
        let inner = &mut local;
        inner.x = 4.0;
        (*inner).y += 2.0;
        place.z += local.x * local.y;
    }
}

#[test]
fn structs_and_fields_are_borrowed() {
    both!(borrows, (1, 8), [&particles(6)[..]], vec![Vec3 { x: 0.0, y: 1.0, z: 2.0 }; 6]);
}

#[kernel]
fn by_value(scale: Vec3, pair: Pair<u32>, _nothing: Marker, maybe: Option<i16>, out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let Pair { first, second: [a, b] } = pair;
        let table = [scale.x, scale.y, scale.z];
        out[i] = table[i % 3] * first as f32 + (a * b) as f32 + pair.second[i % 2] as f32;
        if let Some(m) = maybe {
            out[i] += m as f32;
        }
    }
}

#[test]
fn structs_are_passed_by_value() {
    let (scale, pair) = (Vec3 { x: 1.0, y: 2.0, z: 3.0 }, Pair { first: 5u32, second: [7, 11] });
    let mut out = on_device(&[0f32; 6]);
    by_value::launch((1, 6), scale, pair, Marker, Some(-3i16), &mut out).unwrap();
    let mut host = vec![0f32; 6];
    cuda_jit::host::for_each_thread((1, 6), || by_value(scale, pair, Marker, Some(-3), &mut host));
    assert_eq!(on_host(&out), host);
    by_value::launch((1, 6), scale, pair, Marker, None::<i16>, &mut out).unwrap();
    assert_eq!(on_host(&out)[0], 5.0 + 77.0 + 7.0);
}

#[kernel]
fn transposed(x: ArrayView2<'_, Pair<i32>>, mut out: ArrayViewMut2<'_, Pair<i32>>) {
    let (i, j) = grid::<2>();
    if i < x.nrows() && j < x.ncols() {
        out[[j, i]].first = x[[i, j]].second[1];
        out[[j, i]].second = [x[[i, j]].first; 2];
    }
}

#[test]
fn views_hold_structs() {
    let host = ndarray::Array2::from_shape_fn((3, 2), |(i, j)| Pair { first: i as i32, second: [j as i32, 10] });
    let x = cuda_mem::to_device(&context(), &host).unwrap();
    let mut out = cuda_mem::to_device(&context(), &host.t().to_owned()).unwrap();
    transposed::launch(((1, 1), (4, 4)), &x, &mut out).unwrap();
    let expected = host.t().map(|pair| Pair { first: pair.second[1], second: [pair.first; 2] });
    assert_eq!(out.copy_to_host().unwrap(), expected);
}

#[kernel]
fn through_shared(x: &mut [Vec3]) {
    let tile = shared!([Vec3; 32]);
    let (i, n) = (thread_idx().x, x.len());
    if i < n {
        tile[i] = x[i];
        tile[i].y = i as f32;
    }
    sync_threads();
    if i < n {
        x[i] = tile[n - 1 - i];
    }
}

#[test]
fn shared_memory_holds_structs() {
    let x: Vec<Vec3> = (0..5).map(|i| Vec3 { x: i as f32, y: 0.0, z: 1.0 }).collect();
    let mut out = on_device(&x);
    through_shared::launch((1, 32), &mut out).unwrap();
    let expected: Vec<Vec3> = (0..5).rev().map(|i| Vec3 { x: i as f32, y: i as f32, z: 1.0 }).collect();
    assert_eq!(on_host(&out), expected);
}

#[kernel]
fn doubled(x: &[Quad], out: &mut [Quad]) {
    let i = grid::<1>();
    if i < out.len() {
        let q = x[i];
        out[i] = Quad { x: q.x * 2.0, y: q.y * 2.0, z: q.z * 2.0, w: q.w * 2.0 };
    }
}

#[test]
fn an_aligned_struct_is_loaded_and_stored_at_once() {
    let ptx = doubled::compile_ptx((9, 0)).unwrap();
    assert!(ptx.contains("ld.global.nc.v4.b32") && ptx.contains("st.global.v4.b32"), "{ptx}");
    let quads: Vec<Quad> = (0..4).map(|i| Quad { x: i as f32, y: 1.0, z: 2.0, w: 3.0 }).collect();
    both!(doubled, (1, 4), [&quads[..]], quads.clone());
}

#[kernel]
fn local_arrays(out: &mut [u32]) {
    let i = grid::<1>();
    let mut table = [Pair { first: 1u32, second: [2, 3] }; 4];
    table[i % 4].second[1] = 50;
    table[1] = Pair { first: 8, second: [9, 10] };
    let copy = table;
    table[2].first = 77;
    let mut nested = [(1u8, 2.5f32); 3];
    nested[i % 3].0 = 9;
    if i < out.len() {
        out[i] = copy[i % 4].second[1] + table[2].first + copy[2].first + nested[1].0 as u32;
    }
}

#[test]
fn local_arrays_hold_structs_and_tuples() {
    differ!(local_arrays, (1, 8), [], vec![0u32; 8]);
}

#[derive(Clone, Copy, DeviceType)]
struct Columns<'a> {
    x: &'a [f32],
    y: &'a [f32],
    scale: f32,
}

#[device]
fn at(columns: Columns<'_>, i: usize) -> f32 {
    columns.x[i] * columns.scale + columns.y[i]
}

#[kernel]
fn of_views(columns: Columns<'_>, more: [&[f32]; 2], pair: (&[u32], u32), out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let Columns { x, .. } = columns;
        out[i] = at(columns, i) + more[i % 2][i] + more[1][0] + (pair.0[i] * pair.1) as f32 + x.len() as f32;
    }
}

#[test]
fn structs_arrays_and_tuples_of_slices_are_parameters() {
    let (a, b, c) = (on_device(&[1f32, 2.0, 3.0]), on_device(&[10f32, 20.0, 30.0]), on_device(&[5u32, 6, 7]));
    let mut out = on_device(&[0f32; 3]);
    of_views::launch((1, 3), ColumnsArgs { x: &a, y: &b, scale: 2.0 }, [&a, &b], (&c, 3u32), &mut out).unwrap();
    let (ha, hb) = ([1f32, 2.0, 3.0], [10f32, 20.0, 30.0]);
    let mut host = [0f32; 3];
    cuda_jit::host::for_each_thread((1, 3), || {
        of_views(Columns { x: &ha, y: &hb, scale: 2.0 }, [&ha, &hb], (&[5, 6, 7], 3), &mut host)
    });
    assert_eq!(on_host(&out), host);
}

#[kernel]
fn assigned_apart(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    if i < x.len() {
        let (mut a, mut b) = (x[i] as i64, 7);
        let mut parts = [1i64, 2, 3];
        let late;
        let mut pair = Two { a: 1, b: (2, 3) };
        for _ in 0..i {
            (a, b) = (b, a + b);
        }
        ((parts[0], _), [.., late]) = ((a, 5u8), [1i64, 2, b]);
        [parts[1], parts[2]] = [parts[2], parts[1]];
        Two { a: pair.b.0, b: (_, pair.b.1) } = Two { a: 8, b: (9, 10) };
        Two { a: pair.a, .. } = pair;
        _ = (a, b);
        One(b) = One(b * 2);
        out[i] = a + 10 * b + 100 * parts[0] + 1000 * parts[1] + late + (pair.a + pair.b.0 + pair.b.1) as i64;
    }
}

#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
struct Two {
    a: i32,
    b: (i32, i32),
}

#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
struct One(i64);

#[test]
fn assignments_destructure_values() {
    let x = [3, 5, -8, 13];
    differ!(assigned_apart, (1, 4), [&x[..]], vec![0i64; 4]);
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[from_repr]
#[repr(i16)]
enum Level {
    Low = -3,
    Middle,
    High = 400,
}

#[kernel]
fn levels(x: &[i16], out: &mut [i32]) {
    let i = grid::<1>();
    if i < x.len() {
        out[i] = match Level::from_repr(x[i]) {
            Some(Level::High) => 7,
            Some(level) => level as i32 * 10,
            None => 1,
        };
    }
}

#[test]
fn numbers_become_enums_where_there_is_a_variant() {
    let out = differ!(levels, (1, 8), [&[-3i16, -2, -1, 400, 0, 144][..]], vec![0i32; 6]);
    assert_eq!(out, [-30, -20, 1, 7, 1, 1]);
    assert_eq!((Level::from_repr(-2), Level::from_repr(9)), (Some(Level::Middle), None));
}

/// An enum with a niche: its size on the host is that of its payload.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
struct Niches {
    a: Option<bool>,
    b: u8,
    c: Option<Level>,
    d: i16,
    e: (bool, Option<bool>),
    f: u8,
}

#[kernel]
fn niches(x: &[i16], out: &mut [i32]) {
    let i = grid::<1>();
    if i >= x.len() {
        return;
    }
    let one = Niches { a: None, b: 255, c: None, d: -1, e: (true, None), f: 77 };
    let mut all = [one; 3];
    let at = i % 3;
    all[at].a = Some(x[i] > 0);
    all[at].c = Level::from_repr(x[i]);
    all[at].e.1 = Some(i % 2 == 0);
    let seen = all[(at + x.len()) % 3];
    let mut sum = seen.b as i32 + seen.d as i32 * 1000 + seen.f as i32 * 100_000;
    if let Some(true) = seen.a {
        sum += 1;
    }
    if seen.c == Some(Level::High) {
        sum += 2;
    }
    if seen.e.0 && seen.e.1 == Some(true) {
        sum += 4;
    }
    out[i] = sum;
}

#[test]
fn options_in_structs_do_not_overlap() {
    differ!(niches, (1, 8), [&[-3i16, 1, -1, 400, 0, 144][..]], vec![0i32; 6]);
}
