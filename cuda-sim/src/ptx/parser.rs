//! The parser: PTX text to syntax tree.
//!
//! It is a recursive-descent parser on the tokens of [`super::lexer`]. Nesting is limited, so no text can exhaust the
//! stack. The forms of an instruction are determined by the table in [`super::isa`]; names are resolved later.

mod body;
mod constant;

use super::ast::*;
use super::lexer::{Lexer, Token};
use super::{Error, Result};
pub(crate) use body::{find_form, forms};

/// The directives between a function's head and its body.
const DIRECTIVES: &[&str] = &[
    "maxntid",
    "minnctapersm",
    "maxnctapersm",
    "reqntid",
    "maxnreg",
    "noreturn",
    "reqnctapercluster",
    "explicitcluster",
    "maxclusterrank",
    "blocksareclusters",
    "abi_preserve",
    "abi_preserve_control",
    "local_maxnreg",
];

/// The last PTX version whose votes and shuffles need no mask on any target.
pub(crate) const LAST_WITHOUT_MASKS: (u32, u32) = (6, 3);

/// The limit on the nesting of initialisers and of vectors.
const MAX_DEPTH: u32 = 32;

/// Parses PTX text.
///
/// # Errors
///
/// Malformed text and unsupported instructions, with line and column.
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
    parse_with(text, false)
}

/// Parses the device library, which may use instructions that programs may not.
pub(crate) fn parse_internal(text: &str) -> Result<Module> {
    parse_with(text, true)
}

fn parse_with(text: &str, internal: bool) -> Result<Module> {
    let mut lexer = Lexer::new(text);
    let (token, position) = lexer.next()?;
    Parser { lexer, token, position, internal, needs_masks: true, target: None, has_letter: false }.module()
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    position: Position,
    /// True if the text is the device library.
    internal: bool,
    /// True if warp-level operations require a lane mask, as for newer targets.
    needs_masks: bool,
    /// The compute capability for which the module was compiled.
    target: Option<u32>,
    /// True if it is architecture-specific, as `sm_90a` is.
    has_letter: bool,
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
        Token::Operator(name) => format!("'{name}'"),
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
        self.target = module.capability();
        self.has_letter = module.targets.first().is_some_and(|name| name.ends_with(|c: char| c.is_ascii_alphabetic()));
        self.needs_masks = version > LAST_WITHOUT_MASKS && self.target.is_none_or(|target| target >= 70);
        if self.eat_dot("address_size")? {
            let position = self.position;
            module.address_size = self.int("32 or 64")? as u32;
            if module.address_size != 64 {
                return Err(Error::unsupported(position, "only .address_size 64 is supported"));
            }
        }
        while self.token != Token::End {
            self.items(&mut module.items)?;
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

    /// Parses the variables that one directive declares.
    fn items(&mut self, items: &mut Vec<Item>) -> Result<()> {
        if self.eat(b';')? {
            return Ok(());
        }
        let Token::Dot(name) = self.token else { return self.expected("a directive") };
        match name {
            "file" | "loc" | "pragma" => items.push(Item::Note(self.note(name)?)),
            "section" => items.push(Item::Note(self.section()?)),
            "alias" => items.push(self.alias()?),
            _ => self.definitions(name, items)?,
        }
        Ok(())
    }

    /// Parses a function, or variables.
    fn definitions(&mut self, name: &str, items: &mut Vec<Item>) -> Result<()> {
        let linkage = Linkage::from_name(name);
        if linkage.is_some() {
            self.advance()?;
        }
        match self.token {
            Token::Dot("entry") => {
                self.advance()?;
                items.push(Item::Function(self.function(linkage, FunctionKind::Entry)?));
            }
            Token::Dot("func") => {
                self.advance()?;
                items.push(Item::Function(self.function(linkage, FunctionKind::Func)?));
            }
            Token::Dot(space) if Space::from_name(space).is_some() => {
                items.extend(self.variables(linkage)?.into_iter().map(Item::Variable));
            }
            Token::Dot(other) => {
                return Err(Error::unsupported(self.position, format!("the directive .{other} is not supported")));
            }
            _ => return self.expected("a directive"),
        }
        Ok(())
    }

    /// `.alias name, function;`
    fn alias(&mut self) -> Result<Item> {
        self.advance()?;
        let position = self.position;
        let name = self.ident("the name of an alias")?.to_owned();
        self.expect(b',')?;
        let function = self.ident("the function that it names")?.to_owned();
        self.expect(b';')?;
        Ok(Item::Alias(Alias { position, name, function }))
    }

    /// Parses a directive that ends with its line, or `.pragma`.
    fn note(&mut self, name: &str) -> Result<String> {
        if name == "pragma" {
            return self.pragma();
        }
        let rest = self.lexer.rest_of_line();
        let rest = rest.split("//").next().unwrap_or("").trim_end();
        let text = format!(".{name}{rest}");
        self.advance()?;
        Ok(text)
    }

    /// `.pragma "nounroll";`
    fn pragma(&mut self) -> Result<String> {
        let mut texts = Vec::new();
        loop {
            self.advance()?;
            let Token::Str(text) = self.token else { return self.expected("the text of a .pragma") };
            texts.push(format!("\"{text}\""));
            self.advance()?;
            if !self.is(b',') {
                break;
            }
        }
        self.expect(b';')?;
        Ok(format!(".pragma {};", texts.join(", ")))
    }

    /// Parses `.section name { ... }`: debug information, kept as text.
    fn section(&mut self) -> Result<String> {
        let (start, behind_name) = (self.position, self.lexer.offset());
        loop {
            self.advance()?;
            match self.token {
                Token::End => return Err(Error::new(start, "this .section is not closed")),
                Token::Punct(b'}') => break,
                Token::Punct(_) | Token::Ident(_) | Token::Dot(_) | Token::Int(_) => {}
                other => return Err(Error::new(self.position, format!("{} in a .section", show(&other)))),
            }
        }
        let text = format!(".section{}", self.lexer.text_from(behind_name));
        self.advance()?;
        Ok(text)
    }

    /// Parses a variable or parameter, from its space to its initialiser.
    fn variable(&mut self) -> Result<Variable> {
        let head = self.head(None)?;
        self.declarator(head)
    }

    /// Parses the variables of a directive.
    fn variables(&mut self, linkage: Option<Linkage>) -> Result<Vec<Variable>> {
        let head = self.head(linkage)?;
        let mut variables = vec![self.declarator(head.clone())?];
        while self.eat(b',')? {
            variables.push(self.declarator(head.clone())?);
        }
        self.expect(b';')?;
        Ok(variables)
    }

    /// Parses the common part of a directive's variables: the space, the type and the attributes.
    fn head(&mut self, linkage: Option<Linkage>) -> Result<Variable> {
        let Token::Dot(name) = self.token else { return self.expected("a state space") };
        let Some(space) = Space::from_name(name) else { return self.expected("a state space") };
        self.advance()?;
        let (mut align, mut vector, mut ty, mut pointer, mut managed) = (None, None, None, None, false);
        while let Token::Dot(name) = self.token {
            let position = self.position;
            self.advance()?;
            match name {
                "align" => align = Some(self.alignment()?),
                "v2" => vector = Some(2),
                "v4" => vector = Some(4),
                "attribute" => managed |= self.attribute()?,
                "ptr" => pointer = Some(self.pointer_attribute()?),
                _ => match Type::from_name(name).filter(|ty| !ty.is_of_matrices()) {
                    Some(found) => ty = Some(found),
                    None => {
                        return Err(Error::unsupported(position, format!("'.{name}' is not known in a variable")));
                    }
                },
            }
        }
        let Some(ty) = ty else { return self.expected("a type") };
        let (position, name) = (self.position, String::new());
        let (dimensions, init) = (Vec::new(), None);
        Ok(Variable { position, linkage, space, managed, align, ty, vector, pointer, name, dimensions, init })
    }

    /// Parses the name of a variable, its dimensions and its initialiser.
    fn declarator(&mut self, mut variable: Variable) -> Result<Variable> {
        variable.position = self.position;
        variable.name = self.ident("the name of a variable")?.to_owned();
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

    /// `(.managed)` after `.attribute`.
    fn attribute(&mut self) -> Result<bool> {
        self.expect(b'(')?;
        let known = self.eat_dot("managed")?;
        if !known {
            return Err(Error::unsupported(self.position, format!("the attribute {} is not known", show(&self.token))));
        }
        self.expect(b')')?;
        Ok(true)
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
            Token::Ident(_) if !self.is_constant() => self.address_value(),
            _ => Ok(match self.constant()? {
                Operand::F32(bits) => Init::F32(bits),
                Operand::F64(bits) => Init::F64(bits),
                Operand::Int(mask) if self.is(b'(') => self.byte_of_address(mask)?,
                Operand::Int(value) => Init::Int(value),
                _ => return self.expected("a constant"),
            }),
        }
    }

    /// Parses `symbol + offset` or `generic(symbol) + offset`.
    fn address_value(&mut self) -> Result<Init> {
        let name = self.ident("a symbol")?.to_owned();
        if name != "generic" || !self.eat(b'(')? {
            return Ok(Init::Symbol(name, self.offset()?, false));
        }
        let name = self.ident("a symbol")?.to_owned();
        self.expect(b')')?;
        Ok(Init::Symbol(name, self.offset()?, true))
    }

    /// Parses `(symbol + offset)` behind a mask.
    fn byte_of_address(&mut self, mask: i128) -> Result<Init> {
        let position = self.position;
        let mask = mask as u64;
        if !(0..8).any(|byte| mask == 0xff << (8 * byte)) {
            let message = format!("{mask:#x} selects no byte of an address: the masks are 0xff, 0xff00 and so on");
            return Err(Error::new(position, message));
        }
        self.expect(b'(')?;
        let address = self.address_value()?;
        self.expect(b')')?;
        Ok(Init::Byte(mask, Box::new(address)))
    }

    /// Parses an optional constant expression after a symbol that begins with `+` or `-`, such as `+4`.
    fn offset(&mut self) -> Result<i64> {
        if !self.is(b'-') && !self.is(b'+') {
            return Ok(0);
        }
        self.constant_integer("an offset")
    }

    /// Parses a constant expression whose value is an integer.
    fn constant_integer(&mut self, what: &str) -> Result<i64> {
        let position = self.position;
        match self.constant()? {
            Operand::Int(value) => Ok(value as i64),
            other => Err(Error::new(position, format!("{what} is an integer, '{other}' found"))),
        }
    }

    fn function(&mut self, linkage: Option<Linkage>, kind: FunctionKind) -> Result<Function> {
        let returns = if self.is(b'(') { self.formals()? } else { Vec::new() };
        let position = self.position;
        let name = self.ident("the name of a function")?.to_owned();
        let params = if self.is(b'(') { self.formals()? } else { Vec::new() };
        let mut function =
            Function { position, linkage, kind, name, returns, params, directives: Vec::new(), body: None };
        function.directives = self.directives()?;
        if self.eat(b';')? {
            return Ok(function);
        }
        self.expect(b'{')?;
        function.body = Some(self.body()?);
        Ok(function)
    }

    /// Parses the directives between a function's head and its body.
    fn directives(&mut self) -> Result<Vec<Directive>> {
        let mut directives = Vec::new();
        while let Token::Dot(name) = self.token {
            if name == "pragma" {
                self.note(name)?;
                continue;
            }
            if !DIRECTIVES.contains(&name) {
                return Err(Error::unsupported(self.position, format!("the directive .{name} is not supported")));
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
            directives.push(Directive { name: name.to_owned(), args });
        }
        Ok(directives)
    }

    fn formals(&mut self) -> Result<Vec<Variable>> {
        self.expect(b'(')?;
        let mut formals = Vec::new();
        while !self.is(b')') {
            let formal = self.variable()?;
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
}
