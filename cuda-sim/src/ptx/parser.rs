//! The parser: PTX text to syntax tree.
//!
//! Recursive descent over the tokens of [`super::lexer`]; nesting is limited, so no text can exhaust the stack. It
//! decides which forms an instruction may have by the table in [`super::isa`]; names are resolved later.

use super::ast::*;
use super::isa::{self, Form, Modifier, Opcode, Shape};
use super::lexer::{Lexer, Token};
use super::{Error, Result};

/// Deepest nesting of initialisers and of vectors.
const MAX_DEPTH: u32 = 32;

/// Parses PTX text.
///
/// # Errors
///
/// Malformed text and instructions that this device does not know, with line and column.
///
/// # Examples
///
/// ```
/// let text = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }";
/// let module = cuda_sim::ptx::parse(text)?;
/// assert_eq!(cuda_sim::ptx::parse(&module.to_string())?, module);
/// # Ok::<(), cuda_sim::ptx::Error>(())
/// ```
pub fn parse(text: &str) -> Result<Module> {
    let mut lexer = Lexer::new(text);
    let (token, position) = lexer.next()?;
    Parser { lexer, token, position }.module()
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    position: Position,
}

fn show(token: &Token<'_>) -> String {
    match token {
        Token::Ident(name) => format!("'{name}'"),
        Token::Dot(name) => format!("'.{name}'"),
        Token::Int(value) => format!("'{value}'"),
        Token::F32(bits) => format!("'0f{bits:08X}'"),
        Token::F64(bits) => format!("'0d{bits:016X}'"),
        Token::Str(text) => format!("\"{text}\""),
        Token::Punct(byte) => format!("'{}'", char::from(*byte)),
        Token::End => "the end of the text".to_owned(),
    }
}

impl<'a> Parser<'a> {
    fn advance(&mut self) -> Result<Token<'a>> {
        let old = self.token;
        (self.token, self.position) = self.lexer.next()?;
        Ok(old)
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        Err(Error::new(self.position, format!("{what} expected, {} found", show(&self.token))))
    }

    fn is(&self, byte: u8) -> bool {
        self.token == Token::Punct(byte)
    }

    fn eat(&mut self, byte: u8) -> Result<bool> {
        let found = self.is(byte);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.eat(byte)? { Ok(()) } else { self.expected(&format!("'{}'", char::from(byte))) }
    }

    fn ident(&mut self, what: &str) -> Result<&'a str> {
        match self.token {
            Token::Ident(name) => {
                self.advance()?;
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    fn int(&mut self, what: &str) -> Result<u64> {
        match self.token {
            Token::Int(value) => {
                self.advance()?;
                Ok(value)
            }
            _ => self.expected(what),
        }
    }

    fn eat_dot(&mut self, name: &str) -> Result<bool> {
        let found = self.token == Token::Dot(name);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn module(mut self) -> Result<Module> {
        if !self.eat_dot("version")? {
            return self.expected(".version at the start of the module");
        }
        let version = self.version()?;
        if !self.eat_dot("target")? {
            return self.expected(".target after .version");
        }
        let mut targets = vec![self.ident("the name of a target")?.to_owned()];
        while self.eat(b',')? {
            targets.push(self.ident("the name of a target")?.to_owned());
        }
        let mut module = Module { version, targets, address_size: 64, items: Vec::new() };
        if self.eat_dot("address_size")? {
            let position = self.position;
            module.address_size = self.int("32 or 64")? as u32;
            if module.address_size != 64 {
                return Err(Error::unsupported(position, "only .address_size 64 is supported"));
            }
        }
        while self.token != Token::End {
            if let Some(item) = self.item()? {
                module.items.push(item);
            }
        }
        Ok(module)
    }

    /// `8.0` arrives as a floating-point number.
    fn version(&mut self) -> Result<(u32, u32)> {
        let Token::F64(bits) = self.token else { return self.expected("a version such as 8.0") };
        let number = f64::from_bits(bits);
        let (major, minor) = (number as u32, ((number * 10.0).round() as u32) % 10);
        self.advance()?;
        Ok((major, minor))
    }

    fn item(&mut self) -> Result<Option<Item>> {
        if self.eat(b';')? {
            return Ok(None);
        }
        let Token::Dot(name) = self.token else { return self.expected("a directive") };
        if matches!(name, "file" | "loc" | "pragma") {
            return Ok(Some(Item::Note(self.note(name)?)));
        }
        if name == "section" {
            return self.section().map(|text| Some(Item::Note(text)));
        }
        let linkage = Linkage::from_name(name);
        if linkage.is_some() {
            self.advance()?;
        }
        match self.token {
            Token::Dot("entry") => {
                self.advance()?;
                self.function(linkage, FunctionKind::Entry).map(|f| Some(Item::Function(f)))
            }
            Token::Dot("func") => {
                self.advance()?;
                self.function(linkage, FunctionKind::Func).map(|f| Some(Item::Function(f)))
            }
            Token::Dot(space) if Space::from_name(space).is_some() => {
                let mut first = self.variable(linkage)?;
                first.linkage = linkage;
                if self.is(b',') {
                    return self.expected("';' (one variable in a directive)");
                }
                self.expect(b';')?;
                Ok(Some(Item::Variable(first)))
            }
            Token::Dot(other) => {
                Err(Error::unsupported(self.position, format!("the directive .{other} is not supported")))
            }
            _ => self.expected("a directive"),
        }
    }

    /// A directive that ends with its line, or with `;` for `.pragma`.
    fn note(&mut self, name: &str) -> Result<String> {
        let rest = self.lexer.rest_of_line();
        let rest = rest.split("//").next().unwrap_or("").trim_end();
        let text = format!(".{name}{rest}");
        self.advance()?;
        Ok(text)
    }

    /// `.section name { ... }`: debug information, kept as text.
    fn section(&mut self) -> Result<String> {
        let mut text = String::from(".section");
        let start = self.position;
        self.advance()?;
        loop {
            match self.token {
                Token::End => return Err(Error::new(start, "this .section is not closed")),
                Token::Punct(byte) => {
                    text.push(' ');
                    text.push(char::from(byte));
                    self.advance()?;
                    if byte == b'}' {
                        return Ok(text);
                    }
                    continue;
                }
                Token::Ident(name) => text.push_str(&format!(" {name}")),
                Token::Dot(name) => text.push_str(&format!("\n.{name}")),
                Token::Int(value) => text.push_str(&format!(" {value}")),
                other => return Err(Error::new(self.position, format!("{} in a .section", show(&other)))),
            }
            self.advance()?;
        }
    }

    /// A variable or parameter, from its space to its initialiser.
    fn variable(&mut self, linkage: Option<Linkage>) -> Result<Variable> {
        let Token::Dot(name) = self.token else { return self.expected("a state space") };
        let Some(space) = Space::from_name(name) else { return self.expected("a state space") };
        self.advance()?;
        let (mut align, mut vector, mut ty, mut pointer) = (None, None, None, None);
        while let Token::Dot(name) = self.token {
            let position = self.position;
            self.advance()?;
            match name {
                "align" => align = Some(self.alignment()?),
                "v2" => vector = Some(2),
                "v4" => vector = Some(4),
                "ptr" => pointer = Some(self.pointer_attribute()?),
                _ => match Type::from_name(name) {
                    Some(found) => ty = Some(found),
                    None => {
                        return Err(Error::unsupported(position, format!("'.{name}' is not known in a variable")));
                    }
                },
            }
        }
        let Some(ty) = ty else { return self.expected("a type") };
        let position = self.position;
        let name = self.ident("the name of a variable")?.to_owned();
        let mut variable =
            Variable { position, linkage, space, align, ty, vector, pointer, name, dimensions: Vec::new(), init: None };
        while self.eat(b'[')? {
            let size = if self.is(b']') { None } else { Some(self.int("a size")?) };
            variable.dimensions.push(size);
            self.expect(b']')?;
        }
        if self.eat(b'=')? {
            variable.init = Some(self.init(0)?);
        }
        Ok(variable)
    }

    fn alignment(&mut self) -> Result<u64> {
        let position = self.position;
        let align = self.int("an alignment")?;
        if !align.is_power_of_two() || align > 1 << 20 {
            return Err(Error::new(position, format!("the alignment {align} is not a power of two up to 1048576")));
        }
        Ok(align)
    }

    fn pointer_attribute(&mut self) -> Result<(Option<Space>, Option<u64>)> {
        let (mut space, mut align) = (None, None);
        while let Token::Dot(name) = self.token {
            if name == "align" {
                self.advance()?;
                align = Some(self.alignment()?);
            } else if let Some(found) = Space::from_name(name) {
                self.advance()?;
                space = Some(found);
            } else {
                return self.expected("a state space or .align after .ptr");
            }
        }
        Ok((space, align))
    }

    fn init(&mut self, depth: u32) -> Result<Init> {
        if depth > MAX_DEPTH {
            return Err(Error::new(self.position, "this initialiser is nested too deeply"));
        }
        if self.eat(b'{')? {
            let mut items = Vec::new();
            while !self.is(b'}') {
                items.push(self.init(depth + 1)?);
                if !self.eat(b',')? {
                    break;
                }
            }
            self.expect(b'}')?;
            return Ok(Init::List(items));
        }
        match self.token {
            Token::Ident("generic") => {
                self.advance()?;
                self.expect(b'(')?;
                let name = self.ident("a symbol")?.to_owned();
                self.expect(b')')?;
                Ok(Init::Symbol(name, self.offset()?, true))
            }
            Token::Ident(name) => {
                self.advance()?;
                Ok(Init::Symbol(name.to_owned(), self.offset()?, false))
            }
            _ => Ok(match self.constant()? {
                Operand::F32(bits) => Init::F32(bits),
                Operand::F64(bits) => Init::F64(bits),
                Operand::Int(value) => Init::Int(value),
                _ => return self.expected("a constant"),
            }),
        }
    }

    /// `+4` or `-4` after a symbol, or nothing.
    fn offset(&mut self) -> Result<i64> {
        let negative = self.is(b'-');
        if !negative && !self.is(b'+') {
            return Ok(0);
        }
        self.advance()?;
        let negative = negative ^ self.eat(b'-')?;
        let value = self.int("an offset")? as i64;
        Ok(if negative { value.wrapping_neg() } else { value })
    }

    fn constant(&mut self) -> Result<Operand> {
        let negative = self.eat(b'-')?;
        let constant = match self.token {
            Token::Int(value) => Operand::Int(if negative { -i128::from(value) } else { i128::from(value) }),
            Token::F32(bits) => Operand::F32(if negative { bits ^ (1 << 31) } else { bits }),
            Token::F64(bits) => Operand::F64(if negative { bits ^ (1 << 63) } else { bits }),
            _ => return self.expected("a constant"),
        };
        self.advance()?;
        Ok(constant)
    }

    fn function(&mut self, linkage: Option<Linkage>, kind: FunctionKind) -> Result<Function> {
        let returns = if self.is(b'(') { self.formals()? } else { Vec::new() };
        let position = self.position;
        let name = self.ident("the name of a function")?.to_owned();
        let params = if self.is(b'(') { self.formals()? } else { Vec::new() };
        let mut function =
            Function { position, linkage, kind, name, returns, params, directives: Vec::new(), body: None };
        while let Token::Dot(name) = self.token {
            let position = self.position;
            if name == "pragma" {
                self.note(name)?;
                continue;
            }
            let known = [
                "maxntid",
                "minnctapersm",
                "maxnctapersm",
                "reqntid",
                "maxnreg",
                "noreturn",
                "reqnctapercluster",
                "explicitcluster",
                "maxclusterrank",
            ];
            if !known.contains(&name) {
                return Err(Error::unsupported(position, format!("the directive .{name} is not supported")));
            }
            self.advance()?;
            let mut args = Vec::new();
            if let Token::Int(value) = self.token {
                self.advance()?;
                args.push(value);
                while self.eat(b',')? {
                    args.push(self.int("a number")?);
                }
            }
            function.directives.push(Directive { name: name.to_owned(), args });
        }
        if self.eat(b';')? {
            return Ok(function);
        }
        self.expect(b'{')?;
        function.body = Some(self.body()?);
        Ok(function)
    }

    fn formals(&mut self) -> Result<Vec<Variable>> {
        self.expect(b'(')?;
        let mut formals = Vec::new();
        while !self.is(b')') {
            let formal = self.variable(None)?;
            if !matches!(formal.space, Space::Param | Space::Reg) {
                return Err(Error::new(formal.position, "a parameter must be .param or .reg"));
            }
            formals.push(formal);
            if !self.eat(b',')? {
                break;
            }
        }
        self.expect(b')')?;
        Ok(formals)
    }

    fn body(&mut self) -> Result<Vec<Statement>> {
        let mut statements = Vec::new();
        let mut depth = 0u32;
        loop {
            match self.token {
                Token::Punct(b'}') => {
                    self.advance()?;
                    if depth == 0 {
                        return Ok(statements);
                    }
                    depth -= 1;
                    statements.push(Statement::Close);
                }
                Token::Punct(b'{') => {
                    self.advance()?;
                    depth += 1;
                    statements.push(Statement::Open);
                }
                Token::Punct(b';') => {
                    self.advance()?;
                }
                Token::End => return self.expected("'}' at the end of the function"),
                _ => statements.push(self.statement()?),
            }
        }
    }

    fn statement(&mut self) -> Result<Statement> {
        match self.token {
            Token::Dot("reg") => self.registers(),
            Token::Dot(name @ ("loc" | "pragma" | "file")) => self.note(name).map(Statement::Note),
            Token::Dot(space) if Space::from_name(space).is_some() => {
                let variable = self.variable(None)?;
                self.expect(b';')?;
                Ok(Statement::Variable(variable))
            }
            Token::Dot(other) => {
                Err(Error::unsupported(self.position, format!("the directive .{other} is not supported")))
            }
            Token::Punct(b'@') => {
                let position = self.position;
                self.advance()?;
                let negated = self.eat(b'!')?;
                let register = self.ident("a predicate")?.to_owned();
                let name = self.ident("an instruction")?;
                let mut instruction = self.instruction(name, position)?;
                instruction.guard = Some(Guard { register, negated });
                Ok(Statement::Instruction(instruction))
            }
            Token::Ident(name) => {
                let position = self.position;
                self.advance()?;
                if self.eat(b':')? {
                    return self.label(name, position);
                }
                Ok(Statement::Instruction(self.instruction(name, position)?))
            }
            _ => self.expected("a statement"),
        }
    }

    fn label(&mut self, name: &str, position: Position) -> Result<Statement> {
        if !self.eat_dot("branchtargets")? {
            return Ok(Statement::Label(name.to_owned(), position));
        }
        let mut targets = vec![self.ident("a label")?.to_owned()];
        while self.eat(b',')? {
            targets.push(self.ident("a label")?.to_owned());
        }
        self.expect(b';')?;
        Ok(Statement::BranchTargets(name.to_owned(), targets))
    }

    fn registers(&mut self) -> Result<Statement> {
        self.advance()?;
        let (mut vector, mut ty) = (None, None);
        while let Token::Dot(name) = self.token {
            match name {
                "v2" => vector = Some(2),
                "v4" => vector = Some(4),
                _ => match Type::from_name(name) {
                    Some(found) => ty = Some(found),
                    None => return self.expected("a type"),
                },
            }
            self.advance()?;
        }
        let Some(ty) = ty else { return self.expected("a type") };
        if vector.is_some() {
            return Err(Error::unsupported(self.position, "vector registers are not supported"));
        }
        let mut names = Vec::new();
        loop {
            let name = self.ident("the name of a register")?.to_owned();
            let position = self.position;
            let mut count = None;
            if self.eat(b'<')? {
                let n = self.int("a count")?;
                if n > 1 << 20 {
                    return Err(Error::new(position, format!("{n} registers are more than 1048576")));
                }
                count = Some(n as u32);
                self.expect(b'>')?;
            }
            names.push((name, count));
            if !self.eat(b',')? {
                break;
            }
        }
        self.expect(b';')?;
        Ok(Statement::Registers(RegisterDecl { ty, vector, names }))
    }

    /// The rest of an instruction whose stem was just read.
    fn instruction(&mut self, stem: &str, position: Position) -> Result<Instruction> {
        let mut written = stem.to_owned();
        let mut suffixes = Vec::new();
        let mut unknown = None;
        while let Token::Dot(name) = self.token {
            self.advance()?;
            written.push('.');
            written.push_str(name);
            match (Type::from_name(name), Modifier::from_name(name)) {
                (Some(ty), _) => suffixes.push(Suffix::Type(ty)),
                (None, Some(modifier)) => suffixes.push(Suffix::Modifier(modifier)),
                (None, None) => unknown = unknown.or(Some(name)),
            }
        }
        let Some(opcode) = Opcode::from_name(stem) else {
            let message = format!("the instruction '{written}' is not supported by the software device");
            return Err(match isa::UNSUPPORTED.contains(&stem) {
                true => Error::unsupported(position, message),
                false => Error::new(position, format!("'{written}' is not an instruction")),
            });
        };
        if let Some(name) = unknown {
            return Err(Error::unsupported(position, format!("'.{name}' of '{written}' is not supported")));
        }
        let form = find_form(opcode, &suffixes)
            .map_err(|why| Error::unsupported(position, format!("'{written}' is not supported: {why}")))?;
        let mut instruction = Instruction { position, guard: None, opcode, suffixes, operands: Vec::new(), call: None };
        if opcode == Opcode::Call {
            instruction.call = Some(self.call_operands()?);
        } else {
            let most = forms(opcode, &instruction.suffixes).map(|f| f.operands.len()).max();
            self.operands(&mut instruction, form, most.unwrap_or_default(), &written)?;
        }
        self.expect(b';')?;
        Ok(instruction)
    }

    /// Operands of the first form that fits, and up to `most` where a longer form has the same name.
    fn operands(&mut self, instruction: &mut Instruction, form: &Form, most: usize, written: &str) -> Result<()> {
        let mut positions = Vec::new();
        while instruction.operands.len() < most {
            let enough = instruction.operands.len() >= form.operands.len();
            if enough && !self.is(b',') {
                break;
            }
            if !instruction.operands.is_empty() && !self.eat(b',')? {
                return self.expected(&format!("',' and {} operand(s) of '{written}'", form.operands.len()));
            }
            positions.push(self.position);
            instruction.operands.push(self.operand(0)?);
        }
        let found = instruction.operands.len();
        let mut fitting = forms(instruction.opcode, &instruction.suffixes);
        let form = fitting.find(|f| f.operands.len() == found).unwrap_or(form);
        for (i, (shape, operand)) in form.operands.iter().zip(&instruction.operands).enumerate() {
            if !shape_accepts(*shape, operand) {
                let message = format!("operand {} of '{written}' cannot be '{operand}'", i + 1);
                return Err(Error::new(positions[i], message));
            }
        }
        Ok(())
    }

    fn operand(&mut self, depth: u32) -> Result<Operand> {
        match self.token {
            Token::Ident("_") => {
                self.advance()?;
                if self.eat(b'|')? {
                    let second = self.ident("a predicate after '|'")?;
                    return Ok(Operand::Pair("_".to_owned(), second.to_owned()));
                }
                Ok(Operand::Sink)
            }
            Token::Ident(name) => {
                self.advance()?;
                if let Token::Dot(component) = self.token {
                    self.advance()?;
                    return Ok(Operand::Name(format!("{name}.{component}")));
                }
                if self.eat(b'|')? {
                    let second = self.ident("a predicate after '|'")?;
                    return Ok(Operand::Pair(name.to_owned(), second.to_owned()));
                }
                let offset = self.offset()?;
                let name = name.to_owned();
                Ok(if offset == 0 { Operand::Name(name) } else { Operand::SymbolOffset(name, offset) })
            }
            Token::Punct(b'!') => {
                self.advance()?;
                Ok(Operand::Not(self.ident("a predicate after '!'")?.to_owned()))
            }
            Token::Punct(b'[') => self.address(),
            Token::Punct(b'{') if depth == 0 => {
                self.advance()?;
                let mut items = vec![self.operand(depth + 1)?];
                while self.eat(b',')? {
                    items.push(self.operand(depth + 1)?);
                }
                self.expect(b'}')?;
                Ok(Operand::Vector(items))
            }
            Token::Int(_) | Token::F32(_) | Token::F64(_) | Token::Punct(b'-') => self.constant(),
            _ => self.expected("an operand"),
        }
    }

    fn address(&mut self) -> Result<Operand> {
        self.expect(b'[')?;
        let operand = match self.token {
            Token::Ident(name) => {
                self.advance()?;
                let offset = self.offset()?;
                Operand::Address(AddressBase::Name(name.to_owned()), offset)
            }
            _ => match self.constant()? {
                Operand::Int(value) => Operand::Address(AddressBase::Absolute, value as i64),
                _ => return self.expected("an address"),
            },
        };
        self.expect(b']')?;
        Ok(operand)
    }

    fn call_operands(&mut self) -> Result<CallOperands> {
        let returns = if self.is(b'(') {
            let names = self.name_list()?;
            self.expect(b',')?;
            names
        } else {
            Vec::new()
        };
        let callee = self.ident("the function that is called")?.to_owned();
        let mut call = CallOperands { returns, callee, args: Vec::new(), prototype: None };
        if self.eat(b',')? {
            if self.is(b'(') {
                call.args = self.name_list()?;
                if self.eat(b',')? {
                    call.prototype = Some(self.ident("a prototype")?.to_owned());
                }
            } else {
                call.prototype = Some(self.ident("a prototype")?.to_owned());
            }
        }
        Ok(call)
    }

    fn name_list(&mut self) -> Result<Vec<String>> {
        self.expect(b'(')?;
        let mut names = Vec::new();
        while !self.is(b')') {
            names.push(self.ident("a parameter of the call")?.to_owned());
            if !self.eat(b',')? {
                break;
            }
        }
        self.expect(b')')?;
        Ok(names)
    }
}

/// The first form that takes these suffixes, or why not, by the form whose types fit if there is one.
pub(crate) fn find_form(opcode: Opcode, suffixes: &[Suffix]) -> Result<&'static Form, String> {
    let written = suffixes.iter().filter_map(|s| match s {
        Suffix::Type(ty) => Some(*ty),
        Suffix::Modifier(_) => None,
    });
    let mut why = None;
    for form in isa::forms(opcode) {
        match form.matches(suffixes) {
            Ok(()) => return Ok(form),
            Err(reason) => {
                let fits = form.types.len() == written.clone().count()
                    && written.clone().zip(form.types).all(|(ty, allowed)| allowed.contains(&ty));
                if why.is_none() || fits {
                    why = Some(reason);
                }
            }
        }
    }
    Err(why.unwrap_or_default())
}

/// The forms that take these suffixes; they differ in their operands.
pub(crate) fn forms(opcode: Opcode, suffixes: &[Suffix]) -> impl Iterator<Item = &'static Form> {
    isa::forms(opcode).filter(move |form| form.matches(suffixes).is_ok())
}

/// Whether an operand could have this shape, before names are resolved.
fn shape_accepts(shape: Shape, operand: &Operand) -> bool {
    let constant = matches!(operand, Operand::Int(_) | Operand::F32(_) | Operand::F64(_));
    let name = matches!(operand, Operand::Name(_));
    match shape {
        Shape::Dest(_) | Shape::DestWide(_) | Shape::DestAs(_) => name || *operand == Operand::Sink,
        Shape::DestPred | Shape::DestPair => name || matches!(operand, Operand::Pair(..) | Operand::Sink),
        Shape::DestVector(_) => name || matches!(operand, Operand::Vector(_) | Operand::Sink),
        Shape::Source(_) | Shape::SourceWide(_) | Shape::SourceAs(_) => {
            name || constant || matches!(operand, Operand::Not(_))
        }
        Shape::SourcePred => name || matches!(operand, Operand::Not(_) | Operand::Int(_)),
        Shape::SourceVector(_) => name || constant || matches!(operand, Operand::Vector(_)),
        Shape::Address => matches!(operand, Operand::Address(..)),
        Shape::Label => name,
        Shape::Move => name || constant || matches!(operand, Operand::Vector(_) | Operand::SymbolOffset(..)),
    }
}
