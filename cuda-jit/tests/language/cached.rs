//! Loads and stores with cache hints: the values are unchanged, and the instructions are the requested ones.

use super::halves::compiled;
use super::{differ, on_device, on_host};
use cuda_jit::device::{
    Cached, grid, ldca, ldcg, ldcs, ldcv, ldg, ldlu, shared, stcg, stcs, stwb, stwt, sync_threads, thread_idx,
};
use cuda_jit::{Num, bf16, bf16x2, f16, f16x2, f32x4, f64x4, i8x4, i64x2, i64x4, kernel, u16x2, u16x4, u32x2, u32x3};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

#[kernel]
fn moves<T: Num>(x: &[T], out: &mut [T]) {
    let i = grid::<1>();
    if i < x.len() {
        let at = i * 4;
        stwb(&mut out[at], ldca(&x[i]) + ldcg(&x[i]));
        stcg(&mut out[at + 1], ldcs(&x[i]) + ldg(&x[i]));
        let last = ldlu(&out[at]);
        stcs(&mut out[at + 2], last);
        let fresh = ldcv(&out[at + 2]) + ldg(&out[at + 1]);
        stwt(&mut out[at + 3], fresh);
    }
}

macro_rules! types {
    ($($name:ident $ty:ty, $make:expr;)*) => { $(
        #[test]
        fn $name() {
            let make: fn(i8) -> $ty = $make;
            let x: Vec<$ty> = (-10..10).map(make).collect();
            differ!(moves::<$ty>, (1, 32), [&x[..]], vec![make(0); x.len() * 4]);
            let ptx = compiled::<moves<$ty>>((7, 5));
            let width = if size_of::<$ty>() == 1 { 8 } else { size_of::<$ty>() * 8 };
            for word in ["ld.global.ca", "ld.global.cg", "st.global.wb", "ld.global.cs", "ld.global.nc", "st.global.cg",
                "ld.global.lu", "st.global.cs", "ld.global.cv", "st.global.wt"]
            {
                assert!(ptx.contains(&format!("{word}.b{width}")), "{word}.b{width}: {ptx}");
            }
        }
    )* };
}

types! {
    bytes i8, |v| v / 5;
    words u16, |v| v.unsigned_abs().into();
    integers i32, |v| v.into();
    longs u64, |v| v.unsigned_abs().into();
    floats f32, |v| v.into();
    doubles f64, |v| v.into();
    halves f16, |v| v.into();
    brains bf16, |v| v.into();
}

#[kernel]
fn places(x: ArrayView2<'_, f32>, mut out: ArrayViewMut2<'_, f32>) {
    let tile = shared!([f32; 16]);
    let (i, j) = grid::<2>();
    let t = thread_idx().x * 4 + thread_idx().y;
    stcs(&mut tile[t], ldcs(&x[[i, j]]));
    sync_threads();
    let mut local = ldcg(&tile[15 - t]);
    let one_more = ldcv(&local) + 1.0;
    stwt(&mut local, one_more);
    stcs(&mut out[[i, j]], local);
}

#[test]
fn other_memory_has_no_hints() {
    let x = Array2::from_shape_fn((4, 4), |(i, j)| (i * 4 + j) as f32);
    let device = cuda_mem::to_device(&super::context(), &x).unwrap();
    let mut out = cuda_mem::zeros::<f32, _>(&super::context(), (4, 4)).unwrap();
    places::launch((1, (4, 4)), &device, &mut out).unwrap();
    assert_eq!(out.copy_to_host().unwrap(), Array2::from_shape_fn((4, 4), |(i, j)| (16 - i * 4 - j) as f32));
    let ptx = compiled::<places>((9, 0));
    assert!(!ptx.contains("ld.shared.c") && ptx.contains("st.global.cs.b32"), "{ptx}");
}

#[kernel]
fn copies(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    stcs(&mut out[i], ldcs(&x[i]));
}

#[test]
fn indices_are_checked() {
    if !super::in_child_process("language::cached::indices_are_checked") {
        return;
    }
    let (x, mut out) = (on_device(&[1, 2, 3]), on_device(&[0; 4]));
    copies::launch((1, 4), &x, &mut out).unwrap();
    let panic = super::context().synchronize().unwrap_err().to_string();
    assert!(panic.contains("index out of bounds: the len is 3 but the index is 3"), "{panic}");
    assert_eq!(on_host(&out), [1, 2, 3, 0]);
}

#[kernel]
fn moves_vectors<V: Cached>(x: &[V], out: &mut [V]) {
    let i = grid::<1>();
    if i < x.len() {
        let at = i * 4;
        stwb(&mut out[at], ldca(&x[i]));
        stcg(&mut out[at + 1], ldcs(&x[i]));
        let last = ldlu(&out[at]);
        stcs(&mut out[at + 2], last);
        let fresh = ldcv(&out[at + 2]);
        stwt(&mut out[at + 3], fresh);
    }
}

/// Vectors, the instructions that transfer them, and their number.
macro_rules! vectors {
    ($($name:ident $ty:ident $number:ident $lanes:tt, $word:literal;)*) => { $(
        #[test]
        fn $name() {
            let number = |v: usize| if size_of::<$number>() == 1 { v % 100 } else { v };
            let x: Vec<$ty> = (0..20)
                .map(|v| {
                    let mut lane = 0;
                    let mut each = || {
                        lane += 1;
                        Number::of(number(v * 5 + lane))
                    };
                    vectors!(@make $ty $lanes each)
                })
                .collect();
            let mut out = on_device(&vec![$ty::default(); x.len() * 4]);
            moves_vectors::launch((1, 32), cuda_jit::launch::In(&x[..]), &mut out).unwrap();
            let out = on_host(&out);
            for (at, got) in out.iter().enumerate() {
                assert_eq!(*got, x[at / 4], "{at}");
            }
            let ptx = compiled::<moves_vectors<$ty>>((7, 5));
            for word in ["ld.global.ca", "st.global.wb", "ld.global.cs", "st.global.cg", "ld.global.lu", "st.global.cs",
                "ld.global.cv", "st.global.wt"]
            {
                let word = format!("{word}.{}", $word);
                let bytes = $word.rsplit('b').next().unwrap().parse::<usize>().unwrap() / 8
                    * match &$word[..2] { "v4" => 4, "v2" => 2, _ => 1 };
                assert_eq!(ptx.matches(&format!("{word} ")).count(), $lanes * size_of::<$number>() / bytes, "{word}: {ptx}");
            }
        }
    )* };
    (@make $ty:ident 2 $each:ident) => { $ty::new($each(), $each()) };
    (@make $ty:ident 3 $each:ident) => { $ty::new($each(), $each(), $each()) };
    (@make $ty:ident 4 $each:ident) => { $ty::new($each(), $each(), $each(), $each()) };
}

/// A number of any type.
trait Number {
    fn of(v: usize) -> Self;
}

macro_rules! numbers {
    ($($ty:ident $v:ident $make:expr;)*) => { $(
        impl Number for $ty {
            fn of($v: usize) -> Self { $make }
        }
    )* };
}

numbers! {
    i8 v v as i8; u16 v v as u16; u32 v v as u32; i64 v v as i64; f32 v v as f32; f64 v v as f64;
    f16 v f16::from_f32(v as f32); bf16 v bf16::from_f32(v as f32);
}

vectors! {
    four_bytes i8x4 i8 4, "v4.b8";
    two_words u16x2 u16 2, "v2.b16";
    four_words u16x4 u16 4, "v4.b16";
    three_integers u32x3 u32 3, "b32";
    two_integers u32x2 u32 2, "v2.b32";
    four_floats f32x4 f32 4, "v4.b32";
    two_longs i64x2 i64 2, "v2.b64";
    four_longs i64x4 i64 4, "v2.b64";
    four_doubles f64x4 f64 4, "v2.b64";
    pair_of_halves f16x2 f16 2, "b32";
    pair_of_brains bf16x2 bf16 2, "b32";
}

#[kernel]
fn through_the_read_only_cache(x: &[f32x4], out: &mut [f32x4]) {
    let tile = shared!([f32x4; 8]);
    let i = thread_idx().x;
    stcs(&mut tile[i], ldg(&x[i]) * 2.0);
    sync_threads();
    stcs(&mut out[i], ldcg(&tile[7 - i]));
}

#[test]
fn vectors_in_other_memory_have_no_hints() {
    let x: Vec<f32x4> = (0..8).map(|i| f32x4::new(i as f32, 0.5, -1.0, 7.0)).collect();
    let mut out = on_device(&vec![f32x4::default(); 8]);
    through_the_read_only_cache::launch((1, 8), cuda_jit::launch::In(&x[..]), &mut out).unwrap();
    let expected: Vec<f32x4> = x.iter().rev().map(|v| *v * 2.0).collect();
    assert_eq!(on_host(&out), expected);
    let ptx = compiled::<through_the_read_only_cache>((9, 0));
    assert!(ptx.contains("ld.global.nc.v4.b32") && ptx.contains("st.global.cs.v4.b32"), "{ptx}");
    assert!(!ptx.contains("ld.shared.c") && !ptx.contains("st.shared.c"), "{ptx}");
}
