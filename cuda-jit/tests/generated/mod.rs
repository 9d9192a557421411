//! Properties of KIR over generated modules: the text form round-trips, valid modules compile, and every operation on
//! every type that the verifier accepts becomes self-contained PTX.

use crate::support::generate::{self, AXES, BINARY, COMPARE, UNARY};
use crate::support::{assert_self_contained, keep, ptx, target};
use cuda_jit::back::llvm::{EmitError, Options, emit};
use cuda_jit::kir::build::FunctionBuilder;
use cuda_jit::kir::{
    Access, BinaryOp, Const, Float8, Function, Lane, Module, Op, Param, Role, Scalar, Space, Special, Terminator, Type,
    Value, text,
};
use cuda_jit::target::Target;
use cuda_jit::valid::verify;

const O0: Options = Options {
    opt_level: 0,
    fast_math: false,
    max_registers: None,
    launch_bounds: None,
    cluster: None,
    debug: false,
    keep_llvm_ir: false,
};

#[test]
fn generated_modules_verify_and_round_trip() {
    for seed in 0..2000 {
        let module = generate::module(seed);
        verify(&module).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{module}"));
        let text = module.to_string();
        let read = text::parse(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert_eq!(read, module, "seed {seed}\n{text}");
    }
}

/// The modules that are compiled.
const COMPILED: std::ops::Range<u64> = 0..160;

fn kinds(module: &Module) -> impl Iterator<Item = &'static str> {
    let blocks = module.functions.iter().flat_map(|function| &function.blocks);
    blocks.flat_map(|block| &block.insts).map(|inst| generate::kind(&inst.op))
}

#[test]
fn every_operation_is_made() {
    let mut made: Vec<&str> = COMPILED.flat_map(|seed| kinds(&generate::module(seed)).collect::<Vec<_>>()).collect();
    made.sort_unstable();
    made.dedup();
    let never: Vec<&&str> = generate::KINDS.iter().filter(|kind| !made.contains(kind)).collect();
    assert!(never.is_empty(), "no module has {never:?}");
}

#[test]
fn valid_modules_compile_at_every_level() {
    let (mut compiled, mut without) = (0, 0);
    for seed in COMPILED {
        let module = generate::module(seed);
        for opt_level in [0, 3] {
            let options = Options { opt_level, fast_math: seed % 5 == 0, debug: seed % 3 == 0, ..Options::default() };
            let name = format!("generated_{seed}_o{opt_level}");
            let mut target = target(["sm_75", "sm_90", "sm_120"][seed as usize % 3]);
            let mut emitted = emit(&module, &target, &options);
            if let Err(EmitError::TooOld { needs, .. }) = emitted {
                target = Target::new(needs).expect("it is a target");
                emitted = emit(&module, &target, &options);
            }
            match emitted {
                Ok(emitted) => {
                    keep(&name, &target, &emitted.ptx);
                    assert_self_contained(&name, &emitted.ptx);
                    compiled += 1;
                }
                Err(EmitError::NoLibdevice(_)) => without += 1,
                Err(error) => panic!("{name}: {error}\n{module}"),
            }
        }
    }
    assert!(compiled > without, "{without} modules call libdevice, which is not there");
}

/// A damaged module is refused or compiles; it never panics.
#[test]
fn damaged_modules_never_panic() {
    let mut refused = 0;
    for seed in 0..2000 {
        let text = generate::module(seed).to_string();
        let mut random = generate::Random(seed);
        let words: Vec<&str> = text.split(' ').collect();
        let (from, to) = (random.next() as usize % words.len(), random.next() as usize % words.len());
        let mut damaged = words.clone();
        damaged[to] = words[from];
        let Ok(module) = text::parse(&damaged.join(" ")) else { continue };
        match emit(&module, &Target::default(), &O0) {
            Ok(_) | Err(EmitError::TooOld { .. } | EmitError::NoLibdevice(_)) => {}
            Err(EmitError::Invalid(_)) => refused += 1,
            Err(error) => panic!("seed {seed}: {error}\n{module}"),
        }
    }
    assert!(refused > 20, "only {refused} modules were refused");
}

/// Every operation whose first operand has type `ty`, with suitable operands: their types, the operation, and its
/// result type.
type Candidate = (Vec<Scalar>, Box<dyn Fn(&[Value]) -> Op>, Scalar);

fn candidates(ty: Scalar) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = Vec::new();
    for op in UNARY {
        all.push((vec![ty], Box::new(move |v| Op::Unary(op, v[0])), ty));
    }
    for op in BINARY {
        all.push((vec![ty; 2], Box::new(move |v| Op::Binary(op, v[0], v[1])), ty));
    }
    for op in [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul] {
        all.push((vec![ty; 2], Box::new(move |v| Op::Overflows(op, v[0], v[1])), Scalar::Bool));
    }
    for op in COMPARE {
        all.push((vec![ty; 2], Box::new(move |v| Op::Compare(op, v[0], v[1])), Scalar::Bool));
    }
    all.push((vec![ty; 2], Box::new(|v| Op::Pair(v[0], v[1])), ty.pair().unwrap_or(ty)));
    for lane in [Lane::Low, Lane::High] {
        all.push((vec![ty], Box::new(move |v| Op::Lane(v[0], lane)), ty.lane().unwrap_or(ty)));
    }
    for float in [Float8::E4m3, Float8::E5m2] {
        all.push((vec![ty; 2], Box::new(move |v| Op::Narrow(float, v[0], v[1])), Scalar::U16));
        all.push((vec![ty], Box::new(move |v| Op::Widen(float, v[0])), Scalar::F16x2));
    }
    all.push((vec![ty; 3], Box::new(|v| Op::Fma(v[0], v[1], v[2])), ty));
    all.push((vec![Scalar::Bool, ty, ty], Box::new(|v| Op::Select(v[0], v[1], v[2])), ty));
    for to in Scalar::ALL {
        all.push((vec![ty], Box::new(move |v| Op::Cast(v[0], to)), to));
        all.push((vec![ty], Box::new(move |v| Op::Bitcast(v[0], to)), to));
    }
    all.push((vec![], Box::new(move |_| Op::Const(Const { ty, bits: 1 })), ty));
    if ty == Scalar::U32 {
        for axis in AXES {
            for special in
                [Special::ThreadIdx(axis), Special::BlockIdx(axis), Special::BlockDim(axis), Special::GridDim(axis)]
            {
                all.push((vec![], Box::new(move |_| Op::Special(special)), ty));
            }
        }
        for special in [Special::LaneId, Special::WarpSize, Special::ComputeCapability] {
            all.push((vec![], Box::new(move |_| Op::Special(special)), ty));
        }
    }
    all
}

/// A kernel that loads operands for each candidate and stores its result.
fn kernel(name: &str, candidates: &[&Candidate]) -> Module {
    let param = |&scalar: &Scalar| Param {
        name: scalar.name().to_owned(),
        ty: Type::Ptr(Space::Global, scalar.into()),
        access: Access::ReadWrite,
        role: Role::Plain,
    };
    let mut b = FunctionBuilder::new(name, Scalar::ALL.iter().map(param).collect(), None);
    let place = |scalar: Scalar| Scalar::ALL.iter().position(|&other| other == scalar).unwrap();
    for (operands, make, yields) in candidates {
        let loaded: Vec<Value> =
            operands.iter().map(|&operand| b.value(Op::Load(b.param(place(operand))), operand)).collect();
        let value = b.value(make(&loaded), *yields);
        b.effect(Op::Store(b.param(place(*yields)), value));
    }
    b.end(Terminator::Return(None));
    module(b.finish())
}

fn module(kernel: Function) -> Module {
    Module {
        contract: false,
        exported: false,
        functions: vec![kernel],
        sites: Vec::new(),
        shared: Vec::new(),
        constants: Vec::new(),
        types: Vec::new(),
    }
}

#[test]
fn every_operation_on_every_type_becomes_ptx() {
    let mut accepted = 0;
    for ty in Scalar::ALL {
        let all = candidates(ty);
        let valid: Vec<&Candidate> =
            all.iter().filter(|candidate| verify(&kernel("one", &[candidate])).is_ok()).collect();
        accepted += valid.len();
        // one by one, so that no operation is simplified together with another
        for (index, candidate) in valid.iter().enumerate() {
            let name = format!("op_{ty}_{index}");
            assert_self_contained(
                &name,
                &ptx(&name, &kernel(&name, &[candidate]), &target("sm_90"), &Options::default()),
            );
        }
        let together = kernel(&format!("ops_{ty}"), &valid);
        for cpu in ["sm_75", "sm_90", "sm_120"] {
            for opt_level in 0..=3 {
                let name = format!("ops_{ty}_o{opt_level}");
                let options = Options { opt_level, ..Options::default() };
                assert_self_contained(&name, &ptx(&name, &together, &target(cpu), &options));
            }
        }
    }
    assert_eq!(accepted, ACCEPTED, "the verifier takes other pairs of operation and type than it did");
}

/// The number of valid pairs of operation and type. By operation: neg and abs 11 each; not 11; the four roundings and
/// sqrt 4 each; the five on bits 10 each; add, sub, mul, min, max 16 each; div, rem 14 each; and, or, xor 11 each; shl, shr
/// 10 each; copysign 4; overflows 3 x 10; comparisons 6 x 15; pair 2, its halves 2 x 2; to and from 8 bits 2 x 2; fma 6; select 17; casts 13 x 12 + 1
/// and with floats of 16 bits 2 x 4 + 2 x 2; bitcasts 1 + 2 x 2 + 4 x 4 + 5 x 5 + 3 x 3 + 2 x 2; constants 17; special
/// registers 15.
const ACCEPTED: usize = 22
    + 11
    + 20
    + 50
    + 80
    + 28
    + 33
    + 20
    + 4
    + 30
    + 90
    + 6
    + 4
    + 6
    + 17
    + 157
    + 12
    + (1 + 4 + 16 + 25 + 9 + 4)
    + 17
    + 15;

#[test]
fn every_target_compiles() {
    // 16-bit types are lowered differently for each generation, 128-bit ones to several instructions
    for ty in [Scalar::F64, Scalar::F16, Scalar::Bf16, Scalar::F16x2, Scalar::Bf16x2, Scalar::I128] {
        let all = candidates(ty);
        let valid: Vec<&Candidate> =
            all.iter().filter(|candidate| verify(&kernel("one", &[candidate])).is_ok()).collect();
        let name = format!("{ty}_everywhere");
        let module = kernel(&name, &valid);
        for target in Target::all() {
            let ptx = ptx(&name, &module, &target, &Options::default());
            assert!(ptx.contains(&format!(".target {target}\n")), "{ptx}");
        }
    }
}
