//! Conformance: every instruction of the table, with every type and modifier, against the rules of the PTX manual.
//!
//! Cases are generated from the instruction table, so an instruction without a reference here is a failure. Expected
//! values are computed with integers and with LLVM's arbitrary-precision arithmetic, never by the device. Results are
//! compared bit for bit, except NaNs (all are equal) and approximations (within the manual's error). Each test runs
//! again in a process whose engine is fibers, and the two engines must agree in every bit.
//!
//! It is a package of its own since its references take most of the time, so that cargo optimizes them.

#![cfg(test)]

#[macro_use]
#[path = "../../tests/common/mod.rs"]
mod common;

mod assembler;
mod bulk;
mod compare;
mod control;
mod copies;
mod counterpart;
mod device;
mod exact;
mod float;
mod inputs;
mod instance;
mod integer;
mod matrix;
mod mbarrier;
mod memory;
#[path = "../../tests/common/random.rs"]
mod random;
mod signals;
mod sync;
mod video;

use cuda_sim::ptx::isa::{Form, Shape};
use cuda_sim::ptx::{Opcode, Type};
use device::Inputs;
use instance::{Instance, forms, instances};

/// A result within some distance of the exact one.
#[derive(Clone, Debug)]
pub(crate) struct Near {
    ty: Type,
    exact: f64,
    relative: f64,
    absolute: f64,
}

/// An expected result.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    Bits(u64),
    /// Any NaN of the type.
    NaN(Type),
    Near(Near),
    /// Two halves of this many bits, the lower one first.
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

/// Returns true for instructions whose effect is not a function of their sources: those have tests of their own.
fn has_own_cases(form: &Form) -> bool {
    EXEMPT.iter().any(|(_, opcodes)| opcodes.contains(&form.opcode))
}

/// The instructions that are exempt from the reference below, with the reason and the place of their tests. There are
/// no others.
const EXEMPT: &[(&str, &[Opcode])] = &[
    ("movement and control: an effect on the thread's path, with programs in `control`", control::COVERED),
    ("memory: an effect on memory that depends on the address, with its cases in `memory`", memory::COVERED),
    ("copies: an effect on memory, when the thread waits, with every instance in `copies`", copies::COVERED),
    ("matrices: results that depend on all lanes of a warp, with every instance in `matrix`", matrix::COVERED),
    ("barriers in shared memory: effects on an object, with every instance in `mbarrier`", mbarrier::COVERED),
    ("threads together: results that depend on other threads, with every instance in `sync`", sync::COVERED),
];

/// Every form of the table is either evaluated against the reference, in all its instances, or exempt by exactly one
/// entry; and every entry is in the table.
#[test]
fn every_form_is_checked_or_exempt() {
    let mut exempt = std::collections::HashMap::new();
    for (why, opcodes) in EXEMPT {
        for opcode in *opcodes {
            assert_eq!(exempt.insert(*opcode, *why), None, "'{}' is exempt twice", opcode.name());
            assert!(forms().any(|form| form.opcode == *opcode), "'{}' is not in the table", opcode.name());
        }
    }
    let (mut checked, mut instances_checked) = (0, 0);
    for form in forms().filter(|form| !exempt.contains_key(&form.opcode)) {
        assert!(!has_own_cases(form) && TESTED.contains(&kind(form)), "{form:?}");
        for instance in instances(form) {
            // A form without a reference panics here.
            let results = reference(&instance, &[1, 2, 3, 4]);
            assert!(!results.is_empty(), "{}", instance.name());
            instances_checked += 1;
        }
        checked += 1;
    }
    println!(
        "{checked} forms, {instances_checked} instances of {} inputs; {} opcodes exempt",
        inputs::COUNT,
        exempt.len()
    );
    for (why, opcodes) in EXEMPT {
        println!("exempt: {why}: {}", opcodes.iter().map(|o| o.name()).collect::<Vec<_>>().join(" "));
    }
}

/// Returns the results that the manual specifies.
fn reference(i: &Instance, input: &Inputs) -> Vec<Expected> {
    let sources = i.sources();
    // Sources truncated to the width of their types.
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
        _ if kind(i.form) == "video" => video::expected(i, &v),
        _ if float => float::expected(i, &v),
        _ => integer::expected(i, &v),
    }
}

/// Instances that run in one kernel.
const CHUNK: usize = 24;

fn check(form: &'static Form, digest: &mut counterpart::Digest) {
    let all = instances(form);
    for chunk in all.chunks(CHUNK) {
        let chunk: Vec<&Instance> = chunk.iter().collect();
        let inputs: Vec<Vec<Inputs>> = chunk.iter().map(|i| inputs::inputs(i)).collect();
        let results = device::evaluate(&chunk, &inputs);
        digest.add(&results);
        // the process that started this one compares its results with the reference, and the digests
        if counterpart::is_one() {
            continue;
        }
        for ((instance, inputs), results) in chunk.iter().zip(&inputs).zip(results) {
            for (input, got) in inputs.iter().zip(results) {
                let expected = reference(instance, input);
                let right = expected.iter().zip(got).all(|(e, g)| e.accepts(g));
                assert!(right, "{} of {input:x?}: {got:x?}, not {expected:x?}", instance.name());
            }
        }
    }
}

/// Checks the forms of a kind.
fn check_all(wanted: &str) {
    let chosen: Vec<_> = forms().filter(|f| !has_own_cases(f) && kind(f) == wanted).collect();
    assert!(!chosen.is_empty());
    // `set` has the comparisons of `setp`, and takes as long as all other instructions together
    let counterparts = if wanted == "set" { &[counterpart::FIBERS] } else { counterpart::COUNTERPARTS };
    counterpart::agree(counterparts, |digest| chosen.into_iter().for_each(|form| check(form, digest)));
}

/// Returns the kind of the first type, by which the tests divide the table.
fn kind(form: &Form) -> &'static str {
    if form.opcode == Opcode::Cvt {
        return "conversion";
    }
    if matches!(form.opcode, Opcode::Set | Opcode::Setp) {
        return if form.opcode == Opcode::Set { "set" } else { "setp" };
    }
    if form.operands.contains(&Shape::Selector) {
        return "video";
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
        /// The kinds that are tested.
        const TESTED: &[&str] = &[$($kind),+];
        $(
            #[test]
            fn $test() {
                check_all($kind);
            }
        )+
    };
}

kinds! {
    integers = "integer", floats = "float", halves = "half", conversions = "conversion", predicates = "setp", sets = "set",
    videos = "video"
}
