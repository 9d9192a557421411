//! Function bodies: declarations, labels, instructions and their operands.

use super::{Parser, Result};
use crate::ptx::Error;
use crate::ptx::ast::*;
use crate::ptx::isa::{self, Form, Modifier, Opcode, Shape};
use crate::ptx::lexer::Token;

/// The largest number of operands of an instruction in the table.
const MAX_OPERANDS: usize = 8;

impl Parser<'_> {
    pub(super) fn body(&mut self) -> Result<Vec<Statement>> {
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
                Token::Dot(space) if space != "reg" && Space::from_name(space).is_some() => {
                    statements.extend(self.variables(None)?.into_iter().map(Statement::Variable));
                }
                _ => statements.push(self.statement()?),
            }
        }
    }

    fn statement(&mut self) -> Result<Statement> {
        match self.token {
            Token::Dot("reg") => self.registers(),
            Token::Dot(name @ ("loc" | "pragma" | "file")) => self.note(name).map(Statement::Note),
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
        let call = match self.token {
            Token::Dot("branchtargets") => false,
            Token::Dot("calltargets") => true,
            Token::Dot("callprototype") => return self.prototype(name),
            _ => return Ok(Statement::Label(name.to_owned(), position)),
        };
        self.advance()?;
        let mut targets = vec![self.ident("a label")?.to_owned()];
        while self.eat(b',')? {
            targets.push(self.ident("a label")?.to_owned());
        }
        self.expect(b';')?;
        let name = name.to_owned();
        Ok(if call { Statement::CallTargets(name, targets) } else { Statement::BranchTargets(name, targets) })
    }

    /// `(.param .b32 _) _ (.param .b64 _) .noreturn ;` after `.callprototype`.
    fn prototype(&mut self, name: &str) -> Result<Statement> {
        self.advance()?;
        let returns = if self.is(b'(') { self.formals()? } else { Vec::new() };
        self.ident("'_'")?;
        let params = if self.is(b'(') { self.formals()? } else { Vec::new() };
        let directives = self.directives()?;
        self.expect(b';')?;
        Ok(Statement::Prototype(Prototype { name: name.to_owned(), returns, params, directives }))
    }

    fn registers(&mut self) -> Result<Statement> {
        self.advance()?;
        let start = self.position;
        let (mut vector, mut ty) = (None, None);
        while let Token::Dot(name) = self.token {
            match name {
                "v2" => vector = Some(2),
                "v4" => vector = Some(4),
                _ => match Type::from_name(name).filter(|ty| !ty.is_of_matrices()) {
                    Some(found) => ty = Some(found),
                    None => return self.expected("a type"),
                },
            }
            self.advance()?;
        }
        let Some(ty) = ty else { return self.expected("a type") };
        check_vector(ty, vector, start)?;
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

    /// Parses the rest of an instruction whose opcode was just read.
    fn instruction(&mut self, stem: &str, position: Position) -> Result<Instruction> {
        let mut suffixes = Vec::with_capacity(4);
        let mut unknown = None;
        let start = self.position;
        while let Token::Dot(name) = self.token {
            self.advance()?;
            match (Type::from_name(name), Modifier::from_name(name)) {
                (Some(ty), _) => suffixes.push(Suffix::Type(ty)),
                (None, Some(modifier)) => suffixes.push(Suffix::Modifier(modifier)),
                (None, None) => unknown = unknown.or(Some(name)),
            }
        }
        let written = |parser: &Self| {
            let name = parser.lexer.between(start, parser.position);
            format!("{stem}{}", name.split_whitespace().next().unwrap_or(""))
        };
        let opcode = match Opcode::from_name(stem) {
            Some(Opcode::Device) if !self.internal => None,
            found => found,
        };
        let Some(opcode) = opcode else {
            let written = written(self);
            let message = format!("the instruction '{written}' is not supported by the software device");
            return Err(match isa::UNSUPPORTED.contains(&stem) {
                true => Error::unsupported(position, message),
                false => Error::new(position, format!("'{written}' is not an instruction")),
            });
        };
        if let Some(name) = unknown {
            return Err(Error::unsupported(position, format!("'.{name}' of '{}' is not supported", written(self))));
        }
        let form = find_form(opcode, &suffixes)
            .map_err(|why| Error::unsupported(position, format!("'{}' is not supported: {why}", written(self))))?;
        if form.operands.contains(&Shape::ActiveLanes) && self.needs_masks {
            let message = format!(
                "'{0}' without .sync is for targets before sm_70 and for PTX before 6.4: write '{stem}.sync' with the mask of the lanes",
                written(self)
            );
            return Err(Error::new(position, message));
        }
        let oldest = isa::oldest_target(opcode, &suffixes);
        if let Some(target) = self.target.filter(|target| *target < oldest) {
            let message = format!(
                "'{}' needs .target sm_{oldest} or a newer one, and this module is for sm_{target}",
                written(self)
            );
            return Err(Error::new(position, message));
        }
        if let Some(target) = self.target.filter(|_| isa::needs_letter(opcode) && !self.has_letter) {
            let message = format!("'{}' needs a .target with a letter, such as sm_{target}a", written(self));
            return Err(Error::new(position, message));
        }
        let mut instruction = Instruction { position, guard: None, opcode, suffixes, operands: Vec::new(), call: None };
        if opcode == Opcode::Call {
            instruction.call = Some(self.call_operands()?);
        } else {
            self.operands(&mut instruction, form)?;
        }
        self.expect(b';')?;
        Ok(instruction)
    }

    /// Parses operands for the first form that matches, or for a longer one of the same name if there are more.
    fn operands(&mut self, instruction: &mut Instruction, mut form: &'static Form) -> Result<()> {
        let mut count = form.written().count();
        let mut positions = [Position::default(); MAX_OPERANDS];
        instruction.operands.reserve_exact(count);
        loop {
            let found = instruction.operands.len();
            if found == count {
                let is_longer = |f: &&'static Form| (count + 1..=MAX_OPERANDS).contains(&f.written().count());
                let more = count > 0 && self.is(b',');
                let longer = more.then(|| forms(instruction.opcode, &instruction.suffixes).find(is_longer)).flatten();
                let Some(longer) = longer else { break };
                (form, count) = (longer, longer.written().count());
            }
            if found > 0 && !self.eat(b',')? {
                return self.expected(&format!("',' and {count} operand(s) of '{}'", instruction.full_name()));
            }
            positions[found.min(MAX_OPERANDS - 1)] = self.position;
            instruction.operands.push(self.operand(0)?);
        }
        for (i, (shape, operand)) in form.written().zip(&instruction.operands).enumerate() {
            if !shape_accepts(shape, operand) {
                let message = format!("operand {} of '{}' cannot be '{operand}'", i + 1, instruction.full_name());
                return Err(Error::new(positions[i.min(MAX_OPERANDS - 1)], message));
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
            Token::Ident(name) if !self.is_constant() => {
                self.advance()?;
                if let Token::Dot(component) = self.token {
                    self.advance()?;
                    return Ok(Operand::Name(format!("{name}.{component}")));
                }
                if self.eat(b'|')? {
                    let second = self.ident("a predicate after '|'")?;
                    return Ok(Operand::Pair(name.to_owned(), second.to_owned()));
                }
                if self.eat(b'[')? {
                    return self.element(name);
                }
                let offset = self.offset()?;
                let name = name.to_owned();
                Ok(if offset == 0 { Operand::Name(name) } else { Operand::SymbolOffset(name, offset) })
            }
            Token::Punct(operator @ (b'!' | b'-')) => {
                let position = self.position;
                self.advance()?;
                if self.is_constant() {
                    return self.constant_behind(operator, position);
                }
                match operator {
                    b'!' => Ok(Operand::Not(self.ident("a predicate after '!'")?.to_owned())),
                    _ => self.negative(),
                }
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
            _ if self.is_constant() => self.constant(),
            _ => self.expected("an operand"),
        }
    }

    /// Parses a register after `-`.
    fn negative(&mut self) -> Result<Operand> {
        let name = self.ident("a constant")?.to_owned();
        let Token::Dot(selector) = self.token else { return Ok(Operand::Negative(name)) };
        self.advance()?;
        Ok(Operand::Negative(format!("{name}.{selector}")))
    }

    /// Parses `index]` after `name[`.
    fn element(&mut self, name: &str) -> Result<Operand> {
        let register = match self.token {
            Token::Ident(register) if !self.is_constant() => {
                self.advance()?;
                Some(register.to_owned())
            }
            _ => None,
        };
        let offset = if register.is_some() { self.offset()? } else { self.constant_integer("an index")? };
        self.expect(b']')?;
        Ok(Operand::Element(name.to_owned(), Index { register, offset }))
    }

    fn address(&mut self) -> Result<Operand> {
        self.expect(b'[')?;
        let operand = match self.token {
            Token::Ident(name) if !self.is_constant() => {
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
            let names = self.list(|parser| Ok(parser.ident("a variable for a result")?.to_owned()))?;
            self.expect(b',')?;
            names
        } else {
            Vec::new()
        };
        let callee = self.ident("the function that is called")?.to_owned();
        let mut call = CallOperands { returns, callee, args: Vec::new(), prototype: None };
        if self.eat(b',')? {
            if self.is(b'(') {
                call.args = self.list(Self::argument)?;
                if self.eat(b',')? {
                    call.prototype = Some(self.ident("a prototype")?.to_owned());
                }
            } else {
                call.prototype = Some(self.ident("a prototype")?.to_owned());
            }
        }
        Ok(call)
    }

    /// Parses an argument of a call.
    fn argument(&mut self) -> Result<Operand> {
        match self.token {
            _ if self.is_constant() => self.constant(),
            Token::Ident(name) => {
                self.advance()?;
                Ok(Operand::Name(name.to_owned()))
            }
            _ => self.expected("an argument of the call"),
        }
    }

    /// Parses a list in parentheses.
    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect(b'(')?;
        let mut items = Vec::new();
        while !self.is(b')') {
            items.push(item(self)?);
            if !self.eat(b',')? {
                break;
            }
        }
        self.expect(b')')?;
        Ok(items)
    }
}

/// Refuses vectors that PTX does not have.
fn check_vector(ty: Type, vector: Option<u8>, position: Position) -> Result<()> {
    let message = match vector {
        Some(_) if ty == Type::Pred => "predicates make no vector register".to_owned(),
        Some(n) if ty.bits() * u32::from(n) > 128 => {
            format!("a vector register has 128 bits at most, and .v{n} .{} has {}", ty.name(), ty.bits() * u32::from(n))
        }
        _ => return Ok(()),
    };
    Err(Error::new(position, message))
}

/// Returns the first form that matches these suffixes. The error is that of the form that matches best: among those
/// that know most of the modifiers, the last one whose types match, if there is one.
pub(crate) fn find_form(opcode: Opcode, suffixes: &[Suffix]) -> Result<&'static Form, String> {
    let written = suffixes.iter().filter_map(|s| match s {
        Suffix::Type(ty) => Some(*ty),
        Suffix::Modifier(_) => None,
    });
    let mut closest: Option<((bool, usize), String)> = None;
    for form in isa::forms(opcode) {
        match form.matches(suffixes) {
            Ok(()) => return Ok(form),
            Err(reason) => {
                let fits = form.types.len() == written.clone().count()
                    && written.clone().zip(form.types).all(|(ty, allowed)| allowed.contains(&ty));
                let found = (fits, form.known(suffixes));
                if closest.as_ref().is_none_or(|(best, _)| found >= *best) {
                    closest = Some((found, reason));
                }
            }
        }
    }
    Err(closest.map(|(_, reason)| reason).unwrap_or_default())
}

/// Returns the forms that match these suffixes, which differ in their operands.
pub(crate) fn forms(opcode: Opcode, suffixes: &[Suffix]) -> impl Iterator<Item = &'static Form> {
    isa::forms(opcode).filter(move |form| form.matches(suffixes).is_ok())
}

/// Returns true if an operand could have this shape, before names are resolved.
fn shape_accepts(shape: Shape, operand: &Operand) -> bool {
    let constant = matches!(operand, Operand::Int(_) | Operand::F32(_) | Operand::F64(_));
    let name = matches!(operand, Operand::Name(_));
    match shape {
        Shape::Dest(_) | Shape::DestWide(_) | Shape::DestAs(_) => name || *operand == Operand::Sink,
        Shape::DestPred | Shape::DestPair => name || matches!(operand, Operand::Pair(..) | Operand::Sink),
        Shape::DestOnePred => name || *operand == Operand::Sink,
        Shape::DestTwoPreds => matches!(operand, Operand::Pair(..)),
        Shape::DestVector(_) => name || matches!(operand, Operand::Vector(_) | Operand::Sink),
        Shape::Source(_) | Shape::SourceWide(_) | Shape::SourceAs(_) => {
            name || constant || matches!(operand, Operand::Not(_) | Operand::Negative(_) | Operand::SymbolOffset(..))
        }
        Shape::DestMatrix(_) | Shape::SourceMatrix(_) => name || matches!(operand, Operand::Vector(_)),
        Shape::Immediate => matches!(operand, Operand::Int(_)),
        Shape::CarryIn | Shape::CarryOut | Shape::ActiveLanes | Shape::Selector => false,
        Shape::SourcePred => name || matches!(operand, Operand::Not(_) | Operand::Int(_)),
        Shape::SourceVector(_) => name || constant || matches!(operand, Operand::Vector(_) | Operand::SymbolOffset(..)),
        Shape::Address => matches!(operand, Operand::Address(..) | Operand::Element(..)),
        Shape::Label => name,
        Shape::Move => {
            name || constant || matches!(operand, Operand::Vector(_) | Operand::SymbolOffset(..) | Operand::Element(..))
        }
    }
}
