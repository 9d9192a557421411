//! The parser: one function per rule of the grammar in [`super`]. It checks only syntax, and that the indices written
//! with sites, parameters, slots and blocks equal their positions.

mod source;

use std::fmt::Display;

use super::ParseError;
use super::lex::{Spanned, Token, tokens};
use super::names::{
    ATOMIC, BARRIER, BINARY, CLOCK, COMPARE, FLOAT8, LANE, LOAD, ORDERING, REDUCE, ROLE, SCOPE, SHUFFLE, SPACE,
    SPECIAL, STORE, TERNARY, UNARY, VOTE, item, scalar,
};
use crate::{
    Access, ArrayDecl, ArrayId, Block, BlockId, Const, ConstantDecl, ConstantId, FuncId, Function, Inst, LibFn, Module,
    Op, Order, Param, Pointee, Record, Role, Scalar, SharedId, Site, SiteId, Slot, SlotId, Terminator, Type, Value,
};

type Result<T> = std::result::Result<T, ParseError>;

/// Parses a module and the end of the text.
pub(super) fn module(text: &str) -> Result<Module> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0 };
    parser.word("kir")?;
    if parser.number::<u32>("the version of the text form")? != 1 {
        parser.at -= 1;
        return Err(parser.expected("version 1 of the text form"));
    }
    let (contract, exported) = (parser.is_word("contract"), parser.is_word("exported"));
    let mut sites = Vec::new();
    while parser.is_word("site") {
        sites.push(parser.site(sites.len())?);
    }
    let mut shared = Vec::new();
    while parser.is_word("shared") {
        shared.push(parser.array(shared.len(), Parser::shared_id)?);
    }
    let mut constants = Vec::new();
    while parser.is_word("constant") {
        constants.push(parser.constant_in_memory(constants.len())?);
    }
    let mut types = Vec::new();
    while parser.is_word("type") {
        types.push(parser.source_type(types.len())?);
    }
    let mut functions = Vec::new();
    while *parser.peek() != Token::End {
        functions.push(parser.function(functions.is_empty() && !exported)?);
    }
    Ok(Module { contract, exported, functions, sites, shared, constants, types })
}

struct Parser {
    tokens: Vec<Spanned>,
    at: usize,
}

impl Parser {
    fn site(&mut self, index: usize) -> Result<Site> {
        self.at_index(index, Self::bare)?;
        let place = self.location()?;
        Ok(Site { message: self.text()?, file: place.file.to_string(), line: place.line, column: place.column })
    }

    fn array(&mut self, index: usize, id: impl FnOnce(&mut Self) -> Result<u32>) -> Result<ArrayDecl> {
        self.at_index(index, id)?;
        let name = self.name()?;
        self.sign(':')?;
        let element = self.pointee()?;
        Ok(ArrayDecl { name, element, len: self.number("a length")? })
    }

    fn constant_in_memory(&mut self, index: usize) -> Result<ConstantDecl> {
        let array = self.array(index, Self::constant_id)?;
        let (space, host) = (self.item(SPACE, "a memory space")?, self.is_word("host"));
        let text = self.text()?;
        let digits: Vec<u8> = text.chars().filter_map(|c| Some(c.to_digit(16)? as u8)).collect();
        if digits.len() != text.len() || !digits.len().is_multiple_of(2) {
            self.at -= 1;
            return Err(self.expected("bytes of two hexadecimal digits"));
        }
        Ok(ConstantDecl { array, space, host, bytes: digits.chunks(2).map(|byte| byte[0] << 4 | byte[1]).collect() })
    }

    fn function(&mut self, is_kernel: bool) -> Result<Function> {
        self.word(if is_kernel { "kernel" } else { "device" })?;
        let name = self.name()?;
        let mut params = Vec::new();
        self.sign('(')?;
        while !self.is_sign(')') {
            if !params.is_empty() {
                self.sign(',')?;
            }
            params.push(self.param(params.len())?);
        }
        let result = if self.is_sign('>') { Some(self.ty()?) } else { None };
        self.sign('{')?;
        let mut slots = Vec::new();
        while self.is_word("slot") {
            slots.push(self.slot(slots.len())?);
        }
        let mut arrays = Vec::new();
        while self.is_word("array") {
            arrays.push(self.array(arrays.len(), Self::array_id)?);
        }
        let (scopes, variables) = (self.scopes()?, self.variables()?);
        let mut blocks = Vec::new();
        while !self.is_sign('}') {
            blocks.push(self.block(blocks.len())?);
        }
        Ok(Function { name, params, result, slots, arrays, scopes, variables, blocks })
    }

    fn param(&mut self, index: usize) -> Result<Param> {
        self.at_index(index, |parser| parser.value().map(|value| value.0))?;
        let (name, ty) = self.name_and_type()?;
        let access = match ty {
            Type::Ptr(..) => self.access()?,
            Type::Scalar(_) if self.is_word("readwrite") => Access::ReadWrite,
            Type::Scalar(_) => Access::Read,
        };
        let found = ROLE.iter().find(|(word, _)| self.is_word(word));
        let role = found.map_or(Role::Plain, |(_, role)| *role);
        Ok(Param { name, ty, access, role })
    }

    fn access(&mut self) -> Result<Access> {
        if self.is_word("readwrite") {
            Ok(Access::ReadWrite)
        } else if self.is_word("read") {
            Ok(Access::Read)
        } else {
            Err(self.expected("`read` or `readwrite`"))
        }
    }

    fn slot(&mut self, index: usize) -> Result<Slot> {
        self.at_index(index, Self::slot_id)?;
        let (name, ty) = self.name_and_type()?;
        Ok(Slot { name, ty })
    }

    fn name_and_type(&mut self) -> Result<(String, Type)> {
        let name = self.name()?;
        self.sign(':')?;
        Ok((name, self.ty()?))
    }

    fn block(&mut self, index: usize) -> Result<Block> {
        self.at_index(index, |parser| parser.block_id().map(|block| block.0))?;
        self.sign(':')?;
        let mut insts = Vec::new();
        loop {
            if let Some(end) = self.terminator()? {
                return Ok(Block { insts, end });
            }
            insts.push(self.inst()?);
        }
    }

    fn terminator(&mut self) -> Result<Option<Terminator>> {
        let Token::Word(word) = self.peek().clone() else { return Ok(None) };
        let start = self.at;
        self.at += 1;
        Ok(Some(match word.as_str() {
            "jump" => Terminator::Jump(self.block_id()?),
            "branch" => {
                let condition = self.value()?;
                self.sign(',')?;
                let then = self.block_id()?;
                self.sign(',')?;
                Terminator::Branch(condition, then, self.block_id()?)
            }
            "return" => Terminator::Return(self.try_index("v").map(Value)),
            "panic" => {
                let site = SiteId(self.bare()?);
                let arguments = if *self.peek() == Token::Sign('(') { self.values()? } else { Vec::new() };
                Terminator::Panic(site, arguments)
            }
            _ => {
                self.at = start;
                return Ok(None);
            }
        }))
    }

    fn inst(&mut self) -> Result<Inst> {
        let result = match self.try_index("v") {
            None => None,
            Some(index) => {
                self.sign(':')?;
                let ty = self.ty()?;
                self.sign('=')?;
                Some((Value(index), ty))
            }
        };
        Ok(Inst { op: self.op()?, result })
    }

    fn op(&mut self) -> Result<Op> {
        const WHAT: &str = "an operation or a block's end";
        let Token::Word(word) = self.peek().clone() else { return Err(self.expected(WHAT)) };
        self.at += 1;
        if let Some(op) = item(UNARY, &word) {
            return Ok(Op::Unary(op, self.value()?));
        }
        if let Some(op) = item(BINARY, &word) {
            return self.two(|a, b| Op::Binary(op, a, b));
        }
        if let Some(op) = item(TERNARY, &word) {
            return self.three(|a, b, c| Op::Ternary(op, a, b, c));
        }
        if let Some(op) = item(COMPARE, &word) {
            return self.two(|a, b| Op::Compare(op, a, b));
        }
        if let Some(op) = item(BARRIER, &word) {
            return Ok(Op::BarrierReduce(op, self.value()?));
        }
        if let Some(hint) = item(LOAD, &word) {
            let (pointer, mut slots) = (self.value()?, Vec::new());
            while self.is_sign(',') {
                slots.push(SlotId(self.slot_id()?));
            }
            return Ok(match slots.is_empty() {
                true => Op::LoadCached(hint, pointer),
                false => Op::LoadCachedAll(hint, pointer, slots),
            });
        }
        if let Some(hint) = item(STORE, &word) {
            let (pointer, mut values) = (self.value()?, Vec::new());
            self.sign(',')?;
            values.push(self.value()?);
            while self.is_sign(',') {
                values.push(self.value()?);
            }
            return Ok(match values[..] {
                [value] => Op::StoreCached(hint, pointer, value),
                _ => Op::StoreCachedAll(hint, pointer, values),
            });
        }
        if let Some(lane) = item(LANE, &word) {
            return Ok(Op::Lane(self.value()?, lane));
        }
        match word.as_str() {
            "const" => self.constant().map(Op::Const),
            "get" => self.slot_id().map(|slot| Op::Get(SlotId(slot))),
            "set" => {
                let slot = SlotId(self.slot_id()?);
                self.sign(',')?;
                Ok(Op::Set(slot, self.value()?))
            }
            "fma" => self.three(Op::Fma),
            "select" => self.three(Op::Select),
            "overflows" => {
                let op = self.item(BINARY, "a binary operator")?;
                self.two(|a, b| Op::Overflows(op, a, b))
            }
            "cast" => self.to(Op::Cast),
            "bitcast" => self.to(Op::Bitcast),
            "pair" => self.two(Op::Pair),
            "narrow" => {
                let float = self.item(FLOAT8, "a format of 8-bit floats")?;
                self.two(|a, b| Op::Narrow(float, a, b))
            }
            "widen" => {
                let float = self.item(FLOAT8, "a format of 8-bit floats")?;
                Ok(Op::Widen(float, self.value()?))
            }
            "offset" => self.two(Op::Offset),
            "field" => {
                let pointer = self.value()?;
                self.sign(',')?;
                let offset = self.number("an offset in bytes")?;
                self.word("to")?;
                Ok(Op::Field(pointer, offset, self.pointee()?))
            }
            "address" => self.value().map(Op::Address),
            "retype" => {
                let pointer = self.value()?;
                self.word("to")?;
                Ok(Op::Retype(pointer, self.pointee()?))
            }
            "generic" => {
                let pointer = self.value()?;
                Ok(Op::Generic(pointer, self.access()?))
            }
            "load" => self.value().map(Op::Load),
            "store" => self.two(Op::Store),
            "special" => self.item(SPECIAL, "a special register").map(Op::Special),
            "shared" => self.shared_id().map(|array| Op::Shared(SharedId(array))),
            "dynamic_shared" => {
                let offset = self.value()?;
                self.word("to")?;
                Ok(Op::DynamicShared(offset, self.pointee()?))
            }
            "map_shared" => self.two(Op::MapShared),
            "local" => self.array_id().map(|array| Op::Local(ArrayId(array))),
            "constant" => self.constant_id().map(|constant| Op::Constant(ConstantId(constant))),
            "barrier" => Ok(Op::Barrier),
            "line" => Ok(Op::Line(self.location()?, self.within()?)),
            "fence" => self.order().map(Op::Fence),
            "atomic_load" => {
                let order = self.order_or_none()?;
                Ok(Op::AtomicLoad(order, self.value()?))
            }
            "atomic_store" => {
                let order = self.order_or_none()?;
                self.two(|a, b| Op::AtomicStore(order, a, b))
            }
            "atomic" => {
                let op = self.item(ATOMIC, "an atomic operator")?;
                let order = self.order_or_none()?;
                self.two(|a, b| Op::Atomic(op, order, a, b))
            }
            "compare_exchange" => {
                let order = self.order_or_none()?;
                self.three(|a, b, c| Op::CompareExchange(order, a, b, c))
            }
            "shuffle" => {
                let op = self.item(SHUFFLE, "a kind of shuffle")?;
                let width = if self.is_word("within") { self.number("a number of lanes")? } else { 32 };
                self.three(|a, b, c| Op::Shuffle(op, width, a, b, c))
            }
            "reduce" => {
                let op = self.item(REDUCE, "a reduction")?;
                self.two(|a, b| Op::Reduce(op, a, b))
            }
            "cluster_barrier" => Ok(Op::ClusterBarrier),
            "grid_barrier" => Ok(Op::GridBarrier),
            "panicked" => Ok(Op::Panicked),
            "clock" => self.item(CLOCK, "a clock").map(Op::Clock),
            "sleep" => self.value().map(Op::Sleep),
            "breakpoint" => Ok(Op::Breakpoint),
            "vote" => {
                let op = self.item(VOTE, "a kind of vote")?;
                self.two(|a, b| Op::Vote(op, a, b))
            }
            "match_any" => self.two(Op::MatchAny),
            "match_all" => self.two(Op::MatchAll),
            "set_conditional" => self.two(Op::SetConditional),
            "sync_warp" => self.value().map(Op::SyncWarp),
            "active_mask" => Ok(Op::ActiveMask),
            "print" => {
                let format = self.text()?;
                Ok(Op::Print(format.into(), self.values()?))
            }
            "math" => {
                let found = match self.peek() {
                    Token::Word(name) => LibFn::find(name),
                    _ => None,
                };
                let function = found.ok_or_else(|| self.expected("a function of libdevice"))?;
                self.at += 1;
                Ok(Op::Math(function, self.values()?))
            }
            "call" => {
                let function = self.index("f", "a function")?;
                Ok(Op::Call(FuncId(function), self.values()?))
            }
            _ => {
                self.at -= 1;
                Err(self.expected(WHAT))
            }
        }
    }

    fn order(&mut self) -> Result<Order> {
        let ordering = self.item(ORDERING, "an ordering")?;
        Ok(Order { ordering, scope: self.item(SCOPE, "a scope")? })
    }

    fn order_or_none(&mut self) -> Result<Order> {
        match self.peek() {
            Token::Word(word) if item(ORDERING, word).is_some() => self.order(),
            _ => Ok(Order::RELAXED),
        }
    }

    fn two(&mut self, make: impl FnOnce(Value, Value) -> Op) -> Result<Op> {
        let a = self.value()?;
        self.sign(',')?;
        Ok(make(a, self.value()?))
    }

    fn three(&mut self, make: impl FnOnce(Value, Value, Value) -> Op) -> Result<Op> {
        let a = self.value()?;
        self.sign(',')?;
        let b = self.value()?;
        self.sign(',')?;
        Ok(make(a, b, self.value()?))
    }

    fn to(&mut self, make: impl FnOnce(Value, Scalar) -> Op) -> Result<Op> {
        let a = self.value()?;
        self.word("to")?;
        Ok(make(a, self.scalar()?))
    }

    fn values(&mut self) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        self.sign('(')?;
        while !self.is_sign(')') {
            if !values.is_empty() {
                self.sign(',')?;
            }
            values.push(self.value()?);
        }
        Ok(values)
    }

    fn constant(&mut self) -> Result<Const> {
        let ty = self.scalar()?;
        let bits = match self.peek() {
            Token::Word(word) if ty == Scalar::Bool => match word.as_str() {
                "true" => Some(1),
                "false" => Some(0),
                _ => None,
            },
            Token::Number(number) => literal(ty, number),
            _ => None,
        };
        let bits = bits.ok_or_else(|| self.expected(format_args!("a literal of type {ty}")))?;
        self.at += 1;
        Ok(Const { ty, bits })
    }

    fn ty(&mut self) -> Result<Type> {
        if self.is_word("ptr") {
            let space = self.item(SPACE, "a memory space")?;
            return Ok(Type::Ptr(space, self.pointee()?));
        }
        self.scalar().map(Type::Scalar)
    }

    fn pointee(&mut self) -> Result<Pointee> {
        if self.is_word("record") {
            let size = self.number("a size in bytes")?;
            self.word("align")?;
            return Ok(Pointee::Record(Record { size, align: self.number("an alignment in bytes")? }));
        }
        self.scalar().map(Pointee::Scalar)
    }

    fn scalar(&mut self) -> Result<Scalar> {
        let found = match self.peek() {
            Token::Word(word) => scalar(word),
            _ => None,
        };
        let found = found.ok_or_else(|| self.expected("a type"))?;
        self.at += 1;
        Ok(found)
    }

    fn item<T: Copy>(&mut self, table: &[(&'static str, T)], what: &str) -> Result<T> {
        let found = match self.peek() {
            Token::Word(word) => item(table, word),
            _ => None,
        };
        let found = found.ok_or_else(|| self.expected(what))?;
        self.at += 1;
        Ok(found)
    }

    /// Parses an index with `read`, which must equal `place`.
    fn at_index(&mut self, place: usize, read: impl FnOnce(&mut Self) -> Result<u32>) -> Result<()> {
        let start = self.at;
        if read(self)? as usize == place {
            return Ok(());
        }
        self.at = start;
        Err(self.expected(format_args!("index {place}")))
    }

    fn value(&mut self) -> Result<Value> {
        self.index("v", "a value").map(Value)
    }

    fn slot_id(&mut self) -> Result<u32> {
        self.index("s", "a slot")
    }

    fn array_id(&mut self) -> Result<u32> {
        self.index("a", "an array")
    }

    fn shared_id(&mut self) -> Result<u32> {
        self.index("m", "a shared array")
    }

    fn constant_id(&mut self) -> Result<u32> {
        self.index("c", "a constant")
    }

    fn block_id(&mut self) -> Result<BlockId> {
        self.index("b", "a block").map(BlockId)
    }

    fn bare(&mut self) -> Result<u32> {
        self.number("a site's index")
    }

    fn index(&mut self, letter: &str, what: &str) -> Result<u32> {
        self.try_index(letter).ok_or_else(|| self.expected(format_args!("{what}, such as `{letter}0`")))
    }

    fn try_index(&mut self, letter: &str) -> Option<u32> {
        let Token::Word(word) = self.peek() else { return None };
        let index = decimal(word.strip_prefix(letter)?)?;
        self.at += 1;
        Some(index)
    }

    fn name(&mut self) -> Result<String> {
        match self.peek().clone() {
            Token::Word(name) | Token::Text(name) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.expected("a name")),
        }
    }

    fn text(&mut self) -> Result<String> {
        match self.peek().clone() {
            Token::Text(text) => {
                self.at += 1;
                Ok(text)
            }
            _ => Err(self.expected("a string")),
        }
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        let number = match self.peek() {
            Token::Number(number) => number.parse().ok(),
            _ => None,
        };
        let number = number.ok_or_else(|| self.expected(what))?;
        self.at += 1;
        Ok(number)
    }

    fn word(&mut self, word: &str) -> Result<()> {
        if self.is_word(word) { Ok(()) } else { Err(self.expected(format_args!("`{word}`"))) }
    }

    fn sign(&mut self, sign: char) -> Result<()> {
        if self.is_sign(sign) { Ok(()) } else { Err(self.expected(Token::Sign(sign).describe())) }
    }

    /// Takes the next token if it is this keyword.
    fn is_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(other) if other == word);
        self.at += usize::from(found);
        found
    }

    /// Takes the next token if it is this sign.
    fn is_sign(&mut self, sign: char) -> bool {
        let found = *self.peek() == Token::Sign(sign);
        self.at += usize::from(found);
        found
    }

    /// The next token; the last one, [`Token::End`], is never taken, since no rule asks for it.
    fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    fn expected(&self, what: impl Display) -> ParseError {
        let Spanned { token, line, column } = &self.tokens[self.at];
        ParseError { line: *line, column: *column, message: format!("expected {what}, found {}", token.describe()) }
    }
}

/// Parses a decimal index without sign or leading zeros, so that each has one spelling.
fn decimal(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

/// The bits of a literal of type `ty`, if it is one and fits; hexadecimal literals may have any bits.
fn literal(ty: Scalar, text: &str) -> Option<u128> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u128::from_str_radix(digits, 16).ok();
    }
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'-'));
    let float = || text.parse::<f32>().ok().filter(|_| plain);
    match ty {
        Scalar::Bool | Scalar::F16x2 | Scalar::Bf16x2 => None,
        Scalar::F16 => float().map(|float| half::f16::from_f32(float).to_bits().into()),
        Scalar::Bf16 => float().map(|float| half::bf16::from_f32(float).to_bits().into()),
        Scalar::F32 => float().map(|float| float.to_bits().into()),
        Scalar::F64 => text.parse().ok().filter(|_| plain).map(|float: f64| float.to_bits().into()),
        _ if ty.is_signed() => {
            let (number, unused) = (text.parse::<i128>().ok()?, 128 - ty.bits());
            (number << unused >> unused == number).then_some(number as u128 & ty.mask())
        }
        _ => text.parse().ok().filter(|&number| number <= ty.mask()),
    }
}
