//! Dispatch: maps every instruction to the function that emits it, and emits those that are neither arithmetic nor
//! memory.

use super::abi;
use super::emit::Emitter;
use crate::ir::video::video;
use crate::ir::{Inst, Value};
use crate::ptx::{Modifier as M, Opcode, Result, Type};

impl Emitter<'_> {
    /// Emits one instruction.
    pub(crate) fn inst(&mut self, inst: &Inst) -> Result<()> {
        self.position = inst.position;
        let ops = inst.operands.as_slice();
        let float = inst.form.types.first().is_some_and(|types| types.iter().any(|ty| ty.lane().0.is_float()));
        match (inst.opcode, ops) {
            (Opcode::Ld | Opcode::Ldu, [dest, address]) => self.load(inst, dest, address),
            (Opcode::St, [address, source]) => self.store(inst, address, source),
            (Opcode::Atom, [dest, address, sources @ ..]) => self.atomic(inst, dest, address, sources),
            (Opcode::Red, [address, sources @ ..]) => self.atomic(inst, &Value::Sink, address, sources),
            (Opcode::Fence | Opcode::Membar, _) => {
                // A fence between proxies orders no accesses of the same proxy.
                if self.flavour.checked && !inst.has(M::Proxy) {
                    self.declares.insert("declare void @sim.check.fence(ptr, i64, i32) #3".to_owned());
                    let mut kind = super::memory::scope_of(inst, abi::Scope::Device);
                    for (other, bit) in [(M::Release, abi::fence::ACQUIRES), (M::Acquire, abi::fence::RELEASES)] {
                        kind |= if inst.has(other) { 0 } else { bit };
                    }
                    self.line(format_args!("call void @sim.check.fence(ptr %ctx, i64 %thread, i32 {kind})"));
                }
                self.line(format_args!("fence seq_cst"));
                Ok(())
            }
            // There are no such caches, priorities and counters, and they would change no value.
            (Opcode::Prefetch | Opcode::Prefetchu | Opcode::Applypriority | Opcode::Discard | Opcode::Pmevent, _)
            | (Opcode::Griddepcontrol, _) => Ok(()),
            (Opcode::Nanosleep, _) => {
                self.declares.insert("declare void @sim.yield() #2".to_owned());
                self.line(format_args!("call void @sim.yield()"));
                Ok(())
            }
            (Opcode::Brkpt, _) => {
                self.declares.insert("declare void @sim.breakpoint(ptr, i64, i64) #2".to_owned());
                let position = abi::encode_position(inst.position);
                self.line(format_args!("call void @sim.breakpoint(ptr %ctx, i64 %thread, i64 {position})"));
                Ok(())
            }
            (Opcode::Cp, _) => self.copy(inst, ops),
            (Opcode::Mbarrier, _) => self.mbarrier(inst, ops),
            (Opcode::Device, _) => self.device_service(inst, ops),
            (Opcode::Addc | Opcode::Subc | Opcode::Madc, _) => self.carry_op(inst, ops),
            (Opcode::Add | Opcode::Sub | Opcode::Mad, _) if inst.has(M::Cc) => self.carry_op(inst, ops),
            (Opcode::Cvt, [dest, a, b, rest @ ..]) => self.cvt_two(inst, dest, a, b, rest.first()),
            (Opcode::Cvta, [dest, source]) => self.cvta(inst, dest, source),
            (Opcode::IsSpaceP, [dest, source]) => self.isspacep(inst, dest, source),
            (Opcode::Mapa, [dest, source, rank]) => self.mapa(inst, dest, source, rank),
            (Opcode::GetCtaRank, [dest, source]) => self.getctarank(inst, dest, source),
            (Opcode::Call, _) => self.call_function(inst),
            (Opcode::Mov, [dest, source]) => self.mov(inst, dest, source),
            (opcode, _) if video(opcode).is_some() => self.video(inst, ops),
            (Opcode::Cvt, [dest, source]) => self.cvt(inst, dest, source),
            (Opcode::Selp, [dest, a, b, c]) => self.selp(inst.ty(0), dest, a, b, c),
            (Opcode::Slct, [dest, a, b, c]) => self.slct(inst, dest, a, b, c),
            (Opcode::Setp, [dest, a, b, rest @ ..]) => self.setp(inst, dest, [a, b], rest.first()),
            (Opcode::Set, [dest, a, b, rest @ ..]) => self.set(inst, dest, [a, b], rest.first()),
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

    /// Emits the operations that the device's own function library is written in.
    fn device_service(&mut self, inst: &Inst, ops: &[Value]) -> Result<()> {
        let mut declare = |text: &str| {
            self.declares.insert(text.to_owned());
        };
        match (inst.modifiers().next(), ops) {
            (Some(M::Printf), [dest, format, args]) => {
                declare("declare i32 @sim.printf(ptr, i64, i64) #2");
                let (format, args) = (self.int(format, 64)?, self.int(args, 64)?);
                let count = self.def(format_args!("call i32 @sim.printf(ptr %ctx, i64 {format}, i64 {args})"));
                self.write(dest, 32, &count, true)
            }
            (Some(M::Assertfail), [message, file, line, function]) => {
                declare("declare void @sim.assertfail(ptr, ptr, i64, i64, i32, i64) #2");
                let (message, file) = (self.int(message, 64)?, self.int(file, 64)?);
                let (line, function) = (self.int(line, 32)?, self.int(function, 64)?);
                self.line(format_args!(
                    "call void @sim.assertfail(ptr %ctx, ptr %thread.record, i64 {message}, i64 {file}, i32 {line}, \
                     i64 {function})"
                ));
                let (label, next) = (self.exit_label, self.fresh());
                self.line(format_args!("br label %{label}"));
                self.text.push_str(&format!("after{next}:\n"));
                Ok(())
            }
            (Some(M::Malloc), [dest, bytes]) => {
                declare("declare i64 @sim.malloc(ptr, i64, i64, i64) #2");
                let (bytes, position) = (self.int(bytes, 64)?, self.call_position());
                let call = format_args!("call i64 @sim.malloc(ptr %ctx, i64 %thread, i64 {position}, i64 {bytes})");
                let address = self.def(call);
                self.write(dest, 64, &address, false)
            }
            (Some(M::Free), [address]) => {
                declare("declare void @sim.free(ptr, i64, i64, i64) #2");
                let (address, position) = (self.int(address, 64)?, self.call_position());
                self.line(format_args!("call void @sim.free(ptr %ctx, i64 %thread, i64 {position}, i64 {address})"));
                Ok(())
            }
            _ => self.unsupported("this operation of the device library is not supported"),
        }
    }

    /// Returns the pointer to the position of the last call in the thread's record.
    fn call_site(&mut self) -> String {
        self.uniform(format_args!("getelementptr i8, ptr %thread.record, i64 32"))
    }

    /// Returns the position of the call of a function of the device's library.
    fn call_position(&mut self) -> String {
        let site = self.call_site();
        self.def(format_args!("load i64, ptr {site}"))
    }

    /// Emits a call, which passes the thread's coordinates, the call's position and the free part of its local memory.
    fn call_function(&mut self, inst: &Inst) -> Result<()> {
        let Some(call) = &inst.call else { return self.unsupported("this call has no callee") };
        self.callees.insert(call.callee);
        let size = self.function.stack_bytes();
        let (site, position) = (self.call_site(), abi::encode_position(inst.position));
        self.line(format_args!("store i64 {position}, ptr {site}"));
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
