//! Comparisons: `setp` and `set` for every type, packed ones included.

use super::emit::{Emitter, llvm_float};
use super::vector_loop;
use crate::ir::{Inst, Value};
use crate::ptx::{Modifier as M, Result, Type};

/// Returns the operator that combines a comparison's result with a predicate.
fn combination(inst: &Inst) -> Option<&'static str> {
    inst.modifiers().find_map(|m| match m {
        M::And => Some("and"),
        M::Or => Some("or"),
        M::Xor => Some("xor"),
        _ => None,
    })
}

/// Returns the comparison's name.
fn comparison(inst: &Inst) -> &'static str {
    inst.modifiers().find(|m| !matches!(m, M::And | M::Or | M::Xor | M::Ftz)).map_or("eq", |m| m.name())
}

fn float_code(name: &str) -> &'static str {
    match name {
        "num" => "ord",
        "nan" => "uno",
        "ne" => "one",
        "lt" => "olt",
        "le" => "ole",
        "gt" => "ogt",
        "ge" => "oge",
        "equ" => "ueq",
        "neu" => "une",
        "ltu" => "ult",
        "leu" => "ule",
        "gtu" => "ugt",
        "geu" => "uge",
        _ => "oeq",
    }
}

fn integer_code(name: &str, signed: bool) -> &'static str {
    match (name, signed) {
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
    }
}

impl Emitter<'_> {
    /// Compares two values of `ty`, given as integers of its width; returns an `i1`.
    fn compare(&mut self, inst: &Inst, ty: Type, x: &str, y: &str) -> String {
        let name = comparison(inst);
        if !ty.is_float() {
            let code = integer_code(name, ty.is_signed());
            return self.def(format_args!("icmp {code} i{} {x}, {y}", ty.bits()));
        }
        let ftz = inst.has(M::Ftz);
        let (x, y) = (self.operand_float(ty, x, ftz), self.operand_float(ty, y, ftz));
        let float = if ty == Type::F64 { "double" } else { "float" };
        self.def(format_args!("fcmp {} {float} {x}, {y}", float_code(name)))
    }

    /// Converts a value of any floating-point type to `double`, or else to `float`, which is exact for the narrower
    /// types.
    fn operand_float(&mut self, ty: Type, raw: &str, ftz: bool) -> String {
        match ty {
            Type::F16 | Type::Bf16 => {
                let raw = if ftz { self.flush_half(raw) } else { raw.to_owned() };
                self.widen(ty, &raw)
            }
            _ => {
                let value = self.def(format_args!("bitcast i{} {raw} to {}", ty.bits(), llvm_float(ty)));
                if ftz && ty == Type::F32 { self.flush(&value) } else { value }
            }
        }
    }

    /// Returns the result for each lane, combined with the predicate if there is one, and the uncombined results.
    fn truths(&mut self, inst: &Inst, ty: Type, sources: [&Value; 2]) -> Result<Vec<String>> {
        let (lane, _) = ty.lane();
        let [a, b] = [self.lanes(sources[0], ty)?, self.lanes(sources[1], ty)?];
        Ok(a.iter().zip(&b).map(|(x, y)| self.compare(inst, lane, x, y)).collect())
    }

    /// Returns true if the predicate decides about a branch in code for the largest value of a counter.
    fn decides(&self, dest: &Value) -> bool {
        let Some(ordered) = self.ordered else { return false };
        match dest {
            Value::Reg(reg) => ordered.predicates.contains(reg),
            Value::Pair(p, q) => ordered.predicates.contains(p) || ordered.predicates.contains(q),
            _ => false,
        }
    }

    /// In code for the largest value of a counter, records that the comparison may have another result for a smaller one.
    ///
    /// Between the smallest and the largest value of the counter, its sums with uniform amounts grow with it unless they
    /// wrap, so that a comparison which has the same result at both ends has it everywhere.
    fn compare_smallest(&mut self, inst: &Inst, sources: [&Value; 2], truth: &str) -> Result<()> {
        let mut smallest = Vec::new();
        for source in sources {
            let value = self.int(source, 64)?;
            let sum = match (source, self.ordered) {
                (Value::Reg(reg), Some(ordered)) => ordered.sums.contains(reg),
                _ => false,
            };
            if !sum {
                smallest.push(value);
                continue;
            }
            let span = self.def(format_args!("load i64, ptr %span"));
            let wraps = self.def(format_args!("icmp ult i64 {value}, {span}"));
            vector_loop::record_stray(self, &wraps);
            smallest.push(self.def(format_args!("sub i64 {value}, {span}")));
        }
        let other = self.compare(inst, Type::U64, &smallest[0], &smallest[1]);
        let differs = self.def(format_args!("xor i1 {truth}, {other}"));
        vector_loop::record_stray(self, &differs);
        Ok(())
    }

    fn combined(&mut self, inst: &Inst, truths: Vec<String>, c: Option<&Value>) -> Result<Vec<String>> {
        let (Some(operation), Some(c)) = (combination(inst), c) else { return Ok(truths) };
        let c = self.int(c, 1)?;
        Ok(truths.iter().map(|t| self.def(format_args!("{operation} i1 {t}, {c}"))).collect())
    }

    pub(crate) fn setp(&mut self, inst: &Inst, dest: &Value, sources: [&Value; 2], c: Option<&Value>) -> Result<()> {
        let mut truths = self.truths(inst, inst.ty(0), sources)?;
        if self.decides(dest) {
            self.compare_smallest(inst, sources, &truths[0])?;
        }
        if truths.len() == 1 && matches!(dest, Value::Pair(..)) {
            // The second result of a single comparison is its negation.
            truths.push(self.def(format_args!("xor i1 {}, true", truths[0])));
        }
        let results = self.combined(inst, truths, c)?;
        match dest {
            Value::Pair(p, q) => {
                self.write(&Value::Reg(*p), 1, &results[0], false)?;
                self.write(&Value::Reg(*q), 1, &results[1], false)
            }
            _ => self.write(dest, 1, &results[0], false),
        }
    }

    pub(crate) fn set(&mut self, inst: &Inst, dest: &Value, sources: [&Value; 2], c: Option<&Value>) -> Result<()> {
        let ty = inst.ty(0);
        let truths = self.truths(inst, inst.ty(1), sources)?;
        let results = self.combined(inst, truths, c)?;
        let bits = ty.bits() / results.len() as u32;
        let yes = match ty.lane().0 {
            Type::F32 => 0x3f80_0000,
            Type::F16 => 0x3c00,
            Type::Bf16 => 0x3f80,
            _ => -1,
        };
        let lanes: Vec<String> =
            results.iter().map(|t| self.def(format_args!("select i1 {t}, i{bits} {yes}, i{bits} 0"))).collect();
        let value = self.join(&lanes, bits);
        self.write(dest, ty.bits(), &value, ty.is_signed())
    }
}
