//! `f16` and `bf16`: converted exactly to a wider type, computed, and rounded once.
//!
//! `float` has so many more bits than `f16` that rounding a sum or product of two `f16` to it first changes nothing.
//! If that does not hold (fused operations, and products of `bf16`, which underflow like `float`), the intermediate
//! value is rounded to odd, after which the last rounding is exact. The NaN that an operation creates is 0x7fff.

use super::emit::Emitter;
use crate::ir::Inst;
use crate::ptx::{Modifier as M, Opcode, Result, Type};

/// `float` to `bf16`, to nearest even.
const NARROW_BF16: &str = "define internal i16 @sim.narrow.bf16(float %x) alwaysinline #1 {
  %b = bitcast float %x to i32
  %s = lshr i32 %b, 16
  %l = and i32 %s, 1
  %a = add i32 %b, 32767
  %r = add i32 %a, %l
  %h = lshr i32 %r, 16
  %t = trunc i32 %h to i16
  ret i16 %t
}";

/// `double` to `float`, to odd: towards zero, with the last bit set if anything was lost.
const ODD: &str = "define internal float @sim.odd(double %x) alwaysinline #1 {
  %f = fptrunc double %x to float
  %back = fpext float %f to double
  %same = fcmp ueq double %back, %x
  %backbits = bitcast double %back to i64
  %truebits = bitcast double %x to i64
  %size = shl i64 %backbits, 1
  %true = shl i64 %truebits, 1
  %over = icmp ugt i64 %size, %true
  %b = bitcast float %f to i32
  %d = sub i32 %b, 1
  %t = select i1 %over, i32 %d, i32 %b
  %o = or i32 %t, 1
  %r = select i1 %same, i32 %b, i32 %o
  %v = bitcast i32 %r to float
  ret float %v
}";

/// `a * b + c` rounded to odd: the product of two halves is exact in `double`, and the error of the sum is recovered.
const FUSED: &str = "define internal double @sim.fused.odd(float %a, float %b, float %c) alwaysinline #1 {
  %x = fpext float %a to double
  %y = fpext float %b to double
  %z = fpext float %c to double
  %p = fmul double %x, %y
  %s = fadd double %p, %z
  %bb = fsub double %s, %p
  %pp = fsub double %s, %bb
  %ep = fsub double %p, %pp
  %ez = fsub double %z, %bb
  %e = fadd double %ep, %ez
  %lost = fcmp one double %e, 0.0
  %bits = bitcast double %s to i64
  %ebits = bitcast double %e to i64
  %signs = xor i64 %bits, %ebits
  %apart = icmp slt i64 %signs, 0
  %d = sub i64 %bits, 1
  %t = select i1 %apart, i64 %d, i64 %bits
  %o = or i64 %t, 1
  %r = select i1 %lost, i64 %o, i64 %bits
  %v = bitcast i64 %r to double
  ret double %v
}";

impl Emitter<'_> {
    /// Returns the exact value of a half as `float`.
    pub(crate) fn widen(&mut self, ty: Type, raw: &str) -> String {
        if ty == Type::F16 {
            let half = self.def(format_args!("bitcast i16 {raw} to half"));
            return self.def(format_args!("fpext half {half} to float"));
        }
        let wide = self.def(format_args!("zext i16 {raw} to i32"));
        let bits = self.def(format_args!("shl i32 {wide}, 16"));
        self.def(format_args!("bitcast i32 {bits} to float"))
    }

    /// Rounds a `float` to a half, to nearest even.
    pub(crate) fn narrow(&mut self, ty: Type, value: &str) -> String {
        let raw = if ty == Type::F16 {
            let half = self.def(format_args!("fptrunc float {value} to half"));
            self.def(format_args!("bitcast half {half} to i16"))
        } else {
            self.call_text("i16", "sim.narrow.bf16", NARROW_BF16, &[("float", value)])
        };
        let nan = self.def(format_args!("fcmp uno float {value}, {value}"));
        self.def(format_args!("select i1 {nan}, i16 32767, i16 {raw}"))
    }

    /// Rounds a `double` to `float` to odd, so that a further rounding to a half is correct.
    pub(crate) fn round_odd(&mut self, value: &str) -> String {
        self.call_text("float", "sim.odd", ODD, &[("double", value)])
    }

    /// Replaces a subnormal `f16` by a zero of its sign.
    pub(crate) fn flush_half(&mut self, raw: &str) -> String {
        let exponent = self.def(format_args!("and i16 {raw}, 31744"));
        let tiny = self.def(format_args!("icmp eq i16 {exponent}, 0"));
        let zero = self.def(format_args!("and i16 {raw}, -32768"));
        self.def(format_args!("select i1 {tiny}, i16 {zero}, i16 {raw}"))
    }

    /// Replaces a product that is smaller than the smallest normal half by zero, before it is rounded, as a GPU does.
    fn flush_product(&mut self, product: &str) -> String {
        let size = self.call("float", "llvm.fabs.f32", &[("float", product)]);
        // 2^-14
        let tiny = self.def(format_args!("fcmp olt float {size}, 0x3F10000000000000"));
        let zero = self.call("float", "llvm.copysign.f32", &[("float", "0.0"), ("float", product)]);
        self.def(format_args!("select i1 {tiny}, float {zero}, float {product}"))
    }

    /// Replaces negative results by 0; NaN stays.
    pub(crate) fn relu(&mut self, raw: &str) -> String {
        let negative = self.def(format_args!("icmp slt i16 {raw}, 0"));
        self.def(format_args!("select i1 {negative}, i16 0, i16 {raw}"))
    }

    /// Emits one operation on halves passed and returned as integers.
    pub(crate) fn half_op(&mut self, inst: &Inst, ty: Type, raw: &[&str]) -> Result<String> {
        let ftz = inst.has(M::Ftz) && ty == Type::F16;
        let raw: Vec<String> = raw.iter().map(|r| if ftz { self.flush_half(r) } else { (*r).to_owned() }).collect();
        match inst.opcode {
            Opcode::Neg => return Ok(self.def(format_args!("xor i16 {}, -32768", raw[0]))),
            Opcode::Abs => return Ok(self.def(format_args!("and i16 {}, 32767", raw[0]))),
            _ => {}
        }
        let v: Vec<String> = raw.iter().map(|r| self.widen(ty, r)).collect();
        let mut value = match inst.opcode {
            Opcode::Min | Opcode::Max => self.simple(inst, Type::F32, &v),
            Opcode::Add => self.def(format_args!("fadd float {}", v.join(", "))),
            Opcode::Sub => self.def(format_args!("fsub float {}", v.join(", "))),
            Opcode::Mul if ty == Type::F16 => {
                let product = self.def(format_args!("fmul float {}", v.join(", ")));
                if ftz { self.flush_product(&product) } else { product }
            }
            Opcode::Mul => {
                let wide: Vec<_> = v.iter().map(|x| self.def(format_args!("fpext float {x} to double"))).collect();
                let product = self.def(format_args!("fmul double {}", wide.join(", ")));
                self.round_odd(&product)
            }
            Opcode::Fma => {
                let args: Vec<(&str, &str)> = v.iter().map(|x| ("float", x.as_str())).collect();
                let sum = self.call_text("double", "sim.fused.odd", FUSED, &args);
                self.round_odd(&sum)
            }
            Opcode::Ex2 | Opcode::Tanh => {
                self.call("float", &format!("sim.{}.f32", inst.opcode.name()), &[("float", &v[0])])
            }
            _ => return self.unsupported(format!("'{}' of this type is not supported", inst.opcode.name())),
        };
        if inst.has(M::Sat) {
            value = self.saturate(Type::F32, &value);
        }
        let mut result = self.narrow(ty, &value);
        if ftz {
            result = self.flush_half(&result);
        }
        if inst.has(M::Relu) {
            result = self.relu(&result);
        }
        Ok(result)
    }
}
