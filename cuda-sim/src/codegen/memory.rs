//! Memory: every access of a kernel goes through [`Emitter::pointer`], where a checker would stand.
//!
//! Local, parameter, constant and global addresses are host addresses; an address in shared memory is an offset in
//! the block's window. Plain accesses promise LLVM no alignment and no dereferenceability; those marked parallel may
//! be reordered across threads, as PTX lets them.

use super::abi;
use super::emit::{Emitter, llvm_float};
use crate::ir::{Inst, Symbol, Value};
use crate::ptx::{Modifier as M, Result, Space, Type};
use std::fmt::Write;

impl Emitter<'_> {
    /// The pointer for an access of one element, `offset` bytes on.
    fn pointer(&mut self, space: Option<Space>, address: &Value, offset: u64) -> Result<String> {
        if let Value::SymbolAddress(Symbol::Slot(slot), at) = address {
            let at = at.wrapping_add_unsigned(offset);
            return Ok(self.def(format_args!("getelementptr i8, ptr %slot{slot}, i64 {at}")));
        }
        let (base, at) = match address {
            Value::RegAddress(reg, at) => {
                let width = self.function.registers[*reg as usize];
                let base = self.int(&Value::Reg(*reg), width)?;
                (self.resize(&base, width, 64, false), *at)
            }
            Value::SymbolAddress(symbol, at) => (self.int(&Value::Symbol(*symbol, 0), 64)?, *at),
            Value::Absolute(at) => ("0".to_owned(), *at),
            _ => return self.unsupported("this operand is not an address"),
        };
        let base = match space {
            Some(Space::Shared) => {
                let window = self.field(abi::SHARED, "i64");
                self.def(format_args!("add i64 {window}, {base}"))
            }
            _ => base,
        };
        let at = at.wrapping_add_unsigned(offset);
        let address = if at == 0 { base } else { self.def(format_args!("add i64 {base}, {at}")) };
        let zero = self.field(abi::ZERO, "ptr");
        Ok(self.def(format_args!("getelementptr i8, ptr {zero}, i64 {address}")))
    }

    /// How LLVM has to treat an access: `(atomic ordering, alignment, metadata)`.
    fn access(&mut self, inst: &Inst, address: &Value, ty: Type, load: bool) -> (&'static str, u64, String) {
        let ordering = inst.modifiers().find_map(|m| match m {
            M::Volatile | M::Relaxed => Some("monotonic"),
            M::Acquire => Some("acquire"),
            M::Release => Some("release"),
            _ => None,
        });
        if let Some(ordering) = ordering {
            return (ordering, ty.bytes(), String::new());
        }
        let private = matches!(address, Value::SymbolAddress(Symbol::Slot(_), _));
        let mut metadata = if private { String::new() } else { self.parallel.to_owned() };
        let fixed = inst.has(M::Nc) || inst.space() == Some(Space::Const);
        if load && (fixed || (inst.space() == Some(Space::Param) && !private && self.is_kernel())) {
            metadata.push_str(", !invariant.load !3");
        }
        ("", 1, metadata)
    }

    fn is_kernel(&self) -> bool {
        self.function.kind == crate::ptx::FunctionKind::Entry
    }

    pub(crate) fn load(&mut self, inst: &Inst, dest: &Value, address: &Value) -> Result<()> {
        let ty = inst.ty(0);
        if let (Value::SymbolAddress(Symbol::KernelParam(at), offset), Value::Reg(_)) = (address, dest) {
            // A parameter is the same for every thread: loaded once, before the thread loop.
            let base = self.field(abi::PARAMS, "ptr");
            let at = at.wrapping_add_signed(*offset) as i64;
            let pointer = self.uniform(format_args!("getelementptr i8, ptr {base}, i64 {at}"));
            let value = self.uniform(format_args!("load i{}, ptr {pointer}, align 1", ty.bits()));
            return self.write(dest, ty.bits(), &value, ty.is_signed());
        }
        let dests = std::slice::from_ref(dest);
        let dests = if let Value::Vector(items) = dest { items.as_slice() } else { dests };
        let (ordering, align, metadata) = self.access(inst, address, ty, true);
        let atomic = if ordering.is_empty() { "" } else { "atomic " };
        let mut values = Vec::new();
        // All loads come before the writes: a destination may be the address.
        for i in 0..dests.len() {
            let pointer = self.pointer(inst.space(), address, i as u64 * ty.bytes())?;
            let bits = ty.bits();
            let value =
                self.def(format_args!("load {atomic}i{bits}, ptr {pointer} {ordering}, align {align}{metadata}"));
            values.push(value);
        }
        for (dest, value) in dests.iter().zip(&values) {
            self.write(dest, ty.bits(), value, ty.is_signed())?;
        }
        Ok(())
    }

    pub(crate) fn store(&mut self, inst: &Inst, address: &Value, source: &Value) -> Result<()> {
        let ty = inst.ty(0);
        let sources = std::slice::from_ref(source);
        let sources = if let Value::Vector(items) = source { items.as_slice() } else { sources };
        let (ordering, align, metadata) = self.access(inst, address, ty, false);
        let atomic = if ordering.is_empty() { "" } else { "atomic " };
        for (i, source) in sources.iter().enumerate() {
            let bits = ty.bits();
            let value = self.int(source, bits)?;
            let pointer = self.pointer(inst.space(), address, i as u64 * ty.bytes())?;
            self.line(format_args!("store {atomic}i{bits} {value}, ptr {pointer} {ordering}, align {align}{metadata}"));
        }
        Ok(())
    }

    /// `atom` and `red`. All are sequentially consistent: on x86 that costs no more than the weaker orders.
    pub(crate) fn atomic(&mut self, inst: &Inst, dest: &Value, address: &Value, sources: &[Value]) -> Result<()> {
        let ty = inst.ty(0);
        let bits = ty.bits();
        let pointer = self.pointer(inst.space(), address, 0)?;
        if let (true, [compare, new]) = (inst.has(M::Cas), sources) {
            let (compare, new) = (self.int(compare, bits)?, self.int(new, bits)?);
            let pair = self.def(format_args!(
                "cmpxchg ptr {pointer}, i{bits} {compare}, i{bits} {new} seq_cst seq_cst, align {}",
                ty.bytes()
            ));
            let old = self.def(format_args!("extractvalue {{ i{bits}, i1 }} {pair}, 0"));
            return self.write(dest, bits, &old, false);
        }
        let [source] = sources else { return self.unsupported("an atomic operation with these operands") };
        if ty.lane().0.is_float() {
            let value = self.int(source, bits)?;
            let old = self.atomic_float_add(inst, &pointer, &value)?;
            return self.write(dest, bits, &old, false);
        }
        let name = inst.modifiers().find_map(|m| match (m, ty.is_signed()) {
            (M::Exch, _) => Some("xchg"),
            (M::Add, _) => Some("add"),
            (M::And, _) => Some("and"),
            (M::Or, _) => Some("or"),
            (M::Xor, _) => Some("xor"),
            (M::Min, true) => Some("min"),
            (M::Min, false) => Some("umin"),
            (M::Max, true) => Some("max"),
            (M::Max, false) => Some("umax"),
            (M::Inc, _) => Some("uinc_wrap"),
            (M::Dec, _) => Some("udec_wrap"),
            _ => None,
        });
        let Some(name) = name else { return self.unsupported("this atomic operation") };
        let value = self.int(source, bits)?;
        let old =
            self.def(format_args!("atomicrmw {name} ptr {pointer}, i{bits} {value} seq_cst, align {}", ty.bytes()));
        self.write(dest, bits, &old, false)
    }

    /// Adds floating-point numbers, packed ones half by half, until no other thread came between.
    ///
    /// In global memory `f32` is flushed, as the manual says of `atom.add.f32`; in shared memory it is not.
    fn atomic_float_add(&mut self, inst: &Inst, pointer: &str, value: &str) -> Result<String> {
        let ty = inst.ty(0);
        let (lane, bits, flushed) = (ty.lane().0, ty.bits(), inst.space() != Some(Space::Shared));
        let (id, align) = (self.fresh(), ty.bytes());
        let _ = writeln!(self.prologue, "  %rmw{id} = alloca i{bits}");
        let first = self.def(format_args!("load atomic i{bits}, ptr {pointer} monotonic, align {align}"));
        self.line(format_args!("store i{bits} {first}, ptr %rmw{id}"));
        self.line(format_args!("br label %again{id}"));
        self.text.push_str(&format!("again{id}:\n"));
        let old = self.def(format_args!("load i{bits}, ptr %rmw{id}"));
        let parts = [self.split(&old, ty), self.split(value, ty)];
        let mut sums = Vec::new();
        for (a, b) in parts[0].iter().zip(&parts[1]) {
            let [x, y] = [a, b].map(|raw| match lane {
                Type::F16 | Type::Bf16 => self.widen(lane, raw),
                _ => {
                    let float = self.def(format_args!("bitcast i{} {raw} to {}", lane.bits(), llvm_float(lane)));
                    if flushed && lane == Type::F32 { self.flush(&float) } else { float }
                }
            });
            let float = if lane == Type::F64 { "double" } else { "float" };
            let sum = self.def(format_args!("fadd {float} {x}, {y}"));
            sums.push(match lane {
                Type::F16 | Type::Bf16 => self.narrow(lane, &sum),
                _ => {
                    let sum = if flushed && lane == Type::F32 { self.flush(&sum) } else { sum };
                    self.def(format_args!("bitcast {float} {sum} to i{}", lane.bits()))
                }
            });
        }
        let new = self.join(&sums, lane.bits());
        let pair = self
            .def(format_args!("cmpxchg ptr {pointer}, i{bits} {old}, i{bits} {new} seq_cst seq_cst, align {align}"));
        let seen = self.def(format_args!("extractvalue {{ i{bits}, i1 }} {pair}, 0"));
        let stored = self.def(format_args!("extractvalue {{ i{bits}, i1 }} {pair}, 1"));
        self.line(format_args!("store i{bits} {seen}, ptr %rmw{id}"));
        self.line(format_args!("br i1 {stored}, label %after{id}, label %again{id}"));
        self.text.push_str(&format!("after{id}:\n"));
        Ok(old)
    }

    /// Only shared addresses differ from generic ones.
    pub(crate) fn cvta(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let value = self.int(source, 64.min(inst.ty(0).bits()))?;
        let wide = self.resize(&value, inst.ty(0).bits(), 64, false);
        let result = if inst.space() == Some(Space::Shared) {
            let window = self.field(abi::SHARED, "i64");
            let operation = if inst.has(M::To) { "sub" } else { "add" };
            self.def(format_args!("{operation} i64 {wide}, {window}"))
        } else {
            wide
        };
        let result = self.resize(&result, 64, inst.ty(0).bits(), false);
        self.write(dest, inst.ty(0).bits(), &result, false)
    }

    pub(crate) fn isspacep(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let address = self.int(source, 64)?;
        let inside = |this: &mut Self, base: String, bytes: String| {
            let offset = this.def(format_args!("sub i64 {address}, {base}"));
            this.def(format_args!("icmp ult i64 {offset}, {bytes}"))
        };
        let (window, bytes) = (self.field(abi::SHARED, "i64"), self.field(abi::TOTAL_SHARED_BYTES, "i32"));
        let bytes = self.resize(&bytes, 32, 64, false);
        let shared = inside(self, window, bytes);
        let (base, stride) = (self.field(abi::LOCAL, "i64"), self.field(abi::LOCAL_STRIDE, "i64"));
        let threads = self.field(abi::THREADS, "i64");
        let all = self.def(format_args!("mul i64 {stride}, {threads}"));
        let local = inside(self, base, all);
        let (first, bytes) = self.function.constants;
        let data = self.field(abi::DATA, "i64");
        let start = self.uniform(format_args!("add i64 {data}, {first}"));
        let constant = inside(self, start, bytes.to_string());
        let params = self.field(abi::PARAMS, "i64");
        let bytes = if self.is_kernel() { self.function.param_bytes() } else { 0 };
        let param = inside(self, params, bytes.to_string());
        let result = match inst.space() {
            Some(Space::Shared) => shared,
            Some(Space::Local) => local,
            Some(Space::Const) => constant,
            Some(Space::Param) => param,
            _ => {
                let others = [local, constant, param];
                let any = others.iter().fold(shared, |any, one| self.def(format_args!("or i1 {any}, {one}")));
                self.def(format_args!("xor i1 {any}, true"))
            }
        };
        self.write(dest, 1, &result, false)
    }
}
