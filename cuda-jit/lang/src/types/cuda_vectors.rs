//! Short vectors under CUDA's names.
//!
//! `float4` is [`f32x4`], and so on; `long2` and the other `long` vectors have 64-bit elements, as on Linux. They are
//! aliases, not separate types.
//!
//! # Examples
//!
//! ```
//! use cuda_jit::{cuda_vectors::float4, device::grid, f32x4, kernel};
//!
//! #[kernel]
//! fn translate(points: &mut [float4], by: float4) {
//!     let i = grid::<1>();
//!     if i < points.len() {
//!         points[i] += float4::new(by.x, by.y, by.z, 0.0);
//!     }
//! }
//!
//! let mut points = [f32x4::splat(1.0)];
//! cuda_jit::host::for_each_thread((1, 1), || translate(&mut points, float4::new(1.0, 2.0, 3.0, 4.0)));
//! assert_eq!(points, [f32x4::new(2.0, 3.0, 4.0, 1.0)]);
//! ```
#![expect(non_camel_case_types, reason = "CUDA's names")]

use super::vector::*;

macro_rules! names {
    ($($name:ident $vector:ident $text:literal;)*) => { $(
        #[doc = $text]
        pub type $name = $vector;
    )* };
}

names! {
    char2 i8x2 "[`i8x2`]";
    char3 i8x3 "[`i8x3`]";
    char4 i8x4 "[`i8x4`]";
    uchar2 u8x2 "[`u8x2`]";
    uchar3 u8x3 "[`u8x3`]";
    uchar4 u8x4 "[`u8x4`]";
    short2 i16x2 "[`i16x2`]";
    short3 i16x3 "[`i16x3`]";
    short4 i16x4 "[`i16x4`]";
    ushort2 u16x2 "[`u16x2`]";
    ushort3 u16x3 "[`u16x3`]";
    ushort4 u16x4 "[`u16x4`]";
    int2 i32x2 "[`i32x2`]";
    int3 i32x3 "[`i32x3`]";
    int4 i32x4 "[`i32x4`]";
    uint2 u32x2 "[`u32x2`]";
    uint3 u32x3 "[`u32x3`]";
    uint4 u32x4 "[`u32x4`]";
    long2 i64x2 "[`i64x2`]";
    long3 i64x3 "[`i64x3`]";
    long4 i64x4 "[`i64x4`]";
    ulong2 u64x2 "[`u64x2`]";
    ulong3 u64x3 "[`u64x3`]";
    ulong4 u64x4 "[`u64x4`]";
    longlong2 i64x2 "[`i64x2`]";
    longlong3 i64x3 "[`i64x3`]";
    longlong4 i64x4 "[`i64x4`]";
    ulonglong2 u64x2 "[`u64x2`]";
    ulonglong3 u64x3 "[`u64x3`]";
    ulonglong4 u64x4 "[`u64x4`]";
    float2 f32x2 "[`f32x2`]";
    float3 f32x3 "[`f32x3`]";
    float4 f32x4 "[`f32x4`]";
    double2 f64x2 "[`f64x2`]";
    double3 f64x3 "[`f64x3`]";
    double4 f64x4 "[`f64x4`]";
}
