//! Floating-point arithmetic. Nothing is contracted: a product and a sum stay two roundings unless PTX wrote `fma`.
//!
//! Round-to-nearest is LLVM's own arithmetic; the other modes call helpers that set the processor's rounding mode.
//! Approximations give the correctly rounded value, or one computed in double precision.

use super::emit::{Emitter, llvm_float};
use crate::ir::{Inst, Value};
use crate::ptx::{Modifier as M, Opcode, Result, Type};

/// The rounding mode as helpers take it; `None` for to-nearest.
pub(crate) fn directed(inst: &Inst) -> Option<&'static str> {
    inst.modifiers().find_map(|m| match m {
        M::Rm => Some("1"),
        M::Rp => Some("2"),
        M::Rz => Some("3"),
        _ => None,
    })
}

impl Emitter<'_> {
    /// Replaces a subnormal `float` by a zero of its sign.
    pub(crate) fn flush(&mut self, value: &str) -> String {
        let size = self.call("float", "llvm.fabs.f32", &[("float", value)]);
        let tiny = self.def(format_args!("fcmp olt float {size}, 0x3810000000000000"));
        let zero = self.call("float", "llvm.copysign.f32", &[("float", "0.0"), ("float", value)]);
        self.def(format_args!("select i1 {tiny}, float {zero}, float {value}"))
    }

    /// Clamps to [0, 1]; NaN becomes 0.
    pub(crate) fn saturate(&mut self, ty: Type, value: &str) -> String {
        let float = llvm_float(ty);
        let above = self.def(format_args!("fcmp ogt {float} {value}, 0.0"));
        let low = self.def(format_args!("select i1 {above}, {float} {value}, {float} 0.0"));
        let below = self.def(format_args!("fcmp olt {float} {low}, 1.0"));
        self.def(format_args!("select i1 {below}, {float} {low}, {float} 1.0"))
    }

    pub(crate) fn float_op(&mut self, inst: &Inst, ops: &[Value]) -> Result<()> {
        let Some((dest, sources)) = ops.split_first() else { return self.unsupported("this instruction") };
        let ty = inst.ty(0);
        let ftz = inst.has(M::Ftz) && ty == Type::F32;
        let mut v = Vec::new();
        for source in sources {
            let value = self.float(source, ty)?;
            v.push(if ftz { self.flush(&value) } else { value });
        }
        if inst.opcode == Opcode::Testp {
            let truth = self.testp(inst, ty, &v[0]);
            return self.write(dest, 1, &truth, false);
        }
        let mut result = match inst.opcode {
            Opcode::Abs | Opcode::Neg | Opcode::Copysign | Opcode::Min | Opcode::Max => self.simple(inst, ty, &v),
            _ => self.arithmetic(inst, ty, &v)?,
        };
        if ftz {
            result = self.flush(&result);
        }
        if inst.has(M::Sat) {
            result = self.saturate(ty, &result);
        }
        self.write_float(dest, ty, &result)
    }

    fn simple(&mut self, inst: &Inst, ty: Type, v: &[String]) -> String {
        let (float, bits) = (llvm_float(ty), ty.bits());
        let nan = inst.has(M::NaN);
        let (name, args) = match inst.opcode {
            Opcode::Neg => return self.def(format_args!("fneg {float} {}", v[0])),
            Opcode::Abs => ("fabs", vec![(float, v[0].as_str())]),
            Opcode::Copysign => ("copysign", vec![(float, v[1].as_str()), (float, v[0].as_str())]),
            Opcode::Min if nan => ("minimum", vec![(float, v[0].as_str()), (float, v[1].as_str())]),
            Opcode::Min => ("minimumnum", vec![(float, v[0].as_str()), (float, v[1].as_str())]),
            _ if nan => ("maximum", vec![(float, v[0].as_str()), (float, v[1].as_str())]),
            _ => ("maximumnum", vec![(float, v[0].as_str()), (float, v[1].as_str())]),
        };
        self.call(float, &format!("llvm.{name}.f{bits}"), &args)
    }

    fn arithmetic(&mut self, inst: &Inst, ty: Type, v: &[String]) -> Result<String> {
        let (float, bits) = (llvm_float(ty), ty.bits());
        // A reciprocal is a division.
        let (opcode, mut args) = match inst.opcode {
            Opcode::Rcp => (Opcode::Div, vec!["1.0".to_owned(), v[0].clone()]),
            Opcode::Mad => (Opcode::Fma, v.to_vec()),
            other => (other, v.to_vec()),
        };
        if let Some(mode) = directed(inst) {
            let mut typed: Vec<(&str, &str)> = args.iter().map(|a| (float, a.as_str())).collect();
            typed.push(("i32", mode));
            return Ok(self.call(float, &format!("sim.{}.f{bits}", opcode.name()), &typed));
        }
        let operation = match opcode {
            Opcode::Add => "fadd",
            Opcode::Sub => "fsub",
            Opcode::Mul => "fmul",
            Opcode::Div => "fdiv",
            Opcode::Fma | Opcode::Sqrt => {
                let typed: Vec<(&str, &str)> = args.iter().map(|a| (float, a.as_str())).collect();
                return Ok(self.call(float, &format!("llvm.{}.f{bits}", opcode.name()), &typed));
            }
            Opcode::Rsqrt => return Ok(self.rsqrt(ty, &args[0])),
            Opcode::Sin | Opcode::Cos | Opcode::Lg2 | Opcode::Ex2 | Opcode::Tanh => {
                return Ok(self.call("float", &format!("sim.{}.f32", opcode.name()), &[("float", &args[0])]));
            }
            _ => return self.unsupported(format!("'{}' is not supported", inst.opcode.name())),
        };
        args.truncate(2);
        Ok(self.def(format_args!("{operation} {float} {}", args.join(", "))))
    }

    /// In double precision, and rounded once more for `float`.
    fn rsqrt(&mut self, ty: Type, value: &str) -> String {
        let wide =
            if ty == Type::F32 { self.def(format_args!("fpext float {value} to double")) } else { value.to_owned() };
        let root = self.call("double", "llvm.sqrt.f64", &[("double", &wide)]);
        let inverse = self.def(format_args!("fdiv double 1.0, {root}"));
        if ty == Type::F32 { self.def(format_args!("fptrunc double {inverse} to float")) } else { inverse }
    }

    fn testp(&mut self, inst: &Inst, ty: Type, value: &str) -> String {
        // Bits of LLVM's floating-point classes; PTX counts zeros as normal.
        let class = inst.modifiers().find_map(|m| match m {
            M::Finite => Some(0x1f8),
            M::Infinite => Some(0x204),
            M::Number => Some(0x3fc),
            M::Notanumber => Some(0x003),
            M::Normal => Some(0x168),
            M::Subnormal => Some(0x090),
            _ => None,
        });
        let mask = class.unwrap_or(0).to_string();
        let name = format!("llvm.is.fpclass.f{}", ty.bits());
        self.declares.insert(format!("declare i1 @{name}({}, i32 immarg) #1", llvm_float(ty)));
        self.def(format_args!("call i1 @{name}({} {value}, i32 {mask})", llvm_float(ty)))
    }
}
