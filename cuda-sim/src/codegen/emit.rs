//! The text builder: defines temporaries, reads operands as values of a type, and writes registers.
//!
//! It knows nothing about single instructions. Invariant: every temporary is defined before it is used.

use super::abi::{self, access};
use super::batch::Batch;
use super::kernel::Flavour;
use crate::ir::demanded::Demanded;
use crate::ir::lockstep::{Ordered, Selects};
use crate::ir::moves::Moves;
use crate::ir::{BlockId, ClusterRegister, Function, Inst, LaneMask, RESERVED_SHARED, Reg, Special, Symbol, Value};
use crate::ptx::{Error, Position, Result, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Arguments, Write};

/// The body of a region or function while it is emitted.
pub(crate) struct Emitter<'a> {
    pub(crate) function: &'a Function,
    /// The text of the function's entry block: stack slots and uniform values.
    pub(crate) prologue: String,
    pub(crate) text: String,
    counter: u32,
    /// Values of the prologue, by the expressions that define them, so that each is loaded once.
    uniforms: BTreeMap<String, String>,
    /// Declarations that the module needs.
    pub(crate) declares: BTreeSet<String>,
    pub(crate) callees: BTreeSet<usize>,
    /// Metadata for accesses that have no loop-carried dependence between threads.
    pub(crate) parallel: &'static str,
    /// The label to which an instruction branches if the thread ended in a callee.
    pub(crate) exit_label: &'static str,
    /// Blocks that no thread reaches, as an earlier check has established.
    pub(crate) unreachable_blocks: BTreeSet<BlockId>,
    /// True for code that only computes branches, and checks what the other code assumes of selections.
    pub(crate) without_effects: bool,
    /// Instructions that are assumed to select one operand.
    pub(crate) selects: Selects,
    /// In code for the largest value of a counter: that counter.
    pub(super) ordered: Option<&'a Ordered>,
    pub(crate) position: Position,
    /// The value that the next access stores, in code for the checkers.
    pub(crate) stored: Option<String>,
    pub(crate) flavour: Flavour,
    /// True if checked code records its accesses instead of asking about each one.
    pub(crate) batches: bool,
    /// The accesses recorded so far in the current thread loop.
    pub(super) batch: Option<Batch>,
    /// True if the code has an access that cannot be recorded.
    pub(crate) refused: bool,
    /// The function's moves and the demanded bits of its registers, once they are needed.
    moves: Option<(Moves, Demanded)>,
}

impl<'a> Emitter<'a> {
    pub(crate) fn new(function: &'a Function, flavour: Flavour) -> Self {
        Emitter {
            function,
            prologue: String::new(),
            text: String::new(),
            counter: 0,
            uniforms: BTreeMap::new(),
            declares: BTreeSet::new(),
            callees: BTreeSet::new(),
            parallel: "",
            exit_label: "thread.done",
            unreachable_blocks: BTreeSet::new(),
            without_effects: false,
            selects: Selects::new(),
            ordered: None,
            position: Position::default(),
            stored: None,
            flavour,
            batches: false,
            batch: None,
            refused: false,
            moves: None,
        }
    }

    /// Returns the properties of an access that moves a value or reads none, in code for the checkers; `kind` has its others
    /// ([`access`]).
    pub(crate) fn moves(&mut self, inst: &Inst, kind: u32) -> u32 {
        if !self.flavour.checked {
            return 0;
        }
        let function = self.function;
        let (moves, demanded) = self.moves.get_or_insert_with(|| (Moves::of(function), Demanded::of(function)));
        let is_strong = kind & access::STRONG != 0;
        let part = if demanded.is_part(inst) { access::PART } else { 0 };
        let unused = if is_strong { 0 } else { part | demanded.unused_quarters(inst) << access::UNUSED };
        let loads = if moves.is_moving_load(inst) { access::MOVES } else { 0 };
        let loads = loads | if moves.is_unread_exchange(inst) { access::OVERWRITES } else { 0 };
        loads | unused | if moves.is_scalar_copy(inst) { access::COPIES } else { 0 }
    }

    pub(crate) fn fresh(&mut self) -> u32 {
        self.counter += 1;
        self.counter
    }

    pub(crate) fn line(&mut self, args: Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "  {args}");
    }

    /// Defines a temporary.
    pub(crate) fn def(&mut self, args: Arguments<'_>) -> String {
        let name = format!("%t{}", self.fresh());
        let _ = writeln!(self.text, "  {name} = {args}");
        name
    }

    /// Returns a value that is computed once, in the prologue.
    pub(crate) fn uniform(&mut self, args: Arguments<'_>) -> String {
        let key = args.to_string();
        if let Some(name) = self.uniforms.get(&key) {
            return name.clone();
        }
        let name = format!("%u{}", self.fresh());
        let _ = writeln!(self.prologue, "  {name} = {key}");
        self.uniforms.insert(key, name.clone());
        name
    }

    /// Returns a field of the context, loaded once.
    pub(crate) fn field(&mut self, offset: usize, ty: &str) -> String {
        let pointer = self.uniform(format_args!("getelementptr i8, ptr %ctx, i64 {offset}"));
        // The extents of a block are 1 to 1024; a block's rank in its cluster is below 16.
        let range = match offset {
            abi::CLUSTER_RANK => ", !range !5",
            _ if (abi::BLOCK..abi::BLOCK + 12).contains(&offset) => ", !range !4",
            _ => "",
        };
        self.uniform(format_args!("load {ty}, ptr {pointer}, align 4{range}"))
    }

    /// Calls a function that LLVM or the runtime provides.
    pub(crate) fn call(&mut self, result: &str, name: &str, args: &[(&str, &str)]) -> String {
        let types: Vec<&str> = args.iter().map(|a| a.0).collect();
        self.declares.insert(format!("declare {result} @{name}({}) #1", types.join(", ")));
        let list: Vec<String> = args.iter().map(|(ty, value)| format!("{ty} {value}")).collect();
        self.def(format_args!("call {result} @{name}({})", list.join(", ")))
    }

    /// Calls a function that is written in LLVM IR and added to the module.
    pub(crate) fn call_text(&mut self, result: &str, name: &str, text: &str, args: &[(&str, &str)]) -> String {
        self.declares.insert(text.to_owned());
        let list: Vec<String> = args.iter().map(|(ty, value)| format!("{ty} {value}")).collect();
        self.def(format_args!("call {result} @{name}({})", list.join(", ")))
    }

    pub(crate) fn unsupported<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(Error::unsupported(self.position, message))
    }

    /// Reads an operand as an integer of `bits` bits.
    pub(crate) fn int(&mut self, value: &Value, bits: u32) -> Result<String> {
        Ok(match value {
            Value::Reg(reg) => self.read(*reg, bits),
            Value::Not(reg) => {
                let set = self.read(*reg, 1);
                self.def(format_args!("xor i1 {set}, true"))
            }
            Value::Int(constant) => int_constant(*constant, bits),
            Value::F32(f) if bits == 64 => int_constant(f64::from(f32::from_bits(*f)).to_bits() as i128, 64),
            Value::F32(f) => int_constant(i128::from(*f), bits),
            Value::F64(f) if bits == 32 => int_constant((f64::from_bits(*f) as f32).to_bits() as i128, 32),
            Value::F64(f) => int_constant(i128::from(*f), bits),
            Value::Special(special) => self.special(*special, bits),
            Value::Symbol(symbol, offset) => self.symbol(*symbol, *offset, bits),
            _ => return self.unsupported("this operand has no value"),
        })
    }

    fn read(&mut self, reg: Reg, bits: u32) -> String {
        let width = self.function.registers[reg as usize];
        let value = self.def(format_args!("load i{width}, ptr %r{reg}"));
        if width > bits { self.def(format_args!("trunc i{width} {value} to i{bits}")) } else { value }
    }

    /// Reads an operand as a floating-point value.
    pub(crate) fn float(&mut self, value: &Value, ty: Type) -> Result<String> {
        let bits = ty.bits();
        let raw = self.int(value, bits)?;
        Ok(self.def(format_args!("bitcast i{bits} {raw} to {}", llvm_float(ty))))
    }

    /// Writes an integer of `bits` bits to a destination, extended to its width.
    pub(crate) fn write(&mut self, dest: &Value, bits: u32, value: &str, signed: bool) -> Result<()> {
        let Value::Reg(reg) = dest else {
            return match dest {
                Value::Sink => Ok(()),
                _ => self.unsupported("this destination cannot be written"),
            };
        };
        let width = self.function.registers[*reg as usize];
        let value = self.resize(value, bits, width, signed);
        self.line(format_args!("store i{width} {value}, ptr %r{reg}"));
        Ok(())
    }

    /// Writes a floating-point value.
    pub(crate) fn write_float(&mut self, dest: &Value, ty: Type, value: &str) -> Result<()> {
        let bits = ty.bits();
        let raw = self.def(format_args!("bitcast {} {value} to i{bits}", llvm_float(ty)));
        self.write(dest, bits, &raw, false)
    }

    /// Truncates or extends an integer.
    pub(crate) fn resize(&mut self, value: &str, from: u32, to: u32, signed: bool) -> String {
        match from.cmp(&to) {
            std::cmp::Ordering::Equal => value.to_owned(),
            std::cmp::Ordering::Greater => self.def(format_args!("trunc i{from} {value} to i{to}")),
            std::cmp::Ordering::Less if signed => self.def(format_args!("sext i{from} {value} to i{to}")),
            std::cmp::Ordering::Less => self.def(format_args!("zext i{from} {value} to i{to}")),
        }
    }

    /// Returns the address of a symbol in its own state space, or its offset in the shared window.
    fn symbol(&mut self, symbol: Symbol, offset: i64, bits: u32) -> String {
        let value = match symbol {
            Symbol::Shared(at) if self.flavour.clustered => {
                let window = self.window();
                self.uniform(format_args!("add i64 {window}, {}", at.wrapping_add_signed(offset) as i64))
            }
            Symbol::Shared(at) => return int_constant(i128::from(at) + i128::from(offset), bits),
            Symbol::DynamicShared if self.flavour.clustered => {
                let (window, base) = (self.window(), self.field(abi::DYNAMIC_SHARED, "i64"));
                let base = self.uniform(format_args!("add i64 {window}, {base}"));
                self.uniform(format_args!("add i64 {base}, {offset}"))
            }
            Symbol::Data(at) | Symbol::Managed(at) => {
                let area = if matches!(symbol, Symbol::Data(_)) { abi::DATA } else { abi::MANAGED };
                let base = self.field(area, "i64");
                self.uniform(format_args!("add i64 {base}, {}", at.wrapping_add_signed(offset) as i64))
            }
            Symbol::DynamicShared => {
                let base = self.field(abi::DYNAMIC_SHARED, "i64");
                self.uniform(format_args!("add i64 {base}, {offset}"))
            }
            Symbol::Local(at) => self.def(format_args!("add i64 %local, {}", at.wrapping_add_signed(offset) as i64)),
            Symbol::KernelParam(at) => {
                let base = self.field(abi::PARAMS, "i64");
                self.uniform(format_args!("add i64 {base}, {}", at.wrapping_add_signed(offset) as i64))
            }
            Symbol::Slot(slot) => {
                let base = self.def(format_args!("ptrtoint ptr %slot{slot} to i64"));
                self.def(format_args!("add i64 {base}, {offset}"))
            }
        };
        self.resize(&value, 64, bits, false)
    }

    /// Returns the shared-memory address at which the block's own window begins among those of its cluster.
    pub(crate) fn window(&mut self) -> String {
        if !self.flavour.clustered {
            return "0".to_owned();
        }
        let rank = self.field(abi::CLUSTER_RANK, "i32");
        let rank = self.uniform(format_args!("zext i32 {rank} to i64"));
        self.uniform(format_args!("shl nuw nsw i64 {rank}, {}", abi::WINDOW))
    }

    /// Returns a special register about the block's cluster. A launch without clusters has clusters of one block.
    fn cluster_register(&mut self, which: ClusterRegister) -> String {
        let axis = |base: usize, axis: u8| base + 4 * axis as usize;
        let field = match (which, self.flavour.clustered) {
            (ClusterRegister::Explicit, clustered) => return u32::from(clustered).to_string(),
            (ClusterRegister::Ctaid(_) | ClusterRegister::Rank, false) => return "0".to_owned(),
            (ClusterRegister::Nctaid(_) | ClusterRegister::Ranks, false) => return "1".to_owned(),
            (ClusterRegister::Id(axis), false) => return format!("%ctaid{axis}"),
            (ClusterRegister::Count(n), false) => axis(abi::GRID, n),
            (ClusterRegister::Ctaid(n), true) => axis(abi::CLUSTER_CTAID, n),
            (ClusterRegister::Nctaid(n), true) => axis(abi::CLUSTER_NCTAID, n),
            (ClusterRegister::Id(n), true) => axis(abi::CLUSTER_ID, n),
            (ClusterRegister::Count(n), true) => axis(abi::CLUSTER_COUNT, n),
            (ClusterRegister::Rank, true) => abi::CLUSTER_RANK,
            (ClusterRegister::Ranks, true) => abi::CLUSTER_RANKS,
        };
        self.field(field, "i32")
    }

    fn special(&mut self, special: Special, bits: u32) -> String {
        let (value, width) = match special {
            Special::Tid(axis) => (format!("%tid{axis}"), 32),
            Special::Ctaid(axis) => (format!("%ctaid{axis}"), 32),
            Special::Ntid(axis) => (self.field(abi::BLOCK + 4 * axis as usize, "i32"), 32),
            Special::Nctaid(axis) => (self.field(abi::GRID + 4 * axis as usize, "i32"), 32),
            Special::LaneId => (self.def(format_args!("and i64 %thread, 31")), 64),
            Special::WarpId => (self.def(format_args!("lshr i64 %thread, 5")), 64),
            Special::NWarpId => {
                let threads = self.field(abi::THREADS, "i64");
                let rounded = self.uniform(format_args!("add i64 {threads}, 31"));
                (self.uniform(format_args!("lshr i64 {rounded}, 5")), 64)
            }
            Special::WarpSize => ("32".to_owned(), 32),
            Special::LaneMask(mask) => (self.lane_mask(mask), 32),
            Special::SmId => (self.field(abi::WORKER, "i32"), 32),
            Special::NSmId => (self.field(abi::WORKERS, "i32"), 32),
            Special::GridId => (self.field(abi::GRID_ID, "i64"), 64),
            Special::Clock32 | Special::Clock64 => {
                self.declares.insert("declare i64 @llvm.readcyclecounter()".to_owned());
                (self.def(format_args!("call i64 @llvm.readcyclecounter()")), 64)
            }
            Special::GlobalTimer => {
                self.declares.insert("declare i64 @sim.globaltimer() #2".to_owned());
                (self.def(format_args!("call i64 @sim.globaltimer()")), 64)
            }
            Special::DynamicShared => (self.field(abi::DYNAMIC_SHARED_BYTES, "i32"), 32),
            Special::ReservedShared(at) => {
                // It is between the static and the dynamic shared memory.
                let (window, end) = (self.window(), self.field(abi::DYNAMIC_SHARED, "i64"));
                let end = self.uniform(format_args!("add i64 {window}, {end}"));
                let before = i32::from(RESERVED_SHARED) - i32::from(at);
                (self.uniform(format_args!("sub i64 {end}, {before}")), 64)
            }
            Special::TotalShared => (self.field(abi::TOTAL_SHARED_BYTES, "i32"), 32),
            Special::Workspace(high) => {
                let half = if high { abi::WORKSPACE + 4 } else { abi::WORKSPACE };
                (self.field(half, "i32"), 32)
            }
            Special::ClockHigh => {
                let clock = self.special(Special::Clock64, 64);
                (self.def(format_args!("lshr i64 {clock}, 32")), 64)
            }
            Special::GlobalTimerLow => (self.special(Special::GlobalTimer, 64), 64),
            Special::GlobalTimerHigh => {
                let time = self.special(Special::GlobalTimer, 64);
                (self.def(format_args!("lshr i64 {time}, 32")), 64)
            }
            Special::Cluster(which) => (self.cluster_register(which), 32),
            Special::Zero => ("0".to_owned(), 32),
        };
        self.resize(&value, width, bits, false)
    }

    fn lane_mask(&mut self, mask: LaneMask) -> String {
        let lane = self.special(Special::LaneId, 32);
        let bit = self.def(format_args!("shl i32 1, {lane}"));
        let below = self.def(format_args!("sub i32 {bit}, 1"));
        match mask {
            LaneMask::Eq => bit,
            LaneMask::Lt => below,
            LaneMask::Le => self.def(format_args!("or i32 {below}, {bit}")),
            LaneMask::Ge => self.def(format_args!("xor i32 {below}, -1")),
            LaneMask::Gt => {
                let ge = self.def(format_args!("xor i32 {below}, -1"));
                self.def(format_args!("xor i32 {ge}, {bit}"))
            }
        }
    }
}

/// Formats an integer constant for LLVM.
pub(crate) fn int_constant(value: i128, bits: u32) -> String {
    match bits {
        1 => (value & 1 != 0).to_string(),
        128 => value.to_string(),
        _ => {
            let unused = 128 - bits;
            ((value << unused) >> unused).to_string()
        }
    }
}

/// Returns LLVM's name of a floating-point type.
pub(crate) fn llvm_float(ty: Type) -> &'static str {
    match ty {
        Type::F16 => "half",
        Type::Bf16 => "bfloat",
        Type::F64 => "double",
        _ => "float",
    }
}
