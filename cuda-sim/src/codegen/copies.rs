//! Asynchronous copies: calls of the runtime, which keeps track of them (`exec/copies.rs`).
//!
//! Addresses are checked here like those of any access, except in exact code, where the runtime checks them: a source
//! of which no byte is read may be any address.

use super::abi;
use super::emit::Emitter;
use crate::exec::bulk::MULTICAST;
use crate::ir::{Inst, Value};
use crate::ptx::{Modifier as M, Result, Space, Type};

impl Emitter<'_> {
    /// Emits `cp.async`, `commit_group`, `wait_group`, `wait_all`, and the arrival of pending copies at a barrier.
    pub(crate) fn copy(&mut self, inst: &Inst, ops: &[Value]) -> Result<()> {
        if inst.has(M::Bulk) {
            return self.bulk(inst, ops);
        }
        if inst.has(M::CommitGroup) {
            return self.copies("commit", "");
        }
        if let (true, [address]) = (inst.has(M::Arrive), ops) {
            let pointer = self.pointer(inst, address, 8)?;
            self.tell_arrival(&pointer, abi::arrival::MIXED);
            return self.copies("arrive", &format!(", ptr {pointer}, i32 {}", u32::from(!inst.has(M::Noinc))));
        }
        match ops {
            [] => self.copies("wait", ", i64 -1"),
            [Value::Int(groups)] => self.copies("wait", &format!(", i64 {}", *groups as u32)),
            [to, from, Value::Int(bytes), rest @ ..] => {
                let filled = self.source_bytes(inst, *bytes as u32, rest.first())?;
                let bytes = *bytes as u64;
                let to = self.pointer_in(inst.space_of(0), to, bytes, None)?;
                let from = self.pointer_in(inst.space_of(1), from, bytes, None)?;
                let position = abi::encode_position(inst.position);
                self.copies("start", &format!(", ptr {to}, ptr {from}, i32 {bytes}, i32 {filled}, i64 {position}"))
            }
            _ => self.unsupported("these operands of a copy are not supported"),
        }
    }

    /// Emits `cp.async.bulk`. Copies to global memory happen immediately, so their groups are always complete.
    fn bulk(&mut self, inst: &Inst, ops: &[Value]) -> Result<()> {
        let position = abi::encode_position(inst.position);
        let (to, from, size, barrier) = match ops {
            [to, from, size, barrier @ ..] => (to, from, size, barrier),
            _ => return Ok(()),
        };
        let size = self.int(size, 32)?;
        let (to, from) = (self.raw(inst, 0, to)?, self.raw(inst, 1, from)?);
        let [barrier, rest @ ..] = barrier else {
            self.declares.insert("declare void @sim.bulk.to_global(ptr, i64, i64, i64, i32, i64) #3".to_owned());
            self.line(format_args!(
                "call void @sim.bulk.to_global(ptr %ctx, i64 %thread, i64 {to}, i64 {from}, i32 {size}, i64 {position})"
            ));
            return Ok(());
        };
        // The barrier is checked like any access; with a multicast mask the runtime finds those of the other blocks.
        let barrier = self.pointer(inst, barrier, 8)?;
        let barrier = self.def(format_args!("ptrtoint ptr {barrier} to i64"));
        let mask = match rest.first() {
            Some(mask) => {
                let blocks = self.int(mask, 16)?;
                let blocks = self.resize(&blocks, 16, 32, false);
                self.def(format_args!("or i32 {blocks}, {MULTICAST}"))
            }
            None => "0".to_owned(),
        };
        self.declares.insert("declare void @sim.bulk.to_shared(ptr, i64, i64, i64, i32, i64, i32, i64) #3".to_owned());
        self.line(format_args!(
            "call void @sim.bulk.to_shared(ptr %ctx, i64 %thread, i64 {to}, i64 {from}, i32 {size}, i64 {barrier}, i32 {mask}, \
             i64 {position})"
        ));
        Ok(())
    }

    /// Returns the address of an operand that the runtime checks.
    fn raw(&mut self, inst: &Inst, operand: usize, address: &Value) -> Result<String> {
        let is_shared = inst.space_of(operand) == Some(Space::Shared);
        let address = match address {
            Value::RegAddress(reg, at) => {
                let width = self.function.registers[*reg as usize];
                let base = self.int(&Value::Reg(*reg), width)?;
                let sum = self.def(format_args!("add i{width} {base}, {at}"));
                self.resize(&sum, width, 64, false)
            }
            Value::SymbolAddress(symbol, at) => self.int(&Value::Symbol(*symbol, *at), 64)?,
            Value::Absolute(at) => at.to_string(),
            _ => return self.unsupported("this operand is not an address"),
        };
        if !is_shared {
            return Ok(address);
        }
        let window = self.field(abi::SHARED, "i64");
        Ok(self.def(format_args!("add i64 {window}, {address}")))
    }

    /// Returns the number of bytes of the source that are read; zeros take the position of the others.
    fn source_bytes(&mut self, inst: &Inst, bytes: u32, operand: Option<&Value>) -> Result<String> {
        let Some(value) = operand else { return Ok(bytes.to_string()) };
        if inst.form.operands.get(3) == Some(&crate::ptx::isa::Shape::SourcePred) {
            let ignored = self.int(value, Type::Pred.bits())?;
            return Ok(self.def(format_args!("select i1 {ignored}, i32 0, i32 {bytes}")));
        }
        let given = self.int(value, 32)?;
        Ok(self.call("i32", "llvm.umin.i32", &[("i32", &given), ("i32", &bytes.to_string())]))
    }

    /// Calls one of the runtime's functions for asynchronous copies.
    fn copies(&mut self, name: &str, arguments: &str) -> Result<()> {
        let types: String = arguments.split_terminator(", ").skip(1).map(|a| format!(", {}", first_word(a))).collect();
        self.declares.insert(format!("declare void @sim.copies.{name}(ptr, i64{types}) #3"));
        self.line(format_args!("call void @sim.copies.{name}(ptr %ctx, i64 %thread{arguments})"));
        Ok(())
    }
}

fn first_word(argument: &str) -> &str {
    argument.split_once(' ').map_or(argument, |(ty, _)| ty)
}
