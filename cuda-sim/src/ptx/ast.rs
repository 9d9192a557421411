//! The syntax tree of a PTX module: the text's contents in their original order.
//!
//! It is not executable: names are unresolved and nothing is lowered. Invariant: printing a tree and parsing the text
//! gives an equal tree, apart from positions.

use super::isa::{Modifier, Opcode};

/// A position in the text, counted from 1.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in bytes.
    pub column: u32,
}

impl PartialEq for Position {
    /// Returns true always: positions do not take part in the comparison of trees.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

macro_rules! names {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$vmeta])* #[doc = concat!("`.", $text, "`")] $variant,)+
        }
        impl $name {
            /// The name as PTX writes it, without the dot.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }
            /// Returns the variant with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some($name::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use names;

names! {
    /// A fundamental type.
    Type {
        B8 = "b8", B16 = "b16", B32 = "b32", B64 = "b64", B128 = "b128",
        U8 = "u8", U16 = "u16", U32 = "u32", U64 = "u64",
        S8 = "s8", S16 = "s16", S32 = "s32", S64 = "s64",
        F16 = "f16", F16x2 = "f16x2", Bf16 = "bf16", Bf16x2 = "bf16x2", Tf32 = "tf32", F32 = "f32", F64 = "f64",
        F32x2 = "f32x2", U16x2 = "u16x2", S16x2 = "s16x2", E4m3x2 = "e4m3x2", E5m2x2 = "e5m2x2",
        Ue8m0x2 = "ue8m0x2",
        Pred = "pred",
        // Element types of matrices, which no register or variable can have.
        B1 = "b1", S4 = "s4", U4 = "u4", E4m3 = "e4m3", E5m2 = "e5m2",
    }
}

impl Type {
    /// Returns the width in bits; that of a predicate is 1.
    pub fn bits(self) -> u32 {
        match self {
            Type::Pred | Type::B1 => 1,
            Type::S4 | Type::U4 => 4,
            Type::E4m3 | Type::E5m2 => 8,
            Type::B8 | Type::U8 | Type::S8 => 8,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 16,
            Type::E4m3x2 | Type::E5m2x2 | Type::Ue8m0x2 => 16,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 | Type::Tf32 => 32,
            Type::F16x2 | Type::Bf16x2 | Type::U16x2 | Type::S16x2 => 32,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 | Type::F32x2 => 64,
            Type::B128 => 128,
        }
    }

    /// Returns the size in memory in bytes.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits().div_ceil(8))
    }

    /// Returns true for a type that only elements of matrices can have.
    pub(crate) fn is_of_matrices(self) -> bool {
        matches!(self, Type::B1 | Type::S4 | Type::U4 | Type::E4m3 | Type::E5m2)
    }

    /// Returns true for `s8` to `s64`.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// Returns the type of each half of a packed type, and true if it is packed.
    pub fn lane(self) -> (Type, bool) {
        match self {
            Type::F16x2 => (Type::F16, true),
            Type::Bf16x2 => (Type::Bf16, true),
            Type::F32x2 => (Type::F32, true),
            Type::U16x2 => (Type::U16, true),
            Type::S16x2 => (Type::S16, true),
            scalar => (scalar, false),
        }
    }

    /// Returns true for a scalar floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::Bf16 | Type::F32 | Type::F64)
    }
}

/// Formats the full name of an instruction.
pub(crate) fn full_name(opcode: Opcode, suffixes: &[Suffix]) -> String {
    let mut name = opcode.name().to_owned();
    for suffix in suffixes {
        name.push('.');
        name.push_str(match suffix {
            Suffix::Type(ty) => ty.name(),
            Suffix::Modifier(modifier) => modifier.name(),
        });
    }
    name
}

names! {
    /// A state space.
    Space {
        Reg = "reg", Param = "param", Global = "global", Shared = "shared", Local = "local", Const = "const",
    }
}

names! {
    /// The linkage of a symbol.
    Linkage { Extern = "extern", Visible = "visible", Weak = "weak", Common = "common" }
}

/// A translation unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// `.version` major and minor.
    pub version: (u32, u32),
    /// The names after `.target`, such as `sm_90`.
    pub targets: Vec<String>,
    /// `.address_size`; 64 if it is omitted.
    pub address_size: u32,
    /// Variables and functions in order.
    pub items: Vec<Item>,
}

impl Module {
    /// Returns the compute capability of the first target: 90 for `sm_90a`.
    pub(crate) fn capability(&self) -> Option<u32> {
        let name = self.targets.first()?.strip_prefix("sm_")?;
        name.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
    }
}

/// A top-level item of a module.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A variable of the module.
    Variable(Variable),
    /// A kernel or function, or its declaration.
    Function(Function),
    /// An alias of a function.
    Alias(Alias),
    /// A directive that does not affect execution, such as `.file`, as text.
    Note(String),
}

/// `.alias name, function;`
#[derive(Clone, Debug, PartialEq)]
pub struct Alias {
    /// The position of the alias.
    pub position: Position,
    /// The alias.
    pub name: String,
    /// The function that it names.
    pub function: String,
}

/// `label: .callprototype ..`: the signature of an indirect call.
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype {
    /// The label.
    pub name: String,
    /// Return parameters; their names are `_`.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// Directives such as `.noreturn`.
    pub directives: Vec<Directive>,
}

/// A variable, parameter, or formal of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The position of its name.
    pub position: Position,
    /// Linkage, at module level.
    pub linkage: Option<Linkage>,
    /// The state space.
    pub space: Space,
    /// `.attribute(.managed)`
    pub managed: bool,
    /// `.align`, in bytes.
    pub align: Option<u64>,
    /// The element type.
    pub ty: Type,
    /// `.v2` or `.v4`.
    pub vector: Option<u8>,
    /// `.ptr`, with the space and alignment of the pointee.
    pub pointer: Option<(Option<Space>, Option<u64>)>,
    /// The name.
    pub name: String,
    /// Array dimensions; `None` for `[]`.
    pub dimensions: Vec<Option<u64>>,
    /// The initialiser.
    pub init: Option<Init>,
}

impl Variable {
    /// Returns the size in bytes; 0 for an array of unknown length.
    pub fn bytes(&self) -> u64 {
        let element = self.ty.bytes() * u64::from(self.vector.unwrap_or(1));
        self.dimensions.iter().fold(element, |size, n| size.saturating_mul(n.unwrap_or(0)))
    }

    /// Returns the element size in bytes; `None` unless this is an array.
    pub(crate) fn element_bytes(&self) -> Option<u64> {
        (!self.dimensions.is_empty()).then(|| self.ty.bytes())
    }

    /// Returns the alignment in bytes, which is natural by default.
    pub fn alignment(&self) -> u64 {
        self.align.unwrap_or_else(|| self.ty.bytes() * u64::from(self.vector.unwrap_or(1)))
    }
}

/// An initial value.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// `{a, b}`
    List(Vec<Init>),
    /// An integer, as its low 64 bits.
    Int(i128),
    /// `0f...`
    F32(u32),
    /// `0d...`, or a decimal number.
    F64(u64),
    /// `symbol + offset`, and true if it is written as `generic(symbol)`.
    Symbol(String, i64, bool),
    /// `0xff00(symbol + offset)`: one byte of an address, whose bits the mask has.
    Byte(u64, Box<Init>),
}

/// Kernel or callable function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// `.entry`
    Entry,
    /// `.func`
    Func,
}

/// A performance or launch directive, such as `.maxntid 256, 1, 1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Directive {
    /// The name without the dot.
    pub name: String,
    /// Its integers.
    pub args: Vec<u64>,
}

/// A kernel or function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The position of its name.
    pub position: Position,
    /// Linkage.
    pub linkage: Option<Linkage>,
    /// Kernel or function.
    pub kind: FunctionKind,
    /// The name.
    pub name: String,
    /// Return parameters.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// Directives between head and body.
    pub directives: Vec<Directive>,
    /// The body; `None` in a declaration.
    pub body: Option<Vec<Statement>>,
}

/// `.reg .b32 %r<5>, %x;`
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterDecl {
    /// The type.
    pub ty: Type,
    /// `.v2` or `.v4`.
    pub vector: Option<u8>,
    /// Names, with the count of `%r<5>`.
    pub names: Vec<(String, Option<u32>)>,
}

/// A statement of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Register declarations.
    Registers(RegisterDecl),
    /// A variable of the body, or of a call's `.param` block.
    Variable(Variable),
    /// `name:`
    Label(String, Position),
    /// An instruction.
    Instruction(Instruction),
    /// `{`
    Open,
    /// `}`
    Close,
    /// `label: .branchtargets a, b;`
    BranchTargets(String, Vec<String>),
    /// `label: .calltargets a, b;`
    CallTargets(String, Vec<String>),
    /// `label: .callprototype ..`
    Prototype(Prototype),
    /// A directive that does not affect execution, such as `.loc` or `.pragma`, as text.
    Note(String),
}

/// `@p` or `@!p`
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// The predicate register.
    pub register: String,
    /// True if it is negated.
    pub negated: bool,
}

/// A dot-separated part of an instruction's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suffix {
    /// A type.
    Type(Type),
    /// A modifier.
    Modifier(Modifier),
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The position of its start.
    pub position: Position,
    /// Its guard predicate.
    pub guard: Option<Guard>,
    /// The first part of its name.
    pub opcode: Opcode,
    /// Types and modifiers, in their original order.
    pub suffixes: Vec<Suffix>,
    /// Its operands, in order.
    pub operands: Vec<Operand>,
    /// The operands of a `call`, which have their own syntax.
    pub call: Option<CallOperands>,
}

impl Instruction {
    pub(crate) fn has(&self, modifier: Modifier) -> bool {
        self.suffixes.contains(&Suffix::Modifier(modifier))
    }

    /// Returns the full name, such as `add.rn.f32`.
    pub fn full_name(&self) -> String {
        full_name(self.opcode, &self.suffixes)
    }
}

/// The operands of `call`.
#[derive(Clone, Debug, PartialEq)]
pub struct CallOperands {
    /// `.param` variables and registers for the results; `_` discards one.
    pub returns: Vec<String>,
    /// The function; a register in an indirect call.
    pub callee: String,
    /// The arguments: `.param` variables, registers and constants.
    pub args: Vec<Operand>,
    /// The prototype of an indirect call.
    pub prototype: Option<String>,
}

/// The base of an address.
#[derive(Clone, Debug, PartialEq)]
pub enum AddressBase {
    /// A register or variable.
    Name(String),
    /// An absolute address.
    Absolute,
}

/// The index in `name[index]`, in elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// The register that holds it.
    pub register: Option<String>,
    /// The number that is added to the register, or the constant index.
    pub offset: i64,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, special register, variable, or label.
    Name(String),
    /// `!p`
    Not(String),
    /// `-%r1`, in some video instructions.
    Negative(String),
    /// `p|q`
    Pair(String, String),
    /// An integer.
    Int(i128),
    /// `0f3F800000`
    F32(u32),
    /// `0d3FF0000000000000`, or a decimal number.
    F64(u64),
    /// `symbol+offset` outside brackets.
    SymbolOffset(String, i64),
    /// `array[index]`: the address of an element.
    Element(String, Index),
    /// `[base+offset]`
    Address(AddressBase, i64),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `_`
    Sink,
}
