//! The printer: syntax trees as PTX text that parses to the same tree.

use super::ast::*;
use std::fmt::{self, Display, Formatter};

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, ".version {}.{}", self.version.0, self.version.1)?;
        writeln!(f, ".target {}", self.targets.join(", "))?;
        writeln!(f, ".address_size {}\n", self.address_size)?;
        for item in &self.items {
            match item {
                Item::Variable(variable) => writeln!(f, "{variable};")?,
                Item::Function(function) => writeln!(f, "{function}")?,
                Item::Alias(alias) => writeln!(f, ".alias {}, {};", alias.name, alias.function)?,
                Item::Note(text) => writeln!(f, "{text}")?,
            }
        }
        Ok(())
    }
}

impl Display for Variable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(linkage) = self.linkage {
            write!(f, ".{} ", linkage.name())?;
        }
        write!(f, ".{} ", self.space.name())?;
        if self.managed {
            write!(f, ".attribute(.managed) ")?;
        }
        if let Some(align) = self.align {
            write!(f, ".align {align} ")?;
        }
        if let Some(n) = self.vector {
            write!(f, ".v{n} ")?;
        }
        write!(f, ".{} ", self.ty.name())?;
        if let Some((space, align)) = self.pointer {
            write!(f, ".ptr ")?;
            if let Some(space) = space {
                write!(f, ".{} ", space.name())?;
            }
            if let Some(align) = align {
                write!(f, ".align {align} ")?;
            }
        }
        f.write_str(&self.name)?;
        for dimension in &self.dimensions {
            match dimension {
                Some(n) => write!(f, "[{n}]")?,
                None => write!(f, "[]")?,
            }
        }
        match &self.init {
            Some(init) => write!(f, " = {init}"),
            None => Ok(()),
        }
    }
}

impl Display for Init {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Init::List(items) => {
                write!(f, "{{")?;
                comma(f, items)?;
                write!(f, "}}")
            }
            Init::Int(value) => integer(f, *value),
            Init::F32(bits) => write!(f, "0f{bits:08X}"),
            Init::F64(bits) => write!(f, "0d{bits:016X}"),
            Init::Symbol(name, offset, generic) => {
                if *generic {
                    write!(f, "generic({name})")?
                } else {
                    f.write_str(name)?
                }
                offset_text(f, *offset)
            }
            Init::Byte(mask, address) => write!(f, "{mask:#x}({address})"),
        }
    }
}

fn offset_text(f: &mut Formatter<'_>, offset: i64) -> fmt::Result {
    if offset == 0 { Ok(()) } else { write!(f, "{offset:+}") }
}

/// Prints an integer constant. The smallest 64-bit one is printed as a sum, since 9223372036854775808 is unsigned.
fn integer(f: &mut Formatter<'_>, value: i128) -> fmt::Result {
    if value == i128::from(i64::MIN) { write!(f, "({}-1)", i64::MIN + 1) } else { write!(f, "{value}") }
}

fn comma<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(linkage) = self.linkage {
            write!(f, ".{} ", linkage.name())?;
        }
        f.write_str(if self.kind == FunctionKind::Entry { ".entry " } else { ".func " })?;
        if !self.returns.is_empty() {
            write!(f, "(")?;
            comma(f, &self.returns)?;
            write!(f, ") ")?;
        }
        write!(f, "{}(", self.name)?;
        comma(f, &self.params)?;
        write!(f, ")")?;
        for directive in &self.directives {
            write!(f, "\n.{} ", directive.name)?;
            comma(f, &directive.args)?;
        }
        let Some(body) = &self.body else { return write!(f, ";") };
        writeln!(f, "\n{{")?;
        for statement in body {
            writeln!(f, "{statement}")?;
        }
        write!(f, "}}")
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Registers(decl) => {
                write!(f, "\t.reg ")?;
                if let Some(n) = decl.vector {
                    write!(f, ".v{n} ")?;
                }
                write!(f, ".{} ", decl.ty.name())?;
                for (i, (name, count)) in decl.names.iter().enumerate() {
                    write!(f, "{}{name}", if i == 0 { "" } else { ", " })?;
                    if let Some(n) = count {
                        write!(f, "<{n}>")?;
                    }
                }
                write!(f, ";")
            }
            Statement::Variable(variable) => write!(f, "\t{variable};"),
            Statement::Label(name, _) => write!(f, "{name}:"),
            Statement::Instruction(instruction) => write!(f, "\t{instruction};"),
            Statement::Open => write!(f, "\t{{"),
            Statement::Close => write!(f, "\t}}"),
            Statement::BranchTargets(label, targets) => write!(f, "{label}: .branchtargets {};", targets.join(", ")),
            Statement::CallTargets(label, targets) => write!(f, "{label}: .calltargets {};", targets.join(", ")),
            Statement::Prototype(prototype) => write!(f, "{prototype}"),
            Statement::Note(text) => write!(f, "\t{text}"),
        }
    }
}

impl Display for Prototype {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: .callprototype ", self.name)?;
        if !self.returns.is_empty() {
            write!(f, "(")?;
            comma(f, &self.returns)?;
            write!(f, ") ")?;
        }
        write!(f, "_ (")?;
        comma(f, &self.params)?;
        write!(f, ")")?;
        for directive in &self.directives {
            write!(f, " .{} ", directive.name)?;
            comma(f, &directive.args)?;
        }
        write!(f, ";")
    }
}

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(guard) = &self.guard {
            write!(f, "@{}{} ", if guard.negated { "!" } else { "" }, guard.register)?;
        }
        f.write_str(&self.full_name())?;
        if let Some(call) = &self.call {
            if !call.returns.is_empty() {
                write!(f, " ({}),", call.returns.join(", "))?;
            }
            write!(f, " {}", call.callee)?;
            if !call.args.is_empty() {
                write!(f, ", (")?;
                comma(f, &call.args)?;
                write!(f, ")")?;
            }
            if let Some(prototype) = &call.prototype {
                write!(f, ", {prototype}")?;
            }
        }
        if !self.operands.is_empty() {
            write!(f, " ")?;
        }
        comma(f, &self.operands)
    }
}

impl Display for Index {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.register {
            Some(register) => {
                f.write_str(register)?;
                offset_text(f, self.offset)
            }
            None => write!(f, "{}", self.offset),
        }
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Name(name) => f.write_str(name),
            Operand::Not(name) => write!(f, "!{name}"),
            Operand::Negative(name) => write!(f, "-{name}"),
            Operand::Pair(p, q) => write!(f, "{p}|{q}"),
            Operand::Int(value) => integer(f, *value),
            Operand::F32(bits) => write!(f, "0f{bits:08X}"),
            Operand::F64(bits) => write!(f, "0d{bits:016X}"),
            Operand::SymbolOffset(name, offset) => write!(f, "{name}{offset:+}"),
            Operand::Element(name, index) => write!(f, "{name}[{index}]"),
            Operand::Address(AddressBase::Name(name), offset) => {
                write!(f, "[{name}")?;
                offset_text(f, *offset)?;
                write!(f, "]")
            }
            Operand::Address(AddressBase::Absolute, offset) => write!(f, "[{offset}]"),
            Operand::Vector(items) => {
                write!(f, "{{")?;
                comma(f, items)?;
                write!(f, "}}")
            }
            Operand::Sink => write!(f, "_"),
        }
    }
}
