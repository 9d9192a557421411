//! The table of nodes: every type of the captured syntax, once.
//!
//! [`nodes`] defines the types and their encoding for given `Ref`, `List`, `Text` and `Name`: the macros own what they
//! capture, the front end borrows it for the process's life. A new node is a new line here. The variants of an enum are
//! encoded by their order, so that a change of the table requires a new [`VERSION`](crate::VERSION).

/// Defines the types of all nodes, in terms of `Ref`, `List`, `Text` and `Name`.
macro_rules! nodes {
    () => {
        $crate::nodes::node! {
            /// A location in the source: line and column, both from 1.
            #[derive(Copy, Eq, Hash)]
            pub struct Pos(line: u32, column: u32);

            /// A function as written.
            pub struct Definition {
                /// Its name.
                pub name: Text,
                /// The path of its module.
                pub module: Text,
                /// The source file.
                pub file: Text,
                /// The line of its name, from 1.
                pub line: u32,
                /// The pattern of each parameter; the types are in the type information.
                pub params: List<Pattern>,
                /// All its bindings, parameters included.
                pub bindings: List<Binding>,
                /// Its body.
                pub body: Block,
                /// The options of `#[kernel(..)]` or `#[device(..)]`.
                pub options: Options,
                /// True if `debug_assert!` and its variants are compiled.
                pub debug_assertions: bool,
            }

            /// A name that a pattern binds.
            pub struct Binding {
                /// Its name.
                pub name: Text,
                /// The location of the name.
                pub at: Pos,
                /// True for `mut`: it can change after it is bound.
                pub mutable: bool,
                /// True if the pattern has `ref`: its type is a reference to the value it is bound to.
                pub by_ref: bool,
                /// The number of its type in the type information, which bindings of one type share; `None` for a closure
                /// or iterator.
                pub reported: Option<u32>,
                /// The number of the type information's answer that decides if it is a constant's name, if the pattern
                /// allows one.
                pub query: Option<u32>,
            }

            /// The options of `#[kernel(..)]`.
            #[derive(Copy, Eq, Hash)]
            pub struct Options {
                /// No bounds checks: out of bounds is undefined behaviour.
                pub unchecked: bool,
                /// Integer overflow is a panic instead of wrapping.
                pub checked: bool,
                /// True if `a * b + c` may be fused.
                pub fma: bool,
                /// CUDA's fast math: approximate division and square root, subnormals flushed, no NaN.
                pub fastmath: bool,
                /// The optimiser's level, 0 to 3.
                pub opt: u8,
                /// The maximum number of registers per thread; 0 leaves it to the driver.
                pub max_registers: u32,
                /// The extents of every launch's clusters in blocks; 0 is unset.
                pub cluster: [u32; 3],
                /// Code for a debugger: not optimised unless `opt` is set, with line tables.
                pub debug: bool,
                /// Line tables for a profiler, which change no instruction.
                pub lineinfo: bool,
                /// The part of a multiprocessor's cache that should be shared memory, in percent.
                pub shared_memory_carveout: Option<u8>,
                /// True if the kernel compiles only if it is proved to be free of data races.
                pub race_free: bool,
                /// True if the compiled kernel is kept on disk, for other processes.
                pub cache: bool,
                /// True to use libdevice for mathematical functions, if it is installed.
                pub libdevice: bool,
                /// True for `#[track_caller]`: its panics are reported where it is called.
                pub track_caller: bool,
                /// True for a function of the device library: inlined where it is called, and its errors are the caller's.
                pub library: bool,
            }

            /// Statements and an optional value.
            pub struct Block {
                /// In order.
                pub stmts: List<Stmt>,
                /// The expression without a semicolon at the end.
                pub tail: Option<Ref<Expr>>,
            }

            /// A statement.
            pub enum Stmt {
                /// `let pattern = init else { .. };`
                Let(pattern: Pattern, init: Option<Ref<Expr>>, otherwise: Option<Ref<Block>>),
                /// `let name = |params| body;`: the binding is a closure, which is called or passed on.
                Closure(binding: u32, closure: Ref<Closure>),
                /// `expression;`
                Expr(expr: Ref<Expr>),
            }

            /// A closure, which captures by reference all bindings that it does not move.
            pub struct Closure {
                /// Its parameters.
                pub params: List<Pattern>,
                /// Its body.
                pub body: Ref<Expr>,
                /// The bindings that a `move` closure copies when it is created.
                pub moved: List<Name>,
                /// The type of its result, by number, if rustc was queried for it.
                pub result: Option<u32>,
            }

            /// A pattern.
            pub enum Pattern {
                /// `_`
                Wild,
                /// A name, which may be a constant's; see [`Binding::query`].
                Bind(binding: u32),
                /// `name @ pattern`
                At(binding: u32, pattern: Ref<Pattern>),
                /// `pattern, pattern` in parentheses, of a tuple or, after a path, of a tuple struct.
                Tuple(elements: List<Pattern>),
                /// `Path { field: pattern, .. }` of a struct.
                Struct(fields: List<(Text, Pattern)>),
                /// `Path(pattern, ..)` or `Path { field: pattern, .. }`, which may be a variant: the number of the type
                /// information's answer that resolves it, and the pattern of its fields.
                Variant(query: u32, fields: Ref<Pattern>),
                /// `Path` or `Path {}`: the number of the type information's answer that resolves it to a constant or
                /// variant.
                Path(query: u32),
                /// `[pattern, pattern]`
                Slice(elements: List<Pattern>),
                /// `..` among the patterns of a tuple or slice.
                Rest,
                /// `&pattern`
                Ref(inner: Ref<Pattern>),
                /// A literal; true if negated.
                Lit(lit: Lit, negated: bool),
                /// A constant's number, as a bound.
                Const(constant: u32),
                /// `low..=high` or `low..high`, each bound a literal or constant pattern; true if the end is included.
                Range(low: Option<Ref<Pattern>>, high: Option<Ref<Pattern>>, inclusive: bool),
                /// `a | b`
                Or(cases: List<Pattern>),
            }

            /// A literal.
            pub enum Lit {
                /// An integer without its sign, and its suffix or "".
                Int(value: u128, suffix: Text),
                /// A float as the bits of the nearest `f32` and `f64`, and its suffix or "".
                Float(single: u32, double: u64, suffix: Text),
                /// `true` or `false`.
                Bool(value: bool),
                /// The message of `expect`.
                Text(value: Text),
            }

            /// An expression and the location of its first token.
            pub struct Expr(at: Pos, kind: ExprKind);

            /// An expression.
            pub enum ExprKind {
                /// A literal.
                Lit(lit: Lit),
                /// A binding's number.
                Binding(binding: Name),
                /// A constant's number.
                Const(constant: u32),
                /// `-e` or `!e`
                Unary(op: UnaryOp, value: Ref<Expr>),
                /// `a op b`
                Binary(op: BinaryOp, left: Ref<Expr>, right: Ref<Expr>),
                /// `a && b`
                And(left: Ref<Expr>, right: Ref<Expr>),
                /// `a || b`
                Or(left: Ref<Expr>, right: Ref<Expr>),
                /// `place = e`
                Assign(place: Ref<Expr>, value: Ref<Expr>),
                /// `place op= e`
                AssignOp(op: BinaryOp, place: Ref<Expr>, value: Ref<Expr>),
                /// `e as T`; the type's number.
                Cast(value: Ref<Expr>, ty: u32),
                /// `base[index]`; `base[[i, j]]` of an ndarray view
                Index(base: Ref<Expr>, index: Ref<Expr>),
                /// `base.name`, or `base.0`
                Field(base: Ref<Expr>, name: Text),
                /// `&e` or, if true, `&mut e`.
                Reborrow(place: Ref<Expr>, mutable: bool),
                /// `e[start..end]`; true if the end is included.
                Subslice(base: Ref<Expr>, start: Option<Ref<Expr>>, end: Option<Ref<Expr>>, inclusive: bool),
                /// `*e` of a reference.
                Deref(reference: Ref<Expr>),
                /// `[a, b]`
                Array(elements: List<Expr>),
                /// `[e; N]`; its type has the length.
                Repeat(element: Ref<Expr>),
                /// `Name { field: e, ..rest }`: the number of the type, and of the answer that resolves its variant.
                Struct(ty: u32, query: u32, fields: List<(Text, Expr)>, rest: Option<Ref<Expr>>),
                /// `shared!(T)`: the array type's number.
                Shared(ty: u32),
                /// `dynamic_shared!([T; n], ..)`: each array's element type, by number, and its length; an array without a
                /// length has the rest of the memory.
                DynamicShared(parts: List<(u32, Option<Ref<Expr>>)>),
                /// `(a, b)`; the unit value when empty.
                Tuple(elements: List<Expr>),
                /// A call of a device function: the callee's number.
                Call(callee: u32, args: List<Expr>),
                /// A call of a closure.
                CallClosure(callee: Ref<Expr>, args: List<Expr>),
                /// A closure as an argument.
                Closure(closure: Ref<Closure>),
                /// A device function as an argument of an iterator's method: the callee's number.
                Function(callee: u32),
                /// An expression whose type rustc was queried for: the type's number.
                Typed(value: Ref<Expr>, ty: u32),
                /// `start..end`; true if the end is included. The number is the type of the value, or of a loop's numbers
                /// if rustc was queried for it.
                Range(start: Ref<Expr>, end: Option<Ref<Expr>>, inclusive: bool, ty: Option<u32>),
                /// `receiver.name(args)`: the callee's number.
                Method(receiver: Ref<Expr>, args: List<Expr>, callee: u32),
                /// `s![..]`, the argument of a view's `slice`: one section for each axis.
                Sections(sections: List<Section>),
                /// A block; with a label if `break` may leave it.
                Block(label: Option<u32>, block: Block),
                /// `if condition { .. } else { .. }`
                If(condition: Ref<Condition>, body: Block, otherwise: Option<Ref<Expr>>),
                /// `match e { .. }`
                Match(value: Ref<Expr>, arms: List<Arm>),
                /// `while condition { .. }`; the loop's number.
                While(number: u32, condition: Ref<Condition>, body: Block),
                /// `loop { .. }`; the loop's number.
                Loop(number: u32, body: Block),
                /// `for pattern in source { .. }`; the loop's number, and those of the callees that convert the source into an
                /// iterator and that return the next item, unless the source is a range.
                For(number: u32, pattern: Pattern, source: Ref<Expr>, body: Block, into: Option<u32>, next: Option<u32>),
                /// `break 'label e`; the loop's number.
                Break(number: Name, value: Option<Ref<Expr>>),
                /// `continue 'label`; the loop's number.
                Continue(number: Name),
                /// `e?`; the number of the conversion of its error, as a callee.
                Try(value: Ref<Expr>, conversion: u32),
                /// `return e`
                Return(value: Option<Ref<Expr>>),
                /// `panic!`, `unreachable!` with a message.
                Panic(message: Message),
                /// `assert!` with a message.
                Assert(condition: Ref<Expr>, message: Message),
                /// `assert_eq!` or `assert_ne!`, with a message unless that is empty.
                AssertCompare(op: BinaryOp, left: Ref<Expr>, right: Ref<Expr>, message: Message),
                /// An expression that is compiled only with `debug_assertions`.
                Debug(inner: Ref<Expr>),
                /// `printf!`: its pieces, and the values that they name by their numbers.
                Print(pieces: List<Piece>, args: List<Expr>),
            }

            /// The part of `s![..]` for one axis; each number is an `isize`.
            pub enum Section {
                /// `i`: selects one index and removes the axis; `NewAxis` is an added axis of length one.
                Index(index: Expr),
                /// `start..end;step`; true if the end is included.
                Range(start: Option<Ref<Expr>>, end: Option<Ref<Expr>>, inclusive: bool, step: Option<Ref<Expr>>),
            }

            /// The message of a panic: text, and values that are evaluated only when it panics.
            pub struct Message {
                /// The pieces of its text.
                pub pieces: List<Piece>,
                /// The values that the pieces name by their numbers.
                pub args: List<Expr>,
            }

            /// A piece of the output of `printf!`, or of a panic's message.
            pub enum Piece {
                /// Text, with its doubled braces replaced by single ones.
                Text(text: Text),
                /// An argument.
                Value(number: u32, conversion: Conversion),
            }

            /// The conversion of a value by `printf!`.
            #[derive(Copy, Eq)]
            pub struct Conversion {
                /// The notation of the digits.
                pub form: Form,
                /// `+`: a sign before non-negative numbers, too.
                pub plus: bool,
                /// `#`: `0x`, `0o` or `0b` before the digits; the width is then 0, or filled with zeros.
                pub prefix: bool,
                /// `<` or, if false, `>`; else numbers stand at the right of the width and `bool` at its left.
                pub left: Option<bool>,
                /// `0`: zeros between sign and digits fill the width.
                pub zeros: bool,
                /// The minimum number of characters.
                pub width: u32,
                /// `.n`: the number of a float's decimals, or the maximum number of characters of a `bool`; integers have
                /// none.
                pub precision: Option<u32>,
            }

            /// The notation in which `printf!` writes a value.
            #[derive(Copy, Eq)]
            pub enum Form {
                /// `{}`: integers in decimal, `true` and `false`, floats as C's `%g` or, with a precision, `%f`.
                Plain,
                /// `{:?}`: as `{}`, but floats with enough digits to distinguish any two of their type.
                Debug,
                /// `{:x}`
                LowerHex,
                /// `{:X}`
                UpperHex,
                /// `{:o}`
                Octal,
                /// `{:b}`
                Binary,
                /// `{:e}`: as C's `%e`.
                LowerExp,
                /// `{:E}`
                UpperExp,
            }

            /// The condition of an `if` or `while`, or of an arm of a `match`.
            pub enum Condition {
                /// A `bool`.
                Bool(value: Expr),
                /// `let pattern = e`
                Let(pattern: Pattern, value: Expr),
                /// `a && b`, at least one of which is a `let`.
                All(conditions: List<Condition>),
            }

            /// An arm of a `match`.
            pub struct Arm {
                /// Its pattern.
                pub pattern: Pattern,
                /// Its guard.
                pub guard: Option<Condition>,
                /// Its value.
                pub body: Expr,
            }

            /// Unary operators.
            #[derive(Copy, Eq)]
            #[expect(missing_docs, reason = "Rust's operators by their traits' names")]
            pub enum UnaryOp {
                Neg,
                Not,
            }

            /// Binary operators.
            #[derive(Copy, Eq)]
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
        }

        impl Options {
            /// The options of an attribute without any.
            pub const DEFAULT: Options = Options {
                unchecked: false,
                checked: false,
                fma: true,
                fastmath: false,
                opt: 3,
                max_registers: 0,
                cluster: [0; 3],
                debug: false,
                lineinfo: false,
                shared_memory_carveout: None,
                race_free: false,
                cache: true,
                libdevice: true,
                track_caller: false,
                library: false,
            };
        }
    };
}

/// Defines the types that the table names, with their encoding: fields in order, after an enum's variant number.
macro_rules! node {
    () => {};
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $ty:ty,)* } $($rest:tt)*) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $($(#[$doc])* pub $field: $ty,)* }

        impl Encode for $name {
            fn encode(&self, code: &mut Vec<u8>) {
                $( self.$field.encode(code); )*
            }
        }

        impl Decode for $name {
            fn decode(code: &mut Code) -> Option<Self> {
                Some(Self { $( $field: Decode::decode(code)?, )* })
            }
        }

        $crate::nodes::node! { $($rest)* }
    };
    ($(#[$meta:meta])* pub struct $name:ident($($field:ident: $ty:ty),*); $($rest:tt)*) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name($(pub $ty),*);

        impl Encode for $name {
            fn encode(&self, code: &mut Vec<u8>) {
                let Self($($field),*) = self;
                $( $field.encode(code); )*
            }
        }

        impl Decode for $name {
            fn decode(code: &mut Code) -> Option<Self> {
                $( let $field = Decode::decode(code)?; )*
                Some(Self($($field),*))
            }
        }

        $crate::nodes::node! { $($rest)* }
    };
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$doc:meta])* $variant:ident $(($($field:ident: $ty:ty),*))?,)* }
        $($rest:tt)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name { $($(#[$doc])* $variant $(($($ty),*))?,)* }

        const _: () = {
            /// The variants' numbers.
            enum Number { $($variant),* }

            #[cfg(test)]
            impl crate::tests::Variants for $name {
                const VARIANTS: usize = [$(Number::$variant),*].len();
            }

            impl Encode for $name {
                fn encode(&self, code: &mut Vec<u8>) {
                    match self {
                        $( Self::$variant $(($($field),*))? => {
                            code.push(Number::$variant as u8);
                            $($( $field.encode(code); )*)?
                        } )*
                    }
                }
            }

            impl Decode for $name {
                fn decode(code: &mut Code) -> Option<Self> {
                    match u8::decode(code)? {
                        $( number if number == Number::$variant as u8 => {
                            $($( let $field = Decode::decode(code)?; )*)?
                            Some(Self::$variant $(($($field),*))?)
                        } )*
                        _ => None,
                    }
                }
            }
        };

        $crate::nodes::node! { $($rest)* }
    };
}

pub(crate) use {node, nodes};
