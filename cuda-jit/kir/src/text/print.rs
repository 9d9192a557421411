//! Prints modules. Total: any [`Module`], valid or not, is printed so that it parses to the same module.

use std::fmt::{self, Display, Formatter};

use super::names::{
    ATOMIC, BARRIER, BINARY, CLOCK, COMPARE, FLOAT8, LANE, LOAD, ORDERING, REDUCE, ROLE, SCOPE, SHUFFLE, SPACE,
    SPECIAL, STORE, TERNARY, UNARY, VOTE, word,
};
use crate::{
    Access, ArrayDecl, ArrayId, Block, BlockId, Const, ConstantDecl, ConstantId, FuncId, Function, Inst, Location,
    Module, Op, Order, Param, Pointee, Record, Role, Scalar, SharedId, Site, SiteId, SlotId, SourceField, SourceKind,
    SourceScope, SourceScopeId, SourceType, SourceTypeId, Storage, Terminator, Type, Value, Variable,
};

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (contract, exported) = (word_if(self.contract, " contract"), word_if(self.exported, " exported"));
        writeln!(f, "kir 1{contract}{exported}")?;
        for (index, site) in self.sites.iter().enumerate() {
            print_site(f, index, site)?;
        }
        for (index, array) in self.shared.iter().enumerate() {
            writeln!(f, "shared m{index} {}: {} {}", name(&array.name), array.element, array.len)?;
        }
        for (index, constant) in self.constants.iter().enumerate() {
            print_constant(f, index, constant)?;
        }
        for (index, ty) in self.types.iter().enumerate() {
            writeln!(f, "type t{index} {}", print_source_type(ty))?;
        }
        for (index, function) in self.functions.iter().enumerate() {
            print_function(f, if index == 0 && !self.exported { "kernel" } else { "device" }, function, self)?;
        }
        Ok(())
    }
}

impl Display for Pointee {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Pointee::Scalar(scalar) => write!(f, "{scalar}"),
            Pointee::Record(Record { size, align }) => write!(f, "record {size} align {align}"),
        }
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(scalar) => write!(f, "{scalar}"),
            Type::Ptr(space, pointee) => write!(f, "ptr {} {pointee}", word(SPACE, space)),
        }
    }
}

macro_rules! letter {
    ($($name:ident $format:literal),+) => {
        $(impl Display for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, $format, self.0)
            }
        })+
    };
}

letter! { Value "v{}", SlotId "s{}", BlockId "b{}", FuncId "f{}", SiteId "{}", SharedId "m{}", ArrayId "a{}", ConstantId "c{}", SourceTypeId "t{}", SourceScopeId "x{}" }

impl Display for Const {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (ty, bits) = (self.ty, self.bits);
        let fits = bits <= ty.mask();
        let float = match ty {
            Scalar::F16 => Some(half::f16::from_bits(bits as u16).to_f32()),
            Scalar::Bf16 => Some(half::bf16::from_bits(bits as u16).to_f32()),
            Scalar::F32 => Some(f32::from_bits(bits as u32)),
            _ => None,
        };
        match (ty, float) {
            _ if !fits => write!(f, "{ty} {bits:#x}"),
            (Scalar::Bool, _) => write!(f, "{ty} {}", bits == 1),
            (_, Some(float)) if float.is_finite() => write!(f, "{ty} {float:?}"),
            (Scalar::F64, _) if f64::from_bits(bits as u64).is_finite() => {
                write!(f, "{ty} {:?}", f64::from_bits(bits as u64))
            }
            _ if ty.is_float() || ty.is_pair() => write!(f, "{ty} {bits:#x}"),
            _ if ty.is_signed() => {
                let unused = 128 - ty.bits();
                write!(f, "{ty} {}", ((bits << unused) as i128) >> unused)
            }
            _ => write!(f, "{ty} {bits}"),
        }
    }
}

fn word_if(is: bool, word: &str) -> &str {
    if is { word } else { "" }
}

fn print_site(f: &mut Formatter<'_>, index: usize, site: &Site) -> fmt::Result {
    let Site { message, file, line, column } = site;
    writeln!(f, "site {index} {}:{line}:{column} {}", quoted(file), quoted(message))
}

fn print_constant(f: &mut Formatter<'_>, index: usize, constant: &ConstantDecl) -> fmt::Result {
    let ConstantDecl { array: ArrayDecl { name: of, element, len }, space, host, bytes } = constant;
    let (space, host) = (word(SPACE, space), if *host { " host" } else { "" });
    write!(f, "constant c{index} {}: {element} {len} {space}{host} \"", name(of))?;
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
    f.write_str("\"\n")
}

fn print_function(f: &mut Formatter<'_>, kind: &str, function: &Function, module: &Module) -> fmt::Result {
    let params = function.params.iter().enumerate().map(|(index, param)| print_param(index, param));
    write!(f, "{kind} {}({})", name(&function.name), params.collect::<Vec<_>>().join(", "))?;
    if let Some(result) = function.result {
        write!(f, " -> {result}")?;
    }
    f.write_str(" {\n")?;
    for (index, slot) in function.slots.iter().enumerate() {
        writeln!(f, "  slot s{index} {}: {}", name(&slot.name), slot.ty)?;
    }
    for (index, array) in function.arrays.iter().enumerate() {
        writeln!(f, "  array a{index} {}: {} {}", name(&array.name), array.element, array.len)?;
    }
    for (index, scope) in function.scopes.iter().enumerate() {
        writeln!(f, "  scope x{index} {}", print_scope(scope))?;
    }
    for variable in &function.variables {
        writeln!(f, "  variable {}", print_variable(variable))?;
    }
    for (index, Block { insts, end }) in function.blocks.iter().enumerate() {
        writeln!(f, "b{index}:")?;
        for one in insts {
            writeln!(f, "  {}{}", inst(one), callee(one, module))?;
        }
        writeln!(f, "  {}", terminator(end))?;
    }
    f.write_str("}\n")
}

fn print_source_type(SourceType { name, kind }: &SourceType) -> String {
    let parts = |parts: Vec<String>| format!("{{{}}}", parts.join(", "));
    let kind = match kind {
        SourceKind::Scalar(scalar) => scalar.to_string(),
        SourceKind::Enum(scalar, names) => {
            let named = names.iter().map(|(name, bits)| format!("{} {bits}", quoted(name)));
            format!("enum {scalar} {}", parts(named.collect()))
        }
        SourceKind::Pointer(space, to) => format!("pointer {} {to}", word(SPACE, space)),
        SourceKind::Array(element, count) => format!("array {count} {element}"),
        SourceKind::Struct(size, fields) => {
            let field = |SourceField { name, offset, ty }: &SourceField| format!("{} {offset}: {ty}", quoted(name));
            format!("struct {size} {}", parts(fields.iter().map(field).collect()))
        }
    };
    format!("{}: {kind}", quoted(name))
}

fn print_location(Location { file, line, column }: &Location) -> String {
    format!("{}:{line}:{column}", quoted(file))
}

fn within(scope: Option<SourceScopeId>) -> String {
    scope.map(|scope| format!(" in {scope}")).unwrap_or_default()
}

fn print_scope(SourceScope { outer, location, inlined }: &SourceScope) -> String {
    let inlined = inlined.as_ref().map(|(name, at)| format!(" inlined {} {}", quoted(name), print_location(at)));
    format!("{}{}{}", print_location(location), within(*outer), inlined.unwrap_or_default())
}

fn print_variable(variable: &Variable) -> String {
    let Variable { name, ty, scope, location, parameter, storage } = variable;
    let parameter = parameter.map(|number| format!(" parameter {number}")).unwrap_or_default();
    let storage = match storage {
        Storage::Array(array) => format!(" {array}"),
        Storage::Slots(slots) => slots.iter().map(|(slot, offset)| format!(" {slot} {offset}")).collect(),
    };
    format!("{}: {ty} {}{}{parameter} at{storage}", quoted(name), print_location(location), within(*scope))
}

/// The callee's name as a comment, since the text itself has only its index.
fn callee(inst: &Inst, module: &Module) -> String {
    match &inst.op {
        Op::Call(function, _) => match module.functions.get(function.index()) {
            Some(function) => format!(" ; {}", name(&function.name)),
            None => String::new(),
        },
        _ => String::new(),
    }
}

fn print_access(access: Access) -> &'static str {
    match access {
        Access::ReadWrite => " readwrite",
        Access::Read => " read",
    }
}

fn print_param(index: usize, param: &Param) -> String {
    let access = match (param.access, param.ty) {
        (Access::Read, Type::Scalar(_)) => "",
        (access, _) => print_access(access),
    };
    let role = match param.role {
        Role::Plain => String::new(),
        role => format!(" {}", word(ROLE, &role)),
    };
    format!("v{index} {}: {}{access}{role}", name(&param.name), param.ty)
}

/// The text of an instruction.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Module, text};
///
/// let module: Module = "kir 1 kernel f(v0 x: u32) { b0: v1: u32 = not v0 return }".parse()?;
/// assert_eq!(text::print_inst(&module.functions[0].blocks[0].insts[0]), "v1: u32 = not v0");
/// # Ok::<(), text::ParseError>(())
/// ```
pub fn inst(inst: &Inst) -> String {
    let op = match &inst.op {
        Op::Const(constant) => format!("const {constant}"),
        Op::Get(slot) => format!("get {slot}"),
        Op::Set(slot, value) => format!("set {slot}, {value}"),
        Op::Unary(op, a) => format!("{} {a}", word(UNARY, op)),
        Op::Binary(op, a, b) => format!("{} {a}, {b}", word(BINARY, op)),
        Op::Fma(a, b, c) => format!("fma {a}, {b}, {c}"),
        Op::Ternary(op, a, b, c) => format!("{} {a}, {b}, {c}", word(TERNARY, op)),
        Op::Overflows(op, a, b) => format!("overflows {} {a}, {b}", word(BINARY, op)),
        Op::Compare(op, a, b) => format!("{} {a}, {b}", word(COMPARE, op)),
        Op::Select(a, b, c) => format!("select {a}, {b}, {c}"),
        Op::Cast(a, to) => format!("cast {a} to {to}"),
        Op::Bitcast(a, to) => format!("bitcast {a} to {to}"),
        Op::Pair(a, b) => format!("pair {a}, {b}"),
        Op::Lane(a, lane) => format!("{} {a}", word(LANE, lane)),
        Op::Narrow(float, a, b) => format!("narrow {} {a}, {b}", word(FLOAT8, float)),
        Op::Widen(float, a) => format!("widen {} {a}", word(FLOAT8, float)),
        Op::Offset(pointer, count) => format!("offset {pointer}, {count}"),
        Op::Field(pointer, offset, part) => format!("field {pointer}, {offset} to {part}"),
        Op::Address(pointer) => format!("address {pointer}"),
        Op::Retype(pointer, pointee) => format!("retype {pointer} to {pointee}"),
        Op::Load(pointer) => format!("load {pointer}"),
        Op::Generic(pointer, access) => format!("generic {pointer}{}", print_access(*access)),
        Op::Store(pointer, value) => format!("store {pointer}, {value}"),
        Op::LoadCached(hint, pointer) => format!("{} {pointer}", word(LOAD, hint)),
        Op::StoreCached(hint, pointer, value) => format!("{} {pointer}, {value}", word(STORE, hint)),
        Op::LoadCachedAll(hint, pointer, slots) => {
            let slots: String = slots.iter().map(|slot| format!(", {slot}")).collect();
            format!("{} {pointer}{slots}", word(LOAD, hint))
        }
        Op::StoreCachedAll(hint, pointer, values) => {
            let values: String = values.iter().map(|value| format!(", {value}")).collect();
            format!("{} {pointer}{values}", word(STORE, hint))
        }
        Op::Special(special) => format!("special {}", word(SPECIAL, special)),
        Op::Shared(array) => format!("shared {array}"),
        Op::Constant(constant) => format!("constant {constant}"),
        Op::DynamicShared(offset, part) => format!("dynamic_shared {offset} to {part}"),
        Op::MapShared(pointer, rank) => format!("map_shared {pointer}, {rank}"),
        Op::Local(array) => format!("local {array}"),
        Op::Line(location, scope) => format!("line {}{}", print_location(location), within(*scope)),
        Op::Barrier => "barrier".to_owned(),
        Op::BarrierReduce(op, a) => format!("{} {a}", word(BARRIER, op)),
        Op::Fence(Order { ordering, scope }) => {
            format!("fence {} {}", word(ORDERING, ordering), word(SCOPE, scope))
        }
        Op::AtomicLoad(order, pointer) => format!("atomic_load {}{pointer}", print_order(*order)),
        Op::AtomicStore(order, pointer, value) => format!("atomic_store {}{pointer}, {value}", print_order(*order)),
        Op::Atomic(op, order, pointer, value) => {
            format!("atomic {} {}{pointer}, {value}", word(ATOMIC, op), print_order(*order))
        }
        Op::CompareExchange(order, pointer, old, new) => {
            format!("compare_exchange {}{pointer}, {old}, {new}", print_order(*order))
        }
        Op::Shuffle(op, 32, mask, value, lane) => format!("shuffle {} {mask}, {value}, {lane}", word(SHUFFLE, op)),
        Op::Shuffle(op, width, mask, value, lane) => {
            format!("shuffle {} within {width} {mask}, {value}, {lane}", word(SHUFFLE, op))
        }
        Op::Vote(op, mask, value) => format!("vote {} {mask}, {value}", word(VOTE, op)),
        Op::MatchAny(mask, value) => format!("match_any {mask}, {value}"),
        Op::MatchAll(mask, value) => format!("match_all {mask}, {value}"),
        Op::Reduce(op, mask, value) => format!("reduce {} {mask}, {value}", word(REDUCE, op)),
        Op::ClusterBarrier => "cluster_barrier".to_owned(),
        Op::GridBarrier => "grid_barrier".to_owned(),
        Op::Panicked => "panicked".to_owned(),
        Op::Clock(clock) => format!("clock {}", word(CLOCK, clock)),
        Op::Sleep(time) => format!("sleep {time}"),
        Op::Breakpoint => "breakpoint".to_owned(),
        Op::SetConditional(number, value) => format!("set_conditional {number}, {value}"),
        Op::SyncWarp(mask) => format!("sync_warp {mask}"),
        Op::ActiveMask => "active_mask".to_owned(),
        Op::Print(format, values) => format!("print {} ({})", quoted(format), list(values)),
        Op::Math(function, arguments) => format!("math {}({})", function.name, list(arguments)),
        Op::Call(function, arguments) => format!("call {function}({})", list(arguments)),
    };
    match inst.result {
        Some((value, ty)) => format!("{value}: {ty} = {op}"),
        None => op,
    }
}

/// An order, unless it is the default one.
fn print_order(order: Order) -> String {
    match order {
        Order::RELAXED => String::new(),
        Order { ordering, scope } => format!("{} {} ", word(ORDERING, &ordering), word(SCOPE, &scope)),
    }
}

/// The text of a terminator.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{BlockId, Terminator, text};
///
/// assert_eq!(text::print_terminator(&Terminator::Jump(BlockId(3))), "jump b3");
/// ```
pub fn terminator(end: &Terminator) -> String {
    match end {
        Terminator::Jump(to) => format!("jump {to}"),
        Terminator::Branch(value, then, other) => format!("branch {value}, {then}, {other}"),
        Terminator::Return(None) => "return".to_owned(),
        Terminator::Return(Some(value)) => format!("return {value}"),
        Terminator::Panic(site, arguments) if arguments.is_empty() => format!("panic {site}"),
        Terminator::Panic(site, arguments) => format!("panic {site} ({})", list(arguments)),
    }
}

fn list(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

/// A name, quoted if it is no identifier.
fn name(name: &str) -> String {
    let start = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let rest = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    if start && rest { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
