//! Short vectors: operators, methods, memory, and the instructions that they become.

use super::halves::compiled;
use super::{context, on_device, on_host};
use cuda_jit::cuda_vectors::{double3, float4, int2, long2, short2, uchar4, ulonglong4};
use cuda_jit::device::{as_vectors, as_vectors_mut, grid, shared, sync_threads, thread_idx};
use cuda_jit::{
    DeviceType, bf16, bf16x2, f16, f16x2, f32x2, f32x3, f32x4, f64x2, f64x3, i8x4, i32x4, i64x2, kernel, u8x4, u16x3,
    u32x2,
};
use cuda_mem::Element;

/// Runs a kernel of `(&[T], &mut [T])` on the device and on the host, and compares the results.
macro_rules! both {
    ($kernel:ident, $x:expr) => {{
        let x = $x;
        let mut host = x.clone();
        cuda_jit::host::for_each_thread((1, x.len()), || $kernel(&x, &mut host));
        let mut device = on_device(&x);
        $kernel::launch((1, x.len()), &on_device(&x), &mut device).unwrap();
        let device = on_host(&device);
        assert_eq!(device, host);
        device
    }};
}

macro_rules! vectors {
    ($($module:ident $ty:ident $number:ident $one:expr, $neg:tt;)*) => { $(
        mod $module {
            use super::*;

            #[kernel(fma = false)]
            fn operators(x: &[$ty], out: &mut [$ty]) {
                let i = grid::<1>();
                let (a, b) = (x[i], x[(i + 1) % x.len()]);
                let one = $one;
                let mut v = a * b - (a + b) / (b * b + one) + one;
                v += a;
                v -= one * a;
                v *= b;
                v *= one + one;
                v /= b * b + one;
                v.x = v.y + a.x;
                let $ty { y, .. } = a.min(b).max(-b).abs();
                v.y -= y;
                if v == a || -v != v && a.dot(b) > one {
                    v = $ty::splat(y) - v;
                }
                out[i] = v.mul_add(a, b);
            }

            #[test]
            fn agree_with_the_host() {
                let number = |at: usize| ((at * 7 % 11) as f32 - 4.5) as $number;
                both!(operators, (0..32).map(|at| {
                    let mut vector = $ty::splat(number(at));
                    vector.y = number(at + 1);
                    vector
                }).collect::<Vec<_>>());
            }
        }
    )* };
}

vectors! { on_f32x2 f32x2 f32 1.0, -; on_f32x3 f32x3 f32 1.0, -; on_f32x4 f32x4 f32 1.0, -; on_f64x2 f64x2 f64 1.0, -;
on_f64x3 f64x3 f64 1.0, -; }

macro_rules! pairs {
    ($($module:ident $ty:ident $number:ident;)*) => { $(
        mod $module {
            use super::*;

            #[kernel(fma = false)]
            fn operators(x: &[$ty], out: &mut [$ty]) {
                let i = grid::<1>();
                let (a, b) = (x[i], x[(i + 1) % x.len()]);
                let mut v = a * b - (a + b) / (b * b + $number::ONE) + $number::ONE;
                v += a.min(b) - b.max(a).abs();
                v *= $number::from_f32(0.5);
                v.x -= a.y;
                if -v == a || a.dot(b) > v.y {
                    v = $ty::new(v.y, v.x);
                }
                out[i] = v.mul_add(a, b);
            }

            #[test]
            fn agree_with_the_host() {
                let number = |at: usize| $number::from_f32((at * 7 % 11) as f32 * 0.3 - 1.5);
                both!(operators, (0..32).map(|at| $ty::new(number(at), number(at + 3))).collect::<Vec<_>>());
                for target in [(7, 5), (8, 0), (9, 0)] {
                    compiled::<operators>(target);
                }
            }
        }
    )* };
}

pairs! { on_f16x2 f16x2 f16; on_bf16x2 bf16x2 bf16; }

#[kernel]
fn integers(x: &[i32x4], out: &mut [i32x4]) {
    let i = grid::<1>();
    let v = x[i] * 3 - i32x4::new(1, 2, 3, 4) / 2;
    let [a, b, c, d] = v.to_array();
    out[i] = i32x4::max(-v, 2 * x[i]).min(i32x4 { w: a + b, ..i32x4::splat(c + d) });
    out[i] += 1;
}

#[test]
fn integers_divide_as_rust_does() {
    let out = both!(integers, (0..16).map(|at| i32x4::new(at, -at, at * at, 5)).collect::<Vec<_>>());
    assert_eq!(out[1], i32x4::new(3, 5, 3, 0));
}

#[kernel]
fn divides(x: &[i32x4], out: &mut [i32x4]) {
    out[0] = x[0] / x[1];
}

/// The message of the last kernel's panic.
fn panic() -> String {
    context().synchronize().unwrap_err().to_string()
}

#[test]
fn undefined_operations_panic() {
    if !super::in_child_process("language::vectors::undefined_operations_panic") {
        return;
    }
    let zero = on_device(&[i32x4::splat(1), i32x4::new(1, 1, 0, 1)]);
    let mut out = on_device(&[i32x4::splat(0)]);
    divides::launch((1, 1), &zero, &mut out).unwrap();
    let text = panic();
    assert!(text.contains("division by zero"), "{text}");
    let (x, mut out) = (on_device(&[0.0; 16]), on_device(&[0.0]));
    beside::launch((1, 1), &x, &mut out).unwrap();
    let text = panic();
    assert!(text.contains("the numbers do not begin at a multiple of 16 bytes, as vectors do"), "{text}");
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Body {
    position: f32x4,
    colour: u8x4,
    cell: u16x3,
    pad: [u16; 3],
    links: u32x2,
    _pad: [u32; 2],
}

#[kernel]
fn moves(speed: f32x3, bodies: &[Body], out: &mut [Body]) {
    let tile = shared!([f32x4; 32]);
    let (i, t) = (grid::<1>(), thread_idx().x);
    tile[t] = bodies[i].position;
    sync_threads();
    let mut body = bodies[i];
    let other = tile[(t + 1) % 32];
    body.position = f32x4::new(other.x + speed.x, other.y + speed.y, other.z + speed.z, 1.0);
    body.links.y = body.cell.z as u32 + body.colour.w as u32;
    out[i] = body;
}

#[test]
fn they_lie_in_structs_shared_memory_and_parameters() {
    let body = |at: usize| Body {
        position: f32x4::splat(at as f32),
        colour: u8x4::new(1, 2, 3, at as u8),
        cell: u16x3::new(4, 5, 6),
        pad: [9; 3],
        links: u32x2::new(7, 8),
        _pad: [0; 2],
    };
    let bodies: Vec<Body> = (0..32).map(body).collect();
    let mut out = on_device(&bodies);
    moves::launch((1, 32), f32x3::new(0.5, 1.5, 2.5), &on_device(&bodies), &mut out).unwrap();
    let expected = |at: usize| {
        let next = ((at + 1) % 32) as f32;
        let position = f32x4::new(next + 0.5, next + 1.5, next + 2.5, 1.0);
        Body { position, links: u32x2::new(7, 6 + at as u32), ..body(at) }
    };
    assert_eq!(on_host(&out), (0..32).map(expected).collect::<Vec<_>>());
}

#[kernel]
fn doubles(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let (x, rest) = as_vectors::<f32x4>(x);
    let (out, last) = as_vectors_mut::<f32x4>(out);
    if i < x.len() {
        out[i] = x[i] * 2.0;
    } else if i - x.len() < rest.len() {
        last[i - x.len()] = rest[i - x.len()] * 2.0;
    }
}

#[test]
fn slices_of_numbers_are_slices_of_vectors() {
    for len in [0, 3, 4, 7, 64, 101] {
        let x: Vec<f32> = (0..len).map(|at| at as f32).collect();
        let mut out = on_device(&vec![0.0; len]);
        doubles::launch((1, 64), &on_device(&x), &mut out).unwrap();
        assert_eq!(on_host(&out), x.iter().map(|x| x * 2.0).collect::<Vec<_>>());
    }
    let ptx = compiled::<doubles>((9, 0));
    assert!(ptx.contains("ld.global.nc.v4.b32") && ptx.contains("st.global.v4.b32"), "{ptx}");
}

#[repr(align(16))]
struct Aligned([f32; 6]);

#[test]
fn the_host_takes_slices_apart_too() {
    let mut x = Aligned([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(as_vectors::<f32x4>(&x.0), (&[f32x4::new(1.0, 2.0, 3.0, 4.0)][..], &[5.0, 6.0][..]));
    as_vectors_mut::<f32x2>(&mut x.0).0[2].x = 9.0;
    assert_eq!(x.0[4], 9.0);
}

#[test]
#[should_panic(expected = "the numbers do not begin at a multiple of 16 bytes, as vectors do")]
fn the_host_refuses_what_is_not_aligned() {
    as_vectors::<f32x4>(&Aligned([0.0; 6]).0[1..]);
}

#[kernel]
fn beside(x: &[f32], out: &mut [f32]) {
    let (vectors, _) = as_vectors::<f32x4>(&x[1..]);
    out[0] = vectors[0].x;
}

#[kernel]
fn copies<T: Element + cuda_jit::ElementType>(x: &[T], out: &mut [T]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i];
    }
}

#[test]
fn one_instruction_loads_a_vector() {
    for (ptx, load, store) in [
        (compiled::<copies<f32x4>>((9, 0)), "ld.global.nc.v4.b32", "st.global.v4.b32"),
        (compiled::<copies<f32x2>>((9, 0)), "ld.global.nc.v2.b32", "st.global.v2.b32"),
        (compiled::<copies<i64x2>>((9, 0)), "ld.global.nc.v2.b64", "st.global.v2.b64"),
        (compiled::<copies<i8x4>>((9, 0)), "ld.global.nc.b32", "st.global.b32"),
        (compiled::<copies<f16x2>>((9, 0)), "ld.global.nc.b32", "st.global.b32"),
    ] {
        assert!(ptx.contains(load) && ptx.contains(store), "{load} {store}: {ptx}");
        assert_eq!(ptx.matches("ld.global").count(), 1, "{ptx}");
    }
}

#[kernel]
fn fused(a: f16x2, x: &[f16x2], y: &mut [f16x2]) {
    let i = grid::<1>();
    if i < y.len() {
        y[i] = a * x[i] + y[i].max(x[i]);
    }
}

#[test]
fn pairs_are_computed_with_at_once() {
    let ptx = compiled::<fused>((8, 0));
    for instruction in ["ld.global.b32", "fma.rn.f16x2", "max.f16x2", "st.global.b32"] {
        assert!(ptx.contains(instruction), "{instruction}: {ptx}");
    }
    let (a, x) = (f16x2::new(f16::ONE, f16::NEG_ONE), [f16x2::splat(f16::ONE); 3]);
    let mut y = on_device(&x);
    fused::launch((1, 32), a, &on_device(&x), &mut y).unwrap();
    assert_eq!(on_host(&y), [f16x2::new(f16::from_f32(2.0), f16::ZERO); 3]);
}

/// CUDA's names are the same types, on both sides and within kernels.
#[kernel]
fn cuda_names(x: &[float4], by: int2, out: &mut [float4]) {
    let i = grid::<1>();
    if i < out.len() {
        let shift = float4::new(by.x as f32, by.y as f32, 0.0, 1.0);
        out[i] = x[i] + shift;
    }
}

#[test]
fn cuda_s_names_are_the_same_types() {
    let x = [f32x4::splat(1.0), f32x4::new(1.0, 2.0, 3.0, 4.0)];
    let mut out = on_device(&x);
    cuda_names::launch((1, 2), &on_device(&x), int2::new(10, -20), &mut out).unwrap();
    assert_eq!(on_host(&out), [f32x4::new(11.0, -19.0, 1.0, 2.0), f32x4::new(11.0, -18.0, 3.0, 5.0)]);
    let sizes =
        [size_of::<uchar4>(), size_of::<short2>(), size_of::<long2>(), size_of::<ulonglong4>(), size_of::<double3>()];
    assert_eq!(sizes, [4, 4, 16, 32, 24]);
}
