//! Dispatch: every instruction to the function that emits it, and the ones that are neither arithmetic nor memory.

use super::emit::Emitter;
use crate::ir::{Inst, Value};
use crate::ptx::{Modifier as M, Opcode, Result, Type};

impl Emitter<'_> {
    /// Emits one instruction.
    pub(crate) fn inst(&mut self, inst: &Inst) -> Result<()> {
        self.position = inst.position;
        let ops = inst.operands.as_slice();
        let float = matches!(inst.form.types.first(), Some(types) if types.contains(&Type::F32));
        match (inst.opcode, ops) {
            (Opcode::Ld | Opcode::Ldu, [dest, address]) => self.load(inst, dest, address),
            (Opcode::St, [address, source]) => self.store(inst, address, source),
            (Opcode::Atom, [dest, address, sources @ ..]) => self.atomic(inst, dest, address, sources),
            (Opcode::Red, [address, sources @ ..]) => self.atomic(inst, &Value::Sink, address, sources),
            (Opcode::Fence | Opcode::Membar, _) => {
                self.line(format_args!("fence seq_cst"));
                Ok(())
            }
            (Opcode::Cvta, [dest, source]) => self.cvta(inst, dest, source),
            (Opcode::IsSpaceP, [dest, source]) => self.isspacep(inst, dest, source),
            (Opcode::Call, _) => self.call_function(inst),
            (Opcode::Mov, [dest, source]) => self.mov(inst, dest, source),
            (Opcode::Cvt, [dest, source]) => self.cvt(inst, dest, source),
            (Opcode::Selp, [dest, a, b, c]) => self.selp(inst.ty(0), dest, a, b, c),
            (Opcode::Slct, [dest, a, b, c]) => self.slct(inst, dest, a, b, c),
            (Opcode::Setp, [dest, a, b, rest @ ..]) => self.setp(inst, dest, a, b, rest.first()),
            (Opcode::Set, [dest, a, b]) => self.set(inst, dest, a, b),
            (
                Opcode::Sin
                | Opcode::Cos
                | Opcode::Lg2
                | Opcode::Ex2
                | Opcode::Tanh
                | Opcode::Rcp
                | Opcode::Rsqrt
                | Opcode::Sqrt
                | Opcode::Testp
                | Opcode::Copysign
                | Opcode::Fma,
                _,
            ) => self.float_op(inst, ops),
            (
                Opcode::Add
                | Opcode::Sub
                | Opcode::Mul
                | Opcode::Mad
                | Opcode::Div
                | Opcode::Min
                | Opcode::Max
                | Opcode::Abs
                | Opcode::Neg,
                _,
            ) if float => self.float_op(inst, ops),
            _ => self.integer_op(inst, ops),
        }
    }

    fn selp(&mut self, ty: Type, dest: &Value, a: &Value, b: &Value, c: &Value) -> Result<()> {
        let bits = ty.bits();
        let (a, b, c) = (self.int(a, bits)?, self.int(b, bits)?, self.int(c, 1)?);
        let value = self.def(format_args!("select i1 {c}, i{bits} {a}, i{bits} {b}"));
        self.write(dest, bits, &value, false)
    }

    fn slct(&mut self, inst: &Inst, dest: &Value, a: &Value, b: &Value, c: &Value) -> Result<()> {
        let chosen = if inst.ty(1) == Type::F32 {
            let c = self.float(c, Type::F32)?;
            let c = if inst.has(M::Ftz) { self.flush(&c) } else { c };
            self.def(format_args!("fcmp oge float {c}, 0.0"))
        } else {
            let c = self.int(c, 32)?;
            self.def(format_args!("icmp sge i32 {c}, 0"))
        };
        let bits = inst.ty(0).bits();
        let (a, b) = (self.int(a, bits)?, self.int(b, bits)?);
        let value = self.def(format_args!("select i1 {chosen}, i{bits} {a}, i{bits} {b}"));
        self.write(dest, bits, &value, false)
    }

    /// The truth of a comparison, as `i1`.
    fn compare(&mut self, inst: &Inst, ty: Type, a: &Value, b: &Value) -> Result<String> {
        let compare = inst.modifiers().find(|m| !matches!(m, M::And | M::Or | M::Xor | M::Ftz));
        let name = compare.map_or("eq", |m| m.name());
        if ty.is_float() {
            let (mut x, mut y) = (self.float(a, ty)?, self.float(b, ty)?);
            if inst.has(M::Ftz) && ty == Type::F32 {
                (x, y) = (self.flush(&x), self.flush(&y));
            }
            let code = match name {
                "num" => "ord",
                "nan" => "uno",
                _ if name.len() == 3 => ["ueq", "une", "ult", "ule", "ugt", "uge"]
                    .into_iter()
                    .find(|c| c[1..] == name[..2])
                    .unwrap_or("ueq"),
                _ => ["oeq", "one", "olt", "ole", "ogt", "oge"].into_iter().find(|c| c[1..] == *name).unwrap_or("oeq"),
            };
            let float = super::emit::llvm_float(ty);
            return Ok(self.def(format_args!("fcmp {code} {float} {x}, {y}")));
        }
        let bits = ty.bits();
        let (x, y) = (self.int(a, bits)?, self.int(b, bits)?);
        let code = match (name, ty.is_signed()) {
            ("eq", _) => "eq",
            ("ne", _) => "ne",
            ("lt", true) => "slt",
            ("le", true) => "sle",
            ("gt", true) => "sgt",
            ("ge", true) => "sge",
            ("lt" | "lo", _) => "ult",
            ("le" | "ls", _) => "ule",
            ("gt" | "hi", _) => "ugt",
            _ => "uge",
        };
        Ok(self.def(format_args!("icmp {code} i{bits} {x}, {y}")))
    }

    fn setp(&mut self, inst: &Inst, dest: &Value, a: &Value, b: &Value, c: Option<&Value>) -> Result<()> {
        let truth = self.compare(inst, inst.ty(0), a, b)?;
        let combine = ["and", "or", "xor"].into_iter().find(|name| inst.modifiers().any(|m| m.name() == *name));
        let mut results = vec![truth.clone()];
        if matches!(dest, Value::Pair(..)) {
            results.push(self.def(format_args!("xor i1 {truth}, true")));
        }
        if let (Some(operation), Some(c)) = (combine, c) {
            let c = self.int(c, 1)?;
            results = results.iter().map(|r| self.def(format_args!("{operation} i1 {r}, {c}"))).collect();
        }
        match dest {
            Value::Pair(p, q) => {
                self.write(&Value::Reg(*p), 1, &results[0], false)?;
                self.write(&Value::Reg(*q), 1, &results[1], false)
            }
            _ => self.write(dest, 1, &results[0], false),
        }
    }

    fn set(&mut self, inst: &Inst, dest: &Value, a: &Value, b: &Value) -> Result<()> {
        let truth = self.compare(inst, inst.ty(1), a, b)?;
        let yes = if inst.ty(0) == Type::F32 { 0x3f80_0000 } else { -1 };
        let value = self.def(format_args!("select i1 {truth}, i32 {yes}, i32 0"));
        self.write(dest, 32, &value, false)
    }

    fn mov(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let bits = inst.ty(0).bits();
        match (dest, source) {
            (_, Value::Vector(parts)) => {
                let each = bits / parts.len() as u32;
                let mut packed = "0".to_owned();
                for (i, part) in parts.iter().enumerate() {
                    let part = self.int(part, each)?;
                    let wide = self.resize(&part, each, bits, false);
                    let moved = self.def(format_args!("shl i{bits} {wide}, {}", i as u32 * each));
                    packed = self.def(format_args!("or i{bits} {packed}, {moved}"));
                }
                self.write(dest, bits, &packed, false)
            }
            (Value::Vector(parts), _) => {
                let whole = self.int(source, bits)?;
                let each = bits / parts.len() as u32;
                for (i, part) in parts.iter().enumerate() {
                    let moved = self.def(format_args!("lshr i{bits} {whole}, {}", i as u32 * each));
                    let narrow = self.resize(&moved, bits, each, false);
                    self.write(part, each, &narrow, false)?;
                }
                Ok(())
            }
            _ => {
                let value = self.int(source, bits)?;
                self.write(dest, bits, &value, false)
            }
        }
    }

    /// A call: the thread's coordinates and the free part of its local memory go along.
    fn call_function(&mut self, inst: &Inst) -> Result<()> {
        let Some(call) = &inst.call else { return self.unsupported("a call without a callee") };
        self.callees.insert(call.callee);
        let size = self.function.local_bytes.next_multiple_of(16);
        let free = self.def(format_args!("add i64 %local, {size}"));
        let slots: String = call.returns.iter().chain(&call.args).map(|s| format!(", ptr %slot{s}")).collect();
        let ended = self.def(format_args!(
            "call i1 @f{}(ptr %ctx, ptr %thread.record, i64 {free}, i64 %local.end{slots})",
            call.callee
        ));
        let (label, next) = (self.exit_label, self.fresh());
        self.line(format_args!("br i1 {ended}, label %{label}, label %after{next}"));
        self.text.push_str(&format!("after{next}:\n"));
        Ok(())
    }
}
