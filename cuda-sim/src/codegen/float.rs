//! Floating-point arithmetic. Nothing is contracted: a product and a sum round twice unless PTX says `fma`.
//!
//! Round-to-nearest uses LLVM's own arithmetic; the other modes call helpers that set the processor's rounding mode.
//! Approximations return the correctly rounded value, or one that was computed in double precision.

use super::emit::{Emitter, llvm_float};
use crate::ir::{Inst, Value};
use crate::ptx::{Modifier as M, Opcode, Result, Type};

/// Returns the rounding mode as helpers take it; `None` for to-nearest.
pub(crate) fn directed(inst: &Inst) -> Option<&'static str> {
    inst.modifiers().find_map(|m| match m {
        M::Rm => Some("1"),
        M::Rp => Some("2"),
        M::Rz => Some("3"),
        _ => None,
    })
}

/// Returns true for an approximation that exists for flushed `f64` only.
fn ftz_double(inst: &Inst) -> bool {
    inst.has(M::Ftz) && matches!(inst.opcode, Opcode::Rcp | Opcode::Rsqrt)
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
    ///
    /// The comparison with 0 comes last: on AArch64 LLVM combines a comparison and a select of the same two values into
    /// `fmaxnm`, which returns NaN for a signalling NaN, and a later comparison with 1 would return 1.
    pub(crate) fn saturate(&mut self, ty: Type, value: &str) -> String {
        let float = llvm_float(ty);
        let below = self.def(format_args!("fcmp olt {float} {value}, 1.0"));
        let high = self.def(format_args!("select i1 {below}, {float} {value}, {float} 1.0"));
        let above = self.def(format_args!("fcmp ogt {float} {value}, 0.0"));
        self.def(format_args!("select i1 {above}, {float} {high}, {float} 0.0"))
    }

    /// Returns the halves of an operand with a packed type, else the operand, as integers.
    pub(crate) fn lanes(&mut self, value: &Value, ty: Type) -> Result<Vec<String>> {
        let whole = self.int(value, ty.bits())?;
        Ok(self.split(&whole, ty))
    }

    /// Returns the halves of an integer that holds a packed type, the lower one first; else the integer.
    pub(crate) fn split(&mut self, whole: &str, ty: Type) -> Vec<String> {
        let (lane, packed) = ty.lane();
        if !packed {
            return vec![whole.to_owned()];
        }
        let (bits, half) = (ty.bits(), lane.bits());
        let low = self.def(format_args!("trunc i{bits} {whole} to i{half}"));
        let high = self.def(format_args!("lshr i{bits} {whole}, {half}"));
        vec![low, self.def(format_args!("trunc i{bits} {high} to i{half}"))]
    }

    /// The inverse of [`Self::lanes`].
    pub(crate) fn join(&mut self, lanes: &[String], bits: u32) -> String {
        let [low, high] = lanes else { return lanes.first().cloned().unwrap_or_default() };
        let (low, high) = (self.resize(low, bits, bits * 2, false), self.resize(high, bits, bits * 2, false));
        let high = self.def(format_args!("shl i{} {high}, {bits}", bits * 2));
        self.def(format_args!("or i{} {high}, {low}", bits * 2))
    }

    pub(crate) fn float_op(&mut self, inst: &Inst, ops: &[Value]) -> Result<()> {
        let Some((dest, sources)) = ops.split_first() else {
            return self.unsupported("this instruction is not supported");
        };
        let ty = inst.ty(0);
        let (lane, packed) = ty.lane();
        let split = sources.iter().map(|source| self.lanes(source, ty)).collect::<Result<Vec<_>>>()?;
        let mut results = Vec::new();
        for i in 0..if packed { 2 } else { 1 } {
            let raw: Vec<&str> = split.iter().map(|lanes| lanes[i].as_str()).collect();
            results.push(match lane {
                Type::F16 | Type::Bf16 => self.half_op(inst, lane, &raw)?,
                _ => self.full_op(inst, lane, &raw)?,
            });
        }
        if inst.opcode == Opcode::Testp {
            return self.write(dest, 1, &results[0], false);
        }
        let value = self.join(&results, lane.bits());
        self.write(dest, ty.bits(), &value, false)
    }

    /// Emits one `f32` or `f64` operation on values passed and returned as integers.
    fn full_op(&mut self, inst: &Inst, ty: Type, raw: &[&str]) -> Result<String> {
        let ftz = inst.has(M::Ftz) && ty == Type::F32;
        let (float, bits) = (llvm_float(ty), ty.bits());
        let mut v = Vec::new();
        for raw in raw {
            let value = self.def(format_args!("bitcast i{bits} {raw} to {float}"));
            v.push(if ftz { self.flush(&value) } else { value });
        }
        if inst.opcode == Opcode::Testp {
            return Ok(self.testp(inst, ty, &v[0]));
        }
        if ty == Type::F64 && inst.has(M::Approx) && ftz_double(inst) {
            return Ok(self.approximate_f64(inst, &v[0]));
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
        Ok(self.def(format_args!("bitcast {float} {result} to i{bits}")))
    }

    /// Emits `rcp.approx.ftz.f64` or `rsqrt.approx.ftz.f64`, which use only the upper halves of operand and result.
    fn approximate_f64(&mut self, inst: &Inst, value: &str) -> String {
        let cut = |this: &mut Self, value: &str| {
            let bits = this.def(format_args!("bitcast double {value} to i64"));
            this.def(format_args!("and i64 {bits}, -4294967296"))
        };
        let flush = |this: &mut Self, bits: &str| {
            let exponent = this.def(format_args!("and i64 {bits}, 9218868437227405312"));
            let tiny = this.def(format_args!("icmp eq i64 {exponent}, 0"));
            let zero = this.def(format_args!("and i64 {bits}, -9223372036854775808"));
            this.def(format_args!("select i1 {tiny}, i64 {zero}, i64 {bits}"))
        };
        let bits = cut(self, value);
        let bits = flush(self, &bits);
        let value = self.def(format_args!("bitcast i64 {bits} to double"));
        let result = match inst.opcode {
            Opcode::Rsqrt => self.rsqrt(Type::F64, &value),
            _ => self.def(format_args!("fdiv double 1.0, {value}")),
        };
        let nan = self.def(format_args!("fcmp uno double {result}, {result}"));
        let bits = cut(self, &result);
        let bits = flush(self, &bits);
        // The result must still be a NaN when only its upper half is kept.
        self.def(format_args!("select i1 {nan}, i64 9223372032559808512, i64 {bits}"))
    }

    pub(crate) fn simple(&mut self, inst: &Inst, ty: Type, v: &[String]) -> String {
        if inst.has(M::Xorsign) {
            return self.xorsign(inst, ty, v);
        }
        self.select_one(inst, ty, v)
    }

    /// Emits `.xorsign.abs`: the smaller or larger magnitude, with the sign of the product.
    fn xorsign(&mut self, inst: &Inst, ty: Type, v: &[String]) -> String {
        let (float, bits) = (llvm_float(ty), ty.bits());
        let name = format!("llvm.fabs.f{bits}");
        let sizes: Vec<String> = v.iter().map(|x| self.call(float, &name, &[(float, x)])).collect();
        let size = self.select_one(inst, ty, &sizes);
        let signs: Vec<String> = v.iter().map(|x| self.def(format_args!("bitcast {float} {x} to i{bits}"))).collect();
        let sign = self.def(format_args!("xor i{bits} {}", signs.join(", ")));
        let sign = self.def(format_args!("bitcast i{bits} {sign} to {float}"));
        self.call(float, &format!("llvm.copysign.f{bits}"), &[(float, &size), (float, &sign)])
    }

    fn select_one(&mut self, inst: &Inst, ty: Type, v: &[String]) -> String {
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
        let value = self.call(float, &format!("llvm.{name}.f{bits}"), &args);
        if !name.ends_with("num") {
            return value;
        }
        // LLVM 22's code for these on x86 yields a NaN where it knows that one operand is none and the other is one
        let (a, b) = (&v[0], &v[1]);
        let (no_a, no_b) =
            (self.def(format_args!("fcmp uno {float} {a}, {a}")), self.def(format_args!("fcmp uno {float} {b}, {b}")));
        let without_b = self.def(format_args!("select i1 {no_b}, {float} {a}, {float} {value}"));
        self.def(format_args!("select i1 {no_a}, {float} {b}, {float} {without_b}"))
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
            Opcode::Div if inst.opcode == Opcode::Div && inst.has(M::Approx) => return Ok(self.divide_approx(&args)),
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

    /// Emits `a * (1 / b)`. For `b` beyond 2^126 the inverse is 0, as the manual says.
    fn divide_approx(&mut self, args: &[String]) -> String {
        let quotient = self.def(format_args!("fdiv float {}", args.join(", ")));
        let size = self.call("float", "llvm.fabs.f32", &[("float", &args[1])]);
        let large = self.def(format_args!("fcmp ogt float {size}, 0x47D0000000000000"));
        let finite = self.def(format_args!("fcmp olt float {size}, 0x7FF0000000000000"));
        let flat = self.def(format_args!("and i1 {large}, {finite}"));
        let zero = self.call("float", "llvm.copysign.f32", &[("float", "0.0"), ("float", &args[1])]);
        // 0 times infinity is NaN.
        let product = self.def(format_args!("fmul float {}, {zero}", args[0]));
        self.def(format_args!("select i1 {flat}, float {product}, float {quotient}"))
    }

    /// Computes in double precision, and rounds once more for `float`.
    fn rsqrt(&mut self, ty: Type, value: &str) -> String {
        let wide =
            if ty == Type::F32 { self.def(format_args!("fpext float {value} to double")) } else { value.to_owned() };
        let root = self.call("double", "llvm.sqrt.f64", &[("double", &wide)]);
        let inverse = self.def(format_args!("fdiv double 1.0, {root}"));
        if ty == Type::F32 { self.def(format_args!("fptrunc double {inverse} to float")) } else { inverse }
    }

    fn testp(&mut self, inst: &Inst, ty: Type, value: &str) -> String {
        // The bits of LLVM's floating-point classes. PTX counts zeros as normal.
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
