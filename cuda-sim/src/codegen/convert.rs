//! `cvt`: conversions between integers, between floating-point types, and between the two.
//!
//! Values out of range saturate where PTX says so. NaN converts to the integer 0, but to the most significant bit alone
//! if the source is `f64` or the result has 64 bits. Every narrowing rounds once, from the exact value.

use super::emit::{Emitter, int_constant, llvm_float};
use super::float::directed;
use super::narrow::{Format, Mode, encode_mode};
use crate::ir::{Inst, Value};
use crate::ptx::{Modifier as M, Result, Type};

/// Returns the LLVM intrinsic that rounds to an integral value as a `.r?i` modifier says.
fn integral(inst: &Inst) -> Option<&'static str> {
    inst.modifiers().find_map(|m| match m {
        M::Rni => Some("roundeven"),
        M::Rzi => Some("trunc"),
        M::Rmi => Some("floor"),
        M::Rpi => Some("ceil"),
        _ => None,
    })
}

/// Returns the rounding mode of a narrowing conversion.
fn mode(inst: &Inst) -> Mode {
    let found = inst.modifiers().find_map(|m| match m {
        M::Rm => Some(Mode::Down),
        M::Rp => Some(Mode::Up),
        M::Rz => Some(Mode::Zero),
        M::Rna => Some(Mode::Away),
        _ => None,
    });
    found.unwrap_or(Mode::Nearest)
}

fn is_half(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::Bf16)
}

impl Emitter<'_> {
    pub(crate) fn cvt(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let (to, from) = (inst.ty(0), inst.ty(1));
        match (to, from) {
            (Type::Tf32, _) => return self.narrow_tf32(inst, dest, source),
            (Type::F16x2, _) => return self.widen_bytes(inst, dest, source),
            (Type::Bf16x2, _) => return self.widen_scales(dest, source),
            (_, Type::F16x2 | Type::Bf16x2) => {
                let (lanes, half) = (self.lanes(source, from)?, from.lane().0);
                let values = [self.widen(half, &lanes[0]), self.widen(half, &lanes[1])];
                return self.narrow_pair(inst, dest, &values);
            }
            _ => {}
        }
        match (to.is_float(), from.is_float()) {
            (false, false) => self.int_to_int(inst, dest, source),
            (true, false) => self.int_to_float(inst, dest, source),
            (false, true) => self.float_to_int(inst, dest, source),
            (true, true) => self.float_to_float(inst, dest, source),
        }
    }

    /// Converts two values at a time: the first one becomes the upper half.
    pub(crate) fn cvt_two(
        &mut self,
        inst: &Inst,
        dest: &Value,
        a: &Value,
        b: &Value,
        rest: Option<&Value>,
    ) -> Result<()> {
        if inst.has(M::Pack) {
            return self.pack(inst, dest, a, b, rest);
        }
        let values = [self.float(b, Type::F32)?, self.float(a, Type::F32)?];
        self.narrow_pair(inst, dest, &values)
    }

    /// `cvt.pack.sat`: packs two saturated integers next to the low part of the third operand.
    fn pack(&mut self, inst: &Inst, dest: &Value, a: &Value, b: &Value, c: Option<&Value>) -> Result<()> {
        let ty = inst.ty(0);
        let bits = ty.bits();
        let mut lanes = Vec::new();
        for source in [b, a] {
            let value = self.int(source, 32)?;
            lanes.push(self.clamp(&value, Type::S32, ty));
        }
        let mut value = self.join(&lanes, bits);
        if let Some(c) = c {
            let c = self.int(c, 32)?;
            let low = self.resize(&value, bits * 2, 32, false);
            let high = self.def(format_args!("shl i32 {c}, {}", bits * 2));
            value = self.def(format_args!("or i32 {high}, {low}"));
        }
        self.write(dest, 32, &value, false)
    }

    /// Converts two `float`s, the lower half first, to a packed type.
    fn narrow_pair(&mut self, inst: &Inst, dest: &Value, values: &[String]) -> Result<()> {
        let ty = inst.ty(0);
        let (format, bits) = match ty {
            Type::F16x2 => (Some(Format::F16), 16),
            Type::Bf16x2 => (Some(Format::Bf16), 16),
            Type::E4m3x2 => (Some(Format::E4m3), 8),
            Type::E5m2x2 => (Some(Format::E5m2), 8),
            _ => (None, 8),
        };
        let mut lanes = Vec::new();
        for value in values {
            let raw = match format {
                Some(format) => self.round_float(inst, format, value),
                None => self.scale(inst, value),
            };
            let raw = if inst.has(M::Relu) { self.relu_bits(&raw, bits) } else { raw };
            lanes.push(self.resize(&raw, 16, bits, false));
        }
        let value = self.join(&lanes, bits);
        self.write(dest, ty.bits(), &value, false)
    }

    /// Replaces negative results by 0. The sign bit of a NaN must be 0 here.
    fn relu_bits(&mut self, raw: &str, bits: u32) -> String {
        let sign = self.def(format_args!("and i16 {raw}, {}", int_constant(1 << (bits - 1), 16)));
        let negative = self.def(format_args!("icmp ne i16 {sign}, 0"));
        self.def(format_args!("select i1 {negative}, i16 0, i16 {raw}"))
    }

    /// Rounds a `float` to a narrow format, as an integer of 16 bits.
    fn round_float(&mut self, inst: &Inst, format: Format, value: &str) -> String {
        match (format, mode(inst)) {
            (Format::F16, Mode::Nearest) => self.narrow(Type::F16, value),
            (Format::Bf16, Mode::Nearest) => self.narrow(Type::Bf16, value),
            (_, mode) => {
                let wide = self.def(format_args!("fpext float {value} to double"));
                self.round_double(&wide, format, mode)
            }
        }
    }

    fn round_double(&mut self, value: &str, format: Format, mode: Mode) -> String {
        let how = encode_mode(format, mode).to_string();
        let raw = self.call("i32", "sim.narrow.f64", &[("double", value), ("i32", &how)]);
        self.resize(&raw, 32, 16, false)
    }

    /// Converts pairs of 8-bit floating-point numbers to `f16x2`.
    fn widen_bytes(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let raw = self.int(source, 16)?;
        let format = if inst.ty(1) == Type::E4m3x2 { "0" } else { "1" };
        let mut lanes = Vec::new();
        for at in [0, 8] {
            let moved = self.def(format_args!("lshr i16 {raw}, {at}"));
            let byte = self.def(format_args!("and i16 {moved}, 255"));
            let byte = self.resize(&byte, 16, 32, false);
            let value = self.call("float", "sim.widen.f8", &[("i32", &byte), ("i32", format)]);
            let half = self.narrow(Type::F16, &value);
            lanes.push(if inst.has(M::Relu) { self.relu(&half) } else { half });
        }
        let value = self.join(&lanes, 16);
        self.write(dest, 32, &value, false)
    }

    /// Returns the scale of a `float`, the exponent of its magnitude, as `i16`.
    fn scale(&mut self, inst: &Inst, value: &str) -> String {
        let up = if mode(inst) == Mode::Up { "1" } else { "0" };
        let most = if inst.has(M::Satfinite) { "254" } else { "255" };
        let raw = self.call("i32", "sim.narrow.scale", &[("float", value), ("i32", up), ("i32", most)]);
        self.resize(&raw, 32, 16, false)
    }

    /// Converts pairs of scales to `bf16x2`.
    fn widen_scales(&mut self, dest: &Value, source: &Value) -> Result<()> {
        let raw = self.int(source, 16)?;
        let mut lanes = Vec::new();
        for at in [0, 8] {
            let moved = self.def(format_args!("lshr i16 {raw}, {at}"));
            let byte = self.def(format_args!("and i16 {moved}, 255"));
            let exponent = self.def(format_args!("shl i16 {byte}, 7"));
            // below the normal numbers, and NaN
            let least = self.def(format_args!("icmp eq i16 {byte}, 0"));
            let nan = self.def(format_args!("icmp eq i16 {byte}, 255"));
            let half = self.def(format_args!("select i1 {least}, i16 64, i16 {exponent}"));
            lanes.push(self.def(format_args!("select i1 {nan}, i16 32767, i16 {half}")));
        }
        let value = self.join(&lanes, 16);
        self.write(dest, 32, &value, false)
    }

    fn narrow_tf32(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let raw = self.int(source, 32)?;
        let how = (mode(inst) as u32).to_string();
        let mut value = self.call("i32", "sim.narrow.tf32", &[("i32", &raw), ("i32", &how)]);
        if inst.has(M::Relu) {
            let negative = self.def(format_args!("icmp slt i32 {value}, 0"));
            value = self.def(format_args!("select i1 {negative}, i32 0, i32 {value}"));
        }
        self.write(dest, 32, &value, false)
    }

    /// Clamps an integer to the range of another type, in that type's width.
    fn clamp(&mut self, value: &str, from: Type, to: Type) -> String {
        let wide = self.resize(value, from.bits(), 128, from.is_signed());
        let (low, high) = match to.is_signed() {
            true => (-(1i128 << (to.bits() - 1)), (1i128 << (to.bits() - 1)) - 1),
            false => (0, (1i128 << to.bits()) - 1),
        };
        let value = self.call("i128", "llvm.smax.i128", &[("i128", &wide), ("i128", &low.to_string())]);
        let value = self.call("i128", "llvm.smin.i128", &[("i128", &value), ("i128", &high.to_string())]);
        self.resize(&value, 128, to.bits(), false)
    }

    fn int_to_int(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let (to, from) = (inst.ty(0), inst.ty(1));
        let value = self.int(source, from.bits())?;
        let value = match inst.has(M::Sat) {
            true => self.clamp(&value, from, to),
            false => self.resize(&value, from.bits(), to.bits(), from.is_signed()),
        };
        self.write(dest, to.bits(), &value, to.is_signed())
    }

    fn int_to_float(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let (to, from) = (inst.ty(0), inst.ty(1));
        let value = self.int(source, from.bits())?;
        let (float, sign) = (llvm_float(to), if from.is_signed() { "s" } else { "u" });
        if is_half(to) {
            let wide = self.resize(&value, from.bits(), 64, from.is_signed());
            let format = if to == Type::F16 { Format::F16 } else { Format::Bf16 };
            let how = encode_mode(format, mode(inst)).to_string();
            let raw = self.call("i32", &format!("sim.narrow.{sign}64"), &[("i64", &wide), ("i32", &how)]);
            let raw = self.resize(&raw, 32, 16, false);
            return self.write_half(inst, dest, to, &raw);
        }
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

    /// Writes a half after applying `.sat` and `.relu`.
    fn write_half(&mut self, inst: &Inst, dest: &Value, ty: Type, raw: &str) -> Result<()> {
        let mut raw = raw.to_owned();
        if inst.has(M::Sat) {
            let value = self.widen(ty, &raw);
            let value = self.saturate(Type::F32, &value);
            raw = self.narrow(ty, &value);
        }
        if inst.has(M::Relu) {
            raw = self.relu(&raw);
        }
        self.write(dest, 16, &raw, false)
    }

    /// Reads a floating-point source: a half is converted exactly to `float`, and subnormals are flushed if `.ftz` says
    /// so.
    fn converted_from(&mut self, inst: &Inst, source: &Value) -> Result<(String, Type)> {
        let from = inst.ty(1);
        if is_half(from) {
            let raw = self.int(source, 16)?;
            return Ok((self.widen(from, &raw), Type::F32));
        }
        let value = self.float(source, from)?;
        let flushed = inst.has(M::Ftz) && from == Type::F32;
        Ok((if flushed { self.flush(&value) } else { value }, from))
    }

    fn float_to_int(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let to = inst.ty(0);
        let (value, from) = self.converted_from(inst, source)?;
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
            let indefinite = int_constant(1 << (to.bits() - 1), to.bits());
            result = self.def(format_args!("select i1 {nan}, {int} {indefinite}, {int} {result}"));
        }
        self.write(dest, to.bits(), &result, to.is_signed())
    }

    fn float_to_float(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let to = inst.ty(0);
        let (mut value, from) = self.converted_from(inst, source)?;
        if let Some(rounding) = integral(inst) {
            let float = llvm_float(from);
            value = self.call(float, &format!("llvm.{rounding}.f{}", from.bits()), &[(float, &value)]);
        }
        if is_half(to) {
            let format = if to == Type::F16 { Format::F16 } else { Format::Bf16 };
            let raw = match from {
                Type::F64 => self.round_double(&value, format, mode(inst)),
                _ => self.round_float(inst, format, &value),
            };
            return self.write_half(inst, dest, to, &raw);
        }
        let mut result = match (to, from, directed(inst)) {
            (Type::F64, Type::F32, _) => self.def(format_args!("fpext float {value} to double")),
            (Type::F32, Type::F64, Some(mode)) => {
                self.call("float", "sim.f64.f32", &[("double", &value), ("i32", mode)])
            }
            (Type::F32, Type::F64, None) => self.def(format_args!("fptrunc double {value} to float")),
            _ => value,
        };
        if inst.has(M::Ftz) && to == Type::F32 {
            result = self.flush(&result);
        }
        if inst.has(M::Sat) {
            result = self.saturate(to, &result);
        }
        self.write_float(dest, to, &result)
    }
}
