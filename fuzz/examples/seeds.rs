//! Writes the seed inputs of the targets to a folder: a kernel with each form of each instruction, and the kernels of PTX files,
//! each with the variables and functions of its file.
//!
//! `cargo run --example seeds -- corpus/ptx ../cuda-sim/tests/samples/*.ptx`

use cuda_sim::ptx::isa::{Form, Shape, TABLES};
use cuda_sim::ptx::{self, FunctionKind, Item, Module, Opcode, Type};
use std::error::Error;
use std::path::Path;
use std::{env, fs};

const HEADER: &str = ".version 8.8\n.target sm_90\n.address_size 64\n";

fn register(bits: u32, number: usize) -> String {
    let prefix = match bits {
        1 => "%p",
        8 | 16 => "%h",
        32 => "%r",
        64 => "%rd",
        _ => "%q",
    };
    format!("{prefix}{number}")
}

/// The `n`-th operand of an instruction, of this shape.
fn operand(shape: Shape, types: &[Type], n: usize) -> Option<String> {
    let of = |ty: Type| Some(register(ty.bits(), n));
    match shape {
        Shape::Dest(i) | Shape::Source(i) | Shape::DestVector(i) | Shape::SourceVector(i) => of(types[i]),
        Shape::DestWide(i) | Shape::SourceWide(i) => Some(register(2 * types[i].bits(), n)),
        Shape::DestAs(ty) | Shape::SourceAs(ty) => of(ty),
        Shape::DestPred | Shape::DestOnePred | Shape::SourcePred => of(Type::Pred),
        Shape::DestTwoPreds => Some("%p1|%p2".to_owned()),
        Shape::DestPair => Some(format!("%r{n}|%p3")),
        Shape::Immediate => Some("0x96".to_owned()),
        Shape::Address => Some("[%rd7+4]".to_owned()),
        Shape::Label => Some("L".to_owned()),
        Shape::Move => of(types[0]),
        Shape::CarryIn | Shape::CarryOut | Shape::ActiveLanes | Shape::Selector => None,
    }
}

/// An instruction of this form, with the `choice`-th of its alternatives.
fn instruction(form: &Form, choice: usize) -> String {
    let types: Vec<Type> = form.types.iter().map(|set| set[choice % set.len()]).collect();
    let mut name = form.opcode.name().to_owned();
    let modifiers = form.groups.iter().filter(|g| g.required || choice % 2 == 1);
    let suffixes = modifiers.map(|g| g.choices[choice / 2 % g.choices.len()].name());
    let suffixes: Vec<&str> = match form.opcode {
        Opcode::Prmt => types.iter().map(|ty| ty.name()).chain(suffixes).collect(),
        _ => suffixes.chain(types.iter().map(|ty| ty.name())).collect(),
    };
    suffixes.iter().for_each(|suffix| name.push_str(&format!(".{suffix}")));
    let operands: Vec<String> =
        form.operands.iter().enumerate().filter_map(|(n, shape)| operand(*shape, &types, n)).collect();
    format!("{name} {};", operands.join(", "))
}

fn kernel(body: &str) -> String {
    format!(
        "{HEADER}.visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<8>;\n\
         .reg .b64 %rd<8>;\n.reg .b128 %q<4>;\nld.param.u64 %rd7, [out];\nmov.u32 %r1, %tid.x;\n\
         setp.lt.u32 %p1, %r1, 7;\n{body}\n@%p1 bra L;\nst.global.u32 [%rd7], %r0;\nL:\nret;\n}}\n"
    )
}

/// A module for each kernel of a text, with the text's functions and variables, but without debug information.
fn pieces(module: &Module) -> Vec<Module> {
    let is_kernel = |item: &Item| matches!(item, Item::Function(f) if f.kind == FunctionKind::Entry);
    let shared = |item: &&Item| !is_kernel(item) && !matches!(item, Item::Note(_));
    let kernels = module.items.iter().filter(|item| is_kernel(item));
    let piece = |kernel: &Item| Module {
        items: module.items.iter().filter(shared).chain([kernel]).cloned().collect(),
        ..module.clone()
    };
    kernels.map(piece).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().ok_or("usage: seeds FOLDER FILE.ptx ..")?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    for (n, form) in TABLES.iter().copied().flatten().enumerate() {
        for choice in 0..3 {
            let text = kernel(&instruction(form, choice));
            fs::write(folder.join(format!("form-{n}-{choice}")), text)?;
        }
    }
    for (n, file) in arguments.enumerate() {
        let text = fs::read_to_string(&file)?;
        let module = ptx::parse(&text).map_err(|error| format!("{file}: {error}"))?;
        for (k, piece) in pieces(&module).iter().enumerate() {
            fs::write(folder.join(format!("file-{n}-{k}")), piece.to_string())?;
        }
    }
    Ok(())
}
