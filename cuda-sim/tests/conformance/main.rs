//! Conformance: every instruction of the table, with every type and modifier, against the rules of the PTX manual.
//!
//! Cases come from the instruction table itself, so an instruction without a reference here is a failure. Expected
//! values are computed with whole numbers and with LLVM's arbitrary-precision arithmetic, never by the device; results
//! are compared bit for bit, NaNs apart (any NaN is as good as another) and approximations (within the manual's error).

mod compare;
mod control;
mod device;
mod exact;
mod float;
mod inputs;
mod instance;
mod integer;
mod memory;
#[path = "../common/random.rs"]
mod random;

use cuda_sim::ptx::isa::{Form, Shape};
use cuda_sim::ptx::{Opcode, Type};
use device::Inputs;
use instance::{Instance, forms, instances};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A result within some distance of the exact one.
#[derive(Clone, Debug)]
pub(crate) struct Near {
    ty: Type,
    exact: f64,
    relative: f64,
    absolute: f64,
}

/// What a result must be.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    Bits(u64),
    /// Any NaN of the type.
    NaN(Type),
    Near(Near),
    /// Two halves of so many bits, the lower first.
    Pair(u32, Box<[Expected; 2]>),
}

impl Expected {
    fn accepts(&self, got: u64) -> bool {
        match self {
            Expected::Bits(bits) => got == *bits,
            Expected::NaN(ty) => exact::is_nan(*ty, got),
            Expected::Pair(bits, halves) => {
                let mask = (1u64 << bits) - 1;
                halves[0].accepts(got & mask) && halves[1].accepts(got >> bits & mask)
            }
            Expected::Near(near) => {
                let value = exact::value(near.ty, got);
                let rounded = exact::value(
                    near.ty,
                    exact::from_value(near.ty, near.exact, rustc_apfloat::Round::NearestTiesToEven),
                );
                let distance = (value - near.exact).abs();
                value == rounded || distance <= near.absolute + near.relative * near.exact.abs()
            }
        }
    }
}

/// Instructions whose effect is not a function of their sources: those have cases of their own.
fn has_own_cases(form: &Form) -> bool {
    control::COVERED.contains(&form.opcode)
        || memory::COVERED.contains(&form.opcode)
        || SYNCHRONISING.contains(&form.opcode)
}

/// What threads do together: the crate's unit tests (`src/tests/sync.rs`) run these on both engines.
const SYNCHRONISING: &[Opcode] = &[
    Opcode::ActiveMask,
    Opcode::Bar,
    Opcode::Barrier,
    Opcode::Elect,
    Opcode::Match,
    Opcode::Redux,
    Opcode::Shfl,
    Opcode::Vote,
];

/// The results that the manual demands.
fn reference(i: &Instance, input: &Inputs) -> Vec<Expected> {
    let sources = i.sources();
    // Sources as the instruction sees them: as wide as their types.
    let cut = |(value, ty): (&u64, &Type)| match ty.bits() {
        1 => u64::from(*value != 0),
        64 => *value,
        bits => value & ((1 << bits) - 1),
    };
    let mut v: Vec<u64> = input.iter().zip(&sources).map(cut).collect();
    if i.form.operands.contains(&Shape::CarryIn)
        && let Some(last) = v.last_mut()
    {
        *last = input[sources.len() - 1] & 0xffff_ffff;
    }
    let float = i.form.types.iter().any(|set| set.iter().any(|ty| ty.lane().0.is_float()));
    match i.opcode() {
        Opcode::Setp | Opcode::Set => compare::comparison(i, &v),
        Opcode::Selp | Opcode::Slct => compare::choice(i, &v),
        Opcode::Cvt => compare::conversion(i, &v),
        _ if float => float::expected(i, &v),
        _ => integer::expected(i, &v),
    }
}

/// Instances that run in one kernel.
const CHUNK: usize = 24;

static EVALUATED: AtomicUsize = AtomicUsize::new(0);

fn check(form: &'static Form) {
    let all = instances(form);
    for chunk in all.chunks(CHUNK) {
        let chunk: Vec<&Instance> = chunk.iter().collect();
        let inputs: Vec<Vec<Inputs>> = chunk.iter().map(|i| inputs::inputs(i)).collect();
        let results = device::evaluate(&chunk, &inputs);
        for ((instance, inputs), results) in chunk.iter().zip(&inputs).zip(results) {
            for (input, got) in inputs.iter().zip(results) {
                let expected = reference(instance, input);
                let right = expected.iter().zip(got).all(|(e, g)| e.accepts(g));
                assert!(right, "{} of {input:x?}: {got:x?}, not {expected:x?}", instance.name());
            }
            EVALUATED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Checks the forms that a test is for.
fn check_all(which: impl Fn(&Form) -> bool) {
    let chosen: Vec<_> = forms().filter(|f| !has_own_cases(f) && which(f)).collect();
    assert!(!chosen.is_empty());
    chosen.into_iter().for_each(check);
}

/// The kind of the first type, which the tests share the table by.
fn kind(form: &Form) -> &'static str {
    if form.opcode == Opcode::Cvt {
        return "conversion";
    }
    if matches!(form.opcode, Opcode::Set | Opcode::Setp) {
        return if form.opcode == Opcode::Set { "set" } else { "setp" };
    }
    let types = form.types.first().copied().unwrap_or(&[]);
    let has = |wanted: &[Type]| types.iter().any(|ty| wanted.contains(&ty.lane().0));
    if has(&[Type::F16, Type::Bf16]) {
        "half"
    } else if has(&[Type::F32, Type::F64]) && !matches!(form.opcode, Opcode::Selp | Opcode::Slct) {
        "float"
    } else {
        "integer"
    }
}

macro_rules! kinds {
    ($($test:ident = $kind:literal),+ $(,)?) => {
        $(
            #[test]
            fn $test() {
                check_all(|form| kind(form) == $kind);
            }
        )+
    };
}

kinds! {
    integers = "integer", floats = "float", halves = "half", conversions = "conversion", predicates = "setp", sets = "set"
}
