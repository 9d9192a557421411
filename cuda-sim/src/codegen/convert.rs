//! `cvt`: between integers, between floating-point types, and from one to the other.
//!
//! Out of range saturates where PTX says so. NaN to integer is 0, but the most significant bit alone where the source
//! is `f64` or the result has 64 bits.

use super::emit::{Emitter, llvm_float};
use super::float::directed;
use crate::ir::{Inst, Value};
use crate::ptx::{Modifier as M, Result, Type};

/// The LLVM intrinsic that rounds to an integral value as a `.r?i` modifier says.
fn integral(inst: &Inst) -> Option<&'static str> {
    inst.modifiers().find_map(|m| match m {
        M::Rni => Some("roundeven"),
        M::Rzi => Some("trunc"),
        M::Rmi => Some("floor"),
        M::Rpi => Some("ceil"),
        _ => None,
    })
}

impl Emitter<'_> {
    pub(crate) fn cvt(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let (to, from) = (inst.ty(0), inst.ty(1));
        match (to.is_float(), from.is_float()) {
            (false, false) => self.int_to_int(inst, dest, source),
            (true, false) => self.int_to_float(inst, dest, source),
            (false, true) => self.float_to_int(inst, dest, source),
            (true, true) => self.float_to_float(inst, dest, source),
        }
    }

    fn int_to_int(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let (to, from) = (inst.ty(0), inst.ty(1));
        let value = self.int(source, from.bits())?;
        if !inst.has(M::Sat) {
            let value = self.resize(&value, from.bits(), to.bits(), from.is_signed());
            return self.write(dest, to.bits(), &value, to.is_signed());
        }
        let wide = self.resize(&value, from.bits(), 128, from.is_signed());
        let (low, high) = match to.is_signed() {
            true => (-(1i128 << (to.bits() - 1)), (1i128 << (to.bits() - 1)) - 1),
            false => (0, (1i128 << to.bits()) - 1),
        };
        let value = self.call("i128", "llvm.smax.i128", &[("i128", &wide), ("i128", &low.to_string())]);
        let value = self.call("i128", "llvm.smin.i128", &[("i128", &value), ("i128", &high.to_string())]);
        let value = self.resize(&value, 128, to.bits(), false);
        self.write(dest, to.bits(), &value, to.is_signed())
    }

    fn int_to_float(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let (to, from) = (inst.ty(0), inst.ty(1));
        if to == Type::F16 {
            return self.unsupported("cvt from an integer to .f16 is not supported");
        }
        if integral(inst).is_some() {
            return self.unsupported("cvt to a floating-point type takes no .r?i modifier here");
        }
        let value = self.int(source, from.bits())?;
        let (float, sign) = (llvm_float(to), if from.is_signed() { "s" } else { "u" });
        let result = match directed(inst) {
            Some(mode) => {
                let wide = self.resize(&value, from.bits(), 64, from.is_signed());
                self.call(float, &format!("sim.{sign}64.f{}", to.bits()), &[("i64", &wide), ("i32", mode)])
            }
            None => self.def(format_args!("{sign}itofp i{} {value} to {float}", from.bits())),
        };
        let result = if inst.has(M::Sat) { self.saturate(to, &result) } else { result };
        self.write_float(dest, to, &result)
    }

    fn float_to_int(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let (to, mut from) = (inst.ty(0), inst.ty(1));
        let mut value = self.float(source, from)?;
        if from == Type::F16 {
            value = self.def(format_args!("fpext half {value} to float"));
            from = Type::F32;
        }
        if inst.has(M::Ftz) && from == Type::F32 {
            value = self.flush(&value);
        }
        let Some(rounding) = integral(inst) else {
            return self.unsupported("cvt from a floating-point type to an integer needs .rni, .rzi, .rmi or .rpi");
        };
        let float = llvm_float(from);
        let rounded = self.call(float, &format!("llvm.{rounding}.f{}", from.bits()), &[(float, &value)]);
        let (sign, int) = (if to.is_signed() { "si" } else { "ui" }, format!("i{}", to.bits()));
        let name = format!("llvm.fpto{sign}.sat.{int}.f{}", from.bits());
        let mut result = self.call(&int, &name, &[(float, &rounded)]);
        if inst.ty(1) == Type::F64 || to.bits() == 64 {
            let nan = self.def(format_args!("fcmp uno {float} {value}, {value}"));
            let indefinite = super::emit::int_constant(1 << (to.bits() - 1), to.bits());
            result = self.def(format_args!("select i1 {nan}, {int} {indefinite}, {int} {result}"));
        }
        self.write(dest, to.bits(), &result, to.is_signed())
    }

    fn float_to_float(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let (to, from) = (inst.ty(0), inst.ty(1));
        let mut value = self.float(source, from)?;
        let ftz = inst.has(M::Ftz);
        if ftz && from == Type::F32 {
            value = self.flush(&value);
        }
        let mode = directed(inst);
        let mut result = match (to, from) {
            (Type::F64, Type::F32) | (Type::F32, Type::F16) => {
                self.def(format_args!("fpext {} {value} to {}", llvm_float(from), llvm_float(to)))
            }
            (Type::F32, Type::F64) => match mode {
                Some(mode) => self.call("float", "sim.f64.f32", &[("double", &value), ("i32", mode)]),
                None => self.def(format_args!("fptrunc double {value} to float")),
            },
            (Type::F16, Type::F32) if mode.is_none() => self.def(format_args!("fptrunc float {value} to half")),
            _ if to == from => value,
            _ => {
                let message = format!("cvt from .{} to .{} is not supported", from.name(), to.name());
                return self.unsupported(message);
            }
        };
        if let (Some(rounding), true) = (integral(inst), to == from) {
            let float = llvm_float(to);
            result = self.call(float, &format!("llvm.{rounding}.f{}", to.bits()), &[(float, &result)]);
        }
        if ftz && to == Type::F32 {
            result = self.flush(&result);
        }
        if inst.has(M::Sat) {
            result = self.saturate(to, &result);
        }
        self.write_float(dest, to, &result)
    }
}
