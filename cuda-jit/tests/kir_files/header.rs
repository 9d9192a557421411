//! The launches in a file's header, and their expected results.

use cuda_driver::{Dim3, Dims};
use cuda_jit::kir::{Const, Module, Op, Param, Pointee, Scalar, Space, Type, text};

/// The keywords of header lines.
const WORDS: [&str; 9] = ["absent", "argument", "check", "error", "expect", "launch", "not executed", "result", "run"];
/// The key of the panic among the results of a launch.
pub(super) const PANIC: &str = "panic";
/// The key of the printed text among the results of a launch.
pub(super) const PRINTS: &str = "prints";
/// The number of equal values from which on a list counts them.
const RUN: usize = 5;

/// The results of a launch, as keys and values in the header's form.
pub(super) type Outcome = Vec<(String, String)>;

/// A launch, with its arguments and expected results.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    pub(super) cluster: Option<Dim3>,
    pub(super) shared_bytes: usize,
    pub(super) arguments: Vec<Argument>,
    results: Vec<Expected>,
    /// The index of its line in the file.
    line: usize,
}

/// The value of a kernel's parameter: a number, or a buffer's elements.
#[derive(Debug)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) is_buffer: bool,
    ty: Scalar,
    bits: Vec<u128>,
}

/// A result line; one without a value is blessed.
#[derive(Debug)]
struct Expected {
    key: String,
    value: Option<String>,
    line: usize,
}

impl Argument {
    /// The value's bytes in device memory.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let size = self.ty.bytes() as usize;
        self.bits.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(size)).collect()
    }

    /// The bits of a number.
    pub(super) fn number(&self) -> u128 {
        self.bits.first().copied().unwrap_or_default()
    }

    /// A buffer of this type with these bytes, in the header's form.
    pub(super) fn show(&self, bytes: &[u8]) -> String {
        let bits = |element: &[u8]| element.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
        show(self.ty, &bytes.chunks(self.ty.bytes() as usize).map(bits).collect::<Vec<u128>>())
    }
}

/// The launches of a file; none if its header states why it is not executed.
pub(super) fn launches(source: &str, module: &Module) -> Result<Vec<Launch>, String> {
    let params = &module.functions[0].params;
    let (mut launches, mut reason): (Vec<Launch>, bool) = (Vec::new(), false);
    for (index, line) in source.lines().enumerate().take_while(|(_, line)| *line != "; expect:") {
        let at = |why: String| format!("line {}: {why}", index + 1);
        let Some((word, rest)) = line.strip_prefix(';').and_then(|line| line.split_once(':')) else { continue };
        let (word, rest) = (word.trim(), rest.trim());
        if !WORDS.contains(&word) {
            if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
                return Err(at(format!("`{word}` begins no line of a header; these do: {}", WORDS.join(", "))));
            }
            continue;
        }
        if !line.starts_with(format!("; {word}: {rest}").trim_end()) {
            return Err(at(format!(
                "a line of a header is `; {word}: ..`, with one space before the word and one behind"
            )));
        }
        match (word, launches.last_mut()) {
            ("launch", _) => launches.push(Launch::parse(rest, index).map_err(at)?),
            ("not executed", _) if rest.is_empty() => return Err(at("a reason is to follow `not executed:`".into())),
            ("not executed", _) => reason = true,
            ("argument" | "result", None) => return Err(at(format!("`{word}` stands before the first `launch`"))),
            ("argument", Some(launch)) => launch.take_argument(rest, params).map_err(at)?,
            ("result", Some(launch)) => launch.take_result(rest, index).map_err(at)?,
            _ => {}
        }
    }
    match launches.iter().find_map(|launch| launch.missing(params)) {
        Some(why) => Err(why),
        None if reason != launches.is_empty() => {
            Err("the header is to have launches with results, or a line `; not executed: REASON`".into())
        }
        None => Ok(launches),
    }
}

impl Launch {
    fn parse(text: &str, line: usize) -> Result<Self, String> {
        let (grid, block, arguments, results) = (1.dims(), 1.dims(), Vec::new(), Vec::new());
        let mut launch = Launch { grid, block, cluster: None, shared_bytes: 0, arguments, results, line };
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.chunks(2) {
            let [name, value] = *pair else { return Err(format!("`{}` has no value", pair[0])) };
            let dims = || dims(value).ok_or_else(|| format!("`{value}` are no extents, such as `2` or `8x4x1`"));
            match name {
                "grid" => launch.grid = dims()?,
                "block" => launch.block = dims()?,
                "cluster" => launch.cluster = Some(dims()?),
                "shared" => {
                    launch.shared_bytes = value.parse().map_err(|_| format!("`{value}` is no number of bytes"))?;
                }
                _ => return Err(format!("a launch has no `{name}`; it has `grid`, `block`, `cluster` and `shared`")),
            }
        }
        Ok(launch)
    }

    /// Reads `v0 = 5`, `v1 = [1, 2]` or, for a record's bytes, `v2 = f32 [1.0, 2.0]`.
    fn take_argument(&mut self, text: &str, params: &[Param]) -> Result<(), String> {
        let index = self.arguments.len();
        let name = format!("v{index}");
        let param = params.get(index).ok_or_else(|| format!("the kernel has {index} parameters"))?;
        let value = text.strip_prefix(&*name).and_then(|rest| rest.strip_prefix(" = "));
        let value = value.ok_or_else(|| format!("the value of `{name}` is to stand here, as `{name} = VALUE`"))?;
        let (is_buffer, ty, value) = match param.ty {
            Type::Scalar(ty) => (false, ty, value),
            Type::Ptr(Space::Global, Pointee::Scalar(ty)) => (true, ty, value),
            Type::Ptr(Space::Global, Pointee::Record(_)) => {
                let (name, value) = value.split_once(' ').unwrap_or_default();
                let ty = Scalar::ALL.into_iter().find(|ty| ty.name() == name);
                (true, ty.ok_or("a record's bytes are given as `TYPE [VALUES]`")?, value)
            }
            other => return Err(format!("a launch cannot pass a value of type {other:?}")),
        };
        let bits = if is_buffer { list(ty, value)? } else { vec![literal(ty, value)?] };
        self.arguments.push(Argument { name, is_buffer, ty, bits });
        Ok(())
    }

    /// Reads `KEY = VALUE`, or a key alone, whose value is blessed.
    fn take_result(&mut self, text: &str, line: usize) -> Result<(), String> {
        let (key, value) = text.split_once(" = ").map_or((text, None), |(key, value)| (key, Some(value)));
        if self.results.iter().any(|result| result.key == key) {
            return Err(format!("`{key}` has a result already"));
        }
        let buffer = self.arguments.iter().find(|argument| argument.is_buffer && argument.name == key);
        let value = match (buffer, value) {
            (Some(buffer), Some(value)) => {
                let bits = list(buffer.ty, value)?;
                let (found, wanted) = (bits.len(), buffer.bits.len());
                if found != wanted {
                    return Err(format!("`{key}` has {wanted} elements, and {found} are given"));
                }
                Some(show(buffer.ty, &bits))
            }
            (None, _) if ![PANIC, PRINTS].contains(&key) => {
                return Err(format!("`{key}` is no result; buffers, `{PANIC}` and `{PRINTS}` are"));
            }
            (_, value) => value.map(str::to_owned),
        };
        self.results.push(Expected { key: key.to_owned(), value, line });
        Ok(())
    }

    /// The first argument or parameter that is missing.
    fn missing(&self, params: &[Param]) -> Option<String> {
        let (line, given) = (self.line + 1, self.arguments.len());
        if let Some(param) = params.get(given) {
            return Some(format!("line {line}: the launch lacks `v{given}`, the parameter `{}`", param.name));
        }
        self.results.is_empty().then(|| format!("line {line}: the launch has no `; result:`"))
    }

    /// Compares a run's results with those that the header expects. A buffer without a result is expected unchanged.
    /// Returns the result lines without a value, with their values filled in.
    pub(super) fn compare(&self, outcome: &Outcome) -> Result<Vec<(usize, String)>, String> {
        let mut blessed = Vec::new();
        if let Some(Expected { key, line, .. }) =
            self.results.iter().find(|result| !outcome.iter().any(|(key, _)| *key == result.key))
        {
            return Err(format!("line {}: the run tells nothing of `{key}`", line + 1));
        }
        for (key, found) in outcome {
            let buffer = self.arguments.iter().find(|argument| argument.name == *key);
            let result = self.results.iter().find(|result| result.key == *key);
            let wanted = match (result, buffer) {
                (Some(Expected { value: None, line, .. }), _) => {
                    blessed.push((*line, format!("; result: {key} = {found}")));
                    continue;
                }
                (Some(Expected { value: Some(value), .. }), _) => value.clone(),
                (None, Some(buffer)) => show(buffer.ty, &buffer.bits),
                (None, None) => default(key).to_owned(),
            };
            if wanted != *found {
                let line = result.map_or(self.line, |result| result.line) + 1;
                return Err(format!("line {line}: `{key}`\n  expected {wanted}\n  found    {found}"));
            }
        }
        Ok(blessed)
    }
}

/// The expected panic and output of a launch whose header does not state them.
pub(super) fn default(key: &str) -> &'static str {
    if key == PRINTS { "\"\"" } else { "none" }
}

/// Parses dimensions as `X`, `XxY` or `XxYxZ`.
fn dims(text: &str) -> Option<Dim3> {
    let extents: Vec<u32> = text.split('x').map(str::parse).collect::<Result<_, _>>().ok()?;
    (extents.len() <= 3).then(|| extents.dims())
}

/// The values of a list: `[1, 2, 3 of 0, 4 from 1 by 2]` are 1, 2, 0, 0, 0, 1, 3, 5 and 7.
fn list(ty: Scalar, text: &str) -> Result<Vec<u128>, String> {
    let items = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let items = items.ok_or_else(|| format!("`{text}` is no list, such as `[1, 2]`"))?;
    let mut values = Vec::new();
    for item in items.split(',').map(str::trim).filter(|_| !items.is_empty()) {
        let words: Vec<&str> = item.split(' ').collect();
        let count = || words[0].parse::<u32>().map_err(|_| format!("`{}` is no number of elements", words[0]));
        match words[..] {
            [_, "of", value] => values.extend(vec![literal(ty, value)?; count()? as usize]),
            [_, "from", first, "by", step] => {
                let (first, step) = (literal(ty, first)?, literal(ty, step)?);
                values.extend((0..count()?).map(|at| sequence(ty, first, step, at)));
            }
            _ => values.push(literal(ty, item)?),
        }
    }
    Ok(values)
}

/// An element of an arithmetic sequence, exact if every multiple of the step is.
fn sequence(ty: Scalar, first: u128, step: u128, at: u32) -> u128 {
    match ty {
        Scalar::F32 => {
            let element = f32::from_bits(first as u32) + at as f32 * f32::from_bits(step as u32);
            element.to_bits().into()
        }
        Scalar::F64 => {
            let element = f64::from_bits(first as u64) + f64::from(at) * f64::from_bits(step as u64);
            element.to_bits().into()
        }
        _ => first.wrapping_add(step.wrapping_mul(at.into())) & ty.mask(),
    }
}

/// The bits of a KIR literal.
fn literal(ty: Scalar, text: &str) -> Result<u128, String> {
    let function = format!("kir 1 kernel f() {{ b0: v0: {ty} = const {ty} {text} return }}");
    let module = text::parse(&function).ok().filter(|_| !text.contains(char::is_whitespace));
    let op = module.and_then(|module| Some(module.functions[0].blocks[0].insts.first()?.op.clone()));
    match op {
        Some(Op::Const(constant)) if constant.bits <= ty.mask() => Ok(constant.bits),
        _ => Err(format!("`{text}` is no literal of {ty}")),
    }
}

/// Formats values as a list that [`list`] parses, bit for bit.
fn show(ty: Scalar, values: &[u128]) -> String {
    let literal = |bits| {
        let constant = Const { ty, bits }.to_string();
        constant.split_once(' ').map_or(String::new(), |(_, literal)| literal.to_owned())
    };
    let runs = values.chunk_by(|a, b| a == b).flat_map(|run| {
        let value = literal(run[0]);
        if run.len() < RUN { vec![value; run.len()] } else { vec![format!("{} of {value}", run.len())] }
    });
    format!("[{}]", runs.collect::<Vec<_>>().join(", "))
}
