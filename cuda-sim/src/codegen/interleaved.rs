//! Interleaved access groups: gathers, or scatters, in which each thread accesses several consecutive elements.
//!
//! A thread that has a row of numbers, or the fields of a structure, accesses them one after the other, and LLVM's
//! vectoriser makes a gather of each. Where all threads of a vector take part, generated code loads or stores the row of
//! each thread as a vector instead, and transposes the rows, which takes a fourth to an eighth of the time. LLVM does so by
//! itself only for up to eight elements at a constant distance that no branch guards.
//!
//! Invariant: the accesses of a group move to the place of one of them only across instructions that cannot observe it.

use super::consecutive::Access;
use cuda_llvm::inkwell::basic_block::BasicBlock;
use cuda_llvm::inkwell::builder::{Builder, BuilderError};
use cuda_llvm::inkwell::context::Context;
use cuda_llvm::inkwell::module::Module;
use cuda_llvm::inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum};
use cuda_llvm::inkwell::values::{
    BasicMetadataValueEnum, BasicValue, BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode,
    InstructionValue, VectorValue,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// The numbers of elements in a row of which a group is made, largest first.
const ROWS: [usize; 3] = [16, 8, 4];

/// The limit on the number of instructions that move with an access.
const FUEL: usize = 64;

/// A gather or scatter.
#[derive(Clone)]
struct Member<'c> {
    call: InstructionValue<'c>,
    access: Access,
    /// The addresses without a constant distance, and that distance in bytes.
    base: BasicValueEnum<'c>,
    offset: i64,
    /// True for a load of memory that does not change.
    invariant: bool,
}

impl<'c> Member<'c> {
    fn of(call: InstructionValue<'c>, invariant_kind: u32) -> Option<Member<'c>> {
        // Before LLVM 22 the alignment is an argument of its own.
        let function = callee(call).filter(|function| function.count_params() == 3)?;
        let name = function.get_name().to_string_lossy().into_owned();
        let access = Access::of(&name).filter(|access| matches!(access.bytes, 4 | 8))?;
        let addresses = value(call, if access.loads { 0 } else { 1 })?;
        let (base, offset) = constant_offset(addresses);
        let invariant = call.get_metadata(invariant_kind).is_some();
        // Lanes that do not take part become 0.
        let fits =
            !access.loads || matches!(value(call, 2)?, BasicValueEnum::VectorValue(v) if v.is_null() || v.is_undef());
        fits.then_some(Member { call, access, base, offset, invariant })
    }

    fn addresses(&self) -> Option<BasicValueEnum<'c>> {
        value(self.call, if self.access.loads { 0 } else { 1 })
    }

    fn mask(&self) -> Option<BasicValueEnum<'c>> {
        value(self.call, if self.access.loads { 1 } else { 2 })
    }
}

/// Accesses of which a group may be made: they have the same base, and nothing between them could tell if they were made
/// at the place of the first or, if they are stores, of the last of them.
type Candidates<'c> = Vec<Member<'c>>;

fn callee(inst: InstructionValue<'_>) -> Option<FunctionValue<'_>> {
    if inst.get_opcode() != InstructionOpcode::Call {
        return None;
    }
    CallSiteValue::try_from(inst).ok()?.get_called_fn_value()
}

fn value(inst: InstructionValue<'_>, index: u32) -> Option<BasicValueEnum<'_>> {
    inst.get_operand(index)?.value()
}

/// Divides addresses into a base and a constant distance in bytes.
fn constant_offset(addresses: BasicValueEnum<'_>) -> (BasicValueEnum<'_>, i64) {
    let divided = || {
        let inst = addresses.as_instruction_value()?;
        let of_bytes = inst.get_opcode() == InstructionOpcode::GetElementPtr
            && inst.get_num_operands() == 2
            && matches!(inst.get_gep_source_element_type().ok()?, BasicTypeEnum::IntType(ty) if ty.get_bit_width() == 8);
        let (base, BasicValueEnum::IntValue(index)) = (value(inst, 0)?, value(inst, 1)?) else { return None };
        let vector = matches!(base, BasicValueEnum::VectorValue(_));
        Some((base, index.get_sign_extended_constant().filter(|_| of_bytes && vector)?))
    };
    divided().unwrap_or((addresses, 0))
}

/// The effect of an instruction on memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    None,
    Reads,
    Writes,
}

/// Functions of LLVM's that access no memory, by the beginnings of their names.
const PURE: [&str; 17] = [
    "abs.",
    "bswap.",
    "ceil.",
    "copysign.",
    "ctlz.",
    "ctpop.",
    "fabs.",
    "floor.",
    "fma.",
    "fsh",
    "maxnum.",
    "minnum.",
    "smax.",
    "smin.",
    "sqrt.",
    "umax.",
    "umin.",
];

fn effect(inst: InstructionValue<'_>) -> Effect {
    use InstructionOpcode::{AtomicCmpXchg, AtomicRMW, Fence, Load, Store};
    match inst.get_opcode() {
        Load if inst.get_volatile() == Ok(false) => Effect::Reads,
        Load | Store | AtomicRMW | AtomicCmpXchg | Fence => Effect::Writes,
        InstructionOpcode::Call => match callee(inst) {
            None => Effect::Writes,
            Some(function) => {
                let name = function.get_name().to_string_lossy();
                let Some(name) = name.strip_prefix("llvm.") else { return Effect::Writes };
                match name {
                    _ if name.starts_with("masked.load.") || name.starts_with("masked.gather.") => Effect::Reads,
                    _ if name.starts_with("mem") || name.starts_with("masked.") => Effect::Writes,
                    _ if PURE.iter().any(|pure| name.starts_with(pure)) => Effect::None,
                    _ => Effect::Writes,
                }
            }
        },
        _ => Effect::None,
    }
}

/// Returns the candidates of a block.
fn candidates<'c>(block: BasicBlock<'c>, invariant_kind: u32) -> Vec<Candidates<'c>> {
    let (mut open, mut closed): (Vec<Candidates<'c>>, Vec<Candidates<'c>>) = (Vec::new(), Vec::new());
    for inst in block.get_instructions() {
        let member = Member::of(inst, invariant_kind);
        let joins = |group: &Candidates<'c>| {
            member.as_ref().is_some_and(|m| {
                group[0].access == m.access
                    && group[0].base == m.base
                    && group[0].invariant == m.invariant
                    && group.iter().all(|other| other.offset != m.offset)
            })
        };
        let effect = match &member {
            Some(member) if member.invariant => Effect::None,
            _ => effect(inst),
        };
        let ends = |group: &Candidates<'c>| match effect {
            Effect::None => false,
            Effect::Reads => !group[0].access.loads,
            Effect::Writes => !group[0].invariant && !joins(group),
        };
        closed.extend(open.extract_if(.., |group| ends(group)));
        let Some(member) = &member else { continue };
        match open.iter_mut().find(|group| joins(group)) {
            Some(group) => group.push(member.clone()),
            None => open.push(vec![member.clone()]),
        }
    }
    closed.extend(open);
    closed
}

/// Divides candidates into groups of consecutive elements.
fn groups(mut members: Candidates<'_>) -> Vec<Candidates<'_>> {
    members.sort_by_key(|member| member.offset);
    let step = i64::from(members[0].access.bytes);
    let mut found = Vec::new();
    for run in members.chunk_by(|a, b| b.offset == a.offset + step) {
        let mut rest = run;
        for length in ROWS.into_iter().filter(|length| *length <= run[0].access.lanes as usize) {
            while rest.len() >= length {
                let (group, others) = rest.split_at(length);
                found.push(group.to_vec());
                rest = others;
            }
        }
    }
    found
}

/// The instructions that compute a value and stand at or behind `limit` in their block, in order; `None` if one of them
/// cannot move.
struct Mover<'c> {
    block: BasicBlock<'c>,
    places: HashMap<InstructionValue<'c>, usize>,
    limit: usize,
    moved: Vec<InstructionValue<'c>>,
}

impl<'c> Mover<'c> {
    fn collect(&mut self, value: BasicValueEnum<'c>) -> Option<()> {
        use InstructionOpcode::{
            Add, And, BitCast, GetElementPtr, ICmp, InsertElement, LShr, Mul, Or, PtrToInt, SExt, Select, Shl,
            ShuffleVector, Sub, Trunc, Xor, ZExt,
        };
        let Some(inst) = value.as_instruction_value() else { return Some(()) };
        let behind = inst.get_parent() == Some(self.block) && *self.places.get(&inst)? >= self.limit;
        if !behind || self.moved.contains(&inst) {
            return Some(());
        }
        let pure = matches!(
            inst.get_opcode(),
            Add | And
                | BitCast
                | GetElementPtr
                | ICmp
                | InsertElement
                | LShr
                | Mul
                | Or
                | PtrToInt
                | SExt
                | Select
                | Shl
                | ShuffleVector
                | Sub
                | Trunc
                | Xor
                | ZExt
        );
        if !pure || self.moved.len() >= FUEL {
            return None;
        }
        for index in 0..inst.get_num_operands() {
            self.collect(self::value(inst, index)?)?;
        }
        self.moved.push(inst);
        Some(())
    }
}

struct Rewriter<'c, 'm> {
    context: &'c Context,
    module: &'m Module<'c>,
    builder: Builder<'c>,
    /// The text of each function, by name.
    functions: BTreeMap<String, String>,
    declares: BTreeSet<String>,
}

impl<'c> Rewriter<'c, '_> {
    /// Replaces a group by a call. Returns false if that is not possible.
    fn replace(&mut self, group: &[Member<'c>]) -> Result<bool, BuilderError> {
        let access = &group[0].access;
        let Some(block) = group[0].call.get_parent() else { return Ok(false) };
        let places: HashMap<_, _> = block.get_instructions().enumerate().map(|(at, inst)| (inst, at)).collect();
        let ordered = group.iter().filter_map(|m| Some((*places.get(&m.call)?, m.call)));
        let anchor = if access.loads { ordered.min_by_key(|o| o.0) } else { ordered.max_by_key(|o| o.0) };
        let (Some((limit, anchor)), Some(addresses)) = (anchor, group[0].addresses()) else { return Ok(false) };
        let mut mover = Mover { block, places, limit, moved: Vec::new() };
        let mut arguments = vec![addresses];
        for member in group {
            let Some(mask) = member.mask() else { return Ok(false) };
            arguments.push(mask);
        }
        if arguments.iter().any(|argument| mover.collect(*argument).is_none()) {
            return Ok(false);
        }
        for inst in mover.moved {
            inst.remove_from_basic_block();
            self.builder.position_before(&anchor);
            self.builder.insert_instruction(&inst, None);
        }
        match access.loads {
            true => self.replace_gathers(group, anchor, arguments)?,
            false => self.replace_scatters(group, anchor, arguments)?,
        }
        Ok(true)
    }

    fn replace_gathers(
        &mut self,
        group: &[Member<'c>],
        anchor: InstructionValue<'c>,
        mut arguments: Vec<BasicValueEnum<'c>>,
    ) -> Result<(), BuilderError> {
        let result = |member: &Member<'c>| match CallSiteValue::try_from(member.call).ok()?.try_as_basic_value().basic()
        {
            Some(BasicValueEnum::VectorValue(result)) => Some(result),
            _ => None,
        };
        let calls = group.iter().filter_map(result);
        let calls: Vec<VectorValue<'c>> = calls.collect();
        let function = anchor.get_parent().and_then(BasicBlock::get_parent).ok_or(BuilderError::UnsetPosition)?;
        let entry = function.get_first_basic_block().and_then(|block| block.get_first_instruction());
        self.builder.position_before(&entry.ok_or(BuilderError::UnsetPosition)?);
        let mut results = Vec::new();
        for call in &calls {
            let result = self.builder.build_alloca(call.get_type(), "")?;
            results.push(result);
            arguments.push(result.as_basic_value_enum());
        }
        self.builder.position_before(&anchor);
        self.call(group, &arguments)?;
        for (call, result) in calls.iter().zip(&results) {
            let loaded = self.builder.build_load(call.get_type(), *result, "")?.into_vector_value();
            call.replace_all_uses_with(loaded);
        }
        group.iter().for_each(|member| member.call.erase_from_basic_block());
        Ok(())
    }

    fn replace_scatters(
        &mut self,
        group: &[Member<'c>],
        anchor: InstructionValue<'c>,
        mut arguments: Vec<BasicValueEnum<'c>>,
    ) -> Result<(), BuilderError> {
        arguments.extend(group.iter().filter_map(|member| value(member.call, 0)));
        self.builder.position_before(&anchor);
        self.call(group, &arguments)?;
        group.iter().for_each(|member| member.call.erase_from_basic_block());
        Ok(())
    }

    /// Emits the call of a group's function: its arguments are the first addresses, the masks, and pointers to the results
    /// or the values.
    fn call(&mut self, group: &[Member<'c>], arguments: &[BasicValueEnum<'c>]) -> Result<(), BuilderError> {
        let access = &group[0].access;
        let name = format!("{}.{}", access.name.replacen("llvm.masked", "sim.interleaved", 1), group.len());
        if !self.functions.contains_key(&name) {
            self.declares.insert(access.declaration());
            self.functions.insert(name.clone(), text(access, &name, group.len()));
        }
        let function = self.module.get_function(&name).unwrap_or_else(|| {
            let types: Vec<BasicMetadataTypeEnum<'c>> = arguments.iter().map(|a| a.get_type().into()).collect();
            self.module.add_function(&name, self.context.void_type().fn_type(&types, false), None)
        });
        let arguments: Vec<BasicMetadataValueEnum<'c>> = arguments.iter().map(|a| (*a).into()).collect();
        self.builder.build_call(function, &arguments, "").map(drop)
    }
}

/// Returns the lanes that a stage of a transposition takes of two rows whose numbers differ by `bit`: for the lower one,
/// and for the higher one.
fn stage(lanes: usize, bit: usize) -> [Vec<usize>; 2] {
    let low = (0..lanes).map(|lane| if lane & bit == 0 { lane } else { lanes + lane - bit });
    let high = (0..lanes).map(|lane| if lane & bit == 0 { lane + bit } else { lanes + lane });
    [low.collect(), high.collect()]
}

fn shuffle(out: &mut String, result: &str, vector: &str, [a, b]: [&str; 2], lanes: &[usize]) {
    let picked: Vec<String> = lanes.iter().map(|lane| format!("i32 {lane}")).collect();
    let _ = writeln!(
        out,
        "  {result} = shufflevector {vector} {a}, {vector} {b}, <{} x i32> <{}>",
        lanes.len(),
        picked.join(", ")
    );
}

/// Transposes blocks of `length` rows: the vectors `%a0` to `%a{length - 1}` become `%z0` and so on.
fn transpose(out: &mut String, vector: &str, lanes: usize, length: usize) {
    let name = |bit: usize, row: usize| match bit {
        1 => format!("%a{row}"),
        _ if bit == length => format!("%z{row}"),
        _ => format!("%a{row}.{bit}"),
    };
    let mut bit = 1;
    while bit < length {
        let picked = stage(lanes, bit);
        for row in (0..length).filter(|row| row & bit == 0) {
            let from = [name(bit, row), name(bit, row + bit)];
            for (to, picked) in [row, row + bit].into_iter().zip(&picked) {
                shuffle(out, &name(2 * bit, to), vector, [&from[0], &from[1]], picked);
            }
        }
        bit *= 2;
    }
}

/// Returns the function that makes the accesses of a group.
fn text(access: &Access, name: &str, length: usize) -> String {
    let (lanes, element, bytes) = (access.lanes as usize, access.element, access.bytes as usize);
    let (vector, row) = (format!("<{lanes} x {element}>"), format!("<{length} x {element}>"));
    let (pointers, mask) = (format!("<{lanes} x ptr>"), format!("<{lanes} x i1>"));
    let mut out = format!("define linkonce_odr hidden void @{name}({pointers} %p");
    let rest = if access.loads { "ptr %out" } else { &format!("{vector} %a") };
    for (parameter, k) in [&format!("{mask} %m"), rest].into_iter().flat_map(|name| (0..length).map(move |k| (name, k)))
    {
        let _ = write!(out, ", {parameter}{k}");
    }
    let _ = writeln!(out, ") alwaysinline nounwind null_pointer_is_valid {{\n  %all0 = freeze {mask} %m0");
    for k in 1..length {
        let _ = writeln!(out, "  %all{k} = and {mask} %all{}, %m{k}", k - 1);
    }
    let _ = writeln!(
        out,
        "  %bits = bitcast {mask} %all{} to i{lanes}\n  %whole = icmp eq i{lanes} %bits, -1\n  \
         br i1 %whole, label %yes, label %no\nyes:",
        length - 1
    );
    for lane in 0..lanes {
        let _ = writeln!(out, "  %p{lane} = extractelement {pointers} %p, i64 {lane}");
    }
    if access.loads {
        for lane in 0..lanes {
            let _ = writeln!(out, "  %row{lane} = load {row}, ptr %p{lane}, align 1");
        }
        (0..length).for_each(|k| concatenate(&mut out, element, lanes, length, k));
        transpose(&mut out, &vector, lanes, length);
        for k in 0..length {
            let _ = writeln!(out, "  store {vector} %z{k}, ptr %out{k}");
        }
    } else {
        transpose(&mut out, &vector, lanes, length);
        for lane in 0..lanes {
            let part: Vec<usize> = (lane / length * length..).take(length).collect();
            let whole = format!("%z{}", lane % length);
            shuffle(&mut out, &format!("%row{lane}"), &vector, [&whole, "poison"], &part);
            let _ = writeln!(out, "  store {row} %row{lane}, ptr %p{lane}, align 1");
        }
    }
    out.push_str("  ret void\nno:\n");
    for k in 0..length {
        let _ = writeln!(out, "  %q{k} = getelementptr i8, {pointers} %p, i64 {}", k * bytes);
        let _ = match access.loads {
            true => writeln!(
                out,
                "  %y{k} = call {vector} @{}({pointers} align 1 %q{k}, {mask} %m{k}, {vector} zeroinitializer)\n  \
                 store {vector} %y{k}, ptr %out{k}",
                access.name
            ),
            false => {
                writeln!(out, "  call void @{}({vector} %a{k}, {pointers} align 1 %q{k}, {mask} %m{k})", access.name)
            }
        };
    }
    out.push_str("  ret void\n}\n");
    out
}

/// Makes a vector `%a{k}` of the rows `k`, `k + length` and so on.
fn concatenate(out: &mut String, element: &str, lanes: usize, length: usize, k: usize) {
    let mut parts: Vec<String> = (0..lanes / length).map(|part| format!("%row{}", k + part * length)).collect();
    let mut size = length;
    while parts.len() > 1 {
        let last = parts.len() == 2;
        let vector = format!("<{size} x {element}>");
        let pairs = parts.chunks(2).enumerate().map(|(at, pair)| {
            let result = if last { format!("%a{k}") } else { format!("%c{k}.{size}.{at}") };
            let lanes: Vec<usize> = (0..2 * size).collect();
            shuffle(out, &result, &vector, [&pair[0], &pair[1]], &lanes);
            result
        });
        parts = pairs.collect();
        size *= 2;
    }
    if lanes == length {
        let lanes: Vec<usize> = (0..lanes).collect();
        shuffle(out, &format!("%a{k}"), &format!("<{length} x {element}>"), [&parts[0], "poison"], &lanes);
    }
}

/// The functions of a module's groups, to be linked, and the number of gathers and scatters that they replace.
pub(super) struct Groups {
    pub(super) functions: String,
    pub(super) accesses: usize,
}

/// Replaces the interleaved access groups of a module by calls of functions.
///
/// # Errors
///
/// LLVM's message if an instruction cannot be built, which is a defect of this file.
pub(super) fn group<'c>(context: &'c Context, module: &Module<'c>) -> Result<Groups, String> {
    let builder = context.create_builder();
    let mut this = Rewriter { context, module, builder, functions: BTreeMap::new(), declares: BTreeSet::new() };
    let invariant_kind = context.get_kind_id("invariant.load");
    let mut accesses = 0;
    let blocks: Vec<_> = module.get_functions().flat_map(|function| function.get_basic_block_iter()).collect();
    for block in blocks {
        for group in candidates(block, invariant_kind).into_iter().flat_map(groups) {
            if this.replace(&group).map_err(|e| e.to_string())? {
                accesses += group.len();
            }
        }
    }
    let functions = this.declares.into_iter().chain(this.functions.into_values()).collect();
    Ok(Groups { functions, accesses })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies the stages of a transposition to numbers.
    fn transposed(mut rows: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let (length, lanes) = (rows.len(), rows[0].len());
        let mut bit = 1;
        while bit < length {
            for low in (0..length).filter(|row| row & bit == 0) {
                let both: Vec<usize> = rows[low].iter().chain(&rows[low + bit]).copied().collect();
                let [a, b] = stage(lanes, bit).map(|picked| picked.into_iter().map(|lane| both[lane]).collect());
                (rows[low], rows[low + bit]) = (a, b);
            }
            bit *= 2;
        }
        rows
    }

    #[test]
    fn the_stages_transpose_each_block_of_rows() {
        for (lanes, length) in [(16, 16), (16, 8), (16, 4), (8, 8), (8, 4)] {
            // Vector `k` has the elements of rows `k`, `k + length` and so on; element `e` of row `r` is `100 r + e`.
            let rows = (0..length)
                .map(|k| (0..lanes).map(|lane| 100 * (k + lane / length * length) + lane % length).collect::<Vec<_>>());
            let expected: Vec<Vec<usize>> = (0..length).map(|e| (0..lanes).map(|r| 100 * r + e).collect()).collect();
            let rows: Vec<Vec<usize>> = rows.collect();
            assert_eq!(transposed(rows.clone()), expected, "{lanes} {length}");
            assert_eq!(transposed(expected), rows, "{lanes} {length}");
        }
    }
}
