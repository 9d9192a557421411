//! Memory accesses: every access of a kernel goes through [`Emitter::pointer`].
//!
//! Local, parameter, constant and global addresses are host addresses. A shared-memory address is an offset in the
//! block's window, or in the windows of its cluster, the first of which is the first block's. For plain accesses LLVM
//! is promised neither alignment nor dereferenceability; accesses marked as parallel may be reordered across threads,
//! as PTX allows.
//!
//! An address that is not a compile-time constant is passed to `sim.address` or `sim.shared`, which [`super::guard`]
//! replaces by code that keeps the access in the devices' range. Exact code, which searches for the thread of a fault,
//! asks the runtime about each access instead, and so does code for the checkers (`check/`), unless it records its
//! accesses ([`super::batch`]).

use super::abi::{self, access};
use super::emit::{Emitter, llvm_float};
use crate::ir::{Inst, Symbol, Value};
use crate::ptx::{Modifier as M, Opcode, Result, Space, Type};
use std::fmt::Write;

/// Returns the kind and the properties of an instruction's access ([`access`]).
fn access_of(inst: &Inst) -> u32 {
    let object = matches!(inst.opcode, Opcode::Mbarrier | Opcode::Cp);
    let begins = object && (inst.has(M::Init) || inst.has(M::Inval));
    let kind = match inst.opcode {
        Opcode::Ld | Opcode::Ldu => abi::Access::Load,
        Opcode::St => abi::Access::Store,
        _ if begins => abi::Access::Store,
        _ => abi::Access::Atomic,
    };
    let space = match inst.space() {
        None => 0,
        Some(Space::Global) => 1,
        Some(Space::Shared) => 2,
        Some(Space::Local) => 3,
        Some(Space::Const) => 4,
        Some(_) => 5,
    };
    let is_atomic = kind == abi::Access::Atomic;
    let acquire = inst.has(M::Acquire) || inst.has(M::AcqRel);
    let release = inst.has(M::Release) || inst.has(M::AcqRel);
    let strong = is_atomic || acquire || release || inst.has(M::Relaxed) || inst.has(M::Volatile);
    let default = if inst.has(M::Volatile) || is_atomic { abi::Scope::Device } else { abi::Scope::Block };
    let mut bits = kind as u32 | scope_of(inst, default) << access::SCOPE | space << access::SPACE;
    for (is, bit) in [(strong, access::STRONG), (object, access::OBJECT)] {
        bits |= if is { bit } else { 0 };
    }
    // The operations of barrier objects order what the runtime knows of them (`exec/mbarrier.rs`).
    for (is, bit) in [(acquire && !object, access::ACQUIRE), (release && !object, access::RELEASE)] {
        bits |= if is { bit } else { 0 };
    }
    bits |= if is_atomic && inst.has(M::Cas) { access::SWAPS } else { 0 };
    let elements = match inst.modifiers().find(|m| matches!(m, M::V2 | M::V4 | M::V8)) {
        Some(M::V2) => 1,
        Some(M::V4) => 2,
        Some(_) => 3,
        None => 0,
    };
    bits | if strong { elements << access::ELEMENTS } else { 0 }
}

/// Returns the number of the scope that an instruction names.
pub(super) fn scope_of(inst: &Inst, default: abi::Scope) -> u32 {
    let named = inst.modifiers().find_map(|m| match m {
        M::Cta => Some(abi::Scope::Block),
        M::Cluster => Some(abi::Scope::Cluster),
        M::Gpu | M::Gl | M::Sys => Some(abi::Scope::Device),
        _ => None,
    });
    named.unwrap_or(default) as u32
}

/// Constant offsets up to this are added to an address after its check.
const NEAR: i64 = 1 << 20;

impl Emitter<'_> {
    /// Returns the pointer for an access of `bytes` bytes, which must be aligned to its size.
    pub(crate) fn pointer(&mut self, inst: &Inst, address: &Value, bytes: u64) -> Result<String> {
        let kind = access_of(inst);
        let moves = self.moves(inst, kind);
        self.pointer_in(inst.space(), address, bytes, Some(kind | moves))
    }

    /// As [`Emitter::pointer`], for an address in a state space. Exact code asks the runtime about an access of this
    /// kind; with `None`, a helper function does.
    pub(crate) fn pointer_in(
        &mut self,
        space: Option<Space>,
        address: &Value,
        bytes: u64,
        kind: Option<u32>,
    ) -> Result<String> {
        if let Value::SymbolAddress(Symbol::Slot(slot), at) = address {
            let slot_bytes = self.function.slots[*slot].bytes;
            if u64::try_from(*at).ok().and_then(|at| at.checked_add(bytes)).is_none_or(|end| end > slot_bytes) {
                let text = format!("an access of {bytes} bytes at offset {at} of a parameter of {slot_bytes} bytes");
                return self.unsupported(text);
            }
            let pointer = self.def(format_args!("getelementptr i8, ptr %slot{slot}, i64 {at}"));
            self.stored = None;
            if let Some(kind) = kind.filter(|_| self.flavour.checked && self.function.local_slots.contains_key(slot)) {
                // It is in local memory, which generic addresses may read.
                if self.batches {
                    self.refused = true;
                    return Ok(pointer);
                }
                let address = self.def(format_args!("ptrtoint ptr {pointer} to i64"));
                self.exact_address(kind & !(7 << access::SPACE), &address, bytes);
            }
            return Ok(pointer);
        }
        // Symbols are aligned to 256 bytes, so only the offset has to be checked, which is a constant.
        let plain = |at: i64| !self.flavour.exact && (0..NEAR).contains(&at) && (at as u64).is_multiple_of(bytes);
        let (base, at, known) = match address {
            Value::RegAddress(reg, at) => {
                let width = self.function.registers[*reg as usize];
                let base = self.int(&Value::Reg(*reg), width)?;
                // a shared-memory address has 32 bits, in which the sum wraps
                let wraps = width == 32 && space == Some(Space::Shared);
                let (base, at) = match wraps && *at != 0 {
                    true => (self.def(format_args!("add i32 {base}, {}", *at as i32)), 0),
                    false => (base, *at),
                };
                (self.resize(&base, width, 64, false), at, false)
            }
            Value::SymbolAddress(symbol @ Symbol::Shared(start), at) => {
                let known = plain(at.wrapping_add_unsigned(*start));
                (self.int(&Value::Symbol(*symbol, 0), 64)?, *at, known)
            }
            Value::SymbolAddress(
                symbol @ (Symbol::Data(start) | Symbol::Managed(start) | Symbol::KernelParam(start)),
                at,
            ) => {
                let known = plain(at.wrapping_add_unsigned(*start));
                (self.int(&Value::Symbol(*symbol, 0), 64)?, *at, known)
            }
            Value::SymbolAddress(symbol, at) => (self.int(&Value::Symbol(*symbol, 0), 64)?, *at, false),
            Value::Absolute(at) => ("0".to_owned(), *at, false),
            _ => return self.unsupported("this operand is not an address"),
        };
        let window = (space == Some(Space::Shared)).then(|| self.field(abi::SHARED, "i64"));
        let (mut address, mut behind) = (base, at);
        if self.flavour.exact || !((-NEAR..NEAR).contains(&at) && at % bytes as i64 == 0) {
            address = self.def(format_args!("add i64 {address}, {at}"));
            behind = 0;
        }
        if self.batches {
            let whole = self.def(format_args!("add i64 {address}, {behind}"));
            let whole = match &window {
                Some(window) => self.def(format_args!("add i64 {window}, {whole}")),
                None => whole,
            };
            self.record(kind, &whole, bytes);
        }
        let mut address = match (known, &window) {
            (_, window) if self.flavour.exact => {
                let address = match window {
                    Some(window) => self.def(format_args!("add i64 {window}, {address}")),
                    None => address,
                };
                kind.map_or_else(|| address.clone(), |kind| self.exact_address(kind, &address, bytes))
            }
            (true, Some(window)) => self.def(format_args!("add i64 {window}, {address}")),
            (true, None) => address,
            (false, Some(window)) => {
                self.declares.insert("declare i64 @sim.shared(i64, i64, i64) #4".to_owned());
                self.def(format_args!("call i64 @sim.shared(i64 {window}, i64 {address}, i64 {bytes})"))
            }
            (false, None) => {
                self.declares.insert("declare i64 @sim.address(i64, i64) #4".to_owned());
                self.def(format_args!("call i64 @sim.address(i64 {address}, i64 {bytes})"))
            }
        };
        if behind != 0 {
            address = self.def(format_args!("add i64 {address}, {behind}"));
        }
        let zero = self.field(abi::ZERO, "ptr");
        Ok(self.def(format_args!("getelementptr i8, ptr {zero}, i64 {address}")))
    }

    /// Returns the address at which exact code accesses memory, as the runtime decides.
    fn exact_address(&mut self, kind: u32, address: &str, bytes: u64) -> String {
        let position = abi::encode_position(self.position);
        if self.flavour.checked {
            let (value, known) = self.stored.take().map_or(("0".to_owned(), 0), |value| (value, access::VALUE));
            let site = self.fresh();
            let slot = site % abi::BOUNDS_COUNT as u32;
            let kind = kind | known | (bytes as u32) << access::BYTES | slot << access::BOUNDS;
            self.declares.insert("declare void @sim.check(ptr, i64, i64, i32, i64, i64) #3".to_owned());
            // The checkers follow a copy wherever it leads.
            let skips = self.flavour.bounded && (kind & 3 == abi::Access::Atomic as u32 || kind & access::COPIES == 0);
            if skips {
                self.skip_within_bounds(site, slot, address, bytes);
            }
            self.line(format_args!(
                "call void @sim.check(ptr %ctx, i64 %thread, i64 {address}, i32 {kind}, i64 {position}, i64 {value})"
            ));
            if skips {
                self.line(format_args!("br label %known{site}"));
                self.text.push_str(&format!("known{site}:\n"));
            }
            return address.to_owned();
        }
        let kind = kind & 3;
        self.declares.insert("declare i64 @sim.access(ptr, i64, i64, i64, i32, i64) #3".to_owned());
        self.def(format_args!(
            "call i64 @sim.access(ptr %ctx, i64 %thread, i64 {address}, i64 {bytes}, i32 {kind}, i64 {position})"
        ))
    }

    /// Begins the part of checked code that asks about an access, which is skipped for an aligned address within bounds.
    fn skip_within_bounds(&mut self, site: u32, slot: u32, address: &str, bytes: u64) {
        let bounds = self.field(abi::BOUNDS, "ptr");
        let own = self.uniform(format_args!("getelementptr [2 x i64], ptr {bounds}, i64 {slot}"));
        let count = self.uniform(format_args!("getelementptr i64, ptr {own}, i64 1"));
        let (first, count) =
            (self.def(format_args!("load i64, ptr {own}")), self.def(format_args!("load i64, ptr {count}")));
        let offset = self.def(format_args!("sub i64 {address}, {first}"));
        let inside = self.def(format_args!("icmp ult i64 {offset}, {count}"));
        let rest = self.def(format_args!("and i64 {address}, {}", bytes - 1));
        let aligned = self.def(format_args!("icmp eq i64 {rest}, 0"));
        let known = self.def(format_args!("and i1 {inside}, {aligned}"));
        self.line(format_args!("br i1 {known}, label %known{site}, label %ask{site}"));
        self.text.push_str(&format!("ask{site}:\n"));
    }

    /// Returns the pointer to the `index`-th element of that many bytes.
    fn element(&mut self, pointer: &str, index: usize, bytes: u64) -> String {
        if index == 0 {
            return pointer.to_owned();
        }
        self.def(format_args!("getelementptr i8, ptr {pointer}, i64 {}", index as u64 * bytes))
    }

    /// Returns the properties of an access for LLVM: `(atomic ordering, alignment, metadata)`.
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
        if let (Value::SymbolAddress(Symbol::KernelParam(at), offset), Value::Reg(_)) = (address, dest)
            && (at.wrapping_add_signed(*offset))
                .checked_add(ty.bytes())
                .is_some_and(|end| end <= self.function.signature.param_bytes())
        {
            // A parameter is uniform: it is loaded once, before the thread loop.
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
        // All loads precede the writes, since a destination may be the address register.
        let start = self.pointer(inst, address, dests.len() as u64 * ty.bytes())?;
        for i in 0..dests.len() {
            let pointer = self.element(&start, i, ty.bytes());
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
        self.announce(ty, sources.first())?;
        let start = self.pointer(inst, address, sources.len() as u64 * ty.bytes())?;
        for (i, source) in sources.iter().enumerate() {
            let bits = ty.bits();
            let value = self.int(source, bits)?;
            let pointer = self.element(&start, i, ty.bytes());
            self.line(format_args!("store {atomic}i{bits} {value}, ptr {pointer} {ordering}, align {align}{metadata}"));
        }
        Ok(())
    }

    /// Computes the value that the next access stores, for the checkers' reports; of several the first one.
    fn announce(&mut self, ty: Type, value: Option<&Value>) -> Result<()> {
        let is_wanted = self.flavour.checked && !self.flavour.bounded && ty.bits() <= 64;
        let Some(value) = value.filter(|_| is_wanted) else { return Ok(()) };
        let value = self.int(value, ty.bits())?;
        self.stored = Some(self.resize(&value, ty.bits(), 64, false));
        Ok(())
    }

    /// Returns true if no other thread of the machine accesses the memory of an atomic operation at the same time: one
    /// worker runs the threads of a block, and outside of clusters nobody else has its shared memory.
    fn is_exclusive(&self, inst: &Inst) -> bool {
        inst.space() == Some(Space::Shared) && !self.flavour.clustered && inst.ty(0).bits() <= 64
    }

    /// Reads memory for an atomic operation.
    fn load_atomic(&mut self, bits: u32, pointer: &str) -> String {
        self.def(format_args!("load atomic i{bits}, ptr {pointer} monotonic, align {}", bits / 8))
    }

    /// Writes memory that is exclusive, and returns its old value.
    fn replace(&mut self, bits: u32, pointer: &str, old: String, new: &str) -> String {
        self.line(format_args!("store atomic i{bits} {new}, ptr {pointer} monotonic, align {}", bits / 8));
        old
    }

    /// Returns the value that an integer operation, by the name of LLVM's `atomicrmw`, makes of an old one.
    fn updated(&mut self, name: &str, bits: u32, old: &str, value: &str) -> String {
        let select = |this: &mut Self, condition: &str, yes: &str, no: &str| {
            this.def(format_args!("select i1 {condition}, i{bits} {yes}, i{bits} {no}"))
        };
        match name {
            "xchg" => value.to_owned(),
            "min" | "max" | "umin" | "umax" => {
                let order = [("min", "slt"), ("max", "sgt"), ("umin", "ult"), ("umax", "ugt")];
                let order = order.into_iter().find_map(|(known, order)| (known == name).then_some(order)).unwrap_or("");
                let keeps = self.def(format_args!("icmp {order} i{bits} {old}, {value}"));
                select(self, &keeps, old, value)
            }
            "uinc_wrap" => {
                let wraps = self.def(format_args!("icmp uge i{bits} {old}, {value}"));
                let next = self.def(format_args!("add i{bits} {old}, 1"));
                select(self, &wraps, "0", &next)
            }
            "udec_wrap" => {
                let (zero, above) = (
                    self.def(format_args!("icmp eq i{bits} {old}, 0")),
                    self.def(format_args!("icmp ugt i{bits} {old}, {value}")),
                );
                let wraps = self.def(format_args!("or i1 {zero}, {above}"));
                let next = self.def(format_args!("sub i{bits} {old}, 1"));
                select(self, &wraps, value, &next)
            }
            _ => self.def(format_args!("{name} i{bits} {old}, {value}")),
        }
    }

    /// Emits a compare-and-swap, and returns the old value. If another value is there, it is the load that an unsuccessful
    /// one is: without it, that would cost as much as a successful one.
    fn compare_and_swap(&mut self, bits: u32, pointer: &str, compare: &str, new: &str) -> String {
        let (id, align) = (self.fresh(), bits / 8);
        let swap = format!("cmpxchg ptr {pointer}, i{bits} {compare}, i{bits} {new} seq_cst seq_cst, align {align}");
        if bits > 64 {
            // An atomic load of this size is a compare-and-swap too.
            let pair = self.def(format_args!("{swap}"));
            return self.def(format_args!("extractvalue {{ i{bits}, i1 }} {pair}, 0"));
        }
        let _ = writeln!(self.prologue, "  %cas{id} = alloca i{bits}");
        let found = self.def(format_args!("load atomic i{bits}, ptr {pointer} seq_cst, align {align}"));
        self.line(format_args!("store i{bits} {found}, ptr %cas{id}"));
        let equal = self.def(format_args!("icmp eq i{bits} {found}, {compare}"));
        self.line(format_args!("br i1 {equal}, label %swap{id}, label %swapped{id}"));
        self.text.push_str(&format!("swap{id}:\n"));
        let pair = self.def(format_args!("{swap}"));
        let old = self.def(format_args!("extractvalue {{ i{bits}, i1 }} {pair}, 0"));
        self.line(format_args!("store i{bits} {old}, ptr %cas{id}"));
        self.line(format_args!("br label %swapped{id}"));
        self.text.push_str(&format!("swapped{id}:\n"));
        self.def(format_args!("load i{bits}, ptr %cas{id}"))
    }

    /// Emits `atom` and `red`. All are sequentially consistent: on x86-64 that costs no more than weaker orders, on
    /// AArch64 little.
    pub(crate) fn atomic(&mut self, inst: &Inst, dest: &Value, address: &Value, sources: &[Value]) -> Result<()> {
        let ty = inst.ty(0);
        let bits = ty.bits();
        if let [Value::Vector(sources)] = sources {
            return self.atomic_vector(inst, dest, address, sources);
        }
        self.announce(ty, sources.last())?;
        let pointer = self.pointer(inst, address, ty.bytes())?;
        if let (true, [compare, new]) = (inst.has(M::Cas), sources) {
            let (compare, new) = (self.int(compare, bits)?, self.int(new, bits)?);
            if self.is_exclusive(inst) {
                let old = self.load_atomic(bits, &pointer);
                let equal = self.def(format_args!("icmp eq i{bits} {old}, {compare}"));
                let new = self.def(format_args!("select i1 {equal}, i{bits} {new}, i{bits} {old}"));
                let old = self.replace(bits, &pointer, old, &new);
                return self.write(dest, bits, &old, false);
            }
            let old = self.compare_and_swap(bits, &pointer, &compare, &new);
            return self.write(dest, bits, &old, false);
        }
        let [source] = sources else {
            return self.unsupported("these operands of an atomic operation are not supported");
        };
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
        let Some(name) = name else { return self.unsupported("this atomic operation is not supported") };
        let value = self.int(source, bits)?;
        if self.is_exclusive(inst) {
            let old = self.load_atomic(bits, &pointer);
            let new = self.updated(name, bits, &old, &value);
            let old = self.replace(bits, &pointer, old, &new);
            return self.write(dest, bits, &old, false);
        }
        let old =
            self.def(format_args!("atomicrmw {name} ptr {pointer}, i{bits} {value} seq_cst, align {}", ty.bytes()));
        self.write(dest, bits, &old, false)
    }

    /// Emits one atomic operation for each element: the manual promises no atomicity of the vector.
    fn atomic_vector(&mut self, inst: &Inst, dest: &Value, address: &Value, sources: &[Value]) -> Result<()> {
        let ty = inst.ty(0);
        let start = self.pointer(inst, address, sources.len() as u64 * ty.bytes())?;
        // All sources are read before the writes, since a destination may be one of them.
        let values = sources.iter().map(|source| self.int(source, ty.bits())).collect::<Result<Vec<_>>>()?;
        let mut old = Vec::new();
        for (i, value) in values.iter().enumerate() {
            let pointer = self.element(&start, i, ty.bytes());
            old.push(self.atomic_float_add(inst, &pointer, value)?);
        }
        let dests = if let Value::Vector(dests) = dest { dests.as_slice() } else { &[] };
        dests.iter().zip(&old).try_for_each(|(dest, old)| self.write(dest, ty.bits(), old, false))
    }

    /// Returns true if a generic pointer is to shared memory, of the block or another one of its cluster.
    fn is_shared(&mut self, pointer: &str) -> String {
        let address = self.def(format_args!("ptrtoint ptr {pointer} to i64"));
        let (base, bytes) = self.shared_windows(false);
        self.inside(&address, &base, &bytes)
    }

    /// Returns the start and size of shared memory: the block's own window, or those of its cluster.
    fn shared_windows(&mut self, own: bool) -> (String, String) {
        let base = self.field(abi::SHARED, "i64");
        if self.flavour.clustered && !own {
            let ranks = self.field(abi::CLUSTER_RANKS, "i32");
            let ranks = self.uniform(format_args!("zext i32 {ranks} to i64"));
            return (base, self.uniform(format_args!("shl i64 {ranks}, {}", abi::WINDOW)));
        }
        let bytes = self.field(abi::TOTAL_SHARED_BYTES, "i32");
        let (window, bytes) = (self.window(), self.resize(&bytes, 32, 64, false));
        (self.uniform(format_args!("add i64 {base}, {window}")), bytes)
    }

    /// Returns true if an address is in a range of bytes.
    fn inside(&mut self, address: &str, base: &str, bytes: &str) -> String {
        let offset = self.def(format_args!("sub i64 {address}, {base}"));
        self.def(format_args!("icmp ult i64 {offset}, {bytes}"))
    }

    /// Adds floating-point numbers by compare-and-swap unless the memory is exclusive, packed ones half by half.
    ///
    /// In global memory `f32` is flushed, as the manual says of `atom.add.f32`; in shared memory it is not.
    fn atomic_float_add(&mut self, inst: &Inst, pointer: &str, value: &str) -> Result<String> {
        let ty = inst.ty(0);
        let (lane, bits) = (ty.lane().0, ty.bits());
        let flushed = lane == Type::F32 && inst.space() != Some(Space::Shared);
        let kept = (flushed && inst.space().is_none()).then(|| self.is_shared(pointer));
        let (id, align, exclusive) = (self.fresh(), ty.bytes(), self.is_exclusive(inst));
        let mut old = self.load_atomic(bits, pointer);
        if !exclusive {
            let _ = writeln!(self.prologue, "  %rmw{id} = alloca i{bits}");
            self.line(format_args!("store i{bits} {old}, ptr %rmw{id}"));
            self.line(format_args!("br label %again{id}"));
            self.text.push_str(&format!("again{id}:\n"));
            old = self.def(format_args!("load i{bits}, ptr %rmw{id}"));
        }
        let parts = [self.split(&old, ty), self.split(value, ty)];
        let mut sums = Vec::new();
        for (a, b) in parts[0].iter().zip(&parts[1]) {
            let [x, y] = [a, b].map(|raw| match lane {
                Type::F16 | Type::Bf16 => self.widen(lane, raw),
                _ => {
                    let float = self.def(format_args!("bitcast i{} {raw} to {}", lane.bits(), llvm_float(lane)));
                    if flushed { self.flush_unless(kept.as_deref(), &float) } else { float }
                }
            });
            let float = if lane == Type::F64 { "double" } else { "float" };
            let sum = self.def(format_args!("fadd {float} {x}, {y}"));
            sums.push(match lane {
                Type::F16 | Type::Bf16 => self.narrow(lane, &sum),
                _ => {
                    let sum = if flushed { self.flush_unless(kept.as_deref(), &sum) } else { sum };
                    self.def(format_args!("bitcast {float} {sum} to i{}", lane.bits()))
                }
            });
        }
        let new = self.join(&sums, lane.bits());
        if exclusive {
            return Ok(self.replace(bits, pointer, old, &new));
        }
        let pair = self
            .def(format_args!("cmpxchg ptr {pointer}, i{bits} {old}, i{bits} {new} seq_cst seq_cst, align {align}"));
        let seen = self.def(format_args!("extractvalue {{ i{bits}, i1 }} {pair}, 0"));
        let stored = self.def(format_args!("extractvalue {{ i{bits}, i1 }} {pair}, 1"));
        self.line(format_args!("store i{bits} {seen}, ptr %rmw{id}"));
        self.line(format_args!("br i1 {stored}, label %after{id}, label %again{id}"));
        self.text.push_str(&format!("after{id}:\n"));
        Ok(old)
    }

    /// Flushes an `f32`, unless the condition is true.
    fn flush_unless(&mut self, kept: Option<&str>, value: &str) -> String {
        let flushed = self.flush(value);
        match kept {
            Some(kept) => self.def(format_args!("select i1 {kept}, float {value}, float {flushed}")),
            None => flushed,
        }
    }

    /// Only shared-memory addresses differ from generic ones.
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

    /// Returns a shared-memory address as an offset in the cluster's windows; generic addresses are relative to their
    /// start.
    fn shared_offset(&mut self, inst: &Inst, source: &Value) -> Result<String> {
        let bits = inst.ty(0).bits();
        let value = self.int(source, bits)?;
        let wide = self.resize(&value, bits, 64, false);
        if inst.has(M::SharedCluster) {
            return Ok(wide);
        }
        let base = self.field(abi::SHARED, "i64");
        Ok(self.def(format_args!("sub i64 {wide}, {base}")))
    }

    /// Returns the same offset in the window of the block with this rank, of which a GPU takes eight bits. A rank beyond the cluster
    /// gives an invalid address.
    pub(crate) fn mapa(&mut self, inst: &Inst, dest: &Value, source: &Value, rank: &Value) -> Result<()> {
        let bits = inst.ty(0).bits();
        let offset = self.shared_offset(inst, source)?;
        let place = self.def(format_args!("and i64 {offset}, {}", (1 << abi::WINDOW) - 1));
        let rank = self.int(rank, 32)?;
        let rank = self.def(format_args!("and i32 {rank}, {}", abi::NO_RANK));
        let rank = self.resize(&rank, 32, 64, false);
        let window = self.def(format_args!("shl nuw nsw i64 {rank}, {}", abi::WINDOW));
        let mut address = self.def(format_args!("or disjoint i64 {window}, {place}"));
        if !inst.has(M::SharedCluster) {
            let base = self.field(abi::SHARED, "i64");
            address = self.def(format_args!("add i64 {base}, {address}"));
        }
        let address = self.resize(&address, 64, bits, false);
        self.write(dest, bits, &address, false)
    }

    /// Returns the rank of the block to which a shared-memory address belongs.
    pub(crate) fn getctarank(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let offset = self.shared_offset(inst, source)?;
        let rank = self.def(format_args!("lshr i64 {offset}, {}", abi::WINDOW));
        let rank = self.def(format_args!("and i64 {rank}, {}", abi::NO_RANK));
        let rank = self.resize(&rank, 64, 32, false);
        self.write(dest, 32, &rank, false)
    }

    pub(crate) fn isspacep(&mut self, inst: &Inst, dest: &Value, source: &Value) -> Result<()> {
        let address = self.int(source, 64)?;
        let inside = |this: &mut Self, base: String, bytes: String| this.inside(&address, &base, &bytes);
        let own = inst.has(M::Shared) || inst.has(M::SharedCta);
        let (window, bytes) = self.shared_windows(own);
        let shared = inside(self, window, bytes);
        let (base, stride) = (self.field(abi::LOCAL, "i64"), self.field(abi::LOCAL_STRIDE, "i64"));
        let threads = self.field(abi::THREADS, "i64");
        let all = self.def(format_args!("mul i64 {stride}, {threads}"));
        let local = inside(self, base, all);
        let (first, bytes) = self.function.signature.constants;
        let data = self.field(abi::DATA, "i64");
        let start = self.uniform(format_args!("add i64 {data}, {first}"));
        let constant = inside(self, start, bytes.to_string());
        let params = self.field(abi::PARAMS, "i64");
        let bytes = if self.is_kernel() { self.function.signature.param_bytes() } else { 0 };
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
