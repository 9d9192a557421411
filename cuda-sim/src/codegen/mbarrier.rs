//! Barriers in shared memory: calls of the runtime, which knows the layout of a barrier object (`exec/mbarrier.rs`).

use super::abi;
use super::emit::Emitter;
use crate::exec::mbarrier::{DROPS, HOLDS};
use crate::ir::{Inst, Value};
use crate::ptx::{Modifier as M, Result};

impl Emitter<'_> {
    pub(crate) fn mbarrier(&mut self, inst: &Inst, ops: &[Value]) -> Result<()> {
        let has = |m| inst.has(m);
        match ops {
            [dest, state] if has(M::PendingCount) => {
                let state = self.int(state, 64)?;
                let pending = self.def(format_args!("and i64 {state}, {}", (1 << 20) - 1));
                let pending = self.resize(&pending, 64, 32, false);
                self.write(dest, 32, &pending, false)
            }
            [address] => self.change(inst, "inval", address, &Value::Int(0)),
            [address, count] if has(M::Init) => self.change(inst, "init", address, count),
            [address, bytes] if has(M::ExpectTx) && !self.arrives(inst) => self.change(inst, "expect", address, bytes),
            [address, bytes] if has(M::CompleteTx) => self.change(inst, "complete", address, bytes),
            [dest, address, rest @ ..] if self.arrives(inst) => self.arrive(inst, dest, address, rest.first()),
            [dest, address, phase, ..] => self.test_wait(inst, dest, address, phase),
            _ => self.unsupported("these operands of a barrier are not supported"),
        }
    }

    fn arrives(&self, inst: &Inst) -> bool {
        inst.has(M::Arrive) || inst.has(M::ArriveDrop)
    }

    /// Emits an operation that returns nothing.
    fn change(&mut self, inst: &Inst, name: &str, address: &Value, number: &Value) -> Result<()> {
        let number = self.int(number, 32)?;
        let pointer = self.pointer(inst, address, 8)?;
        let begins = inst.has(M::Init) || inst.has(M::Inval);
        self.tell_arrival(&pointer, if begins { abi::arrival::BEGINS } else { abi::arrival::MIXED });
        let position = abi::encode_position(inst.position);
        self.declares.insert(format!("declare void @sim.mbarrier.{name}(ptr, i64, i64, ptr, i32) #3"));
        self.line(format_args!(
            "call void @sim.mbarrier.{name}(ptr %ctx, i64 %thread, i64 {position}, ptr {pointer}, i32 {number})"
        ));
        Ok(())
    }

    fn arrive(&mut self, inst: &Inst, dest: &Value, address: &Value, number: Option<&Value>) -> Result<()> {
        let number = number.map_or(Ok("1".to_owned()), |number| self.int(number, 32))?;
        let (count, bytes) = if inst.has(M::ExpectTx) { ("1".to_owned(), number) } else { (number, "0".to_owned()) };
        let drops = if inst.has(M::ArriveDrop) { DROPS } else { 0 };
        let how = drops | if inst.has(M::NoComplete) { HOLDS } else { 0 };
        let pointer = self.pointer(inst, address, 8)?;
        let kind = match (inst.has(M::ExpectTx), inst.has(M::Relaxed)) {
            (true, _) => abi::arrival::MIXED,
            (false, true) => abi::arrival::RELAXED,
            (false, false) => abi::arrival::RELEASE,
        };
        self.tell_arrival(&pointer, kind);
        let position = abi::encode_position(inst.position);
        self.declares.insert("declare i64 @sim.mbarrier.arrive(ptr, i64, i64, ptr, i32, i32, i32) #3".to_owned());
        let state = self.def(format_args!(
            "call i64 @sim.mbarrier.arrive(ptr %ctx, i64 %thread, i64 {position}, ptr {pointer}, i32 {count}, i32 {bytes}, \
             i32 {how})"
        ));
        self.write(dest, 64, &state, false)
    }

    /// Tells the checkers of an operation on a barrier object ([`abi::arrival`]).
    pub(super) fn tell_arrival(&mut self, pointer: &str, kind: u32) {
        if self.flavour.checked {
            self.declares.insert("declare void @sim.check.arrived(ptr, i64, ptr, i32) #3".to_owned());
            self.line(format_args!("call void @sim.check.arrived(ptr %ctx, i64 %thread, ptr {pointer}, i32 {kind})"));
        }
    }

    fn test_wait(&mut self, inst: &Inst, dest: &Value, address: &Value, phase: &Value) -> Result<()> {
        let odd = if inst.has(M::Parity) {
            self.int(phase, 32)?
        } else {
            let state = self.int(phase, 64)?;
            let odd = self.def(format_args!("lshr i64 {state}, 63"));
            self.resize(&odd, 64, 32, false)
        };
        let pointer = self.pointer(inst, address, 8)?;
        self.declares.insert("declare i32 @sim.mbarrier.test(ptr, ptr, i32) #3".to_owned());
        let ended = self.def(format_args!("call i32 @sim.mbarrier.test(ptr %ctx, ptr {pointer}, i32 {odd})"));
        if self.flavour.checked {
            let relaxed = u32::from(inst.has(M::Relaxed));
            self.declares.insert("declare void @sim.check.passed(ptr, i64, ptr, i32, i32) #3".to_owned());
            self.line(format_args!(
                "call void @sim.check.passed(ptr %ctx, i64 %thread, ptr {pointer}, i32 {ended}, i32 {relaxed})"
            ));
        }
        let ended = self.resize(&ended, 32, 1, false);
        self.write(dest, 1, &ended, false)
    }
}
