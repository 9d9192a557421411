//! Loads and stores with hints for the caches: the numbers are the same, the instructions those that were asked for.

use super::halves::compiled;
use super::{differ, on_device, on_host};
use cuda_jit::device::{
    grid, ldca, ldcg, ldcs, ldcv, ldg, ldlu, shared, stcg, stcs, stwb, stwt, sync_threads, thread_idx,
};
use cuda_jit::{Num, bf16, f16, kernel};
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
    if !crate::around::alone("language::cached::indices_are_checked") {
        return;
    }
    let (x, mut out) = (on_device(&[1, 2, 3]), on_device(&[0; 4]));
    copies::launch((1, 4), &x, &mut out).unwrap();
    let panic = super::context().synchronize().unwrap_err().to_string();
    assert!(panic.contains("index 3 is out of bounds of a slice of length 3"), "{panic}");
    assert_eq!(on_host(&out), [1, 2, 3, 0]);
}
