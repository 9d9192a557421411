//! Random expressions of every type of the kernel language.
//!
//! Everything is in parentheses and every literal has its suffix, so that the meaning of a text does not depend on its context.
//! Arithmetic is in `number.rs`.

use super::items::{Enum, Struct};
use super::random::Random;
use super::snippets::Snippet;

/// A type, by its name.
pub(super) type Ty = &'static str;

pub(super) const SIGNED: [Ty; 6] = ["i8", "i16", "i32", "i64", "i128", "isize"];
pub(super) const UNSIGNED: [Ty; 6] = ["u8", "u16", "u32", "u64", "u128", "usize"];
pub(super) const FLOATS: [Ty; 2] = ["f32", "f64"];
pub(super) const HALVES: [Ty; 2] = ["f16", "bf16"];

/// A variable in scope, or a field or element of one, with its type.
#[derive(Clone)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) mutable: bool,
}

/// A function, closure or method in scope: the text of its call up to the opening parenthesis, and its signature.
#[derive(Clone)]
pub(super) struct Callee {
    pub(super) open: String,
    pub(super) arguments: Vec<Ty>,
    pub(super) result: Ty,
}

/// The state of the generator: the random numbers, and the items and variables in scope.
pub(super) struct Writer {
    pub(super) random: Random,
    pub(super) variables: Vec<Variable>,
    pub(super) callees: Vec<Callee>,
    pub(super) structs: Vec<Struct>,
    pub(super) enums: Vec<Enum>,
    pub(super) names: usize,
    /// True if the program is compiled with overflow checks.
    pub(super) checked: bool,
    /// The inputs in scope: the words `x` of thread `i`, and the matrix `a`.
    pub(super) inputs: Inputs,
    /// True if the program must not panic.
    pub(super) panic_free: bool,
    /// The snippets that are inserted between the statements.
    pub(super) snippets: Vec<&'static Snippet>,
    pub(super) next_snippet: usize,
    /// The number of snippets that have been inserted.
    pub(super) inserted: usize,
    /// The program's number.
    pub(super) number: u64,
    /// The items of the inserted snippets.
    pub(super) snippet_items: String,
}

/// The inputs of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inputs {
    None,
    Words,
    WordsAndMatrix,
}

pub(super) fn is_float(ty: Ty) -> bool {
    FLOATS.contains(&ty)
}

pub(super) fn is_half(ty: Ty) -> bool {
    HALVES.contains(&ty)
}

pub(super) fn is_signed(ty: Ty) -> bool {
    SIGNED.contains(&ty)
}

/// Code for the 64 bits of a variable's value; all NaNs have the same bits.
pub(super) fn bits(name: &str, ty: Ty) -> String {
    match ty {
        "f16" => format!("(if {name}.is_nan() {{ 0x7e00u16 }} else {{ {name}.to_bits() }}) as u64"),
        "bf16" => format!("(if {name}.is_nan() {{ 0x7fc0u16 }} else {{ {name}.to_bits() }}) as u64"),
        "f32" => format!("(if {name}.is_nan() {{ 0x7fc0_0000u32 }} else {{ {name}.to_bits() }}) as u64"),
        "f64" => format!("if {name}.is_nan() {{ 0x7ff8_0000_0000_0000u64 }} else {{ {name}.to_bits() }}"),
        "i128" | "u128" => format!("({name} ^ ({name} >> 64)) as u64"),
        _ => format!("{name} as u64"),
    }
}

impl Writer {
    pub(super) fn new(random: Random, checked: bool, inputs: Inputs) -> Self {
        let (variables, callees, structs, enums) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (snippets, snippet_items) = (Vec::new(), String::new());
        let (names, number, panic_free, next_snippet, inserted) = (0, 0, false, 0, 0);
        Self {
            random,
            variables,
            callees,
            structs,
            enums,
            names,
            checked,
            inputs,
            panic_free,
            snippets,
            next_snippet,
            inserted,
            number,
            snippet_items,
        }
    }

    pub(super) fn ty(&mut self) -> Ty {
        match self.random.below(10) {
            0..=3 => self.random.of(&SIGNED),
            4..=5 => self.random.of(&UNSIGNED),
            6..=7 => self.random.of(&FLOATS),
            8 => self.random.of(&HALVES),
            _ => "bool",
        }
    }

    pub(super) fn integer(&mut self) -> Ty {
        if self.random.one_in(2) { self.random.of(&SIGNED) } else { self.random.of(&UNSIGNED) }
    }

    pub(super) fn number(&mut self) -> Ty {
        match self.random.below(6) {
            0..=1 => self.random.of(&FLOATS),
            2 => self.random.of(&HALVES),
            _ => self.integer(),
        }
    }

    /// Returns a new name.
    pub(super) fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Returns a variable of that type.
    pub(super) fn variable(&mut self, ty: Ty, mutable: bool) -> Option<String> {
        let suits = |variable: &&Variable| variable.ty == ty && (variable.mutable || !mutable);
        let suiting: Vec<&Variable> = self.variables.iter().filter(suits).collect();
        if suiting.is_empty() { None } else { Some(suiting[self.random.below(suiting.len())].name.clone()) }
    }

    /// Adds a variable to the scope.
    pub(super) fn declare(&mut self, name: String, ty: Ty, mutable: bool) {
        self.variables.push(Variable { name, ty, mutable });
    }

    /// Generates an expression with one more variable in scope.
    pub(super) fn with(&mut self, name: &str, of: Ty, ty: Ty, depth: usize) -> String {
        self.declare(name.to_owned(), of, false);
        let text = self.expression(ty, depth);
        self.variables.pop();
        text
    }

    /// Generates an expression of a type, of at most that depth.
    pub(super) fn expression(&mut self, ty: Ty, depth: usize) -> String {
        if depth == 0 || self.random.one_in(6) {
            return self.leaf(ty);
        }
        match self.random.below(10) {
            0 => self.branching(ty, depth - 1),
            1 => self.composed(ty, depth - 1),
            2 => self.called(ty, depth - 1),
            _ if ty == "bool" => self.condition(depth - 1),
            _ if is_float(ty) => self.float(ty, depth - 1),
            _ if is_half(ty) => self.half(ty, depth - 1),
            _ => self.whole(ty, depth - 1),
        }
    }

    /// A variable, a literal or an input.
    fn leaf(&mut self, ty: Ty) -> String {
        match (self.random.below(4), self.variable(ty, false)) {
            (0..=1, Some(name)) => name,
            (2, _) => self.literal(ty),
            _ if self.inputs == Inputs::None => self.literal(ty),
            _ => self.input(ty),
        }
    }

    fn input(&mut self, ty: Ty) -> String {
        if self.inputs == Inputs::WordsAndMatrix && self.random.one_in(4) {
            let number = self.of_matrix();
            match ty {
                "bool" => return format!("({number} & 1 == 1)"),
                "f32" => return format!("f32::from_bits({number})"),
                "f64" | "f16" | "bf16" => {}
                _ => return format!("({number} as {ty})"),
            }
        }
        let word = format!("x[i * 8 + {}]", self.random.below(8));
        match ty {
            "bool" => format!("({word} & 1 == 1)"),
            "f16" | "bf16" => format!("{ty}::from_bits({word} as u16)"),
            "f32" => format!("f32::from_bits({word} as u32)"),
            "f64" => format!("f64::from_bits({word})"),
            "i128" | "u128" if self.random.one_in(2) => format!("(({word} as {ty}) << 64 | 5)"),
            _ => format!("({word} as {ty})"),
        }
    }

    /// An element of the matrix, which has 4 rows and 6 columns; sometimes out of bounds.
    fn of_matrix(&mut self) -> String {
        let (row, column) = (self.random.below(4), self.random.below(6));
        match self.random.below(12) {
            0..=2 => format!("a[[{row}, {column}]]"),
            3..=5 => format!("a[[i % a.nrows(), {column}]]"),
            6 => format!("a.row({row})[(i + {column}) % a.ncols()]"),
            7 => format!("a.column((i + {column}) % 6usize)[{row}]"),
            8 => format!("a.view().row(i % 4usize)[{column}]"),
            9 => format!("(if let Some(v) = a.get([i, {column}]) {{ *v }} else {{ {row}u32 }})"),
            10 => format!("a[[i % 5usize, {column}]]"),
            _ => format!("((a.dim().0 * {row} + a.len() + a.ndim()) as u32)"),
        }
    }

    fn literal(&mut self, ty: Ty) -> String {
        match ty {
            "bool" => self.random.of(&["true", "false"]).to_owned(),
            _ if is_half(ty) => {
                let special = ["NAN", "INFINITY", "NEG_INFINITY", "MIN_POSITIVE", "EPSILON", "MAX", "ONE", "ZERO"];
                match self.random.below(4) {
                    0 => format!("{ty}::{}", self.random.of(&special)),
                    1 => format!("{ty}::from_f32(-{}.25f32)", self.random.below(100)),
                    _ => format!("{ty}::from_f32({}.5f32)", self.random.below(10)),
                }
            }
            _ if is_float(ty) => {
                let special = ["NAN", "INFINITY", "NEG_INFINITY", "MIN_POSITIVE", "EPSILON", "MAX"];
                match self.random.below(6) {
                    0 => format!("{ty}::{}", self.random.of(&special)),
                    1 => format!("(-{}.25{ty})", self.random.below(100)),
                    2 => format!("{}e{}{ty}", 1 + self.random.below(9), self.random.below(30)),
                    _ => format!("{}.5{ty}", self.random.below(10)),
                }
            }
            _ => match self.random.below(5) {
                0 => format!("{ty}::{}", self.random.of(&["MIN", "MAX"])),
                1 if is_signed(ty) => format!("(-{}{ty})", self.random.below(128)),
                _ => format!("{}{ty}", self.random.below(100)),
            },
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.random.below(8) {
            0 => format!("({} && {})", self.expression("bool", depth), self.expression("bool", depth)),
            1 => format!("({} || {})", self.expression("bool", depth), self.expression("bool", depth)),
            2 => format!("(!{})", self.expression("bool", depth)),
            3 => {
                let op = self.random.of(&["^", "&", "|", "==", "!="]);
                format!("({} {op} {})", self.expression("bool", depth), self.expression("bool", depth))
            }
            4 => {
                let ty = if self.random.one_in(3) { self.random.of(&HALVES) } else { self.random.of(&FLOATS) };
                let method = self.random.of(&["is_nan", "is_finite", "is_infinite"]);
                format!("{}.{method}()", self.expression(ty, depth))
            }
            5 => {
                let (ty, other) = (self.number(), self.integer());
                let op = self.random.of(&["==", "!="]);
                let sides = [(), ()].map(|()| match self.random.below(2) {
                    0 => format!("({}, {})", self.expression(ty, depth), self.expression(other, 0)),
                    _ => format!("({}, {})", self.expression(ty, 0), self.expression(other, depth)),
                });
                format!("({} {op} {})", sides[0], sides[1])
            }
            _ => {
                let ty = self.number();
                let op = self.random.of(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({} {op} {})", self.expression(ty, depth), self.expression(ty, depth))
            }
        }
    }

    /// `if`, `match`, `if let`, `let .. else` and blocks as values.
    fn branching(&mut self, ty: Ty, depth: usize) -> String {
        let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
        match self.random.below(8) {
            0 => format!("(if {} {{ {a} }} else {{ {b} }})", self.expression("bool", depth)),
            1 => {
                let (of, c) = (self.integer(), self.expression(ty, depth));
                let value = self.expression(of, depth);
                let guard = self.expression("bool", depth);
                format!(
                    "(match {value} & 7{of} {{ 0{of} => {a}, 1{of} | 2{of} => {b}, k if {guard} => {c}, 3{of}..=5{of} => {a}, _ => {b} }})"
                )
            }
            2 => {
                let of = self.integer();
                let (left, right, name) = (self.expression(of, depth), self.expression(of, depth), self.name());
                let inside = self.with(&name, of, ty, depth);
                format!("(if let Some({name}) = {left}.checked_add({right}) {{ {inside} }} else {{ {a} }})")
            }
            3 => {
                let (of, name) = (self.ty(), self.name());
                let value = self.expression(of, depth);
                let inside = self.with(&name, of, ty, depth);
                format!("({{ let {name} = {value}; {inside} }})")
            }
            4 => {
                let (of, name) = (self.integer(), self.name());
                let (value, other) = (self.expression(of, depth), self.expression("bool", depth));
                let inside = self.with(&name, of, ty, depth);
                let low = self.random.below(20);
                format!(
                    "(match ({value}, {other}) {{ ({name} @ {low}{of}..=90{of}, true) => {inside}, ({name}, f) if f => {inside}, (.., false) => {a}, _ => {b} }})"
                )
            }
            5 => {
                let (of, name) = (self.integer(), self.name());
                let (value, more) = (self.expression(of, depth), self.expression("bool", depth));
                let inside = self.with(&name, of, ty, depth);
                format!(
                    "({{ let o = {value}.checked_mul(3{of}); if let Some({name}) = o && {more} && {name} > 7{of} {{ {inside} }} else {{ {b} }} }})"
                )
            }
            6 => {
                let (label, condition) = (self.name(), self.expression("bool", depth));
                format!("('{label}: {{ if {condition} {{ break '{label} {a}; }} {b} }})")
            }
            _ => {
                let (condition, guard) = (self.expression("bool", depth), self.expression("bool", depth));
                format!(
                    "(match (if {condition} {{ Some({a}) }} else {{ None }}) {{ Some(k) if {guard} => k, Some(k) => k, None => {b} }})"
                )
            }
        }
    }

    /// Fields and elements of tuples, arrays, structs, enums and `Option`.
    fn composed(&mut self, ty: Ty, depth: usize) -> String {
        let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
        match self.random.below(9) {
            0 => {
                let other = self.ty();
                format!("({}, {a}).1", self.expression(other, depth))
            }
            1 => {
                let index = self.expression("usize", depth);
                let many = if self.random.one_in(10) && !self.panic_free { 4 } else { 3 };
                format!("[{a}, {b}, {a}][{index} % {many}usize]")
            }
            2 => format!("(Pair {{ a: {a}, b: {} }}).a", self.expression("u32", depth)),
            3 => format!("(Pair {{ a: {a}, b: {} }}).mix({b})", self.expression("u32", depth)),
            4 => {
                let (row, column) = (self.expression("usize", depth), self.random.below(2));
                format!("[[{a}, {b}], [{b}, {a}], [{a}, {a}]][{row} % 3usize][{column}]")
            }
            5 => {
                let other = self.ty();
                format!(
                    "(({a}, {}), [{b}, {a}]).{}",
                    self.expression(other, depth),
                    self.random.of(&["0.0", "1[1]", "1[0]"])
                )
            }
            6 => self.of_enum(ty, depth).unwrap_or(a),
            7 => self.of_struct(ty, depth).unwrap_or(b),
            _ => format!("Some({a}).unwrap_or({b})"),
        }
    }

    /// A call of a device function, method or closure.
    fn called(&mut self, ty: Ty, depth: usize) -> String {
        let suiting: Vec<Callee> = self.callees.iter().filter(|callee| callee.result == ty).cloned().collect();
        if suiting.is_empty() {
            return self.expression(ty, depth);
        }
        let Callee { open, arguments, .. } = suiting[self.random.below(suiting.len())].clone();
        let arguments: Vec<String> = arguments.into_iter().map(|ty| self.expression(ty, depth)).collect();
        format!("{open}{})", arguments.join(", "))
    }
}
