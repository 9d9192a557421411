//! Expands warp reductions to a device function of KIR, for devices before compute capability 8.0, which lack the
//! instruction.
//!
//! With a full mask it is a butterfly of five shuffles; with any other mask it goes lane by lane.

use std::borrow::Cow;

use crate::kir::{FuncId, Function, Module, Op, ReduceOp, Scalar, Type, text};
use crate::target::Target;

/// Returns the module with reductions expanded, if the target has no instruction for them.
pub(super) fn expand<'a>(module: Cow<'a, Module>, target: &Target) -> Cow<'a, Module> {
    let mut module = module;
    if target.capability() >= (8, 0).into() {
        return module;
    }
    while let Some((op, scalar)) = first(&module) {
        expand_one(module.to_mut(), op, scalar);
    }
    module
}

/// A reduction that the module contains, with its type.
fn first(module: &Module) -> Option<(ReduceOp, Scalar)> {
    let blocks = module.functions.iter().flat_map(|function| &function.blocks);
    blocks.flat_map(|block| &block.insts).find_map(|inst| match (&inst.op, inst.result) {
        (Op::Reduce(op, ..), Some((_, Type::Scalar(scalar)))) => Some((*op, scalar)),
        _ => None,
    })
}

fn expand_one(module: &mut Module, op: ReduceOp, scalar: Scalar) {
    let callee = FuncId(module.functions.len() as u32);
    let blocks = module.functions.iter_mut().flat_map(|function| &mut function.blocks);
    for inst in blocks.flat_map(|block| &mut block.insts) {
        if let Op::Reduce(found, mask, value) = inst.op
            && found == op
            && inst.result.is_some_and(|(_, ty)| ty == scalar.into())
        {
            inst.op = Op::Call(callee, vec![mask, value]);
        }
    }
    module.functions.push(function(op, scalar));
}

/// The function of a reduction. Its name contains a `.`, so that it is unique.
fn function(op: ReduceOp, scalar: Scalar) -> Function {
    let op = match op {
        ReduceOp::Add => "add",
        ReduceOp::Min => "min",
        ReduceOp::Max => "max",
        ReduceOp::And => "and",
        ReduceOp::Or => "or",
        ReduceOp::Xor => "xor",
    };
    let source = LANE_BY_LANE.replace("OP", op).replace("TYPE", scalar.name());
    let mut module = text::parse(&source).expect("the text above is KIR");
    module.functions.remove(1)
}

const LANE_BY_LANE: &str = "
kir 1
kernel k() { b0: return }
device reduce.OP.TYPE(v0 mask: u32, v1 value: TYPE) -> TYPE {
  slot s0 left: u32
  slot s1 result: TYPE
b0:
  set s0, v0
  v2: u32 = const u32 0xffffffff
  v3: bool = eq v0, v2
  branch v3, b1, b2
b1:
  v4: u32 = const u32 16
  v5: TYPE = shuffle xor v0, v1, v4
  v6: TYPE = OP v1, v5
  v7: u32 = const u32 8
  v8: TYPE = shuffle xor v0, v6, v7
  v9: TYPE = OP v6, v8
  v10: u32 = const u32 4
  v11: TYPE = shuffle xor v0, v9, v10
  v12: TYPE = OP v9, v11
  v13: u32 = const u32 2
  v14: TYPE = shuffle xor v0, v12, v13
  v15: TYPE = OP v12, v14
  v16: u32 = const u32 1
  v17: TYPE = shuffle xor v0, v15, v16
  v18: TYPE = OP v15, v17
  return v18
b2:
  v19: u32 = trailing_zeros v0
  v20: TYPE = shuffle index v0, v1, v19
  set s1, v20
  jump b3
b3:
  v21: u32 = get s0
  v22: u32 = const u32 1
  v23: u32 = sub v21, v22
  v24: u32 = and v21, v23
  set s0, v24
  v25: u32 = const u32 0
  v26: bool = ne v24, v25
  branch v26, b4, b5
b4:
  v27: u32 = trailing_zeros v24
  v28: TYPE = shuffle index v0, v1, v27
  v29: TYPE = get s1
  v30: TYPE = OP v29, v28
  set s1, v30
  jump b3
b5:
  v31: TYPE = get s1
  return v31
}
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::valid;

    #[test]
    fn every_reduction_is_valid_kir() {
        for op in [ReduceOp::Add, ReduceOp::Min, ReduceOp::Max, ReduceOp::And, ReduceOp::Or, ReduceOp::Xor] {
            for scalar in [Scalar::I32, Scalar::U32] {
                let mut reduction = function(op, scalar);
                reduction.name = reduction.name.replace('.', "_");
                let kernel = text::parse("kir 1 kernel k() { b0: return }").unwrap().functions.remove(0);
                let module = Module {
                    contract: false,
                    exported: false,
                    functions: vec![kernel, reduction],
                    sites: vec![],
                    shared: vec![],
                    constants: vec![],
                    types: vec![],
                };
                valid::verify(&module).unwrap();
            }
        }
    }
}
