//! Integer arithmetic and bit manipulation.
//!
//! Cases that are undefined in LLVM (shifts by the width, division by zero, `MIN / -1`) get the results that PTX
//! defines.

use super::emit::Emitter;
use crate::ir::{Inst, Value};
use crate::ptx::{Modifier as M, Opcode, Result, Type};

impl Emitter<'_> {
    pub(crate) fn integer_op(&mut self, inst: &Inst, ops: &[Value]) -> Result<()> {
        let Some((dest, sources)) = ops.split_first() else {
            return self.unsupported("this instruction is not supported");
        };
        let ty = inst.ty(0);
        let bits = ty.bits();
        if ty.lane().1 {
            return self.packed_op(inst, dest, sources);
        }
        let mut v = Vec::new();
        for (shape, source) in inst.form.operands[1..].iter().zip(sources) {
            use crate::ptx::isa::Shape;
            let width = match shape {
                Shape::SourceAs(ty) => ty.bits(),
                Shape::SourceWide(_) => bits * 2,
                Shape::Source(index) => inst.ty(*index).bits(),
                _ => bits,
            };
            v.push(self.int(source, width)?);
        }
        let a = v.first().cloned().unwrap_or_default();
        let b = v.get(1).cloned().unwrap_or_default();
        let value = match inst.opcode {
            Opcode::Add | Opcode::Sub => self.add_sub(inst, &a, &b),
            Opcode::Mul if inst.has(M::Wide) => {
                let value = self.wide_product(ty, &a, &b);
                return self.write(dest, bits * 2, &value, false);
            }
            Opcode::Mul => self.product(inst, &a, &b),
            Opcode::Mad if inst.has(M::Wide) => {
                let product = self.wide_product(ty, &a, &b);
                let value = self.def(format_args!("add i{} {product}, {}", bits * 2, v[2]));
                return self.write(dest, bits * 2, &value, false);
            }
            Opcode::Mad => {
                let product = self.product(inst, &a, &b);
                match inst.has(M::Sat) {
                    true => {
                        let int = format!("i{bits}");
                        self.call(&int, &format!("llvm.sadd.sat.i{bits}"), &[(&int, &product), (&int, &v[2])])
                    }
                    false => self.def(format_args!("add i{bits} {product}, {}", v[2])),
                }
            }
            Opcode::Sad => {
                let (low, high) = (self.min_max("min", ty, &a, &b), self.min_max("max", ty, &a, &b));
                let distance = self.def(format_args!("sub i{bits} {high}, {low}"));
                self.def(format_args!("add i{bits} {distance}, {}", v[2]))
            }
            Opcode::Div | Opcode::Rem => self.divide(inst.opcode, ty, &a, &b),
            Opcode::Min | Opcode::Max => self.extremum(inst, ty, &a, &b),
            Opcode::Mul24 | Opcode::Mad24 => self.product24(inst, &v),
            Opcode::Dp4a | Opcode::Dp2a => self.dot(inst, &v),
            Opcode::Fns => self.call("i32", "sim.fns", &[("i32", &a), ("i32", &b), ("i32", &v[2])]),
            Opcode::Bmsk => self.bmsk(inst, &a, &b),
            Opcode::Szext => self.szext(inst, &a, &b),
            Opcode::Neg => self.def(format_args!("sub i{bits} 0, {a}")),
            Opcode::Abs => {
                let int = format!("i{bits}");
                self.call(&int, &format!("llvm.abs.i{bits}"), &[(&int, &a), ("i1", "false")])
            }
            Opcode::And => self.def(format_args!("and i{bits} {a}, {b}")),
            Opcode::Or => self.def(format_args!("or i{bits} {a}, {b}")),
            Opcode::Xor => self.def(format_args!("xor i{bits} {a}, {b}")),
            Opcode::Not => self.def(format_args!("xor i{bits} {a}, -1")),
            Opcode::CNot => {
                let zero = self.def(format_args!("icmp eq i{bits} {a}, 0"));
                self.def(format_args!("zext i1 {zero} to i{bits}"))
            }
            Opcode::Shl => self.shift("shl", bits, &a, &b),
            Opcode::Shr if ty.is_signed() => self.shift("ashr", bits, &a, &b),
            Opcode::Shr => self.shift("lshr", bits, &a, &b),
            Opcode::Shf => self.funnel(inst, &a, &b, &v[2]),
            Opcode::Lop3 => self.lop3(&a, &b, &v[2], sources.get(3))?,
            Opcode::Prmt => self.prmt(inst, &a, &b, &v[2]),
            Opcode::Brev => {
                let int = format!("i{bits}");
                self.call(&int, &format!("llvm.bitreverse.i{bits}"), &[(&int, &a)])
            }
            Opcode::Popc => {
                let int = format!("i{bits}");
                let count = self.call(&int, &format!("llvm.ctpop.i{bits}"), &[(&int, &a)]);
                return self.write_u32(dest, &count, bits);
            }
            Opcode::Clz => {
                let count = self.leading_zeros(bits, &a);
                return self.write_u32(dest, &count, bits);
            }
            Opcode::Bfind => {
                let found = self.bfind(inst, ty, &a);
                return self.write_u32(dest, &found, bits);
            }
            Opcode::Bfe => self.bfe(ty, &a, &b, &v[2]),
            Opcode::Bfi => self.bfi(bits, &a, &b, &v[2], &v[3]),
            _ => return self.unsupported(format!("'{}' is not supported", inst.opcode.name())),
        };
        self.write(dest, bits, &value, ty.is_signed())
    }

    /// Writes a count that was computed in `bits` bits to a 32-bit destination.
    fn write_u32(&mut self, dest: &Value, value: &str, bits: u32) -> Result<()> {
        let value = self.resize(value, bits, 32, false);
        self.write(dest, 32, &value, false)
    }

    fn add_sub(&mut self, inst: &Inst, a: &str, b: &str) -> String {
        let ty = inst.ty(0);
        let (name, bits) = (inst.opcode.name(), ty.bits());
        if !inst.has(M::Sat) {
            return self.def(format_args!("{name} i{bits} {a}, {b}"));
        }
        let (int, sign) = (format!("i{bits}"), if ty.is_signed() { "s" } else { "u" });
        self.call(&int, &format!("llvm.{sign}{name}.sat.i{bits}"), &[(&int, a), (&int, b)])
    }

    fn wide_product(&mut self, ty: Type, a: &str, b: &str) -> String {
        let (bits, wide) = (ty.bits(), ty.bits() * 2);
        let (x, y) = (self.resize(a, bits, wide, ty.is_signed()), self.resize(b, bits, wide, ty.is_signed()));
        // The product of two extended factors cannot wrap. The flag lets LLVM see strides.
        let flags = if ty.is_signed() { "nsw" } else { "nuw" };
        self.def(format_args!("mul {flags} i{wide} {x}, {y}"))
    }

    pub(crate) fn product(&mut self, inst: &Inst, a: &str, b: &str) -> String {
        let ty = inst.ty(0);
        let bits = ty.bits();
        if !inst.has(M::Hi) {
            return self.def(format_args!("mul i{bits} {a}, {b}"));
        }
        let product = self.wide_product(ty, a, b);
        let high = self.def(format_args!("lshr i{} {product}, {bits}", bits * 2));
        self.def(format_args!("trunc i{} {high} to i{bits}", bits * 2))
    }

    pub(crate) fn min_max(&mut self, which: &str, ty: Type, a: &str, b: &str) -> String {
        let int = format!("i{}", ty.bits());
        let sign = if ty.is_signed() { "s" } else { "u" };
        self.call(&int, &format!("llvm.{sign}{which}.{int}"), &[(&int, a), (&int, b)])
    }

    /// Division by zero returns all ones, and its remainder the dividend, as on NVIDIA's hardware.
    fn divide(&mut self, opcode: Opcode, ty: Type, a: &str, b: &str) -> String {
        let bits = ty.bits();
        let zero = self.def(format_args!("icmp eq i{bits} {b}, 0"));
        let mut guarded = zero.clone();
        if ty.is_signed() {
            let minus = self.def(format_args!("icmp eq i{bits} {b}, -1"));
            let least = self.def(format_args!("icmp eq i{bits} {a}, {}", -(1i128 << (bits - 1))));
            let both = self.def(format_args!("and i1 {minus}, {least}"));
            guarded = self.def(format_args!("or i1 {zero}, {both}"));
        }
        let divisor = self.def(format_args!("select i1 {guarded}, i{bits} 1, i{bits} {b}"));
        let sign = if ty.is_signed() { "s" } else { "u" };
        if opcode == Opcode::Div {
            let quotient = self.def(format_args!("{sign}div i{bits} {a}, {divisor}"));
            return self.def(format_args!("select i1 {zero}, i{bits} -1, i{bits} {quotient}"));
        }
        let rest = self.def(format_args!("{sign}rem i{bits} {a}, {divisor}"));
        // What a card gives where the manual leaves the result open.
        let by_zero = if ty == Type::S16 { "-1" } else { a };
        self.def(format_args!("select i1 {zero}, i{bits} {by_zero}, i{bits} {rest}"))
    }

    /// Shifts by a 32-bit amount that is clamped to the width.
    pub(crate) fn shift(&mut self, operation: &str, bits: u32, a: &str, amount: &str) -> String {
        let over = self.def(format_args!("icmp uge i32 {amount}, {bits}"));
        let last = if operation == "ashr" { bits - 1 } else { 0 };
        let safe = self.def(format_args!("select i1 {over}, i32 {last}, i32 {amount}"));
        let safe = self.resize(&safe, 32, bits, false);
        let shifted = self.def(format_args!("{operation} i{bits} {a}, {safe}"));
        if operation == "ashr" {
            return shifted;
        }
        self.def(format_args!("select i1 {over}, i{bits} 0, i{bits} {shifted}"))
    }

    fn funnel(&mut self, inst: &Inst, a: &str, b: &str, c: &str) -> String {
        let amount = if inst.has(M::Wrap) {
            self.def(format_args!("and i32 {c}, 31"))
        } else {
            self.call("i32", "llvm.umin.i32", &[("i32", c), ("i32", "32")])
        };
        let (low, high) = (self.resize(a, 32, 64, false), self.resize(b, 32, 64, false));
        let high = self.def(format_args!("shl i64 {high}, 32"));
        let both = self.def(format_args!("or i64 {high}, {low}"));
        let amount = self.resize(&amount, 32, 64, false);
        let result = if inst.has(M::L) {
            let moved = self.def(format_args!("shl i64 {both}, {amount}"));
            self.def(format_args!("lshr i64 {moved}, 32"))
        } else {
            self.def(format_args!("lshr i64 {both}, {amount}"))
        };
        self.resize(&result, 64, 32, false)
    }

    fn lop3(&mut self, a: &str, b: &str, c: &str, table: Option<&Value>) -> Result<String> {
        let Some(Value::Int(table)) = table else { return self.unsupported("the table of lop3 must be a constant") };
        let mut result = "0".to_owned();
        for term in (0..8).filter(|term| table & (1 << term) != 0) {
            let mut product = "-1".to_owned();
            for (bit, input) in [(4, a), (2, b), (1, c)] {
                let input =
                    if term & bit != 0 { input.to_owned() } else { self.def(format_args!("xor i32 {input}, -1")) };
                product = self.def(format_args!("and i32 {product}, {input}"));
            }
            result = self.def(format_args!("or i32 {result}, {product}"));
        }
        Ok(result)
    }

    /// Returns the index of the source byte for byte `i`, with the sign flag of the default mode in bit 3.
    fn prmt_selector(&mut self, inst: &Inst, i: u32, c: &str) -> String {
        let count = self.def(format_args!("and i32 {c}, 3"));
        if inst.has(M::F4e) {
            self.def(format_args!("add i32 {count}, {i}"))
        } else if inst.has(M::B4e) {
            let back = self.def(format_args!("sub i32 {count}, {i}"));
            self.def(format_args!("and i32 {back}, 7"))
        } else if inst.has(M::Rc8) {
            count
        } else if inst.has(M::Ecl) {
            self.call("i32", "llvm.umax.i32", &[("i32", &count), ("i32", &i.to_string())])
        } else if inst.has(M::Ecr) {
            self.call("i32", "llvm.umin.i32", &[("i32", &count), ("i32", &i.to_string())])
        } else if inst.has(M::Rc16) {
            let half = self.def(format_args!("and i32 {c}, 1"));
            let start = self.def(format_args!("shl i32 {half}, 1"));
            self.def(format_args!("add i32 {start}, {}", i & 1))
        } else {
            let moved = self.def(format_args!("lshr i32 {c}, {}", i * 4));
            self.def(format_args!("and i32 {moved}, 15"))
        }
    }

    fn prmt(&mut self, inst: &Inst, a: &str, b: &str, c: &str) -> String {
        let (low, high) = (self.resize(a, 32, 64, false), self.resize(b, 32, 64, false));
        let high = self.def(format_args!("shl i64 {high}, 32"));
        let both = self.def(format_args!("or i64 {high}, {low}"));
        let mut result = "0".to_owned();
        for i in 0..4 {
            let selector = self.prmt_selector(inst, i, c);
            let byte = self.def(format_args!("and i32 {selector}, 7"));
            let amount = self.def(format_args!("shl i32 {byte}, 3"));
            let amount = self.resize(&amount, 32, 64, false);
            let moved = self.def(format_args!("lshr i64 {both}, {amount}"));
            let byte = self.def(format_args!("trunc i64 {moved} to i8"));
            let filled = self.def(format_args!("ashr i8 {byte}, 7"));
            let sign = self.def(format_args!("icmp ugt i32 {selector}, 7"));
            let byte = self.def(format_args!("select i1 {sign}, i8 {filled}, i8 {byte}"));
            let wide = self.resize(&byte, 8, 32, false);
            let placed = self.def(format_args!("shl i32 {wide}, {}", i * 8));
            result = self.def(format_args!("or i32 {result}, {placed}"));
        }
        result
    }

    fn leading_zeros(&mut self, bits: u32, a: &str) -> String {
        let int = format!("i{bits}");
        self.call(&int, &format!("llvm.ctlz.i{bits}"), &[(&int, a), ("i1", "false")])
    }

    fn bfind(&mut self, inst: &Inst, ty: Type, a: &str) -> String {
        let bits = ty.bits();
        let mut a = a.to_owned();
        if ty.is_signed() {
            let sign = self.def(format_args!("ashr i{bits} {a}, {}", bits - 1));
            a = self.def(format_args!("xor i{bits} {a}, {sign}"));
        }
        let zeros = self.leading_zeros(bits, &a);
        if !inst.has(M::Shiftamt) {
            return self.def(format_args!("sub i{bits} {}, {zeros}", bits - 1));
        }
        let none = self.def(format_args!("icmp eq i{bits} {zeros}, {bits}"));
        self.def(format_args!("select i1 {none}, i{bits} -1, i{bits} {zeros}"))
    }

    /// Returns the low byte of a position or length as an integer of the operation's width.
    fn field_byte(&mut self, value: &str, bits: u32) -> String {
        let byte = self.def(format_args!("and i32 {value}, 255"));
        self.resize(&byte, 32, bits, false)
    }

    fn bfe(&mut self, ty: Type, a: &str, position: &str, length: &str) -> String {
        let bits = ty.bits();
        let int = format!("i{bits}");
        let position = self.def(format_args!("and i32 {position}, 255"));
        let moved = self.shift(if ty.is_signed() { "ashr" } else { "lshr" }, bits, a, &position);
        let length = self.field_byte(length, bits);
        let length = self.call(&int, &format!("llvm.umin.i{bits}"), &[(&int, &length), (&int, &bits.to_string())]);
        let unused = self.def(format_args!("sub i{bits} {bits}, {length}"));
        let none = self.def(format_args!("icmp eq i{bits} {length}, 0"));
        let unused = self.def(format_args!("select i1 {none}, i{bits} 0, i{bits} {unused}"));
        let up = self.def(format_args!("shl i{bits} {moved}, {unused}"));
        let back = if ty.is_signed() { "ashr" } else { "lshr" };
        let down = self.def(format_args!("{back} i{bits} {up}, {unused}"));
        self.def(format_args!("select i1 {none}, i{bits} 0, i{bits} {down}"))
    }

    fn bfi(&mut self, bits: u32, a: &str, b: &str, position: &str, length: &str) -> String {
        let position = self.def(format_args!("and i32 {position}, 255"));
        let length = self.def(format_args!("and i32 {length}, 255"));
        let above = self.shift("shl", bits, "-1", &length);
        let field = self.def(format_args!("xor i{bits} {above}, -1"));
        let mask = self.shift("shl", bits, &field, &position);
        let moved = self.shift("shl", bits, a, &position);
        let inserted = self.def(format_args!("and i{bits} {moved}, {mask}"));
        let hole = self.def(format_args!("xor i{bits} {mask}, -1"));
        let kept = self.def(format_args!("and i{bits} {b}, {hole}"));
        self.def(format_args!("or i{bits} {kept}, {inserted}"))
    }
}
