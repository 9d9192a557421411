//! The layout of structs in device memory: the size, alignment and field offsets of rustc, of compiled kernels and of a C compiler
//! must agree.

use std::fmt::Write as _;
use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

use cuda_jit::typeinfo::{Ty, ty_of};
use cuda_prelude::*;

use cuda_mem::ffi::{DLDataType, DLManagedTensor};
use cuda_mem::{Dlpack, Exchanged};

use crate::support::{combined_output, skip};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Bytes {
    a: u8,
    b: i8,
    c: [u8; 6],
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Falling {
    a: u64,
    b: i32,
    c: u16,
    d: u8,
    e: i8,
}

/// A struct with padding, which kernels can take as a value but not as an element.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Gaps {
    a: u8,
    b: u64,
    c: u8,
    d: f32,
    e: i16,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Halves {
    a: f16,
    b: bf16,
    c: f16x2,
    d: bf16x2,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Complexes {
    a: Complex32,
    b: Complex64,
    c: [Complex32; 3],
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Vectors {
    a: f32x4,
    b: f64x2,
    c: f32x2,
    d: u8x4,
    e: i16x2,
    f: f32x3,
    g: u8x3,
    h: u8,
    i: f64x4,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Misplaced {
    a: u8,
    b: f32x4,
    c: u8x3,
    d: f64x3,
    e: i8x2,
    f: f32x2,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Nested {
    a: Falling,
    b: [Bytes; 3],
    c: Halves,
    d: f32,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Arrays {
    a: [f32; 3],
    b: [[u16; 2]; 3],
    c: [u64; 2],
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Wide {
    a: i128,
    b: u64,
    c: i64,
    d: u128,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct WideGaps {
    a: u8,
    b: u128,
    c: u32,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Eighths {
    a: e4m3,
    b: e5m2,
    c: e8m0,
    d: u8,
    e: e4m3x2,
    f: e5m2x2,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C, align(32))]
struct Aligned {
    a: [f64; 3],
    b: f32,
    c: i32,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Sizes {
    a: usize,
    b: isize,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair<T> {
    a: T,
    b: T,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Row<T, const N: usize> {
    a: [T; N],
    b: T,
}

/// The layout of a struct in rustc and in compiled kernels.
struct Layout {
    /// Its name in C.
    name: &'static str,
    size: usize,
    align: usize,
    fields: Vec<(&'static str, usize)>,
    reported: Ty,
}

macro_rules! layouts {
    ($($ty:ty as $name:ident { $($field:ident)+ })+) => { vec![$(
        Layout {
            name: stringify!($name),
            size: size_of::<$ty>(),
            align: align_of::<$ty>(),
            fields: vec![$((stringify!($field), offset_of!($ty, $field))),+],
            reported: ty_of::<$ty>(),
        }
    ),+] };
}

fn layouts() -> Vec<Layout> {
    layouts! {
        Bytes as Bytes { a b c }
        Falling as Falling { a b c d e }
        Gaps as Gaps { a b c d e }
        Halves as Halves { a b c d }
        Complexes as Complexes { a b c }
        Vectors as Vectors { a b c d e f g h i }
        Misplaced as Misplaced { a b c d e f }
        Nested as Nested { a b c d }
        Arrays as Arrays { a b c }
        Wide as Wide { a b c d }
        WideGaps as WideGaps { a b c }
        Eighths as Eighths { a b c d e f }
        Aligned as Aligned { a b c }
        Sizes as Sizes { a b }
        Pair<f64> as PairOfDouble { a b }
        Pair<u8x4> as PairOfVectors { a b }
        Pair<[f16; 3]> as PairOfArrays { a b }
        Row<f32, 5> as Row5 { a b }
    }
}

/// The structs in C; vectors and floats that C lacks are defined as in CUDA's headers.
const STRUCTS: &str = r"
#include <complex.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ALIGNED(n) __attribute__((aligned(n)))
typedef struct ALIGNED(2) { unsigned short bits; } half;
typedef struct ALIGNED(4) { half x, y; } half2;
typedef struct { unsigned char bits; } fp8;
typedef struct ALIGNED(2) { fp8 x, y; } fp8x2;
typedef struct ALIGNED(16) { float x, y, z, w; } float4;
typedef struct ALIGNED(8) { float x, y; } float2;
typedef struct { float x, y, z; } float3;
typedef struct ALIGNED(16) { double x, y; } double2;
typedef struct { double x, y, z; } double3;
typedef struct ALIGNED(16) { double x, y, z, w; } double4;
typedef struct ALIGNED(2) { signed char x, y; } char2;
typedef struct { unsigned char x, y, z; } uchar3;
typedef struct ALIGNED(4) { unsigned char x, y, z, w; } uchar4;
typedef struct ALIGNED(4) { short x, y; } short2;

typedef struct { uint8_t a; int8_t b; uint8_t c[6]; } Bytes;
typedef struct { uint64_t a; int32_t b; uint16_t c; uint8_t d; int8_t e; } Falling;
typedef struct { uint8_t a; uint64_t b; uint8_t c; float d; int16_t e; } Gaps;
typedef struct { half a, b; half2 c, d; } Halves;
typedef struct { float complex a; double complex b; float complex c[3]; } Complexes;
typedef struct { float4 a; double2 b; float2 c; uchar4 d; short2 e; float3 f; uchar3 g; uint8_t h; double4 i; } Vectors;
typedef struct { uint8_t a; float4 b; uchar3 c; double3 d; char2 e; float2 f; } Misplaced;
typedef struct { Falling a; Bytes b[3]; Halves c; float d; } Nested;
typedef struct { float a[3]; uint16_t b[3][2]; uint64_t c[2]; } Arrays;
typedef struct { __int128 a; uint64_t b; int64_t c; unsigned __int128 d; } Wide;
typedef struct { uint8_t a; unsigned __int128 b; uint32_t c; } WideGaps;
typedef struct { fp8 a, b, c; uint8_t d; fp8x2 e, f; } Eighths;
typedef struct ALIGNED(32) { double a[3]; float b; int32_t c; } Aligned;
typedef struct { size_t a; ptrdiff_t b; } Sizes;
typedef struct { double a, b; } PairOfDouble;
typedef struct { uchar4 a, b; } PairOfVectors;
typedef struct { half a[3], b[3]; } PairOfArrays;
typedef struct { float a[5]; float b; } Row5;
";

/// A line for each struct: name, size, alignment and field offsets.
fn lines(layouts: &[Layout]) -> String {
    layouts.iter().fold(String::new(), |mut text, Layout { name, size, align, fields, .. }| {
        let _ = write!(text, "{name} {size} {align}");
        for (field, offset) in fields {
            let _ = write!(text, " {field} {offset}");
        }
        text + "\n"
    })
}

/// The C program that prints these lines.
fn program(layouts: &[Layout]) -> String {
    let prints = layouts.iter().fold(String::new(), |mut text, Layout { name, fields, .. }| {
        let _ = write!(text, "printf(\"{name} %zu %zu\", sizeof({name}), _Alignof({name}));");
        for (field, _) in fields {
            let _ = write!(text, " printf(\" {field} %zu\", offsetof({name}, {field}));");
        }
        text + " puts(\"\");\n"
    });
    format!("{STRUCTS}\nint main(void) {{\n{prints}return 0;\n}}\n")
}

/// Compiles and runs the C program, and returns its output; `None` without a C compiler.
fn asked_of_c(folder: &Path, source: &str) -> Option<String> {
    let (file, program) = (folder.join("layout.c"), folder.join("layout"));
    std::fs::write(&file, source).expect("the folder is new");
    let mut cc = Command::new("cc");
    let output = cc.args(["-std=c11", "-Wall", "-Werror", "-o"]).arg(&program).arg(&file).output().ok()?;
    assert!(output.status.success(), "{}", combined_output(&output));
    let output = Command::new(program).output().expect("it starts");
    assert!(output.status.success(), "{}", combined_output(&output));
    Some(String::from_utf8(output.stdout).expect("it prints names and numbers"))
}

#[test]
fn structs_have_the_layout_of_c() {
    let (folder, layouts) = (tempfile::tempdir().expect("a temporary folder"), layouts());
    let Some(in_c) = asked_of_c(folder.path(), &program(&layouts)) else {
        return skip("layout::structs_have_the_layout_of_c", "no C compiler");
    };
    assert_eq!(lines(&layouts), in_c);
}

#[test]
fn kernels_are_compiled_for_the_layout_of_rustc() {
    for Layout { name, size, align, fields, reported } in layouts() {
        let Ty::Struct(ty) = reported else { panic!("{name} is a struct") };
        let known: Vec<_> = ty.fields.iter().map(|field| (field.name, field.offset)).collect();
        assert_eq!((ty.size, ty.align, known), (size, align, fields), "{name}");
    }
}

/// Structs without padding can be elements in device memory.
#[test]
fn structs_without_gaps_are_elements() {
    fn bytes<T: Element>() -> usize {
        size_of::<T>()
    }
    let small = [bytes::<Bytes>(), bytes::<Falling>(), bytes::<Halves>(), bytes::<Complexes>(), bytes::<Vectors>()];
    assert_eq!(small, [8, 16, 12, 48, 96]);
    let more = [bytes::<Nested>(), bytes::<Arrays>(), bytes::<Wide>(), bytes::<Eighths>(), bytes::<Aligned>()];
    assert_eq!(more, [56, 40, 48, 8, 32]);
    assert_eq!([bytes::<Sizes>(), bytes::<Pair<f64>>(), bytes::<Row<f32, 5>>()], [16, 16, 24]);
}

/// The two protocols' names of an element type: DLPack's code, bits and lanes, and NumPy's type string, or the error if it has none.
fn names<T: Exchanged>() -> ((u8, u8, u16), Result<String>) {
    let stream = default_stream().expect("a device");
    let make = || cuda_prelude::zeros::<T, _>(1).expect("room for one element");
    let shared: Dlpack<DLManagedTensor> = make().into_dlpack(&stream).expect("nothing else uses it");
    let DLDataType { code, bits, lanes } = shared.get().dl_tensor.dtype;
    ((code, bits, lanes), make().cuda_array_interface(&stream).map(|interface| interface.typestr).map_err(Error::from))
}

#[test]
fn element_types_have_the_names_of_the_protocols() {
    fn both<T: Exchanged>(dlpack: (u8, u8, u16), typestr: &str) {
        let (found, name) = names::<T>();
        assert_eq!((found, name.expect("it has a type string").as_str()), (dlpack, typestr));
    }
    fn dlpack_alone<T: Exchanged>(dlpack: (u8, u8, u16)) {
        let (found, name) = names::<T>();
        let text = format!("NumPy has no type string for `{}`; ", std::any::type_name::<T>());
        let error = name.expect_err("it has no type string").to_string();
        assert!(found == dlpack && error.starts_with(&text), "{found:?} {error}");
    }
    both::<i8>((0, 8, 1), "|i1");
    both::<i16>((0, 16, 1), "<i2");
    both::<i32>((0, 32, 1), "<i4");
    both::<i64>((0, 64, 1), "<i8");
    both::<isize>((0, 64, 1), "<i8");
    both::<u8>((1, 8, 1), "|u1");
    both::<u16>((1, 16, 1), "<u2");
    both::<u32>((1, 32, 1), "<u4");
    both::<u64>((1, 64, 1), "<u8");
    both::<usize>((1, 64, 1), "<u8");
    both::<f16>((2, 16, 1), "<f2");
    both::<f32>((2, 32, 1), "<f4");
    both::<f64>((2, 64, 1), "<f8");
    both::<Complex32>((5, 64, 1), "<c8");
    both::<Complex64>((5, 128, 1), "<c16");
    dlpack_alone::<i128>((0, 128, 1));
    dlpack_alone::<u128>((1, 128, 1));
    dlpack_alone::<bf16>((4, 16, 1));
    dlpack_alone::<e4m3>((10, 8, 1));
    dlpack_alone::<e5m2>((12, 8, 1));
    dlpack_alone::<e8m0>((14, 8, 1));
    dlpack_alone::<e5m2x2>((12, 8, 2));
    dlpack_alone::<f32x4>((2, 32, 4));
    dlpack_alone::<f64x3>((2, 64, 3));
    dlpack_alone::<u8x2>((1, 8, 2));
    dlpack_alone::<bf16x2>((4, 16, 2));
}
