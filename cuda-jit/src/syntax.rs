//! The captured syntax of a `#[kernel]` or `#[device]` function: what the macro saw, without any types.
//!
//! The macro emits these as constants, one tree per function as written, shared by all its specialisations. Bindings,
//! constants, callees and named types are numbers; [`crate::harvest`] gives what rustc made of each. Nothing here is
//! resolved, checked or evaluated: that is the front end's work.

/// A place in the source: line and column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pos(pub u32, pub u32);

/// A function as written.
#[derive(Debug)]
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// The path of the module that it stands in.
    pub module: &'static str,
    /// The source file.
    pub file: &'static str,
    /// The line of its name, from 1.
    pub line: u32,
    /// The pattern of each parameter; its type is the harvest's.
    pub params: &'static [Pattern],
    /// The names of all its bindings, parameters included.
    pub bindings: &'static [Binding],
    /// Its body.
    pub body: Block,
    /// What `#[kernel(..)]` or `#[device(..)]` asked for.
    pub options: Options,
}

/// A name that a pattern binds.
#[derive(Debug)]
pub struct Binding {
    /// Its name.
    pub name: &'static str,
    /// Whether it can change after it is bound.
    pub mutable: bool,
    /// Whether the pattern says `ref`: its type is a reference to what it is bound to.
    pub by_ref: bool,
}

/// The options of `#[kernel(..)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// No bounds checks: out of bounds is undefined behaviour.
    pub unchecked: bool,
    /// Integer overflow is a panic instead of wrapping.
    pub checked: bool,
    /// Whether `a * b + c` may be fused.
    pub fma: bool,
    /// CUDA's fast math: approximate division and square root, subnormals flushed, no NaN.
    pub fastmath: bool,
    /// The optimiser's level, 0 to 3.
    pub opt: u8,
    /// The most registers a thread may use; 0 leaves it to the driver.
    pub max_registers: u32,
    /// Launch bounds: most threads per block, least blocks per multiprocessor, most blocks per cluster; 0 is unset.
    pub launch_bounds: [u32; 3],
    /// Code for a debugger: not optimised unless `opt` says so, with line tables.
    pub debug: bool,
    /// Line tables for a profiler, which change no instruction.
    pub lineinfo: bool,
    /// Whether it is kept on disk, for other processes.
    pub cache: bool,
    /// Whether mathematical functions are libdevice's, where there is one.
    pub libdevice: bool,
}

impl Options {
    /// What holds when nothing is asked for.
    pub const DEFAULT: Options = Options {
        unchecked: false,
        checked: false,
        fma: true,
        fastmath: false,
        opt: 3,
        max_registers: 0,
        launch_bounds: [0; 3],
        debug: false,
        lineinfo: false,
        cache: true,
        libdevice: true,
    };
}

/// Statements and, perhaps, a value.
#[derive(Debug)]
pub struct Block {
    /// In order.
    pub stmts: &'static [Stmt],
    /// The expression without a semicolon at the end.
    pub tail: Option<&'static Expr>,
}

/// A statement.
#[derive(Debug)]
pub enum Stmt {
    /// `let pattern = init else { .. };`
    Let(Pattern, Option<&'static Expr>, Option<&'static Block>),
    /// `let name = |params| body;`: the binding is known to be a closure, which is called or passed on.
    Closure(u32, &'static Closure),
    /// `expression;`
    Expr(&'static Expr),
}

/// A closure, which captures by reference what it does not move.
#[derive(Debug)]
pub struct Closure {
    /// Its parameters.
    pub params: &'static [Pattern],
    /// Its body.
    pub body: &'static Expr,
    /// The bindings that a `move` closure copies when it is made.
    pub moved: &'static [u32],
}

/// A pattern.
#[derive(Debug)]
pub enum Pattern {
    /// `_`
    Wild,
    /// A name.
    Bind(u32),
    /// `name @ pattern`
    At(u32, &'static Pattern),
    /// `pattern, pattern` in parentheses, of a tuple or, after a name, of a tuple struct.
    Tuple(&'static [Pattern]),
    /// `Name { field: pattern, .. }`
    Struct(&'static [(&'static str, Pattern)]),
    /// `[pattern, pattern]`
    Slice(&'static [Pattern]),
    /// `..` among the patterns of a tuple or slice.
    Rest,
    /// `&pattern`
    Ref(&'static Pattern),
    /// A literal; true if negated.
    Lit(Lit, bool),
    /// A constant's number.
    Const(u32),
    /// `low..=high` or `low..high`, each bound a literal or constant pattern; true if the end is included.
    Range(Option<&'static Pattern>, Option<&'static Pattern>, bool),
    /// `a | b`
    Or(&'static [Pattern]),
    /// `Some(pattern)`
    Some(&'static Pattern),
    /// `None`
    None,
}

/// A literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lit {
    /// An integer without its sign, and its suffix or "".
    Int(u64, &'static str),
    /// A float as the bits of the nearest `f32` and `f64`, and its suffix or "".
    Float(u32, u64, &'static str),
    /// `true` or `false`.
    Bool(bool),
    /// The message of `expect`.
    Text(&'static str),
}

/// An expression and where it begins.
#[derive(Debug)]
pub struct Expr(pub Pos, pub ExprKind);

/// An expression.
#[derive(Debug)]
pub enum ExprKind {
    /// A literal.
    Lit(Lit),
    /// A binding's number.
    Binding(u32),
    /// A constant's number.
    Const(u32),
    /// `-e` or `!e`
    Unary(UnaryOp, &'static Expr),
    /// `a op b`
    Binary(BinaryOp, &'static Expr, &'static Expr),
    /// `a && b`
    And(&'static Expr, &'static Expr),
    /// `a || b`
    Or(&'static Expr, &'static Expr),
    /// `place = e`
    Assign(&'static Expr, &'static Expr),
    /// `place op= e`
    AssignOp(BinaryOp, &'static Expr, &'static Expr),
    /// `e as T`; the type's number.
    Cast(&'static Expr, u32),
    /// `base[index]`
    Index(&'static Expr, &'static Expr),
    /// `base[[i, j]]` of an ndarray view
    IndexAll(&'static Expr, &'static [Expr]),
    /// `*base.get_unchecked(index)`, also with `_mut`
    IndexUnchecked(&'static Expr, &'static Expr),
    /// `base.name`, or `base.0`
    Field(&'static Expr, &'static str),
    /// `&e` or, if true, `&mut e`.
    Reborrow(&'static Expr, bool),
    /// `&e[start..end]`; true if the end is included.
    Cut(&'static Expr, Option<&'static Expr>, Option<&'static Expr>, bool),
    /// `*e` of a reference.
    Deref(&'static Expr),
    /// `[a, b]`
    Array(&'static [Expr]),
    /// `[e; N]`; how many is the type's to say.
    Repeat(&'static Expr),
    /// `Name { field: e, ..rest }`, or `Name(e)` with numbers for names: the type's number.
    Struct(u32, &'static [(&'static str, Expr)], Option<&'static Expr>),
    /// `shared!(T)`: the array type's number.
    Shared(u32),
    /// `(a, b)`; the unit value when empty.
    Tuple(&'static [Expr]),
    /// `Some(e)` or `None`
    Option(Option<&'static Expr>),
    /// A call of a device function: the callee's number.
    Call(u32, &'static [Expr]),
    /// A call of a closure: its binding's number.
    CallClosure(u32, &'static [Expr]),
    /// `mem::swap(a, b)`, `mem::replace(a, b)` or `mem::take(a)`.
    Exchange(&'static str, &'static [Expr]),
    /// `f32::from_bits(e)`; the type's number.
    FromBits(&'static Expr, u32),
    /// A closure as an argument.
    Closure(&'static Closure),
    /// `receiver.name(args)`, also written `Type::name(receiver, args)`: the callee's number.
    Method(&'static str, &'static Expr, &'static [Expr], u32),
    /// A block; with a label if `break` may leave it.
    Block(Option<u32>, Block),
    /// `if condition { .. } else { .. }`
    If(&'static Condition, Block, Option<&'static Expr>),
    /// `match e { .. }`
    Match(&'static Expr, &'static [Arm]),
    /// `while condition { .. }`; the loop's number.
    While(u32, &'static Condition, Block),
    /// `loop { .. }`; the loop's number.
    Loop(u32, Block),
    /// `for pattern in source { .. }`; the loop's number.
    For(u32, Pattern, &'static Source, Block),
    /// `break 'label e`; the loop's number.
    Break(u32, Option<&'static Expr>),
    /// `continue 'label`; the loop's number.
    Continue(u32),
    /// `return e`
    Return(Option<&'static Expr>),
    /// `panic!`, `unreachable!` with a message.
    Panic(&'static str),
    /// `assert!` with a message.
    Assert(&'static Expr, &'static str),
}

/// What an `if` or `while` tests.
#[derive(Debug)]
pub enum Condition {
    /// A `bool`.
    Bool(Expr),
    /// `let pattern = e`
    Let(Pattern, Expr),
    /// `a && b`, at least one of which is a `let`.
    All(&'static [Condition]),
}

/// An arm of a `match`.
#[derive(Debug)]
pub struct Arm {
    /// Its pattern.
    pub pattern: Pattern,
    /// Its guard.
    pub guard: Option<Expr>,
    /// Its value.
    pub body: Expr,
}

/// What a `for` runs over.
#[derive(Debug)]
pub enum Source {
    /// Numbers.
    Range(Range),
    /// The elements of a slice or array.
    Items(Items),
}

/// The elements of a slice or array, with the adaptors that were written.
#[derive(Debug)]
pub struct Items {
    /// The slice or array.
    pub of: Expr,
    /// Whether `.iter()` or its kin was called: without it an array gives its elements themselves.
    pub iterated: bool,
    /// `.chunks_exact(n)`
    pub chunk: Option<Expr>,
    /// `.rev()`
    pub reversed: bool,
    /// `.copied()`: elements, not references to them.
    pub copied: bool,
    /// `.enumerate()`
    pub enumerated: bool,
}

/// A range of numbers.
#[derive(Debug)]
pub struct Range {
    /// The first value.
    pub start: Expr,
    /// The end.
    pub end: Expr,
    /// Whether the end is included.
    pub inclusive: bool,
    /// `.rev()`
    pub reversed: bool,
    /// `.step_by(n)`
    pub step: Option<Expr>,
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "Rust's operators by their traits' names")]
pub enum UnaryOp {
    Neg,
    Not,
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "Rust's operators by their traits' names")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}
