//! Tests of each operation's lowering, compiled for the host's processor and executed: the same lowering with another
//! code generator. The PTX itself is checked by the file tests.
//! # Safety
//!
//! One test calls functions that LLVM's engine compiled from modules made here, by the signature that
//! `function::declare` gives every function.

use cuda_llvm::inkwell;
use inkwell::OptimizationLevel;
use inkwell::context::Context;

use super::function::lower_module;
use super::{EmitError, LaunchBounds, Options, emit};
use crate::kir::build::FunctionBuilder;
use crate::kir::{
    Access, BinaryOp, CompareOp, Const, Module, Op, Param, Pointee, Role, Scalar, Space, Terminator, Type, UnaryOp,
    Value, text,
};
use crate::target::Target;
use crate::valid::verify;

mod reference;

/// An operation on scalars: its operand types, the operation, its result type.
type Case = (Vec<Scalar>, Op, Scalar);

const UNARY: [UnaryOp; 13] = [
    UnaryOp::Neg,
    UnaryOp::Not,
    UnaryOp::Abs,
    UnaryOp::Sqrt,
    UnaryOp::Floor,
    UnaryOp::Ceil,
    UnaryOp::Trunc,
    UnaryOp::RoundTiesEven,
    UnaryOp::CountOnes,
    UnaryOp::LeadingZeros,
    UnaryOp::TrailingZeros,
    UnaryOp::ReverseBits,
    UnaryOp::SwapBytes,
];
const BINARY: [BinaryOp; 13] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::Min,
    BinaryOp::Max,
    BinaryOp::CopySign,
];
const COMPARE: [CompareOp; 6] =
    [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge];

/// Every valid operation, except on 16-bit floats and 128-bit integers, which the host's processor lacks and the kernel
/// tests run. Operand `n` is value `first_operand + n` of [`function`].
fn cases() -> Vec<Case> {
    let [a, b, c] = [0, 1, 2].map(operand);
    let mut cases: Vec<Case> = Vec::new();
    let own = |ty: &Scalar| !ty.is_half() && !ty.is_pair() && ty.bits() <= 64;
    let all = || Scalar::ALL.into_iter().filter(own);
    for ty in all() {
        cases.extend(UNARY.map(|op| (vec![ty], Op::Unary(op, a), ty)));
        cases.extend(BINARY.map(|op| (vec![ty; 2], Op::Binary(op, a, b), ty)));
        cases.extend(BINARY.map(|op| (vec![ty; 2], Op::Overflows(op, a, b), Scalar::Bool)));
        cases.extend(COMPARE.map(|op| (vec![ty; 2], Op::Compare(op, a, b), Scalar::Bool)));
        cases.extend(all().map(|to| (vec![ty], Op::Cast(a, to), to)));
        cases.extend(all().map(|to| (vec![ty], Op::Bitcast(a, to), to)));
        cases.push((vec![ty; 3], Op::Fma(a, b, c), ty));
        cases.push((vec![Scalar::Bool, ty, ty], Op::Select(a, b, c), ty));
    }
    cases.retain(|case| verify(&module(std::slice::from_ref(case))).is_ok());
    cases
}

/// The value of operand `n`: after the two parameters, each operand is three values: its index, its address as a byte
/// offset from the parameter, and the loaded value.
fn operand(n: u32) -> Value {
    Value(4 + 3 * n)
}

/// A module with one device function per case, which loads its operands from the first pointer and stores the result
/// through the second.
fn module(cases: &[Case]) -> Module {
    let mut kernel = FunctionBuilder::new("k", Vec::new(), None);
    kernel.end(Terminator::Return(None));
    let mut functions = vec![kernel.finish()];
    for (index, (operands, op, yields)) in cases.iter().enumerate() {
        let param = |name: &str, scalar| Param {
            name: name.to_owned(),
            ty: Type::Ptr(Space::Global, Pointee::Scalar(scalar)),
            access: Access::ReadWrite,
            role: Role::Plain,
        };
        // The operands have one type, except for a select's condition, which is therefore passed as a parameter.
        let element = *operands.last().unwrap();
        let params = vec![param("in", element), param("out", *yields)];
        let mut b = FunctionBuilder::new(format!("case_{index}"), params, None);
        for n in 0..operands.len() {
            let count = b.constant(Scalar::U64, n as u128);
            let pointer = b.value(Op::Offset(b.param(0), count), Type::Ptr(Space::Global, element.into()));
            b.value(Op::Load(pointer), element);
        }
        let mut op = op.clone();
        if let Op::Select(..) = op {
            op = select(&mut b, element);
        }
        let result = b.value(op, *yields);
        b.effect(Op::Store(b.param(1), result));
        b.end(Terminator::Return(None));
        functions.push(b.finish());
    }
    Module {
        contract: false,
        exported: false,
        functions,
        sites: Vec::new(),
        shared: Vec::new(),
        constants: Vec::new(),
        types: Vec::new(),
    }
}

/// Selects by whether the first operand is not zero, since it is loaded as the type of the others.
fn select(b: &mut FunctionBuilder, element: Scalar) -> Op {
    let zero = b.value(Op::Const(Const { ty: element, bits: 0 }), element);
    let condition = b.value(Op::Compare(CompareOp::Ne, operand(0), zero), Scalar::Bool);
    Op::Select(condition, operand(1), operand(2))
}

/// Boundary values of a type.
fn interesting(ty: Scalar) -> Vec<u64> {
    let mask = ty.mask() as u64;
    let f32s = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 127.5, 255.5, 1e-45, 1.17e-38, 1e10, 3e9, 9.3e18, 1.9e19, f32::MAX];
    let f64s = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 127.5, 65535.5, 5e-324, 2.2e-308, 1e10, 3e9, 9.3e18, 1.9e19, f64::MAX];
    match ty {
        Scalar::Bool => vec![0, 1],
        Scalar::F32 => f32s
            .into_iter()
            .chain([f32::INFINITY, f32::NAN, 16_777_219.0])
            .flat_map(|x: f32| [x.to_bits().into(), (-x).to_bits().into()])
            .collect(),
        Scalar::F64 => f64s
            .into_iter()
            .chain([f64::INFINITY, f64::NAN, 9_007_199_254_740_993.0])
            .flat_map(|x: f64| [x.to_bits(), (-x).to_bits()])
            .collect(),
        _ => {
            let top = 1 << (ty.bits() - 1);
            [0, 1, 2, 3, 7, 9, 64, 100, top - 1, top, top + 1, mask - 1, mask, 0x0123_4567_89ab_cdef & mask].into()
        }
    }
}

// LLVM's engine resolves functions of the C library in the process; using one links them all.
#[link(name = "m")]
unsafe extern "C" {
    fn floor(x: f64) -> f64;
}

#[test]
fn operations_mean_what_rust_means() {
    let cases = cases();
    let kir = module(&cases);
    verify(&kir).unwrap();
    cuda_llvm::initialize().unwrap();
    let context = Context::create();
    let llvm = context.create_module("host");
    lower_module(&context, &llvm, &kir, &Target::default(), &Options::default()).unwrap();
    for function in llvm.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        function.set_call_conventions(0);
        if function.get_name().to_string_lossy().starts_with("case_") {
            function.set_linkage(inkwell::module::Linkage::External);
        }
    }
    std::hint::black_box(floor as *const ());
    let engine = llvm.create_jit_execution_engine(OptimizationLevel::Default).unwrap();
    let mut compared = 0;
    for (index, case) in cases.iter().enumerate() {
        let address = engine.get_function_address(&format!("case_{index}")).unwrap();
        type Lowered = unsafe extern "C" fn(*const u8, *mut u8, *mut u8, u32);
        // SAFETY: the engine compiled this function, whose parameters are two pointers and the two that every
        // function has beyond KIR's; the engine outlives every call.
        let run = unsafe { std::mem::transmute::<usize, Lowered>(address) };
        let element = *case.0.last().unwrap();
        for operands in combinations(&interesting(element), case.0.len()) {
            let Some(expected) = reference::evaluate(case, element, &operands) else { continue };
            let bytes = element.bytes() as usize;
            let mut memory = [0; 24];
            for (n, operand) in operands.iter().enumerate() {
                memory[n * bytes..][..bytes].copy_from_slice(&operand.to_le_bytes()[..bytes]);
            }
            let mut result = [0; 8];
            // SAFETY: the function reads at most three elements of eight bytes from the first pointer, writes one
            // to the second, and, holding no panic, does not use the third.
            unsafe { run(memory.as_ptr(), result.as_mut_ptr(), std::ptr::null_mut(), 0) };
            let got = u64::from_le_bytes(result);
            let same = got == expected || (is_nan(case.2, got) && is_nan(case.2, expected));
            assert!(same, "{:?} of {element} {operands:x?} is {got:#x}, not {expected:#x}", case.1);
            compared += 1;
        }
    }
    assert!(compared > 50_000, "only {compared} results were compared");
}

fn is_nan(ty: Scalar, bits: u64) -> bool {
    match ty {
        Scalar::F32 => f32::from_bits(bits as u32).is_nan(),
        Scalar::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

fn combinations(values: &[u64], count: usize) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        let longer =
            |one: &Vec<u64>| values.iter().map(|&value| [one.as_slice(), &[value]].concat()).collect::<Vec<_>>();
        all = all.iter().flat_map(longer).collect();
    }
    all
}

const TRIVIAL: &str = "kir 1 kernel f() { b0: return }";

fn with(options: Options, target: (u32, u32)) -> Result<String, EmitError> {
    emit(&text::parse(TRIVIAL).unwrap(), &Target::new(target).unwrap(), &options).map(|output| output.ptx)
}

#[test]
fn bounds_become_directives() {
    let bounds = LaunchBounds { max_threads: 256, min_blocks: Some(2), max_cluster: Some(4) };
    let options = Options { max_registers: Some(40), launch_bounds: Some(bounds), ..Options::default() };
    let ptx = with(options, (9, 0)).unwrap();
    for directive in [".maxntid 256", ".minnctapersm 2", ".maxnreg 40", ".maxclusterrank 4"] {
        assert!(ptx.contains(directive), "{directive} in\n{ptx}");
    }
}

#[test]
fn options_out_of_range_are_named() {
    let bounds = LaunchBounds { max_threads: 1025, min_blocks: None, max_cluster: None };
    let cases = [
        (Options { opt_level: 4, ..Options::default() }, "`opt_level` is 4; it must be 0 to 3"),
        (Options { max_registers: Some(0), ..Options::default() }, "`max_registers` is 0; it must be 1 to 255"),
        (
            Options { launch_bounds: Some(bounds), ..Options::default() },
            "`launch_bounds.max_threads` is 1025; it must be 1 to 1024",
        ),
        (
            Options {
                launch_bounds: Some(LaunchBounds { max_threads: 1, max_cluster: Some(2), ..bounds }),
                ..Options::default()
            },
            "launch_bounds.max_cluster needs sm_90 or newer, and the target is sm_75",
        ),
    ];
    for (options, expected) in cases {
        assert_eq!(with(options, (7, 5)).unwrap_err().to_string(), expected);
    }
}

#[test]
fn numbers_of_16_bits_are_negated_by_products() {
    for op in ["neg", "abs"] {
        let body = format!("v2: i16 = {op} v0 v3: i32 = cast v2 to i32 store v1, v3 return");
        let text = format!("kir 1 kernel f(v0 x: i16, v1 out: ptr global i32 readwrite) {{ b0: {body} }}");
        let module = text::parse(&text).unwrap();
        for opt_level in 0..=3 {
            let options = Options { opt_level, ..Options::default() };
            let ptx = emit(&module, &Target::default(), &options).unwrap().ptx;
            let wrong = ["neg.s16", "abs.s16"].iter().any(|inst| ptx.contains(inst));
            assert!(!wrong && ptx.contains("mul.lo.s16"), "{ptx}");
        }
    }
}

#[test]
fn llvm_ir_is_kept_on_demand() {
    let module = text::parse("kir 1 kernel f() { slot s0 a: u8 b0: v0: u8 = get s0 return }").unwrap();
    let emitted = |keep_llvm_ir| {
        let options = Options { keep_llvm_ir, ..Options::default() };
        emit(&module, &Target::default(), &options).unwrap().llvm_ir
    };
    assert_eq!(emitted(false), None);
    let super::LlvmIr { built, optimized } = emitted(true).unwrap();
    assert!(built.contains("define ptx_kernel void @f(") && optimized.contains("define ptx_kernel void @f("));
    assert_ne!(built, optimized);
}

#[test]
fn invalid_modules_do_not_reach_llvm() {
    let module = text::parse("kir 1 kernel f() { b0: jump b7 }").unwrap();
    let error = emit(&module, &Target::default(), &Options::default()).unwrap_err();
    assert!(matches!(error, EmitError::Invalid(_)), "{error}");
}

/// LLVM's list of processors, which it prints to standard error for the processor `help`; the test therefore reads it
/// from a child process.
#[test]
fn the_supported_targets_are_those_of_llvm() {
    const ASK: &str = "KIR_TEST_ASKS_LLVM";
    if std::env::var_os(ASK).is_some() {
        cuda_llvm::initialize().unwrap();
        let triple = inkwell::targets::TargetTriple::create("nvptx64-nvidia-cuda");
        let llvm = inkwell::targets::Target::from_triple(&triple).unwrap();
        let (reloc, model) = (inkwell::targets::RelocMode::Default, inkwell::targets::CodeModel::Default);
        llvm.create_target_machine(&triple, "help", "", OptimizationLevel::None, reloc, model);
        return;
    }
    let this = "back::llvm::tests::the_supported_targets_are_those_of_llvm";
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", this, "--nocapture", "--test-threads=1"])
        .env(ASK, "1")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    let names = printed.lines().filter_map(|line| line.split_once(" - Select the ")).map(|(name, _)| name.trim());
    let mut known: Vec<&str> = names.filter(|name| name.len() > 5 || *name >= "sm_50").collect();
    let ours: Vec<String> = Target::all().map(|target| target.to_string()).collect();
    let mut supported: Vec<&str> = ours.iter().map(String::as_str).collect();
    known.sort_unstable();
    known.dedup();
    supported.sort_unstable();
    assert_eq!(known, supported, "{printed}");
}
