//! Exported device functions: their C signatures, and those that are refused. `tests/cuda_cpp.rs` calls them.

use cuda_jit::device::{shared, thread_idx};
use cuda_jit::export::ExportedFunction;
use cuda_jit::{Constant, DeviceType, bf16, device, f16};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair {
    low: u8,
    high: f64,
}

/// rustc moves the larger field to the front.
#[derive(Clone, Copy, DeviceType)]
struct Turned {
    low: u8,
    high: f64,
    last: u8,
}

#[derive(Clone, Copy, PartialEq, DeviceType)]
#[repr(u16)]
enum Kind {
    First = 1,
    Second = 2,
}

#[device]
fn mixed(pair: Pair, half: f16, kind: Kind, scale: &f32, out: &mut [u64; 3], flag: bool) -> Pair {
    if flag && kind == Kind::Second {
        out[2] = pair.low as u64;
    }
    Pair { low: pair.low + 1, high: pair.high * *scale as f64 + half.to_f32() as f64 }
}

#[device]
fn brain(x: bf16) -> bf16 {
    x + x
}

#[device]
fn nothing() {}

#[device]
fn tile(x: u32) -> u32 {
    let tile = shared!([u32; 32]);
    tile[thread_idx().x] = x;
    tile[31]
}

#[test]
fn declarations_say_what_c_passes() {
    let function = ExportedFunction::compile::<mixed>((9, 0)).unwrap();
    assert_eq!(
        function.declaration(),
        "struct alignas(8) Pair {\n    unsigned char low;\n    double high;\n};\n\
         extern \"C\" __device__ Pair mixed(Pair pair, __half half, unsigned short kind, const float *scale, \
         unsigned long long *out, bool flag);\n"
    );
    let head = "\
.visible .func  (.param .align 8 .b8 func_retval0[16]) mixed(
	.param .align 8 .b8 mixed_param_0[16],
	.param .align 2 .b8 mixed_param_1[2],
	.param .b32 mixed_param_2,
	.param .b64 mixed_param_3,
	.param .b64 mixed_param_4,
	.param .b32 mixed_param_5
)
";
    assert!(function.ptx().contains(head), "{}", function.ptx());
    assert!(!function.ptx().contains(".entry"), "{}", function.ptx());
    assert_eq!(function.name(), "mixed");
    assert_eq!(function.target().to_string(), "sm_90");
    let text = function.kir().to_string();
    assert!(text.contains("exported\n") && text.contains("returned"), "{text}");
    assert_eq!(cuda_jit::kir::text::parse(&text).unwrap(), *function.kir());
    let built = function.llvm_before_passes().unwrap();
    assert!(built.contains("byval") && built.contains("i16 zeroext") && built.contains("i8 zeroext"), "{built}");
    assert!(!function.llvm().unwrap().contains("alloca"), "{}", function.llvm().unwrap());
    assert!(!function.ptx().contains("__local_depot"), "it is not optimised:\n{}", function.ptx());
    let text = ExportedFunction::compile::<brain>((9, 0)).unwrap().declaration();
    assert_eq!(text, "extern \"C\" __device__ __nv_bfloat16 brain(__nv_bfloat16 x);\n");
    let function = ExportedFunction::compile_as::<nothing>("nothing_at_all", "7.5").unwrap();
    assert_eq!(function.declaration(), "extern \"C\" __device__ void nothing_at_all();\n");
    assert!(function.ptx().contains(".visible .func nothing_at_all()"), "{}", function.ptx());
}

#[test]
fn panics_are_traps_and_shared_memory_is_fixed() {
    let ptx = tile::compile_ptx((9, 0)).unwrap();
    assert!(ptx.contains("trap;") && !ptx.contains("cas.b32") && ptx.contains(".shared"), "{ptx}");
}

static COUNT: Constant<u32> = Constant::new(3);

#[device]
fn counted() -> u32 {
    COUNT.get()
}

#[device]
fn slice(x: &[f32]) -> f32 {
    x[0]
}

#[device]
fn tuple() -> (f32, f32) {
    (1.0, 2.0)
}

#[device]
fn layout(x: Turned) -> f64 {
    x.high + x.low as f64 + x.last as f64
}

#[device]
fn to_slice(x: &&[f32]) -> f32 {
    x[0]
}

#[device]
fn large(x: u8) -> u8 {
    let tile = shared!([u8; 60000]);
    tile[0] = x;
    tile[1]
}

#[test]
fn types_without_a_c_form_are_refused() {
    let message = |result: cuda_jit::Result<String>| result.unwrap_err().to_string();
    let hint = "; C has numbers, `#[repr(C)]` structs, and pointers to these; write a reference for a pointer";
    let refused = |found: String, why: &str| {
        assert!(found.contains("tests/language/exports.rs") && found.ends_with(why), "{found}");
    };
    let why = |of: &str| format!("it cannot be called from C: {of}");
    refused(message(slice::compile_ptx((9, 0))), &why(&format!("`x` is `&[f32]`{hint}")));
    refused(message(tuple::compile_ptx((9, 0))), &why(&format!("its result is `(f32, f32)`{hint}")));
    refused(message(layout::compile_ptx((9, 0))), &why(&format!("`x` is `Turned`{hint}")));
    refused(message(to_slice::compile_ptx((9, 0))), &why(&format!("`x` is `&&[f32]`{hint}")));
    refused(message(counted::compile_ptx((9, 0))), &why("it reads a `Constant`, which only a launch fills"));
    refused(
        message(large::compile_ptx((9, 0))),
        &why("its shared memory exceeds 48 KiB, and only a launch provides more"),
    );
    let named = |name| message(ExportedFunction::compile_as::<nothing>(name, (9, 0)).map(|_| String::new()));
    for name in ["", "1a", "a b", "é", "vprintf", "_"] {
        refused(named(name), &why(&format!("`{name}` is no name in C and PTX")));
    }
    assert!(matches!(nothing::compile_ptx((1, 0)), Err(cuda_jit::Error::Target(_))));
}
