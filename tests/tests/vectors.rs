//! The layout of short vectors is that of CUDA's, according to a C compiler.

use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

use cuda_prelude::*;

use crate::support::{combined_output, downloaded, skip};

/// The lines of the C program: name, size, alignment and offset of the last number.
macro_rules! layouts {
    ($($alias:ident $ty:ident $last:ident)*) => {
        [$(format!(
            "{} {} {} {}", stringify!($alias), size_of::<$ty>(), align_of::<$ty>(), offset_of!($ty, $last)
        )),*]
    };
}

#[test]
fn vectors_are_laid_out_as_in_c() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("vectors");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/vectors.c");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations", "-o"]).arg(&program);
    if let Some(toolkit) = downloaded("toolkit") {
        cc.arg("-isystem").arg(toolkit.join("targets/x86_64-linux/include"));
    }
    let Ok(output) = cc.arg(source).output() else {
        return skip("vectors_are_laid_out_as_in_c", "there is no C compiler");
    };
    assert!(output.status.success(), "{}", combined_output(&output));
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success(), "{}", combined_output(&output));
    let ours = layouts! {
        char2 i8x2 y char3 i8x3 z char4 i8x4 w
        uchar2 u8x2 y uchar3 u8x3 z uchar4 u8x4 w
        short2 i16x2 y short3 i16x3 z short4 i16x4 w
        ushort2 u16x2 y ushort3 u16x3 z ushort4 u16x4 w
        int2 i32x2 y int3 i32x3 z int4 i32x4 w
        uint2 u32x2 y uint3 u32x3 z uint4 u32x4 w
        longlong2 i64x2 y longlong3 i64x3 z longlong4 i64x4 w
        ulonglong2 u64x2 y ulonglong3 u64x3 z ulonglong4 u64x4 w
        float2 f32x2 y float3 f32x3 z float4 f32x4 w
        double2 f64x2 y double3 f64x3 z double4 f64x4 w
        half2 f16x2 y
    };
    assert_eq!(combined_output(&output).lines().collect::<Vec<_>>(), ours);
    assert_eq!([size_of::<bf16x2>(), align_of::<bf16x2>()], [size_of::<f16x2>(), align_of::<f16x2>()]);
}
